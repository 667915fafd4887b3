/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/cpu/global.h"

#define SIDE  GPUME_GLOBAL_BLOCK
#define RANGE GPUME_GLOBAL_RANGE
#define COSTS GPUME_GLOBAL_COSTS
/** Size of the window of the reference in which a block is searched. */
#define WINDOW_ROWS    (2 * RANGE + SIDE)
#define WINDOW_COLUMNS (COSTS + 16)

/** A block and the window around it, the highest 8 bits of each sample. Bytes beyond admissible candidates are 0. */
typedef struct Window {
    uint8_t cur[SIDE * SIDE];
    uint8_t ref[WINDOW_ROWS][WINDOW_COLUMNS];
} Window;

/* Copies the highest 8 bits of samples. */
static void copy_row(const GpumeParams *p, uint8_t *dst, const GpumePlaneData *src, int x, int y, int nb)
{
    const uint8_t *row = src->data + y * src->linesize;

    if (p->depth == 8) {
        memcpy(dst, row + x, nb);
        return;
    }
    for (int i = 0; i < nb; i++)
        dst[i] = AV_RN16(row + 2 * (x + i)) >> (p->depth - 8);
}

static void load(const GpumeParams *p, const GpumeGlobalField *f, Window *window, const GpumeBox *b)
{
    const int first = b->x0 + b->min_dx, nb = b->max_dx - b->min_dx + b->w;

    memset(window, 0, sizeof(*window));
    for (int y = 0; y < b->h; y++)
        copy_row(p, window->cur + SIDE * y, &f->cur, b->x0, b->y0 + y, b->w);
    for (int y = b->min_dy; y < b->max_dy + b->h; y++)
        copy_row(p, window->ref[RANGE + y] + RANGE + b->min_dx, &f->ref, first, b->y0 + y, nb);
}

/* Computes the costs of a row of candidates. With a constant size, the compiler vectorizes the loop. */
static av_always_inline unsigned cost_row(uint16_t *cost, const uint8_t *cur, const uint8_t *ref, ptrdiff_t linesize,
                                          int w, int h)
{
    unsigned least = UINT16_MAX;

    memset(cost, 0, COSTS * sizeof(*cost));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const uint8_t *row = ref + y * linesize + x;
            const uint8_t sample = cur[SIDE * y + x];

            for (int i = 0; i < COSTS; i++)
                cost[i] += (uint8_t)(FFMAX(row[i], sample) - FFMIN(row[i], sample));
        }
    for (int i = 0; i < COSTS; i++)
        least = FFMIN(least, cost[i]);
    return least;
}

static unsigned cost_whole_row(uint16_t *cost, const uint8_t *cur, const uint8_t *ref, ptrdiff_t linesize)
{
    return cost_row(cost, cur, ref, linesize, SIDE, SIDE);
}

/* A vector is stored as one integer, so that other threads never see only one component. 0: not searched yet. */
static int pack(int dx, int dy)
{
    return 1 << 16 | (dy + RANGE) << 8 | (dx + RANGE);
}

static GpumeVector unpack(int packed)
{
    return (GpumeVector) { (packed & 0xff) - RANGE, (packed >> 8 & 0xff) - RANGE };
}

static unsigned costs_of(const GpumeGlobalField *f, uint16_t *cost, const uint8_t *cur, const uint8_t *ref,
                         ptrdiff_t linesize, const GpumeBox *b)
{
    return b->w == SIDE && b->h == SIDE ? f->cost_row(cost, cur, ref, linesize) :
                                          cost_row(cost, cur, ref, linesize, b->w, b->h);
}

static int search(const GpumeParams *p, const GpumeGlobalField *f, int bx, int by)
{
    const GpumeBox b = gpume_box(p, SIDE, bx, by);
    /* whether all that is compared is in the picture, so that it need not be copied */
    const int inside = b.w == SIDE && b.h == SIDE && p->depth == 8 && b.min_dx == -RANGE &&
                       b.x0 - RANGE + WINDOW_COLUMNS <= p->width;
    ptrdiff_t linesize = WINDOW_COLUMNS;
    uint16_t cost[COSTS];
    const uint8_t *refs;        /* the first candidate of vertical component 0 */
    unsigned best;
    int dx = 0, dy = 0;
    Window window;

    if (inside) {
        for (int y = 0; y < SIDE; y++)
            AV_COPY32U(window.cur + SIDE * y, f->cur.data + (b.y0 + y) * f->cur.linesize + b.x0);
        linesize = f->ref.linesize;
        refs     = f->ref.data + b.y0 * linesize + b.x0 - RANGE;
    } else {
        load(p, f, &window, &b);
        refs = window.ref[RANGE];
    }
    costs_of(f, cost, window.cur, refs, linesize, &b);
    best = cost[RANGE];
    for (int y = b.min_dy; y <= b.max_dy && best; y++) {
        if (costs_of(f, cost, window.cur, refs + y * linesize, linesize, &b) >= best)
            continue;
        for (int x = b.min_dx; x <= b.max_dx; x++)
            if (cost[RANGE + x] < best) {
                best = cost[RANGE + x];
                dx   = x;
                dy   = y;
            }
    }
    return pack(dx, dy);
}

/* Returns the vector of a block. Several threads may search it at the same time; they find the same. */
static GpumeVector vector_of(const GpumeParams *p, GpumeGlobalField *f, int bx, int by)
{
    atomic_int *v = &f->vectors[by * p->bw + bx];
    int packed = atomic_load_explicit(v, memory_order_relaxed);

    if (!packed) {
        packed = search(p, f, bx, by);
        atomic_store_explicit(v, packed, memory_order_relaxed);
    }
    return unpack(packed);
}

/* Returns whether a vector in samples of the picture, not of the level, is a poor match for a block of the level. */
static int is_poor(const GpumeParams *p, const GpumeGlobalField *f, int bx, int by, GpumeVector v)
{
    const GpumeBox b = gpume_box(p, SIDE, bx, by);
    const int dx = gpume_global_rounded(v.dx), dy = gpume_global_rounded(v.dy);
    uint8_t cur[SIDE], ref[SIDE];
    unsigned cost = 0;

    if (!gpume_admissible(&b, dx, dy))
        return 1;
    if (p->depth == 8) {
        cost = f->sad[b.w - 1](f->cur.data + b.y0 * f->cur.linesize + b.x0, f->cur.linesize,
                               f->ref.data + (b.y0 + dy) * f->ref.linesize + b.x0 + dx, f->ref.linesize,
                               b.h, UINT32_MAX);
    } else {
        for (int y = b.y0; y < b.y0 + b.h; y++) {
            copy_row(p, cur, &f->cur, b.x0, y, b.w);
            copy_row(p, ref, &f->ref, b.x0 + dx, y + dy, b.w);
            for (int x = 0; x < b.w; x++)
                cost += FFABS(cur[x] - ref[x]);
        }
    }
    return gpume_global_doubtful(cost, b.w, b.h, 8);
}

/*
 * Returns for which of the 2x2 blocks of the level from (bx, by) on a vector is a poor match, as a
 * bit mask. Mostly all of them and their matches are inside.
 */
static unsigned poor_places(const GpumeParams *p, const GpumeGlobalField *f, int bx, int by, GpumeVector v)
{
    const int x0 = SIDE * bx, y0 = SIDE * by, dx = gpume_global_rounded(v.dx), dy = gpume_global_rounded(v.dy);
    const uint8_t *cur, *ref;
    unsigned mask = 0;

    if (p->depth > 8 || FFABS(dx) > p->range || FFABS(dy) > p->range ||
        FFMIN(x0, x0 + dx) < 0 || FFMAX(x0, x0 + dx) + 2 * SIDE > p->width ||
        FFMIN(y0, y0 + dy) < 0 || FFMAX(y0, y0 + dy) + 2 * SIDE > p->height) {
        for (int i = 0; i < GPUME_GLOBAL_PLACES; i++) {
            const int x = bx + (i & 1), y = by + (i >> 1);

            if (x >= 0 && y >= 0 && x < p->bw && y < p->bh)
                mask |= (unsigned)is_poor(p, f, x, y, v) << i;
        }
        return mask;
    }
    cur = f->cur.data + y0 * f->cur.linesize + x0;
    ref = f->ref.data + (y0 + dy) * f->ref.linesize + x0 + dx;
    for (int i = 0; i < GPUME_GLOBAL_PLACES; i++) {
        const uint8_t *c = cur + (i >> 1) * SIDE * f->cur.linesize + (i & 1) * SIDE;
        const uint8_t *r = ref + (i >> 1) * SIDE * f->ref.linesize + (i & 1) * SIDE;
        const unsigned cost = f->sad[SIDE - 1](c, f->cur.linesize, r, f->ref.linesize, SIDE, UINT32_MAX);

        mask |= (unsigned)gpume_global_doubtful(cost, SIDE, SIDE, 8) << i;
    }
    return mask;
}

/* Returns whether the block to which a vector leads, or one of its neighbours, leads back. */
static int is_consistent(const GpumeParams *p, GpumeGlobalField *back, int bx, int by, GpumeVector v)
{
    const GpumeBox b = gpume_box(p, SIDE, bx, by);
    const int x = gpume_partner(b.x0, b.w, v.dx, 1, SIDE, p->bw);
    const int y = gpume_partner(b.y0, b.h, v.dy, 1, SIDE, p->bh);

    /* in most cases this one leads back */
    if (gpume_consistent(v, vector_of(p, back, x, y), 1))
        return 1;
    for (int ny = FFMAX(y - 1, 0); ny <= FFMIN(y + 1, p->bh - 1); ny++)
        for (int nx = FFMAX(x - 1, 0); nx <= FFMIN(x + 1, p->bw - 1); nx++)
            if (gpume_consistent(v, vector_of(p, back, nx, ny), 1))
                return 1;
    return 0;
}

int ff_gpume_global_candidates(const GpumeParams *p, GpumeGlobalField *f, GpumeGlobalField *back,
                               const GpumeBox *box, GpumeVector own, GpumeVector v[GPUME_GLOBAL_PLACES])
{
    const int bx = gpume_global_first(box->x0, box->w), by = gpume_global_first(box->y0, box->h);
    const unsigned poor = poor_places(p, f, bx, by, own);
    int nb = 0;

    for (int i = 0; i < GPUME_GLOBAL_PLACES; i++) {
        const int x = bx + (i & 1), y = by + (i >> 1);
        GpumeVector found;
        int j = 0;

        if (!(poor >> i & 1))
            continue;
        found = vector_of(p, f, x, y);
        v[nb] = (GpumeVector) { found.dx * GPUME_GLOBAL_SCALE, found.dy * GPUME_GLOBAL_SCALE };
        while (v[j].dx != v[nb].dx || v[j].dy != v[nb].dy)
            j++;
        /* no candidate before is equal, so the loop ended at this one */
        if (j == nb && !gpume_global_near(v[nb], own) && is_consistent(p, back, x, y, found))
            nb++;
    }
    return nb;
}

void ff_gpume_global_begin(const GpumeParams *p, GpumeGlobalField *f, GpumePlaneData cur, GpumePlaneData ref)
{
    f->cur = cur;
    f->ref = ref;
    for (int i = 0; i < p->bw * p->bh; i++)
        atomic_store_explicit(&f->vectors[i], 0, memory_order_relaxed);
}

av_cold int ff_gpume_global_alloc(const GpumeParams *p, GpumeGlobalField *f)
{
    GpumeCost sad;

    ff_gpume_sad_init(&sad, 8);
    for (int w = 1; w <= GPUME_GLOBAL_BLOCK; w++)
        f->sad[w - 1] = sad.one[gpume_width_index(w)];
    f->cost_row = cost_whole_row;
#if ARCH_X86_64 && HAVE_X86ASM
    ff_gpume_global_init_x86(f);
#endif
    f->vectors = av_calloc((size_t)p->bw * p->bh, sizeof(*f->vectors));
    return f->vectors ? 0 : AVERROR(ENOMEM);
}

av_cold void ff_gpume_global_free(GpumeGlobalField *f)
{
    av_freep(&f->vectors);
}
