/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The progress bar of rank 0: frames, frames/s, ranks, remaining time.
 */

#ifndef GPUME_MPI_PROGRESS_H
#define GPUME_MPI_PROGRESS_H

#include "mpi/shared.h"

typedef struct Progress {
    Shared *shared;
    int64_t nb_frames;      ///< frames of the film; 0: not known yet
    int64_t done_before;    ///< frames that an earlier run has finished
    int64_t start, last;    ///< microseconds
    int shown;
} Progress;

/** Returns whether standard error is a terminal. */
int progress_on_terminal(void);

/** Draws the progress bar from time to time. For Shared.idle. */
void progress_draw(void *progress);

/** Removes the progress bar. */
void progress_end(Progress *p);

#endif /* GPUME_MPI_PROGRESS_H */
