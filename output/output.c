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

#include "config.h"

/* Where files can be told apart, linked and renamed over others. */
#ifndef GPUME_POSIX_FILES
#if HAVE_UNISTD_H && !defined(_WIN32)
#define GPUME_POSIX_FILES 1
#else
#define GPUME_POSIX_FILES 0
#endif
#endif

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#if GPUME_POSIX_FILES
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "libavutil/attributes.h"
#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/file_open.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/log.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/random_seed.h"
#include "libavutil/timestamp.h"

#include "libavfilter/gpume/gpume_output.h"

/** Of the .npy, a multiple of 64 with room for any number of frames. */
#define NPY_HEADER_SIZE 128
/** Values of the .npy's last axis: dx, dy, cost. */
#define NPY_VALUES 3

/** Longest name of a file in a folder, where the system does not say. */
#ifndef NAME_MAX
#define NAME_MAX 255
#endif
/** What a file has behind its name until it is whole; X is a hexadecimal digit. */
#define PART_SUFFIX ".XXXXXXXX.gpume-part"

typedef struct File {
    const char *path;       ///< as the user gave it
    char *target;           ///< what part is renamed to; NULL: path is written itself
    char *part;             ///< the file that is written until it is whole
    FILE *f;
    int overwrite;          ///< target may exist
    int failed;             ///< an error was reported; the first one is enough
    void *log_ctx;
} File;

struct GpumeOutput {
    File csv, npy, stats;
    int directions;         ///< of the .npy, as a mask
    int bw, bh;             ///< of the .npy
    int64_t nb_frames;      ///< written to the .npy
    uint8_t *npy_field;     ///< one direction of one frame
    size_t npy_field_size;
};

static int has_ending(const char *path, const char *ending)
{
    size_t len = strlen(path), ending_len = strlen(ending);

    return len > ending_len &&
           !av_strcasecmp(path + len - ending_len, ending);
}

static int is_stdout(const char *path)
{
    return !strcmp(path, "-");
}

int ff_gpume_output_check(const char *mv_file, const char *stats_file,
                          void *log_ctx)
{
    if (mv_file && !is_stdout(mv_file) &&
        !has_ending(mv_file, ".csv") && !has_ending(mv_file, ".npy")) {
        av_log(log_ctx, AV_LOG_ERROR, "mv_file '%s' ends neither in .csv nor "
               "in .npy, and is not '-' (CSV on standard output).\n", mv_file);
        return AVERROR(EINVAL);
    }
    if (stats_file && !*stats_file) {
        av_log(log_ctx, AV_LOG_ERROR, "stats_file has no name.\n");
        return AVERROR(EINVAL);
    }
    if (mv_file && stats_file && !strcmp(mv_file, stats_file)) {
        av_log(log_ctx, AV_LOG_ERROR,
               "mv_file and stats_file are both '%s'.\n", mv_file);
        return AVERROR(EINVAL);
    }
    return 0;
}

/* The error that stdio left; it may leave none. */
static int file_error(File *file, const char *what)
{
    int err = AVERROR(errno ? errno : EIO);

    file->failed = 1;
    av_log(file->log_ctx, AV_LOG_ERROR, "Could not %s %s: %s\n", what,
           is_stdout(file->path) ? "standard output" : file->path,
           av_err2str(err));
    return err;
}

#if GPUME_POSIX_FILES
/* What another name for an open file leads to is not to be replaced. */
static int is_open_already(const char *path)
{
    return !strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/stderr") ||
           av_strstart(path, "/dev/fd/", NULL) || av_strstart(path, "/proc/", NULL);
}

/* A new file beside the target. Sets part, or leaves errno. */
static av_cold FILE *part_open(File *file, mode_t mode)
{
    const char *slash = strrchr(file->target, '/');
    const int folder = slash ? slash + 1 - file->target : 0;
    /* a long name is cut, so that the longer one is still a name */
    const int max_name = NAME_MAX - (int)strlen(PART_SUFFIX);
    FILE *f;
    int fd, tries = 0;

    do {
        av_freep(&file->part);
        file->part = av_asprintf("%.*s%.*s.%08"PRIx32".gpume-part",
                                 folder, file->target, max_name,
                                 file->target + folder, av_get_random_seed());
        if (!file->part) {
            errno = ENOMEM;
            return NULL;
        }
        fd = avpriv_open(file->part, O_WRONLY | O_CREAT | O_EXCL, 0666);
    } while (fd < 0 && errno == EEXIST && ++tries < 100);

    f = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!f) {
        const int err = errno;

        if (fd >= 0) {
            close(fd);
            unlink(file->part);
        }
        av_freep(&file->part);
        errno = err;
    } else if (mode && fchmod(fd, mode)) {
        av_log(file->log_ctx, AV_LOG_VERBOSE,
               "%s gets other permissions than it had.\n", file->path);
    }
    return f;
}

/* A regular file has a temporary name until it is whole; a pipe or a device is opened itself. */
static av_cold int open_named(File *file)
{
    const char *path = file->path;
    struct stat st;
    const int exists  = !stat(path, &st);
    const int regular = !exists || (S_ISREG(st.st_mode) && !is_open_already(path));

    if (!regular) {
        file->f = avpriv_fopen_utf8(path, "wb");
    } else if (exists && !file->overwrite) {
        errno = EEXIST;
    } else if (!exists || !access(path, W_OK)) {
        /* a link stays, and what it leads to is replaced */
        char *real = exists ? realpath(path, NULL) : NULL;

        file->target = av_strdup(real ? real : path);
        free(real);
        if (!file->target)
            return AVERROR(ENOMEM);
        file->f = part_open(file, exists ? st.st_mode & 0777 : 0);
    }
    return 0;
}

/* Give a file that is whole its name. */
static av_cold int rename_part(const File *file)
{
    int err;

    if (file->overwrite)
        return rename(file->part, file->target);
    /* unlike rename() this leaves alone what has come since */
    err = link(file->part, file->target);
    if (!err)
        unlink(file->part);
    else if (errno != EEXIST && access(file->target, F_OK))
        err = rename(file->part, file->target); /* links are not everywhere */
    return err;
}

static av_cold void remove_part(const File *file)
{
    unlink(file->part);
}
#else
/* Every file is written itself. */
static av_cold int open_named(File *file)
{
    if (!file->overwrite && (file->f = avpriv_fopen_utf8(file->path, "rb"))) {
        fclose(file->f);
        file->f = NULL;
        errno   = EEXIST;
    } else {
        file->f = avpriv_fopen_utf8(file->path, "wb");
    }
    return 0;
}

static av_cold int rename_part(const File *file)
{
    return 0;
}

static av_cold void remove_part(const File *file)
{
}
#endif

static av_cold int file_open(File *file, const char *path, int overwrite, void *log_ctx)
{
    int ret;

    file->path      = path;
    file->overwrite = overwrite;
    file->log_ctx   = log_ctx;
    if (is_stdout(path)) {
        file->f = stdout;
        return 0;
    }
    ret = open_named(file);
    if (ret >= 0 && !file->f)
        ret = file_error(file, "open");
    return ret;
}

/* Hands to the system what was printed since, and reports what went wrong. */
static int file_flush(File *file)
{
    if (ferror(file->f) || fflush(file->f))
        return file_error(file, "write to");
    return 0;
}

static int file_write(File *file, const void *data, size_t size)
{
    if (fwrite(data, 1, size, file->f) != size)
        return file_error(file, "write to");
    return 0;
}

/* Close a file; only file_finish() and file_uninit() may follow. */
static av_cold int file_close(File *file)
{
    int ret = 0;

    if (!file->f)
        return 0;
    errno = 0;
    if (!file->failed)
        ret = file_flush(file);
    if (file->f != stdout && fclose(file->f) && !file->failed)
        ret = file_error(file, "close");
    file->f = NULL;
    return ret;
}

static av_cold int file_finish(File *file)
{
    if (!file->part)
        return 0;
    errno = 0;
    if (rename_part(file))
        return file_error(file, "complete");
    av_freep(&file->part);
    return 0;
}

/* Remove what is not whole. */
static av_cold void file_uninit(File *file)
{
    if (file->part)
        remove_part(file);
    av_freep(&file->part);
    av_freep(&file->target);
}

/* NumPy's format 1.0 (NEP 1): magic, version, header length, a Python literal. */
static int npy_write_header(GpumeOutput *o)
{
    static const char magic[] = "\x93NUMPY\x01";    /* and the minor version, 0 */
    char header[NPY_HEADER_SIZE + 1];
    const int start = sizeof(magic) + 2;
    int nb_directions = av_popcount(o->directions);
    int len;

    memcpy(header, magic, sizeof(magic));
    AV_WL16(header + sizeof(magic), NPY_HEADER_SIZE - start);
    len = snprintf(header + start, sizeof(header) - start,
                   "{'descr': '<i4', 'fortran_order': False, "
                   "'shape': (%"PRId64", %d, %d, %d, %d), }",
                   o->nb_frames, nb_directions, o->bh, o->bw, NPY_VALUES);
    memset(header + start + len, ' ', NPY_HEADER_SIZE - start - len);
    header[NPY_HEADER_SIZE - 1] = '\n';

    return file_write(&o->npy, header, NPY_HEADER_SIZE);
}

static av_cold int npy_open(GpumeOutput *o, const char *path,
                            const GpumeParams *params, int directions,
                            int overwrite, void *log_ctx)
{
    int ret;

    o->directions     = directions;
    o->bw             = params->bw;
    o->bh             = params->bh;
    o->npy_field_size = sizeof(int32_t) * NPY_VALUES * o->bw * o->bh;
    o->npy_field      = av_malloc(o->npy_field_size);
    if (!o->npy_field)
        return AVERROR(ENOMEM);

    ret = file_open(&o->npy, path, overwrite, log_ctx);
    if (ret < 0)
        return ret;
    if (fseek(o->npy.f, 0, SEEK_CUR)) {
        o->npy.failed = 1;
        av_log(log_ctx, AV_LOG_ERROR, "A .npy needs a seekable output, and %s "
               "is not; .csv can be written to a pipe.\n", path);
        return AVERROR(ESPIPE);
    }
    ret = npy_write_header(o);
    if (ret < 0)
        return ret;
    return file_flush(&o->npy);
}

/* Only now is the number of frames known. */
static av_cold int npy_complete(GpumeOutput *o)
{
    if (!o->npy.f || o->npy.failed)
        return 0;
    errno = 0;
    if (fseek(o->npy.f, 0, SEEK_SET))
        return file_error(&o->npy, "seek in");
    return npy_write_header(o);
}

av_cold int ff_gpume_output_open(GpumeOutput **output, const char *mv_file,
                                 const char *stats_file,
                                 const GpumeParams *params, int directions,
                                 int overwrite, void *log_ctx)
{
    GpumeOutput *o = *output = av_mallocz(sizeof(*o));
    int ret = 0;

    if (!o)
        return AVERROR(ENOMEM);

    errno = 0;
    if (mv_file && has_ending(mv_file, ".npy")) {
        ret = npy_open(o, mv_file, params, directions, overwrite, log_ctx);
    } else if (mv_file) {
        ret = file_open(&o->csv, mv_file, overwrite, log_ctx);
        if (ret >= 0) {
            fputs("framenum,source,blockw,blockh,srcx,srcy,dstx,dsty,flags,"
                  "motion_x,motion_y,motion_scale,cost\n", o->csv.f);
            ret = file_flush(&o->csv);
        }
    }
    if (ret >= 0 && stats_file)
        ret = file_open(&o->stats, stats_file, overwrite, log_ctx);
    if (ret < 0)
        ff_gpume_output_close(output, 0);
    return ret;
}

int ff_gpume_output_has_vectors(const GpumeOutput *o)
{
    return o->csv.f || o->npy.f;
}

int ff_gpume_output_has_stats(const GpumeOutput *o)
{
    return !!o->stats.f;
}

static int npy_write_frame(GpumeOutput *o, const GpumeParams *params,
                           const GpumeField fields[GPUME_NB_DIRECTIONS])
{
    const size_t nb_blocks = (size_t)params->bw * params->bh;

    if (params->bw != o->bw || params->bh != o->bh) {
        av_log(o->npy.log_ctx, AV_LOG_ERROR, "The picture now has %dx%d blocks, "
               "it had %dx%d: one .npy cannot hold both; .csv can.\n",
               params->bw, params->bh, o->bw, o->bh);
        return AVERROR(EINVAL);
    }

    for (int i = 0; i < GPUME_NB_DIRECTIONS; i++) {
        const GpumeField *field = &fields[i];
        uint8_t *dst = o->npy_field;
        int ret;

        if (!(o->directions & 1 << i))
            continue;
        for (size_t j = 0; j < nb_blocks; j++, dst += 4 * NPY_VALUES) {
            AV_WL32(dst,     field->mvs ? field->mvs[j].motion_x : 0);
            AV_WL32(dst + 4, field->mvs ? field->mvs[j].motion_y : 0);
            AV_WL32(dst + 8, field->mvs ? field->costs[j]        : -1);
        }
        ret = file_write(&o->npy, o->npy_field, o->npy_field_size);
        if (ret < 0)
            return ret;
    }
    o->nb_frames++;
    return file_flush(&o->npy);
}

static int csv_write_frame(GpumeOutput *o, const GpumeParams *params,
                           int64_t framenum,
                           const GpumeField fields[GPUME_NB_DIRECTIONS])
{
    const size_t nb_blocks = (size_t)params->bw * params->bh;

    for (int i = 0; i < GPUME_NB_DIRECTIONS; i++) {
        if (!fields[i].mvs)
            continue;
        for (size_t j = 0; j < nb_blocks; j++) {
            const AVMotionVector *mv = &fields[i].mvs[j];

            fprintf(o->csv.f, "%"PRId64",%d,%d,%d,%d,%d,%d,%d,0x%"PRIx64
                    ",%d,%d,%d,%"PRIu32"\n",
                    framenum, mv->source, mv->w, mv->h, mv->src_x, mv->src_y,
                    mv->dst_x, mv->dst_y, mv->flags, mv->motion_x,
                    mv->motion_y, mv->motion_scale, fields[i].costs[j]);
        }
    }
    return file_flush(&o->csv);
}

int ff_gpume_output_vectors(GpumeOutput *o, const GpumeParams *params,
                            int64_t framenum,
                            const GpumeField fields[GPUME_NB_DIRECTIONS])
{
    errno = 0;
    if (o->npy.f)
        return npy_write_frame(o, params, fields);
    if (o->csv.f)
        return csv_write_frame(o, params, framenum, fields);
    return 0;
}

void ff_gpume_output_compute_stats(GpumeStats *stats, const GpumeField *field,
                                   const GpumeParams *params)
{
    const size_t nb_blocks = (size_t)params->bw * params->bh;
    double sum = 0;
    int64_t max = 0;

    memset(stats, 0, sizeof(*stats));
    for (size_t i = 0; i < nb_blocks; i++) {
        const AVMotionVector *mv = &field->mvs[i];
        const int64_t square = (int64_t)mv->motion_x * mv->motion_x +
                               (int64_t)mv->motion_y * mv->motion_y;

        stats->cost += field->costs[i];
        stats->zero += !square;
        sum         += sqrt(square);
        if (square > max)
            max = square;
    }
    stats->mean_mv = sum / nb_blocks;
    stats->max_mv  = sqrt(max);
}

int ff_gpume_output_stats(GpumeOutput *o, const GpumeParams *params,
                          int64_t framenum, int64_t pts, int direction,
                          const GpumeStats *stats)
{
    if (!o->stats.f)
        return 0;

    errno = 0;
    fprintf(o->stats.f, "n:%"PRId64" pts:%s dir:%s blocks:%d cost:%"PRIu64
            " zero:%d mean_mv:%.2f max_mv:%.1f\n",
            framenum, av_ts2str(pts),
            direction == GPUME_PAST ? "past" : "future",
            params->bw * params->bh, stats->cost, stats->zero,
            stats->mean_mv, stats->max_mv);
    return file_flush(&o->stats);
}

av_cold int ff_gpume_output_close(GpumeOutput **output, int keep)
{
    GpumeOutput *o = *output;
    File *files[3];
    int ret = 0, err;

    if (!o)
        return 0;
    files[0] = &o->csv;
    files[1] = &o->npy;
    files[2] = &o->stats;

    if (keep)
        ret = npy_complete(o);
    for (int i = 0; i < FF_ARRAY_ELEMS(files); i++) {
        err = file_close(files[i]);
        if (ret >= 0)
            ret = err;
        /* one that failed earlier has said so */
        keep &= !files[i]->failed;
    }
    /* all or none */
    for (int i = 0; i < FF_ARRAY_ELEMS(files); i++) {
        err = keep && ret >= 0 ? file_finish(files[i]) : 0;
        if (ret >= 0)
            ret = err;
        file_uninit(files[i]);
    }
    av_freep(&o->npy_field);
    av_freep(output);
    return ret;
}
