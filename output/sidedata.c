/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
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
