/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/** @file Writes a line of text for each vector. */

#include <inttypes.h>
#include <stdio.h>

#include "libavutil/avutil.h"

#include "libavfilter/gpume/output/format.h"
#include "libavfilter/gpume/output/output.h"

typedef struct CsvContext {
    AVRational time_base;
} CsvContext;

static int wanted(const GpumeOutputConfig *cfg, const char **path)
{
    *path = cfg->mv_file;
    return ff_gpume_mv_format(cfg) == GPUME_MV_CSV;
}

void ff_gpume_time(char text[GPUME_TIME_SIZE], const GpumeStamp *s)
{
    text[0] = 0;
    if (s->pts != AV_NOPTS_VALUE)
        snprintf(text, GPUME_TIME_SIZE, "%.6f", s->pts * av_q2d(s->time_base));
}

/* Writes the columns of FFmpeg's extract_mvs example, then the cost and the time. */
void ff_gpume_csv_header(FILE *f)
{
    fputs("framenum,source,blockw,blockh,srcx,srcy,dstx,dsty,flags,"
          "motion_x,motion_y,motion_scale,cost,pts_time\n", f);
}

void ff_gpume_csv_field(FILE *f, int64_t number, const char *time, const GpumeField *field)
{
    const char *comma = time ? "," : "";

    time = time ? time : "";
    for (int i = 0; i < field->nb; i++) {
        const AVMotionVector *mv = &field->mvs[i];

        fprintf(f, "%"PRId64",%d,%d,%d,%d,%d,%d,%d,0x%"PRIx64",%d,%d,%d,%"PRIu32"%s%s\n",
                number, mv->source, mv->w, mv->h, mv->src_x, mv->src_y, mv->dst_x, mv->dst_y,
                mv->flags, mv->motion_x, mv->motion_y, mv->motion_scale, field->costs[i],
                comma, time);
    }
}

static int begin(void *priv, GpumeFile *file, const GpumeOutputConfig *cfg, const GpumeParams *params)
{
    CsvContext *s = priv;

    s->time_base = cfg->time_base;
    ff_gpume_csv_header(file->f);
    return 0;
}

static int write_vectors(void *priv, GpumeFile *file, GpumeResult *r, const GpumeStats *stats)
{
    const CsvContext *s = priv;
    const GpumeStamp stamp = { r->number, r->frame->pts, s->time_base };
    char time[GPUME_TIME_SIZE];

    ff_gpume_time(time, &stamp);
    for (int i = 0; i < r->search.nb_fields; i++)
        ff_gpume_csv_field(file->f, r->number, time, &r->search.fields[i]);
    return 0;
}

const GpumeOutput ff_gpume_output_csv = {
    .priv_size = sizeof(CsvContext),
    .wanted    = wanted,
    .open      = begin,
    .write     = write_vectors,
};
