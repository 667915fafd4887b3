/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Paints frames in system memory. Shapes that are not too large are drawn as masks. Each thread draws a band
 * of the picture.
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/bswap.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvview/painter.h"

/** Number of rows of samples in the smallest band that a thread draws. */
#define BAND_ROWS 16
/** Maximum number of masks, and size of their table, which is at most half full so that look-ups are short. */
#define MAX_MASKS 8192
#define TABLE_SIZE (2 * MAX_MASKS)

typedef struct Entry {
    uint64_t key;               ///< 0: none
    MvviewShape shape;
    MvviewMask mask;
} Entry;

/** Buffers of a thread. */
typedef struct Worker {
    MvviewGroup *group;
    uint8_t *weights;           ///< weights of a row of the flow, large enough for every plane
    uint8_t *background;        ///< a row of the background
    int error;
} Worker;

/** A vector's colour. */
typedef struct VectorColour {
    unsigned comp[3];
} VectorColour;

typedef struct CPUPainter {
    const MvviewConfig *cfg;
    const MvviewPicture *pic;   ///< the picture being drawn

    Entry *table;
    int entries[MAX_MASKS];    ///< indices in the table of the entries in use
    int nb_entries, nb_ready;

    VectorColour *colours;      ///< colours of the field's vectors
    unsigned colours_allocated;

    Worker *workers;
    int nb_workers;
} CPUPainter;

static void forget_masks(CPUPainter *v)
{
    for (int i = 0; i < v->nb_entries; i++) {
        ff_mvview_mask_free(&v->table[v->entries[i]].mask);
        memset(&v->table[v->entries[i]], 0, sizeof(*v->table));
    }
    v->nb_entries = v->nb_ready = 0;
}

static void free_workers(CPUPainter *v)
{
    for (int i = 0; i < v->nb_workers; i++) {
        ff_mvview_group_free(&v->workers[i].group);
        av_freep(&v->workers[i].weights);
        av_freep(&v->workers[i].background);
    }
    v->nb_workers = 0;
}

static av_cold int init(void *priv, const void *config, const GpumeLayout *layout)
{
    const MvviewConfig *cfg = config;
    CPUPainter *v = priv;

    v->cfg     = cfg;
    v->table   = av_calloc(TABLE_SIZE, sizeof(*v->table));
    v->workers = av_calloc(cfg->executor.nb_threads, sizeof(*v->workers));
    return v->table && v->workers ? 0 : AVERROR(ENOMEM);
}

static av_cold void uninit(void *priv)
{
    CPUPainter *v = priv;

    forget_masks(v);
    free_workers(v);
    av_freep(&v->table);
    av_freep(&v->workers);
    av_freep(&v->colours);
}

static int supports(enum AVPixelFormat format)
{
    return 1;
}

/* Returns the size in bytes of the largest row of any plane. */
static size_t row_size(const MvviewCanvas *c)
{
    size_t size = 0;

    for (int i = 0; i < c->nb_planes; i++)
        size = FFMAX(size, mvview_words(&c->planes[i]) * (size_t)c->bytes);
    return size;
}

static int init_workers(CPUPainter *v)
{
    const MvviewCanvas *c = v->pic->canvas;
    const int nb = av_clip((c->h + BAND_ROWS - 1) / BAND_ROWS, 1, v->cfg->executor.nb_threads);

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

/* Returns the index of a shape's mask, and adds a mask if there is none. -1: the shape is drawn without a mask. */
static int find_mask(CPUPainter *v, const MvviewShape *shape)
{
    uint64_t key;
    unsigned i;

    if (!ff_mvview_shape_is_small(shape))
        return -1;
    key = UINT64_C(1) << 63 | (uint64_t)shape->kind << 61 | (uint64_t)shape->variant << 60 |
          (uint64_t)shape->px << 58 | (uint64_t)shape->py << 56 |
          (uint64_t)(shape->unit / MVVIEW_UNIT_STEP) << 48 |
          (shape->a & UINT64_C(0xffffff)) << 24 | (shape->b & UINT64_C(0xffffff));
    for (i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 50; v->table[i].key; i = (i + 1) % TABLE_SIZE)
        if (v->table[i].key == key)
            return i;
    if (v->nb_entries == MAX_MASKS)
        return -1;
    v->table[i].key   = key;
    v->table[i].shape = *shape;
    v->entries[v->nb_entries++] = i;
    return i;
}

static void find_masks(CPUPainter *v)
{
    const MvviewPicture *pic = v->pic;

    /* this frame may not need the masks of earlier frames */
    if (v->nb_entries > MAX_MASKS / 2)
        forget_masks(v);
    for (int i = 0; i < pic->nb_ops; i++)
        pic->ops[i].entry = find_mask(v, &pic->ops[i].shape);
}

/* Makes the new masks and the colours of vectors. */
static void prepare(void *arg, int job, int nb_jobs)
{
    CPUPainter *v = arg;
    Worker *w = &v->workers[job];
    MvviewField *f = v->pic->field;

    w->error = 0;
    for (int i = v->nb_ready + job; i < v->nb_entries && w->error >= 0; i += nb_jobs) {
        Entry *e = &v->table[v->entries[i]];

        w->error = ff_mvview_mask_init(&e->mask, v->pic->canvas, w->group, &e->shape);
    }
    if (v->cfg->mode & MVVIEW_FLOW) {
        const uint32_t full = v->pic->full;
        const int end = f->nb * (job + 1LL) / nb_jobs;

        for (int i = f->nb * (int64_t)job / nb_jobs, begin = i; i < end; i++) {
            const MvviewVector *m = &f->vectors[i];
            uint32_t length;
            MvviewColour colour;

            if (i > begin && m->dx == m[-1].dx && m->dy == m[-1].dy) {
                v->colours[i] = v->colours[i - 1];
                continue;
            }
            length = ff_mvview_length(m);
            mvview_wheel(colour.rgb, m->dx, m->dy, length, full);
            colour.shade = FFMIN(length, full) * UINT64_C(255) / full;
            ff_mvview_colour(v->pic->canvas, &colour, v->colours[i].comp);
        }
    }
}

/* Reads a component of a sample of an interleaved plane. */
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

/* Fills a row of plane i with a background of one colour. */
static void fill_row(const MvviewCanvas *c, int i, const unsigned comp[3], const uint8_t *src, uint8_t *dst)
{
    const MvviewPlane *p = &c->planes[i];

    for (int x = 0; x < p->w; x++)
        for (int k = 0; k < p->step; k++)
            write_word(c, dst, x * p->step + k,
                       p->comp[k] < 0 ? read_word(c, src, x * p->step + k) : comp[p->comp[k]]);
}

/* Converts a row of an RGB picture to gray. */
static void gray_row(const CPUPainter *v, int i, int y, uint8_t *dst)
{
    const MvviewCanvas *c = v->pic->canvas;
    const MvviewPlane *p  = &c->planes[i];
    const uint8_t *src[3];
    int step[3], first[3];

    memcpy(dst, v->pic->in->data[i] + y * (ptrdiff_t)v->pic->in->linesize[i], mvview_words(p) * (size_t)c->bytes);
    for (int j = 0; j < c->nb_planes; j++) {
        for (int k = 0; k < c->planes[j].step; k++) {
            const int comp = c->planes[j].comp[k];

            if (comp < 0)
                continue;
            src[comp]   = v->pic->in->data[j] + y * (ptrdiff_t)v->pic->in->linesize[j];
            step[comp]  = c->planes[j].step;
            first[comp] = k;
        }
    }
    for (int x = 0; x < c->w; x++) {
        unsigned gray = 1 << 15;

        for (int j = 0; j < 3; j++)
            gray += read_word(c, src[j], x * step[j] + first[j]) * c->luma[j];
        for (int k = 0; k < p->step; k++)
            if (p->comp[k] >= 0)
                write_word(c, dst, x * p->step + k, gray >> 16);
    }
}

/* Returns whether planar RGB is converted to gray. This is done for all planes before anything is drawn. */
static int is_planar_gray(const CPUPainter *v)
{
    return v->cfg->background == MVVIEW_GRAY && v->pic->canvas->rgb && v->pic->canvas->nb_planes > 1;
}

static void draw_planar_gray(CPUPainter *v, Worker *w, const MvviewBand *band)
{
    const MvviewCanvas *c = v->pic->canvas;

    for (int y = band->y0; y < band->y1; y++) {
        gray_row(v, 0, y, w->background);
        for (int i = 0; i < c->nb_planes; i++)
            if (c->planes[i].painted)
                memcpy(v->pic->out->data[i] + y * (ptrdiff_t)v->pic->out->linesize[i], w->background,
                       c->w * (size_t)c->bytes);
    }
}

/* Returns a row of the background. */
static const uint8_t *background_row(const CPUPainter *v, Worker *w, int i, int y)
{
    const MvviewCanvas *c = v->pic->canvas;
    const uint8_t *src = v->pic->in->data[i] + y * (ptrdiff_t)v->pic->in->linesize[i];
    unsigned comp[3] = { 0 };

    if (v->cfg->background == MVVIEW_PICTURE || !c->planes[i].painted)
        return src;
    if (v->cfg->background == MVVIEW_BLACK) {
        ff_mvview_colour(c, &ff_mvview_colours[MVVIEW_COLOUR_BLACK], comp);
    } else if (is_planar_gray(v)) {
        return v->pic->out->data[i] + y * (ptrdiff_t)v->pic->out->linesize[i];
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

/* Weights of the words of a cell in a plane; their number is at most MAX_CELL_WORDS. */
#define MAX_CELL_WORDS (4 * MVVIEW_CELL)

typedef struct CellWeights {
    uint16_t mul[MAX_CELL_WORDS], add_8[MAX_CELL_WORDS];
    uint32_t add_16[MAX_CELL_WORDS];
} CellWeights;

static av_always_inline void cell_weights(const CPUPainter *v, const MvviewPlane *p,
                                          uint32_t cell, int n, CellWeights *weights)
{
    for (int i = 0; i < p->step; i++) {
        const int comp     = p->comp[i];
        const int kept     = !cell || comp < 0;
        const unsigned add = kept ? 0 : mvview_flow_add(v->colours[cell - 1].comp[comp], v->cfg->opacity);

        weights->mul[i]    = kept ? MVVIEW_FULL : MVVIEW_FULL - v->cfg->opacity;
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
 * Computes the weights of a plane's row of cells. Returns whether any cell has a vector. Callers
 * pass a constant per_cell, for which the compiler makes faster code.
 */
static av_always_inline int flow_cells(const CPUPainter *v, const MvviewPlane *p,
                                       const uint32_t *cells, uint8_t *weights, int per_cell)
{
    const int bytes = v->pic->canvas->bytes, n = mvview_words(p);
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

static int flow_weights(const CPUPainter *v, const MvviewPlane *p, const uint32_t *cells,
                        uint8_t *weights)
{
    const int per_cell = (MVVIEW_CELL >> p->hsub) * p->step;

    switch (per_cell) {
    case 2:  return flow_cells(v, p, cells, weights, 2);
    case 4:  return flow_cells(v, p, cells, weights, 4);
    default: return flow_cells(v, p, cells, weights, per_cell);
    }
}

/* Draws the background and the flow. */
static void draw_flow(CPUPainter *v, Worker *w, const MvviewBand *band)
{
    const MvviewCanvas *c = v->pic->canvas;

    if (is_planar_gray(v))
        draw_planar_gray(v, w, band);
    for (int i = 0; i < c->nb_planes; i++) {
        const MvviewPlane *p = &c->planes[i];
        const int y1   = FFMIN(AV_CEIL_RSHIFT(band->y1, p->vsub), p->h);
        const int n    = mvview_words(p);
        const int flow = v->cfg->mode & MVVIEW_FLOW && v->cfg->opacity && p->painted;
        const uint32_t *cells = NULL;
        int any = 0;

        for (int y = band->y0 >> p->vsub; y < y1; y++) {
            const uint8_t *src = background_row(v, w, i, y);
            uint8_t *dst = v->pic->out->data[i] + y * (ptrdiff_t)v->pic->out->linesize[i];

            if (flow) {
                const size_t size = v->pic->field->cells.cols * sizeof(*cells);
                const uint32_t *next = v->pic->field->map + (y << p->vsub) / MVVIEW_CELL *
                                       (size_t)v->pic->field->cells.cols;

                /* most rows of cells equal the row above */
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
    CPUPainter *v = arg;
    Worker *w = &v->workers[job];
    const MvviewCanvas *c = v->pic->canvas;
    const int bands = (c->h + BAND_ROWS - 1) / BAND_ROWS;
    const MvviewBand band = {
        .frame = v->pic->out,
        .y0    = bands * job / nb_jobs * BAND_ROWS,
        .y1    = FFMIN(bands * (job + 1) / nb_jobs * BAND_ROWS, c->h),
    };

    draw_flow(v, w, &band);
    for (int i = 0; i < v->pic->nb_ops; i++) {
        const MvviewOp *op = &v->pic->ops[i];

        if (op->entry >= 0)
            ff_mvview_mask_draw(&v->table[op->entry].mask, c, &band, op->x, op->y);
        else
            ff_mvview_shape_draw(&op->shape, c, w->group, &band, op->x, op->y);
    }
}

static int paint(void *priv, const MvviewPicture *pic)
{
    CPUPainter *v = priv;
    int ret;

    v->pic = pic;
    if (pic->new_canvas || !v->nb_workers) {
        forget_masks(v);
        ret = init_workers(v);
        if (ret < 0)
            goto fail;
    }
    find_masks(v);
    if (v->cfg->mode & MVVIEW_FLOW) {
        av_fast_malloc(&v->colours, &v->colours_allocated, pic->field->nb * sizeof(*v->colours));
        ret = v->colours ? ff_mvview_field_map(pic->field) : AVERROR(ENOMEM);
        if (ret < 0)
            goto fail;
    }

    gpume_execute(&v->cfg->executor, prepare, v, v->nb_workers);
    for (int i = 0; i < v->nb_workers; i++) {
        ret = v->workers[i].error;
        if (ret < 0)
            goto fail;
    }
    v->nb_ready = v->nb_entries;
    gpume_execute(&v->cfg->executor, draw, v, v->nb_workers);
    return 0;

fail:
    /* some of the masks may be incomplete */
    forget_masks(v);
    free_workers(v);
    return ret;
}

const MvviewPainter ff_mvview_painter_cpu = {
    .common = {
        .hw_format = AV_PIX_FMT_NONE, .priv_size = sizeof(CPUPainter), .supports = supports,
        .init = init, .uninit = uninit,
    },
    .paint     = paint,
};
