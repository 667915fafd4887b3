/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Counts a program's calls of the CUDA driver that allocate or wait, and the bytes that it holds.
 * This library for LD_PRELOAD replaces dlsym(), with which FFmpeg finds the driver's functions. At
 * the program's end it writes to the file GPUME_CALLS_FILE a line for each function: its name, its
 * number of calls, and the number after the tenth frame. A frame is a share of the kernel launches,
 * GPUME_CALLS_FRAMES in total.
 *
 * cc -O2 -fPIC -shared -o gpume_calls.so calls.c -ldl -lpthread
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Number of frames whose calls are not counted, because pools fill during them. */
#define SKIPPED_FRAMES 10
#define MAX_LAUNCHES   65536
#define MAX_HELD       65536

/*
 * Functions that allocate or release, functions that wait for the whole context, and functions that
 * wait for less. All have up to six integers or pointers as parameters.
 */
#define FUNCTIONS(F)                                                                \
    F(cuMemAlloc_v2)        F(cuMemAllocPitch_v2)  F(cuMemAllocManaged)             \
    F(cuMemAllocAsync)      F(cuMemFree_v2)        F(cuMemFreeAsync)                \
    F(cuMemHostAlloc)       F(cuMemAllocHost_v2)   F(cuMemFreeHost)                 \
    F(cuMemHostRegister_v2) F(cuMemHostUnregister) F(cuArrayCreate_v2)              \
    F(cuArray3DCreate_v2)   F(cuArrayDestroy)      F(cuTexObjectCreate)             \
    F(cuTexObjectDestroy)   F(cuModuleLoadData)    F(cuModuleUnload)                \
    F(cuStreamCreate)       F(cuStreamDestroy_v2)  F(cuEventCreate)                 \
    F(cuEventDestroy_v2)                                                            \
    F(cuCtxSynchronize)                                                             \
    F(cuMemcpyHtoD_v2)      F(cuMemcpyDtoH_v2)     F(cuMemcpyDtoD_v2)               \
    F(cuMemcpy2D_v2)        F(cuMemcpy)                                             \
    F(cuStreamSynchronize)  F(cuEventSynchronize)

#define NAME(f) INDEX_##f,
enum { FUNCTIONS(NAME) LAUNCH, NB_FUNCTIONS };
#undef NAME

typedef uintptr_t Word;
typedef int Function(Word a, Word b, Word c, Word d, Word e, Word f);
typedef int Launch(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y,
                   unsigned z, unsigned shared, void *stream, void **params, void **extra);
typedef int MemGetInfo(size_t *free, size_t *total);

/** An allocation of the program. */
typedef struct Held {
    Word p;
    size_t bytes;
    int pinned;
} Held;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Function *real[NB_FUNCTIONS];
static Launch *real_launch;
static MemGetInfo *mem_info;
static unsigned long calls[NB_FUNCTIONS];
static unsigned long (*at_launch)[NB_FUNCTIONS];
static Held held[MAX_HELD];
static int nb_held;
/** Indexed by Held.pinned: the current size and the largest. */
static size_t bytes[2], peak[2];
static size_t most_in_use;

static void hold(Word p, size_t size, int pinned)
{
    if (nb_held == MAX_HELD)
        return;
    held[nb_held++] = (Held) { p, size, pinned };
    bytes[pinned] += size;
    if (bytes[pinned] > peak[pinned])
        peak[pinned] = bytes[pinned];
}

static void release(Word p)
{
    for (int i = nb_held - 1; i >= 0; i--)
        if (held[i].p == p) {
            bytes[held[i].pinned] -= held[i].bytes;
            held[i] = held[--nb_held];
            return;
        }
}

static int called(int i, Word a, Word b, Word c, Word d, Word e, Word f)
{
    int ret;

    if (i == INDEX_cuMemFree_v2 || i == INDEX_cuMemFreeHost) {
        /* before the call, so that no other thread is given the same address */
        pthread_mutex_lock(&lock);
        release(a);
        pthread_mutex_unlock(&lock);
    }
    ret = real[i](a, b, c, d, e, f);
    pthread_mutex_lock(&lock);
    calls[i]++;
    if (!ret) {
        if (i == INDEX_cuMemAlloc_v2)
            hold(*(unsigned long long *)a, b, 0);
        else if (i == INDEX_cuMemAllocPitch_v2)
            hold(*(unsigned long long *)a, *(size_t *)b * d, 0);
        else if (i == INDEX_cuMemHostAlloc || i == INDEX_cuMemAllocHost_v2)
            hold(*(Word *)a, b, 1);
    }
    pthread_mutex_unlock(&lock);
    return ret;
}

#define WRAPPER(function)                                                           \
    static int my_##function(Word a, Word b, Word c, Word d, Word e, Word f)        \
    {                                                                               \
        return called(INDEX_##function, a, b, c, d, e, f);                          \
    }
FUNCTIONS(WRAPPER)
#undef WRAPPER

static int my_launch(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned x, unsigned y,
                     unsigned z, unsigned shared, void *stream, void **params, void **extra)
{
    unsigned long n;

    pthread_mutex_lock(&lock);
    n = calls[LAUNCH]++;
    if (at_launch && n < MAX_LAUNCHES)
        memcpy(at_launch[n], calls, sizeof(calls));
    pthread_mutex_unlock(&lock);
    /* only sometimes, because it is slow */
    if (mem_info && (n & 31) == 31) {
        size_t free, total;

        if (!mem_info(&free, &total) && total - free > most_in_use)
            most_in_use = total - free;
    }
    return real_launch(f, gx, gy, gz, x, y, z, shared, stream, params, extra);
}

static void *find(void *handle, const char *name)
{
    static void *(*next)(void *handle, const char *name);
    /* the first version of dlsym() on several processors */
    static const char *const versions[] = { "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27", "GLIBC_2.34" };

    for (size_t i = 0; !next && i < sizeof(versions) / sizeof(*versions); i++)
        *(void **)&next = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    if (!next) {
        fprintf(stderr, "gpume_calls: there is no dlsym()\n");
        abort();
    }
    return next(handle, name);
}

void *dlsym(void *restrict handle, const char *restrict name)
{
#define NAME(f) { #f, my_##f },
    static const struct { const char *name; Function *function; } functions[] = {
        FUNCTIONS(NAME)
    };
#undef NAME
    void *p = find(handle, name);
    Dl_info caller;

    if (!p || strncmp(name, "cu", 2))
        return p;
    /* calls from the driver's own libraries are not counted */
    if (dladdr(__builtin_return_address(0), &caller) && caller.dli_fname &&
        (strstr(caller.dli_fname, "libcuda") || strstr(caller.dli_fname, "libnv")))
        return p;

    if (!strcmp(name, "cuLaunchKernel")) {
        *(void **)&real_launch = p;
        *(void **)&mem_info    = find(handle, "cuMemGetInfo_v2");
        return (void *)my_launch;
    }
    for (int i = 0; i < LAUNCH; i++)
        if (!strcmp(name, functions[i].name)) {
            *(void **)&real[i] = p;
            return (void *)functions[i].function;
        }
    return p;
}

__attribute__((constructor)) static void start(void)
{
    at_launch = calloc(MAX_LAUNCHES, sizeof(*at_launch));
}

__attribute__((destructor)) static void report(void)
{
#define NAME(f) #f,
    static const char *const names[] = { FUNCTIONS(NAME) "cuLaunchKernel" };
#undef NAME
    const char *path   = getenv("GPUME_CALLS_FILE");
    const char *frames = getenv("GPUME_CALLS_FRAMES");
    unsigned long nb   = frames ? strtoul(frames, NULL, 10) : 0;
    unsigned long last = calls[LAUNCH];
    unsigned long a_frame = nb ? (last + nb - 1) / nb : 0;
    FILE *f;

    /* processes that never use a GPU write nothing */
    if (!path || !real_launch || !at_launch)
        return;
    f = fopen(path, "w");
    if (!f) {
        perror(path);
        return;
    }
    if (last > MAX_LAUNCHES)
        last = MAX_LAUNCHES;
    for (int i = 0; i < NB_FUNCTIONS; i++) {
        fprintf(f, "%s %lu", names[i], calls[i]);
        if (a_frame && last > SKIPPED_FRAMES * a_frame)
            fprintf(f, " %lu", at_launch[last - 1][i] - at_launch[SKIPPED_FRAMES * a_frame][i]);
        fprintf(f, "\n");
    }
    fprintf(f, "peak-device-bytes %zu\npeak-pinned-bytes %zu\ndevice-bytes-in-use %zu\n",
            peak[0], peak[1], most_in_use);
    if (fclose(f))
        perror(path);
}
