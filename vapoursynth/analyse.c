/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Functions that pass results of the function Vectors on. Analyse and AnalyseMany give vectors the form of MVUtensils:
 * the function Vectors searches all distances at once; a filter for each distance copies the vectors of that distance
 * into the frames of the super clip. SCDetect copies whether a scene begins.
 */

#include <stdio.h>
#include <string.h>

#include "plugin.h"

#include "libavutil/mem.h"

typedef struct Analysis {
    VSNode *super, *vectors;    ///< output of mvu.Super, and of the function Vectors
    int delta;                  ///< distance in frames; positive: the future
    char prefix[64];            ///< prefix of MVUtensils' properties
} Analysis;

/** A motion field of the function Vectors. */
typedef struct Grid {
    int cols, rows, block;
    const int32_t *mvs;         ///< x, y of each block
    const uint32_t *costs;
} Grid;

/* Returns a property of the super clip, or 0 if it does not exist. */
static int64_t super_int(const Analysis *a, const VSMap *map, const VSAPI *vs, const char *name)
{
    char key[128];
    int error;

    snprintf(key, sizeof(key), "%sSuper%s", a->prefix, name);
    return vs->mapGetInt(map, key, 0, &error);
}

/* Gets the field of a distance from the properties of a frame. Returns 0 if there is none. */
static int find_field(Grid *g, const VSMap *map, int distance, const VSAPI *vs)
{
    char key[64];
    int error;

    g->cols  = vs->mapGetInt(map, "GpumeCols", 0, &error);
    g->rows  = vs->mapGetInt(map, "GpumeRows", 0, &error);
    g->block = vs->mapGetInt(map, "GpumeBlock", 0, &error);
    snprintf(key, sizeof(key), "GpumeVectors%s%d", distance < 0 ? "Past" : "Future", FFABS(distance));
    g->mvs   = (const int32_t *)vs->mapGetData(map, key, 0, &error);
    snprintf(key, sizeof(key), "GpumeCosts%s%d", distance < 0 ? "Past" : "Future", FFABS(distance));
    g->costs = (const uint32_t *)vs->mapGetData(map, key, 0, &error);
    return g->mvs && g->costs;
}

/*
 * Sets the vector and the cost of a block of MVUtensils, which covers side x side blocks of the grid and may overlap
 * other blocks. The vector is the one of the covered blocks that is nearest to all of theirs (the vector median); the
 * cost is the sum of their costs.
 */
static void join_blocks(const Grid *g, int x0, int y0, int side, int vector[2], int64_t *cost)
{
    const int x1 = FFMIN(x0 + side, g->cols), y1 = FFMIN(y0 + side, g->rows);
    int64_t least = INT64_MAX;
    int nb = 0;

    *cost = 0;
    for (int y = y0; y < y1; y++)
        for (int x = x0; x < x1; x++) {
            const int32_t *a = g->mvs + 2 * (y * g->cols + x);
            int64_t sum = 0;

            for (int v = y0; v < y1; v++)
                for (int u = x0; u < x1; u++) {
                    const int32_t *b = g->mvs + 2 * (v * g->cols + u);

                    sum += FFABS(a[0] - b[0]) + FFABS(a[1] - b[1]);
                }
            if (sum < least) {
                least     = sum;
                vector[0] = a[0];
                vector[1] = a[1];
            }
            *cost += g->costs[y * g->cols + x];
            nb++;
        }
    /* scales the cost of blocks that the edge of the picture cuts */
    *cost = *cost * side * side / FFMAX(nb, 1);
}

/* Limits a component of a vector so that its match is within the picture and its padding, as MVUtensils requires. */
static int keep_inside(int d, int at, int side, int length, int padding, int pel)
{
    return av_clip(d, -pel * (at + padding), pel * (length + padding - side - at) - 1);
}

/* Writes vectors and costs of nx * ny blocks. @param map properties of a frame of the super clip */
static void set_vectors(const Analysis *a, VSMap *map, const Grid *g, int nx, int ny, const VSAPI *vs)
{
    const int pel = super_int(a, map, vs, "Pel"), side = super_int(a, map, vs, "BlkSizeX");
    const int width = super_int(a, map, vs, "Width"), height = super_int(a, map, vs, "Height");
    const int hpad = super_int(a, map, vs, "HPad"), vpad = super_int(a, map, vs, "VPad");
    /* costs are those of luma; MVUtensils expects those of chroma to be included */
    const int samples = super_int(a, map, vs, "XRatioUV") * super_int(a, map, vs, "YRatioUV");
    const int chroma  = super_int(a, map, vs, "Chroma") && samples;
    int64_t *vectors = av_malloc_array(nx * ny, sizeof(*vectors)), *costs = av_malloc_array(nx * ny, sizeof(*costs));
    int d[2] = { 0 };
    char key[128];

    for (int i = 0; i < nx * ny && vectors && costs; i++) {
        /* a block beyond the picture gets the vector of the one at its edge */
        const int x = FFMIN(i % nx, g->cols - 1), y = FFMIN(i / nx, g->rows - 1);

        join_blocks(g, x, y, side / g->block, d, &costs[i]);
        d[0] = keep_inside(d[0], i % nx * g->block, side, width,  hpad, pel);
        d[1] = keep_inside(d[1], i / nx * g->block, side, height, vpad, pel);
        vectors[i] = (int64_t)((uint64_t)(uint32_t)d[1] << 32 | (uint32_t)d[0]);
        costs[i] = chroma ? costs[i] * (samples + 2) / samples : costs[i];
    }
    if (vectors && costs) {
        snprintf(key, sizeof(key), "%sAnalysisVectors", a->prefix);
        vs->mapSetIntArray(map, key, vectors, nx * ny);
        snprintf(key, sizeof(key), "%sAnalysisSAD", a->prefix);
        vs->mapSetIntArray(map, key, costs, nx * ny);
    }
    av_free(vectors);
    av_free(costs);
}

static void set_analysis(const Analysis *a, VSMap *map, const VSMap *found, const VSAPI *vs)
{
    static const char *const same[] = {
        "BitsPerSample", "BlkSizeX", "BlkSizeY", "Chroma", "HPad", "Height", "Levels", "OverlapX", "OverlapY", "Pel",
        "RealHeight", "RealWidth", "VPad", "Width", "XRatioUV", "YRatioUV",
    };
    const int overlap = super_int(a, map, vs, "OverlapX");
    const int step = FFMAX(super_int(a, map, vs, "BlkSizeX") - overlap, 1);
    const int nx = (super_int(a, map, vs, "Width") - overlap) / step;
    const int ny = (super_int(a, map, vs, "Height") - overlap) / step;
    char key[128];
    Grid g;

    for (int i = 0; i < FF_ARRAY_ELEMS(same); i++) {
        snprintf(key, sizeof(key), "%sAnalysis%s", a->prefix, same[i]);
        vs->mapSetInt(map, key, super_int(a, map, vs, same[i]), maReplace);
    }
    snprintf(key, sizeof(key), "%sAnalysisDeltaFrame", a->prefix);
    vs->mapSetInt(map, key, a->delta, maReplace);
    snprintf(key, sizeof(key), "%sAnalysisNBlkX", a->prefix);
    vs->mapSetInt(map, key, nx, maReplace);
    snprintf(key, sizeof(key), "%sAnalysisNBlkY", a->prefix);
    vs->mapSetInt(map, key, ny, maReplace);
    if (find_field(&g, found, a->delta, vs))
        set_vectors(a, map, &g, nx, ny, vs);
}

static const VSFrame *VS_CC get_frame(int n, int reason, void *data, void **frame_data, VSFrameContext *ctx,
                                      VSCore *core, const VSAPI *vs)
{
    const Analysis *a = data;
    const VSFrame *super, *vectors;
    VSFrame *out = NULL;

    if (reason == arInitial) {
        vs->requestFrameFilter(n, a->super, ctx);
        vs->requestFrameFilter(n, a->vectors, ctx);
    } else if (reason == arAllFramesReady) {
        super   = vs->getFrameFilter(n, a->super, ctx);
        vectors = vs->getFrameFilter(n, a->vectors, ctx);
        out     = vs->copyFrame(super, core);
        set_analysis(a, vs->getFramePropertiesRW(out), vs->getFramePropertiesRO(vectors), vs);
        vs->freeFrame(super);
        vs->freeFrame(vectors);
    }
    return out;
}

static void VS_CC free_analysis(void *data, VSCore *core, const VSAPI *vs)
{
    Analysis *a = data;

    vs->freeNode(a->super);
    vs->freeNode(a->vectors);
    av_free(a);
}

/* Adds the options that are determined by the super clip. @return an error message, or NULL */
static const char *add_blocks(const Analysis *a, VSMap *options, const VSAPI *vs)
{
    char error[256];
    const VSFrame *f = vs->getFrame(0, a->super, error, sizeof(error));
    const VSMap *map = f ? vs->getFramePropertiesRO(f) : NULL;
    int side, step, pel, fits;

    if (!f)
        return "'super' returned no frame";
    side = super_int(a, map, vs, "BlkSizeX");
    step = side - super_int(a, map, vs, "OverlapX");
    pel  = super_int(a, map, vs, "Pel");
    fits = side && super_int(a, map, vs, "BlkSizeY") == side && step >= 4 && !(step & step - 1) && side % step == 0 &&
           super_int(a, map, vs, "OverlapY") == super_int(a, map, vs, "OverlapX");
    vs->freeFrame(f);
    if (!pel)
        return "'super' must be a clip that mvu.Super returned";
    if (!fits)
        return "'super' must have square blocks of 4, 8, 16, 32, 64 or 128 samples that overlap by 0 or, from 8 on, by "
               "half a block";
    vs->mapSetInt(options, "block", step, maReplace);
    vs->mapSetInt(options, "pel", pel, maReplace);
    return NULL;
}

/* Calls the function Vectors for a direction, and sets a->vectors. @return an error message, or NULL */
static const char *search(Analysis *a, const VSMap *in, const char *dir, int refs, char message[600], VSCore *core,
                          const VSAPI *vs)
{
    static const char *const own[] = { "super", "delta", "radius", "prefix" };
    VSMap *options = vs->createMap(), *found = NULL;
    const char *wrong;
    int error;

    vs->copyMap(in, options);
    for (int i = 0; i < FF_ARRAY_ELEMS(own); i++)
        vs->mapDeleteKey(options, own[i]);
    wrong = add_blocks(a, options, vs);
    if (!wrong) {
        vs->mapSetData(options, "dir", dir, -1, dtUtf8, maReplace);
        vs->mapSetInt(options, "refs", refs, maReplace);
        found = vs->invoke(vs->getPluginByNamespace("gpume", core), "Vectors", options);
        if (vs->mapGetError(found)) {
            snprintf(message, 600, "%s", vs->mapGetError(found));
            wrong = message;
        } else {
            a->vectors = vs->mapGetNode(found, "clip", 0, &error);
        }
    }
    vs->freeMap(found);
    vs->freeMap(options);
    return wrong;
}

/* Adds a clip with the vectors of this distance. The caller keeps its references in model. */
static void add_clip(VSMap *out, const Analysis *model, int delta, VSCore *core, const VSAPI *vs)
{
    const VSFilterDependency needs[] = { { model->super, rpStrictSpatial }, { model->vectors, rpStrictSpatial } };
    Analysis *a = av_memdup(model, sizeof(*model));
    VSNode *node;

    if (!a)
        return;
    a->super   = vs->addNodeRef(model->super);
    a->vectors = vs->addNodeRef(model->vectors);
    a->delta   = delta;
    node = vs->createVideoFilter2("Analyse", vs->getVideoInfo(a->super), get_frame, free_analysis, fmParallel,
                                  needs, 2, a, core);
    vs->mapConsumeNode(out, "clip", node, maAppend);
}

void VS_CC create_analysis(const VSMap *in, VSMap *out, void *kind, VSCore *core, const VSAPI *vs)
{
    const int is_many = (intptr_t)kind == ANALYSE_MANY;
    Analysis model = { 0 };
    int error, nb, delta = vs->mapGetInt(in, "delta", 0, &error);
    const char *prefix, *wrong = NULL;
    char text[700], message[600];

    if (error)
        delta = 1;
    nb = is_many ? vs->mapGetInt(in, "radius", 0, &error) : 1;
    if (is_many && error)
        nb = 1;
    prefix = vs->mapGetData(in, "prefix", 0, &error);
    snprintf(model.prefix, sizeof(model.prefix), "%s", error ? "MVUtensils" : prefix);
    model.super = vs->mapGetNode(in, "super", 0, &error);
    if (is_many && (nb < 1 || delta < 1 || nb > GPUME_MAX_REFS || delta > GPUME_MAX_REFS / nb))
        wrong = "'radius' and 'delta' must be from 1, and radius * delta at most 8";
    else if (!delta || FFABS(delta) > GPUME_MAX_REFS)
        wrong = "'delta' must be from -8 to 8, and not 0";
    if (!wrong)
        wrong = search(&model, in, is_many ? "both" : delta > 0 ? "future" : "past", nb * FFABS(delta), message, core,
                       vs);
    if (wrong) {
        snprintf(text, sizeof(text), "%s: %s", is_many ? "AnalyseMany" : "Analyse", wrong);
        vs->mapSetError(out, text);
    }
    for (int i = 1; i <= nb && !wrong; i++) {
        add_clip(out, &model, i * delta, core, vs);
        if (is_many)
            add_clip(out, &model, -i * delta, core, vs);
    }
    vs->freeNode(model.super);
    vs->freeNode(model.vectors);
}

/* SCDetect */

/** The clip, and its output of the function Vectors, whose properties say which frames begin a scene. */
typedef struct Scenes {
    VSNode *clip, *vectors;
    int nb_frames;
} Scenes;

static const VSFrame *VS_CC get_scenes(int n, int reason, void *data, void **frame_data, VSFrameContext *ctx,
                                       VSCore *core, const VSAPI *vs)
{
    static const char *const names[] = { "_SceneChangePrev", "_SceneChangeNext" };
    const Scenes *s = data;
    const int last = FFMIN(n + 1, s->nb_frames - 1);
    const VSFrame *f;
    VSFrame *out = NULL;

    if (reason == arInitial) {
        vs->requestFrameFilter(n, s->clip, ctx);
        for (int i = n; i <= last; i++)
            vs->requestFrameFilter(i, s->vectors, ctx);
    } else if (reason == arAllFramesReady) {
        f   = vs->getFrameFilter(n, s->clip, ctx);
        out = vs->copyFrame(f, core);
        vs->freeFrame(f);
        for (int i = 0; i < 2; i++) {
            int error, is_cut = 0;

            if (n + i <= last) {
                f      = vs->getFrameFilter(n + i, s->vectors, ctx);
                is_cut = vs->mapGetInt(vs->getFramePropertiesRO(f), names[0], 0, &error) > 0;
                vs->freeFrame(f);
            }
            vs->mapSetInt(vs->getFramePropertiesRW(out), names[i], n + i && is_cut, maReplace);
        }
    }
    return out;
}

static void VS_CC free_scenes(void *data, VSCore *core, const VSAPI *vs)
{
    Scenes *s = data;

    vs->freeNode(s->clip);
    vs->freeNode(s->vectors);
    av_free(s);
}

void VS_CC create_scenes(const VSMap *in, VSMap *out, void *kind, VSCore *core, const VSAPI *vs)
{
    VSMap *found = vs->invoke(vs->getPluginByNamespace("gpume", core), "Vectors", in);
    const char *wrong = vs->mapGetError(found);
    Scenes *s = wrong ? NULL : av_mallocz(sizeof(*s));
    char text[700];
    int error;

    if (s) {
        s->clip      = vs->mapGetNode(in, "clip", 0, &error);
        s->vectors   = vs->mapGetNode(found, "clip", 0, &error);
        s->nb_frames = vs->getVideoInfo(s->clip)->numFrames;
        const VSFilterDependency needs[] = { { s->clip, rpStrictSpatial }, { s->vectors, rpGeneral } };

        vs->createVideoFilter(out, "SCDetect", vs->getVideoInfo(s->clip), get_scenes, free_scenes, fmParallel, needs, 2,
                              s, core);
    } else {
        /* the message begins with "Vectors: " */
        snprintf(text, sizeof(text), "SCDetect%s", wrong ? wrong + strcspn(wrong, ":") : ": no memory");
        vs->mapSetError(out, text);
    }
    vs->freeMap(found);
}
