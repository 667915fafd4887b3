/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Denoises pictures in system memory. All threads compute each step, in rows.
 */

#include <assert.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/cpu/pixels.h"
#include "libavfilter/gpume/field/cells.h"
#include "libavfilter/gpume/mvdenoise/backend.h"
#include "libavfilter/gpume/mvdenoise/stack.h"
#include "libavfilter/gpume/mvdenoise/unclip.h"
#include "libavfilter/gpume/picture/interpolation.h"
#include "libavfilter/gpume/util/tasks.h"

/** Margin around a component in which half samples are made, and additional samples of rows of sums. */
#define MARGIN          14
#define HALVES_AROUND   (2 * MARGIN + 5)

/* make_halves() writes this many values from row to row; the values after a row do not belong to the next row */
static_assert(2 * GPUME_PAD - HALVES_AROUND >= GPUME_PIXELS_SLACK, "rows of half samples touch");

/** A picture and data derived from it. */
typedef struct Slot {
    GpumePadded noisy[GPUME_NB_PLANES], pilot[GPUME_NB_PLANES];
    MvdenoiseSource noisy_sources[GPUME_COMPONENTS], pilot_sources[GPUME_COMPONENTS];
    GpumeCellVector *cells[MVDENOISE_MAX_STACK];
} Slot;

typedef struct CPUBackend {
    const MvdenoiseConfig *cfg;
    const GpumeLayout *layout;
    GpumeCells cells;
    MvdenoiseSamples samples;
    MvdenoiseTransform transform;
    GpumePixels pixels;
    Slot slots[MVDENOISE_MAX_SLOTS];
    GpumeCellField fields[MVDENOISE_MAX_STACK];
    GpumeCellVector *matches[MVDENOISE_MAX_RADIUS + 1];     ///< of the first pass: by picture of the window, patch
    size_t first[GPUME_COMPONENTS];     ///< number of patches of the components before each
    size_t nb_patches;                  ///< and of all

    /* results of each component */
    MvdenoiseResults results[GPUME_COMPONENTS];
    MvdenoiseBlock *blocks[GPUME_COMPONENTS];
    uint8_t *halved[GPUME_COMPONENTS];
    uint16_t *means;
    uint8_t *scratch;           ///< scratch memory of each thread
    size_t scratch_size;

    /* the current work */
    Slot *slot;
    const Slot *before;         ///< slot of the previous picture, if there are vectors into it
    const AVFrame *frame;
    MvdenoiseMeasure *measures;
    const GpumePadded *copies;  ///< copies from which half samples are made
    const MvdenoiseStep *step;
    MvdenoiseWindow window;
    GpumeScheduler scheduler;
    GpumeTaskChain chain;
} CPUBackend;

static av_cold int init(void *priv, const void *config, const GpumeLayout *layout)
{
    CPUBackend *s = priv;

    s->cfg = config;
    s->scheduler.executor = s->cfg->executor;
    return 0;
}

static void forget(CPUBackend *s)
{
    for (int i = 0; i < MVDENOISE_MAX_SLOTS; i++) {
        for (int j = 0; j < GPUME_NB_PLANES; j++) {
            ff_gpume_padded_free(&s->slots[i].noisy[j]);
            ff_gpume_padded_free(&s->slots[i].pilot[j]);
        }
        for (int j = 0; j < MVDENOISE_MAX_STACK; j++)
            av_freep(&s->slots[i].cells[j]);
    }
    for (int i = 0; i < MVDENOISE_MAX_STACK; i++)
        ff_gpume_cells_free(&s->fields[i]);
    for (int i = 0; i < GPUME_COMPONENTS; i++) {
        av_freep(&s->results[i].samples);
        av_freep(&s->results[i].weights);
        av_freep(&s->blocks[i]);
        av_freep(&s->halved[i]);
    }
    for (int i = 0; i < FF_ARRAY_ELEMS(s->matches); i++)
        av_freep(&s->matches[i]);
    av_freep(&s->means);
    av_freep(&s->scratch);
}

static av_cold void uninit(void *priv)
{
    forget(priv);
}

static size_t nb_patches(const GpumeComponent *c, int log2_step)
{
    return mvdenoise_cols(c->w) * (size_t)mvdenoise_rows(c->h, log2_step);
}

static size_t nb_blocks(const GpumeComponent *c)
{
    return (c->w / MVDENOISE_PATCH) * (size_t)(c->h / MVDENOISE_PATCH);
}

static int set_layout(void *priv, const GpumeLayout *l)
{
    CPUBackend *s = priv;

    forget(s);
    s->layout = l;
    s->cells  = gpume_cells(l->w, l->h, MVDENOISE_LOG2_CELL, 1 << MVDENOISE_LOG2_CELL >> 1);
    ff_mvdenoise_samples_init(&s->samples, l->depth);
    ff_mvdenoise_transform_init(&s->transform, l->depth);
    ff_gpume_pixels_init(&s->pixels, l->depth);
    if (s->cells.cols * (int64_t)s->cells.rows > INT_MAX / 64)
        return AVERROR(ENOMEM);
    /* sums, weights, and a row of samples; or sums for half samples; or 8 rows of halved samples */
    s->scratch_size = FFALIGN((l->w + 2 * MVDENOISE_PATCH) * (size_t)16 + 4 * (HALVES_AROUND + GPUME_PIXELS_SLACK), 64);
    s->scratch = av_malloc_array(s->cfg->executor.nb_threads, s->scratch_size);
    s->means   = av_malloc(nb_blocks(&l->components[0]) * sizeof(*s->means) + 1);
    if (!s->scratch || !s->means)
        return AVERROR(ENOMEM);
    s->nb_patches = 0;
    for (int i = 0; i < l->nb_components; i++) {
        const GpumeComponent *c = &l->components[i];
        const size_t nb = nb_patches(c, mvdenoise_log2_step(s->cfg));

        s->first[i]    = s->nb_patches;
        s->nb_patches += nb;
        s->results[i].samples = av_malloc_array(nb, sizeof(*s->results[i].samples));
        s->results[i].weights = av_malloc_array(nb, sizeof(*s->results[i].weights));
        s->blocks[i]          = av_malloc(nb_blocks(c) * sizeof(**s->blocks) + 1);
        s->halved[i]          = av_malloc(nb_blocks(c) / 4 * sizeof(**s->halved) + 1);
        if (!s->results[i].samples || !s->results[i].weights || !s->blocks[i] || !s->halved[i])
            return AVERROR(ENOMEM);
    }
    return 0;
}

/* Units are rows, component by component. Returns the row of a unit and sets its component. */
static int find_row(const CPUBackend *s, int (*nb_rows)(const GpumeComponent *), int unit, int *component)
{
    for (*component = 0; unit >= nb_rows(&s->layout->components[*component]); ++*component)
        unit -= nb_rows(&s->layout->components[*component]);
    return unit;
}

static int count_rows(const CPUBackend *s, int (*nb_rows)(const GpumeComponent *))
{
    int nb = 0;

    for (int i = 0; i < s->layout->nb_components; i++)
        nb += nb_rows(&s->layout->components[i]);
    return nb;
}

/* Steps in rows: half samples, patches, results, measured blocks. */

static int half_rows(const GpumeComponent *c)
{
    return c->h + 2 * MARGIN;
}

static int patch_rows(const GpumeComponent *c)
{
    return mvdenoise_rows(c->h, MVDENOISE_LOG2_STEP);
}

static int dense_rows(const GpumeComponent *c)
{
    return mvdenoise_rows(c->h, MVDENOISE_LOG2_STEP - 1);
}

static int (*patch_rows_of(const MvdenoiseConfig *cfg))(const GpumeComponent *c)
{
    return cfg->dense ? dense_rows : patch_rows;
}

static int sample_rows(const GpumeComponent *c)
{
    return c->h;
}

static int block_rows(const GpumeComponent *c)
{
    return c->h / MVDENOISE_PATCH;
}

static int halved_rows(const GpumeComponent *c)
{
    return c->h / (2 * MVDENOISE_PATCH);
}

static void map_fields(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    for (; start < end; start++)
        ff_gpume_cells_map(&s->fields[start]);
}

static void load_parts(void *arg, int worker, int start, int end)
{
    CPUBackend *s  = arg;
    const int rows = s->cells.rows, nb = ff_gpume_nb_parts(s->cfg->executor.nb_threads, rows);

    for (; start < end; start++) {
        ff_gpume_padded_load(&s->slot->noisy[GPUME_PLANE_WHOLE], s->layout, s->frame, start, nb);
        for (int i = 0; i < 2 * s->cfg->radius + 1; i++)
            if (s->fields[i].nb)
                ff_gpume_cells_fill(&s->fields[i], s->slot->cells[i], gpume_first_row(rows, start, nb),
                                    gpume_first_row(rows, start + 1, nb));
    }
}

/* values after the last half sample precede the first of the next row */
static void make_halves(void *arg, int worker, int start, int end)
{
    CPUBackend *s   = arg;
    const int bytes = s->layout->bytes, max = (1 << s->layout->depth) - 1;
    uint8_t *sums   = s->scratch + worker * s->scratch_size;

    for (; start < end; start++) {
        int component, y = find_row(s, half_rows, start, &component) - MARGIN;
        const GpumeSamples *whole = &s->copies[GPUME_PLANE_WHOLE].components[component];
        const ptrdiff_t first     = y * whole->stride - (MARGIN + 2) * bytes;
        uint8_t *dst[GPUME_NB_PLANES];
        const uint8_t *rows[6];

        for (int i = 0; i < GPUME_NB_PLANES; i++)
            dst[i] = s->copies[i].components[component].first + first;
        for (int i = 0; i < 6; i++)
            rows[i] = dst[GPUME_PLANE_WHOLE] + (i - 2) * whole->stride;
        s->pixels.right(dst[GPUME_PLANE_RIGHT] + 2 * bytes, rows[2], whole->w + 2 * MARGIN, max);
        s->pixels.below(dst[GPUME_PLANE_BELOW], sums, rows, whole->w + HALVES_AROUND, max);
        s->pixels.centre(dst[GPUME_PLANE_CENTRE] + 2 * bytes, sums, whole->w + 2 * MARGIN, max);
    }
}

/* Finds the matches of a row of measured blocks in the previous picture, at whole samples. */
static void find_matches(const CPUBackend *s, const uint8_t **matches, int component, int row)
{
    const GpumeComponent *l = &s->layout->components[component];
    const GpumeSamples *c   = &s->before->noisy[GPUME_PLANE_WHOLE].components[component];
    const int half = MVDENOISE_PATCH / 2, cols = c->w / MVDENOISE_PATCH, y = MVDENOISE_PATCH * row;
    const GpumeCellVector *cells = s->slot->cells[s->cfg->radius - 1] +
                                   FFMIN((y + half) << l->vsub >> s->cells.log2_side, s->cells.rows - 1) *
                                   (size_t)s->cells.cols;

    for (int i = 0; i < cols; i++) {
        const int x = MVDENOISE_PATCH * i;
        const GpumeCellVector v = cells[FFMIN((x + half) << l->hsub >> s->cells.log2_side, s->cells.cols - 1)];

        matches[i] = v.x == GPUME_NO_VECTOR ? NULL :
                     c->first + mvdenoise_inside(y + mvdenoise_whole(v.y, l->vsub), c->h) * c->stride +
                     mvdenoise_inside(x + mvdenoise_whole(v.x, l->hsub), c->w) * s->layout->bytes;
    }
}

static void measure_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s           = arg;
    const uint8_t **matches = (const uint8_t **)(s->scratch + worker * s->scratch_size);

    for (; start < end; start++) {
        int component, y = find_row(s, block_rows, start, &component);
        const GpumeSamples *c = &s->slot->noisy[GPUME_PLANE_WHOLE].components[component];
        const int cols        = c->w / MVDENOISE_PATCH, wanted = s->measures[component].wanted;

        if (wanted && s->before)
            find_matches(s, matches, component, y);
        ff_mvdenoise_measure(wanted ? s->blocks[component] + y * (size_t)cols : NULL,
                             component ? NULL : s->means + y * (size_t)cols,
                             c->first + y * MVDENOISE_PATCH * c->stride, s->before ? matches : NULL, c->stride, cols,
                             s->layout->depth);
    }
}

static void measure_halved(void *arg, int worker, int start, int end)
{
    CPUBackend *s    = arg;
    uint8_t *samples = s->scratch + worker * s->scratch_size;

    for (; start < end; start++) {
        int component, y = find_row(s, halved_rows, start, &component);
        const GpumeSamples *c = &s->slot->noisy[GPUME_PLANE_WHOLE].components[component];
        const int cols        = c->w / (2 * MVDENOISE_PATCH);

        if (!s->measures[component].wanted)
            continue;
        ff_mvdenoise_measure_halved(s->halved[component] + y * (size_t)cols, samples,
                                    c->first + y * 2 * MVDENOISE_PATCH * c->stride, c->stride, cols, s->layout->depth);
    }
}

static int alloc_copies(GpumePadded *copies, MvdenoiseSource *sources, const GpumeLayout *l)
{
    int ret = 0;

    for (int i = 0; i < GPUME_NB_PLANES && ret >= 0; i++)
        if (!copies[i].memory)
            ret = ff_gpume_padded_alloc(&copies[i], l);
    if (ret >= 0)
        ff_mvdenoise_sources(sources, copies, l);
    return ret;
}

/* Finds the fields of a frame, and allocates their cells. */
static int find_fields(CPUBackend *s, Slot *slot, const AVFrame *frame, int *has)
{
    const int radius = s->cfg->radius;
    int ret;

    for (int i = 0; i < 2 * radius + 1; i++) {
        has[i] = i != radius && ff_gpume_cells_find(&s->fields[i], &s->cells, frame, i - radius);
        if (!has[i])
            continue;
        if (!slot->cells[i])
            slot->cells[i] = av_malloc_array(s->cells.cols * (size_t)s->cells.rows, sizeof(**slot->cells));
        if (!slot->cells[i])
            return AVERROR(ENOMEM);
        ret = ff_gpume_cells_alloc(&s->fields[i]);
        if (ret < 0)
            return ret;
    }
    return 0;
}

static int load(void *priv, int slot, const AVFrame *frame, const AVFrame *samples, int before, int *has,
                MvdenoiseMeasure *measures)
{
    CPUBackend *s = priv;
    int ret;

    s->slot     = &s->slots[slot];
    s->frame    = samples;
    s->measures = measures;
    s->copies   = s->slot->noisy;
    if ((ret = find_fields(s, s->slot, frame, has)) < 0 ||
        (ret = alloc_copies(s->slot->noisy, s->slot->noisy_sources, s->layout)) < 0)
        return ret;
    ff_gpume_chain_add(&s->chain, map_fields, s, 2 * s->cfg->radius + 1);
    ff_gpume_chain_add(&s->chain, load_parts, s, ff_gpume_nb_parts(s->cfg->executor.nb_threads, s->cells.rows));
    if (s->cfg->radius)
        ff_gpume_chain_add(&s->chain, make_halves, s, count_rows(s, half_rows));
    if (measures) {
        const int has_field = before >= 0 && s->cfg->radius && has[s->cfg->radius - 1];

        s->before = has_field ? &s->slots[before] : NULL;
        ff_gpume_chain_add(&s->chain, measure_rows, s, count_rows(s, block_rows));
        if (!has_field)
            ff_gpume_chain_add(&s->chain, measure_halved, s, count_rows(s, halved_rows));
        for (int i = 0; i < s->layout->nb_components; i++) {
            measures[i].blocks = s->blocks[i];
            measures[i].halved = s->halved[i];
        }
        measures[0].means = s->means;
    }
    ff_gpume_chain_run(&s->chain, &s->scheduler);
    return 0;
}

static void make_patches(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;
    const int log2_step = mvdenoise_log2_step(s->cfg);
    MvdenoiseStack stack;

    for (; start < end; start++) {
        int component, j = find_row(s, patch_rows_of(s->cfg), start, &component);
        const GpumeComponent *c     = &s->layout->components[component];
        const MvdenoiseNoise *noise = s->step->noise[component];
        MvdenoiseResults *r         = &s->results[component];
        const int nb = mvdenoise_cols(c->w);
        MvdenoiseSpot spot = ff_mvdenoise_spot(&s->window, component, mvdenoise_y(j, c->h, log2_step));

        for (int i = 0; i < nb && noise->sigma; i++) {
            const size_t at = j * (size_t)nb + i;

            spot.x     = mvdenoise_x(i, j, c->w);
            spot.patch = s->first[component] + at;
            ff_mvdenoise_stack(&stack, &s->window, component, &spot, noise);
            r->weights[at] = ff_mvdenoise_filter(&s->transform, r->samples[at], &stack, noise, s->step->second,
                                                 s->layout->depth, log2_step);
        }
    }
}

/* Writes a row of the pilot and repeats its edges. */
static void put_pilot(const CPUBackend *s, int component, int y, const uint16_t *samples)
{
    const GpumeSamples *c = &s->slot->pilot[GPUME_PLANE_WHOLE].components[component];
    const int first = y ? y : -GPUME_PAD, end = y == c->h - 1 ? c->h + GPUME_PAD : y + 1, bytes = s->layout->bytes;
    uint8_t *row = c->first + y * c->stride;

    s->samples.store(row, samples, c->w, 1, 0);
    for (int x = 1; x <= GPUME_PAD; x++) {
        memcpy(row - x * bytes, row, bytes);
        memcpy(row + (c->w - 1 + x) * bytes, row + (c->w - 1) * bytes, bytes);
    }
    for (int i = first; i < end; i++)
        if (i != y)
            memcpy(c->first + i * c->stride - GPUME_PAD * bytes, row - GPUME_PAD * bytes,
                   (c->w + 2 * GPUME_PAD) * (size_t)bytes);
}

/* Corrects a row of a component of a frame where its noise was clipped. */
static void unclip_row(const CPUBackend *s, int component, int y, uint8_t *row)
{
    const GpumeLayout *l    = s->layout;
    const GpumeSamples *own = &s->slot->noisy[GPUME_PLANE_WHOLE].components[component];
    MvdenoiseUnclip u       = {
        .w = own->w, .depth = l->depth, .bytes = l->bytes, .step = l->components[component].step, .shift = l->shift,
    };
    const uint8_t *noisy[2 * MVDENOISE_AROUND + 1];

    for (int i = 0; i < FF_ARRAY_ELEMS(noisy); i++)
        noisy[i] = own->first + (y + i - MVDENOISE_AROUND) * own->stride;
    for (int i = 0; i < MVDENOISE_TONES; i++)
        u.sigma[i] = s->step->noise[component][i].clipped;
    ff_mvdenoise_unclip(row, noisy, &u);
}

static void combine_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;
    const GpumeLayout *l = s->layout;
    uint8_t *scratch  = s->scratch + worker * s->scratch_size;
    uint16_t *samples = (uint16_t *)(scratch + (l->w + MVDENOISE_PATCH) * (size_t)12);

    for (; start < end; start++) {
        int component, y = find_row(s, sample_rows, start, &component);
        const GpumeComponent *c = &l->components[component];
        const GpumeSamples *own = &s->slot->noisy[GPUME_PLANE_WHOLE].components[component];

        if (s->step->noise[component]->sigma)
            ff_mvdenoise_combine(&s->samples, samples, &s->results[component], c, y, l->depth,
                                 mvdenoise_log2_step(s->cfg), scratch);
        else
            s->samples.copy(samples, own->first + y * own->stride, c->w);
        if (!s->step->out) {
            put_pilot(s, component, y, samples);
            continue;
        }
        s->samples.store(gpume_layout_row(l, c, s->step->out, y), samples, c->w, c->step, l->shift);
        if (s->step->noise[component]->sigma && !s->cfg->opponent)
            unclip_row(s, component, y, gpume_layout_row(l, c, s->step->out, y));
    }
}

static int make(void *priv, const MvdenoiseStep *step)
{
    CPUBackend *s = priv;
    int ret;

    s->step   = step;
    s->slot   = &s->slots[step->slots[step->radius]];
    s->copies = s->slot->pilot;
    s->window = (MvdenoiseWindow) {
        .layout = s->layout, .samples = &s->samples, .cells = s->cells, .radius = step->radius,
        .second = step->second, .log2_step = mvdenoise_log2_step(s->cfg),
        .textured = ff_mvdenoise_textured(s->layout),
    };
    memcpy(s->window.first, s->first, sizeof(s->first));
    if (step->matches >= 0 && !s->matches[step->matches]) {
        s->matches[step->matches] = av_malloc_array(2 * step->radius * s->nb_patches + 1, sizeof(**s->matches));
        if (!s->matches[step->matches])
            return AVERROR(ENOMEM);
    }
    for (int i = 0; i < 2 * step->radius + 1; i++)
        if (step->slots[i] >= 0) {
            const Slot *slot = &s->slots[step->slots[i]];
            /* not of the current picture itself */
            GpumeCellVector *matches = step->matches < 0 || i == step->radius ? NULL :
                s->matches[step->matches] + (i - (i > step->radius)) * s->nb_patches;

            s->window.members[i] = (MvdenoiseMember) {
                slot->noisy_sources, slot->pilot_sources, step->second ? matches : s->slot->cells[i],
                step->second ? NULL : matches
            };
        }
    if (!step->out && (ret = alloc_copies(s->slot->pilot, s->slot->pilot_sources, s->layout)) < 0)
        return ret;
    ff_gpume_chain_add(&s->chain, make_patches, s, count_rows(s, patch_rows_of(s->cfg)));
    ff_gpume_chain_add(&s->chain, combine_rows, s, count_rows(s, sample_rows));
    if (!step->out && step->radius)
        ff_gpume_chain_add(&s->chain, make_halves, s, count_rows(s, half_rows));
    ff_gpume_chain_run(&s->chain, &s->scheduler);
    return 0;
}

const MvdenoiseBackend ff_mvdenoise_backend_cpu = {
    .common = {
        .hw_format = AV_PIX_FMT_NONE, .priv_size = sizeof(CPUBackend),
        .init = init, .set_layout = set_layout, .uninit = uninit,
    },
    .load       = load,
    .make       = make,
};
