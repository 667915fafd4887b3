/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Searches of epzs follow each other block by block: a search reads vectors of the previous one as
 * soon as they are stored. It must never occupy the place of thread blocks that it waits for, so it
 * is launched behind this kernel, which ends once all thread blocks of the previous search have
 * begun.
 */

#include "libavfilter/gpume/cuda/module.cuh"

/**
 * grid:   1
 * block:  1
 * shared: none
 */
GPUME_KERNEL(1)
{
    const GpumeU32 *const ticket = (const GpumeU32 *)args.wavefront.ticket;

    while ((int)(gpume_load_volatile(ticket) - args.wavefront.first_ticket) < 0)
        ;
}
