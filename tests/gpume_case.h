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
 * Random streams through the filter, on every backend, against the naive oracle:
 * what gpume_soak.c and the fuzzers run. A case is drawn from a generator or from a
 * fuzzer's bytes, and is a function of these alone.
 */

#ifndef GPUME_CASE_H
#define GPUME_CASE_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libavutil/avstring.h"
#include "libavutil/bprint.h"
#include "libavutil/dict.h"
#include "libavutil/error.h"
#include "libavutil/frame.h"
#include "libavutil/hwcontext.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"
#include "libavutil/motion_vector.h"
#include "libavutil/opt.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/avfilter.h"
#include "libavfilter/buffersink.h"
#include "libavfilter/buffersrc.h"
#include "libavfilter/gpume/gpume.h"

#include "gpume_oracle.h"

#define MAX_CASE_FRAMES 10

/** Where numbers come from: bytes, zeros behind them; without bytes a generator. */
typedef struct Draw {
    const uint8_t *data;
    size_t size;
    uint64_t state;
} Draw;

/** Where a case may be searched. */
enum CaseBackend {
    CASE_CPU,
    CASE_CUDA,              ///< frames in system memory
    CASE_FRAMES,            ///< frames on the device
    CASE_NB_BACKENDS
};

typedef struct CaseLimits {
    int max_side;
    /** Sums of absolute differences in a case, in samples, roughly. */
    int64_t max_work;
    int64_t max_device_work;    ///< of those that the CUDA backends have to do
    unsigned backends;          ///< 1 << enum CaseBackend
    int hostile;                ///< nonzero: frames that cannot be searched, too
    AVBufferRef *device;        ///< CUDA; NULL: the filter opens one
    const char *folder;         ///< for files; NULL: none are written
} CaseLimits;

/** What is wrong with a frame. */
enum {
    FRAME_FINE,
    FRAME_NO_LUMA,
    FRAME_NARROW,           ///< rows overlap
    NB_FRAME_FAULTS
};

typedef struct CaseFrame {
    int w, h;
    enum AVPixelFormat format;
    int64_t pts;
    int guarded;            ///< luma only, between pages that cannot be read
    int at_end, negative, padding;
    int keep;               ///< the caller keeps it while it is searched
    int fault;
    uint16_t *samples;
    OracleVector *vectors[2];   ///< past, future; NULL: none
} CaseFrame;

enum { FILE_NONE, FILE_CSV, FILE_NPY, FILE_STATS, NB_FILES };

typedef struct Case {
    const char *algo;
    int block, range, exhaustive, async_depth, metadata, file, nb_threads;
    int dir;                ///< 1: past, 2: future, 3: both
    int feed_all;           ///< all frames before the first is pulled
    int close_after;        ///< frames that come out before the graph is closed; -1: all
    int nb;
    CaseFrame frames[MAX_CASE_FRAMES];
    int code;               ///< what the run has to end with: 0 or an error
    int64_t work;
} Case;

/** What came out of a graph. */
typedef struct CaseResult {
    int ret;
    int nb;
    AVBPrint vectors[MAX_CASE_FRAMES];
    AVBPrint metadata[MAX_CASE_FRAMES];
    AVBPrint file;
} CaseResult;

static void *case_alloc(void *p)
{
    if (!p) {
        fprintf(stderr, "the test itself is out of memory\n");
        abort();
    }
    return p;
}

/* 0 to n - 1 */
static unsigned draw(Draw *d, unsigned n)
{
    if (d->data) {
        unsigned v = 0;

        for (unsigned max = n - 1; max; max >>= 8) {
            v = v << 8 | (d->size ? *d->data : 0);
            if (d->size) {
                d->data++;
                d->size--;
            }
        }
        return v % n;
    } else {
        /* Sebastiano Vigna's splitmix64 */
        uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        return (z ^ z >> 31) % n;
    }
}

/** The searches that the filter's options name, each once. */
static const char *const *case_algos(int *nb)
{
    static const char *names[64];
    static int64_t values[64];
    static int nb_names;

    if (!nb_names) {
        const AVClass *class = avfilter_get_by_name("gpume")->priv_class;
        const AVOption *o = NULL;

        while ((o = av_opt_next(&class, o))) {
            int known = o->type != AV_OPT_TYPE_CONST || strcmp(o->unit, "algo");

            for (int i = 0; i < nb_names && !known; i++)
                known = values[i] == o->default_val.i64;
            if (known || nb_names >= FF_ARRAY_ELEMS(names))
                continue;
            values[nb_names]  = o->default_val.i64;
            names[nb_names++] = o->name;
        }
    }
    *nb = nb_names;
    return names;
}

/** The formats that the filter searches. */
static const enum AVPixelFormat *case_formats(int *nb)
{
    static enum AVPixelFormat formats[256];
    static int nb_formats;

    if (!nb_formats) {
        const AVPixFmtDescriptor *desc = NULL;

        while ((desc = av_pix_fmt_desc_next(desc))) {
            enum AVPixelFormat format = av_pix_fmt_desc_get_id(desc);

            if (ff_gpume_format_supported(format) && nb_formats < FF_ARRAY_ELEMS(formats))
                formats[nb_formats++] = format;
        }
    }
    *nb = nb_formats;
    return formats;
}

/** Formats that hwupload_cuda takes. */
static const enum AVPixelFormat device_formats[] = {
    AV_PIX_FMT_NV12, AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUV444P, AV_PIX_FMT_P010LE,
    AV_PIX_FMT_P016LE, AV_PIX_FMT_YUV444P16LE, AV_PIX_FMT_NV16,
};

/** Before there are threads. */
static av_unused void case_init(void)
{
    int nb;

    case_algos(&nb);
    case_formats(&nb);
}

static int case_depth(const CaseFrame *f)
{
    return av_pix_fmt_desc_get(f->format)->comp[0].depth;
}

static int same_picture(const CaseFrame *a, const CaseFrame *b)
{
    return a->w == b->w && a->h == b->h && a->format == b->format;
}

/* Samples of frame i: something moves over something else, or nothing does. */
static void draw_samples(Draw *d, CaseFrame *f, const CaseFrame *before)
{
    const int max = (1 << case_depth(f)) - 1;
    const int kind = draw(d, 8);
    const unsigned seed = draw(d, 65536);
    const int dx = (int)draw(d, 17) - 8, dy = (int)draw(d, 17) - 8;
    Draw noise = { .state = seed };

    f->samples = case_alloc(av_malloc_array((size_t)f->w * f->h, sizeof(*f->samples)));
    for (int y = 0; y < f->h; y++) {
        for (int x = 0; x < f->w; x++) {
            uint16_t *dst = &f->samples[y * f->w + x];
            const int sx = x + dx, sy = y + dy;

            if (kind < 4 && before && same_picture(f, before) &&
                sx >= 0 && sy >= 0 && sx < f->w && sy < f->h) {
                *dst = before->samples[sy * f->w + sx];
                if (kind == 3 && !draw(&noise, 8))
                    *dst ^= 1;
            } else if (kind == 4) {
                *dst = seed & 1 ? max : 0;
            } else if (kind == 5) {
                *dst = (x / (1 + seed % 7) + y / (1 + seed % 5)) & 1 ? max : 0;
            } else if (kind == 6) {
                *dst = ((x + dx) * 13 + (y + dy) * 7 + (int)seed) & max;
            } else {
                *dst = draw(&noise, max + 1);
            }
        }
    }
}

static int64_t case_work(const Case *c)
{
    const int full = !strcmp(c->algo, "fs");
    int64_t work = 0;

    for (int i = 0; i < c->nb; i++) {
        const CaseFrame *f = &c->frames[i];
        const int64_t candidates = full ?
            (int64_t)FFMIN(2 * c->range + 1, f->w) * FFMIN(2 * c->range + 1, f->h) :
            60 + 6 * c->range;

        work += (int64_t)f->w * f->h * candidates * (c->dir == 3 ? 2 : 1);
    }
    return work;
}

static void draw_case(Draw *d, const CaseLimits *l, Case *c)
{
    static const int depths[] = { 1, 2, 3, 5, 64 };
    int nb_algos, nb_formats, changes, limit, device;
    const char *const *algos = case_algos(&nb_algos);
    const enum AVPixelFormat *formats = case_formats(&nb_formats);
    CaseFrame now = { 0 };

    memset(c, 0, sizeof(*c));
    c->algo        = algos[draw(d, nb_algos)];
    c->block       = 4 << draw(d, 6);
    c->dir         = 1 + draw(d, 3);
    /* mostly near, seldom far */
    c->range       = 1 + draw(d, 1 << (1 + draw(d, 10)));
    c->exhaustive  = !draw(d, 4);
    c->async_depth = depths[draw(d, FF_ARRAY_ELEMS(depths))];
    c->nb_threads  = 1 + draw(d, 4);
    c->metadata    = draw(d, 2);
    c->file        = draw(d, 2) && l->folder ? draw(d, NB_FILES) : FILE_NONE;
    c->feed_all    = !draw(d, 4);
    c->nb          = 1 + draw(d, MAX_CASE_FRAMES);
    c->close_after = draw(d, 4) ? -1 : (int)draw(d, c->nb + 1);
    device         = draw(d, 3) == 2;
    changes        = device ? 0 : draw(d, 8);

    limit = draw(d, 4) ? l->max_side / 2 : l->max_side;
    for (int i = 0; i < c->nb; i++) {
        CaseFrame *f = &c->frames[i];
        const int what = i ? draw(d, 8) < 2 && changes > 4 ? changes - 4 : 0 : 3;

        if (what & 1) {
            now.w = 1 + draw(d, limit);
            now.h = 1 + draw(d, limit);
        }
        if (what & 2)
            now.format = formats[draw(d, nb_formats)];
        if (device && !i) {
            now.w     += now.w & 1;
            now.h     += now.h & 1;
            now.format = device_formats[draw(d, FF_ARRAY_ELEMS(device_formats))];
        }
        now.pts      = draw(d, 8) ? 7 * i + (int)draw(d, 5) : AV_NOPTS_VALUE;
        now.guarded  = draw(d, 2);
        now.at_end   = draw(d, 2);
        now.negative = !draw(d, 3);
        now.padding  = draw(d, 40) * (1 + (av_pix_fmt_desc_get(now.format)->comp[0].depth > 8));
        now.keep     = draw(d, 2);
        now.fault    = l->hostile && !draw(d, 16) ? draw(d, NB_FRAME_FAULTS) : FRAME_FINE;
        if (now.fault == FRAME_NARROW && now.h == 1)
            now.fault = FRAME_FINE;
        *f = now;
        draw_samples(d, f, i ? f - 1 : NULL);
    }
    while (c->range > 1 && case_work(c) > l->max_work)
        c->range /= 2;
    while (c->nb > 1 && case_work(c) > l->max_work)
        av_freep(&c->frames[--c->nb].samples);
    c->work        = case_work(c);
    c->close_after = FFMIN(c->close_after, c->nb);
}

/* What was found n searches before, if the search has not begun afresh since. */
static const OracleVector *case_earlier(const Case *c, int i, int n, int direction)
{
    for (int j = i; j > i - n; j--)
        if (!j || !same_picture(&c->frames[j - 1], &c->frames[j]))
            return NULL;
    return c->frames[i - n].vectors[direction];
}

static void case_expect(Case *c)
{
    OracleVector (*search)(const OracleBlock *b) = NULL;
    int bw = 0, bh = 0;

    for (int i = 0; i < FF_ARRAY_ELEMS(oracle_searches); i++)
        if (!strcmp(oracle_searches[i].name, c->algo))
            search = oracle_searches[i].search;
    if (!search) {
        fprintf(stderr, "the oracle has no search '%s'\n", c->algo);
        abort();
    }

    for (int i = 0; i < c->nb; i++) {
        CaseFrame *f = &c->frames[i];

        /* of a .npy every frame has as many blocks */
        if (!i) {
            bw = oracle_blocks(f->w, c->block);
            bh = oracle_blocks(f->h, c->block);
        }
        if (f->fault || (c->file == FILE_NPY && (oracle_blocks(f->w, c->block) != bw ||
                                                 oracle_blocks(f->h, c->block) != bh)))
            c->code = AVERROR(EINVAL);

        for (int j = 0; j < 2; j++) {
            const int ref = j ? i + 1 : i - 1;

            if (!(c->dir & 1 << j) || ref < 0 || ref >= c->nb ||
                !same_picture(&c->frames[ref], f))
                continue;
            f->vectors[j] = case_alloc(av_malloc_array(
                (size_t)oracle_blocks(f->w, c->block) * oracle_blocks(f->h, c->block),
                sizeof(*f->vectors[j])));
            oracle_field(search, &(OraclePicture){ f->w, f->h, f->samples },
                         &(OraclePicture){ f->w, f->h, c->frames[ref].samples },
                         c->block, c->range, case_earlier(c, i, 1, j),
                         case_earlier(c, i, 2, j), f->vectors[j]);
        }
    }
}

static void free_case(Case *c)
{
    for (int i = 0; i < MAX_CASE_FRAMES; i++) {
        av_freep(&c->frames[i].samples);
        av_freep(&c->frames[i].vectors[0]);
        av_freep(&c->frames[i].vectors[1]);
    }
}

static void unmap_buffer(void *opaque, uint8_t *data)
{
    munmap(data, (size_t)(uintptr_t)opaque);
}

/* Nothing that is not luma, and nothing around it that could be read unnoticed. */
static void guard_frame(AVFrame *frame, const CaseFrame *f)
{
    const size_t page = sysconf(_SC_PAGESIZE);
    const int row = f->w * (case_depth(f) > 8 ? 2 : 1);
    ptrdiff_t stride = row + f->padding;
    const size_t used = stride * (f->h - 1) + row;
    const size_t size = FFALIGN(used, page);
    uint8_t *base = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (base == MAP_FAILED || mprotect(base + page, size, PROT_READ | PROT_WRITE))
        case_alloc(NULL);
    frame->buf[0] = case_alloc(av_buffer_create(base, size + 2 * page, unmap_buffer,
                                                (void *)(uintptr_t)(size + 2 * page),
                                                AV_BUFFER_FLAG_READONLY));
    frame->data[0] = base + page + (f->at_end ? size - used : 0);
    if (f->negative) {
        frame->data[0] += stride * (f->h - 1);
        stride = -stride;
    }
    frame->linesize[0] = stride;
}

static AVFrame *case_frame(const CaseFrame *f, int guarded)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(f->format);
    const int depth = desc->comp[0].depth, shift = desc->comp[0].shift;
    const int be = !!(desc->flags & AV_PIX_FMT_FLAG_BE);
    AVFrame *frame = case_alloc(av_frame_alloc());

    frame->format = f->format;
    frame->width  = f->w;
    frame->height = f->h;
    frame->pts    = f->pts;
    frame->colorspace  = AVCOL_SPC_BT470BG;
    frame->color_range = AVCOL_RANGE_MPEG;
    if (guarded) {
        guard_frame(frame, f);
    } else {
        if (av_frame_get_buffer(frame, 0) < 0)
            case_alloc(NULL);
        for (int i = 0; i < FF_ARRAY_ELEMS(frame->buf) && frame->buf[i]; i++)
            memset(frame->buf[i]->data, 0x5a, frame->buf[i]->size);
    }

    for (int y = 0; y < f->h; y++) {
        uint8_t *row = frame->data[0] + y * (ptrdiff_t)frame->linesize[0];

        for (int x = 0; x < f->w; x++) {
            /* what is below the sample is anything */
            const unsigned v = f->samples[y * f->w + x] << shift | (x & ((1 << shift) - 1));

            if (depth == 8) {
                row[x] = v;
            } else {
                row[2 * x + !be] = v >> 8;
                row[2 * x +  be] = v;
            }
        }
    }
    if (guarded) {
        const size_t page = sysconf(_SC_PAGESIZE);

        if (mprotect(frame->buf[0]->data + page, frame->buf[0]->size - 2 * page, PROT_READ))
            case_alloc(NULL);
    }
    if (f->fault == FRAME_NO_LUMA)
        frame->data[0] = NULL;
    else if (f->fault == FRAME_NARROW)
        frame->linesize[0] = (frame->linesize[0] < 0 ? -1 : 1) * (f->w * (depth > 8 ? 2 : 1) - 1);
    return frame;
}

typedef struct CaseGraph {
    AVFilterGraph *graph;
    AVFilterContext *src, *gpume, *sink;
} CaseGraph;

/**
 * Open a graph of the filter.
 * @param upload  nonzero: frames go up to the device before the filter
 * @param device  of the filter, may be NULL
 */
static int open_case_graph(CaseGraph *g, const CaseFrame *first, const char *options,
                           int nb_threads, int upload, AVBufferRef *device)
{
    AVFilterContext *last, *up = NULL;
    char args[256];
    int ret;

    memset(g, 0, sizeof(*g));
    g->graph = case_alloc(avfilter_graph_alloc());
    g->graph->nb_threads = nb_threads;
    avfilter_graph_set_auto_convert(g->graph, AVFILTER_AUTO_CONVERT_NONE);

    snprintf(args, sizeof(args), "video_size=%dx%d:pix_fmt=%d:time_base=1/25:"
             "colorspace=bt470bg:range=tv", first->w, first->h, first->format);
    ret = avfilter_graph_create_filter(&g->src, avfilter_get_by_name("buffer"),
                                       "src", args, NULL, g->graph);
    if (ret >= 0)
        ret = avfilter_graph_create_filter(&g->sink, avfilter_get_by_name("buffersink"),
                                           "sink", NULL, NULL, g->graph);
    if (ret >= 0)
        ret = avfilter_graph_create_filter(&g->gpume, avfilter_get_by_name("gpume"),
                                           "gpume", options, NULL, g->graph);
    last = g->src;
    if (ret >= 0 && upload) {
        ret = avfilter_graph_create_filter(&up, avfilter_get_by_name("hwupload_cuda"),
                                           "upload", NULL, NULL, g->graph);
        if (ret >= 0)
            ret = avfilter_link(last, 0, up, 0);
        last = up;
    }
    if (ret >= 0 && device) {
        g->gpume->hw_device_ctx = case_alloc(av_buffer_ref(device));
        if (up)
            up->hw_device_ctx = case_alloc(av_buffer_ref(device));
    }
    if (ret >= 0)
        ret = avfilter_link(last, 0, g->gpume, 0);
    if (ret >= 0)
        ret = avfilter_link(g->gpume, 0, g->sink, 0);
    if (ret >= 0)
        ret = avfilter_graph_config(g->graph, NULL);
    if (ret < 0)
        avfilter_graph_free(&g->graph);
    return ret;
}

static void case_options(char *buf, size_t size, const Case *c, enum CaseBackend backend,
                         const char *folder)
{
    static const char *const dirs[] = { "", "past", "future", "both" };
    static const char *const files[] = { "", ":mv_file=%s/v.csv", ":mv_file=%s/v.npy",
                                         ":stats_file=%s/stats" };

    snprintf(buf, size, "algo=%s:block=%d:range=%d:dir=%s:exhaustive=%d:async_depth=%d:"
             "metadata=%d:backend=%s", c->algo, c->block, c->range, dirs[c->dir], c->exhaustive,
             c->async_depth, c->metadata, backend == CASE_CPU ? "cpu" : "cuda");
    if (c->file)
        av_strlcatf(buf, size, files[c->file], folder);
}

/* Of a frame on its way out. */
static void keep_result(CaseResult *r, const AVFrame *frame)
{
    const AVFrameSideData *sd = av_frame_get_side_data(frame, AV_FRAME_DATA_MOTION_VECTORS);
    const AVDictionaryEntry *e = NULL;

    if (sd)
        av_bprint_append_data(&r->vectors[r->nb], (const char *)sd->data, sd->size);
    while ((e = av_dict_iterate(frame->metadata, e)))
        av_bprintf(&r->metadata[r->nb], "%s=%s\n", e->key, e->value);
    r->nb++;
}

static void read_result_file(CaseResult *r, const char *path)
{
    char buf[4096];
    size_t nb;
    FILE *f = fopen(path, "rb");

    if (!f)
        return;
    while ((nb = fread(buf, 1, sizeof(buf), f)))
        av_bprint_append_data(&r->file, buf, nb);
    fclose(f);
}

/** Returns a message where what comes out is wrong in itself, else NULL. */
static const char *run_backend(const Case *c, const CaseLimits *l, enum CaseBackend backend,
                               CaseResult *r)
{
    static const char *const names[] = { "", "v.csv", "v.npy", "stats" };
    const char *wrong = NULL;
    AVFrame *kept[MAX_CASE_FRAMES] = { NULL };
    AVFrame *out = case_alloc(av_frame_alloc());
    char options[512], path[256];
    CaseGraph g;
    int ret, nb_wanted = c->close_after < 0 ? c->nb : c->close_after;

    memset(r, 0, sizeof(*r));
    av_bprint_init(&r->file, 0, AV_BPRINT_SIZE_UNLIMITED);
    for (int i = 0; i < c->nb; i++) {
        av_bprint_init(&r->vectors[i],  0, AV_BPRINT_SIZE_UNLIMITED);
        av_bprint_init(&r->metadata[i], 0, AV_BPRINT_SIZE_UNLIMITED);
    }
    case_options(options, sizeof(options), c, backend, l->folder);
    ret = open_case_graph(&g, &c->frames[0], options, c->nb_threads, backend == CASE_FRAMES,
                          l->device);
    if (ret < 0)
        goto end;

    for (int i = 0; i <= c->nb && ret >= 0; i++) {
        AVFrame *in = i < c->nb ? case_frame(&c->frames[i], c->frames[i].guarded &&
                                             backend != CASE_FRAMES) : NULL;

        /* a reference that the caller keeps, or the only one */
        ret = av_buffersrc_add_frame_flags(g.src, in, in && c->frames[i].keep ?
                                           AV_BUFFERSRC_FLAG_KEEP_REF : 0);
        if (in && c->frames[i].keep)
            kept[i] = in;
        else
            av_frame_free(&in);
        while (ret >= 0 && r->nb < nb_wanted && (!c->feed_all || i == c->nb)) {
            ret = av_buffersink_get_frame(g.sink, out);
            if (ret < 0)
                break;
            if (out->pts != c->frames[r->nb].pts || out->width != c->frames[r->nb].w ||
                out->height != c->frames[r->nb].h)
                wrong = "another frame comes out";
            keep_result(r, out);
            av_frame_unref(out);
        }
        /* the caller lets go of what it kept before all has been searched */
        if (i > 1)
            av_frame_free(&kept[i - 2]);
        if (ret == AVERROR(EAGAIN) && i < c->nb)
            ret = 0;
        if (c->close_after >= 0 && r->nb == nb_wanted)
            break;
    }
    if (ret >= 0 && c->close_after < 0) {
        ret = av_buffersink_get_frame(g.sink, out);
        if (ret >= 0)
            wrong = "more frames come out than went in";
    }
    if (ret == AVERROR_EOF)
        ret = 0;
    avfilter_graph_free(&g.graph);

    if (c->file) {
        snprintf(path, sizeof(path), "%s/%s", l->folder, names[c->file]);
        if (ret < 0 && !access(path, F_OK))
            wrong = "a file was left by a run that failed";
        read_result_file(r, path);
        unlink(path);
    }
end:
    for (int i = 0; i < c->nb; i++)
        av_frame_free(&kept[i]);
    av_frame_free(&out);
    r->ret = ret;
    return wrong;
}

static void free_result(CaseResult *r)
{
    av_bprint_finalize(&r->file, NULL);
    for (int i = 0; i < MAX_CASE_FRAMES; i++) {
        av_bprint_finalize(&r->vectors[i], NULL);
        av_bprint_finalize(&r->metadata[i], NULL);
    }
}

/* Frame i against the oracle; a message where it differs. */
static const char *check_frame(const Case *c, const CaseResult *r, int i)
{
    const CaseFrame *f = &c->frames[i];
    const int bw = oracle_blocks(f->w, c->block), bh = oracle_blocks(f->h, c->block);
    const int nb_directions = !!f->vectors[0] + !!f->vectors[1];
    const char *p = r->vectors[i].str;

    if (r->vectors[i].len != (size_t)nb_directions * bw * bh * sizeof(AVMotionVector))
        return "another number of vectors";
    for (int j = 0; j < 2; j++) {
        uint64_t cost = 0;
        char wanted[128];

        if (!f->vectors[j])
            continue;
        for (int k = 0; k < bw * bh; k++, p += sizeof(AVMotionVector)) {
            AVMotionVector mv;
            const OracleVector *v = &f->vectors[j][k];
            const int x0 = k % bw * c->block, y0 = k / bw * c->block;
            const int w = oracle_min(c->block, f->w - x0), h = oracle_min(c->block, f->h - y0);

            memcpy(&mv, p, sizeof(mv));
            if (mv.motion_x != v->dx || mv.motion_y != v->dy)
                return "another vector";
            if (mv.source != (j ? 1 : -1) || mv.w != w || mv.h != h ||
                mv.dst_x != x0 + w / 2 || mv.dst_y != y0 + h / 2 ||
                mv.src_x != mv.dst_x + v->dx || mv.src_y != mv.dst_y + v->dy ||
                mv.flags || mv.motion_scale != 1)
                return "another place";
            cost += v->cost;
        }
        snprintf(wanted, sizeof(wanted), "lavfi.gpume.%s.cost=%"PRIu64"\n",
                 j ? "future" : "past", cost);
        if (c->metadata && !strstr(r->metadata[i].str, wanted))
            return "another cost";
    }
    return NULL;
}

/* The numbers of a .npy of a run that came to its end. */
static const char *check_case_npy(const Case *c, const CaseResult *r)
{
    const uint8_t *p = (const uint8_t *)r->file.str + 128;
    const int bw = oracle_blocks(c->frames[0].w, c->block);
    const int bh = oracle_blocks(c->frames[0].h, c->block);

    if (r->file.len != 128 + (size_t)c->nb * (c->dir == 3 ? 2 : 1) * bw * bh * 12)
        return "a .npy of another size";
    for (int i = 0; i < c->nb; i++) {
        for (int j = 0; j < 2; j++) {
            for (int k = 0; c->dir & 1 << j && k < bw * bh; k++, p += 12) {
                static const OracleVector none = { 0, 0, -1 };
                const OracleVector *v = c->frames[i].vectors[j] ?
                                        &c->frames[i].vectors[j][k] : &none;
                const uint32_t wanted[3] = { v->dx, v->dy, v->cost };

                for (int m = 0; m < 3; m++)
                    if (wanted[m] != (p[4 * m] | p[4 * m + 1] << 8 | p[4 * m + 2] << 16 |
                                      (uint32_t)p[4 * m + 3] << 24))
                        return "another number in the .npy";
            }
        }
    }
    return NULL;
}

static int on_device(const Case *c)
{
    int known = 0;

    for (int i = 0; i < FF_ARRAY_ELEMS(device_formats); i++)
        known |= c->frames[0].format == device_formats[i];
    for (int i = 0; i < c->nb; i++)
        if (!same_picture(&c->frames[i], &c->frames[0]) || c->frames[i].fault)
            return 0;
    /* chroma has half the samples */
    return known && c->frames[0].w % 2 == 0 && c->frames[0].h % 2 == 0;
}

static void print_case(FILE *f, const Case *c, const CaseLimits *l, enum CaseBackend backend)
{
    char options[512];

    case_options(options, sizeof(options), c, backend, l->folder);
    fprintf(f, "  gpume=%s%s, %d threads%s, closed after %d\n", options,
            backend == CASE_FRAMES ? " on frames on the device" : "", c->nb_threads,
            c->feed_all ? ", all at once" : "", c->close_after);
    for (int i = 0; i < c->nb; i++)
        fprintf(f, "  frame %d: %dx%d %s%s%s%s%s\n", i, c->frames[i].w, c->frames[i].h,
                av_get_pix_fmt_name(c->frames[i].format),
                c->frames[i].guarded ? ", luma only" : "",
                c->frames[i].guarded && c->frames[i].negative ? ", bottom up" : "",
                c->frames[i].pts == AV_NOPTS_VALUE ? ", no timestamp" : "",
                c->frames[i].fault ? ", not to be searched" : "");
}

/**
 * Draw a case, run it on every backend, and compare.
 * @param counts gets the runs on each backend added
 * @return 0, or -1 where something differs: it was printed
 */
static int run_case(Draw *d, const CaseLimits *l, unsigned counts[CASE_NB_BACKENDS])
{
    CaseResult results[CASE_NB_BACKENDS];
    unsigned ran = 0;
    int first = -1, ret = 0;
    Case c;

    draw_case(d, l, &c);
    case_expect(&c);
    for (int b = 0; b < CASE_NB_BACKENDS && !ret; b++) {
        CaseResult *r = &results[b];
        const char *wrong;
        char error[AV_ERROR_MAX_STRING_SIZE];
        int i = 0;

        if (!(l->backends & 1 << b) || (b != CASE_CPU && c.work > l->max_device_work) ||
            (b == CASE_FRAMES && !on_device(&c)))
            continue;
        wrong = run_backend(&c, l, b, r);
        ran |= 1 << b;
        /* a backend may lack a search, and says so */
        if (r->ret == AVERROR(ENOSYS) && b != CASE_CPU && !wrong)
            continue;

        for (i = 0; i < r->nb && !wrong; i++)
            wrong = check_frame(&c, r, i);
        if (!wrong && c.close_after < 0 && r->ret != c.code)
            wrong = r->ret < 0 ? av_make_error_string(error, sizeof(error), r->ret)
                               : "it worked, and should not";
        if (!wrong && c.close_after < 0 && r->ret >= 0 && r->nb != c.nb)
            wrong = "frames are missing";
        if (!wrong && c.close_after < 0 && r->ret >= 0 && c.file == FILE_NPY)
            wrong = check_case_npy(&c, r);
        if (!wrong && first >= 0 && c.close_after < 0 && r->ret >= 0 &&
            (r->file.len != results[first].file.len ||
             memcmp(r->file.str, results[first].file.str, r->file.len)))
            wrong = "another file than the first backend writes";
        if (wrong) {
            fprintf(stderr, "frame %d: %s\n", i - 1, wrong);
            print_case(stderr, &c, l, b);
            ret = -1;
        }
        if (first < 0)
            first = b;
        counts[b]++;
    }
    for (int b = 0; b < CASE_NB_BACKENDS; b++)
        if (ran & 1 << b)
            free_result(&results[b]);
    free_case(&c);
    return ret;
}

#endif /* GPUME_CASE_H */
