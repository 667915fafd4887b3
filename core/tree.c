/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/core/tree.h"

/* The default quantiser. It leaves a third of the vectors of a field of the smallest blocks, with no larger error. */
#define QP 28

/* 256 * 2^(qp / 6 - 2), rounded. */
static const uint16_t lambdas[GPUME_MAX_QP + 1] = {
    64,    72,    81,    91,    102,   114,   128,   144,   161,   181,   203,   228,   256,
    287,   323,   362,   406,   456,   512,   575,   645,   724,   813,   912,   1024,  1149,
    1290,  1448,  1625,  1825,  2048,  2299,  2580,  2896,  3251,  3649,  4096,  4598,  5161,
    5793,  6502,  7298,  8192,  9195,  10321, 11585, 13004, 14596, 16384, 18390, 20643, 23170,
};

int ff_gpume_nb_sizes(const GpumeParams *p)
{
    int nb = 1;

    while (p->tree && p->block << nb <= p->tree_max)
        nb++;
    return nb;
}

GpumeParams ff_gpume_size_params(const GpumeParams *params, int size)
{
    GpumeParams p = *params;

    p.tree    = 0;
    p.block <<= size;
    p.bw      = gpume_blocks(p.width,  p.block);
    p.bh      = gpume_blocks(p.height, p.block);
    return p;
}

uint32_t ff_gpume_bit_cost(const GpumeParams *p)
{
    const uint32_t lambda = p->lambda >= 0 ? p->lambda : lambdas[p->qp >= 0 ? p->qp : QP];

    return lambda << (p->depth - 8);
}
