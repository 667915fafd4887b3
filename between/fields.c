/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/between/fields.h"
#include "libavfilter/gpume/sidedata.h"

/* The first cell whose place is at or behind a sample. */
static int cell_from(int sample, int length, int nb)
{
    const int last = FFMIN((nb - 1) * MVFPS_CELL + MVFPS_CELL / 2, length - 1);

    return sample > last ? nb : av_clip((sample + MVFPS_CELL / 2 - 1) >> 3, 0, nb - 1);
}

static int quarters(int units)
{
    return av_clip((units + GPUME_UNITS / 8) >> 2, -MVFPS_LONGEST, MVFPS_LONGEST);
}

/* One field of a frame; returns how many vectors it has. */
static int read_field(MvfpsFieldsMemory *m, int n, const MvfpsFields *f, const AVFrame *frame,
                      int future, int w, int h)
{
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const size_t nb = gpume_nb_vectors(sd), nb_cells = (size_t)f->cols * f->rows;
    int nb_found = 0;

    for (size_t i = 0; i < nb; i++) {
        GpumeBlockVector v;
        int left, top, x1, y1;

        if (!gpume_read_vector(&v, sd, i, w, h) || v.future != future)
            continue;
        if (!nb_found) {
            av_fast_malloc(&m->field[n], &m->allocated[n], nb_cells * sizeof(**m->field));
            if (!m->field[n])
                return AVERROR(ENOMEM);
            for (size_t k = 0; k < nb_cells; k++)
                m->field[n][k] = (MvfpsVector) { MVFPS_NONE, 0 };
        }
        nb_found += nb_found < INT_MAX;
        left = gpume_block_left(&v);
        top  = gpume_block_top(&v);
        x1   = cell_from(left + v.w, w, f->cols);
        y1   = cell_from(top  + v.h, h, f->rows);
        for (int y = cell_from(top, h, f->rows); y < y1; y++)
            for (int x = cell_from(left, w, f->cols); x < x1; x++)
                m->field[n][y * (size_t)f->cols + x] = (MvfpsVector) { quarters(v.dx), quarters(v.dy) };
    }
    return nb_found;
}

int ff_mvfps_fields_read(MvfpsFields *f, MvfpsFieldsMemory *m, const AVFrame *before,
                         const AVFrame *after, int w, int h)
{
    const struct {
        const AVFrame *frame;
        int future;
        const MvfpsVector **field;
    } list[] = {
        { before, 1, &f->before_future }, { after, 0, &f->after_past },
        { before, 0, &f->before_past },   { after, 1, &f->after_future },
    };
    int64_t sum = 0;

    f->cols = (w + MVFPS_CELL - 1) / MVFPS_CELL;
    f->rows = (h + MVFPS_CELL - 1) / MVFPS_CELL;
    if ((int64_t)f->cols * f->rows > INT_MAX / 64)
        return AVERROR(ENOMEM);
    for (int i = 0; i < FF_ARRAY_ELEMS(list); i++) {
        const int nb = read_field(m, i, f, list[i].frame, list[i].future, w, h);

        if (nb < 0)
            return nb;
        *list[i].field = nb ? m->field[i] : NULL;
        sum += i < 2 ? nb : 0;
    }
    return FFMIN(sum, INT_MAX);
}

void ff_mvfps_fields_free(MvfpsFieldsMemory *m)
{
    for (int i = 0; i < 4; i++)
        av_freep(&m->field[i]);
}
