/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <stdlib.h>
#include <string.h>

#include "libavutil/attributes.h"
#include "libavutil/common.h"
#include "libavutil/intreadwrite.h"

#include "libavfilter/gpume/cpu/sea.h"
#include "libavfilter/gpume/util/assembly.h"

/** Distance in bytes; the processor does not prefetch the sums of two planes by itself. */
#define PREFETCH_DISTANCE 512

#ifdef __GNUC__
#define PREFETCH(address) __builtin_prefetch(address)
#else
#define PREFETCH(address) ((void)(address))
#endif

#define PIXEL_8(p, x)  (p)[x]
#define PIXEL_16(p, x) AV_RN16((p) + 2 * (x))

#define COLUMNS(bits)                                                       \
static void columns_##bits(uint16_t *dst, uint32_t *sums,                   \
                           const uint8_t *add, const uint8_t *sub,          \
                           ptrdiff_t n, int shift)                          \
{                                                                           \
    for (ptrdiff_t x = 0; x < n; x++) {                                     \
        sums[x] += PIXEL_##bits(add, x) - PIXEL_##bits(sub, x);             \
        dst[x]   = sums[x] >> shift;                                        \
    }                                                                       \
}

COLUMNS(8)
COLUMNS(16)

static void add(uint16_t *dst, const uint16_t *a, const uint16_t *b, ptrdiff_t n)
{
    for (ptrdiff_t x = 0; x < n; x++)
        dst[x] = a[x] + b[x];
}

static av_always_inline unsigned bound_of(const uint8_t *sums, const ptrdiff_t *offset,
                                          const uint32_t *own, int n)
{
    unsigned bound = 0;

    for (int i = 0; i < n; i++)
        bound += abs(*(const uint16_t *)(sums + offset[i]) - (int)(own[i] & 0xffff));
    return FFMIN(bound, UINT16_MAX);
}

static av_always_inline int bound_rows(const GpumeSeaBounds *b, const uint8_t *sums, int nb_rows, uint64_t *kept,
                                       int stores)
{
    const unsigned half_limit    = b->half_limit    & 0xffff;
    const unsigned quarter_limit = b->quarter_limit & 0xffff;
    int y;

    for (y = 0; y < nb_rows; y++, sums += b->linesize) {
        uint64_t any = 0;

        for (int x = 0; x < b->nb_candidates; x++) {
            const uint8_t *sum = sums + 2 * x;
            unsigned value = bound_of(sum, b->half_offset, b->half, 4);
            uint64_t keep  = value <= half_limit;

            if (!(x & 63))
                kept[x >> 6] = 0;
            if (keep) {
                value = bound_of(sum, b->quarter_offset, b->quarter, b->nb_quarters);
                keep  = value <= quarter_limit;
            }
            if (stores)
                AV_WN16(b->map + y * b->map_linesize + 2 * x, value);
            any |= keep;
            kept[x >> 6] |= keep << (x & 63);
        }
        if (any)
            break;
    }
    return y;
}

static int bound(const GpumeSeaBounds *b, const uint8_t *sums, int nb_rows, uint64_t *kept)
{
    return bound_rows(b, sums, nb_rows, kept, 0);
}

static int bound_and_store(const GpumeSeaBounds *b, const uint8_t *sums, int nb_rows, uint64_t *kept)
{
    return bound_rows(b, sums, nb_rows, kept, 1);
}

static av_always_inline unsigned bound_of_part(const GpumeSeaParts *p, int part, int i)
{
    return FFMAX(AV_RN16(p->map[part] + 2 * i), p->least[part] & 0xffff);
}

static int join(const GpumeSeaParts *p, int first, uint32_t *kept)
{
    for (*kept = 0; first < p->nb_candidates && !*kept; first += GPUME_SEA_GROUP)
        for (int i = first; i < FFMIN(first + GPUME_SEA_GROUP, p->nb_candidates); i++) {
            const unsigned upper = bound_of_part(p, 0, i) + bound_of_part(p, 1, i);
            const unsigned lower = bound_of_part(p, 2, i) + bound_of_part(p, 3, i);
            const unsigned value = FFMIN((FFMIN(upper, UINT16_MAX) >> p->shift) +
                                         (FFMIN(lower, UINT16_MAX) >> p->shift), UINT16_MAX);

            AV_WN16(p->dst + 2 * i, value);
            *kept |= (uint32_t)(value <= (p->limit & 0xffff)) << (i - first);
        }
    return *kept ? first - GPUME_SEA_GROUP : first;
}

av_cold void ff_gpume_sea_init(GpumeSea *s, const GpumeParams *p)
{
    /* candidates are tried in groups, which may extend beyond the last sum */
    const int row = FFALIGN(p->width, GPUME_SEA_ALIGN) + GPUME_SEA_ALIGN;

    s->width    = p->width;
    s->height   = p->height;
    s->sample_size = p->depth > 8 ? 2 : 1;
    s->side     = p->block / 4;
    s->shift    = FFMAX(p->depth + 2 * av_log2(2 * s->side) - 15, 0);
    s->linesize = 2 * row;
    s->size     = 2 * s->linesize * s->height;
    /* sums of columns, exact and in units, and a row of zeros */
    s->scratch_row  = FFALIGN(row + p->block, 64);
    s->scratch_size = (sizeof(uint32_t) + sizeof(uint16_t) + 2) * s->scratch_row;
    s->join_shift   = 0;
    s->loss         = s->shift ? 16 * s->side : 0;
    s->map_row      = 2 * p->range + 1;
    s->map_size     = FFALIGN(2 * (s->map_row * s->map_row + FFMAX(GPUME_SEA_ALIGN, GPUME_SEA_GROUP)), 64);

    s->columns = s->columns_c = p->depth > 8 ? columns_16 : columns_8;
    s->add     = add;
    s->bound   = bound;
    s->bound_and_store = bound_and_store;
    s->join    = join;

    GPUME_INIT_ASSEMBLY(ff_gpume_sea_init, s, p->depth);
}

av_cold void ff_gpume_sea_init_larger(GpumeSea *s, const GpumeSea *smaller)
{
    *s = *smaller;
    s->size       = s->scratch_size = 0;
    s->side       = 2 * smaller->side;
    /* words are sufficient for usual costs; larger costs keep all candidates */
    s->join_shift = s->side >= 8;
    s->shift      = smaller->shift + s->join_shift;
    s->loss       = 4 * smaller->loss >> s->join_shift;
}

/* Computes rows of one plane. */
static void sum_plane(const GpumeSea *s, uint8_t *plane, int side,
                      const uint8_t *luma, ptrdiff_t linesize,
                      int start, int end, uint8_t *scratch)
{
    uint32_t *sums         = (uint32_t *)scratch;
    uint16_t *columns      = (uint16_t *)(sums + s->scratch_row);
    const uint8_t *zeros   = (const uint8_t *)(columns + s->scratch_row);
    const ptrdiff_t n      = s->width & ~15;
    const ptrdiff_t n_sums = FFALIGN(s->width, GPUME_SEA_ALIGN);

    memset(scratch, 0, s->scratch_size);
    for (int y = start; y < FFMIN(end + side - 1, s->height); y++) {
        const int first    = y - side + 1;
        const uint8_t *add = luma + y * linesize;
        const uint8_t *sub = y - side >= start ? add - side * linesize : zeros;
        uint16_t *dst      = (uint16_t *)(plane + first * s->linesize);

        s->columns(columns, sums, add, sub, n, s->shift);
        s->columns_c(columns + n, sums + n, add + n * s->sample_size,
                     sub + n * s->sample_size, s->width - n, s->shift);
        if (first < start)
            continue;

        if (side == 1) {
            memcpy(dst, columns, n_sums * sizeof(*dst));
            continue;
        }
        /* the last step writes to the plane; the other steps need the values to the right */
        for (int step = 1; 2 * step < side; step *= 2)
            s->add(columns, columns, columns + step,
                   FFALIGN(n_sums + side, GPUME_SEA_ALIGN));
        s->add(dst, columns, columns + side / 2, n_sums);
    }
}

static ptrdiff_t quarters(const GpumeSea *s)
{
    return s->size / 2;
}

void ff_gpume_sea_sum(const GpumeSea *s, uint8_t *sums, const uint8_t *luma,
                      ptrdiff_t linesize, int start, int end, uint8_t *scratch)
{
    sum_plane(s, sums, 2 * s->side, luma, linesize, start, end, scratch);
    sum_plane(s, sums + quarters(s), s->side, luma, linesize, start, end, scratch);
}

static uint32_t twice(unsigned v)
{
    return FFMIN(v, UINT16_MAX) * 0x10001u;
}

static uint32_t own_sum(const uint8_t *sums, ptrdiff_t offset)
{
    return twice(*(const uint16_t *)(sums + offset));
}

void ff_gpume_sea_block(const GpumeSea *s, GpumeSeaBounds *b,
                        const uint8_t *sums, int w, int h)
{
    const int half = 2 * s->side;
    const int nb_x = w / half, nb_y = h / half;

    b->linesize    = s->linesize;
    /* the lowest rows of both planes; those above have been loaded for the row of blocks above */
    b->prefetch[0] = half * s->linesize + PREFETCH_DISTANCE;
    b->prefetch[1] = quarters(s) + 3 * s->side * s->linesize + PREFETCH_DISTANCE;
    b->nb_halves   = nb_x * nb_y;
    for (int i = 0; i < 4; i++) {
        /* halves that the edge cuts are replaced by repetitions of others */
        const int x = nb_x > 1 ? half * (i & 1)  : 0;
        const int y = nb_y > 1 ? half * (i >> 1) : 0;

        b->half_offset[i] = y * s->linesize + x * 2;
        b->half[i]        = own_sum(sums, b->half_offset[i]);
    }

    b->nb_quarters = 0;
    for (int y = 0; y + s->side <= h; y += s->side) {
        for (int x = 0; x + s->side <= w; x += s->side) {
            const ptrdiff_t offset = quarters(s) + y * s->linesize + x * 2;

            b->quarter_offset[b->nb_quarters] = offset;
            b->quarter[b->nb_quarters++]      = own_sum(sums, offset);
        }
    }
}

void ff_gpume_sea_prefetch(const GpumeSea *s, const uint8_t *sums, int samples)
{
    for (int i = 0; i < 4 * s->side; i++, sums += s->linesize) {
        PREFETCH(sums + samples * sizeof(uint16_t));
        PREFETCH(sums + quarters(s) + samples * sizeof(uint16_t));
    }
}

void ff_gpume_sea_limit(const GpumeSea *s, GpumeSeaBounds *b, uint32_t limit)
{
    const unsigned units = (limit + (1u << s->shift) - 1) >> s->shift;
    /* rounding down each column can reduce the difference by almost a unit */
    const unsigned half_loss    = s->shift ? b->nb_halves   * 2 * s->side : 0;
    const unsigned quarter_loss = s->shift ? b->nb_quarters * s->side     : 0;

    b->half_limit = UINT32_MAX;
    if (b->nb_halves)
        b->half_limit = twice(4 / b->nb_halves * (units + half_loss) - 1);
    b->quarter_limit = twice(units + quarter_loss - 1);
}

uint32_t ff_gpume_sea_join_limit(const GpumeSea *s, uint32_t limit)
{
    const uint32_t units = (limit >> s->shift) + !!(limit & ((1u << s->shift) - 1));

    return twice(units + s->loss - 1);
}

uint32_t ff_gpume_sea_least(const GpumeSea *s, uint32_t cost)
{
    return twice(cost >> s->shift);
}
