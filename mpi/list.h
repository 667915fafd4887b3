/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Searches many films. First, all ranks together search the large films, one after the other. Then the remaining
 * films are distributed among the ranks.
 */

#ifndef GPUME_MPI_LIST_H
#define GPUME_MPI_LIST_H

#include "mpi/device.h"
#include "mpi/options.h"
#include "mpi/shared.h"

/**
 * Searches the films of options->list, and continues after a film that fails. Collective.
 * @return 0; or a negative AVERROR code if there is no list or a film has failed, after a message
 */
int list_run(const Options *options, Shared *world, const Device *device, int progress);

#endif /* GPUME_MPI_LIST_H */
