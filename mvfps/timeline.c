/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdlib.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/avutil.h"
#include "libavutil/common.h"
#include "libavutil/mathematics.h"

#include "libavfilter/gpume/mvfps/arithmetic.h"
#include "libavfilter/gpume/mvfps/timeline.h"

/** Maximum number of output frames that fill a gap; after a longer gap the output continues at its end. */
#define LONGEST_FILL 100000
/** A frame whose repeats were left out lasts at most so many input frames where times are made even. */
#define LONGEST_STEP 8

/* Converts a duration to the timeline's time base; INT64_MAX: it does not fit. */
static int64_t convert(const MvfpsTimeline *t, int64_t duration, AVRational time_base, enum AVRounding rounding)
{
    const int64_t time = av_rescale_q_rnd(duration, time_base, t->cfg.time_base, rounding);

    return time == INT64_MIN ? INT64_MAX : time;
}

av_cold void ff_mvfps_timeline_init(MvfpsTimeline *t, const MvfpsTimelineConfig *cfg)
{
    const AVRational step = av_inv_q(cfg->rate), in_rate = cfg->in_rate, in_base = cfg->in_time_base;
    int64_t rounding;

    *t = (MvfpsTimeline) {
        .cfg = *cfg, .start = AV_NOPTS_VALUE, .front = AV_NOPTS_VALUE,
        .end_of_repeats = AV_NOPTS_VALUE, .end_of_stream = AV_NOPTS_VALUE,
    };
    t->longest_fill = convert(t, LONGEST_FILL, step, AV_ROUND_NEAR_INF);
    t->longest_gap  = FFMIN(convert(t, cfg->gap, AV_TIME_BASE_Q, AV_ROUND_NEAR_INF), t->longest_fill);
    if (in_rate.num <= 0 || in_rate.den <= 0 ||
        !((int64_t)in_rate.den * in_base.den % ((int64_t)in_rate.num * in_base.num)))
        return;
    /* the times of the first frame, from which output times are counted, and of another frame are
     * off by up to half a tick each */
    rounding    = convert(t, 1, in_base, AV_ROUND_NEAR_INF);
    rounding    = FFMIN(rounding, convert(t, 1, av_inv_q(in_rate), AV_ROUND_DOWN) / 4);
    t->rounding = FFMIN(rounding, FFMAX(convert(t, 1, step, AV_ROUND_DOWN) - 1, 0) / 2);
}

int64_t ff_mvfps_timeline_at(const MvfpsTimeline *t, int64_t index)
{
    return t->start + FFMIN(convert(t, index, av_inv_q(t->cfg.rate), AV_ROUND_NEAR_INF), 2 * MVFPS_MAX_TIME + 1);
}

int ff_mvfps_timeline_is_jump(const MvfpsTimeline *t, int64_t time)
{
    return time > t->longest_fill;
}

int ff_mvfps_timeline_take(MvfpsTimeline *t, int64_t pts, int64_t duration)
{
    /* the time of a frame behind a jump may be damaged */
    const int last = t->nb - 1 - (t->nb > 1 && ff_mvfps_timeline_is_jump(t, t->pts[t->nb - 1] - t->pts[t->nb - 2]));

    if (t->nb && pts <= (t->cfg.is_sparse ? t->own[t->nb_left + last] : t->pts[last]))
        return 0;
    if (!t->nb && t->start == AV_NOPTS_VALUE)
        t->start = pts;
    t->own[t->nb_left + t->nb] = t->pts[t->nb] = pts;
    t->durations[t->nb++] = duration;
    return 1;
}

void ff_mvfps_timeline_end(MvfpsTimeline *t, int64_t end_of_repeats, int64_t end_of_stream)
{
    t->has_ended      = 1;
    t->end_of_repeats = end_of_repeats;
    t->end_of_stream  = end_of_stream;
}

/* Returns the simplest fraction between two others. */
static AVRational simplest(AVRational low, AVRational high)
{
    const int whole = low.num / low.den;
    AVRational rest;

    if (av_cmp_q((AVRational) { whole + 1, 1 }, high) < 0)
        return (AVRational) { whole + 1, 1 };
    low.num  -= whole * low.den;
    high.num -= whole * high.den;
    /* 1 / rest is between both; a low of 0 has no limit */
    rest = low.num ? simplest(av_inv_q(high), av_inv_q(low)) : (AVRational) { high.den / high.num + 1, 1 };
    return (AVRational) { whole * rest.num + rest.den, rest.num };
}

/** Frames around one of them, whose times are those of an even sequence, rounded to the grid of the input's rate. */
typedef struct Stretch {
    int first, last;
    AVRational low, high;       ///< limits of the time from frame to frame, in steps of the grid
} Stretch;

/* Adds a frame to a stretch, before or behind it. Returns 0 if the sequence is not even then. */
static int extend(Stretch *s, const int *places, int i)
{
    Stretch wider = *s;

    wider.first = FFMIN(s->first, i);
    wider.last  = FFMAX(s->last, i);
    for (int k = s->first; k <= s->last; k++) {
        const int frames = abs(i - k), steps = abs(places[i] - places[k]);
        const AVRational low = { steps - 1, frames }, high = { steps + 1, frames };

        if (av_cmp_q(low, wider.low) > 0)
            wider.low = low;
        if (av_cmp_q(high, wider.high) < 0)
            wider.high = high;
    }
    if (av_cmp_q(wider.low, wider.high) >= 0)
        return 0;
    *s = wider;
    return 1;
}

/* Returns how many steps of the grid lie between frames i - 1 and i; 0: they are not on a grid, or too many. */
static int steps_to(const MvfpsTimeline *t, int i)
{
    const AVRational grid = av_inv_q(t->cfg.in_rate);
    const int64_t time  = t->own[i] - t->own[i - 1];
    const int64_t steps = av_rescale_q(time, t->cfg.time_base, grid);

    if (steps < 1 || steps > LONGEST_STEP ||
        4 * llabs(time - convert(t, steps, grid, AV_ROUND_NEAR_INF)) > convert(t, 1, grid, AV_ROUND_NEAR_INF))
        return 0;
    return steps;
}

/*
 * Gives the second frame its time: that of an even sequence, if the grid of the input's rate explains the times of the
 * frames around it, and it is not the only one of its kind.
 */
static void make_even(MvfpsTimeline *t)
{
    const int now = t->nb_left, nb = now + t->nb;
    int places[2 * MVFPS_MAX_FRAMES] = { 0 }, counts[LONGEST_STEP + 1] = { 0 }, first = now, last = now, step;
    Stretch s = { now, now, { 0, 1 }, { LONGEST_STEP + 1, 1 } };
    AVRational mean, grid;
    int64_t even;

    t->is_even = 1;
    if (t->cfg.in_rate.num <= 0 || t->cfg.in_rate.den <= 0)
        return;
    for (; last + 1 < nb && (step = steps_to(t, last + 1)); last++)
        places[last + 1] = places[last] + step;
    for (; first > 0 && (step = steps_to(t, first)); first--)
        places[first - 1] = places[first] - step;
    while (s.last < last && extend(&s, places, s.last + 1))
        ;
    while (s.last > now && s.first > first && extend(&s, places, s.first - 1))
        ;
    for (int i = s.first + 1; i <= s.last; i++)
        counts[places[i] - places[i - 1]]++;
    for (step = 1; step < LONGEST_STEP && !counts[step]; step++)
        ;
    if (step == LONGEST_STEP || counts[step] < 2 || counts[step + 1] < 2)
        return;
    mean = simplest(s.low, s.high);
    grid = av_inv_q(t->cfg.in_rate);
    even = t->pts[0] + convert(t, mean.num, (AVRational) { grid.num, grid.den * mean.den }, AV_ROUND_NEAR_INF);
    if (llabs(even - t->pts[1]) < convert(t, 1, grid, AV_ROUND_NEAR_INF))
        t->pts[1] = even;
}

/* Returns the time at which the first frame ends, if no frame follows or only after a gap. */
static int64_t end_of_first(const MvfpsTimeline *t)
{
    const int64_t first = t->pts[0];
    int64_t end = first;

    if (t->nb == 1 && t->has_ended && t->end_of_repeats != AV_NOPTS_VALUE)
        end = t->end_of_repeats;
    else if (t->durations[0] > 0)
        end = av_sat_add64(first, t->durations[0]);
    else if (t->nb == 1 && t->has_ended && t->end_of_stream != AV_NOPTS_VALUE)
        end = t->end_of_stream;
    /* ignores a damaged duration */
    if (end < first || ff_mvfps_timeline_is_jump(t, av_sat_sub64(end, first)))
        end = first;
    return end - t->rounding;
}

/* Returns whether the output time is that of the first frame, within the precision of the input's times. */
static int is_first(const MvfpsTimeline *t, int64_t now, int has_second)
{
    const int64_t first = t->pts[0];

    /* the second frame, which has not arrived yet, may be nearer */
    return now == first || llabs(now - first) <= t->rounding && (now < first || has_second || t->has_ended);
}

/* Removes a frame. */
static void leave(MvfpsTimeline *t, int i)
{
    if (!i) {
        t->front = t->pts[0];
        if (t->cfg.is_sparse && ++t->nb_left > MVFPS_MAX_FRAMES) {
            memmove(t->own, t->own + 1, sizeof(t->own) - sizeof(*t->own));
            t->nb_left--;
        }
    } else if (t->cfg.is_sparse) {
        memmove(t->own + t->nb_left + 1, t->own + t->nb_left + 2, (t->nb - 2) * sizeof(*t->own));
    }
    t->nb--;
    memmove(t->pts + i, t->pts + i + 1, (t->nb - i) * sizeof(*t->pts));
    memmove(t->durations + i, t->durations + i + 1, (t->nb - i) * sizeof(*t->durations));
    t->is_even = 0;
}

/* Decides what to do before a jump; MVFPS_BETWEEN: the time up to it is not over. */
static enum MvfpsAction before_jump(MvfpsTimeline *t, int64_t now)
{
    const int is_damaged = t->nb > 2 && t->pts[2] <= t->pts[1];

    if (is_first(t, now, 1) || !is_damaged && (t->nb > 2 || t->has_ended) && now < end_of_first(t))
        return MVFPS_BETWEEN;
    if (t->nb == 2 && !t->has_ended)
        return MVFPS_WAIT;
    leave(t, is_damaged);
    if (is_damaged)
        return MVFPS_DAMAGED;
    t->front = AV_NOPTS_VALUE;
    t->start = t->pts[0];
    t->index = 0;
    return MVFPS_JUMP;
}

enum MvfpsAction ff_mvfps_timeline_decide(MvfpsTimeline *t, int *part, int parts)
{
    const int64_t now = t->nb ? ff_mvfps_timeline_at(t, t->index) : 0;
    int has_second;

    if (!t->nb)
        return MVFPS_WAIT;
    if (t->cfg.is_sparse && !t->is_even && t->nb > 1 && (t->nb == MVFPS_MAX_FRAMES || t->has_ended))
        make_even(t);
    has_second = t->nb > 1 && (!t->cfg.is_sparse || t->is_even);
    if (has_second && ff_mvfps_timeline_is_jump(t, t->pts[1] - t->pts[0])) {
        const enum MvfpsAction action = before_jump(t, now);

        if (action != MVFPS_BETWEEN)
            return action;
    }
    if (has_second) {
        const int64_t left = t->pts[1] - now;

        if (left <= 0 || left <= t->rounding && left < llabs(now - t->pts[0])) {
            leave(t, 0);
            return MVFPS_NEXT;
        }
    }
    if (is_first(t, now, has_second))
        return MVFPS_ORIGINAL;
    if (has_second) {
        *part = av_rescale(now - t->pts[0], parts, t->pts[1] - t->pts[0]);
        return MVFPS_BETWEEN;
    }
    /* the last frame is shown for its duration */
    return t->has_ended && now < end_of_first(t) ? MVFPS_AGAIN : MVFPS_WAIT;
}

int ff_mvfps_timeline_has_between(const MvfpsTimeline *t, int64_t pts)
{
    int64_t now;

    if (!t->nb)
        return 0;
    if (pts == AV_NOPTS_VALUE || pts <= t->pts[0] || ff_mvfps_timeline_is_jump(t, av_sat_sub64(pts, t->pts[0])))
        return 1;
    for (int64_t i = t->index; (now = ff_mvfps_timeline_at(t, i)) < pts - t->rounding; i++)
        if (now > t->pts[0] + t->rounding)
            return 1;
    return 0;
}

void ff_mvfps_timeline_distances(const MvfpsTimeline *t, int distances[2])
{
    const int64_t own = t->pts[1] - t->pts[0];
    const int64_t beyond[2] = {
        t->front != AV_NOPTS_VALUE ? t->pts[0] - t->front : own,
        t->durations[1] > 0 && t->durations[0] == own ? t->durations[1] : own,
    };

    for (int i = 0; i < 2; i++)
        distances[i] = av_clip64(av_rescale(beyond[i], MVFPS_DISTANCE, own), 0, MVFPS_MAX_DISTANCE + 1);
}
