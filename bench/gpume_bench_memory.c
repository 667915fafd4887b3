/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures the device memory that the backend uses for frames in system memory.
 */

#include <stdio.h>
#include <string.h>

#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"

#include "gpume_bench.h"

static void run_job(void *opaque, GpumeJob job, void *arg, int nb_jobs)
{
    for (int i = 0; i < nb_jobs; i++)
        job(arg, i, nb_jobs);
}

static void bench_block(Bench *b, int block)
{
    const BenchRow row = {
        .part = "memory", .what = "filter with frames in system memory", .width = b->width,
        .height = b->height, .block = block, .range = 64, .depth = 8,
        .metric = "device memory", .unit = "MiB",
    };
    const GpumeBackend *backend = ff_gpume_backends[GPUME_BACKEND_cuda];
    GpumePicture pics[4] = { { 0 } };
    GpumeFieldSet sets[4] = { { 0 } };
    GpumeSearch searches[4] = { { 0 } };
    GpumeBackendConfig cfg = {
        .params       = {
            .algo = GPUME_ALGO_DS, .block = block, .range = 64, .nb_references = 1, .distance = { -1 },
        },
        .max_searches = 2,
        .executor     = { run_job, NULL, 1 },
        .hw_device    = b->device,
    };
    void *priv = av_mallocz(backend->priv_size);
    size_t before, after, total;
    int ret;

    bench_check(b, b->mem_info(&before, &total), "cuMemGetInfo");
    ret = ff_gpume_params_init(&cfg.params, b->width, b->height, AV_PIX_FMT_GRAY8, NULL);
    cfg.plan = ff_gpume_plan(&cfg.params);
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
            searches[i].nb_fields     = 1;
            searches[i].fields[0].cur = &pics[i];
            searches[i].fields[0].ref = &pics[i - 1];
            searches[i].fields[0].set = &sets[i];
            ret = backend->alloc(priv, &sets[i], NULL, 1);
            searches[i].fields[0].mvs   = gpume_field_mvs(&sets[i], 0);
            searches[i].fields[0].costs = gpume_field_costs(&sets[i], 0);
            if (ret >= 0)
                ret = backend->submit(priv, &searches[i]);
            if (ret >= 0)
                ret = backend->wait(priv, &searches[i]);
        }
    }
    if (ret < 0)
        bench_die("backend", ret);
    bench_check(b, b->mem_info(&after, &total), "cuMemGetInfo");
    printf("device memory of the filter, %dx%d, block %d, frames in system memory: "
           "%.1f MiB\n", b->width, b->height, block, (before - after) / 1048576.0);
    bench_number(b, &row, (before - after) / 1048576.0);

    for (int i = 0; i < FF_ARRAY_ELEMS(pics); i++) {
        ff_gpume_fields_uninit(&sets[i]);
        ff_gpume_picture_uninit(&pics[i]);
    }
    backend->uninit(priv);
    av_free(priv);
}

void bench_memory(Bench *b)
{
    printf("\n");
    bench_block(b, 16);
    bench_block(b, 4);
}
