/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/avassert.h"
#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/cuda_common/filter.h"

av_cold int ff_gpume_cuda_filter_open(GpumeCudaFilter *s, const AVBufferRef *hw_frames, void *log_ctx)
{
    int ret = ff_gpume_cuda_open_for_frames(&s->cuda, hw_frames, log_ctx, s->alternative ? s->alternative :
                                            "insert hwdownload before this filter");

    if (ret < 0)
        return ret;
    ret = ff_gpume_cuda_uploads_init(&s->cuda, &s->uploads);
    if (ret < 0)
        ff_gpume_cuda_pop(&s->cuda);
    return ret;
}

av_cold int ff_gpume_cuda_filter_load(GpumeCudaFilter *s, int number, const GpumeCudaFilterKernel *kernel,
                                      const GpumeCudaFilterModule *modules, int depth)
{
    GpumeCudaLaunch *l = &s->launches[number];
    int ret;

    av_assert0(number < GPUME_CUDA_FILTER_KERNELS);
    for (const GpumeCudaFilterModule *m = modules; m->family; m++) {
        if (strcmp(m->family, kernel->family) || m->variant != kernel->variant ||
            m->depth && m->depth != (depth > 8 ? 16 : 8))
            continue;
        ret = ff_gpume_cuda_load(&s->cuda, l, &m->code);
        if (ret < 0)
            return ret;
    }
    av_assert0(l->function);
    l->threads = kernel->threads;
    l->shared  = kernel->shared;
    s->what[number] = kernel->what;
    return 0;
}

int ff_gpume_cuda_filter_enter(GpumeCudaFilter *s)
{
    if (!s->failed)
        s->failed = ff_gpume_cuda_push(&s->cuda);
    return s->failed;
}

int ff_gpume_cuda_filter_leave(GpumeCudaFilter *s, int ret)
{
    ff_gpume_cuda_pop(&s->cuda);
    s->failed = FFMIN(ret, 0);
    return ret;
}

int ff_gpume_cuda_filter_launch_on(GpumeCudaFilter *s, CUstream stream, int number, int x, int y, int z,
                                   const void *args)
{
    GpumeCudaLaunch *l = &s->launches[number];

    l->grid[0] = x;
    l->grid[1] = y;
    return ff_gpume_cuda_filter_check(s, ff_gpume_cuda_launch(&s->cuda, l, z, (void *)args, stream), s->what[number]);
}

int ff_gpume_cuda_filter_launch(GpumeCudaFilter *s, int number, int x, int y, int z, const void *args)
{
    return ff_gpume_cuda_filter_launch_on(s, ff_gpume_cuda_filter_stream(s), number, x, y, z, args);
}

int ff_gpume_cuda_filter_memory(GpumeCudaFilter *s, GpumeCudaBuffer *b, size_t size, const char *what)
{
    return b->data ? 0 : ff_gpume_cuda_alloc(&s->cuda, b, GPUME_CUDA_DEVICE, FFMAX(size, 1), what);
}

int ff_gpume_cuda_filter_wait(GpumeCudaFilter *s, CUstream stream)
{
    return ff_gpume_cuda_filter_check(s, s->cuda.cu->cuStreamSynchronize(stream), "wait for the device");
}

int ff_gpume_cuda_filter_fits(const GpumeCudaFilter *s, const char *filter, int w, int h)
{
    if (FFMAX(w, h) <= GPUME_CUDA_FILTER_MAX_SIDE)
        return 0;
    av_log(s->cuda.log_ctx, AV_LOG_ERROR, "%s does not support CUDA frames of %dx%d samples, only up to %d samples a "
           "side; insert hwdownload before it.\n", filter, w, h, GPUME_CUDA_FILTER_MAX_SIDE);
    return AVERROR(ENOSYS);
}

int ff_gpume_cuda_filter_enter_resized(GpumeCudaFilter *s, const char *filter, int w, int h)
{
    int ret = ff_gpume_cuda_filter_fits(s, filter, w, h);

    if (ret < 0 || (ret = ff_gpume_cuda_filter_enter(s)) < 0)
        return ret;
    ret = ff_gpume_cuda_filter_wait(s, ff_gpume_cuda_filter_stream(s));
    return ret < 0 ? ff_gpume_cuda_filter_leave(s, ret) : 0;
}

av_cold void ff_gpume_cuda_filter_close(GpumeCudaFilter *s, void (*close)(void *priv), void *priv)
{
    if (s->cuda.device && ff_gpume_cuda_push_to_free(&s->cuda)) {
        /* queued kernels may still read what is freed here */
        s->cuda.cu->cuStreamSynchronize(ff_gpume_cuda_filter_stream(s));
        if (close)
            close(priv);
        ff_gpume_cuda_uploads_free(&s->cuda, &s->uploads);
        for (int i = 0; i < GPUME_CUDA_FILTER_KERNELS; i++)
            ff_gpume_cuda_unload(&s->cuda, &s->launches[i]);
        ff_gpume_cuda_pop(&s->cuda);
    }
    ff_gpume_cuda_close(&s->cuda);
}
