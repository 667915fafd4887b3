/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <inttypes.h>

#include "libavutil/timestamp.h"

#include "libavfilter/gpume/output/format.h"
#include "libavfilter/gpume/output/output.h"

static int wanted(const GpumeOutputConfig *cfg, const char **path)
{
    *path = cfg->stats_file;
    return !!cfg->stats_file;
}

void ff_gpume_stats_line(FILE *f, int64_t number, int64_t pts, int distance, int nb_blocks,
                         const GpumeStats *s)
{
    char name[32];

    ff_gpume_reference_name(name, sizeof(name), distance);
    fprintf(f, "n:%"PRId64" pts:%s dir:%s blocks:%d cost:%"PRIu64
            " zero:%d mean_mv:%.2f max_mv:%.1f sound:%.4f intra:%"PRIu64" scene:%.4f\n",
            number, av_ts2str(pts), name, nb_blocks, s->cost, s->zero, s->mean_mv, s->max_mv,
            s->sound, s->intra, s->scene);
}

static int write_stats(void *priv, GpumeFile *file, GpumeResult *r, const GpumeStats *stats)
{
    const GpumeParams *p = r->params;

    for (int i = 0; i < r->search.nb_fields; i++)
        ff_gpume_stats_line(file->f, r->number, r->frame->pts,
                            p->distance[r->search.fields[i].reference], p->bw * p->bh, &stats[i]);
    return 0;
}

const GpumeOutput ff_gpume_output_stats = {
    .needs_stats = 1,
    .wanted      = wanted,
    .write       = write_stats,
};
