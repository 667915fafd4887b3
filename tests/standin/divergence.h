/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tables that describe the kernels for the map of divergence; divergence.py generates them.
 */

#ifndef GPUME_TESTS_STANDIN_DIVERGENCE_H
#define GPUME_TESTS_STANDIN_DIVERGENCE_H

namespace standin {

/** A basic block. */
struct Block {
    const char *file;           ///< source line of its branch
    int line;
    bool entry, ret;            ///< whether it is the entry of a function, and whether it returns
    bool branch;                ///< whether several blocks other than the function's end can follow
    bool brief;                 ///< whether the device may need no branch
    int instructions;
    int meet;                   ///< index of the block where lanes that part after it meet again; -1: none
    /* counters */
    unsigned long long visits;      ///< number of visits by groups of lanes
    unsigned long long divergent;   ///< number of visits after which lanes went to different blocks
    unsigned long long lanes;       ///< number of lanes in all visits
};

/** The blocks of a module. */
struct Blocks {
    const char *name;
    Block *blocks;
    int nb;
    Blocks *next;
};

void divergence_add(Blocks *all);

/** Records that the running thread begins a block. */
void divergence_visit(Blocks *all, unsigned n);

} // namespace standin

#endif /* GPUME_TESTS_STANDIN_DIVERGENCE_H */
