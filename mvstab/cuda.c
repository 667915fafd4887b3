/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Copies, measures and warps CUDA frames on the stream of their device. Tensors are copied to pinned memory; the search
 * of a picture ends after that copy, because its stream waits for what was queued before the search.
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/cuda_common/filter.h"
#include "libavfilter/gpume/mvstab/backend.h"
#include "libavfilter/gpume/mvstab/cuda_args.h"
#include "libavfilter/gpume/mvstab/dsp.h"
#include "libavfilter/gpume/mvstab/modules.h"
#include "libavfilter/gpume/picture/cuda_padded.h"

GPUME_CUDA_FILTER_MODULES(MVSTAB_CUDA_MODULES)

enum Kernel { TENSOR, WARP, NB_KERNELS };

static const GpumeCudaFilterKernel kernels[NB_KERNELS] = {
    [TENSOR] = { "tensor", 0, MVSTAB_CUDA_THREADS, 0, "measure blocks" },
    [WARP]   = { "warp",   0, MVSTAB_CUDA_THREADS, MVSTAB_CUDA_TAPS, "warp a picture" },
};

typedef struct CUDABackend {
    const GpumeLayout *layout;
    GpumeCudaFilter gpu;

    /* the following depend on the layout */
    GpumeCudaPadding padding;
    AVBufferRef *gray;              ///< AVHWFramesContext that describes component 0 of pictures
    GpumeCudaPool pictures, tensors;
} CUDABackend;

static av_cold int init(void *priv, const void *config, const GpumeLayout *layout)
{
    const MvstabConfig *cfg = config;
    CUDABackend *s = priv;
    int ret;

    ret = ff_gpume_cuda_filter_open(&s->gpu, cfg->hw_frames, cfg->log_ctx);
    if (ret < 0)
        return ret;
    for (int i = 0; i < NB_KERNELS && ret >= 0; i++)
        ret = ff_gpume_cuda_filter_load(&s->gpu, i, &kernels[i], modules, layout->depth);
    if (ret >= 0)
        ret = ff_gpume_cuda_padding_init(&s->gpu.cuda, &s->padding, layout->bytes);
    ff_gpume_cuda_pop(&s->gpu.cuda);
    return ret;
}

static void forget(CUDABackend *s)
{
    ff_gpume_cuda_pool_uninit(&s->pictures);
    ff_gpume_cuda_pool_uninit(&s->tensors);
    av_buffer_unref(&s->gray);
}

static int set_layout(void *priv, const GpumeLayout *l)
{
    CUDABackend *s = priv;
    const size_t nb_blocks = gpume_blocks(l->w, MVSTAB_BLOCK) * (size_t)gpume_blocks(l->h, MVSTAB_BLOCK);
    int ret = ff_gpume_cuda_filter_enter_resized(&s->gpu, "mvstab", l->w, l->h);

    if (ret < 0)
        return ret;
    forget(s);
    s->layout = l;
    ff_gpume_cuda_padding_set(&s->padding, l);
    if ((ret = ff_gpume_cuda_describe_gray(&s->gray, &s->gpu.cuda, l)) >= 0 &&
        (ret = ff_gpume_cuda_pool_init(&s->pictures, &s->gpu.cuda, GPUME_CUDA_DEVICE, s->padding.size,
                                       "pictures")) >= 0)
        ret = ff_gpume_cuda_pool_init(&s->tensors, &s->gpu.cuda, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED,
                                      nb_blocks * sizeof(MvstabTensor), "tensors");
    return ff_gpume_cuda_filter_leave(&s->gpu, ret);
}

/* Returns the address of a picture's memory. */
static CUdeviceptr memory_of(const AVFrame *picture)
{
    return ff_gpume_cuda_buffer(picture->buf[0])->data;
}

static int alloc(CUDABackend *s, MvstabPicture *picture)
{
    picture->frame   = ff_gpume_cuda_padded_frame(&s->pictures, s->gray, &s->padding, s->layout);
    picture->tensors = ff_gpume_cuda_pool_get(&s->tensors);
    return picture->frame && picture->tensors ? 0 : AVERROR(ENOMEM);
}

/* Computes the tensors of a picture, and copies them to the host. The caller has pushed the CUDA context. */
static int measure(CUDABackend *s, const MvstabPicture *picture)
{
    const GpumeLayout *l = s->layout;
    const GpumeCudaBuffer *tensors = ff_gpume_cuda_buffer(picture->tensors);
    const int cols = gpume_blocks(l->w, MVSTAB_BLOCK), nb = cols * gpume_blocks(l->h, MVSTAB_BLOCK);
    const MvstabCudaTensorArgs args = {
        .first = memory_of(picture->frame) + s->padding.first[0], .tensors = tensors->data,
        .stride = s->padding.stride[0], .w = l->w, .h = l->h, .cols = cols, .nb = nb, .shift = l->depth - 8,
    };
    int ret = ff_gpume_cuda_filter_launch(&s->gpu, TENSOR, gpume_divide_up(nb, MVSTAB_CUDA_WARPS), 1, 1, &args);

    if (ret < 0)
        return ret;
    return GPUME_CUDA_CALL(&s->gpu, cuMemcpyDtoHAsync(tensors->pinned, tensors->data, nb * sizeof(MvstabTensor),
                                                      ff_gpume_cuda_filter_stream(&s->gpu)), "copy tensors");
}

static int load(void *priv, MvstabPicture *picture, const AVFrame *frame)
{
    CUDABackend *s = priv;
    int ret = ff_gpume_cuda_filter_enter(&s->gpu);

    if (ret < 0)
        return ret;
    ret = alloc(s, picture);
    if (ret >= 0)
        ret = ff_gpume_cuda_padded_load(&s->gpu.cuda, &s->padding, s->layout, frame, memory_of(picture->frame));
    if (ret >= 0)
        ret = measure(s, picture);
    return ff_gpume_cuda_filter_leave(&s->gpu, ret);
}

/* Uploads the taps and the meshes of the first nb components. The caller has pushed the CUDA context. */
static int upload(CUDABackend *s, GpumeCudaUpload **upload, MvstabCudaWarpArgs *args, const MvstabWarp *warp, int nb)
{
    const GpumeLayout *l = s->layout;
    size_t size = MVSTAB_CUDA_TAPS;
    MvstabPoint *points;
    int ret;

    for (int i = 0; i < nb; i++) {
        args->mesh[i] = (size - MVSTAB_CUDA_TAPS) / sizeof(MvstabPoint);
        size += mvstab_points(l->components[i].w) * (size_t)mvstab_points(l->components[i].h) * sizeof(MvstabPoint);
    }
    ret = ff_gpume_cuda_uploads_next(&s->gpu.cuda, &s->gpu.uploads, size, upload);
    if (ret < 0)
        return ret;
    memcpy((*upload)->buffer.pinned, ff_mvstab_taps, MVSTAB_CUDA_TAPS);
    points = (MvstabPoint *)((uint8_t *)(*upload)->buffer.pinned + MVSTAB_CUDA_TAPS);
    for (int i = 0; i < nb; i++)
        ff_mvstab_mesh(points + args->mesh[i], l, i, 0, mvstab_points(l->components[i].h), warp);
    args->tables = (*upload)->buffer.data;
    return ff_gpume_cuda_upload(&s->gpu.cuda, *upload, size, "upload a mesh");
}

/* Warps the first nb components. The caller has pushed the CUDA context. */
static int run_warp(CUDABackend *s, MvstabCudaWarpArgs *args, const MvstabWarp *warp, int nb)
{
    const GpumeLayout *l = s->layout;
    GpumeCudaUpload *tables;
    int ret = upload(s, &tables, args, warp, nb);

    if (ret < 0)
        return ret;
    args->border = warp->border;
    args->depth  = l->depth;
    ret = ff_gpume_cuda_filter_launch(&s->gpu, WARP, gpume_divide_up(l->w + 2 * args->around, 32),
                                      gpume_divide_up(l->h + 2 * args->around, MVSTAB_CUDA_WARPS), nb, args);
    return ret < 0 ? ret : ff_gpume_cuda_upload_end(&s->gpu.cuda, tables);
}

static int align(void *priv, MvstabPicture *aligned, const AVFrame *picture, const MvstabMatrix *matrix)
{
    CUDABackend *s = priv;
    const MvstabWarp warp = { .matrix = *matrix, .border = MVSTAB_CROP };
    MvstabCudaWarpArgs args = { .around = GPUME_PAD };
    int ret = ff_gpume_cuda_filter_enter(&s->gpu);

    if (ret < 0)
        return ret;
    ret = alloc(s, aligned);
    if (ret >= 0) {
        args.components[0] = ff_gpume_cuda_component(&s->padding, s->layout, 0, aligned->frame, memory_of(picture));
        args.components[0].offset    = 0;
        args.components[0].log2_step = 0;
        ret = run_warp(s, &args, &warp, 1);
    }
    if (ret >= 0)
        ret = measure(s, aligned);
    return ff_gpume_cuda_filter_leave(&s->gpu, ret);
}

static int warp(void *priv, AVFrame *out, const AVFrame *picture, const MvstabWarp *warp)
{
    CUDABackend *s = priv;
    const GpumeLayout *l = s->layout;
    MvstabCudaWarpArgs args = { .shift = l->shift };
    int ret = ff_gpume_cuda_filter_enter(&s->gpu);

    if (ret < 0)
        return ret;
    for (int i = 0; i < l->nb_components; i++) {
        args.components[i] = ff_gpume_cuda_component(&s->padding, l, i, out, memory_of(picture));
        args.black[i]      = warp->black[i];
        if (warp->before) {
            args.before[i]          = (uintptr_t)warp->before->data[l->components[i].plane];
            args.before_linesize[i] = warp->before->linesize[l->components[i].plane];
        }
    }
    return ff_gpume_cuda_filter_leave(&s->gpu, run_warp(s, &args, warp, l->nb_components));
}

/* Frees what the device used, which is idle. */
static av_cold void close_device(void *priv)
{
    CUDABackend *s = priv;

    ff_gpume_cuda_padding_uninit(&s->gpu.cuda, &s->padding);
}

static av_cold void uninit(void *priv)
{
    CUDABackend *s = priv;

    ff_gpume_cuda_filter_close(&s->gpu, close_device, s);
    forget(s);
}

const MvstabBackend ff_mvstab_backend_cuda = {
    .common = {
        .hw_format = AV_PIX_FMT_CUDA, .priv_size = sizeof(CUDABackend),
        .init = init, .set_layout = set_layout, .uninit = uninit,
    },
    .load  = load,
    .align = align,
    .warp  = warp,
};
