/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The outputs export results in frames or files. This file has their table and common declarations.
 *
 * To add an output, add a file, and a row in GPUME_OUTPUTS.
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
    GPUME_HINT_CONSTANT,        ///< rectangles that equal the previous frames
};

/** Formats of vectors. AUTO: chosen by the file name; CSV if the file is written directly. */
enum GpumeMvFormat { GPUME_MV_AUTO, GPUME_MV_CSV, GPUME_MV_NPY, GPUME_MV_NPYS, GPUME_MV_CODEC };

/** Formats of statistics. AUTO: chosen by the file name, or TEXT. */
enum GpumeStatsFormat { GPUME_STATS_AUTO, GPUME_STATS_TEXT, GPUME_STATS_JSONL };

/** How the stream has ended. */
enum GpumeEnd {
    GPUME_END_FAILED,       ///< files are incomplete
    GPUME_END_UNWANTED,     ///< no more output is wanted
    GPUME_END_INPUT,        ///< the input has ended, or the filter is closed: another graph may continue the stream
};

/** Statistics of a field. */
typedef struct GpumeStats {
    int nb;                     ///< number of vectors
    uint64_t cost;              ///< sum of the costs
    int zero;                   ///< number of vectors equal to (0,0)
    double mean_mv;             ///< mean Euclidean length in samples
    double max_mv;              ///< largest Euclidean length in samples
    double sound;               ///< share of consistent vectors, 0 to 1; 1 if they were not checked
    uint64_t intra;             ///< GpumeField.intra
    double scene;               ///< cost / intra, 0 to 1; near 1 if the pictures have little in common
    int cut;                    ///< whether a scene begins with the picture; -1: only the field at distance -1 tells
    /* the following are only set with GpumeParams.tree; else nb_sizes is 0 */
    int nb_sizes;
    int block;                  ///< side of the smallest blocks
    int leaves[GPUME_MAX_SIZES];    ///< number of leaves of each size
    uint64_t bits;              ///< GpumeField.bits
    uint64_t rd;                ///< GpumeField.rd
} GpumeStats;

/** Receives results instead of files, for a program that runs the filter in its own graph. */
typedef struct GpumeSink {
    /**
     * Receives a result; results come in stream order.
     * @param stats statistics of the result's fields, in their order; only with needs_stats
     * @return 0, or an AVERROR code after a message; an error ends the filter
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
    AVRational time_base;       ///< time base of the frames
    GpumeExecutor executor;
    const GpumeSink *sink;      ///< may be NULL
    void *log_ctx;
} GpumeOutputConfig;

/** An output. Its functions return 0 or an AVERROR code. */
typedef struct GpumeOutput {
    size_t priv_size;           ///< size of priv, which is zeroed
    int needs_stats;            ///< write() reads the statistics
    /** Returns whether the options request this output. Sets *path to the file that it writes, if any. */
    int (*wanted)(const GpumeOutputConfig *cfg, const char **path);
    /**
     * Optional. Begins the file, if any. cfg is valid only during the call.
     * @param params parameters of the first pictures
     */
    int (*open)(void *priv, GpumeFile *file, const GpumeOutputConfig *cfg, const GpumeParams *params);
    /**
     * Writes a result.
     * @param stats statistics of the result's fields, in their order
     */
    int (*write)(void *priv, GpumeFile *file, GpumeResult *result, const GpumeStats *stats);
    /** Optional. Completes the file at the end of the stream. */
    int (*complete)(void *priv, GpumeFile *file);
    /** Optional. Frees the private data. */
    void (*uninit)(void *priv);
} GpumeOutput;

/** The outputs, in the order in which they receive a result. The last output may keep the result's vectors. */
#define GPUME_OUTPUTS(O) O(csv) O(npy) O(npys) O(decoder) O(stats) O(metadata) O(constant) O(sidedata)

typedef struct GpumeOutputs GpumeOutputs;

/** Writes the name of a reference: "past", "future"; at larger distances "past2", "future3" and so on. */
void ff_gpume_reference_name(char *buf, size_t size, int distance);

/** Returns the format of the vector file, or GPUME_MV_AUTO if there is no file or its format is unknown. */
enum GpumeMvFormat ff_gpume_mv_format(const GpumeOutputConfig *cfg);

/** Returns the format of the statistics, never GPUME_STATS_AUTO. */
enum GpumeStatsFormat ff_gpume_stats_format(const GpumeOutputConfig *cfg);

/**
 * Checks the options before anything is opened.
 * @return 0, or AVERROR(EINVAL) with a message
 */
int ff_gpume_outputs_check(const GpumeOutputConfig *cfg);

/**
 * Creates the requested files.
 * @return 0, or an AVERROR code with a message that names the file; *outputs is then NULL
 */
int ff_gpume_outputs_open(GpumeOutputs **outputs, const GpumeOutputConfig *cfg,
                          const GpumeParams *params);

/**
 * Passes a result to every output. Its frame gets side data and metadata. On return, the files'
 * data has been passed to the system.
 */
int ff_gpume_outputs_write(GpumeOutputs *outputs, GpumeResult *result);

/**
 * Completes or removes the files, and sets *outputs to NULL. Does nothing if *outputs is NULL.
 * After GPUME_END_FAILED, or if a file could not be written, all files are removed. Otherwise all
 * files get their final names.
 * @return 0 or the first error
 */
int ff_gpume_outputs_close(GpumeOutputs **outputs, enum GpumeEnd end);

#endif /* AVFILTER_GPUME_OUTPUT_OUTPUT_H */
