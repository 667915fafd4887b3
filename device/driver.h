/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What every filter with kernels needs of the CUDA driver: a device, errors in words, memory,
 * modules. Over FFmpeg's loader of the driver API.
 */

#ifndef AVFILTER_GPUME_DEVICE_DRIVER_H
#define AVFILTER_GPUME_DEVICE_DRIVER_H

#include <stddef.h>

#include "compat/cuda/dynlink_loader.h"
#include "libavutil/buffer.h"
#include "libavutil/hwcontext_cuda.h"

/** A filter's access to a device. Blank before ff_gpume_cuda_open(). */
typedef struct GpumeCuda {
    AVBufferRef *device;        ///< kept by every buffer, so that it may outlive the filter
    AVCUDADeviceContext *hwctx;
    CudaFunctions *cu;
    int capability;             ///< the device's compute capability: 75 for 7.5
    int multiprocessor_shared;  ///< bytes of shared memory of a multiprocessor
    int driver;                 ///< CUDA's version that the driver has: 12040 for 12.4

    /* set by the filter */
    void *log_ctx;
    int log_level;              ///< of errors
    const char *instead;        ///< what the user can do without the device, "use backend=cpu"; NULL: nothing
} GpumeCuda;

/**
 * @param ref AVHWDeviceContext of type CUDA; taken over, also by a call that fails
 * @return 0 or an AVERROR code with a message
 */
int ff_gpume_cuda_open(GpumeCuda *c, AVBufferRef *ref);

/** Returns the AVHWDeviceContext that was opened. */
const void *ff_gpume_cuda_device_ctx(const GpumeCuda *c);

/**
 * The device of frames, with its context pushed.
 * @param hw_frames AVHWFramesContext of format CUDA
 * @param instead   as in GpumeCuda
 * @return 0 or an AVERROR code with a message, and then nothing is pushed
 */
int ff_gpume_cuda_open_of(GpumeCuda *c, const AVBufferRef *hw_frames, void *log_ctx, const char *instead);

/** Buffers that are still held keep the device open. Harmless on a blank one. */
void ff_gpume_cuda_close(GpumeCuda *c);

/**
 * Report what the driver refused, in words for the user.
 * @param c    only cu, log_ctx, log_level and instead are read
 * @param what what was tried: "Could not <what>: ..."
 * @return 0, AVERROR(ENOMEM), or AVERROR_EXTERNAL
 */
int ff_gpume_cuda_check(const GpumeCuda *c, CUresult err, const char *what);

/** Make the device's context current. @return 0 or an AVERROR code with a message */
int ff_gpume_cuda_push(const GpumeCuda *c);

/**
 * The same in order to free something. What cannot be freed stays until the process ends, so
 * a call that failed is made once more. @return whether the context is current
 */
int ff_gpume_cuda_push_to_free(const GpumeCuda *c);

void ff_gpume_cuda_pop(const GpumeCuda *c);

/** Kinds of memory. */
enum GpumeCudaMemory {
    GPUME_CUDA_DEVICE = 1,
    GPUME_CUDA_PINNED = 2,      ///< of the host
};

/** Memory on the device, pinned memory, or as much of both. */
typedef struct GpumeCudaBuffer {
    AVBufferRef *device;        ///< NULL: a blank buffer
    CUdeviceptr data;           ///< 0: none
    void *pinned;               ///< NULL: none
    size_t size;                ///< bytes of each
} GpumeCudaBuffer;

/**
 * @param b      blank
 * @param memory GPUME_CUDA_DEVICE, GPUME_CUDA_PINNED or both
 * @param what   what it is for: "vectors"
 * @return 0, or an AVERROR code with a message; b is then blank
 */
int ff_gpume_cuda_alloc(const GpumeCuda *c, GpumeCudaBuffer *b, int memory, size_t size,
                        const char *what);

/** Free it, whichever context is current, and blank it. Nothing may be in flight that uses it. */
void ff_gpume_cuda_free(GpumeCudaBuffer *b);

/** A pool of such buffers. */
typedef struct GpumeCudaPool {
    const GpumeCuda *cuda;
    int memory;
    size_t size;
    const char *what;
    /** New buffers are 0: pinned memory if they have some, else the device's, on stream. */
    int zero;
    CUstream stream;
    AVBufferPool *pool;         ///< NULL: there is none
} GpumeCudaPool;

/**
 * Makes a pool of buffers like those of ff_gpume_cuda_alloc(). An AVBufferRef's data is pinned
 * memory if the buffers have some, else the address on the device. c and what must stay.
 * @return 0 or AVERROR(ENOMEM)
 */
int ff_gpume_cuda_pool_init(GpumeCudaPool *p, const GpumeCuda *c, int memory, size_t size,
                            const char *what);
AVBufferRef *ff_gpume_cuda_pool_get(GpumeCudaPool *p);
/** Buffers that are still held may outlive it. */
void ff_gpume_cuda_pool_uninit(GpumeCudaPool *p);

/** The buffer that a reference from a pool stands for. */
const GpumeCudaBuffer *ff_gpume_cuda_buffer(const AVBufferRef *ref);

/** A compiled module with one kernel, as the build embeds it. */
typedef struct GpumeCudaCode {
    const char *function;
    const unsigned char *ptx;
    const unsigned int *ptx_len;
} GpumeCudaCode;

/** Declare the module of this name, and what it is as a GpumeCudaCode. */
#define GPUME_CUDA_DECLARE(name)                                    \
    extern const unsigned char ff_gpume_##name##_ptx_data[];        \
    extern const unsigned int ff_gpume_##name##_ptx_len;
#define GPUME_CUDA_CODE(name) \
    { "gpume_" #name, ff_gpume_##name##_ptx_data, &ff_gpume_##name##_ptx_len }

/** A kernel, and the shape in which it is launched. */
typedef struct GpumeCudaLaunch {
    const unsigned char *ptx;   ///< of a module that is shared; NULL: it is not
    CUmodule module;
    CUfunction function;
    unsigned grid[2];           ///< blocks of threads, x and y
    unsigned threads;           ///< of a block
    unsigned shared;            ///< bytes of dynamic shared memory
} GpumeCudaLaunch;

/**
 * Load a kernel into the current context, once for all that load it through this GpumeCuda.
 * @return 0 or an AVERROR code with a message
 */
int ff_gpume_cuda_load(const GpumeCuda *c, GpumeCudaLaunch *l, const GpumeCudaCode *code);

/** Unload it from the current context, if nobody else has loaded it; harmless where it was not loaded. */
void ff_gpume_cuda_unload(const GpumeCuda *c, GpumeCudaLaunch *l);

/**
 * Launch a kernel whose only parameter is args.
 * @param nb_z blocks of threads in direction z
 */
CUresult ff_gpume_cuda_launch(const GpumeCuda *c, const GpumeCudaLaunch *l, unsigned nb_z,
                              void *args, CUstream stream);

#endif /* AVFILTER_GPUME_DEVICE_DRIVER_H */
