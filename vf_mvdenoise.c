/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Denoising along motion vectors: options, formats, frames in and out. gpume/mvdenoise/mvdenoise.h
 * denoises pictures.
 */

#include <math.h>

#include "libavutil/bprint.h"
#include "libavutil/fifo.h"
#include "libavutil/hwcontext.h"
#include "libavutil/opt.h"
#include "libavutil/pixdesc.h"

#include "avfilter.h"
#include "filters.h"
#include "vf_gpume.h"
#include "video.h"

#include "gpume/core/searches.h"
#include "gpume/mvdenoise/mvdenoise.h"
#include "gpume/mvdenoise/opponent.h"
#include "gpume/mvdenoise/repeats.h"
#include "gpume/stream/stream.h"
#include "gpume/util/compat.h"
#include "gpume/util/frames.h"
#include "gpume/util/hwframes.h"
#include "gpume/util/options.h"
#include "gpume/util/slice_threads.h"

/** An input frame that has not been output. */
typedef struct Waiting {
    AVFrame *repeat;            ///< a repeat, or NULL for a frame that is denoised
    int has_vectors;            ///< whether it arrived with vectors
} Waiting;

/** What the options and the timeline say when an input frame arrives, and what is found out about the frame. */
typedef struct Arrival {
    int flags;                  ///< MVDENOISE_IS_*
    int strength;               ///< in 1/256
} Arrival;

/** Maximum number of repeats that share a result; the delay can grow by this factor. */
#define MAX_REPEATS 4

typedef struct MvdenoiseContext {
    const AVClass *class;

    /* options */
    int radius;
    double sigma, strength;
    int levels;
    int passes;
    int dense;
    int planes;
    int search;                 ///< enum GpumeSearchWhen

    char search_options[sizeof(GPUME_SEARCH_MVDENOISE) + 11];
    Mvdenoise *mvdenoise;
    GpumeStream stream;
    int used_radius;            ///< 0 until strength is more than 0: frames stay as they are
    Arrival taken;              ///< arrival of the last frame from the searcher
    AVFrame *input;             ///< the latest frame that was added, or the frame that it repeats; NULL: none
    AVFrame *compared;          ///< a frame that its device compares with input, or NULL
    Arrival compared_arrival;
    MvdenoiseRepeats *repeats;
    Arrival last;               ///< arrival of the last frame, which is not marked as a repeat
    int nb_repeats;             ///< number of repeats at the end of the input so far
    AVFifo *searched;           ///< Arrival of the frames in the searcher
    AVFifo *waiting;            ///< Waiting, in input order
    AVFrame *output;            ///< samples of the last denoised frame, if its repeats are sent next
    int nb_since_repeat;        ///< number of frames denoised since the last repeat
    int warned_missing;
    int has_told;               ///< whether the estimate was logged
    int searches;               ///< whether vectors are searched here
} MvdenoiseContext;

#define OFFSET(x) offsetof(MvdenoiseContext, x)

static const AVOption mvdenoise_options[] = {
    { "radius", "number of frames before and after a frame that help to denoise it", OFFSET(radius), AV_OPT_TYPE_INT,
      { .i64 = 2 }, 0, MVDENOISE_MAX_RADIUS, FLAGS },
    { "sigma", "standard deviation of the noise, in units of 8-bit samples; 0: estimated for each plane",
      OFFSET(sigma), AV_OPT_TYPE_DOUBLE, { .dbl = 0 }, 0, 100, FLAGS },
    { "levels", "whether the estimate of sigma depends on brightness", OFFSET(levels), AV_OPT_TYPE_BOOL,
      { .i64 = 1 }, 0, 1, FLAGS },
    { "strength", "factor of sigma, given or estimated", OFFSET(strength), AV_OPT_TYPE_DOUBLE, { .dbl = 1 },
      0, 10, FLAGS | AV_OPT_FLAG_RUNTIME_PARAM },
    { "passes", "1: threshold coefficients; 2: then filter the noisy frames again, guided by it", OFFSET(passes),
      AV_OPT_TYPE_INT, { .i64 = 2 }, 1, 2, FLAGS },
    { "dense", "rows of patches every 2 samples instead of every 4: about 0.25 dB more, 1.4 to 1.6 times the time",
      OFFSET(dense), AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "planes", "planes to denoise, as a bit mask; 7: all but alpha", OFFSET(planes), AV_OPT_TYPE_INT,
      { .i64 = 7 }, 1, 15, FLAGS },
    GPUME_SEARCH_OPTION(search)
    { NULL }
};

AVFILTER_DEFINE_CLASS(mvdenoise);

GPUME_DEFINE_QUERY_FORMATS(ff_mvdenoise_kind)

static av_cold int init(AVFilterContext *ctx)
{
    MvdenoiseContext *s = ctx->priv;
    const GpumeDependency dependencies[] = {
        { "levels", s->sigma <= 0 && s->radius > 0, "sigma=0 and a radius other than 0" },
        { "search", s->radius > 0, "a radius other than 0" },
    };

    s->nb_since_repeat = MVDENOISE_MAX_RADIUS;
    s->searched = av_fifo_alloc2(16, sizeof(Arrival), AV_FIFO_FLAG_AUTO_GROW);
    s->waiting  = av_fifo_alloc2(16, sizeof(Waiting), AV_FIFO_FLAG_AUTO_GROW);
    s->input    = av_frame_alloc();
    s->output   = av_frame_alloc();
    if (!s->searched || !s->waiting || !s->input || !s->output)
        return AVERROR(ENOMEM);
    return ff_gpume_check_options(ctx, dependencies, FF_ARRAY_ELEMS(dependencies));
}

/* Records whether vectors are searched here. */
static void note_vectors(void *log_ctx, int searched)
{
    AVFilterContext *ctx = log_ctx;
    MvdenoiseContext *s  = ctx->priv;

    s->searches = searched;
    ff_gpume_stream_decided(log_ctx, searched);
}

static av_cold int open_searcher(AVFilterContext *ctx)
{
    MvdenoiseContext *s = ctx->priv;
    const int radius    = s->used_radius;
    GpumeSearcherConfig cfg = {
        .when      = radius ? s->search : GPUME_SEARCH_NEVER,
        .params    = {
            .algo = GPUME_ALGO_HME, GPUME_PARAMS_MVDENOISE(GPUME_AS_FIELD,) .check = GPUME_AUTO,
            .nb_references = 2 * radius,
        },
        .options   = s->search_options,
        .sequence  = radius > 0,
        .executor  = ff_gpume_slice_threads(ctx),
        .hw_device = ctx->hw_device_ctx,
        .decided   = note_vectors,
        .log_ctx   = ctx,
    };

    for (int i = 0; i < radius; i++) {
        cfg.params.distance[i]          = -1 - i;
        cfg.params.distance[radius + i] = 1 + i;
    }
    snprintf(s->search_options, sizeof(s->search_options), GPUME_SEARCH_MVDENOISE, radius);
    ff_gpume_searcher_close(&s->stream.searcher);
    return ff_gpume_searcher_open(&s->stream.searcher, &cfg);
}

/* Returns the format of opponent colours if frames are denoised in them, otherwise AV_PIX_FMT_NONE. */
static enum AVPixelFormat opponent_format(const AVFilterContext *ctx)
{
    const MvdenoiseContext *s = ctx->priv;

    return (s->planes & 7) == 7 ? ff_mvdenoise_opponent_format(ctx->inputs[0]->format) : AV_PIX_FMT_NONE;
}

/* Returns how many times sigma is that of the components in which frames are denoised. */
static double sigma_scale(const AVFilterContext *ctx)
{
    return opponent_format(ctx) == AV_PIX_FMT_NONE ? 1 : MVDENOISE_OPPONENT_SCALE;
}

/* Opens mvdenoise for frames in system memory, or for frames like these hardware frames. */
static av_cold int open_mvdenoise(AVFilterContext *ctx, AVBufferRef *hw_frames)
{
    MvdenoiseContext *s = ctx->priv;
    const MvdenoiseConfig cfg = {
        .hw_frames = hw_frames,
        .executor  = ff_gpume_slice_threads(ctx),
        .radius    = s->used_radius,
        .sigma     = s->sigma > 0 ? FFMAX(lrint(s->sigma / sigma_scale(ctx) * MVDENOISE_SIGMA_ONE), 1) : 0,
        .single    = !s->levels,
        .strength  = lrint(s->strength * 256),
        .passes    = s->passes,
        .dense     = s->dense,
        .planes    = s->planes,
        .opponent  = opponent_format(ctx) != AV_PIX_FMT_NONE,
        .log_ctx   = ctx,
    };
    int ret;

    ff_mvdenoise_close(&s->mvdenoise);
    ret = ff_mvdenoise_open(&s->mvdenoise, &cfg);
    s->stream.sequence = ret < 0 ? NULL : ff_mvdenoise_sequence(s->mvdenoise);
    return ret;
}

/* Warns if no frame can change, although the options ask for it. */
static void check_effect(AVFilterContext *ctx)
{
    const MvdenoiseContext *s  = ctx->priv;
    AVFilterLink *inlink       = ctx->inputs[0];
    const AVBufferRef *hw = ff_filter_link(inlink)->hw_frames_ctx;
    const enum AVPixelFormat format = hw ? ((const AVHWFramesContext *)hw->data)->sw_format : inlink->format;
    const double least = MVDENOISE_SIGMA_MIN * sigma_scale(ctx) / MVDENOISE_SIGMA_ONE;

    if (!(s->planes & ((1 << av_pix_fmt_count_planes(format)) - 1)))
        av_log(ctx, AV_LOG_WARNING, "The format %s has none of the planes that planes=%d selects, so the frames "
               "stay as they are.\n", av_get_pix_fmt_name(format), s->planes);
    if (s->sigma > 0 && s->strength > 0 && s->sigma * s->strength < least)
        av_log(ctx, AV_LOG_WARNING, "sigma * strength is %g, less than %g, so the frames stay as they are. sigma is in "
               "units of 8-bit samples; 5 to 20 is usual.\n", s->sigma * s->strength, least);
}

/* Opens the searcher and mvdenoise. */
static av_cold int open_all(AVFilterContext *ctx)
{
    MvdenoiseContext *s = ctx->priv;
    int ret;

    s->used_radius = s->strength > 0 ? s->radius : 0;
    ret = open_searcher(ctx);
    return ret < 0 ? ret : open_mvdenoise(ctx, ff_filter_link(ctx->inputs[0])->hw_frames_ctx);
}

static av_cold int config_output(AVFilterLink *outlink)
{
    const int ret = open_all(outlink->src);

    check_effect(outlink->src);
    return ret < 0 ? ret : ff_gpume_config_pool(outlink);
}

/* Warns once, and names a search for this radius. */
static void warn_missing(AVFilterContext *ctx)
{
    MvdenoiseContext *s = ctx->priv;
    const int distance = ff_mvdenoise_missing(s->mvdenoise);

    if (!distance || s->warned_missing)
        return;
    av_log(ctx, AV_LOG_WARNING, "Some frames have no motion vectors for the frames at distance %d, which therefore do "
           "not help to denoise them. Insert gpume=%s before mvdenoise, or set a smaller radius.\n", distance,
           s->search_options);
    s->warned_missing = 1;
}

/* Writes sigma of an output frame into its metadata and, once, into the log. */
static int report_noise(AVFilterContext *ctx, AVFrame *out)
{
    static const struct {
        const char *name;
        int tone;
    } tones[] = {
        { "dark", MVDENOISE_TONES / 8 }, { "middle", MVDENOISE_TONES / 2 }, { "bright", MVDENOISE_TONES * 7 / 8 },
    };
    MvdenoiseContext *s = ctx->priv;
    int ret = 0;
    AVBPrint text;

    if (s->sigma > 0 || !s->used_radius && s->radius)
        return 0;
    av_bprint_init(&text, 0, AV_BPRINT_SIZE_AUTOMATIC);
    for (int i = 0; i < ff_mvdenoise_nb_components(s->mvdenoise) && ret >= 0; i++) {
        MvdenoiseCurve c = { { 0 } };

        if (!ff_mvdenoise_curve(s->mvdenoise, &c, i))
            c = (MvdenoiseCurve) { { 0 } };
        av_bprintf(&text, "%s", i ? "; " : "");
        for (int j = 0; j < FF_ARRAY_ELEMS(tones) && ret >= 0; j++) {
            char key[48], value[16];

            snprintf(key, sizeof(key), "lavfi.mvdenoise.sigma.%d.%s", i, tones[j].name);
            snprintf(value, sizeof(value), "%.2f",
                     mvdenoise_sigma_at(&c, tones[j].tone) * sigma_scale(ctx) / MVDENOISE_SIGMA_ONE);
            ret = av_dict_set(&out->metadata, key, value, 0);
            av_bprintf(&text, "%s%s", j ? ", " : "", value);
        }
    }
    if (ret >= 0 && !s->has_told) {
        av_log(ctx, AV_LOG_INFO, "Estimated sigma of the first frame's components at dark, middle, bright: %s\n",
               text.str);
        s->has_told = 1;
    }
    return FFMIN(ret, 0);
}

/* Gives a frame the samples of another one. */
static int share_samples(AVFrame *frame, const AVFrame *from)
{
    int ret = av_buffer_replace(&frame->hw_frames_ctx, from->hw_frames_ctx);

    frame->format = from->format;
    for (int i = 0; i < AV_NUM_DATA_POINTERS && ret >= 0; i++) {
        ret = av_buffer_replace(&frame->buf[i], from->buf[i]);
        frame->data[i]     = from->data[i];
        frame->linesize[i] = from->linesize[i];
    }
    return ret;
}

/* Returns whether there is a repeat among the frames to which the vectors of the next frame lead. */
static int crosses_repeats(const MvdenoiseContext *s)
{
    const int radius = s->used_radius;
    int crosses = s->nb_since_repeat < radius;
    Waiting w;

    for (int i = 0, nb = 0; nb <= radius && av_fifo_peek(s->waiting, &w, 1, i) >= 0; i++) {
        nb      += !w.repeat;
        crosses |= !!w.repeat && nb <= radius;
    }
    return crosses;
}

/* Keeps the samples of a frame for the repeats that are sent next. */
static int keep_samples(MvdenoiseContext *s, const AVFrame *frame)
{
    Waiting next;

    if (av_fifo_peek(s->waiting, &next, 1, 0) >= 0 && next.repeat)
        return share_samples(s->output, frame);
    av_frame_unref(s->output);
    return 0;
}

/* Records that a frame is sent. With a radius, all of its repeats have arrived. */
static int note_output(MvdenoiseContext *s, AVFrame *out)
{
    const int crosses = crosses_repeats(s);
    Waiting w = { NULL };

    av_fifo_read(s->waiting, &w, 1);
    /* the distances include repeats, unlike those of output frames */
    if (s->searches && !w.has_vectors && crosses)
        av_frame_remove_side_data(out, AV_FRAME_DATA_MOTION_VECTORS);
    s->nb_since_repeat = FFMIN(s->nb_since_repeat + 1, MVDENOISE_MAX_RADIUS);
    return keep_samples(s, out);
}

/* Sends a repeat of the last denoised frame. Returns 1 or an AVERROR code. */
static int send_repeat(AVFilterContext *ctx)
{
    MvdenoiseContext *s = ctx->priv;
    AVFrame *frame;
    Waiting w;
    int ret;

    av_fifo_read(s->waiting, &w, 1);
    frame = w.repeat;
    s->nb_since_repeat = 0;
    if ((ret = share_samples(frame, s->output)) < 0 ||
        (ret = keep_samples(s, frame)) < 0 ||
        (ret = report_noise(ctx, frame)) < 0) {
        av_frame_free(&frame);
        return ret;
    }
    ret = ff_filter_frame(ctx->outputs[0], frame);
    return ret < 0 ? ret : 1;
}

/* Makes the next frame. A hardware frame got its buffer on arrival. */
static int make(AVFilterContext *ctx, AVFrame *out)
{
    MvdenoiseContext *s = ctx->priv;
    AVFilterLink *outlink = ctx->outputs[0];
    const GpumeExecutor executor = ff_gpume_slice_threads(ctx);
    AVFrame *opponent = NULL, *noisy = NULL;
    int ret = 0;

    if (out->hw_frames_ctx)
        return ff_mvdenoise_make(s->mvdenoise, out);
    if (out->format != outlink->format) {
        ret = ff_gpume_alloc_frame(&opponent, out->format, out->width, out->height);
        if (ret < 0)
            return ret;
        out->format = outlink->format;
    }
    ret = ff_gpume_new_samples(outlink, out, &noisy);
    if (ret < 0)
        goto fail;
    ret = ff_mvdenoise_make(s->mvdenoise, opponent ? opponent : out);
    if (ret >= 0 && opponent) {
        noisy->format = opponent->format;
        ret = ff_mvdenoise_from_opponent(out, opponent, noisy, ff_mvdenoise_noise(s->mvdenoise, 0), &executor);
    }
fail:
    av_frame_free(&noisy);
    av_frame_free(&opponent);
    return ret;
}

/* Sends the next frame if its input has arrived. Returns 1 if a frame was sent, 0 if not. */
static int produce(AVFilterContext *ctx)
{
    MvdenoiseContext *s = ctx->priv;
    const AVFrame *next;
    AVFrame *out;
    Waiting w;
    int ret;

    if (av_fifo_peek(s->waiting, &w, 1, 0) >= 0 && w.repeat)
        return send_repeat(ctx);
    next = ff_mvdenoise_next(s->mvdenoise);
    if (!next)
        return 0;
    out = av_frame_clone(next);
    if (!out)
        return AVERROR(ENOMEM);
    if ((ret = make(ctx, out)) < 0 ||
        (ret = report_noise(ctx, out)) < 0 ||
        (ret = note_output(s, out)) < 0) {
        av_frame_free(&out);
        return ret;
    }
    warn_missing(ctx);
    ret = ff_filter_frame(ctx->outputs[0], out);
    return ret < 0 ? ret : 1;
}

/* Adds a frame. A hardware frame is given a buffer of the output, which returns the decoder's surface at once. */
static int push(AVFilterContext *ctx, AVFrame **frame)
{
    MvdenoiseContext *s = ctx->priv;
    AVFrame *samples = NULL;
    int ret = 0;

    if ((*frame)->hw_frames_ctx)
        ret = ff_gpume_new_samples(ctx->outputs[0], *frame, &samples);
    ff_mvdenoise_set_strength(s->mvdenoise, s->taken.strength);
    if (ret >= 0)
        ret = ff_mvdenoise_push(s->mvdenoise, frame, samples, s->taken.flags);
    av_frame_free(&samples);
    return ret;
}

/* Takes the next frame of the searcher. */
static int take(AVFilterContext *ctx, AVFrame **frame)
{
    MvdenoiseContext *s = ctx->priv;

    av_fifo_read(s->searched, &s->taken, 1);
    return 0;
}

/*
 * Takes an input frame: sends it to the searcher or, if it is a repeat, queues it.
 * @param repeats whether the frame has the samples of the previous frame
 */
static int add_input(MvdenoiseContext *s, AVFrame **frame, int repeats, Arrival arrival)
{
    const int has      = !!av_frame_get_side_data(*frame, AV_FRAME_DATA_MOTION_VECTORS);
    const int is_alike = repeats && s->last.flags == arrival.flags && s->last.strength == arrival.strength &&
                         s->nb_repeats < MAX_REPEATS && !has;
    const Waiting w = { is_alike ? *frame : NULL, has };
    int ret;

    s->last        = arrival;
    s->nb_repeats  = is_alike ? s->nb_repeats + 1 : 0;
    arrival.flags |= MVDENOISE_IS_REPEAT * repeats;
    ret = av_fifo_write(s->waiting, &w, 1);
    if (ret < 0)
        return ret;
    if (is_alike) {
        /* the frame will get other samples */
        for (int i = 0; i < AV_NUM_DATA_POINTERS; i++)
            av_buffer_unref(&w.repeat->buf[i]);
        *frame = NULL;
        return 0;
    }
    av_frame_unref(s->input);
    if (s->used_radius)
        ret = av_frame_ref(s->input, *frame);
    if (ret >= 0)
        ret = av_fifo_write(s->searched, &arrival, 1);
    return ret < 0 ? ret : ff_gpume_searcher_push(s->stream.searcher, frame);
}

/* Adds the frame that its device compares, if any. */
static int add_compared(MvdenoiseContext *s)
{
    AVFrame *frame = s->compared;
    int ret;

    if (!frame)
        return 0;
    s->compared = NULL;
    ret = ff_mvdenoise_compared(s->repeats);
    if (ret >= 0)
        ret = add_input(s, &frame, ret, s->compared_arrival);
    av_frame_free(&frame);
    return ret;
}

/* Takes an input frame. If its device compares it, it is added when the next one arrives, so the host does not wait. */
static int feed(AVFilterContext *ctx, AVFrame **frame)
{
    MvdenoiseContext *s   = ctx->priv;
    const Arrival arrival = { MVDENOISE_IS_KEPT * !!ctx->is_disabled, lrint(s->strength * 256) };
    const GpumeExecutor executor = ff_gpume_slice_threads(ctx);
    int ret = add_compared(s);

    if (ret >= 0 && *frame && opponent_format(ctx) != AV_PIX_FMT_NONE)
        ret = ff_mvdenoise_to_opponent(*frame, &executor);
    if (ret < 0 || !*frame)
        return ret;
    /* a command has set strength; no frame is waiting, because frames that stay as they are do not wait for others */
    if (s->strength > 0 && s->used_radius < s->radius && (ret = open_all(ctx)) < 0)
        return ret;
    if (!s->used_radius)
        return add_input(s, frame, 0, arrival);
    ret = ff_mvdenoise_compare(&s->repeats, s->input, *frame, ctx);
    if (ret == AVERROR(EAGAIN)) {
        FFSWAP(AVFrame *, s->compared, *frame);
        s->compared_arrival = arrival;
        return 0;
    }
    return ret < 0 ? ret : add_input(s, frame, ret, arrival);
}

static int activate(AVFilterContext *ctx)
{
    static const GpumeStreamFunctions functions = {
        .produce = produce, .take = take, .push = push, .open = open_mvdenoise, .feed = feed,
    };
    MvdenoiseContext *s = ctx->priv;

    return ff_gpume_stream_activate(ctx, &s->stream, &functions);
}

static av_cold void uninit(AVFilterContext *ctx)
{
    MvdenoiseContext *s = ctx->priv;

    Waiting w;

    while (s->waiting && av_fifo_read(s->waiting, &w, 1) >= 0)
        av_frame_free(&w.repeat);
    av_fifo_freep2(&s->waiting);
    av_fifo_freep2(&s->searched);
    av_frame_free(&s->input);
    av_frame_free(&s->compared);
    av_frame_free(&s->output);
    ff_mvdenoise_repeats_close(&s->repeats);
    ff_gpume_stream_close(&s->stream);
    ff_mvdenoise_close(&s->mvdenoise);
}

const GPUME_FILTER ff_vf_mvdenoise = {
    GPUME_FRAME_FILTER(mvdenoise, MvdenoiseContext, "Denoise along motion vectors.",
                       AVFILTER_FLAG_SUPPORT_TIMELINE_INTERNAL),
    .init = init,
    .process_command = ff_filter_process_command,
    FILTER_INPUTS(ff_video_default_filterpad),
};
