/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */


/**
 * @file
 * Runs launches. Every thread of a block is a fiber. It runs until it has to wait for others at a
 * barrier or warp exchange; then a random thread of those that can continue is chosen. Blocks run
 * one after another, in random order.
 */

#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <link.h>

#include <algorithm>
#include <unordered_map>

#include "standin.h"
#include "cuda_runtime.h"

#if defined(__x86_64__) && !defined(STANDIN_UCONTEXT)
#define OWN_SWITCH 1
#else
#define OWN_SWITCH 0
#include <ucontext.h>
#endif

#define EXPORT extern "C" __attribute__((visibility("hidden"), used))

alignas(64) unsigned char standin_shared_memory[standin::SHARED_MAX + 64];

namespace standin {

Registered *registered;

enum State { READY, AT_BARRIER, AT_WARP, EXITED };

struct Fiber {
#if OWN_SWITCH
    void *sp;
#else
    ucontext_t context;
#endif
    uint3 idx;
    u32 tid;
    State state;
    bool fenced;
    /* the point at which it waits */
    int kind;
    u32 mask;
    unsigned long long value, result;
    int index, width;
    const char *file;
    int line;
};

enum {
    MAX_THREADS = 1024,
    STACK_SIZE  = 128 * 1024,
    PARAMS_MAX  = 4096,
};

static Fiber fibers[MAX_THREADS];
static Fiber main_fiber, *current;
static bool guarded[MAX_THREADS];

static u32 ready[MAX_THREADS], nb_ready;
static u32 nb_threads, nb_live, nb_at_barrier;
static u32 exited_lanes[32];        ///< for each warp; includes lanes that never existed
static u32 warp_lanes[32], barrier_lanes[32];   ///< for each warp, lanes that are AT_WARP and AT_BARRIER
static int killed;
static u64 launch_stores;       ///< number of stores before the launch
static u32 nb_looks;            ///< number of volatile loads since the launch began

static const Op *op;                ///< the running operation
static uint3 block, block_dim, grid_dim;

static void *params[PARAMS_MAX / 4];
alignas(16) static unsigned char param_bytes[PARAMS_MAX];

static u64 parts[32][32][32];

/*
 * Start times of the launch's blocks; the blocks that have released each address; the blocks of
 * which each block has acquired the writes
 */
static auto &cta_times = *new std::vector<std::pair<u64, u32>>;
static u32 cta_run;                 ///< index of the running block
static auto &released = *new std::unordered_map<uintptr_t, std::vector<bool>>;
static auto &acquired = *new std::vector<std::vector<bool>>;

/**
 * A word that a block of the launch has stored for other blocks. A GPU makes the store visible some
 * time later, so a load may return the old value unless it follows a load that returned the new
 * value.
 */
struct Stored {
    u64 old;                    ///< the value before the block's first store
    u32 writer;                 ///< index of the block
    u32 reader;                 ///< index of the last block that has read the new value
    u64 seen;                   ///< time of that read
    std::vector<bool> seen_by;  ///< threads that have read it
};
static auto &stored = *new std::unordered_map<uintptr_t, Stored>;

/* Names. */

std::string exec_thread(u32 tid)
{
    if (tid >= MAX_THREADS)
        return "the copy engine";
    return format("thread (%u,%u,%u)", tid % block_dim.x, tid / block_dim.x % block_dim.y,
                  tid / block_dim.x / block_dim.y);
}

static std::string block_name(u32 index)
{
    return format("block (%u,%u,%u)", index % grid_dim.x, index / grid_dim.x % grid_dim.y,
                  index / grid_dim.x / grid_dim.y);
}

static size_t cta_index(u64 time)
{
    auto i = std::upper_bound(cta_times.begin(), cta_times.end(),
                              std::make_pair(time, UINT32_MAX));
    return i == cta_times.begin() ? 0 : i - cta_times.begin() - 1;
}

std::string exec_cta(u64 time)
{
    if (cta_times.empty() || time >= now.cta_start)
        return "its block's";
    return block_name(cta_times[cta_index(time)].second);
}

std::string exec_where()
{
    if (!now.running || !op)
        return "no kernel";
    std::string s = "kernel " + op->function->name + " ";
    s += format("block (%u,%u,%u) ", block.x, block.y, block.z);
    return s + exec_thread(now.tid);
}

/*
 * Fences and atomics order blocks: a block that reads what another block has released after a fence
 * comes after that block.
 */

bool cta_ordered(u64 time)
{
    const size_t i = cta_index(time);
    return cta_run < acquired.size() && i < acquired[cta_run].size() && acquired[cta_run][i];
}

static void join(std::vector<bool> &to, const std::vector<bool> &from)
{
    if (to.size() < from.size())
        to.resize(from.size());
    for (size_t i = 0; i < from.size(); i++)
        if (from[i])
            to[i] = true;
}

void cta_atomic(uintptr_t addr)
{
    auto found = released.find(addr);
    if (found != released.end()) {
        if (acquired.size() <= cta_run)
            acquired.resize(cta_run + 1);
        join(acquired[cta_run], found->second);
    }
    if (current->fenced) {
        auto &r = released[addr];
        if (cta_run < acquired.size())
            join(r, acquired[cta_run]);
        if (r.size() <= cta_run)
            r.resize(cta_run + 1);
        r[cta_run] = true;
    }
}

/* Fibers. */

static void fiber_main()
{
    op->function->kernel->invoke(params);
    extern void fiber_exit();
    fiber_exit();
}

static char *stack_top(u32 i)
{
    /* staggered to use different cache lines */
    return (char *)now.stacks + (size_t)(i + 1) * STACK_SIZE - (i & 31) * 192 - 64;
}

#if OWN_SWITCH
extern "C" void standin_switch(void **save, void *to);

asm(".pushsection .text\n"
    ".type standin_switch, @function\n"
    ".hidden standin_switch\n"
    ".globl standin_switch\n"
    "standin_switch:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq  %rsp, (%rdi)\n"
    "    movq  %rsi, %rsp\n"
    "    popq  %r15\n"
    "    popq  %r14\n"
    "    popq  %r13\n"
    "    popq  %r12\n"
    "    popq  %rbx\n"
    "    popq  %rbp\n"
    "    ret\n"
    ".size standin_switch, .-standin_switch\n"
    ".popsection\n");

static void fiber_init(u32 i)
{
    void **top = (void **)((uintptr_t)stack_top(i) & ~(uintptr_t)15);

    *--top = NULL;                  /* the return address, which does not exist */
    *--top = (void *)fiber_main;
    for (int k = 0; k < 6; k++)
        *--top = NULL;
    fibers[i].sp = top;
}

static inline void switch_context(Fiber *from, Fiber *to)
{
    standin_switch(&from->sp, to->sp);
}
#else
static void fiber_init(u32 i)
{
    getcontext(&fibers[i].context);
    fibers[i].context.uc_stack.ss_sp   = (char *)now.stacks + (size_t)i * STACK_SIZE + 4096;
    fibers[i].context.uc_stack.ss_size = stack_top(i) - (char *)fibers[i].context.uc_stack.ss_sp;
    fibers[i].context.uc_link          = NULL;
    makecontext(&fibers[i].context, fiber_main, 0);
}

static inline void switch_context(Fiber *from, Fiber *to)
{
    swapcontext(&from->context, &to->context);
}
#endif

static inline void switch_to(Fiber *to)
{
    Fiber *from = current;

    current      = to;
    now.tid      = to->tid;
    now.deadline = now.accesses + settings.max_accesses;
    set_time(now.time);
    if (from != to)
        switch_context(from, to);
}

static void run_another()
{
    Fiber *next = &main_fiber;

    if (nb_ready && !killed) {
        const u32 i = rnd(nb_ready);
        next     = &fibers[ready[i]];
        ready[i] = ready[--nb_ready];
    }
    switch_to(next);
}

static inline void make_ready(Fiber &f)
{
    f.state = READY;
    ready[nb_ready++] = f.tid;
}

void exec_kill(int result)
{
    killed = result;
    nb_ready = 0;
    switch_to(&main_fiber);
    abort();
}

static u64 site_key(const char *file, int line, int kind)
{
    return (u64)(uintptr_t)file * 31 + (u64)line * 64 + kind;
}

/** Names of StandinSync. */
static const char *const sync_names[] = {
    "__syncthreads", "__syncthreads_or", "__syncwarp", "__shfl_sync", "__shfl_xor_sync", "__ballot_sync", "__any_sync",
};

static std::string site(const Fiber &f)
{
    return format("%s [%s:%d]", sync_names[f.kind], f.file, f.line);
}

/* Barriers. */

static bool same_site(const Fiber &a, const Fiber &b)
{
    return a.kind == b.kind && a.line == b.line && (a.file == b.file || !strcmp(a.file, b.file));
}

static void release_barrier()
{
    int count = 0, result = 0;
    const Fiber *first = NULL;

    for (u32 i = 0; i < nb_threads; i++) {
        Fiber &f = fibers[i];
        if (f.state != AT_BARRIER)
            continue;
        if (!first)
            first = &f;
        else if (!same_site(*first, f))
            violation(site_key(f.file, f.line, f.kind),
                      "kernel %s block (%u,%u,%u): divergent barrier: %s is at %s, %s at %s",
                      op->function->name.c_str(), block.x, block.y, block.z,
                      exec_thread(first->tid).c_str(), site(*first).c_str(),
                      exec_thread(f.tid).c_str(), site(f).c_str());
        count += f.value != 0;
    }
    if (!first)
        return;
    if (first->kind == STANDIN_BARRIER_OR)
        result = count > 0;
    now.time++;
    now.barrier = now.time;
    memset(barrier_lanes, 0, sizeof(barrier_lanes));
    for (u32 i = 0; i < nb_threads; i++)
        if (fibers[i].state == AT_BARRIER) {
            fibers[i].result = (unsigned)result;
            make_ready(fibers[i]);
        }
    nb_at_barrier = 0;
}

/** Reports threads that wait for ever: how many, and at which points. */
static void report_stuck()
{
    std::string s;
    std::vector<const Fiber *> sites;
    std::vector<u32> counts;

    for (u32 i = 0; i < nb_threads; i++) {
        const Fiber &f = fibers[i];
        if (f.state != AT_BARRIER && f.state != AT_WARP)
            continue;
        size_t k = 0;
        while (k < sites.size() && !same_site(*sites[k], f))
            k++;
        if (k == sites.size()) {
            sites.push_back(&f);
            counts.push_back(0);
        }
        counts[k]++;
    }
    for (size_t k = 0; k < sites.size(); k++)
        s += format("%s%u thread%s at %s (the first: %s)", k ? ", " : "", counts[k],
                    counts[k] > 1 ? "s" : "", site(*sites[k]).c_str(),
                    exec_thread(sites[k]->tid).c_str());
    violation(site_key(sites[0]->file, sites[0]->line, 40),
              "kernel %s block (%u,%u,%u): waits for ever: %s; %u of %u threads have ended",
              op->function->name.c_str(), block.x, block.y, block.z, s.c_str(),
              nb_threads - nb_live, nb_threads);
}

void fiber_exit()
{
    Fiber &f = *current;

    f.state = EXITED;
    nb_live--;
    exited_lanes[f.tid >> 5] |= 1U << (f.tid & 31);
    /* a warp exchange that names this lane can never complete */
    for (u32 w = warp_lanes[f.tid >> 5]; w; w &= w - 1) {
        Fiber &g = fibers[(f.tid & ~31U) + __builtin_ctz(w)];
        if (g.mask >> (f.tid & 31) & 1) {
            violation(site_key(g.file, g.line, 41),
                      "%s ends, but %s waits for it at %s with mask 0x%08x", exec_where().c_str(),
                      exec_thread(g.tid).c_str(), site(g).c_str(), g.mask);
            exec_kill(ERROR_LAUNCH_FAILED);
        }
    }
    if (nb_live && nb_at_barrier == nb_live)
        release_barrier();
    run_another();
    abort();
}

/* Warp exchange. */

static void warp_order(u32 warp, u32 mask)
{
    const u32 all = ~exited_lanes[warp];

    now.time++;
    if (mask == 0xFFFFFFFFU || (mask == all && !std::count_if(fibers, fibers + nb_threads,
            [warp](const Fiber &f) { return f.tid >> 5 == warp && f.state == EXITED; }))) {
        now.full[warp] = now.time;
        return;
    }
    /* records for each pair of lanes what one knows of the other */
    if (!now.part[warp]) {
        now.part[warp] = parts[warp];
        memset(parts[warp], 0, sizeof(parts[warp]));
    }
    u64 known[32] = { 0 };
    for (u32 i = 0; i < 32; i++)
        if (mask >> i & 1)
            for (u32 k = 0; k < 32; k++)
                known[k] = std::max(known[k], parts[warp][i][k]);
    for (u32 i = 0; i < 32; i++)
        if (mask >> i & 1)
            known[i] = now.time;
    for (u32 i = 0; i < 32; i++)
        if (mask >> i & 1)
            memcpy(parts[warp][i], known, sizeof(known));
}

static void shuffle(Fiber *lanes, u32 mask, u32 i)
{
    Fiber &f = lanes[i];
    const u32 width = (u32)f.width, base = i & ~(width - 1), b = (u32)f.index;
    int from;

    if (f.kind == STANDIN_SHFL) {
        from = (int)(base | (b & (width - 1)));
    } else {
        from = (int)(i ^ (b & 31));
        if (from > (int)(base + width - 1))
            from = (int)i;
    }
    if (!(mask >> from & 1)) {
        violation(site_key(f.file, f.line, 42),
                  "kernel %s block (%u,%u,%u) %s: %s reads lane %d, which mask 0x%08x leaves out",
                  op->function->name.c_str(), block.x, block.y, block.z,
                  exec_thread(f.tid).c_str(), site(f).c_str(), from, mask);
        f.result = 0xDEADBEEFDEADBEEFULL;
        return;
    }
    f.result = lanes[from].value;
}

static void exchange(u32 warp, u32 mask)
{
    Fiber *lanes = &fibers[warp * 32];
    u32 first = (u32)__builtin_ctz(mask);
    const int kind = lanes[first].kind;
    unsigned long long all = 0;

    warp_order(warp, mask);
    if (kind >= STANDIN_SHFL && kind <= STANDIN_SHFL_XOR) {
        for (u32 m = mask; m; m &= m - 1)
            shuffle(lanes, mask, (u32)__builtin_ctz(m));
    } else if (kind != STANDIN_WARP) {
        for (u32 i = first; i < 32; i++) {
            if (mask >> i & 1)
                all |= lanes[i].value << (kind == STANDIN_BALLOT ? i : 0);
        }
        for (u32 i = 0; i < 32; i++)
            lanes[i].result = all;
    }
    warp_lanes[warp] &= ~mask;
    for (u32 m = mask; m; m &= m - 1)
        make_ready(lanes[__builtin_ctz(m)]);
}

/** Address ranges outside all allocations that kernels may read: constants and parameters. */
static auto &constants = *new std::vector<std::pair<uintptr_t, uintptr_t>>;

static int find_constants(struct dl_phdr_info *info, size_t, void *self)
{
    bool mine = false;

    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) &h = info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + h.p_vaddr;
        if (h.p_type == PT_LOAD && (uintptr_t)self - start < h.p_memsz)
            mine = true;
    }
    for (int i = 0; mine && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) &h = info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + h.p_vaddr;
        if ((h.p_type == PT_LOAD && !(h.p_flags & PF_W)) || h.p_type == PT_GNU_RELRO)
            constants.push_back(std::make_pair(start, start + h.p_memsz));
    }
    return mine;
}

bool exec_readable(uintptr_t addr, size_t size)
{
    if (constants.empty()) {
        constants.push_back(std::make_pair((uintptr_t)params, (uintptr_t)(params + PARAMS_MAX / 4)));
        constants.push_back(std::make_pair((uintptr_t)param_bytes, (uintptr_t)param_bytes + PARAMS_MAX));
        dl_iterate_phdr(find_constants, (void *)param_bytes);
    }
    for (auto &c : constants)
        if (addr >= c.first && addr + size <= c.second)
            return true;
    return false;
}

/* A launch. */

static void stacks_init()
{
    const size_t size = (size_t)MAX_THREADS * STACK_SIZE;
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);

    if (p == MAP_FAILED) {
        fprintf(stderr, "standin: no memory for the stacks of %d threads\n", MAX_THREADS);
        abort();
    }
    now.stacks      = (uintptr_t)p;
    now.stacks_size = size;
}

static void run_block(u32 index)
{
    const u32 nb_warps = (nb_threads + 31) / 32;

    block.x = index % grid_dim.x;
    block.y = index / grid_dim.x % grid_dim.y;
    block.z = index / grid_dim.x / grid_dim.y;
    now.time++;
    now.cta_start = now.barrier = now.time;
    cta_times.push_back(std::make_pair(now.time, index));
    cta_run = cta_times.size() - 1;
    for (u32 w = 0; w < nb_warps; w++) {
        now.full[w] = now.time;
        now.part[w] = NULL;
        exited_lanes[w] = warp_lanes[w] = barrier_lanes[w] = 0;
    }
    if (nb_threads & 31)
        exited_lanes[nb_warps - 1] = 0xFFFFFFFFU << (nb_threads & 31);

    nb_live = nb_threads;
    nb_ready = nb_at_barrier = 0;
    for (u32 i = 0; i < nb_threads; i++) {
        Fiber &f = fibers[i];
        f.tid    = i;
        f.idx.x  = i % block_dim.x;
        f.idx.y  = i / block_dim.x % block_dim.y;
        f.idx.z  = i / block_dim.x / block_dim.y;
        f.fenced = false;
        fiber_init(i);
        make_ready(f);
    }
    current = &main_fiber;
    main_fiber.tid = ENGINE;
    run_another();
    if (!killed && nb_live) {
        report_stuck();
        killed = ERROR_LAUNCH_FAILED;
    }
}

int exec_launch(Op *launch)
{
    std::vector<u32> order;

    if (!now.stacks)
        stacks_init();
    op = launch;
    block_dim.x = op->block[0];
    block_dim.y = op->block[1];
    block_dim.z = op->block[2];
    grid_dim.x  = op->grid[0];
    grid_dim.y  = op->grid[1];
    grid_dim.z  = op->grid[2];
    nb_threads  = block_dim.x * block_dim.y * block_dim.z;
    killed      = 0;
    nb_looks    = 0;
    launch_stores = now.stores;
    for (u32 i = 0; i < nb_threads; i++)
        if (!guarded[i]) {
            mprotect((char *)now.stacks + (size_t)i * STACK_SIZE, 4096, PROT_NONE);
            guarded[i] = true;
        }

    memcpy(param_bytes, op->params.data(), op->params.size());
    for (int i = 0; i < op->function->kernel->nb_params; i++)
        params[i] = param_bytes + op->param_offsets[i];

    now.shared_size = op->shared;
    now.ctx         = op->stream->ctx;
    now.running     = true;
    cta_times.clear();
    released.clear();
    acquired.clear();
    stored.clear();

    order.resize((size_t)grid_dim.x * grid_dim.y * grid_dim.z);
    for (u32 i = 0; i < order.size(); i++)
        order[i] = i;
    for (u32 i = order.size(); i > 1; i--)
        std::swap(order[i - 1], order[rnd(i)]);
    for (u32 i : order) {
        run_block(i);
        if (killed)
            break;
    }
    now.running = false;
    op = NULL;
    return killed;
}

} // namespace standin

using namespace standin;

/* What kernels call, cuda_runtime.h. */

EXPORT uint3 standin_thread_idx(void) { return current->idx; }
EXPORT uint3 standin_block_idx(void)  { return block; }
EXPORT uint3 standin_block_dim(void)  { return block_dim; }
EXPORT uint3 standin_grid_dim(void)   { return grid_dim; }
EXPORT unsigned standin_lane(void)    { return current->tid & 31; }

EXPORT void standin_register(StandinKernel *kernel)
{
    static_assert(sizeof(StandinKernel) == sizeof(Registered), "the same thing");
    Registered *r = reinterpret_cast<Registered *>(kernel);

    for (Registered *k = registered; k; k = k->next)
        if (!strcmp(k->name, r->name)) {
            fprintf(stderr, "standin: two kernels are named %s\n", r->name);
            abort();
        }
    r->next    = registered;
    registered = r;
}

EXPORT void standin_fence(void)
{
    current->fenced = true;
}

EXPORT void standin_trap(const char *what, const char *file, int line)
{
    violation(site_key(file, line, 43), "%s: %s [%s:%d]", exec_where().c_str(), what, file, line);
    exec_kill(ERROR_ASSERT);
}

EXPORT int standin_barrier(int kind, int predicate, const char *file, int line)
{
    Fiber &f = *current;

    f.kind  = kind;
    f.value = !!predicate;
    f.file  = file;
    f.line  = line;
    f.state = AT_BARRIER;
    nb_at_barrier++;
    barrier_lanes[f.tid >> 5] |= 1U << (f.tid & 31);
    for (u32 w = warp_lanes[f.tid >> 5]; w; w &= w - 1) {
        const Fiber &g = fibers[(f.tid & ~31U) + __builtin_ctz(w)];
        if (g.mask >> (f.tid & 31) & 1) {
            violation(site_key(file, line, kind),
                      "%s is at %s, but %s waits for it at %s with mask 0x%08x",
                      exec_where().c_str(), site(f).c_str(), exec_thread(g.tid).c_str(),
                      site(g).c_str(), g.mask);
            exec_kill(ERROR_LAUNCH_FAILED);
        }
    }
    if (nb_at_barrier == nb_live)
        release_barrier();
    run_another();
    return (int)f.result;
}

EXPORT unsigned long long standin_warp(int kind, unsigned mask, unsigned long long value,
                                       int index, int width, const char *file, int line)
{
    Fiber &f = *current;
    const u32 warp = f.tid >> 5, bit = 1U << (f.tid & 31);
    Fiber *lanes = &fibers[warp * 32];

    f.kind  = kind;
    f.mask  = mask;
    f.value = value;
    f.index = index;
    f.width = width;
    f.file  = file;
    f.line  = line;
    if (!(mask & bit)) {
        violation(site_key(file, line, 44), "%s: %s with mask 0x%08x, which leaves out the lane itself",
                  exec_where().c_str(), site(f).c_str(), mask);
        exec_kill(ERROR_LAUNCH_FAILED);
    }
    if (width < 1 || width > 32 || (width & (width - 1))) {
        violation(site_key(file, line, 45), "%s: %s with width %d", exec_where().c_str(),
                  site(f).c_str(), width);
        exec_kill(ERROR_LAUNCH_FAILED);
    }
    if (mask & exited_lanes[warp]) {
        const u32 gone = (u32)__builtin_ctz(mask & exited_lanes[warp]);
        violation(site_key(file, line, 47), "%s: %s with mask 0x%08x, but lane %u %s",
                  exec_where().c_str(), site(f).c_str(), mask, gone,
                  warp * 32 + gone < nb_threads ? "has ended" : "was never started");
        exec_kill(ERROR_LAUNCH_FAILED);
    }
    /* lanes that wait for the same exchange are equal: reports one of each kind */
    for (u32 w = warp_lanes[warp] | (barrier_lanes[warp] & mask); w; ) {
        const Fiber &g = lanes[__builtin_ctz(w)];
        w &= g.state == AT_WARP ? ~g.mask : w - 1;
        if (!(mask >> (g.tid & 31) & 1) && !(g.mask & bit))
            continue;
        if (g.state != AT_WARP || g.mask != mask || !same_site(f, g)) {
            violation(site_key(file, line, 48), "%s: %s with mask 0x%08x, but %s is at %s%s",
                      exec_where().c_str(), site(f).c_str(), mask, exec_thread(g.tid).c_str(),
                      site(g).c_str(),
                      g.state == AT_WARP ? format(" with mask 0x%08x", g.mask).c_str() : "");
            exec_kill(ERROR_LAUNCH_FAILED);
        }
    }
    warp_lanes[warp] |= bit;
    f.state = AT_WARP;
    if (!(mask & ~warp_lanes[warp]))
        exchange(warp, mask);
    run_another();
    return f.result;
}

EXPORT void standin_ldg(const void *p, int size)
{
    check_ldg((uintptr_t)p, (size_t)size, __builtin_return_address(0));
}

template<typename T>
static T load_volatile(const T *p, const void *from)
{
    check_access((uintptr_t)p, sizeof(*p), ACCESS_VOLATILE_READ, from);
    /* operations run one after the other, so this launch can run again later */
    if (nb_threads == 1 && grid_dim.x * grid_dim.y * grid_dim.z == 1 && ++nb_looks > 100 &&
        now.stores == launch_stores)
        exec_kill(LAUNCH_WAITS);

    auto found = stored.find((uintptr_t)p);
    if (found != stored.end() && found->second.writer != cta_run) {
        Stored &s = found->second;

        if (s.reader != cta_run) {
            s.reader = cta_run;
            s.seen   = UINT64_MAX;
            s.seen_by.assign(nb_threads, false);
        }
        /* a barrier makes values visible to the whole block */
        if (!(s.seen < now.barrier) && !s.seen_by[now.tid]) {
            if (rnd(2))
                return (T)s.old;
            s.seen = std::min(s.seen, now.time);
            s.seen_by[now.tid] = true;
        }
    }
    return *p;
}

template<typename T>
static void store_volatile(T *p, T value, const void *from)
{
    check_access((uintptr_t)p, sizeof(*p), ACCESS_VOLATILE_WRITE, from);

    auto found = stored.find((uintptr_t)p);
    if (found == stored.end() || found->second.writer != cta_run)
        stored[(uintptr_t)p] = { *p, cta_run, cta_run, 0, {} };
    *p = value;
}

EXPORT unsigned standin_load_volatile(const unsigned *p)
{
    return load_volatile(p, __builtin_return_address(0));
}

EXPORT void standin_store_volatile(unsigned *p, unsigned value)
{
    store_volatile(p, value, __builtin_return_address(0));
}

EXPORT unsigned long long standin_load_volatile64(const unsigned long long *p)
{
    return load_volatile(p, __builtin_return_address(0));
}

EXPORT void standin_store_volatile64(unsigned long long *p, unsigned long long value)
{
    store_volatile(p, value, __builtin_return_address(0));
}

template<typename T>
static T atomic(int kind, T *p, T value)
{
    typedef typename std::make_signed<T>::type S;
    const T old = *p;

    switch (kind) {
    case STANDIN_ADD:        *p = old + value;                               break;
    case STANDIN_MIN:        *p = std::min(old, value);                      break;
    case STANDIN_MAX:        *p = std::max(old, value);                      break;
    case STANDIN_MIN_SIGNED: *p = (T)std::min((S)old, (S)value);             break;
    case STANDIN_MAX_SIGNED: *p = (T)std::max((S)old, (S)value);             break;
    case STANDIN_EXCH:       *p = value;                                     break;
    }
    return old;
}

EXPORT unsigned long long standin_atomic(int kind, void *p, int size, unsigned long long value)
{
    const uintptr_t addr = (uintptr_t)p;
    const void *pc = __builtin_return_address(0);

    if (addr & (size - 1)) {
        violation((u64)(uintptr_t)pc << 4, "%s: atomic of %d bytes at 0x%llx, which is misaligned%s",
                  exec_where().c_str(), size, (unsigned long long)addr, source_of(pc).c_str());
        exec_kill(ERROR_MISALIGNED_ADDRESS);
    }
    check_access(addr, (size_t)size, ACCESS_ATOMIC, pc);
    if (addr - region_base < region_size)
        cta_atomic(addr);
    if (size == 4)
        return atomic<uint32_t>(kind, (uint32_t *)p, (uint32_t)value);
    return atomic<uint64_t>(kind, (uint64_t *)p, value);
}
