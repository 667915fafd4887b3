/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The work on rows and areas of samples in memory.
 */

#ifndef AVFILTER_GPUME_MVDEINT_SAMPLES_H
#define AVFILTER_GPUME_MVDEINT_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "libavfilter/gpume/mvdeint/arithmetic.h"

/** Which lines are there for an estimate of three fields. */
enum MvdeintKind {
    MVDEINT_ALONE,              ///< those of the field itself
    MVDEINT_NEAREST,            ///< those beside it, near the picture's edge
    MVDEINT_NEAR,               ///< and those two above and below
    MVDEINT_ALL,
};

/** The lines around one that is missing. */
typedef struct MvdeintLines {
    const uint8_t *above, *below, *above3, *below3;     ///< one and three lines away, in the field
    const uint8_t *before_above, *before_below;         ///< one away, in the frame before
    const uint8_t *after_above, *after_below;           ///< in the frame after
    const uint8_t *earlier[5], *later[5];               ///< of the fields around it, from four above to four below
} MvdeintLines;

/** Samples of a compensated area at most. */
#define MVDEINT_AREA (MVDEINT_BLOCK * MVDEINT_BLOCK)

/** Values beside a row of sums, in which the first and last ones are repeated. */
#define MVDEINT_ROW_PAD 16

/** A row of sums: of weighted squares and of weights. */
typedef struct MvdeintSums {
    uint32_t *squares;
    uint16_t *weights;
} MvdeintSums;

/** A candidate on a missing line. */
typedef struct MvdeintCandidate {
    const uint16_t *samples;    ///< compensated
    const uint8_t *real;
    const uint32_t *error;      ///< by sample
    const uint32_t *pair;       ///< how much it and its partner differ; a multiple of its error where it has none
} MvdeintCandidate;

/** What a missing line is made of. */
typedef struct MvdeintRow {
    int w, depth;
    unsigned present;           ///< bits of the candidates that there are
    MvdeintCandidate candidates[MVDEINT_MAX_CANDIDATES];    ///< as MvdeintKnown has them
    const uint8_t *first, *intra;   ///< interpolated lines
    const uint32_t *activity, *step;
    const MvdeintModel *model;
    const uint8_t *still;       ///< where nothing changes
} MvdeintRow;

/** By bytes of a sample; rows and areas of samples are of bytes or uint16_t. */
typedef struct MvdeintSamples {
    /** Makes a line of the estimate of three fields. @param still set to 1 where nothing changes, else 0 */
    void (*estimate)(uint8_t *dst, uint8_t *still, const MvdeintLines *l, int w, enum MvdeintKind kind, int max);
    /**
     * Interpolates a line within a field; 15 samples more are read and written.
     * @param lines those three and one above and one and three below
     */
    void (*intra)(uint8_t *dst, const uint8_t *const *lines, int w, int depth);
    /**
     * Reads an area of w x h samples at eighths fx and fy behind a sample. Samples to the right, up to
     * MVDEINT_BLOCK of a row, may be written, too. @param dst_stride in samples
     */
    void (*match)(uint16_t *dst, ptrdiff_t dst_stride, const uint8_t *src, ptrdiff_t stride, int fx, int fy, int w,
                  int h, int depth);
    /** Adds the differences of a compensated line from the field's one, and those of this one from lines beside it. */
    void (*compare)(int *error, int *activity, const uint8_t *line, const uint8_t *above, const uint8_t *below,
                    const uint16_t *samples, int w, int depth);
    /** Adds the residual to a compensated row. */
    void (*residual)(uint16_t *dst, const uint16_t *above, const uint16_t *below, const uint8_t *line_above,
                     const uint8_t *line_below, int w, int depth);
    /** Adds the weighted squared differences of a compensated line to sums. */
    void (*add_errors)(const MvdeintSums *sums, const uint8_t *line, const uint16_t *samples, const uint8_t *real,
                       int w, int depth);
    /** Adds the squares by which a line is not what is between two others. */
    void (*add_activity)(uint32_t *squares, const uint8_t *line, const uint8_t *above, const uint8_t *below, int w,
                         int depth);
    /** Squares the differences of two lines. */
    void (*square_step)(uint32_t *step, const uint8_t *above, const uint8_t *below, int w, int depth);
    /** Makes a missing line of all that is known of it; 7 samples more are read and written. */
    void (*combine)(uint8_t *dst, const MvdeintRow *row);

    /** Replaces samples of a line by those of the first estimate where nothing changes in a row of MVDEINT_STILL. */
    void (*keep_still)(uint8_t *dst, const MvdeintRow *row);

    /* the same of any samples */
    /** Puts four areas together, in rows of MVDEINT_BLOCK: of the blocks on the left and right above, and below. */
    void (*blend)(uint16_t *dst, ptrdiff_t stride, const uint16_t *const *areas, int hsub, int vsub);
    /** Adds the weighted squared differences of two compensated lines to sums. */
    void (*add_pair)(const MvdeintSums *sums, const uint16_t *a, const uint16_t *b, const uint8_t *real_a,
                     const uint8_t *real_b, int w, int depth);
    /** Divides sums over five columns. */
    void (*mean)(uint32_t *dst, const MvdeintSums *sums, int w, int shift);
    /** Makes means over three columns. */
    void (*mean_activity)(uint32_t *dst, const uint32_t *squares, int w);
} MvdeintSamples;

void ff_mvdeint_samples_init(MvdeintSamples *s, int depth);
void ff_mvdeint_samples_init_x86(MvdeintSamples *s, int depth);
/** MvdeintSamples.combine, of bytes. */
void ff_mvdeint_combine_8(uint8_t *dst, const MvdeintRow *row);

/** Weights of an area, by subsampling. */
extern const uint8_t ff_mvdeint_window[3][MVDEINT_BLOCK];
/** The tables of MvdeintTables; what loads two entries at once can read one more. */
extern const uint16_t ff_mvdeint_power[256 + 1], ff_mvdeint_inverse[128 + 1];
/** The taps of the interpolation within a field, times 4096, by class. */
extern const int16_t ff_mvdeint_taps[MVDEINT_CLASSES][MVDEINT_INTRA_LINES * MVDEINT_INTRA_COLUMNS];

/** Returns the reciprocal of a sum of weights, from MVDEINT_LEAST_REAL on, times 65536. */
static inline unsigned mvdeint_reciprocal(unsigned weights)
{
    return (65536 + weights / 2) / weights;
}

#endif /* AVFILTER_GPUME_MVDEINT_SAMPLES_H */
