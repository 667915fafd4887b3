// SPDX-License-Identifier: LGPL-2.1-or-later
// What OpenH264 needs of the library of C++, so that programs do not need that library. Memory that cannot be allocated
// is NULL, which -fcheck-new lets OpenH264 see.

#include <stdlib.h>

void *operator new(size_t size) { return malloc(size); }
void *operator new[](size_t size) { return malloc(size); }
void operator delete(void *p) noexcept { free(p); }
void operator delete(void *p, size_t) noexcept { free(p); }
void operator delete[](void *p) noexcept { free(p); }
void operator delete[](void *p, size_t) noexcept { free(p); }

extern "C" {

void __cxa_pure_virtual() { abort(); }
void __cxa_throw_bad_array_new_length() { abort(); }

/* The first byte of a guard says that the variable is initialised, the second one that a thread does so. */
int __cxa_guard_acquire(char *guard)
{
    while (!__atomic_load_n(guard, __ATOMIC_ACQUIRE)) {
        if (!__atomic_test_and_set(guard + 1, __ATOMIC_ACQUIRE)) {
            if (!__atomic_load_n(guard, __ATOMIC_ACQUIRE))
                return 1;
            __atomic_clear(guard + 1, __ATOMIC_RELEASE);
        }
    }
    return 0;
}

void __cxa_guard_release(char *guard)
{
    __atomic_store_n(guard, 1, __ATOMIC_RELEASE);
    __atomic_clear(guard + 1, __ATOMIC_RELEASE);
}

}
