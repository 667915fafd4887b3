# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs ffmpeg so that neither a process nor half a file remains, however it ends."""

from __future__ import annotations

import collections
import io
import os
import re
import shutil
import subprocess
import sys
import threading
import uuid
import weakref
from typing import IO, Callable, Deque, Dict, List, Optional, Sequence, Tuple, Union

PathLike = Union[str, "os.PathLike[str]"]

#: What a file's name tells ffmpeg, for files that have no name while they are written: the muxer or,
#: of vectors, the format.
_MUXERS = {
    ".avi": "avi", ".csv": "csv", ".mkv": "matroska", ".mov": "mov", ".mp4": "mp4", ".npy": "npy", ".npys": "npys",
    ".nut": "nut", ".ts": "mpegts", ".webm": "webm", ".y4m": "yuv4mpegpipe",
}


NO_VIDEO = "the input has no video"


class Error(RuntimeError):
    """ffmpeg failed, or cannot do what was asked for.

    Attributes:
        command: the command line, as a list; empty if none was run.
        lines: the last lines that ffmpeg printed.
        status: its exit status; negative: the signal that ended it; None if it was not run.
    """

    def __init__(self, message: str, command: Sequence[str] = (), lines: Sequence[str] = (),
                 status: Optional[int] = None) -> None:
        self.command = list(command)
        self.lines = list(lines)
        self.status = status
        parts = [message, *self.lines]
        if command:
            parts.append("command: " + " ".join(command))
        super().__init__("\n".join(parts))


def ffmpeg_exe(name: str = "ffmpeg") -> str:
    """Return the path of the ffmpeg, or ffprobe, that this package uses.

    The environment variables GPUME_FFMPEG and GPUME_FFPROBE name others.

    Raises:
        Error: there is none.
    """
    path = os.environ.get("GPUME_" + name.upper())
    if path:
        return path
    suffix = ".exe" if sys.platform == "win32" else ""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name + suffix)
    if not os.path.isfile(path):
        raise Error(f"{path} is not there: install the wheel of gpume, or set GPUME_{name.upper()}")
    return path


def url(path: PathLike) -> str:
    """Return a name as ffmpeg takes it: a colon in that of a file is no protocol."""
    name = os.fspath(path)
    return "file:" + name if os.path.exists(name) else name


def _guard() -> List[str]:
    """Return what makes the system kill a program when the thread that has started it ends."""
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    return [setpriv, "--pdeathsig", "KILL"] if setpriv else []


def _kill(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.kill()


class _State:
    """What a process shares with its thread, which must not keep the process itself alive."""

    def __init__(self) -> None:
        self.lines: Deque[str] = collections.deque(maxlen=30)
        self.started = threading.Event()
        self.failure: Optional[BaseException] = None
        self.process: Optional["subprocess.Popen[bytes]"] = None


def _attend(state: _State, command: Sequence[str], stdin: int, stdout: int, pass_fds: Tuple[int, ...],
            gpu: bool) -> None:
    """Start a program, read its messages and wait for its end."""
    try:
        process = subprocess.Popen([*_guard(), *command], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, bufsize=0,
                                   pass_fds=pass_fds, env=None if gpu else {**os.environ, "CUDA_VISIBLE_DEVICES": "-1"})
    except BaseException as e:
        state.failure = e
        return
    else:
        state.process = process
    finally:
        state.started.set()
    assert process.stderr
    with process.stderr:
        for line in io.BufferedReader(process.stderr):  # type: ignore[type-var]
            text = line.decode("utf-8", "replace").rstrip()
            if text:
                state.lines.append(text)
    process.wait()


class Process:
    """An ffmpeg that is running.

    Its thread starts it and waits for its end. So Linux kills it when the interpreter is killed, as
    that ends the thread. It also ends when nothing refers to this object any more.
    """

    def __init__(self, arguments: Sequence[str], *, stdin: bool = False, stdout: bool = True,
                 pass_fds: Sequence[int] = (), program: str = "ffmpeg", gpu: bool = True) -> None:
        quiet = ["-hide_banner", "-v", "error"] + (["-nostdin"] if program == "ffmpeg" and not stdin else [])
        self.command = [ffmpeg_exe(program), *quiet, *arguments]
        self._state = _State()
        self._thread = threading.Thread(
            target=_attend, name="gpume", daemon=True,
            args=(self._state, self.command, subprocess.PIPE if stdin else subprocess.DEVNULL,
                  subprocess.PIPE if stdout else subprocess.DEVNULL, tuple(pass_fds), gpu))
        self._thread.start()
        self._state.started.wait()
        process = self._state.process
        if process is None:
            failure = self._state.failure
            raise Error(f"could not run ffmpeg: {failure}", self.command) from failure
        self._process = process
        self._finalizer = weakref.finalize(self, _kill, process)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def stdin(self) -> IO[bytes]:
        assert self._process.stdin
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        assert self._process.stdout
        return self._process.stdout

    def wait(self) -> int:
        """Wait for its end, and return its exit status."""
        self._thread.join()
        return self._process.wait()

    def error(self, message: str = "ffmpeg failed") -> Error:
        """Wait for its end, and return what it said."""
        status, lines = self.wait(), list(self._state.lines)
        if any("matches no streams" in line for line in lines):
            message = NO_VIDEO
        return Error(f"{message} (status {status})", self.command, lines, status)

    def check(self) -> None:
        """Wait for its end.

        Raises:
            Error: it failed.
        """
        if self.wait():
            raise self.error()

    def close(self) -> None:
        """End it if it is still running. May be called again."""
        process = self._process
        _kill(process)
        self._thread.join()
        for pipe in (process.stdin, process.stdout):
            if pipe:
                try:
                    pipe.close()
                except OSError:
                    pass


def run(arguments: Sequence[str], program: str = "ffmpeg") -> bytes:
    """Run ffmpeg to its end, and return what it writes to standard output."""
    process = Process(arguments, program=program)
    try:
        data = process.stdout.read()
        process.check()
    finally:
        process.close()
    return data


class Output:
    """A file that is complete or absent.

    Where the system can, it has no name until it is complete, so that it disappears with whoever
    writes it. Elsewhere it is NAME.XXXXXXXX.gpume-part.EXT in the same folder until then.
    """

    def __init__(self, path: PathLike, overwrite: bool, options: Sequence[str] = ()) -> None:
        self.path = os.fspath(path)
        self.fd: Optional[int] = None
        if not overwrite and os.path.exists(self.path):
            raise FileExistsError(f"{self.path} exists")
        self._target = os.path.realpath(self.path)
        folder, name = os.path.split(self._target)
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"{folder} is no folder")
        stem, suffix = os.path.splitext(name)
        if re.search(r"%0?\d*d", stem) and suffix.lower() not in _MUXERS:
            raise ValueError(f"'{name}' stands for many files, and one is written; use ffmpeg_exe() for pictures")
        self._part = os.path.join(folder, f"{stem}.{uuid.uuid4().hex[:8]}.gpume-part{suffix}")
        self._muxer = _MUXERS.get(suffix.lower())
        self._overwrite = overwrite
        flag: int = getattr(os, "O_TMPFILE", 0)
        # these open the file again by its name
        if flag and self._muxer and "-movflags" not in options and "-f" not in options:
            try:
                self.fd = os.open(folder, flag | os.O_RDWR, 0o666)
            except OSError:
                pass        # not on this file system

    def name(self) -> str:
        """Return the name under which a filter writes it."""
        return self._part if self.fd is None else f"/proc/self/fd/{self.fd}"

    def arguments(self) -> List[str]:
        """Return the end of the command line of an ffmpeg whose muxer writes it."""
        if self.fd is None:
            return ["-y", "file:" + self._part]
        assert self._muxer
        return ["-f", self._muxer, "-fd", str(self.fd), "fd:"]

    def complete(self) -> None:
        """Give it its name."""
        if self.fd is not None:
            # gives a file without a name a name; os.link() follows links only if a folder's descriptor is passed
            os.link(f"/proc/self/fd/{self.fd}", self._part, src_dir_fd=self.fd, follow_symlinks=True)
        if self._overwrite:
            os.replace(self._part, self._target)
        else:
            os.link(self._part, self._target)
            os.unlink(self._part)

    def close(self) -> None:
        """Remove what is not complete."""
        if self.fd is not None:
            os.close(self.fd)
            self.fd = None
        try:
            os.unlink(self._part)
        except OSError:
            pass


Progress = Callable[[float], None]


def write(file: Output, arguments: Sequence[str], progress: Optional[Progress], gpu: bool = True) -> None:
    """Run ffmpeg, which writes a file. Then, or after an error, the file is closed.

    Args:
        arguments: all of them but those that report the progress.
        progress: is called with the time in seconds up to which the output has been written.
        gpu: whether it may use a GPU.
    """
    process: Optional[Process] = None
    try:
        process = Process(["-progress", "pipe:1", "-nostats", *arguments],
                          pass_fds=() if file.fd is None else (file.fd,), gpu=gpu)
        for line in iter(process.stdout.readline, b""):
            match = re.match(rb"out_time_us=(\d+)", line)
            if match and progress:
                progress(int(match.group(1)) / 1e6)
        process.check()
        file.complete()
    finally:
        if process:
            process.close()
        file.close()


def probe(path: PathLike, entries: str, input_options: Sequence[str] = ()) -> Dict[str, str]:
    """Return what ffprobe says about the first video stream and the file."""
    text = run([*input_options, "-select_streams", "v:0", "-show_entries", entries, "-of", "flat=s=_", url(path)],
               program="ffprobe").decode()
    return dict(_pair(line) for line in text.splitlines() if "=" in line)


def _pair(line: str) -> Tuple[str, str]:
    key, value = line.split("=", 1)
    return key.rsplit("_stream_0_", 1)[-1].replace("format_", ""), value.strip('"')
