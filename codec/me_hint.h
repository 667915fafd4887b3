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
 * known, the fields on the way to them are composed. The result is only read while slices are
 * encoded.
 */

#ifndef AVCODEC_ME_HINT_H
#define AVCODEC_ME_HINT_H

#include <stddef.h>
#include <stdint.h>

#include "libavutil/intreadwrite.h"

struct AVFrame;
struct MPVPicture;

/** The side of a square, samples. */
#define ME_HINT_SIDE 8
/** Squares in a macroblock, and those that share a side with it. */
#define ME_HINT_CANDIDATES 12

typedef int16_t MEHintVector[2];    ///< ME_HINT_NONE, 0: there is none
#define ME_HINT_NONE INT16_MIN

typedef struct MEHint {
    int width, height;              ///< in squares
    void *log_ctx;
    int nb_frames;                  ///< up to the first one with vectors, or a warning
    int had_vectors;                ///< or it was said that there are none
    int nb_directions;              ///< 1: only the past, as there are no B frames
    int nb_pictures;                ///< whose fields are kept
    struct MEHintPicture *pictures;
    /** The current picture's fields, past and future, in whole samples, with a margin of a square. */
    MEHintVector *composed[2];
    int is_empty[2];                ///< whether composed has no vector
    ptrdiff_t offset[ME_HINT_CANDIDATES];   ///< in composed, from the square above and to the left
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
int ff_me_hint_init(MEHint **hint, void *log_ctx, int mb_width, int mb_height, int max_b_frames);

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
 * The candidates for a macroblock, in whole samples and not clipped; the macroblock's own come
 * first. One that is equal to the one before is left out. Thread-safe.
 *
 * @param ref_index 0: past; else future
 * @param[out] v    the vectors
 * @return how many there are
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
