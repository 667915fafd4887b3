/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/** @file Opens the file of mpi/video.h and its decoder, reads its packets, and decodes its frames. */

#include <string.h>

#include "libavutil/adler32.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"

#include "mpi/video.h"
#include "mpi/shared.h"

/** After a seek, a packet must come within this number of packets. */
#define MAX_SEARCHED 4096
/** In formats whose timestamps may jump, reading begins this number of bytes before a packet. */
#define MARGIN (1 << 16)
/**
 * Microseconds between two packets at which ffmpeg takes the timestamps as they are: it removes jumps of 10 s in
 * formats that may have jumps (-dts_delta_threshold), and of 30 h in other formats (-dts_error_threshold).
 */
#define MAX_JUMP  (5LL * AV_TIME_BASE)
#define MAX_ERROR (3600LL * 29 * AV_TIME_BASE)

/* Chooses the video stream as ffmpeg does: the largest picture; a stream without packets only if there is no other. */
static int choose_video(const AVFormatContext *fmt)
{
    int64_t best_score = 0;
    int best = -1;

    for (int i = 0; i < fmt->nb_streams; i++) {
        const AVStream *st = fmt->streams[i];
        int64_t score;

        if (st->codecpar->codec_type != AVMEDIA_TYPE_VIDEO)
            continue;
        score = (int64_t)st->codecpar->width * st->codecpar->height +
                100000000 * !!(st->event_flags & AVSTREAM_EVENT_FLAG_NEW_PACKETS) +
                5000000 * !!(st->disposition & AV_DISPOSITION_DEFAULT);
        if (st->disposition & AV_DISPOSITION_ATTACHED_PIC)
            score = 1;
        if (score > best_score) {
            best_score = score;
            best       = i;
        }
    }
    return best;
}

static enum AVPixelFormat choose_cuda(AVCodecContext *dec, const enum AVPixelFormat *formats)
{
    for (int i = 0; formats[i] != AV_PIX_FMT_NONE; i++)
        if (formats[i] == AV_PIX_FMT_CUDA)
            return AV_PIX_FMT_CUDA;
    return avcodec_default_get_format(dec, formats);
}

static int open_decoder(Input *in, int threads, AVBufferRef *device)
{
    const AVCodec *codec = avcodec_find_decoder(in->par->codec_id);
    int ret;

    if (!codec) {
        av_log(in->fmt, AV_LOG_ERROR, "There is no decoder for %s.\n",
               avcodec_get_name(in->par->codec_id));
        return AVERROR_DECODER_NOT_FOUND;
    }
    in->dec = avcodec_alloc_context3(codec);
    if (!in->dec)
        return AVERROR(ENOMEM);
    ret = avcodec_parameters_to_context(in->dec, in->par);
    if (ret < 0)
        return ret;
    in->dec->pkt_timebase   = in->st->time_base;
    in->dec->thread_count   = threads;
    in->dec->flags         |= AV_CODEC_FLAG_COPY_OPAQUE;
    in->dec->apply_cropping = 0;
    if (device) {
        in->dec->hw_device_ctx = av_buffer_ref(device);
        if (!in->dec->hw_device_ctx)
            return AVERROR(ENOMEM);
        in->dec->get_format      = choose_cuda;
        in->dec->thread_count    = 1;       /* more threads would occupy more surfaces, of which there are few */
        in->dec->extra_hw_frames = 16;      /* the filter keeps some frames */
    }
    return avcodec_open2(in->dec, codec, NULL);
}

/* Opens the file and chooses the video stream. @param video the stream, or -1 */
static int open_file(Input *in, const char *path, int video)
{
    int ret;

    if ((ret = avformat_open_input(&in->fmt, path, NULL, NULL)) < 0 ||
        (ret = avformat_find_stream_info(in->fmt, NULL)) < 0)
        return ret;
    if (video < 0)
        video = choose_video(in->fmt);
    if (video < 0 || video >= in->fmt->nb_streams) {
        av_log(in->fmt, AV_LOG_ERROR, "There is no video in '%s'.\n", path);
        return AVERROR_STREAM_NOT_FOUND;
    }
    in->st = in->fmt->streams[video];
    for (int i = 0; i < in->fmt->nb_streams; i++)
        if (i != video)
            in->fmt->streams[i]->discard = AVDISCARD_ALL;
    return 0;
}

int input_open(Input *in, const char *path, int threads, AVBufferRef *device)
{
    int ret;

    memset(in, 0, sizeof(*in));
    in->pkt   = av_packet_alloc();
    in->frame = av_frame_alloc();
    in->par   = avcodec_parameters_alloc();
    if (!in->pkt || !in->frame || !in->par)
        return AVERROR(ENOMEM);
    if ((ret = open_file(in, path, -1)) < 0 ||
        (ret = avcodec_parameters_copy(in->par, in->st->codecpar)) < 0)
        return ret;
    in->audio = av_find_best_stream(in->fmt, AVMEDIA_TYPE_AUDIO, -1, -1, NULL, 0);
    return open_decoder(in, threads, device);
}

void input_close(Input *in)
{
    avcodec_free_context(&in->dec);
    avcodec_parameters_free(&in->par);
    avformat_close_input(&in->fmt);
    av_packet_free(&in->pkt);
    av_frame_free(&in->frame);
}

/* Returns whether a packet of VP8 contains a picture that is only a reference. */
static int is_hidden(const Input *in, const AVPacket *pkt)
{
    return in->par->codec_id == AV_CODEC_ID_VP8 && pkt->size > 0 && !(pkt->data[0] & 0x10);
}

/** Timestamps of the packets so far, as ffmpeg computes them: from the video's start on. Times are in microseconds. */
typedef struct Clock {
    int64_t offset;         ///< offset of all timestamps
    int64_t *dts;           ///< dts of the previous packet of each stream
    int64_t last;           ///< dts of the previous packet of any stream
} Clock;

static int clock_init(Clock *c, const Input *in)
{
    const int used[] = { in->st->index, in->audio };
    const AVFormatContext *fmt = in->fmt;
    int64_t start = INT64_MAX;

    *c = (Clock) { .last = AV_NOPTS_VALUE, .dts = av_malloc_array(fmt->nb_streams, sizeof(*c->dts)) };
    if (!c->dts)
        return AVERROR(ENOMEM);
    for (int i = 0; i < fmt->nb_streams; i++)
        c->dts[i] = AV_NOPTS_VALUE;
    if (fmt->start_time == AV_NOPTS_VALUE)
        return 0;
    for (int i = 0; i < FF_ARRAY_ELEMS(used); i++)
        if (used[i] >= 0 && fmt->streams[used[i]]->start_time != AV_NOPTS_VALUE)
            start = FFMIN(start, av_rescale_q(fmt->streams[used[i]]->start_time,
                                              fmt->streams[used[i]]->time_base, AV_TIME_BASE_Q));
    c->last   = 0;
    c->offset = -fmt->start_time;
    /* the start of the used streams, which may be later than that of the file */
    if (fmt->iformat->flags & AVFMT_TS_DISCONT && start != INT64_MAX && start > fmt->start_time)
        c->offset = -start;
    return 0;
}

/*
 * Sets the timestamps of a packet of a used stream. Returns AVERROR_PATCHWELCOME where ffmpeg might remove a jump of
 * the timestamps.
 */
static int clock_set(Clock *c, const Input *in, AVPacket *pkt)
{
    const AVStream *st = in->fmt->streams[pkt->stream_index];
    const int64_t offset = av_rescale_q(c->offset, AV_TIME_BASE_Q, st->time_base);
    const int may_jump = in->fmt->iformat->flags & AVFMT_TS_DISCONT;
    const int64_t most = may_jump ? MAX_JUMP : MAX_ERROR;
    int64_t *previous = &c->dts[st->index], dts;

    if (pkt->pts != AV_NOPTS_VALUE)
        pkt->pts += offset;
    if (pkt->dts == AV_NOPTS_VALUE)
        return 0;
    pkt->dts += offset;
    dts = av_rescale_q(pkt->dts, st->time_base, AV_TIME_BASE_Q);
    if (*previous != AV_NOPTS_VALUE && (FFABS(dts - *previous) > most || may_jump && dts < *previous) ||
        c->last != AV_NOPTS_VALUE && FFABS(dts - c->last) > most ||
        pkt->pts != AV_NOPTS_VALUE && FFABS(av_rescale_q(pkt->pts, st->time_base, AV_TIME_BASE_Q) - dts) > most) {
        av_log(in->fmt, AV_LOG_ERROR, "The timestamps jump at %f s, so the video cannot be searched in parts; use "
               "ffmpeg instead of gpume-mpi.\n", dts / 1e6);
        return AVERROR_PATCHWELCOME;
    }
    *previous = c->last = dts;
    return 0;
}

static int add_packet(Input *in, Video *video, Clock *clock, unsigned *size)
{
    AVPacket *pkt = in->pkt;
    const int key = !!(pkt->flags & AV_PKT_FLAG_KEY);
    VideoPacket *p = av_fast_realloc(video->packets, size, (video->nb_packets + 1) * sizeof(*p));
    int ret;

    if (!p)
        return AVERROR(ENOMEM);
    video->packets = p;
    p += video->nb_packets++;
    *p = (VideoPacket) {
        .duration = pkt->duration, .file_pts = pkt->pts, .file_dts = pkt->dts, .pos = pkt->pos,
        .size = pkt->size, .key = key, .hash = key ? av_adler32_update(1, pkt->data, pkt->size) : 0,
        .shown = pkt->size && !(pkt->flags & AV_PKT_FLAG_DISCARD) && !is_hidden(in, pkt),
    };
    ret = clock_set(clock, in, pkt);
    p->pts = pkt->pts;
    p->dts = pkt->dts;
    return ret;
}

int input_scan(Input *in, Video *video)
{
    const AVIOContext *pb = in->fmt->pb;
    Clock clock;
    unsigned size = 0;
    int truncated = 0, ret;

    if (in->fmt->iformat->flags & AVFMT_NOTIMESTAMPS)
        goto no_times;
    /* in formats that may have jumps, the timestamps of the audio affect those of the video */
    if (in->audio >= 0 && in->fmt->iformat->flags & AVFMT_TS_DISCONT)
        in->fmt->streams[in->audio]->discard = AVDISCARD_DEFAULT;
    ret = clock_init(&clock, in);
    while (ret >= 0 && (ret = av_read_frame(in->fmt, in->pkt)) >= 0) {
        if (in->pkt->stream_index == in->st->index) {
            truncated |= !!(in->pkt->flags & AV_PKT_FLAG_CORRUPT);
            ret = add_packet(in, video, &clock, &size);
        } else if (in->pkt->stream_index == in->audio) {
            ret = clock_set(&clock, in, in->pkt);
        }
        av_packet_unref(in->pkt);
    }
    av_free(clock.dts);
    if (in->audio >= 0)
        in->fmt->streams[in->audio]->discard = AVDISCARD_ALL;
    if (ret == AVERROR_EOF)
        ret = truncated ? AVERROR_INVALIDDATA : pb && pb->error != AVERROR_EOF ? pb->error : 0;
    if (ret < 0)
        return ret;
    in->next = video->nb_packets;
    ret = video_count(video);
    if (ret == AVERROR_PATCHWELCOME)
        goto no_times;
    if (ret >= 0 && !video->nb_frames) {
        av_log(in->fmt, AV_LOG_ERROR, "No frame of the file can be decoded.\n");
        ret = AVERROR_INVALIDDATA;
    }
    return ret;
no_times:
    av_log(in->fmt, AV_LOG_ERROR, "Some frames have no timestamps, so the video cannot be searched in parts; put "
           "it into a container with timestamps, such as .mkv or .mp4, or use ffmpeg instead of gpume-mpi.\n");
    return AVERROR_PATCHWELCOME;
}

/* Returns whether in->pkt is a packet of the video. A key packet is recognised by its data. */
static int is_packet(const Input *in, const VideoPacket *p)
{
    const AVPacket *pkt = in->pkt;

    return pkt->size == p->size && !!(pkt->flags & AV_PKT_FLAG_KEY) == p->key &&
           (!p->key || av_adler32_update(1, pkt->data, pkt->size) == p->hash);
}

static int read_video(Input *in)
{
    int ret;

    while ((ret = av_read_frame(in->fmt, in->pkt)) >= 0 && in->pkt->stream_index != in->st->index)
        av_packet_unref(in->pkt);
    return ret;
}

/*
 * Reads at most this number of packets until a packet of the video comes, and keeps it in in->pkt. Two packets of a
 * file can have the same data, so their positions are compared as well. Returns AVERROR_EOF if it does not come.
 */
static int find(Input *in, const Video *video, int64_t packet, int64_t most)
{
    const VideoPacket *p = &video->packets[packet];
    int ret = 0;

    for (int64_t i = 0; i < most; i++) {
        ret = read_video(in);
        if (ret < 0)
            return ret;
        if (is_packet(in, p) && in->pkt->pos == p->pos && in->pkt->pts == p->file_pts)
            return 0;
        if (p->pos >= 0 && in->pkt->pos > p->pos + MARGIN)
            return AVERROR_EOF;
        av_packet_unref(in->pkt);
    }
    return AVERROR_EOF;
}

/* Seeks near a packet in one of two ways, the more promising first. Returns a negative value on failure. */
static int seek_near(Input *in, const VideoPacket *p, int way)
{
    const int by_dts = !!strstr(in->fmt->iformat->name, "mp4") ^ way;
    const int64_t time = by_dts ? p->file_dts : p->file_pts, pos = p->pos - way * MARGIN;

    if (in->fmt->iformat->flags & AVFMT_TS_DISCONT)
        return pos >= 0 ? av_seek_frame(in->fmt, -1, pos, AVSEEK_FLAG_BYTE) : -1;
    return time != AV_NOPTS_VALUE ? av_seek_frame(in->fmt, in->st->index, time, AVSEEK_FLAG_BACKWARD) : -1;
}

/* Opens the file again, to read from the first packet on. */
static int reopen(Input *in)
{
    char *path = av_strdup(in->fmt->url);
    const int video = in->st->index;
    int ret;

    avformat_close_input(&in->fmt);
    ret = path ? open_file(in, path, video) : AVERROR(ENOMEM);
    av_free(path);
    return ret;
}

int input_seek(Input *in, const Video *video, int64_t packet)
{
    int ret;

    if (in->next == packet)
        return 0;
    av_packet_unref(in->pkt);
    for (int way = 0; way < 2; way++)
        if (seek_near(in, &video->packets[packet], way) >= 0 && find(in, video, packet, MAX_SEARCHED) >= 0) {
            in->next = packet;
            return 0;
        }
    ret = reopen(in);
    if (ret < 0)
        return ret;
    in->next = 0;
    while (in->next < packet) {
        ret = input_read(in, video);
        if (ret < 0)
            return ret == AVERROR_EOF ? GPUME_INDIVISIBLE : ret;
        av_packet_unref(in->pkt);
    }
    return 0;
}

int input_read(Input *in, const Video *video)
{
    const VideoPacket *p;
    int ret = 0;

    /* a seek may have read the packet already */
    if (!in->pkt->data && !in->pkt->side_data_elems)
        ret = read_video(in);
    if (ret < 0)
        return ret != AVERROR_EOF ? ret : in->next < video->nb_packets ? GPUME_INDIVISIBLE : ret;
    if (in->next >= video->nb_packets)
        return GPUME_INDIVISIBLE;
    p = &video->packets[in->next];
    if (!is_packet(in, p))
        return GPUME_INDIVISIBLE;
    in->pkt->pts      = p->pts;
    in->pkt->dts      = p->dts;
    in->pkt->duration = p->duration;
    /* opaque is the number plus 1, because 0 means that there is no number */
    in->pkt->opaque   = (void *)(intptr_t)++in->next;
    return 0;
}
