/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Writes the vectors that the frame's decoder exports, not those of the search, as a stream of .npy records: one for
 * each direction that has vectors, at distance -1 or 1; without any, an empty one at distance -1.
 */

#include <stdio.h>

#include "libavutil/attributes.h"
#include "libavutil/avutil.h"
#include "libavutil/error.h"
#include "libavutil/intfloat.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/output/format.h"
#include "libavfilter/gpume/output/output.h"

/** Size of a header: a multiple of 64 that is sufficient for every record. */
#define HEADER_SIZE 512
/** Size of a record before its arrays, and size of all arrays for each vector. */
#define FIXED_SIZE  (GPUME_NPYS_SIZE + 1)
#define VECTOR_SIZE 20
/** Smallest side of a block if no vector says more. */
#define USUAL_SIDE  16

typedef struct DecoderContext {
    AVRational time_base;
    uint8_t *record;
    unsigned allocated;
} DecoderContext;

static int wanted(const GpumeOutputConfig *cfg, const char **path)
{
    *path = cfg->mv_file;
    return ff_gpume_mv_format(cfg) == GPUME_MV_CODEC;
}

static av_cold int begin(void *priv, GpumeFile *file, const GpumeOutputConfig *cfg, const GpumeParams *params)
{
    DecoderContext *s = priv;

    s->time_base = cfg->time_base;
    return 0;
}

static void put_header(char header[HEADER_SIZE], int nb)
{
    snprintf(header + GPUME_NPY_START, HEADER_SIZE - GPUME_NPY_START,
             "{'descr': [" GPUME_NPYS_FIELDS "('frame_type', '|S1'), "
             "('mv', '<f4', (%d, 2)), ('x', '<i4', (%d,)), ('y', '<i4', (%d,)), "
             "('size', '<i2', (%d, 2))], 'fortran_order': False, 'shape': ()}", nb, nb, nb, nb);
    ff_gpume_npy_frame(header, HEADER_SIZE);
}

/* Writes vectors whose source has this sign. @return the side of the smallest block */
static int put_vectors(uint8_t *dst, int nb, const AVMotionVector *mvs, int nb_mvs, int sign, int *scale)
{
    uint8_t *x = dst + 8 * (size_t)nb, *y = x + 4 * (size_t)nb, *size = y + 4 * (size_t)nb;
    int side = USUAL_SIDE;

    for (int i = 0, n = 0; i < nb_mvs; i++) {
        const AVMotionVector *mv = &mvs[i];
        const float unit = 1.f / FFMAX(mv->motion_scale, 1);

        if ((mv->source > 0) != (sign > 0))
            continue;
        AV_WL32(dst + 8 * n,     av_float2int(mv->motion_x * unit));
        AV_WL32(dst + 8 * n + 4, av_float2int(mv->motion_y * unit));
        AV_WL32(x + 4 * n, mv->dst_x - mv->w / 2);
        AV_WL32(y + 4 * n, mv->dst_y - mv->h / 2);
        AV_WL16(size + 4 * n,     mv->w);
        AV_WL16(size + 4 * n + 2, mv->h);
        side   = FFMIN3(side, FFMAX(mv->w, 1), FFMAX(mv->h, 1));
        *scale = FFMAX(*scale, mv->motion_scale);
        n++;
    }
    return side;
}

static int write_direction(DecoderContext *s, GpumeFile *file, const GpumeResult *r, const AVMotionVector *mvs,
                           int nb_mvs, int nb, int sign)
{
    const size_t size = HEADER_SIZE + FIXED_SIZE + VECTOR_SIZE * (size_t)nb;
    const GpumeStamp stamp = { r->number, r->frame->pts, s->time_base };
    int numbers[] = { sign, 1, 0, r->params->width, r->params->height, nb };
    uint8_t *dst;

    av_fast_malloc(&s->record, &s->allocated, size);
    if (!s->record)
        return AVERROR(ENOMEM);
    put_header((char *)s->record, nb);
    dst = s->record + HEADER_SIZE;
    numbers[2] = put_vectors(dst + FIXED_SIZE, nb, mvs, nb_mvs, sign, &numbers[1]);
    ff_gpume_npys_begin(dst, &stamp, numbers);
    dst[GPUME_NPYS_SIZE] = av_get_picture_type_char(r->frame->pict_type);
    return ff_gpume_file_write(file, s->record, size);
}

static int write_vectors(void *priv, GpumeFile *file, GpumeResult *r, const GpumeStats *stats)
{
    const AVFrameSideData *data = av_frame_get_side_data(r->frame, AV_FRAME_DATA_MOTION_VECTORS);
    const AVMotionVector *mvs = data ? (const AVMotionVector *)data->data : NULL;
    const int nb_mvs = data ? data->size / sizeof(*mvs) : 0;
    int nb_future = 0, ret = 0;

    for (int i = 0; i < nb_mvs; i++)
        nb_future += mvs[i].source > 0;
    if (nb_mvs > nb_future || !nb_future)
        ret = write_direction(priv, file, r, mvs, nb_mvs, nb_mvs - nb_future, -1);
    if (nb_future && ret >= 0)
        ret = write_direction(priv, file, r, mvs, nb_mvs, nb_future, 1);
    return ret;
}

static av_cold void uninit(void *priv)
{
    DecoderContext *s = priv;

    av_freep(&s->record);
}

const GpumeOutput ff_gpume_output_decoder = {
    .priv_size = sizeof(DecoderContext),
    .wanted    = wanted,
    .open      = begin,
    .write     = write_vectors,
    .uninit    = uninit,
};
