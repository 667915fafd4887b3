/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

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

av_cold void ff_mvdenoise_samples_init_aarch64(MvdenoiseSamples *s, int depth)
{
    const int cpu_flags = av_get_cpu_flags();

    if (have_neon(cpu_flags)) {
        s->read       = depth > 8 ? ff_mvdenoise_read_16_neon : ff_mvdenoise_read_8_neon;
        s->candidates = ff_mvdenoise_candidates_neon;
        s->best       = depth > 12 ? ff_mvdenoise_best_16_neon :
                        depth >  8 ? ff_mvdenoise_best_12_neon : ff_mvdenoise_best_8_neon;
        if (depth <= 10)
            s->add = ff_mvdenoise_add_10_neon;
    }
#if HAVE_DOTPROD
    if (have_dotprod(cpu_flags) && depth == 8)
        s->best = ff_mvdenoise_best_8_dotprod;
#endif
}
