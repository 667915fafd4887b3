/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * One film from its name to its files, by all ranks of a communicator.
 */

#ifndef GPUME_MPI_CLIP_H
#define GPUME_MPI_CLIP_H

#include "libavfilter/gpume/output/file.h"

#include "mpi/device.h"
#include "mpi/done.h"
#include "mpi/film.h"
#include "mpi/input.h"
#include "mpi/options.h"
#include "mpi/progress.h"
#include "mpi/rows.h"
#include "mpi/search.h"
#include "mpi/shared.h"
#include "mpi/work.h"

/** Steps whose time is measured. */
enum { TIME_OPEN, TIME_SCAN, TIME_START, TIME_SEARCH, TIME_WAIT, TIME_ASSEMBLE, NB_TIMES };

/** What the lines of a picture are completed with. */
typedef struct ClipPicture {
    int64_t pts;
    int64_t nb_vectors;     ///< lines of CSV
} ClipPicture;

typedef struct Clip {
    const Options *options;
    Shared *shared;
    const Device *device;
    const char *input, *mv_file, *stats_file;   ///< the latter two may be NULL
    FileState state;        ///< of the film before it is searched
    int progress;
    int fell_back;          ///< the film gives other pictures in parts than as a whole

    Film film;
    Input in;
    Work work;
    GraphConfig graph_cfg;
    RowsConfig rows_cfg;
    Search search;
    GpumeSink sink;
    Picture picture;
    Progress bar;
    uint8_t *finished;      ///< by segment
    int *todo;              ///< the segments that are not
    ClipPicture *pictures;  ///< all of them, while the files are put together
    GpumeFile mv, stats;    ///< on rank 0
    double times[NB_TIMES]; ///< seconds
    double since;           ///< the step before has ended, seconds
} Clip;

/**
 * Search a film. Collective.
 * @return 0 or a negative AVERROR code, the same on all ranks, after a message
 */
int clip_run(const Options *options, Shared *shared, const Device *device, const char *input,
             const char *mv_file, const char *stats_file, int progress);

/** Put the segments together, and give the files their names. Collective. */
int clip_assemble(Clip *c);

/** Which segments an earlier run has finished, in c->finished. Collective. @return their frames */
int64_t clip_verify(Clip *c);

#endif /* GPUME_MPI_CLIP_H */
