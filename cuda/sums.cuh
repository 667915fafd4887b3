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

/** The costs of square (column, row), counted from the picture's first. */
static __device__ __forceinline__ GpumeU32 *gpume_square_sums_of(const GpumeCudaSumsArgs &s, int column, int row)
{
    const int first_row = s.first_row * GPUME_CUDA_SUMS_TILE / GPUME_CUDA_SQUARES_SIDE;

    return (GpumeU32 *)s.sums + ((GpumeU64)(row - first_row) * s.across + column) * gpume_nb_sums(s);
}

/** The displacement whose costs are at a place of their rows, from a window of so many copies. */
static __device__ __forceinline__ int gpume_square_dx(int range, int copies, int place)
{
    const int places = GPUME_CUDA_RUNS_PLACES(range, copies), column = place / places, its = place % places;

    return GPUME_CUDA_RUNS_LEFT(range, copies) + copies * (its / copies * GPUME_CUDA_RUNS_DX + column) + its % copies;
}

/** Store the vector of block b, one of a side, where these go if anywhere. */
template<int SIDE>
static __device__ __forceinline__ void
gpume_store_side(const GpumeCudaSumsArgs &s, const GpumeBox &b, int dx, int dy, GpumeU32 cost)
{
    const GpumeCudaSumsSize &to = s.sizes[GPUME_CUDA_SUMMED(SIDE)];
    const GpumeU64 bw = gpume_blocks(s.search.params.width, SIDE);

    if (to.costs)
        gpume_store_at(to, b.y0 / SIDE * bw + b.x0 / SIDE, s.search.fields[0].source, b, dx, dy, cost);
}

/** Adds up the absolute differences of a block that may be cut and the reference displaced by (dx, dy). */
template<typename Sample>
static __device__ __forceinline__ GpumeU32
gpume_sum_of_block(const GpumeCudaArgs &a, const GpumeBox &b, int dx, int dy)
{
    const GpumeCudaPlane &ref = a.fields[0].plane;
    const int bytes = GpumeSample<Sample>::bytes, width = a.params.width * bytes;
    GpumeU32 sum = 0;

    GPUME_NO_UNROLL for (int y = 0; y < b.h; y++) {
        const GpumeU8 *p = (const GpumeU8 *)a.cur.data + (b.y0 + y) * a.cur.linesize;
        const GpumeU8 *q = (const GpumeU8 *)ref.data + (b.y0 + dy + y) * ref.linesize;

        GPUME_NO_UNROLL for (int x = 0; x < b.w; x += GpumeSample<Sample>::per_word) {
            const GpumeU32 v = gpume_load<Sample>(p + (b.x0 + x) * bytes, b.w - x, p + width);
            const GpumeU32 w = gpume_load<Sample>(q + (b.x0 + dx + x) * bytes, b.w - x, q + width);

            sum = GpumeSad<Sample>::word(GpumeSample<Sample>::right_justify(v, a.params.shift),
                                         GpumeSample<Sample>::right_justify(w, a.params.shift), sum);
        }
    }
    return sum;
}

/**
 * Searches a tile that the right or the bottom edge of the picture cuts: a thread has a candidate at a time.
 * @param shared up to 21 keys of two words for each warp
 * @param sums   keeps the tile's sums
 */
template<typename Sample, int SIDE, class Sums>
static __device__ __forceinline__ void
gpume_search_cut(const GpumeCudaSumsArgs &s, GpumeU32 *shared, const GpumePlace &at, const Sums &sums)
{
    const int tile = GPUME_CUDA_SUMS_TILE;
    const int across = tile / SIDE, nb = across * across;
    const int eights = SIDE == 4 ? 4 : 0, results = nb + eights + 1;
    const GpumeCudaArgs &a = s.search;
    const int range = a.params.range, side = 2 * range + 1;
    const GpumeBox whole = gpume_box(&a.params, tile, at.x / tile, at.y / tile);
    GpumeU64 best[results], key;

    GPUME_UNROLL for (int k = 0; k < results; k++)
        best[k] = ~0ull;
    GPUME_NO_UNROLL for (int i = threadIdx.x; i < side * side; i += blockDim.x) {
        const int dy = i / side - range, dx = i % side - range;
        const GpumeU32 order = gpume_order(range, dx, dy);
        GpumeU32 sum = 0, of_eights[4] = { 0 };

        GPUME_UNROLL for (int k = 0; k < nb; k++) {
            const GpumeBox b = gpume_box(&a.params, SIDE, at.x / SIDE + k % across,
                                         at.y / SIDE + k / across);

            if (b.w > 0 && b.h > 0 && gpume_admissible(&b, dx, dy)) {
                const GpumeU32 one = gpume_sum_of_block<Sample>(a, b, dx, dy);
                const GpumeU64 its = gpume_key(one, order);

                best[k] = its < best[k] ? its : best[k];
                sum += one;
                of_eights[k / across / 2 * 2 + k % across / 2] += one;
            }
        }
        GPUME_UNROLL for (int k = 0; k < eights; k++) {
            const GpumeBox b = gpume_box(&a.params, 8, at.x / 8 + k % 2, at.y / 8 + k / 2);

            if (b.w > 0 && b.h > 0 && gpume_admissible(&b, dx, dy)) {
                const GpumeU64 its = gpume_key(of_eights[k], order);

                best[nb + k] = its < best[nb + k] ? its : best[nb + k];
            }
        }
        if (gpume_admissible(&whole, dx, dy)) {
            const GpumeU64 its = gpume_key(sum, order);

            sums.store_cut(sum, dx, dy);
            best[results - 1] = its < best[results - 1] ? its : best[results - 1];
        }
    }
    key = gpume_least_of_all<results>(shared, best);
    if (threadIdx.x < results) {
        const int k = threadIdx.x, eight = k - nb;
        const GpumeBox b = k < nb ? gpume_box(&a.params, SIDE, at.x / SIDE + k % across, at.y / SIDE + k / across) :
                                    gpume_box(&a.params, 8, at.x / 8 + eight % 2, at.y / 8 + eight / 2);
        const GpumeVector v = gpume_vector_of_order(range, (int)(GpumeU32)key);

        if (k == results - 1)
            gpume_store_side<GPUME_CUDA_SUMS_TILE>(s, whole, v.dx, v.dy, (GpumeU32)(key >> 32));
        else if (b.w > 0 && b.h > 0 && k >= nb)
            gpume_store_side<8>(s, b, v.dx, v.dy, (GpumeU32)(key >> 32));
        else if (b.w > 0 && b.h > 0)
            gpume_store_side<SIDE>(s, b, v.dx, v.dy, (GpumeU32)(key >> 32));
    }
}

#endif /* AVFILTER_GPUME_CUDA_SUMS_CUH */
