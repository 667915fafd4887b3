/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Finds disparities of views in CUDA frames on the stream of their device. The host waits for the
 * device only when the range is determined, because the range decides how much memory and how many
 * threads are needed. How the views agree is counted in every 16th row; the host reads it before the
 * next pair if it is there, and when the filter is closed.
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/log.h"

#include "libavfilter/gpume/cuda_common/filter.h"
#include "libavfilter/gpume/mvstereo/backend.h"
#include "libavfilter/gpume/mvstereo/cuda_args.h"
#include "libavfilter/gpume/mvstereo/modules.h"
#include "libavfilter/gpume/mvstereo/motion.h"
#include "libavfilter/gpume/util/frames.h"

GPUME_CUDA_FILTER_MODULES(MVSTEREO_CUDA_MODULES)

/** Kernels. PATHS and WINNERS have variants for up to 32, 64, 128, 256 and 1024 disparities. */
enum Kernel {
    LUMA, SMOOTH, HALVE,
    FEATURES, COSTS,
    PATHS, PATHS_64, PATHS_128, PATHS_256, PATHS_1024,
    WINNERS, WINNERS_64, WINNERS_128, WINNERS_256, WINNERS_1024,
    CHECK, JOIN, DROP,
    WMEDIAN, STABILISE, PAINT,
    NB_KERNELS
};

/* The shared memory of WINNERS and DROP depends on the width. */
static const GpumeCudaFilterKernel kernels[NB_KERNELS] = {
    [LUMA]     = { "luma", 0, MVSTEREO_CUDA_THREADS, sizeof(MvstereoCudaDecision), "copy the views" },
    [SMOOTH]   = { "views", 0, MVSTEREO_CUDA_THREADS, 0, "smooth the views" },
    [HALVE]    = { "views", 1, MVSTEREO_CUDA_THREADS, 0, "halve the views" },
    [FEATURES] = { "features", 0, MVSTEREO_CUDA_THREADS, sizeof(MvstereoCudaLuma), "make features" },
    [COSTS]    = { "costs", 0, MVSTEREO_CUDA_COST_COLS, 0, "compare features" },
#define SIZES(size, i) \
    [PATHS ## size]   = { "paths", i, MVSTEREO_CUDA_PATH_THREADS,               \
                          i ? 0 : MVSTEREO_CUDA_PATH_THREADS / 32 * sizeof(MvstereoCudaMoved), \
                          "add costs along paths" },                                        \
    [WINNERS ## size] = { "winners", i, MVSTEREO_CUDA_WINNER_THREADS, 0, "find the least costs" },
    SIZES(, 0) SIZES(_64, 1) SIZES(_128, 2) SIZES(_256, 3) SIZES(_1024, 5)
    [CHECK]    = { "pieces", 0, MVSTEREO_CUDA_THREADS, sizeof(MvstereoCudaPieces), "compare both maps" },
    [JOIN]     = { "pieces", 1, MVSTEREO_CUDA_COLS + MVSTEREO_CUDA_SIDE, 0, "find pieces" },
    [DROP]     = { "pieces", 2, MVSTEREO_CUDA_DROP_THREADS, 0, "drop small pieces" },
    [WMEDIAN]  = { "map", 0, MVSTEREO_CUDA_THREADS, sizeof(MvstereoCudaTile), "smooth the map" },
    [STABILISE] = { "temporal", 0, MVSTEREO_CUDA_STEADY_THREADS, sizeof(MvstereoCudaPart),
                    "stabilise the map" },
    [PAINT]    = { "map", 1, MVSTEREO_CUDA_THREADS, 0, "paint the map" },
};

/** Memory for views of a size and a range. */
typedef struct Map {
    GpumeCudaBuffer memory;
    MvstereoCudaArgs args;
} Map;

typedef struct CUDABackend {
    const MvstereoConfig *cfg;
    GpumeCudaFilter gpu;
    int w, h;                   ///< 0: not open
    GpumeCudaBuffer stats;      ///< MvstereoCudaStats, in device and pinned memory
    GpumeCudaBuffer planes;     ///< luma of all sizes
    MvstereoCudaArgs views;     ///< addresses of luma
    MvstereoRange *range;       ///< the range found so far
    Map map, coarse, half;
    /* maps of the pair before and of this one, for the left view and for the right one */
    MvstereoMotion motion[2];
    unsigned long long disparities[2][2], ages[2][2];
    AVBufferRef *search_frames;         ///< AVHWFramesContext of the views that are searched
    GpumeCudaBuffer read;       ///< pinned memory for the map and its confidence
    /* where halved views are matched first: for what is done beside that, as it leaves much of the device idle */
    CUstream beside;
    CUevent reached;            ///< of the stream that recorded it last
    CUevent judged;             ///< MvstereoCudaStats.agreement is in pinned memory
    int has_judged;             ///< whether it was recorded for the last pair
} CUDABackend;

static int launch(CUDABackend *s, enum Kernel kernel, int x, int y, int z, const MvstereoCudaArgs *args)
{
    return ff_gpume_cuda_filter_launch(&s->gpu, kernel, x, y, z, args);
}

/* Launches a kernel that has a thread for each MVSTEREO_CUDA_THREAD_ROWS samples of a column. */
static int launch_columns(CUDABackend *s, CUstream stream, enum Kernel kernel, int w, int h, int z,
                          const MvstereoCudaArgs *args)
{
    return ff_gpume_cuda_filter_launch_on(&s->gpu, stream, kernel, gpume_divide_up(w, MVSTEREO_CUDA_COLS),
                                          gpume_divide_up(h, MVSTEREO_CUDA_SIDE), z, args);
}

/* Smooths views if needed, or halves them. */
static int halve(CUDABackend *s, enum Kernel kernel, const MvstereoCudaArgs *a)
{
    return launch_columns(s, ff_gpume_cuda_filter_stream(&s->gpu), kernel, (a->w + 1) / 2, (a->h + 1) / 2, 2, a);
}

/* Makes features of the views. */
static int make_features(CUDABackend *s, CUstream stream, const MvstereoCudaArgs *a)
{
    return launch_columns(s, stream, FEATURES, a->w, a->h, 2, a);
}

static av_cold int load_kernels(CUDABackend *s, int depth)
{
    /* these instructions need PTX 7.0, which CUDA 11 introduced */
    const int is_ampere = s->gpu.cuda.capability >= 80 && s->gpu.cuda.driver >= 11000;

    for (int i = 0; i < NB_KERNELS; i++) {
        GpumeCudaFilterKernel kernel = kernels[i];
        int ret;

        if (is_ampere && ((i >= COSTS && i <= WINNERS_1024) || i == WMEDIAN))
            kernel.variant |= MVSTEREO_CUDA_AMPERE;
        ret = ff_gpume_cuda_filter_load(&s->gpu, i, &kernel, modules, depth);
        if (ret < 0)
            return ret;
    }
    return ff_gpume_cuda_alloc(&s->gpu.cuda, &s->stats, GPUME_CUDA_DEVICE | GPUME_CUDA_PINNED,
                               sizeof(MvstereoCudaStats), "statistics");
}

static av_cold int open_events(CUDABackend *s)
{
    int ret;

    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuEventCreate(&s->judged, CU_EVENT_DISABLE_TIMING), "create an event")) < 0)
        return ret;
    if (!s->cfg->fast)
        return 0;
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuStreamCreate(&s->beside, CU_STREAM_NON_BLOCKING), "create a stream")) < 0 ||
        (ret = GPUME_CUDA_CALL(&s->gpu, cuEventCreate(&s->reached, CU_EVENT_DISABLE_TIMING), "create an event")) < 0)
        return ret;
    return 0;
}

static av_cold int init(void *priv, const void *config, const GpumeLayout *layout)
{
    const MvstereoConfig *cfg = config;
    CUDABackend *s = priv;
    int ret;

    s->cfg               = cfg;
    s->gpu.alternative = cfg->alternative;
    ret = ff_gpume_cuda_filter_open(&s->gpu, cfg->hw_frames, cfg->log_ctx);
    if (ret < 0)
        return ret;
    ret = load_kernels(s, layout->depth);
    if (ret >= 0)
        ret = open_events(s);
    ff_gpume_cuda_pop(&s->gpu.cuda);
    return ret;
}

/* Frees the memory that depends on the size. The caller has pushed the CUDA context; no kernel is in flight. */
static void forget(CUDABackend *s)
{
    ff_gpume_cuda_free(&s->planes);
    ff_gpume_cuda_free(&s->map.memory);
    ff_gpume_cuda_free(&s->coarse.memory);
    ff_gpume_cuda_free(&s->half.memory);
    ff_gpume_cuda_free(&s->read);
    s->map.args.range = s->coarse.args.range = s->half.args.range = 0;
    ff_mvstereo_motion_close(&s->motion[0]);
    ff_mvstereo_motion_close(&s->motion[1]);
    av_buffer_unref(&s->search_frames);
    s->w = s->h = 0;
}

/** A part of a buffer. */
typedef struct Part {
    unsigned long long *address;
    size_t size;
} Part;

/* Allocates a buffer for several parts, which begin at multiples of 256 bytes. */
static int get_parts(CUDABackend *s, GpumeCudaBuffer *b, const Part *parts, int nb, const char *what)
{
    size_t size = 0;
    int ret;

    for (int i = 0; i < nb; i++)
        size += FFALIGN(parts[i].size, 256);
    ret = ff_gpume_cuda_alloc(&s->gpu.cuda, b, GPUME_CUDA_DEVICE, size, what);
    if (ret < 0)
        return ret;
    size = 0;
    for (int i = 0; i < nb; i++) {
        *parts[i].address = b->data + size;
        size += FFALIGN(parts[i].size, 256);
    }
    return 0;
}

/* Allocates memory for views of this size and range. The arguments have the addresses of luma. */
static int open_map(CUDABackend *s, Map *map, int w, int h, int min, int range)
{
    MvstereoCudaArgs *a = &map->args;
    const int is_window = map == &s->map && s->cfg->fast && range > MVSTEREO_WINDOW;
    const size_t nb     = w * (size_t)h, costs = nb * (is_window ? MVSTEREO_WINDOW : range);
    const Part parts[]  = {
        { &a->features[0], 8 * nb }, { &a->features[1], 8 * nb }, { &a->even, nb }, { &a->p2[0], nb },
        { &a->p2[1], nb },
        { &a->costs, costs }, { &a->paths[0], costs },
        { &a->paths[1], costs }, { &a->paths[2], costs }, { &a->paths[3], costs }, { &a->matched, 2 * nb },
        { &a->checked, 4 * nb }, { &a->filled, 2 * nb }, { &a->smoothed, 2 * nb },
        { &a->disparity, 2 * nb }, { &a->right, 2 * nb }, { &a->confidence, nb },
        { &a->base, is_window ? 2 * nb : 0 },
        { &a->parents, 4 * nb }, { &a->sizes, 4 * nb },
    };
    int ret;

    if (a->range == range) {
        a->min = min;
        return 0;
    }
    a->range = 0;
    ret = ff_gpume_cuda_filter_wait(&s->gpu, ff_gpume_cuda_filter_stream(&s->gpu));
    if (ret < 0)
        return ret;
    ff_gpume_cuda_free(&map->memory);
    ret = get_parts(s, &map->memory, parts, FF_ARRAY_ELEMS(parts), "costs");
    if (ret < 0)
        return ret;
    if (!is_window)
        a->base = 0;
    a->w     = w;
    a->h     = h;
    a->min   = min;
    a->range = range;
    a->rows  = s->cfg->rows;
    a->stats = s->stats.data;
    return 0;
}

/* Allocates memory for luma of views of a size. */
static int open_size(CUDABackend *s, int w, int h)
{
    MvstereoCudaArgs *a = &s->views;
    const size_t nb     = w * (size_t)h, before = s->cfg->temporal ? nb : 0;
    const size_t halved = s->cfg->fast || s->cfg->min >= s->cfg->max ? nb + w + h + 64 : 0;
    const Part parts[]  = {
        { &a->raw[0], nb }, { &a->raw[1], nb }, { &a->luma[0], nb }, { &a->luma[1], nb },
        /* the halved planes of all sizes follow each other */
        { &a->halved[0], halved }, { &a->halved[1], halved },
        { &s->ages[0][0], before }, { &s->ages[0][1], before }, { &s->ages[1][0], before }, { &s->ages[1][1], before },
        { &s->disparities[0][0], 2 * before }, { &s->disparities[0][1], 2 * before },
        { &s->disparities[1][0], 2 * before }, { &s->disparities[1][1], 2 * before },
    };
    int ret;

    if (w > MVSTEREO_CUDA_MAX_W || h > 65535) {
        av_log(s->cfg->log_ctx, AV_LOG_ERROR, "Views of %dx%d samples are too large for mvstereo on a GPU, which "
               "supports up to %dx65535; %s.\n", w, h, MVSTEREO_CUDA_MAX_W,
               s->cfg->alternative ? s->cfg->alternative : "insert hwdownload before mvstereo");
        return AVERROR(ENOSYS);
    }
    ret = ff_gpume_cuda_filter_wait(&s->gpu, ff_gpume_cuda_filter_stream(&s->gpu));
    if (ret < 0)
        return ret;
    forget(s);
    ret = get_parts(s, &s->planes, parts, FF_ARRAY_ELEMS(parts), "views");
    if (ret < 0)
        return ret;
    if (!halved)
        a->halved[0] = a->halved[1] = 0;
    a->w     = s->w = w;
    a->h     = s->h = h;
    a->stats = s->stats.data;
    return 0;
}

/* Gets a frame for the left view, on the device of a frame. The chroma of such frames is not used. */
static int get_search_frame(CUDABackend *s, const AVFrame *view, AVFrame **frame)
{
    const AVHWFramesContext *from = (const AVHWFramesContext *)view->hw_frames_ctx->data;
    int ret = 0;

    if (!s->search_frames)
        ret = ff_gpume_open_hw_frames(&s->search_frames, from->device_ref, AV_PIX_FMT_CUDA, AV_PIX_FMT_NV12,
                                      FFALIGN(s->w, 2), FFALIGN(s->h, 2));
    *frame = ret < 0 ? NULL : av_frame_alloc();
    if (!*frame)
        return ret < 0 ? ret : AVERROR(ENOMEM);
    ret = av_hwframe_get_buffer(s->search_frames, *frame, 0);
    if (ret < 0) {
        av_frame_free(frame);
        return ret;
    }
    (*frame)->width          = s->w;
    (*frame)->height         = s->h;
    s->views.search          = (uintptr_t)(*frame)->data[0];
    s->views.search_linesize = (*frame)->linesize[0];
    return 0;
}

/* Copies the luma of both views, smooths it if both are rough, and halves it if needed. */
static int load_views(CUDABackend *s, const MvstereoPair *pair, const GpumeLayout *l)
{
    const GpumeComponent *c = &l->components[0];
    MvstereoCudaArgs *a = &s->views;
    int ret;

    for (int i = 0; i < 2; i++) {
        const MvstereoView *view = &pair->views[i];

        a->views[i]     = (uintptr_t)gpume_layout_row(l, c, view->frame, view->y) + view->x * c->step * l->bytes;
        a->steps[i]     = view->step_x * c->step * l->bytes;
        a->linesizes[i] = view->step_y * (long long)view->frame->linesize[c->plane];
    }
    a->shift = l->shift + l->depth - 8;
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuMemsetD8Async(s->stats.data, 0, s->stats.size,
                                                        ff_gpume_cuda_filter_stream(&s->gpu)), "clear statistics")) < 0)
        return ret;
    ret = launch(s, LUMA, gpume_divide_up(a->w, 256), gpume_divide_up(a->h, MVSTEREO_CUDA_VIEW_ROWS), 2, a);
    return ret < 0 ? ret : halve(s, SMOOTH, a);
}

/* Finds the least sums of costs along paths. With bases, a sample has MVSTEREO_WINDOW disparities. */
static int find_least(CUDABackend *s, MvstereoCudaArgs *a)
{
    const int kind  = a->base ? 0 : FFMIN(av_ceil_log2((a->range + MVSTEREO_WINDOW - 1) / MVSTEREO_WINDOW), 4);
    const int lines = MVSTEREO_CUDA_PATH_THREADS / FFMIN(4 << kind, 32);
    int ret = 0;

    s->gpu.launches[WINNERS + kind].shared = 4 * (a->w + a->range);
    /* shared memory has place for three rows */
    for (a->first_row = -a->rows; a->first_row <= a->rows && ret >= 0; a->first_row += 3) {
        a->last_row = FFMIN(a->first_row + 2, a->rows);
        s->gpu.launches[COSTS].shared = MVSTEREO_CUDA_COST_COLS / 32 * sizeof(MvstereoCudaWords) +
                                          8 * (1 + a->last_row - a->first_row) * (MVSTEREO_CUDA_COST_COLS + a->range);
        ret = launch(s, COSTS, gpume_divide_up(a->w, MVSTEREO_CUDA_COST_COLS), a->h, 1, a);
    }
    if (ret >= 0)
        ret = launch(s, PATHS + kind, 2 * gpume_divide_up(a->h, lines) + (kind ? 2 : 1) * gpume_divide_up(a->w, lines),
                     1, 1, a);
    return ret < 0 ? ret : launch(s, WINNERS + kind, 1, a->h, 1, a);
}

/* Matches the views, which have features, finds which disparities are valid, and fills holes. */
static int match(CUDABackend *s, MvstereoCudaArgs *a)
{
    CUstream stream = ff_gpume_cuda_filter_stream(&s->gpu);
    int ret = find_least(s, a);

    s->gpu.launches[DROP].shared = gpume_divide_up(a->w, 32) * (4 + 32 * 2);
    if (ret < 0 ||
        (ret = launch_columns(s, stream, CHECK, a->w, a->h, 1, a)) < 0 ||
        (ret = launch_columns(s, stream, JOIN, a->w, a->h, 1, a)) < 0)
        return ret;
    return launch(s, DROP, 1, a->h, 1, a);
}

/* Extends the range by that of this pair. */
static int find_range(CUDABackend *s)
{
    const int nb = mvstereo_range_halvings(s->w);
    const MvstereoCudaStats *stats;
    MvstereoCudaArgs a = s->views;
    int ret, min, range;

    for (int i = 0; i < nb; i++) {
        const int w = (a.w + 1) / 2, h = (a.h + 1) / 2;

        /* the views have been halved once */
        ret = i ? halve(s, HALVE, &a) : 0;
        if (ret < 0)
            return ret;
        for (int j = 0; j < 2; j++) {
            a.luma[j]    = a.halved[j];
            a.halved[j] += w * (size_t)h;
        }
        a.w = w;
        a.h = h;
    }
    min = mvstereo_range_coarse(a.w, &range);
    ret = open_map(s, &s->coarse, a.w, a.h, min, range);
    if (ret < 0)
        return ret;
    memcpy(s->coarse.args.luma, a.luma, sizeof(a.luma));
    s->coarse.args.counts = MVSTEREO_CUDA_DISPARITIES;
    if ((ret = make_features(s, ff_gpume_cuda_filter_stream(&s->gpu), &s->coarse.args)) < 0 ||
        (ret = match(s, &s->coarse.args)) < 0)
        return ret;
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuMemcpyDtoHAsync(s->stats.pinned, s->stats.data,
                                                          offsetof(MvstereoCudaStats, agreement),
                                                          ff_gpume_cuda_filter_stream(&s->gpu)),
                               "read statistics")) < 0)
        return ret;
    ret = ff_gpume_cuda_filter_wait(&s->gpu, ff_gpume_cuda_filter_stream(&s->gpu));
    if (ret < 0)
        return ret;
    stats = s->stats.pinned;
    mvstereo_range_widen(s->range, stats->counts, range, min, nb, stats->histograms[0]);
    return 0;
}

/* Smooths the map, stabilises it, and paints it if there is an output. */
static int smooth_and_paint(CUDABackend *s, MvstereoCudaArgs *a)
{
    int ret = 0;

    if (a->fill)
        ret = launch(s, WMEDIAN, gpume_divide_up(a->w, 2 * MVSTEREO_CUDA_COLS),
                     gpume_divide_up(a->h, MVSTEREO_CUDA_ROWS), 1, a);
    if (a->temporal && ret >= 0)
        ret = launch(s, STABILISE, gpume_divide_up(a->w, MVSTEREO_PART), gpume_divide_up(a->h, MVSTEREO_PART), 1, a);
    return ret < 0 ? ret : launch_columns(s, ff_gpume_cuda_filter_stream(&s->gpu), PAINT, a->w, a->h, 1, a);
}

/* Makes the features of the views, and the map of halved ones. */
static int match_half(CUDABackend *s)
{
    CUstream stream = ff_gpume_cuda_filter_stream(&s->gpu);
    MvstereoCudaArgs *a = &s->half.args;
    int min, range, ret;

    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuEventRecord(s->reached, stream), "record an event")) < 0 ||
        (ret = GPUME_CUDA_CALL(&s->gpu, cuStreamWaitEvent(s->beside, s->reached, 0), "wait for the views")) < 0)
        return ret;
    ret = make_features(s, s->beside, &s->map.args);
    if (ret < 0)
        return ret;
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuEventRecord(s->reached, s->beside), "record an event")) < 0)
        return ret;
    min = mvstereo_halved_range(s->map.args.min, s->map.args.range, &range);
    ret = open_map(s, &s->half, (s->w + 1) / 2, (s->h + 1) / 2, min, range);
    if (ret < 0)
        return ret;
    memcpy(a->luma, s->views.halved, sizeof(a->luma));
    a->fill             = 1;
    s->map.args.half     = a->disparity;
    s->map.args.half_min = min;
    if ((ret = make_features(s, stream, a)) < 0 ||
        (ret = match(s, a)) < 0 ||
        (ret = smooth_and_paint(s, a)) < 0)
        return ret;
    return GPUME_CUDA_CALL(&s->gpu, cuStreamWaitEvent(stream, s->reached, 0), "wait for features");
}

/* Ends the search of the left view, and sets what is known of the pair before. */
static int look_back(CUDABackend *s, int right)
{
    MvstereoCudaArgs *a = &s->map.args;
    MvstereoMotion *m   = &s->motion[right];
    const GpumeMotionField *field;
    int ret;

    a->temporal = s->cfg->temporal;
    a->vectors  = 0;
    if (!a->temporal)
        return 0;
    ret = ff_mvstereo_motion_end(m, &field);
    if (ret < 0)
        return ret;
    if (field) {
        a->vectors         = field->mvs;
        a->vectors_w       = field->bw;
        a->search_before   = (uintptr_t)m->before->data[0];
        a->before_linesize = m->before->linesize[0];
    }
    for (int i = 0; i < 2; i++) {
        a->disparities[i] = s->disparities[right][i];
        a->ages[i]        = s->ages[right][i];
    }
    FFSWAP(unsigned long long, s->disparities[right][0], s->disparities[right][1]);
    FFSWAP(unsigned long long, s->ages[right][0], s->ages[right][1]);
    return 0;
}

/* Paints the map. */
static int finish(CUDABackend *s, const MvstereoPair *pair, AVFrame *out)
{
    MvstereoCudaArgs *a = &s->map.args;
    const int bytes     = ff_mvstereo_bytes(s->cfg->output, 1);
    const int ret       = look_back(s, pair->right);

    if (ret < 0)
        return ret;
    a->output          = s->cfg->output;
    a->out             = out ? (uintptr_t)out->data[0] + pair->column * bytes : 0;
    a->chroma          = out && out->data[1] ? (uintptr_t)out->data[1] + pair->column / 2 * 2 * bytes : 0;
    a->out_linesize    = out ? out->linesize[0] : 0;
    a->chroma_linesize = out ? out->linesize[1] : 0;
    a->paint = (MvstereoPaint) {
        .first = s->range->min * MVSTEREO_ONE, .least = s->range->least * MVSTEREO_ONE,
        .greatest = s->range->greatest * MVSTEREO_ONE,
        .legend = s->cfg->legend, .mirrored = pair->right,
        .w = s->w, .h = s->h, .depth_one = s->cfg->depth_one,
    };
    return smooth_and_paint(s, a);
}

/* Reads how the views agree. Nobody waits for that, see judge(). */
static int read_agreement(CUDABackend *s)
{
    const size_t offset = offsetof(MvstereoCudaStats, agreement);
    CUstream stream     = ff_gpume_cuda_filter_stream(&s->gpu);
    int ret;

    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuMemcpyDtoHAsync((uint8_t *)s->stats.pinned + offset, s->stats.data + offset,
                                                          sizeof(int) * MVSTEREO_NB_COUNTS, stream),
                               "read statistics")) < 0 ||
        (ret = GPUME_CUDA_CALL(&s->gpu, cuEventRecord(s->judged, stream), "record an event")) < 0)
        return ret;
    s->has_judged = 1;
    return 0;
}

/* Gets what read_agreement() has read. The caller has pushed the CUDA context. */
static int get_agreement(CUDABackend *s, int *counts, int wait)
{
    const CudaFunctions *cu = s->gpu.cuda.cu;
    const CUresult state    = wait ? cu->cuEventSynchronize(s->judged) : cu->cuEventQuery(s->judged);
    const int ret = state == CUDA_ERROR_NOT_READY ? 0 : ff_gpume_cuda_filter_check(&s->gpu, state, "read statistics");

    if (state == CUDA_ERROR_NOT_READY || ret < 0)
        return ret;
    memcpy(counts, ((const MvstereoCudaStats *)s->stats.pinned)->agreement, sizeof(int) * MVSTEREO_NB_COUNTS);
    return 1;
}

static int judge(void *priv, int *counts, int wait)
{
    CUDABackend *s = priv;
    const int ret  = s->has_judged ? ff_gpume_cuda_filter_enter(&s->gpu) : 0;

    if (!s->has_judged || ret < 0)
        return ret;
    s->has_judged = 0;
    return ff_gpume_cuda_filter_leave(&s->gpu, get_agreement(s, counts, wait));
}

/* Makes the map of a pair. The caller has pushed the CUDA context. */
static int make_map(CUDABackend *s, const MvstereoPair *pair, const GpumeLayout *layout, AVFrame *out)
{
    AVFrame *search = NULL;
    int ret = 0;

    if (s->w != pair->w || s->h != pair->h)
        ret = open_size(s, pair->w, pair->h);
    s->views.search = 0;
    if (ret >= 0 && s->cfg->temporal)
        ret = get_search_frame(s, pair->views[0].frame, &search);
    if (ret >= 0)
        ret = load_views(s, pair, layout);
    /* the search goes on beside the following kernels */
    if (ret >= 0 && search)
        ret = ff_mvstereo_motion_begin(&s->motion[pair->right], s->cfg, search);
    else
        av_frame_free(&search);
    if (ret >= 0 && s->cfg->min >= s->cfg->max && !pair->same_range)
        ret = find_range(s);
    if (ret >= 0)
        ret = open_map(s, &s->map, s->w, s->h, s->range->min, FFALIGN(s->range->max - s->range->min, MVSTEREO_LANES));
    if (ret < 0)
        return ret;
    memcpy(s->map.args.luma, s->views.luma, sizeof(s->views.luma));
    s->map.args.fill   = s->cfg->fill;
    s->map.args.counts = MVSTEREO_CUDA_AGREEMENT;
    ret = s->map.args.base ? match_half(s) : make_features(s, ff_gpume_cuda_filter_stream(&s->gpu), &s->map.args);
    if (ret < 0 ||
        (ret = match(s, &s->map.args)) < 0 ||
        (ret = finish(s, pair, out)) < 0)
        return ret;
    return read_agreement(s);
}

static int make(void *priv, const MvstereoPair *pair, const GpumeLayout *layout, MvstereoRange *range, AVFrame *out)
{
    CUDABackend *s = priv;
    const int ret  = ff_gpume_cuda_filter_enter(&s->gpu);

    s->range = range;
    return ret < 0 ? ret : ff_gpume_cuda_filter_leave(&s->gpu, make_map(s, pair, layout, out));
}

/* Downloads the map, and its confidence if wanted. The caller has pushed the CUDA context. */
static int download(CUDABackend *s, int with_confidence)
{
    const size_t nb = s->w * (size_t)s->h;
    CUstream stream = ff_gpume_cuda_filter_stream(&s->gpu);
    int ret = s->read.pinned ? 0 : ff_gpume_cuda_alloc(&s->gpu.cuda, &s->read, GPUME_CUDA_PINNED, 3 * nb, "the map");

    if (ret < 0)
        return ret;
    if ((ret = GPUME_CUDA_CALL(&s->gpu, cuMemcpyDtoHAsync(s->read.pinned, s->map.args.disparity, 2 * nb, stream),
                               "read disparities")) < 0)
        return ret;
    if (with_confidence &&
        (ret = GPUME_CUDA_CALL(&s->gpu, cuMemcpyDtoHAsync((uint8_t *)s->read.pinned + 2 * nb, s->map.args.confidence,
                                                          nb, stream), "read confidence")) < 0)
        return ret;
    return ff_gpume_cuda_filter_wait(&s->gpu, stream);
}

int ff_mvstereo_cuda_read(void *priv, int16_t *map, uint8_t *confidence)
{
    CUDABackend *s = priv;
    const int w    = s->w, last = w - 1, mirrored = s->map.args.paint.mirrored;
    int ret = ff_gpume_cuda_filter_enter(&s->gpu);

    if (ret >= 0)
        ret = ff_gpume_cuda_filter_leave(&s->gpu, download(s, !!confidence));
    for (int y = 0; y < s->h && ret >= 0; y++) {
        const int16_t *row  = (const int16_t *)s->read.pinned + y * (size_t)w;
        const uint8_t *sure = (const uint8_t *)s->read.pinned + (2 * s->h + y) * (size_t)w;

        for (int x = 0; x < w; x++)
            *map++ = row[mirrored ? last - x : x];
        for (int x = 0; x < w && confidence; x++)
            *confidence++ = sure[mirrored ? last - x : x];
    }
    return ret;
}

static int read_map(void *priv, int16_t *map)
{
    return ff_mvstereo_cuda_read(priv, map, NULL);
}

static av_cold void free_all(void *priv)
{
    CUDABackend *s = priv;

    if (s->beside)
        s->gpu.cuda.cu->cuStreamSynchronize(s->beside);
    forget(s);
    if (s->reached)
        s->gpu.cuda.cu->cuEventDestroy(s->reached);
    if (s->judged)
        s->gpu.cuda.cu->cuEventDestroy(s->judged);
    if (s->beside)
        s->gpu.cuda.cu->cuStreamDestroy(s->beside);
    ff_gpume_cuda_free(&s->stats);
}

static av_cold void uninit(void *priv)
{
    CUDABackend *s = priv;

    ff_gpume_cuda_filter_close(&s->gpu, free_all, s);
}

const MvstereoBackend ff_mvstereo_backend_cuda = {
    .common = {
        .hw_format = AV_PIX_FMT_CUDA, .priv_size = sizeof(CUDABackend),
        .init = init, .uninit = uninit,
    },
    .make      = make,
    .read      = read_map,
    .judge     = judge,
};
