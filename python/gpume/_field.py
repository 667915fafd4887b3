# SPDX-License-Identifier: LGPL-2.1-or-later
"""Motion fields, and the stream of records in which the filter gpume writes them."""

from __future__ import annotations

import ast
import struct
from typing import IO, Any, Dict, Iterator, Optional, Tuple

import numpy as np
import numpy.typing as npt

_NO_PTS = -(2 ** 63)


class Field:
    """The motion of a frame's blocks from a reference frame: one record of mv_format=npys.

    Arrays have the shape (rows, cols), one entry for each block in raster order. With tree=1 blocks
    have several sizes, and the shape is (leaves,).

    Attributes:
        number: of the frame, from 1 on.
        pts: its timestamp, in units of the stream's time base; None if it has none.
        pts_time: the same in seconds.
        distance: of the reference, in frames: -1 is the frame before, 1 the one after.
        pel: vectors are multiples of 1 / pel luma sample.
        block: side of a block, with tree=1 of the smallest one, in luma samples.
        width, height: of the picture, in luma samples.
        mv: float32, (rows, cols, 2): horizontal and vertical displacement from the block to its match in
            the reference, in luma samples, to the right and down.
        cost: int32: how much a block and its match differ, summed over the block in units of its samples.
        consistent: bool: False where the search in the opposite direction disagreed, and the vector is that
            of the blocks around. Always True without the option check.
        x, y: int32, only with tree=1, else None: the block's first sample.
        size: int16, only with tree=1, else None: its side, also where the picture's edge cuts it.
        frame_type: only with source="codec", else None: "I", "P" or "B". There x, y and size are set too, size has the
            shape (leaves, 2), width and height, and nothing is known of costs, which are 0.
    """

    __slots__ = ("number", "pts", "pts_time", "distance", "pel", "block", "width", "height", "mv", "cost",
                 "consistent", "x", "y", "size", "frame_type")

    number: int
    pts: Optional[int]
    pts_time: Optional[float]
    distance: int
    pel: int
    block: int
    width: int
    height: int
    mv: npt.NDArray[np.float32]
    cost: npt.NDArray[np.int32]
    consistent: npt.NDArray[np.bool_]
    x: Optional[npt.NDArray[np.int32]]
    y: Optional[npt.NDArray[np.int32]]
    size: Optional[npt.NDArray[np.int16]]
    frame_type: Optional[str]

    def __init__(self, record: npt.NDArray[Any]) -> None:
        """Make a field of a record, as numpy.load() returns it. The arrays share its memory."""
        pts = int(record["pts"])
        self.number = int(record["number"])
        self.pts = None if pts == _NO_PTS else pts
        self.pts_time = None if pts == _NO_PTS else float(record["pts_time"])
        self.distance = int(record["distance"])
        self.pel = int(record["pel"])
        self.block = int(record["block"])
        self.width = int(record["width"])
        self.height = int(record["height"])
        self.mv = record["mv"]
        names = record.dtype.names or ()
        is_tree = "size" in names
        nb = len(self.mv)
        self.cost = record["cost"] if "cost" in names else np.zeros(nb, np.int32)
        self.consistent = record["consistent"] if "consistent" in names else np.ones(nb, np.bool_)
        self.frame_type = record["frame_type"].item().decode() if "frame_type" in names else None
        self.x = record["x"] if is_tree else None
        self.y = record["y"] if is_tree else None
        self.size = record["size"] if is_tree else None

    def __repr__(self) -> str:
        return (f"<gpume.Field {self.number}, distance {self.distance}, {self.width}x{self.height}, "
                f"{'x'.join(map(str, self.cost.shape))} blocks>")

    def grid(self) -> npt.NDArray[np.float32]:
        """Return the vectors of all blocks of side `block`, (rows, cols, 2): mv itself without tree=1.

        With source="codec", blocks without a vector have (0, 0).
        """
        if self.size is None or self.x is None or self.y is None:
            return self.mv
        block = self.block
        out = np.zeros((-(-self.height // block), -(-self.width // block), 2), np.float32)
        sides = self.size if self.size.ndim == 2 else self.size[:, None].repeat(2, axis=1)
        for width, height in np.unique(sides, axis=0):
            which = (sides == (width, height)).all(axis=1)
            rows = (self.y[which] // block)[:, None, None] + np.arange(height // block)[:, None]
            cols = (self.x[which] // block)[:, None, None] + np.arange(width // block)
            # leaves that the edge cuts end there
            inside = (rows < out.shape[0]) & (cols < out.shape[1])
            rows, cols, vectors = np.broadcast_arrays(rows, cols, np.flatnonzero(which)[:, None, None])
            out[rows[inside], cols[inside]] = self.mv[vectors[inside]]
        return out

    def flow(self) -> npt.NDArray[np.float32]:
        """Return the vectors of all luma samples: float32, (height, width, 2), in luma samples.

        With distance 1 this is what is called optical flow.
        """
        dense = self.grid().repeat(self.block, axis=0)[:self.height].repeat(self.block, axis=1)
        return np.ascontiguousarray(dense[:, :self.width])

    def picture(self, longest: Optional[float] = None) -> npt.NDArray[np.uint8]:
        """Return the motion as colours: uint8, (height, width, 3), red, green, blue. See flow_picture()."""
        from ._files import flow_picture
        small = flow_picture(self.grid(), longest)
        dense = small.repeat(self.block, axis=0)[:self.height].repeat(self.block, axis=1)
        return np.ascontiguousarray(dense[:, :self.width])


_headers: Dict[bytes, np.dtype[Any]] = {}


def _dtype(header: bytes) -> np.dtype[Any]:
    """Return what a header describes. Those of a stream are mostly equal, and take long to read."""
    dtype = _headers.get(header)
    if dtype is None:
        described = ast.literal_eval(header.decode("latin-1"))
        if described["shape"] != () or not isinstance(described["descr"], list):
            raise ValueError("this is no stream of gpume's records")
        dtype = np.dtype([tuple(entry) for entry in described["descr"]])
        if len(_headers) >= 64:
            _headers.clear()
        _headers[header] = dtype
    return dtype


def fill(stream: IO[bytes], buffer: memoryview) -> int:
    """Read until the buffer is full or the stream ends; return how much there was."""
    done = 0
    while done < len(buffer):
        nb = stream.readinto(buffer[done:])     # type: ignore[attr-defined]
        if not nb:
            break
        done += nb
    return done


def read_record(stream: IO[bytes]) -> Optional[npt.NDArray[Any]]:
    """Read one record of mv_format=npys from a file or pipe; return None at its end.

    Raises:
        ValueError: it ends in mid-record, or is something else.
    """
    start = bytearray(10)
    nb = fill(stream, memoryview(start))
    if not nb:
        return None
    if nb < 10 or start[:8] != b"\x93NUMPY\x01\x00":
        raise ValueError("this is no .npy record")
    header = bytearray(struct.unpack("<H", start[8:])[0])
    if fill(stream, memoryview(header)) < len(header):
        raise ValueError("the stream ends in mid-record")
    record = np.empty((), _dtype(bytes(header)))
    data = record.reshape(1).view(np.uint8).data
    if fill(stream, data) < len(data):
        raise ValueError("the stream ends in mid-record")
    return record


def read_fields(path: str) -> Iterator[Field]:
    """Read the fields of a file that gpume=mv_file=NAME.npys has written, one after the other."""
    with open(path, "rb") as f:
        while True:
            record = read_record(f)
            if record is None:
                return
            yield Field(record)


def shape_of(field: Field) -> Tuple[int, int]:
    """Return how many blocks of side `block` are in a column and in a row."""
    return -(-field.height // field.block), -(-field.width // field.block)
