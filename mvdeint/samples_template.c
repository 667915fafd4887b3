/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/* Included for each type of samples, SAMPLE. */

static void FUNC(estimate)(uint8_t *dst8, uint8_t *reach8, const MvdeintLines *l, int w, enum MvdeintKind kind,
                           int max)
{
    SAMPLE *dst = (SAMPLE *)dst8, *reach = (SAMPLE *)reach8;
    int reached;
#define AT(row) (((const SAMPLE *)(row))[x])

    for (int x = 0; x < w; x++) {
        MvdeintWeston s = { AT(l->above), AT(l->below) };

        if (kind == MVDEINT_ALONE || kind == MVDEINT_ALL) {
            s.above3 = AT(l->above3);
            s.below3 = AT(l->below3);
        }
        if (kind == MVDEINT_ALONE) {
            dst[x]   = mvdeint_alone(s.above, s.below, s.above3, s.below3, max);
            reach[x] = max;
            continue;
        }
        s.before_above = AT(l->before_above);
        s.before_below = AT(l->before_below);
        s.after_above  = AT(l->after_above);
        s.after_below  = AT(l->after_below);
        for (int i = 0; i < 5; i++)
            if (i == 2 || kind == MVDEINT_ALL || (kind == MVDEINT_NEAR && (i & 1))) {
                s.earlier[i] = AT(l->earlier[i]);
                s.later[i]   = AT(l->later[i]);
            }
        dst[x]   = mvdeint_weston(&s, kind >= MVDEINT_NEAR, kind == MVDEINT_ALL, max, &reached);
        reach[x] = reached;
    }
#undef AT
}

/* Returns the class of a sample between two lines, from these lines and their outer neighbours. */
static int FUNC(class)(const SAMPLE *far_above, const SAMPLE *above, const SAMPLE *below, const SAMPLE *far_below,
                       int shift)
{
    const int activity = abs(far_above[0] - above[0]) + abs(above[0] - below[0]) + abs(far_below[0] - below[0]);
    int best = 0, least = INT_MAX, fit, busy;

    for (int d = -3; d <= 3; d++) {
        int cost = abs(d) * 2 << shift;

        for (int e = -2; e <= 2; e++)
            cost += abs(above[d + e] - below[e - d]);
        if (cost < least) {
            least = cost;
            best  = d + 3;
        }
    }
    fit  = (least >= 10 << shift) + (least >= 40 << shift);
    busy = (activity >= 6 << shift) + (activity >= 30 << shift);
    return (best * MVDEINT_LEVELS + fit) * MVDEINT_LEVELS + busy;
}

static void FUNC(intra)(uint8_t *dst8, const uint8_t *const *lines, int w, int depth)
{
    const SAMPLE *const *rows = (const SAMPLE *const *)lines;
    const int max = (1 << depth) - 1;
    SAMPLE *dst = (SAMPLE *)dst8;

    for (int x = 0; x < w; x++) {
        const int class = FUNC(class)(rows[0] + x, rows[1] + x, rows[2] + x, rows[3] + x, depth - 8);
        const int16_t *taps = ff_mvdeint_taps[class];
        int sum = 2048;

        for (int i = 0; i < MVDEINT_INTRA_LINES; i++)
            for (int j = 0; j < MVDEINT_INTRA_COLUMNS; j++)
                sum += taps[i * MVDEINT_INTRA_COLUMNS + j] * rows[i][x + j - MVDEINT_INTRA_COLUMNS / 2];
        dst[x] = av_clip(sum >> 12, 0, max);
    }
}

static void FUNC(mix)(uint8_t *dst8, const uint8_t *intra8, const uint8_t *reach8, const MvdeintLines *l,
                      MvdeintChange *columns, int w, int depth)
{
    const SAMPLE *intra = (const SAMPLE *)intra8, *reach = (const SAMPLE *)reach8;
    SAMPLE *dst = (SAMPLE *)dst8;

    for (int x = -2; x < w + 2; x++) {
        int earlier[5], later[5];

        for (int i = 0; i < 5; i++) {
            earlier[i] = ((const SAMPLE *)l->earlier[i])[x];
            later[i]   = ((const SAMPLE *)l->later[i])[x];
        }
        columns[x + 2] = (MvdeintChange) { 0 };
        mvdeint_add_column(&columns[x + 2], earlier, later, depth);
    }
    for (int x = 0; x < w; x++) {
        MvdeintChange c = { 0 };

        if (!reach[x])
            continue;
        for (int i = 0; i < 5; i++) {
            c.squares += columns[x + i].squares;
            c.sum     += columns[x + i].sum;
            c.detail  += columns[x + i].detail;
        }
        dst[x] = mvdeint_mixed(dst[x], intra[x], &c);
    }
}

static void FUNC(weave)(uint8_t *dst8, const MvdeintLines *l, uint32_t *columns, int w, int depth)
{
    const SAMPLE *earlier = (const SAMPLE *)l->earlier[2], *later = (const SAMPLE *)l->later[2];
    SAMPLE *dst = (SAMPLE *)dst8;
#define SQUARED(a, b) mvdeint_squared(((const SAMPLE *)l->a)[x], ((const SAMPLE *)l->b)[x], depth)

    for (int x = -2; x < w + 2; x++)
        columns[x + 2] = SQUARED(earlier[1], later[1]) + SQUARED(earlier[2], later[2]) +
                         SQUARED(earlier[3], later[3]) + SQUARED(above, before_above) + SQUARED(above, after_above) +
                         SQUARED(below, before_below) + SQUARED(below, after_below);
#undef SQUARED
    for (int x = 0; x < w; x++) {
        const uint32_t *c = columns + x;

        dst[x] = mvdeint_woven(dst[x], earlier[x], later[x], c[0] + c[1] + c[2] + c[3] + c[4], depth);
    }
}

static void FUNC(match)(uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src8, ptrdiff_t stride, int fx, int fy,
                        int w, int h, int depth)
{
    const SAMPLE *src = (const SAMPLE *)src8;
    const int8_t *u = match_taps[fx], *v = match_taps[fy];
    const int shift = 12 - mvdeint_fraction(depth), most = ((1 << depth) - 1) << mvdeint_fraction(depth);
    int rows[MVDEINT_BLOCK + 5][MVDEINT_BLOCK];

    stride /= sizeof(*src);
    if (!fx && !fy) {
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                dst[y * dst_stride + x] = src[y * stride + x] << mvdeint_fraction(depth);
        return;
    }
    for (int y = 0; y < h + 5; y++) {
        const SAMPLE *row = src + (y - 2) * stride;

        for (int x = 0; x < w; x++)
            rows[y][x] = u[0] * row[x - 2] + u[1] * row[x - 1] + u[2] * row[x] + u[3] * row[x + 1] +
                         u[4] * row[x + 2] + u[5] * row[x + 3];
    }
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            const int sum = v[0] * rows[y][x] + v[1] * rows[y + 1][x] + v[2] * rows[y + 2][x] +
                            v[3] * rows[y + 3][x] + v[4] * rows[y + 4][x] + v[5] * rows[y + 5][x];

            dst[y * dst_stride + x] = av_clip((sum + (1 << shift >> 1)) >> shift, 0, most);
        }
}

static void FUNC(compare)(int *error, int *activity, const uint8_t *line, const uint8_t *above, const uint8_t *below,
                          const uint16_t *samples, int w, int depth)
{
    const SAMPLE *l = (const SAMPLE *)line, *a = (const SAMPLE *)above, *b = (const SAMPLE *)below;
    const int fraction = mvdeint_fraction(depth);

    for (int x = 0; x < w; x++) {
        *error    += FFABS((l[x] << fraction) - samples[x]);
        *activity += FFABS(2 * l[x] - a[x] - b[x]);
    }
}

static void FUNC(fits)(unsigned (*fits)[4], const uint8_t *line, ptrdiff_t stride, const uint16_t *const *areas,
                       int w, int nb, int second, int depth)
{
    const int fraction = mvdeint_fraction(depth);
    unsigned squares[MVDEINT_BLOCK / 2][4] = { 0 };

    for (int y = 0; y < nb; y++)
        for (int i = 0; i < 4; i++) {
            const SAMPLE *l = (const SAMPLE *)(line + y * stride);
            const uint16_t *samples = areas[i] + (2 * y + second) * MVDEINT_BLOCK;

            for (int x = 0; x < w; x++) {
                const unsigned difference = mvdeint_scaled(FFABS((l[x] << fraction) - samples[x]), depth + fraction);

                squares[y][i] += difference * difference;
            }
        }
    for (int y = 0; y < nb; y++) {
        const int next = mvdeint_next_pair(y, nb, second);
        unsigned sums[4];

        for (int i = 0; i < 4; i++)
            sums[i] = squares[y][i] + squares[next][i];
        mvdeint_fits(fits[y], sums);
    }
}

static void FUNC(residual)(uint16_t *dst, const uint16_t *above, const uint16_t *below, const uint8_t *line_above,
                           const uint8_t *line_below, int w, int depth)
{
    const SAMPLE *a = (const SAMPLE *)line_above, *b = (const SAMPLE *)line_below;
    const int fraction = mvdeint_fraction(depth), most = ((1 << depth) - 1) << fraction;

    for (int x = 0; x < w; x++)
        dst[x] = av_clip(dst[x] + mvdeint_residual((a[x] << fraction) - above[x], (b[x] << fraction) - below[x]), 0,
                         most);
}

static void FUNC(errors)(const MvdeintSums *sums, const uint8_t *const *lines, const uint16_t *const *samples,
                         const uint8_t *const *known, int w, int depth)
{
    const SAMPLE *const *l = (const SAMPLE *const *)lines;
    const int fraction = mvdeint_fraction(depth);

    for (int x = 0; x < w; x++) {
        sums->squares[x] = sums->weights[x] = 0;
        for (int i = 0; i < 2; i++) {
            const unsigned weight     = known[i][x] + MVDEINT_LEAST_KNOWN;
            const unsigned difference = mvdeint_scaled(FFABS((l[i][x] << fraction) - samples[i][x]), depth + fraction);

            sums->squares[x] += weight * difference * difference;
            sums->weights[x] += weight;
        }
    }
}

static void FUNC(add_activity)(uint32_t *squares, const uint8_t *line, const uint8_t *above, const uint8_t *below,
                               int w, int depth)
{
    const SAMPLE *l = (const SAMPLE *)line, *a = (const SAMPLE *)above, *b = (const SAMPLE *)below;

    for (int x = 0; x < w; x++) {
        const unsigned difference = mvdeint_scaled(FFABS(2 * l[x] - a[x] - b[x]), depth + 1);

        squares[x] += difference * difference;
    }
}

static void FUNC(square_step)(uint32_t *step, const uint8_t *above, const uint8_t *below, int w, int depth)
{
    const SAMPLE *a = (const SAMPLE *)above, *b = (const SAMPLE *)below;

    for (int x = 0; x < w; x++) {
        const unsigned difference = mvdeint_scaled(FFABS(a[x] - b[x]), depth);

        step[x] = difference * difference;
    }
}

static void FUNC(combine)(uint8_t *dst8, const MvdeintRow *row)
{
    const MvdeintTables tables = { ff_mvdeint_power, ff_mvdeint_inverse };
    SAMPLE *dst = (SAMPLE *)dst8;
    MvdeintKnown k = { .present = row->present, .nb = av_popcount(row->present) };

    for (int x = 0; x < row->w; x++) {
        k.around = (MvdeintAround) { row->activity[x], row->step[x] };
        k.first  = ((const SAMPLE *)row->first)[x];
        k.intra  = ((const SAMPLE *)row->intra)[x];
        for (int i = 0; i < MVDEINT_MAX_CANDIDATES; i++)
            if (row->present >> i & 1) {
                k.samples[i] = row->candidates[i].samples[x];
                k.known[i]   = row->candidates[i].known[x];
                k.errors[i]  = row->candidates[i].error[x];
            }
        dst[x] = mvdeint_combine(row->model, &tables, &k, row->depth);
    }
}

static void FUNC(limit)(uint8_t *dst8, const MvdeintRow *row)
{
    const SAMPLE *first = (const SAMPLE *)row->first, *reach = (const SAMPLE *)row->reach;
    const int has_both = (row->present & 3) == 3, w = row->w, depth = row->depth;
    const uint16_t *a = row->candidates[0].samples, *b = row->candidates[1].samples;
    SAMPLE *dst = (SAMPLE *)dst8;
#define LIMIT(x, left, right)                                                                   \
    dst[x] = mvdeint_limit(dst[x], first[x], FFMAX(reach[x], FFMAX(reach[left], reach[right])), \
                           has_both ? FFABS(a[x] - b[x]) : 0, depth)

    LIMIT(0, 0, 1);
    for (int x = 1; x < w - 1; x++)
        LIMIT(x, x - 1, x + 1);
    LIMIT(w - 1, w - 2, w - 1);
#undef LIMIT
    /* as many samples without change include one of these places */
    for (int x = MVDEINT_STILL - 1, end; x < w; x = end + MVDEINT_STILL) {
        int start = x;

        for (end = x; end < w && !reach[end]; end++)
            ;
        while (end > x && start && !reach[start - 1])
            start--;
        if (end - start >= MVDEINT_STILL)
            memcpy(dst + start, first + start, (end - start) * sizeof(*dst));
    }
}
