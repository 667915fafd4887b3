/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of 64 samples, whose costs are sums of those of squares; see squares.cu.
 */

#include "libavfilter/gpume/cuda/sums.cuh"

#define TOGETHER GPUME_CUDA_SUMS_TOGETHER
#define ACROSS   (GPUME_CUDA_JOIN_SIDE / GPUME_CUDA_SQUARES_SIDE)

static_assert(TOGETHER == 4, "a lane loads four words of costs");

/**
 * grid:   blocks of GPUME_CUDA_JOIN_SIDE in a row, rows of them in a strip
 * block:  whole warps, at least as many threads as a row of costs has fours of words
 * shared: a key of two words for each warp
 */
GPUME_KERNEL_OF(GpumeCudaSumsArgs, GPUME_CUDA_JOIN_THREADS)
{
    GPUME_SHARED(GpumeU32, shared);
    const GpumeParams &p = args.search.params;
    const int range  = p.range, copies = p.depth > 8 ? 2 : 4;
    const int across = args.pitch / TOGETHER, down = (int)blockDim.x / across;
    const int line   = threadIdx.x / across, column = (threadIdx.x - line * across) * TOGETHER;
    const int x = blockIdx.x * ACROSS, y = args.first_row / (GPUME_CUDA_JOIN_TILES / ACROSS) + blockIdx.y * ACROSS;
    const GpumeBox b = gpume_box(&p, GPUME_CUDA_JOIN_SIDE, x / ACROSS, y / ACROSS);
    /* those that the picture has */
    const int w = gpume_blocks(b.w, GPUME_CUDA_SQUARES_SIDE), h = gpume_blocks(b.h, GPUME_CUDA_SQUARES_SIDE);
    int dx[TOGETHER];
    GpumeU64 best[1] = { ~0ull };

    GPUME_UNROLL for (int j = 0; j < TOGETHER; j++)
        dx[j] = gpume_square_dx(range, copies, column + j);
    if (line < down)
        GPUME_NO_UNROLL for (int dy = b.min_dy + line; dy <= b.max_dy; dy += down) {
            GpumeU32 sum[TOGETHER] = { 0 };

            GPUME_UNROLL for (int i = 0; i < ACROSS * ACROSS; i++) {
                int4 v;

                if (i % ACROSS >= w || i / ACROSS >= h)
                    continue;
                gpume_load_global(&v, gpume_square_sums_of(args, x + i % ACROSS, y + i / ACROSS) +
                                      (dy + range) * args.pitch + column);
                sum[0] += v.x;
                sum[1] += v.y;
                sum[2] += v.z;
                sum[3] += v.w;
            }
            GPUME_UNROLL for (int j = 0; j < TOGETHER; j++) {
                const GpumeU64 key = gpume_key(sum[j], gpume_order(range, dx[j], dy));

                if (dx[j] >= b.min_dx && dx[j] <= b.max_dx && key < best[0])
                    best[0] = key;
            }
        }

    const GpumeU64 key  = gpume_least_of_all<1>(shared, best);
    const GpumeVector v = gpume_vector_of_order(range, (int)(GpumeU32)key);

    if (!threadIdx.x)
        gpume_store_side<GPUME_CUDA_JOIN_SIDE>(args, b, v.dx, v.dy, (GpumeU32)(key >> 32));
}
