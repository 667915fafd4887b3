/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Corrects samples of type SAMPLE. */

/* Counts the samples that are v in each column of nb. @return whether there are any */
static av_always_inline int FUNC(count_columns)(SAMPLE *restrict counts, const uint8_t *const *noisy, int first, int nb,
                                                SAMPLE v)
{
    const SAMPLE *rows[2 * MVDENOISE_AROUND + 1];
    SAMPLE any = 0;

    for (int j = 0; j < FF_ARRAY_ELEMS(rows); j++)
        rows[j] = (const SAMPLE *)noisy[j] + first;
    for (int i = 0; i < nb; i++) {
        SAMPLE count = 0;

        for (int j = 0; j < FF_ARRAY_ELEMS(rows); j++)
            count += rows[j][i] == v;
        counts[i] = count;
        any |= count;
    }
    return any;
}

/* Counts them in the columns around the samples from x on; outside, the samples at the edge are repeated. */
static int FUNC(count)(SAMPLE *counts, const uint8_t *const *noisy, int x, int w, SAMPLE v)
{
    const int before = FFMAX(MVDENOISE_AROUND - x, 0), end = FFMIN(w - x + MVDENOISE_AROUND, COLUMNS);
    int any;

    /* with a constant number, the compiler vectorizes the loops */
    if (end - before == COLUMNS)
        return FUNC(count_columns)(counts, noisy, x - MVDENOISE_AROUND, COLUMNS, v);
    any = FUNC(count_columns)(counts + before, noisy, x - MVDENOISE_AROUND + before, end - before, v);
    for (int i = 0; i < before; i++)
        counts[i] = counts[before];
    for (int i = end; i < COLUMNS; i++)
        counts[i] = counts[end - 1];
    return any;
}

/* Counts them in the areas around the samples, which are whole columns. */
static void FUNC(add_columns)(SAMPLE *restrict sums, const SAMPLE *counts)
{
    for (int i = 0; i < PART; i++) {
        SAMPLE sum = 0;

        for (int j = 0; j < 2 * MVDENOISE_AROUND + 1; j++)
            sum += counts[i + j];
        sums[i] = sum;
    }
}

static void FUNC(unclip)(uint8_t *row, const uint8_t *const *noisy, const MvdenoiseUnclip *u, int x)
{
    const int max = (1 << u->depth) - 1;
    SAMPLE *dst   = (SAMPLE *)row + x * (ptrdiff_t)u->step;
    SAMPLE least[COLUMNS], greatest[COLUMNS], nb_least[PART], nb_greatest[PART];
    const int is_low  = FUNC(count)(least,    noisy, x, u->w, 0);
    const int is_high = FUNC(count)(greatest, noisy, x, u->w, max << u->noisy_shift);

    if (!is_low && !is_high)
        return;
    FUNC(add_columns)(nb_least,    least);
    FUNC(add_columns)(nb_greatest, greatest);
    for (int i = 0; i < FFMIN(PART, u->w - x); i++) {
        const int v = dst[i * u->step] >> u->shift, sigma = u->sigma[mvdenoise_tone(v, u->depth)];
        const int low  = mvdenoise_is_near(v, sigma, u->depth)       ? nb_least[i]    : 0;
        const int high = mvdenoise_is_near(max - v, sigma, u->depth) ? nb_greatest[i] : 0;

        if (low || high)
            dst[i * u->step] = mvdenoise_unclipped(ff_mvdenoise_shifts, v, low, high, sigma, u->depth) << u->shift;
    }
}
