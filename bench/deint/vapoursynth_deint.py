#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Deinterlaces raw YUV 4:2:0, top field first, by QTGMC in VapourSynth (vsjetpack, MVUtensils), one frame a field.

usage: vapoursynth_deint.py PRESET INPUT WIDTH HEIGHT FRAMES OUTPUT
       vapoursynth_deint.py                  succeeds if it is there
PRESET is default, or best: source match with three steps, the input's lines woven in at the end.
Prints the CPU seconds for all frames without reading.
"""

import sys
import time

import numpy as np
import vapoursynth as vs
from vsdeinterlace import QTempGaussMC


def source(path, width, height, count):
    """The clip, from pictures in memory."""
    pictures = np.fromfile(path, np.uint8, width * height * 3 // 2 * count).reshape(count, -1)
    shapes = (height, width), (height // 2, width // 2), (height // 2, width // 2)

    def fill(n, f):
        f, at = f.copy(), 0
        for plane, shape in enumerate(shapes):
            size = shape[0] * shape[1]
            np.copyto(np.asarray(f[plane]), pictures[n][at:at + size].reshape(shape))
            at += size
        return f

    clip = vs.core.std.BlankClip(format=vs.YUV420P8, width=width, height=height, length=count, fpsnum=25, fpsden=1)
    clip = vs.core.std.ModifyFrame(clip, clip, fill)
    return vs.core.std.SetFrameProps(clip, _FieldBased=2, _Matrix=1, _Range=0, _ChromaLocation=0)


def main():
    if len(sys.argv) == 1:
        return
    preset, path, width, height, count, output = sys.argv[1:]
    vs.core.num_threads = 1
    qtgmc = QTempGaussMC()
    if preset == 'best':
        qtgmc = qtgmc.source_match(mode=QTempGaussMC.SourceMatchMode.TWICE_REFINED).lossless(
            mode=QTempGaussMC.LosslessMode.POSTSMOOTH)
    clip = qtgmc.bob(source(path, int(width), int(height), int(count)), tff=True)
    start = time.process_time()
    with open(output, 'wb') as f:
        for frame in clip.frames():
            for plane in frame:
                f.write(np.asarray(plane).tobytes())
    print('%.2f' % (time.process_time() - start))


main()
