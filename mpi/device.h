/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The GPU and the number of cores of each rank.
 */

#ifndef GPUME_MPI_DEVICE_H
#define GPUME_MPI_DEVICE_H

#include <mpi.h>

#include "libavutil/buffer.h"

#include "mpi/shared.h"

typedef struct Device {
    char name[16];          ///< index of the GPU; empty: none
    AVBufferRef *cuda;      ///< the device; NULL unless the caller needs it
    int threads;            ///< the rank's share of the cores
} Device;

/**
 * Distributes the GPUs and cores of a machine among its ranks: the first rank of a machine gets the
 * first GPU, and if there are more ranks than GPUs, several share one. Collective over all ranks.
 * @param cuda a GPU is needed
 * @return 0 or a negative AVERROR code after a message
 */
int device_open(Device *d, const Shared *world, int cuda);

void device_close(Device *d);

#endif /* GPUME_MPI_DEVICE_H */
