/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes the first estimate of a field: its own lines, lines estimated from three fields, and lines
 * interpolated within the field.
 */

#include "libavfilter/gpume/mvdeint/device.cuh"
#include "libavfilter/gpume/mvdeint/weston.h"

/**
 * Returns the estimate of a missing sample.
 * @param reach set to how far the sample can be from the mean of the neighbouring fields
 */
static __device__ __forceinline__ int estimate(const MvdeintCudaFirstArgs &args, const MvdeintCudaComponent &c, int x,
                                               int y, int *reach)
{
    const int above = mvdeint_above(y), below = mvdeint_below(y, c.h), max = (1 << mvdeint_depth(args)) - 1;
    const int is_near = y >= 2 && y + 3 <= c.h, is_all = y >= 4 && y + 5 <= c.h;
    const GpumeU64 earlier = args.is_second ? args.frame : args.before;
    const GpumeU64 later   = args.is_second ? args.after : args.frame;
    MvdeintWeston s;

    s.above  = *mvdeint_at(args.frame, c, x, above);
    s.below  = *mvdeint_at(args.frame, c, x, below);
    s.above3 = *mvdeint_at(args.frame, c, x, y > 2 ? y - 3 : y + 1);
    s.below3 = *mvdeint_at(args.frame, c, x, y + 3 < c.h ? y + 3 : y - 1);
    *reach   = max;
    if (args.is_alone)
        return mvdeint_alone(s.above, s.below, s.above3, s.below3, max);
    s.before_above = *mvdeint_at(args.before, c, x, above);
    s.before_below = *mvdeint_at(args.before, c, x, below);
    s.after_above  = *mvdeint_at(args.after, c, x, above);
    s.after_below  = *mvdeint_at(args.after, c, x, below);
    GPUME_UNROLL for (int i = 0; i < 5; i++) {
        /* the edges of the copies are repeated beyond the picture */
        s.earlier[i] = *mvdeint_at(earlier, c, x, y + 2 * i - 4);
        s.later[i]   = *mvdeint_at(later,   c, x, y + 2 * i - 4);
    }
    return mvdeint_weston(&s, is_near, is_all, max, reach);
}

/** Returns a missing sample interpolated within the field. */
static __device__ __forceinline__ int interpolate(const MvdeintCudaFirstArgs &args, const MvdeintCudaComponent &c,
                                                  int x, int y)
{
    const int above = mvdeint_above(y), below = mvdeint_below(y, c.h), shift = mvdeint_depth(args) - 8;
    const MvdeintSample *a = mvdeint_at(args.frame, c, x, above), *b = mvdeint_at(args.frame, c, x, below);
    const MvdeintSample *far_a = mvdeint_at(args.frame, c, x, y >= 3 ? y - 3 : above);
    const MvdeintSample *far_b = mvdeint_at(args.frame, c, x, y + 3 < c.h ? y + 3 : below);
    const int activity = FFABS(far_a[0] - a[0]) + FFABS(a[0] - b[0]) + FFABS(far_b[0] - b[0]);
    int best = 0, least = 0x7fffffff, fit, busy, sum = 2048, cost;
    const short *taps;

    GPUME_UNROLL for (int d = -3; d <= 3; d++) {
        cost = FFABS(d) * 2 << shift;
        GPUME_UNROLL for (int e = -2; e <= 2; e++)
            cost += FFABS(a[d + e] - b[e - d]);
        if (cost < least) {
            least = cost;
            best  = d + 3;
        }
    }
    fit  = (least >= 10 << shift) + (least >= 40 << shift);
    busy = (activity >= 6 << shift) + (activity >= 30 << shift);
    taps = (const short *)args.table + MVDEINT_CUDA_TAPS +
           ((best * MVDEINT_LEVELS + fit) * MVDEINT_LEVELS + busy) * (MVDEINT_INTRA_LINES * MVDEINT_INTRA_COLUMNS);
    GPUME_UNROLL for (int i = 0; i < MVDEINT_INTRA_COLUMNS; i++) {
        const int at = i - MVDEINT_INTRA_COLUMNS / 2;

        sum += taps[i] * far_a[at] + taps[MVDEINT_INTRA_COLUMNS + i] * a[at] +
               taps[2 * MVDEINT_INTRA_COLUMNS + i] * b[at] + taps[3 * MVDEINT_INTRA_COLUMNS + i] * far_b[at];
    }
    return av_clip(sum >> 12, 0, (1 << mvdeint_depth(args)) - 1);
}

/** A column of the neighbourhood of a missing sample, with the sum of all squared changes. */
struct Column {
    MvdeintChange change;
    GpumeU32 squares;
};

/** Measures a column. */
static __device__ __forceinline__ Column measure(const MvdeintCudaFirstArgs &args, const MvdeintCudaComponent &c, int x,
                                                 int y)
{
    const GpumeU64 earlier = args.is_second ? args.frame : args.before;
    const GpumeU64 later   = args.is_second ? args.after : args.frame;
    const int depth = mvdeint_depth(args), lines[2] = { mvdeint_above(y), mvdeint_below(y, c.h) };
    Column column   = { { 0, 0, 0 }, 0 };
    int e[5], l[5];

    GPUME_UNROLL for (int i = 0; i < 5; i++) {
        e[i] = *mvdeint_at(earlier, c, x, y + 2 * i - 4);
        l[i] = *mvdeint_at(later,   c, x, y + 2 * i - 4);
    }
    mvdeint_add_column(&column.change, e, l, depth);
    GPUME_UNROLL for (int i = 0; i < 2; i++) {
        const int own = *mvdeint_at(args.frame, c, x, lines[i]);

        column.squares += mvdeint_squared(own, *mvdeint_at(args.before, c, x, lines[i]), depth) +
                          mvdeint_squared(own, *mvdeint_at(args.after, c, x, lines[i]), depth);
    }
    column.squares += column.change.squares;
    return column;
}

/**
 * grid:   columns of samples, a line for each warp, components
 * block:  MVDEINT_CUDA_THREADS
 * shared: MVDEINT_CUDA_FIRST_SHARED
 */
GPUME_KERNEL_OF(MvdeintCudaFirstArgs, MVDEINT_CUDA_THREADS)
{
    GPUME_SHARED(Column, shared);
    const MvdeintCudaComponent c = mvdeint_component(args.components, blockIdx.z);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int x = blockIdx.x * 32 + lane, y = blockIdx.y * MVDEINT_CUDA_WARPS + warp;
    const Column *columns = shared + warp * MVDEINT_CUDA_FIRST_COLUMNS + lane;
    MvdeintChange around = { 0, 0, 0 };
    GpumeU32 squares = 0;
    int reach, sample, intra;

    if (y >= c.h)
        return;
    if (args.is_progressive || (y & 1) == args.parity) {
        if (x < c.w)
            *mvdeint_at(args.out, c, x, y) = *mvdeint_at(args.frame, c, x, y);
        return;
    }
    /* columns beyond the repeated edge are not read */
    for (int i = lane; i < MVDEINT_CUDA_FIRST_COLUMNS && !args.is_alone; i += 32)
        shared[warp * MVDEINT_CUDA_FIRST_COLUMNS + i] = measure(args, c, FFMIN(x - lane + i - 2, c.w + 1), y);
    __syncwarp();
    if (x >= c.w)
        return;
    sample = estimate(args, c, x, y, &reach);
    intra  = interpolate(args, c, x, y);
    if (!args.is_alone && reach) {
        GPUME_UNROLL for (int i = 0; i < 5; i++) {
            around.squares += columns[i].change.squares;
            around.sum     += columns[i].change.sum;
            around.detail  += columns[i].change.detail;
            squares        += columns[i].squares;
        }
        sample = mvdeint_woven(mvdeint_mixed(sample, intra, &around),
                               *mvdeint_at(args.is_second ? args.frame : args.before, c, x, y),
                               *mvdeint_at(args.is_second ? args.after : args.frame, c, x, y), squares,
                               mvdeint_depth(args));
    }
    *mvdeint_at(args.out,   c, x, y)     = (MvdeintSample)sample;
    *mvdeint_at(args.intra, c, x, y)     = (MvdeintSample)intra;
    *mvdeint_at(args.intra, c, x, y ^ 1) = (MvdeintSample)reach;
}
