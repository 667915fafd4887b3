/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/** @file Sets the metadata lavfi.gpume.* of frames. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "libavutil/dict.h"

#include "libavfilter/gpume/output/output.h"

static int wanted(const GpumeOutputConfig *cfg, const char **path)
{
    return cfg->metadata;
}

static int av_printf_format(4, 5) set(AVFrame *frame, const char *reference, const char *item,
                                      const char *format, ...)
{
    char key[64], value[64];
    va_list args;

    snprintf(key, sizeof(key), "lavfi.gpume.%s.%s", reference, item);
    va_start(args, format);
    vsnprintf(value, sizeof(value), format, args);
    va_end(args);
    return av_dict_set(&frame->metadata, key, value, 0);
}

static int set_metadata(void *priv, GpumeFile *file, GpumeResult *r, const GpumeStats *stats)
{
    for (int i = 0; i < r->search.nb_fields; i++) {
        char name[32];
        int ret;

        ff_gpume_reference_name(name, sizeof(name),
                                r->params->distance[r->search.fields[i].reference]);
#define SET(item, fmt, field)                                                \
        if ((ret = set(r->frame, name, item, fmt, stats[i].field)) < 0)      \
            return ret;

        SET("cost",    "%"PRIu64, cost)
        SET("zero",    "%d",      zero)
        SET("mean_mv", "%.2f",    mean_mv)
        SET("max_mv",  "%.1f",    max_mv)
        SET("sound",   "%.4f",    sound)
        SET("intra",   "%"PRIu64, intra)
        SET("scene",   "%.4f",    scene)
        if (stats[i].cut >= 0)
            SET("cut", "%d",      cut)
        if (!stats[i].nb_sizes)
            continue;
        for (int j = 0; j < stats[i].nb_sizes; j++) {
            char item[16];

            snprintf(item, sizeof(item), "leaves%d", stats[i].block << j);
            if ((ret = set(r->frame, name, item, "%d", stats[i].leaves[j])) < 0)
                return ret;
        }
        SET("bits", "%"PRIu64, bits)
        SET("rd",   "%"PRIu64, rd)
#undef SET
    }
    return 0;
}

const GpumeOutput ff_gpume_output_metadata = {
    .needs_stats = 1,
    .wanted      = wanted,
    .write       = set_metadata,
};
