/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Paints the picture tile by tile: first the background, then the flow, then the shapes in the order
 * of drawing.
 *
 * A thread owns words of four bytes of the picture; it reads and writes each word once. The
 * position of a sample determines what a shape puts on it (mvview/shape.h); a chroma sample gets
 * the mean of the samples that it covers. The host has listed the shapes of a tile, or they are
 * derived from motion fields (mvview/fields.cuh).
 */

#include "libavfilter/gpume/cuda_common/common.cuh"
#include "libavfilter/gpume/mvview/fields.cuh"

/** Bytes of a component, and number of components in a word. */
#define BYTES     (GPUME_CUDA_DEPTH > 8 ? 2 : 1)
#define PER_WORD  (4 / BYTES)
#define BITS      (8 * BYTES)
#define MASK      ((1u << BITS) - 1)

/** Number of adjacent words of a row in a warp, whose lanes cover 4 such rows. */
#define WARP_WORDS 8

#define NO_COMP 255

/** The position of a word in a plane. */
struct MvviewCudaPlace {
    int x, y;                           ///< its first sample
    int nb;                             ///< number of its bytes that are in the picture; 0: none
};

/** Returns which component of the picture is at position i of a word. */
static __device__ __forceinline__ int mvview_comp(const MvviewCudaPlane &p, int i)
{
    return p.comps >> 8 * (i & ((1 << p.log2_step) - 1)) & 255;
}

static __device__ __forceinline__ unsigned mvview_get(GpumeU32 word, int i)
{
    return word >> BITS * i & MASK;
}

static __device__ __forceinline__ GpumeU32 mvview_set(GpumeU32 word, int i, unsigned v)
{
    return (word & ~(MASK << BITS * i)) | (v & MASK) << BITS * i;
}

/** Changes component i of a word to (v * keep + add) >> 8; bits below the samples keep their values. */
static __device__ __forceinline__ GpumeU32 mvview_blend(GpumeU32 word, int i, unsigned keep,
                                                        unsigned add, int shift)
{
    const unsigned v = mvview_get(word, i);

    return mvview_set(word, i, ((v >> shift) * keep + add) >> 8 << shift | (v & ((1u << shift) - 1)));
}

static __device__ __forceinline__ GpumeU32 mvview_load(const MvviewCudaPlane &p, const MvviewCudaSamples &s,
                                                       const MvviewCudaPlace &at, int whole)
{
    const GpumeU8 *src = (const GpumeU8 *)s.src + s.src_linesize * at.y +
                         ((long long)at.x << p.log2_step) * BYTES;
    GpumeU32 word = 0;

    if (whole && at.nb == 4)
        return *(const GpumeU32 *)src;
    for (int i = 0; i < at.nb; i++)
        word |= (GpumeU32)src[i] << 8 * i;
    return word;
}

static __device__ __forceinline__ void mvview_store(const MvviewCudaPlane &p, const MvviewCudaSamples &s,
                                                    const MvviewCudaPlace &at, int whole, GpumeU32 word)
{
    GpumeU8 *dst = (GpumeU8 *)s.dst + s.dst_linesize * at.y + ((long long)at.x << p.log2_step) * BYTES;

    if (whole && at.nb == 4) {
        *(GpumeU32 *)dst = word;
        return;
    }
    for (int i = 0; i < at.nb; i++)
        dst[i] = (GpumeU8)(word >> 8 * i);
}

/** Returns a word of the background. */
static __device__ __forceinline__ GpumeU32 mvview_background(const MvviewCudaPaintArgs &a, const MvviewCudaPlane &p,
                                                             GpumeU32 word)
{
    const MvviewCudaCanvas *canvas = (const MvviewCudaCanvas *)a.canvas;
    const GpumeU16 *black = canvas->colours[MVVIEW_COLOUR_BLACK].comp;
    int gray = 1 << (a.depth - 1);

    if (!a.has_background || p.background == MVVIEW_PICTURE)
        return word;
    if (p.background == MVVIEW_GRAY && p.log2_step == 2) {
        /* the word is a sample of an RGB picture */
        gray = 1 << 15;
        for (int i = 0; i < PER_WORD; i++) {
            const int c = mvview_comp(p, i);

            gray += c == NO_COMP ? 0 : (int)mvview_get(word, i) *
                                       (c == 0 ? a.gray[0] : c == 1 ? a.gray[1] : a.gray[2]);
        }
        gray >>= 16;
    }
    for (int i = 0; i < PER_WORD; i++) {
        const int c = mvview_comp(p, i);

        if (c != NO_COMP)
            word = mvview_set(word, i, (p.background == MVVIEW_BLACK ? black[c] : gray) << a.shift);
    }
    return word;
}

/** Returns 1 + the index of the vector that gives a cell its colour; 0: none. */
static __device__ __forceinline__ GpumeU32 mvview_vector(const MvviewCudaPaintArgs &a, int x, int y)
{
    const GpumeMotionField &grid = a.fields.fields[0];
    GpumeU32 key;

    if (!a.cells)
        return 1 + y * MVVIEW_CUDA_CELL / grid.block * grid.bw + x * MVVIEW_CUDA_CELL / grid.block;
    key = ((const GpumeU32 *)a.cells)[(long long)y * a.cells_w + x];
    return key > (GpumeU32)a.nb_vectors ? key - a.nb_vectors : key;
}

static __device__ __forceinline__ GpumeU32 mvview_flow(const MvviewCudaPaintArgs &a, const MvviewCudaPlane &p,
                                                       const MvviewCudaPlace &at, GpumeU32 word)
{
    const int nb = at.nb / BYTES;
    GpumeU32 vector = 0;
    int last = -1;

    for (int i = 0; i < nb; i++) {
        const int cell = ((at.x + (i >> p.log2_step)) << p.hsub) / MVVIEW_CUDA_CELL;
        const int c = mvview_comp(p, i);

        if (cell != last) {
            vector = mvview_vector(a, cell, (at.y << p.vsub) / MVVIEW_CUDA_CELL);
            last   = cell;
        }
        if (vector && c != NO_COMP)
            word = mvview_blend(word, i, MVVIEW_FULL - a.opacity,
                                mvview_flow_add(((const GpumeU16 *)a.colours)[4ll * (vector - 1) + c],
                                                a.opacity), a.shift);
    }
    return word;
}

/** Returns shape i of a tile. */
static __device__ __forceinline__ MvviewCudaOp mvview_op(const MvviewCudaPaintArgs &a, const MvviewCudaWindow &w, int i)
{
    const MvviewCudaOp *ops = (const MvviewCudaOp *)a.ops;
    const GpumeU32 *list    = (const GpumeU32 *)a.list;

    return a.fields.nb ? mvview_field_op(a.fields, w, i) : ops[list[i]];
}

/** Prepares a shape: computes the values that all its samples share. */
static __device__ __forceinline__ void mvview_prepare(const MvviewCudaPaintArgs &a, const MvviewCudaOp &op,
                                                      MvviewCudaShared *shared, MvviewCudaShape *s)
{
    const MvviewCudaCanvas *canvas = (const MvviewCudaCanvas *)a.canvas;
    MvviewArrow arrow = { 0 };
    MvviewBounds bounds = mvview_shape_bounds(op.kind, op.a, op.b, op.unit);
    int below, above;

    s->x       = op.x;
    s->y       = op.y;
    s->kind    = op.kind;
    s->a       = op.a;
    s->b       = op.b;
    s->variant = op.variant;
    s->unit    = op.unit;
    mvview_shape_colours(op.kind, op.a, op.b, op.variant, &below, &above);
    for (int c = 0; c < 4; c++) {
        s->below[c] = c < a.nb_comps ? canvas->colours[below].comp[c] : 0;
        s->above[c] = c < a.nb_comps ? canvas->colours[above].comp[c] : 0;
    }
    if (op.kind == MVVIEW_ARROW) {
        mvview_arrow_init(&arrow, op.a, op.b, op.unit);
        bounds = mvview_arrow_bounds(&arrow, op.a, op.b);
    } else if (op.kind == MVVIEW_NUMBER) {
        shared->text = mvview_number_text(op.a);
    }
    s->arrow  = arrow;
    s->left   = op.x + bounds.left;
    s->right  = op.x + bounds.right;
    s->top    = op.y + bounds.top;
    s->bottom = op.y + bounds.bottom;
}

/** Returns whether shape i touches the tile. Listed shapes do. */
static __device__ __forceinline__ int mvview_touches(const MvviewCudaPaintArgs &a, const MvviewCudaWindow &w, int i)
{
    MvviewCudaOp op;
    MvviewBounds b;

    if (!a.fields.nb || i < a.fields.nb * w.blocks.nb)
        return 1;
    op = mvview_op(a, w, i);
    b  = mvview_shape_bounds(op.kind, op.a, op.b, op.unit);
    return op.x + b.right >= w.left && op.x + b.left <= w.right &&
           op.y + b.bottom >= w.top && op.y + b.top <= w.bottom;
}

/**
 * Finds shapes from *next to end that touch the tile, in their order. Stops when there are more
 * than MVVIEW_CUDA_SHAPES or when all have been seen. Returns their number.
 */
static __device__ __forceinline__ int mvview_find(const MvviewCudaPaintArgs &a, const MvviewCudaWindow &w,
                                                  MvviewCudaShared *shared, int *next, int end)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int nb = 0;

    while (*next < end && nb <= MVVIEW_CUDA_SHAPES) {
        const int i        = *next + threadIdx.x;
        const int touches  = i < end && mvview_touches(a, w, i);
        const GpumeU32 all = __ballot_sync(GPUME_WHOLE_WARP, touches);
        int at = nb + gpume_popcount(all & ((1u << lane) - 1));

        if (!lane)
            shared->counts[warp] = gpume_popcount(all);
        __syncthreads();
        for (int j = 0; j < MVVIEW_CUDA_THREADS / 32; j++) {
            at += j < warp ? shared->counts[j] : 0;
            nb += shared->counts[j];
        }
        if (touches)
            shared->found[at] = i;
        __syncthreads();
        *next += MVVIEW_CUDA_THREADS;
    }
    return nb;
}

/** Returns the colour of a wheel's upper layer, 16 bits for each component. Not inlined because wheels are rare. */
static __device__ __attribute__((noinline)) GpumeU64
mvview_wheel_sample(const MvviewCudaCanvas *canvas, int nb_comps, int depth,
                    int radius, int unit, int x, int y, MvviewLayers *l)
{
    const int away = mvview_wheel_distance(x, y);
    unsigned char rgb[3], shade;
    GpumeU64 comps = 0;

    *l = mvview_wheel_layers(radius, unit, away);
    if (!l->above)
        return 0;
    mvview_wheel_colour(rgb, &shade, radius, x, y, away);
    if (nb_comps == 1)
        rgb[0] = rgb[1] = rgb[2] = shade;
    for (int c = 0; c < nb_comps; c++)
        comps |= (GpumeU64)mvview_component(canvas->matrix[c], canvas->offset[c], rgb[0], rgb[1], rgb[2],
                                            depth) << 16 * c;
    return comps;
}

static __device__ __attribute__((noinline)) MvviewLayers
mvview_text_sample(const MvviewCudaCanvas *canvas, const MvviewText *text, int dot, int x, int y)
{
    return mvview_text_layers(canvas->font, text, dot, x, y);
}

/** Returns whether an arrow is too far from the middle of a word's samples to touch them. */
static __device__ __forceinline__ int mvview_is_far(const MvviewCudaShape &s, int left, int right, int top, int bottom)
{
    /* in half samples */
    const long long x = left + right - 2 * s.x, y = top + bottom - 2 * s.y;
    const int across  = FFABS((int)((x * s.arrow.uy - y * s.arrow.ux) >> 7));

    return across > s.arrow.reach + (right - left + bottom - top + 2) * (MVVIEW_SAMPLE / 2);
}

/** Draws a shape into a word of a plane with this log2_step. */
template<int LOG2_STEP>
static __device__ __forceinline__ GpumeU32 mvview_draw(const MvviewCudaPaintArgs &a, const MvviewCudaPlane &p,
                                                       const MvviewCudaPlace &at, const MvviewCudaShape &s,
                                                       const MvviewText *text, GpumeU32 word)
{
    const MvviewCudaCanvas *canvas = (const MvviewCudaCanvas *)a.canvas;
    const int step   = 1 << LOG2_STEP;
    const int nb     = PER_WORD >> LOG2_STEP;
    const int left   = at.x << p.hsub, right  = ((at.x + nb) << p.hsub) - 1;
    const int top    = at.y << p.vsub, bottom = ((at.y + 1) << p.vsub) - 1;

    if (right < s.left || left > s.right || bottom < s.top || top > s.bottom ||
        (s.kind == MVVIEW_ARROW && mvview_is_far(s, left, right, top, bottom)))
        return word;

    GPUME_NO_UNROLL for (int i = 0; i < nb; i++) {
        GpumeU32 keep = 0, add[step] = { 0 };

        GPUME_NO_UNROLL for (int y = top; y <= bottom; y++) {
            const int x0 = left + (i << p.hsub);
            MvviewAlong along = mvview_arrow_along(&s.arrow, x0 - s.x, y - s.y);

            GPUME_NO_UNROLL for (int x = x0; x < left + ((i + 1) << p.hsub); x++) {
                MvviewLayers l;
                GpumeU64 wheel = 0;

                if (s.kind == MVVIEW_ARROW)
                    l = mvview_arrow_layers(&s.arrow, along, x - s.x, y - s.y);
                else if (s.kind == MVVIEW_BLOCK)
                    l = mvview_block_layers(s.a, s.b, s.variant, x - s.x, y - s.y);
                else if (s.kind == MVVIEW_WHEEL)
                    wheel = mvview_wheel_sample(canvas, a.nb_comps, a.depth, s.a, s.unit,
                                                x - s.x, y - s.y, &l);
                else
                    l = mvview_text_sample(canvas, text, s.b, x - s.x, y - s.y);

                mvview_arrow_step(&s.arrow, &along);
                keep += mvview_keep(mvview_keep(MVVIEW_FULL, l.below), l.above);
                GPUME_UNROLL for (int k = 0; k < step; k++) {
                    const int c = p.comps >> 8 * k & 255;

                    if (c != NO_COMP) {
                        const int above = s.kind == MVVIEW_WHEEL ? (int)(wheel >> 16 * c & 0xffff) : s.above[c];

                        add[k] += mvview_add(mvview_add(0, s.below[c], l.below), above, l.above);
                    }
                }
            }
        }
        keep = mvview_mean_keep(keep, p.hsub + p.vsub);
        GPUME_UNROLL for (int k = 0; k < step; k++) {
            if ((p.comps >> 8 * k & 255) != NO_COMP)
                word = mvview_blend(word, (i << LOG2_STEP) + k, keep,
                                    mvview_mean_add(add[k], keep, p.hsub + p.vsub), a.shift);
        }
    }
    return word;
}

/** Draws shapes one after the other. In each variant the loop over the words of a sample is unrolled. */
static __device__ __forceinline__ GpumeU32
mvview_draw_all(const MvviewCudaPaintArgs &a, const MvviewCudaPlane &p, const MvviewCudaPlace &at,
                const MvviewCudaShared *shared, int nb, GpumeU32 word)
{
    if (p.log2_step == 0) {
        GPUME_NO_UNROLL for (int i = 0; i < nb; i++)
            word = mvview_draw<0>(a, p, at, shared->shapes[i], &shared->text, word);
    } else if (p.log2_step == 1) {
        GPUME_NO_UNROLL for (int i = 0; i < nb; i++)
            word = mvview_draw<1>(a, p, at, shared->shapes[i], &shared->text, word);
    } else {
        GPUME_NO_UNROLL for (int i = 0; i < nb; i++)
            word = mvview_draw<2>(a, p, at, shared->shapes[i], &shared->text, word);
    }
    return word;
}

/** Returns the position of a thread's word i in the part of a tile that begins at column x0. */
static __device__ __forceinline__ MvviewCudaPlace
mvview_place(const MvviewCudaPaintArgs &a, const MvviewCudaPlane &p, int x0, int i)
{
    const int lane   = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int width  = a.tile_width >> p.hsub, rows = MVVIEW_CUDA_TILE_ROWS >> p.vsub;
    const int column = x0 + (PER_WORD * (warp * WARP_WORDS + lane % WARP_WORDS) >> p.log2_step);
    const int row    = i * (32 / WARP_WORDS) + lane / WARP_WORDS;
    MvviewCudaPlace at;

    at.x  = blockIdx.x * width + column;
    at.y  = blockIdx.y * rows + row;
    at.nb = row < rows && at.y < p.h && column < width ?
            gpume_max(0, gpume_min(4, (p.w - at.x) * (BYTES << p.log2_step))) : 0;
    return at;
}

/** Paints shapes into the tile, and before them the background if is_first is set. */
static __device__ __forceinline__ void mvview_paint(const MvviewCudaPaintArgs &a, const MvviewCudaPlane &p,
                                                    const MvviewCudaSamples &s, const MvviewCudaShared *shared,
                                                    int nb, int is_first)
{
    const int per_row = MVVIEW_CUDA_TILE_BYTES / BYTES >> p.log2_step;     // samples
    const int whole   = !((s.src | s.dst | s.src_linesize | s.dst_linesize) & 3);

    GPUME_NO_UNROLL for (int x0 = 0; x0 < a.tile_width >> p.hsub; x0 += per_row) {
        GPUME_NO_UNROLL for (int i = 0; i < MVVIEW_CUDA_WORDS; i++) {
            const MvviewCudaPlace at = mvview_place(a, p, x0, i);
            GpumeU32 word;

            if (!at.nb)
                continue;
            word = mvview_load(p, s, at, whole);
            if (is_first) {
                word = mvview_background(a, p, word);
                if (a.colours && p.painted)
                    word = mvview_flow(a, p, at, word);
            }
            mvview_store(p, s, at, whole, mvview_draw_all(a, p, at, shared, nb, word));
        }
    }
}

/** Returns the samples of a plane. Selects by value: indexing the parameters would copy them to local memory. */
static __device__ __forceinline__ MvviewCudaSamples mvview_samples(const MvviewCudaPaintArgs &a, int plane)
{
    MvviewCudaSamples s = a.samples[0];

    GPUME_UNROLL for (int i = 1; i < MVVIEW_CUDA_PLANES; i++) {
        s.src          = plane == i ? a.samples[i].src : s.src;
        s.dst          = plane == i ? a.samples[i].dst : s.dst;
        s.src_linesize = plane == i ? a.samples[i].src_linesize : s.src_linesize;
        s.dst_linesize = plane == i ? a.samples[i].dst_linesize : s.dst_linesize;
    }
    return s;
}

/**
 * grid:   tiles across, tiles down, planes
 * block:  MVVIEW_CUDA_THREADS
 * shared: a MvviewCudaShared
 */
GPUME_KERNEL_OF(MvviewCudaPaintArgs, MVVIEW_CUDA_THREADS, MVVIEW_CUDA_CTAS)
{
    const MvviewCudaPlane p = ((const MvviewCudaCanvas *)args.canvas)->planes[blockIdx.z];
    const unsigned *first   = (const unsigned *)args.first + blockIdx.y * args.tiles_x + blockIdx.x;
    const int left = blockIdx.x * args.tile_width, top = blockIdx.y * MVVIEW_CUDA_TILE_ROWS;
    MvviewCudaSamples s = mvview_samples(args, blockIdx.z);
    MvviewCudaWindow w = { 0 };
    int next = 0, end = 0, is_first = 1;

    GPUME_SHARED(MvviewCudaShared, shared);

    if (p.painted && args.fields.nb) {
        w   = mvview_window(args.fields, left, top, left + args.tile_width - 1, top + MVVIEW_CUDA_TILE_ROWS - 1);
        end = w.nb;
    } else if (p.painted && args.first) {
        next = first[0];
        end  = first[1];
    }
    do {
        const int nb = mvview_find(args, w, shared, &next, end);

        /* if a tile has more shapes than are prepared at a time, it is painted several times */
        for (int begin = 0; begin < nb || is_first; begin += MVVIEW_CUDA_SHAPES) {
            const int n = gpume_min(MVVIEW_CUDA_SHAPES, nb - begin);

            if ((int)threadIdx.x < n)
                mvview_prepare(args, mvview_op(args, w, shared->found[begin + threadIdx.x]), shared,
                               &shared->shapes[threadIdx.x]);
            __syncthreads();
            mvview_paint(args, p, s, shared, n, is_first);
            __syncthreads();
            s.src          = s.dst;
            s.src_linesize = s.dst_linesize;
            is_first       = 0;
        }
    } while (next < end);
}
