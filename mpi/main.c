/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * gpume-mpi: searches the motion vectors of films with many processes.
 */

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/log.h"

#include "mpi/clip.h"
#include "mpi/device.h"
#include "mpi/graph.h"
#include "mpi/list.h"
#include "mpi/options.h"
#include "mpi/progress.h"
#include "mpi/shared.h"
#include "mpi/signals.h"

static int start(const Options *o, Shared *world, Device *device)
{
    GpumeParams params;
    int ret = shared_open(world, MPI_COMM_WORLD);

    if (ret < 0)
        return ret;
    av_log_set_level(world->rank ? AV_LOG_QUIET : o->log_level);
    ret = shared_agree(world, graph_check(o->filters, &params));
    av_log_set_level(o->log_level);
    return ret < 0 ? ret : shared_agree(world, device_open(device, world, o->cuda));
}

static int run(const Options *o, Shared *world, const Device *device)
{
    const int progress = o->progress == PROGRESS_AUTO ? progress_on_terminal() : o->progress;
    int ret;

    signals_catch(world);
    if (o->list)
        ret = list_run(o, world, device, progress);
    else
        ret = clip_run(o, world, device, o->input, o->mv_file, o->stats_file, progress);
    signals_release();
    return ret;
}

int main(int argc, char **argv)
{
    Shared world = { .win = MPI_WIN_NULL };
    Device device = { 0 };
    Options o;
    int provided, ret, rank = 0;

    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    ret = options_parse(&o, argc, argv, rank > 0);
    if (ret >= 0 && o.help) {
        if (!rank)
            options_usage();
    } else if (ret >= 0) {
        ret = start(&o, &world, &device);
        if (ret >= 0)
            ret = run(&o, &world, &device);
    }
    device_close(&device);
    shared_close(&world);
    MPI_Finalize();
    return ret < 0;
}
