/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The check in both directions on the CPU: which vectors of two opposite fields are
 * consistent, and what replaces the others. See core/propagation.h.
 */

#ifndef AVFILTER_GPUME_CPU_CHECK_H
#define AVFILTER_GPUME_CPU_CHECK_H

#include <stdint.h>

#include "libavfilter/gpume/core/params_args.h"
#include "libavfilter/gpume/core/searches.h"

/** A consistent vector's ring, and that of one that nothing has replaced. */
#define GPUME_RING_CONSISTENT 0
#define GPUME_RING_NONE       UINT16_MAX

/** Judgements of a field. Arrays of bh x bw. */
typedef struct GpumeCheck {
    uint16_t *rings;        ///< in which ring a vector was replaced, from 1 on; or one of the above
    int *remaining;         ///< blocks that are still to be replaced
} GpumeCheck;

/** @return 0 or an AVERROR code; uninit may follow either */
int ff_gpume_check_init(GpumeCheck *check, const GpumeParams *params);

/** Judge the blocks of a row of a field. @param opposite the other field, not yet changed */
void ff_gpume_check_row(GpumeCheck *check, const GpumeParams *params, const GpumeVector *vectors,
                        const GpumeVector *opposite, int by);

/** Replace the inconsistent vectors of a field, after all have been judged. */
void ff_gpume_check_replace(GpumeCheck *check, const GpumeParams *params, GpumeVector *vectors);

void ff_gpume_check_uninit(GpumeCheck *check);

#endif /* AVFILTER_GPUME_CPU_CHECK_H */
