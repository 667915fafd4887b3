/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A program that links FFmpeg's libraries and reads motion vectors from frames: for each frame of
 * a clip it prints the time, the number of vectors and the mean motion, in samples.
 *
 * @code
 * cc read_vectors.c -o read_vectors $(pkg-config --cflags --libs libavfilter libavutil)
 * ./read_vectors clip.mkv algo=hme:block=8
 * @endcode
 */

#include <inttypes.h>
#include <stdio.h>

#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavutil/error.h>
#include <libavutil/frame.h>
#include <libavutil/motion_vector.h>
#include <libavutil/opt.h>
#include <libavutil/rational.h>

/* Adds a filter after another. */
static int add(AVFilterContext **filter, AVFilterGraph *graph, const char *name, const char *options,
               AVFilterContext *before)
{
    int ret = avfilter_graph_create_filter(filter, avfilter_get_by_name(name), name, options, NULL, graph);

    return ret < 0 ? ret : avfilter_link(before, 0, *filter, 0);
}

/* The filter movie reads and decodes. The file's name is set as it is, so it may have any character. */
static int open_clip(AVFilterContext **sink, AVFilterGraph *graph, const char *file, const char *options)
{
    AVFilterContext *movie = avfilter_graph_alloc_filter(graph, avfilter_get_by_name("movie"), "movie"), *gpume;
    int ret;

    if (!movie)
        return AVERROR(ENOMEM);
    if ((ret = av_opt_set(movie, "filename", file, AV_OPT_SEARCH_CHILDREN)) < 0 ||
        (ret = avfilter_init_str(movie, NULL)) < 0 ||
        (ret = add(&gpume, graph, "gpume", options, movie)) < 0 ||
        (ret = add(sink, graph, "buffersink", NULL, gpume)) < 0)
        return ret;
    return avfilter_graph_config(graph, NULL);
}

static void print_vectors(const AVFrame *frame, AVRational time_base)
{
    const AVFrameSideData *side_data = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const AVMotionVector *vectors    = side_data ? (const AVMotionVector *)side_data->data : NULL;
    const size_t nb = side_data ? side_data->size / sizeof(*vectors) : 0;
    double x = 0, y = 0;

    /* motion_x and motion_y lead from a block to its match, in 1/motion_scale of a sample */
    for (size_t i = 0; i < nb; i++) {
        x += (double)vectors[i].motion_x / vectors[i].motion_scale;
        y += (double)vectors[i].motion_y / vectors[i].motion_scale;
    }
    printf("%.3f s: %zu vectors", frame->pts * av_q2d(time_base), nb);
    if (nb)
        printf(", mean (%.2f, %.2f)", x / nb, y / nb);
    printf("\n");
}

int main(int argc, char **argv)
{
    AVFilterGraph *graph = avfilter_graph_alloc();
    AVFrame *frame       = av_frame_alloc();
    AVFilterContext *sink;
    int ret = AVERROR(ENOMEM);

    if (argc < 2) {
        fprintf(stderr, "usage: read_vectors FILE [OPTIONS OF GPUME]\n");
        ret = AVERROR(EINVAL);
    } else if (!avfilter_get_by_name("gpume")) {
        fprintf(stderr, "read_vectors: this libavfilter has no gpume\n");
        ret = AVERROR_FILTER_NOT_FOUND;
    } else if (graph && frame) {
        ret = open_clip(&sink, graph, argv[1], argc > 2 ? argv[2] : "algo=hme");
        while (ret >= 0 && (ret = av_buffersink_get_frame(sink, frame)) >= 0) {
            print_vectors(frame, av_buffersink_get_time_base(sink));
            av_frame_unref(frame);
        }
        if (ret == AVERROR_EOF)
            ret = 0;
        else
            fprintf(stderr, "read_vectors: %s: %s\n", argv[1], av_err2str(ret));
    }
    av_frame_free(&frame);
    avfilter_graph_free(&graph);
    return ret < 0;
}
