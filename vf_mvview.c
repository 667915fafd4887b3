/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Motion vector viewer: options, formats, frames in and out. gpume/mvview/mvview.h draws.
 */

#include <math.h>

#include "libavutil/fifo.h"
#include "libavutil/opt.h"

#include "avfilter.h"
#include "filters.h"
#include "vf_gpume.h"
#include "video.h"

#include "gpume/core/searches.h"
#include "gpume/field/sidedata.h"
#include "gpume/stream/stream.h"
#include "gpume/util/compat.h"
#include "gpume/util/options.h"
#include "gpume/util/slice_threads.h"
#include "gpume/util/hwframes.h"
#include "gpume/mvview/field.h"
#include "gpume/mvview/mvview.h"

#define MAX_LENGTH 65536    ///< length of a vector, in samples
/** If the first frames have no vectors, a warning is printed after this many. */
#define WARN_AFTER 16

/** How a frame in the searcher will be drawn. */
typedef struct Arrival {
    int is_disabled;            ///< AVFilterContext.is_disabled when it arrived
    int nb_commands;            ///< number of commands before it
    MvviewConfig cfg;           ///< without hw_frames
} Arrival;

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
    int search;                 ///< enum GpumeSearchWhen

    GpumeStream stream;
    AVFrame *drawn;             ///< the frame that is sent next, or NULL
    char search_options[64];    ///< options of the search, as gpume takes them
    MvviewView *view;
    AVFifo *arrivals;           ///< Arrival of each frame in the searcher
    int nb_commands;
    int nb_obeyed;              ///< number of commands that the open view follows
    int had_vectors;            ///< whether a frame had vectors, or the warning was printed
    int nb_without;             ///< number of frames so far
} MvviewContext;

#define OFFSET(x) offsetof(MvviewContext, x)
#define COMMAND FLAGS | AV_OPT_FLAG_RUNTIME_PARAM

static const AVOption mvview_options[] = {
    { "mode", "what to draw", OFFSET(mode), AV_OPT_TYPE_FLAGS, { .i64 = MVVIEW_ARROWS },
      0, MVVIEW_ARROWS | MVVIEW_FLOW | MVVIEW_BLOCKS, COMMAND, .unit = "mode" },
        CONST("arrows", "arrows from each block to its match",       MVVIEW_ARROWS, "mode"),
        CONST("flow",   "colours: hue is the direction, saturation the length", MVVIEW_FLOW, "mode"),
        CONST("blocks", "outlines of blocks; inconsistent blocks are hatched", MVVIEW_BLOCKS, "mode"),
    { "source", "which vectors to draw", OFFSET(source), AV_OPT_TYPE_INT,
      { .i64 = MVVIEW_PAST | MVVIEW_FUTURE }, MVVIEW_PAST, MVVIEW_PAST | MVVIEW_FUTURE, FLAGS,
      .unit = "source" },
        CONST("past",   "vectors into previous frames",  MVVIEW_PAST,                 "source"),
        CONST("future", "vectors into following frames", MVVIEW_FUTURE,               "source"),
        CONST("both",   "both, past first",              MVVIEW_PAST | MVVIEW_FUTURE, "source"),
    { "distance", "distance of the reference frame, in frames; 0: the nearest reference with vectors",
      OFFSET(distance), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, GPUME_MAX_REFS, FLAGS },
    { "scale", "length of arrows, as a multiple of their vectors", OFFSET(scale), AV_OPT_TYPE_DOUBLE,
      { .dbl = 1 }, 0, 64, COMMAND },
    { "max", "length of vectors with full saturation, in samples; 0: length of each frame's longest vector",
      OFFSET(max), AV_OPT_TYPE_DOUBLE, { .dbl = 0 }, 0, MAX_LENGTH, COMMAND },
    { "step", "draw the arrow of every n-th block in each direction; 0: as many as can be told apart",
      OFFSET(step), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 1024, COMMAND },
    { "opacity", "opacity of the flow", OFFSET(opacity), AV_OPT_TYPE_DOUBLE,
      { .dbl = 0.6 }, 0, 1, COMMAND },
    { "legend", "draw a legend of the flow in a corner", OFFSET(legend),
      AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, COMMAND },
    { "background", "what to draw on", OFFSET(background), AV_OPT_TYPE_INT,
      { .i64 = MVVIEW_PICTURE }, 0, MVVIEW_NB_BACKGROUNDS - 1, COMMAND, .unit = "background" },
        CONST("picture", "the picture",                     MVVIEW_PICTURE, "background"),
        CONST("gray",    "the picture without its colours", MVVIEW_GRAY,    "background"),
        CONST("black",   "black",                           MVVIEW_BLACK,   "background"),
    GPUME_SEARCH_OPTION(search)
    { NULL }
};

AVFILTER_DEFINE_CLASS(mvview);

GPUME_DEFINE_QUERY_FORMATS(ff_mvview_kind)

/* Returns what the options say now. */
static Arrival arrive(AVFilterContext *ctx)
{
    const MvviewContext *s = ctx->priv;
    const MvviewConfig cfg = {
        .mode       = s->mode,
        .sources    = s->source,
        .distance   = s->distance,
        .background = s->background,
        .scale      = lrint(s->scale * 256),
        .max        = s->max > 0 ? FFMAX(lrint(s->max * MVVIEW_UNITS), 1) : 0,
        .step       = s->step,
        .opacity    = lrint(s->opacity * 256),
        .legend     = s->legend,
        .executor   = ff_gpume_slice_threads(ctx),
        .log_ctx    = ctx,
    };

    return (Arrival) { ctx->is_disabled, s->nb_commands, cfg };
}

/* Opens a view for frames in system memory, or for hardware frames of this context. */
static av_cold int open_view(MvviewContext *s, const Arrival *arrival, AVBufferRef *hw_frames)
{
    MvviewConfig cfg = arrival->cfg;

    cfg.hw_frames = hw_frames;
    s->nb_obeyed  = arrival->nb_commands;
    ff_mvview_close(&s->view);
    return ff_mvview_open(&s->view, &cfg);
}

static av_cold int init(AVFilterContext *ctx)
{
    MvviewContext *s = ctx->priv;
    const GpumeDependency dependencies[] = {
        { "scale",   s->mode & MVVIEW_ARROWS, "mode=arrows" },
        { "step",    s->mode & MVVIEW_ARROWS, "mode=arrows" },
        { "max",     s->mode & MVVIEW_FLOW,   "mode=flow" },
        { "opacity", s->mode & MVVIEW_FLOW,   "mode=flow" },
        { "legend",  s->mode & MVVIEW_FLOW,   "mode=flow" },
    };

    s->arrivals = av_fifo_alloc2(1, sizeof(Arrival), AV_FIFO_FLAG_AUTO_GROW);
    if (!s->arrivals)
        return AVERROR(ENOMEM);
    if (!s->mode) {
        av_log(ctx, AV_LOG_ERROR, "'mode' is 0, which draws nothing; it must be arrows, flow, blocks, or several "
               "of them, such as flow+arrows.\n");
        return AVERROR(EINVAL);
    }
    return ff_gpume_check_options(ctx, dependencies, FF_ARRAY_ELEMS(dependencies));
}

/* Opens a searcher for true motion, limited to the fields that are drawn. */
static av_cold int open_searcher(AVFilterContext *ctx)
{
    MvviewContext *s = ctx->priv;
    const int past = s->source & MVVIEW_PAST, distance = FFMAX(s->distance, 1);
    const GpumeSearcherConfig cfg = {
        .when      = s->search,
        .params    = {
            .algo = GPUME_ALGO_HME, .smooth = GPUME_AUTO, .check = GPUME_AUTO,
            .nb_references = 1, .distance = { past ? -distance : distance },
        },
        .options   = s->search_options,
        .executor  = ff_gpume_slice_threads(ctx),
        .hw_device = ctx->hw_device_ctx,
        .decided   = ff_gpume_stream_decided,
        .log_ctx   = ctx,
    };

    snprintf(s->search_options, sizeof(s->search_options), GPUME_SEARCH_MVVIEW, past ? "past" : "future",
             distance);
    ff_gpume_searcher_close(&s->stream.searcher);
    return ff_gpume_searcher_open(&s->stream.searcher, &cfg);
}

static av_cold int config_output(AVFilterLink *outlink)
{
    AVFilterContext *ctx = outlink->src;
    AVFilterLink *inlink = ctx->inputs[0];
    MvviewContext *s = ctx->priv;
    const Arrival first = arrive(ctx);
    int ret = open_searcher(ctx);

    if (s->legend && FFMIN(inlink->w, inlink->h) < MVVIEW_MIN_LEGEND_SIDE)
        av_log(ctx, AV_LOG_WARNING, "Pictures of %dx%d are too small for a legend: it needs %d samples on each side.\n",
               inlink->w, inlink->h, MVVIEW_MIN_LEGEND_SIDE);
    if (ret >= 0)
        ret = open_view(s, &first, ff_filter_link(inlink)->hw_frames_ctx);
    return ret < 0 ? ret : ff_gpume_config_pool(outlink);
}

static void warn_of_no_vectors(AVFilterContext *ctx)
{
    MvviewContext *s = ctx->priv;

    if (!s->had_vectors && s->nb_without == 1)
        av_log(ctx, AV_LOG_WARNING, "A single frame has no motion vectors, so nothing is drawn.\n");
    else if (!s->had_vectors && s->nb_without)
        av_log(ctx, AV_LOG_WARNING, "There are no motion vectors in %d frames, so nothing is drawn.%s\n", s->nb_without,
               s->search == GPUME_SEARCH_NEVER ? " Remove search=never, or insert gpume=algo=hme before mvview." : "");
    s->had_vectors = 1;
}

static void look_for_vectors(AVFilterContext *ctx, const AVFrame *frame)
{
    MvviewContext *s = ctx->priv;

    s->had_vectors |= !!gpume_nb_vectors(av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS));
    if (++s->nb_without == WARN_AFTER)
        warn_of_no_vectors(ctx);
}

/*
 * Draws into a frame if it is writable and in system memory, else into a new buffer. A hardware
 * frame always gets a new buffer, because output frames must belong to the output's hw_frames_ctx.
 */
static int draw(AVFilterContext *ctx, AVFrame *frame)
{
    AVFilterLink *outlink = ctx->outputs[0];
    MvviewContext *s = ctx->priv;
    AVFrame *old = NULL;
    Arrival arrival  = { 0 };
    int ret = 0, draws;

    av_fifo_read(s->arrivals, &arrival, 1);
    look_for_vectors(ctx, frame);
    if (frame->hw_frames_ctx)
        ret = ff_gpume_new_samples(outlink, frame, &old);
    if (ret > 0 || ret >= 0 && arrival.nb_commands != s->nb_obeyed)
        ret = open_view(s, &arrival, frame->hw_frames_ctx);
    if (ret >= 0)
        ret = ff_mvview_read(s->view, arrival.is_disabled ? NULL : frame);
    draws = ret > 0;
    /* drawing changes rectangles that the hint says are constant */
    if (draws)
        av_frame_remove_side_data(frame, AV_FRAME_DATA_VIDEO_HINT);
    if (draws && !old && !av_frame_is_writable(frame))
        ret = ff_gpume_new_samples(outlink, frame, &old);
    if (ret >= 0 && (draws || old))
        ret = ff_mvview_draw(s->view, frame, old ? old : frame);
    av_frame_free(&old);
    return FFMIN(ret, 0);
}

static int take(AVFilterContext *ctx, AVFrame **frame)
{
    MvviewContext *s = ctx->priv;
    const int ret = draw(ctx, *frame);

    if (ret >= 0)
        FFSWAP(AVFrame *, s->drawn, *frame);
    return ret;
}

/* Sends the frame that was drawn. */
static int produce(AVFilterContext *ctx)
{
    MvviewContext *s = ctx->priv;
    AVFrame *frame   = s->drawn;
    int ret;

    if (!frame)
        return 0;
    s->drawn = NULL;
    ret = ff_filter_frame(ctx->outputs[0], frame);
    return ret < 0 ? ret : 1;
}

static int feed(AVFilterContext *ctx, AVFrame **frame)
{
    MvviewContext *s = ctx->priv;
    Arrival arrival;
    int ret;

    if (!*frame)
        return 0;
    arrival = arrive(ctx);
    ret     = av_fifo_write(s->arrivals, &arrival, 1);
    return ret < 0 ? ret : ff_gpume_searcher_push(s->stream.searcher, frame);
}

static int finish(AVFilterContext *ctx)
{
    warn_of_no_vectors(ctx);
    return 0;
}

static int activate(AVFilterContext *ctx)
{
    static const GpumeStreamFunctions functions = { .produce = produce, .take = take, .feed = feed, .finish = finish };
    MvviewContext *s = ctx->priv;

    return ff_gpume_stream_activate(ctx, &s->stream, &functions);
}

static int process_command(AVFilterContext *ctx, const char *cmd, const char *arg, char *res, int res_len, int flags)
{
    MvviewContext *s = ctx->priv;
    const int ret    = ff_filter_process_command(ctx, cmd, arg, res, res_len, flags);

    s->nb_commands += ret >= 0;
    return ret;
}

static av_cold void uninit(AVFilterContext *ctx)
{
    MvviewContext *s = ctx->priv;

    ff_gpume_stream_close(&s->stream);
    av_frame_free(&s->drawn);
    av_fifo_freep2(&s->arrivals);
    ff_mvview_close(&s->view);
}

const GPUME_FILTER ff_vf_mvview = {
    GPUME_FRAME_FILTER(mvview, MvviewContext, "Draw motion vectors as arrows, colours and blocks.",
                       AVFILTER_FLAG_SUPPORT_TIMELINE_INTERNAL),
    .init = init,
    .process_command = process_command,
    FILTER_INPUTS(ff_video_default_filterpad),
};
