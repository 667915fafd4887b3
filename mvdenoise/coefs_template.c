/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Transforms of stacks, for coefficients of type COEF, whose products with a gain have type PRODUCT. */

/* Transforms each column. */
static av_always_inline void FUNC(forward)(COEF *dst, const COEF *src, int shift)
{
    const int round = 1 << shift >> 1;

    for (int i = 0; i < 8; i++) {
        const int e0 = src[i]      + src[56 + i], o0 = src[i]      - src[56 + i];
        const int e1 = src[8 + i]  + src[48 + i], o1 = src[8 + i]  - src[48 + i];
        const int e2 = src[16 + i] + src[40 + i], o2 = src[16 + i] - src[40 + i];
        const int e3 = src[24 + i] + src[32 + i], o3 = src[24 + i] - src[32 + i];

        dst[i]      = (64 * (e0 + e1 + e2 + e3) + round) >> shift;
        dst[8 + i]  = (89 * o0 + 75 * o1 + 50 * o2 + 18 * o3 + round) >> shift;
        dst[16 + i] = (83 * (e0 - e3) + 36 * (e1 - e2) + round) >> shift;
        dst[24 + i] = (75 * o0 - 18 * o1 - 89 * o2 - 50 * o3 + round) >> shift;
        dst[32 + i] = (64 * (e0 - e1 - e2 + e3) + round) >> shift;
        dst[40 + i] = (50 * o0 - 89 * o1 + 18 * o2 + 75 * o3 + round) >> shift;
        dst[48 + i] = (36 * (e0 - e3) - 83 * (e1 - e2) + round) >> shift;
        dst[56 + i] = (18 * o0 - 50 * o1 + 75 * o2 - 89 * o3 + round) >> shift;
    }
}

static av_always_inline void FUNC(inverse)(COEF *dst, const COEF *src, int shift)
{
    const int round = 1 << shift >> 1;

    for (int i = 0; i < 8; i++) {
        const int a  = 64 * (src[i] + src[32 + i]) + round, b = 64 * (src[i] - src[32 + i]) + round;
        const int c  = 83 * src[16 + i] + 36 * src[48 + i], d = 36 * src[16 + i] - 83 * src[48 + i];
        const int o0 = 89 * src[8 + i] + 75 * src[24 + i] + 50 * src[40 + i] + 18 * src[56 + i];
        const int o1 = 75 * src[8 + i] - 18 * src[24 + i] - 89 * src[40 + i] - 50 * src[56 + i];
        const int o2 = 50 * src[8 + i] - 89 * src[24 + i] + 18 * src[40 + i] + 75 * src[56 + i];
        const int o3 = 18 * src[8 + i] - 50 * src[24 + i] + 75 * src[40 + i] - 89 * src[56 + i];

        dst[i]      = (a + c + o0) >> shift;
        dst[8 + i]  = (b + d + o1) >> shift;
        dst[16 + i] = (b - d + o2) >> shift;
        dst[24 + i] = (a - c + o3) >> shift;
        dst[32 + i] = (a - c - o3) >> shift;
        dst[40 + i] = (b - d - o2) >> shift;
        dst[48 + i] = (b + d - o1) >> shift;
        dst[56 + i] = (a + c - o0) >> shift;
    }
}

static av_always_inline void FUNC(transpose)(COEF *dst, const COEF *src)
{
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            dst[8 * y + x] = src[8 * x + y];
}

/* Transforms the patches over space; rows and columns of the coefficients are exchanged. */
static void FUNC(over_space)(COEF (*coefs)[64], const uint16_t (*patches)[64], int nb, int base, int fraction)
{
    for (int k = 0; k < nb; k++) {
        LOCAL_ALIGNED_32(COEF, a, [64]);
        LOCAL_ALIGNED_32(COEF, b, [64]);

        for (int i = 0; i < 64; i++)
            a[i] = (patches[k][i] - base) * (1 << fraction);
        FUNC(forward)(b, a, 7);
        FUNC(transpose)(a, b);
        FUNC(forward)(coefs[k], a, 8);
    }
}

static av_always_inline void FUNC(transform_over_time)(COEF (*coefs)[64], int nb)
{
    for (int i = 0; i < 64; i++) {
        int c[MVDENOISE_MAX_STACK];

        for (int j = 0; j < nb; j++)
            c[j] = coefs[j][i];
        for (int k = 0; k < nb; k++) {
            int sum = 1 << MVDENOISE_LOG2_TIME >> 1;

            for (int j = 0; j < nb; j++)
                sum += over_time[nb - 1][k][j] * c[j];
            coefs[k][i] = sum >> MVDENOISE_LOG2_TIME;
        }
    }
}

/* Loops of a known number of turns are vectorized. */
static void FUNC(over_time)(COEF (*coefs)[64], int nb)
{
    switch (nb) {
    case 2: FUNC(transform_over_time)(coefs, 2); break;
    case 3: FUNC(transform_over_time)(coefs, 3); break;
    case 4: FUNC(transform_over_time)(coefs, 4); break;
    case 5: FUNC(transform_over_time)(coefs, 5); break;
    case 6: FUNC(transform_over_time)(coefs, 6); break;
    case 7: FUNC(transform_over_time)(coefs, 7); break;
    case 8: FUNC(transform_over_time)(coefs, 8); break;
    case 9: FUNC(transform_over_time)(coefs, 9); break;
    }
}

/* Transforms back what becomes the current picture's patch. */
static void FUNC(back)(uint16_t *dst, COEF (*coefs)[64], const MvdenoiseStack *s, int base, int depth)
{
    const int fraction = mvdenoise_fraction(depth), max = ((1 << depth) - 1) << fraction;
    LOCAL_ALIGNED_32(COEF, a, [64]);
    LOCAL_ALIGNED_32(COEF, b, [64]);
    LOCAL_ALIGNED_32(int, sum, [64]);

    if (s->nb == 1) {
        memcpy(a, coefs[0], sizeof(*coefs));
    } else {
        for (int i = 0; i < 64; i++)
            sum[i] = 1 << MVDENOISE_LOG2_TIME >> 1;
        for (int k = 0; k < s->nb; k++) {
            const int factor = over_time[s->nb - 1][k][s->own];

            for (int i = 0; i < 64; i++)
                sum[i] += factor * coefs[k][i];
        }
        for (int i = 0; i < 64; i++)
            a[i] = sum[i] >> MVDENOISE_LOG2_TIME;
    }
    FUNC(inverse)(b, a, 8);
    FUNC(transpose)(a, b);
    FUNC(inverse)(b, a, 7);
    for (int i = 0; i < 64; i++)
        dst[i] = av_clip(b[i] + (base << fraction), 0, max);
}

static unsigned FUNC(threshold)(uint16_t *dst, const MvdenoiseStack *s, const MvdenoiseNoise *noise, int depth)
{
    const int base = mean(s->noisy[s->own]);
    LOCAL_ALIGNED_32(COEF, coefs, [MVDENOISE_MAX_STACK], [64]);
    int left = 1;
    COEF first;

    FUNC(over_space)(coefs, s->noisy, s->nb, base, mvdenoise_fraction(depth));
    FUNC(over_time)(coefs, s->nb);
    first = coefs[0][0];
    coefs[0][0] = 0;
    for (int k = 0; k < s->nb; k++) {
        const int threshold = noise->threshold[k > 0 || s->nb == 1];

        for (int i = 0; i < 64; i++) {
            const int c = coefs[k][i], stays = FFABS(c) >= threshold;

            coefs[k][i] = stays ? c : 0;
            left       += stays;
        }
    }
    coefs[0][0] = first;
    FUNC(back)(dst, coefs, s, base, depth);
    return (1u << MVDENOISE_LOG2_WEIGHT) / left;
}

static unsigned FUNC(wiener)(uint16_t *dst, const MvdenoiseStack *s, const MvdenoiseNoise *noise, int depth)
{
    const int base = mean(s->noisy[s->own]), fraction = mvdenoise_fraction(depth);
    LOCAL_ALIGNED_32(COEF, coefs, [MVDENOISE_MAX_STACK], [64]);
    LOCAL_ALIGNED_32(COEF, pilot, [MVDENOISE_MAX_STACK], [64]);
    unsigned squares = 1 << 16;
    COEF first;

    FUNC(over_space)(coefs, s->noisy, s->nb, base, fraction);
    FUNC(over_space)(pilot, s->pilot, s->nb, base, fraction);
    FUNC(over_time)(coefs, s->nb);
    FUNC(over_time)(pilot, s->nb);
    first = coefs[0][0];
    pilot[0][0] = 0;
    for (int k = 0; k < s->nb; k++)
        for (int i = 0; i < 64; i++) {
            const unsigned ratio = (unsigned)FFMIN(FFABS(pilot[k][i]), noise->most) * noise->reciprocal >> 16;
            const int gain = gains[FFMIN(ratio, MVDENOISE_RATIOS - 1)];

            coefs[k][i] = (coefs[k][i] * (PRODUCT)gain + (1 << 14)) >> 15;
            squares    += (gain >> 7) * (gain >> 7);
        }
    coefs[0][0] = first;
    FUNC(back)(dst, coefs, s, base, depth);
    return (1u << (MVDENOISE_LOG2_WEIGHT + 16)) / squares;
}
