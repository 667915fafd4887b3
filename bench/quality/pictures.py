# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads and writes PNG pictures and fields of flow.

Pictures are arrays of shape (height, width); a field of flow has the shape (height, width, 2): x and
y in samples, from a pixel of the first picture to its place in the second.
"""

import struct
import zlib

import numpy as np

try:
    import cv2
except ImportError:
    cv2 = None

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PNG_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by the type of colour
FLO_MAGIC = b"PIEH"


class PictureError(Exception):
    """A file that cannot be read, with its name."""


def _chunks(data, path):
    """The chunks of a PNG file: kind and content."""
    if data[:8] != PNG_SIGNATURE:
        raise PictureError(f"{path}: not a PNG file")
    at = 8
    while at + 8 <= len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, data[at + 8:at + 8 + size]
        at += 12 + size


def _paeth(left, up, corner):
    """PNG's predictor number 4, of integers."""
    to_left, to_up, to_corner = abs(up - corner), abs(left - corner), abs(left + up - 2 * corner)
    if to_left <= to_up and to_left <= to_corner:
        return left
    return up if to_up <= to_corner else corner


def _unfilter(kind, line, above, step):
    """Undoes a PNG filter. line and above are arrays of uint8; step is the bytes of a pixel."""
    if kind == 0:
        return line
    if kind == 1:  # a running sum of each byte of the pixels
        pixels = line.reshape(-1, step)
        return np.add.accumulate(pixels, axis=0, dtype=np.uint8).reshape(-1)
    if kind == 2:
        return line + above
    out = [0] * step + line.tolist()  # pixels on the left of the first one are 0
    before = [0] * step + above.tolist()
    if kind == 3:
        for i in range(step, len(out)):
            out[i] = (out[i] + ((out[i - step] + before[i]) >> 1)) & 255
    elif kind == 4:
        for i in range(step, len(out)):
            out[i] = (out[i] + _paeth(out[i - step], before[i], before[i - step])) & 255
    else:
        raise ValueError(kind)
    return np.array(out[step:], np.uint8)


def _decode_png(path):
    """Reads a PNG file with 8 or 16 bits, not interlaced: (height, width, channels)."""
    with open(path, "rb") as f:
        chunks = list(_chunks(f.read(), path))
    try:
        header = next(c for k, c in chunks if k == b"IHDR")
        width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", header)
        if depth not in (8, 16) or interlaced:
            raise PictureError(f"{path}: only PNG files of 8 or 16 bits, not interlaced, can be read")
        step = PNG_CHANNELS[colour] * depth // 8
        packed = zlib.decompress(b"".join(c for k, c in chunks if k == b"IDAT"))
        lines = np.frombuffer(packed, np.uint8)[:height * (1 + width * step)]
        lines = lines.reshape(height, 1 + width * step)
        out = np.zeros((height + 1, width * step), np.uint8)  # the row above the first is 0
        for y, line in enumerate(lines):
            out[y + 1] = _unfilter(int(line[0]), line[1:], out[y], step)
    except (StopIteration, KeyError, ValueError, struct.error, zlib.error) as e:
        raise PictureError(f"{path}: a broken PNG file ({e})") from e
    samples = out[1:].tobytes()
    picture = np.frombuffer(samples, ">u2" if depth == 16 else np.uint8)
    picture = picture.astype(np.uint16 if depth == 16 else np.uint8).reshape(height, width, -1)
    if colour == 3:
        palette = np.frombuffer(next(c for k, c in chunks if k == b"PLTE"), np.uint8).reshape(-1, 3)
        picture = palette[picture[..., 0]]
    return picture


def read_png(path):
    """Reads a PNG file: (height, width, channels), uint8 or uint16, red first."""
    if cv2 is None:
        return _decode_png(path)
    picture = cv2.imread(path, cv2.IMREAD_UNCHANGED)
    if picture is None:
        raise PictureError(f"{path}: cannot be read")
    if picture.ndim == 2:
        return picture[..., None]
    return picture[..., [2, 1, 0] + list(range(3, picture.shape[2]))]


def read_gray(path):
    """Reads a picture as luma (ITU-R BT.601): (height, width), uint8."""
    picture = read_png(path)
    if picture.dtype == np.uint16:
        picture = (picture >> 8).astype(np.uint8)
    if picture.shape[2] < 3:
        return np.ascontiguousarray(picture[..., 0])
    # integers, so that every machine sees the same picture
    red, green, blue = (picture[..., i].astype(np.uint32) for i in range(3))
    return ((4899 * red + 9617 * green + 1868 * blue + 8192) >> 14).astype(np.uint8)


def write_png(path, picture):
    """Writes a picture of 8 bits: (height, width), uint8."""
    height, width = picture.shape
    lines = np.zeros((height, width + 1), np.uint8)  # filter 0 in front of each line
    lines[:, 1:] = picture

    def chunk(kind, content):
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    with open(path, "wb") as f:
        f.write(PNG_SIGNATURE)
        f.write(chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)))
        f.write(chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)))
        f.write(chunk(b"IEND", b""))


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


def read_kitti(path):
    """Reads flow in KITTI's layout: 16 bits, (v - 32768) / 64, blue not 0 where it is known."""
    picture = read_png(path)
    if picture.dtype != np.uint16 or picture.shape[2] < 3:
        raise PictureError(f"{path}: not flow in KITTI's layout")
    known = picture[..., 2] > 0
    flow = (picture[..., :2].astype(np.float32) - 32768) / 64
    return np.where(known[..., None], flow, 0).astype(np.float32), known


def read_flow(path):
    """Reads a .flo file or a PNG file in KITTI's layout: the flow, and where it is known."""
    return read_flo(path) if path.endswith(".flo") else read_kitti(path)
