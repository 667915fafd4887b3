/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The best match of each patch in a picture. Eight lanes have a patch, each tries a candidate.
 */

#include "libavfilter/gpume/mvdenoise/device.cuh"

/** Words of a row of a patch. */
#define ROW (MVDENOISE_PATCH / MVDENOISE_PER_WORD)

typedef GpumeU64 U64;

/** Sums of squares of 16 bits take more than 32. */
template<int BYTES> struct SquaresOf { typedef GpumeU32 Squares; };
template<> struct SquaresOf<2>       { typedef GpumeU64 Squares; };
typedef SquaresOf<sizeof(MvdenoiseSample)>::Squares Squares;

/** Samples from which a candidate is taken, four of a number of bytes with a sign each, the first the lowest. */
#define BYTES4(a, b, c, d) (((U64)(a) & 255) | ((U64)(b) & 255) << 8 | ((U64)(c) & 255) << 16 | ((U64)(d) & 255) << 24)
#define PLACES_X (BYTES4(0, 7, 0, 7) | BYTES4(-8, 15, 3, 3) << 32)
#define PLACES_Y (BYTES4(0, 0, 7, 7) | BYTES4(3, 3, -8, 15) << 32)

/** The samples of a row of a patch, from any place on. */
static __device__ __forceinline__ void read_row(GpumeU32 v[ROW], GpumeU64 at, int shift)
{
    GpumeU32 words[ROW + 1];

    GPUME_UNROLL for (int i = 0; i < ROW + 1; i++)
        words[i] = mvdenoise_word(at + 4 * i);
    GPUME_UNROLL for (int i = 0; i < ROW; i++)
        v[i] = gpume_funnel(words[i], words[i + 1], shift);
}

/** The rounded means of both words' samples. */
static __device__ __forceinline__ GpumeU32 mean(GpumeU32 a, GpumeU32 b)
{
    return (a | b) - ((a ^ b) >> 1 & (MVDENOISE_BYTES == 1 ? 0x7f7f7f7f : 0x7fff7fff));
}

/** Adds the squared differences of both words' samples. */
static __device__ __forceinline__ void add_squares(Squares *sum, GpumeU32 a, GpumeU32 b)
{
    const int bits = 8 * MVDENOISE_BYTES;

    GPUME_UNROLL for (int i = 0; i < 32; i += bits) {
        const int d = (int)(a >> i & ((1u << bits) - 1)) - (int)(b >> i & ((1u << bits) - 1));

        *sum += MVDENOISE_BYTES == 1 ? (Squares)(d * d) : (Squares)((long long)d * d);
    }
}

/** The vector that a lane tries, in quarters of the component's samples. */
static __device__ __forceinline__ GpumeU32 candidate(const GpumeCells &g, const MvdenoiseCudaComponent &c,
                                                     GpumeU64 vectors, int x, int y, int lane)
{
    const int i = (signed char)(PLACES_X >> 8 * lane), j = (signed char)(PLACES_Y >> 8 * lane);
    const int col = av_clip((x + i) * (1 << c.hsub) >> MVDENOISE_LOG2_CELL, 0, g.cols - 1);
    const int row = av_clip((y + j) * (1 << c.vsub) >> MVDENOISE_LOG2_CELL, 0, g.rows - 1);
    const GpumeU32 word = mvdenoise_word(vectors + 4ull * (row * g.cols + col));

    return !mvdenoise_is_vector(word) ? word :
           mvdenoise_of_vector(mvdenoise_subsampled((short)(word & 0xffff), c.hsub),
                               mvdenoise_subsampled((short)(word >> 16), c.vsub));
}

/** Leaves the patch in shared memory, of which each lane has a row. */
static __device__ __forceinline__ void share_patch(GpumeU32 *own, GpumeU64 at, int stride, int lane)
{
    GpumeU32 row[ROW];

    at += (long long)stride * lane;
    read_row(row, at & ~3ull, 8 * (int)(at & 3));
    GPUME_UNROLL for (int i = 0; i < ROW; i++)
        own[ROW * lane + i] = row[i];
    __syncwarp();
}

/**
 * grid:   rows of MVDENOISE_CUDA_ROW patches, of all components; pictures
 * block:  MVDENOISE_CUDA_THREADS
 * shared: MVDENOISE_CUDA_PATCH words for every 8 threads
 */
GPUME_KERNEL_OF(MvdenoiseCudaMatchArgs, MVDENOISE_CUDA_THREADS)
{
    GPUME_SHARED(GpumeU32, shared);
    MvdenoiseCudaComponent c;
    const MvdenoiseUnit u = mvdenoise_unit(args.components, &c);
    const MvdenoiseNoise *noise = (const MvdenoiseNoise *)args.noise + u.component;
    const int lane = threadIdx.x % MVDENOISE_CUDA_LANES;
    const int x    = mvdenoise_place(u.col, c.w), y = mvdenoise_place(u.row, c.h);
    GpumeU32 *own  = shared + threadIdx.x / MVDENOISE_CUDA_LANES * MVDENOISE_CUDA_PATCH;
    Squares sum    = 0, best;
    MvdenoisePair pair;
    GpumeU32 vector;
    int shift_a, shift_b;

    if (!noise->sigma)
        return;
    share_patch(own, args.own + c.first + (long long)y * c.stride + x * MVDENOISE_BYTES, c.stride, lane);
    vector  = candidate(args.cells, c, mvdenoise_element(args.vectors, blockIdx.y), x, y, lane);
    pair    = mvdenoise_pair(c, mvdenoise_element(args.pictures, blockIdx.y), args.plane, x, y,
                             (short)(vector & 0xffff), (short)(vector >> 16));
    shift_a = 8 * (int)(pair.a & 3);
    shift_b = 8 * (int)(pair.b & 3);
    pair.a &= ~3ull;
    pair.b &= ~3ull;
    GPUME_UNROLL for (int i = 0; i < MVDENOISE_PATCH; i++) {
        GpumeU32 a[ROW], b[ROW];

        read_row(a, pair.a + (long long)c.stride * i, shift_a);
        read_row(b, pair.b + (long long)c.stride * i, shift_b);
        GPUME_UNROLL for (int k = 0; k < ROW; k++)
            add_squares(&sum, own[ROW * i + k], mean(a[k], b[k]));
    }
    /* of equal ones the first is the best */
    sum  = mvdenoise_is_vector(vector) ? sum << 3 | lane : ~(Squares)0;
    best = sum;
    GPUME_UNROLL for (int bit = 1; bit < MVDENOISE_CUDA_LANES; bit <<= 1) {
        const Squares other = MVDENOISE_BYTES == 1
                              ? (Squares)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)best, bit)
                              : (Squares)mvdenoise_of_lane(best, bit);

        best = other < best ? other : best;
    }
    if (u.is_there && (best == ~(Squares)0 ? !lane : sum == best))
        ((GpumeU32 *)mvdenoise_element(args.matches, blockIdx.y))[c.number + u.row * c.cols + u.col] =
            (best >> 3) <= noise->accept[args.second] ? vector : MVDENOISE_NO_VECTOR;
}
