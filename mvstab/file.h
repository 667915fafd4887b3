/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Writes and reads a path of the camera as an array for NumPy: a row of little-endian float64 for each frame. A row has
 * the first eight entries of MvstabStep.motion, inliers, and begins.
 */

#ifndef AVFILTER_GPUME_MVSTAB_FILE_H
#define AVFILTER_GPUME_MVSTAB_FILE_H

#include <stdint.h>

#include "libavfilter/gpume/mvstab/path.h"
#include "libavfilter/gpume/output/file.h"

/** Zeroed before use. */
typedef struct MvstabFile {
    GpumeFile file;             ///< the file that is written
    int64_t nb;                 ///< number of rows that were written, or that the file has
    uint8_t *rows;              ///< the rows of a file that is read
    int64_t nb_taken;           ///< number of rows that were taken
    int64_t nb_before;          ///< number of rows of the files before it, which earlier filter graphs took
    int64_t time;               ///< time of the last frame that took a row, microseconds
    const char *path;           ///< the first file that is read
} MvstabFile;

/**
 * Creates a file.
 * @param path must remain valid
 * @return 0, or an AVERROR code with a message
 */
int ff_mvstab_file_create(MvstabFile *f, const char *path, int overwrite, void *log_ctx);

/** Writes the next row. @return 0 or an AVERROR code with a message */
int ff_mvstab_file_write(MvstabFile *f, const MvstabStep *step);

/** Completes a file that was created, or removes it if failed is set. Frees a file that was read. */
int ff_mvstab_file_close(MvstabFile *f, int failed);

/**
 * Reads all rows of a file.
 * @param path must remain valid
 * @return 0, or an AVERROR code with a message
 */
int ff_mvstab_file_read(MvstabFile *f, const char *path, void *log_ctx);

/**
 * Finds the row of the first frame. ffmpeg sets up a filter graph anew when the size of frames changes: if the frame is
 * later than the last one that took a row of this file, the rows go on behind that, in this file or in those that
 * ff_gpume_file_open() names NAME-2.npy, NAME-3.npy and so on.
 * @param time of the frame, microseconds
 * @return 0, or an AVERROR code with a message
 */
int ff_mvstab_file_resume(MvstabFile *f, int64_t time, void *log_ctx);

/** Takes the next row for a frame. nb_taken must be less than nb. */
MvstabStep ff_mvstab_file_take(MvstabFile *f, int64_t time);

#endif /* AVFILTER_GPUME_MVSTAB_FILE_H */
