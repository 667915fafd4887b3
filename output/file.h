/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Writes files that are either complete or absent.
 *
 * A regular file is written under a temporary name in its folder, NAME.XXXXXXXX.gpume-part (X:
 * hexadecimal digits), which no other file has. ff_gpume_file_complete() renames the file to its
 * final name. Standard output, pipes, devices and files that are already open (/dev/fd/N) are
 * written directly. Functions return 0, or an AVERROR code after a message that names the file.
 *
 * The process keeps a list of the regular files that it writes, so that two of its filters cannot
 * write the same file under two names. ffmpeg replaces a filter graph in mid-stream when the picture's size changes;
 * the new graph does not replace the file of the old graph, but writes NAME-2.csv, then NAME-3.csv
 * and so on, or takes the content of the old file over (in_one).
 */

#ifndef AVFILTER_GPUME_OUTPUT_FILE_H
#define AVFILTER_GPUME_OUTPUT_FILE_H

#include <stddef.h>
#include <stdio.h>

struct GpumeClaim;

/** Must be zeroed before it is opened. */
typedef struct GpumeFile {
    const char *path;       ///< name as the user gave it, or with a number
    char *numbered;         ///< the name with a number; NULL: path is the user's name
    struct GpumeClaim *claim;   ///< entry in the list; NULL: the file is written directly
    char *target;           ///< what part is renamed to; NULL: path is written directly
    char *part;             ///< name of the incomplete file
    FILE *f;
    int overwrite;          ///< whether target may exist
    int in_one;             ///< whether one file is written instead of several with numbers; set before it is opened
    int goes_on;            ///< whether an earlier graph has completed that one file, which this one replaces
    int failed;             ///< whether an error has been reported; later errors are not reported
    void *log_ctx;
} GpumeFile;

/** Returns whether a file name has this extension, in upper or lower case, and something before it. */
int ff_gpume_has_ending(const char *path, const char *ending);

/** Returns whether a name stands for standard output: "-", /dev/stdout or a similar name. */
int ff_gpume_is_stdout(const char *path);

/** Returns whether a file is written directly: standard output, a file already open, a pipe or a device. */
int ff_gpume_is_direct(const char *path);

/** Returns whether a file is a pipe or a socket. To open a pipe, a program may have to wait for its reader. */
int ff_gpume_is_pipe(const char *path);

/** Returns whether two names stand for the same file. The file need not exist; devices are never the same. */
int ff_gpume_is_same_file(const char *a, const char *b);

/**
 * Creates the file.
 * @param path      must remain valid until the file is closed
 * @param overwrite 0: fails with AVERROR(EEXIST) if a regular file exists
 */
int ff_gpume_file_open(GpumeFile *file, const char *path, int overwrite, void *log_ctx);

/**
 * Reports the error in errno, or EIO if errno is 0.
 * @param what "Could not <what> NAME"
 */
int ff_gpume_file_error(GpumeFile *file, const char *what);

int ff_gpume_file_write(GpumeFile *file, const void *data, size_t size);

/** Returns whether the position can be set back to overwrite data that has been written. */
int ff_gpume_file_can_rewind(GpumeFile *file);

/** Passes buffered data to the system. */
int ff_gpume_file_flush(GpumeFile *file);

/**
 * Writes the remaining data and closes the file; only complete and uninit may follow. Does nothing
 * if no file is open.
 */
int ff_gpume_file_close(GpumeFile *file);

/**
 * Renames a closed file to its final name. If that fails, the file keeps its temporary name, which
 * the error message contains.
 * @param in_midstream whether the stream may continue in another file
 */
int ff_gpume_file_complete(GpumeFile *file, int in_midstream);

/** Keeps the temporary name of a closed and complete file, with a warning that names it. */
void ff_gpume_file_keep_part(GpumeFile *file);

/** Removes an incomplete file, and frees the names. */
void ff_gpume_file_uninit(GpumeFile *file);

#endif /* AVFILTER_GPUME_OUTPUT_FILE_H */
