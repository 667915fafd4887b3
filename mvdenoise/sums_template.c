/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Patches that overlap become a row, with sums of type SUM. */

static void FUNC(add)(void *sums8, uint32_t *weights, const uint16_t *samples, const uint16_t *patch_weights, int nb,
                      const uint8_t *row)
{
    SUM *sums = sums8;

    for (int i = 0; i < nb; i++)
        for (int k = 0; k < MVDENOISE_PATCH; k++) {
            const uint32_t weight = patch_weights[i] * row[k];

            sums[MVDENOISE_STEP * i + k]    += weight * (SUM)samples[MVDENOISE_SAMPLES * (size_t)i + k];
            weights[MVDENOISE_STEP * i + k] += weight;
        }
}

static void FUNC(divide)(uint16_t *dst, const void *sums8, const uint32_t *weights, int w, int fraction)
{
    const SUM *sums = sums8;

    for (int x = 0; x < w; x++) {
        const uint32_t divisor = weights[x] << fraction;

        dst[x] = (sums[x] + divisor / 2) / divisor;
    }
}
