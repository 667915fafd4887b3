/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The baseline: the system of A. Monteiro, motion estimation on GPUs (UFRGS, 2012),
 * rebuilt from its description. Its kernels alone, and a frame as it does it: memory is
 * allocated, both frames go up, the kernels run, vectors and costs come down.
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
#include "libavutil/time.h"

#include "libavfilter/cuda/load_helper.h"
#include "gpume_bench.h"
#include "gpume_bench_seed.h"

extern const unsigned char ff_gpume_bench_seed_ptx_data[];
extern const unsigned int ff_gpume_bench_seed_ptx_len;

/** Frames of the split of time; the first one is left out. */
#define SPLIT_FRAMES 10

/**
 * The thesis's frames/s on a GTX 480, with areas of n x n around blocks of 4x4, on other
 * clips of the same size: Foreman, Mobcal, Blue Sky.
 */
static const struct Published {
    int ds, height, area;
    double fps;
} published[] = {
    { 0,  288,  16,  219.55 }, { 0,  288,  32,   47.55 }, { 0,  288,  48,   44.50 },
    { 0,  288,  64,   26.06 }, { 0,  288,  80,   16.86 },
    { 0, 1080,  12,   54    }, { 0, 1080,  32,   10    },
    { 1,  288, 240, 1174    }, { 1,  720, 240,  340    }, { 1, 1080, 240,  177    },
};

enum { ALLOCATION, UP, KERNEL, DOWN, NB_STAGES };

static const char *const stages[] = { "allocation", "up", "kernel", "down" };

typedef struct Seed {
    int ds;
    GpumeSeedArgs args;
    CUmodule module;
    CUfunction fs, min, search_ds;
    size_t sads_size, vectors_size;
} Seed;

static void launch(Bench *b, Seed *s)
{
    const int side = 2 * s->args.range + 1;
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

/* BenchLaunch: every search has another pair of neighbouring pictures. */
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
 * What it leaves over, as a part of what gpume does. Its full search has to find what
 * gpume finds, or it is no baseline; its diamond search gives up after some steps.
 */
static double compare_with_gpume(Bench *b, Seed *s)
{
    uint64_t ours, theirs = residual(b, s, 1);
    BenchSearch search;

    bench_search_init(b, &search, s->ds ? GPUME_ALGO_DS : GPUME_ALGO_FS, GPUME_SEED_BLOCK,
                      s->args.range, 0);
    ours = bench_search_residual(b, &search, 1);
    bench_search_uninit(b, &search);
    if (s->ds ? theirs < 0.9 * ours || theirs > 1.5 * ours : theirs != ours) {
        fprintf(stderr, "the seed's %s, range %d: costs %"PRIu64", gpume's %"PRIu64"\n",
                s->ds ? "diamond search" : "full search", s->args.range, theirs, ours);
        bench_die("the baseline finds something else", AVERROR_BUG);
    }
    return (double)theirs / ours;
}

static void print_times(Bench *b, Seed *s, int area, const BenchTimes *t, double left)
{
    BenchRow row = {
        .part = "seed", .what = s->ds ? "ds" : "fs", .content = b->content,
        .width = b->width, .height = b->height, .block = GPUME_SEED_BLOCK,
        .range = s->args.range, .depth = 8, .metric = "time", .unit = "us",
    };

    printf("seed %s %4dx%-4d %3dx%-3d %10.1f us %9.1f fps %5.1f %% %7.4f", row.what, b->width,
           b->height, area, area, bench_median(t), 1e6 / bench_median(t), bench_spread(t), left);
    bench_times(b, &row, t);
    row.metric = "residual against gpume";
    row.unit   = "ratio";
    bench_number(b, &row, left);
    row.metric = "rate published in 2012";
    row.unit   = "fps";
    for (int i = 0; i < FF_ARRAY_ELEMS(published); i++)
        if (published[i].ds == s->ds && published[i].height == b->height &&
            published[i].area == area) {
            printf(" %9.2f", published[i].fps);
            bench_number(b, &row, published[i].fps);
        }
    printf("\n");
}

/* A frame from the host's memory to vectors there, in the four stages. */
static void split(Bench *b, Seed *s, const uint8_t *pictures, int nb_pictures, int area)
{
    const size_t size = (size_t)b->width * b->height;
    BenchTimes times[NB_STAGES] = { { .nb = SPLIT_FRAMES } };
    void *vectors = malloc(s->vectors_size);
    double sum = 0;

    if (!vectors)
        bench_die("vectors", AVERROR(ENOMEM));
    for (int n = -1; n < SPLIT_FRAMES; n++) {
        GpumeSeedArgs kept = s->args;
        int64_t t[NB_STAGES + 1];
        const int i = (n + 1) % (nb_pictures - 1);

        t[0] = av_gettime_relative();
        BENCH_CU(b, cuMemAlloc((CUdeviceptr *)&s->args.cur,     size));
        BENCH_CU(b, cuMemAlloc((CUdeviceptr *)&s->args.ref,     size));
        BENCH_CU(b, cuMemAlloc((CUdeviceptr *)&s->args.vectors, s->vectors_size));
        if (!s->ds)
            BENCH_CU(b, cuMemAlloc((CUdeviceptr *)&s->args.sads, s->sads_size));
        t[1] = av_gettime_relative();
        BENCH_CU(b, cuMemcpyHtoD(s->args.ref, pictures + i * size, size));
        BENCH_CU(b, cuMemcpyHtoD(s->args.cur, pictures + (i + 1) * size, size));
        t[2] = av_gettime_relative();
        launch(b, s);
        BENCH_CU(b, cuStreamSynchronize(b->stream));
        t[3] = av_gettime_relative();
        BENCH_CU(b, cuMemcpyDtoH(vectors, s->args.vectors, s->vectors_size));
        t[4] = av_gettime_relative();
        BENCH_CU(b, cuMemFree(s->args.cur));
        BENCH_CU(b, cuMemFree(s->args.ref));
        BENCH_CU(b, cuMemFree(s->args.vectors));
        if (!s->ds)
            BENCH_CU(b, cuMemFree(s->args.sads));
        s->args = kept;
        for (int j = 0; n >= 0 && j < NB_STAGES; j++) {
            times[j].us[n] = t[j + 1] - t[j];
            times[j].nb    = SPLIT_FRAMES;
        }
    }
    free(vectors);

    for (int j = 0; j < NB_STAGES; j++) {
        bench_sort(&times[j]);
        sum += bench_median(&times[j]);
    }
    printf("seed %s %4dx%-4d %3dx%-3d %10.1f us:", s->ds ? "ds" : "fs", b->width, b->height,
           area, area, sum);
    for (int j = 0; j < NB_STAGES; j++) {
        const BenchRow row = {
            .part = "seed split", .what = s->ds ? "ds" : "fs", .content = b->content,
            .width = b->width, .height = b->height, .block = GPUME_SEED_BLOCK,
            .range = s->args.range, .depth = 8, .metric = stages[j], .unit = "us",
        };

        bench_times(b, &row, &times[j]);
        printf(" %s %.1f %%%s", stages[j], 100 * bench_median(&times[j]) / sum,
               j + 1 < NB_STAGES ? "," : "\n");
    }
}

void bench_seed(Bench *b, const char *path)
{
    static const int areas[] = { 12, 16, 20, 24, 32, 36, 48, 64, 80, 128, 240 };
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
    host = bench_read_pictures(b, path, SPLIT_FRAMES + 2, &nb_host);

    /* its pictures have no padding */
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
    b->pitch = b->width;

    printf("\nThe seed's system, kernels only, with its residual against that of gpume's search;\n"
           "then a frame from and to the host's memory; last column: its published fps\n"
           "(Monteiro, UFRGS 2012, GTX 480, other clips of this size)\n");
    s.vectors_size = (size_t)s.args.bw * s.args.bh * sizeof(GpumeSeedVector);
    for (s.ds = 0; s.ds < 2; s.ds++)
        for (int i = 0; i < FF_ARRAY_ELEMS(areas); i++) {
            const int side = areas[i] - GPUME_SEED_BLOCK + 1;
            size_t free, total;
            BenchTimes t;
            double left;

            if (!s.ds && areas[i] > 80)
                continue;
            s.args.range = side / 2;
            s.sads_size  = (size_t)s.args.bw * s.args.bh * side * side * sizeof(int);
            bench_check(b, b->mem_info(&free, &total), "cuMemGetInfo");
            if (!s.ds && 2 * s.sads_size + (64 << 20) > free) {
                printf("seed fs %dx%d %dx%d: the device has too little memory, skipped\n",
                       b->width, b->height, areas[i], areas[i]);
                continue;
            }
            BENCH_CU(b, cuMemAlloc((CUdeviceptr *)&s.args.vectors, s.vectors_size));
            if (!s.ds)
                BENCH_CU(b, cuMemAlloc((CUdeviceptr *)&s.args.sads, s.sads_size));
            left = compare_with_gpume(b, &s);
            bench_time_launches(b, launch_next, &s, 0, &t);
            print_times(b, &s, areas[i], &t, left);
            split(b, &s, host, nb_host, areas[i]);
            BENCH_CU(b, cuMemFree(s.args.vectors));
            if (!s.ds)
                BENCH_CU(b, cuMemFree(s.args.sads));
        }

    for (int i = 0; i < b->nb_pictures; i++)
        BENCH_CU(b, cuMemFree(b->pictures[i]));
    memcpy(b->pictures, padded, sizeof(padded));
    b->pitch = pitch;
    b->next  = 0;
    BENCH_CU(b, cuModuleUnload(s.module));
    av_free(host);
}
