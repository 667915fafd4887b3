#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Gives vsdenoise (of vs-jetpack) the vectors of gpume: import it, and call search() where MVTools.analyze() stood.

    mv = vsdenoise.MVTools(clip)
    search(mv, tr=2)
    clip = mv.degrain(tr=2)         # or compensate(), flow_fps(), mask() ...
    clip = vsdenoise.mc_degrain(clip, vectors=search(vsdenoise.MVTools(clip), tr=2), tr=2)
"""

from typing import Any

import vapoursynth as vs
from vsdenoise import MotionVectors, MVDirection, MVTools
from vstools import Range, depth


def search(mv: MVTools, tr: int = 1, **options: Any) -> MotionVectors:
    """Search tr frames on each side of every frame, set mv.vectors and return them.

    Args:
        mv: its blocks must be squares that overlap by a half, as by default, or not at all.
        tr: up to 8; of fields, which have a distance of 2, up to 4.
        options: of core.gpume.AnalyseMany, such as range=64 or backend="cuda".
    """
    clip, delta = mv.search_clip, 2 if mv.fields else 1
    blocks = mv.super(clip, blksize=mv.blksize, overlap_div=mv.overlap_div)
    if clip.format.sample_type == vs.FLOAT:     # the units in which MVUtensils measures differences of float samples
        clip = depth(clip, 16, sample_type=vs.INTEGER, range_out=Range.FULL)
    if mv.fields:
        options.update(fields=1, tff=int(mv.tff))
    found = vs.core.gpume.AnalyseMany(blocks, clip, radius=tr, delta=delta, **options)
    mv.vectors.clear()
    mv.vectors.blksize, mv.vectors.overlap_div = mv.blksize, mv.overlap_div
    for i in range(tr):
        mv.vectors.set_vector(found[2 * i], MVDirection.BACKWARD, (i + 1) * delta)      # from the frame after
        mv.vectors.set_vector(found[2 * i + 1], MVDirection.FORWARD, (i + 1) * delta)
    return mv.vectors


if __name__ == "__main__":
    print(__doc__)
