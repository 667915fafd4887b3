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

/*
 * Transforms columns back.
 * @param less subtracted before rounding in odd columns; with 1, halves are rounded up only in even
 *             columns
 */
static av_always_inline void FUNC(inverse)(COEF *dst, const COEF *src, int shift, int less)
{
    for (int i = 0; i < 8; i++) {
        const int round = (1 << shift >> 1) - (i & less);
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

static av_always_inline void FUNC(transform_patches)(COEF *coefs, const MvdenoisePatch *patches, ptrdiff_t stride,
                                                     int nb, int base, int fraction, int bytes)
{
    for (int k = 0; k < nb; k++) {
        LOCAL_ALIGNED_32(COEF, a, [64]);
        LOCAL_ALIGNED_32(COEF, b, [64]);

        for (int i = 0; i < 64; i++)
            a[i] = read_sample(&patches[k], stride, i, base, fraction, bytes);
        FUNC(forward)(b, a, 7);
        FUNC(transpose)(a, b);
        FUNC(forward)(coefs + 64 * k, a, 8);
    }
}

/*
 * Transforms over time.
 * @param src patches at a distance of step
 */
static av_always_inline void FUNC(transform_over_time)(COEF *dst, const COEF *src, int nb, int step)
{
    for (int i = 0; i < 64; i++)
        for (int k = 0; k < nb; k++) {
            int sum = 1 << MVDENOISE_LOG2_TIME >> 1;

            for (int j = 0; j < nb; j++)
                sum += mvdenoise_over_time[nb - 1][k][j] * src[64 * step * j + i];
            dst[64 * k + i] = sum >> MVDENOISE_LOG2_TIME;
        }
}

/* Loops with a constant number of turns, which the compiler vectorizes. */
static void FUNC(over_time)(COEF *dst, const COEF *src, int nb, int step)
{
    switch (nb) {
    case 1: FUNC(transform_over_time)(dst, src, 1, step); break;
    case 2: FUNC(transform_over_time)(dst, src, 2, step); break;
    case 3: FUNC(transform_over_time)(dst, src, 3, step); break;
    case 4: FUNC(transform_over_time)(dst, src, 4, step); break;
    case 5: FUNC(transform_over_time)(dst, src, 5, step); break;
    case 6: FUNC(transform_over_time)(dst, src, 6, step); break;
    case 7: FUNC(transform_over_time)(dst, src, 7, step); break;
    case 8: FUNC(transform_over_time)(dst, src, 8, step); break;
    case 9: FUNC(transform_over_time)(dst, src, 9, step); break;
    }
}

/* Transforms one of the patches back. */
static void FUNC(back_over_time)(COEF *dst, const COEF *coefs, int nb, int own)
{
    LOCAL_ALIGNED_32(int, sum, [64]);

    for (int i = 0; i < 64; i++)
        sum[i] = 1 << MVDENOISE_LOG2_TIME >> 1;
    for (int k = 0; k < nb; k++) {
        const int factor = mvdenoise_over_time[nb - 1][k][own];

        for (int i = 0; i < 64; i++)
            sum[i] += factor * coefs[64 * k + i];
    }
    for (int i = 0; i < 64; i++)
        dst[i] = sum[i] >> MVDENOISE_LOG2_TIME;
}

static unsigned FUNC(threshold)(void *dst, const void *src, int nb, int own, int mean, int other)
{
    LOCAL_ALIGNED_32(COEF, coefs, [MVDENOISE_MAX_STACK * 64]);
    unsigned left = 0;
    COEF first;

    FUNC(over_time)(coefs, src, nb, 1);
    first    = coefs[0];
    coefs[0] = 0;
    for (int i = 0; i < 64 * nb; i++) {
        const int c = coefs[i], stays = FFABS(c) >= (i < 64 ? mean : other);

        coefs[i] = stays ? c : 0;
        left    += stays;
    }
    coefs[0] = first;
    FUNC(back_over_time)(dst, coefs, nb, own);
    return left;
}

/* Returns the sum of the squared coefficients of a patch without the first, each limited to most. */
static uint64_t FUNC(texture)(const void *src, int patch, int most)
{
    const COEF *coefs = (const COEF *)src + 64 * patch;
    PRODUCT sum = 0;

    for (int i = 1; i < 64; i++) {
        const PRODUCT c = FFMIN(FFABS(coefs[i]), most);

        sum += c * c;
    }
    return sum;
}

static unsigned FUNC(wiener)(void *dst, const void *src, int nb, int own, int most, int reciprocal)
{
    LOCAL_ALIGNED_32(COEF, coefs, [MVDENOISE_MAX_STACK * 64]);
    LOCAL_ALIGNED_32(COEF, pilot, [MVDENOISE_MAX_STACK * 64]);
    unsigned squares = 0;
    COEF first;

    FUNC(over_time)(coefs, src, nb, 2);
    FUNC(over_time)(pilot, (const COEF *)src + 64, nb, 2);
    first    = coefs[0];
    pilot[0] = 0;
    for (int i = 0; i < 64 * nb; i++) {
        const unsigned ratio = (unsigned)FFMIN(FFABS(pilot[i]), most) * reciprocal >> 16;
        const int gain = gains[FFMIN(ratio, MVDENOISE_RATIOS - 1)];

        coefs[i] = (coefs[i] * (PRODUCT)gain + (1 << 14)) >> 15;
        squares += (gain >> 7) * (gain >> 7);
    }
    coefs[0] = first;
    FUNC(back_over_time)(dst, coefs, nb, own);
    return squares;
}

static void FUNC(back)(uint16_t *dst, const void *coefs, int base, int max)
{
    LOCAL_ALIGNED_32(COEF, a, [64]);
    LOCAL_ALIGNED_32(COEF, b, [64]);

    FUNC(inverse)(b, coefs, 8, 0);
    FUNC(transpose)(a, b);
    FUNC(inverse)(b, a, 7, 1);
    for (int i = 0; i < 64; i++)
        dst[i] = av_clip(b[i] + base, 0, max);
}
