# SPDX-License-Identifier: LGPL-2.1-or-later
"""Arguments of the functions: validated, and as ffmpeg takes them."""

from __future__ import annotations

import errno
import functools
import math
import numbers
import operator
import os
import re
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from ._options import HELP
from ._process import INDEX_AT_END, NO_VIDEO, Error, Input, ffmpeg_exe, is_stream, probe, run, url

#: "auto": a GPU if one can be used, else the CPU; "cpu"; or the index of a GPU.
Device = Union[str, int]
#: Value of an option of a filter.
Value = Union[str, int, float, bool, "os.PathLike[str]"]
_Plain = Union[str, int, float, bool]
#: Seconds, or a time as ffmpeg takes it ("1:02:03.5").
Time = Union[float, int, str]
#: (width, height), or "WIDTHxHEIGHT".
Size = Union[str, Tuple[int, int]]

#: What gpume's own file options are for, this package does.
_OURS = frozenset(["mv_file", "mv_format", "stats_file", "stats_format", "overwrite", "metadata", "hint", "backend"])


class OptionError(Error, ValueError):
    """A filter has no option of that name, or the option cannot have that value."""


class _Option(NamedTuple):
    kind: str                               #: "int", "flags", "boolean" ...
    choices: Tuple[str, ...]                #: names of values
    limits: Optional[Tuple[float, float]]   #: of numbers
    text: str                               #: type, what it is, range and default, choices


def documented(filter_name: str, *without: str) -> Callable[[Any], Any]:
    """Return what completes a docstring by the options of a filter, which are known where the wheel was made."""
    def complete(function: Any) -> Any:
        lines = []
        if filter_name in HELP:
            for key, option in _parse(HELP[filter_name]).items():
                if key not in without and key not in _OURS and key != "device":
                    lines.append(f"        {key}: {option.text}")
            lines[:0] = ["", f"    Options of the filter {filter_name}:"]
        function.__doc__ = (function.__doc__ or "").rstrip() + "\n".join(["", *lines, "    "])
        return function
    return complete


def planes_option(options: Dict[str, Value], pix_fmt: str = "") -> Dict[str, Value]:
    """Return options in which a list of planes is the filter's bit mask. pix_fmt: of arrays, whose plane 0 can be red."""
    planes: Any = options.get("planes")
    if isinstance(planes, str) or not np.iterable(planes):
        return options
    known = range(1 if pix_fmt.startswith("gray") else 3 if pix_fmt else 4)
    numbers = list(planes)
    if not numbers or not all(isinstance(n, (int, np.integer)) and n in known for n in numbers):
        raise OptionError(f"planes is {planes!r}; it must be a list of some of {', '.join(map(str, known))}, such as [0]")
    order = (2, 0, 1) if pix_fmt[:3] in ("rgb", "bgr") else known
    return {**options, "planes": sum(1 << order[n] for n in set(numbers))}


@functools.lru_cache(maxsize=None)
def _options_of(exe: str, name: str) -> Dict[str, _Option]:
    """Return the options of a filter, as an ffmpeg lists them."""
    is_ours = os.path.dirname(exe) == os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin")
    text = HELP[name] if is_ours and name in HELP else run(["-h", "filter=" + name]).decode("utf-8", "replace")
    if not text.startswith("Filter " + name):
        raise Error(f"{exe} has no filter '{name}': it is not gpume's ffmpeg")
    found = _parse(text)
    if "the 'enable' option" in text:
        found["enable"] = _Option("string", (), None, "")
    return found


def _parse(text: str) -> Dict[str, _Option]:
    """Return the options in what ffmpeg says about a filter."""
    found: Dict[str, _Option] = {}
    last = ""
    for indent, key, kind, more in re.findall(r"^( {3,5})(\S+) +(<\w+>)?(.*)$", text.partition("AVOptions:")[2], re.M):
        if len(indent) == 3 and kind:
            limits = re.search(r"\(from (\S+) to (\S+)\)", more)
            last = key
            found[key] = _Option(kind.strip("<>"), (), None if limits is None else
                                 tuple(map(_number, limits.groups())),      # type: ignore[arg-type]
                                 f"{kind.strip('<>')}: {more.split(maxsplit=1)[1]}")
        elif last:
            before = found[last]
            found[last] = before._replace(choices=before.choices + (key,), text=(
                f"{before.text}{', ' if before.choices else '; it is one of '}{key}"))
    return found


def _number(text: str) -> float:
    """Return a number as ffmpeg writes it: the largest integers have names."""
    try:
        return float(text)
    except ValueError:
        return -math.inf if "MIN" in text or text.startswith("-") else math.inf


def _is_number(value: _Plain) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _check_option(filter_name: str, key: str, value: _Plain, option: _Option) -> None:
    if not isinstance(value, (str, numbers.Real, np.generic)):
        raise OptionError(f"{key} is {value!r}; an option of {filter_name} must be a text, a number or a bool")
    names = re.split(r"[+|-]", str(value)) if option.kind == "flags" else [str(value)]
    if option.choices and not _is_number(value) and not all(name in option.choices for name in names if name):
        raise OptionError(f"{key} is {value!r}; it must be " + ("some of, joined by '+', " if option.kind == "flags"
                          else "one of ") + ", ".join(option.choices))
    if option.kind == "int" and isinstance(value, (float, np.floating)) and not float(value).is_integer():
        raise OptionError(f"{key} is {value!r}; it must be a whole number")
    # those of durations are in microseconds
    if not option.limits or option.kind not in ("int", "float", "double"):
        return
    least, most = option.limits
    is_zoom = filter_name == "mvstab" and key == "zoom"
    if _is_number(value):
        is_right = least <= float(value) <= most and not (is_zoom and 0 < float(value) < 0.1)
    else:
        # an expression, of which ffmpeg tells what is wrong
        is_right = bool(option.choices) or bool(re.search(r"\d|^(default|max|min|none|all)$", str(value)))
    if not is_right:
        range_text = ("" if _is_number(value) else "a number, ") + ("0 or from 0.1" if is_zoom else f"from {least:g}")
        raise OptionError(f"{key} is {value!r}; it must be {range_text} to {most:g}")


def escape(value: _Plain) -> str:
    """Return an option's value as a filter graph takes it."""
    text = str(int(value)) if isinstance(value, (bool, np.bool_)) else str(value)
    for characters in ("\\':", "\\'[],;"):
        text = "".join("\\" + c if c in characters else c for c in text)
    return text


def filter_text(name: str, **options: Value) -> str:
    """Return a filter with its options as a filter graph takes it.

    Raises:
        OptionError: it has no such option, or not that value.
    """
    known = _options_of(ffmpeg_exe(), name)
    plain = {key: os.fspath(value) if isinstance(value, os.PathLike) else value for key, value in options.items()}
    for key, value in plain.items():
        if key not in known:
            raise OptionError(f"'{key}' is no option of the filter {name}; it has {', '.join(known)}")
        _check_option(name, key, value, known[key])
    text = ":".join(f"{key}={escape(value)}" for key, value in plain.items())
    return f"{name}={text}" if text else name


def search_text(device: Device, files: str = "", /, **options: Value) -> str:
    """Return the filter gpume with the user's options.

    Args:
        files: options of its files, as a filter graph takes them.

    Raises:
        TypeError: an option is not the user's.
        ValueError: there is no such device, option or value.
    """
    for key in options:
        if key in _OURS:
            raise TypeError(f"'{key}' is not valid here")
    options.setdefault("algo", options.pop("method", "hme"))
    return filter_text("gpume", **options, **_device_options(device)) + (":" + files if files else "")


def check_device(device: Device) -> Device:
    """Return the device. Raises ValueError if there is no such one."""
    if isinstance(device, str) and device in ("auto", "cpu"):
        return device
    try:
        if not isinstance(device, (bool, np.bool_)) and operator.index(device) >= 0:    # type: ignore[arg-type]
            return operator.index(device)                                               # type: ignore[arg-type]
    except TypeError:
        pass
    raise ValueError(f"device is {device!r}; it must be 'auto', 'cpu' or the index of a GPU, from 0 on")


def _device_options(device: Device) -> Dict[str, Value]:
    """Return the options of the filter gpume that choose a device. Raises ValueError if there is no such one."""
    device = check_device(device)
    if device == "auto":
        return {}
    return {"backend": "cpu"} if device == "cpu" else {"backend": "cuda", "device": device}


def device_arguments(device: Device) -> List[str]:
    """Return the options of ffmpeg that choose the device of filters."""
    device = check_device(device)
    if device in ("auto", "cpu"):
        return []
    return ["-init_hw_device", f"cuda=gpume:{device}", "-filter_hw_device", "gpume"]


def seconds(name: str, value: Optional[Time]) -> Optional[float]:
    """Return the value of an argument that is a time. Raises ValueError for another value."""
    if value is None:
        return None
    number = math.nan
    if isinstance(value, str):
        parts = re.fullmatch(r"(?:(?:(\d+):)?(\d+):)?(\d+\.?\d*|\.\d+)(s|ms|us)?", value.strip(), re.A)
        if parts and not (parts[2] and parts[4]):
            number = 3600 * int(parts[1] or 0) + 60 * int(parts[2] or 0) + float(parts[3]) * {
                "ms": 1e-3, "us": 1e-6}.get(parts[4], 1)
    elif not isinstance(value, (bool, np.bool_)):
        try:
            number = float(value)
        except (TypeError, ValueError):
            pass
    number = round(number, 6)       # as ffmpeg counts it
    if not 0 <= number < 1e9 or name == "duration" and not number:
        raise ValueError(f"{name} is {value!r}; it must be seconds {'above' if name == 'duration' else 'from'} 0, "
                         "or a time such as '1:02:03.5'")
    return number


def texts(name: str, value: Sequence[str]) -> List[str]:
    """Return the value of an argument that is a list of texts. Raises TypeError for another value."""
    if isinstance(value, str) or not all(isinstance(text, str) for text in value):
        raise TypeError(f"{name} is {value!r}; it must be a list of texts, such as ['-f', 'lavfi']")
    return list(value)


def thread_options(option: str, threads: Optional[int]) -> List[str]:
    """Return the option with the number of threads. Raises ValueError for another value than a number."""
    if threads is None:
        return []
    if isinstance(threads, bool) or not hasattr(threads, "__index__") or operator.index(threads) < 0:
        raise ValueError(f"threads is {threads!r}; it must be a number from 1 on, or 0 for as many as processors")
    return [option, str(operator.index(threads))]


def size_of(size: Size) -> Tuple[int, int]:
    """Return the value of an argument that is a size. Raises ValueError for another value."""
    sides: Any = size
    if isinstance(size, str):
        parts = re.fullmatch(r"(\d+)x(\d+)", size.strip().lower(), re.A)
        sides = tuple(map(int, parts.groups())) if parts else ()
    try:
        width, height = (0 if isinstance(side, bool) else operator.index(side) for side in sides)
    except (TypeError, ValueError):
        width = height = 0
    if not (0 < width <= 32768 and 0 < height <= 32768):
        raise ValueError(f"size is {size!r}; it must be (width, height) or 'WIDTHxHEIGHT', in samples from 1 to 32768")
    return width, height


def size_filters(size: Optional[Size], input_options: Sequence[str]) -> List[str]:
    """Return the filters that bring all pictures to a size, or to that of the first one.

    Pictures that stay on a GPU keep theirs.
    """
    if size is None and "-hwaccel_output_format" in input_options:
        return []
    return ["scale" if size is None else "scale=%d:%d" % size_of(size)]


def picture_size(input: Input, size: Optional[Size], input_options: Sequence[str]) -> Tuple[int, int]:
    """Return the size of the pictures that size_filters() makes. Raises Error if there is no video."""
    if size is not None:
        return size_of(size)
    found = probe(input, "stream=width,height:stream_side_data=rotation", input_options)
    if "width" not in found:
        raise Error(NO_VIDEO)
    sides = int(found["width"]), int(found["height"])
    if not all(sides):      # ffprobe has met a stream whose samples it did not reach
        raise Error(INDEX_AT_END if is_stream(input) else "the size of the pictures is unknown: set size")
    turned = next((float(v) for k, v in found.items() if k.endswith("_rotation")), 0.0)
    return (sides[1], sides[0]) if round(turned / 90) % 2 else sides       # ffmpeg turns it


def _check_file(path: Input, input_options: Sequence[str]) -> None:
    """Raise OSError if an input must be a file and cannot be read.

    A text may also be an address, the number of a sequence's pictures, or what an input device takes.
    """
    if is_stream(path):
        return
    name = os.fspath(path)      # type: ignore[arg-type]
    if isinstance(path, str) and not os.path.exists(name) and (
            "-f" in input_options or re.match(r"[A-Za-z][A-Za-z0-9+.-]+[:,]|-$", name) or "%" in name):
        return
    code = (errno.ENOENT if not os.path.exists(name) else errno.EISDIR if os.path.isdir(name)
            else 0 if os.access(name, os.R_OK) else errno.EACCES)
    if code:
        raise OSError(code, os.strerror(code), name)


def input_arguments(path: Input, start: Optional[Time], duration: Optional[Time], input_options: Sequence[str],
                    scaled: bool = False, strict: bool = False) -> List[str]:
    """Return the arguments that open a file. Raises OSError if it cannot be read.

    Args:
        scaled: whether the filters begin with size_filters(), which keep the size where it changes in mid-stream.
        strict: whether the first damage ends the work.
    """
    options = texts("input_options", input_options)
    _check_file(path, options)
    times = [text for option, name, value in (("-ss", "start", start), ("-t", "duration", duration))
             if value is not None for text in (option, f"{seconds(name, value):.6f}")]
    return [*(["-xerror"] if strict else []), *times, *(["-reinit_filter", "0"] if scaled else []), *options,
            "-i", url(path)]
