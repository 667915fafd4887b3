/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext_cuda_internal.h"
#include "libavutil/log.h"
#include "libavutil/macros.h"

#include "libavfilter/cuda/load_helper.h"
#include "libavfilter/gpume/cuda/kernels.h"

/* Of CUresult; nv-codec-headers name few. */
#define ERROR_OUT_OF_MEMORY            2
#define ERROR_INVALID_PTX            218
#define ERROR_UNSUPPORTED_PTX        222
#define ERROR_NO_BINARY_FOR_GPU      209
#define ERROR_JIT_COMPILER_NOT_FOUND 221

#define PTX(name, ...)                                              \
    extern const unsigned char ff_gpume_##name##_ptx_data[];        \
    extern const unsigned int ff_gpume_##name##_ptx_len;
GPUME_CUDA_MODULES(PTX)

static const GpumeCudaModule modules[] = {
#define MODULE(name, family, depth, side, cost, variant)                        \
    { "gpume_" #name, GPUME_CUDA_##family, depth, side, GPUME_COST_##cost,      \
      variant, ff_gpume_##name##_ptx_data, &ff_gpume_##name##_ptx_len },
    GPUME_CUDA_MODULES(MODULE)
};

/* Every search has kernels of SAD: a row for each depth and side. */
#define COUNT(name, family, depth, side, cost, variant) \
    + (GPUME_COST_##cost == GPUME_COST_SAD && GPUME_CUDA_##family == COUNTED)
#define COUNTED GPUME_CUDA_pattern
static_assert(GPUME_CUDA_MODULES(COUNT) == 2 * 2 * 4, "pattern search");
#undef COUNTED
#define COUNTED GPUME_CUDA_wavefront
static_assert(GPUME_CUDA_MODULES(COUNT) == 2 * 2 * 4, "predictive search");
#undef COUNTED
#define COUNTED GPUME_CUDA_propagate
static_assert(GPUME_CUDA_MODULES(COUNT) == 2 * 2 * 4, "passes");

const GpumeCudaModule *ff_gpume_cuda_find_module(const GpumeParams *params, int family,
                                                 int side, int variant)
{
    for (int i = 0; i < FF_ARRAY_ELEMS(modules); i++) {
        const GpumeCudaModule *m = &modules[i];

        if (m->family == family && (!m->depth || m->depth == (params->depth > 8 ? 16 : 8)) &&
            m->side == side && m->cost == params->cost && m->variant == variant)
            return m;
    }
    return NULL;
}

av_cold int ff_gpume_cuda_load_module(GpumeCudaLaunch *launch, const GpumeCudaModule *module,
                                      AVCUDADeviceContext *hwctx, void *log_ctx, int level)
{
    CudaFunctions *cu = hwctx->internal->cuda_dl;
    int ret = ff_cuda_load_module(log_ctx, hwctx, &launch->module, module->ptx, *module->ptx_len);

    if (ret < 0) {
        av_log(log_ctx, level, "Could not load the search kernels: the driver "
               "may be too old for them; update it, or use backend=cpu.\n");
        return ret;
    }
    return ff_gpume_cuda_check(log_ctx, level, cu,
                               cu->cuModuleGetFunction(&launch->function, launch->module,
                                                       module->function),
                               "find the search kernel");
}

int ff_gpume_cuda_check(void *log_ctx, int level, CudaFunctions *cu,
                        CUresult err, const char *what)
{
    const char *name = NULL, *text = NULL, *hint = "";
    int ret = AVERROR_EXTERNAL;

    if (err == CUDA_SUCCESS)
        return 0;

    switch ((int)err) {
    case ERROR_OUT_OF_MEMORY:
        ret  = AVERROR(ENOMEM);
        hint = " Free memory of the device, or search fewer or smaller streams.";
        break;
    case ERROR_INVALID_PTX:
    case ERROR_UNSUPPORTED_PTX:
    case ERROR_NO_BINARY_FOR_GPU:
    case ERROR_JIT_COMPILER_NOT_FOUND:
        hint = " The driver is too old for these kernels: update it, or use "
               "backend=cpu.";
        break;
    }
    cu->cuGetErrorName(err, &name);
    cu->cuGetErrorString(err, &text);
    av_log(log_ctx, level, "Could not %s: %s (%s).%s\n", what,
           text ? text : "unknown error", name ? name : "no name", hint);
    return ret;
}
