/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvstereo/refine.h"
#include "libavfilter/gpume/util/tasks.h"

/** Number of parts in which pieces are found side by side. */
#define PARTS (1 << MVSTEREO_LEVELS)

av_cold void ff_mvstereo_refiner_close(MvstereoRefiner *r)
{
    ff_mvstereo_plane_free(&r->disparity);
    ff_mvstereo_plane_free(&r->valid);
    ff_mvstereo_plane_free(&r->other);
    av_freep(&r->parents);
    av_freep(&r->sizes);
    av_freep(&r->is_empty);
}

av_cold int ff_mvstereo_refiner_open(MvstereoRefiner *r, int w, int h)
{
    ff_mvstereo_refiner_close(r);
    r->parents = av_malloc_array(w * (size_t)h, sizeof(*r->parents));
    r->sizes   = av_malloc_array(w * (size_t)h, sizeof(*r->sizes));
    r->is_empty = av_malloc(h);
    if (!r->parents || !r->sizes || !r->is_empty || ff_mvstereo_plane_alloc(&r->disparity, w, h, sizeof(int16_t)) < 0 ||
        ff_mvstereo_plane_alloc(&r->valid, w, h, 1) < 0 ||
        ff_mvstereo_plane_alloc(&r->other, w, h, sizeof(int16_t)) < 0) {
        ff_mvstereo_refiner_close(r);
        return AVERROR(ENOMEM);
    }
    return 0;
}

#define SORT(a, b) do {                 \
        const int least = FFMIN(a, b);  \
        b = FFMAX(a, b);                \
        a = least;                      \
    } while (0)

/*
 * Computes the 3x3 medians of a row: the median of the largest minimum, the middle median and the
 * smallest maximum of three sorted columns.
 */
static void median_row(int16_t *dst, const int16_t *src, ptrdiff_t stride, int w)
{
    for (int x = 0; x < w; x++) {
        int16_t v[3][3];

        for (int i = 0; i < 3; i++) {
            v[i][0] = src[x + i - 1 - stride];
            v[i][1] = src[x + i - 1];
            v[i][2] = src[x + i - 1 + stride];
            SORT(v[i][0], v[i][1]);
            SORT(v[i][1], v[i][2]);
            SORT(v[i][0], v[i][1]);
        }
        v[0][0] = FFMAX(FFMAX(v[0][0], v[1][0]), v[2][0]);
        v[0][2] = FFMIN(FFMIN(v[0][2], v[1][2]), v[2][2]);
        SORT(v[0][1], v[1][1]);
        v[0][1] = FFMAX(v[0][1], FFMIN(v[1][1], v[2][1]));
        SORT(v[0][0], v[0][1]);
        dst[x] = FFMAX(v[0][0], FFMIN(v[0][1], v[0][2]));
    }
}

/* Computes the first median of a row of the matches, and checks whether the views are uneven and agree there. */
static void check_row(const MvstereoRefiner *r, int y)
{
    const MvstereoMatcher *m = r->matcher;
    const int16_t *right     = m->right_index + y * (size_t)m->w;
    const uint8_t *even      = mvstereo_row8(&m->even, y);
    int16_t *row = mvstereo_row16(&r->disparity, y);

    median_row(row, mvstereo_row16(&m->disparity, y), m->disparity.stride, m->w);
    for (int x = 0; x < m->w; x++) {
        const int index = mvstereo_whole(row[x]), match = x - m->min - index;
        int is_even = 255;

        for (int i = -MVSTEREO_CENSUS_R; i <= MVSTEREO_CENSUS_R; i++)
            is_even &= even[x + i * m->even.stride];
        if (is_even)
            row[x] = MVSTEREO_EVEN;
        else if (match < 0 || match >= m->w || FFABS(right[match] - index) > MVSTEREO_CHECK)
            row[x] = MVSTEREO_INVALID;
    }
}

static int find_root(int32_t *parents, int i)
{
    while (parents[i] != i) {
        parents[i] = parents[parents[i]];
        i = parents[i];
    }
    return i;
}

static void join(MvstereoRefiner *r, int a, int b)
{
    a = find_root(r->parents, a);
    b = find_root(r->parents, b);
    if (a == b)
        return;
    if (a > b)
        FFSWAP(int, a, b);
    r->parents[b] = a;
    r->sizes[a]  += r->sizes[b];
}

/* Returns whether two neighbours belong to one piece. */
static int are_joined(int a, int b)
{
    return a >= 0 && b >= 0 && FFABS(a - b) <= MVSTEREO_ONE;
}

static void join_with_row_above(MvstereoRefiner *r, int y)
{
    const int w = r->valid.w;
    const int16_t *row = mvstereo_row16(&r->disparity, y), *above = row - r->disparity.stride;

    for (int x = 0, q = y * w; x < w; x++, q++)
        /* in a square of four joined samples, the fourth side adds nothing */
        if (are_joined(row[x], above[x]) &&
            !(x && are_joined(row[x], row[x - 1]) && are_joined(row[x - 1], above[x - 1]) &&
              are_joined(above[x - 1], above[x])))
            join(r, q, q - w);
}

/* Checks matches, and finds pieces within a part of the rows. */
static void find_pieces(MvstereoRefiner *r, int part)
{
    const int w = r->valid.w, first = gpume_first_row(r->valid.h, part, PARTS);
    const int end = gpume_first_row(r->valid.h, part + 1, PARTS);

    for (int y = first; y < end; y++) {
        const int16_t *row = mvstereo_row16(&r->disparity, y);
        const int q = y * w;

        check_row(r, y);
        for (int x = 0, end_x; x < w; x = end_x) {
            r->parents[q + x] = q + x;
            for (end_x = x + 1; end_x < w && are_joined(row[end_x], row[end_x - 1]); end_x++)
                r->parents[q + end_x] = q + x;
            r->sizes[q + x] = end_x - x;
        }
        if (y > first)
            join_with_row_above(r, y);
    }
}

static void find_parts(void *arg, int worker, int start, int end)
{
    for (int i = start; i < end; i++)
        find_pieces(arg, i);
}

/* Joins the pieces of neighbouring groups of parts, two groups each. */
static void join_groups(void *arg, int worker, int start, int end)
{
    const MvstereoLevel *l = arg;
    const int h = l->r->valid.h;

    for (int i = start; i < end; i++) {
        const int y = gpume_first_row(h, (2 * i + 1) * l->size, PARTS);

        /* there may be fewer rows than parts, and then no row in one of the groups */
        if (y > gpume_first_row(h, 2 * i * l->size, PARTS) && y < gpume_first_row(h, (2 * i + 2) * l->size, PARTS))
            join_with_row_above(l->r, y);
    }
}

/* Fills the holes of a row. Returns whether the row has valid samples; otherwise it keeps its holes. */
static int fill_row(int16_t *row, int w)
{
    int is_valid = 0;

    for (int x = 0, end; x < w; x = end + 1) {
        int before, after;

        for (end = x; end < w && row[end] < 0; end++)
            ;
        before    = x ? row[x - 1] : -1;
        after     = end < w ? row[end] : -1;
        is_valid |= before >= 0 || after >= 0;
        for (int first = x; x < end; x++)
            row[x] = mvstereo_fill(before, after, x - first + 1, end - first + 1, row[x] == MVSTEREO_EVEN);
    }
    return is_valid;
}

/* Counts how the views agree in a row of checked disparities. */
static void judge_row(MvstereoRefiner *r, int y)
{
    const MvstereoMatcher *m = r->matcher;
    const int16_t *row   = mvstereo_row16(&r->disparity, y);
    const uint8_t *valid = mvstereo_row8(&r->valid, y);
    int counts[MVSTEREO_NB_COUNTS] = { 0 };

    for (int x = 0; x < m->w; x++) {
        int costs[2 * MVSTEREO_MAX_ROWS + 1];

        counts[MVSTEREO_UNEVEN] += row[x] != MVSTEREO_EVEN;
        if (!valid[x])
            continue;
        for (int i = -MVSTEREO_MAX_ROWS; i <= MVSTEREO_MAX_ROWS; i++)
            costs[i + MVSTEREO_MAX_ROWS] = ff_mvstereo_cost(m, x, y, x - m->min - mvstereo_whole(row[x]), y + i);
        counts[MVSTEREO_VALID]++;
        counts[MVSTEREO_VOTES + mvstereo_strip(x, m->w)] += mvstereo_vote(costs, m->rows);
    }
    for (int i = 0; i < MVSTEREO_NB_COUNTS; i++)
        atomic_fetch_add_explicit(&r->agreement[i], counts[i], memory_order_relaxed);
}

/* Drops small pieces, and fills holes within rows. */
static void drop_pieces(void *arg, int worker, int first, int end)
{
    MvstereoRefiner *r       = arg;
    const MvstereoMatcher *m = r->matcher;

    for (int y = first; y < end; y++) {
        int16_t *row        = mvstereo_row16(&r->disparity, y);
        uint8_t *valid      = mvstereo_row8(&r->valid, y);
        uint8_t *confidence = m->confidence + y * (size_t)m->w;

        for (int x = 0; x < m->w; x++) {
            int root = y * m->w + x;

            if (row[x] < 0 || (x && are_joined(row[x], row[x - 1]))) {
                valid[x] = row[x] >= 0 ? valid[x - 1] : 0;
                continue;
            }
            /* other threads only read, so the path is not shortened here */
            while (r->parents[root] != root)
                root = r->parents[root];
            valid[x] = r->sizes[root] < MVSTEREO_PIECE ? 0 : 255;
        }
        if (y % MVSTEREO_JUDGED == MVSTEREO_JUDGED / 2)
            judge_row(r, y);
        for (int x = 0; x < m->w; x++)
            if (!valid[x]) {
                row[x]        = r->fill ? FFMIN(row[x], MVSTEREO_INVALID) : MVSTEREO_INVALID;
                confidence[x] = 0;
            }
        /* an empty row keeps MVSTEREO_INVALID */
        r->is_empty[y] = !(r->fill && fill_row(row, m->w));
        ff_mvstereo_plane_extend(&r->disparity, y, y + 1);
        ff_mvstereo_plane_extend(&r->valid, y, y + 1);
    }
}

/* Copies the next row that has valid samples, above or else below, to rows without any. */
static void fill_empty_rows(void *arg, int worker, int first, int end)
{
    MvstereoRefiner *r       = arg;
    const MvstereoMatcher *m = r->matcher;
    int from = first;

    while (from >= 0 && r->is_empty[from])
        from--;
    if (from < 0)
        for (from = first; from < m->h && r->is_empty[from]; from++)
            ;
    for (int y = first; y < end; y++) {
        int16_t *row = mvstereo_row16(&r->disparity, y);

        if (!r->is_empty[y]) {
            from = y;
            continue;
        }
        for (int x = 0; x < m->w; x++)
            row[x] = from < m->h ? mvstereo_row16(&r->disparity, from)[x] : mvstereo_zero(m->min, m->span);
        ff_mvstereo_plane_extend(&r->disparity, y, y + 1);
    }
}

static void smooth_rows(void *arg, int worker, int first, int end)
{
    MvstereoRefiner *r       = arg;
    const MvstereoMatcher *m = r->matcher;

    for (int y = first; y < end; y++) {
        const MvstereoMedian median = {
            .dst       = mvstereo_row16(&r->other, y),
            .disparity = mvstereo_row16(&r->disparity, y),
            .luma      = mvstereo_row8(m->left, y),
            .valid     = mvstereo_row8(&r->valid, y),
            .stride    = r->disparity.stride,
            .nb        = m->w,
        };

        m->dsp.weighted_median(&median);
        ff_mvstereo_plane_extend(&r->other, y, y + 1);
    }
}

static void last_rows(void *arg, int worker, int first, int end)
{
    MvstereoRefiner *r = arg;

    for (int y = first; y < end; y++)
        median_row(mvstereo_row16(&r->disparity, y), mvstereo_row16(&r->other, y), r->other.stride, r->valid.w);
}

void ff_mvstereo_refine(MvstereoRefiner *r, const MvstereoMatcher *m, int fill, GpumeTaskChain *chain)
{
    r->matcher = m;
    r->fill    = fill;
    for (int i = 0; i < MVSTEREO_NB_COUNTS; i++)
        atomic_init(&r->agreement[i], 0);
    ff_gpume_chain_add(chain, find_parts, r, PARTS);
    for (int i = 0; i < MVSTEREO_LEVELS; i++) {
        r->levels[i] = (MvstereoLevel) { r, 1 << i };
        ff_gpume_chain_add(chain, join_groups, &r->levels[i], PARTS >> (i + 1));
    }
    ff_gpume_chain_add(chain, drop_pieces, r, m->h);
    if (!fill)
        return;
    ff_gpume_chain_add(chain, fill_empty_rows, r, m->h);
    ff_gpume_chain_add(chain, smooth_rows, r, m->h);
    ff_gpume_chain_add(chain, last_rows, r, m->h);
}
