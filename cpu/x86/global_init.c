/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/cpu/global.h"

unsigned ff_gpume_global_row_sse4(uint16_t *cost, const uint8_t *cur, const uint8_t *ref, ptrdiff_t linesize);

av_cold void ff_gpume_global_init_x86(GpumeGlobalField *f)
{
    if (EXTERNAL_SSE4(av_get_cpu_flags()))
        f->cost_row = ff_gpume_global_row_sse4;
}
