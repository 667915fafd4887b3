/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The parameters of a search. Read by the host and by device code.
 */

#ifndef AVFILTER_GPUME_CORE_PARAMS_ARGS_H
#define AVFILTER_GPUME_CORE_PARAMS_ARGS_H

#include "libavfilter/gpume/field/field_args.h"

/** Largest smoothness. */
#define GPUME_MAX_SMOOTH   64
/** Largest number of passes of propagation on a level. */
#define GPUME_MAX_SWEEPS   16
/** Largest number of levels of a pyramid: the largest picture is then halved to GPUME_COARSEST. */
#define GPUME_MAX_LEVELS   11
/** A picture with a side below this is not halved. */
#define GPUME_COARSEST     32

/** Largest and least side of a root: a block that may be split into smaller ones. */
#define GPUME_MAX_ROOT     64
#define GPUME_MIN_ROOT     16
/** Largest number of sizes of blocks: 4, 8, 16, 32, 64. */
#define GPUME_MAX_SIZES     5
/** Largest cost of a bit, in 1/256 of a cost. */
#define GPUME_MAX_LAMBDA   65536
/** Largest quantiser that a cost of a bit follows from. */
#define GPUME_MAX_QP       51

/** For parameters that say so: what suits the search. */
#define GPUME_AUTO (-1)

/** Costs of a candidate: C(ID, name, title). Each backend has a table with the same rows. */
#define GPUME_COSTS(C)                            \
    C(SAD,  sad,  "sum of absolute differences")  \
    C(SATD, satd, "sum of absolute transformed differences")

/**
 * Largest cost of a sample of a block, in units of the greatest sample. It is that of satd: a
 * Hadamard transform of n x n samples makes their root mean square n times as large, and it is
 * halved, or quartered where n is 8.
 */
#define GPUME_MAX_COST 2

enum GpumeCostId {
#define GPUME_COST_ID(ID, name, title) GPUME_COST_##ID,
    GPUME_COSTS(GPUME_COST_ID)
#undef GPUME_COST_ID
    GPUME_NB_COSTS
};

/**
 * A search's parameters, constant while a backend is open. Lengths are in luma samples.
 * ff_gpume_params_init() checks those that are chosen and fills in the others.
 */
typedef struct GpumeParams {
    /* chosen */
    int algo;           ///< enum GpumeAlgo
    int cost;           ///< enum GpumeCostId
    int block;          ///< side of a block: 4, 8, 16, 32, 64 or 128; of the smallest: 4, 8, 16 or 32
    int range;          ///< search distance to each side, 1 to GPUME_MAX_RANGE; 0: what suits the search
    int exhaustive;     ///< nonzero: full search computes the whole cost of every candidate
    int always_sea;     ///< for tests: successive elimination even where it is slower
    int small_strips;   ///< for tests: a picture is searched in strips even where it could be at once
    int levels;         ///< hme: of the pyramid, 1 to GPUME_MAX_LEVELS; 0: as many as suit the picture
    int smooth;         ///< smoothness, 0 (off) to GPUME_MAX_SMOOTH, or GPUME_AUTO
    int sweeps;         ///< passes of propagation on a level, 1 to GPUME_MAX_SWEEPS; 0: 2, or 4 with hme
    int check;          ///< nonzero: consistency with the search in the opposite direction; or GPUME_AUTO
    int pel;            ///< vectors are in units of 1/pel sample: 1, 2, 4; 0: what suits the search
    int tree;           ///< nonzero: blocks of several sizes, from block to tree_max
    int tree_max;       ///< tree: side of a root, 16, 32 or 64, more than block; 0: GPUME_MAX_ROOT
    int lambda;         ///< tree: cost of a bit in 1/256, 0 to GPUME_MAX_LAMBDA; GPUME_AUTO: from qp
    int qp;             ///< tree: quantiser of H.264, 0 to GPUME_MAX_QP; GPUME_AUTO: 28
    int intra;          ///< nonzero: GpumeField.intra is wanted
    int same;           ///< nonzero: GpumeField.same is wanted
    int nb_references;  ///< 1 to GPUME_MAX_REFERENCES
    /**
     * Their distances in pictures: -1 is the previous picture, 1 the next one. All are
     * different. Also AVMotionVector.source. With check the opposites of those that are not
     * asked for follow them.
     */
    int distance[GPUME_MAX_REFERENCES];

    /* the picture's */
    int width;          ///< 1 to GPUME_MAX_SIDE
    int height;         ///< 1 to GPUME_MAX_SIDE
    int depth;          ///< significant bits of a sample, 8 to 16; more than 8: two bytes each
    int shift;          ///< bits below the sample in its two bytes (p010: 6)
    int step;           ///< bytes from sample to sample; more than those of a sample: a packed format
    int offset;         ///< of a row's first sample, bytes
    int big_endian;     ///< nonzero: two-byte samples have the high byte first
    int bw;             ///< blocks in a row,   ceil(width / block)
    int bh;             ///< blocks in a column, ceil(height / block)
    int nb_distances;   ///< that are searched: nb_references or, with check, their opposites, too
} GpumeParams;

/** Whether other components lie between the samples. */
GPUME_INLINE int gpume_is_packed(const GpumeParams *p)
{
    return p->step > (p->depth > 8 ? 2 : 1);
}

#endif /* AVFILTER_GPUME_CORE_PARAMS_ARGS_H */
