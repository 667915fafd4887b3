/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Lists the kernels of mvdeint, one to a module.
 */

#ifndef AVFILTER_GPUME_MVDEINT_MODULES_H
#define AVFILTER_GPUME_MVDEINT_MODULES_H

/**
 * M(name, family, depth, variant): kernel gpume_<name> of <family>.cu, for samples of 8 or of up to 16 bits.
 * One row a line: makefiles read it with sed.
 */
#define MVDEINT_CUDA_MODULES(M) \
    M(mvdeint_first_8,    first,    8, 0) \
    M(mvdeint_first_16,   first,   16, 0) \
    M(mvdeint_edges_8,    edges,    8, 0) \
    M(mvdeint_edges_16,   edges,   16, 0) \
    M(mvdeint_round_8,    round,    8, 0) \
    M(mvdeint_round_16,   round,   16, 0) \
    M(mvdeint_match_8,    match,    8, 0) \
    M(mvdeint_match_16,   match,   16, 0) \
    M(mvdeint_matching,   matching, 0, 0) \
    M(mvdeint_combine_8,  combine,  8, 0) \
    M(mvdeint_combine_16, combine, 16, 0)

#endif /* AVFILTER_GPUME_MVDEINT_MODULES_H */
