/*
 * This file is part of gpume.
 *
 * gpume is free software; you can redistribute it and/or
 * modify it under the terms of the GNU Lesser General Public
 * License as published by the Free Software Foundation; either
 * version 2.1 of the License, or (at your option) any later version.
 *
 * gpume is distributed in the hope that it will be useful,
 * but WITHOUT ANY WARRANTY; without even the implied warranty of
 * MERCHANTABILITY or FITNESS FOR A PARTICULAR PURPOSE.  See the GNU
 * Lesser General Public License for more details.
 *
 * You should have received a copy of the GNU Lesser General Public
 * License along with gpume; if not, write to the Free Software
 * Foundation, Inc., 51 Franklin Street, Fifth Floor, Boston, MA 02110-1301 USA
 */


/**
 * @file
 * Tests of the driver stand-in itself. Each case is a process of its own, for
 * several seeds: it has to end well, or with status 86 and the words expected.
 *
 * usage: selftest LIBCUDA [CASE...]
 *        selftest LIBCUDA -run CASE      (what it calls itself with)
 *        selftest LIBCUDA -bench
 */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
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
typedef CUresult tcuMemHostGetDevicePointer(CUdeviceptr *, void *, unsigned);
typedef CUresult tcuEventElapsedTime(float *, CUevent, CUevent);
typedef CUresult tcuMemGetInfo(size_t *, size_t *);
typedef CUresult tcuFuncSetAttribute(CUfunction, int, int);
typedef CUresult tcuFuncGetAttribute(int *, int, CUfunction);
typedef CUresult tcuModuleLoadDataEx(CUmodule *, const void *, unsigned, CUjit_option *, void **);
typedef CUresult tcuOccupancy(int *, CUfunction, int, size_t);
typedef CUresult tcuCtxGetStreamPriorityRange(int *, int *);
typedef CUresult tcuStreamCreateWithPriority(CUstream *, unsigned, int);
typedef CUresult tcuCtxSynchronize(void);
typedef unsigned long long tAccesses(void);

#define FUNCTIONS(X)                                                                     \
    X(cuInit, tcuInit, cuInit)                                                           \
    X(cuDriverGetVersion, tcuDriverGetVersion, cuDriverGetVersion)                       \
    X(cuDeviceGetCount, tcuDeviceGetCount, cuDeviceGetCount)                             \
    X(cuDeviceGet, tcuDeviceGet, cuDeviceGet)                                            \
    X(cuDeviceGetAttribute, tcuDeviceGetAttribute, cuDeviceGetAttribute)                 \
    X(cuCtxCreate, tcuCtxCreate_v2, cuCtxCreate_v2)                                      \
    X(cuCtxDestroy, tcuCtxDestroy_v2, cuCtxDestroy_v2)                                   \
    X(cuCtxPushCurrent, tcuCtxPushCurrent_v2, cuCtxPushCurrent_v2)                       \
    X(cuCtxPopCurrent, tcuCtxPopCurrent_v2, cuCtxPopCurrent_v2)                          \
    X(cuCtxGetCurrent, tcuCtxGetCurrent, cuCtxGetCurrent)                                \
    X(cuCtxSynchronize, tcuCtxSynchronize, cuCtxSynchronize)                             \
    X(cuDevicePrimaryCtxRetain, tcuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)     \
    X(cuDevicePrimaryCtxRelease, tcuDevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease)  \
    X(cuDevicePrimaryCtxGetState, tcuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState) \
    X(cuMemAlloc, tcuMemAlloc_v2, cuMemAlloc_v2)                                         \
    X(cuMemAllocPitch, tcuMemAllocPitch_v2, cuMemAllocPitch_v2)                          \
    X(cuMemFree, tcuMemFree_v2, cuMemFree_v2)                                            \
    X(cuMemGetInfo, tcuMemGetInfo, cuMemGetInfo_v2)                                      \
    X(cuMemHostAlloc, tcuMemHostAlloc, cuMemHostAlloc)                                   \
    X(cuMemFreeHost, tcuMemFreeHost, cuMemFreeHost)                                      \
    X(cuMemHostGetDevicePointer, tcuMemHostGetDevicePointer, cuMemHostGetDevicePointer_v2) \
    X(cuMemcpyHtoD, tcuMemcpyHtoD_v2, cuMemcpyHtoD_v2)                                   \
    X(cuMemcpyHtoDAsync, tcuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2)                    \
    X(cuMemcpyDtoH, tcuMemcpyDtoH_v2, cuMemcpyDtoH_v2)                                   \
    X(cuMemcpyDtoHAsync, tcuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2)                    \
    X(cuMemcpyDtoDAsync, tcuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2)                    \
    X(cuMemcpy2DAsync, tcuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2)                          \
    X(cuMemcpy2D, tcuMemcpy2D_v2, cuMemcpy2D_v2)                                         \
    X(cuMemsetD8Async, tcuMemsetD8Async, cuMemsetD8Async)                                \
    X(cuStreamCreate, tcuStreamCreate, cuStreamCreate)                                   \
    X(cuStreamDestroy, tcuStreamDestroy_v2, cuStreamDestroy_v2)                          \
    X(cuStreamSynchronize, tcuStreamSynchronize, cuStreamSynchronize)                    \
    X(cuStreamQuery, tcuStreamQuery, cuStreamQuery)                                      \
    X(cuStreamWaitEvent, tcuStreamWaitEvent, cuStreamWaitEvent)                          \
    X(cuStreamAddCallback, tcuStreamAddCallback, cuStreamAddCallback)                    \
    X(cuEventCreate, tcuEventCreate, cuEventCreate)                                      \
    X(cuEventDestroy, tcuEventDestroy_v2, cuEventDestroy_v2)                             \
    X(cuEventRecord, tcuEventRecord, cuEventRecord)                                      \
    X(cuEventSynchronize, tcuEventSynchronize, cuEventSynchronize)                       \
    X(cuEventQuery, tcuEventQuery, cuEventQuery)                                         \
    X(cuEventElapsedTime, tcuEventElapsedTime, cuEventElapsedTime)                       \
    X(cuModuleLoadData, tcuModuleLoadData, cuModuleLoadData)                             \
    X(cuModuleLoadDataEx, tcuModuleLoadDataEx, cuModuleLoadDataEx)                       \
    X(cuModuleUnload, tcuModuleUnload, cuModuleUnload)                                   \
    X(cuModuleGetFunction, tcuModuleGetFunction, cuModuleGetFunction)                    \
    X(cuFuncSetAttribute, tcuFuncSetAttribute, cuFuncSetAttribute)                       \
    X(cuFuncGetAttribute, tcuFuncGetAttribute, cuFuncGetAttribute)                       \
    X(cuOccupancy, tcuOccupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor)            \
    X(cuCtxGetStreamPriorityRange, tcuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange) \
    X(cuStreamCreateWithPriority, tcuStreamCreateWithPriority, cuStreamCreateWithPriority) \
    X(cuLaunchKernel, tcuLaunchKernel, cuLaunchKernel)                                   \
    X(cuGetErrorName, tcuGetErrorName, cuGetErrorName)                                   \
    X(accesses, tAccesses, gpume_standin_accesses)

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
    dlclose(lib);           /* as FFmpeg does; it has to stay */
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

/* A module for the kernels of selftest_kernels.cu: names and parameters only. */

static const struct {
    const char *name;
    const char *params;         ///< bytes of each
} kernels[] = {
    { "st_reduce", "8 8 4" },           { "st_no_barrier", "8 8" },
    { "st_read_past", "8 8 4" },        { "st_write_past", "8 4" },
    { "st_shared_past", "8" },          { "st_shared_unwritten", "8" },
    { "st_shared_byte_unwritten", "8" }, { "st_shared_left_over", "8" },
    { "st_copy", "8 8 4" },             { "st_fill", "8 4 4" },
    { "st_add", "8 4 4" },              { "st_all_write", "8" },
    { "st_byte_neighbours", "8" },      { "st_byte_race", "8" },
    { "st_blocks_write", "8" },         { "st_blocks_read", "8 8" },
    { "st_last_block", "8 8 8" },       { "st_last_block_unfenced", "8 8 8" },
    { "st_divergent_barrier", "8" },    { "st_lane_overlap", "8" },
    { "st_stuck_warp", "8" },           { "st_early_exit", "8" },
    { "st_lane_gone", "8" },            { "st_lane_masks", "8" },
    { "st_lane_left_out", "8" },        { "st_lane_not_itself", "8" },
    { "st_lane_sites", "8" },           { "st_warp_synced", "8" },
    { "st_warp_lockstep", "8" },        { "st_halves_synced", "8" },
    { "st_halves_crossed", "8" },       { "st_read_then_write", "8 4" },
    { "st_misaligned", "8 8 4" },       { "st_wide", "8 8" },
    { "st_null", "8 8" },               { "st_ldg", "8 8" },
    { "st_shift", "8 4" },              { "st_overflow", "8 4" },
    { "st_index", "8 4" },              { "st_spin", "8 8" },
    { "st_chain", "8 8 8" },              { "st_chain_unwaited", "8 8 8" },
    { "st_chain_plain", "8 8 8" },        { "st_chain_behind", "8 8 8" },
    { "st_volatile", "8 8" },           { "st_trap", "8" },
    { "st_atomics", "8 4 8 8 8" },      { "st_atomic_and_plain", "8" },
    { "st_exchange", "8 8 4" },         { "st_words", "8 8" },
    { "st_params", "1 2 4 8 16 8" },    { "st_large", "8 8 4" },
    { "st_search", "8 8 4 4 8" },       { "st_loads", "8 8 4" },
    { "st_shuffles", "8 4" },           { "st_made_8", "8" },
    { "st_made_32", "8" },               { "st_full_mask", "8" },
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

/* What most cases begin and end with. */

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

/* Kernels that are right. */

static void case_reduce()
{
    begin();
    const auto in = numbers(1000);
    Ptr a = device_words(in), b = device_words({ 0 });
    u32 sum = 0;

    for (u32 x : in)
        sum += x;
    OK(launch("st_reduce", 3, 256, 1024, NULL, a, b, 1000));
    OK(cuStreamSynchronize(NULL));
    CHECK(host_words(b, 1)[0] == sum);
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    end();
}

static void case_exchange()
{
    begin();
    auto in = numbers(64);
    int cc;
    in[40] = 77;
    OK(cuDeviceGetAttribute(&cc, (CUdevice_attribute)75, 0));
    const int redux = cc >= 8;
    std::vector<u32> expected(64 * 24);
    Ptr a = device_words(in), b = device_words(expected);

    OK(launch("st_exchange", 1, 64, 0, NULL, a, b, redux));
    OK(cuStreamSynchronize(NULL));
    u32 odd = 0;
    for (u32 x : in)
        odd += x & 1;
    for (int t = 0; t < 64; t++) {
        const int lane = t & 31, w = t & ~31;
        const u32 *v = &in[w];
        u32 *o = &expected[24 * t];
        o[0]  = v[(lane * 5 + 3) % 32];
        o[1]  = v[lane / 8 * 8 + 2];
        o[2]  = v[lane < 3 ? lane : lane - 3];
        o[3]  = v[lane % 4 < 1 ? lane : lane - 1];
        o[4]  = v[lane + 7 > 31 ? lane : lane + 7];
        o[5]  = v[lane % 16 + 2 > 15 ? lane : lane + 2];
        o[6]  = v[lane ^ 21];
        o[7]  = v[(lane ^ 8) > lane / 8 * 8 + 7 ? lane : lane ^ 8];
        o[9]  = 0;
        o[10] = 1;
        o[17] = 0;
        o[18] = o[19] = o[20] = o[21] = o[22] = v[0];
        for (int i = 0; i < 32; i++) {
            o[8]  |= (v[i] & 1) << i;
            o[9]  |= v[i] == 77;
            o[10] &= v[i] != 77;
            o[11] |= (u32)((v[i] & 3) == (v[lane] & 3)) << i;
            o[17] += v[i];
            o[18]  = std::min(o[18], v[i]);
            o[19]  = std::max(o[19], v[i]);
            o[20]  = (u32)std::min((int)o[20], (int)v[i]);
            o[21] |= v[i];
            o[22] &= v[i];
        }
        o[12] = (u32)(t ^ 1);
        o[13] = v[lane ^ 1];
        o[14] = odd;
        o[15] = 1;
        o[16] = 0;
        if (!redux)
            memset(&o[17], 0, 6 * 4);
        o[23] = (u32)lane;
    }
    SAME(host_words(b, expected.size()).data(), expected.data(), expected.size());
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    end();
}

static void case_redux_too_old()
{
    begin();
    Ptr a = device_words(numbers(64)), b = device_words(numbers(64 * 24));

    OK(launch("st_exchange", 1, 64, 0, NULL, a, b, 1));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    end();
}

static u32 lanes(u32 a, u32 b, int bits, u32 (*f)(u32, u32))
{
    u32 r = 0, m = bits == 8 ? 0xFF : 0xFFFF;

    for (int i = 0; i < 32; i += bits)
        r |= (f(a >> i & m, b >> i & m) & m) << i;
    return r;
}

static u32 less(u32 a, u32 b)     { return a < b ? a : b; }
static u32 more(u32 a, u32 b)     { return a < b ? b : a; }
static u32 distance(u32 a, u32 b) { return a < b ? b - a : a - b; }
static u32 plus(u32 a, u32 b)     { return a + b; }

static void case_words()
{
    begin();
    const auto in = numbers(3 * 96, 7);
    std::vector<u32> expected(96 * 16);
    Ptr a = device_words(in), b = device_alloc(expected.size() * 4);

    for (int t = 0; t < 96; t++) {
        const u32 x = in[3 * t], y = in[3 * t + 1], z = in[3 * t + 2];
        u32 *o = &expected[16 * t];
        o[0] = o[1] = o[2] = z;
        for (int i = 0; i < 32; i += 8) {
            o[0] += distance(x >> i & 255, y >> i & 255);
            o[2] += (x >> i & 255) * (y >> i & 255);
        }
        o[1] += distance(x & 65535, y & 65535) + distance(x >> 16, y >> 16);
        const u64 both = (u64)y << 32 | x;
        for (int i = 0; i < 4; i++)
            o[3] |= (u32)(both >> (z >> 4 * i & 7) * 8 & 255) << 8 * i;
        o[4]  = (u32)(both >> (z & 31));
        o[5]  = (u32)(both << (z & 31) >> 32);
        o[6]  = lanes(x, y, 8, less);
        o[7]  = lanes(x, y, 16, more);
        o[8]  = lanes(x, y, 8, distance);
        o[10] = 32;
        for (int i = 0; i < 32; i++) {
            o[9]  += x >> i & 1;
            o[11] |= (x >> i & 1) << (31 - i);
            if (x >> i & 1)
                o[10] = 31 - (u32)i;
        }
        o[12] = (u32)((u64)x * y >> 32);
        o[13] = distance(x >> 1, y >> 1);
        o[14] = x + y;
        o[15] = lanes(x, y, 8, plus);
    }
    OK(launch("st_words", 1, 96, 0, NULL, a, b));
    OK(cuStreamSynchronize(NULL));
    SAME(host_words(b, expected.size()).data(), expected.data(), expected.size());
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    end();
}

static void case_params()
{
    struct { u64 a; u8 b[5]; short c; } e = { 99, { 1, 2, 3, 4, 5 }, -6 };
    begin();
    u8 a = 200;
    short b = -3;
    int c = 1 << 30;
    u64 d = 7ULL << 32;
    Ptr out = device_alloc(32);
    void *list[] = { &a, &b, &c, &d, &e, &out };
    const u32 expected[] = { 200, (u32)-3, 1u << 30, 7, 5, (u32)-6, 99, 11000 };

    OK(cuLaunchKernel(kernel("st_params"), 1, 1, 1, 1, 1, 1, 0, NULL, list, NULL));
    a = 0;
    memset(&e, 0, sizeof(e));   /* they are those of the call */
    OK(cuStreamSynchronize(NULL));
    SAME(host_words(out, 8).data(), expected, 8);
    OK(cuMemFree(out));
    end();
}

static void case_atomics()
{
    begin();
    const auto in = numbers(100);
    const u8 *bytes = (const u8 *)in.data();
    std::vector<u32> expected(259);
    Ptr a = device_words(in), b = device_words(expected);
    Ptr least = device_words({ 0xFFFFFFFF, 0xFFFFFFFF }), lowest = device_words({ 1000 });
    u64 best = ~0ULL;
    int low = 1000;

    OK(launch("st_atomics", 7, 64, 0, NULL, a, 400, b, least, lowest));
    for (u32 i = 0; i < 400; i++) {
        expected[bytes[i]]++;
        expected[256] = std::max<u32>(expected[256], bytes[i]);
        best = std::min(best, (u64)bytes[i] << 32 | i);
        low  = std::min(low, bytes[i] - 200);
    }
    expected[258] = 400;
    OK(cuStreamSynchronize(NULL));
    SAME(host_words(b, 259).data(), expected.data(), 259);
    const u32 words[] = { (u32)best, (u32)(best >> 32) };
    SAME(host_words(least, 2).data(), words, 2);
    CHECK((int)host_words(lowest, 1)[0] == low);
    for (Ptr p : { a, b, least, lowest })
        OK(cuMemFree(p));
    end();
}

static void search_expected(const std::vector<u8> &cur, const std::vector<u8> &ref, int w, int h,
                            std::vector<u64> &best)
{
    for (int by = 0; by < h / 16; by++)
        for (int bx = 0; bx < w / 16; bx++) {
            u64 least = ~0ULL;
            for (int t = 0; t < 17 * 17; t++) {
                const int x0 = bx * 16, y0 = by * 16, dx = t % 17 - 8, dy = t / 17 - 8;
                u64 cost = 0;
                if (x0 + dx < 0 || y0 + dy < 0 || x0 + dx + 16 > w || y0 + dy + 16 > h)
                    continue;
                for (int y = 0; y < 16; y++)
                    for (int x = 0; x < 16; x++)
                        cost += (u64)abs(cur[(y0 + y) * w + x0 + x] - ref[(y0 + dy + y) * w + x0 + dx + x]);
                least = std::min(least, cost << 32 | (u64)t);
            }
            best.push_back(least);
        }
}

static void case_search()
{
    begin();
    enum { W = 64, H = 48 };
    const auto noise = numbers(W * H / 2, 3);
    const u8 *bytes = (const u8 *)noise.data();
    const std::vector<u8> cur(bytes, bytes + W * H), ref(bytes + W * 3 + 2, bytes + W * H + W * 3 + 2);
    std::vector<u64> expected;
    Ptr a = device_alloc(W * H), b = device_alloc(W * H), out = device_alloc(12 * 8);
    int w = W, h = H;
    void *list[] = { &a, &b, &w, &h, &out };

    OK(cuMemcpyHtoD(a, cur.data(), cur.size()));
    OK(cuMemcpyHtoD(b, ref.data(), ref.size()));
    OK(cuLaunchKernel(kernel("st_search"), W / 16, H / 16, 1, 17, 17, 1, 32 * 32 + 16 * 16 + 8,
                      NULL, list, NULL));
    OK(cuStreamSynchronize(NULL));
    search_expected(cur, ref, W, H, expected);
    SAME(host_words(out, 24).data(), (const u32 *)expected.data(), 24);
    for (Ptr p : { a, b, out })
        OK(cuMemFree(p));
    end();
}

/** A kernel with one buffer to write, and what it is to have written. */
static void run_one(const char *name, unsigned grid, unsigned block, unsigned shared, size_t words,
                    const std::vector<u32> *expected = NULL)
{
    begin();
    Ptr out = device_words(std::vector<u32>(words));

    OK(launch(name, grid, block, shared, NULL, out));
    OK(cuStreamSynchronize(NULL));
    if (expected)
        SAME(host_words(out, words).data(), expected->data(), words);
    OK(cuMemFree(out));
    end();
}

static void case_warp_synced()
{
    std::vector<u32> expected;
    for (u32 i = 0; i < 64; i++)
        expected.push_back((i ^ 31) * 3);
    run_one("st_warp_synced", 1, 64, 256, 64, &expected);
}

static void case_halves_synced()
{
    std::vector<u32> expected;
    for (u32 i = 0; i < 64; i++)
        expected.push_back((i ^ 15) * 3);
    run_one("st_halves_synced", 1, 64, 256, 64, &expected);
}

static void case_early_exit()
{
    std::vector<u32> expected(64);
    std::fill_n(expected.begin(), 40, 1);
    run_one("st_early_exit", 1, 64, 0, 64, &expected);
}

static void case_byte_neighbours() { run_one("st_byte_neighbours", 1, 64, 0, 16); }
static void case_made()            { run_one("st_made_32", 1, 64, 0, 64); }

static void last_block(const char *name)
{
    begin();
    Ptr parts = device_alloc(40), counter = device_words({ 0 }), out = device_alloc(4);

    OK(launch(name, 10, 32, 0, NULL, parts, counter, out));
    OK(cuStreamSynchronize(NULL));
    CHECK(host_words(out, 1)[0] == 55);
    for (Ptr p : { parts, counter, out })
        OK(cuMemFree(p));
    end();
}

static void case_last_block()          { last_block("st_last_block"); }
static void case_last_block_unfenced() { last_block("st_last_block_unfenced"); }

/* Returns how many words are not what they are once all blocks before have stored. */
static int chain(const char *name, unsigned threads)
{
    const unsigned blocks = 12;
    int wrong = 0;

    begin();
    Ptr words = device_words(std::vector<u32>(blocks)), ticket = device_words({ 0 });
    Ptr out = device_words(std::vector<u32>(blocks * threads));

    OK(launch(name, blocks, threads, 4, NULL, words, ticket, out));
    OK(cuStreamSynchronize(NULL));
    std::vector<u32> got = host_words(out, blocks * threads);
    for (unsigned i = 0; i < blocks * threads; i++)
        wrong += got[i] != i / threads + 1;
    for (Ptr p : { words, ticket, out })
        OK(cuMemFree(p));
    end();
    return wrong;
}

static void case_chain()          { CHECK(!chain("st_chain", 64)); }
static void case_chain_unwaited() { CHECK(chain("st_chain_unwaited", 64) > 0); }
static void case_chain_plain()    { chain("st_chain_plain", 64); }
static void case_chain_behind()   { chain("st_chain_behind", 1); }

static void read_then_write(int sync)
{
    begin();
    Ptr out = device_alloc(128);

    OK(launch("st_read_then_write", 1, 32, 128, NULL, out, sync));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemFree(out));
    end();
}

static void case_read_then_write()   { read_then_write(1); }
static void case_read_while_write()  { read_then_write(0); }

static void case_wide()
{
    begin();
    const auto in = numbers(64);
    Ptr a = device_words(in), b = device_alloc(256);

    OK(launch("st_wide", 1, 16, 0, NULL, a, b));
    OK(cuStreamSynchronize(NULL));
    SAME(host_words(b, 64).data(), in.data(), 64);
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    end();
}

static void case_large()
{
    begin();
    const auto in = numbers(600);
    Ptr a = device_words(in), b = device_alloc(2400);

    OK(launch("st_large", 1, 1, 0, NULL, a, b, 2));
    OK(cuStreamSynchronize(NULL));
    SAME(host_words(b + 1600, 200).data(), in.data() + 400, 200);
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    end();
}

/* Kernels that are wrong. */

/** A launch that kills the context: the error stays. */
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
    /* another context is not concerned */
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

static void case_read_past()
{
    begin();
    Ptr a = device_words(numbers(64)), b = device_alloc(256);
    kills(700, "st_read_past", 32, 0, a, a, b, 33);
}

static void case_read_before()
{
    begin();
    Ptr a = device_words(numbers(64)), b = device_alloc(256);
    kills(700, "st_read_past", 32, 0, a, a, b, -1);
}

static void case_read_across_end()
{
    begin();
    Ptr a = device_alloc(30), b = device_alloc(256);
    OK(cuMemsetD8Async(a, 1, 30, NULL));
    kills(700, "st_read_past", 8, 0, a, a, b, 0);
}

static void case_write_past()
{
    begin();
    Ptr a = device_alloc(61);
    kills(700, "st_write_past", 1, 0, a, a, 61);
}

static void case_large_past()
{
    begin();
    Ptr a = device_words(numbers(600)), b = device_alloc(2396);
    kills(700, "st_large", 1, 0, a, a, b, 2);
}

static void case_use_after_free()
{
    begin();
    Ptr a = device_words(numbers(64)), b = device_alloc(256);
    OK(cuMemFree(b));
    kills(700, "st_copy", 32, 0, a, b, a, 32);
}

static void case_null()
{
    begin();
    Ptr a = device_words(numbers(64));
    kills(700, "st_null", 32, 0, a, (Ptr)0, a);
}

static void case_host_pointer()
{
    begin();
    static u32 word = 1;
    Ptr a = device_words(numbers(64));
    kills(700, "st_null", 32, 0, a, (Ptr)(uintptr_t)&word, a);
}

static void case_misaligned()
{
    begin();
    Ptr a = device_words(numbers(64)), b = device_alloc(256);
    kills(716, "st_misaligned", 1, 0, a, a, b, 1);
}

static void case_shared_past()
{
    begin();
    Ptr a = device_alloc(256);
    kills(700, "st_shared_past", 64, 256, a, a);
}

static void case_trap()
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

static void case_lane_overlap()   { kills_out(719, "st_lane_overlap", 32); }
static void case_stuck_warp()     { kills_out(719, "st_stuck_warp", 32); }
static void case_lane_gone()      { kills_out(719, "st_lane_gone", 32); }
static void case_lane_masks()     { kills_out(719, "st_lane_masks", 32); }
static void case_lane_not_itself() { kills_out(719, "st_lane_not_itself", 32); }
static void case_lane_never()     { kills_out(719, "st_full_mask", 40); }
static void case_lane_sites()     { kills_out(719, "st_lane_sites", 32); }

static void case_spin()
{
    begin();
    Ptr a = device_words({ 0 }), b = device_alloc(256);
    kills(702, "st_spin", 32, 0, a, a, b);
}

static void case_another_context()
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

static void case_no_barrier()
{
    begin();
    Ptr a = device_words(numbers(64)), b = device_alloc(4);
    OK(launch("st_no_barrier", 1, 64, 256, NULL, a, b));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    end();
}

/* A missing barrier is also seen by what comes out of it, for some seed. */
static void case_no_barrier_wrong()
{
    begin();
    const auto in = numbers(64);
    Ptr a = device_words(in), b = device_alloc(4);
    u32 sum = 0;
    for (u32 x : in)
        sum += x;
    OK(launch("st_no_barrier", 1, 64, 256, NULL, a, b));
    OK(cuStreamSynchronize(NULL));
    if (host_words(b, 1)[0] != sum)
        fprintf(stderr, "standin test: the sum is wrong\n");
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    end();
}

static void case_shared_unwritten()      { run_one("st_shared_unwritten", 1, 64, 256, 64); }
static void case_shared_byte_unwritten() { run_one("st_shared_byte_unwritten", 1, 64, 64, 64); }
static void case_shared_left_over()      { run_one("st_shared_left_over", 4, 64, 256, 256); }
static void case_all_write()             { run_one("st_all_write", 1, 64, 0, 1); }
static void case_byte_race()             { run_one("st_byte_race", 1, 64, 0, 16); }
static void case_blocks_write()          { run_one("st_blocks_write", 5, 64, 0, 1); }
static void case_divergent_barrier()     { run_one("st_divergent_barrier", 1, 64, 0, 64); }
static void case_lane_left_out()         { run_one("st_lane_left_out", 1, 32, 0, 32); }
static void case_warp_lockstep()         { run_one("st_warp_lockstep", 1, 32, 128, 32); }
static void case_halves_crossed()        { run_one("st_halves_crossed", 1, 32, 128, 32); }
static void case_atomic_and_plain()      { run_one("st_atomic_and_plain", 1, 32, 0, 1); }

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

static void case_blocks_read() { two("st_blocks_read", 8, 32); }
static void case_ldg()         { two("st_ldg", 1, 32); }
static void case_volatile()    { two("st_volatile", 1, 32); }

static void with_int(const char *name, int value)
{
    begin();
    Ptr a = device_alloc(128);
    OK(launch(name, 1, 32, 0, NULL, a, value));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemFree(a));
    end();
}

static void case_shift()    { with_int("st_shift", 40); }
static void case_overflow() { with_int("st_overflow", 0x7FFFFFFF); }
static void case_index()    { with_int("st_index", 4); }

static void case_unwritten()
{
    begin();
    Ptr a = device_alloc(256), b = device_alloc(256);
    OK(cuMemsetD8Async(a, 0, 128, NULL));
    OK(launch("st_copy", 1, 64, 0, NULL, b, a, 64));
    OK(cuStreamSynchronize(NULL));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    end();
}

/* What was never written stays so in a copy. */
static void case_unwritten_copy()
{
    begin();
    Ptr a = device_alloc(256), b = device_alloc(256), c = device_alloc(256);
    OK(cuMemsetD8Async(a, 0, 253, NULL));
    OK(cuMemcpyDtoDAsync(b, a, 256, NULL));
    OK(launch("st_copy", 1, 64, 0, NULL, c, b, 64));
    OK(cuStreamSynchronize(NULL));
    for (Ptr p : { a, b, c })
        OK(cuMemFree(p));
    end();
}

/* Streams and events. */

enum { N = 5000 };

/** Two streams; what the second does is to come after the first. */
static void two_streams(bool wait, unsigned flags)
{
    begin();
    CUstream s, t;
    CUevent e;
    Ptr a = device_words(std::vector<u32>(N));
    u32 *p = pinned_alloc(N * 4);

    OK(cuStreamCreate(&s, flags));
    OK(cuStreamCreate(&t, flags));
    OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
    OK(cuStreamSynchronize(NULL));
    OK(launch("st_fill", N / 100, 100, 0, s, a, (int)N, 77u));
    OK(cuEventRecord(e, s));
    if (wait)
        OK(cuStreamWaitEvent(t, e, 0));
    OK(cuMemcpyDtoHAsync(p, a, N * 4, t));
    OK(cuStreamSynchronize(t));
    if (wait)
        SAME(p, counting(N, 77).data(), N);
    else if (memcmp(p, counting(N, 77).data(), N * 4))
        fprintf(stderr, "standin test: the data is wrong\n");
    OK(cuStreamSynchronize(s));
    OK(cuEventDestroy(e));
    OK(cuStreamDestroy(s));
    OK(cuStreamDestroy(t));
    OK(cuMemFree(a));
    OK(cuMemFreeHost(p));
    end();
}

static void case_event_wait()     { two_streams(true,  CU_STREAM_NON_BLOCKING); }
static void case_no_event_wait()  { two_streams(false, CU_STREAM_NON_BLOCKING); }
static void case_no_event_wait_2() { two_streams(false, 0); }

/* The event is recorded before what is to be waited for. */
static void case_event_too_early()
{
    begin();
    CUstream s, t;
    CUevent e;
    Ptr a = device_words(std::vector<u32>(64)), b = device_alloc(256);

    OK(cuStreamSynchronize(NULL));
    OK(cuStreamCreate(&s, 1));
    OK(cuStreamCreate(&t, 1));
    OK(cuEventCreate(&e, 0));
    OK(cuEventRecord(e, s));
    OK(launch("st_fill", 1, 64, 0, s, a, 64, 1u));
    OK(cuStreamWaitEvent(t, e, 0));
    OK(launch("st_copy", 1, 64, 0, t, b, a, 64));
    OK(cuStreamSynchronize(t));
    OK(cuStreamSynchronize(s));
    OK(cuEventDestroy(e));
    OK(cuStreamDestroy(s));
    OK(cuStreamDestroy(t));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    end();
}

/* Blocking streams come after the default stream, and before it. */
static void default_stream(unsigned flags)
{
    begin();
    CUstream s;
    Ptr a = device_alloc(N * 4);
    u32 *p = pinned_alloc(N * 4);

    OK(cuStreamCreate(&s, flags));
    OK(launch("st_fill", N / 100, 100, 0, NULL, a, (int)N, 7u));
    OK(launch("st_add", N / 100, 100, 0, s, a, (int)N, 2u));
    OK(cuMemcpyDtoHAsync(p, a, N * 4, NULL));
    OK(cuStreamSynchronize(NULL));
    if (!flags)
        SAME(p, counting(N, 9).data(), N);
    OK(cuStreamSynchronize(s));
    OK(cuStreamDestroy(s));
    OK(cuMemFree(a));
    OK(cuMemFreeHost(p));
    end();
}

static void case_default_stream()          { default_stream(0); }
static void case_default_stream_unordered() { default_stream(CU_STREAM_NON_BLOCKING); }

/* A buffer is overwritten that another stream still reads. */
static void overwritten(bool wait)
{
    begin();
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
    if (wait)
        OK(cuStreamWaitEvent(t, e, 0));
    OK(cuMemcpyHtoDAsync(a, p, N * 4, t));
    OK(cuStreamSynchronize(t));
    OK(cuStreamSynchronize(s));
    if (wait)
        SAME(host_words(b, N).data(), counting(N, 0).data(), N);
    OK(cuEventDestroy(e));
    OK(cuStreamDestroy(s));
    OK(cuStreamDestroy(t));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    OK(cuMemFreeHost(p));
    end();
}

static void case_reuse()         { overwritten(true); }
static void case_reuse_too_early() { overwritten(false); }

/* Two streams read; the writer waits for one of them, or for both. */
static void two_readers(bool both)
{
    begin();
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
    if (both)
        OK(cuStreamWaitEvent(s[2], e[0], 0));
    OK(cuMemsetD8Async(a, 1, 256, s[2]));
    for (auto &x : s)
        OK(cuStreamSynchronize(x));
    if (both) {
        SAME(host_words(b, 64).data(), counting(64, 0).data(), 64);
        SAME(host_words(c, 64).data(), counting(64, 0).data(), 64);
    }
    for (auto &x : s)
        OK(cuStreamDestroy(x));
    for (auto &x : e)
        OK(cuEventDestroy(x));
    for (Ptr p : { a, b, c })
        OK(cuMemFree(p));
    end();
}

static void case_two_readers()       { two_readers(true); }
static void case_two_readers_one()   { two_readers(false); }

/* A result is looked at too early: it is not there, whatever the buffer held. */
static void case_too_early()
{
    begin();
    const auto in = numbers(N);
    Ptr a = device_words(in);
    u32 *p = pinned_alloc(N * 4);

    memcpy(p, in.data(), N * 4);
    OK(cuStreamSynchronize(NULL));
    OK(cuMemcpyDtoHAsync(p, a, N * 4, NULL));
    CHECK(memcmp(p, in.data(), N * 4));
    OK(cuStreamSynchronize(NULL));
    SAME(p, in.data(), N);
    OK(cuMemFree(a));
    OK(cuMemFreeHost(p));
    end();
}

/* Pinned memory goes up when the copy runs; other memory, when it is queued. */
static void case_source_changed()
{
    begin();
    Ptr a = device_alloc(N * 4), b = device_alloc(N * 4);
    u32 *p = pinned_alloc(N * 4);
    auto q = counting(N, 5);

    memcpy(p, q.data(), N * 4);
    OK(cuMemcpyHtoDAsync(a, p, N * 4, NULL));
    OK(cuMemcpyHtoDAsync(b, q.data(), N * 4, NULL));
    memset(p, 0, N * 4);
    memset(q.data(), 0, N * 4);
    OK(cuStreamSynchronize(NULL));
    SAME(host_words(a, N).data(), q.data(), N);
    SAME(host_words(b, N).data(), counting(N, 5).data(), N);
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    OK(cuMemFreeHost(p));
    end();
}

/* Ordered work comes out right in whatever order it runs. */
static void case_pipeline()
{
    begin();
    enum { FRAMES = 12, SLOTS = 2 };
    CUstream up, work, down;
    CUevent uploaded[SLOTS], worked[SLOTS], done[SLOTS];
    Ptr in[SLOTS], out[SLOTS];
    u32 *from[SLOTS], *to[SLOTS];

    for (CUstream *s : { &up, &work, &down })
        OK(cuStreamCreate(s, 1));
    for (int i = 0; i < SLOTS; i++) {
        OK(cuEventCreate(&uploaded[i], 2));
        OK(cuEventCreate(&worked[i], 2));
        OK(cuEventCreate(&done[i], 2));
        in[i]   = device_alloc(N * 4);
        out[i]  = device_alloc(N * 4);
        from[i] = pinned_alloc(N * 4);
        to[i]   = pinned_alloc(N * 4);
    }
    for (int f = 0; f < FRAMES + SLOTS; f++) {
        const int i = f % SLOTS;
        if (f >= SLOTS) {
            if (f & 1)
                OK(cuEventSynchronize(done[i]));
            else
                while (cuEventQuery(done[i]) == CUDA_ERROR_NOT_READY)
                    ;
            SAME(to[i], counting(N, 1000 * (f - SLOTS) + 3).data(), N);
        }
        if (f >= FRAMES)
            continue;
        memcpy(from[i], counting(N, 1000 * f).data(), N * 4);
        OK(cuMemcpyHtoDAsync(in[i], from[i], N * 4, up));
        OK(cuEventRecord(uploaded[i], up));
        OK(cuStreamWaitEvent(work, uploaded[i], 0));
        OK(launch("st_copy", N / 100, 100, 0, work, out[i], in[i], (int)N));
        OK(launch("st_add", N / 100, 100, 0, work, out[i], (int)N, 3u));
        OK(cuEventRecord(worked[i], work));
        OK(cuStreamWaitEvent(down, worked[i], 0));
        OK(cuMemcpyDtoHAsync(to[i], out[i], N * 4, down));
        OK(cuEventRecord(done[i], down));
    }
    for (int i = 0; i < SLOTS; i++) {
        for (CUevent e : { uploaded[i], worked[i], done[i] })
            OK(cuEventDestroy(e));
        OK(cuMemFree(in[i]));
        OK(cuMemFree(out[i]));
        OK(cuMemFreeHost(from[i]));
        OK(cuMemFreeHost(to[i]));
    }
    for (CUstream s : { up, work, down })
        OK(cuStreamDestroy(s));
    end();
}

static void case_timing()
{
    begin();
    CUevent a, b;
    float ms = -1;
    Ptr p = device_alloc(N * 4);

    OK(cuEventCreate(&a, 0));
    OK(cuEventCreate(&b, 0));
    OK(cuEventRecord(a, NULL));
    OK(launch("st_fill", N / 100, 100, 0, NULL, p, (int)N, 7u));
    OK(cuEventRecord(b, NULL));
    const int early = cuEventElapsedTime(&ms, a, b);
    CHECK(early == CUDA_ERROR_NOT_READY || early == 0);
    OK(cuEventSynchronize(b));
    OK(cuEventElapsedTime(&ms, a, b));
    CHECK(ms > 0 && ms < 10000);
    OK(cuEventDestroy(a));
    OK(cuEventDestroy(b));
    OK(cuMemFree(p));
    end();
}

static void on_callback(CUstream stream, CUresult status, void *opaque)
{
    CHECK(!stream && !status);
    ++*(int *)opaque;
}

static void case_callback()
{
    begin();
    int n = 0;
    OK(cuStreamAddCallback(NULL, on_callback, &n, 0));
    OK(cuStreamSynchronize(NULL));
    CHECK(n == 1);
    end();
}

static void bad_callback(CUstream, CUresult, void *)
{
    IS(800, cuCtxSynchronize());
}

static void case_bad_callback()
{
    begin();
    OK(cuStreamAddCallback(NULL, bad_callback, NULL, 0));
    OK(cuStreamSynchronize(NULL));
    end();
}

/* Memory. */

static void case_free_waits()
{
    begin();
    Ptr a = device_alloc(N * 4);
    OK(launch("st_fill", N / 100, 100, 0, NULL, a, (int)N, 7u));
    OK(cuMemFree(a));
    end();
}

static void case_pinned_freed_early()
{
    begin();
    Ptr a = device_words(numbers(64));
    u32 *p = pinned_alloc(256);
    OK(cuMemcpyDtoHAsync(p, a, 256, NULL));
    OK(cuMemFreeHost(p));
    OK(cuMemFree(a));
    end();
}

static void case_mapped()
{
    begin();
    u32 *p = pinned_alloc(400);
    Ptr d = 0;
    OK(cuMemHostGetDevicePointer(&d, p, 0));
    OK(launch("st_fill", 1, 100, 0, NULL, d, 100, 9u));
    OK(cuStreamSynchronize(NULL));
    SAME(p, counting(100, 9).data(), 100);
    OK(cuMemFreeHost(p));
    end();
}

static void case_host_touches()
{
    begin();
    Ptr a = device_words(numbers(64));
    volatile u32 *p = (volatile u32 *)(uintptr_t)a;
    fprintf(stderr, "%u\n", p[3]);
    fprintf(stderr, "CHECK FAILED: the host has read device memory\n");
}

static void case_out_of_memory()
{
    begin();
    size_t free_bytes, total;
    Ptr a = 0, b = 0;
    OK(cuMemGetInfo(&free_bytes, &total));
    CHECK(total == 1000000 && free_bytes == 1000000);
    OK(cuMemAlloc(&a, 600000));
    IS(2, cuMemAlloc(&b, 400001));
    OK(cuMemAlloc(&b, 400000));
    OK(cuMemGetInfo(&free_bytes, &total));
    CHECK(free_bytes == 0);
    OK(cuMemFree(a));
    OK(cuMemAlloc(&a, 600000));
    OK(cuMemFree(a));
    OK(cuMemFree(b));
    void *p = NULL;
    IS(2, cuMemHostAlloc(&p, 5001, 0));
    OK(cuMemHostAlloc(&p, 5000, 0));
    OK(cuMemFreeHost(p));
    end();
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

static void case_copy_2d()
{
    begin();
    const auto in = numbers(100);
    Ptr a = 0;
    size_t pitch = 0;
    OK(cuMemAllocPitch(&a, &pitch, 40, 10, 4));
    CHECK(pitch >= 40);
    CUDA_MEMCPY2D c = rect(a, pitch, in.data(), 40, 40, 10);
    OK(cuMemcpy2DAsync(&c, NULL));
    /* the inner 20 x 8 bytes back, into another pitch */
    std::vector<u8> out(8 * 24, 0xEE);
    CUDA_MEMCPY2D d;
    memset(&d, 0, sizeof(d));
    d.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    d.srcDevice     = a;
    d.srcPitch      = pitch;
    d.srcXInBytes   = 10;
    d.srcY          = 1;
    d.dstMemoryType = CU_MEMORYTYPE_HOST;
    d.dstHost       = out.data();
    d.dstPitch      = 24;
    d.dstXInBytes   = 2;
    d.WidthInBytes  = 20;
    d.Height        = 8;
    OK(cuMemcpy2D(&d));
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 24; x++)
            CHECK(out[y * 24 + x] == (x < 2 || x > 21 ? 0xEE : ((const u8 *)in.data())[(y + 1) * 40 + x + 8]));
    OK(cuMemFree(a));
    end();
}

static void case_copy_2d_past()
{
    begin();
    const auto in = numbers(100);
    Ptr a = device_alloc(399);
    CUDA_MEMCPY2D c = rect(a, 40, in.data(), 40, 40, 10);
    IS(1, cuMemcpy2DAsync(&c, NULL));
    OK(cuMemFree(a));
    end();
}

static void case_copy_2d_pitch()
{
    begin();
    const auto in = numbers(100);
    Ptr a = device_alloc(400);
    CUDA_MEMCPY2D c = rect(a, 39, in.data(), 40, 40, 2);
    IS(1, cuMemcpy2DAsync(&c, NULL));
    OK(cuMemFree(a));
    end();
}

static void case_copy_past()
{
    begin();
    const auto in = numbers(100);
    Ptr a = device_alloc(396);
    IS(1, cuMemcpyHtoDAsync(a, in.data(), 400, NULL));
    OK(cuMemFree(a));
    end();
}

static void case_copy_freed()
{
    begin();
    const auto in = numbers(100);
    Ptr a = device_alloc(400);
    OK(cuMemFree(a));
    IS(1, cuMemcpyHtoDAsync(a, in.data(), 400, NULL));
    end();
}

static void case_copy_overlap()
{
    begin();
    Ptr a = device_words(numbers(100));
    IS(1, cuMemcpyDtoDAsync(a, a + 100, 200, NULL));
    OK(cuMemFree(a));
    end();
}

static void case_set_past()
{
    begin();
    Ptr a = device_alloc(100);
    IS(1, cuMemsetD8Async(a, 0, 101, NULL));
    OK(cuMemFree(a));
    end();
}

static void case_free_twice()
{
    begin();
    Ptr a = device_alloc(100);
    OK(cuMemFree(a));
    IS(1, cuMemFree(a));
    end();
}

static void case_free_inside()
{
    begin();
    Ptr a = device_alloc(100);
    IS(1, cuMemFree(a + 4));
    OK(cuMemFree(a));
    end();
}

static void case_leak_device()
{
    begin();
    device_alloc(100);
    end();
}

static void case_leak_pinned()
{
    begin();
    pinned_alloc(100);
    end();
}

static void case_leak_stream()
{
    CUstream s;
    begin();
    OK(cuStreamCreate(&s, 0));
    end();
}

static void case_leak_event()
{
    CUevent e;
    begin();
    OK(cuEventCreate(&e, 0));
    end();
}

static void case_leak_module()
{
    CUcontext popped;
    begin();
    OK(cuCtxPopCurrent(&popped));
    OK(cuCtxDestroy(context));
}

static void case_leak_context()
{
    CUcontext popped;
    begin();
    OK(cuModuleUnload(module));
    OK(cuCtxPopCurrent(&popped));
}

/* Contexts and handles. */

static void case_no_context()
{
    CUcontext popped;
    Ptr a = 0;
    begin();
    OK(cuModuleUnload(module));
    OK(cuCtxPopCurrent(&popped));
    IS(201, cuMemAlloc(&a, 4));
    OK(cuCtxDestroy(context));
}

static void case_pop_unpushed()
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

static void case_push_left()
{
    pthread_t thread;
    begin();
    CHECK(!pthread_create(&thread, NULL, push_only, NULL));
    pthread_join(thread, NULL);
    end();
}

static void case_push_left_main()
{
    begin();
    OK(cuModuleUnload(module));
    OK(cuCtxPushCurrent(context));
    CUcontext popped;
    OK(cuCtxPopCurrent(&popped));
    CUcontext second;
    OK(cuCtxCreate(&second, 0, 0));
    OK(cuCtxDestroy(second));
}

static void case_not_initialised()
{
    int n;
    load_library();
    IS(3, cuDeviceGetCount(&n));
}

static void case_destroyed_event()
{
    CUevent e;
    begin();
    OK(cuEventCreate(&e, 0));
    OK(cuEventDestroy(e));
    IS(400, cuEventRecord(e, NULL));
    end();
}

static void case_destroyed_context()
{
    begin();
    end();
    IS(201, cuCtxPushCurrent(context));
}

static void case_other_stream()
{
    CUcontext other, popped;
    CUstream s;
    begin();
    OK(cuCtxCreate(&other, 0, 0));
    OK(cuStreamCreate(&s, 0));
    OK(cuCtxPopCurrent(&popped));
    IS(400, cuStreamSynchronize(s));
    OK(cuCtxPushCurrent(other));
    OK(cuStreamDestroy(s));
    OK(cuCtxPopCurrent(&popped));
    OK(cuCtxDestroy(other));
    end();
}

static void case_primary()
{
    CUcontext a, b, popped;
    unsigned flags;
    int active;
    load_library();
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&a, 0));
    OK(cuDevicePrimaryCtxRetain(&b, 0));
    CHECK(a == b);
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(active);
    OK(cuCtxPushCurrent(a));
    Ptr p = device_alloc(100);
    OK(cuMemFree(p));
    OK(cuCtxPopCurrent(&popped));
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(!active);
}

static void case_primary_kept()
{
    CUcontext a;
    load_library();
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&a, 0));
}

static void case_devices()
{
    int n = 0, value = 0;
    CUdevice dev;
    CUcontext c[2], popped;
    load_library();
    OK(cuInit(0));
    OK(cuDeviceGetCount(&n));
    CHECK(n == 2);
    IS(101, cuDeviceGet(&dev, 2));
    OK(cuDeviceGet(&dev, 1));
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, dev));
    CHECK(value == 9);
    OK(cuDeviceGetAttribute(&value, (CUdevice_attribute)97, dev));
    CHECK(value == 232448);
    for (int i = 0; i < 2; i++) {
        OK(cuCtxCreate(&c[i], 0, i));
        OK(cuCtxPopCurrent(&popped));
    }
    for (int i = 0; i < 2; i++) {
        OK(cuCtxPushCurrent(c[i]));
        OK(cuModuleLoadData(&module, ptx("7.8", "sm_90").c_str()));
        Ptr p = device_alloc(400);
        OK(launch("st_fill", 1, 128, 0, NULL, p, 100, 5u));
        SAME(host_words(p, 100).data(), counting(100, 5).data(), 100);
        OK(cuMemFree(p));
        OK(cuModuleUnload(module));
        OK(cuCtxPopCurrent(&popped));
        OK(cuCtxDestroy(c[i]));
    }
}

static void case_no_device()
{
    load_library();
    IS(100, cuInit(0));
}

static void *thread_main(void *)
{
    CUcontext popped;
    CUstream s;
    for (int k = 0; k < 20; k++) {
        OK(cuCtxPushCurrent(context));
        Ptr p = device_alloc(4000);
        OK(cuStreamCreate(&s, 1));
        OK(launch("st_fill", 10, 100, 0, s, p, 1000, 5u));
        u32 *q = pinned_alloc(4000);
        OK(cuMemcpyDtoHAsync(q, p, 4000, s));
        OK(cuStreamSynchronize(s));
        SAME(q, counting(1000, 5).data(), 1000);
        OK(cuStreamDestroy(s));
        OK(cuMemFree(p));
        OK(cuMemFreeHost(q));
        OK(cuCtxPopCurrent(&popped));
    }
    return NULL;
}

static void case_threads()
{
    pthread_t t[4];
    begin();
    for (auto &x : t)
        CHECK(!pthread_create(&x, NULL, thread_main, NULL));
    for (auto &x : t)
        pthread_join(x, NULL);
    end();
}

/* Modules and launches. */

static void case_modules()
{
    CUmodule m;
    CUfunction f;
    begin();
    IS(218, cuModuleLoadData(&m, ""));
    IS(218, cuModuleLoadData(&m, "hello"));
    IS(218, cuModuleLoadData(&m, ".version 6.0\n.target sm_50\n.entry x(.param .u64 y) { ret;"));
    IS(218, cuModuleLoadData(&m, ".version 6.0\n.target sm_50\n.entry x(.param y) { ret; }"));
    IS(209, cuModuleLoadData(&m, "\177ELF..."));
    IS(222, cuModuleLoadData(&m, ptx("8.5", "sm_50").c_str()));
    IS(218, cuModuleLoadData(&m, ptx("8.4", "sm_80").c_str()));
    OK(cuModuleLoadDataEx(&m, ".version 6.0\n.target sm_50, debug\n// .entry no()\n"
                          ".visible .entry nobody() { }\n", 0, NULL, NULL));
    IS(500, cuModuleGetFunction(&f, m, "no"));
    IS(500, cuModuleGetFunction(&f, m, "nobody"));
    IS(500, cuModuleGetFunction(&f, m, "st_fill"));
    OK(cuModuleUnload(m));
    end();
}

static void case_param_sizes()
{
    CUmodule m;
    begin();
    OK(cuModuleLoadData(&m, ".version 6.0\n.target sm_50\n.entry st_fill(.param .u64 a, "
                        ".param .u64 b, .param .u32 c) { ret; }"));
    OK(cuModuleUnload(m));
    end();
}

static void case_unload_early()
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

static void case_grid_too_large()    { refused(1, 65536, 32, 0); }
static void case_no_threads()        { refused(1, 1, 0, 0); }
static void case_too_many_threads()  { refused(1, 1, 1025, 0); }
static void case_beyond_bounds()     { refused(701, 1, 96, 0); }
static void case_too_much_shared()   { refused(1, 1, 32, 48 * 1024 + 4); }

static void case_more_shared()
{
    begin();
    Ptr p = device_alloc(256);
    int value = 0;
    CUfunction f = kernel("st_warp_synced");
    OK(cuFuncSetAttribute(f, 8, 60 * 1024));
    OK(cuFuncGetAttribute(&value, 8, f));
    CHECK(value == 60 * 1024);
    OK(cuOccupancy(&value, f, 64, 30 * 1024));
    CHECK(value == 2);
    OK(launch("st_warp_synced", 1, 64, 60 * 1024, NULL, p));
    OK(cuMemFree(p));
    end();
}

static void case_far_too_much_shared()
{
    begin();
    IS(1, cuFuncSetAttribute(kernel("st_warp_synced"), 8, 65 * 1024));
    end();
}

/* Calls that fail. */

/** A program that looks at every result, and cleans up. */
static int careful()
{
    CUcontext ctx = NULL, popped;
    CUmodule mod = NULL;
    CUfunction f = NULL;
    CUstream s = NULL;
    CUevent e = NULL;
    Ptr p = 0;
    void *q = NULL;
    int ret, n = 100;
    u32 value = 7;
    void *list[] = { &p, &n, &value };

    if ((ret = cuInit(0)) || (ret = cuCtxCreate(&ctx, 0, 0)))
        return ret;
    cuCtxPopCurrent(&popped);
    if ((ret = cuCtxPushCurrent(ctx)))
        goto destroy;
    if ((ret = cuModuleLoadData(&mod, ptx("6.0", "sm_50").c_str())) ||
        (ret = cuModuleGetFunction(&f, mod, "st_fill")) ||
        (ret = cuStreamCreate(&s, 1)) || (ret = cuEventCreate(&e, 0)) ||
        (ret = cuMemAlloc(&p, 400)) || (ret = cuMemHostAlloc(&q, 400, 0)) ||
        (ret = cuLaunchKernel(f, 1, 1, 1, 100, 1, 1, 0, s, list, NULL)) ||
        (ret = cuEventRecord(e, s)) || (ret = cuStreamWaitEvent(NULL, e, 0)) ||
        (ret = cuMemcpyDtoHAsync(q, p, 400, NULL)) || (ret = cuStreamSynchronize(NULL)))
        ;
    else
        SAME((u32 *)q, counting(100, 7).data(), 100);
    if (s && cuStreamSynchronize(s))
        ret = -1;
    cuCtxSynchronize();
    if (q && cuMemFreeHost(q))
        ret = -1;
    if (p && cuMemFree(p))
        ret = -1;
    if (e && cuEventDestroy(e))
        ret = -1;
    if (s && cuStreamDestroy(s))
        ret = -1;
    if (mod && cuModuleUnload(mod))
        ret = -1;
    if (cuCtxPopCurrent(&popped))
        ret = -1;
destroy:
    if (cuCtxDestroy(ctx))
        ret = -1;
    return ret;
}

static void case_careful()
{
    load_library();
    OK(careful());
}

/* Run for every N by the driver of the cases: a failure, and no violation. */
static void case_nth()
{
    load_library();
    const int ret = careful();
    fprintf(stderr, "standin test: %s\n", ret ? "an error" : "no error");
}

/* The cases. */

static const struct Case {
    const char *name;
    void (*run)();
    const char *expected;       ///< words of the violation; NULL: none
    const char *environment;    ///< NAME=VALUE, separated by blanks
    int seeds;
    int signal;                 ///< it ends by this one
} cases[] = {
    { "reduce",             case_reduce,            NULL, "", 6, 0 },
    { "exchange",           case_exchange,          NULL, "", 3, 0 },
    { "exchange-redux",     case_exchange,          NULL, "GPUME_STANDIN_CC=8.0", 3, 0 },
    { "words",              case_words,             NULL, "", 1, 0 },
    { "params",             case_params,     NULL, "", 3, 0 },
    { "atomics",            case_atomics,           NULL, "", 6, 0 },
    { "search",             case_search,            NULL, "", 6, 0 },
    { "warp-synced",        case_warp_synced,       NULL, "", 6, 0 },
    { "halves-synced",      case_halves_synced,     NULL, "", 6, 0 },
    { "early-exit",         case_early_exit,        NULL, "", 6, 0 },
    { "byte-neighbours",    case_byte_neighbours,   NULL, "", 6, 0 },
    { "last-block",         case_last_block,        NULL, "", 6, 0 },
    { "chain",              case_chain,             NULL, "", 6, 0 },
    { "chain-unwaited",     case_chain_unwaited,    NULL, "", 6, 0 },
    { "read-then-write",    case_read_then_write,   NULL, "", 6, 0 },
    { "volatile",           case_volatile,          NULL, "", 6, 0 },
    { "wide",               case_wide,              NULL, "", 1, 0 },
    { "large",              case_large,             NULL, "", 1, 0 },
    { "made-by-macro",      case_made,              NULL, "", 1, 0 },

    { "no-barrier",         case_no_barrier,        "race: ", "", 6, 0 },
    { "last-block-unfenced", case_last_block_unfenced, "race: ", "", 6, 0 },
    { "chain-plain",        case_chain_plain,       "race: ", "", 6, 0 },
    { "chain-behind",       case_chain_behind,      "race: ", "", 6, 0 },
    { "read-while-write",   case_read_while_write,  "race: ", "", 6, 0 },
    { "warp-lockstep",      case_warp_lockstep,     "race: ", "", 6, 0 },
    { "halves-crossed",     case_halves_crossed,    "race: ", "", 6, 0 },
    { "all-write",          case_all_write,         "race: writes byte 0 of allocation", "", 6, 0 },
    { "byte-race",          case_byte_race,         "race: writes", "", 6, 0 },
    { "blocks-write",       case_blocks_write,      "race: writes", "", 6, 0 },
    { "blocks-read",        case_blocks_read,       "race: ", "", 6, 0 },
    { "atomic-and-plain",   case_atomic_and_plain,  "race: ", "", 6, 0 },
    { "read-past",          case_read_past,         "reads 4 bytes at 0x", "", 3, 0 },
    { "read-before",        case_read_before,       "4 bytes before device allocation #", "", 3, 0 },
    { "read-across-end",    case_read_across_end,   "byte 28 of device allocation #", "", 1, 0 },
    { "write-past",         case_write_past,        "0 bytes past the end of device allocation #", "", 1, 0 },
    { "large-past",         case_large_past,        "writes 800 bytes", "", 1, 0 },
    { "use-after-free",     case_use_after_free,    "which has been freed", "", 3, 0 },
    { "null",               case_null,              "a null pointer", "", 1, 0 },
    { "host-pointer",       case_host_pointer,      "no memory of the device", "", 1, 0 },
    { "another-context",    case_another_context,   "of another context", "", 3, 0 },
    { "misaligned",         case_misaligned,        "misaligned: ", "", 1, 0 },
    { "shared-past",        case_shared_past,       "byte 256 of shared memory, of which", "", 3, 0 },
    { "shared-unwritten",   case_shared_unwritten,  "byte 20 of shared memory, which was never", "", 3, 0 },
    { "shared-byte-unwritten", case_shared_byte_unwritten, "byte 5 of shared memory, which was", "", 3, 0 },
    { "shared-left-over",   case_shared_left_over,  "which was never written", "", 3, 0 },
    { "unwritten",          case_unwritten,         "which was never written", "", 3, 0 },
    { "unwritten-copy",     case_unwritten_copy,    "byte 253 of allocation", "", 3, 0 },
    { "divergent-barrier",  case_divergent_barrier, "divergent barrier", "", 3, 0 },
    { "lane-overlap",       case_lane_overlap,      "with mask 0x0000000", "", 6, 0 },
    { "barrier-and-shuffle", case_stuck_warp,       "__shfl_sync", "", 6, 0 },
    { "lane-gone",          case_lane_gone,         "__shfl_xor_sync", "", 6, 0 },
    { "lane-never-started", case_lane_never,        "was never started", "", 3, 0 },
    { "lane-masks",         case_lane_masks,        "with mask 0x", "", 6, 0 },
    { "lane-left-out",      case_lane_left_out,     "leaves out", "", 3, 0 },
    { "lane-not-itself",    case_lane_not_itself,   "leaves out the lane itself", "", 3, 0 },
    { "lane-sites",         case_lane_sites,        "but thread", "", 3, 0 },
    { "redux-too-old",      case_redux_too_old,     "compute capability 7.5", "", 1, 0 },
    { "ldg",                case_ldg,               "__ldg of byte", "", 1, 0 },
    { "shift",              case_shift,             "shift by more", "", 1, 0 },
    { "overflow",           case_overflow,          "overflows", "", 1, 0 },
    { "index",              case_index,             "index out of", "", 1, 0 },
    { "trap",               case_trap,              "__trap()", "", 1, 0 },
    { "spin",               case_spin,              "it does not end", "GPUME_STANDIN_MAX_ACCESSES=100000", 1, 0 },

    { "event-wait",         case_event_wait,        NULL, "", 9, 0 },
    { "default-stream",     case_default_stream,    NULL, "", 9, 0 },
    { "reuse",              case_reuse,             NULL, "", 9, 0 },
    { "two-readers",        case_two_readers,       NULL, "", 9, 0 },
    { "pipeline",           case_pipeline,          NULL, "", 9, 0 },
    { "too-early",          case_too_early,         NULL, "GPUME_STANDIN_ORDER=lazy", 3, 0 },
    { "source-changed",     case_source_changed,    NULL, "GPUME_STANDIN_ORDER=lazy", 3, 0 },
    { "timing",             case_timing,            NULL, "", 3, 0 },
    { "callback",           case_callback,          NULL, "", 3, 0 },
    { "no-event-wait",      case_no_event_wait,     "nothing orders the two", "", 9, 0 },
    { "no-event-wait-blocking", case_no_event_wait_2, "nothing orders the two", "", 9, 0 },
    { "event-too-early",    case_event_too_early,   "nothing orders the two", "", 9, 0 },
    { "default-stream-unordered", case_default_stream_unordered, "nothing orders the two", "", 9, 0 },
    { "reuse-too-early",    case_reuse_too_early,   "nothing orders the two", "", 9, 0 },
    { "two-readers-one",    case_two_readers_one,   "nothing orders the two", "", 9, 0 },
    { "bad-callback",       case_bad_callback,      "from a stream's callback", "", 1, 0 },

    { "free-waits",         case_free_waits,        NULL, "", 3, 0 },
    { "mapped",             case_mapped,            NULL, "", 3, 0 },
    { "out-of-memory",      case_out_of_memory,     NULL,
      "GPUME_STANDIN_MEMORY=1000000 GPUME_STANDIN_PINNED=5000", 1, 0 },
    { "copy-2d",            case_copy_2d,           NULL, "", 3, 0 },
    { "pinned-freed-early", case_pinned_freed_early, "freed while", "GPUME_STANDIN_ORDER=lazy", 1, 0 },
    { "host-touches",       case_host_touches,      "host code touches", "", 1, SIGSEGV },
    { "copy-past",          case_copy_past,         "does not fit", "", 1, 0 },
    { "copy-2d-past",       case_copy_2d_past,      "does not fit", "", 1, 0 },
    { "copy-2d-pitch",      case_copy_2d_pitch,     "pitches", "", 1, 0 },
    { "copy-freed",         case_copy_freed,        "which has been freed", "", 1, 0 },
    { "copy-overlap",       case_copy_overlap,      "overlap", "", 1, 0 },
    { "set-past",           case_set_past,          "does not fit", "", 1, 0 },
    { "free-twice",         case_free_twice,        "which has been freed", "", 1, 0 },
    { "free-inside",        case_free_inside,       "not what an allocation returned", "", 1, 0 },
    { "leak-device",        case_leak_device,       "1 device and 0 pinned", "", 1, 0 },
    { "leak-pinned",        case_leak_pinned,       "0 device and 1 pinned", "", 1, 0 },
    { "leak-stream",        case_leak_stream,       "1 streams, 0 events, 0 modules", "", 1, 0 },
    { "leak-event",         case_leak_event,        "0 streams, 1 events, 0 modules", "", 1, 0 },
    { "leak-module",        case_leak_module,       "0 streams, 0 events, 1 modules", "", 1, 0 },
    { "leak-context",       case_leak_context,      "at the end of the process", "", 1, 0 },

    { "primary",            case_primary,           NULL, "", 1, 0 },
    { "devices",            case_devices,           NULL, "GPUME_STANDIN_DEVICES=2 GPUME_STANDIN_CC=9.0", 1, 0 },
    { "no-device",          case_no_device,         NULL, "GPUME_STANDIN_DEVICES=0", 1, 0 },
    { "threads",            case_threads,           NULL, "", 3, 0 },
    { "no-context",         case_no_context,        "without a current context", "", 1, 0 },
    { "pop-unpushed",       case_pop_unpushed,      "nothing is pushed", "", 1, 0 },
    { "push-left",          case_push_left,         "a thread ends with 1 context", "", 1, 0 },
    { "push-left-main",     case_push_left_main,    "a thread ends with 1 context", "", 1, 0 },
    { "not-initialised",    case_not_initialised,   "before cuInit", "", 1, 0 },
    { "destroyed-event",    case_destroyed_event,   "the event has been destroyed", "", 1, 0 },
    { "destroyed-context",  case_destroyed_context, "the context has been destroyed", "", 1, 0 },
    { "other-stream",       case_other_stream,      "the stream is of another context", "", 1, 0 },
    { "primary-kept",       case_primary_kept,      "the device's primary one", "", 1, 0 },

    { "modules",            case_modules,           NULL, "", 1, 0 },
    { "more-shared",        case_more_shared,       NULL, "", 1, 0 },
    { "param-sizes",        case_param_sizes,       "bytes of its parameters", "", 1, 0 },
    { "unload-early",       case_unload_early,      "unloaded while", "GPUME_STANDIN_ORDER=lazy", 1, 0 },
    { "grid-too-large",     case_grid_too_large,    "a grid of these sizes", "", 1, 0 },
    { "no-threads",         case_no_threads,        "a block of these sizes", "", 1, 0 },
    { "too-many-threads",   case_too_many_threads,  "a block of these sizes", "", 1, 0 },
    { "beyond-bounds",      case_beyond_bounds,     "bound to 64 threads", "", 1, 0 },
    { "too-much-shared",    case_too_much_shared,   "49152 bytes of shared memory at most", "", 1, 0 },
    { "far-too-much-shared", case_far_too_much_shared, "65536 bytes of shared memory a block", "", 1, 0 },

    { "careful",            case_careful,           NULL, "", 3, 0 },
    /* not by themselves: by run_some_seed() and run_nth() */
    { "no-barrier-wrong",   case_no_barrier_wrong,  "", "", 0, 0 },
    { "nth",                case_nth,               NULL, "", 0, 0 },
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

/** Run a case in a process of its own. @return its wait status */
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
    if (c.signal)               /* or what a sanitizer makes of it */
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

/** For some seeds, not for all, the outcome is wrong for want of order. */
static void run_some_seed(const char *self, const char *name, const char *words)
{
    std::string output;
    int n = 0, wrong = 0;

    for (; n < 12; n++) {
        run_case(self, *find_case(name), n, "", output);
        wrong += output.find(words) != std::string::npos;
    }
    report(wrong > 0, std::string(name) + " gives wrong results",
           "none of " + std::to_string(n) + " seeds did");
}

/** For every N the N-th call fails. */
static void run_nth(const char *self, bool sticky)
{
    const Case &c = *find_case("nth");
    const std::string name = sticky ? "every call fails, and the context with it" : "every call fails";
    const std::string file = "/tmp/gpume-standin-" + std::to_string(getpid());
    std::string output;
    unsigned total = 0, n;

    run_case(self, c, 0, "GPUME_STANDIN_COUNT=" + file, output);
    FILE *f = fopen(file.c_str(), "r");
    if (f) {
        if (fscanf(f, "total %u", &total) != 1)
            total = 0;
        fclose(f);
        unlink(file.c_str());
    }
    if (total < 20) {
        report(false, name, "the count of calls is " + std::to_string(total));
        return;
    }
    for (n = 1; n <= total + 1; n++) {
        const int status = run_case(self, c, n, "GPUME_STANDIN_FAIL=" + std::to_string(n) +
                                    (sticky ? " GPUME_STANDIN_FAIL_STICKY=1" : ""), output);
        /* the results of these two are not looked at: nothing could be done */
        const bool error = output.find("standin test: an error") != std::string::npos;
        const bool none  = output.find("standin test: no error") != std::string::npos;
        const bool fine  = WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
                           output.find("CHECK FAILED") == std::string::npos;
        if (!fine || (n > total ? !none : !error && !none)) {
            report(false, name, "call " + std::to_string(n) + ": " + describe(status, output));
            return;
        }
    }
    report(true, name + ", " + std::to_string(total) + " calls", "");

    int status = run_case(self, c, 0, "GPUME_STANDIN_FAIL=cuMemAlloc_v2:1 GPUME_STANDIN_FAIL_CODE=2", output);
    report(WIFEXITED(status) && !WEXITSTATUS(status) &&
           output.find("standin test: an error") != std::string::npos,
           "a call fails by name", describe(status, output));
}

static void run_trace(const char *self)
{
    const std::string file = "/tmp/gpume-standin-" + std::to_string(getpid());
    std::string output, text;
    char line[1000];

    run_case(self, *find_case("careful"), 0, "GPUME_STANDIN_TRACE=" + file, output);
    FILE *f = fopen(file.c_str(), "r");
    while (f && fgets(line, sizeof(line), f))
        text += line;
    if (f)
        fclose(f);
    unlink(file.c_str());
    bool ok = text.find("1 1 cuInit 0 = 0\n") == 0;
    for (const char *words : { " cuMemAlloc_v2 400 = 0x", " cuLaunchKernel st_fill, 1 1 1, 100 1 1, 0, 0x",
                               " cuStreamSynchronize 0x0 = 0\n", " cuCtxDestroy_v2 0x" })
        ok = ok && text.find(words) != std::string::npos;
    report(ok, "trace", text);
}

static double seconds()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void bench()
{
    begin();
    Ptr a = device_words(std::vector<u32>(4096)), b = device_alloc(4 * 256 * 64);
    double start;
    u64 before;

    for (const char *name : { "st_loads" }) {
        OK(cuStreamSynchronize(NULL));
        before = accesses();
        start  = seconds();
        OK(launch(name, 32, 256, 0, NULL, a, b, 4096));
        OK(cuStreamSynchronize(NULL));
        const double t = seconds() - start;
        printf("%-12s %6.1f M accesses/s\n", name, (accesses() - before) / t * 1e-6);
    }
    start = seconds();
    OK(launch("st_shuffles", 8, 256, 0, NULL, b, 1000));
    OK(cuStreamSynchronize(NULL));
    printf("%-12s %6.1f M exchanges/s\n", "st_shuffles", 8 * 256 * 1000 / (seconds() - start) * 1e-6);

    enum { W = 352, H = 288 };
    const auto noise = numbers(W * H / 2, 3);
    Ptr cur = device_alloc(W * H), ref = device_alloc(W * H), out = device_alloc(W / 16 * (H / 16) * 8);
    int w = W, h = H;
    void *list[] = { &cur, &ref, &w, &h, &out };
    OK(cuMemcpyHtoD(cur, noise.data(), W * H));
    OK(cuMemcpyHtoD(ref, (const u8 *)noise.data() + 999, W * H));
    OK(cuStreamSynchronize(NULL));
    before = accesses();
    start  = seconds();
    OK(cuLaunchKernel(kernel("st_search"), W / 16, H / 16, 1, 17, 17, 1, 32 * 32 + 16 * 16 + 8,
                      NULL, list, NULL));
    OK(cuStreamSynchronize(NULL));
    const double t = seconds() - start;
    printf("%-12s %6.1f M accesses/s, %.2f s\n", "st_search", (accesses() - before) / t * 1e-6, t);
    for (Ptr p : { a, b, cur, ref, out })
        OK(cuMemFree(p));
    end();
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: selftest LIBCUDA [CASE...]\n");
        return 2;
    }
    library = argv[1];
    if (argc == 4 && !strcmp(argv[2], "-run")) {
        const Case *c = find_case(argv[3]);
        if (!c)
            return 2;
        c->run();
        return nb_failed > 0;
    }
    if (argc == 3 && !strcmp(argv[2], "-bench")) {
        bench();
        return nb_failed > 0;
    }
    for (auto &c : cases) {
#ifdef __clang__
        /* clang looks at the alignment of no struct's copy, and stops at a bad index */
        if (c.run == case_misaligned || c.run == case_index) {
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
    if (argc == 2) {
        run_some_seed(argv[0], "no-barrier-wrong", "the sum is wrong");
        run_some_seed(argv[0], "no-event-wait", "the data is wrong");
        run_nth(argv[0], false);
        run_nth(argv[0], true);
        run_trace(argv[0]);
    }
    printf("%u passed, %u failed\n", passed, not_passed);
    return not_passed > 0;
}
