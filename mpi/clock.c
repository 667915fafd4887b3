/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/avutil.h"
#include "libavutil/common.h"
#include "libavutil/mathematics.h"
#include "libavutil/mem.h"

#include "libavcodec/avcodec.h"
#include "libavcodec/codec_desc.h"

#include "mpi/clock.h"

/** The time base of microseconds. */
#define US AV_TIME_BASE_Q
/** In formats that may have jumps of timestamps, ffmpeg removes a longer jump than this: -dts_delta_threshold. */
#define DELTA_THRESHOLD (10LL * AV_TIME_BASE)
/** In other formats, ffmpeg takes a longer jump than this for an error: -dts_error_threshold. */
#define ERROR_THRESHOLD (3600LL * 30 * AV_TIME_BASE)

int packet_clock_init(PacketClock *c, const AVFormatContext *fmt, int video, int audio)
{
    const int used[] = { video, audio };
    int64_t start = INT64_MAX;

    memset(c, 0, sizeof(*c));
    c->fmt   = fmt;
    c->start = fmt->start_time;
    c->last  = AV_NOPTS_VALUE;
    c->streams = av_calloc(FFMAX(fmt->nb_streams, 1), sizeof(*c->streams));
    if (!c->streams)
        return AVERROR(ENOMEM);
    for (int i = 0; i < fmt->nb_streams; i++)
        c->streams[i].next_dts = AV_NOPTS_VALUE;
    if (fmt->start_time == AV_NOPTS_VALUE)
        return 0;

    c->offset = -fmt->start_time;
    for (int i = 0; i < FF_ARRAY_ELEMS(used); i++)
        if (used[i] >= 0 && fmt->streams[used[i]]->start_time != AV_NOPTS_VALUE)
            start = FFMIN(start, av_rescale_q(fmt->streams[used[i]]->start_time,
                                              fmt->streams[used[i]]->time_base, US));
    /* the start of the used streams, which may be later than that of the file */
    if (fmt->iformat->flags & AVFMT_TS_DISCONT && start != fmt->start_time && start != INT64_MAX) {
        c->start  = start;
        c->offset = fmt->start_time > start ? -fmt->start_time : -start;
    }
    return 0;
}

void packet_clock_free(PacketClock *c)
{
    av_freep(&c->streams);
}

static void shift(AVPacket *pkt, int64_t by)
{
    if (pkt->dts != AV_NOPTS_VALUE)
        pkt->dts += by;
    if (pkt->pts != AV_NOPTS_VALUE)
        pkt->pts += by;
}

/* Corrects timestamps before the start of the file that have wrapped around. */
static void unwrap(const PacketClock *c, StreamClock *s, const AVStream *st, AVPacket *pkt)
{
    const int bits = st->pts_wrap_bits;
    int64_t middle;

    if (s->wrap_done || c->start == AV_NOPTS_VALUE || bits >= 63)
        return;
    s->wrap_done = 1;
    middle = av_rescale_q(c->start, US, st->time_base) + (1LL << (bits - 1));
    if (pkt->dts != AV_NOPTS_VALUE && pkt->dts > middle) {
        pkt->dts    -= 1LL << bits;
        s->wrap_done = 0;
    }
    if (pkt->pts != AV_NOPTS_VALUE && pkt->pts > middle) {
        pkt->pts    -= 1LL << bits;
        s->wrap_done = 0;
    }
}

/* Removes a jump of a format that may have jumps, here and from now on. */
static void remove_jump(PacketClock *c, const AVStream *st, AVPacket *pkt, int64_t jump)
{
    c->jumps -= jump;
    shift(pkt, -av_rescale_q(jump, US, st->time_base));
}

static void handle_jumps(PacketClock *c, const StreamClock *s, const AVStream *st, AVPacket *pkt)
{
    const int may_jump = c->fmt->iformat->flags & AVFMT_TS_DISCONT;
    const int64_t dts = av_rescale_q(pkt->dts, st->time_base, US);

    if (s->next_dts == AV_NOPTS_VALUE) {
        if (may_jump && c->last != AV_NOPTS_VALUE && FFABS(dts - c->last) > DELTA_THRESHOLD)
            remove_jump(c, st, pkt, dts - c->last);
    } else if (may_jump) {
        if (FFABS(dts - s->next_dts) > DELTA_THRESHOLD || dts + AV_TIME_BASE / 10 < s->dts)
            remove_jump(c, st, pkt, dts - s->next_dts);
    } else {
        if (FFABS(dts - s->next_dts) > ERROR_THRESHOLD)
            pkt->dts = AV_NOPTS_VALUE;
        if (pkt->pts != AV_NOPTS_VALUE &&
            FFABS(av_rescale_q(pkt->pts, st->time_base, US) - s->next_dts) > ERROR_THRESHOLD)
            pkt->pts = AV_NOPTS_VALUE;
    }
    c->last = av_rescale_q(pkt->dts, st->time_base, US);
}

/* Estimates the duration of a packet without one, in microseconds. */
static int64_t guess_duration(const AVStream *st)
{
    const AVCodecDescriptor *desc = avcodec_descriptor_get(st->codecpar->codec_id);
    const AVCodecParserContext *parser = av_stream_get_parser(st);
    const AVRational rate = st->codecpar->framerate;
    const int fields = desc && desc->props & AV_CODEC_PROP_FIELDS && parser ? 1 + parser->repeat_pict : 2;

    return rate.num ? av_rescale_q(fields, av_inv_q(av_mul_q(rate, (AVRational) { 2, 1 })), US) : 0;
}

/* Sets s->next_dts to the expected dts of the next packet. */
static void predict(StreamClock *s, const AVStream *st, const AVPacket *pkt)
{
    const AVCodecParameters *par = st->codecpar;

    if (!s->begun) {
        s->dts = st->avg_frame_rate.num ? -par->video_delay * AV_TIME_BASE / av_q2d(st->avg_frame_rate) : 0;
        if (pkt->pts != AV_NOPTS_VALUE)
            s->dts += av_rescale_q(pkt->pts, st->time_base, US);
        s->begun = 1;
    }
    if (pkt->dts != AV_NOPTS_VALUE)
        s->next_dts = av_rescale_q(pkt->dts, st->time_base, US);
    else if (s->next_dts == AV_NOPTS_VALUE)
        s->next_dts = s->dts;
    s->dts = s->next_dts;
    if (par->codec_type == AVMEDIA_TYPE_AUDIO && par->sample_rate)
        s->next_dts += (int64_t)AV_TIME_BASE * par->frame_size / par->sample_rate;
    else if (par->codec_type == AVMEDIA_TYPE_AUDIO || pkt->duration)
        s->next_dts += av_rescale_q(pkt->duration, st->time_base, US);
    else
        s->next_dts += guess_duration(st);
}

void packet_clock_set(PacketClock *c, AVPacket *pkt)
{
    const AVStream *st = c->fmt->streams[pkt->stream_index];
    StreamClock *s = &c->streams[pkt->stream_index];

    unwrap(c, s, st, pkt);
    shift(pkt, av_rescale_q(c->offset, US, st->time_base));
    shift(pkt, av_rescale_q(c->jumps, US, st->time_base));
    if (pkt->dts != AV_NOPTS_VALUE)
        handle_jumps(c, s, st, pkt);
    predict(s, st, pkt);
}

void frame_clock_init(FrameClock *c)
{
    c->faults_pts = c->faults_dts = 0;
    c->last_pts   = c->last_dts   = INT64_MIN;
    c->last       = AV_NOPTS_VALUE;
    c->duration   = 0;
}

/* Returns the timestamp of a picture by libavcodec's rule: its pts or its dts, whichever had fewer errors so far. */
static int64_t best_effort(FrameClock *c, int64_t pts, int64_t dts)
{
    if (dts != AV_NOPTS_VALUE) {
        c->faults_dts += dts <= c->last_dts;
        c->last_dts    = dts;
    } else if (pts != AV_NOPTS_VALUE) {
        c->last_dts    = pts;
    }
    if (pts != AV_NOPTS_VALUE) {
        c->faults_pts += pts <= c->last_pts;
        c->last_pts    = pts;
    } else if (dts != AV_NOPTS_VALUE) {
        c->last_pts    = dts;
    }
    return pts != AV_NOPTS_VALUE && (dts == AV_NOPTS_VALUE || c->faults_pts <= c->faults_dts) ? pts : dts;
}

/* Returns how long ffmpeg assumes that a picture lasts. */
static int64_t estimate_duration(const FrameClock *c, const FrameTime *t, int64_t pts)
{
    const int64_t gap = c->last != AV_NOPTS_VALUE ? pts - c->last : -1;
    const int made_up = t->duration == 1 && gap > 2;
    int64_t by_codec = 0, by_rate = 0;

    if (t->duration > 0 && !c->unreliable && !made_up)
        return t->duration;
    if (c->codec_rate.num && c->codec_rate.den)
        by_codec = av_rescale_q(t->repeat + 2, av_inv_q(av_mul_q(c->codec_rate, (AVRational) { 2, 1 })),
                                c->time_base);
    if (by_codec > 0 && c->unreliable)
        return by_codec;
    if (gap > 0)
        return gap;
    if (t->duration > 0)
        return t->duration;
    if (by_codec > 0)
        return by_codec;
    if (c->rate.num && c->rate.den)
        by_rate = av_rescale_q(1, av_inv_q(c->rate), c->time_base);
    return by_rate > 0 ? by_rate : FFMAX(c->duration, 1);
}

int64_t frame_clock_next(FrameClock *c, const FrameTime *t)
{
    int64_t pts = best_effort(c, t->pts, t->dts);

    if (pts == AV_NOPTS_VALUE)
        pts = c->last == AV_NOPTS_VALUE ? 0 : c->last + c->duration;
    c->duration = estimate_duration(c, t, pts);
    c->last     = pts;
    return pts;
}
