/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Computes the samples half-way between those of a picture: to the right, below, and diagonally.
 */

#include "libavfilter/gpume/cuda/module.cuh"
#include "libavfilter/gpume/cuda/motion_args.h"

/** Samples that a tap filter of four neighbouring samples reads in a row. */
#define GPUME_HALVES_NINE (GPUME_CUDA_HALVES_COLUMNS + 5)

/** Loads the samples from 2 before column x to 6 behind it. The edges of the picture are repeated. */
static __device__ __forceinline__ void
gpume_load_nine(int (&v)[GPUME_HALVES_NINE], const GpumeCudaHalvesArgs &a, int x, int y)
{
    const int per_word = GpumeSample<GpumeModuleSample>::per_word, bits = 32 / per_word;
    const GpumeU64 at  = a.plane.data + a.plane.linesize * gpume_max(0, gpume_min(y, a.height - 1));
    const GpumeModuleSample *row = (const GpumeModuleSample *)at + x;
    GpumeU32 words[12 / per_word];

    if (x && x + 6 < a.width) {
        GPUME_UNROLL for (int i = 0; i < 12 / per_word; i++)
            gpume_load_global(&words[i], row - 4 + i * per_word);
        GPUME_UNROLL for (int i = 0; i < GPUME_HALVES_NINE; i++)
            v[i] = words[(i + 2) / per_word] >> (i + 2) % per_word * bits & ((1u << bits) - 1);
    } else {
        GPUME_UNROLL for (int i = 0; i < GPUME_HALVES_NINE; i++)
            v[i] = row[gpume_max(-x, gpume_min(i - 2, a.width - 1 - x))];
    }
}

/** Stores four samples of a plane, limited to the depth of the picture. Rows are longer than the picture. */
static __device__ __forceinline__ void
gpume_store_four(const GpumeCudaHalvesArgs &a, int plane, int x, int y, const int (&v)[GPUME_CUDA_HALVES_COLUMNS])
{
    const int per_word = GpumeSample<GpumeModuleSample>::per_word, bits = 32 / per_word;
    const int max = (1 << a.depth) - 1, linesize = (int)a.parts.linesize;
    GpumeU32 *to = (GpumeU32 *)(a.parts.data + a.parts.linesize * y + GPUME_CUDA_PARTS_PLANE(linesize, plane) +
                                x * (int)sizeof(GpumeModuleSample));

    GPUME_UNROLL for (int i = 0; i < GPUME_CUDA_HALVES_COLUMNS / per_word; i++) {
        GpumeU32 word = 0;

        GPUME_UNROLL for (int j = 0; j < per_word; j++)
            word |= (GpumeU32)gpume_max(0, gpume_min(v[i * per_word + j], max)) << j * bits;
        to[i] = word;
    }
}

/**
 * grid:   tiles across and down
 * block:  GPUME_CUDA_HALVES_THREADS; a warp has GPUME_CUDA_HALVES_ROWS rows
 * shared: none
 */
GPUME_KERNEL_OF(GpumeCudaHalvesArgs, GPUME_CUDA_HALVES_THREADS)
{
    const int COLUMNS = GPUME_CUDA_HALVES_COLUMNS, ROWS = GPUME_CUDA_HALVES_ROWS;
    const int x = (blockIdx.x * 32 + threadIdx.x % 32) * COLUMNS;
    const int y = (blockIdx.y * (GPUME_CUDA_HALVES_THREADS / 32) + threadIdx.x / 32) * ROWS;
    /* of each column, the samples and the horizontal sums of taps */
    int column[ROWS + 5][COLUMNS], sums[ROWS + 5][COLUMNS];

    if (x >= args.width || y >= args.height)
        return;
    GPUME_UNROLL for (int r = 0; r < ROWS + 5; r++) {
        int v[GPUME_HALVES_NINE];

        gpume_load_nine(v, args, x, y + r - 2);
        GPUME_UNROLL for (int i = 0; i < COLUMNS; i++) {
            column[r][i] = v[i + 2];
            sums[r][i]   = gpume_taps(v[i], v[i + 1], v[i + 2], v[i + 3], v[i + 4], v[i + 5]);
        }
    }
    GPUME_UNROLL for (int r = 0; r < ROWS; r++) {
        int right[COLUMNS], below[COLUMNS], centre[COLUMNS];

        if (y + r >= args.height)
            return;
        GPUME_UNROLL for (int i = 0; i < COLUMNS; i++) {
            right[i]  = (sums[r + 2][i] + 16) >> 5;
            below[i]  = (gpume_taps(column[r][i], column[r + 1][i], column[r + 2][i], column[r + 3][i],
                                    column[r + 4][i], column[r + 5][i]) + 16) >> 5;
            centre[i] = (gpume_taps(sums[r][i], sums[r + 1][i], sums[r + 2][i], sums[r + 3][i],
                                    sums[r + 4][i], sums[r + 5][i]) + 512) >> 10;
        }
        gpume_store_four(args, GPUME_PLANE_WHOLE,  x, y + r, column[r + 2]);
        gpume_store_four(args, GPUME_PLANE_RIGHT,  x, y + r, right);
        gpume_store_four(args, GPUME_PLANE_BELOW,  x, y + r, below);
        gpume_store_four(args, GPUME_PLANE_CENTRE, x, y + r, centre);
    }
}
