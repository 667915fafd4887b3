/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Runs the parts of a search one after the other, for each block size.
 */

#include "libavutil/attributes.h"
#include "libavutil/macros.h"

#include "libavfilter/gpume/core/tree.h"
#include "libavfilter/gpume/cuda/search.h"

/* Initializes what finds the vectors of blocks of a size. */
static av_cold int init_size(GpumeCudaSearch *s, int size, const GpumeCuda *cuda, const GpumePlan *smallest,
                             int at_once, GpumeCudaSearch *before)
{
    GpumeParams params = ff_gpume_size_params(&s->params, size);
    const GpumePlan plan = size ? ff_gpume_plan(&params) : *smallest;
    int ret = 0;

    /* intra costs are those of the smallest blocks */
    params.intra &= !size;
    if (!s->is_scanned)
        ret = ff_gpume_cuda_kernel_init(&s->kernels[size], cuda, &params, &plan,
                                        before ? &before->kernels[size] : NULL);
    return ret < 0 ? ret : ff_gpume_cuda_motion_init(&s->motions[size], cuda, &params, &plan, at_once);
}

av_cold int ff_gpume_cuda_search_init(GpumeCudaSearch *s, const GpumeCuda *cuda, const GpumeParams *params,
                                      const GpumePlan *plan, int at_once, GpumeCudaSearch *before)
{
    int ret;

    s->params   = *params;
    s->nb_sizes = ff_gpume_nb_sizes(params) / plan->nb_sizes;
    ret = s->is_scanned = ff_gpume_cuda_scan_init(&s->kernels[0], cuda, params);
    for (int i = 0; i < s->nb_sizes && ret >= 0; i++)
        ret = init_size(s, i, cuda, plan, at_once, before);
    return ret >= 0 && params->tree ? ff_gpume_cuda_tree_init(&s->tree, cuda, params) : ret;
}

/*
 * Returns where a block-by-block search stores vectors and costs of field i: as input of later
 * steps, or as its result.
 */
static GpumeCudaStored found_of(const GpumeCudaMotion *m, const GpumeCudaStored *result, int i)
{
    const size_t first = i * (size_t)m->params.bw * m->params.bh;

    return m->nb_steps ? (GpumeCudaStored) {
        .vectors = m->steps[0].args.from_vectors + first * sizeof(GpumeVector),
        .costs   = m->steps[0].args.from_costs   + first * sizeof(uint32_t),
    } : *result;
}

/*
 * Launches the stages that search block by block: for both fields at once if they have the same current picture, but
 * a scan for each field.
 */
static CUresult launch_kernels(GpumeCudaSearch *s, int size, const GpumeCudaSearchField *fields, int nb_fields,
                               const GpumeCudaStored (*to)[GPUME_CUDA_FIELDS], CUstream stream)
{
    GpumeCudaArgs *args = &s->kernels[size].args;
    const int at_once = s->params.check || s->is_scanned ? 1 : nb_fields;
    CUresult err = CUDA_SUCCESS;

    for (int i = 0; i < nb_fields && err == CUDA_SUCCESS; i += at_once) {
        args->cur = fields[i].cur;
        args->to  = found_of(&s->motions[size], &to[size][i], i);
        for (int j = 0; j < s->nb_sizes && s->is_scanned; j++)
            args->tree.sizes[GPUME_CUDA_SIZE(s->params.block) + j] = found_of(&s->motions[j], &to[j][i], i);
        for (int j = 0; j < at_once; j++) {
            args->fields[j].plane     = fields[i + j].ref;
            args->fields[j].reference = fields[i + j].reference;
        }
        err = ff_gpume_cuda_kernel_launch(&s->kernels[size], at_once, stream);
    }
    return err;
}

CUresult ff_gpume_cuda_search_launch(GpumeCudaSearch *s, const GpumeCudaSearchField *fields, int nb_fields,
                                     CUdeviceptr intra, CUstream stream)
{
    GpumeCudaStored to[GPUME_MAX_SIZES][GPUME_CUDA_FIELDS];
    CUresult err = CUDA_SUCCESS;

    for (int size = 0; size < ff_gpume_nb_sizes(&s->params); size++)
        for (int i = 0; i < nb_fields; i++)
            to[size][i] = s->params.tree ? ff_gpume_cuda_tree_stored(&s->tree, size, i) :
                (GpumeCudaStored) { .mvs = fields[i].leaves.mvs, .costs = fields[i].leaves.costs };
    for (int i = 0; i < s->nb_sizes && err == CUDA_SUCCESS; i++) {
        if (!i || !s->is_scanned)
            err = launch_kernels(s, i, fields, nb_fields, to, stream);
        if (err == CUDA_SUCCESS)
            err = ff_gpume_cuda_motion_launch(&s->motions[i], fields, nb_fields, to + i, intra, stream);
    }
    return err == CUDA_SUCCESS && s->params.tree ? ff_gpume_cuda_tree_launch(&s->tree, fields, nb_fields, stream) : err;
}

av_cold void ff_gpume_cuda_search_uninit(GpumeCudaSearch *s)
{
    for (int i = 0; i < GPUME_MAX_SIZES; i++) {
        ff_gpume_cuda_kernel_uninit(&s->kernels[i]);
        ff_gpume_cuda_motion_uninit(&s->motions[i]);
    }
    ff_gpume_cuda_tree_uninit(&s->tree);
}
