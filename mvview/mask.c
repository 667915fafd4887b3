/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvview/mask.h"

/** Maximum side of a mask; longer arrows are rare, and each of them is large. */
#define MAX_SIDE 512
/** Maximum distance from an arrow's beginning to its tip in each direction, in samples. */
#define MAX_TIP  96

const MvviewColour ff_mvview_colours[MVVIEW_NB_COLOURS] = {
    [MVVIEW_COLOUR_BLACK] = { {   0,   0,   0 },   0 },
    [MVVIEW_COLOUR_WHITE] = { { 255, 255, 255 }, 255 },
    [MVVIEW_COLOUR_AMBER] = { { 255, 208,  64 }, 200 },
    [MVVIEW_COLOUR_RED]   = { { 240,  24,  40 }, 255 },
    [MVVIEW_COLOUR_SIZES] = { { 255,  96,  64 }, 240 }, { { 255, 192,  32 }, 216 },
                              { { 176, 232,  64 }, 192 }, { {  48, 216, 160 }, 168 },
                              { {  64, 168, 255 }, 144 }, { { 152, 120, 255 }, 120 },
};

struct MvviewGroup {
    int size;                   ///< capacity, in samples
    int x, n;                   ///< first sample and number of samples; chroma samples are complete
    int rows;
    int first[MVVIEW_MAX_GROUP], last[MVVIEW_MAX_GROUP];    ///< first and last touched sample of each row
    uint16_t *keep[MVVIEW_MAX_GROUP];       ///< weight of the picture, at most MVVIEW_FULL
    uint32_t *add[3][MVVIEW_MAX_GROUP];     ///< what is added: MVVIEW_FULL times the value
    uint8_t *packed;
};

/** A colour as components. */
typedef struct Levels {
    unsigned comp[3];
} Levels;

static Levels levels_of(const MvviewCanvas *c, const MvviewColour *colour)
{
    Levels levels = { { 0 } };

    ff_mvview_colour(c, colour, levels.comp);
    return levels;
}

av_cold MvviewGroup *ff_mvview_group_alloc(const MvviewCanvas *c)
{
    MvviewGroup *g = av_mallocz(sizeof(*g));
    int ok = !!g;

    if (!g)
        return NULL;
    g->rows = 1 << c->vsub;
    g->size = FFMAX(c->w, MAX_SIDE) + 2 * MVVIEW_MAX_GROUP;
    for (int r = 0; r < g->rows; r++) {
        ok &= !!(g->keep[r] = av_malloc_array(g->size, sizeof(*g->keep[r])));
        for (int i = 0; i < c->nb_comps; i++)
            ok &= !!(g->add[i][r] = av_malloc_array(g->size, sizeof(*g->add[i][r])));
    }
    ok &= !!(g->packed = av_malloc(mvview_weights_size(c, g->size * 4 + MVVIEW_PAD)));
    if (!ok)
        ff_mvview_group_free(&g);
    return g;
}

av_cold void ff_mvview_group_free(MvviewGroup **pg)
{
    MvviewGroup *g = *pg;

    if (!g)
        return;
    for (int r = 0; r < MVVIEW_MAX_GROUP; r++) {
        av_freep(&g->keep[r]);
        for (int i = 0; i < 3; i++)
            av_freep(&g->add[i][r]);
    }
    av_freep(&g->packed);
    av_freep(pg);
}

/* Clears the samples first to last. */
static void clear_group(MvviewGroup *g, const MvviewCanvas *c, int first, int last)
{
    const int mask = (1 << c->hsub) - 1;

    g->x = first & ~mask;
    g->n = ((last | mask) + 1) - g->x;
    for (int r = 0; r < g->rows; r++) {
        g->first[r] = g->x + g->n;
        g->last[r]  = g->x - 1;
        for (int i = 0; i < g->n; i++)
            g->keep[r][i] = MVVIEW_FULL;
        for (int i = 0; i < c->nb_comps; i++)
            memset(g->add[i][r], 0, g->n * sizeof(*g->add[i][r]));
    }
}

/* Draws a colour of this weight over sample x of row r; the group must contain the sample. */
static void put(MvviewGroup *g, const MvviewCanvas *c, int r, int x, const Levels *colour, int weight)
{
    const int i = x - g->x;

    if (!weight)
        return;
    g->first[r]   = FFMIN(g->first[r], x);
    g->last[r]    = FFMAX(g->last[r],  x);
    g->keep[r][i] = mvview_keep(g->keep[r][i], weight);
    for (int j = 0; j < c->nb_comps; j++)
        g->add[j][r][i] = mvview_add(g->add[j][r][i], colour->comp[j], weight);
}

#define GLYPH(a, b, c, d, e, f, g, h, i)                                                            \
    ((a) | (b) << 5 | (c) << 10 | (d) << 15 | (e) << 20 | (f) << 25 | (g ## ull) << 30 | (h ## ull) << 35 | \
     (i ## ull) << 40)

const unsigned long long ff_mvview_font[MVVIEW_NB_GLYPHS] = {
    GLYPH(0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e, 0, 0),
    GLYPH(0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e, 0, 0),
    GLYPH(0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f, 0, 0),
    GLYPH(0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e, 0, 0),
    GLYPH(0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02, 0, 0),
    GLYPH(0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e, 0, 0),
    GLYPH(0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e, 0, 0),
    GLYPH(0x1f, 0x01, 0x02, 0x04, 0x04, 0x04, 0x04, 0, 0),
    GLYPH(0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e, 0, 0),
    GLYPH(0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c, 0, 0),
    [MVVIEW_GLYPH_POINT] = GLYPH(0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c, 0, 0),
    [MVVIEW_GLYPH_P]     = GLYPH(0x00, 0x00, 0x1e, 0x11, 0x11, 0x11, 0x1e, 0x10, 0x10),
    [MVVIEW_GLYPH_X]     = GLYPH(0x00, 0x00, 0x11, 0x0a, 0x04, 0x0a, 0x11, 0, 0),
};

/** A shape, and values derived from it. */
typedef struct Outline {
    const MvviewShape *s;
    MvviewArrow arrow;
    MvviewText text;
    MvviewBounds bounds;        ///< shifted by px and py
    Levels below, above;
} Outline;

static Outline outline_of(const MvviewShape *s, const MvviewCanvas *c)
{
    Outline o = { .s = s };
    int below, above;

    mvview_shape_colours(s->kind, s->a, s->b, s->variant, &below, &above);
    o.below  = levels_of(c, &ff_mvview_colours[below]);
    o.above  = levels_of(c, &ff_mvview_colours[above]);
    o.bounds = mvview_shape_bounds(s->kind, s->a, s->b, s->unit);
    if (s->kind == MVVIEW_ARROW) {
        mvview_arrow_init(&o.arrow, s->a, s->b, s->unit);
        o.bounds = mvview_arrow_bounds(&o.arrow, s->a, s->b);
    } else if (s->kind == MVVIEW_NUMBER) {
        o.text = mvview_number_text(s->a);
    }
    o.bounds.left   += s->px;
    o.bounds.right  += s->px;
    o.bounds.top    += s->py;
    o.bounds.bottom += s->py;
    return o;
}

/* Fills row r of a group with row y of a shape, from sample first to sample last. */
static void fill_row(MvviewGroup *g, const MvviewCanvas *c, const Outline *o,
                     int r, int y, int first, int last)
{
    const MvviewShape *s = o->s;
    MvviewAlong along    = mvview_arrow_along(&o->arrow, first - s->px, y - s->py);
    Levels above = o->above;

    for (int x = first; x <= last; x++) {
        const int dx = x - s->px, dy = y - s->py;
        MvviewLayers l = { 0 };
        MvviewColour colour;
        int away;

        switch (s->kind) {
        case MVVIEW_ARROW:
            l = mvview_arrow_layers(&o->arrow, along, dx, dy);
            mvview_arrow_step(&o->arrow, &along);
            break;
        case MVVIEW_BLOCK:
            l = mvview_block_layers(s->a, s->b, s->variant, dx, dy);
            break;
        case MVVIEW_WHEEL:
            away = mvview_wheel_distance(dx, dy);
            l    = mvview_wheel_layers(s->a, s->unit, away);
            if (l.above) {
                mvview_wheel_colour(colour.rgb, &colour.shade, s->a, dx, dy, away);
                above = levels_of(c, &colour);
            }
            break;
        case MVVIEW_NUMBER:
            l = mvview_text_layers(ff_mvview_font, &o->text, s->b, dx, dy);
            break;
        }
        put(g, c, r, x, &o->below, l.below);
        put(g, c, r, x, &above, l.above);
    }
}

int ff_mvview_shape_is_small(const MvviewShape *s)
{
    return s->kind != MVVIEW_ARROW || FFMAX(FFABS(s->a), FFABS(s->b)) <= MAX_TIP * MVVIEW_TIP;
}

/* Fills a group with the rows of a shape from row y on, from sample left to sample right. */
static void fill_group(MvviewGroup *g, const MvviewCanvas *c, const Outline *o,
                       int y, int left, int right)
{
    const MvviewShape *s = o->s;
    int first = left, last = right;

    if (s->kind == MVVIEW_ARROW) {
        first = INT_MAX;
        last  = INT_MIN;
        for (int r = 0; r < g->rows; r++) {
            int x0, x1;

            mvview_arrow_span(&o->arrow, y + r - s->py, &x0, &x1);
            if (x0 <= x1) {
                first = FFMIN(first, x0 + s->px);
                last  = FFMAX(last,  x1 + s->px);
            }
        }
        first = FFMAX(first, left);
        last  = FFMIN(last, right);
    }
    if (first > last)
        first = last = left;
    clear_group(g, c, first, last);
    for (int r = 0; r < g->rows; r++)
        fill_row(g, c, o, r, y + r, first, last);
}

/*
 * Computes the weights of a row of a plane: those of row r of the group, or means if a sample of
 * the plane covers several samples of the group. Returns the number of words; 0: the row is not
 * touched.
 */
static int pack_row(const MvviewGroup *g, const MvviewCanvas *c, int plane, int r,
                    MvviewRect *row, uint8_t *weights)
{
    const MvviewPlane *p = &c->planes[plane];
    const int r1    = p->vsub ? r + (1 << p->vsub) : r + 1;
    const int shift = p->hsub + p->vsub;
    int first = INT_MAX, last = INT_MIN, words;

    for (int i = r; i < r1; i++) {
        first = FFMIN(first, g->first[i]);
        last  = FFMAX(last,  g->last[i]);
    }
    if (first > last || !p->painted)
        return 0;
    first >>= p->hsub;
    last  >>= p->hsub;
    words = (last - first + 1) * p->step;
    row->plane = plane;
    row->x     = first;
    row->n     = FFALIGN(words, MVVIEW_PAD);
    row->h     = 1;

    for (int x = first; x <= last; x++) {
        const int from = x * (1 << p->hsub) - g->x;
        unsigned keep = 0;

        for (int i = r; i < r1; i++)
            for (int j = 0; j < 1 << p->hsub; j++)
                keep += g->keep[i][from + j];
        keep = mvview_mean_keep(keep, shift);
        for (int k = 0; k < p->step; k++) {
            const int comp = p->comp[k];
            uint64_t add = 0;

            for (int i = r; comp >= 0 && i < r1; i++)
                for (int j = 0; j < 1 << p->hsub; j++)
                    add += g->add[comp][i][from + j];
            mvview_set_weights(c, weights, row->n, (x - first) * p->step + k,
                               comp < 0 ? MVVIEW_FULL : keep,
                               comp < 0 ? 0 : mvview_mean_add(add, keep, shift));
        }
    }
    for (int i = words; i < row->n; i++)
        mvview_set_weights(c, weights, row->n, i, MVVIEW_FULL, 0);
    return row->n;
}

/* Makes room for one more rectangle and its weights. */
static int grow(MvviewMask *mask, size_t size)
{
    if (mask->nb_rects == mask->rects_allocated) {
        const int nb = FFMAX(16, 2 * mask->rects_allocated);
        MvviewRect *rects = av_realloc_array(mask->rects, nb, sizeof(*rects));

        if (!rects)
            return AVERROR(ENOMEM);
        mask->rects           = rects;
        mask->rects_allocated = nb;
    }
    if (mask->size + size > mask->allocated) {
        const size_t wanted = FFMAX(1024, 2 * mask->allocated) + size;
        uint8_t *weights = av_realloc(mask->weights, wanted);

        if (!weights)
            return AVERROR(ENOMEM);
        mask->weights   = weights;
        mask->allocated = wanted;
    }
    return 0;
}

static int add_rect(MvviewMask *mask, const MvviewRect *rect, size_t size)
{
    const int ret = grow(mask, size);

    if (ret < 0)
        return ret;
    mask->rects[mask->nb_rects]      = *rect;
    mask->rects[mask->nb_rects++].at = mask->size;
    mask->size += size;
    return 0;
}

/* Finds the rows from i on that are drawn faster as one rectangle. Returns the last of them. */
static int find_rectangle(const MvviewCanvas *c, const MvviewMask *rows, int i, MvviewRect *rect)
{
    const int step = c->planes[rows->rects[i].plane].step;
    int last = i;

    *rect = rows->rects[i];
    for (int j = i + 1; j < rows->nb_rects; j++) {
        const MvviewRect *row = &rows->rects[j];
        int x, n;

        if (row->plane != rect->plane)
            continue;
        x = FFMIN(rect->x, row->x);
        n = FFALIGN(FFMAX(rect->x * step + rect->n, row->x * step + row->n) - x * step, MVVIEW_PAD);
        if (row->y != rect->y + rect->h || n > rows->rects[i].n + MVVIEW_PAD ||
            n > row->n + MVVIEW_PAD)
            break;
        rect->x = x;
        rect->n = n;
        rect->h++;
        last = j;
    }
    return last;
}

/* Joins rows to rectangles, plane by plane. */
static int join_rows(MvviewMask *mask, const MvviewCanvas *c, const MvviewMask *rows)
{
    for (int plane = 0; plane < c->nb_planes; plane++) {
        const int step = c->planes[plane].step;
        MvviewRect rect;
        int last, ret;

        for (int i = 0; i < rows->nb_rects; i = last + 1) {
            uint8_t *weights;
            size_t row_size;

            last = i;
            if (rows->rects[i].plane != plane)
                continue;
            last     = find_rectangle(c, rows, i, &rect);
            row_size = mvview_weights_size(c, rect.n);
            if ((ret = add_rect(mask, &rect, rect.h * row_size)) < 0)
                return ret;
            weights = mask->weights + mask->rects[mask->nb_rects - 1].at;
            for (int j = i; j <= last; j++) {
                const MvviewRect *row = &rows->rects[j];

                if (row->plane != plane)
                    continue;
                for (int k = 0; k < rect.n; k++)
                    mvview_set_weights(c, weights, rect.n, k, MVVIEW_FULL, 0);
                mvview_copy_weights(c, weights, rect.n, (row->x - rect.x) * step,
                                    rows->weights + row->at, row->n,
                                    FFMIN(row->n, rect.n - (row->x - rect.x) * step));
                weights += row_size;
            }
        }
    }
    return 0;
}

static int pack_shape(MvviewMask *rows, const MvviewCanvas *c, MvviewGroup *g,
                      const MvviewShape *s)
{
    const Outline o = outline_of(s, c);
    int ret;

    rows->top    = o.bounds.top;
    rows->bottom = o.bounds.bottom;
    for (int y = rows->top & -g->rows; y <= rows->bottom; y += g->rows) {
        fill_group(g, c, &o, y, o.bounds.left, o.bounds.right);
        for (int i = 0; i < c->nb_planes; i++) {
            const MvviewPlane *p = &c->planes[i];

            for (int r = 0; r < g->rows; r += 1 << p->vsub) {
                MvviewRect row = { .y = (y + r) >> p->vsub };
                const int n = pack_row(g, c, i, r, &row, g->packed);
                const size_t size = mvview_weights_size(c, n);

                if (!n)
                    continue;
                if ((ret = add_rect(rows, &row, size)) < 0)
                    return ret;
                memcpy(rows->weights + rows->size - size, g->packed, size);
            }
        }
    }
    return 0;
}

int ff_mvview_mask_init(MvviewMask *mask, const MvviewCanvas *c, MvviewGroup *g, const MvviewShape *s)
{
    MvviewMask rows = { 0 };
    int ret = pack_shape(&rows, c, g, s);

    mask->top    = rows.top;
    mask->bottom = rows.bottom;
    if (ret >= 0)
        ret = join_rows(mask, c, &rows);
    ff_mvview_mask_free(&rows);
    return ret;
}

void ff_mvview_mask_free(MvviewMask *mask)
{
    av_freep(&mask->rects);
    av_freep(&mask->weights);
}

/* Blends a rectangle; (x, y) is the sample of the plane at which the shape begins. */
static void draw_rect(const MvviewRect *rect, const uint8_t *weights, const MvviewCanvas *c,
                      const MvviewBand *band, int x, int y)
{
    const MvviewPlane *p     = &c->planes[rect->plane];
    const ptrdiff_t linesize = band->frame->linesize[rect->plane];
    const size_t row_size    = mvview_weights_size(c, rect->n);
    const int words          = mvview_words(p);
    const int begin = FFMAX(y, band->y0 >> p->vsub);
    const int end   = FFMIN3(y + rect->h, AV_CEIL_RSHIFT(band->y1, p->vsub), p->h);
    const int from  = x * p->step;
    uint8_t *dst;

    if (begin >= end)
        return;
    weights += (begin - y) * row_size;
    dst      = band->frame->data[rect->plane] + begin * linesize;
    if (c->blend_rect_8 && from >= 0 && from + rect->n <= words) {
        c->blend_rect_8(dst + from, linesize, weights, rect->n, end - begin);
    } else {
        const int skip = FFMAX(-from, 0);
        const int n    = FFMIN(rect->n, words - from) - skip;
        const size_t add = (size_t)rect->n * 2 + skip * (c->bytes == 1 ? 2 : 4);

        dst += (from + skip) * (ptrdiff_t)c->bytes;
        for (int i = begin; i < end && n > 0; i++) {
            c->blend(c, dst, dst, weights + 2 * skip, weights + add, n);
            weights += row_size;
            dst     += linesize;
        }
    }
}

void ff_mvview_mask_draw(const MvviewMask *mask, const MvviewCanvas *c, const MvviewBand *band, int x, int y)
{
    const int x0 = x & -(1 << c->hsub), y0 = y & -(1 << c->vsub);

    if (y0 + mask->bottom < band->y0 || y0 + mask->top >= band->y1)
        return;
    for (int i = 0; i < mask->nb_rects; i++) {
        const MvviewRect *rect = &mask->rects[i];
        const MvviewPlane *p   = &c->planes[rect->plane];

        draw_rect(rect, mask->weights + rect->at, c, band,
                  (x0 >> p->hsub) + rect->x, (y0 >> p->vsub) + rect->y);
    }
}

void ff_mvview_shape_draw(const MvviewShape *s, const MvviewCanvas *c, MvviewGroup *g,
                          const MvviewBand *band, int x, int y)
{
    const int x0 = x & -(1 << c->hsub), y0 = y & -(1 << c->vsub);
    const Outline o = outline_of(s, c);
    /* includes all samples of the chroma samples that are in the picture */
    const int left   = FFMAX(o.bounds.left,   -x0);
    const int right  = FFMIN(o.bounds.right,  ((c->w - 1) | ((1 << c->hsub) - 1)) - x0);
    const int top    = FFMAX(o.bounds.top,    band->y0 - y0);
    const int bottom = FFMIN(o.bounds.bottom, band->y1 - 1 - y0);

    if (left > right)
        return;
    for (int j = top & -g->rows; j <= bottom; j += g->rows) {
        fill_group(g, c, &o, j, left, right);
        for (int i = 0; i < c->nb_planes; i++) {
            const MvviewPlane *p = &c->planes[i];

            for (int r = 0; r < g->rows; r += 1 << p->vsub) {
                MvviewRect row = { 0 };

                if (pack_row(g, c, i, r, &row, g->packed))
                    draw_rect(&row, g->packed, c, band, (x0 >> p->hsub) + row.x,
                              (y0 + j + r) >> p->vsub);
            }
        }
    }
}
