/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>
#include <stdint.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/picture/cuda_padded.h"
#include "libavfilter/gpume/picture/modules.h"

static_assert(GPUME_CUDA_COMPONENTS == GPUME_COMPONENTS, "device code has as many components");

#define DECLARE(name, ...) GPUME_CUDA_DECLARE(name)
GPUME_PICTURE_MODULES(DECLARE)

av_cold int ff_gpume_cuda_padding_init(const GpumeCuda *c, GpumeCudaPadding *p, int bytes)
{
    static const GpumeCudaCode codes[] = {
#define MODULE(name, ...) GPUME_CUDA_CODE(name),
        GPUME_PICTURE_MODULES(MODULE)
    };

    p->load.threads = GPUME_CUDA_COPY_THREADS;
    return ff_gpume_cuda_load(c, &p->load, &codes[bytes - 1]);
}

av_cold void ff_gpume_cuda_padding_uninit(const GpumeCuda *c, GpumeCudaPadding *p)
{
    ff_gpume_cuda_unload(c, &p->load);
}

void ff_gpume_cuda_padding_set(GpumeCudaPadding *p, const GpumeLayout *l)
{
    const int rows = GPUME_CUDA_COPY_ROWS * GPUME_CUDA_COPY_THREADS / 32;

    p->size = 0;
    for (int i = 0; i < l->nb_components; i++) {
        const GpumeComponent *c = &l->components[i];

        p->stride[i] = FFALIGN((c->w + 2 * GPUME_PAD) * l->bytes, GPUME_CUDA_ALIGNMENT);
        p->first[i]  = p->size + GPUME_PAD * (size_t)p->stride[i] + GPUME_PAD * l->bytes;
        p->size     += (c->h + 2 * GPUME_PAD) * (size_t)p->stride[i];
    }
    p->load.grid[0] = (p->stride[0] + 4 * 32 - 1) / (4 * 32);
    p->load.grid[1] = (l->h + 2 * GPUME_PAD + rows - 1) / rows;
}

int ff_gpume_cuda_describe_gray(AVBufferRef **gray, const GpumeCuda *c, const GpumeLayout *l)
{
    AVHWFramesContext *frames;

    *gray = av_hwframe_ctx_alloc(ff_gpume_cuda_device_ref(c));
    if (!*gray)
        return AVERROR(ENOMEM);
    frames = (AVHWFramesContext *)(*gray)->data;
    frames->format    = AV_PIX_FMT_CUDA;
    frames->sw_format = ff_gpume_gray_format(l->depth);
    frames->width     = l->w;
    frames->height    = l->h;
    return 0;
}

AVFrame *ff_gpume_cuda_padded_frame(GpumeCudaPool *pool, AVBufferRef *gray, const GpumeCudaPadding *p,
                                    const GpumeLayout *l)
{
    AVFrame *f = av_frame_alloc();
    CUdeviceptr data;

    if (!f)
        return NULL;
    f->width  = l->w;
    f->height = l->h;
    f->format = AV_PIX_FMT_CUDA;
    f->buf[0] = ff_gpume_cuda_pool_get(pool);
    f->hw_frames_ctx = av_buffer_ref(gray);
    if (!f->buf[0] || !f->hw_frames_ctx) {
        av_frame_free(&f);
        return NULL;
    }
    data = ff_gpume_cuda_buffer(f->buf[0])->data;
    for (int i = 0; i < l->nb_components; i++) {
        f->data[i]     = (uint8_t *)(uintptr_t)(data + p->first[i]);
        f->linesize[i] = p->stride[i];
    }
    return f;
}

GpumeCudaComponent ff_gpume_cuda_component(const GpumeCudaPadding *p, const GpumeLayout *l, int i,
                                           const AVFrame *frame, CUdeviceptr copy)
{
    const GpumeComponent *c = &l->components[i];

    return (GpumeCudaComponent) {
        .plane = (uintptr_t)frame->data[c->plane], .linesize = frame->linesize[c->plane],
        .offset = c->offset, .log2_step = c->step > 1,
        .first = copy + p->first[i], .stride = p->stride[i], .w = c->w, .h = c->h,
    };
}

int ff_gpume_cuda_padded_load(const GpumeCuda *c, GpumeCudaPadding *p, const GpumeLayout *l,
                              const AVFrame *frame, CUdeviceptr copy)
{
    GpumeCudaLoadArgs args = { .shift = l->shift };

    for (int i = 0; i < l->nb_components; i++)
        args.components[i] = ff_gpume_cuda_component(p, l, i, frame, copy);
    return ff_gpume_cuda_check(c, ff_gpume_cuda_launch(c, &p->load, l->nb_components, &args, c->hwctx->stream),
                               "copy a picture");
}
