/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/intreadwrite.h"

#define GPUME_INLINE static av_always_inline
#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/cpu/check.h"
#include "libavfilter/gpume/cpu/tree.h"

/** Maximum number of the smallest blocks of a root. */
#define MAX_LEAVES (GPUME_MAX_ROOT / GPUME_MIN_BLOCK * (GPUME_MAX_ROOT / GPUME_MIN_BLOCK))

/** A block of the field of a size. */
typedef struct Node {
    int size, bx, by;
} Node;

/** A root and the decisions so far. */
typedef struct Root {
    const GpumeTree *tree;
    Node leaves[MAX_LEAVES];
    int nb;
    int bits;
} Root;

/* Decides a node and adds its leaves. Returns its cost, including bits. */
static uint32_t decide(Root *r, int size, int bx, int by, const GpumeVector *predictor)
{
    const GpumeTree *t = r->tree;
    const GpumeTreeField *f = &t->fields[size];
    const int i = by * f->params.bw + bx;
    const GpumeVector *v = &f->vectors[i];
    const int nb = r->nb, bits = r->bits;
    const int leaf_bits = gpume_vector_bits(*v, *predictor) + !!size;
    const uint32_t leaf = f->costs[i] + gpume_rate(t->bit_cost, leaf_bits);
    uint32_t split = gpume_rate(t->bit_cost, 1);

    if (size) {
        const GpumeParams *p = &t->fields[size - 1].params;

        for (int y = 2 * by; y < FFMIN(2 * by + 2, p->bh); y++)
            for (int x = 2 * bx; x < FFMIN(2 * bx + 2, p->bw); x++)
                split += decide(r, size - 1, x, y, v);
        if (split < leaf) {
            r->bits++;
            return split;
        }
    }
    r->nb   = nb;
    r->bits = bits + leaf_bits;
    r->leaves[r->nb++] = (Node) { size, bx, by };
    return leaf;
}

static GpumeVector root_predictor(const GpumeTreeField *f, int bx, int by)
{
    GpumeVector v[GPUME_ROOT_NEIGHBOURS] = { { 0 } };

    for (int i = 0; i < GPUME_ROOT_NEIGHBOURS; i++) {
        const int n = gpume_root_neighbour(i, bx, by, f->params.bw);

        if (n >= 0)
            v[i] = f->vectors[n];
    }
    return gpume_root_predictor(v, by);
}

static void write_leaf(const GpumeTree *t, const Node *n, AVMotionVector *mv, uint32_t *cost)
{
    const GpumeTreeField *f = &t->fields[n->size];
    const int i = n->by * f->params.bw + n->bx;
    const GpumeBox box = gpume_box(&f->params, f->params.block, n->bx, n->by);
    const int flags = f->rings && f->rings[i] != GPUME_RING_CONSISTENT ? GPUME_FLAG_INCONSISTENT : 0;

    for (int j = 0; j < GPUME_VECTOR_WORDS; j++)
        AV_WN32A((uint8_t *)mv + 4 * j, gpume_subpel_vector_word(j, t->source, &box, f->vectors[i].dx,
                                                                 f->vectors[i].dy, f->params.pel, flags));
    *cost = f->costs[i];
}

void ff_gpume_tree_row(const GpumeTree *t, int by, AVMotionVector *mvs, uint32_t *costs, uint8_t *sizes,
                       GpumeTreeRow *row)
{
    const GpumeTreeField *roots = &t->fields[t->nb_sizes - 1];
    Root r = { .tree = t };

    *row = (GpumeTreeRow) { 0 };
    for (int bx = 0; bx < roots->params.bw; bx++) {
        const GpumeVector predictor = root_predictor(roots, bx, by);

        r.nb = r.bits = 0;
        row->rd   += decide(&r, t->nb_sizes - 1, bx, by, &predictor);
        row->bits += r.bits;
        for (int i = 0; i < r.nb; i++) {
            write_leaf(t, &r.leaves[i], &mvs[row->nb], &costs[row->nb]);
            sizes[row->nb++] = r.leaves[i].size;
        }
    }
}
