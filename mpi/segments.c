/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/murmur3.h"

#include "mpi/segments.h"

/** The magic number and format version of our files. */
#define MAGIC "gpume3"
/** Bytes that are read at a time. */
#define BUFFER_SIZE (1 << 20)

/** The header of a file. */
typedef struct Head {
    char magic[8];
    int64_t size;               ///< bytes of the contents
    uint8_t owner[HASH_SIZE];   ///< Segments.hash
    uint8_t hash[HASH_SIZE];    ///< checksum of the contents
} Head;

int segments_error(const Segments *s, int segment, const char *what, const char *path)
{
    const int err = errno ? errno : EIO;

    shared_report(s->shared, segment, "could not %s %s: %s", what, path, av_err2str(AVERROR(err)));
    return AVERROR(err);
}

char *segments_path(const Segments *s, const char *name, int number)
{
    return number < 0 ? av_asprintf("%s/%s", s->folder, name) : av_asprintf("%s/%s-%d", s->folder, name, number);
}

static int hash_bytes(uint8_t hash[HASH_SIZE], const void *data, size_t size)
{
    struct AVMurMur3 *ctx = av_murmur3_alloc();

    if (!ctx)
        return AVERROR(ENOMEM);
    av_murmur3_init(ctx);
    av_murmur3_update(ctx, data, size);
    av_murmur3_final(ctx, hash);
    av_free(ctx);
    return 0;
}

/* Removes our files, then the folder. If the folder has other files, they and the folder stay. */
void segments_remove(const Segments *s)
{
    static const char *const ours[] = { "data", "plan", "segment-", "csv-", "stats-" };
    DIR *dir = opendir(s->folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        for (int i = 0; i < FF_ARRAY_ELEMS(ours); i++)
            if (av_strstart(entry->d_name, ours[i], NULL)) {
                char *path = segments_path(s, entry->d_name, -1);

                if (path)
                    unlink(path);
                av_free(path);
            }
    if (dir)
        closedir(dir);
    rmdir(s->folder);
}

/* Writes a file that is either complete or absent. */
static int save(const Segments *s, const char *name, int number, const void *data, size_t size)
{
    Head head = { MAGIC, size };
    char *path = segments_path(s, name, number), *part = path ? av_asprintf("%s.new", path) : NULL;
    FILE *f = NULL;
    int ret = part ? hash_bytes(head.hash, data, size) : AVERROR(ENOMEM);

    if (ret < 0)
        goto end;
    memcpy(head.owner, s->hash, HASH_SIZE);
    errno = 0;
    f = fopen(part, "wb");
    if (!f || fwrite(&head, sizeof(head), 1, f) != 1 || fwrite(data, 1, size, f) != size || fflush(f))
        ret = segments_error(s, number, "write", part);
    if (f && fclose(f) && ret >= 0)
        ret = segments_error(s, number, "write", part);
    if (ret >= 0 && rename(part, path))
        ret = segments_error(s, number, "write", path);
    if (ret < 0)
        unlink(part);
end:
    av_free(part);
    av_free(path);
    return ret;
}

/* Returns AVERROR(ENOENT) if the file is absent or damaged, AVERROR(EINVAL) if it belongs to another video. */
static int load(const Segments *s, const char *name, int number, uint8_t **data, size_t *size)
{
    char *path = segments_path(s, name, number);
    FILE *f = path ? fopen(path, "rb") : NULL;
    uint8_t hash[HASH_SIZE];
    int ret = AVERROR(ENOENT);
    struct stat st;
    Head head;

    *data = NULL;
    if (!f || fread(&head, sizeof(head), 1, f) != 1 || fstat(fileno(f), &st) ||
        strncmp(head.magic, MAGIC, sizeof(head.magic)) || head.size < 0 || st.st_size != head.size + sizeof(head))
        goto end;
    if (memcmp(head.owner, s->hash, HASH_SIZE)) {
        ret = AVERROR(EINVAL);
        goto end;
    }
    *size = head.size;
    *data = av_malloc(*size + 1);
    if (*data && fread(*data, 1, *size, f) == *size && hash_bytes(hash, *data, *size) >= 0 &&
        !memcmp(hash, head.hash, HASH_SIZE))
        ret = 0;
end:
    if (ret < 0)
        av_freep(data);
    if (f)
        fclose(f);
    av_free(path);
    return ret;
}

int segments_create(const Segments *s)
{
    segments_remove(s);
    errno = 0;
    if (mkdir(s->folder, 0777) && errno != EEXIST)
        return segments_error(s, -1, "create", s->folder);
    return save(s, "plan", -1, s->video->segments, s->video->nb_segments * sizeof(*s->video->segments));
}

int segments_load(const Segments *s)
{
    uint8_t *data;
    size_t size;
    int ret = load(s, "plan", -1, &data, &size);

    if (ret == AVERROR(EINVAL))
        shared_report(s->shared, -1, "%s belongs to another video or other options; run without --resume to remove it",
                      s->folder);
    if (ret < 0)
        return ret;
    av_free(s->video->segments);
    s->video->segments    = (VideoSegment *)data;
    s->video->nb_segments = size / sizeof(*s->video->segments);
    return 0;
}

int segments_open(Segments *s)
{
    char *path = segments_path(s, "data", -1);
    int ret = path ? 0 : AVERROR(ENOMEM);

    errno = 0;
    if (path && s->kind == KIND_NPY && (s->fd = open(path, O_WRONLY | O_CREAT, 0666)) < 0)
        ret = segments_error(s, -1, "open", path);
    av_free(path);
    return ret;
}

int segments_close(Segments *s)
{
    const int failed = s->fd >= 0 && close(s->fd);

    s->fd = -1;
    return failed ? segments_error(s, -1, "close the vectors in", s->folder) : 0;
}

int segments_write(const Segments *s, int segment, int64_t offset, const uint8_t *data, size_t size)
{
    errno = 0;
    if (pwrite(s->fd, data, size, offset) == size)
        return 0;
    errno = errno ? errno : ENOSPC;     /* a part could be written */
    return segments_error(s, segment, "write the vectors to", s->folder);
}

int64_t segments_offset(const Segments *s, int segment)
{
    return GPUME_NPY_HEADER_SIZE +
           video_first(s->video, segment) * s->params.nb_references * (int64_t)gpume_npy_field_size(&s->params);
}

/* Adds the bytes of a file to a checksum. @param size -1: up to the end of the file */
static int add_file(struct AVMurMur3 *ctx, const Segments *s, const char *name, int number, int64_t offset,
                    int64_t size)
{
    char *path = segments_path(s, name, number);
    uint8_t *buf = av_malloc(BUFFER_SIZE);
    FILE *f = path && buf ? fopen(path, "rb") : NULL;
    int ret = f && !fseeko(f, offset, SEEK_SET) ? 0 : AVERROR(EIO);
    size_t n = 1;

    while (ret >= 0 && size && n) {
        n = fread(buf, 1, size < 0 ? BUFFER_SIZE : FFMIN(size, BUFFER_SIZE), f);
        av_murmur3_update(ctx, buf, n);
        if (size > 0)
            size -= n;
    }
    if (ret >= 0 && (size > 0 || ferror(f)))
        ret = AVERROR(EIO);
    if (f)
        fclose(f);
    av_free(buf);
    av_free(path);
    return ret;
}

/* Computes the checksum of a segment's vectors and statistics; just written, they are in the page cache. */
static int hash_segment(const Segments *s, int segment, uint8_t hash[HASH_SIZE])
{
    struct AVMurMur3 *ctx = av_murmur3_alloc();
    const int64_t offset = segments_offset(s, segment);
    int ret = ctx ? 0 : AVERROR(ENOMEM);

    if (ret < 0)
        return ret;
    av_murmur3_init(ctx);
    if (s->kind == KIND_NPY)
        ret = add_file(ctx, s, "data", -1, offset, segments_offset(s, segment + 1) - offset);
    else if (s->kind == KIND_CSV)
        ret = add_file(ctx, s, "csv", segment, 0, -1);
    if (ret >= 0 && s->stats_format >= 0)
        ret = add_file(ctx, s, "stats", segment, 0, -1);
    av_murmur3_final(ctx, hash);
    av_free(ctx);
    return ret;
}

int record_load(const Segments *s, int segment, Record *r)
{
    uint8_t *data;
    size_t size;
    int ret = load(s, "segment", segment, &data, &size);

    if (ret >= 0 && size == sizeof(*r))
        memcpy(r, data, sizeof(*r));
    if (ret >= 0 && (size != sizeof(*r) || r->segment != segment))
        ret = AVERROR(ENOENT);
    av_free(data);
    return ret < 0 ? AVERROR(ENOENT) : 0;
}

int record_is_intact(const Segments *s, const Record *r)
{
    uint8_t hash[HASH_SIZE];

    return hash_segment(s, r->segment, hash) >= 0 && !memcmp(hash, r->hash, HASH_SIZE);
}

/* Opens a file of text of a segment. @return NULL after a message */
static FILE *open_text(const Segments *s, const char *name, int segment)
{
    char *path = segments_path(s, name, segment);
    FILE *f;

    errno = 0;
    f = path ? fopen(path, "wb") : NULL;
    if (!f)
        segments_error(s, segment, "open", path ? path : name);
    av_free(path);
    return f;
}

Rows *rows_open(const Segments *s, int segment)
{
    Rows *r = av_mallocz(sizeof(*r));

    if (!r)
        return NULL;
    r->segments       = s;
    r->record.segment = segment;
    if (s->kind == KIND_NPY) {
        r->offset = segments_offset(s, segment);
        r->buffer = av_malloc(gpume_npy_field_size(&s->params));
        if (!r->buffer)
            goto fail;
    } else if (s->kind == KIND_CSV) {
        if (!(r->csv = open_text(s, "csv", segment)))
            goto fail;
    }
    if (s->stats_format >= 0 && !(r->stats = open_text(s, "stats", segment)))
        goto fail;
    return r;
fail:
    rows_free(&r);
    return NULL;
}

static int write_npy(Rows *r, const GpumeField *field)
{
    const size_t size = gpume_npy_field_size(&r->segments->params);

    ff_gpume_npy_field(r->buffer, field, &r->segments->params);
    r->offset += size;
    return segments_write(r->segments, r->record.segment, r->offset - size, r->buffer, size);
}

int rows_field(Rows *r, const GpumeStamp *stamp, int reference, const GpumeField *field, const GpumeStats *stats)
{
    const Segments *s = r->segments;
    char time[GPUME_TIME_SIZE];
    int ret = s->kind == KIND_NPY ? write_npy(r, field) : 0;

    errno = 0;
    if (r->csv && field) {
        ff_gpume_time(time, stamp);
        ff_gpume_csv_field(r->csv, stamp->number, time, field);
    }
    if (r->stats && field)
        ff_gpume_stats_line(r->stats, s->stats_format, stamp, s->params.distance[reference], stats);
    if (ret >= 0 && (r->csv && ferror(r->csv) || r->stats && ferror(r->stats)))
        ret = segments_error(s, r->record.segment, "write to", s->folder);
    return ret;
}

/* Closes a file of text. Returns whether it is not open, or is complete. */
static int close_text(FILE **f)
{
    const int ok = !*f || !fclose(*f);

    *f = NULL;
    return ok;
}

int rows_finish(Rows *r)
{
    const Segments *s = r->segments;

    errno = 0;
    if (!(close_text(&r->csv) & close_text(&r->stats)))
        return segments_error(s, r->record.segment, "write to", s->folder);
    errno = 0;
    if (hash_segment(s, r->record.segment, r->record.hash) < 0)
        return segments_error(s, r->record.segment, "read a file of", s->folder);
    return save(s, "segment", r->record.segment, &r->record, sizeof(r->record));
}

void rows_free(Rows **rows)
{
    Rows *r = *rows;

    if (!r)
        return;
    close_text(&r->csv);
    close_text(&r->stats);
    av_free(r->buffer);
    av_freep(rows);
}
