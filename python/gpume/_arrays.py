# SPDX-License-Identifier: LGPL-2.1-or-later
"""Frames that are arrays: into an ffmpeg by a pipe and, changed by a filter, out of it by another one."""

from __future__ import annotations

import collections
import itertools
import math
import threading
from fractions import Fraction
from numbers import Rational
from typing import (IO, TYPE_CHECKING, Any, Callable, Deque, Dict, Iterable, Iterator, List, NamedTuple, Optional,
                    Sequence, Tuple, Type, Union)

import numpy as np
import numpy.typing as npt

from ._arguments import (Device, Value, check_device, device_arguments, documented, filter_text, planes_option,
                         search_text, size_of, thread_options)
from ._field import fill
from ._process import Closing, Error, Process, enlarge

if TYPE_CHECKING:
    _Base = np.ndarray[Any, Any]
else:
    _Base = np.ndarray


class Picture(_Base):
    """An array with the samples of a frame, and its timestamp.

    Attributes:
        pts: what was given for the frame, or lies between what was given for its neighbours; None if nothing was.
    """

    pts: Any = None

    def __array_finalize__(self, other: Any) -> None:
        self.pts = getattr(other, "pts", None)


#: An array, or the planes in a list.
Frame = Union[npt.ArrayLike, Sequence[npt.ArrayLike]]
Result = Union[Picture, List[Picture]]


class Format(NamedTuple):
    """How samples lie in arrays."""

    dtype: Any
    components: int                     #: of a packed sample; 1: there are planes
    planes: Tuple[Tuple[int, int], ...]     #: how many times fewer columns and rows each plane has

    def shapes(self, width: int, height: int) -> List[Tuple[int, ...]]:
        """Return the shapes of the planes."""
        more = () if self.components == 1 else (self.components,)
        return [(height // y, width // x, *more) for x, y in self.planes]


#: Formats by their names in ffmpeg.
FORMATS: Dict[str, Format] = {}
for _suffix, _dtype in (("", np.uint8), ("10le", np.uint16), ("12le", np.uint16), ("16le", np.uint16)):
    FORMATS["gray" + _suffix] = Format(_dtype, 1, ((1, 1),))
    for _name, _chroma in (("yuv420p", (2, 2)), ("yuv422p", (2, 1)), ("yuv444p", (1, 1))):
        FORMATS[_name + _suffix] = Format(_dtype, 1, ((1, 1), _chroma, _chroma))
for _name, _dtype in (("rgb24", np.uint8), ("bgr24", np.uint8), ("rgb48le", np.uint16), ("bgr48le", np.uint16)):
    FORMATS[_name] = Format(_dtype, 3, ((1, 1),))


class Layout(NamedTuple):
    """How a frame of a size lies in arrays."""

    format: Format
    planes: List[Tuple[int, ...]]
    shapes: List[Tuple[int, ...]]   #: that a frame in one array can have
    nb_bytes: int

    @staticmethod
    def of(pix_fmt: str, size: Tuple[int, int]) -> "Layout":
        """Return the layout of a format. Raises ValueError if there is no such one, or sides must be even."""
        if not isinstance(pix_fmt, str) or pix_fmt not in FORMATS:
            raise ValueError(f"pix_fmt is {pix_fmt!r}; it must be one of {', '.join(FORMATS)}")
        format, (width, height) = FORMATS[pix_fmt], size
        if any(width % x or height % y for x, y in format.planes):
            raise ValueError(f"the size is {width}x{height}; sides of {pix_fmt} must be even")
        planes = format.shapes(width, height)
        nb = sum(map(math.prod, planes))
        shapes: List[Tuple[int, ...]] = [planes[0]] if len(planes) == 1 else [(nb // width, width)]
        if len(planes) == 3 and planes[0] == planes[1]:
            shapes.append((3, height, width))
        return Layout(format, planes, shapes, nb * np.dtype(format.dtype).itemsize)


def rate_of(name: str, value: Any) -> Fraction:
    """Return the value of an argument that is a frame rate. Raises ValueError for another value."""
    try:
        rate = Fraction(str(value))
    except (ValueError, ZeroDivisionError):
        rate = Fraction(0)
    if rate <= 0:
        raise ValueError(f"{name} is {value!r}; it must be a number above 0, such as 30 or '30000/1001'")
    return rate


class Stream(Closing):
    """An ffmpeg that takes frames which are arrays. It ends when nothing refers to it any more."""

    def __init__(self, size: Tuple[int, int], pix_fmt: str, fps: Fraction, device: Device,
                 arguments: Sequence[str]) -> None:
        """Start it. arguments: what follows the input."""
        width, height = size_of(size)
        self._format, self._planes, self._shapes, self._nb_bytes = Layout.of(pix_fmt, (width, height))
        self._process = Process(
            [*device_arguments(device), "-f", "rawvideo", "-pixel_format", pix_fmt, "-video_size", f"{width}x{height}",
             "-framerate", str(fps), "-probesize", "32", "-analyzeduration", "0", "-threads", "1", "-i", "pipe:0",
             *arguments], stdin=True, gpu=check_device(device) != "cpu")
        enlarge(self._process.stdin)
        enlarge(self._process.stdout)
        self._is_open = True
        self._lock = threading.Lock()       # threads may push, each whole frames

    def _arrays(self, frame: Frame) -> List[npt.NDArray[Any]]:
        """Return the planes of a frame, or the frame. Raises ValueError if it has another shape or type."""
        in_planes = isinstance(frame, (list, tuple)) and len(frame) == len(self._planes) > 1
        planes: Any = frame if in_planes else [frame]
        try:
            arrays = [np.asarray(plane) for plane in planes]
        except ValueError:
            raise ValueError("the frame is a list of lists of several lengths; it must be an array, or a list of the "
                             "planes of a format that has them") from None
        shapes = [array.shape for array in arrays]
        if any(array.dtype != self._format.dtype for array in arrays) or (
                shapes != self._planes if in_planes else shapes[0] not in self._shapes):
            came = ", ".join(f"{array.dtype} {array.shape}" for array in arrays)
            wanted = " or ".join(map(str, self._shapes))
            wanted += f", or a list of arrays {self._planes}" if len(self._planes) > 1 else ""
            raise ValueError(f"the frame is {came}; it must be {np.dtype(self._format.dtype)} {wanted}")
        return arrays

    def _check_open(self) -> None:
        if not self._is_open:
            raise ValueError(f"the {type(self).__name__} is closed")

    def _write(self, arrays: List[npt.NDArray[Any]]) -> None:
        self._check_open()
        try:
            for array in arrays:
                data = np.ascontiguousarray(array).data.cast("B")
                while data:
                    data = data[self._process.stdin.write(data):]
        except OSError:
            self._check_open()      # another thread has closed it
            error = self._process.error()
            self.close()
            raise error from None
        except BaseException:       # half a frame was written
            self._check_open()
            self.close()
            raise

    def close(self) -> None:
        """End it. May be called again."""
        self._is_open = False
        self._process.close()


def _collect(stdout: IO[bytes], nb_bytes: int, frames: Deque[npt.NDArray[np.uint8]]) -> None:
    """Read frames until there are no more, so that ffmpeg never waits for a reader."""
    with stdout:
        while True:
            frame = np.empty(nb_bytes, np.uint8)
            if fill(stdout, frame.data) < nb_bytes:
                break
            frames.append(frame)


#: Frames into a pipe at once: an encoder with several threads holds a frame in each.
RAW_OUTPUT = ("-c:v", "rawvideo", "-threads", "1", "-flush_packets", "1", "-f", "rawvideo", "pipe:1")
#: Formats with packed samples, and those that filters get instead.
_PACKED = {"rgb24": "gbrp", "bgr24": "gbrp", "rgb48le": "gbrp16le", "bgr48le": "gbrp16le"}


class _Filter(Stream):
    """A filter whose output comes back as arrays."""

    def __init__(self, size: Tuple[int, int], pix_fmt: str, device: Device, threads: Optional[int],
                 filters: Sequence[str], ratio: Fraction = Fraction(1), fps: Fraction = Fraction(25)) -> None:
        """Start it. ratio: frames that come out for each one that goes in; fps: frames per second that go in."""
        # packed samples are what no filter takes
        packed = _PACKED.get(str(pix_fmt))
        around = [f"format={packed}"] if packed else []
        super().__init__(size, pix_fmt, fps, device, [
            *thread_options("-filter_threads", threads), "-vf", ",".join([*around, *filters, f"format={pix_fmt}"]),
            "-fps_mode", "passthrough", *RAW_OUTPUT])
        self._frames: Deque[npt.NDArray[np.uint8]] = collections.deque()
        # the thread closes the pipe, in which it may be reading
        self._reader = threading.Thread(target=_collect, name="gpume reader", daemon=True,
                                        args=(self._process.take_stdout(), self._nb_bytes, self._frames))
        self._reader.start()
        self._ratio, self._nb_out = ratio, 0
        self._pts: Dict[int, Any] = {}      # of the last frames that went in, by their numbers
        self._nb_in = 0
        self._like: Optional[Tuple[int, ...]] = None    # the shape of a frame in one array; None: a list of planes

    def push(self, frame: Frame, pts: Any = None) -> List[Result]:
        """Give the next frame.

        It waits only until ffmpeg has taken the frame, which may be a few frames behind.

        Args:
            frame: an array or, of formats with planes, also a list of the planes.
            pts: its time: a number in any unit, a datetime or, where no frames are added, anything. Frames that come
                out have it as their attribute pts.

        Returns:
            The frames that are ready, in order, each of the form of this one: none, one, or several.

        Raises:
            Error: ffmpeg failed.
            TypeError: nothing lies between such pts.
            ValueError: the frame has another shape or type, or it is closed.
        """
        arrays = self._arrays(frame)
        if self._ratio.numerator > 1:
            pts = pts.item() if isinstance(pts, np.number) else pts     # NumPy's integers overflow
            try:
                _between(pts, pts, Fraction(1, 2))
            except TypeError:
                raise TypeError(f"pts is {pts!r}; it must be a number or a time, from which those of frames between "
                                "two follow") from None
        with self._lock:
            self._write(arrays)
            self._like = arrays[0].shape if len(arrays) == 1 else None
            if pts is not None:
                self._pts[self._nb_in] = pts
            self._nb_in += 1
            return self._ready()

    def flush(self) -> List[Result]:
        """Say that no more frames follow, and return the frames that are left. Then it is closed."""
        with self._lock:
            return self._flush() if self._is_open else []

    def _flush(self) -> List[Result]:
        try:
            self._process.stdin.close()
            self._reader.join()
            self._check_open()
            if self._nb_in:
                self._process.check()
            return self._ready()
        finally:
            self.close()

    def close(self) -> None:
        """End it. May be called again, also while another thread pushes. Frames that are left are lost."""
        self._is_open = False
        self._process.kill()
        self._reader.join()
        super().close()

    def _ready(self) -> List[Result]:
        ready: List[Result] = []
        while self._frames:
            data = self._frames.popleft().view(self._format.dtype).view(Picture)
            pts = self._pts_of(self._nb_out)
            self._nb_out += 1
            if self._like is not None:
                planes = [data.reshape(self._like)]
            else:
                ends = np.cumsum([math.prod(shape) for shape in self._planes])[:-1]
                planes = [part.reshape(shape) for part, shape in zip(np.split(data, ends), self._planes)]
            for plane in planes:
                plane.pts = pts
            ready.append(planes[0] if self._like is not None else planes)
        return ready

    def _pts_of(self, number: int) -> Any:
        """Return the time of a frame that comes out, which lies between those of two that went in."""
        at = number / self._ratio
        before, part = int(at), at - int(at)
        for old in [n for n in self._pts if n < before - 1]:
            del self._pts[old]
        one, two = self._pts.get(before), self._pts.get(before + 1)
        if part and one is not None and two is None:        # behind the last one: as far as before it
            earlier = self._pts.get(before - 1)
            two = one if earlier is None else one + (one - earlier)
        return _between(one, two, part)


def _between(one: Any, two: Any, part: Fraction) -> Any:
    """Return a time between two others. Integers and fractions are exact, so that nanoseconds are."""
    if not part or one is None:
        return one
    if not isinstance(one, Rational):
        return one + (two - one) * float(part)
    exact = Fraction(one) + (two - one) * part
    return exact if isinstance(one, Fraction) else int(exact) if exact.denominator == 1 else float(exact)


_ARGUMENTS = """
            width, height: of the frames.
            pix_fmt: "gray" (uint8), "gray10le", "gray12le", "gray16le" (uint16): arrays (height, width); "rgb24",
                "bgr24", "rgb48le", "bgr48le": (height, width, 3); "yuv420p": (height * 3 / 2, width), "yuv422p":
                (height * 2, width), "yuv444p": (3, height, width), and these with "10le", "12le", "16le", or the
                three planes in a list.
            device, threads: as interpolate() takes them.
            options: those of the filter, by their names. planes of mvdenoise is a list: [0] is luma, or red.

        Raises:
            Error: ffmpeg cannot be run.
            TypeError, ValueError: an argument is not valid.
        """


def _documented(filter_name: str, *without: str) -> Callable[[Type[_Filter]], Type[_Filter]]:
    def complete(kind: Type[_Filter]) -> Type[_Filter]:
        text = kind.__init__.__doc__ or ""
        kind.__init__.__doc__ = text.replace("ARGUMENTS\n        ", _ARGUMENTS.lstrip("\n"))
        documented(filter_name, *without)(kind.__init__)
        return kind
    return complete


@_documented("mvdenoise")
class Denoiser(_Filter):
    """Takes the noise out of frames that are arrays, along motion vectors (filter mvdenoise).

    with Denoiser(1280, 720, "rgb24", strength=1.2) as d:
        for frame in camera:
            for clean in d.push(frame):
                ...
        for clean in d.flush():
            ...

    A frame comes out when ffmpeg has worked on `passes` + 1 times `radius` frames after it, by default 6. Where several
    threads search, up to 15 more small frames are under way, or one of 1280x720: threads=1 has the least delay.
    """

    def __init__(self, width: int, height: int, pix_fmt: str = "rgb24", *, device: Device = "auto",
                 threads: Optional[int] = None, **options: Value) -> None:
        """Start it.

        Args:
            ARGUMENTS
        """
        super().__init__((width, height), pix_fmt, device, threads, [
            filter_text("mvdenoise", **planes_option(options, pix_fmt))])


@_documented("mvfps", "fps")
class Interpolator(_Filter):
    """Changes the frame rate of frames that are arrays, along motion vectors (filter mvfps). Used as Denoiser."""

    def __init__(self, width: int, height: int, pix_fmt: str = "rgb24", fps: Union[float, str] = "2x", *,
                 source_fps: Union[float, str] = 30, device: Device = "auto", threads: Optional[int] = None,
                 **options: Value) -> None:
        """Start it.

        Args:
            fps: frames per second that come out: a number, "30000/1001", or a factor, "2x".
            source_fps: frames per second that go in.
            ARGUMENTS
        """
        source, text = rate_of("source_fps", source_fps), str(fps)
        ratio = rate_of("fps", text[:-1]) if text.endswith("x") else rate_of("fps", fps) / source
        super().__init__((width, height), pix_fmt, device, threads, [filter_text("mvfps", fps=fps, **options)], ratio,
                         source)


@_documented("mvdeint", "parity")
class Deinterlacer(_Filter):
    """Deinterlaces frames that are arrays, along motion vectors (filter mvdeint). Used as Denoiser."""

    def __init__(self, width: int, height: int, pix_fmt: str = "yuv420p", *, tff: bool, device: Device = "auto",
                 threads: Optional[int] = None, **options: Value) -> None:
        """Start it.

        Args:
            tff: whether the top field of a frame comes first.
            ARGUMENTS
        """
        if not isinstance(tff, (bool, np.bool_)) and tff not in (0, 1):
            raise ValueError(f"tff is {tff!r}; it must be True or False")
        single = options.get("mode") in ("send_frame", "0", 0)
        super().__init__((width, height), pix_fmt, device, threads,
                         [filter_text("mvdeint", parity="tff" if tff else "bff", **options)],
                         Fraction(1 if single else 2))


@_documented("mvstab")
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


@_documented("mvview")
class Viewer(_Filter):
    """Draws the motion of frames that are arrays (filter mvview). Used as Denoiser."""

    def __init__(self, width: int, height: int, pix_fmt: str = "rgb24", *, device: Device = "auto",
                 threads: Optional[int] = None, search: Optional[Dict[str, Value]] = None, **options: Value) -> None:
        """Start it.

        Args:
            search: options of the filter gpume, as vectors() takes them; by default those that the viewer has.
            ARGUMENTS
        """
        searches = [] if search is None else [search_text(device, **search)]
        super().__init__((width, height), pix_fmt, device, threads, [*searches, filter_text("mvview", **options)])


def _size_of(frame: Frame, pix_fmt: Optional[str]) -> Tuple[int, int, str]:
    """Return width, height and format of a frame. pix_fmt: None: that of gray, or of red, green and blue."""
    in_planes = isinstance(frame, (list, tuple))
    array = np.asarray(frame[0] if in_planes else frame)    # type: ignore[index]
    if pix_fmt is None:
        names = ("gray16le", "rgb48le") if array.dtype == np.uint16 else ("gray", "rgb24")
        pix_fmt = names[array.ndim == 3]
    format, shape = FORMATS.get(str(pix_fmt)), array.shape
    if array.ndim < 2:
        raise ValueError(f"the frame is {array.dtype} {shape}; it must be an array of rows and columns")
    if format and format.components == array.ndim == 3 == shape[0] and shape[2] != 3:
        raise ValueError(f"the frame is {array.dtype} {shape}; it must be (rows, columns, 3): frame.transpose(1, 2, 0)")
    if in_planes or format is None or len(format.planes) == 1:
        return shape[1], shape[0], pix_fmt
    if array.ndim == 3:
        return shape[2], shape[1], pix_fmt
    samples = format.planes[1][0] * format.planes[1][1]
    return shape[1], shape[0] * samples // (samples + 2), pix_fmt


def _each(kind: Callable[..., _Filter], frames: Iterable[Frame], pix_fmt: Optional[str],
          options: Dict[str, Any]) -> Iterator[Result]:
    iterator = iter(frames)
    for first in iterator:
        with kind(*_size_of(first, pix_fmt), **options) as stream:
            for frame in itertools.chain([first], iterator):
                yield from stream.push(frame)
            yield from stream.flush()


def denoised(frames: Iterable[Frame], *, pix_fmt: Optional[str] = None, **options: Any) -> Iterator[Result]:
    """Yield the frames of an iterable, denoised.

    Args:
        frames: arrays as Denoiser takes them, whose size is the first one's.
        pix_fmt: their format; by default gray for arrays (rows, columns), else "rgb24", or "rgb48le" for uint16.
        options: what else Denoiser takes.

    Raises:
        Error, TypeError, ValueError: as Denoiser raises them, when the first frame is wanted.
    """
    return _each(Denoiser, frames, pix_fmt, options)


def interpolated(frames: Iterable[Frame], fps: Union[float, str] = "2x", *, pix_fmt: Optional[str] = None,
                 **options: Any) -> Iterator[Result]:
    """Yield the frames of an iterable at another frame rate. Arguments are those of denoised() and Interpolator."""
    return _each(Interpolator, frames, pix_fmt, {"fps": fps, **options})


def deinterlaced(frames: Iterable[Frame], *, tff: bool, pix_fmt: Optional[str] = None,
                 **options: Any) -> Iterator[Result]:
    """Yield frames made of the fields of an iterable's. Arguments are those of denoised() and Deinterlacer."""
    return _each(Deinterlacer, frames, pix_fmt, {"tff": tff, **options})


def stabilized(frames: Iterable[Frame], *, pix_fmt: Optional[str] = None, **options: Any) -> Iterator[Result]:
    """Yield the frames of an iterable without shake. Arguments are those of denoised() and Stabilizer."""
    return _each(Stabilizer, frames, pix_fmt, options)


def drawn(frames: Iterable[Frame], *, pix_fmt: Optional[str] = None, **options: Any) -> Iterator[Result]:
    """Yield the frames of an iterable with their motion. Arguments are those of denoised() and Viewer."""
    return _each(Viewer, frames, pix_fmt, options)
