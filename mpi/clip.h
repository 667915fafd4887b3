/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Searches one film, from its name to its output files, with all ranks of a communicator.
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

/** The data with which the lines of a picture are completed. */
typedef struct ClipPicture {
    int64_t pts;
    int64_t nb_vectors;     ///< number of lines of CSV
} ClipPicture;

typedef struct Clip {
    const Options *options;
    Shared *shared;
    const Device *device;
    const char *input, *mv_file, *stats_file;   ///< paths; mv_file and stats_file may be NULL
    FileState state;        ///< state of the film before the search
    int progress;
    int fell_back;          ///< the film was searched as a whole because it decodes differently in segments

    Film film;
    Input in;
    Work work;
    GraphConfig graph_cfg;
    RowsConfig rows_cfg;
    Search search;
    GpumeSink sink;
    Picture picture;
    Progress bar;
    uint8_t *finished;      ///< finished[i]: segment i is finished
    int *todo;              ///< the segments that are not finished
    ClipPicture *pictures;  ///< all pictures, while the files are assembled
    GpumeFile mv, stats;    ///< the output files, on rank 0
    double times[NB_TIMES]; ///< seconds of each step
    double since;           ///< end of the previous step, seconds
} Clip;

/**
 * Searches a film. Collective.
 * @return 0 or a negative AVERROR code, the same on all ranks, after a message
 */
int clip_run(const Options *options, Shared *shared, const Device *device, const char *input,
             const char *mv_file, const char *stats_file, int progress);

/** Assembles the segments, and renames the files to their final names. Collective. */
int clip_assemble(Clip *c);

/** Sets c->finished for the segments that an earlier run has finished. Collective. @return their number of frames */
int64_t clip_verify(Clip *c);

#endif /* GPUME_MPI_CLIP_H */
