/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/output/output.h"

#include "mpi/options.h"

enum Kind { TEXT, FLAG, NUMBER, CHOICE };

/** An option and its target. */
typedef struct Option {
    const char *name;
    enum Kind kind;
    size_t offset;
    int value;                      ///< the value that a flag sets
    const char *const *choices;     ///< NULL-terminated; the option is set to the index plus value
    int max;                        ///< the largest value of a number; the smallest is 1
    const char *help;
} Option;

static const char *const hwaccels[] = { "none", "cuda", NULL };
static const char *const progress[] = { "auto", "no", "yes", NULL };
static const char *const mv_formats[]    = { "auto", "csv", "npy", NULL };
static const char *const stats_formats[] = { "auto", "text", "jsonl", NULL };
static const char *const levels[]   = { "quiet", "error", "warning", "info", "verbose", NULL };
static const int log_levels[] = { AV_LOG_QUIET, AV_LOG_ERROR, AV_LOG_WARNING, AV_LOG_INFO, AV_LOG_VERBOSE };

#define OFFSET(field) offsetof(Options, field)
static const Option table[] = {
    { "-i", TEXT, OFFSET(input),
      .help = "FILE  the video" },
    { "-vf", TEXT, OFFSET(filters),
      .help = "CHAIN  a chain of filters that ends with gpume=OPTIONS; filters before gpume must process "
              "each frame by itself" },
    { "--mv-file", TEXT, OFFSET(mv_file),
      .help = "FILE  write the vectors to this file, .npy or .csv" },
    { "--mv-format", CHOICE, OFFSET(mv_format), GPUME_MV_AUTO, mv_formats,
      .help = "auto|csv|npy  format of the vectors [auto: by the extension]" },
    { "--stats-file", TEXT, OFFSET(stats_file),
      .help = "FILE  write statistics to this file" },
    { "--stats-format", CHOICE, OFFSET(stats_format), GPUME_STATS_AUTO, stats_formats,
      .help = "auto|text|jsonl  format of the statistics [auto: by the extension]" },
    { "--hwaccel", CHOICE, OFFSET(cuda), .choices = hwaccels,
      .help = "none|cuda  where to decode [none]" },
    { "--resume", FLAG, OFFSET(resume), 1,
      .help = " keep the segments that an earlier run has finished" },
    { "--no-overwrite", FLAG, OFFSET(overwrite), 0,
      .help = " fail if a file exists" },
    { "--segment", NUMBER, OFFSET(segment), .max = 1 << 30,
      .help = "N  minimum number of frames of a segment [by the length of the video and the number of ranks]" },
    { "--threads", NUMBER, OFFSET(threads), .max = 1024,
      .help = "N  threads of each rank [its share of the cores]" },
    { "--progress", CHOICE, OFFSET(progress), -1, progress,
      .help = "auto|no|yes  show a progress bar [auto: on a terminal]" },
    { "-v", CHOICE, OFFSET(log_level), .choices = levels,
      .help = "quiet|error|warning|info|verbose  messages of FFmpeg [error]" },
    { "-h", FLAG, OFFSET(help), 1,
      .help = " print this text" },
    { "--help", FLAG, OFFSET(help), 1 },
};

void options_usage(void)
{
    puts("usage: mpirun -n RANKS gpume-mpi -i VIDEO -vf gpume=OPTIONS --mv-file FILE [--stats-file FILE]\n\n"
         "Searches the motion vectors of a video with many processes. Writes the same files as\n"
         "ffmpeg -i VIDEO -vf gpume=OPTIONS:mv_file=FILE:stats_file=FILE -f null -\n");
    for (int i = 0; i < FF_ARRAY_ELEMS(table); i++)
        if (table[i].help)
            printf("  %s %s\n", table[i].name, table[i].help);
}

static int set(const Option *option, Options *o, const char *value)
{
    void *field = (char *)o + option->offset;
    char *end = NULL;

    switch (option->kind) {
    case TEXT:
        *(const char **)field = value;
        return *value ? 0 : AVERROR(EINVAL);
    case FLAG:
        *(int *)field = option->value;
        return 0;
    case NUMBER: {
        long long number;

        errno  = 0;
        number = strtoll(value, &end, 10);
        if (errno || !*value || *end || number < 1 || number > option->max)
            return AVERROR(EINVAL);
        *(int *)field = number;
        return 0;
    }
    case CHOICE:
        for (int i = 0; option->choices[i]; i++)
            if (!strcmp(option->choices[i], value)) {
                *(int *)field = i + option->value;
                return 0;
            }
    }
    return AVERROR(EINVAL);
}

static int usage_error(int quiet, const char *what, const char *which)
{
    if (!quiet)
        fprintf(stderr, "gpume-mpi: %s%s; see gpume-mpi -h\n", what, which);
    return AVERROR(EINVAL);
}

/* Prints which values an option accepts. */
static int value_error(int quiet, const Option *option, const char *value)
{
    if (quiet)
        return AVERROR(EINVAL);
    fprintf(stderr, "gpume-mpi: '%s' is '%s'; it must be ", option->name, value);
    if (option->kind == NUMBER)
        fprintf(stderr, "1 to %d", option->max);
    else if (option->kind == TEXT)
        fprintf(stderr, "a name");
    for (int i = 0; option->kind == CHOICE && option->choices[i]; i++)
        fprintf(stderr, "%s%s", !i ? "" : option->choices[i + 1] ? ", " : " or ", option->choices[i]);
    fputs("; see gpume-mpi -h\n", stderr);
    return AVERROR(EINVAL);
}

static int check(const Options *o, int quiet)
{
    if (!o->input)
        return usage_error(quiet, "-i is needed", "");
    if (!o->filters)
        return usage_error(quiet, "-vf is needed", "");
    if (!o->mv_file && !o->stats_file)
        return usage_error(quiet, "there is nothing to write: --mv-file or --stats-file is needed", "");
    if (o->mv_format && !o->mv_file)
        return usage_error(quiet, "'--mv-format' is only valid with --mv-file", "");
    if (o->stats_format && !o->stats_file)
        return usage_error(quiet, "'--stats-format' is only valid with --stats-file", "");
    return 0;
}

int options_parse(Options *o, int argc, char **argv, int quiet)
{
    *o = (Options) { .overwrite = 1, .progress = PROGRESS_AUTO, .log_level = 1 };
    for (int i = 1; i < argc; i++) {
        const Option *option = NULL;

        for (int j = 0; j < FF_ARRAY_ELEMS(table) && !option; j++)
            if (!strcmp(argv[i], table[j].name))
                option = &table[j];
        if (!option)
            return usage_error(quiet, "unknown argument ", argv[i]);
        if (option->kind != FLAG && i + 1 == argc)
            return usage_error(quiet, "a value is missing after ", argv[i]);
        if (set(option, o, option->kind == FLAG ? "" : argv[i + 1]) < 0)
            return value_error(quiet, option, argv[i + 1]);
        i += option->kind != FLAG;
    }
    o->log_level = log_levels[o->log_level];
    return o->help ? 0 : check(o, quiet);
}
