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

/* taps: nb for each direction */
static av_always_inline void FUNC(filter)(uint16_t *dst, const SAMPLE *src, ptrdiff_t stride, const int8_t *across,
                                          const int8_t *down, int nb, int w, int h, int max)
{
    INTERMEDIATE rows[8 + 5][8];

    src -= (nb / 2 - 1) * (stride + 1);
    for (int y = 0; y < h + nb - 1; y++, src += stride)
        for (int x = 0; x < w; x++) {
            int sum = 0;

            for (int i = 0; i < nb; i++)
                sum += across[i] * src[x + i];
            rows[y][x] = sum;
        }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int sum = 2048;

            for (int i = 0; i < nb; i++)
                sum += down[i] * rows[y + i][x];
            dst[8 * y + x] = av_clip(sum >> 12, 0, max);
        }
}

static void FUNC(sharp)(uint16_t *dst, const SAMPLE *src, ptrdiff_t stride, int fx, int fy, int w, int h, int max)
{
    if (!fx && !fy)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                dst[8 * y + x] = src[y * stride + x];
    else if (w == 8)
        FUNC(filter)(dst, src, stride, ff_mvfps_long_taps[fx], ff_mvfps_long_taps[fy], 6, 8, h, max);
    else
        FUNC(filter)(dst, src, stride, ff_mvfps_taps[fx], ff_mvfps_taps[fy], 4, w, h, max);
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
