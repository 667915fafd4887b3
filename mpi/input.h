/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A file and the decoder of its video. Functions return 0 or a negative AVERROR code; those of
 * FFmpeg have printed what is wrong.
 */

#ifndef GPUME_MPI_INPUT_H
#define GPUME_MPI_INPUT_H

#include "libavcodec/avcodec.h"
#include "libavformat/avformat.h"

#include "mpi/clock.h"
#include "mpi/film.h"

typedef struct Input {
    AVFormatContext *fmt;
    AVStream *st;               ///< the video
    AVCodecParameters *par;     ///< of the video; a copy, valid until input_close()
    int audio;                  ///< the audio stream that ffmpeg would take, or -1
    AVCodecContext *dec;
    AVPacket *pkt;
    AVFrame *frame;
    int64_t next;               ///< number of the packet that is read next
    int cut;                    ///< a packet was incomplete
} Input;

/**
 * Open a file, choose the video stream that ffmpeg would, and open its decoder.
 * @param threads of the decoder
 * @param device  decode there, or NULL
 */
int input_open(Input *in, const char *path, int threads, AVBufferRef *device);

/** Read all packets from the start, and count them. film is empty before. */
int input_scan(Input *in, Film *film);

/**
 * Go to a packet: the next input_read() reads it.
 * @return GPUME_INDIVISIBLE if it is not found
 */
int input_seek(Input *in, const Film *film, int64_t packet);

/**
 * Read the next packet of the video to in->pkt, with the timestamps that the film has.
 * @return AVERROR_EOF at the end; GPUME_INDIVISIBLE if it is another packet than in the film
 */
int input_read(Input *in, const Film *film);

/** The number of the packet that a decoded frame was in. */
int64_t input_packet_of(const AVFrame *frame);

void input_close(Input *in);

#endif /* GPUME_MPI_INPUT_H */
