/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The option hint=constant: what is marked is exactly what did not change, in every plane of
 * every format; rectangles are aligned, inside and apart; what was marked before is replaced.
 */

#include <string.h>

#include "libavutil/frame.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/pixdesc.h"
#include "libavutil/video_hint.h"

#include "gpume_harness.h"

#define CELL      16
#define MAX_SIDE  150
#define MAX_CELLS ((MAX_SIDE + CELL - 1) / CELL)
#define NB_FRAMES 9
/** Frames that a cell stays the same until it is marked. */
#define REST      4

typedef struct Case {
    TestStream stream;
    AVFrame *frames[NB_FRAMES];
    /** Cells in which a plane other than luma differs from the frame before. */
    uint8_t rest_differs[NB_FRAMES][MAX_CELLS][MAX_CELLS];
    int age[MAX_CELLS][MAX_CELLS];
    int64_t nb_constant, nb_cells;
} Case;

/* Copy squares of samples from the picture before. */
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

/* Change single bytes of planes other than luma. */
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

            f->data[p][y * f->linesize[p] + x * step + test_draw(r, step)] ^= 1 << test_draw(r, 8);
            t->rest_differs[i][(y << ys) / CELL][(x << xs) / CELL] = 1;
        }
    }
}

/* Whether the luma of all blocks that a cell is in, or that are in it, did not change. */
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
            const int same = i > 0 && luma_equal(&t->stream, i, x, y) && !t->rest_differs[i][y][x];
            int constant;

            t->age[y][x] = same ? t->age[y][x] + 1 : 0;
            constant = t->age[y][x] >= REST;
            t->nb_constant += constant;
            t->nb_cells++;
            CHECK(marked[y][x] == constant, "frame %d, cell %d,%d is%s constant", i, x, y,
                  constant ? "" : " not");
        }
}

static void one_case(uint64_t seed, int64_t *nb_constant, int64_t *nb_cells)
{
    static const int algos[] = { GPUME_ALGO_FS, GPUME_ALGO_DS, GPUME_ALGO_EPZS, GPUME_ALGO_UMH };
    TestRandom r  = { .state = seed };
    Case *t       = test_alloc(av_mallocz(sizeof(*t)));
    TestStream *s = &t->stream;
    char options[128];
    TestRun run   = {
        .options = options, .nb_threads = 1 + test_draw(&r, 3), .frames = t->frames,
        .feed_all = test_draw(&r, 2), .look = look, .opaque = t,
    };
    const int w = test_draw_range(&r, 1, MAX_SIDE), h = test_draw_range(&r, 1, MAX_SIDE);
    const enum AVPixelFormat format = test_formats[test_draw(&r, test_nb_formats)];

    s->algo  = algos[test_draw(&r, FF_ARRAY_ELEMS(algos))];
    s->block = 4 << test_draw(&r, 5);
    s->range = test_draw_range(&r, 1, 9);
    s->pel   = 1;
    s->nb    = NB_FRAMES;
    test_set_dir(s, test_draw(&r, 2) ? 1 : 3);
    for (int i = 0; i < s->nb; i++)
        s->pics[i] = (TestPicture) { .w = w, .h = h, .format = format, .pts = i };
    snprintf(options, sizeof(options), "algo=%s:block=%d:range=%d:dir=%s:hint=constant",
             test_algos[s->algo], s->block, s->range, s->nb_references > 1 ? "both" : "past");
    snprintf(test_context, sizeof(test_context), "%s, %dx%d %s, seed %d", options, w, h,
             av_get_pix_fmt_name(format), (int)seed);

    test_samples(s, test_draw(&r, 3) ? TEST_MOTION : TEST_EQUAL, seed, s->range);
    for (int i = 1; i < s->nb; i++)
        keep_parts(&s->pics[i - 1], &s->pics[i], &r);
    test_expect(s);
    for (int i = 0; i < s->nb; i++) {
        t->frames[i] = test_frame(&s->pics[i]);
        touch_rest(t, i, &r);
        if (test_draw(&r, 2))
            test_alloc(av_video_hint_create_side_data(t->frames[i], 3));
    }
    test_run(&run, s);
    CHECK(run.ret >= 0 && !run.wrong[0], "%s", run.wrong[0] ? run.wrong : av_err2str(run.ret));
    *nb_constant += t->nb_constant;
    *nb_cells    += t->nb_cells;
    for (int i = 0; i < s->nb; i++)
        av_frame_free(&t->frames[i]);
    test_free_stream(s);
    av_free(t);
}

int main(int argc, char **argv)
{
    const int nb = argc > 1 && !strcmp(argv[1], "-quick") ? 100 : 1000;
    int64_t nb_constant = 0, nb_cells = 0;

    test_init("gpume_constant");
    test_watch(600);
    for (int seed = 1; seed <= nb; seed++)
        one_case(seed, &nb_constant, &nb_cells);
    CHECK(nb_constant > nb_cells / 50 && nb_constant < nb_cells * 9 / 10,
          "%d of %d cells are constant", (int)nb_constant, (int)nb_cells);
    printf("gpume_constant: %d checks, %d failures\n", test_nb_checks, test_nb_failures);
    return !!test_nb_failures;
}
