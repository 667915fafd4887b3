/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The formats of files, field by field: for the outputs, and for programs that write a file in
 * parts. A file is its header and then the fields of all pictures in stream order, those
 * of a picture in the order of its references.
 */

#ifndef AVFILTER_GPUME_OUTPUT_FORMAT_H
#define AVFILTER_GPUME_OUTPUT_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libavfilter/gpume/output/output.h"

/** Bytes before the first field of a .npy file: a multiple of 64 with room for any number of frames. */
#define GPUME_NPY_HEADER_SIZE 128
/** Values of the last axis: dx, dy, cost. */
#define GPUME_NPY_VALUES 3
/** Bytes of a field with so many blocks in a .npy file. */
#define GPUME_NPY_FIELD_SIZE(nb_blocks) (sizeof(int32_t) * GPUME_NPY_VALUES * (nb_blocks))

/** The header of a .npy file. @param nb_frames 0 as long as it is not known */
void ff_gpume_npy_header(uint8_t header[GPUME_NPY_HEADER_SIZE], int64_t nb_frames,
                         const GpumeParams *params);

/**
 * A field as it stands in a .npy file.
 * @param dst   GPUME_NPY_FIELD_SIZE(nb_blocks) bytes
 * @param field NULL: there is no such reference
 */
void ff_gpume_npy_field(uint8_t *dst, const GpumeField *field, size_t nb_blocks);

/** A picture as files name it. */
typedef struct GpumeStamp {
    int64_t number;         ///< from 1 on
    int64_t pts;            ///< in units of time_base, or AV_NOPTS_VALUE
    AVRational time_base;
} GpumeStamp;

/** Room for a time as text. */
#define GPUME_TIME_SIZE 64

/** A picture's time in seconds, as text; without a pts it is empty. */
void ff_gpume_time(char text[GPUME_TIME_SIZE], const GpumeStamp *stamp);

/** Print the header of a CSV file; errors are left to ferror(). */
void ff_gpume_csv_header(FILE *f);

/**
 * Print a field as CSV; errors are left to ferror().
 * @param time of the picture, as text; NULL: each line lacks its last column and the comma before
 */
void ff_gpume_csv_field(FILE *f, int64_t number, const char *time, const GpumeField *field, size_t nb_blocks);

/**
 * Print a line of statistics; errors are left to ferror().
 * @param format   GPUME_STATS_TEXT or GPUME_STATS_JSONL
 * @param distance of the reference
 */
void ff_gpume_stats_line(FILE *f, int format, const GpumeStamp *stamp, int distance, int nb_blocks,
                         const GpumeStats *stats);

#endif /* AVFILTER_GPUME_OUTPUT_FORMAT_H */
