/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Motion fields, from the filter gpume to properties of frames.
 */

#include <stdio.h>

#include "plugin.h"

#include "libavutil/mem.h"

void free_fields(Fields **f)
{
    for (int i = 0; *f && i < (*f)->nb; i++) {
        av_free((*f)->field[i].mvs);
        av_free((*f)->field[i].costs);
        av_free((*f)->field[i].consistent);
    }
    av_freep(f);
}

int take_result(void *opaque, const GpumeResult *r, const GpumeStats *stats)
{
    Lane *lane = opaque;
    Fields *f = av_mallocz(sizeof(*f));

    if (!f)
        return AVERROR(ENOMEM);
    *lane->end = f;
    lane->end  = &f->next;
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

Fields *take_fields(Lane *lane)
{
    Fields *f = lane->fields;

    if (f) {
        lane->fields = f->next;
        if (!lane->fields)
            lane->end = &lane->fields;
    }
    return f;
}

void set_field_properties(const Clip *c, VSMap *map, const Fields *f)
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

int super_figure(const Clip *c, const VSMap *map, const char *name)
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

int set_analysis(const Clip *c, VSMap *map, const Fields *f)
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
