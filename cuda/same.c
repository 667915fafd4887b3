/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"

#include "libavfilter/gpume/core/same.h"
#include "libavfilter/gpume/cuda/same.h"

av_cold int ff_gpume_cuda_same_init(GpumeCudaSame *s, const GpumeCuda *cuda,
                                    const GpumeParams *params, enum AVPixelFormat format)
{
    const GpumeCudaModule *module = ff_gpume_cuda_find_module(cuda, params, GPUME_CUDA_same, 0, 0);

    s->cuda           = cuda;
    s->args.params    = *params;
    s->args.nb_planes = ff_gpume_other_planes(s->args.planes, format);
    s->launch.threads = GPUME_CUDA_SAME_THREADS;
    s->launch.grid[0] = gpume_blocks(ff_gpume_nb_cells(params), GPUME_CUDA_SAME_THREADS / 32);
    s->launch.grid[1] = 1;
    return ff_gpume_cuda_load(cuda, &s->launch, &module->code);
}

CUresult ff_gpume_cuda_same_launch(GpumeCudaSame *s, const GpumeField *field, CUdeviceptr same,
                                   CUstream stream)
{
    const AVFrame *cur = field->cur->frame, *ref = field->ref->frame;

    s->args.mvs   = field->set->device[field->slot].mvs;
    s->args.costs = field->set->device[field->slot].costs;
    s->args.same  = same;
    for (int i = 0; i < s->args.nb_planes; i++) {
        const int plane = s->args.planes[i].index;

        s->args.cur[i] = (GpumeCudaPlane) { (uintptr_t)cur->data[plane], cur->linesize[plane] };
        s->args.ref[i] = (GpumeCudaPlane) { (uintptr_t)ref->data[plane], ref->linesize[plane] };
    }
    return ff_gpume_cuda_launch(s->cuda, &s->launch, 1, &s->args, stream);
}

av_cold void ff_gpume_cuda_same_uninit(GpumeCudaSame *s)
{
    ff_gpume_cuda_unload(s->cuda, &s->launch);
}
