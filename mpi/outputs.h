/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The output files, which rank 0 makes from the finished segments. Functions return 0, or a negative AVERROR code after
 * a message.
 */

#ifndef GPUME_MPI_OUTPUTS_H
#define GPUME_MPI_OUTPUTS_H

#include "libavfilter/gpume/output/file.h"

#include "mpi/segments.h"

typedef struct Outputs {
    GpumeOutputConfig cfg;  ///< names and formats of the files
    Shared *shared;
    Segments *segments;
    GpumeFile mv, stats;    ///< the files, on rank 0; before the end only pipes and devices are open
} Outputs;

/** Checks the names of the files, and sets the folder of the segments. On rank 0. */
int outputs_check(Outputs *o);

/** Makes the files from the segments, and renames them to their final names: all of them, or none. Collective. */
int outputs_assemble(Outputs *o);

/** Closes the files, and removes those that are not complete. */
void outputs_close(Outputs *o);

#endif /* GPUME_MPI_OUTPUTS_H */
