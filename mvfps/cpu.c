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

#include "libavfilter/gpume/field/cells.h"
#include "libavfilter/gpume/mvfps/backend.h"
#include "libavfilter/gpume/mvfps/blend.h"
#include "libavfilter/gpume/mvfps/mci.h"
#include "libavfilter/gpume/mvfps/scene.h"
#include "libavfilter/gpume/picture/held.h"
#include "libavfilter/gpume/util/chain.h"

/** Parts of a job that each of several threads gets on average: rows do not all take as long. */
#define PARTS 4

/** Fields of a frame: into the picture before it, and into the one after. */
enum { PAST, FUTURE, NB_FIELDS };

/** A frame of a pair and what is made of it, which is kept while it is in a pair. */
typedef struct Side {
    GpumeHeld held;
    GpumePadded picture;
    GpumeCellField fields[NB_FIELDS];
    MvfpsVector *cells[NB_FIELDS];
    unsigned cells_allocated[NB_FIELDS];
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
} CPUBackend;

static av_cold int init(void *priv, const MvfpsConfig *cfg)
{
    CPUBackend *s = priv;

    s->cfg = cfg;
    return 0;
}

static void forget_sides(CPUBackend *s)
{
    for (int i = 0; i < 2; i++) {
        Side *side = &s->sides[i];

        gpume_let_go(&side->held);
        ff_gpume_padded_free(&side->picture);
        for (int j = 0; j < NB_FIELDS; j++) {
            ff_gpume_cells_free(&side->fields[j]);
            av_freep(&side->cells[j]);
            side->cells_allocated[j] = 0;
        }
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
    const GpumeCells cells = mvfps_cells(layout->w, layout->h);

    forget_sides(s);
    s->instant.layout = layout;
    s->instant.fields = (MvfpsFields) { cells.cols, cells.rows };
    ff_mvfps_dsp_init(&s->instant.dsp, layout->bytes);
    return (int64_t)s->instant.fields.cols * s->instant.fields.rows > INT_MAX / 64 ? AVERROR(ENOMEM) : 0;
}

/* A job in parts, none of which is without rows. */
static GpumeLink in_parts(const CPUBackend *s, GpumeJob job, void *arg, int rows)
{
    const int nb_threads = s->cfg->executor.nb_threads;

    return (GpumeLink) { job, arg, nb_threads > 1 ? FFMIN(PARTS * (int64_t)nb_threads, rows) : 1 };
}

static int first_row(int rows, int job, int nb_jobs)
{
    return rows * (int64_t)job / nb_jobs;
}

static int begin(void *priv, const MvfpsPair *pair, enum MvfpsMode mode)
{
    CPUBackend *s = priv;
    const GpumeCells cells = mvfps_cells(pair->layout->w, pair->layout->h);

    s->pair          = pair;
    s->instant.rates = pair->rates;
    /* mostly the one before was the one after */
    if (gpume_has_samples(&s->sides[!s->before].held, pair->before))
        s->before = !s->before;
    for (int i = 0; i < 2; i++) {
        Side *side = &s->sides[s->before ^ i];
        const int ret = gpume_hold(&side->held, i ? pair->after : pair->before);

        if (ret < 0)
            return ret;
        for (int j = 0; j < NB_FIELDS && ret; j++)
            ff_gpume_cells_find(&side->fields[j], &cells, side->held.frame, j == PAST ? -1 : 1);
    }
    return mode == MVFPS_MCI && (s->sides[s->before].fields[FUTURE].nb || s->sides[!s->before].fields[PAST].nb);
}

static int look(void *priv, enum MvfpsMode mode, enum MvfpsMode cut, double scene)
{
    const CPUBackend *s = priv;

    return ff_mvfps_scene_figure(s->pair->layout, s->pair->before, s->pair->after, &s->sides[!s->before].fields[PAST],
                                 &s->cfg->executor) >= scene ? cut : mode;
}

/* Of two fields of both sides one each. */
static void map_job(void *arg, int job, int nb_jobs)
{
    CPUBackend *s = arg;
    Side *side    = &s->sides[job / NB_FIELDS];

    if (!side->held.read)
        ff_gpume_cells_map(&side->fields[job % NB_FIELDS]);
}

/* Copies the pictures, and reads the cells, that have not been yet. */
static void load_job(void *arg, int job, int nb_jobs)
{
    CPUBackend *s  = arg;
    const int rows = s->instant.fields.rows;

    for (int i = 0; i < 2; i++) {
        Side *side = &s->sides[i];

        if (!side->held.loaded)
            ff_gpume_padded_load(&side->picture, s->instant.layout, side->held.frame, job, nb_jobs);
        for (int j = 0; j < NB_FIELDS && !side->held.read; j++)
            if (side->fields[j].nb)
                ff_gpume_cells_fill(&side->fields[j], side->cells[j], first_row(rows, job, nb_jobs),
                                    first_row(rows, job + 1, nb_jobs));
    }
}

static void first_job(void *arg, int job, int nb_jobs)
{
    CPUBackend *s = arg;
    const int rows = s->instant.fields.rows;

    ff_mvfps_first(&s->instant, s->vectors[0], first_row(rows, job, nb_jobs), first_row(rows, job + 1, nb_jobs));
}

static void pass_job(void *arg, int job, int nb_jobs)
{
    CPUBackend *s = arg;
    const int rows  = s->instant.fields.rows;
    const int first = first_row(rows, job, nb_jobs), end = first_row(rows, job + 1, nb_jobs);

    ff_mvfps_pass(&s->instant, s->vectors[0], s->vectors[1], first, end);
    if (s->accelerated)
        ff_mvfps_changes(&s->instant, s->vectors[1], s->changes, first, end);
}

static void offsets_job(void *arg, int job, int nb_jobs)
{
    CPUBackend *s = arg;
    const int rows = s->instant.fields.rows;

    ff_mvfps_offsets(&s->instant, s->vectors[1], s->changes, s->offsets, first_row(rows, job, nb_jobs),
                     first_row(rows, job + 1, nb_jobs));
}

static void compensate_job(void *arg, int job, int nb_jobs)
{
    CPUBackend *s = arg;
    const int rows = mvfps_tile_rows(s->instant.layout);

    ff_mvfps_compensate(&s->instant, s->vectors[1], s->accelerated ? s->offsets : NULL, s->out,
                        first_row(rows, job, nb_jobs), first_row(rows, job + 1, nb_jobs));
}

/* Gets all that the jobs for a picture need. */
static int alloc_memory(CPUBackend *s)
{
    const size_t nb = (size_t)s->instant.fields.cols * s->instant.fields.rows;
    int ret;

    for (int i = 0; i < 2; i++) {
        Side *side = &s->sides[i];

        if (!side->picture.memory && (ret = ff_gpume_padded_alloc(&side->picture, s->instant.layout)) < 0)
            return ret;
        av_fast_malloc(&s->vectors[i], &s->vectors_allocated[i], nb * sizeof(**s->vectors));
        if (!s->vectors[i])
            return AVERROR(ENOMEM);
        for (int j = 0; j < NB_FIELDS; j++) {
            if (!side->fields[j].nb)
                continue;
            av_fast_malloc(&side->cells[j], &side->cells_allocated[j], nb * sizeof(**side->cells));
            if (!side->cells[j])
                return AVERROR(ENOMEM);
            if (!side->held.read && (ret = ff_gpume_cells_alloc(&side->fields[j])) < 0)
                return ret;
        }
    }
    av_fast_malloc(&s->changes, &s->changes_allocated, nb * sizeof(*s->changes));
    av_fast_malloc(&s->offsets, &s->offsets_allocated, nb * sizeof(*s->offsets));
    return s->changes && s->offsets ? 0 : AVERROR(ENOMEM);
}

static const MvfpsVector *cells_of(const Side *side, int field)
{
    return side->fields[field].nb ? side->cells[field] : NULL;
}

static int compensate(CPUBackend *s)
{
    const int rows = s->instant.fields.rows;
    const Side *before = &s->sides[s->before], *after = &s->sides[!s->before];
    GpumeLink jobs[6];
    int nb = 0, ret;

    ret = alloc_memory(s);
    if (ret < 0)
        return ret;
    s->instant.before = &before->picture;
    s->instant.after  = &after->picture;
    s->instant.part   = av_clip(s->part, 1, MVFPS_PARTS - 1);
    s->instant.fields.before_future = cells_of(before, FUTURE);
    s->instant.fields.after_past    = cells_of(after,  PAST);
    s->instant.fields.before_past   = cells_of(before, PAST);
    s->instant.fields.after_future  = cells_of(after,  FUTURE);
    s->accelerated = mvfps_is_accelerated(&s->instant);
    if (!before->held.read || !after->held.read)
        jobs[nb++] = (GpumeLink) { map_job, s, 2 * NB_FIELDS };
    if (!before->held.loaded || !after->held.loaded || nb)
        jobs[nb++] = in_parts(s, load_job, s, rows);
    jobs[nb++] = in_parts(s, first_job, s, rows);
    jobs[nb++] = in_parts(s, pass_job,  s, rows);
    if (s->accelerated)
        jobs[nb++] = in_parts(s, offsets_job, s, rows);
    jobs[nb++] = in_parts(s, compensate_job, s, mvfps_tile_rows(s->instant.layout));
    ff_gpume_chain_run(&s->cfg->executor, jobs, nb);
    for (int i = 0; i < 2; i++)
        s->sides[i].held.loaded = s->sides[i].held.read = 1;
    return 0;
}

static void blend_job(void *arg, int job, int nb_jobs)
{
    CPUBackend *s = arg;
    const GpumeLayout *l = s->instant.layout;

    for (int i = 0; i < l->nb_components; i++) {
        const int h = l->components[i].h;

        ff_mvfps_blend(l, &l->components[i], s->out, s->pair->before, s->pair->after, s->part,
                       first_row(h, job, nb_jobs), first_row(h, job + 1, nb_jobs));
    }
}

static int make(void *priv, AVFrame *out, int part, enum MvfpsMode mode)
{
    CPUBackend *s = priv;
    GpumeLink blend;

    s->out  = out;
    s->part = part;
    if (mode == MVFPS_MCI)
        return compensate(s);
    blend = in_parts(s, blend_job, s, s->instant.layout->h);
    ff_gpume_chain_run(&s->cfg->executor, &blend, 1);
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
