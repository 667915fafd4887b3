/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Writes the fields of a segment to the disk. For .npy, each field has a fixed position in the common
 * file; for CSV, each segment has a file of its own. After the last field, the record of the segment
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

/** The output of all segments. */
typedef struct RowsConfig {
    const Shared *shared;
    const Work *work;
    const Film *film;
    GpumeParams params;     ///< parameters of the search, with those of the picture
    int needs_stats;
    MPI_File file;          ///< the common file of .npy
} RowsConfig;

typedef struct Rows {
    const RowsConfig *cfg;
    Record record;
    unsigned times_size, stats_size;    ///< allocated bytes of the arrays of the record
    struct AVMurMur3 *hash;
    uint8_t *buffer;        ///< rows of .npy that are not written yet
    size_t nb_bytes;
    int64_t offset;         ///< position of the buffer in the file
    FILE *f;                ///< the file of CSV
    char *path;
    int64_t nb_pending;     ///< number of pictures without results so far
    int ended;              ///< no more pictures will come
} Rows;

/** Returns the position of a segment's first field in a .npy file. */
int64_t rows_offset(const Film *film, const GpumeParams *params, int segment);

/** Begins a segment. @return NULL if there is no memory or no file */
Rows *rows_open(const RowsConfig *cfg, int segment);

/** Adds the times of a picture. */
int rows_time(Rows *r, const FrameTime *time);

/**
 * Writes a field.
 * @param number    number of the picture, from 1 on
 * @param reference index of its reference
 * @param field     NULL: there is no such picture
 * @param stats     may be NULL
 */
int rows_field(Rows *r, int64_t number, int reference, const GpumeField *field, const GpumeStats *stats);

/** Writes the rest, then the record. */
int rows_finish(Rows *r);

/** Frees the rows, and removes their file if they are not finished. */
void rows_free(Rows **rows);

#endif /* GPUME_MPI_ROWS_H */
