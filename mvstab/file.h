/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Writes and reads a path of the camera as an array for NumPy: a row of little-endian float64 for each frame. A row has
 * the first eight entries of MvstabStep.motion, inliers, begins, and the time of the frame in seconds.
 */

#ifndef AVFILTER_GPUME_MVSTAB_FILE_H
#define AVFILTER_GPUME_MVSTAB_FILE_H

#include <stdint.h>

#include "libavfilter/gpume/mvstab/path.h"
#include "libavfilter/gpume/output/file.h"

/** Number of values of a row. */
#define MVSTAB_FILE_VALUES 11

/** Zeroed before use. */
typedef struct MvstabFile {
    GpumeFile file;             ///< the file that is written
    int64_t nb;                 ///< number of rows that were written, or that the file has
    double (*rows)[MVSTAB_FILE_VALUES];     ///< rows that are read, or those of the filter graph before this one
    int64_t next;               ///< the row that is taken next
    int64_t taken;              ///< the row that was taken last; -1: none
} MvstabFile;

/**
 * Creates a file, or goes on behind the rows of one that an earlier filter graph of this process has completed.
 * @param path must remain valid
 * @return 0, or an AVERROR code with a message
 */
int ff_mvstab_file_create(MvstabFile *f, const char *path, int overwrite, void *log_ctx);

/** Writes the next row. @param seconds time of the frame; NAN: unknown. @return 0 or an AVERROR code with a message */
int ff_mvstab_file_write(MvstabFile *f, const MvstabStep *step, double seconds);

/** Completes a file that was created, or removes it if failed is set. Frees a file that was read. */
int ff_mvstab_file_close(MvstabFile *f, int failed);

/** Reads all rows of a file. @param path must remain valid @return 0, or an AVERROR code with a message */
int ff_mvstab_file_read(MvstabFile *f, const char *path, void *log_ctx);

/**
 * Finds the row of a frame by its time, not before the row that was taken last. Returns whether it has one.
 * @param seconds time of the frame; NAN: unknown, the next row is its row
 */
int ff_mvstab_file_find(MvstabFile *f, double seconds);

/**
 * Returns whether the row that was found, and those that ff_mvstab_file_take() includes, can be those of a camera that
 * makes frames of this size. If not, and messages is set, says why.
 */
int ff_mvstab_file_check(const MvstabFile *f, int w, int h, int messages);

/** Takes the row that was found. Its motion includes those of the rows between it and the row that was taken before. */
MvstabStep ff_mvstab_file_take(MvstabFile *f);

#endif /* AVFILTER_GPUME_MVSTAB_FILE_H */
