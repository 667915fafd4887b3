/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes the output files from finished segments, and finds out which segments are finished.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libavutil/avstring.h"
#include "libavutil/mem.h"
#include "libavutil/murmur3.h"

#include "libavfilter/gpume/output/format.h"

#include "mpi/clip.h"

/** Bytes that are copied at a time. */
#define COPY_SIZE (1 << 20)

/* Returns whether the vectors of a segment match its record. */
static int is_intact(const Clip *c, const Record *r)
{
    struct AVMurMur3 *ctx = av_murmur3_alloc();
    uint8_t *buf = av_malloc(COPY_SIZE), hash[HASH_SIZE];
    const int npy = c->work.kind == KIND_NPY;
    char *path = npy ? work_path(&c->work, "data", -1) : work_path(&c->work, "csv", r->segment);
    FILE *f = path && c->work.kind != KIND_NONE ? fopen(path, "rb") : NULL;
    int64_t left = r->size;
    int ok = c->work.kind == KIND_NONE;

    if (!ctx || !buf || !f)
        goto end;
    av_murmur3_init(ctx);
    if (npy && fseeko(f, rows_offset(&c->film, &c->rows_cfg.params, r->segment), SEEK_SET))
        goto end;
    while (left > 0) {
        const size_t n = fread(buf, 1, FFMIN(left, COPY_SIZE), f);

        if (!n)
            goto end;
        av_murmur3_update(ctx, buf, n);
        left -= n;
    }
    av_murmur3_final(ctx, hash);
    ok = !memcmp(hash, r->hash, HASH_SIZE) && (npy || fgetc(f) == EOF);
end:
    if (f)
        fclose(f);
    av_free(path);
    av_free(buf);
    av_free(ctx);
    return ok;
}

int64_t clip_verify(Clip *c)
{
    Shared *s = c->shared;
    int64_t frames = 0;

    if (!c->options->resume)
        return 0;
    for (int i = s->rank; i < c->film.nb_segments; i += s->size) {
        Record r;

        if (work_load(&c->work, i, &r) < 0)
            continue;
        c->finished[i] = is_intact(c, &r);
        record_free(&r);
    }
    shared_error(s, MPI_Allreduce(MPI_IN_PLACE, c->finished, c->film.nb_segments, MPI_UINT8_T, MPI_MAX, s->comm),
                 "MPI_Allreduce");
    for (int i = 0; i < c->film.nb_segments; i++)
        if (c->finished[i])
            frames += film_first(&c->film, i + 1) - film_first(&c->film, i);
    return frames;
}

static void free_records(Record **records, int nb)
{
    for (int i = 0; *records && i < nb; i++)
        record_free(&(*records)[i]);
    av_freep(records);
}

/* Reads all records, in order. Neighbouring segments must have decoded the same key frame. */
static int load_records(Clip *c, Record **records)
{
    const int nb = c->film.nb_segments;
    int64_t nb_frames = 0;
    Record *r = *records = av_calloc(nb, sizeof(*r));

    if (!r)
        return AVERROR(ENOMEM);
    for (int i = 0; i < nb; i++) {
        if (work_load(&c->work, i, &r[i]) < 0) {
            shared_report(c->shared, i, "could not read its record in %s", c->work.folder);
            return AVERROR(EIO);
        }
        if (i && memcmp(r[i].first, r[i - 1].last, HASH_SIZE) ||
            nb > 1 && r[i].nb_times != film_first(&c->film, i + 1) - film_first(&c->film, i))
            goto indivisible;
        nb_frames += r[i].nb_times;
    }
    c->film.nb_frames = nb_frames;
    return 0;
indivisible:
    av_log(NULL, AV_LOG_VERBOSE, "two ranks have decoded a key frame differently\n");
    return GPUME_INDIVISIBLE;
}

/* Collects the data of all pictures. */
static int make_times(const Clip *c, const Record *records, ClipPicture *pictures)
{
    const Film *film = &c->film;
    FrameClock clock = {
        .time_base = c->in.st->time_base, .codec_rate = records[0].rate, .rate = c->in.st->avg_frame_rate,
        .unreliable = !!(c->in.fmt->iformat->flags & AVFMT_NOTIMESTAMPS),
    };
    int64_t n = 0;

    frame_clock_init(&clock);
    for (int i = 0; i < film->nb_segments; i++)
        for (int64_t j = 0; j < records[i].nb_times; j++)
            pictures[n++] = (ClipPicture) {
                frame_clock_next(&clock, &records[i].times[j]), records[i].times[j].nb_vectors
            };
    /* if packets have timestamps, ranks drain their decoders between segments, so only a picture's pts is reliable;
     * in place of a faulty pts, ffmpeg would use the dts */
    return film->nb_segments > 1 && film->has_pts && clock.faults_pts ? GPUME_INDIVISIBLE : 0;
}

static GpumeStamp stamp_of(const Clip *c, int64_t number)
{
    return (GpumeStamp) { number, c->pictures[number - 1].pts, c->in.st->time_base };
}

/* Writes the statistics, on rank 0. The file is not complete yet. */
static int write_stats(Clip *c, const Record *records)
{
    const GpumeOutputConfig cfg = done_outputs(c->options, c->mv_file, c->stats_file);
    int ret = 0;

    if (c->stats_file && !c->stats.f)
        ret = ff_gpume_file_open(&c->stats, c->stats_file, c->options->overwrite, NULL);
    for (int i = 0; i < c->film.nb_segments && ret >= 0 && c->stats_file; i++) {
        errno = 0;
        for (int64_t j = 0; j < records[i].nb_stats; j++) {
            const StatsRecord *s = &records[i].stats[j];
            const GpumeStamp stamp = stamp_of(c, s->number);

            ff_gpume_stats_line(c->stats.f, ff_gpume_stats_format(&cfg), &stamp, s->distance, &s->stats);
        }
        ret = ff_gpume_file_flush(&c->stats);
    }
    return ret;
}

/* Writes a picture's last column and the end of the line. Returns the length. */
static int end_of_line(const Clip *c, int64_t number, char text[GPUME_TIME_SIZE + 2])
{
    const GpumeStamp stamp = stamp_of(c, number);

    text[0] = ',';
    ff_gpume_time(text + 1, &stamp);
    av_strlcat(text, "\n", GPUME_TIME_SIZE + 2);
    return strlen(text);
}

/* Returns the bytes of a part of CSV with the last column of its lines. */
static int64_t csv_size(const Clip *c, const Record *r)
{
    const int64_t first = film_first(&c->film, r->segment);
    char text[GPUME_TIME_SIZE + 2];
    int64_t size = r->size;

    for (int64_t i = 0; i < r->nb_times; i++)
        size += c->pictures[first + i].nb_vectors * (end_of_line(c, first + i + 1, text) - 1);
    return size;
}

/** A part of CSV that is being copied, while each line gets its last column. */
typedef struct CsvCopy {
    Clip *clip;
    int segment;
    MPI_File file;          ///< the common file; all ranks write to it, at offset
    FILE *out;              ///< or an open file, written at its end
    int64_t offset;
    int64_t number;         ///< number of the picture
    int64_t left;           ///< remaining lines of the picture
    char end[GPUME_TIME_SIZE + 2];
    int end_len;
    uint8_t *buf;           ///< COPY_SIZE bytes
    size_t nb;
} CsvCopy;

static int flush_csv(CsvCopy *s)
{
    MPI_Status status;
    int ret = 0;

    errno = 0;
    if (s->out ? fwrite(s->buf, 1, s->nb, s->out) != s->nb :
        MPI_File_write_at(s->file, s->offset, s->buf, s->nb, MPI_BYTE, &status) != MPI_SUCCESS)
        ret = work_error(&s->clip->work, s->segment, "write to", s->clip->mv_file);
    s->offset += s->nb;
    s->nb      = 0;
    return ret;
}

static int add_bytes(CsvCopy *s, const void *data, size_t size)
{
    int ret = 0;

    if (s->nb + size > COPY_SIZE)
        ret = flush_csv(s);
    memcpy(s->buf + s->nb, data, size);
    s->nb += size;
    return ret;
}

static int add_lines(CsvCopy *s, const uint8_t *data, size_t size)
{
    const uint8_t *end = data + size;
    int ret = 0;

    while (data < end && ret >= 0) {
        const uint8_t *newline = memchr(data, '\n', end - data);

        ret = add_bytes(s, data, (newline ? newline : end) - data);
        if (!newline)
            break;
        data = newline + 1;
        while (!s->left && s->number < s->clip->film.nb_frames) {
            s->left    = s->clip->pictures[s->number++].nb_vectors;
            s->end_len = end_of_line(s->clip, s->number, s->end);
        }
        s->left--;
        if (ret >= 0)
            ret = add_bytes(s, s->end, s->end_len);
    }
    return ret;
}

/* Copies a part of CSV to a position in the common file, or to the end of an open file. */
static int copy_csv(Clip *c, int segment, int64_t offset, MPI_File file, FILE *out)
{
    CsvCopy s = {
        .clip = c, .segment = segment, .file = file, .out = out, .offset = offset,
        .number = film_first(&c->film, segment), .buf = av_malloc(COPY_SIZE),
    };
    char *path = work_path(&c->work, "csv", segment);
    uint8_t *buf = av_malloc(COPY_SIZE);
    FILE *f = path && buf && s.buf ? fopen(path, "rb") : NULL;
    int ret = f ? 0 : work_error(&c->work, segment, "open", path ? path : "a file");
    size_t n;

    while (ret >= 0 && (n = fread(buf, 1, COPY_SIZE, f)))
        ret = add_lines(&s, buf, n);
    if (ret >= 0 && ferror(f))
        ret = work_error(&c->work, segment, "read", path);
    if (ret >= 0)
        ret = flush_csv(&s);
    if (f)
        fclose(f);
    av_free(s.buf);
    av_free(buf);
    av_free(path);
    return ret;
}

/* @return the size of the header in bytes; the caller frees *header with free() */
static int make_csv_header(char **header)
{
    size_t size = 0;
    FILE *f = open_memstream(header, &size);

    if (!f)
        return AVERROR(ENOMEM);
    ff_gpume_csv_header(f);
    return fclose(f) ? AVERROR(ENOMEM) : size;
}

/* Writes CSV to a pipe or a device, on rank 0. */
static int print_csv(Clip *c)
{
    int ret = 0;

    ff_gpume_csv_header(c->mv.f);
    for (int i = 0; i < c->film.nb_segments && ret >= 0; i++)
        ret = copy_csv(c, i, 0, MPI_FILE_NULL, c->mv.f);
    return ret < 0 ? ret : ff_gpume_file_flush(&c->mv);
}

/*
 * Copies the parts of this rank to their positions.
 * @param offsets offsets of all segments
 */
static int merge_csv(Clip *c, const int64_t *offsets)
{
    Shared *s = c->shared;
    char *path = work_path(&c->work, "data", -1);
    MPI_File file;
    int ret = 0, code = MPI_ERR_NO_MEM;

    if (path)
        code = MPI_File_open(s->comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    av_free(path);
    if (code != MPI_SUCCESS)
        return shared_error(s, code, "MPI_File_open");
    if (!s->rank) {
        char *header = NULL;

        ret = make_csv_header(&header);
        if (ret >= 0)
            ret = shared_error(s, MPI_File_write_at(file, 0, header, ret, MPI_BYTE, MPI_STATUS_IGNORE),
                               "MPI_File_write_at");
        free(header);
    }
    for (int i = s->rank; i < c->film.nb_segments && ret >= 0; i += s->size)
        ret = copy_csv(c, i, offsets[i], file, NULL);
    code = MPI_File_close(&file);
    return ret < 0 ? ret : shared_error(s, code, "MPI_File_close");
}

static int write_npy_header(Clip *c)
{
    uint8_t header[GPUME_NPY_HEADER_SIZE];

    ff_gpume_npy_header(header, c->film.nb_frames, &c->rows_cfg.params);
    return shared_error(c->shared, MPI_File_write_at(c->rows_cfg.file, 0, header, sizeof(header), MPI_BYTE,
                                                     MPI_STATUS_IGNORE), "MPI_File_write_at");
}

/* Renames the common file of vectors to the temporary name of the output file. */
static int move_data(Clip *c, int64_t size)
{
    char *data = work_path(&c->work, "data", -1);
    struct stat st;
    int ret;

    if (!data)
        return AVERROR(ENOMEM);
    ret = ff_gpume_file_open(&c->mv, c->mv_file, c->options->overwrite, NULL);
    errno = 0;
    if (ret >= 0 && stat(c->mv.part, &st))
        ret = work_error(&c->work, -1, "get the properties of", c->mv.part);
    if (ret >= 0 && chmod(data, st.st_mode & 0777))
        ret = work_error(&c->work, -1, "set the permissions of", data);
    if (ret >= 0 && stat(data, &st))
        ret = work_error(&c->work, -1, "get the properties of", data);
    if (ret >= 0 && st.st_size != size) {
        shared_report(c->shared, -1, "%s has %"PRId64" bytes instead of %"PRId64, data, (int64_t)st.st_size, size);
        ret = AVERROR(EIO);
    }
    if (ret >= 0)
        ret = ff_gpume_file_close(&c->mv);
    /* some systems write the whole file to the disk before it replaces another file */
    if (ret >= 0 && unlink(c->mv.part))
        ret = work_error(&c->work, -1, "remove", c->mv.part);
    if (ret >= 0 && rename(data, c->mv.part))
        ret = work_error(&c->work, -1, "rename", data);
    av_free(data);
    return ret;
}

/* Gives the complete files their final names: both of them, or none. */
static int complete(Clip *c, int64_t size)
{
    int ret = 0;

    if (c->mv_file && !c->mv.f)
        ret = move_data(c, size);
    if (ret >= 0)
        ret = ff_gpume_file_close(&c->mv);
    if (ret >= 0)
        ret = ff_gpume_file_close(&c->stats);
    /* before the files are renamed, so that the film is not searched again after an interruption here */
    if (ret >= 0)
        ret = done_save(c->options, c->shared, c->input, &c->state, (const GpumeFile *const[]) { &c->mv, &c->stats });
    if (ret < 0)
        return ret;
    ret = ff_gpume_file_complete(&c->mv, 0);
    if (ret >= 0)
        ret = ff_gpume_file_complete(&c->stats, 0);
    else
        ff_gpume_file_keep_part(&c->stats);
    return ret;
}

/*
 * Prepares the copying, on rank 0.
 * @param offsets offsets of the parts, one more than there are segments
 */
static int prepare(Clip *c, int64_t *offsets)
{
    Record *records = NULL;
    int ret = load_records(c, &records);

    if (ret >= 0) {
        c->pictures = av_malloc_array(c->film.nb_frames, sizeof(*c->pictures));
        ret         = c->pictures ? make_times(c, records, c->pictures) : AVERROR(ENOMEM);
    }
    if (ret >= 0)
        ret = write_stats(c, records);
    if (ret >= 0 && c->work.kind == KIND_NPY) {
        ret = write_npy_header(c);
        offsets[c->film.nb_segments] = rows_offset(&c->film, &c->rows_cfg.params, c->film.nb_segments);
    } else if (ret >= 0 && c->work.kind == KIND_CSV) {
        char *header = NULL;

        offsets[0] = ret = make_csv_header(&header);
        free(header);
        for (int i = 0; i < c->film.nb_segments; i++)
            offsets[i + 1] = offsets[i] + csv_size(c, &records[i]);
        if (ret >= 0 && c->mv.f)
            ret = print_csv(c);
    }
    free_records(&records, c->film.nb_segments);
    return ret;
}

/* Sends the pictures to the ranks that copy CSV. */
static int share_pictures(Clip *c)
{
    Shared *s = c->shared;
    int ret = shared_broadcast(s, &c->film.nb_frames, sizeof(c->film.nb_frames));

    if (ret < 0 || c->work.kind != KIND_CSV)
        return ret;
    if (s->rank)
        c->pictures = av_malloc_array(c->film.nb_frames, sizeof(*c->pictures));
    ret = shared_agree(s, c->pictures ? 0 : AVERROR(ENOMEM));
    return ret < 0 ? ret : shared_broadcast(s, c->pictures, c->film.nb_frames * sizeof(*c->pictures));
}

int clip_assemble(Clip *c)
{
    Shared *s = c->shared;
    const int nb = c->film.nb_segments + 1;
    int64_t *offsets = av_calloc(nb, sizeof(*offsets));
    int direct = !s->rank && c->mv.f, code;
    int ret = shared_agree(s, offsets ? 0 : AVERROR(ENOMEM));

    if (ret >= 0)
        ret = shared_agree(s, !s->rank ? prepare(c, offsets) : 0);
    if (ret >= 0)
        ret = shared_broadcast(s, offsets, nb * sizeof(*offsets));
    if (ret >= 0)
        ret = shared_broadcast(s, &direct, sizeof(direct));
    if (ret >= 0)
        ret = share_pictures(c);
    if (c->rows_cfg.file != MPI_FILE_NULL && ret >= 0) {
        code = MPI_File_close(&c->rows_cfg.file);
        c->rows_cfg.file = MPI_FILE_NULL;
        ret = shared_agree(s, shared_error(s, code, "MPI_File_close"));
    }
    if (ret >= 0 && c->work.kind == KIND_CSV && !direct)
        ret = shared_agree(s, merge_csv(c, offsets));
    if (ret >= 0)
        ret = shared_agree(s, !s->rank ? complete(c, offsets[nb - 1]) : 0);
    if (ret >= 0 && !s->rank)
        work_remove(&c->work);
    av_freep(&c->pictures);
    av_free(offsets);
    return ret;
}
