/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Disparity of two rectified views: options, formats, frames in and out. gpume/mvstereo/mvstereo.h
 * finds the disparity.
 */

#include <math.h>
#include <string.h>

#include "libavutil/common.h"
#include "libavutil/opt.h"
#include "libavutil/hwcontext.h"
#include "libavutil/pixdesc.h"
#include "libavutil/stereo3d.h"
#include "libavutil/timestamp.h"

#include "avfilter.h"
#include "filters.h"
#include "formats.h"
#include "framesync.h"
#include "video.h"

#include "gpume/core/backend.h"
#include "gpume/mvstereo/layout.h"
#include "gpume/mvstereo/mvstereo.h"
#include "gpume/mvstereo/npy.h"
#include "gpume/mvstereo/view.h"
#include "gpume/picture/layout.h"
#include "gpume/util/compat.h"
#include "gpume/util/frames.h"
#include "gpume/util/options.h"
#include "gpume/util/slice_threads.h"
#include "gpume/util/upstream.h"

/** The view of which a map is made. */
enum View { VIEW_LEFT, VIEW_RIGHT, VIEW_BOTH };

enum { BACKEND_AUTO };

/** Names of outputs that have more bits than most files. */
static const char *const output_names[MVSTEREO_NB_OUTPUTS] = {
    [MVSTEREO_DISPARITY] = "disparity", [MVSTEREO_DEPTH] = "depth", [MVSTEREO_FLOAT] = "float",
};

typedef struct MvstereoContext {
    const AVClass *class;
    FFFrameSync fs;

    /* options */
    int inputs;
    int layout;
    int min, max;
    int rows, fast, temporal, fill;
    int view;                   ///< enum View
    int output, legend;
    char *file;
    int overwrite;
    double focal, baseline;
    int backend;                ///< BACKEND_AUTO, or 1 + enum GpumeBackendId

    int decided;                ///< layout of the input
    Mvstereo *mvstereo;
    MvstereoNpy npy;
    int failed;                 ///< first error: the file is incomplete
    AVBufferRef *hw_frames;     ///< frames context of the output; NULL: frames in system memory
    MvstereoPairing pairing;    ///< of alternating frames
    int warned;                 ///< whether the views were found to be of different times
} MvstereoContext;

#define OFFSET(x) offsetof(MvstereoContext, x)
#define EYES(name, help, val)                                       \
    CONST(name "l", help ", left view first", val, "layout"),       \
    CONST(name "r", help ", right view first", val | MVSTEREO_RIGHT_FIRST, "layout")

static const AVOption mvstereo_options[] = {
    { "inputs", "1: one input has both views; 2: the first input is the left view, the second one the right view",
      OFFSET(inputs), AV_OPT_TYPE_INT, { .i64 = 1 }, 1, 2, FLAGS },
    { "layout", "arrangement of the views in the frames of one input", OFFSET(layout), AV_OPT_TYPE_INT,
      { .i64 = MVSTEREO_AUTO }, MVSTEREO_AUTO, MVSTEREO_FRAMES | MVSTEREO_RIGHT_FIRST, FLAGS, .unit = "layout" },
        CONST("auto", "as the stereo 3D side data of the frames says", MVSTEREO_AUTO, "layout"),
        CONST("sbs", "side by side, left view first", MVSTEREO_SBS, "layout"),
        CONST("tb", "one above the other, left view first", MVSTEREO_TB, "layout"),
        EYES("sbs", "side by side", MVSTEREO_SBS),
        EYES("ab", "one above the other", MVSTEREO_TB),
        EYES("sbs2", "side by side, of half width", MVSTEREO_SBS2),
        EYES("ab2", "one above the other, of half height", MVSTEREO_TB2),
        EYES("ir", "interleaved rows", MVSTEREO_ROWS),
        EYES("ic", "interleaved columns", MVSTEREO_COLUMNS),
        EYES("a", "alternating frames", MVSTEREO_FRAMES),
    { "min", "smallest disparity, in samples", OFFSET(min), AV_OPT_TYPE_INT, { .i64 = 0 }, -MVSTEREO_MAX_RANGE,
      MVSTEREO_MAX_RANGE - 1, FLAGS },
    { "max", "largest disparity plus one, in samples; 0 without a negative min: find the range from the frames",
      OFFSET(max), AV_OPT_TYPE_INT, { .i64 = 0 }, -MVSTEREO_MAX_RANGE + 1, MVSTEREO_MAX_RANGE, FLAGS },
    { "rows", "number of rows above and below that are searched, too", OFFSET(rows), AV_OPT_TYPE_INT, { .i64 = 0 },
      0, MVSTEREO_MAX_ROWS, FLAGS },
    { "fast", "match views of half the size first, then only 32 disparities around the result", OFFSET(fast),
      AV_OPT_TYPE_BOOL, { .i64 = 0 }, 0, 1, FLAGS },
    { "temporal", "stabilise disparities along the motion of the view", OFFSET(temporal), AV_OPT_TYPE_BOOL,
      { .i64 = 1 }, 0, 1, FLAGS },
    { "fill", "fill holes, such as points that only one view sees", OFFSET(fill), AV_OPT_TYPE_BOOL, { .i64 = 1 }, 0, 1,
      FLAGS },
    { "view", "view for which the map is made", OFFSET(view), AV_OPT_TYPE_INT, { .i64 = VIEW_LEFT }, VIEW_LEFT,
      VIEW_BOTH, FLAGS, .unit = "view" },
        CONST("left", "the left view", VIEW_LEFT, "view"),
        CONST("right", "the right view", VIEW_RIGHT, "view"),
        CONST("both", "both, with the map of the left view at the left", VIEW_BOTH, "view"),
    { "output", "contents of the output frames", OFFSET(output), AV_OPT_TYPE_INT, { .i64 = MVSTEREO_DISPARITY }, 0,
      MVSTEREO_NB_OUTPUTS - 1, FLAGS, .unit = "output" },
        CONST("disparity", "16 bits, in 1/16 sample", MVSTEREO_DISPARITY, "output"),
        CONST("gray8", "8 bits, from min to max", MVSTEREO_GRAY, "output"),
        CONST("color", "colours, from min to max", MVSTEREO_COLOR, "output"),
        CONST("depth", "16 bits, in units of baseline", MVSTEREO_DEPTH, "output"),
        CONST("confidence", "8 bits: how much worse the second best disparity is", MVSTEREO_CONFIDENCE, "output"),
        CONST("float", "32-bit floating point, in samples", MVSTEREO_FLOAT, "output"),
        CONST("left+gray8", "the left view and, beside it, the map as in gray8", MVSTEREO_LEFT_GRAY, "output"),
    { "legend", "draw the scale of output=color", OFFSET(legend), AV_OPT_TYPE_BOOL, { .i64 = 1 }, 0, 1, FLAGS },
    { "focal", "focal length for output=depth, in samples", OFFSET(focal), AV_OPT_TYPE_DOUBLE, { .dbl = 0 }, 0, 1e6,
      FLAGS },
    { "baseline", "distance of the cameras for output=depth; depth has the same unit", OFFSET(baseline),
      AV_OPT_TYPE_DOUBLE, { .dbl = 0 }, 0, 1e6, FLAGS },
    { "file", "also write the disparities to this .npy file", OFFSET(file), AV_OPT_TYPE_STRING, { .str = NULL }, 0, 0,
      FLAGS },
    { "overwrite", "replace an existing file; 0: fail if it exists", OFFSET(overwrite), AV_OPT_TYPE_BOOL,
      { .i64 = 1 }, 0, 1, FLAGS },
    { "backend", "where frames in system memory are matched", OFFSET(backend), AV_OPT_TYPE_INT,
      { .i64 = BACKEND_AUTO }, BACKEND_AUTO, GPUME_NB_BACKENDS, FLAGS, .unit = "backend" },
        CONST("auto", "an NVIDIA GPU if one can be opened, otherwise the CPU", BACKEND_AUTO, "backend"),
#define BACKEND(name, help) CONST(#name, help, 1 + GPUME_BACKEND_##name, "backend"),
        GPUME_BACKENDS(BACKEND)
#undef BACKEND
    { NULL }
};

FRAMESYNC_DEFINE_CLASS(mvstereo, MvstereoContext, fs);

static av_cold int preinit(AVFilterContext *ctx)
{
    MvstereoContext *s = ctx->priv;
    const int ret      = mvstereo_framesync_preinit(ctx);

    /* files can round the same time up or down, and cameras are not started at the same time */
    s->fs.opt_ts_sync_mode = TS_NEAREST;
    return ret;
}

static int is_hw_format(enum AVPixelFormat format)
{
    int i = 0;

    while (ff_gpume_sequence_hw_format(&ff_mvstereo_kind, i) != AV_PIX_FMT_NONE &&
           ff_gpume_sequence_hw_format(&ff_mvstereo_kind, i) != format)
        i++;
    return ff_gpume_sequence_hw_format(&ff_mvstereo_kind, i) == format;
}

/* Returns whether the input has hardware frames, or AVERROR(EAGAIN) if earlier filters have not decided yet. */
static int has_hw_format(const AVFilterContext *ctx)
{
    const AVFilterFormats *in = ctx->inputs[0]->incfg.formats;
    int is_hw = 0, is_sw = 0;

    for (unsigned j = 0; in && j < in->nb_formats; j++) {
        is_hw |= is_hw_format(in->formats[j]);
        is_sw |= ff_gpume_layout_supports(in->formats[j]);
    }
    return !in || (is_hw && is_sw) ? AVERROR(EAGAIN) : is_hw;
}

/* Returns the number of pictures side by side in an output frame. */
static int nb_columns(const MvstereoContext *s)
{
    return 1 + (s->view == VIEW_BOTH || s->output == MVSTEREO_LEFT_GRAY);
}

/* Sets the output's formats to those of the first input. */
static int query_same(AVFilterFormats *formats, AVFilterFormatsConfig *in, AVFilterFormatsConfig *out)
{
    int ret = ff_formats_ref(formats, &out->formats);

    if (ret >= 0 && (formats = ff_all_color_spaces()))
        ret = ff_formats_ref(formats, &in->color_spaces);
    if (ret >= 0 && formats)
        ret = ff_formats_ref(formats, &out->color_spaces);
    if (ret >= 0 && formats && (formats = ff_all_color_ranges()))
        ret = ff_formats_ref(formats, &in->color_ranges);
    if (ret >= 0 && formats)
        ret = ff_formats_ref(formats, &out->color_ranges);
    return formats ? ret : AVERROR(ENOMEM);
}

static int query_formats(const AVFilterContext *ctx,
                         AVFilterFormatsConfig **cfg_in,
                         AVFilterFormatsConfig **cfg_out)
{
    const MvstereoContext *s = ctx->priv;
    const int is_hw = has_hw_format(ctx);
    const AVPixFmtDescriptor *desc = NULL;
    AVFilterFormats *formats = NULL;
    int ret;

    if (is_hw < 0)
        return is_hw;
    while ((desc = av_pix_fmt_desc_next(desc))) {
        const enum AVPixelFormat format = av_pix_fmt_desc_get_id(desc);

        if ((is_hw ? is_hw_format(format) : ff_gpume_layout_supports(format)) &&
            (ret = ff_add_format(&formats, format)) < 0)
            return ret;
    }
    for (int i = 0; i < s->inputs; i++)
        if ((ret = ff_formats_ref(formats, &cfg_in[i]->formats)) < 0)
            return ret;
    if (s->output == MVSTEREO_LEFT_GRAY)
        return query_same(formats, cfg_in[0], cfg_out[0]);
    if (!is_hw)
        formats = ff_make_formats_list_singleton(ff_mvstereo_output_format(s->output, 0));
    if ((ret = ff_formats_ref(formats, &cfg_out[0]->formats)) < 0)
        return ret;
    formats = ff_make_formats_list_singleton(s->output == MVSTEREO_COLOR ? AVCOL_SPC_RGB : AVCOL_SPC_UNSPECIFIED);
    if ((ret = ff_formats_ref(formats, &cfg_out[0]->color_spaces)) < 0)
        return ret;
    return ff_formats_ref(ff_make_formats_list_singleton(AVCOL_RANGE_JPEG), &cfg_out[0]->color_ranges);
}

/* Determines the layout of the input. */
static int decide_layout(AVFilterContext *ctx)
{
    MvstereoContext *s = ctx->priv;
    av_unused const AVFilterLink *inlink = ctx->inputs[0];
    const AVFrameSideData *sd;
    const AVStereo3D *stereo;

    s->decided = s->inputs == 2 ? MVSTEREO_INPUTS : s->layout;
    if (s->decided != MVSTEREO_AUTO)
        return 0;
    sd = GPUME_LINK_SIDE_DATA(inlink, AV_FRAME_DATA_STEREO3D);
    stereo     = sd ? (const AVStereo3D *)sd->data : NULL;
    s->decided = stereo ? ff_mvstereo_parse_layout(stereo) : MVSTEREO_AUTO;
    if (s->decided != MVSTEREO_AUTO) {
        av_log(ctx, AV_LOG_INFO, "The input has stereo 3D side data: layout=%s%s.\n",
               ff_mvstereo_layout_names[s->decided & ~MVSTEREO_RIGHT_FIRST],
               s->decided & MVSTEREO_RIGHT_FIRST ? "r" : "l");
        return 0;
    }
    if (stereo && stereo->type != AV_STEREO3D_UNSPEC)
        av_log(ctx, AV_LOG_ERROR, "The input has stereo 3D side data of type '%s', which mvstereo does not "
               "support. ", av_stereo3d_type_name(stereo->type));
    else
        av_log(ctx, AV_LOG_ERROR, "The layout of the views in the frames is unknown. ");
    av_log(ctx, AV_LOG_ERROR, "Set layout to sbsl or sbsr "
           "(side by side, left or right view first), abl or abr (one above the other), sbs2l, sbs2r, ab2l or ab2r "
           "(the same, with half of the samples), irl or irr (rows), icl or icr (columns), al or ar (alternating "
           "frames); or set inputs=2. %s", stereo && stereo->type == AV_STEREO3D_UNSPEC ? MVSTEREO_DECODE_BOTH : "\n");
    return AVERROR(EINVAL);
}

/* Returns whether a map of disparities is made, and not only its confidence. */
static int has_map(const MvstereoContext *s)
{
    return s->output != MVSTEREO_CONFIDENCE || s->file;
}

/* Returns whether to find the range; a range from a negative disparity on may end at 0. */
static int finds_range(const MvstereoContext *s)
{
    return !s->max && s->min >= 0;
}

/* Opens mvstereo for frames in system memory, or for frames like these hardware frames. */
static av_cold int open_mvstereo(AVFilterContext *ctx, AVBufferRef *hw_frames)
{
    MvstereoContext *s = ctx->priv;
    const double depth_one = s->focal * s->baseline * MVSTEREO_ONE;
    MvstereoConfig cfg = {
        .executor  = ff_gpume_slice_threads(ctx),
        .min       = s->min,
        .max       = s->max,
        .rows      = s->rows,
        .fast      = s->fast,
        .temporal  = s->temporal && s->fill && has_map(s),
        .fill      = s->fill,
        .output    = s->output,
        .legend    = s->legend,
        .depth_one = llrint(depth_one),
        .hw_frames = hw_frames,
        .backend   = s->backend - 1,
        .hw_device = ctx->hw_device_ctx,
        .log_ctx   = ctx,
    };

    ff_mvstereo_close(&s->mvstereo);
    return ff_mvstereo_open(&s->mvstereo, &cfg);
}

static av_cold int check_options(AVFilterContext *ctx)
{
    const MvstereoContext *s = ctx->priv;
    const GpumeDependency dependencies[] = {
        { "min",          !finds_range(s), "a max other than 0" },
        { "layout",       s->inputs == 1, "inputs=1" },
        { "eof_action",   s->inputs == 2, "inputs=2" },
        { "shortest",     s->inputs == 2, "inputs=2" },
        { "repeatlast",   s->inputs == 2, "inputs=2" },
        { "ts_sync_mode", s->inputs == 2 || s->fs.opt_ts_sync_mode == TS_NEAREST, "inputs=2" },
        { "focal",        s->output == MVSTEREO_DEPTH, "output=depth" },
        { "baseline",     s->output == MVSTEREO_DEPTH, "output=depth" },
        { "fill",         has_map(s), "'file', or another output than confidence" },
        { "overwrite",    s->file != NULL, "'file'" },
        { "legend",       s->output == MVSTEREO_COLOR, "output=color" },
    };

    if (!finds_range(s) && (s->max <= s->min || s->max - s->min > MVSTEREO_MAX_RANGE)) {
        av_log(ctx, AV_LOG_ERROR, "min=%d:max=%d is a range of %d disparities; it must have 1 to %d. Set max to more "
               "than min, or remove both.\n", s->min, s->max, s->max - s->min, MVSTEREO_MAX_RANGE);
        return AVERROR(EINVAL);
    }
    if (s->layout > 0 && (s->layout & ~MVSTEREO_RIGHT_FIRST) > MVSTEREO_FRAMES) {
        av_log(ctx, AV_LOG_ERROR, "layout=%d: there is no such layout; 'ffmpeg -h filter=mvstereo' lists them.\n",
               s->layout);
        return AVERROR(EINVAL);
    }
    if (s->file && !ff_gpume_has_ending(s->file, ".npy")) {
        av_log(ctx, AV_LOG_ERROR, "'file' is '%s'; it must end in .npy.\n", s->file);
        return AVERROR(EINVAL);
    }
    if (s->inputs == 2 && (s->fs.opt_eof_action == EOF_ACTION_PASS || !s->fs.opt_repeatlast)) {
        av_log(ctx, AV_LOG_ERROR, "A map needs both views, so 'eof_action=pass' and 'repeatlast=0' are not possible. "
               "Set eof_action to repeat or endall.\n");
        return AVERROR(EINVAL);
    }
    if (s->output == MVSTEREO_DEPTH && !(s->focal > 0 && s->baseline > 0)) {
        av_log(ctx, AV_LOG_ERROR, "output=depth needs 'focal' and 'baseline'.\n");
        return AVERROR(EINVAL);
    }
    if (s->output == MVSTEREO_LEFT_GRAY && s->view != VIEW_LEFT) {
        av_log(ctx, AV_LOG_ERROR, "output=left+gray8 is only valid with view=left.\n");
        return AVERROR(EINVAL);
    }
    return ff_gpume_check_options(ctx, dependencies, FF_ARRAY_ELEMS(dependencies));
}

static av_cold int init(AVFilterContext *ctx)
{
    MvstereoContext *s = ctx->priv;
    int ret = check_options(ctx);

    for (int i = 0; i < s->inputs && ret >= 0; i++) {
        const AVFilterPad pad = {
            .name = s->inputs == 1 ? "default" : i ? "right" : "left",
            .type = AVMEDIA_TYPE_VIDEO,
        };

        ret = ff_append_inpad(ctx, (AVFilterPad *)&pad);
    }
    return ret;
}

/* Opens hardware frames for maps of this size, like those of the input. */
static int open_hw_frames(MvstereoContext *s, const AVBufferRef *in, int w, int h)
{
    const AVHWFramesContext *from = (const AVHWFramesContext *)in->data;

    av_buffer_unref(&s->hw_frames);
    return ff_gpume_open_hw_frames(&s->hw_frames, from->device_ref, from->format,
                                   ff_mvstereo_output_format(s->output, 1), FFALIGN(w, 2), FFALIGN(h, 2));
}

/* Gets a frame for a map. */
static int get_frame(AVFilterContext *ctx, AVFrame **out, const AVFrame *frame, int w, int h)
{
    MvstereoContext *s = ctx->priv;
    const AVHWFramesContext *frames = s->hw_frames ? (const AVHWFramesContext *)s->hw_frames->data : NULL;
    int ret = 0;

    if (!frames) {
        *out = ff_get_video_buffer(ctx->outputs[0], w, h);
        return *out ? 0 : AVERROR(ENOMEM);
    }
    if (frames->width != FFALIGN(w, 2) || frames->height != FFALIGN(h, 2))
        ret = open_hw_frames(s, frame->hw_frames_ctx, w, h);
    *out = ret < 0 ? NULL : av_frame_alloc();
    if (!*out)
        return ret < 0 ? ret : AVERROR(ENOMEM);
    return av_hwframe_get_buffer(s->hw_frames, *out, 0);
}

/* Makes the maps of a pair. */
static int make_maps(AVFilterContext *ctx, MvstereoPair *pair, AVFrame *out)
{
    MvstereoContext *s = ctx->priv;
    int ret = 0;

    if (s->output == MVSTEREO_LEFT_GRAY)
        ff_mvstereo_copy_view(out, &pair->views[0], pair->w);
    for (int i = s->view == VIEW_RIGHT; i <= (s->view != VIEW_LEFT) && ret >= 0; i++) {
        pair->right      = i;
        pair->same_range = s->view == VIEW_BOTH && i;
        pair->column     = s->output == MVSTEREO_LEFT_GRAY || pair->same_range ? pair->w : 0;
        ret = ff_mvstereo_make(s->mvstereo, pair, out);
        if (ret < 0 || !s->file)
            continue;
        ret = ff_mvstereo_npy_begin(&s->npy, s->file, s->overwrite, pair->w, pair->h, 1 + (s->view == VIEW_BOTH), ctx);
        if (ret >= 0)
            ret = ff_mvstereo_read(s->mvstereo, s->npy.map);
        if (ret >= 0)
            ret = ff_mvstereo_npy_write(&s->npy);
    }
    return ret;
}

/* Gives an output frame the properties of an input frame, as far as they are valid. */
static int set_properties(AVFilterContext *ctx, AVFrame *out, const AVFrame *in, int w, int h)
{
    const MvstereoContext *s    = ctx->priv;
    const AVFilterLink *outlink = ctx->outputs[0];
    const int ret = av_frame_copy_props(out, in);

    if (ret < 0)
        return ret;
    out->width     = w;
    out->height    = h;
    out->crop_left = out->crop_right = out->crop_top = out->crop_bottom = 0;
    if (s->output != MVSTEREO_LEFT_GRAY) {
        out->color_range     = AVCOL_RANGE_JPEG;
        out->colorspace      = s->output == MVSTEREO_COLOR ? AVCOL_SPC_RGB : AVCOL_SPC_UNSPECIFIED;
        out->color_primaries = AVCOL_PRI_UNSPECIFIED;
        out->color_trc       = AVCOL_TRC_UNSPECIFIED;
        out->chroma_location = AVCHROMA_LOC_UNSPECIFIED;
    }
    out->sample_aspect_ratio = outlink->sample_aspect_ratio;
    if (s->inputs == 2)
        out->duration = av_rescale_q(out->duration, ctx->inputs[0]->time_base, outlink->time_base);
    out->time_base = outlink->time_base;
    ff_mvstereo_remove_side_data(&out->side_data, &out->nb_side_data, s->output != MVSTEREO_LEFT_GRAY);
    return 0;
}

/* Makes the disparity of two frames, or of a frame with both views. Takes over *frame, whose properties are used. */
static int make(AVFilterContext *ctx, AVFrame **frame, const AVFrame *other)
{
    MvstereoContext *s = ctx->priv;
    AVFrame *out = NULL;
    MvstereoPair pair;
    int ret;

    ff_mvstereo_set_views(&pair, s->decided, (*frame)->width, (*frame)->height);
    pair.views[0].frame = *frame;
    pair.views[1].frame = other ? other : *frame;
    if (s->decided & MVSTEREO_RIGHT_FIRST)
        FFSWAP(MvstereoView, pair.views[0], pair.views[1]);
    if (pair.w < 1 || pair.h < 1 || (other && (other->width != pair.w || other->height != pair.h))) {
        av_log(ctx, AV_LOG_ERROR, "Frames of %dx%d and %dx%d samples do not have two views of the same size.\n",
               (*frame)->width, (*frame)->height, (other ? other : *frame)->width, (other ? other : *frame)->height);
        ret = AVERROR(EINVAL);
        goto end;
    }
    ret = get_frame(ctx, &out, *frame, nb_columns(s) * pair.w, pair.h);
    if (ret >= 0)
        ret = set_properties(ctx, out, *frame, nb_columns(s) * pair.w, pair.h);
    if (ret >= 0)
        ret = make_maps(ctx, &pair, out);
    if (ret >= 0)
        ret = ff_mvstereo_tell_scale(s->mvstereo, &out->metadata);
end:
    av_frame_free(frame);
    s->failed |= ret < 0;
    if (ret < 0)
        av_frame_free(&out);
    return ret < 0 ? ret : ff_filter_frame(ctx->outputs[0], out);
}

/* Warns once if the views of a pair are of different times. */
static void check_times(AVFilterContext *ctx, const AVFrame *right)
{
    MvstereoContext *s       = ctx->priv;
    const FFFrameSync *fs    = &s->fs;
    const AVRational rate    = ff_filter_link(ctx->inputs[0])->frame_rate;
    const int64_t pts        = right && right->pts != AV_NOPTS_VALUE ? right->pts : fs->pts;
    const int64_t difference = FFMAX(av_sat_sub64(pts, fs->pts), av_sat_sub64(fs->pts, pts));

    if (s->warned || (right && (rate.num <= 0 || av_compare_ts(difference, fs->time_base, 1, av_inv_q(rate)) <= 0)))
        return;
    s->warned = 1;
    if (right)
        av_log(ctx, AV_LOG_WARNING, "At %s s, the right view's nearest frame is %s s away from the left view's; such "
               "maps are wrong where something moves.\n", av_ts2timestr(fs->pts, &fs->time_base),
               av_ts2timestr(difference, &fs->time_base));
    else
        av_log(ctx, AV_LOG_WARNING, "The right view has no frames, so there are no maps.\n");
}

static int on_event(FFFrameSync *fs)
{
    AVFrame *left, *right;
    int ret = ff_framesync_dualinput_get(fs, &left, &right);

    if (ret < 0)
        return ret;
    check_times(fs->parent, right);
    if (!right) {
        av_frame_free(&left);
        return 0;
    }
    if ((ret = ff_gpume_check_format(fs->parent, left)) < 0 ||
        (ret = ff_gpume_check_format(fs->parent, right)) < 0) {
        av_frame_free(&left);
        return ret;
    }
    return make(fs->parent, &left, right);
}

/* Returns whether frames can be a pair. */
static int are_alike(const AVBufferRef *left, const AVBufferRef *right)
{
    const AVHWFramesContext *a = left ? (const AVHWFramesContext *)left->data : NULL;
    const AVHWFramesContext *b = right ? (const AVHWFramesContext *)right->data : NULL;

    return !a == !b && (!a || (a->device_ctx == b->device_ctx && a->sw_format == b->sw_format));
}

/* Warns if the values of maps are lost, because samples have fewer bits after this filter. */
static av_cold void check_depth(AVFilterContext *ctx, const AVFilterLink *outlink)
{
    const MvstereoContext *s = ctx->priv;
    const int depth          = ff_mvstereo_bytes(s->output, 0) * 8;
    const AVPixFmtDescriptor *desc;

    if (mvstereo_has_scale(s->output) || s->output == MVSTEREO_CONFIDENCE)
        return;
    while (outlink->dst->nb_outputs == 1 && outlink->dst->outputs[0]->format == outlink->format &&
           outlink->dst->outputs[0]->type == AVMEDIA_TYPE_VIDEO)
        outlink = outlink->dst->outputs[0];
    if (outlink->dst->nb_outputs != 1 || strcmp(outlink->dst->filter->name, "scale"))
        return;
    desc = av_pix_fmt_desc_get(outlink->dst->outputs[0]->format);
    if (desc && desc->comp[0].depth < depth)
        av_log(ctx, AV_LOG_WARNING, "Maps of output=%s have %d bits, but are converted to %s with %d, so they look "
               "black or white. Write them with FFV1 (-c:v ffv1 map.mkv) or as PNG files, or set output to gray8 or "
               "color.\n",
               output_names[s->output], depth, desc->name, desc->comp[0].depth);
}

static av_cold int config_output(AVFilterLink *outlink)
{
    AVFilterContext *ctx = outlink->src;
    MvstereoContext *s   = ctx->priv;
    const AVFilterLink *inlink = ctx->inputs[0];
    const FilterLink *in = ff_filter_link(ctx->inputs[0]);
    FilterLink *out      = ff_filter_link(outlink);
    MvstereoPair pair;
    int ret;

    ret = decide_layout(ctx);
    if (ret < 0)
        return ret;
    ff_mvstereo_remove_side_data(GPUME_LINK_SIDE_DATA_LIST(outlink), s->output != MVSTEREO_LEFT_GRAY);
    ff_mvstereo_set_views(&pair, s->decided, inlink->w, inlink->h);
    ff_mvstereo_check_shape(s->decided, pair.w, pair.h, inlink->sample_aspect_ratio, ctx);
    check_depth(ctx, outlink);
    if (pair.w < 1 || pair.h < 1) {
        av_log(ctx, AV_LOG_ERROR, "Frames of %dx%d samples are too small for two views.\n", inlink->w, inlink->h);
        return AVERROR(EINVAL);
    }
    if (in->hw_frames_ctx && s->backend == 1 + GPUME_BACKEND_cpu) {
        av_log(ctx, AV_LOG_ERROR, "backend=cpu is only valid for frames in system memory; insert hwdownload before "
               "mvstereo.\n");
        return AVERROR(EINVAL);
    }
    if (in->hw_frames_ctx && ff_mvstereo_output_format(s->output, 1) == AV_PIX_FMT_NONE) {
        av_log(ctx, AV_LOG_ERROR, "output=float and output=left+gray8 cannot be made from hardware frames; insert "
               "hwdownload before mvstereo.\n");
        return AVERROR(ENOSYS);
    }
    /* not in init(): programs can parse a filtergraph more than once */
    if (s->fast && !finds_range(s) && s->max - s->min <= MVSTEREO_WINDOW)
        av_log(ctx, AV_LOG_WARNING, "'fast' has no effect with up to %d disparities.\n", MVSTEREO_WINDOW);
    outlink->w         = nb_columns(s) * pair.w;
    outlink->h         = pair.h;
    outlink->time_base = inlink->time_base;
    out->frame_rate    = in->frame_rate;
    if ((s->decided & ~MVSTEREO_RIGHT_FIRST) == MVSTEREO_FRAMES && in->frame_rate.num > 0)
        out->frame_rate = av_div_q(in->frame_rate, (AVRational) { 2, 1 });
    outlink->sample_aspect_ratio = ff_mvstereo_view_aspect(s->decided, inlink->sample_aspect_ratio);
    ret = open_mvstereo(ctx, in->hw_frames_ctx);
    if (ret >= 0 && in->hw_frames_ctx) {
        ret = open_hw_frames(s, in->hw_frames_ctx, outlink->w, outlink->h);
        av_buffer_unref(&out->hw_frames_ctx);
        out->hw_frames_ctx = ret < 0 ? NULL : av_buffer_ref(s->hw_frames);
        ret = ret < 0 ? ret : out->hw_frames_ctx ? 0 : AVERROR(ENOMEM);
    }
    if (ret < 0 || s->inputs == 1)
        return ret;
    if (!are_alike(in->hw_frames_ctx, ff_filter_link(ctx->inputs[1])->hw_frames_ctx)) {
        av_log(ctx, AV_LOG_ERROR, "Both views have to be hardware frames of one device and format, or in system "
               "memory.\n");
        return AVERROR(EINVAL);
    }
    if (ctx->inputs[1]->w != inlink->w || ctx->inputs[1]->h != inlink->h) {
        av_log(ctx, AV_LOG_ERROR, "The left view has %dx%d samples, the right one %dx%d. Insert scale before one of "
               "them.\n", inlink->w, inlink->h, ctx->inputs[1]->w, ctx->inputs[1]->h);
        return AVERROR(EINVAL);
    }
    ret = ff_framesync_init_dualinput(&s->fs, ctx);
    if (ret < 0)
        return ret;
    s->fs.on_event    = on_event;
    s->fs.in[0].after  = EXT_STOP;
    s->fs.in[1].before = EXT_INFINITY;
    ret = ff_framesync_configure(&s->fs);
    outlink->time_base = s->fs.time_base;
    return ret;
}

/* Takes a frame of the only input. */
static int take(AVFilterContext *ctx, AVFrame **frame)
{
    MvstereoContext *s = ctx->priv;
    MvstereoPairing *p = &s->pairing;
    int ret;

    if ((s->decided & ~MVSTEREO_RIGHT_FIRST) != MVSTEREO_FRAMES)
        return make(ctx, frame, NULL);
    ret = ff_mvstereo_add_to_pair(p, frame, ctx);
    s->failed |= ret < 0;
    if (ret <= 0)
        return ret;
    if (s->layout == MVSTEREO_AUTO && p->first_view != AV_STEREO3D_VIEW_UNSPEC)
        s->decided = MVSTEREO_FRAMES | (p->first_view == AV_STEREO3D_VIEW_RIGHT ? MVSTEREO_RIGHT_FIRST : 0);
    p->first->duration = av_sat_add64(p->first->duration, (*frame)->duration);
    return make(ctx, &p->first, *frame);
}

static int process(AVFilterContext *ctx)
{
    AVFilterLink *inlink = ctx->inputs[0], *outlink = ctx->outputs[0];
    MvstereoContext *s = ctx->priv;
    AVFrame *frame;
    int64_t pts;
    int ret, status;

    if (s->inputs == 2)
        return ff_framesync_activate(&s->fs);
    FF_FILTER_FORWARD_STATUS_BACK(outlink, inlink);
    ret = ff_gpume_take_input(ctx, &frame, &status, &pts);
    if (ret < 0)
        return ret;
    if (ret) {
        ret = take(ctx, &frame);
        av_frame_free(&frame);
        /* perhaps no frame was sent */
        if (ret >= 0)
            ff_filter_set_ready(ctx, 100);
        return ret;
    }
    if (s->pairing.first)
        av_log(ctx, AV_LOG_WARNING, "The last frame has no second view, so it is dropped.\n");
    ff_outlink_set_status(outlink, status, pts);
    return 0;
}

static int activate(AVFilterContext *ctx)
{
    return ff_gpume_end_if_failed(ctx, process(ctx));
}

static av_cold void uninit(AVFilterContext *ctx)
{
    MvstereoContext *s = ctx->priv;

    av_frame_free(&s->pairing.first);
    if (s->inputs == 2)
        ff_framesync_uninit(&s->fs);
    ff_mvstereo_close(&s->mvstereo);
    s->npy.file.failed |= s->failed;
    ff_mvstereo_npy_close(&s->npy);
    av_buffer_unref(&s->hw_frames);
}

const GPUME_FILTER ff_vf_mvstereo = {
    GPUME_FRAME_FILTER(mvstereo, MvstereoContext, "Find the disparity of two rectified views.",
                       AVFILTER_FLAG_DYNAMIC_INPUTS),
    .preinit = preinit,
    .init = init,
};
