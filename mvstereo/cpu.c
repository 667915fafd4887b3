/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds disparities of views in system memory. All threads compute each step, in rows or columns.
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvstereo/backend.h"
#include "libavfilter/gpume/mvstereo/painter.h"
#include "libavfilter/gpume/mvstereo/range.h"
#include "libavfilter/gpume/mvstereo/refine.h"
#include "libavfilter/gpume/mvstereo/temporal.h"
#include "libavfilter/gpume/mvstereo/view.h"
#include "libavfilter/gpume/util/tasks.h"

/** Maximum number of halvings: a picture of 2^31 samples a side is then at most MVSTEREO_COARSE_W wide. */
#define MAX_HALVINGS 24

typedef struct CPUBackend {
    const MvstereoConfig *cfg;
    int w, h;                   ///< 0: not open
    MvstereoPlane luma[2];
    MvstereoCounts (*counts)[2];        ///< counts of each thread for both views
    uint8_t table[256];         ///< luma of the left view that corresponds to luma of the right one
    int is_rough;               ///< both views are smoothed, and matched with tolerance
    MvstereoMatcher matcher;
    MvstereoRefiner refiner;

    /* the range found so far */
    MvstereoRange *range;
    MvstereoPlane halved[2][MAX_HALVINGS];
    MvstereoMatcher coarse_matcher;
    MvstereoRefiner coarse_refiner;

    /* halved views that are matched first */
    MvstereoMatcher half_matcher;
    MvstereoRefiner half_refiner;

    MvstereoTemporal temporal[2];       ///< for maps of the left view and of the right one

    GpumeScheduler scheduler;
    GpumeTaskChain chain;

    /* the current work */
    const MvstereoPair *pair;
    const GpumeLayout *layout;
    int halving;                ///< how often the views that are halved next were halved before
    MvstereoPainter painter;
} CPUBackend;

static av_cold int init(void *priv, const void *config, const GpumeLayout *layout)
{
    CPUBackend *s = priv;

    s->cfg = config;
    s->scheduler.executor = s->cfg->executor;
    return 0;
}

static av_cold void uninit(void *priv)
{
    CPUBackend *s = priv;

    for (int i = 0; i < 2; i++) {
        ff_mvstereo_plane_free(&s->luma[i]);
        ff_mvstereo_temporal_close(&s->temporal[i]);
        for (int j = 0; j < MAX_HALVINGS; j++)
            ff_mvstereo_plane_free(&s->halved[i][j]);
    }
    ff_mvstereo_matcher_close(&s->matcher);
    ff_mvstereo_matcher_close(&s->coarse_matcher);
    ff_mvstereo_matcher_close(&s->half_matcher);
    ff_mvstereo_refiner_close(&s->half_refiner);
    ff_mvstereo_refiner_close(&s->refiner);
    ff_mvstereo_refiner_close(&s->coarse_refiner);
    av_freep(&s->counts);
    s->w = s->h = 0;
}

/* Opens the matcher that finds the range of pictures of this size. */
static int open_coarse(CPUBackend *s)
{
    const int nb = mvstereo_range_halvings(s->w);
    int w = s->w, h = s->h, ret = 0, min, range;

    for (int j = 0; j < nb; j++) {
        w = (w + 1) / 2;
        h = (h + 1) / 2;
        for (int i = 0; i < 2 && ret >= 0; i++)
            ret = s->halved[i][j].memory ? 0 : ff_mvstereo_plane_alloc(&s->halved[i][j], w, h, 1);
    }
    min = mvstereo_range_coarse(w, &range);
    if (ret >= 0)
        ret = ff_mvstereo_matcher_open(&s->coarse_matcher, &s->cfg->executor, w, h, min, range, range,
                                       s->cfg->rows);
    return ret < 0 ? ret : ff_mvstereo_refiner_open(&s->coarse_refiner, w, h);
}

static int open_size(CPUBackend *s, int w, int h)
{
    int ret = 0;

    uninit(s);
    s->w      = w;
    s->h      = h;
    s->counts = av_malloc_array(s->cfg->executor.nb_threads, sizeof(*s->counts));
    if (!s->counts)
        ret = AVERROR(ENOMEM);
    for (int i = 0; i < 2 && ret >= 0; i++)
        ret = ff_mvstereo_plane_alloc(&s->luma[i], w, h, 1);
    if (ret >= 0)
        ret = ff_mvstereo_refiner_open(&s->refiner, w, h);
    for (int i = 0; i < 2 && ret >= 0 && s->cfg->fast; i++)
        ret = ff_mvstereo_plane_alloc(&s->halved[i][0], (w + 1) / 2, (h + 1) / 2, 1);
    if (ret < 0 ||
        s->cfg->fast && (ret = ff_mvstereo_refiner_open(&s->half_refiner, (w + 1) / 2, (h + 1) / 2)) < 0 ||
        s->cfg->min >= s->cfg->max && (ret = open_coarse(s)) < 0)
        uninit(s);
    return ret;
}

/* Copies luma of both views as 8 bits. */
static void load_rows(void *arg, int worker, int first, int end)
{
    CPUBackend *s = arg;

    for (int i = 0; i < 2; i++) {
        for (int y = first; y < end; y++)
            ff_mvstereo_load_row(mvstereo_row8(&s->luma[i], y), &s->pair->views[i], s->layout, y, s->w);
        ff_mvstereo_plane_extend(&s->luma[i], first, end);
    }
}

static void count_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    for (int i = 0; i < 2; i++)
        ff_mvstereo_count(&s->counts[worker][i], &s->luma[i], start, end);
}

/* Returns where luma of a view is smoothed: the map has not been made yet, so its memory is used. */
static const MvstereoPlane *smoothed(const CPUBackend *s, int view)
{
    return view ? &s->refiner.other : &s->refiner.valid;
}

static void smooth_rows(void *arg, int worker, int first, int end)
{
    const CPUBackend *s = arg;

    for (int i = 0; i < 2; i++)
        ff_mvstereo_smooth(smoothed(s, i), &s->luma[i], first, end);
}

static void take_smoothed(void *arg, int worker, int first, int end)
{
    const CPUBackend *s = arg;

    for (int i = 0; i < 2; i++) {
        for (int y = first; y < end; y++)
            memcpy(mvstereo_row8(&s->luma[i], y), mvstereo_row8(smoothed(s, i), y), s->w);
        ff_mvstereo_plane_extend(&s->luma[i], first, end);
    }
}

/* Halves luma of both views, or what was halved before. */
static void halve_rows(void *arg, int worker, int first, int end)
{
    const CPUBackend *s = arg;

    for (int i = 0; i < 2; i++)
        ff_mvstereo_halve(&s->halved[i][s->halving], s->halving ? &s->halved[i][s->halving - 1] : &s->luma[i],
                          first, end);
}

/* Compares the views in brightness, and adds tasks that smooth them if both need it. */
static void prepare(CPUBackend *s)
{
    const int nb = s->cfg->executor.nb_threads;
    MvstereoCounts *counts = s->counts[0];

    memset(s->counts, 0, nb * sizeof(*s->counts));
    ff_gpume_chain_add(&s->chain, load_rows, s, s->h);
    ff_gpume_chain_add(&s->chain, count_rows, s, s->h);
    ff_gpume_chain_run(&s->chain, &s->scheduler);
    for (int i = 1; i < nb; i++)
        for (int v = 0; v < 2; v++) {
            for (int k = 0; k < FF_ARRAY_ELEMS(counts[v].luma); k++)
                counts[v].luma[k] += s->counts[i][v].luma[k];
            for (int k = 0; k < MVSTEREO_NOISES; k++)
                counts[v].noise[k] += s->counts[i][v].noise[k];
        }
    ff_mvstereo_brightness(s->table, &counts[0], &counts[1]);
    s->is_rough = mvstereo_is_rough(counts[0].noise) && mvstereo_is_rough(counts[1].noise);
    if (s->is_rough) {
        ff_gpume_chain_add(&s->chain, smooth_rows, s, s->h);
        ff_gpume_chain_add(&s->chain, take_smoothed, s, s->h);
    }
}

/* Extends the range by that of this pair. */
static void find_range(CPUBackend *s)
{
    const int nb = mvstereo_range_halvings(s->w);
    const MvstereoMatcher *m = &s->coarse_matcher;
    unsigned counts[2 * MVSTEREO_COARSE_W] = { 0 };

    for (s->halving = 0; s->halving < nb; s->halving++) {
        ff_gpume_chain_add(&s->chain, halve_rows, s, s->halved[0][s->halving].h);
        ff_gpume_chain_run(&s->chain, &s->scheduler);
    }
    ff_mvstereo_match(&s->coarse_matcher, nb ? &s->halved[0][nb - 1] : &s->luma[0],
                      nb ? &s->halved[1][nb - 1] : &s->luma[1], s->table, s->is_rough, &s->chain);
    ff_mvstereo_refine(&s->coarse_refiner, m, 0, &s->chain);
    ff_gpume_chain_run(&s->chain, &s->scheduler);
    for (int y = 0; y < m->h; y++) {
        const int16_t *row        = mvstereo_row16(&s->coarse_refiner.disparity, y);
        const uint8_t *confidence = m->confidence + y * (size_t)m->w;

        /* that of a hole is 0 */
        for (int x = 0; x < m->w; x++)
            if (confidence[x])
                counts[(row[x] + MVSTEREO_ONE / 2) / MVSTEREO_ONE]++;
    }
    mvstereo_range_widen(s->range, counts, m->range, m->min, nb, s->counts[0][0].luma);
}

/* Opens the matcher for the range again, and sets how values are painted, if the range has changed. */
static int fit_range(CPUBackend *s)
{
    const int range = FFALIGN(s->range->max - s->range->min, MVSTEREO_LANES);
    int half_min, half_range, ret;

    ff_mvstereo_painter_init(&s->painter, s->cfg, s->range, s->w, s->h);
    if (s->matcher.span == range && s->matcher.min == s->range->min)
        return 0;
    ret = ff_mvstereo_matcher_open(&s->matcher, &s->cfg->executor, s->w, s->h, s->range->min, range,
                                   s->cfg->fast ? MVSTEREO_WINDOW : range, s->cfg->rows);
    if (ret < 0 || !s->matcher.base)
        return ret;
    half_min = mvstereo_halved_range(s->range->min, range, &half_range);
    ret = ff_mvstereo_matcher_open(&s->half_matcher, &s->cfg->executor, (s->w + 1) / 2, (s->h + 1) / 2, half_min,
                                   half_range, half_range, s->cfg->rows);
    if (ret < 0)
        ff_mvstereo_matcher_close(&s->matcher);
    return ret;
}

static void base_rows(void *arg, int worker, int first, int end)
{
    CPUBackend *s = arg;
    const MvstereoMatcher *m = &s->matcher;

    for (int y = first; y < end; y++) {
        const int16_t *row = mvstereo_row16(&s->half_refiner.disparity, y / 2);

        for (int x = 0; x < s->w; x++)
            m->base[y * (ptrdiff_t)s->w + x] = mvstereo_base(row[x / 2], s->half_matcher.min, m->min, m->span);
    }
}

/*
 * Adds tasks that find where the disparities of each sample begin, by those of halved views. Returns the one that
 * matches them: after it, tasks are short, and threads can begin others meanwhile.
 */
static const GpumeTask *find_bases(CPUBackend *s)
{
    const GpumeTask *matched;

    s->halving = 0;
    ff_gpume_chain_add(&s->chain, halve_rows, s, s->halved[0][0].h);
    ff_mvstereo_match(&s->half_matcher, &s->halved[0][0], &s->halved[1][0], s->table, s->is_rough, &s->chain);
    matched = &s->chain.tasks[s->chain.nb - 1];
    ff_mvstereo_refine(&s->half_refiner, &s->half_matcher, 1, &s->chain);
    ff_gpume_chain_add(&s->chain, base_rows, s, s->h);
    return matched;
}

/* Sets what is painted, and where. */
static void set_painter(CPUBackend *s, AVFrame *out)
{
    MvstereoPainter *p = &s->painter;

    p->paint.mirrored = s->pair->right;
    p->disparity      = mvstereo_row16(&s->refiner.disparity, 0);
    p->stride         = s->refiner.disparity.stride;
    p->confidence     = s->matcher.confidence;
    ff_mvstereo_painter_set_out(p, out, s->pair->column);
}

static int make(void *priv, const MvstereoPair *pair, const GpumeLayout *layout, MvstereoRange *range, AVFrame *out)
{
    CPUBackend *s = priv;
    MvstereoTemporal *temporal = &s->temporal[pair->right];
    const GpumeTask *matched = NULL;
    GpumeTask *features;
    int ret = 0;

    if (s->w != pair->w || s->h != pair->h)
        ret = open_size(s, pair->w, pair->h);
    if (ret < 0)
        return ret;
    s->pair   = pair;
    s->layout = layout;
    s->range  = range;
    prepare(s);
    if (s->cfg->min >= s->cfg->max && !pair->same_range)
        find_range(s);
    ret = fit_range(s);
    if (ret >= 0 && s->cfg->temporal)
        ret = ff_mvstereo_temporal_search(temporal, s->cfg, &s->luma[0], &s->chain, &s->scheduler);
    if (ret < 0) {
        s->chain.nb = 0;
        return ret;
    }
    if (s->matcher.base)
        matched = find_bases(s);
    set_painter(s, out);
    features = &s->chain.tasks[s->chain.nb];
    ff_mvstereo_match(&s->matcher, &s->luma[0], &s->luma[1], s->table, s->is_rough, &s->chain);
    if (matched) {
        /* features need no bases */
        features[1].needs[1] = features[0].needs[0];
        features[0].needs[0] = matched;
    }
    ff_mvstereo_refine(&s->refiner, &s->matcher, s->cfg->fill, &s->chain);
    if (s->cfg->temporal)
        ff_mvstereo_temporal_stabilise(temporal, &s->refiner.disparity, &s->matcher, &s->chain);
    ff_gpume_chain_add(&s->chain, ff_mvstereo_paint_rows, &s->painter, s->h);
    ff_gpume_chain_run(&s->chain, &s->scheduler);
    return 0;
}

static int read_map(void *priv, int16_t *map)
{
    const CPUBackend *s = priv;

    for (int y = 0; y < s->h; y++)
        for (int x = 0; x < s->w; x++)
            *map++ = mvstereo_row16(&s->refiner.disparity, y)[mvstereo_paint_column(&s->painter.paint, x)];
    return 0;
}

static int judge(void *priv, int *counts, int wait)
{
    const CPUBackend *s = priv;

    for (int i = 0; i < MVSTEREO_NB_COUNTS; i++)
        counts[i] = atomic_load(&s->refiner.agreement[i]);
    return 1;
}

const MvstereoBackend ff_mvstereo_backend_cpu = {
    .common = {
        .hw_format = AV_PIX_FMT_NONE, .priv_size = sizeof(CPUBackend),
        .init = init, .uninit = uninit,
    },
    .make      = make,
    .read      = read_map,
    .judge     = judge,
};
