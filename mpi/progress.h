/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The progress bar of rank 0: frames, frames/s, ranks, time left.
 */

#ifndef GPUME_MPI_PROGRESS_H
#define GPUME_MPI_PROGRESS_H

#include "mpi/shared.h"

typedef struct Progress {
    Shared *shared;
    int64_t nb_frames;      ///< of the film; 0: not known yet
    int64_t done_before;    ///< frames of an earlier run
    int64_t start, last;    ///< microseconds
    int shown;
} Progress;

/** Whether what is written to standard error is seen on a terminal. */
int progress_on_terminal(void);

/** Draw it, now and then; what Shared.idle calls. */
void progress_draw(void *progress);

/** Remove it. */
void progress_end(Progress *p);

#endif /* GPUME_MPI_PROGRESS_H */
