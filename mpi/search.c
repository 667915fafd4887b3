/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/imgutils.h"
#include "libavutil/mem.h"
#include "libavutil/murmur3.h"
#include "libavutil/pixdesc.h"
#include "libavutil/time.h"

#include "mpi/search.h"

/** The decoder must output a key frame within this number of packets. */
#define MAX_DELAY 400
/** Number of packets after those that are shown before a key frame, for which messages are suppressed as well. */
#define MUTED_AFTER 16
/** The value of Search.next until it is known. */
#define UNDECIDED (-2)
/** Time between two updates of the counters, microseconds. */
#define REPORT_INTERVAL 200000

/* Reports that the stream does not decode in parts as it does in one piece. */
static int indivisible(const Search *s, const char *why)
{
    av_log(NULL, AV_LOG_VERBOSE, "rank %d, segment %d: %s\n", s->shared->rank, s->segment, why);
    return GPUME_INDIVISIBLE;
}

/* Reports the progress of this rank, and asks whether another rank has failed. */
static int report_frames(Search *s, int64_t nb)
{
    const int64_t now = av_gettime_relative();
    int64_t stop = 0;
    int ret;

    s->nb_unreported += nb;
    if (nb && now - s->report_time < REPORT_INTERVAL)
        return 0;
    s->report_time = now;
    ret = shared_add(s->shared, SHARED_FRAMES, s->nb_unreported, NULL);
    s->nb_unreported = 0;
    if (ret >= 0)
        ret = shared_add(s->shared, SHARED_STOP, 0, &stop);
    progress_draw(s->shared);
    return ret < 0 ? ret : stop ? AVERROR_EXIT : 0;
}

/* Sets *segment to the next segment; -1 if there is none, or a rank has failed. */
static int take(Search *s, int *segment)
{
    int piece, ret = shared_take(s->shared, &piece);

    *segment = piece < 0 ? -1 : s->todo[piece];
    return ret;
}

/* If a segment has ended and all results have come, completes its rows, or frees them after an error. */
static int finish_if_complete(Rows *rows, int status)
{
    int ret = 0;

    if (rows && rows->ended && !rows->nb_pending) {
        if (status >= 0)
            ret = rows_finish(rows);
        rows_free(&rows);
    }
    return ret;
}

static int write_result(void *opaque, const GpumeResult *r, const GpumeStats *stats)
{
    Search *s = opaque;
    PendingPicture p;
    int ret = av_fifo_read(s->pending, &p, 1), err, found = 0;

    if (ret < 0 || !p.rows)
        return ret;
    for (int i = 0; i < r->params->nb_references && ret >= 0; i++) {
        const int64_t reference = p.stamp.number - 1 + r->params->distance[i];
        const int has = found < r->search.nb_fields && r->search.fields[found].reference == i;
        const int missing = reference < 0 || reference >= s->nb_frames;

        ret = !has && !missing ? AVERROR_BUG :
              rows_field(p.rows, &p.stamp, i, missing ? NULL : &r->search.fields[found],
                         missing || !stats ? NULL : &stats[found]);
        found += has;
    }
    if (ret < 0)
        s->failed = p.rows->record.segment;
    p.rows->nb_pending--;
    err = finish_if_complete(p.rows, ret);
    ret = FFMIN(ret, err);
    return ret < 0 ? ret : report_frames(s, 1);
}

GpumeSink search_sink(Search *s)
{
    return (GpumeSink) { .write = write_result, .opaque = s, .needs_stats = s->segments->stats_format >= 0 };
}

/* Computes a checksum of a picture's luma, to compare the key frame that two ranks decode. */
static int hash_picture(const AVFrame *frame, uint8_t hash[HASH_SIZE])
{
    struct AVMurMur3 *ctx = av_murmur3_alloc();
    AVFrame *copy = av_frame_alloc();
    const AVFrame *f = frame;
    int ret = ctx && copy ? 0 : AVERROR(ENOMEM);
    int bytes;

    if (ret >= 0 && frame->hw_frames_ctx) {
        ret = av_hwframe_transfer_data(copy, frame, 0);
        f   = copy;
    }
    bytes = ret < 0 ? ret : av_image_get_linesize(f->format, frame->width, 0);
    if (bytes < 0)
        ret = bytes;
    if (ret >= 0) {
        av_murmur3_init(ctx);
        for (int y = 0; y < frame->height; y++)
            av_murmur3_update(ctx, f->data[0] + y * f->linesize[0], bytes);
        av_murmur3_final(ctx, hash);
    }
    av_frame_free(&copy);
    av_free(ctx);
    return ret;
}

/* Ends the graph, so that all results come out. */
static int end_graph(Search *s)
{
    int ret = s->graph.graph ? graph_push(&s->graph, NULL) : 0;

    graph_close(&s->graph);
    if (ret >= 0 && s->pending && av_fifo_can_read(s->pending)) {
        shared_report(s->shared, s->segment, "%d frames were lost in the filters", (int)av_fifo_can_read(s->pending));
        ret = AVERROR_BUG;
    }
    return ret;
}

/* Configures the graph for a picture, unless the current graph fits. */
static int prepare_graph(Search *s, const AVFrame *frame, int begins)
{
    uint8_t *hw_frames = frame->hw_frames_ctx ? frame->hw_frames_ctx->data : NULL;
    Picture picture;
    int ret;

    graph_picture(&picture, frame);
    if (memcmp(&picture, s->picture, sizeof(picture)) ||
        s->graph.graph && hw_frames != s->graph.hw_frames && !begins) {
        shared_report(s->shared, s->segment, "frame %"PRId64" is %dx%d %s, unlike the first frame; ffmpeg would "
                      "begin new files there, so gpume-mpi cannot search this video",
                      s->number + 1, picture.width, picture.height, av_get_pix_fmt_name(picture.sw_format));
        return AVERROR(ENOSYS);
    }
    if (s->graph.graph && hw_frames != s->graph.hw_frames) {
        ret = end_graph(s);
        if (ret < 0)
            return ret;
    }
    return s->graph.graph ? 0 : graph_open(&s->graph, s->graph_cfg, frame);
}

/*
 * Sends a picture to the graph.
 * @param begins whether the picture is the first of a run
 */
static int push(Search *s, AVFrame *frame, int begins)
{
    const PendingPicture p = { s->rows, { s->number + 1, frame->pts, s->in->st->time_base } };
    int ret = prepare_graph(s, frame, begins);

    if (ret >= 0 && !s->pending && !(s->pending = av_fifo_alloc2(16, sizeof(p), AV_FIFO_FLAG_AUTO_GROW)))
        ret = AVERROR(ENOMEM);
    if (ret < 0 ||
        (ret = av_fifo_write(s->pending, &p, 1)) < 0)
        return ret;
    if (s->rows)
        s->rows->nb_pending++;
    s->number++;
    /* only the order of the timestamps matters here */
    frame->pts    = s->nb_pushed++;
    frame->opaque = NULL;
    return graph_push(&s->graph, frame);
}

/* Ends the list of pictures whose fields belong to the segment. */
static int end_rows(Search *s)
{
    Rows *rows = s->rows;

    s->rows = NULL;
    if (rows)
        rows->ended = 1;
    return finish_if_complete(rows, 0);
}

/* Begins the list of pictures whose fields belong to the segment whose key frame came last. */
static int begin_rows(Search *s)
{
    const int ret = end_rows(s);

    if (ret < 0 || s->segment > s->last)
        return ret;
    s->rows = rows_open(s->segments, s->segment);
    if (!s->rows)
        return AVERROR(EIO);
    memcpy(s->rows->record.first, s->key, HASH_SIZE);
    return 0;
}

/* Handles a segment's key frame. */
static int handle_key_frame(Search *s, const AVFrame *frame)
{
    const int ret = hash_picture(frame, s->key);

    if (s->waiting)
        s->number = s->video->segments[s->segment].number;
    else
        s->segment++;
    s->waiting = 0;
    if (s->rows)
        memcpy(s->rows->record.last, s->key, HASH_SIZE);
    return ret;
}

/* Handles an error of the decoder in a picture that is needed. */
static int check_frame(Search *s, const AVFrame *frame)
{
    if (!frame->decode_error_flags && !(frame->flags & AV_FRAME_FLAG_CORRUPT))
        return 0;
    /* the picture needs one before the key frame; in the whole video it may be correct */
    if (s->video->nb_segments > 1 && s->segment && frame->decode_error_flags & FF_DECODE_ERROR_MISSING_REFERENCE)
        return indivisible(s, "a picture refers to one before the key frame");
    shared_report(s->shared, s->segment, "frame %"PRId64" could not be decoded: the input is damaged or truncated",
                  s->number + 1);
    return AVERROR_INVALIDDATA;
}

/* Handles a picture that comes out of the decoder. */
static int take_frame(Search *s, AVFrame *frame)
{
    const int64_t packet = (intptr_t)frame->opaque - 1;
    const Video *video = s->video;
    const int begins = s->waiting && (!s->segment || packet == video->segments[s->segment].packet);
    const VideoSegment *next = s->segment + 1 < video->nb_segments ? &video->segments[s->segment + 1] : NULL;
    int ret;

    if (s->done || s->waiting && !begins)
        return 0;
    if (!begins && next && (packet == next->packet) != (s->number == next->number))
        return indivisible(s, "the number of pictures differs from the number of packets");
    if (frame->pts != video->packets[packet].pts || !begins && frame->pts <= s->last_pts)
        return indivisible(s, "the timestamps are not those of the order of presentation");
    s->last_pts = frame->pts;
    ret = av_frame_apply_cropping(frame, AV_FRAME_CROP_UNALIGNED);
    if (ret >= 0 && (begins || next && packet == next->packet))
        ret = handle_key_frame(s, frame);
    if (ret >= 0)
        ret = check_frame(s, frame);
    if (ret >= 0 && s->number == video_first(video, s->segment))
        ret = begin_rows(s);
    if (ret >= 0 && s->rows)
        s->rows->record.nb_frames++;
    if (ret >= 0)
        ret = push(s, frame, begins);
    /* this was the last picture that the next segment shares, and another rank has the next segment */
    if (ret >= 0 && s->segment > s->last && s->number == video->segments[s->segment].number + video->shared) {
        s->done = 1;
        ret = end_rows(s);
    }
    return ret;
}

/*
 * Returns whether the video's first picture has not come yet. Until then, errors of the decoder are ignored, because
 * the first packets may refer to pictures before the video.
 */
static int is_before_start(const Search *s)
{
    return s->waiting && !s->segment;
}

static int receive(Search *s)
{
    AVFrame *frame = s->in->frame;
    int ret;

    while ((ret = avcodec_receive_frame(s->in->dec, frame)) >= 0) {
        ret = take_frame(s, frame);
        av_frame_unref(frame);
        if (ret < 0)
            return ret;
    }
    if (ret == AVERROR(EAGAIN) || ret == AVERROR_EOF || is_before_start(s))
        return 0;
    shared_report(s->shared, s->segment, "decoder: %s", av_err2str(ret));
    return ret;
}

static int send(Search *s, const AVPacket *pkt)
{
    int ret;

    if (pkt && !pkt->size)
        return 0;
    ret = avcodec_send_packet(s->in->dec, pkt);
    if (ret < 0 && !is_before_start(s)) {
        shared_report(s->shared, s->segment, "decoder, packet %"PRId64": %s", s->in->next - 1, av_err2str(ret));
        return ret;
    }
    return receive(s);
}

/* Before the key frame of the segment after s->last is decoded, takes that segment, or decides what follows instead. */
static int decide(Search *s)
{
    int ret;

    if (s->next != UNDECIDED || s->last + 1 >= s->video->nb_segments ||
        s->in->next <= s->video->segments[s->last + 1].packet)
        return 0;
    ret = take(s, &s->next);
    if (ret >= 0 && s->next == s->last + 1) {
        s->last++;
        s->next = UNDECIDED;
    }
    return ret;
}

static int end_of_stream(Search *s)
{
    int ret = send(s, NULL);

    if (ret >= 0 && !s->done) {
        const int parts = s->video->nb_segments;

        if (s->waiting && parts == 1) {
            shared_report(s->shared, s->segment, "the decoder returned no frame");
            return AVERROR_INVALIDDATA;
        }
        if (s->waiting || s->segment != parts - 1 || parts > 1 && s->number != s->video->nb_frames)
            return indivisible(s, "the last frames differ from those of the whole stream");
        s->nb_frames = s->number;
        s->done      = 1;
        ret = end_rows(s);
    }
    return ret;
}

/* Runs the decoder over a segment, and over the following segments while no other rank takes them. */
static int run(Search *s, int segment)
{
    const int level = av_log_get_level();
    const Video *video = s->video;
    int ret;

    s->segment = s->last = segment;
    s->next    = UNDECIDED;
    s->waiting = 1;
    s->done    = 0;
    avcodec_flush_buffers(s->in->dec);
    ret = input_seek(s->in, video, video->segments[segment].packet);
    while (ret >= 0 && !s->done) {
        const int64_t late = s->waiting ? video->segments[segment].packet :
                             s->segment + 1 < video->nb_segments ? video->segments[s->segment + 1].last :
                             video->nb_packets;

        if (s->in->next > late + MAX_DELAY)
            return indivisible(s, "a key frame is missing");
        ret = input_read(s->in, video);
        if (ret == AVERROR_EOF) {
            ret = end_of_stream(s);
            break;
        }
        if (ret >= 0)
            ret = decide(s);
        /* references of pictures that are shown before the key frame are missing, and the decoder says so; but these
         * pictures belong to another segment */
        if (segment && s->in->next <= video->segments[segment].last + MUTED_AFTER)
            av_log_set_level(FFMIN(level, AV_LOG_FATAL));
        if (ret >= 0)
            ret = send(s, s->in->pkt);
        av_log_set_level(level);
        av_packet_unref(s->in->pkt);
        /* all packets of this rank's segments have been read */
        if (ret >= 0 && s->next != UNDECIDED && !s->done && s->in->next > video->segments[s->last + 1].last) {
            ret = send(s, NULL);
            if (ret >= 0 && !s->done)
                ret = indivisible(s, "a key frame is missing");
        }
    }
    av_packet_unref(s->in->pkt);
    if (ret >= 0 && s->next == UNDECIDED)
        ret = take(s, &s->next);
    return ret;
}

int search_probe(Search *s, Picture *picture)
{
    AVFrame *frame = s->in->frame;
    int ret = input_seek(s->in, s->video, 0);

    while (ret >= 0) {
        ret = avcodec_receive_frame(s->in->dec, frame);
        if (ret >= 0 || ret == AVERROR_EOF)
            break;
        ret = input_read(s->in, s->video);
        /* errors are about packets that refer to pictures before the video */
        if (ret >= 0 && s->in->pkt->size)
            avcodec_send_packet(s->in->dec, s->in->pkt);
        else if (ret == AVERROR_EOF)
            ret = avcodec_send_packet(s->in->dec, NULL);
        av_packet_unref(s->in->pkt);
    }
    if (ret < 0 ||
        (ret = av_frame_apply_cropping(frame, AV_FRAME_CROP_UNALIGNED)) < 0) {
        shared_report(s->shared, -1, "could not decode the first frame: %s", av_err2str(ret));
        return ret;
    }
    s->first_packet = (intptr_t)frame->opaque - 1;
    graph_picture(picture, frame);
    ret = graph_open(&s->graph, s->graph_cfg, frame);
    av_frame_unref(frame);
    return ret;
}

int search_run(Search *s)
{
    int segment, ret;

    s->failed    = -1;
    s->nb_frames = INT64_MAX;
    ret = take(s, &segment);

    while (ret >= 0 && segment >= 0) {
        ret     = run(s, segment);
        segment = s->next;
    }
    if (ret >= 0)
        ret = end_graph(s);
    if (ret >= 0)
        ret = report_frames(s, 0);
    if (ret < 0 && ret != AVERROR_EXIT) {
        shared_report(s->shared, s->failed >= 0 ? s->failed : s->segment, "%s", ret == GPUME_INDIVISIBLE ?
                      "the video decodes differently in parts than as a whole; use ffmpeg instead of gpume-mpi" :
                      av_err2str(ret));
        shared_add(s->shared, SHARED_STOP, 1, NULL);
    }
    return ret;
}

void search_free(Search *s)
{
    PendingPicture p;

    graph_close(&s->graph);
    while (s->pending && av_fifo_read(s->pending, &p, 1) >= 0)
        if (p.rows && !--p.rows->nb_pending && p.rows != s->rows)
            rows_free(&p.rows);
    rows_free(&s->rows);
    av_fifo_freep2(&s->pending);
}
