/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Copies of pictures with repeated edges, so that code that reads where a vector points needs no check of the
 * position.
 */

#ifndef AVFILTER_GPUME_PICTURE_PADDED_H
#define AVFILTER_GPUME_PICTURE_PADDED_H

#include <stddef.h>
#include <stdint.h>

#include "libavutil/buffer.h"

#include "libavfilter/gpume/picture/layout.h"
#include "libavfilter/gpume/picture/padding.h"

/** A component of a copy. Samples have no padding bits and the type of the layout's words, uint8_t or uint16_t. */
typedef struct GpumeSamples {
    uint8_t *first;         ///< the sample (0, 0)
    ptrdiff_t stride;       ///< bytes
    int w, h;
} GpumeSamples;

typedef struct GpumePadded {
    GpumeSamples components[GPUME_COMPONENTS];
    uint8_t *memory;
} GpumePadded;

/**
 * Sets the addresses of the components of a copy in the caller's memory; with NULL only computes
 * its size.
 * @return the size of the copy in bytes
 */
size_t ff_gpume_padded_place(GpumePadded *p, const GpumeLayout *l, uint8_t *memory);

/** @return 0 or AVERROR(ENOMEM) */
int ff_gpume_padded_alloc(GpumePadded *p, const GpumeLayout *l);
void ff_gpume_padded_free(GpumePadded *p);

/**
 * Makes a frame of a copy: a gray frame of component 0. Its data and linesize are those of all components.
 * @param pool buffers of the size of a copy
 * @return NULL: out of memory
 */
AVFrame *ff_gpume_padded_frame(AVBufferPool *pool, const GpumeLayout *l);

/** Writes row y of a component of a frame, from samples as copies have them. */
void ff_gpume_store_row(AVFrame *frame, const GpumeLayout *l, int component, int y, const uint8_t *samples);

/** Repeats the first and the last sample of row y. If row y is the first or the last row, repeats the row as well. */
void ff_gpume_padded_repeat(const GpumeSamples *s, int bytes, int y);

/** Copies part number job of nb_jobs of a frame. */
void ff_gpume_padded_load(GpumePadded *p, const GpumeLayout *l, const AVFrame *frame, int job, int nb_jobs);

/**
 * Returns the address of the sample (x, y), which may be outside the picture. In both directions, samples from 4
 * before it to 13 after it can be read.
 * @param bytes bytes of a sample
 */
static inline const uint8_t *gpume_padded_sample(const GpumeSamples *s, int x, int y, int bytes)
{
    return s->first + gpume_inside(y, s->h) * s->stride + gpume_inside(x, s->w) * bytes;
}

#endif /* AVFILTER_GPUME_PICTURE_PADDED_H */
