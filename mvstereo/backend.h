/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Interface of backends: a table of functions for the CPU and for each kind of device. All backends
 * find the same disparities.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_BACKEND_H
#define AVFILTER_GPUME_MVSTEREO_BACKEND_H

#include "libavfilter/gpume/mvstereo/mvstereo.h"
#include "libavfilter/gpume/mvstereo/range.h"
#include "libavfilter/gpume/picture/sequence.h"

/** A backend. */
typedef struct MvstereoBackend {
    GpumeFrameBackend common;
    /**
     * @param layout layout of the frames, which may have any size
     * @param range  if it is to be determined, it is extended
     * @param out    NULL: the map is only read
     */
    int  (*make)(void *priv, const MvstereoPair *pair, const GpumeLayout *layout, MvstereoRange *range, AVFrame *out);
    /** Reads the last map, as it was painted: in 1/16 sample, from the range's least one; MVSTEREO_INVALID: hole. */
    int  (*read)(void *priv, int16_t *map);
    /**
     * Gets how the last views agree: MVSTEREO_NB_COUNTS numbers.
     * @param wait 0: returns 0 if they are not known yet
     * @return 1 if they are known, or an AVERROR code
     */
    int  (*judge)(void *priv, int *counts, int wait);
} MvstereoBackend;

extern const MvstereoBackend ff_mvstereo_backend_cpu;
extern const MvstereoBackend ff_mvstereo_backend_cuda;
/** As ff_mvstereo_backend_cuda.read(), and reads the confidence unless it is NULL. */
int ff_mvstereo_cuda_read(void *priv, int16_t *map, uint8_t *confidence);

/** Matches views in system memory on a CUDA device; make() needs an output. */
extern const MvstereoBackend ff_mvstereo_backend_upload;

#endif /* AVFILTER_GPUME_MVSTEREO_BACKEND_H */
