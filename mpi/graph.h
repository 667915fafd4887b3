/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The user's filters, as the ffmpeg tool would set them up for these pictures; the results of
 * gpume go to a function instead of files. Functions return 0 or a negative AVERROR code after a
 * message.
 */

#ifndef GPUME_MPI_GRAPH_H
#define GPUME_MPI_GRAPH_H

#include "libavcodec/codec_par.h"
#include "libavfilter/avfilter.h"

#include "libavfilter/vf_gpume.h"

/** What ffmpeg sets up a graph for; another begins when it changes. */
typedef struct Picture {
    int width, height;
    int format;             ///< enum AVPixelFormat
    int sw_format;          ///< of frames on a device; else the same as format
    int color_space, color_range;
    int has_matrix;
    int32_t matrix[9];      ///< how it is to be displayed
} Picture;

typedef struct Graph {
    AVFilterGraph *graph;
    AVFilterContext *source, *sink;
    AVFilterContext *gpume;
    AVFrame *out;
    uint8_t *hw_frames;     ///< the pictures' AVHWFramesContext
} Graph;

/** What a graph is made with. Pointers must remain valid until it is closed. */
typedef struct GraphConfig {
    const char *filters;
    int threads;
    AVBufferRef *device;    ///< may be NULL
    const char *device_name;    ///< the GPU for pictures in system memory, unless the user names one; may be NULL
    AVRational time_base;
    const AVCodecParameters *par;
    const GpumeSink *sink;
} GraphConfig;

/** The picture of a frame. Padding is zero, so that they can be compared as bytes. */
void graph_picture(Picture *picture, const AVFrame *frame);

/**
 * Check the filters without a picture: that gpume is the last, that no other has a state, and that
 * gpume's own options do not need one.
 * @param params what was chosen
 */
int graph_check(const char *filters, GpumeParams *params);

/** Set the filters up for pictures like this one. */
int graph_open(Graph *g, const GraphConfig *cfg, const AVFrame *frame);

/** Push a picture, or NULL at the end. It is unreferenced. Results come before it returns. */
int graph_push(Graph *g, AVFrame *frame);

void graph_close(Graph *g);

#endif /* GPUME_MPI_GRAPH_H */
