/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Lists the kernels of mvstab, one to a module.
 */

#ifndef AVFILTER_GPUME_MVSTAB_MODULES_H
#define AVFILTER_GPUME_MVSTAB_MODULES_H

/**
 * M(name, family, depth, variant): kernel gpume_<name> of <family>.cu, for samples of 8 or of up to 16 bits.
 * One row a line: makefiles read it with sed.
 */
#define MVSTAB_CUDA_MODULES(M) \
    M(mvstab_tensor_8,  tensor,  8, 0) \
    M(mvstab_tensor_16, tensor, 16, 0) \
    M(mvstab_warp_8,    warp,    8, 0) \
    M(mvstab_warp_16,   warp,   16, 0)

#endif /* AVFILTER_GPUME_MVSTAB_MODULES_H */
