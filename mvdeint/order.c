/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"

#include "libavfilter/gpume/mvdeint/order.h"

/**
 * The first pairs of frames are compared, later one in each period: where nothing moves, frames on a device would
 * otherwise be downloaded for ever.
 */
enum { MANY_PAIRS = 16, PERIOD = 8 };

/** Combing that does not count, and the largest difference of a block that counts, in levels of 8 bits. */
enum { TOLERANCE = 2, MOST = 2 * MVDEINT_ORDER_BLOCK * MVDEINT_ORDER_BLOCK };

static av_always_inline int sample(const uint8_t *line, int x, int bytes)
{
    return bytes > 1 ? ((const uint16_t *)line)[x] : line[x];
}

/* Returns by how much the samples of a line of a block are above, or below, both neighbouring lines. */
static av_always_inline int combing(const uint8_t *line, const uint8_t *above, const uint8_t *below, int x0, int shift,
                                    int bytes)
{
    int sum = 0;

    for (int x = x0; x < x0 + MVDEINT_ORDER_BLOCK; x++) {
        const int v = sample(line, x, bytes), a = sample(above, x, bytes), b = sample(below, x, bytes);
        const int apart = FFMAX(v - FFMAX(a, b), FFMIN(a, b) - v) >> shift;

        sum += FFMAX(apart - TOLERANCE, 0);
    }
    return sum;
}

/* Returns the combing of a line of a block where the even lines are those of one frame, the odd lines of another. */
static int line_combing(const GpumeLayout *l, const AVFrame *even, const AVFrame *odd, int x, int y)
{
    const GpumeComponent *c = &l->components[0];
    const AVFrame *own = y & 1 ? odd : even, *other = y & 1 ? even : odd;
    const uint8_t *line = gpume_layout_row(l, c, own, y), *above = gpume_layout_row(l, c, other, y - 1);
    const uint8_t *below = gpume_layout_row(l, c, other, y + 1);
    const int shift = l->shift + l->depth - 8;

    return l->bytes > 1 ? combing(line, above, below, x, shift, 2) : combing(line, above, below, x, shift, 1);
}

void ff_mvdeint_order_compare(MvdeintEvidence *e, const GpumeLayout *l, const AVFrame *first, const AVFrame *second)
{
    for (int y0 = 0; y0 + MVDEINT_ORDER_BLOCK <= l->h; y0 += MVDEINT_ORDER_BLOCK)
        for (int x = 0; x + MVDEINT_ORDER_BLOCK <= l->w; x += MVDEINT_ORDER_BLOCK) {
            int difference = 0;

            for (int y = FFMAX(y0, 1); y < FFMIN(y0 + MVDEINT_ORDER_BLOCK, l->h - 1); y++)
                difference += line_combing(l, first, second, x, y) - line_combing(l, second, first, x, y);
            e->difference += av_clip(difference, -MOST, MOST);
            e->sum        += FFMIN(FFABS(difference), MOST);
        }
}

int ff_mvdeint_order_decide(MvdeintEvidence *e, const GpumeLayout *l)
{
    const int side = MVDEINT_ORDER_BLOCK;

    /* half a level for each sample */
    if (e->sum < (int64_t)(l->w / side) * (l->h / side) * side * side / 2)
        return 0;
    if (5 * FFABS(e->difference) >= 4 * e->sum)
        return e->difference > 0 ? 1 : -1;
    e->difference /= 2;
    e->sum        /= 2;
    return 0;
}

/* Sets *copy to a frame in system memory with the samples of a frame. */
static int copy_to_memory(AVFrame **copy, const AVFrame *frame)
{
    int ret = 0;

    *copy = frame->hw_frames_ctx ? av_frame_alloc() : av_frame_clone(frame);
    if (!*copy)
        return AVERROR(ENOMEM);
    if (frame->hw_frames_ctx)
        ret = av_hwframe_transfer_data(*copy, frame, 0);
    if (ret < 0)
        av_frame_free(copy);
    return ret;
}

int ff_mvdeint_order_add(MvdeintOrder *o, const AVFrame *frame)
{
    AVFrame *now;
    int n, ret, decision = 0;

    if (!frame) {
        av_frame_free(&o->before);
        return 0;
    }
    if (ff_gpume_layout_change(&o->layout, frame)) {
        const GpumeLayout layout = o->layout;

        av_frame_free(&o->before);
        *o = (MvdeintOrder) { .layout = layout };
    }
    n = o->nb_frames;
    o->nb_frames = n + 1 < MANY_PAIRS + PERIOD ? n + 1 : MANY_PAIRS;
    if (o->is_known || (n > MANY_PAIRS && n < MANY_PAIRS + PERIOD - 1) ||
        FFMIN(o->layout.w, o->layout.h) < MVDEINT_ORDER_LEAST)
        return 0;
    ret = copy_to_memory(&now, frame);
    if (ret < 0)
        return ret;
    if (o->before && n <= MANY_PAIRS) {
        ff_mvdeint_order_compare(&o->evidence, &o->layout, o->before, now);
        decision = ff_mvdeint_order_decide(&o->evidence, &o->layout);
    }
    av_frame_free(&o->before);
    o->before       = now;
    o->is_known     = !!decision;
    o->bottom_first = decision < 0;
    if (decision)
        av_frame_free(&o->before);
    return o->is_known;
}

void ff_mvdeint_order_uninit(MvdeintOrder *o)
{
    av_frame_free(&o->before);
}
