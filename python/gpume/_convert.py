# SPDX-License-Identifier: LGPL-2.1-or-later
"""From video file to video file, and figures of a file."""

from __future__ import annotations

import functools
import json
import math
import os
import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from ._arguments import (Device, Size, Time, Value, check_device, device_arguments, documented, filter_text,
                         input_arguments, picture_size, planes_option, search_text, size_filters, texts, thread_options)
from ._process import Input, Output, PathLike, Process, Progress, ffmpeg_exe, is_stream, run, write


class _Kind(NamedTuple):
    """What the ending of a file's name stands for."""

    muxer: str
    encoder: str = "mpeg4"
    keeps_16_bits: bool = False
    is_picture: bool = False
    has_sound: bool = True
    options: Tuple[str, ...] = ()       #: of the muxer
    formats: str = ""                   #: of samples, where the encoder does not know which ones the muxer takes


def _picture(encoder: str, keeps_16_bits: bool) -> _Kind:
    return _Kind("image2pipe", encoder, keeps_16_bits, True, False)


_Y4M = "|".join(["gray", "gray9", "gray10", "gray12", "gray16", "yuv411p"] + [
    f"yuv{sampling}p{bits}" for sampling in (420, 422, 444) for bits in ("", 9, 10, 12, 14, 16)])
_KINDS = {
    ".mkv": _Kind("matroska", "ffv1", True), ".mp4": _Kind("mp4", "h264"), ".m4v": _Kind("mp4", "h264"),
    ".mov": _Kind("mov", "h264"), ".avi": _Kind("avi"), ".nut": _Kind("nut"), ".ts": _Kind("mpegts"),
    ".mpg": _Kind("vob", "mpeg2video"),
    ".flv": _Kind("flv", "flv"), ".webm": _Kind("webm", "vp9"), ".gif": _Kind("gif", "gif", has_sound=False),
    ".y4m": _Kind("yuv4mpegpipe", "rawvideo", True, False, False, ("-strict", "-1"), _Y4M),
    ".png": _picture("png", True), ".jpg": _picture("mjpeg", False), ".jpeg": _picture("mjpeg", False),
    ".bmp": _picture("bmp", False), ".tif": _picture("tiff", True), ".tiff": _picture("tiff", True),
    ".ppm": _picture("ppm", True), ".pgm": _picture("pgm", True),
}


@functools.lru_cache(maxsize=None)
def _has_encoder(exe: str, name: str) -> bool:
    return run(["-h", "encoder=" + name]).startswith(f"Encoder {name} ".encode())


def _video_options(codec: str, is_chosen: bool, quality: int) -> List[str]:
    """Return the options of an encoder. The name h264 is that of the first free one that this ffmpeg has, or MPEG-4."""
    if not is_chosen and codec == "h264":
        codec = next((name for name in ("libopenh264", "libx264") if _has_encoder(ffmpeg_exe(), name)), "mpeg4")
    # about as good as MPEG-4 of this quality; players want 4:2:0
    quantiser = str(round(12 + 6 * math.log2(quality)))
    options = {"libopenh264": ["-b:v", "100M", "-qmin", quantiser, "-qmax", quantiser, "-pix_fmt", "yuv420p"],
               "libx264": ["-crf", quantiser, "-pix_fmt", "yuv420p"]}.get(codec, []) if not is_chosen else []
    if codec in ("mpeg4", "mjpeg", "mpeg2video", "flv"):
        options = ["-q:v", str(quality)]
    return ["-c:v", codec, *options]


class _Target:
    """An output file, and how ffmpeg writes it: as its name's ending says, unless codec and options say more."""

    def __init__(self, output: PathLike, codec: Optional[str], quality: int, options: Sequence[str]) -> None:
        self.path, self.options = output, texts("output_options", options)
        stem, suffix = os.path.splitext(os.path.basename(os.fspath(output)))
        is_named = any(option in options for option in ("-c:v", "-codec:v", "-vcodec"))
        self.is_chosen = codec is not None or is_named      #: whether the user has chosen the encoder
        kind = _KINDS.get(suffix.lower())
        if not kind and stem and not self.is_chosen and "-f" not in options and not os.path.isdir(output):
            raise ValueError(f"'{os.fspath(output)}' {f'ends in {suffix}' if suffix else 'has no ending'}; it must end "
                             f"in one of {', '.join(_KINDS)}, or codec must name an encoder")
        self.kind = kind or _Kind("")
        self.suffix = suffix
        if self.kind.is_picture and re.search(r"%0?\d*d", stem):
            raise ValueError(f"'{stem}{suffix}' stands for many files, and one is written; use ffmpeg_exe() for "
                             "pictures")
        if not 1 <= quality <= 31:
            raise ValueError(f"quality is {quality!r}; it must be from 1 (best) to 31")
        self._encoder = [] if is_named else _video_options(codec or self.kind.encoder, codec is not None, quality)

    def filters(self) -> List[str]:
        """Return the filters behind all others."""
        # 4:2:0 of these encoders has no odd sizes: OpenH264 would cut pictures without a word
        if any(name in self._encoder for name in ("libopenh264", "libx264")) and "yuv420p" in self._encoder:
            return ["pad=ceil(iw/2)*2:ceil(ih/2)*2"]
        return [f"format={self.kind.formats}"] if self.kind.formats else []

    def write(self, before: List[str], device: Device, overwrite: bool, progress: Optional[Progress],
              strict: bool, source: object = None) -> None:
        """Run ffmpeg with this output, whose options follow these arguments. source: as Process takes it."""
        muxer = ["-f", self.kind.muxer] if self.kind.muxer and "-f" not in self.options else []
        # writers that open the file again need its name
        file = Output(self.path, overwrite, not muxer or "-movflags" in self.options)
        # a second picture shows that there are too many
        most = ["-frames:v", "2"] if self.kind.is_picture else []
        write(file, [*device_arguments(device), *before, *self._encoder, *most, *self.kind.options, *self.options,
                     *muxer, *file.arguments()], progress, device != "cpu", strict, self.kind.is_picture, source)


def _process(input: Input, output: PathLike, filters: List[str], device: Device, start: Optional[Time],
             duration: Optional[Time], threads: Optional[int], codec: Optional[str], quality: int, audio: bool,
             overwrite: bool, input_options: Sequence[str], output_options: Sequence[str], progress: Optional[Progress],
             strict: bool) -> None:
    target = _Target(output, codec, quality, output_options)
    sound = ["-map", "0:a?", "-c:a", "copy"] if audio and target.kind.has_sound else []
    target.write([*input_arguments(input, start, duration, input_options, filters[0].startswith("scale"), strict),
                  *thread_options("-filter_threads", threads), "-map", "0:v:0", *sound,
                  "-vf", ",".join([*filters, *target.filters()])], device, overwrite, progress, strict, input)


_COMMON = """
        input: a file's name, its bytes, or a file object, of a format that a pipe can pass.
        output: a file's name. It appears when it is complete. Its ending says how it is written: .mkv lossless
            (FFV1), .y4m without compression, .png, .jpg, .bmp, .tif, .ppm or .pgm as one picture, .gif, .mp4 and .mov
            as H.264 if this ffmpeg can (an odd width or height gets one more column or row), others as MPEG-4
            (.avi ...), unless codec says more.
        device: where the motion is searched: "auto" for a GPU if one can be used, else the CPU; "cpu"; or the
            index of a GPU.
        start, duration: the part of the input, in seconds or as ffmpeg takes it ("1:02:03.5").
        size: (width, height) or "WIDTHxHEIGHT", to which pictures are scaled before anything else; by default the first
            one's.
        threads: of the filters; by default as many as there are processors.
        codec: an encoder of ffmpeg.
        quality: of MPEG-4, MPEG-2, JPEG and, by default, H.264, from 1 (best) to 31.
        audio: copy the sound.
        overwrite: False: it is an error, FileExistsError, if the output exists.
        input_options, output_options: options of ffmpeg.
        progress: is called with the time in seconds up to which the output is written.
        strict: damage of the input is an error. By default it is a warning, FFmpegWarning.
        options: those of the filter, by their names. planes of mvdenoise is a list: [0] is luma; of RGB 0, 1 and 2 are
            green, blue and red.

    Raises:
        Error: ffmpeg failed, or the input has no frame in that part.
        FileNotFoundError, FileExistsError, OSError: of the files.
        TypeError, ValueError: an argument is not valid. For options it is OptionError, which is also an Error.
    """


def _documented(filter_name: str, *without: str) -> Callable[[Any], Any]:
    """Return what completes a docstring by the common arguments that the function has, and the filter's options."""
    return lambda function: documented(filter_name, *without)(_with_common(function))


def _with_common(function: Any) -> Any:
    lines = _COMMON.lstrip("\n").splitlines(keepends=True)
    for name in ("device", "size"):
        if name not in function.__annotations__:
            lines = [line for line in lines if not line.startswith(f"        {name}: ")]
    function.__doc__ = function.__doc__.replace("COMMON\n", "".join(lines))
    return function


@_documented("mvfps", "fps")
def interpolate(input: Input, output: PathLike, fps: Union[float, str] = 60, *, device: Device = "auto",
                start: Optional[Time] = None, duration: Optional[Time] = None,
                size: Optional[Size] = None, threads: Optional[int] = None, codec: Optional[str] = None,
                quality: int = 2, audio: bool = True, overwrite: bool = True, input_options: Sequence[str] = (),
                output_options: Sequence[str] = (), progress: Optional[Progress] = None, strict: bool = False,
                **options: Value) -> None:
    """Convert the frame rate of a video by frames made along motion vectors (filter mvfps).

    Args:
        fps: frames per second: a number, "30000/1001", or a factor of the input's, "2x".
COMMON
    """
    _process(input, output, [*size_filters(size, input_options), filter_text("mvfps", fps=fps, **options)], device,
             start, duration, threads, codec, quality, audio, overwrite, input_options, output_options, progress,
             strict)


@_documented("mvdenoise")
def denoise(input: Input, output: PathLike, *, device: Device = "auto", start: Optional[Time] = None,
            duration: Optional[Time] = None, size: Optional[Size] = None, threads: Optional[int] = None,
            codec: Optional[str] = None, quality: int = 2, audio: bool = True, overwrite: bool = True,
            input_options: Sequence[str] = (), output_options: Sequence[str] = (),
            progress: Optional[Progress] = None, strict: bool = False, **options: Value) -> None:
    """Take the noise out of a video along motion vectors (filter mvdenoise).

    Args:
COMMON
    """
    filters = [*size_filters(size, input_options), filter_text("mvdenoise", **planes_option(options))]
    _process(input, output, filters, device, start, duration, threads, codec, quality, audio, overwrite, input_options,
             output_options, progress, strict)


@_documented("mvdeint")
def deinterlace(input: Input, output: PathLike, *, device: Device = "auto", start: Optional[Time] = None,
                duration: Optional[Time] = None, threads: Optional[int] = None, codec: Optional[str] = None,
                quality: int = 2, audio: bool = True, overwrite: bool = True, input_options: Sequence[str] = (),
                output_options: Sequence[str] = (), progress: Optional[Progress] = None, strict: bool = False,
                **options: Value) -> None:
    """Deinterlace a video along motion vectors (filter mvdeint).

    Args:
COMMON
    """
    _process(input, output, [filter_text("mvdeint", **options)], device, start, duration,
             threads, codec, quality, audio, overwrite, input_options, output_options, progress, strict)


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


@documented("mvstereo", "inputs", "output", "backend")
def disparity(left: PathLike, right: Optional[PathLike], output: PathLike, *, device: Device = "auto",
              start: Optional[Time] = None, duration: Optional[Time] = None, threads: Optional[int] = None,
              codec: Optional[str] = None, quality: int = 2, overwrite: bool = True, input_options: Sequence[str] = (),
              output_options: Sequence[str] = (), progress: Optional[Progress] = None, show: str = "disparity",
              strict: bool = False, **options: Value) -> None:
    """Find how far each point of the left view of a scene is to the left in the right one (filter mvstereo).

    Args:
        left, right: files of the views, rectified and of equal size. With right=None the frames of left have both,
            as the option layout says ("sbsl": side by side).
        output: the map of the left view. .mkv and .y4m, or .png of one pair, keep it exactly; .npy gets disparities as
            numpy.load() reads them: float32, (frames, rows, columns), in samples.
        show: the filter's option output: "disparity", "gray8", "color", "depth", "confidence" or "left+gray8"; for .npy
            "disparity" or, which is the same there, "float". The option file="maps.npy" also writes a .npy file.
        device, start, duration, threads, codec, quality, overwrite, input_options, output_options, progress, strict,
            options: as interpolate() takes them; input_options are those of both files.

    Raises:
        Error: ffmpeg failed, or an input has no frame in that part.
        FileNotFoundError, FileExistsError, OSError: of the files.
        ValueError: show has 16 bits or floats, which the output does not keep; or an argument is not valid.
    """
    is_array = os.fspath(output).lower().endswith(".npy")
    views = [left] if right is None else [left, right]
    if any(map(is_stream, views)):
        raise TypeError("left and right must be names of files")
    before = [argument for path in views
              for argument in input_arguments(path, start, duration, input_options, False, strict)]
    before += thread_options("-filter_complex_threads", threads)
    options = {"inputs": len(views), "backend": device if check_device(device) in ("auto", "cpu") else "cuda",
               **options, "output": show}
    graph = "".join(f"[{i}:v:0]" for i in range(len(views)))
    if is_array:
        if show not in ("disparity", "float") or "file" in options:
            raise ValueError(f"a file .npy gets disparities, not '{show}': write .mkv, or leave out show and file")
        filter_text("mvstereo", **options)      # raises before there is a file
        file = Output(output, overwrite, True)
        graph += filter_text("mvstereo", **options, file=file.name()) + "[out]"
        write(file, [*device_arguments(device), *before, "-filter_complex", graph, "-map", "[out]", "-f", "null", "-"],
              progress, device != "cpu", strict)
        return
    target = _Target(output, codec, quality, output_options)
    if show == "float":
        raise ValueError("no video file keeps 'float': write maps.npy, or set file='maps.npy' to write both")
    if show in ("disparity", "depth") and not (target.is_chosen or target.kind.keeps_16_bits):
        raise ValueError(f"a file '{target.suffix}' gets 8 bits, not the 16 bits of '{show}': write .mkv, .png or "
                         ".npy, or set show to 'gray8' or 'color'")
    filters = ",".join([filter_text("mvstereo", **options), *target.filters()])
    target.write([*before, "-filter_complex", f"{graph}{filters}[out]", "-map", "[out]"], device, overwrite, progress,
                 strict)


@_documented("mvview")
def draw(input: Input, output: PathLike, *, device: Device = "auto", start: Optional[Time] = None,
         duration: Optional[Time] = None, size: Optional[Size] = None, threads: Optional[int] = None,
         codec: Optional[str] = None, quality: int = 2, audio: bool = True, overwrite: bool = True,
         input_options: Sequence[str] = (), output_options: Sequence[str] = (),
         progress: Optional[Progress] = None, strict: bool = False, search: Optional[Dict[str, Value]] = None,
         **options: Value) -> None:
    """Draw the motion over a video (filter mvview).

    Args:
        search: options of the filter gpume, as vectors() takes them; by default those that the viewer has.
COMMON
    """
    searches = [] if search is None else [search_text(device, **search)]
    filters = [*size_filters(size, input_options), *searches, filter_text("mvview", **options)]
    _process(input, output, filters, device, start, duration, threads, codec, quality, audio, overwrite, input_options,
             output_options, progress, strict)


class FrameScore(NamedTuple):
    """How a frame differs from the one before."""

    number: int                 #: of the frame, from 1 on
    pts_time: Optional[float]   #: its time in seconds; None if it has none
    motion: float               #: mean length of the vectors, in luma samples
    max_motion: float           #: length of the longest one
    residual: float             #: mean absolute difference of luma samples from their matches, 0 to 255
    consistent: float           #: share of vectors that both directions agree on, 0 to 1
    novelty: float              #: cost of the match over the cost without one; high after a cut
    cut: bool                   #: a scene begins with this frame


class MotionScore(NamedTuple):
    """Figures of a video. Means are those of the frames that have a frame before and are no cuts."""

    frames: List[FrameScore]    #: all but the first one
    motion: float               #: mean of their motion, in luma samples a frame
    speed: float                #: the same in picture heights a second; 0 if the frames have no times
    residual: float             #: mean of their residuals, 0 to 255
    consistent: float           #: mean of their shares of consistent vectors
    cuts: List[float]           #: times of the frames that begin a scene, in seconds, or their numbers
    width: int                  #: of the pictures that were searched
    height: int

    def as_dict(self) -> Dict[str, Any]:
        """Return all figures as what json.dumps() takes."""
        return {**self._asdict(), "frames": [f._asdict() for f in self.frames]}


def _frame_score(line: Dict[str, Any], samples: int) -> FrameScore:
    novelty = line["cost"] / line["intra"] if line["intra"] else 0.0
    return FrameScore(line["n"], line["pts_time"], line["mean_mv"], line["max_mv"], line["cost"] / samples,
                      line["sound"], novelty, bool(line["cut"]))


def _mean(values: List[float]) -> float:
    return sum(values) / len(values) if values else 0.0


@documented("gpume", "dir", "refs")
def motion_score(input: Input, *, device: Device = "auto", start: Optional[Time] = None,
                 duration: Optional[Time] = None, size: Optional[Size] = None, threads: Optional[int] = None,
                 input_options: Sequence[str] = (), progress: Optional[Progress] = None, strict: bool = False,
                 **options: Value) -> MotionScore:
    """Say how much moves in a video, how well motion explains it, and where it is cut.

    Args:
        input, device, start, duration, size, threads, input_options, strict, options: as vectors() takes them.
        progress: is called with the time of each frame, in seconds.

    Raises:
        Error, OSError, TypeError, ValueError: as vectors() raises them.
    """
    for key in ("dir", "refs"):
        if key in options:
            raise TypeError(f"'{key}' is not valid here")
    arguments = input_arguments(input, start, duration, input_options, True, strict)
    search = search_text(device, "stats_file=-:stats_format=jsonl", **options)
    size = picture_size(input, size, input_options)
    filters = ",".join([*size_filters(size, ()), "format=gray", search])
    process = Process(["-copyts", *arguments, *thread_options("-filter_threads", threads), "-map", "0:v:0",
                       "-vf", filters, "-fps_mode", "passthrough", "-f", "null", "-"], source=input)
    frames: List[FrameScore] = []
    try:
        for line in iter(process.stdout.readline, b""):
            frames.append(_frame_score(json.loads(line), size[0] * size[1]))
            if progress:
                progress(frames[-1].pts_time or 0.0)
        process.check(strict)
    finally:
        process.close()
    return _total(frames, size)


def _total(frames: List[FrameScore], size: Tuple[int, int]) -> MotionScore:
    inner = [f for f in frames if not f.cut]
    motion = _mean([f.motion for f in inner])
    times = [f.pts_time for f in frames if f.pts_time is not None]
    rate = (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 and times[-1] > times[0] else 0.0
    return MotionScore(frames, motion, motion * rate / size[1], _mean([f.residual for f in inner]),
                       _mean([f.consistent for f in inner]),
                       [f.number if f.pts_time is None else f.pts_time for f in frames if f.cut], *size)


