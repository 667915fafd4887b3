/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/hwcontext.h"
#include "libavutil/mem.h"
#include "libavutil/opt.h"

#include "libavcodec/avcodec.h"
#include "libavfilter/buffersink.h"
#include "libavfilter/buffersrc.h"

#include "libavfilter/gpume/core/searches.h"

#include "mpi/graph.h"

/** Filters that treat each frame alone, whatever their options are. */
static const char *const stateless[] = {
    "format", "hflip", "hwdownload", "hwupload", "hwupload_cuda", "null", "scale_cuda", "setsar",
    "transpose", "vflip",
};

void graph_picture(Picture *p, const AVFrame *frame)
{
    memset(p, 0, sizeof(*p));
    p->width       = frame->width;
    p->height      = frame->height;
    p->format      = frame->format;
    p->sw_format   = frame->hw_frames_ctx ? ((AVHWFramesContext *)frame->hw_frames_ctx->data)->sw_format :
                     frame->format;
    p->color_space = frame->colorspace;
    p->color_range = frame->color_range;
}

void graph_close(Graph *g)
{
    avfilter_graph_free(&g->graph);
    av_frame_free(&g->out);
    memset(g, 0, sizeof(*g));
}

/* Returns whether a filter treats each frame alone. A scaler does if it computes its size only once: eval=init. */
static int is_stateless(const AVFilterContext *f)
{
    int64_t eval;

    if (!strcmp(f->filter->name, "scale"))
        return av_opt_get_int(f->priv, "eval", 0, &eval) >= 0 && !eval;
    for (int i = 0; i < FF_ARRAY_ELEMS(stateless); i++)
        if (!strcmp(f->filter->name, stateless[i]))
            return 1;
    return 0;
}

static int check_gpume(const AVFilterContext *f)
{
    int64_t hint = 0;
    uint8_t *mv_file = NULL, *stats_file = NULL;
    int ret = 0;

    if (gpume_has_memory(ff_gpume_filter_params(f)->algo)) {
        av_log(NULL, AV_LOG_ERROR, "This search uses vectors of earlier frames as predictors, so a video "
               "cannot be searched in parts; use another search, or ffmpeg instead of gpume-mpi.\n");
        return AVERROR(ENOSYS);
    }
    if (av_opt_get_int(f->priv, "hint", 0, &hint) >= 0 && hint) {
        av_log(NULL, AV_LOG_ERROR, "'hint' is not valid here: gpume-mpi has no encoder.\n");
        return AVERROR(EINVAL);
    }
    if (av_opt_get(f->priv, "mv_file", AV_OPT_ALLOW_NULL, &mv_file) < 0 ||
        av_opt_get(f->priv, "stats_file", AV_OPT_ALLOW_NULL, &stats_file) < 0 || mv_file || stats_file) {
        av_log(NULL, AV_LOG_ERROR, "'mv_file' and 'stats_file' are not valid here; "
               "use --mv-file and --stats-file.\n");
        ret = AVERROR(EINVAL);
    }
    av_free(mv_file);
    av_free(stats_file);
    return ret;
}

/* Checks that the user's filters are a chain that ends with gpume, and that only gpume needs more than one frame. */
static int check_filters(Graph *g)
{
    for (int i = 0; i < g->graph->nb_filters; i++) {
        AVFilterContext *f = g->graph->filters[i];

        if (f == g->source || f == g->sink)
            continue;
        if (f->nb_inputs != 1 || f->nb_outputs != 1) {
            av_log(NULL, AV_LOG_ERROR, "-vf must be a chain of filters, separated by commas.\n");
            return AVERROR(EINVAL);
        }
        if (!strcmp(f->filter->name, "gpume")) {
            if (g->gpume) {
                av_log(NULL, AV_LOG_ERROR, "-vf must have one filter gpume, not several.\n");
                return AVERROR(EINVAL);
            }
            g->gpume = f;
        } else if (!is_stateless(f)) {
            av_log(NULL, AV_LOG_ERROR, "The filter %s may need several frames, so a video cannot be searched in "
                   "parts after it; only filters that process each frame by itself may precede gpume.\n",
                   f->filter->name);
            return AVERROR(ENOSYS);
        }
    }
    if (!g->gpume || g->sink && (g->sink->nb_inputs < 1 || g->sink->inputs[0]->src != g->gpume)) {
        av_log(NULL, AV_LOG_ERROR, "gpume must be the last filter.\n");
        return AVERROR(EINVAL);
    }
    return check_gpume(g->gpume);
}

/* Inserts the user's filters between the source and the sink. */
static int parse(Graph *g, const char *filters)
{
    AVFilterInOut *in = avfilter_inout_alloc(), *out = avfilter_inout_alloc();
    int ret = AVERROR(ENOMEM);

    if (in && out) {
        out->name       = av_strdup("in");
        out->filter_ctx = g->source;
        in->name        = av_strdup("out");
        in->filter_ctx  = g->sink;
        if (out->name && in->name)
            ret = avfilter_graph_parse_ptr(g->graph, filters, &in, &out, NULL);
    }
    if (ret >= 0 && (in || out)) {
        av_log(NULL, AV_LOG_ERROR, "-vf must be a chain of filters with one input and one output.\n");
        ret = AVERROR(EINVAL);
    }
    avfilter_inout_free(&in);
    avfilter_inout_free(&out);
    return ret;
}

int graph_check(const char *filters)
{
    Graph g = { 0 };
    int ret = AVERROR(ENOMEM);

    g.graph = avfilter_graph_alloc();
    if (g.graph)
        ret = avfilter_graph_create_filter(&g.source, avfilter_get_by_name("buffer"), "in",
                                           "video_size=16x16:pix_fmt=gray:time_base=1/25", NULL, g.graph);
    if (ret >= 0 &&
        (ret = avfilter_graph_create_filter(&g.sink, avfilter_get_by_name("buffersink"), "out", NULL, NULL,
                                            g.graph)) >= 0 &&
        (ret = parse(&g, filters)) >= 0)
        ret = check_filters(&g);
    graph_close(&g);
    return ret;
}

/*
 * Refuses a video that its file wants to be cropped or rotated, unless the picture is on a device: ffmpeg would insert
 * filters.
 */
static int check_video(const GraphConfig *cfg, const AVFrame *frame)
{
    static const int32_t identity[] = { 1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30 };
    const AVPacketSideData *crop = av_packet_side_data_get(cfg->par->coded_side_data, cfg->par->nb_coded_side_data,
                                                           AV_PKT_DATA_FRAME_CROPPING);
    const AVFrameSideData *matrix = av_frame_get_side_data(frame, AV_FRAME_DATA_DISPLAYMATRIX);

    if (!crop && (!matrix || frame->hw_frames_ctx || matrix->size < sizeof(identity) ||
                  !memcmp(matrix->data, identity, sizeof(identity))))
        return 0;
    av_log(NULL, AV_LOG_ERROR, "The file wants its video to be %s; use ffmpeg instead of gpume-mpi.\n",
           crop ? "cropped" : "rotated or mirrored");
    return AVERROR(ENOSYS);
}

static int open_source(Graph *g, const GraphConfig *cfg, const AVFrame *frame)
{
    AVBufferSrcParameters *par = av_buffersrc_parameters_alloc();
    int ret = AVERROR(ENOMEM);

    g->source = avfilter_graph_alloc_filter(g->graph, avfilter_get_by_name("buffer"), "in");
    if (par && g->source) {
        par->format              = frame->format;
        par->time_base           = cfg->time_base;
        par->width               = frame->width;
        par->height              = frame->height;
        par->sample_aspect_ratio = frame->sample_aspect_ratio;
        par->color_space         = frame->colorspace;
        par->color_range         = frame->color_range;
        par->hw_frames_ctx       = frame->hw_frames_ctx;
        ret = av_buffersrc_parameters_set(g->source, par);
        if (ret >= 0)
            ret = avfilter_init_dict(g->source, NULL);
    }
    av_free(par);
    return ret;
}

/* Sets devices for the filters of the user. */
static int set_devices(Graph *g, const GraphConfig *cfg)
{
    for (int i = 0; cfg->device && i < g->graph->nb_filters; i++) {
        AVFilterContext *f = g->graph->filters[i];

        if (!(f->filter->flags & AVFILTER_FLAG_HWDEVICE))
            continue;
        f->hw_device_ctx = av_buffer_ref(cfg->device);
        if (!f->hw_device_ctx)
            return AVERROR(ENOMEM);
    }
    if (!cfg->device && cfg->device_name) {
        uint8_t *name = NULL;
        int ret = av_opt_get(g->gpume->priv, "device", AV_OPT_ALLOW_NULL, &name);

        if (ret >= 0 && !name)
            ret = av_opt_set(g->gpume->priv, "device", cfg->device_name, 0);
        av_free(name);
        return ret;
    }
    return 0;
}

int graph_open(Graph *g, const GraphConfig *cfg, const AVFrame *frame)
{
    int ret = check_video(cfg, frame);

    memset(g, 0, sizeof(*g));
    if (ret < 0)
        return ret;
    g->hw_frames = frame->hw_frames_ctx ? frame->hw_frames_ctx->data : NULL;
    g->out   = av_frame_alloc();
    g->graph = avfilter_graph_alloc();
    if (!g->out || !g->graph)
        return AVERROR(ENOMEM);
    g->graph->nb_threads = cfg->threads;
    if ((ret = open_source(g, cfg, frame)) < 0 ||
        (ret = avfilter_graph_create_filter(&g->sink, avfilter_get_by_name("buffersink"), "out",
                                            NULL, NULL, g->graph)) < 0)
        return ret;
    /* the filters are checked without a picture */
    if ((ret = parse(g, cfg->filters)) < 0 ||
        (ret = check_filters(g)) < 0 ||
        (ret = set_devices(g, cfg)) < 0)
        return ret;
    ff_gpume_filter_set_sink(g->gpume, cfg->sink);
    return avfilter_graph_config(g->graph, NULL);
}

int graph_push(Graph *g, AVFrame *frame)
{
    int ret = av_buffersrc_add_frame_flags(g->source, frame, AV_BUFFERSRC_FLAG_PUSH);

    while (ret >= 0 && (ret = av_buffersink_get_frame(g->sink, g->out)) >= 0)
        av_frame_unref(g->out);
    return ret == AVERROR(EAGAIN) || ret == AVERROR_EOF ? 0 : ret;
}
