/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/between/between.h"
#include "libavfilter/gpume/between/blend.h"
#include "libavfilter/gpume/between/layout.h"

struct MvfpsBetween {
    MvfpsConfig cfg;
    MvfpsLayout layout;

    /* of the picture that is made */
    AVFrame *out;
    const AVFrame *before, *after;
    int part;
};

av_cold MvfpsBetween *ff_mvfps_open(const MvfpsConfig *cfg)
{
    MvfpsBetween *s = av_mallocz(sizeof(*s));

    if (s)
        s->cfg = *cfg;
    return s;
}

av_cold void ff_mvfps_close(MvfpsBetween **between)
{
    av_freep(between);
}

int ff_mvfps_read(MvfpsBetween *s, const AVFrame *before, const AVFrame *after)
{
    ff_mvfps_layout_init(&s->layout, before->format, before->width, before->height);
    return 0;
}

double ff_mvfps_scene(MvfpsBetween *s, const AVFrame *before, const AVFrame *after)
{
    return 0;
}

static void blend_job(void *arg, int job, int nb_jobs)
{
    MvfpsBetween *s = arg;

    for (int i = 0; i < s->layout.nb_planes; i++) {
        const int h = s->layout.planes[i].h;

        ff_mvfps_blend(&s->layout, i, s->out, s->before, s->after, s->part,
                       h * (int64_t)job / nb_jobs, h * (job + 1LL) / nb_jobs);
    }
}

int ff_mvfps_make(MvfpsBetween *s, AVFrame *out, const AVFrame *before, const AVFrame *after,
                  int part, enum MvfpsMode mode)
{
    s->out    = out;
    s->before = before;
    s->after  = after;
    s->part   = part;
    s->cfg.execute(s->cfg.opaque, blend_job, s, FFMIN(s->cfg.nb_threads, s->layout.h));
    return 0;
}
