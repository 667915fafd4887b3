/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/core/searcher.h"
#include "libavfilter/gpume/field/sidedata.h"

/** Maximum number of waiting frames: the first frame waits until the second shows whether vectors arrive. */
#define MAX_WAITING 2

/** Whether frames are output as they are, or searched. */
enum State { UNDECIDED, FORWARDS, SEARCHES };

struct GpumeSearcher {
    GpumeSearcherConfig cfg;
    enum State state;
    GpumeEngine *engine;                ///< SEARCHES
    AVFrame *waiting[MAX_WAITING];      ///< the oldest frame is first
    int nb_waiting;
    int flushed;
    int64_t nb_out;
    int64_t ahead;                      ///< GpumeFieldSet.number minus nb_out of the last output frame with fields
    int has_ahead, warned;
};

av_cold int ff_gpume_searcher_open(GpumeSearcher **searcher, const GpumeSearcherConfig *cfg)
{
    GpumeSearcher *s = *searcher = av_mallocz(sizeof(*s));

    if (!s)
        return AVERROR(ENOMEM);
    s->cfg = *cfg;
    return 0;
}

static int has_vectors(const AVFrame *frame)
{
    return !!gpume_nb_vectors(av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS));
}

static void decide(GpumeSearcher *s, enum State state)
{
    const AVFrame *last = s->waiting[s->nb_waiting - 1];

    s->state = state;
    if (s->cfg.decided && (state == SEARCHES || has_vectors(last)))
        s->cfg.decided(s->cfg.log_ctx, state == SEARCHES);
}

/* Begins the search of the stream that starts with the waiting frames. */
static int begin_search(GpumeSearcher *s)
{
    const AVFrame *first = s->waiting[0];
    const GpumeEngineConfig cfg = {
        .params    = s->cfg.params,
        .backend   = -1,
        .executor  = s->cfg.executor,
        .hw_device = s->cfg.hw_device,
        .log_ctx   = s->cfg.log_ctx,
    };
    int ret = ff_gpume_engine_open(&s->engine, &cfg, first->width, first->height, first->format,
                                   first->hw_frames_ctx);

    if (ret < 0)
        return ret;
    av_log(s->cfg.log_ctx, AV_LOG_INFO, "The frames have no motion vectors. Searching with "
           "gpume=%s:backend=%s.\n", s->cfg.options, ff_gpume_engine_backend(s->engine));
    decide(s, SEARCHES);
    return 0;
}

static AVFrame *take_waiting(GpumeSearcher *s)
{
    AVFrame *frame = s->waiting[0];

    s->waiting[0] = s->waiting[1];
    s->waiting[1] = NULL;
    s->nb_waiting--;
    return frame;
}

int ff_gpume_searcher_push(GpumeSearcher *s, AVFrame **frame)
{
    if (s->nb_waiting == MAX_WAITING)
        return AVERROR(EAGAIN);
    s->waiting[s->nb_waiting++] = *frame;
    *frame = NULL;
    if (s->state != UNDECIDED)
        return 0;
    if (s->cfg.when == GPUME_SEARCH_NEVER || has_vectors(s->waiting[s->nb_waiting - 1]))
        decide(s, FORWARDS);
    else if (s->nb_waiting == MAX_WAITING)
        return begin_search(s);
    return 0;
}

/* Warns if frames were dropped or repeated after the search. util/upstream.h detects filters that move pictures. */
static void check_vectors(GpumeSearcher *s, const AVFrame *frame)
{
    const GpumeFieldSet *set = ff_gpume_fields_searched(frame);
    int64_t ahead;

    if (!set || s->warned || set->host[0].width != frame->width || set->host[0].height != frame->height)
        return;
    ahead = set->number - s->nb_out;
    if (s->cfg.sequence && s->has_ahead && ahead != s->ahead) {
        av_log(s->cfg.log_ctx, AV_LOG_WARNING, "Frames were %s after the motion search, so their vectors do not fit. "
               "Insert filters that drop or repeat frames (fps, select, decimate) before gpume.\n",
               ahead > s->ahead ? "dropped" : "repeated");
        s->warned = 1;
    }
    s->ahead     = ahead;
    s->has_ahead = 1;
}

/* Returns the next searched frame. */
static int pull_searched(GpumeSearcher *s, AVFrame **frame)
{
    GpumeResult result;
    int ret;

    while ((ret = ff_gpume_engine_pull(s->engine, &result)) == AVERROR(EAGAIN)) {
        if (s->nb_waiting) {
            AVFrame *next = take_waiting(s);

            ret = ff_gpume_engine_push(s->engine, &next);
            av_frame_free(&next);
            if (ret < 0)
                return ret;
        } else if (s->flushed) {
            ff_gpume_engine_flush(s->engine);
        } else {
            return AVERROR(EAGAIN);
        }
    }
    if (ret < 0)
        return ret;
    if (!has_vectors(result.frame))
        ret = ff_gpume_fields_attach(result.frame, &result.set);
    if (ret >= 0)
        FFSWAP(AVFrame *, *frame, result.frame);
    ff_gpume_result_uninit(&result);
    return ret;
}

int ff_gpume_searcher_pull(GpumeSearcher *s, AVFrame **frame)
{
    *frame = NULL;
    if (s->state == SEARCHES)
        return pull_searched(s, frame);
    if (s->state == UNDECIDED && s->flushed && s->nb_waiting)
        decide(s, FORWARDS);      // a single frame has no reference
    if (s->state == UNDECIDED || !s->nb_waiting)
        return s->flushed ? AVERROR_EOF : AVERROR(EAGAIN);
    *frame = take_waiting(s);
    check_vectors(s, *frame);
    s->nb_out++;
    return 0;
}

void ff_gpume_searcher_flush(GpumeSearcher *s)
{
    s->flushed = 1;
}

av_cold void ff_gpume_searcher_close(GpumeSearcher **searcher)
{
    GpumeSearcher *s = *searcher;

    if (!s)
        return;
    ff_gpume_engine_close(&s->engine);
    for (int i = 0; i < MAX_WAITING; i++)
        av_frame_free(&s->waiting[i]);
    av_freep(searcher);
}
