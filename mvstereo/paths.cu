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
/** Paths of a warp. */
#define LINES (32 / LANES)
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
 * Takes one step.
 * @param p2    penalty, in both halves
 * @param shift from the first disparity of the sample before to that of this one
 * @param is_shifted whether any lane has a shift
 */
static __device__ __forceinline__ void step(Path *p, const GpumeU32 costs[WORDS], GpumeU32 p2, int shift,
                                            int is_shifted, const Lane *lane)
{
    const int number   = (int)(threadIdx.x % 32);
    const GpumeU32 far = p->least + p2, change = lane->far - p->least;
    GpumeU32 low = mvstereo_bytes(p->before, p->v[0][0], lane->before), least, best[WORDS][2];

    GPUME_UNROLL for (int j = 0; j < WORDS; j++) {
        const GpumeU32 middle = mvstereo_bytes(p->v[j][0], p->v[j][1], MVSTEREO_ACROSS);
        const GpumeU32 high   = j == WORDS - 1 ? mvstereo_bytes(p->v[j][1], p->after, lane->after)
                                               : mvstereo_bytes(p->v[j][1], p->v[j + (j < WORDS - 1)][0],
                                                                MVSTEREO_ACROSS);

        best[j][0] = mvstereo_min2(p->v[j][0], mvstereo_min2(low, middle) + MVSTEREO_PAIR(MVSTEREO_P1));
        best[j][1] = mvstereo_min2(p->v[j][1], mvstereo_min2(middle, high) + MVSTEREO_PAIR(MVSTEREO_P1));
        low        = high;
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
    if (LANES == 32)
        least = mvstereo_least_of_warp(least);
    else
        GPUME_UNROLL for (int i = 1; i < LANES; i *= 2)
            least = mvstereo_min2(least, __shfl_xor_sync(GPUME_WHOLE_WARP, least, i));
    p->least = least;
}

/** What the next steps of a path need: costs, and of the steps that a lane has by their number the rest. */
typedef struct Ahead {
    GpumeU32 costs[BATCH][WORDS];
    int p2[RESTS], first[RESTS];        ///< penalties, and first disparities
} Ahead;

/** Where a path is. */
typedef struct Place {
    GpumeU64 costs;             ///< of the next step
    GpumeU64 bases, p2;         ///< of the first step; bases: 0 if there are none
    long long stride;           ///< samples
    int n, nb, range;           ///< number of the next step, of all steps, and of costs of a sample
    int first_p2;               ///< the first step whose penalty is that of a sample
} Place;

/**
 * Loads what BATCH steps need, and moves on. All loads are issued at once, and waited for when the steps begin, because
 * a warp cannot wait for one of many loads in flight. So nothing is done here with what is loaded.
 */
static __device__ __forceinline__ void load_ahead(Ahead *a, Place *p, const Lane *lane)
{
    GPUME_UNROLL for (int k = 0; k < BATCH; k++)
        if (p->n + k < p->nb)
            load(a->costs[k], p->costs + k * p->stride * p->range);
    GPUME_UNROLL for (int r = 0; r < RESTS; r++) {
        /* of a step that is not there, those of the last one */
        const int n = gpume_min(p->n + gpume_min(r * LANES + lane->number, BATCH - 1), p->nb - 1);

        a->p2[r] = *(const GpumeU8 *)(p->p2 + gpume_max(n, p->first_p2) * p->stride);
        if (!SIZE && p->bases)
            a->first[r] = *(const short *)(p->bases + 2 * n * p->stride);
    }
    p->costs += BATCH * p->stride * p->range;
    p->n     += BATCH;
}

/**
 * Sets, for the steps that a lane has, shift | penalty << 16.
 * @param base   first disparity of the sample before; set to that of the last one
 * @param shifts set to which lanes have shifts
 * @return whether any has
 */
static __device__ __forceinline__ int find_shifts(GpumeU32 rest[RESTS], GpumeU32 shifts[RESTS], int *base,
                                                  const Ahead *a, const Lane *lane)
{
    GpumeU32 any = 0;

    GPUME_UNROLL for (int r = 0; r < RESTS; r++) {
        rest[r]   = (GpumeU32)a->p2[r] << 16;
        shifts[r] = 0;
        if (!SIZE) {
            const GpumeU32 first = (GpumeU32)a->first[r];
            const int one_before = (int)exchange(first, lane->group + gpume_max(lane->number - 1, 0));
            const int shift      = av_clip((int)first - (lane->number ? one_before : *base), -MVSTEREO_WINDOW - 1,
                                           MVSTEREO_WINDOW + 1);

            *base     = (int)exchange(first, lane->group + LANES - 1);
            shifts[r] = __ballot_sync(GPUME_WHOLE_WARP, shift);
            rest[r]  |= (GpumeU32)shift & 0xffff;
            any      |= shifts[r];
        }
    }
    return any != 0;
}

/** Takes the steps of a batch. is_general: there may be shifts, and nb may be less than BATCH. */
static __device__ __forceinline__ void take_steps(Path *path, GpumeU64 *dst, long long stride, const Ahead *a,
                                                  const GpumeU32 rests[RESTS], const GpumeU32 shifts[RESTS], int nb,
                                                  int is_general, int is_there, const Lane *lane)
{
    GPUME_UNROLL for (int k = 0; k < BATCH; k++)
        /* the end of the loop is the same for all lanes; a loop with a break would not be unrolled */
        if (!is_general || k < nb) {
            const GpumeU32 rest = exchange(rests[k / LANES], lane->group + k % LANES);

            step(path, a->costs[k], mvstereo_bytes(rest, 0, 0x3232), (short)rest,
                 is_general && (shifts[k / LANES] >> k % LANES & FIRST_LANES), lane);
            if (is_there)
                store(*dst, path->v);
            *dst += stride;
        }
}

/**
 * grid:   paths of the longer side in MVSTEREO_CUDA_PATH_THREADS / LANES; directions
 * block:  MVSTEREO_CUDA_PATH_THREADS
 * shared: with bases MvstereoCudaMoved for each warp
 */
GPUME_KERNEL_OF(MvstereoCudaArgs, MVSTEREO_CUDA_PATH_THREADS, 8)
{
    const int number = (int)(threadIdx.x % LANES), group = (int)(threadIdx.x % 32) - number;
    const int line   = (int)(blockIdx.x * (MVSTEREO_CUDA_PATH_THREADS / LANES) + threadIdx.x / LANES);
    const int direction = (int)blockIdx.y, is_column = direction >= 2, back = direction & 1;
    const int nb = is_column ? args.h : args.w, nb_lines = is_column ? args.w : args.h;
    /* lanes of paths that are not there do what those of the last one do */
    const int is_line   = line < nb_lines, line_there = is_line ? line : nb_lines - 1;
    const int range     = SIZE ? args.range : MVSTEREO_WINDOW, is_there = 4 * WORDS * number < range;
    const long long q   = is_column ? (back ? (long long)(args.h - 1) * args.w : 0) + line_there
                                    : (long long)line_there * args.w + (back ? args.w - 1 : 0);
    const long long stride = (is_column ? (long long)args.w : 1ll) * (back ? -1 : 1);
    const Lane lane = { number, group, number ? MVSTEREO_ACROSS : MVSTEREO_FIRST_OF_B,
                        4 * WORDS * (number + 1) < range ? MVSTEREO_ACROSS : MVSTEREO_LAST_OF_A,
                        is_there ? 0 : MVSTEREO_PAIR(FAR) };
    /* lanes beyond the range load the data of the last lane, and do not use it */
    Place place = { args.costs + q * range + (is_there ? 4 * WORDS * number : range - 4 * WORDS),
                    !SIZE && args.base ? args.base + 2 * q : 0,
                    /* the penalty of a step back is that of the sample where it begins; the first has no effect */
                    (is_column ? args.p2[1] : args.p2[0]) + q - (back ? stride : 0), stride, 0, nb, range, back };
    GpumeU64 dst    = args.paths[0];
    int base   = place.bases ? ((const short *)args.base)[q] : 0;
    Path path  = { { { 0 } }, 0, 0, 0 };
    Ahead next = { { { 0 } }, { 0 }, { 0 } };

    /* all paths of the warp are beyond the last one */
    if (line - group / LANES >= nb_lines)
        return;
    GPUME_UNROLL for (int i = 1; i < 4; i++)
        dst = direction == i ? args.paths[i] : dst;
    dst += q * range + 4 * WORDS * number;
    GPUME_UNROLL for (int j = 0; j < WORDS; j++)
        path.v[j][0] = path.v[j][1] = lane.far;
    if (place.bases)
        clear();
    load_ahead(&next, &place, &lane);
    for (int n = 0; n < nb; n += BATCH) {
        GpumeU32 rests[RESTS], shifts[RESTS];
        const Ahead now = next;

        load_ahead(&next, &place, &lane);
        /* most batches are whole and have no shifts: their steps have no branches, so that they can overlap */
        if (find_shifts(rests, shifts, &base, &now, &lane) || n + BATCH > nb)
            take_steps(&path, &dst, stride * range, &now, rests, shifts, nb - n, 1, is_there && is_line, &lane);
        else
            take_steps(&path, &dst, stride * range, &now, rests, shifts, BATCH, 0, is_there && is_line, &lane);
    }
}
