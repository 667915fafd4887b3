/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compares gpume with FFmpeg's mestimate, vector by vector, in one filter graph:
 *
 *     SOURCE,split[a][b]; [a]tpad,mestimate; [b]gpume
 *
 * mestimate does not output the last frame, so tpad appends a copy of it. mestimate searches the
 * first frame in itself; that result is not compared.
 *
 * With a tree, there is one mestimate for each size of blocks. Each leaf must equal a block of the
 * mestimate of its size.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libavutil/avstring.h"
#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/macros.h"
#include "libavutil/motion_vector.h"
#include "libavutil/opt.h"

#include "libavfilter/avfilter.h"
#include "libavfilter/buffersink.h"

#include "gpume_harness.h"

/** Sources whose sides are multiples of 128. */
static const struct {
    const char *filters;    ///< the filters that it needs
    const char *source;
} generated[] = {
    { "testsrc2",        "testsrc2=s=256x128:r=25" },
    { "testsrc2,scroll", "testsrc2=s=256x128:r=25,scroll=h=0.0137:v=0.0181" },
    { "testsrc2,scale,zoompan",
      "testsrc2=s=512x256:r=25,scale,zoompan=z=1+0.03*in:d=1:x=40:y=20:s=256x128:fps=25" },
    { "mandelbrot,scale,format",
      "mandelbrot=s=256x128:r=25:start_scale=0.8:end_scale=0.1:end_pts=40,scale,format=yuv420p" },
    { "mandelbrot,scale,format,rotate",
      "mandelbrot=s=256x128:r=25:start_scale=0.9,scale,format=yuv420p,rotate=a=0.03*n:c=gray" },
    { "life,scale,format",
      "life=s=64x32:r=25:seed=7:ratio=0.3:mold=20:life_color=white:death_color=gray,"
      "scale=256:128:flags=neighbor,format=gray" },
    { "cellauto,scale,format",
      "cellauto=s=256x128:r=25:rule=110:seed=3:scroll=1,scale,format=gray" },
    { "color,noise",     "color=c=gray:s=256x128:r=25,noise=alls=90:allf=t+u:all_seed=5" },
    { "testsrc2,noise,scroll",
      "testsrc2=s=256x128:r=25,scroll=h=0.02,noise=c0s=20:c0f=t+u:c0_seed=9" },
};

static const struct {
    const char *file;
    const char *chain;      ///< crops the sides to multiples of 128
    int start;              ///< number of the first frame
} clips[] = {
    { "bigbuckbunny.mp4",      "scale=384:256:flags=bilinear", 40 },
    { "bigbuckbunny.mp4",      "crop=384:256:400:300",         90 },
    { "carphone_pristine.mp4", "crop=128:128",                 10 },
    { "carphone_pristine.mp4", "scale=256:128:flags=bilinear", 70 },
    { "h264.mkv",              "crop=256:128",                 0 },
};

/** One row, one column, or few of both: neighbours that predict vectors are missing. */
static const struct {
    const char *source;
    int block, range;
} strips[] = {
    { "testsrc2=s=256x128:r=25,scroll=h=0.0137:v=0.0181,crop=256:16:0:40", 16, 16 },
    { "testsrc2=s=256x128:r=25,scroll=h=0.0137:v=0.0181,crop=16:128:90:0", 16, 16 },
    { "testsrc2=s=256x128:r=25,scroll=h=0.0137:v=0.0181,crop=8:128:150:0", 8, 9 },
    { "testsrc2=s=256x128:r=25,scroll=h=0.0137:v=0.0181,crop=16:128:60:0", 8, 16 },
    { "testsrc2=s=256x128:r=25,scroll=h=0.0137:v=0.0181,crop=256:64:0:10", 32, 24 },
};

/** Searches of every source: full search and each of the others. */
typedef struct Shape {
    int block, range, nb_frames;
} Shape;

static const Shape full_shapes[] = {
    {   8,    7, 4 }, {  16,   16, 4 }, {  32,    4, 4 }, {  64,   11, 4 },
    { 128,    9, 3 },
};

static const Shape shapes[] = {
    {   8,    4, 5 }, {   8,   32, 5 }, {  16,    7, 5 }, {  16,   16, 8 },
    {  16, 1024, 5 }, {  32,   24, 5 }, {  64,   33, 5 }, { 128,   64, 4 },
};

/** Number of frames of the sources that are searched for long, with every method. */
#define LONG_FRAMES 110
static const char long_source[] = "testsrc2=s=256x128:r=25,scroll=h=0.0137:v=0.0181";
static const struct {
    const char *file;
    const char *chain;
} long_clips[] = {
    { "bigbuckbunny.mp4",      "scale=384:256:flags=bilinear" },
    { "carphone_pristine.mp4", "crop=128:128" },
};

/** Number of sizes of leaves that mestimate supports, too: 8, 16, 32, 64. */
#define MAX_SIZES 4

static const char *backend = "auto";
static int64_t nb_frames, nb_vectors, nb_moving, total_leaves[MAX_SIZES];

/** A graph that takes longer than this hangs, even under valgrind. */
#define GRAPH_SECONDS 600

static const AVMotionVector *vectors_of(const AVFrame *frame, int *nb)
{
    const AVFrameSideData *sd =
        av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);

    *nb = sd ? sd->size / sizeof(AVMotionVector) : 0;
    return sd ? (const AVMotionVector *)sd->data : NULL;
}

/* Returns nonzero if the fields differ. */
static int compare_field(const AVMotionVector *a, const AVMotionVector *b,
                         int nb, int frame)
{
    for (int i = 0; i < nb; i++, a++, b++) {
        if (a->source != b->source || a->w != b->w || a->h != b->h ||
            a->src_x != b->src_x || a->src_y != b->src_y ||
            a->dst_x != b->dst_x || a->dst_y != b->dst_y) {
            test_fail("frame %d vector %d: mestimate source %"PRId32" %dx%d src %d,%d dst %d,%d"
                 "; gpume source %"PRId32" %dx%d src %d,%d dst %d,%d", frame, i,
                 a->source, a->w, a->h, a->src_x, a->src_y, a->dst_x, a->dst_y,
                 b->source, b->w, b->h, b->src_x, b->src_y, b->dst_x, b->dst_y);
            return 1;
        }
        if (b->flags || b->motion_scale != 1 ||
            b->motion_x != b->src_x - b->dst_x ||
            b->motion_y != b->src_y - b->dst_y) {
            test_fail("frame %d vector %d: flags %"PRIu64", motion %"PRId32",%"PRId32"/%d "
                 "of src %d,%d dst %d,%d", frame, i, b->flags, b->motion_x,
                 b->motion_y, b->motion_scale, b->src_x, b->src_y, b->dst_x, b->dst_y);
            return 1;
        }
        nb_vectors++;
        nb_moving += b->motion_x || b->motion_y;
    }
    return 0;
}

static void compare_frame(const AVFrame *m, const AVFrame *g, int i, int nb,
                          int nb_blocks)
{
    const int has_past = i > 0, has_future = i < nb - 1;
    int nb_m, nb_g;
    const AVMotionVector *mv_m = vectors_of(m, &nb_m);
    const AVMotionVector *mv_g = vectors_of(g, &nb_g);

    if (nb_m != 2 * nb_blocks || nb_g != (has_past + has_future) * nb_blocks) {
        test_fail("frame %d of %d: mestimate has %d vectors, gpume %d, of %d blocks",
             i, nb, nb_m, nb_g, nb_blocks);
        return;
    }
    if (m->pts != g->pts) {
        test_fail("frame %d: pts %"PRId64" and %"PRId64, i, m->pts, g->pts);
        return;
    }
    if (has_past && compare_field(mv_m, mv_g, nb_blocks, i))
        return;
    if (has_future &&
        compare_field(mv_m + nb_blocks, mv_g + has_past * nb_blocks, nb_blocks, i))
        return;
    nb_frames++;
}

/* Returns mestimate's block at a leaf's position, or NULL if none has its size. */
static const AVMotionVector *block_at(const AVMotionVector *mvs, int nb, const AVMotionVector *leaf)
{
    for (int i = 0; i < nb; i++)
        if (mvs[i].w == leaf->w && mvs[i].h == leaf->h && mvs[i].dst_x == leaf->dst_x &&
            mvs[i].dst_y == leaf->dst_y && mvs[i].source == leaf->source)
            return &mvs[i];
    return NULL;
}

/*
 * Compares the leaves of a frame.
 * @param m frames with blocks of nb_sizes sizes, the smallest first
 * @param g frame with leaves
 */
static void compare_leaves(AVFrame *const *m, int nb_sizes, const AVFrame *g, int i)
{
    const AVMotionVector *mvs[MAX_SIZES], *leaf;
    int nb[MAX_SIZES], nb_g;

    for (int k = 0; k < nb_sizes; k++)
        mvs[k] = vectors_of(m[k], &nb[k]);
    leaf = vectors_of(g, &nb_g);
    for (int n = 0; n < nb_g; n++, leaf++) {
        const AVMotionVector *block = NULL;
        int size = 0;

        for (int k = 0; k < nb_sizes && !block; k++)
            if ((block = block_at(mvs[k], nb[k], leaf)))
                size = k;
        if (!block) {
            test_fail("frame %d: mestimate has no block of %dx%d at %d,%d", i, leaf->w, leaf->h,
                      leaf->dst_x, leaf->dst_y);
            return;
        }
        if (compare_field(block, leaf, 1, i))
            return;
        total_leaves[size]++;
    }
    nb_frames++;
}

/* Returns mestimate's name of a search, or NULL if mestimate does not have it. */
static const char *method_of(int algo)
{
    const char *method = algo == GPUME_ALGO_FS ? "esa" : test_algos[algo];
    const AVClass *class = avfilter_get_by_name("mestimate")->priv_class;

    return av_opt_find(&class, method, "method", 0, AV_OPT_SEARCH_FAKE_OBJ) ? method : NULL;
}

/*
 * Runs the graph of test_context, whose sinks are mestimate's, the smallest blocks first, and gpume's.
 * @param block side of the blocks; 0: gpume outputs leaves
 */
static void run_graph(int nb_sinks, int block, int nb)
{
    AVFilterGraph *graph = test_alloc(avfilter_graph_alloc());
    AVFilterInOut *inputs = NULL, *outputs = NULL;
    AVFilterContext *sinks[MAX_SIZES + 1];
    AVFrame *frames[MAX_SIZES + 1];
    int ret, i;

    test_watch(GRAPH_SECONDS);
    ret = avfilter_graph_parse2(graph, test_context, &inputs, &outputs);
    if (ret >= 0 && (inputs || outputs))
        ret = AVERROR(EINVAL);
    if (ret >= 0)
        ret = avfilter_graph_config(graph, NULL);
    if (ret < 0)
        test_fail("the graph cannot be opened: %s", av_err2str(ret));
    for (int k = 0; k < nb_sinks; k++) {
        char name[32];

        snprintf(name, sizeof(name), "buffersink@%d", k);
        sinks[k]  = avfilter_graph_get_filter(graph, name);
        frames[k] = test_alloc(av_frame_alloc());
    }
    for (i = 0; ret >= 0; i++) {
        const AVFrame *g = frames[nb_sinks - 1];

        for (int k = 0; k < nb_sinks; k++) {
            const int ret_k = av_buffersink_get_frame(sinks[k], frames[k]);

            if (ret_k < 0 && ret_k != AVERROR_EOF || k && ret_k != ret)
                test_fail("frame %d of sink %d: %s", i, k, ret_k < 0 ? av_err2str(ret_k) : "a frame");
            ret = k ? FFMIN(ret, ret_k) : ret_k;
        }
        if (ret < 0)
            break;
        if (block)
            compare_frame(frames[0], g, i, nb, g->width / block * (g->height / block));
        else
            compare_leaves(frames, nb_sinks - 1, g, i);
        for (int k = 0; k < nb_sinks; k++)
            av_frame_unref(frames[k]);
    }
    if (ret == AVERROR_EOF && i != nb)
        test_fail("%d frames came out of %d", i, nb);
    avfilter_inout_free(&inputs);
    avfilter_inout_free(&outputs);
    avfilter_graph_free(&graph);
    for (int k = 0; k < nb_sinks; k++)
        av_frame_free(&frames[k]);
}

static void run(const char *source, int algo, int block, int range, int nb)
{
    if (!method_of(algo))
        return;
    snprintf(test_context, sizeof(test_context),
             "%s,trim=end_frame=%d,setpts=N,format=yuv420p,split[a][b];"
             "[a]tpad=stop=1:stop_mode=clone,"
             "mestimate=method=%s:mb_size=%d:search_param=%d,buffersink@0;"
             "[b]gpume=algo=%s:block=%d:range=%d:dir=both:backend=%s,buffersink@1",
             source, nb, method_of(algo), block, range, test_algos[algo], block, range, backend);
    run_graph(2, block, nb);
}

/* Compares leaves with the blocks of several instances of mestimate. */
static void run_tree(const char *source, int algo, int range, int lambda, int nb)
{
    const char *method = method_of(algo);
    char *const text = test_context;
    const size_t size = sizeof(test_context);

    if (!method)
        return;
    snprintf(text, size, "%s,trim=end_frame=%d,setpts=N,format=yuv420p,split=%d[b][m0][m1][m2][m3];"
             "[b]gpume=algo=%s:tree=1:block=8:lambda=%d:range=%d:dir=both:backend=%s,buffersink@%d",
             source, nb, MAX_SIZES + 1, test_algos[algo], lambda, range, backend, MAX_SIZES);
    for (int k = 0; k < MAX_SIZES; k++)
        av_strlcatf(text, size, ";[m%d]tpad=stop=1:stop_mode=clone,mestimate=method=%s:mb_size=%d:"
                    "search_param=%d,buffersink@%d", k, method, 8 << k, range, k);
    run_graph(MAX_SIZES + 1, 0, nb);
}

/* Returns the first filter of a comma-separated list that this build does not have. */
static const char *missing_filter(const char *list)
{
    static char name[64];

    while (*list) {
        size_t len = strcspn(list, ",");

        av_strlcpy(name, list, FFMIN(len + 1, sizeof(name)));
        if (!avfilter_get_by_name(name))
            return name;
        list += len + (list[len] == ',');
    }
    return NULL;
}

static int64_t start_vectors, start_moving;

static void start(void)
{
    start_vectors = nb_vectors;
    start_moving  = nb_moving;
}

static void finish(const char *source)
{
    printf("%"PRId64" vectors, %"PRId64" of them not zero: %s\n",
           nb_vectors - start_vectors, nb_moving - start_moving, source);
    /* pictures without motion would prove little */
    if (nb_moving == start_moving)
        test_fail("every vector is zero");
}

static void run_all(const char *source, int quick)
{
    static int nb;

    if (!test_is_mine())
        return;
    start();
    for (int i = 0; i < GPUME_NB_ALGOS; i++) {
        const int full = gpume_kind(i) == GPUME_KIND_FULL;
        const Shape *s = full ? full_shapes : shapes;
        const int nb_shapes = full ? FF_ARRAY_ELEMS(full_shapes) : FF_ARRAY_ELEMS(shapes);

        for (int j = 0; j < nb_shapes; j++)
            if (!quick || nb++ % 10 == 1)
                run(source, i, s[j].block, s[j].range,
                    quick ? 3 : s[j].nb_frames);
        if (!quick || nb++ % 5 == 1)
            run_tree(source, i, full ? 7 : 24, 30 << i % 7, quick ? 3 : 4);
    }
    finish(source);
}

static void run_strips(int quick)
{
    for (int i = 0; i < FF_ARRAY_ELEMS(strips); i++) {
        if (!test_is_mine())
            continue;
        start();
        for (int j = 0; j < GPUME_NB_ALGOS; j++)
            run(strips[i].source, j, strips[i].block, strips[i].range,
                quick ? 3 : 12);
        finish(strips[i].source);
    }
}

/* Searches for long enough to find errors that accumulate from picture to picture. */
static void run_long(const char *source)
{
    if (!test_is_mine())
        return;
    start();
    for (int i = 0; i < GPUME_NB_ALGOS; i++)
        run(source, i, 16, gpume_kind(i) == GPUME_KIND_FULL ? 7 : 16, LONG_FRAMES);
    finish(source);
}

/* Returns whether a clip exists; prints a message if it does not. */
static int find_clip(char *path, size_t size, const char *dir, const char *file)
{
    FILE *f;

    snprintf(path, size, "%s/%s", dir, file);
    f = fopen(path, "rb");
    if (!f) {
        printf("skipped: there is no %s\n", path);
        return 0;
    }
    fclose(f);
    return 1;
}

/* Returns the number of clips. */
static int run_clips(const char *dir, int quick)
{
    const char *missing = missing_filter("movie,scale,crop");
    char source[1024], path[512];
    int nb = 0;

    if (missing) {
        printf("skipped: this build has no filter %s\n", missing);
        return 0;
    }
    for (int i = 0; i < FF_ARRAY_ELEMS(clips); i++) {
        if (!find_clip(path, sizeof(path), dir, clips[i].file))
            continue;
        snprintf(source, sizeof(source), "movie=filename='%s',trim=start_frame=%d,%s",
                 path, clips[i].start, clips[i].chain);
        run_all(source, quick);
        nb++;
    }
    for (int i = 0; i < FF_ARRAY_ELEMS(long_clips) && !quick; i++) {
        if (!find_clip(path, sizeof(path), dir, long_clips[i].file))
            continue;
        snprintf(source, sizeof(source), "movie=filename='%s',%s", path,
                 long_clips[i].chain);
        run_long(source);
    }
    return nb;
}

int main(int argc, char **argv)
{
    const char *clip_dir = NULL, *missing;
    AVBufferRef *device = NULL;
    int quick = 0, i;

    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "-quick"))
            quick = 1;
        else if (!strcmp(argv[i], "-v"))
            test_verbose = 1;
        else if (i + 1 < argc && !strcmp(argv[i], "-share") && !test_set_share(argv[i + 1]))
            i++;
        else if (i + 1 < argc && !strcmp(argv[i], "-backend"))
            backend = argv[++i];
        else if (i + 1 < argc && !strcmp(argv[i], "-clips"))
            clip_dir = argv[++i];
        else
            break;
    }
    if (i < argc && argc - i != 5) {
        printf("usage: gpume_compare [-quick] [-share I/N] [-v] [-backend NAME] [-clips DIR]\n"
               "       gpume_compare [-v] [-backend NAME] SOURCE METHOD BLOCK RANGE FRAMES\n"
               "Without SOURCE: sources that FFmpeg generates, or the clips of DIR, of which\n"
               "-share takes the I-th of N shares.\n");
        return 2;
    }

    test_init("gpume_compare");
    missing = missing_filter("gpume,mestimate,split,tpad,trim,setpts,format,buffersink");
    if (missing) {
        printf("FAIL: this build has no filter %s\n", missing);
        return 1;
    }

    /* keeps the context that all graphs share, because creating it takes longer than a search */
    if (strcmp(backend, "cpu"))
        device = test_open_device();
    if (i < argc) {
        for (int j = 0; j < GPUME_NB_ALGOS; j++)
            if (!strcmp(argv[i + 1], method_of(j) ? method_of(j) : ""))
                run(argv[i], j, atoi(argv[i + 2]), atoi(argv[i + 3]), atoi(argv[i + 4]));
    } else if (clip_dir) {
        if (!run_clips(clip_dir, quick)) {
            printf("gpume_compare: skipped, nothing to compare on\n");
            av_buffer_unref(&device);
            return 0;
        }
    } else {
        /* mestimate is slow if the range is far larger than the picture */
        if (!missing_filter("testsrc2") && !quick && test_is_mine())
            run("testsrc2=s=256x128:r=25", GPUME_ALGO_FS, 64, 70, 3);
        for (int j = 0; j < FF_ARRAY_ELEMS(generated); j++) {
            missing = missing_filter(generated[j].filters);
            if (missing)
                printf("skipped: this build has no filter %s: %s\n", missing,
                       generated[j].source);
            else
                run_all(generated[j].source, quick);
        }
        missing = missing_filter("testsrc2,scroll,crop");
        if (missing) {
            printf("skipped: this build has no filter %s\n", missing);
        } else {
            run_strips(quick);
            if (!quick)
                run_long(long_source);
        }
    }

    av_buffer_unref(&device);
    if (!nb_vectors && !test_nb_failures && test_is_whole())
        test_fail("nothing was compared");
    for (int k = 0; k < MAX_SIZES; k++) {
        printf("%"PRId64" leaves of side %d\n", total_leaves[k], 8 << k);
        /* the sources of a share need not have leaves of every size */
        if (!total_leaves[k] && i == argc && test_is_whole())
            test_fail("there is no leaf of side %d", 8 << k);
    }
    printf("gpume_compare: %"PRId64" frames, %"PRId64" vectors compared, %d failures\n",
           nb_frames, nb_vectors, test_nb_failures);
    return !!test_nb_failures;
}
