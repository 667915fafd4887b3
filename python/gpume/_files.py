# SPDX-License-Identifier: LGPL-2.1-or-later
"""Flow in files of other programs, and as colours."""

from __future__ import annotations

import os
import struct
import uuid
import zlib
from typing import Any, Optional, Tuple

import numpy as np
import numpy.typing as npt

from ._field import Field
from ._process import PathLike


def _write(path: PathLike, data: bytes) -> None:
    """Write a file that is complete or absent."""
    name = os.path.realpath(path)
    part = f"{name}.{uuid.uuid4().hex[:8]}.gpume-part"
    try:
        with open(part, "wb") as f:
            f.write(data)
        os.replace(part, name)
    finally:
        if os.path.exists(part):
            os.unlink(part)


def _flow(flow: npt.ArrayLike) -> npt.NDArray[np.float32]:
    array = np.asarray(flow, np.float32)
    if array.ndim != 3 or array.shape[2] != 2 or not array.size:
        raise ValueError(f"a flow has the shape (height, width, 2), not {array.shape}")
    return array


def write_flo(path: PathLike, flow: npt.ArrayLike) -> None:
    """Write a flow, (height, width, 2), in Middlebury's format.

    Raises:
        ValueError: it has another shape.
        OSError: it cannot be written.
    """
    array = _flow(flow)
    _write(path, b"PIEH" + struct.pack("<ii", array.shape[1], array.shape[0]) + array.astype("<f4").tobytes())


def read_flo(path: PathLike) -> npt.NDArray[np.float32]:
    """Read a flow, (height, width, 2), in Middlebury's format. Raises ValueError if it is something else."""
    with open(path, "rb") as f:
        data = f.read()
    if data[:4] != b"PIEH" or len(data) < 12:
        raise ValueError(f"{os.fspath(path)} is no .flo file")
    width, height = struct.unpack("<ii", data[4:12])
    if width < 1 or height < 1 or len(data) < 12 + 8 * width * height:
        raise ValueError(f"{os.fspath(path)} is damaged")
    return np.frombuffer(data, "<f4", 2 * width * height, 12).reshape(height, width, 2).astype(np.float32)


def _png(rows: npt.NDArray[Any], depth: int) -> bytes:
    """Return a PNG of an array (height, width, 3) of big-endian samples."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = rows.shape[:2]
    data = np.ascontiguousarray(rows).view(np.uint8).reshape(height, -1)
    lines = np.zeros((height, data.shape[1] + 1), np.uint8)
    # filter "up": samples of blocks are those above
    lines[1:, 0] = 2
    lines[0, 1:] = data[0]
    lines[1:, 1:] = data[1:] - data[:-1]
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)) + chunk(b"IEND", b""))


def write_kitti(path: PathLike, flow: npt.ArrayLike, valid: Optional[npt.ArrayLike] = None) -> None:
    """Write a flow as KITTI's PNG of 16 bits: 64 steps a sample, from -512 to just below 512.

    Args:
        flow: (height, width, 2).
        valid: (height, width), false where the flow is unknown; by default it is known everywhere within
            these limits.

    Raises:
        ValueError: an array has another shape.
        OSError: it cannot be written.
    """
    array = _flow(flow)
    known = np.ones(array.shape[:2], bool) if valid is None else np.asarray(valid, bool)
    if known.shape != array.shape[:2]:
        raise ValueError(f"valid has the shape {known.shape}, not {array.shape[:2]}")
    steps = np.rint(array * np.float32(64)) + 32768
    known = known & ((steps >= 0) & (steps <= 65535)).all(axis=2)
    rows = np.zeros((*known.shape, 3), ">u2")
    rows[..., :2] = np.where(known[..., None], steps, 0)
    rows[..., 2] = known
    _write(path, _png(rows, 16))


def read_kitti(path: PathLike) -> Tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """Read a flow, (height, width, 2), and where it is known, (height, width), from KITTI's PNG.

    Raises ValueError if it is something else.
    """
    from ._process import run, url
    with open(path, "rb") as f:
        start = f.read(33)
    if start[:8] != b"\x89PNG\r\n\x1a\n" or len(start) < 33 or start[24:26] != b"\x10\x02":
        raise ValueError(f"{os.fspath(path)} is no PNG of 16 bits and three components")
    width, height = struct.unpack(">II", start[16:24])
    data = run(["-f", "image2", "-pattern_type", "none", "-i", url(path), "-f", "rawvideo", "-pix_fmt", "rgb48be", "-"])
    samples = np.frombuffer(data, ">u2").reshape(height, width, 3)
    valid = samples[..., 2] != 0
    flow = ((samples[..., :2].astype(np.float64) - 32768) / 64).astype(np.float32)
    flow[~valid] = 0
    return flow, valid


def write_npz(path: PathLike, field: Field) -> None:
    """Write all attributes of a field, compressed, for numpy.load(). An attribute that is None is left out."""
    import io
    values = {name: getattr(field, name) for name in Field.__slots__ if getattr(field, name) is not None}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **values)
    _write(path, buffer.getvalue())


def write_png(path: PathLike, picture: npt.ArrayLike) -> None:
    """Write a picture, uint8 (height, width, 3): red, green, blue. Raises ValueError for another shape or type."""
    array = np.asarray(picture)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3 or not array.size:
        raise ValueError(f"a picture is uint8 of the shape (height, width, 3), not {array.dtype} {array.shape}")
    _write(path, _png(array, 8))


# What mvview draws, see doc/mvview-definition.md: lengths of the steps of hue, and how red, green
# and blue change in each step. 0: stays 0, 1: stays at the maximum, 2: rises, 3: falls.
_STEPS = (15, 6, 4, 11, 13, 6)
_CHANGES = ((1, 3, 0, 0, 2, 1), (2, 1, 1, 3, 0, 0), (0, 0, 2, 1, 1, 3))


def _angle(x: npt.NDArray[np.int64], y: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    ax, ay = np.abs(x), np.abs(y)
    t = (np.minimum(ax, ay) << 14) // np.maximum(np.maximum(ax, ay), 1)
    angle = (t * (8192 + ((2848 * (16384 - t)) >> 14))) >> 14
    angle = np.where(ay > ax, 16384 - angle, angle)
    angle = np.where(x < 0, 32768 - angle, angle)
    return np.where(y < 0, 65536 - angle, angle) & 0xffff


def flow_picture(flow: npt.ArrayLike, longest: Optional[float] = None) -> npt.NDArray[np.uint8]:
    """Return a flow as colours, those of the filter mvview: the hue is the direction, the saturation the length.

    Args:
        flow: (height, width, 2), in samples.
        longest: length of full saturation, in samples; longer vectors are darker. By default that of the
            longest vector.

    Returns:
        uint8, (height, width, 3): red, green, blue.

    Raises:
        ValueError: it has another shape, or longest is not above 0.
    """
    if longest is not None and not longest > 0:
        raise ValueError("longest must be above 0")
    # in units of 1/16 sample, halves away from 0
    scaled = _flow(flow).astype(np.float64) * 16
    units = (np.sign(scaled) * np.floor(np.abs(scaled) + 0.5)).astype(np.int64)
    x, y = units[..., 0], units[..., 1]
    length = np.floor(np.sqrt((x * x + y * y).astype(np.float64))).astype(np.int64)
    full = max(int(length.max()), 1) if longest is None else max(int(np.rint(longest * 16)), 1)
    at = _angle(x, y) * 54
    step = np.zeros(at.shape, np.int64)
    for i, n in enumerate(_STEPS[:-1]):
        more = (step == i) & (at >= n << 16)
        at = np.where(more, at - (n << 16), at)
        step[more] = i + 1
    a = (at >> 8) * 255 // (np.array(_STEPS)[step] << 8)
    saturation = np.minimum(256 * length // full, 256)
    out = np.empty((*length.shape, 3), np.uint8)
    for c, changes in enumerate(_CHANGES):
        change = np.array(changes)[step]
        hue = np.where(change == 2, a, np.where(change == 3, 255 - a, 255 * change))
        v = 255 - ((saturation * (255 - hue) + 128) >> 8)
        out[..., c] = np.where(length > full, v * 3 // 4, v)
    return out
