/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Packs the patterns of core/searches.h, and tries a pattern with a group of lanes.
 */

#ifndef AVFILTER_GPUME_CUDA_PATTERN_CUH
#define AVFILTER_GPUME_CUDA_PATTERN_CUH

#include "libavfilter/gpume/cuda/evaluators.cuh"

/** Instead of a search: all pattern searches. */
#define GPUME_ANY_PATTERN (-1)

/** Largest distance of a pattern's points from the centre, in steps. */
#define GPUME_MAX_REACH 2

/**
 * Up to GPUME_POINTS points, in the order in which they are tried. A coordinate takes four bits and
 * begins at -GPUME_MAX_REACH, so all coordinates of an axis fit into a register.
 */
typedef struct GpumePattern {
    GpumeU32 x, y;
    int points;
    int reach;
} GpumePattern;

/** Packs the coordinates of a list of points. The least possible coordinate is stored as 0. */
template<typename Word, int N>
static __device__ constexpr Word
gpume_pack(const signed char (&points)[N][2], int axis, int least, int i = 0)
{
    return i == N ? 0 : (Word)(points[i][axis] - least) << (4 * i & (8 * sizeof(Word) - 1)) |
                        gpume_pack<Word>(points, axis, least, i + 1);
}

static __device__ constexpr int gpume_farther(int coordinate, int reach)
{
    return coordinate > reach ? coordinate : -coordinate > reach ? -coordinate : reach;
}

/** Returns the largest absolute coordinate of these points. */
template<int N>
static __device__ constexpr int gpume_reach(const signed char (&points)[N][2], int i = 0)
{
    return i == N ? 0 : gpume_farther(points[i][0],
                            gpume_farther(points[i][1], gpume_reach(points, i + 1)));
}

#define GPUME_POINT_LIST(name)                                                      \
static constexpr signed char gpume_points_##name[GPUME_##name##_POINTS][2] = {      \
    GPUME_##name                                                                    \
};                                                                                  \
static_assert(GPUME_##name##_POINTS <= GPUME_POINTS, "each point has a lane");          \
static_assert(gpume_reach(gpume_points_##name) <= GPUME_MAX_REACH, "reach of " #name);
GPUME_PATTERNS(GPUME_POINT_LIST)
#undef GPUME_POINT_LIST

/** Returns whether a search uses a pattern: its first pattern or the small diamond. */
static __device__ constexpr int gpume_has_pattern(int algo, int id)
{
#define GPUME_BEGINS_WITH(ID, name, kind, title, paper, first, first_step, next)    \
    || (algo == GPUME_ALGO_##ID && id == GPUME_PATTERN_##first)
    return algo == GPUME_ANY_PATTERN || id == GPUME_PATTERN_SMALL_DIAMOND GPUME_SEARCHES(GPUME_BEGINS_WITH);
#undef GPUME_BEGINS_WITH
}

/**
 * Returns a pattern by its number, enum GpumePatternId, as constants that take no memory.
 * @tparam ALGO enum GpumeAlgo, or GPUME_ANY_PATTERN
 */
template<int ALGO>
static __device__ __forceinline__ GpumePattern gpume_pattern(int id)
{
    GpumePattern p = { 0, 0, 0, 0 };

#define GPUME_TAKE_PATTERN(name)                                                    \
    if (gpume_has_pattern(ALGO, GPUME_PATTERN_##name)) {                            \
        constexpr GpumePattern q = {                                                \
            gpume_pack<GpumeU32>(gpume_points_##name, 0, -GPUME_MAX_REACH),         \
            gpume_pack<GpumeU32>(gpume_points_##name, 1, -GPUME_MAX_REACH),         \
            GPUME_##name##_POINTS, gpume_reach(gpume_points_##name)                 \
        };                                                                          \
        const int take = GPUME_PATTERN_##name == GPUME_PATTERN_SMALL_DIAMOND ||     \
                         id == GPUME_PATTERN_##name;                                \
                                                                                    \
        p.x      = take ? q.x      : p.x;                                           \
        p.y      = take ? q.y      : p.y;                                           \
        p.points = take ? q.points : p.points;                                      \
        p.reach  = take ? q.reach  : p.reach;                                       \
    }
    GPUME_PATTERNS(GPUME_TAKE_PATTERN)
#undef GPUME_TAKE_PATTERN
    return p;
}
static_assert(GPUME_PATTERN_SMALL_DIAMOND == 0, "the first pattern, which a chosen one replaces");

static __device__ __forceinline__ int gpume_point_x(const GpumePattern &p, int i)
{
    return (int)(p.x >> 4 * i & 15) - GPUME_MAX_REACH;
}

static __device__ __forceinline__ int gpume_point_y(const GpumePattern &p, int i)
{
    return (int)(p.y >> 4 * i & 15) - GPUME_MAX_REACH;
}

/**
 * Tries a pattern around (x, y), with its points multiplied by a step, if the group is active.
 * @return cost * GPUME_POINTS + number of the first point of least cost; larger than for
 *         any cost if no point is admissible
 */
template<class Evaluator>
static __device__ __forceinline__ typename Evaluator::Key
gpume_try_pattern(Evaluator &e, const GpumePattern &p, int x, int y, int active, int step)
{
    typedef typename Evaluator::Key Key;
    const int rounds = Evaluator::ROUNDS;
    const int slot = e.g.lane % Evaluator::SLOTS;
    int px[rounds], py[rounds], valid[rounds];
    GpumeU32 cost[rounds];
    Key best = ~(Key)0;

    if (active) {
        GPUME_UNROLL for (int r = 0; r < rounds; r++) {
            const int i = slot + r * Evaluator::SLOTS;

            px[r] = x + gpume_point_x(p, i) * step;
            py[r] = y + gpume_point_y(p, i) * step;
            valid[r] = (i < p.points) & gpume_group_admits(e.g, px[r], py[r]);
            // instead of a branch
            px[r] = valid[r] ? px[r] : x;
            py[r] = valid[r] ? py[r] : y;
        }
        e.shares(cost, px, py);
    } else {
        GPUME_UNROLL for (int r = 0; r < rounds; r++)
            cost[r] = valid[r] = 0;
    }
    GPUME_UNROLL for (int r = 0; r < rounds; r++) {
        const GpumeU32 sum = Evaluator::sum_of_parts(cost[r]);
        const Key key = valid[r] ? (Key)sum * GPUME_POINTS + slot + r * Evaluator::SLOTS : ~(Key)0;

        if (key < best)
            best = key;
    }
    return gpume_least<1, Evaluator::SLOTS>(best);
}

#endif /* AVFILTER_GPUME_CUDA_PATTERN_CUH */
