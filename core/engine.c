/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/avassert.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/core/engine.h"
#include "libavfilter/gpume/core/params.h"
#include "libavfilter/gpume/core/same.h"
#include "libavfilter/gpume/core/searches.h"

/** A picture in the queue, its search, and its results. */
typedef struct Entry {
    GpumePicture pic;           ///< must be the first member, so that fields lead to their entry
    GpumeSearch search;         ///< without fields if none is read; the wait for it covers the picture's import, too
    int64_t number;             ///< number in the stream, from 1 on
    int64_t index;              ///< index since the backend was opened, from 0 on
    int is_read;                ///< whether its fields are output; the fields of other pictures need not be searched

    /* the fields of the picture; with check, several searches find them */
    GpumeFieldSet set;          ///< not allocated yet if nb is 0
    AVBufferRef *same;
    GpumeField found[GPUME_MAX_REFERENCES];     ///< fields of finished searches, by reference
    unsigned has_found;         ///< bit mask of the fields in found
} Entry;

struct GpumeEngine {
    GpumeEngineConfig cfg;

    /* the stream for which the backend was opened */
    const GpumeBackend *backend;    ///< NULL: not open
    void *backend_priv;
    enum AVPixelFormat format;
    uint8_t *hw_frames;         ///< AVHWFramesContext of the pictures, to detect a change

    /* largest distances of references, in pictures */
    int past, future;
    int depth;                  ///< number of searches in flight

    /**
     * The queue, a ring, oldest first. Pictures before nb_out have been output and are kept as
     * references. Pictures before nb_started do not wait for another picture: their search has been
     * submitted, or they have no reference.
     */
    Entry *queue;
    int size;
    int first;
    int nb, nb_started, nb_out;
    int64_t nb_pictures;        ///< in the whole stream
    int64_t nb_indices;         ///< since the backend was opened

    AVFrame *pending;           ///< the first picture of another size or format
    int pending_is_read;
    int flushing;               ///< whether no later picture can be a reference of those in the queue
    int ended;                  ///< whether no more pictures follow
};

static Entry *entry_at(GpumeEngine *e, int i)
{
    return &e->queue[(e->first + i) % e->size];
}

static void uninit_entry(Entry *entry)
{
    ff_gpume_picture_uninit(&entry->pic);
    ff_gpume_fields_uninit(&entry->set);
    av_buffer_unref(&entry->same);
    memset(entry, 0, sizeof(*entry));
}

static void drop_oldest(GpumeEngine *e)
{
    Entry *oldest = entry_at(e, 0);

    uninit_entry(oldest);
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
}

static av_cold int try_backend(GpumeEngine *e, GpumeBackendConfig *cfg, const GpumeBackend *backend)
{
    int ret;

    cfg->max_searches = !backend->depth      ? 1 :
                        e->cfg.max_in_flight ? e->cfg.max_in_flight : backend->depth(cfg);
    e->backend_priv = av_mallocz(FFMAX(backend->priv_size, 1));
    if (!e->backend_priv)
        return AVERROR(ENOMEM);
    e->backend = backend;

    ret = backend->init(e->backend_priv, cfg);
    if (ret < 0) {
        close_backend(e);
        return ret;
    }
    av_log(cfg->log_ctx, AV_LOG_VERBOSE, "Using the backend %s, up to %d pictures in flight.\n",
           backend->name, cfg->max_searches);
    e->depth      = cfg->max_searches;
    e->first      = 0;
    e->nb_indices = 0;
    /* searches in flight, their references, and the last picture pushed */
    e->size = e->past + e->depth + e->future + 1;
    av_freep(&e->queue);
    e->queue = av_calloc(e->size, sizeof(*e->queue));
    if (!e->queue) {
        close_backend(e);       // the next backend replaces it
        return AVERROR(ENOMEM);
    }
    return 0;
}

/* Opens a backend for pictures of this size and format. */
static av_cold int open_backend(GpumeEngine *e, int width, int height,
                                enum AVPixelFormat format, AVBufferRef *hw_frames)
{
    GpumeBackendConfig cfg = {
        .executor     = e->cfg.executor,
        .hw_device    = e->cfg.hw_device,
        .hw_frames    = hw_frames,
        .device       = e->cfg.device,
        .on_device    = e->cfg.on_device && hw_frames,
        .log_ctx      = e->cfg.log_ctx,
    };
    const enum AVPixelFormat sw_format = hw_frames ?
        ((AVHWFramesContext *)hw_frames->data)->sw_format : format;
    int ret;

    ret = ff_gpume_params_init(&e->cfg.params, width, height, sw_format, cfg.log_ctx);
    if (ret < 0)
        return ret;
    if (hw_frames && gpume_is_packed(&e->cfg.params)) {
        av_log(cfg.log_ctx, AV_LOG_ERROR, "Hardware frames of the packed pixel format %s cannot be searched. "
               "Insert scale_cuda=format=yuv420p before the search.\n", av_get_pix_fmt_name(sw_format));
        return AVERROR(ENOSYS);
    }
    cfg.params = e->cfg.params;
    cfg.plan   = ff_gpume_plan(&cfg.params);

    ret = AVERROR(ENOSYS);
    for (int i = GPUME_NB_BACKENDS - 1; i >= 0 && ret < 0; i--) {
        if (e->cfg.backend >= 0 && e->cfg.backend != i)
            continue;
        if (hw_frames && ff_gpume_backends[i]->hw_format != format) {
            av_log(cfg.log_ctx, e->cfg.backend < 0 ? AV_LOG_VERBOSE : AV_LOG_ERROR,
                   "The backend %s does not support frames of format %s; "
                   "use backend=auto, or hwdownload before gpume.\n",
                   ff_gpume_backends[i]->name, av_get_pix_fmt_name(format));
            continue;
        }
        cfg.fallback = e->cfg.backend < 0 && !hw_frames && i > 0;
        ret = try_backend(e, &cfg, ff_gpume_backends[i]);
        if (ret < 0 && ret != AVERROR(ENOSYS) && ret != AVERROR(ENODEV) && cfg.fallback)
            av_log(cfg.log_ctx, AV_LOG_WARNING, "The GPU cannot be used; the search runs on the CPU.\n");
    }
    e->format    = format;
    e->hw_frames = hw_frames ? hw_frames->data : NULL;
    return ret;
}

av_cold int ff_gpume_engine_open(GpumeEngine **engine, const GpumeEngineConfig *cfg, int width,
                                 int height, enum AVPixelFormat format, AVBufferRef *hw_frames)
{
    GpumeEngine *e = *engine = av_mallocz(sizeof(*e));
    int ret;

    av_assert0(!cfg->on_device || !(cfg->params.intra || cfg->params.same || cfg->params.tree));
    if (!e)
        return AVERROR(ENOMEM);
    e->cfg = *cfg;
    for (int i = 0; i < cfg->params.nb_references; i++) {
        e->past   = FFMAX(e->past,  -cfg->params.distance[i]);
        e->future = FFMAX(e->future, cfg->params.distance[i]);
    }
    ret = open_backend(e, width, height, format, hw_frames);
    if (ret < 0)
        ff_gpume_engine_close(engine);
    return ret;
}

const GpumeParams *ff_gpume_engine_params(const GpumeEngine *e)
{
    return &e->cfg.params;
}

const char *ff_gpume_engine_backend(const GpumeEngine *e)
{
    return e->backend->name;
}

/* Imports a picture. The engine owns it even if this fails. */
static int append(GpumeEngine *e, AVFrame *frame, int is_read)
{
    Entry *entry = entry_at(e, e->nb++);

    entry->pic.frame = frame;
    entry->number    = ++e->nb_pictures;
    entry->index     = e->nb_indices++;
    entry->is_read   = is_read || gpume_has_memory(e->cfg.params.algo);
    return e->backend->import(e->backend_priv, &entry->pic);
}

static int push(GpumeEngine *e, AVFrame **frame, int is_read)
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
        e->pending         = taken;
        e->pending_is_read = is_read;
        e->flushing        = 1;
        return 0;
    }
    return append(e, taken, is_read);
}

int ff_gpume_engine_push(GpumeEngine *e, AVFrame **frame)
{
    return push(e, frame, 1);
}

int ff_gpume_engine_push_clone(GpumeEngine *e, const AVFrame *frame, int is_read)
{
    AVFrame *clone = av_frame_clone(frame);
    const int ret = clone ? push(e, &clone, is_read) : AVERROR(ENOMEM);

    av_frame_free(&clone);
    return ret;
}

/* Reopens the backend for the pending picture; all previous pictures have been output. */
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
    return append(e, frame, e->pending_is_read);
}

/*
 * Returns the slot of a reference's field in its picture's set, which is the number of fields
 * before it. With check, all later pictures are assumed to come.
 */
static int slot_of(const GpumeEngine *e, const Entry *entry, int reference)
{
    const GpumeParams *p = &e->cfg.params;
    int nb = 0;

    for (int j = 0; j < reference; j++)
        nb += p->distance[j] > 0 || entry->index >= -p->distance[j];
    return nb;
}

/* Returns whether fields at this distance are requested. */
static int is_wanted(const GpumeParams *p, int distance)
{
    for (int j = 0; j < p->nb_references; j++)
        if (p->distance[j] == distance)
            return 1;
    return 0;
}

/* Returns whether the field from a picture into a reference at this distance is output. */
static int is_output(const GpumeParams *p, const Entry *cur, int distance)
{
    return cur->is_read && is_wanted(p, distance);
}

/*
 * Returns the current picture of a reference's field in the search of picture i. With check, two
 * pictures are searched in each other: picture i and a later picture if the field into that picture
 * is requested, else picture i and an earlier one.
 */
static int current_of(const GpumeParams *p, int i, int reference)
{
    const int distance = p->distance[reference], length = FFABS(distance);

    if (!p->check)
        return i;
    return is_wanted(p, length) ? i + (distance < 0 ? length : 0) : i - (distance < 0 ? 0 : length);
}

/* Points a field to its place in its picture's set. */
static int place_field(GpumeEngine *e, GpumeField *field, Entry *entry, int nb, int slot)
{
    const GpumeParams *p = &e->cfg.params;

    if (!entry->set.nb) {
        const int ret = e->backend->alloc(e->backend_priv, &entry->set, &entry->same, nb);

        if (ret < 0)
            return ret;
    }
    entry->set.host[slot].distance = entry->set.device[slot].distance = p->distance[field->reference];
    field->set   = &entry->set;
    field->slot  = slot;
    field->mvs   = gpume_field_mvs(&entry->set, slot);
    field->costs = gpume_field_costs(&entry->set, slot);
    field->nb    = p->bw * p->bh;
    field->sizes = entry->set.sizes ? entry->set.sizes + (size_t)slot * field->nb : NULL;
    field->same  = entry->same ? entry->same->data + slot * ff_gpume_nb_cells(p) : NULL;
    return 0;
}

/* Sets which fields of a search are opposite to each other. */
static void pair_fields(const GpumeParams *p, GpumeSearch *search)
{
    for (int i = 0; i < search->nb_fields; i++)
        for (int j = 0; j < search->nb_fields; j++)
            if (p->distance[search->fields[j].reference] == -p->distance[search->fields[i].reference])
                search->fields[i].opposite = j;
}

/* Starts a picture's search; all of its references are in the queue. */
static int start_search(GpumeEngine *e, int i)
{
    const GpumeParams *p = &e->cfg.params;
    GpumeSearch *search = &entry_at(e, i)->search;
    int ret;

    for (int j = 0; j < p->nb_distances; j++) {
        const int distance = p->distance[j], cur = current_of(p, i, j), ref = cur + distance;

        if (cur < 0 || cur >= e->nb || ref < 0 || ref >= e->nb)
            continue;
        /* the check needs both fields of a pair */
        if (is_output(p, entry_at(e, cur), distance) || (p->check && is_output(p, entry_at(e, ref), -distance)))
            search->fields[search->nb_fields++] = (GpumeField) {
                .reference = j, .cur = &entry_at(e, cur)->pic, .ref = &entry_at(e, ref)->pic,
            };
    }
    for (int k = 0; k < search->nb_fields; k++) {
        GpumeField *field = &search->fields[k];
        Entry *entry = (Entry *)field->cur;

        if (!is_output(p, entry, p->distance[field->reference]))
            continue;
        ret = p->check ? place_field(e, field, entry, slot_of(e, entry, p->nb_references),
                                     slot_of(e, entry, field->reference)) :
                         place_field(e, field, entry, search->nb_fields, k);
        if (ret < 0)
            return ret;
    }
    if (p->check)
        pair_fields(p, search);
    return e->backend->submit(e->backend_priv, search);
}

/* Waits for a picture's search, and gives each field to its current picture. */
static int finish_search(GpumeEngine *e, GpumeSearch *search)
{
    const int ret = e->backend->wait(e->backend_priv, search);

    for (int k = 0; k < search->nb_fields && ret >= 0; k++) {
        const GpumeField *field = &search->fields[k];
        Entry *entry = (Entry *)field->cur;

        if (!field->set)
            continue;
        entry->found[field->reference] = *field;
        entry->has_found |= 1u << field->reference;
    }
    return ret;
}

/* Moves a field to the slot of a field that was not searched, because the stream ended before its reference. */
static void move_field(const GpumeParams *p, GpumeFieldSet *set, AVBufferRef *same, int from, int to)
{
    const size_t nb_blocks = (size_t)p->bw * p->bh, nb_cells = ff_gpume_nb_cells(p);
    GpumeMotionField *f = &set->host[to];

    memmove(gpume_field_mvs(set, to), gpume_field_mvs(set, from), nb_blocks * sizeof(AVMotionVector));
    memmove(gpume_field_costs(set, to), gpume_field_costs(set, from), nb_blocks * sizeof(uint32_t));
    if (same)
        memmove(same->data + to * nb_cells, same->data + from * nb_cells, nb_cells);
    f->distance     = set->host[from].distance;
    set->device[to] = set->device[from];
}

/* Moves leaves, which follow those of the previous fields; costs and sizes may stay in place. */
static void move_leaves(GpumeFieldSet *set, GpumeField *field, int to)
{
    AVMotionVector *mvs = (AVMotionVector *)set->mvs->data;

    for (int i = 0; i < to; i++)
        mvs += field[i - to].nb;
    memmove(mvs, field->mvs, field->nb * sizeof(*mvs));
    set->host[to]     = set->host[field->slot];
    set->host[to].mvs = (uintptr_t)mvs;
    set->device[to]   = set->device[field->slot];
    field->mvs        = mvs;
    set->mvs->size    = (uint8_t *)(mvs + field->nb) - set->mvs->data;
}

/* Makes a result from a picture's fields. */
static void take_fields(const GpumeEngine *e, Entry *entry, GpumeResult *r)
{
    const GpumeParams *p = &e->cfg.params;
    const size_t nb_blocks = (size_t)p->bw * p->bh;
    int nb = 0;

    r->set        = entry->set;
    r->set.number = entry->number;
    r->same    = entry->same;
    entry->set = (GpumeFieldSet) { 0 };
    entry->same = NULL;
    for (int j = 0; j < p->nb_references; j++) {
        GpumeField *field = &r->search.fields[nb];

        if (!(entry->has_found >> j & 1))
            continue;
        *field = entry->found[j];
        if (p->tree) {
            move_leaves(&r->set, field, nb);
        } else {
            if (field->slot != nb)
                move_field(p, &r->set, r->same, field->slot, nb);
            field->mvs         = gpume_field_mvs(&r->set, nb);
            field->costs       = gpume_field_costs(&r->set, nb);
            field->same        = r->same ? r->same->data + nb * ff_gpume_nb_cells(p) : NULL;
            r->set.mvs->size   = (nb + 1) * nb_blocks * sizeof(AVMotionVector);
            r->set.costs->size = (nb + 1) * nb_blocks * sizeof(uint32_t);
        }
        field->cur  = field->ref = NULL;
        field->set  = NULL;
        field->slot = nb++;
    }
    r->search.nb_fields = r->set.nb = nb;
    if (!nb) {
        ff_gpume_fields_uninit(&r->set);
        av_buffer_unref(&r->same);
    }
}

static int take_oldest(GpumeEngine *e, GpumeResult *r)
{
    Entry *entry = entry_at(e, e->nb_out);
    const int ret = finish_search(e, &entry->search);

    if (ret < 0)
        return ret;
    r->frame = av_frame_clone(entry->pic.frame);
    if (!r->frame)
        return AVERROR(ENOMEM);
    r->number = entry->number;
    r->params = &e->cfg.params;
    take_fields(e, entry, r);
    e->nb_out++;
    while (e->nb_out > e->past)
        drop_oldest(e);
    return 0;
}

int ff_gpume_engine_start(GpumeEngine *e)
{
    while (e->nb_started + (e->flushing ? 0 : e->future) < e->nb && e->nb_started - e->nb_out < e->depth) {
        const int ret = start_search(e, e->nb_started);

        if (ret < 0)
            return ret;
        e->nb_started++;
    }
    return 0;
}

int ff_gpume_engine_pull(GpumeEngine *e, GpumeResult *r)
{
    memset(r, 0, sizeof(*r));
    for (;;) {
        int ret = ff_gpume_engine_start(e);

        if (ret < 0)
            return ret;
        if (e->nb_started - e->nb_out >= (e->flushing ? 1 : e->depth))
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
    for (int i = 0; e->queue && i < e->size; i++)
        uninit_entry(&e->queue[i]);
    av_frame_free(&e->pending);
    av_freep(&e->queue);
    av_freep(engine);
}

void ff_gpume_result_uninit(GpumeResult *r)
{
    av_frame_free(&r->frame);
    ff_gpume_fields_uninit(&r->set);
    av_buffer_unref(&r->same);
    memset(r, 0, sizeof(*r));
}
