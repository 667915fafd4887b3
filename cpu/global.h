/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Global candidates on the CPU. A candidate is searched when a block needs it, and stored, because
 * most blocks need none.
 */

#ifndef AVFILTER_GPUME_CPU_GLOBAL_H
#define AVFILTER_GPUME_CPU_GLOBAL_H

#include <stdatomic.h>

#include "libavfilter/gpume/core/plan.h"
#include "libavfilter/gpume/cpu/cost.h"
#include "libavfilter/gpume/cpu/planes.h"

/** Number of candidates of a row that are compared together: 2 * GPUME_GLOBAL_RANGE + 1, and one more. */
#define GPUME_GLOBAL_COSTS 32

/**
 * Computes the costs of a row of candidates of a complete block. May read up to 40 bytes of each
 * row of the reference.
 * @param cost     output: costs of GPUME_GLOBAL_COSTS adjacent candidates
 * @param cur      the four rows of the block, one after the other
 * @param ref      the first sample of the first candidate
 * @param linesize bytes between rows of the reference
 * @return the least of these costs
 */
typedef unsigned (*GpumeGlobalRow)(uint16_t *cost, const uint8_t *cur, const uint8_t *ref, ptrdiff_t linesize);

/** The full search of one picture's blocks in another picture. */
typedef struct GpumeGlobalField {
    GpumeGlobalRow cost_row;
    GpumeCostOne sad[GPUME_GLOBAL_BLOCK];   ///< functions for blocks of 1, 2, ... columns of 8-bit samples
    GpumePlaneData cur, ref;    ///< GPUME_GLOBAL_LEVEL of both
    atomic_int *vectors;        ///< vector of each block, see global.c
} GpumeGlobalField;

/** @param p ff_gpume_global_params() @return 0 or AVERROR(ENOMEM) */
int ff_gpume_global_alloc(const GpumeParams *p, GpumeGlobalField *f);
void ff_gpume_global_free(GpumeGlobalField *f);

/** Sets functions that are faster on this processor. */
void ff_gpume_global_init_x86(GpumeGlobalField *f);

/** Forgets all vectors, for a search in other pictures. */
void ff_gpume_global_begin(const GpumeParams *p, GpumeGlobalField *f, GpumePlaneData cur, GpumePlaneData ref);

/**
 * Finds the global candidates of a block. Several threads may call this at the same time.
 * @param back the search with both pictures exchanged
 * @param box  the block, in the picture
 * @param own  its vector
 * @param v    set to the candidates, in samples of the picture
 * @return the number of candidates
 */
int ff_gpume_global_candidates(const GpumeParams *p, GpumeGlobalField *f, GpumeGlobalField *back,
                               const GpumeBox *box, GpumeVector own, GpumeVector v[GPUME_GLOBAL_PLACES]);

#endif /* AVFILTER_GPUME_CPU_GLOBAL_H */
