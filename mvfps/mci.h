/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Motion-compensated interpolation: the vectors at a phase, and the picture along them.
 */

#ifndef AVFILTER_GPUME_MVFPS_MCI_H
#define AVFILTER_GPUME_MVFPS_MCI_H

#include "libavfilter/gpume/mvfps/arithmetic.h"
#include "libavfilter/gpume/picture/padded.h"

/** Most vectors that a tile can have: one of each cell around it. */
#define MVFPS_TILE_CELLS 16
/** Room for the vectors that a cell chooses from. */
#define MVFPS_LIST 24

/** One of the vectors that meet in a tile. */
typedef struct MvfpsHypothesis {
    MvfpsVector v, offset;
    int share;              ///< of the picture before, of 64
    int difference;         ///< the sum of the tile's differences of luma along it, in levels of 8 bits
    unsigned cells;         ///< bits of the cells around the tile that have it
} MvfpsHypothesis;

typedef struct MvfpsTile {
    int nb;
    MvfpsHypothesis hypotheses[MVFPS_TILE_CELLS];
} MvfpsTile;

/** The four taps of each sixteenth of a sample. */
extern const int8_t ff_mvfps_taps[16][4];
/** The window of cell 0 to 3 of a row, or column, at a tile's sample of a component. */
int ff_mvfps_slope(int cell, int i, int sub);

/** Samples of a tile: 8 to a row, also where a component has fewer. */
#define MVFPS_TILE_SAMPLES (MVFPS_CELL * MVFPS_CELL)

/**
 * What is done most often; by the bytes of a sample. Arrays of tiles are read and written in as
 * many rows as these have; in rows with fewer than 8 samples the rest may be anything. Two pictures
 * have the same stride.
 */
typedef struct MvfpsDsp {
    /**
     * The sum of absolute differences of 8x8 samples of two pictures, each x + 8 * y eighths of a
     * sample, 0 to 7 both ways, behind the first one: bilinear, rounded.
     */
    int (*sad)(const uint8_t *a, const uint8_t *b, ptrdiff_t stride, int at_a, int at_b);
    /**
     * Tiles of w x h samples of two pictures, each at[i] = x + 16 * y sixteenths of a sample, by four taps.
     * @return the sum of their absolute differences if they are 8x8
     */
    int (*match)(uint16_t (*dst)[MVFPS_TILE_SAMPLES], const uint8_t *a, const uint8_t *b, ptrdiff_t stride,
                 const int *at, int w, int h, int max);
    /**
     * match() of two components at once, four samples wide: the second one's are on the right in dst.
     * NULL: there is no such function.
     * @param apart from the first one's samples to the second one's, in bytes, in both pictures
     */
    void (*match_two)(uint16_t (*dst)[MVFPS_TILE_SAMPLES], const uint8_t *a, const uint8_t *b, ptrdiff_t stride,
                      const int *at, ptrdiff_t apart, int h, int max);
    /** dst = (a * share + b * (64 - share) + 32) >> 6; nb is a multiple of 16, here and below. */
    void (*mean)(uint16_t *dst, const uint16_t *a, const uint16_t *b, int share, int nb);
    /**
     * weights += window * trust; sum += window * trust * value.
     * The window is the sum of those of the cells, at least one, whose bits are set; the trust is mvfps_trust(), and
     * the value mvfps_value().
     * @param matches    the samples of both pictures
     * @param difference of the tile
     * @param first      whether sum and weights have no values yet, as if they were 0
     */
    void (*add)(uint32_t *sum, uint32_t *weights, const uint16_t (*matches)[MVFPS_TILE_SAMPLES],
                const uint16_t (*windows)[MVFPS_TILE_SAMPLES], unsigned cells, int share, int difference, int nb,
                int first, int depth);
    /** dst = sum / weights without the additional bits of the values, rounded, where weights are not 0. */
    void (*divide)(uint16_t *dst, const uint32_t *sum, const uint32_t *weights, int nb, int depth);
    /** Rows of 8 or 4 samples, of one byte, an even number of them. NULL: there is no such function. */
    void (*store)(uint8_t *dst, ptrdiff_t stride, const uint16_t *src, int w, int h);
    /**
     * Copy those of nb vectors that are vectors and none of those before them. Both lists have room for
     * MVFPS_LIST.
     * @return how many they are
     */
    int (*distinct)(MvfpsVector *dst, const MvfpsVector *src, int nb);
    /** Copy those of eight vectors that are vectors and none of nb others. dst has room for eight. @return how many */
    int (*distinct_from)(MvfpsVector *dst, const MvfpsVector *src, const MvfpsVector *others, int nb);
    /** Sums mvfps_capped_distance() from each of nb vectors to eight others. */
    void (*sum_distances)(int *sums, const MvfpsVector *v, int nb, const MvfpsVector *others);
    /**
     * mvfps_field_penalty() of each of nb vectors. Up to the next multiple of 8 of them v can be read,
     * and what is written behind may be anything.
     */
    void (*field_penalties)(int *penalties, const MvfpsVector *v, int nb, const MvfpsFields *fields, int x, int y,
                       int part);
    /**
     * The bits of those of the cells around a tile whose vectors differ from that of one of them,
     * the leader, by at most 2 or, of the four at the tile's corners, 1.
     */
    unsigned (*cluster)(const MvfpsVector *cells, int leader);
} MvfpsDsp;

/** A phase: a position in time between two pictures. */
typedef struct MvfpsPhase {
    const GpumeLayout *layout;
    const GpumePadded *before, *after;
    MvfpsFields fields;
    MvfpsRates rates;
    int part;               ///< 1 to MVFPS_PARTS - 1
    MvfpsDsp dsp;
} MvfpsPhase;

void ff_mvfps_dsp_init(MvfpsDsp *dsp, int bytes);
void ff_mvfps_dsp_init_x86(MvfpsDsp *dsp, int bytes);
void ff_mvfps_dsp_init_aarch64(MvfpsDsp *dsp, int bytes);
/** MvfpsDsp.field_penalties in C, for any fields. */
static inline void mvfps_field_penalties(int *penalties, const MvfpsVector *v, int nb, const MvfpsFields *fields,
                                         int x, int y, int part)
{
    for (int i = 0; i < nb; i++)
        penalties[i] = mvfps_field_penalty(fields, v[i], x, y, part);
}

/**
 * The first vectors of some rows of cells.
 * @param sads the sums of absolute differences along them
 */
void ff_mvfps_first(const MvfpsPhase *s, MvfpsVector *vectors, unsigned *sads, int first, int end);

/** A pass over some rows of cells: from one field, whose sums are known, to another. */
void ff_mvfps_pass(const MvfpsPhase *s, const MvfpsVector *from, const unsigned *sads, MvfpsVector *to,
                   int first, int end);

/** Returns whether the motion beyond the pair is known, so that the speed need not be constant. */
static inline int mvfps_is_accelerated(const MvfpsPhase *s)
{
    return s->rates.before.own && s->fields.before_past && s->fields.after_future;
}

/** The changes of velocity of some rows of cells. */
void ff_mvfps_changes(const MvfpsPhase *s, const MvfpsVector *vectors, MvfpsChange *changes, int first, int end);

/** The offsets of some rows of cells, by the changes of rows that are at most two away. */
void ff_mvfps_offsets(const MvfpsPhase *s, const MvfpsVector *vectors, const MvfpsChange *changes,
                      MvfpsVector *offsets, int first, int end);

/** Rows of tiles of a picture. */
static inline int mvfps_tile_rows(const GpumeLayout *l)
{
    return (l->h + MVFPS_CELL + MVFPS_CELL / 2 - 1) / MVFPS_CELL;
}

/**
 * Make some rows of tiles of the picture.
 * @param offsets of the cells, in 1/16 sample; NULL: all are 0
 */
void ff_mvfps_compensate(const MvfpsPhase *s, const MvfpsVector *vectors, const MvfpsVector *offsets,
                         AVFrame *out, int first, int end);

#endif /* AVFILTER_GPUME_MVFPS_MCI_H */
