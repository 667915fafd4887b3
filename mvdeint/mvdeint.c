/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/buffer.h"
#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/engine.h"
#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/mvdeint/backend.h"
#include "libavfilter/gpume/mvdeint/mvdeint.h"

const GpumeSequenceKind ff_mvdeint_kind = {
    "mvdeint", ff_gpume_layout_supports, GPUME_FRAME_BACKENDS(ff_mvdeint_backend),
};

/** Maximum number of fields that are held: those in the searches of all passes, and their neighbours. */
#define MAX_FIELDS 128

/** A field of the sequence. */
typedef struct Field {
    AVFrame *frame;                     ///< its input frame
    int parity, is_second, is_progressive, passes;
    int is_made;                        ///< whether a frame is made of it
    int is_skipped;                     ///< whether nothing is output of it
    AVFrame *estimates[MVDEINT_MAX_PASSES];     ///< inputs of the passes; the first estimate is kept for all passes
    AVFrame *intra;
    GpumeFieldSet sets[MVDEINT_MAX_PASSES];     ///< motion fields of the estimates
} Field;

/** A pass and the search of its inputs. Members count fields of the sequence. */
typedef struct Pass {
    GpumeEngine *engine;
    int64_t nb_estimated, nb_searched, nb_made;
    int flushed;
} Pass;

struct Mvdeint {
    MvdeintConfig cfg;
    GpumeSequence sequence;
    int is_small;                       ///< whether frames of this layout can only pass unchanged
    Field fields[MAX_FIELDS];
    Pass passes[MVDEINT_MAX_PASSES];
    int64_t nb_fields;                  ///< number of fields whose first estimates have been made
    int64_t nb_out;                     ///< number of fields that have been output
    AVFrame *last;                      ///< the input frame that waits for the next one
    MvdeintInput last_input;
};

av_cold int ff_mvdeint_open(Mvdeint **mvdeint, const MvdeintConfig *cfg)
{
    Mvdeint *s = *mvdeint = av_mallocz(sizeof(*s));
    int ret;

    if (!s)
        return AVERROR(ENOMEM);
    s->cfg = *cfg;
    ret = ff_gpume_sequence_open(&s->sequence, &ff_mvdeint_kind, cfg->hw_frames, &s->cfg, cfg->log_ctx);
    if (ret < 0)
        ff_mvdeint_close(mvdeint);
    return ret;
}

static Field *field_at(Mvdeint *s, int64_t number)
{
    return &s->fields[number % MAX_FIELDS];
}

static void forget_field(Field *f)
{
    av_frame_free(&f->frame);
    av_frame_free(&f->intra);
    for (int i = 0; i < MVDEINT_MAX_PASSES; i++) {
        av_frame_free(&f->estimates[i]);
        ff_gpume_fields_uninit(&f->sets[i]);
    }
}

/* Forgets the sequence. */
static void forget(Mvdeint *s)
{
    for (int i = 0; i < MVDEINT_MAX_PASSES; i++)
        ff_gpume_engine_close(&s->passes[i].engine);
    for (int i = 0; i < MAX_FIELDS; i++)
        forget_field(&s->fields[i]);
    memset(s->passes, 0, sizeof(s->passes));
    av_frame_free(&s->last);
    s->sequence.nb_in = s->nb_fields = s->nb_out = 0;
    s->sequence.flushed = 0;
}

av_cold void ff_mvdeint_close(Mvdeint **mvdeint)
{
    Mvdeint *s = *mvdeint;

    if (!s)
        return;
    forget(s);
    ff_gpume_sequence_close(&s->sequence);
    av_freep(mvdeint);
}

GpumeSequence *ff_mvdeint_sequence(Mvdeint *s)
{
    return &s->sequence;
}

static const MvdeintBackend *backend_of(const Mvdeint *s)
{
    return (const MvdeintBackend *)s->sequence.backend;
}

static int set_layout(Mvdeint *s, const AVFrame *frame)
{
    const GpumeLayout *l = &s->sequence.layout;
    const int ret = ff_gpume_sequence_set_layout(&s->sequence, frame);

    s->is_small = 0;
    for (int i = 0; i < l->nb_components; i++)
        s->is_small |= l->components[i].w < MVDEINT_MIN_COLUMNS || l->components[i].h < MVDEINT_MIN_LINES;
    return ret;
}

static int nb_passes(const Mvdeint *s)
{
    return s->is_small ? 0 : s->cfg.passes;
}

/* Opens the search of a pass for frames like this one. */
static int open_engine(Mvdeint *s, Pass *pass, const AVFrame *frame)
{
    GpumeEngineConfig cfg = {
        .params   = {
            .algo = GPUME_ALGO_HME, .block = MVDEINT_BLOCK, .pel = 4, .smooth = GPUME_AUTO, .check = GPUME_AUTO,
            .sweeps = 2, .nb_references = 2 * s->cfg.refs,
        },
        .backend  = frame->hw_frames_ctx ? -1 : GPUME_BACKEND_cpu,
        .max_in_flight = s->cfg.max_in_flight,
        .executor = s->cfg.executor,
        .on_device = 1,
        .log_ctx  = s->cfg.log_ctx,
    };

    for (int i = 0; i < s->cfg.refs; i++) {
        cfg.params.distance[i]               = -1 - i;
        cfg.params.distance[s->cfg.refs + i] = 1 + i;
    }
    return ff_gpume_engine_open(&pass->engine, &cfg, frame->width, frame->height, frame->format, frame->hw_frames_ctx);
}

/* Returns the number of estimates for a pass. */
static int64_t nb_estimates(const Mvdeint *s, int pass)
{
    return pass ? s->passes[pass - 1].nb_made : s->nb_fields;
}

/* Returns whether no more estimates follow for a pass. */
static int is_complete(const Mvdeint *s, int pass)
{
    return s->sequence.flushed && !s->last && nb_estimates(s, pass) == s->nb_fields;
}

/* Takes the results of the search of a pass. */
static int take_searched(Mvdeint *s, int pass)
{
    Pass *p = &s->passes[pass];
    GpumeResult result;
    int ret;

    if (!p->engine)
        return 0;
    if (is_complete(s, pass) && p->nb_estimated == s->nb_fields && !p->flushed) {
        ff_gpume_engine_flush(p->engine);
        p->flushed = 1;
    }
    while ((ret = ff_gpume_engine_pull(p->engine, &result)) >= 0) {
        Field *f = field_at(s, p->nb_searched++);

        f->sets[pass] = result.set;
        result.set    = (GpumeFieldSet) { 0 };
        ff_gpume_result_uninit(&result);
    }
    return ret == AVERROR(EAGAIN) || ret == AVERROR_EOF ? 0 : ret;
}

/* Returns whether a pass makes something of a field. Only then its motion fields in this pass are read. */
static int is_made_by(const Mvdeint *s, int pass, const Field *f)
{
    return pass + 1 < nb_passes(s) ? !f->is_progressive : f->is_made;
}

/* Sends the next estimate of a pass to its search. */
static int search(Mvdeint *s, int pass)
{
    Pass *p = &s->passes[pass];
    const Field *f = field_at(s, p->nb_estimated);
    int ret = 0;

    if (pass >= nb_passes(s))
        return 0;
    if (!p->engine)
        ret = open_engine(s, p, f->estimates[pass]);
    if (ret >= 0)
        ret = take_searched(s, pass);
    if (ret >= 0)
        ret = ff_gpume_engine_push_clone(p->engine, f->estimates[pass], is_made_by(s, pass, f));
    if (ret >= 0)
        p->nb_estimated++;
    return ret;
}

/* Adds a field of the waiting frame, and sets the parameters of its first estimate. */
static int add_field(Mvdeint *s, MvdeintFirst *first, int is_second, int after)
{
    const int64_t number = s->sequence.nb_in - 1 - (after >= 0);
    const int slot = number % MVDEINT_SLOTS;
    Field *f = field_at(s, s->nb_fields + is_second);

    *first = (MvdeintFirst) {
        .frame = slot, .before = number ? (number - 1) % MVDEINT_SLOTS : slot, .after = after >= 0 ? after : slot,
        .parity = s->last_input.bottom_first ^ is_second, .is_second = is_second,
        .is_alone = is_second ? after < 0 : !number, .is_progressive = s->last_input.is_progressive,
    };
    forget_field(f);
    f->parity         = first->parity;
    f->is_second      = is_second;
    f->is_progressive = first->is_progressive;
    f->passes         = first->is_progressive || s->last_input.passes;
    f->is_skipped     = s->last_input.is_discarded || is_second && (f->passes || s->cfg.only_first);
    f->is_made        = !f->passes && !f->is_skipped;
    f->frame          = ff_mvdeint_clone(s->last);
    if (!f->frame)
        return AVERROR(ENOMEM);
    if (s->is_small)
        return 0;
    f->estimates[0] = first->out   = backend_of(s)->alloc(s->sequence.priv);
    f->intra        = first->intra = backend_of(s)->alloc(s->sequence.priv);
    return first->out && first->intra ? 0 : AVERROR(ENOMEM);
}

/*
 * Makes the first estimates of the waiting frame. Afterwards this frame is the last but one.
 * @param after the slot of the next frame; -1: there is none
 */
static int estimate_last(Mvdeint *s, int after)
{
    MvdeintFirst first[2];
    int ret;

    if (s->nb_fields - s->nb_out >= MAX_FIELDS - 1 - MVDEINT_MAX_REFS)
        return AVERROR_BUG;
    for (int i = 0; i < 2; i++)
        if ((ret = add_field(s, &first[i], i, after)) < 0)
            return ret;
    ret = s->is_small ? 0 : backend_of(s)->estimate(s->sequence.priv, first);
    for (int i = 0; i < 2 && ret >= 0; i++) {
        s->nb_fields++;
        ret = search(s, 0);
    }
    return ret;
}

AVFrame *ff_mvdeint_properties(const AVFrame *frame)
{
    AVFrame *properties = av_frame_alloc();

    if (!properties)
        return NULL;
    properties->width  = frame->width;
    properties->height = frame->height;
    properties->format = frame->format;
    if (av_frame_copy_props(properties, frame) < 0 ||
        av_buffer_replace(&properties->hw_frames_ctx, frame->hw_frames_ctx) < 0)
        av_frame_free(&properties);
    return properties;
}

AVFrame *ff_mvdeint_clone(const AVFrame *frame)
{
    return frame->buf[0] ? av_frame_clone(frame) : ff_mvdeint_properties(frame);
}

int ff_mvdeint_push(Mvdeint *s, AVFrame **frame, const MvdeintInput *input, const AVFrame *samples)
{
    const AVFrame *from = samples ? samples : *frame;
    const int slot = s->sequence.flushed ? 0 : s->sequence.nb_in % MVDEINT_SLOTS;
    int ret;

    if (s->sequence.flushed)
        forget(s);
    ret = set_layout(s, from);
    if (ret >= 0 && s->is_small && !input->passes) {
        av_log(s->cfg.log_ctx, AV_LOG_ERROR, "Pictures of %dx%d samples have a plane of less than %d columns or %d "
               "lines, which cannot be deinterlaced.\n", from->width, from->height, MVDEINT_MIN_COLUMNS,
               MVDEINT_MIN_LINES);
        ret = AVERROR(EINVAL);
    }
    if (ret >= 0)
        ret = backend_of(s)->load(s->sequence.priv, slot, from, s->last && !s->is_small);
    if (ret >= 0 && samples && input->passes)
        ret = backend_of(s)->copy(s->sequence.priv, *frame, slot);
    if (ret < 0)
        return ret;
    s->sequence.nb_in++;
    if (s->last)
        ret = estimate_last(s, slot);
    if (ret < 0)
        return ret;
    av_frame_free(&s->last);
    s->last       = *frame;
    s->last_input = *input;
    *frame        = NULL;
    return 0;
}

void ff_mvdeint_set_order(Mvdeint *s, int bottom_first)
{
    s->last_input.bottom_first = bottom_first;
}

/* Returns whether a pass can make its next field. */
static int is_ready(const Mvdeint *s, int pass)
{
    const Pass *p = &s->passes[pass];

    return p->nb_made < p->nb_searched &&
           (nb_estimates(s, pass) > p->nb_made + s->cfg.refs || is_complete(s, pass));
}

/* Releases what only this pass has needed, after its next field was made. */
static void finish_field(Mvdeint *s, int pass)
{
    Pass *p = &s->passes[pass];

    ff_gpume_fields_uninit(&field_at(s, p->nb_made)->sets[pass]);
    p->nb_made++;
    if (pass && p->nb_made > s->cfg.refs)
        av_frame_free(&field_at(s, p->nb_made - 1 - s->cfg.refs)->estimates[pass]);
}

/* Makes a pass's next field, as an estimate or as a frame. */
static int make(Mvdeint *s, int pass, AVFrame *out, AVFrame *frame)
{
    const int64_t number = s->passes[pass].nb_made;
    /* earlier fields are read as this pass has made them; the last pass makes frames, which are not kept */
    const int refs = s->cfg.refs, makes_estimates = pass + 1 < s->cfg.passes;
    Field *f = field_at(s, number);
    MvdeintStep step = {
        .pass = pass, .refs = refs, .set = &f->sets[pass], .first = f->estimates[0], .intra = f->intra, .out = out,
        .frame = frame,
    };

    for (int i = -refs; i <= refs; i++)
        if (number + i >= 0 && number + i < nb_estimates(s, pass)) {
            const Field *other = field_at(s, number + i);

            step.estimates[MVDEINT_MAX_REFS + i] = other->estimates[pass + (i < 0 && makes_estimates)];
            step.parities[MVDEINT_MAX_REFS + i]  = other->parity;
        }
    return backend_of(s)->make(s->sequence.priv, &step);
}

/* Makes the next estimate for the following pass. */
static int make_estimate(Mvdeint *s, int pass)
{
    Field *f = field_at(s, s->passes[pass].nb_made);
    AVFrame *out = f->is_progressive ? av_frame_clone(f->estimates[0]) : backend_of(s)->alloc(s->sequence.priv);
    int ret = 0;

    if (!out)
        return AVERROR(ENOMEM);
    if (!f->is_progressive)
        ret = make(s, pass, out, NULL);
    if (ret < 0) {
        av_frame_free(&out);
        return ret;
    }
    f->estimates[pass + 1] = out;
    finish_field(s, pass);
    return search(s, pass + 1);
}

int ff_mvdeint_next(Mvdeint *s, MvdeintNext *next)
{
    const int last = nb_passes(s) - 1;
    const Field *f, *after;
    int ret;

    if (s->sequence.flushed && s->last) {
        ret = estimate_last(s, -1);
        if (ret < 0)
            return ret;
        av_frame_free(&s->last);
    }
    for (int i = 0; i <= last; i++) {
        ret = take_searched(s, i);
        while (ret >= 0 && i < last && is_ready(s, i)) {
            ret = make_estimate(s, i);
            if (ret >= 0)
                ret = take_searched(s, i + 1);
        }
        if (ret < 0)
            return ret;
    }
    if (last >= 0 ? !is_ready(s, last) : s->nb_out == s->nb_fields)
        return 0;
    f     = field_at(s, s->nb_out);
    after = field_at(s, s->nb_out + 2 - f->is_second);
    *next = (MvdeintNext) {
        .frame = f->frame, .is_second = f->is_second, .passes = f->passes,
        .is_skipped = f->is_skipped,
        .after = s->nb_out + 2 - f->is_second < s->nb_fields ? after->frame : s->last,
    };
    return 1;
}

int ff_mvdeint_make(Mvdeint *s, AVFrame *out)
{
    const int last = nb_passes(s) - 1;
    Field *f = field_at(s, s->nb_out);
    int ret = 0;

    if (out && last < 0)
        ret = backend_of(s)->put(s->sequence.priv, out, f->estimates[0]);
    else if (out)
        ret = make(s, last, NULL, out);
    if (ret < 0)
        return ret;
    if (last >= 0)
        finish_field(s, last);
    s->nb_out++;
    av_frame_free(&f->frame);
    av_frame_free(&f->intra);
    if (s->nb_out > s->cfg.refs)
        av_frame_free(&field_at(s, s->nb_out - 1 - s->cfg.refs)->estimates[0]);
    return 0;
}
