/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A plugin for VapourSynth (API 4): each function runs a clip through a filter in a graph of libavfilter.
 *
 * A graph processes a stream, but the frames of a clip can be requested in any order. A run is a graph that
 * frames are fed to. It starts before the requested frame, with all earlier frames on which that depends, and
 * continues while the following frames are requested. A function has two runs, for scripts that read a clip at
 * two places. Output frames that were not requested are kept for a while. Only when the graph runs does it turn
 * out how many frames after the requested one it needs. Missing ones are requested then; for further output
 * frames as many are requested at once.
 */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plugin.h"

#include "libavutil/mem.h"
#include "libavutil/thread.h"

/** The first error message of the filters. The log callback concerns only the plugin's own copy of libavutil. */
static AVMutex message_lock = AV_MUTEX_INITIALIZER;
static char message[512];

static void take_message(void *ctx, int level, const char *format, va_list args)
{
    const AVClass *class = ctx ? *(const AVClass **)ctx : NULL;

    /* what the parser of expressions says does not name the option, as the next message does */
    if (level > AV_LOG_ERROR || class && !strcmp(class->class_name, "Eval"))
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

/* Requests frames before those that were requested. @return AVERROR(EAGAIN) */
static int request_before(const Clip *c, Request *r, int first, VSFrameContext *ctx)
{
    request(c, first, r->first, ctx);
    r->first = first;
    return AVERROR(EAGAIN);
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
 * Finds the input frame at which a run must start for the output frame at input frame m: c->past frames earlier,
 * where repeats do not count. The run must not start at a repeat.
 * @param exact set to the first input frame for which this start is early enough
 * @return an input frame, or AVERROR(EAGAIN) after more have been requested
 */
static int find_start(const Clip *c, int m, Request *r, VSFrameContext *ctx, int *exact)
{
    int nb = 0, at = m;

    *exact = m;
    if (!c->leaves_repeats)
        at = FFMAX(m - c->past, 0);
    for (; c->leaves_repeats && at > 0 && m - at < MAX_STILL; at--) {
        if (at <= r->first)
            return request_before(c, r, FFMAX(at - FFMAX(m - at, STEP), 0), ctx);
        if (is_repeat(c, at, ctx))
            continue;
        if (!nb)
            *exact = at;
        if (nb++ == c->past)
            break;
    }
    return at < r->first ? request_before(c, r, at, ctx) : at;
}

/*
 * Returns a run that reaches an output frame if it is fed with the input frames from first on; otherwise the run
 * that has not been used for the longest time. @param goes_on set to whether the run can continue
 */
static Run *choose_run(Clip *c, int64_t n, int first, int *goes_on)
{
    Run *oldest = &c->runs[0];

    for (int i = 0; i < MAX_RUNS; i++) {
        Run *run = &c->runs[i];

        if (run->graph && run->next_out <= n && run->exact_from <= n && (run->next_in >= first || run->flushed)) {
            *goes_on = 1;
            return run;
        }
        if (!run->graph || oldest->graph && run->used < oldest->used)
            oldest = run;
    }
    *goes_on = 0;
    return oldest;
}

/* Returns whether an output frame is one that a run has just passed, so that those before it will be wanted next. */
static int is_backwards(const Clip *c, int64_t n)
{
    for (int i = 0; i < MAX_RUNS; i++)
        if (c->runs[i].graph && n < c->runs[i].exact_from && n >= c->runs[i].exact_from - MAX_KEPT / 2)
            return 1;
    return 0;
}

/* Makes an output frame. @return 0, AVERROR(EAGAIN) after more frames have been requested, or another error */
static int make_frame(Clip *c, int64_t n, Request *r, VSFrameContext *ctx, const VSFrame **out)
{
    const int m = input_of(c, n);
    int goes_on, exact, start, back = 0, ret = 0;
    Run *run;

    *out = kept_frame(c, n, ctx);
    if (*out)
        return 0;
    if (c->kind == STABILIZE) {
        ret  = advance_shot(c, n, r, ctx);
        *out = ret < 0 ? NULL : kept_frame(c, n, ctx);
        return *out || ret < 0 ? ret : AVERROR_BUG;
    }
    run = choose_run(c, n, r->first, &goes_on);
    if (!goes_on) {
        if (is_backwards(c, n))
            back = FFMIN(BACKWARDS, (MAX_KEPT - STEP) * (int64_t)c->in.numFrames / c->out.numFrames);
        start = find_start(c, FFMAX(m - back, 0), r, ctx, &exact);
        if (start < 0)
            return start;
        ret = start_run(c, run, start, exact, ctx);
    }
    run->used = ++c->clock;
    while (ret >= 0 && run->next_out <= n) {
        ret = pull(c, run);
        if (ret != AVERROR(EAGAIN) || run->flushed)
            continue;
        if (run->next_in >= r->end && run->next_in < c->in.numFrames) {
            const int end = FFMIN(run->next_in + STEP, c->in.numFrames);

            request(c, r->end, end, ctx);
            r->end   = end;
            c->ahead = FFMAX(c->ahead, end - m - 1);
            return ret;
        }
        ret = feed(c, run, ctx);
    }
    *out = kept_frame(c, n, ctx);
    /* with some ratios of rates, a frame is missing at the end: repeats the last one */
    if (!*out && ret == AVERROR_EOF && run->last)
        *out = c->vs->addFrameRef(run->last);
    if (*out) {
        c->ahead = FFMAX(c->ahead - 1, run->next_in - 1 - m);
        return 0;
    }
    close_run(c, run);
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
        r->end   = FFMIN(m + c->ahead + 1, c->in.numFrames);
        r->first = c->kind == STABILIZE ? r->end - 1 : FFMAX(m - c->past - c->leaves_repeats, 0);
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

    for (int i = 0; i < MAX_RUNS; i++)
        close_run(c, &c->runs[i]);
    for (int i = 0; i < MAX_KEPT; i++) {
        vs->freeFrame(c->kept[i].frame);
        vs->freeMap(c->kept[i].fields);
    }
    vs->freeNode(c->node);
    for (int i = 0; i < c->nb_filters; i++)
        av_dict_free(&c->chain[i].options);
    av_free(c);
}

/* Sets the number of earlier frames on which an output frame depends, from the options of a run's filter. */
static void set_past(Clip *c, const Run *run)
{
    int64_t radius = 0, passes = 0, gap = 0, repeats = 0;
    double sigma = 0;

    for (int i = 0; i < run->graph->nb_filters; i++) {
        AVFilterContext *f = run->graph->filters[i];

        if (strcmp(f->filter->name, functions[c->kind].filter))
            continue;
        if (c->kind == STABILIZE)
            set_shots(c, f);
        av_opt_get_int(f, c->kind == DENOISE ? "radius" : "refs", AV_OPT_SEARCH_CHILDREN, &radius);
        av_opt_get_int(f, "passes", AV_OPT_SEARCH_CHILDREN, &passes);
        av_opt_get_int(f, "gap", AV_OPT_SEARCH_CHILDREN, &gap);
        av_opt_get_int(f, "repeats", AV_OPT_SEARCH_CHILDREN, &repeats);
        av_opt_get_double(f, "sigma", AV_OPT_SEARCH_CHILDREN, &sigma);
    }
    switch (c->kind) {
    case DENOISE:     c->past = passes * radius + (sigma > 0 ? 0 : 8);  break;
    case STABILIZE:                                                     break;
    /* at least one output frame, made from frames that are not skipped */
    case FPS:         c->past = 3 + input_of(c, 1) + (repeats ? 8 : 0); break;
    case VIEW:        c->past = GPUME_MAX_REFS;                         break;
    /* all passes but the last one read what they made of earlier fields, so a field depends on all before it, but
       hardly on those this far; the last pass reads two fields, whose first estimates need a frame before theirs */
    case DEINTERLACE: c->past = passes > 1 ? 2 + 4 * passes : 2;        break;
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
    char text[1000], message[900];
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
    wrong = set_options(c, in, message, sizeof(message));
    if (wrong) {
        snprintf(text, sizeof(text), "%s: %s", functions[c->kind].name, wrong);
        vs->mapSetError(out, text);
        free_clip(c, core, vs);
        return;
    }
    if (c->kind == FPS)
        c->out.numFrames = FFMIN(output_of(c, c->in.numFrames, AV_ROUND_UP), INT_MAX);
    /* reports errors in options before a frame is requested */
    ret = open_run(c, &c->runs[0], NULL);
    if (ret >= 0)
        set_past(c, &c->runs[0]);
    close_run(c, &c->runs[0]);
    if (ret < 0) {
        say_error(text, sizeof(text), functions[c->kind].name, ret);
        vs->mapSetError(out, text);
        free_clip(c, core, vs);
        return;
    }
    vs->createVideoFilter(out, functions[c->kind].name, &c->out, get_frame, free_clip, fmParallelRequests,
                          (const VSFilterDependency[]){ { c->node, rpGeneral } }, 1, c, core);
}

/* Appends the range and the default of an option, or the names of its values. */
static void print_option(AVBPrint *text, const AVClass *class, const AVOption *o)
{
    const int is_number = o->type == AV_OPT_TYPE_DOUBLE || o->type == AV_OPT_TYPE_INT || o->type == AV_OPT_TYPE_BOOL;
    const AVOption *named = NULL;
    int nb = 0;

    if (is_number && !o->unit)
        av_bprintf(text, ", %g to %g, default %g", o->min, o->max,
                   o->type == AV_OPT_TYPE_DOUBLE ? o->default_val.dbl : (double)o->default_val.i64);
    while (o->unit && (named = av_opt_next(&class, named)))
        if (named->type == AV_OPT_TYPE_CONST && !strcmp(named->unit, o->unit))
            av_bprintf(text, "%s\"%s\"%s", nb++ ? ", " : ", one of ", named->name,
                       is_number && named->default_val.i64 == o->default_val.i64 ? " (default)" : "");
    av_bprintf(text, ": %s\n", o->help);
}

/* Returns the arguments of a function that are options of its filter: type, range, default, what the option is. */
static void VS_CC help(const VSMap *in, VSMap *out, void *data, VSCore *core, const VSAPI *vs)
{
    int error, kind = 0;
    const char *name = vs->mapGetData(in, "function", 0, &error);
    const AVClass *class;
    AVBPrint text;

    av_bprint_init(&text, 0, AV_BPRINT_SIZE_UNLIMITED);
    for (; kind < NB_KINDS && strcmp(functions[kind].name, name); kind++)
        av_bprintf(&text, "%s%s", kind ? ", " : "Help: 'function' must be one of ", functions[kind].name);
    if (kind == NB_KINDS) {
        vs->mapSetError(out, text.str);
    } else {
        class = avfilter_get_by_name(functions[kind].filter)->priv_class;
        av_bprint_clear(&text);
        av_bprintf(&text, "%s(%s...)\n", name, functions[kind].first);
        for (const AVOption *o = NULL; (o = next_option(kind, o));)
            if (argument_type(kind, o)) {
                av_bprintf(&text, "%s: %s", o->name, argument_type(kind, o));
                print_option(&text, class, o);
            }
        vs->mapSetData(out, "text", text.str, -1, dtUtf8, maReplace);
    }
    av_bprint_finalize(&text, NULL);
}

VS_EXTERNAL_API(void) VapourSynthPluginInit2(VSPlugin *plugin, const VSPLUGINAPI *api)
{
    av_log_set_callback(take_message);
    api->configPlugin("org.gpume.vapoursynth", "gpume", "Motion vectors, and what follows them", VS_MAKE_VERSION(1, 0),
                      VAPOURSYNTH_API_VERSION, 0, plugin);
    for (intptr_t i = 0; i < NB_KINDS; i++) {
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
                                  i < ANALYSE ? create : i < SCDETECT ? create_analysis : create_scenes, (void *)i,
                                  plugin);
        av_bprint_finalize(&arguments, NULL);
    }
    api->registerFunction("Help", "function:data;", "text:data;", help, NULL, plugin);
}
