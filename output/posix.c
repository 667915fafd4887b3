/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/** @file The functions of output/system.h for POSIX. */

#ifndef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libavutil/attributes.h"
#include "libavutil/avstring.h"
#include "libavutil/file_open.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/output/system.h"

static int identify(const struct stat *st, int ret, GpumeFileIdentity *id)
{
    if (ret)
        return ret;
    *id = (GpumeFileIdentity) {
        .device = st->st_dev, .number = st->st_ino, .size = st->st_size, .time = st->st_mtime,
        .kind   = S_ISREG(st->st_mode) ? GPUME_FILE_REGULAR    : S_ISDIR(st->st_mode) ? GPUME_FILE_FOLDER :
                  S_ISCHR(st->st_mode) ? GPUME_FILE_CHARACTERS : GPUME_FILE_OTHER,
        .mode   = st->st_mode & 0777,
    };
    return 0;
}

int ff_gpume_system_identify(const char *path, GpumeFileIdentity *id)
{
    struct stat st;

    return identify(&st, stat(path, &st), id);
}

int ff_gpume_system_identify_open(int fd, GpumeFileIdentity *id)
{
    struct stat st;

    return identify(&st, fstat(fd, &st), id);
}

int ff_gpume_system_is_same(const GpumeFileIdentity *a, const GpumeFileIdentity *b)
{
    return a->device == b->device && a->number == b->number;
}

char *ff_gpume_system_canonical(const char *path)
{
    const char *name = *path ? av_basename(path) : path;
    char *folder = name > path ? av_strndup(path, name - path) : av_strdup("."), *real, *result;

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

char *ff_gpume_system_spelling(const char *canonical)
{
    return av_strdup(canonical);
}

int ff_gpume_system_may_replace(const char *path)
{
    return !access(path, W_OK);
}

av_cold FILE *ff_gpume_system_create(const char *path, unsigned mode, int *is_kept)
{
    const int fd = avpriv_open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "wb");

    *is_kept = 1;
    if (!f) {
        const int err = errno;

        if (fd >= 0) {
            close(fd);
            unlink(path);
        }
        errno = err;
    } else if (mode && fchmod(fd, mode)) {
        *is_kept = 0;
    }
    return f;
}

av_cold FILE *ff_gpume_system_open_again(int fd)
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

av_cold int ff_gpume_system_rename(const char *from, const char *to, int replace)
{
    int err;

    if (replace)
        return rename(from, to);
    /* unlike rename(), link() does not replace a file that was created in the meantime */
    err = link(from, to);
    if (!err)
        unlink(from);
    else if (errno != EEXIST && access(to, F_OK))
        err = rename(from, to); /* some file systems have no links */
    return err;
}

av_cold int ff_gpume_system_remove(const char *path)
{
    return unlink(path);
}

av_cold uint32_t ff_gpume_system_process(void)
{
    return getpid();
}

void ff_gpume_system_no_translation(FILE *f)
{
}

int ff_gpume_system_can_rewind(FILE *f)
{
    /* with O_APPEND, data goes to the end of the file, wherever the position is */
    return !(fcntl(fileno(f), F_GETFL) & O_APPEND) && !fseek(f, 0, SEEK_CUR);
}

int ff_gpume_system_seek(FILE *f, int64_t pos, int whence)
{
    return fseeko(f, pos, whence);
}

int64_t ff_gpume_system_tell(FILE *f)
{
    return ftello(f);
}
#endif /* _WIN32 */
