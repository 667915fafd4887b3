/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Blocks of several sizes: what vectors and splits cost. Read by the host and by device code.
 */

#ifndef AVFILTER_GPUME_CORE_TREE_ARGS_H
#define AVFILTER_GPUME_CORE_TREE_ARGS_H

#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/util/integer.h"

/** Returns the length of a component of a vector's difference from its predictor as se(v) of ITU-T H.264, 9.1. */
GPUME_INLINE int gpume_component_bits(int v)
{
    const unsigned code = v > 0 ? 2u * v : 2u * -v + 1;
    int bits = 1;

    for (unsigned rest = code >> 1; rest; rest >>= 1)
        bits += 2;
    return bits;
}

GPUME_INLINE int gpume_vector_bits(GpumeVector v, GpumeVector predictor)
{
    return gpume_component_bits(v.dx - predictor.dx) + gpume_component_bits(v.dy - predictor.dy);
}

/** Returns what bits cost. @param bit_cost of one, in 1/256 */
GPUME_INLINE unsigned gpume_rate(unsigned bit_cost, int bits)
{
    return (bit_cost * bits + 128) >> 8;
}

/** Returns the predictor of root (bx, by) of a field of bw roots in a row, from those before it. */
GPUME_INLINE GpumeVector gpume_root_predictor(const GpumeVector *roots, int bw, int bx, int by)
{
    const GpumeVector zero = { 0, 0 };
    const GpumeVector *row = roots + by * bw;
    const GpumeVector left = bx ? row[bx - 1] : zero;
    GpumeVector above, corner, median;

    if (!by)
        return left;
    above  = row[bx - bw];
    corner = bx + 1 < bw ? row[bx - bw + 1] : bx ? row[bx - bw - 1] : zero;
    median.dx = (short)gpume_median(left.dx, above.dx, corner.dx);
    median.dy = (short)gpume_median(left.dy, above.dy, corner.dy);
    return median;
}

#endif /* AVFILTER_GPUME_CORE_TREE_ARGS_H */
