/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * True motion: what the host side and the kernels share. Pictures are planes of their own
 * on the device, without padding bits, with rows at addresses of 64 bytes
 * that may be read beyond their end; the levels of a pyramid, and at level 0 the samples
 * half way between. Each kernel's only parameter is one of these structs.
 */

#ifndef AVFILTER_GPUME_CUDA_MOTION_ARGS_H
#define AVFILTER_GPUME_CUDA_MOTION_ARGS_H

#include "libavfilter/gpume/core/params_args.h"
#include "libavfilter/gpume/core/propagation.h"
#include "libavfilter/gpume/cuda/search_args.h"

/** Bytes behind each row of a plane that can be read: a row of a block of 16, and a word. */
#define GPUME_CUDA_PLANE_PADDING 64

/** Side of a square of the pyramid's first level that a block of threads has. */
#define GPUME_CUDA_PYRAMID_TILE    64
#define GPUME_CUDA_PYRAMID_THREADS 256
/** Levels that it writes, with the first. */
#define GPUME_CUDA_PYRAMID_LEVELS  7

/**
 * Bytes from the beginning of a row of all four planes of enum GpumePlane to that of one of them: a
 * row of each in turn, so that what vectors next to each other need is not far apart.
 */
#define GPUME_CUDA_PARTS_PLANE(linesize, plane) ((plane) * ((linesize) / GPUME_NB_PLANES))

/** Samples of a tile of half samples, and words of shared memory. */
#define GPUME_CUDA_HALVES_WIDTH    64
#define GPUME_CUDA_HALVES_HEIGHT   16
#define GPUME_CUDA_HALVES_THREADS  256
#define GPUME_CUDA_HALVES_SHARED                                                        \
    ((GPUME_CUDA_HALVES_HEIGHT + 5) * (2 * GPUME_CUDA_HALVES_WIDTH + 5))

/** Candidates of a block in a pass: its neighbours' vectors, and those around its own. */
#define GPUME_CUDA_STEP_CANDIDATES  16
/** Lanes that evaluate the candidates of a block of this side: each one, or a share of one. */
#define GPUME_CUDA_STEP_LANES(side) ((side) == 4 || (side) == 8 ? 16 : 32)
/** Candidates that are tried at a time when a step begins; parents and zero are five. */
#define GPUME_CUDA_STEP_BEGINNERS    8
/** Lanes that a block has then; sums of differences of blocks of any size are added up by a warp. */
#define GPUME_CUDA_STEP_BEGIN_LANES(side, cost)         \
    (!(side) && (cost) == GPUME_COST_SAD ? 32 :         \
     GPUME_CUDA_STEP_BEGINNERS * GPUME_CUDA_STEP_LANES(side) / 16)
/** Threads of a block of threads, which has a ticket. */
#define GPUME_CUDA_STEP_THREADS     128
/**
 * How many of those a multiprocessor is to have, as measured: the more, the better they wait for
 * memory, the fewer, the more registers they have to load at a time.
 */
#define GPUME_CUDA_STEP_CTAS(side, parts, depth)                                        \
    ((side) == 4 ? 8 : (side) != 16 ? 6 : (depth) == 10 ? 5 : (depth) > 8 ? 6 + !!(parts) : (parts) ? 6 : 4)
/** Where a phase has twice so many warps or more, those of a ticket have several blocks, one after the other. */
#define GPUME_CUDA_STEP_WARPS       2048
#define GPUME_CUDA_STEP_ROUNDS         4
/**
 * Whether passes remember what candidates cost, and divide what is left of a block among more lanes:
 * that pays where a candidate takes longest.
 */
#define GPUME_CUDA_STEP_REMEMBERS(side, parts) ((side) >= 8 && (parts))

#define GPUME_CUDA_JUDGE_THREADS    128
#define GPUME_CUDA_FILL_THREADS    1024
#define GPUME_CUDA_EXPORT_THREADS   128
/** Blocks of a warp. */
#define GPUME_CUDA_EXPORT_BLOCKS      2
/** Blocks from this side on are a block of threads' each: strips of them, as high as areas of satd.cuh, a warp's. */
#define GPUME_CUDA_EXPORT_LARGE      32
#define GPUME_CUDA_EXPORT_STRIP       8
#define GPUME_CUDA_EXPORT_LARGE_THREADS 256
/** Words of shared memory: one for each warp. */
#define GPUME_CUDA_EXPORT_SHARED     (GPUME_CUDA_EXPORT_LARGE_THREADS / 32)
#define GPUME_CUDA_INTRA_THREADS    256
/** Blocks of a warp, one after the other. */
#define GPUME_CUDA_INTRA_BLOCKS       8

/** Make the levels of a pyramid. */
typedef struct GpumeCudaPyramidArgs {
    GpumeCudaPlane src;             ///< the level before the first of dst or, with copy, the same
    int width, height;              ///< samples of src
    int shift;                      ///< bits below its samples
    int copy;                       ///< nonzero: dst[0] is src, else half of it
    int nb_levels;                  ///< of dst
    GpumeCudaPlane dst[GPUME_CUDA_PYRAMID_LEVELS];
} GpumeCudaPyramidArgs;

/** Make the planes of half samples of level 0. */
typedef struct GpumeCudaHalvesArgs {
    GpumeCudaPlane plane;           ///< the whole samples
    GpumeCudaPlane parts;           ///< GPUME_CUDA_PARTS_PLANE()
    int width, height, depth;
} GpumeCudaHalvesArgs;

/** The pictures of a field: planes of one level or, for subpel vectors, half samples. */
typedef struct GpumeCudaPair {
    unsigned long long cur;
    unsigned long long ref;
} GpumeCudaPair;

/** A step of a plan, for all fields. Arrays are [nb_fields][bh][bw]. */
typedef struct GpumeCudaStepArgs {
    GpumeParams params;             ///< of the step
    int linesize;                   ///< of cur
    int ref_linesize;
    int nb_fields;
    GpumeCudaPair pairs[GPUME_CUDA_FIELDS];
    int begin;                      ///< enum GpumeBegin
    int factor;                     ///< vectors of the step before are multiplied by this
    int from_bw, from_bh;           ///< blocks of the field that it begins with
    unsigned long long from_vectors;    ///< GpumeVector
    unsigned long long from_costs;      ///< uint32_t
    unsigned long long vectors;     ///< GpumeVector
    unsigned long long costs;       ///< uint32_t: D
    /** unsigned long long: vector; above it the phases in which it was visited last, and changed, 16 bits each */
    unsigned long long states;
    unsigned long long known;       ///< unsigned long long: D; above it the phase in which the vector changed
    /** unsigned[][GPUME_CUDA_STEP_CANDIDATES]: what each costs at least, without bits below bound_shift; above
        16 bits the phase in which that was known */
    unsigned long long bounds;
    int bound_shift;
    int threshold, nb_passes;
    unsigned first;                 ///< number of the beginning as a phase; those of passes follow
    unsigned long long ticket;      ///< unsigned: the next
    unsigned first_ticket;
    unsigned end[1 + GPUME_NB_PHASES];  ///< the first ticket behind the beginning, and behind phases of a pass
    int warps[3];                   ///< of a row: when it begins, in phases of even columns and of odd ones
    int rounds[2];                  ///< of a ticket's warps, one after the other: when it begins, in phases
} GpumeCudaStepArgs;

#define GPUME_CUDA_GLOBAL_THREADS   128
#define GPUME_CUDA_CHOOSE_THREADS   128
/** Blocks of a warp, one after the other. Few blocks have candidates, but these are often side by side. */
#define GPUME_CUDA_CHOOSE_BLOCKS      1

/** Search for global candidates. */
typedef struct GpumeCudaGlobalArgs {
    GpumeParams params;             ///< ff_gpume_global_params()
    int linesize;
    int nb_fields;
    GpumeCudaPair pairs[GPUME_CUDA_FIELDS];
    /** GpumeVector[][bh][bw]: of all fields, then of all opposite directions unless these are fields, too. */
    unsigned long long vectors;
} GpumeCudaGlobalArgs;

/** Take global candidates. */
typedef struct GpumeCudaChooseArgs {
    GpumeCudaStepArgs step;
    GpumeCudaGlobalArgs global;
    int nb_searches;                ///< of global
} GpumeCudaChooseArgs;

/** The ring of a vector that is not yet replaced. */
#define GPUME_CUDA_RING_LEFT ~0u

/** Judge and replace vectors. Arrays are [nb_fields][bh][bw]. */
typedef struct GpumeCudaCheckArgs {
    GpumeParams params;             ///< of the picture
    int nb_fields;                  ///< judged by their opposites; some of the first are replaced
    unsigned long long vectors;     ///< GpumeVector
    unsigned long long rings;       ///< unsigned: 0 is consistent, else in which ring it was replaced
    unsigned long long lists[2];    ///< unsigned: blocks that are left, in any order
    unsigned long long medians;     ///< unsigned: their new vectors
    unsigned long long counts;      ///< unsigned[nb_fields]: blocks in lists[0]; 0 at first, and in the end
} GpumeCudaCheckArgs;

/** Store AVMotionVectors and costs. */
typedef struct GpumeCudaExportArgs {
    GpumeParams params;
    long long linesize;
    long long parts;                ///< bytes from a plane of whole samples to parts
    long long parts_linesize;
    GpumeCudaPair pairs[GPUME_CUDA_FIELDS];
    int source[GPUME_CUDA_FIELDS];   ///< AVMotionVector.source
    unsigned long long vectors;     ///< GpumeVector
    unsigned long long from_costs;  ///< D of the consistent ones
    unsigned long long rings;       ///< or 0: all are consistent
    unsigned long long mvs[GPUME_CUDA_FIELDS];      ///< AVMotionVector[bh][bw]
    unsigned long long costs[GPUME_CUDA_FIELDS];    ///< uint32_t[bh][bw]
} GpumeCudaExportArgs;

/** Add up the differences from the means of blocks. */
typedef struct GpumeCudaIntraArgs {
    GpumeParams params;
    GpumeCudaPlane cur[GPUME_CUDA_FIELDS];   ///< of each field
    unsigned long long sums;        ///< unsigned long long[nb_fields]; 0 at first
} GpumeCudaIntraArgs;

#endif /* AVFILTER_GPUME_CUDA_MOTION_ARGS_H */
