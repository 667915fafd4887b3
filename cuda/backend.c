/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The CUDA backend's host side, over FFmpeg's loader of the driver API.
 *
 * Three streams: frames in system memory go up on one, searches run on the
 * second, vectors come down on the third; events order them. A picture that was
 * uploaded stays on the device for as long as the filter keeps it, and serves as
 * current picture and as reference. Frames that lie on the device are read there.
 *
 * Fields that follow the motion are searched in planes of their own, made when a picture
 * comes in, on the stream of the searches.
 *
 * What a search reads stays referenced by the filter until wait() has returned,
 * so a buffer that comes back to its pool is idle on every stream.
 */

#include <string.h>

#include "config.h"
#include "compat/cuda/dynlink_loader.h"
#include "libavutil/attributes.h"
#include "libavutil/avassert.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/hwcontext_cuda_internal.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/cuda/kernels.h"

#if defined(_WIN32) || defined(__CYGWIN__)
#define DRIVER_LIBRARY "nvcuda.dll"
#else
#define DRIVER_LIBRARY "libcuda.so.1"
#endif

/* What nv-codec-headers' loader does not load. */
typedef CUresult CUDAAPI HostAlloc(void **p, size_t size, unsigned flags);
typedef CUresult CUDAAPI FreeHost(void *p);

/** A device, for as long as anything is allocated on it. */
typedef struct Device {
    AVBufferRef *ref;               ///< AVHWDeviceContext
    AVCUDADeviceContext *hwctx;
    CudaFunctions *cu;
    HostAlloc *host_alloc;
    FreeHost *free_host;
} Device;

/** A picture's luma: in pinned memory, and on the device. */
typedef struct Upload {
    AVBufferRef *device;            ///< Device
    CUdeviceptr data;
    void *pinned;
} Upload;

/** A picture's planes. */
typedef struct Planes {
    AVBufferRef *device;            ///< Device
    CUdeviceptr data;
} Planes;

/** A search in flight. */
typedef struct Slot {
    CUdeviceptr mvs;
    CUdeviceptr costs;
    CUdeviceptr intra;              ///< with GpumeParams.intra: uint64_t of each field
    uint64_t *host_intra;           ///< pinned
    CUevent searched;
    CUevent done;                   ///< results are in host memory
} Slot;

typedef struct CUDAContext {
    GpumeParams params;
    void (*execute)(void *opaque, GpumeJob job, void *arg, int nb_jobs);
    void *opaque;
    void *log_ctx;
    int log_level;                  ///< of errors

    AVBufferRef *device_ref;
    Device *device;                 ///< device_ref's
    GpumeCudaKernel kernel;
    GpumeCudaMotion motion;

    CUstream upload_stream, stream, download_stream;
    CUevent imported;
    Slot *slots;                    ///< a ring
    int nb_slots;
    unsigned nb_submitted, nb_waited;

    int hw_frames;                  ///< the input's frames lie on the device
    ptrdiff_t upload_linesize;
    AVBufferPool *uploads;          ///< Upload
    AVBufferPool *planes;           ///< Planes
    AVBufferPool *mvs;              ///< pinned
    AVBufferPool *costs;            ///< pinned
} CUDAContext;

/* After the first error the driver only repeats it. */
static int check(CUDAContext *s, CUresult err, const char *what)
{
    return ff_gpume_cuda_check(s->log_ctx, s->log_level, s->device->cu, err, what);
}

static int push(CUDAContext *s)
{
    return check(s, s->device->cu->cuCtxPushCurrent(s->device->hwctx->cuda_ctx),
                 "enter the CUDA context");
}

static void pop(CUDAContext *s)
{
    CUcontext dummy;

    s->device->cu->cuCtxPopCurrent(&dummy);
}

/*
 * To free something. What cannot be freed stays until the process ends, so a call
 * that failed is made once more.
 */
static int push_to_free(const Device *device)
{
    const CudaFunctions *cu = device->cu;
    const CUcontext ctx = device->hwctx->cuda_ctx;

    return cu->cuCtxPushCurrent(ctx) == CUDA_SUCCESS ||
           cu->cuCtxPushCurrent(ctx) == CUDA_SUCCESS;
}

static void device_free(void *opaque, uint8_t *data)
{
    Device *device = (Device *)data;

    av_buffer_unref(&device->ref);
    av_free(device);
}

/* Whether there is a driver with a device, without FFmpeg's error messages. */
static av_cold int probe(CUDAContext *s, int fallback)
{
    const int level = fallback ? AV_LOG_VERBOSE : AV_LOG_ERROR;
    tcuInit *cu_init;
    tcuDeviceGetCount *get_count;
    int nb_devices = 0, ret = 0;
    FFNV_LIB_HANDLE lib = FFNV_LOAD_FUNC(DRIVER_LIBRARY);

    if (!lib) {
        av_log(s->log_ctx, level, "There is no NVIDIA driver ("
               DRIVER_LIBRARY "); backend=cpu searches without one.\n");
        return AVERROR(ENODEV);
    }
    cu_init   = (tcuInit *)FFNV_SYM_FUNC(lib, "cuInit");
    get_count = (tcuDeviceGetCount *)FFNV_SYM_FUNC(lib, "cuDeviceGetCount");
    if (!cu_init || !get_count || cu_init(0) != CUDA_SUCCESS ||
        get_count(&nb_devices) != CUDA_SUCCESS || nb_devices < 1) {
        av_log(s->log_ctx, level, "The NVIDIA driver finds no device; "
               "backend=cpu searches without one.\n");
        ret = AVERROR(ENODEV);
    }
    FFNV_FREE_FUNC(lib);
    return ret;
}

static av_cold int open_device(CUDAContext *s, const GpumeBackendConfig *cfg)
{
    AVBufferRef *ref = NULL;
    AVHWDeviceContext *ctx;
    Device *device;
    int ret;

    if (cfg->hw_frames) {
        ref = av_buffer_ref(((AVHWFramesContext *)cfg->hw_frames->data)->device_ref);
        if (!ref)
            return AVERROR(ENOMEM);
    } else if (cfg->hw_device && ((AVHWDeviceContext *)cfg->hw_device->data)->type ==
               AV_HWDEVICE_TYPE_CUDA) {
        ref = av_buffer_ref(cfg->hw_device);
        if (!ref)
            return AVERROR(ENOMEM);
    } else {
        ret = probe(s, cfg->fallback);
        if (ret < 0)
            return ret;
        /* the primary context is shared by all that use it: a second instance is cheap */
        ret = av_hwdevice_ctx_create(&ref, AV_HWDEVICE_TYPE_CUDA, cfg->device,
                                     NULL, AV_CUDA_USE_PRIMARY_CONTEXT);
        if (ret == AVERROR(ENOTSUP))
            ret = av_hwdevice_ctx_create(&ref, AV_HWDEVICE_TYPE_CUDA,
                                         cfg->device, NULL, 0);
        if (ret < 0) {
            av_log(s->log_ctx, s->log_level, "Could not open CUDA device %s: "
                   "%s.\n", cfg->device ? cfg->device : "0", av_err2str(ret));
            return ret;
        }
    }

    device = av_mallocz(sizeof(*device));
    if (!device) {
        av_buffer_unref(&ref);
        return AVERROR(ENOMEM);
    }
    ctx           = (AVHWDeviceContext *)ref->data;
    device->ref   = ref;
    device->hwctx = ctx->hwctx;
    device->cu    = device->hwctx->internal->cuda_dl;
    s->device_ref = av_buffer_create((uint8_t *)device, sizeof(*device),
                                     device_free, NULL, 0);
    if (!s->device_ref) {
        device_free(NULL, (uint8_t *)device);
        return AVERROR(ENOMEM);
    }
    s->device = device;

    device->host_alloc = (HostAlloc *)FFNV_SYM_FUNC(device->cu->lib, "cuMemHostAlloc");
    device->free_host  = (FreeHost *)FFNV_SYM_FUNC(device->cu->lib, "cuMemFreeHost");
    if (!device->host_alloc || !device->free_host) {
        av_log(s->log_ctx, s->log_level,
               "The NVIDIA driver cannot allocate pinned memory.\n");
        return AVERROR(ENOSYS);
    }
    return 0;
}

static void pinned_free(void *opaque, uint8_t *data)
{
    AVBufferRef *ref = opaque;
    Device *device = (Device *)ref->data;
    CUcontext dummy;

    if (push_to_free(device)) {
        device->free_host(data);
        device->cu->cuCtxPopCurrent(&dummy);
    }
    av_buffer_unref(&ref);
}

/* For a pool; the buffer keeps the device, as it may outlive the filter. */
static AVBufferRef *pinned_alloc(void *opaque, size_t size)
{
    CUDAContext *s = opaque;
    AVBufferRef *ref = av_buffer_ref(s->device_ref), *buf;
    void *data = NULL;
    int ret;

    if (!ref)
        return NULL;
    ret = push(s);
    if (ret >= 0) {
        ret = check(s, s->device->host_alloc(&data, size, 0), "allocate pinned memory");
        pop(s);
    }
    if (ret < 0) {
        av_buffer_unref(&ref);
        return NULL;
    }
    buf = av_buffer_create(data, size, pinned_free, ref, 0);
    if (!buf)
        pinned_free(ref, data);
    return buf;
}

static void upload_free(void *opaque, uint8_t *data)
{
    Upload *upload = (Upload *)data;
    Device *device = (Device *)upload->device->data;
    CUcontext dummy;

    if (push_to_free(device)) {
        if (upload->data)
            device->cu->cuMemFree(upload->data);
        if (upload->pinned)
            device->free_host(upload->pinned);
        device->cu->cuCtxPopCurrent(&dummy);
    }
    av_buffer_unref(&upload->device);
    av_free(upload);
}

static AVBufferRef *upload_alloc(void *opaque, size_t size)
{
    CUDAContext *s = opaque;
    const size_t luma_size = s->upload_linesize * s->params.height;
    Upload *upload = av_mallocz(size);
    AVBufferRef *buf;
    int ret;

    if (!upload)
        return NULL;
    upload->device = av_buffer_ref(s->device_ref);
    if (!upload->device) {
        av_free(upload);
        return NULL;
    }
    ret = push(s);
    if (ret >= 0) {
        ret = check(s, s->device->cu->cuMemAlloc(&upload->data, luma_size),
                    "allocate device memory for a frame");
        if (ret >= 0)
            ret = check(s, s->device->host_alloc(&upload->pinned, luma_size, 0),
                        "allocate pinned memory for a frame");
        pop(s);
    }
    buf = ret < 0 ? NULL : av_buffer_create((uint8_t *)upload, size, upload_free, NULL, 0);
    if (!buf) {
        upload_free(NULL, (uint8_t *)upload);
        return NULL;
    }
    /* the bytes between the rows go up too */
    memset(upload->pinned, 0, luma_size);
    return buf;
}

static void planes_free(void *opaque, uint8_t *data)
{
    Planes *planes = (Planes *)data;
    Device *device = (Device *)planes->device->data;
    CUcontext dummy;

    if (push_to_free(device)) {
        if (planes->data)
            device->cu->cuMemFree(planes->data);
        device->cu->cuCtxPopCurrent(&dummy);
    }
    av_buffer_unref(&planes->device);
    av_free(planes);
}

static AVBufferRef *planes_alloc(void *opaque, size_t size)
{
    CUDAContext *s = opaque;
    Planes *planes = av_mallocz(size);
    AVBufferRef *buf;
    int ret;

    if (!planes)
        return NULL;
    planes->device = av_buffer_ref(s->device_ref);
    if (!planes->device) {
        av_free(planes);
        return NULL;
    }
    ret = push(s);
    if (ret >= 0) {
        ret = check(s, s->device->cu->cuMemAlloc(&planes->data, s->motion.planes.size),
                    "allocate device memory for a picture");
        /* the bytes between the rows are read, too */
        if (ret >= 0)
            ret = check(s, s->device->cu->cuMemsetD8Async(planes->data, 0, s->motion.planes.size,
                                                          s->stream), "clear a picture");
        pop(s);
    }
    buf = ret < 0 ? NULL : av_buffer_create((uint8_t *)planes, size, planes_free, NULL, 0);
    if (!buf)
        planes_free(NULL, (uint8_t *)planes);
    return buf;
}

/* With the context pushed. */
static av_cold int init_device(CUDAContext *s, const GpumePlan *plan)
{
    const size_t nb_vectors = (size_t)s->params.bw * s->params.bh * s->params.nb_distances;
    CudaFunctions *cu = s->device->cu;
    int ret;

#define TRY(call, what) \
    if ((ret = check(s, cu->call, what)) < 0) \
        return ret;

    ret = ff_gpume_cuda_kernel_init(&s->kernel, s->device->hwctx, &s->params, plan,
                                    s->log_ctx, s->log_level);
    if (ret < 0)
        return ret;
    ret = ff_gpume_cuda_motion_init(&s->motion, s->device->hwctx, &s->params, plan,
                                    s->hw_frames ? s->params.shift : 0, s->log_ctx, s->log_level);
    if (ret < 0)
        return ret;

    TRY(cuStreamCreate(&s->upload_stream,   CU_STREAM_NON_BLOCKING), "create a stream")
    TRY(cuStreamCreate(&s->stream,          CU_STREAM_NON_BLOCKING), "create a stream")
    TRY(cuStreamCreate(&s->download_stream, CU_STREAM_NON_BLOCKING), "create a stream")
    TRY(cuEventCreate(&s->imported, CU_EVENT_DISABLE_TIMING), "create an event")
    for (int i = 0; i < s->nb_slots; i++) {
        Slot *slot = &s->slots[i];

        TRY(cuEventCreate(&slot->searched, CU_EVENT_DISABLE_TIMING), "create an event")
        TRY(cuEventCreate(&slot->done,     CU_EVENT_DISABLE_TIMING), "create an event")
        TRY(cuMemAlloc(&slot->mvs, nb_vectors * sizeof(AVMotionVector)),
            "allocate device memory for vectors")
        TRY(cuMemAlloc(&slot->costs, nb_vectors * sizeof(uint32_t)),
            "allocate device memory for costs")
        if (!s->params.intra)
            continue;
        TRY(cuMemAlloc(&slot->intra, s->params.nb_distances * sizeof(*slot->host_intra)),
            "allocate device memory for sums")
        ret = check(s, s->device->host_alloc((void **)&slot->host_intra, s->params.nb_distances *
                                             sizeof(*slot->host_intra), 0), "allocate pinned memory");
        if (ret < 0)
            return ret;
    }
    return 0;
}

static av_cold int init(void *priv, const GpumeBackendConfig *cfg)
{
    CUDAContext *s = priv;
    const GpumeParams *p = &s->params;
    const size_t nb_vectors = (size_t)cfg->params.bw * cfg->params.bh * cfg->params.nb_distances;
    int ret;

    s->params    = cfg->params;
    s->execute   = cfg->execute;
    s->opaque    = cfg->opaque;
    s->log_ctx   = cfg->log_ctx;
    s->log_level = cfg->fallback ? AV_LOG_WARNING : AV_LOG_ERROR;
    s->hw_frames = !!cfg->hw_frames;
    s->nb_slots  = cfg->max_searches;
    s->slots     = av_calloc(s->nb_slots, sizeof(*s->slots));
    if (!s->slots)
        return AVERROR(ENOMEM);

    ret = open_device(s, cfg);
    if (ret < 0)
        return ret;

    ret = push(s);
    if (ret < 0)
        return ret;
    ret = init_device(s, &cfg->plan);
    pop(s);
    if (ret < 0)
        return ret;
    if (!s->hw_frames)
        s->kernel.args.params.shift = 0;    /* import() right-justifies */

    s->mvs   = av_buffer_pool_init2(nb_vectors * sizeof(AVMotionVector), s,
                                    pinned_alloc, NULL);
    s->costs = av_buffer_pool_init2(nb_vectors * sizeof(uint32_t), s,
                                    pinned_alloc, NULL);
    if (!s->mvs || !s->costs)
        return AVERROR(ENOMEM);
    if (!s->hw_frames) {
        s->upload_linesize = FFALIGN(p->width * (p->depth > 8 ? 2 : 1), 64);
        s->uploads = av_buffer_pool_init2(sizeof(Upload), s, upload_alloc, NULL);
        if (!s->uploads)
            return AVERROR(ENOMEM);
    }
    if (s->motion.planes.nb_levels) {
        s->planes = av_buffer_pool_init2(sizeof(Planes), s, planes_alloc, NULL);
        if (!s->planes)
            return AVERROR(ENOMEM);
    }
    /* from here on an error is one, even where another backend could have been tried */
    s->log_level = AV_LOG_ERROR;
    return 0;
}

typedef struct StageArg {
    const CUDAContext *s;
    const AVFrame *frame;
    uint8_t *dst;
} StageArg;

/* Luma into pinned memory. */
static void stage_rows(void *opaque, int job, int nb_jobs)
{
    const StageArg *arg = opaque;

    ff_gpume_copy_luma(arg->dst, arg->s->upload_linesize, arg->frame, &arg->s->params, job, nb_jobs);
}

static GpumeCudaPlane luma_of(const GpumePicture *pic)
{
    return (GpumeCudaPlane) { (uintptr_t)pic->luma, pic->linesize };
}

/* With the context pushed. */
static int make_planes(CUDAContext *s, GpumePicture *pic)
{
    const GpumeCudaPlane luma = luma_of(pic);

    pic->planes = av_buffer_pool_get(s->planes);
    if (!pic->planes)
        return AVERROR(ENOMEM);
    return check(s, ff_gpume_cuda_motion_planes(&s->motion, &luma,
                                                ((Planes *)pic->planes->data)->data, s->stream),
                 "make the planes of a frame");
}

/* Of the pair of fields that the check takes, one may be all that was asked for. */
static int nb_fields_wanted(const CUDAContext *s, const GpumeSearch *search)
{
    return FFMIN(search->nb_fields, s->params.nb_references);
}

static int import(void *priv, GpumePicture *pic)
{
    CUDAContext *s = priv;
    CudaFunctions *cu = s->device->cu;
    CUstream source = s->device->hwctx->stream;
    StageArg arg = { .s = s, .frame = pic->frame };
    Upload *upload = NULL;
    int ret;

    ret = ff_gpume_check_luma(pic->frame, &s->params, s->log_ctx);
    if (ret < 0)
        return ret;
    if (s->hw_frames) {
        pic->luma     = pic->frame->data[0];
        pic->linesize = pic->frame->linesize[0];
    } else {
        pic->copy = av_buffer_pool_get(s->uploads);
        if (!pic->copy)
            return AVERROR(ENOMEM);
        upload        = (Upload *)pic->copy->data;
        pic->luma     = (const uint8_t *)(uintptr_t)upload->data;
        pic->linesize = s->upload_linesize;
        source        = s->upload_stream;

        arg.dst = upload->pinned;
        s->execute(s->opaque, stage_rows, &arg, FFMIN(s->params.height, 16));
    }

    ret = push(s);
    if (ret < 0)
        return ret;
    if (upload)
        ret = check(s, cu->cuMemcpyHtoDAsync(upload->data, upload->pinned,
                                             s->upload_linesize * s->params.height,
                                             source), "upload a frame");
    if (ret >= 0)
        ret = check(s, cu->cuEventRecord(s->imported, source), "record an event");
    if (ret >= 0)
        ret = check(s, cu->cuStreamWaitEvent(s->stream, s->imported, 0),
                    "wait for a frame");
    if (ret >= 0 && s->planes)
        ret = make_planes(s, pic);
    pop(s);
    return ret;
}

/* The stages that search block by block: all fields at once where they have the same picture. */
static CUresult launch_kernels(CUDAContext *s, const Slot *slot, const GpumeSearch *search)
{
    const size_t nb_blocks = (size_t)s->params.bw * s->params.bh;
    GpumeCudaArgs *args = &s->kernel.args;
    const int at_once = s->params.check ? 1 : search->nb_fields;
    CUresult err = CUDA_SUCCESS;

    for (int i = 0; i < search->nb_fields && err == CUDA_SUCCESS; i += at_once) {
        args->cur   = luma_of(search->fields[i].cur);
        args->mvs   = slot->mvs   + i * nb_blocks * sizeof(AVMotionVector);
        args->costs = slot->costs + i * nb_blocks * sizeof(uint32_t);
        for (int j = 0; j < at_once; j++) {
            args->fields[j].plane     = luma_of(search->fields[i + j].ref);
            args->fields[j].reference = search->fields[i + j].reference;
        }
        err = ff_gpume_cuda_kernel_launch(&s->kernel, at_once, s->stream);
    }
    return err;
}

static CUresult launch_motion(CUDAContext *s, const Slot *slot, const GpumeSearch *search)
{
    const GpumeCudaResults results = { slot->mvs, slot->costs, slot->intra };
    GpumeCudaMotionField fields[GPUME_MAX_REFERENCES];

    for (int i = 0; i < search->nb_fields; i++) {
        const GpumeField *field = &search->fields[i];

        fields[i].cur_luma  = luma_of(field->cur);
        fields[i].cur       = s->planes ? ((Planes *)field->cur->planes->data)->data : 0;
        fields[i].ref       = s->planes ? ((Planes *)field->ref->planes->data)->data : 0;
        fields[i].reference = field->reference;
    }
    return ff_gpume_cuda_motion_launch(&s->motion, fields, search->nb_fields, &results, s->stream);
}

/* With the context pushed. */
static int launch(CUDAContext *s, Slot *slot, GpumeSearch *search)
{
    const size_t nb_wanted = (size_t)nb_fields_wanted(s, search) * s->params.bw * s->params.bh;
    CudaFunctions *cu = s->device->cu;
    int ret;

    ret = check(s, launch_kernels(s, slot, search), "launch the search");
    if (ret >= 0)
        ret = check(s, launch_motion(s, slot, search), "launch the search");
    if (ret < 0)
        return ret;
    TRY(cuEventRecord(slot->searched, s->stream), "record an event")
    TRY(cuStreamWaitEvent(s->download_stream, slot->searched, 0), "wait for the search")
    TRY(cuMemcpyDtoHAsync(search->mvs->data, slot->mvs, nb_wanted * sizeof(AVMotionVector),
                          s->download_stream), "download vectors")
    TRY(cuMemcpyDtoHAsync(search->costs->data, slot->costs, nb_wanted * sizeof(uint32_t),
                          s->download_stream), "download costs")
    if (slot->intra)
        TRY(cuMemcpyDtoHAsync(slot->host_intra, slot->intra,
                              nb_fields_wanted(s, search) * sizeof(*slot->host_intra),
                              s->download_stream), "download sums")
    TRY(cuEventRecord(slot->done, s->download_stream), "record an event")
    return 0;
}

static int submit(void *priv, GpumeSearch *search)
{
    CUDAContext *s = priv;
    Slot *slot = &s->slots[s->nb_submitted % s->nb_slots];
    int ret;

    av_assert0(s->nb_submitted - s->nb_waited < s->nb_slots);

    ret = ff_gpume_search_alloc(search, &s->params, s->mvs, s->costs);
    if (ret < 0)
        return ret;

    ret = push(s);
    if (ret < 0)
        return ret;
    s->nb_submitted++;
    ret = launch(s, slot, search);
    pop(s);
    return ret;
}

static int wait(void *priv, GpumeSearch *search)
{
    CUDAContext *s = priv;
    Slot *slot = &s->slots[s->nb_waited++ % s->nb_slots];
    int ret;

    ret = push(s);
    if (ret < 0)
        return ret;
    ret = check(s, s->device->cu->cuEventSynchronize(slot->done), "search");
    pop(s);
    if (ret >= 0 && slot->intra)
        for (int i = 0; i < nb_fields_wanted(s, search); i++)
            search->fields[i].intra = slot->host_intra[i];
    return ret;
}

static av_cold void uninit_device(CUDAContext *s)
{
    CudaFunctions *cu = s->device->cu;
    CUstream *streams[] = { &s->upload_stream, &s->stream, &s->download_stream };

    /* what is in flight reads and writes what is freed next */
    for (int i = 0; i < FF_ARRAY_ELEMS(streams); i++)
        if (*streams[i])
            cu->cuStreamSynchronize(*streams[i]);

    for (int i = 0; i < s->nb_slots; i++) {
        Slot *slot = &s->slots[i];

        if (slot->mvs)
            cu->cuMemFree(slot->mvs);
        if (slot->costs)
            cu->cuMemFree(slot->costs);
        if (slot->intra)
            cu->cuMemFree(slot->intra);
        if (slot->host_intra)
            s->device->free_host(slot->host_intra);
        if (slot->searched)
            cu->cuEventDestroy(slot->searched);
        if (slot->done)
            cu->cuEventDestroy(slot->done);
    }
    if (s->imported)
        cu->cuEventDestroy(s->imported);
    for (int i = 0; i < FF_ARRAY_ELEMS(streams); i++)
        if (*streams[i])
            cu->cuStreamDestroy(*streams[i]);
    ff_gpume_cuda_kernel_uninit(&s->kernel);
    ff_gpume_cuda_motion_uninit(&s->motion);
}

static av_cold void uninit(void *priv)
{
    CUDAContext *s = priv;
    CUcontext dummy;

    if (s->device && push_to_free(s->device)) {
        uninit_device(s);
        s->device->cu->cuCtxPopCurrent(&dummy);
    }
    av_freep(&s->slots);
    av_buffer_pool_uninit(&s->uploads);
    av_buffer_pool_uninit(&s->planes);
    av_buffer_pool_uninit(&s->mvs);
    av_buffer_pool_uninit(&s->costs);
    av_buffer_unref(&s->device_ref);
}

const GpumeBackend ff_gpume_backend_cuda = {
    .name      = "cuda",
    .priv_size = sizeof(CUDAContext),
    .hw_format = AV_PIX_FMT_CUDA,
    .async     = 1,
    .init      = init,
    .import    = import,
    .submit    = submit,
    .wait      = wait,
    .uninit    = uninit,
};
