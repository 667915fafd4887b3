/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * Block motion estimation filter: which frames meet, and where the vectors go.
 * The searches are those of the backends, see gpume/gpume.h.
 */

#include <inttypes.h>
#include <stdio.h>

#include "libavutil/avassert.h"
#include "libavutil/common.h"
#include "libavutil/dict.h"
#include "libavutil/hwcontext.h"
#include "libavutil/mem.h"
#include "libavutil/opt.h"
#include "libavutil/pixdesc.h"

#include "avfilter.h"
#include "filters.h"
#include "formats.h"
#include "video.h"

#include "gpume/gpume.h"
#include "gpume/gpume_compat.h"
#include "gpume/gpume_output.h"

/** Values of the option backend. */
enum BackendChoice {
    BACKEND_AUTO,
    BACKEND_CPU,
    BACKEND_CUDA,
};

/** Values of the option dir: masks of 1 << enum GpumeDirection. */
enum {
    DIR_PAST   = 1 << GPUME_PAST,
    DIR_FUTURE = 1 << GPUME_FUTURE,
    DIR_BOTH   = DIR_PAST | DIR_FUTURE,
};

#define MAX_ASYNC_DEPTH 64

/** A frame in the window, and its search. */
typedef struct Entry {
    GpumePicture pic;
    GpumeSearch search;     ///< search.cur is NULL: there is none
    int64_t framenum;       ///< counts from 1
} Entry;

typedef struct GpumeContext {
    const AVClass *class;

    /* options */
    int backend_choice;
    char *device;
    int dir;                ///< DIR_*
    int async_depth;
    char *mv_file;
    char *stats_file;
    int overwrite;
    int metadata;

    GpumeParams params;     ///< algo, block, range, exhaustive are options

    /* what the backend was opened for */
    const GpumeBackend *backend;    ///< NULL: not open
    void *backend_priv;
    int format;
    uint8_t *hw_frames;     ///< the input's AVHWFramesContext, to tell a change

    GpumeOutput *output;
    int failed;             ///< the error after which nothing goes on

    /**
     * The window, oldest first, a ring. Frames before nb_out have left and
     * stay as references; those before nb_started need not wait for another
     * frame: their search has been submitted or they have none.
     */
    Entry window[MAX_ASYNC_DEPTH + 2];
    int first;
    int nb, nb_started, nb_out;
    int64_t nb_frames;      ///< of the whole stream
} GpumeContext;

#define OFFSET(x) offsetof(GpumeContext, x)
#define FLAGS AV_OPT_FLAG_VIDEO_PARAM | AV_OPT_FLAG_FILTERING_PARAM
#define CONST(name, help, val, u) \
    { name, help, 0, AV_OPT_TYPE_CONST, { .i64 = val }, 0, 0, FLAGS, .unit = u }
#define ALGO(name, help)                                                     \
    { name, help, OFFSET(params.algo), AV_OPT_TYPE_INT,                      \
      { .i64 = GPUME_ALGO_FS }, 0, GPUME_NB_ALGOS - 1, FLAGS, .unit = "algo" }
#define RANGE(name, help)                                                    \
    { name, help, OFFSET(params.range), AV_OPT_TYPE_INT, { .i64 = 16 },      \
      1, GPUME_MAX_RANGE, FLAGS }
#define BLOCK(name, help)                                                    \
    { name, help, OFFSET(params.block), AV_OPT_TYPE_INT, { .i64 = 16 },      \
      GPUME_MIN_BLOCK, GPUME_MAX_BLOCK, FLAGS }

static const AVOption gpume_options[] = {
    ALGO("algo",   "search algorithm"),
    ALGO("method", "search algorithm (same as algo)"),
        CONST("fs",    "full search",                         GPUME_ALGO_FS,    "algo"),
        CONST("esa",   "exhaustive search, same as fs",       GPUME_ALGO_FS,    "algo"),
        CONST("tss",   "three-step search",                   GPUME_ALGO_TSS,   "algo"),
        CONST("tdls",  "two-dimensional logarithmic search",  GPUME_ALGO_TDLS,  "algo"),
        CONST("ntss",  "new three-step search",               GPUME_ALGO_NTSS,  "algo"),
        CONST("fss",   "four-step search",                    GPUME_ALGO_FSS,   "algo"),
        CONST("ds",    "diamond search",                      GPUME_ALGO_DS,    "algo"),
        CONST("hexbs", "hexagon-based search",                GPUME_ALGO_HEXBS, "algo"),
        CONST("epzs",  "enhanced predictive zonal search",    GPUME_ALGO_EPZS,  "algo"),
        CONST("umh",   "unsymmetrical-cross multi-hexagon-grid search", GPUME_ALGO_UMH, "algo"),
    RANGE("range",        "search distance to each side, in luma samples"),
    RANGE("search_param", "search distance to each side, in luma samples (same as range)"),
    { "exhaustive", "make fs evaluate every candidate, even those proved not to be the best",
      OFFSET(params.exhaustive), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    BLOCK("block",   "side of a block, in luma samples: 4, 8, 16, 32, 64 or 128"),
    BLOCK("mb_size", "side of a block, in luma samples (same as block)"),
    { "dir", "where the reference frame lies", OFFSET(dir), AV_OPT_TYPE_INT,
      { .i64 = DIR_PAST }, DIR_PAST, DIR_BOTH, FLAGS, .unit = "dir" },
        CONST("past",   "the frame before",           DIR_PAST,   "dir"),
        CONST("future", "the frame after",            DIR_FUTURE, "dir"),
        CONST("both",   "each in turn, past first",   DIR_BOTH,   "dir"),
    { "backend", "where to search", OFFSET(backend_choice), AV_OPT_TYPE_INT,
      { .i64 = BACKEND_AUTO }, BACKEND_AUTO, BACKEND_CUDA, FLAGS, .unit = "backend" },
        CONST("auto", "CUDA if a device can be opened, else the CPU", BACKEND_AUTO, "backend"),
        CONST("cpu",  "the CPU",                          BACKEND_CPU,  "backend"),
        CONST("cuda", "an NVIDIA GPU, or fail",           BACKEND_CUDA, "backend"),
    { "device", "index of the GPU for frames in system memory (default: the filter graph's, else the first)",
      OFFSET(device), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "async_depth", "searches in flight, in frames; 1: lowest latency", OFFSET(async_depth),
      AV_OPT_TYPE_INT, { .i64 = 2 }, 1, MAX_ASYNC_DEPTH, FLAGS },
    { "mv_file", "write the vectors to this .csv or .npy file; -: CSV to standard output",
      OFFSET(mv_file), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "stats_file", "write a line per frame and direction to this file; -: standard output",
      OFFSET(stats_file), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0, FLAGS },
    { "overwrite", "replace files that exist; else they are an error", OFFSET(overwrite),
      AV_OPT_TYPE_BOOL, { .i64 = 1 }, 0, 1, FLAGS },
    { "metadata", "set lavfi.gpume.* frame metadata", OFFSET(metadata),
      AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { NULL }
};

AVFILTER_DEFINE_CLASS(gpume);

static av_cold int init(AVFilterContext *ctx)
{
    GpumeContext *s = ctx->priv;

    if (s->params.block & (s->params.block - 1)) {
        av_log(ctx, AV_LOG_ERROR, "block is %d; it can be 4, 8, 16, 32, 64 or "
               "128.\n", s->params.block);
        return AVERROR(EINVAL);
    }
    return ff_gpume_output_check(s->mv_file, s->stats_file, ctx);
}

static int query_formats(const AVFilterContext *ctx,
                         AVFilterFormatsConfig **cfg_in,
                         AVFilterFormatsConfig **cfg_out)
{
    const GpumeContext *s = ctx->priv;
    const AVPixFmtDescriptor *desc = NULL;
    AVFilterFormats *formats = NULL;
    int ret;

    while ((desc = av_pix_fmt_desc_next(desc))) {
        enum AVPixelFormat format = av_pix_fmt_desc_get_id(desc);

        if (ff_gpume_format_supported(format) &&
            (ret = ff_add_format(&formats, format)) < 0)
            return ret;
    }
    if (s->backend_choice != BACKEND_CPU &&
        ff_gpume_backend_cuda.hw_format != AV_PIX_FMT_NONE &&
        (ret = ff_add_format(&formats, ff_gpume_backend_cuda.hw_format)) < 0)
        return ret;

    return ff_set_common_formats2(ctx, cfg_in, cfg_out, formats);
}

typedef struct ExecuteArg {
    GpumeJob job;
    void *arg;
} ExecuteArg;

static int execute_job(AVFilterContext *ctx, void *opaque, int job, int nb_jobs)
{
    const ExecuteArg *arg = opaque;

    arg->job(arg->arg, job, nb_jobs);
    return 0;
}

static void execute(void *opaque, GpumeJob job, void *arg, int nb_jobs)
{
    ExecuteArg execute_arg = { job, arg };

    ff_filter_execute(opaque, execute_job, &execute_arg, NULL, nb_jobs);
}

static av_cold void close_backend(GpumeContext *s)
{
    if (s->backend_priv)
        s->backend->uninit(s->backend_priv);
    av_freep(&s->backend_priv);
    s->backend = NULL;
}

static av_cold int open_backend(AVFilterContext *ctx, const GpumeConfig *cfg,
                                const GpumeBackend *backend)
{
    GpumeContext *s = ctx->priv;
    int ret;

    s->backend_priv = av_mallocz(FFMAX(backend->priv_size, 1));
    if (!s->backend_priv)
        return AVERROR(ENOMEM);
    s->backend = backend;

    ret = backend->init(s->backend_priv, cfg);
    if (ret < 0)
        close_backend(s);
    else
        av_log(ctx, AV_LOG_VERBOSE, "Searching with backend %s.\n", backend->name);
    return ret;
}

/* Get ready for frames of this size and format. */
static av_cold int configure(AVFilterContext *ctx, int width, int height,
                             int format, AVBufferRef *hw_frames)
{
    GpumeContext *s = ctx->priv;
    GpumeConfig cfg = {
        .max_searches = s->async_depth,
        .execute      = execute,
        .opaque       = ctx,
        .hw_device    = ctx->hw_device_ctx,
        .hw_frames    = hw_frames,
        .device       = s->device,
        .log_ctx      = ctx,
    };
    const int sw_format = hw_frames ?
        ((AVHWFramesContext *)hw_frames->data)->sw_format : format;
    int ret;

    ret = ff_gpume_params_init(&s->params, width, height, sw_format, ctx);
    if (ret < 0)
        return ret;
    cfg.params = s->params;

    if (s->backend_choice == BACKEND_CUDA || hw_frames) {
        ret = open_backend(ctx, &cfg, &ff_gpume_backend_cuda);
    } else {
        ret = AVERROR(ENOSYS);
        if (s->backend_choice == BACKEND_AUTO) {
            cfg.fallback = 1;
            ret = open_backend(ctx, &cfg, &ff_gpume_backend_cuda);
            cfg.fallback = 0;
            if (ret < 0 && ret != AVERROR(ENOSYS) && ret != AVERROR(ENODEV))
                av_log(ctx, AV_LOG_WARNING, "The GPU cannot be used; searching "
                       "on the CPU.\n");
        }
        if (ret < 0)
            ret = open_backend(ctx, &cfg, &ff_gpume_backend_cpu);
    }
    if (ret < 0)
        return ret;

    s->format    = format;
    s->hw_frames = hw_frames ? hw_frames->data : NULL;
    return 0;
}

static int config_input(AVFilterLink *inlink)
{
    AVFilterContext *ctx = inlink->dst;
    GpumeContext *s = ctx->priv;
    int ret;

    ret = configure(ctx, inlink->w, inlink->h, inlink->format,
                    ff_filter_link(inlink)->hw_frames_ctx);
    if (ret < 0)
        return ret;
    return ff_gpume_output_open(&s->output, s->mv_file, s->stats_file,
                                &s->params, s->dir, s->overwrite, ctx);
}

static Entry *window_entry(GpumeContext *s, int i)
{
    return &s->window[(s->first + i) % FF_ARRAY_ELEMS(s->window)];
}

static void drop_oldest(GpumeContext *s)
{
    Entry *e = window_entry(s, 0);

    ff_gpume_search_uninit(&e->search);
    ff_gpume_picture_uninit(&e->pic);
    s->first = (s->first + 1) % FF_ARRAY_ELEMS(s->window);
    s->nb--;
    s->nb_started--;
    s->nb_out--;
}

/* Start the search of a frame that has met all frames it will meet. */
static int start_search(GpumeContext *s, int i)
{
    GpumeSearch *search = &window_entry(s, i)->search;

    if (s->dir & DIR_PAST && i > 0)
        search->ref[GPUME_PAST] = &window_entry(s, i - 1)->pic;
    if (s->dir & DIR_FUTURE && i + 1 < s->nb)
        search->ref[GPUME_FUTURE] = &window_entry(s, i + 1)->pic;
    if (!search->ref[GPUME_PAST] && !search->ref[GPUME_FUTURE])
        return 0;

    search->cur = &window_entry(s, i)->pic;
    return s->backend->submit(s->backend_priv, search);
}

static int set_metadata(AVFrame *frame, int direction, const GpumeStats *stats)
{
    const char *dir = direction == GPUME_PAST ? "past" : "future";
    char key[64], value[64];
    int ret;

#define SET(name, fmt, field)                                                \
    snprintf(key, sizeof(key), "lavfi.gpume.%s." name, dir);                 \
    snprintf(value, sizeof(value), fmt, field);                              \
    if ((ret = av_dict_set(&frame->metadata, key, value, 0)) < 0)            \
        return ret;

    SET("cost",    "%"PRIu64, stats->cost)
    SET("zero",    "%d",      stats->zero)
    SET("mean_mv", "%.2f",    stats->mean_mv)
    SET("max_mv",  "%.1f",    stats->max_mv)
#undef SET
    return 0;
}

/* Write what was found to files and metadata. */
static int report(GpumeContext *s, const Entry *e, AVFrame *out)
{
    const size_t nb_blocks = (size_t)s->params.bw * s->params.bh;
    GpumeField fields[GPUME_NB_DIRECTIONS] = { 0 };
    size_t start = 0;
    int ret;

    for (int i = 0; i < GPUME_NB_DIRECTIONS; i++) {
        if (!e->search.ref[i])
            continue;
        fields[i].mvs   = (AVMotionVector *)e->search.mvs->data + start;
        fields[i].costs = (uint32_t *)e->search.costs->data + start;
        start += nb_blocks;

        if (s->metadata || ff_gpume_output_has_stats(s->output)) {
            GpumeStats stats;

            ff_gpume_output_compute_stats(&stats, &fields[i], &s->params);
            ret = ff_gpume_output_stats(s->output, &s->params, e->framenum,
                                        out->pts, i, &stats);
            if (ret >= 0 && s->metadata)
                ret = set_metadata(out, i, &stats);
            if (ret < 0)
                return ret;
        }
    }
    return ff_gpume_output_vectors(s->output, &s->params, e->framenum, fields);
}

/* Let the oldest frame that has not left yet leave. */
static int send_oldest(AVFilterContext *ctx)
{
    GpumeContext *s = ctx->priv;
    Entry *e = window_entry(s, s->nb_out);
    AVFrame *out;
    int ret;

    if (e->search.cur) {
        ret = s->backend->wait(s->backend_priv, &e->search);
        if (ret < 0)
            return ret;
    }

    out = av_frame_clone(e->pic.frame);
    if (!out)
        return AVERROR(ENOMEM);

    ret = report(s, e, out);
    if (ret < 0)
        goto fail;

    av_frame_remove_side_data(out, AV_FRAME_DATA_MOTION_VECTORS);
    if (e->search.mvs) {
        if (!av_frame_new_side_data_from_buf(out, AV_FRAME_DATA_MOTION_VECTORS,
                                             e->search.mvs)) {
            ret = AVERROR(ENOMEM);
            goto fail;
        }
        e->search.mvs = NULL;
    }
    ff_gpume_search_uninit(&e->search);
    s->nb_out++;

    /* the frame before was this one's past; this one may be the next one's */
    while (s->nb_out > !!(s->dir & DIR_PAST))
        drop_oldest(s);

    return ff_filter_frame(ctx->outputs[0], out);

fail:
    av_frame_free(&out);
    return ret;
}

/**
 * Start what can be started, and let frames leave.
 * @param flush no frame follows that could meet these
 */
static int advance(AVFilterContext *ctx, int flush)
{
    GpumeContext *s = ctx->priv;
    const int needs_next = !flush && s->dir & DIR_FUTURE;
    const int max_in_flight = flush ? 1 : s->backend->async ? s->async_depth : 1;
    int ret;

    for (;;) {
        if (s->nb_started + needs_next < s->nb) {
            ret = start_search(s, s->nb_started);
            if (ret < 0)
                return ret;
            s->nb_started++;
        }
        if (s->nb_started - s->nb_out < max_in_flight)
            break;
        ret = send_oldest(ctx);
        if (ret < 0)
            return ret;
    }

    while (flush && s->nb)
        drop_oldest(s);
    return 0;
}

/* No decoder gives such a frame, and nothing but a crash could come of it. */
static int check_frame(AVFilterContext *ctx, const AVFrame *frame)
{
    const GpumeContext *s = ctx->priv;
    const int row = s->params.width * (s->params.depth > 8 ? 2 : 1);

    if (!frame->data[0]) {
        av_log(ctx, AV_LOG_ERROR, "The frame has no luma plane.\n");
        return AVERROR(EINVAL);
    }
    if (frame->height > 1 && frame->linesize[0] < row && frame->linesize[0] > -row) {
        av_log(ctx, AV_LOG_ERROR, "The frame's rows of luma overlap: they are %d bytes "
               "apart and %d bytes long.\n", frame->linesize[0], row);
        return AVERROR(EINVAL);
    }
    return 0;
}

static int add_frame(AVFilterContext *ctx, AVFrame *frame)
{
    GpumeContext *s = ctx->priv;
    uint8_t *hw_frames = frame->hw_frames_ctx ? frame->hw_frames_ctx->data : NULL;
    Entry *e;
    int ret;

    if (frame->width  != s->params.width  || frame->format != s->format ||
        frame->height != s->params.height || hw_frames     != s->hw_frames) {
        av_log(ctx, AV_LOG_VERBOSE, "The search starts afresh: the picture is "
               "now %dx%d %s.\n", frame->width, frame->height,
               av_get_pix_fmt_name(frame->format));
        ret = advance(ctx, 1);
        if (ret >= 0) {
            close_backend(s);
            ret = configure(ctx, frame->width, frame->height, frame->format,
                            frame->hw_frames_ctx);
        }
        if (ret < 0) {
            av_frame_free(&frame);
            return ret;
        }
    }

    ret = check_frame(ctx, frame);
    if (ret < 0) {
        av_frame_free(&frame);
        return ret;
    }

    av_assert0(s->nb < FF_ARRAY_ELEMS(s->window));
    e = window_entry(s, s->nb++);
    e->pic.frame = frame;
    e->framenum  = ++s->nb_frames;
    ret = s->backend->import(s->backend_priv, &e->pic);
    if (ret < 0)
        return ret;
    return advance(ctx, 0);
}

static int work(AVFilterContext *ctx)
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
        /* what comes after may have failed */
        return ff_gpume_output_close(&s->output, status == AVERROR_EOF);
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
        ret = advance(ctx, 1);
        if (ret >= 0)
            ret = ff_gpume_output_close(&s->output, status == AVERROR_EOF);
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

    /* a backend may only be closed after an error */
    if (s->failed >= 0)
        s->failed = work(ctx);
    return s->failed;
}

static av_cold void uninit(AVFilterContext *ctx)
{
    GpumeContext *s = ctx->priv;

    close_backend(s);
    for (int i = 0; i < FF_ARRAY_ELEMS(s->window); i++) {
        ff_gpume_search_uninit(&s->window[i].search);
        ff_gpume_picture_uninit(&s->window[i].pic);
    }
    /* whoever took the frames may have wanted no more of them */
    ff_gpume_output_close(&s->output, s->failed >= 0 && s->nb_frames);
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
    GPUME_PUBLIC(description) = NULL_IF_CONFIG_SMALL("Search motion vectors, on the GPU or the CPU."),
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
