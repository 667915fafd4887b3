/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests how mvdeint decides which field of unmarked frames comes first: the evidence of two frames, compared with that
 * of doc/mvdeint-definition.md, and the decision for pans, still pictures and noise, in both orders.
 */

#ifndef GPUME_DEINT_ORDER_H
#define GPUME_DEINT_ORDER_H

#include <stdlib.h>

#include "libavfilter/gpume/mvdeint/order.h"
#include "libavutil/common.h"
#include "libavutil/frame.h"

#include "gpume_harness.h"
#include "gpume_filter_harness.h"

typedef enum OrderContent { ORDER_PAN, ORDER_STILL, ORDER_NOISE, ORDER_NB } OrderContent;

typedef struct OrderCase {
    uint64_t seed;
    OrderContent content;
    TestShape shape;
    int mx, my;             ///< motion from field to field, in quarter samples
    int bottom_first;
} OrderCase;

/* Returns frame n. */
static AVFrame *order_frame(const OrderCase *c, int n, TestRandom *r)
{
    AVFrame *f = test_canaries(&c->shape, r);
    const int pad = c->shape.depth - 8 + test_component(&c->shape, 0)->shift;

    for (int y = 0; y < c->shape.h; y++)
        for (int x = 0; x < c->shape.w; x++) {
            const int is_second = (y & 1) != c->bottom_first;
            const int t = c->content == ORDER_PAN ? 2 * n + is_second : 0;
            int v = test_texture(c->seed, 4 * x - c->mx * t + 4096, 4 * y - c->my * t + 4096, 5);

            if (c->content == ORDER_NOISE)
                v = av_clip_uint8(v + (int)(test_mix(c->seed + (n * 1024 + y) * 1024 + x) % 25) - 12);
            test_set_word(&c->shape, f, 0, x, y, v << pad);
        }
    return f;
}

/* Adds the evidence of two frames to wanted[0], their difference, and wanted[1], their sum. */
static void order_oracle(const TestShape *s, const AVFrame *first, const AVFrame *second, int64_t wanted[2])
{
    const int pad = s->depth - 8 + test_component(s, 0)->shift;

    for (int by = 0; by < s->h / 16; by++)
        for (int bx = 0; bx < s->w / 16; bx++) {
            int combing[2] = { 0 }, difference;

            for (int i = 0; i < 256; i++)
                for (int k = 0; k < 2; k++) {
                    const int x = 16 * bx + i % 16, y = 16 * by + i / 16;
                    const AVFrame *own = (y + k) & 1 ? second : first, *other = (y + k) & 1 ? first : second;
                    int v, a, b;

                    if (!y || y == s->h - 1)
                        continue;
                    v = test_word(s, own, 0, x, y);
                    a = test_word(s, other, 0, x, y - 1);
                    b = test_word(s, other, 0, x, y + 1);
                    v = v > a && v > b ? FFMIN(v - a, v - b) : v < a && v < b ? FFMIN(a - v, b - v) : 0;
                    combing[k] += FFMAX((v >> pad) - 2, 0);
                }
            difference = av_clip(combing[0] - combing[1], -512, 512);
            wanted[0] += difference;
            wanted[1] += abs(difference);
        }
}

/* Returns the decision for a clip of 20 frames: 1: top field first, -1: bottom field first. */
static int order_decision(const OrderCase *c)
{
    TestRandom r = { .state = c->seed };
    MvdeintOrder order = { 0 };
    MvdeintEvidence e = { 0 };
    int64_t wanted[2] = { 0 };
    int nb_decisions = 0, decision;
    AVFrame *before = NULL;

    for (int n = 0; n < 20; n++) {
        AVFrame *f = order_frame(c, n, &r);
        const int ret = ff_mvdeint_order_add(&order, f);

        CHECK(ret >= 0, "%s", av_err2str(ret));
        nb_decisions += ret;
        if (before) {
            ff_mvdeint_order_compare(&e, &order.layout, before, f);
            order_oracle(&c->shape, before, f, wanted);
        }
        av_frame_free(&before);
        before = f;
    }
    av_frame_free(&before);
    CHECK(e.difference == wanted[0] && e.sum == wanted[1], "evidence %"PRId64" of %"PRId64", not %"PRId64" of %"PRId64,
          e.difference, e.sum, wanted[0], wanted[1]);
    CHECK(nb_decisions == order.is_known, "%d decisions", nb_decisions);
    CHECK(!order.bottom_first || order.is_known, "the bottom field comes first without a decision");
    decision = order.is_known ? 1 - 2 * order.bottom_first : 0;
    ff_mvdeint_order_uninit(&order);
    return decision;
}

static void deint_order(int nb_seeds)
{
    static const enum AVPixelFormat formats[] = {
        AV_PIX_FMT_GRAY8, AV_PIX_FMT_YUV420P10, AV_PIX_FMT_P010, AV_PIX_FMT_GBRP, AV_PIX_FMT_GRAY16,
    };
    static const int motions[][2] = { { 12, 0 }, { 16, 8 }, { -7, 3 }, { 0, 9 }, { 5, -14 } };

    for (int i = 0; i < nb_seeds * ORDER_NB; i++) {
        OrderCase c = {
            .seed  = 1000 + i, .content = i % ORDER_NB,
            .shape = test_shape(formats[i % FF_ARRAY_ELEMS(formats)], i % 7 ? 128 + i % 32 : 126, 128 + 3 * i % 29),
            .mx = motions[i % FF_ARRAY_ELEMS(motions)][0], .my = motions[i % FF_ARRAY_ELEMS(motions)][1],
        };

        for (c.bottom_first = 0; c.bottom_first < 2; c.bottom_first++) {
            const int wanted = c.content == ORDER_PAN && c.shape.w >= MVDEINT_ORDER_LEAST ? 1 - 2 * c.bottom_first : 0;
            int decision;

            snprintf(test_context, sizeof(test_context), "order, seed %d, bottom_first %d", (int)c.seed,
                     c.bottom_first);
            decision = order_decision(&c);
            CHECK(decision == wanted, "decision %d, expected %d", decision, wanted);
        }
    }
}

#endif /* GPUME_DEINT_ORDER_H */
