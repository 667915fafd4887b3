/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

#include <stddef.h>

#include "libavutil/attributes.h"
#include "libavutil/avassert.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext_cuda_internal.h"
#include "libavutil/log.h"
#include "libavutil/motion_vector.h"

#include "libavfilter/cuda/load_helper.h"
#include "libavfilter/gpume/cuda/kernels.h"

/* Of CUresult; nv-codec-headers name few. */
#define ERROR_OUT_OF_MEMORY            2
#define ERROR_INVALID_PTX            218
#define ERROR_UNSUPPORTED_PTX        222
#define ERROR_NO_BINARY_FOR_GPU      209
#define ERROR_JIT_COMPILER_NOT_FOUND 221

/* Kernels write AVMotionVector as words. */
#define IS_AT(field, word, byte) \
    (offsetof(AVMotionVector, field) == 4 * (word) + (byte))
_Static_assert(sizeof(AVMotionVector) == 4 * GPUME_CUDA_VECTOR_WORDS &&
               IS_AT(source,   0, 0) && IS_AT(w,        1, 0) && IS_AT(h,     1, 1) &&
               IS_AT(src_x,    1, 2) && IS_AT(src_y,    2, 0) && IS_AT(dst_x, 2, 2) &&
               IS_AT(dst_y,    3, 0) && IS_AT(flags,    4, 0) &&
               IS_AT(motion_x, 6, 0) && IS_AT(motion_y, 7, 0) &&
               IS_AT(motion_scale, 8, 0), "layout of AVMotionVector");

/** How a search's kernels are loaded and shaped; indexed by enum GpumeAlgo. */
typedef struct KernelEntry {
    const char *name[2];            ///< for samples of one and of two bytes
    const unsigned char *ptx;
    const unsigned int *ptx_len;
    /** Fill the kernel's fields of args, the grid's x and y, threads and shared bytes. */
    void (*configure)(GpumeCudaArgs *args, unsigned grid[2],
                      unsigned *threads, unsigned *shared);
} KernelEntry;

static void configure_fs(GpumeCudaArgs *a, unsigned grid[2],
                         unsigned *threads, unsigned *shared)
{
    const GpumeParams *p = &a->params;
    const int per_word   = p->depth > 8 ? 2 : 4;
    const int cur_words  = p->block / per_word;
    /* candidates side by side and on top of each other, at most */
    const int nx = FFMIN(2 * p->range, p->width  - FFMIN(p->width,  p->block)) + 1;
    const int ny = FFMIN(2 * p->range, p->height - FFMIN(p->height, p->block)) + 1;
    const int rows = FFMIN(p->block, GPUME_CUDA_FS_STRIP);

    a->tiles_x = FFMIN((nx + GPUME_CUDA_FS_TILE_COLS - 1) / GPUME_CUDA_FS_TILE_COLS, 64);
    a->tiles_y = FFMIN((ny + GPUME_CUDA_FS_TILE_ROWS - 1) / GPUME_CUDA_FS_TILE_ROWS,
                       GPUME_CUDA_FS_THREADS / a->tiles_x);
    /* odd: rows that are read together begin in different banks */
    a->window_pitch = (a->tiles_x * GPUME_CUDA_FS_TILE_COLS / per_word + cur_words) | 1;

    grid[0]  = p->bw;
    grid[1]  = p->bh;
    *threads = FFALIGN(a->tiles_x * a->tiles_y, 32);
    *shared  = 4 * (GPUME_CUDA_FS_STRIP * cur_words +
                    (a->tiles_y * GPUME_CUDA_FS_TILE_ROWS + rows) * a->window_pitch);
    /* every GPU gives a block of threads 48 KiB */
    av_assert0(*shared <= 48 << 10);
}

static void configure_ds(GpumeCudaArgs *a, unsigned grid[2],
                         unsigned *threads, unsigned *shared)
{
    const GpumeParams *p = &a->params;
    unsigned groups;

    a->lanes = p->block == 4 ? 8 : p->block == 8 ? 16 : 32;
    groups   = GPUME_CUDA_DS_THREADS / a->lanes;
    grid[0]  = ((unsigned)p->bw * p->bh + groups - 1) / groups;
    grid[1]  = 1;
    *threads = GPUME_CUDA_DS_THREADS;
    *shared  = 0;
}

#define PTX(name)                                   \
    extern const unsigned char ff_##name##_ptx_data[]; \
    extern const unsigned int ff_##name##_ptx_len;
PTX(gpume_fs)
PTX(gpume_ds)

#define KERNEL(name, configure) \
    { { #name "_8", #name "_16" }, ff_##name##_ptx_data, &ff_##name##_ptx_len, configure }
static const KernelEntry kernels[GPUME_NB_ALGOS] = {
    [GPUME_ALGO_FS] = KERNEL(gpume_fs, configure_fs),
    [GPUME_ALGO_DS] = KERNEL(gpume_ds, configure_ds),
};

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

av_cold int ff_gpume_cuda_kernel_init(GpumeCudaKernel *kernel,
                                      AVCUDADeviceContext *hwctx,
                                      const GpumeParams *params,
                                      void *log_ctx, int level)
{
    const KernelEntry *entry = &kernels[params->algo];
    int ret;

    kernel->cu                     = hwctx->internal->cuda_dl;
    kernel->args.params            = *params;
    kernel->args.params.big_endian = 0;
    entry->configure(&kernel->args, kernel->grid, &kernel->threads, &kernel->shared);

    ret = ff_cuda_load_module(log_ctx, hwctx, &kernel->module,
                              entry->ptx, *entry->ptx_len);
    if (ret < 0) {
        av_log(log_ctx, level, "Could not load the search kernels: the driver "
               "may be too old for them; update it, or use backend=cpu.\n");
        return ret;
    }
    return ff_gpume_cuda_check(log_ctx, level, kernel->cu,
        kernel->cu->cuModuleGetFunction(&kernel->function, kernel->module,
                                        entry->name[params->depth > 8]),
        "find the search kernel");
}

CUresult ff_gpume_cuda_kernel_launch(GpumeCudaKernel *kernel, int nb_references,
                                     CUstream stream)
{
    void *params[] = { &kernel->args };

    return kernel->cu->cuLaunchKernel(kernel->function,
                                      kernel->grid[0], kernel->grid[1], nb_references,
                                      kernel->threads, 1, 1, kernel->shared,
                                      stream, params, NULL);
}

av_cold void ff_gpume_cuda_kernel_uninit(GpumeCudaKernel *kernel)
{
    if (kernel->module)
        kernel->cu->cuModuleUnload(kernel->module);
    kernel->module = NULL;
}
