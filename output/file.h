/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A file that is complete or absent.
 *
 * A regular file is written under a temporary name in its folder,
 * NAME.XXXXXXXX.gpume-part (X: hexadecimal digits), which no other file has, until
 * ff_gpume_file_complete() gives it its own. Standard output, pipes, devices and files that
 * are open already (/dev/fd/N) are written directly. Functions return 0, or an AVERROR code
 * after a message that names the file.
 *
 * The regular files of a process are listed. So two of its filters cannot write the same file under
 * two names. And a graph that takes the place of one that was closed in mid-stream, as ffmpeg makes
 * it where the picture's size changes, does not replace that one's file: it writes NAME-2.csv, then
 * NAME-3.csv and so on.
 */

#ifndef AVFILTER_GPUME_OUTPUT_FILE_H
#define AVFILTER_GPUME_OUTPUT_FILE_H

#include <stddef.h>
#include <stdio.h>

struct GpumeClaim;

/** All zero before it is opened. */
typedef struct GpumeFile {
    const char *path;       ///< as the user gave it, or numbered
    char *numbered;         ///< NULL: the path is the user's
    struct GpumeClaim *claim;   ///< its entry in the list; NULL: it is written directly
    char *target;           ///< what part is renamed to; NULL: path is written directly
    char *part;             ///< the file that is written until it is complete
    FILE *f;
    int overwrite;          ///< target may exist
    int failed;             ///< an error has been reported; later ones are not
    void *log_ctx;
} GpumeFile;

/** Returns whether a name stands for standard output: "-", /dev/stdout and its like. */
int ff_gpume_is_stdout(const char *path);

/** Returns whether it is written directly: it is standard output, open already, a pipe or a device. */
int ff_gpume_is_direct(const char *path);

/** Returns whether two names stand for one file, which must not be a device. It need not exist. */
int ff_gpume_is_same_file(const char *a, const char *b);

/**
 * Create the file.
 * @param path      must remain valid until the file is closed
 * @param overwrite 0: a regular file that exists is an error, AVERROR(EEXIST)
 */
int ff_gpume_file_open(GpumeFile *file, const char *path, int overwrite, void *log_ctx);

/** Report the error in errno, EIO if there is none. @param what "Could not <what> NAME" */
int ff_gpume_file_error(GpumeFile *file, const char *what);

int ff_gpume_file_write(GpumeFile *file, const void *data, size_t size);

/** Returns whether what has been written can be written again. */
int ff_gpume_file_can_rewind(GpumeFile *file);

/** Hand what has been printed to the system. */
int ff_gpume_file_flush(GpumeFile *file);

/** Write the rest; only complete and uninit may follow. Does nothing if no file is open. */
int ff_gpume_file_close(GpumeFile *file);

/**
 * Give a closed file its name. If that fails it keeps its temporary one, which the message has.
 * @param in_midstream the stream may go on in another file
 */
int ff_gpume_file_complete(GpumeFile *file, int in_midstream);

/** Keeps the temporary name of a closed and complete file, with a warning that names it. */
void ff_gpume_file_keep_part(GpumeFile *file);

/** Remove what is not complete, and free the names. */
void ff_gpume_file_uninit(GpumeFile *file);

#endif /* AVFILTER_GPUME_OUTPUT_FILE_H */
