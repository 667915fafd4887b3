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
