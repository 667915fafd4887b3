/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * Kernels alone, with their pictures on the device: time by events, device memory.
 * bench/bench-gpu.sh calls it and measures whole pipelines besides.
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/cuda/dynlink_loader.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/hwcontext_cuda_internal.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/cuda/kernels.h"
#include "libavfilter/gpume/gpume.h"

/** More than any cache of the device holds, so that pictures come from memory. */
#define RESIDENT_BYTES (256 << 20)
#define MAX_PICTURES   256
#define REPEATS        9
/** A repeat takes at least this long, milliseconds. */
#define REPEAT_MS      20

typedef CUresult CUDAAPI EventElapsedTime(float *ms, CUevent start, CUevent stop);
typedef CUresult CUDAAPI MemGetInfo(size_t *free, size_t *total);

typedef struct Bench {
    AVBufferRef *device;
    AVCUDADeviceContext *hwctx;
    CudaFunctions *cu;
    EventElapsedTime *elapsed;
    MemGetInfo *mem_info;
    CUstream stream;
    CUevent start, stop;
    FILE *csv;

    int width, height;
    size_t pitch;
    int nb_pictures;
    CUdeviceptr pictures[MAX_PICTURES];
} Bench;

static void die(const char *what, int err)
{
    fprintf(stderr, "gpume_bench: %s: %s\n", what, av_err2str(err));
    exit(1);
}

/* A program that measures has no use for going on after an error. */
static void check(Bench *b, CUresult err, const char *what)
{
    int ret = ff_gpume_cuda_check(NULL, AV_LOG_ERROR, b->cu, err, what);

    if (ret < 0)
        exit(1);
}

#define CU(call) check(b, b->cu->call, #call)

static void open_device(Bench *b, const char *device)
{
    CUdevice dev;
    char name[128] = "";
    int driver = 0, ret;

    ret = av_hwdevice_ctx_create(&b->device, AV_HWDEVICE_TYPE_CUDA, device, NULL, 0);
    if (ret < 0)
        die("no CUDA device", ret);
    b->hwctx    = ((AVHWDeviceContext *)b->device->data)->hwctx;
    b->cu       = b->hwctx->internal->cuda_dl;
    b->elapsed  = (EventElapsedTime *)FFNV_SYM_FUNC(b->cu->lib, "cuEventElapsedTime");
    b->mem_info = (MemGetInfo *)FFNV_SYM_FUNC(b->cu->lib, "cuMemGetInfo_v2");
    if (!b->elapsed || !b->mem_info)
        die("the driver lacks a function", AVERROR(ENOSYS));

    CU(cuCtxPushCurrent(b->hwctx->cuda_ctx));
    CU(cuCtxGetDevice(&dev));
    CU(cuDeviceGetName(name, sizeof(name), dev));
    CU(cuDriverGetVersion(&driver));
    CU(cuStreamCreate(&b->stream, CU_STREAM_NON_BLOCKING));
    CU(cuEventCreate(&b->start, CU_EVENT_DEFAULT));
    CU(cuEventCreate(&b->stop,  CU_EVENT_DEFAULT));
    printf("device: %s, driver for CUDA %d.%d\n", name, driver / 1000, driver % 1000 / 10);
}

/* Luma of a raw file of 8-bit gray pictures, again and again until no cache holds it. */
static void load_pictures(Bench *b, const char *path)
{
    const size_t size = (size_t)b->width * b->height;
    uint8_t *frame = av_malloc(size);
    FILE *f = fopen(path, "rb");
    int nb = av_clip((RESIDENT_BYTES + size - 1) / size, 2, MAX_PICTURES);

    if (!f || !frame)
        die(path, AVERROR(f ? ENOMEM : errno));
    b->pitch = FFALIGN(b->width, 512);
    for (b->nb_pictures = 0; b->nb_pictures < nb; b->nb_pictures++) {
        CUDA_MEMCPY2D copy = {
            .srcMemoryType = CU_MEMORYTYPE_HOST,
            .srcHost       = frame,
            .srcPitch      = b->width,
            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
            .dstPitch      = b->pitch,
            .WidthInBytes  = b->width,
            .Height        = b->height,
        };

        if (fread(frame, 1, size, f) != size) {
            /* neighbours stay neighbours but for this one cut */
            if (b->nb_pictures < 2)
                die("too few pictures", AVERROR_INVALIDDATA);
            rewind(f);
            if (fread(frame, 1, size, f) != size)
                die(path, AVERROR(EIO));
        }
        CU(cuMemAlloc(&b->pictures[b->nb_pictures], b->pitch * b->height));
        copy.dstDevice = b->pictures[b->nb_pictures];
        CU(cuMemcpy2D(&copy));
    }
    fclose(f);
    av_free(frame);
}

static void free_pictures(Bench *b)
{
    while (b->nb_pictures)
        CU(cuMemFree(b->pictures[--b->nb_pictures]));
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Milliseconds for nb searches, each of another picture. */
static double time_searches(Bench *b, GpumeCudaKernel *k, int nb, int *next)
{
    float ms;

    CU(cuEventRecord(b->start, b->stream));
    for (int i = 0; i < nb; i++) {
        k->args.ref[0].data = b->pictures[*next];
        *next = (*next + 1) % b->nb_pictures;
        k->args.cur.data    = b->pictures[*next];
        check(b, ff_gpume_cuda_kernel_launch(k, 1, b->stream), "launch the search");
    }
    CU(cuEventRecord(b->stop, b->stream));
    CU(cuEventSynchronize(b->stop));
    check(b, b->elapsed(&ms, b->start, b->stop), "cuEventElapsedTime");
    return ms;
}

static void bench_kernel(Bench *b, int algo, const char *algo_name, int block, int range)
{
    GpumeParams p = { .algo = algo, .block = block, .range = range };
    GpumeCudaKernel k = { 0 };
    double us[REPEATS];
    double differences = 0;
    size_t nb_vectors;
    CUdeviceptr mvs, costs;
    int nb, next = 0, ret;

    ret = ff_gpume_params_init(&p, b->width, b->height, AV_PIX_FMT_GRAY8, NULL);
    if (ret < 0)
        die("parameters", ret);
    ret = ff_gpume_cuda_kernel_init(&k, b->hwctx, &p, NULL, AV_LOG_ERROR);
    if (ret < 0)
        die("kernel", ret);
    nb_vectors = (size_t)p.bw * p.bh;
    CU(cuMemAlloc(&mvs,   nb_vectors * sizeof(AVMotionVector)));
    CU(cuMemAlloc(&costs, nb_vectors * sizeof(uint32_t)));
    k.args.cur.linesize    = b->pitch;
    k.args.ref[0].linesize = b->pitch;
    k.args.source[0]       = -1;
    k.args.mvs             = mvs;
    k.args.costs           = costs;

    /* warm up, and see how many fill a repeat */
    time_searches(b, &k, 2, &next);
    nb = av_clip(ceil(REPEAT_MS / time_searches(b, &k, 4, &next) * 4), 4, 20000);
    for (int i = 0; i < REPEATS; i++)
        us[i] = time_searches(b, &k, nb, &next) * 1000 / nb;
    qsort(us, REPEATS, sizeof(*us), compare);

    /* what a full search has to look at; only admissible candidates count */
    if (algo == GPUME_ALGO_FS)
        for (int by = 0; by < p.bh; by++)
            for (int bx = 0; bx < p.bw; bx++) {
                const int x0 = bx * block, w = FFMIN(block, p.width  - x0);
                const int y0 = by * block, h = FFMIN(block, p.height - y0);

                differences += (double)w * h *
                    (FFMIN(range, x0) + FFMIN(range, p.width  - x0 - w) + 1) *
                    (FFMIN(range, y0) + FFMIN(range, p.height - y0 - h) + 1);
            }

    printf("%-4s %4dx%-4d %5d %6d %10.1f %9.0f %5.1f %%", algo_name, b->width, b->height,
           block, range, us[REPEATS / 2], 1e6 / us[REPEATS / 2],
           100 * (us[REPEATS - 1] - us[0]) / us[REPEATS / 2]);
    if (differences)
        printf(" %8.2f", differences / us[REPEATS / 2] * 1e-6);
    printf("\n");
    if (b->csv)
        fprintf(b->csv, "kernel,%s,%d,%d,%d,%d,%.3f,%.3f,%.3f,%.4f\n", algo_name,
                b->width, b->height, block, range, us[REPEATS / 2], us[0],
                us[REPEATS - 1], differences / us[REPEATS / 2] * 1e-6);

    CU(cuMemFree(mvs));
    CU(cuMemFree(costs));
    ff_gpume_cuda_kernel_uninit(&k);
}

static void run_job(void *opaque, GpumeJob job, void *arg, int nb_jobs)
{
    for (int i = 0; i < nb_jobs; i++)
        job(arg, i, nb_jobs);
}

/* What the backend takes of the device for frames in system memory. */
static void bench_memory(Bench *b, int block)
{
    const GpumeBackend *backend = &ff_gpume_backend_cuda;
    GpumePicture pics[4] = { { 0 } };
    GpumeSearch searches[4] = { { 0 } };
    GpumeConfig cfg = {
        .params       = { .algo = GPUME_ALGO_DS, .block = block, .range = 64 },
        .max_searches = 2,
        .execute      = run_job,
        .hw_device    = b->device,
    };
    void *priv = av_mallocz(backend->priv_size);
    size_t before, after, total;
    int ret;

    check(b, b->mem_info(&before, &total), "cuMemGetInfo");
    ret = ff_gpume_params_init(&cfg.params, b->width, b->height, AV_PIX_FMT_GRAY8, NULL);
    if (ret >= 0)
        ret = priv ? backend->init(priv, &cfg) : AVERROR(ENOMEM);
    for (int i = 0; i < FF_ARRAY_ELEMS(pics) && ret >= 0; i++) {
        AVFrame *frame = pics[i].frame = av_frame_alloc();

        if (!frame)
            ret = AVERROR(ENOMEM);
        if (ret >= 0) {
            frame->width  = b->width;
            frame->height = b->height;
            frame->format = AV_PIX_FMT_GRAY8;
            ret = av_frame_get_buffer(frame, 0);
        }
        if (ret >= 0) {
            memset(frame->data[0], i, frame->linesize[0] * (size_t)frame->height);
            ret = backend->import(priv, &pics[i]);
        }
        if (ret >= 0 && i) {
            searches[i].cur             = &pics[i];
            searches[i].ref[GPUME_PAST] = &pics[i - 1];
            ret = backend->submit(priv, &searches[i]);
            if (ret >= 0)
                ret = backend->wait(priv, &searches[i]);
        }
    }
    if (ret < 0)
        die("backend", ret);
    check(b, b->mem_info(&after, &total), "cuMemGetInfo");
    printf("device memory of the filter, %dx%d, block %d, frames in system memory: "
           "%.1f MiB\n", b->width, b->height, block, (before - after) / 1048576.0);
    if (b->csv)
        fprintf(b->csv, "memory,ds,%d,%d,%d,64,%.1f,,,\n", b->width, b->height, block,
                (before - after) / 1048576.0);

    for (int i = 0; i < FF_ARRAY_ELEMS(pics); i++) {
        ff_gpume_search_uninit(&searches[i]);
        ff_gpume_picture_uninit(&pics[i]);
    }
    backend->uninit(priv);
    av_free(priv);
}

int main(int argc, char **argv)
{
    static const int blocks[] = { 4, 8, 16 };
    static const int ranges[] = { 8, 16, 32, 64 };
    Bench bench = { 0 }, *b = &bench;

    if (argc < 3 || !strcmp(argv[1], "-h")) {
        printf("usage: gpume_bench CSV WIDTHxHEIGHT=FILE ...\n"
               "Times the kernels on the first CUDA device. FILE holds raw 8-bit gray\n"
               "pictures of that size; results are added to CSV, too ('-': to none).\n");
        return argc < 2 || strcmp(argv[1], "-h");
    }
    if (strcmp(argv[1], "-")) {
        b->csv = fopen(argv[1], "w");
        if (!b->csv)
            die(argv[1], AVERROR(errno));
        fprintf(b->csv, "what,algo,width,height,block,range,median_us,min_us,max_us,"
                "tera_differences_per_s\n");
    }

    open_device(b, NULL);
    printf("%-4s %9s %5s %6s %10s %9s %7s %8s\n", "algo", "size", "block", "range",
           "us", "fps", "spread", "Tdiff/s");
    for (int i = 2; i < argc; i++) {
        int offset = 0;

        if (sscanf(argv[i], "%dx%d=%n", &b->width, &b->height, &offset) != 2 || !offset)
            die(argv[i], AVERROR(EINVAL));
        load_pictures(b, argv[i] + offset);
        for (int j = 0; j < FF_ARRAY_ELEMS(blocks); j++) {
            for (int k = 0; k < FF_ARRAY_ELEMS(ranges); k++)
                bench_kernel(b, GPUME_ALGO_FS, "fs", blocks[j], ranges[k]);
            for (int k = 1; k < FF_ARRAY_ELEMS(ranges); k++)
                bench_kernel(b, GPUME_ALGO_DS, "ds", blocks[j], ranges[k]);
        }
        bench_memory(b, 16);
        bench_memory(b, 4);
        free_pictures(b);
    }

    if (b->csv && fclose(b->csv))
        die(argv[1], AVERROR(errno));
    return 0;
}
