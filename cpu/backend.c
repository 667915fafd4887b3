/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The CPU backend. import() and submit() only list tasks. wait() wakes the threads, which work on
 * the oldest search and, if it has nothing that can run, on later searches.
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/same.h"
#include "libavfilter/gpume/core/tree.h"
#include "libavfilter/gpume/cpu/backend.h"

/** Maximum number of shares in which luma is copied. */
#define COPY_SHARES 64

/** Approximate number of samples of a picture that keeps a thread busy for long enough. */
#define SMALL_PICTURE (512 * 256)

/**
 * Number of maps for searches of several sizes: one of zeros, one of a largest block, and four for
 * each other size.
 */
#define NB_MAPS(nb_sizes) (2 + 4 * ((nb_sizes) - 1))

/** Maximum number of searches in flight if the backend chooses it. */
#define MAX_DEPTH 16

static void (*const cost_inits[GPUME_NB_COSTS])(GpumeCost *cost, int depth) = {
#define COST_INIT(ID, name, title) ff_gpume_##name##_init,
    GPUME_COSTS(COST_INIT)
};

static void copy_shares(void *opaque, int worker, int start, int end)
{
    const CPUPicture *p = opaque;

    for (int i = start; i < end; i++)
        ff_gpume_copy_luma(p->pic->copy->data, p->s->copy_linesize, p->pic->frame, &p->s->cfg.params, i,
                           p->tasks[TASK_COPY].nb_units);
}

static void sum_rows(void *opaque, int worker, int start, int end)
{
    const CPUPicture *p = opaque;
    const CPUContext *s = p->s;

    for (const CPUSize *z = s->sizes; z < s->sizes + s->nb_sizes; z++)
        if (z->sea.size)
            ff_gpume_sea_sum(&z->sea, p->pic->copy->data + z->sums_offset, p->pic->luma, p->pic->linesize,
                             start, end, s->scratch + worker * s->scratch_size);
}

static void make_planes(void *opaque, int worker, int start, int end)
{
    const CPUPicture *p = opaque;
    const GpumePropagation *g = &p->s->sizes[0].propagation;

    ff_gpume_planes_make(p->s->layout, &g->pixels, p->pic, p->s->scratch + worker * p->s->scratch_size, start, end);
}

/* Lists the tasks that prepare a picture for searches. */
static void set_picture_tasks(CPUContext *s, GpumePicture *pic)
{
    CPUPicture *p = made_of(s, pic);
    const int height = s->cfg.params.height;

    *p = (CPUPicture) { s, pic };
    if (s->copies_luma)
        p->tasks[TASK_COPY] = (GpumeTask) { copy_shares, .arg = p, .nb_units = FFMIN(height, COPY_SHARES) };
    /* each part begins by computing the sums of half a block's rows */
    if (s->has_sums)
        p->tasks[TASK_SUMS] = (GpumeTask) {
            sum_rows, .arg = p, .nb_units = height, .least = FFMAX(32, 2 * s->cfg.params.block),
            .needs = { &p->tasks[TASK_COPY] },
        };
    if (s->planes)
        p->tasks[TASK_PLANES] = (GpumeTask) {
            make_planes, .arg = p, .nb_units = s->layout->nb_bands, .needs = { &p->tasks[TASK_COPY] },
        };
}

static int import(void *priv, GpumePicture *pic)
{
    CPUContext *s = priv;
    const int ret = ff_gpume_check_luma(pic->frame, &s->cfg.params, s->cfg.log_ctx);

    if (ret < 0)
        return ret;
    pic->copy = av_buffer_pool_get(s->copies);
    if (!pic->copy || s->planes && !(pic->planes = av_buffer_pool_get(s->planes)))
        return AVERROR(ENOMEM);
    pic->luma     = s->copies_luma ? pic->copy->data  : pic->frame->data[0];
    pic->linesize = s->copies_luma ? s->copy_linesize : pic->frame->linesize[0];
    set_picture_tasks(s, pic);
    return 0;
}

static int alloc(void *priv, GpumeFieldSet *set, AVBufferRef **same, int nb)
{
    const CPUContext *s = priv;

    if (s->same && !(*same = av_buffer_pool_get(s->same)))
        return AVERROR(ENOMEM);
    return ff_gpume_fields_alloc(set, &s->cfg.params, nb, s->mvs, s->costs);
}

/* Returns the field of a search that has the intra of field i: the first field of the same picture. */
static int first_of_picture(const GpumeSearch *search, int i)
{
    int j = 0;

    while (!search->fields[j].set || search->fields[j].cur != search->fields[i].cur)
        j++;
    return j;
}

static void add_task(GpumeTaskList *l, GpumeTask *t)
{
    if (t->nb_units)
        l->tasks[l->nb++] = t;
}

/* Adds the tasks of a picture, unless they are done or have been added. */
static void add_picture(CPUSearch *c, const GpumePicture *pic)
{
    CPUPicture *made = made_of(c->s, pic);

    for (int i = 0; i < NB_PICTURE_TASKS; i++) {
        GpumeTask *t = &made->tasks[i];
        int j = 0;

        while (j < c->list.nb && c->list.tasks[j] != t)
            j++;
        if (j == c->list.nb && !ff_gpume_task_done(t))
            add_task(&c->list, t);
    }
}

/* Returns the task after which a picture has been copied and prepared by this kind of task. */
static const GpumeTask *made_by(const CPUPicture *p, enum PictureTask task)
{
    return &p->tasks[p->tasks[task].nb_units ? task : TASK_COPY];
}

/* Returns the task after which a field has vectors from the search stages. */
static const GpumeTask *search_of(CPUField *f)
{
    return &(f->search->s->is_tree_search ? smallest_of(f) : f)->tasks[TASK_SEARCH];
}

/* Returns the task after which a field has its vectors, apart from the replacements of the check. */
static const GpumeTask *last_step(CPUField *f)
{
    CPUField *steps = f->size->follows_smaller ? smallest_of(f) : f;
    const int nb_steps = steps->size->propagation.nb_steps;

    return nb_steps ? &steps->step_tasks[nb_steps - 1] : search_of(steps);
}

static void set_search_task(CPUField *f, const CPUPicture *cur, const CPUPicture *ref)
{
    const CPUContext *s  = f->search->s;
    const GpumeParams *p = &f->size->params;
    GpumeTask *t = &f->tasks[TASK_SEARCH];

    *t = (GpumeTask) {
        ff_gpume_cpu_search_blocks, .arg = f, .nb_units = p->bw * p->bh, .least = 4,
        .needs = { made_by(cur, TASK_SUMS), made_by(ref, TASK_SUMS) },
    };
    if (s->is_tree_search) {
        const GpumeParams *largest = &s->sizes[s->nb_sizes - 1].params;

        t->run      = ff_gpume_cpu_search_trees;
        t->nb_units = largest->bw * largest->bh;
        t->least    = 0;
    }
    if (f->size->has_wavefront) {
        ff_gpume_wavefront_begin(&f->size->wavefront, &f->front, f->field->reference);
        t->run      = ff_gpume_cpu_search_run;
        t->take     = ff_gpume_cpu_take_run;
        t->nb_units = ff_gpume_wavefront_runs(&f->size->wavefront);
    }
}

static void set_step_tasks(CPUField *f, const CPUPicture *cur, const CPUPicture *ref)
{
    GpumePropagation *p = &f->size->propagation;

    ff_gpume_propagation_begin(p, f->steps, f->size->params.check ? opposite_of(f)->steps : NULL, f->field);
    for (int i = 0; i < p->nb_steps; i++)
        f->step_tasks[i] = (GpumeTask) {
            ff_gpume_propagation_run, ff_gpume_propagation_take, &f->steps[i],
            ff_gpume_propagation_units(&f->steps[i]),
        };
    /* the other steps need the previous step, row by row */
    f->step_tasks[0].needs[0] = search_of(f);
    f->step_tasks[0].needs[1] = made_by(cur, TASK_PLANES);
    f->step_tasks[0].needs[2] = made_by(ref, TASK_PLANES);
}

/* Lists the tasks after a field has its vectors. */
static void set_end_tasks(CPUField *f)
{
    const GpumeParams *p = &f->size->params;
    CPUField *opposite = (CPUField *)opposite_of(f), *smallest = smallest_of(f);
    GpumeTask *t = f->tasks;

    if (p->check) {
        t[TASK_JUDGE] = (GpumeTask) {
            ff_gpume_cpu_judge_rows, .arg = f, .nb_units = p->bh, .least = 4,
            .needs = { last_step(f), last_step(opposite) },
        };
        t[TASK_REPLACE] = (GpumeTask) {
            ff_gpume_cpu_replace_vectors, .arg = f, .nb_units = 1,
            .needs = { &t[TASK_JUDGE], &opposite->tasks[TASK_JUDGE] },
        };
    }
    if (f->size->follows)
        t[TASK_FINISH] = (GpumeTask) {
            ff_gpume_cpu_finish_rows, .arg = f, .nb_units = p->bh, .needs = { &t[TASK_REPLACE], last_step(f) },
        };
    /* a tree needs the fields of all sizes */
    if (f != smallest)
        t[TASK_FINISH].needs[2] = &f[-p->nb_distances].tasks[TASK_FINISH];
    if (f->rows)
        t[TASK_TREE] = (GpumeTask) {
            ff_gpume_cpu_tree_rows, .arg = f, .nb_units = p->bh, .needs = { &t[TASK_FINISH] },
        };
}

/* Lists the tasks of a field of a search. */
static void set_field_tasks(CPUField *f)
{
    CPUSearch *c  = f->search;
    CPUContext *s = c->s;
    const GpumeParams *p = &s->cfg.params;
    const int i = f->field - c->search->fields;
    const CPUPicture *cur = made_of(s, f->field->cur), *ref = made_of(s, f->field->ref);
    GpumeTask *t = f->tasks;

    if (f->size->nb_search_stages && (!s->is_tree_search || f == smallest_of(f)))
        set_search_task(f, cur, ref);
    if (f->size->follows && !f->size->follows_smaller)
        set_step_tasks(f, cur, ref);
    /* a field that only the check needs is not output */
    if (!f->field->set)
        return;
    set_end_tasks(f);
    if (f != smallest_of(f))
        return;
    if (p->intra && first_of_picture(c->search, i) == i)
        t[TASK_INTRA] = (GpumeTask) {
            ff_gpume_cpu_intra_rows, .arg = f, .nb_units = p->bh, .needs = { &cur->tasks[TASK_COPY] },
        };
    if (p->same)
        t[TASK_SAME] = (GpumeTask) {
            ff_gpume_cpu_same_rows, .arg = f, .nb_units = gpume_blocks(p->height, GPUME_CELL), .least = 4,
            .needs = { &t[TASK_FINISH], &t[TASK_SEARCH] },
        };
}

/* Adds the tasks of the fields of one size in turns, so that more of them can run at the same time. */
static void add_size(CPUSearch *c, int size)
{
    CPUField *fields = c->fields + size * c->s->cfg.params.nb_distances;
    const int nb = c->search->nb_fields;

    for (int i = 0; i < nb; i++)
        add_task(&c->list, &fields[i].tasks[TASK_SEARCH]);
    for (int j = 0; j < c->s->sizes[size].propagation.nb_steps; j++)
        for (int i = 0; i < nb; i++)
            add_task(&c->list, &fields[i].step_tasks[j]);
    for (int j = TASK_SEARCH + 1; j < NB_FIELD_TASKS; j++)
        for (int i = 0; i < nb; i++)
            add_task(&c->list, &fields[i].tasks[j]);
}

static int submit(void *priv, GpumeSearch *search)
{
    CPUContext *s = priv;
    CPUSearch *c  = &s->searches[(s->first + s->nb++) % s->cfg.max_searches];
    const int nb_distances = s->cfg.params.nb_distances;

    c->search  = search;
    c->list.nb = 0;
    atomic_init(&c->list.first, 0);
    for (int i = 0; i < search->nb_fields; i++) {
        for (int j = 0; j < s->nb_sizes; j++) {
            CPUField *f = &c->fields[j * nb_distances + i];

            f->field = &search->fields[i];
            memset(f->tasks, 0, sizeof(f->tasks));
            set_field_tasks(f);
        }
        add_picture(c, search->fields[i].cur);
        add_picture(c, search->fields[i].ref);
    }
    for (int j = 0; j < s->nb_sizes; j++)
        add_size(c, j);
    return 0;
}

static int wait(void *priv, GpumeSearch *search)
{
    CPUContext *s = priv;
    const GpumeParams *p = &s->cfg.params;
    const CPUSearch *c   = &s->searches[s->first];

    for (int i = 0; i < s->nb; i++)
        s->lists[i] = &s->searches[(s->first + i) % s->cfg.max_searches].list;
    ff_gpume_tasks_run(&s->scheduler, s->lists, s->nb);
    for (int i = 0; i < search->nb_fields && p->intra; i++) {
        if (!search->fields[i].set)
            continue;
        search->fields[i].intra = 0;
        for (int by = 0; by < p->bh; by++)
            search->fields[i].intra += c->fields[first_of_picture(search, i)].intra[by];
    }
    for (int i = 0; i < search->nb_fields && p->tree; i++)
        if (search->fields[i].set)
            ff_gpume_cpu_join_rows(&c->fields[(s->nb_sizes - 1) * p->nb_distances + i]);
    s->first = (s->first + 1) % s->cfg.max_searches;
    s->nb--;
    return 0;
}

/*
 * Returns the number of searches in flight that keeps all threads busy. Each search has more parts
 * than threads, except with small pictures, for which it also pays to wake threads for several
 * searches at once.
 */
static int depth(const GpumeBackendConfig *cfg)
{
    const int64_t size = (int64_t)cfg->params.width * cfg->params.height;
    const int nb_threads = cfg->executor.nb_threads;

    return nb_threads > 1 ? FFMIN(2 + nb_threads * SMALL_PICTURE / size, MAX_DEPTH) : 1;
}

/* Allocates the working memory of a field of a search in flight. */
static av_cold int init_field(CPUField *f)
{
    CPUContext *s = f->search->s;
    CPUSize *z = f->size;
    const GpumeParams *p = &z->params;
    const int first = z == s->sizes, last = z == s->sizes + s->nb_sizes - 1;
    int ret = 0;

    f->intra = p->intra && first ? av_calloc(p->bh, sizeof(*f->intra)) : NULL;
    f->rows  = s->cfg.params.tree && last ? av_calloc(p->bh, sizeof(*f->rows)) : NULL;
    f->steps = z->follows_smaller ? smallest_of(f)->steps :
               z->follows         ? av_calloc(GPUME_MAX_STEPS, sizeof(*f->steps)) : NULL;
    if (p->intra && first && !f->intra || s->cfg.params.tree && last && !f->rows || z->follows && !f->steps)
        return AVERROR(ENOMEM);
    if (z->follows && !z->follows_smaller)
        ret = ff_gpume_propagation_alloc(&z->propagation, f->steps);
    if (p->check && ret >= 0)
        ret = ff_gpume_check_init(&f->check, p);
    return ret;
}

static av_cold int init_search(CPUContext *s, CPUSearch *c)
{
    const int nb_fields = s->cfg.params.nb_distances * s->nb_sizes;
    const int nb_tasks  = NB_FIELD_TASKS + GPUME_MAX_STEPS + 2 * NB_PICTURE_TASKS;
    int ret = 0;

    c->s          = s;
    c->fields     = av_calloc(nb_fields, sizeof(*c->fields));
    c->list.tasks = av_calloc(nb_fields * nb_tasks, sizeof(*c->list.tasks));
    if (!c->fields || !c->list.tasks)
        return AVERROR(ENOMEM);
    for (int i = 0; i < nb_fields; i++) {
        c->fields[i].search = c;
        c->fields[i].size   = &s->sizes[i / s->cfg.params.nb_distances];
    }
    for (int i = 0; i < nb_fields && ret >= 0; i++)
        ret = init_field(&c->fields[i]);
    return ret;
}

static av_cold void uninit_search(CPUContext *s, CPUSearch *c)
{
    for (int i = 0; c->fields && i < s->cfg.params.nb_distances * s->nb_sizes; i++) {
        CPUField *f = &c->fields[i];

        if (f->size && !f->size->follows_smaller) {
            if (f->steps)
                ff_gpume_propagation_free(&f->size->propagation, f->steps);
            av_freep(&f->steps);
        }
        av_freep(&f->intra);
        av_freep(&f->rows);
        ff_gpume_check_uninit(&f->check);
    }
    av_freep(&c->fields);
    av_freep(&c->list.tasks);
}

/* Initializes the stages of blocks of one size. */
static av_cold int init_size(CPUContext *s, int size)
{
    const GpumeParams *p  = &s->cfg.params;
    const GpumePlan *plan = &s->cfg.plan;
    CPUSize *z = &s->sizes[size];
    int ret = 0;

    z->params = ff_gpume_size_params(p, size);
    if (size && plan->nb_sizes > 1) {
        z->follows = z->follows_smaller = 1;
        z->last_step = plan->last_step[size];
        return 0;
    }
    z->plan      = size ? ff_gpume_plan(&z->params) : *plan;
    z->last_step = z->plan.last_step[0];
    while (z->nb_search_stages < z->plan.nb_stages && z->plan.stages[z->nb_search_stages] < GPUME_NB_SEARCH_STAGES)
        z->nb_search_stages++;
    z->follows       = z->nb_search_stages < z->plan.nb_stages || p->tree;
    z->has_sums      = ff_gpume_plan_has(&z->plan, GPUME_STAGE_SEA);
    z->has_wavefront = ff_gpume_plan_has(&z->plan, GPUME_STAGE_WAVEFRONT);
    if (z->has_sums && size)
        ff_gpume_sea_init_larger(&z->sea, &z[-1].sea);
    else if (z->has_sums)
        ff_gpume_sea_init(&z->sea, &z->params);
    s->has_sums      |= z->has_sums;
    s->is_tree_search = size && gpume_kind(p->algo) == GPUME_KIND_FULL;
    if (z->has_wavefront)
        ret = ff_gpume_wavefront_init(&z->wavefront, &z->params, s->cfg.max_searches);
    if (z->follows && ret >= 0)
        ret = ff_gpume_propagation_init(&z->propagation, &z->params, &z->plan, &s->cost, s->cfg.executor.nb_threads);
    return ret;
}

/* Lays out the data of pictures in their copies. */
static av_cold int init_pictures(CPUContext *s)
{
    const GpumeParams *p = &s->cfg.params;
    const GpumePlanesLayout *layout = s->layout = &s->sizes[0].propagation.layout;
    size_t size, scratch_size = FFMAX(layout->scratch_size, 1);

    s->copies_luma = ff_gpume_luma_is_converted(p);
    if (s->copies_luma) {
        s->copy_linesize = FFALIGN(p->width * (p->depth > 8 ? 2 : 1), 64);
    }
    size = s->copy_linesize * p->height;
    for (CPUSize *z = s->sizes; z < s->sizes + s->nb_sizes; z++) {
        z->sums_offset = size;
        size         += FFALIGN(z->sea.size, 64);
        scratch_size  = FFMAX(scratch_size, z->sea.scratch_size);
    }
    if (s->is_tree_search && s->has_sums) {
        const GpumeSea *sea = &s->sizes[0].sea;

        scratch_size = FFMAX(scratch_size, NB_MAPS(s->nb_sizes) * sea->map_size);
    } else if (s->is_tree_search) {
        const size_t nb_vectors = (2 * p->range + 1) * (2 * p->range + 1);

        /* blocks of 4 use other tiles */
        s->first_part = p->cost == GPUME_COST_SATD && p->block < 8;
        s->sums_size  = FFALIGN(nb_vectors * sizeof(uint32_t), 64);
        scratch_size  = FFMAX(scratch_size, (s->nb_sizes - 1) * s->sums_size);
    }
    s->picture_offset = FFALIGN(size, 64);
    /* zeroed, because code reads beyond the sums of a row */
    s->copies = av_buffer_pool_init(s->picture_offset + sizeof(CPUPicture), av_buffer_allocz);
    if (!s->copies)
        return AVERROR(ENOMEM);
    if (layout->nb_levels > 1 || layout->halves) {
        s->planes = av_buffer_pool_init(layout->size, av_buffer_allocz);
        if (!s->planes)
            return AVERROR(ENOMEM);
    }
    s->scratch_size = FFALIGN(scratch_size, 64);
    s->scratch      = av_calloc(s->cfg.executor.nb_threads, s->scratch_size);
    return s->scratch ? 0 : AVERROR(ENOMEM);
}

static av_cold int init(void *priv, const GpumeBackendConfig *cfg)
{
    CPUContext *s = priv;
    const GpumeParams *p    = &s->cfg.params;
    const size_t nb_vectors = (size_t)cfg->params.bw * cfg->params.bh * cfg->params.nb_references;
    int ret;

    s->cfg = *cfg;
    s->scheduler.executor = cfg->executor;
    cost_inits[p->cost](&s->cost, p->depth);
    ff_gpume_sad_init(&s->sad, p->depth);
    ff_gpume_untried_points_init(&s->untried);

    s->mvs      = av_buffer_pool_init(nb_vectors * sizeof(AVMotionVector), NULL);
    s->costs    = av_buffer_pool_init(ff_gpume_costs_size(p), NULL);
    s->same     = p->same ? av_buffer_pool_init(ff_gpume_nb_cells(p) * p->nb_references, NULL) : NULL;
    s->searches = av_calloc(cfg->max_searches, sizeof(*s->searches));
    s->lists    = av_calloc(cfg->max_searches, sizeof(*s->lists));
    if (!s->mvs || !s->costs || p->same && !s->same || !s->searches || !s->lists)
        return AVERROR(ENOMEM);
    s->nb_sizes = ff_gpume_nb_sizes(p);
    s->bit_cost = ff_gpume_bit_cost(p);
    ret = 0;
    for (int i = 0; i < s->nb_sizes && ret >= 0; i++)
        ret = init_size(s, i);
    if (ret >= 0)
        ret = init_pictures(s);
    for (int i = 0; i < cfg->max_searches && ret >= 0; i++)
        ret = init_search(s, &s->searches[i]);
    return ret;
}

static av_cold void uninit(void *priv)
{
    CPUContext *s = priv;

    for (int i = 0; s->searches && i < s->cfg.max_searches; i++)
        uninit_search(s, &s->searches[i]);
    av_freep(&s->searches);
    av_freep(&s->lists);
    av_buffer_pool_uninit(&s->mvs);
    av_buffer_pool_uninit(&s->costs);
    av_buffer_pool_uninit(&s->same);
    av_buffer_pool_uninit(&s->copies);
    av_buffer_pool_uninit(&s->planes);
    av_freep(&s->scratch);
    for (int i = 0; i < s->nb_sizes; i++) {
        ff_gpume_propagation_uninit(&s->sizes[i].propagation);
        ff_gpume_wavefront_uninit(&s->sizes[i].wavefront);
    }
}

const GpumeBackend ff_gpume_backend_cpu = {
    .name      = "cpu",
    .priv_size = sizeof(CPUContext),
    .hw_format = AV_PIX_FMT_NONE,
    .depth     = depth,
    .init      = init,
    .import    = import,
    .alloc     = alloc,
    .submit    = submit,
    .wait      = wait,
    .uninit    = uninit,
};
