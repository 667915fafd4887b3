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

#ifndef GPUME_INLINE
/** Begins every function in a header that device code reads. */
#define GPUME_INLINE static inline
#endif

/** Largest side of a block: AVMotionVector.w and .h have 8 bits. */
#define GPUME_MAX_BLOCK   128
#define GPUME_MIN_BLOCK     4
/** Largest search range, samples to each side. */
#define GPUME_MAX_RANGE  1024
/** Largest side of a picture: AVMotionVector.src_x = dst_x + dx has 16 bits with a sign. */
#define GPUME_MAX_SIDE  (32767 - GPUME_MAX_RANGE)
/** Largest distance of a reference that the option refs gives, in pictures. */
#define GPUME_MAX_REFS      8
/** Largest number of references of a picture: as many on both sides. */
#define GPUME_MAX_REFERENCES (2 * GPUME_MAX_REFS)
/** Largest strength of smoothing. */
#define GPUME_MAX_SMOOTH   64
/** Largest number of passes of propagation on a level. */
#define GPUME_MAX_SWEEPS   16
/** Largest number of levels of a pyramid: halving the largest picture leaves GPUME_COARSEST. */
#define GPUME_MAX_LEVELS   11
/** A picture with a side below this is not halved any more. */
#define GPUME_COARSEST     32

/** For parameters that say so: what suits the search. */
#define GPUME_AUTO (-1)

/** Costs of a candidate: C(ID, name, title). Each backend has a table with the same rows. */
#define GPUME_COSTS(C)                            \
    C(SAD,  sad,  "sum of absolute differences")  \
    C(SATD, satd, "sum of absolute transformed differences")

/**
 * Largest cost of a sample of a block, in units of the greatest sample. Of satd: a Hadamard
 * transform of n x n samples makes their root mean square n times as large, and it is halved,
 * or quartered where n is 8.
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
    int block;          ///< side of a block: 4, 8, 16, 32, 64 or 128
    int range;          ///< search distance to each side, 1 to GPUME_MAX_RANGE; 0: what suits the search
    int exhaustive;     ///< nonzero: full search computes the whole cost of every candidate
    int always_sea;     ///< for tests: successive elimination even where it is slower
    int levels;         ///< hme: of the pyramid, 1 to GPUME_MAX_LEVELS; 0: as many as suit the picture
    int smooth;         ///< strength of smoothing, 0 (off) to GPUME_MAX_SMOOTH, or GPUME_AUTO
    int sweeps;         ///< passes of propagation on a level, 1 to GPUME_MAX_SWEEPS; 0: 2
    int check;          ///< nonzero: compare with the search in the opposite direction; or GPUME_AUTO
    int pel;            ///< vectors are in units of 1/pel sample: 1, 2, 4; 0: what suits the search
    int intra;          ///< nonzero: GpumeField.intra is wanted
    int same;           ///< nonzero: GpumeField.same is wanted
    int nb_references;  ///< 1 to GPUME_MAX_REFERENCES
    /**
     * Their distances in pictures: -1 is the previous picture, 1 the next one. All are
     * different. Also AVMotionVector.source. With check the opposites of those that are not
     * asked for follow them.
     */
    int distance[GPUME_MAX_REFERENCES];

    /* of the picture */
    int width;          ///< 1 to GPUME_MAX_SIDE
    int height;         ///< 1 to GPUME_MAX_SIDE
    int depth;          ///< significant bits of a sample, 8 to 16; more than 8: two bytes each
    int shift;          ///< bits below the sample in its two bytes (p010: 6)
    int big_endian;     ///< nonzero: two-byte samples have the high byte first
    int bw;             ///< blocks in a row,   ceil(width / block)
    int bh;             ///< blocks in a column, ceil(height / block)
    int nb_distances;   ///< that are searched: nb_references or, with check, their opposites, too
} GpumeParams;

#endif /* AVFILTER_GPUME_CORE_PARAMS_ARGS_H */
