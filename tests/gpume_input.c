/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */

/**
 * @file
 * The filter through libavfilter's API, fed with what nobody would like to be
 * fed with: streams of no frames, sizes that change, options out of range,
 * disks that are full, memory that runs out. Each part ends with the right
 * result or with an error and a message, and with nothing leaked.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE     /* RTLD_NEXT */
#endif

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libavutil/avstring.h"
#include "libavutil/dict.h"
#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/hwcontext.h"
#include "libavutil/log.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/motion_vector.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/avfilter.h"
#include "libavfilter/buffersink.h"
#include "libavfilter/buffersrc.h"

#include "gpume_oracle.h"

/* of libavutil/hwcontext_cuda.h, which wants CUDA's headers */
#ifndef AV_CUDA_USE_PRIMARY_CONTEXT
#define AV_CUDA_USE_PRIMARY_CONTEXT 1
#endif

#define MAX_STEPS    16
#define MAX_FAILURES 20
#define MAX_SIDE     31743

static const char *backend = "auto";
static int verbose;
/** On a real driver, whose own allocations cannot be told from ours. */
static int gpu;
static int nb_checks, nb_failures;
static char context[2048];  ///< what is being tried, for messages

#define CHECK(cond, ...)                                            \
    do {                                                            \
        nb_checks++;                                                \
        if (!(cond)) {                                              \
            printf("FAIL: %s\n  line %d: %s: ", context, __LINE__, #cond); \
            printf(__VA_ARGS__);                                    \
            printf("\n");                                           \
            if (++nb_failures >= MAX_FAILURES) {                    \
                printf("gpume_input: stopped after %d failures\n", nb_failures); \
                exit(1);                                            \
            }                                                       \
        }                                                           \
    } while (0)

static void *check_alloc(void *p)
{
    if (!p) {
        printf("FAIL: the test itself is out of memory\n");
        exit(2);
    }
    return p;
}

/*
 * The allocator as FFmpeg sees it: av_malloc() calls posix_memalign(),
 * av_realloc() calls realloc(), av_free() calls free(). These count what is
 * not given back, and fail when they are told to.
 */

static pthread_mutex_t alloc_lock = PTHREAD_MUTEX_INITIALIZER;
static void *slots[1 << 16];    ///< open addressing
static int nb_outstanding;
static int started;             ///< main() is running
static int tracking;            ///< allocations are remembered
static int fail_at;             ///< the allocation to fail, counted from 1; 0: none
static int fail_after;          ///< nonzero: those after it fail, too
static int nb_allocs;           ///< since fail_at was set
static int nb_failed;

static int  (*real_posix_memalign)(void **ptr, size_t align, size_t size);
static void *(*real_realloc)(void *old, size_t size);
static void (*real_free)(void *p);

/* Called without the lock: dlsym() may free. */
static void find_real(void)
{
    real_posix_memalign = (int (*)(void **, size_t, size_t))
                          dlsym(RTLD_NEXT, "posix_memalign");
    real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    real_free    = (void (*)(void *))dlsym(RTLD_NEXT, "free");
}

static unsigned slot_of(const void *p)
{
    return ((uintptr_t)p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48;
}

static void remember(void *p)
{
    unsigned i = slot_of(p);

    if (nb_outstanding >= FF_ARRAY_ELEMS(slots) / 2)
        abort();
    while (slots[i])
        i = (i + 1) % FF_ARRAY_ELEMS(slots);
    slots[i] = p;
    nb_outstanding++;
}

static int forget(const void *p)
{
    const unsigned n = FF_ARRAY_ELEMS(slots);
    unsigned i = slot_of(p), j;

    while (slots[i] && slots[i] != p)
        i = (i + 1) % n;
    if (!slots[i])
        return 0;
    nb_outstanding--;
    /* close the gap */
    for (j = (i + 1) % n; slots[j]; j = (j + 1) % n) {
        unsigned home = slot_of(slots[j]);
        if ((j - home) % n >= (j - i) % n) {
            slots[i] = slots[j];
            i = j;
        }
    }
    slots[i] = NULL;
    return 1;
}

/* To be called with the lock held. */
static int must_fail(void)
{
    if (!tracking)
        return 0;
    nb_allocs++;
    if (fail_at && (fail_after ? nb_allocs >= fail_at : nb_allocs == fail_at)) {
        nb_failed++;
        return 1;
    }
    return 0;
}

int posix_memalign(void **ptr, size_t align, size_t size)
{
    int ret;

    if (!real_posix_memalign)
        find_real();
    pthread_mutex_lock(&alloc_lock);
    ret = must_fail() ? ENOMEM : real_posix_memalign(ptr, align, size);
    if (!ret && tracking)
        remember(*ptr);
    pthread_mutex_unlock(&alloc_lock);
    return ret;
}

void *realloc(void *old, size_t size)
{
    void *p = NULL;

    if (!real_realloc)
        find_real();
    pthread_mutex_lock(&alloc_lock);
    if (!must_fail()) {
        int known = old && forget(old);

        p = real_realloc(old, size);
        if (p ? tracking && (known || !old) : known)
            remember(p ? p : old);
    }
    pthread_mutex_unlock(&alloc_lock);
    return p;
}

void free(void *p)
{
    /*
     * Before main() there may be nothing to call: sanitizers free while they
     * get ready. That little stays allocated.
     */
    if (!p || !started)
        return;
    pthread_mutex_lock(&alloc_lock);
    if (nb_outstanding)
        forget(p);
    pthread_mutex_unlock(&alloc_lock);
    real_free(p);
}

/*
 * What the filter does with files beside writing them: each can be made to fail.
 */

static const char *failing_call;        ///< by name; NULL: none
static int nb_calls_failed;

static int call_fails(const char *name, int err)
{
    if (!failing_call || strcmp(failing_call, name))
        return 0;
    nb_calls_failed++;
    errno = err;
    return 1;
}

int rename(const char *from, const char *to)
{
    static int (*real)(const char *from, const char *to);

    if (!real)
        real = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    return call_fails("rename", EIO) ? -1 : real(from, to);
}

int link(const char *from, const char *to)
{
    static int (*real)(const char *from, const char *to);

    if (!real)
        real = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "link");
    return call_fails("link", EPERM) ? -1 : real(from, to);
}

FILE *fdopen(int fd, const char *mode)
{
    static FILE *(*real)(int fd, const char *mode);

    if (!real)
        real = (FILE *(*)(int, const char *))dlsym(RTLD_NEXT, "fdopen");
    return call_fails("fdopen", ENOMEM) ? NULL : real(fd, mode);
}

int fclose(FILE *f)
{
    static int (*real)(FILE *f);
    int ret;

    if (!real)
        real = (int (*)(FILE *))dlsym(RTLD_NEXT, "fclose");
    ret = real(f);
    return call_fails("fclose", EDQUOT) ? EOF : ret;
}

static void fail_allocation(int n, int after)
{
    pthread_mutex_lock(&alloc_lock);
    nb_allocs  = 0;
    fail_at    = n;
    fail_after = after;
    pthread_mutex_unlock(&alloc_lock);
}

/* Messages of the filter */

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char errors[4096];       ///< what was logged as an error
static int nb_errors;

static void log_callback(void *ctx, int level, const char *fmt, va_list vl)
{
    char line[1024];

    if (level > (verbose ? AV_LOG_VERBOSE : AV_LOG_ERROR))
        return;
    vsnprintf(line, sizeof(line), fmt, vl);
    if (verbose)
        fputs(line, stderr);
    /* libavfilter's own message adds nothing, and is not ours to judge */
    if (level <= AV_LOG_ERROR && !av_strstart(line, "Failed to configure", NULL)) {
        pthread_mutex_lock(&log_lock);
        av_strlcat(errors, line, sizeof(errors));
        nb_errors++;
        pthread_mutex_unlock(&log_lock);
    }
}

static void forget_errors(void)
{
    errors[0] = 0;
    nb_errors = 0;
}

/* The frames that are fed */

typedef struct Step {
    int w, h;
    enum AVPixelFormat format;
    int64_t pts;
} Step;

typedef struct Setup {
    const char *algo;
    int block, range;
    const char *dir;
    const char *extra;      ///< more options, with a leading colon
    int nb_threads;
    int feed_all;           ///< push everything before the first frame is pulled
    int fail_at, fail_after; ///< the allocation to fail
} Setup;

static const Setup default_setup = {
    .algo = "ds", .block = 8, .range = 9, .dir = "both", .extra = "", .nb_threads = 1,
};

/** What has to be found in a frame. */
static struct Expected {
    int bw, bh, block, w, h;
    OracleVector *vectors[2];   ///< past, future; NULL: none
} expected[MAX_STEPS];

static int has_past(const Setup *s)
{
    return !strcmp(s->dir, "past") || !strcmp(s->dir, "both");
}

static int has_future(const Setup *s)
{
    return !strcmp(s->dir, "future") || !strcmp(s->dir, "both");
}

/* Eight bits of a scene in which things move. */
static int scene(int x, int y, int i)
{
    int a = (x + 3 * i) * 11, b = (y - 2 * i) * 7;
    uint32_t hash = (x + 3 * i) * 2654435761u ^ (y - 2 * i) * 2246822519u;

    a = abs((a & 255) - 128);
    b = abs((b & 255) - 128);
    return a * 3 / 4 + b * 3 / 4 + (hash >> 20) % 48;
}

/*
 * Samples of more than eight bits have zeroes below the eight; what is no
 * luma sample is anything.
 */
static AVFrame *make_frame(const Step *step, int i)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(step->format);
    const int depth = desc->comp[0].depth, shift = desc->comp[0].shift;
    const int be = !!(desc->flags & AV_PIX_FMT_FLAG_BE);
    AVFrame *frame = check_alloc(av_frame_alloc());
    uint32_t garbage = i;

    frame->format = step->format;
    frame->width  = step->w;
    frame->height = step->h;
    frame->pts    = step->pts;
    frame->colorspace  = AVCOL_SPC_BT470BG;
    frame->color_range = AVCOL_RANGE_MPEG;
    if (av_frame_get_buffer(frame, 0) < 0)
        check_alloc(NULL);

    for (int j = 0; j < FF_ARRAY_ELEMS(frame->buf) && frame->buf[j]; j++)
        for (size_t k = 0; k < frame->buf[j]->size; k++)
            frame->buf[j]->data[k] = (garbage = garbage * 1664525 + 1013904223) >> 24;

    if (desc->flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_BITSTREAM))
        return frame;
    for (int y = 0; y < step->h; y++) {
        uint8_t *row = frame->data[0] + y * (ptrdiff_t)frame->linesize[0];

        for (int x = 0; x < step->w; x++) {
            unsigned v = scene(x, y, i);

            if (depth == 8) {
                row[x] = v;
            } else {
                v = v << (depth - 8 + shift) | (row[2 * x] & ((1 << shift) - 1));
                row[2 * x + !be] = v >> 8;
                row[2 * x +  be] = v;
            }
        }
    }
    return frame;
}

static void free_expected(void)
{
    for (int i = 0; i < MAX_STEPS; i++) {
        av_freep(&expected[i].vectors[0]);
        av_freep(&expected[i].vectors[1]);
    }
}

static int same_stream(const Step *a, const Step *b)
{
    return a->w == b->w && a->h == b->h && a->format == b->format;
}

/* What was found n frames before, if the search has not begun afresh since. */
static const OracleVector *earlier(const Step *steps, int i, int n, int direction)
{
    for (int j = i; j > i - n; j--)
        if (!j || !same_stream(&steps[j - 1], &steps[j]))
            return NULL;
    return expected[i - n].vectors[direction];
}

static void make_expected(const Setup *s, const Step *steps, int nb)
{
    uint16_t *samples[MAX_STEPS];
    OracleVector (*search)(const OracleBlock *b) = NULL;

    for (int i = 0; i < FF_ARRAY_ELEMS(oracle_searches); i++)
        if (!strcmp(oracle_searches[i].name, s->algo))
            search = oracle_searches[i].search;

    for (int i = 0; i < nb; i++) {
        uint16_t *dst = samples[i] =
            check_alloc(av_malloc_array((size_t)steps[i].w * steps[i].h, 2));
        const int shift = av_pix_fmt_desc_get(steps[i].format)->comp[0].depth - 8;

        for (int y = 0; y < steps[i].h; y++)
            for (int x = 0; x < steps[i].w; x++)
                *dst++ = scene(x, y, i) << shift;
    }

    free_expected();
    for (int i = 0; i < nb; i++) {
        const int w = steps[i].w, h = steps[i].h;
        struct Expected *e = &expected[i];

        e->w     = w;
        e->h     = h;
        e->block = s->block;
        e->bw    = oracle_blocks(w, s->block);
        e->bh    = oracle_blocks(h, s->block);
        for (int j = 0; j < 2; j++) {
            int ref = j ? i + 1 : i - 1;

            if (!(j ? has_future(s) : has_past(s)) || ref < 0 || ref >= nb ||
                !same_stream(&steps[ref], &steps[i]))
                continue;
            e->vectors[j] = check_alloc(av_malloc_array((size_t)e->bw * e->bh,
                                                        sizeof(*e->vectors[j])));
            oracle_field(search, &(OraclePicture){ w, h, samples[i] },
                         &(OraclePicture){ w, h, samples[ref] },
                         s->block, s->range, earlier(steps, i, 1, j),
                         earlier(steps, i, 2, j), e->vectors[j]);
        }
    }
    for (int i = 0; i < nb; i++)
        av_free(samples[i]);
}

/* The side data of a frame against what is expected in it. */
static void check_side_data(const AVFrame *frame, int i)
{
    const struct Expected *e = &expected[i];
    const int nb_directions = !!e->vectors[0] + !!e->vectors[1];
    const AVFrameSideData *sd =
        av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const AVMotionVector *mv;
    int nb_sd = 0;

    for (int j = 0; j < frame->nb_side_data; j++)
        nb_sd += frame->side_data[j]->type == AV_FRAME_DATA_MOTION_VECTORS;
    CHECK(nb_sd == !!nb_directions, "frame %d: %d side data of %d directions",
          i, nb_sd, nb_directions);
    if (!sd || !nb_directions)
        return;
    CHECK(sd->size == (size_t)nb_directions * e->bw * e->bh * sizeof(*mv),
          "frame %d: %zu bytes", i, sd->size);
    if (sd->size != (size_t)nb_directions * e->bw * e->bh * sizeof(*mv))
        return;

    mv = (const AVMotionVector *)sd->data;
    for (int j = 0; j < 2; j++) {
        if (!e->vectors[j])
            continue;
        for (int k = 0; k < e->bw * e->bh; k++, mv++) {
            const OracleVector *v = &e->vectors[j][k];
            const int x0 = k % e->bw * e->block, y0 = k / e->bw * e->block;
            const int w = oracle_min(e->block, e->w - x0);
            const int h = oracle_min(e->block, e->h - y0);
            const int ok = mv->source == (j ? 1 : -1) && mv->w == w && mv->h == h &&
                           mv->dst_x == x0 + w / 2 && mv->dst_y == y0 + h / 2 &&
                           mv->src_x == mv->dst_x + v->dx &&
                           mv->src_y == mv->dst_y + v->dy && !mv->flags &&
                           mv->motion_x == v->dx && mv->motion_y == v->dy &&
                           mv->motion_scale == 1;

            CHECK(ok, "frame %d direction %d block %d: source %d %dx%d dst %d,%d "
                  "src %d,%d motion %d,%d/%d, expected %d,%d", i, j, k,
                  mv->source, mv->w, mv->h, mv->dst_x, mv->dst_y, mv->src_x,
                  mv->src_y, mv->motion_x, mv->motion_y, mv->motion_scale,
                  v->dx, v->dy);
            if (!ok)
                return;
        }
    }
}

/* lavfi.gpume.* of a frame; the strings as SPEC.md's example has them. */
static void check_metadata(const AVFrame *frame, int i)
{
    for (int j = 0; j < 2; j++) {
        static const char *const names[4] = { "cost", "zero", "mean_mv", "max_mv" };
        const struct Expected *e = &expected[i];
        char wanted[4][64] = { "", "", "", "" };
        uint64_t cost = 0;
        int zero = 0;
        double sum = 0, max = 0;

        if (e->vectors[j]) {
            for (int k = 0; k < e->bw * e->bh; k++) {
                const OracleVector *v = &e->vectors[j][k];
                double len = sqrt((double)v->dx * v->dx + (double)v->dy * v->dy);

                cost += v->cost;
                zero += !v->dx && !v->dy;
                sum  += len;
                max   = len > max ? len : max;
            }
            snprintf(wanted[0], 64, "%"PRIu64, cost);
            snprintf(wanted[1], 64, "%d", zero);
            snprintf(wanted[2], 64, "%.2f", sum / (e->bw * e->bh));
            snprintf(wanted[3], 64, "%.1f", max);
        }
        for (int k = 0; k < 4; k++) {
            const AVDictionaryEntry *entry;
            char key[64];

            snprintf(key, sizeof(key), "lavfi.gpume.%s.%s",
                     j ? "future" : "past", names[k]);
            entry = av_dict_get(frame->metadata, key, NULL, 0);
            CHECK(!strcmp(entry ? entry->value : "", wanted[k]),
                  "frame %d %s is '%s', expected '%s'", i, key,
                  entry ? entry->value : "", wanted[k]);
        }
    }
}

/* The filter in its graph */

typedef struct Graph {
    AVFilterGraph *graph;
    AVFilterContext *src, *gpume, *sink;
} Graph;

static void close_graph(Graph *g)
{
    avfilter_graph_free(&g->graph);
    memset(g, 0, sizeof(*g));
}

/* On error *stage is what failed: "options" or "configuration". */
static int open_graph(Graph *g, const Setup *s, const Step *first,
                      const char *options, const char **stage)
{
    char args[256];
    int ret;

    memset(g, 0, sizeof(*g));
    *stage = "graph";
    g->graph = avfilter_graph_alloc();
    if (!g->graph)
        return AVERROR(ENOMEM);
    g->graph->nb_threads = s->nb_threads;
    avfilter_graph_set_auto_convert(g->graph, AVFILTER_AUTO_CONVERT_NONE);

    snprintf(args, sizeof(args), "video_size=%dx%d:pix_fmt=%d:time_base=1/25:"
             "pixel_aspect=4/3:colorspace=bt470bg:range=tv",
             first->w, first->h, first->format);
    ret = avfilter_graph_create_filter(&g->src, avfilter_get_by_name("buffer"),
                                       "src", args, NULL, g->graph);
    if (ret >= 0)
        ret = avfilter_graph_create_filter(&g->sink, avfilter_get_by_name("buffersink"),
                                           "sink", NULL, NULL, g->graph);
    if (ret < 0)
        goto fail;

    *stage = "options";
    ret = avfilter_graph_create_filter(&g->gpume, avfilter_get_by_name("gpume"),
                                       "gpume", options, NULL, g->graph);
    if (ret < 0)
        goto fail;

    *stage = "configuration";
    /* libavfilter forgets options when memory runs out earlier */
    fail_allocation(s->fail_at, s->fail_after);
    if ((ret = avfilter_link(g->src, 0, g->gpume, 0)) < 0 ||
        (ret = avfilter_link(g->gpume, 0, g->sink, 0)) < 0 ||
        (ret = avfilter_graph_config(g->graph, NULL)) < 0)
        goto fail;
    return 0;

fail:
    close_graph(g);
    return ret;
}

static void format_options(char *buf, size_t size, const Setup *s)
{
    snprintf(buf, size, "algo=%s:block=%d:range=%d:dir=%s:backend=%s%s",
             s->algo, s->block, s->range, s->dir, backend, s->extra);
}

/**
 * Feed frames and look at all that comes out.
 * @param frames those of the steps
 * @return 0, or the error that the graph ended with
 */
static int feed(const Setup *s, const Step *steps, AVFrame **frames, int nb)
{
    Graph g;
    AVFrame *out = NULL;
    char options[1024];
    const char *stage;
    int ret, nb_in = 0, nb_out = 0, pulled = 0;

    format_options(options, sizeof(options), s);
    snprintf(context, sizeof(context), "%s, %d threads, %d frames, first %dx%d %s%s",
             options, s->nb_threads, nb, steps[0].w, steps[0].h,
             av_get_pix_fmt_name(steps[0].format), s->feed_all ? ", all at once" : "");
    ret = open_graph(&g, s, &steps[0], options, &stage);
    if (ret < 0)
        return ret;
    out = av_frame_alloc();
    if (!out)
        ret = AVERROR(ENOMEM);

    for (int i = 0; i <= nb && ret >= 0; i++) {
        pulled = 0;
        ret = av_buffersrc_add_frame_flags(g.src, i < nb ? frames[i] : NULL,
                                           AV_BUFFERSRC_FLAG_KEEP_REF);
        nb_in = i + 1;
        while (ret >= 0 && (!s->feed_all || i == nb)) {
            pulled = 1;
            ret = av_buffersink_get_frame(g.sink, out);
            if (ret < 0)
                break;
            CHECK(nb_out < nb, "more frames came out than went in");
            if (nb_out >= nb)
                break;
            CHECK(out->pts == steps[nb_out].pts && out->width == steps[nb_out].w &&
                  out->height == steps[nb_out].h && out->format == steps[nb_out].format,
                  "frame %d is %dx%d with pts %"PRId64, nb_out, out->width,
                  out->height, out->pts);
            CHECK(out->data[0] == frames[nb_out]->data[0] &&
                  out->linesize[0] == frames[nb_out]->linesize[0],
                  "frame %d was copied", nb_out);
            check_side_data(out, nb_out);
            if (strstr(s->extra, "metadata=1"))
                check_metadata(out, nb_out);
            av_frame_unref(out);
            nb_out++;
        }
        if (ret == AVERROR(EAGAIN) && i < nb)
            ret = 0;
    }
    if (ret == AVERROR_EOF) {
        CHECK(nb_out == nb, "%d frames came out of %d", nb_out, nb);
        ret = 0;
    } else if (ret < 0 && pulled) {
        /* frames that were ready may follow, but the error does not go away */
        int again = ret, tries = 0;

        while (out && tries++ < 2 * MAX_STEPS) {
            again = av_buffersink_get_frame(g.sink, out);
            if (again == AVERROR(EAGAIN) && nb_in < nb) {
                /* FFmpeg 7.1 waits for a frame before it asks once more */
                again = av_buffersrc_add_frame_flags(g.src, frames[nb_in++],
                                                     AV_BUFFERSRC_FLAG_KEEP_REF);
                if (again >= 0)
                    continue;
            }
            if (again < 0)
                break;
            CHECK(nb_out < nb && out->pts == steps[nb_out].pts,
                  "frame %d has pts %"PRId64, nb_out, out->pts);
            if (nb_out < nb)
                check_side_data(out, nb_out);
            av_frame_unref(out);
            nb_out++;
        }
        CHECK(again == ret || (again == AVERROR(EAGAIN) && nb_in >= nb),
              "%s, now that %s", av_err2str(again), av_err2str(ret));
    }

    av_frame_free(&out);
    close_graph(&g);
    return ret;
}

static int run_steps(const Setup *s, const Step *steps, int nb)
{
    AVFrame *frames[MAX_STEPS];
    int ret;

    make_expected(s, steps, nb);
    for (int i = 0; i < nb; i++)
        frames[i] = make_frame(&steps[i], i);
    ret = feed(s, steps, frames, nb);
    for (int i = 0; i < nb; i++)
        av_frame_free(&frames[i]);
    return ret;
}

static void fill_steps(Step *steps, int nb, int w, int h, enum AVPixelFormat format)
{
    for (int i = 0; i < nb; i++)
        steps[i] = (Step){ w, h, format, 3 * i + 5 };
}

static void must_work(const Setup *s, const Step *steps, int nb)
{
    int ret;

    forget_errors();
    ret = run_steps(s, steps, nb);
    CHECK(ret >= 0, "%s: %s", av_err2str(ret), errors);
    CHECK(ret < 0 || !nb_errors, "it worked, and complained: %s", errors);
}

static void check_failure(int ret, int code, const char *message)
{
    CHECK(ret == code, "%s, expected %s", ret < 0 ? av_err2str(ret) : "it worked",
          av_err2str(code));
    CHECK(strstr(errors, message), "'%s' does not have '%s'", errors, message);
    CHECK(nb_errors == 1, "%d messages: %s", nb_errors, errors);
}

/* With one message, of which a part is given. */
static void must_fail_with(const Setup *s, const Step *steps, int nb, int code,
                           const char *message)
{
    forget_errors();
    check_failure(run_steps(s, steps, nb), code, message);
}

/* Parts */

static const char *const dirs[] = { "past", "future", "both" };
static const char *const depths[] = { ":async_depth=1", "", ":async_depth=5", ":async_depth=64" };

static void test_streams(void)
{
    static const int counts[] = { 0, 1, 2, 3, 9 };

    for (int i = 0; i < FF_ARRAY_ELEMS(dirs); i++) {
        for (int j = 0; j < FF_ARRAY_ELEMS(depths); j++) {
            for (int k = 0; k < FF_ARRAY_ELEMS(counts); k++) {
                for (int l = 0; l < 8; l++) {
                    Setup s = default_setup;
                    Step steps[MAX_STEPS];

                    s.dir        = dirs[i];
                    s.extra      = depths[j];
                    s.feed_all   = l & 1;
                    s.nb_threads = l & 2 ? 3 : 1;
                    s.algo       = l & 4 ? k == 3 ? "umh" : "epzs" : l == 3 ? "fs" : "ds";
                    fill_steps(steps, FFMAX(counts[k], 1), 50, 37, AV_PIX_FMT_YUV420P);
                    must_work(&s, steps, counts[k]);
                }
            }
        }
    }
}

static void test_timestamps(void)
{
    static const int64_t pts[][6] = {
        { AV_NOPTS_VALUE, AV_NOPTS_VALUE, AV_NOPTS_VALUE,
          AV_NOPTS_VALUE, AV_NOPTS_VALUE, AV_NOPTS_VALUE },
        { 0, AV_NOPTS_VALUE, 2, AV_NOPTS_VALUE, AV_NOPTS_VALUE, 5 },
        { 9, 7, 7, -3, 0, INT64_MAX / 4 },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(dirs); i++) {
        for (int j = 0; j < FF_ARRAY_ELEMS(pts); j++) {
            Setup s = default_setup;
            Step steps[6];

            s.dir   = dirs[i];
            s.extra = ":metadata=1";
            fill_steps(steps, 6, 40, 24, AV_PIX_FMT_GRAY8);
            for (int k = 0; k < 6; k++)
                steps[k].pts = pts[j][k];
            must_work(&s, steps, 6);
        }
    }
}

static void test_sizes(void)
{
    static const struct {
        int w, h, block, range;
    } sizes[] = {
        { 1, 1, 4, 1 },       { 1, 1, 128, 1024 },  { 1, 70, 16, 16 },
        { 70, 1, 16, 16 },    { 3, 2, 64, 16 },     { 100, 90, 128, 16 },
        { 17, 33, 16, 1024 }, { 31743, 1, 16, 8 },  { 1, 31743, 128, 8 },
        { 130, 6, 128, 3 },
    };
    static const struct {
        int w, h;
    } too_large[] = { { 31744, 1 }, { 1, 31744 }, { 40000, 2 } };

    for (int i = 0; i < FF_ARRAY_ELEMS(sizes); i++) {
        for (int j = 0; j < 8; j++) {
            static const char *const algos[] = { "ds", "fs", "epzs", "umh" };
            Setup s = default_setup;
            Step steps[3];

            s.algo  = algos[j & 3];
            s.block = sizes[i].block;
            s.range = sizes[i].range;
            s.extra = ":metadata=1";
            fill_steps(steps, 3, sizes[i].w, sizes[i].h,
                       j & 4 ? AV_PIX_FMT_GRAY16BE : AV_PIX_FMT_GRAY8);
            must_work(&s, steps, 3);
        }
    }
    for (int i = 0; i < FF_ARRAY_ELEMS(too_large); i++) {
        Setup s = default_setup;
        Step steps[2];

        fill_steps(steps, 2, too_large[i].w, too_large[i].h, AV_PIX_FMT_GRAY8);
        must_fail_with(&s, steps, 2, AVERROR(EINVAL), AV_STRINGIFY(MAX_SIDE));
        /* in the middle of a stream, too */
        steps[0].w = steps[0].h = 8;
        must_fail_with(&s, steps, 2, AVERROR(EINVAL), AV_STRINGIFY(MAX_SIDE));
    }
}

static void test_changes(void)
{
    static const struct {
        int nb;
        struct {
            int w, h;
            enum AVPixelFormat format;
        } s[10];
    } streams[] = {
        { 9, { { 40, 30, AV_PIX_FMT_GRAY8 }, { 40, 30, AV_PIX_FMT_GRAY8 },
               { 40, 30, AV_PIX_FMT_GRAY8 }, { 64, 50, AV_PIX_FMT_GRAY8 },
               { 64, 50, AV_PIX_FMT_GRAY8 }, { 9, 70, AV_PIX_FMT_GRAY8 },
               { 40, 30, AV_PIX_FMT_GRAY8 }, { 40, 30, AV_PIX_FMT_GRAY8 },
               { 40, 30, AV_PIX_FMT_GRAY8 } } },
        /* every frame another one */
        { 6, { { 20, 20, AV_PIX_FMT_GRAY8 }, { 21, 20, AV_PIX_FMT_GRAY8 },
               { 20, 21, AV_PIX_FMT_GRAY8 }, { 1, 1, AV_PIX_FMT_GRAY8 },
               { 20, 20, AV_PIX_FMT_GRAY8 }, { 300, 4, AV_PIX_FMT_GRAY8 } } },
        /* one side only */
        { 8, { { 30, 20, AV_PIX_FMT_GRAY8 }, { 30, 20, AV_PIX_FMT_GRAY8 },
               { 30, 41, AV_PIX_FMT_GRAY8 }, { 30, 41, AV_PIX_FMT_GRAY8 },
               { 51, 41, AV_PIX_FMT_GRAY8 }, { 51, 41, AV_PIX_FMT_GRAY8 },
               { 30, 41, AV_PIX_FMT_GRAY8 }, { 30, 20, AV_PIX_FMT_GRAY8 } } },
        /* the format only */
        { 10, { { 33, 17, AV_PIX_FMT_YUV420P }, { 33, 17, AV_PIX_FMT_YUV420P },
                { 33, 17, AV_PIX_FMT_P010LE },  { 33, 17, AV_PIX_FMT_P010LE },
                { 33, 17, AV_PIX_FMT_P010BE },  { 33, 17, AV_PIX_FMT_P010BE },
                { 33, 17, AV_PIX_FMT_NV12 },    { 33, 17, AV_PIX_FMT_NV12 },
                { 33, 17, AV_PIX_FMT_GRAY16LE }, { 33, 17, AV_PIX_FMT_GRAY16LE } } },
    };
    Setup s = default_setup;
    Step steps[MAX_STEPS];

    for (int i = 0; i < FF_ARRAY_ELEMS(streams); i++) {
        for (int j = 0; j < streams[i].nb; j++)
            steps[j] = (Step){ streams[i].s[j].w, streams[i].s[j].h,
                               streams[i].s[j].format, j };
        for (int j = 0; j < FF_ARRAY_ELEMS(dirs); j++) {
            for (int k = 0; k < 2 * FF_ARRAY_ELEMS(depths); k++) {
                s.dir      = dirs[j];
                s.extra    = depths[k / 2];
                s.feed_all = k / 2 & 1;
                /* the second predicts from pictures before, not from those before a change */
                s.algo     = k & 1 ? "epzs" : "ds";
                must_work(&s, steps, streams[i].nb);
            }
        }
    }

    /* what no search can read */
    s = default_setup;
    fill_steps(steps, 4, 32, 32, AV_PIX_FMT_GRAY8);
    steps[3].format = AV_PIX_FMT_RGB24;
    must_fail_with(&s, steps, 4, AVERROR(EINVAL), "rgb24");
}

/* From the name alone, so that it is not the filter's own rule again. */
static int is_luma_format(const char *name)
{
    static const char *const planar[] = {
        "yuv4", "yuvj4", "yuva4", "nv", "p0", "p2", "p4",
    };
    static const char *const gray[] = {
        "gray", "gray9le", "gray9be", "gray10le", "gray10be", "gray12le", "gray12be",
        "gray14le", "gray14be", "gray16le", "gray16be",
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(planar); i++)
        if (av_strstart(name, planar[i], NULL))
            return 1;
    for (int i = 0; i < FF_ARRAY_ELEMS(gray); i++)
        if (!strcmp(name, gray[i]))
            return 1;
    return 0;
}

static void test_formats(void)
{
    const AVPixFmtDescriptor *desc = NULL;
    int nb_accepted = 0, nb_refused = 0;

    while ((desc = av_pix_fmt_desc_next(desc))) {
        enum AVPixelFormat format = av_pix_fmt_desc_get_id(desc);
        const char *stage;
        Setup s = default_setup;
        Step steps[3];
        Graph g;
        char options[256];
        int ret, wanted = is_luma_format(desc->name);

        if (desc->flags & AV_PIX_FMT_FLAG_HWACCEL)
            continue;

        fill_steps(steps, 3, 45, 26, format);
        s.extra = ":metadata=1";
        format_options(options, sizeof(options), &s);
        ret = open_graph(&g, &s, &steps[0], options, &stage);
        close_graph(&g);
        snprintf(context, sizeof(context), "format %s", desc->name);
        CHECK((ret >= 0) == wanted, "%s", ret < 0 ? av_err2str(ret) : "it is accepted");
        if (ret < 0) {
            nb_refused++;
        } else {
            nb_accepted++;
            for (int i = 0; i < 2; i++) {
                s.algo = i ? "fs" : "ds";
                must_work(&s, steps, 3);
            }
        }
    }
    printf("  %d formats searched, %d refused\n", nb_accepted, nb_refused);
    CHECK(nb_accepted > 80 && nb_refused > 80, "%d and %d", nb_accepted, nb_refused);
}

static void test_options(void)
{
    static const struct {
        const char *options;
        const char *message;    ///< NULL: they are fine
    } sets[] = {
        { "range=0", "range" },         { "range=1025", "range" },
        { "range=-1", "range" },        { "range=far", "range" },
        { "search_param=0", "search_param" }, { "search_param=9999999999", "search_param" },
        { "block=5", "block" },         { "block=24", "block" },
        { "block=2", "block" },         { "block=256", "block" },
        { "block=-16", "block" },       { "block=0", "block" },
        { "mb_size=12", "block" },      { "mb_size=1", "mb_size" },
        { "block=x", "block" },         { "algo=xyz", "algo" },
        { "algo=9", "algo" },           { "algo=-1", "algo" },
        { "method=zzz", "method" },     { "dir=sideways", "dir" },
        { "dir=0", "dir" },             { "dir=4", "dir" },
        { "backend=gpu", "backend" },   { "backend=3", "backend" },
        { "async_depth=0", "async_depth" }, { "async_depth=65", "async_depth" },
        { "async_depth=-2", "async_depth" }, { "metadata=2", "metadata" },
        { "metadata=maybe", "metadata" }, { "overwrite=2", "overwrite" }, { "nosuch=1", "nosuch" },
        { "mv_file=vectors.txt", "vectors.txt" }, { "mv_file=vectors", "vectors" },
        { "mv_file=.csv", ".csv" },     { "mv_file=.npy", ".npy" },
        { "mv_file=", "mv_file" },      { "mv_file=x.csv.gz", "x.csv.gz" },
        { "mv_file=same.csv:stats_file=same.csv", "same.csv" },
        { "mv_file=-:stats_file=-", "-" }, { "mv_file=a.csv:stats_file=", "stats_file" },
        { "range=1", NULL },            { "range=1024", NULL },
        { "block=4", NULL },            { "block=128", NULL },
        { "algo=fs", NULL },            { "algo=esa", NULL },
        { "algo=tss", NULL },           { "algo=tdls", NULL },
        { "algo=ntss", NULL },          { "algo=fss", NULL },
        { "algo=ds", NULL },            { "algo=hexbs", NULL },
        { "algo=epzs", NULL },          { "algo=umh", NULL },
        { "method=ds", NULL },          { "mb_size=32:search_param=40", NULL },
        { "dir=both:backend=cpu:async_depth=64:metadata=1", NULL },
        { "async_depth=1:metadata=0:device=0:backend=cpu", NULL },
        { "", NULL },
    };

    for (int i = 0; i < FF_ARRAY_ELEMS(sets); i++) {
        Step step = { 40, 40, AV_PIX_FMT_GRAY8 };
        const char *stage;
        Graph g;
        int ret;

        snprintf(context, sizeof(context), "options '%s'", sets[i].options);
        forget_errors();
        ret = open_graph(&g, &default_setup, &step, sets[i].options, &stage);
        close_graph(&g);
        if (sets[i].message) {
            CHECK(ret < 0 && !strcmp(stage, "options"), "%s in %s",
                  ret < 0 ? av_err2str(ret) : "accepted", stage);
            CHECK(nb_errors > 0 && strstr(errors, sets[i].message),
                  "the message is '%s'", errors);
        } else {
            CHECK(ret >= 0 && !nb_errors, "%s: %s", av_err2str(ret), errors);
        }
    }
}

/* All that a frame carries comes out as it went in. */
static void test_properties(void)
{
    for (int i = 0; i < FF_ARRAY_ELEMS(dirs); i++) {
        enum { NB = 4 };
        static const AVMotionVector bogus[3] = { { .source = 7, .w = 99 } };
        Setup s = default_setup;
        Step steps[NB];
        AVFrame *frames[NB], *out = check_alloc(av_frame_alloc());
        const char *stage;
        char options[256];
        Graph g;
        int ret;

        s.dir = dirs[i];
        fill_steps(steps, NB, 48, 32, AV_PIX_FMT_YUV422P);
        make_expected(&s, steps, NB);
        for (int j = 0; j < NB; j++) {
            AVFrame *f = frames[j] = make_frame(&steps[j], j);
            AVFrameSideData *sd;

            f->duration            = 17 + j;
            f->pict_type           = AV_PICTURE_TYPE_I + j % 3;
            f->flags               = j & 1 ? AV_FRAME_FLAG_KEY | AV_FRAME_FLAG_INTERLACED
                                           : AV_FRAME_FLAG_TOP_FIELD_FIRST;
            f->sample_aspect_ratio = (AVRational){ 4, 3 };
            f->quality             = 100 + j;
            f->repeat_pict         = j;
            f->pkt_dts             = 1000 + j;
            f->best_effort_timestamp = 2000 + j;
            f->color_primaries     = AVCOL_PRI_BT709;
            f->color_trc           = AVCOL_TRC_BT709;
            f->chroma_location     = AVCHROMA_LOC_LEFT;
            f->crop_left           = 2;
            f->opaque              = &frames[j];
            av_dict_set_int(&f->metadata, "number", j, 0);
            av_dict_set(&f->metadata, "lavfi.gpume.kept", "yes", 0);
            sd = check_alloc(av_frame_new_side_data(f, AV_FRAME_DATA_A53_CC, 5));
            memset(sd->data, j, 5);
            sd = check_alloc(av_frame_new_side_data(f, AV_FRAME_DATA_MOTION_VECTORS,
                                                    sizeof(bogus)));
            memcpy(sd->data, bogus, sizeof(bogus));
        }

        format_options(options, sizeof(options), &s);
        av_strlcat(options, ":metadata=1", sizeof(options));
        snprintf(context, sizeof(context), "properties, %s", options);
        ret = open_graph(&g, &s, &steps[0], options, &stage);
        CHECK(ret >= 0, "%s", av_err2str(ret));
        if (ret < 0)
            exit(1);
        for (int j = 0; j <= NB; j++) {
            ret = av_buffersrc_add_frame_flags(g.src, j < NB ? frames[j] : NULL,
                                               AV_BUFFERSRC_FLAG_KEEP_REF);
            CHECK(ret >= 0, "%s", av_err2str(ret));
        }
        for (int j = 0; j < NB; j++) {
            const AVFrame *f = frames[j];
            const AVFrameSideData *sd;
            const AVDictionaryEntry *e;

            ret = av_buffersink_get_frame(g.sink, out);
            CHECK(ret >= 0, "frame %d: %s", j, av_err2str(ret));
            if (ret < 0)
                break;
#define SAME(field) CHECK(out->field == f->field, "frame %d", j)
            SAME(pts);
            SAME(duration);
            SAME(pict_type);
            SAME(flags);
            SAME(quality);
            SAME(repeat_pict);
            SAME(pkt_dts);
            SAME(best_effort_timestamp);
            SAME(color_primaries);
            SAME(color_trc);
            SAME(colorspace);
            SAME(color_range);
            SAME(chroma_location);
            SAME(crop_left);
            SAME(opaque);
            SAME(time_base.den);
            SAME(sample_aspect_ratio.num);
            SAME(sample_aspect_ratio.den);
#undef SAME
            for (int k = 0; k < 3; k++)
                CHECK(out->data[k] == f->data[k] && out->linesize[k] == f->linesize[k],
                      "frame %d plane %d was copied", j, k);
            e = av_dict_get(out->metadata, "number", NULL, 0);
            CHECK(e && atoi(e->value) == j, "frame %d: metadata", j);
            e = av_dict_get(out->metadata, "lavfi.gpume.kept", NULL, 0);
            CHECK(e && !strcmp(e->value, "yes"), "frame %d: metadata", j);
            sd = av_frame_get_side_data(out, AV_FRAME_DATA_A53_CC);
            CHECK(sd && sd->size == 5 && sd->data[4] == j, "frame %d: side data", j);
            check_side_data(out, j);
            check_metadata(out, j);

            /* whoever else has the frame sees none of it */
            sd = av_frame_get_side_data(f, AV_FRAME_DATA_MOTION_VECTORS);
            CHECK(sd && sd->size == sizeof(bogus) &&
                  !memcmp(sd->data, bogus, sizeof(bogus)),
                  "frame %d: its other reference changed", j);
            CHECK(av_dict_count(f->metadata) == 2,
                  "frame %d: its other reference changed", j);
            av_frame_unref(out);
        }
        ret = av_buffersink_get_frame(g.sink, out);
        CHECK(ret == AVERROR_EOF, "%s", av_err2str(ret));
        close_graph(&g);
        for (int j = 0; j < NB; j++)
            av_frame_free(&frames[j]);
        av_frame_free(&out);
    }
}

/* A graph that is closed with frames in it. */
static void test_teardown(void)
{
    for (int nb_in = 0; nb_in <= 5; nb_in++) {
        for (int nb_out = 0; nb_out <= nb_in; nb_out++) {
            Setup s = default_setup;
            Step steps[6];
            AVFrame *out = check_alloc(av_frame_alloc());
            const char *stage;
            char options[256];
            Graph g;
            int ret;

            s.extra      = ":async_depth=4";
            s.nb_threads = 2;
            fill_steps(steps, 6, 48, 32, AV_PIX_FMT_P010LE);
            format_options(options, sizeof(options), &s);
            snprintf(context, sizeof(context), "closed with %d frames in and %d out",
                     nb_in, nb_out);
            ret = open_graph(&g, &s, &steps[0], options, &stage);
            CHECK(ret >= 0, "%s", av_err2str(ret));
            for (int i = 0; i < nb_in && ret >= 0; i++) {
                AVFrame *frame = make_frame(&steps[i], i);

                ret = av_buffersrc_add_frame(g.src, frame);
                CHECK(ret >= 0, "%s", av_err2str(ret));
                av_frame_free(&frame);
                if (i < nb_out) {
                    ret = av_buffersink_get_frame(g.sink, out);
                    CHECK(ret >= 0 || ret == AVERROR(EAGAIN), "%s", av_err2str(ret));
                    av_frame_unref(out);
                    ret = 0;
                }
            }
            close_graph(&g);
            av_frame_free(&out);
        }
    }
}

/* Files */

static char dir_path[64];

static void path_in_dir(char *buf, size_t size, const char *name)
{
    snprintf(buf, size, "%s/%s", dir_path, name);
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = check_alloc(av_mallocz(1 << 20));

    *size = 0;
    if (f) {
        *size = fread(data, 1, (1 << 20) - 1, f);
        fclose(f);
    }
    return data;
}

/* How many files there are in the folder. */
static int count_files(void)
{
    DIR *dir = check_alloc(opendir(dir_path));
    const struct dirent *entry;
    int nb = 0;

    while ((entry = readdir(dir)))
        nb += entry->d_name[0] != '.';
    closedir(dir);
    return nb;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = check_alloc(fopen(path, "wb"));

    fputs(text, f);
    fclose(f);
}

static void check_text(const char *path, const char *text)
{
    size_t size;
    char *data = (char *)read_file(path, &size);

    CHECK(!strcmp(data, text), "%s has '%.60s', not '%s'", path, data, text);
    av_free(data);
}

static void check_csv(const char *path, int nb)
{
    static const char header[] =
        "framenum,source,blockw,blockh,srcx,srcy,dstx,dsty,flags,motion_x,motion_y,"
        "motion_scale,cost\n";
    size_t size;
    char *data = (char *)read_file(path, &size), *line = data;

    CHECK(av_strstart(line, header, (const char **)&line), "the header is %.100s", data);
    for (int i = 0; i < nb; i++) {
        const struct Expected *e = &expected[i];

        for (int j = 0; j < 2; j++) {
            for (int k = 0; e->vectors[j] && k < e->bw * e->bh; k++) {
                const OracleVector *v = &e->vectors[j][k];
                const int x0 = k % e->bw * e->block, y0 = k / e->bw * e->block;
                const int w = oracle_min(e->block, e->w - x0);
                const int h = oracle_min(e->block, e->h - y0);
                char wanted[256];

                snprintf(wanted, sizeof(wanted), "%d,%d,%d,%d,%d,%d,%d,%d,0x0,%d,%d,1,%"PRIu32"\n",
                         i + 1, j ? 1 : -1, w, h, x0 + w / 2 + v->dx, y0 + h / 2 + v->dy,
                         x0 + w / 2, y0 + h / 2, v->dx, v->dy, v->cost);
                CHECK(av_strstart(line, wanted, (const char **)&line),
                      "the line is %.*s, not %s", (int)strcspn(line, "\n"), line, wanted);
                if (nb_failures)
                    goto end;
            }
        }
    }
    CHECK(!*line, "there is more: %.60s", line);
end:
    av_free(data);
}

static int32_t read_le32(const uint8_t *p)
{
    return (int32_t)(p[0] | p[1] << 8 | p[2] << 16 | (uint32_t)p[3] << 24);
}

static void check_npy(const char *path, const Setup *s, int nb, int bw, int bh)
{
    const int directions = has_past(s) + has_future(s);
    size_t size, header_size, wanted_size;
    uint8_t *data = read_file(path, &size), *p;
    char wanted[128];

    CHECK(size >= 10 && !memcmp(data, "\x93NUMPY\x01\x00", 8), "no .npy of version 1.0");
    header_size = 10 + data[8] + 256 * data[9];
    CHECK(header_size % 64 == 0 && header_size <= size && data[header_size - 1] == '\n',
          "the header has %zu bytes", header_size);
    if (header_size > size)
        goto end;
    snprintf(wanted, sizeof(wanted), "{'descr': '<i4', 'fortran_order': False, "
             "'shape': (%d, %d, %d, %d, 3), }", nb, directions, bh, bw);
    CHECK(!strncmp((char *)data + 10, wanted, strlen(wanted)), "%.100s, not %s",
          data + 10, wanted);
    wanted_size = header_size + (size_t)nb * directions * bh * bw * 12;
    CHECK(size == wanted_size, "%zu bytes, not %zu", size, wanted_size);
    if (size != wanted_size)
        goto end;

    p = data + header_size;
    for (int i = 0; i < nb; i++) {
        for (int j = 0; j < 2; j++) {
            if (!(j ? has_future(s) : has_past(s)))
                continue;
            for (int k = 0; k < bw * bh; k++, p += 12) {
                static const OracleVector none = { 0, 0, -1 };
                const OracleVector *v = expected[i].vectors[j] ?
                                        &expected[i].vectors[j][k] : &none;

                CHECK(read_le32(p) == v->dx && read_le32(p + 4) == v->dy &&
                      read_le32(p + 8) == (int32_t)v->cost,
                      "frame %d direction %d block %d: %d %d %d, not %d %d %"PRIu32,
                      i, j, k, read_le32(p), read_le32(p + 4), read_le32(p + 8),
                      v->dx, v->dy, v->cost);
                if (nb_failures)
                    goto end;
            }
        }
    }
end:
    av_free(data);
}

static void check_stats(const char *path, const Step *steps, int nb)
{
    size_t size;
    char *data = (char *)read_file(path, &size), *line = data;

    for (int i = 0; i < nb; i++) {
        const struct Expected *e = &expected[i];

        for (int j = 0; j < 2; j++) {
            char wanted[256], pts[32] = "NOPTS";
            uint64_t cost = 0;
            int zero = 0;
            double sum = 0, max = 0;

            if (!e->vectors[j])
                continue;
            for (int k = 0; k < e->bw * e->bh; k++) {
                const OracleVector *v = &e->vectors[j][k];
                double len = sqrt((double)v->dx * v->dx + (double)v->dy * v->dy);

                cost += v->cost;
                zero += !v->dx && !v->dy;
                sum  += len;
                max   = len > max ? len : max;
            }
            if (steps[i].pts != AV_NOPTS_VALUE)
                snprintf(pts, sizeof(pts), "%"PRId64, steps[i].pts);
            snprintf(wanted, sizeof(wanted), "n:%d pts:%s dir:%s blocks:%d cost:%"PRIu64
                     " zero:%d mean_mv:%.2f max_mv:%.1f\n", i + 1, pts,
                     j ? "future" : "past", e->bw * e->bh, cost, zero,
                     sum / (e->bw * e->bh), max);
            CHECK(av_strstart(line, wanted, (const char **)&line),
                  "the line is %.*s, not %s", (int)strcspn(line, "\n"), line, wanted);
        }
    }
    CHECK(!*line, "there is more: %.60s", line);
    av_free(data);
}

static void test_files(void)
{
    static const struct {
        int w, h;
    } sizes[] = { { 33, 20 }, { 1, 1 }, { 64, 64 } };
    char csv[128], npy[128], stats[128], extra[512];
    Setup s = default_setup;
    Step steps[MAX_STEPS];

    path_in_dir(csv,   sizeof(csv),   "v.csv");
    path_in_dir(npy,   sizeof(npy),   "V.NPY");
    path_in_dir(stats, sizeof(stats), "stats.log");

    for (int i = 0; i < FF_ARRAY_ELEMS(dirs); i++) {
        for (int nb = 0; nb <= 4; nb += nb ? 3 : 1) {
            for (int j = 0; j < FF_ARRAY_ELEMS(sizes); j++) {
                const int w = sizes[j].w, h = sizes[j].h;

                s.dir = dirs[i];
                s.extra = extra;
                fill_steps(steps, FFMAX(nb, 1), w, h, AV_PIX_FMT_YUV420P10LE);
                if (nb > 2)
                    steps[2].pts = AV_NOPTS_VALUE;
                snprintf(extra, sizeof(extra), ":mv_file=%s:stats_file=%s", csv, stats);
                must_work(&s, steps, nb);
                check_csv(csv, nb);
                check_stats(stats, steps, nb);
                snprintf(extra, sizeof(extra), ":mv_file=%s", npy);
                must_work(&s, steps, nb);
                check_npy(npy, &s, nb, oracle_blocks(w, s.block), oracle_blocks(h, s.block));
            }
        }
    }

    /* a change of size */
    fill_steps(steps, 6, 40, 24, AV_PIX_FMT_GRAY8);
    for (int i = 3; i < 6; i++)
        steps[i].w = steps[i].h = 60;
    snprintf(extra, sizeof(extra), ":mv_file=%s:stats_file=%s", csv, stats);
    must_work(&s, steps, 6);
    check_csv(csv, 6);
    check_stats(stats, steps, 6);
    snprintf(extra, sizeof(extra), ":mv_file=%s", npy);
    unlink(csv);
    unlink(npy);
    unlink(stats);
    must_fail_with(&s, steps, 6, AVERROR(EINVAL), ".npy");
    CHECK(!count_files(), "there are %d files", count_files());

    /* as long as there are as many blocks it goes on */
    for (int i = 3; i < 6; i++) {
        steps[i].w = 33;
        steps[i].h = 17;
    }
    must_work(&s, steps, 6);
    check_npy(npy, &s, 6, 5, 3);

    unlink(csv);
    unlink(npy);
    unlink(stats);
}

static void test_bad_files(void)
{
    char path[128], extra[512];
    Setup s = default_setup;
    Step steps[4];
    int fd;

    s.extra = extra;
    fill_steps(steps, 4, 200, 200, AV_PIX_FMT_GRAY8);

    for (int i = 0; i < 3; i++) {
        static const char *const options[3] = { "mv_file", "mv_file", "stats_file" };
        static const char *const names[3] = { "v.csv", "v.npy", "stats" };
        struct rlimit limit, old;

        /* no such folder */
        snprintf(extra, sizeof(extra), ":%s=%s/missing/%s", options[i], dir_path, names[i]);
        must_fail_with(&s, steps, 4, AVERROR(ENOENT), "missing");

        /* a folder */
        path_in_dir(path, sizeof(path), names[i]);
        CHECK(!mkdir(path, 0777), "mkdir");
        snprintf(extra, sizeof(extra), ":%s=%s", options[i], path);
        must_fail_with(&s, steps, 4, AVERROR(EISDIR), names[i]);
        rmdir(path);

        /* a full disk from the start */
        CHECK(!symlink("/dev/full", path), "symlink");
        must_fail_with(&s, steps, 4, AVERROR(ENOSPC), names[i]);
        unlink(path);

        /* a disk that is full after a while, in whichever place that is */
        getrlimit(RLIMIT_FSIZE, &old);
        for (int room = 0; room < 400; room += 1 + room / 3) {
            int ret;

            forget_errors();
            limit = old;
            limit.rlim_cur = room * (i == 2 ? 1 : 100);
            setrlimit(RLIMIT_FSIZE, &limit);
            ret = run_steps(&s, steps, 4);
            setrlimit(RLIMIT_FSIZE, &old);
            check_failure(ret, AVERROR(EFBIG), names[i]);
            CHECK(!count_files(), "there are %d files", count_files());
        }
    }

    /* a .npy has to be seekable, a .csv has not */
    path_in_dir(path, sizeof(path), "pipe.npy");
    CHECK(!mkfifo(path, 0666), "mkfifo");
    fd = open(path, O_RDWR | O_NONBLOCK);
    CHECK(fd >= 0, "open");
    snprintf(extra, sizeof(extra), ":mv_file=%s", path);
    /* less than the pipe holds */
    fill_steps(steps, 4, 40, 40, AV_PIX_FMT_GRAY8);
    must_fail_with(&s, steps, 4, AVERROR(ESPIPE), "pipe.npy");
    CHECK(read(fd, extra, 1) < 0, "something was written first");
    close(fd);
    unlink(path);

    path_in_dir(path, sizeof(path), "pipe.csv");
    CHECK(!mkfifo(path, 0666), "mkfifo");
    fd = open(path, O_RDWR | O_NONBLOCK);
    CHECK(fd >= 0, "open");
    snprintf(extra, sizeof(extra), ":mv_file=%s", path);
    must_work(&s, steps, 4);
    close(fd);
    unlink(path);
}

static off_t size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) ? -1 : st.st_size;
}

/*
 * A disk that is full at each byte of what is written: no file, and one that was
 * there stays as it was. With one byte more it is whole.
 */
static void test_full_disks(void)
{
    static const struct {
        const char *option, *name, *other;
    } files[] = {
        { "mv_file", "v.csv" }, { "mv_file", "v.npy" }, { "stats_file", "stats" },
        { "mv_file", "v.csv", ":stats_file=%s/stats" },
    };
    int nb_positions = 0;

    for (int i = 0; i < FF_ARRAY_ELEMS(files); i++) {
        char path[128], other_path[128], extra[512];
        Setup s = default_setup;
        Step steps[3];
        AVFrame *frames[3];
        struct rlimit limit, old;
        off_t size, other_size = 0;

        path_in_dir(path, sizeof(path), files[i].name);
        path_in_dir(other_path, sizeof(other_path), "stats");
        /* it is not a backend that writes them, and one on a device takes its time */
        snprintf(extra, sizeof(extra), ":backend=cpu:%s=%s", files[i].option, path);
        if (files[i].other)
            av_strlcatf(extra, sizeof(extra), files[i].other, dir_path);
        s.extra = extra;
        fill_steps(steps, 3, 24, 16, AV_PIX_FMT_GRAY8);
        must_work(&s, steps, 3);
        size = size_of(path);
        if (files[i].other)
            other_size = size_of(other_path);
        CHECK(size > 100 && other_size >= 0, "%"PRId64" bytes", (int64_t)size);
        for (int j = 0; j < 3; j++)
            frames[j] = make_frame(&steps[j], j);

        getrlimit(RLIMIT_FSIZE, &old);
        for (int there = 0; there < 2; there++) {
            unlink(path);
            unlink(other_path);
            if (there) {
                write_file(path, "as it was");
                if (files[i].other)
                    write_file(other_path, "and this");
            }
            for (off_t room = 0; room < size; room++) {
                int ret;

                forget_errors();
                limit = old;
                limit.rlim_cur = room;
                setrlimit(RLIMIT_FSIZE, &limit);
                ret = feed(&s, steps, frames, 3);
                setrlimit(RLIMIT_FSIZE, &old);
                av_strlcatf(context, sizeof(context), ", room for %"PRId64" bytes of %"PRId64,
                            (int64_t)room, (int64_t)size);
                check_failure(ret, AVERROR(EFBIG), room < other_size ? "" : files[i].name);
                CHECK(count_files() == there * (1 + !!files[i].other), "there are %d files", count_files());
                nb_positions++;
            }
            if (there) {
                check_text(path, "as it was");
                if (files[i].other) {
                    check_text(other_path, "and this");
                    unlink(other_path);
                }
            }
            limit = old;
            limit.rlim_cur = size;
            setrlimit(RLIMIT_FSIZE, &limit);
            must_work(&s, steps, 3);
            setrlimit(RLIMIT_FSIZE, &old);
            CHECK(size_of(path) == size, "%"PRId64" bytes", (int64_t)size_of(path));
            CHECK(count_files() == 1 + !!other_size, "there are %d files", count_files());
        }
        for (int j = 0; j < 3; j++)
            av_frame_free(&frames[j]);
        unlink(path);
        unlink(other_path);
    }
    printf("  %d positions at which a disk was full\n", nb_positions);
}

/* Files that exist, links, and each call on files failing. */
static void test_whole_files(void)
{
    static const struct {
        const char *call;
        int code, overwrite;
        int nb_files;           ///< that are there afterwards
    } calls[] = {
        { "rename", AVERROR(EIO), 1, 0 },    { "fclose", AVERROR(EDQUOT), 1, 0 },
        { "fdopen", AVERROR(ENOMEM), 1, 0 }, { "fclose", AVERROR(EDQUOT), 0, 0 },
        /* not every file system has links */
        { "link", 0, 0, 1 },
    };
    char csv[128], npy[128], stats[128], path[512], extra[640];
    Setup s = default_setup;
    Step steps[4];
    AVFrame *frame;
    const char *stage;
    struct stat st;
    mode_t mask;
    Graph g;
    int ret;

    s.extra = extra;
    fill_steps(steps, 4, 40, 24, AV_PIX_FMT_GRAY8);
    path_in_dir(csv,   sizeof(csv),   "v.csv");
    path_in_dir(npy,   sizeof(npy),   "v.npy");
    path_in_dir(stats, sizeof(stats), "stats");

    /* one that exists is an error when asked for, before anything is searched */
    snprintf(extra, sizeof(extra), ":mv_file=%s:stats_file=%s:overwrite=0", csv, stats);
    for (int i = 0; i < 2; i++) {
        write_file(i ? csv : stats, "as it was");
        must_fail_with(&s, steps, 4, AVERROR(EEXIST), i ? "v.csv" : "stats");
        check_text(i ? csv : stats, "as it was");
        CHECK(count_files() == 1, "there are %d files", count_files());
        unlink(i ? csv : stats);
    }
    must_work(&s, steps, 4);
    check_csv(csv, 4);
    check_stats(stats, steps, 4);
    must_fail_with(&s, steps, 4, AVERROR(EEXIST), "v.csv");
    check_csv(csv, 4);

    /* one that comes while the filter is at it is as much worth */
    unlink(csv);
    unlink(stats);
    snprintf(extra, sizeof(extra), "algo=ds:backend=%s:mv_file=%s:overwrite=0", backend, csv);
    snprintf(context, sizeof(context), "a file comes, %s", extra);
    forget_errors();
    CHECK(open_graph(&g, &s, &steps[0], extra, &stage) >= 0, "%s", errors);
    write_file(csv, "came later");
    frame = make_frame(&steps[0], 0);
    CHECK(av_buffersrc_add_frame(g.src, frame) >= 0, "add");
    CHECK(av_buffersrc_add_frame(g.src, NULL) >= 0, "end");
    ret = av_buffersink_get_frame(g.sink, frame);
    if (ret >= 0) {
        /* 7.1 hands out the frame first */
        av_frame_unref(frame);
        ret = av_buffersink_get_frame(g.sink, frame);
    }
    check_failure(ret, AVERROR(EEXIST), "v.csv");
    close_graph(&g);
    check_text(csv, "came later");
    CHECK(count_files() == 1, "there are %d files", count_files());

    /* a graph that is closed before a frame came leaves all as it was ... */
    snprintf(extra, sizeof(extra), "algo=ds:backend=%s:mv_file=%s", backend, csv);
    CHECK(open_graph(&g, &s, &steps[0], extra, &stage) >= 0, "%s", errors);
    close_graph(&g);
    check_text(csv, "came later");
    /* ... and later one keeps what has left */
    CHECK(open_graph(&g, &s, &steps[0], extra, &stage) >= 0, "%s", errors);
    s.dir = "past";
    make_expected(&s, steps, 2);
    for (int i = 0; i < 2; i++) {
        av_frame_free(&frame);
        frame = make_frame(&steps[i], i);
        CHECK(av_buffersrc_add_frame(g.src, frame) >= 0, "add");
        ret = av_buffersink_get_frame(g.sink, frame);
        CHECK(ret >= 0 || ret == AVERROR(EAGAIN), "%s", av_err2str(ret));
    }
    av_frame_free(&frame);
    CHECK(count_files() == 2, "there are %d files", count_files());
    close_graph(&g);
    CHECK(size_of(csv) > 80, "%"PRId64" bytes", (int64_t)size_of(csv));
    CHECK(count_files() == 1, "there are %d files", count_files());
    unlink(csv);
    s.dir   = "both";

    /* permissions stay; what may not be written is not replaced */
    mask = umask(027);
    snprintf(extra, sizeof(extra), ":mv_file=%s", npy);
    must_work(&s, steps, 4);
    CHECK(!stat(npy, &st) && (st.st_mode & 0777) == 0640, "mode %o", st.st_mode);
    CHECK(!chmod(npy, 0604), "chmod");
    must_work(&s, steps, 4);
    CHECK(!stat(npy, &st) && (st.st_mode & 0777) == 0604, "mode %o", st.st_mode);
    umask(mask);
    if (geteuid()) {
        CHECK(!chmod(npy, 0444), "chmod");
        must_fail_with(&s, steps, 4, AVERROR(EACCES), "v.npy");
        check_npy(npy, &s, 4, 5, 3);
        unlink(npy);
        CHECK(!chmod(dir_path, 0555), "chmod");
        must_fail_with(&s, steps, 4, AVERROR(EACCES), "v.npy");
        CHECK(!chmod(dir_path, 0755), "chmod");
    }

    /* a link is followed */
    path_in_dir(path, sizeof(path), "link.npy");
    CHECK(!symlink("v.npy", path), "symlink");
    write_file(npy, "as it was");
    snprintf(extra, sizeof(extra), ":mv_file=%s", path);
    must_work(&s, steps, 4);
    check_npy(npy, &s, 4, 5, 3);
    CHECK(!lstat(path, &st) && S_ISLNK(st.st_mode), "the link is none any more");
    CHECK(count_files() == 2, "there are %d files", count_files());
    unlink(path);
    unlink(npy);

    /* a name as long as a name can be */
    path_in_dir(path, sizeof(path), "");
    for (int i = 0; i < 251; i++)
        av_strlcat(path, "n", sizeof(path));
    av_strlcat(path, ".npy", sizeof(path));
    snprintf(extra, sizeof(extra), ":mv_file=%s", path);
    must_work(&s, steps, 4);
    check_npy(path, &s, 4, 5, 3);
    CHECK(count_files() == 1, "there are %d files", count_files());
    unlink(path);

    for (int i = 0; i < FF_ARRAY_ELEMS(calls); i++) {
        snprintf(extra, sizeof(extra), ":mv_file=%s:overwrite=%d",
                 i & 1 ? csv : npy, calls[i].overwrite);
        forget_errors();
        nb_calls_failed = 0;
        failing_call = calls[i].call;
        ret = run_steps(&s, steps, 4);
        failing_call = NULL;
        av_strlcatf(context, sizeof(context), ", %s() fails", calls[i].call);
        CHECK(nb_calls_failed > 0, "it was not called");
        if (calls[i].code)
            check_failure(ret, calls[i].code, "v.");
        else
            CHECK(ret >= 0 && !nb_errors, "%s", errors);
        CHECK(count_files() == calls[i].nb_files, "there are %d files", count_files());
        unlink(csv);
        unlink(npy);
    }
}

/*
 * Allocation N fails, for every N: an error, or the right result where FFmpeg
 * can do without (it shortens strings by realloc(), say).
 */
static const struct MemoryRun {
    const char *extra, *dir;
    enum AVPixelFormat format;
    int change;             ///< of the picture's size
    int nb_threads;
    const char *csv, *npy, *stats;
} memory_runs[] = {
    { "", "past", AV_PIX_FMT_GRAY8, 0, 1 },
    { "", "both", AV_PIX_FMT_GRAY16BE, 1, 3 },
    { ":metadata=1:mv_file=%1$s/m.csv:stats_file=%1$s/m.log", "both",
      AV_PIX_FMT_P010LE, 0, 1, .csv = "m.csv", .stats = "m.log" },
    { ":async_depth=4:mv_file=%1$s/m.npy", "future", AV_PIX_FMT_YUV420P, 0, 1,
      .npy = "m.npy" },
};

static int nb_tried, nb_harmless;

static void fail_allocations(const struct MemoryRun *run, const char *algo, int after)
{
    enum { NB = 5 };
    char extra[256], path[128];
    Setup s = default_setup;
    Step steps[NB];
    AVFrame *frames[NB];
    int failed = 1;

    snprintf(extra, sizeof(extra), run->extra, dir_path);
    s.extra      = extra;
    s.algo       = algo;
    s.dir        = run->dir;
    s.nb_threads = run->nb_threads;
    fill_steps(steps, NB, 24, 16, run->format);
    if (run->change)
        steps[3].w = steps[4].w = 20;
    make_expected(&s, steps, NB);
    for (int j = 0; j < NB; j++)
        frames[j] = make_frame(&steps[j], j);

    for (int n = 1; failed; n++) {
        int outstanding, ret;

        forget_errors();
        outstanding  = nb_outstanding;
        nb_failed    = 0;
        s.fail_at    = n;
        s.fail_after = after;
        ret    = feed(&s, steps, frames, NB);
        failed = nb_failed;
        fail_allocation(0, 0);
        av_strlcatf(context, sizeof(context), ", allocation %d%s fails", n,
                    after ? " and all after it" : "");
        CHECK(nb_outstanding == outstanding, "%d buffers leaked",
              nb_outstanding - outstanding);
        nb_tried    += !!failed;
        nb_harmless += failed && ret >= 0;
        CHECK(failed || ret >= 0, "%s", av_err2str(ret));
        CHECK(!after || !failed || ret < 0, "it worked");
        if (ret >= 0 && run->csv) {
            path_in_dir(path, sizeof(path), run->csv);
            check_csv(path, NB);
        }
        if (ret >= 0 && run->stats) {
            path_in_dir(path, sizeof(path), run->stats);
            check_stats(path, steps, NB);
        }
        if (ret >= 0 && run->npy) {
            path_in_dir(path, sizeof(path), run->npy);
            check_npy(path, &s, NB, expected[0].bw, expected[0].bh);
        }
        /* where the graph was closed because others failed, frames that left are there */
        for (int j = 0; j < 3; j++) {
            static const char *const names[] = { "m.csv", "m.npy", "m.log" };

            path_in_dir(path, sizeof(path), names[j]);
            unlink(path);
        }
        CHECK(!count_files(), "there are %d files", count_files());
    }
    for (int j = 0; j < NB; j++)
        av_frame_free(&frames[j]);
}

static void test_memory(void)
{
    nb_tried = nb_harmless = 0;
    for (int i = 0; i < FF_ARRAY_ELEMS(memory_runs); i++)
        for (int after = 0; after < 2; after++)
            fail_allocations(&memory_runs[i], default_setup.algo, after);
    /* every other search, with a picture that changes its size */
    for (int i = 0; i < FF_ARRAY_ELEMS(oracle_searches); i++)
        if (strcmp(oracle_searches[i].name, default_setup.algo))
            fail_allocations(&memory_runs[1], oracle_searches[i].name, 0);

    printf("  %d allocations failed in turn; %d of them FFmpeg did without\n",
           nb_tried, nb_harmless);
    CHECK(nb_tried > 100 && nb_harmless < nb_tried / 4, "%d of %d", nb_harmless, nb_tried);
}

/* A part that takes this long hangs, even under valgrind. */
#define PART_SECONDS 900

static void on_alarm(int sig)
{
    static const char msg[] = "FAIL: this hangs: ";

    if (write(STDOUT_FILENO, msg, sizeof(msg) - 1) < 0 ||
        write(STDOUT_FILENO, context, strlen(context)) < 0)
        _exit(2);
    _exit(1);
}

static const struct {
    const char *name;
    void (*run)(void);
} parts[] = {
    { "options",    test_options },
    { "streams",    test_streams },
    { "timestamps", test_timestamps },
    { "sizes",      test_sizes },
    { "changes",    test_changes },
    { "properties", test_properties },
    { "teardown",   test_teardown },
    { "formats",    test_formats },
    { "files",      test_files },
    { "bad-files",  test_bad_files },
    { "full-disks", test_full_disks },
    { "whole-files", test_whole_files },
    { "memory",     test_memory },
};

int main(int argc, char **argv)
{
    AVBufferRef *device = NULL;
    int i;

    find_real();
    started = 1;

    for (i = 1; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "-v"))
            verbose = 1;
        else if (i + 1 < argc && !strcmp(argv[i], "-backend"))
            backend = argv[++i];
        else if (!strcmp(argv[i], "-gpu"))
            gpu = 1;
        else
            break;
    }
    if (i < argc && argv[i][0] == '-') {
        printf("usage: gpume_input [-v] [-gpu] [-backend NAME] [PART...]\n"
               "  -gpu  on a real GPU: what the driver allocates is not counted\nparts:");
        for (int j = 0; j < FF_ARRAY_ELEMS(parts); j++)
            printf(" %s", parts[j].name);
        printf("\n");
        return 2;
    }

    setvbuf(stdout, NULL, _IOLBF, 0);
    av_log_set_callback(log_callback);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGALRM, on_alarm);
    strcpy(dir_path, "/tmp/gpume_input.XXXXXX");
    if (!mkdtemp(dir_path)) {
        printf("FAIL: no folder for files\n");
        return 2;
    }

    /* a device that stays open is quick to open again */
    if (gpu && av_hwdevice_ctx_create(&device, AV_HWDEVICE_TYPE_CUDA, NULL, NULL,
                                      AV_CUDA_USE_PRIMARY_CONTEXT) < 0) {
        printf("FAIL: no device\n");
        return 2;
    }

    for (int j = 0; j < FF_ARRAY_ELEMS(parts); j++) {
        int wanted = i == argc, checks = nb_checks;

        for (int k = i; k < argc; k++)
            wanted |= !strcmp(argv[k], parts[j].name);
        if (!wanted)
            continue;
        if (gpu && parts[j].run == test_memory) {
            printf("memory: skipped, the driver's allocations are not to fail\n");
            continue;
        }
        tracking = !gpu;
        alarm(PART_SECONDS);
        parts[j].run();
        free_expected();
        snprintf(context, sizeof(context), "part %s", parts[j].name);
        CHECK(!nb_outstanding, "%d buffers leaked", nb_outstanding);
        printf("%s: %d checks\n", parts[j].name, nb_checks - checks);
    }
    if (!nb_checks) {
        printf("FAIL: nothing was checked\n");
        nb_failures++;
    }

    av_buffer_unref(&device);
    if (rmdir(dir_path)) {
        printf("FAIL: files were left in %s\n", dir_path);
        nb_failures++;
    }
    printf("gpume_input: %d checks, %d failures\n", nb_checks, nb_failures);
    return !!nb_failures;
}
