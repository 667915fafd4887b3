/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Computes timestamps as the ffmpeg tool does: timestamps of packets begin near zero and have no jumps;
 * timestamps of pictures have no gaps where the file has no timestamps.
 */

#ifndef GPUME_MPI_CLOCK_H
#define GPUME_MPI_CLOCK_H

#include "libavformat/avformat.h"

/** State of a stream after the packets so far. Times are in microseconds. */
typedef struct StreamClock {
    int begun;
    int wrap_done;
    int64_t dts, next_dts;
} StreamClock;

/** State of all packets of a file. */
typedef struct PacketClock {
    const AVFormatContext *fmt;
    int64_t start;          ///< microseconds
    int64_t offset;         ///< offset of all timestamps, microseconds
    int64_t jumps;          ///< sum of the removed jumps, microseconds
    int64_t last;           ///< dts of the previous packet of any stream, microseconds
    StreamClock *streams;
} PacketClock;

/**
 * Begins at the first packet.
 * @param video,audio the streams that are used; audio may be -1
 * @return 0 or AVERROR(ENOMEM)
 */
int packet_clock_init(PacketClock *c, const AVFormatContext *fmt, int video, int audio);

/** Sets the timestamps of a packet. Must be called for all packets of all used streams, in the order of the file. */
void packet_clock_set(PacketClock *c, AVPacket *pkt);

void packet_clock_free(PacketClock *c);

/** The time data of a picture. */
typedef struct FrameTime {
    int64_t pts, dts, duration;
    int64_t repeat;         ///< AVFrame.repeat_pict
    int64_t nb_vectors;     ///< number of its vectors: lines of CSV
} FrameTime;

/** State of the pictures of a stream. */
typedef struct FrameClock {
    AVRational time_base;   ///< time base of the stream
    AVRational codec_rate;  ///< frames a second according to the decoder; 0: unknown
    AVRational rate;        ///< average frames a second; 0: unknown
    int unreliable;         ///< the format has no timestamps
    int64_t faults_pts, faults_dts, last_pts, last_dts;
    int64_t last, duration; ///< timestamp and duration of the previous picture
} FrameClock;

/** Begins at the first picture. The caller has set the first four members. */
void frame_clock_init(FrameClock *c);

/** Returns the timestamp of the next picture in the order of presentation. */
int64_t frame_clock_next(FrameClock *c, const FrameTime *t);

#endif /* GPUME_MPI_CLOCK_H */
