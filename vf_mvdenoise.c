/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Denoising along motion vectors: options, formats, frames in and out. How noise is taken out is
 * in gpume/mvdenoise/mvdenoise.h.
 */

#include <math.h>

#include "libavutil/mem.h"
#include "libavutil/opt.h"

#include "avfilter.h"
#include "filters.h"
#include "formats.h"
#include "vf_mv.h"
#include "video.h"

#include "gpume/core/searches.h"
#include "gpume/mvdenoise/mvdenoise.h"
#include "gpume/picture/layout.h"
#include "gpume/util/compat.h"
#include "gpume/util/hwframes.h"
#include "gpume/util/slice_threads.h"

/** The search that suits, as options of gpume, but for the number of references. */
#define SEARCH_OPTIONS "algo=hme:block=16:dir=both:smooth=8:sweeps=2:refs="

typedef struct MvdenoiseContext {
    const AVClass *class;

    /* options */
    int radius;
    double sigma, strength;
    int passes;
    int planes;
    int search;                 ///< enum GpumeSearchWhen

    char search_options[sizeof(SEARCH_OPTIONS) + 11];
    Mvdenoise *mvdenoise;
    GpumeSearcher *searcher;
    GpumeHwFrames frames;       ///< blank: they are in system memory
    AVFrame *next;              ///< begins another sequence when the last one has been made
    int eof, status;
    int64_t status_pts;
    int warned_missing;
} MvdenoiseContext;

#define OFFSET(x) offsetof(MvdenoiseContext, x)
#define FLAGS AV_OPT_FLAG_VIDEO_PARAM | AV_OPT_FLAG_FILTERING_PARAM
#define CONST(name, help, val, u) \
    { name, help, 0, AV_OPT_TYPE_CONST, { .i64 = val }, 0, 0, FLAGS, .unit = u }

static const AVOption mvdenoise_options[] = {
    { "radius", "frames on each side that help to denoise a frame", OFFSET(radius), AV_OPT_TYPE_INT,
      { .i64 = 2 }, 0, MVDENOISE_MAX_RADIUS, FLAGS },
    { "sigma", "standard deviation of the noise, in units of 8-bit samples; 0: estimated for each plane",
      OFFSET(sigma), AV_OPT_TYPE_DOUBLE, { .dbl = 0 }, 0, 100, FLAGS },
    { "strength", "factor of sigma, given or estimated", OFFSET(strength), AV_OPT_TYPE_DOUBLE, { .dbl = 1 },
      0, 10, FLAGS },
    { "passes", "1: threshold coefficients; 2: then filter them by the result", OFFSET(passes), AV_OPT_TYPE_INT,
      { .i64 = 2 }, 1, 2, FLAGS },
    { "planes", "planes to denoise, as bits", OFFSET(planes), AV_OPT_TYPE_INT, { .i64 = 7 }, 0, 15, FLAGS },
    GPUME_SEARCH_OPTION(search)
    { NULL }
};

AVFILTER_DEFINE_CLASS(mvdenoise);

static enum AVPixelFormat hw_format(const AVFilterContext *ctx, int i)
{
    return ff_mvdenoise_hw_format(i);
}

static int query_formats(const AVFilterContext *ctx,
                         AVFilterFormatsConfig **cfg_in,
                         AVFilterFormatsConfig **cfg_out)
{
    return ff_gpume_set_formats(ctx, cfg_in, cfg_out, ff_gpume_layout_supports, hw_format);
}

/* Returns how many frames on each side are needed: none where no plane changes. */
static int needed_radius(const MvdenoiseContext *s)
{
    return s->strength > 0 && s->planes ? s->radius : 0;
}

static av_cold int open_searcher(AVFilterContext *ctx, int radius)
{
    MvdenoiseContext *s = ctx->priv;
    GpumeSearcherConfig cfg = {
        .when      = radius ? s->search : GPUME_SEARCH_NEVER,
        .params    = {
            .algo = GPUME_ALGO_HME, .block = 16, .smooth = 8, .sweeps = 2, .check = GPUME_AUTO,
            .nb_references = 2 * radius,
        },
        .options   = s->search_options,
        .sequence  = radius > 0,
        .executor  = gpume_slice_threads(ctx),
        .hw_device = ctx->hw_device_ctx,
        .decided   = gpume_vectors_decided,
        .log_ctx   = ctx,
    };

    for (int i = 0; i < radius; i++) {
        cfg.params.distance[i]          = -1 - i;
        cfg.params.distance[radius + i] = 1 + i;
    }
    snprintf(s->search_options, sizeof(s->search_options), SEARCH_OPTIONS "%d", radius);
    ff_gpume_searcher_close(&s->searcher);
    return ff_gpume_searcher_open(&s->searcher, &cfg);
}

static av_cold void close_mvdenoise(MvdenoiseContext *s)
{
    ff_mvdenoise_close(&s->mvdenoise);
    ff_gpume_hwframes_close(&s->frames);
}

/* For frames in system memory, or like these hardware frames. */
static av_cold int open_mvdenoise(AVFilterContext *ctx, AVBufferRef *hw_frames)
{
    MvdenoiseContext *s = ctx->priv;
    MvdenoiseConfig cfg = {
        .executor = gpume_slice_threads(ctx),
        .radius   = needed_radius(s),
        .sigma    = s->sigma > 0 ? FFMAX(lrint(s->sigma * MVDENOISE_SIGMA_ONE), 1) : 0,
        .strength = lrint(s->strength * 256),
        .passes   = s->passes,
        .planes   = s->planes,
        .log_ctx  = ctx,
    };
    int ret;

    close_mvdenoise(s);
    ret = ff_gpume_hwframes_open(&s->frames, hw_frames);
    if (ret >= 0) {
        cfg.hw_frames = s->frames.in;
        ret = ff_mvdenoise_open(&s->mvdenoise, &cfg);
    }
    if (ret < 0)
        close_mvdenoise(s);
    return ret;
}

static av_cold int config_output(AVFilterLink *outlink)
{
    AVFilterContext *ctx = outlink->src;
    MvdenoiseContext *s  = ctx->priv;
    int ret = open_searcher(ctx, needed_radius(s));

    if (ret >= 0)
        ret = open_mvdenoise(ctx, ff_filter_link(ctx->inputs[0])->hw_frames_ctx);
    return ret < 0 ? ret : ff_gpume_hwframes_config(&s->frames, outlink);
}

/* Says once what a search for this radius is called. */
static void warn_missing(AVFilterContext *ctx)
{
    MvdenoiseContext *s = ctx->priv;
    const int distance = ff_mvdenoise_missing(s->mvdenoise);

    if (!distance || s->warned_missing)
        return;
    av_log(ctx, AV_LOG_WARNING, "Some frames have no motion vectors for the frames at distance %d, which therefore do "
           "not help to denoise them. Put gpume=%s before mvdenoise, or set a smaller radius.\n", distance,
           s->search_options);
    s->warned_missing = 1;
}

/* Sends the next frame if there is what it takes. Returns 1 if one was sent, 0 if not. */
static int produce(AVFilterContext *ctx)
{
    MvdenoiseContext *s = ctx->priv;
    const AVFrame *next = ff_mvdenoise_next(s->mvdenoise);
    AVFrame *out;
    int ret;

    if (!next)
        return 0;
    out = av_frame_clone(next);
    if (!out)
        return AVERROR(ENOMEM);
    /* a hardware frame got its own when it came */
    ret = s->frames.out ? 0 : ff_gpume_new_samples(&s->frames, ctx->outputs[0], out, NULL);
    if (ret >= 0)
        ret = ff_mvdenoise_make(s->mvdenoise, out);
    if (ret < 0) {
        av_frame_free(&out);
        return ret;
    }
    warn_missing(ctx);
    ret = ff_filter_frame(ctx->outputs[0], out);
    return ret < 0 ? ret : 1;
}

/* Adds a frame. A hardware frame gets the samples of the output, so that a decoder has its surface back at once. */
static int push(AVFilterContext *ctx, AVFrame **frame)
{
    MvdenoiseContext *s = ctx->priv;
    AVFrame *samples = NULL;
    int ret = 0;

    if (s->frames.out)
        ret = ff_gpume_new_samples(&s->frames, ctx->outputs[0], *frame, &samples);
    if (ret >= 0)
        ret = ff_mvdenoise_push(s->mvdenoise, frame, samples);
    av_frame_free(&samples);
    return ret;
}

/* Takes the next frame of the input, or what it begins has to wait. */
static int take(AVFilterContext *ctx, AVFrame **frame)
{
    MvdenoiseContext *s = ctx->priv;
    int ret = ff_gpume_hwframes_fit(&s->frames, ctx->inputs[0], *frame);

    if (ret < 0)
        return ret;
    if (!ff_mvdenoise_continues(s->mvdenoise, *frame)) {
        ff_mvdenoise_flush(s->mvdenoise);
        FFSWAP(AVFrame *, s->next, *frame);
        return 0;
    }
    /* the sequence goes on in frames of another pool */
    if (!ret)
        ret = ff_gpume_hwframes_open(&s->frames, (*frame)->hw_frames_ctx);
    return ret < 0 ? ret : push(ctx, frame);
}

/* Begins another sequence. */
static int take_next(AVFilterContext *ctx)
{
    MvdenoiseContext *s = ctx->priv;
    int ret = ff_gpume_hwframes_fit(&s->frames, ctx->inputs[0], s->next);

    if (!ret)
        ret = open_mvdenoise(ctx, s->next->hw_frames_ctx);
    return ret < 0 ? ret : push(ctx, &s->next);
}

/* Gets the next frame with its motion fields. Returns 1, 0 if there is none, or an AVERROR code. */
static int receive(AVFilterContext *ctx)
{
    MvdenoiseContext *s = ctx->priv;
    AVFrame *frame = NULL;
    int ret;

    if (s->next) {
        ret = take_next(ctx);
        return ret < 0 ? ret : 1;
    }
    ret = ff_gpume_searcher_pull(s->searcher, &frame);
    if (ret >= 0) {
        ret = take(ctx, &frame);
        av_frame_free(&frame);
        return ret < 0 ? ret : 1;
    }
    if (ret == AVERROR_EOF) {
        ff_mvdenoise_flush(s->mvdenoise);
        s->eof = 1;
        return 1;
    }
    return ret == AVERROR(EAGAIN) ? 0 : ret;
}

static int activate(AVFilterContext *ctx)
{
    AVFilterLink *inlink = ctx->inputs[0], *outlink = ctx->outputs[0];
    MvdenoiseContext *s = ctx->priv;
    int ret;

    FF_FILTER_FORWARD_STATUS_BACK(outlink, inlink);

    for (;;) {
        ret = produce(ctx);
        if (ret < 0)
            return ret;
        if (ret) {
            /* a frame a call, so that none waits behind others */
            ff_filter_set_ready(ctx, 100);
            return 0;
        }
        if (s->eof) {
            ff_outlink_set_status(outlink, s->status, s->status_pts);
            return 0;
        }
        ret = receive(ctx);
        if (ret < 0)
            return ret;
        if (ret)
            continue;
        ret = gpume_feed_searcher(ctx, s->searcher, &s->status, &s->status_pts);
        if (ret < 0)
            return ret;
    }
}

static av_cold void uninit(AVFilterContext *ctx)
{
    MvdenoiseContext *s = ctx->priv;

    av_frame_free(&s->next);
    ff_gpume_searcher_close(&s->searcher);
    close_mvdenoise(s);
}

static const AVFilterPad mvdenoise_outputs[] = {
    {
        .name         = "default",
        .type         = AVMEDIA_TYPE_VIDEO,
        .config_props = config_output,
    },
};

const GPUME_FILTER ff_vf_mvdenoise = {
    GPUME_PUBLIC(name)        = "mvdenoise",
    GPUME_PUBLIC(description) = NULL_IF_CONFIG_SMALL("Denoise along motion vectors."),
    GPUME_PUBLIC(priv_class)  = &mvdenoise_class,
    GPUME_PUBLIC(flags)       = AVFILTER_FLAG_HWDEVICE |
                                AVFILTER_FLAG_SLICE_THREADS,
    .priv_size      = sizeof(MvdenoiseContext),
    .uninit         = uninit,
    .activate       = activate,
    FILTER_INPUTS(ff_video_default_filterpad),
    FILTER_OUTPUTS(mvdenoise_outputs),
    FILTER_QUERY_FUNC2(query_formats),
    .flags_internal = FF_FILTER_FLAG_HWFRAME_AWARE,
};
