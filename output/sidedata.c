/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/error.h"
#include "libavutil/frame.h"

#include "libavfilter/gpume/output/output.h"

static int wanted(const GpumeOutputConfig *cfg, const char **path)
{
    return 1;
}

/* The buffer of vectors becomes the side data. */
static int attach(void *priv, GpumeFile *file, GpumeResult *r, const GpumeStats *stats)
{
    av_frame_remove_side_data(r->frame, AV_FRAME_DATA_MOTION_VECTORS);
    if (!r->search.mvs)
        return 0;
    if (!av_frame_new_side_data_from_buf(r->frame, AV_FRAME_DATA_MOTION_VECTORS, r->search.mvs))
        return AVERROR(ENOMEM);
    r->search.mvs = NULL;
    return 0;
}

const GpumeOutput ff_gpume_output_sidedata = {
    .wanted = wanted,
    .write  = attach,
};
