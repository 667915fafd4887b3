/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * What the map of divergence knows of kernels: the tables that divergence.py makes.
 */

#ifndef GPUME_TESTS_STANDIN_DIVERGENCE_H
#define GPUME_TESTS_STANDIN_DIVERGENCE_H

namespace standin {

/** A basic block. */
struct Block {
    const char *file;           ///< of its branch
    int line;
    bool entry, ret;            ///< of its function
    bool branch;                ///< more than one block can follow, and not only the end
    bool brief;                 ///< the device may need no branch
    int instructions;
    int meet;                   ///< number of the block where lanes that part after it meet again; -1: none
    /* counted */
    unsigned long long visits;      ///< by lanes of a warp together
    unsigned long long divergent;   ///< of them, those after which lanes went on in different blocks
    unsigned long long lanes;       ///< in all visits
};

/** All of a module. */
struct Blocks {
    const char *name;
    Block *blocks;
    int nb;
    Blocks *next;
};

void divergence_add(Blocks *all);

/** The running thread begins a block. */
void divergence_visit(Blocks *all, unsigned n);

} // namespace standin

#endif /* GPUME_TESTS_STANDIN_DIVERGENCE_H */
