/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "config.h"
#include "libavutil/common.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/picture/layout.h"
#include "libavfilter/gpume/util/frames.h"

int ff_gpume_layout_supports(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    const uint64_t unsupported = AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL |
                                 AV_PIX_FMT_FLAG_BAYER | AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_XYZ;
    int depth, planes[GPUME_COMPONENTS] = { 0 };

    if (!desc || desc->flags & unsupported || !desc->nb_components)
        return 0;
    depth = desc->comp[0].depth;
    if (depth < 8 || depth > 16)
        return 0;
    if (depth > 8 && !!(desc->flags & AV_PIX_FMT_FLAG_BE) != HAVE_BIGENDIAN)
        return 0;
    for (int i = 0; i < desc->nb_components; i++) {
        const AVComponentDescriptor *comp = &desc->comp[i];

        if (comp->depth != depth || comp->shift != desc->comp[0].shift)
            return 0;
        planes[comp->plane]++;
    }
    /* each component has a plane of its own; only the two chroma components may share one */
    return planes[0] == 1 && planes[1] <= 2 && planes[2] <= 1 &&
           !(planes[1] == 2 && (desc->flags & AV_PIX_FMT_FLAG_RGB || desc->nb_components != 3));
}

enum AVPixelFormat ff_gpume_gray_format(int depth)
{
    switch (depth) {
    case 8:  return AV_PIX_FMT_GRAY8;
    case 9:  return AV_PIX_FMT_GRAY9;
    case 10: return AV_PIX_FMT_GRAY10;
    case 12: return AV_PIX_FMT_GRAY12;
    case 14: return AV_PIX_FMT_GRAY14;
    default: return AV_PIX_FMT_GRAY16;
    }
}

void ff_gpume_layout_init(GpumeLayout *l, enum AVPixelFormat format, int w, int h)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    const int rgb = !!(desc->flags & AV_PIX_FMT_FLAG_RGB);

    memset(l, 0, sizeof(*l));
    l->format = format;
    l->w      = w;
    l->h      = h;
    l->depth  = desc->comp[0].depth;
    l->shift  = desc->comp[0].shift;
    l->bytes  = l->depth > 8 ? 2 : 1;
    l->nb_components = desc->nb_components;
    for (int i = 0; i < desc->nb_components; i++) {
        /* components are in the order green, red, blue */
        const AVComponentDescriptor *comp = &desc->comp[rgb && i < 2 ? 1 - i : i];
        GpumeComponent *c = &l->components[i];
        const int chroma = desc->nb_components >= 3 && !rgb && (i == 1 || i == 2);

        c->hsub   = chroma ? desc->log2_chroma_w : 0;
        c->vsub   = chroma ? desc->log2_chroma_h : 0;
        c->w      = AV_CEIL_RSHIFT(w, c->hsub);
        c->h      = AV_CEIL_RSHIFT(h, c->vsub);
        c->plane  = comp->plane;
        c->offset = comp->offset / l->bytes;
        c->step   = comp->step   / l->bytes;
    }
}

int ff_gpume_layout_is(const GpumeLayout *l, const AVFrame *frame)
{
    return l->format == ff_gpume_frame_format(frame) && l->w == frame->width && l->h == frame->height;
}

int ff_gpume_layout_change(GpumeLayout *l, const AVFrame *frame)
{
    if (ff_gpume_layout_is(l, frame))
        return 0;
    ff_gpume_layout_init(l, ff_gpume_frame_format(frame), frame->width, frame->height);
    return 1;
}
