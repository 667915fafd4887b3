/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The outputs, which export results in frames or files: their table and what they share.
 *
 * To add an output: its file, and its row in GPUME_OUTPUTS.
 */

#ifndef AVFILTER_GPUME_OUTPUT_OUTPUT_H
#define AVFILTER_GPUME_OUTPUT_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "libavutil/rational.h"

#include "libavfilter/gpume/core/engine.h"
#include "libavfilter/gpume/output/file.h"

/** Hints for encoders. */
enum GpumeHint {
    GPUME_HINT_NONE,
    GPUME_HINT_CONSTANT,        ///< rectangles that are equal to the previous frames'
};

/** The formats of vectors. AUTO: by the name, CSV where a file is written directly. */
enum GpumeMvFormat { GPUME_MV_AUTO, GPUME_MV_CSV, GPUME_MV_NPY, GPUME_MV_NPYS };

/** The formats of statistics. AUTO: by the name, else TEXT. */
enum GpumeStatsFormat { GPUME_STATS_AUTO, GPUME_STATS_TEXT, GPUME_STATS_JSONL };

/** How the stream has ended. */
enum GpumeEnd {
    GPUME_END_FAILED,       ///< files are incomplete
    GPUME_END_UNWANTED,     ///< no more is wanted
    GPUME_END_INPUT,        ///< the input has ended, or the filter is closed: another graph may continue the stream
};

/** Statistics of a field. */
typedef struct GpumeStats {
    int nb;                     ///< vectors
    uint64_t cost;              ///< sum of the costs
    int zero;                   ///< vectors equal to (0,0)
    double mean_mv;             ///< mean Euclidean length, samples
    double max_mv;              ///< largest Euclidean length, samples
    double sound;               ///< share of consistent vectors, 0 to 1; 1 without the check
    uint64_t intra;             ///< GpumeField.intra
    double scene;               ///< cost over intra, 0 to 1: near 1 the pictures have little in common
    /* with GpumeParams.tree, else nb_sizes is 0 */
    int nb_sizes;
    int block;                  ///< side of the smallest blocks
    int leaves[GPUME_MAX_SIZES];    ///< of each size
    uint64_t bits;              ///< GpumeField.bits
    uint64_t rd;                ///< GpumeField.rd
} GpumeStats;

/** Takes the results in place of files: a program that has the filter in a graph of its own. */
typedef struct GpumeSink {
    /**
     * Take a result, in stream order.
     * @param stats of its fields, in their order; only with needs_stats
     * @return 0 or an AVERROR code after a message, which ends the filter
     */
    int (*write)(void *opaque, const GpumeResult *result, const GpumeStats *stats);
    void *opaque;
    int needs_stats;
} GpumeSink;

/** The user's options. Strings must remain valid until the outputs are closed. */
typedef struct GpumeOutputConfig {
    const char *mv_file;        ///< "-": standard output; may be NULL
    int mv_format;              ///< enum GpumeMvFormat
    const char *stats_file;     ///< "-": standard output; may be NULL
    int stats_format;           ///< enum GpumeStatsFormat
    int overwrite;              ///< 0: a regular file that exists is an error
    int metadata;               ///< set frame metadata
    int hint;                   ///< enum GpumeHint
    AVRational time_base;       ///< of the frames
    const GpumeSink *sink;      ///< may be NULL
    void *log_ctx;
} GpumeOutputConfig;

/** An output. Functions return 0 or an AVERROR code. */
typedef struct GpumeOutput {
    size_t priv_size;           ///< size of priv, which is zeroed
    int needs_stats;            ///< write() reads the statistics
    /** Whether the options ask for it. Sets *path to the file that it writes, if any. */
    int (*wanted)(const GpumeOutputConfig *cfg, const char **path);
    /** Optional: begin the file, if any. cfg is valid during the call only. @param params of the first pictures */
    int (*open)(void *priv, GpumeFile *file, const GpumeOutputConfig *cfg, const GpumeParams *params);
    /** Write a result. @param stats of its fields, in their order */
    int (*write)(void *priv, GpumeFile *file, GpumeResult *result, const GpumeStats *stats);
    /** Optional: the stream has ended; complete the file. */
    int (*complete)(void *priv, GpumeFile *file);
    /** Optional. */
    void (*uninit)(void *priv);
} GpumeOutput;

/** The outputs, in the order in which they are given a result; the last may keep its vectors. */
#define GPUME_OUTPUTS(O) O(csv) O(npy) O(npys) O(stats) O(metadata) O(constant) O(sidedata)

typedef struct GpumeOutputs GpumeOutputs;

/** "past", "future"; of references further away "past2", "future3" and so on. */
void ff_gpume_reference_name(char *buf, size_t size, int distance);

/** The format of the file of vectors; GPUME_MV_AUTO if nothing says it, or there is none. */
enum GpumeMvFormat ff_gpume_mv_format(const GpumeOutputConfig *cfg);

/** The format of the statistics: not GPUME_STATS_AUTO. */
enum GpumeStatsFormat ff_gpume_stats_format(const GpumeOutputConfig *cfg);

/**
 * Check the options before anything is opened.
 * @return 0, or AVERROR(EINVAL) with a message
 */
int ff_gpume_outputs_check(const GpumeOutputConfig *cfg);

/**
 * Create the files that are asked for.
 * @return 0 or the error, with a message that says which file, and *outputs NULL
 */
int ff_gpume_outputs_open(GpumeOutputs **outputs, const GpumeOutputConfig *cfg,
                          const GpumeParams *params);

/**
 * Give a result to every output; its frame gets side data and metadata. On return the
 * files' data has been handed to the system.
 */
int ff_gpume_outputs_write(GpumeOutputs *outputs, GpumeResult *result);

/**
 * Complete or remove the files; sets *outputs to NULL, and does nothing if it is NULL. After
 * GPUME_END_FAILED they are removed. Otherwise they get their names, unless one could not be
 * written: then all are removed.
 * @return 0 or the first error
 */
int ff_gpume_outputs_close(GpumeOutputs **outputs, enum GpumeEnd end);

#endif /* AVFILTER_GPUME_OUTPUT_OUTPUT_H */
