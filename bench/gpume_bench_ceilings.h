/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Declarations that gpume_bench_ceilings.c and its kernels share.
 */

#ifndef GPUME_BENCH_CEILINGS_H
#define GPUME_BENCH_CEILINGS_H

#define GPUME_BENCH_ABSDIFF_THREADS 256
/** Number of independent chains of a thread, and of links of each chain; a link is an instruction on 4 bytes. */
#define GPUME_BENCH_ABSDIFF_CHAINS    8
#define GPUME_BENCH_ABSDIFF_LOOPS   512
#define GPUME_BENCH_ABSDIFF_UNROLL    8
#define GPUME_BENCH_ABSDIFF_EACH (GPUME_BENCH_ABSDIFF_CHAINS * GPUME_BENCH_ABSDIFF_LOOPS * \
                                  GPUME_BENCH_ABSDIFF_UNROLL)

#endif /* GPUME_BENCH_CEILINGS_H */
