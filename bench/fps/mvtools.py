#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Doubles the frame rate of raw YUV 4:2:0 with MVTools' FlowFPS.

usage: mvtools.py INPUT WIDTH HEIGHT FRAMES THREADS [OUTPUT]
Prints how many frames came out, and the CPU and wall-clock seconds for them without reading.
"""

import sys
import time

import numpy as np
import vapoursynth as vs


def source(path, width, height, count):
    """The clip, from pictures in memory."""
    core = vs.core
    pictures = np.fromfile(path, np.uint8, width * height * 3 // 2 * count).reshape(count, -1)
    shapes = (height, width), (height // 2, width // 2), (height // 2, width // 2)

    def fill(n, f):
        f, at = f.copy(), 0
        for plane, shape in enumerate(shapes):
            size = shape[0] * shape[1]
            np.copyto(np.asarray(f[plane]), pictures[n][at:at + size].reshape(shape))
            at += size
        return f

    clip = core.std.BlankClip(format=vs.YUV420P8, width=width, height=height, length=count,
                              fpsnum=25, fpsden=1)
    return core.std.ModifyFrame(clip, clip, fill)


def doubled(clip):
    """Blocks of 16 that overlap by half, then again of 8, quarter samples."""
    mv = vs.core.mv
    pyramid = mv.Super(clip, pel=4)
    fields = [mv.Recalculate(pyramid, mv.Analyse(pyramid, blksize=16, overlap=8, isb=isb),
                             blksize=8, overlap=4) for isb in (1, 0)]
    return mv.FlowFPS(clip, pyramid, *fields, num=50, den=1)


def seconds(clip, output=None):
    """CPU and wall-clock seconds for all frames."""
    cpu, wall = time.process_time(), time.perf_counter()
    for frame in clip.frames():
        if output:
            for plane in range(frame.format.num_planes):
                output.write(np.ascontiguousarray(np.asarray(frame[plane])).tobytes())
    return time.process_time() - cpu, time.perf_counter() - wall


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    path, (width, height, count, threads) = sys.argv[1], map(int, sys.argv[2:6])
    if width % 2 or height % 2:
        sys.exit("it wants an even width and height")
    vs.core.num_threads = threads
    if len(sys.argv) > 6:
        with open(sys.argv[6], "wb") as f:
            seconds(doubled(source(path, width, height, count)), f)
        return
    reading = seconds(source(path, width, height, count))
    clip = doubled(source(path, width, height, count))
    cpu, wall = (total - read for total, read in zip(seconds(clip), reading))
    print(clip.num_frames, cpu, wall)


if __name__ == "__main__":
    main()
