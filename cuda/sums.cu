/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of 4, 8 and 16 bytes at once, or of 8 and 16, or of 16, whose costs are kept: those of larger
 * blocks are sums of them. The variant is how many displacements on top of each other a thread has.
 */

#include "libavfilter/gpume/cuda/sums.cuh"
#include "libavfilter/gpume/cuda/tile.cuh"

#define TILE GPUME_CUDA_SUMS_TILE

static_assert(TILE == GPUME_CUDA_FULL_TILE_WIDTH, "tiles are squares");

/** What becomes of a tile's sums; see GpumeNoSums. */
struct GpumeTileSums {
    static const int WANTED = 1;

    const GpumeCudaSumsArgs &s;
    const GpumePlace &at;

    template<int NB_ROWS>
    __device__ __forceinline__ void store(const GpumeU32 (&sum)[NB_ROWS], int dx, int dy, int from,
                                          GpumeU32 span) const
    {
        const int range = s.search.params.range;
        GpumeU16 *p;

        if (!s.sums)
            return;
        p = gpume_sums_of(s, at.x / TILE, at.y / TILE) + (dy + range) * s.pitch +
            gpume_place_of_column(range, dx + range);
        GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++) {
            if ((GpumeU32)(dy + j - from) <= span)
                *p = (GpumeU16)sum[j];
            p += s.pitch;
        }
    }

    __device__ __forceinline__ void store_result(int dx, int dy, GpumeU32 cost) const
    {
        gpume_store_size(s, 0, gpume_box(&s.search.params, TILE, at.x / TILE, at.y / TILE), dx, dy, cost);
    }

    __device__ __forceinline__ void store_quarter(int i, int dx, int dy, GpumeU32 cost) const
    {
        const int side = TILE / 2;
        const GpumeBox b = gpume_box(&s.search.params, side, at.x / side + i % 2, at.y / side + i / 2);

        if (b.w > 0 && b.h > 0)
            gpume_store_at(s.quarters, (GpumeU64)(b.y0 / side) * gpume_blocks(s.search.params.width, side) +
                           b.x0 / side, s.search.fields[0].source, b, dx, dy, cost);
    }
};

/** Adds up the absolute differences of a block that may be cut and the reference displaced by (dx, dy). */
static __device__ __forceinline__ GpumeU32
gpume_sum_of_block(const GpumeCudaArgs &a, const GpumeBox &b, int dx, int dy)
{
    const GpumeCudaPlane &ref = a.fields[0].plane;
    GpumeU32 sum = 0;

    GPUME_NO_UNROLL for (int y = 0; y < b.h; y++) {
        const GpumeU8 *p = (const GpumeU8 *)a.cur.data + (b.y0 + y) * a.cur.linesize;
        const GpumeU8 *q = (const GpumeU8 *)ref.data + (b.y0 + dy + y) * ref.linesize;

        GPUME_NO_UNROLL for (int x = 0; x < b.w; x += 4)
            sum = gpume_sad4(gpume_load<GpumeU8>(p + b.x0 + x, b.w - x, p + a.params.width),
                             gpume_load<GpumeU8>(q + b.x0 + dx + x, b.w - x, q + a.params.width), sum);
    }
    return sum;
}

/** Searches a tile that the right or the bottom edge of the picture cuts: a thread has a candidate at a time. */
template<int SIDE>
static __device__ __forceinline__ void
gpume_search_cut(const GpumeCudaSumsArgs &s, GpumeU32 *shared, const GpumeTileSums &sums)
{
    const int across = TILE / SIDE, nb = across * across;
    const int quarters = SIDE < TILE / 2 ? 4 : 0, results = nb + quarters + (nb > 1);
    const GpumeCudaArgs &a = s.search;
    const int range = a.params.range, side = 2 * range + 1;
    const GpumeBox whole = gpume_box(&a.params, TILE, sums.at.x / TILE, sums.at.y / TILE);
    GpumeU64 best[results], key;

    GPUME_UNROLL for (int k = 0; k < results; k++)
        best[k] = ~0ull;
    GPUME_NO_UNROLL for (int i = threadIdx.x; i < side * side; i += blockDim.x) {
        const int dy = i / side - range, dx = i % side - range;
        const GpumeU32 order = gpume_order(range, dx, dy);
        GpumeU32 sum[1] = { 0 }, quarter[4] = { 0 };

        GPUME_UNROLL for (int k = 0; k < nb; k++) {
            const GpumeBox b = gpume_box(&a.params, SIDE, sums.at.x / SIDE + k % across,
                                         sums.at.y / SIDE + k / across);

            if (b.w > 0 && b.h > 0 && gpume_admissible(&b, dx, dy)) {
                const GpumeU32 one = gpume_sum_of_block(a, b, dx, dy);
                const GpumeU64 its = gpume_key(one, order);

                best[k] = its < best[k] ? its : best[k];
                sum[0] += one;
                quarter[k / across / 2 * 2 + k % across / 2] += one;
            }
        }
        GPUME_UNROLL for (int k = 0; k < quarters; k++) {
            const GpumeBox b = gpume_box(&a.params, TILE / 2, sums.at.x / (TILE / 2) + k % 2,
                                         sums.at.y / (TILE / 2) + k / 2);
            const GpumeU64 its = gpume_key(quarter[k], order);

            if (b.w > 0 && b.h > 0 && gpume_admissible(&b, dx, dy))
                best[nb + k] = its < best[nb + k] ? its : best[nb + k];
        }
        if (gpume_admissible(&whole, dx, dy)) {
            const GpumeU64 its = gpume_key(sum[0], order);

            sums.store<1>(sum, dx, dy, whole.min_dy, whole.max_dy - whole.min_dy);
            best[results - 1] = its < best[results - 1] ? its : best[results - 1];
        }
    }
    key = gpume_least_of_all<results>(shared, best);
    if (threadIdx.x < results) {
        const int k = threadIdx.x;
        const GpumeBox b = gpume_box(&a.params, SIDE, sums.at.x / SIDE + k % across, sums.at.y / SIDE + k / across);
        const GpumeVector v = gpume_vector_of_order(range, (int)(GpumeU32)key);

        if (nb > 1 && k == results - 1)
            sums.store_result(v.dx, v.dy, (GpumeU32)(key >> 32));
        else if (k >= nb)
            sums.store_quarter(k - nb, v.dx, v.dy, (GpumeU32)(key >> 32));
        else if (b.w > 0 && b.h > 0 && a.costs)
            gpume_store(a, b, 0, b.x0 / SIDE, b.y0 / SIDE, v.dx, v.dy, (GpumeU32)(key >> 32));
    }
}

/**
 * grid:   tiles in a row, rows of them in a strip
 * block:  whole warps
 * shared: as for full search of tiles, or GPUME_CUDA_TILE_RESULTS() keys of two words for each warp
 */
GPUME_KERNEL_OF(GpumeCudaSumsArgs, GPUME_CUDA_FULL_THREADS, 2)
{
    GPUME_SHARED(GpumeU32, shared);
    const GpumeCudaArgs &a = args.search;
    const GpumePlace at = { (int)blockIdx.x * TILE, (args.first_row + (int)blockIdx.y) * TILE, 0 };
    const GpumeTileSums sums = { args, at };
    const int whole = at.x + TILE <= a.params.width;
    const int h     = a.params.height - at.y;

    if (whole && h >= TILE)
        GpumeTile<GPUME_CUDA_SIDE, TILE, GPUME_CUDA_VARIANT, GpumeTileSums>(a, sums, shared, at).search();
    else if (whole && h == TILE / 2)
        /* as in 1080 lines */
        GpumeTile<GPUME_CUDA_SIDE, TILE / 2, GPUME_CUDA_VARIANT, GpumeTileSums>(a, sums, shared, at).search();
    else
        gpume_search_cut<GPUME_CUDA_SIDE>(args, shared, sums);
}
