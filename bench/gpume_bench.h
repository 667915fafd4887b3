/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Declarations that the parts of gpume_bench share: the device, pictures, timing with events, the
 * table and the CSV file. bench/README.md lists the measurements of each file.
 */

#ifndef GPUME_BENCH_H
#define GPUME_BENCH_H

#include <stdint.h>
#include <stdio.h>

#include "compat/cuda/dynlink_loader.h"
#include "libavutil/frame.h"
#include "libavutil/hwcontext.h"
#include "libavutil/hwcontext_cuda.h"

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/core/params.h"
#include "libavfilter/gpume/cuda/search.h"

#define BENCH_MAX_PICTURES 256
#define BENCH_MAX_REPEATS   32
/** Maximum number of simultaneous searches: those of the filter. */
#define BENCH_QUEUES         8

typedef CUresult CUDAAPI BenchEventElapsedTime(float *ms, CUevent start, CUevent stop);
typedef CUresult CUDAAPI BenchMemGetInfo(size_t *free, size_t *total);
typedef CUresult CUDAAPI BenchMemHostAlloc(void **p, size_t bytes, unsigned flags);
typedef CUresult CUDAAPI BenchMemFreeHost(void *p);

typedef struct Bench {
    AVBufferRef *device;
    GpumeCuda cuda;
    AVCUDADeviceContext *hwctx;
    CudaFunctions *cu;
    BenchEventElapsedTime *elapsed;
    BenchMemGetInfo *mem_info;
    BenchMemHostAlloc *host_alloc;
    BenchMemFreeHost *host_free;
    CUstream stream;
    CUstream queues[BENCH_QUEUES];  ///< for simultaneous searches; stream waits for them, and they for stream, around
                                    ///< each measurement
    CUevent start, stop, joined;
    FILE *csv;
    int repeats;                ///< number of repeats of every measurement, 1 to BENCH_MAX_REPEATS
    double ceiling;             ///< measured maximum of the device in 10^12 absolute differences/s; 0: unknown

    /* pictures on the device */
    const char *content;        ///< "clip" or "noise"
    int width, height;
    int depth;                  ///< bits of a sample: 8, 10, 12 or 16
    size_t pitch;
    int nb_pictures;
    CUdeviceptr pictures[BENCH_MAX_PICTURES];
    int next;                   ///< index of the next reference picture
} Bench;

/** Times of repeated measurements. */
typedef struct BenchTimes {
    double us[BENCH_MAX_REPEATS];   ///< sorted by bench_sort()
    int nb;
} BenchTimes;

/** A row of the CSV file; fields that do not apply are 0 or NULL. */
typedef struct BenchRow {
    const char *part;
    const char *what;
    const char *content;
    int width, height, block, range, depth;
    int count;                  ///< number of threads, streams or calls
    const char *metric;
    const char *unit;
} BenchRow;

/** Prints an error message and exits. @param err an AVERROR code */
av_noreturn void bench_die(const char *what, int err);

/** Exits with a message if err is an error. */
void bench_check(Bench *b, CUresult err, const char *what);

#define BENCH_CU(b, call) bench_check(b, (b)->cu->call, #call)

/** Return the median, minimum and maximum of sorted times in microseconds, and their spread in percent. */
double bench_median(const BenchTimes *t);
double bench_spread(const BenchTimes *t);
void bench_sort(BenchTimes *t);

/** Writes a row of times. */
void bench_times(Bench *b, const BenchRow *row, const BenchTimes *t);
/** Writes a row with a number that was computed from other rows. */
void bench_number(Bench *b, const BenchRow *row, double value);

/** Queues work on b->stream. Called for each i below nb. */
typedef void BenchLaunch(Bench *b, void *opaque, int i);

/**
 * Measures launches with events: each repeat has enough launches to take some time, after a
 * warm-up.
 * @param max maximum number of launches in a repeat; 0: no limit
 */
void bench_time_launches(Bench *b, BenchLaunch *launch, void *opaque, int max, BenchTimes *t);

/** Returns the time that nb launches take on the device, in milliseconds. */
double bench_launches_ms(Bench *b, BenchLaunch *launch, void *opaque, int nb);

/** Returns the first pictures of a file, 8-bit luma, one after the other. Exits on an error. */
uint8_t *bench_read_pictures(Bench *b, const char *path, int max, int *nb);

/** Returns the format of gray pictures of 8, 10, 12 or 16 bits. */
enum AVPixelFormat bench_format(int depth);

/**
 * Loads pictures on the device, more than its caches hold. For more than 8 bits, the file
 * determines the upper 8 bits, and the lower bits are noise, as in the output of a sensor.
 * @param path NULL: noise
 */
void bench_load_pictures(Bench *b, const char *path, int depth);
void bench_free_pictures(Bench *b);

/** A kernel that searches b's pictures, and its output. */
typedef struct BenchSearch {
    GpumeParams params;
    GpumeCudaKernel kernel;
    CUdeviceptr mvs, costs;
    size_t nb_vectors;
} BenchSearch;

void bench_search_init(Bench *b, BenchSearch *s, int algo, int block, int range, int exhaustive);
/** BenchLaunch: searches the next pair of neighbouring pictures. */
void bench_search_launch(Bench *b, void *search, int i);
/** Returns the sum of costs of picture cur searched in the previous picture. */
uint64_t bench_search_residual(Bench *b, BenchSearch *s, int cur);
void bench_search_uninit(Bench *b, BenchSearch *s);

/* The parts. */
void bench_ceilings(Bench *b);
/** Measures only b->ceiling. */
void bench_absdiff_ceiling(Bench *b);
void bench_kernels(Bench *b);
void bench_searches(Bench *b);
void bench_motion(Bench *b);
void bench_seed(Bench *b, const char *path);
void bench_nvofa(Bench *b);
/**
 * Writes NVOFA's vectors from each picture of a file to the previous picture. The output files have
 * the file's name with .slow, .medium and .fast: pairs of int16_t in 1/32 samples, for each 4x4
 * block in raster order.
 */
void bench_flow(Bench *b, const char *path);
/** Measures a filter that uses vectors, with pictures of a file. */
void bench_filter(Bench *b, const char *filter, const char *path);

#endif /* GPUME_BENCH_H */
