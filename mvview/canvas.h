/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Describes how a picture of a pixel format is painted: its planes, the components of colours, and
 * the functions that blend rows of samples.
 */

#ifndef AVFILTER_GPUME_MVVIEW_CANVAS_H
#define AVFILTER_GPUME_MVVIEW_CANVAS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "libavutil/frame.h"
#include "libavutil/pixfmt.h"

/** Largest number of planes, and of components, of a picture. */
#define MVVIEW_PLANES 4
/** Largest number of luma samples that a chroma sample covers in each direction. */
#define MVVIEW_MAX_GROUP 4
/** Rows of weights are padded to a multiple of this with weights that leave samples unchanged. */
#define MVVIEW_PAD 8

/** A colour as red, green and blue, and its shade in pictures without colours. */
typedef struct MvviewColour {
    uint8_t rgb[3], shade;
} MvviewColour;

typedef struct MvviewPlane {
    int hsub, vsub;
    int w, h;               ///< samples
    int step;               ///< words from one sample to the next, including words that are not painted
    int8_t comp[4];         ///< component that each word holds; -1: the word is not painted
    int painted;            ///< whether any word is painted
} MvviewPlane;

typedef struct MvviewCanvas {
    int w, h;
    enum AVPixelFormat format;
    enum AVColorSpace space;
    enum AVColorRange range;
    int nb_planes;
    MvviewPlane planes[MVVIEW_PLANES];
    int nb_comps;           ///< without alpha: 1 or 3
    int rgb;
    int depth, shift;
    int swapped;            ///< whether the bytes of a word are swapped
    int bytes;              ///< bytes of a word
    int hsub, vsub;         ///< the largest of all planes

    /** Component c of a colour is (matrix[c] * rgb + offset[c]) >> 16. */
    long long matrix[3][3], offset[3];
    int luma[3];            ///< weights of red, green and blue in luma; their sum is 1 << 16

    /**
     * Computes dst = (src * mul + add) >> 8 for n words. Bits below the samples keep their values.
     * dst may equal src. For words of one byte, mul and add are uint16_t; for words of two bytes,
     * mul is uint16_t and add is uint32_t.
     */
    void (*blend)(const struct MvviewCanvas *c, uint8_t *dst, const uint8_t *src,
                  const void *mul, const void *add, ptrdiff_t n);
    /** Blends words of one byte as blend() does; n is a multiple of MVVIEW_PAD. */
    void (*blend_8)(uint8_t *dst, const uint8_t *src, const uint16_t *mul,
                    const uint16_t *add, ptrdiff_t n);
    /** Blends words of two bytes in native order as blend() does; n is a multiple of MVVIEW_PAD. */
    void (*blend_16)(uint8_t *dst, const uint8_t *src, const uint16_t *mul,
                     const uint32_t *add, ptrdiff_t n, int shift);
    /**
     * Blends h rows of words of one byte. The weights of a row follow those of the row before: mul,
     * then add. NULL where calling blend() for each row is as fast.
     */
    void (*blend_rect_8)(uint8_t *dst, ptrdiff_t linesize, const uint8_t *weights,
                         ptrdiff_t n, int h);
} MvviewCanvas;

int ff_mvview_format_supported(enum AVPixelFormat format);

/**
 * Initializes a canvas for pictures like this frame.
 * @param format pixel format of the samples: sw_format for a hardware frame
 * @return 1 if the canvas has changed, else 0
 */
int ff_mvview_canvas_init(MvviewCanvas *c, const AVFrame *frame, enum AVPixelFormat format);

/** Converts a colour to components. */
void ff_mvview_colour(const MvviewCanvas *c, const MvviewColour *colour, unsigned comp[3]);

void ff_mvview_canvas_init_x86(MvviewCanvas *c);
void ff_mvview_canvas_init_aarch64(MvviewCanvas *c);

/** Returns the number of words in a row of a plane. */
static inline int mvview_words(const MvviewPlane *p)
{
    return p->w * p->step;
}

/** Returns the size in bytes of the weights of n words: mul, then add. */
static inline size_t mvview_weights_size(const MvviewCanvas *c, size_t n)
{
    return n * (c->bytes == 1 ? 4 : 6);
}

/** Sets the weights of word i of n: v becomes (v * mul + add) >> 8. */
static inline void mvview_set_weights(const MvviewCanvas *c, void *weights, size_t n, size_t i,
                                      unsigned mul, unsigned add)
{
    uint16_t *m = weights;

    m[i] = mul;
    if (c->bytes == 1)
        m[n + i] = add;
    else
        ((uint32_t *)(m + n))[i] = add;
}

/** Copies the weights of count words, the first of n_src words, to word i of n words. */
static inline void mvview_copy_weights(const MvviewCanvas *c, void *dst, size_t n, size_t i,
                                       const void *src, size_t n_src, size_t count)
{
    const size_t size = c->bytes == 1 ? 2 : 4;

    memcpy((uint8_t *)dst + 2 * i, src, 2 * count);
    memcpy((uint8_t *)dst + 2 * n + size * i, (const uint8_t *)src + 2 * n_src, size * count);
}

#endif /* AVFILTER_GPUME_MVVIEW_CANVAS_H */
