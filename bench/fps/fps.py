#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes every second frame of clips again, in several ways, and compares it with the true one.

A clip NAME is FOLDER/NAME.nut at 50 frames per second, and FOLDER/NAME-half.nut with every second
one of them. PSNR and SSIM are those of luma, by FFmpeg's filters. Only frames that were made again
are compared, of every method the same: not the first one and not the last two, for which
minterpolate lacks neighbours. Frames per second are those of the output, from the first clip, on
one thread by CPU time, without the time for reading.
"""

import os
import re
import sys

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402
from bench import CORES, Failed, cell, print_table, run  # noqa: E402

FIRST, LAST = 3, -5  # first and last frame that are compared, as indices in the clip

HME = "gpume=algo=hme:dir=both:pel=1:backend=cpu"
# name: filters that turn 25 frames per second into 50
FILTERS = {
    "mvfps block=8": f"{HME}:block=8:sweeps=4,mvfps=fps=50",
    "mvfps block=16": f"{HME}:block=16:sweeps=8,mvfps=fps=50",
    "minterpolate": "minterpolate=fps=50",
    "mean of neighbours": "mvfps=fps=50:mode=blend",
}
# name: the method of ../lib/plugins.py
PLUGINS = {"MVTools FlowFPS": "mvtools-flow", "MVTools BlockFPS": "mvtools-block"}
METHODS = [*FILTERS, *PLUGINS]
# the two methods that the picture shows
OURS, THEIRS = "mvfps block=8", "minterpolate"
COLUMNS = {"psnr": ("PSNR, dB", ".2f"), "ssim": ("SSIM", ".4f"), "vmaf": ("VMAF", ".1f")}


class Clip:
    """A clip's files and figures."""

    def __init__(self, folder, name, ffmpeg):
        self.name, self.ffmpeg = name, ffmpeg
        self.full, self.half = f"{folder}/{name}.nut", f"{folder}/{name}-half.nut"
        self.yuv = f"{folder}/{name}-half.yuv"
        out, said = run(ffmpeg, "-hide_banner", "-nostdin", "-i", self.full, "-c", "copy", "-f", "null", "-", "-progress",
                        "pipe:1", "-nostats")
        self.size = list(map(int, re.search(r"Video:.* (\d+)x(\d+)", said).groups()))
        self.frames = int(re.findall(rb"^frame=(\d+)", out, re.M)[-1])
        self.compared = range(FIRST, self.frames + LAST + 1, 2)

    def raw(self):
        """The raw frames of the half, as the arguments that a plugin wants."""
        if not os.path.exists(self.yuv):
            run(self.ffmpeg, *bench.QUIET, "-i", self.half, "-f", "rawvideo", self.yuv)
        return self.yuv, self.size, (self.frames + 1) // 2

    def pick(self):
        """Filters that leave the frames that are compared, numbered from 0."""
        return (f"settb=1/50,select='mod(pts,2)*between(pts,{self.compared[0]},{self.compared[-1]})',"
                f"setpts=(PTS-{self.compared[0]})/2")


class Filter(bench.Filter):
    """A method that is a chain of FFmpeg's filters."""

    def input(self, clip):
        """Input options, and the filters that make 50 frames per second of it."""
        return ["-i", clip.half], self.text

    def clip_rate(self, clip):
        return self.rate(["-i", clip.half])


class Plugin(bench.Plugin):
    """A plugin of VapourSynth."""

    def __init__(self, name, command):
        super().__init__(PLUGINS[name], command)
        self.name = name

    def input(self, clip):
        path = f"{clip.yuv}.out.yuv"
        self.call(*clip.raw(), CORES, path)
        return bench.raw_input(clip.size, path, rate=50), "null"

    def clip_rate(self, clip):
        return self.rate(*clip.raw())


def compare(method, clip, args):
    """PSNR, SSIM and, where there is libvmaf, VMAF of the frames that were made again."""
    source, chain = method.input(clip)
    if args.meter != args.ffmpeg:
        # it need not have the filters
        path = f"{args.out}/made.nut"
        run(args.ffmpeg, *bench.QUIET, *source, "-vf", chain, "-fps_mode", "passthrough", "-c:v", "rawvideo", path)
        source, chain = ["-i", path], "null"
    found = bench.compare_streams(args, (source, ["-i", clip.full]), (f"{chain},{clip.pick()}", clip.pick()),
                                  (f"psnr=stats_file={args.stats}", "ssim"))
    with open(args.stats, encoding="ascii") as f:
        frames = sum(1 for _ in f)
    if frames != len(clip.compared):
        raise Failed(f"{frames} frames were compared, not {len(clip.compared)}")
    return found


def methods_of(args):
    """The methods that there are."""
    for name in args.methods:
        if name not in METHODS:
            sys.exit(f"there is no method '{name}', only: {'; '.join(METHODS)}")
        method = Filter(name, FILTERS[name], args.ffmpeg) if name in FILTERS else Plugin(name, args.vapoursynth.split())
        missing = bench.missing_filter(args.ffmpeg, FILTERS[name]) if name in FILTERS else None
        if missing:
            print(f"left out: {name}, this ffmpeg has no filter {missing}")
        elif name in PLUGINS and not method.is_there():
            print(f"left out: {name}, its plugin is not there")
        else:
            yield method


def print_tables(results, methods, clips):
    columns = bench.titles(COLUMNS, ".0f", {row[2] for row in results.rows})
    print(f"\nmean of {len(clips)} clips; frames/s of {clips[0].name}, {clips[0].size[0]}x{clips[0].size[1]}\n")
    print_table(["method", *(title for title, _ in columns.values())],
                [[m.name, *(cell(results.mean(method=m.name, metric=k), form) for k, (_, form) in columns.items())] for m in methods])
    print("\nPSNR of luma, dB, by clip\n")
    print_table(["clip", *(m.name for m in methods)],
                [[clip.name, *(cell(next(iter(results.of(method=m.name, metric="psnr", clip=clip.name)), None), ".2f")
                               for m in methods)] for clip in clips])


def hardest_place(plt, clip, args, path):
    """Where the errors of both methods differ most: both, and the truth beside them."""
    sources = {"minterpolate": (clip.half, FILTERS[THEIRS]), "mvfps": (clip.half, FILTERS[OURS]), "the true frame": (clip.full, "null")}

    def frames(name, form, then="null"):
        source, chain = sources[name]
        made = bench.filtered(args.ffmpeg, ["-i", source], f"{chain},{clip.pick()},{then}", form)
        return made.reshape(len(clip.compared), clip.size[1], clip.size[0], -1)

    bench.hardest_place(plt, {name: frames(name, "gray", "extractplanes=y")[..., 0] for name in sources},
                        lambda name, n: frames(name, "rgb24")[n], "minterpolate", "mvfps", path,
                        lambda n: f"{clip.name}, frame {clip.compared[n]}")


def main():
    args = bench.parse(__doc__, "ffmpeg", "meter", "vmaf", "out", "vapoursynth", "runs", "methods", "clip",
                       vapoursynth=sys.executable, methods=METHODS)
    if not args.clip:
        sys.exit("there is no clip")
    args.stats = f"{args.out}/psnr.txt"
    methods = list(methods_of(args))
    clips = [Clip(args.out, name, args.ffmpeg) for name in args.clip]
    results = bench.Results("clip", "method", "metric")
    for clip in clips:
        for method in methods:
            try:
                found = compare(method, clip, args)
            except Failed as e:
                print(f"left out: {method.name}, {clip.name}: {e}")
                continue
            for metric, value in found.items():
                results.add(clip.name, method.name, metric, value)
            print(f"{clip.name:16s} {method.name:32s} " + "  ".join(f"{k} {v:.4g}" for k, v in found.items()), flush=True)
    first = clips[0]
    timed = [m for m in methods if results.of(method=m.name, metric="psnr", clip=first.name)]
    for method, rate in bench.take_turns(timed, args.runs, lambda m: m.clip_rate(first)):
        results.add(first.name, method.name, "rate 1", rate)
    results.write(f"{args.out}/fps.csv")
    print_tables(results, methods, clips)
    plt = bench.use_matplotlib()
    names = [m.name for m in methods]
    if plt and OURS in names and THEIRS in names:
        hardest_place(plt, first, args, f"{args.out}/hardest.jpg")


if __name__ == "__main__":
    main()
