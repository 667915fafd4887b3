/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Copies, measures and warps pictures in system memory.
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/mvstab/backend.h"
#include "libavfilter/gpume/mvstab/dsp.h"
#include "libavfilter/gpume/picture/padded.h"
#include "libavfilter/gpume/util/tasks.h"

/** What a thread needs for a row. */
typedef struct Row {
    MvstabSource *sources;
    uint8_t *outside;           ///< for each sample, whether the input frame does not have it
    uint8_t *samples;
} Row;

typedef struct CPUBackend {
    const MvstabConfig *cfg;
    const GpumeLayout *layout;
    GpumeScheduler scheduler;
    GpumeTaskChain chain;
    MvstabDSP dsp;
    AVBufferPool *pictures, *tensors;
    MvstabPoint *meshes;        ///< that of each component, mesh_size points apart
    size_t mesh_size;
    uint8_t *rows;              ///< the memory of the rows of all threads, row_size bytes apart
    size_t row_size, row_width;

    /* the current work */
    GpumePadded picture;        ///< is loaded, or warped
    const AVFrame *frame;       ///< is loaded
    GpumeSamples luma;          ///< is measured; is made, if there is no output frame
    MvstabTensor *tensors_of_luma;
    AVFrame *out;
    const MvstabWarp *warp;
    int nb;                     ///< number of components that are warped
} CPUBackend;

static av_cold int init(void *priv, const void *config, const GpumeLayout *layout)
{
    CPUBackend *s = priv;

    s->cfg = config;
    s->scheduler.executor = s->cfg->executor;
    return 0;
}

static void forget(CPUBackend *s)
{
    av_freep(&s->rows);
    av_freep(&s->meshes);
    av_buffer_pool_uninit(&s->pictures);
    av_buffer_pool_uninit(&s->tensors);
}

static av_cold void uninit(void *priv)
{
    forget(priv);
}

static int set_layout(void *priv, const GpumeLayout *l)
{
    CPUBackend *s = priv;
    GpumePadded place;
    const size_t nb_blocks = gpume_blocks(l->w, MVSTAB_BLOCK) * (size_t)gpume_blocks(l->h, MVSTAB_BLOCK);

    forget(s);
    s->layout = l;
    ff_mvstab_dsp_init(&s->dsp, l->depth);
    s->pictures = av_buffer_pool_init(ff_gpume_padded_place(&place, l, NULL), NULL);
    s->tensors  = av_buffer_pool_init(nb_blocks * sizeof(MvstabTensor), NULL);
    s->row_width = mvstab_points(l->w) * MVSTAB_CELL;
    s->row_size  = s->row_width * (sizeof(MvstabSource) + 3);
    s->mesh_size = mvstab_points(l->w) * (size_t)mvstab_points(l->h);
    s->rows      = av_calloc(s->cfg->executor.nb_threads, s->row_size);
    s->meshes    = av_calloc(l->nb_components, s->mesh_size * sizeof(*s->meshes));
    return s->pictures && s->tensors && s->rows && s->meshes ? 0 : AVERROR(ENOMEM);
}

/* Places the components of a picture in its memory. */
static GpumePadded padded_of(const CPUBackend *s, const AVFrame *picture)
{
    GpumePadded p = { 0 };

    ff_gpume_padded_place(&p, s->layout, picture->buf[0]->data);
    return p;
}

static int alloc(const CPUBackend *s, MvstabPicture *picture)
{
    picture->frame   = ff_gpume_padded_frame(s->pictures, s->layout);
    picture->tensors = av_buffer_pool_get(s->tensors);
    return picture->frame && picture->tensors ? 0 : AVERROR(ENOMEM);
}

static av_always_inline int sample_of(const uint8_t *row, int x, int bytes, int shift)
{
    return bytes == 1 ? row[x] : (uint8_t)(((const uint16_t *)row)[x] >> shift);
}

/* Sums the products of the derivatives of a block. */
static av_always_inline MvstabTensor measure_block(const uint8_t *row, ptrdiff_t stride, int w, int h, int bytes,
                                                   int shift)
{
    MvstabTensor t = { 0 };

    for (int y = 0; y < h; y++, row += stride)
        for (int x = 0; x < w; x++) {
            const int dx = sample_of(row, x + 1, bytes, shift) - sample_of(row, x - 1, bytes, shift);
            const int dy = sample_of(row + stride, x, bytes, shift) - sample_of(row - stride, x, bytes, shift);

            t.xx += dx * dx;
            t.xy += dx * dy;
            t.yy += dy * dy;
        }
    return t;
}

/* Units are rows of luma, with their part of other rows. */
static void load_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    for (; start < end; start++)
        ff_gpume_padded_load(&s->picture, s->layout, s->frame, start, s->layout->h);
}

static void measure_rows(void *arg, int worker, int start, int end)
{
    const CPUBackend *s = arg;
    const GpumeSamples *c = &s->luma;
    const int cols = gpume_blocks(c->w, MVSTAB_BLOCK);

    for (int i = cols * start; i < cols * end; i++) {
        const int x = i % cols * MVSTAB_BLOCK, y = i / cols * MVSTAB_BLOCK;
        const int w = FFMIN(MVSTAB_BLOCK, c->w - x), h = FFMIN(MVSTAB_BLOCK, c->h - y);
        const uint8_t *first = c->first + y * c->stride + x * s->layout->bytes;

        s->tensors_of_luma[i] = s->layout->bytes == 1 ? measure_block(first, c->stride, w, h, 1, 0) :
                                                        measure_block(first, c->stride, w, h, 2, s->layout->depth - 8);
    }
}

/* Measures a picture after the tasks in the chain that make its samples, and runs the chain. */
static int measure(CPUBackend *s, const MvstabPicture *picture)
{
    s->luma            = padded_of(s, picture->frame).components[0];
    s->tensors_of_luma = (MvstabTensor *)picture->tensors->data;
    ff_gpume_chain_add(&s->chain, measure_rows, s, gpume_blocks(s->luma.h, MVSTAB_BLOCK));
    ff_gpume_chain_run(&s->chain, &s->scheduler);
    return 0;
}

static int load(void *priv, MvstabPicture *picture, const AVFrame *frame)
{
    CPUBackend *s = priv;
    const int ret = alloc(s, picture);

    if (ret < 0)
        return ret;
    s->picture = padded_of(s, picture->frame);
    s->frame   = frame;
    ff_gpume_chain_add(&s->chain, load_rows, s, s->layout->h);
    return measure(s, picture);
}

/* Returns whether all positions from a to b, in 1/256 sample, are between the first and the last of length samples. */
static int are_inside(int a, int b, int length)
{
    return FFMIN(a, b) >= 0 && FFMAX(a, b) < 256 * (length - 1);
}

/*
 * Finds where the samples of a cell of a row are read, from a at its first sample to b after its last.
 * @return whether some are outside of the input frame
 */
static int locate_cell(const CPUBackend *s, const Row *row, const GpumeSamples *c, int x, MvstabPoint a, MvstabPoint b)
{
    const int bytes = s->layout->bytes, is_mirrored = s->warp->border == MVSTAB_MIRROR;
    const uint8_t *first = c->first - MVSTAB_TAPS_BEFORE * c->stride - MVSTAB_TAPS_BEFORE * bytes;
    const int is_inside = are_inside(a.x, b.x, c->w) && are_inside(a.y, b.y, c->h);
    int any = 0;

    for (int k = 0; k < MVSTAB_CELL; k++) {
        int u = (mvstab_between(a.x, b.x, k) + 2) >> 2, v = (mvstab_between(a.y, b.y, k) + 2) >> 2;
        const int is_outside = !is_inside && (mvstab_is_outside(u, c->w) || mvstab_is_outside(v, c->h));

        if (is_mirrored && is_outside) {
            u = mvstab_mirrored(u, c->w);
            v = mvstab_mirrored(v, c->h);
        }
        row->outside[x + k] = is_outside;
        any |= is_outside;
        row->sources[x + k] = (MvstabSource) {
            first + (is_inside ? v >> 6 : gpume_inside(v >> 6, c->h)) * c->stride +
            (is_inside ? u >> 6 : gpume_inside(u >> 6, c->w)) * bytes, u & 63, v & 63,
        };
    }
    return any;
}

/* Finds where the samples of row y of component i are read. Returns whether some are to be filled. */
static int locate_row(const CPUBackend *s, const Row *row, int i, int y)
{
    const GpumeSamples *c = &s->picture.components[i];
    const int cols = mvstab_points(c->w), cell = y >> MVSTAB_LOG2_CELL, dy = y & (MVSTAB_CELL - 1);
    const MvstabPoint *above = s->meshes + i * s->mesh_size + cell * cols, *below = above + cols;
    int any = 0;

    for (int n = 0; n + 1 < cols; n++) {
        const MvstabPoint a = {
            mvstab_between(above[n].x, below[n].x, dy), mvstab_between(above[n].y, below[n].y, dy),
        };
        const MvstabPoint b = {
            mvstab_between(above[n + 1].x, below[n + 1].x, dy), mvstab_between(above[n + 1].y, below[n + 1].y, dy),
        };

        any |= locate_cell(s, row, c, n << MVSTAB_LOG2_CELL, a, b);
    }
    return any && (s->warp->border == MVSTAB_BLACK || s->warp->border == MVSTAB_KEEP && s->warp->before);
}

/* Replaces the samples of a row that are outside of the input frame. */
static void fill_outside(const CPUBackend *s, const Row *row, int i, int y)
{
    const GpumeLayout *l = s->layout;
    const GpumeComponent *c = &l->components[i];
    const uint8_t *before = s->warp->border == MVSTAB_KEEP ? gpume_layout_row(l, c, s->warp->before, y) : NULL;

    for (int x = 0; x < c->w; x++) {
        const int black = s->warp->black[i];

        if (!row->outside[x])
            continue;
        if (l->bytes == 1)
            row->samples[x] = before ? before[x * c->step] : black;
        else
            ((uint16_t *)row->samples)[x] = before ? ((const uint16_t *)before)[x * c->step] >> l->shift : black;
    }
}

/* Makes row y of component i. */
static void warp_row(const CPUBackend *s, const Row *row, int i, int y)
{
    const GpumeSamples *c = &s->picture.components[i];
    const int has_outside = locate_row(s, row, i, y);

    s->dsp.warp(row->samples, row->sources, c->stride, ff_mvstab_taps, c->w, (1 << s->layout->depth) - 1);
    if (has_outside)
        fill_outside(s, row, i, y);
    if (s->out) {
        ff_gpume_store_row(s->out, s->layout, i, y, row->samples);
    } else {
        memcpy(s->luma.first + y * s->luma.stride, row->samples, c->w * (size_t)s->layout->bytes);
        ff_gpume_padded_repeat(&s->luma, s->layout->bytes, y);
    }
}

static void mesh_rows(void *arg, int worker, int start, int end)
{
    const CPUBackend *s = arg;

    for (int i = 0; i < s->nb; i++) {
        const int rows = mvstab_points(s->layout->components[i].h);

        ff_mvstab_mesh(s->meshes + i * s->mesh_size, s->layout, i, gpume_first_row(rows, start, s->layout->h),
                       gpume_first_row(rows, end, s->layout->h), s->warp);
    }
}

static void warp_rows(void *arg, int worker, int start, int end)
{
    const CPUBackend *s = arg;
    uint8_t *memory = s->rows + worker * s->row_size;
    Row row = { (MvstabSource *)memory };

    row.samples = memory + s->row_width * sizeof(*row.sources);
    row.outside = row.samples + 2 * s->row_width;
    for (int i = 0; i < s->nb; i++) {
        const int h = s->layout->components[i].h, last = gpume_first_row(h, end, s->layout->h);

        for (int y = gpume_first_row(h, start, s->layout->h); y < last; y++)
            warp_row(s, &row, i, y);
    }
}

/* Adds the tasks that warp a picture to an output frame; NULL: to s->luma. */
static void add_warp(CPUBackend *s, AVFrame *out, const AVFrame *picture, const MvstabWarp *warp)
{
    s->picture = padded_of(s, picture);
    s->out     = out;
    s->warp    = warp;
    s->nb      = out ? s->layout->nb_components : 1;
    ff_gpume_chain_add(&s->chain, mesh_rows, s, s->layout->h);
    ff_gpume_chain_add(&s->chain, warp_rows, s, s->layout->h);
}

static int align(void *priv, MvstabPicture *aligned, const AVFrame *picture, const MvstabMatrix *matrix)
{
    const MvstabWarp warp = { .matrix = *matrix, .border = MVSTAB_CROP };
    const int ret = alloc(priv, aligned);

    if (ret < 0)
        return ret;
    add_warp(priv, NULL, picture, &warp);
    return measure(priv, aligned);
}

static int warp(void *priv, AVFrame *out, const AVFrame *picture, const MvstabWarp *warp)
{
    CPUBackend *s = priv;

    add_warp(s, out, picture, warp);
    ff_gpume_chain_run(&s->chain, &s->scheduler);
    return 0;
}

const MvstabBackend ff_mvstab_backend_cpu = {
    .common = {
        .hw_format = AV_PIX_FMT_NONE, .priv_size = sizeof(CPUBackend),
        .init = init, .set_layout = set_layout, .uninit = uninit,
    },
    .load  = load,
    .align = align,
    .warp  = warp,
};
