/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Deinterlacing along motion vectors: options, formats, frames in and out. gpume/mvdeint/mvdeint.h
 * makes the frames.
 */

#include "libavutil/common.h"
#include "libavutil/opt.h"

#include "avfilter.h"
#include "ccfifo.h"
#include "filters.h"
#include "video.h"

#include "gpume/mvdeint/mvdeint.h"
#include "gpume/mvdeint/order.h"
#include "gpume/stream/stream.h"
#include "gpume/util/compat.h"
#include "gpume/util/hwframes.h"
#include "gpume/util/options.h"
#include "gpume/util/slice_threads.h"

enum Mode { MODE_FRAME, MODE_FIELD };
enum Parity { PARITY_AUTO = -1, PARITY_TFF, PARITY_BFF };

typedef struct MvdeintContext {
    const AVClass *class;

    /* options */
    int mode, parity, deint;
    int passes, refs;

    Mvdeint *mvdeint;
    MvdeintOrder order;         ///< field order of frames that are not marked
    int warned;                 ///< whether a message has said that it is unknown
    CCFifo captions;
    int ticks;                  ///< ticks of the output's time base in a tick of the input's
    MvdeintInput input;         ///< how the last input frame is treated
    int64_t before_pts;         ///< timestamp of the frame before the current one
    GpumeStream stream;
} MvdeintContext;

#define OFFSET(x) offsetof(MvdeintContext, x)

static const AVOption mvdeint_options[] = {
    { "mode", "number of output frames", OFFSET(mode), AV_OPT_TYPE_INT, { .i64 = MODE_FIELD }, MODE_FRAME, MODE_FIELD,
      FLAGS, .unit = "mode" },
        CONST("send_frame", "one for each input frame", MODE_FRAME, "mode"),
        CONST("send_field", "one for each field", MODE_FIELD, "mode"),
    { "parity", "field of a frame that comes first", OFFSET(parity), AV_OPT_TYPE_INT, { .i64 = PARITY_AUTO },
      PARITY_AUTO, PARITY_BFF, FLAGS, .unit = "parity" },
        CONST("tff",  "the top field", PARITY_TFF, "parity"),
        CONST("bff",  "the bottom field", PARITY_BFF, "parity"),
        CONST("auto", "as marked in the frame, else by its motion", PARITY_AUTO, "parity"),
    { "deint", "which frames to deinterlace", OFFSET(deint), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 1, FLAGS,
      .unit = "deint" },
        CONST("all",        "all frames", 0, "deint"),
        CONST("interlaced", "frames that are marked as interlaced", 1, "deint"),
    { "passes", "number of passes; each further one starts from the result of the pass before", OFFSET(passes),
      AV_OPT_TYPE_INT, { .i64 = 2 }, 1, MVDEINT_MAX_PASSES, FLAGS },
    { "refs", "number of fields before and after a field that help to make its frame", OFFSET(refs), AV_OPT_TYPE_INT,
      { .i64 = MVDEINT_MAX_REFS }, 1, MVDEINT_MAX_REFS, FLAGS },
    { NULL }
};

AVFILTER_DEFINE_CLASS(mvdeint);

GPUME_DEFINE_QUERY_FORMATS(ff_mvdeint_kind)

/* Opens mvdeint for frames in system memory, or for frames like these hardware frames. */
static av_cold int open_mvdeint(AVFilterContext *ctx, AVBufferRef *hw_frames)
{
    MvdeintContext *s = ctx->priv;
    const MvdeintConfig cfg = {
        .hw_frames  = hw_frames,
        .executor   = ff_gpume_slice_threads(ctx),
        .passes     = s->passes,
        .refs       = s->refs,
        .only_first = s->mode == MODE_FRAME,
        .log_ctx    = ctx,
    };
    int ret;

    ff_mvdeint_close(&s->mvdeint);
    ret = ff_mvdeint_open(&s->mvdeint, &cfg);
    s->stream.sequence = ret < 0 ? NULL : ff_mvdeint_sequence(s->mvdeint);
    return ret;
}

static av_cold int config_output(AVFilterLink *outlink)
{
    AVFilterContext *ctx = outlink->src;
    AVFilterLink *inlink = ctx->inputs[0];
    FilterLink *in = ff_filter_link(inlink), *out = ff_filter_link(outlink);
    MvdeintContext *s = ctx->priv;
    int ret = open_mvdeint(ctx, in->hw_frames_ctx);

    if (ret < 0 ||
        (ret = ff_gpume_config_pool(outlink)) < 0)
        return ret;
    s->ticks = 2;
    if (!av_reduce(&outlink->time_base.num, &outlink->time_base.den, inlink->time_base.num,
                   inlink->time_base.den * 2LL, INT_MAX)) {
        av_log(ctx, AV_LOG_WARNING, "The time base %d/%d cannot be halved; times of second fields are rounded.\n",
               inlink->time_base.num, inlink->time_base.den);
        outlink->time_base = inlink->time_base;
        s->ticks = 1;
    }
    out->frame_rate = s->mode == MODE_FIELD ? av_mul_q(in->frame_rate, (AVRational) { 2, 1 }) : in->frame_rate;
    s->before_pts   = AV_NOPTS_VALUE;
    ff_ccfifo_uninit(&s->captions);
    return ff_ccfifo_init(&s->captions, out->frame_rate, ctx);
}

/* Returns the time at which the next frame begins, in ticks of the input, or AV_NOPTS_VALUE. */
static int64_t end_of(const MvdeintContext *s, const MvdeintNext *next)
{
    const int64_t pts = next->frame->pts;

    if (next->after)
        return next->after->pts;
    if (pts == AV_NOPTS_VALUE)
        return AV_NOPTS_VALUE;
    if (s->before_pts != AV_NOPTS_VALUE && s->before_pts < pts)
        return av_sat_add64(pts, av_sat_sub64(pts, s->before_pts));
    return next->frame->duration > 0 ? av_sat_add64(pts, next->frame->duration) : AV_NOPTS_VALUE;
}

/* Converts a time or a duration to the output's time base. Times that do not fit are limited. */
static int64_t to_output(const MvdeintContext *s, int64_t time)
{
    return s->ticks == 2 ? av_sat_add64(time, time) : time;
}

/* Sets the timestamps of a frame that is made from a field, or that passes unchanged. */
static void set_times(const MvdeintContext *s, AVFrame *out, const MvdeintNext *next)
{
    const int whole = next->passes || s->mode == MODE_FRAME;

    if (next->is_second && !next->passes) {
        const int64_t end = end_of(s, next);

        if (end == AV_NOPTS_VALUE)
            out->pts = AV_NOPTS_VALUE;
        else if (out->pts != AV_NOPTS_VALUE)
            out->pts = s->ticks == 2 ? av_sat_add64(out->pts, end) : (out->pts & end) + ((out->pts ^ end) >> 1);
    } else if (out->pts != AV_NOPTS_VALUE) {
        out->pts = to_output(s, out->pts);
    }
    if (whole)
        out->duration = to_output(s, out->duration);
    else if (s->ticks == 1)
        out->duration >>= 1;
    /* FFmpeg adds both */
    if (out->pts > 0)
        out->duration = FFMIN(out->duration, INT64_MAX - out->pts);
}

/* Sets the properties of a frame that is made from a field. */
static int set_properties(MvdeintContext *s, AVFilterLink *outlink, AVFrame *out, const MvdeintNext *next)
{
    av_frame_remove_side_data(out, AV_FRAME_DATA_MOTION_VECTORS);
    if (next->is_second)
        av_frame_remove_side_data(out, AV_FRAME_DATA_A53_CC);
    if (!next->passes)
        out->flags &= ~AV_FRAME_FLAG_INTERLACED;
    set_times(s, out, next);
    out->time_base = outlink->time_base;
    return ff_ccfifo_inject(&s->captions, out);
}

/* Allocates a frame with the properties of an input frame, and with a buffer unless it passes unchanged. */
static int alloc_output(const AVFilterContext *ctx, AVFrame **out, const MvdeintNext *next)
{
    int ret = 0;

    *out = ff_mvdeint_clone(next->frame);
    if (!*out)
        return AVERROR(ENOMEM);
    if (!next->passes)
        ret = ff_gpume_new_samples(ctx->outputs[0], *out, NULL);
    if (ret < 0)
        av_frame_free(out);
    return ret;
}

/* Sends the next frame if its input has arrived. Returns 1 if a frame was sent or skipped, 0 if not. */
static int produce(AVFilterContext *ctx)
{
    MvdeintContext *s = ctx->priv;
    AVFilterLink *outlink = ctx->outputs[0];
    MvdeintNext next;
    AVFrame *out = NULL;
    int64_t pts;
    int ret = ff_mvdeint_next(s->mvdeint, &next);

    if (ret <= 0)
        return ret;
    pts = next.frame->pts;
    if (next.is_skipped) {
        s->before_pts = pts;
        ret = ff_mvdeint_make(s->mvdeint, NULL);
        return ret < 0 ? ret : 1;
    }
    ret = alloc_output(ctx, &out, &next);
    if (ret >= 0)
        ret = set_properties(s, outlink, out, &next);
    if (next.is_second)
        s->before_pts = pts;
    if (ret < 0 ||
        (ret = ff_mvdeint_make(s->mvdeint, next.passes ? NULL : out)) < 0) {
        av_frame_free(&out);
        return ret;
    }
    ret = ff_filter_frame(outlink, out);
    return ret < 0 ? ret : 1;
}

/* Returns how a frame is treated. */
static MvdeintInput input_of(const AVFilterContext *ctx, const AVFrame *frame)
{
    const MvdeintContext *s = ctx->priv;
    const int is_interlaced = !!(frame->flags & AV_FRAME_FLAG_INTERLACED);
    const int is_progressive = s->deint && !is_interlaced;

    return (MvdeintInput) {
        .bottom_first   = s->parity == PARITY_AUTO ? is_interlaced && !(frame->flags & AV_FRAME_FLAG_TOP_FIELD_FIRST)
                                                   : s->parity == PARITY_BFF,
        .is_progressive = is_progressive,
        .passes         = is_progressive || ctx->is_disabled,
        .is_discarded   = !!(frame->flags & AV_FRAME_FLAG_DISCARD),
    };
}

/* Finds the order of the fields of a frame that does not state it. */
static int find_order(AVFilterContext *ctx, const AVFrame *frame, MvdeintInput *input)
{
    MvdeintContext *s = ctx->priv;
    const int is_stated = s->parity != PARITY_AUTO || frame->flags & AV_FRAME_FLAG_INTERLACED || input->passes;
    const int ret = ff_mvdeint_order_add(&s->order, is_stated ? NULL : frame);

    if (ret < 0 || is_stated)
        return ret;
    if (!s->warned)
        av_log(ctx, AV_LOG_WARNING, "Nothing states which field comes first, because the frames are not marked as "
               "interlaced. The motion will decide; until then it is the top field. Write parity=tff or parity=bff.\n");
    s->warned = 1;
    input->bottom_first = s->order.bottom_first;
    if (ret) {
        ff_mvdeint_set_order(s->mvdeint, input->bottom_first);
        av_log(ctx, AV_LOG_INFO, "The motion shows that the %s field comes first.\n",
               input->bottom_first ? "bottom" : "top");
    }
    return 0;
}

/* Adds a frame. Of a hardware frame only the properties are kept, which returns the decoder's surface at once. */
static int push(AVFilterContext *ctx, AVFrame **frame)
{
    MvdeintContext *s = ctx->priv;
    const MvdeintInput *input = &s->input;
    AVFrame *samples = NULL;
    int ret = 0;

    if ((*frame)->hw_frames_ctx && input->passes) {
        ret = ff_gpume_new_samples(ctx->outputs[0], *frame, &samples);
    } else if ((*frame)->hw_frames_ctx) {
        samples = *frame;
        *frame  = ff_mvdeint_properties(samples);
        ret     = *frame ? 0 : AVERROR(ENOMEM);
    }
    if (ret >= 0)
        ret = ff_mvdeint_push(s->mvdeint, frame, input, samples);
    av_frame_free(&samples);
    return ret;
}

/* Takes the next input frame, and finds out how it is treated. */
static int take(AVFilterContext *ctx, AVFrame **frame)
{
    MvdeintContext *s = ctx->priv;
    const int ret     = ff_ccfifo_extract(&s->captions, *frame);

    s->input = input_of(ctx, *frame);
    return ret < 0 ? ret : find_order(ctx, *frame, &s->input);
}

static int finish(AVFilterContext *ctx)
{
    MvdeintContext *s = ctx->priv;

    if (s->stream.status_pts != AV_NOPTS_VALUE)
        s->stream.status_pts = to_output(s, s->stream.status_pts);
    return 0;
}

static int activate(AVFilterContext *ctx)
{
    static const GpumeStreamFunctions functions = {
        .produce = produce, .take = take, .push = push, .open = open_mvdeint, .finish = finish,
    };
    MvdeintContext *s = ctx->priv;

    return ff_gpume_stream_activate(ctx, &s->stream, &functions);
}

static av_cold void uninit(AVFilterContext *ctx)
{
    MvdeintContext *s = ctx->priv;

    ff_gpume_stream_close(&s->stream);
    ff_mvdeint_order_uninit(&s->order);
    ff_ccfifo_uninit(&s->captions);
    ff_mvdeint_close(&s->mvdeint);
}

const GPUME_FILTER ff_vf_mvdeint = {
    GPUME_FRAME_FILTER(mvdeint, MvdeintContext, "Deinterlace along the motion.",
                       AVFILTER_FLAG_SUPPORT_TIMELINE_INTERNAL),
    FILTER_INPUTS(ff_video_default_filterpad),
};
