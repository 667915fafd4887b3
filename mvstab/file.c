/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/file.h"
#include "libavutil/intfloat.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvstab/file.h"
#include "libavfilter/gpume/output/format.h"
#include "libavfilter/gpume/output/system.h"

#define VALUES MVSTAB_FILE_VALUES
/** Largest difference between the times of a frame and of its row, in seconds. */
#define TOLERANCE 0.001

static int write_header(MvstabFile *f)
{
    char header[GPUME_NPY_HEADER_SIZE];

    snprintf(header + GPUME_NPY_START, sizeof(header) - GPUME_NPY_START,
             "{'descr': '<f8', 'fortran_order': False, 'shape': (%"PRId64", %d), }", f->nb, VALUES);
    ff_gpume_npy_frame(header, sizeof(header));
    return ff_gpume_file_write(&f->file, header, sizeof(header));
}

av_cold int ff_mvstab_file_create(MvstabFile *f, const char *path, int overwrite, void *log_ctx)
{
    int ret;

    if (ff_gpume_is_pipe(path))
        return ff_gpume_npy_refuse(path, log_ctx);
    ret = ff_gpume_file_open(&f->file, path, overwrite, log_ctx);
    if (ret >= 0 && !ff_gpume_file_can_rewind(&f->file)) {
        f->file.failed = 1;
        ret = ff_gpume_npy_refuse(path, log_ctx);
    }
    return ret < 0 ? ret : write_header(f);
}

int ff_mvstab_file_write(MvstabFile *f, const MvstabStep *step, double seconds)
{
    uint8_t row[8 * VALUES];
    int ret;

    for (int i = 0; i < 8; i++)
        AV_WL64(row + 8 * i, av_double2int(step->motion.m[i]));
    AV_WL64(row + 8 * 8, av_double2int(step->inliers));
    AV_WL64(row + 8 * 9, av_double2int(step->begins));
    AV_WL64(row + 8 * 10, av_double2int(isnan(seconds) ? 0 : seconds));
    ret = ff_gpume_file_write(&f->file, row, sizeof(row));
    f->nb++;
    return ret < 0 ? ret : ff_gpume_file_flush(&f->file);
}

av_cold int ff_mvstab_file_close(MvstabFile *f, int failed)
{
    int ret = 0, err;

    av_freep(&f->rows);
    if (!f->file.f)
        return 0;
    f->file.failed |= failed;
    if (!f->file.failed && ff_gpume_system_seek(f->file.f, 0, SEEK_SET))
        ret = ff_gpume_file_error(&f->file, "seek in");
    if (!f->file.failed)
        ret = write_header(f);
    err = ff_gpume_file_close(&f->file);
    ret = ret < 0 ? ret : err;
    if (!f->file.failed)
        ret = ff_gpume_file_complete(&f->file, 1);
    ff_gpume_file_uninit(&f->file);
    memset(f, 0, sizeof(*f));
    return ret;
}

/* Finds the rows in the bytes of a file. Returns their offset, or AVERROR_INVALIDDATA. */
static int find_rows(const uint8_t *data, size_t size, int64_t *nb)
{
    char header[256] = "";
    int length = size < 10 ? 0 : AV_RL16(data + 8), end = 0;
    const char *shape;

    if (!length || memcmp(data, "\x93NUMPY\x01", 7) || size < 10 + length)
        return AVERROR_INVALIDDATA;
    memcpy(header, data + 10, FFMIN(length, sizeof(header) - 1));
    shape = strstr(header, "'shape': (");
    if (!shape || !strstr(header, "'<f8'") || !strstr(header, "False") ||
        sscanf(shape, "'shape': (%"SCNd64", 11)%n", nb, &end) != 1 || !end ||
        *nb < 0 || *nb > (size - 10 - length) / (8 * VALUES))
        return AVERROR_INVALIDDATA;
    return 10 + length;
}

/* Returns whether the transform of a row can be that of a camera from frame to frame. */
static int is_motion(const double *m)
{
    const double area = m[0] * m[4] - m[1] * m[3];

    for (int i = 0; i < VALUES; i++)
        if (!isfinite(m[i]))
            return 0;
    return area > 1 / 16. && area < 16 && fabs(m[2]) <= 65536 && fabs(m[5]) <= 65536;
}

/* Reads all rows of a file. */
static av_cold int read_rows(MvstabFile *f, const char *path, void *log_ctx)
{
    GpumeFileIdentity id;
    uint8_t *data;
    size_t size;
    int ret;

    if (!ff_gpume_system_identify(path, &id) && id.kind == GPUME_FILE_FOLDER) {
        av_log(log_ctx, AV_LOG_ERROR, "%s is a folder; 'file' must be a file that mvstab has written.\n", path);
        return AVERROR(EISDIR);
    }
    ret = av_file_map(path, &data, &size, 0, log_ctx);
    if (ret < 0)
        return ret;
    av_freep(&f->rows);
    f->next  = 0;
    f->taken = -1;
    ret = find_rows(data, size, &f->nb);
    if (ret < 0) {
        av_log(log_ctx, AV_LOG_ERROR, "%s is not an array of float64 with %d columns, as mvstab=file=%s writes it, or "
               "its end is missing.\n", path, VALUES, path);
    } else {
        f->rows = av_malloc_array(f->nb + 1, sizeof(*f->rows));
        for (int64_t i = 0; i < f->nb * VALUES && f->rows; i++)
            f->rows[i / VALUES][i % VALUES] = av_int2double(AV_RL64(data + ret + 8 * i));
        ret = f->rows ? 0 : AVERROR(ENOMEM);
    }
    av_file_unmap(data, size);
    for (int64_t i = 0; i < f->nb && ret >= 0; i++)
        if (!is_motion(f->rows[i])) {
            av_log(log_ctx, AV_LOG_ERROR, "Row %"PRId64" of %s is no motion of a camera: its values must be finite, "
                   "shifts at most 65536 samples, and areas between 1/16 and 16 times as large.\n", i, path);
            ret = AVERROR_INVALIDDATA;
        }
    if (ret < 0)
        f->nb = 0;
    return ret;
}

av_cold int ff_mvstab_file_read(MvstabFile *f, const char *path, void *log_ctx)
{
    f->path   = path;
    f->number = 1;
    return read_rows(f, path, log_ctx);
}

int ff_mvstab_file_find(MvstabFile *f, double seconds, void *log_ctx)
{
    const int length = strlen(f->path) - 4;

    while (f->error >= 0) {
        GpumeFileIdentity id;
        int exists;
        char *name;

        while (f->next < f->nb && f->rows[f->next][10] < seconds - TOLERANCE)
            f->next++;
        while (f->next + 1 < f->nb && fabs(f->rows[f->next + 1][10] - seconds) < fabs(f->rows[f->next][10] - seconds))
            f->next++;
        if (f->next < f->nb)
            return !(f->rows[f->next][10] > seconds + TOLERANCE);
        name = av_asprintf("%.*s-%d%s", length, f->path, f->number + 1, f->path + length);
        if (!name)
            return AVERROR(ENOMEM);
        exists = !ff_gpume_system_identify(name, &id);
        if (exists)
            f->error = read_rows(f, name, log_ctx);
        f->number += exists;
        av_free(name);
        if (!exists)
            return 0;
    }
    return f->error;
}

MvstabStep ff_mvstab_file_take(MvstabFile *f)
{
    const int64_t first = f->taken < 0 ? f->next : f->taken + 1;
    MvstabStep step = { .motion = ff_mvstab_identity, .inliers = INFINITY };

    /* the motions of frames that are not in the stream are part of the motion of the frame behind them */
    for (int64_t i = first; i <= f->next; i++) {
        const double *row = f->rows[i];
        MvstabMatrix motion;

        memcpy(motion.m, row, sizeof(motion.m));
        step.motion  = ff_mvstab_product(&step.motion, &motion);
        step.inliers = FFMIN(step.inliers, row[8]);
        step.begins |= row[9] != 0;
    }
    f->taken = f->next++;
    return step;
}
