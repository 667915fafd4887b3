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
 * Kernels for the stand-in's own tests: right ones, and ones that are wrong in
 * one way each, which the stand-in has to see.
 */

typedef unsigned int u32;
typedef unsigned long long u64;
typedef unsigned char u8;

struct Mixed {
    u64 a;
    u8 b[5];
    short c;
};

extern "C" {

/* Sum of n words a block: a tree in shared memory, then shuffles. */
__global__ void st_reduce(const u32 *in, u32 *out, int n)
{
    GPUME_SHARED(u32, s);
    const u32 t = threadIdx.x;
    u32 sum = 0;

    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    s[t] = sum;
    __syncthreads();
    for (u32 k = blockDim.x / 2; k >= 32; k /= 2) {
        if (t < k)
            s[t] += s[t + k];
        __syncthreads();
    }
    if (t >= 32)
        return;
    sum = s[t];
    for (int k = 16; k; k /= 2)
        sum += __shfl_down_sync(0xFFFFFFFFu, sum, k);
    if (!t)
        atomicAdd(out, sum);
}

/* The same, one barrier forgotten. */
__global__ void st_no_barrier(const u32 *in, u32 *out)
{
    GPUME_SHARED(u32, s);
    const u32 t = threadIdx.x;

    s[t] = in[t];
    __syncthreads();
    for (u32 k = blockDim.x / 2; k; k /= 2)
        if (t < k)
            s[t] += s[t + k];
    if (!t)
        *out = s[0];
}

__global__ void st_read_past(const u32 *in, u32 *out, int n)
{
    out[threadIdx.x] = in[(int)threadIdx.x + n];
}

__global__ void st_write_past(u8 *out, int n)
{
    out[n] = (u8)n;
}

__global__ void st_shared_past(u32 *out)
{
    GPUME_SHARED(u32, s);

    s[threadIdx.x + 1] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void st_shared_unwritten(u32 *out)
{
    GPUME_SHARED(u32, s);

    if (threadIdx.x != 5)
        s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

__global__ void st_shared_byte_unwritten(u32 *out)
{
    GPUME_SHARED(u8, s);

    if (threadIdx.x != 5)
        s[threadIdx.x] = (u8)threadIdx.x;
    __syncthreads();
    if (threadIdx.x < blockDim.x / 4)
        out[threadIdx.x] = ((const u32 *)s)[threadIdx.x];
}

/* Shared memory does not last from one block to the next. */
__global__ void st_shared_left_over(u32 *out)
{
    GPUME_SHARED(u32, s);

    if (blockIdx.x == 0)
        s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}

__global__ void st_copy(u32 *out, const u32 *in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i];
}

__global__ void st_fill(u32 *out, int n, u32 value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = value + i;
}

__global__ void st_add(u32 *out, int n, u32 value)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] += value;
}

__global__ void st_all_write(u32 *out)
{
    *out = threadIdx.x;
}

__global__ void st_byte_neighbours(u8 *out)
{
    out[threadIdx.x] = (u8)threadIdx.x;
}

__global__ void st_byte_race(u8 *out)
{
    out[threadIdx.x / 2] = (u8)threadIdx.x;
}

__global__ void st_blocks_write(u32 *out)
{
    if (!threadIdx.x)
        *out = blockIdx.x;
}

/* One block writes what the others read. */
__global__ void st_blocks_read(u32 *out, u32 *sum)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x == 3)
        out[0] = 1;
    else
        sum[blockIdx.x] = out[0];
}

/* The block that is last sums what all have written. */
static __forceinline__ void last_block(u32 *parts, u32 *counter, u32 *out, bool fence)
{
    if (threadIdx.x)
        return;
    parts[blockIdx.x] = blockIdx.x + 1;
    if (fence)
        __threadfence();
    if (atomicAdd(counter, 1) + 1 < gridDim.x)
        return;
    __threadfence();
    u32 sum = 0;
    for (u32 i = 0; i < gridDim.x; i++)
        sum += parts[i];
    *out = sum;
}

__global__ void st_last_block(u32 *parts, u32 *counter, u32 *out)
{
    last_block(parts, counter, out, true);
}

__global__ void st_last_block_unfenced(u32 *parts, u32 *counter, u32 *out)
{
    last_block(parts, counter, out, false);
}

__global__ void st_divergent_barrier(u32 *out)
{
    if (threadIdx.x & 1)
        __syncthreads();
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}

/* Lane 0 waits for lane 1, which waits for lane 2. */
__global__ void st_lane_overlap(u32 *out)
{
    if (threadIdx.x < 3)
        __syncwarp(threadIdx.x == 0 ? 0x3u : 0x6u);
    out[threadIdx.x] = 1;
}

__global__ void st_full_mask(u32 *out)
{
    out[threadIdx.x] = __ballot_sync(0xFFFFFFFFu, 1);
}

__global__ void st_stuck_warp(u32 *out)
{
    if (threadIdx.x < 16)
        __syncthreads();
    out[threadIdx.x] = __shfl_sync(0xFFFFFFFFu, threadIdx.x, 0);
}

__global__ void st_early_exit(u32 *out)
{
    if (threadIdx.x >= 40)
        return;
    __syncthreads();
    out[threadIdx.x] = 1;
}

__global__ void st_lane_gone(u32 *out)
{
    if (threadIdx.x == 7)
        return;
    out[threadIdx.x] = __shfl_xor_sync(0xFFFFFFFFu, threadIdx.x, 1);
}

__global__ void st_lane_masks(u32 *out)
{
    const u32 mask = threadIdx.x == 9 ? 0xFFFFFEFFu : 0xFFFFFFFFu;

    out[threadIdx.x] = __shfl_xor_sync(mask, threadIdx.x, 1);
}

__global__ void st_lane_left_out(u32 *out)
{
    if (threadIdx.x < 16)
        out[threadIdx.x] = __shfl_xor_sync(0xFFFFu, threadIdx.x, 16);
}

__global__ void st_lane_not_itself(u32 *out)
{
    out[threadIdx.x] = __ballot_sync(0xFFFFu, 1);
}

__global__ void st_lane_sites(u32 *out)
{
    u32 v = threadIdx.x;

    if (threadIdx.x & 1)
        v += __shfl_xor_sync(0xFFFFFFFFu, v, 1);
    else
        v -= __shfl_xor_sync(0xFFFFFFFFu, v, 1);
    out[threadIdx.x] = v;
}

/* Through shared memory from lane to lane: needs a __syncwarp. */
static __forceinline__ void neighbour(u32 *out, u32 *s, u32 mask, u32 other, bool sync)
{
    s[threadIdx.x] = threadIdx.x * 3;
    if (sync)
        __syncwarp(mask);
    out[threadIdx.x] = s[other];
}

__global__ void st_warp_synced(u32 *out)
{
    GPUME_SHARED(u32, s);
    neighbour(out, s, 0xFFFFFFFFu, threadIdx.x ^ 31, true);
}

__global__ void st_warp_lockstep(u32 *out)
{
    GPUME_SHARED(u32, s);
    neighbour(out, s, 0xFFFFFFFFu, threadIdx.x ^ 1, false);
}

__global__ void st_halves_synced(u32 *out)
{
    GPUME_SHARED(u32, s);
    const u32 mask = threadIdx.x & 16 ? 0xFFFF0000u : 0xFFFFu;

    for (int i = 0; i < 3; i++) {
        neighbour(out, s, mask, threadIdx.x ^ 15, true);
        __syncwarp(mask);
    }
}

__global__ void st_halves_crossed(u32 *out)
{
    GPUME_SHARED(u32, s);
    const u32 mask = threadIdx.x & 16 ? 0xFFFF0000u : 0xFFFFu;

    neighbour(out, s, mask, threadIdx.x ^ 16, true);
}

/* Read by many lanes, then written by one: no barrier, a __syncwarp. */
__global__ void st_read_then_write(u32 *out, int sync)
{
    GPUME_SHARED(u32, s);
    u32 sum = 0;

    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    for (int i = 0; i < 32; i++)
        sum += s[i];
    if (sync)
        __syncwarp();
    if (threadIdx.x == 13)
        s[4] = 0;
    out[threadIdx.x] = sum;
}

__global__ void st_misaligned(const u32 *in, u32 *out, int offset)
{
    const uint4 v = *(const uint4 *)(in + offset);

    out[0] = v.x + v.y + v.z + v.w;
}

__global__ void st_wide(const uint4 *in, uint4 *out)
{
    out[threadIdx.x] = in[threadIdx.x];
}

__global__ void st_null(const u32 *in, u32 *out)
{
    out[threadIdx.x] = *in;
}

__global__ void st_ldg(u32 *data, u32 *out)
{
    data[threadIdx.x] = 1;
    out[threadIdx.x]  = __ldg(&data[threadIdx.x]);
}

__global__ void st_shift(u32 *out, int by)
{
    out[threadIdx.x] = 1 << by;
}

__global__ void st_overflow(int *out, int a)
{
    out[threadIdx.x] = a + a;
}

__global__ void st_index(int *out, int i)
{
    int local[4] = { 1, 2, 3, 4 };

    out[threadIdx.x] = local[i];
}

/* Waits for what no other thread will write. */
__global__ void st_spin(volatile u32 *flag, u32 *out)
{
    while (!*flag)
        ;
    out[threadIdx.x] = 1;
}

__global__ void st_volatile(volatile u32 *flag, u32 *out)
{
    if (threadIdx.x == 3)
        *flag = 1;
    out[threadIdx.x] = *flag ? 7 : 7;
}

/* Blocks in the order of their tickets, each with what the one before has stored. */
static __forceinline__ void chain(u32 *words, u32 *ticket, u32 *out, bool waits, bool is_plain)
{
    GPUME_SHARED(u32, first);

    if (threadIdx.x == 0)
        first[0] = atomicAdd(ticket, 1);
    __syncthreads();
    const u32 i = first[0];
    u32 word = 1;

    if (i)
        do {
            word = is_plain ? words[i - 1] : standin_load_volatile(words + i - 1);
        } while (waits && !word);
    out[i * blockDim.x + threadIdx.x] = word;
    if (threadIdx.x == 0)
        standin_store_volatile(words + i, word + 1);
}

__global__ void st_chain(u32 *words, u32 *ticket, u32 *out)
{
    chain(words, ticket, out, true, false);
}

__global__ void st_chain_unwaited(u32 *words, u32 *ticket, u32 *out)
{
    chain(words, ticket, out, false, false);
}

__global__ void st_chain_plain(u32 *words, u32 *ticket, u32 *out)
{
    chain(words, ticket, out, true, true);
}

/* What lies behind a word that was waited for is not ordered by it. */
__global__ void st_chain_behind(u32 *words, u32 *ticket, u32 *out)
{
    if (threadIdx.x)
        return;
    const u32 i = atomicAdd(ticket, 1);

    if (i) {
        while (!standin_load_volatile(words + i - 1))
            ;
        out[i] = out[i - 1] + 1;
    } else {
        out[i] = 1;
    }
    standin_store_volatile(words + i, 1);
}

__global__ void st_trap(u32 *out)
{
    if (threadIdx.x == 2)
        __trap();
    out[threadIdx.x] = 1;
}

__global__ void st_atomics(const u8 *in, int n, u32 *histogram, u64 *least, int *lowest)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i >= n)
        return;
    atomicAdd(&histogram[in[i]], 1);
    atomicMin(least, (u64)in[i] << 32 | i);
    atomicMin(lowest, (int)in[i] - 200);
    atomicMax(&histogram[256], in[i]);
    u32 old = histogram[257 + threadIdx.x % 1];
    while (atomicCAS(&histogram[258], old, old + 1) != old)
        old++;
}

__global__ void st_atomic_and_plain(u32 *out)
{
    if (threadIdx.x & 1)
        atomicAdd(out, 1);
    else
        *out = 0;
}

/* Every exchange; 24 words a thread. */
__global__ void st_exchange(const u32 *in, u32 *out, int redux)
{
    const u32 t = threadIdx.x, lane = t & 31;
    const u32 v = in[t];
    u32 *o = out + 24 * t;

    o[0]  = __shfl_sync(0xFFFFFFFFu, v, lane * 5 + 3);
    o[1]  = __shfl_sync(0xFFFFFFFFu, v, 2, 8);
    o[2]  = __shfl_up_sync(0xFFFFFFFFu, v, 3);
    o[3]  = __shfl_up_sync(0xFFFFFFFFu, v, 1, 4);
    o[4]  = __shfl_down_sync(0xFFFFFFFFu, v, 7);
    o[5]  = __shfl_down_sync(0xFFFFFFFFu, v, 2, 16);
    o[6]  = __shfl_xor_sync(0xFFFFFFFFu, v, 21);
    o[7]  = __shfl_xor_sync(0xFFFFFFFFu, v, 8, 8);
    o[8]  = __ballot_sync(0xFFFFFFFFu, v & 1);
    o[9]  = __any_sync(0xFFFFFFFFu, v == 77);
    o[10] = __all_sync(0xFFFFFFFFu, v != 77);
    o[11] = __match_any_sync(0xFFFFFFFFu, v & 3);
    const u64 wide = __shfl_xor_sync(0xFFFFFFFFu, (u64)v << 32 | t, 1);
    o[12] = (u32)wide;
    o[13] = (u32)(wide >> 32);
    o[14] = (u32)__syncthreads_count(v & 1);
    o[15] = (u32)__syncthreads_or(v == 77);
    o[16] = (u32)__syncthreads_and(v != 77);
    if (redux) {
        o[17] = __reduce_add_sync(0xFFFFFFFFu, v);
        o[18] = __reduce_min_sync(0xFFFFFFFFu, v);
        o[19] = __reduce_max_sync(0xFFFFFFFFu, v);
        o[20] = (u32)__reduce_min_sync(0xFFFFFFFFu, (int)v);
        o[21] = __reduce_or_sync(0xFFFFFFFFu, v);
        o[22] = __reduce_and_sync(0xFFFFFFFFu, v);
    }
    o[23] = gpume_lane();
}

/* Integer words; 16 a thread. */
__global__ void st_words(const u32 *in, u32 *out)
{
    const u32 a = in[3 * threadIdx.x], b = in[3 * threadIdx.x + 1], c = in[3 * threadIdx.x + 2];
    u32 *o = out + 16 * threadIdx.x;

    o[0]  = gpume_sad4(a, b, c);
    o[1]  = gpume_sad2(a, b, c);
    o[2]  = gpume_dp4a(a, b, c);
    o[3]  = __byte_perm(a, b, c & 0x7777);
    o[4]  = __funnelshift_r(a, b, c);
    o[5]  = __funnelshift_l(a, b, c);
    o[6]  = __vminu4(a, b);
    o[7]  = __vmaxu2(a, b);
    o[8]  = __vabsdiffu4(a, b);
    o[9]  = (u32)__popc(a);
    o[10] = (u32)__clz((int)a);
    o[11] = __brev(a);
    o[12] = __umulhi(a, b);
    o[13] = (u32)abs((int)(a >> 1) - (int)(b >> 1));
    o[14] = min(a, b) + max(a, b);
    o[15] = __vadd4(a, b);
}

__global__ void st_params(u8 a, short b, int c, u64 d, Mixed e, u32 *out)
{
    out[0] = a;
    out[1] = (u32)b;
    out[2] = (u32)c;
    out[3] = (u32)(d >> 32);
    out[4] = e.b[4];
    out[5] = (u32)e.c;
    out[6] = (u32)e.a;
    out[7] = blockDim.x * 10000 + gridDim.x * 1000 + threadIdx.y * 100 + blockIdx.y * 10 + threadIdx.z;
}

/* Copies of a size that the compiler leaves to the C library. */
struct Large {
    u32 words[200];
};

__global__ void st_large(const Large *in, Large *out, int i)
{
    out[i] = in[i];
}

/*
 * Full search of a 16 x 16 block, +-8, window in shared memory.
 * block: 17 x 17 threads, a candidate each; grid: blocks of the picture
 */
__global__ void st_search(const u8 *cur, const u8 *ref, int width, int height, u64 *best)
{
    GPUME_SHARED(u8, s);
    u8 *window = s, *block = s + 32 * 32;
    const int x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
    const int t = threadIdx.y * 17 + threadIdx.x;
    u64 *least = (u64 *)(s + 32 * 32 + 16 * 16);

    for (int i = t; i < 32 * 32; i += 17 * 17) {
        const int x = x0 - 8 + i % 32, y = y0 - 8 + i / 32;
        window[i] = x >= 0 && y >= 0 && x < width && y < height ? ref[y * width + x] : 0;
    }
    for (int i = t; i < 16 * 16; i += 17 * 17)
        block[i] = cur[(y0 + i / 16) * width + x0 + i % 16];
    if (!t)
        *least = ~0ULL;
    __syncthreads();
    const int dx = threadIdx.x - 8, dy = threadIdx.y - 8;
    if (x0 + dx >= 0 && y0 + dy >= 0 && x0 + dx + 16 <= width && y0 + dy + 16 <= height) {
        u32 cost = 0;
        for (int y = 0; y < 16; y++)
            for (int x = 0; x < 16; x++) {
                const int d = block[y * 16 + x] - window[(y + 8 + dy) * 32 + x + 8 + dx];
                cost += abs(d);
            }
        atomicMin(least, (u64)cost << 32 | t);
    }
    __syncthreads();
    if (!t)
        best[blockIdx.y * gridDim.x + blockIdx.x] = *least;
}

/* Nothing but loads: for the count of checked accesses a second. */
__global__ void st_loads(const u32 *in, u32 *out, int n)
{
    u32 sum = 0;

    for (int i = 0; i < n; i++)
        sum += in[i];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Nothing but shuffles: for the count of exchanges a second. */
__global__ void st_shuffles(u32 *out, int n)
{
    u32 v = threadIdx.x;

    for (int i = 0; i < n; i++)
        v += __shfl_xor_sync(0xFFFFFFFFu, v, 1 << (i & 3));
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

}

/* Found although a macro writes it, and no template is taken for a kernel. */
template<typename T> __global__ void st_template(T *out)
{
    out[threadIdx.x] = 1;
}

#define MADE(name, type) \
    extern "C" __global__ void __launch_bounds__(64) st_made_##name(type *out) { st_template<type>(out); }
MADE(8,  u8)
MADE(32, u32)
