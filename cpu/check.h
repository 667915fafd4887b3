/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The check in both directions on the CPU: finds the consistent vectors of two opposite fields, and
 * replaces the others. See core/propagation.h.
 */

#ifndef AVFILTER_GPUME_CPU_CHECK_H
#define AVFILTER_GPUME_CPU_CHECK_H

#include <stdint.h>

#include "libavfilter/gpume/core/params_args.h"
#include "libavfilter/gpume/core/searches.h"

/** Ring of consistent vectors, and of vectors that have not been replaced. */
#define GPUME_RING_CONSISTENT 0
#define GPUME_RING_NONE       UINT16_MAX

/** Judgements of a field. Arrays of bh x bw. */
typedef struct GpumeCheck {
    uint16_t *rings;        ///< ring in which each vector was replaced, from 1 on; or one of the above
    int *remaining;         ///< indices of the blocks that must still be replaced
} GpumeCheck;

/** @return 0 or an AVERROR code; the caller calls uninit in both cases */
int ff_gpume_check_init(GpumeCheck *check, const GpumeParams *params);

/**
 * Judges the blocks of a row of a field.
 * @param opposite the other field, before any replacement
 */
void ff_gpume_check_row(GpumeCheck *check, const GpumeParams *params, const GpumeVector *vectors,
                        const GpumeVector *opposite, int by);

/** Replaces the inconsistent vectors of a field, after all have been judged. */
void ff_gpume_check_replace(GpumeCheck *check, const GpumeParams *params, GpumeVector *vectors);

void ff_gpume_check_uninit(GpumeCheck *check);

#endif /* AVFILTER_GPUME_CPU_CHECK_H */
