/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of blocks of 16, 32 and 64 samples of more than 8 bits, whose costs are bounded by the sums of bytes'
 * differences that deepsums.cu keeps: those with the least sums are evaluated, then all that may be better. Blocks of
 * which many may be are left to deeprest.cu.
 */

#include "libavfilter/gpume/cuda/sums.cuh"

#define TILES    GPUME_CUDA_JOIN_TILES
#define HALF     (GPUME_CUDA_JOIN_TILES / 2)
#define NB_TILES GPUME_CUDA_DEEPJOIN_TILES
#define WHOLE    (NB_TILES + 4)
#define RESULTS  GPUME_CUDA_DEEPJOIN_RESULTS
#define TOGETHER GPUME_CUDA_SUMS_TOGETHER
#define ROOM     GPUME_CUDA_DEEPJOIN_ROOM

static_assert(TILES == 4 && TOGETHER == 4 && RESULTS == WHOLE + 1, "blocks are bits of a word");

/** Block k of a square: 0 is a tile, 1 one of half the square's side, 2 the square. */
static __device__ __forceinline__ int gpume_size_of(int k)
{
    return k < NB_TILES ? 0 : k < WHOLE ? 1 : 2;
}

/** Finds the least sums of all blocks: keys of 16 bits of sum, as far as that goes, and 16 of order. */
struct GpumeLeastSums {
    const int drop;                     ///< bits of a tile's sum that are too many
    GpumeU32 order[TOGETHER], may[TOGETHER];
    GpumeU32 key[RESULTS];

    __device__ __forceinline__ GpumeLeastSums(int depth) : drop(depth - 8)
    {
        GPUME_UNROLL for (int k = 0; k < RESULTS; k++)
            key[k] = ~0u;
    }

    __device__ __forceinline__ void take(int k, const GpumeU32 (&sum)[TOGETHER])
    {
        GPUME_UNROLL for (int j = 0; j < TOGETHER; j++) {
            const GpumeU32 its = sum[j] >> (drop + 2 * gpume_size_of(k)) << 16 | order[j];

            key[k] = may[j] >> k & 1 ? gpume_umin(key[k], its) : key[k];
        }
    }
};

/** Finds the sums that are no greater than they may be. */
struct GpumeSmallSums {
    /** By block: the order and the cost of the likeliest candidate, and how much less than sums costs may be. */
    const GpumeU32 *likeliest, *costs, *lacking;
    GpumeU32 order;                     ///< the least of those that are taken
    GpumeU32 found[TOGETHER];           ///< bits of blocks

    __device__ __forceinline__ void take(int k, const GpumeU32 (&sum)[TOGETHER])
    {
        /* of equal costs the first is the best */
        const GpumeU32 end = costs[k * (ROOM + 1)] + lacking[k] + (order < likeliest[k]);

        GPUME_UNROLL for (int j = 0; j < TOGETHER; j++)
            found[j] |= sum[j] < end ? 1u << k : 0;
    }
};

/** A square of the strip; a lane has some columns of displacements and takes them from the top down. */
struct GpumeDeepSquare {
    const GpumeCudaSumsArgs &s;
    const GpumeCudaArgs &a;
    const GpumeParams &p;
    const int bx, by, lane, line, down;
    const GpumeU32 tile, row;           ///< from tile to tile, bytes
    GpumeU32 *scales;                   ///< of tiles, four a word
    GpumeU32 *lacking;                  ///< how much costs may be below sums, by block
    GpumeU32 *likeliest;                ///< order of the candidate with the least sum
    GpumeU32 *counts;                   ///< others that may be better
    GpumeU32 *leasts;                   ///< each warp's least sums
    GpumeU32 *list;                     ///< ROOM of the others' orders, by block
    GpumeU32 *costs;                    ///< what the likeliest one costs, and these
    GpumeU32 scale[NB_TILES / 4];
    int dx[TOGETHER];                   ///< of each column
    GpumeU32 may[TOGETHER];             ///< bits of blocks for which they are admissible
    int first_dx;                       ///< the least of them

    __device__ __forceinline__ GpumeDeepSquare(const GpumeCudaSumsArgs &args, GpumeU32 *shared, int across)
        : s(args), a(args.search), p(args.search.params), bx(blockIdx.x), by(args.first_row / TILES + blockIdx.y),
          lane(threadIdx.x & 31), line(threadIdx.x / across), down(blockDim.x / across),
          tile(2 * gpume_nb_sums(args)), row(tile * args.across)
    {
        scales    = shared;
        lacking   = scales    + NB_TILES / 4;
        likeliest = lacking   + RESULTS;
        counts    = likeliest + RESULTS;
        leasts    = counts    + RESULTS;
        list      = leasts    + blockDim.x / 32 * RESULTS;
        costs     = list      + ROOM * RESULTS;
    }

    /** Tile i of block k. */
    static __device__ __forceinline__ int tile_of(int k, int i)
    {
        const int half = k - NB_TILES;

        return k < NB_TILES ? k : k == WHOLE ? i :
               (half / 2 * HALF + i / HALF) * TILES + half % 2 * HALF + i % HALF;
    }

    /** The candidates of a block that are evaluated in this kernel. */
    static __device__ __forceinline__ int room_of(int k)
    {
        return ROOM >> 2 * gpume_size_of(k);
    }

    __device__ __forceinline__ GpumeBox box(int k) const
    {
        const int i = k - NB_TILES;

        return k < NB_TILES ? gpume_box(&p, GPUME_CUDA_SUMS_TILE, TILES * bx + k % TILES, TILES * by + k / TILES) :
               k < WHOLE    ? gpume_box(&p, GPUME_CUDA_JOIN_SIDE / 2, 2 * bx + (i & 1), 2 * by + (i >> 1)) :
                              gpume_box(&p, GPUME_CUDA_JOIN_SIDE, bx, by);
    }

    /** Whether block k is to be searched. */
    __device__ __forceinline__ int wanted(int k, const GpumeBox &b) const
    {
        const int size = gpume_size_of(k);

        return b.w > 0 && b.h > 0 &&
               (size == 0 ? p.block < GPUME_CUDA_SUMS_TILE && s.sizes[0].costs :
                size == 1 ? s.sizes[1].costs != 0 : s.sizes[2].costs != 0);
    }

    /** The bits of those of a row or a column of blocks. */
    static __device__ __forceinline__ GpumeU32 row_of(int i)
    {
        return i < TILES ? 0xfu << i * TILES : i < TILES + 2 ? 3u << (NB_TILES + 2 * (i - TILES)) : 1u << WHOLE;
    }

    static __device__ __forceinline__ GpumeU32 column_of(int i)
    {
        return i < TILES ? 0x1111u << i : i < TILES + 2 ? 5u << (NB_TILES + i - TILES) : 1u << WHOLE;
    }

    /** Load what is known of tiles, and say what is admissible. */
    __device__ __forceinline__ void begin()
    {
        const int column = (threadIdx.x - line * (s.pitch / TOGETHER)) * TOGETHER;
        GpumeU32 all;

        if (threadIdx.x < NB_TILES)
            ((GpumeU8 *)scales)[threadIdx.x] = *gpume_scale_of(s, TILES * bx + threadIdx.x % TILES,
                                                               TILES * (int)blockIdx.y + s.first_row +
                                                               threadIdx.x / TILES);
        for (int i = threadIdx.x; i < (ROOM + 1) * RESULTS; i += blockDim.x)
            costs[i] = 0;
        __syncthreads();
        /* of tiles first, in place of counts */
        if (threadIdx.x < NB_TILES) {
            const GpumeBox b = box(threadIdx.x);

            counts[threadIdx.x] = b.w > 0 && b.h > 0 ?
                                  gpume_lacking(b.w * b.h, ((GpumeU8 *)scales)[threadIdx.x]) : 0;
        }
        __syncthreads();
        if (threadIdx.x < RESULTS) {
            const int k = threadIdx.x, nb = 1 << 2 * gpume_size_of(k);
            GpumeU32 sum = 0;

            GPUME_NO_UNROLL for (int i = 0; i < nb; i++)
                sum += counts[tile_of(k, i)];
            lacking[k] = sum;
        }
        __syncthreads();
        if (threadIdx.x < RESULTS)
            counts[threadIdx.x] = 0;
        GPUME_UNROLL for (int i = 0; i < NB_TILES / 4; i++)
            scale[i] = scales[i];
        all = __ballot_sync(GPUME_WHOLE_WARP, lane < RESULTS && wanted(lane, box(lane)));
        first_dx = p.range;
        GPUME_UNROLL for (int j = 0; j < TOGETHER; j++) {
            dx[j]    = gpume_column_at(p.range, column + j) - p.range;
            first_dx = gpume_min(first_dx, dx[j]);
            may[j]   = 0;
        }
        GPUME_NO_UNROLL for (int i = 0; i <= TILES + 2; i++) {
            /* blocks of a diagonal */
            const GpumeBox b = box(i < TILES ? i * (TILES + 1) : i < TILES + 2 ? NB_TILES + 3 * (i - TILES) : WHOLE);

            GPUME_UNROLL for (int j = 0; j < TOGETHER; j++)
                may[j] |= dx[j] >= b.min_dx && dx[j] <= b.max_dx ? column_of(i) & all : 0;
        }
    }

    /** Bits of blocks for which a row of displacements is admissible. */
    __device__ __forceinline__ GpumeU32 may_rows(int dy) const
    {
        GpumeU32 bits = 0;

        GPUME_UNROLL for (int i = 0; i <= TILES + 2; i++) {
            const int side  = i < TILES ? GPUME_CUDA_SUMS_TILE : GPUME_CUDA_SUMS_TILE * (i < TILES + 2 ? HALF : TILES);
            const int start = by * GPUME_CUDA_JOIN_SIDE + side * (i < TILES ? i : i < TILES + 2 ? i - TILES : 0);

            if (dy >= gpume_min_displacement(p.range, start) &&
                dy <= gpume_max_displacement(p.range, p.height, gpume_min(start + side, p.height)))
                bits |= row_of(i);
        }
        return bits;
    }

    /** The scale of tile t, which is a constant. */
    __device__ __forceinline__ int scale_of(int t) const
    {
        return scale[t / 4] >> 8 * (t % 4) & 255;
    }

    /** Show a row of sums of all blocks to whom they concern. @param at where those of the first tile are */
    template<class To>
    __device__ __forceinline__ void show(const GpumeU8 *at, To &to) const
    {
        GpumeU32 whole[TOGETHER] = { 0 };

        GPUME_UNROLL for (int q = 0; q < 4; q++) {
            GpumeU32 half[TOGETHER] = { 0 };

            GPUME_UNROLL for (int i = 0; i < HALF * HALF; i++) {
                const int x = q % 2 * HALF + i % HALF, y = q / 2 * HALF + i / HALF, t = y * TILES + x;
                GpumeU32 sum[TOGETHER];
                int2 v;

                gpume_load_global(&v, at + (GpumeU64)y * row + x * tile);
                sum[0] = ((GpumeU32)v.x & 0xffff) << scale_of(t);
                sum[1] = ((GpumeU32)v.x >> 16)    << scale_of(t);
                sum[2] = ((GpumeU32)v.y & 0xffff) << scale_of(t);
                sum[3] = ((GpumeU32)v.y >> 16)    << scale_of(t);
                to.take(t, sum);
                GPUME_UNROLL for (int j = 0; j < TOGETHER; j++)
                    half[j] += sum[j];
            }
            to.take(NB_TILES + q, half);
            GPUME_UNROLL for (int j = 0; j < TOGETHER; j++)
                whole[j] += half[j];
        }
        to.take(WHOLE, whole);
    }

    /** Where the sums of a displacement of the first tile are; others' are as far from theirs. */
    __device__ __forceinline__ const GpumeU8 *sums_at(int y, int place) const
    {
        return (const GpumeU8 *)s.sums + (GpumeU64)(blockIdx.y * TILES) * row + blockIdx.x * TILES * tile +
               2 * (y * s.pitch + place);
    }

    /** The lane's own, of the row of displacements of a round. */
    __device__ __forceinline__ int row_of_round(int round) const
    {
        return gpume_min(line + round * down, 2 * p.range);
    }

    __device__ __forceinline__ int has_row(int round) const
    {
        return line < down && line + round * down <= 2 * p.range;
    }

    __device__ __forceinline__ const GpumeU8 *sums_of_round(int round) const
    {
        return sums_at(row_of_round(round), (threadIdx.x - line * (s.pitch / TOGETHER)) * TOGETHER);
    }

    /** Find the candidate with the least sum of each block. */
    __device__ __forceinline__ void find_likeliest(int rounds)
    {
        GpumeLeastSums least(p.depth);

        GPUME_NO_UNROLL for (int i = 0; i < rounds; i++) {
            const int dy = row_of_round(i) - p.range;
            const GpumeU32 rows = has_row(i) ? may_rows(dy) : 0;

            GPUME_UNROLL for (int j = 0; j < TOGETHER; j++) {
                least.order[j] = gpume_order(p.range, dx[j], dy);
                least.may[j]   = may[j] & rows;
            }
            show(sums_of_round(i), least);
        }
        GPUME_UNROLL for (int k = 0; k < RESULTS; k++)
            least.key[k] = gpume_least<1, 32>(least.key[k]);
        if (!lane) {
            GPUME_UNROLL for (int k = 0; k < RESULTS; k++)
                leasts[threadIdx.x / 32 * RESULTS + k] = least.key[k];
        }
        __syncthreads();
        if (threadIdx.x < RESULTS) {
            GpumeU32 key = leasts[threadIdx.x];

            for (int i = 1; i < blockDim.x / 32; i++)
                key = gpume_umin(key, leasts[i * RESULTS + threadIdx.x]);
            likeliest[threadIdx.x] = key == ~0u ? key : key & 0xffff;
        }
        __syncthreads();
    }

    /** All lanes of a warp: the cost of tile t displaced by a vector. */
    __device__ __forceinline__ GpumeU32 evaluate(int t, const GpumeVector &v) const
    {
        const GpumeCudaPlane &ref = a.fields[0].plane;
        const int whole_cur = !((a.cur.data | a.cur.linesize) & 3), whole_ref = !((ref.data | ref.linesize) & 3);
        const GpumeBox b = box(t);
        const int rows = 32 / (GPUME_CUDA_SUMS_TILE / 2), nb = GPUME_CUDA_SUMS_TILE / rows;
        const int column = 2 * (lane % (GPUME_CUDA_SUMS_TILE / 2)), row = lane / (GPUME_CUDA_SUMS_TILE / 2);
        GpumeU32 cur[nb], its[nb], cost = 0;

        if (column < b.w) {
            /* together: they take their time */
            GPUME_UNROLL for (int i = 0; i < nb; i++) {
                /* the last one again where there are no more */
                const int at = b.y0 + gpume_min(row + i * rows, b.h - 1);

                cur[i] = gpume_load_two(whole_cur, (const GpumeU8 *)a.cur.data + at * a.cur.linesize,
                                        b.x0 + column, b.w - column, p.width);
                its[i] = gpume_load_two(whole_ref, (const GpumeU8 *)ref.data + (at + v.dy) * ref.linesize,
                                        b.x0 + column + v.dx, b.w - column, p.width);
            }
            GPUME_UNROLL for (int i = 0; i < nb; i++)
                if (row + i * rows < b.h)
                    cost = gpume_sad2(GpumeSample<GpumeU16>::right_justify(cur[i], p.shift),
                                      GpumeSample<GpumeU16>::right_justify(its[i], p.shift), cost);
        }
        GPUME_UNROLL for (int bit = 1; bit < 32; bit <<= 1)
            cost += gpume_xor_lane(cost, bit);
        return cost;
    }

    /**
     * All warps: evaluate candidates of all blocks, tile by tile.
     * @param others 0: the likeliest ones, 1: the others, where they are not too many
     */
    __device__ __forceinline__ void evaluate_all(int others) const
    {
        int next = threadIdx.x / 32;

        GPUME_NO_UNROLL for (int k = 0; k < RESULTS; k++) {
            const int tiles = 1 << 2 * gpume_size_of(k), count = counts[k];
            const int nb = (others ? count <= room_of(k) ? count : 0 : likeliest[k] != ~0u) * tiles;

            GPUME_NO_UNROLL for (; next < nb; next += blockDim.x / 32) {
                const int i = next >> 2 * gpume_size_of(k), t = tile_of(k, next & (tiles - 1));
                const GpumeU32 order = others ? list[k * ROOM + i] : likeliest[k];
                const GpumeBox b = box(t);

                if (b.w > 0 && b.h > 0) {
                    const GpumeU32 cost = evaluate(t, gpume_vector_of_order(p.range, order));

                    if (!lane)
                        atomicAdd(&costs[k * (ROOM + 1) + others + i], cost);
                }
            }
            next -= nb;
        }
        __syncthreads();
    }

    /** Find all others that may be better. */
    __device__ __forceinline__ void find_others(int rounds)
    {
        GpumeSmallSums small = { likeliest, costs, lacking };

        GPUME_NO_UNROLL for (int i = 0; i < rounds; i++) {
            const int dy = row_of_round(i) - p.range;
            const GpumeU32 rows = has_row(i) ? may_rows(dy) : 0;

            small.order = !dy ? 0 : gpume_order(p.range, first_dx, dy);
            GPUME_UNROLL for (int j = 0; j < TOGETHER; j++)
                small.found[j] = 0;
            show(sums_of_round(i), small);
            GPUME_UNROLL for (int j = 0; j < TOGETHER; j++) {
                const GpumeU32 order = gpume_order(p.range, dx[j], dy);

                GPUME_NO_UNROLL for (GpumeU32 blocks = small.found[j] & may[j] & rows; blocks; blocks &= blocks - 1) {
                    const int k = gpume_first_bit(blocks);

                    if (order != likeliest[k]) {
                        const GpumeU32 n = atomicAdd(&counts[k], 1);

                        if (n < room_of(k))
                            list[k * ROOM + n] = order;
                    }
                }
            }
        }
        __syncthreads();
    }

    /** Store what has been found; blocks with too many candidates are left to the next kernel. */
    __device__ __forceinline__ void store() const
    {
        const int k = threadIdx.x;

        if (k >= RESULTS)
            return;

        const GpumeBox b = box(k);
        const int count  = counts[k];
        GpumeU64 key = gpume_key(costs[k * (ROOM + 1)], likeliest[k]);

        if (!wanted(k, b))
            return;
        if (count > room_of(k)) {
            GpumeCudaRest *r = (GpumeCudaRest *)s.rest;
            GpumeCudaRestBlock *block = &r->blocks[atomicAdd(&r->nb[s.parity], 1)];

            block->block   = GPUME_CUDA_JOINED(blockIdx.x, blockIdx.y, k);
            block->nb_done = 0;
            block->cost    = (GpumeU32)(key >> 32);
            block->order   = (GpumeU32)key;
            return;
        }
        GPUME_NO_UNROLL for (int i = 0; i < count; i++) {
            const GpumeU64 its = gpume_key(costs[k * (ROOM + 1) + 1 + i], list[k * ROOM + i]);

            key = its < key ? its : key;
        }

        const GpumeVector v = gpume_vector_of_order(p.range, (int)(GpumeU32)key);

        if (k < NB_TILES)
            gpume_store_size(s, 0, b, v.dx, v.dy, (GpumeU32)(key >> 32));
        else if (k < WHOLE)
            gpume_store_size(s, 1, b, v.dx, v.dy, (GpumeU32)(key >> 32));
        else
            gpume_store_size(s, 2, b, v.dx, v.dy, (GpumeU32)(key >> 32));
    }
};

/**
 * grid:   squares of GPUME_CUDA_JOIN_SIDE in a row, rows of them in a strip
 * block:  whole warps, at least as many threads as a row of sums has words of two
 * shared: GPUME_CUDA_DEEPJOIN_SHARED words
 */
GPUME_KERNEL_OF(GpumeCudaSumsArgs, GPUME_CUDA_JOIN_THREADS, 2)
{
    GPUME_SHARED(GpumeU32, shared);
    GpumeDeepSquare square(args, shared, args.pitch / TOGETHER);
    const int rounds = gpume_blocks(2 * args.search.params.range + 1, square.down);

    square.begin();
    square.find_likeliest(rounds);
    square.evaluate_all(0);
    square.find_others(rounds);
    square.evaluate_all(1);
    square.store();
}
