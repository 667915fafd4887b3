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

/* Every search has kernels for each depth: of SAD for each side, of other costs for any. */
#define COUNT(name, family, depth, variant, side, cost) + (GPUME_CUDA_##family == COUNTED)
#define COUNTED GPUME_CUDA_pattern
static_assert(GPUME_CUDA_MODULES(COUNT) == 2 * (2 * 4 + GPUME_NB_COSTS - 1), "pattern search");
#undef COUNTED
#define COUNTED GPUME_CUDA_wavefront
static_assert(GPUME_CUDA_MODULES(COUNT) == 2 * 2 * (4 + GPUME_NB_COSTS - 1), "predictive search");
#undef COUNTED
#define COUNTED GPUME_CUDA_propagate
static_assert(GPUME_CUDA_MODULES(COUNT) == 2 * 2 * (4 + GPUME_NB_COSTS - 1), "passes");

const GpumeCudaModule *ff_gpume_cuda_find_module(const GpumeParams *params, int family,
                                                 int side, int variant)
{
    for (int i = 0; i < FF_ARRAY_ELEMS(modules); i++) {
        const GpumeCudaModule *m = &modules[i];

        if (m->family == family && (!m->depth || m->depth == (params->depth > 8 ? 16 : 8)) &&
            m->side == side && m->variant == variant &&
            (m->cost == params->cost || m->cost == GPUME_COST_ANY))
            return m;
    }
    return NULL;
}
