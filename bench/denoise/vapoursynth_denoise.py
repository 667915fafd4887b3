#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Denoises raw YUV 4:2:0 with a plugin of VapourSynth.

usage: vapoursynth_denoise.py METHOD
       vapoursynth_denoise.py METHOD INPUT WIDTH HEIGHT FRAMES THREADS RADIUS VALUE [OUTPUT]
METHOD is mvtools, mvutensils, v-bm3d or v-bm3d-np. Without further arguments, only tells by its status whether the
plugin is there. VALUE is the method's main parameter: thsad of Degrain, a SAD of 8x8 samples, or sigma. Prints how
many frames came out, and the CPU and wall-clock seconds for them without reading.
"""

import os
import sys

import vapoursynth as vs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fps"))
from vapoursynth_fps import seconds, source  # noqa: E402

NO_CUT = 16320  # noise alone is not a cut


def smoothed(clip):
    return vs.core.std.Convolution(clip, [1, 2, 1, 2, 4, 2, 1, 2, 1])


def mvtools(clip, radius, threshold):
    """Blocks of 16 that overlap by half, quarter samples, searched in a smoothed copy; radius 1 to 6."""
    mv = vs.core.mv
    searched = mv.Super(smoothed(clip), pel=4)
    fields = []
    for delta in range(1, radius + 1):
        fields += [mv.Analyse(searched, blksize=16, overlap=8, truemotion=False, isb=isb, delta=delta)
                   for isb in (1, 0)]
    degrain = getattr(mv, f"Degrain{radius}")
    return degrain(clip, mv.Super(clip, pel=4), *fields, thsad=round(threshold), thscd1=NO_CUT)


def mvutensils(clip, radius, threshold):
    """Blocks of 8 that overlap by half, searched in a smoothed copy; radius 1 to 25."""
    mvu, blocks = vs.core.mvu, {"blksize": [8, 8], "overlap": [4, 4]}
    searched = mvu.Super(smoothed(clip), pel=2, **blocks)
    fields = []
    for delta in range(1, radius + 1):
        fields += [mvu.Analyse(searched, delta=way * delta, **blocks) for way in (1, -1)]
    degrain = getattr(mvu, f"Degrain{radius}")
    return degrain(clip, mvu.Super(clip, pel=2, **blocks), fields, thsad=[round(threshold)], thscd1=NO_CUT)


def v_bm3d(clip, radius, sigma, profile="fast"):
    """V-BM3D: both of its steps, of luma."""
    bm3d, core = vs.core.bm3d, vs.core
    luma = core.std.ShufflePlanes(clip, 0, vs.GRAY).resize.Point(format=vs.GRAYS)
    options = {"sigma": [sigma], "radius": radius, "profile": profile, "matrix": 1}
    pilot = bm3d.VAggregate(bm3d.VBasic(luma, **options), radius=radius, sample=1)
    luma = bm3d.VAggregate(bm3d.VFinal(luma, pilot, **options), radius=radius, sample=1)
    luma = luma.resize.Point(format=vs.GRAY8, dither_type="none")
    return core.std.ShufflePlanes([luma, clip, clip], [0, 1, 2], vs.YUV)


def v_bm3d_np(clip, radius, sigma):
    return v_bm3d(clip, radius, sigma, "np")


METHODS = {"mvtools": ("mv", mvtools), "mvutensils": ("mvu", mvutensils), "v-bm3d": ("bm3d", v_bm3d),
           "v-bm3d-np": ("bm3d", v_bm3d_np)}


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in METHODS or 2 < len(sys.argv) < 9:
        sys.exit(__doc__)
    plugin, method = METHODS[sys.argv[1]]
    if not hasattr(vs.core, plugin):
        sys.exit(f"VapourSynth has no plugin {plugin}")
    if len(sys.argv) == 2:
        return
    path, (width, height, count, threads, radius) = sys.argv[2], map(int, sys.argv[3:8])
    value = float(sys.argv[8])
    if width % 2 or height % 2:
        sys.exit("it wants an even width and height")
    vs.core.num_threads = threads
    if len(sys.argv) > 9:
        with open(sys.argv[9], "wb") as f:
            seconds(method(source(path, width, height, count), radius, value), f)
        return
    reading = seconds(source(path, width, height, count))
    clip = method(source(path, width, height, count), radius, value)
    cpu, wall = (total - read for total, read in zip(seconds(clip), reading))
    print(clip.num_frames, cpu, wall)


if __name__ == "__main__":
    main()
