/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Functions on samples and vectors for true motion. Samples are in native order; they have one byte
 * or, with more than 8 bits, two.
 */

#ifndef AVFILTER_GPUME_CPU_PIXELS_H
#define AVFILTER_GPUME_CPU_PIXELS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/intmath.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/cpu/cost.h"

/** Number of samples, or sums, after the last one that functions may write, and read in their own buffers. */
#define GPUME_PIXELS_SLACK 31

/** Bytes between rows of the output of average(). */
#define GPUME_AVERAGE_LINESIZE (2 * GPUME_MAX_BLOCK)

/** Inputs and results of a block's choice in a pass. Assembly code depends on the layout. */
typedef struct GpumeChoice {
    GpumeVector vectors[16];    ///< the neighbours' vectors in raster order, then the vectors around its own in
                                ///< raster order
    GpumeVector own;
    uint32_t penalties[16];     ///< penalties of vectors[]
    uint32_t reserved;
    GpumeVector min, max;       ///< limits of admissible vectors
    int32_t threshold;          ///< see gpume_difference()
    uint32_t factor;            ///< gpume_penalty_factor()
    int32_t shift;              ///< log2 of 8 neighbours times the units of vectors in a sample
    int32_t depth_shift;        ///< depth - 8
    uint32_t cost;              ///< cost of the block's own vector
    uint32_t sum;               ///< cost plus penalty of its own vector
    uint32_t bounds[16];        ///< lower bounds of the costs of vectors
} GpumeChoice;

/** Addresses of the samples to which vectors lead. */
typedef struct GpumePlaces {
    /**
     * The two samples whose mean is the first sample at the fraction (fx, fy), indexed by fy * pel
     * + fx; for pel 1 only [0][0].
     */
    const uint8_t *base[2][16];
    ptrdiff_t linesize;
    int32_t size;               ///< bytes of a sample
    int32_t log2_pel;
    int32_t low;                ///< pel - 1
} GpumePlaces;

/** Number of candidates that are evaluated together. */
#define GPUME_GROUP 4

typedef struct GpumePixels {
    /**
     * Computes dst[x] = the rounded mean of a[2 * x], a[2 * x + 1], b[2 * x] and b[2 * x + 1] for x
     * < n. No slack.
     */
    void (*halve)(uint8_t *dst, const uint8_t *a, const uint8_t *b, int n);
    /** Computes half samples to the right of src[0] to src[n - 1]; src begins 2 samples earlier. */
    void (*right)(uint8_t *dst, const uint8_t *src, int n, int max);
    /**
     * Computes half samples below rows[2], from the rows two above it to three below, and their
     * values before rounding: int16_t for samples of one byte, int32_t for two.
     */
    void (*below)(uint8_t *dst, void *sums, const uint8_t *const rows[6], int n, int max);
    /** Computes half samples to the right of such sums, which begin 2 sums earlier. */
    void (*centre)(uint8_t *dst, const void *sums, int n, int max);
    /** Computes the rounded means of w x h samples of a and b; a may equal b. No slack. */
    void (*average)(uint8_t *dst, const uint8_t *a, const uint8_t *b, ptrdiff_t linesize, int w, int h);
    /**
     * Finds the candidates of a block with eight neighbours. Sets the vectors around its own
     * vector, penalties, and sum.
     * @return a bit for each vector that may be better than the block's own: it is admissible, it
     *         differs from all earlier ones, and its penalty plus bound is below sum
     */
    unsigned (*candidates)(GpumeChoice *choice);
    /**
     * Does candidates() for a block of a field, and gathers the neighbours' vectors. The bounds
     * stay in place.
     * @param v         the block's own vector
     * @param bw        number of vectors in a row of the field
     * @param bounds    if a neighbour's vector is next to the own vector, its bound is combined
     *                  with that of the equal vector
     * @param forgotten bit mask of neighbours whose bounds are invalid, and are reset to 0
     */
    unsigned (*candidates_at)(GpumeChoice *choice, const GpumeVector *v, ptrdiff_t bw, uint32_t bounds[16],
                              unsigned forgotten);
} GpumePixels;

/** Fills in the table for this processor. */
void ff_gpume_pixels_init(GpumePixels *pixels, int depth);
void ff_gpume_pixels_init_x86(GpumePixels *pixels, int depth);
void ff_gpume_pixels_init_aarch64(GpumePixels *pixels, int depth);

/**
 * Computes the addresses of the samples of some candidates.
 * @param ref    output: nb addresses of each candidate in mask, one candidate after the other; filled up to a multiple
 *               of GPUME_GROUP candidates with those of the first
 * @param mask   not 0
 * @param offset offset of the block in bytes
 * @param nb     1 for whole vectors, 2 for subpel vectors
 * @return the number of candidates
 */
static av_always_inline int gpume_locate(const uint8_t **ref, const GpumeVector vectors[16], unsigned mask,
                                         const GpumePlaces *p, ptrdiff_t offset, int nb)
{
    const int n = av_popcount(mask);

    for (int i = 0; i < n; i++, mask &= mask - 1) {
        const GpumeVector v = vectors[ff_ctz(mask)];
        const int part = (v.dy & p->low) << p->log2_pel | (v.dx & p->low);
        const ptrdiff_t at = offset + (v.dy >> p->log2_pel) * p->linesize + (v.dx >> p->log2_pel) * p->size;

        for (int k = 0; k < nb; k++)
            ref[nb * i + k] = p->base[k][part] + at;
    }
    for (int i = nb * n; i < nb * FFALIGN(n, GPUME_GROUP); i++)
        ref[i] = ref[i % nb];
    return n;
}

/**
 * Returns the least sum of bound and penalty of the candidates in mask, which is not 0, with the first such candidate
 * in the lowest 4 bits. First sets the bounds of the candidates in evaluated to the costs, which are in sequence.
 */
static inline uint64_t gpume_least_sum(const GpumeChoice *c, uint32_t bounds[16], const uint32_t *cost,
                                       unsigned evaluated, unsigned mask)
{
    uint64_t least = UINT64_MAX;

    for (; evaluated; evaluated &= evaluated - 1)
        bounds[ff_ctz(evaluated)] = *cost++;
    for (; mask; mask &= mask - 1) {
        const int i = ff_ctz(mask);

        least = FFMIN(least, (uint64_t)(bounds[i] + c->penalties[i]) << 4 | i);
    }
    return least;
}

/** Combines the bounds of equal vectors: those of neighbours and those around the own vector. */
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

/** Gathers the inputs of candidates() from a field, for a candidates_at() with these parameters. */
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
