/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/** @file Marks the parts of frames that did not change, for the option hint=constant. */

#include <string.h>

#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/mem.h"
#include "libavutil/video_hint.h"

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/core/same.h"
#include "libavfilter/gpume/output/output.h"

/**
 * Number of frames for which a cell and its neighbours must stay unchanged before the cell is
 * marked. Encoders skip marked cells. A block that has just stopped was coded in motion, with a
 * large error, so a skip would keep that error. Next to motion, a skip costs more than it saves:
 * libx264 then codes the block with a vector, because the predicted vector is not zero, and the
 * deblocking filter changes its edges.
 */
#define MIN_AGE 6

/** Finds which rectangles of a frame did not change, for AV_FRAME_DATA_VIDEO_HINT. */
typedef struct ConstantContext {
    AVVideoRect *rects;
    int nb_rects;
    unsigned size;          ///< size of rects in bytes
    uint8_t *age;           ///< for each cell, the number of frames for which the cell and its neighbours were
                            ///< unchanged
    size_t nb_cells;
    int *above;             ///< for each cell that starts a run, the rectangle of the run in the row above, or -1
    unsigned above_size;
} ConstantContext;

static int wanted(const GpumeOutputConfig *cfg, const char **path)
{
    return cfg->hint == GPUME_HINT_CONSTANT;
}

/* Adds a run of cells. Extends the rectangle above if its width is the same. */
static int add_run(ConstantContext *s, int x, int y, int w, int h)
{
    int *above = &s->above[x / GPUME_CELL];
    AVVideoRect *r;

    if (*above >= 0) {
        r = &s->rects[*above];
        if (r->width == w && r->y + r->height == y) {
            r->height += h;
            return 0;
        }
    }
    r = av_fast_realloc(s->rects, &s->size, (s->nb_rects + 1) * sizeof(*r));
    if (!r)
        return AVERROR(ENOMEM);
    s->rects = r;
    s->rects[s->nb_rects] = (AVVideoRect) { x, y, w, h };
    *above = s->nb_rects++;
    return 0;
}

/* Returns whether a cell and its neighbours are unchanged. */
static int is_still(const uint8_t *same, int nb_columns, int nb_rows, int cx, int cy)
{
    for (int y = FFMAX(cy - 1, 0); y <= FFMIN(cy + 1, nb_rows - 1); y++)
        for (int x = FFMAX(cx - 1, 0); x <= FFMIN(cx + 1, nb_columns - 1); x++)
            if (!same[y * nb_columns + x])
                return 0;
    return 1;
}

static int find_rects(ConstantContext *s, const GpumeParams *p, const uint8_t *same)
{
    const int nb_columns = gpume_blocks(p->width,  GPUME_CELL);
    const int nb_rows    = gpume_blocks(p->height, GPUME_CELL);
    uint8_t *age = s->age;

    s->nb_rects = 0;
    av_fast_malloc(&s->above, &s->above_size, nb_columns * sizeof(*s->above));
    if (!s->above)
        return AVERROR(ENOMEM);
    memset(s->above, -1, nb_columns * sizeof(*s->above));
    for (int cy = 0; cy < nb_rows; cy++) {
        const int y = cy * GPUME_CELL;
        int start = -1;

        for (int cx = 0; cx <= nb_columns; cx++) {
            const int x = FFMIN(cx * GPUME_CELL, p->width);
            int constant = 0;

            if (cx < nb_columns) {
                *age     = is_still(same, nb_columns, nb_rows, cx, cy) ? FFMIN(*age + 1, MIN_AGE) : 0;
                constant = *age++ == MIN_AGE;
            }
            if (constant && start < 0) {
                start = x;
            } else if (!constant && start >= 0) {
                const int ret = add_run(s, start, y, x - start, FFMIN(GPUME_CELL, p->height - y));

                if (ret < 0)
                    return ret;
                start = -1;
            }
        }
    }
    return 0;
}

/* Resets the ages when there is no previous frame. */
static int reset_ages(ConstantContext *s, const GpumeParams *p)
{
    const size_t nb_cells = ff_gpume_nb_cells(p);

    if (nb_cells != s->nb_cells) {
        av_freep(&s->age);
        s->nb_cells = 0;
        s->age      = av_malloc(nb_cells);
        if (!s->age)
            return AVERROR(ENOMEM);
        s->nb_cells = nb_cells;
    }
    memset(s->age, 0, nb_cells);
    return 0;
}

static int attach(ConstantContext *s, AVFrame *frame)
{
    AVVideoHint *hint;

    if (!s->nb_rects)
        return 0;
    hint = av_video_hint_create_side_data(frame, s->nb_rects);
    if (!hint)
        return AVERROR(ENOMEM);
    hint->type = AV_VIDEO_HINT_TYPE_CONSTANT;
    for (int i = 0; i < s->nb_rects; i++)
        *av_video_hint_get_rect(hint, i) = s->rects[i];
    return 0;
}

static int mark_constant(void *priv, GpumeFile *file, GpumeResult *r, const GpumeStats *stats)
{
    ConstantContext *s = priv;
    int ret = 0, found = 0;

    av_frame_remove_side_data(r->frame, AV_FRAME_DATA_VIDEO_HINT);
    for (int i = 0; i < r->search.nb_fields && ret >= 0; i++)
        if (r->params->distance[r->search.fields[i].reference] == -1) {
            found = 1;
            ret = find_rects(s, r->params, r->search.fields[i].same);
            if (ret >= 0)
                ret = attach(s, r->frame);
        }
    if (!found && ret >= 0)
        ret = reset_ages(s, r->params);
    return ret;
}

static void uninit(void *priv)
{
    ConstantContext *s = priv;

    av_freep(&s->rects);
    av_freep(&s->age);
    av_freep(&s->above);
}

const GpumeOutput ff_gpume_output_constant = {
    .priv_size = sizeof(ConstantContext),
    .wanted    = wanted,
    .write     = mark_constant,
    .uninit    = uninit,
};
