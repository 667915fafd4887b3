/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/mvstereo/dsp.h"

void ff_mvstereo_costs_avx2(const MvstereoCosts *c);
void ff_mvstereo_path_avx2(const MvstereoPath *p);
int  ff_mvstereo_sum_avx2(const MvstereoSums *s);
void ff_mvstereo_weighted_median_avx2(const MvstereoMedian *m);

av_cold void ff_mvstereo_dsp_init_x86(MvstereoDSP *dsp)
{
    if (!EXTERNAL_AVX2_FAST(av_get_cpu_flags()))
        return;
    dsp->costs           = ff_mvstereo_costs_avx2;
    dsp->path            = ff_mvstereo_path_avx2;
    dsp->sum             = ff_mvstereo_sum_avx2;
    dsp->weighted_median = ff_mvstereo_weighted_median_avx2;
}
