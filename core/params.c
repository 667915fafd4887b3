/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>

#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/log.h"
#include "libavutil/pixdesc.h"

#include "libavfilter/gpume/core/params.h"
#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/core/searches.h"
#include "libavfilter/gpume/core/tree.h"

/* AVMotionVector.w and .h are bytes; .src_x = dst_x + dx is a signed 16-bit number */
static_assert(GPUME_MAX_BLOCK <= 255, "size of a block");
static_assert(GPUME_MAX_SIDE + GPUME_MAX_RANGE <= INT16_MAX, "places of vectors");
/* a block's cost fits into 31 bits */
static_assert(INT64_C(0xffff) * GPUME_MAX_COST * GPUME_MAX_BLOCK * GPUME_MAX_BLOCK <= INT32_MAX, "cost");
/* with the penalty of smoothness it fits into 32 bits: differences of up to 16 samples, 16 bits */
static_assert((INT64_C(1) << 16) * GPUME_MAX_COST * GPUME_MAX_BLOCK * GPUME_MAX_BLOCK +
              (((int64_t)GPUME_MAX_SMOOTH * GPUME_MAX_BLOCK * 16) << 8) <= UINT32_MAX, "cost");
static_assert((int64_t)GPUME_MAX_SMOOTH * GPUME_MAX_BLOCK * 8 * 16 * 4 <= UINT32_MAX, "sum");
/* se(v) of the largest difference has 2 * floor(log2(2 * |v| + 1)) + 1 bits */
static_assert(2 * 2 * 4 * GPUME_MAX_RANGE + 1 < 1 << (GPUME_MAX_COMPONENT_BITS / 2 + 1), "length of a component");
/* the cost of a root fits as well, with two components for each of its smallest blocks, and bits of splits */
#define MAX_BITS (2 * GPUME_MAX_COMPONENT_BITS + 1)
#define MAX_LEAVES (GPUME_MAX_ROOT / GPUME_MIN_BLOCK * (GPUME_MAX_ROOT / GPUME_MIN_BLOCK))
static_assert(INT64_C(0xffff) * GPUME_MAX_COST * GPUME_MAX_ROOT * GPUME_MAX_ROOT +
              (int64_t)GPUME_MAX_LAMBDA * MAX_BITS * MAX_LEAVES * 5 / 4 <= UINT32_MAX, "cost");
static_assert((int64_t)GPUME_MAX_LAMBDA * 256 * MAX_BITS + 128 <= UINT32_MAX, "cost of bits");
/* the largest picture needs no more levels */
static_assert((GPUME_MAX_SIDE >> (GPUME_MAX_LEVELS - 1)) <= GPUME_COARSEST, "levels");

/* Returns the component that is searched: luma, or green for RGB. */
static const AVComponentDescriptor *searched(const AVPixFmtDescriptor *desc)
{
    return &desc->comp[desc->flags & AV_PIX_FMT_FLAG_RGB && desc->nb_components > 2];
}

int ff_gpume_format_supported(enum AVPixelFormat format)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    const AVComponentDescriptor *c;
    int bytes, alone = 1;

    if (!desc || !desc->nb_components ||
        desc->flags & (AV_PIX_FMT_FLAG_PAL    | AV_PIX_FMT_FLAG_BAYER |
                       AV_PIX_FMT_FLAG_FLOAT  | AV_PIX_FMT_FLAG_XYZ   |
                       AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL))
        return 0;

    c     = searched(desc);
    bytes = c->depth > 8 ? 2 : 1;
    for (int i = 0; i < desc->nb_components; i++)
        alone &= c == &desc->comp[i] || desc->comp[i].plane;
    return c->depth >= 8 && c->depth + c->shift <= 8 * bytes && !c->plane &&
           (alone ? !c->offset && c->step == bytes : 8 * c->step == av_get_padded_bits_per_pixel(desc));
}

/* Checks the parameters of true motion. */
static int check_motion(const GpumeParams *p, void *log_ctx)
{
    const int pyramid = gpume_kind(p->algo) == GPUME_KIND_HIERARCHICAL;

    if (p->levels && !pyramid) {
        av_log(log_ctx, AV_LOG_ERROR, "'levels' is only valid with algo=hme.\n");
        return AVERROR(EINVAL);
    }
    if (p->levels < 0 || p->levels > GPUME_MAX_LEVELS) {
        av_log(log_ctx, AV_LOG_ERROR, "'levels' is %d; it must be 1 to %d, or 0 for the default.\n",
               p->levels, GPUME_MAX_LEVELS);
        return AVERROR(EINVAL);
    }
    if (p->smooth < GPUME_AUTO || p->smooth > GPUME_MAX_SMOOTH) {
        av_log(log_ctx, AV_LOG_ERROR, "'smooth' is %d; it must be 0 to %d, or -1 for the default.\n",
               p->smooth, GPUME_MAX_SMOOTH);
        return AVERROR(EINVAL);
    }
    if (p->pel < 0 || p->pel == 3 || p->pel > 4) {
        av_log(log_ctx, AV_LOG_ERROR, "'pel' is %d; it must be 1, 2 or 4, or 0 for the default.\n", p->pel);
        return AVERROR(EINVAL);
    }
    if (p->sweeps < 0 || p->sweeps > GPUME_MAX_SWEEPS) {
        av_log(log_ctx, AV_LOG_ERROR, "'sweeps' is %d; it must be 1 to %d, or 0 for the default.\n",
               p->sweeps, GPUME_MAX_SWEEPS);
        return AVERROR(EINVAL);
    }
    if (p->sweeps && !pyramid && p->smooth <= 0 && p->pel <= 1) {
        av_log(log_ctx, AV_LOG_ERROR, "'sweeps' is only valid with algo=hme, smooth or pel.\n");
        return AVERROR(EINVAL);
    }
    return 0;
}

/* Checks the parameters of blocks of several sizes. */
static int check_tree(const GpumeParams *p, void *log_ctx)
{
    const char *option = p->tree_max ? "tree_max" : p->lambda > 0 ? "lambda" : p->qp > 0 ? "qp" : NULL;
    const int root = p->tree_max ? p->tree_max : GPUME_MAX_ROOT;

    if (!p->tree && !option)
        return 0;
    if (!p->tree) {
        av_log(log_ctx, AV_LOG_ERROR, "'%s' is only valid with tree=1.\n", option);
        return AVERROR(EINVAL);
    }
    if (root != 16 && root != 32 && root != 64) {
        av_log(log_ctx, AV_LOG_ERROR, "'tree_max' is %d; it must be 16, 32 or 64.\n", root);
        return AVERROR(EINVAL);
    }
    if (p->block >= root) {
        av_log(log_ctx, AV_LOG_ERROR, "'block' is %d; with tree=1 it must be less than tree_max, which is %d.\n",
               p->block, root);
        return AVERROR(EINVAL);
    }
    if (p->lambda < GPUME_AUTO || p->lambda > GPUME_MAX_LAMBDA) {
        av_log(log_ctx, AV_LOG_ERROR, "'lambda' is %d; it must be 0 to %d, or -1 to derive it from qp.\n",
               p->lambda, GPUME_MAX_LAMBDA);
        return AVERROR(EINVAL);
    }
    if (p->qp < GPUME_AUTO || p->qp > GPUME_MAX_QP) {
        av_log(log_ctx, AV_LOG_ERROR, "'qp' is %d; it must be 0 to %d, or -1 for the default.\n", p->qp, GPUME_MAX_QP);
        return AVERROR(EINVAL);
    }
    if (p->lambda >= 0 && p->qp >= 0) {
        av_log(log_ctx, AV_LOG_ERROR, "'lambda' and 'qp' both set the cost of a bit; use one of them.\n");
        return AVERROR(EINVAL);
    }
    if (p->same) {
        av_log(log_ctx, AV_LOG_ERROR, "'hint=constant' is not possible with tree=1.\n");
        return AVERROR(EINVAL);
    }
    return 0;
}

int ff_gpume_params_check(const GpumeParams *p, void *log_ctx)
{
    int bad_references = p->nb_references < 1 || p->nb_references > GPUME_MAX_REFERENCES;
    int ret;

    if (p->algo < 0 || p->algo >= GPUME_NB_ALGOS || p->cost < 0 || p->cost >= GPUME_NB_COSTS) {
        av_log(log_ctx, AV_LOG_ERROR, "Search %d with cost %d does not exist.\n", p->algo, p->cost);
        return AVERROR(EINVAL);
    }
    if (p->block && (p->block < GPUME_MIN_BLOCK || p->block > GPUME_MAX_BLOCK || p->block & (p->block - 1))) {
        av_log(log_ctx, AV_LOG_ERROR, "'block' is %d; it must be 4, 8, 16, 32, 64 or 128.\n", p->block);
        return AVERROR(EINVAL);
    }
    if (p->range < 0 || p->range > GPUME_MAX_RANGE) {
        av_log(log_ctx, AV_LOG_ERROR, "'range' is %d; it must be 1 to %d, or 0 for the default.\n",
               p->range, GPUME_MAX_RANGE);
        return AVERROR(EINVAL);
    }
    if (p->exhaustive && gpume_kind(p->algo) != GPUME_KIND_FULL) {
        av_log(log_ctx, AV_LOG_ERROR, "'exhaustive' is only valid with algo=fs.\n");
        return AVERROR(EINVAL);
    }
    if ((ret = check_motion(p, log_ctx)) < 0 ||
        (ret = check_tree(p, log_ctx)) < 0)
        return ret;
    for (int i = 0; i < p->nb_references && !bad_references; i++) {
        bad_references = !p->distance[i] || FFABS(p->distance[i]) > GPUME_MAX_REFS;
        for (int j = 0; j < i; j++)
            bad_references |= p->distance[i] == p->distance[j];
    }
    if (bad_references) {
        av_log(log_ctx, AV_LOG_ERROR, "A search must have 1 to %d references, all of different "
               "distances of up to %d.\n", GPUME_MAX_REFERENCES, GPUME_MAX_REFS);
        return AVERROR(EINVAL);
    }
    return 0;
}

/* Sets the parameters that are left to the search. */
static void choose(GpumeParams *p)
{
    const int pyramid = gpume_kind(p->algo) == GPUME_KIND_HIERARCHICAL;

    if (!p->block)
        p->block = pyramid || p->tree ? 8 : 16;
    /* the cost of a bit is validated again for the stream's next size, so chosen values stay */
    if (p->tree && !p->tree_max)
        p->tree_max = GPUME_MAX_ROOT;
    if (!p->range)
        p->range = pyramid ? 256 : 16;
    if (!p->pel)
        p->pel = pyramid ? 4 : 1;
    if (p->smooth < 0)
        p->smooth = pyramid ? 2 : 0;
    /* stays 0 without passes, because it is validated again for the stream's next size */
    if (!p->sweeps && (pyramid || p->smooth || p->pel > 1))
        p->sweeps = pyramid ? 4 : 2;
    if (p->check < 0)
        p->check = pyramid;
    p->nb_distances = p->nb_references;
    for (int i = 0; i < p->nb_references && p->check; i++) {
        int j = 0;

        while (j < p->nb_references && p->distance[j] != -p->distance[i])
            j++;
        if (j == p->nb_references && p->nb_distances < GPUME_MAX_REFERENCES)
            p->distance[p->nb_distances++] = -p->distance[i];
    }
}

int ff_gpume_params_init(GpumeParams *p, int width, int height,
                         enum AVPixelFormat format, void *log_ctx)
{
    const AVPixFmtDescriptor *desc = av_pix_fmt_desc_get(format);
    int ret = ff_gpume_params_check(p, log_ctx);

    if (ret < 0)
        return ret;
    if (width < 1 || height < 1 ||
        width > GPUME_MAX_SIDE || height > GPUME_MAX_SIDE) {
        av_log(log_ctx, AV_LOG_ERROR, "The picture is %dx%d; both sides must be 1 to %d samples, "
               "the limit of AVMotionVector.\n", width, height, GPUME_MAX_SIDE);
        return AVERROR(EINVAL);
    }
    if (!ff_gpume_format_supported(format)) {
        av_log(log_ctx, AV_LOG_ERROR, "Pixel format %s is not supported: it has no luma or green samples "
               "of 8 to 16 bits. Insert format=yuv420p before gpume.\n", desc ? desc->name : "none");
        return AVERROR(EINVAL);
    }

    choose(p);
    p->width      = width;
    p->height     = height;
    p->depth      = searched(desc)->depth;
    p->shift      = searched(desc)->shift;
    p->step       = searched(desc)->step;
    p->offset     = searched(desc)->offset;
    p->big_endian = !!(desc->flags & AV_PIX_FMT_FLAG_BE);
    p->bw         = gpume_blocks(width,  p->block);
    p->bh         = gpume_blocks(height, p->block);
    return 0;
}
