/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Counts the costs that each search computes for a block. The oracle searches, and the vectors that
 * it tries for a block are counted once for each size of the picture and each precision. Blocks of
 * smaller pictures are counted as well, so the number of hme is that of all levels for each block
 * of the last level. bench.sh and quality.sh build and call it.
 *
 * usage: gpume_tried WIDTH HEIGHT BLOCK RANGE [METHOD]... < frames of 8-bit gray
 * METHOD: the value of algo, then options: ds, ds:smooth=2:pel=4 [all searches, and hme]
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Size of the table of vectors of a picture; at most half of it is used. */
#define NB_KEYS (1 << 24)

static uint64_t keys[NB_KEYS];
static int64_t nb_tried;
static int counting;

static void note(int bx, int by, int bw, int pel, int dx, int dy)
{
    /* the number of columns distinguishes pictures of different sizes; no key is 0 */
    const uint64_t key = (uint64_t)(bx + 1) << 52 ^ (uint64_t)by << 40 ^ (uint64_t)(bw % 1024) << 30 ^
                         (uint64_t)(pel - 1) << 28 ^ (uint64_t)(dx + 8192) << 14 ^ (dy + 8192);
    size_t i = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 40;

    if (!counting)
        return;
    while (keys[i] && keys[i] != key)
        i = (i + 1) % NB_KEYS;
    nb_tried += !keys[i];
    keys[i]   = key;
}
#define ORACLE_NOTE(bx, by, bw, pel, dx, dy) note(bx, by, bw, pel, dx, dy)
#include "../tests/gpume_oracle_motion.h"

#define NB_SEARCHES (sizeof(oracle_searches) / sizeof(*oracle_searches))

typedef struct Method {
    const char *text;
    OracleMotion motion;
    OracleVector *found[3];     ///< results of the last searches
    int64_t sum;
} Method;

/* Counts all admissible candidates of a full search, then runs the oracle without counting. */
static OracleVector full_search(const OracleBlock *b)
{
    OracleVector v;

    for (int dy = -b->range; dy <= b->range; dy++)
        for (int dx = -b->range; dx <= b->range; dx++)
            nb_tried += oracle_admissible(b, dx, dy);
    counting = 0;
    v = oracle_search_fs(b);
    counting = 1;
    return v;
}

/* Returns 0 if the text is not a method. */
static int parse_method(OracleMotion *m, const char *text, int block, int range)
{
    const size_t length = strcspn(text, ":");
    const int hme = length == 3 && !strncmp(text, "hme", 3);
    int n, end;

    *m = (OracleMotion) {
        .cost = oracle_sad, .block = block, .range = hme ? 64 : range, .depth = 8,
        .smooth = hme ? 2 : 0, .sweeps = hme ? 4 : 2, .pel = hme ? 4 : 1,
    };
    for (size_t i = 0; i < NB_SEARCHES; i++)
        if (strlen(oracle_searches[i].name) == length &&
            !strncmp(oracle_searches[i].name, text, length))
            m->search = oracle_searches[i].search;
    if (!m->search && !hme)
        return 0;
    if (m->search == oracle_search_fs)
        m->search = full_search;
    for (text += length; *text; text += end) {
        end = 0;
        if (sscanf(text, ":smooth=%d%n", &n, &end) == 1 && end)
            m->smooth = n;
        else if (sscanf(text, ":sweeps=%d%n", &n, &end) == 1 && end)
            m->sweeps = n;
        else if (sscanf(text, ":pel=%d%n", &n, &end) == 1 && end)
            m->pel = n;
        else if (sscanf(text, ":range=%d%n", &n, &end) == 1 && end)
            m->range = n;
        else if ((sscanf(text, ":check=%d%n", &n, &end) != 1 || !end) &&    // check computes no costs
                 (sscanf(text, ":backend=%*[a-z]%n", &end) || !end))        // backends have equal costs
            return 0;
    }
    return m->range > 0 && m->range * m->pel < 8192 && m->sweeps >= 0 && m->smooth >= 0 &&
           (m->pel == 1 || m->pel == 2 || m->pel == 4);
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
    const int w     = argc >= 5 ? atoi(argv[1]) : 0;
    const int h     = argc >= 5 ? atoi(argv[2]) : 0;
    const int block = argc >= 5 ? atoi(argv[3]) : 0;
    const int range = argc >= 5 ? atoi(argv[4]) : 0;
    const int nb_methods = argc > 5 ? argc - 5 : NB_SEARCHES + 1;
    Method *methods = calloc(nb_methods, sizeof(*methods));
    OracleVector *vectors;
    uint16_t *samples[2];
    int nb_frames, nb;

    if (w < 1 || h < 1 || w > 4096 || h > 4096 || block < 1 || range < 1) {
        fprintf(stderr, "usage: gpume_tried WIDTH HEIGHT BLOCK RANGE [METHOD]... < frames\n");
        return 2;
    }
    nb = oracle_blocks(w, block) * oracle_blocks(h, block);
    vectors = calloc(nb, sizeof(*vectors));
    if (!methods || !vectors)
        return 1;
    for (int i = 0; i < 2; i++)
        if (!(samples[i] = malloc((size_t)w * h * sizeof(**samples))))
            return 1;
    for (int i = 0; i < nb_methods; i++) {
        Method *m = &methods[i];

        m->text = argc > 5 ? argv[5 + i] : i < NB_SEARCHES ? oracle_searches[i].name : "hme";
        if (!parse_method(&m->motion, m->text, block, range)) {
            fprintf(stderr, "gpume_tried: %s is no method\n", m->text);
            return 2;
        }
        for (int j = 0; j < 3; j++)
            if (!(m->found[j] = malloc(nb * sizeof(**m->found))))
                return 1;
    }

    counting = 1;
    for (nb_frames = 0; read_picture(samples[nb_frames & 1], w * h); nb_frames++) {
        const OraclePicture cur = { w, h, samples[ nb_frames & 1] };
        const OraclePicture ref = { w, h, samples[~nb_frames & 1] };

        for (int i = 0; nb_frames && i < nb_methods; i++) {
            const int n = nb_frames - 1;    // number of previous searches
            Method *m = &methods[i];

            memset(keys, 0, sizeof(keys));
            nb_tried = 0;
            oracle_motion(&m->motion, &cur, &ref, n > 0 ? m->found[(n + 2) % 3] : NULL,
                          n > 1 ? m->found[(n + 1) % 3] : NULL, m->found[n % 3], vectors);
            m->sum += nb_tried;
        }
    }
    if (nb_frames < 2) {
        fprintf(stderr, "gpume_tried: there are not two frames\n");
        return 1;
    }
    for (int i = 0; i < nb_methods; i++)
        printf("%s %.1f\n", methods[i].text, (double)methods[i].sum / (nb_frames - 1) / nb);
    return 0;
}
