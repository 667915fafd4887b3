/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/mem_internal.h"

#include "libavfilter/gpume/mvdenoise/samples.h"
#include "libavfilter/gpume/util/assembly.h"

/* Window of a patch: weights of its samples, larger in the middle. */
static const uint8_t window[MVDENOISE_PATCH][MVDENOISE_PATCH] = {
    { 12, 20, 24, 26, 26, 24, 20, 12 },
    { 20, 33, 41, 44, 44, 41, 33, 20 },
    { 24, 41, 50, 54, 54, 50, 41, 24 },
    { 26, 44, 54, 59, 59, 54, 44, 26 },
    { 26, 44, 54, 59, 59, 54, 44, 26 },
    { 24, 41, 50, 54, 54, 50, 41, 24 },
    { 20, 33, 41, 44, 44, 41, 33, 20 },
    { 12, 20, 24, 26, 26, 24, 20, 12 },
};

#define FUNC(name) name ## _8
#define SAMPLE     uint8_t
#include "libavfilter/gpume/mvdenoise/samples_template.c"
#undef FUNC
#undef SAMPLE

#define FUNC(name) name ## _16
#define SAMPLE     uint16_t
#include "libavfilter/gpume/mvdenoise/samples_template.c"
#undef FUNC
#undef SAMPLE

#define FUNC(name) name ## _10
#define SUM        uint32_t
#include "libavfilter/gpume/mvdenoise/sums_template.c"
#undef FUNC
#undef SUM

#define FUNC(name) name ## _16
#define SUM        uint64_t
#include "libavfilter/gpume/mvdenoise/sums_template.c"

static unsigned candidates(MvdenoiseCandidates *dst, const GpumeCellVector *field, const MvdenoiseSpot *spot)
{
    GpumeCellVector list[MVDENOISE_CANDIDATES];
    unsigned mask = 0;

    for (int i = 0; i < MVDENOISE_CANDIDATES; i++) {
        GpumeCellVector v = mvdenoise_cell(field, spot, i);
        int is_new = v.x != GPUME_NO_VECTOR, x, y;

        v.x = mvdenoise_subsampled(v.x, spot->hsub);
        v.y = mvdenoise_subsampled(v.y, spot->vsub);
        list[i] = v;
        /* the position of a missing vector equals no vector */
        for (int j = 0; j < i; j++)
            is_new &= list[j].x != v.x || list[j].y != v.y;
        x = av_clip(spot->x + (v.x >> 2), spot->least, spot->most_x);
        y = av_clip(spot->y + (v.y >> 2), spot->least, spot->most_y);
        dst->offsets[i] = y * spot->stride + x * (1 << spot->log2_bytes);
        dst->parts[i]   = (v.y & 3) << 2 | (v.x & 3);
        mask |= (unsigned)is_new << i;
    }
    return mask;
}

void ff_mvdenoise_combine(const MvdenoiseSamples *s, uint16_t *dst, const MvdenoiseResults *results,
                          const GpumeComponent *c, int y, int depth, int log2_step, void *scratch)
{
    const int w = c->w, h = c->h, nb = mvdenoise_cols(w), end = mvdenoise_end_row(y, h, log2_step);
    const int size = depth > 10 ? sizeof(uint64_t) : sizeof(uint32_t), length = w + MVDENOISE_PATCH;
    uint8_t *sums     = scratch;
    uint32_t *weights = (uint32_t *)(sums + length * (size_t)size);

    memset(sums, 0, length * (size + sizeof(*weights)));
    for (int j = mvdenoise_first_row(y, log2_step); j < end; j++) {
        const int row = y - mvdenoise_y(j, h, log2_step);

        for (int i = 0, run; i < nb; i += run) {
            const int x = mvdenoise_x(i, j, w);

            /* at the edges, patches may be nearer to the one beside them */
            run = x != MVDENOISE_STEP * i - mvdenoise_left(j) ? 1 :
                  FFMAX((w - MVDENOISE_PATCH - x) / MVDENOISE_STEP, 0) + 1;
            s->add(sums + x * size, weights + x, results->samples[j * (size_t)nb + i] + MVDENOISE_PATCH * row,
                   results->weights + j * (size_t)nb + i, run, window[row]);
        }
    }
    s->divide(dst, sums, weights, w, mvdenoise_fraction(depth));
}

/* assembly code, which needs 64-bit pointers, depends on these layouts */
#if ARCH_X86_64 || ARCH_AARCH64
static_assert(MVDENOISE_PLACES == 7 && MVDENOISE_STEP == 4 && MVDENOISE_PATCH == 8 && GPUME_NO_VECTOR == -32768 &&
              offsetof(MvdenoiseSpot, rows) == 32 && offsetof(MvdenoiseSpot, x) == 64 &&
              offsetof(MvdenoiseSpot, y) == 68 && offsetof(MvdenoiseSpot, least) == 72 &&
              offsetof(MvdenoiseSpot, most_x) == 76 && offsetof(MvdenoiseSpot, most_y) == 80 &&
              offsetof(MvdenoiseSpot, hsub) == 84 && offsetof(MvdenoiseSpot, vsub) == 88 &&
              offsetof(MvdenoiseSpot, stride) == 92 && offsetof(MvdenoiseSpot, log2_bytes) == 96 &&
              offsetof(MvdenoiseSpot, log2_cell) == 100 && offsetof(MvdenoiseSpot, last_column) == 104 &&
              offsetof(MvdenoiseCandidates, parts) == 32 &&
              sizeof(MvdenoisePatch) == 16 && offsetof(MvdenoiseSource, stride) == 256 &&
              offsetof(MvdenoiseSearch, sources) == 64 && offsetof(MvdenoiseSearch, candidates) == 128 &&
              offsetof(MvdenoiseSearch, best) == 640 && offsetof(MvdenoiseSearch, mask) == 704 &&
              offsetof(MvdenoiseSearch, penalties) == 712 && MVDENOISE_OTHERS == 8, "assembly code has them so");
#endif

av_cold void ff_mvdenoise_samples_init(MvdenoiseSamples *s, int depth)
{
    *s = (MvdenoiseSamples) {
        .read       = depth > 8  ? read_16   : read_8,
        .candidates = candidates,
        .best       = depth > 8  ? best_16   : best_8,
        .add        = depth > 10 ? add_16    : add_10,
        .divide     = depth > 10 ? divide_16 : divide_10,
        .copy       = depth > 8  ? copy_16   : copy_8,
        .store      = depth > 8  ? store_16  : store_8,
    };
    GPUME_INIT_ASSEMBLY(ff_mvdenoise_samples_init, s, depth);
}
