/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/stream/stream.h"
#include "libavfilter/gpume/util/hwframes.h"
#include "libavfilter/gpume/util/upstream.h"

static int continues(AVFilterContext *ctx, const GpumeStream *s, const GpumeStreamFunctions *f, const AVFrame *frame)
{
    return f->continues ? f->continues(ctx, frame) : ff_gpume_sequence_continues(s->sequence, frame);
}

static int flush(AVFilterContext *ctx, GpumeStream *s, const GpumeStreamFunctions *f)
{
    if (s->sequence)
        s->sequence->flushed = 1;
    return f->flush ? f->flush(ctx) : 0;
}

/* Gives the filter a frame. If the frame begins another sequence, it must wait. */
static int take(AVFilterContext *ctx, GpumeStream *s, const GpumeStreamFunctions *f, AVFrame **frame)
{
    const int ret = f->take(ctx, frame);

    if (ret < 0 || !f->push)
        return ret;
    if (continues(ctx, s, f, *frame))
        return f->push(ctx, frame);
    FFSWAP(AVFrame *, s->next, *frame);
    return flush(ctx, s, f);
}

/* Sends the next output frame. If there is none, begins the sequence that waits. */
static int produce(AVFilterContext *ctx, GpumeStream *s, const GpumeStreamFunctions *f)
{
    int ret = f->produce(ctx);

    if (ret || !s->next)
        return ret;
    ret = continues(ctx, s, f, s->next) ? 0 : f->open(ctx, s->next->hw_frames_ctx);
    if (ret >= 0)
        ret = f->push(ctx, &s->next);
    return ret < 0 ? ret : f->produce(ctx);
}

/* Takes the next input frame, or notices the end. Returns 1, FFERROR_NOT_READY, or another negative error code. */
static int take_input(AVFilterContext *ctx, GpumeStream *s, const GpumeStreamFunctions *f)
{
    AVFrame *frame = NULL;
    int ret = ff_gpume_take_input(ctx, &frame, &s->status, &s->status_pts);
    const int has_ended = !ret;

    if (ret < 0)
        return ret;
    if (f->feed)
        ret = f->feed(ctx, &frame);
    else if (!has_ended)
        ret = s->searcher ? ff_gpume_searcher_push(s->searcher, &frame) : take(ctx, s, f, &frame);
    av_frame_free(&frame);
    if (ret >= 0 && has_ended && s->searcher)
        ff_gpume_searcher_flush(s->searcher);
    else if (ret >= 0 && has_ended)
        ret = AVERROR_EOF;
    return ret < 0 ? ret : 1;
}

/* Gets the next frame, or the end. The return values are those of take_input(). */
static int receive(AVFilterContext *ctx, GpumeStream *s, const GpumeStreamFunctions *f)
{
    AVFrame *frame = NULL;
    int ret = s->searcher ? ff_gpume_searcher_pull(s->searcher, &frame) : AVERROR(EAGAIN);

    if (ret >= 0) {
        ret = take(ctx, s, f, &frame);
        av_frame_free(&frame);
        return ret < 0 ? ret : 1;
    }
    if (ret == AVERROR(EAGAIN)) {
        ret = f->refill ? f->refill(ctx) : 0;
        if (!ret)
            ret = take_input(ctx, s, f);
    }
    if (ret == AVERROR_EOF) {
        s->eof = 1;
        ret    = flush(ctx, s, f);
    }
    return ret < 0 ? ret : 1;
}

static int process(AVFilterContext *ctx, GpumeStream *s, const GpumeStreamFunctions *f)
{
    AVFilterLink *inlink = ctx->inputs[0], *outlink = ctx->outputs[0];
    int ret;

    FF_FILTER_FORWARD_STATUS_BACK(outlink, inlink);

    while (!(ret = produce(ctx, s, f)) && !s->eof)
        if ((ret = receive(ctx, s, f)) < 0)
            return ret;
    if (ret < 0)
        return ret;
    if (ret && !f->on_demand)
        ff_filter_set_ready(ctx, 100);
    if (ret)
        return 0;
    ret = f->finish ? f->finish(ctx) : 0;
    if (ret >= 0)
        ff_outlink_set_status(outlink, s->status, s->status_pts);
    return FFMIN(ret, 0);
}

int ff_gpume_stream_activate(AVFilterContext *ctx, GpumeStream *s, const GpumeStreamFunctions *functions)
{
    return ff_gpume_end_if_failed(ctx, process(ctx, s, functions));
}

av_cold void ff_gpume_stream_close(GpumeStream *s)
{
    av_frame_free(&s->next);
    ff_gpume_searcher_close(&s->searcher);
}

static enum AVPixelFormat hw_format(const void *kind, int i)
{
    return ff_gpume_sequence_hw_format(kind, i);
}

int ff_gpume_stream_query_formats(const AVFilterContext *ctx, AVFilterFormatsConfig **cfg_in,
                                  AVFilterFormatsConfig **cfg_out, const GpumeSequenceKind *kind)
{
    return ff_gpume_set_formats(ctx, cfg_in, cfg_out, kind->supports, hw_format, kind);
}

void ff_gpume_stream_decided(void *log_ctx, int searched)
{
    ff_gpume_check_upstream(log_ctx, searched);
}
