#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Report when something moves in a region of a camera's picture.

usage: motion_in_region.py VIDEO OUT.png    the region is the array MASK, here the middle of the picture
OUT.png: how much moved where, over the whole video."""

import sys

import numpy as np

import gpume

LEAST = 0.5     # samples a frame that count as motion
SHARE = 0.02    # share of the region's blocks that have to move

video, out = sys.argv[1:] if len(sys.argv) == 3 else sys.exit(__doc__)
total, moving_since = None, None
for field in gpume.vectors(video, size=(640, 360), block=16):
    if total is None:
        rows, cols = field.cost.shape
        mask = np.zeros((rows, cols), bool)     # any array of this shape does
        mask[rows // 4:-rows // 4, cols // 4:-cols // 4] = True
        total = np.zeros((rows, cols))
    length = np.hypot(field.mv[..., 0], field.mv[..., 1]) * field.consistent
    total += length
    moves = (length[mask] > LEAST).mean() > SHARE
    if moves and moving_since is None:
        moving_since = field.pts_time
    elif not moves and moving_since is not None:
        print(f"motion from {moving_since:.2f} to {field.pts_time:.2f} s")
        moving_since = None
if moving_since is not None:
    print(f"motion from {moving_since:.2f} s to the end")
grey = (255 * total / max(total.max(), 1e-9)).astype(np.uint8)[..., None].repeat(3, axis=2)
grey[~mask] //= 2
gpume.write_png(out, grey.repeat(16, axis=0).repeat(16, axis=1))
