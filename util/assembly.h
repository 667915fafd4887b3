/*
 * This file is part of gpume.
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/**
 * @file
 * Calls the assembly of the processor for which FFmpeg is built. In each of the folders x86 (64 bits) and aarch64
 * beside a table of functions in C, an init function replaces some of these functions.
 */

#ifndef AVFILTER_GPUME_UTIL_ASSEMBLY_H
#define AVFILTER_GPUME_UTIL_ASSEMBLY_H

#include "config.h"

/** Calls function_x86(...) or function_aarch64(...), if the build has assembly. */
#if ARCH_X86_64 && HAVE_X86ASM
#define GPUME_INIT_ASSEMBLY(function, ...) function##_x86(__VA_ARGS__)
#elif ARCH_AARCH64 && HAVE_NEON
#define GPUME_INIT_ASSEMBLY(function, ...) function##_aarch64(__VA_ARGS__)
#else
#define GPUME_INIT_ASSEMBLY(function, ...)
#endif

#endif /* AVFILTER_GPUME_UTIL_ASSEMBLY_H */
