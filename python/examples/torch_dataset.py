#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A data set for PyTorch: pictures of videos, each with its flow into the next one. Without PyTorch, arrays.

usage: torch_dataset.py VIDEO OUT.png    OUT.png: pictures above their flow, as colours"""

import sys

import numpy as np

import gpume

try:
    from torch.utils.data import DataLoader, IterableDataset
except ImportError:
    DataLoader, IterableDataset = None, object


class Flow(IterableDataset):
    """Pairs of a picture (3, height, width), 0 to 1, and its flow (2, height, width) in samples."""

    def __init__(self, videos, size=(448, 256), **options):
        self.videos, self.size, self.options = videos, size, options

    def __iter__(self):
        for video in self.videos:
            for picture, fields in gpume.vectors(video, pictures="rgb24", dir="future", size=self.size, **self.options):
                for field in fields:        # the last picture has none
                    yield picture.transpose(2, 0, 1) / np.float32(255), field.flow().transpose(2, 0, 1)


video, out = sys.argv[1:] if len(sys.argv) == 3 else sys.exit(__doc__)
pairs = [pair for _, pair in zip(range(4), Flow([video]))]
shown = [((255 * picture).astype(np.uint8).transpose(1, 2, 0), gpume.flow_picture(flow.transpose(1, 2, 0), 8))
         for picture, flow in pairs]
gpume.write_png(out, np.concatenate([np.concatenate(both) for both in shown], axis=1))
if DataLoader:
    pictures, flows = next(iter(DataLoader(Flow([video]), batch_size=4)))
    print("a batch:", tuple(pictures.shape), tuple(flows.shape))
