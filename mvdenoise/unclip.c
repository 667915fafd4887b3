/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"

#include "libavfilter/gpume/mvdenoise/unclip.h"

const uint16_t ff_mvdenoise_shifts[MVDENOISE_SHIFTS] = {
    6529, 5599, 4825, 4172, 3616, 3139, 2728, 2372, 2063, 1794, 1559, 1354, 1175, 1018, 881, 761, 657,
    565, 486, 417, 357, 305, 259, 220, 187, 158, 133,
};

/** Samples that are corrected at a time, and the columns in which clipped ones are counted. */
#define PART    64
#define COLUMNS (PART + 2 * MVDENOISE_AROUND)

#define FUNC(name) name ## _8
#define SAMPLE     uint8_t
#include "libavfilter/gpume/mvdenoise/unclip_template.c"
#undef FUNC
#undef SAMPLE

#define FUNC(name) name ## _16
#define SAMPLE     uint16_t
#include "libavfilter/gpume/mvdenoise/unclip_template.c"

void ff_mvdenoise_unclip(uint8_t *row, const uint8_t *const *noisy, const MvdenoiseUnclip *u)
{
    for (int x = 0; x < u->w; x += PART)
        (u->bytes == 1 ? unclip_8 : unclip_16)(row, noisy, u, x);
}
