/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Access to the CUDA driver for every filter with kernels: the device, error messages, memory, modules. It is
 * built upon FFmpeg's loader of the driver API.
 */

#ifndef AVFILTER_GPUME_CUDA_COMMON_DRIVER_H
#define AVFILTER_GPUME_CUDA_COMMON_DRIVER_H

#include <stddef.h>

#include "compat/cuda/dynlink_loader.h"
#include "libavutil/buffer.h"
#include "libavutil/hwcontext_cuda.h"

/** Flags of an event that a thread of the host waits for. The thread sleeps meanwhile. */
#define GPUME_CUDA_WAITED (CU_EVENT_DISABLE_TIMING | CU_EVENT_BLOCKING_SYNC)

/** A filter's access to a device. Zeroed before ff_gpume_cuda_open(). */
typedef struct GpumeCuda {
    AVBufferRef *device;        ///< each buffer has a reference, so that it may outlive the filter
    AVCUDADeviceContext *hwctx;
    CudaFunctions *cu;
    int capability;             ///< the device's compute capability: 75 for 7.5
    int multiprocessor_shared;  ///< bytes of shared memory of a multiprocessor
    int driver;                 ///< the CUDA version of the driver: 12040 for 12.4

    /* set by the filter */
    void *log_ctx;
    int log_level;              ///< the level at which errors are logged
    const char *alternative;    ///< what a user whose device fails can do, "use backend=cpu"; NULL: nothing
} GpumeCuda;

/**
 * Opens a device.
 * @param ref AVHWDeviceContext of type CUDA; the function takes ownership, even if it fails
 * @return 0 or an AVERROR code with a message
 */
int ff_gpume_cuda_open(GpumeCuda *c, AVBufferRef *ref);

/**
 * Opens an AVHWDeviceContext of type CUDA for frames in system memory.
 * @param ref       set to it
 * @param hw_device device of the filter graph, which is taken if it is a CUDA device and name is NULL; may be NULL
 * @param name      index of the device, or NULL: the first one
 * @param fallback  something else is tried if there is no device, so that this is not an error
 * @return 0 or an AVERROR code with a message; AVERROR(ENODEV): there is no driver or no device
 */
int ff_gpume_cuda_create_device(AVBufferRef **ref, AVBufferRef *hw_device, const char *name, int fallback,
                                void *log_ctx);

/** Returns the AVHWDeviceContext that was opened: the reference to it, or itself. */
AVBufferRef *ff_gpume_cuda_device_ref(const GpumeCuda *c);
const void *ff_gpume_cuda_device_ctx(const GpumeCuda *c);

/**
 * Opens the device of some frames and pushes its context.
 * @param hw_frames   AVHWFramesContext of format CUDA
 * @param alternative GpumeCuda.alternative
 * @return 0 or an AVERROR code with a message, and then nothing is pushed
 */
int ff_gpume_cuda_open_for_frames(GpumeCuda *c, const AVBufferRef *hw_frames, void *log_ctx, const char *alternative);

/** Closes the device, which stays open as long as buffers of it exist. Harmless on a zeroed GpumeCuda. */
void ff_gpume_cuda_close(GpumeCuda *c);

/**
 * Reports an error of the driver to the user.
 * @param c    only cu, log_ctx, log_level and alternative are read
 * @param what what the program tried: "Could not <what>: ..."
 * @return 0, AVERROR(ENOMEM), or AVERROR_EXTERNAL
 */
int ff_gpume_cuda_check(const GpumeCuda *c, CUresult err, const char *what);

/** Pushes the device's context. @return 0 or an AVERROR code with a message */
int ff_gpume_cuda_push(const GpumeCuda *c);

/**
 * Pushes the context in order to free memory. Memory that cannot be freed stays until the process ends, so a
 * failed push is tried once more. @return whether the context was pushed
 */
int ff_gpume_cuda_push_to_free(const GpumeCuda *c);

void ff_gpume_cuda_pop(const GpumeCuda *c);

/** Kinds of memory, and what is in it at first. */
enum GpumeCudaMemory {
    GPUME_CUDA_DEVICE = 1,
    GPUME_CUDA_PINNED = 2,      ///< page-locked memory of the host
    GPUME_CUDA_ZEROED = 4,      ///< all of it is 0, for every stream
};

/** A buffer: device memory, pinned memory, or both, of the same size. */
typedef struct GpumeCudaBuffer {
    AVBufferRef *device;        ///< NULL: the buffer is empty
    CUdeviceptr data;           ///< 0: none
    void *pinned;               ///< NULL: none
    size_t size;                ///< bytes of the device memory and of the pinned memory
} GpumeCudaBuffer;

/**
 * Allocates a buffer.
 * @param b      zeroed
 * @param memory GPUME_CUDA_DEVICE, GPUME_CUDA_PINNED or both; with GPUME_CUDA_ZEROED the host waits until it is cleared
 * @param what   what the buffer holds, for the message: "vectors"
 * @return 0, or an AVERROR code with a message; b is then zeroed
 */
int ff_gpume_cuda_alloc(const GpumeCuda *c, GpumeCudaBuffer *b, int memory, size_t size,
                        const char *what);

/** Frees and zeroes a buffer, whichever context is current. The device must not use the buffer any more. */
void ff_gpume_cuda_free(GpumeCudaBuffer *b);

/** A pool of buffers of one size. */
typedef struct GpumeCudaPool {
    const GpumeCuda *cuda;
    int memory;
    size_t size;
    const char *what;
    AVBufferPool *pool;         ///< NULL: there is none
} GpumeCudaPool;

/**
 * Makes a pool of buffers. The data of an AVBufferRef of the pool is pinned memory if the buffers have some,
 * else the address on the device. The pointers c and what must stay valid as long as the pool.
 * @return 0 or AVERROR(ENOMEM)
 */
int ff_gpume_cuda_pool_init(GpumeCudaPool *p, const GpumeCuda *c, int memory, size_t size,
                            const char *what);
AVBufferRef *ff_gpume_cuda_pool_get(GpumeCudaPool *p);
/** Frees the pool. Buffers of it that are still in use may outlive it. */
void ff_gpume_cuda_pool_uninit(GpumeCudaPool *p);

/** Returns the buffer behind a reference from a pool. */
const GpumeCudaBuffer *ff_gpume_cuda_buffer(const AVBufferRef *ref);

/** A compiled module with one kernel, as embedded by the build. */
typedef struct GpumeCudaCode {
    const char *function;
    const unsigned char *ptx;
    const unsigned int *ptx_len;
} GpumeCudaCode;

/** Declares the embedded module of a name; GPUME_CUDA_CODE(name) is the module as a GpumeCudaCode. */
#define GPUME_CUDA_DECLARE(name)                                    \
    extern const unsigned char ff_gpume_##name##_ptx_data[];        \
    extern const unsigned int ff_gpume_##name##_ptx_len;
#define GPUME_CUDA_CODE(name) \
    { "gpume_" #name, ff_gpume_##name##_ptx_data, &ff_gpume_##name##_ptx_len }

/** A loaded kernel and its launch configuration. */
typedef struct GpumeCudaLaunch {
    const unsigned char *ptx;   ///< identifies a shared module; NULL: the module is not shared
    CUmodule module;
    CUfunction function;
    unsigned grid[2];           ///< thread blocks, x and y
    unsigned threads;           ///< threads of a thread block
    unsigned shared;            ///< bytes of dynamic shared memory
} GpumeCudaLaunch;

/**
 * Loads a kernel into the current context, once for all users of this GpumeCuda.
 * @return 0 or an AVERROR code with a message
 */
int ff_gpume_cuda_load(const GpumeCuda *c, GpumeCudaLaunch *l, const GpumeCudaCode *code);

/** Unloads a kernel from the current context unless another user still needs it. Harmless if it was not loaded. */
void ff_gpume_cuda_unload(const GpumeCuda *c, GpumeCudaLaunch *l);

/**
 * Launches a kernel whose only parameter is args.
 * @param nb_z thread blocks in direction z
 */
CUresult ff_gpume_cuda_launch(const GpumeCuda *c, const GpumeCudaLaunch *l, unsigned nb_z,
                              void *args, CUstream stream);

#endif /* AVFILTER_GPUME_CUDA_COMMON_DRIVER_H */
