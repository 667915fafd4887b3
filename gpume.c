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
 * What the filter and every backend need of a search's parameters and results.
 */

#include <string.h>

#include "config.h"
#include "libavutil/bswap.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/log.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/gpume.h"

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

int ff_gpume_params_init(GpumeParams *params, int width, int height,
                         enum AVPixelFormat format, void *log_ctx)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);

    if (width < 1 || height < 1 ||
        width > GPUME_MAX_SIDE || height > GPUME_MAX_SIDE) {
        av_log(log_ctx, AV_LOG_ERROR, "The picture is %dx%d; motion vectors "
               "can be stored for sides of 1 to %d samples.\n",
               width, height, GPUME_MAX_SIDE);
        return AVERROR(EINVAL);
    }
    if (!ff_gpume_format_supported(format)) {
        av_log(log_ctx, AV_LOG_ERROR, "Pixel format %s has no plane of luma "
               "samples of 8 to 16 bits.\n", desc ? desc->name : "none");
        return AVERROR(EINVAL);
    }

    params->width      = width;
    params->height     = height;
    params->depth      = desc->comp[0].depth;
    params->shift      = desc->comp[0].shift;
    params->big_endian = !!(desc->flags & AV_PIX_FMT_FLAG_BE);
    params->bw         = ff_gpume_blocks(width,  params->block);
    params->bh         = ff_gpume_blocks(height, params->block);
    return 0;
}

void ff_gpume_set_vector(AVMotionVector *mv, const GpumeParams *params,
                         int bx, int by, int direction, int dx, int dy)
{
    const int x0 = bx * params->block;
    const int y0 = by * params->block;

    /* padding too: equal vectors are equal bytes */
    memset(mv, 0, sizeof(*mv));
    mv->source       = direction == GPUME_PAST ? -1 : 1;
    mv->w            = FFMIN(params->block, params->width  - x0);
    mv->h            = FFMIN(params->block, params->height - y0);
    mv->dst_x        = x0 + mv->w / 2;
    mv->dst_y        = y0 + mv->h / 2;
    mv->src_x        = mv->dst_x + dx;
    mv->src_y        = mv->dst_y + dy;
    mv->motion_x     = dx;
    mv->motion_y     = dy;
    mv->motion_scale = 1;
}

void ff_gpume_copy_row(uint8_t *dst, const uint8_t *src, const GpumeParams *params)
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

void ff_gpume_picture_uninit(GpumePicture *pic)
{
    av_frame_free(&pic->frame);
    av_buffer_unref(&pic->copy);
    memset(pic, 0, sizeof(*pic));
}

int ff_gpume_search_alloc(GpumeSearch *search, const GpumeParams *params,
                          AVBufferPool *mvs, AVBufferPool *costs)
{
    const int nb_directions = !!search->ref[GPUME_PAST] + !!search->ref[GPUME_FUTURE];
    const size_t nb_vectors = (size_t)params->bw * params->bh * nb_directions;

    search->mvs   = av_buffer_pool_get(mvs);
    search->costs = av_buffer_pool_get(costs);
    if (!search->mvs || !search->costs)
        return AVERROR(ENOMEM);
    search->mvs->size   = nb_vectors * sizeof(AVMotionVector);
    search->costs->size = nb_vectors * sizeof(uint32_t);
    return nb_directions;
}

void ff_gpume_search_uninit(GpumeSearch *search)
{
    av_buffer_unref(&search->mvs);
    av_buffer_unref(&search->costs);
    memset(search, 0, sizeof(*search));
}
