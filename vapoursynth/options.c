/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Arguments of the functions: checks them, and turns them into a chain of filters with options.
 */

#include <stdio.h>
#include <string.h>

#include "plugin.h"

#include "libavutil/avstring.h"
#include "libavutil/pixdesc.h"

/** Options of gpume that are not arguments under their own names, or that do not suit a plugin. */
#define NOT_HERE "algo,device,method,search_param,mb_size,tree,tree_max,lambda,qp,async_depth,mv_file,mv_format," \
                 "stats_file,stats_format,overwrite,metadata,hint"
/** Options of gpume that the argument search cannot have: arguments of their own, files, what follows the search. */
#define NOT_SEARCHED "backend,device,async_depth,mv_file,mv_format,stats_file,stats_format,overwrite,metadata,hint"
#define SEARCH   "search:data:opt;backend:data:opt;device:int:opt;threads:int:opt;"

/** Arguments of functions whose filter works on frames on a device. */
#define ON_DEVICE "backend:data:opt;device:int:opt;threads:int:opt;"

const PluginFunction functions[NB_KINDS] = {
    [DENOISE]     = { "Denoise", "mvdenoise", "planes,search",
                      "clip:vnode;radius:int:opt;sigma:float:opt;strength:float:opt;passes:int:opt;planes:int[]:opt;",
                      SEARCH },
    [FPS]         = { "FPS", "mvfps", "fps,search", "clip:vnode;fpsnum:int:opt;fpsden:int:opt;", SEARCH },
    [VIEW]        = { "View", "mvview", "search", "clip:vnode;", SEARCH },
    [DEINTERLACE] = { "Deinterlace", "mvdeint", "mode,parity", "clip:vnode;tff:int:opt;rate:data:opt;",
                      ON_DEVICE },
    [STABILIZE]   = { "Stabilize", "mvstab", "file,read,overwrite", "clip:vnode;mode:data:opt;smoothing:int:opt;",
                      ON_DEVICE },
    [VECTORS]     = { "Vectors", "gpume", NOT_HERE,
                      "clip:vnode;algo:data:opt;block:int:opt;range:int:opt;dir:data:opt;refs:int:opt;",
                      "fields:int:opt;tff:int:opt;device:int:opt;threads:int:opt;" },
    [ANALYSE]     = { "Analyse", "gpume", NOT_HERE ",dir,refs,block,pel",
                      "super:vnode;clip:vnode;delta:int:opt;algo:data:opt;range:int:opt;",
                      "prefix:data:opt;fields:int:opt;tff:int:opt;device:int:opt;threads:int:opt;" },
    [ANALYSE_MANY] = { "AnalyseMany", "gpume", NOT_HERE ",dir,refs,block,pel",
                       "super:vnode;clip:vnode;radius:int:opt;algo:data:opt;range:int:opt;",
                       "delta:int:opt;prefix:data:opt;fields:int:opt;tff:int:opt;device:int:opt;threads:int:opt;" },
    [SCDETECT]    = { "SCDetect", "gpume", NOT_HERE ",dir,refs",
                      "clip:vnode;algo:data:opt;block:int:opt;range:int:opt;",
                      "device:int:opt;threads:int:opt;" },
};

/* Adds a filter to the chain. @param options name=value pairs that are joined by ':' */
static AVDictionary **add_filter(Clip *c, const char *name, const char *options)
{
    ChainFilter *f = &c->chain[c->nb_filters++];

    f->name = name;
    av_dict_parse_string(&f->options, options, "=", ":", 0);
    return &f->options;
}

/* Adds an argument, if it was given, as the option of the filter with the same name. */
static void add_option(const Clip *c, AVDictionary **options, const VSMap *in, const char *name)
{
    const VSAPI *vs = c->vs;
    char number[32];
    int error;

    switch (vs->mapGetType(in, name)) {
    case ptInt:
        av_dict_set_int(options, name, vs->mapGetInt(in, name, 0, &error), 0);
        break;
    case ptFloat:
        snprintf(number, sizeof(number), "%.9g", vs->mapGetFloat(in, name, 0, &error));
        av_dict_set(options, name, number, 0);
        break;
    case ptData:
        av_dict_set(options, name, vs->mapGetData(in, name, 0, &error), 0);
        break;
    }
}

const char *argument_type(enum Kind kind, const AVOption *o)
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

const AVOption *next_option(enum Kind kind, const AVOption *o)
{
    const AVClass *class = avfilter_get_by_name(functions[kind].filter)->priv_class;

    return av_opt_next(&class, o);
}

static void add_options(const Clip *c, AVDictionary **options, const VSMap *in)
{
    for (const AVOption *o = NULL; (o = next_option(c->kind, o));)
        if (argument_type(c->kind, o))
            add_option(c, options, in, o->name);
}

/*
 * Returns whether a value of an option with named values can be one of these, or a number.
 * @param text set to the names otherwise
 */
static int is_choice(const AVClass *class, const AVOption *o, const char *value, AVBPrint *text)
{
    const char *separators = o->type == AV_OPT_TYPE_FLAGS ? "+-|" : "";
    char *end;

    strtod(value, &end);
    if (!o->unit || end != value && !*end)
        return 1;
    for (size_t length; *value; value += length + (value[length] != 0)) {
        const AVOption *named = NULL;

        length = strcspn(value, separators);
        while ((named = av_opt_next(&class, named)))
            if (named->type == AV_OPT_TYPE_CONST && !strcmp(named->unit, o->unit) &&
                strlen(named->name) == length && !strncmp(named->name, value, length))
                break;
        if (length && !named) {
            while ((named = av_opt_next(&class, named)))
                if (named->type == AV_OPT_TYPE_CONST && !strcmp(named->unit, o->unit))
                    av_bprintf(text, "%s%s", text->len ? ", " : "", named->name);
            return 0;
        }
    }
    return 1;
}

/* Writes an error message for an option of a filter that has a wrong name. @return the message, or NULL */
static const char *check_choices(const Clip *c, char *message, size_t size)
{
    AVBPrint names;

    for (int i = 0; i < c->nb_filters; i++) {
        const AVClass *class = avfilter_get_by_name(c->chain[i].name)->priv_class;
        const AVDictionaryEntry *e = NULL;

        while ((e = av_dict_iterate(c->chain[i].options, e))) {
            const AVOption *o = av_opt_find(&class, e->key, NULL, 0, AV_OPT_SEARCH_FAKE_OBJ);

            av_bprint_init(&names, 0, AV_BPRINT_SIZE_AUTOMATIC);
            if (!o || is_choice(class, o, e->value, &names))
                continue;
            snprintf(message, size, "'%s' is \"%s\"; it must be one of %s", e->key, e->value, names.str);
            return message;
        }
    }
    return NULL;
}

/*
 * Checks that the argument search has options of searches and nothing else.
 * @return an error message, or NULL
 */
static const char *check_search(const Clip *c, const VSMap *in, char *message, size_t size)
{
    const AVClass *class = avfilter_get_by_name("gpume")->priv_class;
    int error;
    const char *search = c->vs->mapGetData(in, "search", 0, &error), *wrong = NULL;
    AVDictionary *options = NULL;
    const AVDictionaryEntry *e = NULL;

    if (error)
        return NULL;
    if (av_dict_parse_string(&options, search, "=", ":", 0) < 0) {
        snprintf(message, size, "'search' is \"%s\"; it must be a list of options such as \"algo=hme:block=8\"",
                 search);
        wrong = message;
    }
    while (!wrong && (e = av_dict_iterate(options, e)))
        if (av_match_name(e->key, NOT_SEARCHED) || !av_opt_find(&class, e->key, NULL, 0, AV_OPT_SEARCH_FAKE_OBJ)) {
            AVBPrint names;

            av_bprint_init(&names, 0, AV_BPRINT_SIZE_AUTOMATIC);
            for (const AVOption *o = NULL; (o = av_opt_next(&class, o));)
                if (o->type != AV_OPT_TYPE_CONST && !av_match_name(o->name, NOT_SEARCHED))
                    av_bprintf(&names, "%s%s", names.len ? ", " : "", o->name);
            snprintf(message, size, "'search' has '%s', which is no option of the search: it can have %s", e->key,
                     names.str);
            wrong = message;
        }
    av_dict_free(&options);
    return wrong;
}

/* Adds gpume with the argument search or, if only backend or device was given, with the usual search of the filter. */
static void add_search(Clip *c, const VSMap *in, const char *usual)
{
    AVDictionary **options;
    int error;
    const char *search = c->vs->mapGetData(in, "search", 0, &error);

    if (error && c->vs->mapNumElements(in, "backend") < 0 && c->vs->mapNumElements(in, "device") < 0)
        return;
    options = add_filter(c, "gpume", error ? usual : search);
    add_option(c, options, in, "backend");
    add_option(c, options, in, "device");
}

static void set_denoise(Clip *c, const VSMap *in)
{
    const int nb_planes = c->vs->mapNumElements(in, "planes");
    AVDictionary **options;
    char usual[128];
    int error, bits = nb_planes < 0 ? 7 : 0;

    snprintf(usual, sizeof(usual), GPUME_SEARCH_MVDENOISE, (int)FFMAX(property(c, in, "radius", 2), 1));
    add_search(c, in, usual);
    c->leaves_repeats = !c->nb_filters;
    for (int i = 0; i < nb_planes; i++)
        for (int j = 0; j < c->in.format.numPlanes; j++)
            if (plane_of(c, j) == c->vs->mapGetInt(in, "planes", i, &error))
                bits |= 1 << j;
    options = add_filter(c, "mvdenoise", "");
    av_dict_set_int(options, "planes", bits, 0);
    add_options(c, options, in);
}

static void set_view(Clip *c, const VSMap *in)
{
    int error;
    const char *source = c->vs->mapGetData(in, "source", 0, &error);
    char usual[128];

    snprintf(usual, sizeof(usual), GPUME_SEARCH_MVVIEW, error || strcmp(source, "future") ? "past" : "future",
             (int)av_clip64(property(c, in, "distance", 1), 1, GPUME_MAX_REFS));
    add_search(c, in, usual);
    add_options(c, add_filter(c, "mvview", ""), in);
}

static void set_fps(Clip *c, const VSMap *in)
{
    AVDictionary **options;
    char rate[64];

    add_search(c, in, GPUME_SEARCH_MVFPS);
    c->out.fpsNum = property(c, in, "fpsnum", 2 * c->in.fpsNum);
    c->out.fpsDen = property(c, in, "fpsden", c->vs->mapNumElements(in, "fpsnum") < 0 ? c->in.fpsDen : 1);
    snprintf(rate, sizeof(rate), "%"PRId64"/%"PRId64, c->out.fpsNum, c->out.fpsDen);
    options = add_filter(c, "mvfps", "");
    av_dict_set(options, "fps", rate, 0);
    add_options(c, options, in);
}

/* Adds a filter that works on frames on the device that the arguments name. Returns its options. */
static AVDictionary **add_on_device(Clip *c, const VSMap *in, const char *filter)
{
    int error;
    const char *backend = c->vs->mapGetData(in, "backend", 0, &error);
    const int on_gpu = !error && !strcmp(backend, "cuda");
    AVDictionary **options;

    if (on_gpu)
        add_option(c, add_filter(c, "hwupload_cuda", ""), in, "device");
    options = add_filter(c, filter, "");
    add_options(c, options, in);
    if (on_gpu) {
        add_filter(c, "hwdownload", "");
        av_dict_set(add_filter(c, "format", ""), "pix_fmts", av_get_pix_fmt_name(c->format), 0);
    }
    return options;
}

static void set_deinterlace(Clip *c, const VSMap *in)
{
    const int tff = property(c, in, "tff", -1);
    AVDictionary **options = add_on_device(c, in, "mvdeint");
    int error;
    const char *rate = c->vs->mapGetData(in, "rate", 0, &error), *which;

    c->per_frame = error || strcmp(rate, "single") ? 2 : 1;
    av_dict_set(options, "mode", c->per_frame == 2 ? "send_field" : "send_frame", 0);
    if (tff >= 0)
        av_dict_set(options, "parity", tff ? "tff" : "bff", 0);
    which = c->vs->mapGetData(in, "deint", 0, &error);
    c->by_combed      = !error && !strcmp(which, "interlaced");
    c->needs_order    = tff < 0;
    c->out.numFrames *= c->per_frame;
    c->out.fpsNum    *= c->per_frame;
}

static void set_vectors(Clip *c, const VSMap *in)
{
    AVDictionary **options = add_filter(c, "gpume", "algo=hme");

    c->of_fields = property(c, in, "fields", 0) != 0;
    c->tff       = property(c, in, "tff", -1);
    add_option(c, options, in, "algo");
    add_option(c, options, in, "device");
    add_options(c, options, in);
}

/* Writes an error message for an unsuitable clip. @return the message, or NULL */
static const char *check_clip(Clip *c, char *message, size_t size)
{
    const VSVideoFormat *f = &c->in.format;
    VSVideoFormat whole;
    char name[32];

    if (c->in.width <= 0 || c->in.height <= 0 || !c->in.format.colorFamily)
        return "the format and size of the clip must not change";
    c->format = pixel_format(&c->in.format);
    if (f->sampleType == stFloat &&
        c->vs->queryVideoFormat(&whole, f->colorFamily, stInteger, 16, f->subSamplingW, f->subSamplingH, c->core) &&
        c->vs->getVideoFormatName(&whole, name)) {
        for (int i = 0; name[i]; i++)
            name[i] = av_toupper(name[i]);
        snprintf(message, size, "samples must be integers: convert the clip with resize.Bicubic(format=vs.%s), and "
                 "back with resize.Bicubic(format=clip.format)", name);
        return message;
    }
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
    const char *backend = c->vs->mapGetData(in, "backend", 0, &error);
    const int on_device = c->kind == DEINTERLACE || c->kind == STABILIZE;

    if (rate && strcmp(rate, "single") && strcmp(rate, "double"))
        return "'rate' must be \"double\" or \"single\"";
    if (on_device && backend && strcmp(backend, "cpu") && strcmp(backend, "cuda"))
        return "'backend' must be \"cpu\" or \"cuda\"";
    if (on_device && c->vs->mapNumElements(in, "device") > 0 && (!backend || strcmp(backend, "cuda")))
        return "'device' is only valid with backend=\"cuda\"";
    if (on_device && backend && !strcmp(backend, "cuda") && !avfilter_get_by_name("hwupload_cuda"))
        return "'backend' is \"cuda\", but the plugin is built without CUDA";
    if (c->kind == VECTORS && c->vs->mapNumElements(in, "tff") > 0 && !property(c, in, "fields", 0))
        return "'tff' is only valid with fields=1";
    if (c->threads < 0)
        return "'threads' must not be negative";
    if (c->vs->mapNumElements(in, "fpsden") > 0 && c->vs->mapNumElements(in, "fpsnum") < 0)
        return "'fpsden' is only valid with 'fpsnum': the frame rate is fpsnum / fpsden";
    if (property(c, in, "fpsnum", 1) < 1 || property(c, in, "fpsden", 1) < 1)
        return "'fpsnum' and 'fpsden' must be above 0";
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
    case STABILIZE:
        add_on_device(c, in, "mvstab");
        break;
    default:
        set_vectors(c, in);
    }
}

const char *set_options(Clip *c, const VSMap *in, char *message, size_t size)
{
    const char *wrong = check_clip(c, message, size);

    if (!wrong)
        wrong = check_arguments(c, in);
    if (!wrong)
        wrong = check_search(c, in, message, size);
    if (wrong)
        return wrong;
    set_up(c, in);
    return check_choices(c, message, size);
}
