/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The file formats, field by field, for outputs and for programs that write parts of a file. A file
 * is a header and the fields of all pictures in stream order. The fields of a picture are in the
 * order of its references.
 */

#ifndef AVFILTER_GPUME_OUTPUT_FORMAT_H
#define AVFILTER_GPUME_OUTPUT_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libavfilter/gpume/output/output.h"

/** Size of the header of a .npy file: a multiple of 64 that is sufficient for any number of frames. */
#define GPUME_NPY_HEADER_SIZE 128

/** Returns the size of the last axis: dx, dy, cost and, with a tree, the side of the leaf. */
static inline int gpume_npy_values(const GpumeParams *params)
{
    return 3 + !!params->tree;
}

/** Returns the size of a field in a .npy file, in bytes. */
static inline size_t gpume_npy_field_size(const GpumeParams *params)
{
    return sizeof(int32_t) * gpume_npy_values(params) * params->bw * params->bh;
}

/** What can be used instead of a .npy file of vectors in a pipe. */
#define GPUME_NPY_REMEDY "mv_format=npys or csv"

/** Offset of the text in a .npy header. */
#define GPUME_NPY_START 10

/**
 * Reports that a file is a pipe, to which no .npy file can be written.
 * @param remedy what can be used instead
 * @return AVERROR(ESPIPE)
 */
int ff_gpume_npy_refuse(const char *path, const char *remedy, void *log_ctx);

/**
 * Opens a .npy file that a filter writes itself, as ff_gpume_file_open() does, but no pipe.
 * @return 0, or an AVERROR code with a message
 */
int ff_gpume_npy_open(GpumeFile *file, const char *path, int overwrite, void *log_ctx);

/**
 * Writes its header.
 * @param descr type of the values: "<f8"
 * @param nb    number of items, the first dimension; 0 until it is known
 * @param item  the other dimensions: "2, 3"
 */
int ff_gpume_npy_begin(GpumeFile *file, const char *descr, int64_t nb, const char *item);

/**
 * Writes the header again with the number of items, closes the file and gives it its name; or removes it, if it has
 * failed. Harmless if no file is open.
 * @return 0, or an AVERROR code with a message
 */
int ff_gpume_npy_end(GpumeFile *file, const char *descr, int64_t nb, const char *item);

/** Completes a .npy header of size bytes, a multiple of 64, around the zero-terminated text at GPUME_NPY_START. */
void ff_gpume_npy_frame(char *header, int size);

/**
 * Writes the header of a .npy file.
 * @param nb_frames 0 while the number is unknown
 */
void ff_gpume_npy_header(uint8_t header[GPUME_NPY_HEADER_SIZE], int64_t nb_frames,
                         const GpumeParams *params);

/**
 * Writes a field in the format of .npy files.
 * @param dst   gpume_npy_field_size() bytes
 * @param field NULL: the picture has no such reference
 */
void ff_gpume_npy_field(uint8_t *dst, const GpumeField *field, const GpumeParams *params);

/** Identifies a picture in files. */
typedef struct GpumeStamp {
    int64_t number;         ///< from 1 on
    int64_t pts;            ///< in units of time_base, or AV_NOPTS_VALUE
    AVRational time_base;
} GpumeStamp;

/** Fields with which each record of a stream for NumPy begins, and their size. */
#define GPUME_NPYS_FIELDS "('number', '<i8'), ('pts', '<i8'), ('pts_time', '<f8'), ('distance', '<i4'), " \
                          "('pel', '<i4'), ('block', '<i4'), ('width', '<i4'), ('height', '<i4'), ('leaves', '<i4'), "
#define GPUME_NPYS_SIZE 48

/** Writes these fields. @param numbers distance, pel, block, width, height, leaves */
void ff_gpume_npys_begin(uint8_t dst[GPUME_NPYS_SIZE], const GpumeStamp *stamp, const int numbers[6]);

/** Size of a buffer for a time as text. */
#define GPUME_TIME_SIZE 64

/** Formats a picture's time in seconds. The text is empty if the picture has no pts. */
void ff_gpume_time(char text[GPUME_TIME_SIZE], const GpumeStamp *stamp);

/** Prints the header of a CSV file. The caller checks ferror(). */
void ff_gpume_csv_header(FILE *f);

/**
 * Prints a field as CSV. The caller checks ferror().
 * @param time time of the picture as text; NULL: lines have no time column
 */
void ff_gpume_csv_field(FILE *f, int64_t number, const char *time, const GpumeField *field);

/**
 * Prints a line of statistics. The caller checks ferror().
 * @param format   GPUME_STATS_TEXT or GPUME_STATS_JSONL
 * @param distance distance of the reference
 */
void ff_gpume_stats_line(FILE *f, int format, const GpumeStamp *stamp, int distance,
                         const GpumeStats *stats);

#endif /* AVFILTER_GPUME_OUTPUT_FORMAT_H */
