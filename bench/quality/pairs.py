# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pairs of pictures with ground truth: finds them in folders of two layouts, reads and writes their files.

Pictures are arrays of shape (height, width); a field of flow has the shape (height, width, 2): x and
y in samples, from a pixel of the first picture to its place in the second.
"""

import os
import struct

import numpy as np

try:
    import cv2
except ImportError:
    cv2 = None

FLO_MAGIC = b"PIEH"


class PictureError(Exception):
    """A file that cannot be read, with its name."""


def read_gray(path):
    """Reads a picture as luma (ITU-R BT.601): (height, width), uint8."""
    if path.endswith(".pgm"):  # as write_pgm() has written it
        with open(path, "rb") as f:
            width, height = map(int, f.read().split(b"\n", 2)[1].split())
        return np.fromfile(path, np.uint8)[-width * height:].reshape(height, width)
    if cv2 is None:
        raise PictureError(f"{path}: PNG files need OpenCV")
    picture = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    if picture is None:
        raise PictureError(f"{path}: cannot be read")
    if picture.ndim == 2:
        return picture
    # integers, so that every machine sees the same picture
    blue, green, red = (picture[..., i].astype(np.uint32) for i in range(3))
    return ((4899 * red + 9617 * green + 1868 * blue + 8192) >> 14).astype(np.uint8)


def write_pgm(path, picture):
    """Writes a picture of 8 bits."""
    height, width = picture.shape
    with open(path, "wb") as f:
        f.write(b"P5\n%d %d\n255\n" % (width, height) + picture.tobytes())


def read_flo(path):
    """Reads a .flo file (Middlebury): the flow, and where it is known as (height, width) of bool."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:4] != FLO_MAGIC or len(data) < 12:
        raise PictureError(f"{path}: not a .flo file")
    width, height = struct.unpack("<ii", data[4:12])
    if width <= 0 or height <= 0 or len(data) < 12 + 8 * width * height:
        raise PictureError(f"{path}: a broken .flo file")
    flow = np.frombuffer(data, "<f4", 2 * width * height, 12).reshape(height, width, 2)
    with np.errstate(invalid="ignore"):
        known = np.isfinite(flow).all(-1) & (np.abs(flow) < 1e9).all(-1)
    return np.where(known[..., None], flow, 0).astype(np.float32), known


def write_flo(path, flow):
    """Writes a .flo file."""
    height, width, _ = flow.shape
    with open(path, "wb") as f:
        f.write(FLO_MAGIC + struct.pack("<ii", width, height) + flow.astype("<f4").tobytes())


class Pair:
    """Two pictures, (2, height, width), their flow, and where it is known.

    range: the search distance that its motion needs, or None.
    """

    def __init__(self, group, name, first, second, flow, distance=None):
        self.group, self.name, self.results = group, name, {}
        both = [read_gray(path) for path in (first, second)]
        self.flow, self.known = read_flo(flow)
        if not both[0].shape == both[1].shape == self.known.shape:
            raise PictureError(f"{flow}: the pictures have another size")
        self.frames = np.stack(both)
        self.size = self.known.shape
        self.range = None
        if distance and os.path.exists(distance):
            with open(distance, encoding="ascii") as f:
                self.range = int(f.read())

    def kept(self, name, find):
        """What a method finds for all block sizes at once."""
        if name not in self.results:
            self.results[name] = find()
        return self.results[name]


def existing(folder, *names):
    """The path of the first of these files that is there, or None."""
    return next(filter(os.path.exists, (os.path.join(folder, name) for name in names)), None)


def find(folder, deepest=4):
    """The pairs in a folder and those below it: arguments of Pair.

    Either frame01.pgm, frame02.pgm, gt.flo and maybe range; or Middlebury's frame10.png, frame11.png, and flow10.flo
    beside them or in other-gt-flow.
    """
    name = os.path.basename(os.path.abspath(folder))
    plain = [existing(folder, file) for file in ("frame01.pgm", "frame02.pgm", "gt.flo")]
    middlebury = [existing(folder, "frame10.png"), existing(folder, "frame11.png"),
                  existing(folder, "flow10.flo", f"../../other-gt-flow/{name}/flow10.flo")]
    if all(plain):
        return [(name.split("_")[0] if "_" in name else "plain", name, *plain, os.path.join(folder, "range"))]
    if all(middlebury):
        return [("Middlebury", name, *middlebury)]
    below = [os.path.join(folder, n) for n in sorted(os.listdir(folder))] if deepest else []
    return [pair for path in below if os.path.isdir(path) for pair in find(path, deepest - 1)]
