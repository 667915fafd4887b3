/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Functions on samples of type SAMPLE, whose sums of squares, of a row, have type SQUARES. */

static void FUNC(halves)(uint8_t *right8, uint8_t *below8, uint8_t *centre8, const uint8_t *whole8, ptrdiff_t stride,
                         int w, int max)
{
    SAMPLE *right = (SAMPLE *)right8, *below = (SAMPLE *)below8, *centre = (SAMPLE *)centre8;
    const SAMPLE *whole = (const SAMPLE *)whole8;

    stride /= sizeof(SAMPLE);
    for (int x0 = 0; x0 < w; x0 += CHUNK) {
        const int nb = FFMIN(CHUNK, w - x0);
        const SAMPLE *p = whole + x0;
        int sums[CHUNK + 5];

        for (int x = 0; x < nb + 5; x++)
            sums[x] = gpume_taps(p[x - 2 - 2 * stride], p[x - 2 - stride], p[x - 2], p[x - 2 + stride],
                                 p[x - 2 + 2 * stride], p[x - 2 + 3 * stride]);
        for (int x = 0; x < nb; x++)
            right[x0 + x] = av_clip((gpume_taps(p[x - 2], p[x - 1], p[x], p[x + 1], p[x + 2], p[x + 3]) + 16) >> 5,
                                    0, max);
        for (int x = 0; x < nb; x++)
            below[x0 + x] = av_clip((sums[x + 2] + 16) >> 5, 0, max);
        for (int x = 0; x < nb; x++)
            centre[x0 + x] = av_clip((gpume_taps(sums[x], sums[x + 1], sums[x + 2], sums[x + 3], sums[x + 4],
                                                 sums[x + 5]) + 512) >> 10, 0, max);
    }
}

static void FUNC(read)(uint16_t *dst, const uint8_t *a, const uint8_t *b, ptrdiff_t stride)
{
    for (int y = 0; y < MVDENOISE_PATCH; y++) {
        const SAMPLE *ra = (const SAMPLE *)(a + y * stride), *rb = (const SAMPLE *)(b + y * stride);

        for (int x = 0; x < MVDENOISE_PATCH; x++)
            dst[MVDENOISE_PATCH * y + x] = (ra[x] + rb[x] + 1) >> 1;
    }
}

static uint64_t FUNC(squares)(const uint16_t *a, const uint16_t *b)
{
    SQUARES sum = 0;

    for (int i = 0; i < MVDENOISE_SAMPLES; i++) {
        const DIFFERENCE difference = a[i] - b[i];

        sum += difference * (SQUARES)difference;
    }
    return sum;
}

static void FUNC(combine)(uint16_t *dst, const MvdenoiseResults *results, int w, int h, int y, int depth,
                          void *scratch)
{
    const int nb = mvdenoise_patches(w), end = mvdenoise_end_patch(y, h), fraction = mvdenoise_fraction(depth);
    SUM *sums = scratch;
    uint32_t *weights = (uint32_t *)(sums + w + MVDENOISE_PATCH);

    memset(sums,    0, (w + MVDENOISE_PATCH) * sizeof(*sums));
    memset(weights, 0, (w + MVDENOISE_PATCH) * sizeof(*weights));
    for (int j = mvdenoise_first_patch(y); j < end; j++) {
        const int row = y - mvdenoise_place(j, h);

        for (int i = 0; i < nb; i++) {
            const size_t at     = j * (size_t)nb + i;
            const uint16_t *src = results->samples[at] + MVDENOISE_PATCH * row;
            const int x = mvdenoise_place(i, w);

            for (int k = 0; k < MVDENOISE_PATCH; k++) {
                const uint32_t weight = results->weights[at] * window[row][k];

                sums[x + k]    += weight * (SUM)src[k];
                weights[x + k] += weight;
            }
        }
    }
    for (int x = 0; x < w; x++) {
        const uint32_t divisor = weights[x] << fraction;

        dst[x] = (sums[x] + divisor / 2) / divisor;
    }
}

static void FUNC(copy)(uint16_t *dst, const uint8_t *src, int w)
{
    for (int x = 0; x < w; x++)
        dst[x] = ((const SAMPLE *)src)[x];
}

static void FUNC(store)(uint8_t *dst8, const uint16_t *src, int w, int step, int shift)
{
    SAMPLE *dst = (SAMPLE *)dst8;

    for (int x = 0; x < w; x++)
        dst[x * step] = src[x] << shift;
}
