/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/core/engine.h"
#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/mvstab/backend.h"

const GpumeSequenceKind ff_mvstab_kind = {
    "mvstab", ff_gpume_layout_supports, GPUME_FRAME_BACKENDS(ff_mvstab_backend),
};

/** Number of frames that may be in a search. */
#define MAX_SEARCHED 64
/** Number of frames that must agree in a row before they begin a shot. */
#define RUN 3
/** Share of the picture that must show the key frame, and inverse of the share of the blocks there that must fit. */
#define LEAST_OVERLAP 0.5
#define FITS          4

/** A frame of the sequence. */
typedef struct Frame {
    AVFrame *frame;             ///< its properties; NULL after it was output
    MvstabPicture picture;      ///< until it was output
    int passes;
    int is_given;               ///< whether step was given with the frame
    MvstabStep step;
    MvstabMatrix matrix;        ///< maps positions of the output frame to those of the frame, before the zoom
    double zoom;                ///< the largest that the shot has needed so far
} Frame;

struct Mvstab {
    MvstabConfig cfg;
    GpumeSequence sequence;
    MvstabFit fit;
    GpumeEngine *engine;        ///< searches each frame in the one before
    GpumeEngine *pair_engine;   ///< searches a picture in any other
    AVFrame *anchor;            ///< picture of the last frame that was not lost
    int run;                    ///< number of lost frames, up to the last one, that agree; 0: that is not lost
    int has_texture;            ///< whether the last lost frame has texture
    AVFrame *key;               ///< MVSTAB_TRIPOD: picture of the key frame
    MvstabMatrix key_pose, pose;    ///< map the key frame to the first one of the shot; the last frame to the key frame
    MvstabPicture aligned;      ///< frame nb_known where the key frame shows it, while it is searched there; else empty
    MvstabMatrix before;        ///< inverse of the pose of the frame before that
    Frame *frames;              ///< a ring
    int size;
    int64_t nb_searched;        ///< number of frames that were searched
    int64_t nb_known;           ///< number of frames whose step is known; at most RUN fewer
    int64_t nb_smoothed;        ///< number of frames whose matrix is known
    int64_t nb_out;
    AVFrame *last_out;          ///< MVSTAB_KEEP: the previous output frame
};

/* Returns the number of frames before and after a frame with which its zoom is smoothed. */
static int zoom_radius(const Mvstab *s)
{
    return s->cfg.border == MVSTAB_CROP && s->cfg.zoom <= 0 ? (s->cfg.smoothing + 3) / 4 : 0;
}

av_cold int ff_mvstab_open(Mvstab **mvstab, const MvstabConfig *cfg)
{
    Mvstab *s = *mvstab = av_mallocz(sizeof(*s));
    int ret;

    if (!s)
        return AVERROR(ENOMEM);
    s->cfg    = *cfg;
    s->size   = 2 * cfg->smoothing + 2 * zoom_radius(s) + MAX_SEARCHED + RUN + 1;
    s->frames = av_calloc(s->size, sizeof(*s->frames));
    ret = s->frames ? ff_gpume_sequence_open(&s->sequence, &ff_mvstab_kind, cfg->hw_frames, &s->cfg, cfg->log_ctx) :
                      AVERROR(ENOMEM);
    if (ret < 0)
        ff_mvstab_close(mvstab);
    return ret;
}

static Frame *frame_at(const Mvstab *s, int64_t number)
{
    return &s->frames[number % s->size];
}

static const MvstabStep *step_at(const void *opaque, int64_t number)
{
    return &frame_at(opaque, number)->step;
}

static void free_picture(MvstabPicture *p)
{
    av_frame_free(&p->frame);
    av_buffer_unref(&p->tensors);
}

/* Forgets the sequence. */
static void forget(Mvstab *s)
{
    ff_gpume_engine_close(&s->engine);
    ff_gpume_engine_close(&s->pair_engine);
    for (int i = 0; s->frames && i < s->size; i++) {
        av_frame_free(&s->frames[i].frame);
        free_picture(&s->frames[i].picture);
    }
    av_frame_free(&s->key);
    free_picture(&s->aligned);
    av_frame_free(&s->anchor);
    av_frame_free(&s->last_out);
    s->sequence.nb_in = s->nb_searched = s->nb_known = s->nb_smoothed = s->nb_out = 0;
    s->sequence.flushed = s->run = 0;
}

av_cold void ff_mvstab_close(Mvstab **mvstab)
{
    Mvstab *s = *mvstab;

    if (!s)
        return;
    forget(s);
    ff_gpume_sequence_close(&s->sequence);
    ff_mvstab_fit_uninit(&s->fit);
    av_freep(&s->frames);
    av_freep(mvstab);
}

int ff_mvstab_continues(const Mvstab *s, const AVFrame *frame)
{
    return ff_gpume_sequence_continues(&s->sequence, frame);
}

static const MvstabBackend *backend_of(const Mvstab *s)
{
    return (const MvstabBackend *)s->sequence.backend;
}

/* Opens a search of pictures like this one in the pictures before. */
static int open_engine(const Mvstab *s, GpumeEngine **engine, const AVFrame *picture, int max_in_flight)
{
    const GpumeEngineConfig cfg = {
        .params = {
            .algo = GPUME_ALGO_HME, .block = MVSTAB_BLOCK, .pel = 4, .smooth = GPUME_AUTO, .check = GPUME_AUTO,
            .nb_references = 1, .distance = { -1 },
        },
        .backend       = picture->hw_frames_ctx ? -1 : GPUME_BACKEND_cpu,
        .max_in_flight = max_in_flight,
        .executor      = s->cfg.executor,
        .log_ctx       = s->cfg.log_ctx,
    };

    return *engine ? 0 : ff_gpume_engine_open(engine, &cfg, picture->width, picture->height, picture->format,
                                              picture->hw_frames_ctx);
}

/* Begins to search a picture in another. */
static int search_pair(Mvstab *s, const AVFrame *picture, const AVFrame *reference)
{
    GpumeResult result = { NULL };
    int ret = open_engine(s, &s->pair_engine, picture, 1);

    if (ret >= 0)
        ret = ff_gpume_engine_push_clone(s->pair_engine, reference, 0);
    if (ret >= 0)
        ret = ff_gpume_engine_pull(s->pair_engine, &result);
    ff_gpume_result_uninit(&result);
    if (ret >= 0)
        ret = ff_gpume_engine_push_clone(s->pair_engine, picture, 1);
    return ret < 0 ? ret : ff_gpume_engine_start(s->pair_engine);
}

/* Makes the current picture the key frame. */
static int set_key(Mvstab *s, const MvstabPicture *picture)
{
    s->key_pose = ff_mvstab_product(&s->key_pose, &s->pose);
    s->pose     = ff_mvstab_identity;
    av_frame_free(&s->key);
    s->key = av_frame_clone(picture->frame);
    return s->key ? 0 : AVERROR(ENOMEM);
}

/*
 * Begins to find where the next frame is in its shot: searches it once more in the key frame, because the errors of
 * steps add up.
 */
static int begin_locating(Mvstab *s)
{
    Frame *f = frame_at(s, s->nb_known);
    const int is_placed = f->is_given || f->step.inliers <= 0;
    MvstabMatrix pose = ff_mvstab_product(&s->key_pose, &s->pose);
    int ret;

    if (f->step.begins) {
        s->key_pose = s->pose = f->matrix = ff_mvstab_identity;
        s->nb_known++;
        return set_key(s, &f->picture);
    }
    s->before = ff_mvstab_inverse(&pose);
    s->pose   = ff_mvstab_product(&s->pose, &f->step.motion);
    pose      = is_placed ? ff_mvstab_product(&s->key_pose, &s->pose) : s->pose;
    f->matrix = ff_mvstab_inverse(&pose);
    if (is_placed) {
        s->nb_known++;
        return 0;
    }
    ret = backend_of(s)->align(s->sequence.priv, &s->aligned, f->picture.frame, &f->matrix);
    return ret < 0 ? ret : search_pair(s, s->aligned.frame, s->key);
}

/* Ends what begin_locating() has begun. */
static int end_locating(Mvstab *s)
{
    Frame *f = frame_at(s, s->nb_known);
    int is_same = 0, ret;
    MvstabMatrix rest;
    GpumeResult result;

    if (!s->aligned.frame)
        return 0;
    ret = ff_gpume_engine_pull(s->pair_engine, &result);
    if (ret >= 0 && result.set.nb) {
        double inliers;

        ff_mvstab_fit_read(&s->fit, gpume_field_mvs(&result.set, 0),
                           (const MvstabTensor *)s->aligned.tensors->data, &f->matrix);
        inliers = ff_mvstab_fit(&s->fit, &rest, s->cfg.model);
        is_same = inliers > 0 && FITS * (inliers * s->fit.nb) >= s->fit.nb_textured;
        if (is_same)
            s->pose = ff_mvstab_product(&rest, &s->pose);
        is_same &= s->fit.nb_inside >= LEAST_OVERLAP * s->fit.nb_all;
    }
    ff_gpume_result_uninit(&result);
    free_picture(&s->aligned);
    if (ret >= 0 && !is_same)
        ret = set_key(s, &f->picture);
    rest      = ff_mvstab_product(&s->key_pose, &s->pose);
    f->matrix = ff_mvstab_inverse(&rest);
    rest      = ff_mvstab_product(&s->before, &s->key_pose);
    f->step.motion = ff_mvstab_product(&rest, &s->pose);
    s->nb_known++;
    return ret;
}

/*
 * Reads the motion of a frame relative to another from a search.
 * @return whether both show the same
 */
static int read_motion(Mvstab *s, Frame *f, const GpumeResult *result)
{
    f->step.motion  = ff_mvstab_identity;
    f->step.inliers = 0;
    if (!result->set.nb)
        return 0;
    ff_mvstab_fit_read(&s->fit, gpume_field_mvs(&result->set, 0), (const MvstabTensor *)f->picture.tensors->data, NULL);
    if (!ff_mvstab_agrees(&s->fit))
        return 0;
    f->step.inliers = ff_mvstab_fit(&s->fit, &f->step.motion, s->cfg.model);
    return 1;
}

/* Returns the number of frames that are known, or are being searched in the key frame. */
static int64_t nb_decided(const Mvstab *s)
{
    return s->nb_known + !!s->aligned.frame;
}

/* Holds the path in the frames that are not yet decided on, up to a frame. */
static void hold(const Mvstab *s, int64_t end)
{
    for (int64_t i = nb_decided(s); i < end; i++) {
        frame_at(s, i)->step.motion  = ff_mvstab_identity;
        frame_at(s, i)->step.inliers = 0;
    }
}

/* Searches a frame that does not continue the path in the last frame that did. Returns whether the path continues. */
static int find_again(Mvstab *s, Frame *f)
{
    const MvstabStep step = f->step;
    GpumeResult result = { NULL };
    int ret = end_locating(s);

    if (ret >= 0)
        ret = search_pair(s, f->picture.frame, s->anchor);
    if (ret >= 0)
        ret = ff_gpume_engine_pull(s->pair_engine, &result);
    if (ret >= 0)
        ret = read_motion(s, f, &result) && f->step.inliers > 0;
    ff_gpume_result_uninit(&result);
    if (!ret)
        f->step = step;
    return ret;
}

/*
 * Finds the step of a frame that was searched in the frame before. A frame that does not agree with that, or follows
 * one that did not, is lost: the path is held until a frame agrees with the last one that was not lost. If instead
 * enough frames agree with each other, they begin a shot.
 */
static int find_step(Mvstab *s, Frame *f, const GpumeResult *result)
{
    const int64_t number = s->nb_searched;
    const int agrees = read_motion(s, f, result);
    int ret = 0;

    f->step.begins = !number;
    if (number && (s->run || !agrees)) {
        if (!agrees)
            hold(s, number);
        s->run = agrees ? s->run + 1 : 1;
        s->has_texture = ff_mvstab_has_texture(&s->fit);
        ret = s->has_texture ? find_again(s, f) : 0;
        if (ret > 0)
            hold(s, number);
        else if (!ret && s->run == RUN)
            frame_at(s, number - RUN + 1)->step.begins = ret = 1;
        s->run *= ret <= 0;
    }
    if (ret < 0 || s->run)
        return FFMIN(ret, 0);
    av_frame_free(&s->anchor);
    s->anchor = av_frame_clone(f->picture.frame);
    return s->anchor ? 0 : AVERROR(ENOMEM);
}

/*
 * Decides on the frames that were searched, without those that wait for frames after them. The last one may still be
 * searched in the key frame, while the step of the next one is found.
 */
static int decide(Mvstab *s)
{
    const int64_t end = s->nb_searched - s->run;
    int ret = 0;

    if (s->cfg.mode != MVSTAB_TRIPOD)
        s->nb_known = end;
    while (ret >= 0 && nb_decided(s) < end) {
        ret = end_locating(s);
        if (ret >= 0)
            ret = begin_locating(s);
    }
    return ret >= 0 && s->sequence.flushed && end == s->sequence.nb_in ? end_locating(s) : ret;
}

/* Takes the result of the search of the next frame. */
static int take_result(Mvstab *s, const GpumeResult *result)
{
    Frame *f = frame_at(s, s->nb_searched);
    const int ret = f->is_given ? 0 : find_step(s, f, result);

    f->step.begins |= !s->nb_searched;
    s->nb_searched++;
    return ret < 0 ? ret : decide(s);
}

/* Takes the results of searches. */
static int take_searched(Mvstab *s)
{
    GpumeResult result;
    int ret = AVERROR(EAGAIN);

    while (s->engine && (ret = ff_gpume_engine_pull(s->engine, &result)) >= 0) {
        ret = take_result(s, &result);
        ff_gpume_result_uninit(&result);
        if (ret < 0)
            return ret;
    }
    if (ret != AVERROR(EAGAIN) && ret != AVERROR_EOF)
        return ret;
    if (s->sequence.flushed && s->nb_searched == s->sequence.nb_in) {
        /* frames behind a cut at the end are too few to agree in a row */
        if (s->run && s->has_texture)
            frame_at(s, s->nb_searched - s->run)->step.begins = 1;
        else
            hold(s, s->nb_searched);
        s->run = 0;
    }
    return decide(s);
}

int ff_mvstab_push(Mvstab *s, AVFrame **frame, const MvstabInput *input)
{
    Frame *f;
    int ret;

    if (s->sequence.flushed)
        forget(s);
    if (s->sequence.nb_in - s->nb_out >= s->size - s->cfg.smoothing)
        return AVERROR_BUG;
    ret = ff_gpume_sequence_set_layout(&s->sequence, *frame);
    if (ret > 0)
        ret = ff_mvstab_fit_init(&s->fit, (*frame)->width, (*frame)->height);
    f   = frame_at(s, s->sequence.nb_in);
    *f  = (Frame) { .passes = input->passes, .is_given = !!input->step };
    if (input->step)
        f->step = *input->step;
    f->step.time = input->time;
    if (ret >= 0)
        ret = backend_of(s)->load(s->sequence.priv, &f->picture, *frame);
    if (ret < 0)
        return ret;
    for (int i = 0; i < AV_NUM_DATA_POINTERS; i++) {
        av_buffer_unref(&(*frame)->buf[i]);
        (*frame)->data[i] = NULL;
    }
    FFSWAP(AVFrame *, f->frame, *frame);
    s->sequence.nb_in++;
    if (input->step)
        return take_result(s, NULL);
    ret = open_engine(s, &s->engine, f->picture.frame, 0);
    return ret < 0 ? ret : ff_gpume_engine_push_clone(s->engine, f->picture.frame, 1);
}

void ff_mvstab_flush(Mvstab *s)
{
    s->sequence.flushed = 1;
    if (s->engine)
        ff_gpume_engine_flush(s->engine);
}

/* Returns the first frame of a frame's shot, or number - radius if that is later. */
static int64_t first_of(const Mvstab *s, int64_t number, int radius)
{
    int64_t i = number;

    while (i > 0 && i > number - radius && !step_at(s, i)->begins)
        i--;
    return i;
}

/* Returns the last frame of a frame's shot, or number + radius if that is earlier; -1: that is not yet known. */
static int64_t last_of(const Mvstab *s, int64_t number, int radius)
{
    int64_t i = number;

    while (i < number + radius) {
        if (i + 1 == s->nb_known)
            return s->sequence.flushed && s->nb_known == s->sequence.nb_in ? i : -1;
        if (step_at(s, i + 1)->begins)
            break;
        i++;
    }
    return i;
}

/* Returns where a path of least acceleration is at a frame. */
static MvstabMatrix follow(const Mvstab *s, const MvstabWindow *w, int64_t number)
{
    MvstabMatrix before[2] = { ff_mvstab_identity }, to = ff_mvstab_identity;
    int nb = 0;

    for (; nb < 2 && !step_at(s, number - nb)->begins; nb++) {
        const MvstabMatrix move = ff_mvstab_inverse(&step_at(s, number - nb)->motion);

        to         = ff_mvstab_product(&to, &move);
        before[nb] = ff_mvstab_product(&to, &frame_at(s, number - nb - 1)->matrix);
    }
    return ff_mvstab_follow(w, number, before, nb);
}

/* Finds the matrix of the next frame. Returns 1, or 0 if more input is needed. */
static int smooth_next(Mvstab *s)
{
    const int64_t number = s->nb_smoothed;
    const MvstabWindow w = {
        .step = step_at, .opaque = s, .radius = s->cfg.smoothing, .first = first_of(s, number, s->cfg.smoothing),
        .last = last_of(s, number, s->cfg.mode == MVSTAB_TRIPOD ? 0 : s->cfg.smoothing),
    };
    Frame *f = frame_at(s, number);
    const GpumeLayout *l = &s->sequence.layout;

    if (number >= s->nb_known || w.last < 0)
        return 0;
    if (s->cfg.mode == MVSTAB_SMOOTH)
        f->matrix = ff_mvstab_smooth(&w, number);
    else if (s->cfg.mode == MVSTAB_FOLLOW)
        f->matrix = follow(s, &w, number);
    ff_mvstab_limit(&f->matrix, &s->cfg.limits);
    if (zoom_radius(s))
        f->zoom = ff_mvstab_zoom(&f->matrix, l->w, l->h, MVSTAB_MAX_ZOOM);
    if (!f->step.begins)
        f->zoom = FFMAX(f->zoom, frame_at(s, number - 1)->zoom);
    s->nb_smoothed++;
    return 1;
}

/*
 * Returns the zoom of a frame that is output. It grows with what the frames of the shot need, and begins to grow
 * early enough.
 */
static double zoom_of(const Mvstab *s, int64_t number, int64_t last)
{
    const int radius = zoom_radius(s);
    const int64_t first = first_of(s, number, radius);
    double sum = 0, weights = 0;

    if (!radius)
        return s->cfg.zoom > 0 ? s->cfg.zoom : 1;
    for (int i = -radius; i <= radius; i++) {
        const double weight = mvstab_weight(i / (radius + 1.));

        sum     += weight * frame_at(s, FFMIN(FFMAX(number + i, first) + radius, last))->zoom;
        weights += weight;
    }
    return sum / weights;
}

int ff_mvstab_next(Mvstab *s, MvstabNext *next)
{
    const int64_t number = s->nb_out;
    const Frame *f;
    int64_t last;
    int ret = take_searched(s);

    if (ret < 0)
        return ret;
    while (smooth_next(s))
        continue;
    if (number >= s->nb_smoothed)
        return 0;
    last = last_of(s, number, 2 * zoom_radius(s));
    if (last < 0 || last >= s->nb_smoothed)
        return 0;
    f     = frame_at(s, number);
    *next = (MvstabNext) { .step = &f->step, .matrix = ff_mvstab_identity };
    if (!f->passes) {
        const double zoom = zoom_of(s, number, last);

        for (int i = 0; i < 8; i++)
            next->matrix.m[i] = i % 3 == 2 ? f->matrix.m[i] : f->matrix.m[i] / zoom;
    }
    return 1;
}

/* Sets the positions of chroma samples, and the samples of black. */
static void describe(const Mvstab *s, MvstabWarp *warp, const AVFrame *frame)
{
    const GpumeLayout *l = &s->sequence.layout;
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(l->format);
    const int is_rgb  = !!(desc->flags & AV_PIX_FMT_FLAG_RGB);
    const int is_full = is_rgb || frame->color_range == AVCOL_RANGE_JPEG;
    const int alpha   = desc->flags & AV_PIX_FMT_FLAG_ALPHA ? l->nb_components - 1 : -1;

    if (av_chroma_location_enum_to_pos(&warp->chroma_x, &warp->chroma_y, frame->chroma_location) < 0) {
        warp->chroma_x = 0;
        warp->chroma_y = 128;
    }
    for (int i = 0; i < l->nb_components; i++)
        warp->black[i] = i == alpha || is_full && (!i || is_rgb) ? 0 : (i ? 128 : 16) << (l->depth - 8);
}

AVFrame *ff_mvstab_take(Mvstab *s)
{
    AVFrame *frame = NULL;

    FFSWAP(AVFrame *, frame, frame_at(s, s->nb_out)->frame);
    return frame;
}

int ff_mvstab_make(Mvstab *s, AVFrame *out)
{
    Frame *f = frame_at(s, s->nb_out);
    MvstabWarp warp = { .border = f->passes ? MVSTAB_CROP : s->cfg.border };
    MvstabNext next;
    int ret = ff_mvstab_next(s, &next);

    if (ret < 1)
        return ret < 0 ? ret : AVERROR_BUG;
    warp.matrix = next.matrix;
    warp.before = f->step.begins ? NULL : s->last_out;
    describe(s, &warp, out);
    ret = backend_of(s)->warp(s->sequence.priv, out, f->picture.frame, &warp);
    if (ret >= 0 && s->cfg.border == MVSTAB_KEEP) {
        av_frame_free(&s->last_out);
        s->last_out = av_frame_clone(out);
        ret = s->last_out ? 0 : AVERROR(ENOMEM);
    }
    if (ret < 0)
        return ret;
    av_frame_free(&f->frame);
    free_picture(&f->picture);
    s->nb_out++;
    return 0;
}
