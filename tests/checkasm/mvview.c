/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests the functions of mvview that have assembly code (gpume.c).
 */

#include <string.h>

#include "checkasm.h"
#include "vf_gpume.h"

#include "libavfilter/gpume/mvview/canvas.h"
#include "libavutil/common.h"
#include "libavutil/cpu.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem_internal.h"

/* Rows of words with weights for mvview, followed by words that must not change. */
#define BLEND_WORDS  (16 * MVVIEW_PAD)
#define BLEND_MARGIN 32

typedef struct Blend {
    uint16_t mul[BLEND_WORDS], add_8[BLEND_WORDS];
    uint32_t add_16[BLEND_WORDS];
    uint8_t src[2 * BLEND_WORDS + BLEND_MARGIN];
    uint8_t dst[2][2 * BLEND_WORDS + BLEND_MARGIN];
} Blend;

/** Draws words of depth bits, bits below them, and weights as shapes or the flow have. */
static void draw_blend(Blend *b, int depth)
{
    const int max = (1 << depth) - 1;

    for (int i = 0; i < sizeof(b->src); i++) {
        b->src[i]    = rnd();
        b->dst[0][i] = b->dst[1][i] = rnd();
    }
    for (int i = 0; i < BLEND_WORDS; i++) {
        const int weight  = rnd() & 1 ? rnd() % 257 : rnd() & 1 ? 256 : 0;
        const int colour  = rnd() & 1 ? rnd() & max : rnd() & 1 ? max : 0;

        b->mul[i]    = 256 - weight;
        b->add_16[i] = weight ? weight * colour + 128 : 0;
        b->add_8[i]  = b->add_16[i];
    }
}

static MvviewCanvas blend_canvas(enum AVPixelFormat format)
{
    const AVFrame frame = { .width = 64, .height = 64 };
    MvviewCanvas c = { 0 };

    ff_mvview_canvas_init(&c, &frame, format);
    return c;
}

static void check_blend_8(void)
{
    const MvviewCanvas c = blend_canvas(AV_PIX_FMT_YUV420P);
    static Blend b;
    declare_func(void, uint8_t *dst, const uint8_t *src, const uint16_t *mul,
                 const uint16_t *add, ptrdiff_t n);

    if (!check_func(c.blend_8, "mvview_blend_8"))
        return;
    for (int n = MVVIEW_PAD; n <= BLEND_WORDS; n += MVVIEW_PAD) {
        draw_blend(&b, 8);
        call_ref(b.dst[0], b.src, b.mul, b.add_8, n);
        call_new(b.dst[1], b.src, b.mul, b.add_8, n);
        if (memcmp(b.dst[0], b.dst[1], sizeof(b.dst[0])))
            fail();
    }
    bench_new(b.dst[1], b.src, b.mul, b.add_8, BLEND_WORDS);
}

static void check_blend_16(enum AVPixelFormat format)
{
    const MvviewCanvas c = blend_canvas(format);
    static Blend b;
    declare_func(void, uint8_t *dst, const uint8_t *src, const uint16_t *mul,
                 const uint32_t *add, ptrdiff_t n, int shift);

    if (!check_func(c.blend_16, "mvview_blend_16_%d", c.depth))
        return;
    for (int n = MVVIEW_PAD; n <= BLEND_WORDS; n += MVVIEW_PAD) {
        draw_blend(&b, c.depth);
        call_ref(b.dst[0], b.src, b.mul, b.add_16, n, c.shift);
        call_new(b.dst[1], b.src, b.mul, b.add_16, n, c.shift);
        if (memcmp(b.dst[0], b.dst[1], sizeof(b.dst[0])))
            fail();
    }
    bench_new(b.dst[1], b.src, b.mul, b.add_16, BLEND_WORDS, c.shift);
}

/* There is no C version; compares with a C function for rows. */
static void check_blend_rect_8(void)
{
    enum { N = BLEND_WORDS / 4, H = 5, LINE = N + BLEND_MARGIN };
    const MvviewCanvas c = blend_canvas(AV_PIX_FMT_YUV420P);
    static uint16_t weights[H * 2 * N];
    static uint8_t dst[2][H * LINE];
    static Blend b;
    declare_func(void, uint8_t *dst, ptrdiff_t linesize, const uint8_t *weights, ptrdiff_t n, int h);

    if (!c.blend_rect_8 || !check_func(c.blend_rect_8, "mvview_blend_rect_8"))
        return;
    for (int n = MVVIEW_PAD; n <= N; n += MVVIEW_PAD) {
        for (int i = 0; i < sizeof(dst[0]); i++)
            dst[0][i] = dst[1][i] = rnd();
        for (int y = 0; y < H; y++) {
            draw_blend(&b, 8);
            memcpy(weights + y * 2 * n,     b.mul,   2 * n);
            memcpy(weights + y * 2 * n + n, b.add_8, 2 * n);
            for (int x = 0; x < n; x++)
                dst[0][y * LINE + x] = (dst[0][y * LINE + x] * b.mul[x] + b.add_8[x]) >> 8;
        }
        call_new(dst[1], LINE, (const uint8_t *)weights, n, H);
        if (memcmp(dst[0], dst[1], sizeof(dst[0])))
            fail();
    }
    bench_new(dst[1], LINE, (const uint8_t *)weights, N, H);
}

void checkasm_check_mvview(void)
{
    check_blend_8();
    check_blend_16(AV_PIX_FMT_YUV420P10);
    check_blend_16(AV_PIX_FMT_P012);
    check_blend_16(AV_PIX_FMT_YUV444P16);
    check_blend_rect_8();
    report("blend");
}
