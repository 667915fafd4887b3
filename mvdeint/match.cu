/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compensates the pictures around a field along its vectors. A warp computes neighbouring areas of
 * luma, or of both components of chroma, from one picture. An area lies between the centres of four
 * blocks, and is computed once for each different vector of these.
 *
 * Data flow:
 * - a lane loads the samples that the taps need line by line, filters them across and six of these lines down
 * - if vectors differ in any area of a warp, keeps the samples of each vector in shared memory, measures with the other
 *   lanes of the area how well each block fits, and blends
 * - decides with the other lanes of an area of luma whether the picture fits there
 * - stores its columns
 */

#include "libavfilter/gpume/mvdeint/compensate.cuh"

/** Returns the weight, in 1/64, of the later of two blocks. A lane of an area of two columns has two more, repeated. */
static __device__ __forceinline__ int window(int sub, int i)
{
    const GpumeU64 w = sub == 0 ? 0x3f3b32261a0e0501ull : sub == 1 ? 0x3e2c1402ull : 0x37093709ull;

    return (int)(w >> 8 * i & 255);
}

/**
 * Computes how well the four blocks fit each pair of lines of an area, for all lanes of the area.
 * @param made    samples of the blocks; see the kernel
 * @param squares sums of squared differences
 */
static __device__ __forceinline__ void measure_blocks(const MvdeintCudaMatchArgs &args, const MvdeintCudaComponent &c,
                                                      const Columns &at, const GpumeU32 *made, GpumeU32 slots,
                                                      int second, int log2_lanes, GpumeU32 (*squares)[4])
{
    const int depth = mvdeint_depth(args), fraction = mvdeint_fraction(depth);

    GPUME_UNROLL for (int k = 0; k < MVDEINT_BLOCK / 2; k++) {
        const int line = 2 * k + second;
        int own[COLUMNS];

        GPUME_UNROLL for (int i = 0; i < COLUMNS; i++)
            own[i] = line < at.h ? *mvdeint_at(args.own, c, at.x + 2 * i, at.y + line) << fraction : 0;
        GPUME_UNROLL for (int j = 0; j < 4; j++) {
            const GpumeU32 both = made[((slots >> 4 * j & 3) * MVDEINT_BLOCK + line) * MVDEINT_CUDA_THREADS];
            GpumeU32 sum = 0;

            GPUME_UNROLL for (int i = 0; i < COLUMNS; i++) {
                const int difference = mvdeint_scaled(FFABS(own[i] - (int)(both >> 16 * i & 0xffff)),
                                                      depth + fraction);

                sum += at.first + 2 * i < at.w && line < at.h ? difference * difference : 0;
            }
            sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, 1);
            squares[k][j] = sum + (log2_lanes > 1 ? __shfl_xor_sync(GPUME_WHOLE_WARP, sum, 2) : 0);
        }
    }
}

/** Blends the samples of the four blocks of an area. */
static __device__ __forceinline__ void blend_blocks(const MvdeintCudaComponent &c, const Columns &at,
                                                    const GpumeU32 *made, GpumeU32 slots, int second,
                                                    const GpumeU32 (*squares)[4], GpumeU32 (*samples)[COLUMNS])
{
    const int nb = at.h / 2;

    GPUME_UNROLL for (int k = 0; k < MVDEINT_BLOCK / 2; k++) {
        GpumeU32 sums[4], fits[4];

        if (k >= nb)
            break;
        GPUME_UNROLL for (int j = 0; j < 4; j++)
            sums[j] = squares[k][j] + (second ? squares[k ? k - 1 : 0][j] :
                                       k + 1 < nb ? squares[k + 1 < MVDEINT_BLOCK / 2 ? k + 1 : k][j] : squares[k][j]);
        mvdeint_fits(fits, sums);
        GPUME_UNROLL for (int y = 2 * k; y < 2 * k + 2; y++)
            GPUME_UNROLL for (int i = 0; i < COLUMNS; i++) {
                int four[4];

                GPUME_UNROLL for (int j = 0; j < 4; j++)
                    four[j] = (int)(made[((slots >> 4 * j & 3) * MVDEINT_BLOCK + y) * MVDEINT_CUDA_THREADS] >> 16 * i &
                                    0xffff);
                samples[y][i] = (GpumeU32)mvdeint_blend(four, fits, window(c.hsub, at.first + 2 * i),
                                                         window(c.vsub, y));
            }
    }
}

/**
 * Computes the shares of known lines.
 * @param vectors those of the four blocks
 */
static __device__ __forceinline__ void find_known(const MvdeintCudaComponent &c, const Columns &at, int parity,
                                                  const GpumeU32 *vectors, int (*shares)[COLUMNS])
{
    /* lines 0, 2, ... have equal shares before weighting, and so have lines 1, 3, ... */
    GPUME_UNROLL for (int odd = 0; odd < 2; odd++) {
        int known[4];

        GPUME_UNROLL for (int j = 0; j < 4; j++)
            known[j] = mvdeint_known(mvdeint_eighths((short)(vectors[j] >> 16), c.vsub), at.y + odd, parity);
        GPUME_UNROLL for (int i = 0; i < COLUMNS; i++) {
            const int later = window(c.hsub, at.first + 2 * i);
            const int above = (64 - later) * known[0] + later * known[1];
            const int below = (64 - later) * known[2] + later * known[3];

            GPUME_UNROLL for (int y = odd; y < MVDEINT_BLOCK; y += 2)
                shares[y][i] = (64 * above + window(c.vsub, y) * (below - above) + 2048) >> 12;
        }
    }
}

/**
 * Decides whether a candidate fits the field in an area of luma. All lanes of the warp call this.
 * @param votes the area's vote; 0: none is stored
 */
static __device__ __forceinline__ void vote(const MvdeintCudaMatchArgs &args, const Columns &at,
                                            const GpumeU32 (*samples)[COLUMNS], int lane, signed char *votes)
{
    const MvdeintCudaComponent c = args.components.c[0];
    const int depth = mvdeint_depth(args), fraction = mvdeint_fraction(depth), first = at.y + args.parity;
    int error = 0, activity = 0, nb = 0;

    GPUME_UNROLL for (int i = 0; i < COLUMNS; i++) {
        const int x = at.x + 2 * i, is_inside = x >= 0 && x < c.w;
        GpumeU32 lines[MVDEINT_BLOCK / 2 + 2];

        GPUME_UNROLL for (int k = 0; k < MVDEINT_BLOCK / 2 + 2; k++)
            lines[k] = *mvdeint_at(args.own, c, gpume_min(x, c.w), gpume_inside(first + 2 * k - 2, c.h));
        GPUME_UNROLL for (int k = 1; k <= MVDEINT_BLOCK / 2; k++) {
            const int y = first + 2 * k - 2;
            const GpumeU32 up   = gpume_select(y >= 2, lines[k - 1], lines[k + 1]);
            const GpumeU32 down = gpume_select(y + 2 < c.h, lines[k + 1], lines[k - 1]);
            const GpumeU32 sample = gpume_select(args.parity, samples[2 * k - 1][i], samples[2 * k - 2][i]);

            if (!is_inside || y < 0 || y >= c.h)
                continue;
            error    += FFABS((int)((lines[k] << fraction) - sample));
            activity += FFABS((int)(2 * lines[k] - up - down));
            nb++;
        }
    }
    GPUME_UNROLL for (int bit = 1; bit < MVDEINT_CUDA_MATCH_LANES; bit <<= 1) {
        error    += (int)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)error, bit);
        activity += (int)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)activity, bit);
        nb       += (int)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)nb, bit);
    }
    if (votes && lane % MVDEINT_CUDA_MATCH_LANES == 0)
        *votes = (signed char)mvdeint_vote(error, activity, nb, depth);
}

/** Stores the samples that are in the area and in the picture. */
static __device__ __forceinline__ void store(const MvdeintCudaMatchArgs &args, const MvdeintCudaComponent &c,
                                             const Columns &at, int candidate, const GpumeU32 (*samples)[COLUMNS],
                                             const int (*shares)[COLUMNS])
{
    GPUME_UNROLL for (int i = 0; i < COLUMNS; i++) {
        const int x = at.x + 2 * i;

        if (x < 0 || x >= c.w || at.first + 2 * i >= at.w)
            continue;
        GPUME_UNROLL for (int y = 0; y < MVDEINT_BLOCK; y++) {
            const GpumeU64 to = (GpumeU64)candidate * args.size + c.match + (GpumeU64)(at.y + y) * c.w + x;

            if (y < at.h && at.y + y >= 0 && at.y + y < c.h) {
                ((GpumeU16 *)args.samples)[to] = (GpumeU16)samples[y][i];
                ((GpumeU8 *)args.known)[to]    = (GpumeU8)shares[y][i];
            }
        }
    }
}

/**
 * Loads the vectors of the four blocks around an area. All lanes of the area get the same vectors.
 * @param lane the lane's number in the area, which has at least four
 */
static __device__ __forceinline__ void load_vectors(const MvdeintCudaMatchArgs &args, int candidate, int tx, int ty,
                                                    int lane, GpumeU32 *vectors)
{
    const int x = av_clip(tx - 1 + (lane & 1), 0, args.cells.cols - 1);
    const int y = av_clip(ty - 1 + (lane >> 1 & 1), 0, args.cells.rows - 1);
    const GpumeU32 own = ((const GpumeU32 *)args.vectors)[(candidate * args.cells.rows + y) * args.cells.cols + x];

    GPUME_UNROLL for (int j = 0; j < 4; j++)
        vectors[j] = __shfl_sync(GPUME_WHOLE_WARP, own, threadIdx.x % 32 - lane + j);
}

/**
 * grid:   areas of a row; rows; candidates of luma, of chroma, of alpha
 * block:  MVDEINT_CUDA_THREADS
 * shared: MVDEINT_CUDA_MATCH_SHARED
 */
GPUME_KERNEL_OF(MvdeintCudaMatchArgs, MVDEINT_CUDA_THREADS, 3)
{
    GPUME_SHARED(GpumeU64, taps);
    /* for each of up to four different vectors and each line, both columns of each lane in the halves of a word */
    GpumeU32 *made = (GpumeU32 *)(taps + 8) + threadIdx.x;
    const int candidate = blockIdx.z % MVDEINT_MAX_CANDIDATES, group = blockIdx.z / MVDEINT_MAX_CANDIDATES;
    const int component = group == 2 ? 3 : group, nb = group == 1 && args.components.nb > 2 ? 2 : 1;
    /* number of lanes of an area in one component, and in all components of the group */
    const int log2_part = mvdeint_component(args.components, component).hsub ? 1 : 2;
    const int log2_lanes = log2_part + nb - 1;
    const int lane = threadIdx.x & ((1 << log2_lanes) - 1), number = lane & ((1 << log2_part) - 1);
    const int area = (blockIdx.x * MVDEINT_CUDA_THREADS + threadIdx.x) >> log2_lanes, ty = blockIdx.y;
    const int tx = gpume_min(area, args.cells.cols), is_used = area <= args.cells.cols;
    const MvdeintCudaComponent c = mvdeint_component(args.components, component + (lane >> log2_part));
    GpumeU32 samples[MVDEINT_BLOCK][COLUMNS] = { { 0 } }, squares[MVDEINT_BLOCK / 2][4], vectors[4];
    GpumeU32 left = 15, slots = 0;
    int shares[MVDEINT_BLOCK][COLUMNS], parity, differ, second;
    GpumeCellSource field;
    const GpumeU64 picture = candidate_of(args, candidate, &field, &parity);
    Columns at;

    if (!threadIdx.x && !blockIdx.x && !blockIdx.y && !blockIdx.z)
        *(GpumeU32 *)args.nb_poor = 0;
    if (!picture)
        return;
    if (threadIdx.x < 8)
        taps[threadIdx.x] = bytes_of_taps(threadIdx.x);
    __syncthreads();
    at.w     = MVDEINT_BLOCK >> c.hsub;
    at.h     = MVDEINT_BLOCK >> c.vsub;
    at.first = (number >> 1) * 4 + (number & 1);
    at.x     = ((MVDEINT_BLOCK * tx - MVDEINT_BLOCK / 2) >> c.hsub) + at.first;
    at.y     = (MVDEINT_BLOCK * ty - MVDEINT_BLOCK / 2) >> c.vsub;
    load_vectors(args, candidate, tx, ty, lane, vectors);
    differ = vectors[1] != vectors[0] || vectors[2] != vectors[0] || vectors[3] != vectors[0];
    differ = __any_sync(GPUME_WHOLE_WARP, differ);

    /* compensates along each different vector once */
    GPUME_NO_UNROLL for (int slot = 0; left; slot++) {
        const GpumeU32 v = left & 1 ? vectors[0] : left & 2 ? vectors[1] : left & 4 ? vectors[2] : vectors[3];

        GPUME_UNROLL for (int j = 0; j < 4; j++)
            if (vectors[j] == v) {
                left  &= ~(1u << j);
                slots |= (GpumeU32)slot << 4 * j;
            }
        compensate<MVDEINT_BLOCK, 1, 0>(args, taps, c, at, picture, v, 0, samples);
        GPUME_UNROLL for (int y = 0; y < MVDEINT_BLOCK; y++)
            if (differ)
                made[(slot * MVDEINT_BLOCK + y) * MVDEINT_CUDA_THREADS] = samples[y][0] | samples[y][1] << 16;
    }
    if (differ) {
        second = (args.parity ^ at.y) & 1;
        measure_blocks(args, c, at, made, slots, second, log2_part, squares);
        blend_blocks(c, at, made, slots, second, squares, samples);
    }
    if (!group)
        vote(args, at, samples, lane, is_used ? (signed char *)args.votes +
             (candidate * (args.cells.rows + 1) + ty) * (args.cells.cols + 1) + tx : 0);
    find_known(c, at, parity, vectors, shares);
    if (is_used)
        store(args, c, at, candidate, samples, shares);
}
