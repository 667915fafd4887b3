/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Derives shapes from motion fields. The grid of blocks determines which blocks have arrows and
 * which shapes can touch a tile; only the length of arrows is unknown.
 */

#ifndef AVFILTER_GPUME_MVVIEW_FIELDS_CUH
#define AVFILTER_GPUME_MVVIEW_FIELDS_CUH

#include "libavfilter/gpume/field/cells.cuh"
#include "libavfilter/gpume/mvview/cuda_args.h"

/** Returns vector i of a field. */
static __device__ __forceinline__ GpumeBlockVector mvview_read(const MvviewCudaFields &f, int field, int i)
{
    GpumeBlockVector v;

    /* selects by value: indexing the parameters would copy them to local memory */
    gpume_read_vector(&v, field ? f.fields[1].mvs : f.fields[0].mvs, i, f.fields[0].width, f.fields[0].height);
    return v;
}

/** Returns the length of full saturation. */
static __device__ __forceinline__ unsigned mvview_full(const MvviewCudaFields &f)
{
    return f.max ? f.max : FFMAX(*(const unsigned *)f.longest, 1u);
}

/** A rectangle of blocks or of squares, and their number. */
struct MvviewCudaRect {
    int x, y, w, nb;
};

/** The shapes that can touch a tile, numbered: blocks field by field, then arrows, then the legend. */
struct MvviewCudaWindow {
    int left, top, right, bottom;       ///< the tile's samples
    MvviewCudaRect blocks, squares;
    int nb;
};

/** Finds which of nb positions, side samples apart, touch the samples first to last. */
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
 * Returns the block nearest to the middle of square i, in a row of nb blocks and length samples. If
 * all blocks are complete, that is the block before the middle or the one in it.
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

static __device__ __forceinline__ MvviewCudaOp mvview_legend_op(const MvviewCudaFields &f, int number)
{
    const MvviewLegend l = mvview_legend(f.fields[0].width, f.fields[0].height, mvview_full(f));
    MvviewCudaOp op = { 0 };

    op.kind = number ? MVVIEW_NUMBER : MVVIEW_WHEEL;
    op.x    = l.x;
    op.y    = number ? l.number_y : l.wheel_y;
    op.a    = number ? l.tenths : l.radius;
    op.b    = l.dot;
    op.unit = f.unit;
    return op;
}

/** Returns shape i of a window. */
static __device__ __forceinline__ MvviewCudaOp
mvview_field_op(const MvviewCudaFields &f, const MvviewCudaWindow &w, int i)
{
    const int is_arrow        = i >= f.nb * w.blocks.nb;
    const MvviewCudaRect rect = is_arrow ? w.squares : w.blocks;
    MvviewCudaOp op = { 0 };
    GpumeBlockVector v;
    int field, x, y;

    i    -= is_arrow ? f.nb * w.blocks.nb : 0;
    if (i >= f.nb * rect.nb)
        return mvview_legend_op(f, i - f.nb * rect.nb);
    field = i >= rect.nb;
    i    -= field ? rect.nb : 0;
    y     = rect.y + i / rect.w;
    x     = rect.x + i % rect.w;
    if (is_arrow) {
        x = mvview_nearest(f, x, f.fields[0].bw, f.fields[0].width);
        y = mvview_nearest(f, y, f.fields[0].bh, f.fields[0].height);
    }
    v = mvview_read(f, field, y * f.fields[0].bw + x);
    if (is_arrow) {
        op.kind    = MVVIEW_ARROW;
        op.variant = v.distance > 0;
        op.unit    = f.arrow_unit;
        op.x       = v.x;
        op.y       = v.y;
        op.a       = mvview_tip(v.dx, f.scale);
        op.b       = mvview_tip(v.dy, f.scale);
    } else {
        op.kind    = MVVIEW_BLOCK;
        op.variant = v.inconsistent;
        op.x       = gpume_block_left(&v);
        op.y       = gpume_block_top(&v);
        op.a       = v.w;
        op.b       = v.h;
    }
    return op;
}

#endif /* AVFILTER_GPUME_MVVIEW_FIELDS_CUH */
