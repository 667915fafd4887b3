/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <inttypes.h>
#include <stdio.h>

#include "libavutil/dict.h"

#include "libavfilter/gpume/output/output.h"

static int wanted(const GpumeOutputConfig *cfg, const char **path)
{
    return cfg->metadata;
}

static int set_metadata(void *priv, GpumeFile *file, GpumeResult *r, const GpumeStats *stats)
{
    for (int i = 0; i < r->search.nb_fields; i++) {
        char name[32], key[64], value[64];
        int ret;

        ff_gpume_reference_name(name, sizeof(name),
                                r->params->distance[r->search.fields[i].reference]);
#define SET(figure, fmt, field)                                              \
        snprintf(key, sizeof(key), "lavfi.gpume.%s." figure, name);          \
        snprintf(value, sizeof(value), fmt, stats[i].field);                 \
        if ((ret = av_dict_set(&r->frame->metadata, key, value, 0)) < 0)     \
            return ret;

        SET("cost",    "%"PRIu64, cost)
        SET("zero",    "%d",      zero)
        SET("mean_mv", "%.2f",    mean_mv)
        SET("max_mv",  "%.1f",    max_mv)
        SET("sound",   "%.4f",    sound)
        SET("intra",   "%"PRIu64, intra)
        SET("scene",   "%.4f",    scene)
#undef SET
    }
    return 0;
}

const GpumeOutput ff_gpume_output_metadata = {
    .needs_stats = 1,
    .wanted      = wanted,
    .write       = set_metadata,
};
