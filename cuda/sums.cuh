/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Blocks of 4 to 64 bytes at once: what the kernels have in common.
 */

#ifndef AVFILTER_GPUME_CUDA_SUMS_CUH
#define AVFILTER_GPUME_CUDA_SUMS_CUH

#include "libavfilter/gpume/cuda/full.cuh"
#include "libavfilter/gpume/cuda/sums_args.h"

/** Candidates of a tile, with those that are there to fill rows. */
static __device__ __forceinline__ int gpume_nb_sums(const GpumeCudaSumsArgs &s)
{
    return (2 * s.search.params.range + 1) * s.pitch;
}

/**
 * The place in a row of the cost of displacement d - range: threads that are next to each other have every fourth.
 * Those behind the last word of four are as they are.
 */
static __device__ __forceinline__ int gpume_place_of_column(int range, int d)
{
    const int words = range >> 1;

    return d < 4 * words ? (d & 3) * words + (d >> 2) : d;
}

/** And which d is at a place; one above 2 * range: none. */
static __device__ __forceinline__ int gpume_column_at(int range, int place)
{
    const int words = range >> 1;

    if (place >= 4 * words)
        return place;
    GPUME_UNROLL for (int shift = 3; shift > 0; shift--)
        if (place >= shift * words)
            return 4 * (place - shift * words) + shift;
    return 4 * place;
}

/** The costs of tile (column, row), counted from the picture's first. */
static __device__ __forceinline__ GpumeU16 *gpume_sums_of(const GpumeCudaSumsArgs &s, int column, int row)
{
    return (GpumeU16 *)s.sums + ((GpumeU64)(row - s.first_row) * s.across + column) * gpume_nb_sums(s);
}

/** Store the vector of block b, one of the sizes from tiles on. */
static __device__ __forceinline__ void
gpume_store_size(const GpumeCudaSumsArgs &s, int size, const GpumeBox &b, int dx, int dy, GpumeU32 cost)
{
    const int side = GPUME_CUDA_SUMS_TILE << size;
    const GpumeU64 bw = gpume_blocks(s.search.params.width, side);

    gpume_store_at(s.sizes[size], b.y0 / side * bw + b.x0 / side, s.search.fields[0].source, b, dx, dy, cost);
}

#endif /* AVFILTER_GPUME_CUDA_SUMS_CUH */
