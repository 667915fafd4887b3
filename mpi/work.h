/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What is kept beside the output until it is whole: a folder NAME.gpume-part with
 *   data            the file of vectors, in which each rank writes its rows (.npy), or which is
 *                   put together in the end (.csv)
 *   plan            the segments, and what they are segments of
 *   segment-N       what is known of segment N once it has been searched: times, statistics and
 *                   checksums. A segment is finished if and only if this file is there and right
 *   csv-N           its vectors as CSV
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

/** What kind of vectors are written. */
enum Kind { KIND_NONE, KIND_NPY, KIND_CSV };

typedef struct Work {
    const Shared *shared;
    char *folder;
    int kind;               ///< enum Kind
    uint8_t hash[HASH_SIZE];    ///< of the film, the filters and what is written
} Work;

/** A line of statistics. */
typedef struct StatsRecord {
    int64_t number;         ///< of the picture, from 1 on
    int64_t distance;       ///< of the reference
    GpumeStats stats;
} StatsRecord;

/** What is known of a segment that has been searched. */
typedef struct Record {
    int64_t segment;
    int64_t nb_times;       ///< pictures whose fields are the segment's
    int64_t nb_stats;
    int64_t size;           ///< bytes of vectors
    uint8_t hash[HASH_SIZE];    ///< of them
    uint8_t first[HASH_SIZE];   ///< of the samples of its key frame
    uint8_t last[HASH_SIZE];    ///< of the next segment's key frame
    AVRational rate;        ///< frames a second as the decoder knows them
    FrameTime *times;
    StatsRecord *stats;
} Record;

/** A file in the folder. @param number -1: none. @return to be freed, or NULL */
char *work_path(const Work *w, const char *name, int number);

/** Make the folder, or an empty one of it. */
int work_create(const Work *w);

/** Remove the folder and what is in it. */
void work_remove(const Work *w);

/** Write the plan. */
int work_save_plan(const Work *w, const Film *film);

/** Whether there is a folder with a plan. */
int work_exists(const Work *w);

/** Take the segments from the plan. @return AVERROR(EINVAL) if it is that of another film or other filters */
int work_load_plan(const Work *w, Film *film);

/** Write a segment's record: from now on it is finished. */
int work_save(const Work *w, const Record *record);

/**
 * Read a segment's record.
 * @return 0; AVERROR(ENOENT) without a message if it is not finished, or the record is damaged
 */
int work_load(const Work *w, int segment, Record *record);

void record_free(Record *record);

/** Write a file of ours that lies elsewhere: a name beside the output. */
int work_save_file(const Work *w, const char *path, const void *data, size_t size);

/** Read it. @return AVERROR(ENOENT) without a message if it is not that of w->hash, or not of this size */
int work_load_file(const Work *w, const char *path, void *data, size_t size);

/** Report the error in errno. @return its AVERROR code */
int work_error(const Work *w, int segment, const char *what, const char *path);

#endif /* GPUME_MPI_WORK_H */
