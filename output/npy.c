/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/** @file Writes the vectors of all frames as one array for NumPy. */

#include <inttypes.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/output/format.h"
#include "libavfilter/gpume/output/output.h"
#include "libavfilter/gpume/output/system.h"

typedef struct NpyContext {
    GpumeParams params;     ///< parameters of the first pictures
    int64_t nb_frames;      ///< number of frames written
    int64_t start;          ///< offset of the array in the file
    uint8_t *field;         ///< buffer for the values of one field
    size_t field_size;
} NpyContext;

static int wanted(const GpumeOutputConfig *cfg, const char **path)
{
    *path = cfg->mv_file;
    return ff_gpume_mv_format(cfg) == GPUME_MV_NPY;
}

/* Writes magic, version and header length of NumPy's format 1.0 (NEP 1), and pads its Python literal. */
void ff_gpume_npy_frame(char *header, int size)
{
    const int len = strlen(header + GPUME_NPY_START);

    memcpy(header, "\x93NUMPY\x01", GPUME_NPY_START - 2);     /* and the minor version, 0 */
    AV_WL16(header + GPUME_NPY_START - 2, size - GPUME_NPY_START);
    memset(header + GPUME_NPY_START + len, ' ', size - GPUME_NPY_START - len);
    header[size - 1] = '\n';
}

void ff_gpume_npy_header(uint8_t header[GPUME_NPY_HEADER_SIZE], int64_t nb_frames,
                         const GpumeParams *params)
{
    snprintf((char *)header + GPUME_NPY_START, GPUME_NPY_HEADER_SIZE - GPUME_NPY_START,
             "{'descr': '<i4', 'fortran_order': False, "
             "'shape': (%"PRId64", %d, %d, %d, %d), }",
             nb_frames, params->nb_references, params->bh, params->bw, gpume_npy_values(params));
    ff_gpume_npy_frame((char *)header, GPUME_NPY_HEADER_SIZE);
}

static void put_vector(uint8_t *dst, const GpumeField *field, int i)
{
    AV_WL32(dst,     field->mvs[i].motion_x);
    AV_WL32(dst + 4, field->mvs[i].motion_y);
    AV_WL32(dst + 8, field->costs[i]);
}

/* Writes a leaf to all of the smallest blocks that it consists of. */
static void put_leaf(uint8_t *dst, const GpumeField *field, const GpumeParams *p, int i)
{
    const AVMotionVector *mv = &field->mvs[i];
    const int size = 4 * gpume_npy_values(p);
    const int bx = (mv->dst_x - mv->w / 2) / p->block, w = gpume_blocks(mv->w, p->block);
    const int by = (mv->dst_y - mv->h / 2) / p->block, h = gpume_blocks(mv->h, p->block);

    for (int y = by; y < by + h; y++)
        for (int x = bx; x < bx + w; x++) {
            uint8_t *at = dst + ((size_t)y * p->bw + x) * size;

            put_vector(at, field, i);
            AV_WL32(at + 12, p->block << field->sizes[i]);
        }
}

void ff_gpume_npy_field(uint8_t *dst, const GpumeField *field, const GpumeParams *params)
{
    const size_t nb_blocks = (size_t)params->bw * params->bh;
    const int size = 4 * gpume_npy_values(params);

    if (!field) {
        memset(dst, 0, gpume_npy_field_size(params));
        for (size_t i = 0; i < nb_blocks; i++)
            AV_WL32(dst + i * size + 8, -1);
        return;
    }
    for (int i = 0; i < field->nb; i++) {
        if (params->tree)
            put_leaf(dst, field, params, i);
        else
            put_vector(dst + (size_t)i * size, field, i);
    }
}

static int write_header(const NpyContext *s, GpumeFile *file)
{
    uint8_t header[GPUME_NPY_HEADER_SIZE];

    ff_gpume_npy_header(header, s->nb_frames, &s->params);
    return ff_gpume_file_write(file, header, sizeof(header));
}

int ff_gpume_npy_refuse(const char *path, const char *remedy, void *log_ctx)
{
    av_log(log_ctx, AV_LOG_ERROR, "A .npy file cannot be written to a pipe (%s), because it begins with the number of "
           "frames, which is known only at the end; use %s.\n",
           ff_gpume_is_stdout(path) ? "standard output" : path, remedy);
    return AVERROR(ESPIPE);
}

av_cold int ff_gpume_npy_open(GpumeFile *file, const char *path, int overwrite, void *log_ctx)
{
    /* a program may have to wait for the reader of a pipe */
    const int ret = ff_gpume_is_pipe(path) ? 0 : ff_gpume_file_open(file, path, overwrite, log_ctx);

    if (ret < 0 || file->f && ff_gpume_file_can_rewind(file))
        return ret;
    file->failed = 1;
    return ff_gpume_npy_refuse(path, "a regular file", log_ctx);
}

int ff_gpume_npy_begin(GpumeFile *file, const char *descr, int64_t nb, const char *item)
{
    char header[GPUME_NPY_HEADER_SIZE];

    snprintf(header + GPUME_NPY_START, sizeof(header) - GPUME_NPY_START,
             "{'descr': '%s', 'fortran_order': False, 'shape': (%"PRId64", %s), }", descr, nb, item);
    ff_gpume_npy_frame(header, sizeof(header));
    return ff_gpume_file_write(file, header, sizeof(header));
}

av_cold int ff_gpume_npy_end(GpumeFile *file, const char *descr, int64_t nb, const char *item)
{
    int ret = 0, err;

    if (file->f && !file->failed)
        ret = ff_gpume_system_seek(file->f, 0, SEEK_SET) ? ff_gpume_file_error(file, "seek in") :
                                                           ff_gpume_npy_begin(file, descr, nb, item);
    err = ff_gpume_file_close(file);
    ret = ret < 0 ? ret : err;
    if (!file->failed)
        ret = ff_gpume_file_complete(file, 1);
    ff_gpume_file_uninit(file);
    return ret;
}

static av_cold int begin(void *priv, GpumeFile *file, const GpumeOutputConfig *cfg, const GpumeParams *params)
{
    NpyContext *s = priv;

    s->params     = *params;
    s->field_size = gpume_npy_field_size(params);
    s->field      = av_malloc(s->field_size);
    if (!s->field)
        return AVERROR(ENOMEM);
    if (!ff_gpume_file_can_rewind(file)) {
        file->failed = 1;
        return ff_gpume_npy_refuse(file->path, GPUME_NPY_REMEDY, file->log_ctx);
    }
    s->start = ff_gpume_system_tell(file->f);
    return write_header(s, file);
}

static int write_vectors(void *priv, GpumeFile *file, GpumeResult *r, const GpumeStats *stats)
{
    NpyContext *s = priv;
    const GpumeParams *params = r->params;
    const GpumeField *field = r->search.fields;
    const GpumeField *end   = field + r->search.nb_fields;

    if (params->bw != s->params.bw || params->bh != s->params.bh) {
        av_log(file->log_ctx, AV_LOG_ERROR, "The picture now has %dx%d blocks instead "
               "of %dx%d, which a .npy file cannot store; use mv_format=npys or csv, and another name.\n",
               params->bw, params->bh, s->params.bw, s->params.bh);
        return AVERROR(EINVAL);
    }

    for (int i = 0; i < s->params.nb_references; i++) {
        /* fields are in the order of the references; a reference may have no field */
        const int found = field < end && field->reference == i;
        int ret;

        ff_gpume_npy_field(s->field, found ? field : NULL, params);
        field += found;
        ret = ff_gpume_file_write(file, s->field, s->field_size);
        if (ret < 0)
            return ret;
    }
    s->nb_frames++;
    return 0;
}

/* Rewrites the header, because the number of frames is known only now. */
static av_cold int complete(void *priv, GpumeFile *file)
{
    const NpyContext *s = priv;
    int ret;

    /* an open file may have had data before the array */
    if (ff_gpume_system_seek(file->f, s->start, SEEK_SET))
        return ff_gpume_file_error(file, "seek in");
    ret = write_header(s, file);
    /* later data of other writers of an open file must follow the array */
    if (ret >= 0 && ff_gpume_system_seek(file->f, 0, SEEK_END))
        ret = ff_gpume_file_error(file, "seek in");
    return ret;
}

static av_cold void uninit(void *priv)
{
    NpyContext *s = priv;

    av_freep(&s->field);
}

const GpumeOutput ff_gpume_output_npy = {
    .priv_size = sizeof(NpyContext),
    .wanted    = wanted,
    .open      = begin,
    .write     = write_vectors,
    .complete  = complete,
    .uninit    = uninit,
};
