/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The searches: their candidates, in order. Every backend and device code include this file.
 *
 * A pattern search begins with the vector (0,0), a predictive search with its predictors. From
 * there it tries the points of a pattern around a centre; then a short function chooses the next
 * pattern. A candidate becomes the best if it is admissible (within the range, its block inside the
 * reference) and its cost is strictly less, so if costs are equal, the first candidate tried wins.
 * Hence a backend may stop as soon as the best cost is 0, and skip candidates that have been tried.
 *
 * To add a search, add a row of GPUME_SEARCHES and its function, see CONTRIBUTING.md. Searches that
 * FFmpeg's mestimate has give mestimate's vectors.
 */

#ifndef AVFILTER_GPUME_CORE_SEARCHES_H
#define AVFILTER_GPUME_CORE_SEARCHES_H

#include "libavfilter/gpume/core/params_args.h"

/**
 * The table of searches. Options, help, the dispatch of every backend, and the lists of the
 * documentation, of tests and of benchmarks are generated from it; tools/searches.sh reads it.
 *
 * S(ID, name, kind, title, paper, pattern, step, next): GPUME_ALGO_ID is called name. A search of
 * kind PATTERN or PREDICTIVE begins with this pattern and step and continues with
 * gpume_next_<next>(). A step may depend on the range: (range + 1) / 2 is range / 2, rounded as in
 * mestimate.
 * A(name, ID, title): another name of search ID.
 */
#define GPUME_SEARCHES_AND_ALIASES(S, A) \
    S(FS, fs, FULL, "full search", "",                                              \
      NONE, 0, none)                                                                \
    A(esa, FS, "exhaustive search, same as fs")                                     \
    S(TSS, tss, PATTERN, "three-step search",                                       \
      "Koga et al., NTC 1981", SQUARE, (range + 1) / 2, tss)                        \
    S(TDLS, tdls, PATTERN, "two-dimensional logarithmic search",                    \
      "Jain and Jain, IEEE T. Commun. 29(12), 1981", SMALL_DIAMOND, (range + 1) / 2, tdls) \
    S(NTSS, ntss, PATTERN, "new three-step search",                                 \
      "Li, Zeng and Liou, IEEE T. CSVT 4(4), 1994", SQUARE, (range + 1) / 2, ntss)  \
    S(FSS, fss, PATTERN, "four-step search",                                        \
      "Po and Ma, IEEE T. CSVT 6(3), 1996", SQUARE, 2, tdls)                        \
    S(DS, ds, PATTERN, "diamond search",                                            \
      "Zhu and Ma, IEEE T. Image Process. 9(2), 2000", LARGE_DIAMOND, 1, ds)        \
    S(HEXBS, hexbs, PATTERN, "hexagon-based search",                                \
      "Zhu, Lin and Chau, IEEE T. CSVT 12(5), 2002", HEXAGON, 1, ds)                \
    S(EPZS, epzs, PREDICTIVE, "enhanced predictive zonal search",                   \
      "Tourapis, SPIE 4671, 2002", SMALL_DIAMOND, 1, epzs)                          \
    S(UMH, umh, PREDICTIVE, "unsymmetrical-cross multi-hexagon-grid search",        \
      "Chen, Zhou and He, JVT-F017, 2002", HEXAGON, 1, ds)                          \
    S(HME, hme, HIERARCHICAL, "hierarchical search with propagation",               \
      "Bierling, SPIE 1001, 1988; de Haan et al., IEEE T. CSVT 3(5), 1993", NONE, 0, none)

#define GPUME_NO_ROW(...)
#define GPUME_SEARCHES(S) GPUME_SEARCHES_AND_ALIASES(S, GPUME_NO_ROW)

enum GpumeAlgo {
#define GPUME_ALGO(ID, ...) GPUME_ALGO_##ID,
    GPUME_SEARCHES(GPUME_ALGO)
#undef GPUME_ALGO
    GPUME_NB_ALGOS
};

enum GpumeSearchKind {
    GPUME_KIND_FULL,        ///< tries every admissible vector
    GPUME_KIND_PATTERN,     ///< tries one pattern after the other, from the zero vector on
    GPUME_KIND_PREDICTIVE,  ///< tries patterns, from the best of its predictors on
    GPUME_KIND_HIERARCHICAL,///< goes from small pictures to large ones, see propagation.h
};

GPUME_INLINE int gpume_kind(int algo)
{
    switch (algo) {
#define GPUME_KIND(ID, name, kind, ...) case GPUME_ALGO_##ID: return GPUME_KIND_##kind;
    GPUME_SEARCHES(GPUME_KIND)
#undef GPUME_KIND
    }
    return -1;
}

/**
 * Returns whether a field depends on earlier fields as well as on its two pictures. If not, a
 * stream can be searched in parts.
 */
GPUME_INLINE int gpume_has_memory(int algo)
{
    return algo == GPUME_ALGO_EPZS;
}

/*
 * Patterns: {dx, dy} in steps, relative to the centre, in the order tried.
 */

#define GPUME_SMALL_DIAMOND_POINTS 4
#define GPUME_SMALL_DIAMOND \
    { -1,  0 }, {  0, -1 }, {  1,  0 }, {  0,  1 }

#define GPUME_LARGE_DIAMOND_POINTS 8
#define GPUME_LARGE_DIAMOND \
    { -2,  0 }, { -1, -1 }, {  0, -2 }, {  1, -1 }, \
    {  2,  0 }, {  1,  1 }, {  0,  2 }, { -1,  1 }

#define GPUME_SQUARE_POINTS 8
#define GPUME_SQUARE \
    {  0, -1 }, {  0,  1 }, { -1,  0 }, {  1,  0 }, \
    { -1, -1 }, { -1,  1 }, {  1, -1 }, {  1,  1 }

#define GPUME_HEXAGON_POINTS 6
#define GPUME_HEXAGON \
    { -2,  0 }, { -1, -2 }, { -1,  2 }, {  1, -2 }, {  1,  2 }, {  2,  0 }

/** A hexagon of umh's grid. As in mestimate, the 16th point, (-4, -2), is missing. */
#define GPUME_GRID_HEXAGON_POINTS 15
#define GPUME_GRID_HEXAGON \
    { -4, -1 }, { -4,  0 }, { -4,  1 }, { -4,  2 }, {  4, -2 }, \
    {  4, -1 }, {  4,  0 }, {  4,  1 }, {  4,  2 }, { -2,  3 }, \
    {  0,  4 }, {  2,  3 }, { -2, -3 }, {  0, -4 }, {  2, -3 }

/** The patterns of searches: P(NAME) refers to GPUME_NAME and GPUME_NAME_POINTS. */
#define GPUME_PATTERNS(P) \
    P(SMALL_DIAMOND)      \
    P(LARGE_DIAMOND)      \
    P(SQUARE)             \
    P(HEXAGON)

/** Points of the largest pattern. */
#define GPUME_MAX_PATTERN_POINTS 8

enum GpumePatternId {
#define GPUME_PATTERN_ID(name) GPUME_PATTERN_##name,
    GPUME_PATTERNS(GPUME_PATTERN_ID)
#undef GPUME_PATTERN_ID
    GPUME_NB_PATTERNS,
    GPUME_PATTERN_NONE = GPUME_NB_PATTERNS
};

/** The next pattern of a pattern search. */
typedef struct GpumePatternState {
    int pattern;    ///< enum GpumePatternId
    int step;       ///< factor of its points, in samples, 1 to GPUME_MAX_RANGE / 2
    int x, y;       ///< the vector at its centre
    int phase;      ///< state of the search; initially 0
} GpumePatternState;

/*
 * Called when the pattern in s has been tried and (dx, dy) is the best vector so far. Set
 * the next pattern, or return 0 when the search is over.
 */

GPUME_INLINE int gpume_next_none(GpumePatternState *s, int dx, int dy, int range)
{
    return 0;
}

/** Three-step search: halves the step each time. */
GPUME_INLINE int gpume_next_tss(GpumePatternState *s, int dx, int dy, int range)
{
    s->step >>= 1;
    s->x = dx;
    s->y = dy;
    return s->step > 0;
}

/** Logarithmic and four-step search: halves the step when the centre is best. */
GPUME_INLINE int gpume_next_tdls(GpumePatternState *s, int dx, int dy, int range)
{
    if (dx == s->x && dy == s->y)
        s->step >>= 1;
    s->x = dx;
    s->y = dy;
    return s->step > 0;
}

/**
 * New three-step search: tries the eight neighbours of (0,0) after the first square. Ends if (0,0)
 * is still best, or after one more square if one of the neighbours is best.
 */
GPUME_INLINE int gpume_next_ntss(GpumePatternState *s, int dx, int dy, int range)
{
    enum { FIRST_SQUARE, NEXT_TO_ZERO, LAST_SQUARE, FURTHER_SQUARES };

    switch (s->phase) {
    case FIRST_SQUARE:
        s->phase = NEXT_TO_ZERO;
        s->step  = 1;
        return 1;
    case NEXT_TO_ZERO:
        if (!dx && !dy)
            return 0;
        s->x = dx;
        s->y = dy;
        if (dx >= -1 && dx <= 1 && dy >= -1 && dy <= 1) {
            s->phase = LAST_SQUARE;
            return 1;
        }
        s->phase = FURTHER_SQUARES;
        s->step  = (range + 1) / 4;
        return s->step > 0;
    case LAST_SQUARE:
        return 0;
    default:
        return gpume_next_tss(s, dx, dy, range);
    }
}

/** Diamond and hexagon search: continues until the centre is best, then tries a small diamond. */
GPUME_INLINE int gpume_next_ds(GpumePatternState *s, int dx, int dy, int range)
{
    if (s->pattern == GPUME_PATTERN_SMALL_DIAMOND)
        return 0;
    if (dx == s->x && dy == s->y)
        s->pattern = GPUME_PATTERN_SMALL_DIAMOND;
    s->x = dx;
    s->y = dy;
    return 1;
}

/** Last part of epzs: continues until the centre is best. */
GPUME_INLINE int gpume_next_epzs(GpumePatternState *s, int dx, int dy, int range)
{
    if (dx == s->x && dy == s->y)
        return 0;
    s->x = dx;
    s->y = dy;
    return 1;
}

/**
 * Begins a pattern search.
 * @param algo   a constant of enum GpumeAlgo, so that the compiler keeps only its case
 * @param dx, dy the best vector so far; (0,0) except for predictive searches
 */
GPUME_INLINE void gpume_pattern_begin(GpumePatternState *s, int algo, int dx, int dy, int range)
{
    s->x     = dx;
    s->y     = dy;
    s->phase = 0;
    switch (algo) {
#define GPUME_BEGIN(ID, name, kind, title, paper, first, first_step, next)  \
    case GPUME_ALGO_##ID:                                                   \
        s->pattern = GPUME_PATTERN_##first;                                 \
        s->step    = first_step;                                            \
        break;
    GPUME_SEARCHES(GPUME_BEGIN)
#undef GPUME_BEGIN
    }
}

/** Continues a pattern search with the function of algo, gpume_next_*(). */
GPUME_INLINE int gpume_pattern_next(GpumePatternState *s, int algo, int dx, int dy, int range)
{
    switch (algo) {
#define GPUME_NEXT(ID, name, kind, title, paper, first, first_step, next)   \
    case GPUME_ALGO_##ID:                                                   \
        return gpume_next_##next(s, dx, dy, range);
    GPUME_SEARCHES(GPUME_NEXT)
#undef GPUME_NEXT
    }
    return 0;
}

/*
 * Predictors. epzs and umh start from vectors that are already known: those of neighbours
 * in the same field, searched in raster order, and for epzs also those of the previous two
 * fields with a reference at the same distance. Neighbours are counted in blocks, so
 * partial blocks are treated like any other.
 */

typedef struct GpumeVector {
    short dx, dy;
} GpumeVector;

/** Number of fields of a reference that a predictive search keeps: the current one and the previous two. */
#define GPUME_NB_AGES 3

/** The vectors from which a block's predictors are computed. Missing vectors are (0,0). */
typedef struct GpumeNeighbours {
    GpumeVector left, top;
    GpumeVector corner;                             ///< vector of block gpume_corner()
    /* only for epzs: the previous field's vectors at and around this position */
    GpumeVector last;
    GpumeVector last_left, last_top, last_right, last_bottom;
    GpumeVector before_last;                        ///< the vector of the field before the previous one at this
                                                    ///< position
    int alone;      ///< nonzero: at most one of left, top and corner exists
} GpumeNeighbours;

/** Returns the number of blocks of the row above that must be known before block bx of bw is searched. */
GPUME_INLINE int gpume_needs_above(int bx, int bw)
{
    return bx + 2 < bw ? bx + 2 : bw;
}

/**
 * Returns the block of the row above that is the corner of block bx of bw: to the right; for umh,
 * in the last column, to the left. Negative if there is none.
 */
GPUME_INLINE int gpume_corner(int algo, int bx, int bw)
{
    return bx + 1 < bw ? bx + 1 : algo == GPUME_ALGO_UMH ? bx - 1 : -1;
}

/** Returns whether a block has at most one of left, top and corner. */
GPUME_INLINE int gpume_alone(int by, int bw)
{
    return by == 0 || bw == 1;
}

GPUME_INLINE int gpume_median(int a, int b, int c)
{
    const int low  = a < b ? a : b;
    const int high = a < b ? b : a;

    return c < low ? low : c > high ? high : c;
}

/** Number of predictors of a block. */
#define GPUME_UMH_PREDICTORS   5
#define GPUME_EPZS_PREDICTORS 11

/**
 * Lists the predictors in the order tried. Missing predictors are (0,0), which has then been tried;
 * inadmissible ones are skipped. The first is the median of left, top and corner, or the only one
 * of them that exists.
 */
GPUME_INLINE void gpume_umh_predictors(GpumeVector p[GPUME_UMH_PREDICTORS],
                                    const GpumeNeighbours *n)
{
    if (n->alone) {
        p[0].dx = n->left.dx + n->top.dx + n->corner.dx;
        p[0].dy = n->left.dy + n->top.dy + n->corner.dy;
    } else {
        p[0].dx = gpume_median(n->left.dx, n->top.dx, n->corner.dx);
        p[0].dy = gpume_median(n->left.dy, n->top.dy, n->corner.dy);
    }
    p[1].dx = p[1].dy = 0;
    p[2] = n->left;
    p[3] = n->top;
    p[4] = n->corner;
}

/** Lists these predictors, then those from previous fields: same block, extrapolated motion, neighbours. */
GPUME_INLINE void gpume_epzs_predictors(GpumeVector p[GPUME_EPZS_PREDICTORS],
                                     const GpumeNeighbours *n)
{
    gpume_umh_predictors(p, n);
    p[5]     = n->last;
    p[6].dx  = 2 * n->last.dx - n->before_last.dx;
    p[6].dy  = 2 * n->last.dy - n->before_last.dy;
    p[7]     = n->last_left;
    p[8]     = n->last_top;
    p[9]     = n->last_right;
    p[10]    = n->last_bottom;
}

/*
 * umh, between its predictors and its pattern search: a cross, a square, a grid of hexagons,
 * each around the vector that is best when it begins. Point k of a cross or a grid is
 * tried as the k-th.
 */

/** Number of points of the cross, which is twice as wide as high and has every second vector. */
GPUME_INLINE int gpume_umh_cross_points(int range)
{
    return (range + 1) / 2 * 2 + (range / 2 + 1) / 2 * 2;
}

GPUME_INLINE void gpume_umh_cross(int k, int range, int *dx, int *dy)
{
    /* four points at each distance up to the cross's height, then two */
    const int square   = (range / 2 + 1) / 2 * 4;
    const int beyond   = k - square;
    const int distance = beyond < 0 ? k / 4 * 2 + 1 : square / 2 + beyond / 2 * 2 + 1;
    const int vertical = beyond < 0 && k & 2;
    const int signed_distance = k & 1 ? distance : -distance;

    *dx = vertical ? 0 : signed_distance;
    *dy = vertical ? signed_distance : 0;
}

/** Number of rows of the square; the first row has the same number of columns. */
#define GPUME_UMH_ROWS 5
/** Maximum number of vectors of a row: each previous row can move the best vector 2 to the left. */
#define GPUME_UMH_MOST_POINTS(row)   (GPUME_UMH_ROWS + 2 * (row))
/** Maximum number of vectors of all previous rows. */
#define GPUME_UMH_POINTS_BEFORE(row) ((row) * (GPUME_UMH_ROWS - 1 + (row)))

/**
 * Returns the number of vectors of a row. The square has five rows, from centre - 2 to centre + 2,
 * each tried from left to right. As in mestimate, a row ends at centre + 2 but begins 2 to the left
 * of the best vector at that time.
 * @param best_dx   dx of the best vector when the row begins
 * @param centre_dx dx of the best vector when the square begins
 * @return the number of vectors; the first is best_dx - 2
 */
GPUME_INLINE int gpume_umh_row_points(int best_dx, int centre_dx)
{
    return centre_dx - best_dx + GPUME_UMH_ROWS;
}

GPUME_INLINE int gpume_umh_grid_points(int range)
{
    return range / 4 * GPUME_GRID_HEXAGON_POINTS;
}

/** Returns the index of a point in GPUME_GRID_HEXAGON, and sets the factor size. */
GPUME_INLINE int gpume_umh_grid_point(int k, int *size)
{
    *size = (unsigned)k / GPUME_GRID_HEXAGON_POINTS + 1;
    return  (unsigned)k % GPUME_GRID_HEXAGON_POINTS;
}

/**
 * Computes point k of the grid.
 * @param hexagon GPUME_GRID_HEXAGON in the backend's memory
 */
GPUME_INLINE void gpume_umh_grid(int k, const signed char hexagon[][2], int *dx, int *dy)
{
    int size;
    const int i = gpume_umh_grid_point(k, &size);

    *dx = hexagon[i][0] * size;
    *dy = hexagon[i][1] * size;
}

#endif /* AVFILTER_GPUME_CORE_SEARCHES_H */
