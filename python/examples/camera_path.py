#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Follow a camera, and smooth its path as a stabiliser does.

usage: camera_path.py VIDEO OUT.png    OUT.png: the path (grey) and the smooth one (red)
Prints for each frame its time and by how much it is to be shifted, in samples."""

import sys

import numpy as np

import gpume

video, out = sys.argv[1:] if len(sys.argv) == 3 else sys.exit(__doc__)
times, steps = [0.0], [np.zeros(2)]
for field in gpume.vectors(video, block=16):
    sound = field.mv[field.consistent]
    # most blocks show the background; the median vector leads to where the background was in the frame before
    steps.append(np.median(sound, axis=0) if len(sound) else np.zeros(2))
    times.append(field.pts_time or 0.0)
path = np.cumsum(steps, axis=0)
width = min(len(path), 25) // 2 * 2 + 1
window = np.hanning(width + 2)[1:-1]
padded = np.pad(path, ((width // 2, width // 2), (0, 0)), mode="edge")
smooth = np.stack([np.convolve(padded[:, c], window / window.sum(), "valid") for c in (0, 1)], axis=1)
for time, shift in zip(times, path - smooth):
    print(f"{time:.3f} {shift[0]:+.2f} {shift[1]:+.2f}")

both = np.concatenate([path, smooth])
scale = 280 / max(np.ptp(both, axis=0).max(), 1)
picture = np.full((300, 300, 3), 255, np.uint8)
for points, colour in ((path, (140, 140, 140)), (smooth, (220, 30, 30))):
    x, y = ((points - both.min(axis=0)) * scale + 10).astype(int).T
    for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
        picture[y + dy, x + dx] = colour
gpume.write_png(out, picture)
