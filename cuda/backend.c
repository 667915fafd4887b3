/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The host side of the CUDA backend, with FFmpeg's loader of the driver API.
 *
 * Streams: frames in system memory are uploaded on the first stream, the planes of a
 * picture that true motion needs are made on the second, searches run on up to eight more, and vectors are
 * downloaded on the last. Events order the streams. Most searches leave most of the device idle at
 * times, because blocks wait for their neighbours or levels have few blocks. Therefore consecutive
 * searches run side by side, on queues with separate working memory. With epzs, the second
 * search follows the first block by block (cuda/gate.cu). An uploaded picture stays on the device
 * for as long as the filter keeps it, and serves as current picture and as reference. Frames in
 * device memory are read in place, if their rows are whole units of GPUME_CUDA_UNIT bytes; luma of others is copied.
 *
 * The filter keeps references to all that a search reads until wait() has returned, so a buffer
 * that returns to its pool is idle on every stream.
 */

#include "libavutil/attributes.h"
#include "libavutil/avassert.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/core/same.h"
#include "libavfilter/gpume/cuda/search.h"

/** Maximum number of searches that run side by side: of hme, whose blocks wait for each other, and of others. */
#define MAX_QUEUES 8
#define MAX_OTHERS 4
/** The same for searches that fill the device with fewer, if the host waits for each search. */
#define MAX_WAITED 2
/** Maximum bytes of block costs of a search that runs beside others; a search that runs alone has up to 128 MB. */
#define MAX_SUMS_OF_QUEUE (96 << 20)

/** Searches that run one after the other and share working memory. */
typedef struct Queue {
    GpumeCudaSearch search;
    CUstream stream;
} Queue;

/** A search in flight. */
typedef struct Slot {
    GpumeCudaBuffer intra;          ///< with GpumeParams.intra: a pinned uint64_t for each field
    GpumeCudaBuffer same;           ///< with GpumeParams.same and CUDA frames
    GpumeCudaBuffer sums;           ///< with GpumeParams.tree: GpumeCudaTree.nb_sums pinned bytes for each field
    CUevent searched;
    CUevent done;                   ///< results are in host memory
} Slot;

typedef struct CUDAContext {
    GpumeParams params;
    GpumeExecutor executor;
    GpumeCuda cuda;
    Queue queues[MAX_QUEUES];
    int nb_queues;
    GpumeCudaSame same;

    CUstream upload_stream, planes_stream, download_stream;
    CUevent imported;               ///< the last picture and all pictures before it are on the device
    CUevent read;                   ///< the following filters have read the fields that were given back
    Slot *slots;                    ///< ring buffer
    int nb_slots;
    uint64_t nb_submitted, nb_waited;

    int hw_frames;                  ///< the input's frames are in device memory
    int on_device;                  ///< fields are only read on the device
    ptrdiff_t upload_linesize;
    GpumeCudaPool uploads;          ///< luma, pinned and on the device
    GpumeCudaPool planes;           ///< planes of pictures, on the device
    GpumeCudaPool fields;           ///< fields of a picture, on the device: leaves_at()
    GpumeCudaPool mvs;              ///< pinned
    GpumeCudaPool costs;            ///< pinned
    GpumeCudaPool cells;            ///< pinned
} CUDAContext;

static int check(CUDAContext *s, CUresult err, const char *what)
{
    return ff_gpume_cuda_check(&s->cuda, err, what);
}

/* Returns the bytes of the sums of a field with a tree, or 0 if there is no tree. */
static size_t nb_sums(const CUDAContext *s)
{
    return s->queues[0].search.tree.nb_sums;
}

static av_cold int open_device(CUDAContext *s, const GpumeBackendConfig *cfg)
{
    AVBufferRef *ref = NULL;
    int ret;

    if (cfg->hw_frames) {
        ref = av_buffer_ref(((AVHWFramesContext *)cfg->hw_frames->data)->device_ref);
        if (!ref)
            return AVERROR(ENOMEM);
    } else {
        ret = ff_gpume_cuda_create_device(&ref, cfg->hw_device, cfg->device, cfg->fallback, s->cuda.log_ctx);
        if (ret < 0)
            return ret;
    }
    return ff_gpume_cuda_open(&s->cuda, ref);
}

#define TRY(call, what) \
    if ((ret = check(s, cu->call, what)) < 0) \
        return ret;

/* Returns how many searches run side by side at best. */
static int most_queues(const GpumeParams *p, int on_device)
{
    return gpume_kind(p->algo) == GPUME_KIND_HIERARCHICAL ? MAX_QUEUES : on_device ? MAX_OTHERS : MAX_WAITED;
}

/* Initializes the queues. The caller has pushed the CUDA context. */
static av_cold int init_queues(CUDAContext *s, const GpumeBackendConfig *cfg)
{
    CudaFunctions *cu = s->cuda.cu;
    const int most = FFMIN(s->nb_slots, most_queues(&s->params, s->on_device));
    GpumeParams params = s->params;
    int ret;

    /* import() aligns samples to the right and has them in native order */
    params.shift      = s->hw_frames ? params.shift : 0;
    params.big_endian = 0;
    for (int i = 0; i < FFMAX(s->nb_queues, 1); i++) {
        ret = ff_gpume_cuda_search_init(&s->queues[i].search, &s->cuda, &params, &cfg->plan, most,
                                        i ? &s->queues[0].search : NULL);
        if (ret < 0)
            return ret;
        TRY(cuStreamCreate(&s->queues[i].stream, CU_STREAM_NON_BLOCKING), "create a stream")
        if (!i)
            s->nb_queues = s->queues[0].search.kernels[0].work.size > MAX_SUMS_OF_QUEUE ? 1 : most;
    }
    return 0;
}

/* Initializes everything on the device. The caller has pushed the CUDA context. */
static av_cold int init_device(CUDAContext *s, const GpumeBackendConfig *cfg)
{
    CudaFunctions *cu = s->cuda.cu;
    int ret;

#define ALLOC(buffer, memory, count, what) \
    if ((ret = ff_gpume_cuda_alloc(&s->cuda, &(buffer), memory, count, what)) < 0) \
        return ret;

    ret = init_queues(s, cfg);
    if (ret < 0)
        return ret;
    if (s->params.same && s->hw_frames) {
        ret = ff_gpume_cuda_same_init(&s->same, &s->cuda, &s->params,
                                      ((AVHWFramesContext *)cfg->hw_frames->data)->sw_format);
        if (ret < 0)
            return ret;
    }

    TRY(cuStreamCreate(&s->upload_stream,   CU_STREAM_NON_BLOCKING), "create a stream")
    TRY(cuStreamCreate(&s->planes_stream,   CU_STREAM_NON_BLOCKING), "create a stream")
    TRY(cuStreamCreate(&s->download_stream, CU_STREAM_NON_BLOCKING), "create a stream")
    TRY(cuEventCreate(&s->imported, CU_EVENT_DISABLE_TIMING), "create an event")
    TRY(cuEventCreate(&s->read,     CU_EVENT_DISABLE_TIMING), "create an event")
    for (int i = 0; i < s->nb_slots; i++) {
        Slot *slot = &s->slots[i];

        TRY(cuEventCreate(&slot->searched, CU_EVENT_DISABLE_TIMING), "create an event")
        TRY(cuEventCreate(&slot->done,     GPUME_CUDA_WAITED), "create an event")
        if (s->params.intra)
            ALLOC(slot->intra, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED,
                  s->params.nb_distances * sizeof(uint64_t), "sums")
        if (s->params.tree)
            ALLOC(slot->sums, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED,
                  s->params.nb_distances * nb_sums(s), "sums")
        if (s->same.launch.function)
            ALLOC(slot->same, GPUME_CUDA_DEVICE,
                  s->params.nb_references * ff_gpume_nb_cells(&s->params), "cells")
    }
    return 0;
}

static av_cold int init_pools(CUDAContext *s)
{
    const GpumeParams *p = &s->params;
    const size_t nb_vectors = (size_t)p->bw * p->bh * p->nb_references;
    int ret;

#define POOL(name, memory, size, what) \
    if ((ret = ff_gpume_cuda_pool_init(&s->name, &s->cuda, memory, size, what)) < 0) \
        return ret;

    /* with a tree, the vectors of the smallest blocks are stored, too */
    POOL(fields, GPUME_CUDA_DEVICE,
         (nb_vectors << !!p->tree) * sizeof(AVMotionVector) + ff_gpume_costs_size(p), "vectors")
    POOL(mvs,   GPUME_CUDA_PINNED, nb_vectors * sizeof(AVMotionVector), "vectors")
    POOL(costs, GPUME_CUDA_PINNED, ff_gpume_costs_size(p), "costs")
    if (p->same)
        POOL(cells, GPUME_CUDA_PINNED, p->nb_references * ff_gpume_nb_cells(p), "cells")
    /* the bytes between rows are uploaded and read, too */
    s->upload_linesize = FFALIGN(p->width * (p->depth > 8 ? 2 : 1), 64);
    POOL(uploads, GPUME_CUDA_DEVICE | GPUME_CUDA_ZEROED | (s->hw_frames ? 0 : GPUME_CUDA_PINNED),
         s->upload_linesize * p->height, "a frame")
    /* the bytes between rows are read, too */
    if (s->queues[0].search.motions[0].planes.size)
        POOL(planes, GPUME_CUDA_DEVICE | GPUME_CUDA_ZEROED, s->queues[0].search.motions[0].planes.size, "a picture")
    return 0;
}

static av_cold int init(void *priv, const GpumeBackendConfig *cfg)
{
    CUDAContext *s = priv;
    int ret;

    s->params    = cfg->params;
    s->executor  = cfg->executor;
    s->hw_frames = !!cfg->hw_frames;
    s->on_device = cfg->on_device;
    s->nb_slots  = cfg->max_searches;
    s->slots     = av_calloc(s->nb_slots, sizeof(*s->slots));
    s->cuda      = (GpumeCuda) {
        .log_ctx   = cfg->log_ctx,
        .log_level = cfg->fallback ? AV_LOG_WARNING : AV_LOG_ERROR,
        .alternative = "use backend=cpu",
    };
    if (!s->slots)
        return AVERROR(ENOMEM);

    ret = open_device(s, cfg);
    if (ret < 0)
        return ret;

    ret = ff_gpume_cuda_push(&s->cuda);
    if (ret < 0)
        return ret;
    ret = init_device(s, cfg);
    ff_gpume_cuda_pop(&s->cuda);
    if (ret < 0)
        return ret;
    ret = init_pools(s);
    if (ret < 0)
        return ret;
    /* from here on errors are logged as errors, even where another backend could be tried */
    s->cuda.log_level = AV_LOG_ERROR;
    return 0;
}

typedef struct StageArg {
    const CUDAContext *s;
    const AVFrame *frame;
    uint8_t *dst;
} StageArg;

/* Copies luma into pinned memory. */
static void stage_rows(void *opaque, int job, int nb_jobs)
{
    const StageArg *arg = opaque;

    ff_gpume_copy_luma(arg->dst, arg->s->upload_linesize, arg->frame, &arg->s->params, job, nb_jobs);
}

/* Returns whether searches can read a frame in device memory in place. */
static int is_in_units(const CUDAContext *s, const AVFrame *frame)
{
    const int row = s->params.width * (s->params.depth > 8 ? 2 : 1);

    return !(((uintptr_t)frame->data[0] | frame->linesize[0] | row) % GPUME_CUDA_UNIT);
}

/* Copies the luma of a frame in device memory. The caller has pushed the CUDA context. */
static int copy_rows(CUDAContext *s, const AVFrame *frame, CUdeviceptr dst)
{
    CudaFunctions *cu = s->cuda.cu;
    const int height  = s->params.height, linesize = frame->linesize[0];
    /* the driver copies no rows upwards */
    const int at_once = linesize > 0 ? height : 1;
    int ret;

    for (int y = 0; y < height; y += at_once) {
        const CUDA_MEMCPY2D rows = {
            .srcMemoryType = CU_MEMORYTYPE_DEVICE,
            .srcDevice     = (uintptr_t)frame->data[0] + y * (ptrdiff_t)linesize,
            .srcPitch      = FFABS(linesize),
            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
            .dstDevice     = dst + y * s->upload_linesize,
            .dstPitch      = s->upload_linesize,
            .WidthInBytes  = s->params.width * (s->params.depth > 8 ? 2 : 1),
            .Height        = at_once,
        };

        TRY(cuMemcpy2DAsync(&rows, s->cuda.hwctx->stream), "copy a frame")
    }
    return 0;
}

static GpumeCudaPlane luma_of(const GpumePicture *pic)
{
    return (GpumeCudaPlane) { (uintptr_t)pic->luma, pic->linesize };
}

static CUdeviceptr planes_of(const GpumePicture *pic)
{
    return pic->planes ? ff_gpume_cuda_buffer(pic->planes)->data : 0;
}

/* Makes the planes of a picture. The caller has pushed the CUDA context. */
static int make_planes(CUDAContext *s, GpumePicture *pic)
{
    const GpumeCudaPlane luma = luma_of(pic);
    CudaFunctions *cu = s->cuda.cu;
    int ret;

    pic->planes = ff_gpume_cuda_pool_get(&s->planes);
    if (!pic->planes)
        return AVERROR(ENOMEM);
    TRY(cuStreamWaitEvent(s->planes_stream, s->imported, 0), "wait for a frame")
    ret = check(s, ff_gpume_cuda_motion_planes(&s->queues[0].search.motions[0], &luma, planes_of(pic),
                                               s->planes_stream), "make the planes of a frame");
    if (ret < 0)
        return ret;
    TRY(cuEventRecord(s->imported, s->planes_stream), "record an event")
    return 0;
}

static int import(void *priv, GpumePicture *pic)
{
    CUDAContext *s = priv;
    CudaFunctions *cu = s->cuda.cu;
    CUstream source = s->cuda.hwctx->stream;
    StageArg arg = { .s = s, .frame = pic->frame };
    const GpumeCudaBuffer *upload = NULL;
    int ret;

    ret = ff_gpume_check_luma(pic->frame, &s->params, s->cuda.log_ctx);
    if (ret < 0)
        return ret;
    if (s->hw_frames && is_in_units(s, pic->frame)) {
        pic->luma     = pic->frame->data[0];
        pic->linesize = pic->frame->linesize[0];
    } else {
        pic->copy = ff_gpume_cuda_pool_get(&s->uploads);
        if (!pic->copy)
            return AVERROR(ENOMEM);
        upload        = ff_gpume_cuda_buffer(pic->copy);
        pic->luma     = (const uint8_t *)(uintptr_t)upload->data;
        pic->linesize = s->upload_linesize;
    }
    if (!s->hw_frames) {
        source  = s->upload_stream;
        arg.dst = upload->pinned;
        gpume_execute(&s->executor, stage_rows, &arg, FFMIN(s->params.height, 16));
    }

    ret = ff_gpume_cuda_push(&s->cuda);
    if (ret < 0)
        return ret;
    if (upload)
        ret = s->hw_frames ? copy_rows(s, pic->frame, upload->data) :
                             check(s, cu->cuMemcpyHtoDAsync(upload->data, upload->pinned, upload->size, source),
                                   "upload a frame");
    if (ret >= 0)
        ret = check(s, cu->cuEventRecord(s->imported, source), "record an event");
    if (ret >= 0 && s->planes.pool)
        ret = make_planes(s, pic);
    ff_gpume_cuda_pop(&s->cuda);
    return ret;
}

/* Fields of a search that are launched together; fields that only the check needs are last. */
typedef struct Group {
    GpumeField *fields[GPUME_CUDA_FIELDS];
    int nb;
    int next;                       ///< index of the first field of the next group
    int nb_before;                  ///< fields of all groups before this one
} Group;

/*
 * Sets the next group: with check, two opposite fields; otherwise consecutive fields. Returns 0
 * after the last group.
 */
static int next_group(const CUDAContext *s, GpumeSearch *search, Group *g)
{
    g->nb_before += g->nb;
    for (g->nb = 0; g->next < search->nb_fields && g->nb < GPUME_CUDA_FIELDS; g->next++) {
        GpumeField *field = &search->fields[g->next];

        if (!s->params.check) {
            g->fields[g->nb++] = field;
        } else if (field->opposite > g->next) {
            GpumeField *opposite = &search->fields[field->opposite];

            g->fields[!field->set] = field;
            g->fields[!!field->set] = opposite;
            g->nb = 2;
        }
    }
    return g->nb;
}

/*
 * Returns where a field is on the device, in a set with room for nb fields. The vectors of all
 * fields come first; then, with a tree, the vectors of the smallest blocks; then costs; then sizes.
 */
static GpumeCudaLeaves leaves_at(const CUDAContext *s, const GpumeFieldSet *set, int nb, int slot)
{
    const size_t nb_blocks = (size_t)s->params.bw * s->params.bh;
    const size_t size      = nb_blocks * sizeof(AVMotionVector);
    const CUdeviceptr mvs    = ff_gpume_cuda_buffer(set->on_device)->data;
    const CUdeviceptr blocks = mvs + nb * size;
    const CUdeviceptr costs  = s->params.tree ? blocks + nb * size : blocks;

    return (GpumeCudaLeaves) {
        .mvs = mvs + slot * size, .blocks = blocks + slot * size, .costs = costs + slot * nb_blocks * sizeof(uint32_t),
        .sizes = costs + nb * nb_blocks * sizeof(uint32_t) + slot * nb_blocks,
    };
}

/* Launches the search of a group. The caller has pushed the CUDA context. */
static int launch_group(CUDAContext *s, Queue *queue, const Slot *slot, const Group *g)
{
    GpumeCudaSearchField fields[GPUME_CUDA_FIELDS] = { { { 0 } } };

    for (int i = 0; i < g->nb; i++) {
        const GpumeField *field = g->fields[i];
        GpumeCudaSearchField *f = &fields[i];

        f->cur        = luma_of(field->cur);
        f->ref        = luma_of(field->ref);
        f->cur_planes = planes_of(field->cur);
        f->ref_planes = planes_of(field->ref);
        f->reference  = field->reference;
        f->is_stored  = !!field->set;
        if (!f->is_stored)
            continue;
        f->leaves      = leaves_at(s, field->set, field->set->nb, field->slot);
        f->leaves.sums = slot->sums.data + (g->nb_before + i) * nb_sums(s);
    }
    return check(s, ff_gpume_cuda_search_launch(&queue->search, fields, g->nb,
                                                slot->intra.data + g->nb_before * sizeof(uint64_t), queue->stream),
                 "launch the search");
}

static int depth(const GpumeBackendConfig *cfg)
{
    /* the transfer of one frame overlaps the search of the next */
    return most_queues(&cfg->params, cfg->on_device);
}

static int alloc(void *priv, GpumeFieldSet *set, AVBufferRef **same, int nb)
{
    CUDAContext *s = priv;
    const GpumeParams *p = &s->params;

    set->on_device = ff_gpume_cuda_pool_get(&s->fields);
    if (!set->on_device || (p->same && !(*same = ff_gpume_cuda_pool_get(&s->cells))) ||
        ff_gpume_fields_alloc(set, p, nb, s->mvs.pool, s->costs.pool) < 0)
        return AVERROR(ENOMEM);
    set->device_ctx = ff_gpume_cuda_device_ctx(&s->cuda);
    for (int i = 0; i < nb; i++) {
        const GpumeCudaLeaves at = leaves_at(s, set, nb, i);

        set->device[i]       = set->host[i];
        set->device[i].mvs   = p->tree ? at.blocks : at.mvs;
        set->device[i].costs = p->tree ? 0 : at.costs;
    }
    return 0;
}

/* Queues the transfer of fields with consecutive slots. The caller has pushed the CUDA context. */
static int download(CUDAContext *s, const GpumeField *first, int nb)
{
    const GpumeCudaLeaves from = leaves_at(s, first->set, first->set->nb, first->slot);
    const size_t nb_vectors = (size_t)nb * s->params.bw * s->params.bh;
    CudaFunctions *cu = s->cuda.cu;
    int ret;

    TRY(cuMemcpyDtoHAsync(first->mvs, from.mvs, nb_vectors * sizeof(AVMotionVector), s->download_stream),
        "download vectors")
    TRY(cuMemcpyDtoHAsync(first->costs, from.costs, nb_vectors * sizeof(uint32_t), s->download_stream),
        "download costs")
    if (s->params.tree)
        TRY(cuMemcpyDtoHAsync(first->sizes, from.sizes, nb_vectors, s->download_stream), "download sizes")
    return 0;
}

/* Queues the transfer of a search's results. The caller has pushed the CUDA context. */
static int download_results(CUDAContext *s, const Slot *slot, const GpumeSearch *search)
{
    const size_t nb_cells = ff_gpume_nb_cells(&s->params);
    CudaFunctions *cu = s->cuda.cu;
    int ret;

    for (int i = 0, end; i < search->nb_fields; i = end) {
        const GpumeField *first = &search->fields[i];

        end = i + 1;
        if (!first->set)
            continue;
        while (end < search->nb_fields && search->fields[end].set == first->set &&
               search->fields[end].slot == first->slot + end - i)
            end++;
        if ((ret = download(s, first, end - i)) < 0)
            return ret;
        if (slot->same.data)
            TRY(cuMemcpyDtoHAsync(first->same, slot->same.data + i * nb_cells, (end - i) * nb_cells,
                                  s->download_stream), "download cells")
    }
    if (slot->intra.data)
        TRY(cuMemcpyDtoHAsync(slot->intra.pinned, slot->intra.data, search->nb_fields * sizeof(uint64_t),
                              s->download_stream), "download sums")
    if (slot->sums.data)
        TRY(cuMemcpyDtoHAsync(slot->sums.pinned, slot->sums.data, search->nb_fields * nb_sums(s),
                              s->download_stream), "download sums")
    return 0;
}

/* Launches a search. The caller has pushed the CUDA context. */
static int launch(CUDAContext *s, Queue *queue, Slot *slot, GpumeSearch *search)
{
    Group g = { .nb = 0 };
    CudaFunctions *cu = s->cuda.cu;
    int ret;

    TRY(cuStreamWaitEvent(queue->stream, s->imported, 0), "wait for frames")
    /* filters that have given fields back may still read them on the device; this search overwrites their memory */
    if (s->hw_frames) {
        TRY(cuEventRecord(s->read, s->cuda.hwctx->stream), "record an event")
        TRY(cuStreamWaitEvent(queue->stream, s->read, 0), "wait for filters")
    }
    if (slot->sums.data && search->nb_fields)
        TRY(cuMemsetD8Async(slot->sums.data, 0, search->nb_fields * nb_sums(s), queue->stream), "clear sums")
    while (next_group(s, search, &g)) {
        ret = launch_group(s, queue, slot, &g);
        if (ret < 0)
            return ret;
    }
    for (int i = 0; i < search->nb_fields && slot->same.data; i++) {
        const GpumeField *field = &search->fields[i];

        if (!field->set)
            continue;
        ret = check(s, ff_gpume_cuda_same_launch(&s->same, field,
                                                 slot->same.data + i * ff_gpume_nb_cells(&s->params),
                                                 queue->stream),
                    "launch the comparison");
        if (ret < 0)
            return ret;
    }
    TRY(cuEventRecord(slot->searched, queue->stream), "record an event")
    if (s->on_device)
        return 0;
    TRY(cuStreamWaitEvent(s->download_stream, slot->searched, 0), "wait for the search")
    ret = search->nb_fields ? download_results(s, slot, search) : 0;
    if (ret < 0)
        return ret;
    TRY(cuEventRecord(slot->done, s->download_stream), "record an event")
    return 0;
}

static int submit(void *priv, GpumeSearch *search)
{
    CUDAContext *s = priv;
    Slot *slot = &s->slots[s->nb_submitted % s->nb_slots];
    Queue *queue = &s->queues[s->nb_submitted % s->nb_queues];
    int ret;

    av_assert0(s->nb_submitted - s->nb_waited < s->nb_slots);

    ret = ff_gpume_cuda_push(&s->cuda);
    if (ret < 0)
        return ret;
    s->nb_submitted++;
    ret = launch(s, queue, slot, search);
    ff_gpume_cuda_pop(&s->cuda);
    return ret;
}

typedef struct SameArg {
    const CUDAContext *s;
    const GpumeField *field;
} SameArg;

/* Compares rows of frames in system memory; only the luma of these frames is on the device. */
static void compare_rows(void *opaque, int job, int nb_jobs)
{
    const SameArg *arg = opaque;
    const GpumeParams *p = &arg->s->params;
    const int nb_rows = gpume_blocks(p->height, GPUME_CELL);

    ff_gpume_compare_cells(arg->field, p, nb_rows * job / nb_jobs, nb_rows * (job + 1) / nb_jobs);
}

/* Waits for a search. If fields stay on the device, makes later work wait that reads them or overwrites pictures. */
static int finish(CUDAContext *s, const Slot *slot)
{
    CudaFunctions *cu = s->cuda.cu;
    int ret;

    if (!s->on_device)
        return check(s, cu->cuEventSynchronize(slot->done), "search");
    TRY(cuStreamWaitEvent(s->cuda.hwctx->stream, slot->searched, 0), "wait for the search")
    TRY(cuStreamWaitEvent(s->planes_stream, slot->searched, 0), "wait for the search")
    return 0;
}

static int wait(void *priv, GpumeSearch *search)
{
    CUDAContext *s = priv;
    Slot *slot = &s->slots[s->nb_waited++ % s->nb_slots];
    int ret;

    ret = ff_gpume_cuda_push(&s->cuda);
    if (ret < 0)
        return ret;
    ret = finish(s, slot);
    ff_gpume_cuda_pop(&s->cuda);
    if (ret >= 0 && slot->intra.data)
        for (Group g = { .nb = 0 }; next_group(s, search, &g);)
            for (int i = 0; i < g.nb; i++)
                g.fields[i]->intra = ((const uint64_t *)slot->intra.pinned)[g.nb_before + i];
    if (ret >= 0 && slot->sums.data)
        for (Group g = { .nb = 0 }; next_group(s, search, &g);)
            for (int i = 0; i < g.nb && g.fields[i]->set; i++) {
                const GpumeCudaTreeSums *sums = (const GpumeCudaTreeSums *)
                    ((const uint8_t *)slot->sums.pinned + (g.nb_before + i) * nb_sums(s));

                g.fields[i]->nb   = sums->nb;
                g.fields[i]->bits = sums->bits;
                g.fields[i]->rd   = sums->rd;
            }
    if (ret >= 0 && s->params.same && !s->hw_frames)
        for (int i = 0; i < search->nb_fields; i++) {
            SameArg arg = { s, &search->fields[i] };

            if (!search->fields[i].set)
                continue;
            gpume_execute(&s->executor, compare_rows, &arg,
                          FFMIN(gpume_blocks(s->params.height, GPUME_CELL), 16));
        }
    return ret;
}

static av_cold void uninit_device(CUDAContext *s)
{
    CudaFunctions *cu = s->cuda.cu;
    CUstream *streams[3 + MAX_QUEUES] = { &s->upload_stream, &s->planes_stream, &s->download_stream };

    for (int i = 0; i < MAX_QUEUES; i++)
        streams[3 + i] = &s->queues[i].stream;
    /* searches in flight access the memory that is freed next */
    for (int i = 0; i < FF_ARRAY_ELEMS(streams); i++)
        if (*streams[i])
            cu->cuStreamSynchronize(*streams[i]);

    for (int i = 0; i < s->nb_slots; i++) {
        Slot *slot = &s->slots[i];

        ff_gpume_cuda_free(&slot->intra);
        ff_gpume_cuda_free(&slot->same);
        ff_gpume_cuda_free(&slot->sums);
        if (slot->searched)
            cu->cuEventDestroy(slot->searched);
        if (slot->done)
            cu->cuEventDestroy(slot->done);
    }
    if (s->imported)
        cu->cuEventDestroy(s->imported);
    if (s->read)
        cu->cuEventDestroy(s->read);
    for (int i = 0; i < FF_ARRAY_ELEMS(streams); i++)
        if (*streams[i])
            cu->cuStreamDestroy(*streams[i]);
    for (int i = 0; i < MAX_QUEUES; i++)
        ff_gpume_cuda_search_uninit(&s->queues[i].search);
    ff_gpume_cuda_same_uninit(&s->same);
}

static av_cold void uninit(void *priv)
{
    CUDAContext *s = priv;

    if (s->cuda.device && ff_gpume_cuda_push_to_free(&s->cuda)) {
        uninit_device(s);
        ff_gpume_cuda_pop(&s->cuda);
    }
    av_freep(&s->slots);
    ff_gpume_cuda_pool_uninit(&s->uploads);
    ff_gpume_cuda_pool_uninit(&s->planes);
    ff_gpume_cuda_pool_uninit(&s->fields);
    ff_gpume_cuda_pool_uninit(&s->mvs);
    ff_gpume_cuda_pool_uninit(&s->costs);
    ff_gpume_cuda_pool_uninit(&s->cells);
    ff_gpume_cuda_close(&s->cuda);
}

const GpumeBackend ff_gpume_backend_cuda = {
    .name      = "cuda",
    .priv_size = sizeof(CUDAContext),
    .hw_format = AV_PIX_FMT_CUDA,
    .depth     = depth,
    .init      = init,
    .import    = import,
    .alloc     = alloc,
    .submit    = submit,
    .wait      = wait,
    .uninit    = uninit,
};
