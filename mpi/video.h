/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A file, and its video as all ranks know it: packets in decoding order, and segments in which the video is searched.
 * Rank 0 reads all packets once and sends the video to the other ranks.
 *
 * A segment is decoded from a key frame on. The fields of a segment are the fields of the pictures whose
 * references are all in the decoded part. The past references of the first pictures may lie before the key
 * frame; these pictures belong to the segment before, which is decoded up to these pictures and their future
 * references. So nothing before the key frame is needed, and no field belongs to two segments. Packets
 * that follow a key frame but are shown before it belong to the segment before.
 *
 * Functions return 0 or a negative AVERROR code. Functions of FFmpeg have printed the reason.
 */

#ifndef GPUME_MPI_VIDEO_H
#define GPUME_MPI_VIDEO_H

#include <stdint.h>

#include "libavcodec/avcodec.h"
#include "libavformat/avformat.h"

/** Bytes of a checksum. */
#define HASH_SIZE 16

/** A packet of the video, numbered from the first packet of the file. */
typedef struct VideoPacket {
    int64_t pts, dts;       ///< timestamps that ffmpeg passes to the decoder
    int64_t duration;
    int64_t file_pts, file_dts;     ///< timestamps in the file
    int64_t pos;            ///< position in the file; -1: unknown
    int32_t size;
    uint32_t hash;          ///< Adler-32 of a key packet's data
    uint8_t key;
    uint8_t shown;          ///< the decoder outputs a picture for the packet
} VideoPacket;

typedef struct VideoSegment {
    int64_t packet;         ///< number of the packet of the key frame
    int64_t last;           ///< the last packet that is decoded for the segment before
    int64_t number;         ///< number of the key frame in the order of presentation, from 0 on
} VideoSegment;

typedef struct Video {
    VideoPacket *packets;
    int64_t nb_packets;
    int64_t nb_frames;      ///< number of pictures that the decoder outputs
    int past;               ///< the largest distance of a past reference, in pictures
    int shared;             ///< pictures that two segments decode: the largest past plus future distance
    VideoSegment *segments;
    int nb_segments;
    uint8_t hash[HASH_SIZE];    ///< checksum of all packets
} Video;

/**
 * Counts the pictures when all packets are known.
 * @return AVERROR_PATCHWELCOME if a picture has no timestamp of its own; or AVERROR(ENOMEM)
 */
int video_count(Video *video);

/**
 * Counts again without the pictures that the decoder drops because they refer to pictures before the video.
 * @param first number of the packet of the first picture that the decoder outputs
 */
void video_trim(Video *video, int64_t first);

/**
 * Divides the video at key frames, finely enough that all ranks finish at about the same time. Each segment has
 * more pictures than two segments share, so that no picture is shared by three.
 * @param nb_ranks number of ranks that search
 * @param least    minimum number of frames of a segment; 0: automatic
 * @return 0 or AVERROR(ENOMEM)
 */
int video_divide(Video *video, int nb_ranks, int64_t least);

/** Returns the number of the first picture whose fields belong to a segment, or nb_frames for segment nb_segments. */
int64_t video_first(const Video *video, int segment);

void video_free(Video *video);

/** A file and the decoder of its video. */
typedef struct Input {
    AVFormatContext *fmt;
    AVStream *st;               ///< the video stream
    AVCodecParameters *par;     ///< parameters of the video; a copy that is valid until input_close()
    int audio;                  ///< the audio stream that ffmpeg would choose; -1: none
    AVCodecContext *dec;
    AVPacket *pkt;
    AVFrame *frame;
    int64_t next;               ///< number of the packet that is read next
} Input;

/**
 * Opens a file, chooses the video stream that ffmpeg would choose, and opens its decoder.
 * @param threads number of threads of the decoder
 * @param device  the device that decodes, or NULL
 */
int input_open(Input *in, const char *path, int threads, AVBufferRef *device);

/**
 * Reads and counts all packets from the start. The video must be empty.
 * @return AVERROR_PATCHWELCOME if its timestamps are not sufficient
 */
int input_scan(Input *in, Video *video);

/**
 * Seeks to a packet: the next input_read() reads it.
 * @return GPUME_INDIVISIBLE if it is not found
 */
int input_seek(Input *in, const Video *video, int64_t packet);

/**
 * Reads the next packet of the video to in->pkt, with the timestamps of the video, and its number plus 1 as opaque.
 * @return AVERROR_EOF at the end; GPUME_INDIVISIBLE if the packet is not the packet of the video
 */
int input_read(Input *in, const Video *video);

void input_close(Input *in);

#endif /* GPUME_MPI_VIDEO_H */
