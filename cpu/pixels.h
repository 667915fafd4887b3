/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What is done with samples and vectors for true motion: a table of functions. Samples are
 * in native order, of one byte or, deeper than 8 bits, of two.
 */

#ifndef AVFILTER_GPUME_CPU_PIXELS_H
#define AVFILTER_GPUME_CPU_PIXELS_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/cpu/cost.h"

/** Samples, or sums, that functions may write, and read of their own buffers, behind the last one. */
#define GPUME_PIXELS_SLACK 31

/** Bytes from row to row of what average() writes. */
#define GPUME_AVERAGE_LINESIZE (2 * GPUME_MAX_BLOCK)

/** What a block in a pass is given a choice of. Assembly knows the layout. */
typedef struct GpumeChoice {
    GpumeVector vectors[16];    ///< the neighbours' in raster order, those around its own likewise
    GpumeVector own;
    uint32_t penalties[16];     ///< of vectors
    uint32_t reserved;
    GpumeVector min, max;       ///< of admissible vectors
    int32_t threshold;          ///< as in gpume_difference()
    uint32_t factor;            ///< gpume_penalty_factor()
    int32_t shift;              ///< log2 of 8 neighbours and units of vectors in a sample
    int32_t depth_shift;        ///< depth - 8
    uint32_t cost;              ///< of the own vector
    uint32_t sum;               ///< with its penalty
    uint32_t bounds[16];        ///< what they cost at least
} GpumeChoice;

typedef struct GpumePixels {
    /** dst[x] = the rounded mean of a[2 * x], a[2 * x + 1] and the same of b; x < n. No slack. */
    void (*halve)(uint8_t *dst, const uint8_t *a, const uint8_t *b, int n);
    /** Half samples to the right of src[0] to src[n - 1]; src begins 2 earlier. */
    void (*right)(uint8_t *dst, const uint8_t *src, int n, int max);
    /**
     * Half samples below rows[2], from two rows above it to three below, and the same
     * before rounding: of one byte int16_t, of two int32_t.
     */
    void (*below)(uint8_t *dst, void *sums, const uint8_t *const rows[6], int n, int max);
    /** Half samples to the right of such sums; sums begins 2 earlier. */
    void (*centre)(uint8_t *dst, const void *sums, int n, int max);
    /** The rounded means of samples of a and b, h rows of the function's width; a may be b. No slack. */
    void (*average[GPUME_NB_WIDTHS])(uint8_t *dst, const uint8_t *a, const uint8_t *b,
                                     ptrdiff_t linesize, int h);
    /**
     * The candidates of a block with eight neighbours. Fills in those around its own vector,
     * penalties, and sum.
     * @return a bit for each of vectors, set if it may be better than the own one: it is
     *         admissible, no other one before it is the same, and its penalty and bound
     *         together are less than sum
     */
    unsigned (*candidates)(GpumeChoice *choice);
} GpumePixels;

/** Fill in the table: plain C first, then what the processor can do. */
void ff_gpume_pixels_init(GpumePixels *pixels, int depth);
void ff_gpume_pixels_init_x86(GpumePixels *pixels, int depth);
void ff_gpume_pixels_init_aarch64(GpumePixels *pixels, int depth);

#endif /* AVFILTER_GPUME_CPU_PIXELS_H */
