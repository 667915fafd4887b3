/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Successive elimination (Li and Salari, IEEE TIP 4(1), 1995; in levels: Gao, Duanmu and Zou, IEEE
 * TIP 9(3), 2000): the difference of two sums is at most the sum of the differences. So sums over
 * parts of a block, which are known for every position in a picture, give a lower bound of a
 * candidate's cost.
 *
 * The parts have a quarter or half of a block's side: a complete block has 16 quarters and 4
 * halves. A picture has a plane of sums for each. The element at (x, y) is the sum over the square
 * whose first sample is there, in units of 1 << shift so that it fits into 15 bits; columns are
 * rounded down before they are added.
 *
 * If larger blocks consist of smaller blocks that have been searched, the larger blocks need no
 * sums. The bounds of the smaller blocks are stored: the sum of these bounds is a lower bound of
 * the larger block's candidate, and each of them counts at least as much as the least cost of the
 * smaller block.
 *
 * A search begins with a diamond search from the neighbour's vector, whose cost is the limit of all
 * candidates. Equal costs pass, so the result is that of all candidates. A block of which most
 * candidates pass, as in noise, is left to the stage FULL.
 */

#ifndef AVFILTER_GPUME_CPU_SEA_H
#define AVFILTER_GPUME_CPU_SEA_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/core/params_args.h"

/** Maximum number of sums that are computed, and of candidates that are tried, at a time. */
#define GPUME_SEA_ALIGN 32

/** A block and a row of candidates. Assembly code depends on the layout. */
typedef struct GpumeSeaBounds {
    ptrdiff_t linesize;             ///< bytes between rows of sums
    ptrdiff_t prefetch[2];          ///< bytes from a row's first sum to the sums that a later block needs
    ptrdiff_t half_offset[4];       ///< bytes from the candidate's sum to the halves' sums; may contain duplicates
    ptrdiff_t quarter_offset[16];   ///< bytes from the candidate's sum to the quarters' sums
    uint32_t half[4];               ///< the block's own sums, times 0x10001
    uint32_t quarter[16];
    uint32_t half_limit;            ///< largest bound of a candidate that is kept, times 0x10001
    uint32_t quarter_limit;
    int32_t nb_quarters;            ///< 0 to 16
    int32_t nb_candidates;          ///< number of candidates in a row
    int32_t nb_halves;              ///< number of different halves, 0, 1, 2 or 4
    uint8_t *map;                   ///< bound_and_store(): output of the first row's bounds, a word for each
                                    ///< candidate
    ptrdiff_t map_linesize;         ///< bytes
} GpumeSeaBounds;

/** Number of candidates that join() checks at a time. */
#define GPUME_SEA_GROUP 32

/** A block that consists of four parts, and adjacent candidates in maps. Assembly code depends on the layout. */
typedef struct GpumeSeaParts {
    const uint8_t *map[4];          ///< bounds of the parts, for the first candidate
    uint8_t *dst;                   ///< output of the whole block's bounds
    uint32_t least[4];              ///< least cost of each part, times 0x10001
    uint32_t limit;                 ///< largest bound of a candidate that is kept, times 0x10001
    int32_t shift;                  ///< the block's unit is 1 << shift of the parts' units, with shift 0 or 1
    int32_t nb_candidates;
} GpumeSeaParts;

/**
 * The bounds of a block are stored in a map: a word for each vector, in raster order from (-range,
 * -range) on. Only words of admissible vectors are defined.
 */
/** Whether both structs have the layout that 64-bit assembly code expects. */
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

/**
 * Adds a row of samples to the sums of columns, subtracts another row, and stores the result in
 * units of 1 << shift.
 * @param n number of columns, a multiple of 16
 */
typedef void GpumeSeaColumns(uint16_t *dst, uint32_t *sums, const uint8_t *add, const uint8_t *sub, ptrdiff_t n,
                             int shift);
/** Computes dst[x] = a[x] + b[x]; n is a multiple of GPUME_SEA_ALIGN; dst may equal a. */
typedef void GpumeSeaAdd(uint16_t *dst, const uint16_t *a, const uint16_t *b, ptrdiff_t n);
/**
 * Finds the next row with a candidate that is kept.
 * @param sums sums of the halves of the first candidate of the first row
 * @param kept output: a bit for each candidate of that row, the lowest first in each word; bits
 *             after the last candidate are undefined
 * @return the row's index, or nb_rows
 */
typedef int GpumeSeaBound(const GpumeSeaBounds *b, const uint8_t *sums, int nb_rows, uint64_t *kept);
/**
 * Finds the next group of candidates of which one is kept, with the bounds of the parts. Stores
 * the bounds of this group and of those before it, always for whole groups.
 * @param first first candidate
 * @param kept  output: a bit for each candidate of the group, the lowest first; bits after the
 *              last candidate are undefined
 * @return the group's first candidate, or a number of at least nb_candidates
 */
typedef int GpumeSeaJoin(const GpumeSeaParts *p, int first, uint32_t *kept);

typedef struct GpumeSea {
    int width, height;              ///< size of the picture
    int sample_size;                ///< bytes
    int side;                       ///< side of a quarter
    int shift;
    ptrdiff_t linesize;             ///< bytes between rows of sums
    size_t size;                    ///< bytes of both planes of a picture; 0: blocks consist of smaller blocks
    int scratch_row;                ///< elements
    size_t scratch_size;            ///< bytes, a multiple of 64
    int join_shift;                 ///< GpumeSeaParts.shift, for blocks that consist of smaller blocks
    int loss;                       ///< units by which a stored bound may exceed the cost
    int map_row;                    ///< number of elements in a row of a map
    size_t map_size;                ///< size in bytes of a map, including bytes after it that are read and written; a
                                    ///< multiple of 64

    GpumeSeaColumns *columns;
    GpumeSeaAdd *add;
    GpumeSeaBound *bound;
    /**
     * Does bound() for a complete block, and stores the bounds of the rows up to the returned row:
     * for each candidate that of its halves or of its quarters; for kept candidates that of the
     * quarters. Words after a row's last candidate, up to a multiple of GPUME_SEA_ALIGN, become
     * undefined.
     */
    GpumeSeaBound *bound_and_store;
    GpumeSeaJoin *join;

    GpumeSeaColumns *columns_c; ///< handles the remaining columns, if their number is not a multiple of 16
} GpumeSea;

/** Number of words that bound() needs for a row of n candidates. */
#define GPUME_SEA_KEPT_WORDS(n) (((n) + 63) / 64)

void ff_gpume_sea_init(GpumeSea *s, const GpumeParams *params);
/** Initializes the search of blocks that consist of four blocks of half the side. */
void ff_gpume_sea_init_larger(GpumeSea *s, const GpumeSea *smaller);

void ff_gpume_sea_init_x86(GpumeSea *s, int depth);
void ff_gpume_sea_init_aarch64(GpumeSea *s, int depth);

/**
 * Computes rows start to end - 1 of a picture's sums.
 * @param sums    both planes; must be zeroed after the allocation
 * @param scratch scratch_size bytes
 */
void ff_gpume_sea_sum(const GpumeSea *s, uint8_t *sums, const uint8_t *luma,
                      ptrdiff_t linesize, int start, int end, uint8_t *scratch);

/**
 * Prepares the search of a block.
 * @param sums the element at the block's first sample in its picture's sums
 * @param w, h size of the block inside the picture
 */
void ff_gpume_sea_block(const GpumeSea *s, GpumeSeaBounds *b,
                        const uint8_t *sums, int w, int h);

/**
 * Prefetches sums for a block that lies this number of samples to the right.
 * @param sums see ff_gpume_sea_block()
 */
void ff_gpume_sea_prefetch(const GpumeSea *s, const uint8_t *sums, int samples);

/** Sets the limit: only candidates that may cost less are kept. */
void ff_gpume_sea_limit(const GpumeSea *s, GpumeSeaBounds *b, uint32_t limit);

/** Returns GpumeSeaParts.limit for candidates that may cost less than limit. */
uint32_t ff_gpume_sea_join_limit(const GpumeSea *s, uint32_t limit);

/** Returns GpumeSeaParts.least for a part of this cost; s is that of the parts. */
uint32_t ff_gpume_sea_least(const GpumeSea *s, uint32_t cost);

#endif /* AVFILTER_GPUME_CPU_SEA_H */
