/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What paths.cu and winners.cu do, where samples have 32 disparities, which are in eight lanes, so that a warp has four
 * samples; winners of 64 are found so as well. With bases, the disparities of a sample begin at its base; then this
 * file makes their costs, too.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

#define STEP  (GPUME_CUDA_VARIANT & 3)
#define COSTS 0
#define PATHS 1
#define THREADS (STEP == COSTS ? MVSTEREO_CUDA_THREADS : STEP == PATHS ? MVSTEREO_CUDA_WINDOW_THREADS \
                                                                       : MVSTEREO_CUDA_WINNER_THREADS)

/** Lanes of a sample, and samples of a warp. */
#define LANES (GPUME_CUDA_VARIANT & MVSTEREO_CUDA_TWICE ? 16 : 8)
#define LINES (32 / LANES)
#define NONE  (~0u)
/** Distance of samples that a warp takes one after the other. */
#define STEP_X (MVSTEREO_CUDA_WINNER_THREADS / LANES)
/** Steps of a path whose costs are loaded at once. */
#define BATCH 8
/** A cost of a path that is larger than any. */
#define FAR   0x800u

static __device__ __forceinline__ GpumeU32 exchange(GpumeU32 v, int lane)
{
    return __shfl_sync(GPUME_WHOLE_WARP, v, lane);
}

static __device__ __forceinline__ GpumeU32 least_of_sample(GpumeU32 v)
{
    GPUME_UNROLL for (int i = 1; i < LANES; i *= 2)
        v = gpume_umin(v, __shfl_xor_sync(GPUME_WHOLE_WARP, v, i));
    return v;
}

static __device__ __forceinline__ int base_of(const MvstereoCudaArgs &args, long long q)
{
    return args.base ? ((const short *)args.base)[q] : 0;
}

/** A word of costs a thread. */
static __device__ __forceinline__ void set_costs(const MvstereoCudaArgs &args)
{
    const int number = (int)(blockIdx.x * MVSTEREO_CUDA_THREADS + threadIdx.x), y = (int)blockIdx.y;
    const int x = number / LANES;
    const long long q = (long long)y * args.w + x;
    GpumeU32 costs, least[4] = { 255, 255, 255, 255 };
    GpumeU64 left;
    int z;

    if (x >= args.w)
        return;
    left = ((const GpumeU64 *)args.features[0])[q];
    z    = x - args.min - base_of(args, q) - number % LANES * 4;
    for (int j = -args.rows; j <= args.rows; j++) {
        const GpumeU64 *right = (const GpumeU64 *)args.features[1] + (long long)av_clip(y + j, 0, args.h - 1) * args.w;

        GPUME_UNROLL for (int i = 0; i < 4; i++) {
            const GpumeU64 other = right[av_clip(z - i, 0, args.w - 1)];

            least[i] = gpume_umin(least[i], mvstereo_cost((GpumeU32)left, (GpumeU32)(left >> 32), (GpumeU32)other,
                                                          (GpumeU32)(other >> 32)));
        }
    }
    costs = least[0] | least[1] << 8 | least[2] << 16 | least[3] << 24;
    ((GpumeU32 *)args.costs)[q * LANES + number % LANES] = costs;
}

/** What does not change along a path. */
typedef struct Lane {
    int number, group;          ///< the lane's number within its sample, and the sample's first lane
    GpumeU32 before, after;     ///< selectors of mvstereo_bytes() for the costs before the first one and after the last
} Lane;

/** Moves costs to where they belong in the range of the next sample, which begins shift disparities later. */
static __device__ __forceinline__ void shift_costs(GpumeU32 best[2], const GpumeU32 v[2], int shift, const Lane *lane)
{
    const int pairs = shift >> 1, first = 2 * lane->number + pairs;
    const GpumeU32 even  = gpume_select(pairs & 1, best[1], best[0]), odd = gpume_select(pairs & 1, best[0], best[1]);
    /* what a step by one disparity leads to, beside the window */
    const GpumeU32 below = (exchange(v[0], lane->group) + MVSTEREO_P1) << 16 | FAR;
    const GpumeU32 above = ((exchange(v[1], lane->group + LANES - 1) >> 16) + MVSTEREO_P1) | FAR << 16;
    GpumeU32 parts[3];

    GPUME_UNROLL for (int i = 0; i < 3; i++) {
        const int from = first + i;
        const GpumeU32 inside = exchange(i & 1 ? odd : even, lane->group + (from >> 1 & (LANES - 1)));

        parts[i] = gpume_select(from < 0 || from >= 2 * LANES, MVSTEREO_PAIR(FAR), inside);
        parts[i] = gpume_select(from == -1, below, gpume_select(from == 2 * LANES, above, parts[i]));
    }
    best[0] = mvstereo_bytes(parts[0], parts[1], shift & 1 ? MVSTEREO_ACROSS : 0x3210u);
    best[1] = mvstereo_bytes(parts[1], parts[2], shift & 1 ? MVSTEREO_ACROSS : 0x3210u);
}

/** The state of a path in a lane, which has four of its costs. A word has two costs. */
typedef struct Path {
    GpumeU32 v[2];              ///< the four costs
    GpumeU32 least;             ///< the least cost of all lanes, twice
    GpumeU32 before, after;     ///< costs of the lanes beside this one
} Path;

/**
 * Takes one step. p2 is in both halves. shift: from the first disparity of the sample before to that of this one;
 * is_shifted: whether any lane has a shift
 */
static __device__ __forceinline__ void step(Path *p, GpumeU32 costs, GpumeU32 p2, int shift, int is_shifted,
                                            const Lane *lane)
{
    const int number = (int)(threadIdx.x % 32);
    const GpumeU32 low    = mvstereo_bytes(p->before, p->v[0], lane->before);
    const GpumeU32 middle = mvstereo_bytes(p->v[0], p->v[1], MVSTEREO_ACROSS);
    const GpumeU32 high   = mvstereo_bytes(p->v[1], p->after, lane->after);
    const GpumeU32 far    = p->least + p2;
    GpumeU32 least, best[2] = {
        mvstereo_min2(p->v[0], mvstereo_min2(low, middle) + MVSTEREO_PAIR(MVSTEREO_P1)),
        mvstereo_min2(p->v[1], mvstereo_min2(middle, high) + MVSTEREO_PAIR(MVSTEREO_P1)),
    };

    if (is_shifted)
        shift_costs(best, p->v, shift, lane);
    p->v[0] = mvstereo_min2(best[0], far) - p->least + mvstereo_bytes(costs, 0, 0x4140);
    p->v[1] = mvstereo_min2(best[1], far) - p->least + mvstereo_bytes(costs, 0, 0x4342);
    /* asked for here, because they are on their way while the least cost is found */
    p->before = exchange(p->v[1], (number + 31) & 31);
    p->after  = exchange(p->v[0], (number + 1) & 31);
    least     = mvstereo_min2(p->v[0], p->v[1]);
    least     = mvstereo_min2(least, mvstereo_bytes(least, 0, 0x1032));
    GPUME_UNROLL for (int i = 1; i < LANES; i *= 2)
        least = mvstereo_min2(least, __shfl_xor_sync(GPUME_WHOLE_WARP, least, i));
    p->least = least;
}

/** What the next steps of a path need: costs, and of the step that is the lane's number the rest. */
typedef struct Ahead {
    GpumeU32 costs[BATCH];
    GpumeU32 rest;              ///< first disparity | penalty << 16
} Ahead;

/**
 * Loads what BATCH steps need, beginning with the sample at 0 of all pointers. All loads are issued at once, and waited
 * for when the steps begin, because a warp cannot wait for one of many loads in flight.
 * @param nb number of steps that are left
 */
static __device__ __forceinline__ Ahead load_ahead(GpumeU64 costs, GpumeU64 bases, GpumeU64 p2, long long stride,
                                                   int nb, const Lane *lane)
{
    Ahead a = { { 0 }, 0 };

    GPUME_UNROLL for (int k = 0; k < BATCH; k++)
        if (k < nb)
            a.costs[k] = *(const GpumeU32 *)(costs + 4 * LANES * k * stride);
    if (lane->number < gpume_min(BATCH, nb)) {
        a.rest = (GpumeU32)*(const GpumeU8 *)(p2 + lane->number * stride) << 16;
        if (bases)
            a.rest |= *(const GpumeU16 *)(bases + 2 * lane->number * stride);
    }
    return a;
}

/** A path of each sample of a warp; those that are not there are the last one again. */
static __device__ __forceinline__ void add_along_paths(const MvstereoCudaArgs &args)
{
    const int number = (int)(threadIdx.x % LANES), group = (int)(threadIdx.x % 32) - number;
    const int line   = (int)(blockIdx.x * (MVSTEREO_CUDA_WINDOW_THREADS / LANES) + threadIdx.x / LANES);
    const int direction = (int)blockIdx.y, is_column = direction >= 2, back = direction & 1;
    const int nb = is_column ? args.h : args.w, nb_lines = is_column ? args.w : args.h;
    const int is_there = line < nb_lines, line_there = is_there ? line : nb_lines - 1;
    const long long q = is_column ? (back ? (long long)(args.h - 1) * args.w : 0) + line_there
                                  : (long long)line_there * args.w + (back ? args.w - 1 : 0);
    const long long stride = (is_column ? (long long)args.w : 1ll) * (back ? -1 : 1);
    const Lane lane = { number, group, number ? MVSTEREO_ACROSS : MVSTEREO_FIRST_OF_B,
                        number < LANES - 1 ? MVSTEREO_ACROSS : MVSTEREO_LAST_OF_A };
    GpumeU64 src = args.costs + 4 * (q * LANES + number), dst = args.paths[0];
    GpumeU64 bases = args.base ? args.base + 2 * q : 0;
    /* the penalty of a step back is that of the sample where the step begins; that of the first step has no effect */
    GpumeU64 p2  = (is_column ? args.p2[1] : args.p2[0]) + q - (back ? stride : 0);
    Path path = { { 0 }, 0, 0, 0 };
    int base = base_of(args, q);
    Ahead next;

    /* all lines of the block are beyond the last one */
    if (line - (int)(threadIdx.x / LANES) >= nb_lines)
        return;
    GPUME_UNROLL for (int i = 1; i < 4; i++)
        dst = direction == i ? args.paths[i] : dst;
    dst -= args.costs;
    /* nothing is before the last sample; the first penalty is that of the sample itself */
    next = load_ahead(src, bases, back && !number ? p2 + stride : p2, stride, nb, &lane);
    for (int n = 0; n < nb; n += BATCH) {
        const Ahead now = next;
        /* of the step that is the lane's number: shift | penalty << 16; and which steps have a shift in any lane */
        const int before      = (int)exchange(now.rest, group + gpume_max(number - 1, 0));
        const GpumeU32 shift  = (now.rest - (GpumeU32)(number ? before : base)) & 0xffff;
        const GpumeU32 rest   = shift | (now.rest & 0xff0000);
        const GpumeU32 shifts = __ballot_sync(GPUME_WHOLE_WARP, shift);

        base   = (int)exchange(now.rest, group + BATCH - 1);
        bases += bases ? 2 * BATCH * stride : 0;
        p2    += BATCH * stride;
        next   = load_ahead(src + 4 * LANES * BATCH * stride, bases, p2, stride, nb - n - BATCH, &lane);
        GPUME_UNROLL for (int k = 0; k < BATCH; k++)
            /* the end is the same for all lanes; a loop that is left is not unrolled */
            if (n + k < nb) {
                const GpumeU32 what = exchange(rest, group + k);

                step(&path, now.costs[k], MVSTEREO_PAIR(what >> 16), (short)what, (shifts >> k & 0x01010101) != 0,
                     &lane);
                if (is_there)
                    *(GpumeU32 *)(dst + src) = mvstereo_bytes(path.v[0], path.v[1], 0x6420);
                src += 4 * LANES * stride;
            }
    }
}

/** Returns the sum of one of a sample's disparities. */
static __device__ __forceinline__ int sum_of(const GpumeU32 sums[4], int k, int group)
{
    const GpumeU32 mine = gpume_select(k & 2, gpume_select(k & 1, sums[3], sums[2]),
                                       gpume_select(k & 1, sums[1], sums[0]));

    return (int)exchange(mine, group + (k >> 2));
}

/** The least sums of a row. A key is sum << 16 | disparity from args.min. */
static __device__ __forceinline__ void find_winners(const MvstereoCudaArgs &args)
{
    GPUME_SHARED(GpumeU32, right);
    const int lane = (int)(threadIdx.x % 32), number = lane % LANES, group = lane - number;
    const int nb   = args.w + args.range;
    const long long row = (long long)blockIdx.y * args.w;
    MvstereoFound found = { 0 };

    for (int i = (int)threadIdx.x; i < nb; i += MVSTEREO_CUDA_WINNER_THREADS)
        right[i] = NONE;
    __syncthreads();
    for (int first = (int)(threadIdx.x / 32) * LINES, n = 0; first < args.w; first += STEP_X, n = (n + 1) % LANES) {
        int x = gpume_min(first + lane / LANES, args.w - 1);
        const int base = base_of(args, row + x);
        GpumeU32 best = NONE, second = NONE, sums[4] = { 0 };
        int k, least, before, after;

        GPUME_UNROLL for (int p = 0; p < 4; p++) {
            const GpumeU32 word = ((const GpumeU32 *)args.paths[p])[(row + x) * LANES + number];

            GPUME_UNROLL for (int i = 0; i < 4; i++)
                sums[i] += word >> 8 * i & 0xff;
        }
        GPUME_UNROLL for (int i = 0; i < 4; i++) {
            const int d = base + 4 * number + i;
            const GpumeU32 key = sums[i] << 16 | (GpumeU32)d;

            best = gpume_umin(best, key);
            /* the sample z of the other view is number z + args.min + args.range - 1 */
            atomicMin(&right[x - d + args.range - 1], key);
        }
        best   = least_of_sample(best);
        least  = (int)(best >> 16);
        k      = (int)(best & 0xffff) - base;
        before = sum_of(sums, gpume_max(k - 1, 0), group);
        after  = sum_of(sums, gpume_min(k + 1, 4 * LANES - 1), group);
        GPUME_UNROLL for (int i = 0; i < 4; i++)
            if ((GpumeU32)(4 * number + i - k + 1) > 2)
                second = gpume_umin(second, sums[i]);
        second = least_of_sample(second);
        /* each lane keeps what was found for a sample, because all of them finish a sample as quickly as one does */
        if (number == n)
            found = MvstereoFound { best, mvstereo_sides(before, after, least, k > 0 && k < 4 * LANES - 1),
                                    second };
        x = first + lane / LANES - (n - number) * STEP_X;
        if ((n == LANES - 1 || first + STEP_X >= args.w) && number <= n && x < args.w)
            mvstereo_set_found(args, &found, row + x);
    }
    __syncthreads();
    for (int z = (int)threadIdx.x; z < args.w; z += MVSTEREO_CUDA_WINNER_THREADS) {
        const int i = z + args.min + args.range - 1;
        const GpumeU32 key = i >= 0 && i < nb ? right[i] : NONE;

        ((short *)args.right)[row + z] = (short)(key == NONE ? -2 : (int)(key & 0xffff));
    }
}

/**
 * grid:   of costs words of a row in MVSTEREO_CUDA_THREADS, rows; of paths those of the longer side in
 *         MVSTEREO_CUDA_WINDOW_THREADS / LANES, directions; of winners 1, rows
 * block:  THREADS
 * shared: of winners a word for each sample of a row, and for as many before and behind as there are disparities
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, THREADS, 4)
{
    if (STEP == COSTS)
        set_costs(args);
    else if (STEP == PATHS)
        add_along_paths(args);
    else
        find_winners(args);
}
