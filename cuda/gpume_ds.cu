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
    const GpumeU8 *cur_end;     ///< end of its row of the picture
    const GpumeU8 *ref;         ///< the same place in the reference
    const GpumeU8 *ref_end;
    long long cur_linesize, ref_linesize;
    int shift;
} Group;

/* The SAD of the rows first, first + step, ... */
template<typename Sample>
static __device__ __forceinline__ GpumeU32
sad_rows(const Group *g, const GpumeDeviceBlock *b, int dx, int dy,
         int first, int step)
{
    const int per_word = GpumeSample<Sample>::per_word;
    const long long ref_offset = dy * g->ref_linesize;
    GpumeU32 sum = 0;

    for (int y = first; y < b->h; y += step) {
        const GpumeU8 *cur     = g->cur     + y * g->cur_linesize;
        const GpumeU8 *cur_end = g->cur_end + y * g->cur_linesize;
        const GpumeU8 *ref     = g->ref     + y * g->ref_linesize + ref_offset +
                                 dx * GpumeSample<Sample>::bytes;
        const GpumeU8 *ref_end = g->ref_end + y * g->ref_linesize + ref_offset;

        for (int x = 0; x < b->w; x += per_word) {
            const int byte = x * GpumeSample<Sample>::bytes;
            const GpumeU32 c = gpume_load<Sample>(cur + byte, b->w - x, cur_end);
            const GpumeU32 r = gpume_load<Sample>(ref + byte, b->w - x, ref_end);

            sum = GpumeSample<Sample>::sad(GpumeSample<Sample>::right_justify(c, g->shift),
                                           GpumeSample<Sample>::right_justify(r, g->shift),
                                           sum);
        }
    }
    return sum;
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
        cost = sad_rows<Sample>(g, b, dx, dy, g->lane / POINTS, g->lanes / POINTS);
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
    const int bytes = GpumeSample<Sample>::bytes;
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

    g.lanes = a.lanes;
    g.lane  = threadIdx.x % a.lanes;
    g.mask  = (a.lanes == 32 ? ~0u : (1u << a.lanes) - 1) <<
              (threadIdx.x % 32 / a.lanes * a.lanes);
    g.shift = a.params.shift;
    g.cur_linesize = a.cur.linesize;
    g.ref_linesize = ref.linesize;
    g.cur     = (const GpumeU8 *)a.cur.data + b.y0 * a.cur.linesize + b.x0 * bytes;
    g.ref     = (const GpumeU8 *)ref.data   + b.y0 * ref.linesize   + b.x0 * bytes;
    g.cur_end = g.cur + (a.params.width - b.x0) * bytes;
    g.ref_end = g.ref + (a.params.width - b.x0) * bytes;

    cost = sad_rows<Sample>(&g, &b, 0, 0, g.lane, g.lanes);
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

extern "C" {

__global__ void __launch_bounds__(GPUME_CUDA_DS_THREADS)
gpume_ds_8(const GpumeCudaArgs args)
{
    search<GpumeU8>(args);
}

__global__ void __launch_bounds__(GPUME_CUDA_DS_THREADS)
gpume_ds_16(const GpumeCudaArgs args)
{
    search<GpumeU16>(args);
}

}
