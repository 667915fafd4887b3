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

/**
 * Longest code of a component: of twice what a vector in quarter samples can be, and that is no longer
 * where the check has replaced it by others.
 */
#define GPUME_MAX_COMPONENT_BITS 29

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

/** Roots that another one's predictor is made of: to the left, above, at a corner above. */
#define GPUME_ROOT_NEIGHBOURS 3

/** Returns which of the roots, bw in a row, neighbour i of root (bx, by) is; -1: there is none. */
GPUME_INLINE int gpume_root_neighbour(int i, int bx, int by, int bw)
{
    const int corner = bx + 1 < bw ? 1 : -1;
    const int x = bx + (i == 0 ? -1 : i == 1 ? 0 : corner);
    const int y = by - (i > 0);

    return x >= 0 && y >= 0 ? y * bw + x : -1;
}

/** Returns the predictor of a root of row by. @param n its neighbours' vectors, zero where there is none */
GPUME_INLINE GpumeVector gpume_root_predictor(const GpumeVector n[GPUME_ROOT_NEIGHBOURS], int by)
{
    GpumeVector median;

    median.dx = (short)gpume_median(n[0].dx, n[1].dx, n[2].dx);
    median.dy = (short)gpume_median(n[0].dy, n[1].dy, n[2].dy);
    return by ? median : n[0];
}

#endif /* AVFILTER_GPUME_CORE_TREE_ARGS_H */
