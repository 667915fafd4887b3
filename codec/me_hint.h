/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Uses motion vectors of the input (AV_FRAME_DATA_MOTION_VECTORS), from any filter or decoder, as
 * candidates of the encoders' motion estimation.
 *
 * A frame's vectors become a past and a future field, each with a vector for each square of 8x8
 * samples. The fields are stored by the number of the input picture. When the references of a
 * picture are known, the fields between the picture and its references are composed. While slices
 * are encoded, the result is only read.
 */

#ifndef AVCODEC_ME_HINT_H
#define AVCODEC_ME_HINT_H

#include <stddef.h>
#include <stdint.h>

#include "libavutil/intreadwrite.h"

struct AVFrame;
struct MPVPicture;

/** Side of a square in samples. */
#define ME_HINT_SIDE 8
/** Number of squares in a macroblock and of squares that share a side with it. */
#define ME_HINT_CANDIDATES 12

typedef int16_t MEHintVector[2];    ///< ME_HINT_NONE, 0: no vector
#define ME_HINT_NONE INT16_MIN

typedef struct MEHint {
    int width, height;              ///< size of a field in squares
    void *log_ctx;
    int nb_frames;                  ///< number of frames until the first with vectors, or until the warning
    int had_vectors;                ///< whether a frame had vectors, or the warning was printed
    int nb_directions;              ///< 1: only the past, because there are no B frames
    int nb_pictures;                ///< number of pictures whose fields are stored
    struct MEHintPicture *pictures;
    /** Past and future field of the current picture, in whole samples, with a margin of one square. */
    MEHintVector *composed[2];
    int is_empty[2];                ///< whether composed has no vector
    ptrdiff_t offset[ME_HINT_CANDIDATES];   ///< offsets in composed, relative to the square above and to the left
} MEHint;

/**
 * Allocates the state for pictures of a size.
 *
 * @param hint         the caller frees it with ff_me_hint_uninit(), also after an error
 * @param mb_width     width of the picture in macroblocks
 * @param mb_height    height of the picture in macroblocks
 * @param max_b_frames largest number of consecutive B frames
 * @return 0 or AVERROR(ENOMEM)
 */
int ff_me_hint_init(MEHint **hint, void *log_ctx, int mb_width, int mb_height, int max_b_frames);

void ff_me_hint_uninit(MEHint **hint);

/**
 * Stores the vectors of an input frame. Accepts any contents of side data.
 *
 * @param hint   NULL: the function does nothing
 * @param frame  with or without vectors
 * @param number number of the input picture; consecutive pictures have consecutive numbers
 */
void ff_me_hint_add(MEHint *hint, const struct AVFrame *frame, int number);

/**
 * Computes the candidates of the picture that is encoded next. Not thread-safe.
 *
 * @param hint   NULL: the function does nothing
 * @param cur    the picture
 * @param past   its reference in the past, or NULL
 * @param future its reference in the future; NULL or cur if there is none
 */
void ff_me_hint_prepare(MEHint *hint, const struct MPVPicture *cur,
                        const struct MPVPicture *past, const struct MPVPicture *future);

/**
 * Returns the candidates of a macroblock, in whole samples and not clipped. Those inside the
 * macroblock come first. Skips a candidate that equals the one before. Thread-safe.
 *
 * @param ref_index 0: past; else future
 * @param[out] v    the vectors
 * @return the number of vectors
 */
static inline int ff_me_hint_vectors(const MEHint *hint, int ref_index, int mb_x, int mb_y,
                                     const int16_t *v[ME_HINT_CANDIDATES])
{
    const MEHintVector *corner = hint->composed[!!ref_index] + 2 * (mb_y * (hint->width + 2) + mb_x);
    static const MEHintVector none = { ME_HINT_NONE };
    uint32_t last = AV_RN32(none);
    int nb = 0;

    for (int i = 0; i < ME_HINT_CANDIDATES; i++) {
        const int16_t *candidate = corner[hint->offset[i]];
        const uint32_t both = AV_RN32(candidate);

        v[nb] = candidate;
        nb   += (both != last) & (candidate[0] != ME_HINT_NONE);    // without a branch
        last  = both;
    }
    return nb;
}

#endif /* AVCODEC_ME_HINT_H */
