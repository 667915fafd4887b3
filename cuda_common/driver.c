/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdio.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/hwcontext_cuda_internal.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"

#include "libavfilter/cuda/load_helper.h"
#include "libavfilter/gpume/cuda_common/driver.h"

/* Values of CUresult that nv-codec-headers do not name. */
#define ERROR_OUT_OF_MEMORY            2
#define ERROR_NO_BINARY_FOR_GPU      209
#define ERROR_INVALID_PTX            218
#define ERROR_JIT_COMPILER_NOT_FOUND 221
#define ERROR_UNSUPPORTED_PTX        222

/* Functions that the loader of nv-codec-headers does not load. */
typedef CUresult CUDAAPI HostAlloc(void **p, size_t size, unsigned flags);
typedef CUresult CUDAAPI FreeHost(void *p);

/* the driver */
#if defined(_WIN32) || defined(__CYGWIN__)
#define DRIVER_LIBRARY "nvcuda.dll"
#else
#define DRIVER_LIBRARY "libcuda.so.1"
#endif

/** The most kernels that the users of a device share; further kernels are loaded once for each user. */
#define MAX_LOADED 48

/** CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, which FFmpeg's headers lack. */
#define ATTRIBUTE_MULTIPROCESSOR_SHARED ((CUdevice_attribute)81)

/** A loaded module. */
typedef struct Loaded {
    const unsigned char *ptx;       ///< NULL: the entry is free
    CUmodule module;
    CUfunction function;
    int nb_users;
} Loaded;

/** A device. It exists as long as anything is allocated on it. */
typedef struct Device {
    AVBufferRef *ref;               ///< AVHWDeviceContext
    AVCUDADeviceContext *hwctx;
    HostAlloc *host_alloc;
    FreeHost *free_host;
    Loaded loaded[MAX_LOADED];
} Device;

static void device_free(void *opaque, uint8_t *data)
{
    Device *device = (Device *)data;

    av_buffer_unref(&device->ref);
    av_free(device);
}

static av_cold int read_properties(GpumeCuda *c)
{
    int major, minor, ret;
    CUdevice device;
    CUresult err;

    ret = ff_gpume_cuda_push(c);
    if (ret < 0)
        return ret;
    err = c->cu->cuCtxGetDevice(&device);
    if (err == CUDA_SUCCESS)
        err = c->cu->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    if (err == CUDA_SUCCESS)
        err = c->cu->cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    if (err == CUDA_SUCCESS)
        err = c->cu->cuDeviceGetAttribute(&c->multiprocessor_shared, ATTRIBUTE_MULTIPROCESSOR_SHARED, device);
    if (err == CUDA_SUCCESS)
        err = c->cu->cuDriverGetVersion(&c->driver);
    ff_gpume_cuda_pop(c);
    if (err == CUDA_SUCCESS)
        c->capability = 10 * major + minor;
    return ff_gpume_cuda_check(c, err, "read the device's properties");
}

av_cold int ff_gpume_cuda_open(GpumeCuda *c, AVBufferRef *ref)
{
    Device *device = av_mallocz(sizeof(*device));
    int ret;

    if (!device) {
        av_buffer_unref(&ref);
        return AVERROR(ENOMEM);
    }
    device->ref   = ref;
    device->hwctx = ((AVHWDeviceContext *)ref->data)->hwctx;
    c->device     = av_buffer_create((uint8_t *)device, sizeof(*device), device_free, NULL, 0);
    if (!c->device) {
        device_free(NULL, (uint8_t *)device);
        return AVERROR(ENOMEM);
    }
    c->hwctx = device->hwctx;
    c->cu    = c->hwctx->internal->cuda_dl;

    device->host_alloc = (HostAlloc *)FFNV_SYM_FUNC(c->cu->lib, "cuMemHostAlloc");
    device->free_host  = (FreeHost *)FFNV_SYM_FUNC(c->cu->lib, "cuMemFreeHost");
    if (!device->host_alloc || !device->free_host) {
        av_log(c->log_ctx, c->log_level, "The NVIDIA driver cannot allocate pinned memory.\n");
        ff_gpume_cuda_close(c);
        return AVERROR(ENOSYS);
    }
    ret = read_properties(c);
    if (ret < 0)
        ff_gpume_cuda_close(c);
    return ret;
}

AVBufferRef *ff_gpume_cuda_device_ref(const GpumeCuda *c)
{
    return ((const Device *)c->device->data)->ref;
}

const void *ff_gpume_cuda_device_ctx(const GpumeCuda *c)
{
    return ff_gpume_cuda_device_ref(c)->data;
}

/* Returns 0 if there is a driver with a device, or an AVERROR code. Without this, FFmpeg would log errors. */
static av_cold int probe(int fallback, void *log_ctx)
{
    const int level = fallback ? AV_LOG_VERBOSE : AV_LOG_ERROR;
    tcuInit *cu_init;
    tcuDeviceGetCount *get_count;
    int nb_devices = 0, ret = 0;
    FFNV_LIB_HANDLE lib = FFNV_LOAD_FUNC(DRIVER_LIBRARY);

    if (!lib) {
        av_log(log_ctx, level, "No NVIDIA driver found (" DRIVER_LIBRARY "); use backend=cpu.\n");
        return AVERROR(ENODEV);
    }
    cu_init   = (tcuInit *)FFNV_SYM_FUNC(lib, "cuInit");
    get_count = (tcuDeviceGetCount *)FFNV_SYM_FUNC(lib, "cuDeviceGetCount");
    if (!cu_init || !get_count || cu_init(0) != CUDA_SUCCESS ||
        get_count(&nb_devices) != CUDA_SUCCESS || nb_devices < 1) {
        av_log(log_ctx, level, "The NVIDIA driver finds no device; use backend=cpu.\n");
        ret = AVERROR(ENODEV);
    }
    FFNV_FREE_FUNC(lib);
    return ret;
}

av_cold int ff_gpume_cuda_create_device(AVBufferRef **ref, AVBufferRef *hw_device, const char *name, int fallback,
                                        void *log_ctx)
{
    const int level = fallback ? AV_LOG_WARNING : AV_LOG_ERROR;
    int ret;

    if (hw_device && !name && ((AVHWDeviceContext *)hw_device->data)->type == AV_HWDEVICE_TYPE_CUDA) {
        *ref = av_buffer_ref(hw_device);
        return *ref ? 0 : AVERROR(ENOMEM);
    }
    ret = probe(fallback, log_ctx);
    if (ret < 0)
        return ret;
    /* all users share the primary context, so a second instance is cheap */
    ret = av_hwdevice_ctx_create(ref, AV_HWDEVICE_TYPE_CUDA, name, NULL, AV_CUDA_USE_PRIMARY_CONTEXT);
    if (ret == AVERROR(ENOTSUP))
        ret = av_hwdevice_ctx_create(ref, AV_HWDEVICE_TYPE_CUDA, name, NULL, 0);
    if (ret < 0)
        av_log(log_ctx, level, "Could not open CUDA device %s: %s.\n", name ? name : "0", av_err2str(ret));
    return ret;
}

av_cold int ff_gpume_cuda_open_for_frames(GpumeCuda *c, const AVBufferRef *hw_frames, void *log_ctx,
                                          const char *alternative)
{
    const AVHWFramesContext *frames = (const AVHWFramesContext *)hw_frames->data;
    AVBufferRef *ref = av_buffer_ref(frames->device_ref);
    int ret;

    *c = (GpumeCuda) { .log_ctx = log_ctx, .log_level = AV_LOG_ERROR, .alternative = alternative };
    if (!ref)
        return AVERROR(ENOMEM);
    ret = ff_gpume_cuda_open(c, ref);
    return ret < 0 ? ret : ff_gpume_cuda_push(c);
}

av_cold void ff_gpume_cuda_close(GpumeCuda *c)
{
    av_buffer_unref(&c->device);
    c->hwctx = NULL;
    c->cu    = NULL;
}

/* Returns "<before>update it, or <alternative>." */
static const char *update_or(const GpumeCuda *c, char text[128], const char *before)
{
    snprintf(text, 128, "%supdate it%s%s.", before, c->alternative ? ", or " : "",
             c->alternative ? c->alternative : "");
    return text;
}

int ff_gpume_cuda_check(const GpumeCuda *c, CUresult err, const char *what)
{
    const char *name = NULL, *text = NULL, *hint = "";
    char update[128];
    int ret = AVERROR_EXTERNAL;

    if (err == CUDA_SUCCESS)
        return 0;

    switch ((int)err) {
    case ERROR_OUT_OF_MEMORY:
        ret  = AVERROR(ENOMEM);
        hint = " Free device memory, or process fewer or smaller streams.";
        break;
    case ERROR_INVALID_PTX:
    case ERROR_UNSUPPORTED_PTX:
    case ERROR_NO_BINARY_FOR_GPU:
    case ERROR_JIT_COMPILER_NOT_FOUND:
        hint = update_or(c, update, " The driver is too old for these kernels: ");
        break;
    }
    c->cu->cuGetErrorName(err, &name);
    c->cu->cuGetErrorString(err, &text);
    av_log(c->log_ctx, c->log_level, "Could not %s: %s (%s).%s\n", what,
           text ? text : "unknown error", name ? name : "no name", hint);
    return ret;
}

int ff_gpume_cuda_push(const GpumeCuda *c)
{
    return ff_gpume_cuda_check(c, c->cu->cuCtxPushCurrent(c->hwctx->cuda_ctx),
                               "enter the CUDA context");
}

static int push_to_free(const AVCUDADeviceContext *hwctx)
{
    const CudaFunctions *cu = hwctx->internal->cuda_dl;

    return cu->cuCtxPushCurrent(hwctx->cuda_ctx) == CUDA_SUCCESS ||
           cu->cuCtxPushCurrent(hwctx->cuda_ctx) == CUDA_SUCCESS;
}

int ff_gpume_cuda_push_to_free(const GpumeCuda *c)
{
    return push_to_free(c->hwctx);
}

static void pop(const AVCUDADeviceContext *hwctx)
{
    CUcontext dummy;

    hwctx->internal->cuda_dl->cuCtxPopCurrent(&dummy);
}

void ff_gpume_cuda_pop(const GpumeCuda *c)
{
    pop(c->hwctx);
}

void ff_gpume_cuda_free(GpumeCudaBuffer *b)
{
    const Device *device;

    if (!b->device)
        return;
    device = (const Device *)b->device->data;
    if (push_to_free(device->hwctx)) {
        if (b->data)
            device->hwctx->internal->cuda_dl->cuMemFree(b->data);
        if (b->pinned)
            device->free_host(b->pinned);
        pop(device->hwctx);
    }
    av_buffer_unref(&b->device);
    memset(b, 0, sizeof(*b));
}

/* Allocates the memory of a buffer. The caller has pushed the CUDA context. */
static int alloc_memory(const GpumeCuda *c, GpumeCudaBuffer *b, int memory, const char *what)
{
    const Device *device = (const Device *)b->device->data;
    char text[128];
    int ret = 0;

    if (memory & GPUME_CUDA_DEVICE) {
        snprintf(text, sizeof(text), "allocate device memory for %s", what);
        ret = ff_gpume_cuda_check(c, c->cu->cuMemAlloc(&b->data, b->size), text);
    }
    if (ret >= 0 && memory & GPUME_CUDA_PINNED) {
        snprintf(text, sizeof(text), "allocate pinned memory for %s", what);
        ret = ff_gpume_cuda_check(c, device->host_alloc(&b->pinned, b->size, 0), text);
    }
    if (ret < 0 || !(memory & GPUME_CUDA_ZEROED))
        return ret;
    if (b->pinned)
        memset(b->pinned, 0, b->size);
    if (b->data)
        ret = ff_gpume_cuda_check(c, c->cu->cuMemsetD8Async(b->data, 0, b->size, NULL), "clear device memory");
    return ret < 0 ? ret : ff_gpume_cuda_check(c, c->cu->cuStreamSynchronize(NULL), "clear device memory");
}

int ff_gpume_cuda_alloc(const GpumeCuda *c, GpumeCudaBuffer *b, int memory, size_t size,
                        const char *what)
{
    int ret;

    b->device = av_buffer_ref(c->device);
    b->size   = size;
    if (!b->device)
        return AVERROR(ENOMEM);
    ret = ff_gpume_cuda_push(c);
    if (ret >= 0) {
        ret = alloc_memory(c, b, memory, what);
        ff_gpume_cuda_pop(c);
    }
    if (ret < 0)
        ff_gpume_cuda_free(b);
    return ret;
}

static void pool_free(void *opaque, uint8_t *data)
{
    GpumeCudaBuffer *b = opaque;

    ff_gpume_cuda_free(b);
    av_free(b);
}

static AVBufferRef *pool_alloc(void *opaque, size_t size)
{
    const GpumeCudaPool *p = opaque;
    GpumeCudaBuffer *b = av_mallocz(sizeof(*b));
    AVBufferRef *ref = NULL;

    if (!b)
        return NULL;
    if (ff_gpume_cuda_alloc(p->cuda, b, p->memory, size, p->what) >= 0)
        ref = av_buffer_create(b->pinned ? b->pinned : (uint8_t *)(uintptr_t)b->data, size,
                               pool_free, b, 0);
    if (!ref)
        pool_free(b, NULL);
    return ref;
}

av_cold int ff_gpume_cuda_pool_init(GpumeCudaPool *p, const GpumeCuda *c, int memory, size_t size,
                                    const char *what)
{
    *p = (GpumeCudaPool) { .cuda = c, .memory = memory, .size = size, .what = what };
    p->pool = av_buffer_pool_init2(size, p, pool_alloc, NULL);
    return p->pool ? 0 : AVERROR(ENOMEM);
}

AVBufferRef *ff_gpume_cuda_pool_get(GpumeCudaPool *p)
{
    return av_buffer_pool_get(p->pool);
}

av_cold void ff_gpume_cuda_pool_uninit(GpumeCudaPool *p)
{
    av_buffer_pool_uninit(&p->pool);
}

const GpumeCudaBuffer *ff_gpume_cuda_buffer(const AVBufferRef *ref)
{
    return av_buffer_pool_buffer_get_opaque(ref);
}

/* Returns the entry of the module with this code, or NULL. For code NULL, returns a free entry. */
static Loaded *find_loaded(const GpumeCuda *c, const unsigned char *ptx)
{
    Device *device = (Device *)c->device->data;

    for (int i = 0; i < MAX_LOADED; i++)
        if (device->loaded[i].ptx == ptx)
            return &device->loaded[i];
    return NULL;
}

av_cold int ff_gpume_cuda_load(const GpumeCuda *c, GpumeCudaLaunch *l, const GpumeCudaCode *code)
{
    Loaded *loaded = find_loaded(c, code->ptx);
    char update[128];
    int ret;

    if (loaded) {
        loaded->nb_users++;
        l->ptx      = code->ptx;
        l->module   = loaded->module;
        l->function = loaded->function;
        return 0;
    }
    ret = ff_cuda_load_module(c->log_ctx, c->hwctx, &l->module, code->ptx, *code->ptx_len);
    if (ret < 0) {
        av_log(c->log_ctx, c->log_level, "Could not load the kernels: %s\n",
               update_or(c, update, "the driver may be too old for them; "));
        return ret;
    }
    ret = ff_gpume_cuda_check(c, c->cu->cuModuleGetFunction(&l->function, l->module, code->function),
                              "find a kernel");
    loaded = ret < 0 ? NULL : find_loaded(c, NULL);
    if (loaded) {
        *loaded = (Loaded) { code->ptx, l->module, l->function, 1 };
        l->ptx  = code->ptx;
    }
    return ret;
}

av_cold void ff_gpume_cuda_unload(const GpumeCuda *c, GpumeCudaLaunch *l)
{
    Loaded *loaded = l->ptx ? find_loaded(c, l->ptx) : NULL;

    if (l->module && (!loaded || !--loaded->nb_users)) {
        c->cu->cuModuleUnload(l->module);
        if (loaded)
            *loaded = (Loaded) { NULL };
    }
    l->ptx      = NULL;
    l->module   = NULL;
    l->function = NULL;
}

CUresult ff_gpume_cuda_launch(const GpumeCuda *c, const GpumeCudaLaunch *l, unsigned nb_z,
                              void *args, CUstream stream)
{
    void *params[] = { args };

    return c->cu->cuLaunchKernel(l->function, l->grid[0], l->grid[1], nb_z, l->threads, 1, 1,
                                 l->shared, stream, params, NULL);
}
