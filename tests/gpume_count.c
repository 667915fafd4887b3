/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Calls each function that has assembly code once, with usual arguments, between two marks. With an
 * emulator that lists instructions, bench/instructions.sh counts the instructions of each call.
 *
 * usage: gpume_count CPU_FLAGS     prints the functions in the order of their calls
 */

#include <stdio.h>
#include <string.h>

#include "config_components.h"

#include "libavutil/cpu.h"
#include "libavutil/frame.h"
#include "libavutil/lfg.h"
#include "libavutil/mem_internal.h"

#include "libavfilter/gpume/cpu/cost.h"
#include "libavfilter/gpume/cpu/pixels.h"
#include "libavfilter/gpume/cpu/sea.h"
#include "libavfilter/gpume/mvdenoise/samples.h"
#include "libavfilter/gpume/mvdenoise/transform.h"
#include "libavfilter/gpume/mvfps/mci.h"
#include "libavfilter/gpume/mvstab/dsp.h"
#include "libavfilter/gpume/mvstereo/dsp.h"
#include "libavfilter/gpume/mvview/canvas.h"

#define LINE 1024
#define ROWS 64
/** Number of samples of a row. */
#define WIDTH 320

static DECLARE_ALIGNED(64, uint8_t, cur)[ROWS * LINE];
static DECLARE_ALIGNED(64, uint8_t, ref)[ROWS * LINE];
static DECLARE_ALIGNED(64, uint8_t, out)[ROWS * LINE];
static DECLARE_ALIGNED(64, uint8_t, other)[ROWS * LINE];

void gpume_mark(void);

av_noinline void gpume_mark(void)
{
    __asm__ volatile ("" ::: "memory");
}

/* Calls the function twice: the loader and other initialization run in the first call, the second is counted. */
#define COUNT(name, call)       \
    do {                        \
        call;                   \
        gpume_mark();           \
        call;                   \
        gpume_mark();           \
        printf("%s\n", name);   \
    } while (0)

static av_noinline void count_costs(int depth, const char *const names[5], void (*init)(GpumeCost *, int))
{
    const uint8_t *refs[8];
    uint32_t sums[4];
    GpumeCost cost;

    init(&cost, depth);
    for (int i = 0; i < 8; i++)
        refs[i] = ref + 1 + i;
    COUNT(names[0], cost.one[4](cur, LINE, ref + 1, LINE, 8, UINT32_MAX));
    COUNT(names[1], cost.one[5](cur, LINE, ref + 1, LINE, 16, UINT32_MAX));
    COUNT(names[2], cost.four[4](cur, LINE, refs, LINE, 8, sums, UINT32_MAX));
    COUNT(names[3], cost.four[5](cur, LINE, refs, LINE, 16, sums, UINT32_MAX));
    if (names[4])
        COUNT(names[4], cost.means[5](cur, LINE, refs, LINE, 16, sums));
}

static av_noinline void count_sea(int depth, const char *name)
{
    const GpumeParams params = { .width = WIDTH, .height = ROWS, .block = 16, .depth = depth };
    GpumeSea sea;

    ff_gpume_sea_init(&sea, &params);
    COUNT(name, sea.columns((uint16_t *)out, (uint32_t *)other, cur, ref, WIDTH, 1));
}

static av_noinline void count_bound(void)
{
    const GpumeParams params = { .width = WIDTH, .height = ROWS, .block = 16, .depth = 8 };
    static uint16_t sums[2 * ROWS * 2 * WIDTH];
    uint64_t kept[GPUME_SEA_KEPT_WORDS(WIDTH)];
    GpumeSeaBounds b;
    GpumeSea sea;

    ff_gpume_sea_init(&sea, &params);
    COUNT("sums added, 320", sea.add((uint16_t *)out, (uint16_t *)cur, (uint16_t *)ref, WIDTH));
    for (int i = 0; i < FF_ARRAY_ELEMS(sums); i++)
        sums[i] = 1000;
    ff_gpume_sea_block(&sea, &b, (const uint8_t *)sums, 16, 16);
    b.nb_candidates = 32;
    memset(sums, 0, sizeof(sums));
    b.half_limit = b.quarter_limit = 0x10001 * 100;
    COUNT("bounds of 32 candidates, by halves", sea.bound(&b, (const uint8_t *)sums, 1, kept));
    b.half_limit = UINT32_MAX;
    COUNT("bounds of 32 candidates, by quarters, too", sea.bound(&b, (const uint8_t *)sums, 1, kept));
}

static av_noinline void count_pixels(void)
{
    const uint8_t *rows[6];
    GpumePixels pixels;
    GpumeChoice choice = { .own = { 5, 5 }, .min = { -64, -64 }, .max = { 64, 64 }, .threshold = 32,
                           .factor = 8, .shift = 5, .cost = 1000 };
    GpumeVector field[9];
    uint32_t bounds[16] = { 0 };

    for (int i = 0; i < 8; i++)
        choice.vectors[i] = field[i + (i >= 4)] = (GpumeVector) { i, 2 * i };
    field[4] = choice.own;
    for (int i = 0; i < 6; i++)
        rows[i] = cur + i * LINE;
    memset(other, 0, sizeof(other));
    ff_gpume_pixels_init(&pixels, 8);
    COUNT("half samples to the right, 320", pixels.right(out, cur, WIDTH, 255));
    COUNT("half samples below, 320", pixels.below(out, other, rows, WIDTH, 255));
    COUNT("half samples at centres, 320", pixels.centre(out, other, WIDTH, 255));
    COUNT("candidates of a pass, 16", pixels.candidates_at(&choice, field + 4, 3, bounds, 0));
}

#if CONFIG_MVVIEW_FILTER
static av_noinline void count_view(void)
{
    const AVFrame frame = { .width = 64, .height = 64 };
    MvviewCanvas c = { 0 };

    ff_mvview_canvas_init(&c, &frame, AV_PIX_FMT_YUV420P);
    COUNT("blending, 128", c.blend_8(out, cur, (uint16_t *)ref, (uint16_t *)other, 128));
    if (c.blend_rect_8)
        COUNT("blending, 8 rows of 16", c.blend_rect_8(out, LINE, ref, 16, 8));
    else
        COUNT("blending, 8 rows of 16", for (int y = 0; y < 8; y++)
              c.blend_8(out + y * LINE, out + y * LINE, (uint16_t *)ref, (uint16_t *)ref, 16));
    ff_mvview_canvas_init(&c, &frame, AV_PIX_FMT_YUV420P10);
    COUNT("blending, 128, 10 bits", c.blend_16(out, cur, (uint16_t *)ref, (uint32_t *)other, 128, 0));
}
#endif

#if CONFIG_MVFPS_FILTER
static av_noinline void count_mvfps(void)
{
    static DECLARE_ALIGNED(32, uint16_t, windows)[MVFPS_TILE_CELLS][MVFPS_TILE_SAMPLES];
    static DECLARE_ALIGNED(32, uint16_t, tiles)[4][MVFPS_TILE_SAMPLES];
    static DECLARE_ALIGNED(32, uint32_t, sum)[MVFPS_TILE_SAMPLES];
    static DECLARE_ALIGNED(32, uint32_t, weights)[MVFPS_TILE_SAMPLES];
    static MvfpsVector cells[30 * 20];
    const MvfpsFields fields = { 30, 20, cells, cells, cells, cells };
    const int at[2] = { 83, 38 };
    const uint8_t *middle = cur + 8 * LINE + 64;
    MvfpsVector v[24] = { { 0 } };
    int costs[24];
    MvfpsDsp dsp;

    ff_mvfps_dsp_init(&dsp, 1);
    for (int i = 0; i < MVFPS_TILE_SAMPLES; i++)
        windows[0][i] = windows[1][i] = windows[4][i] = windows[5][i] = 16;
    COUNT("a vector's SAD, in eighths, 8x8", dsp.sad(middle, ref + 64, LINE, 43, 17));
    COUNT("a pair of tiles, in sixteenths, 8x8", dsp.match(tiles, middle, middle + 1, LINE, at, 8, 8, 255));
    COUNT("mean of tiles, 8x8", dsp.mean(tiles[2], tiles[0], tiles[1], 20, 64));
    COUNT("a tile weighted, 4 cells, 8x8", dsp.add(sum, weights, tiles, windows, 0x33, 20, 100, 64, 1, 8));
    COUNT("a tile divided, 8x8", dsp.divide(tiles[2], sum, weights, 64, 8));
    if (dsp.store)
        COUNT("a tile stored, 8x8", dsp.store(out, LINE, tiles[2], 8, 8));
    COUNT("17 vectors from 8 neighbours", dsp.sum_distances(costs, v, 17, v));
    COUNT("16 vectors from 4 fields", dsp.field_penalties(costs, v, 16, &fields, 80, 40, 2048));
}
#endif

#if CONFIG_MVDENOISE_FILTER
/** Returns patch i of several patches, at a position between two samples. */
static MvdenoisePatch count_patch(int i)
{
    const uint8_t *from = cur + (16 + i) * LINE + 64 + 6 * i;

    return (MvdenoisePatch) { { from, from + 2 } };
}

static av_noinline void count_mvdenoise_matches(int depth, const char *name_read, const char *name_best)
{
    static MvdenoiseSource source = { .stride = LINE };
    static const unsigned long long penalties[16];
    MvdenoiseSearch search = { .penalties = penalties, .mask = 0x0f0f0f0f };
    LOCAL_ALIGNED_32(uint16_t, own, [MVDENOISE_SAMPLES]);
    MvdenoiseSamples s;

    ff_mvdenoise_samples_init(&s, depth);
    for (int i = 0; i < 16; i++)
        source.parts[i] = count_patch(i);
    for (int i = 0; i < 4; i++) {
        search.sources[i] = &source;
        search.limits[i]  = UINT64_MAX;
    }
    s.read(own, source.parts, LINE);
    if (name_read)
        COUNT(name_read, s.read(own, source.parts, LINE));
    COUNT(name_best, s.best(&search, own));
}

static av_noinline void count_mvdenoise_samples(void)
{
    static GpumeCellVector field[30 * 20];
    static const uint8_t window[MVDENOISE_PATCH] = { 12, 20, 24, 26, 26, 24, 20, 12 };
    const MvdenoiseSpot spot = { .beside = { 0, 7, 0, 7, -8, 15, 3 }, .rows = { 60, 60, 90, 90, 60, 60, 30 },
                                 .x = 80, .y = 20, .least = -12, .most_x = 244, .most_y = 164, .stride = LINE,
                                 .log2_cell = 3, .last_column = 29 };
    uint32_t sums[84] = { 0 }, weights[84] = { 0 };
    uint16_t patch_weights[20];
    MvdenoiseCandidates candidates;
    MvdenoiseSamples s;

    ff_mvdenoise_samples_init(&s, 8);
    for (int i = 0; i < FF_ARRAY_ELEMS(patch_weights); i++)
        patch_weights[i] = 100 + i;
    COUNT("vectors around a patch, 8", s.candidates(&candidates, field, &spot));
    COUNT("rows of 20 patches added", s.add(sums, weights, (uint16_t *)ref, patch_weights, 20, window));
}

static av_noinline void count_mvdenoise_space(int depth, const char *name_forward, const char *name_back)
{
    static DECLARE_ALIGNED(32, int32_t, coefs)[11 * MVDENOISE_SAMPLES];
    LOCAL_ALIGNED_32(uint16_t, dst, [MVDENOISE_SAMPLES]);
    MvdenoisePatch patches[10];
    MvdenoiseTransform t;

    ff_mvdenoise_transform_init(&t, depth);
    for (int i = 0; i < FF_ARRAY_ELEMS(patches); i++)
        patches[i] = count_patch(i);
    COUNT(name_forward, t.over_space(coefs, patches, LINE, 10, 100, mvdenoise_fraction(depth)));
    if (name_back)
        COUNT(name_back, t.back(dst, coefs, 400, 1020));
}

static av_noinline void count_mvdenoise_time(int nb, const char *name_threshold, const char *name_wiener)
{
    static DECLARE_ALIGNED(32, int16_t, coefs)[2 * MVDENOISE_MAX_STACK * MVDENOISE_SAMPLES];
    static DECLARE_ALIGNED(32, int16_t, dst)[MVDENOISE_SAMPLES];
    const MvdenoiseNoise noise   = mvdenoise_noise(10 * MVDENOISE_SIGMA_ONE, 8);
    const MvdenoiseRatios ratios = mvdenoise_ratios(noise.sigma, 0, 8);
    MvdenoiseTransform t;

    ff_mvdenoise_transform_init(&t, 8);
    for (int i = 0; i < FF_ARRAY_ELEMS(coefs); i++)
        coefs[i] = (cur[i] - 128) * 16;
    COUNT(name_threshold, t.threshold(dst, coefs, nb, nb / 2, noise.threshold[0], noise.threshold[1]));
    COUNT(name_wiener, t.wiener(dst, coefs, nb, nb / 2, ratios.most, ratios.reciprocal));
}

static av_noinline void count_mvdenoise(void)
{
    count_mvdenoise_samples();
    count_mvdenoise_matches(8,  "a patch read, 8x8", "a patch and 16 candidates, 8x8");
    count_mvdenoise_matches(10, "a patch read, 8x8, 10 bits", "a patch and 16 candidates, 8x8, 10 bits");
    count_mvdenoise_matches(16, NULL, "a patch and 16 candidates, 8x8, 16 bits");
    count_mvdenoise_space(8,  "10 patches transformed, 8x8", "a patch transformed back, 8x8");
    count_mvdenoise_space(10, "10 patches transformed, 8x8, 10 bits", NULL);
    count_mvdenoise_space(16, "10 patches transformed, 8x8, 16 bits", NULL);
    count_mvdenoise_time(5, "a stack of 5, by a threshold", "a stack of 5, by the Wiener filter");
    count_mvdenoise_time(9, "a stack of 9, by a threshold", "a stack of 9, by the Wiener filter");
}
#endif

#if CONFIG_MVSTAB_FILTER
static av_noinline void count_mvstab(int depth, const char *name)
{
    static MvstabSource src[WIDTH];
    MvstabDSP dsp;

    ff_mvstab_dsp_init(&dsp, depth);
    for (int i = 0; i < WIDTH; i++)
        src[i] = (MvstabSource) { ref + 2 * i, i % 64, 7 * i % 64 };
    COUNT(name, dsp.warp(out, src, LINE, ff_mvstab_taps, WIDTH, (1 << depth) - 1));
}
#endif

#if CONFIG_MVSTEREO_FILTER
static av_noinline void count_mvstereo(void)
{
    enum { RANGE = 128, STEP = RANGE + MVSTEREO_LANES };
    static uint8_t left[MVSTEREO_FEATURES], right[MVSTEREO_FEATURES * RANGE], costs[RANGE], least[2], p2;
    static uint8_t paths[4][2 * STEP + MVSTEREO_LANES];
    static uint16_t right_least[RANGE], right_index[RANGE];
    static DECLARE_ALIGNED(32, uint16_t, sums)[RANGE];
    static int16_t disparity[9 * 64], dst[32];
    static uint8_t luma[9 * 64], valid[9 * 64];
    const MvstereoCosts c = { costs, left, right, 1, RANGE, 1, RANGE };
    const MvstereoPath path = { paths[0] + STEP + MVSTEREO_LANES, paths[0] + MVSTEREO_LANES, costs, &p2, &least[1],
                                &least[0], STEP, RANGE, 1, 1, RANGE };
    const MvstereoSums s = { { paths[0], paths[1], paths[2], paths[3] }, sums, right_least, right_index, RANGE, 0 };
    const MvstereoMedian m = { dst, disparity + 4 * 64 + 8, luma + 4 * 64 + 8, valid + 4 * 64 + 8, 64, 16 };
    MvstereoDSP dsp;

    ff_mvstereo_dsp_init(&dsp);
    for (int i = 0; i < sizeof(right); i++)
        right[i] = cur[i] & 15;
    for (int i = 0; i < 9 * 64; i++) {
        disparity[i] = 400 + (cur[i] & 31);
        luma[i]      = cur[i] >> 2;
        valid[i]     = 255;
    }
    COUNT("costs of 128 disparities", dsp.costs(&c));
    COUNT("a step of a path, 128 disparities", dsp.path(&path));
    COUNT("four paths added, 128 disparities", dsp.sum(&s));
    COUNT("16 weighted medians of 9x9", dsp.weighted_median(&m));
}
#endif

int main(int argc, char **argv)
{
    static const char *const sad[]    = { "SAD, 8x8", "SAD, 16x16", "4 SADs, 8x8", "4 SADs, 16x16",
                                          "4 SADs of means, 16x16" };
    static const char *const sad_10[] = { "SAD, 8x8, 10 bits", "SAD, 16x16, 10 bits", "4 SADs, 8x8, 10 bits",
                                          "4 SADs, 16x16, 10 bits", NULL };
    static const char *const satd[]    = { "SATD, 8x8", "SATD, 16x16", "4 SATDs, 8x8", "4 SATDs, 16x16", NULL };
    static const char *const satd_10[] = { "SATD, 8x8, 10 bits", "SATD, 16x16, 10 bits", "4 SATDs, 8x8, 10 bits",
                                           "4 SATDs, 16x16, 10 bits", NULL };
    unsigned flags = 0;
    AVLFG lfg;

    av_log_set_level(AV_LOG_ERROR);
    if (argc != 2 || av_parse_cpu_caps(&flags, argv[1]) < 0)
        return 1;
    if ((flags & av_get_cpu_flags()) != flags)
        return 77;
    av_force_cpu_flags(flags);
    av_lfg_init(&lfg, 1);
    for (int i = 0; i < sizeof(cur); i++) {
        cur[i] = av_lfg_get(&lfg);
        ref[i] = av_lfg_get(&lfg);
    }
    count_costs(8,  sad,     ff_gpume_sad_init);
    count_costs(10, sad_10,  ff_gpume_sad_init);
    count_costs(8,  satd,    ff_gpume_satd_init);
    count_costs(10, satd_10, ff_gpume_satd_init);
    count_sea(8,  "sums of columns, 320");
    count_sea(10, "sums of columns, 320, 10 bits");
    count_bound();
    count_pixels();
#if CONFIG_MVVIEW_FILTER
    count_view();
#endif
#if CONFIG_MVFPS_FILTER
    count_mvfps();
#endif
#if CONFIG_MVDENOISE_FILTER
    count_mvdenoise();
#endif
#if CONFIG_MVSTAB_FILTER
    count_mvstab(8,  "a warp, 320");
    count_mvstab(10, "a warp, 320, 10 bits");
#endif
#if CONFIG_MVSTEREO_FILTER
    count_mvstereo();
#endif
    return 0;
}
