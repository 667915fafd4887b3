/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem_internal.h"
#include "libavutil/thread.h"

#include "libavfilter/gpume/mvdenoise/transform.h"

/* DCTs of 1 to 9 values, by 1024. */
static const int16_t over_time[MVDENOISE_MAX_STACK][MVDENOISE_MAX_STACK][MVDENOISE_MAX_STACK] = {
    { { 1024 } },
    { { 724, 724 },
      { 724, -724 } },
    { { 591, 591, 591 },
      { 724, 0, -724 },
      { 418, -836, 418 } },
    { { 512, 512, 512, 512 },
      { 669, 277, -277, -669 },
      { 512, -512, -512, 512 },
      { 277, -669, 669, -277 } },
    { { 458, 458, 458, 458, 458 },
      { 616, 381, 0, -381, -616 },
      { 524, -200, -648, -200, 524 },
      { 381, -616, 0, 616, -381 },
      { 200, -524, 648, -524, 200 } },
    { { 418, 418, 418, 418, 418, 418 },
      { 571, 418, 153, -153, -418, -571 },
      { 512, 0, -512, -512, 0, 512 },
      { 418, -418, -418, 418, 418, -418 },
      { 296, -591, 296, 296, -591, 296 },
      { 153, -418, 571, -571, 418, -153 } },
    { { 387, 387, 387, 387, 387, 387, 387 },
      { 534, 428, 237, 0, -237, -428, -534 },
      { 493, 122, -341, -547, -341, 122, 493 },
      { 428, -237, -534, 0, 534, 237, -428 },
      { 341, -493, -122, 547, -122, -493, 341 },
      { 237, -534, 428, 0, -428, 534, -237 },
      { 122, -341, 493, -547, 493, -341, 122 } },
    { { 362, 362, 362, 362, 362, 362, 362, 362 },
      { 502, 426, 284, 100, -100, -284, -426, -502 },
      { 473, 196, -196, -473, -473, -196, 196, 473 },
      { 426, -100, -502, -284, 284, 502, 100, -426 },
      { 362, -362, -362, 362, 362, -362, -362, 362 },
      { 284, -502, 100, 426, -426, -100, 502, -284 },
      { 196, -473, 473, -196, -196, 473, -473, 196 },
      { 100, -284, 426, -502, 502, -426, 284, -100 } },
    { { 341, 341, 341, 341, 341, 341, 341, 341, 341 },
      { 475, 418, 310, 165, 0, -165, -310, -418, -475 },
      { 454, 241, -84, -370, -483, -370, -84, 241, 454 },
      { 418, 0, -418, -418, 0, 418, 418, 0, -418 },
      { 370, -241, -454, 84, 483, 84, -454, -241, 370 },
      { 310, -418, -165, 475, 0, -475, 165, 418, -310 },
      { 241, -483, 241, 241, -483, 241, 241, -483, 241 },
      { 165, -418, 475, -310, 0, 310, -475, 418, -165 },
      { 84, -241, 370, -454, 483, -454, 370, -241, 84 } },
};

/** What the Wiener filter does to coefficients of each ratio to sigma, by 32768. */
static int gains[MVDENOISE_RATIOS];

static av_cold void init_gains(void)
{
    for (int i = 0; i < MVDENOISE_RATIOS; i++)
        gains[i] = mvdenoise_gain(i);
}

/* Returns a sample of a patch. */
static av_always_inline int read_sample(const MvdenoisePatch *p, ptrdiff_t stride, int i, int bytes)
{
    const ptrdiff_t at = (i >> 3) * stride + (i & 7) * bytes;

    return bytes > 1 ? (AV_RN16(p->from[0] + at) + AV_RN16(p->from[1] + at) + 1) >> 1
                     : (p->from[0][at] + p->from[1][at] + 1) >> 1;
}

/* Samples of up to 10 bits have coefficients of 16: three times 8 times a sample, over time and space. */
#define FUNC(name) name ## _16
#define COEF       int16_t
#define PRODUCT    int
#include "libavfilter/gpume/mvdenoise/coefs_template.c"

static void over_space_16_8(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base,
                            int fraction)
{
    transform_patches_16(coefs, patches, stride, nb, base, fraction, 1);
}

static void over_space_16_16(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base,
                             int fraction)
{
    transform_patches_16(coefs, patches, stride, nb, base, fraction, 2);
}
#undef FUNC
#undef COEF
#undef PRODUCT

#define FUNC(name) name ## _32
#define COEF       int
#define PRODUCT    int64_t
#include "libavfilter/gpume/mvdenoise/coefs_template.c"

static void over_space_32(void *coefs, const MvdenoisePatch *patches, ptrdiff_t stride, int nb, int base,
                          int fraction)
{
    transform_patches_32(coefs, patches, stride, nb, base, fraction, 2);
}

unsigned ff_mvdenoise_filter(const MvdenoiseTransform *t, uint16_t *dst, const MvdenoiseStack *s,
                             const MvdenoiseNoise *noise, int second, int depth)
{
    const int fraction = mvdenoise_fraction(depth), max = ((1 << depth) - 1) << fraction;
    LOCAL_ALIGNED_32(int32_t, coefs, [(2 * MVDENOISE_MAX_STACK + 1) * MVDENOISE_SAMPLES]);
    LOCAL_ALIGNED_32(int32_t, own, [MVDENOISE_SAMPLES]);
    unsigned weight;

    t->over_space(coefs, s->patches, s->stride, s->nb << second, s->base, fraction);
    if (second)
        weight = (1u << (MVDENOISE_LOG2_WEIGHT + 16)) /
                 ((1 << 16) + t->wiener(own, coefs, s->nb, s->own, noise->most, noise->reciprocal));
    else
        weight = (1u << MVDENOISE_LOG2_WEIGHT) /
                 (1 + t->threshold(own, coefs, s->nb, s->own, noise->threshold[s->nb == 1], noise->threshold[1]));
    t->back(dst, own, s->base << fraction, max);
    return weight;
}

av_cold void ff_mvdenoise_transform_init(MvdenoiseTransform *t, int depth)
{
    static AVOnce once = AV_ONCE_INIT;

    ff_thread_once(&once, init_gains);
    *t = (MvdenoiseTransform) {
        .over_space = depth > 10 ? over_space_32 : depth > 8 ? over_space_16_16 : over_space_16_8,
        .threshold  = depth > 10 ? threshold_32  : threshold_16,
        .wiener     = depth > 10 ? wiener_32     : wiener_16,
        .back       = depth > 10 ? back_32       : back_16,
    };
#if ARCH_X86 && HAVE_X86ASM
    ff_mvdenoise_transform_init_x86(t, depth);
#endif
}
