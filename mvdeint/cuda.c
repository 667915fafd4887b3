/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Deinterlaces CUDA frames on the stream of their device.
 *
 * Each frame is copied once, without padding bits and with repeated edges. Estimates of fields have
 * the same layout. Their luma is searched on the device, and the motion fields are read there.
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/log.h"

#include "libavfilter/gpume/cuda_common/filter.h"
#include "libavfilter/gpume/field/cells.h"
#include "libavfilter/gpume/mvdeint/backend.h"
#include "libavfilter/gpume/mvdeint/cuda_args.h"
#include "libavfilter/gpume/mvdeint/modules.h"
#include "libavfilter/gpume/mvdeint/samples.h"
#include "libavfilter/gpume/picture/cuda_padded.h"

GPUME_CUDA_FILTER_MODULES(MVDEINT_CUDA_MODULES)

/** Kernels. */
enum Kernel {
    FIRST,
    EDGES,
    ROUND,
    MATCH,
    MATCHING,
    COMBINE,
    NB_KERNELS
};

static const GpumeCudaFilterKernel kernels[NB_KERNELS] = {
    [FIRST]   = { "first",   0, MVDEINT_CUDA_THREADS, MVDEINT_CUDA_FIRST_SHARED,
                               "estimate a field" },
    [EDGES]   = { "edges",   0, MVDEINT_CUDA_THREADS, 0, "repeat edges" },
    [ROUND]   = { "round",   0, MVDEINT_CUDA_THREADS, MVDEINT_CUDA_ROUND_SHARED, "round vectors" },
    [MATCH]   = { "match",   0, MVDEINT_CUDA_THREADS, MVDEINT_CUDA_MATCH_SHARED,
                               "compensate pictures" },
    [MATCHING] = { "matching", 0, MVDEINT_CUDA_THREADS, 0, "find what matches" },
    [COMBINE] = { "combine", 0, MVDEINT_CUDA_THREADS, MVDEINT_CUDA_MEASURES_SHARED,
                               "make a picture" },
};

static const MvdeintModel models[MVDEINT_MAX_PASSES] = { MVDEINT_MODELS };

/** Offset of the votes of areas. */
#define VOTES 8

typedef struct CUDABackend {
    const MvdeintConfig *cfg;
    const GpumeLayout *layout;
    GpumeCudaFilter gpu;

    /* the following depend on the layout */
    GpumeCells cells;
    GpumeCudaPadding padding;
    MvdeintCudaComponents components;
    AVBufferRef *luma;              ///< AVHWFramesContext that describes the luma of estimates
    GpumeCudaPool pool;             ///< pool of estimates
    GpumeCudaBuffer slots[MVDEINT_SLOTS];
    GpumeCudaBuffer samples, known; ///< compensated samples of all candidates
    size_t size;                    ///< samples of one candidate
    GpumeCudaBuffer vectors;        ///< vectors of all candidates
    GpumeCudaBuffer areas;          ///< a counter; votes of areas of all candidates; the matching candidates of each
                                    ///< area
    GpumeCudaBuffer table;          ///< MVDEINT_CUDA_TABLE
} CUDABackend;

/* Loads the kernels. The caller has pushed the CUDA context. */
static av_cold int load_kernels(CUDABackend *s, int depth)
{
    for (int i = 0; i < NB_KERNELS; i++) {
        const int ret = ff_gpume_cuda_filter_load(&s->gpu, i, &kernels[i], modules, depth);

        if (ret < 0)
            return ret;
    }
    return ff_gpume_cuda_padding_init(&s->gpu.cuda, &s->padding, depth > 8 ? 2 : 1);
}

/* Uploads the tables. The caller has pushed the CUDA context. */
static av_cold int upload_table(CUDABackend *s)
{
    uint16_t *table;
    int ret = ff_gpume_cuda_alloc(&s->gpu.cuda, &s->table, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED,
                                  MVDEINT_CUDA_TABLE * sizeof(*table), "tables");

    if (ret < 0)
        return ret;
    table = s->table.pinned;
    memset(table, 0, s->table.size);
    memcpy(table + MVDEINT_CUDA_POWER, ff_mvdeint_power, 256 * sizeof(*table));
    memcpy(table + MVDEINT_CUDA_INVERSE, ff_mvdeint_inverse, 128 * sizeof(*table));
    memcpy(table + MVDEINT_CUDA_TAPS, ff_mvdeint_taps, sizeof(ff_mvdeint_taps));
    for (int i = MVDEINT_LEAST_KNOWN; i <= MVDEINT_MAX_WEIGHTS; i++)
        table[MVDEINT_CUDA_RECIPROCALS + i] = mvdeint_reciprocal(i);
    return GPUME_CUDA_CALL(&s->gpu, cuMemcpyHtoDAsync(s->table.data, table, s->table.size,
                                                      ff_gpume_cuda_filter_stream(&s->gpu)), "upload tables");
}

static av_cold int init(void *priv, const void *config, const GpumeLayout *layout)
{
    const MvdeintConfig *cfg = config;
    CUDABackend *s = priv;
    int ret;

    s->cfg = cfg;
    ret = ff_gpume_cuda_filter_open(&s->gpu, cfg->hw_frames, cfg->log_ctx);
    if (ret < 0)
        return ret;
    ret = load_kernels(s, layout->depth);
    if (ret >= 0)
        ret = upload_table(s);
    ff_gpume_cuda_pop(&s->gpu.cuda);
    return ret;
}

static void forget(CUDABackend *s)
{
    for (int i = 0; i < MVDEINT_SLOTS; i++)
        ff_gpume_cuda_free(&s->slots[i]);
    ff_gpume_cuda_free(&s->samples);
    ff_gpume_cuda_free(&s->known);
    ff_gpume_cuda_free(&s->vectors);
    ff_gpume_cuda_free(&s->areas);
    ff_gpume_cuda_pool_uninit(&s->pool);
    av_buffer_unref(&s->luma);
}

/* Returns the number of areas of luma. */
static size_t nb_areas(const CUDABackend *s)
{
    return (s->cells.cols + 1) * (size_t)(s->cells.rows + 1);
}

/* Adapts the memory to a new layout. The caller has pushed the CUDA context; the stream of the frames is idle. */
static int change_layout(CUDABackend *s, const GpumeLayout *l)
{
    int ret;

    ff_gpume_cuda_padding_set(&s->padding, l);
    if (s->padding.size > INT32_MAX / 4) {
        av_log(s->gpu.cuda.log_ctx, AV_LOG_ERROR, "mvdeint does not support CUDA frames as large as %dx%d in this "
               "format; insert hwdownload before it.\n", l->w, l->h);
        return AVERROR(ENOSYS);
    }
    forget(s);
    s->layout = l;
    s->cells  = gpume_cells(l->w, l->h, 3, MVDEINT_BLOCK / 2);
    s->size   = 0;
    memset(&s->components, 0, sizeof(s->components));
    s->components.nb = l->nb_components;
    for (int i = 0; i < l->nb_components; i++) {
        const GpumeComponent *c = &l->components[i];

        s->components.c[i] = (MvdeintCudaComponent) {
            .first = s->padding.first[i], .stride = s->padding.stride[i], .w = c->w, .h = c->h,
            .hsub = c->hsub, .vsub = c->vsub, .match = s->size,
        };
        s->size += (size_t)c->w * c->h;
    }
    if ((ret = ff_gpume_cuda_describe_gray(&s->luma, &s->gpu.cuda, l)) < 0 ||
        (ret = ff_gpume_cuda_pool_init(&s->pool, &s->gpu.cuda, GPUME_CUDA_DEVICE, s->padding.size, "estimates")) < 0)
        return ret;
    for (int i = 0; i < MVDEINT_SLOTS && ret >= 0; i++)
        ret = ff_gpume_cuda_filter_memory(&s->gpu, &s->slots[i], s->padding.size, "a frame");
    if (ret < 0 ||
        (ret = ff_gpume_cuda_filter_memory(&s->gpu, &s->samples, MVDEINT_MAX_CANDIDATES * s->size * sizeof(uint16_t),
                                           "compensated pictures")) < 0 ||
        (ret = ff_gpume_cuda_filter_memory(&s->gpu, &s->known, MVDEINT_MAX_CANDIDATES * s->size,
                                           "compensated pictures")) < 0 ||
        (ret = ff_gpume_cuda_filter_memory(&s->gpu, &s->vectors, MVDEINT_MAX_CANDIDATES * s->cells.cols *
                                           (size_t)s->cells.rows * sizeof(uint32_t), "vectors")) < 0)
        return ret;
    return ff_gpume_cuda_filter_memory(&s->gpu, &s->areas, VOTES + (MVDEINT_MAX_CANDIDATES + 1) * nb_areas(s), "votes");
}

static int set_layout(void *priv, const GpumeLayout *layout)
{
    CUDABackend *s = priv;
    const int ret = ff_gpume_cuda_filter_enter_resized(&s->gpu, "mvdeint", layout->w, layout->h);

    return ret < 0 ? ret : ff_gpume_cuda_filter_leave(&s->gpu, change_layout(s, layout));
}

static int load(void *priv, int slot, const AVFrame *frame, int later)
{
    CUDABackend *s = priv;
    int ret = ff_gpume_cuda_filter_enter(&s->gpu);

    if (ret < 0)
        return ret;
    ret = ff_gpume_cuda_padded_load(&s->gpu.cuda, &s->padding, s->layout, frame, s->slots[slot].data);
    return ff_gpume_cuda_filter_leave(&s->gpu, ret);
}

static AVFrame *alloc(void *priv)
{
    CUDABackend *s = priv;

    return ff_gpume_cuda_padded_frame(&s->pool, s->luma, &s->padding, s->layout);
}

/* Returns the address of an estimate's memory; 0 for NULL. */
static CUdeviceptr picture_of(const AVFrame *estimate)
{
    return estimate ? ff_gpume_cuda_buffer(estimate->buf[0])->data : 0;
}

/* Repeats the edges of an estimate. The caller has pushed the CUDA context. */
static int repeat_edges(CUDABackend *s, const AVFrame *estimate)
{
    const GpumeLayout *l = s->layout;
    MvdeintCudaEdgesArgs args = { s->components, picture_of(estimate) };

    return ff_gpume_cuda_filter_launch(&s->gpu, EDGES,
                                       gpume_divide_up(2 * GPUME_PAD * (l->w + 2 * GPUME_PAD + l->h),
                                                       MVDEINT_CUDA_THREADS), 1, l->nb_components, &args);
}

/* Makes the first estimate of a field. The caller has pushed the CUDA context. */
static int estimate_field(CUDABackend *s, const MvdeintFirst *f)
{
    const GpumeLayout *l = s->layout;
    MvdeintCudaFirstArgs args = {
        .components = s->components, .before = s->slots[f->before].data, .frame = s->slots[f->frame].data,
        .after = s->slots[f->after].data, .out = picture_of(f->out), .intra = picture_of(f->intra),
        .table = s->table.data, .parity = f->parity, .is_second = f->is_second, .is_alone = f->is_alone,
        .is_progressive = f->is_progressive, .depth = l->depth,
    };
    const int ret = ff_gpume_cuda_filter_launch(&s->gpu, FIRST, gpume_divide_up(l->w, 32),
                                                gpume_divide_up(l->h, MVDEINT_CUDA_WARPS), l->nb_components, &args);

    return ret < 0 ? ret : repeat_edges(s, f->out);
}

static int estimate(void *priv, const MvdeintFirst first[2])
{
    CUDABackend *s = priv;
    int ret = ff_gpume_cuda_filter_enter(&s->gpu);

    if (ret < 0)
        return ret;
    ret = estimate_field(s, &first[0]);
    return ff_gpume_cuda_filter_leave(&s->gpu, ret < 0 ? ret : estimate_field(s, &first[1]));
}

/*
 * Compensates the neighbouring pictures. The caller has pushed the CUDA context.
 * @return a bit mask of the pictures that exist, or an AVERROR code
 */
static int match(CUDABackend *s, const MvdeintStep *step)
{
    const int nb = s->layout->nb_components, groups = nb > 3 ? 3 : nb > 1 ? 2 : 1;
    const int lanes = MVDEINT_CUDA_MATCH_LANES << (nb > 2 && !s->layout->components[1].hsub);
    MvdeintCudaMatchArgs args = {
        .components = s->components, .cells = s->cells, .vectors = s->vectors.data, .samples = s->samples.data,
        .known = s->known.data,
        .size = s->size, .own = picture_of(step->estimates[MVDEINT_MAX_REFS]), .votes = s->areas.data + VOTES,
        .nb_poor = s->areas.data, .parity = step->parities[MVDEINT_MAX_REFS], .depth = s->layout->depth,
    };
    MvdeintCudaMatchingArgs matching = {
        .votes = args.votes, .matching = args.votes + MVDEINT_MAX_CANDIDATES * nb_areas(s), .nb_poor = args.nb_poor,
        .cols = s->cells.cols + 1, .rows = s->cells.rows + 1,
    };
    int present = 0, ret;

    for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++) {
        const int distance = i & 1 ? i / 2 + 1 : -(i / 2) - 1;
        const GpumeMotionField *field = gpume_field_at(step->set->device, step->set->nb, distance);

        if (!field || !step->estimates[MVDEINT_MAX_REFS + distance])
            continue;
        args.fields[i]   = gpume_cell_source(field);
        args.pictures[i] = picture_of(step->estimates[MVDEINT_MAX_REFS + distance]);
        args.parities[i] = step->parities[MVDEINT_MAX_REFS + distance];
        if (i < 2)
            args.costs[i] = field->costs;
        present |= 1 << i;
    }
    if (!present)
        return 0;
    ret = ff_gpume_cuda_filter_launch(&s->gpu, ROUND,
                                      gpume_divide_up(s->cells.cols * s->cells.rows * MVDEINT_CUDA_MATCH_LANES,
                                                      MVDEINT_CUDA_THREADS), 1, 1, &args);
    if (ret >= 0)
        ret = ff_gpume_cuda_filter_launch(&s->gpu, MATCH,
                                          gpume_divide_up((s->cells.cols + 1) * lanes, MVDEINT_CUDA_THREADS),
                                          s->cells.rows + 1, groups * MVDEINT_MAX_CANDIDATES, &args);
    matching.present = present;
    if (ret >= 0)
        ret = ff_gpume_cuda_filter_launch(&s->gpu, MATCHING,
                                          gpume_divide_up(nb_areas(s), MVDEINT_CUDA_THREADS), 1, 1, &matching);
    return ret < 0 ? ret : present;
}

/* Combines the candidates to a picture. The caller has pushed the CUDA context. */
static int combine(CUDABackend *s, MvdeintCudaCombineArgs *args, const AVFrame *frame)
{
    const GpumeLayout *l = s->layout;

    args->components = s->components;
    args->samples    = s->samples.data;
    args->known      = s->known.data;
    args->size       = s->size;
    args->matching   = s->areas.data + VOTES + MVDEINT_MAX_CANDIDATES * nb_areas(s);
    args->nb_poor    = s->areas.data;
    args->area_cols  = s->cells.cols + 1;
    args->area_rows  = s->cells.rows + 1;
    args->table      = s->table.data;
    args->shift      = l->shift;
    args->depth      = l->depth;
    for (int i = 0; i < l->nb_components && frame; i++)
        args->planes[i] = ff_gpume_cuda_component(&s->padding, l, i, frame, 0);
    return ff_gpume_cuda_filter_launch(&s->gpu, COMBINE, gpume_divide_up(l->w, 32),
                                       gpume_divide_up(l->h, MVDEINT_CUDA_LINES), l->nb_components, args);
}

static int make(void *priv, const MvdeintStep *step)
{
    CUDABackend *s = priv;
    MvdeintCudaCombineArgs args = {
        .model = models[step->pass], .own = picture_of(step->estimates[MVDEINT_MAX_REFS]),
        .first = picture_of(step->first), .intra = picture_of(step->intra), .out = picture_of(step->out),
        .parity = step->parities[MVDEINT_MAX_REFS],
    };
    int ret = ff_gpume_cuda_filter_enter(&s->gpu);

    if (ret < 0)
        return ret;
    ret = match(s, step);
    args.present = FFMAX(ret, 0);
    if (ret >= 0)
        ret = combine(s, &args, step->frame);
    if (ret >= 0 && step->out)
        ret = repeat_edges(s, step->out);
    return ff_gpume_cuda_filter_leave(&s->gpu, ret);
}

static int put(void *priv, AVFrame *frame, const AVFrame *estimate)
{
    CUDABackend *s = priv;
    MvdeintCudaCombineArgs args = { .own = picture_of(estimate), .copies = 1 };
    int ret = ff_gpume_cuda_filter_enter(&s->gpu);

    return ret < 0 ? ret : ff_gpume_cuda_filter_leave(&s->gpu, combine(s, &args, frame));
}

static int copy(void *priv, AVFrame *frame, int slot)
{
    CUDABackend *s = priv;
    MvdeintCudaCombineArgs args = { .own = s->slots[slot].data, .copies = 1 };
    int ret = ff_gpume_cuda_filter_enter(&s->gpu);

    return ret < 0 ? ret : ff_gpume_cuda_filter_leave(&s->gpu, combine(s, &args, frame));
}

/* Frees the memory on the device, which is idle. */
static av_cold void close_device(void *priv)
{
    CUDABackend *s = priv;

    ff_gpume_cuda_free(&s->table);
    ff_gpume_cuda_padding_uninit(&s->gpu.cuda, &s->padding);
}

static av_cold void uninit(void *priv)
{
    CUDABackend *s = priv;

    ff_gpume_cuda_filter_close(&s->gpu, close_device, s);
    forget(s);
}

const MvdeintBackend ff_mvdeint_backend_cuda = {
    .common = {
        .hw_format = AV_PIX_FMT_CUDA, .priv_size = sizeof(CUDABackend),
        .init = init, .set_layout = set_layout, .uninit = uninit,
    },
    .load       = load,
    .alloc      = alloc,
    .estimate   = estimate,
    .make       = make,
    .put        = put,
    .copy       = copy,
};
