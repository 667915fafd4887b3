/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Declarations that the parts of the driver stand-in share.
 *
 * report.cpp   settings, violations, trace, the end of the process
 * memory.cpp   allocations and their addresses
 * check.cpp    every load and store of a kernel, and the shadow memory for them
 * exec.cpp     threads of a kernel as fibers, barriers, warp exchange
 * queue.cpp    streams, events, and the order of queued work
 * api.cpp      the driver's entry points
 *
 * Every entry point holds one lock, also while kernels run.
 */

#ifndef GPUME_TESTS_STANDIN_STANDIN_H
#define GPUME_TESTS_STANDIN_STANDIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <ffnvcodec/dynlink_cuda.h>

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

namespace standin {

typedef uint64_t u64;
typedef uint32_t u32;

/* Results without a name in ffnvcodec's header. */
enum {
    ERROR_INVALID_VALUE           = 1,
    ERROR_OUT_OF_MEMORY           = 2,
    ERROR_NOT_INITIALIZED         = 3,
    ERROR_NO_DEVICE               = 100,
    ERROR_INVALID_DEVICE          = 101,
    ERROR_INVALID_CONTEXT         = 201,
    ERROR_NO_BINARY_FOR_GPU       = 209,
    ERROR_INVALID_PTX             = 218,
    ERROR_UNSUPPORTED_PTX_VERSION = 222,
    ERROR_INVALID_HANDLE          = 400,
    ERROR_NOT_FOUND               = 500,
    ERROR_ILLEGAL_ADDRESS         = 700,
    ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    ERROR_LAUNCH_TIMEOUT          = 702,
    ERROR_ASSERT                  = 710,
    ERROR_MISALIGNED_ADDRESS      = 716,
    ERROR_LAUNCH_FAILED           = 719,
    ERROR_NOT_SUPPORTED           = 801,
};

/* report.cpp */

enum Order { LAZY, MIXED, EAGER, NB_ORDERS };

struct Settings {
    u64 seed;
    int order;              ///< when queued work runs: enum Order
    int devices;
    int cc;                 ///< compute capability, 75 for 7.5
    int driver;             ///< 12040 for 12.4
    int multiprocessors;
    u64 memory;             ///< memory of the device, bytes
    u64 pinned;             ///< pinned memory of the host, bytes
    bool protect;           ///< whether host code must not touch device memory
    bool leaks;
    bool abort_at_once;
    u64 max_accesses;       ///< maximum number of accesses of a thread between two synchronisations
    std::string fail_name;  ///< if set, only calls of this entry point count
    u64 fail_at;            ///< number of the call that fails; 0: none
    int fail_code;
    bool fail_sticky;
    std::string count_file, trace_file;
};
extern Settings &settings;
extern const char *injected;    ///< the call that was made to fail, or NULL
/**
 * Returns whether that call was to set the thread's context. Then the program is not at fault if it
 * cannot release objects without the context, or pops a context that was not pushed.
 */
bool push_failed();
/**
 * Returns whether that call was a copy or set. Then reads of the missing data are no fault, because
 * FFmpeg's uploads continue.
 */
bool copy_failed();

/** Returns a random number from xorshift64*, which determines the order of events. */
u64 rnd();
static inline u32 rnd(u32 below)
{
    return (u32)((rnd() >> 32) * below >> 32);
}

/**
 * Reports a violation. Equal keys are printed and counted once; a key of 0 never equals another
 * key.
 */
void violation(u64 key, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool violation_known(u64 key);
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/** Returns file:line and function of a code address, if addr2line finds them. */
std::string source_of(const void *pc);
std::string format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
std::string vformat(const char *fmt, va_list ap);
/** Numbers a call. Returns whether it is the call that must fail. */
bool count_call(const char *name);
void trace_call(const char *name, const char *args, int result);
/** Reports leaks at the end of the process; in api.cpp. */
void report_leaks();
void settings_init();

/* Shadow of memory, check.cpp. */

/**
 * Records accesses to 4 bytes, or to 1 byte if a word is split: stamps of the last write and of the
 * reads since then. A stamp consists of the time (bits 16 and up), the thread in its block (5 to
 * 15), and a kind (1 to 4). If bit 0 of a word's write stamp is set, the word is split, and each of
 * its bytes has a cell. Time advances with every synchronisation, so 'a happened before b' is a
 * comparison with the time of the last synchronisation of the two.
 */
struct Cell {
    u64 write, read;
    u64 more;               ///< lanes or a set of operations, depending on read's kind
};

enum { SPLIT = 1, TID_SHIFT = 5, TID_MASK = 0x7FF, KIND_MASK = 15 << 1 };
enum { WRITE_PLAIN = 0, WRITE_ATOMIC = 1 << 1 };
enum {
    READ_ONE  = 1 << 1,     ///< one thread
    READ_WARP = 2 << 1,     ///< the lanes in 'more', of one warp
    READ_CTA  = 3 << 1,     ///< several warps of one block
    READ_OP   = 4 << 1,     ///< several blocks of one launch
    READ_OPS  = 5 << 1,     ///< unordered operations: the set 'more'
};
enum { ENGINE = 1024 };     ///< the thread number of a copy

struct Shadow {
    Cell *words, *bytes;    ///< bytes is allocated when the first word is split
    size_t size;
};

void shadow_init(Shadow &s, size_t size);
void shadow_free(Shadow &s);

/* memory.cpp */

struct Context;

enum AllocKind { ALLOC_DEVICE, ALLOC_PINNED };

struct Alloc {
    u32 id;
    AllocKind kind;
    Context *ctx;
    bool portable;
    const char *by;         ///< the call that allocated it
    uintptr_t base;
    size_t size;
    uintptr_t pages;        ///< beginning of its pages, without guard pages
    size_t pages_size;
    Shadow shadow;
};

void memory_init();
Alloc *memory_alloc(AllocKind kind, Context *ctx, size_t size, const char *by);
void memory_free(Alloc *a);
/** The allocation that holds the page of addr, or NULL. */
Alloc *memory_find(uintptr_t addr);
/** Returns the allocation that contains addr, or NULL. */
Alloc *memory_exact(uintptr_t addr);
/** Describes what is near an address outside all allocations. */
std::string memory_describe(uintptr_t addr);
u64 memory_used(int device);
u64 memory_used_pinned();
const std::map<uintptr_t, Alloc *> &memory_all();
/** Allows and forbids access to device memory; calls nest. */
void memory_unlock();
void memory_lock();

extern uintptr_t region_base;
extern size_t region_size;
extern Alloc **region_table;    ///< indexed by page
enum { PAGE_SHIFT = 12 };

/* queue.cpp */

/** Sequence numbers by stream, up to which operations are known to be done. */
struct Clock {
    std::vector<u64> seq;
    u64 at(u32 stream) const { return stream < seq.size() ? seq[stream] : 0; }
    void raise(u32 stream, u64 value);
    void join(const Clock &other);
};

struct Module;

struct Function {
    std::string name;
    Module *module;
    const struct Registered *kernel;
    unsigned max_threads;
};

struct Mark {                   ///< the work of a stream when an event was last recorded
    u32 stream;
    u64 seq;
    Clock clock;
    bool done;
    double time;
};

struct Event {
    Context *ctx;
    unsigned flags;
    std::shared_ptr<Mark> mark;
};

struct Range2D {
    uintptr_t base;             ///< address of the first row
    size_t pitch, width, height;
    Alloc *alloc;               ///< NULL: pageable memory
    uintptr_t end() const { return base + (height ? (height - 1) * pitch + width : 0); }
};

struct Stream;

struct Op {
    enum Type { LAUNCH, COPY, SET, RECORD, WAIT } type;
    Stream *stream;
    u64 seq;
    std::vector<std::pair<u32, u64>> deps;
    Clock clock;
    std::string what;

    Function *function;
    unsigned grid[3], block[3], shared;
    std::vector<unsigned char> params;
    std::vector<u32> param_offsets;

    Range2D src, dst;
    std::vector<unsigned char> snapshot;
    unsigned char value;

    std::shared_ptr<Mark> mark;

    u64 put_off;                ///< the number of operations that had run when the kernel last waited for another
                                ///< operation; 0: it has not waited
};

struct Stream {
    Context *ctx;
    u32 id;                     ///< index into clocks
    unsigned flags;
    bool is_default, destroyed;
    u64 queued, done;
    Clock clock;                ///< clock of the last queued operation
    std::vector<Op *> ops;
    size_t head;
};

Stream *stream_new(Context *ctx, unsigned flags, bool is_default);
void stream_destroy(Stream *s);
Op *op_new(Stream *s, Op::Type type, const char *what);
void op_queue(Op *op);
/** Runs the stream's operations up to seq, and the operations that they wait for. */
void run_until(Stream *s, u64 seq);
/** Runs the stream, and records that the host knows: whatever it queues from now on comes later. */
void sync_stream(Stream *s);
void sync_context(Context *ctx);
void sync_mark(const Mark &mark);
bool mark_done(const Mark &mark);
/** Runs no, one or several operations, according to the configured order. */
void progress(const Mark *polled);
/** Returns a queued operation that uses the allocation, or NULL. */
const Op *queued_user(const Alloc *a);
const Op *queued_user_module(const Module *m);
void context_drop_ops(Context *ctx);
/** Records that the host knows that the operations ordered before clock are done. */
void host_knows(const Clock &clock);

/** Returns the operation at that time, or NULL if it is ordered before the current operation. */
const struct Ran *unordered_op(u64 time);
bool readset_ordered(u64 set);
u64 readset_add(u64 set, u64 time_of_other);
std::string op_name_at(u64 time);

/* Contexts and modules, api.cpp. */

struct Context {
    int device;
    bool primary;
    int error;                  ///< sticky, 0: alive
    Stream *null_stream;
    std::vector<Stream *> streams;
    u32 id;
};

struct Module {
    Context *ctx;
    std::map<std::string, std::unique_ptr<Function>> functions;
};

/** A kernel compiled for the host. */
struct Registered {
    const char *name;
    void (*invoke)(void *const *args);
    const unsigned *sizes;
    int nb_params;
    Registered *next;
};
extern Registered *registered;

/* exec.cpp */

/** Runs a launch. A nonzero result kills its context, except LAUNCH_WAITS: the launch must run again. */
int exec_launch(Op *op);
/** The launch's only thread polls a word, and has written nothing. */
constexpr int LAUNCH_WAITS = -1;

/** Stops the running kernel from inside it. */
void exec_kill(int result) __attribute__((noreturn));
/** Returns "kernel NAME block (x,y,z) thread (x,y,z)" of the running thread. */
std::string exec_where();
std::string exec_thread(u32 tid);
std::string exec_cta(u64 time);

/** State of the running operation, for check.cpp. */
struct Now {
    u64 time;
    u64 op_start;           ///< time at which the operation began
    u64 op_ordered;         ///< older accesses happened before the operation
    u64 cta_start;
    u64 barrier;            ///< time of the block's last barrier
    u64 stamp;              ///< stamp of a plain write by the running thread
    u32 tid;
    u64 full[32];           ///< for each warp, time of the last synchronisation of all its lanes
    u64 (*part[32])[32];    ///< for each warp, the time up to which lane [i] knows of lane [j], or NULL
    uintptr_t stacks;
    size_t stacks_size;
    u32 shared_size;
    Context *ctx;
    u64 accesses;           ///< number of all checked accesses
    u64 stores;             ///< number of stores among them
    u64 deadline;           ///< value of accesses at which a thread has run too long
    bool running;           ///< whether a kernel runs
};
extern Now now;

static inline void set_time(u64 time)
{
    now.time  = time;
    now.stamp = time << 16 | (u64)now.tid << TID_SHIFT;
}

/** Returns whether an earlier block has released its writes to the current block with atomics. */
bool cta_ordered(u64 time);
void cta_atomic(uintptr_t addr);

/* check.cpp, for copies */
void check_begin_op();
void check_range_read(Alloc *a, uintptr_t addr, size_t size, const char *what);
void check_range_write(Alloc *a, uintptr_t addr, size_t size, const char *what);
/** Copies which bytes have never been written. */
void check_copy_state(Alloc *dst, uintptr_t to, Alloc *src, uintptr_t from, size_t size);
/** Kinds of accesses of the running thread. */
enum Access { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC, ACCESS_VOLATILE_READ, ACCESS_VOLATILE_WRITE };
void check_access(uintptr_t addr, size_t size, Access access, const void *pc);
void check_ldg(uintptr_t addr, size_t size, const void *pc);

enum { SHARED_MAX = 228 * 1024 };

} // namespace standin

/* kernels compiled for the host call these */
extern "C" {
extern unsigned char standin_shared_memory[];
}

#endif /* GPUME_TESTS_STANDIN_STANDIN_H */
