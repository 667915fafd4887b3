/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libavutil/mem.h"

#include "mpi/outputs.h"

/** Bytes that are copied at a time. */
#define COPY_SIZE (1 << 20)

int outputs_check(Outputs *o)
{
    const char *names[] = { o->cfg.mv_file, o->cfg.stats_file };
    GpumeFile *files[] = { &o->mv, &o->stats };
    Segments *s = o->segments;
    int ret = ff_gpume_outputs_check(&o->cfg);

    if (ret >= 0 && ff_gpume_mv_format(&o->cfg) >= GPUME_MV_NPYS) {
        shared_report(o->shared, -1, "%s: gpume-mpi writes .npy and .csv, not .npys or codec", names[0]);
        ret = AVERROR(EINVAL);
    }
    for (int i = 0; i < 2 && ret >= 0; i++) {
        GpumeFile *file = files[i];

        if (!names[i])
            continue;
        ret = ff_gpume_file_open(file, names[i], o->cfg.overwrite, NULL);
        if (ret < 0 || !file->target)
            continue;
        if (!s->folder[0] && snprintf(s->folder, sizeof(s->folder), "%s.gpume-part", file->target) >= sizeof(s->folder))
            ret = AVERROR(ENAMETOOLONG);
        /* whether it can be written is known; it is made at the end */
        if (ret >= 0)
            ret = ff_gpume_file_close(file);
        ff_gpume_file_uninit(file);
    }
    if (ret >= 0 && !s->folder[0]) {
        shared_report(o->shared, -1, "at least one output must be a regular file, because finished segments "
                      "are kept in a folder next to it");
        ret = AVERROR(EINVAL);
    }
    if (ret >= 0 && s->kind == KIND_NPY && o->mv.f) {
        shared_report(o->shared, -1, "%s is not a regular file, but a .npy file must be one; use --mv-format csv",
                      names[0]);
        ret = AVERROR(ESPIPE);
    }
    return ret;
}

/* Counts the pictures. Neighbouring segments must have decoded the same key frame. */
static int check_records(Outputs *o)
{
    Video *video = o->segments->video;
    Record r, previous = { 0 };
    int64_t nb_frames = 0;

    for (int i = 0; i < video->nb_segments; i++) {
        if (record_load(o->segments, i, &r) < 0) {
            shared_report(o->shared, i, "could not read its record in %s", o->segments->folder);
            return AVERROR(EIO);
        }
        if (i && memcmp(r.first, previous.last, HASH_SIZE) ||
            video->nb_segments > 1 && r.nb_frames != video_first(video, i + 1) - video_first(video, i)) {
            shared_report(o->shared, i, "two ranks have decoded a key frame differently, so the video cannot be "
                          "searched in parts; use ffmpeg instead of gpume-mpi");
            return GPUME_INDIVISIBLE;
        }
        nb_frames += r.nb_frames;
        previous   = r;
    }
    video->nb_frames = nb_frames;
    return 0;
}

/* Opens a file, unless it is a pipe or a device that is open already. */
static int open_file(const Outputs *o, GpumeFile *file, const char *name)
{
    return file->f ? 0 : ff_gpume_file_open(file, name, o->cfg.overwrite, NULL);
}

/* Appends the text of a segment to a file. */
static int append(Outputs *o, GpumeFile *file, const char *name, int segment, uint8_t *buf)
{
    char *path = segments_path(o->segments, name, segment);
    FILE *f;
    size_t n;
    int ret = 0;

    errno = 0;
    f = path ? fopen(path, "rb") : NULL;
    while (f && ret >= 0 && (n = fread(buf, 1, COPY_SIZE, f)))
        ret = ff_gpume_file_write(file, buf, n);
    if (!f || ferror(f))
        ret = segments_error(o->segments, segment, "read", path ? path : name);
    if (f)
        fclose(f);
    av_free(path);
    return ret;
}

/* Makes a file of the text of all segments. */
static int join(Outputs *o, GpumeFile *file, const char *path, const char *name)
{
    uint8_t *buf = av_malloc(COPY_SIZE);
    int ret = buf ? open_file(o, file, path) : AVERROR(ENOMEM);

    if (ret >= 0 && file == &o->mv)
        ff_gpume_csv_header(file->f);
    for (int i = 0; i < o->segments->video->nb_segments && ret >= 0; i++)
        ret = append(o, file, name, i, buf);
    av_free(buf);
    return ret < 0 ? ret : ff_gpume_file_flush(file);
}

static int write_npy_header(Outputs *o)
{
    const Segments *s = o->segments;
    uint8_t header[GPUME_NPY_HEADER_SIZE];

    ff_gpume_npy_header(header, s->video->nb_frames, &s->params);
    return segments_write(s, -1, 0, header, sizeof(header));
}

/* Renames the file of .npy to the temporary name of the output file, with the permissions of that file. */
static int move_npy(Outputs *o)
{
    const Segments *s = o->segments;
    char *data = segments_path(s, "data", -1);
    struct stat st;
    int ret = data ? open_file(o, &o->mv, o->cfg.mv_file) : AVERROR(ENOMEM);

    if (ret < 0)
        goto end;
    errno = 0;
    if (stat(o->mv.part, &st) || chmod(data, st.st_mode & 0777)) {
        ret = segments_error(s, -1, "get or set the permissions of", data);
        goto end;
    }
    ret = ff_gpume_file_close(&o->mv);
    /* some systems write the whole file to the disk before it replaces another file */
    if (ret >= 0 && (unlink(o->mv.part) || rename(data, o->mv.part)))
        ret = segments_error(s, -1, "rename", data);
end:
    av_free(data);
    return ret;
}

/* Completes the contents of the files, on rank 0. */
static int write_files(Outputs *o)
{
    int ret = check_records(o);

    if (ret >= 0 && o->cfg.stats_file)
        ret = join(o, &o->stats, o->cfg.stats_file, "stats");
    if (ret >= 0 && o->segments->kind == KIND_NPY)
        ret = write_npy_header(o);
    if (ret >= 0 && o->segments->kind == KIND_CSV)
        ret = join(o, &o->mv, o->cfg.mv_file, "csv");
    return ret;
}

/* Gives the files their final names, on rank 0. */
static int complete(Outputs *o)
{
    int ret = o->segments->kind == KIND_NPY ? move_npy(o) : 0;

    if (ret < 0 ||
        (ret = ff_gpume_file_close(&o->mv)) < 0 ||
        (ret = ff_gpume_file_close(&o->stats)) < 0)
        return ret;
    ret = ff_gpume_file_complete(&o->mv, 0);
    if (ret >= 0)
        ret = ff_gpume_file_complete(&o->stats, 0);
    else
        ff_gpume_file_keep_part(&o->stats);
    if (ret >= 0)
        segments_remove(o->segments);
    return ret;
}

int outputs_assemble(Outputs *o)
{
    int ret = shared_agree(o->shared, !o->shared->rank ? write_files(o) : 0);

    if (ret >= 0)
        ret = shared_agree(o->shared, segments_close(o->segments));
    if (ret >= 0)
        ret = shared_agree(o->shared, !o->shared->rank ? complete(o) : 0);
    return ret;
}

void outputs_close(Outputs *o)
{
    ff_gpume_file_close(&o->mv);
    ff_gpume_file_close(&o->stats);
    ff_gpume_file_uninit(&o->mv);
    ff_gpume_file_uninit(&o->stats);
}
