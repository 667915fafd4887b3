/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */


/**
 * @file
 * What gpume_bench_ceilings.c and its kernels share.
 */

#ifndef GPUME_BENCH_CEILINGS_H
#define GPUME_BENCH_CEILINGS_H

#define GPUME_BENCH_ABSDIFF_THREADS 256
/** Independent chains of a thread, and links of each: an instruction of 4 bytes each. */
#define GPUME_BENCH_ABSDIFF_CHAINS    8
#define GPUME_BENCH_ABSDIFF_LOOPS   512
#define GPUME_BENCH_ABSDIFF_UNROLL    8
#define GPUME_BENCH_ABSDIFF_EACH (GPUME_BENCH_ABSDIFF_CHAINS * GPUME_BENCH_ABSDIFF_LOOPS * \
                                  GPUME_BENCH_ABSDIFF_UNROLL)

#endif /* GPUME_BENCH_CEILINGS_H */
