/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Shared by the searches over patterns of points: a group of lanes of a warp evaluates the cost of
 * a few candidates of a block.
 *
 * A group has SLOTS lanes, or PARTS times as many. Lane l has the candidates l % SLOTS, l % SLOTS +
 * SLOTS, ... of a pattern, and the rows l / SLOTS, l / SLOTS + PARTS, ... of the block. The groups
 * of a warp run their searches together until the last one is finished, so every shuffle includes
 * the whole warp.
 *
 * An evaluator has these constants, the block, the lane's position in its group and
 *     zero()                 the cost of the zero vector, in all lanes of the group
 *     prepare(x, y, reach)   called before candidates that are up to reach samples from (x, y)
 *     shares(sum, x, y)      the lane's shares of the costs of its ROUNDS candidates
 * where a candidate is given by the position of its first sample in the reference.
 */

#ifndef AVFILTER_GPUME_CUDA_EVALUATORS_CUH
#define AVFILTER_GPUME_CUDA_EVALUATORS_CUH

#include "libavfilter/gpume/cuda/module.cuh"

/** Points of a pattern that have their own lanes. */
#define GPUME_POINTS GPUME_MAX_PATTERN_POINTS
static_assert(GPUME_POINTS == 8, "keys and lanes are divided by it");

/** A group's block, and the index of the lane in the group. */
struct GpumeGroup : GpumeBox {
    int bx, by;                 ///< index of the block
    int exists;                 ///< 0: the block does not exist
    int lane;
};

static __device__ __forceinline__ GpumeGroup
gpume_group(const GpumeParams &p, int block, int lanes, int bx, int by)
{
    GpumeGroup g;

    (GpumeBox &)g = gpume_box(&p, block, bx, by);
    g.bx     = bx;
    g.by     = by;
    g.exists = bx < p.bw && by < p.bh;
    g.lane   = threadIdx.x % lanes;
    return g;
}

/** Returns whether the candidate at (x, y) is admissible, like gpume_admissible(), with fewer comparisons. */
static __device__ __forceinline__ int gpume_group_admits(const GpumeGroup &g, int x, int y)
{
    return ((unsigned)(x - (g.x0 + g.min_dx)) <= (unsigned)(g.max_dx - g.min_dx)) &
           ((unsigned)(y - (g.y0 + g.min_dy)) <= (unsigned)(g.max_dy - g.min_dy));
}

/** Assigns candidates and rows to a lane of LANES. */
template<class Cost, int LANES_>
struct GpumeLanes {
    static const int LANES  = LANES_;
    static const int SLOTS  = LANES / Cost::LANES < GPUME_POINTS ? LANES / Cost::LANES : GPUME_POINTS;
    static const int PARTS  = LANES / SLOTS;
    static const int ROUNDS = GPUME_POINTS / SLOTS;

    GpumeGroup g;

    /** Returns whether the lane's warp writes the result. */
    static __device__ __forceinline__ int writes()
    {
        return 1;
    }

    /** Returns the lane's i-th row of the block. */
    __device__ __forceinline__ int line(int i) const
    {
        return g.lane / SLOTS + i * PARTS;
    }

    /** Returns the sum over all lanes that have parts of the same candidate. */
    static __device__ __forceinline__ GpumeU32 sum_of_parts(GpumeU32 sum)
    {
        GPUME_UNROLL for (int lane = SLOTS; lane < LANES; lane <<= 1)
            sum += __shfl_xor_sync(GPUME_WHOLE_WARP, sum, lane);
        return sum;
    }
};

/**
 * Evaluates blocks of any size: reads word by word from the planes.
 * @tparam TEAM  all warps of a thread block have the same block and share its rows
 */
template<class Cost, int LANES_, typename Key_, int TEAM = 0>
struct GpumePlaneEvaluator : GpumeLanes<Cost, LANES_> {
    typedef Key_ Key;
    typedef typename Cost::Sample Sample;
    typedef GpumeLanes<Cost, LANES_> Lanes;
    static const int BYTES = GpumeSample<Sample>::bytes;
    static const int AREA  = 8 * BYTES / 4;         ///< words in a row of an area of satd.cuh
    using Lanes::g;

    const GpumeCudaArgs &a;
    const GpumeCudaPlane &plane;
    mutable int parity;         ///< selects where a team's costs are exchanged

    __device__ __forceinline__ GpumePlaneEvaluator(const GpumeCudaArgs &args,
                                                   const GpumeCudaPlane &ref,
                                                   const GpumeGroup &group)
        : a(args), plane(ref)
    {
        g      = group;
        parity = 0;
    }

    static __device__ __forceinline__ int warp()   { return TEAM ? threadIdx.x / 32 : 0; }
    static __device__ __forceinline__ int warps()  { return TEAM ? blockDim.x / 32 : 1; }
    static __device__ __forceinline__ int writes() { return !warp(); }

    /** Returns samples without padding bits. */
    __device__ __forceinline__ GpumeU32 samples(GpumeU32 word) const
    {
        return GpumeSample<Sample>::right_justify(word, a.params.shift);
    }

    __device__ __forceinline__ GpumeU32 share(int x, int y) const
    {
        return share_of(Cost(), x, y);
    }

    /** Returns the sum over the lane's rows. */
    __device__ __forceinline__ GpumeU32 share_of(GpumeSad<Sample>, int x, int y) const
    {
        const int first = Lanes::line(0) + warp() * Lanes::PARTS, stride = Lanes::PARTS * warps();
        const GpumeU8 *c = (const GpumeU8 *)a.cur.data +
                           (g.y0 + first) * a.cur.linesize + g.x0 * BYTES;
        const GpumeU8 *r = (const GpumeU8 *)plane.data +
                           (y + first) * plane.linesize + x * BYTES;
        const int batch = Lanes::LANES == 32 ? 8 : 4;
        const int start = (GpumeU64)r & 3;
        const int words = (g.w * BYTES + 3) / 4, last = (start + g.w * BYTES - 1) / 4;
        GpumeU32 sum = 0;

        r -= start;
        GPUME_NO_UNROLL for (int i = first; i < g.h; i += stride) {
            GpumeU32 lo;

            gpume_load_global(&lo, r);
            GPUME_NO_UNROLL for (int j = 0; j < words; j += batch) {
                GpumeU32 cw[batch], hi[batch];

                // issue all loads before the first use
                GPUME_UNROLL for (int k = 0; k < batch; k++) {
                    gpume_load_global(&cw[k], c + 4 * gpume_min(j + k, words - 1));
                    gpume_load_global(&hi[k], r + 4 * gpume_min(j + k + 1, last));
                }
                GPUME_UNROLL for (int k = 0; k < batch; k++) {
                    const GpumeU32 mask = gpume_mask<Sample>(g.w - (j + k) * (4 / BYTES));

                    sum = Cost::word(samples(cw[k] & mask),
                                     samples(gpume_funnel_shift(lo, hi[k], 8 * start) & mask), sum);
                    lo  = hi[k];
                }
            }
            c += stride * a.cur.linesize;
            r += stride * plane.linesize;
        }
        return sum;
    }

    /** Loads the samples of a row from column x on: the first n, and 0 for the others. */
    __device__ __forceinline__ void load(GpumeU32 (&v)[AREA], const GpumeU8 *row, int x, int n) const
    {
        const GpumeU8 *p = row + x * BYTES;
        const int start  = (GpumeU64)p & 3, last = (start + gpume_min(8, n) * BYTES - 1) / 4;
        GpumeU32 raw[AREA + 1] = { 0 };

        if (n > 0)
            GPUME_UNROLL for (int j = 0; j <= AREA; j++)
                gpume_load_global(&raw[j], p - start + 4 * gpume_min(j, last));
        GPUME_UNROLL for (int j = 0; j < AREA; j++)
            v[j] = samples(gpume_funnel_shift(raw[j], raw[j + 1], 8 * start) &
                           gpume_mask<Sample>(n - j * (4 / BYTES)));
    }

    /** Returns the costs of areas whose first row the lane has. All lanes of the warp have blocks of the same size. */
    __device__ __forceinline__ GpumeU32 share_of(GpumeSatd<Sample>, int x, int y) const
    {
        const int row = Lanes::line(0);
        GpumeU32 cur[AREA], ref[AREA], sum = 0;

        GPUME_NO_UNROLL for (int i = row + 8 * warp(); i - row < g.h; i += 8 * warps()) {
            const GpumeU8 *c = (const GpumeU8 *)a.cur.data + (g.y0 + i) * a.cur.linesize;
            const GpumeU8 *r = (const GpumeU8 *)plane.data + (y + i) * plane.linesize;

            GPUME_NO_UNROLL for (int j = 0; j < g.w; j += 8) {
                const int n = i < g.h ? g.w - j : 0;

                load(cur, c, g.x0 + j, n);
                load(ref, r, x + j, n);
                sum += Cost::area(cur, ref, row, Lanes::SLOTS, g.w - j >= 8 && g.h - (i - row) >= 8);
            }
        }
        return sum;
    }

    /** Computes the sums over all warps of a team, in the lanes that have the first parts. All threads call it. */
    template<int N>
    __device__ __forceinline__ void add_up(GpumeU32 (&sum)[N]) const
    {
        GPUME_SHARED(GpumeU32, shared);
        GpumeU32 *costs = shared + parity * warps() * GPUME_POINTS + g.lane % Lanes::SLOTS;

        GPUME_UNROLL for (int i = 0; i < N; i++) {
            sum[i] = Lanes::sum_of_parts(sum[i]);
            if (g.lane < Lanes::SLOTS)
                costs[warp() * GPUME_POINTS + i * Lanes::SLOTS] = sum[i];
            sum[i] = 0;
        }
        __syncthreads();
        GPUME_NO_UNROLL for (int j = 0; j < warps(); j++)
            GPUME_UNROLL for (int i = 0; i < N; i++)
                sum[i] += g.lane < Lanes::SLOTS ? costs[j * GPUME_POINTS + i * Lanes::SLOTS] : 0;
        /* other warps may still read these sums, so the next call uses the other buffer */
        parity ^= 1;
    }

    __device__ __forceinline__ void shares(GpumeU32 (&sum)[Lanes::ROUNDS], const int x[], const int y[]) const
    {
        GPUME_UNROLL for (int i = 0; i < Lanes::ROUNDS; i++)
            sum[i] = share(x[i], y[i]);
        if (TEAM)
            add_up(sum);
    }

    __device__ __forceinline__ GpumeU32 zero() const
    {
        GpumeU32 sum[1] = { g.exists ? share(g.x0, g.y0) : 0 };

        if (TEAM)
            add_up(sum);
        return Lanes::sum_of_parts(sum[0]);
    }

    __device__ __forceinline__ void prepare(int x, int y, int reach)
    {
    }
};

/** Returns row y of a plane. */
static __device__ __forceinline__ const GpumeU8 *gpume_plane_row(const GpumeCudaPlane &p, int y)
{
    return (const GpumeU8 *)p.data + (long long)(int)p.linesize * y;
}

/**
 * Loads a window of the reference that begins at (x, y), where x is a multiple of 16. All lanes of
 * a warp call it. No admissible candidate reads samples outside the picture, so these may have any
 * value.
 */
template<typename Sample, int WIDTH, int ROWS, int PITCH>
static __device__ __forceinline__ void
gpume_load_warp_window(const GpumeParams &p, const GpumeCudaPlane &plane, GpumeU32 *window, int x, int y)
{
    const int size   = GpumeSample<Sample>::bytes;
    const int across = size * 4;                // lanes, some of them idle
    const int down   = 32 / across;
    const int chunk  = threadIdx.x % across;
    const int line   = y + threadIdx.x % 32 / across;
    GpumeU32 *dst    = window + threadIdx.x % 32 / across * PITCH + 4 * chunk;
    int4 v[ROWS / down];

    static_assert(ROWS % down == 0, "rows of the window are loaded together");
    if (chunk >= WIDTH * size / 16)
        return;
    GPUME_UNROLL for (int i = 0; i < ROWS / down; i++)
        gpume_load_global(&v[i], gpume_inside<Sample, GPUME_CUDA_UNIT>(
                              gpume_plane_row(plane, gpume_max(0, gpume_min(line + i * down, p.height - 1))),
                              x + 16 / size * chunk, p.width));
    /* usually all bits belong to samples */
    if (size > 1 && p.shift) {
        GPUME_UNROLL for (int i = 0; i < ROWS / down; i++) {
            v[i].x = GpumeSample<Sample>::right_justify(v[i].x, p.shift);
            v[i].y = GpumeSample<Sample>::right_justify(v[i].y, p.shift);
            v[i].z = GpumeSample<Sample>::right_justify(v[i].z, p.shift);
            v[i].w = GpumeSample<Sample>::right_justify(v[i].w, p.shift);
        }
    }
    GPUME_UNROLL for (int i = 0; i < ROWS / down; i++)
        *(int4 *)(dst + i * down * PITCH) = v[i];
}

/**
 * Evaluates whole blocks of SIDE x SIDE samples. The block is in registers, and a window of the
 * reference around the blocks of the warp in shared memory. Where a warp has one block, the window
 * follows the search; otherwise candidates outside the window are read from the plane.
 * @tparam CUT   the picture's lower edge may cut the block; the warp then has only one
 */
template<class Cost, int SIDE, int LANES_, int CUT = 0>
struct GpumeWindowEvaluator : GpumeLanes<Cost, LANES_> {
    typedef GpumeU32 Key;
    typedef typename Cost::Sample Sample;
    typedef GpumeLanes<Cost, LANES_> Lanes;
    static const int BYTES  = GpumeSample<Sample>::bytes;
    static const int ROWS   = SIDE / Lanes::PARTS;  ///< rows of a lane
    static const int WORDS  = SIDE * BYTES / 4;     ///< words of a row
    static const int WINDOW_WIDTH = GPUME_CUDA_PATTERN_WINDOW_WIDTH;
    static const int WINDOW_ROWS  = GPUME_CUDA_PATTERN_WINDOW_ROWS(SIDE);
    static const int PITCH  = GPUME_CUDA_PATTERN_PITCH(BYTES);
    /* positions of candidates in the window; the last word is also read */
    static const int COLUMNS = WINDOW_WIDTH - SIDE;
    static const int LINES   = WINDOW_ROWS  - SIDE + 1;
    static const int SUMS    = 4;   ///< independent sums; with a single one, each word would wait for the previous
    using Lanes::g;
    using Lanes::line;

    const GpumeCudaArgs &a;
    const GpumeCudaPlane &plane;
    GpumeU32 *window;
    int window_x, window_y;     ///< position of the window in the picture
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

    /** Returns whether the block has the lane's i-th row. */
    __device__ __forceinline__ int has_row(int i) const
    {
        return !CUT || line(i) < g.h;
    }

    /** Returns samples without padding bits. */
    __device__ __forceinline__ GpumeU32 samples(GpumeU32 word) const
    {
        return GpumeSample<Sample>::right_justify(word, a.params.shift);
    }

    __device__ __forceinline__ void load_block()
    {
        const GpumeU8 *p = gpume_plane_row(a.cur, g.y0 + line(0)) + g.x0 * BYTES;

        GPUME_UNROLL for (int i = 0; i < ROWS && has_row(i); i++) {
            gpume_load_row<WORDS>(cur[i], p);
            GPUME_UNROLL for (int j = 0; j < WORDS; j++)
                cur[i][j] = samples(cur[i][j]);
            p += (line(i + 1) - line(i)) * (int)a.cur.linesize;
        }
    }

    /** Loads the window at a column that is a multiple of 16. */
    __device__ __forceinline__ void load_window(int x, int y)
    {
        window_x = x;
        window_y = y;
        gpume_load_warp_window<Sample, WINDOW_WIDTH, WINDOW_ROWS, PITCH>(a.params, plane, window, x, y);
    }

    __device__ __forceinline__ GpumeU32 share_in_window(int column, int top) const
    {
        const int start = column * BYTES & 3;
        const GpumeU32 *p = window + (top + line(0)) * PITCH + (column * BYTES >> 2);
        GpumeU32 part[SUMS] = { 0 }, sum = 0;

        GPUME_UNROLL for (int i = 0; i < ROWS && has_row(i); i++) {
            const GpumeU32 *q = p + (line(i) - line(0)) * PITCH;
            GpumeU32 lo = q[0];

            GPUME_UNROLL for (int j = 0; j < WORDS; j++) {
                const GpumeU32 hi = q[j + 1];

                part[i % SUMS] = Cost::word(cur[i][j], gpume_funnel_shift(lo, hi, 8 * start), part[i % SUMS]);
                lo = hi;
            }
        }
        GPUME_UNROLL for (int i = 0; i < SUMS; i++)
            sum += part[i];
        return sum;
    }

    /** Returns the lane's share of the cost of a candidate outside the window. */
    __device__ __forceinline__ GpumeU32 share_in_plane(int x, int y) const
    {
        const GpumeU8 *r = gpume_plane_row(plane, y + line(0)) + x * BYTES;
        const int start  = (GpumeU64)r & 3;
        const int last   = start ? 4 * WORDS : 4 * (WORDS - 1);
        GpumeU32 word[ROWS][WORDS + 1];
        GpumeU32 sum = 0;

        r -= start;
        GPUME_UNROLL for (int i = 0; i < ROWS && has_row(i); i++)
            GPUME_UNROLL for (int j = 0; j <= WORDS; j++)
                gpume_load_global(&word[i][j], r + (line(i) - line(0)) * (int)plane.linesize +
                                  (j < WORDS ? 4 * j : last));
        GPUME_UNROLL for (int i = 0; i < ROWS && has_row(i); i++)
            GPUME_UNROLL for (int j = 0; j < WORDS; j++)
                sum = Cost::word(cur[i][j], samples(gpume_funnel_shift(word[i][j], word[i][j + 1], 8 * start)), sum);
        return sum;
    }

    __device__ __forceinline__ void shares(GpumeU32 sum[], const int x[], const int y[]) const
    {
        int far = 0;

        GPUME_UNROLL for (int i = 0; i < Lanes::ROUNDS; i++)
            far |= (unsigned)(x[i] - window_x) >= COLUMNS ||
                   (unsigned)(y[i] - window_y) >= LINES;
        /* all lanes read from the same memory, so that all loads are issued together */
        if (far)
            GPUME_UNROLL for (int i = 0; i < Lanes::ROUNDS; i++)
                sum[i] = share_in_plane(x[i], y[i]);
        else
            GPUME_UNROLL for (int i = 0; i < Lanes::ROUNDS; i++)
                sum[i] = share_in_window(x[i] - window_x, y[i] - window_y);
    }

    __device__ __forceinline__ GpumeU32 zero() const
    {
        return Lanes::sum_of_parts(share_in_window(g.x0 - window_x, g.y0 - window_y));
    }

    __device__ __forceinline__ void prepare(int x, int y, int reach)
    {
        const int column = x - window_x, line = y - window_y;
        const int left = column < reach, right = column + reach >= COLUMNS;
        const int up   = line   < reach, down  = line   + reach >= LINES;

        if (Lanes::LANES == 32 && (left || right || up || down) &&
            /* the whole pattern fits; columns of a window are multiples of 16 */
            2 * reach + 15 < COLUMNS && 2 * reach + 2 < LINES) {
            __syncwarp();
            /* a larger margin in the direction of the search */
            load_window((x - (right ? reach : left ? COLUMNS - 16 - reach : (COLUMNS - 15) / 2)) & ~15,
                        y - (down ? reach + 2 : up ? LINES - 3 - reach : LINES / 2));
            __syncwarp();
        }
    }
};

#endif /* AVFILTER_GPUME_CUDA_EVALUATORS_CUH */
