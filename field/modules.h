/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Lists the kernels that read motion fields for all filters, one to a module.
 */

#ifndef AVFILTER_GPUME_FIELD_MODULES_H
#define AVFILTER_GPUME_FIELD_MODULES_H

/**
 * M(name, family, depth, variant): kernel gpume_<name> of <family>.cu, for samples of any depth (0).
 * Variant 0 makes maps of lists, variant 1 makes cells. One row a line: makefiles read it with sed.
 */
#define GPUME_FIELD_MODULES(M) \
    M(field_map,   cells, 0, 0) \
    M(field_cells, cells, 0, 1)

#endif /* AVFILTER_GPUME_FIELD_MODULES_H */
