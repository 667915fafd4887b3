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
 * The patterns of candidates that the searches try, in the order in which they
 * try them: the order decides between equal costs. Shared by every backend and
 * by device code. A pattern is {dx, dy} in samples, relative to the centre.
 */

#ifndef AVFILTER_GPUME_PATTERNS_H
#define AVFILTER_GPUME_PATTERNS_H

/** Large diamond (Zhu and Ma's LDSP), without its centre. */
#define GPUME_LARGE_DIAMOND_POINTS 8
#define GPUME_LARGE_DIAMOND \
    { -2,  0 }, { -1, -1 }, {  0, -2 }, {  1, -1 }, \
    {  2,  0 }, {  1,  1 }, {  0,  2 }, { -1,  1 }

/** Small diamond (SDSP), without its centre. */
#define GPUME_SMALL_DIAMOND_POINTS 4
#define GPUME_SMALL_DIAMOND \
    { -1,  0 }, {  0, -1 }, {  1,  0 }, {  0,  1 }

#endif /* AVFILTER_GPUME_PATTERNS_H */
