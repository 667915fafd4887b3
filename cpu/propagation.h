/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The steps of a plan on the CPU: fields that begin with some vectors, and passes of
 * propagation over them; see core/propagation.h.
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
    uint32_t *costs;        ///< of these vectors, without penalties
    /**
     * When a vector changed last: 1 + start + 4 * pass + phase; 0: since the begin it has not. Rows of bw + 1. Without
     * passes NULL.
     */
    uint8_t *changed;
    /**
     * What a block's neighbours' vectors, and those around its own, cost it at least, by
     * sixteens as GpumeChoice has them; 0: not known. Without passes NULL.
     */
    uint32_t *bounds;
} GpumeStepField;

/** A step, with what depends on its size only. */
typedef struct GpumeCpuStep {
    GpumeStep step;
    GpumeParams params;     ///< the level's
    int start;              ///< the time at which its passes begin, see GpumeStepField; not 0: bounds are known
} GpumeCpuStep;

/** What each thread works with. */
typedef struct GpumeSearcher GpumeSearcher;

/** The steps of a plan. */
typedef struct GpumePropagation {
    GpumeParams params;
    GpumePlanesLayout layout;
    GpumePixels pixels;
    const GpumeCost *cost;
    GpumeParams global;     ///< ff_gpume_global_params()
    GpumeCpuStep steps[GPUME_MAX_STEPS];
    int nb_steps;
    GpumeSearcher *searchers;
    uint64_t nb_runs;       ///< that have begun
} GpumePropagation;

/** Rows of all columns begin; then in each pass the even ones are visited, and the odd ones. */
#define GPUME_MAX_WAVES (1 + 2 * (GPUME_MAX_SWEEPS + 1))

/** A step of a field of a search; before it in memory are the field's steps before. */
typedef struct GpumeStepRun {
    GpumePropagation *p;
    const GpumeCpuStep *s;
    const GpumeField *field;
    uint64_t number;        ///< no two of a backend have the same
    GpumeStepField f;
    /** GPUME_BEGIN_GLOBAL: the searches of both directions. The second one only where no other field has it. */
    GpumeGlobalField global[2];
    GpumeGlobalField *back; ///< the search in the opposite direction
    atomic_int *done;       ///< rows: 1 after the begin, one more after each pass
    atomic_int next[GPUME_MAX_WAVES];   ///< the first row that nobody has taken
} GpumeStepRun;

/**
 * @param cost has to stay
 * @param nb_threads that may call ff_gpume_propagation_run()
 * @return 0 or an AVERROR code; uninit may follow either
 */
int ff_gpume_propagation_init(GpumePropagation *p, const GpumeParams *params, const GpumePlan *plan,
                              const GpumeCost *cost, int nb_threads);

/**
 * Allocates what the steps of a field work on; without steps one that has vectors and costs.
 * @param runs GPUME_MAX_STEPS of them
 * @return 0 or an AVERROR code; ff_gpume_propagation_free() may follow either
 */
int ff_gpume_propagation_alloc(GpumePropagation *p, GpumeStepRun *runs);

void ff_gpume_propagation_free(const GpumePropagation *p, GpumeStepRun *runs);

/**
 * Gets all steps of a field ready. Where search stages find vectors, these come into runs[0].f.
 * @param opposite with check, the runs of the field whose pictures are exchanged
 */
void ff_gpume_propagation_begin(GpumePropagation *p, GpumeStepRun *runs, GpumeStepRun *opposite,
                                const GpumeField *field);

/** Returns the number of units of a step, of which each is a row and a pass. */
int ff_gpume_propagation_units(const GpumeStepRun *run);

/** A task's take() and run(), of a step. The first step begins when it can. */
int ff_gpume_propagation_take(void *run);
void ff_gpume_propagation_run(void *run, int worker, int start, int end);

/**
 * The cost of a block's vector in units of 1/pel sample, which may point anywhere: beyond
 * the edges samples are repeated.
 */
uint32_t ff_gpume_propagation_cost(const GpumePropagation *p, const GpumeField *field,
                                   const GpumeBox *box, GpumeVector v, int pel);

void ff_gpume_propagation_uninit(GpumePropagation *p);

#endif /* AVFILTER_GPUME_CPU_PROPAGATION_H */
