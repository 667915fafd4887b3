/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>
#include <stddef.h>

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/common.h"

#include "libavfilter/gpume/mvstereo/dsp.h"
#include "libavfilter/gpume/util/assembly.h"

/* number of neighbours in a census of 7x7 */
static_assert((2 * MVSTEREO_CENSUS_R + 1) * (2 * MVSTEREO_CENSUS_R + 1) - 1 == 4 * MVSTEREO_NIBBLES,
              "bits of a census");

static void costs(const MvstereoCosts *c)
{
    static const uint8_t bits[16] = { 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4 };

    for (ptrdiff_t x = 0; x < c->nb; x++) {
        uint8_t *dst         = c->costs + x * c->range;
        const uint8_t *left  = c->left + x, *right = c->right - x;
        const uint8_t *luma  = right + MVSTEREO_NIBBLES * c->right_plane, *grad = luma + c->right_plane;
        const int left_luma  = left[MVSTEREO_NIBBLES * c->left_plane];
        const int left_grad  = left[(MVSTEREO_NIBBLES + 1) * c->left_plane];

        for (ptrdiff_t k = 0; k < c->range; k++)
            dst[k] = mvstereo_difference(FFABS(left_luma - luma[k]), FFABS(left_grad - grad[k]));
        for (int i = 0; i < MVSTEREO_NIBBLES; i++) {
            const int nibble = left[i * c->left_plane];

            for (ptrdiff_t k = 0; k < c->range; k++)
                dst[k] += bits[nibble ^ right[i * c->right_plane + k]];
        }
    }
}

static void path(const MvstereoPath *p)
{
    for (ptrdiff_t i = 0; i < p->nb; i++) {
        uint8_t *dst          = p->path + i * p->path_step;
        const uint8_t *before = p->before + i * p->path_step, *cost = p->costs + i * p->costs_step;
        const int least = p->least_before[i * p->step], far = least + p->p2[i * p->step];
        int new_least   = 255;

        for (ptrdiff_t k = 0; k < p->range; k++) {
            const int beside = FFMIN(before[k - 1], before[k + 1]) + MVSTEREO_P1, near = FFMIN(before[k], beside);

            /* 255 is not a cost but padding, and far may be more than that */
            dst[k]    = cost[k] + (near < 255 ? FFMIN(near, far) : far) - least;
            new_least = FFMIN(new_least, dst[k]);
        }
        p->least[i * p->step] = new_least;
    }
}

static int sum(const MvstereoSums *s)
{
    int least = MVSTEREO_MAX_SUM;

    for (ptrdiff_t k = 0; k < s->range; k++) {
        const int sum = s->paths[0][k] + s->paths[1][k] + s->paths[2][k] + s->paths[3][k];

        s->sums[k] = sum;
        least      = FFMIN(least, sum);
        if (sum < s->right_least[k]) {
            s->right_least[k] = sum;
            s->right_index[k] = s->first + k;
        }
    }
    return least;
}

/* Finds the smallest value up to which the weights are at least half of their sum, bit by bit. */
static void weighted_median(const MvstereoMedian *m)
{
    enum { SIDE = 2 * MVSTEREO_WMED_R + 1, NB = SIDE * SIDE };
    int value[NB], weight[NB];

    for (ptrdiff_t x = 0; x < m->nb; x++) {
        int total = 0, too_little = -1;

        for (int i = 0; i < NB; i++) {
            const ptrdiff_t at = x + (i / SIDE - MVSTEREO_WMED_R) * m->stride + i % SIDE - MVSTEREO_WMED_R;

            value[i]  = m->disparity[at];
            weight[i] = mvstereo_weight(FFABS(m->luma[at] - m->luma[x]), m->valid[at]);
            total    += weight[i];
        }
        for (int bit = MVSTEREO_MAX_RANGE * MVSTEREO_ONE / 2; bit; bit >>= 1) {
            int below = 0;

            for (int i = 0; i < NB; i++)
                below += value[i] <= too_little + bit ? weight[i] : 0;
            if (2 * below < total)
                too_little += bit;
        }
        m->dst[x] = too_little + 1;
    }
}

/* assembly code depends on these layouts */
#if ARCH_X86_64 || ARCH_AARCH64
static_assert(offsetof(MvstereoCosts, right) == 16 && offsetof(MvstereoCosts, range) == 48 &&
              offsetof(MvstereoPath, least_before) == 40 && offsetof(MvstereoPath, range) == 80 &&
              offsetof(MvstereoSums, sums) == 32 && offsetof(MvstereoSums, first) == 64 &&
              offsetof(MvstereoMedian, valid) == 24 && offsetof(MvstereoMedian, nb) == 40, "assembly code has them so");
#endif

av_cold void ff_mvstereo_dsp_init(MvstereoDSP *dsp)
{
    *dsp = (MvstereoDSP) {
        .costs           = costs,
        .path            = path,
        .sum             = sum,
        .weighted_median = weighted_median,
    };
    GPUME_INIT_ASSEMBLY(ff_mvstereo_dsp_init, dsp);
}
