/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include "libavutil/attributes.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/core/same.h"
#include "libavfilter/gpume/core/tree.h"
#include "libavfilter/gpume/cuda/search.h"

static av_cold int init_size(GpumeCudaSearch *s, int size, const GpumeCuda *cuda, const GpumePlan *smallest, int shift,
                             GpumeCudaSearch *before)
{
    GpumeCudaSize *z = &s->sizes[size];
    const GpumeParams params = ff_gpume_size_params(&s->params, size);
    const GpumePlan plan = size ? ff_gpume_plan(&params) : *smallest;
    int ret;

    z->params        = params;
    /* intra costs are those of the smallest blocks */
    z->params.intra &= !size;
    z->params.shift  = shift;
    z->params.big_endian = 0;
    ret = !s->is_scanned ? ff_gpume_cuda_kernel_init(&z->kernel, cuda, &z->params, &plan,
                                                       before ? &before->sizes[size].kernel : NULL) : 0;
    return ret < 0 ? ret : ff_gpume_cuda_motion_init(&z->motion, cuda, &z->params, &plan, shift);
}

av_cold int ff_gpume_cuda_search_init(GpumeCudaSearch *s, const GpumeCuda *cuda, const GpumeParams *params,
                                      const GpumePlan *plan, int shift, int at_once, GpumeCudaSearch *before)
{
    const int nb_sizes = ff_gpume_nb_sizes(params) / plan->nb_sizes;
    int ret;

    s->params            = *params;
    s->params.shift      = shift;
    s->params.big_endian = 0;
    ret = s->is_scanned = ff_gpume_cuda_scan_init(&s->sizes[0].kernel, cuda, &s->params);
    if (ret < 0)
        return ret;
    while (s->nb_sizes < nb_sizes) {
        GpumeCudaMotion *motion = &s->sizes[s->nb_sizes].motion;

        if ((ret = init_size(s, s->nb_sizes++, cuda, plan, shift, before)) < 0)
            return ret;
        motion->at_once = at_once;
    }
    return params->tree ? ff_gpume_cuda_tree_init(&s->tree, cuda, params) : 0;
}

size_t ff_gpume_cuda_search_planes_size(const GpumeCudaSearch *s)
{
    return s->sizes[0].motion.planes.nb_levels ? s->sizes[0].motion.planes.size : 0;
}

CUresult ff_gpume_cuda_search_planes(GpumeCudaSearch *s, const GpumeCudaPlane *luma, CUdeviceptr planes,
                                     CUstream stream)
{
    return ff_gpume_cuda_motion_planes(&s->sizes[0].motion, luma, planes, stream);
}

/* Returns where the vectors and costs of field i are stored, for blocks of a size. */
static GpumeCudaStored stored_of(const GpumeCudaSearch *s, const GpumeCudaSearchField *field, int i, int size)
{
    return s->params.tree ? ff_gpume_cuda_tree_stored(&s->tree, size, i) :
                            (GpumeCudaStored) { .mvs = field->leaves.mvs, .costs = field->leaves.costs };
}

/*
 * Returns where a block-by-block search stores vectors and costs of field i: as input of later
 * steps, or as its result.
 */
static GpumeCudaStored found_of(const GpumeCudaSearch *s, const GpumeCudaSearchField *field, int i, int size)
{
    const GpumeCudaSize *z = &s->sizes[size];
    const size_t first = i * (size_t)z->params.bw * z->params.bh;

    return z->motion.nb_steps ?
           (GpumeCudaStored) { .vectors = z->motion.search_vectors + first * sizeof(GpumeVector),
                               .costs   = z->motion.search_costs   + first * sizeof(uint32_t) } :
           stored_of(s, field, i, size);
}

/*
 * Launches the stages that search block by block: for both fields at once if they have the same current picture, but
 * a scan for each field.
 */
static CUresult launch_kernels(GpumeCudaSearch *s, int size, const GpumeCudaSearchField *fields, int nb_fields,
                               CUstream stream)
{
    GpumeCudaSize *z = &s->sizes[size];
    GpumeCudaArgs *args = &z->kernel.args;
    const int at_once = s->params.check || s->is_scanned ? 1 : nb_fields;
    CUresult err = CUDA_SUCCESS;

    for (int i = 0; i < nb_fields && err == CUDA_SUCCESS; i += at_once) {
        const GpumeCudaStored to = found_of(s, &fields[i], i, size);

        args->cur     = fields[i].cur;
        args->mvs     = to.mvs;
        args->vectors = to.vectors;
        args->costs   = to.costs;
        for (int j = 0; j < s->nb_sizes && s->is_scanned; j++)
            args->tree.sizes[GPUME_CUDA_SIZE(s->params.block) + j] = found_of(s, &fields[i], i, j);
        for (int j = 0; j < at_once; j++) {
            args->fields[j].plane     = fields[i + j].ref;
            args->fields[j].reference = fields[i + j].reference;
        }
        err = ff_gpume_cuda_kernel_launch(&z->kernel, at_once, stream);
    }
    return err;
}

static CUresult launch_motion(GpumeCudaSearch *s, int size, const GpumeCudaSearchField *from, int nb_fields,
                              CUdeviceptr intra, CUstream stream)
{
    GpumeCudaMotion *m = &s->sizes[size].motion;
    GpumeCudaMotionField fields[GPUME_CUDA_FIELDS];

    for (int i = 0; i < nb_fields; i++) {
        fields[i] = (GpumeCudaMotionField) {
            .cur_luma  = from[i].cur,
            .cur       = from[i].cur_planes,
            .ref       = from[i].ref_planes,
            .reference = from[i].reference,
        };
        for (int j = 0; j < FFMAX(m->nb_sizes, 1) && from[i].is_stored; j++) {
            const GpumeCudaStored to = stored_of(s, &from[i], i, size + j);

            fields[i].mvs[j]   = to.mvs;
            fields[i].costs[j] = to.costs;
        }
    }
    return ff_gpume_cuda_motion_launch(m, fields, nb_fields, intra, stream);
}

static CUresult launch_tree(GpumeCudaSearch *s, const GpumeCudaSearchField *fields, int nb_fields, CUstream stream)
{
    GpumeCudaLeaves leaves[GPUME_CUDA_FIELDS];
    int nb = 0;

    for (; nb < nb_fields && fields[nb].is_stored; nb++)
        leaves[nb] = fields[nb].leaves;
    return ff_gpume_cuda_tree_launch(&s->tree, leaves, nb, stream);
}

CUresult ff_gpume_cuda_search_launch(GpumeCudaSearch *s, const GpumeCudaSearchField *fields, int nb_fields,
                                     CUdeviceptr intra, CUstream stream)
{
    CUresult err = CUDA_SUCCESS;

    for (int i = 0; i < s->nb_sizes && err == CUDA_SUCCESS; i++) {
        if (!i || !s->is_scanned)
            err = launch_kernels(s, i, fields, nb_fields, stream);
        if (err == CUDA_SUCCESS)
            err = launch_motion(s, i, fields, nb_fields, intra, stream);
    }
    return err == CUDA_SUCCESS && s->params.tree ? launch_tree(s, fields, nb_fields, stream) : err;
}

av_cold void ff_gpume_cuda_search_uninit(GpumeCudaSearch *s)
{
    for (int i = 0; i < GPUME_MAX_SIZES; i++) {
        ff_gpume_cuda_kernel_uninit(&s->sizes[i].kernel);
        ff_gpume_cuda_motion_uninit(&s->sizes[i].motion);
    }
    ff_gpume_cuda_tree_uninit(&s->tree);
}

av_cold int ff_gpume_cuda_same_init(GpumeCudaSame *s, const GpumeCuda *cuda,
                                    const GpumeParams *params, enum AVPixelFormat format)
{
    const GpumeCudaModule *module = ff_gpume_cuda_find_module(cuda, params, GPUME_CUDA_same, 0, 0);

    s->cuda           = cuda;
    s->args.params    = *params;
    s->args.nb_planes = ff_gpume_other_planes(s->args.planes, format);
    s->launch.threads = GPUME_CUDA_SAME_THREADS;
    s->launch.grid[0] = gpume_blocks(ff_gpume_nb_cells(params), GPUME_CUDA_SAME_THREADS / 32);
    s->launch.grid[1] = 1;
    return ff_gpume_cuda_load(cuda, &s->launch, &module->code);
}

CUresult ff_gpume_cuda_same_launch(GpumeCudaSame *s, const GpumeField *field, CUdeviceptr same,
                                   CUstream stream)
{
    const AVFrame *cur = field->cur->frame, *ref = field->ref->frame;

    s->args.mvs   = field->set->device[field->slot].mvs;
    s->args.costs = field->set->device[field->slot].costs;
    s->args.same  = same;
    for (int i = 0; i < s->args.nb_planes; i++) {
        const int plane = s->args.planes[i].index;

        s->args.cur[i] = (GpumeCudaPlane) { (uintptr_t)cur->data[plane], cur->linesize[plane] };
        s->args.ref[i] = (GpumeCudaPlane) { (uintptr_t)ref->data[plane], ref->linesize[plane] };
    }
    return ff_gpume_cuda_launch(s->cuda, &s->launch, 1, &s->args, stream);
}

av_cold void ff_gpume_cuda_same_uninit(GpumeCudaSame *s)
{
    ff_gpume_cuda_unload(s->cuda, &s->launch);
}
