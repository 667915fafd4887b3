/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The tasks of the CPU backend that turn vectors into results: the check, the output, leaves of trees, intra.
 */

#include <string.h>

#include "libavutil/intreadwrite.h"

#include "libavfilter/gpume/core/same.h"
#include "libavfilter/gpume/cpu/backend.h"
#include "libavfilter/gpume/field/field_args.h"

void ff_gpume_cpu_judge_rows(void *opaque, int worker, int start, int end)
{
    CPUField *f = opaque;

    for (; start < end; start++)
        ff_gpume_check_row(&f->check, &f->size->params, result_of(f)->vectors,
                           result_of(opposite_of(f))->vectors, start);
}

void ff_gpume_cpu_replace_vectors(void *opaque, int worker, int start, int end)
{
    CPUField *f = opaque;

    ff_gpume_check_replace(&f->check, &f->size->params, result_of(f)->vectors);
}

/* Finishes a row of a field: writes the output or, with a tree, only its costs. */
static void finish_row(CPUField *c, int by)
{
    CPUContext *s = c->search->s;
    const GpumeParams *p = &c->size->params;
    const GpumeField *field = c->field;
    const GpumeStepField *f = result_of(c);
    const int source = p->distance[field->reference];
    uint32_t *costs = s->cfg.params.tree ? f->costs : field->costs;

    for (int bx = 0; bx < p->bw; bx++) {
        const int i = by * p->bw + bx;
        const GpumeBox box  = gpume_box(p, p->block, bx, by);
        const GpumeVector v = f->vectors[i];
        const int inconsistent = p->check && c->check.rings[i] != GPUME_RING_CONSISTENT;

        for (int j = 0; j < GPUME_VECTOR_WORDS && !s->cfg.params.tree; j++)
            AV_WN32A((uint8_t *)&field->mvs[i] + 4 * j,
                     gpume_subpel_vector_word(j, source, &box, v.dx, v.dy, p->pel,
                                              inconsistent ? GPUME_FLAG_INCONSISTENT : 0));
        costs[i] = inconsistent ?
            ff_gpume_propagation_cost(&s->sizes[0].propagation, field, &box, v, p->pel) : f->costs[i];
    }
}

void ff_gpume_cpu_finish_rows(void *opaque, int worker, int start, int end)
{
    const CPUField *f = opaque;

    /* trees then take the results */
    if (f->search->s->cfg.params.tree && !f->size->params.check)
        return;
    for (; start < end; start++)
        finish_row(opaque, start);
}

/* Computes the leaves of some rows of roots. Each row is stored at the position of its first blocks. */
void ff_gpume_cpu_tree_rows(void *opaque, int worker, int start, int end)
{
    CPUField *f = opaque;
    const CPUContext *s = f->search->s;
    const GpumeParams *p = &s->cfg.params;
    GpumeTree t = {
        .params = p, .nb_sizes = s->nb_sizes, .bit_cost = s->bit_cost, .source = p->distance[f->field->reference],
    };

    for (int i = 0; i < s->nb_sizes; i++) {
        const CPUField *z = f + (i - (s->nb_sizes - 1)) * p->nb_distances;

        t.fields[i] = (GpumeTreeField) {
            z->size->params, result_of(z)->vectors, result_of(z)->costs, p->check ? z->check.rings : NULL
        };
    }
    for (; start < end; start++) {
        const size_t first = (size_t)start * (p->tree_max / p->block) * p->bw;

        ff_gpume_tree_row(&t, start, f->field->mvs + first, f->field->costs + first, f->field->sizes + first,
                          &f->rows[start]);
    }
}

void ff_gpume_cpu_join_rows(const CPUField *f)
{
    const GpumeParams *p = &f->search->s->cfg.params;
    GpumeField *field = f->field;
    int nb = 0;

    field->bits = field->rd = 0;
    for (int i = 0; i < f->size->params.bh; i++) {
        const GpumeTreeRow *row = &f->rows[i];
        const size_t first = (size_t)i * (p->tree_max / p->block) * p->bw;

        memmove(field->mvs   + nb, field->mvs   + first, row->nb * sizeof(*field->mvs));
        memmove(field->costs + nb, field->costs + first, row->nb * sizeof(*field->costs));
        memmove(field->sizes + nb, field->sizes + first, row->nb * sizeof(*field->sizes));
        nb          += row->nb;
        field->bits += row->bits;
        field->rd   += row->rd;
    }
    field->nb = nb;
}

/* Computes intra; the sum of samples is their SAD against 0. */
void ff_gpume_cpu_intra_rows(void *opaque, int worker, int start, int end)
{
    CPUField *f = opaque;
    const CPUContext *s = f->search->s;
    const GpumePicture *pic = f->field->cur;
    const GpumeParams *p = &s->cfg.params;
    const int size = p->depth > 8 ? 2 : 1;
    uint8_t row[2 * GPUME_MAX_BLOCK];
    const uint8_t *const ref = row;

    for (int by = start; by < end; by++) {
        f->intra[by] = 0;
        for (int bx = 0; bx < p->bw; bx++) {
            const GpumeBox box = gpume_box(p, p->block, bx, by);
            GpumeCostArea area = {
                .functions = &s->sad, .sample_size = size, .w = box.w, .h = box.h,
                .cur = pic->luma + box.y0 * pic->linesize + box.x0 * size,
                .cur_linesize = pic->linesize,
            };
            uint32_t sum, mean;

            memset(row, 0, sizeof(row));
            ff_gpume_cost_of_parts(&area, &ref, 1, &sum, UINT32_MAX);
            mean = (sum + box.w * box.h / 2) / (box.w * box.h);
            for (int x = 0; x < box.w; x++) {
                if (size == 1)
                    row[x] = mean;
                else
                    AV_WN16(row + 2 * x, mean);
            }
            area.functions = &s->cost;
            ff_gpume_cost_of_parts(&area, &ref, 1, &sum, UINT32_MAX);
            f->intra[by] += sum;
        }
    }
}

void ff_gpume_cpu_same_rows(void *opaque, int worker, int start, int end)
{
    const CPUField *f = opaque;

    ff_gpume_compare_cells(f->field, &f->search->s->cfg.params, start, end);
}
