/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/error.h"
#include "libavutil/mem.h"

#include "libavfilter/gpume/mvdenoise/noise.h"

/* Whether a row of a block has one, or two, more samples after each of its samples. */
static const uint8_t inside[3][MVDENOISE_SAMPLES] = {
    { 0 },
#define EIGHT(a, b) a, a, a, a, a, a, b, 0
#define ROWS(...)   { __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, \
                      __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__ }
    ROWS(EIGHT(1, 1)),
    ROWS(EIGHT(1, 0)),
};

#define FUNC(name) name ## _8
#define SAMPLE     uint8_t
#define DIFFERENCE int16_t
#define SQUARE     int
#include "libavfilter/gpume/mvdenoise/noise_template.c"
#undef FUNC
#undef SAMPLE
#undef DIFFERENCE
#undef SQUARE

#define FUNC(name) name ## _16
#define SAMPLE     uint16_t
#define DIFFERENCE int
#define SQUARE     int64_t
#include "libavfilter/gpume/mvdenoise/noise_template.c"

void ff_mvdenoise_measure(MvdenoiseBlock *blocks, uint16_t *means, const uint8_t *samples,
                          const uint8_t *const *matches, ptrdiff_t stride, int nb, int depth)
{
    const int size = MVDENOISE_PATCH << (depth > 8);

    for (int i = 0; i < nb; i++, samples += size) {
        const int mean       = depth > 8 ? mean_16(samples, stride) : mean_8(samples, stride);
        const uint8_t *match = matches ? matches[i] : NULL;

        if (blocks) {
            blocks[i] = (depth > 8 ? measure_16 : measure_8)(samples, match, stride, depth);
            blocks[i].level = mvdenoise_tone(mean, depth) / (MVDENOISE_TONES / MVDENOISE_LEVELS);
        }
        if (means)
            means[i] = mean;
    }
}

void ff_mvdenoise_measure_halved(uint8_t *bins, uint8_t *scratch, const uint8_t *samples, ptrdiff_t stride, int nb,
                                 int depth)
{
    const int size = MVDENOISE_PATCH << (depth > 8);

    (depth > 8 ? halve_16 : halve_8)(scratch, samples, stride, nb * MVDENOISE_PATCH);
    for (int i = 0; i < nb; i++)
        bins[i] = (depth > 8 ? measure_16 : measure_8)(scratch + i * size, NULL, nb * (ptrdiff_t)size, depth).energy;
}

/* Counts the blocks of a component in bins. */
static void count_blocks(MvdenoiseBins *bins, const MvdenoiseMeasure *m, const GpumeComponent *c, int has_field)
{
    const int cols = c->w / MVDENOISE_PATCH, rows = c->h / MVDENOISE_PATCH;
    const size_t nb = cols * (size_t)rows, nb_halved = has_field ? 0 : (cols / 2) * (size_t)(rows / 2);

    memset(bins, 0, sizeof(*bins));
    for (size_t i = 0; i < nb; i++) {
        const MvdenoiseBlock *b = &m->blocks[i];

        if (b->energy != MVDENOISE_NO_BIN)
            bins->energies[b->level][b->energy]++;
        if (b->matched != MVDENOISE_NO_BIN) {
            bins->matched[b->level][b->matched]++;
            bins->textures[b->level][b->texture]++;
        }
    }
    for (size_t i = 0; i < nb_halved; i++)
        if (m->halved[i] != MVDENOISE_NO_BIN)
            bins->halved[m->halved[i]]++;
}

static unsigned count(const unsigned *bins)
{
    unsigned nb = 0;

    for (int i = 0; i < MVDENOISE_BINS; i++)
        nb += bins[i];
    return nb;
}

/* Counts the values of calm blocks. */
static void count_calm(MvdenoiseBins *bins, const MvdenoiseMeasure *m, size_t nb)
{
    int calm[MVDENOISE_LEVELS];

    for (int i = 0; i < MVDENOISE_LEVELS; i++)
        calm[i] = mvdenoise_calm_bin(bins->textures[i], count(bins->textures[i]));
    for (size_t i = 0; i < nb; i++) {
        const MvdenoiseBlock *b = &m->blocks[i];

        if (b->matched == MVDENOISE_NO_BIN || b->texture > calm[b->level])
            continue;
        bins->calm[MVDENOISE_CALM_ENERGY][b->energy]++;
        bins->calm[MVDENOISE_CALM_MATCHED][b->matched]++;
        bins->calm[MVDENOISE_CALM_COARSE][b->coarse]++;
        bins->calm[MVDENOISE_CALM_TEXTURE][b->texture]++;
    }
}

static void add_bins(unsigned *dst, const unsigned *src)
{
    for (int i = 0; i < MVDENOISE_BINS; i++)
        dst[i] += src[i];
}

static MvdenoiseFound evaluate(const MvdenoiseBins *b)
{
    unsigned energies[MVDENOISE_BINS] = { 0 }, matched[MVDENOISE_BINS] = { 0 };
    MvdenoiseFound f;

    for (int i = 0; i <= MVDENOISE_LEVELS; i++) {
        const int is_sum = i == MVDENOISE_LEVELS;
        const unsigned *e = is_sum ? energies : b->energies[i], *m = is_sum ? matched : b->matched[i];

        f.nb_fine[i]  = count(e);
        f.nb_total[i] = count(m);
        f.fine[i]     = mvdenoise_fine_variance(e, f.nb_fine[i]);
        f.total[i]    = mvdenoise_total_variance(m, f.nb_total[i]);
        if (!is_sum) {
            add_bins(energies, e);
            add_bins(matched,  m);
        }
    }
    for (int i = 0; i < MVDENOISE_CALM; i++)
        f.calm[i] = mvdenoise_calm_median(b->calm[i], count(b->calm[i]), i);
    f.nb_halved = count(b->halved);
    f.halved    = mvdenoise_halved_variance(b->halved, f.nb_halved);
    return f;
}

/* Returns whether there is a cut between two pictures, from the means of their blocks. */
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

int ff_mvdenoise_estimate(MvdenoiseEstimate *e, MvdenoiseCurve *curves, int *before, const MvdenoiseMeasure *measures,
                          const GpumeLayout *l, int first, int has_field)
{
    const int cols = l->w / MVDENOISE_PATCH, rows = l->h / MVDENOISE_PATCH;
    const size_t nb = cols * (size_t)rows;

    av_fast_malloc(&e->means, &e->means_allocated, nb * sizeof(*e->means) + 1);
    if (!e->means)
        return AVERROR(ENOMEM);
    first = first || is_cut(e->means, measures[0].means, nb);
    for (int i = 0; i < l->nb_components; i++) {
        const GpumeComponent *c = &l->components[i];
        MvdenoiseBins bins;
        MvdenoiseFound found;

        if (!measures[i].wanted)
            continue;
        count_blocks(&bins, &measures[i], c, has_field);
        count_calm(&bins, &measures[i], (c->w / MVDENOISE_PATCH) * (size_t)(c->h / MVDENOISE_PATCH));
        found     = evaluate(&bins);
        before[i] = mvdenoise_learn(&e->known[i], &found, first, has_field,
                                    (c->w / MVDENOISE_PATCH) * (c->h / MVDENOISE_PATCH));
        curves[i] = e->known[i].curve;
    }
    if (nb)
        memcpy(e->means, measures[0].means, nb * sizeof(*e->means));
    return 0;
}

av_cold void ff_mvdenoise_estimate_uninit(MvdenoiseEstimate *e)
{
    av_freep(&e->means);
    e->means_allocated = 0;
}
