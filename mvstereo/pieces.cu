/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds which disparities are valid: both views must agree, and the piece must be large enough. Then fills holes.
 *
 * Pieces are trees: the parent of a sample has a smaller index, and a root is its own parent. Those of the parts of
 * thread blocks are made first; then a part's pieces are joined with those of other parts, unless both are large.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define CHECK 0
#define JOIN  1
#define DROP  2

#define COLS  MVSTEREO_CUDA_COLS
#define SIDE  MVSTEREO_CUDA_SIDE
#define ROWS  MVSTEREO_CUDA_THREAD_ROWS

/** Bit of a sample that has been checked: its piece is large. Below it is the root in the part, above it the value. */
#define LARGE 0x8000

static __device__ __forceinline__ int are_joined(int a, int b)
{
    const int difference = a - b;

    return a >= 0 && b >= 0 && FFABS(difference) <= MVSTEREO_ONE;
}

/**
 * Returns the root of a sample, while others may join it. Parents are those of all samples, or of a thread block's in
 * shared memory, where atomics read them.
 */
static __device__ __forceinline__ GpumeU32 find_root(GpumeU32 *parents, GpumeU32 i, int is_shared)
{
    for (;;) {
        /* no parent has a greater index */
        const GpumeU32 parent = is_shared ? atomicMin(&parents[i], i) : gpume_load_volatile(&parents[i]);

        if (parent == i)
            return i;
        i = parent;
    }
}

/**
 * Joins two pieces. Other threads may have changed the roots since they were read, so atomics decide.
 * @return the root that is one no longer, or ~0
 */
static __device__ __forceinline__ GpumeU32 join(GpumeU32 *parents, GpumeU32 a, GpumeU32 b, int is_shared)
{
    for (;;) {
        GpumeU32 greater, less, old;

        a = find_root(parents, a, is_shared);
        b = find_root(parents, b, is_shared);
        if (a == b)
            return ~0u;
        less    = gpume_umin(a, b);
        greater = gpume_umax(a, b);
        old     = atomicMin(&parents[greater], less);
        if (old == greater)
            return greater;
        a = old;
        b = less;
    }
}

/** Returns a median, or a hole where there is no texture or the views do not agree. */
static __device__ __forceinline__ int compare(const MvstereoCudaArgs &args, int v, int x, int y)
{
    const int z = x - args.min - mvstereo_whole(v);
    const int is_valid = mvstereo_agrees(v, mvstereo_short(args.right, args, z, y)) && z >= 0 && z < args.w;

    return mvstereo_byte(args.even, args, x, y) ? MVSTEREO_EVEN : is_valid ? v : MVSTEREO_INVALID;
}

/** Computes the first medians, sets holes, joins samples of the part to pieces, and counts them. */
static __device__ __forceinline__ void check(const MvstereoCudaArgs &args)
{
    GPUME_SHARED(MvstereoCudaPieces, part);
    const int lane = (int)(threadIdx.x % 32), warp = (int)(threadIdx.x / 32), first = warp * ROWS;
    const int x = (int)blockIdx.x * COLS + lane, y = (int)blockIdx.y * SIDE + first;
    GpumeU32 begins[ROWS], roots[ROWS];
    int v[ROWS];

    mvstereo_medians(v, args.matched, args, x, y);
    /* all at once, as loads do not pass stores */
    GPUME_UNROLL for (int i = 0; i < ROWS; i++)
        v[i] = compare(args, v[i], x, y + i);
    GPUME_UNROLL for (int i = 0; i < ROWS; i++) {
        const int at = (first + i) * COLS + lane;
        int left;

        v[i]      = x < args.w && y + i < args.h ? v[i] : MVSTEREO_INVALID;
        left      = (int)__shfl_sync(GPUME_WHOLE_WARP, (GpumeU32)v[i], (lane + 31) & 31);
        begins[i] = __ballot_sync(GPUME_WHOLE_WARP, !lane || !are_joined(v[i], left));
        roots[i]  = (GpumeU32)(at - lane + gpume_log2(begins[i] & ~0u >> (31 - lane)));
        part->parents[at] = roots[i];
        part->sizes[at]   = 0;
    }
    part->values[warp][lane] = (short)v[ROWS - 1];
    if (!lane)
        part->begins[warp] = begins[ROWS - 1];
    __syncthreads();
    GPUME_UNROLL for (int i = 0; i < ROWS; i++) {
        const int above          = i ? v[i - 1] : warp ? part->values[warp - 1][lane] : MVSTEREO_INVALID;
        const GpumeU32 joined    = __ballot_sync(GPUME_WHOLE_WARP, are_joined(v[i], above));
        /* the fourth side of a square of joined samples adds nothing */
        const GpumeU32 redundant = joined << 1 & ~begins[i] & ~(i ? begins[i - 1] : warp ? part->begins[warp - 1] : 0);
        const GpumeU32 at        = (GpumeU32)((first + i) * COLS + lane);

        if ((joined & ~redundant) >> lane & 1)
            join(part->parents, at, at - COLS, 1);
    }
    __syncthreads();
    GPUME_UNROLL for (int i = 0; i < ROWS; i++) {
        while (part->parents[roots[i]] != roots[i])
            roots[i] = part->parents[roots[i]];
        if (v[i] >= 0 && (begins[i] >> lane & 1)) {
            const GpumeU32 after = (GpumeU32)((GpumeU64)begins[i] >> (lane + 1));

            atomicAdd(&part->sizes[roots[i]], after ? gpume_first_bit(after) + 1u : 32u - lane);
        }
    }
    __syncthreads();
    GPUME_UNROLL for (int i = 0; i < ROWS; i++) {
        const long long q   = (y + i) * (long long)args.w + x;
        const GpumeU32 size = part->sizes[roots[i]];

        if (x >= args.w || y + i >= args.h)
            continue;
        ((GpumeU32 *)args.checked)[q] = (GpumeU32)v[i] << 16 | (size >= MVSTEREO_PIECE ? LARGE : 0) | roots[i];
        if (roots[i] == (GpumeU32)((first + i) * COLS + lane)) {
            ((GpumeU32 *)args.parents)[q] = (GpumeU32)q;
            ((GpumeU32 *)args.sizes)[q]   = size;
        }
    }
}

/** Returns the sample that is the root, in its part, of a sample. */
static __device__ __forceinline__ GpumeU32 root_of_part(const MvstereoCudaArgs &args, GpumeU32 checked, int x, int y)
{
    const int root = (int)(checked & (LARGE - 1));

    return (GpumeU32)((y - y % SIDE + root / COLS) * (long long)args.w + x - x % COLS + root % COLS);
}

/** Adds the size of a root that is one no longer to that of its new root. Nobody wants to know more of large pieces. */
static __device__ __forceinline__ void move_size(GpumeU32 *parents, GpumeU32 *sizes, GpumeU32 from)
{
    for (;;) {
        GpumeU32 size, to;

        /* either this thread finds what another one has added, or that one finds that its root has a parent */
        __threadfence();
        size = atomicExch(&sizes[from], 0u);
        to   = find_root(parents, from, 0);
        if (!size || gpume_load_volatile(&sizes[to]) >= MVSTEREO_PIECE)
            return;
        atomicAdd(&sizes[to], size);
        __threadfence();
        if (gpume_load_volatile(&parents[to]) == to)
            return;
        from = to;
    }
}

/** Returns whether a sample must be joined with that above: the fourth side of a square of joined ones adds nothing. */
static __device__ __forceinline__ int needs_above(int v, int left, int above, int above_left, int has_left)
{
    return are_joined(v, above) &&
           !(has_left && are_joined(v, left) && are_joined(left, above_left) && are_joined(above_left, above));
}

/** Joins the samples on the upper and on the left side of a part with those beside them. */
static __device__ __forceinline__ void join_parts(const MvstereoCudaArgs &args)
{
    const GpumeU32 *checked = (const GpumeU32 *)args.checked;
    const int is_upper = threadIdx.x < COLS, along = (int)threadIdx.x - (is_upper ? 0 : COLS);
    const int x = (int)blockIdx.x * COLS + (is_upper ? along : 0), y = (int)blockIdx.y * SIDE + (is_upper ? 0 : along);
    /* with a sample before it on this side; the sides of a square at a corner are all joined */
    const int has_before = is_upper ? x > 0 : along > 0;
    const long long w    = args.w, across = is_upper ? w : 1, before = !has_before ? 0 : is_upper ? 1 : w;
    const long long q    = y * w + x;
    GpumeU32 a, b, old;

    if (x >= w || y >= args.h || !(is_upper ? y : x))
        return;
    a = checked[q];
    b = checked[q - across];
    /* values are above the other bits */
    if ((a & b & LARGE) ||
        !needs_above((int)a >> 16, (int)checked[q - before] >> 16, (int)b >> 16,
                     (int)checked[q - before - across] >> 16, has_before))
        return;
    old = join((GpumeU32 *)args.parents, root_of_part(args, a, x, y),
               root_of_part(args, b, x - !is_upper, y - is_upper), 0);
    if (old != ~0u)
        move_size((GpumeU32 *)args.parents, (GpumeU32 *)args.sizes, old);
}

/** Returns whether the piece of a sample is large. */
static __device__ __forceinline__ int is_large(const MvstereoCudaArgs &args, GpumeU32 checked, int x, int y)
{
    const GpumeU32 *parents = (const GpumeU32 *)args.parents;
    GpumeU32 root;

    if (checked & LARGE)
        return 1;
    for (root = root_of_part(args, checked, x, y); parents[root] != root;)
        root = parents[root];
    return ((const GpumeU32 *)args.sizes)[root] >= MVSTEREO_PIECE;
}

/** Returns the value of a hole from the valid values of a row before and behind it. A word of are_valid is for 32. */
static __device__ __forceinline__ int fill(const GpumeU32 *are_valid, const short *row, int nb, int x)
{
    int before = x / 32, after = before;
    GpumeU32 are_before = are_valid[before] & ((1u << x % 32) - 1), are_after = are_valid[after] & ~0u << x % 32;
    int v = MVSTEREO_INVALID, next = MVSTEREO_INVALID;

    while (!are_before && before)
        are_before = are_valid[--before];
    while (!are_after && after < nb - 1)
        are_after = are_valid[++after];
    before = before * 32 + (are_before ? gpume_log2(are_before) : 0);
    after  = after * 32 + (are_after ? (int)gpume_first_bit(are_after) : 0);
    v      = are_before ? row[before] : v;
    next   = are_after ? row[after] : next;
    return mvstereo_fill(v, next, x - before, after - before, row[x] == MVSTEREO_EVEN);
}

/** Counts how the views agree in the samples of a warp. All of its lanes call this. */
static __device__ __forceinline__ void judge(const MvstereoCudaArgs &args, int v, int is_valid, int x, int y)
{
    int *counts = ((MvstereoCudaStats *)args.stats)->agreement;
    const int is_uneven = x < args.w && v != MVSTEREO_EVEN;
    int vote = 0, costs[2 * MVSTEREO_MAX_ROWS + 1];

    if (is_valid) {
        const int z = x - args.min - mvstereo_whole(v);
        const GpumeU64 sample = ((const GpumeU64 *)args.features[0])[y * (long long)args.w + x];

        GPUME_UNROLL for (int i = -MVSTEREO_MAX_ROWS; i <= MVSTEREO_MAX_ROWS; i++) {
            const long long row = av_clip(y + i, 0, args.h - 1);
            const GpumeU64 other = ((const GpumeU64 *)args.features[1])[row * args.w + z];

            costs[i + MVSTEREO_MAX_ROWS] = (int)(mvstereo_costs_of(sample, other, other) & 0xffff);
        }
        vote = mvstereo_vote(costs, args.rows);
    }
    {
        const int nb_uneven = gpume_popcount(__ballot_sync(GPUME_WHOLE_WARP, is_uneven));
        const int nb_valid  = gpume_popcount(__ballot_sync(GPUME_WHOLE_WARP, is_valid));
        const int sum       = gpume_popcount(__ballot_sync(GPUME_WHOLE_WARP, vote > 0)) -
                              gpume_popcount(__ballot_sync(GPUME_WHOLE_WARP, vote < 0));

        if (!(x % 32) && x < args.w) {
            atomicAdd(&counts[MVSTEREO_UNEVEN], nb_uneven);
            atomicAdd(&counts[MVSTEREO_VALID], nb_valid);
            atomicAdd(&counts[MVSTEREO_VOTES + mvstereo_strip(x, args.w)], sum);
        }
    }
}

/** Keeps the disparities of large pieces of a row, and fills holes if wanted. */
static __device__ __forceinline__ void drop(const MvstereoCudaArgs &args)
{
    GPUME_SHARED(GpumeU32, are_valid);
    const int lane = (int)(threadIdx.x % 32), y = (int)blockIdx.y, nb = (args.w + 31) / 32;
    const long long begin = y * (long long)args.w;
    short *row   = (short *)(are_valid + nb);
    GpumeU32 any = 0;

    for (int x = (int)threadIdx.x; x - lane < args.w; x += MVSTEREO_CUDA_DROP_THREADS) {
        const GpumeU32 checked = x < args.w ? ((const GpumeU32 *)args.checked)[begin + x] : ~0u;
        const int v            = (int)checked >> 16;
        const int is_valid     = v >= 0 && is_large(args, checked, x, y);
        const GpumeU32 valid   = __ballot_sync(GPUME_WHOLE_WARP, is_valid);

        row[x] = (short)v;
        if (!lane)
            are_valid[x / 32] = valid;
        any |= valid;
        if (!is_valid && x < args.w)
            ((GpumeU8 *)args.confidence)[begin + x] = 0;
        if (args.counts == MVSTEREO_CUDA_AGREEMENT && y % MVSTEREO_JUDGED == MVSTEREO_JUDGED / 2)
            judge(args, v, is_valid, x, y);
        if (is_valid && args.counts == MVSTEREO_CUDA_DISPARITIES && ((const GpumeU8 *)args.confidence)[begin + x])
            atomicAdd(&((MvstereoCudaStats *)args.stats)->counts[(v + MVSTEREO_ONE / 2) / MVSTEREO_ONE], 1u);
    }
    any = (GpumeU32)__syncthreads_or(any != 0);
    for (int x = (int)threadIdx.x; x < args.w; x += MVSTEREO_CUDA_DROP_THREADS) {
        int v = are_valid[x / 32] >> x % 32 & 1 ? row[x] : MVSTEREO_INVALID;

        if (v < 0 && any && args.fill)
            v = fill(are_valid, row, nb, x) | MVSTEREO_CUDA_HOLE;
        ((short *)args.filled)[begin + x] = (short)v;
    }
}

/**
 * grid:   MVSTEREO_CUDA_COLS x MVSTEREO_CUDA_SIDE samples; of the last step rows in y
 * block:  MVSTEREO_CUDA_THREADS; one for each sample of two sides; MVSTEREO_CUDA_DROP_THREADS
 * shared: MvstereoCudaPieces; none; 4 bytes for each 32 samples of a row, and 2 bytes for each of them
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, GPUME_CUDA_VARIANT == DROP ? MVSTEREO_CUDA_DROP_THREADS : MVSTEREO_CUDA_THREADS, 4)
{
    if (GPUME_CUDA_VARIANT == CHECK)
        check(args);
    else if (GPUME_CUDA_VARIANT == JOIN)
        join_parts(args);
    else
        drop(args);
}
