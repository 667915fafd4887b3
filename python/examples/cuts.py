#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Find the cuts of the videos in a folder: their times, and a picture of how new each frame is.

usage: cuts.py FOLDER|VIDEO OUT.png
OUT.png has a row for each video and a column for each frame, red where a scene begins."""

import pathlib
import sys

import numpy as np

import gpume

name, out = sys.argv[1:] if len(sys.argv) == 3 else sys.exit(__doc__)
path = pathlib.Path(name)
scores = {}
for video in sorted(path.iterdir()) if path.is_dir() else [path]:
    try:
        scores[video.name] = score = gpume.motion_score(video, size=(480, 270), block=16, pel=1)
    except gpume.Error as e:
        print(f"{video.name}: no video: {str(e).splitlines()[0]}", file=sys.stderr)
        continue
    times = [f"{time:.2f} s" for time in score.cuts]
    print(f"{video.name}: {len(times)} cuts in {len(score.frames) + 1} frames", *times)

width = max([1, *(len(score.frames) for score in scores.values())])
picture = np.full((100 * max(len(scores), 1), width, 3), 255, np.uint8)
for i, score in enumerate(scores.values()):
    for x, f in enumerate(score.frames):
        top = 100 * i + 99 - int(45 * min(f.novelty, 2))
        picture[top:100 * i + 100, x] = (220, 30, 30) if f.cut else 96
gpume.write_png(out, picture.repeat(max(1, 800 // width), axis=1))
