/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Denoises CUDA frames, on the stream of their device.
 *
 * Each frame is copied once, without padding bits and with repeated edges, and half samples are made of the
 * copy. Motion fields that gpume has left on the device are read there. Other vectors go up once, by one of
 * a ring of pinned buffers, which is waited for only when it comes round. The noise is estimated on the
 * device, and nothing but the device knows it: kernels that are queued look it up. As that takes few of its
 * multiprocessors, it is done on a stream of its own, beside what is made of the pictures before.
 */

#include <stddef.h>
#include <string.h>

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/avassert.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/log.h"

#include "libavfilter/gpume/mvdenoise/backend.h"
#include "libavfilter/gpume/mvdenoise/cuda_args.h"
#include "libavfilter/gpume/mvdenoise/modules.h"
#include "libavfilter/gpume/mvdenoise/over_time.h"
#include "libavfilter/gpume/device/uploads.h"
#include "libavfilter/gpume/field/cells.h"
#include "libavfilter/gpume/field/fields.h"
#include "libavfilter/gpume/picture/cuda_padded.h"
#include "libavfilter/gpume/picture/interpolation.h"

/** So that kernels of 32-bit coordinates and indices reach all of a picture. */
#define MAX_SIDE 32768

#define DECLARE(name, ...) GPUME_CUDA_DECLARE(name)
MVDENOISE_CUDA_MODULES(DECLARE)

static const struct {
    GpumeCudaCode code;
    enum MvdenoiseCudaFamily family;
    int depth, variant;
} modules[] = {
#define MODULE(name, family, depth, variant) \
    { GPUME_CUDA_CODE(name), MVDENOISE_CUDA_##family, depth, variant },
    MVDENOISE_CUDA_MODULES(MODULE)
};

/** Kernels. */
enum Kernel {
    MAP,
    CELLS,
    HALVES,
    MEASURE,
    ESTIMATE,
    MATCH,
    FIRST,
    SECOND,
    COMBINE,
    NB_KERNELS
};

static const struct {
    enum MvdenoiseCudaFamily family;
    int variant;                ///< to which, of stacks, the most patches of one are added
    const char *what;
} kernels[NB_KERNELS] = {
    [MAP]      = { MVDENOISE_CUDA_fields,   0, "map the vectors" },
    [CELLS]    = { MVDENOISE_CUDA_fields,   1, "read the vectors" },
    [HALVES]   = { MVDENOISE_CUDA_halves,   0, "make half samples" },
    [MEASURE]  = { MVDENOISE_CUDA_measure,  0, "measure the noise" },
    [ESTIMATE] = { MVDENOISE_CUDA_estimate, 0, "estimate the noise" },
    [MATCH]    = { MVDENOISE_CUDA_match,    0, "find matches" },
    [FIRST]    = { MVDENOISE_CUDA_stacks,   0, "denoise patches" },
    [SECOND]   = { MVDENOISE_CUDA_stacks,  10, "denoise patches again" },
    [COMBINE]  = { MVDENOISE_CUDA_combine,  0, "make a picture" },
};

/** Bytes of a picture's noise: MvdenoiseNoise of each component, by tones. */
#define NOISE_SIZE (GPUME_COMPONENTS * MVDENOISE_TONES * sizeof(MvdenoiseNoise))

/** A picture and what is made of it. */
typedef struct Slot {
    GpumeCudaBuffer noisy, pilot;   ///< copies: whole samples, then half samples
    GpumeCudaBuffer cells;          ///< of all fields
    CUevent estimated;              ///< the noise is known
    GpumeCudaBuffer curves;         ///< MvdenoiseCurve of each component
    int is_estimating;              ///< and what is queued next has not waited for it
} Slot;

typedef struct CUDABackend {
    const MvdenoiseConfig *cfg;
    const GpumeLayout *layout;
    GpumeCuda cuda;
    GpumeCudaLaunch launches[NB_KERNELS];
    int bytes;                      ///< of a sample
    int most;                       ///< patches of a stack for which there are kernels
    int failed;

    CUstream side;                  ///< on which the noise is estimated
    CUevent loaded;
    Slot slots[MVDENOISE_MAX_SLOTS];
    GpumeCellField fields[MVDENOISE_MAX_STACK];
    GpumeCudaUploads uploads;
    GpumeCudaBuffer table;          ///< MVDENOISE_CUDA_TABLE
    GpumeCudaBuffer estimate;       ///< MvdenoiseCudaEstimate
    GpumeCudaBuffer noise;          ///< MvdenoiseNoise of each component, by tones, of each slot

    /* of the layout */
    GpumeCells cells;
    GpumeCudaPadding padding;
    MvdenoiseCudaComponents patches, stacks;        ///< the same patches, in what has a block of threads each
    MvdenoiseCudaComponents blocks[2];              ///< blocks of the picture, and of it at half the size
    int nb_patches, nb_blocks[2];
    int patch_grid, stack_grid, block_grid[2];      ///< blocks of threads that have all of them
    GpumeCudaBuffer maps;           ///< of fields, 0
    GpumeCudaBuffer matches;        ///< of all fields
    GpumeCudaBuffer results, weights;
    GpumeCudaBuffer bins;           ///< MvdenoiseBins of each component, 0
    GpumeCudaBuffer means;          ///< of two pictures
    unsigned nb_measured;           ///< pictures
} CUDABackend;

static int check(CUDABackend *s, CUresult err, const char *what)
{
    return ff_gpume_cuda_check(&s->cuda, err, what);
}

#define TRY(call, what) \
    if ((ret = check(s, s->cuda.cu->call, what)) < 0) \
        return ret;

/* Push the context. What was queued before an error is not known, so nothing follows one. */
static int enter(CUDABackend *s)
{
    if (!s->failed)
        s->failed = ff_gpume_cuda_push(&s->cuda);
    return s->failed;
}

/* Pop it; returns what was done with it. */
static int leave(CUDABackend *s, int ret)
{
    ff_gpume_cuda_pop(&s->cuda);
    s->failed = FFMIN(ret, 0);
    return ret;
}

/* With the context pushed. */
static int launch_on(CUDABackend *s, CUstream stream, enum Kernel kernel, int x, int y, int z, void *args)
{
    GpumeCudaLaunch *l = &s->launches[kernel];

    l->grid[0] = x;
    l->grid[1] = y;
    return check(s, ff_gpume_cuda_launch(&s->cuda, l, z, args, stream), kernels[kernel].what);
}

static int launch(CUDABackend *s, enum Kernel kernel, int x, int y, int z, void *args)
{
    return launch_on(s, s->cuda.hwctx->stream, kernel, x, y, z, args);
}

static int divide_up(int n, int d)
{
    return (n + d - 1) / d;
}

/* Bytes of shared memory of a block of threads. */
static av_cold unsigned shared_of(const CUDABackend *s, enum Kernel kernel, int wide)
{
    switch (kernel) {
    case ESTIMATE: return MVDENOISE_CUDA_ESTIMATE_SHARED;
    case MATCH:    return MVDENOISE_CUDA_MATCH_SHARED(2 * s->cfg->radius, wide ? 8 : 4);
    case FIRST:    return MVDENOISE_CUDA_STACK_SHARED(s->most, 0);
    case SECOND:   return MVDENOISE_CUDA_STACK_SHARED(s->most, 1);
    default:       return 0;
    }
}

/* Which kernel finds matches. */
static av_cold int match_variant(const CUDABackend *s, int depth)
{
    if (depth > 8)
        return depth > MVDENOISE_CUDA_NARROW;
    return s->cuda.capability < 61 ? 0 : 2;
}

static av_cold int load_kernels(CUDABackend *s, int depth)
{
    const int bits = depth > 8 ? 16 : 8, match = match_variant(s, depth);

    for (int i = 0; i < NB_KERNELS; i++) {
        const int is_stacks = kernels[i].family == MVDENOISE_CUDA_stacks;
        const int variant   = kernels[i].variant + (is_stacks ? s->most : i == MATCH ? match : 0);
        GpumeCudaLaunch *l  = &s->launches[i];
        int ret;

        for (int j = 0; j < FF_ARRAY_ELEMS(modules); j++) {
            if (modules[j].family != kernels[i].family || modules[j].variant != variant ||
                modules[j].depth && modules[j].depth != bits)
                continue;
            ret = ff_gpume_cuda_load(&s->cuda, l, &modules[j].code);
            if (ret < 0)
                return ret;
        }
        av_assert0(l->function);
        l->threads = is_stacks ? MVDENOISE_CUDA_STACK_THREADS :
                     i == ESTIMATE ? MVDENOISE_CUDA_ESTIMATE_THREADS : MVDENOISE_CUDA_THREADS;
        l->shared  = shared_of(s, i, match == 1);
    }
    return ff_gpume_cuda_padding_init(&s->cuda, &s->padding, s->bytes);
}

/* With the context pushed. Room that does not depend on the layout, and what the kernels read of it. */
static av_cold int init_memory(CUDABackend *s)
{
    const int most = s->most;
    int32_t *table;
    int ret;

    ret = ff_gpume_cuda_uploads_init(&s->cuda, &s->uploads);
    if (ret >= 0)
        ret = ff_gpume_cuda_alloc(&s->cuda, &s->estimate, GPUME_CUDA_DEVICE, sizeof(MvdenoiseCudaEstimate),
                                  "an estimate");
    if (ret >= 0)
        ret = ff_gpume_cuda_alloc(&s->cuda, &s->noise, GPUME_CUDA_DEVICE,
                                  (MVDENOISE_MAX_SLOTS + 1) * NOISE_SIZE, "noise");
    if (ret >= 0)
        ret = ff_gpume_cuda_alloc(&s->cuda, &s->table, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED,
                                  MVDENOISE_CUDA_TABLE(most) * sizeof(*table), "tables");
    if (ret < 0)
        return ret;
    table = s->table.pinned;
    memset(table, 0, s->table.size);
    for (int nb = 1; nb <= most; nb++)
        for (int k = 0; k < nb; k++)
            for (int j = 0; j < nb; j++)
                table[((nb - 1) * most + k) * most + j] = over_time[nb - 1][k][j];
    for (int i = 0; i <= MVDENOISE_RATIOS; i++)
        table[most * most * most + i] = mvdenoise_gain(FFMIN(i, MVDENOISE_RATIOS - 1));
    TRY(cuMemcpyHtoDAsync(s->table.data, table, s->table.size, s->cuda.hwctx->stream), "upload tables")
    TRY(cuMemsetD8Async(s->estimate.data, 0, s->estimate.size, s->cuda.hwctx->stream), "clear an estimate")
    TRY(cuMemsetD8Async(s->noise.data, 0, s->noise.size, s->cuda.hwctx->stream), "clear noise")
    return 0;
}

/* With the context pushed. What estimates of the noise need to run beside the rest. */
static av_cold int init_side(CUDABackend *s)
{
    int ret;

    if (s->cfg->sigma)
        return 0;
    TRY(cuStreamCreate(&s->side, CU_STREAM_NON_BLOCKING), "create a stream")
    TRY(cuEventCreate(&s->loaded, CU_EVENT_DISABLE_TIMING), "create an event")
    for (int i = 0; i < MVDENOISE_MAX_SLOTS; i++)
        TRY(cuEventCreate(&s->slots[i].estimated, CU_EVENT_DISABLE_TIMING), "create an event")
    for (int i = 0; i < MVDENOISE_MAX_SLOTS; i++) {
        ret = ff_gpume_cuda_alloc(&s->cuda, &s->slots[i].curves, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED,
                                  GPUME_COMPONENTS * sizeof(MvdenoiseCurve), "estimates");
        if (ret < 0)
            return ret;
    }
    return 0;
}

static av_cold int init(void *priv, const MvdenoiseConfig *cfg)
{
    const AVHWFramesContext *frames = (const AVHWFramesContext *)cfg->hw_frames->data;
    CUDABackend *s = priv;
    GpumeLayout layout;
    int ret;

    s->cfg = cfg;
    ff_gpume_layout_init(&layout, frames->sw_format, frames->width, frames->height);
    s->bytes = layout.bytes;
    s->most  = cfg->radius < 2 ? 3 : cfg->radius < 3 ? 5 : MVDENOISE_MAX_STACK;
    ret = ff_gpume_cuda_open_of(&s->cuda, cfg->hw_frames, cfg->log_ctx, "download the frames before");
    if (ret < 0)
        return ret;
    ret = load_kernels(s, layout.depth);
    if (ret >= 0)
        ret = init_memory(s);
    if (ret >= 0)
        ret = init_side(s);
    ff_gpume_cuda_pop(&s->cuda);
    return ret;
}

static void forget(CUDABackend *s)
{
    GpumeCudaBuffer *const buffers[] = {
        &s->maps, &s->matches, &s->results, &s->weights, &s->bins, &s->means,
    };

    for (int i = 0; i < MVDENOISE_MAX_SLOTS; i++) {
        ff_gpume_cuda_free(&s->slots[i].noisy);
        ff_gpume_cuda_free(&s->slots[i].pilot);
        ff_gpume_cuda_free(&s->slots[i].cells);
    }
    for (int i = 0; i < FF_ARRAY_ELEMS(buffers); i++)
        ff_gpume_cuda_free(buffers[i]);
}

/*
 * Sets what rows of patches, or of blocks, the components have. Returns how many blocks of threads have them, each a
 * number across and down.
 */
static int set_rows(CUDABackend *s, MvdenoiseCudaComponents *components, int log2_block, int across, int down, int *nb)
{
    const GpumeLayout *l = s->layout;
    int grid = 0;

    *nb = 0;
    components->nb = l->nb_components;
    for (int i = 0; i < l->nb_components; i++) {
        const GpumeComponent *c = &l->components[i];
        MvdenoiseCudaComponent *to = &components->c[i];

        *to = (MvdenoiseCudaComponent) {
            .first = s->padding.first[i], .stride = s->padding.stride[i], .w = c->w, .h = c->h,
            .hsub = c->hsub, .vsub = c->vsub, .number = *nb, .block = grid,
            .cols = log2_block ? c->w >> log2_block : mvdenoise_patches(c->w),
            .rows = log2_block ? c->h >> log2_block : mvdenoise_patches(c->h),
        };
        *nb  += to->cols * to->rows;
        grid += divide_up(to->cols, across) * divide_up(to->rows, down);
    }
    return grid;
}

/* Memory that is there once it is needed, until the layout changes. With the context pushed. */
static int get_memory(CUDABackend *s, GpumeCudaBuffer *b, size_t size, const char *what)
{
    return b->data ? 0 : ff_gpume_cuda_alloc(&s->cuda, b, GPUME_CUDA_DEVICE, FFMAX(size, 1), what);
}

/* With the context pushed. Room for what is measured. */
static int get_measures(CUDABackend *s)
{
    int ret;

    ret = get_memory(s, &s->bins, GPUME_COMPONENTS * sizeof(MvdenoiseBins), "bins");
    if (ret >= 0)
        ret = get_memory(s, &s->means, 2 * sizeof(uint16_t) * s->blocks[0].c[0].cols * s->blocks[0].c[0].rows, "means");
    if (ret < 0)
        return ret;
    s->nb_measured = 0;
    TRY(cuMemsetD8Async(s->bins.data, 0, s->bins.size, s->cuda.hwctx->stream), "clear bins")
    return 0;
}

/* With the context pushed. */
static int change_layout(CUDABackend *s, const GpumeLayout *l)
{
    int ret = 0;

    /* what is in flight reads what is freed next */
    if (s->layout)
        TRY(cuStreamSynchronize(s->cuda.hwctx->stream), "wait for the device")
    if (s->layout && s->side)
        TRY(cuStreamSynchronize(s->side), "wait for the device")
    forget(s);
    s->layout = l;
    s->cells  = gpume_cells(l->w, l->h, MVDENOISE_LOG2_CELL, 1 << MVDENOISE_LOG2_CELL >> 1);
    s->patch_grid = set_rows(s, &s->patches, 0, MVDENOISE_CUDA_ROW, 1, &s->nb_patches);
    s->stack_grid = set_rows(s, &s->stacks, 0, MVDENOISE_CUDA_STACK_THREADS / MVDENOISE_CUDA_LANES,
                             MVDENOISE_CUDA_STACK_ROWS, &s->nb_patches);
    for (int i = 0; i < 2; i++)
        s->block_grid[i] = set_rows(s, &s->blocks[i], 3 + i, MVDENOISE_CUDA_ROW, 1, &s->nb_blocks[i]);
    ret = get_memory(s, &s->results, s->nb_patches * (size_t)MVDENOISE_SAMPLES * sizeof(uint16_t), "patches");
    if (ret >= 0)
        ret = get_memory(s, &s->weights, s->nb_patches * sizeof(uint16_t), "weights");
    if (ret >= 0 && s->cfg->radius)
        ret = get_memory(s, &s->matches, 2 * s->cfg->radius * (size_t)s->nb_patches * sizeof(uint32_t), "matches");
    if (ret >= 0 && !s->cfg->sigma)
        ret = get_measures(s);
    return ret;
}

static int set_layout(void *priv, const GpumeLayout *layout)
{
    CUDABackend *s = priv;
    int ret;

    if (FFMAX(layout->w, layout->h) > MAX_SIDE) {
        av_log(s->cuda.log_ctx, AV_LOG_ERROR, "mvdenoise does not support CUDA frames wider or higher than "
               "%d samples; put hwdownload before it.\n", MAX_SIDE);
        return AVERROR(ENOSYS);
    }
    /* kernels have 32-bit offsets into a copy */
    ff_gpume_cuda_padding_set(&s->padding, layout);
    if (s->padding.size > UINT32_MAX / GPUME_NB_PLANES) {
        av_log(s->cuda.log_ctx, AV_LOG_ERROR, "mvdenoise does not support CUDA frames as large as %dx%d in this "
               "format; put hwdownload before it.\n", layout->w, layout->h);
        return AVERROR(ENOSYS);
    }
    ret = enter(s);
    return ret < 0 ? ret : leave(s, change_layout(s, layout));
}

/* Makes half samples of a copy. With the context pushed. */
static int make_halves(CUDABackend *s, CUdeviceptr copy)
{
    const GpumeLayout *l = s->layout;
    const MvdenoiseCudaHalvesArgs args = {
        .components = s->patches, .copy = copy, .plane = s->padding.size, .depth = l->depth,
    };
    const int around = MVDENOISE_CUDA_BEFORE + MVDENOISE_CUDA_BEHIND;

    return launch(s, HALVES, divide_up(divide_up((l->w + around) * l->bytes, 4), 32),
                  divide_up(l->h + around, MVDENOISE_CUDA_WARPS * MVDENOISE_CUDA_HALVED), l->nb_components,
                  (void *)&args);
}

/*
 * Finds a frame's vectors on the device, of which there are some, for args->fields. They are there, or *up is
 * the upload that puts them there. With the context pushed.
 */
static int find_vectors(CUDABackend *s, MvdenoiseCudaFieldsArgs *args, const AVFrame *frame, GpumeCudaUpload **up)
{
    const GpumeFieldSet *set  = ff_gpume_fields_of(frame);
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const int is_there = set && set->on_device && set->device_ctx == ff_gpume_cuda_device_ctx(&s->cuda);
    const int radius   = s->cfg->radius;
    int ret;

    *up = NULL;
    if (!is_there) {
        ret = ff_gpume_cuda_uploads_next(&s->cuda, &s->uploads, sd->size, up);
        if (ret < 0)
            return ret;
        memcpy((*up)->buffer.pinned, sd->data, sd->size);
        ret = ff_gpume_cuda_upload(&s->cuda, *up, sd->size, "upload vectors");
        if (ret < 0)
            return ret;
    }
    for (int i = 0; i < 2 * radius; i++) {
        const GpumeCellField *f = &s->fields[i + (i >= radius)];

        if (!f->nb)
            continue;
        args->fields[i] = f->source;
        if (is_there) {
            /* there it is no list, even where it is one in memory */
            args->fields[i] = gpume_cell_source(gpume_field_at(set->device, set->nb, f->distance));
            continue;
        }
        args->fields[i].mvs = (*up)->buffer.data + (f->source.mvs - (uintptr_t)sd->data);
        if (f->is_list) {
            args->vectors = args->fields[i].mvs;
            args->nb      = f->nb;
        }
    }
    return 0;
}

/* Makes the cells of the fields that were found. With the context pushed. */
static int read_fields(CUDABackend *s, Slot *slot, const AVFrame *frame)
{
    const int nb_cells = s->cells.cols * s->cells.rows, nb = 2 * s->cfg->radius;
    const size_t size  = nb_cells * sizeof(uint32_t);
    MvdenoiseCudaFieldsArgs args = { .cells = s->cells, .radius = s->cfg->radius };
    GpumeCudaUpload *up;
    int ret;

    ret = get_memory(s, &slot->cells, nb * size, "cells");
    if (ret >= 0)
        ret = find_vectors(s, &args, frame, &up);
    if (ret < 0)
        return ret;
    args.to = slot->cells.data;
    if (args.nb) {
        if (!s->maps.data) {
            ret = get_memory(s, &s->maps, nb * size, "maps");
            if (ret < 0)
                return ret;
            TRY(cuMemsetD8Async(s->maps.data, 0, nb * size, s->cuda.hwctx->stream), "clear maps")
        }
        for (int i = 0; i < nb; i++)
            if (args.fields[i].mvs)
                args.fields[i].map = s->maps.data + i * size;
        ret = launch(s, MAP, divide_up(args.nb, MVDENOISE_CUDA_THREADS), 1, 1, &args);
    }
    if (ret >= 0)
        ret = launch(s, CELLS, divide_up(nb_cells, MVDENOISE_CUDA_THREADS), nb, 1, &args);
    return ret < 0 || !up ? ret : ff_gpume_cuda_upload_end(&s->cuda, up);
}

/** Where a picture that stays as it is has its noise, which is none: behind that of all slots. */
#define NO_NOISE MVDENOISE_MAX_SLOTS

static CUdeviceptr noise_of(const CUDABackend *s, int slot)
{
    return s->noise.data + slot * NOISE_SIZE;
}

/* Returns the slot of the next picture, or the oldest one. */
static Slot *next_slot(CUDABackend *s, const Slot *slot)
{
    const int nb_slots = (s->cfg->passes + 1) * s->cfg->radius + 1;

    return &s->slots[(slot - s->slots + 1) % nb_slots];
}

/* What is queued from now on comes after the estimate of a picture's noise. With the context pushed. */
static int wait_for_noise(CUDABackend *s, Slot *slot)
{
    int ret;

    if (!slot->is_estimating)
        return 0;
    TRY(cuStreamWaitEvent(s->cuda.hwctx->stream, slot->estimated, 0), "wait for an estimate")
    slot->is_estimating = 0;
    return 0;
}

/*
 * Has the blocks of a picture measured on the side stream, which has waited for the picture. With the context pushed.
 * @param before the slot of the picture before, if the picture has vectors into it, or -1
 */
static int measure(CUDABackend *s, int slot, int before, CUdeviceptr means)
{
    int ret = 0;

    /* at half the size only where no matches are compared */
    for (int i = 0; i < 2 - (before >= 0) && ret >= 0; i++) {
        MvdenoiseCudaMeasureArgs args = {
            .components = s->blocks[i], .cells = s->cells, .copy = s->slots[slot].noisy.data, .bins = s->bins.data,
            .means = means, .halved = i, .depth = s->layout->depth,
        };

        if (before >= 0) {
            args.before  = s->slots[before].noisy.data;
            args.vectors = s->slots[slot].cells.data +
                           (s->cfg->radius - 1) * (size_t)s->cells.cols * s->cells.rows * sizeof(uint32_t);
        }
        if (s->block_grid[i])
            ret = launch_on(s, s->side, MEASURE, s->block_grid[i], 1, 1, &args);
    }
    return ret;
}

/*
 * Estimates the noise of a picture, or notes what is given. With the context pushed.
 * @param before    the slot of the picture before, or -1: a sequence begins
 * @param has_field the picture has vectors into the one before
 */
static int find_noise(CUDABackend *s, int slot, int before, int has_field)
{
    const MvdenoiseCudaComponent *first = &s->blocks[0].c[0];
    const size_t size = sizeof(uint16_t) * first->cols * first->rows;
    MvdenoiseCudaEstimateArgs args = {
        .bins = s->bins.data, .estimate = s->estimate.data, .noise = noise_of(s, slot),
        .noise_before = noise_of(s, FFMAX(before, 0)), .nb_means = first->cols * first->rows,
        .has_field = before >= 0 && has_field, .sigma = s->cfg->sigma, .single = s->cfg->single,
        .strength = s->cfg->strength, .nb = s->layout->nb_components, .depth = s->layout->depth,
        .grid = s->cfg->sigma ? 1 : s->layout->nb_components + 1,
        .curves = s->slots[slot].curves.data, .curves_before = s->slots[FFMAX(before, 0)].curves.data,
    };
    GpumeCudaBuffer *curves = &s->slots[slot].curves;
    int ret;

    for (int i = 0; i < s->layout->nb_components; i++) {
        args.chosen      |= mvdenoise_is_chosen(s->cfg, s->layout, i) << i;
        args.nb_blocks[i] = s->blocks[0].c[i].cols * s->blocks[0].c[i].rows;
    }
    if (s->cfg->sigma)
        return launch(s, ESTIMATE, args.grid, 1, 1, &args);
    s->nb_measured++;
    args.means        = s->means.data + (s->nb_measured & 1) * size;
    args.means_before = before < 0 ? 0 : s->means.data + !(s->nb_measured & 1) * size;
    TRY(cuEventRecord(s->loaded, s->cuda.hwctx->stream), "record an event")
    TRY(cuStreamWaitEvent(s->side, s->loaded, 0), "wait for a picture")
    ret = measure(s, slot, args.has_field ? before : -1, args.means);
    if (ret >= 0)
        ret = launch_on(s, s->side, ESTIMATE, args.grid, 1, 1, &args);
    if (ret < 0)
        return ret;
    for (int i = 0; i < 2; i++) {
        TRY(cuMemcpyDtoHAsync(curves->pinned, curves->data, curves->size, s->side), "download estimates")
        /* that of the picture before may have changed, too */
        curves = &s->slots[FFMAX(before, 0)].curves;
    }
    TRY(cuEventRecord(s->slots[slot].estimated, s->side), "record an event")
    s->slots[slot].is_estimating = 1;
    return 0;
}

/* With the context pushed. */
static int load_picture(CUDABackend *s, int number, const AVFrame *frame, const AVFrame *samples, int before, int *has)
{
    const int radius = s->cfg->radius;
    Slot *slot = &s->slots[number];
    int any = 0, ret;

    for (int i = 0; i < 2 * radius + 1; i++) {
        GpumeCellField *f = &s->fields[i];

        has[i] = i != radius && ff_gpume_cells_find(f, &s->cells, frame, i - radius);
        f->nb  = has[i] ? FFMIN(f->nb, INT_MAX / MVDENOISE_CUDA_THREADS) : 0;
        any   |= has[i];
    }
    /* the side stream may still read what the slot had: for the estimate of that picture, and of the one behind it */
    ret = wait_for_noise(s, slot);
    if (ret >= 0)
        ret = wait_for_noise(s, next_slot(s, slot));
    if (ret >= 0)
        ret = get_memory(s, &slot->noisy, s->padding.size * (radius ? GPUME_NB_PLANES : 1), "a picture");
    if (ret >= 0)
        ret = ff_gpume_cuda_padded_load(&s->cuda, &s->padding, s->layout, samples, slot->noisy.data);
    if (ret >= 0 && radius)
        ret = make_halves(s, slot->noisy.data);
    if (ret >= 0 && any)
        ret = read_fields(s, slot, frame);
    return ret < 0 ? ret : find_noise(s, number, before, radius && has[radius - 1]);
}

static int load(void *priv, int slot, const AVFrame *frame, const AVFrame *samples, int before, int *has,
                MvdenoiseMeasure *measures)
{
    CUDABackend *s = priv;
    const int ret  = enter(s);

    return ret < 0 ? ret : leave(s, load_picture(s, slot, frame, samples, before, has));
}

/* Finds matches in the pictures around. With the context pushed. */
static int find_matches(CUDABackend *s, const MvdenoiseStep *step, MvdenoiseCudaStacksArgs *stacks)
{
    const int radius   = step->radius, current = step->slots[radius];
    const size_t cells = (size_t)s->cells.cols * s->cells.rows * sizeof(uint32_t);
    const size_t size  = s->nb_patches * sizeof(uint32_t);
    MvdenoiseCudaMatchArgs args = {
        .components = s->patches, .cells = s->cells, .plane = s->padding.size, .noise = noise_of(s, current),
        .own = step->second ? s->slots[current].pilot.data : s->slots[current].noisy.data, .second = step->second,
        .depth = s->layout->depth,
    };

    for (int i = 0; i < 2 * radius; i++) {
        const int slot = step->slots[i + (i >= radius)], nb = args.nb;

        if (slot < 0)
            continue;
        args.pictures[nb] = step->second ? s->slots[slot].pilot.data : s->slots[slot].noisy.data;
        args.vectors[nb]  = s->slots[current].cells.data + i * cells;
        args.matches[nb]  = s->matches.data + i * size;
        stacks->matches[MVDENOISE_MAX_RADIUS - radius + i] = args.matches[nb];
        args.nb++;
    }
    return args.nb ? launch(s, MATCH, s->patch_grid, 1, 1, &args) : 0;
}

/* Makes a frame, or the pilot, of the patches. With the context pushed. */
static int combine(CUDABackend *s, const MvdenoiseStep *step)
{
    const GpumeLayout *l = s->layout;
    const int current    = step->slots[step->radius], around = step->out ? 0 : 2 * GPUME_PAD;
    MvdenoiseCudaCombineArgs args = {
        .components = s->patches, .noisy = s->slots[current].noisy.data,
        .noise   = noise_of(s, step->keep ? NO_NOISE : current),
        .results = s->results.data, .weights = s->weights.data, .depth = l->depth, .shift = l->shift,
    };

    if (!step->out)
        args.copy = s->slots[current].pilot.data;
    for (int i = 0; i < l->nb_components && step->out; i++)
        args.planes[i] = ff_gpume_cuda_component(&s->padding, l, i, step->out, 0);
    return launch(s, COMBINE, divide_up(l->w + around, 32),
                  divide_up(l->h + around, MVDENOISE_CUDA_WARPS * MVDENOISE_CUDA_COMBINED), l->nb_components, &args);
}

/* With the context pushed. */
static int make_picture(CUDABackend *s, const MvdenoiseStep *step)
{
    const int radius = step->radius;
    Slot *current    = &s->slots[step->slots[radius]];
    MvdenoiseCudaStacksArgs args = {
        .components = s->stacks, .plane = s->padding.size, .noise = noise_of(s, step->slots[radius]),
        .table = s->table.data, .results = s->results.data, .weights = s->weights.data, .depth = s->layout->depth,
    };
    int ret = 0;

    for (int i = 0; i < 2 * radius + 1; i++)
        if (step->slots[i] >= 0) {
            args.noisy[MVDENOISE_MAX_RADIUS - radius + i] = s->slots[step->slots[i]].noisy.data;
            args.pilot[MVDENOISE_MAX_RADIUS - radius + i] = s->slots[step->slots[i]].pilot.data;
        }
    if (!step->out)
        ret = get_memory(s, &current->pilot, s->padding.size * (radius ? GPUME_NB_PLANES : 1), "a pilot");
    if (ret >= 0)
        ret = wait_for_noise(s, current);
    /* it may have set that of the current picture, too */
    if (ret >= 0)
        ret = wait_for_noise(s, next_slot(s, current));
    if (ret >= 0 && step->keep)
        return combine(s, step);
    if (ret >= 0)
        ret = find_matches(s, step, &args);
    if (ret >= 0)
        ret = launch(s, step->second ? SECOND : FIRST, s->stack_grid, 1, 1, &args);
    if (ret >= 0)
        ret = combine(s, step);
    return ret < 0 || step->out || !radius ? ret : make_halves(s, current->pilot.data);
}

static int make(void *priv, const MvdenoiseStep *step)
{
    CUDABackend *s = priv;
    const int ret  = enter(s);

    return ret < 0 ? ret : leave(s, make_picture(s, step));
}

/* Waits for the estimate, which has long been made as others follow. */
static int get_curves(void *priv, int slot, MvdenoiseCurve *curves)
{
    CUDABackend *s   = priv;
    const Slot *next = next_slot(s, &s->slots[slot]);
    int ret          = enter(s);

    if (ret < 0)
        return ret;
    ret = check(s, s->cuda.cu->cuEventSynchronize(s->slots[slot].estimated), "wait for an estimate");
    if (ret >= 0)
        ret = check(s, s->cuda.cu->cuEventSynchronize(next->estimated), "wait for an estimate");
    memcpy(curves, s->slots[slot].curves.pinned, s->layout->nb_components * sizeof(*curves));
    return leave(s, ret);
}

static av_cold void uninit(void *priv)
{
    CUDABackend *s = priv;

    if (s->cuda.device && ff_gpume_cuda_push_to_free(&s->cuda)) {
        /* what is in flight reads what is freed next */
        s->cuda.cu->cuStreamSynchronize(s->cuda.hwctx->stream);
        if (s->side) {
            s->cuda.cu->cuStreamSynchronize(s->side);
            s->cuda.cu->cuStreamDestroy(s->side);
        }
        if (s->loaded)
            s->cuda.cu->cuEventDestroy(s->loaded);
        for (int i = 0; i < MVDENOISE_MAX_SLOTS; i++)
            if (s->slots[i].estimated)
                s->cuda.cu->cuEventDestroy(s->slots[i].estimated);
        for (int i = 0; i < MVDENOISE_MAX_SLOTS; i++)
            ff_gpume_cuda_free(&s->slots[i].curves);
        ff_gpume_cuda_uploads_free(&s->cuda, &s->uploads);
        ff_gpume_cuda_free(&s->table);
        ff_gpume_cuda_free(&s->estimate);
        ff_gpume_cuda_free(&s->noise);
        for (int i = 0; i < NB_KERNELS; i++)
            ff_gpume_cuda_unload(&s->cuda, &s->launches[i]);
        ff_gpume_cuda_padding_uninit(&s->cuda, &s->padding);
        ff_gpume_cuda_pop(&s->cuda);
    }
    forget(s);
    ff_gpume_cuda_close(&s->cuda);
}

const MvdenoiseBackend ff_mvdenoise_backend_cuda = {
    .priv_size  = sizeof(CUDABackend),
    .hw_format  = AV_PIX_FMT_CUDA,
    .estimates  = 1,
    .init       = init,
    .set_layout = set_layout,
    .load       = load,
    .make       = make,
    .get_curves = get_curves,
    .uninit     = uninit,
};
