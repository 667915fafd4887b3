/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Declarations that the files of the plugin share.
 */

#ifndef GPUME_VAPOURSYNTH_PLUGIN_H
#define GPUME_VAPOURSYNTH_PLUGIN_H

#include <stdatomic.h>
#include <stdint.h>

#include "VapourSynth4.h"

#include "libavutil/bprint.h"
#include "libavutil/dict.h"
#include "libavutil/fifo.h"
#include "libavutil/frame.h"
#include "libavutil/mathematics.h"
#include "libavutil/opt.h"
#include "libavfilter/avfilter.h"
#include "libavfilter/vf_gpume.h"

#define MAX_RUNS 2
/** Maximum number of output frames that are kept. */
#define MAX_KEPT  48
/** Number of input frames that are requested at once when some are missing. */
#define STEP      4
/** Maximum number of input frames before the requested one whose output is kept when a clip is read backwards. */
#define BACKWARDS 16
/** Maximum number of equal frames among which the first one is searched. */
#define MAX_STILL 100

enum Kind { DENOISE, FPS, VIEW, DEINTERLACE, STABILIZE, VECTORS, ANALYSE, ANALYSE_MANY, SCDETECT, NB_KINDS };

/** A function. Its arguments: first, then the options of the filter except those of without, then last. */
typedef struct PluginFunction {
    const char *name, *filter, *without, *first, *last;
} PluginFunction;

/** A graph to which frames are fed. */
typedef struct Run {
    AVFilterGraph *graph;       ///< NULL: the run is closed
    AVFilterContext *source, *sink;
    int next_in;                ///< next input frame
    int64_t next_out;           ///< next output frame
    int64_t exact_from;         ///< first output frame that is the same as if all input frames had been fed
    int flushed;
    int64_t first;              ///< STABILIZE: the frame at which the run has started
    int has_path;               ///< STABILIZE: whether the motion of a frame was found
    unsigned used;              ///< value of Clip.clock when the run was last used
    const VSFrame *last;        ///< last output frame
    AVFifo *fields;             ///< VECTORS: properties of the next output frames
    GpumeSink results;
    int of_fields;              ///< VECTORS: frames are fields, and vectors are those of the scene
    int tff;                    ///< VECTORS: whether the top field is first; negative: the property _Field tells
    const VSAPI *vs;
} Run;

/** A filter of a chain. Its options are never pasted into a text, so they can be nothing but options. */
typedef struct ChainFilter {
    const char *name;
    AVDictionary *options;
} ChainFilter;

typedef struct Clip {
    enum Kind kind;
    VSNode *node;
    VSVideoInfo in, out;
    enum AVPixelFormat format;
    ChainFilter chain[4];
    int nb_filters;
    int past;                   ///< number of input frames, before that of an output frame, on which it depends
    atomic_int ahead;           ///< number of input frames after it that were needed so far
    int leaves_repeats;         ///< DENOISE: the filter skips frames that repeat the one before them
    int64_t gap;                ///< FPS: distance of input frames beyond which nothing is interpolated
    int per_frame;              ///< number of output frames for each input frame; not for FPS
    int threads;
    int by_shot;                ///< STABILIZE: frames depend on all frames before them in their shot
    int by_combed;              ///< DEINTERLACE: frames that are not combed pass unchanged
    int needs_order;            ///< DEINTERLACE: frames must say which field is first
    int of_fields, tff;         ///< VECTORS: as in Run
    Run runs[MAX_RUNS];
    unsigned clock;
    struct { int64_t n; const VSFrame *frame; VSMap *fields; } kept[MAX_KEPT];
    int next_kept;
    const VSAPI *vs;
    VSCore *core;
} Clip;

/** The input frames that were requested for an output frame: first to end - 1. */
typedef struct Request {
    int first, end;
} Request;

/* options.c: arguments */

extern const PluginFunction functions[NB_KINDS];

/** Returns the type of the argument for an option of the filter, or NULL if the option is not an argument. */
const char *argument_type(enum Kind kind, const AVOption *o);
/** Returns the option of the function's filter after another one, or NULL. @param o NULL: the first one */
const AVOption *next_option(enum Kind kind, const AVOption *o);
/**
 * Sets the chain of filters from the arguments.
 * @param message memory for the error message
 * @return an error message, or NULL
 */
const char *set_options(Clip *c, const VSMap *in, char *message, size_t size);

/* frames.c: conversion between frames of VapourSynth and of libavutil */

enum AVPixelFormat pixel_format(const VSVideoFormat *f);
/** Returns the plane of libavutil, in which planes of RGB are green, blue, red. */
int plane_of(const Clip *c, int plane);
/** Returns 0, or an error after a message if a frame does not say which field is first and has to. */
int check_order(const Clip *c, const VSFrame *f, int number);
/** Returns a frame of libavutil with the content of a frame of VapourSynth and a reference to it, or NULL. */
AVFrame *import_frame(const Clip *c, const VSFrame *f, int64_t pts);
/** Returns a frame of VapourSynth with the content of an output frame of a run. */
const VSFrame *export_frame(const Clip *c, AVFrame *frame);
int64_t property(const Clip *c, const VSMap *map, const char *key, int64_t otherwise);

/* fields.c: motion fields */

/** Converts a result of gpume to frame properties, which its run keeps until the frame is output. */
int take_result(void *opaque, const GpumeResult *r, const GpumeStats *stats);

/* analyse.c: vectors in the form of MVUtensils */

/** Creates the filters of ANALYSE or ANALYSE_MANY. */
void VS_CC create_analysis(const VSMap *in, VSMap *out, void *kind, VSCore *core, const VSAPI *vs);
/** Creates the filter of SCDETECT. */
void VS_CC create_scenes(const VSMap *in, VSMap *out, void *kind, VSCore *core, const VSAPI *vs);

/* runs.c: graphs to which frames are fed */

void close_run(const Clip *c, Run *run);
/** Opens a graph for frames like this one. @param frame NULL: only to check and read options */
int open_run(Clip *c, Run *run, const AVFrame *frame);
/** Returns the input frame at, or before, the time of an output frame. */
int input_of(const Clip *c, int64_t n);
/** Returns the output frame of FPS at the time of an input frame. */
int64_t output_of(const Clip *c, int64_t m, enum AVRounding rounding);
/**
 * Starts a run at an input frame.
 * @param exact the first input frame whose output is the same as if all input frames had been fed
 */
int start_run(Clip *c, Run *run, int first, int exact, VSFrameContext *ctx);
int feed(Clip *c, Run *run, VSFrameContext *ctx);
/** Gets the next output frame of a run. @return 0; AVERROR(EAGAIN): it needs more input; AVERROR_EOF; other errors */
int pull(Clip *c, Run *run);

/* stabilize.c: the order of frames of Stabilize */

/** Sets on which frames an output frame depends, from the options of the filter. */
void set_shots(Clip *c, void *filter);
/** Finds out from an output frame where a shot begins. */
void note_shot(const Clip *c, Run *run, int64_t n, const AVFrame *frame);
/** Makes frames up to an output frame. @return 0, AVERROR(EAGAIN) after frames were requested, or another error */
int advance_shot(Clip *c, int64_t n, Request *r, VSFrameContext *ctx);

#endif /* GPUME_VAPOURSYNTH_PLUGIN_H */
