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
#include "libavutil/log.h"
#include "libavutil/mem.h"
#include "libavutil/random_seed.h"

#include "libavfilter/gpume/output/file.h"

/** Longest name of a file in a folder, if the system does not define it. */
#ifndef NAME_MAX
#define NAME_MAX 255
#endif
/** Suffix of a file's name until it is complete; X is a hexadecimal digit. */
#define PART_SUFFIX ".XXXXXXXX.gpume-part"

int ff_gpume_is_stdout(const char *path)
{
    return !strcmp(path, "-");
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
/* Whether a path is another name of an open file, which must not be replaced. */
static int is_open_already(const char *path)
{
    return !strcmp(path, "/dev/stdout") || !strcmp(path, "/dev/stderr") ||
           av_strstart(path, "/dev/fd/", NULL) || av_strstart(path, "/proc/", NULL);
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

/* A regular file has a temporary name until it is complete; pipes and devices are opened directly. */
static av_cold int open_named(GpumeFile *file)
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
        /* a link is kept, and the file it points to is replaced */
        char *real = exists ? realpath(path, NULL) : NULL;

        file->target = av_strdup(real ? real : path);
        free(real);
        if (!file->target)
            return AVERROR(ENOMEM);
        file->f = part_open(file, exists ? st.st_mode & 0777 : 0);
    }
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

av_cold int ff_gpume_file_complete(GpumeFile *file)
{
    if (!file->part)
        return 0;
    errno = 0;
    if (rename_part(file))
        return ff_gpume_file_error(file, "complete");
    av_freep(&file->part);
    return 0;
}

av_cold void ff_gpume_file_uninit(GpumeFile *file)
{
    if (file->part)
        remove_part(file);
    av_freep(&file->part);
    av_freep(&file->target);
}

