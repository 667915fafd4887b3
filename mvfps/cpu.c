/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes pictures in system memory. Each step is done in rows by all threads.
 */

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvfps/backend.h"
#include "libavfilter/gpume/mvfps/blend.h"
#include "libavfilter/gpume/mvfps/fields.h"
#include "libavfilter/gpume/mvfps/mci.h"
#include "libavfilter/gpume/mvfps/scene.h"
#include "libavfilter/gpume/util/tasks.h"

/** Parts of a job that each of several threads gets on average: rows do not all take as long. */
#define PARTS 4

/** Tasks for a picture at most. */
#define MAX_TASKS 6

/** A frame of a pair and what is made of it, which is kept while it is in a pair. */
typedef struct Side {
    MvfpsHeld held;
    GpumePadded picture;
    MvfpsFrameFields fields;
} Side;

typedef struct CPUBackend {
    const MvfpsConfig *cfg;
    const MvfpsPair *pair;
    MvfpsInstant instant;
    Side sides[2];
    int before;                 ///< which side is the one before

    MvfpsVector *vectors[2];    ///< the first ones, and those after the pass
    unsigned vectors_allocated[2];
    MvfpsChange *changes;
    unsigned changes_allocated;
    MvfpsVector *offsets;
    unsigned offsets_allocated;

    /* of the work that is being done */
    AVFrame *out;
    int part;
    int accelerated;
    GpumeScheduler scheduler;
    GpumeTask tasks[MAX_TASKS];
    GpumeTask *task_list[MAX_TASKS];
    int nb_tasks;
} CPUBackend;

static av_cold int init(void *priv, const MvfpsConfig *cfg)
{
    CPUBackend *s = priv;

    s->cfg = cfg;
    s->scheduler.executor = cfg->executor;
    return 0;
}

static void forget_sides(CPUBackend *s)
{
    for (int i = 0; i < 2; i++) {
        av_frame_free(&s->sides[i].held.frame);
        ff_gpume_padded_free(&s->sides[i].picture);
        ff_mvfps_fields_free(&s->sides[i].fields);
    }
}

static av_cold void uninit(void *priv)
{
    CPUBackend *s = priv;

    forget_sides(s);
    for (int i = 0; i < 2; i++)
        av_freep(&s->vectors[i]);
    av_freep(&s->changes);
    av_freep(&s->offsets);
}

static int set_layout(void *priv, const GpumeLayout *layout)
{
    CPUBackend *s = priv;

    forget_sides(s);
    s->instant.layout = layout;
    s->instant.fields = (MvfpsFields) { mvfps_cells(layout->w), mvfps_cells(layout->h) };
    ff_mvfps_dsp_init(&s->instant.dsp, layout->bytes);
    return (int64_t)s->instant.fields.cols * s->instant.fields.rows > INT_MAX / 64 ? AVERROR(ENOMEM) : 0;
}

/* Adds a task in parts, which needs all of the one before. */
static void add_task(CPUBackend *s, void (*run)(void *arg, int worker, int start, int end), void *arg, int nb_units)
{
    const int i = s->nb_tasks++;

    s->tasks[i]     = (GpumeTask) { run, .arg = arg, .nb_units = nb_units, .needs = { i ? &s->tasks[i - 1] : NULL } };
    s->task_list[i] = &s->tasks[i];
}

static void run_tasks(CPUBackend *s)
{
    GpumeTaskList list = { s->task_list, s->nb_tasks };
    GpumeTaskList *const lists[] = { &list };

    ff_gpume_tasks_run(&s->scheduler, lists, 1);
    s->nb_tasks = 0;
}

/* Returns into how many parts rows are divided. */
static int nb_parts(const CPUBackend *s, int rows)
{
    return FFMIN(PARTS * (int64_t)s->cfg->executor.nb_threads, rows);
}

static int first_row(int rows, int part, int nb)
{
    return rows * (int64_t)part / nb;
}

static int begin(void *priv, const MvfpsPair *pair, enum MvfpsMode mode)
{
    CPUBackend *s  = priv;
    MvfpsFields *f = &s->instant.fields;
    const MvfpsFrameFields *before, *after;
    int ret;

    s->pair = pair;
    if (mode != MVFPS_MCI)
        return 0;
    /* mostly the one before was the one after */
    if (mvfps_same_samples(s->sides[!s->before].held.frame, pair->before))
        s->before = !s->before;
    for (int i = 0; i < 2; i++) {
        Side *side = &s->sides[s->before ^ i];

        ret = mvfps_hold(&side->held, i ? pair->after : pair->before);
        if (ret >= 0 && !side->held.read)
            ret = ff_mvfps_fields_read(&side->fields, side->held.frame, pair->layout->w, pair->layout->h);
        if (ret < 0)
            return ret;
        side->held.read = 1;
    }
    before = &s->sides[s->before].fields;
    after  = &s->sides[!s->before].fields;
    f->before_future = mvfps_cells_of(before, 1);
    f->after_past    = mvfps_cells_of(after,  0);
    f->before_past   = mvfps_cells_of(before, 0);
    f->after_future  = mvfps_cells_of(after,  1);
    s->instant.rates = pair->rates;
    s->accelerated   = mvfps_is_accelerated(&s->instant);
    return f->before_future || f->after_past;
}

static int look(void *priv, enum MvfpsMode mode, enum MvfpsMode cut, double scene)
{
    const CPUBackend *s = priv;

    return ff_mvfps_scene_figure(s->pair->layout, s->pair->before, s->pair->after) >= scene ? cut : mode;
}

typedef struct LoadArg {
    Side *side;
    const GpumeLayout *layout;
    int nb;
} LoadArg;

static void load_parts(void *opaque, int worker, int start, int end)
{
    const LoadArg *arg = opaque;

    for (; start < end; start++)
        ff_gpume_padded_load(&arg->side->picture, arg->layout, arg->side->held.frame, start, arg->nb);
}

static void first_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    ff_mvfps_first(&s->instant, s->vectors[0], start, end);
}

static void pass_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    ff_mvfps_pass(&s->instant, s->vectors[0], s->vectors[1], start, end);
    if (s->accelerated)
        ff_mvfps_changes(&s->instant, s->vectors[1], s->changes, start, end);
}

static void offset_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    ff_mvfps_offsets(&s->instant, s->vectors[1], s->changes, s->offsets, start, end);
}

static void compensate_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    ff_mvfps_compensate(&s->instant, s->vectors[1], s->accelerated ? s->offsets : NULL, s->out, start, end);
}

/* All that the jobs for a picture need. */
static int alloc_memory(CPUBackend *s)
{
    const size_t nb = (size_t)s->instant.fields.cols * s->instant.fields.rows;
    int ret;

    for (int i = 0; i < 2; i++) {
        GpumePadded *picture = &s->sides[i].picture;

        if (!picture->memory && (ret = ff_gpume_padded_alloc(picture, s->instant.layout)) < 0)
            return ret;
        av_fast_malloc(&s->vectors[i], &s->vectors_allocated[i], nb * sizeof(**s->vectors));
        if (!s->vectors[i])
            return AVERROR(ENOMEM);
    }
    if (!s->accelerated)
        return 0;
    av_fast_malloc(&s->changes, &s->changes_allocated, nb * sizeof(*s->changes));
    av_fast_malloc(&s->offsets, &s->offsets_allocated, nb * sizeof(*s->offsets));
    return s->changes && s->offsets ? 0 : AVERROR(ENOMEM);
}

static int compensate(CPUBackend *s)
{
    const int rows = s->instant.fields.rows;
    const int ret  = alloc_memory(s);
    LoadArg loads[2];

    if (ret < 0)
        return ret;
    s->instant.before = &s->sides[s->before].picture;
    s->instant.after  = &s->sides[!s->before].picture;
    s->instant.part   = av_clip(s->part, 1, MVFPS_PARTS - 1);
    for (int i = 0; i < 2; i++) {
        loads[i] = (LoadArg) { &s->sides[i], s->instant.layout, nb_parts(s, s->instant.layout->h) };
        if (!s->sides[i].held.loaded)
            add_task(s, load_parts, &loads[i], loads[i].nb);
    }
    add_task(s, first_rows, s, rows);
    add_task(s, pass_rows,  s, rows);
    if (s->accelerated)
        add_task(s, offset_rows, s, rows);
    add_task(s, compensate_rows, s, mvfps_tile_rows(s->instant.layout));
    run_tasks(s);
    s->sides[0].held.loaded = s->sides[1].held.loaded = 1;
    return 0;
}

static void blend_parts(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;
    const GpumeLayout *l = s->instant.layout;
    const int nb = nb_parts(s, l->h);

    for (int i = 0; i < l->nb_components; i++) {
        const int h = l->components[i].h;

        ff_mvfps_blend(l, &l->components[i], s->out, s->pair->before, s->pair->after, s->part,
                       first_row(h, start, nb), first_row(h, end, nb));
    }
}

static int make(void *priv, AVFrame *out, int part, enum MvfpsMode mode)
{
    CPUBackend *s = priv;
    s->out  = out;
    s->part = part;
    if (mode == MVFPS_MCI)
        return compensate(s);
    add_task(s, blend_parts, s, nb_parts(s, s->instant.layout->h));
    run_tasks(s);
    return 0;
}

const MvfpsBackend ff_mvfps_backend_cpu = {
    .priv_size  = sizeof(CPUBackend),
    .hw_format  = AV_PIX_FMT_NONE,
    .init       = init,
    .set_layout = set_layout,
    .begin      = begin,
    .look       = look,
    .make       = make,
    .uninit     = uninit,
};
