/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Makes calls fail in a program that is linked with this file: allocations, and calls of the filter
 * that handle files other than writes.
 *
 * Replaces the allocator that FFmpeg uses: av_malloc() calls posix_memalign(), av_realloc() calls
 * realloc(), av_free() calls free(); on Windows they call _aligned_malloc() and similar functions.
 * The replacements count allocations that are not freed, and fail on request. ThreadSanitizer has an allocator of its
 * own, which does not work with another one before it; with it, no allocation fails.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE     /* RTLD_NEXT */
#endif

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#define backtrace(frames, nb) CaptureStackBackTrace(0, nb, frames, NULL)
#else
#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>
#include <unistd.h>
#endif

#include "libavutil/macros.h"
#include "libavutil/thread.h"

#include "gpume_harness.h"

#define MAX_SITES 8192

int test_nb_outstanding, test_nb_failed, test_nb_calls_failed;
const char *test_failing_call;

static AVMutex lock = AV_MUTEX_INITIALIZER;
static int started;             ///< whether main() is running
static int tracking;            ///< whether allocations are tracked
static int fail_at;             ///< the allocation to fail, counted from 1; 0: none
static int fail_after;          ///< nonzero: all later allocations fail, too
static int nb_allocs;           ///< number of allocations since fail_at was set
static uint64_t sites[MAX_SITES];

#ifdef _WIN32
static void *(*real_malloc)(size_t size, size_t align);
static void *(*real_realloc)(void *old, size_t size, size_t align);
#else
static int  (*real_posix_memalign)(void **ptr, size_t align, size_t size);
static void *(*real_realloc)(void *old, size_t size);
#endif
static void (*real_free)(void *p);

/* Must be called without the lock, because dlsym() may free memory. */
static void find_real(void)
{
#ifdef _WIN32
    const HMODULE lib = GetModuleHandleA("msvcrt.dll");

    real_malloc  = (void *(*)(size_t, size_t))GetProcAddress(lib, "_aligned_malloc");
    real_realloc = (void *(*)(void *, size_t, size_t))GetProcAddress(lib, "_aligned_realloc");
    real_free    = (void (*)(void *))GetProcAddress(lib, "_aligned_free");
#else
    real_posix_memalign = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
    real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    real_free    = (void (*)(void *))dlsym(RTLD_NEXT, "free");
#endif
}

void test_fail_init(void)
{
    void *frame;

    find_real();
    started = 1;
    backtrace(&frame, 1);       // the first call allocates
}

void test_track(int on)
{
    tracking = on;
}

void test_fail_allocation(int n, int after)
{
    ff_mutex_lock(&lock);
    nb_allocs  = test_nb_failed = 0;
    fail_at    = n;
    fail_after = after;
    ff_mutex_unlock(&lock);
}

int test_allocation_sites(const uint64_t **s)
{
    *s = sites;
    return FFMIN(nb_allocs, MAX_SITES);
}

#ifndef __SANITIZE_THREAD__
static void *slots[1 << 16];    ///< hash table with open addressing

static unsigned slot_of(const void *p)
{
    return ((uintptr_t)p >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48;
}

static void remember(void *p)
{
    unsigned i = slot_of(p);

    if (test_nb_outstanding >= FF_ARRAY_ELEMS(slots) / 2)
        abort();
    while (slots[i])
        i = (i + 1) % FF_ARRAY_ELEMS(slots);
    slots[i] = p;
    test_nb_outstanding++;
}

static int forget(const void *p)
{
    const unsigned n = FF_ARRAY_ELEMS(slots);
    unsigned i = slot_of(p), j;

    while (slots[i] && slots[i] != p)
        i = (i + 1) % n;
    if (!slots[i])
        return 0;
    test_nb_outstanding--;
    /* closes the gap */
    for (j = (i + 1) % n; slots[j]; j = (j + 1) % n) {
        unsigned home = slot_of(slots[j]);
        if ((j - home) % n >= (j - i) % n) {
            slots[i] = slots[j];
            i = j;
        }
    }
    slots[i] = NULL;
    return 1;
}

/* Must be called with the lock held. */
static int must_fail(void)
{
    if (!tracking)
        return 0;
    if (!fail_at && nb_allocs < MAX_SITES) {
        void *frames[32];
        const int nb = backtrace(frames, FF_ARRAY_ELEMS(frames));
        uint64_t hash = 0;

        for (int i = 2; i < nb; i++)
            hash = test_mix(hash ^ (uintptr_t)frames[i]);
        sites[nb_allocs] = hash;
    }
    nb_allocs++;
    if (fail_at && (fail_after ? nb_allocs >= fail_at : nb_allocs == fail_at)) {
        test_nb_failed++;
        return 1;
    }
    return 0;
}

#ifdef _WIN32
static void *aligned_malloc(size_t size, size_t align)
{
    void *p;

    if (!real_malloc)
        find_real();
    ff_mutex_lock(&lock);
    p = must_fail() ? NULL : real_malloc(size, align);
    if (p && tracking)
        remember(p);
    ff_mutex_unlock(&lock);
    return p;
}

static void *aligned_realloc(void *old, size_t size, size_t align)
{
    void *p = NULL;

    if (!real_realloc)
        find_real();
    ff_mutex_lock(&lock);
    if (!must_fail()) {
        int known = old && forget(old);

        p = real_realloc(old, size, align);
        if (p ? tracking && (known || !old) : known)
            remember(p ? p : old);
    }
    ff_mutex_unlock(&lock);
    return p;
}

static void aligned_free(void *p)
{
    if (!real_free)
        find_real();
    ff_mutex_lock(&lock);
    if (p && test_nb_outstanding)
        forget(p);
    ff_mutex_unlock(&lock);
    real_free(p);
}

/* the linker resolves the functions of a DLL to these before it searches the C library */
void *(*__imp__aligned_malloc)(size_t, size_t)          = aligned_malloc;
void *(*__imp__aligned_realloc)(void *, size_t, size_t) = aligned_realloc;
void (*__imp__aligned_free)(void *)                     = aligned_free;
#else
int posix_memalign(void **ptr, size_t align, size_t size)
{
    int ret;

    if (!real_posix_memalign)
        find_real();
    ff_mutex_lock(&lock);
    ret = must_fail() ? ENOMEM : real_posix_memalign(ptr, align, size);
    if (!ret && tracking)
        remember(*ptr);
    ff_mutex_unlock(&lock);
    return ret;
}

void *realloc(void *old, size_t size)
{
    void *p = NULL;

    if (!real_realloc)
        find_real();
    ff_mutex_lock(&lock);
    if (!must_fail()) {
        int known = old && forget(old);

        p = real_realloc(old, size);
        if (p ? tracking && (known || !old) : known)
            remember(p ? p : old);
    }
    ff_mutex_unlock(&lock);
    return p;
}

void free(void *p)
{
    /*
     * Before main() there may be nothing to call: sanitizers free while they
     * get ready. That little stays allocated.
     */
    if (!p || !started)
        return;
    ff_mutex_lock(&lock);
    /* so that nothing that is read afterwards is a pointer or a plausible number */
    if (test_nb_outstanding && forget(p))
        memset(p, 0xdd, malloc_usable_size(p));
    ff_mutex_unlock(&lock);
    real_free(p);
}
#endif /* _WIN32 */
#endif /* __SANITIZE_THREAD__ */

#ifndef _WIN32
static int call_fails(const char *name, int err)
{
    if (!test_failing_call || strcmp(test_failing_call, name))
        return 0;
    test_nb_calls_failed++;
    errno = err;
    return 1;
}

#define REAL(name, ret, ...) ret (*real)(__VA_ARGS__) = (ret (*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)

int rename(const char *from, const char *to)
{
    REAL("rename", int, const char *, const char *);

    return call_fails("rename", EIO) ? -1 : real(from, to);
}

int link(const char *from, const char *to)
{
    REAL("link", int, const char *, const char *);

    return call_fails("link", EPERM) ? -1 : real(from, to);
}

FILE *fdopen(int fd, const char *mode)
{
    REAL("fdopen", FILE *, int, const char *);

    return call_fails("fdopen", ENOMEM) ? NULL : real(fd, mode);
}

int fclose(FILE *f)
{
    REAL("fclose", int, FILE *);
    const int ret = real(f);

    return call_fails("fclose", EDQUOT) ? EOF : ret;
}
#endif /* _WIN32 */
