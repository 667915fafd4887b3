/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * How many vectors each search tries: different ones, a block on average, as the
 * oracle's searches do. bench.sh builds and calls it.
 *
 * usage: gpume_tried WIDTH HEIGHT BLOCK RANGE < frames of 8-bit gray
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Vectors to each side that can be told apart. */
#define MAX_RANGE 64

static unsigned char tried[2 * MAX_RANGE + 1][2 * MAX_RANGE + 1];
static int nb_tried;

static void note(int dx, int dy)
{
    unsigned char *mark = &tried[dy + MAX_RANGE][dx + MAX_RANGE];

    nb_tried += !*mark;
    *mark = 1;
}
#define ORACLE_NOTE(dx, dy) note(dx, dy)
#include "../tests/gpume_oracle.h"

#define NB_SEARCHES (sizeof(oracle_searches) / sizeof(*oracle_searches))

/** Vectors in all, by search; and the one that is searched. */
static int64_t sums[NB_SEARCHES];
static size_t current;

static OracleVector count(const OracleBlock *b)
{
    OracleVector v = { 0, 0, 0 };

    memset(tried, 0, sizeof(tried));
    nb_tried = 0;
    if (oracle_searches[current].search == oracle_search_fs) {
        /* what it finds is not asked for, and takes long */
        for (int dy = -b->range; dy <= b->range; dy++)
            for (int dx = -b->range; dx <= b->range; dx++)
                nb_tried += oracle_admissible(b, dx, dy);
    } else {
        v = oracle_searches[current].search(b);
    }
    sums[current] += nb_tried;
    return v;
}

static int read_picture(uint16_t *samples, int nb)
{
    for (int i = 0; i < nb; i++) {
        const int c = getchar();

        if (c == EOF)
            return 0;
        samples[i] = c;
    }
    return 1;
}

int main(int argc, char **argv)
{
    const int w     = argc == 5 ? atoi(argv[1]) : 0;
    const int h     = argc == 5 ? atoi(argv[2]) : 0;
    const int block = argc == 5 ? atoi(argv[3]) : 0;
    const int range = argc == 5 ? atoi(argv[4]) : 0;
    OracleVector *fields[NB_SEARCHES][3];
    uint16_t *samples[2];
    int nb_frames, nb;

    if (w < 1 || h < 1 || w > 32768 || h > 32768 || block < 1 || range < 1 || range > MAX_RANGE) {
        fprintf(stderr, "usage: gpume_tried WIDTH HEIGHT BLOCK RANGE (to %d) < frames\n", MAX_RANGE);
        return 2;
    }
    nb = oracle_blocks(w, block) * oracle_blocks(h, block);
    for (int i = 0; i < 2; i++)
        if (!(samples[i] = malloc((size_t)w * h * sizeof(**samples))))
            return 1;
    for (size_t i = 0; i < NB_SEARCHES; i++)
        for (int j = 0; j < 3; j++)
            if (!(fields[i][j] = malloc(nb * sizeof(OracleVector))))
                return 1;

    for (nb_frames = 0; read_picture(samples[nb_frames & 1], w * h); nb_frames++) {
        const OraclePicture cur = { w, h, samples[ nb_frames & 1] };
        const OraclePicture ref = { w, h, samples[~nb_frames & 1] };

        for (size_t i = 0; nb_frames && i < NB_SEARCHES; i++) {
            const int n = nb_frames - 1;    // searches before this one

            current = i;
            oracle_field(count, &cur, &ref, block, range,
                         n > 0 ? fields[i][(n + 2) % 3] : NULL,
                         n > 1 ? fields[i][(n + 1) % 3] : NULL, fields[i][n % 3]);
        }
    }
    if (nb_frames < 2) {
        fprintf(stderr, "gpume_tried: there are not two frames\n");
        return 1;
    }
    for (size_t i = 0; i < NB_SEARCHES; i++)
        printf("%s %.1f\n", oracle_searches[i].name, (double)sums[i] / (nb_frames - 1) / nb);
    return 0;
}
