/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <inttypes.h>

#include "libavfilter/gpume/output/format.h"
#include "libavfilter/gpume/output/output.h"

static int wanted(const GpumeOutputConfig *cfg, const char **path)
{
    *path = cfg->mv_file;
    return cfg->mv_file && !ff_gpume_has_ending(cfg->mv_file, ".npy");
}

/* The columns of FFmpeg's extract_mvs example, and the cost. */
void ff_gpume_csv_header(FILE *f)
{
    fputs("framenum,source,blockw,blockh,srcx,srcy,dstx,dsty,flags,"
          "motion_x,motion_y,motion_scale,cost\n", f);
}

void ff_gpume_csv_field(FILE *f, int64_t number, const GpumeField *field, size_t nb_blocks)
{
    for (size_t i = 0; i < nb_blocks; i++) {
        const AVMotionVector *mv = &field->mvs[i];

        fprintf(f, "%"PRId64",%d,%d,%d,%d,%d,%d,%d,0x%"PRIx64",%d,%d,%d,%"PRIu32"\n",
                number, mv->source, mv->w, mv->h, mv->src_x, mv->src_y, mv->dst_x, mv->dst_y,
                mv->flags, mv->motion_x, mv->motion_y, mv->motion_scale, field->costs[i]);
    }
}

static int begin(void *priv, GpumeFile *file, const GpumeParams *params)
{
    ff_gpume_csv_header(file->f);
    return 0;
}

static int write_vectors(void *priv, GpumeFile *file, GpumeResult *r, const GpumeStats *stats)
{
    const size_t nb_blocks = (size_t)r->params->bw * r->params->bh;

    for (int i = 0; i < r->search.nb_fields; i++)
        ff_gpume_csv_field(file->f, r->number, &r->search.fields[i], nb_blocks);
    return 0;
}

const GpumeOutput ff_gpume_output_csv = {
    .wanted = wanted,
    .open   = begin,
    .write  = write_vectors,
};
