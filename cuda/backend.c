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

/** Numbers of streams. */
enum { STREAM_UPLOAD, STREAM_PLANES, STREAM_DOWNLOAD, STREAM_QUEUES };

/** A search in flight. */
typedef struct Slot {
    /**
     * With GpumeParams.tree or intra, in device memory and pinned: GpumeCudaTree.nb_sums bytes for each field, then a
     * uint64_t for each field.
     */
    GpumeCudaBuffer sums;
    GpumeCudaBuffer same;           ///< with GpumeParams.same and CUDA frames
    CUevent searched;
    CUevent done;                   ///< results are in host memory
} Slot;

typedef struct CUDAContext {
    GpumeParams params;
    GpumeExecutor executor;
    GpumeCuda cuda;
    GpumeCudaSearch searches[MAX_QUEUES];   ///< of each queue
    int nb_queues;
    GpumeCudaLaunch compare;        ///< comparison of cells of CUDA frames; no function: not needed
    GpumeCudaSameArgs compared;     ///< all members but the planes of pictures and the results of a search

    CUstream streams[STREAM_QUEUES + MAX_QUEUES];  ///< from STREAM_QUEUES on, those of the queues
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

/* Ends with an else of its own, so that one may follow. */
#define TRY(call) \
    if ((ret = (call)) >= 0) { \
    } else \
        return ret;
#define TRY_CUDA(call, what) TRY(check(s, s->cuda.cu->call, what))

/* Returns the bytes of the sums of a field with a tree, or 0 if there is no tree. */
static size_t nb_sums(const CUDAContext *s)
{
    return s->searches[0].tree.nb_sums;
}

/* Returns the offset in Slot.sums of the intra costs of field i of a search. */
static size_t intra_at(const CUDAContext *s, int i)
{
    return s->params.nb_distances * nb_sums(s) + i * sizeof(uint64_t);
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
        TRY(ff_gpume_cuda_create_device(&ref, cfg->hw_device, cfg->device, cfg->fallback, s->cuda.log_ctx))
    }
    return ff_gpume_cuda_open(&s->cuda, ref);
}

/* Returns how many searches run side by side at best. */
static int most_queues(const GpumeParams *p, int on_device)
{
    return gpume_kind(p->algo) == GPUME_KIND_HIERARCHICAL ? MAX_QUEUES : on_device ? MAX_OTHERS : MAX_WAITED;
}

/* Initializes the queues. The caller has pushed the CUDA context. */
static av_cold int init_queues(CUDAContext *s, const GpumeBackendConfig *cfg)
{
    const int most = FFMIN(s->nb_slots, most_queues(&s->params, s->on_device));
    GpumeParams params = s->params;
    int ret;

    /* import() aligns samples to the right and has them in native order */
    params.shift      = s->hw_frames ? params.shift : 0;
    params.big_endian = 0;
    for (int i = 0; i < FFMAX(s->nb_queues, 1); i++) {
        TRY(ff_gpume_cuda_search_init(&s->searches[i], &s->cuda, &params, &cfg->plan, most,
                                      i ? &s->searches[0] : NULL))
        if (!i)
            s->nb_queues = s->searches[0].kernels[0].work.size > MAX_SUMS_OF_QUEUE ? 1 : most;
    }
    return 0;
}

/* Loads the kernel that compares cells. The caller has pushed the CUDA context. */
static av_cold int init_comparison(CUDAContext *s, enum AVPixelFormat format)
{
    s->compared.params    = s->params;
    s->compared.nb_planes = ff_gpume_other_planes(s->compared.planes, format);
    s->compare.threads    = GPUME_CUDA_SAME_THREADS;
    s->compare.grid[0]    = gpume_blocks(ff_gpume_nb_cells(&s->params), GPUME_CUDA_SAME_THREADS / 32);
    s->compare.grid[1]    = 1;
    return ff_gpume_cuda_load(&s->cuda, &s->compare,
                              &ff_gpume_cuda_find_module(&s->cuda, &s->params, GPUME_CUDA_same, 0, 0)->code);
}

/* Initializes everything on the device. The caller has pushed the CUDA context. */
static av_cold int init_device(CUDAContext *s, const GpumeBackendConfig *cfg)
{
    const GpumeParams *p = &s->params;
    int ret;

    TRY(init_queues(s, cfg))
    if (p->same && s->hw_frames)
        TRY(init_comparison(s, ((AVHWFramesContext *)cfg->hw_frames->data)->sw_format))
    for (int i = 0; i < STREAM_QUEUES + s->nb_queues; i++)
        TRY_CUDA(cuStreamCreate(&s->streams[i], CU_STREAM_NON_BLOCKING), "create a stream")
    TRY_CUDA(cuEventCreate(&s->imported, CU_EVENT_DISABLE_TIMING), "create an event")
    TRY_CUDA(cuEventCreate(&s->read,     CU_EVENT_DISABLE_TIMING), "create an event")
    for (int i = 0; i < s->nb_slots; i++) {
        Slot *slot = &s->slots[i];

        TRY_CUDA(cuEventCreate(&slot->searched, CU_EVENT_DISABLE_TIMING), "create an event")
        TRY_CUDA(cuEventCreate(&slot->done,     GPUME_CUDA_WAITED), "create an event")
        if (p->intra || p->tree)
            TRY(ff_gpume_cuda_alloc(&s->cuda, &slot->sums, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED,
                                    intra_at(s, p->nb_distances), "sums"))
        if (s->compare.function)
            TRY(ff_gpume_cuda_alloc(&s->cuda, &slot->same, GPUME_CUDA_DEVICE,
                                    p->nb_references * ff_gpume_nb_cells(p), "cells"))
    }
    return 0;
}

/* Returns the bytes of a row of luma without padding. */
static int row_bytes(const CUDAContext *s)
{
    return s->params.width * (s->params.depth > 8 ? 2 : 1);
}

static av_cold int init_pools(CUDAContext *s)
{
    const GpumeParams *p = &s->params;
    const size_t nb_vectors  = (size_t)p->bw * p->bh * p->nb_references;
    const size_t planes_size = s->searches[0].motions[0].planes.size;
    int ret;

#define POOL(name, memory, size, what) TRY(ff_gpume_cuda_pool_init(&s->name, &s->cuda, memory, size, what))

    /* with a tree, the vectors of the smallest blocks are stored, too */
    POOL(fields, GPUME_CUDA_DEVICE,
         (nb_vectors << !!p->tree) * sizeof(AVMotionVector) + ff_gpume_costs_size(p), "vectors")
    POOL(mvs,   GPUME_CUDA_PINNED, nb_vectors * sizeof(AVMotionVector), "vectors")
    POOL(costs, GPUME_CUDA_PINNED, ff_gpume_costs_size(p), "costs")
    if (p->same)
        POOL(cells, GPUME_CUDA_PINNED, p->nb_references * ff_gpume_nb_cells(p), "cells")
    /* the bytes between rows are uploaded and read, too */
    s->upload_linesize = FFALIGN(row_bytes(s), 64);
    POOL(uploads, GPUME_CUDA_DEVICE | GPUME_CUDA_ZEROED | (s->hw_frames ? 0 : GPUME_CUDA_PINNED),
         s->upload_linesize * p->height, "a frame")
    if (planes_size)
        POOL(planes, GPUME_CUDA_DEVICE | GPUME_CUDA_ZEROED, planes_size, "a picture")
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

    TRY(open_device(s, cfg))
    TRY(ff_gpume_cuda_push(&s->cuda))
    ret = init_device(s, cfg);
    ff_gpume_cuda_pop(&s->cuda);
    if (ret < 0)
        return ret;
    TRY(init_pools(s))
    /* from here on errors are logged as errors, even where another backend could be tried */
    s->cuda.log_level = AV_LOG_ERROR;
    return 0;
}

/** What threads do: copy rows of a frame, or compare cells of a field's frames. */
typedef struct Job {
    const CUDAContext *s;
    const AVFrame *frame;
    uint8_t *dst;
    const GpumeField *field;
} Job;

/* Copies luma into pinned memory. */
static void stage_rows(void *opaque, int job, int nb_jobs)
{
    const Job *arg = opaque;

    ff_gpume_copy_luma(arg->dst, arg->s->upload_linesize, arg->frame, &arg->s->params, job, nb_jobs);
}

/* Returns whether searches can read a frame in device memory in place. */
static int is_in_units(const CUDAContext *s, const AVFrame *frame)
{
    return !(((uintptr_t)frame->data[0] | frame->linesize[0] | row_bytes(s)) % GPUME_CUDA_UNIT);
}

/* Copies the luma of a frame in device memory, as it lies there. The caller has pushed the CUDA context. */
static int copy_rows(CUDAContext *s, const AVFrame *frame, CUdeviceptr dst)
{
    const ptrdiff_t linesize = frame->linesize[0], above = linesize < 0 ? (s->params.height - 1) * linesize : 0;
    const CUDA_MEMCPY2D rows = {
        .srcMemoryType = CU_MEMORYTYPE_DEVICE,
        .srcDevice     = (uintptr_t)frame->data[0] + above,
        .srcPitch      = FFABS(linesize),
        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
        .dstDevice     = dst,
        .dstPitch      = s->upload_linesize,
        .WidthInBytes  = row_bytes(s),
        .Height        = s->params.height,
    };

    return check(s, s->cuda.cu->cuMemcpy2DAsync(&rows, s->cuda.hwctx->stream), "copy a frame");
}

static GpumeCudaPlane luma_of(const GpumePicture *pic)
{
    return (GpumeCudaPlane) { (uintptr_t)pic->luma, pic->linesize };
}

static CUdeviceptr planes_of(const GpumePicture *pic)
{
    return pic->planes ? ff_gpume_cuda_buffer(pic->planes)->data : 0;
}

/* Queues the transfer of a picture, if it has one, and makes its planes. The caller has pushed the CUDA context. */
static int queue_import(CUDAContext *s, GpumePicture *pic)
{
    const GpumeCudaBuffer *upload = pic->copy ? ff_gpume_cuda_buffer(pic->copy) : NULL;
    const CUstream source = s->hw_frames ? s->cuda.hwctx->stream : s->streams[STREAM_UPLOAD];
    const GpumeCudaPlane luma = luma_of(pic);
    int ret;

    if (upload)
        TRY(s->hw_frames ? copy_rows(s, pic->frame, upload->data) :
                           check(s, s->cuda.cu->cuMemcpyHtoDAsync(upload->data, upload->pinned, upload->size, source),
                                 "upload a frame"))
    TRY_CUDA(cuEventRecord(s->imported, source), "record an event")
    if (!s->planes.pool)
        return 0;
    pic->planes = ff_gpume_cuda_pool_get(&s->planes);
    if (!pic->planes)
        return AVERROR(ENOMEM);
    TRY_CUDA(cuStreamWaitEvent(s->streams[STREAM_PLANES], s->imported, 0), "wait for a frame")
    TRY(check(s, ff_gpume_cuda_motion_planes(&s->searches[0].motions[0], &luma, planes_of(pic),
                                             s->streams[STREAM_PLANES]), "make the planes of a frame"))
    TRY_CUDA(cuEventRecord(s->imported, s->streams[STREAM_PLANES]), "record an event")
    return 0;
}

static int import(void *priv, GpumePicture *pic)
{
    CUDAContext *s = priv;
    int ret;

    TRY(ff_gpume_check_luma(pic->frame, &s->params, s->cuda.log_ctx))
    if (s->hw_frames && is_in_units(s, pic->frame)) {
        pic->luma     = pic->frame->data[0];
        pic->linesize = pic->frame->linesize[0];
    } else {
        Job arg = { .s = s, .frame = pic->frame };
        const GpumeCudaBuffer *upload;

        pic->copy = ff_gpume_cuda_pool_get(&s->uploads);
        if (!pic->copy)
            return AVERROR(ENOMEM);
        upload        = ff_gpume_cuda_buffer(pic->copy);
        pic->luma     = (const uint8_t *)(uintptr_t)upload->data;
        pic->linesize = s->upload_linesize;

        arg.dst = upload->pinned;
        if (arg.dst)
            gpume_execute(&s->executor, stage_rows, &arg, FFMIN(s->params.height, 16));
        /* a copy on the device has its rows in the same order in memory */
        if (s->hw_frames && pic->frame->linesize[0] < 0) {
            pic->luma    += (s->params.height - 1) * pic->linesize;
            pic->linesize = -pic->linesize;
        }
    }

    TRY(ff_gpume_cuda_push(&s->cuda))
    ret = queue_import(s, pic);
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

/* Launches the search of a group on a queue. The caller has pushed the CUDA context. */
static int launch_group(CUDAContext *s, int queue, const Slot *slot, const Group *g)
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
    return check(s, ff_gpume_cuda_search_launch(&s->searches[queue], fields, g->nb,
                                                slot->sums.data + intra_at(s, g->nb_before),
                                                s->streams[STREAM_QUEUES + queue]), "launch the search");
}

/* Launches the comparison of the frames of a field. The caller has pushed the CUDA context. */
static int launch_comparison(CUDAContext *s, const GpumeField *field, CUdeviceptr same, CUstream stream)
{
    const AVFrame *cur = field->cur->frame, *ref = field->ref->frame;
    GpumeCudaSameArgs *a = &s->compared;

    a->mvs   = field->set->device[field->slot].mvs;
    a->costs = field->set->device[field->slot].costs;
    a->same  = same;
    for (int i = 0; i < a->nb_planes; i++) {
        const int plane = a->planes[i].index;

        a->cur[i] = (GpumeCudaPlane) { (uintptr_t)cur->data[plane], cur->linesize[plane] };
        a->ref[i] = (GpumeCudaPlane) { (uintptr_t)ref->data[plane], ref->linesize[plane] };
    }
    return check(s, ff_gpume_cuda_launch(&s->cuda, &s->compare, 1, a, stream), "launch the comparison");
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

/* Queues the transfer of a search's results. The caller has pushed the CUDA context. */
static int download_results(CUDAContext *s, const Slot *slot, const GpumeSearch *search)
{
    const size_t nb_blocks = (size_t)s->params.bw * s->params.bh, nb_cells = ff_gpume_nb_cells(&s->params);
    const CUstream stream  = s->streams[STREAM_DOWNLOAD];
    int ret;

    /* fields with consecutive slots are contiguous */
    for (int i = 0, nb; i < search->nb_fields; i += nb) {
        const GpumeField *first = &search->fields[i];
        GpumeCudaLeaves from;

        nb = 1;
        if (!first->set)
            continue;
        while (i + nb < search->nb_fields && first[nb].set == first->set && first[nb].slot == first->slot + nb)
            nb++;
        from = leaves_at(s, first->set, first->set->nb, first->slot);
        TRY_CUDA(cuMemcpyDtoHAsync(first->mvs, from.mvs, nb * nb_blocks * sizeof(AVMotionVector), stream),
                 "download vectors")
        TRY_CUDA(cuMemcpyDtoHAsync(first->costs, from.costs, nb * nb_blocks * sizeof(uint32_t), stream),
                 "download costs")
        if (s->params.tree)
            TRY_CUDA(cuMemcpyDtoHAsync(first->sizes, from.sizes, nb * nb_blocks, stream), "download sizes")
        if (slot->same.data)
            TRY_CUDA(cuMemcpyDtoHAsync(first->same, slot->same.data + i * nb_cells, nb * nb_cells, stream),
                     "download cells")
    }
    if (slot->sums.data)
        TRY_CUDA(cuMemcpyDtoHAsync(slot->sums.pinned, slot->sums.data, slot->sums.size, stream), "download sums")
    return 0;
}

/* Launches a search on a queue. The caller has pushed the CUDA context. */
static int launch(CUDAContext *s, int queue, Slot *slot, GpumeSearch *search)
{
    const CUstream stream = s->streams[STREAM_QUEUES + queue];
    Group g = { .nb = 0 };
    int ret;

    TRY_CUDA(cuStreamWaitEvent(stream, s->imported, 0), "wait for frames")
    /* filters that have given fields back may still read them on the device; this search overwrites their memory */
    if (s->hw_frames) {
        TRY_CUDA(cuEventRecord(s->read, s->cuda.hwctx->stream), "record an event")
        TRY_CUDA(cuStreamWaitEvent(stream, s->read, 0), "wait for filters")
    }
    if (slot->sums.data && search->nb_fields)
        TRY_CUDA(cuMemsetD8Async(slot->sums.data, 0, slot->sums.size, stream), "clear sums")
    while (next_group(s, search, &g))
        TRY(launch_group(s, queue, slot, &g))
    for (int i = 0; i < search->nb_fields && slot->same.data; i++)
        if (search->fields[i].set)
            TRY(launch_comparison(s, &search->fields[i], slot->same.data + i * ff_gpume_nb_cells(&s->params), stream))
    TRY_CUDA(cuEventRecord(slot->searched, stream), "record an event")
    if (s->on_device)
        return 0;
    TRY_CUDA(cuStreamWaitEvent(s->streams[STREAM_DOWNLOAD], slot->searched, 0), "wait for the search")
    if (search->nb_fields)
        TRY(download_results(s, slot, search))
    TRY_CUDA(cuEventRecord(slot->done, s->streams[STREAM_DOWNLOAD]), "record an event")
    return 0;
}

static int submit(void *priv, GpumeSearch *search)
{
    CUDAContext *s = priv;
    const uint64_t nb = s->nb_submitted;
    int ret;

    av_assert0(nb - s->nb_waited < s->nb_slots);

    TRY(ff_gpume_cuda_push(&s->cuda))
    s->nb_submitted++;
    ret = launch(s, nb % s->nb_queues, &s->slots[nb % s->nb_slots], search);
    ff_gpume_cuda_pop(&s->cuda);
    return ret;
}

/* Compares rows of frames in system memory; only the luma of these frames is on the device. */
static void compare_rows(void *opaque, int job, int nb_jobs)
{
    const Job *arg = opaque;
    const GpumeParams *p = &arg->s->params;
    const int nb_rows = gpume_blocks(p->height, GPUME_CELL);

    ff_gpume_compare_cells(arg->field, p, nb_rows * job / nb_jobs, nb_rows * (job + 1) / nb_jobs);
}

/* Waits for a search. If fields stay on the device, makes later work wait that reads them or overwrites pictures. */
static int finish(CUDAContext *s, const Slot *slot)
{
    int ret;

    if (!s->on_device)
        return check(s, s->cuda.cu->cuEventSynchronize(slot->done), "search");
    TRY_CUDA(cuStreamWaitEvent(s->cuda.hwctx->stream, slot->searched, 0), "wait for the search")
    TRY_CUDA(cuStreamWaitEvent(s->streams[STREAM_PLANES], slot->searched, 0), "wait for the search")
    return 0;
}

/* Reads the sums of field i in the order of groups. */
static void read_sums(const CUDAContext *s, const uint8_t *sums, int i, GpumeField *field)
{
    const GpumeCudaTreeSums *tree = (const GpumeCudaTreeSums *)(sums + i * nb_sums(s));

    if (s->params.intra)
        field->intra = *(const uint64_t *)(sums + intra_at(s, i));
    if (s->params.tree && field->set) {
        field->nb   = tree->nb;
        field->bits = tree->bits;
        field->rd   = tree->rd;
    }
}

static int wait(void *priv, GpumeSearch *search)
{
    CUDAContext *s = priv;
    const Slot *slot = &s->slots[s->nb_waited++ % s->nb_slots];
    int ret;

    TRY(ff_gpume_cuda_push(&s->cuda))
    ret = finish(s, slot);
    ff_gpume_cuda_pop(&s->cuda);
    if (ret < 0)
        return ret;
    for (Group g = { .nb = 0 }; slot->sums.pinned && next_group(s, search, &g);)
        for (int i = 0; i < g.nb; i++)
            read_sums(s, slot->sums.pinned, g.nb_before + i, g.fields[i]);
    for (int i = 0; i < search->nb_fields && s->params.same && !s->hw_frames; i++) {
        Job arg = { .s = s, .field = &search->fields[i] };

        if (arg.field->set)
            gpume_execute(&s->executor, compare_rows, &arg, FFMIN(gpume_blocks(s->params.height, GPUME_CELL), 16));
    }
    return 0;
}

static av_cold void uninit_device(CUDAContext *s)
{
    CudaFunctions *cu = s->cuda.cu;

    /* searches in flight access the memory that is freed next */
    for (int i = 0; i < FF_ARRAY_ELEMS(s->streams); i++)
        if (s->streams[i])
            cu->cuStreamSynchronize(s->streams[i]);

    for (int i = 0; i < s->nb_slots; i++) {
        Slot *slot = &s->slots[i];

        ff_gpume_cuda_free(&slot->sums);
        ff_gpume_cuda_free(&slot->same);
        if (slot->searched)
            cu->cuEventDestroy(slot->searched);
        if (slot->done)
            cu->cuEventDestroy(slot->done);
    }
    if (s->imported)
        cu->cuEventDestroy(s->imported);
    if (s->read)
        cu->cuEventDestroy(s->read);
    for (int i = 0; i < FF_ARRAY_ELEMS(s->streams); i++)
        if (s->streams[i])
            cu->cuStreamDestroy(s->streams[i]);
    for (int i = 0; i < MAX_QUEUES; i++)
        ff_gpume_cuda_search_uninit(&s->searches[i]);
    ff_gpume_cuda_unload(&s->cuda, &s->compare);
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
