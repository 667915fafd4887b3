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

/** Store the vector of block b, one of a side, where these go. */
static __device__ __forceinline__ void
gpume_store_side(const GpumeCudaSumsArgs &s, const GpumeCudaSumsSize &to, int side, const GpumeBox &b, int dx, int dy,
                 GpumeU32 cost)
{
    const GpumeU64 bw = gpume_blocks(s.search.params.width, side);

    gpume_store_at(to, b.y0 / side * bw + b.x0 / side, s.search.fields[0].source, b, dx, dy, cost);
}

/** Store the vector of block b, one of the sizes from tiles on. */
static __device__ __forceinline__ void
gpume_store_size(const GpumeCudaSumsArgs &s, int size, const GpumeBox &b, int dx, int dy, GpumeU32 cost)
{
    gpume_store_side(s, s.sizes[size], GPUME_CUDA_SUMS_TILE << size, b, dx, dy, cost);
}

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
        p = gpume_sums_of(s, at.x / GPUME_CUDA_SUMS_TILE, at.y / GPUME_CUDA_SUMS_TILE) + (dy + range) * s.pitch +
            gpume_place_of_column(range, dx + range);
        GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++) {
            if ((GpumeU32)(dy + j - from) <= span)
                *p = (GpumeU16)sum[j];
            p += s.pitch;
        }
    }

    /** The same of a tile that is cut. */
    __device__ __forceinline__ void store_cut(const GpumeBox &b, GpumeU32 sum, int dx, int dy) const
    {
        const GpumeU32 one[1] = { sum };

        store<1>(one, dx, dy, dy, 0);
    }

    __device__ __forceinline__ void store_result(int dx, int dy, GpumeU32 cost) const
    {
        const int side = GPUME_CUDA_SUMS_TILE;

        gpume_store_size(s, 0, gpume_box(&s.search.params, side, at.x / side, at.y / side), dx, dy, cost);
    }
};

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
 * @param shared GPUME_CUDA_TILE_RESULTS() keys of two words for each warp
 * @param sums   is told what becomes of the tile's sums, and of the vector of the tile
 */
template<typename Sample, int SIDE, class Sums>
static __device__ __forceinline__ void
gpume_search_cut(const GpumeCudaSumsArgs &s, GpumeU32 *shared, const GpumePlace &at, const Sums &sums)
{
    const int tile = GPUME_CUDA_SUMS_TILE;
    const int across = tile / SIDE, nb = across * across;
    const int eights = SIDE == 4 ? 4 : 0, results = nb + eights + (nb > 1);
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

            sums.store_cut(whole, sum, dx, dy);
            best[results - 1] = its < best[results - 1] ? its : best[results - 1];
        }
    }
    key = gpume_least_of_all<results>(shared, best);
    if (threadIdx.x < results) {
        const int k = threadIdx.x, eight = k - nb;
        const GpumeBox b = k < nb ? gpume_box(&a.params, SIDE, at.x / SIDE + k % across, at.y / SIDE + k / across) :
                                    gpume_box(&a.params, 8, at.x / 8 + eight % 2, at.y / 8 + eight / 2);
        const GpumeVector v = gpume_vector_of_order(range, (int)(GpumeU32)key);

        if (nb > 1 && k == results - 1)
            sums.store_result(v.dx, v.dy, (GpumeU32)(key >> 32));
        else if (b.w > 0 && b.h > 0 && k >= nb)
            gpume_store_side(s, s.eights, 8, b, v.dx, v.dy, (GpumeU32)(key >> 32));
        else if (b.w > 0 && b.h > 0 && a.costs)
            gpume_store(a, b, 0, b.x0 / SIDE, b.y0 / SIDE, v.dx, v.dy, (GpumeU32)(key >> 32));
    }
}

#endif /* AVFILTER_GPUME_CUDA_SUMS_CUH */
