/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/** @file Writes a line of statistics for each frame and direction. */

#include <inttypes.h>

#include "libavutil/timestamp.h"

#include "libavfilter/gpume/output/format.h"
#include "libavfilter/gpume/output/output.h"

typedef struct StatsContext {
    int format;             ///< GPUME_STATS_TEXT or GPUME_STATS_JSONL
    AVRational time_base;
} StatsContext;

static int wanted(const GpumeOutputConfig *cfg, const char **path)
{
    *path = cfg->stats_file;
    return !!cfg->stats_file;
}

/* Prints a line of statistics; both formats have the same values in the same order. */
void ff_gpume_stats_line(FILE *f, int format, const GpumeStamp *stamp, int distance,
                         const GpumeStats *s)
{
    const int known = stamp->pts != AV_NOPTS_VALUE;
    char name[32], time[GPUME_TIME_SIZE];

    ff_gpume_reference_name(name, sizeof(name), distance);
    ff_gpume_time(time, stamp);
    if (format == GPUME_STATS_JSONL)
        fprintf(f, "{\"n\":%"PRId64",\"pts\":%s,\"dir\":\"%s\",\"blocks\":%d,\"cost\":%"PRIu64
                ",\"zero\":%d,\"mean_mv\":%.2f,\"max_mv\":%.1f,\"sound\":%.4f,\"intra\":%"PRIu64
                ",\"scene\":%.4f",
                stamp->number, known ? av_ts2str(stamp->pts) : "null", name, s->nb, s->cost, s->zero, s->mean_mv,
                s->max_mv, s->sound, s->intra, s->scene);
    else
        fprintf(f, "n:%"PRId64" pts:%s dir:%s blocks:%d cost:%"PRIu64
                " zero:%d mean_mv:%.2f max_mv:%.1f sound:%.4f intra:%"PRIu64" scene:%.4f",
                stamp->number, av_ts2str(stamp->pts), name, s->nb, s->cost, s->zero, s->mean_mv, s->max_mv,
                s->sound, s->intra, s->scene);
    if (s->cut >= 0)
        fprintf(f, format == GPUME_STATS_JSONL ? ",\"cut\":%d" : " cut:%d", s->cut);
    if (format == GPUME_STATS_JSONL)
        fprintf(f, ",\"pts_time\":%s", known ? time : "null");
    else
        fprintf(f, " pts_time:%s", known ? time : "NOPTS");
    for (int i = 0; i < s->nb_sizes; i++)
        fprintf(f, format == GPUME_STATS_JSONL ? ",\"leaves%d\":%d" : " leaves%d:%d", s->block << i, s->leaves[i]);
    if (s->nb_sizes)
        fprintf(f, format == GPUME_STATS_JSONL ? ",\"bits\":%"PRIu64",\"rd\":%"PRIu64 :
                " bits:%"PRIu64" rd:%"PRIu64, s->bits, s->rd);
    fputs(format == GPUME_STATS_JSONL ? "}\n" : "\n", f);
}

static int begin(void *priv, GpumeFile *file, const GpumeOutputConfig *cfg, const GpumeParams *params)
{
    StatsContext *s = priv;

    s->format    = ff_gpume_stats_format(cfg);
    s->time_base = cfg->time_base;
    return 0;
}

static int write_stats(void *priv, GpumeFile *file, GpumeResult *r, const GpumeStats *stats)
{
    const StatsContext *s = priv;
    const GpumeStamp stamp = { r->number, r->frame->pts, s->time_base };
    const GpumeParams *p = r->params;

    for (int i = 0; i < r->search.nb_fields; i++)
        ff_gpume_stats_line(file->f, s->format, &stamp, p->distance[r->search.fields[i].reference], &stats[i]);
    return 0;
}

const GpumeOutput ff_gpume_output_stats = {
    .priv_size   = sizeof(StatsContext),
    .needs_stats = 1,
    .wanted      = wanted,
    .open        = begin,
    .write       = write_stats,
};
