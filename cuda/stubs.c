/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Replaces the CUDA backend in a build without CUDA.
 */

#include "libavutil/error.h"
#include "libavutil/log.h"

#include "libavfilter/gpume/core/backend.h"

static int init(void *priv, const GpumeBackendConfig *cfg)
{
    av_log(cfg->log_ctx, cfg->fallback ? AV_LOG_VERBOSE : AV_LOG_ERROR,
           "This build has no CUDA backend; use backend=cpu.\n");
    return AVERROR(ENOSYS);
}

static void uninit(void *priv)
{
}

const GpumeBackend ff_gpume_backend_cuda = {
    .name      = "cuda",
    .hw_format = AV_PIX_FMT_NONE,
    .init      = init,
    .uninit    = uninit,
};
