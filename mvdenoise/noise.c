/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdlib.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvdenoise/noise.h"

#define FUNC(name) name ## _8
#define SAMPLE     uint8_t
#include "libavfilter/gpume/mvdenoise/noise_template.c"
#undef FUNC
#undef SAMPLE

#define FUNC(name) name ## _16
#define SAMPLE     uint16_t
#include "libavfilter/gpume/mvdenoise/noise_template.c"

void ff_mvdenoise_measure(uint64_t *energies, uint16_t *means, const uint8_t *samples, ptrdiff_t stride, int nb,
                          int depth)
{
    const int max = (1 << depth) - 1;

    for (int i = 0; i < nb; i++) {
        if (energies)
            energies[i] = depth > 8 ? energy_16(samples, stride, i, max) : energy_8(samples, stride, i, max);
        if (means)
            means[i] = depth > 8 ? mean_16(samples, stride, i) : mean_8(samples, stride, i);
    }
}

void ff_mvdenoise_halve(uint8_t *dst, const uint8_t *samples, ptrdiff_t stride, int nb, int depth)
{
    (depth > 8 ? halve_16 : halve_8)(dst, samples, stride, nb * MVDENOISE_PATCH);
}

static int compare(const void *a, const void *b)
{
    return FFDIFFSIGN(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* Copies the energies of blocks that count: not those of bars, which are flat from one edge to the other. */
static size_t choose_blocks(MvdenoiseEstimate *e, const uint64_t *energies, int cols, int rows)
{
    size_t nb = 0;

    memset(e->is_flat, 1, cols);
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < cols; x++)
            e->is_flat[x] &= !energies[y * (size_t)cols + x];
    for (int y = 0; y < rows; y++) {
        const uint64_t *row = energies + y * (size_t)cols;
        int is_flat = 1;

        for (int x = 0; x < cols; x++)
            is_flat &= !row[x];
        for (int x = 0; x < cols && !is_flat; x++)
            if (!e->is_flat[x] && row[x] != MVDENOISE_NO_ENERGY)
                e->energies[nb++] = row[x];
    }
    return nb;
}

/* Returns the mean energy of those of nb blocks, in ascending order, that have noise and little else. */
static uint64_t noise_energy(const uint64_t *energies, size_t nb)
{
    uint64_t mean = energies[nb * MVDENOISE_QUANTILE / 256] * MVDENOISE_FROM_QUANTILE >> 10;

    for (int i = 0; i < MVDENOISE_ROUNDS; i++) {
        uint64_t sum = 0;
        size_t n = 0;

        while (n < nb && energies[n] <= mean)
            sum += energies[n++];
        mean = n ? sum / n * MVDENOISE_FROM_LOWER >> 10 : 0;
    }
    return mean;
}

/* Returns the mean energy of noise in the blocks of a component, or 0 if fewer than least of them count. */
static uint64_t energy_of(MvdenoiseEstimate *e, const uint64_t *energies, int cols, int rows, int least)
{
    const size_t nb = choose_blocks(e, energies, cols, rows);

    if (nb < least)
        return 0;
    qsort(e->energies, nb, sizeof(*e->energies), compare);
    return noise_energy(e->energies, nb);
}

/* Returns sigma of a component, by itself. */
static int sigma_of(MvdenoiseEstimate *e, const MvdenoiseMeasure *m, const GpumeComponent *c, int depth)
{
    const int cols        = c->w / MVDENOISE_PATCH, rows = c->h / MVDENOISE_PATCH;
    const uint64_t energy = energy_of(e, m->energies, cols, rows, 1);

    return mvdenoise_sigma(energy, energy_of(e, m->halved, cols / 2, rows / 2, MVDENOISE_HALVED_LEAST), depth);
}

/* Returns whether a picture shows something else than the one before: by the means of their blocks. */
static int is_cut(const uint16_t *a, const uint16_t *b, size_t nb)
{
    uint64_t difference = 0, spread = 0, sum = 0;
    int mean;

    for (size_t i = 0; i < nb; i++)
        sum += b[i];
    mean = nb ? sum / nb : 0;
    for (size_t i = 0; i < nb; i++) {
        difference += FFABS(a[i] - b[i]);
        spread     += FFABS(b[i] - mean);
    }
    return 2 * difference > spread;
}

int ff_mvdenoise_estimate(MvdenoiseEstimate *e, int *sigma, const MvdenoiseMeasure *measures, const GpumeLayout *l,
                          int first)
{
    const int cols = l->w / MVDENOISE_PATCH, rows = l->h / MVDENOISE_PATCH;
    const size_t nb = cols * (size_t)rows;

    av_fast_malloc(&e->means,    &e->means_allocated,    nb * sizeof(*e->means) + 1);
    av_fast_malloc(&e->energies, &e->energies_allocated, nb * sizeof(*e->energies) + 1);
    av_fast_malloc(&e->is_flat,  &e->flat_allocated,     cols + 1);
    if (!e->means || !e->energies || !e->is_flat)
        return AVERROR(ENOMEM);
    first = first || is_cut(e->means, measures[0].means, nb);
    for (int i = 0; i < l->nb_components; i++) {
        int now;

        if (!measures[i].wanted)
            continue;
        now = sigma_of(e, &measures[i], &l->components[i], l->depth);
        sigma[i] = e->sigma[i] = first ? now : (3 * e->sigma[i] + now + 2) >> 2;
    }
    if (nb)
        memcpy(e->means, measures[0].means, nb * sizeof(*e->means));
    return 0;
}

av_cold void ff_mvdenoise_estimate_uninit(MvdenoiseEstimate *e)
{
    av_freep(&e->means);
    av_freep(&e->energies);
    av_freep(&e->is_flat);
    e->means_allocated = e->energies_allocated = e->flat_allocated = 0;
}
