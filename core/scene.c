/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/cpu/cost.h"
#include "libavfilter/gpume/core/scene.h"
#include "libavfilter/gpume/core/scene_args.h"
#include "libavfilter/gpume/field/sidedata.h"

/** Number of parts of the work. */
#define NB_PARTS 64
/** Maximum number of columns of samples that are summed at a time. */
#define MAX_COLUMNS 512
/** About as many vectors show whether there is a motion. */
#define MAX_VECTORS 4096
/**
 * Vectors show a motion if, for so many that are inconsistent, one is part of it. Across 371 cuts, many with noise,
 * blur or black bars, there was at most one for 15. Few vectors, of small pictures, can agree by chance: 1 for them.
 */
#define MOTION_SHARE 10
#define FEW_VECTORS 900

#define BLOCK    GPUME_DETAIL_BLOCK
#define RANGE_X  GPUME_DETAIL_RANGE_X
#define RANGE_Y  GPUME_DETAIL_RANGE_Y
/** Margins of a small picture: the last block of a row can begin this far before its right edge. */
#define MARGIN_X (RANGE_X + BLOCK - 1)
#define MARGIN_Y (RANGE_Y + BLOCK - 1)

typedef struct Scene {
    const GpumeLayout *l;
    const AVFrame *before, *after;
    int across, nb;             ///< number of squares in a row, and in total, for the detection of fades
    GpumeLights lights[NB_PARTS];   ///< sums of each part
    GpumeDetail *detail;        ///< detail of the later picture, which is being computed
} Scene;

static int sample(const GpumeLayout *l, const uint8_t *row, int x)
{
    x *= l->components[0].step;
    return l->bytes == 1 ? row[x] : ((const uint16_t *)row)[x] >> l->shift;
}

static void run_parts(Scene *s, void (*run)(void *arg, int worker, int start, int end), int nb,
                      GpumeScheduler *scheduler)
{
    GpumeTask task = { run, .arg = s, .nb_units = nb };
    GpumeTaskList list = { (GpumeTask *[]) { &task }, 1 };

    ff_gpume_tasks_run(scheduler, (GpumeTaskList *[]) { &list }, 1);
}

av_cold int ff_gpume_detail_alloc(GpumeDetail *d, const GpumeLayout *l)
{
    const int step = gpume_detail_step(l->w, l->h);

    d->cols   = (l->w + step - 1) / step;
    d->rows   = (l->h + step - 1) / step;
    d->stride = d->cols + 2 * MARGIN_X;
    d->memory = av_malloc(d->stride * (d->rows + 2 * MARGIN_Y));
    d->means  = av_malloc_array(d->cols * d->rows, sizeof(*d->means));
    if (!d->memory || !d->means) {
        ff_gpume_detail_free(d);
        return AVERROR(ENOMEM);
    }
    d->first = d->memory + MARGIN_Y * d->stride + MARGIN_X;
    return 0;
}

av_cold void ff_gpume_detail_free(GpumeDetail *d)
{
    av_freep(&d->memory);
    av_freep(&d->means);
}

/* Adds the samples of some rows, for each column. */
static void add_rows(uint32_t *sums, const Scene *s, int x, int nb, int y0, int y1)
{
    const GpumeLayout *l = s->l;

    memset(sums, 0, nb * sizeof(*sums));
    for (int y = y0; y < y1; y++) {
        const uint8_t *row = gpume_layout_row(l, l->components, s->after, y);

        if (l->bytes == 1 && l->components[0].step == 1)
            for (int i = 0; i < nb; i++)
                sums[i] += row[x + i];
        else
            for (int i = 0; i < nb; i++)
                sums[i] += sample(l, row, x + i);
    }
}

/* Computes rows of means of squares. */
static void mean_rows(void *opaque, int worker, int start, int end)
{
    const Scene *s = opaque;
    const GpumeLayout *l = s->l;
    const int step = gpume_detail_step(l->w, l->h);
    uint32_t sums[MAX_COLUMNS];

    for (int row = start; row < end; row++) {
        const int y0 = row * step, y1 = FFMIN(y0 + step, l->h);
        uint16_t *means = s->detail->means + row * s->detail->cols;
        uint64_t sum = 0;

        for (int x = 0, w = 0; x < l->w; x += MAX_COLUMNS) {
            const int nb = FFMIN(MAX_COLUMNS, l->w - x);

            add_rows(sums, s, x, nb, y0, y1);
            for (int i = 0; i < nb; i++) {
                sum += sums[i];
                if (++w < step && x + i + 1 < l->w)
                    continue;
                *means++ = gpume_detail_mean(sum, (int64_t)w * (y1 - y0), l->depth);
                sum = w = 0;
            }
        }
    }
}

/* Subtracts from each mean that of the box around it; the edges are repeated. */
static void subtract_boxes(GpumeDetail *d)
{
    enum { RADIUS = GPUME_DETAIL_RADIUS };
    int columns[GPUME_DETAIL_SIDE + 2 * RADIUS];

    for (int y = 0; y < d->rows; y++) {
        uint8_t *dst = d->memory + (y + MARGIN_Y) * d->stride;

        memset(columns, 0, sizeof(columns));
        for (int i = -RADIUS; i <= RADIUS; i++) {
            const uint16_t *row = d->means + av_clip(y + i, 0, d->rows - 1) * d->cols;

            for (int x = 0; x < d->cols + 2 * RADIUS; x++)
                columns[x] += row[av_clip(x - RADIUS, 0, d->cols - 1)];
        }
        for (int x = 0; x < d->cols; x++) {
            int box = 0;

            for (int i = 0; i <= 2 * RADIUS; i++)
                box += columns[x + i];
            dst[MARGIN_X + x] = gpume_detail(d->means[y * d->cols + x], box);
        }
        memset(dst, dst[MARGIN_X], MARGIN_X);
        memset(dst + MARGIN_X + d->cols, dst[MARGIN_X + d->cols - 1], MARGIN_X);
    }
    for (int i = 0; i < MARGIN_Y; i++) {
        uint8_t *rows = d->memory + MARGIN_Y * d->stride;

        memcpy(d->memory + i * d->stride, rows, d->stride);
        memcpy(rows + (d->rows + i) * d->stride, rows + (d->rows - 1) * d->stride, d->stride);
    }
}

void ff_gpume_detail_make(GpumeDetail *d, const GpumeLayout *l, const AVFrame *frame, GpumeScheduler *scheduler)
{
    Scene s = { .l = l, .after = frame, .detail = d };

    run_parts(&s, mean_rows, d->rows, scheduler);
    subtract_boxes(d);
}

/* Returns the cost of a block's best match, which is at most that of the match at the same position. */
static uint32_t best_cost(GpumeCostOne sad, const uint8_t *block, const uint8_t *match, int stride, uint32_t cost)
{
    for (int dy = -RANGE_Y; dy <= RANGE_Y; dy++)
        for (int dx = -RANGE_X; dx <= RANGE_X && cost; dx++)
            cost = FFMIN(cost, sad(block, stride, match + dy * stride + dx, stride, BLOCK, cost));
    return cost;
}

int ff_gpume_scene_is_new(const GpumeDetail *before, const GpumeDetail *after, double threshold)
{
    static const uint8_t gray[BLOCK] = { 128, 128, 128, 128, 128, 128, 128, 128 };
    const GpumeDetail *const pictures[] = { before, after };
    const int stride = after->stride, across = (after->cols + BLOCK - 1) / BLOCK;
    const unsigned nb = 2 * across * ((after->rows + BLOCK - 1) / BLOCK);
    uint32_t same_place[GPUME_DETAIL_BLOCKS];       // 0: the block stands still
    uint64_t cost = 0, detail = 0;
    unsigned moved = 0;
    GpumeCostOne sad;
    GpumeCost costs;

    ff_gpume_sad_init(&costs, 8);
    sad = costs.one[gpume_width_index(BLOCK)];
    for (unsigned i = 0; i < nb; i++) {
        const ptrdiff_t offset = i / 2 / across * BLOCK * stride + i / 2 % across * BLOCK;
        const uint8_t *block   = pictures[i & 1]->first + offset, *match = pictures[!(i & 1)]->first + offset;
        const uint32_t own     = sad(block, stride, gray, 0, BLOCK, UINT32_MAX);

        same_place[i] = sad(block, stride, match, stride, BLOCK, UINT32_MAX);
        if (gpume_block_is_still(same_place[i], own)) {
            same_place[i] = 0;
            continue;
        }
        cost   += same_place[i];
        detail += own + GPUME_DETAIL_FLOOR;
        moved++;
    }
    /* costs only decrease, so usually those at the same position, or of a few blocks, are sufficient */
    for (unsigned i = 0; i < nb && gpume_is_new(cost, detail, moved, nb, threshold); i++) {
        const ptrdiff_t offset = i / 2 / across * BLOCK * stride + i / 2 % across * BLOCK;

        cost -= same_place[i] - best_cost(sad, pictures[i & 1]->first + offset, pictures[!(i & 1)]->first + offset,
                                          stride, same_place[i]);
    }
    return gpume_is_new(cost, detail, moved, nb, threshold);
}

/* Adds the brightness of a square of both pictures. */
static void add_square(GpumeLights *sums, const Scene *scene, int x0, int y0)
{
    const GpumeLayout *l = scene->l;
    const int x1 = FFMIN(x0 + GPUME_SCENE_SIDE, l->w), y1 = FFMIN(y0 + GPUME_SCENE_SIDE, l->h);
    const int nb = (x1 - x0) * (y1 - y0);
    unsigned before = 0, after = 0;

    for (int y = y0; y < y1; y++) {
        const uint8_t *b = gpume_layout_row(l, l->components, scene->before, y);
        const uint8_t *a = gpume_layout_row(l, l->components, scene->after,  y);

        for (int x = x0; x < x1; x++) {
            before += sample(l, b, x);
            after  += sample(l, a, x);
        }
    }
    gpume_add_lights(sums, gpume_light(before, nb, l->depth), gpume_light(after, nb, l->depth));
}

static void add_squares(void *opaque, int worker, int start, int end)
{
    Scene *s = opaque;
    const int64_t nb = s->nb;
    GpumeLights lights = { 0 };

    for (int i = nb * start / NB_PARTS; i < nb * end / NB_PARTS; i++)
        add_square(&lights, s, i % s->across * GPUME_SCENE_SIDE, i / s->across * GPUME_SCENE_SIDE);
    s->lights[start] = lights;
}

int ff_gpume_scene_is_fade(const GpumeLayout *l, const AVFrame *before, const AVFrame *after,
                           GpumeScheduler *scheduler)
{
    GpumeLights sums = { 0 };
    Scene s = {
        .l = l, .before = before, .after = after,
        .across = (l->w + GPUME_SCENE_SIDE - 1) / GPUME_SCENE_SIDE,
    };

    s.nb = s.across * ((l->h + GPUME_SCENE_SIDE - 1) / GPUME_SCENE_SIDE);
    run_parts(&s, add_squares, NB_PARTS, scheduler);
    for (int i = 0; i < NB_PARTS; i++) {
        sums.before  += s.lights[i].before;
        sums.after   += s.lights[i].after;
        sums.before2 += s.lights[i].before2;
        sums.after2  += s.lights[i].after2;
        sums.both    += s.lights[i].both;
    }
    return gpume_is_fade(sums, s.nb);
}

/* Returns whether a vector is consistent and at least one and a half samples long. */
static int is_long(const AVMotionVector *mv)
{
    return !(mv->flags & GPUME_FLAG_INCONSISTENT) && mv->motion_scale &&
           2 * FFMAX(FFABS((int64_t)mv->motion_x), FFABS((int64_t)mv->motion_y)) >= 3LL * mv->motion_scale;
}

/* Returns whether a vector is consistent and nearly that of the entry before it. */
static int is_like(const AVMotionVector *mv, const AVMotionVector *before)
{
    return !((mv->flags | before->flags) & GPUME_FLAG_INCONSISTENT) && mv->source == before->source &&
           FFABS((int64_t)mv->motion_x - before->motion_x) + FFABS((int64_t)mv->motion_y - before->motion_y) <=
           mv->motion_scale;
}

/* Rounds a component of a vector to whole samples. */
static int16_t in_samples(int64_t motion, int scale)
{
    return (int16_t)av_clip64(ROUNDED_DIV(motion, scale), INT16_MIN, INT16_MAX);
}

/* Returns whether at least so many of nb vectors, in whole samples, are nearly equal to one of them. */
static int have_common(const int16_t (*v)[2], size_t nb, size_t least)
{
    for (size_t i = 0; i < nb && nb >= least; i++) {
        size_t equal = 0;

        for (size_t k = 0; k < nb; k++)
            equal += abs(v[k][0] - v[i][0]) <= 1 && abs(v[k][1] - v[i][1]) <= 1;
        if (equal >= least)
            return 1;
    }
    return 0;
}

int ff_gpume_scene_is_moving(const uint8_t *mvs, size_t nb, int distance)
{
    const size_t step = FFMAX(nb / MAX_VECTORS, 1);
    size_t moved = 0, inconsistent = 0, counted = 0, nb_long = 0, least;
    int16_t motions[2 * MAX_VECTORS][2];

    for (size_t i = 0; i < nb; i += step) {
        AVMotionVector mv, before;

        memcpy(&mv, mvs + i * sizeof(mv), sizeof(mv));
        if (gpume_distance(mv.source) != distance)
            continue;
        memcpy(&before, mvs + (i - !!i) * sizeof(mv), sizeof(mv));
        counted++;
        inconsistent += !!(mv.flags & GPUME_FLAG_INCONSISTENT);
        if (!is_long(&mv))
            continue;
        moved += i && is_like(&mv, &before);
        motions[nb_long][0]   = in_samples(mv.motion_x, mv.motion_scale);
        motions[nb_long++][1] = in_samples(mv.motion_y, mv.motion_scale);
    }
    least = counted < FEW_VECTORS ? inconsistent : (inconsistent + MOTION_SHARE - 1) / MOTION_SHARE;
    return inconsistent && (moved >= least || have_common(motions, nb_long, least));
}

/* Returns a new reference to a frame, or a copy of it in system memory; NULL: there is no memory. */
static AVFrame *in_memory(const AVFrame *frame)
{
    AVFrame *copy = frame->hw_frames_ctx ? av_frame_alloc() : av_frame_clone(frame);

    if (copy && frame->hw_frames_ctx && av_hwframe_transfer_data(copy, frame, 0) < 0)
        av_frame_free(&copy);
    return copy;
}

int ff_gpume_scene_begins(const AVFrame *before, const AVFrame *after, double threshold, const GpumeExecutor *executor)
{
    GpumeScheduler scheduler = { .executor = *executor };
    AVFrame *frames[2]       = { in_memory(before), in_memory(after) };
    GpumeDetail details[2]   = { 0 };
    int ret = frames[0] && frames[1] ? 0 : AVERROR(ENOMEM);
    GpumeLayout layout;

    if (ret < 0)
        goto fail;
    ff_gpume_layout_init(&layout, frames[1]->format, frames[1]->width, frames[1]->height);
    for (int i = 0; i < 2; i++) {
        ret = ff_gpume_detail_alloc(&details[i], &layout);
        if (ret < 0)
            goto fail;
        ff_gpume_detail_make(&details[i], &layout, frames[i], &scheduler);
    }
    ret = ff_gpume_scene_is_new(&details[0], &details[1], threshold) &&
          !ff_gpume_scene_is_fade(&layout, frames[0], frames[1], &scheduler);
fail:
    for (int i = 0; i < 2; i++) {
        ff_gpume_detail_free(&details[i]);
        av_frame_free(&frames[i]);
    }
    return ret;
}
