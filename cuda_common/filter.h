/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Host code that all filters with kernels for CUDA frames share: it opens the device of the frames, loads and
 * launches kernels on the stream of the frames, provides a ring of uploads, and keeps the first error. mvview,
 * mvfps, mvdenoise, mvdeint, mvstab and mvstereo are built upon it.
 *
 * A function of the filter that uses the device is enclosed by ff_gpume_cuda_filter_enter() and
 * ff_gpume_cuda_filter_leave(), which push and pop the device's context. All other functions need the pushed
 * context, except ff_gpume_cuda_filter_close().
 */

#ifndef AVFILTER_GPUME_CUDA_COMMON_FILTER_H
#define AVFILTER_GPUME_CUDA_COMMON_FILTER_H

#include "libavfilter/gpume/cuda_common/driver.h"
#include "libavfilter/gpume/cuda_common/uploads.h"

/** The most kernels of a filter. */
#define GPUME_CUDA_FILTER_KERNELS 25
/** The longest side of a picture, in samples, for which 32-bit coordinates and indices suffice. */
#define GPUME_CUDA_FILTER_MAX_SIDE 32768

/** A compiled module, as a row of the filter's modules.h describes it. */
typedef struct GpumeCudaFilterModule {
    GpumeCudaCode code;
    const char *family;         ///< the source file that it was compiled from, without .cu
    int depth;                  ///< 8 or 16: the depth of samples that it is for; 0: every depth
    int variant;
} GpumeCudaFilterModule;

#define GPUME_CUDA_FILTER_DECLARE(name, family, depth, variant) GPUME_CUDA_DECLARE(name)
#define GPUME_CUDA_FILTER_ROW(name, family, depth, variant) { GPUME_CUDA_CODE(name), #family, depth, variant },

/** Defines modules[] from the list of a modules.h. The last row has no family. */
#define GPUME_CUDA_FILTER_MODULES(LIST) \
    LIST(GPUME_CUDA_FILTER_DECLARE)     \
    static const GpumeCudaFilterModule modules[] = { LIST(GPUME_CUDA_FILTER_ROW) { .family = NULL } };

/** A kernel that a filter launches: which module contains it, and how it is launched. */
typedef struct GpumeCudaFilterKernel {
    const char *family;         ///< family and variant of the module
    int variant;
    unsigned threads;           ///< threads of a thread block
    unsigned shared;            ///< bytes of dynamic shared memory of a thread block
    const char *what;           ///< what the kernel does, for errors: "Could not <what>: ..."
} GpumeCudaFilterKernel;

/** Zeroed before ff_gpume_cuda_filter_open(), but for alternative. */
typedef struct GpumeCudaFilter {
    GpumeCuda cuda;
    const char *alternative;    ///< GpumeCuda.alternative; NULL: that of frames on a device
    GpumeCudaUploads uploads;
    GpumeCudaLaunch launches[GPUME_CUDA_FILTER_KERNELS];
    const char *what[GPUME_CUDA_FILTER_KERNELS];
    int failed;                 ///< the first error; after it the device is not used, as its state is unknown
} GpumeCudaFilter;

/** Returns n / d, rounded up. */
static inline int gpume_divide_up(int n, int d)
{
    return (n + d - 1) / d;
}

/**
 * Opens the device of some frames and initialises the uploads. Leaves the device's context pushed.
 * @param hw_frames AVHWFramesContext of format CUDA
 * @return 0 or an AVERROR code with a message, and then nothing is pushed
 */
int ff_gpume_cuda_filter_open(GpumeCudaFilter *s, const AVBufferRef *hw_frames, void *log_ctx);

/**
 * Loads a kernel: the module of its family and variant for samples of a depth.
 * @param number  the kernel's number for ff_gpume_cuda_filter_launch(), below GPUME_CUDA_FILTER_KERNELS
 * @param modules ends with a row without a family
 * @param depth   bits of a sample
 * @return 0 or an AVERROR code with a message
 */
int ff_gpume_cuda_filter_load(GpumeCudaFilter *s, int number, const GpumeCudaFilterKernel *kernel,
                              const GpumeCudaFilterModule *modules, int depth);

/** Pushes the context. @return 0, or an AVERROR code: that of an earlier failure, or a new one with a message */
int ff_gpume_cuda_filter_enter(GpumeCudaFilter *s);

/** Pops the context. If ret is an error, ff_gpume_cuda_filter_enter() returns it from now on. @return ret */
int ff_gpume_cuda_filter_leave(GpumeCudaFilter *s, int ret);

/** Reports an error of the driver. @return 0 or an AVERROR code */
static inline int ff_gpume_cuda_filter_check(const GpumeCudaFilter *s, CUresult err, const char *what)
{
    return ff_gpume_cuda_check(&s->cuda, err, what);
}

/** Calls a function of the driver, and reports its error. @return 0 or an AVERROR code */
#define GPUME_CUDA_CALL(s, call, what) ff_gpume_cuda_filter_check(s, (s)->cuda.cu->call, what)

/** Returns the stream of the frames' device. */
static inline CUstream ff_gpume_cuda_filter_stream(const GpumeCudaFilter *s)
{
    return s->cuda.hwctx->stream;
}

/**
 * Launches a kernel on a stream.
 * @param x, y, z thread blocks in each direction
 * @param args    the kernel's only parameter
 * @return 0 or an AVERROR code with a message
 */
int ff_gpume_cuda_filter_launch_on(GpumeCudaFilter *s, CUstream stream, int number, int x, int y, int z,
                                   const void *args);

/** Launches a kernel on the stream of the frames' device. */
int ff_gpume_cuda_filter_launch(GpumeCudaFilter *s, int number, int x, int y, int z, const void *args);

/**
 * Allocates device memory, unless the buffer has some already.
 * @param what what the memory is for: "vectors"
 * @return 0 or an AVERROR code with a message
 */
int ff_gpume_cuda_filter_memory(GpumeCudaFilter *s, GpumeCudaBuffer *b, size_t size, const char *what);

/** Waits until the device has done what was queued on a stream. @return 0 or an AVERROR code with a message */
int ff_gpume_cuda_filter_wait(GpumeCudaFilter *s, CUstream stream);

/**
 * Compares the sides of pictures with GPUME_CUDA_FILTER_MAX_SIDE.
 * @param filter the filter's name, for the message
 * @return 0, or AVERROR(ENOSYS) with a message
 */
int ff_gpume_cuda_filter_fits(const GpumeCudaFilter *s, const char *filter, int w, int h);

/**
 * Enters for pictures of another size: ff_gpume_cuda_filter_fits() and ff_gpume_cuda_filter_enter(), and waits for the
 * stream, so that the memory for pictures can be freed.
 * @return 0 or an AVERROR code with a message, and then nothing is pushed
 */
int ff_gpume_cuda_filter_enter_resized(GpumeCudaFilter *s, const char *filter, int w, int h);

/**
 * Waits for the device, unloads the kernels, and frees the uploads. Harmless on a zeroed GpumeCudaFilter.
 * @param close frees what the filter has allocated, while the device is idle and its context is pushed;
 *              not called if the device was never opened or cannot be entered; may be NULL
 */
void ff_gpume_cuda_filter_close(GpumeCudaFilter *s, void (*close)(void *priv), void *priv);

#endif /* AVFILTER_GPUME_CUDA_COMMON_FILTER_H */
