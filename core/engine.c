/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/core/engine.h"
#include "libavfilter/gpume/core/params.h"
#include "libavfilter/gpume/core/same.h"

/** A picture in the queue, and its search. */
typedef struct Entry {
    GpumePicture pic;
    GpumeSearch search;         ///< none if nb_fields is 0
    int64_t number;
} Entry;

struct GpumeEngine {
    GpumeEngineConfig cfg;

    /* what the backend was opened for */
    const GpumeBackend *backend;    ///< NULL: not open
    void *backend_priv;
    enum AVPixelFormat format;
    uint8_t *hw_frames;         ///< the pictures' AVHWFramesContext, to tell a change

    /* largest distances of references, in pictures */
    int past, future;

    /**
     * The queue, a ring, oldest first. Pictures before nb_out have been output and are
     * kept as references. Those before nb_started no longer wait for another picture:
     * their search has been submitted, or they have none.
     */
    Entry *queue;
    int size;
    int first;
    int nb, nb_started, nb_out;
    int64_t nb_pictures;        ///< in the whole stream

    /* with check and references on both sides: what pictures have of two searches */
    AVBufferPool *mvs, *costs, *same;

    AVFrame *pending;           ///< the first picture of another size or format
    int flushing;               ///< no later picture can be a reference of those in the queue
    int ended;                  ///< no pictures follow at all
};

static Entry *entry_at(GpumeEngine *e, int i)
{
    return &e->queue[(e->first + i) % e->size];
}

static void drop_oldest(GpumeEngine *e)
{
    Entry *oldest = entry_at(e, 0);

    ff_gpume_search_uninit(&oldest->search);
    ff_gpume_picture_uninit(&oldest->pic);
    e->first = (e->first + 1) % e->size;
    e->nb--;
    e->nb_started--;
    e->nb_out--;
}

static av_cold void close_backend(GpumeEngine *e)
{
    if (e->backend_priv)
        e->backend->uninit(e->backend_priv);
    av_freep(&e->backend_priv);
    e->backend = NULL;
    av_buffer_pool_uninit(&e->mvs);
    av_buffer_pool_uninit(&e->costs);
    av_buffer_pool_uninit(&e->same);
}

static av_cold int try_backend(GpumeEngine *e, const GpumeBackendConfig *cfg,
                               const GpumeBackend *backend)
{
    int ret;

    e->backend_priv = av_mallocz(FFMAX(backend->priv_size, 1));
    if (!e->backend_priv)
        return AVERROR(ENOMEM);
    e->backend = backend;

    ret = backend->init(e->backend_priv, cfg);
    if (ret < 0)
        close_backend(e);
    else
        av_log(cfg->log_ctx, AV_LOG_VERBOSE, "Searching with backend %s.\n", backend->name);
    return ret;
}

/* Get ready for pictures of this size and format. */
static av_cold int open_backend(GpumeEngine *e, int width, int height,
                                enum AVPixelFormat format, AVBufferRef *hw_frames)
{
    GpumeBackendConfig cfg = {
        .max_searches = e->cfg.max_in_flight,
        .executor     = e->cfg.executor,
        .hw_device    = e->cfg.hw_device,
        .hw_frames    = hw_frames,
        .device       = e->cfg.device,
        .log_ctx      = e->cfg.log_ctx,
    };
    const enum AVPixelFormat sw_format = hw_frames ?
        ((AVHWFramesContext *)hw_frames->data)->sw_format : format;
    int ret;

    ret = ff_gpume_params_init(&e->cfg.params, width, height, sw_format, cfg.log_ctx);
    if (ret < 0)
        return ret;
    cfg.params = e->cfg.params;
    cfg.plan   = ff_gpume_plan(&cfg.params);

    ret = AVERROR(ENOSYS);
    for (int i = GPUME_NB_BACKENDS - 1; i >= 0 && ret < 0; i--) {
        if (e->cfg.backend >= 0 && e->cfg.backend != i)
            continue;
        if (hw_frames && ff_gpume_backends[i]->hw_format != format) {
            av_log(cfg.log_ctx, e->cfg.backend < 0 ? AV_LOG_VERBOSE : AV_LOG_ERROR,
                   "Backend %s does not support frames of format %s.\n",
                   ff_gpume_backends[i]->name, av_get_pix_fmt_name(format));
            continue;
        }
        cfg.fallback = e->cfg.backend < 0 && !hw_frames && i > 0;
        ret = try_backend(e, &cfg, ff_gpume_backends[i]);
        if (ret < 0 && ret != AVERROR(ENOSYS) && ret != AVERROR(ENODEV) && cfg.fallback)
            av_log(cfg.log_ctx, AV_LOG_WARNING, "The GPU cannot be used; searching "
                   "on the CPU.\n");
    }
    e->format    = format;
    e->hw_frames = hw_frames ? hw_frames->data : NULL;
    if (ret >= 0 && cfg.params.check && cfg.params.nb_references > 1) {
        const size_t nb_vectors = (size_t)cfg.params.bw * cfg.params.bh * cfg.params.nb_references;

        e->mvs   = av_buffer_pool_init(nb_vectors * sizeof(AVMotionVector), NULL);
        e->costs = av_buffer_pool_init(nb_vectors * sizeof(uint32_t), NULL);
        e->same  = cfg.params.same ?
                   av_buffer_pool_init(ff_gpume_nb_cells(&cfg.params) * cfg.params.nb_references, NULL) :
                   NULL;
        if (!e->mvs || !e->costs || (cfg.params.same && !e->same))
            return AVERROR(ENOMEM);
    }
    return ret;
}

av_cold int ff_gpume_engine_open(GpumeEngine **engine, const GpumeEngineConfig *cfg, int width,
                                 int height, enum AVPixelFormat format, AVBufferRef *hw_frames)
{
    GpumeEngine *e = *engine = av_mallocz(sizeof(*e));
    int ret;

    if (!e)
        return AVERROR(ENOMEM);
    e->cfg = *cfg;
    for (int i = 0; i < cfg->params.nb_references; i++) {
        e->past   = FFMAX(e->past,  -cfg->params.distance[i]);
        e->future = FFMAX(e->future, cfg->params.distance[i]);
    }
    /* searches in flight, their references, and the last picture pushed */
    e->size  = e->past + cfg->max_in_flight + e->future + 1;
    e->queue = av_calloc(e->size, sizeof(*e->queue));
    ret = e->queue ? open_backend(e, width, height, format, hw_frames) : AVERROR(ENOMEM);
    if (ret < 0)
        ff_gpume_engine_close(engine);
    return ret;
}

const GpumeParams *ff_gpume_engine_params(const GpumeEngine *e)
{
    return &e->cfg.params;
}

/* Import a picture. The engine owns it even if this fails. */
static int append(GpumeEngine *e, AVFrame *frame)
{
    Entry *entry = entry_at(e, e->nb++);

    entry->pic.frame = frame;
    entry->number    = ++e->nb_pictures;
    return e->backend->import(e->backend_priv, &entry->pic);
}

int ff_gpume_engine_push(GpumeEngine *e, AVFrame **frame)
{
    const AVFrame *f = *frame;
    AVFrame *taken = *frame;
    uint8_t *hw_frames = f->hw_frames_ctx ? f->hw_frames_ctx->data : NULL;

    if (e->ended)
        return AVERROR_EOF;
    if (e->pending || e->nb == e->size)
        return AVERROR(EAGAIN);

    *frame = NULL;
    if (f->width  != e->cfg.params.width  || f->format != e->format ||
        f->height != e->cfg.params.height || hw_frames != e->hw_frames) {
        e->pending  = taken;
        e->flushing = 1;
        return 0;
    }
    return append(e, taken);
}

/* Reopen the backend for the pending picture; all pictures before it have been output. */
static int reopen(GpumeEngine *e)
{
    AVFrame *frame = e->pending;
    int ret;

    av_log(e->cfg.log_ctx, AV_LOG_VERBOSE, "Restarting the search: the picture is "
           "now %dx%d %s.\n", frame->width, frame->height, av_get_pix_fmt_name(frame->format));
    close_backend(e);
    ret = open_backend(e, frame->width, frame->height, frame->format, frame->hw_frames_ctx);
    if (ret < 0)
        return ret;
    e->pending  = NULL;
    e->flushing = e->ended;
    return append(e, frame);
}

static void add_field(GpumeEngine *e, GpumeSearch *search, int reference, int cur, int ref)
{
    if (cur >= 0 && cur < e->nb && ref >= 0 && ref < e->nb)
        search->fields[search->nb_fields++] = (GpumeField) {
            .reference = reference,
            .cur = &entry_at(e, cur)->pic, .ref = &entry_at(e, ref)->pic,
        };
}

/* Start a picture's search; all references that it will have are in the queue. */
static int start_search(GpumeEngine *e, int i)
{
    const GpumeParams *p = &e->cfg.params;
    GpumeSearch *search = &entry_at(e, i)->search;
    /* with check two pictures are searched: this one and, if futures are wanted, its future */
    const int first = e->future ? i : i - e->past;
    const int last  = e->future ? i + e->future : i;

    for (int j = 0; j < p->nb_distances; j++) {
        const int cur = !p->check ? i : p->distance[j] < 0 ? last : first;

        add_field(e, search, j, cur, cur + p->distance[j]);
    }
    return search->nb_fields ? e->backend->submit(e->backend_priv, search) : 0;
}

/* With check, searches of pairs have been finished: what picture i has of them. */
static int collect_fields(GpumeEngine *e, int i, GpumeSearch *result)
{
    const GpumeParams *p = &e->cfg.params;
    const size_t nb_blocks = (size_t)p->bw * p->bh;
    const GpumePicture *pic = &entry_at(e, i)->pic;
    GpumeField found[GPUME_MAX_REFERENCES];
    int nb = 0, ret;

    for (int j = 0; j < p->nb_references; j++) {
        /* a pair's search is in the queue with its first picture, if futures are wanted */
        const int owner = e->future && p->distance[j] < 0 ? i + p->distance[j] : i;
        const GpumeSearch *search = owner < 0 ? NULL : &entry_at(e, owner)->search;

        for (int k = 0; search && k < search->nb_fields; k++)
            if (search->fields[k].reference == j && search->fields[k].cur == pic)
                found[nb++] = search->fields[k];
    }
    memcpy(result->fields, found, nb * sizeof(*found));
    result->nb_fields = nb;
    if (!nb)
        return 0;
    ret = ff_gpume_search_alloc(result, p, e->mvs, e->costs, e->same);
    if (ret < 0)
        return ret;
    for (int k = 0; k < nb; k++) {
        memcpy(result->fields[k].mvs,   found[k].mvs,   nb_blocks * sizeof(*found->mvs));
        memcpy(result->fields[k].costs, found[k].costs, nb_blocks * sizeof(*found->costs));
        if (e->same)
            memcpy(result->fields[k].same, found[k].same, ff_gpume_nb_cells(p));
    }
    return 0;
}

/* The search becomes the result; of those that the check needed too, no more than was asked for. */
static void move_fields(const GpumeParams *p, GpumeSearch *search, GpumeSearch *result)
{
    const size_t nb_blocks = (size_t)p->bw * p->bh;

    *result = *search;
    memset(search, 0, sizeof(*search));
    if (result->nb_fields > p->nb_references) {
        result->nb_fields   = p->nb_references;
        result->mvs->size   = result->nb_fields * nb_blocks * sizeof(AVMotionVector);
        result->costs->size = result->nb_fields * nb_blocks * sizeof(uint32_t);
    }
}

static int take_oldest(GpumeEngine *e, GpumeResult *r)
{
    Entry *entry = entry_at(e, e->nb_out);
    int ret;

    if (entry->search.nb_fields) {
        ret = e->backend->wait(e->backend_priv, &entry->search);
        if (ret < 0)
            return ret;
    }
    r->frame = av_frame_clone(entry->pic.frame);
    if (!r->frame)
        return AVERROR(ENOMEM);
    r->number = entry->number;
    r->params = &e->cfg.params;
    if (e->mvs) {
        ret = collect_fields(e, e->nb_out, &r->search);
        if (ret < 0) {
            ff_gpume_result_uninit(r);
            return ret;
        }
    } else {
        move_fields(&e->cfg.params, &entry->search, &r->search);
    }
    for (int i = 0; i < r->search.nb_fields; i++)
        r->search.fields[i].cur = r->search.fields[i].ref = NULL;

    e->nb_out++;
    while (e->nb_out > e->past)
        drop_oldest(e);
    return 0;
}

int ff_gpume_engine_pull(GpumeEngine *e, GpumeResult *r)
{
    memset(r, 0, sizeof(*r));
    for (;;) {
        const int max_in_flight = e->backend->async ? e->cfg.max_in_flight : 1;
        int ret;

        while (e->nb_started + (e->flushing ? 0 : e->future) < e->nb &&
               e->nb_started - e->nb_out < max_in_flight) {
            ret = start_search(e, e->nb_started);
            if (ret < 0)
                return ret;
            e->nb_started++;
        }
        if (e->nb_started - e->nb_out >= (e->flushing ? 1 : max_in_flight))
            return take_oldest(e, r);
        if (!e->flushing)
            return AVERROR(EAGAIN);
        while (e->nb)
            drop_oldest(e);
        if (!e->pending)
            return AVERROR_EOF;
        ret = reopen(e);
        if (ret < 0)
            return ret;
    }
}

void ff_gpume_engine_flush(GpumeEngine *e)
{
    e->ended = e->flushing = 1;
}

av_cold void ff_gpume_engine_close(GpumeEngine **engine)
{
    GpumeEngine *e = *engine;

    if (!e)
        return;
    close_backend(e);
    for (int i = 0; e->queue && i < e->size; i++) {
        ff_gpume_search_uninit(&e->queue[i].search);
        ff_gpume_picture_uninit(&e->queue[i].pic);
    }
    av_frame_free(&e->pending);
    av_freep(&e->queue);
    av_freep(engine);
}

void ff_gpume_result_uninit(GpumeResult *r)
{
    av_frame_free(&r->frame);
    ff_gpume_search_uninit(&r->search);
    memset(r, 0, sizeof(*r));
}
