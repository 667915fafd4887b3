/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Denoises pictures in system memory. Each step is done in rows by all threads.
 */

#include <string.h>

#include "config.h"
#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/cpu.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"
#include "libavutil/mem_internal.h"

#include "libavfilter/gpume/field/cells.h"
#include "libavfilter/gpume/mvdenoise/backend.h"
#include "libavfilter/gpume/mvdenoise/stack.h"
#include "libavfilter/gpume/util/tasks.h"

/** A picture and what is made of it. */
typedef struct Slot {
    GpumePadded noisy[GPUME_NB_PLANES], pilot[GPUME_NB_PLANES];
    GpumeCellVector *cells[MVDENOISE_MAX_STACK];
} Slot;

typedef struct CPUBackend {
    const MvdenoiseConfig *cfg;
    const GpumeLayout *layout;
    GpumeCells cells;
    MvdenoiseSamples samples;
    MvdenoiseTransform transform;
    Slot slots[MVDENOISE_MAX_SLOTS];
    GpumeCellField fields[MVDENOISE_MAX_STACK];

    /* of each component */
    MvdenoiseResults results[GPUME_COMPONENTS];
    uint64_t *energies[GPUME_COMPONENTS];
    uint16_t *means;
    uint8_t *scratch;           ///< of each thread
    size_t scratch_size;

    /* the work that is being done */
    Slot *slot;
    const AVFrame *frame;
    MvdenoiseMeasure *measures;
    const GpumePadded *copies;  ///< of which half samples are made
    const MvdenoiseStep *step;
    MvdenoiseWindow window;
    GpumeScheduler scheduler;
    GpumeTaskChain chain;
} CPUBackend;

static av_cold int init(void *priv, const MvdenoiseConfig *cfg)
{
    CPUBackend *s = priv;

    s->cfg = cfg;
    s->scheduler.executor = cfg->executor;
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
        av_freep(&s->energies[i]);
    }
    av_freep(&s->means);
    av_freep(&s->scratch);
}

static av_cold void uninit(void *priv)
{
    forget(priv);
}

static size_t nb_patches(const GpumeComponent *c)
{
    return mvdenoise_patches(c->w) * (size_t)mvdenoise_patches(c->h);
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
    ff_mvdenoise_samples_init_c(&s->samples, l->depth);
    ff_mvdenoise_transform_init_c(&s->transform, l->depth);
#if ARCH_X86 && HAVE_X86ASM
    if (av_get_cpu_flags() & AV_CPU_FLAG_AVX2) {
        ff_mvdenoise_samples_init_avx2(&s->samples, l->depth);
        ff_mvdenoise_transform_init_avx2(&s->transform, l->depth);
    }
#endif
    if (s->cells.cols * (int64_t)s->cells.rows > INT_MAX / 64)
        return AVERROR(ENOMEM);
    /* sums, weights, and a row of samples */
    s->scratch_size = FFALIGN((l->w + 2 * MVDENOISE_PATCH) * (size_t)16, 64);
    s->scratch = av_malloc_array(s->cfg->executor.nb_threads, s->scratch_size);
    s->means   = av_malloc(nb_blocks(&l->components[0]) * sizeof(*s->means) + 1);
    if (!s->scratch || !s->means)
        return AVERROR(ENOMEM);
    for (int i = 0; i < l->nb_components; i++) {
        const GpumeComponent *c = &l->components[i];

        s->results[i].samples = av_malloc_array(nb_patches(c), sizeof(*s->results[i].samples));
        s->results[i].weights = av_malloc_array(nb_patches(c), sizeof(*s->results[i].weights));
        s->energies[i]        = av_malloc(nb_blocks(c) * sizeof(**s->energies) + 1);
        if (!s->results[i].samples || !s->results[i].weights || !s->energies[i])
            return AVERROR(ENOMEM);
    }
    return 0;
}

/* Units are rows of one component after the other. Returns which row of which component one is. */
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

/* What happens in rows: those with half samples, patches, results, measured blocks. */

static int half_rows(const GpumeComponent *c)
{
    return c->h + 2 * MVDENOISE_MARGIN;
}

static int patch_rows(const GpumeComponent *c)
{
    return mvdenoise_patches(c->h);
}

static int sample_rows(const GpumeComponent *c)
{
    return c->h;
}

static int block_rows(const GpumeComponent *c)
{
    return c->h / MVDENOISE_PATCH;
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

static void make_halves(void *arg, int worker, int start, int end)
{
    CPUBackend *s   = arg;
    const int bytes = s->layout->bytes;

    for (; start < end; start++) {
        int component, y = find_row(s, half_rows, start, &component) - MVDENOISE_MARGIN;
        const GpumeSamples *whole = &s->copies[GPUME_PLANE_WHOLE].components[component];
        const ptrdiff_t first     = y * whole->stride - MVDENOISE_MARGIN * bytes;
        uint8_t *rows[GPUME_NB_PLANES];

        for (int i = 0; i < GPUME_NB_PLANES; i++)
            rows[i] = s->copies[i].components[component].first + first;
        s->samples.halves(rows[GPUME_PLANE_RIGHT], rows[GPUME_PLANE_BELOW], rows[GPUME_PLANE_CENTRE],
                          rows[GPUME_PLANE_WHOLE], whole->stride, whole->w + 2 * MVDENOISE_MARGIN,
                          (1 << s->layout->depth) - 1);
    }
}

static void measure_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    for (; start < end; start++) {
        int component, y = find_row(s, block_rows, start, &component);
        const GpumeSamples *c = &s->slot->noisy[GPUME_PLANE_WHOLE].components[component];
        const int cols        = c->w / MVDENOISE_PATCH;

        ff_mvdenoise_measure(s->measures[component].wanted ? s->energies[component] + y * (size_t)cols : NULL,
                             component ? NULL : s->means + y * (size_t)cols,
                             c->first + y * MVDENOISE_PATCH * c->stride, c->stride, cols, s->layout->depth);
    }
}

static int alloc_copies(GpumePadded *copies, const GpumeLayout *l)
{
    int ret = 0;

    for (int i = 0; i < GPUME_NB_PLANES && ret >= 0; i++)
        if (!copies[i].memory)
            ret = ff_gpume_padded_alloc(&copies[i], l);
    return ret;
}

/* Gets room for the fields of a frame, and finds them. */
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

static int load(void *priv, int slot, const AVFrame *frame, int *has, MvdenoiseMeasure *measures)
{
    CPUBackend *s = priv;
    int ret;

    s->slot     = &s->slots[slot];
    s->frame    = frame;
    s->measures = measures;
    s->copies   = s->slot->noisy;
    ret = find_fields(s, s->slot, frame, has);
    if (ret >= 0)
        ret = alloc_copies(s->slot->noisy, s->layout);
    if (ret < 0)
        return ret;
    ff_gpume_chain_add(&s->chain, map_fields, s, 2 * s->cfg->radius + 1);
    ff_gpume_chain_add(&s->chain, load_parts, s, ff_gpume_nb_parts(s->cfg->executor.nb_threads, s->cells.rows));
    if (s->cfg->radius)
        ff_gpume_chain_add(&s->chain, make_halves, s, count_rows(s, half_rows));
    if (measures) {
        ff_gpume_chain_add(&s->chain, measure_rows, s, count_rows(s, block_rows));
        for (int i = 0; i < s->layout->nb_components; i++)
            measures[i].energies = s->energies[i];
        measures[0].means = s->means;
    }
    ff_gpume_chain_run(&s->chain, &s->scheduler);
    return 0;
}

static void make_patches(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;
    LOCAL_ALIGNED_32(MvdenoiseStack, stack, [1]);

    for (; start < end; start++) {
        int component, j = find_row(s, patch_rows, start, &component);
        const GpumeComponent *c     = &s->layout->components[component];
        const MvdenoiseNoise *noise = &s->step->noise[component];
        const int nb = mvdenoise_patches(c->w), y = mvdenoise_place(j, c->h);

        for (int i = 0; i < nb && noise->sigma; i++) {
            const size_t at = j * (size_t)nb + i;
            uint16_t *dst   = s->results[component].samples[at];

            ff_mvdenoise_stack(stack, &s->window, component, mvdenoise_place(i, c->w), y, noise);
            s->results[component].weights[at] =
                (s->step->second ? s->transform.wiener : s->transform.threshold)(dst, stack, noise, s->layout->depth);
        }
    }
}

/* Writes a row of the pilot, and repeats its ends. */
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

        if (s->step->noise[component].sigma)
            s->samples.combine(samples, &s->results[component], c->w, c->h, y, l->depth, scratch);
        else
            s->samples.copy(samples, own->first + y * own->stride, c->w);
        if (s->step->out)
            s->samples.store(gpume_layout_row(l, c, s->step->out, y), samples, c->w, c->step, l->shift);
        else
            put_pilot(s, component, y, samples);
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
        .second = step->second,
    };
    for (int i = 0; i < 2 * step->radius + 1; i++)
        if (step->slots[i] >= 0) {
            const Slot *slot = &s->slots[step->slots[i]];

            s->window.members[i] = (MvdenoiseMember) { slot->noisy, slot->pilot, s->slot->cells[i] };
        }
    if (!step->out && (ret = alloc_copies(s->slot->pilot, s->layout)) < 0)
        return ret;
    ff_gpume_chain_add(&s->chain, make_patches, s, count_rows(s, patch_rows));
    ff_gpume_chain_add(&s->chain, combine_rows, s, count_rows(s, sample_rows));
    if (!step->out && step->radius)
        ff_gpume_chain_add(&s->chain, make_halves, s, count_rows(s, half_rows));
    ff_gpume_chain_run(&s->chain, &s->scheduler);
    return 0;
}

const MvdenoiseBackend ff_mvdenoise_backend_cpu = {
    .priv_size  = sizeof(CPUBackend),
    .hw_format  = AV_PIX_FMT_NONE,
    .init       = init,
    .set_layout = set_layout,
    .load       = load,
    .make       = make,
    .uninit     = uninit,
};
