/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>

#include "libavutil/macros.h"

#include "libavfilter/gpume/cuda/modules.h"

#define DECLARE(name, ...) GPUME_CUDA_DECLARE(name)
GPUME_CUDA_MODULES(DECLARE)

static const GpumeCudaModule modules[] = {
#define MODULE(name, family, depth, variant, side, cost) \
    { GPUME_CUDA_CODE(name), GPUME_CUDA_##family, depth, variant, side, GPUME_COST_##cost },
    GPUME_CUDA_MODULES(MODULE)
};

/*
 * Every search has kernels for samples of one byte and of two: with SAD for each side, with other costs for any. Only
 * the scan has more, for 9 and 10 bits: most other searches they made less than 1.25 times as fast. Those of umh for
 * each side take up to 12 bits instead of 16, because keys of 64 bits made them up to 1.33 times slower.
 */
#define COUNT(name, family, depth, variant, side, cost) + (GPUME_CUDA_##family == COUNTED)
#define COUNTED GPUME_CUDA_pattern
static_assert(GPUME_CUDA_MODULES(COUNT) == 2 * (4 + GPUME_NB_COSTS - 1), "pattern search");
#undef COUNTED
#define COUNTED GPUME_CUDA_wavefront
static_assert(GPUME_CUDA_MODULES(COUNT) == 2 * 2 * (4 + GPUME_NB_COSTS - 1), "predictive search");
#undef COUNTED
#define COUNTED GPUME_CUDA_propagate
static_assert(GPUME_CUDA_MODULES(COUNT) == 2 * 2 * (4 + GPUME_NB_COSTS - 1), "passes");

/* Returns whether a kernel takes samples of this many bits and runs on the device. */
static int fits(const GpumeCudaModule *m, int bits, const GpumeCuda *cuda)
{
    /* absolute values of half-precision numbers need PTX 6.5, of CUDA 10.2 */
    if (m->depth == 10 && (cuda->capability < 53 || cuda->driver < 10020))
        return 0;
    return !m->depth || (m->depth == 8 ? bits == 8 : bits > 8 && bits <= m->depth);
}

const GpumeCudaModule *ff_gpume_cuda_find_module(const GpumeCuda *cuda, const GpumeParams *params, int family,
                                                 int side, int variant)
{
    const GpumeCudaModule *found = NULL;

    for (int i = 0; i < FF_ARRAY_ELEMS(modules); i++) {
        const GpumeCudaModule *m = &modules[i];

        if (m->family == family && fits(m, params->depth, cuda) &&
            m->side == side && m->variant == variant &&
            (m->cost == params->cost || m->cost == GPUME_COST_ANY) &&
            /* prefer the kernel for the fewest bits */
            (!found || m->depth < found->depth))
            found = m;
    }
    return found;
}
