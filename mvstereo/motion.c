/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"

#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/mvstereo/motion.h"

static av_cold int open_engine(MvstereoMotion *m, const MvstereoConfig *cfg, const AVFrame *luma)
{
    const GpumeEngineConfig engine = {
        .params = {
            .algo = GPUME_ALGO_HME, .block = MVSTEREO_BLOCK, .smooth = 8, .sweeps = 2, .pel = 4,
            .nb_references = 1, .distance = { -1 },
        },
        .backend       = luma->hw_frames_ctx ? GPUME_BACKEND_cuda : GPUME_BACKEND_cpu,
        .max_in_flight = 1,
        .on_device     = 1,
        .executor      = cfg->executor,
        .log_ctx       = cfg->log_ctx,
    };

    return ff_gpume_engine_open(&m->engine, &engine, luma->width, luma->height, luma->format, luma->hw_frames_ctx);
}

int ff_mvstereo_motion_begin(MvstereoMotion *m, const MvstereoConfig *cfg, AVFrame *luma)
{
    int ret = m->engine ? 0 : open_engine(m, cfg, luma);

    av_frame_free(&m->before);
    FFSWAP(AVFrame *, m->before, m->result.frame);
    ff_gpume_result_uninit(&m->result);
    if (ret >= 0)
        ret = ff_gpume_engine_push(m->engine, &luma);
    if (ret >= 0)
        ret = ff_gpume_engine_start(m->engine);
    av_frame_free(&luma);
    if (ret < 0)
        ff_mvstereo_motion_close(m);
    return ret;
}

int ff_mvstereo_motion_end(MvstereoMotion *m, const GpumeMotionField **field)
{
    const int ret = ff_gpume_engine_pull(m->engine, &m->result);

    *field = NULL;
    if (ret < 0)
        ff_mvstereo_motion_close(m);
    else if (m->result.set.nb)
        *field = m->result.frame->hw_frames_ctx ? m->result.set.device : m->result.set.host;
    return ret;
}

av_cold void ff_mvstereo_motion_close(MvstereoMotion *m)
{
    ff_gpume_result_uninit(&m->result);
    av_frame_free(&m->before);
    ff_gpume_engine_close(&m->engine);
}
