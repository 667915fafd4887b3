/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * gpume-mpi: searches the motion vectors of a video with many processes.
 */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "libavutil/log.h"
#include "libavutil/mem.h"
#include "libavutil/murmur3.h"
#include "libavutil/time.h"

#include "mpi/options.h"
#include "mpi/outputs.h"
#include "mpi/search.h"

/** A run of the program on a rank. */
typedef struct Run {
    const Options *options;
    Shared shared;
    Video video;
    Input in;
    Segments segments;
    GraphConfig graph_cfg;
    Search search;
    GpumeSink sink;
    Picture picture;
    Outputs outputs;
} Run;

/* Opens MPI and the device, and checks the filters. */
static int start(Run *r)
{
    const Options *o = r->options;
    Shared *s = &r->shared;
    int ret = shared_open(s);

    if (ret < 0)
        return ret;
    av_log_set_level(s->rank ? AV_LOG_QUIET : o->log_level);
    ret = shared_agree(s, graph_check(o->filters));
    av_log_set_level(o->log_level);
    return ret < 0 ? ret : shared_agree(s, shared_open_device(s, o->cuda));
}

/* Opens the video on every rank; rank 0 reads its packets. */
static int open_video(Run *r)
{
    Shared *s = &r->shared;
    Video *f = &r->video;
    int ret = input_open(&r->in, r->options->input, r->graph_cfg.threads, s->cuda);

    if (ret < 0 ||
        !s->rank && (ret = input_scan(&r->in, f)) < 0)
        shared_report(s, -1, "%s: %s", r->options->input, av_err2str(ret));
    ret = shared_agree(s, ret);
    if (ret >= 0)
        ret = shared_broadcast(s, f, sizeof(*f));
    if (s->rank)
        f->packets = NULL;
    return ret < 0 ? ret : shared_broadcast_array(s, &f->packets, f->nb_packets * sizeof(*f->packets));
}

/* Checks the files on rank 0, which chooses the name of the folder. */
static int open_outputs(Run *r)
{
    Shared *s = &r->shared;
    int ret = shared_agree(s, !s->rank ? outputs_check(&r->outputs) : 0);

    return ret < 0 ? ret : shared_broadcast(s, r->segments.folder, sizeof(r->segments.folder));
}

/* Computes a checksum of the video, the filters and the kind of output. */
static int hash_segments(Run *r)
{
    struct AVMurMur3 *ctx = av_murmur3_alloc();
    const char *filters = r->options->filters;
    const int format[] = { r->segments.kind, r->segments.stats_format, sizeof(Record) };

    if (!ctx)
        return AVERROR(ENOMEM);
    av_murmur3_init(ctx);
    av_murmur3_update(ctx, r->video.hash, HASH_SIZE);
    av_murmur3_update(ctx, (const uint8_t *)filters, strlen(filters));
    av_murmur3_update(ctx, (const uint8_t *)format, sizeof(format));
    av_murmur3_final(ctx, r->segments.hash);
    av_free(ctx);
    return 0;
}

/*
 * Decodes the first picture, which determines the parameters of the search and, with the distances of the references,
 * the number of pictures that two segments share.
 */
static int probe(Run *r)
{
    Shared *s = &r->shared;
    Video *video = &r->video;
    const GpumeParams *p;
    int future = 0, ret;

    r->graph_cfg.time_base = r->in.st->time_base;
    r->graph_cfg.par       = r->in.par;
    r->graph_cfg.sink      = &r->sink;
    r->search = (Search) {
        .shared = s, .video = video, .in = &r->in, .graph_cfg = &r->graph_cfg, .segments = &r->segments,
        .picture = &r->picture,
    };
    r->sink = search_sink(&r->search);
    /* all ranks at once, because it takes time on a GPU */
    ret = search_probe(&r->search, &r->picture);
    if (ret >= 0) {
        p = ff_gpume_filter_params(r->search.graph.gpume);
        for (int i = 0; i < p->nb_references; i++) {
            video->past = FFMAX(video->past, -p->distance[i]);
            future     = FFMAX(future, p->distance[i]);
        }
        video->shared      = video->past + future;
        r->segments.params = *p;
    }
    ret = shared_agree(s, ret);
    if (ret >= 0)
        ret = shared_broadcast(s, &r->picture, sizeof(r->picture));
    if (ret >= 0)
        ret = shared_broadcast(s, &r->search.first_packet, sizeof(r->search.first_packet));
    if (ret >= 0)
        video_trim(video, r->search.first_packet);
    return ret;
}

/* Makes the segments on rank 0: new ones, or those of the run that is resumed. */
static int plan(Run *r)
{
    int ret = r->options->resume ? segments_load(&r->segments) : AVERROR(ENOENT);

    if (ret == AVERROR(ENOENT)) {
        ret = video_divide(&r->video, r->shared.size, r->options->segment);
        if (ret >= 0)
            ret = segments_create(&r->segments);
    }
    return ret;
}

/* Finds the segments that an earlier run has finished. *todo is set to the others. */
static int verify(Run *r, uint8_t *finished, int *todo, int *nb_todo)
{
    Shared *s = &r->shared;
    const Video *video = &r->video;

    for (int i = s->rank; r->options->resume && i < video->nb_segments; i += s->size) {
        Record record;

        finished[i] = record_load(&r->segments, i, &record) >= 0 && record_is_intact(&r->segments, &record);
    }
    s->progress = (Progress) { .start = av_gettime_relative() };
    *nb_todo = 0;
    if (shared_error(s, MPI_Allreduce(MPI_IN_PLACE, finished, video->nb_segments, MPI_UINT8_T, MPI_MAX,
                                      MPI_COMM_WORLD), "MPI_Allreduce") < 0)
        return AVERROR_EXTERNAL;
    for (int i = 0; i < video->nb_segments; i++)
        if (finished[i])
            s->progress.done_before += video_first(video, i + 1) - video_first(video, i);
        else
            todo[(*nb_todo)++] = i;
    return 0;
}

/* Searches the segments that are not finished. */
static int search(Run *r, int progress)
{
    Shared *s = &r->shared;
    Video *f = &r->video;
    uint8_t *finished;
    int *todo, nb = 0;
    int ret = shared_agree(s, !s->rank ? plan(r) : 0);

    if (ret < 0 ||
        (ret = shared_broadcast(s, &f->nb_segments, sizeof(f->nb_segments))) < 0 ||
        (ret = shared_broadcast_array(s, &f->segments, f->nb_segments * sizeof(*f->segments))) < 0)
        return ret;
    finished = av_calloc(f->nb_segments, 1);
    todo     = av_malloc_array(f->nb_segments, sizeof(*todo));
    ret = shared_agree(s, finished && todo ? 0 : AVERROR(ENOMEM));
    if (ret < 0 ||
        (ret = verify(r, finished, todo, &nb)) < 0 ||
        (ret = shared_divide(s, nb)) < 0 ||
        (ret = shared_agree(s, segments_open(&r->segments))) < 0)
        goto end;
    s->progress.nb_frames = !s->rank && progress ? f->nb_frames : 0;
    r->search.todo = todo;
    ret = search_run(&r->search);
    ret = shared_agree(s, ret);
    s->progress.nb_frames = 0;
    progress_draw(s);
end:
    av_free(finished);
    av_free(todo);
    return ret;
}

static int run(Run *r)
{
    const Options *o = r->options;
    Shared *s = &r->shared;
    const GpumeOutputConfig cfg = {
        .mv_file    = o->mv_file,    .mv_format    = o->mv_format,
        .stats_file = o->stats_file, .stats_format = o->stats_format, .overwrite = o->overwrite,
    };
    int ret = start(r);

    if (ret < 0)
        return ret;
    r->graph_cfg = (GraphConfig) {
        .filters = o->filters, .device = s->cuda, .threads = o->threads ? o->threads : s->threads,
        .device_name = s->gpu[0] ? s->gpu : NULL,
    };
    r->outputs  = (Outputs) { .cfg = cfg, .shared = s, .segments = &r->segments };
    r->segments = (Segments) {
        .shared = s, .video = &r->video, .fd = -1,
        .stats_format = o->stats_file ? ff_gpume_stats_format(&cfg) : -1,
        .kind = !o->mv_file ? KIND_NONE : ff_gpume_mv_format(&cfg) == GPUME_MV_NPY ? KIND_NPY : KIND_CSV,
    };
    if ((ret = open_video(r)) >= 0 && (ret = open_outputs(r)) >= 0 && (ret = hash_segments(r)) >= 0 &&
        (ret = probe(r)) >= 0 &&
        (ret = search(r, o->progress == PROGRESS_AUTO ? progress_on_terminal() : o->progress)) >= 0)
        ret = outputs_assemble(&r->outputs);
    if (s->rank)
        return ret;
    if (ret >= 0 && r->video.nb_segments == 1 && s->size > 1)
        shared_report(s, -1, "%s was searched by one rank: it is too short, or has no key frames at which it can be "
                      "divided", o->input);
    if (ret < 0)
        shared_report(s, -1, "%s: failed%s", o->input, !access(r->segments.folder, F_OK) ?
                      "; --resume continues with the remaining segments" : "");
    return ret;
}

int main(int argc, char **argv)
{
    Run r = { .shared.win = MPI_WIN_NULL };
    Options o;
    int provided, ret, rank = 0;

    if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
        return 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    r.options = &o;
    r.segments.fd = -1;
    ret = options_parse(&o, argc, argv, rank > 0);
    if (ret >= 0 && o.help && !rank)
        options_usage();
    if (ret >= 0 && !o.help)
        ret = run(&r);
    search_free(&r.search);
    segments_close(&r.segments);
    outputs_close(&r.outputs);
    video_free(&r.video);
    input_close(&r.in);
    shared_close(&r.shared);
    MPI_Finalize();
    return ret < 0;
}
