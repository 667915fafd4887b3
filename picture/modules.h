/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Lists the kernels that copy pictures for all filters, one to a module.
 */

#ifndef AVFILTER_GPUME_PICTURE_MODULES_H
#define AVFILTER_GPUME_PICTURE_MODULES_H

/**
 * M(name, family, depth): kernel gpume_<name> of <family>.cu, for samples of 8 or of up to 16
 * bits. One row a line: makefiles read it with sed.
 */
#define GPUME_PICTURE_MODULES(M) \
    M(picture_load_8,  load,  8) \
    M(picture_load_16, load, 16)

#endif /* AVFILTER_GPUME_PICTURE_MODULES_H */
