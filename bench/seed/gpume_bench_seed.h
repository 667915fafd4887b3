/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Declarations that gpume_bench_seed.c and its kernels share.
 */

#ifndef GPUME_BENCH_SEED_H
#define GPUME_BENCH_SEED_H

/** Side of a block of the picture; maximum number of steps of the diamond search. */
#define GPUME_SEED_BLOCK 4
#define GPUME_SEED_STEPS 20

/** Numbers of threads of a thread block: maximum for candidates, for minima, for the diamond search. */
#define GPUME_SEED_FS_THREADS  1024
#define GPUME_SEED_MIN_THREADS  128
#define GPUME_SEED_DS_THREADS   128

/** A vector and its cost, as downloaded to the host. */
typedef struct GpumeSeedVector {
    short x, y;
    int sad;
} GpumeSeedVector;

/** The only parameter of every kernel. */
typedef struct GpumeSeedArgs {
    unsigned long long cur;     ///< device address of width x height samples of 8 bits
    unsigned long long ref;
    unsigned long long sads;    ///< int[bh][bw][candidates], fs only
    unsigned long long vectors; ///< GpumeSeedVector[bh][bw]
    int width, height;          ///< size of the picture
    int bw, bh;                 ///< number of complete blocks
    int range;                  ///< samples to each side; one less to the right and downwards if side is even
    int side;                   ///< candidates in a row and in a column, fs only
} GpumeSeedArgs;

#ifndef GPUME_DEVICE_CODE
#include <stdint.h>

/**
 * Searches as a serial program.
 * @param args    a rectangle of blocks, its range and side; no addresses
 * @param vectors vectors of all blocks; only those of every every-th row are computed
 * @return microseconds
 */
int64_t bench_seed_serial(const GpumeSeedArgs *args, int ds, const uint8_t *cur, const uint8_t *ref,
                          int every, GpumeSeedVector *vectors);
#endif

#endif /* GPUME_BENCH_SEED_H */
