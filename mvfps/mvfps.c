/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvfps/backend.h"
#include "libavfilter/gpume/mvfps/mvfps.h"

static const GpumeFrameBackend *const backends[] = {
    &ff_mvfps_backend_cpu.common, &ff_mvfps_backend_cuda.common, NULL
};

struct Mvfps {
    MvfpsConfig cfg;
    const void *device_ctx;         ///< device of hardware frames; NULL: frames in system memory
    const MvfpsBackend *backend;
    void *priv;
    GpumeLayout layout;
    MvfpsPair pair;
};

enum AVPixelFormat ff_mvfps_hw_format(int i)
{
    return ff_gpume_backend_hw_format(backends, i);
}

av_cold int ff_mvfps_open(Mvfps **mvfps, const MvfpsConfig *cfg)
{
    Mvfps *s = *mvfps = av_mallocz(sizeof(*s));
    const GpumeFrameBackend *backend;
    int ret;

    if (!s)
        return AVERROR(ENOMEM);
    s->cfg           = *cfg;
    s->layout.format = AV_PIX_FMT_NONE;
    if (cfg->hw_frames)
        s->device_ctx = ((const AVHWFramesContext *)cfg->hw_frames->data)->device_ctx;
    ret = ff_gpume_open_backend(&backend, &s->priv, backends, cfg->hw_frames, ff_gpume_layout_supports, "mvfps",
                                cfg->log_ctx);
    s->backend = (const MvfpsBackend *)backend;
    if (ret >= 0)
        ret = s->backend->init(s->priv, &s->cfg);
    if (ret < 0)
        ff_mvfps_close(mvfps);
    return ret;
}

av_cold void ff_mvfps_close(Mvfps **mvfps)
{
    Mvfps *s = *mvfps;

    if (!s)
        return;
    if (s->priv)
        s->backend->uninit(s->priv);
    av_freep(&s->priv);
    av_freep(mvfps);
}

/* Sets the layout of pictures like this one. */
static int set_layout(Mvfps *s, const AVFrame *frame)
{
    int ret;

    if (!ff_gpume_layout_change(&s->layout, frame))
        return 0;
    ret = s->backend->set_layout(s->priv, &s->layout);
    if (ret < 0)
        s->layout.format = AV_PIX_FMT_NONE;
    return ret;
}

int ff_mvfps_is_repeat(Mvfps *s, const AVFrame *first, const AVFrame *frame)
{
    GpumeLayout layout;

    if (!ff_gpume_are_alike(first, frame) || ff_gpume_frame_device(frame) != s->device_ctx)
        return 0;
    ff_gpume_layout_init(&layout, ff_gpume_frame_format(frame), frame->width, frame->height);
    return s->backend->is_repeat(s->priv, &layout, first, frame);
}

static int is_near(int distance)
{
    return distance >= MVFPS_MIN_DISTANCE && distance <= MVFPS_MAX_DISTANCE;
}

int ff_mvfps_begin(Mvfps *s, const AVFrame *before, const AVFrame *after, const int distances[2],
                   enum MvfpsMode mode)
{
    const int ret = set_layout(s, before);

    if (ret < 0)
        return ret;
    s->pair = (MvfpsPair) { &s->layout, before, after };
    if (is_near(distances[0]) && is_near(distances[1]))
        s->pair.rates = (MvfpsRates) { mvfps_rate(distances[0]), mvfps_rate(distances[1]) };
    return s->backend->begin(s->priv, &s->pair, mode);
}

int ff_mvfps_look(Mvfps *s, enum MvfpsMode mode, enum MvfpsMode cut, double scene)
{
    return s->backend->look(s->priv, mode, cut, scene);
}

int ff_mvfps_make(Mvfps *s, AVFrame *out, int part, enum MvfpsMode mode)
{
    return s->backend->make(s->priv, out, part, mode);
}

int ff_mvfps_copy(Mvfps *s, AVFrame *out, const AVFrame *in)
{
    const int ret = set_layout(s, in);

    return ret < 0 ? ret : s->backend->copy(s->priv, out, in);
}
