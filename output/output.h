/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * The files that the filter writes: vectors (CSV, NumPy) and statistics.
 */

#ifndef AVFILTER_GPUME_OUTPUT_H
#define AVFILTER_GPUME_OUTPUT_H

#include <stdint.h>

#include "libavutil/motion_vector.h"

#include "libavfilter/gpume/gpume.h"

/** What was found of a frame in one direction. */
typedef struct GpumeField {
    const AVMotionVector *mvs;  ///< bh * bw, raster order; NULL: not searched
    const uint32_t *costs;      ///< bh * bw
} GpumeField;

/** Figures of a field. */
typedef struct GpumeStats {
    uint64_t cost;              ///< sum of the SADs
    int zero;                   ///< vectors equal to (0,0)
    double mean_mv;             ///< mean Euclidean length, samples
    double max_mv;              ///< largest Euclidean length, samples
} GpumeStats;

typedef struct GpumeOutput GpumeOutput;

/**
 * Look at the names before anything is opened.
 * @param mv_file    ends in .csv or .npy, or is "-": CSV on standard output; may be NULL
 * @param stats_file "-": standard output; may be NULL
 * @return 0, or AVERROR(EINVAL) with a message
 */
int ff_gpume_output_check(const char *mv_file, const char *stats_file,
                          void *log_ctx);

/**
 * Create the files and write their headers. Messages say which file failed.
 *
 * A regular file is written under a temporary name in its folder, NAME.XXXXXXXX.gpume-part
 * (X: hexadecimal digits), until ff_gpume_output_close() gives it its own. Standard
 * output, pipes and devices are written themselves.
 * @param directions bit 1 << GPUME_PAST, 1 << GPUME_FUTURE: those of the .npy
 * @param overwrite  0: a regular file that exists is an error
 * @return 0 or the error, AVERROR(EEXIST) for a file that exists, with *output NULL
 */
int ff_gpume_output_open(GpumeOutput **output, const char *mv_file,
                         const char *stats_file, const GpumeParams *params,
                         int directions, int overwrite, void *log_ctx);

/** Figures of a field of bh * bw vectors. */
void ff_gpume_output_compute_stats(GpumeStats *stats, const GpumeField *field,
                                   const GpumeParams *params);

/** Whether any vectors are written. */
int ff_gpume_output_has_vectors(const GpumeOutput *output);
/** Whether any statistics are written. */
int ff_gpume_output_has_stats(const GpumeOutput *output);

/**
 * Write a frame's vectors; what was written is handed to the system on return.
 * @param framenum counts from 1
 * @param fields   indexed by enum GpumeDirection
 * @return 0; AVERROR(EINVAL) when a .npy cannot hold a field of this shape; or
 *         the error of the write
 */
int ff_gpume_output_vectors(GpumeOutput *output, const GpumeParams *params,
                            int64_t framenum,
                            const GpumeField fields[GPUME_NB_DIRECTIONS]);

/** Write a line of statistics; what was written is handed to the system. */
int ff_gpume_output_stats(GpumeOutput *output, const GpumeParams *params,
                          int64_t framenum, int64_t pts, int direction,
                          const GpumeStats *stats);

/**
 * Complete the files, or remove them; *output becomes NULL. Repeating it is harmless.
 * @param keep 0: they are not whole and go. Else they get their names, unless one of
 *             them could not be written: then all go
 * @return 0 or the first error
 */
int ff_gpume_output_close(GpumeOutput **output, int keep);

#endif /* AVFILTER_GPUME_OUTPUT_H */
