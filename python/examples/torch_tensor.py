#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Make a tensor (frames, 2, rows, cols) of a film's vectors, for PyTorch; without it, an array.

usage: torch_tensor.py FILM OUT.png    OUT.png: the frames' motion as colours, side by side"""

import sys

import numpy as np

import gpume

try:
    import torch
except ImportError:
    torch = None

film, out = sys.argv[1:] if len(sys.argv) == 3 else sys.exit(__doc__)
fields = []
with gpume.vectors(film, dir="future", size=(448, 256), block=16) as stream:
    for field in stream:
        fields.append(field)
        if len(fields) == 16:
            break
flow = np.stack([f.mv.transpose(2, 0, 1) / [[[f.width]], [[f.height]]] for f in fields]).astype(np.float32)
tensor = torch.from_numpy(flow) if torch else flow
print(type(tensor).__name__, tuple(tensor.shape), "mean", float(tensor.mean()))
gpume.write_png(out, np.concatenate([f.picture(8)[::2, ::2] for f in fields[:4]], axis=1))
