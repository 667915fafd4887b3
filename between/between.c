/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/between/between.h"
#include "libavfilter/gpume/between/blend.h"
#include "libavfilter/gpume/between/fields.h"
#include "libavfilter/gpume/between/layout.h"
#include "libavfilter/gpume/between/mci.h"
#include "libavfilter/gpume/between/scene.h"

/** Passes of propagation. */
#define PASSES 1

struct MvfpsBetween {
    MvfpsConfig cfg;
    MvfpsLayout layout;
    MvfpsInstant instant;

    MvfpsFieldsMemory fields;
    MvfpsPicture pictures[2];
    AVFrame *loaded[2];         ///< the frames that pictures are copies of
    int before;                 ///< which picture is the one before

    MvfpsVector *vectors[2];    ///< a field, and that of the pass before
    unsigned vectors_allocated[2];

    /* of the work that is being done */
    AVFrame *out;
    const AVFrame *frames[2];
    int part;
    const MvfpsVector *from;
    MvfpsVector *to;
    const AVFrame *frame;
    MvfpsPicture *picture;
};

av_cold MvfpsBetween *ff_mvfps_open(const MvfpsConfig *cfg)
{
    MvfpsBetween *s = av_mallocz(sizeof(*s));

    if (!s)
        return NULL;
    s->cfg           = *cfg;
    s->layout.format = AV_PIX_FMT_NONE;
    return s;
}

static void forget_pictures(MvfpsBetween *s)
{
    for (int i = 0; i < 2; i++) {
        av_frame_free(&s->loaded[i]);
        ff_mvfps_picture_free(&s->pictures[i]);
    }
}

av_cold void ff_mvfps_close(MvfpsBetween **between)
{
    MvfpsBetween *s = *between;

    if (!s)
        return;
    forget_pictures(s);
    ff_mvfps_fields_free(&s->fields);
    for (int i = 0; i < 2; i++)
        av_freep(&s->vectors[i]);
    av_freep(between);
}

/* As many parts as threads, but none without rows. */
static void execute(MvfpsBetween *s, GpumeJob job, int rows)
{
    s->cfg.execute(s->cfg.opaque, job, s, av_clip(s->cfg.nb_threads, 1, rows));
}

static int first_row(int rows, int job, int nb_jobs)
{
    return rows * (int64_t)job / nb_jobs;
}

int ff_mvfps_read(MvfpsBetween *s, const AVFrame *before, const AVFrame *after)
{
    if (s->layout.format != before->format || s->layout.w != before->width || s->layout.h != before->height) {
        forget_pictures(s);
        ff_mvfps_layout_init(&s->layout, before->format, before->width, before->height);
        ff_mvfps_dsp_init(&s->instant.dsp, s->layout.bytes);
    }
    return ff_mvfps_fields_read(&s->instant.fields, &s->fields, before, after, s->layout.w, s->layout.h);
}

double ff_mvfps_scene(MvfpsBetween *s, const AVFrame *before, const AVFrame *after)
{
    return ff_mvfps_scene_figure(&s->layout, before, after);
}

static void load_job(void *arg, int job, int nb_jobs)
{
    MvfpsBetween *s = arg;

    ff_mvfps_picture_load(s->picture, &s->layout, s->frame, job, nb_jobs);
}

static int is_loaded(const MvfpsBetween *s, int i, const AVFrame *frame)
{
    /* the frame is held, so no other one can be at the same place */
    return s->loaded[i] && s->loaded[i]->data[0] == frame->data[0];
}

static int load(MvfpsBetween *s, int i, const AVFrame *frame)
{
    int ret;

    if (is_loaded(s, i, frame))
        return 0;
    av_frame_free(&s->loaded[i]);
    if (!s->pictures[i].memory && (ret = ff_mvfps_picture_alloc(&s->pictures[i], &s->layout)) < 0)
        return ret;
    s->picture = &s->pictures[i];
    s->frame   = frame;
    execute(s, load_job, s->layout.h);
    s->loaded[i] = av_frame_clone(frame);
    return s->loaded[i] ? 0 : AVERROR(ENOMEM);
}

static void begin_job(void *arg, int job, int nb_jobs)
{
    MvfpsBetween *s = arg;
    const int rows = s->instant.fields.rows;

    ff_mvfps_begin(&s->instant, s->to, first_row(rows, job, nb_jobs), first_row(rows, job + 1, nb_jobs));
}

static void pass_job(void *arg, int job, int nb_jobs)
{
    MvfpsBetween *s = arg;
    const int rows = s->instant.fields.rows;

    ff_mvfps_pass(&s->instant, s->from, s->to, first_row(rows, job, nb_jobs), first_row(rows, job + 1, nb_jobs));
}

static void compensate_job(void *arg, int job, int nb_jobs)
{
    MvfpsBetween *s = arg;
    const int rows = mvfps_tile_rows(&s->layout);

    ff_mvfps_compensate(&s->instant, s->from, s->out, first_row(rows, job, nb_jobs),
                        first_row(rows, job + 1, nb_jobs));
}

static int compensate(MvfpsBetween *s, const AVFrame *before, const AVFrame *after)
{
    const MvfpsFields *f = &s->instant.fields;
    const size_t size = (size_t)f->cols * f->rows * sizeof(**s->vectors);
    int ret;

    /* mostly the one before was the one after */
    if (is_loaded(s, !s->before, before))
        s->before = !s->before;
    ret = load(s, s->before, before);
    if (ret >= 0)
        ret = load(s, !s->before, after);
    if (ret < 0)
        return ret;
    for (int i = 0; i < 2; i++) {
        av_fast_malloc(&s->vectors[i], &s->vectors_allocated[i], size);
        if (!s->vectors[i])
            return AVERROR(ENOMEM);
    }

    s->instant.layout = &s->layout;
    s->instant.before = &s->pictures[s->before];
    s->instant.after  = &s->pictures[!s->before];
    s->instant.part   = av_clip(s->part, 1, MVFPS_PARTS - 1);
    s->to             = s->vectors[0];
    execute(s, begin_job, f->rows);
    for (int i = 0; i < PASSES; i++) {
        s->from = s->vectors[i & 1];
        s->to   = s->vectors[~i & 1];
        execute(s, pass_job, f->rows);
    }
    s->from = s->to;
    execute(s, compensate_job, mvfps_tile_rows(&s->layout));
    return 0;
}

static void blend_job(void *arg, int job, int nb_jobs)
{
    MvfpsBetween *s = arg;

    for (int i = 0; i < s->layout.nb_components; i++) {
        const int h = s->layout.components[i].h;

        ff_mvfps_blend(&s->layout, &s->layout.components[i], s->out, s->frames[0], s->frames[1], s->part,
                       first_row(h, job, nb_jobs), first_row(h, job + 1, nb_jobs));
    }
}

int ff_mvfps_make(MvfpsBetween *s, AVFrame *out, const AVFrame *before, const AVFrame *after,
                  int part, enum MvfpsMode mode)
{
    s->out       = out;
    s->frames[0] = before;
    s->frames[1] = after;
    s->part      = part;
    if (mode == MVFPS_MCI)
        return compensate(s, before, after);
    execute(s, blend_job, s->layout.h);
    return 0;
}
