# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads and writes pictures and fields of flow.

Pictures are arrays of shape (height, width); a field of flow has the shape (height, width, 2): x and
y in samples, from a pixel of the first picture to its place in the second.
"""

import struct

import numpy as np

try:
    import cv2
except ImportError:
    cv2 = None

FLO_MAGIC = b"PIEH"


class PictureError(Exception):
    """A file that cannot be read, with its name."""


def read_png(path):
    """Reads a PNG file: (height, width, channels), red first."""
    if cv2 is None:
        raise PictureError(f"{path}: PNG files need OpenCV")
    picture = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    if picture is None:
        raise PictureError(f"{path}: cannot be read")
    if picture.ndim == 2:
        return picture[..., None]
    return picture[..., [2, 1, 0] + list(range(3, picture.shape[2]))]


def read_gray(path):
    """Reads a picture as luma (ITU-R BT.601): (height, width), uint8."""
    if path.endswith(".pgm"):
        return read_pgm(path)
    picture = read_png(path)
    if picture.shape[2] < 3:
        return np.ascontiguousarray(picture[..., 0])
    # integers, so that every machine sees the same picture
    red, green, blue = (picture[..., i].astype(np.uint32) for i in range(3))
    return ((4899 * red + 9617 * green + 1868 * blue + 8192) >> 14).astype(np.uint8)


def read_pgm(path):
    """Reads a picture that write_pgm() has written."""
    with open(path, "rb") as f:
        width, height = map(int, f.read().split(b"\n", 2)[1].split())
    return np.fromfile(path, np.uint8)[-width * height:].reshape(height, width)


def write_pgm(path, picture):
    """Writes a picture of 8 bits: (height, width), uint8."""
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
