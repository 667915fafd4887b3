/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdlib.h>
#include <string.h>

#include "libavfilter/buffersink.h"
#include "libavfilter/buffersrc.h"
#include "libavutil/cpu.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/imgutils.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/mem.h"

#include "gpume_filter_harness.h"

const enum AVPixelFormat test_planar_formats[20] = {
    AV_PIX_FMT_GRAY8, AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV410P, AV_PIX_FMT_YUV411P, AV_PIX_FMT_YUV440P,
    AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVA420P, AV_PIX_FMT_NV12, AV_PIX_FMT_NV24, AV_PIX_FMT_GBRP,
    AV_PIX_FMT_GRAY10, AV_PIX_FMT_YUV420P9, AV_PIX_FMT_YUV420P10, AV_PIX_FMT_YUV422P12, AV_PIX_FMT_P010,
    AV_PIX_FMT_P016, AV_PIX_FMT_YUV444P16, AV_PIX_FMT_GRAY16, AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUV420P14,
};

void test_set_format(TestShape *s, enum AVPixelFormat format)
{
    s->format        = format;
    s->desc          = av_pix_fmt_desc_get(format);
    s->depth         = s->desc->comp[0].depth;
    s->nb_components = s->desc->nb_components;
}

TestShape test_shape(enum AVPixelFormat format, int w, int h)
{
    TestShape s = { .w = w, .h = h };

    test_set_format(&s, format);
    return s;
}

const AVComponentDescriptor *test_component(const TestShape *s, int i)
{
    static const int rgb[4] = { 1, 0, 2, 3 };

    return &s->desc->comp[s->desc->flags & AV_PIX_FMT_FLAG_RGB ? rgb[i] : i];
}

int test_shift_x(const TestShape *s, int i)
{
    return i == 1 || i == 2 ? s->desc->log2_chroma_w : 0;
}

int test_shift_y(const TestShape *s, int i)
{
    return i == 1 || i == 2 ? s->desc->log2_chroma_h : 0;
}

int test_width(const TestShape *s, int i)
{
    return AV_CEIL_RSHIFT(s->w, test_shift_x(s, i));
}

int test_height(const TestShape *s, int i)
{
    return AV_CEIL_RSHIFT(s->h, test_shift_y(s, i));
}

AVFrame *test_gray_frame(enum AVPixelFormat format, const uint16_t *samples, int w, int h)
{
    const TestShape s = test_shape(format, w, h);
    AVFrame *f = test_alloc_frame(format, w, h);

    for (int i = 0; i < w * h; i++)
        test_set_word(&s, f, 0, i % w, i / w, samples[i]);
    return f;
}

static uint8_t *address(const TestShape *s, const AVFrame *f, int i, int x, int y)
{
    const AVComponentDescriptor *d = test_component(s, i);

    return f->data[d->plane] + y * (ptrdiff_t)f->linesize[d->plane] + x * d->step + d->offset;
}

int test_word(const TestShape *s, const AVFrame *f, int i, int x, int y)
{
    const uint8_t *p = address(s, f, i, x, y);

    return s->depth > 8 ? AV_RN16(p) : *p;
}

void test_set_word(const TestShape *s, AVFrame *f, int i, int x, int y, int v)
{
    uint8_t *p = address(s, f, i, x, y);

    if (s->depth > 8)
        AV_WN16(p, v);
    else
        *p = v;
}

uint16_t *test_read_samples(const TestShape *s, const AVFrame *f, int i)
{
    const int w = test_width(s, i), h = test_height(s, i), shift = test_component(s, i)->shift;
    uint16_t *samples = test_alloc(av_malloc_array(w * h, sizeof(*samples)));

    for (int j = 0; j < w * h; j++)
        samples[j] = test_word(s, f, i, j % w, j / w) >> shift;
    return samples;
}

void test_copy_words(const TestShape *s, AVFrame *to, const AVFrame *from)
{
    for (int i = 0; i < s->nb_components; i++)
        for (int y = 0; y < test_height(s, i); y++)
            for (int x = 0; x < test_width(s, i); x++)
                test_set_word(s, to, i, x, y, test_word(s, from, i, x, y));
}

int test_nb_differences(const TestShape *s, const AVFrame *a, const AVFrame *b)
{
    int nb = 0;

    for (int i = 0; i < s->nb_components; i++)
        for (int y = 0; y < test_height(s, i); y++)
            for (int x = 0; x < test_width(s, i); x++)
                nb += test_word(s, a, i, x, y) != test_word(s, b, i, x, y);
    return nb;
}

int test_texture(uint64_t seed, int x, int y, int log2_side)
{
    const int side = 1 << log2_side, mask = side - 1;
    int sum = 0;

    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            sum += (int)(test_mix(seed ^ test_mix(((x >> log2_side) + i) * 65536 + (y >> log2_side) + j)) >> 56) *
                   (i ? x & mask : side - (x & mask)) * (j ? y & mask : side - (y & mask));
    return sum >> 2 * log2_side;
}

AVFrame *test_canaries(const TestShape *s, TestRandom *r)
{
    AVFrame *f = test_alloc(av_frame_alloc());
    const int flip = !test_draw(r, 4);
    int linesizes[4], size = 0, at = 2 * test_draw(r, 20);

    f->width  = s->w;
    f->height = s->h;
    f->format = s->format;
    av_image_fill_linesizes(linesizes, s->format, s->w);
    for (int i = 0; i < 4 && linesizes[i]; i++) {
        f->linesize[i] = FFALIGN(linesizes[i], 2) + (test_draw(r, 3) ? 2 * test_draw(r, 30) : 0);
        size += test_height(s, i) * f->linesize[i];
    }
    f->buf[0] = test_alloc(av_buffer_alloc(at + size + 64));
    memset(f->buf[0]->data, TEST_CANARY, f->buf[0]->size);
    for (int i = 0; i < 4 && linesizes[i]; i++) {
        const int length = test_height(s, i) * f->linesize[i];

        f->data[i] = f->buf[0]->data + at + (flip ? length - f->linesize[i] : 0);
        at += length;
        if (flip)
            f->linesize[i] *= -1;
    }
    return f;
}

void test_compare_samples(const TestShape *s, const AVFrame *f, uint16_t *const wanted[4], const char *what, int n)
{
    for (int i = 0; i < s->nb_components; i++) {
        const int shift = s->is_words ? 0 : test_component(s, i)->shift, w = test_width(s, i);
        int nb_wrong = 0, wx = 0, wy = 0, is = 0, should = 0;

        for (int y = 0; y < test_height(s, i); y++)
            for (int x = 0; x < w; x++) {
                const int v = test_word(s, f, i, x, y);

                if (v != wanted[i][y * w + x] << shift && !nb_wrong++) {
                    wx     = x;
                    wy     = y;
                    is     = v;
                    should = wanted[i][y * w + x] << shift;
                }
            }
        CHECK(!nb_wrong, "%s %d, component %d has %d instead of %d at (%d,%d), and %d more are wrong", what, n, i, is,
              should, wx, wy, nb_wrong - 1);
    }
}

uint8_t *test_bytes(const AVFrame *f)
{
    return test_alloc(av_memdup(f->buf[0]->data, f->buf[0]->size));
}

void test_check_unchanged(AVFrame *const *frames, uint8_t *const *copies, int nb)
{
    for (int i = 0; i < nb; i++)
        CHECK(!memcmp(copies[i], frames[i]->buf[0]->data, frames[i]->buf[0]->size), "frame %d was written to", i);
}

static int canary(const TestShape *s)
{
    return s->depth > 8 ? TEST_CANARY * 257 : TEST_CANARY;
}

void test_check_around(const TestShape *s, AVFrame *f, const uint8_t *before)
{
    for (int i = 0; i < s->nb_components; i++)
        for (int y = 0; y < test_height(s, i); y++)
            for (int x = 0; x < test_width(s, i); x++)
                test_set_word(s, f, i, x, y, canary(s));
    CHECK(!memcmp(before, f->buf[0]->data, f->buf[0]->size), "bytes around the samples were written");
}

/* On a device */

AVBufferRef *test_device;
static AVHWFramesConstraints *constraints;

int test_begin_device(void)
{
    test_device = test_open_device();
    if (test_device)
        constraints = test_alloc(av_hwdevice_get_hwframe_constraints(test_device, NULL));
    else
        printf("  there is no device\n");
    return !!test_device;
}

void test_end_device(void)
{
    av_hwframe_constraints_free(&constraints);
    av_buffer_unref(&test_device);
}

int test_fits_device(enum AVPixelFormat format)
{
    for (int i = 0; constraints && constraints->valid_sw_formats[i] != AV_PIX_FMT_NONE; i++)
        if (constraints->valid_sw_formats[i] == format)
            return 1;
    return 0;
}

AVBufferRef *test_device_frames(const TestShape *s)
{
    return test_hw_frames(test_device, s->format, s->w, s->h);
}

/* Returns a frame of canaries in memory, with the size of frames on the device. */
static AVFrame *even_canaries(const TestShape *s)
{
    AVFrame *f = test_alloc_frame(s->format, FFALIGN(s->w, 2), FFALIGN(s->h, 2));

    for (int i = 0; i < 4 && f->buf[i]; i++)
        memset(f->buf[i]->data, TEST_CANARY, f->buf[i]->size);
    return f;
}

AVFrame *test_upload(const TestShape *s, AVBufferRef *frames, const AVFrame *from)
{
    AVFrame *f, *to;
    int ret;

    if (!frames)
        return test_alloc(av_frame_clone(from));
    f  = even_canaries(s);
    to = test_alloc(av_frame_alloc());
    if (from)
        test_copy_words(s, f, from);
    ret = av_hwframe_get_buffer(frames, to, 0);
    if (ret >= 0)
        ret = av_hwframe_transfer_data(to, f, 0);
    if (ret >= 0 && from)
        ret = av_frame_copy_props(to, from);
    CHECK(ret >= 0, "upload: %s", av_err2str(ret));
    to->width  = s->w;
    to->height = s->h;
    av_frame_free(&f);
    return to;
}

AVFrame *test_download(const TestShape *s, AVFrame *from)
{
    AVFrame *to = even_canaries(s);
    int ret;

    from->width  = to->width;
    from->height = to->height;
    ret = av_hwframe_transfer_data(to, from, 0);
    CHECK(ret >= 0, "download: %s", av_err2str(ret));
    return to;
}

void test_check_beside(const TestShape *s, const AVFrame *f)
{
    int nb_wrong = 0;

    for (int i = 0; i < s->nb_components; i++)
        for (int y = 0; y < AV_CEIL_RSHIFT(f->height, test_shift_y(s, i)); y++)
            for (int x = 0; x < AV_CEIL_RSHIFT(f->width, test_shift_x(s, i)); x++)
                nb_wrong += (x >= test_width(s, i) || y >= test_height(s, i)) &&
                            test_word(s, f, i, x, y) != canary(s);
    CHECK(!nb_wrong, "%d samples outside the picture were written", nb_wrong);
}

/* Searches */

static int take_results(GpumeEngine *e, int nb, void (*take)(void *opaque, int n, const GpumeResult *r), void *opaque)
{
    GpumeResult r;

    for (; ff_gpume_engine_pull(e, &r) >= 0; nb++) {
        take(opaque, nb, &r);
        ff_gpume_result_uninit(&r);
    }
    return nb;
}

void test_search(const GpumeParams *params, AVFrame **frames, int nb,
                 void (*take)(void *opaque, int n, const GpumeResult *r), void *opaque)
{
    TestExecutor executor = { .kind = TEST_SERIAL };
    const GpumeEngineConfig cfg = {
        .params = *params, .backend = GPUME_BACKEND_cpu, .executor = { test_execute, &executor, 1 },
    };
    GpumeEngine *e;
    int nb_out = 0;

    if (ff_gpume_engine_open(&e, &cfg, frames[0]->width, frames[0]->height, frames[0]->format, NULL) < 0)
        test_alloc(NULL);
    for (int n = 0; n < nb; n++) {
        if (ff_gpume_engine_push(e, &frames[n]) < 0)
            test_alloc(NULL);
        nb_out = take_results(e, nb_out, take, opaque);
    }
    ff_gpume_engine_flush(e);
    nb_out = take_results(e, nb_out, take, opaque);
    CHECK(nb_out == nb, "%d of %d frames were searched", nb_out, nb);
    ff_gpume_engine_close(&e);
}

/* A filter in its graph */

int test_take_frame(TestFilter *f, const TestShape *s, AVFrame **out)
{
    AVFrame *frame = av_frame_alloc();
    int ret = frame ? av_buffersink_get_frame(f->sink, frame) : AVERROR(ENOMEM);

    if (ret >= 0 && f->hw_frames) {
        const void *pool = frame->hw_frames_ctx ? frame->hw_frames_ctx->data : NULL;

        CHECK(pool && (!f->pool || pool == f->pool || frame->width != f->pool_w || frame->height != f->pool_h),
              "a frame belongs to another pool");
        CHECK(!f->writable || av_frame_is_writable(frame), "an output frame has another reference");
        f->pool   = pool;
        f->pool_w = frame->width;
        f->pool_h = frame->height;
    }
    if (ret < 0) {
        av_frame_free(&frame);
    } else if (f->hw_frames && s) {
        const TestShape size = test_shape(s->format, frame->width, frame->height);
        AVFrame *down;

        /* the test's own calls must not fail */
        test_pause_failing(1);
        down = test_download(&size, frame);
        CHECK(av_frame_copy_props(down, frame) >= 0, "properties");
        test_pause_failing(0);
        down->width  = size.w;
        down->height = size.h;
        av_frame_free(&frame);
        frame = down;
    }
    *out = frame;
    return ret;
}

int test_filter_frame(TestFilter *f, AVFrame *frame, const TestShape *s, AVFrame **out, int *nb, int max)
{
    int ret = av_buffersrc_write_frame(f->src, frame);

    while (ret >= 0 && *nb < max) {
        ret = test_take_frame(f, s, &out[*nb]);
        *nb += ret >= 0;
    }
    return ret == AVERROR(EAGAIN) || ret == AVERROR_EOF ? 0 : ret;
}

void test_add_frames(TestFrames *f, const TestShape *s, AVFrame *const *frames, int nb, int on_device)
{
    AVBufferRef *hw_frames = on_device ? test_device_frames(s) : NULL;

    for (int n = 0; n < nb; n++)
        f->frames[f->nb++] = test_upload(s, hw_frames, frames[n]);
    if (on_device)
        f->hw_frames[f->nb_pools++] = hw_frames;
}

void test_free_frames(TestFrames *f)
{
    while (f->nb)
        av_frame_free(&f->frames[--f->nb]);
    while (f->nb_pools)
        av_buffer_unref(&f->hw_frames[--f->nb_pools]);
}

int test_run_filter(const TestFilter *filter, const TestShape *s, const TestFrames *in, const TestShape *down,
                    TestFrames *out)
{
    TestFilter f = *filter;
    int ret;

    f.hw_frames = in->hw_frames[0];
    test_free_frames(out);
    ret = test_open_filter(&f, s->format, s->w, s->h);
    for (int n = 0; n <= in->nb && ret >= 0; n++)
        ret = test_filter_frame(&f, n < in->nb ? in->frames[n] : NULL, down, out->frames, &out->nb,
                                FF_ARRAY_ELEMS(out->frames));
    avfilter_graph_free(&f.graph);
    return ret;
}

/* Allocations that fail */

static int next_to_fail, tracking;

void test_let_fail(void)
{
    test_fail_allocation(next_to_fail, 0);
}

void test_pause_failing(int pause)
{
    test_track(tracking && !pause);
}

void test_failing_allocations(int (*run)(void *opaque), void (*release)(void *opaque), void *opaque, int step,
                              int least, int strict, const char *what)
{
    int nb_tried = 0, nb_harmless = 0, failed = 1;

    for (int n = 1; failed; n += step) {
        const int outstanding = test_nb_outstanding;
        int ret;

        snprintf(test_context, sizeof(test_context), "allocation %d fails, %s", n, what);
        test_watch(TEST_SECONDS);
        next_to_fail = n;
        test_track(tracking = 1);
        ret    = run(opaque);
        failed = test_nb_failed;
        test_fail_allocation(0, 0);
        CHECK(failed || ret >= 0, "%s", av_err2str(ret));
        release(opaque);
        test_track(tracking = 0);
        CHECK(test_nb_outstanding == outstanding, "%d buffers leaked", test_nb_outstanding - outstanding);
        nb_tried    += failed;
        nb_harmless += failed && ret >= 0;
    }
    printf("  %d allocations failed in turn, %s; %d of them FFmpeg did without\n", nb_tried, what, nb_harmless);
    CHECK(nb_tried * step > least && (strict ? !nb_harmless : 4 * nb_harmless < nb_tried),
          "%d allocations tried, %d without harm", nb_tried, nb_harmless);
}

/** A run of a filter that is repeated. */
typedef struct Repeated {
    TestFilter filter;
    const TestShape *shape;
    const TestFrames *in;
    TestFrames out;
    uint64_t expected;          ///< hash of the output of the first run; 0: this is the first run
} Repeated;

static int run_again(void *opaque)
{
    Repeated *r = opaque;
    const int ret = test_run_filter(&r->filter, r->shape, r->in, r->shape, &r->out);
    uint64_t hash = r->out.nb + 1;

    for (int n = 0; n < r->out.nb; n++)
        hash = test_hash_frame(hash, r->out.frames[n]);
    CHECK(ret < 0 || !r->expected || hash == r->expected, "other frames");
    if (!r->expected)
        r->expected = hash;
    return ret;
}

static void release_out(void *opaque)
{
    test_free_frames(&((Repeated *)opaque)->out);
}

void test_failing_filter(const TestFilter *filter, const TestShape *s, const TestFrames *in, int step, int least,
                         const char *what)
{
    Repeated r = { *filter, s, in };

    CHECK(run_again(&r) >= 0 && r.out.nb, "%s: the run without a failure has %d frames", what, r.out.nb);
    release_out(&r);
    r.filter.configure = test_let_fail;
    test_failing_allocations(run_again, release_out, &r, step, least, 0, what);
}

/** Frames on a device whose samples get another format, sent to a filter. */
typedef struct Change {
    const char *name, *options;
    TestFilter filter;
    AVBufferRef *hw_frames[2];
    AVFrame *frames[2];
} Change;

/* Sends two frames of each format and goes on after errors. Returns the first error. */
static int send_change(void *opaque)
{
    Change *c = opaque;
    int first = 0, ret;

    c->filter = (TestFilter) { .name = c->name, .options = c->options, .nb_threads = 1, .hw_frames = c->hw_frames[0] };
    ret = test_open_filter(&c->filter, AV_PIX_FMT_NV12, c->frames[0]->width, c->frames[0]->height);
    for (int n = 0; n <= 4 && ret >= 0; n++) {
        AVFrame *in = n < 4 ? c->frames[n / 2] : NULL;
        int error;

        if (in)
            in->pts = n;
        if (n == 2)
            test_let_fail();
        error = av_buffersrc_add_frame_flags(c->filter.src, in, AV_BUFFERSRC_FLAG_KEEP_REF);
        for (AVFrame *out; error >= 0;) {
            c->filter.pool = NULL;      // there are two
            error = test_take_frame(&c->filter, NULL, &out);
            av_frame_free(&out);
        }
        if (error != AVERROR(EAGAIN) && error != AVERROR_EOF && first >= 0)
            first = error;
    }
    return ret < 0 ? ret : first;
}

static void close_change(void *opaque)
{
    avfilter_graph_free(&((Change *)opaque)->filter.graph);
}

void test_failing_change(const char *name, const char *options, int step)
{
    Change c = { name, options };

    /* allocations of NVIDIA's driver would fail as well: it leaks memory, and loads no modules */
    if (!test_driver_function("gpume_standin_fail"))
        return;
    for (int i = 0; i < 2; i++) {
        const TestShape s = test_shape(i ? AV_PIX_FMT_P010 : AV_PIX_FMT_NV12, 32, 32);

        c.hw_frames[i] = test_device_frames(&s);
        c.frames[i]    = test_upload(&s, c.hw_frames[i], NULL);
    }
    test_failing_allocations(send_change, close_change, &c, step, 30, 0, "another format on the device");
    for (int i = 0; i < 2; i++) {
        av_frame_free(&c.frames[i]);
        av_buffer_unref(&c.hw_frames[i]);
    }
}

/* Options */

int test_begin(TestOptions *o, const char *program, int argc, char **argv)
{
    test_fail_init();
    test_init(program);
    test_watch(TEST_SECONDS);
    *o = (TestOptions) { .only = -1 };
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-quick")) {
            o->quick = 1;
        } else if (!strcmp(argv[i], "-device")) {
            o->device_only = 1;
        } else if (i + 1 < argc && !strcmp(argv[i], "-seed")) {
            o->only = strtoll(argv[++i], NULL, 0);
        } else if (i + 1 < argc && !strcmp(argv[i], "-cases")) {
            o->nb_cases = atoi(argv[++i]);
        } else {
            fprintf(stderr, "usage: %s [-quick] [-device] [-cases N] [-seed N]\n"
                            "  -quick    fewer cases\n"
                            "  -device   only cases that run on a device\n"
                            "  -cases N  number of cases of each kind\n"
                            "  -seed N   only the case with this seed\n", program);
            return -1;
        }
    }
    return 0;
}

int test_nb_cases(const TestOptions *o, int quick, int full)
{
    return o->only >= 0 ? 1 : o->nb_cases ? o->nb_cases : o->quick ? quick : full;
}

void test_run_cases(const TestOptions *o, int nb, void (*run)(uint64_t seed, int place), int place)
{
    for (int i = 0; i < nb; i++)
        run(o->only >= 0 ? o->only : i, place);
}

void test_begin_case(uint64_t seed)
{
    test_watch(TEST_SECONDS);
    av_force_cpu_flags(seed & 1 ? 0 : -1);
}

GpumeExecutor test_draw_executor(TestRandom *r, TestExecutor *e)
{
    static const int threads[] = { 1, 2, 5 };

    e->kind = test_draw(r, TEST_NB_EXECUTORS);
    return (GpumeExecutor) { test_execute, e, threads[test_draw(r, FF_ARRAY_ELEMS(threads))] };
}

int test_end(const TestOptions *o, int nb_on_device)
{
    test_end_device();
    return test_nb_failures || (o->device_only && o->only < 0 && !nb_on_device);
}

TestOutput test_output(const TestShape *s, TestRandom *r, AVBufferRef *hw_frames)
{
    TestOutput o = { hw_frames ? test_upload(s, hw_frames, NULL) : test_canaries(s, r) };

    o.before = hw_frames ? NULL : test_bytes(o.frame);
    return o;
}

void test_check_output(const TestShape *s, TestOutput *o, uint16_t *const wanted[4], const char *what, int n)
{
    AVFrame *down = o->before ? NULL : test_download(s, o->frame), *f = down ? down : o->frame;

    if (wanted)
        test_compare_samples(s, f, wanted, what, n);
    if (down)
        test_check_beside(s, down);
    else
        test_check_around(s, f, o->before);
    av_freep(&o->before);
    av_frame_free(&down);
    av_frame_free(&o->frame);
}
