/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/field/field_args.h"
#include "libavfilter/gpume/mvstereo/backend.h"
#include "libavfilter/gpume/mvstereo/mvstereo.h"

/** Number of samples with texture from which views are judged. */
#define MIN_JUDGED 1000

const GpumeSequenceKind ff_mvstereo_kind = {
    "mvstereo", ff_gpume_layout_supports, GPUME_FRAME_BACKENDS(ff_mvstereo_backend),
};

/** The backend for frames in system memory that are matched on a GPU. */
static const GpumeSequenceKind gpu_kind = {
    "mvstereo", ff_gpume_layout_supports,
#if GPUME_HAS_CUDA
    { &ff_mvstereo_backend_upload.common },
#endif
};

struct Mvstereo {
    MvstereoConfig cfg;
    GpumeSequence sequence;
    int uploads;                ///< whether frames in system memory are matched on a GPU
    int temporal;               ///< the option; cfg.temporal is what is done for the last views
    int w, h;                   ///< size of the last views
    int64_t agreement[MVSTEREO_NB_COUNTS];      ///< sums of all views, enum MvstereoCount
    int is_warned;              ///< whether views were found to disagree
    int is_behind;              ///< whether most disparities were found to be negative
    MvstereoRange range;        ///< range of the maps since views had this size
    int told_min, told_max;     ///< scale of the last map
    int told_nearer;            ///< whether things were found to be nearer than the scale
};

enum AVPixelFormat ff_mvstereo_output_format(enum MvstereoOutput output, int is_hw)
{
    if (output == MVSTEREO_LEFT_GRAY || (is_hw && output == MVSTEREO_FLOAT))
        return AV_PIX_FMT_NONE;
    if (output == MVSTEREO_FLOAT)
        return AV_PIX_FMT_GRAYF32;
    if (output == MVSTEREO_COLOR)
        return is_hw ? AV_PIX_FMT_0BGR32 : AV_PIX_FMT_RGB24;
    if (output == MVSTEREO_DISPARITY || output == MVSTEREO_DEPTH)
        return is_hw ? AV_PIX_FMT_P016 : AV_PIX_FMT_GRAY16;
    return is_hw ? AV_PIX_FMT_NV12 : AV_PIX_FMT_GRAY8;
}

int ff_mvstereo_bytes(enum MvstereoOutput output, int is_hw)
{
    static const uint8_t bytes[MVSTEREO_NB_OUTPUTS] = {
        [MVSTEREO_DISPARITY] = 2, [MVSTEREO_GRAY] = 1, [MVSTEREO_COLOR] = 3, [MVSTEREO_DEPTH] = 2,
        [MVSTEREO_CONFIDENCE] = 1, [MVSTEREO_FLOAT] = 4,
    };

    return bytes[output] + (is_hw && output == MVSTEREO_COLOR);
}

static void warn_of_cpu(const Mvstereo *s)
{
    if (s->cfg.backend < 0)
        av_log(s->cfg.log_ctx, AV_LOG_WARNING, "Could not use the GPU; using the CPU.\n");
}

/* Opens the backend for frames in system memory that are matched on a GPU. */
static av_cold int open_upload(Mvstereo *s)
{
    int ret;

    if (!gpu_kind.backends[0]) {
        av_log(s->cfg.log_ctx, s->cfg.backend < 0 ? AV_LOG_VERBOSE : AV_LOG_ERROR,
               "This build has no CUDA; use backend=cpu.\n");
        return AVERROR(ENOSYS);
    }
    ret = ff_gpume_sequence_open(&s->sequence, &gpu_kind, NULL, &s->cfg, s->cfg.log_ctx);
    s->uploads = ret >= 0;
    if (ret < 0)
        ff_gpume_sequence_close(&s->sequence);
    if (ret < 0 && ret != AVERROR(ENODEV))
        warn_of_cpu(s);
    return ret;
}

/* Opens the backend for the place where frames are. */
static av_cold int open_in_place(Mvstereo *s)
{
    s->uploads = 0;
    return ff_gpume_sequence_open(&s->sequence, &ff_mvstereo_kind, s->cfg.hw_frames, &s->cfg, s->cfg.log_ctx);
}

static const MvstereoBackend *backend_of(const Mvstereo *s)
{
    return (const MvstereoBackend *)s->sequence.backend;
}

/* Warns once if the last views and those before them disagree. */
static void judge(Mvstereo *s, int wait)
{
    int64_t votes = 0, *sums = s->agreement;
    int counts[MVSTEREO_NB_COUNTS];

    if (s->is_warned || !s->w || !s->sequence.priv || backend_of(s)->judge(s->sequence.priv, counts, wait) <= 0)
        return;
    for (int i = 0; i < MVSTEREO_NB_COUNTS; i++) {
        sums[i] += counts[i];
        votes   += i >= MVSTEREO_VOTES ? FFABS(sums[i]) : 0;
    }
    s->is_warned = 1;
    if (sums[MVSTEREO_UNEVEN] < MIN_JUDGED)
        s->is_warned = 0;
    else if (votes * 9 > sums[MVSTEREO_VALID] * 2)
        av_log(s->cfg.log_ctx, AV_LOG_WARNING, "The rows of the views disagree: many samples fit better to rows above "
               "or below those that are searched, so maps have errors. Rectify the views, or increase rows from %d to "
               "up to %d.\n", s->cfg.rows, MVSTEREO_MAX_ROWS);
    else if (3 * sums[MVSTEREO_VALID] < sums[MVSTEREO_UNEVEN])
        av_log(s->cfg.log_ctx, AV_LOG_WARNING, "Most samples of the views disagree: of those with texture, only %d %% "
               "have a disparity that both views confirm. Exchange the views if they are swapped (sbsl and sbsr in "
               "'layout', for example, or the inputs), set min and max to the disparities of the scene, or rectify the "
               "views.\n", (int)(100 * sums[MVSTEREO_VALID] / sums[MVSTEREO_UNEVEN]));
    else
        s->is_warned = 0;
}

/* Warns once if a range that was found is mostly negative. The cameras do not show that; only a user can know. */
static void judge_range(Mvstereo *s)
{
    const MvstereoRange *r = &s->range;

    if (s->is_behind || s->cfg.min < s->cfg.max || r->is_guess || r->min + 2 * r->max >= 0)
        return;
    s->is_behind = 1;
    av_log(s->cfg.log_ctx, AV_LOG_WARNING, "Most disparities are negative: %d to %d. So it is with videos whose scene "
           "lies behind the screen; with parallel cameras the views are swapped. Exchange them then (sbsl and sbsr in "
           "'layout', for example, or the inputs).\n", r->min, r->max - 1);
}

av_cold int ff_mvstereo_open(Mvstereo **mvstereo, const MvstereoConfig *cfg)
{
    Mvstereo *s = *mvstereo = av_mallocz(sizeof(*s));
    int ret = AVERROR(ENODEV);

    if (!s)
        return AVERROR(ENOMEM);
    s->cfg      = *cfg;
    s->temporal = cfg->temporal;
    if (!cfg->hw_frames && cfg->backend != GPUME_BACKEND_cpu)
        ret = open_upload(s);
    if (ret < 0 && (cfg->hw_frames || cfg->backend != GPUME_BACKEND_cuda))
        ret = open_in_place(s);
    if (ret < 0)
        ff_mvstereo_close(mvstereo);
    return ret;
}

av_cold void ff_mvstereo_close(Mvstereo **mvstereo)
{
    Mvstereo *s = *mvstereo;

    if (!s)
        return;
    judge(s, 1);
    ff_gpume_sequence_close(&s->sequence);
    av_freep(mvstereo);
}

int ff_mvstereo_make(Mvstereo *s, const MvstereoPair *pair, AVFrame *out)
{
    const AVFrame *frame = pair->views[0].frame;
    GpumeLayout layout;
    MvstereoPair mirrored;
    int ret;

    /* if both views are mirrored, the right view has the disparities of the left one */
    if (pair->right) {
        mirrored = *pair;
        FFSWAP(MvstereoView, mirrored.views[0], mirrored.views[1]);
        for (int i = 0; i < 2; i++) {
            mirrored.views[i].x     += (pair->w - 1) * mirrored.views[i].step_x;
            mirrored.views[i].step_x = -mirrored.views[i].step_x;
        }
        pair = &mirrored;
    }
    judge(s, 0);
    ff_gpume_layout_init(&layout, s->cfg.hw_frames ? s->sequence.sw_format : frame->format, frame->width,
                         frame->height);
    if (s->w != pair->w || s->h != pair->h)
        s->range = (MvstereoRange) {
            s->cfg.min, s->cfg.max, .least = s->cfg.min, .greatest = s->cfg.max,
        };
    /* larger views cannot be searched */
    s->cfg.temporal = s->temporal && FFMAX(pair->w, pair->h) <= GPUME_MAX_SIDE;
    s->w = pair->w;
    s->h = pair->h;
    ret  = backend_of(s)->make(s->sequence.priv, pair, &layout, &s->range, out);
    /* the GPU may have too little memory, or the views may be too large for it */
    if (ret < 0 && s->uploads && s->cfg.backend < 0) {
        warn_of_cpu(s);
        ff_gpume_sequence_close(&s->sequence);
        ret = open_in_place(s);
        if (ret >= 0)
            ret = backend_of(s)->make(s->sequence.priv, pair, &layout, &s->range, out);
    }
    if (ret >= 0)
        judge_range(s);
    return ret;
}

int ff_mvstereo_tell_scale(Mvstereo *s, AVDictionary **metadata)
{
    const int min = s->range.least, max = s->range.greatest, is_nearer = s->range.max > max;
    int ret = av_dict_set_int(metadata, "lavfi.mvstereo.min", min, 0);

    if (ret >= 0)
        ret = av_dict_set_int(metadata, "lavfi.mvstereo.max", max, 0);
    if (!s->cfg.max && s->cfg.min >= 0 && (min != s->told_min || max != s->told_max))
        av_log(s->cfg.log_ctx, AV_LOG_INFO, "Range of disparities from now on: min=%d, max=%d\n", min, max);
    if (is_nearer && mvstereo_has_scale(s->cfg.output) && !s->told_nearer)
        av_log(s->cfg.log_ctx, AV_LOG_WARNING, "Things come nearer than the scale of this shot, min=%d, max=%d, which "
               "stays: they have the value of max. Set a greater max.\n", min, max);
    s->told_nearer |= is_nearer;
    s->told_min = min;
    s->told_max = max;
    return FFMIN(ret, 0);
}

int ff_mvstereo_judge(Mvstereo *s, int counts[MVSTEREO_NB_COUNTS])
{
    return backend_of(s)->judge(s->sequence.priv, counts, 1);
}

int ff_mvstereo_read(Mvstereo *s, int16_t *disparity)
{
    const int ret = backend_of(s)->read(s->sequence.priv, disparity);

    for (size_t i = 0; ret >= 0 && i < s->w * (size_t)s->h; i++)
        disparity[i] = disparity[i] < 0 ? MVSTEREO_HOLE : disparity[i] + s->range.min * MVSTEREO_ONE;
    return ret;
}
