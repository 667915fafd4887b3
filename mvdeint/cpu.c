/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Deinterlaces pictures in system memory. All threads compute each step, in rows. match.c compensates the candidates.
 */

#include <stdatomic.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/buffer.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/intmath.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvdeint/cpu.h"

/** Buffers of a thread for a missing line. */
typedef struct Scratch {
    MvdeintSums sums;
    uint32_t *error[MVDEINT_MAX_CANDIDATES];
    uint32_t *squares, *activity, *step;
    uint8_t *line;
} Scratch;

/** Number of arrays of a Scratch with 32 bits for each sample, and bytes of a Scratch for each sample. */
enum { SCRATCH_ARRAYS = MVDEINT_MAX_CANDIDATES + 4, SCRATCH_BYTES = 4 * SCRATCH_ARRAYS + 4 };

static const MvdeintModel models[MVDEINT_MAX_PASSES] = { MVDEINT_MODELS };

static av_cold int init(void *priv, const void *config, const GpumeLayout *layout)
{
    CPUBackend *s = priv;

    s->cfg = config;
    s->scheduler.executor = s->cfg->executor;
    return 0;
}

static void forget(CPUBackend *s)
{
    for (int i = 0; i < MVDEINT_SLOTS; i++)
        ff_gpume_padded_free(&s->slots[i]);
    for (int i = 0; i < GPUME_COMPONENTS; i++) {
        av_freep(&s->matches[i].samples);
        if (!s->matches[i].shares_known)
            av_freep(&s->matches[i].known);
    }
    for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++)
        av_freep(&s->candidates[i].cells);
    av_freep(&s->votes);
    av_freep(&s->matching);
    av_freep(&s->scratch);
    av_buffer_pool_uninit(&s->pool);
}

static av_cold void uninit(void *priv)
{
    forget(priv);
}

static int alloc_matches(CPUBackend *s)
{
    const GpumeLayout *l = s->layout;
    const size_t nb = 2 * s->cfg->refs;

    s->votes    = av_malloc_array(MVDEINT_MAX_CANDIDATES, nb_areas(s));
    s->matching = av_malloc(nb_areas(s));
    if (!s->votes || !s->matching)
        return AVERROR(ENOMEM);

    for (int i = 0; i < l->nb_components; i++) {
        Matches *m = &s->matches[i];

        /* as with both components of chroma */
        m->shares_known = i && l->components[i].hsub == l->components[i - 1].hsub &&
                          l->components[i].vsub == l->components[i - 1].vsub;
        m->stride  = FFALIGN(l->components[i].w + 2 * AROUND, 32);
        m->size    = m->stride * (l->components[i].h + 2 * AROUND);
        /* vectors also read what is beyond a row */
        m->samples = av_calloc(nb * m->size + 32, sizeof(*m->samples));
        m->known   = m->shares_known ? m[-1].known : av_mallocz(nb * m->size + 32);
        if (!m->samples || !m->known)
            return AVERROR(ENOMEM);
    }
    return 0;
}

static int set_layout(void *priv, const GpumeLayout *l)
{
    CPUBackend *s = priv;
    GpumePadded place = { 0 };
    int ret;

    forget(s);
    s->layout = l;
    s->cells  = gpume_cells(l->w, l->h, 3, MVDEINT_BLOCK / 2);
    ff_mvdeint_samples_init(&s->samples, l->depth);
    s->pool         = av_buffer_pool_init(ff_gpume_padded_place(&place, l, NULL), av_buffer_allocz);
    s->scratch_size = FFALIGN(l->w + 2 * MVDEINT_ROW_PAD, 32) * (size_t)SCRATCH_BYTES;
    s->scratch      = av_calloc(s->cfg->executor.nb_threads, s->scratch_size);
    if (!s->pool || !s->scratch)
        return AVERROR(ENOMEM);
    for (int i = 0; i < 2 * s->cfg->refs; i++) {
        Candidate *c = &s->candidates[i];

        c->cells = av_malloc_array(s->cells.cols * (size_t)s->cells.rows, sizeof(*c->cells));
        if (!c->cells)
            return AVERROR(ENOMEM);
    }
    for (int i = 0; i < MVDEINT_SLOTS; i++) {
        ret = ff_gpume_padded_alloc(&s->slots[i], l);
        if (ret < 0)
            return ret;
    }
    return s->cfg->passes ? alloc_matches(s) : 0;
}

static AVFrame *alloc(void *priv)
{
    const CPUBackend *s = priv;

    return ff_gpume_padded_frame(s->pool, s->layout);
}

static void load_parts(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;
    const int nb  = ff_gpume_nb_parts(s->cfg->executor.nb_threads, s->layout->h);

    for (; start < end; start++)
        ff_gpume_padded_load(s->slot, s->layout, s->frame, start, nb);
}

static int load(void *priv, int slot, const AVFrame *frame, int later)
{
    CPUBackend *s = priv;

    s->slot  = &s->slots[slot];
    s->frame = frame;
    ff_gpume_chain_add(&s->chain, load_parts, s, ff_gpume_nb_parts(s->cfg->executor.nb_threads, s->layout->h));
    if (!later)
        ff_gpume_chain_run(&s->chain, &s->scheduler);
    return 0;
}

/* Units are pairs of lines, component by component. Returns their number; the next function finds a unit. */
static int count_pairs(const GpumeLayout *l)
{
    int nb = 0;

    for (int i = 0; i < l->nb_components; i++)
        nb += (l->components[i].h + 1) / 2;
    return nb;
}

static int find_pair(const GpumeLayout *l, int unit, int *component)
{
    for (*component = 0; unit >= (l->components[*component].h + 1) / 2; ++*component)
        unit -= (l->components[*component].h + 1) / 2;
    return 2 * unit;
}

static Scratch scratch_of(const CPUBackend *s, int worker)
{
    const size_t row = FFALIGN(s->layout->w + 2 * MVDEINT_ROW_PAD, 32);
    uint32_t *next = (uint32_t *)(s->scratch + worker * s->scratch_size) + MVDEINT_ROW_PAD;
    Scratch z;

    for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++)
        z.error[i] = next + i * row;
    next += MVDEINT_MAX_CANDIDATES * row;
    z.sums.squares = next;
    z.squares      = next + row;
    z.activity     = next + 2 * row;
    z.step         = next + 3 * row;
    z.sums.weights = (uint16_t *)(next + 4 * row - MVDEINT_ROW_PAD) + MVDEINT_ROW_PAD;
    z.line         = (uint8_t *)(z.sums.weights - MVDEINT_ROW_PAD + row);
    return z;
}

/* Interpolates a missing line within its field. */
static void intra_line(const CPUBackend *s, const MvdeintFirst *f, int component, int y)
{
    const GpumeSamples out  = samples_of(s, f->intra, component);
    const GpumeSamples *own = &s->slots[f->frame].components[component];
    const int above = mvdeint_above(y), below = mvdeint_below(y, out.h);
    const uint8_t *lines[MVDEINT_INTRA_LINES] = {
        line_of(own, y >= 3 ? y - 3 : above), line_of(own, above), line_of(own, below),
        line_of(own, y + 3 < out.h ? y + 3 : below),
    };

    s->samples.intra((uint8_t *)line_of(&out, y), lines, out.w, s->layout->depth);
}

/* Computes a missing line of the estimate, with the interpolation within its field. */
static void estimate_line(const CPUBackend *s, const MvdeintFirst *f, int worker, int component, int y)
{
    const int h = s->layout->components[component].h;
    const GpumeSamples out = samples_of(s, f->out, component), intra = samples_of(s, f->intra, component);
    const GpumeSamples *own    = &s->slots[f->frame].components[component];
    const GpumeSamples *before = &s->slots[f->before].components[component];
    const GpumeSamples *after  = &s->slots[f->after].components[component];
    const int above = mvdeint_above(y), below = mvdeint_below(y, h), depth = s->layout->depth;
    MvdeintLines l = {
        .above  = line_of(own, above), .below = line_of(own, below),
        .above3 = line_of(own, y > 2 ? y - 3 : y + 1), .below3 = line_of(own, y + 3 < h ? y + 3 : y - 1),
        .before_above = line_of(before, above), .before_below = line_of(before, below),
        .after_above  = line_of(after, above),  .after_below  = line_of(after, below),
    };
    enum MvdeintKind kind = f->is_alone            ? MVDEINT_ALONE :
                            y >= 4 && y + 5 <= h   ? MVDEINT_ALL :
                            y >= 2 && y + 3 <= h   ? MVDEINT_NEAR : MVDEINT_NEAREST;
    uint8_t *line = (uint8_t *)line_of(&out, y), *reach = (uint8_t *)line_of(&intra, y ^ 1);

    /* the repeated edges are wide enough */
    for (int i = 0; i < 5; i++) {
        l.earlier[i] = line_of(f->is_second ? own : before, y + 2 * i - 4);
        l.later[i]   = line_of(f->is_second ? after : own,  y + 2 * i - 4);
    }
    s->samples.estimate(line, reach, &l, out.w, kind, (1 << depth) - 1);
    intra_line(s, f, component, y);
    if (f->is_alone)
        return;
    /* the rows of errors follow each other, and are not in use yet */
    s->samples.mix(line, line_of(&intra, y), reach, &l, (MvdeintChange *)scratch_of(s, worker).error[0], out.w, depth);
    s->samples.weave(line, &l, scratch_of(s, worker).error[0], out.w, depth);
}

/* Units are pairs of lines of the first field, then of the second. */
static void estimate_pairs(void *arg, int worker, int start, int end)
{
    const CPUBackend *s = arg;
    const int nb = count_pairs(s->layout);

    for (; start < end; start++) {
        const MvdeintFirst *f = &s->first[start / nb];
        int component, first  = find_pair(s->layout, start % nb, &component);
        const GpumeSamples out  = samples_of(s, f->out, component);
        const GpumeSamples *own = &s->slots[f->frame].components[component];

        for (int y = first; y < FFMIN(first + 2, out.h); y++) {
            if (f->is_progressive || (y & 1) == f->parity) {
                memcpy((uint8_t *)line_of(&out, y), line_of(own, y), out.w * (size_t)s->layout->bytes);
            } else {
                estimate_line(s, f, worker, component, y);
            }
            ff_gpume_padded_repeat(&out, s->layout->bytes, y);
        }
    }
}

static int estimate(void *priv, const MvdeintFirst first[2])
{
    CPUBackend *s = priv;

    s->first = first;
    ff_gpume_chain_add(&s->chain, estimate_pairs, s, 2 * count_pairs(s->layout));
    ff_gpume_chain_run(&s->chain, &s->scheduler);
    return 0;
}

/* Returns the missing line of a pair of lines, which can be beyond the last line. */
static int missing_line(const CPUBackend *s, int first)
{
    return first + !s->step->parities[MVDEINT_MAX_REFS];
}

/* Measures the field's own lines around a missing line, and adds the residuals to the candidates' samples. */
static void measure_line(const CPUBackend *s, Scratch *z, int component, int y)
{
    const GpumeSamples own = samples_of(s, s->step->estimates[MVDEINT_MAX_REFS], component);
    const int depth = s->layout->depth;
    const int around[2] = { mvdeint_above(y), mvdeint_below(y, own.h) };
    const uint8_t *lines[2] = { line_of(&own, around[0]), line_of(&own, around[1]) };

    memset(z->squares, 0, own.w * sizeof(*z->squares));
    for (int i = 0; i < 2; i++)
        s->samples.add_activity(z->squares, lines[i],
                                line_of(&own, mvdeint_two_above(around[i], around[i] + 2)),
                                line_of(&own, mvdeint_two_below(around[i], own.h, around[i] - 2)), own.w, depth);
    s->samples.mean_activity(z->activity, z->squares, own.w);
    s->samples.square_step(z->step, lines[0], lines[1], own.w, depth);
    for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++) {
        const uint16_t *samples[2];
        const uint8_t *known[2];

        if (!s->candidates[i].picture)
            continue;
        for (int j = 0; j < 2; j++) {
            samples[j] = match_at(s, component, i, 0, around[j]);
            known[j]   = known_at(s, component, i, 0, around[j]);
        }
        s->samples.residual(match_at(s, component, i, 0, y), samples[0], samples[1], lines[0], lines[1], own.w, depth);
        s->samples.errors(&z->sums, lines, samples, known, own.w, depth);
        s->samples.mean(z->error[i], &z->sums, own.w);
    }
}

/* Returns the candidates that match on a line in area i, and finds the samples of the area. */
static unsigned find_area(const CPUBackend *s, int component, int y, int i, int *start, int *end)
{
    const GpumeComponent *c = &s->layout->components[component];

    *start = FFMAX((MVDEINT_BLOCK * i - MVDEINT_BLOCK / 2) >> c->hsub, 0);
    *end   = FFMIN((MVDEINT_BLOCK * i + MVDEINT_BLOCK / 2) >> c->hsub, c->w);
    return s->matching[((y << c->vsub) + MVDEINT_BLOCK / 2) / MVDEINT_BLOCK * (s->cells.cols + 1) + i];
}

/* Sets the errors of candidates that do not match. */
static void reject(const CPUBackend *s, Scratch *z, int component, int y)
{
    for (int i = 0; i < s->cells.cols + 1; i++) {
        int start, end;
        const unsigned rejected = s->present & ~find_area(s, component, y, i, &start, &end);

        for (int j = 0; j < MVDEINT_MAX_CANDIDATES && rejected; j++)
            for (int x = start; x < end && (rejected >> j & 1); x++)
                z->error[j][x] = FFMAX(z->error[j][x], MVDEINT_NO_MATCH);
    }
}

/* Replaces the errors of candidates at distance 1 by those at distance 2 on the same side, where these are less. */
static void take_least(const CPUBackend *s, Scratch *z, int w)
{
    for (int i = 0; i < 2; i++) {
        uint32_t *error = z->error[i];
        const uint32_t *other = z->error[i + 2];
        const int has_both    = (s->present >> i & 5) == 5;

        for (int x = 0; x < w && has_both; x++)
            error[x] = FFMIN(error[x], other[x]);
    }
}

/* Replaces samples with too few candidates by the first estimate. */
static void keep_first(const CPUBackend *s, int component, int y, uint8_t *dst, const uint8_t *first)
{
    const int is_poor = 2 * (size_t)atomic_load(&s->nb_poor) > nb_areas(s);
    const int least   = mvdeint_least_matches(is_poor, av_popcount(s->present)), bytes = s->layout->bytes;

    for (int i = 0; i < s->cells.cols + 1; i++) {
        int start, end;

        if (av_popcount(find_area(s, component, y, i, &start, &end)) < least && end > start)
            memcpy(dst + start * bytes, first + start * bytes, (end - start) * (size_t)bytes);
    }
}

/* Computes a missing line. */
static void combine_line(const CPUBackend *s, Scratch *z, int component, int y, uint8_t *dst)
{
    const MvdeintStep *step = s->step;
    const GpumeSamples first = samples_of(s, step->first, component), intra = samples_of(s, step->intra, component);
    MvdeintRow row = {
        .w = first.w, .depth = s->layout->depth, .present = s->present, .first = line_of(&first, y),
        .intra = line_of(&intra, y), .activity = z->activity, .step = z->step, .model = &models[step->pass],
        .reach = line_of(&intra, y ^ 1),
    };

    measure_line(s, z, component, y);
    if (s->present)
        reject(s, z, component, y);
    take_least(s, z, first.w);
    for (int i = 0; i < MVDEINT_MAX_CANDIDATES && s->present; i++) {
        const int from = s->present >> i & 1 ? i : s->present >> (i ^ 1) & 1 ? i ^ 1 : ff_ctz(s->present);

        row.candidates[i] = (MvdeintCandidate) {
            .samples = match_at(s, component, from, 0, y), .known = known_at(s, component, from, 0, y),
            .error = z->error[from],
        };
    }
    s->samples.combine(dst, &row);
    s->samples.limit(dst, &row);
    if (s->present)
        keep_first(s, component, y, dst, row.first);
}

static void combine_pairs(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;
    Scratch z = scratch_of(s, worker);

    for (; start < end; start++) {
        int component, first = find_pair(s->layout, start, &component);
        const GpumeSamples own = samples_of(s, s->step->estimates[MVDEINT_MAX_REFS], component);

        for (int y = first; y < FFMIN(first + 2, own.h); y++) {
            const uint8_t *line = line_of(&own, y);

            if (y == missing_line(s, first)) {
                combine_line(s, &z, component, y, z.line);
                line = z.line;
            }
            if (s->step->frame) {
                ff_gpume_store_row(s->step->frame, s->layout, component, y, line);
            } else {
                const GpumeSamples out = samples_of(s, s->step->out, component);

                memcpy((uint8_t *)line_of(&out, y), line, out.w * (size_t)s->layout->bytes);
                ff_gpume_padded_repeat(&out, s->layout->bytes, y);
            }
        }
    }
}

/* Finds the neighbouring fields that have a motion field: at distances -1, 1, -2, 2. */
static void find_candidates(CPUBackend *s, const MvdeintStep *step)
{
    s->present = 0;
    for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++) {
        const int distance = i & 1 ? i / 2 + 1 : -(i / 2) - 1;
        const GpumeMotionField *field = gpume_field_at(step->set->host, step->set->nb, distance);
        Candidate *c = &s->candidates[i];

        c->picture = field ? step->estimates[MVDEINT_MAX_REFS + distance] : NULL;
        if (!c->picture)
            continue;
        c->field = (GpumeCellField) {
            .cells = s->cells, .distance = distance, .source = gpume_cell_source(field),
            .nb = field->bw * (size_t)field->bh,
        };
        c->costs    = (const uint32_t *)(uintptr_t)field->costs;
        c->parity   = step->parities[MVDEINT_MAX_REFS + distance];
        s->present |= 1u << i;
    }
}

static int make(void *priv, const MvdeintStep *step)
{
    CPUBackend *s = priv;

    s->step = step;
    find_candidates(s, step);
    if (s->present)
        ff_mvdeint_cpu_match(s);
    ff_gpume_chain_add(&s->chain, combine_pairs, s, count_pairs(s->layout));
    ff_gpume_chain_run(&s->chain, &s->scheduler);
    return 0;
}

static int put(void *priv, AVFrame *frame, const AVFrame *estimate)
{
    CPUBackend *s = priv;

    for (int i = 0; i < s->layout->nb_components; i++) {
        const GpumeSamples from = samples_of(s, estimate, i);

        for (int y = 0; y < from.h; y++)
            ff_gpume_store_row(frame, s->layout, i, y, line_of(&from, y));
    }
    return 0;
}

const MvdeintBackend ff_mvdeint_backend_cpu = {
    .common = {
        .hw_format = AV_PIX_FMT_NONE, .priv_size = sizeof(CPUBackend),
        .init = init, .set_layout = set_layout, .uninit = uninit,
    },
    .load       = load,
    .alloc      = alloc,
    .estimate   = estimate,
    .make       = make,
    .put        = put,
};
