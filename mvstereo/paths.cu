/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Adds costs along paths from left, right, above and below. A path has LANES lanes of a warp, and each lane has WORDS
 * words of four consecutive disparities. While they are added, costs are stored two to a word. With bases, the
 * disparities of a sample begin at its base.
 */

#include "libavfilter/gpume/mvstereo/device.cuh"

/** The variant is the binary logarithm of the greatest number of disparities, in MVSTEREO_WINDOW. */
#define SIZE  (GPUME_CUDA_VARIANT & ~MVSTEREO_CUDA_AMPERE)
#define WORDS (SIZE > 3 ? 8 : 2)
#define LANES (SIZE > 3 ? 32 : 4 << SIZE)
/** Steps whose costs and penalties are loaded at once, and how many of them have a lane of their own. */
#define BATCH (SIZE > 3 ? 1 : SIZE ? 8 : 16)
#define RESTS ((BATCH + LANES - 1) / LANES)
/** Cost of lanes beyond the range; larger than any cost of a path. */
#define FAR   0x800u
/** Distance of the words of a path that are to be moved. */
#define PITCH MVSTEREO_CUDA_PITCH
/** Bits of a ballot that belong to the first lane of each path. */
#define FIRST_LANES (LANES == 4 ? 0x11111111u : LANES == 8 ? 0x01010101u : LANES == 16 ? 0x00010001u : 1u)

/** Values that are constant along a path. */
typedef struct Lane {
    int number, group;          ///< the lane's number within its path, and the path's first lane
    GpumeU32 before, after;     ///< selectors of mvstereo_bytes() for costs before the first one and after the last one
    GpumeU32 far;               ///< added where there is no disparity
} Lane;

/** The state of a path in a lane. A word has two costs. */
typedef struct Path {
    GpumeU32 v[WORDS][2];
    GpumeU32 least;             ///< the least cost of all lanes, twice
    GpumeU32 before, after;     ///< costs of the lanes beside this one
    /* costs across two words; and what a step by one disparity leads to, except in the first and in the last word */
    GpumeU32 middle[2 * WORDS - 1], inner[2 * WORDS];
} Path;

static __device__ __forceinline__ GpumeU32 exchange(GpumeU32 v, int lane)
{
    return __shfl_sync(GPUME_WHOLE_WARP, v, lane);
}

static __device__ __forceinline__ void load(GpumeU32 v[WORDS], GpumeU64 src)
{
    if (WORDS == 2) {
        int2 two;

        gpume_load_global(&two, (const void *)src);
        v[0] = (GpumeU32)two.x;
        v[1] = (GpumeU32)two.y;
    } else {
        GPUME_UNROLL for (int j = 0; j < WORDS; j += 4) {
            int4 four;

            gpume_load_global(&four, (const void *)(src + 4 * j));
            v[j] = (GpumeU32)four.x;
            GPUME_UNROLL for (int i = 1; i < 4 && j + i < WORDS; i++)
                v[j + i] = (GpumeU32)(i == 1 ? four.y : i == 2 ? four.z : four.w);
        }
    }
}

static __device__ __forceinline__ void store(GpumeU64 dst, const GpumeU32 v[WORDS][2])
{
    GPUME_UNROLL for (int j = 0; j < WORDS; j += 2)
        *(GpumeU64 *)(dst + 4 * j) = mvstereo_bytes(v[j][0], v[j][1], 0x6420) |
                                     (GpumeU64)mvstereo_bytes(v[j + 1][0], v[j + 1][1], 0x6420) << 32;
}

/** Sets what is around the costs of a warp. */
static __device__ __forceinline__ void clear(void)
{
    GPUME_SHARED(MvstereoCudaMoved, moved);
    MvstereoCudaMoved *mine = moved + threadIdx.x / 32;

    for (int i = (int)threadIdx.x % 32; i < MVSTEREO_CUDA_AHEAD * PITCH; i += 32) {
        mine->words[i / PITCH][i % PITCH] = MVSTEREO_PAIR(FAR);
        mine->words[i / PITCH + MVSTEREO_CUDA_AHEAD + MVSTEREO_WINDOW / 2][i % PITCH] = MVSTEREO_PAIR(FAR);
    }
}

/** Moves costs to where they belong in the range of the next sample, which begins shift disparities later. */
static __device__ __forceinline__ void move(GpumeU32 best[WORDS][2], const GpumeU32 v[WORDS][2], int shift,
                                            const Lane *lane)
{
    GPUME_SHARED(MvstereoCudaMoved, moved);
    MvstereoCudaMoved *mine = moved + threadIdx.x / 32;
    const int line = lane->group / LANES, to = MVSTEREO_CUDA_AHEAD + 2 * WORDS * lane->number, from = to + (shift >> 1);
    const GpumeU32 which = shift & 1 ? MVSTEREO_ACROSS : 0x3210u;
    GpumeU32 first;

    __syncwarp();
    GPUME_UNROLL for (int i = 0; i < 2 * WORDS; i++)
        mine->words[to + i][line] = best[i / 2][i % 2];
    /* what a step by one disparity leads to, beside the window */
    if (!lane->number)
        mine->words[to - 1][line] = (v[0][0] + MVSTEREO_P1) << 16 | FAR;
    if (lane->number == LANES - 1)
        mine->words[to + 2 * WORDS][line] = ((v[WORDS - 1][1] >> 16) + MVSTEREO_P1) | FAR << 16;
    __syncwarp();
    first = mine->words[from][line];
    GPUME_UNROLL for (int i = 0; i < 2 * WORDS; i++) {
        const GpumeU32 next = mine->words[from + i + 1][line];

        best[i / 2][i % 2] = mvstereo_bytes(first, next, which);
        first = next;
    }
}

/**
 * Returns the least value of a path's lanes. Three exchanges at once take as long as one.
 * @param beside values that are greater: as they are used here, compilers compute them while exchanges are on their way
 */
static __device__ __forceinline__ GpumeU32 least_of_path(GpumeU32 v, GpumeU32 beside)
{
    if (LANES == 32)
        return mvstereo_least_of_warp(v);
    GPUME_UNROLL for (int i = 1; i < LANES; i *= 4) {
        const GpumeU32 a = __shfl_xor_sync(GPUME_WHOLE_WARP, v, i);

        if (2 * i < LANES) {
            const GpumeU32 b = __shfl_xor_sync(GPUME_WHOLE_WARP, v, 2 * i);
            const GpumeU32 c = __shfl_xor_sync(GPUME_WHOLE_WARP, v, 3 * i);

            if (i == 1)
                v = mvstereo_min2(v, beside);
            v = mvstereo_min2(mvstereo_min2(mvstereo_min2(v, a), b), c);
        } else {
            v = mvstereo_min2(v, a);
        }
    }
    return v;
}

/** Sets what a step by one disparity leads to where it does not depend on other lanes. */
static __device__ __forceinline__ void find_inner(Path *p)
{
    GPUME_UNROLL for (int j = 0; j < 2 * WORDS - 1; j++)
        p->middle[j] = mvstereo_bytes(p->v[j / 2][j % 2], p->v[(j + 1) / 2][(j + 1) % 2], MVSTEREO_ACROSS);
    GPUME_UNROLL for (int j = 1; j < 2 * WORDS - 1; j++)
        p->inner[j] = mvstereo_min2(p->middle[j - 1], p->middle[j]) + MVSTEREO_PAIR(MVSTEREO_P1);
}

/**
 * Takes one step.
 * @param p2    penalty, in both halves
 * @param shift from the first disparity of the sample before to that of this one
 * @param is_shifted whether any lane has a shift
 */
static __device__ __forceinline__ void step(Path *p, const GpumeU32 costs[WORDS], GpumeU32 p2, int shift,
                                            int is_shifted, const Lane *lane)
{
    enum { LAST = 2 * WORDS - 1 };
    const int number   = (int)(threadIdx.x % 32);
    const GpumeU32 far = p->least + p2, change = lane->far - p->least;
    const GpumeU32 low  = mvstereo_bytes(p->before, p->v[0][0], lane->before);
    const GpumeU32 high = mvstereo_bytes(p->v[WORDS - 1][1], p->after, lane->after);
    GpumeU32 least, best[WORDS][2];

    GPUME_UNROLL for (int j = 0; j <= LAST; j++) {
        const GpumeU32 beside = j == 0    ? mvstereo_min2(low, p->middle[0]) + MVSTEREO_PAIR(MVSTEREO_P1)
                              : j == LAST ? mvstereo_min2(p->middle[LAST - 1], high) + MVSTEREO_PAIR(MVSTEREO_P1)
                                          : p->inner[j];

        best[j / 2][j % 2] = mvstereo_min2(p->v[j / 2][j % 2], beside);
    }
    if (!SIZE && is_shifted)
        move(best, p->v, shift, lane);
    GPUME_UNROLL for (int j = 0; j < WORDS; j++)
        GPUME_UNROLL for (int i = 0; i < 2; i++)
            p->v[j][i] = mvstereo_min2(best[j][i], far) + change + mvstereo_bytes(costs[j], 0, i ? 0x4342 : 0x4140);
    /* asked for here, because they are on their way while the least cost is found */
    p->before = exchange(p->v[WORDS - 1][1], (number + 31) & 31);
    p->after  = exchange(p->v[0][0], (number + 1) & 31);
    least     = mvstereo_min2(p->v[0][0], p->v[0][1]);
    GPUME_UNROLL for (int j = 1; j < WORDS; j++)
        least = mvstereo_min2(least, mvstereo_min2(p->v[j][0], p->v[j][1]));
    least = mvstereo_min2(least, mvstereo_bytes(least, 0, 0x1032));
    find_inner(p);
    p->least = least_of_path(least, mvstereo_min2(p->inner[1], p->inner[2]));
}

/** What the next steps of a path need: costs, and of the steps that a lane has by their number the rest. */
typedef struct Ahead {
    GpumeU32 costs[BATCH][WORDS];
    GpumeU32 p2[RESTS], first[RESTS];   ///< penalties, and first disparities
} Ahead;

/** Where a path is. */
typedef struct Place {
    GpumeU64 costs;             ///< of the next step
    GpumeU64 bases, p2;         ///< of the lane's first step; bases: 0 if there are none
    int n, nb;                  ///< number of the next step, and of all steps
    int first_p2;               ///< the first step whose penalty is that of a sample
} Place;

/**
 * Loads what BATCH steps need. All loads are issued at once, and waited for when the steps begin, because a warp cannot
 * wait for one of many loads in flight. So nothing is done here with what is loaded.
 * @param stride   samples from a step to the next
 * @param is_whole all steps are there, and none is the path's first one
 */
static __device__ __forceinline__ void load_steps(Ahead *a, const Place *p, long long stride, int range, int is_whole,
                                                  const Lane *lane)
{
    GPUME_UNROLL for (int k = 0; k < BATCH; k++)
        if (is_whole || p->n + k < p->nb)
            load(a->costs[k], p->costs + k * stride * range);
    GPUME_UNROLL for (int r = 0; r < RESTS; r++) {
        /* of a step that is not there, those of the last one */
        const int mine = gpume_min(r * LANES + lane->number, BATCH - 1) - lane->number;
        const int n    = is_whole ? mine : gpume_min(p->n + lane->number + mine, p->nb - 1) - p->n - lane->number;
        const int n_p2 = is_whole ? n : gpume_max(n, p->first_p2 - p->n - lane->number);

        a->p2[r] = *(const GpumeU8 *)(p->p2 + n_p2 * stride);
        if (!SIZE && p->bases)
            a->first[r] = (GpumeU32)*(const short *)(p->bases + 2 * n * stride);
    }
}

/** Loads what the next steps need, and moves on. */
static __device__ __forceinline__ void load_ahead(Ahead *a, Place *p, long long stride, int range, const Lane *lane)
{
    if (p->n && p->n + BATCH <= p->nb)
        load_steps(a, p, stride, range, 1, lane);
    else
        load_steps(a, p, stride, range, 0, lane);
    p->costs += BATCH * stride * range;
    p->p2    += BATCH * stride;
    p->bases += p->bases ? 2 * BATCH * stride : 0;
    p->n     += BATCH;
}

/** Returns whether the first disparity of any path changes; base is that of the sample before. */
static __device__ __forceinline__ int has_shifts(const Ahead *a, int base)
{
    GpumeU32 differ = 0;

    GPUME_UNROLL for (int r = 0; r < RESTS; r++)
        differ |= a->first[r] ^ (GpumeU32)base;
    return __any_sync(GPUME_WHOLE_WARP, (int)differ);
}

/**
 * Sets p2, for the steps that a lane has, to shift | penalty << 16.
 * @param base   first disparity of the sample before; set to that of the last one
 * @param shifts set to which lanes have shifts
 */
static __device__ __forceinline__ void find_shifts(Ahead *a, GpumeU32 shifts[RESTS], int *base, const Lane *lane)
{
    GPUME_UNROLL for (int r = 0; r < RESTS; r++) {
        a->p2[r] <<= 16;
        shifts[r]  = 0;
        if (!SIZE) {
            const GpumeU32 first = a->first[r];
            const int one_before = (int)exchange(first, lane->group + gpume_max(lane->number - 1, 0));
            const int shift      = av_clip((int)first - (lane->number ? one_before : *base), -MVSTEREO_WINDOW - 1,
                                           MVSTEREO_WINDOW + 1);

            *base     = (int)exchange(first, lane->group + LANES - 1);
            shifts[r] = __ballot_sync(GPUME_WHOLE_WARP, shift);
            a->p2[r] |= (GpumeU32)shift & 0xffff;
        }
    }
}

/** Takes the steps of a batch. shifts are those of find_shifts(), or 0: there are none, and nb is BATCH. */
static __device__ __forceinline__ void take_steps(Path *path, GpumeU64 dst, long long bytes, const Ahead *a,
                                                  const GpumeU32 *shifts, int nb, int is_there, const Lane *lane)
{
    GPUME_UNROLL for (int k = 0; k < BATCH; k++)
        /* the end of the loop is the same for all lanes; a loop with a break would not be unrolled */
        if (!shifts || k < nb) {
            const GpumeU32 rest = exchange(a->p2[k / LANES], lane->group + k % LANES);

            step(path, a->costs[k], mvstereo_bytes(rest, 0, shifts ? 0x3232 : 0x4040), (short)rest,
                 shifts && (shifts[k / LANES] >> k % LANES & FIRST_LANES), lane);
            if (is_there)
                store(dst + k * bytes, path->v);
        }
}

/**
 * Adds costs along a path.
 * @param direction number of the path: from left, right, above or below
 * @param line      row or column; lines beyond the last one are ignored
 * @param stride    samples from a step to the next
 */
static __device__ __forceinline__ void add_costs(const MvstereoCudaArgs &args, int direction, int line,
                                                 long long stride)
{
    const int number = (int)(threadIdx.x % LANES), group = (int)(threadIdx.x % 32) - number;
    const int is_column = direction >= 2, back = direction & 1;
    const int nb = is_column ? args.h : args.w, nb_lines = is_column ? args.w : args.h;
    /* lanes of paths that are not there do what those of the last one do */
    const int is_line = line < nb_lines, line_there = is_line ? line : nb_lines - 1;
    const int range   = SIZE < 2 ? MVSTEREO_WINDOW << SIZE : args.range, is_there = 4 * WORDS * number < range;
    const long long q = is_column ? (back ? (long long)(args.h - 1) * args.w : 0) + line_there
                                  : (long long)line_there * args.w + (back ? args.w - 1 : 0);
    const Lane lane = { number, group, number ? MVSTEREO_ACROSS : MVSTEREO_FIRST_OF_B,
                        4 * WORDS * (number + 1) < range ? MVSTEREO_ACROSS : MVSTEREO_LAST_OF_A,
                        is_there ? 0 : MVSTEREO_PAIR(FAR) };
    /*
     * Lanes beyond the range load the data of the last lane, and do not use it. The penalty of a step back is that of
     * the sample where it begins; the first has no effect.
     */
    Place place = { args.costs + q * range + (is_there ? 4 * WORDS * number : range - 4 * WORDS),
                    !SIZE && args.base ? args.base + 2 * (q + number * stride) : 0,
                    (is_column ? args.p2[1] : args.p2[0]) + q - (back ? stride : 0) + number * stride, 0, nb, back };
    GpumeU64 dst = args.paths[0];
    int base     = !SIZE && args.base ? ((const short *)args.base)[q] : 0;
    Path path    = { { { 0 } }, 0, 0, 0, { 0 }, { 0 } };
    Ahead next   = { { { 0 } }, { 0 }, { 0 } };

    /* all paths of the warp are beyond the last one */
    if (line - group / LANES >= nb_lines)
        return;
    GPUME_UNROLL for (int i = 1; i < 4; i++)
        dst = direction == i ? args.paths[i] : dst;
    dst += q * range + 4 * WORDS * number;
    GPUME_UNROLL for (int j = 0; j < WORDS; j++)
        path.v[j][0] = path.v[j][1] = lane.far;
    find_inner(&path);
    if (place.bases)
        clear();
    load_ahead(&next, &place, stride, range, &lane);
    for (int n = 0; n < nb; n += BATCH) {
        GpumeU32 shifts[RESTS];
        Ahead now = next;

        load_ahead(&next, &place, stride, range, &lane);
        /* most batches are whole and have no shifts: their steps have no branches, so that they can overlap */
        if (n + BATCH > nb || (!SIZE && has_shifts(&now, base))) {
            find_shifts(&now, shifts, &base, &lane);
            take_steps(&path, dst, stride * range, &now, shifts, nb - n, is_there && is_line, &lane);
        } else {
            take_steps(&path, dst, stride * range, &now, 0, BATCH, is_there && is_line, &lane);
        }
        dst += BATCH * stride * range;
    }
}

/**
 * grid:   lines in MVSTEREO_CUDA_PATH_THREADS / LANES: rows twice, and columns, twice unless SIZE is 0
 * block:  MVSTEREO_CUDA_PATH_THREADS
 * shared: with bases MvstereoCudaMoved for each warp
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_PATH_THREADS, SIZE ? 4 : 2)
{
    enum { LINES = MVSTEREO_CUDA_PATH_THREADS / LANES };
    const int rows      = (args.h + LINES - 1) / LINES, columns = (args.w + LINES - 1) / LINES;
    const int is_column = (int)blockIdx.x >= 2 * rows;
    const int number    = (int)blockIdx.x - (is_column ? 2 * rows : 0), nb = is_column ? columns : rows;
    const int line      = number % nb * LINES + (int)threadIdx.x / LANES, back = number >= nb;

    /* copies of the code, because distances in rows are constants, so that addresses need no arithmetic */
    if (!is_column && !back)
        add_costs(args, 0, line, 1);
    else if (!is_column)
        add_costs(args, 1, line, -1);
    else if (SIZE)
        add_costs(args, 2 + back, line, back ? -args.w : args.w);
    else
        /* columns are shorter: both of their paths take about as long as one of a row, and need memory all the time */
        GPUME_NO_UNROLL for (int i = 0; i < 2; i++)
            add_costs(args, 2 + i, line, i ? -args.w : args.w);
}
