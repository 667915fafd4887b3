/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A plugin for VapourSynth (API 4): each function runs a clip through a filter in a graph of libavfilter.
 *
 * A graph processes a stream, but the frames of a clip can be requested in any order. A lane is a graph that
 * frames are fed to. It starts before the requested frame, with all earlier frames on which that depends, and
 * continues while the following frames are requested. A function has two lanes, for scripts that read a clip at
 * two places. Output frames that were not requested are kept for a while. Only when the graph runs does it turn
 * out how many frames after the requested one it needs. Missing ones are requested then; for further output
 * frames as many are requested at once.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plugin.h"

#include "libavutil/avstring.h"
#include "libavutil/mem.h"
#include "libavutil/opt.h"
#include "libavutil/thread.h"

/** The input frames that were requested for an output frame: first to end - 1. */
typedef struct Request {
    int first, end;
} Request;

/** The first error message of the filters. The log callback concerns only the plugin's own copy of libavutil. */
static AVMutex message_lock = AV_MUTEX_INITIALIZER;
static char message[512];

static void take_message(void *ctx, int level, const char *format, va_list args)
{
    if (level > AV_LOG_ERROR)
        return;
    ff_mutex_lock(&message_lock);
    /* messages after the first one are less specific */
    if (!message[0])
        vsnprintf(message, sizeof(message), format, args);
    message[strcspn(message, "\n")] = 0;
    ff_mutex_unlock(&message_lock);
}

/* Writes the error message of the filters or, without one, the text of the error code. */
static void say_error(char *dst, size_t size, const char *name, int error)
{
    ff_mutex_lock(&message_lock);
    snprintf(dst, size, "%s: %s", name, message[0] ? message : av_err2str(error));
    message[0] = 0;
    ff_mutex_unlock(&message_lock);
}

/** Options of gpume that are not arguments under their own names, or that do not suit a plugin. */
#define NOT_HERE "algo,device,method,search_param,mb_size,tree,tree_max,lambda,qp,async_depth,mv_file,mv_format," \
                 "stats_file,stats_format,overwrite,metadata,hint"
#define SEARCH   "search:data:opt;backend:data:opt;device:int:opt;threads:int:opt;"

/** Functions. Their arguments: first, then the options of the filter except those of without, then last. */
static const struct { const char *name, *filter, *without, *first, *last; } functions[] = {
    [DENOISE]     = { "Denoise", "mvdenoise", "planes,search",
                      "clip:vnode;radius:int:opt;sigma:float:opt;strength:float:opt;passes:int:opt;planes:int[]:opt;",
                      SEARCH },
    [FPS]         = { "FPS", "mvfps", "fps,search", "clip:vnode;fpsnum:int:opt;fpsden:int:opt;", SEARCH },
    [VIEW]        = { "View", "mvview", "search", "clip:vnode;", SEARCH },
    [DEINTERLACE] = { "Deinterlace", "mvdeint", "mode,parity", "clip:vnode;tff:int:opt;rate:data:opt;",
                      "threads:int:opt;" },
    [VECTORS]     = { "Vectors", "gpume", NOT_HERE,
                      "clip:vnode;algo:data:opt;block:int:opt;range:int:opt;dir:data:opt;refs:int:opt;",
                      "device:int:opt;threads:int:opt;" },
    [ANALYSE]     = { "Analyse", "gpume", NOT_HERE ",dir,refs,block,pel",
                      "super:vnode;clip:vnode;delta:int:opt;algo:data:opt;range:int:opt;",
                      "prefix:data:opt;device:int:opt;threads:int:opt;" },
    [ANALYSE_MANY] = { "AnalyseMany", "gpume", NOT_HERE ",dir,refs,block,pel",
                       "super:vnode;clip:vnode;radius:int:opt;algo:data:opt;range:int:opt;",
                       "prefix:data:opt;device:int:opt;threads:int:opt;" },
};

/* Returns an output frame that was kept, or the input frame with properties that were kept, or NULL. */
static const VSFrame *kept_frame(const Clip *c, int64_t n, VSFrameContext *ctx)
{
    const VSFrame *f;
    VSFrame *out;
    int i = 0;

    while (i < MAX_KEPT && (c->kept[i].n != n || !c->kept[i].frame && !c->kept[i].fields))
        i++;
    if (i == MAX_KEPT)
        return NULL;
    if (c->kept[i].frame)
        return c->vs->addFrameRef(c->kept[i].frame);
    f   = c->vs->getFrameFilter(n, c->node, ctx);
    out = c->vs->copyFrame(f, c->core);
    c->vs->freeFrame(f);
    c->vs->copyMap(c->kept[i].fields, c->vs->getFramePropertiesRW(out));
    return out;
}

/* Requests of frames */

static void request(const Clip *c, int first, int end, VSFrameContext *ctx)
{
    for (int i = first; i < end; i++)
        c->vs->requestFrameFilter(i, c->node, ctx);
}

/* Returns whether an input frame has the same samples as the one before it. */
static int is_repeat(const Clip *c, int m, VSFrameContext *ctx)
{
    const VSAPI *vs = c->vs;
    const VSFrame *a = vs->getFrameFilter(m - 1, c->node, ctx), *b = vs->getFrameFilter(m, c->node, ctx);
    int is_same = 1;

    for (int p = 0; p < c->in.format.numPlanes && is_same; p++) {
        const size_t bytes = (size_t)vs->getFrameWidth(a, p) * c->in.format.bytesPerSample;

        for (int y = 0; y < vs->getFrameHeight(a, p) && is_same; y++)
            is_same = !memcmp(vs->getReadPtr(a, p) + y * vs->getStride(a, p),
                              vs->getReadPtr(b, p) + y * vs->getStride(b, p), bytes);
    }
    vs->freeFrame(a);
    vs->freeFrame(b);
    return is_same;
}

/*
 * Finds the input frame at which a lane must start for the output frame at input frame m: c->past frames earlier,
 * where repeats do not count. The lane must not start at a repeat.
 * @param exact set to the first input frame for which this start is early enough
 * @return an input frame, or AVERROR(EAGAIN) after more have been requested
 */
static int find_start(const Clip *c, int m, Request *r, VSFrameContext *ctx, int *exact)
{
    int nb = 0, at = m;

    *exact = m;
    if (!c->leaves_repeats)
        return FFMAX(m - c->past, 0);
    for (; at > 0 && m - at < MAX_STILL; at--) {
        if (at == r->first) {
            r->first = FFMAX(at - FFMAX(m - at, STEP), 0);
            request(c, r->first, at, ctx);
            return AVERROR(EAGAIN);
        }
        if (is_repeat(c, at, ctx))
            continue;
        if (!nb)
            *exact = at;
        if (nb++ == c->past)
            break;
    }
    return at;
}

/*
 * Returns a lane that reaches an output frame if it is fed with the input frames from first on; otherwise the lane
 * that has not been used for the longest time. @param goes_on set to whether the lane can continue
 */
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

/* Makes an output frame. @return 0, AVERROR(EAGAIN) after more frames have been requested, or another error */
static int make_frame(Clip *c, int64_t n, Request *r, VSFrameContext *ctx, const VSFrame **out)
{
    const int m = input_of(c, n);
    int goes_on, exact, start, ret = 0;
    Lane *lane;

    *out = kept_frame(c, n, ctx);
    if (*out)
        return 0;
    lane = choose_lane(c, n, r->first, &goes_on);
    if (!goes_on) {
        start = find_start(c, m, r, ctx, &exact);
        if (start < 0)
            return start;
        ret = start_lane(c, lane, start, exact, ctx);
    }
    lane->used = ++c->clock;
    while (ret >= 0 && lane->next_out <= n) {
        ret = pull(c, lane);
        if (ret != AVERROR(EAGAIN) || lane->flushed)
            continue;
        if (lane->next_in >= r->end && lane->next_in < c->in.numFrames) {
            const int end = FFMIN(lane->next_in + STEP, c->in.numFrames);

            request(c, r->end, end, ctx);
            r->end   = end;
            c->ahead = FFMAX(c->ahead, end - m - 1);
            return ret;
        }
        ret = feed(c, lane, ctx);
    }
    *out = kept_frame(c, n, ctx);
    /* with some ratios of rates, a frame is missing at the end: repeats the last one */
    if (!*out && ret == AVERROR_EOF && lane->last)
        *out = c->vs->addFrameRef(lane->last);
    if (*out) {
        c->ahead = FFMAX(c->ahead - 1, lane->next_in - 1 - m);
        return 0;
    }
    close_lane(c, lane);
    return ret < 0 && ret != AVERROR(EAGAIN) ? ret : AVERROR_BUG;
}

static const VSFrame *VS_CC get_frame(int n, int reason, void *data, void **frame_data, VSFrameContext *ctx,
                                      VSCore *core, const VSAPI *vs)
{
    Clip *c = data;
    Request *r = *frame_data;
    const VSFrame *out = NULL;
    char text[600];
    int ret = 0;

    if (reason == arInitial) {
        const int m = input_of(c, n);

        *frame_data = r = av_malloc(sizeof(*r));
        if (!r) {
            vs->setFilterError("no memory", ctx);
            return NULL;
        }
        r->first = FFMAX(m - c->past - c->leaves_repeats, 0);
        r->end   = FFMIN(m + c->ahead + 1, c->in.numFrames);
        request(c, r->first, r->end, ctx);
        return NULL;
    }
    if (reason == arAllFramesReady)
        ret = make_frame(c, n, r, ctx, &out);
    if (ret == AVERROR(EAGAIN))
        return NULL;
    if (ret < 0) {
        say_error(text, sizeof(text), functions[c->kind].name, ret);
        vs->setFilterError(text, ctx);
    }
    av_freep(frame_data);
    return out;
}

static void VS_CC free_clip(void *data, VSCore *core, const VSAPI *vs)
{
    Clip *c = data;

    for (int i = 0; i < MAX_LANES; i++)
        close_lane(c, &c->lanes[i]);
    for (int i = 0; i < MAX_KEPT; i++) {
        vs->freeFrame(c->kept[i].frame);
        vs->freeMap(c->kept[i].fields);
    }
    vs->freeNode(c->node);
    av_bprint_finalize(&c->chain, NULL);
    av_free(c);
}

/* Options */

/* Adds an argument, if it was given, as the option of the filter with the same name. */
static void add_option(Clip *c, const VSMap *in, const char *name)
{
    const VSAPI *vs = c->vs;
    int error;

    switch (vs->mapGetType(in, name)) {
    case ptInt:
        av_bprintf(&c->chain, ":%s=%"PRId64, name, vs->mapGetInt(in, name, 0, &error));
        break;
    case ptFloat:
        av_bprintf(&c->chain, ":%s=%.9g", name, vs->mapGetFloat(in, name, 0, &error));
        break;
    case ptData:
        av_bprintf(&c->chain, ":%s=%s", name, vs->mapGetData(in, name, 0, &error));
        break;
    }
}

/* Returns the type of the argument for an option of the filter, or NULL if the option is not an argument. */
static const char *argument_type(enum Kind kind, const AVOption *o)
{
    if (av_match_name(o->name, functions[kind].without))
        return NULL;
    switch (o->type) {
    case AV_OPT_TYPE_INT:      return o->unit ? "data" : "int";
    case AV_OPT_TYPE_BOOL:     return "int";
    case AV_OPT_TYPE_DOUBLE:
    case AV_OPT_TYPE_DURATION: return "float";
    case AV_OPT_TYPE_FLAGS:
    case AV_OPT_TYPE_STRING:   return "data";
    default:                   return NULL;
    }
}

static const AVOption *next_option(enum Kind kind, const AVOption *o)
{
    const AVClass *class = avfilter_get_by_name(functions[kind].filter)->priv_class;

    return av_opt_next(&class, o);
}

static void add_options(Clip *c, const VSMap *in)
{
    for (const AVOption *o = NULL; (o = next_option(c->kind, o));)
        if (argument_type(c->kind, o))
            add_option(c, in, o->name);
}

/* Adds gpume with the argument search or, if only backend or device was given, with the usual search of the filter. */
static void add_search(Clip *c, const VSMap *in, const char *usual)
{
    int error;
    const char *search = c->vs->mapGetData(in, "search", 0, &error);

    if (error && c->vs->mapNumElements(in, "backend") < 0 && c->vs->mapNumElements(in, "device") < 0)
        return;
    av_bprintf(&c->chain, "gpume=%s", error ? usual : search);
    add_option(c, in, "backend");
    add_option(c, in, "device");
    av_bprintf(&c->chain, ",");
}

static void set_denoise(Clip *c, const VSMap *in)
{
    const int nb_planes = c->vs->mapNumElements(in, "planes");
    char usual[128];
    int error, bits = nb_planes < 0 ? 7 : 0;

    snprintf(usual, sizeof(usual), GPUME_SEARCH_MVDENOISE, (int)FFMAX(property(c, in, "radius", 2), 1));
    add_search(c, in, usual);
    c->leaves_repeats = !c->chain.len;
    for (int i = 0; i < nb_planes; i++)
        for (int j = 0; j < c->in.format.numPlanes; j++)
            if (plane_of(c, j) == c->vs->mapGetInt(in, "planes", i, &error))
                bits |= 1 << j;
    av_bprintf(&c->chain, "mvdenoise=planes=%d", bits);
}

static void set_view(Clip *c, const VSMap *in)
{
    int error;
    const char *source = c->vs->mapGetData(in, "source", 0, &error);
    char usual[128];

    snprintf(usual, sizeof(usual), GPUME_SEARCH_MVVIEW, error || strcmp(source, "future") ? "past" : "future",
             (int)FFMAX(property(c, in, "distance", 1), 1));
    add_search(c, in, usual);
    av_bprintf(&c->chain, "mvview=search=auto");
}

static void set_fps(Clip *c, const VSMap *in)
{
    add_search(c, in, GPUME_SEARCH_MVFPS);
    c->out.fpsNum = property(c, in, "fpsnum", 2 * c->in.fpsNum);
    c->out.fpsDen = property(c, in, "fpsden", c->vs->mapNumElements(in, "fpsnum") < 0 ? c->in.fpsDen : 1);
    av_bprintf(&c->chain, "mvfps=fps=%"PRId64"/%"PRId64, c->out.fpsNum, c->out.fpsDen);
}

static void set_deinterlace(Clip *c, const VSMap *in)
{
    const int tff = property(c, in, "tff", -1);
    int error;
    const char *rate = c->vs->mapGetData(in, "rate", 0, &error), *which;

    c->per_frame = error || strcmp(rate, "single") ? 2 : 1;
    av_bprintf(&c->chain, "mvdeint=mode=%s", c->per_frame == 2 ? "send_field" : "send_frame");
    if (tff >= 0)
        av_bprintf(&c->chain, ":parity=%s", tff ? "tff" : "bff");
    which = c->vs->mapGetData(in, "deint", 0, &error);
    c->by_combed      = !error && !strcmp(which, "interlaced");
    c->out.numFrames *= c->per_frame;
    c->out.fpsNum    *= c->per_frame;
}

/* Returns an error message for an unsuitable clip, or NULL. */
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

/* Returns an error message for arguments that are not options of the filter, or NULL. */
static const char *check_arguments(const Clip *c, const VSMap *in)
{
    int error;
    const char *rate = c->vs->mapGetData(in, "rate", 0, &error);

    if (rate && strcmp(rate, "single") && strcmp(rate, "double"))
        return "'rate' must be \"double\" or \"single\"";
    if (c->threads < 0)
        return "'threads' must not be negative";
    for (int i = 0; i < c->vs->mapNumElements(in, "planes"); i++) {
        const int64_t plane = c->vs->mapGetInt(in, "planes", i, &error);

        if (plane < 0 || plane >= c->in.format.numPlanes)
            return "'planes' has the number of a plane that the clip does not have";
    }
    return NULL;
}

/* Sets the filter chain. */
static void set_up(Clip *c, const VSMap *in)
{
    switch (c->kind) {
    case DENOISE:
        set_denoise(c, in);
        break;
    case FPS:
        set_fps(c, in);
        break;
    case VIEW:
        set_view(c, in);
        break;
    case DEINTERLACE:
        set_deinterlace(c, in);
        break;
    case VECTORS:
        av_bprintf(&c->chain, c->vs->mapNumElements(in, "algo") < 0 ? "gpume=algo=hme" : "gpume=overwrite=1");
        add_option(c, in, "algo");
        add_option(c, in, "device");
        break;
    default:
        break;
    }
    add_options(c, in);
}

/* Sets the number of earlier frames on which an output frame depends, from the options of a lane's filter. */
static void set_past(Clip *c, const Lane *lane)
{
    int64_t radius = 0, passes = 0, gap = 0, repeats = 0;
    double sigma = 0;

    for (int i = 0; i < lane->graph->nb_filters; i++) {
        AVFilterContext *f = lane->graph->filters[i];

        if (strcmp(f->filter->name, functions[c->kind].filter))
            continue;
        av_opt_get_int(f, c->kind == DENOISE ? "radius" : "refs", AV_OPT_SEARCH_CHILDREN, &radius);
        av_opt_get_int(f, "passes", AV_OPT_SEARCH_CHILDREN, &passes);
        av_opt_get_int(f, "gap", AV_OPT_SEARCH_CHILDREN, &gap);
        av_opt_get_int(f, "repeats", AV_OPT_SEARCH_CHILDREN, &repeats);
        av_opt_get_double(f, "sigma", AV_OPT_SEARCH_CHILDREN, &sigma);
    }
    switch (c->kind) {
    case DENOISE:     c->past = passes * radius + (sigma > 0 ? 0 : 8);  break;
    /* at least one output frame, made from frames that are not skipped */
    case FPS:         c->past = 3 + input_of(c, 1) + (repeats ? 8 : 0); break;
    case VIEW:        c->past = GPUME_MAX_REFS;                         break;
    /* a field depends on all before it if there are several passes, but not noticeably on those this far */
    case DEINTERLACE: c->past = passes > 1 ? 16 : 4;                    break;
    default:          c->past = radius;                                 break;
    }
    if (c->kind == FPS)
        c->gap = av_rescale(FFMIN(gap, 600 * INT64_C(1000000)), c->in.fpsNum, c->in.fpsDen * INT64_C(1000000)) + 2;
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
    c->threads = property(c, in, "threads", info.numThreads);
    av_bprint_init(&c->chain, 0, AV_BPRINT_SIZE_UNLIMITED);
    wrong = check_clip(c);
    if (!wrong)
        wrong = check_arguments(c, in);
    if (!wrong)
        set_up(c, in);
    if (wrong) {
        snprintf(text, sizeof(text), "%s: %s", functions[c->kind].name, wrong);
        vs->mapSetError(out, text);
        free_clip(c, core, vs);
        return;
    }
    if (c->kind == FPS && c->out.fpsNum > 0 && c->out.fpsDen > 0)
        c->out.numFrames = FFMIN(output_of(c, c->in.numFrames, AV_ROUND_NEAR_INF), INT_MAX);
    /* reports errors in options before a frame is requested */
    ret = open_lane(c, &c->lanes[0], NULL);
    if (ret >= 0)
        set_past(c, &c->lanes[0]);
    close_lane(c, &c->lanes[0]);
    if (ret < 0) {
        say_error(text, sizeof(text), functions[c->kind].name, ret);
        vs->mapSetError(out, text);
        free_clip(c, core, vs);
        return;
    }
    vs->createVideoFilter(out, functions[c->kind].name, &c->out, get_frame, free_clip, fmParallelRequests,
                          (const VSFilterDependency[]){ { c->node, rpGeneral } }, 1, c, core);
}

VS_EXTERNAL_API(void) VapourSynthPluginInit2(VSPlugin *plugin, const VSPLUGINAPI *api)
{
    av_log_set_callback(take_message);
    api->configPlugin("org.gpume.vapoursynth", "gpume", "Motion vectors, and what follows them", VS_MAKE_VERSION(1, 0),
                      VAPOURSYNTH_API_VERSION, 0, plugin);
    for (intptr_t i = 0; i < FF_ARRAY_ELEMS(functions); i++) {
        AVBPrint arguments;

        av_bprint_init(&arguments, 0, AV_BPRINT_SIZE_UNLIMITED);
        av_bprintf(&arguments, "%s", functions[i].first);
        for (const AVOption *o = NULL; (o = next_option(i, o));) {
            const char *type = argument_type(i, o);
            char known[64];

            snprintf(known, sizeof(known), ";%s:", o->name);
            if (type && !strstr(arguments.str, known))
                av_bprintf(&arguments, "%s:%s:opt;", o->name, type);
        }
        av_bprintf(&arguments, "%s", functions[i].last);
        if (av_bprint_is_complete(&arguments))
            api->registerFunction(functions[i].name, arguments.str, i == ANALYSE_MANY ? "clip:vnode[];" : "clip:vnode;",
                                  i < ANALYSE ? create : create_analysis, (void *)i, plugin);
        av_bprint_finalize(&arguments, NULL);
    }
}
