/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Included for each type of samples, SAMPLE; INTERMEDIATE: between the filter's two directions. */

static void FUNC(bilinear)(uint16_t *dst, const SAMPLE *src, ptrdiff_t stride, int fx, int fy)
{
    const int a = (8 - fx) * (8 - fy), b = fx * (8 - fy), c = (8 - fx) * fy, d = fx * fy;

    for (int y = 0; y < 8; y++, src += stride, dst += 8)
        for (int x = 0; x < 8; x++)
            dst[x] = (a * src[x] + b * src[x + 1] + c * src[x + stride] + d * src[x + stride + 1] + 32) >> 6;
}

static int FUNC(sad)(const uint8_t *a, const uint8_t *b, ptrdiff_t stride, int at_a, int at_b)
{
    uint16_t match[2][64];
    int sum = 0;

    FUNC(bilinear)(match[0], (const SAMPLE *)a, stride / sizeof(SAMPLE), at_a & 7, at_a >> 3);
    FUNC(bilinear)(match[1], (const SAMPLE *)b, stride / sizeof(SAMPLE), at_b & 7, at_b >> 3);
    for (int i = 0; i < 64; i++)
        sum += abs(match[0][i] - match[1][i]);
    return sum;
}

static void FUNC(sharp)(uint16_t *dst, const SAMPLE *src, ptrdiff_t stride, int fx, int fy, int w, int h, int max)
{
    const int8_t *u = ff_mvfps_taps[fx], *v = ff_mvfps_taps[fy];
    INTERMEDIATE rows[8 + 3][8];

    if (!fx && !fy) {
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                dst[8 * y + x] = src[y * stride + x];
        return;
    }
    for (int y = 0; y < h + 3; y++) {
        const SAMPLE *row = src + (y - 1) * stride;

        for (int x = 0; x < w; x++)
            rows[y][x] = u[0] * row[x - 1] + u[1] * row[x] + u[2] * row[x + 1] + u[3] * row[x + 2];
    }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            dst[8 * y + x] = av_clip((v[0] * rows[y][x] + v[1] * rows[y + 1][x] + v[2] * rows[y + 2][x] +
                                      v[3] * rows[y + 3][x] + 2048) >> 12, 0, max);
}

static int FUNC(match)(uint16_t (*dst)[MVFPS_TILE_SAMPLES], const uint8_t *a, const uint8_t *b, ptrdiff_t stride,
                       const int *at, int w, int h, int max)
{
    int sum = 0;

    FUNC(sharp)(dst[0], (const SAMPLE *)a, stride / sizeof(SAMPLE), at[0] & 15, at[0] >> 4, w, h, max);
    FUNC(sharp)(dst[1], (const SAMPLE *)b, stride / sizeof(SAMPLE), at[1] & 15, at[1] >> 4, w, h, max);
    if (w * h == MVFPS_TILE_SAMPLES)
        for (int i = 0; i < MVFPS_TILE_SAMPLES; i++)
            sum += abs(dst[0][i] - dst[1][i]);
    return sum;
}
