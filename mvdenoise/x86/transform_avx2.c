/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The transforms, compiled for AVX2: gpume.mak has the flags.
 */

#define MVDENOISE_TRANSFORM_INIT ff_mvdenoise_transform_init_avx2
#include "libavfilter/gpume/mvdenoise/transform.c"
