/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Frame rate conversion along motion vectors: options, formats, timestamps, frames in and out.
 * gpume/mvfps/mvfps.h interpolates pictures.
 */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libavutil/mathematics.h"
#include "libavutil/mem.h"
#include "libavutil/opt.h"
#include "libavutil/parseutils.h"

#include "avfilter.h"
#include "filters.h"
#include "formats.h"
#include "vf_gpume.h"
#include "vf_mv.h"
#include "video.h"

#include "gpume/core/searches.h"
#include "gpume/field/sidedata.h"
#include "gpume/util/compat.h"
#include "gpume/util/slice_threads.h"
#include "gpume/util/frame_backend.h"
#include "gpume/util/hwframes.h"
#include "gpume/util/options.h"
#include "gpume/mvfps/captions.h"
#include "gpume/mvfps/mvfps.h"
#include "gpume/mvfps/properties.h"
#include "gpume/mvfps/repeats.h"
#include "gpume/picture/layout.h"

/** Highest output rate in frames per second; a higher rate is a mistake. */
#define MAX_RATE 100000
/** Latest time in the output's time base, so that sums and differences of times fit into 64 bits. */
#define MAX_TIME (INT64_MAX / 4)
/** Maximum number of output frames that fill a gap; after a longer gap the output continues at its end. */
#define LONGEST_FILL 100000

typedef struct MvfpsContext {
    const AVClass *class;

    /* options */
    char *fps;
    int mode;
    double scene;
    int cut;
    int64_t gap;                ///< longest time between two frames that is interpolated, in microseconds
    int interpolates_repeats;
    int search;                 ///< enum GpumeSearchWhen

    AVRational rate;            ///< output rate
    AVRational in_time_base, out_time_base;

    Mvfps *mvfps;
    MvfpsRepeats repeats;       ///< input frames on their way to the searcher
    GpumeSearcher *searcher;
    /** While each output frame is an input frame, the last two frames as they arrived; then those to be searched. */
    AVFrame *kept[3];
    int nb_kept;
    int is_asleep;              ///< whether each output frame has been an input frame: nothing is searched
    int nb_again;               ///< number of frames in the searcher that were taken before
    MvfpsCaptions captions;
    AVFrame *held;              ///< the next output frame, while captions for it may still arrive
    AVFrame *before, *after;    ///< the frames around the next output time; after may be NULL
    AVFrame *next;              ///< the frame after both, if it must show whether the timestamp of after is damaged
    int64_t start;              ///< timestamp of the first frame; all times are in the output's time base
    int64_t before_pts, after_pts, next_pts;
    int64_t front_pts;          ///< timestamp of the frame before them, if there was one
    int64_t end_of_input;       ///< end of the last input frame in the input's time base, or AV_NOPTS_VALUE
    int64_t end_of_repeats;     ///< end of the repeats of the last frame, or AV_NOPTS_VALUE if it has none
    int64_t index;              ///< index of the next output frame
    int64_t rounding;           ///< maximum distance of an output time from an input frame whose time it stands for
    int64_t longest_gap, longest_fill;
    int new_pair;               ///< whether the frames around the output time have not been examined
    int is_gap;                 ///< whether they are too far apart for interpolation
    enum MvfpsMode how;         ///< how pictures between them are made
    int eof;
    int status;                 ///< status with which the input has ended
    int64_t status_pts;         ///< timestamp at which it has ended, in its time base, or AV_NOPTS_VALUE
    int warned_interlaced, warned_untimed, warned_dropped, warned_order, warned_jump, warned_gap, had_vectors;
} MvfpsContext;

#define OFFSET(x) offsetof(MvfpsContext, x)
#define FLAGS AV_OPT_FLAG_VIDEO_PARAM | AV_OPT_FLAG_FILTERING_PARAM
#define CONST(name, help, val, u) \
    { name, help, 0, AV_OPT_TYPE_CONST, { .i64 = val }, 0, 0, FLAGS, .unit = u }

static const AVOption mvfps_options[] = {
    { "fps", "output frames per second, or a factor of the input's, such as 2x or 5/2x",
      OFFSET(fps), AV_OPT_TYPE_STRING, { .str = "2x" }, 0, 0, FLAGS },
    { "mode", "how to make frames between two input frames", OFFSET(mode), AV_OPT_TYPE_INT,
      { .i64 = MVFPS_MCI }, 0, MVFPS_NB_MODES - 1, FLAGS, .unit = "mode" },
        CONST("mci",   "motion-compensated interpolation", MVFPS_MCI,   "mode"),
        CONST("blend", "mean of both frames, weighted by distance in time", MVFPS_BLEND, "mode"),
        CONST("dup",   "copy of the nearest frame",        MVFPS_DUP,   "mode"),
    { "scene", "scene cut threshold: share of the detail of one frame that the other one lacks; "
               "fades are not cuts; 0: off",
      OFFSET(scene), AV_OPT_TYPE_DOUBLE, { .dbl = GPUME_DEFAULT_SCENE }, 0, 1, FLAGS },
    { "cut", "what mode=mci makes between the frames on both sides of a cut", OFFSET(cut), AV_OPT_TYPE_INT,
      { .i64 = MVFPS_DUP }, MVFPS_BLEND, MVFPS_DUP, FLAGS, .unit = "cut" },
        CONST("blend", "mean of both frames, weighted by distance in time", MVFPS_BLEND, "cut"),
        CONST("dup",   "copy of the nearest frame",       MVFPS_DUP,   "cut"),
    { "gap", "longest time between two frames that interpolation fills; across longer ones the first frame is repeated",
      OFFSET(gap), AV_OPT_TYPE_DURATION, { .i64 = 2 * AV_TIME_BASE }, 1, INT64_MAX, FLAGS },
    { "repeats", "what to do with input frames that repeat the one before them", OFFSET(interpolates_repeats),
      AV_OPT_TYPE_INT, { .i64 = 0 }, 0, 1, FLAGS, .unit = "repeats" },
        CONST("keep",        "keep them",                              0, "repeats"),
        CONST("interpolate", "replace up to three in a row by interpolated frames", 1, "repeats"),
    GPUME_SEARCH_OPTION(search)
    { NULL }
};

AVFILTER_DEFINE_CLASS(mvfps);

static enum AVPixelFormat hw_format(const AVFilterContext *ctx, int i)
{
    return ff_mvfps_hw_format(i);
}

static int query_formats(const AVFilterContext *ctx,
                         AVFilterFormatsConfig **cfg_in,
                         AVFilterFormatsConfig **cfg_out)
{
    return ff_gpume_set_formats(ctx, cfg_in, cfg_out, ff_gpume_layout_supports, hw_format);
}

/* Sets the output's rate to a multiple of the input's; the text before the final x is the factor. */
static av_cold int multiply_rate(AVFilterContext *ctx, AVRational in_rate)
{
    MvfpsContext *s = ctx->priv;
    AVRational factor;
    char *number;
    int ret;

    if (in_rate.num <= 0 || in_rate.den <= 0) {
        av_log(ctx, AV_LOG_ERROR, "The input's frame rate is unknown, so 'fps=%s' cannot be used. "
               "Set fps to a number of frames per second, such as fps=60.\n", s->fps);
        return AVERROR(EINVAL);
    }
    number = av_strndup(s->fps, strlen(s->fps) - 1);
    if (!number)
        return AVERROR(ENOMEM);
    ret = av_parse_ratio(&factor, number, INT_MAX, AV_LOG_MAX_OFFSET, ctx);
    av_free(number);
    if (ret < 0 || factor.num <= 0 || factor.den <= 0)
        return AVERROR_INVALIDDATA;
    s->rate = av_mul_q(in_rate, factor);
    if (av_q2d(s->rate) <= MAX_RATE)
        return 0;
    av_log(ctx, AV_LOG_ERROR, "The input's frame rate is %d/%d, so 'fps=%s' is %.0f frames/s, more than the %d that "
           "mvfps supports. Set fps to a number of frames per second, such as fps=60.\n", in_rate.num, in_rate.den,
           s->fps, av_q2d(s->rate), MAX_RATE);
    return AVERROR(EINVAL);
}

/* Reads the option fps, for an input of this rate. */
static av_cold int parse_rate(AVFilterContext *ctx, AVRational in_rate)
{
    MvfpsContext *s = ctx->priv;
    const size_t length = strlen(s->fps);
    const int is_factor = length && s->fps[length - 1] == 'x';
    int ret;

    if (is_factor) {
        ret = multiply_rate(ctx, in_rate);
    } else {
        ret = av_parse_video_rate(&s->rate, s->fps);
        if (ret < 0 || s->rate.num <= 0 || s->rate.den <= 0 || av_q2d(s->rate) > MAX_RATE)
            ret = AVERROR_INVALIDDATA;
    }
    if (ret != AVERROR_INVALIDDATA)
        return ret;
    av_log(ctx, AV_LOG_ERROR, "'fps=%s' is not a frame rate: it must be a number such as 60 or 30000/1001, "
           "or a factor such as 2x, above 0 and up to %d frames/s.\n", s->fps, MAX_RATE);
    return AVERROR(EINVAL);
}

/* Opens mvfps for frames in system memory, or for frames like these hardware frames. */
static av_cold int open_mvfps(AVFilterContext *ctx, AVBufferRef *hw_frames)
{
    MvfpsContext *s = ctx->priv;
    const MvfpsConfig cfg = {
        .hw_frames = hw_frames,
        .executor  = gpume_slice_threads(ctx),
        .log_ctx   = ctx,
    };

    ff_mvfps_close(&s->mvfps);
    return ff_mvfps_open(&s->mvfps, &cfg);
}

/* Converts a duration to the output's time base; INT64_MAX: it does not fit. */
static int64_t to_output(const MvfpsContext *s, int64_t duration, AVRational time_base, enum AVRounding rounding)
{
    const int64_t time = av_rescale_q_rnd(duration, time_base, s->out_time_base, rounding);

    return time == INT64_MIN ? INT64_MAX : time;
}

/* Sets the limits for near and distant times. */
static av_cold void set_limits(MvfpsContext *s, AVRational in_rate)
{
    const AVRational step = av_inv_q(s->rate);
    int64_t rounding;

    s->longest_fill = to_output(s, LONGEST_FILL, step, AV_ROUND_NEAR_INF);
    s->longest_gap  = to_output(s, s->gap, AV_TIME_BASE_Q, AV_ROUND_NEAR_INF);
    s->longest_gap  = FFMIN(s->longest_gap, s->longest_fill);
    s->rounding     = 0;
    if (in_rate.num <= 0 || in_rate.den <= 0 ||
        !((int64_t)in_rate.den * s->in_time_base.den % ((int64_t)in_rate.num * s->in_time_base.num)))
        return;
    /* the times of the first frame, from which output times are counted, and of another frame are
     * off by up to half a tick each */
    rounding    = to_output(s, 1, s->in_time_base, AV_ROUND_NEAR_INF);
    rounding    = FFMIN(rounding, to_output(s, 1, av_inv_q(in_rate), AV_ROUND_DOWN) / 4);
    s->rounding = FFMIN(rounding, FFMAX(to_output(s, 1, step, AV_ROUND_DOWN) - 1, 0) / 2);
}

/*
 * Opens a searcher for motion between neighbours. Whole samples give results as good as subpel
 * vectors here, in half the time.
 */
static av_cold int open_searcher(AVFilterContext *ctx)
{
    MvfpsContext *s = ctx->priv;
    const GpumeSearcherConfig cfg = {
        .when      = s->mode == MVFPS_MCI ? s->search : GPUME_SEARCH_NEVER,
        .params    = {
            .algo = GPUME_ALGO_HME, .block = 8, .pel = 1, .sweeps = 4, .smooth = GPUME_AUTO, .check = GPUME_AUTO,
            .nb_references = 2, .distance = { -1, 1 },
        },
        .options   = GPUME_SEARCH_MVFPS,
        .sequence  = s->mode == MVFPS_MCI,
        .executor  = gpume_slice_threads(ctx),
        .hw_device = ctx->hw_device_ctx,
        .decided   = gpume_vectors_decided,
        .log_ctx   = ctx,
    };

    ff_gpume_searcher_close(&s->searcher);
    return ff_gpume_searcher_open(&s->searcher, &cfg);
}

static av_cold int init(AVFilterContext *ctx)
{
    const MvfpsContext *s = ctx->priv;
    const GpumeDependency dependencies[] = {
        { "scene",   s->mode != MVFPS_DUP, "mode=mci or mode=blend" },
        { "cut",     s->mode == MVFPS_MCI, "mode=mci" },
        { "repeats", s->mode != MVFPS_DUP, "mode=mci or mode=blend" },
        { "search",  s->mode == MVFPS_MCI, "mode=mci" },
    };
    const int ret = ff_gpume_check_options(ctx, dependencies, FF_ARRAY_ELEMS(dependencies));

    if (ret >= 0 && s->interpolates_repeats && s->search == GPUME_SEARCH_NEVER) {
        av_log(ctx, AV_LOG_ERROR, "'repeats=interpolate' searches motion vectors between frames that are not repeats, "
               "so it is not valid with search=never.\n");
        return AVERROR(EINVAL);
    }
    return ret;
}

static av_cold int config_output(AVFilterLink *outlink)
{
    AVFilterContext *ctx = outlink->src;
    AVFilterLink *inlink = ctx->inputs[0];
    FilterLink *in = ff_filter_link(inlink), *out = ff_filter_link(outlink);
    MvfpsContext *s = ctx->priv;
    int ret = parse_rate(ctx, in->frame_rate);

    if (ret >= 0)
        ret = open_searcher(ctx);
    if (ret >= 0)
        ret = open_mvfps(ctx, in->hw_frames_ctx);
    if (ret >= 0)
        ret = ff_gpume_config_pool(outlink);
    if (ret >= 0) {
        ff_mvfps_captions_close(&s->captions);
        ret = ff_mvfps_captions_open(&s->captions, s->rate, ctx);
    }
    if (ret < 0)
        return ret;

    /* a time base in which times of the input and the output are whole, or that of the input */
    s->in_time_base    = inlink->time_base;
    s->out_time_base   = av_gcd_q(s->in_time_base, av_inv_q(s->rate), INT_MAX, s->in_time_base);
    outlink->time_base = s->out_time_base;
    out->frame_rate    = s->rate;
    s->start           = AV_NOPTS_VALUE;
    s->front_pts       = AV_NOPTS_VALUE;
    s->end_of_input    = AV_NOPTS_VALUE;
    s->end_of_repeats  = AV_NOPTS_VALUE;
    s->is_asleep       = s->mode == MVFPS_MCI && s->search != GPUME_SEARCH_NEVER && !s->interpolates_repeats;
    set_limits(s, in->frame_rate);
    return 0;
}

static int64_t output_time(const MvfpsContext *s, int64_t index)
{
    /* times that do not fit are later than all frames */
    return s->start + FFMIN(to_output(s, index, av_inv_q(s->rate), AV_ROUND_NEAR_INF), 2 * MAX_TIME + 1);
}

/* Returns the duration of an input frame, in the output's time base. */
static int64_t duration(const MvfpsContext *s, const AVFrame *frame)
{
    return av_rescale_q(frame->duration, s->in_time_base, s->out_time_base);
}

/** Results of an attempt to make an output frame, other than errors. */
enum { WAITS_FOR_INPUT, IS_HELD, IS_SENT };

/* Sends the frame that waited for captions up to time end. */
static int send_held(AVFilterContext *ctx, int64_t end)
{
    MvfpsContext *s = ctx->priv;
    AVFrame *frame  = s->held;
    int ret;

    if (!frame)
        return IS_HELD;
    s->held = NULL;
    ret = ff_mvfps_captions_give(&s->captions, frame, end);
    if (ret < 0) {
        av_frame_free(&frame);
        return ret;
    }
    ret = ff_filter_frame(ctx->outputs[0], frame);
    return ret < 0 ? ret : IS_SENT;
}

/* Queues a frame as the next output frame, and sends it; with captions, it waits for the frame after it. */
static int send(AVFilterContext *ctx, AVFrame *frame)
{
    MvfpsContext *s = ctx->priv;
    int ret;

    frame->pts       = output_time(s, s->index);
    frame->duration  = output_time(s, s->index + 1) - frame->pts;
    frame->time_base = s->out_time_base;
    s->index++;
    if (!s->captions.has_any) {
        ret = ff_filter_frame(ctx->outputs[0], frame);
        return ret < 0 ? ret : IS_SENT;
    }
    ret = send_held(ctx, s->held ? s->held->pts + s->rounding : 0);
    if (ret < 0)
        av_frame_free(&frame);
    s->held = frame;
    return ret;
}

/* Returns a reference to a frame that will be sent at another time. */
static AVFrame *copy_beside(const AVFrame *frame)
{
    AVFrame *out = av_frame_clone(frame);

    if (out && ff_mvfps_remove_own(out) < 0)
        av_frame_free(&out);
    return out;
}

/* Sends the earlier frame at its own time. */
static int send_original(AVFilterContext *ctx)
{
    const MvfpsContext *s = ctx->priv;
    AVFrame *out = av_frame_clone(s->before);

    if (out && ff_mvfps_remove_relations(out) < 0)
        av_frame_free(&out);
    return out ? send(ctx, out) : AVERROR(ENOMEM);
}

/* Sends a frame at a time other than its own. */
static int send_again(AVFilterContext *ctx, const AVFrame *frame)
{
    AVFrame *out = copy_beside(frame);

    return out ? send(ctx, out) : AVERROR(ENOMEM);
}

/* Sends an interpolated frame at part / MVFPS_PARTS between the two frames. */
static int send_interpolated(AVFilterContext *ctx, int part)
{
    MvfpsContext *s = ctx->priv;
    const AVFrame *nearest = s->is_gap || mvfps_is_early(part) ? s->before : s->after;
    AVFrame *out;
    int ret;

    if (s->how == MVFPS_DUP)
        return send_again(ctx, nearest);
    out = copy_beside(nearest);
    if (!out)
        return AVERROR(ENOMEM);
    ret = ff_gpume_new_samples(ctx->outputs[0], out, NULL);
    if (ret >= 0)
        ret = ff_mvfps_make(s->mvfps, out, part, s->how);
    if (ret < 0) {
        av_frame_free(&out);
        return ret;
    }
    return send(ctx, out);
}

/*
 * Sets the distances of the frames beyond the pair. The frame after the pair has not arrived yet.
 * Its time follows from the duration of the frame before it, if durations can be trusted: filters
 * that drop frames do not change durations.
 */
static void find_distances(const MvfpsContext *s, int distances[2])
{
    const int64_t own = s->after_pts - s->before_pts;
    const int64_t beyond[2] = {
        s->front_pts != AV_NOPTS_VALUE ? s->before_pts - s->front_pts : own,
        s->after->duration > 0 && duration(s, s->before) == own ? duration(s, s->after) : own,
    };

    for (int i = 0; i < 2; i++)
        distances[i] = av_clip64(av_rescale(beyond[i], MVFPS_DISTANCE, own), 0, MVFPS_MAX_DISTANCE + 1);
}

static void say_what_is_missing(AVFilterContext *ctx)
{
    const MvfpsContext *s = ctx->priv;

    if (s->search == GPUME_SEARCH_NEVER)
        av_log(ctx, AV_LOG_ERROR, "The frames have no motion vectors. Remove search=never, or insert a filter that "
               "searches motion vectors before mvfps, for example gpume=" GPUME_SEARCH_MVFPS ",mvfps=fps=%s.\n",
               s->fps);
    else
        av_log(ctx, AV_LOG_ERROR, "The frames have motion vectors, but none between the first two frames. "
               "Insert gpume=" GPUME_SEARCH_MVFPS " before mvfps.\n");
}

static void warn_of_gap(AVFilterContext *ctx)
{
    MvfpsContext *s = ctx->priv;

    if (!s->warned_gap && s->mode != MVFPS_DUP)
        av_log(ctx, AV_LOG_WARNING, "Two frames are %g s apart, which is longer than gap=%g: the first one is repeated "
               "until the second one. This also applies to further gaps. Set gap to a longer time to interpolate "
               "there.\n", (s->after_pts - s->before_pts) * av_q2d(s->out_time_base),
               s->gap * av_q2d(AV_TIME_BASE_Q));
    s->warned_gap = 1;
}

/* Returns whether the vectors of a frame into the one before it show that no scene begins with it. */
static int shows_motion(const AVFrame *frame)
{
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);

    return sd && ff_gpume_scene_is_moving(sd->data, gpume_nb_vectors(sd), -1);
}

/* Decides how pictures between two frames are made, before the first of them is needed. */
static int begin_pair(AVFilterContext *ctx)
{
    MvfpsContext *s = ctx->priv;
    int distances[2], ret;

    s->new_pair = 0;
    s->how      = MVFPS_DUP;
    s->is_gap   = s->after_pts - s->before_pts > s->longest_gap;
    /* a jump has a warning of its own */
    if (s->is_gap && s->after_pts - s->before_pts <= s->longest_fill)
        warn_of_gap(ctx);
    if (s->is_gap || s->mode == MVFPS_DUP || !ff_gpume_are_alike(s->before, s->after))
        return 0;
    find_distances(s, distances);
    ret = ff_mvfps_begin(s->mvfps, s->before, s->after, distances, s->mode);
    if (ret < 0)
        return ret;
    if (s->mode == MVFPS_MCI && !ret) {
        if (!s->had_vectors) {
            say_what_is_missing(ctx);
            return AVERROR(EINVAL);
        }
        s->how = s->cut;
        return 0;
    }
    s->had_vectors = 1;
    s->how         = s->mode;
    if (s->scene <= 0 || s->mode == MVFPS_MCI && shows_motion(s->after))
        return 0;
    ret = ff_mvfps_look(s->mvfps, s->mode, s->cut, s->scene);
    if (ret < 0)
        return ret;
    s->how = ret;
    return 0;
}

static void next_pair(MvfpsContext *s)
{
    av_frame_free(&s->before);
    s->front_pts  = s->before_pts;
    s->before     = s->after;
    s->before_pts = s->after_pts;
    s->after      = NULL;
}

/* Returns whether this time is so long that it would be filled with too many frames. */
static int is_jump(const MvfpsContext *s, int64_t time)
{
    return time > s->longest_fill;
}

/* Returns the time at which the earlier frame ends, if no frame follows or only after a gap. */
static int64_t end_of_before(const MvfpsContext *s)
{
    int64_t end = s->before_pts;

    if (!s->after && s->eof && s->end_of_repeats != AV_NOPTS_VALUE)
        end = s->end_of_repeats;
    else if (s->before->duration > 0)
        end = av_sat_add64(s->before_pts, duration(s, s->before));
    else if (!s->after && s->eof && s->status_pts != AV_NOPTS_VALUE)
        end = av_rescale_q(s->status_pts, s->in_time_base, s->out_time_base);
    /* ignores a damaged duration */
    if (end < s->before_pts || is_jump(s, av_sat_sub64(end, s->before_pts)))
        end = s->before_pts;
    return end - s->rounding;
}

/* Returns whether the next frame shows that the late timestamp of the frame after is damaged. */
static int is_damaged(const MvfpsContext *s)
{
    return s->next && s->next_pts <= s->after_pts;
}

/*
 * Continues with the frame after, although it is too late to fill the gap; or without it if its
 * timestamp is damaged.
 */
static void cross_jump(AVFilterContext *ctx)
{
    MvfpsContext *s = ctx->priv;

    if (!(s->warned_jump & 1 << is_damaged(s)))
        av_log(ctx, AV_LOG_WARNING, "A frame is %.0f s later than the one before it. %s\n",
               (s->after_pts - s->before_pts) * av_q2d(s->out_time_base),
               is_damaged(s) ? "The next frame is not later, so this timestamp must be damaged. The frame is dropped, "
                               "as are further ones like it."
                             : "The output continues at its time, without frames in between.");
    s->warned_jump |= 1 << is_damaged(s);
    if (is_damaged(s)) {
        av_frame_free(&s->after);
    } else {
        next_pair(s);
        s->front_pts = AV_NOPTS_VALUE;
        s->start     = s->before_pts;
        s->index     = 0;
    }
    s->after     = s->next;
    s->after_pts = s->next_pts;
    s->next      = NULL;
    s->new_pair  = 1;
}

/* Returns whether the output time is that of the earlier frame, within the precision of the input's times. */
static int is_before(const MvfpsContext *s, int64_t now)
{
    if (now == s->before_pts)
        return 1;
    /* the later frame, which has not arrived yet, may be nearer */
    return llabs(now - s->before_pts) <= s->rounding && (now < s->before_pts || s->after || s->eof);
}

/* Returns whether the output time is that of the later frame, or after it. */
static int is_after(const MvfpsContext *s, int64_t now)
{
    const int64_t left = s->after_pts - now;

    return left <= 0 || left <= s->rounding && left < llabs(now - s->before_pts);
}

/* Makes the next output frame if its input has arrived. Returns what happened. */
static int produce(AVFilterContext *ctx)
{
    MvfpsContext *s = ctx->priv;
    int64_t now, distance;
    int ret;

    if (!s->before)
        return WAITS_FOR_INPUT;
    now = output_time(s, s->index);
    while (s->after && is_jump(s, s->after_pts - s->before_pts)) {
        if (is_before(s, now) || !is_damaged(s) && (s->next || s->eof) && now < end_of_before(s))
            break;
        if (!s->next && !s->eof)
            return WAITS_FOR_INPUT;
        cross_jump(ctx);
        now = output_time(s, s->index);
    }
    if (s->after && is_after(s, now))
        next_pair(s);
    if (is_before(s, now)) {
        return send_original(ctx);
    } else if (s->after) {
        if (s->new_pair && (ret = begin_pair(ctx)) < 0)
            return ret;
        distance = s->after_pts - s->before_pts;
        return send_interpolated(ctx, av_rescale(now - s->before_pts, MVFPS_PARTS, distance));
    } else if (s->eof && now < end_of_before(s)) {
        /* the last frame is shown for its duration */
        return send_again(ctx, s->before);
    }
    return WAITS_FOR_INPUT;
}

/*
 * Copies a hardware frame to the output's pool on its device: all output frames must belong to one
 * hw_frames_ctx, and the decoder's surface is returned at once.
 */
static int own(AVFilterContext *ctx, AVFrame *frame)
{
    MvfpsContext *s = ctx->priv;
    AVFrame *old;
    int ret = ff_gpume_new_samples(ctx->outputs[0], frame, &old);

    if (ret < 0)
        return ret;
    if (ret)
        ret = open_mvfps(ctx, frame->hw_frames_ctx);
    if (ret >= 0)
        ret = ff_mvfps_copy(s->mvfps, frame, old);
    av_frame_free(&old);
    return ret;
}

/* Takes the next input frame. */
static int take(AVFilterContext *ctx, AVFrame *frame)
{
    MvfpsContext *s = ctx->priv;
    const int is_untimed = frame->pts == AV_NOPTS_VALUE;
    int64_t pts;
    int ret = 0;

    if (frame->flags & AV_FRAME_FLAG_INTERLACED && s->mode != MVFPS_DUP && !s->warned_interlaced) {
        av_log(ctx, AV_LOG_WARNING, "The input is interlaced. Insert a deinterlacing filter such as mvdeint "
               "before %s.\n", s->mode == MVFPS_MCI ? "the motion search" : "mvfps");
        s->warned_interlaced = 1;
    }
    pts = !is_untimed ? av_rescale_q(frame->pts, s->in_time_base, s->out_time_base) :
          s->before   ? s->before_pts : -MAX_TIME;
    if (pts < -MAX_TIME || pts > MAX_TIME) {
        av_log(ctx, AV_LOG_ERROR, "The timestamp %"PRId64" of a frame is too large. Insert setpts=PTS-STARTPTS "
               "before mvfps.\n", frame->pts);
        ret = AVERROR(EINVAL);
        goto drop;
    }
    ret = ff_mvfps_captions_take(&s->captions, frame, pts);
    if (ret < 0)
        goto drop;
    if (is_untimed) {
        if (!s->warned_dropped)
            av_log(ctx, AV_LOG_WARNING, "A frame has no timestamp, and the end of the frame before it is unknown. It "
                   "is dropped, as are further ones like it. If no frame has a timestamp, insert setpts=N/(25*TB), "
                   "with the input's frame rate instead of 25, before mvfps.\n");
        s->warned_dropped = 1;
        goto drop;
    }
    if (s->before && pts <= s->before_pts) {
        if (!s->warned_order)
            av_log(ctx, AV_LOG_WARNING, "A frame is not later than the one before it. It is dropped, "
                   "as are further ones like it.\n");
        s->warned_order = 1;
        goto drop;
    }
    if (frame->hw_frames_ctx)
        ret = own(ctx, frame);
    if (ret < 0)
        goto drop;
    if (!s->before) {
        s->before     = frame;
        s->before_pts = pts;
        s->start      = pts;
        return 0;
    }
    if (s->after) {
        s->next     = frame;
        s->next_pts = pts;
        return 0;
    }
    s->after     = frame;
    s->after_pts = pts;
    s->new_pair  = 1;
    return 0;

drop:
    av_frame_free(&frame);
    return ret;
}

/* Gives a frame without a timestamp the time at which the frame before it ends, if that is known. */
static void set_time(AVFilterContext *ctx, AVFrame *frame)
{
    MvfpsContext *s = ctx->priv;

    if (frame->pts == AV_NOPTS_VALUE && s->end_of_input != AV_NOPTS_VALUE) {
        if (!s->warned_untimed)
            av_log(ctx, AV_LOG_WARNING, "A frame has no timestamp. It is shown when the frame before it ends, as are "
                   "further ones like it.\n");
        s->warned_untimed = 1;
        frame->pts = s->end_of_input;
    }
    s->end_of_input = AV_NOPTS_VALUE;
    /* ignores a damaged duration */
    if (frame->pts != AV_NOPTS_VALUE && frame->duration > 0 && !is_jump(s, duration(s, frame)))
        s->end_of_input = av_sat_add64(frame->pts, frame->duration);
}

/* Returns the oldest of the kept frames, which the caller frees; NULL: there is none. */
static AVFrame *pull_kept(MvfpsContext *s)
{
    AVFrame *frame = s->kept[0];

    s->kept[0] = s->kept[1];
    s->kept[1] = s->kept[2];
    s->kept[2] = NULL;
    s->nb_kept -= !!frame;
    return frame;
}

/* Takes a frame from the searcher that has been taken without vectors. */
static int take_again(MvfpsContext *s, AVFrame *frame)
{
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    AVBufferRef *buf = NULL;
    int ret = 0;

    /* the last one begins the next pair, unless frames without timestamps were all that has come */
    if (!--s->nb_again && sd && s->before) {
        buf = av_buffer_ref(sd->buf);
        ret = buf && av_frame_new_side_data_from_buf(s->before, sd->type, buf) ? 0 : AVERROR(ENOMEM);
    }
    if (ret < 0)
        av_buffer_unref(&buf);
    av_frame_free(&frame);
    return ret;
}

/* Returns whether an output time may lie between the last frame and this one, so that motion is needed. */
static int needs_motion(const MvfpsContext *s, const AVFrame *frame)
{
    int64_t pts, now;

    if (av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS))
        return 1;
    if (!s->before)
        return 0;
    pts = av_rescale_q(frame->pts, s->in_time_base, s->out_time_base);
    if (frame->pts == AV_NOPTS_VALUE || pts <= s->before_pts || is_jump(s, av_sat_sub64(pts, s->before_pts)))
        return 1;
    for (int64_t i = s->index; (now = output_time(s, i)) < pts - s->rounding; i++)
        if (now > s->before_pts + s->rounding)
            return 1;
    return 0;
}

/*
 * Takes an input frame without a search, and keeps it. If it needs motion, the search begins instead, with the frames
 * on which the next pair depends.
 */
static int take_asleep(AVFilterContext *ctx, AVFrame **frame)
{
    MvfpsContext *s = ctx->priv;
    AVFrame *taken  = NULL;

    if (needs_motion(s, *frame)) {
        s->is_asleep = 0;
        s->nb_again  = s->nb_kept;
    } else {
        taken = av_frame_clone(*frame);
        if (!taken)
            return AVERROR(ENOMEM);
        if (s->nb_kept == 2) {
            AVFrame *oldest = pull_kept(s);

            av_frame_free(&oldest);
        }
    }
    s->kept[s->nb_kept++] = *frame;
    *frame = NULL;
    return taken ? take(ctx, taken) : 0;
}

/*
 * Gives the next frame that is not skipped as a repeat, or the end, to the searcher.
 * @return the same values as ff_gpume_take_input()
 */
static int feed(AVFilterContext *ctx)
{
    MvfpsContext *s = ctx->priv;
    AVFrame *frame  = s->is_asleep ? NULL : s->interpolates_repeats ? ff_mvfps_repeats_pull(&s->repeats) : pull_kept(s);
    int ret;

    if (frame) {
        /* vectors may lead to frames that have been skipped */
        if (s->interpolates_repeats)
            av_frame_remove_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
        ret = ff_gpume_searcher_push(s->searcher, &frame);
    } else {
        ret = ff_gpume_take_input(ctx, &frame, &s->status, &s->status_pts);
        if (!ret)
            ff_gpume_searcher_flush(s->searcher);
        if (ret <= 0)
            return ret;
        set_time(ctx, frame);
        ret = s->interpolates_repeats ? ff_mvfps_repeats_push(&s->repeats, s->mvfps, &frame) :
              s->is_asleep            ? take_asleep(ctx, &frame) :
                                        ff_gpume_searcher_push(s->searcher, &frame);
    }
    av_frame_free(&frame);
    return ret < 0 ? ret : 1;
}

/* Extends the last frame by the time of its skipped repeats. */
static int end_repeats(AVFilterContext *ctx)
{
    MvfpsContext *s = ctx->priv;
    int ret = 0;

    for (int i = 0; i < s->repeats.nb_waiting && ret >= 0; i++) {
        AVFrame *frame    = s->repeats.waiting[i];
        const int64_t pts = av_rescale_q(frame->pts, s->in_time_base, s->out_time_base);

        if (frame->pts == AV_NOPTS_VALUE)
            continue;
        ret = ff_mvfps_captions_take(&s->captions, frame, pts);
        s->end_of_repeats = frame->duration > 0 ? av_sat_add64(pts, duration(s, frame)) :
                            s->status_pts != AV_NOPTS_VALUE ?
                            av_rescale_q(s->status_pts, s->in_time_base, s->out_time_base) : pts;
    }
    ff_mvfps_repeats_close(&s->repeats);
    return ret;
}

static int process(AVFilterContext *ctx)
{
    AVFilterLink *inlink = ctx->inputs[0], *outlink = ctx->outputs[0];
    MvfpsContext *s = ctx->priv;
    AVFrame *frame;
    int ret;

    FF_FILTER_FORWARD_STATUS_BACK(outlink, inlink);

    for (;;) {
        ret = produce(ctx);
        if (ret < 0)
            return ret;
        /* one frame a call, so that no frame waits behind others */
        if (ret == IS_SENT)
            return 0;
        if (ret == IS_HELD)
            continue;
        if (s->eof) {
            ret = send_held(ctx, INT64_MAX);
            if (ret < 0)
                return ret;
            ff_outlink_set_status(outlink, s->status,
                                  s->before ? output_time(s, s->index) : AV_NOPTS_VALUE);
            return 0;
        }
        ret = ff_gpume_searcher_pull(s->searcher, &frame);
        if (ret >= 0) {
            ret = s->nb_again ? take_again(s, frame) : take(ctx, frame);
            if (ret < 0)
                return ret;
            continue;
        }
        if (ret == AVERROR_EOF) {
            s->eof = 1;
            ret = end_repeats(ctx);
            if (ret < 0)
                return ret;
            continue;
        }
        if (ret != AVERROR(EAGAIN))
            return ret;
        ret = feed(ctx);
        if (ret < 0)
            return ret;
    }
}

static int activate(AVFilterContext *ctx)
{
    return ff_gpume_end_if_failed(ctx, process(ctx));
}

static av_cold void uninit(AVFilterContext *ctx)
{
    MvfpsContext *s = ctx->priv;

    av_frame_free(&s->before);
    av_frame_free(&s->after);
    av_frame_free(&s->next);
    av_frame_free(&s->held);
    for (int i = 0; i < FF_ARRAY_ELEMS(s->kept); i++)
        av_frame_free(&s->kept[i]);
    ff_mvfps_captions_close(&s->captions);
    ff_mvfps_repeats_close(&s->repeats);
    ff_gpume_searcher_close(&s->searcher);
    ff_mvfps_close(&s->mvfps);
}

static const AVFilterPad mvfps_outputs[] = {
    {
        .name         = "default",
        .type         = AVMEDIA_TYPE_VIDEO,
        .config_props = config_output,
    },
};

const GPUME_FILTER ff_vf_mvfps = {
    GPUME_PUBLIC(name)        = "mvfps",
    GPUME_PUBLIC(description) = NULL_IF_CONFIG_SMALL("Convert the frame rate by motion-compensated "
                                                     "frame interpolation."),
    GPUME_PUBLIC(priv_class)  = &mvfps_class,
    GPUME_PUBLIC(flags)       = AVFILTER_FLAG_HWDEVICE |
                                AVFILTER_FLAG_SLICE_THREADS,
    .priv_size      = sizeof(MvfpsContext),
    .init           = init,
    .uninit         = uninit,
    .activate       = activate,
    FILTER_INPUTS(ff_video_default_filterpad),
    FILTER_OUTPUTS(mvfps_outputs),
    FILTER_QUERY_FUNC2(query_formats),
    .flags_internal = FF_FILTER_FLAG_HWFRAME_AWARE,
};
