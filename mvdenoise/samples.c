/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"

#include "libavfilter/gpume/mvdenoise/samples.h"
#include "libavfilter/gpume/picture/interpolation.h"

/** Half samples that are made at once. */
#define CHUNK 256

/* How much of a patch its samples are: more in the middle. */
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
#define DIFFERENCE int16_t
#define SQUARES    int
#define SUM        uint32_t
#include "libavfilter/gpume/mvdenoise/samples_template.c"
#undef FUNC
#undef SAMPLE
#undef DIFFERENCE
#undef SQUARES
#undef SUM

#define FUNC(name) name ## _16
#define SAMPLE     uint16_t
#define DIFFERENCE int
#define SQUARES    int64_t
#define SUM        uint64_t
#include "libavfilter/gpume/mvdenoise/samples_template.c"

#ifndef MVDENOISE_SAMPLES_INIT
#define MVDENOISE_SAMPLES_INIT ff_mvdenoise_samples_init_c
#endif

av_cold void MVDENOISE_SAMPLES_INIT(MvdenoiseSamples *s, int depth)
{
    *s = depth > 8 ? (MvdenoiseSamples) { halves_16, read_16, squares_16, combine_16, copy_16, store_16 }
                   : (MvdenoiseSamples) { halves_8,  read_8,  squares_8,  combine_8,  copy_8,  store_8 };
}
