/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures kernels alone, with their pictures on the device: those of gpume and those that they are
 * compared with. bench/bench-gpu.sh calls it, and also measures whole pipelines.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/cuda/dynlink_loader.h"
#include "libavutil/avstring.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/hwcontext_cuda_internal.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"
#include "libavutil/motion_vector.h"

#include "gpume_bench.h"

/** Size of the pictures: more than any cache of the device, so that they are read from memory. */
#define RESIDENT_BYTES (256 << 20)
/** Minimum duration of a repeat in milliseconds. */
#define REPEAT_MS      20
#define MAX_LAUNCHES   20000

void bench_die(const char *what, int err)
{
    fflush(stdout);
    fprintf(stderr, "gpume_bench: %s: %s\n", what, av_err2str(err));
    exit(1);
}

void bench_check(Bench *b, CUresult err, const char *what)
{
    fflush(stdout);
    if (ff_gpume_cuda_check(&b->cuda, err, what) < 0)
        exit(1);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void bench_sort(BenchTimes *t)
{
    qsort(t->us, t->nb, sizeof(*t->us), compare);
}

double bench_median(const BenchTimes *t)
{
    return t->nb & 1 ? t->us[t->nb / 2] : (t->us[t->nb / 2 - 1] + t->us[t->nb / 2]) / 2;
}

double bench_spread(const BenchTimes *t)
{
    return 100 * (t->us[t->nb - 1] - t->us[0]) / bench_median(t);
}

static void number_or_nothing(FILE *f, int n)
{
    if (n)
        fprintf(f, "%d", n);
    fputc(',', f);
}

static void row_start(Bench *b, const BenchRow *r)
{
    fprintf(b->csv, "%s,%s,%s,", r->part, r->what, r->content ? r->content : "");
    number_or_nothing(b->csv, r->width);
    number_or_nothing(b->csv, r->height);
    number_or_nothing(b->csv, r->block);
    number_or_nothing(b->csv, r->range);
    number_or_nothing(b->csv, r->depth);
    number_or_nothing(b->csv, r->count);
    fprintf(b->csv, "%s,%s,", r->metric, r->unit);
}

void bench_times(Bench *b, const BenchRow *row, const BenchTimes *t)
{
    if (!b->csv)
        return;
    row_start(b, row);
    fprintf(b->csv, "%.3f,%.3f,%.3f,%d\n", bench_median(t), t->us[0], t->us[t->nb - 1], t->nb);
}

void bench_number(Bench *b, const BenchRow *row, double value)
{
    if (!b->csv)
        return;
    row_start(b, row);
    fprintf(b->csv, "%.6g,,,\n", value);
}

static void open_device(Bench *b, const char *device)
{
    AVBufferRef *ref;
    CUdevice dev;
    char name[128] = "";
    int driver = 0, ret;

    ret = av_hwdevice_ctx_create(&b->device, AV_HWDEVICE_TYPE_CUDA, device, NULL, 0);
    if (ret < 0)
        bench_die("no CUDA device", ret);
    b->cuda.log_level = AV_LOG_ERROR;
    ref = av_buffer_ref(b->device);
    ret = ref ? ff_gpume_cuda_open(&b->cuda, ref) : AVERROR(ENOMEM);
    if (ret < 0)
        bench_die("the CUDA device", ret);
    b->hwctx      = b->cuda.hwctx;
    b->cu         = b->cuda.cu;
    b->elapsed    = (BenchEventElapsedTime *)FFNV_SYM_FUNC(b->cu->lib, "cuEventElapsedTime");
    b->mem_info   = (BenchMemGetInfo *)FFNV_SYM_FUNC(b->cu->lib, "cuMemGetInfo_v2");
    b->host_alloc = (BenchMemHostAlloc *)FFNV_SYM_FUNC(b->cu->lib, "cuMemHostAlloc");
    b->host_free  = (BenchMemFreeHost *)FFNV_SYM_FUNC(b->cu->lib, "cuMemFreeHost");
    if (!b->elapsed || !b->mem_info || !b->host_alloc || !b->host_free)
        bench_die("the driver lacks a function", AVERROR(ENOSYS));

    BENCH_CU(b, cuCtxPushCurrent(b->hwctx->cuda_ctx));
    BENCH_CU(b, cuCtxGetDevice(&dev));
    BENCH_CU(b, cuDeviceGetName(name, sizeof(name), dev));
    BENCH_CU(b, cuDriverGetVersion(&driver));
    BENCH_CU(b, cuStreamCreate(&b->stream, CU_STREAM_NON_BLOCKING));
    BENCH_CU(b, cuEventCreate(&b->start, CU_EVENT_DEFAULT));
    BENCH_CU(b, cuEventCreate(&b->stop,  CU_EVENT_DEFAULT));
    BENCH_CU(b, cuEventCreate(&b->joined, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < FF_ARRAY_ELEMS(b->queues); i++)
        BENCH_CU(b, cuStreamCreate(&b->queues[i], CU_STREAM_NON_BLOCKING));
    printf("device: %s, driver for CUDA %d.%d\n", name, driver / 1000, driver % 1000 / 10);
}

static void close_device(Bench *b)
{
    BENCH_CU(b, cuEventDestroy(b->start));
    BENCH_CU(b, cuEventDestroy(b->stop));
    BENCH_CU(b, cuEventDestroy(b->joined));
    for (int i = 0; i < FF_ARRAY_ELEMS(b->queues); i++)
        BENCH_CU(b, cuStreamDestroy(b->queues[i]));
    BENCH_CU(b, cuStreamDestroy(b->stream));
    BENCH_CU(b, cuCtxPopCurrent(NULL));
    ff_gpume_cuda_close(&b->cuda);
    av_buffer_unref(&b->device);
}

double bench_launches_ms(Bench *b, BenchLaunch *launch, void *opaque, int nb)
{
    float ms;

    BENCH_CU(b, cuEventRecord(b->start, b->stream));
    for (int i = 0; i < FF_ARRAY_ELEMS(b->queues); i++)
        BENCH_CU(b, cuStreamWaitEvent(b->queues[i], b->start, 0));
    for (int i = 0; i < nb; i++)
        launch(b, opaque, i);
    for (int i = 0; i < FF_ARRAY_ELEMS(b->queues); i++) {
        BENCH_CU(b, cuEventRecord(b->joined, b->queues[i]));
        BENCH_CU(b, cuStreamWaitEvent(b->stream, b->joined, 0));
    }
    BENCH_CU(b, cuEventRecord(b->stop, b->stream));
    BENCH_CU(b, cuEventSynchronize(b->stop));
    bench_check(b, b->elapsed(&ms, b->start, b->stop), "cuEventElapsedTime");
    return ms;
}

void bench_time_launches(Bench *b, BenchLaunch *launch, void *opaque, int max, BenchTimes *t)
{
    const int few = max ? FFMIN(max, 4) : 4;
    double ms;
    int nb;

    /* warms up, and measures how many launches fill a repeat */
    bench_launches_ms(b, launch, opaque, FFMIN(few, 2));
    ms = FFMAX(bench_launches_ms(b, launch, opaque, few), 1e-3);
    nb = av_clip(ceil(REPEAT_MS / ms * few), 1, max ? max : MAX_LAUNCHES);
    t->nb = b->repeats;
    for (int i = 0; i < t->nb; i++)
        t->us[i] = bench_launches_ms(b, launch, opaque, nb) * 1000 / nb;
    bench_sort(t);
}

uint8_t *bench_read_pictures(Bench *b, const char *path, int max, int *nb)
{
    const size_t size = (size_t)b->width * b->height;
    uint8_t *pictures = av_malloc_array(max, size);
    FILE *f = fopen(path, "rb");

    if (!f || !pictures)
        bench_die(path, AVERROR(f ? ENOMEM : errno));
    *nb = fread(pictures, size, max, f);
    fclose(f);
    if (*nb < 2)
        bench_die(path, AVERROR_INVALIDDATA);
    return pictures;
}

static void fill_with_noise(uint8_t *p, size_t size, uint64_t *state)
{
    for (size_t i = 0; i < size; i++) {
        if (!(i & 7)) {
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
        }
        p[i] = *state >> 8 * (i & 7);
    }
}

/* Widens samples to more than 8 bits: sets the upper bits and, except for noise, keeps the bits below. */
static void widen(uint8_t *samples, const uint8_t *upper, size_t nb, int depth)
{
    const int more = depth - 8;

    for (size_t i = 0; i < nb; i++) {
        const unsigned sample = AV_RN16(samples + 2 * i) >> (16 - depth);

        AV_WN16(samples + 2 * i, upper ? upper[i] << more | (sample & ((1 << more) - 1)) : sample);
    }
}

enum AVPixelFormat bench_format(int depth)
{
    switch (depth) {
    case 10: return AV_PIX_FMT_GRAY10;
    case 12: return AV_PIX_FMT_GRAY12;
    case 16: return AV_PIX_FMT_GRAY16;
    default: return AV_PIX_FMT_GRAY8;
    }
}

void bench_load_pictures(Bench *b, const char *path, int depth)
{
    const int bytes    = depth > 8 ? 2 : 1;
    const size_t row   = (size_t)b->width * bytes;
    const size_t size  = row * b->height;
    const int nb       = av_clip((RESIDENT_BYTES + size - 1) / size, 2, BENCH_MAX_PICTURES);
    uint8_t *file      = NULL, *picture = av_malloc(size);
    uint64_t state     = 0x9e3779b97f4a7c15;
    int nb_file        = 0;

    if (!picture)
        bench_die("pictures", AVERROR(ENOMEM));
    if (path)
        file = bench_read_pictures(b, path, nb, &nb_file);
    b->content = path ? "clip" : "noise";
    b->depth   = depth;
    b->pitch   = FFALIGN(row, 512);
    b->next    = 0;
    for (b->nb_pictures = 0; b->nb_pictures < nb; b->nb_pictures++) {
        CUDA_MEMCPY2D copy = {
            .srcMemoryType = CU_MEMORYTYPE_HOST,
            .srcPitch      = row,
            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
            .dstPitch      = b->pitch,
            .WidthInBytes  = row,
            .Height        = b->height,
        };
        /* plays a short file forwards and backwards, so that neighbouring pictures stay neighbours */
        const int period = FFMAX(2 * nb_file - 2, 1);
        const int n = b->nb_pictures % period;
        uint8_t *from = file ? file + (size_t)FFMIN(n, period - n) * b->width * b->height : NULL;

        if (!from || depth > 8)
            fill_with_noise(picture, size, &state);
        if (depth > 8)
            widen(picture, from, (size_t)b->width * b->height, depth);
        copy.srcHost = from && depth == 8 ? from : picture;
        BENCH_CU(b, cuMemAlloc(&b->pictures[b->nb_pictures], b->pitch * b->height));
        copy.dstDevice = b->pictures[b->nb_pictures];
        BENCH_CU(b, cuMemcpy2D(&copy));
    }
    /* copies may still be in flight, and b->stream does not wait for them */
    BENCH_CU(b, cuStreamSynchronize(NULL));
    av_free(file);
    av_free(picture);
}

void bench_free_pictures(Bench *b)
{
    while (b->nb_pictures)
        BENCH_CU(b, cuMemFree(b->pictures[--b->nb_pictures]));
}

void bench_search_init(Bench *b, BenchSearch *s, int algo, int block, int range, int exhaustive)
{
    GpumePlan plan;
    int ret;

    *s = (BenchSearch) { .params = {
        .algo = algo, .block = block, .range = range, .exhaustive = exhaustive,
        .nb_references = 1, .distance = { -1 },
    } };
    ret = ff_gpume_params_init(&s->params, b->width, b->height, bench_format(b->depth), NULL);
    if (ret < 0)
        bench_die("parameters", ret);
    plan = ff_gpume_plan(&s->params);
    ret  = ff_gpume_cuda_kernel_init(&s->kernel, &b->cuda, &s->params, &plan, NULL);
    if (ret < 0)
        bench_die("kernel", ret);
    s->nb_vectors = (size_t)s->params.bw * s->params.bh;
    BENCH_CU(b, cuMemAlloc(&s->mvs,   s->nb_vectors * sizeof(AVMotionVector)));
    BENCH_CU(b, cuMemAlloc(&s->costs, s->nb_vectors * sizeof(uint32_t)));
    s->kernel.args.cur.linesize             = b->pitch;
    s->kernel.args.fields[0].plane.linesize = b->pitch;
    s->kernel.args.to.mvs                   = s->mvs;
    s->kernel.args.to.costs                 = s->costs;
}

void bench_search_launch(Bench *b, void *search, int i)
{
    BenchSearch *s = search;

    s->kernel.args.fields[0].plane.data = b->pictures[b->next];
    b->next = (b->next + 1) % b->nb_pictures;
    s->kernel.args.cur.data             = b->pictures[b->next];
    bench_check(b, ff_gpume_cuda_kernel_launch(&s->kernel, 1, b->stream), "launch the search");
}

uint64_t bench_search_residual(Bench *b, BenchSearch *s, int cur)
{
    uint32_t *costs = av_malloc_array(s->nb_vectors, sizeof(*costs));
    uint64_t sum = 0;

    if (!costs)
        bench_die("costs", AVERROR(ENOMEM));
    b->next = cur - 1;
    bench_search_launch(b, s, 0);
    BENCH_CU(b, cuStreamSynchronize(b->stream));
    BENCH_CU(b, cuMemcpyDtoH(costs, s->costs, s->nb_vectors * sizeof(*costs)));
    for (size_t i = 0; i < s->nb_vectors; i++)
        sum += costs[i];
    av_free(costs);
    return sum;
}

void bench_search_uninit(Bench *b, BenchSearch *s)
{
    BENCH_CU(b, cuMemFree(s->mvs));
    BENCH_CU(b, cuMemFree(s->costs));
    ff_gpume_cuda_kernel_uninit(&s->kernel);
}

static int wanted(const char *parts, const char *part)
{
    return !parts || av_match_name(part, parts);
}

int main(int argc, char **argv)
{
    static const char *const filters[] = { "mvview", "mvfps", "mvdenoise", "mvdeint", "mvstab", "mvstereo" };
    Bench bench = { .repeats = 9 }, *b = &bench;
    const char *parts = NULL;
    int arg = 1;

    for (; arg + 1 < argc && argv[arg][0] == '-' && argv[arg][1]; arg += 2) {
        if (!strcmp(argv[arg], "-p"))
            parts = argv[arg + 1];
        else if (!strcmp(argv[arg], "-r"))
            b->repeats = av_clip(atoi(argv[arg + 1]), 1, BENCH_MAX_REPEATS);
        else
            break;
    }
    if (argc - arg < 1 || (argv[arg][0] == '-' && argv[arg][1])) {
        printf("usage: gpume_bench [-p PARTS] [-r REPEATS] CSV WIDTHxHEIGHT=FILE ...\n"
               "Measures on the first CUDA device and prints tables. Also adds rows to the\n"
               "file CSV ('-': no file). FILE contains raw 8-bit gray pictures of that size.\n"
               "PARTS is a comma-separated list of ceilings, kernels, searches, motion, mvview,\n"
               "mvfps, mvdenoise, mvdeint, mvstab, mvstereo, seed and nvofa; default: all of\n"
               "these. The part flow writes NVOFA's vectors to files next to FILE.\n");
        return !(argc == 2 && !strcmp(argv[1], "-h"));
    }
    if (strcmp(argv[arg], "-")) {
        b->csv = fopen(argv[arg], "a");
        if (!b->csv)
            bench_die(argv[arg], AVERROR(errno));
    }

    open_device(b, NULL);
    if (wanted(parts, "ceilings"))
        bench_ceilings(b);
    for (int i = arg + 1; i < argc; i++) {
        const char *path;
        int offset = 0;

        if (sscanf(argv[i], "%dx%d=%n", &b->width, &b->height, &offset) != 2 || !offset)
            bench_die(argv[i], AVERROR(EINVAL));
        path = argv[i] + offset;
        if (wanted(parts, "kernels") || wanted(parts, "searches") || wanted(parts, "motion")) {
            static const struct { int noise, depth; } contents[] = {
                { 0, 8 }, { 1, 8 }, { 0, 10 }, { 1, 10 }, { 0, 12 }, { 0, 16 },
            };

            for (int j = 0; j < FF_ARRAY_ELEMS(contents); j++) {
                bench_load_pictures(b, contents[j].noise ? NULL : path, contents[j].depth);
                if (wanted(parts, "kernels"))
                    bench_kernels(b);
                if (wanted(parts, "searches"))
                    bench_searches(b);
                if (wanted(parts, "motion") && !contents[j].noise)
                    bench_motion(b);
                bench_free_pictures(b);
            }
        }
        for (int j = 0; j < FF_ARRAY_ELEMS(filters); j++)
            if (wanted(parts, filters[j]))
                bench_filter(b, filters[j], path);
        bench_load_pictures(b, path, 8);
        if (wanted(parts, "seed"))
            bench_seed(b, path);
        if (wanted(parts, "nvofa"))
            bench_nvofa(b);
        if (parts && wanted(parts, "flow"))
            bench_flow(b, path);
        bench_free_pictures(b);
    }

    close_device(b);
    if (b->csv && fclose(b->csv))
        bench_die(argv[arg], AVERROR(errno));
    return 0;
}
