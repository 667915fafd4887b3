/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#define _GNU_SOURCE     /* sched_getaffinity() */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"

#if CONFIG_FFNVCODEC
/* without these macros, the loader would print that there is no driver */
#define FFNV_LOG_FUNC(...)
#define FFNV_DEBUG_LOG_FUNC(...)
#include <ffnvcodec/dynlink_loader.h>
#endif

#include "libavutil/cpu.h"
#include "libavutil/hwcontext.h"
#include "libavutil/macros.h"

#include "mpi/device.h"

static int count_gpus(void)
{
    int nb = 0;
#if CONFIG_FFNVCODEC
    CudaFunctions *cu = NULL;

    if (cuda_load_functions(&cu, NULL) >= 0 &&
        (cu->cuInit(0) != CUDA_SUCCESS || cu->cuDeviceGetCount(&nb) != CUDA_SUCCESS))
        nb = 0;
    cuda_free_functions(&cu);
#endif
    return nb;
}

/* Sets *threads to this rank's share of its cores, which several ranks may be allowed to use. */
static int share_cores(MPI_Comm machine, int nb_local, int *threads)
{
    cpu_set_t mine, *all = calloc(nb_local, sizeof(mine));
    int nb_same = 0, code;

    if (!all)
        return MPI_ERR_NO_MEM;
    CPU_ZERO(&mine);
    if (sched_getaffinity(0, sizeof(mine), &mine))
        CPU_ZERO(&mine);
    code = MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine), MPI_BYTE, machine);
    for (int i = 0; i < nb_local && code == MPI_SUCCESS; i++)
        nb_same += !memcmp(&mine, &all[i], sizeof(mine));
    *threads = FFMAX(av_cpu_count() / FFMAX(nb_same, 1), 1);
    free(all);
    return code;
}

int device_open(Device *d, const Shared *world, int cuda)
{
    MPI_Comm machine = MPI_COMM_NULL;
    int local = 0, nb_local = 1, nb_gpus, code, ret = 0;

    memset(d, 0, sizeof(*d));
    if ((code = MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, world->rank, MPI_INFO_NULL,
                                    &machine)) != MPI_SUCCESS ||
        (code = MPI_Comm_rank(machine, &local)) != MPI_SUCCESS ||
        (code = MPI_Comm_size(machine, &nb_local)) != MPI_SUCCESS ||
        (code = share_cores(machine, nb_local, &d->threads)) != MPI_SUCCESS)
        ret = shared_error(world, code, "could not find the ranks of this machine");
    if (machine != MPI_COMM_NULL && (code = MPI_Comm_free(&machine)) != MPI_SUCCESS && ret >= 0)
        ret = shared_error(world, code, "MPI_Comm_free");
    if (ret < 0)
        return ret;

    nb_gpus = count_gpus();
    if (nb_gpus > 0)
        snprintf(d->name, sizeof(d->name), "%d", local % nb_gpus);
    if (!cuda)
        return 0;
    ret = nb_gpus > 0 ? av_hwdevice_ctx_create(&d->cuda, AV_HWDEVICE_TYPE_CUDA, d->name, NULL, 0) :
                        AVERROR(ENODEV);
    if (ret < 0)
        shared_report(world, -1, "could not open the GPU (--hwaccel cuda; this rank has number %d of %d "
                      "on its machine): %s", local % FFMAX(nb_gpus, 1), nb_gpus, av_err2str(ret));
    return ret;
}

void device_close(Device *d)
{
    av_buffer_unref(&d->cuda);
}
