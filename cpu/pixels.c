/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>
#include <stddef.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/intreadwrite.h"

#include "libavfilter/gpume/core/propagation.h"
#include "libavfilter/gpume/cpu/pixels.h"
#include "libavfilter/gpume/util/assembly.h"

#define PIXELS_DEPTH(bits, Sum)                                                             \
static void halve_##bits(uint8_t *dst, const uint8_t *a, const uint8_t *b, int n)           \
{                                                                                           \
    for (int x = 0; x < n; x++)                                                             \
        PUT_##bits(dst, x, (GET_##bits(a, 2 * x) + GET_##bits(a, 2 * x + 1) +               \
                            GET_##bits(b, 2 * x) + GET_##bits(b, 2 * x + 1) + 2) >> 2);     \
}                                                                                           \
                                                                                            \
static void right_##bits(uint8_t *dst, const uint8_t *s, int n, int max)                    \
{                                                                                           \
    for (int x = 0; x < n; x++) {                                                           \
        const int sum = gpume_taps(GET_##bits(s, x),     GET_##bits(s, x + 1),              \
                                   GET_##bits(s, x + 2), GET_##bits(s, x + 3),              \
                                   GET_##bits(s, x + 4), GET_##bits(s, x + 5));             \
                                                                                            \
        PUT_##bits(dst, x, av_clip((sum + 16) >> 5, 0, max));                               \
    }                                                                                       \
}                                                                                           \
                                                                                            \
static void below_##bits(uint8_t *dst, void *sums, const uint8_t *const r[6], int n, int max) \
{                                                                                           \
    Sum *out = sums;                                                                        \
                                                                                            \
    for (int x = 0; x < n; x++) {                                                           \
        const int sum = gpume_taps(GET_##bits(r[0], x), GET_##bits(r[1], x),                \
                                   GET_##bits(r[2], x), GET_##bits(r[3], x),                \
                                   GET_##bits(r[4], x), GET_##bits(r[5], x));               \
                                                                                            \
        out[x] = sum;                                                                       \
        PUT_##bits(dst, x, av_clip((sum + 16) >> 5, 0, max));                               \
    }                                                                                       \
}                                                                                           \
                                                                                            \
static void centre_##bits(uint8_t *dst, const void *sums, int n, int max)                   \
{                                                                                           \
    const Sum *s = sums;                                                                    \
                                                                                            \
    for (int x = 0; x < n; x++)                                                             \
        PUT_##bits(dst, x, av_clip((gpume_taps(s[x], s[x + 1], s[x + 2], s[x + 3],          \
                                               s[x + 4], s[x + 5]) + 512) >> 10, 0, max));  \
}                                                                                           \
                                                                                            \
static void average_##bits(uint8_t *dst, const uint8_t *a, const uint8_t *b, ptrdiff_t linesize, int w, int h) \
{                                                                                           \
    for (int y = 0; y < h; y++) {                                                           \
        for (int x = 0; x < w; x++)                                                         \
            PUT_##bits(dst, x, (GET_##bits(a, x) + GET_##bits(b, x) + 1) >> 1);             \
        dst += GPUME_AVERAGE_LINESIZE;                                                      \
        a   += linesize;                                                                    \
        b   += linesize;                                                                    \
    }                                                                                       \
}                                                                                           \
                                                                                            \
static const GpumePixels pixels_##bits = {                                                  \
    .halve       = halve_##bits,                                                            \
    .right       = right_##bits,                                                            \
    .below       = below_##bits,                                                            \
    .centre      = centre_##bits,                                                           \
    .average     = average_##bits,                                                          \
    .candidates  = candidates,                                                              \
    .candidates_at = candidates_at,                                                         \
};

#define GET_8(p, x)     (p)[x]
#define GET_16(p, x)    AV_RN16((p) + 2 * (x))
#define PUT_8(p, x, v)  ((p)[x] = (v))
#define PUT_16(p, x, v) AV_WN16((p) + 2 * (x), (v))

static uint32_t penalty(const GpumeChoice *c, GpumeVector v)
{
    uint32_t sum = 0;

    for (int i = 0; i < 8; i++)
        sum += gpume_difference(v, c->vectors[i], c->threshold);
    return (c->factor * sum >> c->shift) << c->depth_shift;
}

static int is_new(const GpumeChoice *c, int i, GpumeVector v)
{
    int found = v.dx == c->own.dx && v.dy == c->own.dy;

    for (int j = 0; j < FFMIN(i, 8); j++)
        found |= v.dx == c->vectors[j].dx && v.dy == c->vectors[j].dy;
    return !found;
}

static unsigned candidates(GpumeChoice *c)
{
    unsigned mask = 0;

    c->sum = c->cost + penalty(c, c->own);
    for (int i = 0; i < 16; i++) {
        GpumeVector *v = &c->vectors[i];

        if (i >= 8) {
            int x, y;

            gpume_around(i - 8, &x, &y);
            v->dx = c->own.dx + x;
            v->dy = c->own.dy + y;
        }
        c->penalties[i] = penalty(c, *v);
        mask |= (c->penalties[i] + c->bounds[i] < c->sum && is_new(c, i, *v) &&
                 v->dx >= c->min.dx && v->dx <= c->max.dx &&
                 v->dy >= c->min.dy && v->dy <= c->max.dy) << i;
    }
    return mask;
}

static unsigned candidates_at(GpumeChoice *c, const GpumeVector *v, ptrdiff_t bw, uint32_t *bounds,
                              unsigned forgotten)
{
    gpume_gather_choice(c, v, bw, bounds, forgotten);
    return candidates(c);
}

PIXELS_DEPTH(8,  int16_t)
PIXELS_DEPTH(16, int32_t)

/* assembly code has these offsets */
static_assert(offsetof(GpumeChoice, own) == 64 && offsetof(GpumeChoice, bounds) == 168 &&
              offsetof(GpumeChoice, penalties) == 68 && offsetof(GpumeChoice, min) == 136 &&
              offsetof(GpumeChoice, max) == 140 && offsetof(GpumeChoice, threshold) == 144 &&
              offsetof(GpumeChoice, factor) == 148 && offsetof(GpumeChoice, shift) == 152 &&
              offsetof(GpumeChoice, depth_shift) == 156 && offsetof(GpumeChoice, cost) == 160 &&
              offsetof(GpumeChoice, sum) == 164, "layout");

av_cold void ff_gpume_pixels_init(GpumePixels *pixels, int depth)
{
    *pixels = depth > 8 ? pixels_16 : pixels_8;

    GPUME_INIT_ASSEMBLY(ff_gpume_pixels_init, pixels, depth);
}
