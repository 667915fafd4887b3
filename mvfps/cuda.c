/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Interpolates CUDA frames on the stream of their device.
 *
 * Each frame is copied once, without padding bits and with repeated edges. Motion fields that gpume
 * has left on the device are read there. Other vectors are uploaded once, from a ring of pinned
 * buffers; the host waits for a buffer only when its turn comes again. The device decides whether
 * there is a cut. Later kernels read the decision, so the host does not wait for it.
 */

#include <stddef.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/mvfps/cuda_args.h"
#include "libavfilter/gpume/mvfps/backend.h"
#include "libavfilter/gpume/mvfps/mci.h"
#include "libavfilter/gpume/mvfps/modules.h"
#include "libavfilter/gpume/cuda_common/filter.h"
#include "libavfilter/gpume/field/cuda_cells.h"
#include "libavfilter/gpume/picture/cuda_padded.h"
#include "libavfilter/gpume/picture/held_frame.h"

GPUME_CUDA_FILTER_MODULES(MVFPS_CUDA_MODULES)

/** Kernels. */
enum Kernel {
    MEANS,
    DETAIL,
    MATCH,
    FADE,
    REPEAT,
    SUMS,
    FIRST,
    PASS,
    OFFSETS,
    TILES,
    MEAN,
    NB_KERNELS
};

#define MATCH_SHARED (MVFPS_CUDA_SCENE_THREADS / 32 * sizeof(uint32_t) + GPUME_DETAIL_BLOCK * GPUME_DETAIL_BLOCK + \
                      MVFPS_CUDA_WINDOW_W * MVFPS_CUDA_WINDOW_H)
#define VECTOR_SHARED (MVFPS_CUDA_VECTOR_WARPS * MVFPS_CUDA_VECTOR_WORDS * sizeof(uint32_t))
#define TILE_SHARED   (MVFPS_CUDA_TILE_WARPS * MVFPS_CUDA_TILE_WORDS * sizeof(uint32_t))

/* The variant of TILES depends on the size of chroma. */
static const GpumeCudaFilterKernel kernels[NB_KERNELS] = {
    [MEANS]   = { "scene",   0, MVFPS_CUDA_SCENE_THREADS, 0, "make a small picture" },
    [DETAIL]  = { "detail",  0, MVFPS_CUDA_SCENE_THREADS, 0, "find the detail of a picture" },
    [MATCH]   = { "detail",  1, MVFPS_CUDA_SCENE_THREADS, MATCH_SHARED, "look for a cut" },
    [FADE]    = { "scene",   1, MVFPS_CUDA_SCENE_THREADS, 0, "tell a cut from a fade" },
    [REPEAT]  = { "repeat",  0, MVFPS_CUDA_SCENE_THREADS, 0, "compare two pictures" },
    [SUMS]    = { "sums",    0, MVFPS_CUDA_MAP_THREADS, 0, "sum samples" },
    [FIRST]   = { "vectors", 0, 32 * MVFPS_CUDA_VECTOR_WARPS, VECTOR_SHARED, "choose vectors" },
    [PASS]    = { "vectors", 1, 32 * MVFPS_CUDA_VECTOR_WARPS, VECTOR_SHARED, "improve vectors" },
    [OFFSETS] = { "offsets", 0, MVFPS_CUDA_MAP_THREADS, 0, "find accelerations" },
    [TILES]   = { "tiles",   0, 32 * MVFPS_CUDA_TILE_WARPS, TILE_SHARED, "make a picture" },
    [MEAN]    = { "mean",    0, GPUME_CUDA_COPY_THREADS, 0, "make a mean or a copy" },
};

/** Fields of a frame: into the previous and into the next picture. */
enum { PAST, FUTURE, NB_FIELDS };

/** A frame of a pair, and data derived from it that is kept while the frame is in a pair. */
typedef struct Side {
    GpumeHeldFrame held;
    GpumeCellField fields[NB_FIELDS];
    GpumeCudaBuffer picture, cells;
    GpumeCudaBuffer small;      ///< detail of the small picture, followed by its means
    int has_detail;             ///< whether the detail is that of this frame
} Side;

typedef struct CUDABackend {
    const MvfpsConfig *cfg;
    const GpumeLayout *layout;
    const MvfpsPair *pair;
    GpumeCudaFilter gpu;
    int bytes;                  ///< bytes of a sample

    Side sides[2];
    int before;                 ///< index of the side that is the earlier frame
    GpumeCudaCells reader;
    GpumeCudaBuffer vectors;    ///< vectors of a phase: two buffers, one for each step; the first is reused for
                                ///< offsets
    GpumeCudaBuffer sums;       ///< MvfpsCellSums of each cell
    int has_sums;               ///< whether they are those of the pair
    GpumeCudaBuffer table;      ///< MVFPS_CUDA_TABLE
    GpumeCudaBuffer scene;      ///< MvfpsCudaScene
    GpumeCudaBuffer bins;       ///< unsigned[MVFPS_REPEAT_BINS]

    /* set with the layout */
    GpumeCells cells;
    GpumeCudaPadding padding;

    /* set with the pair */
    int finds_cut;              ///< whether the device decides if there is a cut
    enum MvfpsMode cut;
} CUDABackend;

static av_cold int load_kernels(CUDABackend *s, int depth, int chroma)
{
    int ret = ff_gpume_cuda_cells_init(&s->gpu, &s->reader);

    for (int i = 0; i < NB_KERNELS && ret >= 0; i++) {
        GpumeCudaFilterKernel kernel = kernels[i];

        if (i == TILES)
            kernel.variant = chroma;
        ret = ff_gpume_cuda_filter_load(&s->gpu, i, &kernel, modules, depth);
    }
    return ret < 0 ? ret : ff_gpume_cuda_padding_init(&s->gpu.cuda, &s->padding, s->bytes);
}

/* Allocates memory that does not depend on the layout, and uploads tables. The caller has pushed the CUDA context. */
static av_cold int init_memory(CUDABackend *s, int hsub, int vsub)
{
    uint32_t *table;
    int ret;

    ret = ff_gpume_cuda_alloc(&s->gpu.cuda, &s->scene, GPUME_CUDA_DEVICE, sizeof(MvfpsCudaScene), "a sum");
    if (ret < 0 ||
        (ret = ff_gpume_cuda_alloc(&s->gpu.cuda, &s->table, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED,
                                   MVFPS_CUDA_TABLE * sizeof(*table), "tables")) < 0)
        return ret;
    table = s->table.pinned;
    memset(table, 0, s->table.size);
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < 16; i++)
            table[MVFPS_CUDA_TAPS + i] |= (uint32_t)(uint8_t)ff_mvfps_taps[i][k] << 8 * k;
        for (int i = 0; i < 16; i++)
            table[MVFPS_CUDA_LONG_TAPS + i] |= (uint32_t)(uint8_t)ff_mvfps_long_taps[i][k] << 8 * k;
        for (int i = 0; i < 16 && k < 2; i++)
            table[MVFPS_CUDA_LONG_TAPS + 16 + i] |= (uint32_t)(uint8_t)ff_mvfps_long_taps[i][4 + k] << 8 * k;
        for (int i = 0; i < MVFPS_CELL; i++)
            table[MVFPS_CUDA_WINDOW + i] |= ff_mvfps_slope(k, i, 0) << 8 * k;
        for (int i = 0; i < MVFPS_CELL >> hsub; i++)
            table[MVFPS_CUDA_CHROMA_X + i] |= ff_mvfps_slope(k, i, hsub) << 8 * k;
        for (int i = 0; i < MVFPS_CELL >> vsub; i++)
            table[MVFPS_CUDA_CHROMA_Y + i] |= ff_mvfps_slope(k, i, vsub) << 8 * k;
    }
    return GPUME_CUDA_CALL(&s->gpu, cuMemcpyHtoDAsync(s->table.data, table, s->table.size,
                                                      ff_gpume_cuda_filter_stream(&s->gpu)), "upload tables");
}

static av_cold int init(void *priv, const void *config, const GpumeLayout *layout)
{
    const MvfpsConfig *cfg = config;
    CUDABackend *s = priv;
    int hsub, vsub, ret;

    s->cfg = cfg;
    hsub = layout->components[1].hsub;
    vsub = layout->components[1].vsub;
    if (hsub > 1 || vsub > hsub) {
        av_log(cfg->log_ctx, AV_LOG_ERROR, "mvfps does not support CUDA frames with samples of format %s; "
               "insert hwdownload before it.\n", av_get_pix_fmt_name(layout->format));
        return AVERROR(ENOSYS);
    }
    s->bytes = layout->bytes;
    ret = ff_gpume_cuda_filter_open(&s->gpu, cfg->hw_frames, cfg->log_ctx);
    if (ret < 0)
        return ret;
    ret = load_kernels(s, s->bytes == 1 ? 8 : 16, hsub + 10 * vsub);
    if (ret >= 0)
        ret = init_memory(s, hsub, vsub);
    ff_gpume_cuda_pop(&s->gpu.cuda);
    return ret;
}

static void forget_sides(CUDABackend *s)
{
    for (int i = 0; i < 2; i++) {
        Side *side = &s->sides[i];

        gpume_release_held(&side->held);
        ff_gpume_cuda_free(&side->picture);
        ff_gpume_cuda_free(&side->cells);
        ff_gpume_cuda_free(&side->small);
        side->has_detail = 0;
    }
    ff_gpume_cuda_cells_forget(&s->reader);
    ff_gpume_cuda_free(&s->vectors);
    ff_gpume_cuda_free(&s->sums);
}

static int set_layout(void *priv, const GpumeLayout *layout)
{
    CUDABackend *s = priv;
    const int ret = ff_gpume_cuda_filter_enter_resized(&s->gpu, "mvfps", layout->w, layout->h);

    if (ret < 0)
        return ret;
    forget_sides(s);
    s->layout = layout;
    s->cells  = mvfps_cells(layout->w, layout->h);
    ff_gpume_cuda_padding_set(&s->padding, layout);
    return ff_gpume_cuda_filter_leave(&s->gpu, 0);
}

/* Copies the samples of a frame. The caller has pushed the CUDA context. */
static int load(CUDABackend *s, Side *side)
{
    int ret;

    if (side->held.loaded)
        return 0;
    ret = ff_gpume_cuda_filter_memory(&s->gpu, &side->picture, s->padding.size, "a picture");
    if (ret < 0)
        return ret;
    side->held.loaded = 1;
    return ff_gpume_cuda_padded_load(&s->gpu.cuda, &s->padding, s->layout, side->held.frame, side->picture.data);
}

/* Makes the cells of a frame's fields. The context is pushed. */
static int read_fields(CUDABackend *s, Side *side)
{
    const size_t size = (size_t)s->cells.cols * s->cells.rows * sizeof(uint32_t);
    int ret;

    if (side->held.read)
        return 0;
    side->held.read = 1;
    if (!side->fields[PAST].nb && !side->fields[FUTURE].nb)
        return 0;
    ret = ff_gpume_cuda_filter_memory(&s->gpu, &side->cells, NB_FIELDS * size, "cells");
    return ret < 0 ? ret : ff_gpume_cuda_cells_read(&s->gpu, &s->reader, &s->cfg->executor, side->held.frame,
                                                    side->fields, NB_FIELDS, side->cells.data);
}

/* Begins a pair. The caller has pushed the CUDA context. */
static int begin_pair(CUDABackend *s, const MvfpsPair *pair, enum MvfpsMode mode)
{
    s->pair     = pair;
    s->finds_cut = 0;
    s->has_sums = 0;
    /* usually the earlier frame is the later frame of the previous pair */
    if (gpume_has_samples(&s->sides[!s->before].held, pair->before))
        s->before = !s->before;
    for (int i = 0; i < 2; i++) {
        Side *side = &s->sides[s->before ^ i];
        const AVFrame *frame = i ? pair->after : pair->before;
        int ret;

        side->has_detail &= gpume_has_samples(&side->held, frame);
        ret = gpume_hold(&side->held, frame);
        if (ret > 0) {
            for (int j = 0; j < NB_FIELDS; j++)
                ff_gpume_cuda_cells_find(&side->fields[j], &s->cells, side->held.frame, j == PAST ? -1 : 1);
        }
        if (ret < 0 ||
            mode == MVFPS_MCI && (ret = read_fields(s, side)) < 0)
            return ret;
    }
    return mode == MVFPS_MCI && (s->sides[s->before].fields[FUTURE].nb || s->sides[!s->before].fields[PAST].nb);
}

/* Returns the parameters of the kernels that make the detail of a frame. */
static MvfpsCudaDetailArgs detail_args(const CUDABackend *s, const Side *side)
{
    const GpumeLayout *l = s->layout;
    const int step = gpume_detail_step(l->w, l->h);
    const int cols = gpume_divide_up(l->w, step), rows = gpume_divide_up(l->h, step);

    return (MvfpsCudaDetailArgs) {
        .picture = side->picture.data + s->padding.first[0], .stride = s->padding.stride[0], .w = l->w, .h = l->h,
        .step = step, .cols = cols, .rows = rows, .depth = l->depth,
        .detail = side->small.data, .means = side->small.data + FFALIGN(cols * rows, 2),
    };
}

/* Makes the detail of a frame, once. The caller has pushed the CUDA context. */
static int make_detail(CUDABackend *s, Side *side)
{
    MvfpsCudaDetailArgs args = detail_args(s, side);
    const int nb = args.cols * args.rows;
    int ret = load(s, side);

    if (side->has_detail || ret < 0)
        return ret;
    ret = ff_gpume_cuda_filter_memory(&s->gpu, &side->small, FFALIGN(nb, 2) + nb * sizeof(uint16_t), "a small picture");
    if (ret < 0)
        return ret;
    args = detail_args(s, side);
    ret = ff_gpume_cuda_filter_launch(&s->gpu, MEANS, gpume_divide_up(nb, MVFPS_CUDA_SCENE_THREADS / 32), 1, 1, &args);
    if (ret >= 0)
        ret = ff_gpume_cuda_filter_launch(&s->gpu, DETAIL, gpume_divide_up(nb, MVFPS_CUDA_SCENE_THREADS), 1, 1, &args);
    side->has_detail = ret >= 0;
    return ret;
}

/* Queues the scene cut detection. The caller has pushed the CUDA context. */
static int look_for_cut(CUDABackend *s, double threshold)
{
    const GpumeLayout *l = s->layout;
    Side *before = &s->sides[s->before], *after = &s->sides[!s->before];
    MvfpsCudaSceneArgs fade = {
        .scene = s->scene.data, .stride = s->padding.stride[0], .w = l->w, .h = l->h, .depth = l->depth,
        .nb = gpume_divide_up(l->w, GPUME_SCENE_SIDE) * gpume_divide_up(l->h, GPUME_SCENE_SIDE),
    };
    MvfpsCudaMatchArgs match = { .scene = s->scene.data, .threshold = threshold };
    int ret = make_detail(s, before);

    if (ret < 0 ||
        (ret = make_detail(s, after)) < 0)
        return ret;
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuMemsetD8Async(s->scene.data, 0, sizeof(MvfpsCudaScene),
                                                        ff_gpume_cuda_filter_stream(&s->gpu)), "clear a sum")) < 0)
        return ret;
    match.before = before->small.data;
    match.after  = after->small.data;
    match.cols   = detail_args(s, after).cols;
    match.rows   = detail_args(s, after).rows;
    match.grid   = 2 * gpume_divide_up(match.cols, GPUME_DETAIL_BLOCK) *
                   gpume_divide_up(match.rows, GPUME_DETAIL_BLOCK);
    ret = ff_gpume_cuda_filter_launch(&s->gpu, MATCH, match.grid / 2, 2, 1, &match);
    if (ret < 0)
        return ret;
    fade.before = before->picture.data + s->padding.first[0];
    fade.after  = after->picture.data  + s->padding.first[0];
    fade.grid   = FFMIN(gpume_divide_up(fade.nb, MVFPS_CUDA_SCENE_THREADS / 32), MVFPS_CUDA_SCENE_GRID);
    return ff_gpume_cuda_filter_launch(&s->gpu, FADE, fade.grid, 1, 1, &fade);
}

static unsigned long long is_cut(const CUDABackend *s)
{
    return s->finds_cut ? s->scene.data + offsetof(MvfpsCudaScene, is_cut) : 0;
}

static CUdeviceptr cells_of(const Side *side, int field, size_t size)
{
    return side->fields[field].nb ? side->cells.data + field * size : 0;
}

/* Makes a picture along the vectors. The caller has pushed the CUDA context. */
static int compensate(CUDABackend *s, const AVFrame *out, int part)
{
    const GpumeLayout *l = s->layout;
    Side *before = &s->sides[s->before], *after = &s->sides[!s->before];
    const size_t size = (size_t)s->cells.cols * s->cells.rows * sizeof(uint32_t);
    const MvfpsCudaFields fields = {
        .cols = s->cells.cols, .rows = s->cells.rows,
        .before_future = cells_of(before, FUTURE, size), .after_past   = cells_of(after, PAST,   size),
        .before_past   = cells_of(before, PAST,   size), .after_future = cells_of(after, FUTURE, size),
    };
    MvfpsCudaVectorsArgs vectors = {
        .fields = fields, .is_cut = is_cut(s), .stride = s->padding.stride[0], .w = l->w, .h = l->h,
        .part = av_clip(part, 1, MVFPS_PARTS - 1), .depth = l->depth,
    };
    MvfpsCudaTilesArgs tiles = {
        .fields = fields, .is_cut = vectors.is_cut, .table = s->table.data,
        .nb_components = l->nb_components, .part = vectors.part, .depth = l->depth, .shift = l->shift,
    };
    const int across = gpume_divide_up(fields.cols, MVFPS_CUDA_VECTOR_WARPS);
    int cols, ret = load(s, before);

    if (ret < 0 ||
        (ret = load(s, after)) < 0 ||
        (ret = ff_gpume_cuda_filter_memory(&s->gpu, &s->vectors, 2 * size, "vectors of a phase")) < 0 ||
        (ret = ff_gpume_cuda_filter_memory(&s->gpu, &s->sums,
                                           (size_t)s->cells.cols * s->cells.rows * sizeof(MvfpsCellSums),
                                           "sums of samples")) < 0)
        return ret;
    vectors.before = before->picture.data + s->padding.first[0];
    vectors.after  = after->picture.data  + s->padding.first[0];
    vectors.to     = s->vectors.data;
    vectors.sums   = s->sums.data;
    /* a thread sums a row of a cell */
    if (!s->has_sums)
        ret = ff_gpume_cuda_filter_launch(&s->gpu, SUMS,
                                          gpume_divide_up(fields.cols * MVFPS_CELL, MVFPS_CUDA_MAP_THREADS),
                                          fields.rows, 1, &vectors);
    s->has_sums |= ret >= 0;
    if (ret < 0 ||
        (ret = ff_gpume_cuda_filter_launch(&s->gpu, FIRST, across, fields.rows, 1, &vectors)) < 0)
        return ret;
    vectors.from = s->vectors.data;
    vectors.to   = s->vectors.data + size;
    ret = ff_gpume_cuda_filter_launch(&s->gpu, PASS, across, fields.rows, 1, &vectors);
    if (ret < 0)
        return ret;
    if (s->pair->rates.before.own && fields.before_past && fields.after_future) {
        MvfpsCudaOffsetsArgs offsets = {
            .fields = fields, .is_cut = vectors.is_cut, .vectors = vectors.to, .offsets = vectors.from,
            .rates = s->pair->rates, .part = vectors.part,
        };

        ret = ff_gpume_cuda_filter_launch(&s->gpu, OFFSETS,
                                          gpume_divide_up(fields.cols * fields.rows, MVFPS_CUDA_MAP_THREADS), 1, 1,
                                          &offsets);
        if (ret < 0)
            return ret;
        tiles.offsets = offsets.offsets;
    }
    tiles.vectors = vectors.to;
    tiles.behind  = (long long)(after->picture.data - before->picture.data);
    for (int i = 0; i < l->nb_components; i++)
        tiles.components[i] = ff_gpume_cuda_component(&s->padding, l, i, out, before->picture.data);
    cols = gpume_divide_up(l->w + MVFPS_CELL / 2, MVFPS_CELL);
    return ff_gpume_cuda_filter_launch(&s->gpu, TILES, gpume_divide_up(cols, MVFPS_CUDA_TILE_WARPS), mvfps_tile_rows(l),
                                       1, &tiles);
}

static enum MvfpsCudaMean mean_of(enum MvfpsMode mode, int part)
{
    return mode == MVFPS_MCI   ? MVFPS_CUDA_NOTHING :
           mode == MVFPS_BLEND ? MVFPS_CUDA_MEAN    :
           mvfps_is_early(part) ? MVFPS_CUDA_BEFORE : MVFPS_CUDA_AFTER;
}

/* Makes the mean of one or two frames, sample by sample. The context has been pushed. */
static int make_mean(CUDABackend *s, MvfpsCudaMeanArgs *args, const AVFrame *out, const AVFrame *before,
                     const AVFrame *after)
{
    const GpumeLayout *l = s->layout;
    int nb = 0;

    args->shift = l->shift;
    for (int i = 0; i < l->nb_components; i++) {
        const GpumeComponent *c = &l->components[i];
        const int n = c->plane;

        nb = FFMAX(nb, n + 1);
        args->planes[n] = (MvfpsCudaPlane) {
            .before = (uintptr_t)before->data[n], .before_linesize = before->linesize[n],
            .after  = (uintptr_t)after->data[n],  .after_linesize  = after->linesize[n],
            .dst    = (uintptr_t)out->data[n],    .dst_linesize    = out->linesize[n],
            .bytes  = c->w * c->step * l->bytes,  .h               = c->h,
        };
    }
    return ff_gpume_cuda_filter_launch(&s->gpu, MEAN,
                                       gpume_divide_up(gpume_divide_up(l->components[0].w * l->bytes, 4) + 1, 32),
                                       gpume_divide_up(l->h, GPUME_CUDA_COPY_ROWS * GPUME_CUDA_COPY_THREADS / 32), nb,
                                       args);
}

/* Makes a picture in a mode. The caller has pushed the CUDA context. */
static int make_picture(CUDABackend *s, const AVFrame *out, int part, enum MvfpsMode mode)
{
    MvfpsCudaMeanArgs args = {
        .is_cut = is_cut(s), .made = mean_of(mode, part), .made_at_cut = mean_of(s->cut, part), .part = part,
    };
    int ret = 0;

    if (mode == MVFPS_MCI)
        ret = compensate(s, out, part);
    if (ret >= 0 && (mode != MVFPS_MCI || s->finds_cut))
        ret = make_mean(s, &args, out, s->pair->before, s->pair->after);
    return ret;
}

/* Counts how much two frames differ. The caller has pushed the CUDA context. */
static int compare(CUDABackend *s, const GpumeLayout *l, const AVFrame *first, const AVFrame *frame)
{
    const GpumeComponent *c = &l->components[0];
    MvfpsCudaRepeatArgs args = {
        .first = (uintptr_t)gpume_layout_row(l, c, first, 0), .first_linesize = first->linesize[c->plane],
        .frame = (uintptr_t)gpume_layout_row(l, c, frame, 0), .frame_linesize = frame->linesize[c->plane],
        .w = l->w, .h = l->h, .depth = l->depth, .shift = l->shift,
        .nb = gpume_divide_up(l->w, GPUME_SCENE_SIDE) * gpume_divide_up(l->h, GPUME_SCENE_SIDE),
    };
    const size_t size = MVFPS_REPEAT_BINS * sizeof(unsigned);
    int ret = 0;

    if (!s->bins.data)
        ret = ff_gpume_cuda_alloc(&s->gpu.cuda, &s->bins, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED, size, "counts");
    if (ret < 0)
        return ret;
    args.bins = s->bins.data;
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuMemsetD8Async(s->bins.data, 0, size, ff_gpume_cuda_filter_stream(&s->gpu)),
                               "clear counts")) < 0)
        return ret;
    ret = ff_gpume_cuda_filter_launch(&s->gpu, REPEAT, gpume_divide_up(args.nb, MVFPS_CUDA_SCENE_THREADS / 32), 1, 1,
                                      &args);
    if (ret < 0)
        return ret;
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuMemcpyDtoHAsync(s->bins.pinned, s->bins.data, size,
                                                          ff_gpume_cuda_filter_stream(&s->gpu)),
                               "download counts")) < 0)
        return ret;
    ret = ff_gpume_cuda_filter_wait(&s->gpu, ff_gpume_cuda_filter_stream(&s->gpu));
    return ret < 0 ? ret : mvfps_is_repeat(s->bins.pinned, args.nb);
}

static int is_repeat(void *priv, const GpumeLayout *l, const AVFrame *first, const AVFrame *frame)
{
    CUDABackend *s = priv;
    const int ret  = ff_gpume_cuda_filter_enter(&s->gpu);

    return ret < 0 ? ret : ff_gpume_cuda_filter_leave(&s->gpu, compare(s, l, first, frame));
}

static int begin(void *priv, const MvfpsPair *pair, enum MvfpsMode mode)
{
    CUDABackend *s = priv;
    const int ret  = ff_gpume_cuda_filter_enter(&s->gpu);

    return ret < 0 ? ret : ff_gpume_cuda_filter_leave(&s->gpu, begin_pair(s, pair, mode));
}

static int find_cut(void *priv, enum MvfpsMode mode, enum MvfpsMode cut, double scene)
{
    CUDABackend *s = priv;
    int ret = ff_gpume_cuda_filter_enter(&s->gpu);

    if (ret >= 0)
        ret = ff_gpume_cuda_filter_leave(&s->gpu, look_for_cut(s, scene));
    s->finds_cut = 1;
    s->has_sums = 0;            // none are computed at a cut
    s->cut    = cut;
    return ret < 0 ? ret : mode;
}

static int make(void *priv, AVFrame *out, int part, enum MvfpsMode mode)
{
    CUDABackend *s = priv;
    const int ret  = ff_gpume_cuda_filter_enter(&s->gpu);

    return ret < 0 ? ret : ff_gpume_cuda_filter_leave(&s->gpu, make_picture(s, out, part, mode));
}

static int copy(void *priv, AVFrame *out, const AVFrame *in)
{
    MvfpsCudaMeanArgs args = { .made = MVFPS_CUDA_BEFORE };
    CUDABackend *s = priv;
    const int ret  = ff_gpume_cuda_filter_enter(&s->gpu);

    return ret < 0 ? ret : ff_gpume_cuda_filter_leave(&s->gpu, make_mean(s, &args, out, in, in));
}

/* Frees the memory on the device, which is idle. */
static av_cold void close_device(void *priv)
{
    CUDABackend *s = priv;

    ff_gpume_cuda_free(&s->table);
    ff_gpume_cuda_free(&s->scene);
    ff_gpume_cuda_free(&s->bins);
    ff_gpume_cuda_cells_uninit(&s->gpu, &s->reader);
    ff_gpume_cuda_padding_uninit(&s->gpu.cuda, &s->padding);
}

static av_cold void uninit(void *priv)
{
    CUDABackend *s = priv;

    ff_gpume_cuda_filter_close(&s->gpu, close_device, s);
    forget_sides(s);
}

const MvfpsBackend ff_mvfps_backend_cuda = {
    .common = {
        .hw_format = AV_PIX_FMT_CUDA, .priv_size = sizeof(CUDABackend),
        .init = init, .set_layout = set_layout, .uninit = uninit,
    },
    .is_repeat  = is_repeat,
    .begin      = begin,
    .find_cut   = find_cut,
    .make       = make,
    .copy       = copy,
};
