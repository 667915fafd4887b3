/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Chooses the vectors at a phase. Variant 0 chooses the initial vector of each cell from the
 * fields; variant 1 is a pass in which a cell may adopt the vector of a neighbour, or one near its
 * own.
 *
 * A lane has a candidate and computes its penalties. Then different candidates are collected, and
 * four lanes compare the samples of each.
 */

#include "libavfilter/gpume/mvfps/match.cuh"

/** Number of candidates of a cell. */
#define CANDIDATES (GPUME_CUDA_VARIANT ? 17 : 21)
/** Number of bits of a candidate's order in its key, below the cost. */
#define ORDER_BITS 5
/** Number of lanes that share a candidate, and of rows for each of them. */
#define SHARES 4
#define SHARE_ROWS (MVFPS_CELL / SHARES)

/** Returns the position of cell i of 0 to 8: the cell itself, then its neighbours in raster order. */
static __device__ __forceinline__ void mvfps_around(int i, int *x, int *y)
{
    const int k = i ? i - (i <= 4) : 4;

    *x = k % 3 - 1;
    *y = k / 3 - 1;
}

static __device__ __forceinline__ MvfpsVector mvfps_opposite(MvfpsVector v)
{
    if (v.x != MVFPS_NONE) {
        v.x = (short)-v.x;
        v.y = (short)-v.y;
    }
    return v;
}

/** Returns this lane's candidate of the first step. */
static __device__ __forceinline__ MvfpsVector mvfps_candidate(const MvfpsCudaVectorsArgs &a, int cx, int cy, int lane)
{
    const MvfpsCudaFields &f = a.fields;
    MvfpsVector v = { MVFPS_NONE, 0 };
    int x, y;

    mvfps_around(lane < 18 ? lane / 2 : 0, &x, &y);
    const int at = 4 * (gpume_max(0, gpume_min(cy + 2 * y, f.rows - 1)) * f.cols +
                        gpume_max(0, gpume_min(cx + 2 * x, f.cols - 1)));
    const int opposite = lane < 18 ? lane & 1 : lane == 18;
    const GpumeU64 field = lane < 18 ? (lane & 1 ? f.after_past : f.before_future) :
                           lane == 18 ? f.before_past : lane == 19 ? f.after_future : 0;

    if (lane == 20)
        v.x = 0;
    if (field) {
        v = mvfps_load_vector(field + at);
        if (opposite)
            v = mvfps_opposite(v);
    }
    return v;
}

/**
 * Returns this lane's candidate of a pass, and sets *penalty to the penalty of its distances from
 * the neighbours. All lanes must call it.
 */
static __device__ __forceinline__ MvfpsVector mvfps_neighbour(const MvfpsCudaVectorsArgs &a, int cx, int cy, int lane,
                                                              GpumeU32 *penalty)
{
    const int cols = a.fields.cols, rows = a.fields.rows;
    MvfpsVector v = { MVFPS_NONE, 0 };
    GpumeU32 others, sum = 0;
    int x, y, nb;

    mvfps_around(lane < 9 ? lane : lane < CANDIDATES ? lane - 8 : 0, &x, &y);
    const int own = lane >= 9;
    const int has = lane < 9 && cx + x >= 0 && cx + x < cols && cy + y >= 0 && cy + y < rows;

    if (has || own)
        v = mvfps_load_vector(a.from + 4ll * (own ? cy * cols + cx : (cy + y) * cols + cx + x));
    if (own) {
        v.x = (short)(v.x + x);
        v.y = (short)(v.y + y);
    }
    others = __ballot_sync(GPUME_WHOLE_WARP, has) >> 1 & 0xff;
    nb     = gpume_popcount(others);
    GPUME_UNROLL for (int i = 0; i < 8; i++) {
        const MvfpsVector u = mvfps_of_word(__shfl_sync(GPUME_WHOLE_WARP, mvfps_word(v), i + 1));

        sum += others >> i & 1 ? mvfps_capped_distance(v, u) : 0;
    }
    *penalty = nb == 8 ? MVFPS_SMOOTH * sum / 8 : nb ? MVFPS_SMOOTH * sum / nb : 0;
    return v;
}

/**
 * Returns a vector of the list that passes in front of the best one at the sample (x, y), or the best one.
 * @param list vectors and their keys
 * @param best key of the best one
 */
static __device__ __forceinline__ GpumeU32 mvfps_foremost(const MvfpsCudaVectorsArgs &a, const GpumeU32 *list, int nb,
                                                          GpumeU32 word, GpumeU32 best, int x, int y)
{
    const int lane = threadIdx.x % 32, i = lane < nb ? lane : 0;
    const GpumeU32 key = list[2 * i + 1], limit = (best >> ORDER_BITS) + MVFPS_FRONT_COST;
    int near = lane < nb && key >> ORDER_BITS < limit &&
               mvfps_distance(mvfps_of_word(list[2 * i]), mvfps_of_word(word)) >= MVFPS_FRONT_APART;
    GpumeU32 least = ~0u;

    if (!__any_sync(GPUME_WHOLE_WARP, near))
        return word;
    if (near) {
        const MvfpsFields fields = mvfps_fields(a.fields);

        if (mvfps_is_in_front(&fields, mvfps_of_word(list[2 * i]), mvfps_of_word(word), x, y, a.part))
            least = key;
    }
    GPUME_UNROLL for (int bit = 1; bit < 32; bit <<= 1)
        least = gpume_umin(least, __shfl_xor_sync(GPUME_WHOLE_WARP, least, bit));
    const GpumeU32 whose = __ballot_sync(GPUME_WHOLE_WARP, least != ~0u && lane < nb && key == least);

    return whose ? list[2 * gpume_first_bit(whose)] : word;
}

/**
 * grid:   MVFPS_CUDA_VECTOR_WARPS cells of a row each, rows
 * block:  MVFPS_CUDA_VECTOR_WARPS warps
 * shared: MVFPS_CUDA_VECTOR_WORDS words for each warp
 */
GPUME_KERNEL_OF(MvfpsCudaVectorsArgs, 32 * MVFPS_CUDA_VECTOR_WARPS)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int cx = blockIdx.x * MVFPS_CUDA_VECTOR_WARPS + warp, cy = blockIdx.y;
    const int x0 = cx * MVFPS_CELL, y0 = cy * MVFPS_CELL;
    GpumeU32 word, penalty = 0, different, best = ~0u, limit = ~0u;
    int wanted, nb;
    MvfpsVector v;

    GPUME_SHARED(GpumeU32, shared);

    GpumeU32 *list = shared + warp * MVFPS_CUDA_VECTOR_WORDS;

    if (cx >= args.fields.cols || mvfps_is_cut(args.is_cut))
        return;
    if (GPUME_CUDA_VARIANT)
        v = mvfps_neighbour(args, cx, cy, lane, &penalty);
    else
        v = mvfps_candidate(args, cx, cy, lane);
    word   = mvfps_word(v);
    wanted = lane < CANDIDATES && v.x != MVFPS_NONE;
    GPUME_UNROLL for (int i = 0; i < CANDIDATES - 1; i++) {
        const GpumeU32 other = __shfl_sync(GPUME_WHOLE_WARP, word, i);

        wanted &= !(i < lane && other == word);
    }
    if (wanted) {
        const MvfpsFields fields = mvfps_fields(args.fields);

        penalty += mvfps_field_penalty(&fields, v, x0, y0, args.part);
    }
    different = __ballot_sync(GPUME_WHOLE_WARP, wanted);
    nb        = gpume_popcount(different);
    if (wanted) {
        const int rank = gpume_popcount(different & ((1u << lane) - 1));

        list[2 * rank]     = word;
        list[2 * rank + 1] = penalty << ORDER_BITS | lane;
    }
    __syncwarp();

    GPUME_NO_UNROLL for (int first = 0; first < nb; first += 32 / SHARES) {
        const int i = first + lane / SHARES;
        GpumeU32 key = ~0u, sum = 0;

        if (i < nb) {
            const MvfpsVector u = mvfps_of_word(list[2 * i]);

            key = list[2 * i + 1];
            /* a candidate that costs more is neither the best one nor in front of it */
            if (key >> ORDER_BITS >= limit >> ORDER_BITS)
                key = ~0u;
            else
                sum = mvfps_sad_rows<MvfpsSample, SHARE_ROWS>(
                          mvfps_place(args.before, args.stride, args.w, args.h, x0, y0,
                                      mvfps_before(u.x, args.part), mvfps_before(u.y, args.part)),
                          mvfps_place(args.after, args.stride, args.w, args.h, x0, y0,
                                      mvfps_after(u.x, args.part), mvfps_after(u.y, args.part)),
                          args.stride, lane % SHARES * SHARE_ROWS);
        }
        sum = mvfps_add_lanes(sum, 1, SHARES);
        if (key != ~0u)
            key += sum >> (args.depth - 8) << ORDER_BITS;
        __syncwarp();
        if (i < nb && lane % SHARES == 0)
            list[2 * i + 1] = key;
        best = gpume_umin(best, key);
        GPUME_UNROLL for (int bit = SHARES; bit < 32; bit <<= 1)
            best = gpume_umin(best, __shfl_xor_sync(GPUME_WHOLE_WARP, best, bit));
        limit = best + (MVFPS_FRONT_COST << ORDER_BITS);
    }
    word = __shfl_sync(GPUME_WHOLE_WARP, word, (int)(best & ((1 << ORDER_BITS) - 1)));
    __syncwarp();
    word = mvfps_foremost(args, list, nb, word, best, x0 + MVFPS_CELL / 2, y0 + MVFPS_CELL / 2);
    if (mvfps_moves_still((const MvfpsCellSums *)args.sums, args.fields.cols, args.fields.rows, mvfps_of_word(word),
                          x0, y0, args.part))
        word = 0;
    if (lane == 0)
        ((GpumeU32 *)args.to)[cy * args.fields.cols + cx] = word;
}
