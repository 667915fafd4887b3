/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/mvstereo/temporal.h"
#include "libavfilter/gpume/util/tasks.h"

#define R           MVSTEREO_STILL_R
#define PART        MVSTEREO_PART
/** A sample that was not seen before. */
#define UNKNOWN     INT16_MAX

/** Changes in a part of the view. */
typedef struct Part {
    unsigned changes[2 * MVSTEREO_CHANGES + 1];         ///< how many disparities have changed by how much
    int change;                                         ///< the median
} Part;

/** Memory of a thread, for the parts side by side. */
typedef struct Scratch {
    uint8_t *differences;       ///< PART + 2 R rows of w + 2 R bytes
    int16_t *expected;          ///< PART rows of w values
    uint8_t *ages;              ///< PART rows of w bytes
    uint16_t *sums;             ///< w + 2 R values
    Part *parts;
} Scratch;

/* Returns the length of rows of scratch memory. */
static size_t row_size(int w)
{
    return FFALIGN(w + 2 * R, 32);
}

/* Sets the addresses of a thread's scratch memory. Returns its size. */
static size_t scratch_layout(Scratch *s, const MvstereoTemporal *t, int w, int job)
{
    const size_t wide = row_size(w);
    uint8_t *p        = t->scratch ? t->scratch + job * t->scratch_size : NULL;

    *s = (Scratch) { p };
    if (p) {
        s->expected = (int16_t *)(p + (PART + 2 * R) * wide);
        s->ages     = p + (3 * PART + 2 * R) * wide;
        s->sums     = (uint16_t *)(p + (4 * PART + 2 * R) * wide);
        s->parts    = (Part *)(p + (4 * PART + 2 * R + 2) * wide);
    }
    return FFALIGN((4 * PART + 2 * R + 2) * wide + gpume_blocks(w, PART) * sizeof(Part), 32);
}

/* Returns the vector of the block of a sample, in quarters of a sample. */
static const AVMotionVector *vector_at(const MvstereoTemporal *t, int x, int y)
{
    const AVMotionVector *mvs = (const AVMotionVector *)(uintptr_t)t->field->mvs;

    return mvs + y / MVSTEREO_BLOCK * (ptrdiff_t)t->field->bw + x / MVSTEREO_BLOCK;
}

/* Compares columns start to end - 1 of a row, and R more on both sides, with where they were before. */
static void compare_row(const MvstereoTemporal *t, uint8_t *dst, int y, int start, int end)
{
    const AVFrame *before = t->motion.before;
    const uint8_t *luma   = mvstereo_row8(t->luma, y);
    const int w = t->luma->w, h = t->luma->h, last = FFMIN(end + R, w);

    for (int block = FFMAX(start - MVSTEREO_BLOCK, 0); block < last; block += MVSTEREO_BLOCK) {
        const AVMotionVector *mv = vector_at(t, block, y);
        const int nb   = FFMIN(MVSTEREO_BLOCK, last - block);
        const int row  = y + (mv->motion_y >> 2), column = block + (mv->motion_x >> 2);
        const int part_x = mv->motion_x & 3, part_y = mv->motion_y & 3;
        const uint8_t *a = before->data[0] + av_clip(row,     0, h - 1) * (ptrdiff_t)before->linesize[0];
        const uint8_t *b = before->data[0] + av_clip(row + 1, 0, h - 1) * (ptrdiff_t)before->linesize[0];
        uint8_t old[2][MVSTEREO_BLOCK + 1];

        if (column >= 0 && column + nb < w) {
            memcpy(old[0], a + column, nb + 1);
            memcpy(old[1], b + column, nb + 1);
        } else {
            for (int x = 0; x <= nb; x++) {
                old[0][x] = a[av_clip(column + x, 0, w - 1)];
                old[1][x] = b[av_clip(column + x, 0, w - 1)];
            }
        }
        for (int x = 0; x < nb; x++) {
            const int v = mvstereo_between(old[0][x], old[0][x + 1], old[1][x], old[1][x + 1], part_x, part_y);

            dst[R + block + x] = FFABS(luma[block + x] - v);
        }
    }
    if (!start)
        memset(dst, dst[R], R);
    if (end + R > w)
        memset(dst + R + w, dst[R + w - 1], R);
}

/* Sets the disparities that columns of a row had before, and counts in each part how much they have changed. */
static void expect_row(const MvstereoTemporal *t, const Scratch *s, int y, int start, int end, int16_t *expected,
                       uint8_t *ages)
{
    const int16_t *map = mvstereo_row16(t->map, y);
    const int w = t->luma->w, h = t->luma->h;

    for (int block = start; block < end; block += MVSTEREO_BLOCK) {
        const AVMotionVector *mv = vector_at(t, block, y);
        const int dx = (mv->motion_x + 2) >> 2, from_y = y + ((mv->motion_y + 2) >> 2);
        const int16_t *before    = mvstereo_row16(&t->disparity[0], av_clip(from_y, 0, h - 1));
        const uint8_t *old_ages  = mvstereo_row8(&t->age[0], av_clip(from_y, 0, h - 1));
        unsigned *changes        = s->parts[block / PART].changes;

        for (int x = block; x < FFMIN(block + MVSTEREO_BLOCK, end); x++) {
            const uint16_t *sums = s->sums + x;

            expected[x] = UNKNOWN;
            if (sums[0] + sums[1] + sums[2] + sums[3] + sums[4] > MVSTEREO_STILL || x + dx < 0 || x + dx >= w ||
                from_y < 0 || from_y >= h)
                continue;
            expected[x] = before[x + dx] - t->first;
            ages[x]     = old_ages[x + dx];
            changes[av_clip(map[x] - expected[x], -MVSTEREO_CHANGES, MVSTEREO_CHANGES) + MVSTEREO_CHANGES]++;
        }
    }
}

/* Returns whether the right view shows something behind a sample where it had to be with this disparity. */
static int is_refuted(const MvstereoMatcher *m, int x, int y, int v)
{
    const int k = mvstereo_whole(v), z = x - m->min - k;
    const int seen = z < 0 || z >= m->w ? k : m->right_index[y * (ptrdiff_t)m->w + z];
    const int from = z + m->min + seen;

    return mvstereo_is_behind(seen, k) && m->confidence[y * (ptrdiff_t)m->w + from] >= m->tolerance * MVSTEREO_SURE &&
           mvstereo_agrees(mvstereo_row16(&m->disparity, y)[from], seen);
}

/* Stabilises columns of a row. */
static void stabilise_row(const MvstereoTemporal *t, const Scratch *s, int y, int start, int end,
                          const int16_t *expected, const uint8_t *ages)
{
    const MvstereoMatcher *m = t->matcher;
    int16_t *map = mvstereo_row16(t->map, y), *after = mvstereo_row16(&t->disparity[1], y);
    const uint8_t *confidence = m->confidence + y * (size_t)m->w;

    for (int part = start; part < end; part += PART) {
        const int change = s->parts[part / PART].change, limit = mvstereo_steadiness(change);

        for (int x = part; x < FFMIN(part + PART, m->w); x++) {
            int age = 0;

            if (expected[x] != UNKNOWN) {
                const int v = av_clip(expected[x] + change, 0, (m->span - 1) * MVSTEREO_ONE);

                age    = ages[x];
                map[x] = mvstereo_stabilise(map[x], v, limit, confidence[x] >= MVSTEREO_SURE ||
                                            (FFABS(map[x] - v) > MVSTEREO_ONE && is_refuted(m, x, y, v)), &age);
            }
            mvstereo_row8(&t->age[1], y)[x] = age;
            after[x] = map[x] + t->first;
        }
    }
}

/* Stabilises parts side by side: their rows from first on, and columns start to end - 1. */
static void stabilise_parts(const MvstereoTemporal *t, const Scratch *s, int first, int start, int end)
{
    const int last = FFMIN(first + PART, t->luma->h);
    const size_t wide = row_size(t->luma->w);

    memset(s->parts, 0, gpume_blocks(t->luma->w, PART) * sizeof(*s->parts));
    for (int y = first - R; y < last + R; y++)
        compare_row(t, s->differences + (y - first + R) * wide, av_clip(y, 0, t->luma->h - 1), start, end);
    for (int y = first; y < last; y++) {
        const uint8_t *rows = s->differences + (y - first) * wide;

        for (int x = start; x < end + 2 * R; x++)
            s->sums[x] = rows[x] + rows[x + wide] + rows[x + 2 * wide] + rows[x + 3 * wide] + rows[x + 4 * wide];
        expect_row(t, s, y, start, end, s->expected + (y - first) * wide, s->ages + (y - first) * wide);
    }
    for (int i = start / PART; i * PART < end; i++)
        s->parts[i].change = mvstereo_median_change(s->parts[i].changes);
    for (int y = first; y < last; y++)
        stabilise_row(t, s, y, start, end, s->expected + (y - first) * wide, s->ages + (y - first) * wide);
}

/* A unit is a group of parts side by side. */
static void stabilise_groups(void *arg, int worker, int first, int end)
{
    const MvstereoTemporal *t = arg;
    const int w = t->luma->w, nb = gpume_blocks(w, PART);
    Scratch s;

    scratch_layout(&s, t, w, worker);
    for (int i = first; i < end; i++) {
        const int group = i % t->nb_groups;

        stabilise_parts(t, &s, i / t->nb_groups * PART, gpume_first_row(nb, group, t->nb_groups) * PART,
                        FFMIN(gpume_first_row(nb, group + 1, t->nb_groups) * PART, w));
    }
}

/* Keeps a map as it is. */
static void keep_rows(void *arg, int worker, int first, int end)
{
    const MvstereoTemporal *t = arg;

    for (int y = first; y < end; y++) {
        const int16_t *map = mvstereo_row16(t->map, y);
        int16_t *after     = mvstereo_row16(&t->disparity[1], y);

        memset(mvstereo_row8(&t->age[1], y), 0, t->luma->w);
        for (int x = 0; x < t->luma->w; x++)
            after[x] = map[x] + t->first;
    }
}

static av_cold int open_planes(MvstereoTemporal *t, int w, int h, int nb_threads)
{
    Scratch unused;
    int ret = 0;

    for (int i = 0; i < 2 && ret >= 0; i++) {
        ret = t->disparity[i].memory ? 0 : ff_mvstereo_plane_alloc(&t->disparity[i], w, h, sizeof(int16_t));
        if (ret >= 0 && !t->age[i].memory)
            ret = ff_mvstereo_plane_alloc(&t->age[i], w, h, 1);
    }
    if (ret >= 0 && !t->scratch) {
        t->scratch_size = scratch_layout(&unused, t, w, 0);
        t->scratch      = av_malloc_array(nb_threads, t->scratch_size);
    }
    return ret < 0 || t->scratch ? ret : AVERROR(ENOMEM);
}

static void copy_rows(void *arg, int worker, int first, int end)
{
    const MvstereoTemporal *t = arg;
    const AVFrame *f = t->frame;

    for (int y = first; y < end; y++)
        memcpy(f->data[0] + y * (ptrdiff_t)f->linesize[0], mvstereo_row8(t->luma, y), f->width);
}

int ff_mvstereo_temporal_search(MvstereoTemporal *t, const MvstereoConfig *cfg, const MvstereoPlane *luma,
                                GpumeTaskChain *chain, GpumeScheduler *scheduler)
{
    AVFrame *f = t->frame = av_frame_alloc();
    int ret = open_planes(t, luma->w, luma->h, cfg->executor.nb_threads);

    if (!f)
        return AVERROR(ENOMEM);
    f->format = AV_PIX_FMT_GRAY8;
    f->width  = luma->w;
    f->height = luma->h;
    if (ret < 0 ||
        (ret = av_frame_get_buffer(f, 0)) < 0) {
        av_frame_free(&t->frame);
        return ret;
    }
    t->luma = luma;
    ff_gpume_chain_add(chain, copy_rows, t, f->height);
    ff_gpume_chain_run(chain, scheduler);
    t->frame = NULL;
    ret = ff_mvstereo_motion_begin(&t->motion, cfg, f);
    return ret < 0 ? ret : ff_mvstereo_motion_end(&t->motion, &t->field);
}

void ff_mvstereo_temporal_stabilise(MvstereoTemporal *t, const MvstereoPlane *map, const MvstereoMatcher *matcher,
                                    GpumeTaskChain *chain)
{
    const int w = t->luma->w, h = t->luma->h, rows = gpume_blocks(h, PART), columns = gpume_blocks(w, PART);

    FFSWAP(MvstereoPlane, t->disparity[0], t->disparity[1]);
    FFSWAP(MvstereoPlane, t->age[0], t->age[1]);
    t->map       = map;
    t->matcher   = matcher;
    t->first     = matcher->min * MVSTEREO_ONE;
    t->nb_groups = (ff_gpume_nb_parts(matcher->executor.nb_threads, rows * columns) + rows - 1) / rows;
    if (t->field)
        ff_gpume_chain_add(chain, stabilise_groups, t, rows * t->nb_groups);
    else
        ff_gpume_chain_add(chain, keep_rows, t, h);
}

av_cold void ff_mvstereo_temporal_close(MvstereoTemporal *t)
{
    ff_mvstereo_motion_close(&t->motion);
    for (int i = 0; i < 2; i++) {
        ff_mvstereo_plane_free(&t->disparity[i]);
        ff_mvstereo_plane_free(&t->age[i]);
    }
    av_freep(&t->scratch);
}
