/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Motion fields, from the filter gpume to properties of frames.
 */

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "plugin.h"

#include "libavutil/mem.h"

/* Sets the data NAMEPast1, NAMEFuture1 and so on. */
static void set_data(const Run *run, VSMap *map, const char *name, int distance, const void *data, size_t size)
{
    char key[64];

    snprintf(key, sizeof(key), "%s%s%d", name, distance < 0 ? "Past" : "Future", FFABS(distance));
    run->vs->mapSetData(map, key, data, size, dtBinary, maReplace);
}

/*
 * Returns what is added to vertical components so that they are those of the scene, because the lines of a bottom field
 * lie half a line of a field below those of a top field.
 * @return INT_MIN after a message if it is unknown which field a frame is
 */
static int field_shift(const Run *run, const GpumeResult *r, int distance)
{
    const VSFrame *origin = r->frame->opaque_ref ? (const VSFrame *)r->frame->opaque_ref->data : NULL;
    int error = 1, is_top = 0;

    if (!run->of_fields || !(distance & 1))
        return 0;
    if (run->tff >= 0)
        is_top = run->tff != (r->frame->pts & 1);
    else if (origin)
        is_top = run->vs->mapGetInt(run->vs->getFramePropertiesRO(origin), "_Field", 0, &error);
    if (run->tff < 0 && error) {
        av_log(NULL, AV_LOG_ERROR, "frame %"PRId64" does not say which field it is: set tff=1 or tff=0, or its "
               "property _Field to 1 (top) or 0 (bottom), as std.SeparateFields does\n", r->frame->pts);
        return INT_MIN;
    }
    return is_top ? r->params->pel / 2 : -(r->params->pel / 2);
}

static int set_field(const Run *run, VSMap *map, const GpumeField *g, int distance, int shift)
{
    int32_t *mvs        = av_malloc_array(g->nb, 2 * sizeof(*mvs));
    uint8_t *consistent = av_malloc(g->nb);
    const int failed    = !mvs || !consistent;

    for (int i = 0; i < g->nb && !failed; i++) {
        mvs[2 * i]     = g->mvs[i].motion_x;
        mvs[2 * i + 1] = g->mvs[i].motion_y + shift;
        consistent[i]  = !(g->mvs[i].flags & GPUME_FLAG_INCONSISTENT);
    }
    if (!failed) {
        run->vs->mapSetInt(map, "GpumeDistances", distance, maAppend);
        set_data(run, map, "GpumeVectors", distance, mvs, g->nb * 2 * sizeof(*mvs));
        set_data(run, map, "GpumeCosts", distance, g->costs, g->nb * sizeof(*g->costs));
        set_data(run, map, "GpumeConsistent", distance, consistent, g->nb);
    }
    av_free(mvs);
    av_free(consistent);
    return failed ? AVERROR(ENOMEM) : 0;
}

int take_result(void *opaque, const GpumeResult *r, const GpumeStats *stats)
{
    Run *run = opaque;
    VSMap *map = run->vs->createMap();
    int ret = av_fifo_write(run->fields, &map, 1);

    if (ret < 0) {
        run->vs->freeMap(map);
        return ret;
    }
    run->vs->mapSetInt(map, "GpumeCols", r->params->bw, maReplace);
    run->vs->mapSetInt(map, "GpumeRows", r->params->bh, maReplace);
    run->vs->mapSetInt(map, "GpumeBlock", r->params->block, maReplace);
    run->vs->mapSetInt(map, "GpumePel", r->params->pel, maReplace);
    for (int i = 0; i < r->search.nb_fields && ret >= 0; i++) {
        const int distance = r->params->distance[r->search.fields[i].reference];
        const int shift = field_shift(run, r, distance);

        ret = shift == INT_MIN ? AVERROR(EINVAL) : set_field(run, map, &r->search.fields[i], distance, shift);
        if (distance == -1)
            run->vs->mapSetInt(map, "_SceneChangePrev", stats[i].cut, maReplace);
    }
    return ret;
}
