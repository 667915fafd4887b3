/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem_internal.h"
#include "libavutil/thread.h"

#include "libavfilter/gpume/mvdenoise/over_time.h"
#include "libavfilter/gpume/mvdenoise/transform.h"
#include "libavfilter/gpume/util/assembly.h"

/** Wiener gains for each ratio between a coefficient and sigma, times 32768. */
static int gains[MVDENOISE_RATIOS];

static av_cold void init_gains(void)
{
    for (int i = 0; i < MVDENOISE_RATIOS; i++)
        gains[i] = mvdenoise_gain(i);
}

/* Returns a sample of a patch with its fraction bits, minus base. The mean of two bytes is exact. */
static av_always_inline int read_sample(const MvdenoisePatch *p, ptrdiff_t stride, int i, int base, int fraction,
                                        int bytes)
{
    const ptrdiff_t at = (i >> 3) * stride + (i & 7) * bytes;

    if (bytes == 1)
        return (p->from[0][at] + p->from[1][at] - 2 * base) * 2;
    return (((AV_RN16(p->from[0] + at) + AV_RN16(p->from[1] + at) + 1) >> 1) - base) * (1 << fraction);
}

/*
 * samples of up to 10 bits have 16-bit coefficients: the transforms over time and space multiply a
 * sample by at most 3 and 8
 */
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
                             const MvdenoiseNoise *noise, int second, int depth, int log2_step)
{
    const int fraction = mvdenoise_fraction(depth), max = ((1 << depth) - 1) << fraction;
    LOCAL_ALIGNED_32(int32_t, coefs, [(2 * MVDENOISE_MAX_STACK + 1) * MVDENOISE_SAMPLES]);
    LOCAL_ALIGNED_32(int32_t, own, [MVDENOISE_SAMPLES]);
    MvdenoiseRatios ratios;
    unsigned weight;

    noise += mvdenoise_tone(s->base, depth);
    t->over_space(coefs, s->patches, s->stride, s->nb << second, s->base, fraction);
    if (second) {
        const int most = s->textured ? mvdenoise_most_texture(noise->sigma, depth) : 0;

        ratios = mvdenoise_ratios(noise->sigma, (depth > 10 ? texture_32 : texture_16)(coefs, 2 * s->own + 1, most),
                                  depth);
        weight = (1u << (MVDENOISE_LOG2_WEIGHT(log2_step) + 16)) /
                 ((1 << 16) + t->wiener(own, coefs, s->nb, s->own, ratios.most, ratios.reciprocal));
    } else {
        weight = (1u << MVDENOISE_LOG2_WEIGHT(log2_step)) /
                 (1 + t->threshold(own, coefs, s->nb, s->own, noise->threshold[s->nb == 1], noise->threshold[1]));
    }
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
    GPUME_INIT_ASSEMBLY(ff_mvdenoise_transform_init, t, depth);
}
