/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Tests the driver stand-in. Each case runs in its own process, for several seeds. The process must
 * succeed, or end with status 86 and the expected words.
 *
 * usage: selftest LIBCUDA [CASE...]
 * selftest LIBCUDA -run CASE      (the program calls itself with this)
 */

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <ffnvcodec/dynlink_cuda.h>

typedef uint32_t u32;
typedef uint64_t u64;
typedef uint8_t u8;
typedef CUdeviceptr Ptr;

/* The driver. */

typedef CUresult tcuMemHostAlloc(void **, size_t, unsigned);
typedef CUresult tcuMemFreeHost(void *);
typedef CUresult tcuCtxSynchronize(void);

#define FUNCTIONS(X)                                                                     \
    X(cuInit, tcuInit, cuInit)                                                           \
    X(cuDeviceGetCount, tcuDeviceGetCount, cuDeviceGetCount)                             \
    X(cuCtxCreate, tcuCtxCreate_v2, cuCtxCreate_v2)                                      \
    X(cuCtxDestroy, tcuCtxDestroy_v2, cuCtxDestroy_v2)                                   \
    X(cuCtxPushCurrent, tcuCtxPushCurrent_v2, cuCtxPushCurrent_v2)                       \
    X(cuCtxPopCurrent, tcuCtxPopCurrent_v2, cuCtxPopCurrent_v2)                          \
    X(cuCtxSynchronize, tcuCtxSynchronize, cuCtxSynchronize)                             \
    X(cuDevicePrimaryCtxRetain, tcuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)     \
    X(cuMemAlloc, tcuMemAlloc_v2, cuMemAlloc_v2)                                         \
    X(cuMemFree, tcuMemFree_v2, cuMemFree_v2)                                            \
    X(cuMemHostAlloc, tcuMemHostAlloc, cuMemHostAlloc)                                   \
    X(cuMemFreeHost, tcuMemFreeHost, cuMemFreeHost)                                      \
    X(cuMemcpyHtoD, tcuMemcpyHtoD_v2, cuMemcpyHtoD_v2)                                   \
    X(cuMemcpyHtoDAsync, tcuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2)                    \
    X(cuMemcpyDtoH, tcuMemcpyDtoH_v2, cuMemcpyDtoH_v2)                                   \
    X(cuMemcpyDtoHAsync, tcuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2)                    \
    X(cuMemcpyDtoDAsync, tcuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2)                    \
    X(cuMemcpy2DAsync, tcuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2)                          \
    X(cuMemsetD8Async, tcuMemsetD8Async, cuMemsetD8Async)                                \
    X(cuStreamCreate, tcuStreamCreate, cuStreamCreate)                                   \
    X(cuStreamDestroy, tcuStreamDestroy_v2, cuStreamDestroy_v2)                          \
    X(cuStreamSynchronize, tcuStreamSynchronize, cuStreamSynchronize)                    \
    X(cuStreamWaitEvent, tcuStreamWaitEvent, cuStreamWaitEvent)                          \
    X(cuEventCreate, tcuEventCreate, cuEventCreate)                                      \
    X(cuEventDestroy, tcuEventDestroy_v2, cuEventDestroy_v2)                             \
    X(cuEventRecord, tcuEventRecord, cuEventRecord)                                      \
    X(cuModuleLoadData, tcuModuleLoadData, cuModuleLoadData)                             \
    X(cuModuleUnload, tcuModuleUnload, cuModuleUnload)                                   \
    X(cuModuleGetFunction, tcuModuleGetFunction, cuModuleGetFunction)                    \
    X(cuLaunchKernel, tcuLaunchKernel, cuLaunchKernel)

#define DECLARE(name, type, symbol) static type *name;
FUNCTIONS(DECLARE)

static const char *library;

static void load_library()
{
    void *lib = dlopen(library, RTLD_NOW);

    if (!lib) {
        fprintf(stderr, "CHECK FAILED: %s\n", dlerror());
        exit(1);
    }
#define LOAD(name, type, symbol)                                        \
    if (!(name = (type *)dlsym(lib, #symbol))) {                        \
        fprintf(stderr, "CHECK FAILED: no %s\n", #symbol);              \
        exit(1);                                                        \
    }
    FUNCTIONS(LOAD)
    dlclose(lib);           /* as FFmpeg does; the library must stay loaded */
}

/* A case's own checks. */

static unsigned nb_failed;

static void failed(const char *what, int line, const std::string &more)
{
    nb_failed++;
    fprintf(stderr, "CHECK FAILED: line %d: %s %s\n", line, what, more.c_str());
}

#define CHECK(x) do { if (!(x)) failed(#x, __LINE__, ""); } while (0)

static void check_result(int expected, int got, const char *what, int line)
{
    if (got != expected)
        failed(what, line, "is " + std::to_string(got) + ", expected " + std::to_string(expected));
}

#define IS(code, x) check_result(code, (int)(x), #x, __LINE__)
#define OK(x)       IS(0, x)

static void check_words(const u32 *got, const u32 *expected, size_t n, int line)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != expected[i]) {
            failed("words", line, "[" + std::to_string(i) + "] is " + std::to_string(got[i]) +
                   ", expected " + std::to_string(expected[i]));
            return;
        }
}

#define SAME(got, expected, n) check_words(got, expected, n, __LINE__)

/* Makes modules for the kernels of selftest_kernels.cu, with names and parameters only. */

static const struct {
    const char *name;
    const char *params;         ///< size of each parameter
} kernels[] = {
    { "st_no_barrier", "8 8" },         { "st_read_past", "8 8 4" },
    { "st_write_past", "8 4" },         { "st_shared_past", "8" },
    { "st_shared_unwritten", "8" },     { "st_shared_left_over", "8" },
    { "st_copy", "8 8 4" },             { "st_fill", "8 4 4" },
    { "st_add", "8 4 4" },              { "st_all_write", "8" },
    { "st_byte_race", "8" },            { "st_blocks_write", "8" },
    { "st_blocks_read", "8 8" },        { "st_last_block_unfenced", "8 8 8" },
    { "st_divergent_barrier", "8" },    { "st_lane_overlap", "8" },
    { "st_stuck_warp", "8" },           { "st_lane_gone", "8" },
    { "st_lane_masks", "8" },           { "st_lane_left_out", "8" },
    { "st_warp_lockstep", "8" },        { "st_halves_crossed", "8" },
    { "st_read_then_write", "8 4" },    { "st_misaligned", "8 8 4" },
    { "st_null", "8 8" },               { "st_ldg", "8 8" },
    { "st_shift", "8 4" },              { "st_overflow", "8 4" },
    { "st_index", "8 4" },              { "st_spin", "8 8" },
    { "st_chain_plain", "8 8 8" },      { "st_trap", "8" },
    { "st_atomic_and_plain", "8" },
    { "st_made_32", "8" },              { "st_wait", "8" },
};

static std::string ptx(const char *version, const char *target)
{
    std::string s = std::string("//\n// by hand { \n//\n.version ") + version + "\n.target " + target +
                    "\n.address_size 64\n\n/* .entry none() */\n";

    for (auto &k : kernels) {
        s += std::string(".visible .entry ") + k.name + "(\n";
        int n = 0;
        for (const char *p = k.params; *p; n++) {
            char *end;
            long size = strtol(p, &end, 10);
            const std::string name = std::string(k.name) + "_param_" + std::to_string(n);
            s += n ? ",\n\t" : "\t";
            if (size > 8)
                s += ".param .align 8 .b8 " + name + "[" + std::to_string(size) + "]";
            else if (n & 1)
                s += ".param .u" + std::to_string(size * 8) + " " + name;
            else
                s += ".param .b" + std::to_string(size * 8) + " .ptr .global .align 1 " + name;
            p = *end ? end + 1 : end;
        }
        s += "\n)\n";
        if (!strncmp(k.name, "st_made", 7))
            s += ".maxntid 64, 1, 1\n.minnctapersm 1\n";
        s += "{\n\t.reg .pred %p<2>;\n\t{ // } nested\n\tret; }\n}\n";
    }
    return s;
}

/* Begins and ends most cases. */

static CUcontext context;
static CUmodule module;

static void begin()
{
    load_library();
    OK(cuInit(0));
    OK(cuCtxCreate(&context, 4, 0));
    OK(cuModuleLoadData(&module, ptx("6.0", "sm_50").c_str()));
}

static void end()
{
    CUcontext popped = NULL;

    OK(cuModuleUnload(module));
    OK(cuCtxPopCurrent(&popped));
    CHECK(popped == context);
    OK(cuCtxDestroy(context));
}

static CUfunction kernel(const char *name)
{
    CUfunction f = NULL;

    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

template<typename... P>
static CUresult launch(const char *name, unsigned grid, unsigned block, unsigned shared,
                       CUstream stream, P... params)
{
    void *list[] = { &params... };
    return cuLaunchKernel(kernel(name), grid, 1, 1, block, 1, 1, shared, stream, list, NULL);
}

static Ptr device_alloc(size_t size)
{
    Ptr p = 0;

    OK(cuMemAlloc(&p, size));
    return p;
}

static u32 *pinned_alloc(size_t size)
{
    void *p = NULL;

    OK(cuMemHostAlloc(&p, size, 0));
    return (u32 *)p;
}

static std::vector<u32> numbers(size_t n, u32 seed = 1)
{
    std::vector<u32> v(n);

    for (auto &x : v) {
        seed = seed * 1664525 + 1013904223;
        x = seed ^ seed >> 15;
    }
    return v;
}

static Ptr device_words(const std::vector<u32> &v)
{
    Ptr p = device_alloc(v.size() * 4);

    OK(cuMemcpyHtoD(p, v.data(), v.size() * 4));
    return p;
}

static std::vector<u32> host_words(Ptr p, size_t n)
{
    std::vector<u32> v(n);

    OK(cuMemcpyDtoH(v.data(), p, n * 4));
    return v;
}

static std::vector<u32> counting(size_t n, u32 first)
{
    std::vector<u32> v(n);

    for (size_t i = 0; i < n; i++)
        v[i] = first + (u32)i;
    return v;
}

/* The cases. */

struct Case {
    const char *name;
    void (*run)();
    const char *expected;       ///< words of the expected violation
    int seeds = 1;
    const char *environment = "";   ///< NAME=VALUE
    int signal = 0;             ///< signal that ends the process
    bool is_bare = true;        ///< not run between begin() and end()
};

static std::vector<Case> cases;

static bool add_case(Case c, bool is_bare)
{
    c.is_bare = is_bare;
    cases.push_back(c);
    return true;
}

#define CASE_AT(line, is_bare, name, ...)                                                            \
    static void case_##line();                                                                       \
    static const bool added_##line = add_case(Case { name, case_##line, __VA_ARGS__ }, is_bare);     \
    static void case_##line()
#define CASE_ON(line, ...) CASE_AT(line, __VA_ARGS__)
/** Defines a case: its name, and the members of Case from expected on. It runs between begin() and end(). */
#define CASE(...)      CASE_ON(__LINE__, false, __VA_ARGS__)
#define BARE_CASE(...) CASE_ON(__LINE__, true, __VA_ARGS__)

/* Correct kernels. */

/** Runs a kernel with one output buffer. */
static void run_one(const char *name, unsigned grid, unsigned block, unsigned shared, size_t words)
{
    begin();
    Ptr out = device_words(std::vector<u32>(words));

    OK(launch(name, grid, block, shared, NULL, out));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemFree(out));
    end();
}

CASE("last-block-unfenced", "race: ", 3)
{
    Ptr parts = device_alloc(40), counter = device_words({ 0 }), out = device_alloc(4);

    OK(launch("st_last_block_unfenced", 10, 32, 0, NULL, parts, counter, out));
    OK(cuStreamSynchronize(NULL));
    CHECK(host_words(out, 1)[0] == 55);
    for (Ptr p : { parts, counter, out })
        OK(cuMemFree(p));
}

CASE("chain-plain", "race: ", 3)
{
    const unsigned blocks = 12, threads = 64;

    Ptr words = device_words(std::vector<u32>(blocks)), ticket = device_words({ 0 });
    Ptr out = device_words(std::vector<u32>(blocks * threads));

    OK(launch("st_chain_plain", blocks, threads, 4, NULL, words, ticket, out));
    OK(cuStreamSynchronize(NULL));
    for (Ptr p : { words, ticket, out })
        OK(cuMemFree(p));
}

CASE("read-while-write", "race: ", 3)
{
    Ptr out = device_alloc(128);

    OK(launch("st_read_then_write", 1, 32, 128, NULL, out, 0));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemFree(out));
}

/* Incorrect kernels. */

/** Runs a launch that kills the context: the error must persist. */
static void dies(int code, Ptr p)
{
    IS(code, cuStreamSynchronize(NULL));
    IS(code, cuStreamSynchronize(NULL));
    Ptr q = 0;
    u32 word;
    IS(code, cuMemAlloc(&q, 4));
    IS(code, cuMemcpyDtoH(&word, p, 4));
    IS(code, cuMemFree(p));
    IS(code, cuModuleUnload(module));
    OK(cuCtxPopCurrent(&context));
    IS(code, cuCtxDestroy(context));
    /* another context is not affected */
    OK(cuCtxCreate(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx("6.0", "sm_50").c_str()));
    p = device_alloc(400);
    OK(launch("st_fill", 1, 128, 0, NULL, p, 100, 5u));
    SAME(host_words(p, 100).data(), counting(100, 5).data(), 100);
    OK(cuMemFree(p));
    end();
}

template<typename... P>
static void kills(int code, const char *name, unsigned block, unsigned shared, Ptr p, P... params)
{
    OK(launch(name, 1, block, shared, NULL, params...));
    dies(code, p);
}

BARE_CASE("read-past", "reads 4 bytes at 0x", 3)
{
    begin();
    Ptr a = device_words(numbers(64)), b = device_alloc(256);
    kills(700, "st_read_past", 32, 0, a, a, b, 33);
}

BARE_CASE("write-past", "0 bytes past the end of device allocation #")
{
    begin();
    Ptr a = device_alloc(61);
    kills(700, "st_write_past", 1, 0, a, a, 61);
}

BARE_CASE("use-after-free", "which has been freed", 3)
{
    begin();
    Ptr a = device_words(numbers(64)), b = device_alloc(256);
    OK(cuMemFree(b));
    kills(700, "st_copy", 32, 0, a, b, a, 32);
}

BARE_CASE("host-pointer", "no memory of the device")
{
    begin();
    static u32 word = 1;
    Ptr a = device_words(numbers(64));
    kills(700, "st_null", 32, 0, a, (Ptr)(uintptr_t)&word, a);
}

BARE_CASE("misaligned", "misaligned: ")
{
    begin();
    Ptr a = device_words(numbers(64)), b = device_alloc(256);
    kills(716, "st_misaligned", 1, 0, a, a, b, 1);
}

BARE_CASE("shared-past", "byte 256 of shared memory, of which", 3)
{
    begin();
    Ptr a = device_alloc(256);
    kills(700, "st_shared_past", 64, 256, a, a);
}

BARE_CASE("trap", "__trap()")
{
    begin();
    Ptr a = device_alloc(256);
    kills(710, "st_trap", 64, 0, a, a);
}

static void kills_out(int code, const char *name, unsigned block)
{
    begin();
    Ptr a = device_alloc(512);
    kills(code, name, block, 0, a, a);
}

BARE_CASE("spin", "it does not end", 1, "GPUME_STANDIN_MAX_ACCESSES=100000")
{
    begin();
    Ptr a = device_words({ 0 }), b = device_alloc(256);
    kills(702, "st_spin", 32, 0, a, a, b);
}

BARE_CASE("waits-in-vain", "waits for what no operation", 3)
{
    begin();
    Ptr a = device_words({ 0 });
    kills(702, "st_wait", 1, 0, a, a);
}

BARE_CASE("another-context", "of another context", 3)
{
    CUcontext other;
    begin();
    Ptr a = device_words(numbers(64));
    OK(cuCtxCreate(&other, 0, 0));
    Ptr b = device_alloc(256);
    CUcontext popped;
    OK(cuCtxPopCurrent(&popped));
    OK(launch("st_copy", 1, 32, 0, NULL, b, a, 32));
    IS(700, cuStreamSynchronize(NULL));
    OK(cuCtxPushCurrent(other));
    OK(cuMemFree(b));
    OK(cuCtxPopCurrent(&popped));
    OK(cuCtxDestroy(other));
    IS(700, cuModuleUnload(module));
    OK(cuCtxPopCurrent(&popped));
    IS(700, cuCtxDestroy(context));
}

CASE("no-barrier", "race: ", 3)
{
    Ptr a = device_words(numbers(64)), b = device_alloc(4);
    OK(launch("st_no_barrier", 1, 64, 256, NULL, a, b));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
}

static void two(const char *name, unsigned grid, unsigned block)
{
    begin();
    Ptr a = device_words(std::vector<u32>(64)), b = device_words(std::vector<u32>(64));
    OK(launch(name, grid, block, 0, NULL, a, b));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    end();
}

static void with_int(const char *name, int value)
{
    begin();
    Ptr a = device_alloc(128);
    OK(launch(name, 1, 32, 0, NULL, a, value));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemFree(a));
    end();
}

CASE("unwritten", "which was never written", 3)
{
    Ptr a = device_alloc(256), b = device_alloc(256);
    OK(cuMemsetD8Async(a, 0, 128, NULL));
    OK(launch("st_copy", 1, 64, 0, NULL, b, a, 64));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
}

/* A copy of unwritten memory is unwritten. */
CASE("unwritten-copy", "byte 253 of allocation", 3)
{
    Ptr a = device_alloc(256), b = device_alloc(256), c = device_alloc(256);
    OK(cuMemsetD8Async(a, 0, 253, NULL));
    OK(cuMemcpyDtoDAsync(b, a, 256, NULL));
    OK(launch("st_copy", 1, 64, 0, NULL, c, b, 64));
    OK(cuStreamSynchronize(NULL));
    for (Ptr p : { a, b, c })
        OK(cuMemFree(p));
}

/* Streams and events. */

enum { N = 5000 };

/** Uses two streams; the work of the second should come after that of the first. */
CASE("no-event-wait", "nothing orders the two", 3)
{
    CUstream s, t;
    CUevent e;
    Ptr a = device_words(std::vector<u32>(N));
    u32 *p = pinned_alloc(N * 4);

    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamSynchronize(NULL));
    OK(launch("st_fill", N / 100, 100, 0, s, a, (int)N, 77u));
    OK(cuEventRecord(e, s));
    OK(cuMemcpyDtoHAsync(p, a, N * 4, t));
    OK(cuStreamSynchronize(t));
    if (memcmp(p, counting(N, 77).data(), N * 4))
        fprintf(stderr, "standin test: the data is wrong\n");
    OK(cuStreamSynchronize(s));
    OK(cuEventDestroy(e));
    OK(cuStreamDestroy(s));
    OK(cuStreamDestroy(t));
    OK(cuMemFree(a));
    OK(cuMemFreeHost(p));
}

/* Blocking streams are ordered after and before the default stream. */
CASE("default-stream-unordered", "nothing orders the two", 3)
{
    CUstream s;
    Ptr a = device_alloc(N * 4);
    u32 *p = pinned_alloc(N * 4);

    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    OK(launch("st_fill", N / 100, 100, 0, NULL, a, (int)N, 7u));
    OK(launch("st_add", N / 100, 100, 0, s, a, (int)N, 2u));
    OK(cuMemcpyDtoHAsync(p, a, N * 4, NULL));
    OK(cuStreamSynchronize(NULL));
    OK(cuStreamSynchronize(s));
    OK(cuStreamDestroy(s));
    OK(cuMemFree(a));
    OK(cuMemFreeHost(p));
}

/* Overwrites a buffer that another stream still reads. */
CASE("reuse-too-early", "nothing orders the two", 3)
{
    CUstream s, t;
    CUevent e;
    Ptr a = device_words(counting(N, 0)), b = device_alloc(N * 4);
    u32 *p = pinned_alloc(N * 4);

    memset(p, 0, N * 4);
    OK(cuStreamSynchronize(NULL));
    OK(cuStreamCreate(&s, 1));
    OK(cuStreamCreate(&t, 1));
    OK(cuEventCreate(&e, 0));
    OK(launch("st_copy", N / 100, 100, 0, s, b, a, (int)N));
    OK(cuEventRecord(e, s));
    OK(cuMemcpyHtoDAsync(a, p, N * 4, t));
    OK(cuStreamSynchronize(t));
    OK(cuStreamSynchronize(s));
    OK(cuEventDestroy(e));
    OK(cuStreamDestroy(s));
    OK(cuStreamDestroy(t));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    OK(cuMemFreeHost(p));
}

/* Two streams read; the writer waits for one of them. */
CASE("two-readers-one", "nothing orders the two", 3)
{
    CUstream s[3];
    CUevent e[2];
    Ptr a = device_words(counting(64, 0)), b = device_alloc(256), c = device_alloc(256);

    OK(cuStreamSynchronize(NULL));
    for (auto &x : s)
        OK(cuStreamCreate(&x, 1));
    for (auto &x : e)
        OK(cuEventCreate(&x, 0));
    OK(launch("st_copy", 2, 32, 0, s[0], b, a, 64));
    OK(cuEventRecord(e[0], s[0]));
    OK(launch("st_copy", 2, 32, 0, s[1], c, a, 64));
    OK(cuEventRecord(e[1], s[1]));
    OK(cuStreamWaitEvent(s[2], e[1], 0));
    OK(cuMemsetD8Async(a, 1, 256, s[2]));
    for (auto &x : s)
        OK(cuStreamSynchronize(x));
    for (auto &x : s)
        OK(cuStreamDestroy(x));
    for (auto &x : e)
        OK(cuEventDestroy(x));
    for (Ptr p : { a, b, c })
        OK(cuMemFree(p));
}

/* Memory. */

CASE("pinned-freed-early", "freed while", 1, "GPUME_STANDIN_ORDER=lazy")
{
    Ptr a = device_words(numbers(64));
    u32 *p = pinned_alloc(256);
    OK(cuMemcpyDtoHAsync(p, a, 256, NULL));
    OK(cuMemFreeHost(p));
    OK(cuMemFree(a));
}

BARE_CASE("host-touches", "host code touches", 1, "", SIGSEGV)
{
    begin();
    Ptr a = device_words(numbers(64));
    volatile u32 *p = (volatile u32 *)(uintptr_t)a;
    fprintf(stderr, "%u\n", p[3]);
    fprintf(stderr, "CHECK FAILED: the host has read device memory\n");
}

static CUDA_MEMCPY2D rect(Ptr dst, size_t dst_pitch, const void *src, size_t src_pitch, size_t w, size_t h)
{
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof(c));
    c.srcMemoryType = CU_MEMORYTYPE_HOST;
    c.srcHost       = src;
    c.srcPitch      = src_pitch;
    c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    c.dstDevice     = dst;
    c.dstPitch      = dst_pitch;
    c.WidthInBytes  = w;
    c.Height        = h;
    return c;
}

CASE("copy-2d-past", "does not fit")
{
    const auto in = numbers(100);
    Ptr a = device_alloc(399);
    CUDA_MEMCPY2D c = rect(a, 40, in.data(), 40, 40, 10);
    IS(1, cuMemcpy2DAsync(&c, NULL));
    OK(cuMemFree(a));
}

CASE("copy-past", "does not fit")
{
    const auto in = numbers(100);
    Ptr a = device_alloc(396);
    IS(1, cuMemcpyHtoDAsync(a, in.data(), 400, NULL));
    OK(cuMemFree(a));
}

CASE("copy-freed", "which has been freed")
{
    const auto in = numbers(100);
    Ptr a = device_alloc(400);
    OK(cuMemFree(a));
    IS(1, cuMemcpyHtoDAsync(a, in.data(), 400, NULL));
}

CASE("copy-overlap", "overlap")
{
    Ptr a = device_words(numbers(100));
    IS(1, cuMemcpyDtoDAsync(a, a + 100, 200, NULL));
    OK(cuMemFree(a));
}

CASE("set-past", "does not fit")
{
    Ptr a = device_alloc(100);
    IS(1, cuMemsetD8Async(a, 0, 101, NULL));
    OK(cuMemFree(a));
}

CASE("free-twice", "which has been freed")
{
    Ptr a = device_alloc(100);
    OK(cuMemFree(a));
    IS(1, cuMemFree(a));
}

CASE("free-inside", "not what an allocation returned")
{
    Ptr a = device_alloc(100);
    IS(1, cuMemFree(a + 4));
    OK(cuMemFree(a));
}

CASE("leak-device", "1 device and 0 pinned")
{
    device_alloc(100);
}

CASE("leak-pinned", "0 device and 1 pinned")
{
    pinned_alloc(100);
}

CASE("leak-stream", "1 streams, 0 events, 0 modules")
{
    CUstream s;
    OK(cuStreamCreate(&s, 0));
}

CASE("leak-event", "0 streams, 1 events, 0 modules")
{
    CUevent e;
    OK(cuEventCreate(&e, 0));
}

BARE_CASE("leak-module", "0 streams, 0 events, 1 modules")
{
    CUcontext popped;
    begin();
    OK(cuCtxPopCurrent(&popped));
    OK(cuCtxDestroy(context));
}

BARE_CASE("leak-context", "at the end of the process")
{
    CUcontext popped;
    begin();
    OK(cuModuleUnload(module));
    OK(cuCtxPopCurrent(&popped));
}

/* Contexts and handles. */

BARE_CASE("no-context", "without a current context")
{
    CUcontext popped;
    Ptr a = 0;
    begin();
    OK(cuModuleUnload(module));
    OK(cuCtxPopCurrent(&popped));
    IS(201, cuMemAlloc(&a, 4));
    OK(cuCtxDestroy(context));
}

BARE_CASE("pop-unpushed", "nothing is pushed")
{
    CUcontext popped;
    begin();
    end();
    IS(201, cuCtxPopCurrent(&popped));
}

static void *push_only(void *)
{
    OK(cuCtxPushCurrent(context));
    return NULL;
}

BARE_CASE("push-left", "a thread ends with 1 context")
{
    pthread_t thread;
    begin();
    CHECK(!pthread_create(&thread, NULL, push_only, NULL));
    pthread_join(thread, NULL);
    end();
}

BARE_CASE("not-initialised", "before cuInit")
{
    int n;
    load_library();
    IS(3, cuDeviceGetCount(&n));
}

CASE("destroyed-event", "the event has been destroyed")
{
    CUevent e;
    OK(cuEventCreate(&e, 0));
    OK(cuEventDestroy(e));
    IS(400, cuEventRecord(e, NULL));
}

CASE("other-stream", "the stream is of another context")
{
    CUcontext other, popped;
    CUstream s;
    OK(cuCtxCreate(&other, 0, 0));
    OK(cuStreamCreate(&s, 0));
    OK(cuCtxPopCurrent(&popped));
    IS(400, cuStreamSynchronize(s));
    OK(cuCtxPushCurrent(other));
    OK(cuStreamDestroy(s));
    OK(cuCtxPopCurrent(&popped));
    OK(cuCtxDestroy(other));
}

BARE_CASE("primary-kept", "the device's primary one")
{
    CUcontext a;
    load_library();
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&a, 0));
}

/* Modules and launches. */

CASE("param-sizes", "bytes of its parameters")
{
    CUmodule m;
    OK(cuModuleLoadData(&m, ".version 6.0\n.target sm_50\n.entry st_fill(.param .u64 a, "
                        ".param .u64 b, .param .u32 c) { ret; }"));
    OK(cuModuleUnload(m));
}

BARE_CASE("unload-early", "unloaded while", 1, "GPUME_STANDIN_ORDER=lazy")
{
    begin();
    Ptr p = device_alloc(400);
    OK(launch("st_fill", 1, 100, 0, NULL, p, 100, 5u));
    OK(cuModuleUnload(module));
    OK(cuMemFree(p));
    OK(cuCtxPopCurrent(&context));
    OK(cuCtxDestroy(context));
}

static void refused(int code, unsigned grid_y, unsigned block, unsigned shared)
{
    begin();
    Ptr p = device_words(numbers(64));
    void *list[] = { &p };
    IS(code, cuLaunchKernel(kernel("st_made_32"), 1, grid_y, 1, block, 1, 1, shared, NULL, list, NULL));
    OK(cuMemFree(p));
    end();
}

/* Cases of one line. */

static const Case short_cases[] = {
    { "warp-lockstep",      [] { run_one("st_warp_lockstep", 1, 32, 128, 32); }, "race: ", 3 },
    { "halves-crossed",     [] { run_one("st_halves_crossed", 1, 32, 128, 32); }, "race: ", 3 },
    { "all-write",          [] { run_one("st_all_write", 1, 64, 0, 1); },
                            "race: writes byte 0 of allocation", 3 },
    { "byte-race",          [] { run_one("st_byte_race", 1, 64, 0, 16); }, "race: writes", 3 },
    { "blocks-write",       [] { run_one("st_blocks_write", 5, 64, 0, 1); }, "race: writes", 3 },
    { "blocks-read",        [] { two("st_blocks_read", 8, 32); }, "race: ", 3 },
    { "atomic-and-plain",   [] { run_one("st_atomic_and_plain", 1, 32, 0, 1); }, "race: ", 3 },
    { "shared-unwritten",   [] { run_one("st_shared_unwritten", 1, 64, 256, 64); },
                            "byte 20 of shared memory, which was never", 3 },
    { "shared-left-over",   [] { run_one("st_shared_left_over", 4, 64, 256, 256); },
                            "which was never written", 3 },
    { "divergent-barrier",  [] { run_one("st_divergent_barrier", 1, 64, 0, 64); }, "divergent barrier", 3 },
    { "lane-overlap",       [] { kills_out(719, "st_lane_overlap", 32); }, "with mask 0x0000000", 3 },
    { "barrier-and-shuffle", [] { kills_out(719, "st_stuck_warp", 32); }, "__shfl_sync", 3 },
    { "lane-gone",          [] { kills_out(719, "st_lane_gone", 32); }, "__shfl_xor_sync", 3 },
    { "lane-masks",         [] { kills_out(719, "st_lane_masks", 32); }, "with mask 0x", 3 },
    { "lane-left-out",      [] { run_one("st_lane_left_out", 1, 32, 0, 32); }, "leaves out", 3 },
    { "ldg",                [] { two("st_ldg", 1, 32); }, "__ldg of byte", 1 },
    { "shift",              [] { with_int("st_shift", 40); }, "shift by more", 1 },
    { "overflow",           [] { with_int("st_overflow", 0x7FFFFFFF); }, "overflows", 1 },
    { "index",              [] { with_int("st_index", 4); }, "index out of", 1 },
    { "grid-too-large",     [] { refused(1, 65536, 32, 0); }, "a grid of these sizes", 1 },
    { "no-threads",         [] { refused(1, 1, 0, 0); }, "a block of these sizes", 1 },
    { "beyond-bounds",      [] { refused(701, 1, 96, 0); }, "bound to 64 threads", 1 },
    { "too-much-shared",    [] { refused(1, 1, 32, 48 * 1024 + 4); },
                            "more than 48 KiB of shared memory", 1 },
};

static unsigned passed, not_passed;

static void report(bool ok, const std::string &name, const std::string &why)
{
    if (ok) {
        passed++;
        printf("ok    %s\n", name.c_str());
    } else {
        not_passed++;
        printf("FAIL  %s: %s\n", name.c_str(), why.c_str());
    }
    fflush(stdout);
}

/** Runs a case in its own process. @return its wait status */
static int run_case(const char *self, const Case &c, unsigned seed, const std::string &more,
                    std::string &output)
{
    int fds[2];
    output.clear();
    if (pipe(fds) < 0)
        return -1;
    fflush(NULL);
    const pid_t pid = fork();
    if (!pid) {
        const std::string environment = std::string(c.environment) + " " + more;
        size_t at = 0;
        setenv("GPUME_STANDIN_SEED", std::to_string(seed).c_str(), 1);
        while (at < environment.size()) {
            size_t stop = environment.find(' ', at);
            if (stop == std::string::npos)
                stop = environment.size();
            const std::string one = environment.substr(at, stop - at);
            const size_t equal = one.find('=');
            if (equal != std::string::npos)
                setenv(one.substr(0, equal).c_str(), one.substr(equal + 1).c_str(), 1);
            at = stop + 1;
        }
        dup2(fds[1], 2);
        close(fds[0]);
        close(fds[1]);
        alarm(60);
        execl(self, self, library, "-run", c.name, (char *)NULL);
        _exit(127);
    }
    close(fds[1]);
    char buffer[4096];
    ssize_t n;
    while ((n = read(fds[0], buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR))
        if (n > 0)
            output.append(buffer, n);
    close(fds[0]);
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

static std::string describe(int status, const std::string &output)
{
    std::string s = WIFEXITED(status) ? "status " + std::to_string(WEXITSTATUS(status)) :
                                        "signal " + std::to_string(WTERMSIG(status));
    return s + ", it said: " + output;
}

static bool as_expected(const Case &c, int status, const std::string &output)
{
    if (output.find("CHECK FAILED") != std::string::npos)
        return false;
    if (c.signal)               /* the signal, or the status that a sanitizer makes of it */
        return ((WIFSIGNALED(status) && WTERMSIG(status) == c.signal) ||
                output.find("AddressSanitizer: SEGV") != std::string::npos) &&
               output.find(c.expected) != std::string::npos;
    if (!WIFEXITED(status))
        return false;
    if (!c.expected)
        return WEXITSTATUS(status) == 0 && output.find("violation") == std::string::npos;
    return WEXITSTATUS(status) == 86 && output.find(c.expected) != std::string::npos;
}

static void run_all_seeds(const char *self, const Case &c)
{
    std::string output;

    for (int seed = 0; seed < c.seeds; seed++) {
        const int status = run_case(self, c, seed, "", output);
        if (!as_expected(c, status, output)) {
            report(false, c.name, "seed " + std::to_string(seed) + ": " + describe(status, output));
            return;
        }
    }
    report(true, c.name, "");
}

static const Case *find_case(const char *name)
{
    for (auto &c : cases)
        if (!strcmp(c.name, name))
            return &c;
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: selftest LIBCUDA [CASE...]\n");
        return 2;
    }
    library = argv[1];
    cases.insert(cases.end(), std::begin(short_cases), std::end(short_cases));
    if (argc == 4 && !strcmp(argv[2], "-run")) {
        const Case *c = find_case(argv[3]);
        if (!c)
            return 2;
        if (!c->is_bare)
            begin();
        c->run();
        if (!c->is_bare)
            end();
        return nb_failed > 0;
    }
    for (auto &c : cases) {
#ifdef __clang__
        /* clang does not check the alignment of struct copies, and traps at an invalid index */
        if (!strcmp(c.name, "misaligned") || !strcmp(c.name, "index")) {
            printf("skip  %s: not with clang\n", c.name);
            continue;
        }
#endif
        bool wanted = argc == 2;
        for (int i = 2; i < argc; i++)
            wanted = wanted || !strcmp(argv[i], c.name);
        if (wanted && c.seeds)
            run_all_seeds(argv[0], c);
    }
    printf("%u passed, %u failed\n", passed, not_passed);
    return not_passed > 0;
}
