/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Successive elimination (Li and Salari, IEEE TIP 4(1), 1995; in levels: Gao,
 * Duanmu and Zou, IEEE TIP 9(3), 2000): the difference of two sums is at most
 * the sum of the differences, so sums over parts of a block, which are known for
 * every place in a picture, bound a candidate's cost from below.
 *
 * The parts are quarters and halves of a block's side: 16 and 4 in a whole
 * block. A picture has a plane of sums for either. The element at (x, y) is
 * the sum over the square whose first sample is there, in units of 1 << shift
 * so that it fits 15 bits; columns are rounded down before they are added up.
 *
 * Where larger blocks consist of smaller ones that have been searched, the larger ones need no sums. The
 * bounds of the smaller ones stay: a candidate costs at least what these bounds give together, and each of
 * them counts no less than the least cost that the smaller block has anywhere.
 */

#ifndef AVFILTER_GPUME_CPU_SEA_H
#define AVFILTER_GPUME_CPU_SEA_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/core/params_args.h"

/** Sums are computed, and candidates tried, this many at a time at most. */
#define GPUME_SEA_ALIGN 32

/** A block against a row of candidates. Assembly knows the layout. */
typedef struct GpumeSeaBounds {
    ptrdiff_t linesize;             ///< bytes from a row of sums to the next
    ptrdiff_t prefetch[2];          ///< bytes from a row's first sum to what a later block needs
    ptrdiff_t half_offset[4];       ///< bytes from the candidate's sum to the half's; one may stand there twice
    ptrdiff_t quarter_offset[16];   ///< bytes from the same sum to the quarter's
    uint32_t half[4];               ///< the block's own sums, times 0x10001
    uint32_t quarter[16];
    uint32_t half_limit;            ///< greatest bound of a candidate to be kept, times 0x10001
    uint32_t quarter_limit;
    int32_t nb_quarters;            ///< 0 to 16
    int32_t nb_candidates;          ///< in a row
    int32_t nb_halves;              ///< different ones, 0, 1, 2 or 4
    uint8_t *map;                   ///< bound_and_store(): gets the first row's bounds, a word for each candidate
    ptrdiff_t map_linesize;         ///< bytes
} GpumeSeaBounds;

/** Candidates of which join() tells whether they are kept at a time. */
#define GPUME_SEA_GROUP 32

/** A block that consists of four, against candidates side by side in maps. Assembly knows the layout. */
typedef struct GpumeSeaParts {
    const uint8_t *map[4];          ///< bounds of the parts, for the first candidate
    uint8_t *dst;                   ///< gets the whole block's bounds
    uint32_t least[4];              ///< what the part costs at least, times 0x10001
    uint32_t limit;                 ///< greatest bound of a candidate to be kept, times 0x10001
    int32_t shift;                  ///< the block's unit is 1 << shift of the parts' units, 0 or 1
    int32_t nb_candidates;
} GpumeSeaParts;

/**
 * Bounds of a block are kept in a map: a word for each vector, in raster order from (-range, -range) on,
 * of which only those of admissible ones mean anything.
 */
/** Whether both are as assembly for processors of 64 bits knows them. */
#define GPUME_SEA_LAYOUT_IS_KNOWN                           \
    (offsetof(GpumeSeaBounds, prefetch)       ==   8 &&     \
     offsetof(GpumeSeaBounds, half_offset)    ==  24 &&     \
     offsetof(GpumeSeaBounds, quarter_offset) ==  56 &&     \
     offsetof(GpumeSeaBounds, half)           == 184 &&     \
     offsetof(GpumeSeaBounds, quarter)        == 200 &&     \
     offsetof(GpumeSeaBounds, half_limit)     == 264 &&     \
     offsetof(GpumeSeaBounds, quarter_limit)  == 268 &&     \
     offsetof(GpumeSeaBounds, nb_quarters)    == 272 &&     \
     offsetof(GpumeSeaBounds, nb_candidates)  == 276 &&     \
     offsetof(GpumeSeaBounds, map)            == 288 &&     \
     offsetof(GpumeSeaBounds, map_linesize)   == 296 &&     \
     offsetof(GpumeSeaParts, dst)             ==  32 &&     \
     offsetof(GpumeSeaParts, least)           ==  40 &&     \
     offsetof(GpumeSeaParts, limit)           ==  56 &&     \
     offsetof(GpumeSeaParts, shift)           ==  60 &&     \
     offsetof(GpumeSeaParts, nb_candidates)   ==  64)

typedef struct GpumeSea {
    int width, height;              ///< of the picture
    int sample_size;                ///< bytes
    int side;                       ///< of a quarter
    int shift;
    ptrdiff_t linesize;             ///< bytes from a row of sums to the next
    size_t size;                    ///< bytes of both planes of a picture; 0: blocks consist of smaller ones
    int scratch_row;                ///< elements
    size_t scratch_size;            ///< bytes, a multiple of 64
    int join_shift;                 ///< of blocks that consist of smaller ones: GpumeSeaParts.shift
    int loss;                       ///< units by which a bound that is stored may be beyond the cost
    int map_row;                    ///< elements of a row of a map
    size_t map_size;                ///< bytes of a map and of what is read and written behind it, a multiple of 64

    /**
     * Add a row of samples to the sums of columns and subtract another, and
     * store what that gives in units of 1 << shift.
     * @param n columns, a multiple of 16
     */
    void (*columns)(uint16_t *dst, uint32_t *sums, const uint8_t *add,
                    const uint8_t *sub, ptrdiff_t n, int shift);
    /** dst[x] = a[x] + b[x]; n is a multiple of GPUME_SEA_ALIGN; dst may be a. */
    void (*add)(uint16_t *dst, const uint16_t *a, const uint16_t *b, ptrdiff_t n);
    /**
     * Look for a row that has a candidate to be kept.
     * @param sums of the halves of the first candidate of the first row
     * @param kept gets a bit for each candidate of that row, the lowest first
     *             in each word; those behind the last candidate mean nothing
     * @return the row's number, or nb_rows
     */
    int (*bound)(const GpumeSeaBounds *b, const uint8_t *sums, int nb_rows, uint64_t *kept);
    /**
     * The same, for a block that is not cut; the bounds of the rows, up to the one that is returned, are
     * stored: of each candidate that of its halves or of its quarters, of those to be kept the latter. Words
     * behind a row's last candidate, up to a multiple of GPUME_SEA_ALIGN, get any value.
     */
    int (*bound_and_store)(const GpumeSeaBounds *b, const uint8_t *sums, int nb_rows, uint64_t *kept);
    /**
     * Look for a group of candidates that has one to be kept, with bounds from those of parts. They are
     * stored for this group and those before it, the last one as a whole.
     * @param first candidate to begin with
     * @param kept  gets a bit for each candidate of the group, the lowest first; those behind the last
     *              candidate mean nothing
     * @return the group's first candidate, or a number that is not below nb_candidates
     */
    int (*join)(const GpumeSeaParts *p, int first, uint32_t *kept);

    /** For the columns that are not a multiple of 16. */
    void (*columns_c)(uint16_t *dst, uint32_t *sums, const uint8_t *add,
                      const uint8_t *sub, ptrdiff_t n, int shift);
} GpumeSea;

/** Words that bound() needs for a row of n candidates. */
#define GPUME_SEA_KEPT_WORDS(n) (((n) + 63) / 64)

void ff_gpume_sea_init(GpumeSea *s, const GpumeParams *params);
/** Blocks that consist of four of half the side. */
void ff_gpume_sea_init_larger(GpumeSea *s, const GpumeSea *smaller);

void ff_gpume_sea_init_x86(GpumeSea *s, int depth);
void ff_gpume_sea_init_aarch64(GpumeSea *s, int depth);

/**
 * Compute rows start to end - 1 of a picture's sums.
 * @param sums    both planes; zeroed when they were allocated
 * @param scratch scratch_size bytes
 */
void ff_gpume_sea_sum(const GpumeSea *s, uint8_t *sums, const uint8_t *luma,
                      ptrdiff_t linesize, int start, int end, uint8_t *scratch);

/**
 * Get ready for a block.
 * @param sums the element at the block's first sample in its picture's sums
 * @param w    the block's true size, samples
 */
void ff_gpume_sea_block(const GpumeSea *s, GpumeSeaBounds *b,
                        const uint8_t *sums, int w, int h);

/**
 * Say that a block will be searched that lies so many samples to the right.
 * @param sums as for ff_gpume_sea_block()
 */
void ff_gpume_sea_prefetch(const GpumeSea *s, const uint8_t *sums, int samples);

/** Keep only what may cost less than limit. */
void ff_gpume_sea_limit(const GpumeSea *s, GpumeSeaBounds *b, uint32_t limit);

/** Returns GpumeSeaParts.limit for candidates that may cost less than limit. */
uint32_t ff_gpume_sea_join_limit(const GpumeSea *s, uint32_t limit);

/** Returns GpumeSeaParts.least for a part of that cost; s is the parts' own. */
uint32_t ff_gpume_sea_least(const GpumeSea *s, uint32_t cost);

#endif /* AVFILTER_GPUME_CPU_SEA_H */
