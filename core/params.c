/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>

#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/core/searches.h"

/* AVMotionVector.w and .h are bytes, .src_x = dst_x + dx has 16 bits with a sign */
static_assert(GPUME_MAX_BLOCK <= 255, "size of a block");
static_assert(GPUME_MAX_SIDE + GPUME_MAX_RANGE <= INT16_MAX, "places of vectors");
/* a block's cost has 32 bits */
static_assert((INT64_C(1) << 16) * GPUME_MAX_BLOCK * GPUME_MAX_BLOCK <= UINT32_MAX, "cost");

int ff_gpume_format_supported(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    const AVComponentDescriptor *luma;

    if (!desc || !desc->nb_components ||
        desc->flags & (AV_PIX_FMT_FLAG_RGB    | AV_PIX_FMT_FLAG_PAL   |
                       AV_PIX_FMT_FLAG_BAYER  | AV_PIX_FMT_FLAG_FLOAT |
                       AV_PIX_FMT_FLAG_XYZ    | AV_PIX_FMT_FLAG_BITSTREAM |
                       AV_PIX_FMT_FLAG_HWACCEL))
        return 0;

    luma = &desc->comp[0];
    if (luma->depth < 8 || luma->depth > 16 || luma->plane || luma->offset ||
        luma->step != (luma->depth > 8 ? 2 : 1))
        return 0;
    for (int i = 1; i < desc->nb_components; i++)
        if (!desc->comp[i].plane)
            return 0;
    return 1;
}

int ff_gpume_params_check(const GpumeParams *p, void *log_ctx)
{
    int bad_references = p->nb_references < 1 || p->nb_references > GPUME_MAX_REFERENCES;

    if (p->algo < 0 || p->algo >= GPUME_NB_ALGOS || p->cost < 0 || p->cost >= GPUME_NB_COSTS) {
        av_log(log_ctx, AV_LOG_ERROR, "There is no search %d with a cost %d.\n", p->algo, p->cost);
        return AVERROR(EINVAL);
    }
    if (p->block < GPUME_MIN_BLOCK || p->block > GPUME_MAX_BLOCK || p->block & (p->block - 1)) {
        av_log(log_ctx, AV_LOG_ERROR, "block is %d; it can be 4, 8, 16, 32, 64 or "
               "128.\n", p->block);
        return AVERROR(EINVAL);
    }
    if (p->range < 1 || p->range > GPUME_MAX_RANGE) {
        av_log(log_ctx, AV_LOG_ERROR, "range is %d; it can be 1 to %d.\n",
               p->range, GPUME_MAX_RANGE);
        return AVERROR(EINVAL);
    }
    for (int i = 0; i < p->nb_references && !bad_references; i++) {
        bad_references = !p->distance[i];
        for (int j = 0; j < i; j++)
            bad_references |= p->distance[i] == p->distance[j];
    }
    if (bad_references) {
        av_log(log_ctx, AV_LOG_ERROR, "A search takes 1 to %d references, all "
               "different pictures.\n", GPUME_MAX_REFERENCES);
        return AVERROR(EINVAL);
    }
    return 0;
}

int ff_gpume_params_init(GpumeParams *p, int width, int height,
                         enum AVPixelFormat format, void *log_ctx)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    int ret = ff_gpume_params_check(p, log_ctx);

    if (ret < 0)
        return ret;
    if (width < 1 || height < 1 ||
        width > GPUME_MAX_SIDE || height > GPUME_MAX_SIDE) {
        av_log(log_ctx, AV_LOG_ERROR, "The picture is %dx%d; motion vectors "
               "can be stored for sides of 1 to %d samples.\n",
               width, height, GPUME_MAX_SIDE);
        return AVERROR(EINVAL);
    }
    if (!ff_gpume_format_supported(format)) {
        av_log(log_ctx, AV_LOG_ERROR, "Pixel format %s has no separate luma "
               "plane with samples of 8 to 16 bits.\n", desc ? desc->name : "none");
        return AVERROR(EINVAL);
    }

    p->width      = width;
    p->height     = height;
    p->depth      = desc->comp[0].depth;
    p->shift      = desc->comp[0].shift;
    p->big_endian = !!(desc->flags & AV_PIX_FMT_FLAG_BE);
    p->bw         = gpume_blocks(width,  p->block);
    p->bh         = gpume_blocks(height, p->block);
    return 0;
}
