/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <math.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvstereo/match.h"
#include "libavfilter/gpume/util/tasks.h"

/** The least width of a strip, in which a thread continues paths from above and below. */
#define MIN_STRIP 16

/** Rows of a band that threads ask for, at most. */
#define MAX_ROWS 64

/** Number of samples whose paths from the left are computed before they are added: they stay in the L1 cache. */
#define RUN 32

/** Distance between data that different threads write: no cache line has data of two threads. */
#define CACHE_LINE 64

/* Returns the number of bytes between rows of paths. */
static size_t path_row(const MvstereoMatcher *m)
{
    return m->w * (size_t)m->path_step;
}

static size_t costs_row(const MvstereoMatcher *m)
{
    return m->w * (size_t)m->range;
}

/*
 * Memory of a thread: a row of paths from the right and a run of paths from the left, both with padding at their ends;
 * their least costs; penalties; features of a row of the right view; sums of a sample; least sums of the right view.
 */
typedef struct Scratch {
    uint8_t *right, *left;
    uint8_t *least_right, *least_left;
    uint8_t *p2;
    uint8_t *features;
    uint16_t *sums, *right_least, *right_index;
} Scratch;

static size_t scratch_layout(Scratch *s, const MvstereoMatcher *m, int job)
{
    const size_t row = FFALIGN(path_row(m) + 3 * m->path_step, 64), run = FFALIGN((RUN + 3) * m->path_step, 64);
    const size_t w   = FFALIGN(m->w + 64, 64), right = w + m->span;
    const size_t features = FFALIGN(MVSTEREO_FEATURES * m->left_plane, 64);
    const size_t sums     = row + run + 3 * w + features;
    uint8_t *at = job >= 0 ? m->scratch + job * m->scratch_size : NULL;

    if (at)
        *s = (Scratch) {
            .right       = at,
            .left        = at + row,
            .least_right = at + row + run,
            .least_left  = at + row + run + w,
            .p2          = at + row + run + 2 * w,
            .features    = at + row + run + 3 * w,
            .sums        = (uint16_t *)(at + sums),
            .right_least = (uint16_t *)(at + sums) + m->range,
            .right_index = (uint16_t *)(at + sums) + m->range + right,
        };
    return FFALIGN(sums + sizeof(uint16_t) * (m->range + 2 * right), 64);
}

/* Sets the padding before the costs of each path and after the last costs. */
static void set_pads(const MvstereoMatcher *m, uint8_t *paths, size_t nb)
{
    for (size_t i = 0; i <= nb; i++)
        memset(paths + i * m->path_step, 255, m->path_step - m->range);
}

/* Returns the path costs at place x of a row. In scratch rows, sample x is at place x + 1. */
static uint8_t *path_at(const MvstereoMatcher *m, uint8_t *row, int x)
{
    return row + (x + 1) * m->path_step - m->range;
}

av_cold void ff_mvstereo_matcher_close(MvstereoMatcher *m)
{
    av_freep(&m->progress);
    ff_mvstereo_plane_free(&m->disparity);
    ff_mvstereo_plane_free(&m->even);
    av_freep(&m->right_index);
    av_freep(&m->confidence);
    av_freep(&m->base);
    av_freep(&m->features[0]);
    av_freep(&m->features[1]);
    av_freep(&m->costs);
    av_freep(&m->other_costs);
    av_freep(&m->above);
    av_freep(&m->below);
    av_freep(&m->above_kept);
    av_freep(&m->below_kept);
    av_freep(&m->ends);
    av_freep(&m->edge);
    av_freep(&m->least_above);
    av_freep(&m->least_below);
    av_freep(&m->least_ends);
    av_freep(&m->least_edge);
    av_freep(&m->scratch);
    memset(m, 0, sizeof(*m));
}

/* Allocates memory with padding, because whole vectors are read and written at its end. */
static av_cold int get(uint8_t **p, size_t size, size_t nb)
{
    *p = nb > SIZE_MAX / 2 / size ? NULL : av_mallocz(size * nb + 64);
    return *p ? 0 : AVERROR(ENOMEM);
}

/* Returns the distance of the least costs of strips. */
static size_t least_strip(const MvstereoMatcher *m)
{
    return FFALIGN(m->strip, CACHE_LINE) + CACHE_LINE;
}

static size_t least_row(const MvstereoMatcher *m)
{
    return m->nb_strips * least_strip(m);
}

static av_cold int get_band(MvstereoMatcher *m)
{
    const size_t paths = path_row(m), w = m->w, nb = m->nb_buffers * (size_t)m->band;
    const size_t nb_paths = m->base ? 2 : nb, nb_kept = m->base ? nb : 0;
    const int threads  = m->executor.nb_threads;
    Scratch unused;

    m->scratch_size = scratch_layout(&unused, m, -1);
    if (get(&m->costs, costs_row(m), nb) < 0 ||
        get(&m->above, paths, nb_paths) < 0 || get(&m->below, paths, nb_paths) < 0 ||
        get(&m->above_kept, costs_row(m), nb_kept) < 0 || get(&m->below_kept, costs_row(m), nb_kept) < 0 ||
        get(&m->ends, paths, m->nb_bands) < 0 || get(&m->edge, paths, 1) < 0 ||
        get(&m->least_above, least_row(m), 1) < 0 || get(&m->least_below, least_row(m), 1) < 0 ||
        get(&m->least_ends, least_row(m), m->nb_bands) < 0 || get(&m->least_edge, least_row(m), 1) < 0 ||
        (m->rows && get(&m->other_costs, costs_row(m), threads) < 0) || get(&m->scratch, m->scratch_size, threads) < 0)
        return AVERROR(ENOMEM);
    set_pads(m, m->above, w * nb_paths);
    set_pads(m, m->below, w * nb_paths);
    set_pads(m, m->ends, w * m->nb_bands);
    set_pads(m, m->edge, w);
    for (int i = 0; i < threads; i++) {
        Scratch s;

        scratch_layout(&s, m, i);
        set_pads(m, s.right, w + 2);
        set_pads(m, s.left, RUN + 2);
    }
    m->progress = av_malloc_array(m->nb_strips + 2 * m->nb_bands, sizeof(*m->progress));
    if (!m->progress)
        return AVERROR(ENOMEM);
    m->strips_done = m->progress + m->nb_strips;
    m->rows_done   = m->strips_done + m->nb_bands;
    return 0;
}

/* Divides the picture into bands and strips. */
static av_cold void divide(MvstereoMatcher *m)
{
    const int threads = m->executor.nb_threads;

    /* several threads match a band while others finish the one before */
    m->nb_buffers = threads > 1 ? 2 : 1;
    /* Memory holds three rows of costs for each row of a buffer (costs, above, below) and one for each band (ends).
     * About sqrt(h / 3 nb_buffers) rows minimize the sum. Threads need more rows, so that they do not wait; the limit
     * keeps memory from growing with any number of them. */
    m->band       = FFMAX(ceil(sqrt(m->h / (3. * m->nb_buffers))), FFMIN(2 * threads, MAX_ROWS));
    m->band       = av_clip(m->band, 2, FFMAX(m->h, 2));
    m->nb_bands   = (m->h + m->band - 1) / m->band;
    /* several strips for each thread, because their times differ; wide ones read features in longer runs */
    m->strip      = threads > 1 ? FFMAX(m->w / (4 * threads), MIN_STRIP) : m->w;
    m->nb_strips  = (m->w + m->strip - 1) / m->strip;
}

av_cold int ff_mvstereo_matcher_open(MvstereoMatcher *m, const GpumeExecutor *executor, int w, int h, int min,
                                     int span, int range, int rows)
{
    const size_t nb = w * (size_t)h;
    int ret;

    ff_mvstereo_matcher_close(m);
    m->executor = *executor;
    m->w        = w;
    m->h        = h;
    m->min      = min;
    m->span     = span;
    m->range    = range;
    m->rows     = rows;
    /* more padding, because take_paths() shifts a neighbour's costs by up to MVSTEREO_WINDOW + 1 */
    m->path_step = mvstereo_path_step(range) + (range < span ? MVSTEREO_WINDOW : 0);
    ff_mvstereo_dsp_init(&m->dsp);
    divide(m);
    m->left_plane  = FFALIGN(w, 16);
    m->right_first = FFMAX(-min, 0);
    m->right_plane = FFALIGN(m->right_first + w + FFMAX(min + span, 0) + MVSTEREO_LANES, 16);
    if ((ret = ff_mvstereo_plane_alloc(&m->disparity, w, h, sizeof(int16_t))) < 0 ||
        (ret = ff_mvstereo_plane_alloc(&m->even, w, h, 1)) < 0 ||
        (ret = get(&m->features[0], MVSTEREO_FEATURES * m->left_plane, h)) < 0 ||
        (ret = get(&m->features[1], MVSTEREO_FEATURES * m->right_plane, h)) < 0 ||
        (ret = get(&m->confidence, w, h)) < 0)
        goto fail;
    m->right_index = av_malloc_array(nb, sizeof(*m->right_index));
    m->base        = range < span ? av_malloc_array(nb, sizeof(*m->base)) : NULL;
    ret = m->right_index && (m->base || range == span) ? get_band(m) : AVERROR(ENOMEM);
    if (ret >= 0)
        return ret;
fail:
    ff_mvstereo_matcher_close(m);
    return ret;
}

static void feature_rows(void *arg, int worker, int first, int end)
{
    const MvstereoMatcher *m = arg;
    Scratch s;

    scratch_layout(&s, m, worker);
    for (int y = first; y < end; y++)
        ff_mvstereo_set_features(m, s.features, y);
    ff_mvstereo_plane_extend(&m->even, first, end);
}

/* Returns the first disparity of a sample, relative to min. */
static int base_of(const MvstereoMatcher *m, int x, int y)
{
    return m->base ? m->base[y * (ptrdiff_t)m->w + x] : 0;
}

/* Sets the costs of samples start to end - 1 of a row, which all have this base. other: a row of scratch memory. */
static void set_costs_from(const MvstereoMatcher *m, uint8_t *row, int y, int start, int end, int base, uint8_t *other)
{
    const size_t size = (end - start) * (size_t)m->range;
    MvstereoCosts c = {
        .costs = row + start * (size_t)m->range,
        .left  = m->features[0] + y * MVSTEREO_FEATURES * m->left_plane + start,
        .left_plane = m->left_plane, .right_plane = m->right_plane, .nb = end - start, .range = m->range,
    };

    for (int i = 0; i < 2 * m->rows + 1; i++) {
        const int right_y = av_clip(y + (i + 1) / 2 * (i % 2 ? -1 : 1), 0, m->h - 1);

        c.right = m->features[1] + right_y * MVSTEREO_FEATURES * m->right_plane + m->right_first +
                  m->w - 1 - start + m->min + base;
        m->dsp.costs(&c);
        if (i)
            for (size_t k = 0; k < size; k++)
                row[start * (size_t)m->range + k] = FFMIN(row[start * (size_t)m->range + k], other[k]);
        c.costs = other;
    }
}

/* Sets the costs of samples start to end - 1 of a row. */
static void set_costs(const MvstereoMatcher *m, uint8_t *row, int y, int start, int end, uint8_t *other)
{
    for (int x = start, next; x < end; x = next) {
        const int base = base_of(m, x, y);

        for (next = m->base ? x + 1 : end; next < end && base_of(m, next, y) == base; next++)
            ;
        set_costs_from(m, row, y, x, next, base, other);
    }
}

/* Sets the penalties of steps between rows. */
static void set_p2(const MvstereoMatcher *m, uint8_t *p2, int y, int other_y, int start, int end)
{
    const uint8_t *a = mvstereo_row8(m->left, y), *b = mvstereo_row8(m->left, other_y);

    for (int x = start; x < end; x++)
        p2[x] = mvstereo_p2(FFABS(a[x] - b[x]));
}

/* A row of paths, and the least costs of a strip of it. */
typedef struct Row {
    uint8_t *paths, *least;
} Row;

/* The part of a band that is in a strip. */
typedef struct Tile {
    int band;
    int first, last;            ///< rows of the picture
    int start, end;             ///< columns
    size_t least;               ///< place of the strip's least costs in rows of them
} Tile;

static Tile tile_of(const MvstereoMatcher *m, int band, int strip)
{
    return (Tile) {
        .band  = band,
        .first = band * m->band,
        .last  = FFMIN((band + 1) * m->band, m->h) - 1,
        .start = strip * m->strip,
        .end   = FFMIN((strip + 1) * m->strip, m->w),
        .least = strip * least_strip(m),
    };
}

static Row edge_row(const MvstereoMatcher *m, const Tile *t)
{
    return (Row) { m->edge, m->least_edge + t->least };
}

/* Returns the place of a row of the picture in the buffers. */
static size_t buffer_row(const MvstereoMatcher *m, int y)
{
    return y / m->band % m->nb_buffers * (size_t)m->band + y % m->band;
}

static uint8_t *costs_of(const MvstereoMatcher *m, int y)
{
    return m->costs + buffer_row(m, y) * costs_row(m);
}

/* Returns the base of a sample minus that of the sample dx, dy away, clipped to a window and one more. */
static int shift_of(const MvstereoMatcher *m, int x, int y, int dx, int dy)
{
    if (x + dx < 0 || x + dx >= m->w || y + dy < 0 || y + dy >= m->h)
        return 0;
    return av_clip(base_of(m, x, y) - base_of(m, x + dx, y + dy), -MVSTEREO_WINDOW - 1, MVSTEREO_WINDOW + 1);
}

/*
 * Continues the paths of samples x, x + p->step, ... of row y from their neighbours dx, dy away. One call of path()
 * takes consecutive samples with the same shift. Changes p.
 */
static void take_paths(const MvstereoMatcher *m, MvstereoPath *p, int x, int y, int dx, int dy)
{
    const ptrdiff_t nb    = p->nb;
    const uint8_t *before = p->before;
    int shift = m->base ? shift_of(m, x, y, dx, dy) : 0, next = 0;

    for (ptrdiff_t done = 0; done < nb; done += p->nb, shift = next) {
        p->before = before + shift;
        for (p->nb = m->base ? 1 : nb; done + p->nb < nb; p->nb++) {
            next = shift_of(m, x + p->nb * p->step, y, dx, dy);
            if (next != shift)
                break;
        }
        m->dsp.path(p);
        x            += p->nb * p->step;
        before       += p->nb * p->path_step;
        p->path      += p->nb * p->path_step;
        p->costs     += p->nb * p->costs_step;
        p->p2        += p->nb * p->step;
        p->least     += p->nb * p->step;
        p->least_before += p->nb * p->step;
    }
}

/* Continues paths of a tile by one step, from the row above (dy = -1) or below (dy = 1). */
static void step_between_rows(const MvstereoMatcher *m, const Tile *t, Row to, Row from, const uint8_t *costs,
                              uint8_t *p2, int y, int dy)
{
    const int start = t->start;
    MvstereoPath p  = {
        .path         = path_at(m, to.paths, start),
        .before       = path_at(m, from.paths, start),
        .costs        = costs + start * (size_t)m->range,
        .p2           = p2 + start,
        .least        = to.least,
        .least_before = from.least,
        .path_step    = m->path_step,
        .costs_step   = m->range,
        .step         = 1,
        .nb           = t->end - start,
        .range        = m->range,
    };

    set_p2(m, p2, y, av_clip(y + dy, 0, m->h - 1), start, t->end);
    take_paths(m, &p, start, y, 0, dy);
}

/* Returns the row below a band. */
static Row end_row(const MvstereoMatcher *m, const Tile *t, int band)
{
    return (Row) { m->ends + band * path_row(m), m->least_ends + band * least_row(m) + t->least };
}

/* Returns the place of a row in above and below. */
static size_t paths_row(const MvstereoMatcher *m, int y)
{
    return (m->base ? y & 1 : buffer_row(m, y)) * path_row(m);
}

static uint8_t *below_paths(const MvstereoMatcher *m, int y)
{
    return m->below + paths_row(m, y);
}

static uint8_t *above_paths(const MvstereoMatcher *m, int y)
{
    return m->above + paths_row(m, y);
}

/*
 * Copies the paths of a row of a tile without padding, if there is a base. Padding would be two thirds of the memory,
 * which then would not fit into the caches.
 */
static void keep_paths(const MvstereoMatcher *m, const Tile *t, uint8_t *kept, uint8_t *paths, int y)
{
    const ptrdiff_t step = m->path_step;

    if (!m->base)
        return;
    kept += buffer_row(m, y) * costs_row(m) + t->start * MVSTEREO_WINDOW;
    paths = path_at(m, paths, t->start);
    for (int nb = t->end - t->start; nb; nb--, kept += MVSTEREO_WINDOW, paths += step)
        memcpy(kept, paths, MVSTEREO_WINDOW);
}

static uint8_t *other_costs(const MvstereoMatcher *m, int worker)
{
    return m->rows ? m->other_costs + worker * costs_row(m) : NULL;
}

/* Computes the paths from below in the row under each band but the last, for the columns of a strip. */
static void find_ends(const MvstereoMatcher *m, int worker, int strip)
{
    const Tile t = tile_of(m, 0, strip);
    Row from = edge_row(m, &t);
    Scratch s;

    scratch_layout(&s, m, worker);
    for (int y = m->h - 1; y >= m->band; y--) {
        const Row to = y % m->band ? (Row) { below_paths(m, y & 1), m->least_below + t.least }
                                   : end_row(m, &t, y / m->band - 1);

        set_costs(m, m->costs, y, t.start, t.end, other_costs(m, worker));
        step_between_rows(m, &t, to, from, m->costs, s.p2, y, 1);
        from = to;
    }
}

/* Computes costs and the paths from above and below of a tile. */
static void match_tile(const MvstereoMatcher *m, int worker, const Tile *t)
{
    Row from = t->band < m->nb_bands - 1 ? end_row(m, t, t->band) : edge_row(m, t);
    Scratch s;

    scratch_layout(&s, m, worker);
    for (int y = t->last; y >= t->first; y--) {
        const Row to = { below_paths(m, y), m->least_below + t->least };

        set_costs(m, costs_of(m, y), y, t->start, t->end, other_costs(m, worker));
        step_between_rows(m, t, to, from, costs_of(m, y), s.p2, y, 1);
        keep_paths(m, t, m->below_kept, to.paths, y);
        from = to;
    }
    from = t->band ? (Row) { above_paths(m, t->first - 1), m->least_above + t->least } : edge_row(m, t);
    for (int y = t->first; y <= t->last; y++) {
        const Row to = { above_paths(m, y), m->least_above + t->least };

        step_between_rows(m, t, to, from, costs_of(m, y), s.p2, y, -1);
        keep_paths(m, t, m->above_kept, to.paths, y);
        from = to;
    }
}

/* Computes the paths of a row from the right. Costs beyond the ends of the row are 0. */
static void step_from_right(const MvstereoMatcher *m, const Scratch *s, int y)
{
    const int w    = m->w;
    MvstereoPath p = {
        .path         = path_at(m, s->right, w),
        .before       = path_at(m, s->right, w + 1),
        .costs        = costs_of(m, y) + (w - 1) * (size_t)m->range,
        .p2           = s->p2 + w,
        .least        = s->least_right + w,
        .least_before = s->least_right + w + 1,
        .path_step    = -m->path_step,
        .costs_step   = -m->range,
        .step         = -1,
        .nb           = w,
        .range        = m->range,
    };

    memset(path_at(m, s->right, w + 1), 0, m->range);
    s->least_right[w + 1] = 0;
    take_paths(m, &p, w - 1, y, 1, 0);
}

/* Computes the paths of a run from the left: those of samples start to end - 1, after those of the run before. */
static void step_from_left(const MvstereoMatcher *m, const Scratch *s, int y, int start, int end)
{
    MvstereoPath p = {
        .path         = path_at(m, s->left, 1),
        .before       = path_at(m, s->left, 0),
        .costs        = costs_of(m, y) + start * (size_t)m->range,
        .p2           = s->p2 + start,
        .least        = s->least_left + 1,
        .least_before = s->least_left,
        .path_step    = m->path_step,
        .costs_step   = m->range,
        .step         = 1,
        .nb           = end - start,
        .range        = m->range,
    };

    if (start)
        memcpy(path_at(m, s->left, 0), path_at(m, s->left, RUN), m->range);
    else
        memset(path_at(m, s->left, 0), 0, m->range);
    s->least_left[0] = start ? s->least_left[RUN] : 0;
    take_paths(m, &p, start, y, -1, 0);
}

/* Chooses the disparity of a sample and its confidence from its sums. */
static void choose(const MvstereoMatcher *m, uint16_t *sums, int least, int base, int16_t *disparity,
                   uint8_t *confidence)
{
    int best = 0, next = INT16_MAX, first, last;

    while (sums[best] != least)
        best++;
    first = FFMAX(best - 1, 0);
    last  = FFMIN(best + 1, m->range - 1);
    *disparity = first < best && best < last ? mvstereo_subpel(base + best, sums[first], least, sums[last])
                                             : (base + best) * MVSTEREO_ONE;
    for (int i = first; i <= last; i++)
        sums[i] = INT16_MAX;
    for (int i = 0; i < m->range; i++)
        next = FFMIN(next, sums[i]);
    *confidence = FFMIN(next - least, 255);
}

/* Adds the paths of samples start to end - 1 of a row, and chooses their disparities. */
static void choose_run(const MvstereoMatcher *m, const Scratch *s, int y, int start, int end)
{
    const ptrdiff_t step  = m->path_step, kept_step = m->base ? m->range : step;
    const size_t kept     = buffer_row(m, y) * costs_row(m) + start * kept_step;
    const int16_t *base   = m->base ? m->base + y * (ptrdiff_t)m->w : NULL;
    uint16_t *right_least = s->right_least + m->w - 1, *right_index = s->right_index + m->w - 1;
    uint8_t *confidence   = m->confidence + y * (size_t)m->w;
    int16_t *disparity    = mvstereo_row16(&m->disparity, y);
    MvstereoSums sums     = {
        .paths = {
            path_at(m, s->left, 1),
            path_at(m, s->right, start + 1),
            m->base ? m->above_kept + kept : path_at(m, above_paths(m, y), start),
            m->base ? m->below_kept + kept : path_at(m, below_paths(m, y), start),
        },
        .sums = s->sums, .range = m->range,
    };

    for (int x = start; x < end; x++) {
        sums.first       = base ? base[x] : 0;
        sums.right_least = right_least - x + sums.first;
        sums.right_index = right_index - x + sums.first;
        choose(m, s->sums, m->dsp.sum(&sums), sums.first, &disparity[x], &confidence[x]);
        sums.paths[0] += step;
        sums.paths[1] += step;
        sums.paths[2] += kept_step;
        sums.paths[3] += kept_step;
    }
}

/* Computes the paths of a row from right and left, and finds its disparities. */
static void match_row(const MvstereoMatcher *m, int worker, int y)
{
    const int right_nb   = m->w + m->span - 1;
    const uint8_t *luma  = mvstereo_row8(m->left, y);
    int16_t *right_index = m->right_index + y * (size_t)m->w;
    Scratch s;

    scratch_layout(&s, m, worker);
    for (int x = 0; x <= m->w; x++)
        s.p2[x] = mvstereo_p2(FFABS(luma[x] - luma[x - 1]));
    for (int i = 0; i < right_nb; i++) {
        s.right_least[i] = INT16_MAX;
        s.right_index[i] = MVSTEREO_NOWHERE;
    }
    step_from_right(m, &s, y);
    for (int start = 0; start < m->w; start += RUN) {
        const int end = FFMIN(start + RUN, m->w);

        step_from_left(m, &s, y, start, end);
        choose_run(m, &s, y, start, end);
    }
    for (int x = 0; x < m->w; x++) {
        const int i = m->w - 1 - m->min - x;

        right_index[x] = i >= 0 && i < right_nb ? s.right_index[i] : MVSTEREO_NOWHERE;
    }
    ff_mvstereo_plane_extend(&m->disparity, y, y + 1);
}

int ff_mvstereo_cost(const MvstereoMatcher *m, int x, int y, int z, int right_y)
{
    const uint8_t *left  = m->features[0] + y * MVSTEREO_FEATURES * m->left_plane + x;
    const uint8_t *right = m->features[1] + av_clip(right_y, 0, m->h - 1) * MVSTEREO_FEATURES * m->right_plane +
                           m->right_first + m->w - 1 - z;
    int cost = 0, i;

    for (i = 0; i < MVSTEREO_NIBBLES; i++)
        cost += av_popcount(left[i * m->left_plane] ^ right[i * m->right_plane]);
    return cost + mvstereo_difference(FFABS(left[i * m->left_plane] - right[i * m->right_plane]),
                                      FFABS(left[(i + 1) * m->left_plane] - right[(i + 1) * m->right_plane]));
}

static int load(const atomic_int *a)
{
    return atomic_load_explicit(a, memory_order_acquire);
}

/* Returns the number of units that find ends or match tiles. Units of a band come after those of the band before. */
static int nb_tiles(const MvstereoMatcher *m)
{
    return m->nb_strips * (1 + m->nb_bands);
}

/* Returns whether a unit of tiles can run: the strip is done up to there, and there is a buffer for the band. */
static int can_match(const MvstereoMatcher *m, int unit)
{
    const int band = unit / m->nb_strips - 1;

    return band < 0 || (load(&m->progress[unit % m->nb_strips]) > band &&
                        (band < m->nb_buffers || load(&m->rows_done[band - m->nb_buffers]) == m->band));
}

/* Takes a row whose band is matched, or a tile. */
static int take_unit(void *arg)
{
    MvstereoMatcher *m = arg;
    int row  = atomic_load_explicit(&m->next_row, memory_order_relaxed);
    int tile = atomic_load_explicit(&m->next_tile, memory_order_relaxed);

    while (row < m->h && load(&m->strips_done[row / m->band]) == m->nb_strips)
        if (atomic_compare_exchange_weak(&m->next_row, &row, row + 1))
            return nb_tiles(m) + row;
    while (tile < nb_tiles(m) && can_match(m, tile))
        if (atomic_compare_exchange_weak(&m->next_tile, &tile, tile + 1))
            return tile;
    return -1;
}

static void do_unit(MvstereoMatcher *m, int worker, int unit)
{
    const int strip = unit % m->nb_strips, band = unit / m->nb_strips - 1;

    if (unit >= nb_tiles(m)) {
        const int y = unit - nb_tiles(m);

        match_row(m, worker, y);
        atomic_fetch_add(&m->rows_done[y / m->band], 1);
        return;
    }
    if (band < 0) {
        find_ends(m, worker, strip);
    } else {
        const Tile t = tile_of(m, band, strip);

        match_tile(m, worker, &t);
        atomic_fetch_add(&m->strips_done[band], 1);
    }
    atomic_fetch_add(&m->progress[strip], 1);
}

static void match_units(void *arg, int worker, int start, int end)
{
    for (int i = start; i < end; i++)
        do_unit(arg, worker, i);
}

void ff_mvstereo_match(MvstereoMatcher *m, const MvstereoPlane *left, const MvstereoPlane *right,
                       const uint8_t table[256], int tolerance, GpumeTaskChain *chain)
{
    m->left      = left;
    m->right     = right;
    m->table     = table;
    m->tolerance = tolerance;
    atomic_init(&m->next_tile, 0);
    atomic_init(&m->next_row, 0);
    for (int i = 0; i < m->nb_strips + 2 * m->nb_bands; i++)
        atomic_init(&m->progress[i], 0);
    ff_gpume_chain_add(chain, feature_rows, m, m->h);
    ff_gpume_chain_add(chain, match_units, m, nb_tiles(m) + m->h);
    chain->tasks[chain->nb - 1].take = take_unit;
}
