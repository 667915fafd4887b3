/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * True motion: declarations that the host side and the kernels share. Pictures are separate planes
 * on the device, without padding bits, with rows aligned to 64 bytes that may be read beyond their
 * end: the levels of a pyramid and, at level 0, the half samples. The only parameter of each kernel
 * is one of these structs.
 */

#ifndef AVFILTER_GPUME_CUDA_MOTION_ARGS_H
#define AVFILTER_GPUME_CUDA_MOTION_ARGS_H

#include "libavfilter/gpume/core/params_args.h"
#include "libavfilter/gpume/core/propagation.h"
#include "libavfilter/gpume/cuda/search_args.h"

/** Readable bytes behind each row of a plane: a row of a block of 16, and a word. */
#define GPUME_CUDA_PLANE_PADDING 64

/** Side of the square of the pyramid's first level that a thread block computes. */
#define GPUME_CUDA_PYRAMID_TILE    64
#define GPUME_CUDA_PYRAMID_THREADS 256
/** Number of levels that a thread block writes, with the first. */
#define GPUME_CUDA_PYRAMID_LEVELS  7

/**
 * Bytes from the beginning of a row of the four planes of enum GpumePlane to the row of one plane.
 * Rows of the planes alternate, so that data of neighbouring vectors are close in memory.
 */
#define GPUME_CUDA_PARTS_PLANE(linesize, plane) ((plane) * ((linesize) / GPUME_NB_PLANES))

/** Threads of a thread block that computes half samples, and the columns and rows of each thread. */
#define GPUME_CUDA_HALVES_THREADS  128
#define GPUME_CUDA_HALVES_COLUMNS    4
#define GPUME_CUDA_HALVES_ROWS       4

/** Candidates of a block in a pass: the vectors of its neighbours, and vectors around its own. */
#define GPUME_CUDA_STEP_CANDIDATES  16
/** Lanes that evaluate the candidates of a block of this side; side 0, any, has two lanes for each candidate. */
#define GPUME_CUDA_STEP_LANES(side) ((side) ? 16 : 32)
/**
 * Whether a warp first decides which of 32 blocks it must search, if many searches run side by side. For a search alone
 * that is slower, because it has too few warps then, and so it is for larger blocks, of which more must be searched.
 */
#define GPUME_CUDA_STEP_DECIDES(side) ((side) == 4)
/** Candidates that are tested at a time when a step begins; parents and zero are five candidates. */
#define GPUME_CUDA_STEP_BEGINNERS    8
/** Lanes of a block when a step begins; for SAD of blocks of any size, the whole warp. */
#define GPUME_CUDA_STEP_BEGIN_LANES(side, cost)         \
    (!(side) && (cost) == GPUME_COST_SAD ? 32 :         \
     GPUME_CUDA_STEP_BEGINNERS * GPUME_CUDA_STEP_LANES(side) / 16)
/** Threads of a thread block; each warp takes tickets. */
#define GPUME_CUDA_STEP_THREADS     128
/** Number of counters; each is used once until all are zeroed. */
#define GPUME_CUDA_COUNTERS        4096
/**
 * Minimum number of thread blocks on a multiprocessor, as measured: more of them hide more memory
 * latency, fewer of them have more registers for loads.
 */
#define GPUME_CUDA_STEP_CTAS(side, parts, depth)                                        \
    ((side) == 4 ? 8 : (side) == 8 && (parts) && (depth) == 8 ? 7 : 6)
/** If a phase has at least twice this many units, a ticket has several, one after the other. */
#define GPUME_CUDA_STEP_WARPS       2048
#define GPUME_CUDA_STEP_ROUNDS         4
/** Number of searches side by side up to which each has as many warps as a phase has tickets. */
#define GPUME_CUDA_FEW_AT_ONCE         4
/**
 * Whether passes store the costs of candidates and divide the remaining candidates of a block among
 * more lanes, which is faster where candidates are the most expensive.
 */
#define GPUME_CUDA_STEP_REMEMBERS(side, parts) ((side) >= 8 && (parts))

#define GPUME_CUDA_JUDGE_THREADS    128
#define GPUME_CUDA_FILL_THREADS    1024
#define GPUME_CUDA_EXPORT_THREADS   128
/** Number of lanes that share a block. */
#define GPUME_CUDA_EXPORT_LANES(block) ((block) > 64 ? 32 : (block) > 4 ? (block) / 2 : 1)
/** Words of shared memory: a vector for each thread. */
#define GPUME_CUDA_EXPORT_SHARED     (GPUME_CUDA_EXPORT_THREADS * GPUME_VECTOR_WORDS)
#define GPUME_CUDA_INTRA_THREADS    256
/** Blocks that a warp computes, one after the other. */
#define GPUME_CUDA_INTRA_BLOCKS       8

/** Makes levels of a pyramid. */
typedef struct GpumeCudaPyramidArgs {
    GpumeCudaPlane src;             ///< the level before the first of dst or, with copy, the same level
    int width, height;              ///< size of src in samples
    int shift;                      ///< bits below the samples of src
    int copy;                       ///< nonzero: dst[0] has the size of src, otherwise half of it
    int nb_levels;                  ///< number of levels in dst
    GpumeCudaPlane dst[GPUME_CUDA_PYRAMID_LEVELS];
} GpumeCudaPyramidArgs;

/** Makes the planes of half samples of level 0. */
typedef struct GpumeCudaHalvesArgs {
    GpumeCudaPlane plane;           ///< whole samples
    GpumeCudaPlane parts;           ///< GPUME_CUDA_PARTS_PLANE()
    int width, height, depth;
} GpumeCudaHalvesArgs;

/** The pictures of a field: planes of one level or, for subpel vectors, of half samples. */
typedef struct GpumeCudaPair {
    unsigned long long cur;
    unsigned long long ref;
} GpumeCudaPair;

/** A step of a plan, for all fields. Arrays are [nb_fields][bh][bw]. */
typedef struct GpumeCudaStepArgs {
    GpumeParams params;             ///< parameters of the step
    int linesize;                   ///< bytes between rows of cur
    int ref_linesize;
    int nb_fields;
    GpumeCudaPair pairs[GPUME_CUDA_FIELDS];
    int begin;                      ///< enum GpumeBegin
    int factor;                     ///< factor for the vectors of the previous step
    int from_bw, from_bh;           ///< size in blocks of the field with which the step begins
    unsigned long long from_vectors;    ///< GpumeVector
    unsigned long long from_costs;      ///< uint32_t
    unsigned long long vectors;     ///< GpumeVector
    unsigned long long costs;       ///< uint32_t: D
    /**
     * unsigned long long: the vector in the low 32 bits; above it, in 16 bits each, the phase of
     * the last visit and the phase of the last change
     */
    unsigned long long states;
    unsigned long long known;       ///< unsigned long long: D in the low 32 bits; above it the phase in which the
                                    ///< vector changed
    /**
     * unsigned[][GPUME_CUDA_STEP_CANDIDATES]: lower bound of the cost of each candidate, without
     * the bits below bound_shift; in the high 16 bits the phase in which the bound was stored
     */
    unsigned long long bounds;
    int bound_shift;
    int threshold, nb_passes;
    unsigned first;                 ///< number of the beginning, counted as a phase; phases of passes follow
    unsigned long long ticket;      ///< unsigned: the next ticket, 0 at first
    unsigned nb_tickets;
    unsigned tickets[1 + GPUME_NB_PHASES];  ///< tickets of the beginning, and of each phase of a pass
    int nb_of_warp;                 ///< maximum number of tickets that a warp takes
    int warps[3];                   ///< units of a warp in a row: at the beginning, in phases of even columns, in
                                    ///< phases of odd columns
    unsigned reciprocals[3];        ///< 2^32 divided by these, rounded down, at most UINT32_MAX
    int rounds[2];                  ///< units of a ticket: at the beginning, in phases
    int decides;                    ///< whether warps do what GPUME_CUDA_STEP_DECIDES() says
} GpumeCudaStepArgs;

#define GPUME_CUDA_GLOBAL_THREADS   128
#define GPUME_CUDA_CHOOSE_THREADS   128
/** Maximum number of thread blocks; their warps process the entries of longer lists by turns. */
#define GPUME_CUDA_GLOBAL_GRID     1024
/** Bytes of blocks in which a lane sums many rows of one match, because that takes less time than the sum of a warp. */
#define GPUME_CUDA_SMALL_BLOCK      512

/**
 * Searches for global candidates. Arrays of cells, the blocks of the coarse level, are
 * [nb_searches][bh][bw]: of all fields, then of all opposite directions unless these are also fields.
 * Only the cells on lists are searched.
 */
typedef struct GpumeCudaGlobalArgs {
    GpumeParams params;             ///< ff_gpume_global_params()
    int linesize;
    int nb_fields, nb_searches;
    GpumeCudaPair pairs[GPUME_CUDA_FIELDS];
    unsigned long long vectors;     ///< GpumeVector of each cell
    unsigned long long marks;       ///< unsigned for each cell: epoch, if the cell is on a list
    unsigned epoch;
    unsigned long long cells, count;    ///< the list to be searched: unsigned[], unsigned
    unsigned long long to_cells, to_count;  ///< the list of further cells, to which they are appended; 0: there is none
} GpumeCudaGlobalArgs;

/** Chooses among global candidates. */
typedef struct GpumeCudaChooseArgs {
    GpumeCudaStepArgs step;
    GpumeCudaGlobalArgs global;
    unsigned long long blocks, count;   ///< list of doubtful blocks, indices in all fields: unsigned[], unsigned
    int is_listing;                 ///< nonzero: copies all vectors and makes the lists of blocks and of cells
} GpumeCudaChooseArgs;

/** Ring of a vector that is not yet replaced. */
#define GPUME_CUDA_RING_LEFT ~0u

/** Judges and replaces vectors. Arrays are [nb_fields][bh][bw]. */
typedef struct GpumeCudaCheckArgs {
    GpumeParams params;             ///< parameters of the picture
    int nb_fields;                  ///< fields that are judged by their opposites; only the first of them are
                                    ///< replaced
    unsigned long long vectors;     ///< GpumeVector
    unsigned long long rings;       ///< unsigned: 0: consistent; otherwise the ring in which the vector was replaced
    unsigned long long lists[2];    ///< unsigned: remaining blocks, in any order
    unsigned long long medians;     ///< unsigned: new vectors of the remaining blocks
    unsigned long long counts;      ///< unsigned[nb_fields]: blocks in lists[0]; 0 before and after
} GpumeCudaCheckArgs;

/** Stores AVMotionVectors and costs. */
typedef struct GpumeCudaExportArgs {
    GpumeParams params;
    long long linesize;
    long long parts;                ///< bytes from the plane of whole samples to parts
    long long parts_linesize;
    GpumeCudaPair pairs[GPUME_CUDA_FIELDS];
    int source[GPUME_CUDA_FIELDS];   ///< AVMotionVector.source
    unsigned long long vectors;     ///< GpumeVector
    unsigned long long from_costs;  ///< D of consistent vectors
    unsigned long long rings;       ///< 0: all vectors are consistent
    unsigned long long mvs[GPUME_CUDA_FIELDS];      ///< AVMotionVector[bh][bw]
    unsigned long long costs[GPUME_CUDA_FIELDS];    ///< uint32_t[bh][bw]
} GpumeCudaExportArgs;

/** Adds up differences from the means of blocks. */
typedef struct GpumeCudaIntraArgs {
    GpumeParams params;
    GpumeCudaPlane cur[GPUME_CUDA_FIELDS];   ///< current picture of each field
    unsigned long long sums;        ///< unsigned long long[nb_fields]; 0 at first
} GpumeCudaIntraArgs;

#endif /* AVFILTER_GPUME_CUDA_MOTION_ARGS_H */
