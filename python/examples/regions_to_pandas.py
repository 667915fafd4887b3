#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measure the motion of regions of a video, as a table of pandas: a row for each frame and region.

usage: regions_to_pandas.py VIDEO OUT.csv"""

import sys

import numpy as np
import pandas

import gpume

# left, top, right and bottom, as shares of the picture
REGIONS = {"left": (0, 0, 0.5, 1), "right": (0.5, 0, 1, 1), "middle": (0.3, 0.3, 0.7, 0.7)}

video, out = sys.argv[1:] if len(sys.argv) == 3 else sys.exit(__doc__)
rows = []
for field in gpume.vectors(video, block=16):
    nb_rows, nb_cols = field.cost.shape
    for name, (left, top, right, bottom) in REGIONS.items():
        part = (slice(int(top * nb_rows), int(bottom * nb_rows)), slice(int(left * nb_cols), int(right * nb_cols)))
        mv = field.mv[part]
        rows.append({"time": field.pts_time, "region": name, "x": -mv[..., 0].mean(), "y": -mv[..., 1].mean(),
                     "motion": np.hypot(mv[..., 0], mv[..., 1]).mean(), "consistent": field.consistent[part].mean()})
table = pandas.DataFrame(rows)
table.to_csv(out, index=False)
print(table.groupby("region")[["x", "y", "motion"]].mean().round(2))
