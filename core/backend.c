/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "config.h"
#include "libavutil/bswap.h"
#include "libavutil/error.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/log.h"

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/field/field_args.h"

#define BACKEND(name, help) extern const GpumeBackend ff_gpume_backend_##name;
GPUME_BACKENDS(BACKEND)
#undef BACKEND

const GpumeBackend *const ff_gpume_backends[GPUME_NB_BACKENDS] = {
#define BACKEND(name, help) &ff_gpume_backend_##name,
    GPUME_BACKENDS(BACKEND)
#undef BACKEND
};

int ff_gpume_check_luma(const AVFrame *frame, const GpumeParams *params, void *log_ctx)
{
    const int row = params->width * params->step;

    /* no decoder outputs such a frame, and searching it would crash */
    if (!frame->data[0]) {
        av_log(log_ctx, AV_LOG_ERROR, "The frame has no luma plane.\n");
        return AVERROR(EINVAL);
    }
    if (frame->height > 1 && frame->linesize[0] < row && frame->linesize[0] > -row) {
        av_log(log_ctx, AV_LOG_ERROR, "The luma rows of the frame overlap: the line size is %d bytes, "
               "a row has %d bytes.\n", frame->linesize[0], row);
        return AVERROR(EINVAL);
    }
    return 0;
}

int ff_gpume_luma_is_converted(const GpumeParams *p)
{
    return gpume_is_packed(p) || p->depth > 8 && (p->shift || p->big_endian != HAVE_BIGENDIAN);
}

static void copy_row(uint8_t *dst, const uint8_t *src, const GpumeParams *params)
{
    const int swap = params->big_endian != HAVE_BIGENDIAN, mask = (1 << params->depth) - 1;

    if (!ff_gpume_luma_is_converted(params)) {
        memcpy(dst, src, params->width * params->step);
        return;
    }
    src += params->offset;
    if (params->depth <= 8) {
        for (int x = 0; x < params->width; x++)
            dst[x] = src[x * params->step];
        return;
    }
    for (int x = 0; x < params->width; x++) {
        unsigned v = AV_RN16(src + x * params->step);
        AV_WN16(dst + 2 * x, (swap ? av_bswap16(v) : v) >> params->shift & mask);
    }
}

void ff_gpume_copy_luma(uint8_t *dst, ptrdiff_t dst_linesize, const AVFrame *frame,
                        const GpumeParams *params, int job, int nb_jobs)
{
    const int start = params->height *  job      / nb_jobs;
    const int end   = params->height * (job + 1) / nb_jobs;

    for (int y = start; y < end; y++)
        copy_row(dst + y * dst_linesize,
                 frame->data[0] + y * (ptrdiff_t)frame->linesize[0], params);
}

void ff_gpume_picture_uninit(GpumePicture *pic)
{
    av_frame_free(&pic->frame);
    av_buffer_unref(&pic->copy);
    av_buffer_unref(&pic->planes);
    memset(pic, 0, sizeof(*pic));
}

size_t ff_gpume_costs_size(const GpumeParams *p)
{
    return (size_t)p->bw * p->bh * p->nb_references * (sizeof(uint32_t) + !!p->tree);
}

int ff_gpume_fields_alloc(GpumeFieldSet *set, const GpumeParams *p, int nb, AVBufferPool *mvs,
                          AVBufferPool *costs)
{
    const size_t nb_blocks = (size_t)p->bw * p->bh;

    set->mvs   = av_buffer_pool_get(mvs);
    set->costs = av_buffer_pool_get(costs);
    if (!set->mvs || !set->costs)
        return AVERROR(ENOMEM);
    set->nb          = nb;
    set->mvs->size   = nb * nb_blocks * sizeof(AVMotionVector);
    set->costs->size = nb * nb_blocks * sizeof(uint32_t);
    set->sizes       = p->tree ? set->costs->data + set->costs->size : NULL;
    for (int i = 0; i < nb; i++)
        set->host[i] = (GpumeMotionField) {
            .pel = p->pel, .width = p->width, .height = p->height, .block = p->block, .bw = p->bw, .bh = p->bh,
            .mvs   = (uintptr_t)set->mvs->data   + i * nb_blocks * sizeof(AVMotionVector),
            .costs = (uintptr_t)set->costs->data + i * nb_blocks * sizeof(uint32_t),
        };
    return 0;
}
