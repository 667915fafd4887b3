/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Combines overlapping patches to a picture: a frame, or the pilot with repeated edges. A thread
 * has a column of samples, four at a time.
 */

#include "libavfilter/gpume/mvdenoise/device.cuh"
#include "libavfilter/gpume/picture/component.cuh"

#define ROWS 4

/** Weighted sums of 16-bit samples need more than 32 bits. */
template<int BYTES> struct SumOf { typedef GpumeU32 Sum; };
template<> struct SumOf<2>       { typedef GpumeU64 Sum; };
typedef SumOf<sizeof(MvdenoiseSample)>::Sum Sum;

/** Returns the upper four rows of the window in a column or in its mirror image, a byte each. */
static __device__ __forceinline__ GpumeU32 window_of(int column)
{
    const int i = gpume_min(column, MVDENOISE_PATCH - 1 - column);

    return i == 0 ? 12 | 20 << 8 | 24 << 16 | 26 << 24 : i == 1 ? 20 | 33 << 8 | 41 << 16 | 44 << 24 :
           i == 2 ? 24 | 41 << 8 | 50 << 16 | 54 << 24 : 26 | 44 << 8 | 54 << 16 | 59 << 24;
}

/** Mirrors the window: the lower rows are the upper rows in reverse. */
static __device__ __forceinline__ GpumeU32 mirrored(GpumeU32 window)
{
    return window >> 24 | (window >> 8 & 0xff00) | (window << 8 & 0xff0000) | window << 24;
}

/** Adds the upper or lower half of a column of a patch, whose part of the window is given, to the samples. */
static __device__ __forceinline__ void add_half(Sum sums[ROWS], GpumeU32 weights[ROWS], GpumeU64 src, GpumeU32 weight,
                                                GpumeU32 window)
{
    int2 two;

    gpume_load_global(&two, (const void *)src);
    GPUME_UNROLL for (int i = 0; i < ROWS; i++) {
        const GpumeU32 w = weight * (window >> 8 * i & 0xff);

        sums[i]    += (Sum)w * ((GpumeU32)(i < 2 ? two.x : two.y) >> 16 * (i & 1) & 0xffff);
        weights[i] += w;
    }
}

/** Adds a column of a patch to the samples; row is the patch's row of the first sample. */
static __device__ __forceinline__ void add_column(Sum sums[ROWS], GpumeU32 weights[ROWS], GpumeU64 src, GpumeU32 weight,
                                                  GpumeU32 window, int row)
{
    if (row == 0 || row == 4) {
        add_half(sums, weights, src + 2 * row, weight, row ? mirrored(window) : window);
        return;
    }
    /* dense patches, and the last ones, do not begin at a multiple of 4 */
    GPUME_UNROLL for (int i = 0; i < ROWS; i++) {
        const int at = row + i;

        if (at >= 0 && at < MVDENOISE_PATCH) {
            const GpumeU32 w = weight * (window >> 8 * gpume_min(at, MVDENOISE_PATCH - 1 - at) & 0xff);

            sums[i]    += (Sum)w * mvdenoise_half(src + 2 * at);
            weights[i] += w;
        }
    }
}

/** Returns approximately a / b. */
static __device__ __forceinline__ float ratio(float a, float b)
{
#ifdef GPUME_HOST
    return a / b;
#else
    float quotient;

    asm("div.approx.f32 %0, %1, %2;" : "=f"(quotient) : "f"(a), "f"(b));
    return quotient;
#endif
}

/** Returns a / b, which has at most 16 bits. */
static __device__ __forceinline__ GpumeU32 divide(Sum a, GpumeU32 b)
{
    GpumeU32 q = (GpumeU32)ratio((float)a, (float)b);

    /* the quotient has more than 20 correct bits, so it is off by at most one */
    if ((Sum)q * b > a)
        q--;
    else if (a - (Sum)q * b >= b)
        q++;
    return q;
}

/** Returns the first patch of a row that contains column x. */
static __device__ __forceinline__ int first_col(int x, int row)
{
    return x < MVDENOISE_PATCH ? 0 : ((x + mvdenoise_left(row) - MVDENOISE_PATCH) >> MVDENOISE_LOG2_STEP) + 1;
}

/** Returns the address of a column of a patch. */
static __device__ __forceinline__ GpumeU64 column_of(const MvdenoiseCudaCombineArgs &args, GpumeU32 number, int column)
{
    return args.results + 2 * MVDENOISE_PATCH * ((GpumeU64)MVDENOISE_PATCH * number + column);
}

/** Computes the samples of column x from row y on that exist. */
static __device__ __forceinline__ void combine(const MvdenoiseCudaCombineArgs &args, const MvdenoiseCudaComponent &c,
                                               GpumeU32 v[ROWS], int x, int y)
{
    const int log2_step = args.components.log2_step;
    const int first_row = mvdenoise_first_row(y, log2_step);
    const int end_row   = mvdenoise_end_row(gpume_min(y + ROWS, c.h) - 1, c.h, log2_step);
    const int fraction  = mvdenoise_fraction(args.depth);
    Sum sums[ROWS];
    GpumeU32 weights[ROWS];

    GPUME_UNROLL for (int i = 0; i < ROWS; i++)
        sums[i] = weights[i] = 0;
    if (log2_step == MVDENOISE_LOG2_STEP && x >= MVDENOISE_PATCH && x < c.w - MVDENOISE_PATCH &&
        y >= MVDENOISE_STEP && end_row < c.rows) {
        /* nearly everywhere: halves of four patches, whose loads are under way at once */
        GPUME_UNROLL for (int i = 0; i < 4; i++) {
            const int row = y / MVDENOISE_STEP - 1 + i / 2, column = ((x + mvdenoise_left(row)) & 3) + 4 * (i & 1);
            const GpumeU32 number = c.number + row * c.cols + (x + mvdenoise_left(row) - column) / MVDENOISE_STEP;
            const GpumeU32 window = window_of(column);

            add_half(sums, weights, column_of(args, number, column) + (i < 2 ? MVDENOISE_PATCH : 0),
                     mvdenoise_half(args.weights + 2ull * number), i < 2 ? mirrored(window) : window);
        }
    } else {
        GPUME_NO_UNROLL for (int j = first_row; j < end_row; j++) {
            const int end = x >= c.w - MVDENOISE_PATCH ? c.cols : ((x + mvdenoise_left(j)) >> MVDENOISE_LOG2_STEP) + 1;

            GPUME_NO_UNROLL for (int i = first_col(x, j); i < end; i++) {
                const int column      = x - mvdenoise_x(i, j, c.w);
                const GpumeU32 number = c.number + j * c.cols + i;

                add_column(sums, weights, column_of(args, number, column), mvdenoise_half(args.weights + 2ull * number),
                           window_of(column), y - mvdenoise_y(j, c.h, log2_step));
            }
        }
    }
    GPUME_UNROLL for (int i = 0; i < ROWS; i++) {
        const GpumeU32 divisor = weights[i] << fraction;

        /* rows beyond the last have no patches */
        v[i] = divisor ? divide(sums[i] + divisor / 2, divisor) : 0;
    }
}

/** Returns how many noisy samples around (x, y) are equal to v. */
static __device__ __forceinline__ int count(const MvdenoiseCudaCombineArgs &args, const MvdenoiseCudaComponent &c,
                                            int x, int y, GpumeU32 v)
{
    const GpumeU64 at = args.noisy + c.first + (long long)c.stride * y + x * MVDENOISE_BYTES;
    int nb = 0;

    GPUME_NO_UNROLL for (int j = -MVDENOISE_AROUND; j <= MVDENOISE_AROUND; j++) {
        GPUME_UNROLL for (int i = -MVDENOISE_AROUND; i <= MVDENOISE_AROUND; i++)
            nb += mvdenoise_sample(at + (long long)c.stride * j + i * MVDENOISE_BYTES) == (int)v;
    }
    return nb;
}

/** Corrects sample v at (x, y) if the noise was clipped there. */
static __device__ __forceinline__ GpumeU32 unclip(const MvdenoiseCudaCombineArgs &args, const MvdenoiseCudaComponent &c,
                                                  const MvdenoiseNoise *noise, GpumeU32 v, int x, int y)
{
    const int max = (1 << args.depth) - 1, sigma = noise[mvdenoise_tone(v, args.depth)].clipped;
    const int low  = mvdenoise_is_near(v, sigma, args.depth)       ? count(args, c, x, y, 0) : 0;
    const int high = mvdenoise_is_near(max - v, sigma, args.depth) ? count(args, c, x, y, max) : 0;

    return low || high ? mvdenoise_unclipped(args.shifts, v, low, high, sigma, args.depth) : v;
}

static __device__ __forceinline__ void put(GpumeU64 at, GpumeU32 v)
{
    *(MvdenoiseSample *)at = (MvdenoiseSample)v;
}

/** Returns the address of a component's sample in a frame. */
static __device__ __forceinline__ GpumeU64 place_in_frame(const MvdenoiseCudaCombineArgs &args, int component, int x,
                                                          int y, GpumeU64 *linesize)
{
    const GpumeCudaComponent p = gpume_component(args.planes, component);

    *linesize = (GpumeU64)p.linesize;
    return p.plane + p.linesize * y + ((x << p.log2_step) + p.offset) * MVDENOISE_BYTES;
}

/** Computes the four samples from (x, y) downwards; outside the component, the nearest samples. */
static __device__ __forceinline__ void find(const MvdenoiseCudaCombineArgs &args, const MvdenoiseCudaComponent &c,
                                            GpumeU32 v[ROWS], int x, int y, int sigma)
{
    const int from_x = av_clip(x, 0, c.w - 1), from_y = av_clip(y, 0, (c.h - 1) / ROWS * ROWS);
    GpumeU32 there[ROWS];

    if (sigma) {
        combine(args, c, there, from_x, from_y);
    } else {
        GPUME_UNROLL for (int i = 0; i < ROWS; i++)
            there[i] = mvdenoise_sample(args.noisy + c.first + (long long)c.stride * (from_y + i) +
                                        from_x * MVDENOISE_BYTES);
    }
    GPUME_UNROLL for (int i = 0; i < ROWS; i++) {
        const int from = av_clip(y + i, 0, c.h - 1) - from_y;

        v[i] = there[0];
        GPUME_UNROLL for (int k = 1; k < ROWS; k++)
            v[i] = from == k ? there[k] : v[i];
    }
}

/**
 * grid:   columns of samples, MVDENOISE_CUDA_COMBINED rows for each warp, components; for a copy,
 * plus GPUME_PAD on each side
 * block:  MVDENOISE_CUDA_THREADS
 * shared: none
 */
GPUME_KERNEL_OF(MvdenoiseCudaCombineArgs, MVDENOISE_CUDA_THREADS, 4)
{
    const MvdenoiseCudaComponent c = mvdenoise_component(args.components, blockIdx.z);
    const MvdenoiseNoise *noise = (const MvdenoiseNoise *)args.noise + blockIdx.z * MVDENOISE_TONES;
    const int pad   = args.copy ? GPUME_PAD : 0;
    const int x = (int)(blockIdx.x * 32 + threadIdx.x % 32) - pad;
    const int first_y = (int)(blockIdx.y * MVDENOISE_CUDA_WARPS + threadIdx.x / 32) * MVDENOISE_CUDA_COMBINED - pad;
    const GpumeU64 in_copy = args.copy + c.first + (long long)c.stride * first_y + x * MVDENOISE_BYTES;
    GpumeU64 at, linesize = c.stride;

    if (x >= c.w + pad)
        return;
    at = args.copy ? in_copy : place_in_frame(args, blockIdx.z, x, first_y, &linesize);
    GPUME_NO_UNROLL for (int y = first_y; y < gpume_min(first_y + MVDENOISE_CUDA_COMBINED, c.h + pad); y += ROWS) {
        GpumeU32 v[ROWS];

        find(args, c, v, x, y, noise->sigma);
        GPUME_UNROLL for (int i = 0; i < ROWS; i++) {
            if (noise->sigma && !args.copy && y + i < c.h)
                v[i] = unclip(args, c, noise, v[i], x, y + i);
            if (y + i < c.h + pad)
                put(at, v[i] << (args.copy ? 0 : args.shift));
            at += linesize;
        }
    }
}
