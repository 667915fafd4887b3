#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures what frames cost in order, after a jump and backwards: seconds of one processor for an output frame.

usage: jumps.py FFMPEG [WIDTHxHEIGHT]      in a Python with VapourSynth, numpy and the plugin
"""

import resource
import subprocess
import sys

import numpy as np
import vapoursynth as vs

NB = 100
core = vs.core
core.num_threads = 1


def clip_of(ffmpeg, width, height):
    """Return a clip of a pattern with noise."""
    raw = subprocess.run([ffmpeg, "-v", "error", "-f", "lavfi", "-i", f"testsrc2=s={width}x{height}:r=25,format=yuv420p,"
                          f"noise=alls=6:allf=t,trim=end_frame={NB}", "-f", "rawvideo", "-"], stdout=subprocess.PIPE,
                         check=True).stdout
    frames = np.frombuffer(raw, np.uint8).reshape(NB, -1)
    blank = core.std.BlankClip(width=width, height=height, format=vs.YUV420P8, length=NB, fpsnum=25, fpsden=1)

    def put(n, f):
        f, at = f.copy(), 0
        for plane in range(3):
            a = np.asarray(f[plane])
            a[:] = frames[n, at:at + a.size].reshape(a.shape)
            at += a.size
        return f
    return core.std.ModifyFrame(blank, blank, put)


def seconds(clip, numbers):
    """Return what these frames cost, each."""
    def used():
        return sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    before = used()
    for n in numbers:
        clip.get_frame(n)
    return (used() - before) / len(numbers)


def main(ffmpeg, size="320x176"):
    clip = clip_of(ffmpeg, *map(int, size.split("x")))
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
