# SPDX-License-Identifier: LGPL-2.1-or-later
"""Motion vectors of files and of arrays."""

from __future__ import annotations

import collections
import io
import os
import select
import weakref
from typing import Any, Deque, Dict, Iterator, List, Optional, Sequence, Tuple, Union, overload

import numpy as np
import numpy.typing as npt

from ._arguments import (Device, Size, Time, Value, documented, input_arguments, picture_size, search_text,
                         size_filters, thread_options)
from ._arrays import RAW_OUTPUT, Frame, Layout, Stream, rate_of
from ._field import Field, read_record
from ._process import Closing, Error, Input, Process, enlarge, probe

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


class Vectors(Iterator[Field], Closing):
    """The fields of a file, one after the other, as vectors() returns them.

    It can be closed at any time, and is a context manager. It closes itself at its end, after an error and
    when nothing refers to it any more.
    """

    def __init__(self, arguments: Sequence[str], strict: bool = False, source: object = None) -> None:
        self._records = _Records(Process(arguments, source=source), strict)

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


class Pictures(Iterator[Tuple[npt.NDArray[Any], List[Field]]], Closing):
    """The pictures of a file, each with its fields, as vectors() with pictures returns them. Used as Vectors."""

    def __init__(self, arguments: Sequence[str], layout: Layout, records: Tuple[int, int], strict: bool,
                 source: object) -> None:
        """Start it. records: both ends of a pipe, through which fields come."""
        self._layout, self._strict, self._number, self._done = layout, strict, 0, False
        self._fields: Deque[Field] = collections.deque()
        self._rest = b""        # the beginning of the next record
        self._pipe: Optional[io.FileIO] = io.FileIO(records[0], "r")
        self._finalizer = weakref.finalize(self, self._pipe.close)
        try:
            self._process: Process = Process(arguments, pass_fds=(records[1],), source=source)
        except BaseException:
            self._pipe.close()
            raise
        finally:
            os.close(records[1])
        enlarge(self._pipe)
        enlarge(self._process.stdout)

    def _wait(self, others: Sequence[int], forever: bool) -> bool:
        """Take records that are there. Return whether one of the other pipes has data, or the end."""
        poll = select.poll()
        for number in others:
            poll.register(number, select.POLLIN)
        if self._pipe is not None:
            poll.register(self._pipe.fileno(), select.POLLIN)
        ready = [number for number, _ in poll.poll(None if forever else 0)]
        if self._pipe is not None and self._pipe.fileno() in ready:
            self._take(self._pipe)
        return any(number in others for number in ready) if others else bool(ready)

    def _take(self, pipe: io.FileIO) -> None:
        data = pipe.read(1 << 20)
        if not data:
            pipe.close()
            self._pipe = None
        stream, at = io.BytesIO(self._rest + (data or b"")), 0
        try:
            while True:
                record = read_record(stream)
                if record is None:
                    break
                at = stream.tell()
                self._fields.append(Field(record))
        except ValueError:      # the rest of the record is still to come
            pass
        self._rest = stream.getvalue()[at:]

    def __next__(self) -> Tuple[npt.NDArray[Any], List[Field]]:
        if self._done:
            raise StopIteration
        data, done, out = np.empty(self._layout.nb_bytes, np.uint8), 0, self._process.stdout.fileno()
        try:
            while done < len(data):
                if not self._wait([out], True):
                    continue
                nb = os.readv(out, [data.data[done:]])
                if not nb:
                    break
                done += nb
            if done < len(data):
                self._process.check(self._strict)
                self.close()
                raise StopIteration
            # a picture's fields were written before it
            while self._pipe is not None and self._wait([], False):
                pass
        except BaseException:
            self.close()
            raise
        self._number += 1
        fields = []
        while self._fields and self._fields[0].number <= self._number:
            fields.append(self._fields.popleft())
        return data.view(self._layout.format.dtype).reshape(self._layout.shapes[-1]), fields

    def close(self) -> None:
        """End the search. May be called again."""
        self._done = True
        self._process.close()
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None


#: Codecs whose decoders in FFmpeg export motion vectors.
CODECS = ("h264", "mpeg1video", "mpeg2video", "mpeg4", "h263", "flv1", "msmpeg4v1", "msmpeg4v2", "msmpeg4v3", "wmv1",
          "wmv2", "snow")


def vectors_command(input: Input, files: str, device: Device, start: Optional[Time], duration: Optional[Time],
                    size: Optional[Size], threads: Optional[int], input_options: Sequence[str], strict: bool,
                    options: Dict[str, Value], end: Sequence[str] = ("-f", "null", "-"), formats: Sequence[str] = ()
                    ) -> List[str]:
    """Return the arguments of a search of a file, whose times are the file's.

    Args:
        files: options of the filter's files.
        end: how the pictures are written.
        formats: filters around the search that choose formats.
    """
    search, sizes = search_text(device, files, **options), size_filters(size, input_options)
    return ["-copyts", *input_arguments(input, start, duration, input_options, bool(sizes), strict),
            *thread_options("-filter_threads", threads), "-map", "0:v:0", "-vf",
            ",".join([*sizes, *formats[:1], search, *formats[1:]]), "-fps_mode", "passthrough", *end]


def _check_codec(input: Input, input_options: Sequence[str]) -> None:
    """Raise Error if the decoder of an input exports no vectors."""
    codec = probe(input, "stream=codec_name", input_options).get("codec_name", "none")
    if codec not in CODECS:
        raise Error(f"the codec is {codec}, whose decoder exports no vectors; source='codec' can read those of "
                    f"{', '.join(CODECS)}. Without source, vectors are searched")


@overload
def vectors(input: Input, *, device: Device = ..., start: Optional[Time] = ..., duration: Optional[Time] = ...,
            size: Optional[Size] = ..., threads: Optional[int] = ..., input_options: Sequence[str] = ...,
            strict: bool = ..., source: str = ..., pictures: None = ..., **options: Value) -> Vectors: ...


@overload
def vectors(input: Input, *, device: Device = ..., start: Optional[Time] = ..., duration: Optional[Time] = ...,
            size: Optional[Size] = ..., threads: Optional[int] = ..., input_options: Sequence[str] = ...,
            strict: bool = ..., source: str = ..., pictures: str, **options: Value) -> Pictures: ...


@documented("gpume")
def vectors(input: Input, *, device: Device = "auto", start: Optional[Time] = None,
            duration: Optional[Time] = None, size: Optional[Size] = None, threads: Optional[int] = None,
            input_options: Sequence[str] = (), strict: bool = False, source: str = "search",
            pictures: Optional[str] = None, **options: Value) -> Union[Vectors, Pictures]:
    """Search the motion vectors of a video file, frame by frame.

    Frames without a reference, as the first one with dir="past", have no field. Of each other one come the
    fields of the past, nearest first, then those of the future.

    Args:
        input: a file's name, or whatever else ffmpeg can open. Or the file itself, its bytes or a file object, of a
            format that a pipe can pass.
        device: "auto" for a GPU if one can be used, else the CPU; "cpu"; or the index of a GPU.
        start: where to begin, from the beginning of the file on, in seconds or as ffmpeg takes it ("1:02:03.5").
            The times of fields remain those of the file.
        duration: how much of it, likewise, above 0.
        size: (width, height) or "WIDTHxHEIGHT", to which pictures are scaled before the search; by default the
            first one's.
        threads: of the search; by default as many as there are processors.
        input_options: options of ffmpeg for the input, for example ["-f", "lavfi"].
        strict: damage of the input is an error. By default a warning, FFmpegWarning, comes at its end.
        source: "search", or "codec" for the vectors that the video was encoded with, which the decoders of H.264,
            MPEG-1, MPEG-2, MPEG-4 and some older codecs export: a field at distance -1 for the past and one at 1 for
            the future, however far the reference is. Each frame has at least one, whose frame_type is set.
        pictures: a format as Denoiser takes it, such as "rgb24": each frame comes with its fields, in a pair. Not on
            Windows.
        options: those of the filter gpume, by their names, but not with source="codec". algo is "hme" by default,
            which finds the true motion in quarter samples.

    Returns:
        An iterator of Field or, with pictures, of pairs of an array and a list of Field. It can be closed.

    Raises:
        Error: ffmpeg failed, or the input has no frame in that part; also later, while it is read.
        OSError: the input cannot be read: FileNotFoundError, PermissionError, IsADirectoryError.
        TypeError, ValueError: an argument is not valid. For options it is OptionError, which is also an Error.
    """
    files = RECORDS
    if source not in ("search", "codec"):
        raise ValueError(f"source is {source!r}; it must be 'search' or 'codec'")
    layout, own = None, ""
    if source == "codec" or pictures is not None:       # before the file is probed
        search_text(device, **options)
        input_arguments(input, start, duration, input_options)
    if pictures is not None:
        if os.name == "nt":
            raise ValueError("pictures cannot be had on Windows, where a process has one pipe")
        layout = Layout.of(pictures, picture_size(input, size, input_options))
        # else the filters before the search would convert pictures
        own = probe(input, "stream=pix_fmt", input_options)["pix_fmt"]
    if source == "codec":
        if options or size is not None:
            raise TypeError(f"'{[*options, 'size'][0]}' is not valid with source='codec'")
        _check_codec(input, input_options)
        # a decoder with several threads exports the vectors of frames on which they still work: others in each run
        input_options = [*input_options, "-threads", "1", "-flags2", "+export_mvs"]
        # frames come with the decoder's vectors, and a search that costs next to nothing
        options, device, files = {"algo": "ds", "range": 1, "block": 128}, "cpu", "mv_file=-:mv_format=codec"
    if layout is None:
        return Vectors(vectors_command(input, files, device, start, duration, size, threads, input_options, strict,
                                       options), strict, input)
    ends = os.pipe()
    try:
        command = vectors_command(input, files.replace("=-", f"=/dev/fd/{ends[1]}", 1), device, start, duration, size,
                                  threads, input_options, strict, options, RAW_OUTPUT,
                                  (f"format={own}", f"format={pictures}"))
    except BaseException:
        for end in ends:
            os.close(end)
        raise
    return Pictures(command, layout, ends, strict, input)


class Estimator(Stream):
    """Searches the vectors of frames that are arrays.

    with Estimator(1920, 1080, "gray", both=True) as e:
        for frame in frames:
            for field in e.push(frame):
                ...
        for field in e.flush():
            ...
    """

    @documented("gpume", "dir", "refs")
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
        arrays = self._arrays(frame)
        with self._lock:
            self._write(arrays)
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
