# SPDX-License-Identifier: LGPL-2.1-or-later
"""python -m gpume: the package from the command line."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import warnings
from typing import Any, Callable, Dict, List, Optional, Tuple

import gpume

from ._arguments import escape, search_text, seconds
from ._process import FFmpegWarning, Output, Process, probe, write
from ._vectors import RECORDS, vectors_command


class Bar:
    """A progress bar on a terminal: tqdm's if it is there."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.origin, self.total = self._part(args)
        self._tqdm: Optional[Any] = None
        self._percent = -1
        self._shown = sys.stderr.isatty() and not args.quiet
        if self._shown:
            try:
                shape = "{l_bar}{bar}| {n:.1f}/{total:.1f} s [{elapsed}<{remaining}]" if self.total else None
                self._tqdm = importlib.import_module("tqdm").tqdm(total=self.total, unit="s", bar_format=shape)
            except ImportError:
                pass

    @staticmethod
    def _part(args: argparse.Namespace) -> Tuple[float, Optional[float]]:
        """Return the time at which the work begins, as it is reported, and its length if that is known."""
        try:
            start, length = seconds("start", args.start) or 0.0, seconds("duration", args.duration)
            found = probe(args.input, "format=start_time,duration", args.input_options)
            origin = start + float(found["start_time"]) if args.command in ("vectors", "flow", "score") else 0.0
            return origin, length or max(float(found["duration"]) - start, 0.0)
        except (OSError, gpume.Error, KeyError, ValueError):
            return 0.0, None

    def __call__(self, time: float) -> None:
        time = max(time - self.origin, 0.0)
        if self._tqdm is not None:
            self._tqdm.update(max(time - self._tqdm.n, 0))
        elif self._shown and self.total:
            percent = min(int(100 * time / self.total), 100)
            if percent != self._percent:
                self._percent = percent
                print(f"\r{percent:3d} %", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        if self._tqdm is not None:
            self._tqdm.close()
        elif self._percent >= 0:
            print(file=sys.stderr)


def _option(text: str) -> Tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    return key, value


def _device(text: str) -> Any:
    return int(text) if text.isdigit() else text


def _shared(args: argparse.Namespace) -> Dict[str, Any]:
    return {name: getattr(args, name) for name in ("device", "start", "duration", "size", "input_options", "strict")
            if hasattr(args, name)}     # fields cannot be scaled


def _vectors(args: argparse.Namespace, options: Dict[str, Any], bar: Bar) -> None:
    """Write the filter's own file, or for .npz one file for each field, in a folder."""
    def command(files: str) -> List[str]:
        return vectors_command(args.input, files, args.device, args.start, args.duration, args.size, None,
                               args.input_options, args.strict, options)

    ending = os.path.splitext(args.output)[1]
    if args.output == "-":
        _pass_on(command(RECORDS), args.strict)
    elif ending in (".csv", ".npy", ".npys"):
        search_text(args.device, **options)     # raises before there is a file
        file = Output(args.output, True)
        write(file, command(f"mv_file={escape(file.name())}:mv_format={ending[1:]}"), bar, strict=args.strict)
    else:
        _fields(args, options, bar, ".npz", gpume.write_npz)


def _pass_on(command: List[str], strict: bool) -> None:
    process = Process(command)
    try:
        while True:
            data = process.stdout.read(1 << 16)
            if not data:
                break
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        process.check(strict)
    finally:
        process.close()


def _fields(args: argparse.Namespace, options: Dict[str, Any], bar: Bar, ending: str,
            write: Callable[[str, Any], None]) -> None:
    """Write a file for each field into the folder OUT."""
    if os.path.splitext(args.output)[1] and not os.path.isdir(args.output):
        raise ValueError(f"'{args.output}' is no folder, and this command writes no file of that type; "
                         f"for a new folder of this name write '{args.output}{os.sep}'")
    os.makedirs(args.output, exist_ok=True)
    with gpume.vectors(args.input, **_shared(args), **options) as fields:
        for field in fields:
            distance = f"_{field.distance:+d}" if _many(options) else ""
            write(os.path.join(args.output, f"{field.number:06d}{distance}{ending}"), field)
            bar(field.pts_time or 0.0)


def _many(options: Dict[str, Any]) -> bool:
    """Return whether a frame has several fields."""
    return options.get("dir") == "both" or options.get("refs", "1") != "1"


def _flow(args: argparse.Namespace, options: Dict[str, Any], bar: Bar) -> None:
    """Write the flow into the next frame, one file a frame, into the folder OUT."""
    writers: Dict[str, Tuple[str, Callable[[str, Any], None]]] = {
        "flo": (".flo", lambda path, field: gpume.write_flo(path, field.flow())),
        "kitti": (".png", lambda path, field: gpume.write_kitti(path, field.flow())),
        "picture": (".png", lambda path, field: gpume.write_png(path, field.picture(args.longest))),
    }
    ending, write = writers[args.format]
    options.setdefault("dir", "future")
    _fields(args, options, bar, ending, write)


def _score(args: argparse.Namespace, options: Dict[str, Any], bar: Bar) -> None:
    score = gpume.motion_score(args.input, **_shared(args), progress=bar, **options)
    bar.close()
    if args.json:
        text = json.dumps({"input": args.input, **score.as_dict()})
    else:
        text = (f"motion {score.motion:.2f} samples a frame, {score.speed:.3f} picture heights a second\n"
                f"residual {score.residual:.2f} of 255\nconsistent {100 * score.consistent:.1f} %\n"
                f"cuts: {', '.join(f'{t:g}' for t in score.cuts) or 'none'}")
    if args.output == "-":
        print(text)
    else:
        with open(args.output, "w", encoding="utf-8") as f:
            print(text, file=f)


def _video(function: Callable[..., None]) -> Callable[[argparse.Namespace, Dict[str, Any], Bar], None]:
    def command(args: argparse.Namespace, options: Dict[str, Any], bar: Bar) -> None:
        more = _shared(args)
        if function is gpume.interpolate:
            more["fps"] = args.fps
        function(args.input, args.output, codec=args.codec, quality=args.quality, audio=not args.no_audio,
                 overwrite=not args.no_overwrite, progress=bar, **more, **options)
    return command


def _disparity(args: argparse.Namespace, options: Dict[str, Any], bar: Bar) -> None:
    show = options.pop("output", args.show)
    gpume.disparity(args.input, args.right, args.output, show=show, codec=args.codec, quality=args.quality,
                    overwrite=not args.no_overwrite, progress=bar, **_shared(args), **options)


#: What a command does, in words, and the filter whose options --set takes.
_COMMANDS: Dict[str, Tuple[Callable[[argparse.Namespace, Dict[str, Any], Bar], None], str, str]] = {
    "vectors": (_vectors, "write vectors: OUT is a .npys, .npy or .csv, - (.npys), or a folder for .npz", "gpume"),
    "flow": (_flow, "write the flow into the next frame, a file for each frame, into the folder OUT", "gpume"),
    "score": (_score, "say how much moves, how well motion explains it, and where cuts are", "gpume"),
    "fps": (_video(gpume.interpolate), "convert the frame rate", "mvfps"),
    "denoise": (_video(gpume.denoise), "denoise along motion vectors", "mvdenoise"),
    "deinterlace": (_video(gpume.deinterlace), "deinterlace along motion vectors", "mvdeint"),
    "stabilize": (_video(gpume.stabilize), "take out the shake of the camera", "mvstab"),
    "draw": (_video(gpume.draw), "draw the motion", "mvview"),
    "disparity": (_disparity, "find the disparity of two views; without RIGHT, the frames of IN have both, as "
                  "--set layout says (sbsl: side by side)", "mvstereo"),
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gpume", description="Motion vectors of videos, and what can be "
                                     "made with them.")
    parser.add_argument("--version", action="version", version=gpume.__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (_, text, filter_name) in _COMMANDS.items():
        p = commands.add_parser(name, help=text, description=text)
        p.add_argument("input", metavar="IN", help="a video file, or whatever else ffmpeg can open")
        if name == "disparity":
            p.add_argument("right", metavar="RIGHT", nargs="?", help="the right view; IN is the left one")
            p.add_argument("--show", default="disparity", help="contents of OUT, the filter's option output: "
                           "disparity, gray8, color, depth, confidence or left+gray8 [disparity, which .mkv, .npy and, "
                           "of one pair, .png keep exactly]")
        if name == "score":
            p.add_argument("output", metavar="OUT", nargs="?", default="-", help="a file; by default standard output")
            p.add_argument("--json", action="store_true", help="all figures of all frames, as JSON")
        else:
            p.add_argument("output", metavar="OUT", help="a file or folder, as said above")
        if name == "flow":
            p.add_argument("--format", choices=["flo", "kitti", "picture"], default="flo")
            p.add_argument("--longest", type=float, help="of --format picture: length of full colour, in samples")
        if name == "fps":
            p.add_argument("--fps", default="60", help="frames per second, or a factor: 2x [60]")
        if name in ("fps", "denoise", "deinterlace", "stabilize", "draw", "disparity"):
            p.add_argument("--codec", help="an encoder of ffmpeg [by the name: .mkv is lossless]")
            p.add_argument("--quality", type=int, default=2, help="of MPEG-4, 1 (best) to 31 [2]")
            p.add_argument("--no-overwrite", action="store_true", help="fail if OUT exists")
        if name in ("fps", "denoise", "deinterlace", "stabilize", "draw"):
            p.add_argument("--no-audio", action="store_true", help="leave the sound out, which is copied otherwise")
        p.add_argument("--device", type=_device, default="auto", help="auto, cpu, or the index of a GPU")
        p.add_argument("--start", help="where to begin, in seconds")
        p.add_argument("--duration", help="how much of it, in seconds")
        if name not in ("deinterlace", "disparity"):
            p.add_argument("--size", metavar="WIDTHxHEIGHT", help="scale pictures to this size first")
        p.add_argument("--format-in", dest="input_options", default=[], type=lambda f: ["-f", f], metavar="FORMAT",
                       help="format of the input, where its name does not say it")
        p.add_argument("--set", action="append", default=[], type=_option, metavar="NAME=VALUE",
                       help=f"an option of the filter {filter_name}; may be repeated")
        p.add_argument("--strict", action="store_true", help="fail if the input is damaged, instead of warning")
        p.add_argument("--quiet", action="store_true", help="no progress bar")
    return parser


def main(argv: Optional[List[str]] = None) -> int:
    """Run a command and return its exit status."""
    args = _parser().parse_args(argv)
    bar = Bar(args)
    warnings.simplefilter("always", FFmpegWarning)
    warnings.formatwarning = lambda message, *_, **__: f"gpume: warning: {message}\n"
    try:
        _COMMANDS[args.command][0](args, dict(args.set), bar)
        sys.stdout.flush()
    except BrokenPipeError:
        # whoever read standard output has read enough; Python is not to say so at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (gpume.Error, OSError, TypeError, ValueError) as e:
        bar.close()
        print(f"gpume: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        bar.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
