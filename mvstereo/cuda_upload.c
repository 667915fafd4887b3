/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Matches views in system memory on a CUDA device: uploads their luma in 8 bits, which is all that is matched, reads
 * the map, and paints it here. So all formats and outputs of the CPU are supported.
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/hwcontext.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/cuda_common/driver.h"
#include "libavfilter/gpume/mvstereo/backend.h"
#include "libavfilter/gpume/mvstereo/painter.h"
#include "libavfilter/gpume/mvstereo/view.h"
#include "libavfilter/gpume/util/tasks.h"
#include "libavfilter/gpume/util/frames.h"

/** Size of the frames that exist before the size of views is known. */
#define ANY_SIZE 64
/** GpumeCuda.alternative */
#define ALTERNATIVE "use backend=cpu"

typedef struct Upload {
    const MvstereoConfig *cfg;
    MvstereoConfig device_cfg;
    AVBufferRef *device, *frames;       ///< frames of the views: NV12, of which only luma is used
    GpumeCuda cuda;
    void *priv;                 ///< of ff_mvstereo_backend_cuda; NULL: not open
    int w, h;                   ///< size of the views; 0: not known
    GpumeCudaBuffer luma;       ///< luma of both views, in pinned memory
    int16_t *map;               ///< as MvstereoPainter.disparity
    uint8_t *confidence;
    MvstereoPainter painter;

    /* the current work */
    const MvstereoPair *pair;
    const GpumeLayout *layout;
} Upload;

/* Opens frames of a size on the device. */
static av_cold int open_frames(Upload *u, int w, int h)
{
    av_buffer_unref(&u->frames);
    return ff_gpume_open_hw_frames(&u->frames, u->device, AV_PIX_FMT_CUDA, AV_PIX_FMT_NV12, FFALIGN(w, 2),
                                   FFALIGN(h, 2));
}

static av_cold int init(void *priv, const void *config, const GpumeLayout *layout)
{
    const MvstereoConfig *cfg = config;
    Upload *u = priv;
    GpumeLayout uploaded;
    int ret   = ff_gpume_cuda_create_device(&u->device, cfg->hw_device, NULL, cfg->backend < 0, cfg->log_ctx);

    u->cfg = cfg;
    if (ret < 0 ||
        (ret = open_frames(u, ANY_SIZE, ANY_SIZE)) < 0 ||
        (ret = ff_gpume_cuda_open_for_frames(&u->cuda, u->frames, cfg->log_ctx, ALTERNATIVE)) < 0)
        return ret;
    ff_gpume_cuda_pop(&u->cuda);
    u->priv = av_mallocz(ff_mvstereo_backend_cuda.common.priv_size);
    if (!u->priv)
        return AVERROR(ENOMEM);
    u->device_cfg             = *cfg;
    u->device_cfg.hw_frames   = u->frames;
    u->device_cfg.alternative = ALTERNATIVE;
    ff_gpume_layout_init(&uploaded, AV_PIX_FMT_NV12, ANY_SIZE, ANY_SIZE);
    return ff_mvstereo_backend_cuda.common.init(u->priv, &u->device_cfg, &uploaded);
}

static av_cold void forget(Upload *u)
{
    ff_gpume_cuda_free(&u->luma);
    av_freep(&u->map);
    av_freep(&u->confidence);
    u->w = u->h = 0;
}

static av_cold void uninit(void *priv)
{
    Upload *u = priv;

    if (u->priv)
        ff_mvstereo_backend_cuda.common.uninit(u->priv);
    av_freep(&u->priv);
    forget(u);
    ff_gpume_cuda_close(&u->cuda);
    av_buffer_unref(&u->frames);
    av_buffer_unref(&u->device);
}

/* Allocates memory for views of a size. */
static av_cold int open_size(Upload *u, int w, int h)
{
    int ret = open_frames(u, w, h);

    forget(u);
    if (ret < 0 ||
        (ret = ff_gpume_cuda_push(&u->cuda)) < 0)
        return ret;
    ret = ff_gpume_cuda_alloc(&u->cuda, &u->luma, GPUME_CUDA_PINNED, 2 * w * (size_t)h, "luma");
    ff_gpume_cuda_pop(&u->cuda);
    if (ret < 0)
        return ret;
    u->map        = av_malloc_array(w * (size_t)h, sizeof(*u->map));
    u->confidence = av_malloc(w * (size_t)h);
    if (!u->map || !u->confidence)
        return AVERROR(ENOMEM);
    u->w = w;
    u->h = h;
    return 0;
}

/* Returns the luma of a view in system memory: rows of the view's width. */
static uint8_t *luma_of(const Upload *u, int view)
{
    return (uint8_t *)u->luma.pinned + view * u->w * (size_t)u->h;
}

/* Copies a part of the views' luma. */
static void load_part(void *arg, int part, int nb_parts)
{
    const Upload *u = arg;
    const int first = gpume_first_row(u->h, part, nb_parts), end = gpume_first_row(u->h, part + 1, nb_parts);

    for (int i = 0; i < 2; i++)
        for (int y = first; y < end; y++)
            ff_mvstereo_load_row(luma_of(u, i) + y * (size_t)u->w, &u->pair->views[i], u->layout, y, u->w);
}

static void paint_part(void *arg, int part, int nb_parts)
{
    Upload *u = arg;

    ff_mvstereo_paint_rows(&u->painter, 0, gpume_first_row(u->h, part, nb_parts),
                           gpume_first_row(u->h, part + 1, nb_parts));
}

/* Uploads the luma of a view. It stays as it is until the map has been read, which waits for the device. */
static int upload(const Upload *u, const AVFrame *to, int view)
{
    const CUDA_MEMCPY2D copy = {
        .srcMemoryType = CU_MEMORYTYPE_HOST,   .srcHost   = luma_of(u, view),           .srcPitch = u->w,
        .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = (CUdeviceptr)to->data[0],   .dstPitch = to->linesize[0],
        .WidthInBytes  = u->w, .Height = u->h,
    };
    int ret = ff_gpume_cuda_push(&u->cuda);

    if (ret < 0)
        return ret;
    ret = ff_gpume_cuda_check(&u->cuda, u->cuda.cu->cuMemcpy2DAsync(&copy, u->cuda.hwctx->stream), "upload a view");
    ff_gpume_cuda_pop(&u->cuda);
    return ret;
}

/* Uploads the views, and makes their map. */
static int match(Upload *u, AVFrame *views[2], MvstereoRange *range)
{
    const MvstereoPair pair = {
        .views = { { views[0], .step_x = 1, .step_y = 1 }, { views[1], .step_x = 1, .step_y = 1 } },
        .w = u->w, .h = u->h, .right = u->pair->right, .same_range = u->pair->same_range,
    };
    GpumeLayout layout;
    int ret = 0;

    for (int i = 0; i < 2 && ret >= 0; i++) {
        ret = av_hwframe_get_buffer(u->frames, views[i], 0);
        if (ret >= 0)
            ret = upload(u, views[i], i);
    }
    if (ret < 0)
        return ret;
    ff_gpume_layout_init(&layout, AV_PIX_FMT_NV12, views[0]->width, views[0]->height);
    ret = ff_mvstereo_backend_cuda.make(u->priv, &pair, &layout, range, NULL);
    return ret < 0 ? ret : ff_mvstereo_cuda_read(u->priv, u->map, u->cfg->output == MVSTEREO_CONFIDENCE ?
                                                                  u->confidence : NULL);
}

static int make(void *priv, const MvstereoPair *pair, const GpumeLayout *layout, MvstereoRange *range, AVFrame *out)
{
    Upload *u = priv;
    MvstereoPainter *p = &u->painter;
    AVFrame *views[2]  = { NULL, NULL };
    const int nb_parts = FFMIN(u->cfg->executor.nb_threads, pair->h);
    int ret = u->w != pair->w || u->h != pair->h ? open_size(u, pair->w, pair->h) : 0;

    if (ret < 0) {
        forget(u);
        return ret;
    }
    u->pair   = pair;
    u->layout = layout;
    u->device_cfg.temporal = u->cfg->temporal;
    gpume_execute(&u->cfg->executor, load_part, u, nb_parts);
    views[0] = av_frame_alloc();
    views[1] = av_frame_alloc();
    ret      = views[0] && views[1] ? match(u, views, range) : AVERROR(ENOMEM);
    av_frame_free(&views[0]);
    av_frame_free(&views[1]);
    if (ret < 0)
        return ret;
    ff_mvstereo_painter_init(p, u->cfg, range, u->w, u->h);
    p->disparity  = u->map;
    p->stride     = u->w;
    p->confidence = u->confidence;
    ff_mvstereo_painter_set_out(p, out, pair->column);
    gpume_execute(&u->cfg->executor, paint_part, u, nb_parts);
    return 0;
}

static int read_map(void *priv, int16_t *map)
{
    const Upload *u = priv;

    memcpy(map, u->map, u->w * (size_t)u->h * sizeof(*map));
    return 0;
}

static int judge(void *priv, int *counts, int wait)
{
    const Upload *u = priv;

    return u->priv ? ff_mvstereo_backend_cuda.judge(u->priv, counts, wait) : 0;
}

const MvstereoBackend ff_mvstereo_backend_upload = {
    .common = {
        .hw_format = AV_PIX_FMT_NONE, .priv_size = sizeof(Upload),
        .init = init, .uninit = uninit,
    },
    .make   = make,
    .read   = read_map,
    .judge  = judge,
};
