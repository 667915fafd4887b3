# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs ffmpeg so that neither a process nor half a file remains, however it ends."""

from __future__ import annotations

import collections
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import threading
import uuid
import warnings
import weakref
from typing import IO, Any, Callable, Deque, Dict, List, Optional, Sequence, Tuple, TypeVar, Union

PathLike = Union[str, "os.PathLike[str]"]
#: A file's name, or whatever else ffmpeg can open; or the file: its bytes, or a file object opened in binary mode.
Input = Union[PathLike, bytes, bytearray, memoryview, IO[bytes]]

NO_VIDEO = "the input has no video"
INDEX_AT_END = ("the input is no name but the file itself, which ffmpeg reads from a pipe, and this one has its index at "
                "its end: write it to a file and give its name, or make it with -movflags +faststart")

#: Warnings of ffmpeg that mean that something of the input is lost or wrong, as errors do with which it goes on.
_DAMAGE = re.compile(r"corrupt (?:decoded frame|input packet)|Packet corrupt|Continuity check failed")
#: What the filters of gpume say.
_FILTER = re.compile(r"\[Parsed_(?:gpume|mv[a-z]+)_\d+ @ [^]]*\] *(.*)")


class FFmpegWarning(UserWarning):
    """The input is damaged, so that parts of the result are missing or wrong; or a filter has a remark."""


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
            parts.append("command: " + shlex.join(command))
        super().__init__("\n".join(parts))


_Self = TypeVar("_Self", bound="Closing")


class Closing:
    """A context manager that is closed at its end."""

    def close(self) -> None:
        """End it. May be called again."""
        raise NotImplementedError

    def __enter__(self: _Self) -> _Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def ffmpeg_exe(name: str = "ffmpeg") -> str:
    """Return the path of the ffmpeg, or ffprobe, that this package uses.

    The environment variables GPUME_FFMPEG and GPUME_FFPROBE name others.

    Raises:
        Error: there is none.
    """
    path = os.environ.get("GPUME_" + name.upper())
    if path:
        if not shutil.which(path):
            raise Error(f"GPUME_{name.upper()} is '{path}', which is no program: set it to the path of an {name}, or "
                        "unset it")
        return path
    suffix = ".exe" if sys.platform == "win32" else ""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name + suffix)
    if not os.path.isfile(path):
        raise Error(f"{path} is not there: install the wheel of gpume, or set GPUME_{name.upper()}")
    return path


def is_stream(input: object) -> bool:
    """Return whether an input is the file itself, which ffmpeg reads from a pipe, and not its name."""
    return isinstance(input, (bytes, bytearray, memoryview)) or hasattr(input, "read")


def url(path: Input) -> str:
    """Return a name as ffmpeg takes it: a colon in that of a file is no protocol."""
    if is_stream(path):
        return "pipe:0"
    name = os.fspath(path)      # type: ignore[arg-type]
    return "file:" + name if os.path.exists(name) else name


def _guard() -> List[str]:
    """Return what makes the system kill a program when the thread that has started it ends."""
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    return [setpriv, "--pdeathsig", "KILL"] if setpriv else []


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process if it is still running, and close its pipes."""
    if process.poll() is None:
        process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe:
            try:
                pipe.close()
            except OSError:
                pass


class _State:
    """What a process shares with its thread, which must not keep the process itself alive."""

    def __init__(self) -> None:
        self.lines: Deque[str] = collections.deque(maxlen=30)   # errors
        self.nb_errors = 0
        self.damage: List[str] = []             # the first signs of it
        self.remarks: Dict[str, None] = {}      # of filters, in order
        self.is_empty = False                   # whether an output has no packet
        self._is_warning = False
        self.started = threading.Event()
        self.failure: Optional[BaseException] = None
        self.process: Optional["subprocess.Popen[bytes]"] = None

    def take(self, line: str) -> None:
        """Take a line of ffmpeg's messages. A line without a level belongs to the one before."""
        level = re.search(r"\[(warning|error|fatal|panic)\] ", line)
        text = line if level is None else line.replace(level.group(), "", 1)
        self._is_warning = self._is_warning if level is None else level[1] == "warning"
        self.is_empty = self.is_empty or "Output file is empty" in text
        if not self._is_warning:
            self.lines.append(text)
            if text.startswith("[null @"):      # times that go back
                return
        elif not _DAMAGE.search(text):
            remark = _FILTER.match(text)
            if remark and len(self.remarks) < 30:
                self.remarks[remark[1]] = None
            return
        self.nb_errors += 1
        if len(self.damage) < 5:
            self.damage.append(text)


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
    with io.BufferedReader(process.stderr) as reader:   # type: ignore[type-var]
        for line in reader:
            text = line.decode("utf-8", "replace").rstrip()
            if text:
                state.take(text)
    process.wait()


def _feed(source: Any, stdin: IO[bytes], state: _State) -> None:
    """Write a file's bytes, or what a file object reads, to a program until it wants no more."""
    whole = isinstance(source, (bytes, bytearray, memoryview))
    try:
        for chunk in [source] if whole else iter(lambda: source.read(1 << 18), b""):
            if isinstance(chunk, str):
                raise TypeError("input.read() returns text: open the file in binary mode, 'rb'")
            data = memoryview(chunk).cast("B")
            while data:
                try:
                    data = data[stdin.write(data):]
                except OSError:
                    return
    except BaseException as e:
        state.failure = e
    finally:
        try:
            stdin.close()
        except OSError:
            pass


class Process:
    """An ffmpeg that is running.

    Its thread starts it and waits for its end. So Linux kills it when the interpreter is killed, as
    that ends the thread. It also ends when nothing refers to this object any more.
    """

    def __init__(self, arguments: Sequence[str], *, stdin: bool = False, stdout: bool = True,
                 pass_fds: Sequence[int] = (), program: str = "ffmpeg", gpu: bool = True,
                 source: object = None) -> None:
        """Start it. source: an input, which it reads from a pipe if it is no name."""
        self._is_fed = is_stream(source)
        stdin = stdin or self._is_fed
        quiet = ["-hide_banner", "-v", "repeat+level+warning"]
        if program == "ffmpeg" and not stdin:
            quiet.append("-nostdin")
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
        self._finalizer = weakref.finalize(self, _end, process)
        if self._is_fed:
            pipe, process.stdin = self.stdin, None
            enlarge(pipe)
            self._feeder = threading.Thread(target=_feed, name="gpume feeder", daemon=True,
                                            args=(source, pipe, self._state))
            self._feeder.start()

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

    def take_stdout(self) -> IO[bytes]:
        """Return standard output, which the caller now closes."""
        stdout, self._process.stdout = self.stdout, None
        return stdout

    def kill(self) -> None:
        """End it if it is still running, without closing its pipes."""
        if self._process.poll() is None:
            self._process.kill()

    def wait(self) -> int:
        """Wait for its end, and return its exit status."""
        self._thread.join()
        return self._process.wait()

    def error(self, message: str = "ffmpeg failed") -> Error:
        """Wait for its end, and return what it said."""
        status, lines = self.wait(), list(self._state.lines)
        if any("matches no streams" in line for line in lines):
            message = NO_VIDEO
        if self._is_fed and any(re.search("partial file|moov atom not found", line) for line in lines):
            message = INDEX_AT_END
        unknown = next(filter(None, (re.search(r"Unknown encoder '(\w+)'", line) for line in lines)), None)
        if unknown:
            message = (f"this ffmpeg has no encoder '{unknown[1]}': write .mkv, name another encoder by codec, or "
                       "another ffmpeg by the environment variable GPUME_FFMPEG")
        return Error(f"{message} (status {status})" if status else message, self.command, lines, status)

    def check(self, strict: bool = False) -> None:
        """Wait for its end, and warn of what it said.

        Raises:
            Error: it failed, the input has no frame in the part that was asked for or, if strict, it is damaged.
        """
        state = self._state
        status = self.wait()
        if state.failure:       # of the user's file object
            raise state.failure
        if status:
            raise self.error()
        if state.is_empty:
            raise self.error("the input has no frame in this part: start is behind its end, or it is damaged")
        for remark in state.remarks:
            _warn(remark)
        if state.nb_errors:
            text = f"the input is damaged, and ffmpeg goes on without the lost parts ({state.nb_errors} messages)"
            if strict:
                raise self.error(text)
            _warn("\n".join([text + ":", *state.damage]))

    def close(self) -> None:
        """End it if it is still running. May be called again."""
        _end(self._process)
        self._thread.join()


def enlarge(pipe: IO[bytes]) -> None:
    """Give a pipe room for a record or a frame, so that both sides can work at the same time."""
    try:
        import fcntl
        fcntl.fcntl(pipe.fileno(), 1031, 1 << 20)       # F_SETPIPE_SZ
    except (ImportError, OSError):
        pass


def _warn(text: str) -> None:
    """Warn of something, at the line of the user's that has called this package."""
    folder, depth, frame = os.path.dirname(os.path.abspath(__file__)), 1, sys._getframe()
    while frame.f_back and os.path.abspath(frame.f_code.co_filename).startswith(folder):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(text, FFmpegWarning, stacklevel=depth)


def run(arguments: Sequence[str], program: str = "ffmpeg", source: object = None) -> bytes:
    """Run ffmpeg to its end, and return what it writes to standard output."""
    process = Process(arguments, program=program, source=source)
    try:
        data = process.stdout.read()
        if process.wait():
            raise process.error()
    finally:
        process.close()
        if is_stream(source):
            process._feeder.join()      # it reads no more from the source
    return data


class Output:
    """A file that is complete or absent.

    Where the system can, it has no name until it is complete, so that it disappears with whoever
    writes it. Elsewhere it is NAME.XXXXXXXX.gpume-part.EXT in the same folder until then.
    """

    def __init__(self, path: PathLike, overwrite: bool, named: bool = False) -> None:
        """Begin a file. named: it needs a name while it is written, because its writer opens it again.

        Raises:
            OSError: it cannot be written.
        """
        self.path = os.fspath(path)
        self.fd: Optional[int] = None
        self._target = os.path.realpath(self.path)
        folder, name = os.path.split(self._target)
        if os.path.isdir(self._target) or not os.path.basename(self.path):
            raise IsADirectoryError(f"{self.path} is a folder: write the name of a file in it, such as "
                                    f"{os.path.join(self.path, 'out.mkv')}")
        if not overwrite and os.path.exists(self.path):
            raise FileExistsError(f"{self.path} exists")
        if not os.path.isdir(folder):
            raise FileNotFoundError(f"{folder} is no folder")
        stem, suffix = os.path.splitext(name)
        self._part = os.path.join(folder, f"{stem}.{uuid.uuid4().hex[:8]}.gpume-part{suffix}")
        self._overwrite = overwrite
        flag: int = getattr(os, "O_TMPFILE", 0)
        if flag and not named:
            try:
                self.fd = os.open(folder, flag | os.O_RDWR, 0o666)
            except OSError:
                pass        # not on this file system
        if self.fd is None:
            # an exception that names the file
            os.close(os.open(self._part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))

    def name(self) -> str:
        """Return the name under which a filter writes it."""
        return self._part if self.fd is None else f"/proc/self/fd/{self.fd}"

    def arguments(self) -> List[str]:
        """Return the end of the command line of an ffmpeg whose muxer writes it."""
        return ["-y", "file:" + self._part] if self.fd is None else ["-fd", str(self.fd), "fd:"]

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


def write(file: Output, arguments: Sequence[str], progress: Optional[Progress], gpu: bool = True, strict: bool = False,
          is_picture: bool = False, source: object = None) -> None:
    """Run ffmpeg, which writes a file. Then, or after an error, the file is closed.

    Args:
        arguments: all of them but those that report the progress.
        progress: is called with the time in seconds up to which the output has been written.
        gpu: whether it may use a GPU.
        strict: whether damage of the input is an error.
        is_picture: whether the file can hold only one frame.
        source: the input, as Process takes it.
    """
    process: Optional[Process] = None
    nb_frames = 0
    try:
        process = Process(["-progress", "pipe:1", "-nostats", *arguments],
                          pass_fds=() if file.fd is None else (file.fd,), gpu=gpu, source=source)
        for line in iter(process.stdout.readline, b""):
            match = re.match(rb"(out_time_us|frame)=(\d+)", line)
            if match and match[1] == b"frame":
                nb_frames = int(match[2])
            elif match and progress:
                progress(int(match[2]) / 1e6)
        process.check(strict)
        if not nb_frames:
            raise process.error("the input has no frame in this part: start is behind the end of its video")
        if is_picture and nb_frames > 1:
            raise process.error(f"{file.path} holds one picture, and there are more: write .mkv, or set start and "
                                "duration so that one is left")
        file.complete()
    finally:
        if process:
            process.close()
        file.close()


def probe(path: Input, entries: str, input_options: Sequence[str] = ()) -> Dict[str, str]:
    """Return what ffprobe says about the first video stream and the file. A file object must be able to go back."""
    file: Any = path if hasattr(path, "read") else None
    if file is not None and not file.seekable():
        raise ValueError("the input is a file object that cannot be read twice: give its bytes, input.read()")
    at = file.tell() if file is not None else 0
    text = run([*input_options, "-select_streams", "v:0", "-show_entries", entries, "-of", "flat=s=_", url(path)],
               program="ffprobe", source=path).decode()
    if file is not None:
        file.seek(at)
    return dict(_pair(line) for line in text.splitlines() if "=" in line)


def _pair(line: str) -> Tuple[str, str]:
    key, value = line.split("=", 1)
    return key.rsplit("_stream_0_", 1)[-1].replace("format_", ""), value.strip('"')
