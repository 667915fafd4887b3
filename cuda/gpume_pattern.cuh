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
 *     zero()             the cost of the zero vector, in all lanes of the group
 *     prepare(x, y)      before candidates around (x, y); a walk's has their distance, too
 *     sad(sum, x, y)     the lane's shares of the costs of its ROUNDS candidates
 * where a candidate is the place of its first sample in the reference.
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
    static_assert(N <= GPUME_POINTS, "they are in a word");
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

/**
 * A group's block: which, where, its true size, the places in the reference that are
 * admissible, min to min + span; and the lane of the group, from 0.
 */
typedef struct GpumeGroup {
    int bx, by;
    int x0, y0;
    int w, h;
    int min_x, min_y;
    unsigned span_x, span_y;
    int exists;                 ///< 0: there is no such block
    int lane;
} GpumeGroup;

static __device__ __forceinline__ GpumeGroup
gpume_group(const GpumeParams &p, int block, int lanes, int bx, int by)
{
    GpumeGroup g;

    g.bx = bx;
    g.by = by;
    g.x0 = bx * block;
    g.y0 = by * block;
    g.w  = gpume_min(block, p.width  - g.x0);
    g.h  = gpume_min(block, p.height - g.y0);
    g.min_x  = gpume_max(0, g.x0 - p.range);
    g.min_y  = gpume_max(0, g.y0 - p.range);
    g.span_x = gpume_min(g.x0 + p.range, p.width  - g.w) - g.min_x;
    g.span_y = gpume_min(g.y0 + p.range, p.height - g.h) - g.min_y;
    g.exists = bx < p.bw && by < p.bh;
    g.lane   = threadIdx.x % lanes;
    return g;
}

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
    static const int ROUNDS = GPUME_POINTS / SLOTS;
    static const int BYTES = GpumeSample<Sample>::bytes;

    const GpumeCudaArgs &a;
    const GpumeCudaPlane &plane;
    GpumeGroup g;
    int words;                  ///< words of a row if all may be read whole, else 0

    __device__ __forceinline__ GpumePlaneEvaluator(const GpumeCudaArgs &args,
                                                   const GpumeCudaPlane &ref,
                                                   const GpumeGroup &group)
        : a(args), plane(ref)
    {
        g     = group;
        words = ((a.cur.data | plane.data | a.cur.linesize | plane.linesize |
                  a.params.width * BYTES) & 3) ? 0 : g.w * BYTES / 4;
    }

    __device__ __forceinline__ int width()  const { return g.w; }
    __device__ __forceinline__ int height() const { return g.h; }

    __device__ __forceinline__ GpumeU32 sad_plane(int x, int y) const
    {
        const int part = g.lane / SLOTS;
        const GpumeU32 mask = gpume_significant<Sample>(a.params.shift);
        const GpumeU8 *c = (const GpumeU8 *)a.cur.data +
                           (g.y0 + part) * a.cur.linesize + g.x0 * BYTES;
        const GpumeU8 *r = (const GpumeU8 *)plane.data +
                           (y + part) * plane.linesize + x * BYTES;
        GpumeU32 sum = 0;

        if (words) {
            const int batch = LANES == 32 ? 8 : 4;
            const int start = (GpumeU64)r & 3;
            /* behind the last sample lies perhaps nothing */
            const int last  = start ? words : words - 1;

            r -= start;
#pragma unroll 1
            for (int i = part; i < g.h; i += PARTS) {
                GpumeU32 lo;

                GPUME_LOAD_GLOBAL(lo, GpumeU32, r);
#pragma unroll 1
                for (int j = 0; j < words; j += batch) {
                    GpumeU32 cw[batch], hi[batch];

                    // all on their way before the first is used
#pragma unroll
                    for (int k = 0; k < batch; k++) {
                        GPUME_LOAD_GLOBAL(cw[k], GpumeU32, c + 4 * gpume_min(j + k, words - 1));
                        GPUME_LOAD_GLOBAL(hi[k], GpumeU32, r + 4 * gpume_min(j + k + 1, last));
                    }
#pragma unroll
                    for (int k = 0; k < batch; k++) {
                        const GpumeU32 counts = j + k < words ? mask : 0;

                        sum = GpumeSample<Sample>::sad(cw[k] & counts,
                                  gpume_funnel(lo, hi[k], 8 * start) & counts, sum);
                        lo = hi[k];
                    }
                }
                c += PARTS * a.cur.linesize;
                r += PARTS * plane.linesize;
            }
            return sum;
        }
#pragma unroll 1
        for (int i = part; i < g.h; i += PARTS) {
#pragma unroll 1
            for (int j = 0; j < g.w; j += 4 / BYTES) {
                const GpumeU32 cw = gpume_load<Sample>(c + j * BYTES, g.w - j,
                                                       c + (a.params.width - g.x0) * BYTES);
                const GpumeU32 rw = gpume_load<Sample>(r + j * BYTES, g.w - j,
                                                       r + (a.params.width - x) * BYTES);

                sum = GpumeSample<Sample>::sad(cw & mask, rw & mask, sum);
            }
            c += PARTS * a.cur.linesize;
            r += PARTS * plane.linesize;
        }
        return sum;
    }

    __device__ __forceinline__ void sad(GpumeU32 sum[], const int x[], const int y[]) const
    {
#pragma unroll
        for (int i = 0; i < ROUNDS; i++)
            sum[i] = sad_plane(x[i], y[i]);
    }

    __device__ __forceinline__ GpumeU32 zero() const
    {
        GpumeU32 sum = g.exists ? sad_plane(g.x0, g.y0) : 0;

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
 * Whole blocks of SIDE x SIDE samples, of planes whose rows begin at 16 bytes and have
 * at least as many. The block is in registers, and the reference around the blocks of
 * the warp in shared memory: where a warp has one block, the window follows the
 * search; else a candidate outside it is read from the plane.
 * @tparam CUT  the picture's lower edge may cut the block: one in the warp only
 */
template<typename Sample, int SIDE, int LANES_, int CUT = 0>
struct GpumeWindowEvaluator {
    typedef GpumeU32 Key;
    static const int LANES  = LANES_;
    static const int SLOTS  = LANES < GPUME_POINTS ? LANES : GPUME_POINTS;
    static const int PARTS  = LANES / SLOTS;
    static const int ROUNDS = GPUME_POINTS / SLOTS;
    static const int BYTES  = GpumeSample<Sample>::bytes;
    static const int ROWS   = SIDE / PARTS;         ///< of a lane
    static const int WORDS  = SIDE * BYTES / 4;     ///< of such a row
    static const int WINDOW_WIDTH = GPUME_CUDA_DS_WINDOW_WIDTH;
    static const int WINDOW_ROWS  = GPUME_CUDA_DS_WINDOW_ROWS(SIDE);
    static const int PITCH  = GPUME_CUDA_DS_PITCH(BYTES);

    const GpumeCudaArgs &a;
    const GpumeCudaPlane &plane;
    GpumeGroup g;
    GpumeU32 *window;
    int window_x, window_y;     ///< the picture's sample that comes first in it
    GpumeU32 cur[ROWS][WORDS];

    __device__ __forceinline__ GpumeWindowEvaluator(const GpumeCudaArgs &args,
                                                    const GpumeCudaPlane &ref,
                                                    const GpumeGroup &group,
                                                    GpumeU32 *shared, int x, int y)
        : a(args), plane(ref)
    {
        g      = group;
        window = shared;
        load_block();
        load_window(x, y);
        __syncwarp();
    }

    __device__ __forceinline__ int width()  const { return SIDE; }
    __device__ __forceinline__ int height() const { return CUT ? g.h : SIDE; }

    /** Whether the block has the lane's i-th row. */
    __device__ __forceinline__ int has_row(int i) const
    {
        return !CUT || g.lane / SLOTS + i * PARTS < g.h;
    }

    __device__ __forceinline__ GpumeU32 significant(GpumeU32 word) const
    {
        return BYTES == 1 ? word : word & gpume_significant<Sample>(a.params.shift);
    }

    static __device__ __forceinline__ const GpumeU8 *row(const GpumeCudaPlane &p, int y)
    {
        return (const GpumeU8 *)p.data + (long long)(int)p.linesize * y;
    }

    __device__ __forceinline__ void load_block()
    {
        const int part = g.lane / SLOTS;
        const GpumeU8 *p = row(a.cur, g.y0 + part) + g.x0 * BYTES;

#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            if (!has_row(i))
                break;
#pragma unroll
            for (int j = 0; j < WORDS; j += 4) {
                if (WORDS >= 4) {
                    int4 v;

                    GPUME_LOAD_GLOBAL(v, int4, p + 4 * j);
                    cur[i][j]     = significant(v.x);
                    cur[i][j + 1] = significant(v.y);
                    cur[i][j + 2] = significant(v.z);
                    cur[i][j + 3] = significant(v.w);
                } else if (WORDS == 2) {
                    int2 v;

                    GPUME_LOAD_GLOBAL(v, int2, p);
                    cur[i][0] = significant(v.x);
                    cur[i][1] = significant(v.y);
                } else {
                    GpumeU32 v;

                    GPUME_LOAD_GLOBAL(v, GpumeU32, p);
                    cur[i][0] = significant(v);
                }
            }
            p += PARTS * (int)a.cur.linesize;
        }
    }

    /* From a column that is a multiple of 16. Outside the picture is what lies next to it. */
    __device__ __forceinline__ void load_window(int x, int y)
    {
        const int chunks = WINDOW_WIDTH * BYTES / 16;
        const int across = BYTES * 4;               // lanes, some of them idle
        const int down   = 32 / across;
        const int chunk  = threadIdx.x % across;
        const int line   = y + threadIdx.x % 32 / across;
        const int bytes  = a.params.width * BYTES;
        const int column = x * BYTES + 16 * chunk;
        const int inside = gpume_max(0, gpume_min(column, (bytes & ~15) - 16));
        GpumeU32 *dst    = window + threadIdx.x % 32 / across * PITCH + 4 * chunk;
        int4 v[WINDOW_ROWS / down];

        static_assert(WINDOW_ROWS % down == 0, "rows of the window are loaded together");
        window_x = x;
        window_y = y;
        if (chunk >= chunks)
            return;
#pragma unroll
        for (int i = 0; i < WINDOW_ROWS / down; i++)
            GPUME_LOAD_GLOBAL(v[i], int4, inside +
                row(plane, gpume_max(0, gpume_min(line + i * down, a.params.height - 1))));
#pragma unroll
        for (int i = 0; i < WINDOW_ROWS / down; i++) {
            v[i].x = significant(v[i].x);
            v[i].y = significant(v[i].y);
            v[i].z = significant(v[i].z);
            v[i].w = significant(v[i].w);
            *(int4 *)(dst + i * down * PITCH) = v[i];
        }
        // the picture ends within those 16 bytes
        if (column < bytes && column + 16 > bytes)
#pragma unroll 1
            for (int i = 0; i < WINDOW_ROWS; i += down) {
                const GpumeU8 *p = row(plane, gpume_max(0, gpume_min(line + i,
                                                            a.params.height - 1)));

#pragma unroll 1
                for (int j = column; j < bytes; j += 4) {
                    GpumeU32 word = 0;

#pragma unroll 1
                    for (int k = j; k < bytes && k < j + 4; k++)
                        word |= (GpumeU32)p[k] << 8 * (k - j);
                    dst[i * PITCH + (j - column) / 4] = significant(word);
                }
            }
    }

    __device__ __forceinline__ GpumeU32 sad_window(int column, int line) const
    {
        const int start = column * BYTES & 3;
        const GpumeU32 *p = window + (line + g.lane / SLOTS) * PITCH + (column * BYTES >> 2);
        /* one after the other would wait for each other */
        GpumeU32 sum[4] = { 0, 0, 0, 0 };

#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            if (!has_row(i))
                break;

            GpumeU32 lo = p[i * PARTS * PITCH];

#pragma unroll
            for (int j = 0; j < WORDS; j++) {
                const GpumeU32 hi = p[i * PARTS * PITCH + j + 1];

                sum[i & 3] = GpumeSample<Sample>::sad(cur[i][j], gpume_funnel(lo, hi, 8 * start),
                                                      sum[i & 3]);
                lo = hi;
            }
        }
        return sum[0] + sum[1] + sum[2] + sum[3];
    }

    /* Far from the others. */
    __device__ __forceinline__ GpumeU32 sad_plane(int x, int y) const
    {
        const GpumeU8 *r = row(plane, y + g.lane / SLOTS) + x * BYTES;
        const int start  = (GpumeU64)r & 3;
        /* bytes of the picture where the last word is, if one more is needed */
        const int tail   = (a.params.width - x) * BYTES + start - 4 * WORDS;
        const int last   = start && tail >= 4 ? 4 * WORDS : 4 * (WORDS - 1);
        GpumeU32 word[ROWS][WORDS + 1];
        GpumeU32 sum = 0;

        r -= start;
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int j = 0; j <= WORDS; j++)
                GPUME_LOAD_GLOBAL(word[i][j], GpumeU32, r + i * PARTS * (int)plane.linesize +
                                  (j < WORDS ? 4 * j : last));
        if (start && tail < 4)
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                const GpumeU8 *p = r + i * PARTS * (int)plane.linesize + 4 * WORDS;

                word[i][WORDS] = tail > 0 ? p[0] : 0;
                if (tail > 1)
                    word[i][WORDS] |= (GpumeU32)p[1] << 8;
                if (tail > 2)
                    word[i][WORDS] |= (GpumeU32)p[2] << 16;
            }
#pragma unroll
        for (int i = 0; i < ROWS; i++)
#pragma unroll
            for (int j = 0; j < WORDS; j++)
                sum = GpumeSample<Sample>::sad(cur[i][j], significant(
                          gpume_funnel(word[i][j], word[i][j + 1], 8 * start)), sum);
        return sum;
    }

    __device__ __forceinline__ void sad(GpumeU32 sum[], const int x[], const int y[]) const
    {
        int far = 0;

        if (LANES < 32)
#pragma unroll
            for (int i = 0; i < ROUNDS; i++)
                far |= (unsigned)(x[i] - window_x) >= WINDOW_WIDTH - SIDE ||
                       (unsigned)(y[i] - window_y) >  WINDOW_ROWS  - SIDE;
        // all in the same way, so that all loads are on their way at the same time
        if (far)
#pragma unroll
            for (int i = 0; i < ROUNDS; i++)
                sum[i] = sad_plane(x[i], y[i]);
        else
#pragma unroll
            for (int i = 0; i < ROUNDS; i++)
                sum[i] = sad_window(x[i] - window_x, y[i] - window_y);
    }

    __device__ __forceinline__ GpumeU32 zero() const
    {
        GpumeU32 sum = sad_window(g.x0 - window_x, g.y0 - window_y);

#pragma unroll
        for (int lane = SLOTS; lane < LANES; lane <<= 1)
            sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, lane);
        return sum;
    }

    __device__ __forceinline__ void prepare(int x, int y)
    {
        /* where the candidate may lie: points up to 2 away, words 3 samples more */
        const int column = x - window_x, max_column = WINDOW_WIDTH - SIDE - 3;
        const int line   = y - window_y, max_line   = WINDOW_ROWS  - SIDE - 2;

        if (LANES == 32 && ((unsigned)(column - 2) > (unsigned)max_column - 2 ||
                            (unsigned)(line   - 2) > (unsigned)max_line   - 2)) {
            // more of what lies ahead; columns may end up to 15 further on
            const int new_column = column > max_column ? 2 :
                                   column < 2 ? max_column - 15 : max_column / 2 - 6;
            const int new_line   = line > max_line ? 4 :
                                   line < 2 ? max_line - 2 : (WINDOW_ROWS - SIDE) / 2;

            __syncwarp();
            load_window((x - new_column) & ~15, y - new_line);
            __syncwarp();
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
 * Try a pattern around (x, y), its points multiplied by a step, if the group is active.
 * @return cost * GPUME_POINTS + number of the first point of least cost; more than
 *         any cost's if none is admissible
 */
template<class Evaluator>
static __device__ __forceinline__ typename Evaluator::Key
gpume_try_pattern(Evaluator &e, const GpumePattern &p, int x, int y, int active,
                  int step = 1)
{
    typedef typename Evaluator::Key Key;
    const int rounds = Evaluator::ROUNDS;
    const int slot = e.g.lane % Evaluator::SLOTS;
    int px[rounds], py[rounds], valid[rounds];
    GpumeU32 cost[rounds];
    Key best = ~(Key)0;

    if (active) {
#pragma unroll
        for (int r = 0; r < rounds; r++) {
            const int i = slot + r * Evaluator::SLOTS;

            px[r] = x + gpume_point_x(p, i) * step;
            py[r] = y + gpume_point_y(p, i) * step;
            valid[r] = (i < p.points) & ((unsigned)(px[r] - e.g.min_x) <= e.g.span_x) &
                                        ((unsigned)(py[r] - e.g.min_y) <= e.g.span_y);
            // instead of a branch
            px[r] = valid[r] ? px[r] : x;
            py[r] = valid[r] ? py[r] : y;
        }
        e.sad(cost, px, py);
    } else {
#pragma unroll
        for (int r = 0; r < rounds; r++)
            cost[r] = valid[r] = 0;
    }
#pragma unroll
    for (int r = 0; r < rounds; r++) {
        Key key;

#pragma unroll
        for (int lane = Evaluator::SLOTS; lane < Evaluator::LANES; lane <<= 1)
            cost[r] += __shfl_xor_sync(GPUME_WHOLE_WARP, cost[r], lane);
        key = valid[r] ? (Key)cost[r] * GPUME_POINTS + slot + r * Evaluator::SLOTS : ~(Key)0;
        if (key < best)
            best = key;
    }
    return gpume_best_key<Evaluator::SLOTS>(best);
}

/**
 * The result of a group's block, found at (x, y): its AVMotionVector and its cost, in
 * pieces that lanes side by side write.
 */
template<class Evaluator>
static __device__ __forceinline__ void
gpume_store_group(const Evaluator &e, int x, int y, GpumeU32 cost)
{
    const GpumeCudaArgs &a = e.a;
    const GpumeU64 i = ((GpumeU64)blockIdx.z * a.params.bh + e.g.by) * a.params.bw + e.g.bx;
    const int pairs = GPUME_CUDA_VECTOR_WORDS / 2;
    const int mid_x = e.width()  / 2;
    const int mid_y = e.height() / 2;

    if (!e.g.exists)
        return;
#pragma unroll
    for (int k = 0; k <= pairs; k += Evaluator::LANES) {
        const int pair = k + e.g.lane;
        int2 v = { 0, 0 };

        if (pair == 0) {
            v.x = blockIdx.z ? a.source[1] : a.source[0];
            v.y = e.width() | (e.height() << 8) | ((x + mid_x) << 16);
        } else if (pair == 1) {
            v.x = (y + mid_y) | ((e.g.x0 + mid_x) << 16);
            v.y = e.g.y0 + mid_y;
        } else if (pair == 3) {
            v.x = x - e.g.x0;
            v.y = y - e.g.y0;
        } else if (pair == 4) {
            v.x = 1;
        }
        if (pair < pairs)
            ((int2 *)a.mvs)[i * pairs + pair] = v;
        else if (pair == pairs)
            ((GpumeU32 *)a.costs)[i] = cost >> a.params.shift;
    }
}

/**
 * Numbers as a search needs them: what functions of their own have as parameters, as a
 * struct would go through memory for all.
 */
static __device__ __forceinline__ GpumeCudaArgs
gpume_args(int algo, GpumeU64 cur, long long cur_linesize, GpumeU64 ref, long long ref_linesize,
            int width, int height, int range, int shift, int bw, int bh, int source,
            GpumeU64 mvs, GpumeU64 costs)
{
    GpumeCudaArgs a;

    a.params.algo   = algo;
    a.params.width  = width;
    a.params.height = height;
    a.params.range  = range;
    a.params.shift  = shift;
    a.params.bw     = bw;
    a.params.bh     = bh;
    a.cur.data      = cur;
    a.cur.linesize  = cur_linesize;
    a.ref[0].data      = ref;
    a.ref[0].linesize  = ref_linesize;
    a.source[0] = a.source[1] = source;
    a.mvs       = mvs;
    a.costs     = costs;
    return a;
}

/** All that gpume_args() has behind its algo, as parameters; and the group's block. */
#define GPUME_NUMBERS(a, ref, g)                                                \
    (a).cur.data, (a).cur.linesize, (ref).data, (ref).linesize,                 \
    (a).params.width, (a).params.height, (a).params.range, (a).params.shift,    \
    (a).params.bw, (a).params.bh, blockIdx.z ? (a).source[1] : (a).source[0],   \
    (a).mvs, (a).costs, (g).bx, (g).by

/**
 * What a warp has of the picture: blocks of SIDE x SIDE samples, as many as fit into
 * 16 samples width, LANES lanes for each.
 */
template<typename Sample, int SIDE>
struct GpumeTile {
    static const int LANES  = GPUME_CUDA_DS_LANES(SIDE);
    static const int ACROSS = GPUME_CUDA_DS_TILE_WIDTH / SIDE;

    GpumeCudaPlane ref;
    int warp;
    int x, y;                   ///< the first sample
    GpumeGroup g;               ///< the lane's
    int loads;                  ///< a window can be loaded: whole across, rows begin at 16 bytes

    __device__ __forceinline__ GpumeTile(const GpumeCudaArgs &a)
    {
        const int number = threadIdx.x % 32 / LANES;    // of the group in its warp

        ref  = blockIdx.z ? a.ref[1] : a.ref[0];
        warp = threadIdx.x / 32;
        x    = (blockIdx.x * GPUME_CUDA_DS_WARPS + warp) * GPUME_CUDA_DS_TILE_WIDTH;
        y    = blockIdx.y * GPUME_CUDA_DS_TILE_HEIGHT(SIDE);
        g    = gpume_group(a.params, SIDE, LANES, (unsigned)x / SIDE + number % ACROSS,
                                                  (unsigned)y / SIDE + number / ACROSS);
        loads = x + GPUME_CUDA_DS_TILE_WIDTH <= a.params.width &&
                !((a.cur.data | ref.data | a.cur.linesize | ref.linesize) & 15);
    }

    /** Whether no block is cut by the lower edge. */
    __device__ __forceinline__ int whole_below(const GpumeCudaArgs &a) const
    {
        return y + GPUME_CUDA_DS_TILE_HEIGHT(SIDE) <= a.params.height;
    }

    /** The evaluator that has a window of these, one for each warp. */
    template<class Evaluator>
    __device__ __forceinline__ Evaluator evaluator(const GpumeCudaArgs &a, GpumeU32 *windows) const
    {
        return Evaluator(a, ref, g, windows +
                         warp * GPUME_CUDA_DS_WINDOW_WORDS(SIDE, GpumeSample<Sample>::bytes),
                         x - GPUME_CUDA_DS_MARGIN_X, y - GPUME_CUDA_DS_MARGIN_Y(SIDE));
    }
};

#endif /* AVFILTER_GPUME_CUDA_GPUME_PATTERN_CUH */
