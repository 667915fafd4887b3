# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds pairs of pictures with ground truth in folders of several layouts."""

import os

import numpy as np

import pictures


class Pair:
    """Two pictures, or more of a clip: (frames, height, width), uint8.

    flow: (height, width, 2), from the first to the second, in samples; None if nobody knows it.
    known: where it is known; visible: where the second picture shows it, too; both (height, width).
    range: the search distance that its motion needs, or None.
    """

    def __init__(self, group, name, frames, flow=None, known=None, hidden=None, distance=None):
        self.group, self.name, self.frames, self.range = group, name, frames, distance
        self.flow, self.known, self.visible = flow, known, None
        self.flows = {}  # what a method found for all block sizes
        if flow is not None:
            self.visible = known & stays_inside(flow)
            if hidden is not None:
                self.visible &= ~hidden

    @property
    def size(self):
        """Height and width."""
        return self.frames.shape[1:]


def stays_inside(flow):
    """Where the flow does not leave the picture."""
    height, width, _ = flow.shape
    y, x = np.mgrid[:height, :width]
    x, y = x + flow[..., 0], y + flow[..., 1]
    return (x >= 0) & (y >= 0) & (x <= width - 1) & (y <= height - 1)


class Files:
    """The names of a pair's files, and how to read them."""

    def __init__(self, group, name, first, second, flow, **masks):
        self.group, self.name = group, name
        self.first, self.second, self.flow, self.masks = first, second, flow, masks

    def hidden(self):
        """What the second picture does not show, (height, width) of bool, if a mask says so."""
        path = self.masks.get("occluded")
        return pictures.read_gray(path) > 0 if path and os.path.exists(path) else None

    def load(self):
        """Reads the pair."""
        first, second = pictures.read_gray(self.first), pictures.read_gray(self.second)
        flow, known = pictures.read_flo(self.flow)
        if not first.shape == second.shape == known.shape:
            raise pictures.PictureError(f"{self.flow}: the pictures have another size")
        distance = None
        if "range" in self.masks and os.path.exists(self.masks["range"]):
            with open(self.masks["range"], encoding="ascii") as f:
                distance = int(f.read())
        return Pair(self.group, self.name, np.stack([first, second]), flow, known, self.hidden(),
                    distance)


def existing(folder, *names):
    """The path of the first of these files that is there, or None."""
    for name in names:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            return path
    return None


def plain(folder):
    """frame01.pgm, frame02.pgm, gt.flo; maybe occ.pgm and range."""
    first, second = existing(folder, "frame01.pgm"), existing(folder, "frame02.pgm")
    flow = existing(folder, "gt.flo")
    if not (first and second and flow):
        return []
    name = os.path.basename(os.path.abspath(folder))
    group = name.split("_")[0] if "_" in name else "plain"
    return [Files(group, name, first, second, flow, occluded=os.path.join(folder, "occ.pgm"),
                  range=os.path.join(folder, "range"))]


def middlebury(folder):
    """frame10.png, frame11.png; flow10.flo beside them or in other-gt-flow."""
    first, second = existing(folder, "frame10.png"), existing(folder, "frame11.png")
    name = os.path.basename(os.path.abspath(folder))
    flow = existing(folder, "flow10.flo", f"../../other-gt-flow/{name}/flow10.flo")
    if not (first and second and flow):
        return []
    return [Files("Middlebury", name, first, second, flow)]


LAYOUTS = (plain, middlebury)


def find(folder, deepest=4):
    """The pairs in a folder and those below it, as Files."""
    for layout in LAYOUTS:
        found = layout(folder)
        if found:
            return found
    found = []
    if deepest:
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if os.path.isdir(path):
                found += find(path, deepest - 1)
    return found


def spread(files, most):
    """At most so many pairs of each group, spread over it evenly; 0: all."""
    groups = {}
    for file in files:
        groups.setdefault(file.group, []).append(file)
    chosen = []
    for members in groups.values():
        n = min(most or len(members), len(members))
        chosen += [members[i * len(members) // n] for i in range(n)]
    return chosen


def load_raw(path, width, height):
    """Reads raw frames of 8-bit luma: (frames, height, width)."""
    samples = np.fromfile(path, np.uint8)
    frames = len(samples) // (width * height)
    return samples[:frames * width * height].reshape(frames, height, width)
