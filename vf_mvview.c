/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Motion vector viewer: options, formats, frames in and out. What is drawn is in
 * gpume/view/view.h.
 */

#include <math.h>

#include "libavutil/opt.h"
#include "libavutil/pixdesc.h"

#include "avfilter.h"
#include "filters.h"
#include "formats.h"
#include "video.h"

#include "gpume/compat.h"
#include "gpume/execute.h"
#include "gpume/view/canvas.h"
#include "gpume/view/field.h"
#include "gpume/view/view.h"

#define MAX_LENGTH 65536    ///< of a vector, in samples

typedef struct MvviewContext {
    const AVClass *class;

    /* options */
    int mode;
    int source;
    double scale;
    double max;
    int step;
    double opacity;
    int legend;
    int background;

    MvviewView *view;
} MvviewContext;

#define OFFSET(x) offsetof(MvviewContext, x)
#define FLAGS AV_OPT_FLAG_VIDEO_PARAM | AV_OPT_FLAG_FILTERING_PARAM
#define CONST(name, help, val, u) \
    { name, help, 0, AV_OPT_TYPE_CONST, { .i64 = val }, 0, 0, FLAGS, .unit = u }

static const AVOption mvview_options[] = {
    { "mode", "what is drawn", OFFSET(mode), AV_OPT_TYPE_FLAGS, { .i64 = MVVIEW_ARROWS },
      0, MVVIEW_ARROWS | MVVIEW_FLOW | MVVIEW_BLOCKS, FLAGS, .unit = "mode" },
        CONST("arrows", "from each block to its match",              MVVIEW_ARROWS, "mode"),
        CONST("flow",   "direction as hue and length as saturation", MVVIEW_FLOW,   "mode"),
        CONST("blocks", "outlines of blocks",                        MVVIEW_BLOCKS, "mode"),
    { "source", "which vectors are drawn", OFFSET(source), AV_OPT_TYPE_INT,
      { .i64 = MVVIEW_PAST | MVVIEW_FUTURE }, MVVIEW_PAST, MVVIEW_PAST | MVVIEW_FUTURE, FLAGS,
      .unit = "source" },
        CONST("past",   "those into frames before",     MVVIEW_PAST,                 "source"),
        CONST("future", "those into frames after",      MVVIEW_FUTURE,               "source"),
        CONST("both",   "what there is, past first",    MVVIEW_PAST | MVVIEW_FUTURE, "source"),
    { "scale", "factor of the arrows' length", OFFSET(scale), AV_OPT_TYPE_DOUBLE,
      { .dbl = 1 }, 0, 64, FLAGS },
    { "max", "length of full saturation, in samples; 0: each frame's longest", OFFSET(max),
      AV_OPT_TYPE_DOUBLE, { .dbl = 0 }, 0, MAX_LENGTH, FLAGS },
    { "step", "draw the arrow of every n-th block each way; 0: as many as can be read",
      OFFSET(step), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 1024, FLAGS },
    { "opacity", "opacity of the flow", OFFSET(opacity), AV_OPT_TYPE_DOUBLE,
      { .dbl = 0.6 }, 0, 1, FLAGS },
    { "legend", "draw the flow's colours and their length in a corner", OFFSET(legend),
      AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "background", "what is drawn over", OFFSET(background), AV_OPT_TYPE_INT,
      { .i64 = MVVIEW_PICTURE }, 0, MVVIEW_NB_BACKGROUNDS - 1, FLAGS, .unit = "background" },
        CONST("picture", "the picture",                     MVVIEW_PICTURE, "background"),
        CONST("gray",    "the picture without its colours", MVVIEW_GRAY,    "background"),
        CONST("black",   "nothing",                         MVVIEW_BLACK,   "background"),
    { NULL }
};

AVFILTER_DEFINE_CLASS(mvview);

static int query_formats(const AVFilterContext *ctx,
                         AVFilterFormatsConfig **cfg_in,
                         AVFilterFormatsConfig **cfg_out)
{
    const AVPixFmtDescriptor *desc = NULL;
    AVFilterFormats *formats = NULL;
    int ret;

    while ((desc = av_pix_fmt_desc_next(desc))) {
        const enum AVPixelFormat format = av_pix_fmt_desc_get_id(desc);

        if (ff_mvview_format_supported(format) && (ret = ff_add_format(&formats, format)) < 0)
            return ret;
    }
    return ff_set_common_formats2(ctx, cfg_in, cfg_out, formats);
}

static av_cold int config_input(AVFilterLink *inlink)
{
    AVFilterContext *ctx = inlink->dst;
    MvviewContext *s = ctx->priv;
    const MvviewConfig cfg = {
        .mode       = s->mode,
        .sources    = s->source,
        .background = s->background,
        .scale      = lrint(s->scale * 256),
        .max        = s->max > 0 ? FFMAX(lrint(s->max * MVVIEW_UNITS), 1) : 0,
        .step       = s->step,
        .opacity    = lrint(s->opacity * 256),
        .legend     = s->legend,
        .execute    = gpume_execute,
        .opaque     = ctx,
        .nb_threads = ff_filter_get_nb_threads(ctx),
    };

    ff_mvview_close(&s->view);
    s->view = ff_mvview_open(&cfg);
    return s->view ? 0 : AVERROR(ENOMEM);
}

/* A frame to draw into: this one if nobody else has it. */
static int output_frame(AVFilterLink *outlink, AVFrame *in, AVFrame **out)
{
    int ret;

    *out = NULL;
    if (av_frame_is_writable(in)) {
        *out = in;
        return 0;
    }
    *out = ff_get_video_buffer(outlink, in->width, in->height);
    if (!*out)
        return AVERROR(ENOMEM);
    ret = av_frame_copy_props(*out, in);
    if (ret < 0)
        av_frame_free(out);
    return ret;
}

static int filter_frame(AVFilterLink *inlink, AVFrame *in)
{
    AVFilterContext *ctx = inlink->dst;
    AVFilterLink *outlink = ctx->outputs[0];
    MvviewContext *s = ctx->priv;
    AVFrame *out = NULL;
    int ret;

    /* the size of frames may change, their format may not */
    if (in->format != inlink->format) {
        av_log(ctx, AV_LOG_ERROR, "A frame is %s instead of %s.\n",
               av_get_pix_fmt_name(in->format), av_get_pix_fmt_name(inlink->format));
        ret = AVERROR(EINVAL);
        goto fail;
    }
    ret = ff_mvview_read(s->view, in);
    if (ret < 0)
        goto fail;
    if (!ret)
        return ff_filter_frame(outlink, in);

    ret = output_frame(outlink, in, &out);
    if (ret < 0)
        goto fail;
    ret = ff_mvview_draw(s->view, out, in);
    if (ret < 0)
        goto fail;
    if (out != in)
        av_frame_free(&in);
    return ff_filter_frame(outlink, out);

fail:
    if (out != in)
        av_frame_free(&out);
    av_frame_free(&in);
    return ret;
}

static av_cold void uninit(AVFilterContext *ctx)
{
    MvviewContext *s = ctx->priv;

    ff_mvview_close(&s->view);
}

static const AVFilterPad mvview_inputs[] = {
    {
        .name         = "default",
        .type         = AVMEDIA_TYPE_VIDEO,
        .filter_frame = filter_frame,
        .config_props = config_input,
    },
};

const GPUME_FILTER ff_vf_mvview = {
    GPUME_PUBLIC(name)        = "mvview",
    GPUME_PUBLIC(description) = NULL_IF_CONFIG_SMALL("Draw motion vectors as arrows, colours and blocks."),
    GPUME_PUBLIC(priv_class)  = &mvview_class,
    GPUME_PUBLIC(flags)       = AVFILTER_FLAG_SUPPORT_TIMELINE_GENERIC |
                                AVFILTER_FLAG_SLICE_THREADS,
    .priv_size      = sizeof(MvviewContext),
    .uninit         = uninit,
    FILTER_INPUTS(mvview_inputs),
    FILTER_OUTPUTS(ff_video_default_filterpad),
    FILTER_QUERY_FUNC2(query_formats),
};
