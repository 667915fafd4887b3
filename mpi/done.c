/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"
#include "libavutil/murmur3.h"

#include "mpi/done.h"
#include "mpi/work.h"

#define SUFFIX ".gpume-done"

/** The contents of a record, beside the checksum of options and names. */
typedef struct Done {
    FileState film, files[2];
} Done;

GpumeOutputConfig done_outputs(const Options *o, const char *mv_file, const char *stats_file)
{
    return (GpumeOutputConfig) {
        .mv_file    = mv_file,    .mv_format    = o->mv_format,
        .stats_file = stats_file, .stats_format = o->stats_format, .overwrite = o->overwrite,
    };
}

FileState done_state(const char *path)
{
    struct stat st;

    return path && !stat(path, &st) && S_ISREG(st.st_mode) ?
           (FileState) { st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec } : (FileState) { -1 };
}

static void hash_text(struct AVMurMur3 *ctx, const char *text)
{
    av_murmur3_update(ctx, (const uint8_t *)text, strlen(text) + 1);
}

/* Computes a checksum of the name of the film, the filters, and the outputs and their formats. */
static int hash_options(Work *w, const Options *o, const char *input, const char *const names[2])
{
    const GpumeOutputConfig cfg = done_outputs(o, names[0], names[1]);
    const int formats[] = {
        names[0] ? ff_gpume_mv_format(&cfg)    : -1,
        names[1] ? ff_gpume_stats_format(&cfg) : -1,
    };
    struct AVMurMur3 *ctx = av_murmur3_alloc();
    char *film = realpath(input, NULL);

    if (!ctx || !film) {
        av_free(ctx);
        free(film);
        return AVERROR(ENOMEM);
    }
    av_murmur3_init(ctx);
    hash_text(ctx, film);
    hash_text(ctx, o->filters);
    av_murmur3_update(ctx, (const uint8_t *)formats, sizeof(formats));
    av_murmur3_final(ctx, w->hash);
    av_free(ctx);
    free(film);
    return 0;
}

/* Returns whether the record matches the files. */
static int is_current(const Options *o, const Shared *s, const char *input, const char *const names[2],
                      const char *path)
{
    Work w = { .shared = s };
    Done old, now = { .film = done_state(input) };
    int ret = hash_options(&w, o, input, names);

    for (int i = 0; i < 2; i++)
        now.files[i] = done_state(names[i]);
    return ret >= 0 && work_load_file(&w, path, &old, sizeof(old)) >= 0 && now.film.size >= 0 &&
           !memcmp(&old, &now, sizeof(now));
}

int done_skip(const Options *o, const Shared *s, const char *input, const char *mv_file, const char *stats_file)
{
    const char *const names[] = { mv_file, stats_file };
    char *real, *path;
    int skip;

    /* a pipe is written again in every run */
    if (!o->resume || mv_file && done_state(mv_file).size < 0 || stats_file && done_state(stats_file).size < 0 ||
        mv_file && ff_gpume_is_direct(mv_file) || stats_file && ff_gpume_is_direct(stats_file))
        return 0;
    real = realpath(mv_file ? mv_file : stats_file, NULL);
    path = real ? av_asprintf("%s" SUFFIX, real) : NULL;
    skip = path && is_current(o, s, input, names, path);
    if (skip) {
        Work w = { .shared = s, .folder = av_asprintf("%s.gpume-part", real) };

        if (w.folder && !access(w.folder, F_OK))
            work_remove(&w);
        av_free(w.folder);
        shared_report(s, -1, "%s: skipped, because an earlier run has finished it", input);
    }
    av_free(path);
    free(real);
    return skip;
}

int done_save(const Options *o, const Shared *s, const char *input, const FileState *film,
              const GpumeFile *const files[2])
{
    const char *const names[] = { files[0]->path, files[1]->path };
    const char *target = files[0]->target ? files[0]->target : files[1]->target;
    char *path = target ? av_asprintf("%s" SUFFIX, target) : NULL;
    Done done = { .film = *film };
    Work w = { .shared = s };
    int ret = 0, is_regular = 1;

    if (!path)
        return target ? AVERROR(ENOMEM) : 0;
    for (int i = 0; i < 2; i++) {
        done.files[i] = done_state(files[i]->part);
        is_regular &= !names[i] || files[i]->target;
    }
    if ((o->resume || o->list) && is_regular && film->size >= 0) {
        ret = hash_options(&w, o, input, names);
        if (ret >= 0)
            ret = work_save_file(&w, path, &done, sizeof(done));
    } else {
        unlink(path);
    }
    av_free(path);
    return ret;
}
