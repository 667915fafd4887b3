/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Reads the vectors of all blocks. Rounds vectors of the nearest fields so that they lead to known lines, where both
 * fields then agree better on the missing lines of the block. A block has four lanes with two columns each, and a lane
 * for each candidate.
 */

#include "libavfilter/gpume/mvdeint/compensate.cuh"

/** Number of missing lines of a block. */
#define LINES (MVDEINT_BLOCK / 2)
/** Number of blocks whose costs a lane reads. */
#define SAMPLED (MVDEINT_NOISE_SIDE * MVDEINT_NOISE_SIDE / 32)

/** Returns how much both fields differ along their vectors. All lanes of the warp call this. */
template<int EXACT>
static __device__ __forceinline__ int compare(const MvdeintCudaMatchArgs &args, const GpumeU64 *taps, const Columns &at,
                                              GpumeU32 first, GpumeU32 second)
{
    MvdeintCudaComponent c = args.components.c[0];
    GpumeU32 samples[2][LINES][COLUMNS];
    int sum = 0;

    c.hsub = c.vsub = 0;        // known to the compiler
    GPUME_UNROLL for (int i = 0; i < 2; i++)
        compensate<LINES, 2, EXACT>(args, taps, c, at, args.pictures[i], i ? second : first, !args.parity, samples[i]);
    GPUME_UNROLL for (int k = 0; k < LINES; k++)
        GPUME_UNROLL for (int i = 0; i < COLUMNS; i++)
            sum += FFABS((int)(samples[0][k][i] - samples[1][k][i]));
    GPUME_UNROLL for (int bit = 1; bit < MVDEINT_CUDA_MATCH_LANES; bit <<= 1)
        sum += (int)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)sum, bit);
    return sum;
}

/** Returns the noise of both fields, from the blocks with low costs. All lanes of the warp call this. */
static __device__ __forceinline__ int noise_of(const MvdeintCudaMatchArgs &args)
{
    const GpumeU32 *first = (const GpumeU32 *)args.costs[0], *second = (const GpumeU32 *)args.costs[1];
    GpumeU32 costs[SAMPLED], low = 0;

    GPUME_UNROLL for (int i = 0; i < SAMPLED; i++) {
        const int n  = 32 * i + threadIdx.x % 32;
        const int at = mvdeint_noise_place(n / MVDEINT_NOISE_SIDE, args.cells.rows) * args.cells.cols +
                       mvdeint_noise_place(n % MVDEINT_NOISE_SIDE, args.cells.cols);

        costs[i] = gpume_min(first[at], second[at]);
    }
    GPUME_NO_UNROLL for (int i = 0; mvdeint_noise_bit(i, args.depth); i++) {
        const GpumeU32 above = low | mvdeint_noise_bit(i, args.depth);
        int nb = 0;

        GPUME_UNROLL for (int j = 0; j < SAMPLED; j++)
            nb += gpume_popcount(__ballot_sync(GPUME_WHOLE_WARP, costs[j] < above));
        if (nb <= MVDEINT_NOISE_LOWER)
            low = above;
    }
    return mvdeint_noise(low, args.depth);
}

/** Returns a vector with another vertical part. */
static __device__ __forceinline__ GpumeU32 with_y(GpumeU32 v, int y)
{
    return (v & 0xffff) | (GpumeU32)y << 16;
}

/**
 * grid:   blocks
 * block:  MVDEINT_CUDA_THREADS
 * shared: MVDEINT_CUDA_ROUND_SHARED
 */
GPUME_KERNEL_OF(MvdeintCudaMatchArgs, MVDEINT_CUDA_THREADS)
{
    GPUME_SHARED(GpumeU64, taps);
    const int lane = threadIdx.x % MVDEINT_CUDA_MATCH_LANES, nb = args.cells.cols * args.cells.rows;
    const int number = (blockIdx.x * MVDEINT_CUDA_THREADS + threadIdx.x) / MVDEINT_CUDA_MATCH_LANES;
    const int cell = gpume_min(number, nb - 1), x = cell % args.cells.cols, y = cell / args.cells.cols;
    const int has_both = args.pictures[0] && args.pictures[1] && args.parities[0] != args.parity &&
                         args.parities[1] != args.parity;
    GpumeU32 vector = 0, v[2], exact[2];
    GpumeCellSource field;
    int parity, differ;
    Columns at;

    if (threadIdx.x < 8)
        taps[threadIdx.x] = bytes_of_taps(threadIdx.x);
    __syncthreads();
    if (candidate_of(args, lane, &field, &parity)) {
        const GpumeCellVector read = gpume_take_cell(args.cells, field, x, y);

        vector = with_y((GpumeU32)read.x, read.y);
    }
    GPUME_UNROLL for (int i = 0; i < 2; i++)
        v[i] = __shfl_sync(GPUME_WHOLE_WARP, vector, threadIdx.x % 32 - lane + i);
    GPUME_UNROLL for (int i = 0; i < 2; i++)
        exact[i] = with_y(v[i], mvdeint_exact((short)(GpumeU16)v[i], (short)(v[i] >> 16), (short)(GpumeU16)v[!i],
                                              (short)(v[!i] >> 16)));
    differ = v[0] != exact[0] || v[1] != exact[1];
    if (has_both && __any_sync(GPUME_WHOLE_WARP, differ)) {
        at.w     = at.h = MVDEINT_BLOCK;
        at.first = (lane >> 1) * 4 + (lane & 1);
        at.x     = MVDEINT_BLOCK * x + at.first;
        at.y     = MVDEINT_BLOCK * y;
        if (mvdeint_is_exact(compare<0>(args, taps, at, v[0], v[1]), compare<1>(args, taps, at, exact[0], exact[1]),
                             noise_of(args)) && differ) {
            const int nearest = lane & 1 ? (short)(exact[1] >> 16) : (short)(exact[0] >> 16);

            vector = with_y(vector, lane < 2 ? nearest : mvdeint_follow((short)(vector >> 16), nearest));
        }
    }
    if (number < nb)
        ((GpumeU32 *)args.vectors)[lane * nb + cell] = vector;
}
