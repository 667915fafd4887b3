/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Maps as an array for NumPy: little-endian float32 samples, infinite where there is a hole; of the shape frames,
 * views where there are two, rows, columns.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_NPY_H
#define AVFILTER_GPUME_MVSTEREO_NPY_H

#include <stdint.h>

#include "libavfilter/gpume/output/file.h"

typedef struct MvstereoNpy {
    GpumeFile file;
    int w, h, nb_views;
    int64_t nb_maps;
    int16_t *map;
    uint8_t *values;
} MvstereoNpy;

/**
 * Creates the file.
 * @param n    blank
 * @param path has to remain valid
 * @return 0, or an AVERROR code with a message, and then n is blank
 */
int ff_mvstereo_npy_open(MvstereoNpy *n, const char *path, int overwrite, int w, int h, int nb_views, void *log_ctx);

/** Returns where the next map has to be put, in 1/16 sample or MVSTEREO_HOLE, before it is written. */
static inline int16_t *mvstereo_npy_map(const MvstereoNpy *n)
{
    return n->map;
}

/** @return 0 or an AVERROR code with a message */
int ff_mvstereo_npy_write(MvstereoNpy *n);

/** Completes the file, unless a write has failed; then it is removed. Harmless if n is blank. */
int ff_mvstereo_npy_close(MvstereoNpy *n);

#endif /* AVFILTER_GPUME_MVSTEREO_NPY_H */
