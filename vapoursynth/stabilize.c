/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The clip of Stabilize in any order. A frame may depend on all frames of its shot before it, by the zoom, a key frame
 * or the path. A run starts some frames earlier. If it does not find the beginning of the shot, it starts again, twice
 * as far back. Input frames are requested a few at a time and released when they have been fed.
 */

#include <stdlib.h>

#include "plugin.h"

#include "libavfilter/buffersink.h"
#include "libavutil/opt.h"

/** Maximum number of frames before the requested one at which a run starts. */
#define MAX_BACK 1000

void set_shots(Clip *c, void *filter)
{
    int64_t mode = 0, smoothing = 0, border = 0;
    double zoom = 0;

    av_opt_get_int(filter, "mode", AV_OPT_SEARCH_CHILDREN, &mode);
    av_opt_get_int(filter, "smoothing", AV_OPT_SEARCH_CHILDREN, &smoothing);
    av_opt_get_int(filter, "border", AV_OPT_SEARCH_CHILDREN, &border);
    av_opt_get_double(filter, "zoom", AV_OPT_SEARCH_CHILDREN, &zoom);
    /* the first value of each is smooth, crop, and keep the second border; a few frames more find a cut */
    c->past    = smoothing + 8;
    c->by_shot = mode || border == 1 || !border && zoom <= 0;
}

void note_shot(const Clip *c, Run *run, int64_t n, const AVFrame *frame)
{
    const AVDictionaryEntry *begins = av_dict_get(frame->metadata, "lavfi.mvstab.begins", NULL, 0);
    const AVDictionaryEntry *inliers = av_dict_get(frame->metadata, "lavfi.mvstab.inliers", NULL, 0);

    /* the first frames tell nothing while the path is held: frames before the run may have begun that */
    if (run->has_path && begins && strtol(begins->value, NULL, 10))
        run->exact_from = FFMIN(run->exact_from, n);
    if (run->has_path || !inliers || strtod(inliers->value, NULL) <= 0)
        return;
    run->has_path = 1;
    if (!c->by_shot)
        run->exact_from = FFMIN(run->exact_from, n - 1 + c->past);
}

/* Returns a run that reaches an output frame; otherwise the one that has not been used for the longest time. */
static Run *choose_run(Clip *c, int64_t n, int *goes_on)
{
    Run *oldest = &c->runs[0];

    for (int i = 0; i < MAX_RUNS; i++) {
        Run *run = &c->runs[i];

        *goes_on = run->graph && run->next_out <= n && n - run->next_out <= MAX_BACK &&
                   (run->exact_from <= n || run->exact_from == INT64_MAX);
        if (*goes_on)
            return run;
        if (!run->graph || oldest->graph && run->used < oldest->used)
            oldest = run;
    }
    return oldest;
}

/* Starts a run some frames before an output frame. */
static int start(Clip *c, Run *run, int64_t n, int64_t back, const Request *r, VSFrameContext *ctx)
{
    const VSFrame *f = c->vs->getFrameFilter(r->end - 1, c->node, ctx);
    AVFrame *frame   = import_frame(c, f, 0);
    const int ret    = frame ? open_run(c, run, frame) : AVERROR(ENOMEM);

    c->vs->freeFrame(f);
    av_frame_free(&frame);
    run->first      = run->next_in = run->next_out = FFMAX(n - FFMIN(back, MAX_BACK), 0);
    run->has_path   = 0;
    run->exact_from = !run->first ? 0 : back < MAX_BACK ? INT64_MAX : run->first + c->past;
    return ret;
}

int advance_shot(Clip *c, int64_t n, Request *r, VSFrameContext *ctx)
{
    int goes_on, ret = 0;
    Run *run = choose_run(c, n, &goes_on);

    if (!goes_on)
        ret = start(c, run, n, c->past + BACKWARDS, r, ctx);
    run->used = ++c->clock;
    while (ret >= 0 && run->next_out <= n) {
        ret = pull(c, run);
        if (ret >= 0 && run->next_out > n && run->exact_from > n)
            ret = start(c, run, n, 2 * (n - run->first), r, ctx);
        if (ret != AVERROR(EAGAIN) || run->flushed)
            continue;
        if (run->next_in < c->in.numFrames && (run->next_in < r->first || run->next_in >= r->end)) {
            c->vs->releaseFrameEarly(c->node, r->end - 1, ctx);
            r->first = run->next_in;
            r->end   = FFMIN(r->first + STEP, c->in.numFrames);
            for (int i = r->first; i < r->end; i++)
                c->vs->requestFrameFilter(i, c->node, ctx);
            return ret;
        }
        ret = feed(c, run, ctx);
        /* the last one may be needed to start a run */
        if (run->next_in < r->end)
            c->vs->releaseFrameEarly(c->node, run->next_in - 1, ctx);
    }
    if (ret >= 0)
        c->ahead = run->next_in - n;
    else
        close_run(c, run);
    return ret;
}
