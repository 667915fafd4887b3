/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The end by a signal: mpirun sends one to all ranks when one has died.
 */

#ifndef GPUME_MPI_SIGNALS_H
#define GPUME_MPI_SIGNALS_H

#include "mpi/shared.h"

/** From now on SIGTERM, SIGINT and SIGHUP say what the ranks were doing before they end the process. */
void signals_catch(const Shared *world);

/** Not any more: the counters are about to be freed. */
void signals_release(void);

#endif /* GPUME_MPI_SIGNALS_H */
