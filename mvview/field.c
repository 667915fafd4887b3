/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvview/field.h"

static uint64_t squared_length(const MvviewVector *v)
{
    return (int64_t)v->dx * v->dx + (int64_t)v->dy * v->dy;
}

uint32_t ff_mvview_length(const MvviewVector *v)
{
    return mvview_sqrt(squared_length(v));
}

/** Minimum number of vectors that a thread reads; for fewer, waking a thread takes longer than reading them. */
#define PART_VECTORS 4096
#define MAX_PARTS    16

/** Properties of a part of the vectors. */
typedef struct Part {
    int begin, nb, nb_future, side;
    uint64_t longest;
} Part;

typedef struct ReadArg {
    MvviewField *f;
    const AVFrameSideData *sd;
    int nb;
    int distance[2];            ///< the distances that are wanted, past and future
    Part parts[MAX_PARTS];
} ReadArg;

static void read_part(void *opaque, int job, int nb_jobs)
{
    ReadArg *arg = opaque;
    const MvviewField *f = arg->f;
    const int end = arg->nb * (job + INT64_C(1)) / nb_jobs;
    Part p = { .begin = arg->nb * (int64_t)job / nb_jobs };

    for (int i = p.begin; i < end; i++) {
        MvviewVector *v = &f->vectors[p.begin + p.nb];

        if (!gpume_read_vector(v, arg->sd, i, f->cells.w, f->cells.h) ||
            v->distance != arg->distance[v->distance > 0])
            continue;
        p.longest    = FFMAX(p.longest, squared_length(v));
        p.side       = FFMAX3(p.side, v->w, v->h);
        p.nb_future += v->distance > 0;
        p.nb++;
    }
    arg->parts[job] = p;
}

void ff_mvview_execute(const MvviewConfig *cfg, int nb, GpumeJob job, void *arg)
{
    const int nb_jobs = av_clip(nb / PART_VECTORS, 1, FFMIN(cfg->executor.nb_threads, MAX_PARTS));

    if (nb_jobs > 1)
        gpume_execute(&cfg->executor, job, arg, nb_jobs);
    else
        job(arg, 0, 1);
}

/* Replaces the past or the future distance by the one that was found, if that is nearer. */
static void update_nearest(int distance[2], int found)
{
    int *nearest = &distance[found > 0];

    if (!*nearest || FFABS(found) < FFABS(*nearest))
        *nearest = found;
}

/* Finds the distances to draw, past and future; 0: none. */
static void find_distances(int distance[2], const MvviewConfig *cfg, const GpumeFieldSet *set,
                           const AVFrameSideData *sd)
{
    const size_t nb = set ? set->nb : gpume_nb_vectors(sd);

    distance[0] = -cfg->distance;
    distance[1] = cfg->distance;
    for (size_t i = 0; i < nb && !cfg->distance && (distance[0] != -1 || distance[1] != 1); i++)
        update_nearest(distance, set ? set->host[i].distance : gpume_read_distance(sd, i));
    if (!(cfg->sources & MVVIEW_PAST))
        distance[0] = 0;
    if (!(cfg->sources & MVVIEW_FUTURE))
        distance[1] = 0;
}

/* Takes over the fields of these distances, which stay on the device. */
static void take_fields(MvviewField *f, const GpumeFieldSet *set, const int distance[2])
{
    for (int i = 0; i < 2; i++) {
        const GpumeMotionField *field = gpume_field_at(set->device, set->nb, distance[i]);

        if (!field)
            continue;
        f->fields[f->nb_fields++] = *field;
        f->nb  += field->bw * field->bh;
        f->side = FFMIN(field->block, FFMAX(field->width, field->height));
    }
}

int ff_mvview_field_read(MvviewField *f, const AVFrame *frame, const MvviewConfig *cfg, const void *device_ctx)
{
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const GpumeFieldSet *ours = ff_gpume_frame_fields(frame);
    /* fields with blocks of several sizes are read from the side data, because only it describes their outlines */
    const GpumeFieldSet *set  = ours && !ours->sizes ? ours : NULL;
    const size_t nb  = gpume_nb_vectors(sd);
    uint64_t longest = 0;
    ReadArg arg = { .f = f, .nb = nb };

    f->cells = gpume_cells(frame->width, frame->height, MVVIEW_LOG2_CELL, 0);
    f->nb    = f->nb_future = f->nb_fields = f->side = f->longest = 0;
    if (!nb)
        return 0;
    find_distances(arg.distance, cfg, set, sd);
    if (device_ctx && set && set->on_device && set->device_ctx == device_ctx) {
        take_fields(f, set, arg.distance);
        return f->nb;
    }
    if (nb > INT_MAX / sizeof(*f->vectors))
        return AVERROR(ENOMEM);
    av_fast_malloc(&f->vectors, &f->allocated, nb * sizeof(*f->vectors));
    if (!f->vectors)
        return AVERROR(ENOMEM);

    arg.sd = sd;
    ff_mvview_execute(cfg, nb, read_part, &arg);
    for (int i = 0; i < MAX_PARTS; i++) {
        const Part *p = &arg.parts[i];

        if (f->nb != p->begin)
            memmove(f->vectors + f->nb, f->vectors + p->begin, p->nb * sizeof(*f->vectors));
        f->nb        += p->nb;
        f->nb_future += p->nb_future;
        f->side       = FFMAX(f->side, p->side);
        longest       = FFMAX(longest, p->longest);
    }
    f->longest = mvview_sqrt(longest);
    return f->nb;
}

int ff_mvview_field_map(MvviewField *f)
{
    const size_t size = (size_t)f->cells.cols * f->cells.rows * sizeof(*f->map);

    if (size > UINT_MAX - 64)
        return AVERROR(ENOMEM);
    av_fast_malloc(&f->map, &f->map_allocated, size);
    if (!f->map)
        return AVERROR(ENOMEM);
    memset(f->map, 0, size);

    for (int future = f->nb_future ? 1 : 0; future >= 0; future--) {
        for (int i = 0; i < f->nb; i++) {
            const GpumeCellBox b = gpume_cells_of_block(&f->cells, &f->vectors[i]);

            if ((f->vectors[i].distance > 0) != future)
                continue;
            for (int y = b.y0; y < b.y1; y++)
                for (int x = b.x0; x < b.x1; x++)
                    f->map[y * (size_t)f->cells.cols + x] = i + 1;
        }
    }
    return 0;
}

/** The vector that begins nearest to the middle of a square. */
typedef struct MvviewSquare {
    int vector;                 ///< 1 + its index; 0: none
    int distance;               ///< distance of its beginning from the middle, in half samples
} MvviewSquare;

int ff_mvview_field_choose(MvviewField *f, int side,
                           int (*add)(void *opaque, const MvviewVector *v), void *opaque)
{
    const uint64_t reciprocal = side ? ((UINT64_C(1) << 31) + side - 1) / side : 0;
    int nb = 0, nb_x = 0, ret;

    if (side) {
        nb_x = f->cells.w / side + 1;
        nb   = nb_x * (f->cells.h / side + 1);
        av_fast_malloc(&f->squares, &f->squares_allocated, nb * sizeof(*f->squares));
        if (!f->squares)
            return AVERROR(ENOMEM);
    }
    for (int future = 0; future < 2; future++) {
        if (!(future ? f->nb_future : f->nb - f->nb_future))
            continue;
        if (side)
            memset(f->squares, 0, nb * sizeof(*f->squares));
        for (int i = 0; i < f->nb; i++) {
            const MvviewVector *v = &f->vectors[i];

            if ((v->distance > 0) != future || v->x < 0 || v->y < 0 || v->x >= f->cells.w || v->y >= f->cells.h)
                continue;
            if (side) {
                /* the divisions are exact because coordinates have 15 bits */
                const int x = v->x * reciprocal >> 31, y = v->y * reciprocal >> 31;
                const int distance = FFABS(2 * (v->x - x * side) - side) +
                                     FFABS(2 * (v->y - y * side) - side);
                MvviewSquare *square = &f->squares[y * nb_x + x];

                if (!square->vector || distance < square->distance)
                    *square = (MvviewSquare) { i + 1, distance };
            } else if ((ret = add(opaque, v)) < 0) {
                return ret;
            }
        }
        for (int i = 0; side && i < nb; i++)
            if (f->squares[i].vector &&
                (ret = add(opaque, &f->vectors[f->squares[i].vector - 1])) < 0)
                return ret;
    }
    return 0;
}

void ff_mvview_field_free(MvviewField *f)
{
    av_freep(&f->vectors);
    av_freep(&f->map);
    av_freep(&f->squares);
}
