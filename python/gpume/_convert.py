# SPDX-License-Identifier: LGPL-2.1-or-later
"""From video file to video file, and figures of a file."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

from ._process import NO_VIDEO, Error, Output, PathLike, Process, Progress, probe, write
from ._vectors import (Device, Time, Value, check_device, filter_text, input_arguments, search_text, size_filters)


#: Endings of files whose encoders keep 16 bits a sample; those of others have 8, unless another one is named.
_LOSSLESS = (".mkv", ".png", ".y4m")


def _encoder(output: PathLike, codec: Optional[str], quality: int) -> List[str]:
    """Return the options of the encoder: what a name's ending stands for, if nothing is said."""
    suffix = os.path.splitext(os.fspath(output))[1].lower()
    if codec is None:
        codec = {".mkv": "ffv1", ".y4m": "wrapped_avframe", ".gif": "gif", ".webm": "vp9"}.get(suffix, "mpeg4")
    options = ["-c:v", codec]
    if codec in ("mpeg4", "mjpeg", "mpeg2video"):
        options += ["-q:v", str(quality)]
    return options


def _convert(before: List[str], output: PathLike, device: Device, codec: Optional[str], quality: int, overwrite: bool,
             options: Sequence[str], progress: Optional[Progress]) -> None:
    """Run ffmpeg with one output file, whose options follow these arguments."""
    gpu = [] if check_device(device) in ("auto", "cpu") else ["-init_hw_device", f"cuda=gpume:{device}",
                                                              "-filter_hw_device", "gpume"]
    encoder = [] if "-c:v" in options else _encoder(output, codec, quality)
    file = Output(output, overwrite, options)
    write(file, [*gpu, *before, *encoder, *options, *file.arguments()], progress, device != "cpu")


def _process(input: PathLike, output: PathLike, filters: List[str], device: Device, start: Optional[Time],
             duration: Optional[Time], threads: Optional[int], codec: Optional[str], quality: int, audio: bool,
             overwrite: bool, input_options: Sequence[str], output_options: Sequence[str],
             progress: Optional[Progress]) -> None:
    maps = ["-map", "0:v:0", *(["-map", "0:a?", "-c:a", "copy"] if audio else [])]
    if os.fspath(output).lower().endswith((".y4m", ".gif")):
        maps = maps[:2]
    _convert([*input_arguments(input, start, duration, input_options, filters[0].startswith("scale")),
              *(["-filter_threads", str(threads)] if threads else []), *maps, "-vf", ",".join(filters)],
             output, device, codec, quality, overwrite, output_options, progress)


_COMMON = """
        input, output: files. The output appears when it is complete. With the ending .mkv it is lossless (FFV1),
            otherwise MPEG-4 (.mp4, .mov, .avi), unless codec says more.
        device: where the motion is searched: "auto" for a GPU if one can be used, else the CPU; "cpu"; or the
            index of a GPU.
        start, duration: the part of the input, in seconds or as ffmpeg takes it.
        size: (width, height) to which pictures are scaled before anything else; by default the first one's.
        threads: of the filters; by default as many as there are processors.
        codec: an encoder of ffmpeg.
        quality: of MPEG-4, from 1 (best) to 31.
        audio: copy the sound.
        overwrite: False: it is an error, FileExistsError, if the output exists.
        input_options, output_options: options of ffmpeg.
        progress: is called with the time in seconds up to which the output is written.
        options: those of the filter, by their names.

    Raises:
        Error: ffmpeg failed.
        FileNotFoundError, FileExistsError, OSError: of the files.
        TypeError, ValueError: an argument is not valid.
    """


def _documented(function: Any) -> Any:
    """Complete a docstring by the arguments that the function has of the common ones."""
    lines = _COMMON.lstrip("\n").splitlines(keepends=True)
    for name in ("device", "size"):
        if name not in function.__annotations__:
            lines = [line for line in lines if not line.startswith(f"        {name}: ")]
    function.__doc__ = function.__doc__.replace("COMMON\n", "".join(lines))
    return function


@_documented
def interpolate(input: PathLike, output: PathLike, fps: Union[float, str] = 60, *, device: Device = "auto",
                start: Optional[Time] = None, duration: Optional[Time] = None,
                size: Optional[Tuple[int, int]] = None, threads: Optional[int] = None, codec: Optional[str] = None,
                quality: int = 2, audio: bool = True, overwrite: bool = True, input_options: Sequence[str] = (),
                output_options: Sequence[str] = (), progress: Optional[Progress] = None, **options: Value) -> None:
    """Convert the frame rate of a video by frames made along motion vectors (filter mvfps).

    Args:
        fps: frames per second: a number, "30000/1001", or a factor of the input's, "2x".
COMMON
    """
    _process(input, output, [*size_filters(size, input_options), filter_text("mvfps", fps=fps, **options)], device,
             start, duration, threads, codec, quality, audio, overwrite, input_options, output_options, progress)


@_documented
def denoise(input: PathLike, output: PathLike, *, device: Device = "auto", start: Optional[Time] = None,
            duration: Optional[Time] = None, size: Optional[Tuple[int, int]] = None, threads: Optional[int] = None,
            codec: Optional[str] = None, quality: int = 2, audio: bool = True, overwrite: bool = True,
            input_options: Sequence[str] = (), output_options: Sequence[str] = (),
            progress: Optional[Progress] = None, **options: Value) -> None:
    """Take the noise out of a video along motion vectors (filter mvdenoise).

    Args:
COMMON
    """
    _process(input, output, [*size_filters(size, input_options), filter_text("mvdenoise", **options)], device, start,
             duration, threads, codec, quality, audio, overwrite, input_options, output_options, progress)


@_documented
def deinterlace(input: PathLike, output: PathLike, *, device: Device = "auto", start: Optional[Time] = None,
                duration: Optional[Time] = None, threads: Optional[int] = None, codec: Optional[str] = None,
                quality: int = 2, audio: bool = True, overwrite: bool = True, input_options: Sequence[str] = (),
                output_options: Sequence[str] = (), progress: Optional[Progress] = None, **options: Value) -> None:
    """Deinterlace a video along motion vectors (filter mvdeint).

    Args:
COMMON
    """
    _process(input, output, [filter_text("mvdeint", **options)], device, start, duration,
             threads, codec, quality, audio, overwrite, input_options, output_options, progress)


def _disparity_graph(both: bool, show: str, device: Device, options: Dict[str, Value]) -> str:
    """Return a filter graph with the output [out]. both: whether the frames of one input have both views."""
    options = {"inputs": 1 if both else 2, "backend": device if check_device(device) in ("auto", "cpu") else "cuda",
               **options, "output": show}
    return f"[0:v:0]{'' if both else '[1:v:0]'}{filter_text('mvstereo', **options)}[out]"


def disparity(left: PathLike, right: Optional[PathLike], output: PathLike, *, device: Device = "auto",
              start: Optional[Time] = None, duration: Optional[Time] = None, threads: Optional[int] = None,
              codec: Optional[str] = None, quality: int = 2, overwrite: bool = True, input_options: Sequence[str] = (),
              output_options: Sequence[str] = (), progress: Optional[Progress] = None, show: str = "disparity",
              **options: Value) -> None:
    """Find how far each point of the left view of a scene is to the left in the right one (filter mvstereo).

    Args:
        left, right: files of the views, rectified and of equal size. With right=None the frames of left have both,
            as the option layout says ("sbsl": side by side).
        output: the map of the left view; .mkv keeps it exactly.
        show: the filter's option output: "disparity", "gray8", "color", "depth", "confidence" or "left+gray8".
            The option file="maps.npy" also writes disparities as numpy.load() reads them: float32, (frames, rows,
            columns), in samples.
        device, start, duration, threads, codec, quality, overwrite, input_options, output_options, progress, options:
            as interpolate() takes them; input_options are those of both files.

    Raises:
        Error: ffmpeg failed.
        FileNotFoundError, FileExistsError, OSError: of the files.
        ValueError: show is "float", which no video file keeps, or has 16 bits, which the output does not keep; or
            an argument is not valid.
    """
    if show == "float":
        raise ValueError("no video file keeps 'float': use file='maps.npy', which writes an array of it")
    suffix = os.path.splitext(os.fspath(output))[1].lower()
    if show in ("disparity", "depth") and codec is None and "-c:v" not in output_options and suffix not in _LOSSLESS:
        raise ValueError(f"a file '{suffix}' gets 8 bits, not the 16 bits of '{show}': write .mkv, or set show to "
                         "'gray8' or 'color'")
    inputs = [argument for path in ([left] if right is None else [left, right])
              for argument in input_arguments(path, start, duration, input_options)]
    filters = [*(["-filter_complex_threads", str(threads)] if threads else []),
               "-filter_complex", _disparity_graph(right is None, show, device, options), "-map", "[out]"]
    _convert([*inputs, *filters], output, device, codec, quality, overwrite, output_options, progress)


@_documented
def draw(input: PathLike, output: PathLike, *, device: Device = "auto", start: Optional[Time] = None,
         duration: Optional[Time] = None, size: Optional[Tuple[int, int]] = None, threads: Optional[int] = None,
         codec: Optional[str] = None, quality: int = 2, audio: bool = True, overwrite: bool = True,
         input_options: Sequence[str] = (), output_options: Sequence[str] = (),
         progress: Optional[Progress] = None, search: Optional[Dict[str, Value]] = None, **options: Value) -> None:
    """Draw the motion over a video (filter mvview).

    Args:
        search: options of the filter gpume, as vectors() takes them; by default those that the viewer has.
COMMON
    """
    searches = [] if search is None else [search_text(device, **search)]
    filters = [*size_filters(size, input_options), *searches, filter_text("mvview", **options)]
    _process(input, output, filters, device, start, duration, threads, codec, quality, audio, overwrite, input_options,
             output_options, progress)


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


def _is_cut(novelty: float, consistent: float) -> bool:
    """Return whether a scene begins: matches cost twice as much as none, or hardly one is found from both sides."""
    return novelty >= 2 or novelty >= 1 and consistent < 0.1


def _frame_score(line: Dict[str, Any], samples: int) -> FrameScore:
    novelty = line["cost"] / line["intra"] if line["intra"] else 0.0
    return FrameScore(line["n"], line["pts_time"], line["mean_mv"], line["max_mv"], line["cost"] / samples,
                      line["sound"], novelty, _is_cut(novelty, line["sound"]))


def _mean(values: List[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def motion_score(input: PathLike, *, device: Device = "auto", start: Optional[Time] = None,
                 duration: Optional[Time] = None, size: Optional[Tuple[int, int]] = None,
                 threads: Optional[int] = None, input_options: Sequence[str] = (),
                 progress: Optional[Progress] = None, **options: Value) -> MotionScore:
    """Say how much moves in a video, how well motion explains it, and where it is cut.

    Args:
        input, device, start, duration, size, threads, input_options, options: as vectors() takes them.
        progress: is called with the time of each frame, in seconds.

    Raises:
        Error, FileNotFoundError, TypeError, ValueError: as vectors() raises them.
    """
    for key in ("dir", "refs"):
        if key in options:
            raise TypeError(f"'{key}' is not valid here")
    arguments = input_arguments(input, start, duration, input_options, True)
    if size is None:
        found = probe(input, "stream=width,height:stream_side_data=rotation", input_options)
        if "width" not in found:
            raise Error(NO_VIDEO)
        size = int(found["width"]), int(found["height"])
        turned = next((float(v) for k, v in found.items() if k.endswith("_rotation")), 0.0)
        if round(turned / 90) % 2:      # ffmpeg turns it
            size = size[1], size[0]
    search = search_text(device, "stats_file=-:stats_format=jsonl", **options)
    process = Process([*arguments, *(["-filter_threads", str(threads)] if threads else []), "-map", "0:v:0",
                       "-vf", ",".join([*size_filters(size, ()), "format=gray", search]), "-fps_mode", "passthrough",
                       "-f", "null", "-"])
    frames: List[FrameScore] = []
    try:
        for line in iter(process.stdout.readline, b""):
            frames.append(_frame_score(json.loads(line), size[0] * size[1]))
            if progress:
                progress(frames[-1].pts_time or 0.0)
        process.check()
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


