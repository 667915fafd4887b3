/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The parameters of a search. The host and device code include this file.
 */

#ifndef AVFILTER_GPUME_CORE_PARAMS_ARGS_H
#define AVFILTER_GPUME_CORE_PARAMS_ARGS_H

#include "libavfilter/gpume/field/field_args.h"

/** Largest smoothness. */
#define GPUME_MAX_SMOOTH   64
/** Largest number of passes of propagation on a level. */
#define GPUME_MAX_SWEEPS   16
/** Largest number of levels of a pyramid, with which the largest picture is halved to GPUME_COARSEST. */
#define GPUME_MAX_LEVELS   11
/** A picture with a side below this is not halved. */
#define GPUME_COARSEST     32

/** Largest side of a root: a block that may be split into smaller ones. */
#define GPUME_MAX_ROOT     64
/** Largest number of sizes of blocks: 4, 8, 16, 32, 64. */
#define GPUME_MAX_SIZES     5
/** Largest cost of a bit, in 1/256 of a cost. */
#define GPUME_MAX_LAMBDA   65536
/** Largest quantiser from which the cost of a bit is derived. */
#define GPUME_MAX_QP       51

/** Value of some parameters: chosen by the search. */
#define GPUME_AUTO (-1)

/** Costs of a candidate: C(ID, name, title). Each backend has a table with the same rows. */
#define GPUME_COSTS(C)                            \
    C(SAD,  sad,  "sum of absolute differences")  \
    C(SATD, satd, "sum of absolute transformed differences")

/**
 * Largest cost of a sample of a block, in units of the largest sample; that of satd. A Hadamard
 * transform of n x n samples multiplies their root mean square by n; the result is halved, or
 * quartered if n is 8.
 */
#define GPUME_MAX_COST 2

enum GpumeCostId {
#define GPUME_COST_ID(ID, name, title) GPUME_COST_##ID,
    GPUME_COSTS(GPUME_COST_ID)
#undef GPUME_COST_ID
    GPUME_NB_COSTS
};

/**
 * Parameters of a search, constant while a backend is open. Lengths are in luma samples.
 * ff_gpume_params_init() validates the chosen parameters and sets the others.
 */
typedef struct GpumeParams {
    /* chosen by the user */
    int algo;           ///< enum GpumeAlgo
    int cost;           ///< enum GpumeCostId
    int block;          ///< side of a block: 4, 8, 16, 32, 64 or 128; with tree that of the smallest blocks: 4, 8, 16
                        ///< or 32
    int range;          ///< search distance to each side, 1 to GPUME_MAX_RANGE; 0: chosen by the search
    int exhaustive;     ///< nonzero: full search computes the complete cost of every candidate
    int always_sea;     ///< for tests: use successive elimination even where it is slower
    int small_strips;   ///< for tests: search a picture in strips even where this is not needed
    int levels;         ///< hme: levels of the pyramid, 1 to GPUME_MAX_LEVELS; 0: chosen by the size of the picture
    int smooth;         ///< smoothness, 0 (off) to GPUME_MAX_SMOOTH, or GPUME_AUTO
    int sweeps;         ///< passes of propagation on a level, 1 to GPUME_MAX_SWEEPS; 0: 2, or 4 with hme
    int check;          ///< nonzero: consistency with the search in the opposite direction; or GPUME_AUTO
    int pel;            ///< vectors are in units of 1/pel sample: 1, 2, 4; 0: chosen by the search
    int tree;           ///< nonzero: blocks of several sizes, from block to tree_max
    int tree_max;       ///< tree: side of a root, 16, 32 or 64, more than block; 0: GPUME_MAX_ROOT
    int lambda;         ///< tree: cost of a bit in 1/256, 0 to GPUME_MAX_LAMBDA; GPUME_AUTO: from qp
    int qp;             ///< tree: quantiser of H.264, 0 to GPUME_MAX_QP; GPUME_AUTO: 28
    int intra;          ///< nonzero: GpumeField.intra is requested
    int same;           ///< nonzero: GpumeField.same is requested
    int nb_references;  ///< 1 to GPUME_MAX_REFERENCES
    /**
     * Distances of the references in pictures: -1 is the previous picture, 1 the next; all are
     * different. Equal to AVMotionVector.source. With check, they are followed by opposite
     * distances that are not requested.
     */
    int distance[GPUME_MAX_REFERENCES];

    /* derived from the picture */
    int width;          ///< 1 to GPUME_MAX_SIDE
    int height;         ///< 1 to GPUME_MAX_SIDE
    int depth;          ///< significant bits of a sample, 8 to 16; more than 8: two bytes each
    int shift;          ///< bits below the sample in its two bytes (p010: 6)
    int step;           ///< bytes between samples; more than the size of a sample in packed formats
    int offset;         ///< bytes from the beginning of a row to its first sample
    int big_endian;     ///< nonzero: two-byte samples have the high byte first
    int bw;             ///< blocks in a row,   ceil(width / block)
    int bh;             ///< blocks in a column, ceil(height / block)
    int nb_distances;   ///< number of searched distances: nb_references or, with check, including the opposites
} GpumeParams;

/** Returns whether there are other components between the samples. */
GPUME_INLINE int gpume_is_packed(const GpumeParams *p)
{
    return p->step > (p->depth > 8 ? 2 : 1);
}

#endif /* AVFILTER_GPUME_CORE_PARAMS_ARGS_H */
