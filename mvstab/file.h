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

/** Reads all rows of a file. @return 0, or an AVERROR code with a message */
int ff_mvstab_file_read(MvstabFile *f, const char *path, void *log_ctx);

/** Returns row number of a file that was read, which is less than nb. */
MvstabStep ff_mvstab_file_step(const MvstabFile *f, int64_t number);

#endif /* AVFILTER_GPUME_MVSTAB_FILE_H */
