/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* What is measured of a block of samples of type SAMPLE. */

static uint64_t FUNC(energy)(const uint8_t *samples, ptrdiff_t stride, int block, int max)
{
    int across[MVDENOISE_PATCH][MVDENOISE_PATCH - 2];
    int cut_off = 0;
    uint64_t sum = 0;

    for (int y = 0; y < MVDENOISE_PATCH; y++) {
        const SAMPLE *p = (const SAMPLE *)(samples + y * stride) + MVDENOISE_PATCH * block;

        for (int x = 0; x < MVDENOISE_PATCH; x++)
            cut_off += p[x] == 0 || p[x] == max;
        for (int x = 0; x < MVDENOISE_PATCH - 2; x++)
            across[y][x] = p[x] - 2 * p[x + 1] + p[x + 2];
    }
    if (cut_off > MVDENOISE_MAX_CUT_OFF)
        return MVDENOISE_NO_ENERGY;
    for (int y = 0; y < MVDENOISE_PATCH - 2; y++)
        for (int x = 0; x < MVDENOISE_PATCH - 2; x++) {
            const int64_t both = across[y][x] - 2 * across[y + 1][x] + across[y + 2][x];

            sum += both * both;
        }
    return sum;
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

static int FUNC(mean)(const uint8_t *samples, ptrdiff_t stride, int block)
{
    unsigned sum = MVDENOISE_SAMPLES / 2;

    for (int y = 0; y < MVDENOISE_PATCH; y++) {
        const SAMPLE *p = (const SAMPLE *)(samples + y * stride) + MVDENOISE_PATCH * block;

        for (int x = 0; x < MVDENOISE_PATCH; x++)
            sum += p[x];
    }
    return sum / MVDENOISE_SAMPLES;
}
