/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/file.h"
#include "libavutil/intfloat.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/log.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvstab/file.h"
#include "libavfilter/gpume/output/format.h"
#include "libavfilter/gpume/output/system.h"

#define VALUES MVSTAB_FILE_VALUES
/** Largest difference between the times of a frame and of its row, in seconds. */
#define TOLERANCE 0.001

av_cold int ff_mvstab_file_create(MvstabFile *f, const char *path, int overwrite, void *log_ctx)
{
    int ret;

    f->file.in_one = 1;
    ret = ff_gpume_npy_open(&f->file, path, overwrite, log_ctx);
    if (ret >= 0 && f->file.goes_on)
        ret = ff_mvstab_file_read(f, path, log_ctx);
    return ret < 0 ? ret : ff_gpume_npy_begin(&f->file, "<f8", 0, AV_STRINGIFY(VALUES));
}

static int write_row(MvstabFile *f, const double *values)
{
    uint8_t row[8 * VALUES];

    for (int i = 0; i < VALUES; i++)
        AV_WL64(row + 8 * i, av_double2int(values[i]));
    return ff_gpume_file_write(&f->file, row, sizeof(row));
}

/* Writes the rows of an earlier filter graph, unless a frame is not later: then they are those of another video. */
static int write_rows_before(MvstabFile *f, double seconds)
{
    int ret = 0;

    if (f->nb && seconds <= f->rows[f->nb - 1][10]) {
        if (!f->file.overwrite) {
            errno = EEXIST;
            return ff_gpume_file_error(&f->file, "replace");
        }
        av_log(f->file.log_ctx, AV_LOG_WARNING, "The %"PRId64" rows in %s up to %g s, which an earlier filter graph "
               "wrote, are replaced, because the next frame is at %g s. If both are one video, let its times grow. "
               "To keep the rows, write to another file.\n", f->nb, f->file.path, f->rows[f->nb - 1][10], seconds);
        f->nb = 0;
    }
    for (int64_t i = 0; i < f->nb && ret >= 0; i++)
        ret = write_row(f, f->rows[i]);
    av_freep(&f->rows);
    return ret;
}

int ff_mvstab_file_write(MvstabFile *f, const MvstabStep *step, double seconds)
{
    double row[VALUES] = { [8] = step->inliers, step->begins, isnan(seconds) ? 0 : seconds };
    int ret = f->rows ? write_rows_before(f, seconds) : 0;

    memcpy(row, step->motion.m, sizeof(step->motion.m));
    if (ret >= 0)
        ret = write_row(f, row);
    f->nb++;
    return ret < 0 ? ret : ff_gpume_file_flush(&f->file);
}

av_cold int ff_mvstab_file_close(MvstabFile *f, int failed)
{
    int ret = 0, err;

    f->file.failed |= failed;
    if (f->rows && f->file.f && !f->file.failed)
        ret = write_rows_before(f, NAN);
    err = ff_gpume_npy_end(&f->file, "<f8", f->nb, AV_STRINGIFY(VALUES));
    ret = ret < 0 ? ret : err;
    av_freep(&f->rows);
    memset(f, 0, sizeof(*f));
    return ret;
}

/* Finds the rows in the bytes of a file. Returns their offset, or AVERROR_INVALIDDATA with a message. */
static int find_rows(const uint8_t *data, size_t size, int64_t *nb, const char *path, void *log_ctx)
{
    char header[256] = "";
    int length = size < 10 ? 0 : AV_RL16(data + 8), values = 0, end = 0;
    const char *shape;

    if (length && !memcmp(data, "\x93NUMPY\x01", 7) && size >= 10 + length) {
        memcpy(header, data + 10, FFMIN(length, sizeof(header) - 1));
        shape = strstr(header, "'shape': (");
        if (shape && strstr(header, "'<f8'") && strstr(header, "False") &&
            sscanf(shape, "'shape': (%"SCNd64", %d)%n", nb, &values, &end) == 2 && end && values == VALUES &&
            *nb >= 0 && *nb <= (size - 10 - length) / (8 * VALUES))
            return 10 + length;
    }
    av_log(log_ctx, AV_LOG_ERROR, "%s is not an array of float64 with %d columns, as mvstab=file=%s writes it, or its "
           "end is missing. Write it anew, without 'read'.\n", path, VALUES, path);
    return AVERROR_INVALIDDATA;
}

/* Returns whether a row can be that of a camera. The parameters are those of ff_mvstab_file_check(). */
static int check_row(const MvstabFile *f, int64_t number, int w, int h, int messages)
{
    const double *m = f->rows[number];
    const struct { const char *name; double value, least, most; } limits[] = {
        { "entry 0", m[0], -16, 16 }, { "entry 1", m[1], -16, 16 }, { "entry 2, a shift,", m[2], -65536, 65536 },
        { "entry 3", m[3], -16, 16 }, { "entry 4", m[4], -16, 16 }, { "entry 5, a shift,", m[5], -65536, 65536 },
        { "entry 6", m[6], -16, 16 }, { "entry 7", m[7], -16, 16 },
        { "the growth of areas", m[0] * m[4] - m[1] * m[3], 1 / 16., 16 },
        { "the perspective (entries 6 and 7) at a corner", fabs(m[6]) * w / 2 + fabs(m[7]) * h / 2, 0, 15 / 16. },
        { "inliers", m[8], 0, 1 }, { "begins", m[9], 0, 1 }, { "the time", m[10], -1e12, 1e12 },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(limits); i++)
        if (!(limits[i].value >= limits[i].least && limits[i].value <= limits[i].most)) {
            if (messages)
                av_log(f->file.log_ctx, AV_LOG_ERROR, "Frame %"PRId64" of %s does not move as by a camera: %s is %g; "
                       "it must be %g to %g. Correct row %"PRId64", or write the file anew, without 'read'.\n", number,
                       f->file.path, limits[i].name, limits[i].value, limits[i].least, limits[i].most, number);
            return 0;
        }
    return 1;
}

av_cold int ff_mvstab_file_read(MvstabFile *f, const char *path, void *log_ctx)
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
    f->file.path    = path;
    f->file.log_ctx = log_ctx;
    f->taken        = -1;
    ret = find_rows(data, size, &f->nb, path, log_ctx);
    if (ret >= 0) {
        f->rows = av_malloc_array(f->nb + 1, sizeof(*f->rows));
        for (int64_t i = 0; i < f->nb * VALUES && f->rows; i++)
            f->rows[i / VALUES][i % VALUES] = av_int2double(AV_RL64(data + ret + 8 * i));
        ret = f->rows ? 0 : AVERROR(ENOMEM);
    }
    av_file_unmap(data, size);
    for (int64_t i = 0; ret >= 0 && i < f->nb; i++)
        if (!check_row(f, i, 0, 0, 1))      // the size of its frame is unknown
            ret = AVERROR_INVALIDDATA;
    return ret;
}

int ff_mvstab_file_find(MvstabFile *f, double seconds)
{
    while (f->next < f->nb && f->rows[f->next][10] < seconds - TOLERANCE)
        f->next++;
    while (f->next + 1 < f->nb && fabs(f->rows[f->next + 1][10] - seconds) < fabs(f->rows[f->next][10] - seconds))
        f->next++;
    return f->next < f->nb && !(f->rows[f->next][10] > seconds + TOLERANCE);
}

/* Returns the first row that is part of the motion of the row that was found. */
static int64_t first_row(const MvstabFile *f)
{
    return f->taken < 0 ? f->next : f->taken + 1;
}

int ff_mvstab_file_check(const MvstabFile *f, int w, int h, int messages)
{
    int64_t i = first_row(f);

    while (i <= f->next && check_row(f, i, w, h, messages))
        i++;
    return i > f->next;
}

MvstabStep ff_mvstab_file_take(MvstabFile *f)
{
    MvstabStep step = { .motion = ff_mvstab_identity, .inliers = INFINITY };

    /* the motions of frames that are not in the stream are part of the motion of the frame behind them */
    for (int64_t i = first_row(f); i <= f->next; i++) {
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
