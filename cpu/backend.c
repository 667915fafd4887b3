/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The CPU backend. A search is over when submit() returns.
 */

#include <string.h>

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/backend.h"
#include "libavfilter/gpume/core/same.h"
#include "libavfilter/gpume/field/vector.h"
#include "libavfilter/gpume/cpu/check.h"
#include "libavfilter/gpume/cpu/propagation.h"
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

    /* fields that follow the motion */
    int nb_search_stages;           ///< of the plan; the others work on whole fields
    int follows;                    ///< nonzero: there are others
    GpumePropagation propagation;
    GpumeCheck checks[GPUME_MAX_REFERENCES];    ///< of the fields of a search
    uint8_t *planes_scratch;        ///< of each worker
    AVBufferPool *planes;
    GpumeTask planes_task, judge_task, replace_task, finish_task;

    GpumeCost sad;                  ///< for intra: sums of samples
    GpumeTask intra_task;
    uint64_t *intra;                ///< of each row of blocks

    GpumeTask same_task;

    AVBufferPool *copies;           ///< luma in native words, then sums, where there are any
    AVBufferPool *mvs;
    AVBufferPool *costs;
    AVBufferPool *same;
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

static void make_planes(void *opaque, int worker, int start, int end)
{
    const ImportArg *arg = opaque;
    const GpumePropagation *p = &arg->s->propagation;

    ff_gpume_planes_make(&p->layout, &p->pixels, arg->pic,
                         arg->s->planes_scratch + worker * p->layout.scratch_size, start, end);
}

static int import_planes(CPUContext *s, GpumePicture *pic)
{
    ImportArg arg = { s, pic };

    if (!s->planes)
        return 0;
    pic->planes = av_buffer_pool_get(s->planes);
    if (!pic->planes)
        return AVERROR(ENOMEM);
    ff_gpume_task_run(&s->planes_task, &s->cfg, &arg, 0, s->propagation.layout.nb_bands);
    return 0;
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
        return import_planes(s, pic);

    pic->copy = av_buffer_pool_get(s->copies);
    if (!pic->copy)
        return AVERROR(ENOMEM);
    *(int *)(pic->copy->data + s->summed_offset) = 0;
    if (s->copies_luma) {
        pic->luma     = pic->copy->data;
        pic->linesize = s->copy_linesize;
        ff_gpume_task_run(&s->copy_task, &s->cfg, &arg, 0, arg.nb_shares);
    }
    return import_planes(s, pic);
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

static void judge_rows(void *opaque, int worker, int start, int end)
{
    const SearchArg *arg = opaque;
    CPUContext *s = arg->s;
    const GpumeParams *p = &s->cfg.params;

    for (; start < end; start++) {
        const int i = start / p->bh;

        ff_gpume_check_row(&s->checks[i], p,
                           ff_gpume_propagation_result(&s->propagation, i)->vectors,
                           ff_gpume_propagation_result(&s->propagation, !i)->vectors,
                           start % p->bh);
    }
}

static void replace_vectors(void *opaque, int worker, int start, int end)
{
    const SearchArg *arg = opaque;
    CPUContext *s = arg->s;

    for (; start < end; start++)
        ff_gpume_check_replace(&s->checks[start], &s->cfg.params,
                               ff_gpume_propagation_result(&s->propagation, start)->vectors);
}

/* A row of a field as it leaves. */
static void finish_row(const SearchArg *arg, int field_index, int by)
{
    CPUContext *s = arg->s;
    const GpumeParams *p = &s->cfg.params;
    const GpumeField *field = &arg->search->fields[field_index];
    const GpumeStepField *f = ff_gpume_propagation_result(&s->propagation, field_index);
    const int source = p->distance[field->reference];

    for (int bx = 0; bx < p->bw; bx++) {
        const int i = by * p->bw + bx;
        const GpumeBox box  = gpume_box(p, p->block, bx, by);
        const GpumeVector v = f->vectors[i];
        const int unsound   = p->check && s->checks[field_index].rings[i] != GPUME_RING_SOUND;
        uint8_t *mv = (uint8_t *)&field->mvs[i];

        for (int j = 0; j < GPUME_VECTOR_WORDS; j++)
            AV_WN32A(mv + 4 * j, gpume_part_vector_word(j, source, &box, v.dx, v.dy, p->pel,
                                                        unsound ? GPUME_FLAG_UNSOUND : 0));
        field->costs[i] = unsound ?
            ff_gpume_propagation_cost(&s->propagation, field, &box, v, p->pel) : f->costs[i];
    }
}

static void finish_rows(void *opaque, int worker, int start, int end)
{
    const SearchArg *arg = opaque;
    const int bh = arg->s->cfg.params.bh;

    for (; start < end; start++)
        finish_row(arg, start / bh, start % bh);
}

/* What comes after the search of single blocks. */
static void follow_motion(CPUContext *s, SearchArg *arg)
{
    const GpumeParams *p = &s->cfg.params;
    const GpumeSearch *search = arg->search;

    if (s->nb_search_stages)
        ff_gpume_propagation_take(&s->propagation, search);
    ff_gpume_propagation_run(&s->propagation, &s->cfg, search);
    if (p->check) {
        ff_gpume_task_run(&s->judge_task,   &s->cfg, arg, 0, search->nb_fields * p->bh);
        ff_gpume_task_run(&s->replace_task, &s->cfg, arg, 0, search->nb_fields);
    }
    /* what only the check needed does not leave; fields that do come first */
    ff_gpume_task_run(&s->finish_task, &s->cfg, arg, 0,
                      FFMIN(search->nb_fields, p->nb_references) * p->bh);
}

typedef struct IntraArg {
    CPUContext *s;
    const GpumePicture *pic;
} IntraArg;

/* The sum of samples is their SAD against 0. */
static void intra_rows(void *opaque, int worker, int start, int end)
{
    const IntraArg *arg = opaque;
    CPUContext *s = arg->s;
    const GpumeParams *p = &s->cfg.params;
    const int size = p->depth > 8 ? 2 : 1;
    uint8_t row[2 * GPUME_MAX_BLOCK];
    const uint8_t *const ref = row;

    for (int by = start; by < end; by++) {
        s->intra[by] = 0;
        for (int bx = 0; bx < p->bw; bx++) {
            const GpumeBox box = gpume_box(p, p->block, bx, by);
            GpumeCostArea area = {
                .functions = &s->sad, .sample_size = size, .w = box.w, .h = box.h,
                .cur = arg->pic->luma + box.y0 * arg->pic->linesize + box.x0 * size,
                .cur_linesize = arg->pic->linesize,
            };
            uint32_t sum, mean;

            memset(row, 0, sizeof(row));
            ff_gpume_cost_of_parts(&area, &ref, 1, &sum, UINT32_MAX);
            mean = (sum + box.w * box.h / 2) / (box.w * box.h);
            for (int x = 0; x < box.w; x++) {
                if (size == 1)
                    row[x] = mean;
                else
                    AV_WN16(row + 2 * x, mean);
            }
            area.functions = &s->cost;
            ff_gpume_cost_of_parts(&area, &ref, 1, &sum, UINT32_MAX);
            s->intra[by] += sum;
        }
    }
}

static void set_intra(CPUContext *s, GpumeSearch *search)
{
    const GpumeParams *p = &s->cfg.params;

    for (int i = 0; i < FFMIN(search->nb_fields, p->nb_references); i++) {
        GpumeField *field = &search->fields[i];
        IntraArg arg = { s, field->cur };

        /* of one picture once */
        if (i && field->cur == search->fields[0].cur) {
            field->intra = search->fields[0].intra;
            continue;
        }
        ff_gpume_task_run(&s->intra_task, &s->cfg, &arg, 0, p->bh);
        field->intra = 0;
        for (int by = 0; by < p->bh; by++)
            field->intra += s->intra[by];
    }
}

typedef struct SameArg {
    const GpumeParams *params;
    const GpumeField *field;
} SameArg;

static void same_rows(void *opaque, int worker, int start, int end)
{
    const SameArg *arg = opaque;

    ff_gpume_compare_cells(arg->field, arg->params, start, end);
}

static void set_same(CPUContext *s, const GpumeSearch *search)
{
    const GpumeParams *p = &s->cfg.params;

    for (int i = 0; i < FFMIN(search->nb_fields, p->nb_references); i++) {
        SameArg arg = { p, &search->fields[i] };

        ff_gpume_task_run(&s->same_task, &s->cfg, &arg, 0, gpume_blocks(p->height, GPUME_CELL));
    }
}

static int submit(void *priv, GpumeSearch *search)
{
    CPUContext *s = priv;
    const GpumeParams *p = &s->cfg.params;
    SearchArg arg = { s, search };
    int ret;

    ret = ff_gpume_search_alloc(search, p, s->mvs, s->costs, s->same);
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
    if (s->nb_search_stages)
        ff_gpume_task_run(&s->search_task, &s->cfg, &arg, arg.nb_sum_rows,
                          arg.nb_sum_rows + search->nb_fields * p->bh * p->bw);
    if (s->follows)
        follow_motion(s, &arg);
    if (p->intra)
        set_intra(s, search);
    if (p->same)
        set_same(s, search);
    return 0;
}

static int wait(void *priv, GpumeSearch *search)
{
    return 0;
}

static av_cold int init_motion(CPUContext *s)
{
    const GpumeParams *p = &s->cfg.params;
    const GpumePlanesLayout *layout = &s->propagation.layout;
    int ret;

    ret = ff_gpume_propagation_init(&s->propagation, p, &s->cfg.plan, &s->cost);
    for (int i = 0; i < p->nb_distances && p->check && ret >= 0; i++)
        ret = ff_gpume_check_init(&s->checks[i], p);
    if (ret < 0)
        return ret;
    if (layout->nb_levels > 1 || layout->halves) {
        s->planes         = av_buffer_pool_init(layout->size, av_buffer_allocz);
        s->planes_scratch = av_malloc(FFMAX(layout->scratch_size, 1) * s->cfg.executor.nb_threads);
        if (!s->planes || !s->planes_scratch)
            return AVERROR(ENOMEM);
        s->planes_task = (GpumeTask) { make_planes, .least = 1, .max_workers = layout->nb_bands };
    }
    s->judge_task   = (GpumeTask) { judge_rows,      .least = 4, .max_workers = p->bh };
    s->replace_task = (GpumeTask) { replace_vectors, .least = 1, .max_workers = p->nb_distances };
    s->finish_task  = (GpumeTask) { finish_rows,     .least = 1, .max_workers = p->bh };
    return 0;
}

static av_cold int init(void *priv, const GpumeBackendConfig *cfg)
{
    CPUContext *s = priv;
    const GpumeParams *p = &s->cfg.params;
    size_t nb_vectors;
    int ret;

    s->cfg = *cfg;
    cost_inits[p->cost](&s->cost, p->depth);
    ff_gpume_untried_points_init(&s->untried);

    nb_vectors = (size_t)p->bw * p->bh * p->nb_distances;
    s->mvs     = av_buffer_pool_init(nb_vectors * sizeof(AVMotionVector), NULL);
    s->costs   = av_buffer_pool_init(nb_vectors * sizeof(uint32_t), NULL);
    if (!s->mvs || !s->costs)
        return AVERROR(ENOMEM);
    if (p->same) {
        s->same = av_buffer_pool_init(ff_gpume_nb_cells(p) * p->nb_distances, NULL);
        if (!s->same)
            return AVERROR(ENOMEM);
        s->same_task = (GpumeTask) {
            same_rows, .least = 4, .max_workers = gpume_blocks(p->height, GPUME_CELL)
        };
    }

    while (s->nb_search_stages < cfg->plan.nb_stages &&
           cfg->plan.stages[s->nb_search_stages] < GPUME_NB_SEARCH_STAGES)
        s->nb_search_stages++;
    s->follows = s->nb_search_stages < cfg->plan.nb_stages;
    if (s->follows) {
        ret = init_motion(s);
        if (ret < 0)
            return ret;
    }
    if (p->intra) {
        s->intra = av_calloc(p->bh, sizeof(*s->intra));
        if (!s->intra)
            return AVERROR(ENOMEM);
        ff_gpume_sad_init(&s->sad, p->depth);
        s->intra_task = (GpumeTask) { intra_rows, .least = 1, .max_workers = p->bh };
    }

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
        s->scratch = av_malloc(cfg->executor.nb_threads * s->sea.scratch_size);
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
    av_buffer_pool_uninit(&s->same);
    av_buffer_pool_uninit(&s->copies);
    av_freep(&s->scratch);
    av_buffer_pool_uninit(&s->planes);
    av_freep(&s->planes_scratch);
    av_freep(&s->intra);
    ff_gpume_propagation_uninit(&s->propagation);
    for (int i = 0; i < GPUME_MAX_REFERENCES; i++)
        ff_gpume_check_uninit(&s->checks[i]);
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
