/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Predictive search: epzs or umh, as the variant says.
 *
 * A thread block has a row of the picture's blocks and searches them one after another from left to
 * right, so the predictors of a vector are those of raster order. It waits for the vectors of the
 * row above that it needs: above, and above to the right. Rows are taken by tickets, so every row
 * that is waited for has begun. A vector is stored in one word with the epoch of its search
 * (GPUME_CUDA_VECTOR): a thread that sees the epoch sees the vector, so no fence is needed. In the
 * same way, epzs waits for vectors of the previous search, which may still be running.
 *
 * Candidates are divided among groups of lanes of all warps, and a group has several candidates
 * where there are more candidates than groups. The smallest key wins, so among equal costs the
 * order of candidates decides. Then every warp runs the same pattern search, without a barrier.
 */

#include "libavfilter/gpume/cuda/module.cuh"
#include "libavfilter/gpume/cuda/pattern.cuh"
#include "libavfilter/gpume/cuda/ring.cuh"

/** The best vector so far. */
template<typename Key>
struct GpumeBest {
    /** Largest number of candidates that one order distinguishes, that of umh's grid. */
    static const int ORDERS = 1 << 12;
    static_assert(GPUME_MAX_RANGE / 4 * GPUME_GRID_HEXAGON_POINTS <= ORDERS, "umh's grid");
    static_assert(GPUME_MAX_RANGE < 1 << 11, "GPUME_CUDA_VECTOR() has 12 bits");

    int dx, dy;
    Key cost;                   ///< multiplied by ORDERS

    static __device__ __forceinline__ Key key(GpumeU32 cost, int order)
    {
        return (Key)cost * ORDERS + order;
    }

    /** Takes the smallest key of points if it is less than cost. @param points sets the vector of point k */
    template<class Points>
    __device__ __forceinline__ void take(Key best, const Points &points)
    {
        if (best < cost) {
            const int order = (int)(best % ORDERS);

            cost = best - order;
            points(order, &dx, &dy);
        }
    }
};

/**
 * Sets the keys of the points k of the lane's group; a key is all ones if k is not below nb or the
 * point is not admissible.
 */
template<typename Key, int N, class Evaluator>
static __device__ __forceinline__ void
gpume_try_vectors(const Evaluator &e, const int (&k)[N], int nb, const int (&dx)[N], const int (&dy)[N], Key (&keys)[N])
{
    GpumeU32 sum[N];
    int valid[N];

    /* lanes without an admissible vector use the zero vector */
    GPUME_UNROLL for (int i = 0; i < N; i++) {
        valid[i] = (k[i] < nb) & gpume_group_admits(e.g, e.g.x0 + dx[i], e.g.y0 + dy[i]);
        sum[i]   = e.share(valid[i] ? dx[i] : 0, valid[i] ? dy[i] : 0);
    }
    GPUME_UNROLL for (int lane = 1; lane < Evaluator::LANES; lane <<= 1)
        GPUME_UNROLL for (int i = 0; i < N; i++)
            sum[i] += __shfl_xor_sync(GPUME_WHOLE_WARP, sum[i], lane);
    GPUME_UNROLL for (int i = 0; i < N; i++)
        keys[i] = valid[i] ? GpumeBest<Key>::key(sum[i], k[i]) : ~(Key)0;
}

/**
 * Returns the smallest key of the points that this warp's groups test, N at once: a group's first
 * point is counted from first, and each next point is further points on.
 */
template<typename Key, int N, class Evaluator, class Points>
static __device__ __forceinline__ Key
gpume_try_at_once(const Evaluator &e, int first, int further, int nb, const Points &points)
{
    int k[N], dx[N], dy[N];
    Key keys[N], best = ~(Key)0;

    GPUME_UNROLL for (int i = 0; i < N; i++) {
        k[i] = first + i * further + threadIdx.x % 32 / Evaluator::LANES;
        points(k[i], &dx[i], &dy[i]);
    }
    gpume_try_vectors<Key, N>(e, k, nb, dx, dy, keys);
    GPUME_UNROLL for (int i = 0; i < N; i++)
        if (keys[i] < best)
            best = keys[i];
    return best;
}

/**
 * Tests points, divided among all groups, each N at once; ends with a barrier.
 * @param points sets the vector of point k; k may exceed the number of points
 * @param keys   two buffers of GPUME_CUDA_WAVEFRONT_MAX_WARPS keys
 * @param parity selects the buffer; every call switches to the other
 */
template<typename Key, int N, class Evaluator, class Points>
static __device__ __forceinline__ void
gpume_try_points(const Evaluator &e, GpumeBest<Key> *b, int nb, const Points &points,
                 Key *keys, int *parity)
{
    const int groups  = 32 / Evaluator::LANES;
    const int further = Evaluator::WARPS * groups;
    const int warp    = threadIdx.x / 32;
    Key *const bests  = keys + *parity * GPUME_CUDA_WAVEFRONT_MAX_WARPS;
    Key best = ~(Key)0;

    GPUME_NO_UNROLL for (int first = warp * groups; first < nb; first += N * further) {
        const Key key = gpume_try_at_once<Key, N>(e, first, further, nb, points);

        if (key < best)
            best = key;
    }
    best = gpume_least<Evaluator::LANES, 32>(best);
    if (threadIdx.x % 32 == 0)
        bests[warp] = best;
    *parity ^= 1;
    __syncthreads();
    GPUME_UNROLL for (int i = 0; i < Evaluator::WARPS; i++)
        if (bests[i] < best)
            best = bests[i];
    b->take(best, points);
}

/* Returns the k-th of these vectors. */
template<int N>
static __device__ __forceinline__ GpumeVector gpume_choose(const GpumeVector (&p)[N], int k)
{
    GpumeVector v = p[0];

    GPUME_UNROLL for (int i = 1; i < N; i++) {
        v.dx = k == i ? p[i].dx : v.dx;
        v.dy = k == i ? p[i].dy : v.dy;
    }
    return v;
}

template<typename Key, class Evaluator, int N>
static __device__ __forceinline__ void
gpume_try_predictors(const Evaluator &e, GpumeBest<Key> *b, const GpumeVector (&p)[N],
                     Key *keys, int *parity)
{
    b->dx   = b->dy = 0;
    b->cost = ~(Key)0;
    gpume_try_points<Key, 1>(e, b, N, [&](int k, int *dx, int *dy) {
        const GpumeVector v = gpume_choose(p, k);

        *dx = v.dx;
        *dy = v.dy;
    }, keys, parity);
}

/**
 * Tests umh's square: all vectors of all rows that can be tested, at once. Which vectors of a row
 * count depends on the best vector before that row; so for each position, the best key from that
 * position to the right is computed.
 * @param square GPUME_UMH_ROWS * 16 keys
 */
template<typename Key, class Evaluator>
static __device__ __forceinline__ void
gpume_try_square(const Evaluator &e, GpumeBest<Key> *b, Key *square)
{
    const int groups = Evaluator::WARPS * 32 / Evaluator::LANES;
    const int rows   = GPUME_UMH_ROWS;
    const int points = GPUME_UMH_POINTS_BEFORE(rows);
    const int last   = GPUME_UMH_MOST_POINTS(rows - 1) - 1; // last position in a row
    const int x = b->dx - last + rows / 2, y = b->dy;       // vector of the first position
    const int place = threadIdx.x % 16;
    const int N = (points + groups - 1) / groups;           // points of a group
    int k[N], row[N], i[N], dx[N], dy[N];
    Key keys[N], from[rows], best = ~(Key)0;

    static_assert(GPUME_UMH_MOST_POINTS(GPUME_UMH_ROWS - 1) <= 16, "a row's keys");

    GPUME_UNROLL for (int n = 0; n < N; n++) {
        k[n]   = threadIdx.x / Evaluator::LANES + n * groups;
        row[n] = 0;
        GPUME_UNROLL for (int r = 1; r < rows; r++)
            row[n] += k[n] >= GPUME_UMH_POINTS_BEFORE(r);
        i[n]  = last - (k[n] - GPUME_UMH_POINTS_BEFORE(row[n]));
        dx[n] = x + i[n];
        dy[n] = y + row[n] - rows / 2;
    }
    gpume_try_vectors<Key, N>(e, k, points, dx, dy, keys);
    GPUME_UNROLL for (int n = 0; n < N; n++)
        if (threadIdx.x % Evaluator::LANES == 0 && k[n] < points)
            square[row[n] * 16 + i[n]] = keys[n] == ~(Key)0 ? keys[n] :
                                         keys[n] / GpumeBest<Key>::ORDERS * GpumeBest<Key>::ORDERS + i[n];
    __syncthreads();
    GPUME_UNROLL for (int row = 0; row < rows; row++) {
        from[row] = place <= last && place > last - GPUME_UMH_MOST_POINTS(row) ? square[row * 16 + place] : ~(Key)0;
        if (from[row] < best)
            best = from[row];
    }
    // usually no vector is better
    if (!__any_sync(GPUME_WHOLE_WARP, best < b->cost))
        return;
    GPUME_UNROLL for (int step = 1; step < 16; step <<= 1)
        GPUME_UNROLL for (int row = 0; row < rows; row++) {
            const Key other = gpume_of_lane(from[row], gpume_min(place + step, 15));

            if (other < from[row])
                from[row] = other;
        }
    GPUME_UNROLL for (int row = 0; row < rows; row++) {
        const Key key = gpume_of_lane(from[row], b->dx - rows / 2 - x);

        if (key < b->cost) {
            const int i = (int)(key % GpumeBest<Key>::ORDERS);

            b->cost = key - i;
            b->dx   = x + i;
            b->dy   = y + row - rows / 2;
        }
    }
}

/** Runs the following pattern search; every warp runs it alone. */
template<typename Key, int ALGO, class Evaluator>
static __device__ __forceinline__ void gpume_search_patterns(const Evaluator &e, GpumeBest<Key> *b)
{
    const int groups = 32 / Evaluator::LANES;
    GpumePatternState s;

    gpume_pattern_begin(&s, ALGO, b->dx, b->dy, e.a.params.range);
    do {
        const GpumePattern p = gpume_pattern<ALGO>(s.pattern);
        const auto points = [&](int k, int *dx, int *dy) {
            *dx = s.x + gpume_point_x(p, k & 7) * s.step;
            *dy = s.y + gpume_point_y(p, k & 7) * s.step;
        };
        Key best;

        static_assert(2 * groups >= GPUME_POINTS, "all points of a pattern at once");
        if (groups < GPUME_POINTS && p.points > groups)
            best = gpume_try_at_once<Key, 2>(e, 0, groups, p.points, points);
        else
            best = gpume_try_at_once<Key, 1>(e, 0, groups, p.points, points);
        b->take(gpume_least<Evaluator::LANES, 32>(best), points);
    } while (b->cost && gpume_pattern_next(&s, ALGO, b->dx, b->dy, e.a.params.range));
}

/** Maximum coordinate of the points of the smallest hexagon. */
#define GPUME_GRID_REACH 4

static constexpr signed char gpume_grid_hexagon[GPUME_GRID_HEXAGON_POINTS][2] = {
    GPUME_GRID_HEXAGON
};
static_assert(GPUME_GRID_HEXAGON_POINTS <= 16 && gpume_reach(gpume_grid_hexagon) <= GPUME_GRID_REACH,
              "a coordinate has four bits of 64");

static __device__ __forceinline__ GpumeVector gpume_unpack_vector(GpumeU32 word)
{
    GpumeVector v;

    v.dx = (short)((int)(word << 20) >> 20);
    v.dy = (short)((int)(word <<  8) >> 20);
    return v;
}

/** Waits until a vector of the row above is stored. @param word the last value loaded */
static __device__ __forceinline__ GpumeU32
gpume_wait_vector(const GpumeU32 *p, GpumeU32 word, GpumeU32 epoch)
{
    while (GPUME_CUDA_EPOCH(word) != epoch)
        word = gpume_load_volatile(p);
    return word;
}

/** Vectors of the previous two searches around a block, as words. */
typedef struct GpumeBefore {
    GpumeU32 left, at, right, top, bottom, before_last;
} GpumeBefore;

/** Vectors of the previous search. Vectors are zero where nothing was searched and outside the picture. */
struct GpumeLast {
    const GpumeU32 *vectors;    ///< vectors of a row of blocks
    int by, bw, bh;
    GpumeU32 epoch;

    /** Returns the current word of the vector at column bx, dy rows below; it may not yet be stored. */
    __device__ __forceinline__ GpumeU32 look(int bx, int dy) const
    {
        const int inside = bx < bw && by + dy >= 0 && by + dy < bh;

        return inside ? gpume_load_volatile(vectors + dy * bw + bx) : GPUME_CUDA_VECTOR(0, 0, epoch);
    }

    /** Waits until the vector is stored. @param word the last value loaded */
    __device__ __forceinline__ GpumeU32 wait(int bx, int dy, GpumeU32 word) const
    {
        return gpume_wait_vector(vectors + dy * bw + bx, word, epoch);
    }

    /** Waits for those vectors around column bx that were not yet stored. */
    __device__ __forceinline__ void complete(GpumeBefore *b, int bx) const
    {
        const GpumeU32 none = GPUME_CUDA_VECTOR(0, 0, epoch);

        // usually all are stored
        if (GPUME_CUDA_EPOCH((b->right ^ none) | (b->top ^ none) | (b->bottom ^ none))) {
            b->bottom = wait(bx, 1, b->bottom);
            b->right  = wait(bx + 1, 0, b->right);
            b->top    = wait(bx, -1, b->top);
        }
    }
};

/** Tests the candidates of epzs before its patterns: predictors. */
template<typename Key, class Evaluator>
static __device__ __forceinline__ void
gpume_begin_epzs(const Evaluator &e, GpumeBest<Key> *b, GpumeNeighbours *n, const GpumeBefore &before,
                 Key *keys, int *parity)
{
    GpumeVector p[GPUME_EPZS_PREDICTORS];

    n->last        = gpume_unpack_vector(before.at);
    n->last_left   = gpume_unpack_vector(before.left);
    n->last_top    = gpume_unpack_vector(before.top);
    n->last_right  = gpume_unpack_vector(before.right);
    n->last_bottom = gpume_unpack_vector(before.bottom);
    n->before_last = gpume_unpack_vector(before.before_last);
    gpume_epzs_predictors(p, n);
    gpume_try_predictors<Key>(e, b, p, keys, parity);
}

/** Tests the candidates of umh before its patterns: predictors, cross, square and grid. */
template<typename Key, class Evaluator>
static __device__ __forceinline__ void
gpume_begin_umh(const Evaluator &e, GpumeBest<Key> *b, const GpumeNeighbours *n,
                Key *keys, Key *square, int *parity)
{
    constexpr GpumeU64 grid_x = gpume_pack<GpumeU64>(gpume_grid_hexagon, 0, -GPUME_GRID_REACH);
    constexpr GpumeU64 grid_y = gpume_pack<GpumeU64>(gpume_grid_hexagon, 1, -GPUME_GRID_REACH);
    const int range = e.a.params.range;
    GpumeVector p[GPUME_UMH_PREDICTORS];
    int x, y;

    gpume_umh_predictors(p, n);
    gpume_try_predictors<Key>(e, b, p, keys, parity);
    if (!b->cost)
        return;
    x = b->dx;
    y = b->dy;
    gpume_try_points<Key, 1>(e, b, gpume_umh_cross_points(range), [=](int k, int *dx, int *dy) {
        gpume_umh_cross(k, range, dx, dy);
        *dx += x;
        *dy += y;
    }, keys, parity);
    gpume_try_square<Key>(e, b, square);
    x = b->dx;
    y = b->dy;
    gpume_try_points<Key, 2>(e, b, gpume_umh_grid_points(range), [=](int k, int *dx, int *dy) {
        int size;
        const int i = gpume_umh_grid_point(k, &size);

        *dx = x + ((int)(grid_x >> 4 * i & 15) - GPUME_GRID_REACH) * size;
        *dy = y + ((int)(grid_y >> 4 * i & 15) - GPUME_GRID_REACH) * size;
    }, keys, parity);
}

/** Searches a row of blocks. */
template<typename Key, int ALGO, class Evaluator>
static __device__ __forceinline__ void
gpume_search_row(const GpumeCudaArgs &a, Evaluator &e, int by, int z, GpumeU32 *shared)
{
    const int bw    = a.params.bw;
    const GpumeCudaField field = gpume_field(a, z);
    const GpumeU32 epoch = field.epoch;
    const GpumeU64 row   = (GpumeU64)by * bw * sizeof(GpumeU32);
    GpumeU32 *const found = (GpumeU32 *)(field.vectors[0] + row);
    const GpumeLast last = { (GpumeU32 *)(field.vectors[1] + row), by, bw, a.params.bh, field.last_epoch };
    const GpumeU32 *const before_last = (GpumeU32 *)(field.vectors[2] + row);
    const GpumeU32 *const above = by ? found - bw : found;
    Key *const keys   = (Key *)(shared + GPUME_CUDA_WAVEFRONT_KEYS);
    Key *const square = (Key *)(shared + GPUME_CUDA_WAVEFRONT_SQUARE);
    GpumeU32 above_left = 0, top = 0, above_right = 0;  // vectors of the row above
    GpumeU32 soon = 0;          // last loaded word of the next vector above
    GpumeBefore before = { 0, 0, 0, 0, 0, 0 };
    GpumeNeighbours n;
    int parity = 0;

    e.begin(by);
    n.alone   = gpume_alone(by, bw);
    n.left.dx = n.left.dy = 0;
    if (by)
        above_right = gpume_wait_vector(above, 0, epoch);
    if (ALGO == GPUME_ALGO_EPZS) {
        before.at          = last.wait(0, 0, last.look(0, 0));
        before.right       = last.look(1, 0);
        before.top         = last.look(0, -1);
        before.bottom      = last.look(0, 1);
        before.before_last = gpume_load_volatile(before_last);
    }
    __syncthreads();

    GPUME_NO_UNROLL for (int bx = 0; bx < bw; bx++) {
        const int corner = gpume_corner(ALGO, bx, bw);
        GpumeBefore next = { 0, 0, 0, 0, 0, 0 };
        GpumeBest<Key> b;

        e.advance(bx);
        if (ALGO == GPUME_ALGO_EPZS && bx + 1 < bw) {
            next.left        = before.at;
            next.right       = last.look(bx + 2, 0);
            next.top         = last.look(bx + 1, -1);
            next.bottom      = last.look(bx + 1, 1);
            next.before_last = gpume_load_volatile(before_last + bx + 1);
        }
        if (by) {
            above_left  = top;
            top         = above_right;
            above_right = 0;
            if (bx + 1 < bw)
                above_right = gpume_wait_vector(above + bx + 1, soon, epoch);
            // it may already be stored when it is needed
            if (bx + 2 < bw)
                soon = gpume_load_volatile(above + bx + 2);
        }
        n.top    = gpume_unpack_vector(top);
        n.corner = gpume_unpack_vector(corner > bx ? above_right :
                                       corner >= 0 ? above_left : 0);

        if (ALGO == GPUME_ALGO_EPZS) {
            last.complete(&before, bx);
            next.at = before.right;
            gpume_begin_epzs(e, &b, &n, before, keys, &parity);
        } else
            gpume_begin_umh(e, &b, &n, keys, square, &parity);
        if (b.cost)
            gpume_search_patterns<Key, ALGO>(e, &b);

        /* the row below waits for this vector */
        if (threadIdx.x == 0)
            gpume_store_volatile(found + bx, GPUME_CUDA_VECTOR(b.dx, b.dy, epoch));
        // the last warp tests none of the next block's predictors
        if (threadIdx.x == 32 * (Evaluator::WARPS - 1)) {
            gpume_store(a, gpume_box(&a.params, a.params.block, bx, by), z, bx, by, b.dx, b.dy,
                        (GpumeU32)(b.cost / GpumeBest<Key>::ORDERS));
        }
        n.left.dx = (short)b.dx;
        n.left.dy = (short)b.dy;
        before    = next;
    }
}

/** Searches blocks of a side; 0: blocks of any side, at any range. */
template<class Cost, int SIDE, int WARPS>
struct GpumeWavefront {
    typedef GpumeRingEvaluator<Cost, SIDE, WARPS> Evaluator;
    typedef GpumeKeyOf<GPUME_CUDA_DEPTH>::Key Key;
    static_assert(sizeof(Key) == 8 || ((GpumeU64)SIDE * SIDE * ((1 << GPUME_CUDA_DEPTH) - 1) + 1) *
                                      GpumeBest<Key>::ORDERS < 1ull << 32, "keys");
};

template<class Cost, int WARPS>
struct GpumeWavefront<Cost, 0, WARPS> {
    typedef GpumeRowPlaneEvaluator<Cost, WARPS> Evaluator;
    typedef GpumeU64 Key;
};

/**
 * grid:   blocks in a column, 1, fields
 * block:  32 * GPUME_CUDA_WAVEFRONT_WARPS
 * shared: GPUME_CUDA_WAVEFRONT_WINDOW words, and the ring
 *
 * Registers are limited for few thread blocks, or not at all: a multiprocessor has few rows of
 * blocks of a picture, so registers are better used for speed.
 */
GPUME_KERNEL(32 * GPUME_CUDA_WAVEFRONT_WARPS(GPUME_CUDA_VARIANT),
             GPUME_CUDA_DEPTH > 8 ? 0 : 16 / GPUME_CUDA_WAVEFRONT_WARPS(GPUME_CUDA_VARIANT))
{
    GPUME_SHARED(GpumeU32, shared);

    typedef GpumeWavefront<GpumeModuleCost, GPUME_CUDA_SIDE,
                           GPUME_CUDA_WAVEFRONT_WARPS(GPUME_CUDA_VARIANT)> Wavefront;
    GpumeCudaPlane ref;
    int z;

    if (threadIdx.x == 0) {
        const unsigned ticket = atomicAdd((unsigned *)args.wavefront.ticket, 1) -
                                args.wavefront.first_ticket;

        shared[GPUME_CUDA_WAVEFRONT_TICKET]     = ticket / args.nb_fields;
        shared[GPUME_CUDA_WAVEFRONT_TICKET + 1] = ticket % args.nb_fields;
    }
    __syncthreads();
    z   = shared[GPUME_CUDA_WAVEFRONT_TICKET + 1];
    ref = gpume_field(args, z).plane;

    typename Wavefront::Evaluator e(args, ref, shared + GPUME_CUDA_WAVEFRONT_WINDOW);
    gpume_search_row<typename Wavefront::Key, GPUME_CUDA_VARIANT>(
        args, e, shared[GPUME_CUDA_WAVEFRONT_TICKET], z, shared);
}
