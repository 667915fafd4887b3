/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Interpolates pictures in system memory. All threads compute each step, in rows.
 */

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/field/cells.h"
#include "libavfilter/gpume/mvfps/backend.h"
#include "libavfilter/gpume/mvfps/blend.h"
#include "libavfilter/gpume/mvfps/difference.h"
#include "libavfilter/gpume/mvfps/mci.h"
#include "libavfilter/gpume/core/scene.h"
#include "libavfilter/gpume/picture/held_frame.h"
#include "libavfilter/gpume/util/tasks.h"

/** Fields of a frame: into the previous and into the next picture. */
enum { PAST, FUTURE, NB_FIELDS };

/** A frame of a pair, and data derived from it that is kept while the frame is in a pair. */
typedef struct Side {
    GpumeHeldFrame held;
    GpumePadded picture;
    GpumeDetail detail;
    int has_detail;             ///< whether the detail is that of this frame
    GpumeCellField fields[NB_FIELDS];
    MvfpsVector *cells[NB_FIELDS];
    unsigned cells_allocated[NB_FIELDS];
} Side;

typedef struct CPUBackend {
    const MvfpsConfig *cfg;
    const MvfpsPair *pair;
    MvfpsPhase phase;
    Side sides[2];
    int before;                 ///< index of the side that is the earlier frame

    MvfpsVector *vectors[2];    ///< initial vectors, and vectors after the pass
    unsigned vectors_allocated[2];
    unsigned *sads;             ///< sums of absolute differences of the initial vectors
    unsigned sads_allocated;
    MvfpsCellSums *sums;        ///< sums for each cell
    unsigned sums_allocated;
    int has_sums;               ///< whether sums are those of the pair
    MvfpsChange *changes;
    unsigned changes_allocated;
    MvfpsVector *offsets;
    unsigned offsets_allocated;

    /* the current work */
    AVFrame *out;
    int part;
    int accelerated;
    GpumeScheduler scheduler, look_scheduler;
    GpumeTaskChain chain;
} CPUBackend;

static av_cold int init(void *priv, const void *config, const GpumeLayout *layout)
{
    CPUBackend *s = priv;

    s->cfg = config;
    s->scheduler.executor = s->look_scheduler.executor = s->cfg->executor;
    return 0;
}

static void forget_sides(CPUBackend *s)
{
    for (int i = 0; i < 2; i++) {
        Side *side = &s->sides[i];

        gpume_release_held(&side->held);
        ff_gpume_padded_free(&side->picture);
        ff_gpume_detail_free(&side->detail);
        side->has_detail = 0;
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
    av_freep(&s->sads);
    av_freep(&s->sums);
    av_freep(&s->changes);
    av_freep(&s->offsets);
}

static int set_layout(void *priv, const GpumeLayout *layout)
{
    CPUBackend *s = priv;
    const GpumeCells cells = mvfps_cells(layout->w, layout->h);

    forget_sides(s);
    s->phase.layout = layout;
    s->phase.fields = (MvfpsFields) { cells.cols, cells.rows };
    ff_mvfps_dsp_init(&s->phase.dsp, layout->bytes);
    return (int64_t)s->phase.fields.cols * s->phase.fields.rows > INT_MAX / 64 ? AVERROR(ENOMEM) : 0;
}

static int is_repeat(void *priv, const GpumeLayout *l, const AVFrame *first, const AVFrame *frame)
{
    CPUBackend *s = priv;

    return ff_mvfps_pictures_repeat(l, first, frame, &s->look_scheduler);
}

static int begin(void *priv, const MvfpsPair *pair, enum MvfpsMode mode)
{
    CPUBackend *s = priv;
    const GpumeCells cells = mvfps_cells(pair->layout->w, pair->layout->h);

    s->pair        = pair;
    s->has_sums    = 0;
    s->phase.rates = pair->rates;
    /* usually the earlier frame is the later frame of the previous pair */
    if (gpume_has_samples(&s->sides[!s->before].held, pair->before))
        s->before = !s->before;
    for (int i = 0; i < 2; i++) {
        Side *side = &s->sides[s->before ^ i];
        const AVFrame *frame = i ? pair->after : pair->before;
        int ret;

        side->has_detail &= gpume_has_samples(&side->held, frame);
        ret = gpume_hold(&side->held, frame);
        if (ret < 0)
            return ret;
        for (int j = 0; j < NB_FIELDS && ret; j++)
            ff_gpume_cells_find(&side->fields[j], &cells, side->held.frame, j == PAST ? -1 : 1);
    }
    return mode == MVFPS_MCI && (s->sides[s->before].fields[FUTURE].nb || s->sides[!s->before].fields[PAST].nb);
}

/* Makes the detail of a frame, once. */
static int make_detail(CPUBackend *s, Side *side)
{
    int ret;

    if (side->has_detail)
        return 0;
    if (!side->detail.memory && (ret = ff_gpume_detail_alloc(&side->detail, s->pair->layout)) < 0)
        return ret;
    ff_gpume_detail_make(&side->detail, s->pair->layout, side->held.frame, &s->look_scheduler);
    side->has_detail = 1;
    return 0;
}

static int find_cut(void *priv, enum MvfpsMode mode, enum MvfpsMode cut, double scene)
{
    CPUBackend *s = priv;
    const MvfpsPair *pair = s->pair;
    Side *before = &s->sides[s->before], *after = &s->sides[!s->before];
    int ret = make_detail(s, before);

    if (ret < 0 ||
        (ret = make_detail(s, after)) < 0)
        return ret;
    if (!ff_gpume_scene_is_new(&before->detail, &after->detail, scene))
        return mode;
    return ff_gpume_scene_is_fade(pair->layout, pair->before, pair->after, &s->look_scheduler) ? mode : cut;
}

/* Maps the lists of vectors that have not been read: those of two sides, with two fields each. */
static void map_fields(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    for (; start < end; start++) {
        Side *side = &s->sides[start / NB_FIELDS];

        if (!side->held.read)
            ff_gpume_cells_map(&side->fields[start % NB_FIELDS]);
    }
}

/* Copies pictures and reads cells that have not been loaded. */
static void load_parts(void *arg, int worker, int start, int end)
{
    CPUBackend *s  = arg;
    const int rows = s->phase.fields.rows, nb = ff_gpume_nb_parts(s->cfg->executor.nb_threads, rows);

    for (; start < end; start++)
        for (int i = 0; i < 2; i++) {
            Side *side = &s->sides[i];

            if (!side->held.loaded)
                ff_gpume_padded_load(&side->picture, s->phase.layout, side->held.frame, start, nb);
            for (int j = 0; j < NB_FIELDS && !side->held.read; j++)
                if (side->fields[j].nb)
                    ff_gpume_cells_fill(&side->fields[j], side->cells[j], gpume_first_row(rows, start, nb),
                                        gpume_first_row(rows, start + 1, nb));
        }
}

static void sum_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    ff_mvfps_sums(&s->phase, s->sums, start, end);
}

static void first_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    ff_mvfps_first(&s->phase, s->vectors[0], s->sads, start, end);
}

static void pass_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    ff_mvfps_pass(&s->phase, s->vectors[0], s->sads, s->vectors[1], start, end);
    if (s->accelerated)
        ff_mvfps_changes(&s->phase, s->vectors[1], s->changes, start, end);
}

static void offset_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    ff_mvfps_offsets(&s->phase, s->vectors[1], s->changes, s->offsets, start, end);
}

static void compensate_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    ff_mvfps_compensate(&s->phase, s->vectors[1], s->accelerated ? s->offsets : NULL, s->out, start, end);
}

/* Allocates the memory that the tasks of a picture need. */
static int alloc_memory(CPUBackend *s)
{
    const size_t nb = (size_t)s->phase.fields.cols * s->phase.fields.rows;
    int ret;

    for (int i = 0; i < 2; i++) {
        Side *side = &s->sides[i];

        if (!side->picture.memory && (ret = ff_gpume_padded_alloc(&side->picture, s->phase.layout)) < 0)
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
    av_fast_malloc(&s->sads, &s->sads_allocated, nb * sizeof(*s->sads));
    av_fast_malloc(&s->sums, &s->sums_allocated, nb * sizeof(*s->sums));
    av_fast_malloc(&s->changes, &s->changes_allocated, nb * sizeof(*s->changes));
    av_fast_malloc(&s->offsets, &s->offsets_allocated, nb * sizeof(*s->offsets));
    return s->sads && s->sums && s->changes && s->offsets ? 0 : AVERROR(ENOMEM);
}

static const MvfpsVector *cells_of(const Side *side, int field)
{
    return side->fields[field].nb ? side->cells[field] : NULL;
}

static int compensate(CPUBackend *s)
{
    const int rows = s->phase.fields.rows;
    const Side *before = &s->sides[s->before], *after = &s->sides[!s->before];
    int ret;

    ret = alloc_memory(s);
    if (ret < 0)
        return ret;
    s->phase.before = &before->picture;
    s->phase.after  = &after->picture;
    s->phase.sums   = s->sums;
    s->phase.part   = av_clip(s->part, 1, MVFPS_PARTS - 1);
    s->phase.fields.before_future = cells_of(before, FUTURE);
    s->phase.fields.after_past    = cells_of(after,  PAST);
    s->phase.fields.before_past   = cells_of(before, PAST);
    s->phase.fields.after_future  = cells_of(after,  FUTURE);
    s->accelerated = mvfps_is_accelerated(&s->phase);
    if (!before->held.read || !after->held.read)
        ff_gpume_chain_add(&s->chain, map_fields, s, 2 * NB_FIELDS);
    if (!before->held.loaded || !after->held.loaded || s->chain.nb)
        ff_gpume_chain_add(&s->chain, load_parts, s, ff_gpume_nb_parts(s->cfg->executor.nb_threads, rows));
    if (!s->has_sums)
        ff_gpume_chain_add(&s->chain, sum_rows, s, rows);
    ff_gpume_chain_add(&s->chain, first_rows, s, rows);
    ff_gpume_chain_add(&s->chain, pass_rows, s, rows);
    if (s->accelerated)
        ff_gpume_chain_add(&s->chain, offset_rows, s, rows);
    ff_gpume_chain_add(&s->chain, compensate_rows, s, mvfps_tile_rows(s->phase.layout));
    ff_gpume_chain_run(&s->chain, &s->scheduler);
    for (int i = 0; i < 2; i++)
        s->sides[i].held.loaded = s->sides[i].held.read = 1;
    s->has_sums = 1;
    return 0;
}

static void blend_parts(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;
    const GpumeLayout *l = s->phase.layout;
    const int nb = ff_gpume_nb_parts(s->cfg->executor.nb_threads, l->h);

    for (int i = 0; i < l->nb_components; i++) {
        const int h = l->components[i].h;

        ff_mvfps_blend(l, &l->components[i], s->out, s->pair->before, s->pair->after, s->part,
                       gpume_first_row(h, start, nb), gpume_first_row(h, end, nb));
    }
}

static int make(void *priv, AVFrame *out, int part, enum MvfpsMode mode)
{
    CPUBackend *s = priv;

    s->out  = out;
    s->part = part;
    if (mode == MVFPS_MCI)
        return compensate(s);
    ff_gpume_chain_add(&s->chain, blend_parts, s, ff_gpume_nb_parts(s->cfg->executor.nb_threads, s->phase.layout->h));
    ff_gpume_chain_run(&s->chain, &s->scheduler);
    return 0;
}

const MvfpsBackend ff_mvfps_backend_cpu = {
    .common = {
        .hw_format = AV_PIX_FMT_NONE, .priv_size = sizeof(CPUBackend),
        .init = init, .set_layout = set_layout, .uninit = uninit,
    },
    .is_repeat  = is_repeat,
    .begin      = begin,
    .find_cut   = find_cut,
    .make       = make,
};
