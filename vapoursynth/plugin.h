/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the files of the plugin share.
 */

#ifndef GPUME_VAPOURSYNTH_PLUGIN_H
#define GPUME_VAPOURSYNTH_PLUGIN_H

#include <stdatomic.h>
#include <stdint.h>

#include "VapourSynth4.h"

#include "libavutil/bprint.h"
#include "libavutil/fifo.h"
#include "libavutil/frame.h"
#include "libavutil/mathematics.h"
#include "libavfilter/avfilter.h"
#include "libavfilter/vf_gpume.h"

#define MAX_LANES 2
/** Output frames that are kept. */
#define MAX_KEPT  48
/** Input frames that are requested at once where some are lacking. */
#define STEP      4
/** Equal frames among which the first one is sought. */
#define MAX_STILL 100

enum Kind { DENOISE, FPS, VIEW, DEINTERLACE, VECTORS, ANALYSE, ANALYSE_MANY };

/** A graph that is being fed. */
typedef struct Lane {
    AVFilterGraph *graph;       ///< NULL: it is closed
    AVFilterContext *source, *sink;
    int next_in;                ///< input frame that it needs next
    int64_t next_out;           ///< output frame that it gives next
    int64_t exact_from;         ///< the first one that is as if all frames had been fed
    int flushed;
    unsigned used;              ///< when
    const VSFrame *last;        ///< that came out
    AVFifo *fields;             ///< VECTORS: properties of the next output frames
    GpumeSink results;
    const VSAPI *vs;
} Lane;

typedef struct Clip {
    enum Kind kind;
    VSNode *node;
    VSVideoInfo in, out;
    enum AVPixelFormat format;
    AVBPrint chain;             ///< the filters
    int past;                   ///< input frames before that at an output frame on which it depends
    atomic_int ahead;           ///< input frames behind it that have been needed so far
    int leaves_repeats;         ///< DENOISE: frames that repeat others are no pictures of its sequence
    int64_t gap;                ///< FPS: input frames, between farther ones nothing is interpolated
    int per_frame;              ///< output frames for each input frame, but of FPS
    int threads;
    int by_combed;              ///< DEINTERLACE: frames that are not combed pass
    Lane lanes[MAX_LANES];
    unsigned clock;
    struct { int64_t n; const VSFrame *frame; VSMap *fields; } kept[MAX_KEPT];
    int next_kept;
    const VSAPI *vs;
    VSCore *core;
} Clip;

/* frames.c: frames of VapourSynth and of libavutil */

enum AVPixelFormat pixel_format(const VSVideoFormat *f);
/** Planes of RGB are green, blue, red there. */
int plane_of(const Clip *c, int plane);
/** Makes a frame of libavutil, which owns a reference of the given one. */
AVFrame *import_frame(const Clip *c, const VSFrame *f, int64_t pts);
/** Makes a frame of one that came out of a lane. */
const VSFrame *export_frame(const Clip *c, AVFrame *frame);
int64_t property(const Clip *c, const VSMap *map, const char *key, int64_t otherwise);

/* fields.c: motion fields */

/** Makes properties of a result of gpume, which its lane keeps until the frame comes out. */
int take_result(void *opaque, const GpumeResult *r, const GpumeStats *stats);

/* analyse.c: vectors in the form of MVUtensils */

/** Creates the filters of ANALYSE or ANALYSE_MANY. */
void VS_CC create_analysis(const VSMap *in, VSMap *out, void *kind, VSCore *core, const VSAPI *vs);

/* lanes.c: graphs that are fed */

void close_lane(const Clip *c, Lane *lane);
/** Opens a graph for frames like this one. @param frame NULL: for its options only */
int open_lane(Clip *c, Lane *lane, const AVFrame *frame);
/** The input frame at, or before, an output frame. */
int input_of(const Clip *c, int64_t n);
/** The output frame of FPS at the time of an input frame. */
int64_t output_of(const Clip *c, int64_t m, enum AVRounding rounding);
/** Starts a lane at an input frame. @param exact the input frame from which on it is as if all frames had been fed */
int start_lane(Clip *c, Lane *lane, int first, int exact, VSFrameContext *ctx);
int feed(Clip *c, Lane *lane, VSFrameContext *ctx);
/** Takes the next frame out of a lane. @return 0, or an error: EAGAIN: it needs more frames; EOF */
int pull(Clip *c, Lane *lane);

#endif /* GPUME_VAPOURSYNTH_PLUGIN_H */
