/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The files beside the output that exist until the output is complete. They are in a folder NAME.gpume-part:
 *   data            the file of vectors: each rank writes its vectors to it, .npy during the search, .csv at its end
 *   plan            the segments, and the film and filters that they belong to
 *   segment-N       the record of segment N, written when the segment has been searched: times, statistics and
 *                   checksums. A segment is finished if and only if this file exists and is valid
 *   csv-N           the vectors of segment N as CSV
 * Functions return 0 or a negative AVERROR code after a message.
 */

#ifndef GPUME_MPI_WORK_H
#define GPUME_MPI_WORK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libavfilter/gpume/output/output.h"

#include "mpi/clock.h"
#include "mpi/film.h"
#include "mpi/shared.h"

/** The kind of output for vectors. */
enum Kind { KIND_NONE, KIND_NPY, KIND_CSV };

typedef struct Work {
    const Shared *shared;
    char *folder;
    int kind;               ///< enum Kind
    uint8_t hash[HASH_SIZE];    ///< checksum of the film, the filters and the kind of output
} Work;

/** A line of statistics. */
typedef struct StatsRecord {
    int64_t number;         ///< number of the picture, from 1 on
    int64_t distance;       ///< distance of the reference
    GpumeStats stats;
} StatsRecord;

/** The record of a segment that has been searched. */
typedef struct Record {
    int64_t segment;
    int64_t nb_times;       ///< number of pictures whose fields belong to the segment
    int64_t nb_stats;
    int64_t size;           ///< bytes of vectors
    uint8_t hash[HASH_SIZE];    ///< checksum of the vectors
    uint8_t first[HASH_SIZE];   ///< checksum of the samples of its key frame
    uint8_t last[HASH_SIZE];    ///< checksum of the next segment's key frame
    AVRational rate;        ///< frames a second according to the decoder
    FrameTime *times;
    StatsRecord *stats;
} Record;

/** Returns the path of a file in the folder, which the caller frees, or NULL. @param number -1: none */
char *work_path(const Work *w, const char *name, int number);

/** Makes the folder, or empties it. */
int work_create(const Work *w);

/** Removes the folder and its contents. */
void work_remove(const Work *w);

/** Writes the plan. */
int work_save_plan(const Work *w, const Film *film);

/** Returns whether there is a folder with a plan. */
int work_exists(const Work *w);

/** Reads the segments from the plan. @return AVERROR(EINVAL) if the plan is for another film or other filters */
int work_load_plan(const Work *w, Film *film);

/** Writes the record of a segment, which is then finished. */
int work_save(const Work *w, const Record *record);

/**
 * Reads the record of a segment.
 * @return 0; AVERROR(ENOENT) without a message if the segment is not finished or the record is damaged
 */
int work_load(const Work *w, int segment, Record *record);

void record_free(Record *record);

/** Writes a file outside the folder, such as the record of a finished film. */
int work_save_file(const Work *w, const char *path, const void *data, size_t size);

/** Reads such a file. @return AVERROR(ENOENT) without a message if its hash is not w->hash or its size differs */
int work_load_file(const Work *w, const char *path, void *data, size_t size);

/** Reports the error in errno. @return its AVERROR code */
int work_error(const Work *w, int segment, const char *what, const char *path);

#endif /* GPUME_MPI_WORK_H */
