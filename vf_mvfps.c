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
#include <string.h>

#include "libavutil/mathematics.h"
#include "libavutil/opt.h"

#include "avfilter.h"
#include "filters.h"
#include "vf_gpume.h"
#include "video.h"

#include "gpume/core/searches.h"
#include "gpume/field/sidedata.h"
#include "gpume/stream/stream.h"
#include "gpume/util/compat.h"
#include "gpume/util/slice_threads.h"
#include "gpume/util/frames.h"
#include "gpume/util/hwframes.h"
#include "gpume/util/options.h"
#include "gpume/mvfps/captions.h"
#include "gpume/mvfps/mvfps.h"
#include "gpume/mvfps/properties.h"
#include "gpume/mvfps/rate.h"
#include "gpume/mvfps/repeats.h"
#include "gpume/mvfps/timeline.h"

/** Where times are made even, they are kept in this part of the unit that the output has. */
#define FINE 60

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
    AVRational in_time_base;
    AVRational time_base;       ///< of the timeline

    Mvfps *mvfps;
    MvfpsRepeats repeats;       ///< input frames on their way to the searcher
    GpumeStream stream;
    /** While each output frame is an input frame, the last two frames as they arrived; then those to be searched. */
    AVFrame *kept[3];
    int nb_kept;
    int is_asleep;              ///< whether each output frame has been an input frame: nothing is searched
    int nb_again;               ///< number of frames in the searcher that were taken before
    MvfpsCaptions captions;
    AVFrame *held;              ///< the next output frame, while captions for it may still arrive
    int64_t held_pts;           ///< its time in the timeline
    MvfpsTimeline timeline;
    AVFrame *frames[MVFPS_MAX_FRAMES];  ///< the frames of the timeline; the first two are around the next output time
    int64_t end_of_input;       ///< end of the last input frame in the input's time base, or AV_NOPTS_VALUE
    int new_pair;               ///< whether the frames around the output time have not been examined
    int is_gap;                 ///< whether they are too far apart for interpolation
    enum MvfpsMode how;         ///< how pictures between them are made
    int warned_interlaced, warned_untimed, warned_dropped, warned_order, warned_jump, warned_gap, had_vectors;
} MvfpsContext;

#define OFFSET(x) offsetof(MvfpsContext, x)

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

GPUME_DEFINE_QUERY_FORMATS(ff_mvfps_kind)

/* Opens mvfps for frames in system memory, or for frames like these hardware frames. */
static av_cold int open_mvfps(AVFilterContext *ctx, AVBufferRef *hw_frames)
{
    MvfpsContext *s = ctx->priv;
    const MvfpsConfig cfg = {
        .hw_frames = hw_frames,
        .executor  = ff_gpume_slice_threads(ctx),
        .log_ctx   = ctx,
    };

    ff_mvfps_close(&s->mvfps);
    return ff_mvfps_open(&s->mvfps, &cfg);
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
            .algo = GPUME_ALGO_HME, GPUME_PARAMS_MVFPS(GPUME_AS_FIELD,) .smooth = GPUME_AUTO, .check = GPUME_AUTO,
            .nb_references = 2, .distance = { -1, 1 },
        },
        .options   = GPUME_SEARCH_MVFPS,
        .sequence  = s->mode == MVFPS_MCI,
        .executor  = ff_gpume_slice_threads(ctx),
        .hw_device = ctx->hw_device_ctx,
        .decided   = ff_gpume_stream_decided,
        .log_ctx   = ctx,
    };

    ff_gpume_searcher_close(&s->stream.searcher);
    return ff_gpume_searcher_open(&s->stream.searcher, &cfg);
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
    int ret = ff_mvfps_parse_rate(&s->rate, s->fps, in->frame_rate, ctx);

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
    outlink->time_base = av_gcd_q(s->in_time_base, av_inv_q(s->rate), INT_MAX, s->in_time_base);
    out->frame_rate    = s->rate;
    s->time_base       = outlink->time_base;
    if (s->interpolates_repeats && s->time_base.den <= INT_MAX / FINE)
        s->time_base.den *= FINE;
    ff_mvfps_timeline_init(&s->timeline, &(MvfpsTimelineConfig) {
        .rate    = s->rate, .time_base = s->time_base, .in_rate = in->frame_rate, .in_time_base = s->in_time_base,
        .gap     = s->gap, .is_sparse = s->interpolates_repeats,
    });
    s->end_of_input    = AV_NOPTS_VALUE;
    s->is_asleep       = s->mode == MVFPS_MCI && s->search != GPUME_SEARCH_NEVER && !s->interpolates_repeats;
    return 0;
}

/* Returns the duration of an input frame, in the timeline's time base. */
static int64_t duration(const MvfpsContext *s, const AVFrame *frame)
{
    return av_rescale_q(frame->duration, s->in_time_base, s->time_base);
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
    MvfpsContext *s  = ctx->priv;
    MvfpsTimeline *t = &s->timeline;
    const AVRational time_base = ctx->outputs[0]->time_base;
    const int64_t pts = ff_mvfps_timeline_at(t, t->index++);
    int ret;

    frame->pts       = av_rescale_q(pts, s->time_base, time_base);
    frame->duration  = av_rescale_q(ff_mvfps_timeline_at(t, t->index), s->time_base, time_base) - frame->pts;
    frame->time_base = time_base;
    if (!s->captions.has_any) {
        ret = ff_filter_frame(ctx->outputs[0], frame);
        return ret < 0 ? ret : IS_SENT;
    }
    ret = send_held(ctx, s->held_pts + t->rounding);
    if (ret < 0)
        av_frame_free(&frame);
    s->held     = frame;
    s->held_pts = pts;
    return ret;
}

/* Returns a reference to a frame, without the properties that a function removes. */
static AVFrame *copy_without(const AVFrame *frame, int (*remove)(AVFrame *frame))
{
    AVFrame *out = av_frame_clone(frame);

    if (out && remove(out) < 0)
        av_frame_free(&out);
    return out;
}

/* Sends a frame: at its own time without relations to others, or at another time without what belongs to its own. */
static int send_copy(AVFilterContext *ctx, const AVFrame *frame, int (*remove)(AVFrame *frame))
{
    AVFrame *out = copy_without(frame, remove);

    return out ? send(ctx, out) : AVERROR(ENOMEM);
}

/* Sends an interpolated frame at part / MVFPS_PARTS between the two frames. */
static int send_interpolated(AVFilterContext *ctx, int part)
{
    MvfpsContext *s = ctx->priv;
    const AVFrame *nearest = s->frames[!s->is_gap && !mvfps_is_early(part)];
    AVFrame *out;
    int ret;

    if (s->how == MVFPS_DUP)
        return send_copy(ctx, nearest, ff_mvfps_remove_own);
    out = copy_without(nearest, ff_mvfps_remove_own);
    if (!out)
        return AVERROR(ENOMEM);
    if ((ret = ff_gpume_new_samples(ctx->outputs[0], out, NULL)) < 0 ||
        (ret = ff_mvfps_make(s->mvfps, out, part, s->how)) < 0) {
        av_frame_free(&out);
        return ret;
    }
    return send(ctx, out);
}

static void report_missing_vectors(AVFilterContext *ctx)
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

static void warn_of_gap(AVFilterContext *ctx, int64_t time)
{
    MvfpsContext *s = ctx->priv;

    if (!s->warned_gap && s->mode != MVFPS_DUP)
        av_log(ctx, AV_LOG_WARNING, "Two frames are %g s apart, which is longer than gap=%g: the first one is repeated "
               "until the second one. This also applies to further gaps. Set gap to a longer time to interpolate "
               "there.\n", time * av_q2d(s->time_base),
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
    const int64_t time = s->timeline.pts[1] - s->timeline.pts[0];
    int distances[2], has_vectors, ret;

    s->new_pair = 0;
    s->how      = MVFPS_DUP;
    s->is_gap   = time > s->timeline.longest_gap;
    /* a jump has a warning of its own */
    if (s->is_gap && !ff_mvfps_timeline_is_jump(&s->timeline, time))
        warn_of_gap(ctx, time);
    if (s->is_gap || s->mode == MVFPS_DUP || !ff_gpume_are_alike(s->frames[0], s->frames[1]))
        return 0;
    ff_mvfps_timeline_distances(&s->timeline, distances);
    has_vectors = ff_mvfps_begin(s->mvfps, s->frames[0], s->frames[1], distances, s->mode);
    if (has_vectors < 0)
        return has_vectors;
    if (s->mode == MVFPS_MCI && !has_vectors) {
        if (!s->had_vectors) {
            report_missing_vectors(ctx);
            return AVERROR(EINVAL);
        }
        s->how = s->cut;
        return 0;
    }
    s->had_vectors = 1;
    s->how         = s->mode;
    if (s->scene <= 0 || s->mode == MVFPS_MCI && shows_motion(s->frames[1]))
        return 0;
    ret = ff_mvfps_find_cut(s->mvfps, s->mode, s->cut, s->scene);
    if (ret < 0)
        return ret;
    s->how = ret;
    return 0;
}

/* Removes a frame that the timeline has removed. */
static void remove_frame(MvfpsContext *s, int i)
{
    av_frame_free(&s->frames[i]);
    memmove(s->frames + i, s->frames + i + 1, (s->timeline.nb - i) * sizeof(*s->frames));
    s->frames[s->timeline.nb] = NULL;
    s->new_pair = 1;
}

static void warn_of_jump(AVFilterContext *ctx, int64_t time, int is_damaged)
{
    MvfpsContext *s = ctx->priv;

    if (!(s->warned_jump & 1 << is_damaged))
        av_log(ctx, AV_LOG_WARNING, "A frame is %.0f s later than the one before it. %s\n", time * av_q2d(s->time_base),
               is_damaged ? "The next frame is not later, so this timestamp must be damaged. The frame is dropped, "
                            "as are further ones like it."
                          : "The output continues at its time, without frames in between.");
    s->warned_jump |= 1 << is_damaged;
}

/* Makes the next output frame if its input has arrived. Returns what happened. */
static int make_next(AVFilterContext *ctx)
{
    MvfpsContext *s = ctx->priv;
    MvfpsTimeline *t = &s->timeline;
    int ret, part;

    for (;;) {
        const int64_t time = t->nb > 1 ? t->pts[1] - t->pts[0] : 0;
        const enum MvfpsAction action = ff_mvfps_timeline_decide(t, &part, MVFPS_PARTS);

        switch (action) {
        case MVFPS_WAIT:
            return WAITS_FOR_INPUT;
        case MVFPS_ORIGINAL:
            return send_copy(ctx, s->frames[0], ff_mvfps_remove_relations);
        case MVFPS_AGAIN:
            return send_copy(ctx, s->frames[0], ff_mvfps_remove_own);
        case MVFPS_BETWEEN:
            if (s->new_pair && (ret = begin_pair(ctx)) < 0)
                return ret;
            return send_interpolated(ctx, part);
        default:
            if (action != MVFPS_NEXT)
                warn_of_jump(ctx, time, action == MVFPS_DAMAGED);
            remove_frame(s, action == MVFPS_DAMAGED);
        }
    }
}

static int produce(AVFilterContext *ctx)
{
    int ret;

    do
        ret = make_next(ctx);
    while (ret == IS_HELD);
    return ret < 0 ? ret : ret == IS_SENT;
}

/*
 * Copies a hardware frame to the output's pool on its device: all output frames must belong to one
 * hw_frames_ctx, and the decoder's surface is returned at once.
 */
static int copy_to_pool(AVFilterContext *ctx, AVFrame *frame)
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
    MvfpsTimeline *t = &s->timeline;
    const int is_untimed = frame->pts == AV_NOPTS_VALUE;
    int64_t pts;
    int ret = 0;

    if (frame->flags & AV_FRAME_FLAG_INTERLACED && s->mode != MVFPS_DUP && !s->warned_interlaced) {
        av_log(ctx, AV_LOG_WARNING, "The input is interlaced. Insert a deinterlacing filter such as mvdeint "
               "before %s.\n", s->mode == MVFPS_MCI ? "the motion search" : "mvfps");
        s->warned_interlaced = 1;
    }
    pts = !is_untimed ? av_rescale_q(frame->pts, s->in_time_base, s->time_base) :
          t->nb       ? t->pts[0] : -MVFPS_MAX_TIME;
    if (pts < -MVFPS_MAX_TIME || pts > MVFPS_MAX_TIME) {
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
    if (frame->hw_frames_ctx)
        ret = copy_to_pool(ctx, frame);
    if (ret < 0)
        goto drop;
    if (ff_mvfps_timeline_take(t, pts, frame->duration > 0 ? duration(s, frame) : 0)) {
        s->frames[t->nb - 1] = frame;
        s->new_pair |= t->nb == 2;
        return 0;
    }
    if (!s->warned_order)
        av_log(ctx, AV_LOG_WARNING, "A frame is not later than the one before it. It is dropped, "
               "as are further ones like it.\n");
    s->warned_order = 1;

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
    if (frame->pts != AV_NOPTS_VALUE && frame->duration > 0 &&
        !ff_mvfps_timeline_is_jump(&s->timeline, duration(s, frame)))
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
    if (!--s->nb_again && sd && s->frames[0]) {
        buf = av_buffer_ref(sd->buf);
        ret = buf && av_frame_new_side_data_from_buf(s->frames[0], sd->type, buf) ? 0 : AVERROR(ENOMEM);
    }
    if (ret < 0)
        av_buffer_unref(&buf);
    av_frame_free(&frame);
    return ret;
}

static int take_searched(AVFilterContext *ctx, AVFrame **frame)
{
    MvfpsContext *s = ctx->priv;
    AVFrame *taken  = *frame;

    *frame = NULL;
    return s->nb_again ? take_again(s, taken) : take(ctx, taken);
}

/* Returns whether an output time may lie between the last frame and this one, so that motion is needed. */
static int needs_motion(const MvfpsContext *s, const AVFrame *frame)
{
    return av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS) || ff_mvfps_timeline_has_between(&s->timeline,
           frame->pts == AV_NOPTS_VALUE ? frame->pts : av_rescale_q(frame->pts, s->in_time_base, s->time_base));
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

static int refill(AVFilterContext *ctx)
{
    MvfpsContext *s = ctx->priv;
    AVFrame *frame  = s->is_asleep ? NULL : s->interpolates_repeats ? ff_mvfps_repeats_pull(&s->repeats) : pull_kept(s);
    int ret;

    if (!frame)
        return 0;
    /* vectors may lead to frames that have been skipped */
    if (s->interpolates_repeats)
        av_frame_remove_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    ret = ff_gpume_searcher_push(s->stream.searcher, &frame);
    av_frame_free(&frame);
    return ret < 0 ? ret : 1;
}

static int feed(AVFilterContext *ctx, AVFrame **frame)
{
    MvfpsContext *s = ctx->priv;

    if (!*frame)
        return 0;
    set_time(ctx, *frame);
    return s->interpolates_repeats ? ff_mvfps_repeats_push(&s->repeats, s->mvfps, frame) :
           s->is_asleep            ? take_asleep(ctx, frame) :
                                     ff_gpume_searcher_push(s->stream.searcher, frame);
}

/* Ends the timeline; the last frame is extended by the time of its skipped repeats. */
static int end_timeline(AVFilterContext *ctx)
{
    MvfpsContext *s = ctx->priv;
    int64_t end = s->stream.status_pts;
    int64_t end_of_repeats = AV_NOPTS_VALUE;
    int ret = 0;

    if (end != AV_NOPTS_VALUE)
        end = av_rescale_q(end, s->in_time_base, s->time_base);
    for (int i = 0; i < s->repeats.nb_waiting && ret >= 0; i++) {
        AVFrame *frame    = s->repeats.waiting[i];
        const int64_t pts = av_rescale_q(frame->pts, s->in_time_base, s->time_base);

        if (frame->pts == AV_NOPTS_VALUE)
            continue;
        ret = ff_mvfps_captions_take(&s->captions, frame, pts);
        end_of_repeats = frame->duration > 0   ? av_sat_add64(pts, duration(s, frame)) :
                         end != AV_NOPTS_VALUE ? end : pts;
    }
    ff_mvfps_repeats_close(&s->repeats);
    ff_mvfps_timeline_end(&s->timeline, end_of_repeats, end);
    return ret;
}

static int finish(AVFilterContext *ctx)
{
    MvfpsContext *s = ctx->priv;

    s->stream.status_pts = !s->frames[0] ? AV_NOPTS_VALUE :
                           av_rescale_q(ff_mvfps_timeline_at(&s->timeline, s->timeline.index), s->time_base,
                                        ctx->outputs[0]->time_base);
    return send_held(ctx, INT64_MAX);
}

static int activate(AVFilterContext *ctx)
{
    static const GpumeStreamFunctions functions = {
        .on_demand = 1,
        .produce = produce, .take = take_searched, .feed = feed, .refill = refill, .flush = end_timeline,
        .finish  = finish,
    };
    MvfpsContext *s = ctx->priv;

    return ff_gpume_stream_activate(ctx, &s->stream, &functions);
}

static av_cold void uninit(AVFilterContext *ctx)
{
    MvfpsContext *s = ctx->priv;

    for (int i = 0; i < FF_ARRAY_ELEMS(s->frames); i++)
        av_frame_free(&s->frames[i]);
    av_frame_free(&s->held);
    for (int i = 0; i < FF_ARRAY_ELEMS(s->kept); i++)
        av_frame_free(&s->kept[i]);
    ff_mvfps_captions_close(&s->captions);
    ff_mvfps_repeats_close(&s->repeats);
    ff_gpume_stream_close(&s->stream);
    ff_mvfps_close(&s->mvfps);
}

const GPUME_FILTER ff_vf_mvfps = {
    GPUME_FRAME_FILTER(mvfps, MvfpsContext, "Convert the frame rate by motion-compensated frame interpolation.", 0),
    .init = init,
    FILTER_INPUTS(ff_video_default_filterpad),
};
