/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What is measured of a block of samples of type SAMPLE. */

/* Returns whether too many samples are equal to the least, or to the greatest, of them. */
static int FUNC(is_dead)(const SAMPLE *p, ptrdiff_t stride)
{
    SAMPLE least = p[0], greatest = p[0];
    int nb_least = 0, nb_greatest = 0;

    for (int y = 0; y < MVDENOISE_PATCH; y++)
        for (int x = 0; x < MVDENOISE_PATCH; x++) {
            least    = FFMIN(least,    p[y * stride + x]);
            greatest = FFMAX(greatest, p[y * stride + x]);
        }
    for (int y = 0; y < MVDENOISE_PATCH; y++)
        for (int x = 0; x < MVDENOISE_PATCH; x++) {
            nb_least    += p[y * stride + x] == least;
            nb_greatest += p[y * stride + x] == greatest;
        }
    return FFMAX(nb_least, nb_greatest) > MVDENOISE_MOST_EQUAL;
}

/* Returns how many samples are equal to the one to the right, or below. */
static int FUNC(count_alike)(const SAMPLE *p, ptrdiff_t stride)
{
    int nb = 0;

    for (int y = 0; y < MVDENOISE_PATCH; y++)
        for (int x = 0; x < MVDENOISE_PATCH - 1; x++)
            nb += p[y * stride + x] == p[y * stride + x + 1];
    for (int y = 0; y < MVDENOISE_PATCH - 1; y++)
        for (int x = 0; x < MVDENOISE_PATCH; x++)
            nb += p[y * stride + x] == p[(y + 1) * stride + x];
    return nb;
}

static uint64_t FUNC(energy)(const SAMPLE *p, ptrdiff_t stride)
{
    int across[MVDENOISE_PATCH][MVDENOISE_PATCH - 2];
    uint64_t sum = 0;

    for (int y = 0; y < MVDENOISE_PATCH; y++)
        for (int x = 0; x < MVDENOISE_PATCH - 2; x++)
            across[y][x] = p[y * stride + x] - 2 * p[y * stride + x + 1] + p[y * stride + x + 2];
    for (int y = 0; y < MVDENOISE_PATCH - 2; y++)
        for (int x = 0; x < MVDENOISE_PATCH - 2; x++) {
            const int both = across[y][x] - 2 * across[y + 1][x] + across[y + 2][x];

            sum += both * (SQUARE)both;
        }
    return sum;
}

/* Measures the difference of a block from its match. */
static void FUNC(compare)(MvdenoiseBlock *b, const SAMPLE *p, const SAMPLE *q, ptrdiff_t stride, int shift)
{
    int64_t sums[4] = { 0 }, sum = 0, parts = 0;
    SQUARE squares = 0;
    int nb_equal = 0;

    for (int i = 0; i < 4; i++) {
        const ptrdiff_t at = (i >> 1) * 4 * stride + (i & 1) * 4;
        int part = 0;

        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 4; x++) {
                const int difference = p[at + y * stride + x] - q[at + y * stride + x];

                part     += difference;
                squares  += difference * (SQUARE)difference;
                nb_equal += !difference;
            }
        sums[i] = part;
    }
    if (nb_equal >= MVDENOISE_REPEATED)
        return;
    for (int i = 0; i < 4; i++) {
        sum   += sums[i];
        parts += sums[i] * sums[i];
    }
    b->matched = mvdenoise_bin((MVDENOISE_SAMPLES * (int64_t)squares - sum * sum) >> shift);
    b->coarse  = mvdenoise_bin((4 * parts - sum * sum) >> shift);
}

static MvdenoiseBlock FUNC(measure)(const uint8_t *samples, const uint8_t *match, ptrdiff_t stride, int depth)
{
    MvdenoiseBlock b     = { 0, MVDENOISE_NO_BIN, MVDENOISE_NO_BIN, MVDENOISE_NO_BIN };
    const SAMPLE *p      = (const SAMPLE *)samples;
    const ptrdiff_t step = stride / (ptrdiff_t)sizeof(SAMPLE);
    const int shift      = 2 * (depth - 8);
    uint64_t energy;
    int alike;

    if (FUNC(is_dead)(p, step))
        return b;
    energy = FUNC(energy)(p, step) >> shift;
    alike  = FFMAX(FUNC(count_alike)(p, step) - MVDENOISE_ALIKE, 0);
    if (energy * alike * alike > MVDENOISE_MOST_ALIKE)
        return b;
    b.energy = mvdenoise_bin(energy);
    if (match)
        FUNC(compare)(&b, p, (const SAMPLE *)match, step, shift);
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
