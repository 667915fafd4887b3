/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <math.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/bswap.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvstereo/match.h"
#include "libavfilter/gpume/util/tasks.h"

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
 * Memory of a thread: two rows of paths with padding on both sides, their least costs, penalties,
 * and the costs of the other view.
 */
typedef struct Scratch {
    uint8_t *paths[2];
    uint8_t *least[2];
    uint8_t *p2;
    uint8_t *features;
    uint16_t *sums, *right_least, *right_index;
} Scratch;

static size_t scratch_layout(Scratch *s, const MvstereoMatcher *m, int job)
{
    const size_t row = FFALIGN(path_row(m) + 3 * m->path_step, 64), w = FFALIGN(m->w + 64, 64);
    const size_t right = w + m->span, features = FFALIGN(MVSTEREO_FEATURES * m->left_plane, 64);
    const size_t sums  = 2 * row + 3 * w + features;
    uint8_t *at = job >= 0 ? m->scratch + job * m->scratch_size : NULL;

    if (at)
        *s = (Scratch) {
            .paths       = { at, at + row },
            .least       = { at + 2 * row, at + 2 * row + w },
            .p2          = at + 2 * row + 2 * w,
            .features    = at + 2 * row + 3 * w,
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
    ff_mvstereo_plane_free(&m->disparity);
    av_freep(&m->right_index);
    av_freep(&m->confidence);
    av_freep(&m->base);
    av_freep(&m->features[0]);
    av_freep(&m->features[1]);
    av_freep(&m->costs);
    av_freep(&m->other_costs);
    av_freep(&m->above);
    av_freep(&m->below);
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

static av_cold int get_band(MvstereoMatcher *m)
{
    const size_t paths = path_row(m), w = m->w;
    const int threads  = m->executor.nb_threads;
    Scratch unused;

    m->scratch_size = scratch_layout(&unused, m, -1);
    if (get(&m->costs, costs_row(m), m->band) < 0 || get(&m->above, paths, m->band) < 0 ||
        get(&m->below, paths, m->band) < 0 || get(&m->ends, paths, m->nb_bands) < 0 || get(&m->edge, paths, 1) < 0 ||
        get(&m->least_above, w, m->band) < 0 || get(&m->least_below, w, m->band) < 0 ||
        get(&m->least_ends, w, m->nb_bands) < 0 || get(&m->least_edge, w, 1) < 0 ||
        (m->rows && get(&m->other_costs, costs_row(m), threads) < 0) || get(&m->scratch, m->scratch_size, threads) < 0)
        return AVERROR(ENOMEM);
    set_pads(m, m->above, w * m->band);
    set_pads(m, m->below, w * m->band);
    set_pads(m, m->ends, w * m->nb_bands);
    set_pads(m, m->edge, w);
    for (int i = 0; i < threads; i++) {
        Scratch s;

        scratch_layout(&s, m, i);
        set_pads(m, s.paths[0], w + 2);
        set_pads(m, s.paths[1], w + 2);
    }
    return 0;
}

av_cold int ff_mvstereo_matcher_open(MvstereoMatcher *m, const GpumeExecutor *executor, int w, int h, int min,
                                     int span, int range, int rows)
{
    const int threads = executor->nb_threads;
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
    /* Memory holds three rows of costs for each row of a band (costs, above, below) and one for each band (ends).
     * About sqrt(h / 3) rows minimize the sum; a multiple of the threads gives each of them equal work. */
    m->band        = av_clip(((int)ceil(sqrt(h / 3.)) + threads - 1) / threads * threads, 2, FFMAX(h, 2));
    m->nb_bands    = (h + m->band - 1) / m->band;
    m->left_plane  = FFALIGN(w, 16);
    m->right_first = FFMAX(-min, 0);
    m->right_plane = FFALIGN(m->right_first + w + FFMAX(min + span, 0) + MVSTEREO_LANES, 16);
    ret = ff_mvstereo_plane_alloc(&m->disparity, w, h, sizeof(int16_t));
    if (ret >= 0)
        ret = get(&m->features[0], MVSTEREO_FEATURES * m->left_plane, h);
    if (ret >= 0)
        ret = get(&m->features[1], MVSTEREO_FEATURES * m->right_plane, h);
    if (ret >= 0)
        ret = get(&m->confidence, w, h);
    if (ret >= 0) {
        m->right_index = av_malloc_array(w * (size_t)h, sizeof(*m->right_index));
        m->base        = range < span ? av_malloc_array(w * (size_t)h, sizeof(*m->base)) : NULL;
        ret = m->right_index && (m->base || range == span) ? get_band(m) : AVERROR(ENOMEM);
    }
    if (ret < 0)
        ff_mvstereo_matcher_close(m);
    return ret;
}

/*
 * Sets four bits of the census of a row. The pointers are separate parameters, so that the compiler
 * knows that they do not change.
 */
static void set_nibbles(uint8_t *restrict dst, const uint8_t *limit, const uint8_t *const neighbours[4], int w)
{
    const uint8_t *const a = neighbours[0], *const b = neighbours[1];
    const uint8_t *const c = neighbours[2], *const d = neighbours[3];

    for (int x = 0; x < w; x++)
        dst[x] = (a[x] < limit[x] ? 8 : 0) | (b[x] < limit[x] ? 4 : 0) | (c[x] < limit[x] ? 2 : 0) |
                 (d[x] < limit[x] ? 1 : 0);
}

/* Sets the features of a row, each feature in its own plane. */
static void set_features(uint8_t *dst, ptrdiff_t plane, const MvstereoPlane *luma, int y, int tolerance)
{
    enum { SIDE = 2 * MVSTEREO_CENSUS_R + 1, MIDDLE = SIDE * SIDE / 2 };
    const uint8_t *centre = mvstereo_row8(luma, y);
    const uint8_t *above  = centre - luma->stride, *below = centre + luma->stride;
    uint8_t *limit        = dst + MVSTEREO_NIBBLES * plane;     /* until luma is there */

    for (int x = 0; x < luma->w; x++)
        limit[x] = FFMAX(centre[x] - tolerance, 0);
    for (int i = 0; i < MVSTEREO_NIBBLES; i++) {
        const uint8_t *neighbours[4];

        for (int k = 0; k < 4; k++) {
            const int place = 4 * i + k < MIDDLE ? 4 * i + k : 4 * i + k + 1;

            neighbours[k] = centre + (place / SIDE - MVSTEREO_CENSUS_R) * luma->stride + place % SIDE -
                            MVSTEREO_CENSUS_R;
        }
        set_nibbles(dst + i * plane, limit, neighbours, luma->w);
    }
    memcpy(limit, centre, luma->w);
    dst += (MVSTEREO_NIBBLES + 1) * plane;
    for (int x = 0; x < luma->w; x++)
        dst[x] = mvstereo_gradient(above[x + 1] - above[x - 1] + 2 * (centre[x + 1] - centre[x - 1]) +
                                   below[x + 1] - below[x - 1]);
}

/* Writes a row of features from right to left, with both ends repeated. */
static void mirror(uint8_t *dst, const uint8_t *src, int w, int before, int total)
{
    int x = 0;

    memset(dst, src[w - 1], before);
    dst += before;
    for (; x + 8 <= w; x += 8)
        AV_WN64(dst + x, av_bswap64(AV_RN64(src + w - x - 8)));
    for (; x < w; x++)
        dst[x] = src[w - 1 - x];
    memset(dst + w, src[0], total - before - w);
}

static void feature_rows(void *arg, int job, int nb_jobs)
{
    const MvstereoMatcher *m = arg;
    const int end = gpume_first_row(m->h, job + 1, nb_jobs);
    Scratch s;

    scratch_layout(&s, m, job);
    for (int y = gpume_first_row(m->h, job, nb_jobs); y < end; y++) {
        uint8_t *right = m->features[1] + y * MVSTEREO_FEATURES * m->right_plane;
        uint8_t *luma  = s.features + MVSTEREO_NIBBLES * m->left_plane;

        set_features(m->features[0] + y * MVSTEREO_FEATURES * m->left_plane, m->left_plane, m->left, y, m->tolerance);
        set_features(s.features, m->left_plane, m->right, y, m->tolerance);
        for (int x = 0; x < m->w; x++)
            luma[x] = m->table[luma[x]];
        for (int i = 0; i < MVSTEREO_FEATURES; i++)
            mirror(right + i * m->right_plane, s.features + i * m->left_plane, m->w, m->right_first, m->right_plane);
    }
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

/* A row of paths and their least costs. */
typedef struct Row {
    uint8_t *paths, *least;
} Row;

static Row edge_row(const MvstereoMatcher *m)
{
    return (Row) { m->edge, m->least_edge };
}

/* Returns by how much the base of a sample exceeds that of the one dx, dy away, at most a window and one more. */
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

/* Continues paths by one step, from the row above (dy = -1) or below (dy = 1). */
static void step_between_rows(const MvstereoMatcher *m, Row to, Row from, const uint8_t *costs, const uint8_t *p2,
                              int y, int dy, int start, int end)
{
    MvstereoPath p = {
        .path         = path_at(m, to.paths, start),
        .before       = path_at(m, from.paths, start),
        .costs        = costs + start * (size_t)m->range,
        .p2           = p2 + start,
        .least        = to.least + start,
        .least_before = from.least + start,
        .path_step    = m->path_step,
        .costs_step   = m->range,
        .step         = 1,
        .nb           = end - start,
        .range        = m->range,
    };

    take_paths(m, &p, start, y, 0, dy);
}

static Row end_row(const MvstereoMatcher *m, int band)
{
    return (Row) { m->ends + band * path_row(m), m->least_ends + band * (size_t)m->w };
}

static Row below_row(const MvstereoMatcher *m, int row)
{
    return (Row) { m->below + row * path_row(m), m->least_below + row * (size_t)m->w };
}

static Row above_row(const MvstereoMatcher *m, int row)
{
    return (Row) { m->above + row * path_row(m), m->least_above + row * (size_t)m->w };
}

static uint8_t *other_costs(const MvstereoMatcher *m, int job)
{
    return m->rows ? m->other_costs + job * costs_row(m) : NULL;
}

/* Computes the paths from below in the row under each band but the last, for the columns of a job. */
static void find_ends(void *arg, int job, int nb_jobs)
{
    const MvstereoMatcher *m = arg;
    const int start = gpume_first_row(m->w, job, nb_jobs), end = gpume_first_row(m->w, job + 1, nb_jobs);
    Row from = edge_row(m);
    Scratch s;

    scratch_layout(&s, m, job);
    for (int y = m->h - 1; y >= m->band; y--) {
        const Row to = y % m->band ? below_row(m, y & 1) : end_row(m, y / m->band - 1);

        set_costs(m, m->costs, y, start, end, other_costs(m, job));
        set_p2(m, s.p2, y, FFMIN(y + 1, m->h - 1), start, end);
        step_between_rows(m, to, from, m->costs, s.p2, y, 1, start, end);
        from = to;
    }
}

/* Computes costs and the paths from above and below of a band, in some columns. */
static void band_columns(void *arg, int job, int nb_jobs)
{
    const MvstereoMatcher *m = arg;
    const int start = gpume_first_row(m->w, job, nb_jobs), end = gpume_first_row(m->w, job + 1, nb_jobs);
    const int band = m->band_start / m->band;
    Row from = band < m->nb_bands - 1 ? end_row(m, band) : edge_row(m);
    Scratch s;

    scratch_layout(&s, m, job);
    for (int y = m->band_end - 1; y >= m->band_start; y--) {
        const Row to   = below_row(m, y - m->band_start);
        uint8_t *costs = m->costs + (y - m->band_start) * costs_row(m);

        set_costs(m, costs, y, start, end, other_costs(m, job));
        set_p2(m, s.p2, y, FFMIN(y + 1, m->h - 1), start, end);
        step_between_rows(m, to, from, costs, s.p2, y, 1, start, end);
        from = to;
    }
    from = band ? above_row(m, m->band - 1) : edge_row(m);
    for (int y = m->band_start; y < m->band_end; y++) {
        const Row to = above_row(m, y - m->band_start);

        set_p2(m, s.p2, y, FFMAX(y - 1, 0), start, end);
        step_between_rows(m, to, from, m->costs + (y - m->band_start) * costs_row(m), s.p2, y, -1, start, end);
        from = to;
    }
}

/* Computes the paths of a row from left and right. Costs beyond the ends of the row are 0. */
static void step_along_row(const MvstereoMatcher *m, const Scratch *s, const uint8_t *costs, int y)
{
    const uint8_t *luma  = mvstereo_row8(m->left, y);
    const ptrdiff_t step = m->path_step;
    MvstereoPath p = {
        .path         = path_at(m, s->paths[0], 1),
        .before       = path_at(m, s->paths[0], 0),
        .costs        = costs,
        .p2           = s->p2,
        .least        = s->least[0] + 1,
        .least_before = s->least[0],
        .path_step    = step,
        .costs_step   = m->range,
        .step         = 1,
        .nb           = m->w,
        .range        = m->range,
    };

    for (int x = 0; x <= m->w; x++)
        s->p2[x] = mvstereo_p2(FFABS(luma[x] - luma[x - 1]));
    memset(path_at(m, s->paths[0], 0), 0, m->range);
    s->least[0][0] = 0;
    take_paths(m, &p, 0, y, -1, 0);
    p.nb = m->w;

    memset(path_at(m, s->paths[1], m->w + 1), 0, m->range);
    s->least[1][m->w + 1] = 0;
    p.path         = path_at(m, s->paths[1], m->w);
    p.before       = path_at(m, s->paths[1], m->w + 1);
    p.costs        = costs + (m->w - 1) * (size_t)m->range;
    p.p2           = s->p2 + m->w;
    p.least        = s->least[1] + m->w;
    p.least_before = s->least[1] + m->w + 1;
    p.path_step    = -step;
    p.costs_step   = -m->range;
    p.step         = -1;
    take_paths(m, &p, m->w - 1, y, 1, 0);
}

/* Chooses the disparity of a sample and its confidence from its sums. */
static void choose(const MvstereoMatcher *m, uint16_t *sums, int least, int base, int16_t *disparity,
                   uint8_t *confidence)
{
    const int best  = m->dsp.find(sums, least, m->range);
    const int first = FFMAX(best - 1, 0), last = FFMIN(best + 1, m->range - 1);

    *disparity = first < best && best < last ? mvstereo_subpel(base + best, sums[first], least, sums[last])
                                             : (base + best) * MVSTEREO_ONE;
    for (int i = first; i <= last; i++)
        sums[i] = INT16_MAX;
    *confidence = FFMIN(m->dsp.least(sums, m->range) - least, 255);
}

static void band_rows(void *arg, int job, int nb_jobs)
{
    const MvstereoMatcher *m = arg;
    const int rows = m->band_end - m->band_start, end = gpume_first_row(rows, job + 1, nb_jobs);
    const int right_nb = m->w + m->span - 1;
    Scratch s;

    scratch_layout(&s, m, job);
    for (int row = gpume_first_row(rows, job, nb_jobs); row < end; row++) {
        const int y = m->band_start + row;
        int16_t *disparity   = mvstereo_row16(&m->disparity, y);
        int16_t *right_index = m->right_index + y * (size_t)m->w;
        MvstereoSums sums    = { .sums = s.sums, .range = m->range };

        step_along_row(m, &s, m->costs + row * costs_row(m), y);
        for (int i = 0; i < right_nb; i++) {
            s.right_least[i] = INT16_MAX;
            s.right_index[i] = MVSTEREO_NOWHERE;
        }
        for (int x = 0; x < m->w; x++) {
            sums.paths[0]    = path_at(m, s.paths[0], x + 1);
            sums.paths[1]    = path_at(m, s.paths[1], x + 1);
            sums.paths[2]    = path_at(m, above_row(m, row).paths, x);
            sums.paths[3]    = path_at(m, below_row(m, row).paths, x);
            sums.first       = base_of(m, x, y);
            sums.right_least = s.right_least + m->w - 1 - x + sums.first;
            sums.right_index = s.right_index + m->w - 1 - x + sums.first;
            choose(m, s.sums, m->dsp.sum(&sums), sums.first, &disparity[x], &m->confidence[y * (size_t)m->w + x]);
        }
        for (int x = 0; x < m->w; x++) {
            const int i = m->w - 1 - m->min - x;

            right_index[x] = i >= 0 && i < right_nb ? s.right_index[i] : MVSTEREO_NOWHERE;
        }
    }
}

void ff_mvstereo_match(MvstereoMatcher *m, const MvstereoPlane *left, const MvstereoPlane *right,
                       const uint8_t table[256], int tolerance)
{
    const int columns = FFMIN(m->executor.nb_threads, m->w), rows = FFMIN(m->executor.nb_threads, m->h);

    m->left      = left;
    m->right     = right;
    m->table     = table;
    m->tolerance = tolerance;
    gpume_execute(&m->executor, feature_rows, m, rows);
    if (m->nb_bands > 1)
        gpume_execute(&m->executor, find_ends, m, columns);
    for (int i = 0; i < m->nb_bands; i++) {
        m->band_start = i * m->band;
        m->band_end   = FFMIN(m->band_start + m->band, m->h);
        gpume_execute(&m->executor, band_columns, m, columns);
        gpume_execute(&m->executor, band_rows, m, FFMIN(m->executor.nb_threads, m->band_end - m->band_start));
    }
}
