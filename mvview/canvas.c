/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "config.h"

#include "libavutil/attributes.h"
#include "libavutil/avstring.h"
#include "libavutil/bswap.h"
#include "libavutil/common.h"
#include "libavutil/csp.h"
#include "libavutil/mathematics.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/mvview/canvas.h"
#include "libavfilter/gpume/mvview/shape.h"
#include "libavfilter/gpume/util/assembly.h"

int ff_mvview_format_supported(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    int depth, bytes;

    if (!desc || !desc->nb_components ||
        desc->flags & (AV_PIX_FMT_FLAG_PAL   | AV_PIX_FMT_FLAG_BAYER     |
                       AV_PIX_FMT_FLAG_FLOAT | AV_PIX_FMT_FLAG_XYZ       |
                       AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL))
        return 0;

    depth = desc->comp[0].depth;
    bytes = depth > 8 ? 2 : 1;
    if (depth < 8 || depth > 16 || desc->flags & AV_PIX_FMT_FLAG_RGB && desc->comp[0].shift)
        return 0;
    /* luma must have a plane of its own */
    if (!(desc->flags & AV_PIX_FMT_FLAG_RGB) &&
        (desc->comp[0].plane || desc->comp[0].offset || desc->comp[0].step != bytes))
        return 0;
    for (int i = 0; i < desc->nb_components; i++) {
        const AVComponentDescriptor *comp = &desc->comp[i];

        if (comp->depth != depth || comp->shift != desc->comp[0].shift ||
            comp->step % bytes || comp->offset % bytes || comp->step > 4 * bytes)
            return 0;
        if (i && !(desc->flags & AV_PIX_FMT_FLAG_RGB) && !comp->plane)
            return 0;
    }
    return desc->log2_chroma_w <= 2 && desc->log2_chroma_h <= 2;
}

static void blend_words_8(uint8_t *dst, const uint8_t *src, const uint16_t *mul,
                          const uint16_t *add, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++)
        dst[i] = (src[i] * mul[i] + add[i]) >> 8;
}

static void blend_8(const MvviewCanvas *c, uint8_t *dst, const uint8_t *src,
                    const void *mul, const void *add, ptrdiff_t n)
{
    const ptrdiff_t whole = n & ~(ptrdiff_t)(MVVIEW_PAD - 1);
    const uint16_t *m = mul, *a = add;

    if (whole)
        c->blend_8(dst, src, m, a, whole);
    if (whole < n)
        blend_words_8(dst + whole, src + whole, m + whole, a + whole, n - whole);
}

/* Blends words of two bytes; bits below the samples keep their values. */
static void blend_words_16(uint8_t *dst, const uint8_t *src, const uint16_t *mul,
                           const uint32_t *add, ptrdiff_t n, int shift)
{
    const uint16_t *s = (const uint16_t *)src;
    const int low = (1 << shift) - 1;
    uint16_t *d = (uint16_t *)dst;

    for (ptrdiff_t i = 0; i < n; i++)
        d[i] = (((s[i] >> shift) * mul[i] + add[i]) >> 8) << shift | (s[i] & low);
}

static void blend_16(const MvviewCanvas *c, uint8_t *dst, const uint8_t *src,
                     const void *mul, const void *add, ptrdiff_t n)
{
    const ptrdiff_t whole = n & ~(ptrdiff_t)(MVVIEW_PAD - 1);
    const uint16_t *m = mul;
    const uint32_t *a = add;

    if (whole)
        c->blend_16(dst, src, m, a, whole, c->shift);
    if (whole < n)
        blend_words_16(dst + 2 * whole, src + 2 * whole, m + whole, a + whole, n - whole, c->shift);
}

static void blend_swapped_16(const MvviewCanvas *c, uint8_t *dst, const uint8_t *src,
                             const void *mul, const void *add, ptrdiff_t n)
{
    const uint16_t *s = (const uint16_t *)src, *m = mul;
    const uint32_t *a = add;
    uint16_t *d = (uint16_t *)dst;

    for (ptrdiff_t i = 0; i < n; i++) {
        uint16_t v = av_bswap16(s[i]);

        blend_words_16((uint8_t *)&v, (const uint8_t *)&v, &m[i], &a[i], 1, c->shift);
        d[i] = av_bswap16(v);
    }
}

/* Returns whether luma, or RGB, uses the full range: black is 0 and white is the largest value. */
static int is_full_range(const AVPixFmtDescriptor *desc, enum AVColorRange range)
{
    if (desc->flags & AV_PIX_FMT_FLAG_RGB || range == AVCOL_RANGE_JPEG)
        return 1;
    return range == AVCOL_RANGE_UNSPECIFIED &&
           (desc->nb_components < 3 || av_strstart(desc->name, "yuvj", NULL));
}

static av_cold void init_matrix(MvviewCanvas *c, const AVPixFmtDescriptor *desc)
{
    const AVLumaCoefficients *coeffs = av_csp_luma_coeffs_from_avcsp(c->space);
    const int full = is_full_range(desc, c->range);
    const int64_t max  = (1 << c->depth) - 1;
    const int64_t span = full ? max : 219 << (c->depth - 8);
    const int64_t chroma = full ? max : 224 << (c->depth - 8);

    /* other filters convert pictures of unknown colour space as if they had this one */
    if (!coeffs || c->space == AVCOL_SPC_RGB)
        coeffs = av_csp_luma_coeffs_from_avcsp(AVCOL_SPC_SMPTE170M);
    c->luma[0] = av_rescale(1 << 16, coeffs->cr.num, coeffs->cr.den);
    c->luma[2] = av_rescale(1 << 16, coeffs->cb.num, coeffs->cb.den);
    c->luma[1] = (1 << 16) - c->luma[0] - c->luma[2];

    memset(c->matrix, 0, sizeof(c->matrix));
    for (int i = 0; i < 3; i++)
        c->offset[i] = 1 << 15;
    if (c->rgb) {
        for (int i = 0; i < 3; i++)
            c->matrix[i][i] = av_rescale(1 << 16, max, 255);
        return;
    }
    c->offset[0] += full ? 0 : INT64_C(16) << (c->depth - 8 + 16);
    for (int i = 0; i < 3; i++)
        c->matrix[0][i] = av_rescale(c->luma[i], span, 255);
    /* (B - Y) / (2 - 2 kb) and (R - Y) / (2 - 2 kr) */
    for (int j = 1; j < 3; j++) {
        const int primary = j == 1 ? 2 : 0;

        c->offset[j] += INT64_C(1) << (c->depth - 1 + 16);
        for (int i = 0; i < 3; i++)
            c->matrix[j][i] = av_rescale(i == primary ? (1 << 16) - c->luma[i] : -c->luma[i],
                                         chroma << 16,
                                         255 * 2 * (int64_t)((1 << 16) - c->luma[primary]));
    }
}

av_cold int ff_mvview_canvas_init(MvviewCanvas *c, const AVFrame *frame, enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    const int alpha = desc->flags & AV_PIX_FMT_FLAG_ALPHA ? desc->nb_components - 1 : -1;

    if (c->w == frame->width && c->h == frame->height && c->format == format &&
        c->space == frame->colorspace && c->range == frame->color_range)
        return 0;

    memset(c, 0, sizeof(*c));
    c->w         = frame->width;
    c->h         = frame->height;
    c->format    = format;
    c->space     = frame->colorspace;
    c->range     = frame->color_range;
    c->nb_planes = av_pix_fmt_count_planes(format);
    c->nb_comps  = desc->nb_components < 3 ? 1 : 3;
    c->rgb       = !!(desc->flags & AV_PIX_FMT_FLAG_RGB);
    c->depth     = desc->comp[0].depth;
    c->shift     = desc->comp[0].shift;
    c->bytes     = c->depth > 8 ? 2 : 1;
    c->swapped   = c->bytes == 2 && !!(desc->flags & AV_PIX_FMT_FLAG_BE) != HAVE_BIGENDIAN;

    for (int i = 0; i < c->nb_planes; i++)
        memset(c->planes[i].comp, -1, sizeof(c->planes[i].comp));
    for (int i = 0; i < desc->nb_components; i++) {
        const AVComponentDescriptor *comp = &desc->comp[i];
        MvviewPlane *p = &c->planes[comp->plane];
        const int chroma = c->nb_comps == 3 && (i == 1 || i == 2);

        p->hsub = chroma ? desc->log2_chroma_w : 0;
        p->vsub = chroma ? desc->log2_chroma_h : 0;
        p->w    = AV_CEIL_RSHIFT(c->w, p->hsub);
        p->h    = AV_CEIL_RSHIFT(c->h, p->vsub);
        p->step = comp->step / c->bytes;
        if (i != alpha) {
            p->comp[comp->offset / c->bytes] = i;
            p->painted = 1;
        }
        c->hsub = FFMAX(c->hsub, p->hsub);
        c->vsub = FFMAX(c->vsub, p->vsub);
    }
    init_matrix(c, desc);

    c->blend    = c->bytes == 1 ? blend_8 : c->swapped ? blend_swapped_16 : blend_16;
    c->blend_8  = blend_words_8;
    c->blend_16 = blend_words_16;
    GPUME_INIT_ASSEMBLY(ff_mvview_canvas_init, c);
    return 1;
}

void ff_mvview_colour(const MvviewCanvas *c, const MvviewColour *colour, unsigned comp[3])
{
    for (int i = 0; i < c->nb_comps; i++) {
        const uint8_t grey[3] = { colour->shade, colour->shade, colour->shade };
        const uint8_t *v = c->nb_comps == 1 ? grey : colour->rgb;

        comp[i] = mvview_component(c->matrix[i], c->offset[i], v[0], v[1], v[2], c->depth);
    }
}
