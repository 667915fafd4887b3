/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Films that an earlier run has finished. A small file beside the output, NAME.gpume-done, says of
 * which film and with which options it was made, and what the film and the files were like: size and time of
 * the last change. So a finished film is recognised without being read.
 */

#ifndef GPUME_MPI_DONE_H
#define GPUME_MPI_DONE_H

#include <stdint.h>

#include "libavfilter/gpume/output/output.h"

#include "mpi/options.h"
#include "mpi/shared.h"

/** A file, as far as it shows without being read. */
typedef struct FileState {
    int64_t size;           ///< bytes; -1: there is no regular file
    int64_t seconds, nanoseconds;   ///< of its last change
} FileState;

/** The options of gpume-mpi as those of the filter's outputs. */
GpumeOutputConfig done_outputs(const Options *options, const char *mv_file, const char *stats_file);

FileState done_state(const char *path);

/**
 * Whether --resume may leave a film out: it has been finished, and film, options and files are unchanged.
 * If so, says it and removes what an interrupted end may have left. On rank 0.
 */
int done_skip(const Options *options, const Shared *shared, const char *input, const char *mv_file,
              const char *stats_file);

/**
 * Note a film whose files are complete and have yet to be renamed; without --resume and --list remove what
 * an earlier run has noted. On rank 0.
 * @param film  as it was before it was searched
 * @param files of vectors and of statistics; one that is not there has no target
 * @return 0 or a negative AVERROR code after a message
 */
int done_save(const Options *options, const Shared *shared, const char *input, const FileState *film,
              const GpumeFile *const files[2]);

#endif /* GPUME_MPI_DONE_H */
