/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "config.h"

/* Systems on which files can be identified, linked and renamed over others. */
#ifndef GPUME_POSIX_FILES
#if HAVE_UNISTD_H && !defined(_WIN32)
#define GPUME_POSIX_FILES 1
#else
#define GPUME_POSIX_FILES 0
#endif
#endif

#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <string.h>
#if GPUME_POSIX_FILES
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "libavutil/attributes.h"
#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/file_open.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"
#include "libavutil/random_seed.h"
#include "libavutil/thread.h"

#include "libavfilter/gpume/output/file.h"

/** Longest name of a file in a folder, if the system does not define it. */
#ifndef NAME_MAX
#define NAME_MAX 255
#endif
/** Suffix of a file's name until it is complete; X is a hexadecimal digit. */
#define PART_SUFFIX ".XXXXXXXX.gpume-part"

/* The open file that a name stands for, or -1. */
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

#if GPUME_POSIX_FILES
/** A regular file that this process writes. */
typedef struct GpumeClaim {
    struct GpumeClaim *next;
    char *name;             ///< as the user gave it
    char *target;           ///< canonical name of the file that is written
    uint64_t asked;         ///< hash of the canonical name that was asked for: the same, or without a number
    int number;             ///< of the file, from 1 on
} GpumeClaim;

/** A file that was left in mid-stream, as it was then. */
typedef struct LeftFile {
    uint64_t asked;
    int number;             ///< 0: there is none
    struct stat st;
} LeftFile;

/** Of more files than that, the oldest are forgotten: nothing is kept for them for the life of a process. */
#define MAX_LEFT 64

static AVMutex claims_mutex = AV_MUTEX_INITIALIZER;
static GpumeClaim *claims;
static LeftFile left_files[MAX_LEFT];
static unsigned nb_left_files;

static void free_claim(GpumeClaim *c)
{
    av_free(c->name);
    av_free(c->target);
    av_free(c);
}

/* FNV-1a */
static uint64_t hash_name(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    while (*name)
        hash = (hash ^ (uint8_t)*name++) * UINT64_C(0x100000001b3);
    return hash;
}

/* A path without links, of a file that need not exist. The path itself if its folder does not; NULL: no memory. */
static char *canonical(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? av_strndup(path, slash + 1 - path) : av_strdup("."), *real, *result;

    if (!folder)
        return NULL;
    if ((real = realpath(path, NULL)))
        result = av_strdup(real);
    else if (*name && (real = realpath(folder, NULL)))
        result = av_asprintf("%s/%s", strcmp(real, "/") ? real : "", name);
    else
        result = av_strdup(path);
    free(real);
    av_free(folder);
    return result;
}

/* A name with a number in front of its ending, if there is more than one. */
static char *number_name(const char *path, int number)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    const int len = dot && dot != name ? dot - path : strlen(path);

    return number > 1 ? av_asprintf("%.*s-%d%s", len, path, number, path + len) : av_strdup(path);
}

/* Finds the file that was left under a name and is unchanged, and forgets it. Returns its number, or 0. */
static int take_left_file(const char *path, uint64_t asked)
{
    int number = 0;

    for (int i = 0; i < MAX_LEFT; i++) {
        LeftFile *old = &left_files[i];
        struct stat st;
        char *name;

        if (!old->number || old->asked != asked)
            continue;
        name = number_name(path, old->number);
        if (name && !stat(name, &st) && st.st_dev == old->st.st_dev && st.st_ino == old->st.st_ino &&
            st.st_size == old->st.st_size && st.st_mtime == old->st.st_mtime)
            number = old->number;
        av_free(name);
        old->number = 0;
    }
    return number;
}

/* Whether a path is another name of an open file, which must not be replaced. */
static int is_open_already(const char *path)
{
    return descriptor_of(path) >= 0 || av_strstart(path, "/dev/fd/", NULL) || av_strstart(path, "/proc/", NULL);
}

int ff_gpume_is_direct(const char *path)
{
    struct stat st;

    return is_open_already(path) || !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int stat_any(const char *path, struct stat *st)
{
    const int fd = descriptor_of(path);

    return fd >= 0 ? fstat(fd, st) : stat(path, st);
}

int ff_gpume_is_same_file(const char *a, const char *b)
{
    struct stat st_a, st_b;
    char *real_a, *real_b;
    int same;

    if (!strcmp(a, b) || ff_gpume_is_stdout(a) && ff_gpume_is_stdout(b))
        return 1;
    if (ff_gpume_is_direct(a) || ff_gpume_is_direct(b))
        return !stat_any(a, &st_a) && !stat_any(b, &st_b) && !S_ISCHR(st_a.st_mode) &&
               st_a.st_dev == st_b.st_dev && st_a.st_ino == st_b.st_ino;
    real_a = canonical(a);
    real_b = canonical(b);
    same   = real_a && real_b && !strcmp(real_a, real_b);
    av_free(real_a);
    av_free(real_b);
    return same;
}

/* Names the file that is to be written: one that was left in mid-stream is not replaced. */
static av_cold int name_target(GpumeFile *file, GpumeClaim *claim)
{
    char *asked = canonical(file->path);
    int left;

    if (!asked)
        return AVERROR(ENOMEM);
    claim->asked = hash_name(asked);
    av_free(asked);
    left = take_left_file(file->path, claim->asked);
    claim->number = left + 1;
    if (left) {
        file->numbered = number_name(file->path, claim->number);
        if (!file->numbered)
            return AVERROR(ENOMEM);
        file->path = file->numbered;
    }
    claim->target = canonical(file->path);
    file->target  = claim->target ? av_strdup(claim->target) : NULL;
    return file->target ? 0 : AVERROR(ENOMEM);
}

/* Lists a file, if no other filter writes it. Sets file->target and file->claim. */
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
    for (other = claims; ret >= 0 && other && strcmp(other->target, claim->target); other = other->next)
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

/* Ends a claim, and notes the file if it is left in mid-stream. */
static av_cold void release_target(GpumeFile *file, int leave)
{
    GpumeClaim *claim = file->claim, **at = &claims;

    if (!claim)
        return;
    ff_mutex_lock(&claims_mutex);
    while (*at != claim)
        at = &(*at)->next;
    *at = claim->next;
    if (leave) {
        LeftFile *left = &left_files[nb_left_files++ % MAX_LEFT];

        *left = (LeftFile) { claim->asked, claim->number };
        if (stat(claim->target, &left->st))
            left->number = 0;
    }
    ff_mutex_unlock(&claims_mutex);
    free_claim(claim);
    file->claim = NULL;
}

/* Open a new file beside the target. Sets part, or errno if it fails. */
static av_cold FILE *part_open(GpumeFile *file, mode_t mode)
{
    const char *slash = strrchr(file->target, '/');
    const int folder = slash ? slash + 1 - file->target : 0;
    /* a long name is cut, so that it is valid with the suffix */
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
               "Could not keep the permissions of %s.\n", file->path);
    }
    return f;
}

/* Opens an open file once more, where it stands, and also if it cannot be opened by a name. */
static av_cold FILE *open_again(int fd)
{
    FILE *f;

    fd = dup(fd);
    f  = fd < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) ? NULL : fdopen(fd, "wb");
    if (!f && fd >= 0) {
        const int err = errno;

        close(fd);
        errno = err;
    }
    return f;
}

/* A regular file has a temporary name until it is complete; pipes and devices are opened directly. */
static av_cold int open_named(GpumeFile *file)
{
    const int fd = descriptor_of(file->path);
    struct stat st;
    int exists = !stat(file->path, &st), ret;

    if (fd >= 0) {
        file->f = open_again(fd);
        return 0;
    }
    if (exists && !S_ISREG(st.st_mode) || is_open_already(file->path)) {
        file->f = avpriv_fopen_utf8(file->path, "wb");
        return 0;
    }
    /* a link is kept, and the file it points to is replaced */
    ret = claim_target(file);
    if (ret < 0)
        return ret;
    exists = !stat(file->path, &st);
    if (exists && !file->overwrite)
        errno = EEXIST;
    else if (!exists || !access(file->path, W_OK))
        file->f = part_open(file, exists ? st.st_mode & 0777 : 0);
    if (file->f && file->numbered)
        av_log(file->log_ctx, AV_LOG_WARNING, "%s goes on in %s: the filter graph was set up anew, without the frames "
               "that it still held. -reinit_filter 0 keeps graph and file.\n", file->claim->name, file->path);
    return 0;
}

/* Give a complete file its name. */
static av_cold int rename_part(const GpumeFile *file)
{
    int err;

    if (file->overwrite)
        return rename(file->part, file->target);
    /* unlike rename() this does not replace a file created since */
    err = link(file->part, file->target);
    if (!err)
        unlink(file->part);
    else if (errno != EEXIST && access(file->target, F_OK))
        err = rename(file->part, file->target); /* not every file system has links */
    return err;
}

static av_cold void remove_part(const GpumeFile *file)
{
    unlink(file->part);
}
#else
int ff_gpume_is_direct(const char *path)
{
    return ff_gpume_is_stdout(path);
}

int ff_gpume_is_same_file(const char *a, const char *b)
{
    return !strcmp(a, b) || ff_gpume_is_stdout(a) && ff_gpume_is_stdout(b);
}

static av_cold void release_target(GpumeFile *file, int leave)
{
}

/* Every file is written directly. */
static av_cold int open_named(GpumeFile *file)
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

static av_cold int rename_part(const GpumeFile *file)
{
    return 0;
}

static av_cold void remove_part(const GpumeFile *file)
{
}
#endif

av_cold int ff_gpume_file_open(GpumeFile *file, const char *path, int overwrite, void *log_ctx)
{
    int ret;

    file->path      = path;
    file->overwrite = overwrite;
    file->log_ctx   = log_ctx;
    if (ff_gpume_is_stdout(path)) {
        file->f = stdout;
        return 0;
    }
    ret = open_named(file);
    if (ret >= 0 && !file->f)
        ret = ff_gpume_file_error(file, "open");
    return ret;
}

int ff_gpume_file_can_rewind(GpumeFile *file)
{
#if GPUME_POSIX_FILES
    /* what is appended goes to the end, wherever one seeks to */
    if (fcntl(fileno(file->f), F_GETFL) & O_APPEND)
        return 0;
#endif
    return !fseek(file->f, 0, SEEK_CUR);
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
    if (rename_part(file))
        return ff_gpume_file_error(file, "complete");
    av_freep(&file->part);
    release_target(file, in_midstream);
    return 0;
}

av_cold void ff_gpume_file_uninit(GpumeFile *file)
{
    if (file->part)
        remove_part(file);
    release_target(file, 0);
    av_freep(&file->part);
    av_freep(&file->target);
    av_freep(&file->numbered);
}

