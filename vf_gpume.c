/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Block motion estimation filter: options, formats, frames in and out. The engine
 * (gpume/core/engine.h) pairs frames with references and searches them; the outputs
 * (gpume/output/output.h) export the vectors.
 */

#include "libavutil/opt.h"

#include "avfilter.h"
#include "filters.h"
#include "video.h"

#include "gpume/util/compat.h"
#include "gpume/util/hwframes.h"
#include "gpume/util/slice_threads.h"
#include "gpume/util/options.h"
#include "gpume/util/upstream.h"
#include "gpume/core/engine.h"
#include "gpume/core/params.h"
#include "gpume/core/searches.h"
#include "vf_gpume.h"
#include "gpume/output/output.h"

/** Values of the option backend; the others are 1 + enum GpumeBackendId. */
enum { BACKEND_AUTO };

/** Values of the option dir. */
enum {
    DIR_PAST   = 1,
    DIR_FUTURE = 2,
    DIR_BOTH   = DIR_PAST | DIR_FUTURE,
};

#define MAX_ASYNC_DEPTH 64

typedef struct GpumeContext {
    const AVClass *class;

    /* options */
    int backend;
    char *device;
    int names_device;           ///< the user has chosen a device, so no other device is used
    int dir;                    ///< DIR_*
    int refs;
    int async_depth;
    char *mv_file;
    int mv_format;              ///< enum GpumeMvFormat
    char *stats_file;
    int stats_format;           ///< enum GpumeStatsFormat
    int overwrite;
    int metadata;
    int hint;                   ///< enum GpumeHint
    GpumeParams params;         ///< the parameters of the search; most are options

    GpumeEngine *engine;
    GpumeOutputs *outputs;
    const GpumeSink *sink;      ///< receives the output instead of files; may be NULL
    int has_frames;             ///< whether a frame has arrived
    int failed;                 ///< whether a frame could not be processed
} GpumeContext;

#define OFFSET(x) offsetof(GpumeContext, x)
#define ALGO(name, help)                                                     \
    { name, help, OFFSET(params.algo), AV_OPT_TYPE_INT,                      \
      { .i64 = GPUME_ALGO_FS }, 0, GPUME_NB_ALGOS - 1, FLAGS, .unit = "algo" }
#define RANGE(name, help)                                                    \
    { name, help, OFFSET(params.range), AV_OPT_TYPE_INT, { .i64 = 0 },       \
      0, GPUME_MAX_RANGE, FLAGS }
#define BLOCK(name, help)                                                    \
    { name, help, OFFSET(params.block), AV_OPT_TYPE_INT, { .i64 = 0 },       \
      0, GPUME_MAX_BLOCK, FLAGS }

static const AVOption gpume_options[] = {
    ALGO("algo",   "search algorithm"),
    ALGO("method", "search algorithm (same as algo)"),
#define SEARCH(ID, name, kind, title, ...) CONST(#name, title, GPUME_ALGO_##ID, "algo"),
#define ALIAS(name, ID, title)             CONST(#name, title, GPUME_ALGO_##ID, "algo"),
        GPUME_SEARCHES_AND_ALIASES(SEARCH, ALIAS)
#undef SEARCH
#undef ALIAS
    { "cost", "measure of the difference between a block and its match", OFFSET(params.cost), AV_OPT_TYPE_INT,
      { .i64 = GPUME_COST_SAD }, 0, GPUME_NB_COSTS - 1, FLAGS, .unit = "cost" },
#define COST(ID, name, title) CONST(#name, title, GPUME_COST_##ID, "cost"),
        GPUME_COSTS(COST)
#undef COST
    RANGE("range",        "search distance to each side, in luma samples; 0: 16, or 256 with hme"),
    RANGE("search_param", "search distance to each side, in luma samples (same as range)"),
    { "exhaustive", "evaluate every candidate of fs, even those proved not to be the best",
      OFFSET(params.exhaustive), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    BLOCK("block",   "side of a block, in luma samples: 4, 8, 16, 32, 64 or 128; 0: 16, or 8 with hme or tree=1"),
    BLOCK("mb_size", "side of a block, in luma samples (same as block)"),
    { "smooth", "smoothness of the motion field; 0: off; -1: 0, or 2 with hme", OFFSET(params.smooth),
      AV_OPT_TYPE_INT, { .i64 = GPUME_AUTO }, GPUME_AUTO, GPUME_MAX_SMOOTH, FLAGS },
    { "check", "search both directions and replace inconsistent vectors; auto: only with hme",
      OFFSET(params.check), AV_OPT_TYPE_BOOL, { .i64 = GPUME_AUTO }, GPUME_AUTO, 1, FLAGS },
    { "pel", "precision of vectors: whole (1), half (2) or quarter (4) samples; 0: 1, or 4 with hme",
      OFFSET(params.pel), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 4, FLAGS },
    { "sweeps", "passes of smooth, pel and hme; 0: 2, or 4 with hme", OFFSET(params.sweeps), AV_OPT_TYPE_INT,
      { .i64 = 0 }, 0, GPUME_MAX_SWEEPS, FLAGS },
    { "levels", "levels of the pyramid of hme; 0: by picture size", OFFSET(params.levels),
      AV_OPT_TYPE_INT, { .i64 = 0 }, 0, GPUME_MAX_LEVELS, FLAGS },
    { "tree", "use blocks of several sizes, from block to tree_max, as their cost and bits decide", OFFSET(params.tree),
      AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "tree_max", "side of the largest blocks of tree=1, in luma samples: 16, 32 or 64; 0: 64", OFFSET(params.tree_max),
      AV_OPT_TYPE_INT, { .i64 = 0 }, 0, GPUME_MAX_ROOT, FLAGS },
    { "lambda", "cost of one bit for tree=1, in units of 1/256; -1: derived from qp", OFFSET(params.lambda),
      AV_OPT_TYPE_INT, { .i64 = GPUME_AUTO }, GPUME_AUTO, GPUME_MAX_LAMBDA, FLAGS },
    { "qp", "quantiser of H.264 from which the cost of one bit for tree=1 is derived; -1: 28", OFFSET(params.qp),
      AV_OPT_TYPE_INT, { .i64 = GPUME_AUTO }, GPUME_AUTO, GPUME_MAX_QP, FLAGS },
    { "dir", "direction of the reference frames", OFFSET(dir), AV_OPT_TYPE_INT,
      { .i64 = DIR_PAST }, DIR_PAST, DIR_BOTH, FLAGS, .unit = "dir" },
        CONST("past",   "previous frames",            DIR_PAST,   "dir"),
        CONST("future", "next frames",                DIR_FUTURE, "dir"),
        CONST("both",   "both, past vectors first",   DIR_BOTH,   "dir"),
    { "refs", "number of reference frames in each direction, nearest first", OFFSET(refs),
      AV_OPT_TYPE_INT, { .i64 = 1 }, 1, GPUME_MAX_REFS, FLAGS },
    { "backend", "where to search", OFFSET(backend), AV_OPT_TYPE_INT,
      { .i64 = BACKEND_AUTO }, BACKEND_AUTO, GPUME_NB_BACKENDS, FLAGS, .unit = "backend" },
        CONST("auto", "an NVIDIA GPU if one can be opened, otherwise the CPU", BACKEND_AUTO, "backend"),
#define BACKEND(name, help) CONST(#name, help, 1 + GPUME_BACKEND_##name, "backend"),
        GPUME_BACKENDS(BACKEND)
#undef BACKEND
    { "device", "index of the GPU for frames in system memory; the filter fails without this GPU "
      "(default: the device of the filter graph, or the first GPU)",
      OFFSET(device), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "async_depth", "maximum number of frames searched at the same time; 1: lowest latency; 0: chosen by the backend",
      OFFSET(async_depth), AV_OPT_TYPE_INT, { .i64 = 0 }, 0, MAX_ASYNC_DEPTH, FLAGS },
    { "mv_file", "write the vectors to this file; -: standard output",
      OFFSET(mv_file), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "mv_format", "format of mv_file", OFFSET(mv_format), AV_OPT_TYPE_INT,
      { .i64 = GPUME_MV_AUTO }, GPUME_MV_AUTO, GPUME_MV_CODEC, FLAGS, .unit = "mv_format" },
        CONST("auto", "by the extension of the name; csv for standard output, pipes and devices", GPUME_MV_AUTO,
              "mv_format"),
        CONST("csv",  "one line per vector",      GPUME_MV_CSV, "mv_format"),
        CONST("npy",  "NumPy array of integers",  GPUME_MV_NPY, "mv_format"),
        CONST("npys", "stream of NumPy records, one per frame and direction", GPUME_MV_NPYS, "mv_format"),
        CONST("codec", "stream of NumPy records of the decoder's vectors", GPUME_MV_CODEC, "mv_format"),
    { "stats_file", "write a line per frame and direction to this file; -: standard output",
      OFFSET(stats_file), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "stats_format", "format of stats_file", OFFSET(stats_format), AV_OPT_TYPE_INT,
      { .i64 = GPUME_STATS_AUTO }, GPUME_STATS_AUTO, GPUME_STATS_JSONL, FLAGS, .unit = "stats_format" },
        CONST("auto",  "by the name: jsonl if it ends in .jsonl, else text", GPUME_STATS_AUTO,  "stats_format"),
        CONST("text",  "key:value pairs",         GPUME_STATS_TEXT,  "stats_format"),
        CONST("jsonl", "JSON, one object a line", GPUME_STATS_JSONL, "stats_format"),
    { "overwrite", "replace existing files; 0: fail if a file exists", OFFSET(overwrite),
      AV_OPT_TYPE_BOOL, { .i64 = 1 }, 0, 1, FLAGS },
    { "metadata", "set lavfi.gpume.* frame metadata", OFFSET(metadata),
      AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "hint", "tell encoders which parts of a frame need no search", OFFSET(hint), AV_OPT_TYPE_INT,
      { .i64 = GPUME_HINT_NONE }, GPUME_HINT_NONE, GPUME_HINT_CONSTANT, FLAGS, .unit = "hint" },
        CONST("none",     "no hint",                                     GPUME_HINT_NONE,     "hint"),
        CONST("constant", "rectangles that did not change for six frames", GPUME_HINT_CONSTANT, "hint"),
    { NULL }
};

AVFILTER_DEFINE_CLASS(gpume);

static GpumeOutputConfig output_config(AVFilterContext *ctx)
{
    const GpumeContext *s = ctx->priv;

    return (GpumeOutputConfig) {
        .mv_file      = s->sink ? NULL : s->mv_file,
        .mv_format    = s->mv_format,
        .stats_file   = s->sink ? NULL : s->stats_file,
        .stats_format = s->stats_format,
        .overwrite    = s->overwrite,
        .metadata     = s->metadata,
        .hint         = s->hint,
        .time_base    = ctx->nb_inputs && ctx->inputs[0] ? ctx->inputs[0]->time_base : (AVRational) { 0, 1 },
        .executor     = ff_gpume_slice_threads(ctx),
        .sink         = s->sink,
        .log_ctx      = ctx,
    };
}

static av_cold int init(AVFilterContext *ctx)
{
    GpumeContext *s = ctx->priv;
    const GpumeOutputConfig cfg = output_config(ctx);
    int ret;

    for (int i = 1; i <= s->refs && s->dir & DIR_PAST; i++)
        s->params.distance[s->params.nb_references++] = -i;
    for (int i = 1; i <= s->refs && s->dir & DIR_FUTURE; i++)
        s->params.distance[s->params.nb_references++] = i;

    s->names_device = !!s->device;
    if (s->device && s->backend == 1 + GPUME_BACKEND_cpu) {
        av_log(ctx, AV_LOG_ERROR, "'device' is only valid with backend=auto or backend=cuda.\n");
        return AVERROR(EINVAL);
    }
    if (s->hint == GPUME_HINT_CONSTANT && !(s->dir & DIR_PAST)) {
        av_log(ctx, AV_LOG_ERROR, "'hint=constant' is only valid with dir=past or dir=both.\n");
        return AVERROR(EINVAL);
    }

    /* core/params.c treats 0 as 'not set', so a 0 that the user has set is rejected here */
    if (!s->params.tree && (!s->params.lambda || !s->params.qp)) {
        av_log(ctx, AV_LOG_ERROR, "'%s' is only valid with tree=1.\n", s->params.lambda ? "qp" : "lambda");
        return AVERROR(EINVAL);
    }

    s->params.intra = s->metadata || s->stats_file;
    s->params.same  = s->hint == GPUME_HINT_CONSTANT;

    ret = ff_gpume_params_check(&s->params, ctx);
    if (ret < 0)
        return ret;
    return ff_gpume_outputs_check(&cfg);
}

/* Returns format i of the hardware frames of the backends that may be chosen. */
static enum AVPixelFormat hw_format(const void *opaque, int i)
{
    const GpumeContext *s = opaque;

    for (int j = 0; j < GPUME_NB_BACKENDS; j++)
        if (ff_gpume_backends[j]->hw_format != AV_PIX_FMT_NONE &&
            (s->backend == BACKEND_AUTO || s->backend == 1 + j) && !i--)
            return ff_gpume_backends[j]->hw_format;
    return AV_PIX_FMT_NONE;
}

static int query_formats(const AVFilterContext *ctx,
                         AVFilterFormatsConfig **cfg_in,
                         AVFilterFormatsConfig **cfg_out)
{
    return ff_gpume_set_formats(ctx, cfg_in, cfg_out, ff_gpume_format_supported, hw_format, ctx->priv);
}

static av_cold int config_input(AVFilterLink *inlink)
{
    AVFilterContext *ctx = inlink->dst;
    GpumeContext *s = ctx->priv;
    const GpumeOutputConfig output_cfg = output_config(ctx);
    GpumeEngineConfig cfg = {
        .params        = s->params,
        /* a user who names a device does not want a fallback to the CPU */
        .backend       = s->names_device ? GPUME_NB_BACKENDS - 1 : s->backend - 1,
        .max_in_flight = s->async_depth,
        .executor      = ff_gpume_slice_threads(ctx),
        .hw_device     = ctx->hw_device_ctx,
        .device        = s->device,
        .log_ctx       = ctx,
    };
    int ret;

    if (s->names_device && ff_filter_link(inlink)->hw_frames_ctx) {
        av_log(ctx, AV_LOG_ERROR, "'device' is only valid with frames in system memory; "
               "frames on a device are searched there.\n");
        return AVERROR(EINVAL);
    }
    ret = ff_gpume_engine_open(&s->engine, &cfg, inlink->w, inlink->h, inlink->format,
                               ff_filter_link(inlink)->hw_frames_ctx);
    if (ret < 0)
        return ret;
    return ff_gpume_outputs_open(&s->outputs, &output_cfg, ff_gpume_engine_params(s->engine));
}

/* Outputs the frames whose searches are finished. Returns EAGAIN or EOF when there are no more. */
static int send_frames(AVFilterContext *ctx)
{
    GpumeContext *s = ctx->priv;
    GpumeResult result;
    int ret;

    while ((ret = ff_gpume_engine_pull(s->engine, &result)) >= 0) {
        AVFrame *frame = NULL;

        ret = ff_gpume_outputs_write(s->outputs, &result);
        if (ret >= 0)
            FFSWAP(AVFrame *, frame, result.frame);
        ff_gpume_result_uninit(&result);
        if (ret < 0 ||
            (ret = ff_filter_frame(ctx->outputs[0], frame)) < 0)
            return ret;
    }
    return ret;
}

static int add_frame(AVFilterContext *ctx, AVFrame *frame)
{
    GpumeContext *s = ctx->priv;
    int ret;

    s->has_frames = 1;
    ret = ff_gpume_engine_push(s->engine, &frame);
    if (ret < 0) {
        av_frame_free(&frame);
        return ret;
    }
    ret = send_frames(ctx);
    return ret == AVERROR(EAGAIN) ? 0 : ret;
}

static int process(AVFilterContext *ctx)
{
    AVFilterLink *inlink  = ctx->inputs[0];
    AVFilterLink *outlink = ctx->outputs[0];
    GpumeContext *s = ctx->priv;
    AVFrame *frame;
    int64_t pts;
    int ret, status;

    status = ff_outlink_get_status(outlink);
    if (status) {
        ff_inlink_set_status(inlink, status);
        /* a later filter may have failed */
        return ff_gpume_outputs_close(&s->outputs, status == AVERROR_EOF ? GPUME_END_UNWANTED : GPUME_END_FAILED);
    }

    ret = ff_inlink_consume_frame(inlink, &frame);
    if (ret < 0)
        return ret;
    if (ret > 0) {
        ret = add_frame(ctx, frame);
        if (ret < 0)
            return ret;
    }

    if (ff_inlink_acknowledge_status(inlink, &status, &pts)) {
        ff_gpume_engine_flush(s->engine);
        ret = send_frames(ctx);
        if (ret == AVERROR_EOF)
            ret = ff_gpume_outputs_close(&s->outputs, status == AVERROR_EOF ? GPUME_END_INPUT : GPUME_END_FAILED);
        if (ret < 0)
            return ret;
        ff_outlink_set_status(outlink, status, pts);
        return 0;
    }

    if (ff_inlink_check_available_frame(inlink))
        ff_filter_set_ready(ctx, 100);
    else if (ff_outlink_frame_wanted(outlink))
        ff_inlink_request_frame(inlink);
    return 0;
}

static int activate(AVFilterContext *ctx)
{
    GpumeContext *s = ctx->priv;
    const int ret = ff_gpume_end_if_failed(ctx, process(ctx));

    s->failed |= ret < 0;
    return ret;
}

static av_cold void uninit(AVFilterContext *ctx)
{
    GpumeContext *s = ctx->priv;

    ff_gpume_engine_close(&s->engine);
    /* no error means that no more frames are wanted, or that another graph replaces this one */
    ff_gpume_outputs_close(&s->outputs, !s->failed && s->has_frames ? GPUME_END_INPUT : GPUME_END_FAILED);
}

void ff_gpume_filter_set_sink(AVFilterContext *ctx, const GpumeSink *sink)
{
    GpumeContext *s = ctx->priv;

    s->sink          = sink;
    s->params.intra |= sink->needs_stats;
}

const GpumeParams *ff_gpume_filter_params(const AVFilterContext *ctx)
{
    const GpumeContext *s = ctx->priv;

    return s->engine ? ff_gpume_engine_params(s->engine) : &s->params;
}

static const AVFilterPad gpume_inputs[] = {
    {
        .name         = "default",
        .type         = AVMEDIA_TYPE_VIDEO,
        .config_props = config_input,
    },
};

const GPUME_FILTER ff_vf_gpume = {
    GPUME_PUBLIC(name)        = "gpume",
    GPUME_PUBLIC(description) = NULL_IF_CONFIG_SMALL("Search motion vectors on the CPU or a GPU."),
    GPUME_PUBLIC(priv_class)  = &gpume_class,
    GPUME_PUBLIC(flags)       = AVFILTER_FLAG_METADATA_ONLY |
                                AVFILTER_FLAG_HWDEVICE      |
                                AVFILTER_FLAG_SLICE_THREADS,
    .priv_size      = sizeof(GpumeContext),
    .init           = init,
    .uninit         = uninit,
    .activate       = activate,
    FILTER_INPUTS(gpume_inputs),
    FILTER_OUTPUTS(ff_video_default_filterpad),
    FILTER_QUERY_FUNC2(query_formats),
};
