#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures what frames cost in order, after a jump and backwards: seconds of one processor for an output frame.

usage: jumps.py FFMPEG [WIDTHxHEIGHT]      in a Python with VapourSynth, numpy and the plugin
"""

import sys

import vapoursynth as vs

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402
from plugins import clip_of  # noqa: E402

NB = 100
core = vs.core
core.num_threads = 1


def seconds(clip, numbers):
    """Return what these frames cost, each."""
    before = bench.used()
    for n in numbers:
        clip.get_frame(n)
    return (bench.used() - before) / len(numbers)


def main(ffmpeg, size="320x176"):
    source = f"testsrc2=s={size}:r=25,format=yuv420p,noise=alls=6:allf=t,trim=end_frame={NB}"
    raw = bench.filtered(ffmpeg, ["-f", "lavfi", "-i", source], "null", "yuv420p")
    clip = clip_of(raw.reshape(NB, -1), *map(int, size.split("x")))
    gpume = core.gpume
    makers = [("Denoise", lambda: gpume.Denoise(clip, threads=1)), ("FPS", lambda: gpume.FPS(clip, threads=1)),
              *((f"Deinterlace, passes={p}", lambda p=p: gpume.Deinterlace(clip, tff=1, passes=p, threads=1)) for p in (1, 2, 3)),
              ("Stabilize", lambda: gpume.Stabilize(clip, threads=1)),
              ("Stabilize, zoom=1.1", lambda: gpume.Stabilize(clip, zoom=1.1, threads=1)),
              ("Vectors", lambda: gpume.Vectors(clip, threads=1))]
    print("| function | in order | after a jump | backwards |\n| --- | --- | --- | --- |")
    for name, make in makers:
        made = make()
        nb, order = len(made), seconds(made, range(20))
        jump = seconds(made, [nb * k // 10 for k in (6, 3, 8, 5)])
        made = make()
        made.get_frame(nb * 9 // 10)
        back = seconds(made, range(nb * 9 // 10 - 1, nb * 9 // 10 - 33, -1))
        print(f"| {name} | {order:.3f} | {jump:.3f} | {back:.3f} |", flush=True)


main(*sys.argv[1:])
