#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Find the cuts of a film: their times, and a picture of how new each frame is.

usage: cuts.py FILM OUT.png"""

import sys

import numpy as np

import gpume

film, out = sys.argv[1:] if len(sys.argv) == 3 else sys.exit(__doc__)
score = gpume.motion_score(film, size=(480, 270), block=16, pel=1)
for time in score.cuts:
    print(f"{time:.2f} s")
print(f"{len(score.cuts)} cuts in {len(score.frames) + 1} frames")

# a column for each frame: grey, red where a scene begins
novelty = np.array([min(f.novelty, 2) / 2 for f in score.frames] or [0])
rows = np.linspace(1, 0, 120)[:, None]
picture = np.where((rows <= novelty)[..., None], np.uint8(96), np.uint8(255)).repeat(3, axis=2)
picture[:, [f.cut for f in score.frames] or [False]] = 220, 30, 30
gpume.write_png(out, picture.repeat(max(1, 800 // len(novelty)), axis=1))
