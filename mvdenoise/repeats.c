/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stddef.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/imgutils.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/mvdenoise/repeats.h"
#include "libavfilter/gpume/picture/sequence.h"
#include "libavfilter/gpume/util/frames.h"

MvdenoiseBytes ff_mvdenoise_bytes(const AVFrame *a, const AVFrame *b)
{
    const enum AVPixelFormat format = ff_gpume_frame_format(a);
    MvdenoiseBytes bytes = { 0 };

    if (!a->data[0] || !b->data[0] || !ff_gpume_are_alike(a, b) ||
        av_image_fill_linesizes(bytes.w, format, a->width) < 0)
        return (MvdenoiseBytes) { 0 };
    while (bytes.nb < 4 && bytes.w[bytes.nb]) {
        const int shift = bytes.nb == 1 || bytes.nb == 2 ? av_pix_fmt_desc_get(format)->log2_chroma_h : 0;

        bytes.h[bytes.nb++] = AV_CEIL_RSHIFT(a->height, shift);
    }
    return bytes;
}

static int has_same(const AVFrame *a, const AVFrame *b)
{
    const MvdenoiseBytes bytes = ff_mvdenoise_bytes(a, b);

    for (int i = 0; i < bytes.nb; i++)
        for (int y = 0; y < bytes.h[i]; y++)
            if (memcmp(a->data[i] + y * (ptrdiff_t)a->linesize[i], b->data[i] + y * (ptrdiff_t)b->linesize[i],
                       bytes.w[i]))
                return 0;
    return bytes.nb > 0;
}

int ff_mvdenoise_compare(MvdenoiseRepeats **s, const AVFrame *a, const AVFrame *b, void *log_ctx)
{
#if GPUME_HAS_CUDA
    if (b->hw_frames_ctx)
        return ff_mvdenoise_cuda_compare(s, a, b, log_ctx);
#endif
    return has_same(a, b);
}

int ff_mvdenoise_compared(MvdenoiseRepeats *s)
{
#if GPUME_HAS_CUDA
    return ff_mvdenoise_cuda_compared(s);
#else
    return AVERROR_BUG;
#endif
}

av_cold void ff_mvdenoise_repeats_close(MvdenoiseRepeats **s)
{
#if GPUME_HAS_CUDA
    ff_mvdenoise_cuda_repeats_close(s);
#endif
}
