/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * System-dependent operations of output/file.c. Names are in UTF-8 on Windows. Functions return 0, or -1
 * with errno set, unless stated otherwise.
 */

#ifndef AVFILTER_GPUME_OUTPUT_SYSTEM_H
#define AVFILTER_GPUME_OUTPUT_SYSTEM_H

#include <stdint.h>
#include <stdio.h>

enum GpumeFileKind {
    GPUME_FILE_REGULAR,
    GPUME_FILE_FOLDER,
    GPUME_FILE_CHARACTERS,  ///< a character device; several may have the same identity
    GPUME_FILE_OTHER,       ///< any other file, such as a pipe
};

/** Identity and properties of an existing file. */
typedef struct GpumeFileIdentity {
    uint64_t device, number;    ///< identify the file; on Windows only set for regular files and folders
    int64_t size, time;         ///< size, and time of the last modification
    enum GpumeFileKind kind;
    unsigned mode;              ///< permissions; 0: there are none to keep
} GpumeFileIdentity;

int ff_gpume_system_identify(const char *path, GpumeFileIdentity *id);

/** Identifies an open file by its descriptor. */
int ff_gpume_system_identify_open(int fd, GpumeFileIdentity *id);

/** Returns whether two identities are those of one file. */
int ff_gpume_system_is_same(const GpumeFileIdentity *a, const GpumeFileIdentity *b);

/**
 * Returns a path without links. The file need not exist; if its folder does not exist, returns
 * path. NULL: out of memory.
 */
char *ff_gpume_system_canonical(const char *path);

/** Returns a text that is the same for all spellings of a canonical path. NULL: out of memory. */
char *ff_gpume_system_spelling(const char *canonical);

/** Returns whether an existing file may be replaced; if not, errno is set. */
int ff_gpume_system_may_replace(const char *path);

/**
 * Creates a file. Fails with EEXIST if the file exists, even if it was created a moment ago.
 * @param mode    permissions of the file, as far as the system can set them; 0: the default
 *                permissions
 * @param is_kept set to 0 if the permissions could not be set
 */
FILE *ff_gpume_system_create(const char *path, unsigned mode, int *is_kept);

/** Opens an open file once more at its current position, even if no name can open it. NULL: errno is set. */
FILE *ff_gpume_system_open_again(int fd);

/** Renames a file. If replace is 0, fails with EEXIST if the new name exists, even if it was created a moment ago. */
int ff_gpume_system_rename(const char *from, const char *to, int replace);

int ff_gpume_system_remove(const char *path);

/** Returns the ID of this process. */
uint32_t ff_gpume_system_process(void);

/** Disables the translation of line ends in a file that others have opened. */
void ff_gpume_system_no_translation(FILE *f);

/** Returns whether data that has been written can be overwritten. */
int ff_gpume_system_can_rewind(FILE *f);

/** Sets or reads a position as fseek() and ftell() do, also beyond 2 GiB. */
int ff_gpume_system_seek(FILE *f, int64_t pos, int whence);
int64_t ff_gpume_system_tell(FILE *f);

#endif /* AVFILTER_GPUME_OUTPUT_SYSTEM_H */
