/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/** @file The functions of output/system.h for Windows. */

#ifdef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>
#include <windows.h>

#include "libavutil/attributes.h"
#include "libavutil/avstring.h"
#include "libavutil/file_open.h"
#include "libavutil/mem.h"
#include "libavutil/wchar_filename.h"

#include "libavfilter/gpume/output/system.h"

/** Longest pause before a rename is tried again, in milliseconds. Each pause is twice as long as the one before. */
#define MAX_WAIT 256

/* Sets errno from the error of the last system call. Returns -1. */
static int set_errno(void)
{
    switch (GetLastError()) {
    case ERROR_FILE_EXISTS:
    case ERROR_ALREADY_EXISTS:    errno = EEXIST; break;
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
    case ERROR_INVALID_NAME:      errno = ENOENT; break;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
    case ERROR_LOCK_VIOLATION:
    case ERROR_WRITE_PROTECT:     errno = EACCES; break;
    case ERROR_HANDLE_DISK_FULL:
    case ERROR_DISK_FULL:         errno = ENOSPC; break;
    case ERROR_NOT_ENOUGH_MEMORY: errno = ENOMEM; break;
    case ERROR_INVALID_HANDLE:    errno = EBADF;  break;
    case ERROR_FILENAME_EXCED_RANGE: errno = ENAMETOOLONG; break;
    default:                      errno = EIO;
    }
    return -1;
}

/*
 * Returns whether a full path is a device or a pipe, such as NUL or COM1: Windows expands their names
 * to \\.\NAME. A pipe must not be opened for inspection.
 */
static int is_device(const wchar_t *full)
{
    return path_is_device_path(full);
}

static int identify(HANDLE h, GpumeFileIdentity *id)
{
    BY_HANDLE_FILE_INFORMATION info;

    *id = (GpumeFileIdentity) { .kind = GPUME_FILE_OTHER };
    switch (GetFileType(h)) {
    case FILE_TYPE_CHAR: id->kind = GPUME_FILE_CHARACTERS; return 0;
    case FILE_TYPE_PIPE: return 0;
    }
    if (!GetFileInformationByHandle(h, &info))
        return set_errno();
    id->device = info.dwVolumeSerialNumber;
    id->number = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow;
    id->size   = (int64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow;
    id->time   = (int64_t)info.ftLastWriteTime.dwHighDateTime << 32 | info.ftLastWriteTime.dwLowDateTime;
    id->kind   = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? GPUME_FILE_FOLDER : GPUME_FILE_REGULAR;
    return 0;
}

/* Opens an existing file or folder for inspection only. */
static HANDLE open_to_inspect(const wchar_t *full)
{
    return CreateFileW(full, FILE_READ_ATTRIBUTES, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                       OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
}

int ff_gpume_system_identify(const char *path, GpumeFileIdentity *id)
{
    wchar_t *full;
    HANDLE h;
    int ret = 0;

    if (get_extended_win32_path(path, &full))
        return -1;
    if (is_device(full)) {
        *id = (GpumeFileIdentity) { .kind = GPUME_FILE_CHARACTERS };
    } else if ((h = open_to_inspect(full)) == INVALID_HANDLE_VALUE) {
        ret = set_errno();
    } else {
        ret = identify(h, id);
        CloseHandle(h);
    }
    av_free(full);
    return ret;
}

int ff_gpume_system_identify_open(int fd, GpumeFileIdentity *id)
{
    const HANDLE h = (HANDLE)_get_osfhandle(fd);

    return h == INVALID_HANDLE_VALUE ? -1 : identify(h, id);
}

int ff_gpume_system_is_same(const GpumeFileIdentity *a, const GpumeFileIdentity *b)
{
    return a->kind <= GPUME_FILE_FOLDER && a->kind == b->kind && a->device == b->device && a->number == b->number;
}

/*
 * Gets the name of an existing file without links, as the system spells it. Sets *result to NULL if
 * there is no file.
 */
static int real_path(const wchar_t *full, char **result)
{
    HANDLE h = open_to_inspect(full);
    wchar_t *real = NULL;
    DWORD size;
    int ret = 0;

    *result = NULL;
    if (h == INVALID_HANDLE_VALUE)
        return 0;
    size = GetFinalPathNameByHandleW(h, NULL, 0, 0);
    if (size) {
        real = av_calloc(size + 1, sizeof(*real));
        if (!real)
            ret = -1;
        else if (GetFinalPathNameByHandleW(h, real, size + 1, 0))
            ret = wchartoutf8(real, result);
    }
    CloseHandle(h);
    av_free(real);
    return ret;
}

char *ff_gpume_system_canonical(const char *path)
{
    wchar_t *full, *slash;
    char *result = NULL, *folder = NULL, *name = NULL;

    if (get_extended_win32_path(path, &full))
        return errno == EINVAL ? av_strdup(path) : NULL;
    if (is_device(full)) {
        if (wchartoutf8(full, &result) < 0)
            result = NULL;
    } else if (!real_path(full, &result) && !result) {
        /* the file does not exist yet: only its folder is resolved */
        slash = wcsrchr(full, L'\\');
        if (slash && !wchartoutf8(slash + 1, &name)) {
            slash[1] = 0;
            if (!real_path(full, &folder))
                result = folder ? av_asprintf("%s%s%s", folder, folder[strlen(folder) - 1] == '\\' ? "" : "\\", name) :
                                  av_strdup(path);
        }
    }
    av_free(folder);
    av_free(name);
    av_free(full);
    return result;
}

/* Converts to upper case, because names in Windows' usual file systems are case-insensitive. */
char *ff_gpume_system_spelling(const char *canonical)
{
    wchar_t *w;
    char *result = NULL;

    if (utf8towchar(canonical, &w))
        return errno == EINVAL ? av_strdup(canonical) : NULL;
    for (wchar_t *p = w; *p; p++)
        *p = *p == L'/' ? L'\\' : (wchar_t)(uintptr_t)CharUpperW((wchar_t *)(uintptr_t)*p);
    if (wchartoutf8(w, &result))
        result = NULL;
    av_free(w);
    return result;
}

int ff_gpume_system_may_replace(const char *path)
{
    wchar_t *full;
    DWORD attributes;

    if (get_extended_win32_path(path, &full))
        return 0;
    attributes = GetFileAttributesW(full);
    av_free(full);
    if (attributes == INVALID_FILE_ATTRIBUTES)
        set_errno();
    else if (attributes & (FILE_ATTRIBUTE_READONLY | FILE_ATTRIBUTE_DIRECTORY))
        errno = EACCES;
    else
        return 1;
    return 0;
}

av_cold FILE *ff_gpume_system_create(const char *path, unsigned mode, int *is_kept)
{
    const int fd = avpriv_open(path, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY, _S_IREAD | _S_IWRITE);
    FILE *f = fd < 0 ? NULL : _fdopen(fd, "wb");

    *is_kept = 1;       // the folder's permissions are inherited
    if (!f && fd >= 0) {
        const int err = errno;

        _close(fd);
        ff_gpume_system_remove(path);
        errno = err;
    }
    return f;
}

av_cold FILE *ff_gpume_system_open_again(int fd)
{
    FILE *f;

    fd = _dup(fd);
    f  = fd < 0 || _setmode(fd, _O_BINARY) < 0 ? NULL : _fdopen(fd, "wb");
    if (!f && fd >= 0) {
        const int err = errno;

        _close(fd);
        errno = err;
    }
    return f;
}

av_cold int ff_gpume_system_rename(const char *from, const char *to, int replace)
{
    wchar_t *from_w, *to_w;
    int ret, wait = 1;

    if (get_extended_win32_path(from, &from_w))
        return -1;
    ret = get_extended_win32_path(to, &to_w);
    if (!ret) {
        /* MOVEFILE_WRITE_THROUGH is not needed, because the contents of the file are not written through
         * either, and a file is never copied within a folder */
        while (!MoveFileExW(from_w, to_w, replace ? MOVEFILE_REPLACE_EXISTING : 0)) {
            const DWORD err = GetLastError();

            /* another process that replaces the file, or a virus scanner, may have it open for a moment */
            if (!replace || wait > MAX_WAIT || err != ERROR_ACCESS_DENIED && err != ERROR_SHARING_VIOLATION) {
                SetLastError(err);
                ret = set_errno();
                break;
            }
            Sleep(wait);
            wait *= 2;
        }
        av_free(to_w);
    }
    av_free(from_w);
    return ret;
}

av_cold int ff_gpume_system_remove(const char *path)
{
    wchar_t *full;
    int ret;

    if (get_extended_win32_path(path, &full))
        return -1;
    ret = DeleteFileW(full) ? 0 : set_errno();
    av_free(full);
    return ret;
}

av_cold uint32_t ff_gpume_system_process(void)
{
    return GetCurrentProcessId();
}

void ff_gpume_system_no_translation(FILE *f)
{
    fflush(f);
    _setmode(_fileno(f), _O_BINARY);
}

int ff_gpume_system_can_rewind(FILE *f)
{
    /* the C library claims that pipes can be rewound, too */
    return GetFileType((HANDLE)_get_osfhandle(_fileno(f))) == FILE_TYPE_DISK && !_fseeki64(f, 0, SEEK_CUR);
}

int ff_gpume_system_seek(FILE *f, int64_t pos, int whence)
{
    return _fseeki64(f, pos, whence);
}

int64_t ff_gpume_system_tell(FILE *f)
{
    return _ftelli64(f);
}
#endif /* _WIN32 */
