/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/field/cells.h"
#include "libavfilter/gpume/field/fields.h"
#include "libavfilter/gpume/field/sidedata.h"

static const uint8_t *vectors(const GpumeCellField *f)
{
    return (const uint8_t *)(uintptr_t)f->source.mvs;
}

int ff_gpume_cells_read(GpumeBlockVector *v, const GpumeCellField *f, size_t i)
{
    return gpume_read_vector_at(v, vectors(f) + i * sizeof(AVMotionVector), f->cells.w, f->cells.h) &&
           v->distance == f->distance;
}

int ff_gpume_cells_find(GpumeCellField *f, const GpumeCells *cells, const AVFrame *frame, int distance)
{
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const GpumeFieldSet *ours = ff_gpume_frame_fields(frame);
    /* fields with blocks of several sizes are read as a list */
    const GpumeFieldSet *set  = ours && !ours->sizes ? ours : NULL;
    const GpumeMotionField *field = set ? gpume_field_at(set->host, set->nb, distance) : NULL;
    GpumeBlockVector v;

    f->cells    = *cells;
    f->distance = distance;
    f->source   = (GpumeCellSource) { 0 };
    f->is_list  = !set;
    f->nb       = 0;
    if (field) {
        f->source = gpume_cell_source(field);
        f->nb     = field->bw * (size_t)field->bh;
    }
    if (set || !sd)
        return !!field;
    f->source.mvs = (uintptr_t)sd->data;
    f->nb         = FFMIN(gpume_nb_vectors(sd), UINT32_MAX - 1);
    /* producers write the vectors of each distance in sequence, so the search alternates between both ends */
    for (size_t i = 0; i < f->nb; i++)
        if (ff_gpume_cells_read(&v, f, i & 1 ? f->nb - 1 - i / 2 : i / 2))
            return 1;
    f->nb = 0;
    return 0;
}

int ff_gpume_cells_alloc(GpumeCellField *f)
{
    if (!f->is_list || !f->nb)
        return 0;
    av_fast_malloc(&f->map, &f->allocated, (size_t)f->cells.cols * f->cells.rows * sizeof(*f->map));
    f->source.map = (uintptr_t)f->map;
    return f->map ? 0 : AVERROR(ENOMEM);
}

void ff_gpume_cells_map(GpumeCellField *f)
{
    const size_t cols = f->cells.cols;
    GpumeBlockVector v;

    if (!f->is_list || !f->nb)
        return;
    memset(f->map, 0, cols * f->cells.rows * sizeof(*f->map));
    for (size_t i = 0; i < f->nb; i++) {
        if (ff_gpume_cells_read(&v, f, i)) {
            const GpumeCellBox b = gpume_cells_of_block(&f->cells, &v);

            for (int y = b.y0; y < b.y1; y++)
                for (int x = b.x0; x < b.x1; x++)
                    f->map[y * cols + x] = i + 1;
        }
    }
}

void ff_gpume_cells_fill(const GpumeCellField *f, GpumeCellVector *cells, int first, int end)
{
    const size_t cols = f->cells.cols;

    for (int y = first; y < end; y++) {
        GpumeCellVector *row = cells + y * cols;
        uint32_t last = 0;

        for (int x = 0; x < f->cells.cols; x++) {
            const uint32_t i = f->is_list ? f->map[y * cols + x]
                                          : gpume_block_of_cell(&f->cells, &f->source, x, y) + 1;
            GpumeBlockVector v;

            if (i && i == last)
                row[x] = row[x - 1];
            else if (i && ff_gpume_cells_read(&v, f, i - 1))
                row[x] = gpume_cell_vector(&v);
            else
                row[x] = (GpumeCellVector) { GPUME_NO_VECTOR, 0 };
            last = i;
        }
    }
}

void ff_gpume_cells_free(GpumeCellField *f)
{
    av_freep(&f->map);
    f->allocated = 0;
}
