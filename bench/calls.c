/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Measures how much device memory and pinned memory a program holds at most. This library for LD_PRELOAD replaces
 * dlsym(), with which FFmpeg finds the driver's functions. At the program's end it writes the bytes of both, in a line
 * each, to the file GPUME_CALLS_FILE.
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

#define MAX_HELD 65536

/* All have up to six integers or pointers as parameters. */
#define FUNCTIONS(F) \
    F(cuMemAlloc_v2) F(cuMemAllocPitch_v2) F(cuMemFree_v2) F(cuMemHostAlloc) F(cuMemAllocHost_v2) F(cuMemFreeHost)

#define NAME(f) INDEX_##f,
enum { FUNCTIONS(NAME) NB_FUNCTIONS };
#undef NAME

typedef uintptr_t Word;
typedef int Function(Word a, Word b, Word c, Word d, Word e, Word f);

/** An allocation of the program. */
typedef struct Held {
    Word p;
    size_t bytes;
    int pinned;
} Held;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Function *real[NB_FUNCTIONS];
static Held held[MAX_HELD];
static int nb_held;
/** Indexed by Held.pinned: the current size and the largest. */
static size_t bytes[2], peak[2];

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
        return real[i](a, b, c, d, e, f);
    }
    ret = real[i](a, b, c, d, e, f);
    pthread_mutex_lock(&lock);
    if (!ret && i == INDEX_cuMemAlloc_v2)
        hold(*(unsigned long long *)a, b, 0);
    else if (!ret && i == INDEX_cuMemAllocPitch_v2)
        hold(*(unsigned long long *)a, *(size_t *)b * d, 0);
    else if (!ret)
        hold(*(Word *)a, b, 1);
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
    for (int i = 0; i < NB_FUNCTIONS; i++)
        if (!strcmp(name, functions[i].name)) {
            *(void **)&real[i] = p;
            return (void *)functions[i].function;
        }
    return p;
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("GPUME_CALLS_FILE");
    FILE *f = path && peak[0] ? fopen(path, "w") : NULL;    // processes that never use a GPU write nothing

    if (f && (fprintf(f, "%zu\n%zu\n", peak[0], peak[1]) < 0 || fclose(f)))
        perror(path);
}
