/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the filters share that take motion vectors: the option search, and frames on their way from
 * the input to the searcher (gpume/core/searcher.h).
 */

#ifndef AVFILTER_VF_MV_H
#define AVFILTER_VF_MV_H

#include "filters.h"

#include "gpume/core/searcher.h"
#include "gpume/util/upstream.h"

/** The option search of a filter; OFFSET, FLAGS and CONST as where it is. */
#define GPUME_SEARCH_OPTION(field)                                                             \
    { "search", "whether to search motion vectors", OFFSET(field), AV_OPT_TYPE_INT,            \
      { .i64 = GPUME_SEARCH_AUTO }, GPUME_SEARCH_NEVER, GPUME_SEARCH_AUTO, FLAGS, .unit = "search" }, \
        CONST("never", "no", GPUME_SEARCH_NEVER, "search"),                                    \
        CONST("auto", "where the frames have none", GPUME_SEARCH_AUTO, "search"),

/** GpumeSearcherConfig.decided of a filter that is the log_ctx. */
static void gpume_vectors_decided(void *log_ctx, int searched)
{
    ff_gpume_check_upstream(log_ctx, searched);
}

/**
 * Takes the input's next frame, or notes the end; without either, asks for a frame if one is wanted.
 * @param frame       set to the frame
 * @param status, pts set at the end of the input
 * @return 1: a frame, 0: the end, FFERROR_NOT_READY: neither is there, or another negative error code
 */
static av_unused int gpume_take_input(AVFilterContext *ctx, AVFrame **frame, int *status, int64_t *pts)
{
    AVFilterLink *inlink = ctx->inputs[0];
    const int ret = ff_inlink_consume_frame(inlink, frame);

    if (ret)
        return ret;
    if (ff_inlink_acknowledge_status(inlink, status, pts))
        return 0;
    if (ff_outlink_frame_wanted(ctx->outputs[0]))
        ff_inlink_request_frame(inlink);
    return FFERROR_NOT_READY;
}

/**
 * Gives the input's next frame to the searcher, or tells it of the end. To be called when there is nothing to pull.
 * @return as gpume_take_input()
 */
static av_unused int gpume_feed_searcher(AVFilterContext *ctx, GpumeSearcher *searcher, int *status, int64_t *pts)
{
    AVFrame *frame;
    int ret = gpume_take_input(ctx, &frame, status, pts);

    if (!ret)
        ff_gpume_searcher_flush(searcher);
    if (ret <= 0)
        return ret;
    ret = ff_gpume_searcher_push(searcher, &frame);
    av_frame_free(&frame);
    return ret < 0 ? ret : 1;
}

#endif /* AVFILTER_VF_MV_H */
