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

static_assert(sizeof(MvdenoisePatch) == 16, "samples_neon.S has them so");

av_cold void ff_mvdenoise_samples_init_aarch64(MvdenoiseSamples *s, int depth)
{
    if (!have_neon(av_get_cpu_flags()))
        return;
    s->read = depth > 8 ? ff_mvdenoise_read_16_neon : ff_mvdenoise_read_8_neon;
}
