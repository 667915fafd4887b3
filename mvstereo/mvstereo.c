/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/field/field_args.h"
#include "libavfilter/gpume/mvstereo/backend.h"
#include "libavfilter/gpume/mvstereo/mvstereo.h"

static const GpumeFrameBackend *const backends[] = {
    &ff_mvstereo_backend_cpu.common, &ff_mvstereo_backend_cuda.common, NULL
};

struct Mvstereo {
    MvstereoConfig cfg;
    enum AVPixelFormat sw_format;       ///< pixel format of hardware frames
    int temporal;               ///< the option; cfg.temporal is what is done for the last views
    const MvstereoBackend *backend;
    void *priv;
    int w, h;                   ///< size of the last views
    MvstereoRange range;        ///< range of the maps since views had this size
};

enum AVPixelFormat ff_mvstereo_hw_format(int i)
{
    return ff_gpume_backend_hw_format(backends, i);
}

enum AVPixelFormat ff_mvstereo_output_format(enum MvstereoOutput output, int is_hw)
{
    if (output == MVSTEREO_LEFT_GRAY || (is_hw && output == MVSTEREO_FLOAT))
        return AV_PIX_FMT_NONE;
    if (output == MVSTEREO_FLOAT)
        return AV_PIX_FMT_GRAYF32;
    if (output == MVSTEREO_COLOR)
        return is_hw ? AV_PIX_FMT_0BGR32 : AV_PIX_FMT_RGB24;
    if (output == MVSTEREO_DISPARITY || output == MVSTEREO_DEPTH)
        return is_hw ? AV_PIX_FMT_P016 : AV_PIX_FMT_GRAY16;
    return is_hw ? AV_PIX_FMT_NV12 : AV_PIX_FMT_GRAY8;
}

int ff_mvstereo_bytes(enum MvstereoOutput output, int is_hw)
{
    static const uint8_t bytes[MVSTEREO_NB_OUTPUTS] = {
        [MVSTEREO_DISPARITY] = 2, [MVSTEREO_GRAY] = 1, [MVSTEREO_COLOR] = 3, [MVSTEREO_DEPTH] = 2,
        [MVSTEREO_CONFIDENCE] = 1, [MVSTEREO_FLOAT] = 4,
    };

    return bytes[output] + (is_hw && output == MVSTEREO_COLOR);
}

av_cold int ff_mvstereo_open(Mvstereo **mvstereo, const MvstereoConfig *cfg)
{
    Mvstereo *s = *mvstereo = av_mallocz(sizeof(*s));
    const GpumeFrameBackend *backend;
    int ret;

    if (!s)
        return AVERROR(ENOMEM);
    s->cfg       = *cfg;
    s->temporal  = cfg->temporal;
    s->sw_format = ff_gpume_sw_format(cfg->hw_frames);
    ret = ff_gpume_open_backend(&backend, &s->priv, backends, cfg->hw_frames, ff_gpume_layout_supports, "mvstereo",
                                cfg->log_ctx);
    s->backend = (const MvstereoBackend *)backend;
    if (ret >= 0)
        ret = s->backend->init(s->priv, &s->cfg);
    if (ret < 0)
        ff_mvstereo_close(mvstereo);
    return ret;
}

av_cold void ff_mvstereo_close(Mvstereo **mvstereo)
{
    Mvstereo *s = *mvstereo;

    if (!s)
        return;
    if (s->priv)
        s->backend->uninit(s->priv);
    av_freep(&s->priv);
    av_freep(mvstereo);
}

int ff_mvstereo_make(Mvstereo *s, const MvstereoPair *pair, AVFrame *out)
{
    const AVFrame *frame = pair->views[0].frame;
    GpumeLayout layout;
    MvstereoPair mirrored;

    /* if both views are mirrored, the right view has the disparities of the left one */
    if (pair->right) {
        mirrored = *pair;
        FFSWAP(MvstereoView, mirrored.views[0], mirrored.views[1]);
        for (int i = 0; i < 2; i++) {
            mirrored.views[i].x     += (pair->w - 1) * mirrored.views[i].step_x;
            mirrored.views[i].step_x = -mirrored.views[i].step_x;
        }
        pair = &mirrored;
    }
    ff_gpume_layout_init(&layout, s->cfg.hw_frames ? s->sw_format : frame->format, frame->width, frame->height);
    if (s->w != pair->w || s->h != pair->h)
        s->range = (MvstereoRange) { s->cfg.min, s->cfg.max };
    /* larger views cannot be searched */
    s->cfg.temporal = s->temporal && FFMAX(pair->w, pair->h) <= GPUME_MAX_SIDE;
    s->w = pair->w;
    s->h = pair->h;
    return s->backend->make(s->priv, pair, &layout, &s->range, out);
}

void ff_mvstereo_get_range(const Mvstereo *s, int *min, int *max)
{
    *min = s->range.min;
    *max = s->range.max;
}

int ff_mvstereo_read(Mvstereo *s, int16_t *disparity)
{
    return s->backend->read(s->priv, disparity);
}
