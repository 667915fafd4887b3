/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Costs of vectors and splits for blocks of several sizes. The host and device code include this
 * file.
 */

#ifndef AVFILTER_GPUME_CORE_TREE_ARGS_H
#define AVFILTER_GPUME_CORE_TREE_ARGS_H

#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/util/integer.h"

/**
 * Length of the longest code of a component: that of twice the largest vector in quarter samples,
 * also after the check has replaced vectors.
 */
#define GPUME_MAX_COMPONENT_BITS 29

/**
 * Returns the length of the code of a component of a vector's difference from its predictor: se(v)
 * of ITU-T H.264, 9.1.
 */
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

/**
 * Returns the cost of bits.
 * @param bit_cost cost of one bit, in 1/256
 */
GPUME_INLINE unsigned gpume_rate(unsigned bit_cost, int bits)
{
    return (bit_cost * bits + 128) >> 8;
}

/** Number of neighbours that predict a root: to the left, above, at a corner above. */
#define GPUME_ROOT_NEIGHBOURS 3

/** Returns the index of neighbour i of root (bx, by), with bw roots in a row; -1: there is none. */
GPUME_INLINE int gpume_root_neighbour(int i, int bx, int by, int bw)
{
    const int corner = bx + 1 < bw ? 1 : -1;
    const int x = bx + (i == 0 ? -1 : i == 1 ? 0 : corner);
    const int y = by - (i > 0);

    return x >= 0 && y >= 0 ? y * bw + x : -1;
}

/**
 * Returns the predictor of a root of row by.
 * @param n vectors of its neighbours; zero if they do not exist
 */
GPUME_INLINE GpumeVector gpume_root_predictor(const GpumeVector n[GPUME_ROOT_NEIGHBOURS], int by)
{
    GpumeVector median;

    median.dx = (short)gpume_median(n[0].dx, n[1].dx, n[2].dx);
    median.dy = (short)gpume_median(n[0].dy, n[1].dy, n[2].dy);
    return by ? median : n[0];
}

#endif /* AVFILTER_GPUME_CORE_TREE_ARGS_H */
