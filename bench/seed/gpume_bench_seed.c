/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures the baseline: the system of A. Monteiro, motion estimation on GPUs (UFRGS, 2012),
 * rebuilt from its description. Measures its kernels alone, and a complete frame as in the thesis:
 * memory is allocated, both frames are uploaded, the kernels run, vectors and costs are downloaded.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/cuda/dynlink_loader.h"
#include "libavutil/common.h"
#include "libavutil/cpu.h"
#include "libavutil/hwcontext_cuda.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"
#include "libavutil/motion_vector.h"
#include "libavutil/time.h"

#include "libavfilter/cuda/load_helper.h"
#include "gpume_bench.h"
#include "gpume_bench_seed.h"

extern const unsigned char ff_gpume_bench_seed_ptx_data[];
extern const unsigned int ff_gpume_bench_seed_ptx_len;

/** Number of frames for the division of time into stages; the first frame is not counted. */
#define SPLIT_FRAMES 10

/**
 * Frames/s in the thesis, on a GTX 480, with areas of n x n around blocks of 4x4, for other clips
 * of the same size: Foreman, Mobcal, Blue Sky. 688.75 is implausible: the area of 12x12 has 2.25
 * times as many candidates, but a thirteenth of the rate.
 */
static const struct Published {
    int ds, height, area;
    double fps;
} published[] = {
    { 0,  288,  16,  219.55 }, { 0,  288,  32,   47.55 }, { 0,  288,  48,   44.50 },
    { 0,  288,  64,   26.06 }, { 0,  288,  80,   16.86 },
    { 0,  720,  20,   41    }, { 0,  720,  32,   11    },
    { 0, 1080,   9,  688.75 }, { 0, 1080,  12,   54    }, { 0, 1080,  32,   10    },
    { 1,  288,  32, 1818    }, { 1,  720,  32,  341    }, { 1, 1080,  32,  176    },
    { 1,  288, 240, 1174    }, { 1,  720, 240,  340    }, { 1, 1080, 240,  177    },
};

/** Speed-up of CUDA over the serial program in the thesis. */
static const struct Published speed_ups[] = {
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
/** Number of threads, equal to the number of cores of the thesis's machine. */
#define SERIAL_THREADS     6

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
                      s->args.range, 0, NULL);
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

/* Writes rows with the numbers of the thesis. */
static void published_rows(Bench *b, BenchRow row, const struct Published *p, int nb, int ds, const char *metric,
                           const char *unit)
{
    row.metric = metric;
    row.unit   = unit;
    for (int i = 0; i < nb; i++)
        if (p[i].ds == ds && p[i].height == b->height && p[i].area == row.count) {
            printf(" %9.2f", p[i].fps);
            bench_number(b, &row, p[i].fps);
        }
}

static void print_times(Bench *b, Seed *s, int area, const BenchTimes *t, double left)
{
    BenchRow row = row_of(b, s, "seed");

    printf("seed %s %4dx%-4d %3dx%-3d %10.1f us %9.1f fps %5.1f %% %7.4f", row.what, b->width,
           b->height, area, area, bench_median(t), 1e6 / bench_median(t), bench_spread(t), left);
    bench_times(b, &row, t);
    row.metric = "residual against gpume";
    row.unit   = "ratio";
    bench_number(b, &row, left);
    published_rows(b, row, published, FF_ARRAY_ELEMS(published), s->ds, "rate published in 2012", "fps");
    published_rows(b, row, speed_ups, FF_ARRAY_ELEMS(speed_ups), s->ds, "speed-up published in 2012", "ratio");
    printf("\n");
}

/* Measures a frame from the host's memory to vectors there, in the four stages. */
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
        BenchRow row = row_of(b, s, "seed split");

        row.metric = stages[j];
        bench_times(b, &row, &times[j]);
        printf(" %s %.1f %%%s", stages[j], 100 * bench_median(&times[j]) / sum,
               j + 1 < NB_STAGES ? "," : "\n");
    }
}

/* Gets the kernels' vectors for the first pair of pictures. */
static void kernel_vectors(Bench *b, Seed *s, GpumeSeedVector *v)
{
    b->next = 0;
    launch_next(b, s, 0);
    BENCH_CU(b, cuStreamSynchronize(b->stream));
    BENCH_CU(b, cuMemcpyDtoH(v, s->args.vectors, s->vectors_size));
}

/* Measures the serial program and its threads; they must find the same vectors as the kernels. */
static void serial(Bench *b, Seed *s, const uint8_t *pictures, int area)
{
    const int64_t differences = (int64_t)s->args.bw * s->args.bh * s->args.side * s->args.side *
                                GPUME_SEED_BLOCK * GPUME_SEED_BLOCK;
    const int every = s->ds ? 1 : FFMIN((differences + SERIAL_DIFFERENCES - 1) / SERIAL_DIFFERENCES, s->args.bh);
    const double part = (double)((s->args.bh + every - 1) / every) / s->args.bh;
    GpumeSeedVector *theirs = av_mallocz(s->vectors_size), *ours = av_malloc(s->vectors_size);

    if (!theirs || !ours)
        bench_die("vectors", AVERROR(ENOMEM));
    kernel_vectors(b, s, ours);
    printf("seed %s %4dx%-4d %3dx%-3d", s->ds ? "ds" : "fs", b->width, b->height, area, area);
    for (int threads = 1; threads <= SERIAL_THREADS; threads += SERIAL_THREADS - 1) {
        BenchRow row = row_of(b, s, threads > 1 ? "seed threads" : "seed serial");
        BenchTimes t = { .nb = SERIAL_REPEATS };

        if (threads > av_cpu_count())
            break;
        for (int i = 0; i < t.nb; i++) {
            const int64_t us = bench_seed_serial(&s->args, s->ds, pictures + (size_t)b->width * b->height, pictures,
                                                 every, threads, theirs);

            if (us < 0)
                bench_die("a serial search", us);
            t.us[i] = us / part;
        }
        for (int y = 0; y < s->args.bh; y += every)
            for (int x = 0; x < s->args.bw; x++) {
                const GpumeSeedVector *a = &ours[y * s->args.bw + x], *c = &theirs[y * s->args.bw + x];

                if (a->x != c->x || a->y != c->y || a->sad != c->sad)
                    bench_die("the serial program finds something else than the kernels", AVERROR_BUG);
            }
        bench_sort(&t);
        printf("  %d thread%s %10.1f us", threads, threads > 1 ? "s" : " ", bench_median(&t));
        bench_times(b, &row, &t);
    }
    printf("\n");
    av_free(theirs);
    av_free(ours);
}

/* Measures gpume in the same area: its kernel, and a frame from and to the host's memory. */
static void gpume(Bench *b, Seed *s, const uint8_t *pictures, int nb_pictures, int area)
{
    const size_t size = b->pitch * b->height;
    BenchRow row = row_of(b, s, "seed gpume");
    BenchTimes t, whole = { .nb = SPLIT_FRAMES };
    BenchSearch search;
    uint8_t *up, *down;
    size_t mvs;

    bench_search_init(b, &search, s->ds ? GPUME_ALGO_DS : GPUME_ALGO_FS, GPUME_SEED_BLOCK, s->args.range, 0, NULL);
    mvs = search.nb_vectors * sizeof(AVMotionVector);
    bench_time_launches(b, bench_search_launch, &search, 0, &t);
    bench_times(b, &row, &t);
    bench_check(b, b->host_alloc((void **)&up, size, 0), "cuMemHostAlloc");
    bench_check(b, b->host_alloc((void **)&down, mvs + search.nb_vectors * sizeof(uint32_t), 0), "cuMemHostAlloc");
    for (int n = -1; n < SPLIT_FRAMES; n++) {
        const int next = (b->next + 1) % b->nb_pictures;
        int64_t began;

        /* as in the filter when the frame is in pinned memory; the previous picture is on the device */
        for (int y = 0; y < b->height; y++)
            memcpy(up + y * b->pitch, pictures + ((size_t)((n + 2) % nb_pictures) * b->height + y) * b->width,
                   b->width);
        began = av_gettime_relative();
        BENCH_CU(b, cuMemcpyHtoDAsync(b->pictures[next], up, size, b->stream));
        bench_search_launch(b, &search, 0);
        BENCH_CU(b, cuMemcpyDtoHAsync(down, search.mvs, mvs, b->stream));
        BENCH_CU(b, cuMemcpyDtoHAsync(down + mvs, search.costs, search.nb_vectors * sizeof(uint32_t), b->stream));
        BENCH_CU(b, cuStreamSynchronize(b->stream));
        if (n >= 0)
            whole.us[n] = av_gettime_relative() - began;
    }
    bench_sort(&whole);
    row.metric = "time of a frame";
    bench_times(b, &row, &whole);
    printf("gpume %s %4dx%-4d %3dx%-3d %9.1f us, a frame from and to the host %.1f us\n", row.what, b->width,
           b->height, area, area, bench_median(&t), bench_median(&whole));
    bench_check(b, b->host_free(up), "cuMemFreeHost");
    bench_check(b, b->host_free(down), "cuMemFreeHost");
    bench_search_uninit(b, &search);
}

/*
 * Returns the device's 10^9 operations/s as its maker counts them: two for each clock cycle of a
 * lane, for floating point.
 */
static void device_rate(Bench *b)
{
    static const struct { int cc, lanes; } generations[] = {
        { 30, 192 }, { 50, 128 }, { 60, 64 }, { 61, 128 }, { 70, 64 }, { 80, 64 }, { 86, 128 },
    };
    BenchRow row = { .part = "seed", .what = "device", .metric = "rate", .unit = "Gop/s" };
    int khz, sms, major, minor, lanes = 0;
    CUdevice device;

    BENCH_CU(b, cuCtxGetDevice(&device));
    BENCH_CU(b, cuDeviceGetAttribute(&khz,   CU_DEVICE_ATTRIBUTE_CLOCK_RATE, device));
    BENCH_CU(b, cuDeviceGetAttribute(&sms,   CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    BENCH_CU(b, cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    BENCH_CU(b, cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    for (int i = 0; i < FF_ARRAY_ELEMS(generations); i++)
        if (10 * major + minor >= generations[i].cc)
            lanes = generations[i].lanes;
    printf("the device: %d multiprocessors, %d lanes each, %.3f GHz: %.0f Gop/s\n", sms, lanes, khz / 1e6,
           2e-6 * sms * lanes * khz);
    bench_number(b, &row, 2e-6 * sms * lanes * khz);
}

/* Measures one area, and allocates memory for it. */
static void measure(Bench *b, Seed *s, const uint8_t *host, int nb_host, int area)
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
    split(b, s, host, nb_host, area);
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
    host = bench_read_pictures(b, path, SPLIT_FRAMES + 2, &nb_host);

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

    printf("\n");
    device_rate(b);
    printf("The seed's system: the serial program, and its threads; kernels only, with its residual\n"
           "against that of gpume's search, and its published fps and speed-up (Monteiro, UFRGS 2012,\n"
           "GTX 480, other clips of this size); then a frame from and to the host's memory. 688.75 fps is\n"
           "implausible beside 54 with 2.25 times the candidates.\n");
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
            measure(b, &s, host, nb_host, areas[i]);
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
                gpume(b, &s, host, nb_host, areas[i]);
        }
    av_free(host);
}
