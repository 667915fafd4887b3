/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The command line.
 */

#ifndef GPUME_MPI_OPTIONS_H
#define GPUME_MPI_OPTIONS_H

#include <stdint.h>

enum { PROGRESS_AUTO = -1 };

typedef struct Options {
    const char *input;
    const char *filters;        ///< a filter chain that ends in gpume
    const char *mv_file;        ///< may be NULL
    int mv_format;              ///< enum GpumeMvFormat
    const char *stats_file;     ///< may be NULL
    int stats_format;           ///< enum GpumeStatsFormat
    int cuda;                   ///< decode on the GPU
    int resume;                 ///< keep the segments that an earlier run has finished
    int overwrite;              ///< 0: an existing file is an error
    int segment;                ///< minimum number of frames of a segment; 0: automatic
    int threads;                ///< threads of a rank; 0: its share of the cores
    int progress;               ///< 0, 1, or PROGRESS_AUTO
    int log_level;              ///< AV_LOG_*
    int help;
} Options;

/**
 * Reads the command line.
 * @param quiet do not print messages
 * @return 0; or AVERROR(EINVAL), after a message unless quiet
 */
int options_parse(Options *o, int argc, char **argv, int quiet);

/** Prints the usage. */
void options_usage(void);

#endif /* GPUME_MPI_OPTIONS_H */
