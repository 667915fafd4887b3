/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The work of a rank. A rank takes segments while there are any, decodes them, and sends their pictures through one
 * graph, segment after segment. It keeps the fields of the pictures that belong to its segments (mpi/video.h), and
 * drops the fields of pictures that serve only as references.
 */

#ifndef GPUME_MPI_SEARCH_H
#define GPUME_MPI_SEARCH_H

#include "libavutil/fifo.h"

#include "libavfilter/gpume/output/output.h"

#include "mpi/video.h"
#include "mpi/graph.h"
#include "mpi/segments.h"
#include "mpi/shared.h"

/** A picture in the graph, whose result has not come yet. */
typedef struct PendingPicture {
    Rows *rows;             ///< the rows that receive its fields; NULL: the fields are dropped
    GpumeStamp stamp;       ///< its number and time
} PendingPicture;

typedef struct Search {
    /* set by the caller */
    Shared *shared;
    const Video *video;
    Input *in;
    const GraphConfig *graph_cfg;   ///< configuration of the graph; its sink is search_sink() of this struct
    const Segments *segments;
    const Picture *picture; ///< properties of the pictures of the video
    const int *todo;        ///< the segments to search, in order

    Graph graph;
    int64_t first_packet;   ///< number of the packet of the first picture
    AVFifo *pending;        ///< pictures in the graph: PendingPicture, oldest first
    Rows *rows;             ///< the rows for the fields of the next picture; NULL: another rank has its segment
    int segment;            ///< the segment whose key frame came last; messages name it
    uint8_t key[HASH_SIZE]; ///< checksum of that key frame
    int failed;             ///< the segment whose rows could not be written; -1: none
    int last;               ///< the decoder continues without a seek up to this segment
    int next;               ///< the segment to continue with afterwards; -1: none; UNDECIDED: not known yet
    int waiting;            ///< the segment's key frame has not come yet
    int done;               ///< the last picture of the run has come
    int64_t number;         ///< number of the next picture, from 0 on
    int64_t last_pts;       ///< timestamp of the last picture
    int64_t nb_frames;      ///< number of frames of the video; INT64_MAX until its end is known
    int64_t nb_pushed;
    int64_t nb_unreported;  ///< frames that have not been added to the counter yet
    int64_t report_time;    ///< time of the last report, microseconds
} Search;

/** Returns the sink for the graph of a search. */
GpumeSink search_sink(Search *s);

/**
 * Decodes the first picture and configures the graph for it.
 * @return 0 or a negative AVERROR code after a message
 */
int search_probe(Search *s, Picture *picture);

/**
 * Searches segments until none is left.
 * @return 0; or a negative AVERROR code after a message
 */
int search_run(Search *s);

void search_free(Search *s);

#endif /* GPUME_MPI_SEARCH_H */
