#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Denoises raw YUV 4:2:0 with MVTools.

usage: degrain.py INPUT WIDTH HEIGHT FRAMES THREADS RADIUS THRESHOLD [OUTPUT]
RADIUS is 1 to 6, THRESHOLD the thsad of Degrain, a SAD of 8x8 samples. Prints how many frames came
out, and the CPU and wall-clock seconds for them without reading.
"""

import os
import sys

import vapoursynth as vs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fps"))
from mvtools import seconds, source  # noqa: E402

NO_CUT = 16320  # noise alone is not a cut


def degrained(clip, radius, threshold):
    """Blocks of 16 that overlap by half, quarter samples, searched in a smoothed copy."""
    mv = vs.core.mv
    smooth = vs.core.std.Convolution(clip, [1, 2, 1, 2, 4, 2, 1, 2, 1])
    searched = mv.Super(smooth, pel=4)
    fields = []
    for delta in range(1, radius + 1):
        fields += [mv.Analyse(searched, blksize=16, overlap=8, truemotion=False, isb=isb, delta=delta)
                   for isb in (1, 0)]
    degrain = getattr(mv, f"Degrain{radius}")
    return degrain(clip, mv.Super(clip, pel=4), *fields, thsad=threshold, thscd1=NO_CUT)


def main():
    if len(sys.argv) < 8:
        sys.exit(__doc__)
    path, (width, height, count, threads, radius, threshold) = sys.argv[1], map(int, sys.argv[2:8])
    if width % 2 or height % 2:
        sys.exit("it wants an even width and height")
    vs.core.num_threads = threads
    if len(sys.argv) > 8:
        with open(sys.argv[8], "wb") as f:
            seconds(degrained(source(path, width, height, count), radius, threshold), f)
        return
    reading = seconds(source(path, width, height, count))
    clip = degrained(source(path, width, height, count), radius, threshold)
    cpu, wall = (total - read for total, read in zip(seconds(clip), reading))
    print(clip.num_frames, cpu, wall)


if __name__ == "__main__":
    main()
