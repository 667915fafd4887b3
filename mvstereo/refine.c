/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvstereo/refine.h"
#include "libavfilter/gpume/util/tasks.h"

av_cold void ff_mvstereo_refiner_close(MvstereoRefiner *r)
{
    ff_mvstereo_plane_free(&r->disparity);
    ff_mvstereo_plane_free(&r->valid);
    ff_mvstereo_plane_free(&r->other);
    av_freep(&r->parents);
    av_freep(&r->sizes);
}

av_cold int ff_mvstereo_refiner_open(MvstereoRefiner *r, int w, int h)
{
    ff_mvstereo_refiner_close(r);
    r->parents = av_malloc_array(w * (size_t)h, sizeof(*r->parents));
    r->sizes   = av_malloc_array(w * (size_t)h, sizeof(*r->sizes));
    if (!r->parents || !r->sizes || ff_mvstereo_plane_alloc(&r->disparity, w, h, sizeof(int16_t)) < 0 ||
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

/* Computes the first median of the matches, and checks whether the other view agrees. */
static void check_rows(void *arg, int job, int nb_jobs)
{
    MvstereoRefiner *r       = arg;
    const MvstereoMatcher *m = r->matcher;
    const int end = gpume_first_row(m->h, job + 1, nb_jobs);

    for (int y = gpume_first_row(m->h, job, nb_jobs); y < end; y++) {
        const int16_t *right = m->right_index + y * (size_t)m->w;
        int16_t *row         = mvstereo_row16(&r->disparity, y);

        median_row(row, mvstereo_row16(&m->disparity, y), m->disparity.stride, m->w);
        for (int x = 0; x < m->w; x++) {
            const int index = (row[x] + MVSTEREO_ONE / 2) / MVSTEREO_ONE, match = x - m->min - index;

            if (match < 0 || match >= m->w || FFABS(right[match] - index) > MVSTEREO_CHECK)
                row[x] = MVSTEREO_INVALID;
        }
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

/* Finds pieces within these rows. */
static void join_rows(void *arg, int job, int nb_jobs)
{
    MvstereoRefiner *r = arg;
    const int w = r->valid.w, first = gpume_first_row(r->valid.h, job, nb_jobs);
    const int end = gpume_first_row(r->valid.h, job + 1, nb_jobs);

    for (int y = first; y < end; y++) {
        const int16_t *row = mvstereo_row16(&r->disparity, y);
        int root = 0;

        for (int x = 0, q = y * w; x < w; x++, q++) {
            if (!x || !are_joined(row[x], row[x - 1])) {
                root = q;
                r->sizes[q] = 0;
            }
            r->parents[q] = root;
            r->sizes[root]++;
        }
        if (y > first)
            join_with_row_above(r, y);
    }
}

/* Fills the holes of a row. Returns whether the row has valid samples. */
static int fill_row(int16_t *row, int w)
{
    int is_valid = 0;

    for (int x = 0, end; x < w; x = end + 1) {
        int before, after, v;

        for (end = x; end < w && row[end] < 0; end++)
            ;
        before    = x ? row[x - 1] : -1;
        after     = end < w ? row[end] : -1;
        v         = before < 0 ? after : after < 0 ? before : FFMIN(before, after);
        is_valid |= v >= 0;
        for (; x < end; x++)
            row[x] = v;
    }
    return is_valid;
}

/* Drops small pieces, and fills holes within rows. */
static void drop_pieces(void *arg, int job, int nb_jobs)
{
    MvstereoRefiner *r       = arg;
    const MvstereoMatcher *m = r->matcher;
    const int end = gpume_first_row(m->h, job + 1, nb_jobs);

    for (int y = gpume_first_row(m->h, job, nb_jobs); y < end; y++) {
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
        for (int x = 0; x < m->w; x++)
            if (!valid[x]) {
                row[x]        = MVSTEREO_INVALID;
                confidence[x] = 0;
            }
        /* an empty row keeps MVSTEREO_INVALID */
        if (r->fill)
            fill_row(row, m->w);
    }
}

/* Copies the next row above to rows without valid samples. */
static void fill_empty_rows(MvstereoRefiner *r)
{
    const int w = r->valid.w;

    for (int y = 0; y < r->valid.h; y++) {
        int16_t *row = mvstereo_row16(&r->disparity, y);

        if (row[0] >= 0)
            continue;
        if (y)
            memcpy(row, row - r->disparity.stride, w * sizeof(*row));
        else
            memset(row, 0, w * sizeof(*row));
    }
}

static void smooth_rows(void *arg, int job, int nb_jobs)
{
    MvstereoRefiner *r       = arg;
    const MvstereoMatcher *m = r->matcher;
    const int end = gpume_first_row(m->h, job + 1, nb_jobs);

    for (int y = gpume_first_row(m->h, job, nb_jobs); y < end; y++) {
        const MvstereoMedian median = {
            .dst       = mvstereo_row16(&r->other, y),
            .disparity = mvstereo_row16(&r->disparity, y),
            .luma      = mvstereo_row8(m->left, y),
            .valid     = mvstereo_row8(&r->valid, y),
            .stride    = r->disparity.stride,
            .nb        = m->w,
        };

        m->dsp.weighted_median(&median);
    }
}

static void last_rows(void *arg, int job, int nb_jobs)
{
    MvstereoRefiner *r = arg;
    const int end = gpume_first_row(r->valid.h, job + 1, nb_jobs);

    for (int y = gpume_first_row(r->valid.h, job, nb_jobs); y < end; y++)
        median_row(mvstereo_row16(&r->disparity, y), mvstereo_row16(&r->other, y), r->other.stride, r->valid.w);
}

void ff_mvstereo_refine(MvstereoRefiner *r, const MvstereoMatcher *m, int fill)
{
    const int nb = FFMIN(m->executor.nb_threads, m->h);

    r->matcher = m;
    r->fill    = fill;
    ff_mvstereo_plane_extend(&m->disparity, 0, m->h);
    gpume_execute(&m->executor, check_rows, r, nb);
    gpume_execute(&m->executor, join_rows, r, nb);
    for (int i = 1; i < nb; i++)
        join_with_row_above(r, gpume_first_row(m->h, i, nb));
    gpume_execute(&m->executor, drop_pieces, r, nb);
    if (!fill)
        return;
    fill_empty_rows(r);
    ff_mvstereo_plane_extend(&r->disparity, 0, m->h);
    ff_mvstereo_plane_extend(&r->valid, 0, m->h);
    gpume_execute(&m->executor, smooth_rows, r, nb);
    ff_mvstereo_plane_extend(&r->other, 0, m->h);
    gpume_execute(&m->executor, last_rows, r, nb);
}
