/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search of the blocks of 16, 32 and 64 samples of more than 8 bits of which deepjoin.cu has found that many
 * candidates may be the best: a block of threads has one at a time.
 */

#include "libavfilter/gpume/cuda/sums.cuh"

#define LIST     GPUME_CUDA_DEEPREST_LIST
#define TOGETHER GPUME_CUDA_SUMS_TOGETHER

static_assert(TOGETHER == 4, "a lane loads two words of two sums");

/**
 * A block of SIDE tiles by SIDE, of which the picture may lack some. A thread has candidates next to each other in
 * a row of sums.
 */
template<int SIDE>
struct GpumeDeepBlock {
    static const int SAMPLES = SIDE * GPUME_CUDA_SUMS_TILE;
    static const int SIZE    = SIDE == 1 ? 0 : SIDE == 2 ? 1 : 2;
    /** A row of the block are so many words of two samples, and a warp has so many rows at a time. */
    static const int WORDS   = SAMPLES / 2;
    static const int ROWS    = 32 / WORDS;
    /** And loads so many times as many together: they take their time. */
    static const int LOADS   = SIDE == 1 ? 4 : 8;

    const GpumeCudaSumsArgs &s;
    const GpumeCudaArgs &a;
    const GpumeParams &p;
    const GpumeBox box;
    const int lane, warp, warps;
    const GpumeU8 *sums;                ///< of its first tile
    GpumeU64 scales;                    ///< of its tiles, four bits each
    GpumeU32 lacking;                   ///< how much costs may be below sums
    GpumeU32 *list;                     ///< candidates that are to be evaluated: sum, then order
    GpumeU64 *keys;                     ///< each warp's best candidate
    GpumeU32 *count;                    ///< candidates in the list, and more that found no place

    __device__ __forceinline__
    GpumeDeepBlock(const GpumeCudaSumsArgs &args, GpumeU32 *shared, const GpumeBox &its)
        : s(args), a(args.search), p(args.search.params), box(its),
          lane(threadIdx.x & 31), warp(threadIdx.x / 32), warps(blockDim.x / 32)
    {
        const int column = box.x0 / GPUME_CUDA_SUMS_TILE, row = box.y0 / GPUME_CUDA_SUMS_TILE;

        sums    = (const GpumeU8 *)gpume_sums_of(s, column, row);
        list    = shared;
        keys    = (GpumeU64 *)(list + 2 * LIST);
        count   = list + 2 * LIST + 2 * warps;
        lacking = 0;
        scales  = 0;
        GPUME_NO_UNROLL for (int i = 0; i < SIDE * SIDE; i++) {
            const GpumeBox b = gpume_box(&p, GPUME_CUDA_SUMS_TILE, column + i % SIDE, row + i / SIDE);

            if (b.w > 0 && b.h > 0) {
                const int scale = *gpume_scale_of(s, column + i % SIDE, row + i / SIDE);

                scales  |= (GpumeU64)scale << 4 * i;
                lacking += gpume_lacking(b.w * b.h, scale);
            }
        }
    }

    /** Adds up the sums of four candidates. @param place of the first one among those of a tile */
    __device__ __forceinline__ void load(GpumeU32 (&sum)[TOGETHER], int place) const
    {
        const GpumeU32 tile = 2 * gpume_nb_sums(s);

        GPUME_UNROLL for (int j = 0; j < TOGETHER; j++)
            sum[j] = 0;
        GPUME_UNROLL for (int i = 0; i < SIDE * SIDE; i++) {
            const int scale = (int)(scales >> 4 * i) & 15;
            int2 v;

            gpume_load_global(&v, sums + ((GpumeU64)(i / SIDE) * s.across + i % SIDE) * tile + 2 * place);
            sum[0] += ((GpumeU32)v.x & 0xffff) << scale;
            sum[1] += ((GpumeU32)v.x >> 16)    << scale;
            sum[2] += ((GpumeU32)v.y & 0xffff) << scale;
            sum[3] += ((GpumeU32)v.y >> 16)    << scale;
        }
    }

    /** Four candidates: which they are. */
    struct Four {
        int dy, first;                  ///< rows of displacements; place of the first one in its row
        int place;                      ///< and among all
    };

    __device__ __forceinline__ Four four(int i, int across, GpumeU32 reciprocal) const
    {
        const int y = GPUME_DIVIDE_LARGE(i, reciprocal);
        Four f;

        f.dy    = y - p.range;
        f.first = (i - y * across) * TOGETHER;
        f.place = y * s.pitch + f.first;
        return f;
    }

    /** Whether a candidate is one. */
    __device__ __forceinline__ int may(int d, int dy) const
    {
        return d <= 2 * p.range && gpume_admissible(&box, d - p.range, dy);
    }

    /** All lanes of a warp: the cost of the block displaced by a vector. */
    __device__ __forceinline__ GpumeU32 evaluate(const GpumeVector &v) const
    {
        const GpumeCudaPlane &ref = a.fields[0].plane;
        const int whole_cur = !((a.cur.data | a.cur.linesize) & 3), whole_ref = !((ref.data | ref.linesize) & 3);
        const int column = 2 * (lane % WORDS);
        GpumeU32 sum = 0;

        if (column < box.w) {
            GPUME_NO_UNROLL for (int y = lane / WORDS; y < box.h; y += LOADS * ROWS) {
                GpumeU32 cur[LOADS], its[LOADS];

                GPUME_UNROLL for (int i = 0; i < LOADS; i++) {
                    /* the last one again where there are no more */
                    const int at = box.y0 + gpume_min(y + i * ROWS, box.h - 1);

                    cur[i] = gpume_load_two(whole_cur, (const GpumeU8 *)a.cur.data + at * a.cur.linesize,
                                            box.x0 + column, box.w - column, p.width);
                    its[i] = gpume_load_two(whole_ref, (const GpumeU8 *)ref.data + (at + v.dy) * ref.linesize,
                                            box.x0 + column + v.dx, box.w - column, p.width);
                }
                GPUME_UNROLL for (int i = 0; i < LOADS; i++)
                    if (y + i * ROWS < box.h)
                        sum = gpume_sad2(GpumeSample<GpumeU16>::right_justify(cur[i], p.shift),
                                         GpumeSample<GpumeU16>::right_justify(its[i], p.shift), sum);
            }
        }
        GPUME_UNROLL for (int bit = 1; bit < 32; bit <<= 1)
            sum += gpume_xor_lane(sum, bit);
        return sum;
    }

    /** Whether a candidate may be better than the best one. */
    __device__ __forceinline__ int better(GpumeU32 sum, GpumeU32 order, GpumeU64 best) const
    {
        const GpumeU32 greatest = (GpumeU32)(best >> 32) + lacking;

        return sum < greatest || (sum == greatest && order < (GpumeU32)best);
    }

    /** Puts a candidate into the list. @return 0 if it is full */
    __device__ __forceinline__ int enlist(GpumeU32 sum, GpumeU32 order) const
    {
        const GpumeU32 i = atomicAdd(count, 1);

        if (i >= LIST)
            return 0;
        list[2 * i]     = sum;
        list[2 * i + 1] = order;
        return 1;
    }

    /** All warps: evaluate those in the list. */
    __device__ __forceinline__ GpumeU64 evaluate_list(int nb, GpumeU64 best) const
    {
        GPUME_NO_UNROLL for (int i = warp; i < nb; i += warps) {
            const GpumeU32 order = list[2 * i + 1];

            if (better(list[2 * i], order, best)) {
                const GpumeU64 key = gpume_key(evaluate(gpume_vector_of_order(p.range, order)), order);

                best = key < best ? key : best;
            }
        }
        return best;
    }

    /** All warps: the best candidate of all that they know. */
    __device__ __forceinline__ GpumeU64 best_of_all(GpumeU64 best) const
    {
        if (!lane)
            keys[warp] = best;
        __syncthreads();
        for (int i = 0; i < warps; i++)
            best = keys[i] < best ? keys[i] : best;
        return best;
    }

    /** Searches a share of the candidates. @param best the best one so far */
    __device__ __forceinline__ GpumeU64 search(int share, GpumeU64 best) const
    {
        const int across = s.pitch / TOGETHER, all = across * (2 * p.range + 1);
        const int shares = GPUME_CUDA_DEEPREST_SHARES, nb = (share + 1) * all / shares;
        const GpumeU32 reciprocal = GPUME_RECIPROCAL_LARGE(across);

        if (!threadIdx.x)
            *count = 0;
        __syncthreads();
        GPUME_NO_UNROLL for (int first = share * all / shares; first < nb; first += blockDim.x) {
            const Four f = four(gpume_min(first + threadIdx.x, nb - 1), across, reciprocal);
            GpumeU32 sum[TOGETHER], order[TOGETHER];
            int left = 0, listed;

            load(sum, f.place);
            GPUME_UNROLL for (int j = 0; j < TOGETHER; j++) {
                const int d = gpume_column_at(p.range, f.first + j);

                order[j] = gpume_order(p.range, d - p.range, f.dy);
                left |= first + threadIdx.x < nb && may(d, f.dy) && better(sum[j], order[j], best) &&
                        order[j] != (GpumeU32)best ? 1 << j : 0;
            }
            do {
                GPUME_UNROLL for (int j = 0; j < TOGETHER; j++)
                    if (left >> j & 1 && enlist(sum[j], order[j]))
                        left &= ~(1 << j);
                __syncthreads();
                listed = *count;
                /* all have read it */
                __syncthreads();
                if (listed && !threadIdx.x)
                    *count = 0;
                if (listed)
                    best = best_of_all(evaluate_list(gpume_min(listed, LIST), best));
            } while (listed > LIST);
        }
        return best;
    }

    /** Stores a share's best candidate; and the best one of all shares, if it is the last of them. */
    __device__ __forceinline__ void store(GpumeCudaRestBlock *rest, int share, GpumeU64 best) const
    {
        if (threadIdx.x)
            return;
        rest->keys[share] = best;
        /* it is there before it counts */
        __threadfence();
        if (atomicAdd(&rest->nb_done, 1) < GPUME_CUDA_DEEPREST_SHARES - 1)
            return;
        __threadfence();
        GPUME_NO_UNROLL for (int i = 0; i < GPUME_CUDA_DEEPREST_SHARES; i++) {
            const GpumeU64 key = rest->keys[i];

            best = key < best ? key : best;
        }

        const GpumeVector v = gpume_vector_of_order(p.range, (int)(GpumeU32)best);

        gpume_store_size(s, SIZE, box, v.dx, v.dy, (GpumeU32)(best >> 32));
    }
};

/** Searches a share of the candidates of block (x, y) of a size. */
template<int SIDE>
static __device__ __forceinline__ void
gpume_search_rest(const GpumeCudaSumsArgs &s, GpumeU32 *shared, GpumeCudaRestBlock *rest, int share, int x, int y)
{
    typedef GpumeDeepBlock<SIDE> Block;
    const Block block(s, shared, gpume_box(&s.search.params, Block::SAMPLES, x, y));

    block.store(rest, share, block.search(share, gpume_key(rest->cost, rest->order)));
}

/**
 * grid:   GPUME_CUDA_DEEPREST_GRID
 * block:  GPUME_CUDA_DEEPREST_THREADS
 * shared: GPUME_CUDA_DEEPREST_SHARED words
 */
GPUME_KERNEL_OF(GpumeCudaSumsArgs, GPUME_CUDA_DEEPREST_THREADS, 4)
{
    GPUME_SHARED(GpumeU32, shared);
    GpumeCudaRest *rest = (GpumeCudaRest *)args.rest;
    const int nb = rest->nb[args.parity] * GPUME_CUDA_DEEPREST_SHARES;

    /* for the next search */
    if (!blockIdx.x && !threadIdx.x)
        rest->nb[args.parity ^ 1] = 0;
    GPUME_NO_UNROLL for (int i = blockIdx.x; i < nb; i += GPUME_CUDA_DEEPREST_GRID) {
        GpumeCudaRestBlock *its = &rest->blocks[i / GPUME_CUDA_DEEPREST_SHARES];
        const int share = i % GPUME_CUDA_DEEPREST_SHARES;
        const int k = GPUME_CUDA_JOINED_K(its->block), half = k - GPUME_CUDA_DEEPJOIN_TILES;
        const int x = GPUME_CUDA_JOINED_X(its->block);
        const int y = GPUME_CUDA_JOINED_Y(its->block) + args.first_row / GPUME_CUDA_JOIN_TILES;

        /* what is shared is not in use any more */
        __syncthreads();
        if (half < 0)
            gpume_search_rest<1>(args, shared, its, share, GPUME_CUDA_JOIN_TILES * x + k % GPUME_CUDA_JOIN_TILES,
                                 GPUME_CUDA_JOIN_TILES * y + k / GPUME_CUDA_JOIN_TILES);
        else if (half < 4)
            gpume_search_rest<2>(args, shared, its, share, 2 * x + half % 2, 2 * y + half / 2);
        else
            gpume_search_rest<4>(args, shared, its, share, x, y);
    }
}
