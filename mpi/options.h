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
    const char *input;          ///< NULL with list
    const char *list;           ///< file with the name of a film on each line; may be NULL
    const char *filters;        ///< a filter chain that ends in gpume
    const char *mv_file;        ///< may be NULL; with list, %s stands for the name of the film
    int mv_format;              ///< enum GpumeMvFormat
    const char *stats_file;     ///< may be NULL; with list, %s stands for the name of the film
    int stats_format;           ///< enum GpumeStatsFormat
    int cuda;                   ///< decode on the GPU
    int resume;                 ///< skip films and keep segments that an earlier run has finished
    int overwrite;              ///< 0: an existing file is an error
    int64_t segment;            ///< minimum number of frames of a segment; 0: automatic
    int threads;                ///< threads of a rank; 0: its share of the cores
    int progress;               ///< 0, 1, or PROGRESS_AUTO
    int times;                  ///< print the time of each step
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
