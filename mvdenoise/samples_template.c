/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Functions on samples of type SAMPLE. */

static unsigned FUNC(read)(uint16_t *dst, const MvdenoisePatch *patch, ptrdiff_t stride)
{
    unsigned sum = 0;

    for (int y = 0; y < MVDENOISE_PATCH; y++) {
        const SAMPLE *a = (const SAMPLE *)(patch->from[0] + y * stride);
        const SAMPLE *b = (const SAMPLE *)(patch->from[1] + y * stride);

        for (int x = 0; x < MVDENOISE_PATCH; x++) {
            dst[MVDENOISE_PATCH * y + x] = (a[x] + b[x] + 1) >> 1;
            sum += dst[MVDENOISE_PATCH * y + x];
        }
    }
    return sum;
}

static int FUNC(best)(const uint16_t *own, const MvdenoiseSource *source, const MvdenoiseCandidates *candidates,
                      unsigned mask, const unsigned long long *penalties, uint64_t limit)
{
    int best = -1;

    for (int i = 0; i < MVDENOISE_CANDIDATES; i++) {
        const MvdenoisePatch *from = &source->parts[candidates->parts[i]];
        const MvdenoisePatch patch = {
            { from->from[0] + candidates->offsets[i], from->from[1] + candidates->offsets[i] }
        };
        LOCAL_ALIGNED_32(uint16_t, samples, [MVDENOISE_SAMPLES]);
        uint64_t sum = penalties[candidates->parts[i]];

        if (!(mask >> i & 1))
            continue;
        FUNC(read)(samples, &patch, source->stride);
        for (int j = 0; j < MVDENOISE_SAMPLES; j++) {
            const int64_t difference = own[j] - samples[j];

            sum += difference * difference;
        }
        if (sum < limit) {
            limit = sum;
            best  = i;
        }
    }
    return best;
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
