/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The CPU backend. A search is over when submit() returns.
 */

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/core/vector.h"
#include "libavfilter/gpume/cpu/search.h"
#include "libavfilter/gpume/cpu/task.h"

/** Luma is copied in this many shares at most. */
#define COPY_SHARES 64

typedef struct CPUContext {
    GpumeBackendConfig cfg;
    GpumeCost cost;
    GpumeUntriedPoints untried;
    GpumeWavefront wavefront;

    int copies_luma;                ///< samples are not native words as they lie
    ptrdiff_t copy_linesize;
    GpumeTask copy_task;

    int has_sums;                   ///< one of the stages is SEA
    GpumeSea sea;
    size_t sums_offset;             ///< of the sums in a picture's copy, bytes
    size_t summed_offset;           ///< of an int: nonzero when they have been computed
    uint8_t *scratch;               ///< for the sums of each worker
    GpumeTask search_task;          ///< it begins with sums that there are not yet

    AVBufferPool *copies;           ///< luma in native words, then sums, where there are any
    AVBufferPool *mvs;
    AVBufferPool *costs;
} CPUContext;

static void (*const cost_inits[GPUME_NB_COSTS])(GpumeCost *cost, int depth) = {
#define COST_INIT(ID, name, title) ff_gpume_##name##_init,
    GPUME_COSTS(COST_INIT)
};

typedef struct ImportArg {
    const CPUContext *s;
    const GpumePicture *pic;
    int nb_shares;
} ImportArg;

static void copy_shares(void *opaque, int worker, int start, int end)
{
    const ImportArg *arg = opaque;

    for (int i = start; i < end; i++)
        ff_gpume_copy_luma(arg->pic->copy->data, arg->s->copy_linesize, arg->pic->frame,
                           &arg->s->cfg.params, i, arg->nb_shares);
}

static int import(void *priv, GpumePicture *pic)
{
    CPUContext *s = priv;
    ImportArg arg = { s, pic, FFMIN(s->cfg.params.height, COPY_SHARES) };
    int ret;

    ret = ff_gpume_check_luma(pic->frame, &s->cfg.params, s->cfg.log_ctx);
    if (ret < 0)
        return ret;
    pic->luma     = pic->frame->data[0];
    pic->linesize = pic->frame->linesize[0];
    if (!s->copies)
        return 0;

    pic->copy = av_buffer_pool_get(s->copies);
    if (!pic->copy)
        return AVERROR(ENOMEM);
    *(int *)(pic->copy->data + s->summed_offset) = 0;
    if (s->copies_luma) {
        pic->luma     = pic->copy->data;
        pic->linesize = s->copy_linesize;
        ff_gpume_task_run(&s->copy_task, &s->cfg, &arg, 0, arg.nb_shares);
    }
    return 0;
}

static void write_vector(AVMotionVector *mv, int source, const GpumeBlock *b)
{
    const GpumeBox box = b->box;
    const int dx = b->dx, dy = b->dy;

    for (int i = 0; i < GPUME_VECTOR_WORDS; i++)
        AV_WN32A((uint8_t *)mv + 4 * i,
                 gpume_vector_word(i, source, box.x0, box.y0, box.w, box.h, dx, dy));
}

typedef struct SearchArg {
    CPUContext *s;
    const GpumeSearch *search;
    const GpumePicture *to_sum[1 + GPUME_MAX_REFERENCES];   ///< those whose sums there are not
    int nb_sum_rows;                                        ///< of all of them together
} SearchArg;

/* Rows of samples, counted through these pictures. */
static void sum_rows(const SearchArg *arg, int worker, int start, int end)
{
    const CPUContext *s = arg->s;
    const int height = s->cfg.params.height;

    while (start < end) {
        const GpumePicture *pic = arg->to_sum[start / height];
        const int y  = start % height;
        const int nb = FFMIN(end - start, height - y);

        ff_gpume_sea_sum(&s->sea, pic->copy->data + s->sums_offset, pic->luma, pic->linesize,
                         y, y + nb, s->scratch + worker * s->sea.scratch_size);
        start += nb;
    }
}

static void add_sums(SearchArg *arg, const GpumePicture *pic)
{
    const CPUContext *s = arg->s;
    int *summed = (int *)(pic->copy->data + s->summed_offset);

    if (!*summed) {
        arg->to_sum[arg->nb_sum_rows / s->cfg.params.height] = pic;
        arg->nb_sum_rows += s->cfg.params.height;
    }
    *summed = 1;
}

/* Blocks from (bx, by) to before (end, by). */
static void search_row(const SearchArg *arg, const GpumeField *field,
                       int bx, int by, int end)
{
    CPUContext *s = arg->s;
    /* copies need not be read again after a block */
    const GpumeParams params = s->cfg.params, *p = &params;
    const GpumePicture cur = *field->cur;
    const GpumePicture ref = *field->ref;
    const int sample_size = p->depth > 8 ? 2 : 1;
    const int source = p->distance[field->reference];
    AVMotionVector *mvs = field->mvs   + (size_t)by * p->bw;
    uint32_t *costs     = field->costs + (size_t)by * p->bw;
    GpumeBlock b = {
        .plan         = &s->cfg.plan,
        .functions    = &s->cost,
        .algo         = p->algo,
        .range        = p->range,
        .exhaustive   = p->exhaustive,
        .sample_size  = sample_size,
        .cur_linesize = cur.linesize,
        .ref_linesize = ref.linesize,
        .untried      = &s->untried,
        .wavefront    = &s->wavefront,
        .place        = { .reference = field->reference, .by = by },
    };

    if (s->has_sums) {
        b.sea      = &s->sea;
        b.cur_sums = cur.copy->data + s->sums_offset;
        b.ref_sums = ref.copy->data + s->sums_offset;
    }
    for (; bx < end; bx++) {
        b.place.bx = bx;
        b.box = gpume_box(p, p->block, bx, by);
        b.cur = cur.luma + b.box.y0 * cur.linesize + b.box.x0 * sample_size;
        b.ref = ref.luma + b.box.y0 * ref.linesize + b.box.x0 * sample_size;
        ff_gpume_cpu_search(&b);
        write_vector(&mvs[bx], source, &b);
        costs[bx] = b.cost;
    }
}

/* Rows of fields that wait for rows above alternate: then fields do not wait for each other. */
static void run_search(void *opaque, int worker, int start, int end)
{
    const SearchArg *arg = opaque;
    const GpumeParams *p = &arg->s->cfg.params;
    const int nb_fields = arg->search->nb_fields;

    if (start < arg->nb_sum_rows) {
        sum_rows(arg, worker, start, end);
        return;
    }
    start -= arg->nb_sum_rows;
    end   -= arg->nb_sum_rows;
    while (start < end) {
        const int row = start / p->bw;
        const int bx  = start % p->bw;
        const int nb  = FFMIN(end - start, p->bw - bx);
        const int alternate = arg->s->search_task.in_order;
        const int field = alternate ? row % nb_fields : row / p->bh;
        const int by    = alternate ? row / nb_fields : row % p->bh;

        search_row(arg, &arg->search->fields[field], bx, by, bx + nb);
        start += nb;
    }
}

static int submit(void *priv, GpumeSearch *search)
{
    CPUContext *s = priv;
    const GpumeParams *p = &s->cfg.params;
    SearchArg arg = { s, search };
    int ret;

    ret = ff_gpume_search_alloc(search, p, s->mvs, s->costs);
    if (ret < 0)
        return ret;
    if (s->wavefront.buffer)
        ff_gpume_wavefront_begin(&s->wavefront, search);
    if (s->has_sums) {
        for (int i = 0; i < search->nb_fields; i++) {
            add_sums(&arg, search->fields[i].cur);
            add_sums(&arg, search->fields[i].ref);
        }
    }
    ff_gpume_task_run(&s->search_task, &s->cfg, &arg, arg.nb_sum_rows,
                      arg.nb_sum_rows + search->nb_fields * p->bh * p->bw);
    return 0;
}

static int wait(void *priv, GpumeSearch *search)
{
    return 0;
}

static av_cold int init(void *priv, const GpumeBackendConfig *cfg)
{
    CPUContext *s = priv;
    const GpumeParams *p = &s->cfg.params;
    size_t nb_vectors;
    int ret;

    if (cfg->plan.nb_steps || p->check)
        return AVERROR(ENOSYS);
    s->cfg = *cfg;
    cost_inits[p->cost](&s->cost, p->depth);
    ff_gpume_untried_points_init(&s->untried);

    nb_vectors = (size_t)p->bw * p->bh * p->nb_distances;
    s->mvs     = av_buffer_pool_init(nb_vectors * sizeof(AVMotionVector), NULL);
    s->costs   = av_buffer_pool_init(nb_vectors * sizeof(uint32_t), NULL);
    if (!s->mvs || !s->costs)
        return AVERROR(ENOMEM);

    s->search_task.run         = run_search;
    s->search_task.least       = 4;
    s->search_task.max_workers = p->nb_distances * ((p->bw * p->bh - 1) / 4 + 1);
    if (ff_gpume_plan_has(&cfg->plan, GPUME_STAGE_WAVEFRONT)) {
        ret = ff_gpume_wavefront_init(&s->wavefront, p);
        if (ret < 0)
            return ret;
        s->search_task.in_order    = 1;
        s->search_task.least       = p->bw;
        s->search_task.max_workers = p->nb_distances * ff_gpume_wavefront_width(&s->wavefront);
    }

    s->copies_luma = p->depth > 8 && (p->shift || p->big_endian != HAVE_BIGENDIAN);
    if (s->copies_luma) {
        s->copy_task     = (GpumeTask) { copy_shares, .least = 1, .max_workers = COPY_SHARES };
        s->copy_linesize = FFALIGN(p->width * 2, 64);
        s->sums_offset   = s->copy_linesize * p->height;
    }
    s->has_sums = ff_gpume_plan_has(&cfg->plan, GPUME_STAGE_SEA);
    if (s->has_sums) {
        ff_gpume_sea_init(&s->sea, p);
        /* whoever takes some begins with the sums of half a block's rows */
        s->search_task.first_least = FFMAX(32, 2 * p->block);
        s->scratch = av_malloc(cfg->nb_threads * s->sea.scratch_size);
        if (!s->scratch)
            return AVERROR(ENOMEM);
    }
    s->summed_offset = s->sums_offset + s->sea.size;
    if (s->copies_luma || s->has_sums) {
        /* what is read beyond the sums of a row has to be something */
        s->copies = av_buffer_pool_init(s->summed_offset + sizeof(int), av_buffer_allocz);
        if (!s->copies)
            return AVERROR(ENOMEM);
    }
    return 0;
}

static av_cold void uninit(void *priv)
{
    CPUContext *s = priv;

    av_buffer_pool_uninit(&s->mvs);
    av_buffer_pool_uninit(&s->costs);
    av_buffer_pool_uninit(&s->copies);
    av_freep(&s->scratch);
    ff_gpume_wavefront_uninit(&s->wavefront);
}

const GpumeBackend ff_gpume_backend_cpu = {
    .name      = "cpu",
    .priv_size = sizeof(CPUContext),
    .hw_format = AV_PIX_FMT_NONE,
    .init      = init,
    .import    = import,
    .submit    = submit,
    .wait      = wait,
    .uninit    = uninit,
};
