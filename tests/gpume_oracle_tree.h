/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Reference implementation of blocks of several sizes, written from doc/gpume-definition.md,
 * "Blocks of several sizes: tree", as plainly as possible: the larger blocks of hme, and which
 * blocks become leaves. Like gpume_oracle.h it uses nothing of the filter or of FFmpeg, and is not
 * optimized.
 */

#ifndef GPUME_ORACLE_TREE_H
#define GPUME_ORACLE_TREE_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "gpume_oracle_motion.h"

/** Sides from 4 to 64. */
#define ORACLE_MAX_SIZES 5

/** The fields of a picture, with the costs of their final vectors. */
typedef struct OracleSizes {
    int w, h;               ///< size of the picture
    int block;              ///< side of the smallest blocks
    int nb;                 ///< number of fields; field k has blocks of side block 2^k, and the blocks of the last
                            ///< field are roots
    const OracleVector *fields[ORACLE_MAX_SIZES];
    int depth;              ///< depth of samples
    int lambda;
} OracleSizes;

typedef struct OracleLeaf {
    int x0, y0;             ///< first sample
    int side;               ///< before the edge of the picture cuts it
    OracleVector v;
} OracleLeaf;

typedef struct OracleTree {
    int nb;
    OracleLeaf *leaves;     ///< in the order of the side data; the caller frees them
    uint64_t bits;
    uint64_t rd;
} OracleTree;

/** Returns lambda from the option lambda or, if that is negative, from the option qp. */
static inline int oracle_lambda(int lambda, int qp)
{
    if (lambda >= 0)
        return lambda;
    return lrint(256 * pow(2, (qp < 0 ? 28 : qp) / 6.0 - 2));
}

/** Returns b(v). */
static int oracle_bits(int v)
{
    const int n = v > 0 ? 2 * v : 2 * oracle_abs(v) + 1;
    int log2 = 0;

    while (n >> (log2 + 1))
        log2++;
    return 2 * log2 + 1;
}

/* Returns the cost of nb_bits bits. */
static int64_t oracle_price(const OracleSizes *s, int nb_bits)
{
    const int64_t l = (int64_t)s->lambda << (s->depth - 8);

    return (l * nb_bits + 128) >> 8;
}

/* A node: block (bx, by) of field k, and its predicted vector. */
typedef struct OracleNode {
    int k, bx, by;
    int px, py;
} OracleNode;

/* Returns the vector of a block, or NULL if the block has no sample in the picture. */
static const OracleVector *oracle_block_of(const OracleSizes *s, int k, int bx, int by)
{
    const int side = s->block << k;

    if (bx < 0 || by < 0 || bx * side >= s->w || by * side >= s->h)
        return NULL;
    return &s->fields[k][by * oracle_blocks(s->w, side) + bx];
}

static OracleVector oracle_root_vector(const OracleSizes *s, int bx, int by)
{
    const OracleVector *v = oracle_block_of(s, s->nb - 1, bx, by);

    return v ? *v : (OracleVector){ 0, 0 };
}

static OracleNode oracle_root(const OracleSizes *s, int bx, int by)
{
    const int right = !!oracle_block_of(s, s->nb - 1, bx + 1, by - 1);
    const OracleVector left   = oracle_root_vector(s, bx - 1, by);
    const OracleVector above  = oracle_root_vector(s, bx, by - 1);
    const OracleVector corner = oracle_root_vector(s, right ? bx + 1 : bx - 1, by - 1);

    if (by == 0)
        return (OracleNode){ s->nb - 1, bx, by, left.dx, left.dy };
    return (OracleNode){ s->nb - 1, bx, by, oracle_median(left.dx, above.dx, corner.dx),
                         oracle_median(left.dy, above.dy, corner.dy) };
}

/* Gets child i in raster order. Returns 0 if the child does not exist. */
static int oracle_child(const OracleSizes *s, OracleNode n, int i, OracleNode *child)
{
    const OracleVector *parent = oracle_block_of(s, n.k, n.bx, n.by);

    *child = (OracleNode){ n.k - 1, 2 * n.bx + i % 2, 2 * n.by + i / 2, parent->dx, parent->dy };
    return !!oracle_block_of(s, child->k, child->bx, child->by);
}

/* Returns b(ex) + b(ey). */
static int oracle_node_bits(const OracleSizes *s, OracleNode n)
{
    const OracleVector *v = oracle_block_of(s, n.k, n.bx, n.by);

    return oracle_bits(v->dx - n.px) + oracle_bits(v->dy - n.py);
}

/* Returns J_leaf. The smallest blocks have no flag. */
static int64_t oracle_leaf_j(const OracleSizes *s, OracleNode n)
{
    return oracle_block_of(s, n.k, n.bx, n.by)->cost + oracle_price(s, oracle_node_bits(s, n) + (n.k > 0));
}

static int64_t oracle_node_j(const OracleSizes *s, OracleNode n);

/* Returns J_split. */
static int64_t oracle_split_j(const OracleSizes *s, OracleNode n)
{
    int64_t j = oracle_price(s, 1);
    OracleNode child;

    for (int i = 0; i < 4; i++)
        if (oracle_child(s, n, i, &child))
            j += oracle_node_j(s, child);
    return j;
}

/* Returns J. */
static int64_t oracle_node_j(const OracleSizes *s, OracleNode n)
{
    const int64_t leaf = oracle_leaf_j(s, n), split = n.k > 0 ? oracle_split_j(s, n) : INT64_MAX;

    return split < leaf ? split : leaf;
}

/** Returns J of a node that is completely divided into blocks of field k. */
static inline int64_t oracle_equal_j(const OracleSizes *s, OracleNode n, int k)
{
    int64_t j = oracle_price(s, 1);
    OracleNode child;

    if (n.k == k)
        return oracle_leaf_j(s, n);
    for (int i = 0; i < 4; i++)
        if (oracle_child(s, n, i, &child))
            j += oracle_equal_j(s, child, k);
    return j;
}

static void oracle_visit(const OracleSizes *s, OracleNode n, OracleTree *t)
{
    const int side = s->block << n.k;
    OracleNode child;

    t->bits += n.k > 0;
    if (n.k > 0 && oracle_split_j(s, n) < oracle_leaf_j(s, n)) {
        for (int i = 0; i < 4; i++)
            if (oracle_child(s, n, i, &child))
                oracle_visit(s, child, t);
        return;
    }
    t->bits += oracle_node_bits(s, n);
    t->leaves[t->nb++] = (OracleLeaf){ n.bx * side, n.by * side, side,
                                       *oracle_block_of(s, n.k, n.bx, n.by) };
}

/** Decides which blocks of the fields are leaves. */
static inline void oracle_tree(const OracleSizes *s, OracleTree *t)
{
    const int root = s->block << (s->nb - 1);
    const int bw = oracle_blocks(s->w, root), bh = oracle_blocks(s->h, root);

    *t = (OracleTree){
        .leaves = oracle_memory(oracle_blocks(s->w, s->block) * oracle_blocks(s->h, s->block),
                                sizeof(*t->leaves)),
    };
    for (int by = 0; by < bh; by++) {
        for (int bx = 0; bx < bw; bx++) {
            const OracleNode n = oracle_root(s, bx, by);

            t->rd += oracle_node_j(s, n);
            oracle_visit(s, n, t);
        }
    }
}

/**
 * Computes a larger field of hme, without the check.
 * @param m         parameters with the larger block
 * @param smaller   the vectors of blocks of half the side
 * @param nb_passes 1 for the field of twice the smallest side, 0 for larger blocks
 * @param vectors   output, one for each block
 */
static inline void oracle_larger(const OracleMotion *m, const OraclePicture *cur,
                                 const OraclePicture *ref, const OracleVector *smaller,
                                 int nb_passes, OracleVector *vectors)
{
    const OraclePicture large = oracle_enlarge(ref, m->depth, m->pel);
    OracleLevel l = oracle_level(m, cur, &large, m->block, m->range, vectors);
    const int bw = oracle_blocks(cur->w, m->block / 2), bh = oracle_blocks(cur->h, m->block / 2);

    l.pel = m->pel;
    if (m->pel > 1)
        l.threshold = oracle_min(m->block / 2, 16);
    for (int by = 0; by < l.bh; by++) {
        for (int bx = 0; bx < l.bw; bx++) {
            OracleBest best = { 0, 0, INT64_MAX };

            for (int i = 0; i < 4; i++) {
                const int x = 2 * bx + i % 2, y = 2 * by + i / 2;
                const OracleVector *v = &smaller[y * bw + x];
                int64_t cost;

                if (x >= bw || y >= bh || !oracle_level_admissible(&l, bx, by, v->dx, v->dy))
                    continue;
                cost = oracle_level_cost(&l, bx, by, v->dx, v->dy, best.cost);
                if (cost < best.cost)
                    best = (OracleBest){ v->dx, v->dy, cost };
            }
            vectors[by * l.bw + bx] = (OracleVector){ best.dx, best.dy };
        }
    }
    oracle_passes(&l, nb_passes);
    free((void *)large.samples);
}

#endif /* GPUME_ORACLE_TREE_H */
