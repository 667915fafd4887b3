/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdatomic.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/bswap.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/view/arrow.h"
#include "libavfilter/gpume/view/canvas.h"
#include "libavfilter/gpume/view/field.h"
#include "libavfilter/gpume/view/stamp.h"
#include "libavfilter/gpume/view/view.h"
#include "libavfilter/gpume/view/wheel.h"

/** Rows of samples in the smallest part of a picture that a thread draws. */
#define BAND_ROWS 16
/** Stamps that are kept, and their table: at most half full, so that a search ends soon. */
#define MAX_STAMPS 8192
#define TABLE_SIZE (2 * MAX_STAMPS)
/** Arrows side by side that can be read. */
#define READABLE_ARROWS 56
/** A picture with shorter sides has no room for a legend. */
#define MIN_LEGEND_SIDE 64

typedef struct Entry {
    uint64_t key;               ///< 0: none
    MvviewShape shape;
    MvviewStamp stamp;
} Entry;

/** A shape at a place. */
typedef struct Op {
    int x, y;
    int entry;                  ///< of the table; -1: it is no stamp
    MvviewShape shape;          ///< in that case
} Op;

/** What each thread needs for itself. */
typedef struct Worker {
    MvviewGroup *group;
    uint8_t *weights;           ///< of a row of the flow, each plane's
    uint8_t *background;        ///< of a row
    int error;
} Worker;

struct MvviewView {
    MvviewConfig cfg;
    MvviewCanvas canvas;
    MvviewField field;

    Entry *table;
    int entries[MAX_STAMPS];    ///< indices of those in use
    int nb_entries, nb_ready;

    Op *ops;
    int nb_ops;
    unsigned ops_allocated;
    int arrow_unit;

    Worker *workers;
    int nb_workers;

    /* of the frame being drawn */
    AVFrame *out;
    const AVFrame *in;
};

av_cold MvviewView *ff_mvview_open(const MvviewConfig *cfg)
{
    MvviewView *v = av_mallocz(sizeof(*v));

    if (!v)
        return NULL;
    v->cfg     = *cfg;
    v->table   = av_calloc(TABLE_SIZE, sizeof(*v->table));
    v->workers = av_calloc(cfg->nb_threads, sizeof(*v->workers));
    if (!v->table || !v->workers)
        ff_mvview_close(&v);
    return v;
}

static void forget_stamps(MvviewView *v)
{
    for (int i = 0; i < v->nb_entries; i++) {
        ff_mvview_stamp_free(&v->table[v->entries[i]].stamp);
        memset(&v->table[v->entries[i]], 0, sizeof(*v->table));
    }
    v->nb_entries = v->nb_ready = 0;
}

static void free_workers(MvviewView *v)
{
    for (int i = 0; i < v->nb_workers; i++) {
        ff_mvview_group_free(&v->workers[i].group);
        av_freep(&v->workers[i].weights);
        av_freep(&v->workers[i].background);
    }
    v->nb_workers = 0;
}

av_cold void ff_mvview_close(MvviewView **view)
{
    MvviewView *v = *view;

    if (!v)
        return;
    forget_stamps(v);
    free_workers(v);
    ff_mvview_field_free(&v->field);
    av_freep(&v->table);
    av_freep(&v->workers);
    av_freep(&v->ops);
    av_freep(view);
}

int ff_mvview_read(MvviewView *v, const AVFrame *frame)
{
    return ff_mvview_field_read(&v->field, frame, v->cfg.sources);
}

/* Bytes of the greatest row of any plane, and of its weights. */
static size_t row_size(const MvviewCanvas *c)
{
    size_t size = 0;

    for (int i = 0; i < c->nb_planes; i++)
        size = FFMAX(size, mvview_words(&c->planes[i]) * (size_t)c->bytes);
    return size;
}

static int init_workers(MvviewView *v)
{
    const MvviewCanvas *c = &v->canvas;
    const int nb = av_clip((c->h + BAND_ROWS - 1) / BAND_ROWS, 1, v->cfg.nb_threads);

    free_workers(v);
    for (int i = 0; i < nb; i++) {
        Worker *w = &v->workers[i];

        v->nb_workers++;
        w->group      = ff_mvview_group_alloc(c);
        w->weights    = av_malloc(mvview_weights_size(c, FFALIGN(row_size(c), MVVIEW_PAD)));
        w->background = av_malloc(row_size(c));
        if (!w->group || !w->weights || !w->background)
            return AVERROR(ENOMEM);
    }
    return 0;
}

/** Units are multiples of this, and few. */
#define UNIT_STEP 32

/* What is one sample wide in a small picture. */
static int unit_of(const MvviewCanvas *c)
{
    return av_clip64(FFMAX(c->w, c->h) * INT64_C(256) / 1600, MVVIEW_SAMPLE, 8 * MVVIEW_SAMPLE) &
           -UNIT_STEP;
}

/* Add a shape that begins at a sample. */
static int add_op(MvviewView *v, MvviewShape shape, int x, int y)
{
    const MvviewCanvas *c = &v->canvas;
    const size_t needed = (v->nb_ops + 1) * sizeof(*v->ops);
    Op *op;
    uint64_t key;
    unsigned i;

    if (needed > v->ops_allocated) {
        op = av_fast_realloc(v->ops, &v->ops_allocated, needed);
        if (!op)
            return AVERROR(ENOMEM);
        v->ops = op;
    }
    shape.px   = x & ((1 << c->hsub) - 1);
    shape.py   = y & ((1 << c->vsub) - 1);
    op = &v->ops[v->nb_ops++];
    *op = (Op) { .x = x, .y = y, .entry = -1, .shape = shape };
    if (!ff_mvview_shape_is_small(&shape))
        return 0;

    key = UINT64_C(1) << 63 | (uint64_t)shape.kind << 61 | (uint64_t)shape.variant << 60 |
          (uint64_t)shape.px << 58 | (uint64_t)shape.py << 56 |
          (uint64_t)(shape.unit / UNIT_STEP) << 48 |
          (shape.a & UINT64_C(0xffffff)) << 24 | (shape.b & UINT64_C(0xffffff));
    for (i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 50; v->table[i].key; i = (i + 1) % TABLE_SIZE) {
        if (v->table[i].key == key) {
            op->entry = i;
            return 0;
        }
    }
    if (v->nb_entries == MAX_STAMPS)
        return 0;
    v->table[i].key   = key;
    v->table[i].shape = shape;
    v->entries[v->nb_entries++] = i;
    op->entry = i;
    return 0;
}

static int add_arrow(void *opaque, const MvviewVector *vector)
{
    MvviewView *v = opaque;
    /* dx / MVVIEW_UNITS * scale / 256 * MVVIEW_TIP */
    const int64_t d = MVVIEW_UNITS * 256 / MVVIEW_TIP;
    const int64_t qx = mvview_divide(vector->dx * (int64_t)v->cfg.scale, d);
    const int64_t qy = mvview_divide(vector->dy * (int64_t)v->cfg.scale, d);

    return add_op(v, (MvviewShape) {
                      .kind    = MVVIEW_ARROW,
                      .a       = av_clip64(qx, -MVVIEW_FARTHEST, MVVIEW_FARTHEST),
                      .b       = av_clip64(qy, -MVVIEW_FARTHEST, MVVIEW_FARTHEST),
                      .variant = vector->future,
                      .unit    = v->arrow_unit,
                  }, vector->x, vector->y);
}

/* Side of the squares that have one arrow each; 0: every vector has one. */
static int arrow_side(const MvviewView *v)
{
    const int64_t readable = FFMAX(8, FFMAX(v->canvas.w, v->canvas.h) / READABLE_ARROWS);
    const int64_t side = v->field.side;

    if (v->cfg.step == 1)
        return 0;
    return FFMIN(v->cfg.step ? v->cfg.step * side : (readable + side - 1) / side * side, INT_MAX / 4);
}

static uint32_t full_length(const MvviewView *v)
{
    return FFMAX(v->cfg.max ? v->cfg.max : v->field.longest, 1);
}

static int add_legend(MvviewView *v)
{
    const MvviewCanvas *c = &v->canvas;
    const int side   = FFMIN(c->w, c->h);
    const int radius = av_clip(side / 10, 12, 160);
    const int dot    = FFMAX((radius + 6) / 20, 1);
    const int margin = radius / 4;
    const int tenths = (full_length(v) * UINT64_C(10) + MVVIEW_UNITS / 2) / MVVIEW_UNITS;
    int half, height, x, y, ret;

    if (side < MIN_LEGEND_SIDE)
        return 0;
    ff_mvview_number_size(tenths, dot, &half, &height);
    x = c->w - margin - FFMAX(radius, half);
    y = c->h - margin - height;
    ret = add_op(v, (MvviewShape) { .kind = MVVIEW_WHEEL, .a = radius, .unit = unit_of(c) },
                 x, y - radius - 3 * dot);
    if (ret < 0)
        return ret;
    return add_op(v, (MvviewShape) { .kind = MVVIEW_NUMBER, .a = tenths, .b = dot }, x, y);
}

static int add_ops(MvviewView *v)
{
    int ret;

    /* those of earlier frames may not be those of this one */
    if (v->nb_entries > MAX_STAMPS / 2)
        forget_stamps(v);
    v->nb_ops = 0;
    if (v->cfg.mode & MVVIEW_BLOCKS) {
        for (int i = 0; i < v->field.nb; i++) {
            const MvviewVector *b = &v->field.vectors[i];

            ret = add_op(v, (MvviewShape) { .kind = MVVIEW_BLOCK, .a = b->w, .b = b->h,
                                            .variant = b->unsound }, b->left, b->top);
            if (ret < 0)
                return ret;
        }
    }
    if (v->cfg.mode & MVVIEW_ARROWS) {
        const int side = arrow_side(v);

        /* arrows next to each other have finer lines */
        v->arrow_unit = FFMIN(unit_of(&v->canvas),
                              FFMAX(side ? side : v->field.side, 4) * MVVIEW_SAMPLE / 8) & -UNIT_STEP;
        ret = ff_mvview_field_choose(&v->field, side, add_arrow, v);
        if (ret < 0)
            return ret;
    }
    if (v->cfg.legend && v->cfg.mode & MVVIEW_FLOW)
        return add_legend(v);
    return 0;
}

/* Stamps that are new, and the colours of vectors. */
static void prepare(void *arg, int job, int nb_jobs)
{
    MvviewView *v = arg;
    Worker *w = &v->workers[job];
    MvviewField *f = &v->field;

    w->error = 0;
    for (int i = v->nb_ready + job; i < v->nb_entries && w->error >= 0; i += nb_jobs) {
        Entry *e = &v->table[v->entries[i]];

        w->error = ff_mvview_stamp_init(&e->stamp, &v->canvas, w->group, &e->shape);
    }
    if (v->cfg.mode & MVVIEW_FLOW) {
        const uint32_t full = full_length(v);
        const int end = f->nb * (job + 1LL) / nb_jobs;

        for (int i = f->nb * (int64_t)job / nb_jobs, begin = i; i < end; i++) {
            MvviewVector *m = &f->vectors[i];
            uint32_t length;
            MvviewColour colour;

            if (i > begin && m->dx == m[-1].dx && m->dy == m[-1].dy) {
                memcpy(m->comp, m[-1].comp, sizeof(m->comp));
                continue;
            }
            length = ff_mvview_length(m);
            mvview_wheel(colour.rgb, m->dx, m->dy, length, full);
            colour.shade = FFMIN(length, full) * UINT64_C(255) / full;
            ff_mvview_colour(&v->canvas, &colour, m->comp);
        }
    }
}

/* Of a sample of an interleaved plane that is painted. */
static unsigned read_word(const MvviewCanvas *c, const uint8_t *row, int i)
{
    const uint16_t *words = (const uint16_t *)row;

    return c->bytes == 1 ? row[i] : (c->swapped ? av_bswap16(words[i]) : words[i]) >> c->shift;
}

static void write_word(const MvviewCanvas *c, uint8_t *row, int i, unsigned v)
{
    uint16_t *words = (uint16_t *)row;

    if (c->bytes == 1)
        row[i] = v;
    else
        words[i] = c->swapped ? av_bswap16(v << c->shift) : v << c->shift;
}

/* The components of a background of one colour, in plane i. */
static void fill_row(const MvviewCanvas *c, int i, const unsigned comp[3], const uint8_t *src, uint8_t *dst)
{
    const MvviewPlane *p = &c->planes[i];

    for (int x = 0; x < p->w; x++)
        for (int k = 0; k < p->step; k++)
            write_word(c, dst, x * p->step + k,
                       p->comp[k] < 0 ? read_word(c, src, x * p->step + k) : comp[p->comp[k]]);
}

/* A row of a picture of red, green and blue in gray. */
static void gray_row(const MvviewView *v, int i, int y, uint8_t *dst)
{
    const MvviewCanvas *c = &v->canvas;
    const uint8_t *src[3];
    int step[3];

    memcpy(dst, v->in->data[i] + y * (ptrdiff_t)v->in->linesize[i], mvview_words(&c->planes[i]));
    for (int j = 0; j < c->nb_planes; j++) {
        for (int k = 0; k < c->planes[j].step; k++) {
            if (c->planes[j].comp[k] < 0)
                continue;
            src[c->planes[j].comp[k]]  = v->in->data[j] + y * (ptrdiff_t)v->in->linesize[j] + k;
            step[c->planes[j].comp[k]] = c->planes[j].step;
        }
    }
    for (int x = 0; x < c->w; x++) {
        const int gray = (src[0][x * step[0]] * c->luma[0] + src[1][x * step[1]] * c->luma[1] +
                          src[2][x * step[2]] * c->luma[2] + (1 << 15)) >> 16;

        for (int k = 0; k < c->planes[i].step; k++)
            if (c->planes[i].comp[k] >= 0)
                dst[x * c->planes[i].step + k] = gray;
    }
}

/* Whether planes of red, green and blue become gray: all of them before one is drawn into. */
static int is_planar_gray(const MvviewView *v)
{
    return v->cfg.background == MVVIEW_GRAY && v->canvas.rgb && v->canvas.nb_planes > 1;
}

static void draw_planar_gray(MvviewView *v, Worker *w, const MvviewBand *band)
{
    const MvviewCanvas *c = &v->canvas;

    for (int y = band->y0; y < band->y1; y++) {
        gray_row(v, 0, y, w->background);
        for (int i = 0; i < c->nb_planes; i++)
            if (c->planes[i].painted)
                memcpy(v->out->data[i] + y * (ptrdiff_t)v->out->linesize[i], w->background, c->w);
    }
}

/* A row of what is drawn over. */
static const uint8_t *background_row(const MvviewView *v, Worker *w, int i, int y)
{
    static const MvviewColour black = { { 0 } };
    const MvviewCanvas *c = &v->canvas;
    const uint8_t *src = v->in->data[i] + y * (ptrdiff_t)v->in->linesize[i];
    unsigned comp[3] = { 0 };

    if (v->cfg.background == MVVIEW_PICTURE || !c->planes[i].painted)
        return src;
    if (v->cfg.background == MVVIEW_BLACK) {
        ff_mvview_colour(c, &black, comp);
    } else if (is_planar_gray(v)) {
        return v->out->data[i] + y * (ptrdiff_t)v->out->linesize[i];
    } else if (c->rgb) {
        gray_row(v, i, y, w->background);
        return w->background;
    } else if (c->nb_comps == 1 || i == 0) {
        return src;
    } else {
        comp[1] = comp[2] = 1 << (c->depth - 1);
    }
    fill_row(c, i, comp, src, w->background);
    return w->background;
}

/* The weights of a cell of a plane, of up to this many words. */
#define MAX_CELL_WORDS (4 * MVVIEW_CELL)

typedef struct CellWeights {
    uint16_t mul[MAX_CELL_WORDS], add_8[MAX_CELL_WORDS];
    uint32_t add_16[MAX_CELL_WORDS];
} CellWeights;

static av_always_inline void cell_weights(const MvviewView *v, const MvviewPlane *p,
                                          uint32_t cell, int n, CellWeights *weights)
{
    for (int i = 0; i < p->step; i++) {
        const int comp     = p->comp[i];
        const int kept     = !cell || comp < 0;
        const unsigned add = kept ? 0 : v->field.vectors[cell - 1].comp[comp] * v->cfg.opacity + 128;

        weights->mul[i]    = kept ? MVVIEW_FULL : MVVIEW_FULL - v->cfg.opacity;
        weights->add_8[i]  = add;
        weights->add_16[i] = add;
    }
    for (int i = p->step; i < n; i++) {
        weights->mul[i]    = weights->mul[i - p->step];
        weights->add_8[i]  = weights->add_8[i - p->step];
        weights->add_16[i] = weights->add_16[i - p->step];
    }
}

/*
 * The weights of a plane's row of cells; returns whether there is any. A constant number of
 * words to a cell makes it fast.
 */
static av_always_inline int flow_cells(const MvviewView *v, const MvviewPlane *p,
                                       const uint32_t *cells, uint8_t *weights, int per_cell)
{
    const int bytes = v->canvas.bytes, n = mvview_words(p);
    uint8_t *mul = weights, *add = weights + 2 * FFALIGN(n, MVVIEW_PAD);
    const int add_size = bytes == 1 ? 2 : 4;
    CellWeights w;
    int any = 0;

    for (int x = 0, i = 0; i < n; x++, i += per_cell) {
        const int count = FFMIN(per_cell, n - i);

        if (!x || cells[x] != cells[x - 1]) {
            cell_weights(v, p, cells[x], per_cell, &w);
            any |= !!cells[x];
        }
        if (count < per_cell) {
            memcpy(mul + 2 * i, w.mul, 2 * count);
            memcpy(add + add_size * i, bytes == 1 ? (void *)w.add_8 : w.add_16, add_size * count);
        } else {
            memcpy(mul + 2 * i, w.mul, 2 * per_cell);
            if (bytes == 1)
                memcpy(add + 2 * i, w.add_8, 2 * per_cell);
            else
                memcpy(add + 4 * i, w.add_16, 4 * per_cell);
        }
    }
    return any;
}

static int flow_weights(const MvviewView *v, const MvviewPlane *p, const uint32_t *cells,
                        uint8_t *weights)
{
    const int per_cell = (MVVIEW_CELL >> p->hsub) * p->step;

    switch (per_cell) {
    case 2:  return flow_cells(v, p, cells, weights, 2);
    case 4:  return flow_cells(v, p, cells, weights, 4);
    default: return flow_cells(v, p, cells, weights, per_cell);
    }
}

/* The background and the flow. */
static void draw_flow(MvviewView *v, Worker *w, const MvviewBand *band)
{
    const MvviewCanvas *c = &v->canvas;

    if (is_planar_gray(v))
        draw_planar_gray(v, w, band);
    for (int i = 0; i < c->nb_planes; i++) {
        const MvviewPlane *p = &c->planes[i];
        const int y1   = FFMIN(AV_CEIL_RSHIFT(band->y1, p->vsub), p->h);
        const int n    = mvview_words(p);
        const int flow = v->cfg.mode & MVVIEW_FLOW && v->cfg.opacity && p->painted;
        const uint32_t *cells = NULL;
        int any = 0;

        for (int y = band->y0 >> p->vsub; y < y1; y++) {
            const uint8_t *src = background_row(v, w, i, y);
            uint8_t *dst = v->out->data[i] + y * (ptrdiff_t)v->out->linesize[i];

            if (flow) {
                const size_t size = v->field.cells_w * sizeof(*cells);
                const uint32_t *next = v->field.cells + (y << p->vsub) / MVVIEW_CELL *
                                       (size_t)v->field.cells_w;

                /* most rows of cells are like those above */
                if (!cells || cells != next && memcmp(cells, next, size))
                    any = flow_weights(v, p, next, w->weights);
                cells = next;
            }
            if (any)
                c->blend(c, dst, src, w->weights, w->weights + 2 * FFALIGN(n, MVVIEW_PAD), n);
            else if (dst != src)
                memcpy(dst, src, n * (size_t)c->bytes);
        }
    }
}

static void draw(void *arg, int job, int nb_jobs)
{
    MvviewView *v = arg;
    Worker *w = &v->workers[job];
    const MvviewCanvas *c = &v->canvas;
    const int bands = (c->h + BAND_ROWS - 1) / BAND_ROWS;
    const MvviewBand band = {
        .frame = v->out,
        .y0    = bands * job / nb_jobs * BAND_ROWS,
        .y1    = FFMIN(bands * (job + 1) / nb_jobs * BAND_ROWS, c->h),
    };

    draw_flow(v, w, &band);
    for (int i = 0; i < v->nb_ops; i++) {
        const Op *op = &v->ops[i];

        if (op->entry >= 0)
            ff_mvview_stamp_draw(&v->table[op->entry].stamp, c, &band, op->x, op->y);
        else
            ff_mvview_shape_draw(&op->shape, c, w->group, &band, op->x, op->y);
    }
}

int ff_mvview_draw(MvviewView *v, AVFrame *out, const AVFrame *in)
{
    int ret;

    if (ff_mvview_canvas_init(&v->canvas, in) || !v->nb_workers) {
        forget_stamps(v);
        ret = init_workers(v);
        if (ret < 0)
            goto fail;
    }
    ret = add_ops(v);
    if (ret < 0)
        goto fail;
    if (v->cfg.mode & MVVIEW_FLOW) {
        ret = ff_mvview_field_map(&v->field);
        if (ret < 0)
            goto fail;
    }

    v->out = out;
    v->in  = in;
    v->cfg.execute(v->cfg.opaque, prepare, v, v->nb_workers);
    for (int i = 0; i < v->nb_workers; i++) {
        ret = v->workers[i].error;
        if (ret < 0)
            goto fail;
    }
    v->nb_ready = v->nb_entries;
    v->cfg.execute(v->cfg.opaque, draw, v, v->nb_workers);
    return 0;

fail:
    /* some of the stamps may not be whole */
    forget_stamps(v);
    free_workers(v);
    memset(&v->canvas, 0, sizeof(v->canvas));
    return ret;
}
