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
#define MODULE(name, family, depth, side, cost, variant) \
    { GPUME_CUDA_CODE(name), GPUME_CUDA_##family, depth, side, GPUME_COST_##cost, variant },
    GPUME_CUDA_MODULES(MODULE)
};

/* Every search has kernels of SAD: a row for each depth and side. */
#define COUNT(name, family, depth, side, cost, variant) \
    + (GPUME_COST_##cost == GPUME_COST_SAD && GPUME_CUDA_##family == COUNTED)
#define COUNTED GPUME_CUDA_pattern
static_assert(GPUME_CUDA_MODULES(COUNT) == 2 * 2 * 4, "pattern search");
#undef COUNTED
#define COUNTED GPUME_CUDA_wavefront
static_assert(GPUME_CUDA_MODULES(COUNT) == 2 * 2 * 4, "predictive search");
#undef COUNTED
#define COUNTED GPUME_CUDA_propagate
static_assert(GPUME_CUDA_MODULES(COUNT) == 2 * 2 * 4, "passes");

const GpumeCudaModule *ff_gpume_cuda_find_module(const GpumeParams *params, int family,
                                                 int side, int variant)
{
    for (int i = 0; i < FF_ARRAY_ELEMS(modules); i++) {
        const GpumeCudaModule *m = &modules[i];

        if (m->family == family && (!m->depth || m->depth == (params->depth > 8 ? 16 : 8)) &&
            m->side == side && m->cost == params->cost && m->variant == variant)
            return m;
    }
    return NULL;
}
