/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Writes vectors as a stream of .npy records, one for each field. A stream can be written to a
 * pipe, and the size of the picture may change. A record is a zero-dimensional structured array
 * with all data of the field.
 */

#include <math.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/intfloat.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/output/format.h"
#include "libavfilter/gpume/output/output.h"

/** Size of a header: a multiple of 64 that is sufficient for every record. */
#define HEADER_SIZE 512
/** Size of all arrays for each vector. */
#define VECTOR_SIZE 13
/** Additional size for each vector with trees. */
#define LEAF_SIZE   10

typedef struct NpysContext {
    AVRational time_base;
    uint8_t *record;
    unsigned allocated;
} NpysContext;

static int wanted(const GpumeOutputConfig *cfg, const char **path)
{
    *path = cfg->mv_file;
    return ff_gpume_mv_format(cfg) == GPUME_MV_NPYS;
}

static void put_header(char header[HEADER_SIZE], const GpumeParams *p, const GpumeField *field)
{
    char shape[24], leaves[160] = "";

    if (p->tree) {
        snprintf(shape, sizeof(shape), "%d,", field->nb);
        snprintf(leaves, sizeof(leaves), "('x', '<i4', (%s)), ('y', '<i4', (%s)), ('size', '<i2', (%s)), ",
                 shape, shape, shape);
    } else {
        snprintf(shape, sizeof(shape), "%d, %d", p->bh, p->bw);
    }
    snprintf(header + GPUME_NPY_START, HEADER_SIZE - GPUME_NPY_START,
             "{'descr': [" GPUME_NPYS_FIELDS "('mv', '<f4', (%s%s 2)), "
             "('cost', '<i4', (%s)), %s('consistent', '|b1', (%s))], "
             "'fortran_order': False, 'shape': ()}", shape, p->tree ? "" : ",", shape, leaves, shape);
    ff_gpume_npy_frame(header, HEADER_SIZE);
}

void ff_gpume_npys_begin(uint8_t dst[GPUME_NPYS_SIZE], const GpumeStamp *stamp, const int numbers[6])
{
    const int has_pts = stamp->pts != AV_NOPTS_VALUE;

    AV_WL64(dst,      stamp->number);
    AV_WL64(dst + 8,  stamp->pts);
    AV_WL64(dst + 16, av_double2int(has_pts ? stamp->pts * (double)stamp->time_base.num / stamp->time_base.den : NAN));
    for (int i = 0; i < 6; i++)
        AV_WL32(dst + 24 + 4 * i, numbers[i]);
}

static void put_vectors(uint8_t *dst, const GpumeParams *p, const GpumeField *field)
{
    const size_t nb = field->nb;
    const float unit = 1.f / p->pel;
    uint8_t *costs  = dst + 8 * nb, *leaves = costs + 4 * nb;
    uint8_t *consistent = leaves + (p->tree ? LEAF_SIZE * nb : 0);

    for (size_t i = 0; i < nb; i++) {
        const AVMotionVector *mv = &field->mvs[i];

        AV_WL32(dst + 8 * i,     av_float2int(mv->motion_x * unit));
        AV_WL32(dst + 8 * i + 4, av_float2int(mv->motion_y * unit));
        AV_WL32(costs + 4 * i, field->costs[i]);
        consistent[i] = !(mv->flags & GPUME_FLAG_INCONSISTENT);
        if (p->tree) {
            AV_WL32(leaves + 4 * i,        mv->dst_x - mv->w / 2);
            AV_WL32(leaves + 4 * (nb + i), mv->dst_y - mv->h / 2);
            AV_WL16(leaves + 8 * nb + 2 * i, p->block << field->sizes[i]);
        }
    }
}

static av_cold int begin(void *priv, GpumeFile *file, const GpumeOutputConfig *cfg, const GpumeParams *params)
{
    NpysContext *s = priv;

    s->time_base = cfg->time_base;
    return 0;
}

static int write_vectors(void *priv, GpumeFile *file, GpumeResult *r, const GpumeStats *stats)
{
    NpysContext *s = priv;
    const GpumeStamp stamp = { r->number, r->frame->pts, s->time_base };

    for (int i = 0; i < r->search.nb_fields; i++) {
        const GpumeField *field = &r->search.fields[i];
        const GpumeParams *p    = r->params;
        const int numbers[] = {
            p->distance[field->reference], p->pel, p->block, p->width, p->height, p->tree ? field->nb : 0,
        };
        const size_t size = HEADER_SIZE + GPUME_NPYS_SIZE +
                            (VECTOR_SIZE + (p->tree ? LEAF_SIZE : 0)) * (size_t)field->nb;
        int ret;

        av_fast_malloc(&s->record, &s->allocated, size);
        if (!s->record)
            return AVERROR(ENOMEM);
        put_header((char *)s->record, p, field);
        ff_gpume_npys_begin(s->record + HEADER_SIZE, &stamp, numbers);
        put_vectors(s->record + HEADER_SIZE + GPUME_NPYS_SIZE, p, field);
        ret = ff_gpume_file_write(file, s->record, size);
        if (ret < 0)
            return ret;
    }
    return 0;
}

static av_cold void uninit(void *priv)
{
    NpysContext *s = priv;

    av_freep(&s->record);
}

const GpumeOutput ff_gpume_output_npys = {
    .priv_size = sizeof(NpysContext),
    .wanted    = wanted,
    .open      = begin,
    .write     = write_vectors,
    .uninit    = uninit,
};
