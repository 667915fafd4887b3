/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Functions for what the ranks share: counters in the memory of rank 0, the remaining work, common decisions, and
 * messages that name the rank. Functions return 0, or a negative AVERROR code after a message.
 */

#ifndef GPUME_MPI_SHARED_H
#define GPUME_MPI_SHARED_H

#include <mpi.h>
#include <stdint.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"

/**
 * The stream decodes differently in parts than as a whole. This is no error of the input: one rank
 * then searches the whole film.
 */
#define GPUME_INDIVISIBLE FFERRTAG('P', 'A', 'R', 'T')

/** The counters. They are followed by the range of work of each rank, and by the current segment of each rank. */
enum {
    SHARED_STOP,            ///< nonzero: a rank has failed, and no rank begins more work
    SHARED_FRAMES,          ///< number of frames that have been searched
    SHARED_NB,
};

typedef struct Shared {
    MPI_Comm comm;
    int rank, size;
    int world_rank;         ///< the rank in MPI_COMM_WORLD, for messages
    MPI_Win win;            ///< MPI_WIN_NULL: not open
    int64_t *counters;      ///< the counters, on rank 0
    void (*idle)(void *opaque);     ///< called from time to time while waiting; may be NULL
    void *opaque;
} Shared;

/** Makes the counters. Collective. */
int shared_open(Shared *s, MPI_Comm comm);

/**
 * Clears the counters and divides the pieces of work among the ranks, a range for each rank.
 * Collective.
 */
int shared_divide(Shared *s, int nb_pieces);

/**
 * Takes a piece of work: the next piece of the rank's own range. If that range is empty, the rank takes over half
 * of the longest remaining range. So the pieces of a rank are mostly consecutive, and all ranks finish at about
 * the same time.
 * @param piece set to -1 if no work is left, or a rank has failed
 */
int shared_take(Shared *s, int *piece);

/** Records this rank's current segment, for messages. @param segment -1: none */
int shared_set_segment(Shared *s, int segment);

/** Frees the counters. Collective. */
void shared_close(Shared *s);

/** Adds to a counter. @param before set to the previous value; may be NULL */
int shared_add(Shared *s, int counter, int64_t value, int64_t *before);

/** Waits for a request without keeping a core busy. */
int shared_wait(Shared *s, MPI_Request *request);

/** Returns the most serious status of all ranks: GPUME_INDIVISIBLE, else the lowest. Collective. */
int shared_agree(Shared *s, int status);

/** Sends any number of bytes from rank 0 to all ranks. Collective. */
int shared_broadcast(Shared *s, void *data, size_t size);

/** Reports an MPI error. @return an AVERROR code; 0 for MPI_SUCCESS */
int shared_error(const Shared *s, int code, const char *what);

/** Prints a message that names the rank and, unless negative, the segment. */
void shared_report(const Shared *s, int segment, const char *format, ...) av_printf_format(3, 4);

#endif /* GPUME_MPI_SHARED_H */
