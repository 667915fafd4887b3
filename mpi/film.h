/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * A film as all ranks know it: its packets in the order in which they are decoded, and the
 * segments in which it is searched. Rank 0 makes it by reading all packets once.
 *
 * A segment is decoded from a key frame on. Its fields are those of the pictures that have all their
 * references there: the first ones, whose past references may lie before the key frame, belong to
 * the segment before, which is decoded as far as they and their own future references reach. So
 * nothing before the key frame is needed, and no field belongs to two segments. Packets that follow
 * a key frame and are shown before it belong to the segment before.
 */

#ifndef GPUME_MPI_FILM_H
#define GPUME_MPI_FILM_H

#include <stdint.h>

#include "libavcodec/codec_id.h"

/** Bytes of a checksum. */
#define HASH_SIZE 16

/** A packet of the video, as a reader that began with the first packet has it. */
typedef struct FilmPacket {
    int64_t pts, dts;       ///< what ffmpeg gives the decoder
    int64_t duration;
    int64_t file_pts, file_dts;     ///< what the file says
    int64_t pos;            ///< in the file, or -1
    int32_t size;
    uint32_t hash;          ///< Adler-32 of a key packet's data
    int32_t order;          ///< the parser's place in the order of presentation
    uint8_t key;
    uint8_t shown;          ///< a picture comes out of the decoder
    uint8_t type;           ///< enum AVPictureType, where a parser tells it
    uint8_t parsed;         ///< a parser saw it
} FilmPacket;

typedef struct FilmSegment {
    int64_t packet;         ///< the key frame's
    int64_t last;           ///< the last packet of those that the segment before is decoded for
    int64_t number;         ///< of the key frame in the order of presentation, from 0 on
} FilmSegment;

typedef struct Film {
    FilmPacket *packets;
    int64_t nb_packets;
    int64_t nb_frames;      ///< pictures that come out of the decoder
    /** All packets have timestamps; the order of presentation is known from them alone. */
    int has_pts;
    int past;               ///< largest distance of a past reference, in pictures
    int shared;             ///< pictures from a key frame on that both segments decode: past + the same of the future
    FilmSegment *segments;
    int nb_segments;
    char whole[128];        ///< why there is one segment only, or empty
    uint8_t hash[HASH_SIZE];    ///< of all packets
} Film;

/**
 * Count the pictures and check the timestamps, once all packets are there. Without timestamps the
 * order of presentation is that of the parser.
 */
void film_count(Film *film, enum AVCodecID codec, int has_reordering);

/**
 * The decoder leaves out pictures that refer to what was before the film. Count without them.
 * @param first the packet of the first picture that comes out
 */
void film_trim(Film *film, int64_t first);

/**
 * Divide the film at key frames, finely enough that ranks finish together. Each segment has more
 * pictures than are shared, so that those of two junctions are not the same.
 * @param nb_ranks how many will search
 * @param least    frames of a segment at least; 0: by itself
 * @return 0 or AVERROR(ENOMEM)
 */
int film_divide(Film *film, int nb_ranks, int64_t least);

/** Make it one segment. @return 0 or AVERROR(ENOMEM) */
int film_whole(Film *film, const char *why);

/** The number of the first picture whose fields are the segment's; behind the last one: of pictures. */
int64_t film_first(const Film *film, int segment);

void film_free(Film *film);

#endif /* GPUME_MPI_FILM_H */
