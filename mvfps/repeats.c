/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"

#include "libavfilter/gpume/mvfps/captions.h"
#include "libavfilter/gpume/mvfps/repeats.h"

/* Drops the waiting frames, which are repeats; their captions are moved to the next frame. */
static int drop_waiting(MvfpsRepeats *s, AVFrame *next)
{
    int ret = 0;

    for (int i = s->nb_waiting - 1; i >= 0; i--) {
        if (ret >= 0)
            ret = ff_mvfps_captions_prepend(next, s->waiting[i]);
        av_frame_free(&s->waiting[i]);
    }
    s->nb_waiting = 0;
    return ret;
}

/* Makes all waiting frames ready. */
static void release_waiting(MvfpsRepeats *s)
{
    for (int i = 0; i < s->nb_waiting; i++) {
        s->ready[s->nb_ready++] = s->waiting[i];
        s->waiting[i] = NULL;
    }
    s->nb_waiting = 0;
}

int ff_mvfps_repeats_push(MvfpsRepeats *s, Mvfps *mvfps, AVFrame **frame)
{
    int ret = s->first ? ff_mvfps_is_repeat(mvfps, s->first, *frame) : 0;

    if (ret < 0)
        return ret;
    if (ret && !s->is_still && s->nb_waiting < MVFPS_MAX_REPEATS) {
        s->waiting[s->nb_waiting++] = *frame;
        *frame = NULL;
        return 0;
    }
    s->is_still = ret;
    if (ret)
        release_waiting(s);
    else if ((ret = drop_waiting(s, *frame)) < 0)
        return ret;
    av_frame_free(&s->first);
    s->first = av_frame_clone(*frame);
    if (!s->first)
        return AVERROR(ENOMEM);
    s->ready[s->nb_ready++] = *frame;
    *frame = NULL;
    return 0;
}

AVFrame *ff_mvfps_repeats_pull(MvfpsRepeats *s)
{
    AVFrame *frame = s->ready[0];

    if (!s->nb_ready)
        return NULL;
    s->nb_ready--;
    memmove(s->ready, s->ready + 1, s->nb_ready * sizeof(*s->ready));
    s->ready[s->nb_ready] = NULL;
    return frame;
}

av_cold void ff_mvfps_repeats_close(MvfpsRepeats *s)
{
    release_waiting(s);
    for (AVFrame *frame; (frame = ff_mvfps_repeats_pull(s)); )
        av_frame_free(&frame);
    av_frame_free(&s->first);
    s->is_still = 0;
}
