/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Runs mvview on frames with vectors: on several threads, at the processor's levels, on a device.
 * The tests and the fuzzer share this file.
 */

#ifndef GPUME_VIEW_CASE_H
#define GPUME_VIEW_CASE_H

#include <inttypes.h>
#include <string.h>

#include "config.h"

#include "libavutil/cpu.h"
#include "libavutil/hwcontext.h"

#if CONFIG_FFNVCODEC && (CONFIG_CUDA_LLVM || CONFIG_CUDA_NVCC)
#include "libavfilter/gpume/cuda_common/driver.h"
#endif
#include "libavfilter/gpume/field/fields.h"

#include "gpume_frame_case.h"

static int same_pictures(const AVFrame *a, const AVFrame *b)
{
    int linesizes[4];

    av_image_fill_linesizes(linesizes, a->format, a->width);
    for (int i = 0; i < av_pix_fmt_count_planes(a->format); i++)
        for (int y = 0; y < test_plane_rows(a, i); y++)
            if (memcmp(a->data[i] + y * (ptrdiff_t)a->linesize[i],
                       b->data[i] + y * (ptrdiff_t)b->linesize[i], linesizes[i]))
                return 0;
    return 1;
}

/*
 * Returns the output for a frame.
 * @param held whether another reference of the frame exists
 */
static AVFrame *filter_frame(const Input *in, const char *filter, const char *options,
                             int threads, int held)
{
    AVFrame *f = make_frame(in), *out = test_alloc(av_frame_alloc());
    AVFrame *before = make_frame(in), *other = held ? test_alloc(av_frame_clone(f)) : NULL;
    const uint8_t *data = f->data[0];
    TestFilter g = { filter, options, threads, .never_searches = 1 };
    int ret = test_open_filter(&g, in->format, in->w, in->h);

    CHECK(ret >= 0, "%s=%s: %s", filter, options, av_err2str(ret));
    if (ret >= 0)
        ret = av_buffersrc_add_frame(g.src, f);
    if (ret >= 0)
        ret = av_buffersink_get_frame(g.sink, out);
    CHECK(ret >= 0, "%s=%s: %s", filter, options, av_err2str(ret));
    if (ret < 0) {
        av_frame_free(&out);
    } else if (held) {
        CHECK(same_pictures(other, before), "a frame with another reference was drawn into");
        CHECK(in->even || is_intact(other), "bytes around a frame with another reference were written");
    } else if (out->data[0] == data) {
        CHECK(in->even || is_intact(out), "bytes outside the picture were written");
    }
    av_frame_free(&f);
    av_frame_free(&before);
    av_frame_free(&other);
    avfilter_graph_free(&g.graph);
    return out;
}

/** One format of each kind. */
static const enum AVPixelFormat view_formats[] = {
    AV_PIX_FMT_YUV420P, AV_PIX_FMT_GRAY8, AV_PIX_FMT_YUV410P, AV_PIX_FMT_NV12, AV_PIX_FMT_P010LE,
    AV_PIX_FMT_RGB24, AV_PIX_FMT_YUV444P16BE, AV_PIX_FMT_BGRA, AV_PIX_FMT_YUVA420P, AV_PIX_FMT_GBRP,
};

/** Values of the filter's options. */
static const char *const modes[] = {
    "mode=arrows", "mode=flow", "mode=blocks", "mode=arrows:step=1:scale=2.5",
    "mode=flow+arrows+blocks:legend=1", "mode=flow:max=3:opacity=1:background=gray",
    "mode=arrows+flow:step=1:background=black:source=past", "mode=arrows:scale=64:step=1",
    "mode=blocks+arrows:source=future:background=gray", "mode=flow:legend=1:opacity=0:max=0.01",
    "mode=arrows+flow+blocks:step=3:scale=0",
};

/* Tests that the picture does not depend on threads and processors, nor on drawing in place. */
static void check_same(const Input *in, const char *options)
{
    static const struct {
        const char *name;
        int threads, held, cpu_flags;
    } ways[] = {
        { "in a new frame",  1, 1, -1 },
        { "with 5 threads",  5, 0, -1 },
        { "in plain C",      8, 1,  0 },
#if ARCH_X86
        { "with SSE2",       2, 0, AV_CPU_FLAG_MMX | AV_CPU_FLAG_MMXEXT | AV_CPU_FLAG_SSE | AV_CPU_FLAG_SSE2 },
#elif ARCH_AARCH64
        { "with NEON",       2, 0, AV_CPU_FLAG_ARMV8 | AV_CPU_FLAG_NEON },
#endif
    };
    AVFrame *first = filter_frame(in, "mvview", options, 1, 0), *other;

    if (!first)
        return;
    for (int i = 0; i < FF_ARRAY_ELEMS(ways); i++) {
        av_force_cpu_flags(ways[i].cpu_flags);
        other = filter_frame(in, "mvview", options, ways[i].threads, ways[i].held);
        av_force_cpu_flags(-1);
        CHECK(other && same_pictures(first, other), "the picture differs %s", ways[i].name);
        av_frame_free(&other);
    }
    av_frame_free(&first);
}

/* A graph on a device, compared with drawing in system memory. */
typedef struct DeviceGraph {
    AVBufferRef *device;
    AVBufferRef *frames;        ///< frames of the last input's size, rounded up to whole chroma samples
    TestFilter g;
} DeviceGraph;

static void even_sides(AVFrame *f)
{
    f->width  = FFALIGN(f->width,  2);
    f->height = FFALIGN(f->height, 2);
}

static void need_frames(DeviceGraph *d, const Input *in)
{
    const AVHWFramesContext *frames = d->frames ? (const void *)d->frames->data : NULL;

    if (frames && frames->width == FFALIGN(in->w, 2) && frames->height == FFALIGN(in->h, 2))
        return;
    av_buffer_unref(&d->frames);
    d->frames = test_hw_frames(d->device, in->format, in->w, in->h);
}

static int open_device_graph(DeviceGraph *d, const Input *in, const char *options)
{
    need_frames(d, in);
    d->g = (TestFilter) { "mvview", options, .never_searches = 1, .hw_frames = d->frames };
    return test_open_filter(&d->g, in->format, in->w, in->h);
}

static void close_device_graph(DeviceGraph *d)
{
    avfilter_graph_free(&d->g.graph);
    av_buffer_unref(&d->frames);
}

static int download(AVFrame *to, AVFrame *from)
{
    even_sides(from);
    return av_hwframe_transfer_data(to, from, 0);
}

/*
 * Attaches a frame's vectors as fields on its device. The vectors in system memory have other
 * values, so that only the fields on the device give the right picture.
 */
static int lay_fields(DeviceGraph *d, const Input *in, AVFrame *frame)
{
#if CONFIG_FFNVCODEC && (CONFIG_CUDA_LLVM || CONFIG_CUDA_NVCC)
    const int bw = gpume_blocks(in->w, in->block), bh = gpume_blocks(in->h, in->block);
    GpumeFieldSet set = { .nb = in->nb_fields };
    GpumeCudaPool pool = { 0 };
    GpumeCuda cuda = { 0 };
    int ret;

    if ((ret = ff_gpume_cuda_open(&cuda, test_alloc(av_buffer_ref(d->device)))) < 0 ||
        (ret = ff_gpume_cuda_push(&cuda)) < 0)
        return ret;
    ret = ff_gpume_cuda_pool_init(&pool, &cuda, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED, in->size, "vectors");
    if (ret >= 0 && !(set.on_device = ff_gpume_cuda_pool_get(&pool)))
        ret = AVERROR(ENOMEM);
    if (ret >= 0) {
        const GpumeCudaBuffer *b = ff_gpume_cuda_buffer(set.on_device);

        memcpy(b->pinned, input_mvs, in->size);
        ret = ff_gpume_cuda_check(&cuda, cuda.cu->cuMemcpyHtoDAsync(b->data, b->pinned, in->size,
                                                                    cuda.hwctx->stream), "upload");
        set.device_ctx = in->is_elsewhere ? NULL : ff_gpume_cuda_device_ctx(&cuda);
        set.mvs        = test_alloc(av_buffer_alloc(in->size));
        if (in->is_elsewhere)
            memcpy(set.mvs->data, input_mvs, in->size);
        else
            memset(set.mvs->data, 1, in->size);
        for (int i = 0; i < set.nb; i++) {
            const size_t at = i * (size_t)bw * bh;

            set.host[i] = set.device[i] = (GpumeMotionField) {
                .distance = input_mvs[at].source, .pel = in->pel, .width = in->w, .height = in->h,
                .block = in->block, .bw = bw, .bh = bh,
            };
            set.host[i].mvs   = (uintptr_t)set.mvs->data + at * sizeof(AVMotionVector);
            set.device[i].mvs = b->data + at * sizeof(AVMotionVector);
        }
    }
    if (ret >= 0)
        ret = ff_gpume_fields_attach(frame, &set);
    ff_gpume_fields_uninit(&set);
    ff_gpume_cuda_pool_uninit(&pool);
    ff_gpume_cuda_pop(&cuda);
    ff_gpume_cuda_close(&cuda);
    return ret;
#else
    return AVERROR(ENOSYS);
#endif
}

/*
 * Sends a frame through a graph on the device. The frame must not change, and the output must equal
 * that of the CPU.
 */
static int check_on_device(DeviceGraph *d, const Input *in, const char *options, int same)
{
    AVFrame *f = make_frame(in), *up = test_alloc(av_frame_alloc());
    AVFrame *out = test_alloc(av_frame_alloc()), *down = test_alloc(av_frame_alloc());
    AVFrame *kept = test_alloc(av_frame_alloc()), *expected = NULL;
    int ret;

    need_frames(d, in);
    if (!same)
        expected = filter_frame(in, "mvview", options, 1, 0);
    even_sides(f);
    ret = av_hwframe_get_buffer(d->frames, up, 0);
    if (ret >= 0)
        ret = av_hwframe_transfer_data(up, f, 0);
    if (ret >= 0)
        ret = av_frame_copy_props(up, f);
    up->width  = in->w;
    up->height = in->h;
    if (ret >= 0 && in->nb_fields)
        ret = lay_fields(d, in, up);
    if (ret >= 0)
        ret = av_buffersrc_write_frame(d->g.src, up);
    if (ret >= 0)
        ret = av_buffersink_get_frame(d->g.sink, out);
    CHECK(ret < 0 || out->width == in->w && out->height == in->h && out->data[0] != up->data[0] &&
          out->hw_frames_ctx->data != up->hw_frames_ctx->data &&
          !!av_frame_get_side_data(out, AV_FRAME_DATA_MOTION_VECTORS) == in->has_side_data,
          "the output is not a new frame with the properties of the input");
    if (ret >= 0)
        ret = download(down, out);
    if (ret >= 0)
        ret = download(kept, up);
    CHECK(ret >= 0, "%s", av_err2str(ret));
    if (ret >= 0) {
        CHECK(same_pictures(kept, f), "the input frame was changed");
        f->width  = down->width  = in->w;
        f->height = down->height = in->h;
        CHECK(same_pictures(expected ? expected : f, down), "the device draws another picture");
    }
    av_frame_free(&f);
    av_frame_free(&up);
    av_frame_free(&out);
    av_frame_free(&down);
    av_frame_free(&kept);
    av_frame_free(&expected);
    return ret;
}

/* Tests a frame in its own graph. */
static void check_once_on_device(AVBufferRef *device, const Input *in, const char *options, int same)
{
    DeviceGraph d = { .device = device };
    const int ret = open_device_graph(&d, in, options);

    CHECK(ret >= 0, "%s: %s", options, av_err2str(ret));
    if (ret >= 0)
        check_on_device(&d, in, options, same);
    close_device_graph(&d);
}

#endif /* GPUME_VIEW_CASE_H */
