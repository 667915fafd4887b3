/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compensates the pictures around a field along its vectors. A warp has the area between the
 * centres of four blocks, of luma or of both components of chroma, in one picture. If vectors of
 * the four blocks are equal, their area is computed once.
 */

#include "libavfilter/gpume/field/cells.cuh"
#include "libavfilter/gpume/mvdeint/device.cuh"

/** Maximum number of samples of an area for a lane. */
#define PER_LANE (2 * MVDEINT_BLOCK * MVDEINT_BLOCK / 32)

/** Returns tap i of six, at a position in eighths of a sample. */
static __device__ __forceinline__ int tap(int eighths, int i)
{
    /* a byte for each tap; positions above one half use mirrored taps */
    const int mirrored = eighths > 4, at = mirrored ? 8 - eighths : eighths, n = mirrored ? 5 - i : i;
    const GpumeU64 taps = at == 0 ? 0x000000400000ull : at == 1 ? 0x00fe0a3afe00ull : at == 2 ? 0x01fb1434fb01ull :
                          at == 3 ? 0x02f81e2ef901ull : 0x02f62828f602ull;

    return (signed char)(GpumeU8)(taps >> 8 * n);
}

/** Returns the weight, in 1/64, of the later of two blocks. */
static __device__ __forceinline__ int window(int sub, int i)
{
    const GpumeU64 w = sub == 0 ? 0x3f3b32261a0e0501ull : sub == 1 ? 0x3e2c1402ull : 0x3709ull;

    return (int)(w >> 8 * i & 255);
}

/** An area. */
struct Area {
    int nb, log2_w, log2_h;     ///< number of components, and size of the area in each component
    int x0, y0;
};

/** Filters an area horizontally, into shared memory. */
static __device__ __forceinline__ void filter_across(const MvdeintCudaMatchArgs &args, const Area &area, int component,
                                                     GpumeU64 picture, int ex, int ey, int *rows, int lane)
{
    const int per_component = ((1 << area.log2_h) + 5) << area.log2_w;

    GPUME_NO_UNROLL for (int i = lane; i < area.nb * per_component; i += 32) {
        const int second = i >= per_component, at = i - (second ? per_component : 0);
        const MvdeintCudaComponent c = mvdeint_component(args.components, component + second);
        const int x = at & ((1 << area.log2_w) - 1), y = at >> area.log2_w;
        const MvdeintSample *p = mvdeint_at(picture, c, gpume_inside(area.x0 + (ex >> 3), c.w) + x - 2,
                                            gpume_inside(area.y0 + (ey >> 3), c.h) + y - 2);
        int sum = 0;

        GPUME_UNROLL for (int k = 0; k < 6; k++)
            sum += tap(ex & 7, k) * p[k];
        rows[i] = sum;
    }
}

/** Returns sample i of an area, filtered vertically from shared memory. */
static __device__ __forceinline__ int filter_down(const MvdeintCudaMatchArgs &args, const Area &area, int ey,
                                                  const int *rows, int i)
{
    const int fraction = mvdeint_fraction(args.depth), shift = 12 - fraction;
    const int per_area = area.log2_w + area.log2_h, second = i >> per_area;
    const int *p = rows + i + second * (5 << area.log2_w);
    int sum = 1 << shift >> 1;

    GPUME_UNROLL for (int k = 0; k < 6; k++)
        sum += tap(ey & 7, k) * p[k << area.log2_w];
    return av_clip(sum >> shift, 0, ((1 << args.depth) - 1) << fraction);
}

/** Returns a candidate's field, or the address of its picture, and the parity of its lines. */
static __device__ __forceinline__ GpumeU64 candidate_of(const MvdeintCudaMatchArgs &args, int n, GpumeCellSource *field,
                                                        int *parity)
{
    GpumeU64 picture = args.pictures[0];

    *field  = args.fields[0];
    *parity = args.parities[0];
    GPUME_UNROLL for (int i = 1; i < MVDEINT_MAX_CANDIDATES; i++) {
        picture           = n == i ? args.pictures[i] : picture;
        *parity           = n == i ? args.parities[i] : *parity;
        field->mvs        = n == i ? args.fields[i].mvs        : field->mvs;
        field->map        = n == i ? args.fields[i].map        : field->map;
        field->log2_block = n == i ? args.fields[i].log2_block : field->log2_block;
        field->bw         = n == i ? args.fields[i].bw         : field->bw;
    }
    return picture;
}

/**
 * Decides whether a candidate fits the field in an area of luma.
 * @param sums as for store()
 */
static __device__ __forceinline__ void vote(const MvdeintCudaMatchArgs &args, const Area &area, int candidate,
                                            int tx, int ty, const int *sums, int lane)
{
    const MvdeintCudaComponent c = args.components.c[0];
    int error = 0, activity = 0, nb = 0;

    GPUME_UNROLL for (int k = 0; k < MVDEINT_BLOCK * MVDEINT_BLOCK / 32; k++) {
        const int i = lane + 32 * k, x = area.x0 + i % MVDEINT_BLOCK, y = area.y0 + i / MVDEINT_BLOCK;

        if (x >= 0 && y >= 0 && x < c.w && y < c.h && (y & 1) == args.parity) {
            const int line = *mvdeint_at(args.own, c, x, y);

            error    += FFABS((line << mvdeint_fraction(args.depth)) - ((sums[k] + 2048) >> 12));
            activity += FFABS(2 * line - *mvdeint_at(args.own, c, x, mvdeint_two_above(y, y + 2)) -
                              *mvdeint_at(args.own, c, x, mvdeint_two_below(y, c.h, y - 2)));
            nb++;
        }
    }
    GPUME_UNROLL for (int bit = 1; bit < 32; bit <<= 1) {
        error    += (int)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)error, bit);
        activity += (int)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)activity, bit);
        nb       += (int)__shfl_xor_sync(GPUME_WHOLE_WARP, (GpumeU32)nb, bit);
    }
    if (!lane)
        ((signed char *)args.votes)[(candidate * (args.cells.rows + 1) + ty) * (args.cells.cols + 1) + tx] =
            (signed char)mvdeint_vote(error, activity, nb, args.depth);
}

/** Stores the samples of an area that are in the picture. */
static __device__ __forceinline__ void store(const MvdeintCudaMatchArgs &args, const Area &area, int component,
                                             int candidate, const int *sums, const int *reals, int lane)
{
    GPUME_UNROLL for (int k = 0; k < PER_LANE; k++) {
        const int i = lane + 32 * k, per_area = area.log2_w + area.log2_h, second = i >> per_area;
        const int x = area.x0 + (i & ((1 << area.log2_w) - 1));
        const int y = area.y0 + (i >> area.log2_w & ((1 << area.log2_h) - 1));
        const MvdeintCudaComponent c = mvdeint_component(args.components, component + gpume_min(second, area.nb - 1));
        const GpumeU64 at = (GpumeU64)candidate * args.size + c.match + (GpumeU64)y * c.w + x;

        if (i < area.nb << per_area && x >= 0 && y >= 0 && x < c.w && y < c.h) {
            ((GpumeU16 *)args.samples)[at] = (GpumeU16)((sums[k] + 2048) >> 12);
            ((GpumeU8 *)args.real)[at]     = (GpumeU8)((reals[k] + 2048) >> 12);
        }
    }
}

/**
 * grid:   areas of a row, one for each warp; rows; candidates of luma, of chroma, of alpha
 * block:  MVDEINT_CUDA_THREADS
 * shared: MVDEINT_CUDA_MATCH_SHARED
 */
GPUME_KERNEL_OF(MvdeintCudaMatchArgs, MVDEINT_CUDA_THREADS)
{
    GPUME_SHARED(int, shared);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tx = blockIdx.x * MVDEINT_CUDA_WARPS + warp;
    int *const rows = shared + warp * MVDEINT_CUDA_MATCH_SUMS;
    const int candidate = blockIdx.z % MVDEINT_MAX_CANDIDATES, group = blockIdx.z / MVDEINT_MAX_CANDIDATES;
    const int component = group == 2 ? 3 : group;
    const MvdeintCudaComponent c = mvdeint_component(args.components, component);
    Area area;
    GpumeCellVector cell;
    GpumeCellSource field;
    int parity, sums[PER_LANE], reals[PER_LANE];
    const GpumeU64 picture = candidate_of(args, candidate, &field, &parity);
    GpumeU32 vector;

    if (!threadIdx.x && !blockIdx.x && !blockIdx.y && !blockIdx.z)
        *(GpumeU32 *)args.lonely = 0;
    if (!picture || tx > args.cells.cols)
        return;
    area.nb     = group == 1 && args.components.nb > 2 ? 2 : 1;
    area.log2_w = 3 - c.hsub;
    area.log2_h = 3 - c.vsub;
    area.x0     = (MVDEINT_BLOCK * tx - MVDEINT_BLOCK / 2) >> c.hsub;
    area.y0     = (MVDEINT_BLOCK * (int)blockIdx.y - MVDEINT_BLOCK / 2) >> c.vsub;
    cell = gpume_take_cell(args.cells, field, av_clip(tx - 1 + (lane & 1), 0, args.cells.cols - 1),
                           av_clip((int)blockIdx.y - 1 + (lane >> 1 & 1), 0, args.cells.rows - 1));
    vector = ((GpumeU32)cell.x & 0xffff) | (GpumeU32)cell.y << 16;
    GPUME_UNROLL for (int k = 0; k < PER_LANE; k++)
        sums[k] = reals[k] = 0;

    GPUME_NO_UNROLL for (int j = 0; j < 4; j++) {
        const GpumeU32 v     = __shfl_sync(GPUME_WHOLE_WARP, vector, j);
        const GpumeU32 equal = __ballot_sync(GPUME_WHOLE_WARP, vector == v) & 15;
        const int ex = mvdeint_eighths((short)(GpumeU16)v, c.hsub);
        const int ey = mvdeint_eighths((short)(GpumeU16)(v >> 16), c.vsub);

        if (equal & ((1u << j) - 1))
            continue;
        filter_across(args, area, component, picture, ex, ey, rows, lane);
        __syncwarp();
        GPUME_UNROLL for (int k = 0; k < PER_LANE; k++) {
            const int i = lane + 32 * k, x = i & ((1 << area.log2_w) - 1);
            const int y = i >> area.log2_w & ((1 << area.log2_h) - 1);
            const int wx = window(c.hsub, x), wy = window(c.vsub, y);
            int weight;

            if (i >= area.nb << (area.log2_w + area.log2_h))
                break;
            weight = (equal & 1 ? (64 - wx) * (64 - wy) : 0) + (equal & 2 ? wx * (64 - wy) : 0) +
                     (equal & 4 ? (64 - wx) * wy : 0) + (equal & 8 ? wx * wy : 0);
            sums[k]  += weight * filter_down(args, area, ey, rows, i);
            reals[k] += weight * mvdeint_real(ey, area.y0 + y, parity);
        }
        __syncwarp();
    }
    store(args, area, component, candidate, sums, reals, lane);
    if (!group)
        vote(args, area, candidate, tx, blockIdx.y, sums, lane);
}
