/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes the map of divergence. Each thread records the basic blocks that it runs in its own list,
 * because threads take turns at barriers and exchanges. Then the lists of a warp are followed
 * together, as the device runs its lanes. Where lanes part, one group after the other continues to
 * the block where they meet: the immediate post-dominator of the block after which they have
 * parted.
 */

#include <string.h>

#include "standin.h"
#include "divergence.h"

namespace standin {

bool divergence_on;

/** Entries of a thread's list; longer lists are followed before the thread ends, when its warp is together. */
enum { LONG = 1 << 14, MAX_THREADS = 1024 };

static auto &notes = *new std::vector<std::vector<Block *>>(MAX_THREADS);
static Blocks *modules;
static u64 apart;               ///< number of lanes that should have been together but were not

/* the warp that is followed */
static Block **at[32], **end[32];
static u32 ended;               ///< mask of lanes that have ended
static Block *first_block;      ///< first block of the module
/** For each warp that waits together: the current block of each active function, from the outermost. */
static auto &stacks = *new std::vector<std::vector<Block *>>(MAX_THREADS / 32);
static auto &waits = *new std::vector<Block *>;

void divergence_add(Blocks *all)
{
    all->next     = modules;
    modules       = all;
    divergence_on = true;
}

void divergence_visit(Blocks *all, unsigned n)
{
    if (now.running) {
        first_block = all->blocks;
        notes[now.tid].push_back(&all->blocks[n]);
    }
}

static u32 with_more(u32 mask)
{
    u32 more = 0;

    for (u32 m = mask; m; m &= m - 1)
        if (at[__builtin_ctz(m)] < end[__builtin_ctz(m)])
            more |= m & -m;
    return more;
}

static Block *next_of(u32 mask)
{
    return *at[__builtin_ctz(mask)];
}

static u32 going_to(u32 mask, const Block *b)
{
    u32 same = 0;

    for (u32 m = mask; m; m &= m - 1)
        if (*at[__builtin_ctz(m)] == b)
            same |= m & -m;
    return same;
}

/** Records where lanes wait whose lists end here, but which will continue later. */
static void note_wait(u32 mask, size_t level, Block *b)
{
    if (!(mask & ~ended))
        return;
    if (waits.size() <= level)
        waits.resize(level + 1);
    apart += waits[level] && waits[level] != b;
    waits[level] = b;
}

/**
 * Follows lanes that are together, until they reach 'stop' or their function returns.
 * @param level   number of active callers of the function
 * @param waiting the stack of blocks at which the lanes waited, from which they continue; or NULL
 */
static void follow(u32 mask, const Block *stop, size_t level, const std::vector<Block *> *waiting)
{
    for (;;) {
        Block *b;

        if (waiting) {
            b = (*waiting)[level];
            if (level + 1 < waiting->size())
                follow(mask, NULL, level + 1, waiting);
            waiting = NULL;
        } else {
            mask = with_more(mask);
            if (!mask || (b = next_of(mask)) == stop)
                return;
            for (u32 m = mask; m; m &= m - 1)
                at[__builtin_ctz(m)]++;
            b->visits++;
            b->lanes += __builtin_popcount(mask);
        }
        for (u32 m; (m = with_more(mask)) && next_of(m)->entry; )
            follow(m, NULL, level + 1, NULL);
        note_wait(mask & ~with_more(mask), level, b);
        mask = with_more(mask);
        if (!mask || b->ret)
            return;

        u32 group = going_to(mask, next_of(mask));
        if (group == mask)
            continue;
        const Block *meet = b->meet < 0 ? NULL : first_block + b->meet;
        b->divergent++;
        for (u32 rest = mask; rest; rest &= ~group) {
            group = going_to(rest, next_of(rest));
            follow(group, meet, level, NULL);
        }
        if (!meet)
            return;
    }
}

/** Follows the lists of a warp. @param gone lanes that have ended */
static void follow_warp(u32 warp, u32 gone, u32 nb_threads)
{
    u32 mask = 0;

    for (u32 i = 0; i < 32 && warp * 32 + i < nb_threads; i++) {
        auto &n = notes[warp * 32 + i];

        at[i]  = n.data();
        end[i] = n.data() + n.size();
        mask  |= 1U << i;
    }
    ended = gone;
    waits.clear();
    follow(mask, NULL, 0, stacks[warp].empty() ? NULL : &stacks[warp]);
    apart += with_more(mask) != 0;
    stacks[warp] = waits;
    for (u32 i = 0; i < 32 && warp * 32 + i < nb_threads; i++)
        notes[warp * 32 + i].clear();
}

void divergence_together(u32 warp, u32 gone, u32 nb_threads)
{
    for (u32 i = warp * 32; i < warp * 32 + 32 && i < nb_threads; i++)
        if (notes[i].size() >= LONG) {
            follow_warp(warp, gone, nb_threads);
            return;
        }
}

void divergence_begin(u32 nb_threads)
{
    for (u32 i = 0; i < nb_threads; i++)
        notes[i].clear();
    for (u32 w = 0; w < (nb_threads + 31) / 32; w++)
        stacks[w].clear();
}

void divergence_end(u32 nb_threads)
{
    for (u32 w = 0; w < (nb_threads + 31) / 32; w++)
        follow_warp(w, ~0U, nb_threads);
}

void divergence_write(FILE *f)
{
    typedef std::pair<std::string, int> Line;

    fprintf(f, "kernel,file,line,visits,divergent,lanes,short\n");
    for (const Blocks *m = modules; m; m = m->next) {
        std::map<Line, Block> lines;
        std::map<Line, u64> brief;
        u64 instructions = 0, threads = 0, all_brief = 0;
        Block all = Block();

        for (int i = 0; i < m->nb; i++) {
            const Block &b = m->blocks[i];

            instructions += b.visits * b.instructions;
            threads      += b.lanes  * b.instructions;
            if (!b.branch || !b.visits)
                continue;
            if (b.brief) {
                all_brief += b.divergent;
                brief[Line(b.file, b.line)] += b.divergent;
            }
            for (Block *sum : { &all, &lines[Line(b.file, b.line)] }) {
                sum->visits    += b.visits;
                sum->divergent += b.divergent;
                sum->lanes     += b.lanes;
            }
        }
        if (!instructions)
            continue;
        fprintf(f, "%s,,0,%llu,%llu,%.4f,%llu\n", m->name, all.visits, all.divergent, (double)threads / instructions,
                (unsigned long long)all_brief);
        for (auto &l : lines)
            fprintf(f, "%s,%s,%d,%llu,%llu,%.4f,%llu\n", m->name, l.first.first.c_str(), l.first.second,
                    l.second.visits, l.second.divergent, (double)l.second.lanes / l.second.visits,
                    (unsigned long long)brief[l.first]);
    }
    if (apart)
        violation(0, "divergence: lanes wait for each other at different places %llu times", (unsigned long long)apart);
}

} // namespace standin

/* Clang's instrumentation calls this function; divergence.py has replaced its other calls by standin_visit_NAME() */
extern "C" __attribute__((visibility("hidden"), used))
void __sanitizer_cov_trace_pc_guard_init(uint32_t *, uint32_t *) { }
