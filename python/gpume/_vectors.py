# SPDX-License-Identifier: LGPL-2.1-or-later
"""Motion vectors of files and of arrays."""

from __future__ import annotations

from types import TracebackType
from typing import Iterator, List, Optional, Sequence, Type

from ._arguments import (Device, Size, Time, Value, input_arguments, search_text, size_filters, thread_options)
from ._arrays import Frame, Stream, rate_of
from ._field import Field, read_record
from ._process import Error, PathLike, Process, enlarge

#: Records to standard output.
RECORDS = "mv_file=-:mv_format=npys"


class _Records:
    """The fields that an ffmpeg writes."""

    def __init__(self, process: Process, strict: bool = False) -> None:
        self._process = process
        self._strict = strict
        self._done = False
        enlarge(process.stdout)

    def read(self) -> Optional[Field]:
        try:
            record = read_record(self._process.stdout)
        except ValueError as e:
            raise self._process.error(f"ffmpeg failed: {e}") from None
        if record is None:
            self._process.check(self._strict)
            self.close()
            return None
        return Field(record)

    def close(self) -> None:
        self._done = True
        self._process.close()


class Vectors(Iterator[Field]):
    """The fields of a file, one after the other, as vectors() returns them.

    It can be closed at any time, and is a context manager. It closes itself at its end, after an error and
    when nothing refers to it any more.
    """

    def __init__(self, arguments: Sequence[str], strict: bool = False) -> None:
        self._records = _Records(Process(arguments), strict)

    def __iter__(self) -> "Vectors":
        return self

    def __next__(self) -> Field:
        if self._records._done:
            raise StopIteration
        try:
            field = self._records.read()
        except BaseException:
            self.close()
            raise
        if field is None:
            raise StopIteration
        return field

    def close(self) -> None:
        """End the search. May be called again."""
        self._records.close()

    def __enter__(self) -> "Vectors":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()


def vectors_command(input: PathLike, files: str, device: Device, start: Optional[Time], duration: Optional[Time],
                    size: Optional[Size], threads: Optional[int], input_options: Sequence[str], strict: bool,
                    options: "dict[str, Value]") -> List[str]:
    """Return the arguments of a search of a file, whose times are the file's. files: options of the filter's files."""
    search, sizes = search_text(device, files, **options), size_filters(size, input_options)
    return ["-copyts", *input_arguments(input, start, duration, input_options, bool(sizes), strict),
            *thread_options("-filter_threads", threads), "-map", "0:v:0", "-vf", ",".join([*sizes, search]),
            "-fps_mode", "passthrough", "-f", "null", "-"]


def vectors(input: PathLike, *, device: Device = "auto", start: Optional[Time] = None,
            duration: Optional[Time] = None, size: Optional[Size] = None, threads: Optional[int] = None,
            input_options: Sequence[str] = (), strict: bool = False, **options: Value) -> Vectors:
    """Search the motion vectors of a video file, frame by frame.

    Frames without a reference, as the first one with dir="past", have no field. Of each other one come the
    fields of the past, nearest first, then those of the future.

    Args:
        input: a file, or whatever else ffmpeg can open.
        device: "auto" for a GPU if one can be used, else the CPU; "cpu"; or the index of a GPU.
        start: where to begin, from the beginning of the file on, in seconds or as ffmpeg takes it ("1:02:03.5").
            The times of fields remain those of the file.
        duration: how much of it, likewise, above 0.
        size: (width, height) or "WIDTHxHEIGHT", to which pictures are scaled before the search; by default the
            first one's.
        threads: of the search; by default as many as there are processors.
        input_options: options of ffmpeg for the input, for example ["-f", "lavfi"].
        strict: damage of the input is an error. By default a warning, FFmpegWarning, comes at its end.
        options: those of the filter gpume, by their names: dir="both", refs=2, block=16, range=64, tree=True ...
            algo is "hme" by default, which finds the true motion in quarter samples.

    Returns:
        An iterator of Field, which can be closed.

    Raises:
        Error: ffmpeg failed, or the input has no frame in that part; also later, while it is read.
        OSError: the input cannot be read: FileNotFoundError, PermissionError, IsADirectoryError.
        TypeError, ValueError: an argument is not valid. For options it is OptionError, which is also an Error.
    """
    return Vectors(vectors_command(input, RECORDS, device, start, duration, size, threads, input_options, strict,
                                   options), strict)


class Estimator(Stream):
    """Searches the vectors of frames that are arrays.

    with Estimator(1920, 1080, "gray", both=True) as e:
        for frame in frames:
            for field in e.push(frame):
                ...
        for field in e.flush():
            ...
    """

    def __init__(self, width: int, height: int, pix_fmt: str = "gray", *, both: bool = False, refs: int = 1,
                 device: Device = "auto", fps: float = 25, threads: Optional[int] = None, **options: Value) -> None:
        """Start a search.

        Args:
            width, height, pix_fmt: of the frames, as Denoiser takes them.
            both: also search the frames after each one, which delays its fields by refs frames.
            refs: how many frames on each side are searched, from 1 to 8.
            device: as vectors() takes it.
            fps: frames per second, from which pts_time follows.
            threads, options: as vectors() takes them.

        Raises:
            Error: ffmpeg cannot be run.
            TypeError, ValueError: an argument is not valid.
        """
        for key in ("dir", "async_depth"):
            if key in options:
                raise TypeError(f"'{key}' is not valid here; use both")
        # one frame at a time: its fields come before the next frame is wanted
        search = search_text(device, RECORDS, dir="both" if both else "past", refs=refs, async_depth=1, **options)
        super().__init__((width, height), pix_fmt, rate_of("fps", fps), "auto", [
            *thread_options("-filter_threads", threads), "-vf", search, "-fps_mode", "passthrough", "-f", "null", "-"])
        self._refs = int(refs)
        self._ahead = self._refs if both else 0
        self._nb = 0
        self._records = _Records(self._process)

    def push(self, frame: Frame) -> List[Field]:
        """Search the next frame.

        Returns:
            The fields that it completes: its own or, with both=True, those of the frame `refs` frames before.

        Raises:
            Error: ffmpeg failed.
            ValueError: the array is not of the estimator's shape and type, or it is closed.
        """
        self._write(self._arrays(frame))
        self._nb += 1
        return self._read(self._nb - 1 - self._ahead)

    def _read(self, number: int) -> List[Field]:
        """Read the fields of a frame, from 0 on, as many as it has by now."""
        wanted = min(number, self._refs) + min(self._nb - 1 - number, self._ahead) if number >= 0 else 0
        fields = []
        try:
            for _ in range(wanted):
                field = self._records.read()
                if field is None:
                    raise Error("ffmpeg has ended early", self._records._process.command)
                fields.append(field)
        except BaseException:
            self.close()
            raise
        return fields

    def flush(self) -> List[Field]:
        """Say that no more frames follow, and return the fields of those that have waited. Then it is closed."""
        fields: List[Field] = []
        if not self._is_open:
            return fields
        self._is_open = False
        self._process.stdin.close()
        for number in range(max(self._nb - self._ahead, 0), self._nb):
            fields += self._read(number)
        try:
            if self._nb and self._records.read() is not None:
                raise Error("ffmpeg has found more fields than expected", self._process.command)
        finally:
            self.close()
        return fields
