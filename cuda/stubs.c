/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * The CUDA backend's place in a build that has none.
 */

#include "libavutil/error.h"
#include "libavutil/log.h"

#include "libavfilter/gpume/core/backend.h"

static int init(void *priv, const GpumeBackendConfig *cfg)
{
    av_log(cfg->log_ctx, cfg->fallback ? AV_LOG_VERBOSE : AV_LOG_ERROR,
           "This build has no CUDA backend; backend=cpu searches on the CPU.\n");
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
