/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures the baseline: the kernels of A. Monteiro, motion estimation on GPUs (UFRGS, 2012),
 * rebuilt from their description, the thesis's serial program, and gpume in the same areas.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/cuda/dynlink_loader.h"
#include "libavutil/common.h"
#include "libavutil/hwcontext_cuda.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"

#include "libavfilter/cuda/load_helper.h"
#include "gpume_bench.h"
#include "gpume_bench_seed.h"

extern const unsigned char ff_gpume_bench_seed_ptx_data[];
extern const unsigned int ff_gpume_bench_seed_ptx_len;

/** Speed-up of CUDA on a GTX 480 over the serial program in the thesis, with areas of n x n around blocks of 4x4. */
static const struct {
    int ds, height, area;
    double speed_up;
} published[] = {
    { 0,  288,  16,  35.12 }, { 0,  288,  32,   35.75 }, { 0,  288,  48,   80.17 },
    { 0,  288,  64,  85.98 }, { 0,  288,  80,   88.55 },
    { 0,  720,  16, 116.04 }, { 0,  720,  32,   77.08 },
    { 0, 1080,   9,  96.36 }, { 0, 1080,  16,  124.8  }, { 0, 1080,  32,  158.29 },
    { 1,  288, 240,  39    }, { 1,  720, 240,   43    }, { 1, 1080, 240,   63    },
};

/**
 * Approximate number of absolute differences of a serial measurement; if there are more, only some
 * rows of blocks are searched.
 */
#define SERIAL_DIFFERENCES 250000000
#define SERIAL_REPEATS     3

typedef struct Seed {
    int ds;
    GpumeSeedArgs args;
    CUmodule module;
    CUfunction fs, min, search_ds;
    size_t sads_size, vectors_size;
} Seed;

static void launch(Bench *b, Seed *s)
{
    const int side = s->args.side;
    void *params[] = { &s->args };

    if (s->ds) {
        const int nb = s->args.bw * s->args.bh;

        BENCH_CU(b, cuLaunchKernel(s->search_ds,
                                   (nb + GPUME_SEED_DS_THREADS - 1) / GPUME_SEED_DS_THREADS, 1, 1,
                                   GPUME_SEED_DS_THREADS, 1, 1, 0, b->stream, params, NULL));
        return;
    }
    BENCH_CU(b, cuLaunchKernel(s->fs, s->args.bw, s->args.bh, 1,
                               side, FFMIN(side, GPUME_SEED_FS_THREADS / side), 1, 0,
                               b->stream, params, NULL));
    BENCH_CU(b, cuLaunchKernel(s->min, s->args.bw, s->args.bh, 1, GPUME_SEED_MIN_THREADS, 1, 1,
                               2 * sizeof(int) * GPUME_SEED_MIN_THREADS, b->stream, params, NULL));
}

/* BenchLaunch: searches the next pair of neighbouring pictures. */
static void launch_next(Bench *b, void *opaque, int i)
{
    Seed *s = opaque;

    s->args.ref = b->pictures[b->next];
    b->next     = (b->next + 1) % b->nb_pictures;
    s->args.cur = b->pictures[b->next];
    launch(b, s);
}

static uint64_t residual(Bench *b, Seed *s, int cur)
{
    GpumeSeedVector *v = av_malloc(s->vectors_size);
    uint64_t sum = 0;

    if (!v)
        bench_die("vectors", AVERROR(ENOMEM));
    b->next = cur - 1;
    launch_next(b, s, 0);
    BENCH_CU(b, cuStreamSynchronize(b->stream));
    BENCH_CU(b, cuMemcpyDtoH(v, s->args.vectors, s->vectors_size));
    for (int i = 0; i < s->args.bw * s->args.bh; i++)
        sum += v[i].sad;
    av_free(v);
    return sum;
}

/*
 * Returns the residual relative to gpume's. The full search must find the same costs as gpume, or
 * the baseline is wrong; the diamond search ends after some steps.
 */
static double compare_with_gpume(Bench *b, Seed *s)
{
    uint64_t ours, theirs = residual(b, s, 1);
    BenchSearch search;

    bench_search_init(b, &search, s->ds ? GPUME_ALGO_DS : GPUME_ALGO_FS, GPUME_SEED_BLOCK,
                      s->args.range, 0);
    ours = bench_search_residual(b, &search, 1);
    bench_search_uninit(b, &search);
    /* the number of candidates in a row is even; gpume has one more */
    if (s->ds || !(s->args.side & 1) ? theirs < 0.9 * ours || theirs > 1.5 * ours : theirs != ours) {
        fprintf(stderr, "the seed's %s, range %d: costs %"PRIu64", gpume's %"PRIu64"\n",
                s->ds ? "diamond search" : "full search", s->args.range, theirs, ours);
        bench_die("the baseline finds something else", AVERROR_BUG);
    }
    return (double)theirs / ours;
}

/* Returns a row for an area; if its side is odd, the range differs. */
static BenchRow row_of(const Bench *b, const Seed *s, const char *part)
{
    return (BenchRow) {
        .part = part, .what = s->ds ? "ds" : "fs", .content = b->content,
        .width = b->width, .height = b->height, .block = GPUME_SEED_BLOCK,
        .range = s->args.range, .depth = 8, .count = s->args.side + GPUME_SEED_BLOCK - 1,
        .metric = "time", .unit = "us",
    };
}

static void print_times(Bench *b, Seed *s, int area, const BenchTimes *t, double left)
{
    BenchRow row = row_of(b, s, "seed");

    printf("  kernels %10.1f us %5.1f %% %7.4f", bench_median(t), bench_spread(t), left);
    bench_times(b, &row, t);
    row.metric = "speed-up published in 2012";
    row.unit   = "ratio";
    for (int i = 0; i < FF_ARRAY_ELEMS(published); i++)
        if (published[i].ds == s->ds && published[i].height == b->height && published[i].area == area) {
            printf(" %9.2f", published[i].speed_up);
            bench_number(b, &row, published[i].speed_up);
        }
    printf("\n");
}

/* Gets the kernels' vectors for the first pair of pictures. */
static void kernel_vectors(Bench *b, Seed *s, GpumeSeedVector *v)
{
    b->next = 0;
    launch_next(b, s, 0);
    BENCH_CU(b, cuStreamSynchronize(b->stream));
    BENCH_CU(b, cuMemcpyDtoH(v, s->args.vectors, s->vectors_size));
}

/* Measures the serial program, which must find the same vectors as the kernels. */
static void serial(Bench *b, Seed *s, const uint8_t *pictures, int area)
{
    const int64_t differences = (int64_t)s->args.bw * s->args.bh * s->args.side * s->args.side *
                                GPUME_SEED_BLOCK * GPUME_SEED_BLOCK;
    const int every = s->ds ? 1 : FFMIN((differences + SERIAL_DIFFERENCES - 1) / SERIAL_DIFFERENCES, s->args.bh);
    const double part = (double)((s->args.bh + every - 1) / every) / s->args.bh;
    GpumeSeedVector *theirs = av_mallocz(s->vectors_size), *ours = av_malloc(s->vectors_size);
    BenchRow row = row_of(b, s, "seed serial");
    BenchTimes t = { .nb = SERIAL_REPEATS };

    if (!theirs || !ours)
        bench_die("vectors", AVERROR(ENOMEM));
    kernel_vectors(b, s, ours);
    for (int i = 0; i < t.nb; i++)
        t.us[i] = bench_seed_serial(&s->args, s->ds, pictures + (size_t)b->width * b->height, pictures, every,
                                    theirs) / part;
    for (int y = 0; y < s->args.bh; y += every)
        for (int x = 0; x < s->args.bw; x++) {
            const GpumeSeedVector *a = &ours[y * s->args.bw + x], *c = &theirs[y * s->args.bw + x];

            if (a->x != c->x || a->y != c->y || a->sad != c->sad)
                bench_die("the serial program finds something else than the kernels", AVERROR_BUG);
        }
    bench_sort(&t);
    printf("seed %s %4dx%-4d %3dx%-3d serial %10.1f us", row.what, b->width, b->height, area, area, bench_median(&t));
    bench_times(b, &row, &t);
    av_free(theirs);
    av_free(ours);
}

/* Measures gpume in the same area. */
static void gpume(Bench *b, Seed *s, int area)
{
    BenchRow row = row_of(b, s, "seed gpume");
    BenchTimes t;
    BenchSearch search;

    bench_search_init(b, &search, s->ds ? GPUME_ALGO_DS : GPUME_ALGO_FS, GPUME_SEED_BLOCK, s->args.range, 0);
    bench_time_launches(b, bench_search_launch, &search, 0, &t);
    bench_times(b, &row, &t);
    printf("gpume %s %4dx%-4d %3dx%-3d %9.1f us\n", row.what, b->width, b->height, area, area, bench_median(&t));
    bench_search_uninit(b, &search);
}

/* Measures one area, and allocates memory for it. */
static void measure(Bench *b, Seed *s, const uint8_t *host, int area)
{
    BenchTimes t;
    double left;

    BENCH_CU(b, cuMemAlloc((CUdeviceptr *)&s->args.vectors, s->vectors_size));
    if (!s->ds)
        BENCH_CU(b, cuMemAlloc((CUdeviceptr *)&s->args.sads, s->sads_size));
    left = compare_with_gpume(b, s);
    serial(b, s, host, area);
    bench_time_launches(b, launch_next, s, 0, &t);
    print_times(b, s, area, &t, left);
    BENCH_CU(b, cuMemFree(s->args.vectors));
    if (!s->ds)
        BENCH_CU(b, cuMemFree(s->args.sads));
}

void bench_seed(Bench *b, const char *path)
{
    static const int areas[] = { 9, 12, 16, 20, 24, 32, 36, 48, 64, 80, 128, 240 };
    const size_t size = (size_t)b->width * b->height;
    const size_t pitch = b->pitch;
    CUdeviceptr padded[BENCH_MAX_PICTURES];
    uint8_t *host;
    Seed s = { .args = {
        .width = b->width, .height = b->height,
        .bw    = b->width / GPUME_SEED_BLOCK, .bh = b->height / GPUME_SEED_BLOCK,
    } };
    int nb_host;

    if (b->width % GPUME_SEED_BLOCK || b->height % GPUME_SEED_BLOCK) {
        printf("seed: %dx%d has partial blocks, which it does not search: skipped\n",
               b->width, b->height);
        return;
    }
    if (ff_cuda_load_module(NULL, b->hwctx, &s.module, ff_gpume_bench_seed_ptx_data,
                            ff_gpume_bench_seed_ptx_len) < 0)
        bench_die("the seed's kernels", AVERROR_EXTERNAL);
    BENCH_CU(b, cuModuleGetFunction(&s.fs,        s.module, "gpume_seed_fs"));
    BENCH_CU(b, cuModuleGetFunction(&s.min,       s.module, "gpume_seed_min"));
    BENCH_CU(b, cuModuleGetFunction(&s.search_ds, s.module, "gpume_seed_ds"));
    host = bench_read_pictures(b, path, 2, &nb_host);

    /* the baseline's pictures have no padding */
    memcpy(padded, b->pictures, sizeof(padded));
    for (int i = 0; i < b->nb_pictures; i++) {
        CUDA_MEMCPY2D copy = {
            .srcMemoryType = CU_MEMORYTYPE_DEVICE,
            .srcDevice     = padded[i],
            .srcPitch      = pitch,
            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
            .dstPitch      = b->width,
            .WidthInBytes  = b->width,
            .Height        = b->height,
        };

        BENCH_CU(b, cuMemAlloc(&b->pictures[i], size));
        copy.dstDevice = b->pictures[i];
        BENCH_CU(b, cuMemcpy2D(&copy));
    }
    /* b->stream does not wait for the copy */
    BENCH_CU(b, cuStreamSynchronize(NULL));
    b->pitch = b->width;

    printf("\nThe seed's system: the serial program; kernels, with their residual against that of gpume's search and\n"
           "their published speed-up (Monteiro, UFRGS 2012, GTX 480, other clips of this size)\n");
    s.vectors_size = (size_t)s.args.bw * s.args.bh * sizeof(GpumeSeedVector);
    for (s.ds = 0; s.ds < 2; s.ds++)
        for (int i = 0; i < FF_ARRAY_ELEMS(areas); i++) {
            const int side = areas[i] - GPUME_SEED_BLOCK + 1;
            size_t free, total;

            if (s.ds ? !(side & 1) : areas[i] > 80)
                continue;
            s.args.range = side / 2;
            s.args.side  = side;
            s.sads_size  = (size_t)s.args.bw * s.args.bh * side * side * sizeof(int);
            bench_check(b, b->mem_info(&free, &total), "cuMemGetInfo");
            if (!s.ds && 2 * s.sads_size + (64 << 20) > free) {
                printf("seed fs %dx%d %dx%d: the device has too little memory, skipped\n",
                       b->width, b->height, areas[i], areas[i]);
                continue;
            }
            measure(b, &s, host, areas[i]);
        }

    for (int i = 0; i < b->nb_pictures; i++)
        BENCH_CU(b, cuMemFree(b->pictures[i]));
    memcpy(b->pictures, padded, sizeof(padded));
    b->pitch = pitch;
    b->next  = 0;
    BENCH_CU(b, cuModuleUnload(s.module));
    for (s.ds = 0; s.ds < 2; s.ds++)
        for (int i = 0; i < FF_ARRAY_ELEMS(areas); i++) {
            s.args.side  = areas[i] - GPUME_SEED_BLOCK + 1;
            s.args.range = s.args.side / 2;
            if (s.ds ? s.args.side & 1 : areas[i] <= 80)
                gpume(b, &s, areas[i]);
        }
    av_free(host);
}
