/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Timestamps as the ffmpeg tool makes them: those of packets begin near zero and have no jumps;
 * those of pictures have no gaps where the file says nothing.
 */

#ifndef GPUME_MPI_CLOCK_H
#define GPUME_MPI_CLOCK_H

#include "libavformat/avformat.h"

/** A stream's packets so far. Times are in microseconds. */
typedef struct StreamClock {
    int begun;
    int wrap_done;
    int64_t dts, next_dts;
} StreamClock;

/** The packets of a file. */
typedef struct PacketClock {
    const AVFormatContext *fmt;
    int64_t start;          ///< microseconds
    int64_t offset;         ///< of all timestamps, microseconds
    int64_t jumps;          ///< sum of the jumps that were removed, microseconds
    int64_t last;           ///< the packet before, microseconds
    StreamClock *streams;
} PacketClock;

/**
 * Begin at the first packet.
 * @param video,audio the streams that are used; audio may be -1
 * @return 0 or AVERROR(ENOMEM)
 */
int packet_clock_init(PacketClock *c, const AVFormatContext *fmt, int video, int audio);

/** Set a packet's timestamps. Packets come in the order of the file, those of all streams that are used. */
void packet_clock_set(PacketClock *c, AVPacket *pkt);

void packet_clock_free(PacketClock *c);

/** What a picture brings with it. */
typedef struct FrameTime {
    int64_t pts, dts, duration;
    int64_t repeat;         ///< AVFrame.repeat_pict
    int64_t nb_vectors;     ///< that it then has: lines of CSV
} FrameTime;

/** The pictures of a stream. */
typedef struct FrameClock {
    AVRational time_base;   ///< of the stream
    AVRational codec_rate;  ///< frames a second as the decoder knows them; 0: unknown
    AVRational rate;        ///< frames a second on average; 0: unknown
    int unreliable;         ///< the format has no timestamps
    int64_t faults_pts, faults_dts, last_pts, last_dts;
    int64_t last, duration; ///< of the picture before
} FrameClock;

/** Begin at the first picture; the first four members are kept. */
void frame_clock_init(FrameClock *c);

/** The timestamp of the next picture, in the order of presentation. */
int64_t frame_clock_next(FrameClock *c, const FrameTime *t);

#endif /* GPUME_MPI_CLOCK_H */
