/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Searches pictures on a device and writes fields. A search consists of, in this order: kernels that
 * search block by block (launch.c; full_search.c chooses those of full search), steps after them
 * (motion.c) and, with a tree, the choice of leaves (tree.c). search.c runs them for each block size.
 */

#ifndef AVFILTER_GPUME_CUDA_SEARCH_H
#define AVFILTER_GPUME_CUDA_SEARCH_H

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/cuda/modules.h"
#include "libavfilter/gpume/cuda/motion_args.h"

/*
 * The functions called init load kernels into the current context, which is that of cuda; cuda must outlive them. They
 * return 0 or an AVERROR code with a message; uninit may follow either. Their structs are zeroed before.
 */

/** Where the leaves of a field are stored. GpumeField describes the arrays. */
typedef struct GpumeCudaLeaves {
    CUdeviceptr mvs, costs, sizes;
    CUdeviceptr blocks;         ///< AVMotionVector[bh][bw]: each of the smallest blocks, with the vector of its leaf
    CUdeviceptr sums;           ///< GpumeCudaTree.nb_sums bytes that are 0; they begin with GpumeCudaTreeSums
} GpumeCudaLeaves;

/** A field to be searched. */
typedef struct GpumeCudaSearchField {
    GpumeCudaPlane cur, ref;    ///< luma
    CUdeviceptr cur_planes, ref_planes;     ///< planes that ff_gpume_cuda_motion_planes() has made
    int reference;              ///< index in GpumeParams.distance
    int is_stored;              ///< nonzero: the field is stored to leaves
    GpumeCudaLeaves leaves;     ///< only mvs and costs without a tree
} GpumeCudaSearchField;

/* Search block by block. */

/** Bytes of shared memory that a thread block can have on every GPU. */
#define GPUME_CUDA_MAX_SHARED (48 << 10)

/**
 * Chooses a kernel that searches all blocks of one size, and its shape.
 * @param a         reads params and sets the part of the kernel
 * @param remaining nonzero: searches the squares that elimination leaves
 * @return NULL: there is none, or the kernel of the next stage is faster alone
 */
typedef const GpumeCudaModule *GpumeCudaShape(const GpumeCuda *cuda, GpumeCudaArgs *a, GpumeCudaLaunch *l,
                                              int remaining);

/** Full search, and successive elimination. */
GpumeCudaShape ff_gpume_cuda_shape_full, ff_gpume_cuda_shape_sea;

/** State that predictive searches keep from one search to the next. */
typedef struct GpumeCudaHistory {
    GpumeCudaBuffer vectors;    ///< by reference and age, followed by the ticket; zeroed if another kernel owns it
    unsigned epochs[GPUME_MAX_REFERENCES];  ///< epochs of the last search; 0: there was none
    unsigned nb_tickets;        ///< tickets that launched searches take
    CUstream stream;            ///< stream of the last search
    GpumeCudaLaunch gate;       ///< kernel that waits for the results of the previous search
} GpumeCudaHistory;

/** Kernels of a search, ready to be launched for pictures of one size. */
typedef struct GpumeCudaKernel {
    const GpumeCuda *cuda;
    /** init and launch set all members but cur, to, tree.sizes and, of fields, plane and reference. */
    GpumeCudaArgs args;
    /** Kernels in launch order. All but the first search the remaining blocks. */
    GpumeCudaLaunch launches[GPUME_MAX_STAGES];
    int nb_launches;
    int strip;                  ///< maximum rows of a scan's grid, whose costs are kept at a time; 0: all rows
    GpumeCudaBuffer work;       ///< args.remaining; of a scan args.tree.sums, then args.tree.counts; or nothing
    GpumeCudaHistory own;       ///< zeroed if there is none, or if another kernel's is used
    GpumeCudaHistory *history;  ///< history of predictive searches; NULL: there is none
} GpumeCudaKernel;

/**
 * Loads the kernels of a plan's search stages, if there are any.
 * @param before kernel with the same parameters on another stream, with which this kernel takes
 *               turns: this kernel continues its searches and must not outlive it; NULL: there is
 *               none
 */
int ff_gpume_cuda_kernel_init(GpumeCudaKernel *kernel, const GpumeCuda *cuda,
                              const GpumeParams *params, const GpumePlan *plan, GpumeCudaKernel *before);

/**
 * Loads the kernel that finds the vectors of all block sizes of these parameters in one search, a scan.
 * @return 1; 0: there is none; or an AVERROR code with a message
 */
int ff_gpume_cuda_scan_init(GpumeCudaKernel *kernel, const GpumeCuda *cuda, const GpumeParams *params);

/**
 * Launches the kernels for as many fields as args has, a scan for one. All launches of a kernel go to one stream
 * and none is replayed: each reads what earlier launches have written. If two kernels share their
 * history, a launch may overlap the last launch of the other kernel.
 */
CUresult ff_gpume_cuda_kernel_launch(GpumeCudaKernel *kernel, int nb_fields, CUstream stream);

void ff_gpume_cuda_kernel_uninit(GpumeCudaKernel *kernel);

/* Steps after the search block by block. */

/** Offsets of a picture's planes from the first byte of its buffer. */
typedef struct GpumeCudaPlanes {
    int nb_levels;              ///< 0: there are no levels
    size_t offset[GPUME_MAX_LEVELS];
    size_t linesize[GPUME_MAX_LEVELS];
    size_t parts;               ///< offset of the rows of four planes; not used if pel is 1
    size_t parts_linesize;
    size_t size;                ///< total bytes
} GpumeCudaPlanes;

/** A step, ready to be launched. */
typedef struct GpumeCudaStep {
    GpumeCudaLaunch launch;
    GpumeCudaStepArgs args;     ///< all members but nb_fields, pairs and the results of a search
    int level;                  ///< level of the pyramid
} GpumeCudaStep;

/** The steps of a plan, ready to be launched. */
typedef struct GpumeCudaMotion {
    const GpumeCuda *cuda;
    GpumeParams params;
    GpumeCudaPlanes planes;     ///< planes of every picture
    GpumeCudaLaunch pyramid, halves, global, judge, replace, export, intra; ///< no function: not needed
    GpumeCudaStep steps[GPUME_MAX_STEPS];
    int nb_steps;               ///< 0: searches need no steps
    int at_once;                ///< number of searches that run side by side
    int last_step[GPUME_MAX_SIZES]; ///< GpumePlan.last_step
    GpumeCudaGlobalArgs candidates;
    GpumeCudaCheckArgs check;
    GpumeCudaExportArgs results;
    GpumeCudaBuffer work;       ///< working fields; a part of them is 0 at first
    size_t zeroed, nb_zeroed;   ///< offset and bytes of the part that is 0 at first
    unsigned number;            ///< GpumeCudaStepArgs.first of the next step; 0: nothing is zeroed yet
    CUdeviceptr counters;       ///< unsigned[GPUME_CUDA_COUNTERS], which launches count from 0 on
    int nb_counters;            ///< number of counters that were used
    CUdeviceptr cells[2], blocks;   ///< lists of launch_global()
} GpumeCudaMotion;

int ff_gpume_cuda_motion_init(GpumeCudaMotion *m, const GpumeCuda *cuda,
                              const GpumeParams *params, const GpumePlan *plan, int at_once);

/** Makes the planes of a picture, m->planes.size bytes that were zeroed once; 0: searches need no planes. */
CUresult ff_gpume_cuda_motion_planes(GpumeCudaMotion *m, const GpumeCudaPlane *luma,
                                     CUdeviceptr planes, CUstream stream);

/**
 * Completes ff_gpume_cuda_search_launch() for the sizes of a plan, from the results of the search stages or from the
 * pictures alone.
 * @param to where the vectors and costs of each size and field are stored
 */
CUresult ff_gpume_cuda_motion_launch(GpumeCudaMotion *m, const GpumeCudaSearchField *fields, int nb_fields,
                                     const GpumeCudaStored (*to)[GPUME_CUDA_FIELDS], CUdeviceptr intra,
                                     CUstream stream);

void ff_gpume_cuda_motion_uninit(GpumeCudaMotion *m);

/* Blocks of several sizes. */

/** The choice of leaves, ready to be launched; zeroed if there is no tree. */
typedef struct GpumeCudaTree {
    const GpumeCuda *cuda;
    GpumeCudaLaunch decide, write;
    GpumeCudaTreeArgs args;     ///< fields are stored where sizes[] says
    GpumeCudaBuffer work;
    size_t nb_sums;             ///< bytes of a field's sums
} GpumeCudaTree;

int ff_gpume_cuda_tree_init(GpumeCudaTree *t, const GpumeCuda *cuda, const GpumeParams *params);

/** Returns where field i of a launch stores the vectors and costs of blocks of this size. */
GpumeCudaStored ff_gpume_cuda_tree_stored(const GpumeCudaTree *t, int size, int i);

/** Makes the leaves of the fields that are stored. */
CUresult ff_gpume_cuda_tree_launch(GpumeCudaTree *t, const GpumeCudaSearchField *fields, int nb_fields,
                                   CUstream stream);

void ff_gpume_cuda_tree_uninit(GpumeCudaTree *t);

/** A whole search, ready to be launched. */
typedef struct GpumeCudaSearch {
    GpumeParams params;
    int nb_sizes;               ///< sizes that are searched; also 1 where hme makes fields of all sizes
    int is_scanned;             ///< nonzero: the first kernel finds the vectors of all sizes
    GpumeCudaKernel kernels[GPUME_MAX_SIZES];   ///< by size, the smallest blocks first
    GpumeCudaMotion motions[GPUME_MAX_SIZES];
    GpumeCudaTree tree;
} GpumeCudaSearch;

/**
 * Initializes a search.
 * @param params  shift is that of the luma on the device, big_endian is 0
 * @param at_once number of searches that run side by side
 * @param before search with the same parameters on another stream, with which this search takes
 *               turns and whose results it reads as those of the previous search; this search must
 *               not outlive it. NULL: there is none
 */
int ff_gpume_cuda_search_init(GpumeCudaSearch *s, const GpumeCuda *cuda, const GpumeParams *params,
                              const GpumePlan *plan, int at_once, GpumeCudaSearch *before);

/**
 * Searches up to GPUME_CUDA_FIELDS fields. With check, there are two fields of opposite direction;
 * otherwise all fields have the same current picture. Fields that are not stored are last.
 * @param intra with GpumeParams.intra a uint64_t, 0 at first, for each field that is stored
 */
CUresult ff_gpume_cuda_search_launch(GpumeCudaSearch *s, const GpumeCudaSearchField *fields, int nb_fields,
                                     CUdeviceptr intra, CUstream stream);

void ff_gpume_cuda_search_uninit(GpumeCudaSearch *s);

#endif /* AVFILTER_GPUME_CUDA_SEARCH_H */
