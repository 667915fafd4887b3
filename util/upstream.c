/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/filters.h"
#include "libavfilter/gpume/util/upstream.h"

/** Filters that export motion vectors of their own. */
#define SEARCHES "gpume,mestimate"
/** Filters that pass on vectors and search them if none arrive. They print these warnings themselves. */
#define PASSES   "mvdenoise,mvview"
/** Filters that move the content of a picture but pass on its side data unchanged. */
#define MOVES    "crop,fillborders,flip_vulkan,hflip,hflip_vulkan,lenscorrection,pad,perspective,remap,rotate,"  \
                 "scroll,shear,shuffleframes,reverse,swaprect,transpose,transpose_cuda,transpose_vulkan,v360,"   \
                 "vflip,vflip_vulkan,zoompan"

static int changes_size(const AVFilterContext *ctx)
{
    const AVFilterLink *in = ctx->nb_inputs ? ctx->inputs[0] : NULL, *out = ctx->outputs[0];

    return in && (in->w != out->w || in->h != out->h);
}

void ff_gpume_check_upstream(AVFilterContext *ctx, int searched)
{
    const AVFilterContext *from = ctx, *after = NULL;
    const char *moves = NULL, *searches = NULL;

    while (from->nb_inputs == 1 && from->inputs[0] && !searches) {
        const char *name;

        after = from;
        from  = from->inputs[0]->src;
        name  = from->filter->name;
        if (!searched && av_match_name(name, PASSES))
            break;
        if (av_match_name(name, SEARCHES))
            searches = name;
        else if (av_match_name(name, MOVES) || changes_size(from))
            moves = name;
    }
    if (searched && searches)
        av_log(ctx, AV_LOG_WARNING, "The vectors of the filter %s do not arrive here: %s, or a filter after it, "
               "removes them. Insert %s directly before %s.\n", searches, after->filter->name, searches,
               ctx->filter->name);
    else if (!searched && moves)
        av_log(ctx, AV_LOG_WARNING, "The filter %s moves the picture, but not its motion vectors. "
               "Insert it before the motion search.\n", moves);
}

int ff_gpume_check_format(AVFilterContext *ctx, const AVFrame *frame)
{
    AVFilterLink *inlink = ctx->inputs[0];

    if (frame->format == inlink->format && !frame->hw_frames_ctx == !ff_filter_link(inlink)->hw_frames_ctx)
        return 0;
    av_log(ctx, AV_LOG_ERROR, "A frame has the format %s instead of %s, which the filter graph was configured for.\n",
           av_get_pix_fmt_name(frame->format), av_get_pix_fmt_name(inlink->format));
    return AVERROR(EINVAL);
}

int ff_gpume_take_input(AVFilterContext *ctx, AVFrame **frame, int *status, int64_t *pts)
{
    AVFilterLink *inlink = ctx->inputs[0];
    const int ret = ff_inlink_consume_frame(inlink, frame);

    if (ret > 0 && ff_gpume_check_format(ctx, *frame) < 0) {
        av_frame_free(frame);
        return AVERROR(EINVAL);
    }
    if (ret)
        return ret;
    if (ff_inlink_acknowledge_status(inlink, status, pts))
        return 0;
    if (ff_outlink_frame_wanted(ctx->outputs[0]))
        ff_inlink_request_frame(inlink);
    return FFERROR_NOT_READY;
}

int ff_gpume_end_if_failed(AVFilterContext *ctx, int ret)
{
    if (ret < 0 && ret != FFERROR_NOT_READY && !ff_outlink_get_status(ctx->outputs[0]))
        ff_outlink_set_status(ctx->outputs[0], ret, AV_NOPTS_VALUE);
    return ret;
}
