/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Lists the kernels of mvdenoise, one to a module.
 */

#ifndef AVFILTER_GPUME_MVDENOISE_MODULES_H
#define AVFILTER_GPUME_MVDENOISE_MODULES_H

/**
 * M(name, family, depth, variant): kernel gpume_<name> of <family>.cu for samples of 8 bits, of up
 * to 16 bits or, if depth is 0, of any depth. Variants of match: 1 for samples of more than 12
 * bits, 2 for devices with dp4a. Variants of stacks: the maximum number of patches of a stack, plus
 * 10 in the second pass. Each row is one line, because makefiles read it with sed.
 */
#define MVDENOISE_CUDA_MODULES(M) \
    M(mvdenoise_repeats,      repeats,   0, 0) \
    M(mvdenoise_halves_8,     halves,    8, 0) \
    M(mvdenoise_halves_16,    halves,   16, 0) \
    M(mvdenoise_measure_8,    measure,   8, 0) \
    M(mvdenoise_measure_16,   measure,  16, 0) \
    M(mvdenoise_estimate_8,   estimate,  8, 0) \
    M(mvdenoise_estimate_16,  estimate, 16, 0) \
    M(mvdenoise_match_8,      match,     8, 0) \
    M(mvdenoise_match_8_dp4a, match,     8, 2) \
    M(mvdenoise_match_12,     match,    16, 0) \
    M(mvdenoise_match_16,     match,    16, 1) \
    M(mvdenoise_first3_8,     stacks,    8, 3) \
    M(mvdenoise_first3_16,    stacks,   16, 3) \
    M(mvdenoise_first5_8,     stacks,    8, 5) \
    M(mvdenoise_first5_16,    stacks,   16, 5) \
    M(mvdenoise_first7_8,     stacks,    8, 7) \
    M(mvdenoise_first7_16,    stacks,   16, 7) \
    M(mvdenoise_first9_8,     stacks,    8, 9) \
    M(mvdenoise_first9_16,    stacks,   16, 9) \
    M(mvdenoise_second3_8,    stacks,    8, 13) \
    M(mvdenoise_second3_16,   stacks,   16, 13) \
    M(mvdenoise_second5_8,    stacks,    8, 15) \
    M(mvdenoise_second5_16,   stacks,   16, 15) \
    M(mvdenoise_second7_8,    stacks,    8, 17) \
    M(mvdenoise_second7_16,   stacks,   16, 17) \
    M(mvdenoise_second9_8,    stacks,    8, 19) \
    M(mvdenoise_second9_16,   stacks,   16, 19) \
    M(mvdenoise_combine_8,    combine,   8, 0) \
    M(mvdenoise_combine_16,   combine,  16, 0)

#endif /* AVFILTER_GPUME_MVDENOISE_MODULES_H */
