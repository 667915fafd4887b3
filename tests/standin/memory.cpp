/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */


/**
 * @file
 * Allocates device memory and pinned host memory in one reserved range of addresses. Addresses are
 * not reused soon, every allocation ends at a guard page, and host code cannot access device
 * memory: its pages are protected except while queued work runs.
 */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <deque>

#include "standin.h"

namespace standin {

uintptr_t region_base;
size_t region_size;
Alloc **region_table;

enum { PAGE = 1 << PAGE_SHIFT };

/* Offset of an allocation in its first page: the alignment is that of cuMemAlloc and not larger. */
enum { OFFSET_DEVICE = 256, OFFSET_PINNED = 64 };

static std::map<uintptr_t, Alloc *> &all = *new std::map<uintptr_t, Alloc *>;

struct Arena {
    uintptr_t start, end, cursor, top;  ///< top: end of the addresses ever used
};
static Arena arenas[2];

struct Freed {
    u32 id;
    uintptr_t base;
    size_t size;
    const char *by;
};
static std::deque<Freed> &freed = *new std::deque<Freed>;

static u32 next_id = 1;
static int unlocked;

const std::map<uintptr_t, Alloc *> &memory_all()
{
    return all;
}

static struct sigaction old_action;

/** Reports the access that causes a crash, and lets the process crash. */
static void on_segv(int sig, siginfo_t *info, void *context)
{
    const uintptr_t addr = (uintptr_t)info->si_addr;

    (void)sig;
    (void)context;
    sigaction(SIGSEGV, &old_action, NULL);
    if (addr - region_base >= region_size)
        return;
    violation(0, "host code touches 0x%llx: %s", (unsigned long long)addr,
              memory_describe(addr).c_str());
}

void memory_init()
{
    void *p = MAP_FAILED;

    for (region_size = (size_t)1 << 36; region_size >= (size_t)1 << 30; region_size /= 2) {
        p = mmap(NULL, region_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p != MAP_FAILED)
            break;
    }
    region_base = (uintptr_t)p;
    region_table = (Alloc **)mmap(NULL, (region_size >> PAGE_SHIFT) * sizeof(Alloc *),
                                  PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED || region_table == MAP_FAILED) {
        fprintf(stderr, "standin: no address space\n");
        abort();
    }
    const uintptr_t middle = region_base + region_size / 4 * 3;
    arenas[ALLOC_DEVICE] = { region_base + PAGE, middle, region_base + PAGE, region_base + PAGE };
    arenas[ALLOC_PINNED] = { middle, region_base + region_size, middle, middle };

    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = on_segv;
    action.sa_flags     = SA_SIGINFO;
    sigaction(SIGSEGV, &action, &old_action);
}

/** Returns addresses for size bytes and a guard page; 0: none are left. */
static uintptr_t find_room(Arena &arena, size_t size)
{
    for (int round = 0; round < 2; round++) {
        uintptr_t at = arena.cursor;
        while (size + PAGE <= arena.end - at) {
            /* the first allocation that ends after 'at' */
            auto next = all.lower_bound(at);
            if (next == all.end() || next->second->pages >= at + size + PAGE)
                return at;
            at = next->second->pages + next->second->pages_size + PAGE;
        }
        arena.cursor = arena.start;
    }
    return 0;
}

static void fill(void *p, size_t size)
{
    u64 pattern = rnd() | 0x0101010101010101ULL;
    unsigned char *c = (unsigned char *)p;

    for (; size >= 8; size -= 8, c += 8) {
        memcpy(c, &pattern, 8);
        pattern = pattern * 0x9E3779B97F4A7C15ULL + 0x632BE59BD9B4E019ULL;
    }
    memcpy(c, &pattern, size);
}

Alloc *memory_alloc(AllocKind kind, Context *ctx, size_t size, const char *by)
{
    Arena &arena = arenas[kind];
    const size_t offset = kind == ALLOC_DEVICE ? OFFSET_DEVICE : OFFSET_PINNED;
    const size_t pages_size = (offset + size + PAGE - 1) & ~(size_t)(PAGE - 1);
    const uintptr_t pages = find_room(arena, pages_size);

    if (!pages)
        return NULL;
    if (mprotect((void *)pages, pages_size, PROT_READ | PROT_WRITE) < 0)
        return NULL;
    arena.cursor = pages + pages_size + PAGE;
    if (arena.cursor > arena.top)
        arena.top = arena.cursor;

    Alloc *a = new Alloc();
    a->id         = next_id++;
    a->kind       = kind;
    a->ctx        = ctx;
    a->by         = by;
    a->base       = pages + offset;
    a->size       = size;
    a->pages      = pages;
    a->pages_size = pages_size;
    shadow_init(a->shadow, size);
    fill((void *)a->base, size);
    if (kind == ALLOC_DEVICE && settings.protect && !unlocked)
        mprotect((void *)pages, pages_size, PROT_NONE);
    for (size_t i = 0; i < pages_size >> PAGE_SHIFT; i++)
        region_table[((pages - region_base) >> PAGE_SHIFT) + i] = a;
    all[a->base] = a;
    return a;
}

void memory_free(Alloc *a)
{
    for (size_t i = 0; i < a->pages_size >> PAGE_SHIFT; i++)
        region_table[((a->pages - region_base) >> PAGE_SHIFT) + i] = NULL;
    madvise((void *)a->pages, a->pages_size, MADV_DONTNEED);
    mprotect((void *)a->pages, a->pages_size, PROT_NONE);
    shadow_free(a->shadow);
    all.erase(a->base);
    freed.push_front({ a->id, a->base, a->size, a->by });
    if (freed.size() > 256)
        freed.pop_back();
    delete a;
}

Alloc *memory_find(uintptr_t addr)
{
    return addr - region_base < region_size ? region_table[(addr - region_base) >> PAGE_SHIFT] : NULL;
}

Alloc *memory_exact(uintptr_t addr)
{
    Alloc *a = memory_find(addr);
    return a && addr - a->base < a->size ? a : NULL;
}

static std::string within(uintptr_t addr, const char *what, u32 id, uintptr_t base, size_t size,
                          const char *by)
{
    std::string s;

    if (addr < base)
        s = format("%llu bytes before", (unsigned long long)(base - addr));
    else if (addr >= base + size)
        s = format("%llu bytes past the end of", (unsigned long long)(addr - base - size));
    else
        s = format("byte %llu of", (unsigned long long)(addr - base));
    return s + format(" %s #%u (%zu bytes at 0x%llx, %s)", what, id, size,
                      (unsigned long long)base, by);
}

std::string memory_describe(uintptr_t addr)
{
    const Alloc *near = NULL;
    u64 best = UINT64_MAX;

    for (const Freed &f : freed)
        if (addr - f.base < f.size)
            return within(addr, "allocation", f.id, f.base, f.size, f.by) + ", which has been freed";
    for (auto &i : all) {
        const Alloc *a = i.second;
        u64 distance = addr < a->base ? a->base - addr :
                       addr >= a->base + a->size ? addr - a->base - a->size : 0;
        if (distance < best) {
            best = distance;
            near = a;
        }
    }
    if (near && best < (1 << 20))
        return within(addr, near->kind == ALLOC_PINNED ? "pinned allocation" : "device allocation",
                      near->id, near->base, near->size, near->by);
    if (addr < 4096)
        return "a null pointer";
    return "no memory of the device";
}

u64 memory_used(int device)
{
    u64 sum = 0;
    for (auto &i : all)
        if (i.second->kind == ALLOC_DEVICE && i.second->ctx->device == device)
            sum += i.second->size;
    return sum;
}

u64 memory_used_pinned()
{
    u64 sum = 0;
    for (auto &i : all)
        if (i.second->kind == ALLOC_PINNED)
            sum += i.second->size;
    return sum;
}

static void protect(int how)
{
    const Arena &arena = arenas[ALLOC_DEVICE];

    if (settings.protect && arena.top > arena.start)
        mprotect((void *)arena.start, arena.top - arena.start, how);
}

void memory_unlock()
{
    if (!unlocked++)
        protect(PROT_READ | PROT_WRITE);
}

void memory_lock()
{
    if (!--unlocked)
        protect(PROT_NONE);
}

} // namespace standin
