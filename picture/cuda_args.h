/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Structs for pictures on the device that the host and the kernels share. Addresses are device addresses.
 */

#ifndef AVFILTER_GPUME_PICTURE_CUDA_ARGS_H
#define AVFILTER_GPUME_PICTURE_CUDA_ARGS_H

#include "libavfilter/gpume/picture/padding.h"

#define GPUME_CUDA_COMPONENTS 4

/** Rows of copies begin at multiples of this many bytes. */
#define GPUME_CUDA_ALIGNMENT 128

/**
 * Threads of a thread block that copies, and rows that each thread copies; a thread copies a 4-byte
 * word of each row.
 */
#define GPUME_CUDA_COPY_THREADS 128
#define GPUME_CUDA_COPY_ROWS      4

/** A component of a picture, and of the copy of the picture with repeated edges. */
typedef struct GpumeCudaComponent {
    unsigned long long plane;   ///< the plane's first byte
    long long linesize;
    int offset, log2_step;      ///< words to the first sample of a row, and log2 of the words from a sample to the next
    unsigned long long first;   ///< address of the copy's sample (0, 0)
    int stride;                 ///< bytes of a row of the copy, including GPUME_PAD samples before the first
    int w, h;                   ///< samples
} GpumeCudaComponent;

/** Parameters of the kernel that copies a picture's components without padding bits. */
typedef struct GpumeCudaLoadArgs {
    GpumeCudaComponent components[GPUME_CUDA_COMPONENTS];
    int shift;                  ///< bits below a sample in a word
} GpumeCudaLoadArgs;

#endif /* AVFILTER_GPUME_PICTURE_CUDA_ARGS_H */
