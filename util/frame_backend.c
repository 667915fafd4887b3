/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/hwcontext.h"
#include "libavutil/log.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/util/frame_backend.h"

enum AVPixelFormat ff_gpume_backend_hw_format(const GpumeFrameBackend *const *backends, int i)
{
    for (; *backends; backends++)
        if ((*backends)->hw_format != AV_PIX_FMT_NONE && !i--)
            return (*backends)->hw_format;
    return AV_PIX_FMT_NONE;
}

enum AVPixelFormat ff_gpume_sw_format(const AVBufferRef *hw_frames)
{
    return hw_frames ? ((const AVHWFramesContext *)hw_frames->data)->sw_format : AV_PIX_FMT_NONE;
}

av_cold const GpumeFrameBackend *ff_gpume_choose_backend(const GpumeFrameBackend *const *backends,
                                                         const AVBufferRef *hw_frames,
                                                         int (*supports)(enum AVPixelFormat sw_format),
                                                         const char *filter, void *log_ctx)
{
    const AVHWFramesContext *frames    = hw_frames ? (const AVHWFramesContext *)hw_frames->data : NULL;
    const enum AVPixelFormat hw_format = frames ? frames->format : AV_PIX_FMT_NONE;

    for (; *backends; backends++) {
        if ((*backends)->hw_format != hw_format)
            continue;
        if (frames && (!supports(frames->sw_format) ||
                       (*backends)->supports && !(*backends)->supports(frames->sw_format))) {
            av_log(log_ctx, AV_LOG_ERROR, "%s does not support hardware frames of format %s with samples of format "
                   "%s; insert hwdownload before it.\n", filter, av_get_pix_fmt_name(hw_format),
                   av_get_pix_fmt_name(frames->sw_format));
            return NULL;
        }
        return *backends;
    }
    av_log(log_ctx, AV_LOG_ERROR, "%s does not support hardware frames of format %s; insert hwdownload before it.\n",
           filter, av_get_pix_fmt_name(hw_format));
    return NULL;
}
