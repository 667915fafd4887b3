/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Declares CUDA's names for kernels that are compiled for the host; replaces CUDA's cuda_runtime.h.
 * Included before the kernel's source; no other part of the stand-in includes it. Plain C++11,
 * without includes.
 *
 * A synchronisation point records its source line, so that two threads at different points can be
 * distinguished from one point that the compiler has duplicated.
 */

#ifndef GPUME_TESTS_STANDIN_CUDA_RUNTIME_H
#define GPUME_TESTS_STANDIN_CUDA_RUNTIME_H

#ifndef GPUME_HOST
#define GPUME_HOST 1
#endif

#ifdef STANDIN_LIST_KERNELS
#define __global__ standin_global
#else
#define __global__
#endif
#define __device__
#define __device_builtin__
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)

/* there is no __shared__: shared memory belongs to the launch, and this macro accesses it */
#define GPUME_SHARED(type, name) \
    type *const name = reinterpret_cast<type *>(standin_shared_memory + 16)

#define STANDIN_INLINE static inline __attribute__((always_inline, unused))
#define STANDIN_SITE   const char *file = __builtin_FILE(), int line = __builtin_LINE()

/* Vectors. */

#define STANDIN_VECTORS(name, type, align2, align4)                                 \
    struct name##1 { type x; };                                                     \
    struct __attribute__((aligned(align2))) name##2 { type x, y; };                 \
    struct name##3 { type x, y, z; };                                               \
    struct __attribute__((aligned(align4))) name##4 { type x, y, z, w; };           \
    STANDIN_INLINE name##1 make_##name##1(type x)                                   \
    { name##1 v = { x }; return v; }                                                \
    STANDIN_INLINE name##2 make_##name##2(type x, type y)                           \
    { name##2 v = { x, y }; return v; }                                             \
    STANDIN_INLINE name##3 make_##name##3(type x, type y, type z)                   \
    { name##3 v = { x, y, z }; return v; }                                          \
    STANDIN_INLINE name##4 make_##name##4(type x, type y, type z, type w)           \
    { name##4 v = { x, y, z, w }; return v; }

STANDIN_VECTORS(int,       int,                 8, 16)
STANDIN_VECTORS(uint,      unsigned,            8, 16)

typedef uint3 dim3;

/* The executor, exec.cpp. */

enum StandinSync {
    STANDIN_BARRIER,
    STANDIN_BARRIER_OR,
    STANDIN_WARP,           ///< the first kind that synchronises a warp
    STANDIN_SHFL,
    STANDIN_SHFL_XOR,
    STANDIN_BALLOT,
    STANDIN_ANY,
};

enum StandinAtomic {
    STANDIN_ADD,
    STANDIN_MIN,
    STANDIN_MAX,
    STANDIN_MIN_SIGNED,
    STANDIN_MAX_SIGNED,
    STANDIN_EXCH,
};

extern "C" {
extern unsigned char standin_shared_memory[];

/* const, because the values do not change while a thread runs */
__attribute__((const)) uint3 standin_thread_idx(void);
__attribute__((const)) uint3 standin_block_idx(void);
__attribute__((const)) uint3 standin_block_dim(void);
__attribute__((const)) uint3 standin_grid_dim(void);

int standin_barrier(int kind, int predicate, const char *file, int line);
/** index: the other lane, distance or lane mask of a shuffle. */
unsigned long long standin_warp(int kind, unsigned mask, unsigned long long value,
                                int index, int width, const char *file, int line);
unsigned long long standin_atomic(int op, void *p, int size, unsigned long long value);
void standin_fence(void);
void standin_ldg(const void *p, int size);
unsigned standin_load_volatile(const unsigned *p);
void standin_store_volatile(unsigned *p, unsigned value);
unsigned long long standin_load_volatile64(const unsigned long long *p);
void standin_store_volatile64(unsigned long long *p, unsigned long long value);
void standin_trap(const char *what, const char *file, int line)
    __attribute__((noreturn));
unsigned standin_lane(void) __attribute__((const));

}

#define threadIdx (standin_thread_idx())
#define blockIdx  (standin_block_idx())
#define blockDim  (standin_block_dim())
#define gridDim   (standin_grid_dim())

/* Barriers and fences. */

STANDIN_INLINE void __syncthreads(STANDIN_SITE)
{
    standin_barrier(STANDIN_BARRIER, 0, file, line);
}

STANDIN_INLINE int __syncthreads_or(int predicate, STANDIN_SITE)
{
    return standin_barrier(STANDIN_BARRIER_OR, predicate, file, line);
}

STANDIN_INLINE void __syncwarp(unsigned mask = 0xFFFFFFFFU, STANDIN_SITE)
{
    standin_warp(STANDIN_WARP, mask, 0, 0, 32, file, line);
}

STANDIN_INLINE void __threadfence(void) { standin_fence(); }

#define __trap()      standin_trap("__trap()", __FILE__, __LINE__)

/* Warp exchange. */

template<typename T>
STANDIN_INLINE T standin_exchange(int kind, unsigned mask, T value, int index,
                                  int width, const char *file, int line)
{
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles take 4 or 8 bytes");
    unsigned long long bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    bits = standin_warp(kind, mask, bits, index, width, file, line);
    __builtin_memcpy(&value, &bits, sizeof(T));
    return value;
}

template<typename T>
STANDIN_INLINE T __shfl_sync(unsigned mask, T value, int lane, int width = 32, STANDIN_SITE)
{
    return standin_exchange(STANDIN_SHFL, mask, value, lane, width, file, line);
}

template<typename T>
STANDIN_INLINE T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, STANDIN_SITE)
{
    return standin_exchange(STANDIN_SHFL_XOR, mask, value, lanes, width, file, line);
}

STANDIN_INLINE unsigned __ballot_sync(unsigned mask, int predicate, STANDIN_SITE)
{
    return (unsigned)standin_warp(STANDIN_BALLOT, mask, !!predicate, 0, 32, file, line);
}

STANDIN_INLINE int __any_sync(unsigned mask, int predicate, STANDIN_SITE)
{
    return (int)standin_warp(STANDIN_ANY, mask, !!predicate, 0, 32, file, line);
}

/* Atomics. */

template<typename T> struct standin_same { typedef T type; };
/* defined only for the types that atomics support */
template<typename T> struct standin_sign;
template<> struct standin_sign<int>                { static const int is_signed = 1; };
template<> struct standin_sign<unsigned>           { static const int is_signed = 0; };
template<> struct standin_sign<long long>          { static const int is_signed = 1; };
template<> struct standin_sign<unsigned long long> { static const int is_signed = 0; };
template<> struct standin_sign<unsigned long>      { static const int is_signed = 0; };

#define STANDIN_ATOMIC(name, op)                                                    \
    template<typename T>                                                            \
    STANDIN_INLINE T name(T *p, typename standin_same<T>::type value)               \
    {                                                                               \
        static_assert(sizeof(standin_sign<T>), "no such atomic");                   \
        return (T)standin_atomic(op, p, (int)sizeof(T), (unsigned long long)value); \
    }
STANDIN_ATOMIC(atomicAdd,  STANDIN_ADD)
STANDIN_ATOMIC(atomicMin,  standin_sign<T>::is_signed ? STANDIN_MIN_SIGNED : STANDIN_MIN)
STANDIN_ATOMIC(atomicMax,  standin_sign<T>::is_signed ? STANDIN_MAX_SIGNED : STANDIN_MAX)
STANDIN_ATOMIC(atomicExch, STANDIN_EXCH)

/** Loads from memory that no thread of the launch may write. */
template<typename T>
STANDIN_INLINE T __ldg(const T *p)
{
    standin_ldg(p, (int)sizeof(T));
    return *p;
}


/* Integers. */

template<typename T> struct standin_value      { typedef T type; };
template<typename T> struct standin_value<T &> { typedef T type; };

template<typename A, typename B>
STANDIN_INLINE auto min(A a, B b) -> typename standin_value<decltype(true ? a : b)>::type
{
    return a < b ? a : b;
}

template<typename A, typename B>
STANDIN_INLINE auto max(A a, B b) -> typename standin_value<decltype(true ? a : b)>::type
{
    return a > b ? a : b;
}

template<typename A>
STANDIN_INLINE A abs(A a)
{
    return a < 0 ? -a : a;
}

STANDIN_INLINE int __popc(unsigned a)              { return __builtin_popcount(a); }

STANDIN_INLINE unsigned __usad(unsigned a, unsigned b, unsigned c)
{
    return c + (a < b ? b - a : a - b);
}

/* Combines each lane of 'bits' bits with expr of x and y. */
#define STANDIN_LANES(name, bits, expr)                                             \
    STANDIN_INLINE unsigned name(unsigned a, unsigned b)                            \
    {                                                                               \
        const unsigned m = 0xFFFFFFFFU >> (32 - (bits));                            \
        unsigned r = 0;                                                             \
        for (int i = 0; i < 32; i += (bits)) {                                      \
            const unsigned x = a >> i & m, y = b >> i & m;                          \
            r |= ((expr) & m) << i;                                                 \
        }                                                                           \
        return r;                                                                   \
    }
STANDIN_LANES(__vabsdiffu4,  8, x < y ? y - x : x - y)

/* The project's names for PTX instructions */

/** vabsdiff4.u32.u32.u32.add: returns acc plus the absolute differences of four bytes. */
STANDIN_INLINE unsigned gpume_sad4(unsigned a, unsigned b, unsigned acc)
{
#ifdef __SSE2__
    typedef char      standin_v16 __attribute__((vector_size(16)));
    typedef int       standin_v4  __attribute__((vector_size(16)));
    typedef long long standin_v2  __attribute__((vector_size(16)));
    const standin_v4 x = { (int)a, 0, 0, 0 }, y = { (int)b, 0, 0, 0 };
    return acc + (unsigned)((standin_v2)__builtin_ia32_psadbw128((standin_v16)x, (standin_v16)y))[0];
#else
    for (int i = 0; i < 32; i += 8)
        acc = __usad(a >> i & 0xFF, b >> i & 0xFF, acc);
    return acc;
#endif
}

/** Returns acc plus the absolute differences of two 16-bit words. */
STANDIN_INLINE unsigned gpume_sad2(unsigned a, unsigned b, unsigned acc)
{
    return __usad(a >> 16, b >> 16, __usad(a & 0xFFFF, b & 0xFFFF, acc));
}

/** Returns a half-precision number times 2^24; infinity and NaN become large numbers. */
STANDIN_INLINE double standin_of_half(unsigned bits)
{
    const unsigned exponent = bits >> 10 & 31;
    const double v = exponent ? (double)((bits & 0x3FF) + 1024) * (double)(1u << exponent) / 2 : bits & 0x3FF;

    return bits & 0x8000 ? -v : v;
}

/** Returns the nearest half-precision number; in the middle, the even one. */
STANDIN_INLINE unsigned standin_to_half(double v)
{
    const unsigned sign = __builtin_signbit(v) ? 0x8000 : 0;
    unsigned exponent = 0, bits;

    for (v = __builtin_fabs(v); v >= 2048; v /= 2)
        exponent++;
    bits = (exponent << 10) + (unsigned)__builtin_nearbyint(v);
    return sign | (bits < 0x7C00 ? bits : 0x7C00);
}

/* The project's names for f16x2 instructions: expr of the half-precision numbers x and y */
#define STANDIN_HALVES(name, expr)                                                                                   \
    STANDIN_INLINE unsigned name(unsigned a, unsigned b)                                                             \
    {                                                                                                                \
        unsigned r = 0;                                                                                              \
        for (int i = 0; i < 32; i += 16) {                                                                           \
            const double x = standin_of_half(a >> i), y = standin_of_half(b >> i);                                   \
            r |= standin_to_half(expr) << i;                                                                         \
        }                                                                                                            \
        return r;                                                                                                    \
    }
STANDIN_HALVES(gpume_subtract_halves,           x - y)
STANDIN_HALVES(gpume_add_absolute_halves,       __builtin_fabs(x) + __builtin_fabs(y))

/** ld.volatile.global, st.volatile.global: of u32 and u64 */
STANDIN_INLINE unsigned gpume_load_volatile(const unsigned *p) { return standin_load_volatile(p); }
STANDIN_INLINE void gpume_store_volatile(unsigned *p, unsigned v) { standin_store_volatile(p, v); }
STANDIN_INLINE unsigned long long gpume_load_volatile(const unsigned long long *p)
{
    return standin_load_volatile64(p);
}
STANDIN_INLINE void gpume_store_volatile(unsigned long long *p, unsigned long long v)
{
    standin_store_volatile64(p, v);
}

/** %laneid */
STANDIN_INLINE unsigned gpume_lane(void) { return standin_lane(); }

/* Registration; mkkernels.sh generates the lines that use it */

struct StandinKernel {
    const char *name;
    void (*invoke)(void *const *args);
    const unsigned *sizes;      ///< sizes of the parameters
    int nb_params;
    StandinKernel *next;
};

extern "C" void standin_register(StandinKernel *kernel);

template<int... I> struct standin_indices { };
template<int N, int... I> struct standin_count : standin_count<N - 1, N - 1, I...> { };
template<int... I> struct standin_count<0, I...> { typedef standin_indices<I...> type; };

template<typename F, F f> struct standin_launcher;
template<typename... P, void (*f)(P...)>
struct standin_launcher<void (*)(P...), f> {
    static constexpr int nb_params = sizeof...(P);
    static constexpr unsigned sizes[sizeof...(P) + 1] = { (unsigned)sizeof(P)..., 0 };

    template<int... I>
    static void call(void *const *args, standin_indices<I...>)
    {
        (void)args;
        f(*static_cast<P *>(args[I])...);
    }

    static void invoke(void *const *args)
    {
        call(args, typename standin_count<sizeof...(P)>::type());
    }
};
template<typename... P, void (*f)(P...)>
constexpr unsigned standin_launcher<void (*)(P...), f>::sizes[sizeof...(P) + 1];

/* must not store at run time, which would count as a kernel's store */
#define STANDIN_KERNEL(name)                                                        \
    static StandinKernel standin_kernel_##name = {                                  \
        #name, standin_launcher<decltype(&name), &name>::invoke,                    \
        standin_launcher<decltype(&name), &name>::sizes,                            \
        standin_launcher<decltype(&name), &name>::nb_params, nullptr                \
    };                                                                              \
    __attribute__((constructor)) static void standin_register_##name(void)          \
    {                                                                               \
        standin_register(&standin_kernel_##name);                                   \
    }

#endif /* GPUME_TESTS_STANDIN_CUDA_RUNTIME_H */
