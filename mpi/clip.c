/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/mem.h"
#include "libavutil/murmur3.h"
#include "libavutil/time.h"

#include "mpi/clip.h"

/* Adds the time since the last call to the time of a step. */
static void end_step(Clip *c, int step)
{
    const double now = MPI_Wtime();

    c->times[step] += now - c->since;
    c->since = now;
}

/* The data of a film that is sent before its packets. */
typedef struct FilmHead {
    int64_t nb_packets, nb_frames;
    int has_pts;
    char why_whole[sizeof(((Film *)0)->why_whole)];
    uint8_t hash[HASH_SIZE];
} FilmHead;

static int share_film(Clip *c)
{
    Film *f = &c->film;
    FilmHead head = { f->nb_packets, f->nb_frames, f->has_pts };
    int ret;

    memcpy(head.why_whole, f->why_whole, sizeof(head.why_whole));
    memcpy(head.hash, f->hash, sizeof(head.hash));
    ret = shared_broadcast(c->shared, &head, sizeof(head));
    if (ret < 0)
        return ret;
    if (c->shared->rank) {
        f->nb_packets = head.nb_packets;
        f->nb_frames  = head.nb_frames;
        f->has_pts    = head.has_pts;
        memcpy(f->why_whole, head.why_whole, sizeof(head.why_whole));
        memcpy(f->hash, head.hash, sizeof(head.hash));
        f->packets = av_malloc_array(f->nb_packets, sizeof(*f->packets));
    }
    ret = shared_agree(c->shared, f->packets ? 0 : AVERROR(ENOMEM));
    return ret < 0 ? ret : shared_broadcast(c->shared, f->packets, f->nb_packets * sizeof(*f->packets));
}

static int share_segments(Clip *c)
{
    Film *f = &c->film;
    int ret = shared_broadcast(c->shared, &f->nb_segments, sizeof(f->nb_segments));

    if (ret < 0)
        return ret;
    if (c->shared->rank) {
        av_freep(&f->segments);
        f->segments = av_malloc_array(f->nb_segments, sizeof(*f->segments));
    }
    av_freep(&c->finished);
    av_freep(&c->todo);
    c->finished = av_calloc(f->nb_segments, 1);
    c->todo     = av_malloc_array(f->nb_segments, sizeof(*c->todo));
    ret = shared_agree(c->shared, f->segments && c->finished && c->todo ? 0 : AVERROR(ENOMEM));
    return ret < 0 ? ret : shared_broadcast(c->shared, f->segments, f->nb_segments * sizeof(*f->segments));
}

/* Opens the film on every rank; rank 0 reads its packets. */
static int open_film(Clip *c)
{
    Shared *s = c->shared;
    int ret = input_open(&c->in, c->input, c->graph_cfg.threads, c->device->cuda);

    end_step(c, TIME_OPEN);
    if (ret >= 0 && !s->rank)
        ret = input_scan(&c->in, &c->film);
    if (ret < 0)
        shared_report(s, -1, "%s: %s", c->input, av_err2str(ret));
    ret = shared_agree(s, ret);
    if (ret >= 0)
        ret = share_film(c);
    end_step(c, TIME_SCAN);
    return ret;
}

/* Sets the number of pictures that two segments share: the distance between the farthest references of a picture. */
static void set_shared_pictures(Clip *c, const GpumeParams *p)
{
    int future = 0;

    c->rows_cfg.params = *p;
    c->film.past       = 0;
    for (int i = 0; i < p->nb_references; i++) {
        c->film.past = FFMAX(c->film.past, -p->distance[i]);
        future       = FFMAX(future, p->distance[i]);
    }
    c->film.shared = c->film.past + future;
}

/* Decodes the first picture, which determines the parameters of the search. */
static int probe(Clip *c)
{
    Search *s = &c->search;
    int ret = 0;

    c->graph_cfg.time_base = c->in.st->time_base;
    c->graph_cfg.par       = c->in.par;
    c->graph_cfg.sink      = &c->sink;
    c->sink = search_sink(s, c->rows_cfg.needs_stats);
    *s = (Search) {
        .shared = c->shared, .film = &c->film, .in = &c->in, .graph_cfg = &c->graph_cfg,
        .rows_cfg = &c->rows_cfg, .picture = &c->picture,
    };
    /* all ranks at once, because it takes time on a GPU */
    ret = search_probe(s, &c->picture);
    if (ret >= 0)
        set_shared_pictures(c, ff_gpume_filter_params(s->graph.gpume));
    ret = shared_agree(c->shared, ret);
    if (ret >= 0)
        ret = shared_broadcast(c->shared, &c->picture, sizeof(c->picture));
    if (ret >= 0)
        ret = shared_broadcast(c->shared, &s->first_packet, sizeof(s->first_packet));
    if (ret >= 0)
        film_trim(&c->film, s->first_packet);
    end_step(c, TIME_START);
    return ret;
}

/* Determines the names of the files, and the folder for the work. On rank 0. */
static int check_outputs(Clip *c)
{
    const char *names[] = { c->mv_file, c->stats_file };
    GpumeFile *files[] = { &c->mv, &c->stats };
    const GpumeOutputConfig cfg = done_outputs(c->options, c->mv_file, c->stats_file);
    int ret = ff_gpume_outputs_check(&cfg);

    if (ret >= 0 && ff_gpume_mv_format(&cfg) == GPUME_MV_NPYS) {
        shared_report(c->shared, -1, "%s: gpume-mpi writes .npy and .csv, not .npys", c->mv_file);
        ret = AVERROR(EINVAL);
    }
    for (int i = 0; i < 2 && ret >= 0; i++) {
        GpumeFile *file = files[i];

        if (!names[i])
            continue;
        ret = ff_gpume_file_open(file, names[i], c->options->overwrite, NULL);
        if (ret < 0 || !file->target)
            continue;
        if (!c->work.folder)
            c->work.folder = av_asprintf("%s.gpume-part", file->target);
        /* the file has another temporary name until it is complete */
        ret = ff_gpume_file_close(file);
        ff_gpume_file_uninit(file);
    }
    if (ret >= 0 && !c->work.folder) {
        shared_report(c->shared, -1, "at least one output must be a regular file, because finished segments "
                      "are kept in a folder next to it");
        ret = AVERROR(EINVAL);
    }
    if (ret >= 0 && c->work.kind == KIND_NPY && c->mv.f) {
        shared_report(c->shared, -1, "%s is not a regular file, but a .npy file must be one; use --mv-format csv",
                      c->mv_file);
        ret = AVERROR(ESPIPE);
    }
    return ret;
}

/* Computes a checksum of the film, the filters and the kind of output. */
static int hash_work(Clip *c)
{
    struct AVMurMur3 *ctx = av_murmur3_alloc();
    const char *filters = c->options->filters;
    const int format[] = { c->work.kind, !!c->stats_file, sizeof(Record), sizeof(StatsRecord), sizeof(FrameTime) };

    if (!ctx)
        return AVERROR(ENOMEM);
    av_murmur3_init(ctx);
    av_murmur3_update(ctx, c->film.hash, HASH_SIZE);
    av_murmur3_update(ctx, (const uint8_t *)filters, strlen(filters));
    av_murmur3_update(ctx, (const uint8_t *)format, sizeof(format));
    av_murmur3_final(ctx, c->work.hash);
    av_free(ctx);
    return 0;
}

/* Makes the segments: new ones, or those of the run that is resumed. On rank 0. */
static int plan(Clip *c, int whole)
{
    int ret;

    if (!whole && c->options->resume && work_exists(&c->work))
        return work_load_plan(&c->work, &c->film);
    if (!whole)
        ret = film_divide(&c->film, c->shared->size, c->options->segment);
    else
        ret = film_whole(&c->film, c->film.why_whole);
    if (ret >= 0)
        ret = work_create(&c->work);
    return ret < 0 ? ret : work_save_plan(&c->work, &c->film);
}

/* Rank 0 chooses the name of the folder. */
static int share_folder(Clip *c)
{
    int size = c->work.folder ? strlen(c->work.folder) + 1 : 0;
    int ret = shared_broadcast(c->shared, &size, sizeof(size));

    if (ret < 0)
        return ret;
    if (c->shared->rank)
        c->work.folder = av_mallocz(size);
    ret = shared_agree(c->shared, c->work.folder ? 0 : AVERROR(ENOMEM));
    return ret < 0 ? ret : shared_broadcast(c->shared, c->work.folder, size);
}

static int open_data(Clip *c)
{
    char *path = work_path(&c->work, "data", -1);
    int code;

    c->rows_cfg.file = MPI_FILE_NULL;
    if (!path)
        return AVERROR(ENOMEM);
    if (c->work.kind == KIND_NPY) {
        code = MPI_File_open(c->shared->comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                             &c->rows_cfg.file);
        if (code != MPI_SUCCESS) {
            c->rows_cfg.file = MPI_FILE_NULL;
            shared_error(c->shared, code, path);
            av_free(path);
            return AVERROR(EIO);
        }
    }
    av_free(path);
    return 0;
}

static int close_data(Clip *c)
{
    int code;

    if (c->rows_cfg.file == MPI_FILE_NULL)
        return 0;
    code = MPI_File_close(&c->rows_cfg.file);
    c->rows_cfg.file = MPI_FILE_NULL;
    return shared_error(c->shared, code, "MPI_File_close");
}

/* Searches the segments that are not finished. */
static int search(Clip *c)
{
    Shared *s = c->shared;
    int64_t before = clip_verify(c);
    int nb = 0, ret;

    for (int i = 0; i < c->film.nb_segments; i++)
        if (!c->finished[i])
            c->todo[nb++] = i;
    ret = shared_divide(s, nb);
    if (ret >= 0)
        ret = shared_agree(s, open_data(c));
    if (ret < 0)
        return ret;
    c->bar = (Progress) { s, c->progress ? c->film.nb_frames : 0, before, av_gettime_relative() };
    if (!s->rank && c->progress) {
        s->idle   = progress_draw;
        s->opaque = &c->bar;
    }
    c->search.todo = c->todo;
    end_step(c, TIME_START);
    ret = search_run(&c->search);
    end_step(c, TIME_SEARCH);
    ret = shared_agree(s, ret);
    s->idle = NULL;
    progress_end(&c->bar);
    end_step(c, TIME_WAIT);
    return ret;
}

static void free_search(Clip *c)
{
    search_free(&c->search);
    close_data(c);
    av_freep(&c->finished);
    av_freep(&c->todo);
}

/* Searches the film in segments, or as a whole. */
static int run(Clip *c, int whole)
{
    int ret = shared_agree(c->shared, !c->shared->rank ? plan(c, whole) : 0);
    if (ret >= 0)
        ret = share_segments(c);
    if (ret >= 0)
        ret = search(c);
    if (ret >= 0)
        ret = clip_assemble(c);
    end_step(c, TIME_ASSEMBLE);
    return ret;
}

static void print_times(const Clip *c)
{
    const double *t = c->times;
    double all = 0;

    for (int i = 0; i < NB_TIMES; i++)
        all += t[i];
    fprintf(stderr, "gpume-mpi: times: ranks %d frames %"PRId64" packets %"PRId64" segments %d open %.3f scan %.3f "
            "start %.3f search %.3f wait %.3f assemble %.3f all %.3f frames/s %.2f\n", c->shared->size,
            c->film.nb_frames, c->film.nb_packets, c->film.nb_segments, t[TIME_OPEN], t[TIME_SCAN],
            t[TIME_START], t[TIME_SEARCH], t[TIME_WAIT], t[TIME_ASSEMBLE], all, c->film.nb_frames / all);
}

static int run_all(Clip *c)
{
    Shared *s = c->shared;
    int ret = open_film(c);

    if (ret >= 0)
        ret = shared_agree(s, !s->rank ? check_outputs(c) : 0);
    if (ret >= 0)
        ret = share_folder(c);
    if (ret >= 0)
        ret = hash_work(c);
    if (ret >= 0)
        ret = probe(c);
    if (ret >= 0)
        ret = run(c, 0);
    if (ret == GPUME_INDIVISIBLE && c->film.nb_segments > 1) {
        if (!s->rank)
            shared_report(s, -1, "%s decodes differently in segments than as a whole, so one rank searches all of it",
                          c->input);
        c->fell_back = 1;
        free_search(c);
        ret = probe(c);
        if (ret >= 0)
            ret = run(c, 1);
    }
    return ret;
}

int clip_run(const Options *options, Shared *shared, const Device *device, const char *input,
             const char *mv_file, const char *stats_file, int progress)
{
    const GpumeOutputConfig cfg = done_outputs(options, mv_file, stats_file);
    Clip c = {
        .options = options, .shared = shared, .device = device, .input = input, .mv_file = mv_file,
        .stats_file = stats_file, .progress = progress, .since = MPI_Wtime(),
        .work = { .shared = shared, .kind = !mv_file ? KIND_NONE : ff_gpume_mv_format(&cfg) == GPUME_MV_NPY ?
                                            KIND_NPY : KIND_CSV },
        .graph_cfg = { .filters = options->filters, .device = device->cuda,
                       .threads = options->threads ? options->threads : device->threads,
                       .device_name = device->name[0] ? device->name : NULL },
        .rows_cfg = { .shared = shared, .needs_stats = !!stats_file, .file = MPI_FILE_NULL },
    };
    int skip = 0, ret;

    c.rows_cfg.work = &c.work;
    c.rows_cfg.film = &c.film;
    if (!shared->rank) {
        c.state = done_state(input);
        skip    = done_skip(options, shared, input, mv_file, stats_file);
    }
    ret = shared_broadcast(shared, &skip, sizeof(skip));
    if (ret < 0 || skip)
        return ret;
    ret = run_all(&c);
    if (!shared->rank && ret >= 0 && c.film.nb_segments == 1 && shared->size > 1 && !c.fell_back)
        shared_report(shared, -1, "%s was searched by one rank: %s", input, c.film.why_whole[0] ? c.film.why_whole :
                      "it is too short, or has no key frames at which it can be divided");
    if (!shared->rank && ret >= 0 && options->times)
        print_times(&c);
    if (!shared->rank && ret < 0)
        shared_report(shared, -1, "%s: failed%s", input, c.work.folder && work_exists(&c.work) ?
                      "; --resume continues with the remaining segments" : "");
    free_search(&c);
    ff_gpume_file_close(&c.mv);
    ff_gpume_file_close(&c.stats);
    ff_gpume_file_uninit(&c.mv);
    ff_gpume_file_uninit(&c.stats);
    film_free(&c.film);
    input_close(&c.in);
    av_free(c.work.folder);
    return ret;
}
