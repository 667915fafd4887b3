/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Motion vectors of the input (AV_FRAME_DATA_MOTION_VECTORS) as candidates of the encoders'
 * motion estimation. Whoever wrote them: a filter or a decoder.
 *
 * A frame's vectors become a past and a future field: a vector for each square of 8x8 samples.
 * They are kept by the number of the input picture. When the references of a picture are
 * known, the fields in between are composed. The result is only read while slices are encoded.
 */

#ifndef AVCODEC_ME_HINT_H
#define AVCODEC_ME_HINT_H

#include <stdint.h>

struct AVFrame;
struct MPVPicture;

/** The side of a square, samples. */
#define ME_HINT_SIDE 8
/** Squares in and around a macroblock. */
#define ME_HINT_CANDIDATES 16

typedef int16_t MEHintVector[2];    ///< x is INT16_MIN: there is none

typedef struct MEHint {
    int width, height;              ///< in squares
    int nb_pictures;                ///< whose fields are kept
    struct MEHintPicture *pictures;
    /** Of the current picture, past and future, in whole samples; with a square around it. */
    MEHintVector *composed[2];
} MEHint;

/**
 * Allocate what is needed for pictures of a size.
 *
 * @param hint         to be freed with ff_me_hint_uninit(), also after an error
 * @param mb_width     width of the picture in macroblocks
 * @param mb_height    height of the picture in macroblocks
 * @param max_b_frames largest number of B frames in a row
 * @return 0 or AVERROR(ENOMEM)
 */
int ff_me_hint_init(MEHint **hint, int mb_width, int mb_height, int max_b_frames);

void ff_me_hint_uninit(MEHint **hint);

/**
 * Keep the vectors of an input frame. Side data may hold anything.
 *
 * @param hint   NULL: nothing happens
 * @param frame  with or without vectors
 * @param number of the input picture; consecutive pictures have consecutive numbers
 */
void ff_me_hint_add(MEHint *hint, const struct AVFrame *frame, int number);

/**
 * Make the candidates of the picture that is encoded next. Not thread-safe.
 *
 * @param hint   NULL: nothing happens
 * @param cur    the picture
 * @param past   its reference in the past, or NULL
 * @param future its reference in the future; NULL or cur if there is none
 */
void ff_me_hint_prepare(MEHint *hint, const struct MPVPicture *cur,
                        const struct MPVPicture *past, const struct MPVPicture *future);

/**
 * A candidate for a macroblock, in whole samples and not clipped. Thread-safe.
 *
 * @param ref_index 0: past; else future
 * @param i         below ME_HINT_CANDIDATES; the macroblock's own come first
 * @return NULL if there is none
 */
static inline const int16_t *ff_me_hint_vector(const MEHint *hint, int ref_index,
                                               int mb_x, int mb_y, int i)
{
    /* places in the 4x4 squares with the macroblock in their middle */
    static const uint8_t order[ME_HINT_CANDIDATES] = {
        5, 6, 9, 10, 1, 2, 4, 7, 8, 11, 13, 14, 0, 3, 12, 15
    };
    const int x = 2 * mb_x + (order[i] & 3);
    const int y = 2 * mb_y + (order[i] >> 2);
    const int16_t *v = hint->composed[!!ref_index][y * (hint->width + 2) + x];

    return v[0] == INT16_MIN ? 0 : v;
}

#endif /* AVCODEC_ME_HINT_H */
