/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Handles termination by a signal: mpirun sends one to all ranks when one rank has died.
 */

#ifndef GPUME_MPI_SIGNALS_H
#define GPUME_MPI_SIGNALS_H

#include "mpi/shared.h"

/** Installs handlers for SIGTERM, SIGINT and SIGHUP that print what the ranks are doing, and end the process. */
void signals_catch(const Shared *world);

/** Removes the handlers, because the counters are about to be freed. */
void signals_release(void);

#endif /* GPUME_MPI_SIGNALS_H */
