#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Doubles the frame rate of raw YUV 4:2:0 with a plugin of VapourSynth.

usage: vapoursynth_fps.py METHOD INPUT WIDTH HEIGHT FRAMES THREADS [OUTPUT]
       vapoursynth_fps.py METHOD           succeeds if its plugin is there
METHOD is mvtools-flow, mvtools-block, mvutensils-flow or svpflow.
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


def mvtools(clip, interpolate):
    """Blocks of 16 that overlap by half, then again of 8, quarter samples."""
    mv = vs.core.mv
    pyramid = mv.Super(clip, pel=4)
    fields = [mv.Recalculate(pyramid, mv.Analyse(pyramid, blksize=16, overlap=8, isb=isb),
                             blksize=8, overlap=4) for isb in (1, 0)]
    return getattr(mv, interpolate)(clip, pyramid, *fields, num=50, den=1)


def mvutensils(clip):
    """The same with MVTools' successor, which has FlowFPS only."""
    mvu = vs.core.mvu
    pyramid = mvu.Super(clip, blksize=[16, 16], overlap=[8, 8], pel=4)
    fine = mvu.Super(clip, blksize=[8, 8], overlap=[4, 4], pel=4)
    fields = mvu.AnalyseMany(pyramid, blksize=[16, 16], overlap=[8, 8], radius=1)
    fields = mvu.Recalculate(fine, fields, blksize=[8, 8], overlap=[4, 4])
    return mvu.FlowFPS(clip, fine, fields, num=50, den=1)


def svpflow(clip):
    """Uses open-svpflow, which has SVPflow's interface, on the CPU, with its best algorithm and mask."""
    pyramid = vs.core.svp1.Super(clip, "{gpu:0,pel:2}")
    fields = vs.core.svp1.Analyse(pyramid["clip"], pyramid["data"], clip,
                                  "{block:{w:16,h:16,overlap:2},refine:[{thsad:200}]}")
    return vs.core.svp2.SmoothFps(clip, pyramid["clip"], pyramid["data"], fields["clip"], fields["data"],
                                  "{gpuid:-1,rate:{num:2,den:1,abs:false},algo:21,mask:{area:100}}", src=clip, fps=25)


METHODS = {  # the plugin's namespace, and what is done with a clip
    "mvtools-flow": ("mv", lambda clip: mvtools(clip, "FlowFPS")),
    "mvtools-block": ("mv", lambda clip: mvtools(clip, "BlockFPS")),
    "mvutensils-flow": ("mvu", mvutensils),
    "svpflow": ("svp2", svpflow),
}


def seconds(clip, output=None):
    """CPU and wall-clock seconds for all frames."""
    cpu, wall = time.process_time(), time.perf_counter()
    for frame in clip.frames():
        if output:
            for plane in range(frame.format.num_planes):
                output.write(np.ascontiguousarray(np.asarray(frame[plane])).tobytes())
    return time.process_time() - cpu, time.perf_counter() - wall


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in METHODS or 2 < len(sys.argv) < 7:
        sys.exit(__doc__)
    plugin, doubled = METHODS[sys.argv[1]]
    if not hasattr(vs.core, plugin):
        sys.exit(f"VapourSynth has no plugin {plugin}")
    if len(sys.argv) == 2:
        return
    path, (width, height, count, threads) = sys.argv[2], map(int, sys.argv[3:7])
    if width % 2 or height % 2:
        sys.exit("it wants an even width and height")
    vs.core.num_threads = threads
    if len(sys.argv) > 7:
        with open(sys.argv[7], "wb") as f:
            seconds(doubled(source(path, width, height, count)), f)
        return
    reading = seconds(source(path, width, height, count))
    clip = doubled(source(path, width, height, count))
    cpu, wall = (total - read for total, read in zip(seconds(clip), reading))
    print(clip.num_frames, cpu, wall)


if __name__ == "__main__":
    main()
