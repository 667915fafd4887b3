/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Runs: graphs of libavfilter that are fed the frames of a clip, starting from any frame.
 */

#include <string.h>

#include "plugin.h"

#include "libavutil/mem.h"
#include "libavfilter/buffersink.h"
#include "libavfilter/buffersrc.h"

void close_run(const Clip *c, Run *run)
{
    VSMap *fields;

    avfilter_graph_free(&run->graph);
    while (run->fields && av_fifo_read(run->fields, &fields, 1) >= 0)
        c->vs->freeMap(fields);
    av_fifo_freep2(&run->fields);
    c->vs->freeFrame(run->last);
    run->last = NULL;
}

static int build_chain(const Clip *c, Run *run)
{
    AVFilterContext *last = run->source;
    int ret;

    for (int i = 0; i < c->nb_filters; i++) {
        const ChainFilter *f = &c->chain[i];
        AVFilterContext *ctx = avfilter_graph_alloc_filter(run->graph, avfilter_get_by_name(f->name), f->name);
        AVDictionary *options = NULL;

        if (!ctx)
            return AVERROR(ENOMEM);
        ret = av_dict_copy(&options, f->options, 0);
        if (ret >= 0)
            ret = avfilter_init_dict(ctx, &options);
        av_dict_free(&options);
        if (ret < 0 || (ret = avfilter_link(last, 0, ctx, 0)) < 0)
            return ret;
        last = ctx;
    }
    return avfilter_link(last, 0, run->sink, 0);
}

int open_run(Clip *c, Run *run, const AVFrame *frame)
{
    AVBufferSrcParameters *p = av_buffersrc_parameters_alloc();
    int ret = AVERROR(ENOMEM);

    close_run(c, run);
    run->flushed = 0;
    run->graph   = avfilter_graph_alloc();
    run->fields  = av_fifo_alloc2(4, sizeof(VSMap *), AV_FIFO_FLAG_AUTO_GROW);
    run->vs      = c->vs;
    run->of_fields = c->of_fields;
    run->tff       = c->tff;
    if (!p || !run->graph || !run->fields)
        goto end;
    run->graph->nb_threads = c->threads;
    run->source = avfilter_graph_alloc_filter(run->graph, avfilter_get_by_name("buffer"), "in");
    if (!run->source)
        goto end;
    p->format      = c->format;
    p->width       = c->in.width;
    p->height      = c->in.height;
    p->time_base   = c->in.fpsNum > 0 ? av_make_q(c->in.fpsDen, c->in.fpsNum) : av_make_q(1, 25);
    p->frame_rate  = av_inv_q(p->time_base);
    p->color_space = frame ? frame->colorspace : AVCOL_SPC_UNSPECIFIED;
    p->color_range = frame ? frame->color_range : AVCOL_RANGE_UNSPECIFIED;
    if ((ret = av_buffersrc_parameters_set(run->source, p)) < 0 ||
        (ret = avfilter_init_str(run->source, NULL)) < 0 ||
        (ret = avfilter_graph_create_filter(&run->sink, avfilter_get_by_name("buffersink"), "out", NULL, NULL,
                                            run->graph)) < 0 ||
        (ret = build_chain(c, run)) < 0)
        goto end;
    for (int i = 0; i < run->graph->nb_filters && c->kind == VECTORS; i++)
        if (!strcmp(run->graph->filters[i]->filter->name, "gpume")) {
            run->results = (GpumeSink){ take_result, run, 1 };
            ff_gpume_filter_set_sink(run->graph->filters[i], &run->results);
        }
    ret = avfilter_graph_config(run->graph, NULL);
end:
    av_free(p);
    if (ret < 0)
        close_run(c, run);
    return ret;
}

int input_of(const Clip *c, int64_t n)
{
    const int64_t m = c->kind == FPS ? av_rescale_rnd(n, c->in.fpsNum * c->out.fpsDen, c->in.fpsDen * c->out.fpsNum,
                                                      AV_ROUND_DOWN) : n / c->per_frame;

    return FFMIN(m, c->in.numFrames - 1);
}

/*
 * Returns the number that the first frame of a run gets instead of its own. mvfps counts output times from its first
 * frame, so that number must have the time of an output frame. It may be negative. It is so much smaller than the
 * frame's own number that mvfps interpolates nothing between the two.
 */
static int64_t anchor(const Clip *c, int first)
{
    const AVRational ratio = av_mul_q(av_make_q(c->out.fpsNum, c->out.fpsDen), av_make_q(c->in.fpsDen, c->in.fpsNum));
    int64_t at = first - c->gap;

    at -= (at % ratio.den + ratio.den) % ratio.den;
    return at;
}

int64_t output_of(const Clip *c, int64_t m, enum AVRounding rounding)
{
    return av_rescale_rnd(m, c->out.fpsNum * c->in.fpsDen, c->out.fpsDen * c->in.fpsNum, rounding);
}

int start_run(Clip *c, Run *run, int first, int exact, VSFrameContext *ctx)
{
    const VSFrame *f = c->vs->getFrameFilter(first, c->node, ctx);
    const int64_t at = c->kind == FPS && first ? anchor(c, first) : first;
    int ret = check_order(c, f, first);
    AVFrame *frame = ret < 0 ? NULL : import_frame(c, f, at);

    if (ret >= 0)
        ret = frame ? open_run(c, run, frame) : AVERROR(ENOMEM);
    c->vs->freeFrame(f);
    run->next_in    = first;
    run->exact_from = first ? (int64_t)exact * c->per_frame : 0;
    /* Deinterlace outputs nothing of the frames before, which feed() marks */
    run->next_out   = c->kind == FPS ? 0 : c->kind == DEINTERLACE ? run->exact_from : (int64_t)first * c->per_frame;
    if (c->kind == FPS && first && ret >= 0) {
        run->exact_from = output_of(c, exact, AV_ROUND_UP);
        ret = av_buffersrc_add_frame(run->source, frame);
    }
    av_frame_free(&frame);
    return ret;
}

int feed(Clip *c, Run *run, VSFrameContext *ctx)
{
    const VSFrame *f;
    AVFrame *frame;
    int ret;

    if (run->next_in >= c->in.numFrames) {
        run->flushed = 1;
        return av_buffersrc_add_frame(run->source, NULL);
    }
    f     = c->vs->getFrameFilter(run->next_in, c->node, ctx);
    ret   = check_order(c, f, run->next_in);
    frame = ret < 0 ? NULL : import_frame(c, f, run->next_in);
    if (frame && c->kind == DEINTERLACE && run->next_in < run->exact_from / c->per_frame)
        frame->flags |= AV_FRAME_FLAG_DISCARD;
    if (ret >= 0)
        ret = frame ? av_buffersrc_add_frame(run->source, frame) : AVERROR(ENOMEM);
    c->vs->freeFrame(f);
    av_frame_free(&frame);
    run->next_in++;
    return ret;
}

/* Keeps an output frame or its fields. Takes ownership of both. */
static void keep(Clip *c, int64_t n, const VSFrame *frame, VSMap *fields)
{
    c->vs->freeFrame(c->kept[c->next_kept].frame);
    c->vs->freeMap(c->kept[c->next_kept].fields);
    c->kept[c->next_kept].n      = n;
    c->kept[c->next_kept].frame  = frame;
    c->kept[c->next_kept].fields = fields;
    c->next_kept = (c->next_kept + 1) % MAX_KEPT;
}

int pull(Clip *c, Run *run)
{
    AVFrame *frame = av_frame_alloc();
    int ret = frame ? av_buffersink_get_frame(run->sink, frame) : AVERROR(ENOMEM);

    if (ret >= 0) {
        const int64_t n = c->kind == FPS ? av_rescale_q_rnd(frame->pts, av_buffersink_get_time_base(run->sink),
                                                            av_make_q(c->out.fpsDen, c->out.fpsNum),
                                                            AV_ROUND_NEAR_INF) : run->next_out;
        /* Deinterlace at the double rate: a frame that passes unchanged takes the time of two */
        const int repeats = c->per_frame == 2 && frame->duration > 1;
        VSMap *fields = NULL;

        if (c->kind == STABILIZE)
            note_shot(c, run, n, frame);
        av_fifo_read(run->fields, &fields, 1);
        run->next_out = n + 1 + repeats;
        if (n < run->exact_from) {
            c->vs->freeMap(fields);
        } else if (c->kind == VECTORS) {
            keep(c, n, NULL, fields);
        } else {
            const VSFrame *out = export_frame(c, frame);

            c->vs->freeFrame(run->last);
            run->last = c->vs->addFrameRef(out);
            if (repeats)
                keep(c, n + 1, c->vs->addFrameRef(out), NULL);
            keep(c, n, out, NULL);
        }
    }
    av_frame_free(&frame);
    return ret;
}
