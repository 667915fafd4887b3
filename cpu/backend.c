/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * The CPU backend: a job is a few rows of blocks, a row being one in one
 * direction; or a single one, where a row needs to know what the row above has
 * found. A search is over when submit() returns.
 */

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/cpu/cost.h"
#include "libavfilter/gpume/cpu/eliminate.h"
#include "libavfilter/gpume/cpu/predict.h"
#include "libavfilter/gpume/cpu/search.h"
#include "libavfilter/gpume/gpume.h"

/**
 * Rows of blocks one below the other search much of the same reference, so a
 * job has several: this many on average, or fewer where there would be too few
 * jobs. The first have the most, so that all threads end at about the same time.
 */
#define ROWS_PER_JOB 6
#define MIN_JOBS    24

typedef struct CPUContext {
    GpumeParams params;
    GpumeCostContext cost;
    GpumeWalks walks;
    void (*execute)(void *opaque, GpumeJob job, void *arg, int nb_jobs);
    void *opaque;

    int import_copies;              ///< samples are not native words as they lie
    ptrdiff_t copy_linesize;
    int eliminates;                 ///< a full search leaves candidates out
    GpumeEliminate eliminate;
    size_t sums_offset;             ///< of the sums in a picture's copy, bytes
    int nb_sum_jobs;
    int predicts;                   ///< searches begin with what was found already
    GpumePredict predict;
    uint8_t *scratch;               ///< for each job
    AVBufferPool *copies;           ///< luma in native words, then sums, where there are any
    AVBufferPool *mvs;
    AVBufferPool *costs;
} CPUContext;

static av_cold int init(void *priv, const GpumeConfig *cfg)
{
    CPUContext *s = priv;
    const GpumeParams *p = &s->params;
    size_t nb_vectors;
    int ret;

    s->params  = cfg->params;
    s->execute = cfg->execute;
    s->opaque  = cfg->opaque;

    ff_gpume_cost_init(&s->cost, p->depth);
    ff_gpume_cpu_walks_init(&s->walks);
    s->predicts = gpume_predicts(p->algo);
    if (s->predicts) {
        ret = ff_gpume_predict_init(&s->predict, p);
        if (ret < 0)
            return ret;
    }

    nb_vectors = (size_t)p->bw * p->bh * GPUME_NB_DIRECTIONS;
    s->mvs     = av_buffer_pool_init(nb_vectors * sizeof(AVMotionVector), NULL);
    s->costs   = av_buffer_pool_init(nb_vectors * sizeof(uint32_t), NULL);
    if (!s->mvs || !s->costs)
        return AVERROR(ENOMEM);

    s->import_copies = p->depth > 8 &&
                       (p->shift || p->big_endian != HAVE_BIGENDIAN);
    s->eliminates    = p->algo == GPUME_ALGO_FS && p->exhaustive <= 0;
    if (s->import_copies) {
        s->copy_linesize = FFALIGN(p->width * 2, 64);
        s->sums_offset   = s->copy_linesize * p->height;
    }
    if (s->eliminates) {
        ff_gpume_eliminate_init(&s->eliminate, p);
        /* a job begins with the sums of a block's rows: it should have more than those */
        s->nb_sum_jobs = av_clip(p->height / (4 * p->block), 1, 32);
        s->scratch     = av_malloc(s->nb_sum_jobs * s->eliminate.scratch_size);
        if (!s->scratch)
            return AVERROR(ENOMEM);
    }
    if (s->import_copies || s->eliminates) {
        /* what is read beyond the sums of a row has to be something */
        s->copies = av_buffer_pool_init(s->sums_offset + s->eliminate.size,
                                        av_buffer_allocz);
        if (!s->copies)
            return AVERROR(ENOMEM);
    }
    return 0;
}

typedef struct ImportArg {
    const CPUContext *s;
    const GpumePicture *pic;
} ImportArg;

static void import_rows(void *opaque, int job, int nb_jobs)
{
    const ImportArg *arg = opaque;
    const CPUContext *s = arg->s;
    const AVFrame *frame = arg->pic->frame;
    const int start = s->params.height *  job      / nb_jobs;
    const int end   = s->params.height * (job + 1) / nb_jobs;

    for (int y = start; y < end; y++)
        ff_gpume_copy_row(arg->pic->copy->data + y * s->copy_linesize,
                          frame->data[0] + y * (ptrdiff_t)frame->linesize[0],
                          &s->params);
}

static void sum_rows(void *opaque, int job, int nb_jobs)
{
    const ImportArg *arg = opaque;
    const CPUContext *s = arg->s;
    const int height = s->params.height;

    ff_gpume_eliminate_sum(&s->eliminate, arg->pic->copy->data + s->sums_offset,
                           arg->pic->luma, arg->pic->linesize,
                           height * job / nb_jobs, height * (job + 1) / nb_jobs,
                           s->scratch + job * s->eliminate.scratch_size);
}

static int import(void *priv, GpumePicture *pic)
{
    CPUContext *s = priv;
    ImportArg arg = { s, pic };

    pic->luma     = pic->frame->data[0];
    pic->linesize = pic->frame->linesize[0];
    if (!s->copies)
        return 0;

    pic->copy = av_buffer_pool_get(s->copies);
    if (!pic->copy)
        return AVERROR(ENOMEM);
    if (s->import_copies) {
        pic->luma     = pic->copy->data;
        pic->linesize = s->copy_linesize;
        s->execute(s->opaque, import_rows, &arg, FFMIN(s->params.height, 32));
    }
    if (s->eliminates)
        s->execute(s->opaque, sum_rows, &arg, s->nb_sum_jobs);
    return 0;
}

typedef struct SearchArg {
    CPUContext *s;
    const GpumeSearch *search;
    int directions[GPUME_NB_DIRECTIONS];    ///< those searched
    int nb_directions;                      ///< how many
} SearchArg;

/* Row by of the i-th direction. */
static void search_row(const SearchArg *arg, int i, int by)
{
    CPUContext *s = arg->s;
    const GpumeParams *p = &s->params;
    const int direction = arg->directions[i];
    const size_t row = (size_t)i * p->bh + by;
    const GpumePicture *cur = arg->search->cur;
    const GpumePicture *ref = arg->search->ref[direction];
    const int y0 = by * p->block;
    AVMotionVector *mvs = (AVMotionVector *)arg->search->mvs->data +
                          row * p->bw;
    uint32_t *costs = (uint32_t *)arg->search->costs->data + row * p->bw;
    GpumeNeighbours neighbours;
    GpumeBlock b = {
        .cost_ctx     = &s->cost,
        .walks        = &s->walks,
        .range        = p->range,
        .neighbours   = s->predicts ? &neighbours : NULL,
        .exhaustive   = p->exhaustive > 0,
        .eliminate    = s->eliminates ? &s->eliminate : NULL,
        .cur_linesize = cur->linesize,
        .ref_linesize = ref->linesize,
        .sample_size  = p->depth > 8 ? 2 : 1,
        .h            = FFMIN(p->block, p->height - y0),
    };

    b.min_dy = -FFMIN(p->range, y0);
    b.max_dy =  FFMIN(p->range, p->height - y0 - b.h);

    for (int bx = 0; bx < p->bw; bx++) {
        const int x0 = bx * p->block;

        b.cur    = cur->luma + y0 * cur->linesize + x0 * b.sample_size;
        b.ref    = ref->luma + y0 * ref->linesize + x0 * b.sample_size;
        b.w      = FFMIN(p->block, p->width - x0);
        b.min_dx = -FFMIN(p->range, x0);
        b.max_dx =  FFMIN(p->range, p->width - x0 - b.w);
        if (s->eliminates) {
            const ptrdiff_t offset = s->sums_offset + y0 * s->eliminate.linesize +
                                     x0 * sizeof(uint16_t);

            b.cur_sums = cur->copy->data + offset;
            b.ref_sums = ref->copy->data + offset;
            /* blocks side by side often move alike */
            b.start_dx = b.dx;
            b.start_dy = b.dy;
        }
        if (s->predicts)
            ff_gpume_predict_neighbours(&s->predict, &neighbours, direction, bx, by);
        ff_gpume_cpu_search(&b, p->algo);
        if (s->predicts)
            ff_gpume_predict_found(&s->predict, direction, bx, by, b.dx, b.dy);

        ff_gpume_set_vector(&mvs[bx], p, bx, by, direction, b.dx, b.dy);
        costs[bx] = b.cost;
    }
}

/* The rows before a job: a job has more of them than the next. */
static int first_row(int nb_rows, int job, int nb_jobs)
{
    const int64_t left = nb_jobs - job;

    return nb_rows - nb_rows * left * left / ((int64_t)nb_jobs * nb_jobs);
}

static void search_rows(void *opaque, int job, int nb_jobs)
{
    const SearchArg *arg = opaque;
    const int nb_rows = arg->s->params.bh * arg->nb_directions;
    const int end = first_row(nb_rows, job + 1, nb_jobs);

    for (int row = first_row(nb_rows, job, nb_jobs); row < end; row++)
        search_row(arg, row / arg->s->params.bh, row % arg->s->params.bh);
}

/* Directions in turn: they do not wait for each other. */
static void search_next_row(void *opaque, int job, int nb_jobs)
{
    const SearchArg *arg = opaque;
    const int row = ff_gpume_predict_take_row(&arg->s->predict);

    search_row(arg, row % arg->nb_directions, row / arg->nb_directions);
}

static int submit(void *priv, GpumeSearch *search)
{
    CPUContext *s = priv;
    SearchArg arg = { .s = s, .search = search };
    int nb_rows, ret;

    for (int i = 0; i < GPUME_NB_DIRECTIONS; i++)
        if (search->ref[i])
            arg.directions[arg.nb_directions++] = i;

    ret = ff_gpume_search_alloc(search, &s->params, s->mvs, s->costs);
    if (ret < 0)
        return ret;
    nb_rows = s->params.bh * arg.nb_directions;
    if (s->predicts) {
        ff_gpume_predict_begin(&s->predict, arg.directions, arg.nb_directions);
        s->execute(s->opaque, search_next_row, &arg, nb_rows);
        return 0;
    }
    s->execute(s->opaque, search_rows, &arg,
               FFMAX(FFMIN(nb_rows, MIN_JOBS), nb_rows / ROWS_PER_JOB));
    return 0;
}

static int wait(void *priv, GpumeSearch *search)
{
    return 0;
}

static av_cold void uninit(void *priv)
{
    CPUContext *s = priv;

    av_buffer_pool_uninit(&s->mvs);
    av_buffer_pool_uninit(&s->costs);
    av_buffer_pool_uninit(&s->copies);
    av_freep(&s->scratch);
    ff_gpume_predict_uninit(&s->predict);
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
