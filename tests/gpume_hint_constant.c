/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests the option hint=constant: exactly the areas that have not changed are marked, in every
 * plane of every format; rectangles are aligned, inside the picture and disjoint; earlier marks are
 * replaced. The same must hold for searches on CUDA of frames in memory and on a device, and after
 * a download. Failing allocations and calls of the driver must end in an error, or do no harm.
 */

#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/frame.h"
#include "libavutil/hwcontext.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"
#include "libavutil/video_hint.h"

#include "gpume_harness.h"

#define CELL      16
#define MAX_SIDE  150
#define MAX_CELLS ((MAX_SIDE + CELL - 1) / CELL)
#define NB_FRAMES 13
/** Number of frames for which a cell and its neighbours must stay unchanged before the cell is marked. */
#define MIN_AGE      6

static enum AVPixelFormat device_formats[64];
static int nb_device_formats;

typedef struct Case {
    TestStream stream;
    TestRun run;
    char options[128];
    AVFrame *frames[NB_FRAMES];
    /** Cells in which a plane other than luma differs from the previous frame. */
    uint8_t rest_differs[NB_FRAMES][MAX_CELLS][MAX_CELLS];
    int age[MAX_CELLS][MAX_CELLS];
    int64_t nb_constant, nb_cells;
} Case;

/* Copies squares of samples from the previous picture. */
static void keep_parts(const TestPicture *prev, const TestPicture *cur, TestRandom *r)
{
    const int side = 8 << test_draw(r, 4);
    const int odds = test_draw(r, 5);

    for (int y0 = 0; y0 < cur->h; y0 += side)
        for (int x0 = 0; x0 < cur->w; x0 += side)
            for (int y = y0; test_draw(r, 4) < odds && y < FFMIN(y0 + side, cur->h); y++)
                memcpy(cur->samples + y * cur->w + x0, prev->samples + y * cur->w + x0,
                       FFMIN(side, cur->w - x0) * sizeof(*cur->samples));
}

/* Changes single bytes of planes other than luma. */
static void touch_rest(Case *t, int i, TestRandom *r)
{
    AVFrame *f = t->frames[i];
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(f->format);

    memset(t->rest_differs[i], 0, sizeof(t->rest_differs[i]));
    if (!i)
        return;
    for (int p = 1; p < 4 && f->data[p]; p++) {
        const int xs   = p < 3 ? desc->log2_chroma_w : 0, ys = p < 3 ? desc->log2_chroma_h : 0;
        const int step = desc->comp[FFMIN(p, desc->nb_components - 1)].step;

        for (int y = 0; y < AV_CEIL_RSHIFT(f->height, ys); y++)
            memcpy(f->data[p] + y * f->linesize[p],
                   t->frames[i - 1]->data[p] + y * t->frames[i - 1]->linesize[p],
                   AV_CEIL_RSHIFT(f->width, xs) * step);
        for (int n = test_draw(r, 4); n > 0; n--) {
            const int x = test_draw(r, AV_CEIL_RSHIFT(f->width, xs));
            const int y = test_draw(r, AV_CEIL_RSHIFT(f->height, ys));

            /* each change inverts another bit, so that none restores a byte */
            f->data[p][y * f->linesize[p] + x * step + test_draw(r, step)] ^= 2 << (2 * (n - 1) + test_draw(r, 2));
            t->rest_differs[i][(y << ys) / CELL][(x << xs) / CELL] = 1;
        }
    }
}

/* Moves the first column of a frame to the right, without changing its width. */
static void move(AVFrame *f, enum AVPixelFormat format, int columns)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);

    for (int p = 0; p < 4 && f->data[p]; p++)
        f->data[p] += columns / (1 << (p == 1 || p == 2 ? desc->log2_chroma_w : 0)) *
                      desc->comp[FFMIN(p, desc->nb_components - 1)].step;
}

/*
 * Uploads the frames as pictures of even sides, which decoders output.
 * @param most the pictures on the device have up to so many columns, an even number, on the left of the frames
 */
static AVBufferRef *upload(AVFrame *frames[NB_FRAMES], int nb, int most, TestRandom *r, AVBufferRef *device)
{
    const enum AVPixelFormat format = frames[0]->format;
    AVBufferRef *ref = test_hw_frames(device, format, frames[0]->width + most, frames[0]->height);
    int ret = 0;

    for (int i = 0; i < nb && ret >= 0; i++) {
        const int w = frames[i]->width, h = frames[i]->height, left = most ? 2 * test_draw(r, most / 2 + 1) : 0;
        /* the buffer has space beyond the edges of the picture */
        AVFrame *even = test_alloc_frame(format, w + most, h), *up = test_alloc(av_frame_alloc());

        for (int p = 0; p < 4 && even->data[p]; p++)
            memset(even->buf[p] ? even->buf[p]->data : even->data[p], i,
                   even->buf[p] ? even->buf[p]->size : 0);
        move(even, format, left);
        even->width = w;
        test_alloc(av_frame_copy(even, frames[i]) < 0 ? NULL : even);
        move(even, format, -left);
        even->width  = FFALIGN(w + most, 2);
        even->height = FFALIGN(h, 2);
        ret = av_hwframe_get_buffer(ref, up, 0);
        if (ret >= 0)
            ret = av_hwframe_transfer_data(up, even, 0);
        if (ret >= 0)
            ret = av_frame_copy_props(up, frames[i]);
        move(up, format, left);
        up->width  = w;
        up->height = h;
        av_frame_free(&even);
        av_frame_free(&frames[i]);
        frames[i] = up;
    }
    CHECK(ret >= 0, "upload: %s", av_err2str(ret));
    return ref;
}

/* Returns whether luma is unchanged in all blocks that overlap a cell. */
static int luma_equal(const TestStream *s, int i, int cx, int cy)
{
    const int side = FFMAX(s->block, CELL);
    const int x0 = cx * CELL / side * side, y0 = cy * CELL / side * side;
    const TestPicture *cur = &s->pics[i];

    for (int y = y0; y < FFMIN(y0 + side, cur->h); y++)
        for (int x = x0; x < FFMIN(x0 + side, cur->w); x++)
            if (cur->samples[y * cur->w + x] != cur[-1].samples[y * cur->w + x])
                return 0;
    return 1;
}

static int did_not_change(const Case *t, int i, int cx, int cy)
{
    return i > 0 && luma_equal(&t->stream, i, cx, cy) && !t->rest_differs[i][cy][cx];
}

/* Returns whether a cell and its neighbours inside the picture are unchanged. */
static int is_still(const Case *t, int i, int cx, int cy)
{
    const TestPicture *cur = &t->stream.pics[i];

    for (int y = FFMAX(cy - 1, 0); y <= cy + 1 && y * CELL < cur->h; y++)
        for (int x = FFMAX(cx - 1, 0); x <= cx + 1 && x * CELL < cur->w; x++)
            if (!did_not_change(t, i, x, y))
                return 0;
    return 1;
}

static void look(void *opaque, int i, const AVFrame *in, const AVFrame *out)
{
    Case *t = opaque;
    const AVFrameSideData *sd = av_frame_get_side_data(out, AV_FRAME_DATA_VIDEO_HINT);
    const AVVideoHint *hint   = sd ? (const AVVideoHint *)sd->data : NULL;
    uint8_t marked[MAX_CELLS][MAX_CELLS] = { 0 };

    CHECK(!hint || (hint->nb_rects && hint->type == AV_VIDEO_HINT_TYPE_CONSTANT),
          "frame %d: a wrong kind of hint", i);
    for (size_t j = 0; hint && j < hint->nb_rects; j++) {
        const AVVideoRect *r = av_video_hint_get_rect(hint, j);
        const int right = r->x + r->width, bottom = r->y + r->height;

        CHECK(!(r->x % CELL) && !(r->y % CELL) && r->width && r->height &&
              right <= out->width && bottom <= out->height &&
              (!(right % CELL) || right == out->width) &&
              (!(bottom % CELL) || bottom == out->height),
              "frame %d: a rectangle at %u,%u, %ux%u", i, r->x, r->y, r->width, r->height);
        for (int y = r->y; y < bottom; y += CELL)
            for (int x = r->x; x < right; x += CELL)
                CHECK(!marked[y / CELL][x / CELL]++, "frame %d: rectangles overlap", i);
    }
    for (int y = 0; y * CELL < out->height; y++)
        for (int x = 0; x * CELL < out->width; x++) {
            int constant;

            t->age[y][x] = is_still(t, i, x, y) ? t->age[y][x] + 1 : 0;
            constant = t->age[y][x] >= MIN_AGE;
            t->nb_constant += constant;
            t->nb_cells++;
            CHECK(marked[y][x] == constant, "frame %d, cell %d,%d is%s constant", i, x, y,
                  constant ? "" : " not");
        }
}

/* The memory of the frames, and the backend that compares them. */
enum Mode { CPU, CUDA, CUDA_FRAMES, NB_MODES };

static Case *open_case(uint64_t seed, enum Mode mode, AVBufferRef *device)
{
    static const int algos[] = { GPUME_ALGO_FS, GPUME_ALGO_DS, GPUME_ALGO_EPZS, GPUME_ALGO_UMH };
    static const char *const backends[NB_MODES] = { "cpu", "cuda", "cuda" };
    static const enum TestContent contents[] = {
        TEST_MOTION, TEST_MOTION, TEST_SHIFT, TEST_EQUAL, TEST_EQUAL
    };
    TestRandom r  = { .state = seed };
    Case *t       = test_alloc(av_mallocz(sizeof(*t)));
    TestStream *s = &t->stream;
    const int w = test_draw_range(&r, 1, MAX_SIDE), h = test_draw_range(&r, 1, MAX_SIDE);
    const enum AVPixelFormat format = mode == CUDA_FRAMES ?
        device_formats[seed % nb_device_formats] : test_formats[test_draw(&r, test_nb_formats)];

    t->run = (TestRun) {
        .options  = t->options, .nb_threads = 1 + test_draw(&r, 3), .frames = t->frames,
        .feed_all = test_draw(&r, 2), .look = look, .opaque = t,
        .device   = mode == CUDA ? device : NULL,
        .download = mode == CUDA_FRAMES && test_draw(&r, 2),
    };
    s->algo  = algos[test_draw(&r, FF_ARRAY_ELEMS(algos))];
    s->block = 4 << test_draw(&r, 5);
    s->range = test_draw_range(&r, 1, 9);
    s->pel   = 1;
    s->nb    = NB_FRAMES;
    s->check = !test_draw(&r, 4);
    test_set_dir(s, test_draw(&r, 2) ? 1 : 3, 1);
    for (int i = 0; i < s->nb; i++)
        s->pics[i] = (TestPicture) { .w = w, .h = h, .format = format, .pts = i };
    snprintf(t->options, sizeof(t->options),
             "algo=%s:block=%d:range=%d:check=%d:dir=%s:backend=%s:hint=constant",
             test_algos[s->algo], s->block, s->range, s->check,
             s->nb_references > 1 ? "both" : "past", backends[mode]);
    snprintf(test_context, sizeof(test_context), "%s, %dx%d %s%s%s, seed %d", t->options, w, h,
             av_get_pix_fmt_name(format), mode == CUDA_FRAMES ? " on the device" : "",
             t->run.download ? ", downloaded" : "", (int)seed);

    test_samples(s, contents[test_draw(&r, FF_ARRAY_ELEMS(contents))], seed, s->range);
    for (int i = 1; i < s->nb; i++)
        keep_parts(&s->pics[i - 1], &s->pics[i], &r);
    test_expect(s);
    for (int i = 0; i < s->nb; i++) {
        t->frames[i] = test_frame(&s->pics[i]);
        touch_rest(t, i, &r);
        if (test_draw(&r, 2))
            test_alloc(av_video_hint_create_side_data(t->frames[i], 3));
    }
    if (mode == CUDA_FRAMES)
        t->run.hw_frames = upload(t->frames, s->nb, t->run.download ? 0 : 8, &r, device);
    return t;
}

static int run_case(Case *t)
{
    memset(t->age, 0, sizeof(t->age));
    return test_run(&t->run, &t->stream);
}

static void close_case(Case **t)
{
    for (int i = 0; i < (*t)->stream.nb; i++)
        av_frame_free(&(*t)->frames[i]);
    av_buffer_unref(&(*t)->run.hw_frames);
    test_free_stream(&(*t)->stream);
    av_freep(t);
}

/* sums over all cases */
static int64_t nb_constant, nb_cells;

static void all_cases(enum Mode mode, int nb, AVBufferRef *device)
{
    for (int seed = 1; seed <= nb; seed++) {
        Case *t = open_case(seed, mode, device);

        run_case(t);
        CHECK(t->run.ret >= 0 && !t->run.wrong[0], "%s",
              t->run.wrong[0] ? t->run.wrong : av_err2str(t->run.ret));
        nb_constant += t->nb_constant;
        nb_cells    += t->nb_cells;
        close_case(&t);
    }
}

/* Returns a small case with something to mark. */
static Case *find_case(enum Mode mode, AVBufferRef *device)
{
    for (int seed = 1;; seed++) {
        Case *t = open_case(seed, mode, device);

        if (t->stream.pics[0].w * t->stream.pics[0].h < 600 && t->stream.block > 4) {
            run_case(t);
            if (t->nb_constant)
                return t;
        }
        close_case(&t);
    }
}

static int next_to_fail;
/**
 * Makes the n-th call of the stand-in for the driver fail, counted from now on; returns the number
 * of calls so far.
 */
static unsigned long long (*fail_driver)(unsigned long long n);

static void let_fail(void *opaque, const char *stage)
{
    if (!strcmp(stage, "configuration"))
        test_fail_allocation(next_to_fail, 0);
}

/* Makes each allocation, or each call of the driver, fail: the run must end with an error or the right marks. */
static void failing(enum Mode mode, int driver, AVBufferRef *device)
{
    Case *t = find_case(mode, device);
    char context[512];
    int nb_tried = 0, nb_errors = 0, more = 1;

    /* FFmpeg's own filters have faults in this situation: format frees twice, hwdownload continues without a frame */
    t->run.download = 0;
    av_strlcpy(context, test_context, sizeof(context));
    for (int n = 1; more; n++) {
        int outstanding;

        snprintf(test_context, sizeof(test_context), "%s %d fails: %s",
                 driver ? "call of the driver" : "allocation", n, context);
        t->run.at    = driver ? NULL : let_fail;
        next_to_fail = n;
        outstanding  = test_nb_outstanding;
        test_track(!driver);
        if (driver)
            fail_driver(n);
        run_case(t);
        more = driver ? fail_driver(0) >= n : test_nb_failed;
        test_fail_allocation(0, 0);
        test_track(0);
        CHECK(driver || test_nb_outstanding == outstanding, "%d buffers leaked",
              test_nb_outstanding - outstanding);
        CHECK(!t->run.wrong[0] && (more || t->run.ret >= 0), "%s",
              t->run.wrong[0] ? t->run.wrong : av_err2str(t->run.ret));
        nb_tried  += more;
        nb_errors += more && t->run.ret < 0;
    }
    CHECK(nb_errors > nb_tried / 2, "%d errors of %d", nb_errors, nb_tried);
    printf("  %d %s failed in turn; %d runs ended with an error\n", nb_tried,
           driver ? "calls of the driver" : "allocations", nb_errors);
    close_case(&t);
}

/* Finds the formats that can be searched among those of frames on the device: no packed formats. */
static void find_device_formats(AVBufferRef *device)
{
    AVHWFramesConstraints *has = test_alloc(av_hwdevice_get_hwframe_constraints(device, NULL));

    for (int i = 0; has->valid_sw_formats[i] != AV_PIX_FMT_NONE; i++)
        for (int j = 0; j < test_nb_formats; j++)
            if (test_formats[j] == has->valid_sw_formats[i] &&
                (av_pix_fmt_count_planes(test_formats[j]) > 1 ||
                 av_pix_fmt_desc_get(test_formats[j])->nb_components == 1))
                device_formats[nb_device_formats++] = test_formats[j];
    av_hwframe_constraints_free(&has);
    CHECK(nb_device_formats > 5, "%d formats on the device", nb_device_formats);
}

int main(int argc, char **argv)
{
    int quick = 0, device_only = 0;
    AVBufferRef *device;

    for (int i = 1; i < argc; i++) {
        quick       |= !strcmp(argv[i], "-quick");
        device_only |= !strcmp(argv[i], "-device");     // for tools that examine kernels
    }
    test_fail_init();
    test_init("gpume_hint_constant");
    test_watch(600);
    if (!device_only) {
        all_cases(CPU, quick ? 100 : 1000, NULL);
        failing(CPU, 0, NULL);
    }
    device = test_open_device();
    if (device) {
        find_device_formats(device);
        all_cases(CUDA,        quick ? 8 : 100, device);
        all_cases(CUDA_FRAMES, quick ? 32 : 400, device);
        fail_driver = (unsigned long long (*)(unsigned long long))test_driver_function("gpume_standin_fail");
        if (fail_driver) {
            failing(CUDA_FRAMES, 0, device);
            failing(CUDA_FRAMES, 1, device);
        }
    } else {
        printf("  there is no device\n");
    }
    av_buffer_unref(&device);
    snprintf(test_context, sizeof(test_context), "all cases");
    CHECK(!nb_cells || nb_constant > nb_cells / 50 && nb_constant < nb_cells * 9 / 10,
          "%"PRId64" of %"PRId64" cells are constant", nb_constant, nb_cells);
    printf("gpume_hint_constant: %d checks, %d failures\n", test_nb_checks, test_nb_failures);
    return test_nb_failures || (device_only && !nb_cells);
}
