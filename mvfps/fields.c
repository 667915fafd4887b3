/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvfps/fields.h"
#include "libavfilter/gpume/field/sidedata.h"

/* Of a field before its first vector. */
static int begin_field(MvfpsFrameFields *f, int future, size_t nb_cells)
{
    av_fast_malloc(&f->cells[future], &f->allocated[future], nb_cells * sizeof(**f->cells));
    if (!f->cells[future])
        return AVERROR(ENOMEM);
    for (size_t i = 0; i < nb_cells; i++)
        f->cells[future][i] = (MvfpsVector) { MVFPS_NONE, 0 };
    return 0;
}

int ff_mvfps_fields_read(MvfpsFrameFields *f, const AVFrame *frame, int w, int h)
{
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const int cols  = mvfps_cells(w), rows = mvfps_cells(h);
    const size_t nb = gpume_nb_vectors(sd);

    f->nb[0] = f->nb[1] = 0;
    for (size_t i = 0; i < nb; i++) {
        GpumeBlockVector v;
        MvfpsVector *cells, vector;
        int left, top, x0, x1, y1, ret;

        if (!gpume_read_vector(&v, sd, i, w, h))
            continue;
        if (!f->nb[(v.distance > 0)] && (ret = begin_field(f, (v.distance > 0), cols * (size_t)rows)) < 0)
            return ret;
        f->nb[(v.distance > 0)] += f->nb[(v.distance > 0)] < INT_MAX;
        cells  = f->cells[(v.distance > 0)];
        vector = (MvfpsVector) { mvfps_quarters(v.dx), mvfps_quarters(v.dy) };
        left   = gpume_block_left(&v);
        top    = gpume_block_top(&v);
        x0     = mvfps_cell_from(left, w, cols);
        x1     = mvfps_cell_from(left + v.w, w, cols);
        y1     = mvfps_cell_from(top  + v.h, h, rows);
        for (int y = mvfps_cell_from(top, h, rows); y < y1; y++)
            for (int x = x0; x < x1; x++)
                cells[y * (size_t)cols + x] = vector;
    }
    return 0;
}

void ff_mvfps_fields_free(MvfpsFrameFields *f)
{
    for (int i = 0; i < 2; i++) {
        av_freep(&f->cells[i]);
        f->allocated[i] = 0;
    }
}
