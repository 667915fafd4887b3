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
#include <string.h>

#include "libavutil/macros.h"

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

/** Where the samples are that vectors lead to. Assembly knows the layout. */
typedef struct GpumePlaces {
    /** The two that make the first sample at parts (fx, fy), fy * pel + fx; for pel 1 only [0][0]. */
    const uint8_t *base[2][16];
    ptrdiff_t linesize;
    int32_t size;               ///< bytes of a sample
    int32_t log2_pel;
    int32_t low, high;          ///< pel - 1; the same where dy has it when the index in base is made
} GpumePlaces;

/** Candidates that are evaluated together. */
#define GPUME_GROUP 4

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
    /**
     * The same of a block of a field, whose neighbours' vectors it fills in; bounds stay where they are.
     * @param v         the own vector
     * @param bw        vectors in a row of the field
     * @param bounds    of neighbours that are around the own vector get what is known of that one
     * @param forgotten neighbours whose bounds are not valid, which become 0
     */
    unsigned (*candidates_at)(GpumeChoice *choice, const GpumeVector *v, ptrdiff_t bw, uint32_t bounds[16],
                              unsigned forgotten);
    /**
     * Where the samples of some candidates are: [0] for whole vectors, [1] the two that make
     * them, which follow each other in pairs.
     * @param ref    those of the candidates in mask one after the other, and of the first one up to a multiple
     *               of GPUME_GROUP; more may be written, up to those of 16
     * @param mask   not 0
     * @param offset of the block in bytes
     * @return how many candidates there are
     */
    int (*locate[2])(const uint8_t **ref, const GpumeVector vectors[16], unsigned mask, const GpumePlaces *places,
                     ptrdiff_t offset);
    /**
     * Returns the least sum of bound and penalty of the candidates in mask, not 0, and in the 4 bits below
     * it the first candidate that has it. Before that the costs, one after the other, become the bounds of
     * those in evaluated.
     * @param cost 16 may be read
     */
    uint64_t (*least_sum)(const GpumeChoice *choice, uint32_t bounds[16], const uint32_t *cost,
                          unsigned evaluated, unsigned mask);
} GpumePixels;

/** Fill in the table: plain C first, then what the processor can do. */
void ff_gpume_pixels_init(GpumePixels *pixels, int depth);
void ff_gpume_pixels_init_x86(GpumePixels *pixels, int depth);
void ff_gpume_pixels_init_aarch64(GpumePixels *pixels, int depth);

/** Where neighbours' vectors are around the own one, let their bounds be what is known of either. */
static inline void gpume_share_bounds(const GpumeVector neighbours[8], GpumeVector own, uint32_t bounds[16])
{
    for (int i = 0; i < 8; i++) {
        const unsigned x = neighbours[i].dx - own.dx + 1, y = neighbours[i].dy - own.dy + 1;

        if (x < 3 && y < 3 && (x != 1 || y != 1)) {
            const int place = 3 * y + x;

            bounds[i] = FFMAX(bounds[i], bounds[8 + place - (place > 4)]);
        }
    }
}

/** Fill in what candidates() reads of a field, for a candidates_at() that calls it, whose parameters these are. */
static inline void gpume_gather_choice(GpumeChoice *choice, const GpumeVector *v, ptrdiff_t bw, uint32_t bounds[16],
                                       unsigned forgotten)
{
    memcpy(choice->vectors,     v - bw - 1, 3 * sizeof(*v));
    memcpy(choice->vectors + 5, v + bw - 1, 3 * sizeof(*v));
    choice->vectors[3] = v[-1];
    choice->vectors[4] = v[1];
    choice->own = *v;
    for (int i = 0; i < 8; i++)
        bounds[i] &= (forgotten >> i & 1) - 1;
    gpume_share_bounds(choice->vectors, choice->own, bounds);
    memcpy(choice->bounds, bounds, sizeof(choice->bounds));
}

#endif /* AVFILTER_GPUME_CPU_PIXELS_H */
