/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Full search: where thread blocks search, the order of candidates, the best key of all threads,
 * where vectors of several sizes are stored, and the window of the reference in shared memory.
 */

#ifndef AVFILTER_GPUME_CUDA_WINDOW_CUH
#define AVFILTER_GPUME_CUDA_WINDOW_CUH

#include "libavfilter/gpume/cuda/module.cuh"

/** The first sample of a tile of the picture, and the field for which the tile is searched. */
typedef struct GpumePlace {
    int x, y, z;
} GpumePlace;

/**
 * Where a thread block searches: at one place of the grid or, after successive elimination, at
 * every gridDim.x-th of the remaining squares.
 */
struct GpumePlaces {
    const GpumeCudaArgs &a;
    const int width, height;    ///< size of a place in samples
    int at, end;

    __device__ __forceinline__ GpumePlaces(const GpumeCudaArgs &args, int w, int h)
        : a(args), width(w), height(h)
    {
        at  = blockIdx.x;
        end = at + 1;
        if (a.full.only_remaining) {
            GpumeCudaRemaining *remaining = (GpumeCudaRemaining *)a.remaining;

            end = remaining->nb[a.parity] * (GPUME_CUDA_SEA_SQUARE / width) *
                  (GPUME_CUDA_SEA_SQUARE / height);
            /* reset for the next search */
            if (!blockIdx.x && !threadIdx.x)
                remaining->nb[a.parity ^ 1] = 0;
        }
    }

    /** Sets the next place. Returns 0 if there is none. */
    __device__ __forceinline__ int next(GpumePlace *place)
    {
        if (at >= end)
            return 0;
        if (a.full.only_remaining) {
            const int across = GPUME_CUDA_SEA_SQUARE / width;
            const int tiles  = GPUME_CUDA_SEA_SQUARE / height * across;
            const GpumeU32 square = ((GpumeCudaRemaining *)a.remaining)->squares[at / tiles];

            place->x = GPUME_CUDA_SQUARE_X(square) * GPUME_CUDA_SEA_SQUARE +
                       at % tiles % across * width;
            place->y = GPUME_CUDA_SQUARE_Y(square) * GPUME_CUDA_SEA_SQUARE +
                       at % tiles / across * height;
            place->z = GPUME_CUDA_SQUARE_Z(square);
        } else {
            place->x = blockIdx.x * width;
            place->y = blockIdx.y * height;
            place->z = blockIdx.z;
        }
        at += a.full.grid;
        return 1;
    }
};

/** Returns the order of a candidate among those of equal cost: the zero vector first, then raster order. */
static __device__ __forceinline__ GpumeU32 gpume_order(int range, int dx, int dy)
{
    return !dx && !dy ? 0 : 1 + (dy + range) * (2 * range + 1) + dx + range;
}

/** Returns the displacement with this order. */
static __device__ __forceinline__ GpumeVector gpume_vector_of_order(int range, int order)
{
    const int side = 2 * range + 1;
    GpumeVector v;

    v.dx = (short)(order ? (order - 1) % side - range : 0);
    v.dy = (short)(order ? (order - 1) / side - range : 0);
    return v;
}

/** Returns the smaller of two keys. */
template<typename Key>
static __device__ __forceinline__ Key gpume_lesser_key(Key a, Key b)
{
    return a < b ? a : b;
}

static __device__ __forceinline__ GpumeU64 gpume_select(int first, GpumeU64 a, GpumeU64 b)
{
    return first ? a : b;
}

/**
 * Computes the minimum of each of NB keys over all lanes of a warp. key[0] of each group of 32 / NB
 * lanes is set to one of the minimums, in order; with fewer lanes, to the minimum over the lanes
 * that differ from them in higher bits.
 */
template<int NB, int LANES = 32 / NB, typename Key>
static __device__ __forceinline__ void gpume_share_out_least(Key (&key)[NB], int lane)
{
    GPUME_UNROLL for (int nb = NB / 2, bit = 16; nb; nb /= 2, bit /= 2)
        GPUME_UNROLL for (int i = 0; i < nb; i++) {
            const Key given = gpume_select(lane & bit, key[i], key[i + nb]);

            key[i] = gpume_lesser_key(gpume_select(lane & bit, key[i + nb], key[i]), gpume_xor_lane(given, bit));
        }
    key[0] = gpume_least<1, LANES>(key[0]);
}

/**
 * Returns the smallest key of all threads, in thread 0.
 * @param shared a key of two words for each warp, no longer in use
 */
static __device__ __forceinline__ GpumeU64 gpume_least_of_all(GpumeU32 *shared, GpumeU64 best)
{
    GpumeU64 *keys = (GpumeU64 *)shared;

    best = gpume_least<1, 32>(best);
    __syncthreads();
    if (!(threadIdx.x & 31))
        keys[threadIdx.x >> 5] = best;
    __syncthreads();
    for (int i = 1; !threadIdx.x && i < blockDim.x >> 5; i++)
        best = gpume_lesser_key(best, keys[i]);
    return best;
}

/** Sets the least and the greatest value of all threads. @param shared two words for each warp */
static __device__ __forceinline__ void gpume_least_and_greatest(GpumeU32 *shared, GpumeU32 *least, GpumeU32 *greatest)
{
    const int warp = threadIdx.x / 32, warps = blockDim.x / 32;

    *least    =  gpume_least<1, 32>(*least);
    *greatest = ~gpume_least<1, 32>(~*greatest);
    if (!(threadIdx.x & 31)) {
        shared[warp]         = *least;
        shared[warp + warps] = *greatest;
    }
    __syncthreads();
    for (int i = 0; i < warps; i++) {
        *least    = gpume_umin(*least,    shared[i]);
        *greatest = gpume_umax(*greatest, shared[i + warps]);
    }
}

/** Stores the vector of a block of a side if vectors of that side are output. */
template<int SIDE>
static __device__ __forceinline__ void
gpume_store_size(const GpumeCudaArgs &a, const GpumeBox &b, int dx, int dy, GpumeU32 cost)
{
    const GpumeCudaStored &to = a.tree.sizes[GPUME_CUDA_SIZE(SIDE)];
    const GpumeU64 bw = gpume_blocks(a.params.width, SIDE);

    if (to.costs)
        gpume_store_at(to, b.y0 / SIDE * bw + b.x0 / SIDE, a.fields[0].source, b, dx, dy, cost);
}

/** Returns a word of a window shifted to the left by some samples; hi is the next word. */
template<typename Sample>
static __device__ __forceinline__ GpumeU32 gpume_shifted(GpumeU32 lo, GpumeU32 hi, int samples)
{
    return samples ? gpume_funnel_shift(lo, hi, 8 * GpumeSample<Sample>::bytes * samples) : lo;
}

/** Returns a row of the reference; outside the picture, the nearest row. */
static __device__ __forceinline__ const GpumeU8 *
gpume_row_inside(const GpumeParams &p, const GpumeCudaPlane &ref, int y)
{
    return (const GpumeU8 *)ref.data + ref.linesize * gpume_max(0, gpume_min(y, p.height - 1));
}

/** A part of the reference that is loaded into shared memory. */
typedef struct GpumeWindow {
    GpumeU32 *words;
    int copy, pitch;            ///< words between copies, and between rows
    int left, top;              ///< first sample; left is a multiple of the samples in a word
    int row_words, rows;        ///< copies have room for a multiple of four words
} GpumeWindow;

/** Stores four words of each copy of a window, which are copy words apart, from five words. */
template<typename Sample>
static __device__ __forceinline__ void gpume_store_copies(GpumeU32 *to, int copy, const GpumeU32 (&word)[5])
{
    GPUME_UNROLL for (int i = 0; i < GpumeSample<Sample>::per_word; i++) {
        int4 v;

        v.x = gpume_shifted<Sample>(word[0], word[1], i);
        v.y = gpume_shifted<Sample>(word[1], word[2], i);
        v.z = gpume_shifted<Sample>(word[2], word[3], i);
        v.w = gpume_shifted<Sample>(word[3], word[4], i);
        *(int4 *)(to + i * copy) = v;
    }
}

/** Returns the samples of two words, each in a word of its own. */
static __device__ __forceinline__ int4 gpume_unpacked(const GpumeU32 (&word)[5])
{
    int4 v;

    v.x = word[0] & 0xffff;
    v.y = word[0] >> 16;
    v.z = word[1] & 0xffff;
    v.w = word[1] >> 16;
    return v;
}

/**
 * Loads copies of a window into shared memory, in units of four words.
 * @tparam COPIES samples in a word of the window: all that a word of the reference has, or 1
 * @tparam QUADS  the window begins at a unit of the reference
 */
template<typename Sample, int COPIES, int QUADS>
static __device__ __forceinline__ void
gpume_load_units(const GpumeParams &p, const GpumeCudaPlane &ref, const GpumeWindow &w)
{
    const int per_word = GpumeSample<Sample>::per_word;
    const int units  = (w.row_words + 3) / 4, nb = w.rows * units;
    const int loads  = COPIES == 1 ? 4 / per_word : 5, even = loads & ~1;
    const int fill   = QUADS ? 3 : 2;   // units that a thread loads at a time
    const GpumeU32 reciprocal = GPUME_RECIPROCAL_LARGE(units);

    for (int i = threadIdx.x; i < nb; i += fill * blockDim.x) {
        GpumeU32 word[fill][5];
        int at[fill];

        /* loads are issued together to overlap their latency */
        GPUME_UNROLL for (int j = 0; j < fill; j++) {
            /* threads without a unit repeat the last one */
            const int k = gpume_min(i + j * blockDim.x, nb - 1);
            const int y = GPUME_DIVIDE_LARGE(k, reciprocal);
            const int x = 4 * (k - y * units);
            const int column = w.left + COPIES * x;
            const GpumeU8 *row = gpume_row_inside(p, ref, w.top + y);

            at[j] = y * w.pitch + x;
            if (QUADS)
                gpume_load_row<even>(word[j], gpume_inside<Sample, 4 * even>(row, column, p.width));
            GPUME_UNROLL for (int k = QUADS ? even : 0; k < loads; k++)
                gpume_load_global(&word[j][k], gpume_inside<Sample, 4>(row, column + per_word * k, p.width));
        }
        GPUME_UNROLL for (int j = 0; j < fill; j++) {
            if (j && i + j * blockDim.x >= nb)
                break;
            GPUME_UNROLL for (int k = 0; k < loads; k++)
                word[j][k] = GpumeSample<Sample>::right_justify(word[j][k], p.shift);
            if (COPIES > 1)
                gpume_store_copies<Sample>(w.words + at[j], w.copy, word[j]);
            else
                *(int4 *)(w.words + at[j]) = gpume_unpacked(word[j]);
        }
    }
}

/**
 * Loads a window into shared memory: with COPIES 1, each sample into a word; otherwise a copy for
 * each sample of a word, the first one unshifted, each other shifted by one sample more than the
 * previous one. No admissible candidate reads samples outside the picture, so these may have any
 * value.
 */
template<typename Sample, int COPIES>
static __device__ __forceinline__ void
gpume_load_window(const GpumeParams &p, const GpumeCudaPlane &ref, const GpumeWindow &w)
{
    if (GpumeSample<Sample>::bytes * w.left & (COPIES == 1 ? 7 : 15))
        gpume_load_units<Sample, COPIES, 0>(p, ref, w);
    else
        gpume_load_units<Sample, COPIES, 1>(p, ref, w);
}

#endif /* AVFILTER_GPUME_CUDA_WINDOW_CUH */
