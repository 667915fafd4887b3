/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Stabilising: options, formats, frames in and out. gpume/mvstab/mvstab.h makes the frames.
 */

#include <math.h>

#include "libavutil/bprint.h"
#include "libavutil/opt.h"

#include "avfilter.h"
#include "filters.h"
#include "formats.h"
#include "video.h"

#include "gpume/mvstab/file.h"
#include "gpume/mvstab/mvstab.h"
#include "gpume/stream/stream.h"
#include "gpume/util/compat.h"
#include "gpume/util/hwframes.h"
#include "gpume/util/options.h"
#include "gpume/util/slice_threads.h"

typedef struct MvstabContext {
    const AVClass *class;

    /* options */
    MvstabConfig cfg;
    int max_shift;
    double max_angle;
    char *file;
    int read, overwrite;

    Mvstab *mvstab;
    MvstabFile path;
    double ticks;               ///< ticks of the input's time base in a frame; 0: unknown
    double time;                ///< time of the last frame, in frames
    int64_t pts;                ///< timestamp of the last frame
    int passes;                 ///< whether the frame that is added passes unchanged
    int failed;
    GpumeStream stream;
} MvstabContext;

#define OFFSET(x) offsetof(MvstabContext, x)

static const AVOption mvstab_options[] = {
    { "mode", "how the camera moves in the output", OFFSET(cfg.mode), AV_OPT_TYPE_INT, { .i64 = MVSTAB_SMOOTH },
      MVSTAB_SMOOTH, MVSTAB_FOLLOW, FLAGS, .unit = "mode" },
        CONST("smooth", "on a smooth path", MVSTAB_SMOOTH, "mode"),
        CONST("tripod", "not at all in a shot", MVSTAB_TRIPOD, "mode"),
        CONST("follow", "with least acceleration, so that pans are straight", MVSTAB_FOLLOW, "mode"),
    { "smoothing", "number of frames on each side with which the path is smoothed", OFFSET(cfg.smoothing),
      AV_OPT_TYPE_INT, { .i64 = 30 }, 1, MVSTAB_MAX_RADIUS, FLAGS },
    { "model", "how the picture moves from frame to frame", OFFSET(cfg.model), AV_OPT_TYPE_INT, { .i64 = MVSTAB_AUTO },
      MVSTAB_AUTO, MVSTAB_HOMOGRAPHY, FLAGS, .unit = "model" },
        CONST("auto",       "the homography where it fits clearly better", MVSTAB_AUTO, "model"),
        CONST("similarity", "it is moved, rotated and zoomed", MVSTAB_SIMILARITY, "model"),
        CONST("homography", "as a plane in front of a camera that turns, for wide angles", MVSTAB_HOMOGRAPHY, "model"),
    { "max_shift", "limit of how far a frame is moved, in samples; -1: none", OFFSET(max_shift), AV_OPT_TYPE_INT,
      { .i64 = -1 }, -1, 32767, FLAGS },
    { "max_angle", "limit of how far a frame is rotated, in degrees; -1: none", OFFSET(max_angle), AV_OPT_TYPE_DOUBLE,
      { .dbl = -1 }, -1, 180, FLAGS },
    { "border", "what is where the input frame has no samples", OFFSET(cfg.border), AV_OPT_TYPE_INT,
      { .i64 = MVSTAB_CROP }, MVSTAB_CROP, MVSTAB_MIRROR, FLAGS, .unit = "border" },
        CONST("crop",   "nothing: the frame is zoomed in", MVSTAB_CROP, "border"),
        CONST("keep",   "the previous output frame", MVSTAB_KEEP, "border"),
        CONST("black",  "black", MVSTAB_BLACK, "border"),
        CONST("mirror", "the mirrored frame", MVSTAB_MIRROR, "border"),
    { "zoom", "factor by which frames are zoomed in; 0: with border=crop as much as the shot needs, else 1",
      OFFSET(cfg.zoom), AV_OPT_TYPE_DOUBLE, { .dbl = 0 }, 0, 10, FLAGS },
    { "file", "write the path of the camera to this .npy file, or read it", OFFSET(file), AV_OPT_TYPE_STRING,
      { .str = NULL }, 0, 0, FLAGS },
    { "read", "read the path from the file instead of searching it", OFFSET(read), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1,
      FLAGS },
    { "overwrite", "replace an existing file; 0: fail if it exists", OFFSET(overwrite), AV_OPT_TYPE_BOOL, { .i64 = 1 },
      0, 1, FLAGS },
    { NULL }
};

AVFILTER_DEFINE_CLASS(mvstab);

GPUME_DEFINE_QUERY_FORMATS(ff_mvstab_kind)

static av_cold int init(AVFilterContext *ctx)
{
    const MvstabContext *s = ctx->priv;
    const GpumeDependency dependencies[] = {
        { "read",      s->file != NULL, "'file'" },
        { "overwrite", s->file && !s->read, "'file' and without 'read'" },
        { "model",     !s->read, "a path that is searched, not read" },
    };

    if (s->file && !ff_gpume_has_ending(s->file, ".npy")) {
        av_log(ctx, AV_LOG_ERROR, "'file' is '%s'; it must end in .npy.\n", s->file);
        return AVERROR(EINVAL);
    }
    if (s->cfg.zoom > 0 && s->cfg.zoom < 0.1) {
        av_log(ctx, AV_LOG_ERROR, "'zoom' is %g; it must be 0 or at least 0.1.\n", s->cfg.zoom);
        return AVERROR(EINVAL);
    }
    return ff_gpume_check_options(ctx, dependencies, FF_ARRAY_ELEMS(dependencies));
}

/* Opens mvstab for frames in system memory, or for frames like these hardware frames. */
static av_cold int open_mvstab(AVFilterContext *ctx, AVBufferRef *hw_frames)
{
    MvstabContext *s = ctx->priv;

    s->cfg.hw_frames = hw_frames;
    s->cfg.executor  = ff_gpume_slice_threads(ctx);
    s->cfg.limits    = (MvstabLimits) {
        .shift  = s->max_shift < 0 ? INFINITY : s->max_shift,
        .sine   = sin(s->max_angle * M_PI / 180),
        .cosine = s->max_angle < 0 ? -2 : cos(s->max_angle * M_PI / 180),
    };
    s->cfg.log_ctx   = ctx;
    ff_mvstab_close(&s->mvstab);
    return ff_mvstab_open(&s->mvstab, &s->cfg);
}

static av_cold int config_output(AVFilterLink *outlink)
{
    AVFilterContext *ctx = outlink->src;
    AVFilterLink *inlink = ctx->inputs[0];
    const FilterLink *in = ff_filter_link(inlink);
    MvstabContext *s = ctx->priv;
    int ret = open_mvstab(ctx, in->hw_frames_ctx);

    if (ret >= 0 && s->file && !s->path.rows && !s->path.file.f)
        ret = s->read ? ff_mvstab_file_read(&s->path, s->file, ctx) :
                        ff_mvstab_file_create(&s->path, s->file, s->overwrite, ctx);
    if (ret < 0) {
        s->failed = 1;
        return ret;
    }
    s->ticks = in->frame_rate.num > 0 && in->frame_rate.den > 0 ?
               1 / (av_q2d(in->frame_rate) * av_q2d(inlink->time_base)) : 0;
    s->pts   = AV_NOPTS_VALUE;
    return ff_gpume_config_pool(outlink);
}

/* Returns the time of a frame; NAN: it is unknown. */
static double seconds(const AVFilterContext *ctx, const AVFrame *frame)
{
    return frame->pts == AV_NOPTS_VALUE ? NAN : frame->pts * av_q2d(ctx->inputs[0]->time_base);
}

/* Writes how a frame was moved into its metadata. */
static int set_metadata(AVFrame *out, const MvstabNext *next)
{
    char text[32];
    AVBPrint matrix;
    int ret;

    av_bprint_init(&matrix, 0, AV_BPRINT_SIZE_AUTOMATIC);
    for (int i = 0; i < 8; i++)
        av_bprintf(&matrix, "%s%.9g", i ? " " : "", next->matrix.m[i]);
    ret = av_dict_set(&out->metadata, "lavfi.mvstab.matrix", matrix.str, 0);
    snprintf(text, sizeof(text), "%.3f", next->step->inliers);
    if (ret >= 0)
        ret = av_dict_set(&out->metadata, "lavfi.mvstab.inliers", text, 0);
    return ret < 0 ? ret : av_dict_set_int(&out->metadata, "lavfi.mvstab.begins", next->step->begins, 0);
}

/* Sends the next frame if its input has arrived. Returns 1 if a frame was sent, 0 if not. */
static int send_next(AVFilterContext *ctx)
{
    MvstabContext *s = ctx->priv;
    MvstabNext next;
    AVFrame *out;
    int ret = ff_mvstab_next(s->mvstab, &next);

    if (ret <= 0)
        return ret;
    out = ff_mvstab_take(s->mvstab);
    ret = ff_gpume_new_samples(ctx->outputs[0], out, NULL);
    if (ret >= 0 && s->path.file.f)
        ret = ff_mvstab_file_write(&s->path, next.step, seconds(ctx, out));
    if (ret >= 0)
        ret = set_metadata(out, &next);
    if (ret >= 0)
        ret = ff_mvstab_make(s->mvstab, out);
    if (ret < 0) {
        av_frame_free(&out);
        return ret;
    }
    ret = ff_filter_frame(ctx->outputs[0], out);
    return ret < 0 ? ret : 1;
}

/* Returns the time of a frame, in frames. It grows by 1 where the stream does not tell. */
static double time_of(MvstabContext *s, const AVFrame *frame)
{
    const int is_known = s->ticks > 0 && frame->pts != AV_NOPTS_VALUE && s->pts != AV_NOPTS_VALUE &&
                         frame->pts > s->pts;

    s->time += is_known ? (frame->pts - (double)s->pts) / s->ticks : 1;
    s->pts   = frame->pts;
    return s->time;
}

/* Returns whether a frame can be stabilised. If not, and messages is set, says why. */
static int check_frame(AVFilterContext *ctx, const AVFrame *frame, int messages)
{
    MvstabContext *s = ctx->priv;
    const int is_interlaced = !!(frame->flags & AV_FRAME_FLAG_INTERLACED);
    const int has_row       = !s->read || ff_mvstab_file_find(&s->path, seconds(ctx, frame));

    if (is_interlaced && messages)
        av_log(ctx, AV_LOG_ERROR, "A frame is interlaced. Insert mvdeint or bwdif before mvstab; or setfield=prog, if "
               "the frame is only marked so.\n");
    else if (!has_row && messages)
        av_log(ctx, AV_LOG_ERROR, "%s has no row for the frame at %g s. If ffmpeg seeks with -ss, add -copyts. "
               "Otherwise write the file anew, without 'read'.\n", s->file, seconds(ctx, frame));
    return !is_interlaced && has_row &&
           (!s->read || ff_mvstab_file_check(&s->path, frame->width, frame->height, messages));
}

static int push(AVFilterContext *ctx, AVFrame **frame)
{
    MvstabContext *s = ctx->priv;
    MvstabInput input = { .passes = s->passes };
    MvstabStep step;

    if (!check_frame(ctx, *frame, 1))
        return AVERROR(EINVAL);
    input.time = time_of(s, *frame);
    if (s->read) {
        step       = ff_mvstab_file_take(&s->path);
        input.step = &step;
    }
    av_frame_remove_side_data(*frame, AV_FRAME_DATA_MOTION_VECTORS);
    return ff_mvstab_push(s->mvstab, frame, &input);
}

static int take(AVFilterContext *ctx, AVFrame **frame)
{
    MvstabContext *s = ctx->priv;

    s->passes = ctx->is_disabled;
    return 0;
}

/* Returns whether a frame continues the sequence. One that is an error does not: frames before it are sent first. */
static int continues(AVFilterContext *ctx, const AVFrame *frame)
{
    const MvstabContext *s = ctx->priv;

    return check_frame(ctx, frame, 0) && ff_mvstab_continues(s->mvstab, frame);
}

static int flush(AVFilterContext *ctx)
{
    ff_mvstab_flush(((MvstabContext *)ctx->priv)->mvstab);
    return 0;
}

static int activate(AVFilterContext *ctx)
{
    static const GpumeStreamFunctions functions = {
        .produce = send_next, .take = take, .push = push, .continues = continues, .open = open_mvstab, .flush = flush,
    };
    MvstabContext *s = ctx->priv;
    const int ret = ff_gpume_stream_activate(ctx, &s->stream, &functions);

    s->failed |= ret < 0 && ret != FFERROR_NOT_READY;
    return ret;
}

static av_cold void uninit(AVFilterContext *ctx)
{
    MvstabContext *s = ctx->priv;

    ff_gpume_stream_close(&s->stream);
    ff_mvstab_close(&s->mvstab);
    ff_mvstab_file_close(&s->path, s->failed);
}

const GPUME_FILTER ff_vf_mvstab = {
    GPUME_FRAME_FILTER(mvstab, MvstabContext, "Stabilise the picture.", AVFILTER_FLAG_SUPPORT_TIMELINE_INTERNAL),
    .init = init,
    FILTER_INPUTS(ff_video_default_filterpad),
};
