/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Measurements of a block of samples of type SAMPLE. */

/* loops over all samples of a block are vectorized; results beyond the ends of rows are masked */

static av_always_inline void FUNC(read_block)(SAMPLE *a, const uint8_t *samples, ptrdiff_t stride)
{
    for (int y = 0; y < MVDENOISE_PATCH; y++)
        memcpy(a + MVDENOISE_PATCH * y, samples + y * stride, MVDENOISE_PATCH * sizeof(*a));
}

/* Returns whether too many samples equal the minimum, or the maximum. */
static av_always_inline int FUNC(is_dead)(const SAMPLE *a)
{
    SAMPLE least = a[0], greatest = a[0], nb_least = 0, nb_greatest = 0;

    for (int i = 0; i < MVDENOISE_SAMPLES; i++)
        least = FFMIN(least, a[i]);
    for (int i = 0; i < MVDENOISE_SAMPLES; i++)
        greatest = FFMAX(greatest, a[i]);
    for (int i = 0; i < MVDENOISE_SAMPLES; i++)
        nb_least += a[i] == least;
    for (int i = 0; i < MVDENOISE_SAMPLES; i++)
        nb_greatest += a[i] == greatest;
    return FFMAX(nb_least, nb_greatest) > MVDENOISE_MOST_EQUAL;
}

/*
 * Returns the number of samples that equal the sample on the right, or below.
 * @param a has room for one more sample
 */
static av_always_inline int FUNC(count_alike)(const SAMPLE *a)
{
    SAMPLE nb_right = 0, nb_below = 0;

    for (int i = 0; i < MVDENOISE_SAMPLES; i++)
        nb_right += (a[i] == a[i + 1]) & inside[1][i];
    for (int i = 0; i < MVDENOISE_SAMPLES - MVDENOISE_PATCH; i++)
        nb_below += a[i] == a[i + MVDENOISE_PATCH];
    return nb_right + nb_below;
}

/*
 * Returns the sum of squared second differences in both directions.
 * @param a has room for two more samples
 */
static av_always_inline uint64_t FUNC(energy)(const SAMPLE *a)
{
    DIFFERENCE across[MVDENOISE_SAMPLES];
    SQUARE sum = 0;

    for (int i = 0; i < MVDENOISE_SAMPLES; i++)
        across[i] = (a[i] - 2 * a[i + 1] + a[i + 2]) * inside[2][i];
    for (int i = 0; i < MVDENOISE_SAMPLES - 2 * MVDENOISE_PATCH; i++) {
        const DIFFERENCE both = across[i] - 2 * across[i + MVDENOISE_PATCH] + across[i + 2 * MVDENOISE_PATCH];

        sum += both * (SQUARE)both;
    }
    return sum;
}

/* Measures the difference between a block and its match. */
static av_always_inline void FUNC(compare)(MvdenoiseBlock *b, const SAMPLE *p, const uint8_t *match, ptrdiff_t stride,
                                           int shift)
{
    DIFFERENCE d[MVDENOISE_SAMPLES];
    SAMPLE q[MVDENOISE_SAMPLES], nb_equal = 0;
    SQUARE sums[MVDENOISE_PATCH] = { 0 }, lower[MVDENOISE_PATCH] = { 0 }, squares = 0, sum = 0, parts = 0;
    SQUARE squared_sums = 0, both = 0;

    FUNC(read_block)(q, match, stride);
    for (int i = 0; i < MVDENOISE_SAMPLES; i++)
        nb_equal += p[i] == q[i];
    if (nb_equal >= MVDENOISE_REPEATED)
        return;
    for (int i = 0; i < MVDENOISE_SAMPLES; i++)
        d[i] = p[i] - q[i];
    for (int i = 0; i < MVDENOISE_SAMPLES; i++)
        squares += d[i] * (SQUARE)d[i];
    for (int y = 0; y < MVDENOISE_PATCH / 2; y++)
        for (int x = 0; x < MVDENOISE_PATCH; x++) {
            sums[x]  += d[MVDENOISE_PATCH * y + x];
            lower[x] += d[MVDENOISE_PATCH * y + x + MVDENOISE_SAMPLES / 2];
        }
    for (int i = 0; i < MVDENOISE_SAMPLES; i++)
        d[i] += 2 * q[i];
    for (int i = 0; i < MVDENOISE_SAMPLES; i++)
        squared_sums += d[i] * (SQUARE)d[i];
    for (int i = 0; i < MVDENOISE_SAMPLES; i++)
        both += d[i];
    for (int i = 0; i < 2; i++) {
        const SQUARE *s = sums + 4 * i, *l = lower + 4 * i;
        const SQUARE above = s[0] + s[1] + s[2] + s[3], below = l[0] + l[1] + l[2] + l[3];

        sum   += above + below;
        parts += above * above + below * below;
    }
    b->matched = mvdenoise_bin((MVDENOISE_SAMPLES * squares - sum * sum) >> shift);
    b->coarse  = mvdenoise_bin((4 * parts - sum * sum) >> shift);
    b->texture = mvdenoise_bin((MVDENOISE_SAMPLES * squared_sums - both * both) >> shift);
}

static MvdenoiseBlock FUNC(measure)(const uint8_t *samples, const uint8_t *match, ptrdiff_t stride, int depth)
{
    MvdenoiseBlock b = { 0, MVDENOISE_NO_BIN, MVDENOISE_NO_BIN, MVDENOISE_NO_BIN, MVDENOISE_NO_BIN };
    const int shift  = 2 * (depth - 8);
    SAMPLE a[MVDENOISE_SAMPLES + 2];
    uint64_t energy;
    int alike;

    FUNC(read_block)(a, samples, stride);
    a[MVDENOISE_SAMPLES] = a[MVDENOISE_SAMPLES + 1] = 0;
    if (FUNC(is_dead)(a))
        return b;
    energy = FUNC(energy)(a) >> shift;
    alike  = FFMAX(FUNC(count_alike)(a) - MVDENOISE_ALIKE, 0);
    if (energy * alike * alike > MVDENOISE_MOST_ALIKE)
        return b;
    b.energy = mvdenoise_bin(energy);
    if (match)
        FUNC(compare)(&b, a, match, stride, shift);
    return b;
}

static void FUNC(halve)(uint8_t *dst8, const uint8_t *samples, ptrdiff_t stride, int w)
{
    SAMPLE *dst = (SAMPLE *)dst8;

    for (int y = 0; y < MVDENOISE_PATCH; y++, dst += w) {
        const SAMPLE *a = (const SAMPLE *)(samples + 2 * y * stride);
        const SAMPLE *b = (const SAMPLE *)(samples + (2 * y + 1) * stride);

        for (int x = 0; x < w; x++)
            dst[x] = (a[2 * x] + a[2 * x + 1] + b[2 * x] + b[2 * x + 1] + 2) >> 2;
    }
}

static int FUNC(mean)(const uint8_t *samples, ptrdiff_t stride)
{
    unsigned sum = MVDENOISE_SAMPLES / 2;

    for (int y = 0; y < MVDENOISE_PATCH; y++) {
        const SAMPLE *p = (const SAMPLE *)(samples + y * stride);

        for (int x = 0; x < MVDENOISE_PATCH; x++)
            sum += p[x];
    }
    return sum / MVDENOISE_SAMPLES;
}
