/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A plugin for VapourSynth (API 4): clips through the filters, each in a graph of libavfilter.
 *
 * A graph is a stream, and frames of a clip can be asked for in any order. So a lane, a graph that is being
 * fed, starts as many frames before the one that is asked for as it depends on, and goes on as long as the
 * next ones are. A filter has two lanes, for scripts that read a clip at two places. Frames that come out
 * beside the one that is asked for are kept for a while.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "VapourSynth4.h"

#include "libavutil/avstring.h"
#include "libavutil/bprint.h"
#include "libavutil/imgutils.h"
#include "libavutil/mathematics.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"
#include "libavutil/thread.h"
#include "libavfilter/avfilter.h"
#include "libavfilter/buffersink.h"
#include "libavfilter/buffersrc.h"
#include "libavfilter/vf_gpume.h"

#define MAX_LANES 2
/** Output frames that are kept. */
#define MAX_KEPT  48
/** Most frames that a search holds back, see async_depth in doc/gpume.texi. */
#define MAX_DEPTH 16

enum Kind { DENOISE, FPS, VIEW, DEINTERLACE, VECTORS, ANALYSE };

/** Motion fields on their way to the frame that they belong to. */
typedef struct Fields {
    struct Fields *next;
    int nb, bw, bh, block, pel, is_cut;
    struct { int distance; int32_t *mvs; uint32_t *costs; uint8_t *consistent; } field[GPUME_MAX_REFERENCES];
} Fields;

/** A graph that is being fed. */
typedef struct Lane {
    AVFilterGraph *graph;       ///< NULL: it is closed
    AVFilterContext *source, *sink;
    int next_in;                ///< input frame that it needs next
    int64_t next_out;           ///< output frame that it gives next
    int64_t exact_from;         ///< the first one that is as if all frames had been fed
    int flushed;
    unsigned used;              ///< when
    Fields *fields, **last;     ///< in the order of frames
    GpumeSink results;
} Lane;

typedef struct Clip {
    enum Kind kind;
    VSNode *node, *super;
    VSVideoInfo in, out;
    enum AVPixelFormat format;
    AVBPrint chain;             ///< the filters
    int past, ahead;            ///< input frames that an output frame depends on, or waits for
    int per_frame;              ///< output frames for each input frame, but of FPS
    int threads;
    int delta;                  ///< ANALYSE
    int by_combed;              ///< DEINTERLACE: frames that are not combed pass
    char prefix[64];
    Lane lanes[MAX_LANES];
    unsigned clock;
    struct { int64_t n; const VSFrame *frame; } kept[MAX_KEPT];
    int next_kept;
    const VSFrame *last;        ///< of the stream, once it has ended
    const VSAPI *vs;
    VSCore *core;
} Clip;

/** Messages of the filters; this copy of libavutil is the plugin's own. */
static AVMutex message_lock = AV_MUTEX_INITIALIZER;
static char message[512];

static void take_message(void *ctx, int level, const char *format, va_list args)
{
    if (level > AV_LOG_ERROR)
        return;
    ff_mutex_lock(&message_lock);
    /* what follows the first one says less */
    if (!message[0])
        vsnprintf(message, sizeof(message), format, args);
    message[strcspn(message, "\n")] = 0;
    ff_mutex_unlock(&message_lock);
}

/* Writes what went wrong. */
static void say_error(char *dst, size_t size, const char *name, int error)
{
    ff_mutex_lock(&message_lock);
    snprintf(dst, size, "%s: %s", name, message[0] ? message : av_err2str(error));
    message[0] = 0;
    ff_mutex_unlock(&message_lock);
}

static const char *const names[] = { "Denoise", "FPS", "View", "Deinterlace", "Vectors", "Analyse" };

/* Pixel formats */

static enum AVPixelFormat pixel_format(const VSVideoFormat *f)
{
    char name[32];
    const int is_wide = f->bitsPerSample > 8;

    if (f->sampleType != stInteger || f->bitsPerSample > 16)
        return AV_PIX_FMT_NONE;
    if (f->colorFamily == cfGray)
        snprintf(name, sizeof(name), is_wide ? "gray%dle" : "gray", f->bitsPerSample);
    else if (f->colorFamily == cfRGB)
        snprintf(name, sizeof(name), is_wide ? "gbrp%dle" : "gbrp", f->bitsPerSample);
    else if (f->colorFamily == cfYUV && f->subSamplingW <= 2 && f->subSamplingH <= 2) {
        static const char *const sampling[3][3] = { { "444", "440", "" }, { "422", "420", "" }, { "411", "", "410" } };

        snprintf(name, sizeof(name), is_wide ? "yuv%sp%dle" : "yuv%sp", sampling[f->subSamplingW][f->subSamplingH],
                 f->bitsPerSample);
    } else {
        return AV_PIX_FMT_NONE;
    }
    return av_get_pix_fmt(name);
}

/* Planes of RGB are green, blue, red there. */
static int plane_of(const Clip *c, int plane)
{
    return c->in.format.colorFamily == cfRGB ? (plane + 1) % 3 : plane;
}

static void copy_planes(const Clip *c, VSFrame *write, const VSFrame *read, AVFrame *frame)
{
    const VSAPI *vs = c->vs;
    const VSFrame *f = write ? write : read;

    for (int i = 0; i < c->in.format.numPlanes; i++) {
        const int p = plane_of(c, i), rows = vs->getFrameHeight(f, p);
        const int bytes = vs->getFrameWidth(f, p) * c->in.format.bytesPerSample;
        const ptrdiff_t stride = vs->getStride(f, p);

        if (write)
            av_image_copy_plane(vs->getWritePtr(write, p), stride, frame->data[i], frame->linesize[i], bytes, rows);
        else
            av_image_copy_plane(frame->data[i], frame->linesize[i], vs->getReadPtr(f, p), stride, bytes, rows);
    }
}

/** What an AVFrame keeps of the frame that it comes from: its properties. */
typedef struct Origin {
    const VSFrame *frame;
    const VSAPI *vs;
} Origin;

static void free_origin(void *opaque, uint8_t *data)
{
    Origin *o = (Origin *)data;

    o->vs->freeFrame(o->frame);
    av_free(o);
}

static int64_t property(const Clip *c, const VSMap *map, const char *key, int64_t otherwise)
{
    int error;
    const int64_t value = c->vs->mapGetInt(map, key, 0, &error);

    return error ? otherwise : value;
}

static void set_properties(const Clip *c, AVFrame *frame, const VSFrame *f)
{
    const VSMap *map = c->vs->getFramePropertiesRO(f);
    const int64_t fields = property(c, map, "_FieldBased", 0);
    const int is_interlaced = c->by_combed ? property(c, map, "_Combed", fields > 0) != 0 : fields > 0;
    const int64_t range = property(c, map, "_Range", -1), old_range = property(c, map, "_ColorRange", -1);

    frame->colorspace  = property(c, map, "_Matrix", AVCOL_SPC_UNSPECIFIED);
    frame->color_range = range == 1 || range < 0 && old_range == 0 ? AVCOL_RANGE_JPEG :
                         range == 0 || range < 0 && old_range == 1 ? AVCOL_RANGE_MPEG : AVCOL_RANGE_UNSPECIFIED;
    if (is_interlaced)
        frame->flags |= AV_FRAME_FLAG_INTERLACED;
    if (fields == 2)
        frame->flags |= AV_FRAME_FLAG_TOP_FIELD_FIRST;
}

/* Makes a frame of libavutil, which owns a reference of the given one. */
static AVFrame *import_frame(const Clip *c, const VSFrame *f, int64_t pts)
{
    AVFrame *frame = av_frame_alloc();
    Origin *origin = av_malloc(sizeof(*origin));

    if (!frame || !origin)
        goto fail;
    frame->width    = c->in.width;
    frame->height   = c->in.height;
    frame->format   = c->format;
    frame->pts      = pts;
    frame->duration = 1;
    set_properties(c, frame, f);
    if (av_frame_get_buffer(frame, 0) < 0)
        goto fail;
    copy_planes(c, NULL, f, frame);
    *origin = (Origin){ c->vs->addFrameRef(f), c->vs };
    frame->opaque_ref = av_buffer_create((uint8_t *)origin, sizeof(*origin), free_origin, NULL, 0);
    if (frame->opaque_ref)
        return frame;
    c->vs->freeFrame(f);
fail:
    av_free(origin);
    av_frame_free(&frame);
    return NULL;
}

/* Fields */

static void free_fields(Fields **f)
{
    for (int i = 0; *f && i < (*f)->nb; i++) {
        av_free((*f)->field[i].mvs);
        av_free((*f)->field[i].costs);
        av_free((*f)->field[i].consistent);
    }
    av_freep(f);
}

/* Keeps a result of gpume until its frame comes out. */
static int take_result(void *opaque, const GpumeResult *r, const GpumeStats *stats)
{
    Lane *lane = opaque;
    Fields *f = av_mallocz(sizeof(*f));

    if (!f)
        return AVERROR(ENOMEM);
    *lane->last = f;
    lane->last  = &f->next;
    f->bw    = r->params->bw;
    f->bh    = r->params->bh;
    f->block = r->params->block;
    f->pel   = r->params->pel;
    for (int i = 0; i < r->search.nb_fields; i++) {
        const GpumeField *g = &r->search.fields[i];

        f->field[i].distance   = r->params->distance[g->reference];
        f->field[i].mvs        = av_malloc_array(g->nb, 2 * sizeof(int32_t));
        f->field[i].costs      = av_memdup(g->costs, g->nb * sizeof(*g->costs));
        f->field[i].consistent = av_malloc(g->nb);
        f->nb = i + 1;
        if (!f->field[i].mvs || !f->field[i].costs || !f->field[i].consistent)
            return AVERROR(ENOMEM);
        for (int j = 0; j < g->nb; j++) {
            f->field[i].mvs[2 * j]     = g->mvs[j].motion_x;
            f->field[i].mvs[2 * j + 1] = g->mvs[j].motion_y;
            f->field[i].consistent[j]  = !(g->mvs[j].flags & GPUME_FLAG_INCONSISTENT);
        }
        if (f->field[i].distance == -1)
            f->is_cut = stats[i].cost >= 2 * stats[i].intra && stats[i].cost;
    }
    return 0;
}

/* Lanes */

static void close_lane(Lane *lane)
{
    avfilter_graph_free(&lane->graph);
    while (lane->fields) {
        Fields *next = lane->fields->next;

        free_fields(&lane->fields);
        lane->fields = next;
    }
    lane->last = &lane->fields;
}

static int parse_chain(Lane *lane, const char *chain)
{
    AVFilterInOut *in = avfilter_inout_alloc(), *out = avfilter_inout_alloc();
    int ret = AVERROR(ENOMEM);

    if (in && out) {
        *out = (AVFilterInOut){ .name = av_strdup("in"),  .filter_ctx = lane->source };
        *in  = (AVFilterInOut){ .name = av_strdup("out"), .filter_ctx = lane->sink };
        ret  = in->name && out->name ? avfilter_graph_parse_ptr(lane->graph, chain, &in, &out, NULL) : ret;
    }
    avfilter_inout_free(&in);
    avfilter_inout_free(&out);
    return ret;
}

/* Opens a graph for frames like this one. @param frame NULL: for its options only */
static int open_lane(Clip *c, Lane *lane, const AVFrame *frame)
{
    AVBufferSrcParameters *p = av_buffersrc_parameters_alloc();
    int ret = AVERROR(ENOMEM);

    close_lane(lane);
    lane->flushed = 0;
    lane->graph   = avfilter_graph_alloc();
    if (!p || !lane->graph)
        goto end;
    lane->graph->nb_threads = c->threads;
    lane->source = avfilter_graph_alloc_filter(lane->graph, avfilter_get_by_name("buffer"), "in");
    if (!lane->source)
        goto end;
    p->format      = c->format;
    p->width       = c->in.width;
    p->height      = c->in.height;
    p->time_base   = c->in.fpsNum > 0 ? av_make_q(c->in.fpsDen, c->in.fpsNum) : av_make_q(1, 25);
    p->frame_rate  = av_inv_q(p->time_base);
    p->color_space = frame ? frame->colorspace : AVCOL_SPC_UNSPECIFIED;
    p->color_range = frame ? frame->color_range : AVCOL_RANGE_UNSPECIFIED;
    if ((ret = av_buffersrc_parameters_set(lane->source, p)) < 0 ||
        (ret = avfilter_init_str(lane->source, NULL)) < 0 ||
        (ret = avfilter_graph_create_filter(&lane->sink, avfilter_get_by_name("buffersink"), "out", NULL, NULL,
                                            lane->graph)) < 0 ||
        (ret = parse_chain(lane, c->chain.str)) < 0)
        goto end;
    for (int i = 0; i < lane->graph->nb_filters && c->kind >= VECTORS; i++)
        if (!strcmp(lane->graph->filters[i]->filter->name, "gpume")) {
            lane->results = (GpumeSink){ take_result, lane, 1 };
            ff_gpume_filter_set_sink(lane->graph->filters[i], &lane->results);
        }
    ret = avfilter_graph_config(lane->graph, NULL);
end:
    av_free(p);
    if (ret < 0)
        close_lane(lane);
    return ret;
}

/* The input frame at, or before, an output frame. */
static int input_of(const Clip *c, int64_t n)
{
    const int64_t m = c->kind == FPS ? av_rescale_rnd(n, c->in.fpsNum * c->out.fpsDen, c->in.fpsDen * c->out.fpsNum,
                                                      AV_ROUND_DOWN) : n / c->per_frame;

    return FFMIN(m, c->in.numFrames - 1);
}

/*
 * mvfps counts from its first frame on, which has to be at the time of an output frame. Returns the number of an input
 * frame, which need not exist, where that is so: so long before this one that nothing is interpolated in between.
 */
static int64_t anchor(const Clip *c, int first)
{
    const AVRational ratio = av_mul_q(av_make_q(c->out.fpsNum, c->out.fpsDen), av_make_q(c->in.fpsDen, c->in.fpsNum));
    const int64_t gap = 3 * c->in.fpsNum / c->in.fpsDen + 1;
    int64_t at = first - gap;

    at -= (at % ratio.den + ratio.den) % ratio.den;
    return at;
}

/* The output frame of FPS at the time of an input frame. */
static int64_t output_of(const Clip *c, int64_t m, enum AVRounding rounding)
{
    return av_rescale_rnd(m, c->out.fpsNum * c->in.fpsDen, c->out.fpsDen * c->in.fpsNum, rounding);
}

/* Starts a lane at an input frame. */
static int start_lane(Clip *c, Lane *lane, int first, VSFrameContext *ctx)
{
    const VSFrame *f = c->vs->getFrameFilter(first, c->node, ctx);
    const int64_t at = c->kind == FPS && first ? anchor(c, first) : first;
    AVFrame *frame = import_frame(c, f, at);
    int ret = frame ? open_lane(c, lane, frame) : AVERROR(ENOMEM);

    c->vs->freeFrame(f);
    lane->next_in    = first;
    lane->next_out   = c->kind == FPS ? 0 : (int64_t)first * c->per_frame;
    lane->exact_from = first ? (int64_t)(first + c->past) * c->per_frame : 0;
    if (c->kind == FPS && first && ret >= 0) {
        lane->exact_from = output_of(c, first + c->past, AV_ROUND_UP);
        ret = av_buffersrc_add_frame(lane->source, frame);
    }
    av_frame_free(&frame);
    return ret;
}

static int feed(Clip *c, Lane *lane, VSFrameContext *ctx)
{
    const VSFrame *f;
    AVFrame *frame;
    int ret;

    if (lane->next_in >= c->in.numFrames) {
        lane->flushed = 1;
        return av_buffersrc_add_frame(lane->source, NULL);
    }
    f     = c->vs->getFrameFilter(lane->next_in, c->node, ctx);
    frame = import_frame(c, f, lane->next_in);
    ret   = frame ? av_buffersrc_add_frame(lane->source, frame) : AVERROR(ENOMEM);
    c->vs->freeFrame(f);
    av_frame_free(&frame);
    lane->next_in++;
    return ret;
}

/* Frames that come out */

static void set_field_properties(const Clip *c, VSMap *map, const Fields *f)
{
    const VSAPI *vs = c->vs;

    vs->mapSetInt(map, "GpumeCols", f->bw, maReplace);
    vs->mapSetInt(map, "GpumeRows", f->bh, maReplace);
    vs->mapSetInt(map, "GpumeBlock", f->block, maReplace);
    vs->mapSetInt(map, "GpumePel", f->pel, maReplace);
    vs->mapDeleteKey(map, "GpumeDistances");
    for (int i = 0; i < f->nb; i++) {
        const int nb = f->bw * f->bh, d = f->field[i].distance;
        char key[64];

        vs->mapSetInt(map, "GpumeDistances", d, maAppend);
        snprintf(key, sizeof(key), "GpumeVectors%s%d", d < 0 ? "Past" : "Future", FFABS(d));
        vs->mapSetData(map, key, (char *)f->field[i].mvs, 8 * nb, dtBinary, maReplace);
        snprintf(key, sizeof(key), "GpumeCosts%s%d", d < 0 ? "Past" : "Future", FFABS(d));
        vs->mapSetData(map, key, (char *)f->field[i].costs, 4 * nb, dtBinary, maReplace);
        snprintf(key, sizeof(key), "GpumeConsistent%s%d", d < 0 ? "Past" : "Future", FFABS(d));
        vs->mapSetData(map, key, (char *)f->field[i].consistent, nb, dtBinary, maReplace);
        if (d == -1)
            vs->mapSetInt(map, "_SceneChangePrev", f->is_cut, maReplace);
    }
}

/* The figure of the super clip that MVUtensils has under this name; 0 if there is none. */
static int super_figure(const Clip *c, const VSMap *map, const char *name)
{
    char key[128];

    snprintf(key, sizeof(key), "%sSuper%s", c->prefix, name);
    return property(c, map, key, 0);
}

/*
 * A block of MVUtensils, which may overlap others, consists of blocks of the grid of its steps. It has the
 * vector that is nearest to those of all of them, and what their vectors cost together.
 */
static void join_blocks(const Fields *f, int field, int x0, int y0, int side, int vector[2], int64_t *cost)
{
    const int x1 = FFMIN(x0 + side, f->bw), y1 = FFMIN(y0 + side, f->bh);
    const int32_t *mvs = f->field[field].mvs;
    int64_t least = INT64_MAX;
    int nb = 0;

    *cost = 0;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            const int32_t *a = mvs + 2 * (y * f->bw + x);
            int64_t sum = 0;

            for (int v = y0; v < y1; v++)
                for (int u = x0; u < x1; u++) {
                    const int32_t *b = mvs + 2 * (v * f->bw + u);

                    sum += FFABS(a[0] - b[0]) + FFABS(a[1] - b[1]);
                }
            if (sum < least) {
                least     = sum;
                vector[0] = a[0];
                vector[1] = a[1];
            }
            *cost += f->field[field].costs[y * f->bw + x];
            nb++;
        }
    /* of blocks that the picture's edge cuts */
    *cost = *cost * side * side / FFMAX(nb, 1);
}

/* Returns a component of a vector that keeps the block within the picture and its padding, as MVUtensils wants it. */
static int keep_inside(int d, int at, int side, int length, int padding, int pel)
{
    return av_clip(d, -pel * (at + padding), pel * (length + padding - side - at) - 1);
}

static int set_analysis(const Clip *c, VSMap *map, const Fields *f)
{
    static const char *const same[] = {
        "BitsPerSample", "BlkSizeX", "BlkSizeY", "Chroma", "HPad", "Height", "Levels", "OverlapX", "OverlapY", "Pel",
        "RealHeight", "RealWidth", "VPad", "Width", "XRatioUV", "YRatioUV",
    };
    const VSAPI *vs = c->vs;
    const int pel = super_figure(c, map, "Pel"), side = super_figure(c, map, "BlkSizeX");
    const int width = super_figure(c, map, "Width"), height = super_figure(c, map, "Height");
    const int hpad = super_figure(c, map, "HPad"), vpad = super_figure(c, map, "VPad");
    const int step_x = super_figure(c, map, "BlkSizeX") - super_figure(c, map, "OverlapX");
    const int step_y = super_figure(c, map, "BlkSizeY") - super_figure(c, map, "OverlapY");
    const int nx = (width  - super_figure(c, map, "OverlapX")) / FFMAX(step_x, 1);
    const int ny = (height - super_figure(c, map, "OverlapY")) / FFMAX(step_y, 1);
    /* costs are luma's; MVUtensils adds chroma's */
    const int samples = super_figure(c, map, "XRatioUV") * super_figure(c, map, "YRatioUV");
    const int chroma  = super_figure(c, map, "Chroma") && samples;
    int64_t *vectors, *costs;
    int field = 0, d[2] = { 0 };
    char key[128];

    for (int i = 0; i < FF_ARRAY_ELEMS(same); i++) {
        snprintf(key, sizeof(key), "%sAnalysis%s", c->prefix, same[i]);
        vs->mapSetInt(map, key, super_figure(c, map, same[i]), maReplace);
    }
    snprintf(key, sizeof(key), "%sAnalysisDeltaFrame", c->prefix);
    vs->mapSetInt(map, key, c->delta, maReplace);
    snprintf(key, sizeof(key), "%sAnalysisNBlkX", c->prefix);
    vs->mapSetInt(map, key, nx, maReplace);
    snprintf(key, sizeof(key), "%sAnalysisNBlkY", c->prefix);
    vs->mapSetInt(map, key, ny, maReplace);
    while (field < f->nb && f->field[field].distance != c->delta)
        field++;
    if (field == f->nb)
        return 0;
    vectors = av_malloc_array(nx * ny, sizeof(*vectors));
    costs   = av_malloc_array(nx * ny, sizeof(*costs));
    for (int i = 0; i < nx * ny && vectors && costs; i++) {
        /* a block beyond the picture is that at its edge */
        const int x = FFMIN(i % nx, f->bw - 1), y = FFMIN(i / nx, f->bh - 1);

        join_blocks(f, field, x, y, side / f->block, d, &costs[i]);
        d[0] = keep_inside(d[0], i % nx * step_x, side, width,  hpad, pel);
        d[1] = keep_inside(d[1], i / nx * step_y, side, height, vpad, pel);
        vectors[i] = (int64_t)((uint64_t)(uint32_t)d[1] << 32 | (uint32_t)d[0]);
        costs[i] = chroma ? costs[i] * (samples + 2) / samples : costs[i];
    }
    if (vectors && costs) {
        snprintf(key, sizeof(key), "%sAnalysisVectors", c->prefix);
        vs->mapSetIntArray(map, key, vectors, nx * ny);
        snprintf(key, sizeof(key), "%sAnalysisSAD", c->prefix);
        vs->mapSetIntArray(map, key, costs, nx * ny);
    }
    av_free(vectors);
    av_free(costs);
    return 0;
}

static void set_duration(const Clip *c, VSMap *map)
{
    if (c->kind == FPS) {
        c->vs->mapSetInt(map, "_DurationNum", c->out.fpsDen, maReplace);
        c->vs->mapSetInt(map, "_DurationDen", c->out.fpsNum, maReplace);
    } else if (c->kind == DEINTERLACE) {
        const int64_t den = property(c, map, "_DurationDen", 0);

        c->vs->mapSetInt(map, "_FieldBased", 0, maReplace);
        c->vs->mapSetInt(map, "_Combed", 0, maReplace);
        if (den && c->per_frame == 2)
            c->vs->mapSetInt(map, "_DurationDen", den * 2, maReplace);
    }
}

/* Makes a frame of what came out of a lane. @param super with ANALYSE the frame that gets the vectors */
static VSFrame *export_frame(Clip *c, Lane *lane, AVFrame *frame, const VSFrame *super)
{
    const VSFrame *origin = frame->opaque_ref ? ((Origin *)frame->opaque_ref->data)->frame : NULL;
    Fields *fields = lane->fields;
    VSFrame *out;

    if (c->kind == ANALYSE)
        out = c->vs->copyFrame(super, c->core);
    else if (c->kind == VECTORS)
        out = c->vs->copyFrame(origin, c->core);
    else
        out = c->vs->newVideoFrame(&c->out.format, c->out.width, c->out.height, origin, c->core);
    if (c->kind < VECTORS) {
        copy_planes(c, out, NULL, frame);
        set_duration(c, c->vs->getFramePropertiesRW(out));
    } else if (fields) {
        if (c->kind == ANALYSE)
            set_analysis(c, c->vs->getFramePropertiesRW(out), fields);
        else
            set_field_properties(c, c->vs->getFramePropertiesRW(out), fields);
        lane->fields = fields->next;
        if (!lane->fields)
            lane->last = &lane->fields;
        free_fields(&fields);
    }
    return out;
}

static void keep(Clip *c, int64_t n, const VSFrame *frame)
{
    c->vs->freeFrame(c->kept[c->next_kept].frame);
    c->kept[c->next_kept].n     = n;
    c->kept[c->next_kept].frame = c->vs->addFrameRef(frame);
    c->next_kept = (c->next_kept + 1) % MAX_KEPT;
}

/* Takes the next frame out of a lane. @return 0, or an error: EAGAIN: it needs more frames; EOF */
static int pull(Clip *c, Lane *lane, VSFrameContext *ctx)
{
    AVFrame *frame = av_frame_alloc();
    int ret = frame ? av_buffersink_get_frame(lane->sink, frame) : AVERROR(ENOMEM);
    const VSFrame *super = NULL;
    int64_t n;

    if (ret < 0)
        goto end;
    n = c->kind == FPS ? av_rescale_q_rnd(frame->pts, av_buffersink_get_time_base(lane->sink),
                                          av_make_q(c->out.fpsDen, c->out.fpsNum), AV_ROUND_NEAR_INF) : lane->next_out;
    lane->next_out = n + 1;
    if (n < lane->exact_from && c->kind < VECTORS)
        goto end;
    if (c->kind == ANALYSE)
        super = c->vs->getFrameFilter(n, c->super, ctx);
    if (c->kind == ANALYSE && !super) {
        /* of a frame that this call has not asked for */
        Fields *f = lane->fields;

        lane->fields = f->next;
        if (!lane->fields)
            lane->last = &lane->fields;
        free_fields(&f);
    } else {
        VSFrame *out = export_frame(c, lane, frame, super);

        keep(c, n, out);
        c->vs->freeFrame(c->last);
        c->last = out;
    }
    c->vs->freeFrame(super);
end:
    av_frame_free(&frame);
    return ret;
}

static const VSFrame *kept_frame(const Clip *c, int64_t n)
{
    for (int i = 0; i < MAX_KEPT; i++)
        if (c->kept[i].frame && c->kept[i].n == n)
            return c->vs->addFrameRef(c->kept[i].frame);
    return NULL;
}

/* The lane that comes to an output frame with the input frames from first on; else the one that rests longest. */
static Lane *choose_lane(Clip *c, int64_t n, int first, int *goes_on)
{
    Lane *oldest = &c->lanes[0];

    for (int i = 0; i < MAX_LANES; i++) {
        Lane *l = &c->lanes[i];

        if (l->graph && l->next_out <= n && l->exact_from <= n && (l->next_in >= first || l->flushed)) {
            *goes_on = 1;
            return l;
        }
        if (!l->graph || oldest->graph && l->used < oldest->used)
            oldest = l;
    }
    *goes_on = 0;
    return oldest;
}

static const VSFrame *make_frame(Clip *c, int64_t n, VSFrameContext *ctx)
{
    const int m = input_of(c, n), first = FFMAX(m - c->past, 0), end = FFMIN(m + c->ahead + 1, c->in.numFrames);
    const VSFrame *found = kept_frame(c, n);
    int goes_on, ret = 0;
    Lane *lane;
    char text[600];

    if (found)
        return found;
    lane = choose_lane(c, n, first, &goes_on);
    lane->used = ++c->clock;
    if (!goes_on)
        ret = start_lane(c, lane, first, ctx);
    while (ret >= 0 && lane->next_out <= n) {
        ret = pull(c, lane, ctx);
        if (ret == AVERROR(EAGAIN) && !lane->flushed)
            ret = lane->next_in < end || lane->next_in == c->in.numFrames ? feed(c, lane, ctx) : AVERROR_BUG;
    }
    found = kept_frame(c, n);
    if (found)
        return found;
    /* rates that do not divide: the last frame lasts */
    if (ret == AVERROR_EOF && c->last)
        return c->vs->addFrameRef(c->last);
    say_error(text, sizeof(text), names[c->kind], ret < 0 ? ret : AVERROR_BUG);
    close_lane(lane);
    c->vs->setFilterError(text, ctx);
    return NULL;
}

static const VSFrame *VS_CC get_frame(int n, int reason, void *data, void **frame_data, VSFrameContext *ctx,
                                      VSCore *core, const VSAPI *vs)
{
    Clip *c = data;
    const int m = input_of(c, n);

    if (reason == arInitial) {
        for (int i = FFMAX(m - c->past, 0); i <= FFMIN(m + c->ahead, c->in.numFrames - 1); i++) {
            vs->requestFrameFilter(i, c->node, ctx);
            if (c->super && i <= m)
                vs->requestFrameFilter(i, c->super, ctx);
        }
    } else if (reason == arAllFramesReady) {
        return make_frame(c, n, ctx);
    }
    return NULL;
}

static void VS_CC free_clip(void *data, VSCore *core, const VSAPI *vs)
{
    Clip *c = data;

    for (int i = 0; i < MAX_LANES; i++)
        close_lane(&c->lanes[i]);
    for (int i = 0; i < MAX_KEPT; i++)
        vs->freeFrame(c->kept[i].frame);
    vs->freeFrame(c->last);
    vs->freeNode(c->node);
    vs->freeNode(c->super);
    av_bprint_finalize(&c->chain, NULL);
    av_free(c);
}

/* Options */

/* Adds the arguments of these names, that are there, as options of a filter. "name=option" renames. */
static void add_options(Clip *c, const VSMap *in, const char *list)
{
    char name[32], option[32];
    int len;

    for (; sscanf(list, " %31[^ ]%n", name, &len) == 1; list += len) {
        const char *equals = strchr(name, '=');
        int error;

        snprintf(option, sizeof(option), "%s", equals ? equals + 1 : name);
        name[strcspn(name, "=")] = 0;
        switch (c->vs->mapGetType(in, name)) {
        case ptInt:
            av_bprintf(&c->chain, ":%s=%"PRId64, option, c->vs->mapGetInt(in, name, 0, &error));
            break;
        case ptFloat:
            av_bprintf(&c->chain, ":%s=%.9g", option, c->vs->mapGetFloat(in, name, 0, &error));
            break;
        case ptData:
            /* a word, not a filter */
            av_bprintf(&c->chain, ":%s=%.*s", option, (int)strcspn(c->vs->mapGetData(in, name, 0, &error), "[],;:'\\"),
                       c->vs->mapGetData(in, name, 0, &error));
            break;
        }
    }
}

static int64_t argument(const Clip *c, const VSMap *in, const char *name, int64_t otherwise)
{
    return property(c, in, name, otherwise);
}

/* A search of the user's, or the one that the filter makes by itself, on the backend that is asked for. */
static void add_search(Clip *c, const VSMap *in, const char *usual)
{
    int error;
    const char *search = c->vs->mapGetData(in, "search", 0, &error);

    if (error && c->vs->mapNumElements(in, "backend") < 0 && c->vs->mapNumElements(in, "device") < 0)
        return;
    av_bprintf(&c->chain, "gpume=%.*s", (int)strcspn(error ? usual : search, "[],;'\\"), error ? usual : search);
    add_options(c, in, "backend device");
    av_bprintf(&c->chain, ",");
}

/* How many frames a search holds back, at most. */
static int depth_of(const Clip *c)
{
    return FFMIN(2 + (int64_t)c->threads * 131072 / ((int64_t)c->in.width * c->in.height), MAX_DEPTH);
}

static void set_denoise(Clip *c, const VSMap *in)
{
    const int radius = argument(c, in, "radius", 2), passes = argument(c, in, "passes", 2);
    const int nb_planes = c->vs->mapNumElements(in, "planes");
    char usual[128];
    int error, bits = 0;

    snprintf(usual, sizeof(usual), "algo=hme:block=16:dir=both:smooth=8:sweeps=2:refs=%d", FFMAX(radius, 1));
    if (radius)
        add_search(c, in, usual);
    av_bprintf(&c->chain, "mvdenoise=radius=%d:passes=%d", radius, passes);
    add_options(c, in, "sigma strength");
    for (int i = 0; i < nb_planes; i++)
        for (int j = 0; j < c->in.format.numPlanes; j++)
            if (plane_of(c, j) == c->vs->mapGetInt(in, "planes", i, &error))
                bits |= 1 << j;
    if (nb_planes >= 0)
        av_bprintf(&c->chain, ":planes=%d", bits);
    c->past  = passes * radius + (c->vs->mapGetFloat(in, "sigma", 0, &error) > 0 ? 0 : 8);
    c->ahead = (passes + 1) * radius + depth_of(c);
}

static void set_fps(Clip *c, const VSMap *in)
{
    add_search(c, in, "algo=hme:block=8:dir=both:pel=1:sweeps=4");
    c->out.fpsNum = argument(c, in, "fpsnum", 2 * c->in.fpsNum);
    c->out.fpsDen = argument(c, in, "fpsden", c->vs->mapNumElements(in, "fpsnum") < 0 ? c->in.fpsDen : 1);
    av_bprintf(&c->chain, "mvfps=fps=%"PRId64"/%"PRId64, c->out.fpsNum, c->out.fpsDen);
    add_options(c, in, "mode scene cut");
    c->past  = 3;
    c->ahead = 5 + depth_of(c);
}

static void set_view(Clip *c, const VSMap *in)
{
    const int distance = FFMIN(FFABS(argument(c, in, "distance", 1)), GPUME_MAX_REFS);

    add_search(c, in, "algo=hme:block=8");
    av_bprintf(&c->chain, "mvview=distance=%d", distance);
    add_options(c, in, "mode source scale max step opacity legend background");
    c->past  = FFMAX(distance, GPUME_MAX_REFS);
    c->ahead = FFMAX(distance, GPUME_MAX_REFS) + depth_of(c);
}

static void set_deinterlace(Clip *c, const VSMap *in)
{
    const int passes = argument(c, in, "passes", 2), tff = argument(c, in, "tff", -1);
    int error;
    const char *rate = c->vs->mapGetData(in, "rate", 0, &error);
    const int is_double = error || strcmp(rate, "single");

    av_bprintf(&c->chain, "mvdeint=passes=%d:mode=%s", passes, is_double ? "send_field" : "send_frame");
    if (tff >= 0)
        av_bprintf(&c->chain, ":parity=%s", tff ? "tff" : "bff");
    add_options(c, in, "refs deint");
    c->by_combed  = !!strstr(c->chain.str, "deint=interlaced");
    c->per_frame  = is_double ? 2 : 1;
    c->past       = 3 + passes;
    c->ahead      = 3 + passes * (1 + depth_of(c));
    if (is_double) {
        c->out.numFrames *= 2;
        c->out.fpsNum    *= 2;
    }
}

static void set_vectors(Clip *c, const VSMap *in)
{
    const int refs = argument(c, in, "refs", 1);

    av_bprintf(&c->chain, "gpume=refs=%d", refs);
    if (c->vs->mapNumElements(in, "algo") < 0)
        av_bprintf(&c->chain, ":algo=hme");
    add_options(c, in, "algo block range dir smooth check pel sweeps levels cost backend device");
    c->past  = refs;
    c->ahead = refs + depth_of(c);
}

/* Reads from the super clip what its blocks are. @return an error, or NULL */
static const char *set_analyse(Clip *c, const VSMap *in)
{
    char error[256];
    const VSFrame *f;
    const VSMap *map;
    int err, step, side, pel;
    const char *prefix = c->vs->mapGetData(in, "prefix", 0, &err);

    snprintf(c->prefix, sizeof(c->prefix), "%s", err ? "MVUtensils" : prefix);
    c->super = c->vs->mapGetNode(in, "super", 0, &err);
    c->delta = argument(c, in, "delta", 1);
    if (!c->delta || FFABS(c->delta) > GPUME_MAX_REFS)
        return "'delta' must be from -8 to 8, and not 0";
    f = c->vs->getFrame(0, c->super, error, sizeof(error));
    if (!f)
        return "'super' gives no frame";
    map  = c->vs->getFramePropertiesRO(f);
    side = super_figure(c, map, "BlkSizeX");
    step = side - super_figure(c, map, "OverlapX");
    pel  = super_figure(c, map, "Pel");
    err  = side && super_figure(c, map, "BlkSizeY") == side && step >= 4 && !(step & step - 1) && side % step == 0 &&
           super_figure(c, map, "OverlapY") == super_figure(c, map, "OverlapX");
    c->vs->freeFrame(f);
    if (!pel)
        return "'super' is no clip of mvu.Super";
    if (!err)
        return "blocks of 'super' must be squares, and the overlap 0 or half of a block of 8, 16, 32, 64 or 128";
    av_bprintf(&c->chain, "gpume=dir=%s:refs=%d:block=%d:pel=%d", c->delta > 0 ? "future" : "past",
               FFABS(c->delta), step, pel);
    if (c->vs->mapNumElements(in, "algo") < 0)
        av_bprintf(&c->chain, ":algo=hme");
    add_options(c, in, "algo range smooth check sweeps levels cost backend device");
    c->past  = FFABS(c->delta);
    c->ahead = FFABS(c->delta) + depth_of(c);
    return NULL;
}

/* Returns what is wrong with a clip, or NULL. */
static const char *check_clip(Clip *c)
{
    if (c->in.width <= 0 || c->in.height <= 0 || !c->in.format.colorFamily)
        return "the format and size of the clip must not change";
    c->format = pixel_format(&c->in.format);
    if (c->in.format.sampleType == stFloat)
        return "samples must be integers: convert the clip, for example with resize.Bicubic(format=vs.YUV420P16)";
    if (c->format == AV_PIX_FMT_NONE)
        return "this format is not supported; convert the clip to 8, 10, 12, 14 or 16 bits";
    if (c->kind == FPS && (c->in.fpsNum <= 0 || c->in.fpsDen <= 0))
        return "the clip must have a constant frame rate, as std.AssumeFPS gives it";
    return NULL;
}

static const char *set_up(Clip *c, const VSMap *in)
{
    switch (c->kind) {
    case DENOISE:     set_denoise(c, in);     break;
    case FPS:         set_fps(c, in);         break;
    case VIEW:        set_view(c, in);        break;
    case DEINTERLACE: set_deinterlace(c, in); break;
    case VECTORS:     set_vectors(c, in);     break;
    case ANALYSE:     return set_analyse(c, in);
    }
    return NULL;
}

static void VS_CC create(const VSMap *in, VSMap *out, void *kind, VSCore *core, const VSAPI *vs)
{
    Clip *c = av_mallocz(sizeof(*c));
    VSCoreInfo info;
    const char *wrong;
    char text[600];
    int ret, error;

    if (!c) {
        vs->mapSetError(out, "no memory");
        return;
    }
    c->kind = (intptr_t)kind;
    c->vs   = vs;
    c->core = core;
    c->node = vs->mapGetNode(in, "clip", 0, &error);
    c->in   = c->out = *vs->getVideoInfo(c->node);
    c->per_frame = 1;
    vs->getCoreInfo(core, &info);
    c->threads = argument(c, in, "threads", info.numThreads);
    av_bprint_init(&c->chain, 0, AV_BPRINT_SIZE_UNLIMITED);
    wrong = check_clip(c);
    wrong = wrong ? wrong : set_up(c, in);
    if (wrong) {
        snprintf(text, sizeof(text), "%s: %s", names[c->kind], wrong);
        vs->mapSetError(out, text);
        free_clip(c, core, vs);
        return;
    }
    if (c->kind == FPS && c->out.fpsNum > 0 && c->out.fpsDen > 0)
        c->out.numFrames = FFMIN(output_of(c, c->in.numFrames, AV_ROUND_NEAR_INF), INT_MAX);
    /* says what is wrong with options before a frame is asked for */
    ret = open_lane(c, &c->lanes[0], NULL);
    close_lane(&c->lanes[0]);
    if (ret < 0) {
        say_error(text, sizeof(text), names[c->kind], ret);
        vs->mapSetError(out, text);
        free_clip(c, core, vs);
        return;
    }
    {
        const VSFilterDependency on[] = { { c->node, rpGeneral }, { c->super, rpGeneral } };

        if (c->super)
            c->out = *vs->getVideoInfo(c->super);
        vs->createVideoFilter(out, names[c->kind], &c->out, get_frame, free_clip, fmParallelRequests, on,
                              c->super ? 2 : 1, c, core);
    }
}

#define SEARCH "search:data:opt;backend:data:opt;device:int:opt;threads:int:opt;"

VS_EXTERNAL_API(void) VapourSynthPluginInit2(VSPlugin *plugin, const VSPLUGINAPI *api)
{
    static const char *const arguments[] = {
        [DENOISE]     = "clip:vnode;radius:int:opt;sigma:float:opt;strength:float:opt;passes:int:opt;"
                        "planes:int[]:opt;" SEARCH,
        [FPS]         = "clip:vnode;fpsnum:int:opt;fpsden:int:opt;mode:data:opt;scene:float:opt;cut:data:opt;" SEARCH,
        [VIEW]        = "clip:vnode;mode:data:opt;source:data:opt;distance:int:opt;scale:float:opt;max:float:opt;"
                        "step:int:opt;opacity:float:opt;legend:int:opt;background:data:opt;" SEARCH,
        [DEINTERLACE] = "clip:vnode;tff:int:opt;rate:data:opt;passes:int:opt;refs:int:opt;deint:data:opt;"
                        "threads:int:opt;",
        [VECTORS]     = "clip:vnode;algo:data:opt;block:int:opt;range:int:opt;dir:data:opt;refs:int:opt;smooth:int:opt;"
                        "check:int:opt;pel:int:opt;sweeps:int:opt;levels:int:opt;cost:data:opt;backend:data:opt;"
                        "device:int:opt;threads:int:opt;",
        [ANALYSE]     = "super:vnode;clip:vnode;delta:int:opt;algo:data:opt;range:int:opt;smooth:int:opt;check:int:opt;"
                        "sweeps:int:opt;levels:int:opt;cost:data:opt;prefix:data:opt;backend:data:opt;device:int:opt;"
                        "threads:int:opt;",
    };

    av_log_set_callback(take_message);
    api->configPlugin("org.gpume.vapoursynth", "gpume", "Motion vectors, and what follows them", VS_MAKE_VERSION(1, 0),
                      VAPOURSYNTH_API_VERSION, 0, plugin);
    for (intptr_t i = 0; i < FF_ARRAY_ELEMS(arguments); i++)
        api->registerFunction(names[i], arguments[i], "clip:vnode;", create, (void *)i, plugin);
}
