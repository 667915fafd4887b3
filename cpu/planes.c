/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/cpu/planes.h"

/** Minimum number of rows of the picture in a band. */
#define BAND 64

/** Number of samples on each side of a row from which half samples are computed: the taps reach beyond the margin. */
#define REACH (GPUME_HALF_MARGIN + 3)

static int sample_size(const GpumePlanesLayout *l)
{
    return l->depth > 8 ? 2 : 1;
}

/* Returns the size in bytes of a row with its margins and slack. */
static size_t row_size(const GpumePlanesLayout *l, int margin, int size)
{
    return FFALIGN((l->width + 2 * margin + GPUME_PIXELS_SLACK) * size, 64);
}

av_cold void ff_gpume_planes_init(GpumePlanesLayout *l, const GpumeParams *params,
                                  const GpumePlan *plan)
{
    const int size = params->depth > 8 ? 2 : 1;

    memset(l, 0, sizeof(*l));
    l->width     = params->width;
    l->height    = params->height;
    l->depth     = params->depth;
    l->nb_levels = plan->nb_levels;
    l->halves    = params->pel > 1;
    /* all inputs of a band's rows are in the same band */
    l->band      = FFMAX(BAND, 1 << FFMAX(l->nb_levels - 1, 0));
    l->nb_bands  = (l->height - 1) / l->band + 1;
    for (int i = 1; i < l->nb_levels; i++) {
        l->linesize[i] = FFALIGN(gpume_level_side(l->width, i) * size, 64);
        l->offset[i]   = l->size;
        l->size       += l->linesize[i] * gpume_level_side(l->height, i);
    }
    if (l->halves) {
        l->half_linesize = row_size(l, GPUME_HALF_MARGIN, size);
        /* otherwise the rows of a block would share few lines of the cache */
        if (l->half_linesize % 512 == 0)
            l->half_linesize += 64;
        for (int i = 0; i < GPUME_NB_PLANES; i++) {
            l->half_offset[i] = l->size + GPUME_HALF_MARGIN * (l->half_linesize + size);
            l->size          += l->half_linesize * (l->height + 2 * GPUME_HALF_MARGIN);
        }
        /* six rows, the half samples below the third, and its sums */
        l->scratch_size = 7 * row_size(l, REACH, size) + row_size(l, REACH, 2 * size);
    }
    /* slack after the last row of half samples */
    l->size += GPUME_PIXELS_SLACK * size;
}

GpumePlaneData ff_gpume_planes_level(const GpumePlanesLayout *l, const GpumePicture *pic, int level)
{
    if (!level)
        return (GpumePlaneData) { pic->luma, pic->linesize };
    return (GpumePlaneData) { pic->planes->data + l->offset[level], l->linesize[level] };
}

GpumePlaneData ff_gpume_planes_half(const GpumePlanesLayout *l, const GpumePicture *pic, int plane)
{
    return (GpumePlaneData) { pic->planes->data + l->half_offset[plane], l->half_linesize };
}

/* Computes rows of a level from those of the level below it. */
static void make_level(const GpumePlanesLayout *l, const GpumePixels *pixels,
                       const GpumePicture *pic, int level, int start, int end)
{
    const GpumePlaneData from = ff_gpume_planes_level(l, pic, level - 1);
    uint8_t *dst  = pic->planes->data + l->offset[level] + start * l->linesize[level];
    const int w   = gpume_level_side(l->width,  level - 1);
    const int h   = gpume_level_side(l->height, level - 1);
    const int size = sample_size(l);

    for (int y = start; y < end; y++) {
        const uint8_t *a = from.data + 2 * y * from.linesize;
        const uint8_t *b = 2 * y + 1 < h ? a + from.linesize : a;

        pixels->halve(dst, a, b, w / 2);
        if (w & 1) {
            uint8_t *last = dst + w / 2 * size;

            a += (w - 1) * size;
            b += (w - 1) * size;
            if (size == 1)
                *last = (2 * *a + 2 * *b + 2) >> 2;
            else
                AV_WN16(last, (2 * AV_RN16(a) + 2 * AV_RN16(b) + 2) >> 2);
        }
        dst += l->linesize[level];
    }
}

/* Copies a row of the picture and repeats its last samples on both sides. The row may be outside the picture. */
static void extend_row(const GpumePlanesLayout *l, const GpumePicture *pic, uint8_t *dst, int y)
{
    const uint8_t *src = pic->luma + av_clip(y, 0, l->height - 1) * pic->linesize;
    const int size = sample_size(l), w = l->width;

    memcpy(dst + REACH * size, src, w * size);
    for (int x = 0; x < REACH; x++) {
        memcpy(dst + x * size,               src,                  size);
        memcpy(dst + (REACH + w + x) * size, src + (w - 1) * size, size);
    }
    memset(dst + (w + 2 * REACH) * size, 0, GPUME_PIXELS_SLACK * size);
}

static void make_halves(const GpumePlanesLayout *l, const GpumePixels *pixels,
                        const GpumePicture *pic, uint8_t *scratch, int start, int end)
{
    const int size   = sample_size(l);
    const int max    = (1 << l->depth) - 1;
    const size_t row = row_size(l, REACH, size);
    uint8_t *below   = scratch + 6 * row, *sums = below + row;

    for (int y = start - 2; y < start + 3; y++)
        extend_row(l, pic, scratch + (y + 2 - start) * row, y);
    for (int y = start; y < end; y++) {
        const ptrdiff_t offset = y * l->half_linesize - GPUME_HALF_MARGIN * size;
        uint8_t *dst[GPUME_NB_PLANES];
        const uint8_t *rows[6];

        for (int i = 0; i < GPUME_NB_PLANES; i++)
            dst[i] = pic->planes->data + l->half_offset[i] + offset;
        extend_row(l, pic, scratch + (y + 5 - start) % 6 * row, y + 3);
        /* begins 2 samples before the margin */
        for (int i = 0; i < 6; i++)
            rows[i] = scratch + (y + i - start) % 6 * row + size;

        /* next to the other planes, so that all have the same layout */
        memcpy(dst[GPUME_PLANE_WHOLE], rows[2] + 2 * size, (l->width + 2 * GPUME_HALF_MARGIN) * size);
        pixels->right(dst[GPUME_PLANE_RIGHT], rows[2], l->width + 2 * GPUME_HALF_MARGIN, max);
        pixels->below(below, sums, rows, l->width + 2 * GPUME_HALF_MARGIN + 5, max);
        memcpy(dst[GPUME_PLANE_BELOW], below + 2 * size, (l->width + 2 * GPUME_HALF_MARGIN) * size);
        pixels->centre(dst[GPUME_PLANE_CENTRE], sums, l->width + 2 * GPUME_HALF_MARGIN, max);
    }
}

void ff_gpume_planes_make(const GpumePlanesLayout *l, const GpumePixels *pixels,
                          const GpumePicture *pic, uint8_t *scratch, int start, int end)
{
    for (int i = start; i < end; i++) {
        const int first = i * l->band, last = FFMIN(first + l->band, l->height);

        for (int level = 1; level < l->nb_levels; level++)
            make_level(l, pixels, pic, level, first >> level, gpume_level_side(last, level));
        if (l->halves)
            make_halves(l, pixels, pic, scratch, i ? first : -GPUME_HALF_MARGIN,
                        i < l->nb_bands - 1 ? last : last + GPUME_HALF_MARGIN);
    }
}
