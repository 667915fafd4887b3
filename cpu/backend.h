/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The parts of the CPU backend: its state, and the functions of its tasks.
 */

#ifndef AVFILTER_GPUME_CPU_BACKEND_H
#define AVFILTER_GPUME_CPU_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#include "libavutil/buffer.h"

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/cpu/check.h"
#include "libavfilter/gpume/cpu/propagation.h"
#include "libavfilter/gpume/cpu/search.h"
#include "libavfilter/gpume/cpu/tree.h"
#include "libavfilter/gpume/util/tasks.h"

/** Tasks of each field of a search, without those of its steps. */
enum FieldTask {
    TASK_SEARCH,            ///< stages that search single blocks
    TASK_JUDGE,             ///< judgements of the check, row by row
    TASK_REPLACE,           ///< replacement of inconsistent vectors
    TASK_FINISH,            ///< conversion of the last step's vectors to the output
    TASK_TREE,              ///< leaves from the fields of all sizes, root by root; one task for all sizes
    TASK_INTRA,
    TASK_SAME,
    NB_FIELD_TASKS
};

enum PictureTask {
    TASK_COPY,
    TASK_SUMS,              ///< sums for successive elimination
    TASK_PLANES,            ///< planes for steps
    NB_PICTURE_TASKS
};

typedef struct CPUContext CPUContext;
typedef struct CPUSearch CPUSearch;

/** Tasks of a picture, which run once; stored at the end of its copy. */
typedef struct CPUPicture {
    CPUContext *s;
    const GpumePicture *pic;
    GpumeTask tasks[NB_PICTURE_TASKS];
} CPUPicture;

/** Blocks of one size, and the search for their vectors. Without a tree there is one size. */
typedef struct CPUSize {
    GpumeParams params;
    GpumePlan plan;
    /** Whether steps of size 0 compute its vectors, so that it needs no search. */
    int follows_smaller;
    int last_step;                  ///< the step, among those of size 0 or its own, that computes its final vectors
    int nb_search_stages;           ///< number of search stages of the plan; the other stages work on whole fields
    int follows;                    ///< nonzero: other stages or a tree follow
    int has_sums;                   ///< whether one of the stages is SEA
    GpumeSea sea;                   ///< for size 0 from pictures; for other sizes from the next smaller size
    size_t sums_offset;             ///< offset of the sums in a picture's copy, bytes
    GpumeWavefront wavefront;
    int has_wavefront;
    GpumePropagation propagation;
} CPUSize;

/** A field of a search in flight, with blocks of one size. */
typedef struct CPUField {
    CPUSearch *search;
    CPUSize *size;
    GpumeField *field;
    GpumeFront front;
    GpumeStepRun *steps;            ///< GPUME_MAX_STEPS steps, if there are any or a check; may be those of size 0
    GpumeCheck check;
    uint64_t *intra;                ///< for each row of blocks
    GpumeTreeRow *rows;             ///< for each row of roots; only one of the sizes has them
    GpumeTask tasks[NB_FIELD_TASKS];
    GpumeTask step_tasks[GPUME_MAX_STEPS];
} CPUField;

/** A search in flight, and its working memory. */
struct CPUSearch {
    CPUContext *s;
    GpumeSearch *search;
    CPUField *fields;               ///< GpumeParams.nb_distances fields for each size, smallest blocks first
    GpumeTaskList list;
};

struct CPUContext {
    GpumeBackendConfig cfg;
    GpumeScheduler scheduler;
    GpumeCost cost;
    GpumeCost sad;                  ///< SAD, for intra
    GpumeUntriedPoints untried;

    int copies_luma;                ///< whether luma must be copied, because samples are not native words
    ptrdiff_t copy_linesize;
    int has_sums;                   ///< whether any size has sums
    uint8_t *scratch;               ///< scratch memory of each worker, for the sums and planes of pictures
    size_t scratch_size;
    size_t picture_offset;          ///< offset of CPUPicture in a picture's copy, bytes

    CPUSize sizes[GPUME_MAX_SIZES];
    int nb_sizes;
    int is_tree_search;             ///< whether the blocks of all sizes are searched at once, in the task of size 0
    int first_part;                 ///< the smallest of these sizes whose blocks are parts of larger blocks
    size_t sums_size;               ///< size of a larger block's sums of costs in bytes; 0: sums of samples are used
    uint32_t bit_cost;              ///< for trees
    const GpumePlanesLayout *layout;    ///< layout of the planes that all sizes read

    CPUSearch *searches;            ///< a ring of cfg.max_searches searches
    GpumeTaskList **lists;          ///< lists of tasks, one for each search
    int first, nb;                  ///< searches in flight

    AVBufferPool *copies;           ///< pool of copies: luma in native words, sums if there are any, and a CPUPicture
    AVBufferPool *planes;
    AVBufferPool *mvs;
    AVBufferPool *costs;
    AVBufferPool *same;
};

static inline CPUPicture *made_of(const CPUContext *s, const GpumePicture *pic)
{
    return (CPUPicture *)(pic->copy->data + s->picture_offset);
}

/* Returns the field with the results so far. */
static inline const GpumeStepField *result_of(const CPUField *f)
{
    return &f->steps[f->size->last_step].f;
}

/* Returns the field of the same block size with which the check compares a field. */
static inline const CPUField *opposite_of(const CPUField *f)
{
    return f - (f->field - f->search->search->fields) + f->field->opposite;
}

/* Returns the field of size 0 and the same reference. */
static inline CPUField *smallest_of(CPUField *f)
{
    return f - (f->size - f->search->s->sizes) * f->search->s->cfg.params.nb_distances;
}

/** Tasks that search blocks: run by run of a wavefront, block by block, or all sizes of the largest blocks. */
int ff_gpume_cpu_take_run(void *field);
void ff_gpume_cpu_search_run(void *field, int worker, int start, int end);
void ff_gpume_cpu_search_blocks(void *field, int worker, int start, int end);
void ff_gpume_cpu_search_trees(void *field, int worker, int start, int end);

/** Tasks that turn vectors into results, see enum FieldTask. */
void ff_gpume_cpu_judge_rows(void *field, int worker, int start, int end);
void ff_gpume_cpu_replace_vectors(void *field, int worker, int start, int end);
void ff_gpume_cpu_finish_rows(void *field, int worker, int start, int end);
void ff_gpume_cpu_tree_rows(void *field, int worker, int start, int end);
void ff_gpume_cpu_intra_rows(void *field, int worker, int start, int end);
void ff_gpume_cpu_same_rows(void *field, int worker, int start, int end);

/** Joins the leaves of a field's rows of roots. */
void ff_gpume_cpu_join_rows(const CPUField *f);

#endif /* AVFILTER_GPUME_CPU_BACKEND_H */
