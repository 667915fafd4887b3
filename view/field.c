/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"
#include "libavutil/motion_vector.h"

#include "libavfilter/gpume/view/arrow.h"
#include "libavfilter/gpume/view/field.h"

/** Bit of AVMotionVector.flags with which gpume marks vectors that its check could not confirm. */
#define FLAG_UNSOUND 1

/* In units of 1/MVVIEW_UNITS sample, between samples. */
static int64_t in_parts(int motion, int scale)
{
    if (scale == 4)             // the most frequent one need not be divided
        return motion * (int64_t)(MVVIEW_UNITS / 4);
    return scale > 1 ? mvview_divide(motion * (int64_t)MVVIEW_UNITS, scale)
                     : motion * (int64_t)MVVIEW_UNITS;
}

/*
 * The displacement, in parts of a sample if the vector has them. mestimate leaves its parts as
 * they were in memory, so they count only where they agree with the position of the match.
 */
static void displacement(MvviewVector *v, const AVMotionVector *mv)
{
    const int dx = (mv->src_x - mv->dst_x) * MVVIEW_UNITS;
    const int dy = (mv->src_y - mv->dst_y) * MVVIEW_UNITS;
    const int64_t x = in_parts(mv->motion_x, mv->motion_scale);
    const int64_t y = in_parts(mv->motion_y, mv->motion_scale);
    const int agree = mv->motion_scale && x > dx - MVVIEW_UNITS && x < dx + MVVIEW_UNITS &&
                      y > dy - MVVIEW_UNITS && y < dy + MVVIEW_UNITS;

    v->dx = agree ? x : dx;
    v->dy = agree ? y : dy;
}

static uint64_t squared_length(const MvviewVector *v)
{
    return (int64_t)v->dx * v->dx + (int64_t)v->dy * v->dy;
}

uint32_t ff_mvview_length(const MvviewVector *v)
{
    return mvview_sqrt(squared_length(v));
}

int ff_mvview_field_read(MvviewField *f, const AVFrame *frame, int sources)
{
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const size_t nb  = sd ? sd->size / sizeof(AVMotionVector) : 0;
    uint64_t longest = 0;

    f->w  = frame->width;
    f->h  = frame->height;
    f->nb = f->nb_future = f->side = f->longest = 0;
    f->cells_w = (f->w + MVVIEW_CELL - 1) / MVVIEW_CELL;
    f->cells_h = (f->h + MVVIEW_CELL - 1) / MVVIEW_CELL;
    if (!nb)
        return 0;
    if (nb > INT_MAX / sizeof(*f->vectors))
        return AVERROR(ENOMEM);
    av_fast_malloc(&f->vectors, &f->allocated, nb * sizeof(*f->vectors));
    if (!f->vectors)
        return AVERROR(ENOMEM);

    for (size_t i = 0; i < nb; i++) {
        MvviewVector *v = &f->vectors[f->nb];
        AVMotionVector mv;

        /* side data need not be aligned */
        memcpy(&mv, sd->data + i * sizeof(mv), sizeof(mv));
        if (!mv.w || !mv.h || !(sources & (mv.source > 0 ? MVVIEW_FUTURE : MVVIEW_PAST)))
            continue;
        *v = (MvviewVector) {
            .x = mv.dst_x, .y = mv.dst_y,
            .left = mv.dst_x - mv.w / 2, .top = mv.dst_y - mv.h / 2,
            .w = mv.w, .h = mv.h,
            .future  = mv.source > 0,
            .unsound = mv.flags & FLAG_UNSOUND,
        };
        if (v->left >= f->w || v->top >= f->h || v->left + v->w <= 0 || v->top + v->h <= 0)
            continue;
        displacement(v, &mv);
        longest       = FFMAX(longest, squared_length(v));
        f->side       = FFMAX3(f->side, v->w, v->h);
        f->nb_future += v->future;
        f->nb++;
    }
    f->longest = mvview_sqrt(longest);
    return f->nb;
}

/* First cell whose first sample is at or behind this one, inside the picture. */
static int cell_from(int sample, int cells)
{
    return av_clip((sample + MVVIEW_CELL - 1) / MVVIEW_CELL, 0, cells);
}

void ff_mvview_cells(const MvviewField *f, const MvviewVector *v, int *x0, int *y0, int *x1, int *y1)
{
    *x0 = cell_from(v->left, f->cells_w);
    *y0 = cell_from(v->top,  f->cells_h);
    *x1 = cell_from(v->left + v->w, f->cells_w);
    *y1 = cell_from(v->top  + v->h, f->cells_h);
}

int ff_mvview_field_map(MvviewField *f)
{
    const size_t size = (size_t)f->cells_w * f->cells_h * sizeof(*f->cells);

    if (size > UINT_MAX - 64)
        return AVERROR(ENOMEM);
    av_fast_malloc(&f->cells, &f->cells_allocated, size);
    if (!f->cells)
        return AVERROR(ENOMEM);
    memset(f->cells, 0, size);

    for (int future = f->nb_future ? 1 : 0; future >= 0; future--) {
        for (int i = 0; i < f->nb; i++) {
            const MvviewVector *v = &f->vectors[i];
            int x0, y0, x1, y1;

            if (v->future != future)
                continue;
            ff_mvview_cells(f, v, &x0, &y0, &x1, &y1);
            for (int y = y0; y < y1; y++)
                for (int x = x0; x < x1; x++)
                    f->cells[y * (size_t)f->cells_w + x] = i + 1;
        }
    }
    return 0;
}

/** The vector that begins nearest to the middle of a square. */
typedef struct MvviewSquare {
    int vector;                 ///< 1 + its index; 0: none
    int distance;               ///< in half samples
} MvviewSquare;

int ff_mvview_field_choose(MvviewField *f, int side,
                           int (*add)(void *opaque, const MvviewVector *v), void *opaque)
{
    int nb = 0, nb_x = 0, ret;

    if (side) {
        nb_x = f->w / side + 1;
        nb   = nb_x * (f->h / side + 1);
        av_fast_malloc(&f->squares, &f->squares_allocated, nb * sizeof(*f->squares));
        if (!f->squares)
            return AVERROR(ENOMEM);
    }
    for (int future = 0; future < 2; future++) {
        if (!(future ? f->nb_future : f->nb - f->nb_future))
            continue;
        if (side)
            memset(f->squares, 0, nb * sizeof(*f->squares));
        for (int i = 0; i < f->nb; i++) {
            const MvviewVector *v = &f->vectors[i];

            if (v->future != future || v->x < 0 || v->y < 0 || v->x >= f->w || v->y >= f->h)
                continue;
            if (side) {
                const int x = v->x / side, y = v->y / side;
                const int distance = FFABS(2 * (v->x - x * side) - side) +
                                     FFABS(2 * (v->y - y * side) - side);
                MvviewSquare *square = &f->squares[y * nb_x + x];

                if (!square->vector || distance < square->distance)
                    *square = (MvviewSquare) { i + 1, distance };
            } else if ((ret = add(opaque, v)) < 0) {
                return ret;
            }
        }
        for (int i = 0; side && i < nb; i++)
            if (f->squares[i].vector &&
                (ret = add(opaque, &f->vectors[f->squares[i].vector - 1])) < 0)
                return ret;
    }
    return 0;
}

void ff_mvview_field_free(MvviewField *f)
{
    av_freep(&f->vectors);
    av_freep(&f->cells);
    av_freep(&f->squares);
}
