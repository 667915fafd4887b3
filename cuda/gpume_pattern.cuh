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
 * What searches over patterns of points share: the cost of a few candidates of a
 * block, evaluated by a group of lanes of a warp.
 *
 * A group has SLOTS lanes, or PARTS times as many: lane l has the candidates
 * l % SLOTS, l % SLOTS + SLOTS, ... of a pattern, and of the block's rows
 * l / SLOTS, l / SLOTS + PARTS, ... The groups of a warp go through their searches
 * together until the last is done, so every exchange is one of the whole warp.
 *
 * An evaluator has these constants, the block, the lane's place in its group and
 *     zero()                the cost of the zero vector, in all lanes of the group
 *     prepare(x, y)         before candidates around (x, y)
 *     sad(dx, dy, valid)    the lane's share of the cost of a candidate; 0 unless valid
 * Costs are sums of samples as they lie, without the bits below the shift;
 * gpume_store_group() shifts the last one.
 */

#ifndef AVFILTER_GPUME_CUDA_GPUME_PATTERN_CUH
#define AVFILTER_GPUME_CUDA_GPUME_PATTERN_CUH

#include "libavfilter/gpume/cuda/gpume_device.h"

#define GPUME_WHOLE_WARP ~0u

/** Most points of a pattern. */
#define GPUME_POINTS 8

/**
 * Up to GPUME_POINTS points, in the order in which they are tried. A coordinate is
 * four bits, from -2 on; so it can be looked up in a register.
 */
typedef struct GpumePattern {
    GpumeU32 x, y;
    int points;
} GpumePattern;

/** The coordinates of a list of points, packed. */
template<int N>
static __device__ constexpr GpumeU32
gpume_pack(const signed char (&points)[N][2], int axis, int i = 0)
{
    return i == N ? 0 : (GpumeU32)(points[i][axis] + 2) << (4 * i & 31) |
                        gpume_pack(points, axis, i + 1);
}

static __device__ __forceinline__ int gpume_point_x(const GpumePattern &p, int i)
{
    return (int)(p.x >> 4 * i & 15) - 2;
}

static __device__ __forceinline__ int gpume_point_y(const GpumePattern &p, int i)
{
    return (int)(p.y >> 4 * i & 15) - 2;
}

/** The bits of a word of samples that count. */
template<typename Sample>
static __device__ __forceinline__ GpumeU32 gpume_significant(int shift)
{
    return GpumeSample<Sample>::bytes == 1 ? ~0u : (0xffffu >> shift << shift) * 0x10001u;
}

/** What lanes that evaluate know of their block. */
typedef struct GpumeGroup {
    GpumeDeviceBlock b;
    int exists;                 ///< 0: there is no such block
    int lane;                   ///< of the group, from 0
} GpumeGroup;

/**
 * Blocks of any size, samples as they lie, no alignment asked for: reads from the
 * planes, word by word.
 */
template<typename Sample, int LANES_, typename Key_>
struct GpumePlaneEvaluator {
    typedef Key_ Key;
    static const int LANES = LANES_;
    static const int SLOTS = LANES < GPUME_POINTS ? LANES : GPUME_POINTS;
    static const int PARTS = LANES / SLOTS;

    GpumeGroup g;
    int slot, part;
    const GpumeU8 *cur;         ///< the lane's first row of the block
    const GpumeU8 *ref;         ///< the same place in the reference
    long long cur_linesize, ref_linesize;
    int left;                   ///< samples from there to the picture's edge
    int words;                  ///< words of a row if all may be read whole, else 0
    GpumeU32 mask;              ///< significant bits

    __device__ __forceinline__ GpumePlaneEvaluator(const GpumeCudaArgs &a,
                                                   const GpumeCudaPlane &plane,
                                                   const GpumeGroup &group)
    {
        const int bytes = GpumeSample<Sample>::bytes;

        g    = group;
        slot = g.lane % SLOTS;
        part = g.lane / SLOTS;
        cur_linesize = a.cur.linesize;
        ref_linesize = plane.linesize;
        cur  = (const GpumeU8 *)a.cur.data + (g.b.y0 + part) * cur_linesize + g.b.x0 * bytes;
        ref  = (const GpumeU8 *)plane.data + (g.b.y0 + part) * ref_linesize + g.b.x0 * bytes;
        left = a.params.width - g.b.x0;
        mask = gpume_significant<Sample>(a.params.shift);
        words = ((a.cur.data | plane.data | cur_linesize | ref_linesize |
                  a.params.width * bytes) & 3) ? 0 : g.b.w * bytes / 4;
    }

    __device__ __forceinline__ GpumeU32 sad(int dx, int dy, int valid) const
    {
        const int bytes    = GpumeSample<Sample>::bytes;
        const int per_word = GpumeSample<Sample>::per_word;
        const GpumeU8 *c = cur;
        const GpumeU8 *r = ref + dy * ref_linesize + dx * bytes;
        GpumeU32 sum = 0;

        if (!valid)
            return 0;
        if (words) {
            const int start = (GpumeU64)r & 3;

            r -= start;
            for (int y = part; y < g.b.h; y += PARTS) {
                GpumeU32 lo, hi, cw;

                GPUME_LOAD_GLOBAL(lo, GpumeU32, r);
#pragma unroll 4
                for (int i = 0; i < words; i++) {
                    // behind the last sample lies perhaps nothing
                    const int next = i + 1 < words || start ? i + 1 : i;

                    GPUME_LOAD_GLOBAL(cw, GpumeU32, c + 4 * i);
                    GPUME_LOAD_GLOBAL(hi, GpumeU32, r + 4 * next);
                    sum = GpumeSample<Sample>::sad(cw & mask,
                                                   gpume_funnel(lo, hi, 8 * start) & mask, sum);
                    lo = hi;
                }
                c += PARTS * cur_linesize;
                r += PARTS * ref_linesize;
            }
            return sum;
        }
        for (int y = part; y < g.b.h; y += PARTS) {
#pragma unroll 1
            for (int x = 0; x < g.b.w; x += per_word) {
                const GpumeU32 cw = gpume_load<Sample>(c + x * bytes, g.b.w - x, c + left * bytes);
                const GpumeU32 rw = gpume_load<Sample>(r + x * bytes, g.b.w - x,
                                                       r + (left - dx) * bytes);

                sum = GpumeSample<Sample>::sad(cw & mask, rw & mask, sum);
            }
            c += PARTS * cur_linesize;
            r += PARTS * ref_linesize;
        }
        return sum;
    }

    __device__ __forceinline__ GpumeU32 zero() const
    {
        GpumeU32 sum = sad(0, 0, g.exists);

#pragma unroll
        for (int lane = SLOTS; lane < LANES; lane <<= 1)
            sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, lane);
        return sum;
    }

    __device__ __forceinline__ void prepare(int x, int y)
    {
    }
};

/**
 * Blocks of SIDE x SIDE samples, of planes whose rows begin at 16 bytes, that the
 * right edge does not cut. The block is in registers, and the reference around the
 * blocks of the warp in shared memory: where a warp has one block, the window follows
 * the search; else a candidate outside it is read from the plane.
 */
template<typename Sample, int SIDE, int LANES_>
struct GpumeWindowEvaluator {
    typedef GpumeU32 Key;
    static const int LANES  = LANES_;
    static const int SLOTS  = LANES < GPUME_POINTS ? LANES : GPUME_POINTS;
    static const int PARTS  = LANES / SLOTS;
    static const int BYTES  = GpumeSample<Sample>::bytes;
    static const int ROWS   = SIDE / PARTS;         ///< of a lane
    static const int WORDS  = SIDE * BYTES / 4;     ///< of such a row
    static const int WINDOW_ROWS  = GPUME_CUDA_DS_WINDOW_ROWS(SIDE, LANES_);
    static const int WINDOW_WIDTH = GPUME_CUDA_DS_WINDOW_WIDTH;
    static const int PITCH  = GPUME_CUDA_DS_PITCH(BYTES);
    static const int MARGIN = GPUME_CUDA_DS_MARGIN;

    GpumeGroup g;
    int slot, part;
    GpumeU32 *window;
    int window_x, window_y;     ///< the picture's sample that comes first in it
    int width, height;
    const GpumeU8 *plane;
    long long linesize;
    int shift;
    GpumeU32 cur[ROWS][WORDS];

    __device__ __forceinline__ GpumeWindowEvaluator(const GpumeCudaArgs &a,
                                                    const GpumeCudaPlane &ref,
                                                    const GpumeGroup &group,
                                                    GpumeU32 *shared, int tile_x, int tile_y)
    {
        const GpumeU8 *c;

        g        = group;
        slot     = g.lane % SLOTS;
        part     = g.lane / SLOTS;
        window   = shared;
        width    = a.params.width;
        height   = a.params.height;
        plane    = (const GpumeU8 *)ref.data;
        linesize = ref.linesize;
        shift    = a.params.shift;

        load_window(tile_x - 16, tile_y - MARGIN);

        c = (const GpumeU8 *)a.cur.data + (g.b.y0 + part) * a.cur.linesize + g.b.x0 * BYTES;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const int inside = g.exists && part + i * PARTS < g.b.h;

#pragma unroll
            for (int x = 0; x < WORDS; x += 4) {
                int4 v = { 0, 0, 0, 0 };

                if (!inside) {
                } else if (WORDS >= 4) {
                    GPUME_LOAD_GLOBAL(v, int4, c + 4 * x);
                } else if (WORDS == 2) {
                    int2 half;

                    GPUME_LOAD_GLOBAL(half, int2, c);
                    v.x = half.x;
                    v.y = half.y;
                } else {
                    GpumeU32 word;

                    GPUME_LOAD_GLOBAL(word, GpumeU32, c);
                    v.x = word;
                }
                cur[i][x] = significant(v.x);
                if (WORDS >= 2)
                    cur[i][x + 1] = significant(v.y);
                if (WORDS >= 4) {
                    cur[i][x + 2] = significant(v.z);
                    cur[i][x + 3] = significant(v.w);
                }
            }
            c += PARTS * a.cur.linesize;
        }
        __syncwarp();
    }

    __device__ __forceinline__ GpumeU32 significant(GpumeU32 word) const
    {
        return BYTES == 1 ? word : word & gpume_significant<Sample>(shift);
    }

    /* From a column that is a multiple of 16. What is outside the picture is 0. */
    __device__ __forceinline__ void load_window(int x, int y)
    {
        const int chunks = WINDOW_WIDTH * BYTES / 16;
        const int across = BYTES * 4;               // lanes, some of them idle
        const int lane   = threadIdx.x % 32;
        const int chunk  = lane % across;
        const int column = x * BYTES + 16 * chunk;
        const int count  = width * BYTES - column;  // bytes
        const GpumeU8 *p = plane + (y + lane / across) * linesize + column;
        GpumeU32 *dst    = window + lane / across * PITCH + 4 * chunk;
        int line = y + lane / across;

        window_x = x;
        window_y = y;
        if (chunk >= chunks)
            return;
#pragma unroll
        for (int row = 0; row < WINDOW_ROWS; row += 32 / across) {
            int4 v = { 0, 0, 0, 0 };

            if (line >= 0 && line < height && column >= 0) {
                if (count >= 16) {
                    GPUME_LOAD_GLOBAL(v, int4, p);
                } else if (count > 0) {
                    v.x = gpume_load<GpumeU8>(p,      count,      p + count);
                    v.y = gpume_load<GpumeU8>(p + 4,  count - 4,  p + count);
                    v.z = gpume_load<GpumeU8>(p + 8,  count - 8,  p + count);
                    v.w = gpume_load<GpumeU8>(p + 12, count - 12, p + count);
                }
            }
            v.x = significant(v.x);
            v.y = significant(v.y);
            v.z = significant(v.z);
            v.w = significant(v.w);
            *(int4 *)dst = v;
            line += 32 / across;
            p    += 32 / across * linesize;
            dst  += 32 / across * PITCH;
        }
    }

    __device__ __forceinline__ GpumeU32 sad_window(int column, int row) const
    {
        const int start = column * BYTES & 3;
        const GpumeU32 *p = window + (row + part) * PITCH + (column * BYTES >> 2);
        GpumeU32 sum = 0;

#pragma unroll
        for (int i = 0; i < ROWS; i++)
            if (part + i * PARTS < g.b.h) {
                GpumeU32 lo = p[i * PARTS * PITCH];

#pragma unroll
                for (int x = 0; x < WORDS; x++) {
                    const GpumeU32 hi = p[i * PARTS * PITCH + x + 1];

                    sum = GpumeSample<Sample>::sad(cur[i][x], gpume_funnel(lo, hi, 8 * start), sum);
                    lo = hi;
                }
            }
        return sum;
    }

    /* Far from the others. */
    __device__ __forceinline__ GpumeU32 sad_plane(int x, int y) const
    {
        const GpumeU8 *r = plane + (y + part) * linesize + x * BYTES;
        const int start  = (GpumeU64)r & 3;
        const int left   = (width - x) * BYTES;
        GpumeU32 sum = 0;

        r -= start;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            if (part + i * PARTS < g.b.h) {
                const GpumeU8 *p = r + i * PARTS * linesize;
                GpumeU32 lo, hi;

                GPUME_LOAD_GLOBAL(lo, GpumeU32, p);
#pragma unroll
                for (int x = 0; x < WORDS; x++) {
                    if (x + 1 < WORDS)
                        GPUME_LOAD_GLOBAL(hi, GpumeU32, p + 4 * (x + 1));
                    else if (!start)
                        hi = 0;
                    else if (start + left >= 4 * (WORDS + 1))
                        GPUME_LOAD_GLOBAL(hi, GpumeU32, p + 4 * WORDS);
                    else
                        hi = gpume_load<GpumeU8>(p + 4 * WORDS, start, p + start + left);
                    sum = GpumeSample<Sample>::sad(cur[i][x],
                              significant(gpume_funnel(lo, hi, 8 * start)), sum);
                    lo = hi;
                }
            }
        return sum;
    }

    __device__ __forceinline__ GpumeU32 sad(int dx, int dy, int valid) const
    {
        const int column = g.b.x0 + dx - window_x;
        const int row    = g.b.y0 + dy - window_y;

        if (!valid)
            return 0;
        if (LANES == 32 || ((unsigned)column < WINDOW_WIDTH - SIDE &&
                            (unsigned)row   <= WINDOW_ROWS  - SIDE))
            return sad_window(column, row);
        return sad_plane(g.b.x0 + dx, g.b.y0 + dy);
    }

    __device__ __forceinline__ GpumeU32 zero() const
    {
        GpumeU32 sum = g.exists ? sad_window(g.b.x0 - window_x, g.b.y0 - window_y) : 0;

#pragma unroll
        for (int lane = SLOTS; lane < LANES; lane <<= 1)
            sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, lane);
        return sum;
    }

    __device__ __forceinline__ void prepare(int x, int y)
    {
        if (LANES == 32) {
            const int column = g.b.x0 + x - window_x;
            const int row    = g.b.y0 + y - window_y;

            // points lie up to 2 away, and words up to 3 samples more
            if (column < 2 || column > WINDOW_WIDTH - SIDE - 3 ||
                row    < 2 || row    > WINDOW_ROWS  - SIDE - 2) {
                __syncwarp();
                load_window((g.b.x0 + x - (WINDOW_WIDTH - SIDE) / 2 + 8) & ~15,
                            g.b.y0 + y - (WINDOW_ROWS  - SIDE) / 2);
                __syncwarp();
            }
        }
    }
};

/** What is better than any other of the group, the same in all its lanes. */
template<int SLOTS>
static __device__ __forceinline__ GpumeU32 gpume_best_key(GpumeU32 key)
{
#pragma unroll
    for (int lane = 1; lane < SLOTS; lane <<= 1)
        key = gpume_umin(key, __shfl_xor_sync(GPUME_WHOLE_WARP, key, lane));
    return key;
}

template<int SLOTS>
static __device__ __forceinline__ GpumeU64 gpume_best_key(GpumeU64 key)
{
#pragma unroll
    for (int lane = 1; lane < SLOTS; lane <<= 1)
        key = gpume_min_key(GPUME_WHOLE_WARP, key, lane);
    return key;
}

/**
 * Try a pattern around (x, y), if the group is active.
 * @return cost * GPUME_POINTS + number of the first point of least cost; more than
 *         any cost's if none is admissible
 */
template<class Evaluator>
static __device__ __forceinline__ typename Evaluator::Key
gpume_try_pattern(Evaluator &e, const GpumePattern &p, int x, int y, int active)
{
    typedef typename Evaluator::Key Key;
    Key best = ~(Key)0;

#pragma unroll
    for (int round = 0; round < GPUME_POINTS; round += Evaluator::SLOTS) {
        const int i  = e.slot + round;
        const int dx = x + gpume_point_x(p, i);
        const int dy = y + gpume_point_y(p, i);
        const int valid = active && i < p.points &&
                          dx >= e.g.b.min_dx && dx <= e.g.b.max_dx &&
                          dy >= e.g.b.min_dy && dy <= e.g.b.max_dy;
        GpumeU32 cost = e.sad(dx, dy, valid);
        Key key;

#pragma unroll
        for (int lane = Evaluator::SLOTS; lane < Evaluator::LANES; lane <<= 1)
            cost += __shfl_xor_sync(GPUME_WHOLE_WARP, cost, lane);
        key = valid ? (Key)cost * GPUME_POINTS + i : ~(Key)0;
        if (key < best)
            best = key;
    }
    return gpume_best_key<Evaluator::SLOTS>(best);
}

/**
 * The result of a group's block: its AVMotionVector and its cost, in pieces that
 * lanes side by side write.
 */
template<class Evaluator>
static __device__ __forceinline__ void
gpume_store_group(const GpumeCudaArgs &a, const Evaluator &e, int dx, int dy, GpumeU32 cost)
{
    const GpumeDeviceBlock &b = e.g.b;
    const GpumeU64 i = ((GpumeU64)blockIdx.z * a.params.bh + b.by) * a.params.bw + b.bx;
    const int pairs = GPUME_CUDA_VECTOR_WORDS / 2;
    const int x = b.x0 + b.w / 2;
    const int y = b.y0 + b.h / 2;

    if (!e.g.exists)
        return;
#pragma unroll
    for (int k = 0; k <= pairs; k += Evaluator::LANES) {
        const int pair = k + e.g.lane;
        int2 v = { 0, 0 };

        if (pair == 0) {
            v.x = blockIdx.z ? a.source[1] : a.source[0];
            v.y = b.w | (b.h << 8) | ((x + dx) << 16);
        } else if (pair == 1) {
            v.x = (y + dy) | (x << 16);
            v.y = y;
        } else if (pair == 3) {
            v.x = dx;
            v.y = dy;
        } else if (pair == 4) {
            v.x = 1;
        }
        if (pair < pairs)
            ((int2 *)a.mvs)[i * pairs + pair] = v;
        else if (pair == pairs)
            ((GpumeU32 *)a.costs)[i] = cost >> a.params.shift;
    }
}

#endif /* AVFILTER_GPUME_CUDA_GPUME_PATTERN_CUH */
