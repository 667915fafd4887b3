/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of 64 samples: their costs are sums of the costs of blocks of 32, which
 * scan.cu has stored.
 */

#include "libavfilter/gpume/cuda/window.cuh"

#define TOGETHER GPUME_CUDA_MERGE_TOGETHER
#define SIDE     GPUME_CUDA_MERGE_SQUARE
#define ACROSS   (SIDE / GPUME_CUDA_SCAN_SQUARE)

static_assert(TOGETHER == 4, "a lane loads four words of costs");

/** Returns the displacement at index i of a row of costs, from a window with this many copies. */
static __device__ __forceinline__ int gpume_kept_dx(int range, int copies, int i)
{
    const int places = GPUME_CUDA_SCAN_PLACES(range, copies), column = i / places, place = i % places;

    return GPUME_CUDA_SCAN_LEFT(range, copies) +
           copies * (place / copies * GPUME_CUDA_SCAN_DX + column) + place % copies;
}

/**
 * grid:   blocks of SIDE in a row, rows of them in a strip
 * block:  whole warps, with at least a thread for every four words of a row of costs
 * shared: a key of two words for each warp
 */
GPUME_KERNEL(GPUME_CUDA_MERGE_THREADS)
{
    GPUME_SHARED(GpumeU32, shared);
    const GpumeParams &p = args.params;
    const int range  = p.range, copies = args.full.copies;
    const int across = args.tree.pitch / TOGETHER, down = (int)blockDim.x / across;
    const int line   = threadIdx.x / across, column = (threadIdx.x - line * across) * TOGETHER;
    const int x = blockIdx.x * ACROSS, y = args.tree.first_row + blockIdx.y * ACROSS;
    const GpumeBox b = gpume_box(&p, SIDE, x / ACROSS, y / ACROSS);
    /* squares inside the picture */
    const int w = gpume_blocks(b.w, GPUME_CUDA_SCAN_SQUARE), h = gpume_blocks(b.h, GPUME_CUDA_SCAN_SQUARE);
    int dx[TOGETHER];
    GpumeU64 best = ~0ull;

    GPUME_UNROLL for (int j = 0; j < TOGETHER; j++)
        dx[j] = gpume_kept_dx(range, copies, column + j);
    if (line < down)
        GPUME_NO_UNROLL for (int dy = b.min_dy + line; dy <= b.max_dy; dy += down) {
            GpumeU32 sum[TOGETHER] = { 0 };

            GPUME_UNROLL for (int i = 0; i < ACROSS * ACROSS; i++) {
                int4 v;

                if (i % ACROSS >= w || i / ACROSS >= h)
                    continue;
                gpume_load_global(&v, gpume_kept_sums(args, x + i % ACROSS, y + i / ACROSS) +
                                      (dy + range) * args.tree.pitch + column);
                sum[0] += v.x;
                sum[1] += v.y;
                sum[2] += v.z;
                sum[3] += v.w;
            }
            GPUME_UNROLL for (int j = 0; j < TOGETHER; j++)
                if (dx[j] >= b.min_dx && dx[j] <= b.max_dx)
                    best = gpume_lesser_key(best, gpume_key(sum[j], gpume_order(range, dx[j], dy)));
        }

    const GpumeU64 key  = gpume_least_of_all(shared, best);
    const GpumeVector v = gpume_vector_of_order(range, (int)(GpumeU32)key);

    if (!threadIdx.x)
        gpume_store_size<SIDE>(args, b, v.dx, v.dy, (GpumeU32)(key >> 32));
}
