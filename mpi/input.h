/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A file and the decoder of its video. Functions return 0 or a negative AVERROR code. Functions of
 * FFmpeg have printed the reason.
 */

#ifndef GPUME_MPI_INPUT_H
#define GPUME_MPI_INPUT_H

#include "libavcodec/avcodec.h"
#include "libavformat/avformat.h"

#include "mpi/clock.h"
#include "mpi/film.h"

typedef struct Input {
    AVFormatContext *fmt;
    AVStream *st;               ///< the video stream
    AVCodecParameters *par;     ///< parameters of the video; a copy that is valid until input_close()
    int audio;                  ///< the audio stream that ffmpeg would choose; -1: none
    AVCodecContext *dec;
    AVPacket *pkt;
    AVFrame *frame;
    int64_t next;               ///< number of the packet that is read next
    int truncated;              ///< a packet was incomplete
} Input;

/**
 * Opens a file, chooses the video stream that ffmpeg would choose, and opens its decoder.
 * @param threads number of threads of the decoder
 * @param device  the device that decodes, or NULL
 */
int input_open(Input *in, const char *path, int threads, AVBufferRef *device);

/** Reads and counts all packets from the start. The film must be empty. */
int input_scan(Input *in, Film *film);

/**
 * Seeks to a packet: the next input_read() reads it.
 * @return GPUME_INDIVISIBLE if it is not found
 */
int input_seek(Input *in, const Film *film, int64_t packet);

/**
 * Reads the next packet of the video to in->pkt, with the timestamps of the film.
 * @return AVERROR_EOF at the end; GPUME_INDIVISIBLE if the packet is not the packet of the film
 */
int input_read(Input *in, const Film *film);

/** Returns the number of the packet of a decoded frame. */
int64_t input_packet_of(const AVFrame *frame);

void input_close(Input *in);

#endif /* GPUME_MPI_INPUT_H */
