/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The user's filter graph, configured as the ffmpeg tool configures it. The results of gpume go to a callback
 * instead of files. Functions return 0, or a negative AVERROR code after a message.
 */

#ifndef GPUME_MPI_GRAPH_H
#define GPUME_MPI_GRAPH_H

#include "libavcodec/codec_par.h"
#include "libavfilter/avfilter.h"

#include "libavfilter/vf_gpume.h"

/** The properties of pictures for which ffmpeg configures a graph. If they change, a new graph begins. */
typedef struct Picture {
    int width, height;
    int format;             ///< enum AVPixelFormat
    int sw_format;          ///< format of the samples of frames on a device; else the same as format
    int color_space, color_range;
} Picture;

typedef struct Graph {
    AVFilterGraph *graph;
    AVFilterContext *source, *sink;
    AVFilterContext *gpume;
    AVFrame *out;
    uint8_t *hw_frames;     ///< AVHWFramesContext of the pictures
} Graph;

/** Configuration of a graph. Pointers must stay valid until the graph is closed. */
typedef struct GraphConfig {
    const char *filters;
    int threads;
    AVBufferRef *device;    ///< may be NULL
    const char *device_name;    ///< GPU for pictures in system memory, unless the user names one; may be NULL
    AVRational time_base;
    const AVCodecParameters *par;
    const GpumeSink *sink;
} GraphConfig;

/** Returns the properties of a frame. Padding is zero, so that properties can be compared as bytes. */
void graph_picture(Picture *picture, const AVFrame *frame);

/**
 * Checks the filters without a picture: gpume must be the last filter, no other filter may keep state, and the
 * options of gpume must be known without a picture.
 */
int graph_check(const char *filters);

/** Configures the filters for pictures with these properties. */
int graph_open(Graph *g, const GraphConfig *cfg, const AVFrame *frame);

/** Sends a picture, or NULL at the end. The picture is unreferenced. Results are delivered before the return. */
int graph_push(Graph *g, AVFrame *frame);

void graph_close(Graph *g);

#endif /* GPUME_MPI_GRAPH_H */
