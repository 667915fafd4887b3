/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What file.c asks of the system. Names are in UTF-8 on Windows. Functions return 0, or -1 with errno
 * set, if nothing else is said.
 */

#ifndef AVFILTER_GPUME_OUTPUT_SYSTEM_H
#define AVFILTER_GPUME_OUTPUT_SYSTEM_H

#include <stdint.h>
#include <stdio.h>

enum GpumeFileKind {
    GPUME_FILE_REGULAR,
    GPUME_FILE_FOLDER,
    GPUME_FILE_CHARACTERS,  ///< a device, of which many may have one identity
    GPUME_FILE_OTHER,       ///< a pipe, for example
};

/** A file that exists, as it is now. */
typedef struct GpumeFileIdentity {
    uint64_t device, number;    ///< which it is; on Windows of regular files and folders only
    int64_t size, time;         ///< when it was changed
    enum GpumeFileKind kind;
    unsigned mode;              ///< its permissions; 0: there are none to keep
} GpumeFileIdentity;

int ff_gpume_system_identify(const char *path, GpumeFileIdentity *id);

/** The same of an open file, by its descriptor. */
int ff_gpume_system_identify_open(int fd, GpumeFileIdentity *id);

/** Returns whether two are one file. */
int ff_gpume_system_is_same(const GpumeFileIdentity *a, const GpumeFileIdentity *b);

/** Returns the path without links of a file that need not exist; itself if its folder does not; NULL: no memory. */
char *ff_gpume_system_canonical(const char *path);

/** Returns what is equal for all spellings of a canonical path. NULL: no memory. */
char *ff_gpume_system_spelling(const char *canonical);

/** Returns whether a file that exists may be replaced; else errno is set. */
int ff_gpume_system_may_replace(const char *path);

/**
 * Creates a file that does not exist; it is an error, EEXIST, if it does, even if since a moment ago.
 * @param mode the permissions that it gets, as far as possible; 0: the usual ones
 * @param is_kept set to 0 if it could not get them
 */
FILE *ff_gpume_system_create(const char *path, unsigned mode, int *is_kept);

/** Opens an open file once more, where it stands, and also if it cannot be opened by a name. NULL: errno is set. */
FILE *ff_gpume_system_open_again(int fd);

/** Gives a file another name. 0 for replace: it is an error, EEXIST, if that exists, even if since a moment ago. */
int ff_gpume_system_rename(const char *from, const char *to, int replace);

int ff_gpume_system_remove(const char *path);

/** Returns the number of this process, which no other one has now. */
uint32_t ff_gpume_system_process(void);

/** Makes what is written to a file that others have opened go there as it is, without other line ends. */
void ff_gpume_system_no_translation(FILE *f);

/** Returns whether what has been written can be written again. */
int ff_gpume_system_can_rewind(FILE *f);

/** Like fseek() and ftell(), beyond 2 GiB, too. */
int ff_gpume_system_seek(FILE *f, int64_t pos, int whence);
int64_t ff_gpume_system_tell(FILE *f);

#endif /* AVFILTER_GPUME_OUTPUT_SYSTEM_H */
