#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Score the clips of a folder for a data set, as CSV on standard output.

usage: score_folder.py FOLDER OUT.png    also one clip in place of FOLDER; OUT.png: speed (right), residual (up)"""

import csv
import os
import sys

import numpy as np

import gpume

folder, out = sys.argv[1:] if len(sys.argv) == 3 else sys.exit(__doc__)
clips = sorted(os.path.join(folder, n) for n in os.listdir(folder)) if os.path.isdir(folder) else [folder]
table = csv.writer(sys.stdout)
table.writerow(["clip", "frames", "speed", "residual", "consistent", "cuts"])
picture = np.full((300, 400, 3), 255, np.uint8)
for clip in clips:
    try:
        s = gpume.motion_score(clip, size=(480, 270), block=16, pel=1)
    except gpume.Error as e:
        print(f"{clip}: {e.lines[-1] if e.lines else e}", file=sys.stderr)
        continue
    table.writerow([os.path.basename(clip), len(s.frames) + 1, f"{s.speed:.4f}", f"{s.residual:.2f}",
                    f"{s.consistent:.3f}", len(s.cuts)])
    x, y = int(min(s.speed, 1) * 390), int(290 - min(s.residual / 20, 1) * 290)
    picture[y:y + 8, x:x + 8] = 200, 60, 30
gpume.write_png(out, picture)
