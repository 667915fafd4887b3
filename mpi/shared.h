/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the ranks share: the GPUs and cores of their machines, counters in the memory of rank 0, the remaining work,
 * common decisions, the progress bar, and messages that name the rank. Functions return 0, or a negative AVERROR code
 * after a message.
 */

#ifndef GPUME_MPI_SHARED_H
#define GPUME_MPI_SHARED_H

#include <mpi.h>
#include <stdint.h>

#include "libavutil/attributes.h"
#include "libavutil/buffer.h"
#include "libavutil/error.h"

/** The stream decodes differently in segments than as a whole. */
#define GPUME_INDIVISIBLE FFERRTAG('P', 'A', 'R', 'T')

/** The counters. */
enum {
    SHARED_TAKEN,           ///< number of pieces of work that ranks have taken
    SHARED_STOP,            ///< nonzero: a rank has failed, and no rank begins more work
    SHARED_FRAMES,          ///< number of frames that have been searched
    SHARED_NB,
};

/** The progress bar of rank 0. */
typedef struct Progress {
    int64_t nb_frames;      ///< frames of the video; 0: there is no progress bar
    int64_t done_before;    ///< frames that an earlier run has finished
    int64_t start, last;    ///< microseconds
} Progress;

typedef struct Shared {
    int rank, size;
    MPI_Win win;            ///< MPI_WIN_NULL: not open
    int64_t *counters;      ///< the counters, on rank 0
    int nb_pieces;          ///< number of pieces of work
    int first, end;         ///< the pieces from first to end - 1 are this rank's
    Progress progress;
    char gpu[16];           ///< index of this rank's GPU; empty: none
    AVBufferRef *cuda;      ///< the GPU; NULL unless the caller needs it
    int threads;            ///< this rank's share of the cores
} Shared;

/** Makes the counters. Collective. */
int shared_open(Shared *s);

/**
 * Distributes the GPUs and cores of a machine among its ranks: the first rank of a machine gets the first GPU, and if
 * there are more ranks than GPUs, several share one. Collective.
 * @param cuda a GPU is needed
 */
int shared_open_device(Shared *s, int cuda);

/** Frees the counters. Collective. */
void shared_close(Shared *s);

/** Clears the counters, and sets the number of pieces of work, which is the same on all ranks. Collective. */
int shared_divide(Shared *s, int nb_pieces);

/**
 * Takes a piece of work. A rank takes consecutive pieces, fewer and fewer, so that all ranks finish at about the same
 * time.
 * @param piece set to -1 if no work is left, or a rank has failed
 */
int shared_take(Shared *s, int *piece);

/** Adds to a counter. @param before set to the previous value; may be NULL */
int shared_add(Shared *s, int counter, int64_t value, int64_t *before);

/** Returns the lowest status of all ranks. Does not keep a core busy while it waits. Collective. */
int shared_agree(Shared *s, int status);

/** Sends any number of bytes from rank 0 to all ranks. Collective. */
int shared_broadcast(Shared *s, void *data, size_t size);

/** Sends an array from rank 0 to all ranks, which allocate it in *data. Collective. */
int shared_broadcast_array(Shared *s, void *data, size_t size);

/** Returns whether standard error is a terminal. */
int progress_on_terminal(void);

/** Draws the progress bar from time to time, or removes it if nb_frames is 0. */
void progress_draw(Shared *s);

/** Reports an MPI error. @return an AVERROR code; 0 for MPI_SUCCESS */
int shared_error(const Shared *s, int code, const char *what);

/** Prints a message that names the rank and, unless negative, the segment. */
void shared_report(const Shared *s, int segment, const char *format, ...) av_printf_format(3, 4);

#endif /* GPUME_MPI_SHARED_H */
