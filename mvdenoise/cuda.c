/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Denoises CUDA frames on the stream of their device.
 *
 * Each frame is copied once, without padding bits and with repeated edges, and half samples are
 * computed from the copy. Motion fields that gpume has left on the device are read there. Other
 * vectors are uploaded once, from a ring of pinned buffers; the host waits for a buffer only when
 * its turn comes again. The device estimates the noise. Later kernels read the estimate, so the
 * host does not wait for it. The estimate occupies few multiprocessors, so it runs on its own
 * stream while previous pictures are denoised.
 */

#include <stddef.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/log.h"

#include "libavfilter/gpume/mvdenoise/backend.h"
#include "libavfilter/gpume/mvdenoise/cuda_args.h"
#include "libavfilter/gpume/mvdenoise/modules.h"
#include "libavfilter/gpume/mvdenoise/over_time.h"
#include "libavfilter/gpume/mvdenoise/unclip.h"
#include "libavfilter/gpume/cuda_common/filter.h"
#include "libavfilter/gpume/field/cuda_cells.h"
#include "libavfilter/gpume/picture/cuda_padded.h"
#include "libavfilter/gpume/picture/interpolation.h"

GPUME_CUDA_FILTER_MODULES(MVDENOISE_CUDA_MODULES)

/** Kernels. */
enum Kernel {
    HALVES,
    MEASURE,
    ESTIMATE,
    MATCH,
    FIRST,
    SECOND,
    COMBINE,
    NB_KERNELS
};

/*
 * The variants of FIRST and SECOND are increased by the largest number of patches of a stack. MATCH
 * has a variant for each kind of samples. Shared memory depends on the options, see shared_of().
 */
static const GpumeCudaFilterKernel kernels[NB_KERNELS] = {
    [HALVES]   = { "halves",   0, MVDENOISE_CUDA_THREADS, 0, "make half samples" },
    [MEASURE]  = { "measure",  0, MVDENOISE_CUDA_THREADS, 0, "measure the noise" },
    [ESTIMATE] = { "estimate", 0, MVDENOISE_CUDA_ESTIMATE_THREADS, 0, "estimate the noise" },
    [MATCH]    = { "match",    0, MVDENOISE_CUDA_THREADS, 0, "find matches" },
    [FIRST]    = { "stacks",   0, MVDENOISE_CUDA_STACK_THREADS, 0, "denoise patches" },
    [SECOND]   = { "stacks",  10, MVDENOISE_CUDA_STACK_THREADS, 0, "denoise patches again" },
    [COMBINE]  = { "combine",  0, MVDENOISE_CUDA_THREADS, 0, "make a picture" },
};

/** Size of a picture's noise in bytes: MvdenoiseNoise of each component, by tones. */
#define NOISE_SIZE (GPUME_COMPONENTS * MVDENOISE_TONES * sizeof(MvdenoiseNoise))

/** A picture and data derived from it. */
typedef struct Slot {
    GpumeCudaBuffer noisy, pilot;   ///< copies: whole samples, then half samples
    GpumeCudaBuffer cells;          ///< cells of all fields
    CUevent estimated;              ///< recorded when the noise is known
    GpumeCudaBuffer curves;         ///< MvdenoiseCurve of each component
    int strength;                   ///< MvdenoiseConfig.strength when the picture was loaded
    int is_estimating;              ///< whether work on the main stream has not yet been ordered after the estimate
} Slot;

typedef struct CUDABackend {
    const MvdenoiseConfig *cfg;
    const GpumeLayout *layout;
    GpumeCudaFilter gpu;
    int bytes;                      ///< bytes of a sample
    int most;                       ///< largest number of patches of a stack for which there are kernels

    CUstream side;                  ///< stream on which the noise is estimated
    CUevent loaded;
    Slot slots[MVDENOISE_MAX_SLOTS];
    GpumeCellField fields[2 * MVDENOISE_MAX_RADIUS];    ///< from distance -radius to radius, without 0
    GpumeCudaCells reader;
    GpumeCudaBuffer table;          ///< MVDENOISE_CUDA_TABLE
    GpumeCudaBuffer estimate;       ///< MvdenoiseCudaEstimate
    GpumeCudaBuffer noise;          ///< MvdenoiseNoise of each component, by tones, of each slot

    /* the following depend on the layout */
    GpumeCells cells;
    GpumeCudaPadding padding;
    MvdenoiseCudaComponents patches, stacks;        ///< patches: for kernels with a thread block for each group of
                                                    ///< patches; stacks: the same for stacks.cu
    MvdenoiseCudaComponents blocks[2];              ///< blocks of the picture, and of it at half the size
    int nb_patches, nb_blocks[2];
    int patch_grid, stack_grid, block_grid[2];      ///< number of thread blocks for them
    /** Matches in all fields: of the first of two passes, see MvdenoiseStep.matches; then of the last pass. */
    GpumeCudaBuffer matches[MVDENOISE_MAX_RADIUS + 2];
    GpumeCudaBuffer results, weights;
    GpumeCudaBuffer bins;           ///< MvdenoiseBins of each component, 0
    GpumeCudaBuffer measured;       ///< MvdenoiseBlock of each block
    GpumeCudaBuffer means;          ///< means of two pictures
    unsigned nb_measured;           ///< number of pictures measured
} CUDABackend;

/* Returns the size of shared memory of a thread block, in bytes. */
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

/* Returns the variant of the kernel that finds matches. */
static av_cold int match_variant(const CUDABackend *s, int depth)
{
    if (depth > 8)
        return depth > MVDENOISE_CUDA_NARROW;
    return s->gpu.cuda.capability < 61 ? 0 : 2;
}

static av_cold int load_kernels(CUDABackend *s, int depth)
{
    const int match = match_variant(s, depth);
    int ret = ff_gpume_cuda_cells_init(&s->gpu, &s->reader);

    for (int i = 0; i < NB_KERNELS && ret >= 0; i++) {
        GpumeCudaFilterKernel kernel = kernels[i];

        kernel.variant += i == FIRST || i == SECOND ? s->most : i == MATCH ? match : 0;
        kernel.shared   = shared_of(s, i, match == 1);
        ret = ff_gpume_cuda_filter_load(&s->gpu, i, &kernel, modules, depth);
    }
    return ret < 0 ? ret : ff_gpume_cuda_padding_init(&s->gpu.cuda, &s->padding, s->bytes);
}

/* Allocates memory that does not depend on the layout, and uploads tables. The caller has pushed the CUDA context. */
static av_cold int init_memory(CUDABackend *s)
{
    const int most = s->most;
    int32_t *table;
    int ret;

    if ((ret = ff_gpume_cuda_filter_memory(&s->gpu, &s->estimate, sizeof(MvdenoiseCudaEstimate), "an estimate")) < 0 ||
        (ret = ff_gpume_cuda_filter_memory(&s->gpu, &s->noise, (MVDENOISE_MAX_SLOTS + 1) * NOISE_SIZE, "noise")) < 0 ||
        (ret = ff_gpume_cuda_alloc(&s->gpu.cuda, &s->table, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED,
                                   MVDENOISE_CUDA_TABLE(most) * sizeof(*table), "tables")) < 0)
        return ret;
    table = s->table.pinned;
    memset(table, 0, s->table.size);
    for (int nb = 1; nb <= most; nb++)
        for (int k = 0; k < nb; k++)
            for (int j = 0; j < nb; j++)
                table[((nb - 1) * most + k) * most + j] = mvdenoise_over_time[nb - 1][k][j];
    for (int i = 0; i <= MVDENOISE_RATIOS; i++)
        table[most * most * most + i] = mvdenoise_gain(FFMIN(i, MVDENOISE_RATIOS - 1));
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuMemcpyHtoDAsync(s->table.data, table, s->table.size,
                                                          ff_gpume_cuda_filter_stream(&s->gpu)),
                               "upload tables")) < 0 ||
        (ret = GPUME_CUDA_CALL(&s->gpu, cuMemsetD8Async(s->estimate.data, 0, s->estimate.size,
                                                        ff_gpume_cuda_filter_stream(&s->gpu)),
                               "clear an estimate")) < 0 ||
        (ret = GPUME_CUDA_CALL(&s->gpu, cuMemsetD8Async(s->noise.data, 0, s->noise.size,
                                                        ff_gpume_cuda_filter_stream(&s->gpu)), "clear noise")) < 0)
        return ret;
    return 0;
}

/* Creates the stream and the events of noise estimates. The caller has pushed the CUDA context. */
static av_cold int init_side(CUDABackend *s)
{
    int ret;

    if (s->cfg->sigma)
        return 0;
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuStreamCreate(&s->side, CU_STREAM_NON_BLOCKING), "create a stream")) < 0 ||
        (ret = GPUME_CUDA_CALL(&s->gpu, cuEventCreate(&s->loaded, CU_EVENT_DISABLE_TIMING), "create an event")) < 0)
        return ret;
    for (int i = 0; i < MVDENOISE_MAX_SLOTS; i++)
        if ((ret = GPUME_CUDA_CALL(&s->gpu, cuEventCreate(&s->slots[i].estimated, GPUME_CUDA_WAITED),
                                   "create an event")) < 0)
            return ret;
    for (int i = 0; i < MVDENOISE_MAX_SLOTS; i++) {
        ret = ff_gpume_cuda_alloc(&s->gpu.cuda, &s->slots[i].curves, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED,
                                  GPUME_COMPONENTS * sizeof(MvdenoiseCurve), "estimates");
        if (ret < 0)
            return ret;
    }
    return 0;
}

static av_cold int init(void *priv, const void *config, const GpumeLayout *layout)
{
    const MvdenoiseConfig *cfg = config;
    CUDABackend *s = priv;
    int ret;

    s->cfg = cfg;
    s->bytes = layout->bytes;
    s->most  = FFMAX(2 * cfg->radius + 1, 3);
    ret = ff_gpume_cuda_filter_open(&s->gpu, cfg->hw_frames, cfg->log_ctx);
    if (ret < 0)
        return ret;
    if ((ret = load_kernels(s, layout->depth)) >= 0 &&
        (ret = init_memory(s)) >= 0)
        ret = init_side(s);
    ff_gpume_cuda_pop(&s->gpu.cuda);
    return ret;
}

static void forget(CUDABackend *s)
{
    GpumeCudaBuffer *const buffers[] = {
        &s->results, &s->weights, &s->bins, &s->measured, &s->means,
    };

    for (int i = 0; i < MVDENOISE_MAX_SLOTS; i++) {
        ff_gpume_cuda_free(&s->slots[i].noisy);
        ff_gpume_cuda_free(&s->slots[i].pilot);
        ff_gpume_cuda_free(&s->slots[i].cells);
    }
    for (int i = 0; i < FF_ARRAY_ELEMS(buffers); i++)
        ff_gpume_cuda_free(buffers[i]);
    for (int i = 0; i < FF_ARRAY_ELEMS(s->matches); i++)
        ff_gpume_cuda_free(&s->matches[i]);
    ff_gpume_cuda_cells_forget(&s->reader);
}

/*
 * Sets the rows of patches, or of blocks, of the components. Returns the number of thread blocks,
 * each of which has 'across' times 'down' of them.
 */
static int set_rows(CUDABackend *s, MvdenoiseCudaComponents *components, int log2_block, int across, int down, int *nb)
{
    const GpumeLayout *l = s->layout;
    int grid = 0;

    *nb = 0;
    components->nb = l->nb_components;
    components->log2_step = mvdenoise_log2_step(s->cfg);
    for (int i = 0; i < l->nb_components; i++) {
        const GpumeComponent *c = &l->components[i];
        MvdenoiseCudaComponent *to = &components->c[i];

        *to = (MvdenoiseCudaComponent) {
            .first = s->padding.first[i], .stride = s->padding.stride[i], .w = c->w, .h = c->h,
            .hsub = c->hsub, .vsub = c->vsub, .number = *nb, .block = grid,
            .cols = log2_block ? c->w >> log2_block : mvdenoise_cols(c->w),
            .rows = log2_block ? c->h >> log2_block : mvdenoise_rows(c->h, components->log2_step),
        };
        *nb  += to->cols * to->rows;
        grid += gpume_divide_up(to->cols, across) * gpume_divide_up(to->rows, down);
    }
    return grid;
}

/* Allocates memory for measurements. The caller has pushed the CUDA context. */
static int get_measures(CUDABackend *s)
{
    int ret;

    if ((ret = ff_gpume_cuda_filter_memory(&s->gpu, &s->bins, GPUME_COMPONENTS * sizeof(MvdenoiseBins), "bins")) < 0 ||
        (ret = ff_gpume_cuda_filter_memory(&s->gpu, &s->measured, s->nb_blocks[0] * sizeof(MvdenoiseBlock),
                                           "blocks")) < 0 ||
        (ret = ff_gpume_cuda_filter_memory(&s->gpu, &s->means, 2 * sizeof(uint16_t) * s->blocks[0].c[0].cols *
                                           s->blocks[0].c[0].rows, "means")) < 0)
        return ret;
    s->nb_measured = 0;
    return GPUME_CUDA_CALL(&s->gpu, cuMemsetD8Async(s->bins.data, 0, s->bins.size,
                                                    ff_gpume_cuda_filter_stream(&s->gpu)), "clear bins");
}

/* Adapts the memory to a new layout. The caller has pushed the CUDA context; the stream of the frames is idle. */
static int change_layout(CUDABackend *s, const GpumeLayout *l)
{
    int ret = s->layout && s->side ? ff_gpume_cuda_filter_wait(&s->gpu, s->side) : 0;

    if (ret < 0)
        return ret;
    /* kernels have 32-bit offsets into a copy */
    ff_gpume_cuda_padding_set(&s->padding, l);
    if (s->padding.size > UINT32_MAX / GPUME_NB_PLANES) {
        av_log(s->gpu.cuda.log_ctx, AV_LOG_ERROR, "mvdenoise does not support CUDA frames as large as %dx%d in this "
               "format; insert hwdownload before it.\n", l->w, l->h);
        return AVERROR(ENOSYS);
    }
    forget(s);
    s->layout = l;
    s->cells  = gpume_cells(l->w, l->h, MVDENOISE_LOG2_CELL, 1 << MVDENOISE_LOG2_CELL >> 1);
    s->patch_grid = set_rows(s, &s->patches, 0, MVDENOISE_CUDA_ROW, 1, &s->nb_patches);
    s->stack_grid = set_rows(s, &s->stacks, 0, MVDENOISE_CUDA_STACK_THREADS / MVDENOISE_CUDA_LANES,
                             MVDENOISE_CUDA_STACK_ROWS, &s->nb_patches);
    for (int i = 0; i < 2; i++)
        s->block_grid[i] = set_rows(s, &s->blocks[i], 3 + i, MVDENOISE_CUDA_ROW, 1, &s->nb_blocks[i]);
    if ((ret = ff_gpume_cuda_filter_memory(&s->gpu, &s->results, s->nb_patches * (size_t)MVDENOISE_SAMPLES *
                                           sizeof(uint16_t), "patches")) < 0 ||
        (ret = ff_gpume_cuda_filter_memory(&s->gpu, &s->weights, s->nb_patches * sizeof(uint16_t), "weights")) < 0)
        return ret;
    return s->cfg->sigma ? 0 : get_measures(s);
}

static int set_layout(void *priv, const GpumeLayout *layout)
{
    CUDABackend *s = priv;
    const int ret = ff_gpume_cuda_filter_enter_resized(&s->gpu, "mvdenoise", layout->w, layout->h);

    return ret < 0 ? ret : ff_gpume_cuda_filter_leave(&s->gpu, change_layout(s, layout));
}

/* Makes half samples of a copy. With the context pushed. */
static int make_halves(CUDABackend *s, CUdeviceptr copy)
{
    const GpumeLayout *l = s->layout;
    const MvdenoiseCudaHalvesArgs args = {
        .components = s->patches, .copy = copy, .plane = s->padding.size, .depth = l->depth,
    };
    const int around = MVDENOISE_CUDA_BEFORE + MVDENOISE_CUDA_BEHIND;

    return ff_gpume_cuda_filter_launch(&s->gpu, HALVES,
                                       gpume_divide_up(gpume_divide_up((l->w + around) * l->bytes, 4), 32),
                                       gpume_divide_up(l->h + around, MVDENOISE_CUDA_WARPS * MVDENOISE_CUDA_HALVED),
                                       l->nb_components, &args);
}

/* Makes the cells of the fields that were found. The context is pushed. */
static int read_fields(CUDABackend *s, Slot *slot, const AVFrame *frame)
{
    const int nb = 2 * s->cfg->radius;
    int ret;

    ret = ff_gpume_cuda_filter_memory(&s->gpu, &slot->cells,
                                      nb * sizeof(uint32_t) * s->cells.cols * s->cells.rows, "cells");
    return ret < 0 ? ret : ff_gpume_cuda_cells_read(&s->gpu, &s->reader, &s->cfg->executor, frame, s->fields, nb,
                                                    slot->cells.data);
}

/** Index of the noise of a picture that passes unchanged, which is zero; after those of all slots. */
#define NO_NOISE MVDENOISE_MAX_SLOTS

static CUdeviceptr noise_of(const CUDABackend *s, int slot)
{
    return s->noise.data + slot * NOISE_SIZE;
}

/* Returns the slot of the next picture, or the oldest slot. */
static Slot *next_slot(CUDABackend *s, const Slot *slot)
{
    const int nb_slots = (s->cfg->passes + 1) * s->cfg->radius + 1;

    return &s->slots[(slot - s->slots + 1) % nb_slots];
}

/* Orders all later work after the estimate of a picture's noise. The caller has pushed the CUDA context. */
static int wait_for_noise(CUDABackend *s, Slot *slot)
{
    int ret;

    if (!slot->is_estimating)
        return 0;
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuStreamWaitEvent(ff_gpume_cuda_filter_stream(&s->gpu), slot->estimated, 0),
                               "wait for an estimate")) < 0)
        return ret;
    slot->is_estimating = 0;
    return 0;
}

/*
 * Measures the blocks of a picture on the side stream, which already waits for the picture. The
 * caller has pushed the CUDA context.
 * @param before slot of the previous picture if the picture has vectors into it, or -1
 */
static int measure(CUDABackend *s, int slot, int before, CUdeviceptr means)
{
    int ret = 0;

    /* measures at half the size only if no matches are compared */
    for (int i = 0; i < 2 - (before >= 0) && ret >= 0; i++) {
        MvdenoiseCudaMeasureArgs args = {
            .components = s->blocks[i], .cells = s->cells, .copy = s->slots[slot].noisy.data, .bins = s->bins.data,
            .blocks = s->measured.data, .means = means, .halved = i, .depth = s->layout->depth,
        };

        if (before >= 0) {
            args.before  = s->slots[before].noisy.data;
            args.vectors = s->slots[slot].cells.data +
                           (s->cfg->radius - 1) * (size_t)s->cells.cols * s->cells.rows * sizeof(uint32_t);
        }
        if (s->block_grid[i])
            ret = ff_gpume_cuda_filter_launch_on(&s->gpu, s->side, MEASURE, s->block_grid[i], 1, 1, &args);
    }
    return ret;
}

/*
 * Estimates the noise of a picture, or sets it from the options. The caller has pushed the CUDA
 * context.
 * @param before    slot of the previous picture, or -1 at the beginning of a sequence
 * @param has_field whether the picture has vectors into the previous one
 */
static int find_noise(CUDABackend *s, int slot, int before, int has_field)
{
    const MvdenoiseCudaComponent *first = &s->blocks[0].c[0];
    const size_t size = sizeof(uint16_t) * first->cols * first->rows;
    MvdenoiseCudaEstimateArgs args = {
        .bins = s->bins.data, .blocks = s->measured.data, .estimate = s->estimate.data, .noise = noise_of(s, slot),
        .noise_before = noise_of(s, FFMAX(before, 0)), .nb_means = first->cols * first->rows,
        .has_field = before >= 0 && has_field, .sigma = s->cfg->sigma, .single = s->cfg->single,
        .strength = s->slots[slot].strength, .strength_before = s->slots[FFMAX(before, 0)].strength,
        .nb = s->layout->nb_components, .depth = s->layout->depth,
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
        return ff_gpume_cuda_filter_launch(&s->gpu, ESTIMATE, args.grid, 1, 1, &args);
    s->nb_measured++;
    args.means        = s->means.data + (s->nb_measured & 1) * size;
    args.means_before = before < 0 ? 0 : s->means.data + !(s->nb_measured & 1) * size;
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuEventRecord(s->loaded, ff_gpume_cuda_filter_stream(&s->gpu)),
                               "record an event")) < 0 ||
        (ret = GPUME_CUDA_CALL(&s->gpu, cuStreamWaitEvent(s->side, s->loaded, 0), "wait for a picture")) < 0)
        return ret;
    ret = measure(s, slot, args.has_field ? before : -1, args.means);
    if (ret < 0 ||
        (ret = ff_gpume_cuda_filter_launch_on(&s->gpu, s->side, ESTIMATE, args.grid, 1, 1, &args)) < 0)
        return ret;
    for (int i = 0; i < 2; i++) {
        if ((ret = GPUME_CUDA_CALL(&s->gpu, cuMemcpyDtoHAsync(curves->pinned, curves->data, curves->size, s->side),
                                   "download estimates")) < 0)
            return ret;
        /* the estimate may change the curve of the previous picture, too */
        curves = &s->slots[FFMAX(before, 0)].curves;
    }
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuEventRecord(s->slots[slot].estimated, s->side), "record an event")) < 0)
        return ret;
    s->slots[slot].is_estimating = 1;
    return 0;
}

/* Loads a picture into a slot. The caller has pushed the CUDA context. */
static int load_picture(CUDABackend *s, int number, const AVFrame *frame, const AVFrame *samples, int before, int *has)
{
    const int radius = s->cfg->radius;
    Slot *slot = &s->slots[number];
    int any = 0, ret;

    has[radius]    = 0;
    slot->strength = s->cfg->strength;
    for (int i = 0; i < 2 * radius; i++) {
        const int n = i + (i >= radius);

        has[n] = ff_gpume_cuda_cells_find(&s->fields[i], &s->cells, frame, n - radius);
        any   |= has[n];
    }
    /* the side stream may still read the slot's old data, for the estimates of that picture and of the next one */
    if ((ret = wait_for_noise(s, slot)) < 0 ||
        (ret = wait_for_noise(s, next_slot(s, slot))) < 0 ||
        (ret = ff_gpume_cuda_filter_memory(&s->gpu, &slot->noisy, s->padding.size * (radius ? GPUME_NB_PLANES : 1),
                                           "a picture")) < 0 ||
        (ret = ff_gpume_cuda_padded_load(&s->gpu.cuda, &s->padding, s->layout, samples, slot->noisy.data)) < 0 ||
        radius && (ret = make_halves(s, slot->noisy.data)) < 0 ||
        any && (ret = read_fields(s, slot, frame)) < 0)
        return ret;
    return find_noise(s, number, before, radius && has[radius - 1]);
}

static int load(void *priv, int slot, const AVFrame *frame, const AVFrame *samples, int before, int *has,
                MvdenoiseMeasure *measures)
{
    CUDABackend *s = priv;
    const int ret  = ff_gpume_cuda_filter_enter(&s->gpu);

    return ret < 0 ? ret : ff_gpume_cuda_filter_leave(&s->gpu, load_picture(s, slot, frame, samples, before, has));
}

/* Finds matches in the neighbouring pictures. The caller has pushed the CUDA context. */
static int find_matches(CUDABackend *s, const MvdenoiseStep *step, MvdenoiseCudaStacksArgs *stacks)
{
    const int radius   = step->radius, current = step->slots[radius];
    const size_t cells = (size_t)s->cells.cols * s->cells.rows * sizeof(uint32_t);
    const size_t size  = s->nb_patches * sizeof(uint32_t);
    GpumeCudaBuffer *before = step->matches < 0 ? NULL : &s->matches[step->matches];
    GpumeCudaBuffer *now    = before && !step->second ? before : &s->matches[MVDENOISE_MAX_RADIUS + 1];
    MvdenoiseCudaMatchArgs args = {
        .components = s->patches, .cells = s->cells, .plane = s->padding.size, .noise = noise_of(s, current),
        .own = step->second ? s->slots[current].pilot.data : s->slots[current].noisy.data, .second = step->second,
        .depth = s->layout->depth,
    };
    int ret = ff_gpume_cuda_filter_memory(&s->gpu, now, 2 * radius * size, "matches");

    if (ret < 0)
        return ret;
    for (int i = 0; i < 2 * radius; i++) {
        const int slot = step->slots[i + (i >= radius)], nb = args.nb;

        if (slot < 0)
            continue;
        args.pictures[nb] = step->second ? s->slots[slot].pilot.data : s->slots[slot].noisy.data;
        args.vectors[nb]  = step->second ? before->data + i * size : s->slots[current].cells.data + i * cells;
        args.matches[nb]  = now->data + i * size;
        stacks->matches[MVDENOISE_MAX_RADIUS - radius + i] = args.matches[nb];
        args.nb++;
    }
    return args.nb ? ff_gpume_cuda_filter_launch(&s->gpu, MATCH, s->patch_grid, 1, 1, &args) : 0;
}

/* Combines the patches to a frame or to the pilot. The caller has pushed the CUDA context. */
static int combine(CUDABackend *s, const MvdenoiseStep *step)
{
    const GpumeLayout *l = s->layout;
    const int current    = step->slots[step->radius], around = step->out ? 0 : 2 * GPUME_PAD;
    MvdenoiseCudaCombineArgs args = {
        .components = s->patches, .noisy = s->slots[current].noisy.data,
        .noise   = noise_of(s, step->keep ? NO_NOISE : current),
        .results = s->results.data, .weights = s->weights.data, .depth = l->depth, .shift = l->shift,
    };

    memcpy(args.shifts, ff_mvdenoise_shifts, sizeof(args.shifts));
    if (!step->out)
        args.copy = s->slots[current].pilot.data;
    for (int i = 0; i < l->nb_components && step->out; i++)
        args.planes[i] = ff_gpume_cuda_component(&s->padding, l, i, step->out, 0);
    return ff_gpume_cuda_filter_launch(&s->gpu, COMBINE, gpume_divide_up(l->w + around, 32),
                  gpume_divide_up(l->h + around, MVDENOISE_CUDA_WARPS * MVDENOISE_CUDA_COMBINED), l->nb_components,
        &args);
}

/* Makes a picture. The caller has pushed the CUDA context. */
static int make_picture(CUDABackend *s, const MvdenoiseStep *step)
{
    const int radius = step->radius;
    Slot *current    = &s->slots[step->slots[radius]];
    MvdenoiseCudaStacksArgs args = {
        .components = s->stacks, .plane = s->padding.size, .noise = noise_of(s, step->slots[radius]),
        .table = s->table.data, .results = s->results.data, .weights = s->weights.data, .depth = s->layout->depth,
        .textured = ff_mvdenoise_textured(s->layout),
    };
    int ret = 0;

    for (int i = 0; i < 2 * radius + 1; i++)
        if (step->slots[i] >= 0) {
            args.noisy[MVDENOISE_MAX_RADIUS - radius + i] = s->slots[step->slots[i]].noisy.data;
            args.pilot[MVDENOISE_MAX_RADIUS - radius + i] = s->slots[step->slots[i]].pilot.data;
        }
    if (!step->out)
        ret = ff_gpume_cuda_filter_memory(&s->gpu, &current->pilot, s->padding.size * (radius ? GPUME_NB_PLANES : 1),
                                          "a pilot");
    /* the estimate of the next picture may have changed the curve of the current one */
    if (ret < 0 ||
        (ret = wait_for_noise(s, current)) < 0 ||
        (ret = wait_for_noise(s, next_slot(s, current))) < 0)
        return ret;
    if (step->keep)
        return combine(s, step);
    if (radius && (ret = find_matches(s, step, &args)) < 0 ||
        (ret = ff_gpume_cuda_filter_launch(&s->gpu, step->second ? SECOND : FIRST, s->stack_grid, 1, 1, &args)) < 0 ||
        (ret = combine(s, step)) < 0)
        return ret;
    return step->out || !radius ? 0 : make_halves(s, current->pilot.data);
}

static int make(void *priv, const MvdenoiseStep *step)
{
    CUDABackend *s = priv;
    const int ret  = ff_gpume_cuda_filter_enter(&s->gpu);

    return ret < 0 ? ret : ff_gpume_cuda_filter_leave(&s->gpu, make_picture(s, step));
}

/* Waits for the estimate, which is usually complete because later pictures have been queued. */
static int get_curves(void *priv, int slot, MvdenoiseCurve *curves)
{
    CUDABackend *s   = priv;
    const Slot *next = next_slot(s, &s->slots[slot]);
    int ret          = ff_gpume_cuda_filter_enter(&s->gpu);

    if (ret < 0)
        return ret;
    ret = ff_gpume_cuda_filter_check(&s->gpu, s->gpu.cuda.cu->cuEventSynchronize(s->slots[slot].estimated),
                                     "wait for an estimate");
    if (ret >= 0)
        ret = ff_gpume_cuda_filter_check(&s->gpu, s->gpu.cuda.cu->cuEventSynchronize(next->estimated),
                                         "wait for an estimate");
    memcpy(curves, s->slots[slot].curves.pinned, s->layout->nb_components * sizeof(*curves));
    return ff_gpume_cuda_filter_leave(&s->gpu, ret);
}

/* Frees the memory on the device. Only the stream of estimates may still be busy. */
static av_cold void close_device(void *priv)
{
    CUDABackend *s    = priv;
    CudaFunctions *cu = s->gpu.cuda.cu;

    if (s->side) {
        cu->cuStreamSynchronize(s->side);
        cu->cuStreamDestroy(s->side);
    }
    if (s->loaded)
        cu->cuEventDestroy(s->loaded);
    for (int i = 0; i < MVDENOISE_MAX_SLOTS; i++) {
        if (s->slots[i].estimated)
            cu->cuEventDestroy(s->slots[i].estimated);
        ff_gpume_cuda_free(&s->slots[i].curves);
    }
    ff_gpume_cuda_free(&s->table);
    ff_gpume_cuda_free(&s->estimate);
    ff_gpume_cuda_free(&s->noise);
    ff_gpume_cuda_cells_uninit(&s->gpu, &s->reader);
    ff_gpume_cuda_padding_uninit(&s->gpu.cuda, &s->padding);
}

static av_cold void uninit(void *priv)
{
    CUDABackend *s = priv;

    ff_gpume_cuda_filter_close(&s->gpu, close_device, s);
    forget(s);
}

const MvdenoiseBackend ff_mvdenoise_backend_cuda = {
    .common = {
        .hw_format = AV_PIX_FMT_CUDA, .priv_size = sizeof(CUDABackend),
        .init = init, .set_layout = set_layout, .uninit = uninit,
    },
    .estimates  = 1,
    .load       = load,
    .make       = make,
    .get_curves = get_curves,
};
