/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The steps of a plan on the CPU: fields with initial vectors, and passes of propagation over them;
 * see core/propagation.h.
 *
 * Rows that have progressed furthest run first: one thread makes a single sweep over the picture
 * while it is in the cache. A block is visited again only if it or a neighbour has changed, and a
 * candidate evaluated only if its penalty and the bound of its cost, known from the previous pass,
 * allow it to win. Blocks of a row that are not neighbours are visited in batches, so that none
 * waits for the memory of another.
 */

#ifndef AVFILTER_GPUME_CPU_PROPAGATION_H
#define AVFILTER_GPUME_CPU_PROPAGATION_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/cpu/cost.h"
#include "libavfilter/gpume/cpu/global.h"
#include "libavfilter/gpume/cpu/planes.h"

/** The vectors of a field at one step. Arrays of bh x bw. */
typedef struct GpumeStepField {
    GpumeVector *vectors;
    uint32_t *costs;        ///< costs of these vectors, without penalties
    /**
     * Time of the last change of each vector: 1 + start + 4 * pass + phase; 0: it has not changed
     * since the begin. Rows of bw + 1. NULL without passes.
     */
    uint8_t *changed;
    /**
     * Lower bounds of the costs of a block's neighbours' vectors and of those around its own, 16
     * for each block as in GpumeChoice; 0: unknown. NULL without passes.
     */
    uint32_t *bounds;
} GpumeStepField;

/** A step, with data that depends only on its size. */
typedef struct GpumeCpuStep {
    GpumeStep step;
    GpumeParams params;     ///< parameters of the level
    int start;              ///< time at which its passes begin, see GpumeStepField; if not 0, bounds are known
} GpumeCpuStep;

/** State of each thread. */
typedef struct GpumePropagationSearcher GpumePropagationSearcher;

/** The steps of a plan. */
typedef struct GpumePropagation {
    GpumeParams params;
    GpumePlanesLayout layout;
    GpumePixels pixels;
    const GpumeCost *cost;
    GpumeParams global;     ///< ff_gpume_global_params()
    GpumeCpuStep steps[GPUME_MAX_STEPS];
    int nb_steps;
    GpumePropagationSearcher *searchers;
    uint64_t nb_runs;       ///< number of runs that have begun
} GpumePropagation;

/** Number of waves: the initial vectors of rows, then the even and the odd columns of each pass. */
#define GPUME_MAX_WAVES (1 + 2 * (GPUME_MAX_SWEEPS + 1))

/** A step of a field of a search; preceded in memory by the earlier steps of the field. */
typedef struct GpumeStepRun {
    GpumePropagation *p;
    const GpumeCpuStep *s;
    const GpumeField *field;
    uint64_t number;        ///< unique in a backend
    GpumeStepField f;
    /** GPUME_BEGIN_GLOBAL: the searches of both directions. The second is only used if no other field has it. */
    GpumeGlobalField global[2];
    GpumeGlobalField *back; ///< the search in the opposite direction
    atomic_int *done;       ///< for each row: 1 after the initial vectors, plus one for each pass
    char before[64];        ///< a line of a cache has nothing else of this struct or another one beside next
    atomic_int next[GPUME_MAX_WAVES];   ///< the first row that no thread has taken
    char after[64];
} GpumeStepRun;

/**
 * @param cost       must stay valid
 * @param nb_threads number of threads that may call ff_gpume_propagation_run()
 * @return 0 or an AVERROR code; the caller calls uninit in both cases
 */
int ff_gpume_propagation_init(GpumePropagation *p, const GpumeParams *params, const GpumePlan *plan,
                              const GpumeCost *cost, int nb_threads);

/**
 * Allocates the memory of the steps of a field; without steps, that of vectors and costs.
 * @param runs GPUME_MAX_STEPS runs
 * @return 0 or an AVERROR code; the caller calls ff_gpume_propagation_free() in both cases
 */
int ff_gpume_propagation_alloc(GpumePropagation *p, GpumeStepRun *runs);

void ff_gpume_propagation_free(const GpumePropagation *p, GpumeStepRun *runs);

/**
 * Prepares all steps of a field. If search stages find vectors, they write to runs[0].f.
 * @param opposite with check, the runs of the field with exchanged pictures
 */
void ff_gpume_propagation_begin(GpumePropagation *p, GpumeStepRun *runs, GpumeStepRun *opposite,
                                const GpumeField *field);

/** Returns the number of units of a step; a unit is a row of a pass. */
int ff_gpume_propagation_units(const GpumeStepRun *run);

/** take() and run() of a step's task. The first step begins as soon as it can. */
int ff_gpume_propagation_take(void *run);
void ff_gpume_propagation_run(void *run, int worker, int start, int end);

/**
 * Returns the cost of a block's vector in units of 1/pel sample. The vector may point anywhere:
 * samples are repeated beyond the edges.
 */
uint32_t ff_gpume_propagation_cost(const GpumePropagation *p, const GpumeField *field,
                                   const GpumeBox *box, GpumeVector v, int pel);

void ff_gpume_propagation_uninit(GpumePropagation *p);

#endif /* AVFILTER_GPUME_CPU_PROPAGATION_H */
