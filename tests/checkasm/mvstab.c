/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests the functions of mvstab that have assembly code (gpume.c).
 */

#include <string.h>

#include "checkasm.h"
#include "vf_gpume.h"

#include "libavfilter/gpume/mvstab/dsp.h"
#include "libavutil/common.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem_internal.h"

#define STAB_W 64
#define STAB_H 32

static void check_mvstab_warp(const MvstabDSP *dsp, int depth)
{
    LOCAL_ALIGNED_32(uint8_t, pixels, [2 * STAB_W * STAB_H]);
    LOCAL_ALIGNED_32(uint8_t, dst, [2], [2 * STAB_W]);
    MvstabSource src[STAB_W];
    const int bytes = depth > 8 ? 2 : 1, max = (1 << depth) - 1;
    declare_func(void, void *dst, const MvstabSource *src, ptrdiff_t stride, const int8_t (*taps)[MVSTAB_NB_TAPS],
                 int n, int max);

    if (!check_func(dsp->warp, "mvstab_warp_%d", depth))
        return;
    for (int i = 0; i < TRIALS; i++) {
        const int n = 1 + rnd() % (STAB_W - 3);

        /* extreme samples overflow first */
        for (int k = 0; k < STAB_W * STAB_H; k++) {
            const int v = i & 1 ? rnd() & max : rnd() & 1 ? max : 0;

            if (depth > 8)
                AV_WN16(pixels + 2 * k, v);
            else
                pixels[k] = v;
        }
        for (int k = 0; k < STAB_W; k++)
            src[k] = (MvstabSource) {
                pixels + (rnd() % (STAB_H - 7) * STAB_W + rnd() % (STAB_W - 7)) * bytes,
                i & 2 ? rnd() % 64 : 32, i & 2 ? rnd() % 64 : 32,
            };
        call_ref(dst[0], src, (ptrdiff_t)(STAB_W * bytes), ff_mvstab_taps, n, max);
        call_new(dst[1], src, (ptrdiff_t)(STAB_W * bytes), ff_mvstab_taps, n, max);
        if (memcmp(dst[0], dst[1], n * bytes))
            fail();
    }
    bench_new(dst[1], src, (ptrdiff_t)(STAB_W * bytes), ff_mvstab_taps, STAB_W - 4, max);
}

void checkasm_check_mvstab(void)
{
    static const int depths[] = { 8, 10, 16 };

    for (int i = 0; i < FF_ARRAY_ELEMS(depths); i++) {
        MvstabDSP dsp;

        ff_mvstab_dsp_init(&dsp, depths[i]);
        check_mvstab_warp(&dsp, depths[i]);
    }
    report("mvstab");
}
