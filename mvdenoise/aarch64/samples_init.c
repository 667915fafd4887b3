/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>
#include <stddef.h>

#include "libavutil/aarch64/cpu.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"

#include "libavfilter/gpume/mvdenoise/samples.h"

unsigned ff_mvdenoise_read_8_neon(uint16_t *dst, const MvdenoisePatch *patch, ptrdiff_t stride);
unsigned ff_mvdenoise_read_16_neon(uint16_t *dst, const MvdenoisePatch *patch, ptrdiff_t stride);
unsigned ff_mvdenoise_candidates_neon(MvdenoiseCandidates *dst, const GpumeCellVector *field,
                                      const MvdenoiseSpot *spot);
void ff_mvdenoise_best_8_neon(MvdenoiseSearch *search, const uint16_t *own);
void ff_mvdenoise_best_8_dotprod(MvdenoiseSearch *search, const uint16_t *own);
void ff_mvdenoise_best_12_neon(MvdenoiseSearch *search, const uint16_t *own);
void ff_mvdenoise_best_16_neon(MvdenoiseSearch *search, const uint16_t *own);
void ff_mvdenoise_add_10_neon(void *sums, uint32_t *weights, const uint16_t *samples, const uint16_t *patch_weights,
                              int nb, const uint8_t *window);
void ff_mvdenoise_divide_10_neon(uint16_t *dst, const void *sums, const uint32_t *weights, int w, int fraction);

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
              offsetof(MvdenoiseSearch, penalties) == 712 && MVDENOISE_OTHERS == 8, "samples_neon.S has them so");

av_cold void ff_mvdenoise_samples_init_aarch64(MvdenoiseSamples *s, int depth)
{
    const int cpu_flags = av_get_cpu_flags();

    if (have_neon(cpu_flags)) {
        s->read       = depth > 8 ? ff_mvdenoise_read_16_neon : ff_mvdenoise_read_8_neon;
        s->candidates = ff_mvdenoise_candidates_neon;
        s->best       = depth > 12 ? ff_mvdenoise_best_16_neon :
                        depth >  8 ? ff_mvdenoise_best_12_neon : ff_mvdenoise_best_8_neon;
        if (depth <= 10) {
            s->add    = ff_mvdenoise_add_10_neon;
            s->divide = ff_mvdenoise_divide_10_neon;
        }
    }
#if HAVE_DOTPROD
    if (have_dotprod(cpu_flags) && depth == 8)
        s->best = ff_mvdenoise_best_8_dotprod;
#endif
}
