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

/** Returns the values of the last axis: dx, dy, cost and, with a tree, the side of the leaf. */
static inline int gpume_npy_values(const GpumeParams *params)
{
    return 3 + !!params->tree;
}

/** Returns the bytes of a field in a .npy file. */
static inline size_t gpume_npy_field_size(const GpumeParams *params)
{
    return sizeof(int32_t) * gpume_npy_values(params) * params->bw * params->bh;
}

/** Bytes of a .npy header before its text. */
#define GPUME_NPY_START 10

/** Makes a .npy header of size bytes, a multiple of 64, of the text that stands at GPUME_NPY_START, ended by 0. */
void ff_gpume_npy_frame(char *header, int size);

/** The header of a .npy file. @param nb_frames 0 as long as it is not known */
void ff_gpume_npy_header(uint8_t header[GPUME_NPY_HEADER_SIZE], int64_t nb_frames,
                         const GpumeParams *params);

/**
 * A field as it stands in a .npy file.
 * @param dst   gpume_npy_field_size() bytes
 * @param field NULL: there is no such reference
 */
void ff_gpume_npy_field(uint8_t *dst, const GpumeField *field, const GpumeParams *params);

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
void ff_gpume_csv_field(FILE *f, int64_t number, const char *time, const GpumeField *field);

/**
 * Print a line of statistics; errors are left to ferror().
 * @param format   GPUME_STATS_TEXT or GPUME_STATS_JSONL
 * @param distance of the reference
 */
void ff_gpume_stats_line(FILE *f, int format, const GpumeStamp *stamp, int distance,
                         const GpumeStats *stats);

#endif /* AVFILTER_GPUME_OUTPUT_FORMAT_H */
