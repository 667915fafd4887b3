# SPDX-License-Identifier: LGPL-2.1-or-later
"""Steady videos and frames: the filter mvstab."""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Optional, Sequence

from ._arguments import Device, Size, Time, Value, filter_text, size_filters
from ._arrays import Frame, Result, _documented as _documented_class, _each, _Filter
from ._convert import _documented, _process
from ._process import Input, PathLike, Progress


@_documented("mvstab")
def stabilize(input: Input, output: PathLike, *, device: Device = "auto", start: Optional[Time] = None,
              duration: Optional[Time] = None, size: Optional[Size] = None, threads: Optional[int] = None,
              codec: Optional[str] = None, quality: int = 2, audio: bool = True, overwrite: bool = True,
              input_options: Sequence[str] = (), output_options: Sequence[str] = (),
              progress: Optional[Progress] = None, strict: bool = False, **options: Value) -> None:
    """Take the shake of the camera out of a video (filter mvstab).

    Args:
COMMON
    """
    _process(input, output, [*size_filters(size, input_options), filter_text("mvstab", **options)], device, start,
             duration, threads, codec, quality, audio, overwrite, input_options, output_options, progress, strict)


@_documented_class("mvstab")
class Stabilizer(_Filter):
    """Takes the shake out of frames that are arrays (filter mvstab). Used as Denoiser.

    A frame comes out when 1.5 times `smoothing` frames after it, 45 by default, have gone in.
    """

    def __init__(self, width: int, height: int, pix_fmt: str = "rgb24", *, device: Device = "auto",
                 threads: Optional[int] = None, **options: Value) -> None:
        """Start it.

        Args:
            ARGUMENTS
        """
        super().__init__((width, height), pix_fmt, device, threads, [filter_text("mvstab", **options)])


def stabilized(frames: Iterable[Frame], *, pix_fmt: Optional[str] = None, **options: Any) -> Iterator[Result]:
    """Yield the frames of an iterable without shake. Arguments are those of denoised() and Stabilizer."""
    return _each(Stabilizer, frames, pix_fmt, options)
