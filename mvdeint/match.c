/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Compensates the candidates of a pass, and finds where these match, in system memory.
 */

#include <string.h>

#include "libavutil/common.h"
#include "libavutil/mem_internal.h"

#include "libavfilter/gpume/mvdeint/cpu.h"

/** What was read for an area. Where areas have fewer than MVDEINT_BLOCK columns, the next one was read as well. */
typedef struct Reads {
    GpumeCellVector vectors[4];
    int nb;                     ///< number of vectors
    /* with columns to the right of the last line, which are not used */
    DECLARE_ALIGNED(32, uint16_t, areas)[4][MVDEINT_AREA + MVDEINT_BLOCK];
} Reads;

static void fill_cells(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;

    for (; start < end; start++)
        for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++)
            if (s->candidates[i].picture)
                ff_gpume_cells_fill(&s->candidates[i].field, s->candidates[i].cells, start, start + 1);
}

/* Sets the share of known lines in an area. */
static void put_known(const CPUBackend *s, const GpumeComponent *c, const GpumeCellVector *v, int parity, int y0,
                      uint8_t *dst, ptrdiff_t stride)
{
    int halves[4];

    /* shares are even */
    for (int i = 0; i < 4; i++)
        halves[i] = mvdeint_known(mvdeint_eighths(v[i].y, c->vsub), y0, parity) / 2;
    s->samples.known(dst, stride, halves, ff_mvdeint_window[c->hsub], ff_mvdeint_window[c->vsub],
                     MVDEINT_BLOCK >> c->hsub, MVDEINT_BLOCK >> c->vsub);
}

/* Reads an area of a component along a vector, and the next one in the row if there is room. */
static void read_area(const CPUBackend *s, const GpumeComponent *c, const GpumeSamples *source, GpumeCellVector v,
                      int x0, int y0, uint16_t *dst)
{
    const int x = mvdeint_eighths(v.x, c->hsub), y = mvdeint_eighths(v.y, c->vsub);

    s->samples.match(dst, MVDEINT_BLOCK, gpume_padded_sample(source, x0 + (x >> 3), y0 + (y >> 3), s->layout->bytes),
                     source->stride, x & 7, y & 7, FFMIN(2 * MVDEINT_BLOCK >> c->hsub, MVDEINT_BLOCK),
                     MVDEINT_BLOCK >> c->vsub, s->layout->depth);
}

/* Blends the samples of four blocks in an area, by their places and by how well they fit known lines nearby. */
static void blend_areas(const CPUBackend *s, int component, const uint16_t *const *areas, int x0, int y0,
                        uint16_t *dst, ptrdiff_t stride)
{
    const GpumeComponent *c  = &s->layout->components[component];
    const GpumeSamples own   = samples_of(s, s->step->estimates[MVDEINT_MAX_REFS], component);
    const int w = MVDEINT_BLOCK >> c->hsub, h = MVDEINT_BLOCK >> c->vsub;
    const int second = (s->step->parities[MVDEINT_MAX_REFS] ^ y0) & 1;
    unsigned fits[MVDEINT_BLOCK / 2][4];

    s->samples.fits(fits, gpume_padded_sample(&own, x0, y0 + second, s->layout->bytes), 2 * own.stride, areas, w,
                    h / 2, second, s->layout->depth);
    s->samples.blend(dst, stride, areas, fits, ff_mvdeint_window[c->hsub], ff_mvdeint_window[c->vsub], w, h);
}

/* Returns how much both neighbouring fields differ on the missing lines of a block, along their vectors. */
static int compare_neighbours(const CPUBackend *s, const GpumeCellVector *v, int x0, int y0)
{
    int sum = 0;
    LOCAL_ALIGNED_32(uint16_t, made, [2], [MVDEINT_AREA]);

    for (int i = 0; i < 2; i++) {
        const GpumeSamples source = samples_of(s, s->candidates[i].picture, 0);

        read_area(s, &s->layout->components[0], &source, v[i], x0, y0, made[i]);
    }
    for (int y = !s->step->parities[MVDEINT_MAX_REFS]; y < MVDEINT_BLOCK; y += 2)
        for (int x = 0; x < MVDEINT_BLOCK; x++)
            sum += FFABS(made[0][y * MVDEINT_BLOCK + x] - made[1][y * MVDEINT_BLOCK + x]);
    return sum;
}

/* Returns the noise of both neighbouring fields, from the blocks with low costs. */
static int noise_of(const CPUBackend *s)
{
    const int depth = s->layout->depth;
    unsigned costs[MVDEINT_NOISE_SIDE * MVDEINT_NOISE_SIDE];

    if ((s->present & 3) != 3)
        return 0;
    for (int i = 0; i < FF_ARRAY_ELEMS(costs); i++) {
        const int at = mvdeint_noise_place(i / MVDEINT_NOISE_SIDE, s->cells.rows) * s->cells.cols +
                       mvdeint_noise_place(i % MVDEINT_NOISE_SIDE, s->cells.cols);

        costs[i] = FFMIN(s->candidates[0].costs[at], s->candidates[1].costs[at]);
    }
    return mvdeint_noise(gpume_order_statistic(costs, FF_ARRAY_ELEMS(costs), MVDEINT_NOISE_LOWER,
                                               mvdeint_noise_bit(0, depth)), depth);
}

/* Replaces vectors by exact ones where both neighbouring fields then agree better, in rows of blocks. */
static void round_vectors(void *arg, int worker, int start, int end)
{
    CPUBackend *s = arg;
    const int parity = s->step->parities[MVDEINT_MAX_REFS];

    if ((s->present & 3) != 3 || s->candidates[0].parity == parity || s->candidates[1].parity == parity)
        return;
    for (int i = start * s->cells.cols; i < end * s->cells.cols; i++) {
        const int x0 = i % s->cells.cols * MVDEINT_BLOCK, y0 = i / s->cells.cols * MVDEINT_BLOCK;
        const GpumeCellVector v[2] = { s->candidates[0].cells[i], s->candidates[1].cells[i] };
        const GpumeCellVector exact[2] = {
            { v[0].x, mvdeint_exact(v[0].x, v[0].y, v[1].x, v[1].y) },
            { v[1].x, mvdeint_exact(v[1].x, v[1].y, v[0].x, v[0].y) },
        };

        if ((exact[0].y == v[0].y && exact[1].y == v[1].y) ||
            !mvdeint_is_exact(compare_neighbours(s, v, x0, y0), compare_neighbours(s, exact, x0, y0),
                              s->noise))
            continue;
        for (int j = 0; j < 2; j++) {
            s->candidates[j].cells[i] = exact[j];
            if (s->candidates[j + 2].picture)
                s->candidates[j + 2].cells[i].y = mvdeint_follow(s->candidates[j + 2].cells[i].y, exact[j].y);
        }
    }
}

static int same(GpumeCellVector a, GpumeCellVector b)
{
    return !((a.x ^ b.x) | (a.y ^ b.y));
}

/* Returns the number of an area that was read along a vector; nb: there is none. */
static int find_vector(const Reads *reads, GpumeCellVector v)
{
    int i = 0;

    while (i < reads->nb && !same(reads->vectors[i], v))
        i++;
    return i;
}

/*
 * Compensates the area between the centres of four blocks.
 * @param reads  set to what is read
 * @param before what was read for the area before in the row
 */
static void match_area(CPUBackend *s, int component, int candidate, int tx, int ty, Reads *reads, const Reads *before)
{
    const GpumeComponent *c   = &s->layout->components[component];
    const Candidate *from     = &s->candidates[candidate];
    const GpumeSamples source = samples_of(s, from->picture, component);
    const int w = MVDEINT_BLOCK >> c->hsub;
    const int x0 = (MVDEINT_BLOCK * tx - MVDEINT_BLOCK / 2) >> c->hsub;
    const int y0 = (MVDEINT_BLOCK * ty - MVDEINT_BLOCK / 2) >> c->vsub;
    const ptrdiff_t stride = s->matches[component].stride;
    uint16_t *dst = match_at(s, component, candidate, x0, y0);
    GpumeCellVector v[4];
    const uint16_t *areas[4];
    int differ = 0;

    reads->nb = 0;
    for (int i = 0; i < 4; i++) {
        v[i] = from->cells[av_clip(ty - 1 + (i >> 1), 0, s->cells.rows - 1) * (size_t)s->cells.cols +
                           av_clip(tx - 1 + (i & 1), 0, s->cells.cols - 1)];
        differ |= !same(v[i], v[0]);
    }
    for (int i = 0; i < 4 && (differ || !i); i++) {
        const int old = w < MVDEINT_BLOCK ? find_vector(before, v[i]) : before->nb;
        const int j   = old == before->nb ? find_vector(reads, v[i]) : 0;

        areas[i] = old < before->nb ? before->areas[old] + w : reads->areas[j];
        if (old < before->nb || j < reads->nb)
            continue;
        reads->vectors[reads->nb++] = v[i];
        read_area(s, c, &source, v[i], x0, y0, reads->areas[j]);
    }
    if (differ)
        blend_areas(s, component, areas, x0, y0, dst, stride);
    for (int y = 0; y < MVDEINT_BLOCK >> c->vsub && !differ; y++)
        memcpy(dst + y * stride, areas[0] + y * MVDEINT_BLOCK, MVDEINT_BLOCK * sizeof(*dst));
    if (!s->matches[component].shares_known)
        put_known(s, c, v, from->parity, y0, known_at(s, component, candidate, x0, y0), stride);
}

/* Returns whether a candidate fits the field in an area of luma. */
static int vote_of(const CPUBackend *s, int candidate, int tx, int ty)
{
    const GpumeSamples own = samples_of(s, s->step->estimates[MVDEINT_MAX_REFS], 0);
    const int parity = s->step->parities[MVDEINT_MAX_REFS], y0 = MVDEINT_BLOCK * ty - MVDEINT_BLOCK / 2;
    const int left   = FFMAX(MVDEINT_BLOCK * tx - MVDEINT_BLOCK / 2, 0);
    const int w = FFMIN(MVDEINT_BLOCK * tx + MVDEINT_BLOCK / 2, own.w) - left;
    const ptrdiff_t at = left * (ptrdiff_t)s->layout->bytes;
    int error = 0, activity = 0, nb = 0;

    for (int y = FFMAX(y0, 0); y < FFMIN(y0 + MVDEINT_BLOCK, own.h); y++)
        if (w > 0 && (y & 1) == parity) {
            s->samples.compare(&error, &activity, line_of(&own, y) + at,
                               line_of(&own, mvdeint_two_above(y, y + 2)) + at,
                               line_of(&own, mvdeint_two_below(y, own.h, y - 2)) + at,
                               match_at(s, 0, candidate, left, y), w, s->layout->depth);
            nb += w;
        }
    return mvdeint_vote(error, activity, nb, s->layout->depth);
}

/* Finds the candidates that match, in rows of areas. */
static void find_matching(void *arg, int worker, int start, int end)
{
    CPUBackend *s  = arg;
    const int cols = s->cells.cols + 1, rows = s->cells.rows + 1, around = MVDEINT_AREAS_AROUND;
    int nb_poor    = 0;

    for (; start < end; start++)
        for (int x = 0; x < cols; x++) {
            unsigned bits = 0;
            int best = -1;

            for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++) {
                const int8_t *votes = s->votes + i * nb_areas(s);
                int sum = 0;

                if (!(s->present >> i & 1))
                    continue;
                for (int j = FFMAX(start - around, 0); j <= FFMIN(start + around, rows - 1); j++)
                    for (int k = FFMAX(x - around, 0); k <= FFMIN(x + around, cols - 1); k++)
                        sum += votes[j * cols + k];
                bits |= (sum >= 0) << i;
                best  = FFMAX(best, votes[start * cols + x]);
            }
            if (best < 0)
                bits = 0;
            s->matching[start * cols + x] = bits;
            nb_poor += av_popcount(bits) < 2;
        }
    atomic_fetch_add(&s->nb_poor, nb_poor);
}

/* Units are rows of areas, candidate by candidate and component by component. */
static void match_rows(void *arg, int worker, int start, int end)
{
    CPUBackend *s  = arg;
    const int rows = s->cells.rows + 1;
    /* vectors of samples reach beyond the columns that are read */
    Reads reads[2] = { 0 };

    for (; start < end; start++) {
        const int candidate = start / rows % MVDEINT_MAX_CANDIDATES;
        const int component = start / rows / MVDEINT_MAX_CANDIDATES;

        reads[1].nb = 0;
        for (int x = 0; x < s->cells.cols + 1 && s->candidates[candidate].picture; x++) {
            match_area(s, component, candidate, x, start % rows, &reads[x & 1], &reads[!(x & 1)]);
            if (!component)
                s->votes[candidate * nb_areas(s) + start % rows * (s->cells.cols + 1) + x] =
                    vote_of(s, candidate, x, start % rows);
        }
    }
}

void ff_mvdeint_cpu_match(CPUBackend *s)
{
    s->noise = noise_of(s);
    ff_gpume_chain_add(&s->chain, fill_cells, s, s->cells.rows);
    ff_gpume_chain_add(&s->chain, round_vectors, s, s->cells.rows);
    ff_gpume_chain_add(&s->chain, match_rows, s,
                       s->layout->nb_components * MVDEINT_MAX_CANDIDATES * (s->cells.rows + 1));
    atomic_store(&s->nb_poor, 0);
    ff_gpume_chain_add(&s->chain, find_matching, s, s->cells.rows + 1);
}
