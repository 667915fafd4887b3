/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What is done with samples, compiled for AVX2: gpume.mak has the flags.
 */

#define MVDENOISE_SAMPLES_INIT ff_mvdenoise_samples_init_avx2
#include "libavfilter/gpume/mvdenoise/samples.c"
