/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"
#include "libavutil/murmur3.h"

#include "mpi/work.h"

/** The magic number and format version of our files. */
#define MAGIC "gpume2"

/** The header of a file. */
typedef struct Head {
    char magic[8];
    char name[8];
    int64_t size;               ///< bytes of the contents
    uint8_t owner[HASH_SIZE];   ///< Work.hash
    uint8_t hash[HASH_SIZE];    ///< checksum of the contents
} Head;

int work_error(const Work *w, int segment, const char *what, const char *path)
{
    const int err = errno ? errno : EIO;

    shared_report(w->shared, segment, "could not %s %s: %s", what, path, av_err2str(AVERROR(err)));
    return AVERROR(err);
}

char *work_path(const Work *w, const char *name, int number)
{
    return number < 0 ? av_asprintf("%s/%s", w->folder, name) :
                        av_asprintf("%s/%s-%d", w->folder, name, number);
}

static void hash_bytes(uint8_t hash[HASH_SIZE], const void *data, size_t size)
{
    struct AVMurMur3 *ctx = av_murmur3_alloc();

    memset(hash, 0, HASH_SIZE);
    if (!ctx)
        return;
    av_murmur3_init(ctx);
    av_murmur3_update(ctx, data, size);
    av_murmur3_final(ctx, hash);
    av_free(ctx);
}

/* Removes our files, then the folder. If the folder has other files, they and the folder stay. */
void work_remove(const Work *w)
{
    static const char *const ours[] = { "data", "plan", "segment-", "csv-" };
    DIR *dir = opendir(w->folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        for (int i = 0; i < FF_ARRAY_ELEMS(ours); i++)
            if (!strncmp(entry->d_name, ours[i], strlen(ours[i]))) {
                char *path = work_path(w, entry->d_name, -1);

                if (path)
                    unlink(path);
                av_free(path);
            }
    if (dir)
        closedir(dir);
    rmdir(w->folder);
}

int work_create(const Work *w)
{
    work_remove(w);
    errno = 0;
    if (mkdir(w->folder, 0777) && errno != EEXIST)
        return work_error(w, -1, "create", w->folder);
    return 0;
}

/* Writes a file that is either complete or absent. */
static int save_to(const Work *w, const char *path, const char *name, int number, const void *data, size_t size)
{
    Head head = { MAGIC, "", size };
    char *part = av_asprintf("%s.new", path);
    int ret = 0, failed;
    FILE *f;

    if (!part)
        return AVERROR(ENOMEM);
    av_strlcpy(head.name, name, sizeof(head.name));
    memcpy(head.owner, w->hash, HASH_SIZE);
    hash_bytes(head.hash, data, size);
    errno = 0;
    f = fopen(part, "wb");
    failed = !f || fwrite(&head, sizeof(head), 1, f) != 1 || size && fwrite(data, size, 1, f) != 1;
    if (failed)
        ret = work_error(w, number, "write", part);
    if (f && fclose(f) && !failed)
        ret = work_error(w, number, "write", part);
    if (ret >= 0 && rename(part, path))
        ret = work_error(w, number, "write", path);
    if (ret < 0)
        unlink(part);
    av_free(part);
    return ret;
}

static int save(const Work *w, const char *name, int number, const void *data, size_t size)
{
    char *path = work_path(w, name, number);
    const int ret = path ? save_to(w, path, name, number, data, size) : AVERROR(ENOMEM);

    av_free(path);
    return ret;
}

/* Returns AVERROR(ENOENT) if the file is absent or damaged, AVERROR(EINVAL) if it belongs to another film. */
static int load_from(const Work *w, const char *path, const char *name, uint8_t **data, size_t *size)
{
    uint8_t hash[HASH_SIZE];
    int ret = AVERROR(ENOENT);
    FILE *f = fopen(path, "rb");
    struct stat st;
    Head head;

    *data = NULL;
    if (!f || fread(&head, sizeof(head), 1, f) != 1 || fstat(fileno(f), &st) ||
        strcmp(head.magic, MAGIC) || strncmp(head.name, name, sizeof(head.name) - 1) ||
        head.size < 0 || st.st_size != head.size + sizeof(head))
        goto end;
    ret = AVERROR(EINVAL);
    if (memcmp(head.owner, w->hash, HASH_SIZE))
        goto end;
    ret   = AVERROR(ENOENT);
    *size = head.size;
    *data = av_malloc(*size + 1);
    if (!*data || *size && fread(*data, *size, 1, f) != 1)
        goto end;
    hash_bytes(hash, *data, *size);
    if (!memcmp(hash, head.hash, HASH_SIZE))
        ret = 0;
end:
    if (ret < 0)
        av_freep(data);
    if (f)
        fclose(f);
    return ret;
}

static int load(const Work *w, const char *name, int number, uint8_t **data, size_t *size)
{
    char *path = work_path(w, name, number);
    const int ret = path ? load_from(w, path, name, data, size) : AVERROR(ENOENT);

    if (!path)
        *data = NULL;
    av_free(path);
    return ret;
}

int work_save_file(const Work *w, const char *path, const void *data, size_t size)
{
    return save_to(w, path, "done", -1, data, size);
}

int work_load_file(const Work *w, const char *path, void *data, size_t size)
{
    uint8_t *found;
    size_t found_size;
    int ret = load_from(w, path, "done", &found, &found_size);

    if (ret >= 0 && found_size == size)
        memcpy(data, found, size);
    else
        ret = AVERROR(ENOENT);
    av_free(found);
    return ret;
}

int work_save_plan(const Work *w, const Film *film)
{
    return save(w, "plan", -1, film->segments, film->nb_segments * sizeof(*film->segments));
}

int work_exists(const Work *w)
{
    char *path = work_path(w, "plan", -1);
    const int exists = path && !access(path, F_OK);

    av_free(path);
    return exists;
}

int work_load_plan(const Work *w, Film *film)
{
    uint8_t *data;
    size_t size;
    int ret = load(w, "plan", -1, &data, &size);

    if (ret < 0) {
        shared_report(w->shared, -1, ret == AVERROR(EINVAL) ?
                      "%s belongs to another film or other options; run without --resume to remove it" :
                      "%s/plan is damaged; run without --resume to remove it", w->folder);
        return AVERROR(EINVAL);
    }
    av_free(film->segments);
    film->segments    = (FilmSegment *)data;
    film->nb_segments = size / sizeof(*film->segments);
    return film->nb_segments > 0 ? 0 : AVERROR(EINVAL);
}

void record_free(Record *r)
{
    av_freep(&r->times);
    av_freep(&r->stats);
    memset(r, 0, sizeof(*r));
}

int work_save(const Work *w, const Record *r)
{
    const size_t times = r->nb_times * sizeof(*r->times), stats = r->nb_stats * sizeof(*r->stats);
    uint8_t *data = av_malloc(sizeof(*r) + times + stats);
    Record *head = (Record *)data;
    int ret;

    if (!data)
        return AVERROR(ENOMEM);
    *head = *r;
    head->times = NULL;
    head->stats = NULL;
    if (times)
        memcpy(data + sizeof(*r), r->times, times);
    if (stats)
        memcpy(data + sizeof(*r) + times, r->stats, stats);
    ret = save(w, "segment", r->segment, data, sizeof(*r) + times + stats);
    av_free(data);
    return ret;
}

int work_load(const Work *w, int segment, Record *r)
{
    uint8_t *data;
    size_t size, times, stats;
    int ret;

    memset(r, 0, sizeof(*r));
    if (load(w, "segment", segment, &data, &size) < 0)
        return AVERROR(ENOENT);
    ret = AVERROR(ENOENT);
    if (size < sizeof(*r))
        goto end;
    memcpy(r, data, sizeof(*r));
    times = r->nb_times * sizeof(*r->times);
    stats = r->nb_stats * sizeof(*r->stats);
    if (r->segment != segment || size != sizeof(*r) + times + stats)
        goto end;
    r->times = av_memdup(data + sizeof(*r), times ? times : 1);
    r->stats = av_memdup(data + sizeof(*r) + times, stats ? stats : 1);
    ret = r->times && r->stats ? 0 : AVERROR(ENOMEM);
end:
    if (ret < 0)
        memset(r, 0, sizeof(*r));
    av_free(data);
    return ret;
}
