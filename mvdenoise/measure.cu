/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures blocks of a picture: energies of second differences, differences from the match in the
 * previous picture, and means. The measurements of blocks with a match are also kept, for the
 * estimate. A lane has a column of a block.
 */

#include "libavfilter/gpume/mvdenoise/device.cuh"

/** The type of sums of squares of a block: for bytes, 32 bits suffice. */
template<int BYTES> struct SumOf { typedef GpumeU64 Sum; };
template<> struct SumOf<1>       { typedef GpumeU32 Sum; };
typedef SumOf<MVDENOISE_BYTES>::Sum Sum;

static __device__ __forceinline__ Sum square_of(int v)
{
    return (Sum)v * (Sum)v;
}

/** Returns the energy of a block. */
static __device__ __forceinline__ Sum mvdenoise_energy(const int p[MVDENOISE_PATCH], int lane)
{
    Sum sum = 0;

    GPUME_UNROLL for (int y = 0; y < MVDENOISE_PATCH - 2; y++) {
        const int down = p[y] - 2 * p[y + 1] + p[y + 2];
        /* from the next column, which the last two columns do not have */
        const int next = __shfl_sync(GPUME_WHOLE_WARP, down, (threadIdx.x + 1) & 31);
        const int last = __shfl_sync(GPUME_WHOLE_WARP, down, (threadIdx.x + 2) & 31);

        sum += square_of(down - 2 * next + last);
    }
    return mvdenoise_add_lanes(lane < MVDENOISE_PATCH - 2 ? sum : 0, 1, MVDENOISE_CUDA_LANES);
}

/** Returns whether too many samples of a block equal its minimum, or its maximum. */
static __device__ __forceinline__ int is_dead(const int p[MVDENOISE_PATCH])
{
    int least = p[0], greatest = p[0];
    GpumeU32 nb = 0;

    GPUME_UNROLL for (int y = 1; y < MVDENOISE_PATCH; y++) {
        least    = gpume_min(least, p[y]);
        greatest = FFMAX(greatest, p[y]);
    }
    GPUME_UNROLL for (int bit = 1; bit < MVDENOISE_CUDA_LANES; bit <<= 1) {
        const int other_least    = __shfl_xor_sync(GPUME_WHOLE_WARP, least, bit);
        const int other_greatest = __shfl_xor_sync(GPUME_WHOLE_WARP, greatest, bit);

        least    = gpume_min(least, other_least);
        greatest = FFMAX(greatest, other_greatest);
    }
    GPUME_UNROLL for (int y = 0; y < MVDENOISE_PATCH; y++)
        nb += (GpumeU32)(p[y] == least) + ((GpumeU32)(p[y] == greatest) << 16);
    nb = mvdenoise_add_lanes(nb, 1, MVDENOISE_CUDA_LANES);
    return (nb & 0xffff) > MVDENOISE_MOST_EQUAL || nb >> 16 > MVDENOISE_MOST_EQUAL;
}

/** Returns the number of samples of a block that equal the sample on the right, or below. */
static __device__ __forceinline__ GpumeU32 count_alike(const int p[MVDENOISE_PATCH], int lane)
{
    GpumeU32 nb = 0;

    GPUME_UNROLL for (int y = 0; y < MVDENOISE_PATCH; y++) {
        const int right = __shfl_sync(GPUME_WHOLE_WARP, p[y], (threadIdx.x + 1) & 31);

        nb += lane < MVDENOISE_PATCH - 1 && p[y] == right;
        nb += y < MVDENOISE_PATCH - 1 && p[y] == p[gpume_min(y + 1, MVDENOISE_PATCH - 1)];
    }
    return mvdenoise_add_lanes(nb, 1, MVDENOISE_CUDA_LANES);
}

/** Returns row y of this lane's column of the block. */
static __device__ __forceinline__ int mvdenoise_row(const MvdenoiseCudaMeasureArgs &args, GpumeU64 at, int stride,
                                                    int y)
{
    if (!args.halved)
        return mvdenoise_sample(at + (long long)stride * y);
    at += 2ll * stride * y;
    return (mvdenoise_sample(at) + mvdenoise_sample(at + MVDENOISE_BYTES) + mvdenoise_sample(at + stride) +
            mvdenoise_sample(at + stride + MVDENOISE_BYTES) + 2) >> 2;
}

/** Statistics of the differences between a block and its match. */
struct Difference {
    int repeats;                ///< whether the block repeats its match
    Sum total, coarse, texture; ///< variances, times 4096
};

static __device__ __forceinline__ Difference compare(const MvdenoiseCudaMeasureArgs &args,
                                                     const MvdenoiseCudaComponent &c, const int p[MVDENOISE_PATCH],
                                                     int x, int y, int dx, int dy, int lane)
{
    const int px = mvdenoise_inside(x + dx, c.w), py = mvdenoise_inside(y + dy, c.h);
    const GpumeU64 at = args.before + c.first + (long long)c.stride * py + (px + lane) * MVDENOISE_BYTES;
    Sum squares = 0, squared_sums = 0, parts;
    GpumeU32 nb_equal = 0, both = 0;
    int halves[2] = { 0, 0 }, sum;
    Difference d;

    GPUME_UNROLL for (int i = 0; i < MVDENOISE_PATCH; i++) {
        const int other = mvdenoise_sample(at + (long long)c.stride * i), difference = p[i] - other;

        halves[i / 4] += difference;
        squares       += square_of(difference);
        squared_sums  += square_of(p[i] + other);
        both          += p[i] + other;
        nb_equal      += !difference;
    }
    GPUME_UNROLL for (int i = 0; i < 2; i++) {
        halves[i] += __shfl_xor_sync(GPUME_WHOLE_WARP, halves[i], 1);
        halves[i] += __shfl_xor_sync(GPUME_WHOLE_WARP, halves[i], 2);
    }
    parts     = mvdenoise_add_lanes(square_of(halves[0]) + square_of(halves[1]), 4, 8);
    sum       = (int)mvdenoise_add_lanes((GpumeU32)(halves[0] + halves[1]), 4, 8);
    squares   = mvdenoise_add_lanes(squares, 1, MVDENOISE_CUDA_LANES);
    squared_sums = mvdenoise_add_lanes(squared_sums, 1, MVDENOISE_CUDA_LANES);
    both      = mvdenoise_add_lanes(both, 1, MVDENOISE_CUDA_LANES);
    d.repeats = mvdenoise_add_lanes(nb_equal, 1, MVDENOISE_CUDA_LANES) >= MVDENOISE_REPEATED;
    d.total   = MVDENOISE_SAMPLES * squares - square_of(sum);
    d.coarse  = 4 * parts - square_of(sum);
    d.texture = MVDENOISE_SAMPLES * squared_sums - square_of((int)both);
    return d;
}

/** Returns the vector of a block into the previous picture. */
static __device__ __forceinline__ GpumeU32 vector_of(const MvdenoiseCudaMeasureArgs &args,
                                                     const MvdenoiseCudaComponent &c, int x, int y)
{
    const int half = MVDENOISE_PATCH / 2;
    const int col  = gpume_min((x + half) << c.hsub >> MVDENOISE_LOG2_CELL, args.cells.cols - 1);
    const int row  = gpume_min((y + half) << c.vsub >> MVDENOISE_LOG2_CELL, args.cells.rows - 1);

    return args.before ? mvdenoise_word(args.vectors + 4ull * (row * args.cells.cols + col)) : MVDENOISE_NO_VECTOR;
}

/** Counts a value, and returns its bin. */
static __device__ __forceinline__ unsigned char count(unsigned *bins, GpumeU64 value)
{
    const int bin = mvdenoise_bin((GpumeU32)value);

    atomicAdd(&bins[bin], 1u);
    return (unsigned char)bin;
}

/**
 * grid:   rows of MVDENOISE_CUDA_ROW blocks of the picture, of all components
 * block:  MVDENOISE_CUDA_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvdenoiseCudaMeasureArgs, MVDENOISE_CUDA_THREADS)
{
    MvdenoiseCudaComponent c;
    const MvdenoiseUnit u = mvdenoise_unit<MVDENOISE_CUDA_ROW, 1>(args.components, &c);
    const int lane  = threadIdx.x % MVDENOISE_CUDA_LANES;
    const int scale = 1 << args.halved;
    const GpumeU64 at = args.copy + c.first + (long long)c.stride * u.row * MVDENOISE_PATCH * scale +
                        (u.col * MVDENOISE_PATCH + lane) * MVDENOISE_BYTES * scale;
    const int number = c.number + u.row * c.cols + u.col, x = u.col * MVDENOISE_PATCH, y = u.row * MVDENOISE_PATCH;
    const GpumeU32 vector = vector_of(args, c, x, y);
    /* if there is no vector, the block is compared with the one at its own position, and the result is not used */
    const int exists = mvdenoise_is_vector(vector);
    const int dx = exists ? mvdenoise_whole((short)(vector & 0xffff), c.hsub) : 0;
    const int dy = exists ? mvdenoise_whole((short)(vector >> 16), c.vsub) : 0;
    MvdenoiseBins *bins = (MvdenoiseBins *)args.bins + u.component;
    const int shift = 2 * (args.depth - 8);
    MvdenoiseBlock block = { 0, MVDENOISE_NO_BIN, MVDENOISE_NO_BIN, MVDENOISE_NO_BIN, MVDENOISE_NO_BIN };
    Difference d;
    GpumeU32 sum = 0, alike;
    Sum energy;
    int p[MVDENOISE_PATCH], dead, mean, level;

    GPUME_UNROLL for (int i = 0; i < MVDENOISE_PATCH; i++)
        p[i] = mvdenoise_row(args, at, c.stride, i);
    GPUME_UNROLL for (int i = 0; i < MVDENOISE_PATCH; i++)
        sum += p[i];
    mean   = (int)(mvdenoise_add_lanes(sum, 1, MVDENOISE_CUDA_LANES) + MVDENOISE_SAMPLES / 2) / MVDENOISE_SAMPLES;
    level  = mvdenoise_tone(mean, args.depth) / (MVDENOISE_TONES / MVDENOISE_LEVELS);
    dead   = is_dead(p);
    energy = mvdenoise_energy(p, lane) >> shift;
    alike  = count_alike(p, lane);
    alike  = alike > MVDENOISE_ALIKE ? alike - MVDENOISE_ALIKE : 0;
    d.repeats = 1;
    if (args.before)
        d = compare(args, c, p, x, y, dx, dy, lane);
    if (lane || !u.is_there)
        return;
    if (!u.component && !args.halved)
        ((GpumeU16 *)args.means)[number] = (GpumeU16)mean;
    block.level = (unsigned char)level;
    if (!dead && (GpumeU64)energy * alike * alike <= MVDENOISE_MOST_ALIKE) {
        block.energy = count(args.halved ? bins->halved : bins->energies[level], energy);
        if (exists && !d.repeats) {
            block.matched = count(bins->matched[level],  d.total   >> shift);
            block.texture = count(bins->textures[level], d.texture >> shift);
            block.coarse  = (unsigned char)mvdenoise_bin((GpumeU32)(d.coarse >> shift));
        }
    }
    if (args.before)
        ((MvdenoiseBlock *)args.blocks)[number] = block;
}
