/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Motion vector viewer: options, formats, frames in and out. What is drawn is in
 * gpume/mvview/mvview.h.
 */

#include <math.h>

#include "libavutil/opt.h"

#include "avfilter.h"
#include "filters.h"
#include "formats.h"
#include "video.h"

#include "gpume/util/compat.h"
#include "gpume/util/slice_threads.h"
#include "gpume/util/hwframes.h"
#include "gpume/mvview/canvas.h"
#include "gpume/mvview/field.h"
#include "gpume/mvview/mvview.h"

#define MAX_LENGTH 65536    ///< of a vector, in samples

typedef struct MvviewContext {
    const AVClass *class;

    /* options */
    int mode;
    int source;
    int distance;
    double scale;
    double max;
    int step;
    double opacity;
    int legend;
    int background;

    MvviewView *view;
    GpumeHwFrames frames;
} MvviewContext;

#define OFFSET(x) offsetof(MvviewContext, x)
#define FLAGS AV_OPT_FLAG_VIDEO_PARAM | AV_OPT_FLAG_FILTERING_PARAM
#define CONST(name, help, val, u) \
    { name, help, 0, AV_OPT_TYPE_CONST, { .i64 = val }, 0, 0, FLAGS, .unit = u }

static const AVOption mvview_options[] = {
    { "mode", "what to draw", OFFSET(mode), AV_OPT_TYPE_FLAGS, { .i64 = MVVIEW_ARROWS },
      0, MVVIEW_ARROWS | MVVIEW_FLOW | MVVIEW_BLOCKS, FLAGS, .unit = "mode" },
        CONST("arrows", "arrows from each block to its match",       MVVIEW_ARROWS, "mode"),
        CONST("flow",   "colours: hue is the direction, saturation the length", MVVIEW_FLOW, "mode"),
        CONST("blocks", "outlines of blocks; inconsistent ones are hatched", MVVIEW_BLOCKS, "mode"),
    { "source", "which vectors to draw", OFFSET(source), AV_OPT_TYPE_INT,
      { .i64 = MVVIEW_PAST | MVVIEW_FUTURE }, MVVIEW_PAST, MVVIEW_PAST | MVVIEW_FUTURE, FLAGS,
      .unit = "source" },
        CONST("past",   "vectors into previous frames",  MVVIEW_PAST,                 "source"),
        CONST("future", "vectors into following frames", MVVIEW_FUTURE,               "source"),
        CONST("both",   "both, past first",              MVVIEW_PAST | MVVIEW_FUTURE, "source"),
    { "distance", "distance of the reference frame, in frames; 0: the nearest one with vectors",
      OFFSET(distance), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, GPUME_MAX_REFS, FLAGS },
    { "scale", "factor of the arrows' length", OFFSET(scale), AV_OPT_TYPE_DOUBLE,
      { .dbl = 1 }, 0, 64, FLAGS },
    { "max", "length that has full saturation, in samples; 0: that of each frame's longest vector",
      OFFSET(max), AV_OPT_TYPE_DOUBLE, { .dbl = 0 }, 0, MAX_LENGTH, FLAGS },
    { "step", "draw the arrow of every n-th block in each direction; 0: as many as can be read",
      OFFSET(step), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 1024, FLAGS },
    { "opacity", "opacity of the flow", OFFSET(opacity), AV_OPT_TYPE_DOUBLE,
      { .dbl = 0.6 }, 0, 1, FLAGS },
    { "legend", "draw a legend of the flow in a corner", OFFSET(legend),
      AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "background", "what to draw on", OFFSET(background), AV_OPT_TYPE_INT,
      { .i64 = MVVIEW_PICTURE }, 0, MVVIEW_NB_BACKGROUNDS - 1, FLAGS, .unit = "background" },
        CONST("picture", "the picture",                     MVVIEW_PICTURE, "background"),
        CONST("gray",    "the picture without its colours", MVVIEW_GRAY,    "background"),
        CONST("black",   "black",                           MVVIEW_BLACK,   "background"),
    { NULL }
};

AVFILTER_DEFINE_CLASS(mvview);

static enum AVPixelFormat hw_format(const AVFilterContext *ctx, int i)
{
    return ff_mvview_hw_format(i);
}

static int query_formats(const AVFilterContext *ctx,
                         AVFilterFormatsConfig **cfg_in,
                         AVFilterFormatsConfig **cfg_out)
{
    return ff_gpume_set_formats(ctx, cfg_in, cfg_out, ff_mvview_format_supported, hw_format);
}

static av_cold void close_view(MvviewContext *s)
{
    ff_mvview_close(&s->view);
    ff_gpume_hwframes_close(&s->frames);
}

/* For frames in system memory, or of these hardware frames. */
static av_cold int open_view(AVFilterContext *ctx, AVBufferRef *hw_frames)
{
    MvviewContext *s = ctx->priv;
    MvviewConfig cfg = {
        .mode       = s->mode,
        .sources    = s->source,
        .distance   = s->distance,
        .background = s->background,
        .scale      = lrint(s->scale * 256),
        .max        = s->max > 0 ? FFMAX(lrint(s->max * MVVIEW_UNITS), 1) : 0,
        .step       = s->step,
        .opacity    = lrint(s->opacity * 256),
        .legend     = s->legend,
        .executor   = gpume_slice_threads(ctx),
        .log_ctx    = ctx,
    };
    int ret;

    close_view(s);
    ret = ff_gpume_hwframes_open(&s->frames, hw_frames);
    if (ret >= 0) {
        cfg.hw_frames = s->frames.in;
        ret = ff_mvview_open(&s->view, &cfg);
    }
    if (ret < 0)
        close_view(s);
    return ret;
}

static av_cold int config_output(AVFilterLink *outlink)
{
    AVFilterContext *ctx = outlink->src;
    MvviewContext *s = ctx->priv;
    const int ret = open_view(ctx, ff_filter_link(ctx->inputs[0])->hw_frames_ctx);

    return ret < 0 ? ret : ff_gpume_hwframes_config(&s->frames, outlink);
}

/*
 * Draw into a frame if nobody else has it and it is in system memory, else into new samples
 * for it. A hardware frame always gets new ones, as all that leave have to be of the output's
 * hw_frames_ctx.
 */
static int draw(AVFilterLink *outlink, AVFrame *frame)
{
    MvviewContext *s = outlink->src->priv;
    AVFrame *old;
    int ret;

    if (!s->frames.out && av_frame_is_writable(frame))
        return ff_mvview_draw(s->view, frame, frame);
    ret = ff_gpume_new_samples(&s->frames, outlink, frame, &old);
    if (ret < 0)
        return ret;
    ret = ff_mvview_draw(s->view, frame, old);
    av_frame_free(&old);
    return ret;
}

static int filter_frame(AVFilterLink *inlink, AVFrame *frame)
{
    AVFilterContext *ctx = inlink->dst;
    MvviewContext *s = ctx->priv;
    int ret = ff_gpume_hwframes_fit(&s->frames, inlink, frame);

    if (!ret)
        ret = open_view(ctx, frame->hw_frames_ctx);
    if (ret >= 0)
        ret = ff_mvview_read(s->view, ctx->is_disabled ? NULL : frame);
    if (ret > 0 || ret == 0 && s->frames.out)
        ret = draw(ctx->outputs[0], frame);
    if (ret < 0) {
        av_frame_free(&frame);
        return ret;
    }
    return ff_filter_frame(ctx->outputs[0], frame);
}

static av_cold void uninit(AVFilterContext *ctx)
{
    close_view(ctx->priv);
}

static const AVFilterPad mvview_inputs[] = {
    {
        .name         = "default",
        .type         = AVMEDIA_TYPE_VIDEO,
        .filter_frame = filter_frame,
    },
};

static const AVFilterPad mvview_outputs[] = {
    {
        .name         = "default",
        .type         = AVMEDIA_TYPE_VIDEO,
        .config_props = config_output,
    },
};

const GPUME_FILTER ff_vf_mvview = {
    GPUME_PUBLIC(name)        = "mvview",
    GPUME_PUBLIC(description) = NULL_IF_CONFIG_SMALL("Draw motion vectors as arrows, colours and blocks."),
    GPUME_PUBLIC(priv_class)  = &mvview_class,
    GPUME_PUBLIC(flags)       = AVFILTER_FLAG_SUPPORT_TIMELINE_INTERNAL |
                                AVFILTER_FLAG_SLICE_THREADS,
    .priv_size      = sizeof(MvviewContext),
    .uninit         = uninit,
    FILTER_INPUTS(mvview_inputs),
    FILTER_OUTPUTS(mvview_outputs),
    FILTER_QUERY_FUNC2(query_formats),
    .flags_internal = FF_FILTER_FLAG_HWFRAME_AWARE,
};
