/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/picture/sequence.h"
#include "libavfilter/gpume/util/frames.h"

enum AVPixelFormat ff_gpume_sequence_hw_format(const GpumeSequenceKind *kind, int i)
{
    for (const GpumeFrameBackend *const *b = kind->backends; *b; b++)
        if ((*b)->hw_format != AV_PIX_FMT_NONE && !i--)
            return (*b)->hw_format;
    return AV_PIX_FMT_NONE;
}

/* Returns the backend for frames, or NULL with a message. */
static av_cold const GpumeFrameBackend *choose(const GpumeSequenceKind *kind, const AVHWFramesContext *frames,
                                               void *log_ctx)
{
    const enum AVPixelFormat hw_format = frames ? frames->format : AV_PIX_FMT_NONE;

    for (const GpumeFrameBackend *const *b = kind->backends; *b; b++) {
        if ((*b)->hw_format != hw_format)
            continue;
        if (frames && (!kind->supports(frames->sw_format) || (*b)->supports && !(*b)->supports(frames->sw_format))) {
            av_log(log_ctx, AV_LOG_ERROR, "%s does not support hardware frames of format %s with samples of format "
                   "%s; insert hwdownload before it.\n", kind->filter, av_get_pix_fmt_name(hw_format),
                   av_get_pix_fmt_name(frames->sw_format));
            return NULL;
        }
        return *b;
    }
    av_log(log_ctx, AV_LOG_ERROR, "%s does not support hardware frames of format %s; insert hwdownload before it.\n",
           kind->filter, av_get_pix_fmt_name(hw_format));
    return NULL;
}

av_cold int ff_gpume_sequence_open(GpumeSequence *s, const GpumeSequenceKind *kind, const AVBufferRef *hw_frames,
                                   const void *cfg, void *log_ctx)
{
    const AVHWFramesContext *frames = hw_frames ? (const AVHWFramesContext *)hw_frames->data : NULL;
    GpumeLayout layout = { 0 };

    s->layout.format = AV_PIX_FMT_NONE;
    s->sw_format     = ff_gpume_sw_format(hw_frames);
    s->device_ctx    = frames ? frames->device_ctx : NULL;
    s->backend       = choose(kind, frames, log_ctx);
    if (!s->backend)
        return AVERROR(ENOSYS);
    s->priv = av_mallocz(s->backend->priv_size);
    if (frames)
        ff_gpume_layout_init(&layout, frames->sw_format, frames->width, frames->height);
    return s->priv ? s->backend->init(s->priv, cfg, &layout) : AVERROR(ENOMEM);
}

av_cold void ff_gpume_sequence_close(GpumeSequence *s)
{
    if (s->priv)
        s->backend->uninit(s->priv);
    av_freep(&s->priv);
}

int ff_gpume_sequence_continues(const GpumeSequence *s, const AVFrame *frame)
{
    return s->device_ctx == ff_gpume_frame_device(frame) &&
           (!s->device_ctx || s->sw_format == ff_gpume_frame_format(frame)) &&
           (!s->nb_in || s->flushed || ff_gpume_layout_is(&s->layout, frame));
}

int ff_gpume_sequence_set_layout(GpumeSequence *s, const AVFrame *frame)
{
    int ret;

    if (!ff_gpume_layout_change(&s->layout, frame))
        return 0;
    ret = s->backend->set_layout(s->priv, &s->layout);
    if (ret < 0)
        s->layout.format = AV_PIX_FMT_NONE;
    return ret < 0 ? ret : 1;
}
