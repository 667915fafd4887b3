/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The files beside the output that exist until the output is complete. They are in a folder NAME.gpume-part:
 *   plan            the segments
 *   data            the .npy file, in which each field has a fixed position
 *   csv-N, stats-N  the vectors of segment N as CSV, and its statistics
 *   segment-N       the record of segment N, written when the segment has been searched.
 *                   A segment is finished if and only if this file exists and is valid
 * The plan and the records have a checksum of the video and the options that they belong to.
 * Functions return 0, or a negative AVERROR code after a message.
 */

#ifndef GPUME_MPI_SEGMENTS_H
#define GPUME_MPI_SEGMENTS_H

#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#include "libavfilter/gpume/output/format.h"

#include "mpi/video.h"
#include "mpi/shared.h"

/** The kind of output for vectors. */
enum Kind { KIND_NONE, KIND_NPY, KIND_CSV };

/** The output of all segments. */
typedef struct Segments {
    const Shared *shared;
    Video *video;
    char folder[PATH_MAX];
    int kind;               ///< enum Kind
    int stats_format;       ///< enum GpumeStatsFormat; -1: no statistics
    GpumeParams params;     ///< parameters of the search, with those of the picture
    uint8_t hash[HASH_SIZE];    ///< checksum of the video, the filters and the kind of output
    int fd;                 ///< the file of .npy, in which each rank writes its segments; -1: not open
} Segments;

/** The record of a segment that has been searched. */
typedef struct Record {
    int64_t segment;
    int64_t nb_frames;      ///< number of pictures whose fields belong to the segment
    uint8_t hash[HASH_SIZE];    ///< checksum of its vectors and statistics
    uint8_t first[HASH_SIZE];   ///< checksum of the samples of its key frame
    uint8_t last[HASH_SIZE];    ///< checksum of the next segment's key frame
} Record;

/** A segment that is being searched. */
typedef struct Rows {
    const Segments *segments;
    Record record;
    uint8_t *buffer;        ///< a field of .npy
    int64_t offset;         ///< position of the next field in the file
    FILE *csv, *stats;      ///< NULL: not wanted
    int64_t nb_pending;     ///< number of pictures without results so far
    int ended;              ///< no more pictures will come
} Rows;

/** Returns the path of a file in the folder, which the caller frees, or NULL. @param number -1: none */
char *segments_path(const Segments *s, const char *name, int number);

/** Makes the folder, or empties it, and writes the plan. */
int segments_create(const Segments *s);

/** Reads the segments from the plan. @return AVERROR(ENOENT) without a message if there is none, or it is damaged */
int segments_load(const Segments *s);

/** Removes the folder and its contents. */
void segments_remove(const Segments *s);

/** Opens the file of .npy, if that is the kind of output. */
int segments_open(Segments *s);

/** Closes the file of .npy if it is open. */
int segments_close(Segments *s);

/** Writes to the file of .npy. @param segment the segment that a message names; -1: none */
int segments_write(const Segments *s, int segment, int64_t offset, const uint8_t *data, size_t size);

/** Returns the position of a segment's first field in a .npy file. */
int64_t segments_offset(const Segments *s, int segment);

/** Reads the record of a segment. @return AVERROR(ENOENT) without a message if it is not finished or is damaged */
int record_load(const Segments *s, int segment, Record *record);

/** Returns whether the vectors and statistics of a segment match its record. */
int record_is_intact(const Segments *s, const Record *record);

/** Reports the error in errno. @return its AVERROR code */
int segments_error(const Segments *s, int segment, const char *what, const char *path);

/** Begins a segment. @return NULL after a message */
Rows *rows_open(const Segments *s, int segment);

/**
 * Writes a field.
 * @param reference index of its reference
 * @param field     NULL: there is no such picture
 * @param stats     NULL: there is no such picture
 */
int rows_field(Rows *r, const GpumeStamp *stamp, int reference, const GpumeField *field, const GpumeStats *stats);

/** Writes the rest, then the record. */
int rows_finish(Rows *r);

/** Frees the rows. */
void rows_free(Rows **rows);

#endif /* GPUME_MPI_SEGMENTS_H */
