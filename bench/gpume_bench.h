/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the parts of gpume_bench share: the device, pictures, timing by events,
 * the table and the CSV file. bench/README.md says which file measures what.
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
#include "libavfilter/gpume/cuda/launch.h"
#include "libavfilter/gpume/cuda/search.h"
#include "libavfilter/gpume/util/executor.h"

#define BENCH_MAX_PICTURES 256
#define BENCH_MAX_REPEATS   32

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
    CUstream queues[2];         ///< for searches side by side; they begin and end with what is timed on stream
    CUevent start, stop, joined;
    FILE *csv;
    int repeats;                ///< of every measurement, 1 to BENCH_MAX_REPEATS
    double ceiling;             ///< 10^12 absolute differences/s of the device; 0: not known

    /* pictures on the device */
    const char *content;        ///< "clip" or "noise"
    int width, height;
    int depth;                  ///< bits of a sample: 8, 10, 12 or 16
    size_t pitch;
    int nb_pictures;
    CUdeviceptr pictures[BENCH_MAX_PICTURES];
    int next;                   ///< of them, the next reference
} Bench;

/** What repeated runs of one thing took. */
typedef struct BenchTimes {
    double us[BENCH_MAX_REPEATS];   ///< sorted by bench_sort()
    int nb;
} BenchTimes;

/** A row of the CSV file; what does not apply is 0 or NULL. */
typedef struct BenchRow {
    const char *part;
    const char *what;
    const char *content;
    int width, height, block, range, depth;
    int count;                  ///< of threads, streams, calls
    const char *metric;
    const char *unit;
} BenchRow;

/** Say what failed and exit. @param err an AVERROR code */
av_noreturn void bench_die(const char *what, int err);

/** Exit with a message when err is an error: there is no use in going on. */
void bench_check(Bench *b, CUresult err, const char *what);

#define BENCH_CU(b, call) bench_check(b, (b)->cu->call, #call)

/** Median, least and most of sorted times, microseconds, and their spread in percent. */
double bench_median(const BenchTimes *t);
double bench_spread(const BenchTimes *t);
void bench_sort(BenchTimes *t);

/** Write a row: times as they are. */
void bench_times(Bench *b, const BenchRow *row, const BenchTimes *t);
/** Write a row: a number that follows from others. */
void bench_number(Bench *b, const BenchRow *row, double value);

/** The function 'launch' is called for each i below nb; it queues work on b->stream. */
typedef void BenchLaunch(Bench *b, void *opaque, int i);

/**
 * Time launches by events: each repeat has as many as take some time, after a warm-up.
 * @param max at most so many in a repeat, 0: as many as it takes
 */
void bench_time_launches(Bench *b, BenchLaunch *launch, void *opaque, int max, BenchTimes *t);

/** Milliseconds that nb launches take on the device. */
double bench_launches_ms(Bench *b, BenchLaunch *launch, void *opaque, int nb);

/** The file's first pictures, 8-bit luma, one after the other; ends with an error. */
uint8_t *bench_read_pictures(Bench *b, const char *path, int max, int *nb);

/** The format of gray pictures of 8, 10, 12 or 16 bits. */
enum AVPixelFormat bench_format(int depth);

/**
 * Pictures on the device, more than its caches hold. Of samples of more than 8 bits the file gives the upper 8,
 * and those below are noise, as in what a sensor delivers.
 * @param path NULL: noise
 */
void bench_load_pictures(Bench *b, const char *path, int depth);
void bench_free_pictures(Bench *b);

/** A kernel that searches b's pictures, and where it writes. */
typedef struct BenchSearch {
    GpumeParams params;
    GpumeCudaKernel kernel;
    CUdeviceptr mvs, costs;
    size_t nb_vectors;
} BenchSearch;

/** Work in parts, one after the other. */
void bench_execute(void *opaque, GpumeJob job, void *arg, int nb_jobs);
/** Frames on the device, of the pictures' size. To be unreferenced. */
AVBufferRef *bench_alloc_frames(Bench *b, enum AVPixelFormat sw_format);
/** One of them. To be freed. */
AVFrame *bench_get_frame(AVBufferRef *frames);

/* Launches of a filter, each between two events. */

/** Stand between the filter and the driver, from before it is opened on. */
void bench_begin_launches(Bench *b);
void bench_end_launches(Bench *b);
/** Another filter is opened. */
void bench_forget_kernels(void);
/** Let the device have work until launches are queued, once it is done with all before. */
void bench_keep_busy(Bench *b);
void bench_record_launches(int recording);
/** Print what each kernel took of what was recorded, and write rows. @param nb pictures that were made */
void bench_print_launches(Bench *b, BenchRow row, int nb);

/**
 * Let gpume search pictures, which are taken over.
 * @param out the same with their vectors on the device
 */
void bench_find_vectors(Bench *b, AVBufferRef *frames, AVFrame **in, AVFrame **out, int nb, const char *options);

/** @param before a search that takes turns with it on another stream, or NULL */
void bench_search_init(Bench *b, BenchSearch *s, int algo, int block, int range,
                       int exhaustive, BenchSearch *before);
/** BenchLaunch: each search has another pair of neighbouring pictures. */
void bench_search_launch(Bench *b, void *search, int i);
/** The sum of costs of searching picture cur in its neighbour before it. */
uint64_t bench_search_residual(Bench *b, BenchSearch *s, int cur);
void bench_search_uninit(Bench *b, BenchSearch *s);

/* The parts. */
void bench_ceilings(Bench *b);
/** Only b->ceiling. */
void bench_absdiff_ceiling(Bench *b);
void bench_kernels(Bench *b);
void bench_searches(Bench *b);
void bench_motion(Bench *b);
void bench_seed(Bench *b, const char *path);
void bench_nvofa(Bench *b, const char *path);
/**
 * Write NVOFA's vectors from each picture of a file to the one before it, to the file's name
 * with .slow, .medium and .fast: pairs of int16_t in 1/32 samples, for each 4x4 in raster order.
 */
void bench_flow(Bench *b, const char *path);
/** What mvview takes; the pictures are not looked at. */
void bench_mvview(Bench *b);
/** What mvfps takes. */
void bench_mvfps(Bench *b);
/** What mvdenoise takes, with noise in the pictures of a file. */
void bench_mvdenoise(Bench *b, const char *path);
/** What mvstereo takes; a file's picture is both views, shifted. */
void bench_mvstereo(Bench *b, const char *path);
void bench_memory(Bench *b);

#endif /* GPUME_BENCH_H */
