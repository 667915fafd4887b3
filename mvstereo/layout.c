/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/mvstereo/layout.h"

const char *const ff_mvstereo_layout_names[] = { "sbs", "ab", "sbs2", "ab2", "ir", "ic", "a" };

/* Returns which view a frame of alternating frames is, or AV_STEREO3D_VIEW_UNSPEC. */
static enum AVStereo3DView view_of(const AVStereo3D *stereo)
{
    const int is_known = stereo && stereo->type == AV_STEREO3D_FRAMESEQUENCE &&
                         (stereo->view == AV_STEREO3D_VIEW_LEFT || stereo->view == AV_STEREO3D_VIEW_RIGHT);

    return is_known ? stereo->view : AV_STEREO3D_VIEW_UNSPEC;
}

static enum AVStereo3DView view_of_frame(const AVFrame *frame)
{
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_STEREO3D);

    return view_of(sd ? (const AVStereo3D *)sd->data : NULL);
}

int ff_mvstereo_parse_layout(const AVStereo3D *stereo)
{
    const enum AVStereo3DView view = view_of(stereo);
    int is_right_first = !!(stereo->flags & AV_STEREO3D_FLAG_INVERT), layout;

    if (view != AV_STEREO3D_VIEW_UNSPEC)
        is_right_first = view == AV_STEREO3D_VIEW_RIGHT;
    switch (stereo->type) {
    case AV_STEREO3D_SIDEBYSIDE:    layout = MVSTEREO_SBS;        break;
    case AV_STEREO3D_TOPBOTTOM:     layout = MVSTEREO_TB;         break;
    case AV_STEREO3D_LINES:         layout = MVSTEREO_ROWS;       break;
    case AV_STEREO3D_COLUMNS:       layout = MVSTEREO_COLUMNS;    break;
    case AV_STEREO3D_FRAMESEQUENCE: layout = MVSTEREO_FRAMES;     break;
    default:
        return MVSTEREO_AUTO;
    }
    return layout | (is_right_first ? MVSTEREO_RIGHT_FIRST : 0);
}

void ff_mvstereo_set_views(MvstereoPair *pair, int layout, int w, int h)
{
    MvstereoView *first = &pair->views[0], *second = &pair->views[1];

    *pair = (MvstereoPair) { { { .step_x = 1, .step_y = 1 }, { .step_x = 1, .step_y = 1 } }, w, h };
    switch (layout & ~MVSTEREO_RIGHT_FIRST) {
    case MVSTEREO_SBS:
    case MVSTEREO_SBS2:
        pair->w   = w / 2;
        second->x = w - w / 2;
        break;
    case MVSTEREO_TB:
    case MVSTEREO_TB2:
        pair->h   = h / 2;
        second->y = h - h / 2;
        break;
    case MVSTEREO_ROWS:
        pair->h = h / 2;
        first->step_y = second->step_y = 2;
        second->y     = 1;
        break;
    case MVSTEREO_COLUMNS:
        pair->w = w / 2;
        first->step_x = second->step_x = 2;
        second->x     = 1;
        break;
    }
}

AVRational ff_mvstereo_view_aspect(int layout, AVRational sar)
{
    const int is_sbs2 = (layout & ~MVSTEREO_RIGHT_FIRST) == MVSTEREO_SBS2;

    if (!is_sbs2 && (layout & ~MVSTEREO_RIGHT_FIRST) != MVSTEREO_TB2)
        return sar;
    return av_mul_q(sar.num > 0 ? sar : av_make_q(1, 1), is_sbs2 ? av_make_q(2, 1) : av_make_q(1, 2));
}

av_cold void ff_mvstereo_check_shape(int layout, int w, int h, AVRational sar, void *log_ctx)
{
    const double shape = (sar.num > 0 ? av_q2d(sar) : 1) * w / h;
    const int is_sbs   = (layout & ~MVSTEREO_RIGHT_FIRST) == MVSTEREO_SBS;
    const int is_tb    = (layout & ~MVSTEREO_RIGHT_FIRST) == MVSTEREO_TB;

    if ((is_sbs && shape > 0.6 && shape < 0.95) || (is_tb && shape > 3 && shape < 5.2))
        av_log(log_ctx, AV_LOG_WARNING, "Views of %dx%d samples have a shape of %.2f:1, like views that are squeezed "
               "into half of the %s. If things look %s, set layout=%s2%s.\n", w, h, shape, is_sbs ? "columns" : "rows",
               is_sbs ? "narrow" : "flat", is_sbs ? "sbs" : "ab", layout & MVSTEREO_RIGHT_FIRST ? "r" : "l");
}

void ff_mvstereo_remove_side_data(AVFrameSideData ***sd, int *nb, int is_map)
{
    static const enum AVFrameSideDataType of_samples[] = {
        AV_FRAME_DATA_STEREO3D, AV_FRAME_DATA_MOTION_VECTORS, AV_FRAME_DATA_VIDEO_HINT, AV_FRAME_DATA_PANSCAN,
        AV_FRAME_DATA_REGIONS_OF_INTEREST, AV_FRAME_DATA_DETECTION_BBOXES, AV_FRAME_DATA_SPHERICAL,
        AV_FRAME_DATA_FILM_GRAIN_PARAMS, AV_FRAME_DATA_VIDEO_ENC_PARAMS,
    };
    static const enum AVFrameSideDataType of_colours[] = {
        AV_FRAME_DATA_MASTERING_DISPLAY_METADATA, AV_FRAME_DATA_CONTENT_LIGHT_LEVEL, AV_FRAME_DATA_DYNAMIC_HDR_PLUS,
        AV_FRAME_DATA_DYNAMIC_HDR_VIVID, AV_FRAME_DATA_DOVI_RPU_BUFFER, AV_FRAME_DATA_DOVI_METADATA,
        AV_FRAME_DATA_AMBIENT_VIEWING_ENVIRONMENT, AV_FRAME_DATA_ICC_PROFILE,
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(of_samples); i++)
        av_frame_side_data_remove(sd, nb, of_samples[i]);
    for (int i = 0; i < FF_ARRAY_ELEMS(of_colours) && is_map; i++)
        av_frame_side_data_remove(sd, nb, of_colours[i]);
}

static const char *view_name(enum AVStereo3DView view)
{
    return view == AV_STEREO3D_VIEW_LEFT ? "left" : "right";
}

static void drop(AVFrame **frame, void *log_ctx)
{
    av_log(log_ctx, AV_LOG_WARNING, "A frame of the %s view has no partner, so it is dropped.\n",
           view_name(view_of_frame(*frame)));
    av_frame_free(frame);
}

int ff_mvstereo_add_to_pair(MvstereoPairing *p, AVFrame **frame, void *log_ctx)
{
    const enum AVStereo3DView view = view_of_frame(*frame);

    if (!p->first && p->had_pair && view != p->first_view && view != AV_STEREO3D_VIEW_UNSPEC &&
        p->first_view != AV_STEREO3D_VIEW_UNSPEC) {
        drop(frame, log_ctx);
        return 0;
    }
    if (p->first && view != AV_STEREO3D_VIEW_UNSPEC && view == view_of_frame(p->first)) {
        if (!p->had_pair) {
            av_log(log_ctx, AV_LOG_ERROR, "Two frames in a row are of the %s view, so they are not a pair. "
                   MVSTEREO_DECODE_BOTH, view_name(view));
            return AVERROR(EINVAL);
        }
        drop(&p->first, log_ctx);
    }
    if (!p->first) {
        FFSWAP(AVFrame *, p->first, *frame);
        return 0;
    }
    p->had_pair   = 1;
    p->first_view = view_of_frame(p->first);
    return 1;
}
