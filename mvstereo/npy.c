/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/error.h"
#include "libavutil/intfloat.h"
#include "libavutil/intreadwrite.h"
#include "libavutil/log.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvstereo/mvstereo.h"
#include "libavfilter/gpume/mvstereo/npy.h"
#include "libavfilter/gpume/output/format.h"
#include "libavfilter/gpume/output/system.h"

static int write_header(MvstereoNpy *n)
{
    char header[GPUME_NPY_HEADER_SIZE], views[16] = "";

    if (n->nb_views > 1)
        snprintf(views, sizeof(views), "%d, ", n->nb_views);
    snprintf(header + GPUME_NPY_START, sizeof(header) - GPUME_NPY_START,
             "{'descr': '<f4', 'fortran_order': False, 'shape': (%"PRId64", %s%d, %d), }", n->nb_maps / n->nb_views,
             views, n->h, n->w);
    ff_gpume_npy_frame(header, sizeof(header));
    return ff_gpume_file_write(&n->file, header, sizeof(header));
}

static av_cold int forget(MvstereoNpy *n)
{
    const int ret = ff_gpume_file_close(&n->file);

    ff_gpume_file_uninit(&n->file);
    av_freep(&n->map);
    av_freep(&n->values);
    memset(n, 0, sizeof(*n));
    return ret;
}

int ff_mvstereo_npy_begin(MvstereoNpy *n, const char *path, int overwrite, int w, int h, int nb_views, void *log_ctx)
{
    const int is_pipe = !n->map && ff_gpume_is_pipe(path);
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
    n->map      = av_malloc_array(w * (size_t)h, sizeof(*n->map));
    n->values   = av_malloc_array(w * (size_t)h, 4);
    ret = n->map && n->values ? 0 : AVERROR(ENOMEM);
    if (ret >= 0 && !is_pipe)
        ret = ff_gpume_file_open(&n->file, path, overwrite, log_ctx);
    if (ret >= 0 && (is_pipe || !ff_gpume_file_can_rewind(&n->file))) {
        av_log(log_ctx, AV_LOG_ERROR, "A .npy file begins with the number of frames, which is known only at the end, "
               "so it cannot be written to a pipe.\n");
        n->file.failed = 1;
        ret = AVERROR(ESPIPE);
    }
    if (ret < 0 ||
        (ret = write_header(n)) < 0 ||
        (ret = ff_gpume_file_flush(&n->file)) < 0)
        forget(n);
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
    int ret = 0, err;

    if (!n->file.f)
        return 0;
    if (!n->file.failed && ff_gpume_system_seek(n->file.f, 0, SEEK_SET))
        ret = ff_gpume_file_error(&n->file, "seek in");
    if (!n->file.failed)
        ret = write_header(n);
    err = ff_gpume_file_close(&n->file);
    ret = ret < 0 ? ret : err;
    if (!n->file.failed)
        ret = ff_gpume_file_complete(&n->file, 1);
    forget(n);
    return ret;
}
