#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a plugin of VapourSynth on raw YUV 4:2:0 of 25 frames a second.

usage: plugins.py METHOD INPUT WIDTH HEIGHT FRAMES THREADS OUTPUT [RADIUS VALUE]
       plugins.py METHOD        prints a line if its plugin is there, or fails
METHOD is one of METHODS below. OUTPUT '-' writes no file. VALUE is the main parameter of a denoiser: thsad of Degrain, a SAD
of 8x8 samples, or sigma. Prints how many frames came out, and the CPU seconds for them without reading.
"""

import sys
import time

import numpy as np
import vapoursynth as vs

NO_CUT = 16320  # noise alone is not a cut


def clip_of(frames, width, height, form=vs.YUV420P8, fps=25):
    """A clip of frames in memory, each the samples of all planes in one row."""
    def fill(n, f):
        f, at = f.copy(), 0
        for plane in range(f.format.num_planes):
            a = np.asarray(f[plane])
            a[:] = frames[n][at:at + a.size].reshape(a.shape)
            at += a.size
        return f

    clip = vs.core.std.BlankClip(format=form, width=width, height=height, length=len(frames), fpsnum=fps, fpsden=1)
    return vs.core.std.ModifyFrame(clip, clip, fill)


def flow(clip, interpolate):
    """MVTools with blocks of 16 that overlap by half, then again of 8, quarter samples."""
    mv = vs.core.mv
    pyramid = mv.Super(clip, pel=4)
    fields = [mv.Recalculate(pyramid, mv.Analyse(pyramid, blksize=16, overlap=8, isb=isb), blksize=8, overlap=4) for isb in (1, 0)]
    return getattr(mv, interpolate)(clip, pyramid, *fields, num=50, den=1)


def smoothed(clip):
    """What denoisers search in instead of the noise."""
    return vs.core.std.Convolution(clip, [1, 2, 1, 2, 4, 2, 1, 2, 1])


def mvtools(clip, radius, threshold):
    """Blocks of 16 that overlap by half, quarter samples, searched in a smoothed copy; radius 1 to 6."""
    mv = vs.core.mv
    searched = mv.Super(smoothed(clip), pel=4)
    fields = [mv.Analyse(searched, blksize=16, overlap=8, truemotion=False, isb=isb, delta=delta)
              for delta in range(1, radius + 1) for isb in (1, 0)]
    degrain = getattr(mv, f"Degrain{radius}")
    return degrain(clip, mv.Super(clip, pel=4), *fields, thsad=round(threshold), thscd1=NO_CUT)


def v_bm3d(clip, radius, sigma):
    """V-BM3D: both of its steps, of luma."""
    bm3d, core = vs.core.bm3d, vs.core
    luma = core.std.ShufflePlanes(clip, 0, vs.GRAY).resize.Point(format=vs.GRAYS)
    options = {"sigma": [sigma], "radius": radius, "profile": "np", "matrix": 1}
    pilot = bm3d.VAggregate(bm3d.VBasic(luma, **options), radius=radius, sample=1)
    luma = bm3d.VAggregate(bm3d.VFinal(luma, pilot, **options), radius=radius, sample=1)
    luma = luma.resize.Point(format=vs.GRAY8, dither_type="none")
    return core.std.ShufflePlanes([luma, clip, clip], [0, 1, 2], vs.YUV)


def qtgmc(clip, best):
    """A frame for each field, top field first; best: source match with three steps, the input's lines woven in at the end."""
    from vsdeinterlace import QTempGaussMC
    clip = vs.core.std.SetFrameProps(clip, _FieldBased=2, _Matrix=1, _Range=0, _ChromaLocation=0)
    method = QTempGaussMC()
    if best:
        method = method.source_match(mode=QTempGaussMC.SourceMatchMode.TWICE_REFINED).lossless(
            mode=QTempGaussMC.LosslessMode.POSTSMOOTH)
    return method.bob(clip, tff=True)


METHODS = {  # the plugin's namespace, and what is done with a clip
    "mvtools-flow": ("mv", lambda clip: flow(clip, "FlowFPS")), "mvtools-block": ("mv", lambda clip: flow(clip, "BlockFPS")),
    "mvtools": ("mv", mvtools), "v-bm3d-np": ("bm3d", v_bm3d),
    "qtgmc-default": ("mvu", lambda clip: qtgmc(clip, False)), "qtgmc-best": ("mvu", lambda clip: qtgmc(clip, True)),
}


def seconds(clip, output=None):
    """CPU seconds for all frames."""
    began = time.process_time()
    for frame in clip.frames():
        if output:
            for plane in frame:
                output.write(np.ascontiguousarray(np.asarray(plane)).tobytes())
    return time.process_time() - began


def main():
    if len(sys.argv) < 2 or sys.argv[1] not in METHODS or len(sys.argv) not in (2, 8, 10):
        sys.exit(__doc__)
    plugin, method = METHODS[sys.argv[1]]
    if not hasattr(vs.core, plugin):
        sys.exit(f"VapourSynth has no plugin {plugin}")
    if len(sys.argv) == 2:
        if plugin == "mvu" and sys.argv[1].startswith("qtgmc"):
            import vsdeinterlace  # noqa: F401
        print(f"{plugin} is there")
        return
    path, (width, height, count, vs.core.num_threads), output = sys.argv[2], map(int, sys.argv[3:7]), sys.argv[7]
    if width % 2 or height % 2:
        sys.exit("it wants an even width and height")
    pictures = np.fromfile(path, np.uint8, width * height * 3 // 2 * count).reshape(count, -1)
    source = clip_of(pictures, width, height)
    clip = method(source, *(f(x) for f, x in zip((int, float), sys.argv[8:])))
    if output != "-":
        with open(output, "wb") as f:
            print(clip.num_frames, seconds(clip, f))
        return
    print(clip.num_frames, -seconds(source) + seconds(clip))


if __name__ == "__main__":
    main()
