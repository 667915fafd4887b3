/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Motion-compensated interpolation: the vectors of an instant, and the picture along them.
 */

#ifndef AVFILTER_GPUME_BETWEEN_MCI_H
#define AVFILTER_GPUME_BETWEEN_MCI_H

#include "libavfilter/gpume/between/arithmetic.h"
#include "libavfilter/gpume/between/picture.h"

/** Most vectors that a tile can have: one of each cell around it. */
#define MVFPS_TILE_CELLS 16

/** One of the vectors that meet in a tile. */
typedef struct MvfpsHypothesis {
    MvfpsVector v;
    int share;              ///< of the picture before, of 64
    int trust;              ///< 1 to 31: the less both pictures differ along it
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
 * What is done with samples; by the bytes of one. Arrays of tiles are read and written in so
 * many rows as these have; of rows with fewer than 8 samples the rest may be anything.
 */
typedef struct MvfpsDsp {
    /**
     * The sum of absolute differences of 8x8 samples of two pictures, each at an eighth of a
     * sample, 0 to 7, behind the first one: bilinear, rounded.
     */
    int (*sad)(const uint8_t *a, ptrdiff_t a_stride, int ax, int ay,
               const uint8_t *b, ptrdiff_t b_stride, int bx, int by);
    /** w x h samples at sixteenths of a sample, 0 to 15, by four taps. */
    void (*sharp)(uint16_t *dst, const uint8_t *src, ptrdiff_t stride, int fx, int fy, int w, int h,
                  int max);
    /** The sum of absolute differences of two tiles. */
    int (*difference)(const uint16_t *a, const uint16_t *b);
    /** dst = (a * share + b * (64 - share) + 32) >> 6; nb is a multiple of 16, here and below. */
    void (*mean)(uint16_t *dst, const uint16_t *a, const uint16_t *b, int share, int nb);
    /** The sum of the windows of cells, at least one, whose bits are set. */
    void (*window)(uint16_t *dst, const uint16_t (*windows)[MVFPS_TILE_SAMPLES], unsigned cells);
    /** weights += window * trust; sum, in an order of its own, += window * trust * values. */
    void (*add)(uint32_t *sum, uint16_t *weights, const uint16_t *values, const uint16_t *window,
                int trust, int nb);
    /** dst = (sum + weights / 2) / weights, where weights are not 0. */
    void (*divide)(uint16_t *dst, const uint32_t *sum, const uint16_t *weights, int nb);
    /** Rows of 8 samples, of one byte, an even number of them. NULL: there is no such function. */
    void (*store)(uint8_t *dst, ptrdiff_t stride, const uint16_t *src, int h);
} MvfpsDsp;

/** An instant between two pictures. */
typedef struct MvfpsInstant {
    const MvfpsLayout *layout;
    const MvfpsPicture *before, *after;
    MvfpsFields fields;
    int part;               ///< 1 to MVFPS_PARTS - 1
    MvfpsDsp dsp;
} MvfpsInstant;

void ff_mvfps_dsp_init(MvfpsDsp *dsp, int bytes);
void ff_mvfps_dsp_init_x86(MvfpsDsp *dsp, int bytes);

/** The first vectors of some rows of cells. */
void ff_mvfps_first(const MvfpsInstant *s, MvfpsVector *vectors, int first, int end);

/** A pass over some rows of cells: from one field to another. */
void ff_mvfps_pass(const MvfpsInstant *s, const MvfpsVector *from, MvfpsVector *to, int first, int end);

/** Rows of tiles of a picture. */
static inline int mvfps_tile_rows(const MvfpsLayout *l)
{
    return (l->h + MVFPS_CELL + MVFPS_CELL / 2 - 1) / MVFPS_CELL;
}

/** Make some rows of tiles of the picture. */
void ff_mvfps_compensate(const MvfpsInstant *s, const MvfpsVector *vectors, AVFrame *out, int first, int end);

#endif /* AVFILTER_GPUME_BETWEEN_MCI_H */
