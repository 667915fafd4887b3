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
 * What a search is asked for. Shared by the filter, every backend and device
 * code, hence free of any include.
 */

#ifndef AVFILTER_GPUME_PARAMS_H
#define AVFILTER_GPUME_PARAMS_H

/** Largest block side: AVMotionVector.w and .h have 8 bits. */
#define GPUME_MAX_BLOCK   128
#define GPUME_MIN_BLOCK     4
/** Largest search range, samples to each side. */
#define GPUME_MAX_RANGE  1024
/** Largest picture side: src_x = dst_x + dx has to fit 16 signed bits. */
#define GPUME_MAX_SIDE  (32767 - GPUME_MAX_RANGE)

/** Searches, in the order of the options' documentation. */
enum GpumeAlgo {
    GPUME_ALGO_FS,      ///< full search
    GPUME_ALGO_TSS,     ///< three-step search, Koga et al., NTC, 1981
    GPUME_ALGO_TDLS,    ///< two-dimensional logarithmic search, Jain and Jain, IEEE TCOM 29(12), 1981
    GPUME_ALGO_NTSS,    ///< new three-step search, Li, Zeng and Liou, IEEE TCSVT 4(4), 1994
    GPUME_ALGO_FSS,     ///< four-step search, Po and Ma, IEEE TCSVT 6(3), 1996
    GPUME_ALGO_DS,      ///< diamond search, Zhu and Ma, IEEE TIP 9(2), 2000
    GPUME_ALGO_HEXBS,   ///< hexagon-based search, Zhu, Lin and Chau, IEEE TCSVT 12(5), 2002
    GPUME_ALGO_EPZS,    ///< enhanced predictive zonal search, Tourapis, SPIE 4671, 2002
    GPUME_ALGO_UMH,     ///< unsymmetrical-cross multi-hexagon-grid search, Chen, Zhou and He, JVT-F017, 2002
    GPUME_NB_ALGOS
};

/** Where the reference lies in time; indexes arrays of two. */
enum GpumeDirection {
    GPUME_PAST,
    GPUME_FUTURE,
    GPUME_NB_DIRECTIONS
};

/**
 * A search's parameters; constant between a backend's init and uninit.
 * The picture is luma only. All lengths are in luma samples.
 */
typedef struct GpumeParams {
    int algo;           ///< enum GpumeAlgo
    int width;          ///< of the picture, 1 to GPUME_MAX_SIDE
    int height;         ///< of the picture, 1 to GPUME_MAX_SIDE
    int block;          ///< side of a block: 4, 8, 16, 32, 64 or 128
    int range;          ///< search distance to each side, 1 to GPUME_MAX_RANGE
    /**
     * Nonzero: a full search evaluates the whole cost of every candidate, instead
     * of leaving out those that it can prove not to be the best. Same vectors.
     * Below 0: they are left out even where evaluating them is quicker; for tests.
     */
    int exhaustive;
    int depth;          ///< significant bits of a sample, 8 to 16; more than 8: two bytes each
    int shift;          ///< bits below the sample in its two bytes (p010: 6)
    int big_endian;     ///< nonzero: two-byte samples have the high byte first
    int bw;             ///< blocks in a row,   ceil(width / block)
    int bh;             ///< blocks in a column, ceil(height / block)
} GpumeParams;

#endif /* AVFILTER_GPUME_PARAMS_H */
