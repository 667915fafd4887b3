/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <limits.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/file_open.h"
#include "libavutil/log.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/thread.h"
#include "libavutil/time.h"

#include "libavfilter/gpume/output/file.h"
#include "libavfilter/gpume/output/system.h"

/** Longest name of a file in a folder, for systems that do not define it. */
#ifndef NAME_MAX
#define NAME_MAX 255
#endif
/** Suffix of the names of incomplete files; X is a hexadecimal digit. */
#define PART_SUFFIX ".XXXXXXXX.gpume-part"

/* Returns the descriptor of the open file that a name stands for, or -1. */
static int descriptor_of(const char *path)
{
    int fd, len = 0;

    if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
        return 1;
    if (!strcmp(path, "/dev/stderr"))
        return 2;
    if ((sscanf(path, "/dev/fd/%9d%n", &fd, &len) == 1 || sscanf(path, "/proc/self/fd/%9d%n", &fd, &len) == 1) &&
        !path[len] && fd >= 0)
        return fd;
    return -1;
}

int ff_gpume_has_ending(const char *path, const char *ending)
{
    size_t len = strlen(path), ending_len = strlen(ending);

    return len > ending_len &&
           !av_strcasecmp(path + len - ending_len, ending);
}

int ff_gpume_is_stdout(const char *path)
{
    return descriptor_of(path) == 1;
}

int ff_gpume_file_error(GpumeFile *file, const char *what)
{
    int err = AVERROR(errno ? errno : EIO);

    file->failed = 1;
    av_log(file->log_ctx, AV_LOG_ERROR, "Could not %s %s: %s\n", what,
           ff_gpume_is_stdout(file->path) ? "standard output" : file->path,
           av_err2str(err));
    return err;
}

/** A regular file that this process writes. */
typedef struct GpumeClaim {
    struct GpumeClaim *next;
    char *name;             ///< name as the user gave it
    char *target;           ///< canonical name of the file that is written
    char *spelling;         ///< spelling of target, for comparisons
    uint64_t requested;     ///< hash of the spelling of the user's name, before a number is inserted
    int number;             ///< number of the file, from 1 on
} GpumeClaim;

/** A file that an earlier graph has completed, with its identity at that time. */
typedef struct CompletedFile {
    uint64_t requested;     ///< GpumeClaim.requested
    int number;             ///< 0: the entry is unused
    GpumeFileIdentity id;
} CompletedFile;

/** Maximum number of files that are remembered; the oldest are forgotten first. */
#define MAX_COMPLETED 64

static AVMutex claims_mutex = AV_MUTEX_INITIALIZER;
static GpumeClaim *claims;
static CompletedFile completed_files[MAX_COMPLETED];
static unsigned nb_completed_files;

static void free_claim(GpumeClaim *c)
{
    av_free(c->name);
    av_free(c->target);
    av_free(c->spelling);
    av_free(c);
}

/* Computes the FNV-1a hash. */
static uint64_t hash_name(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    while (*name)
        hash = (hash ^ (uint8_t)*name++) * UINT64_C(0x100000001b3);
    return hash;
}

/* Returns a spelling that all names of a file share. The file need not exist. NULL: out of memory. */
static char *spelling_of(const char *path)
{
    char *canonical = ff_gpume_system_canonical(path), *spelling = NULL;

    if (canonical)
        spelling = ff_gpume_system_spelling(canonical);
    av_free(canonical);
    return spelling;
}

/* Inserts a number before the extension of a name if the number is above 1. */
static char *number_name(const char *path, int number)
{
    const char *name = av_basename(path), *dot = strrchr(name, '.');
    const int len = dot && dot != name ? dot - path : strlen(path);

    return number > 1 ? av_asprintf("%.*s-%d%s", len, path, number, path + len) : av_strdup(path);
}

/*
 * Finds the file that an earlier graph completed under a name, if it is unchanged since, and forgets it. Returns its
 * number, or 0.
 */
static int take_completed_file(const char *path, uint64_t requested)
{
    int number = 0;

    for (int i = 0; i < MAX_COMPLETED; i++) {
        CompletedFile *old = &completed_files[i];
        GpumeFileIdentity id;
        char *name;

        if (!old->number || old->requested != requested)
            continue;
        name = number_name(path, old->number);
        if (name && !ff_gpume_system_identify(name, &id) && ff_gpume_system_is_same(&id, &old->id) &&
            id.size == old->id.size && id.time == old->id.time)
            number = old->number;
        av_free(name);
        old->number = 0;
    }
    return number;
}

/* Returns whether a path is another name of an open file, which must not be replaced. */
static int names_open_file(const char *path)
{
    return descriptor_of(path) >= 0 || av_strstart(path, "/dev/fd/", NULL) || av_strstart(path, "/proc/", NULL);
}

int ff_gpume_is_pipe(const char *path)
{
    GpumeFileIdentity id;

    return !ff_gpume_system_identify(path, &id) && id.kind == GPUME_FILE_OTHER;
}

int ff_gpume_is_direct(const char *path)
{
    GpumeFileIdentity id;

    return names_open_file(path) || !ff_gpume_system_identify(path, &id) && id.kind != GPUME_FILE_REGULAR &&
                                    id.kind != GPUME_FILE_FOLDER;
}

static int identify_any(const char *path, GpumeFileIdentity *id)
{
    const int fd = descriptor_of(path);

    return fd >= 0 ? ff_gpume_system_identify_open(fd, id) : ff_gpume_system_identify(path, id);
}

int ff_gpume_is_same_file(const char *a, const char *b)
{
    GpumeFileIdentity id_a, id_b;
    char *spelling_a, *spelling_b;
    int same;

    if (!strcmp(a, b) || ff_gpume_is_stdout(a) && ff_gpume_is_stdout(b))
        return 1;
    if (ff_gpume_is_direct(a) || ff_gpume_is_direct(b))
        return !identify_any(a, &id_a) && !identify_any(b, &id_b) && id_a.kind != GPUME_FILE_CHARACTERS &&
               ff_gpume_system_is_same(&id_a, &id_b);
    spelling_a = spelling_of(a);
    spelling_b = spelling_of(b);
    same       = spelling_a && spelling_b && !strcmp(spelling_a, spelling_b);
    av_free(spelling_a);
    av_free(spelling_b);
    return same;
}

/* Names the file to be written: a file that an earlier graph has completed is not replaced. */
static av_cold int name_target(GpumeFile *file, GpumeClaim *claim)
{
    char *spelling = spelling_of(file->path);
    int number;

    if (!spelling)
        return AVERROR(ENOMEM);
    claim->requested = hash_name(spelling);
    av_free(spelling);
    number = take_completed_file(file->path, claim->requested);
    file->goes_on = number && file->in_one;
    claim->number = file->goes_on ? 1 : number + 1;
    if (claim->number > 1) {
        file->numbered = number_name(file->path, claim->number);
        if (!file->numbered)
            return AVERROR(ENOMEM);
        file->path = file->numbered;
    }
    claim->target   = ff_gpume_system_canonical(file->path);
    claim->spelling = claim->target ? ff_gpume_system_spelling(claim->target) : NULL;
    file->target    = claim->spelling ? av_strdup(claim->target) : NULL;
    return file->target ? 0 : AVERROR(ENOMEM);
}

/* Claims the target unless another filter writes it. Sets file->target and file->claim. */
static av_cold int claim_target(GpumeFile *file)
{
    GpumeClaim *claim = av_mallocz(sizeof(*claim)), *other;
    int ret = AVERROR(ENOMEM);

    if (!claim || !(claim->name = av_strdup(file->path))) {
        av_free(claim);
        return ret;
    }
    ff_mutex_lock(&claims_mutex);
    ret = name_target(file, claim);
    for (other = claims; ret >= 0 && other && strcmp(other->spelling, claim->spelling); other = other->next)
        ;
    if (ret >= 0 && other) {
        file->failed = 1;
        av_log(file->log_ctx, AV_LOG_ERROR, "Could not open %s: another filter writes this file, as %s. "
               "Each filter needs a file of its own.\n", file->path, other->name);
        ret = AVERROR(EBUSY);
    }
    if (ret >= 0) {
        claim->next = claims;
        claims      = file->claim = claim;
    }
    ff_mutex_unlock(&claims_mutex);
    if (ret < 0)
        free_claim(claim);
    return ret;
}

/* Ends a claim, and remembers the file if another graph may continue it. */
static av_cold void release_target(GpumeFile *file, int may_continue)
{
    GpumeClaim *claim = file->claim, **at = &claims;

    if (!claim)
        return;
    ff_mutex_lock(&claims_mutex);
    while (*at != claim)
        at = &(*at)->next;
    *at = claim->next;
    if (may_continue) {
        CompletedFile *completed = &completed_files[nb_completed_files++ % MAX_COMPLETED];

        *completed = (CompletedFile) { claim->requested, claim->number };
        if (ff_gpume_system_identify(claim->target, &completed->id))
            completed->number = 0;
    }
    ff_mutex_unlock(&claims_mutex);
    free_claim(claim);
    file->claim = NULL;
}

/*
 * Returns a number that differs from those of nearly all files of this and other processes.
 * libavutil's generator is not used: if it cannot open a source of random numbers, it reads the
 * cycle counter of Arm processors, which is a privileged instruction on most systems.
 */
static av_cold uint32_t random_number(const GpumeFile *file)
{
    const uint64_t parts[] = { av_gettime(), ff_gpume_system_process(), (uintptr_t)file };
    uint64_t number = 0;

    for (int i = 0; i < FF_ARRAY_ELEMS(parts); i++)
        number = (number ^ parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return number >> 32;
}

/* Creates a new file in the target's folder. Sets part; on error sets errno. */
static av_cold FILE *part_open(GpumeFile *file, unsigned mode)
{
    const char *name = av_basename(file->target);
    /* shortens a long name to make space for the suffix, but not within a character */
    int len = FFMIN(strlen(name), NAME_MAX - strlen(PART_SUFFIX)), tries = 0, is_kept;
    const uint32_t number = random_number(file);
    FILE *f;

    while (len && ((uint8_t)name[len] & 0xc0) == 0x80)
        len--;
    do {
        av_freep(&file->part);
        file->part = av_asprintf("%.*s.%08"PRIx32".gpume-part", (int)(name - file->target) + len, file->target,
                                 number + tries);
        if (!file->part) {
            errno = ENOMEM;
            return NULL;
        }
        f = ff_gpume_system_create(file->part, mode, &is_kept);
    } while (!f && errno == EEXIST && ++tries < 100);

    if (!f) {
        const int err = errno;

        av_freep(&file->part);
        errno = err;
    } else if (!is_kept) {
        av_log(file->log_ctx, AV_LOG_VERBOSE,
               "Could not keep the permissions of %s.\n", file->path);
    }
    return f;
}

/* Opens a pipe or device directly, and a regular file under a temporary name, which it has until it is complete. */
static av_cold int open_named(GpumeFile *file)
{
    const int fd = descriptor_of(file->path);
    GpumeFileIdentity id;
    int exists = !ff_gpume_system_identify(file->path, &id), ret;

    if (fd >= 0) {
        file->f = ff_gpume_system_open_again(fd);
        return 0;
    }
    if (exists && id.kind != GPUME_FILE_REGULAR || names_open_file(file->path)) {
        file->f = avpriv_fopen_utf8(file->path, "wb");
        return 0;
    }
    /* if the name is a link, the link stays, and the file to which it points is replaced */
    ret = claim_target(file);
    if (ret < 0)
        return ret;
    errno  = 0;
    exists = !ff_gpume_system_identify(file->path, &id);
    if (exists && !file->overwrite && !file->goes_on)
        errno = EEXIST;
    /* part_open() shortens the temporary name, so a final name that is too long is rejected here */
    else if (exists ? ff_gpume_system_may_replace(file->path) : errno != ENAMETOOLONG)
        file->f = part_open(file, exists ? id.mode : 0);
    if (file->f && file->numbered)
        av_log(file->log_ctx, AV_LOG_WARNING, "Output continues in %s, because an earlier filter graph completed %s. "
               "A graph is replaced where the picture's size or format changes; -reinit_filter 0 keeps it.\n",
               file->path, file->claim->name);
    return 0;
}

av_cold int ff_gpume_file_open(GpumeFile *file, const char *path, int overwrite, void *log_ctx)
{
    int ret;

    file->path      = path;
    file->overwrite = overwrite;
    file->log_ctx   = log_ctx;
    if (ff_gpume_is_stdout(path)) {
        file->f = stdout;
        ff_gpume_system_no_translation(stdout);
        return 0;
    }
    ret = open_named(file);
    if (ret >= 0 && !file->f)
        ret = ff_gpume_file_error(file, "open");
    return ret;
}

int ff_gpume_file_can_rewind(GpumeFile *file)
{
    return ff_gpume_system_can_rewind(file->f);
}

int ff_gpume_file_flush(GpumeFile *file)
{
    if (ferror(file->f) || fflush(file->f))
        return ff_gpume_file_error(file, "write to");
    return 0;
}

int ff_gpume_file_write(GpumeFile *file, const void *data, size_t size)
{
    if (fwrite(data, 1, size, file->f) != size)
        return ff_gpume_file_error(file, "write to");
    return 0;
}

av_cold int ff_gpume_file_close(GpumeFile *file)
{
    int ret = 0;

    if (!file->f)
        return 0;
    errno = 0;
    if (!file->failed)
        ret = ff_gpume_file_flush(file);
    if (file->f != stdout && fclose(file->f) && !file->failed)
        ret = ff_gpume_file_error(file, "close");
    file->f = NULL;
    return ret;
}

av_cold int ff_gpume_file_complete(GpumeFile *file, int in_midstream)
{
    if (!file->part)
        return 0;
    errno = 0;
    if (ff_gpume_system_rename(file->part, file->target, file->overwrite || file->goes_on)) {
        const int err = AVERROR(errno ? errno : EIO);

        file->failed = 1;
        av_log(file->log_ctx, AV_LOG_ERROR, "Could not complete %s: %s. The complete output is in %s; rename it.\n",
               file->path, av_err2str(err), file->part);
        av_freep(&file->part);
        return err;
    }
    av_freep(&file->part);
    release_target(file, in_midstream);
    return 0;
}

av_cold void ff_gpume_file_keep_part(GpumeFile *file)
{
    if (file->part)
        av_log(file->log_ctx, AV_LOG_WARNING, "%s was not given its final name: the complete output is in %s; rename "
               "it.\n", file->path, file->part);
    av_freep(&file->part);
}

av_cold void ff_gpume_file_uninit(GpumeFile *file)
{
    if (file->part)
        ff_gpume_system_remove(file->part);
    release_target(file, 0);
    av_freep(&file->part);
    av_freep(&file->target);
    av_freep(&file->numbered);
}

