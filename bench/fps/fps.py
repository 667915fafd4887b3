#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes every second frame of clips again, in several ways, and compares it with the true one.

A clip NAME is FOLDER/NAME.nut at 50 frames per second, and FOLDER/NAME-half.nut with every second
one of them. PSNR and SSIM are those of luma, by FFmpeg's filters. Only frames that were made again
are compared, of every method the same: not the first one and not the last two, for which
minterpolate lacks neighbours. Frames per second are those of the output, from the first clip: on
one thread by CPU time, on all by wall-clock time, both without the time for reading.
"""

import argparse
import csv
import json
import os
import re
import statistics
import subprocess
import sys

import numpy as np

FIRST, LAST = 3, -5  # first and last frame that are compared, as indices in the clip

HME = "gpume=algo=hme:dir=both:pel=1:backend=cpu"
# name: filters that turn 25 frames per second into 50
FILTERS = {
    "mvfps block=8": f"{HME}:block=8:sweeps=4,mvfps=fps=50",
    "mvfps block=16": f"{HME}:block=16:sweeps=8,mvfps=fps=50",
    "minterpolate": "minterpolate=fps=50",
    "minterpolate aobmc": "minterpolate=fps=50:mc_mode=aobmc:me_mode=bidir:vsbmc=1",
    "framerate": "framerate=fps=50",
    "mean of neighbours": "mvfps=fps=50:mode=blend",
}
# name: plugins of VapourSynth, as vapoursynth_fps.py calls them
PLUGINS = {
    "MVTools FlowFPS": "mvtools-flow",
    "MVTools BlockFPS": "mvtools-block",
    "MVUtensils FlowFPS": "mvutensils-flow",
    "open-svpflow": "svpflow",
}
METHODS = [*FILTERS, *PLUGINS]
# the two methods that the picture shows
OURS, THEIRS = "mvfps block=8", "minterpolate"
WINDOW = 300, 225  # size of the part of a frame that the picture shows
COLUMNS = {"psnr": ("PSNR, dB", ".2f"), "ssim": ("SSIM", ".4f"), "vmaf": ("VMAF", ".1f")}
CORES = len(os.sched_getaffinity(0))


class Failed(Exception):
    """Why a method is left out."""


def run(*command):
    """Runs a command; returns its standard output and error."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise Failed(lines[-1] if lines else f"{command[0]} failed")
    return done.stdout, done.stderr


class Clip:
    """A clip's files and figures."""

    def __init__(self, folder, name, ffmpeg):
        self.name = name
        self.full, self.half = f"{folder}/{name}.nut", f"{folder}/{name}-half.nut"
        self.yuv = f"{folder}/{name}-half.yuv"
        said = run(ffmpeg, "-hide_banner", "-nostdin", "-i", self.full, "-c", "copy", "-f", "null", "-",
                   "-progress", "pipe:1", "-nostats")
        self.width, self.height = map(int, re.search(r"Video:.* (\d+)x(\d+)", said[1]).groups())
        self.frames = int(re.findall(r"^frame=(\d+)", said[0], re.M)[-1])
        self.compared = range(FIRST, self.frames + LAST + 1, 2)


class Filter:
    """A method that is a chain of FFmpeg's filters."""

    def __init__(self, name, args):
        self.name, self.text, self.ffmpeg = name, FILTERS[name], args.ffmpeg
        self.loops = 0  # how often the clip is repeated when rates are measured

    def input(self, clip):
        """Input options, and the filters that make 50 frames per second of it."""
        return ["-i", clip.half], self.text

    def seconds(self, clip, threads, text, loops):
        """Frames that come out of the filters, and CPU and wall-clock seconds for them."""
        out, err = run(self.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-benchmark", "-progress",
                       "pipe:1", "-filter_threads", str(threads), "-stream_loop", str(loops), "-i",
                       clip.half, "-vf", text, "-fps_mode", "passthrough", "-f", "null", "-")
        times = re.search(r"bench: utime=([\d.]+)s stime=([\d.]+)s rtime=([\d.]+)s", err)
        user, system, real = map(float, times.groups())
        return int(re.findall(r"^frame=(\d+)", out, re.M)[-1]), user + system, real

    def rate(self, clip, threads):
        """Output frames per second; None where that is too little beside reading to be told."""
        column = 1 if threads == 1 else 2
        if not self.loops:  # at least a second or so
            once = self.seconds(clip, threads, self.text, 0)[2]
            self.loops = min(20, 1 + int(1 / max(once, 0.01)))
        frames, *_ = figures = self.seconds(clip, threads, self.text, self.loops - 1)
        reading = self.seconds(clip, threads, "null", self.loops - 1)
        taken = figures[column] - reading[column]
        return frames / taken if taken > 0.05 * reading[column] else None


class Plugin:
    """A plugin of VapourSynth, by a program of its own."""

    def __init__(self, name, args):
        self.name, self.ffmpeg = name, args.ffmpeg
        self.program = [*args.vapoursynth.split(), os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                                             "vapoursynth_fps.py"), PLUGINS[name]]

    def is_there(self):
        return subprocess.run(self.program, capture_output=True, check=False).returncode == 0

    def call(self, clip, threads, *output):
        """Runs it on the raw pictures of the clip."""
        if not os.path.exists(clip.yuv):
            run(self.ffmpeg, "-v", "error", "-nostdin", "-i", clip.half, "-f", "rawvideo", clip.yuv)
        return run(*self.program, os.path.abspath(clip.yuv), str(clip.width), str(clip.height),
                   str((clip.frames + 1) // 2), str(threads), *map(os.path.abspath, output))[0]

    def input(self, clip):
        path = f"{clip.yuv}.out.yuv"
        self.call(clip, CORES, path)
        return ["-f", "rawvideo", "-pixel_format", "yuv420p", "-video_size",
                f"{clip.width}x{clip.height}", "-framerate", "50", "-i", path], "null"

    def rate(self, clip, threads):
        frames, cpu, wall = map(float, self.call(clip, threads).split())
        return frames / (cpu if threads == 1 else wall)


def pick(clip):
    """Filters that leave the frames that are compared, numbered from 0."""
    return (f"settb=1/50,select='mod(pts,2)*between(pts,{clip.compared[0]},{clip.compared[-1]})',"
            f"setpts=(PTS-{clip.compared[0]})/2")


def compare(method, clip, args):
    """PSNR, SSIM and, where there is libvmaf, VMAF of the frames that were made again."""
    arguments, text = method.input(clip)
    metrics = ["psnr=stats_file=" + args.stats, "ssim"]
    if args.vmaf:
        metrics.append(f"libvmaf=log_fmt=json:log_path={args.vmaf_log}:n_threads={CORES}")
    n = len(metrics)
    made, true = ([f"[{side}{i}]" for i in range(n)] for side in "mt")
    if args.meter == args.ffmpeg:
        graph = f"[0:v]{text},{pick(clip)},split={n}{''.join(made)};"
    else:
        # it need not have the filters
        path = f"{args.out}/made.nut"
        run(args.ffmpeg, "-v", "error", "-nostdin", "-y", *arguments, "-vf", text, "-fps_mode",
            "passthrough", "-c:v", "rawvideo", path)
        arguments = ["-i", path]
        graph = f"[0:v]{pick(clip)},split={n}{''.join(made)};"
    graph += f"[1:v]{pick(clip)},split={n}{''.join(true)};"
    graph += ";".join(f"{m}{t}{metric}" for m, t, metric in zip(made, true, metrics))
    err = run(args.meter, "-hide_banner", "-nostdin", "-nostats", *arguments, "-i", clip.full,
              "-filter_complex", graph, "-fps_mode", "passthrough", "-f", "null", "-")[1]
    with open(args.stats, encoding="ascii") as f:
        frames = sum(1 for _ in f)
    if frames != len(clip.compared):
        raise Failed(f"{frames} frames were compared, not {len(clip.compared)}")
    found = {"psnr": float(re.search(r"PSNR y:([\d.]+|inf)", err).group(1)),
             "ssim": float(re.search(r"SSIM Y:([\d.]+)", err).group(1))}
    if args.vmaf:
        with open(args.vmaf_log, encoding="utf-8") as f:
            found["vmaf"] = json.load(f)["pooled_metrics"]["vmaf"]["mean"]
    return found


def has_filter(ffmpeg, name):
    return re.search(rf"^ \S+ {name} ", run(ffmpeg, "-hide_banner", "-filters")[0], re.M)


def methods_of(args):
    """The methods that there are."""
    for name in args.methods:
        if name not in METHODS:
            sys.exit(f"there is no method '{name}', only: {'; '.join(METHODS)}")
        if name in FILTERS:
            missing = [f for f in re.findall(r"(?:^|,)(\w+)=", FILTERS[name]) if not has_filter(args.ffmpeg, f)]
            if missing:
                print(f"left out: {name}, this ffmpeg has no filter {missing[0]}")
            else:
                yield Filter(name, args)
        elif Plugin(name, args).is_there():
            yield Plugin(name, args)
        else:
            print(f"left out: {name}, its plugin is not there")


class Results:
    """Figures by method, clip and metric."""

    def __init__(self):
        self.rows = []

    def add(self, clip, method, metric, value):
        self.rows.append((clip, method, metric, value))

    def of(self, method, metric, clip=None):
        return [v for c, m, k, v in self.rows if m == method and k == metric and clip in (None, c)]

    def mean(self, method, metric):
        """The mean of all clips, or None if one is missing: the others' would not compare."""
        values = self.of(method, metric)
        clips = {c for c, _, k, _ in self.rows if k == metric}
        return statistics.mean(values) if values and len(values) == len(clips) else None

    def write(self, path):
        with open(path, "w", newline="", encoding="utf-8") as f:
            writer = csv.writer(f)
            writer.writerow(("clip", "method", "metric", "value"))
            writer.writerows((c, m, k, f"{v:.5f}") for c, m, k, v in self.rows)


def cell(value, form):
    return "" if value is None else format(value, form)


def print_tables(results, methods, clips):
    columns = COLUMNS | {f"rate {n}": (f"{n} threads", ".0f") for n in (1, CORES)}
    columns["rate 1"] = "frames/s, one thread", ".0f"
    columns = {k: v for k, v in columns.items() if any(k == row[2] for row in results.rows)}
    print(f"\nmean of {len(clips)} clips; frames/s of {clips[0].name}, "
          f"{clips[0].width}x{clips[0].height}\n")
    print("| method | " + " | ".join(title for title, _ in columns.values()) + " |")
    print("| --- |" + " --- |" * len(columns))
    for m in methods:
        print(f"| {m.name} | " + " | ".join(cell(results.mean(m.name, k), form)
                                            for k, (_, form) in columns.items()) + " |")
    print("\nPSNR of luma, dB, by clip\n")
    print("| clip | " + " | ".join(m.name for m in methods) + " |")
    print("| --- |" + " --- |" * len(methods))
    for clip in clips:
        values = [results.of(m.name, "psnr", clip.name) for m in methods]
        print(f"| {clip.name} | " + " | ".join(cell(v[0] if v else None, ".2f") for v in values) + " |")


def use_matplotlib():
    """matplotlib.pyplot, or None."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        return None
    return plt


def free_place(box, inside, taken):
    """Whether a label can be here: within the panel, on nothing else."""
    return (inside.x0 < box.x0 and inside.y0 < box.y0 and inside.x1 > box.x1 and inside.y1 > box.y1
            and not any(box.overlaps(other) for other in taken))


def plot(plt, points, xlabel, ylabel, path):
    """Points (x, y, name) with x on a logarithmic scale, each name beside its point where nothing else is."""
    from matplotlib.transforms import Bbox
    points = sorted(p for p in points if None not in p)
    if not points:
        print("left out: the plot, no method has both a rate and all clips")
        return
    figure, axes = plt.subplots(figsize=(8, 5.5))
    axes.set_xscale("log")
    colours = ["tab:blue" if p[2].startswith("mv") else "tab:orange" for p in points]
    for point, colour in zip(points, colours):
        axes.plot(*point[:2], "o", color=colour)
    axes.margins(0.2)
    axes.grid(True, which="both", alpha=0.3)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    figure.tight_layout()
    figure.canvas.draw()
    inside = axes.get_window_extent()
    taken = [Bbox([[x - 6, y - 6], [x + 6, y + 6]]) for x, y in axes.transData.transform([p[:2] for p in points])]
    places = [(dx * d, dy * d) for d in (7, 14, 22, 32) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    for point, colour in zip(points, colours):
        label = axes.annotate(point[2], point[:2], (7, 0), textcoords="offset points", fontsize=9, color=colour)
        for dx, dy in [*places, places[0]]:  # the first place again, if none is free
            label.set(position=(dx, dy), ha="center" if not dx else "left" if dx > 0 else "right",
                      va="center" if not dy else "bottom" if dy > 0 else "top")
            if free_place(label.get_window_extent().padded(1), inside, taken):
                break
        taken.append(label.get_window_extent().padded(1))
    figure.savefig(path, dpi=110)
    print(f"plot: {path}")


def pictures(ffmpeg, clip, arguments, text, form, then="null"):
    """The frames that are compared, as an array."""
    command = [ffmpeg, "-v", "error", "-nostdin", *arguments, "-vf",
               f"{text},{pick(clip)},{then}", "-fps_mode", "passthrough", "-f", "rawvideo",
               "-pix_fmt", form, "-"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    channels = 3 if form == "rgb24" else 1
    return np.frombuffer(done.stdout, np.uint8).reshape(-1, clip.height, clip.width, channels)


def sums(errors, width, height, step=8):
    """Sums of every window whose corner is at a multiple of step."""
    total = np.pad(errors, ((1, 0), (1, 0))).cumsum(0).cumsum(1)
    all_sums = (total[height:, width:] - total[:-height, width:] - total[height:, :-width] +
                total[:-height, :-width])
    return all_sums[::step, ::step]


def hardest_place(plt, clip, args, path):
    """Where the errors of both methods differ most: both, and the truth beside them."""
    sources = {THEIRS: (["-i", clip.half], FILTERS[THEIRS]),
               OURS: (["-i", clip.half], FILTERS[OURS]),
               "the true frame": (["-i", clip.full], "null")}
    luma = [pictures(args.ffmpeg, clip, *s, "gray", "extractplanes=y")[..., 0]
            for s in sources.values()]
    width, height = min(WINDOW[0], clip.width), min(WINDOW[1], clip.height)
    best, place = -1, None
    for n in range(len(clip.compared)):
        theirs, ours = (sums((luma[i][n].astype(np.int64) - luma[2][n])**2, width, height) for i in (0, 1))
        difference = np.abs(theirs - ours)
        y, x = np.unravel_index(difference.argmax(), difference.shape)
        if difference[y, x] > best:
            best, place = difference[y, x], (n, 8 * x, 8 * y, theirs[y, x], ours[y, x])
    n, x, y, *errors = place
    colour = [pictures(args.ffmpeg, clip, *s, "rgb24")[n, y:y + height, x:x + width]
              for s in sources.values()]
    psnr = [10 * np.log10(255**2 * width * height / max(e, 1)) for e in errors]
    titles = [f"{name}, {value:.1f} dB" for name, value in zip(("minterpolate", "mvfps"), psnr)]
    gap, bar, dpi = 4, 24, 100
    total = 3 * width + 2 * gap, height + bar
    figure = plt.figure(figsize=(total[0] / dpi, total[1] / dpi), dpi=dpi)
    for i, (picture, title) in enumerate(zip(colour, [*titles, "the true frame"])):
        left = i * (width + gap)
        figure.figimage(picture, left, 0, origin="upper")
        figure.text((left + width / 2) / total[0], 1 - bar / 2 / total[1], title, ha="center",
                    va="center", fontsize=10)
    figure.savefig(path, dpi=dpi, pil_kwargs={"quality": 92})
    print(f"picture: {path}, {clip.name}, frame {clip.compared[n]} at {x},{y}: " + "; ".join(titles))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ffmpeg", required=True)
    parser.add_argument("--meter", required=True, help="ffmpeg that compares")
    parser.add_argument("--vmaf", action="store_true", help="it has libvmaf")
    parser.add_argument("--out", required=True)
    parser.add_argument("--vapoursynth", default=sys.executable, help="runs Python with VapourSynth's plugins")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--methods", type=lambda s: s.split(","), default=METHODS)
    parser.add_argument("--clip", action="append", default=[])
    args = parser.parse_args()
    if not args.clip:
        sys.exit("there is no clip")
    args.stats, args.vmaf_log = f"{args.out}/psnr.txt", f"{args.out}/vmaf.json"
    methods = list(methods_of(args))
    clips = [Clip(args.out, name, args.ffmpeg) for name in args.clip]
    results = Results()
    for clip in clips:
        for method in methods:
            try:
                found = compare(method, clip, args)
            except Failed as e:
                print(f"left out: {method.name}, {clip.name}: {e}")
                continue
            for metric, value in found.items():
                results.add(clip.name, method.name, metric, value)
            print(f"{clip.name:16s} {method.name:32s} " +
                  "  ".join(f"{k} {v:.4g}" for k, v in found.items()), flush=True)
    # what is compared takes turns
    for threads in {1, CORES} if args.runs else ():
        rates = {}
        for _ in range(args.runs):
            for method in methods:
                if results.of(method.name, "psnr", clips[0].name):
                    rates.setdefault(method.name, []).append(method.rate(clips[0], threads))
        for name, values in rates.items():
            if None not in values:
                results.add(clips[0].name, name, f"rate {threads}", statistics.median(values))
    results.write(f"{args.out}/fps.csv")
    print_tables(results, methods, clips)
    print(f"\nfigures: {args.out}/fps.csv")
    plt = use_matplotlib()
    names = [m.name for m in methods]
    if plt and args.runs:
        plot(plt, [(results.mean(m.name, "rate 1"), results.mean(m.name, "psnr"), m.name) for m in methods],
             f"output frames/s, one thread, {clips[0].width}x{clips[0].height}",
             f"PSNR of luma, dB, mean of {len(clips)} clips", f"{args.out}/fps.png")
    if plt and OURS in names and THEIRS in names:
        hardest_place(plt, clips[0], args, f"{args.out}/hardest.jpg")


if __name__ == "__main__":
    main()
