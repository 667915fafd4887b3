/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * The motion field and the layout of its vectors. The host and device code include this file.
 */

#ifndef AVFILTER_GPUME_FIELD_FIELD_ARGS_H
#define AVFILTER_GPUME_FIELD_FIELD_ARGS_H

#include "libavfilter/gpume/util/integer.h"

/** Largest side of a block: AVMotionVector.w and .h have 8 bits. */
#define GPUME_MAX_BLOCK   128
#define GPUME_MIN_BLOCK     4
/** Largest search range, samples to each side. */
#define GPUME_MAX_RANGE  1024
/** Largest side of a picture: AVMotionVector.src_x = dst_x + dx has 16 bits with a sign. */
#define GPUME_MAX_SIDE  (32767 - GPUME_MAX_RANGE)
/** Largest distance of a reference that the option refs sets, in pictures. */
#define GPUME_MAX_REFS      8
/** Largest number of references of a picture, on both sides together. */
#define GPUME_MAX_REFERENCES (2 * GPUME_MAX_REFS)

/**
 * A motion field: the position of each block of a picture in another picture. Blocks of one size
 * tile the picture; arrays are in raster order. Addresses are host or device addresses.
 */
typedef struct GpumeMotionField {
    int distance;               ///< distance of the other picture: -1 is the previous picture, 1 the next
    int pel;                    ///< vectors are in units of 1/pel sample
    int width, height;          ///< size of the picture, luma samples
    int block;                  ///< side of a block, luma samples
    int bw, bh;                 ///< blocks across and down
    unsigned long long mvs;     ///< AVMotionVector[bh][bw]; 0: there are no vectors
    unsigned long long costs;   ///< uint32_t[bh][bw]
} GpumeMotionField;

/**
 * A block of the picture and the limits of its admissible vectors, which are within the range and
 * inside the reference.
 */
typedef struct GpumeBox {
    int x0, y0;                 ///< first sample
    int w, h;                   ///< actual size, smaller at the right and bottom edges
    int min_dx, max_dx;
    int min_dy, max_dy;
} GpumeBox;

/** 32-bit words of an AVMotionVector. Padding words are 0, so equal vectors have equal bytes. */
#define GPUME_VECTOR_WORDS 10

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define GPUME_HALVES(first, second) ((unsigned)(first) << 16 | ((unsigned)(second) & 0xffff))
#define GPUME_BYTES(first, second)  ((unsigned)(first) << 8 | (unsigned)(second))
#define GPUME_FLAGS_LOW(flags)      0
#define GPUME_FLAGS_HIGH(flags)     (flags)
#else
#define GPUME_HALVES(first, second) ((unsigned)(second) << 16 | ((unsigned)(first) & 0xffff))
#define GPUME_BYTES(first, second)  ((unsigned)(second) << 8 | (unsigned)(first))
#define GPUME_FLAGS_LOW(flags)      (flags)
#define GPUME_FLAGS_HIGH(flags)     0
#endif

/** Bit of AVMotionVector.flags: the vector is inconsistent with the vector of the opposite direction. */
#define GPUME_FLAG_INCONSISTENT 1

#ifndef GPUME_DEVICE_CODE
#include <assert.h>
#include <stddef.h>

#include "libavutil/motion_vector.h"

/* AVMotionVector is written and read as words */
#define GPUME_IS_AT(field, word, byte) (offsetof(AVMotionVector, field) == 4 * (word) + (byte))
static_assert(sizeof(AVMotionVector) == 4 * GPUME_VECTOR_WORDS &&
              GPUME_IS_AT(source,   0, 0) && GPUME_IS_AT(w,        1, 0) && GPUME_IS_AT(h,     1, 1) &&
              GPUME_IS_AT(src_x,    1, 2) && GPUME_IS_AT(src_y,    2, 0) && GPUME_IS_AT(dst_x, 2, 2) &&
              GPUME_IS_AT(dst_y,    3, 0) && GPUME_IS_AT(flags,    4, 0) &&
              GPUME_IS_AT(motion_x, 6, 0) && GPUME_IS_AT(motion_y, 7, 0) &&
              GPUME_IS_AT(motion_scale, 8, 0), "layout of AVMotionVector");
#endif

/**
 * Returns word i of the vector (dx, dy) of a block of w x h samples that begins at (x0, y0).
 * @param source distance of the reference, AVMotionVector.source
 */
GPUME_INLINE unsigned gpume_vector_word(int i, int source, int x0, int y0, int w, int h,
                                        int dx, int dy)
{
    const int x = x0 + w / 2, y = y0 + h / 2;   // dst_x, dst_y

    switch (i) {
    case 0:  return source;
    case 1:  return GPUME_HALVES(GPUME_BYTES(w, h), x + dx);
    case 2:  return GPUME_HALVES(y + dy, x);
    case 3:  return GPUME_HALVES(y, 0);
    case 6:  return dx;
    case 7:  return dy;
    case 8:  return GPUME_HALVES(1, 0);         // motion_scale
    default: return 0;
    }
}

GPUME_INLINE int gpume_log2_pel(int pel)
{
    return pel >> 1;    // pel is 1, 2 or 4
}

/** Converts a component of a vector from units of 1/pel sample to whole samples, rounded as src_x is. */
GPUME_INLINE int gpume_whole(int d, int pel)
{
    return (d + pel / 2) >> gpume_log2_pel(pel);
}

/** Returns word i of a vector in units of 1/pel sample. @param flags AVMotionVector.flags */
GPUME_INLINE unsigned gpume_subpel_vector_word(int i, int source, const GpumeBox *b,
                                               int dx, int dy, int pel, int flags)
{
    switch (i) {
    case 4:  return GPUME_FLAGS_LOW(flags);
    case 5:  return GPUME_FLAGS_HIGH(flags);
    case 6:  return dx;
    case 7:  return dy;
    case 8:  return GPUME_HALVES(pel, 0);
    default: return gpume_vector_word(i, source, b->x0, b->y0, b->w, b->h,
                                      gpume_whole(dx, pel), gpume_whole(dy, pel));
    }
}

#endif /* AVFILTER_GPUME_FIELD_FIELD_ARGS_H */
