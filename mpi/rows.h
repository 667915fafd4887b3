/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The fields of a segment on their way to the disk. Those of .npy have a known place in the common
 * file; those of CSV go to a file of the segment. When the last one has come the segment's record
 * is written. Functions return 0 or a negative AVERROR code after a message.
 */

#ifndef GPUME_MPI_ROWS_H
#define GPUME_MPI_ROWS_H

#include <mpi.h>
#include <stdio.h>

#include "libavutil/murmur3.h"

#include "libavfilter/gpume/output/output.h"

#include "mpi/film.h"
#include "mpi/work.h"

/** Where the rows of all segments go. */
typedef struct RowsConfig {
    const Shared *shared;
    const Work *work;
    const Film *film;
    GpumeParams params;     ///< of the search, with those of the picture
    int needs_stats;
    MPI_File file;          ///< of .npy
} RowsConfig;

typedef struct Rows {
    const RowsConfig *cfg;
    Record record;
    unsigned times_size, stats_size;    ///< of the record's arrays, bytes
    struct AVMurMur3 *hash;
    uint8_t *buffer;        ///< of .npy
    size_t nb_bytes;
    int64_t offset;         ///< in the file, of the buffer
    FILE *f;                ///< of CSV
    char *path;
    int64_t nb_pending;     ///< pictures whose results are still to come
    int ended;              ///< no more pictures come
} Rows;

/** The place of a segment's first field in a .npy file. */
int64_t rows_offset(const Film *film, const GpumeParams *params, int segment);

/** Begin a segment. @return NULL if there is no memory or no file */
Rows *rows_open(const RowsConfig *cfg, int segment);

/** Note a picture's times. */
int rows_time(Rows *r, const FrameTime *time);

/**
 * Write a field.
 * @param number    of the picture, from 1 on
 * @param reference index of its reference
 * @param field     NULL: there is no such picture
 * @param stats     may be NULL
 */
int rows_field(Rows *r, int64_t number, int reference, const GpumeField *field, const GpumeStats *stats);

/** Write what is left, then the record. */
int rows_finish(Rows *r);

/** Free it; what is not finished is removed. */
void rows_free(Rows **rows);

#endif /* GPUME_MPI_ROWS_H */
