/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The state of the deinterlacer in system memory, for its sources.
 */

#ifndef AVFILTER_GPUME_MVDEINT_CPU_H
#define AVFILTER_GPUME_MVDEINT_CPU_H

#include <stdatomic.h>

#include "libavfilter/gpume/field/cells.h"
#include "libavfilter/gpume/mvdeint/backend.h"
#include "libavfilter/gpume/mvdeint/samples.h"
#include "libavfilter/gpume/picture/padded.h"
#include "libavfilter/gpume/util/tasks.h"

/** Margin of compensated planes in samples: areas reach beyond the picture. */
#define AROUND 16

/** A component of compensated pictures: samples, and the share of known lines in each. */
typedef struct Matches {
    uint16_t *samples;          ///< memory
    uint8_t *known;             ///< that of the component before, if shares_known is set
    int shares_known;           ///< whether the component before has samples at the same places
    ptrdiff_t stride;           ///< in samples
    size_t size;                ///< size of one picture, in samples
} Matches;

/** A candidate of the current pass. */
typedef struct Candidate {
    GpumeCellField field;
    GpumeCellVector *cells;
    const AVFrame *picture;     ///< NULL: the candidate does not exist
    const uint32_t *costs;      ///< of all blocks
    int parity;
} Candidate;

typedef struct CPUBackend {
    const MvdeintConfig *cfg;
    const GpumeLayout *layout;
    GpumeCells cells;
    MvdeintSamples samples;
    AVBufferPool *pool;         ///< pool of estimates
    GpumePadded slots[MVDEINT_SLOTS];
    Matches matches[GPUME_COMPONENTS];
    Candidate candidates[MVDEINT_MAX_CANDIDATES];
    unsigned present;           ///< bit mask of the candidates that exist
    int noise;                  ///< what mvdeint_noise() returns
    int8_t *votes;              ///< votes of all areas of luma, candidate by candidate
    uint8_t *matching;          ///< for each area, a bit mask of the candidates that match in it and around it
    atomic_int nb_poor;         ///< number of areas where fewer than two candidates match
    uint8_t *scratch;           ///< scratch memory of each thread
    size_t scratch_size;

    /* the current work */
    const AVFrame *frame;
    GpumePadded *slot;
    const MvdeintFirst *first;  ///< the estimates of both fields of a frame
    const MvdeintStep *step;
    GpumeScheduler scheduler;
    GpumeTaskChain chain;
} CPUBackend;

/** Returns the number of areas of luma. */
static inline size_t nb_areas(const CPUBackend *s)
{
    return (s->cells.cols + 1) * (size_t)(s->cells.rows + 1);
}

/** Returns a component of an estimate. */
static inline GpumeSamples samples_of(const CPUBackend *s, const AVFrame *estimate, int component)
{
    const GpumeComponent *c = &s->layout->components[component];

    return (GpumeSamples) { estimate->data[component], estimate->linesize[component], c->w, c->h };
}

static inline const uint8_t *line_of(const GpumeSamples *s, int y)
{
    return s->first + y * s->stride;
}

/** Returns the sample (x, y) of a candidate's compensated component. */
static inline uint16_t *match_at(const CPUBackend *s, int component, int candidate, int x, int y)
{
    const Matches *m = &s->matches[component];

    return m->samples + candidate * m->size + (y + AROUND) * m->stride + x + AROUND;
}

static inline uint8_t *known_at(const CPUBackend *s, int component, int candidate, int x, int y)
{
    const Matches *m = &s->matches[component];

    return m->known + candidate * m->size + (y + AROUND) * m->stride + x + AROUND;
}

/** Adds the tasks that compensate the candidates of a pass and find where these match to the chain. */
void ff_mvdeint_cpu_match(CPUBackend *s);

#endif
