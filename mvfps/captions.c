/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/log.h"

#include "libavfilter/gpume/mvfps/captions.h"

/** Maximum number of captions of a frame: their count has five bits. */
#define MAX_PER_FRAME 31
/** Maximum number of waiting captions. */
#define MAX_WAITING 4096

typedef struct Caption {
    int64_t pts;
    uint8_t bytes[CC_BYTES_PER_ENTRY];
} Caption;

av_cold int ff_mvfps_captions_open(MvfpsCaptions *s, AVRational output_rate, void *log_ctx)
{
    int ret;

    *s  = (MvfpsCaptions) { .log_ctx = log_ctx, .last_pts = INT64_MIN };
    ret = ff_ccfifo_init(&s->standard, output_rate, log_ctx);
    if (ret < 0)
        return ret;
    /* FFmpeg's table has an entry for 15 frames/s that is more than encoders can write */
    if (!s->standard.passthrough && s->standard.expected_cc_count <= MAX_PER_FRAME)
        return 0;
    s->others = av_fifo_alloc2(MAX_PER_FRAME, sizeof(Caption), AV_FIFO_FLAG_AUTO_GROW);
    if (s->others)
        av_fifo_auto_grow_limit(s->others, MAX_WAITING);
    else
        ff_mvfps_captions_close(s);
    return s->others ? 0 : AVERROR(ENOMEM);
}

av_cold void ff_mvfps_captions_close(MvfpsCaptions *s)
{
    ff_ccfifo_uninit(&s->standard);
    av_fifo_freep2(&s->others);
    *s = (MvfpsCaptions) { 0 };
}

/* Returns whether an entry is padding: CTA-708 data that is marked as invalid. */
static int is_padding(const uint8_t *entry)
{
    return (entry[0] & 6) == 2;
}

/* Makes captions that wait for a later time wait for pts: their frames came before, so their times were damaged. */
static void hurry(MvfpsCaptions *s, int64_t pts)
{
    Caption caption;

    if (s->last_pts > pts)
        for (size_t n = av_fifo_can_read(s->others); n > 0; n--) {
            av_fifo_read(s->others, &caption, 1);
            caption.pts = FFMIN(caption.pts, pts);
            av_fifo_write(s->others, &caption, 1);
        }
    s->last_pts = pts;
}

static int queue_captions(MvfpsCaptions *s, const AVFrameSideData *sd, int64_t pts)
{
    hurry(s, pts);
    for (size_t i = 0; i + CC_BYTES_PER_ENTRY <= sd->size; i += CC_BYTES_PER_ENTRY) {
        Caption caption = { pts };
        int ret;

        if (is_padding(sd->data + i))
            continue;
        if (av_fifo_can_read(s->others) >= MAX_WAITING) {
            if (!s->warned)
                av_log(s->log_ctx, AV_LOG_WARNING, "The output has too few frames for all closed captions: "
                       "a frame can have %d entries. Some captions are lost.\n", MAX_PER_FRAME);
            s->warned = 1;
            return 0;
        }
        memcpy(caption.bytes, sd->data + i, sizeof(caption.bytes));
        ret = av_fifo_write(s->others, &caption, 1);
        if (ret < 0)
            return ret;
    }
    return 0;
}

int ff_mvfps_captions_prepend(AVFrame *frame, const AVFrame *dropped)
{
    const AVFrameSideData *first = av_frame_get_side_data(dropped, AV_FRAME_DATA_A53_CC);
    const AVFrameSideData *second = av_frame_get_side_data(frame, AV_FRAME_DATA_A53_CC);
    AVBufferRef *both;

    if (!first)
        return 0;
    both = av_buffer_alloc(first->size + (second ? second->size : 0));
    if (!both)
        return AVERROR(ENOMEM);
    memcpy(both->data, first->data, first->size);
    if (second)
        memcpy(both->data + first->size, second->data, second->size);
    av_frame_remove_side_data(frame, AV_FRAME_DATA_A53_CC);
    if (!av_frame_new_side_data_from_buf(frame, AV_FRAME_DATA_A53_CC, both))
        av_buffer_unref(&both);
    return both ? 0 : AVERROR(ENOMEM);
}

int ff_mvfps_captions_take(MvfpsCaptions *s, AVFrame *frame, int64_t pts)
{
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_A53_CC);
    int ret = 0;

    if (!sd)
        return 0;
    s->has_any = 1;
    if (!s->others)
        return ff_ccfifo_extract(&s->standard, frame);
    ret = queue_captions(s, sd, pts);
    av_frame_remove_side_data(frame, AV_FRAME_DATA_A53_CC);
    return ret;
}

int ff_mvfps_captions_give(MvfpsCaptions *s, AVFrame *frame, int64_t end)
{
    const int nb_waiting = s->others ? FFMIN(av_fifo_can_read(s->others), MAX_PER_FRAME) : 0;
    Caption captions[MAX_PER_FRAME];
    AVFrameSideData *sd;
    int nb = 0;

    if (!s->others)
        return ff_ccfifo_inject(&s->standard, frame);
    if (!nb_waiting)
        return 0;
    av_fifo_peek(s->others, captions, nb_waiting, 0);
    while (nb < nb_waiting && captions[nb].pts <= end)
        nb++;
    if (!nb)
        return 0;
    sd = av_frame_new_side_data(frame, AV_FRAME_DATA_A53_CC, nb * CC_BYTES_PER_ENTRY);
    if (!sd)
        return AVERROR(ENOMEM);
    for (int i = 0; i < nb; i++)
        memcpy(sd->data + i * CC_BYTES_PER_ENTRY, captions[i].bytes, CC_BYTES_PER_ENTRY);
    av_fifo_drain2(s->others, nb);
    return 0;
}
