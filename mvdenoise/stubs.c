/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Replaces the CUDA backend in a build without CUDA.
 */

#include "libavutil/error.h"

#include "libavfilter/gpume/mvdenoise/backend.h"
#include "libavfilter/gpume/mvdenoise/repeats.h"

const MvdenoiseBackend ff_mvdenoise_backend_cuda = { .common = { .hw_format = AV_PIX_FMT_NONE } };

int ff_mvdenoise_cuda_compare(MvdenoiseCudaRepeats **s, const AVFrame *a, const AVFrame *b, void *log_ctx)
{
    return AVERROR(ENOSYS);
}

int ff_mvdenoise_cuda_compared(MvdenoiseCudaRepeats *s)
{
    return AVERROR(ENOSYS);
}

void ff_mvdenoise_cuda_repeats_close(MvdenoiseCudaRepeats **s)
{
}
