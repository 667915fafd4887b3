/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/adler32.h"
#include "libavutil/intmath.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"

#include "mpi/input.h"
#include "mpi/shared.h"

/** After a seek, a packet must come within this number of packets. */
#define MAX_SEARCHED 4096
/** In files without usable timestamps, reading begins this number of bytes before a packet. */
#define MARGIN (1 << 16)

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

int input_open(Input *in, const char *path, int threads, AVBufferRef *device)
{
    int ret, video;

    memset(in, 0, sizeof(*in));
    in->pkt   = av_packet_alloc();
    in->frame = av_frame_alloc();
    if (!in->pkt || !in->frame)
        return AVERROR(ENOMEM);
    if ((ret = avformat_open_input(&in->fmt, path, NULL, NULL)) < 0 ||
        (ret = avformat_find_stream_info(in->fmt, NULL)) < 0)
        return ret;
    video = choose_video(in->fmt);
    if (video < 0) {
        av_log(in->fmt, AV_LOG_ERROR, "There is no video in '%s'.\n", path);
        return AVERROR_STREAM_NOT_FOUND;
    }
    in->st  = in->fmt->streams[video];
    in->par = avcodec_parameters_alloc();
    if (!in->par)
        return AVERROR(ENOMEM);
    ret = avcodec_parameters_copy(in->par, in->st->codecpar);
    if (ret < 0)
        return ret;
    in->audio = av_find_best_stream(in->fmt, AVMEDIA_TYPE_AUDIO, -1, -1, NULL, 0);
    for (int i = 0; i < in->fmt->nb_streams; i++)
        if (i != video)
            in->fmt->streams[i]->discard = AVDISCARD_ALL;
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

/** State of reading the packets of a film. */
typedef struct Scan {
    PacketClock clock;
    AVCodecParserContext *parser;   ///< for files whose packets have no timestamps
    AVCodecContext *ctx;            ///< the context of the parser
    unsigned size;                  ///< allocated bytes of Film.packets
} Scan;

/* Opens a parser of our own, because the parser of the demuxer may be some packets ahead. */
static int begin_parser(Scan *s, const Input *in)
{
    s->parser = av_parser_init(in->par->codec_id);
    if (!s->parser)
        return 0;
    s->parser->flags |= PARSER_FLAG_COMPLETE_FRAMES;
    s->ctx = avcodec_alloc_context3(NULL);
    return s->ctx ? avcodec_parameters_to_context(s->ctx, in->par) : AVERROR(ENOMEM);
}

static void parse(Scan *s, const AVPacket *pkt, FilmPacket *p)
{
    uint8_t *data;
    int size;

    if (!s->parser)
        return;
    av_parser_parse2(s->parser, s->ctx, &data, &size, pkt->data, pkt->size, pkt->pts, pkt->dts, pkt->pos);
    p->parsed = 1;
    p->type   = s->parser->pict_type;
    p->order  = s->parser->output_picture_number;
}

static int add_packet(Input *in, Film *film, Scan *scan)
{
    AVPacket *pkt = in->pkt;
    const int key = !!(pkt->flags & AV_PKT_FLAG_KEY);
    FilmPacket *p = av_fast_realloc(film->packets, &scan->size, (film->nb_packets + 1) * sizeof(*p));
    int ret;

    if (!p)
        return AVERROR(ENOMEM);
    if (!film->nb_packets && (pkt->pts == AV_NOPTS_VALUE || in->fmt->iformat->flags & AVFMT_NOTIMESTAMPS) &&
        (ret = begin_parser(scan, in)) < 0)
        return ret;
    film->packets = p;
    p += film->nb_packets++;
    *p = (FilmPacket) {
        .duration = pkt->duration, .file_pts = pkt->pts, .file_dts = pkt->dts, .pos = pkt->pos,
        .size = pkt->size, .key = key, .hash = key ? av_adler32_update(1, pkt->data, pkt->size) : 0,
        .shown = pkt->size && !(pkt->flags & AV_PKT_FLAG_DISCARD) && !is_hidden(in, pkt),
    };
    parse(scan, pkt, p);
    packet_clock_set(&scan->clock, pkt);
    if (in->fmt->iformat->flags & AVFMT_NOTIMESTAMPS)
        pkt->pts = pkt->dts = AV_NOPTS_VALUE;
    p->pts = pkt->pts;
    p->dts = pkt->dts;
    return 0;
}

/* Reads a length of EBML, which has as many further bytes as its first byte has leading zeros. -1: it is unknown. */
static int64_t read_length(AVIOContext *pb)
{
    const int first = avio_r8(pb), more = first ? 7 - av_log2(first) : 8;
    int64_t length = first & ((1 << (7 - FFMIN(more, 7))) - 1);
    int unknown = length == (1 << (7 - FFMIN(more, 7))) - 1;

    for (int i = 0; i < more; i++) {
        const int byte = avio_r8(pb);

        unknown &= byte == 0xff;
        length   = length << 8 | byte;
    }
    return unknown || more > 7 ? -1 : length;
}

/* Returns where a Matroska file ends according to its headers; -1: unknown. The demuxer accepts any end. */
static int64_t matroska_end(AVIOContext *pb)
{
    int64_t length;

    if (avio_seek(pb, 0, SEEK_SET) < 0 || avio_rb32(pb) != 0x1a45dfa3 || (length = read_length(pb)) < 0 ||
        avio_skip(pb, length) < 0 || avio_rb32(pb) != 0x18538067 || (length = read_length(pb)) < 0)
        return -1;
    return avio_tell(pb) + length;
}

/*
 * Checks the end of the file. Returns an AVERROR code if a packet was truncated, if reading has failed, or if a
 * Matroska file is shorter than its headers say; else 0.
 */
static int check_end(const Input *in, int ret)
{
    AVIOContext *pb = in->fmt->pb;
    int64_t size;
    int truncated = in->truncated;

    if (ret == AVERROR_EOF && pb && pb->error < 0 && pb->error != AVERROR_EOF)
        ret = pb->error;
    if (ret == AVERROR_EOF && pb && strstr(in->fmt->iformat->name, "matroska") && (size = avio_size(pb)) > 0)
        truncated |= matroska_end(pb) > size;
    if (truncated) {
        av_log(in->fmt, AV_LOG_ERROR, "The file is truncated.\n");
        return AVERROR_INVALIDDATA;
    }
    return ret == AVERROR_EOF ? 0 : ret;
}

int input_scan(Input *in, Film *film)
{
    Scan scan = { 0 };
    int ret;

    /* in formats that may have jumps, the timestamps of the audio affect those of the video */
    if (in->audio >= 0 && in->fmt->iformat->flags & AVFMT_TS_DISCONT)
        in->fmt->streams[in->audio]->discard = AVDISCARD_DEFAULT;
    ret = packet_clock_init(&scan.clock, in->fmt, in->st->index, in->audio);
    while (ret >= 0 && (ret = av_read_frame(in->fmt, in->pkt)) >= 0) {
        if (in->pkt->stream_index == in->st->index) {
            in->truncated |= !!(in->pkt->flags & AV_PKT_FLAG_CORRUPT);
            ret = add_packet(in, film, &scan);
        } else if (in->pkt->stream_index == in->audio) {
            packet_clock_set(&scan.clock, in->pkt);
        }
        av_packet_unref(in->pkt);
    }
    packet_clock_free(&scan.clock);
    av_parser_close(scan.parser);
    avcodec_free_context(&scan.ctx);
    if (in->audio >= 0)
        in->fmt->streams[in->audio]->discard = AVDISCARD_ALL;
    ret = check_end(in, ret);
    if (ret < 0)
        return ret;
    in->next = film->nb_packets;
    film_count(film, in->par->codec_id, in->dec->has_b_frames || in->par->video_delay);
    if (!film->nb_frames) {
        av_log(in->fmt, AV_LOG_ERROR, "No frame of the file can be decoded.\n");
        return AVERROR_INVALIDDATA;
    }
    return 0;
}

/* Returns whether in->pkt is a packet of the film. A key packet is recognised by its data. */
static int is_packet(const Input *in, const FilmPacket *p)
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
 * Reads at most this number of packets until a packet of the film comes, and keeps it in in->pkt. Two packets of a
 * file can have the same data, so their positions are compared as well. Returns AVERROR_EOF if it does not come.
 */
static int find(Input *in, const Film *film, int64_t packet, int64_t most)
{
    const FilmPacket *p = &film->packets[packet];
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

/* Seeks near a packet in one of four ways, the most promising first. Returns a negative value on failure. */
static int seek_near(Input *in, const FilmPacket *p, int way)
{
    const int has_times = !(in->fmt->iformat->flags & (AVFMT_TS_DISCONT | AVFMT_NOTIMESTAMPS));
    const int by_dts    = !!strstr(in->fmt->iformat->name, "mp4");
    const int64_t first = by_dts ? p->file_dts : p->file_pts, second = by_dts ? p->file_pts : p->file_dts;

    switch (way) {
    case 0:
        return has_times && first != AV_NOPTS_VALUE ?
               av_seek_frame(in->fmt, in->st->index, first, AVSEEK_FLAG_BACKWARD) : -1;
    case 1:
        return has_times && second != AV_NOPTS_VALUE ?
               av_seek_frame(in->fmt, in->st->index, second, AVSEEK_FLAG_BACKWARD) : -1;
    case 2:
        return !has_times && p->pos >= 0 ? av_seek_frame(in->fmt, -1, p->pos, AVSEEK_FLAG_BYTE) : -1;
    case 3:
        return !has_times && p->pos > MARGIN ? av_seek_frame(in->fmt, -1, p->pos - MARGIN, AVSEEK_FLAG_BYTE) : -1;
    }
    return -1;
}

/* Opens the file again, to read from the first packet on. */
static int reopen(Input *in)
{
    char *path = av_strdup(in->fmt->url);
    const int video = in->st->index;
    int ret;

    if (!path)
        return AVERROR(ENOMEM);
    avformat_close_input(&in->fmt);
    ret = avformat_open_input(&in->fmt, path, NULL, NULL);
    if (ret >= 0)
        ret = avformat_find_stream_info(in->fmt, NULL);
    av_free(path);
    if (ret < 0)
        return ret;
    if (video >= in->fmt->nb_streams)
        return GPUME_INDIVISIBLE;
    in->st = in->fmt->streams[video];
    for (int i = 0; i < in->fmt->nb_streams; i++)
        if (i != video)
            in->fmt->streams[i]->discard = AVDISCARD_ALL;
    return 0;
}

int input_seek(Input *in, const Film *film, int64_t packet)
{
    int ret;

    if (in->next == packet)
        return 0;
    av_packet_unref(in->pkt);
    for (int way = 0; way < 4; way++)
        if (seek_near(in, &film->packets[packet], way) >= 0 && find(in, film, packet, MAX_SEARCHED) >= 0) {
            in->next = packet;
            return 0;
        }
    ret = reopen(in);
    if (ret < 0)
        return ret;
    in->next = 0;
    while (in->next < packet) {
        ret = input_read(in, film);
        if (ret < 0)
            return ret == AVERROR_EOF ? GPUME_INDIVISIBLE : ret;
        av_packet_unref(in->pkt);
    }
    return 0;
}

int input_read(Input *in, const Film *film)
{
    const FilmPacket *p;
    int ret = 0;

    /* a seek may have read the packet already */
    if (!in->pkt->data && !in->pkt->side_data_elems)
        ret = read_video(in);
    if (ret < 0)
        return ret != AVERROR_EOF ? ret : in->next < film->nb_packets ? GPUME_INDIVISIBLE : ret;
    if (in->next >= film->nb_packets)
        return GPUME_INDIVISIBLE;
    p = &film->packets[in->next];
    if (!is_packet(in, p))
        return GPUME_INDIVISIBLE;
    in->pkt->pts      = p->pts;
    in->pkt->dts      = p->dts;
    in->pkt->duration = p->duration;
    /* opaque is the number plus 1, because 0 means that there is no number */
    in->pkt->opaque   = (void *)(intptr_t)++in->next;
    return 0;
}

int64_t input_packet_of(const AVFrame *frame)
{
    return (intptr_t)frame->opaque - 1;
}
