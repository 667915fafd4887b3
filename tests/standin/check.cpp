/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */


/**
 * @file
 * Checks loads and stores of kernels. The compiler's thread sanitizer (-fsanitize=thread, without
 * its runtime) inserts a call before each access; this file implements these calls. Each access is
 * checked against the allocations, for memory never written, and for an unordered access by another
 * thread. Order is the happens-before relation of barriers, warp exchanges, launches, streams and
 * events, and does not depend on the schedule.
 *
 * Copies between host and device use the same shadow memory.
 */

#include <string.h>
#include <sys/mman.h>

#include <algorithm>

#include "standin.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))
#define EXPORT extern "C" __attribute__((visibility("hidden"), used))

namespace standin {

Now now;

/* shadow of shared memory; stamps before the block's start mean: never written */
static Cell shared_words[SHARED_MAX / 4], shared_bytes[SHARED_MAX];
static Shadow shared_shadow = { shared_words, shared_bytes, SHARED_MAX };

static Cell *cells_alloc(size_t n)
{
    void *p = mmap(NULL, n * sizeof(Cell), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "standin: no memory for the shadow of %zu cells\n", n);
        abort();
    }
    return (Cell *)p;
}

void shadow_init(Shadow &s, size_t size)
{
    s.size  = size;
    s.words = cells_alloc((size + 3) / 4);
    s.bytes = NULL;
}

void shadow_free(Shadow &s)
{
    munmap(s.words, (s.size + 3) / 4 * sizeof(Cell));
    if (s.bytes)
        munmap(s.bytes, (s.size + 3) / 4 * 4 * sizeof(Cell));
    s.words = s.bytes = NULL;
}

static void split(Shadow &s, size_t word)
{
    if (!s.bytes)
        s.bytes = cells_alloc((s.size + 3) / 4 * 4);
    for (int i = 0; i < 4; i++)
        s.bytes[4 * word + i] = s.words[word];
    s.words[word].write = now.time << 16 | SPLIT;
    s.words[word].read  = 0;
}

/** The location of an access, and assumptions about it. */
struct Place {
    Shadow *shadow;
    u64 past;               ///< accesses with smaller stamps happened before
    u64 written;            ///< smaller stamps mean: never written
    Alloc *alloc;           ///< NULL: shared memory
};

/* Order. */

static ALWAYS_INLINE bool lanes_ordered(u32 warp, u32 me, u32 other, u64 time)
{
    return time < now.full[warp] ||
           (now.part[warp] && time < now.part[warp][me & 31][other & 31]);
}

static __attribute__((noinline)) bool ordered_elsewhere(u64 stamp)
{
    u64 time = stamp >> 16;
    return time >= now.op_start ? cta_ordered(time) : !unordered_op(time);
}

static ALWAYS_INLINE bool ordered(u64 stamp, u64 past)
{
    if (stamp < past)
        return true;
    const u64 time = stamp >> 16;
    if (time < now.cta_start)
        return ordered_elsewhere(stamp);
    if (time < now.barrier)
        return true;
    const u32 tid = stamp >> TID_SHIFT & TID_MASK;
    if (tid == now.tid)
        return true;
    return (tid >> 5) == (now.tid >> 5) && tid < ENGINE &&
           lanes_ordered(tid >> 5, now.tid, tid, time);
}

/** Returns whether all reads that a cell records are ordered before the current access. */
static bool reads_ordered(const Cell &c, u64 past)
{
    const u64 time = c.read >> 16;
    const u32 tid  = c.read >> TID_SHIFT & TID_MASK;

    if (c.read < past)
        return true;
    switch (c.read & KIND_MASK) {
    case READ_ONE:
        return ordered(c.read, past);
    case READ_WARP:
        if (time < now.cta_start)
            return ordered_elsewhere(c.read);
        if (time < now.barrier)
            return true;
        if (tid >> 5 != now.tid >> 5)
            return false;
        for (u32 i = 0; i < 32; i++)
            if (c.more >> i & 1 && i != (now.tid & 31) &&
                !lanes_ordered(tid >> 5, now.tid, i, time))
                return false;
        return true;
    case READ_CTA:
        return time < now.cta_start ? ordered_elsewhere(c.read) : time < now.barrier;
    case READ_OP:
        return time < now.op_start && ordered_elsewhere(c.read);
    case READ_OPS:
        return readset_ordered(c.more);
    }
    return true;
}

/** Records an additional reader: c.read is not of the running thread, and is not ordered before it. */
static __attribute__((noinline)) void read_by_more(Cell &c, u64 past)
{
    const u64 mine = now.stamp | READ_ONE;
    const u64 time = c.read >> 16;
    const u32 tid  = c.read >> TID_SHIFT & TID_MASK;
    const u64 kind = c.read & KIND_MASK;

    if (reads_ordered(c, past)) {
        c.read = mine;
        return;
    }
    if (kind == READ_OPS) {
        c.more = readset_add(c.more, 0);
        c.read = now.stamp | READ_OPS;
    } else if (time < now.op_start) {
        c.more = readset_add(0, time);
        c.read = now.stamp | READ_OPS;
    } else if (kind == READ_OP || time < now.cta_start) {
        c.read = now.stamp | READ_OP;
    } else if (kind == READ_CTA || tid >> 5 != now.tid >> 5) {
        c.read = now.stamp | READ_CTA;
    } else {
        if (kind == READ_ONE)
            c.more = 1ULL << (tid & 31);
        c.more |= 1ULL << (now.tid & 31);
        c.read  = now.stamp | READ_WARP;
    }
}

/* Reports. */

static std::string place_name(const Place &p, uintptr_t addr)
{
    if (!p.alloc)
        return format("byte %zu of shared memory",
                      (size_t)(addr - (uintptr_t)standin_shared_memory - 16));
    return format("byte %zu of allocation #%u (%zu bytes, %s)",
                  (size_t)(addr - p.alloc->base), p.alloc->id, p.alloc->size, p.alloc->by);
}

static std::string who(u64 stamp)
{
    const u64 time = stamp >> 16;
    const u32 tid  = stamp >> TID_SHIFT & TID_MASK;

    if (time < now.op_start)
        return op_name_at(time);
    return exec_cta(time) + " " + exec_thread(tid);
}

static u64 report_key(const void *pc, u64 kind)
{
    return ((u64)(uintptr_t)pc << 4) + kind;
}

static const char *copying;     ///< description of the running copy; NULL: a kernel runs

static __attribute__((noinline))
void report_race(const Place &p, uintptr_t addr, const void *pc, u64 stamp,
                 bool i_write, bool other_wrote)
{
    /* reports once for each copy, or for each line of a kernel */
    const u64 key = copying ? now.op_start << 4 | 9 : report_key(pc, i_write ? 1 : 2);
    const u64 kind = stamp & KIND_MASK;

    if (violation_known(key))
        return;
    std::string other = who(stamp);

    if (!other_wrote && kind != READ_ONE)
        other += " and others";
    const char *verb = other_wrote ? "written" : "read";
    if (copying)
        violation(key, "%s %s %s, that %s has %s; nothing orders the two (an event, a synchronisation?)",
                  copying, i_write ? "writes" : "reads", place_name(p, addr).c_str(),
                  other.c_str(), verb);
    else if (stamp >> 16 < now.op_start)
        violation(key, "%s: %s %s, that %s has %s; nothing orders the two (an event?)%s",
                  exec_where().c_str(), i_write ? "writes" : "reads",
                  place_name(p, addr).c_str(), other.c_str(), verb, source_of(pc).c_str());
    else
        violation(key, "%s: race: %s %s, that %s has %s, with no barrier or warp exchange between%s",
                  exec_where().c_str(), i_write ? "writes" : "reads",
                  place_name(p, addr).c_str(), other.c_str(), verb, source_of(pc).c_str());
}

static __attribute__((noinline))
void report_unwritten(const Place &p, uintptr_t addr, const void *pc)
{
    if (violation_known(report_key(pc, 3)) || (p.alloc && copy_failed()))
        return;
    violation(report_key(pc, 3), "%s: reads %s, which was never written%s",
              exec_where().c_str(), place_name(p, addr).c_str(), source_of(pc).c_str());
}

static __attribute__((noinline, noreturn))
void report_bounds(uintptr_t addr, size_t size, bool write, const void *pc)
{
    {   /* exec_kill() does not return, so a string must be freed before */
        std::string where;
        const uintptr_t shared = (uintptr_t)standin_shared_memory + 16;
        Alloc *a = memory_find(addr);

        if (addr - (shared - 16) < SHARED_MAX + 32)
            where = format("byte %td of shared memory, of which the launch has %u bytes",
                           (ptrdiff_t)(addr - shared), now.shared_size);
        else if (a && memory_exact(addr) && a->ctx != now.ctx && !a->portable)
            where = format("allocation #%u of another context", a->id);
        else
            where = memory_describe(addr);
        violation(report_key(pc, 4), "%s: %s %zu bytes at 0x%llx: %s%s", exec_where().c_str(),
                  write ? "writes" : "reads", size, (unsigned long long)addr, where.c_str(),
                  source_of(pc).c_str());
    }
    exec_kill(ERROR_ILLEGAL_ADDRESS);
}

/* One cell. */

template<Access A>
static ALWAYS_INLINE void cell(Cell &c, const Place &p, uintptr_t addr, const void *pc)
{
    const bool writes = A == ACCESS_WRITE || A == ACCESS_ATOMIC || A == ACCESS_VOLATILE_WRITE;
    const bool reads  = A == ACCESS_READ  || A == ACCESS_ATOMIC || A == ACCESS_VOLATILE_READ;
    const bool strong = A != ACCESS_READ && A != ACCESS_WRITE;

    if (reads && UNLIKELY(c.write < p.written))
        report_unwritten(p, addr, pc);
    if (UNLIKELY(c.write >= p.past) && !ordered(c.write, p.past) &&
        !(strong && (c.write & KIND_MASK) == WRITE_ATOMIC))
        report_race(p, addr, pc, c.write, writes, true);
    if (writes) {
        if (UNLIKELY(c.read >= p.past) && !reads_ordered(c, p.past))
            report_race(p, addr, pc, c.read, true, false);
        c.write = now.stamp | (strong ? WRITE_ATOMIC : WRITE_PLAIN);
        c.read  = 0;
    } else if (A == ACCESS_READ) {
        /* a volatile read does not conflict with later volatile writes */
        const u64 r = c.read;
        if (r == (now.stamp | READ_ONE))
            return;
        if (r < p.past)
            c.read = now.stamp | READ_ONE;
        else if (!((r & KIND_MASK) == READ_OP  && r >= now.op_start << 16) &&
                 !((r & KIND_MASK) == READ_CTA && r >= now.barrier  << 16))
            read_by_more(c, p.past);
    }
}

template<Access A>
static ALWAYS_INLINE void cells(const Place &p, size_t off, size_t size,
                                uintptr_t addr, const void *pc)
{
    Shadow &s = *p.shadow;
    const size_t end = off + size;

    addr -= off;
    while (off < end) {
        Cell &w = s.words[off >> 2];
        if (UNLIKELY(w.write & SPLIT) && w.write < p.written)
            w.write = w.read = 0;   /* a previous block's shared memory */
        if (LIKELY(!(off & 3) && end - off >= 4)) {
            if (LIKELY(!(w.write & SPLIT))) {
                cell<A>(w, p, addr + off, pc);
            } else {
                for (int i = 0; i < 4; i++)
                    cell<A>(s.bytes[off + i], p, addr + off + i, pc);
                if (A == ACCESS_WRITE || A == ACCESS_ATOMIC || A == ACCESS_VOLATILE_WRITE)
                    w = s.bytes[off];
            }
            off += 4;
        } else {
            const size_t stop = std::min(end, (off & ~(size_t)3) + 4);
            if (!(w.write & SPLIT))
                split(s, off >> 2);
            for (; off < stop; off++)
                cell<A>(s.bytes[off], p, addr + off, pc);
        }
    }
}

static __attribute__((noinline))
void elsewhere(uintptr_t addr, size_t size, bool write, const void *pc)
{
    extern bool exec_readable(uintptr_t addr, size_t size);

    if (write || !exec_readable(addr, size))
        report_bounds(addr, size, write, pc);
}

static __attribute__((noinline, noreturn)) void too_long(const void *pc)
{
    violation(report_key(pc, 5), "%s: has made %llu accesses and meets no other thread: it does not end%s",
              exec_where().c_str(), (unsigned long long)settings.max_accesses,
              source_of(pc).c_str());
    exec_kill(ERROR_LAUNCH_TIMEOUT);
}

/** Finds the location of an access. @return false if there is nothing to check */
static ALWAYS_INLINE bool find(Place &p, size_t &off, uintptr_t addr, size_t size,
                               bool write, const void *pc)
{
    if (addr - now.stacks < now.stacks_size)
        return false;
    if (UNLIKELY(++now.accesses > now.deadline))
        too_long(pc);
    now.stores += write;
    off = addr - ((uintptr_t)standin_shared_memory + 16);
    if (off < SHARED_MAX) {
        if (UNLIKELY(off + size > now.shared_size))
            report_bounds(addr, size, write, pc);
        p.shadow  = &shared_shadow;
        p.past    = p.written = now.cta_start << 16;
        p.alloc   = NULL;
        return true;
    }
    if (LIKELY(addr - region_base < region_size)) {
        Alloc *a = region_table[(addr - region_base) >> PAGE_SHIFT];
        if (UNLIKELY(!a || (off = addr - a->base) >= a->size || size > a->size - off ||
                     (a->ctx != now.ctx && !a->portable)))
            report_bounds(addr, size, write, pc);
        p.shadow  = &a->shadow;
        p.past    = now.op_ordered << 16;
        p.written = a->kind == ALLOC_DEVICE;    /* host writes to pinned memory are not observed */
        p.alloc   = a;
        return true;
    }
    elsewhere(addr, size, write, pc);
    return false;
}

template<Access A>
static ALWAYS_INLINE void check(const volatile void *addr, size_t size, const void *pc)
{
    Place p;
    size_t off;

    if (find(p, off, (uintptr_t)addr, size,
             A != ACCESS_READ && A != ACCESS_VOLATILE_READ, pc))
        cells<A>(p, off, size, (uintptr_t)addr, pc);
}

void check_access(uintptr_t addr, size_t size, Access access, const void *pc)
{
    if (access == ACCESS_READ)
        check<ACCESS_READ>((void *)addr, size, pc);
    else if (access == ACCESS_WRITE)
        check<ACCESS_WRITE>((void *)addr, size, pc);
    else if (access == ACCESS_VOLATILE_READ)
        check<ACCESS_VOLATILE_READ>((void *)addr, size, pc);
    else if (access == ACCESS_VOLATILE_WRITE)
        check<ACCESS_VOLATILE_WRITE>((void *)addr, size, pc);
    else
        check<ACCESS_ATOMIC>((void *)addr, size, pc);
}

void check_ldg(uintptr_t addr, size_t size, const void *pc)
{
    Place p;
    size_t off;

    if (!find(p, off, addr, size, false, pc))
        return;
    now.accesses--;             /* the load itself is counted later */
    if (!p.alloc) {
        violation(report_key(pc, 6), "%s: __ldg of shared memory%s",
                  exec_where().c_str(), source_of(pc).c_str());
        return;
    }
    for (size_t i = off; i < off + size; i++) {
        const Cell &w = p.shadow->words[i >> 2];
        const Cell &c = w.write & SPLIT ? p.shadow->bytes[i] : w;
        if (c.write >> 16 >= now.op_start) {
            violation(report_key(pc, 7), "%s: __ldg of %s, which %s has written in the same launch%s",
                      exec_where().c_str(), place_name(p, addr).c_str(), who(c.write).c_str(),
                      source_of(pc).c_str());
            break;
        }
    }
}

/* A copy is a thread of its own. */

void check_begin_op()
{
    now.tid = ENGINE;
    set_time(now.time + 1);
    now.op_start = now.cta_start = now.barrier = now.time;
}

template<Access A>
static void range(Alloc *a, uintptr_t addr, size_t size, const char *what)
{
    Place p = { &a->shadow, now.op_ordered << 16, 0, a };

    copying = what;
    cells<A>(p, addr - a->base, size, addr, NULL);
    copying = NULL;
}

void check_range_read(Alloc *a, uintptr_t addr, size_t size, const char *what)
{
    range<ACCESS_READ>(a, addr, size, what);
}

void check_range_write(Alloc *a, uintptr_t addr, size_t size, const char *what)
{
    range<ACCESS_WRITE>(a, addr, size, what);
}

static bool written(const Alloc *a, size_t off)
{
    const Cell &w = a->shadow.words[off >> 2];
    return a->kind == ALLOC_PINNED || (w.write & SPLIT ? a->shadow.bytes[off].write : w.write);
}

void check_copy_state(Alloc *dst, uintptr_t to, Alloc *src, uintptr_t from, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (written(src, from - src->base + i))
            continue;
        const size_t off = to - dst->base + i;
        if (!(dst->shadow.words[off >> 2].write & SPLIT))
            split(dst->shadow, off >> 2);
        dst->shadow.bytes[off].write = 0;
    }
}

} // namespace standin

using namespace standin;

/* What the sanitizer's instrumentation calls. */

#define PC __builtin_return_address(0)

#define ACCESSES(n)                                                                      \
    EXPORT void __tsan_read##n(void *p)            { check<ACCESS_READ>(p, n, PC); }     \
    EXPORT void __tsan_write##n(void *p)           { check<ACCESS_WRITE>(p, n, PC); }    \
    EXPORT void __tsan_unaligned_read##n(void *p)  { check<ACCESS_READ>(p, n, PC); }     \
    EXPORT void __tsan_unaligned_write##n(void *p) { check<ACCESS_WRITE>(p, n, PC); }    \
    EXPORT void __tsan_volatile_read##n(void *p)   { check<ACCESS_VOLATILE_READ>(p, n, PC); }  \
    EXPORT void __tsan_volatile_write##n(void *p)  { check<ACCESS_VOLATILE_WRITE>(p, n, PC); } \
    EXPORT void __tsan_unaligned_volatile_read##n(void *p)                               \
    { check<ACCESS_VOLATILE_READ>(p, n, PC); }                                           \
    EXPORT void __tsan_unaligned_volatile_write##n(void *p)                              \
    { check<ACCESS_VOLATILE_WRITE>(p, n, PC); }                                          \
    EXPORT void __tsan_read_write##n(void *p)                                            \
    { check<ACCESS_READ>(p, n, PC); check<ACCESS_WRITE>(p, n, PC); }                     \
    EXPORT void __tsan_unaligned_read_write##n(void *p)                                  \
    { check<ACCESS_READ>(p, n, PC); check<ACCESS_WRITE>(p, n, PC); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

EXPORT void __tsan_read_range(void *p, size_t size)
{
    if (size)
        check<ACCESS_READ>(p, size, PC);
}

EXPORT void __tsan_write_range(void *p, size_t size)
{
    if (size)
        check<ACCESS_WRITE>(p, size, PC);
}

EXPORT void __tsan_init(void) { }
EXPORT void __tsan_func_entry(void *) { }
EXPORT void __tsan_func_exit(void) { }

/* Objects of kernels are changed to call these functions instead of the C library's. */
EXPORT void *standin_memcpy(void *dst, const void *src, size_t size)
{
    if (size) {
        check<ACCESS_READ>(src, size, PC);
        check<ACCESS_WRITE>(dst, size, PC);
    }
    return memcpy(dst, src, size);
}

EXPORT void *standin_memmove(void *dst, const void *src, size_t size)
{
    if (size) {
        check<ACCESS_READ>(src, size, PC);
        check<ACCESS_WRITE>(dst, size, PC);
    }
    return memmove(dst, src, size);
}

EXPORT void *standin_memset(void *dst, int value, size_t size)
{
    if (size)
        check<ACCESS_WRITE>(dst, size, PC);
    return memset(dst, value, size);
}

/* The compiler's atomics, if a kernel uses them instead of CUDA's. */
#define ATOMIC_RMW(bits, name, builtin)                                                  \
    EXPORT uint##bits##_t __tsan_atomic##bits##_##name(volatile uint##bits##_t *p,       \
                                                       uint##bits##_t v, int)            \
    {                                                                                    \
        check<ACCESS_ATOMIC>(p, bits / 8, PC);                                           \
        return builtin(p, v, __ATOMIC_SEQ_CST);                                          \
    }
#define ATOMICS(bits)                                                                    \
    ATOMIC_RMW(bits, exchange,  __atomic_exchange_n)                                     \
    ATOMIC_RMW(bits, fetch_add, __atomic_fetch_add)                                      \
    ATOMIC_RMW(bits, fetch_sub, __atomic_fetch_sub)                                      \
    ATOMIC_RMW(bits, fetch_and, __atomic_fetch_and)                                      \
    ATOMIC_RMW(bits, fetch_or,  __atomic_fetch_or)                                       \
    ATOMIC_RMW(bits, fetch_xor, __atomic_fetch_xor)                                      \
    EXPORT uint##bits##_t __tsan_atomic##bits##_load(const volatile uint##bits##_t *p, int) \
    {                                                                                    \
        check<ACCESS_VOLATILE_READ>(p, bits / 8, PC);                                    \
        return *p;                                                                       \
    }                                                                                    \
    EXPORT void __tsan_atomic##bits##_store(volatile uint##bits##_t *p, uint##bits##_t v, int) \
    {                                                                                    \
        check<ACCESS_VOLATILE_WRITE>(p, bits / 8, PC);                                   \
        *p = v;                                                                          \
    }                                                                                    \
    static bool cas##bits(volatile uint##bits##_t *p, uint##bits##_t *expected, uint##bits##_t v) \
    {                                                                                    \
        return __atomic_compare_exchange_n(p, expected, v, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    }                                                                                    \
    EXPORT int __tsan_atomic##bits##_compare_exchange_strong(volatile uint##bits##_t *p, \
                            uint##bits##_t *expected, uint##bits##_t v, int, int)        \
    {                                                                                    \
        check<ACCESS_ATOMIC>(p, bits / 8, PC);                                           \
        return cas##bits(p, expected, v);                                                \
    }                                                                                    \
    EXPORT int __tsan_atomic##bits##_compare_exchange_weak(volatile uint##bits##_t *p,   \
                            uint##bits##_t *expected, uint##bits##_t v, int, int)        \
    {                                                                                    \
        check<ACCESS_ATOMIC>(p, bits / 8, PC);                                           \
        return cas##bits(p, expected, v);                                                \
    }                                                                                    \
    EXPORT uint##bits##_t __tsan_atomic##bits##_compare_exchange_val(volatile uint##bits##_t *p, \
                            uint##bits##_t expected, uint##bits##_t v, int, int)         \
    {                                                                                    \
        check<ACCESS_ATOMIC>(p, bits / 8, PC);                                           \
        cas##bits(p, &expected, v);                                                      \
        return expected;                                                                 \
    }
ATOMICS(32)
ATOMICS(64)

EXPORT void standin_fence(void);
EXPORT void __tsan_atomic_thread_fence(int) { standin_fence(); }
EXPORT void __tsan_atomic_signal_fence(int) { }

/* What the undefined-behaviour sanitizer calls. */

struct SourceLocation {
    const char *file;
    u32 line, column;
};

struct TypeName {
    uint16_t kind, info;
    char name[1];
};

struct TypeMismatch {
    SourceLocation loc;
    const TypeName *type;
    unsigned char log_alignment, kind;
};

static std::string at(const SourceLocation &loc)
{
    return format(" [%s:%u:%u]", loc.file ? loc.file : "?", loc.line, loc.column);
}

static u64 location_key(const SourceLocation &loc)
{
    return report_key(loc.file, 8) ^ ((u64)loc.line << 40 | loc.column);
}

EXPORT void __ubsan_handle_type_mismatch_v1(TypeMismatch *data, uintptr_t pointer)
{
    const size_t alignment = (size_t)1 << data->log_alignment;

    if (pointer & (alignment - 1))
        violation(location_key(data->loc), "%s: misaligned: %s at 0x%llx has to be at a multiple of %zu%s",
                  exec_where().c_str(), data->type->name, (unsigned long long)pointer, alignment,
                  at(data->loc).c_str());
    else
        violation(location_key(data->loc), "%s: no %s at 0x%llx%s", exec_where().c_str(),
                  data->type->name, (unsigned long long)pointer, at(data->loc).c_str());
    exec_kill(ERROR_MISALIGNED_ADDRESS);
}

#define UNDEFINED(name, text)                                                            \
    EXPORT void __ubsan_handle_##name(SourceLocation *loc, ...)                          \
    {                                                                                    \
        violation(location_key(*loc), "%s: " text "%s", exec_where().c_str(),            \
                  at(*loc).c_str());                                                     \
    }
UNDEFINED(add_overflow,        "signed addition overflows")
UNDEFINED(sub_overflow,        "signed subtraction overflows")
UNDEFINED(mul_overflow,        "signed multiplication overflows")
UNDEFINED(negate_overflow,     "signed negation overflows")
UNDEFINED(divrem_overflow,     "division by zero or beyond the type")
UNDEFINED(shift_out_of_bounds, "shift by more than the type has bits, or of a negative value")
UNDEFINED(out_of_bounds,       "index out of an array's bounds")
UNDEFINED(load_invalid_value,  "value that its type does not have")
UNDEFINED(pointer_overflow,    "pointer arithmetic overflows")

EXPORT __attribute__((noreturn)) void __ubsan_handle_builtin_unreachable(SourceLocation *loc)
{
    violation(location_key(*loc), "%s: reaches what was said to be unreachable%s",
              exec_where().c_str(), at(*loc).c_str());
    exec_kill(ERROR_LAUNCH_FAILED);
}

EXPORT __attribute__((noreturn)) void __ubsan_handle_missing_return(SourceLocation *loc)
{
    violation(location_key(*loc), "%s: function ends without a value%s",
              exec_where().c_str(), at(*loc).c_str());
    exec_kill(ERROR_LAUNCH_FAILED);
}
