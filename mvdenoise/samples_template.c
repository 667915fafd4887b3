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

static void FUNC(best)(MvdenoiseSearch *s, const uint16_t *own)
{
    for (int i = 0; i < MVDENOISE_OTHERS * MVDENOISE_CANDIDATES; i++) {
        const int other = i / MVDENOISE_CANDIDATES, candidate = i % MVDENOISE_CANDIDATES;
        LOCAL_ALIGNED_32(uint16_t, samples, [MVDENOISE_SAMPLES]);
        MvdenoisePatch patch;
        uint64_t sum;

        if (!(s->mask >> i & 1))
            continue;
        sum   = s->penalties[s->candidates[other].parts[candidate]];
        patch = mvdenoise_match(s->sources[other], &s->candidates[other], candidate);
        FUNC(read)(samples, &patch, s->sources[other]->stride);
        for (int j = 0; j < MVDENOISE_SAMPLES; j++) {
            const int64_t difference = own[j] - samples[j];

            sum += difference * difference;
        }
        if (sum < s->limits[other]) {
            s->limits[other] = sum;
            s->best[other]   = i;
        }
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
