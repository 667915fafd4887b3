/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "libavutil/error.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/output/format.h"

#include "mpi/rows.h"

/** Bytes that are written at a time; at least one field. */
#define BUFFER_SIZE (4 << 20)

int64_t rows_offset(const Film *film, const GpumeParams *p, int segment)
{
    return GPUME_NPY_HEADER_SIZE +
           film_first(film, segment) * p->nb_references * (int64_t)gpume_npy_field_size(p);
}

Rows *rows_open(const RowsConfig *cfg, int segment)
{
    Rows *r = av_mallocz(sizeof(*r));

    if (!r)
        return NULL;
    r->cfg = cfg;
    r->record.segment = segment;
    r->hash = av_murmur3_alloc();
    if (!r->hash)
        goto fail;
    av_murmur3_init(r->hash);
    if (cfg->work->kind == KIND_NPY) {
        r->offset = rows_offset(cfg->film, &cfg->params, segment);
        r->buffer = av_malloc(FFMAX(BUFFER_SIZE, gpume_npy_field_size(&r->cfg->params)));
        if (!r->buffer)
            goto fail;
    } else if (cfg->work->kind == KIND_CSV) {
        r->path = work_path(cfg->work, "csv", segment);
        errno   = 0;
        r->f    = r->path ? fopen(r->path, "wb+") : NULL;
        if (!r->f) {
            work_error(cfg->work, segment, "open", r->path ? r->path : "a file");
            goto fail;
        }
    }
    return r;
fail:
    rows_free(&r);
    return NULL;
}

int rows_time(Rows *r, const FrameTime *time)
{
    FrameTime *times = av_fast_realloc(r->record.times, &r->times_size,
                                       (r->record.nb_times + 1) * sizeof(*times));

    if (!times)
        return AVERROR(ENOMEM);
    r->record.times = times;
    times[r->record.nb_times++] = *time;
    return 0;
}

static int add_stats(Rows *r, int64_t number, int distance, const GpumeStats *stats)
{
    StatsRecord *s = av_fast_realloc(r->record.stats, &r->stats_size,
                                     (r->record.nb_stats + 1) * sizeof(*s));

    if (!s)
        return AVERROR(ENOMEM);
    r->record.stats = s;
    s += r->record.nb_stats++;
    memset(s, 0, sizeof(*s));
    s->number   = number;
    s->distance = distance;
    s->stats    = *stats;
    return 0;
}

/* Reports a failed write. MPI does not tell the reason, but the system does if the write is repeated. */
static int report_write(const Rows *r, int code)
{
    const RowsConfig *cfg = r->cfg;
    char *path = work_path(cfg->work, "data", -1), text[MPI_MAX_ERROR_STRING] = "the write was incomplete";
    int fd = path ? open(path, O_WRONLY) : -1, len;
    int ret;

    errno = 0;
    if (fd >= 0 && pwrite(fd, r->buffer, r->nb_bytes, r->offset) != r->nb_bytes && !errno)
        errno = ENOSPC;     /* a part could be written */
    if (errno) {
        ret = work_error(cfg->work, r->record.segment, "write the vectors to", path);
    } else {
        if (code != MPI_SUCCESS)
            MPI_Error_string(code, text, &len);
        shared_report(cfg->shared, r->record.segment, "could not write the vectors to %s: %s",
                      cfg->work->folder, text);
        ret = AVERROR(EIO);
    }
    if (fd >= 0)
        close(fd);
    av_free(path);
    return ret;
}

/* Writes the buffer to its position. */
static int flush_npy(Rows *r)
{
    MPI_Status status;
    int code, count = 0;

    if (!r->nb_bytes)
        return 0;
    code = MPI_File_write_at(r->cfg->file, r->offset, r->buffer, r->nb_bytes, MPI_BYTE, &status);
    if (code == MPI_SUCCESS)
        code = MPI_Get_count(&status, MPI_BYTE, &count);
    if (code != MPI_SUCCESS || count != r->nb_bytes)
        return report_write(r, code);
    av_murmur3_update(r->hash, r->buffer, r->nb_bytes);
    r->offset      += r->nb_bytes;
    r->record.size += r->nb_bytes;
    r->nb_bytes     = 0;
    return 0;
}

static int write_npy(Rows *r, const GpumeField *field)
{
    const size_t size = gpume_npy_field_size(&r->cfg->params);
    int ret = 0;

    if (r->nb_bytes && r->nb_bytes + size > BUFFER_SIZE)
        ret = flush_npy(r);
    ff_gpume_npy_field(r->buffer + r->nb_bytes, field, &r->cfg->params);
    r->nb_bytes += size;
    return ret;
}

int rows_field(Rows *r, int64_t number, int reference, const GpumeField *field, const GpumeStats *stats)
{
    const Work *work = r->cfg->work;
    int ret = 0;

    if (field && stats && r->cfg->needs_stats)
        ret = add_stats(r, number, r->cfg->params.distance[reference], stats);
    if (ret >= 0 && work->kind == KIND_NPY)
        ret = write_npy(r, field);
    if (ret >= 0 && work->kind == KIND_CSV && field) {
        r->record.times[number - film_first(r->cfg->film, r->record.segment) - 1].nb_vectors += field->nb;
        errno = 0;
        /* the column of the time is added later, because the time depends on all frames before */
        ff_gpume_csv_field(r->f, number, NULL, field);
        if (ferror(r->f))
            ret = work_error(work, r->record.segment, "write to", r->path);
    }
    return ret;
}

/* Reads the file of CSV again for its checksum; the file is in the page cache. */
static int finish_csv(Rows *r)
{
    uint8_t buf[1 << 14];
    size_t n;
    int ret = 0;

    errno = 0;
    if (fflush(r->f) || fseek(r->f, 0, SEEK_SET))
        return work_error(r->cfg->work, r->record.segment, "write to", r->path);
    while ((n = fread(buf, 1, sizeof(buf), r->f))) {
        av_murmur3_update(r->hash, buf, n);
        r->record.size += n;
    }
    if (ferror(r->f))
        ret = work_error(r->cfg->work, r->record.segment, "read", r->path);
    if (fclose(r->f) && ret >= 0)
        ret = work_error(r->cfg->work, r->record.segment, "close", r->path);
    r->f = NULL;
    return ret;
}

int rows_finish(Rows *r)
{
    const int kind = r->cfg->work->kind;
    int ret = kind == KIND_NPY ? flush_npy(r) : kind == KIND_CSV ? finish_csv(r) : 0;

    if (ret < 0)
        return ret;
    av_murmur3_final(r->hash, r->record.hash);
    ret = work_save(r->cfg->work, &r->record);
    if (ret >= 0)
        av_freep(&r->path);     /* keeps the file */
    return ret;
}

void rows_free(Rows **rows)
{
    Rows *r = *rows;

    if (!r)
        return;
    if (r->f)
        fclose(r->f);
    if (r->path)
        unlink(r->path);
    av_free(r->path);
    av_free(r->hash);
    av_free(r->buffer);
    record_free(&r->record);
    av_freep(rows);
}
