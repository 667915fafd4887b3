/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */


#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/mvdenoise/backend.h"
#include "libavfilter/gpume/mvdenoise/mvdenoise.h"

const GpumeSequenceKind ff_mvdenoise_kind = {
    "mvdenoise", ff_gpume_layout_supports, GPUME_FRAME_BACKENDS(ff_mvdenoise_backend),
};

/** A picture of the sequence. */
typedef struct Picture {
    AVFrame *frame;
    MvdenoiseNoise noise[GPUME_COMPONENTS][MVDENOISE_TONES];
    MvdenoiseCurve curves[GPUME_COMPONENTS];
    int has[MVDENOISE_MAX_STACK];       ///< whether there is a field, for distances from -radius to radius
    int flags;                          ///< MVDENOISE_IS_*
    int strength;                       ///< factor of its sigma, in 1/256
} Picture;

/** Noise of a picture that passes unchanged. */
static const MvdenoiseNoise no_noise[MVDENOISE_TONES];

struct Mvdenoise {
    MvdenoiseConfig cfg;
    GpumeSequence sequence;
    Picture pictures[MVDENOISE_MAX_SLOTS];
    int nb_slots;
    int64_t nb_pilots, nb_out;          ///< numbers of pictures of the sequence: with a pilot, output
    MvdenoiseEstimate estimate;
    int missing;
};

av_cold int ff_mvdenoise_open(Mvdenoise **mvdenoise, const MvdenoiseConfig *cfg)
{
    Mvdenoise *s = *mvdenoise = av_mallocz(sizeof(*s));
    int ret;

    if (!s)
        return AVERROR(ENOMEM);
    s->cfg      = *cfg;
    /* a result needs radius pictures on each side; with two passes, the pilot of the last needs radius more after it */
    s->nb_slots = (cfg->passes + 1) * cfg->radius + 1;
    ret = ff_gpume_sequence_open(&s->sequence, &ff_mvdenoise_kind, cfg->hw_frames, &s->cfg, cfg->log_ctx);
    if (ret < 0)
        ff_mvdenoise_close(mvdenoise);
    return ret;
}

static void forget_pictures(Mvdenoise *s)
{
    for (int i = 0; i < MVDENOISE_MAX_SLOTS; i++)
        av_frame_free(&s->pictures[i].frame);
    s->sequence.nb_in = s->nb_pilots = s->nb_out = 0;
    s->sequence.flushed = 0;
}

av_cold void ff_mvdenoise_close(Mvdenoise **mvdenoise)
{
    Mvdenoise *s = *mvdenoise;

    if (!s)
        return;
    forget_pictures(s);
    ff_gpume_sequence_close(&s->sequence);
    ff_mvdenoise_estimate_uninit(&s->estimate);
    av_freep(mvdenoise);
}

GpumeSequence *ff_mvdenoise_sequence(Mvdenoise *s)
{
    return &s->sequence;
}

static const MvdenoiseBackend *backend_of(const Mvdenoise *s)
{
    return (const MvdenoiseBackend *)s->sequence.backend;
}

static Picture *picture(Mvdenoise *s, int64_t number)
{
    return &s->pictures[number % s->nb_slots];
}

/* Sets the noise with which a component of a picture is denoised. */
static void set_noise(const Mvdenoise *s, Picture *p, int component, const MvdenoiseCurve *curve)
{
    const int noisy = mvdenoise_is_chosen(&s->cfg, &s->sequence.layout, component) &&
                      mvdenoise_is_noisy(curve, p->strength);

    p->curves[component] = *curve;
    for (int i = 0; i < MVDENOISE_TONES; i++)
        p->noise[component][i] = mvdenoise_noise_at(curve, i, p->strength, noisy, s->sequence.layout.depth);
}

/* Sets the noise of the loaded picture and, if it is known better now, that of the previous picture. */
static int find_noise(Mvdenoise *s, const MvdenoiseMeasure *measures, int has_field)
{
    MvdenoiseCurve curves[GPUME_COMPONENTS] = { 0 };
    int before[GPUME_COMPONENTS] = { 0 }, ret = 0;

    if (!s->cfg.sigma)
        ret = ff_mvdenoise_estimate(&s->estimate, curves, before, measures, &s->sequence.layout, !s->sequence.nb_in,
                                    has_field);
    for (int i = 0; i < s->sequence.layout.nb_components; i++) {
        if (s->cfg.sigma || s->cfg.single)
            mvdenoise_level(&curves[i], s->cfg.sigma ? s->cfg.sigma : curves[i].single);
        set_noise(s, picture(s, s->sequence.nb_in), i, &curves[i]);
        if (before[i])
            set_noise(s, picture(s, s->sequence.nb_in - 1), i, &curves[i]);
    }
    return ret;
}

void ff_mvdenoise_set_strength(Mvdenoise *s, int strength)
{
    s->cfg.strength = strength;
}

int ff_mvdenoise_push(Mvdenoise *s, AVFrame **frame, const AVFrame *samples, int flags)
{
    const int measures_noise = !backend_of(s)->estimates && !s->cfg.sigma;
    MvdenoiseMeasure measures[GPUME_COMPONENTS];
    Picture *p;
    int ret;

    if (s->sequence.flushed)
        forget_pictures(s);
    ret = ff_gpume_sequence_set_layout(&s->sequence, *frame);
    if (ret < 0)
        return ret;
    for (int i = 0; i < s->sequence.layout.nb_components; i++)
        measures[i].wanted = mvdenoise_is_chosen(&s->cfg, &s->sequence.layout, i);
    p           = picture(s, s->sequence.nb_in);
    p->strength = s->cfg.strength;
    ret = backend_of(s)->load(s->sequence.priv, s->sequence.nb_in % s->nb_slots, *frame, samples ? samples : *frame,
                              s->sequence.nb_in ? (s->sequence.nb_in - 1) % s->nb_slots : -1, p->has,
                              measures_noise ? measures : NULL);
    if (ret >= 0 && !backend_of(s)->estimates)
        ret = find_noise(s, measures, s->sequence.nb_in && s->cfg.radius && p->has[s->cfg.radius - 1]);
    if (ret < 0)
        return ret;
    av_frame_free(&p->frame);
    p->frame = *frame;
    p->flags = flags;
    *frame   = NULL;
    s->sequence.nb_in++;
    return 0;
}

const AVFrame *ff_mvdenoise_next(const Mvdenoise *s)
{
    const int ahead = s->cfg.passes * s->cfg.radius;

    return s->nb_out < s->sequence.nb_in && (s->sequence.flushed || s->sequence.nb_in - s->nb_out > ahead)
           ? s->pictures[s->nb_out % s->nb_slots].frame : NULL;
}

static int has_flag(Mvdenoise *s, int64_t number, int flag)
{
    return picture(s, number)->flags & flag;
}

/* Returns whether picture number + i equals a picture nearer to picture number, or that picture. */
static int is_repeated(Mvdenoise *s, int64_t number, int i)
{
    return i && has_flag(s, number + i + (i < 0), MVDENOISE_IS_REPEAT);
}

/* Returns whether the pilot of a picture is needed for denoising. */
static int needs_pilot(Mvdenoise *s, int64_t number)
{
    const int64_t end = FFMIN(number + s->cfg.radius + 1, s->sequence.nb_in);
    int needs = 0;

    for (int64_t i = FFMAX(number - s->cfg.radius, 0); i < end; i++)
        needs |= !has_flag(s, i, MVDENOISE_IS_KEPT);
    return needs;
}

/* Makes a picture or a pilot. */
static int make(Mvdenoise *s, int64_t number, int second, AVFrame *out)
{
    const int radius = s->cfg.radius;
    MvdenoiseStep step = { .second = second, .radius = radius, .out = out };
    const Picture *p = picture(s, number);

    /* the pilots of the radius pictures after a picture are made before its second pass */
    step.matches = s->cfg.passes > 1 ? number % (radius + 1) : -1;
    step.keep = out && p->flags & MVDENOISE_IS_KEPT;
    for (int i = -radius; i <= radius; i++) {
        const int exists = number + i >= 0 && number + i < s->sequence.nb_in && !is_repeated(s, number, i);

        step.slots[radius + i] = exists && (!i || p->has[radius + i]) ? (number + i) % s->nb_slots : -1;
        if (exists && step.slots[radius + i] < 0)
            s->missing = FFMAX(s->missing, FFABS(i));
    }
    for (int i = 0; i < s->sequence.layout.nb_components; i++)
        step.noise[i] = step.keep ? no_noise : p->noise[i];
    return backend_of(s)->make(s->sequence.priv, &step);
}

int ff_mvdenoise_make(Mvdenoise *s, AVFrame *out)
{
    const int second = s->cfg.passes > 1;
    int ret;

    while (second && s->nb_pilots < FFMIN(s->nb_out + s->cfg.radius + 1, s->sequence.nb_in)) {
        ret = needs_pilot(s, s->nb_pilots) ? make(s, s->nb_pilots, 0, NULL) : 0;
        if (ret < 0)
            return ret;
        s->nb_pilots++;
    }
    ret = make(s, s->nb_out, second, out);
    if (ret >= 0 && backend_of(s)->get_curves && !s->cfg.sigma)
        ret = backend_of(s)->get_curves(s->sequence.priv, s->nb_out % s->nb_slots, picture(s, s->nb_out)->curves);
    if (ret >= 0)
        av_frame_free(&picture(s, s->nb_out++)->frame);
    return ret;
}

unsigned ff_mvdenoise_textured(const GpumeLayout *l)
{
    return av_pix_fmt_desc_get(l->format)->flags & AV_PIX_FMT_FLAG_RGB ? ~0u : 1;
}

int ff_mvdenoise_nb_components(const Mvdenoise *s)
{
    return s->sequence.layout.nb_components;
}

int ff_mvdenoise_curve(Mvdenoise *s, MvdenoiseCurve *curve, int component)
{
    Picture *p = picture(s, s->nb_out - 1);

    if (!mvdenoise_is_chosen(&s->cfg, &s->sequence.layout, component) ||
        !mvdenoise_is_noisy(&p->curves[component], p->strength))
        return 0;
    *curve = p->curves[component];
    return 1;
}

const MvdenoiseNoise *ff_mvdenoise_noise(Mvdenoise *s, int component)
{
    return has_flag(s, s->nb_out - 1, MVDENOISE_IS_KEPT) ? NULL : picture(s, s->nb_out - 1)->noise[component];
}

int ff_mvdenoise_missing(const Mvdenoise *s)
{
    return s->missing;
}
