/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of samples of more than 8 bits. With k bits more, h being a sample's upper
 * 8 bits, |a - b| >= |h(a) - h(b)| * 2^k - (2^k - 1). So the sums of absolute differences of bytes, which
 * take one instruction for four samples, bound the cost of every candidate, and only those whose
 * bound is not above the least cost so far are evaluated.
 */

#ifndef AVFILTER_GPUME_CUDA_DEEP_CUH
#define AVFILTER_GPUME_CUDA_DEEP_CUH

#include "libavfilter/gpume/cuda/full.cuh"

/** Returns the upper 8 bits of four samples. Those above the depth's greatest, which none should be, count as it. */
static __device__ __forceinline__ GpumeU32 gpume_upper_bytes(GpumeU32 lo, GpumeU32 hi, int shift)
{
    return gpume_umin((lo & 0xffff) >> shift, 255)       | gpume_umin(lo >> 16 >> shift, 255) << 8 |
           gpume_umin((hi & 0xffff) >> shift, 255) << 16 | gpume_umin(hi >> 16 >> shift, 255) << 24;
}

/**
 * A tile of the picture, FULL_TILE_WIDTH samples wide, which holds PARTS rows of blocks of SIDE x
 * HEIGHT samples. Warps share the rows among themselves, and the candidates of a row. A thread has
 * one horizontal and NB_ROWS consecutive vertical displacements, as in GpumeTile; bounds are
 * summed up from below zero on, so that a negative one is that of a candidate to be evaluated.
 */
template<int SIDE, int HEIGHT, int NB_ROWS>
struct GpumeDeepTile {
    static const int WORDS  = GPUME_CUDA_FULL_TILE_WIDTH / 4;
    static const int BLOCKS = GPUME_CUDA_FULL_TILE_WIDTH / SIDE;    ///< in a row
    static const int PARTS  = GPUME_CUDA_DEEP_PARTS(SIDE);
    /** Lanes that evaluate a candidate: few of large blocks are evaluated, but many of small ones. */
    static const int LANES  = SIDE == 4 ? 1 : 8;

    const GpumeCudaArgs &a;
    const GpumeParams &p;
    const GpumeCudaPlane ref;
    GpumeU32 *const shared;
    GpumeU32 *samples;          ///< the tile's, two a word
    GpumeU32 *limits;           ///< the least cost so far, by block
    GpumeU32 *candidates;       ///< the warp's: what is evaluated together
    int x0, y0, z;
    int range;
    int copy, pitch;            ///< words from copy to copy, and from row to row
    int left;                   ///< displacement at which the window begins: at a word
    int columns;                ///< of candidates, four to a word
    int lane, part;
    int min_dy, max_dy;         ///< of the warp's row of blocks
    int more;                   ///< bits of a sample beyond 8
    int whole_words;            ///< samples of the reference can be read as such
    GpumeU32 cur[HEIGHT][WORDS];
    GpumeU64 best[BLOCKS];      ///< of all lanes

    __device__ __forceinline__ GpumeDeepTile(const GpumeCudaArgs &args, GpumeU32 *words, const GpumePlace &at)
        : a(args), p(args.params), ref(gpume_field(args, at.z).plane), shared(words), x0(at.x), y0(at.y), z(at.z)
    {
        const int warp = threadIdx.x / 32;

        lane       = threadIdx.x & 31;
        part       = warp % PARTS;
        samples    = shared + a.full.shared_words;
        limits     = samples + PARTS * SIDE * GPUME_CUDA_FULL_TILE_WIDTH / 2;
        candidates = limits + PARTS * BLOCKS + 32 * warp;
        range      = p.range;
        more       = p.depth - 8;
        copy       = a.full.copy_words;
        pitch      = GPUME_CUDA_FULL_PITCH(copy);
        min_dy     = gpume_min_displacement(range, y0 + part * SIDE);
        max_dy     = gpume_max_displacement(range, p.height, y0 + part * SIDE + HEIGHT);
        whole_words = !((ref.data | ref.linesize) & 3);
        GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
            best[k] = ~0ull;
    }

    /** Load the tile: all of its rows of blocks, or the first ones. */
    __device__ __forceinline__ void load_tile(int parts)
    {
        const int words = GPUME_CUDA_FULL_TILE_WIDTH / 2, rows = PARTS == 1 ? HEIGHT : parts * SIDE;

        for (int i = threadIdx.x; i < rows * words; i += blockDim.x) {
            const GpumeU8 *row = (const GpumeU8 *)a.cur.data + (y0 + i / words) * a.cur.linesize;

            samples[i] = GpumeSample<GpumeU16>::right_justify(
                gpume_load<GpumeU16>(row + 2 * (x0 + 2 * (i % words)), 2, row + 2 * p.width), p.shift);
        }
        /* what elimination has found before it gave up */
        if (threadIdx.x < parts * BLOCKS)
            limits[threadIdx.x] = a.full.only_remaining ?
                ((const GpumeU32 *)a.costs)[gpume_place(a, z, x0 / SIDE + threadIdx.x % BLOCKS,
                                                        y0 / SIDE + threadIdx.x / BLOCKS)] : ~0u;
        __syncthreads();
        GPUME_UNROLL for (int y = 0; y < HEIGHT; y++)
            GPUME_UNROLL for (int c = 0; c < WORDS; c++) {
                const GpumeU32 *two = samples + ((part < parts ? part : 0) * SIDE + y) * words + 2 * c;

                cur[y][c] = gpume_upper_bytes(two[0], two[1], more);
            }
    }

    /** Loads the upper bytes of four samples from column x of a row of the reference, as gpume_load_any() does. */
    __device__ __forceinline__ GpumeU32 load_upper(int whole, const GpumeU8 *row, int x) const
    {
        return gpume_upper_bytes(gpume_load_any<GpumeU16>(whole, row, x,     p.width),
                                 gpume_load_any<GpumeU16>(whole, row, x + 2, p.width), p.shift + more);
    }

    /** Loads the window, as gpume_load_window() does: upper bytes of the reference from (left, top) on. */
    __device__ __forceinline__ void load_window(int top, int row_words, int rows)
    {
        const int whole = gpume_whole_words(ref, p);
        const GpumeU32 reciprocal = GPUME_RECIPROCAL(row_words);
        const int nb = rows * row_words;

        for (int i = threadIdx.x; i < nb; i += 2 * blockDim.x) {
            GpumeU32 lo[2], hi[2];
            int at[2];

            /* together: they take their time */
            GPUME_UNROLL for (int j = 0; j < 2; j++) {
                const int k = gpume_min(i + j * blockDim.x, nb - 1);
                const int y = GPUME_DIVIDE(k, reciprocal);
                const int x = k - y * row_words;
                const GpumeU8 *row = gpume_row_inside(p, ref, top + y);

                at[j] = y * pitch + x;
                /* one branch for both */
                if (whole) {
                    lo[j] = load_upper(1, row, left + 4 * x);
                    hi[j] = load_upper(1, row, left + 4 * x + 4);
                } else {
                    lo[j] = load_upper(0, row, left + 4 * x);
                    hi[j] = load_upper(0, row, left + 4 * x + 4);
                }
            }
            GPUME_UNROLL for (int j = 0; j < 2; j++) {
                if (j && i + j * blockDim.x >= nb)
                    break;
                GPUME_UNROLL for (int shift = 0; shift < 4; shift++)
                    shared[at[j] + shift * copy] = gpume_shifted(lo[j], hi[j], shift);
            }
        }
    }

    /** Adds up the absolute differences of row y of a block and the reference displaced by (dx, dy). */
    __device__ __forceinline__ GpumeU32 row_cost(int block, int y, int dx, int dy) const
    {
        const int x = x0 + block * SIDE + dx;
        const int start = 2 * x & 3;
        const GpumeU8 *row  = (const GpumeU8 *)ref.data + (y0 + part * SIDE + dy + y) * ref.linesize;
        const GpumeU32 *two = samples + (part * SIDE + y) * GPUME_CUDA_FULL_TILE_WIDTH / 2 + block * SIDE / 2;
        GpumeU32 cost = 0;

        if (whole_words && 2 * x - start + 2 * SIDE + 4 <= 2 * p.width) {
            const GpumeU32 *words = (const GpumeU32 *)(row + 2 * x - start);
            GpumeU32 lo = words[0];

            GPUME_UNROLL for (int c = 0; c < SIDE / 2; c++) {
                const GpumeU32 hi = words[c + 1];

                cost = gpume_sad2(two[c], GpumeSample<GpumeU16>::right_justify(gpume_funnel(lo, hi, 8 * start),
                                                                               p.shift), cost);
                lo = hi;
            }
        } else {
            GPUME_NO_UNROLL for (int c = 0; c < SIDE / 2; c++)
                cost = gpume_sad2(two[c], GpumeSample<GpumeU16>::right_justify(
                    gpume_load<GpumeU16>(row + 2 * (x + 2 * c), 2, row + 2 * p.width), p.shift), cost);
        }
        return cost;
    }

    /** Evaluate this lane's candidate of a block if it has one. All lanes call it. */
    __device__ __forceinline__ GpumeU64 evaluate(int block, int have, int dx, int dy)
    {
        const GpumeU32 mask = __ballot_sync(GPUME_WHOLE_WARP, have);
        const int nb = gpume_popcount(mask);
        GpumeU64 least = ~0ull;

        if (LANES == 1) {
            GpumeU32 cost = 0;

            if (have) {
                GPUME_UNROLL for (int y = 0; y < HEIGHT; y++)
                    cost += row_cost(block, y, dx, dy);
                least = gpume_key(cost, gpume_order(range, dx, dy));
            }
            return gpume_least<1, 32>(least);
        }
        if (have)
            candidates[gpume_popcount(mask & ((1u << lane) - 1))] = gpume_vector_of(dx, dy);
        __syncwarp();
        for (int i = 0; i < nb; i += 32 / LANES) {
            const int valid = i + lane / LANES < nb;
            const GpumeU32 entry = candidates[valid ? i + lane / LANES : i];
            const int ex = (short)(entry & 0xffff), ey = (short)(entry >> 16);
            GpumeU32 cost = 0;
            GpumeU64 key;

            GPUME_UNROLL for (int y = 0; y < HEIGHT; y += LANES)
                if (y + LANES <= HEIGHT || y + lane % LANES < HEIGHT)
                    cost += row_cost(block, y + lane % LANES, ex, ey);
            GPUME_UNROLL for (int bit = 1; bit < LANES; bit <<= 1)
                cost += __shfl_xor_sync(GPUME_WHOLE_WARP, cost, bit);
            key   = valid ? gpume_key(cost, gpume_order(range, ex, ey)) : ~0ull;
            least = key < least ? key : least;
        }
        __syncwarp();
        return gpume_least<LANES, 32>(least);
    }

    /** Let a candidate of a block become the best one. */
    __device__ __forceinline__ void take(int block, GpumeU64 key)
    {
        if (key >= best[block])
            return;
        best[block] = key;
        if (!lane)
            atomicMin(&limits[part * BLOCKS + block], (GpumeU32)(key >> 32));
    }

    /** Returns whether the block at x may be displaced by dx. */
    __device__ __forceinline__ int inside(int block, int dx) const
    {
        const int x = x0 + block * SIDE;

        return dx >= -range && dx <= range && x + dx >= 0 && x + dx + SIDE <= p.width;
    }

    /**
     * Evaluate those of NB_ROWS candidates, from (dx, dy) on down, that have a bit.
     * @param bits by block, the last candidate being bit 0
     */
    __device__ __forceinline__ void evaluate_some(const GpumeU32 (&bits)[BLOCKS], int dx, int dy)
    {
        /* rows that are admissible */
        const int first = gpume_max(0, gpume_min(min_dy - dy, NB_ROWS));
        const int end   = gpume_max(0, gpume_min(max_dy - dy + 1, NB_ROWS));
        const GpumeU32 rows = ((1u << (NB_ROWS - first)) - 1) & ~((1u << (NB_ROWS - end)) - 1);

        GPUME_UNROLL for (int k = 0; k < BLOCKS; k++) {
            GpumeU32 rest = inside(k, dx) ? bits[k] & rows : 0;

            while (__ballot_sync(GPUME_WHOLE_WARP, rest != 0)) {
                take(k, evaluate(k, rest != 0, dx, dy + NB_ROWS - 1 - gpume_first_bit(rest)));
                rest &= rest - 1;
            }
        }
    }

    /** Try the candidates of so many runs from displacement cy on: from the middle run outwards. */
    __device__ __forceinline__ void try_runs(int cy, int runs)
    {
        const GpumeU32 reciprocal = GPUME_RECIPROCAL_LARGE(columns);
        const GpumeU32 slack = (SIDE * HEIGHT) * ((1u << more) - 1);
        const int total = 4 * columns * runs;

        for (int at = threadIdx.x / 32 / PARTS * 32; at < total; at += blockDim.x / PARTS) {
            /* the last one again where there are no more */
            const int i     = gpume_min(at + lane, total - 1);
            const int line  = GPUME_DIVIDE_LARGE(i, reciprocal);    // of a copy
            const int run   = (runs - 1) / 2 + (line & 4 ? line / 4 + 1 : -(line / 4)) / 2;
            const int shift = line & 3;
            const int word  = i - line * columns;
            const GpumeU32 *win = shared + (run * NB_ROWS + part * SIDE) * pitch + shift * copy + word;
            GpumeU32 sum[BLOCKS][NB_ROWS], bits[BLOCKS], any = 0;

            GPUME_UNROLL for (int k = 0; k < BLOCKS; k++) {
                /* as it is now: other warps make it less */
                const GpumeU32 limit = atomicMin(&limits[part * BLOCKS + k], ~0u);

                GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++)
                    sum[k][j] = ~((limit + slack) >> more);
            }
            gpume_add_differences<SIDE>(sum, cur, win, pitch);
            GPUME_UNROLL for (int k = 0; k < BLOCKS; k++) {
                bits[k] = 0;
                GPUME_UNROLL for (int j = 0; j < NB_ROWS; j++)
                    bits[k] = gpume_funnel(sum[k][j], bits[k], 31);
                /* nothing is better than the zero vector that costs nothing */
                bits[k] = at + lane < total && best[k] ? bits[k] : 0;
                any |= bits[k];
            }
            if (__ballot_sync(GPUME_WHOLE_WARP, any != 0))
                evaluate_some(bits, left + 4 * word + shift - x0, cy + run * NB_ROWS);
        }
    }

    /** @param parts rows of blocks that are whole, 1 to PARTS */
    __device__ __forceinline__ void search(int parts)
    {
        const int has_part = part < parts;
        /* what is admissible for any of the blocks */
        const int min_dx = gpume_min_displacement(range, x0 + GPUME_CUDA_FULL_TILE_WIDTH - SIDE);
        const int max_dx = gpume_max_displacement(range, p.width, x0 + SIDE);
        const int first  = gpume_min_displacement(range, y0 + (parts - 1) * SIDE);
        const int last   = gpume_max_displacement(range, p.height, y0 + HEIGHT);

        left    = (x0 + min_dx) & ~3;
        columns = (x0 + max_dx - left) / 4 + 1;
        load_tile(parts);
        if (has_part) {
            GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
                take(k, evaluate(k, !lane, 0, 0));
        }
        for (int cy = first; cy <= last; cy += a.full.runs * NB_ROWS) {
            const int runs = gpume_min(a.full.runs, (last - cy) / NB_ROWS + 1);

            __syncthreads();
            load_window(y0 + cy, columns + WORDS - 1, runs * NB_ROWS + (parts - 1) * SIDE + HEIGHT - 1);
            __syncthreads();
            if (has_part)
                try_runs(cy, runs);
        }
        store(parts);
    }

    /** Stores the best of all warps' candidates. */
    __device__ __forceinline__ void store(int parts)
    {
        GpumeU64 *keys = (GpumeU64 *)shared;
        GpumeU64 key;

        __syncthreads();
        if (!lane) {
            GPUME_UNROLL for (int k = 0; k < BLOCKS; k++)
                keys[threadIdx.x / 32 * BLOCKS + k] = best[k];
        }
        __syncthreads();
        if (threadIdx.x >= parts * BLOCKS)
            return;
        /* warps with this row of blocks are PARTS from each other */
        key = keys[threadIdx.x];
        for (int i = PARTS; i < blockDim.x >> 5; i += PARTS)
            if (keys[i * BLOCKS + threadIdx.x] < key)
                key = keys[i * BLOCKS + threadIdx.x];

        const int bx = x0 / SIDE + threadIdx.x % BLOCKS, by = y0 / SIDE + threadIdx.x / BLOCKS;
        const GpumeVector v = gpume_vector_of_order(range, (int)(GpumeU32)key);

        gpume_store(a, gpume_box(&p, SIDE, bx, by), z, bx, by, v.dx, v.dy, (GpumeU32)(key >> 32));
    }
};

#endif /* AVFILTER_GPUME_CUDA_DEEP_CUH */
