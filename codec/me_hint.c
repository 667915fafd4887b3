/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"
#include "libavutil/motion_vector.h"

#include "me_hint.h"
#include "mpegpicture.h"

enum { PAST, FUTURE };

/** The largest component of a vector that is kept. */
#define MAX_LENGTH 4096
/** After so many frames without vectors, no more vectors are expected. */
#define MANY_FRAMES 16

/** The motion fields of a picture: into the picture before and into the picture after. */
typedef struct MEHintPicture {
    int number;             ///< -1: unused
    MEHintVector *field[2];
} MEHintPicture;

static void clear(MEHintVector *field, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        field[i][0] = ME_HINT_NONE;
        field[i][1] = 0;
    }
}

av_cold int ff_me_hint_init(MEHint **phint, void *log_ctx, int mb_width, int mb_height, int max_b_frames)
{
    /* positions among the 4x4 squares around the macroblock: inside the macroblock first, then around it */
    static const uint8_t order[ME_HINT_CANDIDATES] = { 5, 6, 10, 9, 8, 4, 1, 2, 7, 11, 14, 13 };
    MEHint *hint = *phint = av_mallocz(sizeof(*hint));
    size_t size;

    if (!hint)
        return AVERROR(ENOMEM);
    hint->log_ctx = log_ctx;
    hint->width  = mb_width  * 16 / ME_HINT_SIDE;
    hint->height = mb_height * 16 / ME_HINT_SIDE;
    size         = (size_t)(hint->width + 2) * (hint->height + 2);
    /* from the oldest reference to the newest input there can be two groups of B frames */
    hint->nb_pictures   = 2 * (max_b_frames + 2);
    hint->nb_directions = max_b_frames ? 2 : 1;
    hint->pictures    = av_calloc(hint->nb_pictures, sizeof(*hint->pictures));
    if (!hint->pictures)
        return AVERROR(ENOMEM);
    for (int i = 0; i < hint->nb_pictures; i++)
        hint->pictures[i].number = -1;
    for (int i = 0; i < ME_HINT_CANDIDATES; i++)
        hint->offset[i] = (order[i] >> 2) * (hint->width + 2) + (order[i] & 3);
    for (int dir = PAST; dir <= FUTURE; dir++) {
        hint->composed[dir] = av_malloc_array(size, sizeof(MEHintVector));
        if (!hint->composed[dir])
            return AVERROR(ENOMEM);
        clear(hint->composed[dir], size);
        hint->is_empty[dir] = 1;
        for (int i = 0; i < hint->nb_pictures && dir < hint->nb_directions; i++) {
            hint->pictures[i].field[dir] = av_malloc_array(size, sizeof(MEHintVector));
            if (!hint->pictures[i].field[dir])
                return AVERROR(ENOMEM);
        }
    }
    return 0;
}

/* An encoder without vectors works, and is no faster. */
static void warn_of_no_vectors(MEHint *hint)
{
    if (!hint->had_vectors && hint->nb_frames)
        av_log(hint->log_ctx, AV_LOG_WARNING, "me_hint has no effect: there are no motion vectors in %d frames. "
               "Put a filter that searches them before the encoder, such as -vf gpume=algo=hme.\n", hint->nb_frames);
    hint->had_vectors = 1;
}

av_cold void ff_me_hint_uninit(MEHint **phint)
{
    MEHint *hint = *phint;

    if (!hint)
        return;
    warn_of_no_vectors(hint);
    for (int dir = PAST; dir <= FUTURE; dir++) {
        for (int i = 0; hint->pictures && i < hint->nb_pictures; i++)
            av_freep(&hint->pictures[i].field[dir]);
        av_freep(&hint->composed[dir]);
    }
    av_freep(&hint->pictures);
    av_freep(phint);
}

/* Write a block's vector to the squares whose centres it covers. The positions say what it is:
 * filters that search whole samples may leave motion and scale as they find them. */
static av_always_inline void put_block(MEHintVector *field, int width, int height,
                                       const AVMotionVector *mv)
{
    const int left = mv->dst_x - mv->w / 2 + ME_HINT_SIDE / 2 - 1;
    const int top  = mv->dst_y - mv->h / 2 + ME_HINT_SIDE / 2 - 1;
    const int x0 = left >> 3, x1 = (left + mv->w) >> 3;
    const int y0 = top  >> 3, y1 = (top  + mv->h) >> 3;
    const int vx = av_clip(mv->src_x - mv->dst_x, -MAX_LENGTH, MAX_LENGTH);
    const int vy = av_clip(mv->src_y - mv->dst_y, -MAX_LENGTH, MAX_LENGTH);

    /* most blocks are squares themselves */
    if (x1 - x0 == 1 && y1 - y0 == 1) {
        if ((unsigned)x0 < width && (unsigned)y0 < height) {
            field[y0 * width + x0][0] = vx;
            field[y0 * width + x0][1] = vy;
        }
        return;
    }
    for (int y = FFMAX(y0, 0); y < FFMIN(y1, height); y++)
        for (int x = FFMAX(x0, 0); x < FFMIN(x1, width); x++) {
            field[y * width + x][0] = vx;
            field[y * width + x][1] = vy;
        }
}

static MEHintPicture *picture_of(const MEHint *hint, int number)
{
    return &hint->pictures[number % hint->nb_pictures];
}

void ff_me_hint_add(MEHint *hint, const AVFrame *frame, int number)
{
    const AVFrameSideData *sd;
    MEHintPicture *pic;

    if (!hint)
        return;
    pic         = picture_of(hint, number);
    pic->number = -1;
    sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    hint->had_vectors |= !!sd;
    if (!hint->had_vectors && ++hint->nb_frames == MANY_FRAMES)
        warn_of_no_vectors(hint);
    if (!sd)
        return;

    pic->number = number;
    for (int dir = PAST; dir < hint->nb_directions; dir++)
        clear(pic->field[dir], (size_t)hint->width * hint->height);
    for (size_t i = 0; i < sd->size / sizeof(AVMotionVector); i++) {
        AVMotionVector mv;

        memcpy(&mv, sd->data + i * sizeof(mv), sizeof(mv));     /* side data need not be aligned */
        /* a frame further away would need another field */
        if (mv.source == -1 || (mv.source == 1 && hint->nb_directions > FUTURE))
            put_block(pic->field[mv.source > 0], hint->width, hint->height, &mv);
    }
}

/* Whether each picture from one to another has a field towards the latter. */
static int has_fields(const MEHint *hint, int from, int to)
{
    const int step = from < to ? 1 : -1;

    if (FFABS(to - from) > hint->nb_pictures || (step > 0 && hint->nb_directions <= FUTURE))
        return 0;
    for (int i = from; i != to; i += step)
        if (picture_of(hint, i)->number != i)
            return 0;
    return from != to;
}

/* Follow a square's motion from a picture to another. */
static void follow(const MEHint *hint, int x, int y, int from, int to, MEHintVector dst)
{
    const int step = from < to ? 1 : -1;
    int vx = 0, vy = 0;

    dst[0] = ME_HINT_NONE;
    dst[1] = 0;
    for (int i = from; i != to; i += step) {
        const int px = av_clip(x + ((vx + ME_HINT_SIDE / 2) >> 3), 0, hint->width  - 1);
        const int py = av_clip(y + ((vy + ME_HINT_SIDE / 2) >> 3), 0, hint->height - 1);
        const int16_t *v = picture_of(hint, i)->field[step > 0][py * hint->width + px];

        if (v[0] == ME_HINT_NONE)
            return;
        vx += v[0];
        vy += v[1];
    }
    dst[0] = av_clip(vx, -INT16_MAX, INT16_MAX);
    dst[1] = av_clip(vy, -INT16_MAX, INT16_MAX);
}

static void compose(MEHint *hint, int dir, int from, int to)
{
    const int stride = hint->width + 2;
    MEHintVector *dst = hint->composed[dir] + stride + 1;

    if (!has_fields(hint, from, to)) {
        if (!hint->is_empty[dir])
            clear(hint->composed[dir], (size_t)stride * (hint->height + 2));
        hint->is_empty[dir] = 1;
        return;
    }
    hint->is_empty[dir] = 0;
    for (int y = 0; y < hint->height; y++, dst += stride)
        if (FFABS(to - from) == 1)
            memcpy(dst, picture_of(hint, from)->field[to > from] + y * hint->width,
                   hint->width * sizeof(*dst));
        else
            for (int x = 0; x < hint->width; x++)
                follow(hint, x, y, from, to, dst[x]);
}

void ff_me_hint_prepare(MEHint *hint, const MPVPicture *cur, const MPVPicture *past,
                        const MPVPicture *future)
{
    const int n = cur->display_picture_number;

    if (!hint || cur->f->pict_type == AV_PICTURE_TYPE_I)
        return;
    compose(hint, PAST, n, past ? past->display_picture_number : n);
    if (hint->nb_directions > FUTURE)
        compose(hint, FUTURE, n, future ? future->display_picture_number : n);
}
