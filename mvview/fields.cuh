/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Motion fields as shapes. Blocks are a grid, so which of them have arrows, and which of their
 * shapes can touch a tile, follow from it; only how long arrows are does not.
 */

#ifndef AVFILTER_GPUME_MVVIEW_FIELDS_CUH
#define AVFILTER_GPUME_MVVIEW_FIELDS_CUH

#include "libavfilter/gpume/mvview/cuda_args.h"

/** The words of vector i of a field. */
static __device__ __forceinline__ const GpumeU32 *mvview_vector_words(const MvviewCudaFields &f, int field, int i)
{
    /* by value: parameters that are chosen from by an address would be copied */
    const GpumeU64 mvs = field ? f.fields[1].mvs : f.fields[0].mvs;

    return (const GpumeU32 *)mvs + (long long)GPUME_VECTOR_WORDS * i;
}

/** Reads vector i of a field, in units of 1/GPUME_UNITS sample. */
static __device__ __forceinline__ void
mvview_field_vector(const MvviewCudaFields &f, int field, int i, int *dx, int *dy)
{
    const GpumeU32 *words = mvview_vector_words(f, field, i);
    const int unit = GPUME_UNITS / f.fields[0].pel;

    *dx = gpume_vector_component(words, 0) * unit;
    *dy = gpume_vector_component(words, 1) * unit;
}

/** The length of full saturation. */
static __device__ __forceinline__ unsigned mvview_full(const MvviewCudaFields &f)
{
    return f.max ? f.max : FFMAX(*(const unsigned *)f.longest, 1u);
}

/** A rectangle of blocks, or of squares, and how many they are. */
struct MvviewCudaRect {
    int x, y, w, nb;
};

/** What can touch a tile: shapes are numbered, blocks field by field, then arrows, then the legend. */
struct MvviewCudaWindow {
    int left, top, right, bottom;       ///< the tile's samples
    MvviewCudaRect blocks, squares;
    int nb;
};

/** Those of nb places of this side in a row that touch the samples first to last. */
static __device__ __forceinline__ void mvview_span(int first, int last, int side, int nb, int *begin, int *n)
{
    *begin = gpume_max(first, 0) / side;
    *n     = last < 0 ? 0 : gpume_max(gpume_min(last / side + 1, nb) - *begin, 0);
}

static __device__ __forceinline__ MvviewCudaRect
mvview_rect(const MvviewCudaWindow &w, int margin, int side, int nb_x, int nb_y)
{
    MvviewCudaRect r;
    int h;

    mvview_span(w.left - margin, w.right  + margin, side, nb_x, &r.x, &r.w);
    mvview_span(w.top  - margin, w.bottom + margin, side, nb_y, &r.y, &h);
    r.nb = r.w * h;
    return r;
}

static __device__ __forceinline__ MvviewCudaWindow
mvview_window(const MvviewCudaFields &f, int left, int top, int right, int bottom)
{
    const int bw = f.fields[0].bw, bh = f.fields[0].bh;
    MvviewCudaWindow w;

    w.left   = left;
    w.top    = top;
    w.right  = right;
    w.bottom = bottom;
    w.blocks.nb = w.squares.nb = 0;
    if (f.mode & MVVIEW_BLOCKS)
        w.blocks = mvview_rect(w, 0, f.fields[0].block, bw, bh);
    if (f.mode & MVVIEW_ARROWS) {
        const int longest = mvview_tip(*(const int *)f.longest, f.scale) / MVVIEW_TIP;

        w.squares = mvview_rect(w, longest + mvview_arrow_margin(f.arrow_unit), f.side,
                                (bw + f.per_square - 1) / f.per_square, (bh + f.per_square - 1) / f.per_square);
    }
    w.nb = f.nb * (w.blocks.nb + w.squares.nb) + (f.legend ? 2 : 0);
    return w;
}

/**
 * Which block of square i, of nb in a row of length samples, is nearest to its middle: of full
 * blocks the one before or in the middle, unless the row ends behind it.
 */
static __device__ __forceinline__ int mvview_nearest(const MvviewCudaFields &f, int i, int nb, int length)
{
    const int block  = f.fields[0].block;
    const int end    = gpume_min((i + 1) * f.per_square, nb);
    const int first  = gpume_min(i * f.per_square + (f.per_square - 1) / 2, end - 1);
    const int middle = 2 * i * f.side + f.side;
    int least = 0, nearest = first;

    for (int b = first; b < gpume_min(first + 2, end); b++) {
        const int centre   = b * block + gpume_min(block, length - b * block) / 2;
        const int distance = FFABS(2 * centre - middle);

        if (b == first || distance < least) {
            least   = distance;
            nearest = b;
        }
    }
    return nearest;
}

static __device__ __forceinline__ void mvview_legend_op(const MvviewCudaFields &f, int width, int height,
                                                        int number, MvviewCudaOp *op)
{
    const MvviewLegend l = mvview_legend(width, height, mvview_full(f));

    op->kind = number ? MVVIEW_NUMBER : MVVIEW_WHEEL;
    op->x    = l.x;
    op->y    = number ? l.number_y : l.wheel_y;
    op->a    = number ? l.tenths : l.radius;
    op->b    = number ? l.dot : 0;
    op->unit = f.unit;
}

/** Shape number i of a window. */
static __device__ __forceinline__ MvviewCudaOp
mvview_field_op(const MvviewCudaFields &f, const MvviewCudaWindow &w, int width, int height, int i)
{
    const GpumeMotionField &grid = f.fields[0];
    const int is_arrow = i >= f.nb * w.blocks.nb;
    MvviewCudaRect rect = w.blocks;
    MvviewCudaOp op = { 0 };
    int field, bx, by;

    if (is_arrow) {
        i   -= f.nb * w.blocks.nb;
        rect = w.squares;
    }
    if (i >= f.nb * rect.nb) {
        mvview_legend_op(f, width, height, i - f.nb * rect.nb, &op);
        return op;
    }
    field = i >= rect.nb;
    i    -= field ? rect.nb : 0;
    by    = rect.y + i / rect.w;
    bx    = rect.x + i % rect.w;
    if (is_arrow) {
        bx = mvview_nearest(f, bx, grid.bw, width);
        by = mvview_nearest(f, by, grid.bh, height);
    }
    op.x = bx * grid.block;
    op.y = by * grid.block;
    i    = by * grid.bw + bx;
    if (is_arrow) {
        int dx, dy;

        mvview_field_vector(f, field, i, &dx, &dy);
        op.kind    = MVVIEW_ARROW;
        op.variant = field >= f.nb_past;
        op.unit    = f.arrow_unit;
        op.a       = mvview_tip(dx, f.scale);
        op.b       = mvview_tip(dy, f.scale);
        op.x      += gpume_min(grid.block, width  - op.x) / 2;
        op.y      += gpume_min(grid.block, height - op.y) / 2;
    } else {
        op.kind    = MVVIEW_BLOCK;
        op.variant = gpume_vector_inconsistent(mvview_vector_words(f, field, i));
        op.a       = gpume_min(grid.block, width  - op.x);
        op.b       = gpume_min(grid.block, height - op.y);
    }
    return op;
}

#endif /* AVFILTER_GPUME_MVVIEW_FIELDS_CUH */
