/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests the functions of mvstereo that have assembly code (gpume.c).
 */

#include <string.h>

#include "checkasm.h"
#include "vf_gpume.h"

#include "libavfilter/gpume/mvstereo/dsp.h"
#include "libavutil/common.h"
#include "libavutil/cpu.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem_internal.h"

#define STEREO_RANGE 96
#define STEREO_NB    7
#define STEREO_STEP  (STEREO_RANGE + MVSTEREO_LANES)

static void draw_bytes(uint8_t *p, size_t size, int nb)
{
    for (size_t i = 0; i < size; i++)
        p[i] = rnd() % nb;
}

static void check_mvstereo_costs(const MvstereoDSP *dsp)
{
    static uint8_t left[MVSTEREO_FEATURES][32], right[MVSTEREO_FEATURES][STEREO_RANGE + 64];
    LOCAL_ALIGNED_32(uint8_t, costs, [2], [STEREO_NB * STEREO_RANGE]);
    MvstereoCosts c = {
        .left = left[0] + 3, .right = right[0] + STEREO_NB + 2, .left_plane = sizeof(left[0]),
        .right_plane = sizeof(right[0]),
    };
    declare_func(void, const MvstereoCosts *c);

    if (!check_func(dsp->costs, "mvstereo_costs"))
        return;
    for (int i = 0; i < 64; i++) {
        draw_bytes(left[0], MVSTEREO_NIBBLES * sizeof(left[0]), 16);
        draw_bytes(right[0], MVSTEREO_NIBBLES * sizeof(right[0]), 16);
        draw_bytes(left[MVSTEREO_NIBBLES], 2 * sizeof(left[0]), i & 1 ? 256 : 30);
        draw_bytes(right[MVSTEREO_NIBBLES], 2 * sizeof(right[0]), i & 1 ? 256 : 30);
        memset(costs, 99, sizeof(costs[0]) * 2);
        c.nb    = 1 + i % STEREO_NB;
        c.range = MVSTEREO_LANES * (1 + i % 3);
        c.costs = costs[0];
        call_ref(&c);
        c.costs = costs[1];
        call_new(&c);
        if (memcmp(costs[0], costs[1], sizeof(costs[0])))
            fail();
    }
    c.nb = STEREO_NB;
    bench_new(&c);
}

static void check_mvstereo_path(const MvstereoDSP *dsp)
{
    LOCAL_ALIGNED_32(uint8_t, paths, [2], [(STEREO_NB + 2) * STEREO_STEP + MVSTEREO_LANES]);
    LOCAL_ALIGNED_32(uint8_t, costs, [STEREO_NB * STEREO_RANGE]);
    uint8_t least[2][STEREO_NB + 2], p2[STEREO_NB];
    declare_func(void, const MvstereoPath *p);

    if (!check_func(dsp->path, "mvstereo_path"))
        return;
    for (int i = 0; i < 64; i++) {
        const int range = MVSTEREO_LANES * (1 + i % 3), step = range + MVSTEREO_LANES, back = i & 1;
        /* after windows that have nothing in common, the least cost can be as large as that */
        const int base = i % 4 ? 74 : 214;
        MvstereoPath p = {
            .costs = costs + (back ? (STEREO_NB - 1) * range : 0), .p2 = p2 + (back ? STEREO_NB - 1 : 0),
            .path_step = back ? -step : step, .costs_step = back ? -range : range, .step = back ? -1 : 1,
            .nb = STEREO_NB, .range = range,
        };

        draw_bytes(costs, STEREO_NB * STEREO_RANGE, 75);
        for (int k = 0; k < STEREO_NB; k++)
            p2[k] = mvstereo_p2(rnd() % 40);
        memset(paths[0], 255, sizeof(paths[0]));
        memset(least[0], 0, sizeof(least[0]));
        least[0][back ? STEREO_NB + 1 : 0] = base;
        for (int k = 0; k < range; k++) {
            uint8_t *first = paths[0] + MVSTEREO_LANES + (back ? STEREO_NB + 1 : 0) * step + k;

            /* 255: what the window before does not have */
            *first = base > 74 ? rnd() % 3 ? 255 : 214 : rnd() % 141 + 74;
            if (k == i)
                *first = base;
        }
        memcpy(paths[1], paths[0], sizeof(paths[0]));
        memcpy(least[1], least[0], sizeof(least[0]));
        for (int v = 0; v < 2; v++) {
            p.path         = paths[v] + MVSTEREO_LANES + (back ? STEREO_NB : 1) * step;
            p.before       = p.path - p.path_step;
            p.least        = least[v] + (back ? STEREO_NB : 1);
            p.least_before = p.least - p.step;
            if (v) {
                call_new(&p);
            } else {
                call_ref(&p);
            }
        }
        if (memcmp(paths[0], paths[1], sizeof(paths[0])) || memcmp(least[0], least[1], sizeof(least[0])))
            fail();
        if (i == 63)
            bench_new(&p);
    }
}

static void check_mvstereo_sums(const MvstereoDSP *dsp)
{
    LOCAL_ALIGNED_32(uint8_t, paths, [4], [STEREO_RANGE]);
    LOCAL_ALIGNED_32(uint16_t, sums, [2], [STEREO_RANGE]);
    uint16_t right[2][2][STEREO_RANGE + 1];
    MvstereoSums s = { .paths = { paths[0], paths[1], paths[2], paths[3] } };
    int least[2];

    if (check_func(dsp->sum, "mvstereo_sum")) {
        declare_func(int, const MvstereoSums *s);

        for (int i = 0; i < 64; i++) {
            s.range = MVSTEREO_LANES * (1 + i % 3);
            draw_bytes(paths[0], 4 * sizeof(paths[0]), i & 1 ? 215 : 20);
            for (int k = 0; k <= STEREO_RANGE; k++) {
                right[0][0][k] = rnd() & 1 ? INT16_MAX : rnd() % 860;
                right[0][1][k] = rnd() % 1024;
            }
            memcpy(right[1], right[0], sizeof(right[0]));
            memset(sums, 0, 2 * sizeof(sums[0]));
            for (int v = 0; v < 2; v++) {
                s.sums        = sums[v];
                s.right_least = right[v][0] + 1;
                s.right_index = right[v][1] + 1;
                if (v) {
                    least[v] = call_new(&s);
                } else {
                    least[v] = call_ref(&s);
                }
            }
            if (least[0] != least[1] || memcmp(sums[0], sums[1], sizeof(sums[0])) ||
                memcmp(right[0], right[1], sizeof(right[0])))
                fail();
        }
        bench_new(&s);
    }
}

static void check_mvstereo_weighted_median(const MvstereoDSP *dsp)
{
    enum { MAP_W = 80, NB = 37, FIRST = 4 * MAP_W + 8 };
    static int16_t disparity[9 * MAP_W], dst[2][64];
    static uint8_t luma[9 * MAP_W], valid[9 * MAP_W];
    MvstereoMedian m = {
        .disparity = disparity + FIRST, .luma = luma + FIRST, .valid = valid + FIRST, .stride = MAP_W,
    };
    declare_func(void, const MvstereoMedian *m);

    if (!check_func(dsp->weighted_median, "mvstereo_weighted_median"))
        return;
    for (int i = 0; i < 64; i++) {
        const int base = rnd() % 16000, range = 1 << rnd() % 14;

        for (int k = 0; k < 9 * MAP_W; k++) {
            const int value = base + rnd() % range;

            /* FFMIN() evaluates its arguments twice */
            disparity[k] = FFMIN(value, MVSTEREO_MAX_RANGE * MVSTEREO_ONE - 1);
            valid[k]     = i & 1 && rnd() & 1 ? 0 : 255;
        }
        draw_bytes(luma, sizeof(luma), 1 << (i % 9));
        m.nb = 1 + i % NB;
        for (int v = 0; v < 2; v++) {
            m.dst = dst[v];
            if (v) {
                call_new(&m);
            } else {
                call_ref(&m);
            }
        }
        if (memcmp(dst[0], dst[1], m.nb * sizeof(dst[0][0])))
            fail();
    }
    m.nb = 32;
    bench_new(&m);
}

void checkasm_check_mvstereo(void)
{
    MvstereoDSP dsp;

    ff_mvstereo_dsp_init(&dsp);
    check_mvstereo_costs(&dsp);
    check_mvstereo_path(&dsp);
    check_mvstereo_sums(&dsp);
    check_mvstereo_weighted_median(&dsp);
    report("mvstereo");
}
