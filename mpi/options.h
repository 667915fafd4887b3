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
    const char *list;           ///< file with a name of a clip on each line; may be NULL
    const char *filters;        ///< a chain that ends in gpume
    const char *mv_file;        ///< may be NULL; with list %s is the clip's name
    int mv_format;              ///< enum GpumeMvFormat
    const char *stats_file;     ///< may be NULL; with list %s is the clip's name
    int stats_format;           ///< enum GpumeStatsFormat
    int cuda;                   ///< decode on the GPU
    int resume;                 ///< skip and keep what an earlier run has finished
    int overwrite;              ///< 0: a file that exists is an error
    int64_t segment;            ///< frames of a segment at least; 0: by itself
    int threads;                ///< of a rank; 0: the cores that it has
    int progress;               ///< 0, 1, or PROGRESS_AUTO
    int times;                  ///< print how long each step took
    int log_level;              ///< AV_LOG_*
    int help;
} Options;

/**
 * Read the command line.
 * @param quiet do not print messages
 * @return 0; or AVERROR(EINVAL), after a message unless quiet
 */
int options_parse(Options *o, int argc, char **argv, int quiet);

/** Print how the program is used. */
void options_usage(void);

#endif /* GPUME_MPI_OPTIONS_H */
