#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Slow motion of frames that are arrays: four times as many, each with its time.

usage: slow_motion.py VIDEO OUT.png    OUT.png: the frames from the second input frame to the third"""

import sys

import numpy as np

import gpume

video, out = sys.argv[1:] if len(sys.argv) == 3 else sys.exit(__doc__)
frames = [picture for picture, _ in gpume.vectors(video, pictures="rgb24", size=(320, 180), algo="ds")]  # or any arrays
slow = []
with gpume.Interpolator(320, 180, "rgb24", "4x") as interpolator:
    for number, frame in enumerate(frames):
        slow += interpolator.push(frame, pts=number)
    slow += interpolator.flush()
print(f"{len(frames)} frames became {len(slow)}, at {', '.join(f'{f.pts:g}' for f in slow[:6])} ...")
gpume.write_png(out, np.concatenate(slow[4:9], axis=1))
