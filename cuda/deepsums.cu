/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of 8 or of 16 samples of more than 8 bits, of which the sums of bytes' differences are kept:
 * sums of them bound the costs of larger blocks. The variant is how many displacements on top of each other a thread
 * has.
 */

#include "libavfilter/gpume/cuda/deep.cuh"
#include "libavfilter/gpume/cuda/sums.cuh"

#define SIDE GPUME_CUDA_SIDE
#define TILE GPUME_CUDA_SUMS_TILE

static_assert(TILE == GPUME_CUDA_FULL_TILE_WIDTH && TILE == GPUME_CUDA_DEEP_PARTS(SIDE) * SIDE, "tiles are squares");

/** What becomes of a tile's sums; see GpumeNoDeepSums, gpume_search_cut(). */
struct GpumeDeepSums {
    static const int WANTED = 1;

    const GpumeCudaSumsArgs &s;
    const GpumePlace &at;

    /** Where that of a displacement goes. */
    __device__ __forceinline__ GpumeU16 *place(int dx, int dy) const
    {
        const int range = s.search.params.range;

        return gpume_sums_of(s, at.x / TILE, at.y / TILE) + (dy + range) * s.pitch +
               gpume_place_of_column(range, dx + range);
    }

    template<int NB_ROWS>
    __device__ __forceinline__ void store(const GpumeU32 (&sum)[NB_ROWS], int dx, int dy) const
    {
        const int range = s.search.params.range;
        GpumeU16 *p = place(dx, dy);

        if (dx < -range || dx > range)
            return;
        GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++) {
            if (dy + j <= range)
                *p = (GpumeU16)sum[j];
            p += s.pitch;
        }
    }

    __device__ __forceinline__ void store_scale(int scale) const
    {
        *gpume_scale_of(s, at.x / TILE, at.y / TILE) = scale;
    }

    /** The cost of a tile that is cut as if it were a sum of bytes' differences: it bounds itself. */
    __device__ __forceinline__ void store_cut(const GpumeBox &b, GpumeU32 cost, int dx, int dy) const
    {
        const int scale = s.search.params.depth - 8;

        *place(dx, dy) = gpume_umin((cost + gpume_lacking(b.w * b.h, scale)) >> scale, 0xffff);
    }

    /* join.cu's counterpart finds these */
    __device__ __forceinline__ void store_result(int dx, int dy, GpumeU32 cost) const { }
};

/**
 * grid:   tiles in a row, rows of them in a strip
 * block:  whole warps
 * shared: as for full search of deep tiles, or GPUME_CUDA_TILE_RESULTS() keys of two words for each warp
 */
GPUME_KERNEL_OF(GpumeCudaSumsArgs, GPUME_CUDA_FULL_THREADS, 2)
{
    GPUME_SHARED(GpumeU32, shared);
    const int parts = GPUME_CUDA_DEEP_PARTS(SIDE);
    const GpumeCudaArgs &a = args.search;
    const GpumePlace at = { (int)blockIdx.x * TILE, (args.first_row + (int)blockIdx.y) * TILE, 0 };
    const GpumeDeepSums sums = { args, at };
    const int whole = at.x + TILE <= a.params.width;
    const int h     = a.params.height - at.y;

    if (whole && h >= TILE) {
        GpumeDeepTile<SIDE, SIDE, GPUME_CUDA_VARIANT, GpumeDeepSums>(a, sums, shared, at).search(parts);
    } else if (whole && h == TILE / 2) {
        /* as in 1080 lines */
        GpumeDeepTile<SIDE, TILE / 2, GPUME_CUDA_VARIANT, GpumeDeepSums>(a, sums, shared, at).search(1);
    } else {
        if (!threadIdx.x)
            sums.store_scale(a.params.depth - 8);
        gpume_search_cut<GpumeU16, SIDE>(args, shared, at, sums);
    }
}
