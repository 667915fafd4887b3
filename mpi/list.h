/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Many films: large ones are searched by all ranks together, one after the other; of the others
 * each rank takes one after the other.
 */

#ifndef GPUME_MPI_LIST_H
#define GPUME_MPI_LIST_H

#include "mpi/device.h"
#include "mpi/options.h"
#include "mpi/shared.h"

/**
 * Search the films of options->list, and go on after one that fails. Collective.
 * @return 0; or a negative AVERROR code if there is no list or a film has failed, after a message
 */
int list_run(const Options *options, Shared *world, const Device *device, int progress);

#endif /* GPUME_MPI_LIST_H */
