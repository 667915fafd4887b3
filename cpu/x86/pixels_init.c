/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

#include <assert.h>

#include "libavutil/attributes.h"
#include "libavutil/cpu.h"
#include "libavutil/x86/cpu.h"

#include "libavfilter/gpume/cpu/pixels.h"

static_assert(offsetof(GpumeChoice, own) == 64 && offsetof(GpumeChoice, bounds) == 168 &&
              offsetof(GpumeChoice, penalties) == 68 && offsetof(GpumeChoice, min) == 136 &&
              offsetof(GpumeChoice, max) == 140 && offsetof(GpumeChoice, threshold) == 144 &&
              offsetof(GpumeChoice, factor) == 148 && offsetof(GpumeChoice, shift) == 152 &&
              offsetof(GpumeChoice, depth_shift) == 156 && offsetof(GpumeChoice, cost) == 160 &&
              offsetof(GpumeChoice, sum) == 164, "pixels.asm knows the layout");
static_assert(offsetof(GpumePlaces, linesize) == 256 && offsetof(GpumePlaces, size) == 264 &&
              offsetof(GpumePlaces, log2_pel) == 268 && offsetof(GpumePlaces, low) == 272 &&
              offsetof(GpumePlaces, high) == 276, "pixels.asm knows the layout");
static_assert(GPUME_AVERAGE_LINESIZE == 256, "pixels.asm knows it");
static_assert(GPUME_PIXELS_SLACK >= 31, "pixels.asm reads and writes 32 samples at a time");

void ff_gpume_right_8_avx2(uint8_t *dst, const uint8_t *src, int n, int max);
void ff_gpume_below_8_avx2(uint8_t *dst, void *sums, const uint8_t *const rows[6], int n, int max);
void ff_gpume_centre_8_avx2(uint8_t *dst, const void *sums, int n, int max);
unsigned ff_gpume_candidates_at_avx2(GpumeChoice *choice, const GpumeVector *v, ptrdiff_t bw,
                                     uint32_t bounds[16], unsigned forgotten);
unsigned ff_gpume_candidates_at_avx512(GpumeChoice *choice, const GpumeVector *v, ptrdiff_t bw,
                                       uint32_t bounds[16], unsigned forgotten);
int ff_gpume_locate_whole_avx512(const uint8_t **ref, const GpumeVector vectors[16], unsigned mask,
                                 const GpumePlaces *places, ptrdiff_t offset);
int ff_gpume_locate_pairs_avx512(const uint8_t **ref, const GpumeVector vectors[16], unsigned mask,
                                 const GpumePlaces *places, ptrdiff_t offset);
uint64_t ff_gpume_least_sum_avx512(const GpumeChoice *choice, uint32_t bounds[16], const uint32_t *cost,
                                   unsigned evaluated, unsigned mask);

#define AVERAGE(bits, width)                                                \
void ff_gpume_average_##bits##_##width##_avx2(uint8_t *dst, const uint8_t *a, \
                                              const uint8_t *b,             \
                                              ptrdiff_t linesize, int h);

#define AVERAGE_ALL(bits)                                                   \
AVERAGE(bits,   4)                                                          \
AVERAGE(bits,   8)                                                          \
AVERAGE(bits,  16)                                                          \
AVERAGE(bits,  32)                                                          \
AVERAGE(bits,  64)                                                          \
AVERAGE(bits, 128)

AVERAGE_ALL(8)
AVERAGE_ALL(16)

#define SET(i, bits, width)                                                 \
    pixels->average[i] = ff_gpume_average_##bits##_##width##_avx2;

#define SET_ALL(bits)                                                       \
    SET(3, bits,   4)                                                       \
    SET(4, bits,   8)                                                       \
    SET(5, bits,  16)                                                       \
    SET(6, bits,  32)                                                       \
    SET(7, bits,  64)                                                       \
    SET(8, bits, 128)

av_cold void ff_gpume_pixels_init_x86(GpumePixels *pixels, int depth)
{
    const int cpu_flags = av_get_cpu_flags();

    if (!EXTERNAL_AVX2_FAST(cpu_flags))
        return;
    pixels->candidates_at = ff_gpume_candidates_at_avx2;
    if (depth > 8) {
        SET_ALL(16)
    } else {
        SET_ALL(8)
        pixels->right  = ff_gpume_right_8_avx2;
        pixels->below  = ff_gpume_below_8_avx2;
        pixels->centre = ff_gpume_centre_8_avx2;
    }
    if (!EXTERNAL_AVX512(cpu_flags))
        return;
    pixels->candidates_at = ff_gpume_candidates_at_avx512;
    pixels->locate[0]     = ff_gpume_locate_whole_avx512;
    pixels->locate[1]     = ff_gpume_locate_pairs_avx512;
    pixels->least_sum     = ff_gpume_least_sum_avx512;
}
