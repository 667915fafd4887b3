/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Which GPU and how many cores a rank has.
 */

#ifndef GPUME_MPI_DEVICE_H
#define GPUME_MPI_DEVICE_H

#include <mpi.h>

#include "libavutil/buffer.h"

#include "mpi/shared.h"

typedef struct Device {
    char name[16];          ///< index of the GPU, empty if there is none
    AVBufferRef *cuda;      ///< NULL unless it was asked for
    int threads;            ///< the rank's share of the cores
} Device;

/**
 * Share the machine's GPUs and cores among the ranks on it: the first rank of a machine gets the
 * first GPU, and if there are more ranks than GPUs, several share one. Collective over all ranks.
 * @param cuda a GPU is needed
 * @return 0 or a negative AVERROR code after a message
 */
int device_open(Device *d, const Shared *world, int cuda);

void device_close(Device *d);

#endif /* GPUME_MPI_DEVICE_H */
