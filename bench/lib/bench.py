# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the benchmarks share: programs and filters that run, raw frames, PSNR, figures, tables, pictures."""

import argparse
import csv
import json
import os
import re
import resource
import statistics
import subprocess
import sys

import numpy as np

CORES = len(os.sched_getaffinity(0))
QUIET = "-v", "error", "-nostdin", "-y"
# raw frames as they are, none repeated or dropped
RAW_OUT = "-fps_mode", "passthrough", "-f", "rawvideo"
PLUGINS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plugins.py")
WINDOW = 300, 225   # size of the parts of frames that hardest_place() shows


class Failed(Exception):
    """Why a measurement is left out."""


def first_complaint(text):
    """The first line of ffmpeg's that tells what is wrong, without the addresses in it."""
    lines = [re.sub(r"\[[^]]* @ 0x[0-9a-f]+\] ", "", line).strip() for line in text.splitlines()]
    telling = r"not found|undefined|unable|invalid|not implemented|must be|too "
    return next((line for line in lines if re.search(telling, line, re.I)), next(filter(None, lines), "it failed"))


def run(*command, data=None):
    """Runs a command; returns its standard output, bytes, and its standard error, text."""
    stdin = {"stdin": subprocess.DEVNULL} if data is None else {"input": data}
    done = subprocess.run(command, capture_output=True, check=False, **stdin)
    said = done.stderr.decode(errors="replace")
    if done.returncode:
        raise Failed(f"{os.path.basename(command[0])}: {first_complaint(said)}")
    return done.stdout, said


def raw_input(size, path="-", pix_fmt="yuv420p", rate=25):
    """ffmpeg's options that read raw frames of a size (width, height)."""
    return ["-f", "rawvideo", "-pixel_format", pix_fmt, "-video_size", f"{size[0]}x{size[1]}", "-framerate", str(rate),
            "-i", path]


def filtered(ffmpeg, source, chain, pix_fmt="gray", data=None, threads=None):
    """The bytes of all frames behind a chain of filters; source: input options."""
    limit = ["-filter_threads", str(threads)] if threads else []
    made, _ = run(ffmpeg, *QUIET[:2], *limit, *source, "-vf", chain, *RAW_OUT, "-pix_fmt", pix_fmt, "-", data=data)
    return np.frombuffer(made, np.uint8)


def read_frames(ffmpeg, path, chain, pix_fmt="gray"):
    """The frames of a file behind filters, (frames, samples) of 'gray' or 'yuv420p', and their width and height."""
    made, said = run(ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-i", path, "-an", "-vf", chain, *RAW_OUT, "-pix_fmt", pix_fmt, "-")
    w, h = map(int, re.search(r"Output.*?Video:.*?, (\d+)x(\d+)", said, re.S).groups())
    return np.frombuffer(made, np.uint8).reshape(-1, w * h if pix_fmt == "gray" else w * h * 3 // 2), w, h


def bench_times(said):
    """User, system and wall-clock seconds that -benchmark tells."""
    return list(map(float, re.search(r"bench: utime=([\d.]+)s stime=([\d.]+)s rtime=([\d.]+)s", said).groups()))


def used(system=True):
    """The seconds of processor, of user time only or with that of the system, of this process and of those that ended."""
    return sum(sum(resource.getrusage(who)[:2 if system else 1]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def packets_size(ffmpeg, path):
    """The bytes of all packets of a file."""
    packets = run(ffmpeg, *QUIET, "-i", path, "-c", "copy", "-f", "framecrc", "-")[0].decode()
    return sum(int(line.split(",")[4]) for line in packets.splitlines() if line[0] != "#")


def decibels(error, least=1e-9):
    """PSNR of a mean squared error of samples of 8 bits; errors below the least count as that."""
    return 10 * np.log10(65025 / np.maximum(error, least))


def missing_filter(ffmpeg, text):
    """The first filter of a chain that this ffmpeg does not have, or None."""
    there = run(ffmpeg, "-hide_banner", "-filters")[0].decode()
    return next((f for f in re.findall(r"(?:^|[,;\]])([a-z]\w*)(?==|$|,|;|\[)", text) if not re.search(rf"^ \S+ {f} ", there, re.M)), None)


def encoders_of(ffmpeg, names, known):
    """Of the encoders that are named, or of all that are known, those that this ffmpeg has."""
    for name in known if names == "all" else names.split(","):
        if name not in known:
            sys.exit(f"there is no encoder '{name}', only: {', '.join(known)}")
        if f"Encoder {name} " in run(ffmpeg, "-hide_banner", "-h", f"encoder={name}")[0].decode():
            yield name
        else:
            print(f"left out: {name}, {ffmpeg} does not have that encoder")


class Filter:
    """A method that is a chain of FFmpeg's filters; text: the chain, or a function of a parameter that returns it."""

    def __init__(self, name, text, ffmpeg):
        self.name, self.text, self.ffmpeg = name, text, ffmpeg
        self.loops = 0  # how often the clip is repeated when rates are measured

    def setting(self, v=None):
        return self.text(v) if callable(self.text) else self.text

    def seconds(self, source, text):
        """Frames that come out of the filters, and CPU seconds for them on one thread."""
        out, said = run(self.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-benchmark", "-progress", "pipe:1",
                        "-filter_threads", "1", "-stream_loop", str(self.loops - 1), *source, "-vf", text,
                        "-fps_mode", "passthrough", "-f", "null", "-")
        return int(re.findall(rb"^frame=(\d+)", out, re.M)[-1]), sum(bench_times(said)[:2])

    def rate(self, source, v=None):
        """Output frames per second; None where that is too little beside reading to be told."""
        if not self.loops:  # at least a second or so
            self.loops = 1
            self.loops = min(20, 1 + int(1 / max(self.seconds(source, self.setting(v))[1], 0.01)))
        both, reading = (self.seconds(source, text) for text in (self.setting(v), "null"))
        return both[0] / (both[1] - reading[1]) if both[1] > 1.05 * reading[1] else None


class Plugin:
    """A plugin of VapourSynth, by the program plugins.py; command: runs a Python that has it."""

    def __init__(self, method, command):
        self.program = [*command, PLUGINS, method]

    def is_there(self):
        try:
            return bool(run(*self.program))
        except (OSError, Failed):
            return False

    def call(self, path, size, frames, threads, output="-", *options):
        """Runs it on raw frames of YUV 4:2:0. Returns the frames that came out, and CPU seconds."""
        said, _ = run(*self.program, os.path.abspath(path), *map(str, (*size, frames, threads)),
                      output if output == "-" else os.path.abspath(output), *map(str, options))
        return list(map(float, said.split()[-2:]))

    def rate(self, path, size, frames, *options):
        made, cpu = self.call(path, size, frames, 1, "-", *options)
        return made / cpu


def compare_streams(args, sources, chains, metrics=("psnr", "ssim")):
    """Compares the first two inputs behind filters by args.meter: PSNR and SSIM of luma and, with args.vmaf, VMAF."""
    log = f"{args.out}/vmaf.json"
    metrics = [*metrics, *([f"libvmaf=log_fmt=json:log_path={log}:n_threads={CORES}"] if args.vmaf else [])]
    n = len(metrics)
    graph = "".join(f"[{i}:v]{chain},split={n}{''.join(f'[p{i}{j}]' for j in range(n))};" for i, chain in enumerate(chains))
    graph += ";".join(f"[p0{j}][p1{j}]{metric}" for j, metric in enumerate(metrics))
    said = run(args.meter, "-hide_banner", "-nostdin", "-nostats", *sources[0], *sources[1], "-filter_complex", graph,
               "-fps_mode", "passthrough", "-f", "null", "-")[1]
    found = {name: float(m.group(1)) for name in ("psnr", "ssim")
             if (m := re.search(rf"{name.upper()} [yY]:([\d.]+|inf)", said))}
    if args.vmaf:
        with open(log, encoding="utf-8") as f:
            found["vmaf"] = json.load(f)["pooled_metrics"]["vmaf"]["mean"]
    return found


class Results:
    """Figures with the keys that their columns name."""

    def __init__(self, *columns):
        self.columns, self.rows = columns, []

    def add(self, *row):
        """Adds a figure: the keys in the order of the columns, then the value."""
        self.rows.append(row)

    def matching(self, keys):
        at = [(self.columns.index(k), v) for k, v in keys.items()]
        return [row for row in self.rows if all(row[i] == v for i, v in at)]

    def of(self, **keys):
        """The values that have these keys."""
        return [row[-1] for row in self.matching(keys)]

    def mean(self, **keys):
        """The mean of all clips, or None if a method lacks one that others have: means would not compare."""
        values, clip = self.of(**keys), self.columns.index("clip")
        clips = {row[clip] for row in self.matching({k: v for k, v in keys.items() if k != "method"})}
        return statistics.mean(values) if values and len(values) == len(clips) else None

    def write(self, path, digits=5):
        write_csv(path, (*self.columns, "value"),
                  [(*(f"{k:g}" if isinstance(k, float) else k for k in row[:-1]), f"{row[-1]:.{digits}f}") for row in self.rows])
        print(f"\nfigures: {path}")


def write_csv(path, head, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        csv.writer(f, lineterminator="\n").writerows([head, *rows])


def take_turns(methods, runs, measure):
    """Yields methods and the median of their rates; they take turns. measure: of a method, returns a rate or None."""
    rates = {}
    for _ in range(runs):
        for method in methods:
            rates.setdefault(method, []).append(measure(method))
    for method, values in rates.items():
        if None not in values:
            yield method, statistics.median(values)


def cell(value, form):
    """A cell of a table, empty without a value."""
    return "" if value is None else format(value, form)


def print_table(head, rows, file=None):
    """Prints a table of Markdown."""
    for cells in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(map(str, cells)) + " |", file=file, flush=True)


def titles(columns, form, metrics):
    """Titles and formats of the columns that have figures, with those of rates, which have this format."""
    return {k: v for k, v in {**columns, "rate 1": ("frames/s, one thread", form)}.items() if k in metrics}


def words(separator):
    return lambda text: text.split(separator)


def parse(description, *names, **defaults):
    """Parses the command line; names: those of OPTIONS."""
    options = {
        "ffmpeg": {"required": True},
        "meter": {"required": True, "help": "ffmpeg that compares"},
        "vmaf": {"action": "store_true", "help": "it has libvmaf"},
        "out": {"required": True},
        "runs": {"type": int, "default": 3},
        "sigmas": {"type": lambda s: [float(x) for x in s.split()], "default": [10.]},
        "methods": {"type": words(",")},
        "encoders": {"default": "all"},
        "clip": {"action": "append", "default": [], "help": "NAME, NAME:WIDTHxHEIGHT or NAME=FILE"},
        "whole": {"help": "the clip for rates"},
    }
    parser = argparse.ArgumentParser(description=description)
    for name in names:
        option = options.get(name, {})
        parser.add_argument(f"--{name}", **{**option, **({"default": defaults[name]} if name in defaults else {})})
    return parser.parse_args()


def use_matplotlib():
    """matplotlib.pyplot without a display, or None with a message."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
        return plt
    except ImportError:
        print("no picture, there is no matplotlib")
        return None


def window_sums(errors, width, height, step=8):
    """Sums of every window whose corner is at a multiple of step."""
    total = np.pad(errors, ((1, 0), (1, 0))).cumsum(0).cumsum(1)
    return (total[height:, width:] - total[:-height, width:] - total[height:, :-width] + total[:-height, :-width])[::step, ::step]


def hardest_place(plt, luma, colours, theirs, ours, path, where):
    """Writes a picture of where the errors of two methods differ most, whichever is better.

    luma: arrays (frames, height, width) by name, last the truth; colours: of a name and a frame's number, returns its
    RGB samples; where: of a frame's number, returns words for it.
    """
    names = list(luma)
    count, *size = luma[ours].shape
    width, height = min(WINDOW[0], size[1]), min(WINDOW[1], size[0])
    best, place, psnr = -1, None, {}
    for n in range(count):
        errors = {name: window_sums((luma[name][n].astype(np.int64) - luma[names[-1]][n])**2, width, height)
                  for name in names[:-1]}
        difference = np.abs(errors[theirs] - errors[ours])
        y, x = np.unravel_index(difference.argmax(), difference.shape)
        if difference[y, x] > best:
            best, place = difference[y, x], (n, 8 * x, 8 * y)
            psnr = {name: decibels(max(e[y, x], 1) / (width * height)) for name, e in errors.items()}
    n, x, y = place
    gap, bar, dpi = 4, 24, 100
    total = len(names) * (width + gap) - gap, height + bar
    figure = plt.figure(figsize=(total[0] / dpi, total[1] / dpi), dpi=dpi)
    said = [f"{name}, {value:.1f} dB" for name, value in psnr.items()]
    for i, (name, title) in enumerate(zip(names, [*said, names[-1]])):
        left = i * (width + gap)
        figure.figimage(colours(name, n)[y:y + height, x:x + width], left, 0, origin="upper")
        figure.text((left + width / 2) / total[0], 1 - bar / 2 / total[1], title, ha="center", va="center", fontsize=10)
    figure.savefig(path, dpi=dpi, pil_kwargs={"quality": 92})
    print(f"picture: {path}, {where(n)} at {x},{y}: " + "; ".join(said))
