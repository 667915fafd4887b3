/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Functions on rows and areas of samples in memory.
 */

#ifndef AVFILTER_GPUME_MVDEINT_SAMPLES_H
#define AVFILTER_GPUME_MVDEINT_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/mvdeint/arithmetic.h"
#include "libavfilter/gpume/mvdeint/weston.h"

/** The lines that exist for an estimate from three fields. */
enum MvdeintKind {
    MVDEINT_ALONE,              ///< only lines of the field itself
    MVDEINT_NEAREST,            ///< also the neighbouring lines of other fields; near the picture's edge
    MVDEINT_NEAR,               ///< also the lines two above and below
    MVDEINT_ALL,
};

/** The lines around a missing line. */
typedef struct MvdeintLines {
    const uint8_t *above, *below, *above3, *below3;     ///< one and three lines away, in the field
    const uint8_t *before_above, *before_below;         ///< one line away, in the previous frame
    const uint8_t *after_above, *after_below;           ///< one line away, in the next frame
    const uint8_t *earlier[5], *later[5];               ///< in the neighbouring fields, from four lines above to four
                                                        ///< below
} MvdeintLines;

/** Maximum number of samples of a compensated area. */
#define MVDEINT_AREA (MVDEINT_BLOCK * MVDEINT_BLOCK)

/** Margin of a row of sums, in which the first and last values are repeated. */
#define MVDEINT_ROW_PAD 16

/** A row of sums of weighted squares, and of sums of weights. */
typedef struct MvdeintSums {
    uint32_t *squares;
    uint16_t *weights;
} MvdeintSums;

/** Repeats the first and last sums of a row, twice on each side. */
static inline void mvdeint_repeat_sums(const MvdeintSums *s, int w)
{
    for (int i = 1; i <= 2; i++) {
        s->squares[-i]        = s->squares[0];
        s->squares[w - 1 + i] = s->squares[w - 1];
        s->weights[-i]        = s->weights[0];
        s->weights[w - 1 + i] = s->weights[w - 1];
    }
}

/** A candidate on a missing line. */
typedef struct MvdeintCandidate {
    const uint16_t *samples;    ///< compensated
    const uint8_t *known;
    const uint32_t *error;      ///< for each sample
} MvdeintCandidate;

/** Inputs of a missing line. */
typedef struct MvdeintRow {
    int w, depth;
    unsigned present;           ///< bit mask of the candidates that exist
    /**
     * Indexed as in MvdeintKnown. A candidate that does not exist has the data of its partner or, if this does not
     * exist either, of another one.
     */
    MvdeintCandidate candidates[MVDEINT_MAX_CANDIDATES];
    const uint8_t *first, *intra;   ///< interpolated lines
    const uint32_t *activity, *step;
    const MvdeintModel *model;
    const uint8_t *reach;       ///< how far the estimate can be from the mean of the neighbouring fields
} MvdeintRow;

/** Functions for samples of one or two bytes; rows and areas are of bytes or uint16_t. */
typedef struct MvdeintSamples {
    /**
     * Computes a line of the estimate from three fields; may read and write 7 more samples.
     * @param reach set to how far each sample can be from the mean of the neighbouring fields; max for MVDEINT_ALONE
     */
    void (*estimate)(uint8_t *dst, uint8_t *reach, const MvdeintLines *l, int w, enum MvdeintKind kind, int max);
    /**
     * Interpolates a line within a field; may write 15 more samples, and read 26 more.
     * @param lines the lines three and one above, and one and three below
     */
    void (*intra)(uint8_t *dst, const uint8_t *const *lines, int w, int depth);
    /**
     * Mixes a line of the estimate with the interpolation within the field, where anything changes. Reads two more
     * samples on each side of lines of the neighbouring fields; may read and write 7 more samples.
     * @param columns buffer for w + 16 entries
     */
    void (*mix)(uint8_t *dst, const uint8_t *intra, const uint8_t *reach, const MvdeintLines *l,
                MvdeintChange *columns, int w, int depth);
    /**
     * Moves a line of the estimate towards the neighbouring fields where these and the field change little. Reads two
     * more samples on each side; may read and write 7 more samples.
     * @param columns buffer for w + 16 entries
     */
    void (*weave)(uint8_t *dst, const MvdeintLines *l, uint32_t *columns, int w, int depth);
    /**
     * Interpolates an area of w x h samples at the eighths fx and fy after a sample. May also write
     * samples to the right, up to MVDEINT_BLOCK in a row.
     * @param dst_stride in samples
     */
    void (*match)(uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int fx, int fy, int w,
                  int h, int depth);
    /**
     * Adds the differences between a compensated line and the field's line, and those between this
     * line and its neighbours. w is at most MVDEINT_BLOCK; always reads MVDEINT_BLOCK samples.
     */
    void (*compare)(int *error, int *activity, const uint8_t *line, const uint8_t *above, const uint8_t *below,
                    const uint16_t *samples, int w, int depth);
    /**
     * Computes how well four compensated areas fit the known lines, for each pair of lines.
     * @param line   first of nb known lines; always reads MVDEINT_BLOCK samples of each
     * @param stride from one of these lines to the next, in bytes
     * @param w      at most MVDEINT_BLOCK
     * @param second whether the known line is the second line of each pair
     */
    void (*fits)(unsigned (*fits)[4], const uint8_t *line, ptrdiff_t stride, const uint16_t *const *areas, int w,
                 int nb, int second, int depth);
    /** Adds the residual to a compensated row; may read and write 15 more samples. */
    void (*residual)(uint16_t *dst, const uint16_t *above, const uint16_t *below, const uint8_t *line_above,
                     const uint8_t *line_below, int w, int depth);
    /** Sums the weighted squared differences of two compensated lines; may read and write 15 more samples. */
    void (*errors)(const MvdeintSums *sums, const uint8_t *const *lines, const uint16_t *const *samples,
                   const uint8_t *const *known, int w, int depth);
    /** Adds the squared deviations of a line from the mean of two others. */
    void (*add_activity)(uint32_t *squares, const uint8_t *line, const uint8_t *above, const uint8_t *below, int w,
                         int depth);
    /** Computes the squared differences of two lines. */
    void (*square_step)(uint32_t *step, const uint8_t *above, const uint8_t *below, int w, int depth);
    /** Combines a missing line; may read and write 7 more samples. */
    void (*combine)(uint8_t *dst, const MvdeintRow *row);

    /**
     * Limits how far samples are from those of the first estimate. Where MVDEINT_STILL adjacent samples do not change,
     * they are those of the estimate.
     */
    void (*limit)(uint8_t *dst, const MvdeintRow *row);

    /* functions that do not depend on the type of samples */
    /**
     * Blends four areas of w x h samples. May read and write MVDEINT_BLOCK samples of each line.
     * @param fits   how well the areas fit, for each pair of lines
     * @param wx, wy weights of the areas on the right and below
     */
    void (*blend)(uint16_t *dst, ptrdiff_t dst_stride, const uint16_t *const *areas, const unsigned (*fits)[4],
                  const uint8_t *wx, const uint8_t *wy, int w, int h);
    /**
     * Blends the shares of known lines of four blocks in an area of w x h samples. May write MVDEINT_BLOCK samples of
     * each line.
     * @param halves half of the shares on the first line; on the next line they are MVDEINT_KNOWN / 2 less these
     * @param wx, wy as for blend()
     */
    void (*known)(uint8_t *dst, ptrdiff_t stride, const int *halves, const uint8_t *wx, const uint8_t *wy, int w,
                  int h);
    /** Computes means over five columns from sums; may read and write 7 more samples. */
    void (*mean)(uint32_t *dst, const MvdeintSums *sums, int w);
    /** Computes means over three columns. */
    void (*mean_activity)(uint32_t *dst, const uint32_t *squares, int w);
} MvdeintSamples;

void ff_mvdeint_samples_init(MvdeintSamples *s, int depth);
void ff_mvdeint_samples_init_x86(MvdeintSamples *s, int depth);
void ff_mvdeint_samples_init_aarch64(MvdeintSamples *s, int depth);
/** MvdeintSamples.estimate for bytes. */
void ff_mvdeint_estimate_8(uint8_t *dst, uint8_t *reach, const MvdeintLines *l, int w, enum MvdeintKind kind, int max);
/** MvdeintSamples.combine for bytes, and for uint16_t. */
void ff_mvdeint_combine_8(uint8_t *dst, const MvdeintRow *row);
void ff_mvdeint_combine_16(uint8_t *dst, const MvdeintRow *row);

/** Weights of an area, by subsampling. */
extern const uint8_t ff_mvdeint_window[3][MVDEINT_BLOCK];
/** The tables of MvdeintTables, with one more entry for code that loads two entries at once. */
extern const uint16_t ff_mvdeint_power[256 + 1], ff_mvdeint_inverse[128 + 1];
/** 65536 divided by each sum of weights; with one more entry, too. */
extern uint16_t ff_mvdeint_reciprocals[MVDEINT_MAX_WEIGHTS + 2];
/** The taps of the interpolation within a field, times 4096, by class. */
extern const int16_t ff_mvdeint_taps[MVDEINT_CLASSES][MVDEINT_INTRA_LINES * MVDEINT_INTRA_COLUMNS];
/** The same taps, each line followed by zeros. */
extern int16_t ff_mvdeint_line_taps[MVDEINT_CLASSES][MVDEINT_INTRA_LINES][16];

/** Returns 65536 divided by a sum of weights, which is at least MVDEINT_LEAST_KNOWN. */
static inline unsigned mvdeint_reciprocal(unsigned weights)
{
    return (65536 + weights / 2) / weights;
}

#endif /* AVFILTER_GPUME_MVDEINT_SAMPLES_H */
