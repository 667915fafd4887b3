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
#include "libavfilter/gpume/cpu/planes.h"
#include "libavfilter/gpume/cpu/task.h"

/** The vectors of a field at one step. Arrays of bh x bw. */
typedef struct GpumeStepField {
    GpumeVector *vectors;
    uint32_t *costs;        ///< of these vectors, without penalties
    /** When a vector changed last: 1 + 4 * pass + phase; 0: since the begin it has not. */
    uint8_t *changed;
    /**
     * What a block's neighbours' vectors, and those around its own, cost it at least, by
     * sixteens as GpumeChoice has them; 0: not known.
     */
    uint32_t *bounds;
    atomic_int *done;       ///< rows: 1 after the begin, one more after each pass
} GpumeStepField;

/** A row of blocks and a pass, -1: the begin. */
typedef struct GpumeStepUnit {
    int16_t row, pass;
} GpumeStepUnit;

/** A step, with what depends on its size only. */
typedef struct GpumeCpuStep {
    GpumeStep step;
    GpumeParams params;     ///< the level's
    /** In an order in which each comes after those that it has to wait for. */
    GpumeStepUnit *units;
    int nb_units;           ///< of a field
    GpumeTask task;
} GpumeCpuStep;

/** The steps of a plan, and the fields that they work on. */
typedef struct GpumePropagation {
    GpumeParams params;
    GpumePlanesLayout layout;
    GpumePixels pixels;
    const GpumeCost *cost;
    GpumeCpuStep steps[GPUME_MAX_STEPS];
    int nb_steps;
    /** Fields of a search; the steps use both of them in turn. */
    GpumeStepField fields[GPUME_MAX_REFERENCES][2];
    int which[GPUME_MAX_REFERENCES];    ///< the one that was written last
} GpumePropagation;

/**
 * @param cost has to stay
 * @return 0 or an AVERROR code; uninit may follow either
 */
int ff_gpume_propagation_init(GpumePropagation *p, const GpumeParams *params,
                              const GpumePlan *plan, const GpumeCost *cost);

/**
 * Run all steps on all fields of a search. Where search stages have found vectors, they are in
 * fields[i][0], and which[i] is 0.
 */
void ff_gpume_propagation_run(GpumePropagation *p, const GpumeBackendConfig *cfg,
                              const GpumeSearch *search);

/** What the last step has left of field i. */
GpumeStepField *ff_gpume_propagation_result(GpumePropagation *p, int i);

/**
 * The cost of a block's vector in units of 1/pel sample, which may point anywhere: beyond
 * the edges samples are repeated.
 */
uint32_t ff_gpume_propagation_cost(const GpumePropagation *p, const GpumeField *field,
                                   const GpumeBox *box, GpumeVector v, int pel);

void ff_gpume_propagation_uninit(GpumePropagation *p);

#endif /* AVFILTER_GPUME_CPU_PROPAGATION_H */
