/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The tasks of the CPU backend that search the blocks of fields.
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/macros.h"
#include "libavutil/motion_vector.h"

#include "libavfilter/gpume/cpu/backend.h"
#include "libavfilter/gpume/field/field_args.h"

static void write_vector(AVMotionVector *mv, int source, const GpumeBlock *b)
{
    const GpumeBox box = b->box;
    const int dx = b->dx, dy = b->dy;

    for (int i = 0; i < GPUME_VECTOR_WORDS; i++)
        AV_WN32A((uint8_t *)mv + 4 * i,
                 gpume_vector_word(i, source, box.x0, box.y0, box.w, box.h, dx, dy));
}

/* Returns the values that all blocks of a field share. */
static GpumeBlock block_of(CPUField *f)
{
    const CPUContext *s = f->search->s;
    const CPUSize *z = f->size;
    const GpumePicture *cur = f->field->cur, *ref = f->field->ref;
    GpumeBlock b = {
        .plan         = &z->plan,
        .functions    = &s->cost,
        .algo         = z->params.algo,
        .range        = z->params.range,
        .exhaustive   = z->params.exhaustive,
        .sample_size  = z->params.depth > 8 ? 2 : 1,
        .cur_linesize = cur->linesize,
        .ref_linesize = ref->linesize,
        .untried      = &s->untried,
        .front        = &f->front,
    };

    if (z->has_sums) {
        b.sea      = &z->sea;
        b.cur_sums = cur->copy->data + z->sums_offset;
        b.ref_sums = ref->copy->data + z->sums_offset;
    }
    return b;
}

static av_always_inline void search_block(GpumeBlock *b, const GpumeParams *p, const uint8_t *cur,
                                          const uint8_t *ref, int bx, int by)
{
    b->bx  = bx;
    b->by  = by;
    b->box = gpume_box(p, p->block, bx, by);
    b->cur = cur + b->box.y0 * b->cur_linesize + b->box.x0 * b->sample_size;
    b->ref = ref + b->box.y0 * b->ref_linesize + b->box.x0 * b->sample_size;
    ff_gpume_cpu_search(b);
}

/* Searches blocks (bx, by) to (end - 1, by) of a field. */
static void search_row(CPUField *f, int bx, int by, int end)
{
    const GpumeField *field = f->field;
    /* results for steps need not be written in the output format */
    const GpumeStepField *steps = f->size->follows ? &f->steps[0].f : NULL;
    /* copies, so that the compiler need not reload them after each block */
    const GpumeParams params = f->size->params, *p = &params;
    const uint8_t *cur = field->cur->luma, *ref = field->ref->luma;
    const int source = p->distance[field->reference];
    const size_t row = (size_t)by * p->bw;
    uint32_t *costs  = (steps ? steps->costs : field->costs) + row;
    GpumeBlock b = block_of(f);

    for (; bx < end; bx++) {
        search_block(&b, p, cur, ref, bx, by);
        costs[bx] = b.cost;
        if (steps)
            steps->vectors[row + bx] = (GpumeVector) { b.dx, b.dy };
        else
            write_vector(&field->mvs[row + bx], source, &b);
    }
}

/**
 * Searches a block of one of several sizes, after the blocks that it consists of.
 * @param b    blocks of each size; the block of this size is searched
 * @param maps memory for maps of four blocks of each smaller size, if there are sums of samples
 */
static void search_tree(CPUField *f, GpumeBlock *b, uint8_t *maps, int bx, int by)
{
    const CPUContext *s = f->search->s;
    const int size = f->size - s->sizes;
    const GpumeStepField *steps = &f->steps[0].f;
    const size_t i = (size_t)by * f->size->params.bw + bx;
    GpumePart parts[4];

    b->nb_parts = 0;
    b->parts    = parts;
    if (b->sums) {
        b->box = gpume_box(&f->size->params, f->size->params.block, bx, by);
        ff_gpume_cpu_begin_sums(b);
    }
    for (int j = 0; j < 4 && size; j++) {
        CPUField *smaller = f - s->cfg.params.nb_distances;
        const int x = 2 * bx + (j & 1), y = 2 * by + (j >> 1);

        if (x >= smaller->size->params.bw || y >= smaller->size->params.bh)
            continue;
        if (b->sea) {
            b[-1].part      = &parts[b->nb_parts];
            b[-1].part->map = maps + b->nb_parts * b->sea->map_size;
        }
        search_tree(smaller, b - 1, maps + (b->sea ? FF_ARRAY_ELEMS(parts) * b->sea->map_size : 0), x, y);
        b->nb_parts += size > s->first_part;
    }
    search_block(b, &f->size->params, f->field->cur->luma, f->field->ref->luma, bx, by);
    steps->vectors[i] = (GpumeVector) { b->dx, b->dy };
    steps->costs[i]   = b->cost;
}

/* Searches blocks of all sizes, for each of the largest blocks. */
void ff_gpume_cpu_search_trees(void *opaque, int worker, int start, int end)
{
    CPUField *f = opaque;
    const CPUContext *s = f->search->s;
    const int nb = s->nb_sizes;
    CPUField *largest = f + (nb - 1) * s->cfg.params.nb_distances;
    uint8_t *maps     = s->scratch + worker * s->scratch_size;
    const size_t map_size = f->size->sea.map_size;
    GpumePart root = { .map = maps + map_size };
    GpumeBlock b[GPUME_MAX_SIZES];

    for (int i = 0; i < nb; i++) {
        b[i] = block_of(f + i * s->cfg.params.nb_distances);
        if (b[i].sea) {
            b[i].sea_of_parts = i ? b[i - 1].sea : NULL;
            b[i].no_map       = maps;
            b[i].part         = &root;
            b[i].is_part      = i < nb - 1;
        } else {
            b[i].whole = i >= s->first_part && i < nb - 1 ? &b[i + 1] : NULL;
            b[i].sums  = i > s->first_part ? (uint32_t *)(maps + (i - 1) * s->sums_size) : NULL;
        }
    }
    memset(maps, 0, map_size);
    for (; start < end; start++)
        search_tree(largest, &b[nb - 1], maps + 2 * map_size, start % largest->size->params.bw,
                    start / largest->size->params.bw);
}

void ff_gpume_cpu_search_blocks(void *opaque, int worker, int start, int end)
{
    CPUField *f = opaque;
    const int bw = f->size->params.bw;

    while (start < end) {
        const int bx = start % bw;
        const int nb = FFMIN(end - start, bw - bx);

        search_row(f, bx, start / bw, bx + nb);
        start += nb;
    }
}

int ff_gpume_cpu_take_run(void *opaque)
{
    CPUField *f = opaque;

    return ff_gpume_wavefront_take(&f->front);
}

void ff_gpume_cpu_search_run(void *opaque, int worker, int start, int end)
{
    CPUField *f = opaque;
    const int bw = f->size->params.bw, nb_runs = (bw - 1) / GPUME_RUN + 1;
    const int bx = start % nb_runs * GPUME_RUN, by = start / nb_runs, after = FFMIN(bx + GPUME_RUN, bw);

    search_row(f, bx, by, after);
    ff_gpume_wavefront_finish(&f->front, by, after);
}
