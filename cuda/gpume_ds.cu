/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * Diamond search.
 */

#include "libavfilter/gpume/cuda/gpume_device.h"
#include "libavfilter/gpume/gpume_patterns.h"

/** Candidates that are tried at the same time. */
#define POINTS 8

/* A point of a pattern: of a constant number, so that it stays in registers. */
static __device__ __forceinline__ void large_diamond_point(int i, int *x, int *y)
{
    const signed char points[GPUME_LARGE_DIAMOND_POINTS][2] = { GPUME_LARGE_DIAMOND };

    *x = *y = 0;
#pragma unroll
    for (int j = 0; j < GPUME_LARGE_DIAMOND_POINTS; j++)
        if (i == j) {
            *x = points[j][0];
            *y = points[j][1];
        }
}

static __device__ __forceinline__ void small_diamond_point(int i, int *x, int *y)
{
    const signed char points[GPUME_SMALL_DIAMOND_POINTS][2] = { GPUME_SMALL_DIAMOND };

    *x = *y = 0;
#pragma unroll
    for (int j = 0; j < GPUME_SMALL_DIAMOND_POINTS; j++)
        if (i == j) {
            *x = points[j][0];
            *y = points[j][1];
        }
}

/** What the lanes of a group work on. */
typedef struct Group {
    GpumeU32 mask;              ///< the lanes
    int lanes;                  ///< how many
    int lane;                   ///< this one, from 0
    const GpumeU8 *cur;         ///< the block's first sample
    const GpumeU8 *ref;         ///< the same place in the reference
    int left;                   ///< samples from there to the picture's edge
    long long cur_linesize, ref_linesize;
    int shift;
} Group;

template<typename Sample>
static __device__ __forceinline__ Group
group_of(const GpumeCudaArgs &a, const GpumeCudaPlane *ref, const GpumeDeviceBlock *b,
         int lanes)
{
    const int bytes = GpumeSample<Sample>::bytes;
    Group g;

    g.lanes = lanes;
    g.lane  = threadIdx.x % lanes;
    g.mask  = (lanes == 32 ? ~0u : (1u << lanes) - 1) <<
              (threadIdx.x % 32 / lanes * lanes);
    g.shift = a.params.shift;
    g.cur_linesize = a.cur.linesize;
    g.ref_linesize = ref->linesize;
    g.cur     = (const GpumeU8 *)a.cur.data + b->y0 * a.cur.linesize + b->x0 * bytes;
    g.ref     = (const GpumeU8 *)ref->data  + b->y0 * ref->linesize  + b->x0 * bytes;
    g.left    = a.params.width - b->x0;
    return g;
}

/**
 * The SAD of the rows first, first + step, ... of w x h samples.
 * @param left samples from the beginning of the current rows to the picture's edge,
 *             and of the reference's
 */
template<typename Sample>
static __device__ __forceinline__ GpumeU32
sad_rows(const GpumeU8 *cur, long long cur_linesize, int cur_left,
         const GpumeU8 *ref, long long ref_linesize, int ref_left,
         int w, int h, int first, int step, int shift)
{
    const int per_word = GpumeSample<Sample>::per_word;
    const int bytes    = GpumeSample<Sample>::bytes;
    GpumeU32 sum = 0;

    cur += first * cur_linesize;
    ref += first * ref_linesize;
    for (int y = first; y < h; y += step) {
        for (int x = 0; x < w; x += per_word) {
            const GpumeU32 c = gpume_load<Sample>(cur + x * bytes, w - x, cur + cur_left * bytes);
            const GpumeU32 r = gpume_load<Sample>(ref + x * bytes, w - x, ref + ref_left * bytes);

            sum = GpumeSample<Sample>::sad(GpumeSample<Sample>::right_justify(c, shift),
                                           GpumeSample<Sample>::right_justify(r, shift),
                                           sum);
        }
        cur += step * cur_linesize;
        ref += step * ref_linesize;
    }
    return sum;
}

/* The group's lane's share of the cost of (dx, dy): rows at a distance of step. */
template<typename Sample>
static __device__ __forceinline__ GpumeU32
sad_share(const Group *g, const GpumeDeviceBlock *b, int dx, int dy, int first, int step)
{
    return sad_rows<Sample>(g->cur, g->cur_linesize, g->left,
                            g->ref + dy * g->ref_linesize +
                                     dx * GpumeSample<Sample>::bytes,
                            g->ref_linesize, g->left - dx,
                            b->w, b->h, first, step, g->shift);
}

/* The same for the few candidates that are far away: out of the others' registers. */
static __device__ __attribute__((noinline)) GpumeU32
sad_far(const GpumeU8 *cur, long long cur_linesize, int left,
        const GpumeU8 *ref, long long ref_linesize, int dx, int w, int h,
        int first, int step)
{
    return sad_rows<GpumeU8>(cur, cur_linesize, left, ref + dx, ref_linesize, left - dx,
                             w, h, first, step, 0);
}

/**
 * Try the group's candidates, one for every POINTS lanes at a distance of POINTS,
 * each of which has a share of the rows.
 * @param dx,dy this lane's candidate; tried only if it is admissible and valid
 * @return the key of the best, the same in all lanes; its order is the number
 *         of the candidate
 */
template<typename Sample>
static __device__ __forceinline__ GpumeU64
try_points(const Group *g, const GpumeDeviceBlock *b, int dx, int dy, int valid)
{
    GpumeU32 cost = 0;
    GpumeU64 key;

    valid = valid && dx >= b->min_dx && dx <= b->max_dx &&
                     dy >= b->min_dy && dy <= b->max_dy;
    if (valid)
        cost = sad_share<Sample>(g, b, dx, dy, g->lane / POINTS, g->lanes / POINTS);
    for (int lane = POINTS; lane < g->lanes; lane <<= 1)
        cost += __shfl_xor_sync(g->mask, cost, lane);

    key = valid ? gpume_key(cost, g->lane % POINTS) : ~0ull;
    for (int lane = 1; lane < POINTS; lane <<= 1)
        key = gpume_min_key(g->mask, key, lane);
    return key;
}

/**
 * A group of lanes searches a block of the picture, all at the same centre: a
 * lane has one of eight candidates and a share of the rows.
 *
 * grid:   blocks of the picture over groups in a block of threads, 1, directions
 * block:  GPUME_CUDA_DS_THREADS
 * shared: none
 */
template<typename Sample>
static __device__ __forceinline__ void search(const GpumeCudaArgs &a)
{
    const int index = (blockIdx.x * GPUME_CUDA_DS_THREADS + threadIdx.x) / a.lanes;
    const GpumeCudaPlane ref = blockIdx.z ? a.ref[1] : a.ref[0];
    GpumeDeviceBlock b;
    GpumeU32 cost;
    GpumeU64 key;
    Group g;
    int x = 0, y = 0, px, py, moved;

    // whole groups leave together
    if (index >= a.params.bw * a.params.bh)
        return;
    b = gpume_block(&a.params, index % a.params.bw, index / a.params.bw);

    g = group_of<Sample>(a, &ref, &b, a.lanes);

    cost = sad_share<Sample>(&g, &b, 0, 0, g.lane, g.lanes);
    for (int lane = 1; lane < g.lanes; lane <<= 1)
        cost += __shfl_xor_sync(g.mask, cost, lane);

    do {
        large_diamond_point(g.lane % POINTS, &px, &py);
        key   = try_points<Sample>(&g, &b, x + px, y + py, cost != 0);
        moved = (GpumeU32)(key >> 32) < cost;
        if (moved) {
            large_diamond_point((int)key, &px, &py);
            cost = key >> 32;
            x   += px;
            y   += py;
        }
    } while (moved);

    small_diamond_point(g.lane % POINTS, &px, &py);
    key = try_points<Sample>(&g, &b, x + px, y + py,
                             cost && g.lane % POINTS < GPUME_SMALL_DIAMOND_POINTS);
    if ((GpumeU32)(key >> 32) < cost) {
        small_diamond_point((int)key, &px, &py);
        cost = key >> 32;
        x   += px;
        y   += py;
    }

    if (!g.lane)
        gpume_store(&a, &b, blockIdx.z, x, y, cost);
}

/* Words of a plane of bytes from column x, line y on; 0 outside the picture. */
static __device__ __forceinline__ void
load_words(GpumeU32 *dst, int rows, int row_words, const GpumeU8 *plane,
           long long linesize, int x, int y, const GpumeParams &p)
{
    for (int i = threadIdx.x; i < rows * row_words; i += GPUME_CUDA_DS_THREADS) {
        const int wy = i / row_words;
        const int column = x + 4 * (i - wy * row_words);
        const int line   = y + wy;
        const GpumeU8 *row = plane + line * linesize;
        GpumeU32 word = 0;

        if (column >= 0 && line >= 0 && line < p.height)
            word = gpume_load<GpumeU8>(row + column, p.width - column, row + p.width);
        dst[i] = word;
    }
}

/**
 * Blocks of SIDE x SIDE bytes, as above, but with the window around the blocks of a
 * block of threads, GPUME_CUDA_DS_MARGIN samples to each side, in shared memory. A
 * candidate outside it, and a block that the right edge cuts, is read from the plane.
 *
 * grid:   tiles of TILE_WIDTH x TILE_HEIGHT samples, a block for every LANES threads:
 *         side by side, on top of each other, directions
 * block:  GPUME_CUDA_DS_THREADS
 * shared: TILE_HEIGHT + 2 * margin rows of (TILE_WIDTH + 2 * margin) / 4 + 1 words,
 *         and the tile
 */
template<int SIDE>
static __device__ __forceinline__ void search_fast(const GpumeCudaArgs &a)
{
    GPUME_SHARED(GpumeU32, window);

    const int margin  = GPUME_CUDA_DS_MARGIN;
    const int lanes   = GPUME_CUDA_DS_LANES(SIDE);
    const int parts   = lanes / POINTS;
    const int share   = SIDE / parts;               // rows of a lane
    const int words   = SIDE / 4;
    const int across  = GPUME_CUDA_DS_TILE_WIDTH(SIDE) / SIDE;
    const int tile_width  = GPUME_CUDA_DS_TILE_WIDTH(SIDE);
    const int tile_height = GPUME_CUDA_DS_TILE_HEIGHT(SIDE);
    const int row_words = (tile_width + 2 * margin) / 4 + 1;
    const int rows    = tile_height + 2 * margin;
    GpumeU32 *tile    = window + rows * row_words;
    const GpumeCudaPlane ref = blockIdx.z ? a.ref[1] : a.ref[0];
    const int group   = threadIdx.x / lanes;
    const int tile_x  = blockIdx.x * tile_width;
    const int tile_y  = blockIdx.y * tile_height;
    const int in_x    = group % across * SIDE;      // the block in its tile
    const int in_y    = group / across * SIDE;
    GpumeU32 cur[share][words];
    GpumeDeviceBlock b;
    GpumeU32 cost;
    GpumeU32 key;
    Group g;
    int x = 0, y = 0, px, py, point, moved;

    load_words(window, rows, row_words, (const GpumeU8 *)ref.data, ref.linesize,
               tile_x - margin, tile_y - margin, a.params);
    load_words(tile, tile_height, tile_width / 4, (const GpumeU8 *)a.cur.data,
               a.cur.linesize, tile_x, tile_y, a.params);
    __syncthreads();

    // whole groups leave together
    if (tile_x + in_x >= a.params.width || tile_y + in_y >= a.params.height)
        return;
    b = gpume_block(&a.params, (tile_x + in_x) / SIDE, (tile_y + in_y) / SIDE);
    g = group_of<GpumeU8>(a, &ref, &b, lanes);

    const int cut = b.w < SIDE;
    const int first = g.lane / POINTS * share;
    const GpumeU32 *origin = window + (margin + in_y + first) * row_words;

#pragma unroll
    for (int i = 0; i < share; i++)
#pragma unroll
        for (int c = 0; c < words; c++)
            cur[i][c] = tile[((in_y + first + i) * tile_width + in_x) / 4 + c];

    /* the lane's share of the cost of (dx, dy) */
#define SHARE(sum, dx, dy)                                                      \
    if (cut || dx < -margin || dx > margin || dy < -margin || dy > margin) {    \
        sum = sad_far(g.cur, g.cur_linesize, g.left,                            \
                      g.ref + dy * g.ref_linesize, g.ref_linesize, dx,          \
                      b.w, b.h, g.lane / POINTS, parts);                        \
    } else {                                                                    \
        const int column = margin + in_x + dx;                                  \
        const int shift  = (column & 3) * 8;                                    \
        const GpumeU32 *win = origin + dy * row_words + (column >> 2);          \
                                                                                \
        sum = 0;                                                                \
        _Pragma("unroll")                                                       \
        for (int i = 0; i < share; i++)                                         \
            if (first + i < b.h) {                                              \
                GpumeU32 lo = win[i * row_words];                               \
                                                                                \
                _Pragma("unroll")                                               \
                for (int c = 0; c < words; c++) {                               \
                    const GpumeU32 hi = win[i * row_words + c + 1];             \
                                                                                \
                    sum = gpume_sad4(cur[i][c], gpume_funnel(lo, hi, shift), sum); \
                    lo = hi;                                                    \
                }                                                               \
            }                                                                   \
    }

    SHARE(cost, 0, 0)
#pragma unroll
    for (int lane = POINTS; lane < lanes; lane <<= 1)
        cost += __shfl_xor_sync(g.mask, cost, lane);

    large_diamond_point(g.lane % POINTS, &px, &py);
    for (int large = 1;;) {
        const int dx = x + px;
        const int dy = y + py;
        const int valid = cost && (large || g.lane % POINTS < GPUME_SMALL_DIAMOND_POINTS) &&
                          dx >= b.min_dx && dx <= b.max_dx &&
                          dy >= b.min_dy && dy <= b.max_dy;
        GpumeU32 sum = 0;

        if (valid) {
            SHARE(sum, dx, dy)
        }
#pragma unroll
        for (int lane = POINTS; lane < lanes; lane <<= 1)
            sum += __shfl_xor_sync(g.mask, sum, lane);
        // cost fits 16 bits; of equals the first point
        key = valid ? sum * POINTS + g.lane % POINTS : ~0u;
#pragma unroll
        for (int lane = 1; lane < POINTS; lane <<= 1)
            key = gpume_umin(key, __shfl_xor_sync(g.mask, key, lane));

        moved = key / POINTS < cost;
        if (moved) {
            point = __shfl_sync(g.mask, py * 65536 + (px & 0xffff),
                                (threadIdx.x & 31 & ~(lanes - 1)) + key % POINTS);
            cost = key / POINTS;
            x   += (short)point;
            y   += point >> 16;
        }
        if (!large)
            break;
        if (!moved) {
            large = 0;
            small_diamond_point(g.lane % POINTS, &px, &py);
        }
    }
#undef SHARE

    if (!g.lane)
        gpume_store(&a, &b, blockIdx.z, x, y, cost);
}

extern "C" __global__ void __launch_bounds__(GPUME_CUDA_DS_THREADS, 4)
gpume_ds4_8(const GpumeCudaArgs args)
{
    search_fast<4>(args);
}

extern "C" __global__ void __launch_bounds__(GPUME_CUDA_DS_THREADS, 4)
gpume_ds8_8(const GpumeCudaArgs args)
{
    search_fast<8>(args);
}

extern "C" __global__ void __launch_bounds__(GPUME_CUDA_DS_THREADS, 4)
gpume_ds16_8(const GpumeCudaArgs args)
{
    search_fast<16>(args);
}

extern "C" __global__ void __launch_bounds__(GPUME_CUDA_DS_THREADS)
gpume_ds_8(const GpumeCudaArgs args)
{
    search<GpumeU8>(args);
}

extern "C" __global__ void __launch_bounds__(GPUME_CUDA_DS_THREADS)
gpume_ds_16(const GpumeCudaArgs args)
{
    search<GpumeU16>(args);
}
