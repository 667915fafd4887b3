/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The functions of the CPU backend that have versions for processors.
 */

#ifndef AVFILTER_GPUME_MVSTAB_DSP_H
#define AVFILTER_GPUME_MVSTAB_DSP_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/mvstab/arithmetic.h"

/** Where an output sample is read. */
typedef struct MvstabSource {
    const uint8_t *first;       ///< the first sample of the first row of taps
    int x, y;                   ///< rows of the table of taps in both directions
} MvstabSource;

/**
 * Interpolates n samples. Reads sources, and writes samples, up to the next multiple of 4.
 * @param dst    uint8_t or uint16_t
 * @param stride bytes between rows of src
 * @param taps   ff_mvstab_taps
 * @param max    largest sample
 */
typedef void MvstabWarpSamples(void *dst, const MvstabSource *src, ptrdiff_t stride,
                               const int8_t (*taps)[MVSTAB_NB_TAPS], int n, int max);

typedef struct MvstabDSP {
    MvstabWarpSamples *warp;
} MvstabDSP;

extern const int8_t ff_mvstab_taps[64][MVSTAB_NB_TAPS];

void ff_mvstab_dsp_init(MvstabDSP *dsp, int depth);

MvstabWarpSamples ff_mvstab_warp_8_avx2, ff_mvstab_warp_16_avx2, ff_mvstab_warp_8_neon, ff_mvstab_warp_16_neon;

#endif /* AVFILTER_GPUME_MVSTAB_DSP_H */
