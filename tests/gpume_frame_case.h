/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Frames with vectors, valid and invalid. Tests and fuzzers of filters that use vectors share this
 * file.
 */

#ifndef GPUME_FRAME_CASE_H
#define GPUME_FRAME_CASE_H

#include <string.h>

#include "libavfilter/buffersink.h"
#include "libavfilter/buffersrc.h"
#include "libavutil/avassert.h"
#include "libavutil/imgutils.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/field/field_args.h"

#include "gpume_harness.h"

/** Number of bytes around the rows of a frame that no filter may write. */
#define MARGIN 48
#define CANARY 0xa5

#define MAX_VECTORS 10000

/** One format of each kind, and two that no filter supports. */
static const av_unused enum AVPixelFormat case_formats[] = {
    AV_PIX_FMT_YUV420P, AV_PIX_FMT_GRAY8, AV_PIX_FMT_YUV410P, AV_PIX_FMT_NV12, AV_PIX_FMT_P010,
    AV_PIX_FMT_YUV444P16, AV_PIX_FMT_YUVA420P, AV_PIX_FMT_GBRP, AV_PIX_FMT_YUV420P10, AV_PIX_FMT_NV24,
    AV_PIX_FMT_RGB24, AV_PIX_FMT_YUV420P10BE,
};

/** Describes a frame. */
typedef struct Input {
    int w, h;
    enum AVPixelFormat format;
    uint64_t seed;
    size_t size;            ///< size of the side data (input_mvs) in bytes
    int has_side_data;
    int in_range;           ///< whether no sample has bits above the format's depth
    int even;               ///< whether the frame is cropped from a picture of even sides, as frames on devices are
    /** For vectors that form motion fields: number of fields, block and precision. */
    int nb_fields, block, pel;
    int is_elsewhere;       ///< whether these fields are on another device than the frame
} Input;

/** The vectors of the current input. */
static AVMotionVector input_mvs[MAX_VECTORS];

/* Clears the bits of little-endian words that samples of the format do not use. */
static void clear_bits(uint8_t *row, int size, const AVPixFmtDescriptor *desc)
{
    const AVComponentDescriptor *c = &desc->comp[0];

    if (c->depth > 8 && !(desc->flags & AV_PIX_FMT_FLAG_BE))
        for (int x = 0; x + 1 < size; x += 2)
            AV_WL16(row + x, AV_RL16(row + x) & ((1 << c->depth) - 1) << c->shift);
}

/* Returns a frame of random samples, with canaries before and after its rows. */
static AVFrame *make_frame(const Input *in)
{
    AVFrame *f = test_alloc(av_frame_alloc());
    TestRandom r = { .state = test_mix(in->seed) };
    const int planes = av_pix_fmt_count_planes(in->format);
    size_t size = 0, at = 0;
    AVBufferRef *buf;

    f->width  = in->even ? FFALIGN(in->w, 2) : in->w;
    f->height = in->even ? FFALIGN(in->h, 2) : in->h;
    f->format = in->format;
    f->pts    = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < planes; i++) {
            const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(in->format);
            const int h = i == 1 || i == 2 ? AV_CEIL_RSHIFT(f->height, desc->log2_chroma_h) : f->height;
            int linesizes[4];

            av_image_fill_linesizes(linesizes, in->format, f->width);
            f->linesize[i] = FFALIGN(linesizes[i], 2) + 2 * MARGIN;
            if (pass) {
                f->data[i] = f->buf[0]->data + at + MARGIN;
                for (int y = 0; y < h; y++) {
                    for (int x = 0; x < linesizes[i]; x++)
                        f->data[i][y * f->linesize[i] + x] = test_draw(&r, 256);
                    if (in->in_range)
                        clear_bits(f->data[i] + y * f->linesize[i], linesizes[i], desc);
                }
                at += h * f->linesize[i];
            } else {
                size += h * f->linesize[i];
            }
        }
        if (!pass) {
            buf = test_alloc(av_buffer_alloc(size + 64));
            memset(buf->data, CANARY, size + 64);
            f->buf[0] = buf;
        }
    }
    if (in->has_side_data) {
        AVFrameSideData *sd = test_alloc(av_frame_new_side_data(f, AV_FRAME_DATA_MOTION_VECTORS,
                                                                in->size));

        memcpy(sd->data, input_mvs, in->size);
    }
    f->width  = in->w;
    f->height = in->h;
    return f;
}

/* Returns whether the bytes between the rows of a frame of make_frame() are unchanged. */
static int is_intact(const AVFrame *f)
{
    int linesizes[4];

    av_image_fill_linesizes(linesizes, f->format, f->width);
    for (int i = 0; i < av_pix_fmt_count_planes(f->format); i++)
        for (int y = 0; y < test_plane_rows(f, i); y++) {
            const uint8_t *row = f->data[i] + y * (ptrdiff_t)f->linesize[i];

            for (int x = 1; x <= MARGIN; x++)
                if (row[-x] != CANARY || row[linesizes[i] + x - 1] != CANARY &&
                    linesizes[i] + x <= f->linesize[i] - MARGIN)
                    return 0;
        }
    return 1;
}

static AVMotionVector vector(int x, int y, int w, int h, int dx, int dy)
{
    return (AVMotionVector) {
        .source = -1, .w = w, .h = h, .dst_x = x, .dst_y = y, .src_x = x + dx, .src_y = y + dy,
        .motion_x = dx, .motion_y = dy, .motion_scale = 1,
    };
}

/* Draws the vectors of a grid of blocks, as a search outputs them. */
static void grid_of_vectors(Input *in, TestRandom *r, int block, int range)
{
    int nb = 0;

    for (int y = 0; y < in->h; y += block)
        for (int x = 0; x < in->w && nb < MAX_VECTORS; x += block) {
            const int w = FFMIN(block, in->w - x), h = FFMIN(block, in->h - y);

            input_mvs[nb] = vector(x + w / 2, y + h / 2, w, h,
                                 test_draw_range(r, -range, range), test_draw_range(r, -range, range));
            input_mvs[nb].flags = !test_draw(r, 4);
            nb++;
        }
    in->size = nb * sizeof(*input_mvs);
    in->has_side_data = 1;
}

/* Draws motion fields of these distances. */
static inline void fields_of_vectors(Input *in, TestRandom *r, const int *distance, int nb, int range)
{
    int n = 0;

    for (int i = 0; i < nb; i++)
        for (int y = 0; y < in->h; y += in->block)
            for (int x = 0; x < in->w; x += in->block) {
                const int w = FFMIN(in->block, in->w - x), h = FFMIN(in->block, in->h - y);
                const int dx = test_draw_range(r, -range, range), dy = test_draw_range(r, -range, range);
                AVMotionVector *mv = &input_mvs[n++];

                av_assert0(n <= MAX_VECTORS);
                *mv = vector(x + w / 2, y + h / 2, w, h, gpume_whole(dx, in->pel), gpume_whole(dy, in->pel));
                mv->motion_x     = dx;
                mv->motion_y     = dy;
                mv->motion_scale = in->pel;
                mv->source       = distance[i];
                mv->flags        = !test_draw(r, 4);
            }
    in->nb_fields     = nb;
    in->size          = n * sizeof(*input_mvs);
    in->has_side_data = 1;
}

/* Draws vectors that no search outputs. */
static void wild_vectors(Input *in, TestRandom *r)
{
    const int nb = test_draw(r, 40);

    for (int i = 0; i < nb; i++) {
        AVMotionVector *mv = &input_mvs[i];

        switch (test_draw(r, 4)) {
        case 0:
            for (int j = 0; j < sizeof(*mv); j++)
                ((uint8_t *)mv)[j] = test_draw(r, 256);
            break;
        case 1:
            *mv = vector(test_draw_range(r, -300, 300), test_draw_range(r, -300, 300),
                         test_draw(r, 256), test_draw(r, 256),
                         test_draw_range(r, -30000, 30000), test_draw_range(r, -30000, 30000));
            break;
        default:
            *mv = vector(test_draw(r, in->w), test_draw(r, in->h),
                         1 + test_draw(r, 20), 1 + test_draw(r, 20),
                         test_draw_range(r, -90, 90), test_draw_range(r, -90, 90));
            break;
        }
        if (!test_draw(r, 4)) {
            mv->motion_x = test_draw(r, 2) ? INT32_MIN : INT32_MAX;
            mv->motion_y = test_draw(r, 2) ? INT32_MIN : 0;
        }
        mv->source       = test_draw_range(r, -1, 1);
        mv->motion_scale = test_draw(r, 3) ? test_draw(r, 5) : test_draw(r, 65536);
    }
    /* the last vector may be incomplete */
    in->size = nb * sizeof(*input_mvs) + (nb ? 0 : test_draw(r, 2)) +
               (test_draw(r, 2) ? test_draw(r, sizeof(*input_mvs)) : 0);
    in->has_side_data = 1;
}

/* Draws vectors of any kind, or none. */
static inline void draw_vectors(Input *in, TestRandom *d)
{
    in->has_side_data = 0;
    in->size          = 0;
    switch (test_draw(d, 8)) {
    case 0:
        break;
    case 1: case 2:
        wild_vectors(in, d);
        break;
    case 3:
        /* copies bytes without change, or leaves no vectors */
        in->size = FFMIN(d->size, 4 * sizeof(*input_mvs) + 3);
        in->has_side_data = 1;
        if (in->size)
            memcpy(input_mvs, d->data, in->size);
        break;
    default:
        grid_of_vectors(in, d, 4 << test_draw(d, 4), 1 << test_draw(d, 14));
        for (int i = 0; i < in->size / sizeof(*input_mvs); i++) {
            input_mvs[i].source       = test_draw(d, 2) ? 1 : -1;
            input_mvs[i].motion_scale = 1 << test_draw(d, 3);
        }
        break;
    }
}

#endif /* GPUME_FRAME_CASE_H */
