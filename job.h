/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Work in parts.
 */

#ifndef AVFILTER_GPUME_JOB_H
#define AVFILTER_GPUME_JOB_H

/** Part number job of nb_jobs independent parts of a piece of work, on any thread. */
typedef void (*GpumeJob)(void *arg, int job, int nb_jobs);

#endif /* AVFILTER_GPUME_JOB_H */
