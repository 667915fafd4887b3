/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/intfloat.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/log.h"
#include "libavutil/macros.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvstereo/mvstereo.h"
#include "libavfilter/gpume/mvstereo/npy.h"
#include "libavfilter/gpume/output/format.h"

int ff_mvstereo_npy_begin(MvstereoNpy *n, const char *path, int overwrite, int w, int h, int nb_views, void *log_ctx)
{
    int ret;

    if (n->map && n->w == w && n->h == h)
        return 0;
    if (n->map) {
        av_log(log_ctx, AV_LOG_ERROR, "Views now have %dx%d samples instead of %dx%d, which a .npy file cannot "
               "store.\n", w, h, n->w, n->h);
        return AVERROR(EINVAL);
    }
    n->w        = w;
    n->h        = h;
    n->nb_views = nb_views;
    if (nb_views > 1)
        snprintf(n->shape, sizeof(n->shape), "%d, %d, %d", nb_views, h, w);
    else
        snprintf(n->shape, sizeof(n->shape), "%d, %d", h, w);
    n->map      = av_malloc_array(w * (size_t)h, sizeof(*n->map));
    n->values   = av_malloc_array(w * (size_t)h, 4);
    ret = n->map && n->values ? 0 : AVERROR(ENOMEM);
    if (ret < 0 ||
        (ret = ff_gpume_npy_open(&n->file, path, overwrite, log_ctx)) < 0 ||
        (ret = ff_gpume_npy_begin(&n->file, "<f4", 0, n->shape)) < 0 ||
        (ret = ff_gpume_file_flush(&n->file)) < 0) {
        n->file.failed = 1;
        ff_mvstereo_npy_close(n);
    }
    return ret;
}

int ff_mvstereo_npy_write(MvstereoNpy *n)
{
    const size_t nb = n->w * (size_t)n->h;
    int ret;

    for (size_t i = 0; i < nb; i++)
        AV_WL32(n->values + 4 * i, av_float2int(n->map[i] == MVSTEREO_HOLE ? INFINITY
                                                                           : n->map[i] * (1.f / MVSTEREO_ONE)));
    ret = ff_gpume_file_write(&n->file, n->values, 4 * nb);
    n->nb_maps++;
    return ret < 0 ? ret : ff_gpume_file_flush(&n->file);
}

av_cold int ff_mvstereo_npy_close(MvstereoNpy *n)
{
    const int ret = ff_gpume_npy_end(&n->file, "<f4", n->nb_maps / FFMAX(n->nb_views, 1), n->shape);

    av_freep(&n->map);
    av_freep(&n->values);
    memset(n, 0, sizeof(*n));
    return ret;
}
