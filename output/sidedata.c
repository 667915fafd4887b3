/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/** @file Attaches vectors to frames as side data. */

#include "libavfilter/gpume/output/output.h"

static int wanted(const GpumeOutputConfig *cfg, const char **path)
{
    return 1;
}

/* Attaches the fields to the frame: the buffer of vectors becomes its side data. */
static int attach(void *priv, GpumeFile *file, GpumeResult *r, const GpumeStats *stats)
{
    return ff_gpume_fields_attach(r->frame, &r->set);
}

const GpumeOutput ff_gpume_output_sidedata = {
    .wanted = wanted,
    .write  = attach,
};
