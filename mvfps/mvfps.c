/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvfps/backend.h"
#include "libavfilter/gpume/mvfps/mvfps.h"
#include "libavfilter/gpume/util/frames.h"

const GpumeSequenceKind ff_mvfps_kind = {
    "mvfps", ff_gpume_layout_supports, GPUME_FRAME_BACKENDS(ff_mvfps_backend),
};

struct Mvfps {
    MvfpsConfig cfg;
    GpumeSequence sequence;
    MvfpsPair pair;
};

av_cold int ff_mvfps_open(Mvfps **mvfps, const MvfpsConfig *cfg)
{
    Mvfps *s = *mvfps = av_mallocz(sizeof(*s));
    int ret;

    if (!s)
        return AVERROR(ENOMEM);
    s->cfg = *cfg;
    ret = ff_gpume_sequence_open(&s->sequence, &ff_mvfps_kind, cfg->hw_frames, &s->cfg, cfg->log_ctx);
    if (ret < 0)
        ff_mvfps_close(mvfps);
    return ret;
}

av_cold void ff_mvfps_close(Mvfps **mvfps)
{
    Mvfps *s = *mvfps;

    if (!s)
        return;
    ff_gpume_sequence_close(&s->sequence);
    av_freep(mvfps);
}

static const MvfpsBackend *backend_of(const Mvfps *s)
{
    return (const MvfpsBackend *)s->sequence.backend;
}

int ff_mvfps_is_repeat(Mvfps *s, const AVFrame *first, const AVFrame *frame)
{
    GpumeLayout layout;

    if (!ff_gpume_are_alike(first, frame) || ff_gpume_frame_device(frame) != s->sequence.device_ctx)
        return 0;
    ff_gpume_layout_init(&layout, ff_gpume_frame_format(frame), frame->width, frame->height);
    return backend_of(s)->is_repeat(s->sequence.priv, &layout, first, frame);
}

static int is_near(int distance)
{
    return distance >= MVFPS_MIN_DISTANCE && distance <= MVFPS_MAX_DISTANCE;
}

int ff_mvfps_begin(Mvfps *s, const AVFrame *before, const AVFrame *after, const int distances[2],
                   enum MvfpsMode mode)
{
    const int ret = ff_gpume_sequence_set_layout(&s->sequence, before);

    if (ret < 0)
        return ret;
    s->pair = (MvfpsPair) { &s->sequence.layout, before, after };
    if (is_near(distances[0]) && is_near(distances[1]))
        s->pair.rates = (MvfpsRates) { mvfps_rate(distances[0]), mvfps_rate(distances[1]) };
    return backend_of(s)->begin(s->sequence.priv, &s->pair, mode);
}

int ff_mvfps_find_cut(Mvfps *s, enum MvfpsMode mode, enum MvfpsMode cut, double scene)
{
    return backend_of(s)->find_cut(s->sequence.priv, mode, cut, scene);
}

int ff_mvfps_make(Mvfps *s, AVFrame *out, int part, enum MvfpsMode mode)
{
    return backend_of(s)->make(s->sequence.priv, out, part, mode);
}

int ff_mvfps_copy(Mvfps *s, AVFrame *out, const AVFrame *in)
{
    const int ret = ff_gpume_sequence_set_layout(&s->sequence, in);

    return ret < 0 ? ret : backend_of(s)->copy(s->sequence.priv, out, in);
}
