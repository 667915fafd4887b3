/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/aarch64/cpu.h"
#include "libavutil/attributes.h"
#include "libavutil/cpu.h"

#include "libavfilter/gpume/mvstereo/dsp.h"

void ff_mvstereo_costs_neon(const MvstereoCosts *c);
void ff_mvstereo_path_neon(const MvstereoPath *p);
int  ff_mvstereo_sum_neon(const MvstereoSums *s);
void ff_mvstereo_weighted_median_neon(const MvstereoMedian *m);

av_cold void ff_mvstereo_dsp_init_aarch64(MvstereoDSP *dsp)
{
    if (!have_neon(av_get_cpu_flags()))
        return;
    dsp->costs           = ff_mvstereo_costs_neon;
    dsp->path            = ff_mvstereo_path_neon;
    dsp->sum             = ff_mvstereo_sum_neon;
    dsp->weighted_median = ff_mvstereo_weighted_median_neon;
}
