/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Blocks of several sizes: chooses leaves, given the fields of all sizes. See core/tree.h.
 */

#include "libavutil/attributes.h"
#include "libavutil/macros.h"
#include "libavutil/motion_vector.h"

#include "libavfilter/gpume/core/geometry.h"
#include "libavfilter/gpume/core/tree.h"
#include "libavfilter/gpume/cuda/search.h"

/** Alignment of arrays, in bytes. */
#define ALIGNMENT 256

static size_t nb_blocks(const GpumeCudaTree *t, int size)
{
    return (size_t)t->args.sizes[size].bw * t->args.sizes[size].bh;
}

GpumeCudaStored ff_gpume_cuda_tree_stored(const GpumeCudaTree *t, int size, int i)
{
    const size_t first = i * nb_blocks(t, size);

    return (GpumeCudaStored) { .mvs   = t->args.sizes[size].mvs   + first * sizeof(AVMotionVector),
                               .costs = t->args.sizes[size].costs + first * sizeof(uint32_t) };
}

/* Sets the addresses of the arrays of all fields of a launch. Returns their bytes. */
static av_cold size_t place(GpumeCudaTree *t, int nb_fields, CUdeviceptr base)
{
    GpumeCudaTreeArgs *a = &t->args;
    size_t size = 0;

    for (int i = 0; i < a->nb_sizes; i++) {
        const size_t nb = nb_fields * nb_blocks(t, i);

        a->sizes[i].mvs   = base + size;
        size             += FFALIGN(nb * sizeof(AVMotionVector), ALIGNMENT);
        a->sizes[i].costs = base + size;
        size             += FFALIGN(nb * sizeof(uint32_t), ALIGNMENT);
    }
    a->roots = base + size;
    return size + nb_fields * nb_blocks(t, a->nb_sizes - 1) * sizeof(GpumeCudaRoot);
}

av_cold int ff_gpume_cuda_tree_init(GpumeCudaTree *t, const GpumeCuda *cuda, const GpumeParams *params)
{
    const int nb_fields = FFMIN(params->nb_distances, GPUME_CUDA_FIELDS);
    GpumeCudaLaunch *const launches[] = { &t->decide, &t->write };
    GpumeCudaTreeArgs *a = &t->args;
    int nb_nodes = 0, ret;

    t->cuda     = cuda;
    a->width    = params->width;
    a->height   = params->height;
    a->block    = params->block;
    a->pel      = params->pel;
    a->nb_sizes = ff_gpume_nb_sizes(params);
    a->bit_cost = ff_gpume_bit_cost(params);
    for (int i = 0; i < a->nb_sizes; i++) {
        const GpumeParams p = ff_gpume_size_params(params, i);

        a->sizes[i].bw = p.bw;
        a->sizes[i].bh = p.bh;
    }
    t->nb_sums = FFALIGN(sizeof(GpumeCudaTreeSums) + a->sizes[a->nb_sizes - 1].bh * sizeof(unsigned), ALIGNMENT);
    for (int i = 0; i < a->nb_sizes; i++)
        nb_nodes += 1 << 2 * i;
    t->decide.threads = FFALIGN(nb_nodes, 32);
    t->decide.shared  = 4 * GPUME_CUDA_TREE_DECIDE_SHARED;
    t->write.threads  = FFALIGN(1 << 2 * (a->nb_sizes - 1), 32);
    t->write.shared   = 4 * GPUME_CUDA_TREE_WRITE_SHARED;
    for (int i = 0; i < FF_ARRAY_ELEMS(launches); i++) {
        launches[i]->grid[0] = a->sizes[a->nb_sizes - 1].bw;
        launches[i]->grid[1] = a->sizes[a->nb_sizes - 1].bh;
        ret = ff_gpume_cuda_load(cuda, launches[i],
                                 &ff_gpume_cuda_find_module(cuda, params, GPUME_CUDA_tree, 0, i)->code);
        if (ret < 0)
            return ret;
    }
    ret = ff_gpume_cuda_alloc(cuda, &t->work, GPUME_CUDA_DEVICE, place(t, nb_fields, 0), "fields");
    if (ret >= 0)
        place(t, nb_fields, t->work.data);
    return ret;
}

CUresult ff_gpume_cuda_tree_launch(GpumeCudaTree *t, const GpumeCudaSearchField *fields, int nb_fields,
                                   CUstream stream)
{
    GpumeCudaTreeArgs *a = &t->args;
    CUresult err;
    int nb = 0;

    for (; nb < nb_fields && fields[nb].is_stored; nb++) {
        const GpumeCudaLeaves *leaves = &fields[nb].leaves;

        a->mvs[nb]        = leaves->mvs;
        a->costs[nb]      = leaves->costs;
        a->leaf_sizes[nb] = leaves->sizes;
        a->blocks[nb]     = leaves->blocks;
        a->sums[nb]       = leaves->sums;
        a->rows[nb]       = leaves->sums + sizeof(GpumeCudaTreeSums);
    }
    err = ff_gpume_cuda_launch(t->cuda, &t->decide, nb, a, stream);
    return err == CUDA_SUCCESS ? ff_gpume_cuda_launch(t->cuda, &t->write, nb, a, stream) : err;
}

av_cold void ff_gpume_cuda_tree_uninit(GpumeCudaTree *t)
{
    ff_gpume_cuda_unload(t->cuda, &t->decide);
    ff_gpume_cuda_unload(t->cuda, &t->write);
    ff_gpume_cuda_free(&t->work);
}
