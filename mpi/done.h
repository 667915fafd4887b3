/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Records of films that an earlier run has finished. A small file beside the output, NAME.gpume-done, contains
 * a checksum of the film's name and the options, and the size and modification time of the film and of the output
 * files. So a finished film is recognised without being read.
 */

#ifndef GPUME_MPI_DONE_H
#define GPUME_MPI_DONE_H

#include <stdint.h>

#include "libavfilter/gpume/output/output.h"

#include "mpi/options.h"
#include "mpi/shared.h"

/** State of a file, as far as it is known without reading the file. */
typedef struct FileState {
    int64_t size;           ///< bytes; -1: there is no regular file
    int64_t seconds, nanoseconds;   ///< time of the last modification
} FileState;

/** Converts the options of gpume-mpi to the output options of the filter. */
GpumeOutputConfig done_outputs(const Options *options, const char *mv_file, const char *stats_file);

/** Returns the state of a file; path may be NULL. */
FileState done_state(const char *path);

/**
 * Returns whether --resume may skip a film: the film is finished, and film, options and files are unchanged.
 * In this case, prints a message and removes what an interrupted run may have left. On rank 0.
 */
int done_skip(const Options *options, const Shared *shared, const char *input, const char *mv_file,
              const char *stats_file);

/**
 * Records a film whose files are complete but not renamed yet. Without --resume and --list, removes the record
 * of an earlier run. On rank 0.
 * @param film  state of the film before the search
 * @param files the files of vectors and statistics; a file without a target does not exist
 * @return 0 or a negative AVERROR code after a message
 */
int done_save(const Options *options, const Shared *shared, const char *input, const FileState *film,
              const GpumeFile *const files[2]);

#endif /* GPUME_MPI_DONE_H */
