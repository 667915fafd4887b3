/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Paints CUDA frames on the stream of their device.
 *
 * If motion fields are on the device, the kernels read them there. mvview/map.cu finds the longest vector and,
 * in a second launch, computes the colours of vectors. mvview/paint.cu paints, and derives the
 * shapes of each tile from the fields.
 *
 * For vectors in system memory, the host lists for each tile of the picture the shapes that can
 * touch it. One copy uploads the lists, the shapes and the vectors from a ring of pinned buffers.
 * The host waits for a buffer only when its turn comes again.
 */

#include <assert.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/cuda_common/filter.h"
#include "libavfilter/gpume/mvview/cuda_args.h"
#include "libavfilter/gpume/mvview/modules.h"
#include "libavfilter/gpume/mvview/painter.h"

/** Maximum of the mean number of shapes of a tile in a launch. Further launches paint the remaining shapes. */
#define MAX_SHAPES_OF_TILE 256
/** Parts of an upload begin at multiples of this. */
#define ALIGNMENT 16
/** Offset of the lengths of the longest vectors in CUDAPainter.canvas. */
#define LONGEST_OFFSET FFALIGN(sizeof(MvviewCudaCanvas), ALIGNMENT)
static_assert(MVVIEW_CUDA_CELL == MVVIEW_CELL && MVVIEW_CUDA_PLANES == MVVIEW_PLANES,
              "the device code has the same sizes");

GPUME_CUDA_FILTER_MODULES(MVVIEW_CUDA_MODULES)

/** Kernels. */
enum Kernel {
    MAP,
    PAINT,
    NB_KERNELS
};

static const GpumeCudaFilterKernel kernels[NB_KERNELS] = {
    [MAP]   = { "map",   0, MVVIEW_CUDA_MAP_THREADS, 0, "map the vectors" },
    [PAINT] = { "paint", 0, MVVIEW_CUDA_THREADS, sizeof(MvviewCudaShared), "paint" },
};

/** The tiles that a shape can touch; all four limits are inclusive. */
typedef struct Tiles {
    int x0, y0, x1, y1;         ///< x0 > x1 or y0 > y1: none
} Tiles;

/** Offsets of the parts of an upload. */
typedef struct Layout {
    size_t vectors, ops, first, list, size;
} Layout;

typedef struct CUDAPainter {
    const MvviewConfig *cfg;
    GpumeCudaFilter gpu;

    GpumeCudaBuffer canvas;     ///< a MvviewCudaCanvas, then the lengths of the longest vectors of this frame and the
                                ///< next
    GpumeCudaBuffer flow;       ///< cells, then the colours of vectors
    unsigned nb_measured;       ///< number of frames whose longest vector was searched for

    int tile_width, tiles_x, tiles_y;
    unsigned *counts;           ///< number of shapes of each tile
    Tiles *tiles;               ///< tiles of each shape
    unsigned tiles_allocated;
} CUDAPainter;

static int is_1_2_or_4(int n)
{
    return n == 1 || n == 2 || n == 4;
}

static int supports(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    const int bytes = desc->comp[0].depth > 8 ? 2 : 1;

    if (desc->flags & AV_PIX_FMT_FLAG_BE && bytes == 2)
        return 0;
    if (desc->flags & AV_PIX_FMT_FLAG_RGB && desc->comp[0].plane != desc->comp[1].plane)
        return 0;
    /* a word must hold whole samples */
    for (int i = 0; i < desc->nb_components; i++)
        if (!is_1_2_or_4(desc->comp[i].step / bytes) || desc->comp[i].step > 4)
            return 0;
    return 1;
}

/* Loads the kernels and allocates memory. The caller has pushed the CUDA context. */
static av_cold int init_device(CUDAPainter *s, int depth)
{
    for (int i = 0; i < NB_KERNELS; i++) {
        const int ret = ff_gpume_cuda_filter_load(&s->gpu, i, &kernels[i], modules, depth);

        if (ret < 0)
            return ret;
    }
    return ff_gpume_cuda_alloc(&s->gpu.cuda, &s->canvas, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED,
                               LONGEST_OFFSET + 2 * sizeof(unsigned), "colours");
}

static av_cold int init(void *priv, const void *config, const GpumeLayout *layout)
{
    const MvviewConfig *cfg = config;
    CUDAPainter *s = priv;
    int ret;

    s->cfg = cfg;
    ret = ff_gpume_cuda_filter_open(&s->gpu, cfg->hw_frames, cfg->log_ctx);
    if (ret < 0)
        return ret;
    ret = init_device(s, layout->depth > 8 ? 16 : 8);
    ff_gpume_cuda_pop(&s->gpu.cuda);
    return ret;
}

static int init_tiles(CUDAPainter *s, const MvviewCanvas *c)
{
    const int ret = ff_gpume_cuda_filter_fits(&s->gpu, "mvview", c->w, c->h);

    av_freep(&s->counts);
    if (ret < 0)
        return ret;
    s->tile_width = MVVIEW_CUDA_TILE_BYTES / (c->bytes * c->planes[0].step);
    s->tiles_x = (c->w + s->tile_width - 1) / s->tile_width;
    s->tiles_y = (c->h + MVVIEW_CUDA_TILE_ROWS - 1) / MVVIEW_CUDA_TILE_ROWS;
    s->counts  = av_calloc(s->tiles_x * (size_t)s->tiles_y, sizeof(*s->counts));
    return s->counts ? 0 : AVERROR(ENOMEM);
}

static Tiles find_tiles(const CUDAPainter *s, const MvviewOp *op)
{
    const MvviewShape *shape = &op->shape;
    const MvviewBounds b = mvview_shape_bounds(shape->kind, shape->a, shape->b, shape->unit);
    int left, right, top, bottom;

    /* a shape touches a chroma sample if it touches a sample that the chroma sample covers; one tile contains all of
     * these samples */
    left   = FFMAX(op->x + b.left, 0);
    top    = FFMAX(op->y + b.top,  0);
    right  = FFMIN(op->x + b.right,  s->tiles_x * s->tile_width - 1);
    bottom = FFMIN(op->y + b.bottom, s->tiles_y * MVVIEW_CUDA_TILE_ROWS - 1);
    if (left > right || top > bottom)
        return (Tiles) { 0, 0, -1, -1 };
    return (Tiles) { left / s->tile_width, top / MVVIEW_CUDA_TILE_ROWS,
                     right / s->tile_width, bottom / MVVIEW_CUDA_TILE_ROWS };
}

/*
 * Finds the tiles of the shapes from begin on, and counts the shapes of each tile. Returns the number
 * of shapes that one launch can paint.
 */
static int count_tiles(CUDAPainter *s, const MvviewPicture *pic, int begin, size_t *nb_listed)
{
    const size_t nb_tiles = s->tiles_x * (size_t)s->tiles_y;
    int i;

    memset(s->counts, 0, nb_tiles * sizeof(*s->counts));
    *nb_listed = 0;
    for (i = begin; i < pic->nb_ops && *nb_listed < nb_tiles * MAX_SHAPES_OF_TILE; i++) {
        const Tiles t = s->tiles[i] = find_tiles(s, &pic->ops[i]);

        for (int y = t.y0; y <= t.y1; y++)
            for (int x = t.x0; x <= t.x1; x++)
                s->counts[y * s->tiles_x + x]++;
        *nb_listed += (t.x1 - t.x0 + 1) * (t.y1 - t.y0 + 1);
    }
    return i - begin;
}

/* Adds a part to an upload. Returns its offset. */
static size_t add_part(Layout *l, size_t size)
{
    const size_t at = l->size;

    l->size += FFALIGN(size, ALIGNMENT);
    return at;
}

/* Provides memory for cells and colours. The caller has pushed the CUDA context. */
static int get_flow(CUDAPainter *s, size_t size)
{
    int ret;

    if (s->flow.size >= size)
        return 0;
    /* frames in flight may read the old memory */
    ret = ff_gpume_cuda_filter_wait(&s->gpu, ff_gpume_cuda_filter_stream(&s->gpu));
    if (ret < 0)
        return ret;
    ff_gpume_cuda_free(&s->flow);
    return ff_gpume_cuda_filter_memory(&s->gpu, &s->flow, size + size / 2, "colours");
}

typedef struct VectorsArg {
    MvviewCudaVector *dst;
    const MvviewField *f;
} VectorsArg;

static void fill_vectors(void *opaque, int job, int nb_jobs)
{
    const VectorsArg *arg = opaque;
    const MvviewField *f  = arg->f;
    const int end = f->nb * (job + INT64_C(1)) / nb_jobs;

    for (int i = f->nb * (int64_t)job / nb_jobs; i < end; i++) {
        const MvviewVector *v = &f->vectors[i];
        const GpumeCellBox b  = gpume_cells_of_block(&f->cells, v);

        arg->dst[i] = (MvviewCudaVector) { b.x0, b.y0, b.x1, b.y1 | (v->distance > 0 ? MVVIEW_CUDA_FUTURE : 0),
                                           v->dx, v->dy };
    }
}

static void fill_ops(MvviewCudaOp *dst, const MvviewPicture *pic, int begin, int nb)
{
    for (int i = 0; i < nb; i++) {
        const MvviewOp *op       = &pic->ops[begin + i];
        const MvviewShape *shape = &op->shape;

        dst[i] = (MvviewCudaOp) {
            .x = op->x, .y = op->y, .a = shape->a, .b = shape->b, .unit = shape->unit,
            .kind = shape->kind, .variant = shape->variant,
        };
    }
}

/* Lists the shapes of each tile. Overwrites the counts. */
static void fill_list(CUDAPainter *s, unsigned *first, unsigned *list, const Tiles *tiles, int nb)
{
    const int nb_tiles = s->tiles_x * s->tiles_y;
    unsigned sum = 0;

    for (int i = 0; i < nb_tiles; i++) {
        const unsigned count = s->counts[i];

        first[i] = s->counts[i] = sum;
        sum += count;
    }
    first[nb_tiles] = sum;
    for (int i = 0; i < nb; i++)
        for (int y = tiles[i].y0; y <= tiles[i].y1; y++)
            for (int x = tiles[i].x0; x <= tiles[i].x1; x++)
                list[s->counts[y * s->tiles_x + x]++] = i;
}

/* Returns log2 of 1, 2 or 4. */
static int log2_of(int n)
{
    return n == 4 ? 2 : n - 1;
}

static void fill_planes(MvviewCudaPlane *planes, const MvviewCanvas *c, int background)
{
    for (int i = 0; i < c->nb_planes; i++) {
        const MvviewPlane *p = &c->planes[i];

        planes[i] = (MvviewCudaPlane) {
            .w = p->w, .h = p->h, .hsub = p->hsub, .vsub = p->vsub,
            .log2_step  = log2_of(p->step),
            .painted    = p->painted,
            .background = p->painted ? background : MVVIEW_PICTURE,
        };
        /* luma is gray already */
        if (background == MVVIEW_GRAY && !c->rgb && (!i || c->nb_comps == 1))
            planes[i].background = MVVIEW_PICTURE;
        for (int j = 0; j < p->step; j++)
            planes[i].comps |= (p->comp[j] & 255u) << 8 * j;
    }
}

/* Uploads the parts of the canvas that the kernels read. The caller has pushed the CUDA context. */
static int upload_canvas(CUDAPainter *s, const MvviewCanvas *c)
{
    MvviewCudaCanvas *to = s->canvas.pinned;
    int ret;

    /* frames in flight may read the old canvas */
    ret = ff_gpume_cuda_filter_wait(&s->gpu, ff_gpume_cuda_filter_stream(&s->gpu));
    if (ret < 0)
        return ret;
    memset(s->canvas.pinned, 0, s->canvas.size);
    memcpy(to->matrix, c->matrix, sizeof(to->matrix));
    memcpy(to->offset, c->offset, sizeof(to->offset));
    memcpy(to->font, ff_mvview_font, sizeof(to->font));
    fill_planes(to->planes, c, s->cfg->background);
    for (int i = 0; i < MVVIEW_NB_COLOURS; i++) {
        unsigned comp[3] = { 0 };

        ff_mvview_colour(c, &ff_mvview_colours[i], comp);
        for (int j = 0; j < 3; j++)
            to->colours[i].comp[j] = comp[j];
    }
    return GPUME_CUDA_CALL(&s->gpu, cuMemcpyHtoDAsync(s->canvas.data, to, s->canvas.size,
                                                      ff_gpume_cuda_filter_stream(&s->gpu)), "upload colours");
}

/* Fills in all arguments except the shapes. */
static void init_args(const CUDAPainter *s, const MvviewPicture *pic, MvviewCudaPaintArgs *args)
{
    const MvviewCanvas *c = pic->canvas;

    *args = (MvviewCudaPaintArgs) {
        .canvas     = s->canvas.data,
        .tiles_x    = s->tiles_x,   .tile_width = s->tile_width,
        .depth      = c->depth,     .shift      = c->shift,
        .gray       = { c->luma[0], c->luma[1], c->luma[2] },
        .nb_comps   = c->nb_comps,
        .opacity    = s->cfg->opacity,
        .cells_w    = pic->field->cells.cols,
        .nb_vectors = pic->field->nb,
        .has_background = !pic->is_copy,
    };
    for (int i = 0; i < c->nb_planes; i++)
        args->samples[i] = (MvviewCudaSamples) {
            .src = (uintptr_t)pic->in->data[i],  .src_linesize = pic->in->linesize[i],
            .dst = (uintptr_t)pic->out->data[i], .dst_linesize = pic->out->linesize[i],
        };
}

static int has_flow(const CUDAPainter *s, const MvviewPicture *pic)
{
    return !pic->is_copy && s->cfg->mode & MVVIEW_FLOW && s->cfg->opacity;
}

static int launch_map(CUDAPainter *s, const MvviewPicture *pic, MvviewCudaMapArgs *args, int nb_fields)
{
    args->canvas     = s->canvas.data;
    args->cells_w    = pic->field->cells.cols;
    args->nb_comps   = pic->canvas->nb_comps;
    args->depth      = pic->canvas->depth;
    return ff_gpume_cuda_filter_launch(&s->gpu, MAP, gpume_divide_up(args->nb, MVVIEW_CUDA_MAP_THREADS), nb_fields, 1,
                                       args);
}

static int launch_paint(CUDAPainter *s, const MvviewPicture *pic, MvviewCudaPaintArgs *args)
{
    return ff_gpume_cuda_filter_launch(&s->gpu, PAINT, s->tiles_x, s->tiles_y, pic->canvas->nb_planes, args);
}

/* Paints the motion fields on the device. The caller has pushed the CUDA context. */
static int paint_fields(CUDAPainter *s, const MvviewPicture *pic, MvviewCudaPaintArgs *args)
{
    const MvviewField *f       = pic->field;
    const CUdeviceptr longest  = s->canvas.data + LONGEST_OFFSET;
    const GpumeMotionField *at = f->fields;
    MvviewCudaMapArgs map      = { .nb = at->bw * at->bh };
    int ret;

    args->fields = (MvviewCudaFields) {
        .nb     = f->nb_fields,     .fields     = { at[0], at[f->nb_fields - 1] },
        .mode   = s->cfg->mode,     .scale      = s->cfg->scale,
        .side   = pic->side ? pic->side : f->side,
        .unit   = pic->unit,        .arrow_unit = pic->arrow_unit,
        .legend = pic->legend,
        .max    = pic->full,
        .longest = longest + s->nb_measured % 2 * sizeof(unsigned),
    };
    args->fields.per_square = args->fields.side / f->side;
    map.fields = args->fields;
    if (s->cfg->mode & MVVIEW_ARROWS || !pic->full) {
        map.next = longest + ++s->nb_measured % 2 * sizeof(unsigned);
        ret = launch_map(s, pic, &map, f->nb_fields);
        if (ret < 0)
            return ret;
        map.next = 0;
    }
    if (has_flow(s, pic)) {
        ret = get_flow(s, map.nb * sizeof(MvviewCudaColour));
        map.colours = args->colours = s->flow.data;
        if (ret < 0 || (ret = launch_map(s, pic, &map, 1)) < 0)
            return ret;
    }
    return launch_paint(s, pic, args);
}

/* Uploads the lists and computes the colours of vectors. The caller has pushed the CUDA context. */
static int upload_lists(CUDAPainter *s, const MvviewPicture *pic, MvviewCudaPaintArgs *args, const Layout *l,
                        GpumeCudaUpload *up)
{
    const MvviewField *f    = pic->field;
    const size_t cells_size = FFALIGN((size_t)f->cells.cols * f->cells.rows * sizeof(uint32_t), ALIGNMENT);
    MvviewCudaMapArgs map   = { .nb = f->nb, .vectors = up->buffer.data + l->vectors, .fields = { .max = pic->full } };
    int ret;

    args->ops   = up->buffer.data + l->ops;
    args->first = up->buffer.data + l->first;
    args->list  = up->buffer.data + l->list;
    ret = ff_gpume_cuda_upload(&s->gpu.cuda, up, l->size, "upload shapes");
    if (ret < 0 || l->ops == l->vectors)
        return ret;
    ret = get_flow(s, cells_size + f->nb * sizeof(MvviewCudaColour));
    if (ret < 0)
        return ret;
    map.cells   = args->cells   = s->flow.data;
    map.colours = args->colours = s->flow.data + cells_size;
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuMemsetD8Async(s->flow.data, 0, cells_size,
                                                        ff_gpume_cuda_filter_stream(&s->gpu)), "clear the flow")) < 0)
        return ret;
    return launch_map(s, pic, &map, 1);
}

/*
 * Paints as many shapes from begin on as one launch can. The launch that paints the first shape also
 * paints the background and the flow before it. Returns the number of shapes. The caller has pushed
 * the CUDA context.
 */
static int paint_some(CUDAPainter *s, const MvviewPicture *pic, MvviewCudaPaintArgs *args, int begin)
{
    const MvviewField *f = pic->field;
    const int flow       = !begin && has_flow(s, pic);
    Layout l = { 0 };
    size_t nb_listed;
    const int nb = count_tiles(s, pic, begin, &nb_listed);
    uint8_t *host;
    GpumeCudaUpload *up;
    int ret;

    l.vectors = add_part(&l, flow ? f->nb * sizeof(MvviewCudaVector) : 0);
    l.ops     = add_part(&l, nb * sizeof(MvviewCudaOp));
    l.first   = add_part(&l, (s->tiles_x * (size_t)s->tiles_y + 1) * sizeof(unsigned));
    l.list    = add_part(&l, nb_listed * sizeof(unsigned));
    ret = ff_gpume_cuda_uploads_next(&s->gpu.cuda, &s->gpu.uploads, l.size, &up);
    if (ret < 0)
        return ret;

    host = up->buffer.pinned;
    fill_ops((MvviewCudaOp *)(host + l.ops), pic, begin, nb);
    fill_list(s, (unsigned *)(host + l.first), (unsigned *)(host + l.list), nb ? s->tiles + begin : NULL, nb);
    if (flow)
        ff_mvview_execute(s->cfg, f->nb, fill_vectors,
                          &(VectorsArg) { (MvviewCudaVector *)(host + l.vectors), f });
    ret = upload_lists(s, pic, args, &l, up);
    if (ret < 0 || (ret = launch_paint(s, pic, args)) < 0)
        return ret;
    ret = ff_gpume_cuda_upload_end(&s->gpu.cuda, up);
    return ret < 0 ? ret : nb;
}

/* Paints a picture. The caller has pushed the CUDA context. */
static int paint_all(CUDAPainter *s, const MvviewPicture *pic)
{
    MvviewCudaPaintArgs args;
    int begin = 0, ret;

    if (pic->new_canvas && (ret = upload_canvas(s, pic->canvas)) < 0)
        return ret;
    init_args(s, pic, &args);
    if (pic->is_copy)
        return launch_paint(s, pic, &args);
    if (pic->field->nb_fields)
        return paint_fields(s, pic, &args);
    do {
        ret = paint_some(s, pic, &args, begin);
        if (ret < 0)
            return ret;
        begin += ret;
        /* the next launch draws over what this launch has painted */
        args.colours = args.has_background = 0;
        for (int i = 0; i < pic->canvas->nb_planes; i++) {
            args.samples[i].src          = args.samples[i].dst;
            args.samples[i].src_linesize = args.samples[i].dst_linesize;
        }
    } while (begin < pic->nb_ops);
    return 0;
}

static int paint(void *priv, const MvviewPicture *pic)
{
    CUDAPainter *s = priv;
    int ret;

    if (pic->new_canvas || !s->counts) {
        ret = init_tiles(s, pic->canvas);
        if (ret < 0)
            return ret;
    }
    if (pic->nb_ops) {
        av_fast_malloc(&s->tiles, &s->tiles_allocated, pic->nb_ops * sizeof(*s->tiles));
        if (!s->tiles)
            return AVERROR(ENOMEM);
    }

    ret = ff_gpume_cuda_filter_enter(&s->gpu);
    return ret < 0 ? ret : ff_gpume_cuda_filter_leave(&s->gpu, paint_all(s, pic));
}

/* Frees the memory on the device, which is idle. */
static av_cold void close_device(void *priv)
{
    CUDAPainter *s = priv;

    ff_gpume_cuda_free(&s->canvas);
    ff_gpume_cuda_free(&s->flow);
}

static av_cold void uninit(void *priv)
{
    CUDAPainter *s = priv;

    ff_gpume_cuda_filter_close(&s->gpu, close_device, s);
    av_freep(&s->counts);
    av_freep(&s->tiles);
}

const MvviewPainter ff_mvview_painter_cuda = {
    .common = {
        .hw_format = AV_PIX_FMT_CUDA, .priv_size = sizeof(CUDAPainter), .supports = supports,
        .init = init, .uninit = uninit,
    },
    .reads_fields = 1,
    .paint        = paint,
};
