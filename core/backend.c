/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>
#include <string.h>

#include "config.h"
#include "libavutil/bswap.h"
#include "libavutil/error.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/log.h"

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/core/same.h"
#include "libavfilter/gpume/field/vector.h"

/* Backends write AVMotionVector as words. */
#define IS_AT(field, word, byte) \
    (offsetof(AVMotionVector, field) == 4 * (word) + (byte))
static_assert(sizeof(AVMotionVector) == 4 * GPUME_VECTOR_WORDS &&
              IS_AT(source,   0, 0) && IS_AT(w,        1, 0) && IS_AT(h,     1, 1) &&
              IS_AT(src_x,    1, 2) && IS_AT(src_y,    2, 0) && IS_AT(dst_x, 2, 2) &&
              IS_AT(dst_y,    3, 0) && IS_AT(flags,    4, 0) &&
              IS_AT(motion_x, 6, 0) && IS_AT(motion_y, 7, 0) &&
              IS_AT(motion_scale, 8, 0), "layout of AVMotionVector");

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
    const int row = params->width * (params->depth > 8 ? 2 : 1);

    /* no decoder outputs such a frame, and searching it would crash */
    if (!frame->data[0]) {
        av_log(log_ctx, AV_LOG_ERROR, "The frame has no luma plane.\n");
        return AVERROR(EINVAL);
    }
    if (frame->height > 1 && frame->linesize[0] < row && frame->linesize[0] > -row) {
        av_log(log_ctx, AV_LOG_ERROR, "The luma rows of the frame overlap: they are %d bytes "
               "apart and %d bytes long.\n", frame->linesize[0], row);
        return AVERROR(EINVAL);
    }
    return 0;
}

static void copy_row(uint8_t *dst, const uint8_t *src, const GpumeParams *params)
{
    const int swap = params->big_endian != HAVE_BIGENDIAN;

    if (params->depth <= 8) {
        memcpy(dst, src, params->width);
        return;
    }
    if (!swap && !params->shift) {
        memcpy(dst, src, 2 * params->width);
        return;
    }
    for (int x = 0; x < params->width; x++) {
        unsigned v = AV_RN16(src + 2 * x);
        AV_WN16(dst + 2 * x, (swap ? av_bswap16(v) : v) >> params->shift);
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

int ff_gpume_search_alloc(GpumeSearch *search, const GpumeParams *params,
                          AVBufferPool *mvs, AVBufferPool *costs, AVBufferPool *same)
{
    const size_t nb_blocks = (size_t)params->bw * params->bh;

    search->mvs   = av_buffer_pool_get(mvs);
    search->costs = av_buffer_pool_get(costs);
    search->same  = same ? av_buffer_pool_get(same) : NULL;
    if (!search->mvs || !search->costs || (same && !search->same))
        return AVERROR(ENOMEM);
    search->mvs->size   = search->nb_fields * nb_blocks * sizeof(AVMotionVector);
    search->costs->size = search->nb_fields * nb_blocks * sizeof(uint32_t);
    for (int i = 0; i < search->nb_fields; i++) {
        search->fields[i].mvs   = (AVMotionVector *)search->mvs->data + i * nb_blocks;
        search->fields[i].costs = (uint32_t *)search->costs->data + i * nb_blocks;
        search->fields[i].same  = same ? search->same->data + i * ff_gpume_nb_cells(params) : NULL;
    }
    return 0;
}

void ff_gpume_search_uninit(GpumeSearch *search)
{
    av_buffer_unref(&search->mvs);
    av_buffer_unref(&search->costs);
    av_buffer_unref(&search->same);
    memset(search, 0, sizeof(*search));
}
