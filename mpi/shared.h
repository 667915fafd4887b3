/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the ranks share: counters in the memory of rank 0, the work that is left, decisions that
 * all take together, and messages that say who speaks. Functions return 0 or a negative AVERROR code after a message.
 */

#ifndef GPUME_MPI_SHARED_H
#define GPUME_MPI_SHARED_H

#include <mpi.h>
#include <stdint.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"

/**
 * Not an error of the input: the stream cannot be searched in parts and give what it gives as a
 * whole. All of it is then searched by one rank.
 */
#define GPUME_INDIVISIBLE FFERRTAG('P', 'A', 'R', 'T')

/** The counters. Behind them are the stretch of work of each rank, and what each rank does. */
enum {
    SHARED_STOP,            ///< nonzero: a rank has failed, no more work is begun
    SHARED_FRAMES,          ///< frames that have been searched
    SHARED_NB,
};

typedef struct Shared {
    MPI_Comm comm;
    int rank, size;
    int world_rank;         ///< in messages
    MPI_Win win;            ///< MPI_WIN_NULL: not open
    int64_t *counters;      ///< on rank 0
    void (*idle)(void *opaque);     ///< called now and then while waiting; may be NULL
    void *opaque;
} Shared;

/** Make the counters. Collective. */
int shared_open(Shared *s, MPI_Comm comm);

/**
 * Set the counters to zero, and divide pieces of work among the ranks, a stretch for each.
 * Collective.
 */
int shared_divide(Shared *s, int nb_pieces);

/**
 * Take a piece of work: the next one of the rank's own stretch or, when that is done, the first
 * of half of the longest stretch that is left. So a rank's pieces follow each other mostly,
 * and all ranks are done at about the same time.
 * @param piece -1: nothing is left, or a rank has failed
 */
int shared_take(Shared *s, int *piece);

/** Note what this rank does, for messages. @param what a segment; -1: nothing */
int shared_note(Shared *s, int what);

/** Free the counters. Collective. */
void shared_close(Shared *s);

/** Add to a counter. @param before its value before; may be NULL */
int shared_add(Shared *s, int counter, int64_t value, int64_t *before);

/** Wait for a request without keeping a core busy. */
int shared_wait(Shared *s, MPI_Request *request);

/** The gravest status of all ranks: GPUME_INDIVISIBLE, else the lowest. Collective. */
int shared_agree(Shared *s, int status);

/** Send bytes from rank 0 to all, any number of them. Collective. */
int shared_broadcast(Shared *s, void *data, size_t size);

/** Report an MPI error. @return an AVERROR code, 0 for MPI_SUCCESS */
int shared_error(const Shared *s, int code, const char *what);

/** Print a message that names the rank and, unless it is negative, the segment. */
void shared_report(const Shared *s, int segment, const char *format, ...) av_printf_format(3, 4);

#endif /* GPUME_MPI_SHARED_H */
