/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures the limits of the device: absolute differences, copies, transfers, launches.
 */

#include <stdint.h>
#include <stdio.h>

#include "libavutil/common.h"
#include "libavutil/log.h"

#include "compat/cuda/dynlink_loader.h"
#include "libavutil/hwcontext_cuda.h"

#include "libavfilter/cuda/load_helper.h"
#include "gpume_bench.h"
#include "gpume_bench_ceilings.h"

/** Sizes of a copy, far larger than caches, and of a transfer, larger than a frame. */
#define COPY_BYTES     (1u << 30)
#define TRANSFER_BYTES (64u << 20)

extern const unsigned char ff_gpume_bench_ceilings_ptx_data[];
extern const unsigned int ff_gpume_bench_ceilings_ptx_len;

typedef struct Ceilings {
    CUmodule module;
    CUfunction absdiff, empty;
    unsigned grid;
    CUdeviceptr a, b;
    void *host;
} Ceilings;

static void load(Bench *b, Ceilings *c)
{
    CUdevice dev;
    int nb_sm;

    if (ff_cuda_load_module(NULL, b->hwctx, &c->module, ff_gpume_bench_ceilings_ptx_data,
                            ff_gpume_bench_ceilings_ptx_len) < 0)
        bench_die("kernels of the ceilings", AVERROR_EXTERNAL);
    BENCH_CU(b, cuModuleGetFunction(&c->absdiff, c->module, "gpume_bench_absdiff"));
    BENCH_CU(b, cuModuleGetFunction(&c->empty,   c->module, "gpume_bench_empty"));
    BENCH_CU(b, cuCtxGetDevice(&dev));
    BENCH_CU(b, cuDeviceGetAttribute(&nb_sm, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, dev));
    /* twice the number of threads that all multiprocessors hold */
    c->grid = nb_sm * 2 * (2048 / GPUME_BENCH_ABSDIFF_THREADS);
}

static void launch_absdiff(Bench *b, void *opaque, int i)
{
    Ceilings *c = opaque;
    void *params[] = { &c->a };

    BENCH_CU(b, cuLaunchKernel(c->absdiff, c->grid, 1, 1, GPUME_BENCH_ABSDIFF_THREADS, 1, 1,
                               0, b->stream, params, NULL));
}

static void launch_empty(Bench *b, void *opaque, int i)
{
    Ceilings *c = opaque;

    BENCH_CU(b, cuLaunchKernel(c->empty, 1, 1, 1, 32, 1, 1, 0, b->stream, NULL, NULL));
}

static void launch_copy(Bench *b, void *opaque, int i)
{
    Ceilings *c = opaque;

    BENCH_CU(b, cuMemcpyDtoDAsync(c->b, c->a, COPY_BYTES, b->stream));
}

static void launch_up(Bench *b, void *opaque, int i)
{
    Ceilings *c = opaque;

    BENCH_CU(b, cuMemcpyHtoDAsync(c->a, c->host, TRANSFER_BYTES, b->stream));
}

static void launch_down(Bench *b, void *opaque, int i)
{
    Ceilings *c = opaque;

    BENCH_CU(b, cuMemcpyDtoHAsync(c->host, c->a, TRANSFER_BYTES, b->stream));
}

/*
 * Measures a launch.
 * @param amount work of a launch, in 'unit' times microseconds; 0: reports the time itself
 */
static double measure(Bench *b, Ceilings *c, const char *what, BenchLaunch *launch,
                      double amount, const char *unit)
{
    const BenchRow time = { .part = "ceilings", .what = what, .metric = "time", .unit = "us" };
    const BenchRow rate = { .part = "ceilings", .what = what, .metric = "rate", .unit = unit };
    BenchTimes t;
    double value;

    bench_time_launches(b, launch, c, 0, &t);
    value = amount ? amount / bench_median(&t) : bench_median(&t);
    printf("%-28s %12.2f %-8s %5.1f %%\n", what, value, unit, bench_spread(&t));
    bench_times(b, &time, &t);
    if (amount)
        bench_number(b, &rate, value);
    return value;
}

void bench_absdiff_ceiling(Bench *b)
{
    Ceilings c = { 0 };

    load(b, &c);
    BENCH_CU(b, cuMemAlloc(&c.a, 4));
    b->ceiling = measure(b, &c, "absolute differences", launch_absdiff,
                         4e-6 * c.grid * GPUME_BENCH_ABSDIFF_THREADS * GPUME_BENCH_ABSDIFF_EACH,
                         "10^12/s");
    BENCH_CU(b, cuMemFree(c.a));
    BENCH_CU(b, cuModuleUnload(c.module));
}

void bench_ceilings(Bench *b)
{
    Ceilings c = { 0 };

    printf("\n%-28s %12s %-8s %7s\n", "the device's ceiling", "", "", "spread");
    bench_absdiff_ceiling(b);
    load(b, &c);
    measure(b, &c, "empty launch among many", launch_empty, 0, "us");
    BENCH_CU(b, cuMemAlloc(&c.a, COPY_BYTES));
    BENCH_CU(b, cuMemAlloc(&c.b, COPY_BYTES));
    bench_check(b, b->host_alloc(&c.host, TRANSFER_BYTES, 0), "cuMemHostAlloc");
    measure(b, &c, "copy: read and written", launch_copy, 2e-3 * COPY_BYTES, "GB/s");
    measure(b, &c, "pinned transfer up",     launch_up,   1e-3 * TRANSFER_BYTES, "GB/s");
    measure(b, &c, "pinned transfer down",   launch_down, 1e-3 * TRANSFER_BYTES, "GB/s");
    BENCH_CU(b, cuStreamSynchronize(b->stream));
    bench_check(b, b->host_free(c.host), "cuMemFreeHost");
    BENCH_CU(b, cuMemFree(c.a));
    BENCH_CU(b, cuMemFree(c.b));
    BENCH_CU(b, cuModuleUnload(c.module));
}
