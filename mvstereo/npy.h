/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Writes maps as an array for NumPy: little-endian float32 samples, infinite for holes. The shape
 * is frames, views if there are two, rows, columns.
 */

#ifndef AVFILTER_GPUME_MVSTEREO_NPY_H
#define AVFILTER_GPUME_MVSTEREO_NPY_H

#include <stdint.h>

#include "libavfilter/gpume/output/file.h"

typedef struct MvstereoNpy {
    GpumeFile file;
    int w, h, nb_views;
    int64_t nb_maps;
    char shape[40];             ///< the dimensions of a frame
    int16_t *map;               ///< the next map, in 1/16 sample or MVSTEREO_HOLE; set before it is written
    uint8_t *values;
} MvstereoNpy;

/**
 * Creates the file before the first map. The size of further maps must be that of the first one.
 * @param n    zeroed before the first map
 * @param path must remain valid
 * @return 0, or an AVERROR code with a message; if there is no file then, n is zeroed
 */
int ff_mvstereo_npy_begin(MvstereoNpy *n, const char *path, int overwrite, int w, int h, int nb_views, void *log_ctx);

/** Writes the map. @return 0 or an AVERROR code with a message */
int ff_mvstereo_npy_write(MvstereoNpy *n);

/** Completes the file, or removes it if a write has failed. Harmless if n is zeroed. */
int ff_mvstereo_npy_close(MvstereoNpy *n);

#endif /* AVFILTER_GPUME_MVSTEREO_NPY_H */
