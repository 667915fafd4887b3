/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/mvdenoise/samples.h"

unsigned ff_mvdenoise_read_8_avx2(uint16_t *dst, const MvdenoisePatch *patch, ptrdiff_t stride);
unsigned ff_mvdenoise_read_16_avx2(uint16_t *dst, const MvdenoisePatch *patch, ptrdiff_t stride);
unsigned ff_mvdenoise_candidates_avx2(MvdenoiseCandidates *dst, const GpumeCellVector *field,
                                      const MvdenoiseSpot *spot);
void ff_mvdenoise_best_8_avx2(MvdenoiseSearch *search, const uint16_t *own);
void ff_mvdenoise_best_12_avx2(MvdenoiseSearch *search, const uint16_t *own);
void ff_mvdenoise_best_16_avx2(MvdenoiseSearch *search, const uint16_t *own);
void ff_mvdenoise_add_10_avx2(void *sums, uint32_t *weights, const uint16_t *samples, const uint16_t *patch_weights,
                              int nb, const uint8_t *window);

av_cold void ff_mvdenoise_samples_init_x86(MvdenoiseSamples *s, int depth)
{
    const int cpu_flags = av_get_cpu_flags();

    if (!EXTERNAL_AVX2_FAST(cpu_flags))
        return;
    s->read       = depth > 8 ? ff_mvdenoise_read_16_avx2 : ff_mvdenoise_read_8_avx2;
    s->candidates = ff_mvdenoise_candidates_avx2;
    s->best       = depth > 12 ? ff_mvdenoise_best_16_avx2 :
                    depth >  8 ? ff_mvdenoise_best_12_avx2 : ff_mvdenoise_best_8_avx2;
    if (depth > 10)
        return;
    s->add = ff_mvdenoise_add_10_avx2;
}
