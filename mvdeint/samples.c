/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/macros.h"
#include "libavutil/mem_internal.h"
#include "libavutil/thread.h"

#include "libavfilter/gpume/mvdeint/samples.h"
#include "libavfilter/gpume/util/assembly.h"

const uint8_t ff_mvdeint_window[3][MVDEINT_BLOCK] = { MVDEINT_WINDOW };

const uint16_t ff_mvdeint_power[256 + 1] = {
    4072, 4025, 3979, 3934, 3889, 3846, 3803, 3761, 3719, 3679, 3639, 3600, 3562, 3524, 3487, 3451, 3415, 3380, 3345,
    3311, 3278, 3245, 3213, 3181, 3150, 3119, 3089, 3059, 3030, 3001, 2973, 2945, 2917, 2890, 2863, 2837, 2811, 2786,
    2761, 2736, 2712, 2688, 2664, 2641, 2618, 2596, 2573, 2551, 2530, 2508, 2487, 2466, 2446, 2426, 2406, 2386, 2367,
    2348, 2329, 2310, 2292, 2274, 2256, 2238, 2221, 2204, 2187, 2170, 2153, 2137, 2121, 2105, 2089, 2074, 2058, 2043,
    2028, 2014, 1999, 1984, 1970, 1956, 1942, 1928, 1915, 1901, 1888, 1875, 1862, 1849, 1837, 1824, 1812, 1799, 1787,
    1775, 1763, 1752, 1740, 1729, 1717, 1706, 1695, 1684, 1673, 1662, 1652, 1641, 1631, 1621, 1610, 1600, 1590, 1581,
    1571, 1561, 1552, 1542, 1533, 1523, 1514, 1505, 1496, 1487, 1478, 1470, 1461, 1452, 1440, 1423, 1407, 1391, 1375,
    1360, 1344, 1330, 1315, 1301, 1287, 1273, 1259, 1246, 1233, 1220, 1207, 1195, 1183, 1171, 1159, 1147, 1136, 1125,
    1114, 1103, 1092, 1082, 1071, 1061, 1051, 1041, 1031, 1022, 1012, 1003, 994, 985, 976, 967, 959, 950, 942, 934,
    926, 918, 910, 902, 894, 887, 879, 872, 865, 858, 851, 844, 837, 830, 823, 817, 810, 804, 798, 791, 785, 779,
    773, 767, 761, 756, 750, 744, 739, 733, 728, 722, 717, 712, 707, 702, 697, 692, 687, 682, 677, 672, 668, 663,
    658, 654, 649, 645, 640, 636, 632, 628, 623, 619, 615, 611, 607, 603, 599, 595, 592, 588, 584, 580, 577, 573,
    569, 566, 562, 559, 555, 552, 549, 545, 542, 539, 535, 532, 529, 526, 523, 520, 517, 514,
};

const uint16_t ff_mvdeint_inverse[128 + 1] = {
    4080, 4049, 4018, 3987, 3957, 3927, 3898, 3869, 3841, 3813, 3785, 3758, 3732, 3705, 3679, 3654, 3628, 3603, 3579,
    3554, 3531, 3507, 3484, 3461, 3438, 3416, 3393, 3372, 3350, 3329, 3308, 3287, 3267, 3246, 3226, 3207, 3187, 3168,
    3149, 3130, 3112, 3093, 3075, 3057, 3039, 3022, 3005, 2987, 2970, 2954, 2937, 2921, 2905, 2889, 2873, 2857, 2842,
    2826, 2811, 2796, 2781, 2767, 2752, 2738, 2724, 2709, 2696, 2682, 2668, 2655, 2641, 2628, 2615, 2602, 2589, 2576,
    2564, 2551, 2539, 2527, 2515, 2503, 2491, 2479, 2467, 2456, 2444, 2433, 2422, 2411, 2399, 2389, 2378, 2367, 2356,
    2346, 2335, 2325, 2315, 2305, 2294, 2284, 2275, 2265, 2255, 2245, 2236, 2226, 2217, 2208, 2198, 2189, 2180, 2171,
    2162, 2153, 2144, 2136, 2127, 2118, 2110, 2101, 2093, 2085, 2076, 2068, 2060, 2052,
};

static const int8_t match_taps[8][6] = { MVDEINT_TAPS };

const int16_t ff_mvdeint_taps[MVDEINT_CLASSES][MVDEINT_INTRA_LINES * MVDEINT_INTRA_COLUMNS] = {
#include "libavfilter/gpume/mvdeint/taps.h"
};

DECLARE_ALIGNED(32, int16_t, ff_mvdeint_line_taps)[MVDEINT_CLASSES][MVDEINT_INTRA_LINES][16];

static void blend(uint16_t *dst, ptrdiff_t dst_stride, const uint16_t *const *areas, const unsigned (*fits)[4],
                  const uint8_t *wx, const uint8_t *wy, int w, int h)
{
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const int at = y * MVDEINT_BLOCK + x;
            const int samples[4] = { areas[0][at], areas[1][at], areas[2][at], areas[3][at] };

            dst[y * dst_stride + x] = mvdeint_blend(samples, fits[y / 2], wx[x], wy[y]);
        }
}

static void known(uint8_t *dst, ptrdiff_t stride, const int *halves, const uint8_t *wx, const uint8_t *wy, int w,
                  int h)
{
    for (int y = 0; y < h; y++, dst += stride)
        for (int x = 0; x < w; x++) {
            const int sum = (64 - wy[y]) * (64 * halves[0] + wx[x] * (halves[1] - halves[0])) +
                            wy[y] * (64 * halves[2] + wx[x] * (halves[3] - halves[2]));

            dst[x] = ((y & 1 ? 4096 * MVDEINT_KNOWN / 2 - sum : sum) + 1024) >> 11;
        }
}

uint16_t ff_mvdeint_reciprocals[MVDEINT_MAX_WEIGHTS + 2];

static void mean(uint32_t *dst, const MvdeintSums *sums, int w)
{
    uint32_t *s = sums->squares;
    uint16_t *n = sums->weights;

    mvdeint_repeat_sums(sums, w);
    for (int x = 0; x < w; x++)
        dst[x] = mvdeint_mean(s[x - 2] + s[x - 1] + s[x] + s[x + 1] + s[x + 2],
                              ff_mvdeint_reciprocals[n[x - 2] + n[x - 1] + n[x] + n[x + 1] + n[x + 2]]);
}

static void mean_activity(uint32_t *dst, const uint32_t *squares, int w)
{
    uint32_t *s = (uint32_t *)squares;

    s[-1] = s[0];
    s[w]  = s[w - 1];
    for (int x = 0; x < w; x++)
        dst[x] = mvdeint_sixth(s[x - 1] + s[x] + s[x + 1]);
}

#define SAMPLE uint8_t
#define FUNC(name) name ## _8
#include "samples_template.c"
#undef SAMPLE
#undef FUNC
#define SAMPLE uint16_t
#define FUNC(name) name ## _16
#include "samples_template.c"

static av_cold void init_tables(void)
{
    for (int i = MVDEINT_LEAST_KNOWN; i <= MVDEINT_MAX_WEIGHTS; i++)
        ff_mvdeint_reciprocals[i] = mvdeint_reciprocal(i);
    for (int i = 0; i < MVDEINT_CLASSES; i++)
        for (int j = 0; j < MVDEINT_INTRA_LINES; j++)
            memcpy(ff_mvdeint_line_taps[i][j], ff_mvdeint_taps[i] + j * MVDEINT_INTRA_COLUMNS,
                   MVDEINT_INTRA_COLUMNS * sizeof(**ff_mvdeint_taps));
}

/* assembly code, which needs 64-bit pointers, depends on these layouts and numbers */
#if ARCH_X86_64 || ARCH_AARCH64
static_assert(offsetof(MvdeintSums, weights) == 8 && MVDEINT_LEAST_KNOWN == 2 && MVDEINT_MAX_WEIGHTS == 180 &&
              offsetof(MvdeintRow, depth) == 4 && offsetof(MvdeintRow, candidates) == 16 &&
              sizeof(MvdeintCandidate) == 24 &&
              offsetof(MvdeintCandidate, known) == 8 && offsetof(MvdeintCandidate, error) == 16 &&
              offsetof(MvdeintRow, first) == 112 &&
              offsetof(MvdeintRow, intra) == 120 && offsetof(MvdeintRow, activity) == 128 &&
              offsetof(MvdeintRow, step) == 136 && offsetof(MvdeintRow, model) == 144 &&
              sizeof(MvdeintCompensated) == 24 && offsetof(MvdeintModel, intra) == 48 &&
              sizeof(MvdeintIntra) == 20 && MVDEINT_KNOWN == 16 && MVDEINT_MAX_DIFFERENCE == 1023 &&
              offsetof(MvdeintLines, below3) == 24 && offsetof(MvdeintLines, before_above) == 32 &&
              offsetof(MvdeintLines, after_below) == 56 && offsetof(MvdeintLines, earlier) == 64 &&
              offsetof(MvdeintLines, later) == 104 &&
              sizeof(MvdeintChange) == 12 && MVDEINT_MIXED == 192 && MVDEINT_DETAIL == 6 && MVDEINT_RESIDUAL == 77 &&
              MVDEINT_INTRA_LINES == 4 && MVDEINT_INTRA_COLUMNS == 9, "assembly code has them so");
#endif

av_cold void ff_mvdeint_samples_init(MvdeintSamples *s, int depth)
{
    static AVOnce once = AV_ONCE_INIT;

    ff_thread_once(&once, init_tables);
    *s = (MvdeintSamples) { .blend = blend, .known = known, .mean = mean, .mean_activity = mean_activity };
#define SET(n)                               \
    do {                                     \
        s->estimate     = estimate_ ## n;     \
        s->intra        = intra_ ## n;        \
        s->mix          = mix_ ## n;          \
        s->weave        = weave_ ## n;        \
        s->match        = match_ ## n;        \
        s->compare      = compare_ ## n;      \
        s->fits         = fits_ ## n;         \
        s->residual     = residual_ ## n;     \
        s->errors       = errors_ ## n;       \
        s->add_activity = add_activity_ ## n; \
        s->square_step  = square_step_ ## n;  \
        s->combine      = combine_ ## n;      \
        s->limit        = limit_ ## n;        \
    } while (0)
    if (depth > 8)
        SET(16);
    else
        SET(8);
    GPUME_INIT_ASSEMBLY(ff_mvdeint_samples_init, s, depth);
}

void ff_mvdeint_estimate_8(uint8_t *dst, uint8_t *reach, const MvdeintLines *l, int w, enum MvdeintKind kind, int max)
{
    estimate_8(dst, reach, l, w, kind, max);
}

void ff_mvdeint_combine_8(uint8_t *dst, const MvdeintRow *row)
{
    combine_8(dst, row);
}

void ff_mvdeint_combine_16(uint8_t *dst, const MvdeintRow *row)
{
    combine_16(dst, row);
}
