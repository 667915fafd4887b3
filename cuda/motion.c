/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The steps after the search block by block: pyramids, steps of true motion, the check, and intra
 * costs.
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/avassert.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/motion_vector.h"

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/cuda/search.h"

/** Numbers of phases are stored in 16 bits. */
#define MAX_NUMBER UINT16_MAX

/** Alignment of planes and working arrays, in bytes. */
#define ALIGNMENT 256

/* Loads the kernel for blocks of a side, with its threads and bytes of shared memory. */
static av_cold int load(GpumeCudaMotion *m, GpumeCudaLaunch *l, int family, int side, int variant, int threads,
                        int shared)
{
    const GpumeCudaModule *row = ff_gpume_cuda_find_module(m->cuda, &m->params, family, side, variant);

    if (!row) {
        av_log(m->cuda->log_ctx, m->cuda->log_level, "The CUDA backend does not support hme, smooth or pel "
               "with this cost; use backend=cpu.\n");
        return AVERROR(ENOSYS);
    }
    l->threads = threads;
    l->shared  = shared;
    return ff_gpume_cuda_load(m->cuda, l, &row->code);
}

static av_cold void init_planes(GpumeCudaMotion *m, int nb_levels, int pel)
{
    GpumeCudaPlanes *planes = &m->planes;
    const int bytes = m->params.depth > 8 ? 2 : 1;

    planes->nb_levels = nb_levels;
    for (int i = 0; i < nb_levels; i++) {
        const int width  = gpume_level_side(m->params.width,  i);
        const int height = gpume_level_side(m->params.height, i);

        planes->offset[i]   = planes->size;
        planes->linesize[i] = FFALIGN(width * bytes + GPUME_CUDA_PLANE_PADDING, 64);
        planes->size       += FFALIGN(planes->linesize[i] * height, ALIGNMENT);
    }
    if (pel > 1) {
        planes->parts          = planes->size;
        planes->parts_linesize = planes->linesize[0] * GPUME_NB_PLANES;
        planes->size          += planes->parts_linesize * m->params.height;
    }
}

/* Buffer that the steps share. */
typedef struct Work {
    size_t size;                ///< bytes taken so far
    CUdeviceptr base;           ///< 0 in the first pass, which only adds up sizes
} Work;

static CUdeviceptr take(Work *work, size_t words)
{
    const CUdeviceptr p = work->base + work->size;

    work->size += FFALIGN(4 * words, ALIGNMENT);
    return p;
}

/* Returns the number of searches for global candidates. With check, the two fields are each other's opposite. */
static int nb_searches(const GpumeCudaMotion *m, int nb_fields)
{
    return m->params.check ? nb_fields : 2 * nb_fields;
}

/* Sets the addresses of all arrays. */
static av_cold void place_work(GpumeCudaMotion *m, Work *work)
{
    const GpumeParams *p = &m->params;
    const int nb_fields = FFMIN(p->nb_distances, GPUME_CUDA_FIELDS);
    const size_t nb = (size_t)nb_fields * p->bw * p->bh;
    const size_t nb_cells = (size_t)nb_searches(m, nb_fields) * m->candidates.params.bw * m->candidates.params.bh;
    CUdeviceptr vectors[2], costs[2], states, known, bounds;
    size_t most = nb, remembered = 0;

    for (int i = 0; i < m->nb_steps; i++) {
        const GpumeParams *s = &m->steps[i].args.params;
        const size_t size = (size_t)nb_fields * s->bw * s->bh;

        most = FFMAX(most, size);
        if (GPUME_CUDA_STEP_REMEMBERS(gpume_cuda_side(s), s->pel > 1))
            remembered = FFMAX(remembered, size);
    }
    for (int i = 0; i < 2; i++) {
        vectors[i] = take(work, most);
        costs[i]   = take(work, most);
    }
    m->zeroed = work->size;
    states = take(work, 2 * most);
    known  = take(work, 2 * most);
    bounds = take(work, GPUME_CUDA_STEP_CANDIDATES * remembered);
    m->counters = take(work, GPUME_CUDA_COUNTERS);
    m->candidates.marks = take(work, nb_cells);
    m->check.counts = take(work, nb_fields);
    m->nb_zeroed = work->size - m->zeroed;
    for (int i = 0; i < m->nb_steps; i++) {
        GpumeCudaStepArgs *a = &m->steps[i].args;

        a->vectors = vectors[i & 1];
        a->costs   = costs[i & 1];
        a->states  = states;
        a->known   = known;
        a->bounds  = bounds;
        a->from_vectors = vectors[~i & 1];
        a->from_costs   = costs[~i & 1];
    }
    m->candidates.vectors = take(work, nb_cells);
    m->cells[0] = take(work, nb_cells);
    m->cells[1] = take(work, nb_cells);
    m->blocks   = take(work, nb_cells ? most : 0);
    if (p->check) {
        m->check.rings = m->results.rings = take(work, nb);
        m->check.lists[0] = take(work, nb);
        m->check.lists[1] = take(work, nb);
        m->check.medians  = take(work, nb);
    }
}

/* Sets how a step is divided into tickets. Returns the number of thread blocks. */
static unsigned init_tickets(GpumeCudaStepArgs *a, int at_once)
{
    const int side  = gpume_cuda_side(&a->params);
    const int begin = a->begin == GPUME_BEGIN_KEEP ? 1 : GPUME_CUDA_STEP_BEGIN_LANES(side, a->params.cost);
    unsigned most = 1;

    a->decides  = GPUME_CUDA_STEP_DECIDES(side) && at_once > GPUME_CUDA_FEW_AT_ONCE;
    a->warps[0] = gpume_blocks(a->params.bw * begin, 32);
    for (int i = 0; i < 2; i++)
        a->warps[1 + i] = gpume_blocks(gpume_phase_size(a->params.bw, i) *
                                       (a->decides ? 1 : GPUME_CUDA_STEP_LANES(side)), 32);
    for (int i = 0; i < FF_ARRAY_ELEMS(a->warps); i++)
        a->reciprocals[i] = FFMIN((UINT64_C(1) << 32) / FFMAX(a->warps[i], 1), UINT32_MAX);
    a->nb_tickets = 0;
    for (int i = 0; i <= GPUME_NB_PHASES; i++) {
        const int rows  = i ? gpume_phase_size(a->params.bh, gpume_phase_row(i)) : a->params.bh;
        const int units = a->warps[i ? 1 + gpume_phase_column(i) : 0] * rows * a->nb_fields;

        if (i < 2)
            a->rounds[i] = av_clip(units / GPUME_CUDA_STEP_WARPS, 1, GPUME_CUDA_STEP_ROUNDS);
        a->tickets[i]  = gpume_blocks(units, a->rounds[!!i]);
        a->nb_tickets += a->tickets[i] * (i ? a->nb_passes : 1);
        most           = FFMAX(most, i || !a->nb_passes ? a->tickets[i] : 0);
    }
    /*
     * With as many warps as a phase has tickets, few warps only wait. Those that wait keep other searches from
     * starting, so with many searches, half as many warps are better.
     */
    a->nb_of_warp = gpume_blocks(a->nb_tickets, at_once > GPUME_CUDA_FEW_AT_ONCE ? gpume_blocks(most, 2) : most);
    return gpume_blocks(a->nb_tickets, a->nb_of_warp * (GPUME_CUDA_STEP_THREADS / 32));
}

static av_cold int init_step(GpumeCudaMotion *m, const GpumeStep *from)
{
    const GpumeCudaStepArgs *before = m->nb_steps ? &m->steps[m->nb_steps - 1].args : NULL;
    GpumeCudaStep *step = &m->steps[m->nb_steps++];
    GpumeCudaStepArgs *a = &step->args;
    int ret;

    step->level    = from->level;
    a->params      = ff_gpume_step_params(&m->params, from);
    a->params.pel  = from->pel;
    a->linesize    = m->planes.linesize[from->level];
    a->ref_linesize = from->pel > 1 ? m->planes.parts_linesize : a->linesize;
    a->begin       = from->begin;
    a->factor      = gpume_doubles(from->begin) ? 2 :
                     from->begin == GPUME_BEGIN_KEEP ? from->pel / (before ? before->params.pel : 1) : 1;
    a->from_bw     = before ? before->params.bw : 0;
    a->from_bh     = before ? before->params.bh : 0;
    a->threshold   = from->threshold;
    a->nb_passes   = from->nb_passes;
    /* the largest cost has 16 bits after the shift */
    a->bound_shift = FFMAX(m->params.depth + 2 * av_log2(from->block) - 16, 0);
    if (from->begin != GPUME_BEGIN_GLOBAL)
        return load(m, &step->launch, GPUME_CUDA_propagate, gpume_cuda_side(&a->params), from->pel > 1,
                    GPUME_CUDA_STEP_THREADS, GPUME_CUDA_STEP_THREADS);
    m->candidates.params   = ff_gpume_global_params(&m->params);
    m->candidates.linesize = m->planes.linesize[GPUME_GLOBAL_LEVEL];
    ret = load(m, &m->global, GPUME_CUDA_global, 0, 0, GPUME_CUDA_GLOBAL_THREADS, 0);
    return ret < 0 ? ret : load(m, &step->launch, GPUME_CUDA_choose, 0, 0, GPUME_CUDA_CHOOSE_THREADS, 0);
}

static av_cold int init_kernels(GpumeCudaMotion *m, const GpumePlan *plan)
{
    const GpumeParams *p = &m->params;
    const GpumeStep none = { 0, p->block, GPUME_BEGIN_KEEP, 1, 0, 0 };
    const int bytes = p->depth > 8 ? 2 : 1;
    int ret;

#define LOAD(launch, family, variant, threads, shared)                                          \
    if ((ret = load(m, &m->launch, GPUME_CUDA_##family, 0, variant, threads, shared)) < 0)      \
        return ret;

    if (p->intra)
        LOAD(intra, intra, 0, GPUME_CUDA_INTRA_THREADS, 0)
    if (!plan->nb_steps && !p->check)
        return 0;

    init_planes(m, FFMAX(plan->nb_levels, 1), p->pel);
    LOAD(pyramid, pyramid, 0, GPUME_CUDA_PYRAMID_THREADS,
         bytes * GPUME_CUDA_PYRAMID_TILE * GPUME_CUDA_PYRAMID_TILE * 5 / 4)
    if (p->pel > 1)
        LOAD(halves, halves, 0, GPUME_CUDA_HALVES_THREADS, 0)
    for (int i = 0; i < plan->nb_steps; i++)
        if ((ret = init_step(m, &plan->steps[i])) < 0)
            return ret;
    /* without steps, the check reads the results of the search */
    if (!plan->nb_steps && (ret = init_step(m, &none)) < 0)
        return ret;
    if (p->check) {
        LOAD(judge,   check, 0, GPUME_CUDA_JUDGE_THREADS, 4)
        LOAD(replace, check, 1, GPUME_CUDA_FILL_THREADS, 4)
    }
    memcpy(m->last_step, plan->last_step, sizeof(m->last_step));
    m->results.linesize       = m->planes.linesize[0];
    m->results.parts          = m->planes.parts;
    m->results.parts_linesize = m->planes.parts_linesize;
    LOAD(export, export, 0, GPUME_CUDA_EXPORT_THREADS, 4 * GPUME_CUDA_EXPORT_SHARED)
    return 0;
}

av_cold int ff_gpume_cuda_motion_init(GpumeCudaMotion *m, const GpumeCuda *cuda,
                                      const GpumeParams *params, const GpumePlan *plan, int at_once)
{
    Work work = { 0 };
    int ret;

    m->cuda    = cuda;
    m->params  = *params;
    m->at_once = at_once;
    ret = init_kernels(m, plan);
    if (ret < 0 || !m->nb_steps)
        return ret;

    place_work(m, &work);
    ret = ff_gpume_cuda_alloc(cuda, &m->work, GPUME_CUDA_DEVICE, work.size, "fields");
    if (ret < 0)
        return ret;
    work = (Work) { .base = m->work.data };
    place_work(m, &work);
    return 0;
}

/* Launches a kernel with x times y thread blocks. */
static CUresult launch(const GpumeCudaMotion *m, const GpumeCudaLaunch *from, int x, int y, void *args, CUstream stream)
{
    GpumeCudaLaunch l = *from;

    l.grid[0] = x;
    l.grid[1] = y;
    return ff_gpume_cuda_launch(m->cuda, &l, 1, args, stream);
}

/* Reserves phase numbers and counters. They are zeroed once, and again when they run out. */
static CUresult reserve(GpumeCudaMotion *m, int nb_numbers, int nb_counters, CUstream stream)
{
    /* the check zeroes the counts that it reads itself */
    if (m->number && m->number + nb_numbers <= MAX_NUMBER && m->nb_counters + nb_counters <= GPUME_CUDA_COUNTERS)
        return CUDA_SUCCESS;
    m->number      = 1;
    m->nb_counters = 0;
    return m->cuda->cu->cuMemsetD8Async(m->work.data + m->zeroed, 0, m->nb_zeroed, stream);
}

/* Returns the next reserved counter. */
static CUdeviceptr take_counter(GpumeCudaMotion *m)
{
    return m->counters + m->nb_counters++ * sizeof(unsigned);
}

/* Returns the planes of a field's pictures with these offsets. */
static GpumeCudaPair pair_of(const GpumeCudaSearchField *field, size_t cur, size_t ref)
{
    return (GpumeCudaPair) { field->cur_planes + cur, field->ref_planes + ref };
}

/* Searches the cells of a list. */
static CUresult launch_cells(GpumeCudaMotion *m, int list, CUdeviceptr to_count, CUstream stream)
{
    GpumeCudaGlobalArgs *a = &m->candidates;

    a->cells    = m->cells[list];
    a->count    = a->to_count;
    a->to_cells = to_count ? m->cells[!list] : 0;
    a->to_count = to_count;
    return launch(m, &m->global, FFMIN(gpume_blocks(a->nb_searches * a->params.bw * a->params.bh,
                                                    GPUME_CUDA_GLOBAL_THREADS / 32), GPUME_CUDA_GLOBAL_GRID),
                  1, a, stream);
}

/*
 * Lists doubtful blocks and the cells that they need, searches these cells and then those that confirm their vectors,
 * and chooses vectors.
 */
static CUresult launch_global(GpumeCudaMotion *m, GpumeCudaStep *step, const GpumeCudaSearchField *fields,
                              CUstream stream)
{
    GpumeCudaGlobalArgs *a = &m->candidates;
    const int nb_fields = step->args.nb_fields, nb_blocks = step->args.params.bw * step->args.params.bh;
    GpumeCudaChooseArgs choose;
    CUresult err = reserve(m, 1, 3, stream);

    if (err != CUDA_SUCCESS)
        return err;
    a->nb_fields   = nb_fields;
    a->nb_searches = nb_searches(m, nb_fields);
    a->epoch       = m->number++;
    for (int i = 0; i < nb_fields; i++)
        a->pairs[i] = pair_of(&fields[i], m->planes.offset[GPUME_GLOBAL_LEVEL], m->planes.offset[GPUME_GLOBAL_LEVEL]);
    a->to_cells = m->cells[0];
    a->to_count = take_counter(m);
    choose = (GpumeCudaChooseArgs) { step->args, *a, m->blocks, take_counter(m), 1 };
    err = launch(m, &step->launch, gpume_blocks(nb_blocks, GPUME_CUDA_CHOOSE_THREADS), nb_fields, &choose, stream);
    if (err == CUDA_SUCCESS)
        err = launch_cells(m, 0, take_counter(m), stream);
    if (err == CUDA_SUCCESS)
        err = launch_cells(m, 1, 0, stream);
    choose.is_listing = 0;
    if (err == CUDA_SUCCESS)
        err = launch(m, &step->launch, FFMIN(gpume_blocks(nb_fields * nb_blocks, GPUME_CUDA_CHOOSE_THREADS / 32),
                                             GPUME_CUDA_GLOBAL_GRID), 1, &choose, stream);
    return err;
}

static CUresult launch_step(GpumeCudaMotion *m, GpumeCudaStep *step, CUstream stream)
{
    GpumeCudaStepArgs *a = &step->args;
    const int nb_phases = 1 + GPUME_NB_PHASES * a->nb_passes;
    CUresult err = reserve(m, nb_phases, 1, stream);

    if (err != CUDA_SUCCESS)
        return err;
    a->first  = m->number;
    a->ticket = take_counter(m);
    m->number += nb_phases;
    return launch(m, &step->launch, init_tickets(a, m->at_once), 1, a, stream);
}

CUresult ff_gpume_cuda_motion_planes(GpumeCudaMotion *m, const GpumeCudaPlane *luma,
                                     CUdeviceptr planes, CUstream stream)
{
    const GpumeCudaPlanes *p = &m->planes;
    GpumeCudaHalvesArgs halves = {
        .plane = { planes, p->linesize[0] },
        .parts = { planes + p->parts, p->parts_linesize },
        .width = m->params.width, .height = m->params.height, .depth = m->params.depth,
    };
    CUresult err = CUDA_SUCCESS;

    /* a launch makes several levels; the next launch continues from the last of them */
    for (int first = 0; first < p->nb_levels && err == CUDA_SUCCESS;) {
        const int src = FFMAX(first - 1, 0);
        GpumeCudaPyramidArgs a = {
            .src    = first ? (GpumeCudaPlane) { planes + p->offset[src], p->linesize[src] } : *luma,
            .width  = gpume_level_side(m->params.width,  src),
            .height = gpume_level_side(m->params.height, src),
            .shift  = first ? 0 : m->params.shift,
            .copy   = !first,
        };

        a.nb_levels = FFMIN(p->nb_levels - first, GPUME_CUDA_PYRAMID_LEVELS - !a.copy);
        for (int i = 0; i < a.nb_levels; i++)
            a.dst[i] = (GpumeCudaPlane) { planes + p->offset[first + i], p->linesize[first + i] };
        err = launch(m, &m->pyramid, gpume_blocks(a.width, GPUME_CUDA_PYRAMID_TILE),
                     gpume_blocks(a.height, GPUME_CUDA_PYRAMID_TILE), &a, stream);
        first += a.nb_levels;
    }
    if (m->halves.function && err == CUDA_SUCCESS)
        err = launch(m, &m->halves, gpume_blocks(m->params.width, 32 * GPUME_CUDA_HALVES_COLUMNS),
                     gpume_blocks(m->params.height, GPUME_CUDA_HALVES_THREADS / 32 * GPUME_CUDA_HALVES_ROWS),
                     &halves, stream);
    return err;
}

static CUresult launch_intra(GpumeCudaMotion *m, const GpumeCudaSearchField *fields, int nb_fields,
                             CUdeviceptr sums, CUstream stream)
{
    GpumeCudaIntraArgs a = { .params = m->params, .sums = sums };

    for (int i = 0; i < nb_fields; i++)
        a.cur[i] = fields[i].cur;
    return launch(m, &m->intra, gpume_blocks(m->params.bw * m->params.bh,
                                             GPUME_CUDA_INTRA_THREADS / 32 * GPUME_CUDA_INTRA_BLOCKS),
                  nb_fields, &a, stream);
}

/* Checks and exports the fields of a size that its last step has stored. */
static CUresult finish_size(GpumeCudaMotion *m, int size, const GpumeCudaSearchField *fields, int nb_wanted,
                            const GpumeCudaStored (*to)[GPUME_CUDA_FIELDS], CUstream stream)
{
    const GpumeCudaStepArgs *a = &m->steps[m->last_step[size]].args;
    const int nb_blocks = a->params.bw * a->params.bh;
    CUresult err = CUDA_SUCCESS;

    if (m->judge.function) {
        /* check needs both directions */
        av_assert0(a->nb_fields == 2);
        m->check.params    = a->params;
        m->check.vectors   = a->vectors;
        m->check.nb_fields = a->nb_fields;
        err = launch(m, &m->judge, gpume_blocks(nb_blocks, GPUME_CUDA_JUDGE_THREADS), nb_wanted, &m->check, stream);
        if (err == CUDA_SUCCESS)
            err = launch(m, &m->replace, nb_wanted, 1, &m->check, stream);
    }
    if (err != CUDA_SUCCESS)
        return err;

    for (int i = 0; i < nb_wanted; i++) {
        m->results.pairs[i]  = pair_of(&fields[i], 0, 0);
        m->results.source[i] = m->params.distance[fields[i].reference];
        m->results.mvs[i]    = to[size][i].mvs;
        m->results.costs[i]  = to[size][i].costs;
    }
    m->results.params     = a->params;
    m->results.vectors    = a->vectors;
    m->results.from_costs = a->costs;
    return launch(m, &m->export, gpume_blocks(nb_blocks, GPUME_CUDA_EXPORT_THREADS /
                                                         GPUME_CUDA_EXPORT_LANES(a->params.block)),
                  nb_wanted, &m->results, stream);
}

CUresult ff_gpume_cuda_motion_launch(GpumeCudaMotion *m, const GpumeCudaSearchField *fields, int nb_fields,
                                     const GpumeCudaStored (*to)[GPUME_CUDA_FIELDS], CUdeviceptr intra,
                                     CUstream stream)
{
    CUresult err = CUDA_SUCCESS;
    int nb_wanted = 0, size = 0;

    while (nb_wanted < nb_fields && fields[nb_wanted].is_stored)
        nb_wanted++;
    if (m->intra.function)
        err = launch_intra(m, fields, nb_wanted, intra, stream);
    if (!m->nb_steps)
        return err;

    for (int i = 0; i < m->nb_steps && err == CUDA_SUCCESS; i++) {
        GpumeCudaStep *step = &m->steps[i];
        GpumeCudaStepArgs *a = &step->args;
        const size_t cur = m->planes.offset[step->level];

        a->nb_fields = nb_fields;
        for (int j = 0; j < nb_fields; j++)
            a->pairs[j] = pair_of(&fields[j], cur, a->params.pel > 1 ? m->planes.parts : cur);
        err = a->begin == GPUME_BEGIN_GLOBAL ? launch_global(m, step, fields, stream) : launch_step(m, step, stream);
        /* the next size begins with the vectors of this size, so check changes them only afterwards */
        if (i > m->last_step[size] && err == CUDA_SUCCESS)
            err = finish_size(m, size++, fields, nb_wanted, to, stream);
    }
    return err == CUDA_SUCCESS ? finish_size(m, size, fields, nb_wanted, to, stream) : err;
}

av_cold void ff_gpume_cuda_motion_uninit(GpumeCudaMotion *m)
{
    GpumeCudaLaunch *const launches[] = {
        &m->pyramid, &m->halves, &m->global, &m->judge, &m->replace, &m->export, &m->intra
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(launches); i++)
        ff_gpume_cuda_unload(m->cuda, launches[i]);
    for (int i = 0; i < m->nb_steps; i++)
        ff_gpume_cuda_unload(m->cuda, &m->steps[i].launch);
    ff_gpume_cuda_free(&m->work);
}
