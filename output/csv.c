/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <inttypes.h>

#include "libavfilter/gpume/output/output.h"

static int wanted(const GpumeOutputConfig *cfg, const char **path)
{
    *path = cfg->mv_file;
    return cfg->mv_file && !ff_gpume_has_ending(cfg->mv_file, ".npy");
}

/* The columns of FFmpeg's extract_mvs example, and the cost. */
static int begin(void *priv, GpumeFile *file, const GpumeParams *params)
{
    fputs("framenum,source,blockw,blockh,srcx,srcy,dstx,dsty,flags,"
          "motion_x,motion_y,motion_scale,cost\n", file->f);
    return 0;
}

static int write_vectors(void *priv, GpumeFile *file, GpumeResult *r, const GpumeStats *stats)
{
    const size_t nb_blocks = (size_t)r->params->bw * r->params->bh;

    for (int i = 0; i < r->search.nb_fields; i++) {
        const GpumeField *field = &r->search.fields[i];

        for (size_t j = 0; j < nb_blocks; j++) {
            const AVMotionVector *mv = &field->mvs[j];

            fprintf(file->f, "%"PRId64",%d,%d,%d,%d,%d,%d,%d,0x%"PRIx64
                    ",%d,%d,%d,%"PRIu32"\n",
                    r->number, mv->source, mv->w, mv->h, mv->src_x, mv->src_y,
                    mv->dst_x, mv->dst_y, mv->flags, mv->motion_x,
                    mv->motion_y, mv->motion_scale, field->costs[j]);
        }
    }
    return 0;
}

const GpumeOutput ff_gpume_output_csv = {
    .wanted = wanted,
    .open   = begin,
    .write  = write_vectors,
};
