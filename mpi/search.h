/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What a rank does: it takes segments as long as there are some, decodes them, and sends their
 * pictures through one graph, segment after segment. It keeps the fields of the
 * segments' pictures (mpi/film.h); those of pictures that are there only as references are dropped.
 */

#ifndef GPUME_MPI_SEARCH_H
#define GPUME_MPI_SEARCH_H

#include "libavfilter/gpume/output/output.h"

#include "mpi/film.h"
#include "mpi/graph.h"
#include "mpi/input.h"
#include "mpi/rows.h"
#include "mpi/shared.h"

/** A picture in the graph. */
typedef struct Passing {
    Rows *rows;             ///< of the segment that its fields belong to; NULL: they are dropped
    int64_t number;         ///< from 1 on
} Passing;

typedef struct Search {
    /* set by the caller */
    Shared *shared;
    const Film *film;
    Input *in;
    const GraphConfig *graph_cfg;   ///< its sink is search_sink() of this
    const RowsConfig *rows_cfg;
    const Picture *picture; ///< of the film
    const int *todo;        ///< the segments that are to be searched, in order

    Graph graph;
    AVFrame *held;          ///< the film's first picture, if the decoder stands behind it
    int64_t first_packet;   ///< that it was in
    Passing *passing;       ///< a ring, oldest first
    int size, first, nb;
    Rows *rows;             ///< of the segment that the next picture's fields belong to; NULL: of none of this rank's
    int segment;            ///< whose key frame came last; for messages the last one
    uint8_t key[HASH_SIZE]; ///< checksum of that frame
    int failed;             ///< the segment whose rows could not be written, -1: none
    int last;               ///< segments up to this one follow in one run of the decoder
    int next;               ///< where to go on after that, -1: there is nothing left
    int waiting;            ///< the segment's key frame has not come yet
    int muted;              ///< the decoder's messages are not about what is needed
    int done;               ///< the run's last picture has come
    int64_t number;         ///< of the next picture, from 0 on
    int64_t nb_frames;      ///< of the film; INT64_MAX until its end has come
    int64_t nb_pushed;
    int64_t nb_unreported;  ///< frames that the counter does not have yet
    int64_t report_time;    ///< of the last report, microseconds
} Search;

/** The sink for a search's graph. */
GpumeSink search_sink(Search *s, int needs_stats);

/**
 * Decode the first picture and set up the graph for it.
 * @return 0 or a negative AVERROR code after a message
 */
int search_probe(Search *s, Picture *picture);

/**
 * Search segments until none is left.
 * @return 0; GPUME_INDIVISIBLE; or a negative AVERROR code after a message
 */
int search_run(Search *s);

void search_free(Search *s);

#endif /* GPUME_MPI_SEARCH_H */
