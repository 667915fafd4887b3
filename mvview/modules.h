/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Lists the kernels of mvview, one to a module.
 */

#ifndef AVFILTER_GPUME_MVVIEW_MODULES_H
#define AVFILTER_GPUME_MVVIEW_MODULES_H

/**
 * M(name, family, depth, variant): kernel gpume_<name> of <family>.cu for samples of 8 bits, of up to 16
 * bits or, if depth is 0, of any depth. Each row is one line, because makefiles read it with sed.
 */
#define MVVIEW_CUDA_MODULES(M) \
    M(mvview_map,      map,    0, 0)  \
    M(mvview_paint_8,  paint,  8, 0)  \
    M(mvview_paint_16, paint, 16, 0)

#endif /* AVFILTER_GPUME_MVVIEW_MODULES_H */
