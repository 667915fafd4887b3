#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds white noise to clips, has filters take it out, and compares with the clips.

A clip NAME is FOLDER/NAME.yuv, raw YUV 4:2:0. The noise is normal, in all planes, rounded and clipped;
it is the same in every run. All frames count. PSNR, SSIM and VMAF are those of luma. Each filter but
mvdenoise gets, for each sigma, the value of its main parameter with the highest PSNR on all clips, found
by steps of a fifth; mvdenoise estimates the noise. Frames per second are those of whole frames of the
first clip, with noise of sigma 10 or the nearest, on one thread by CPU time, without the time for reading.
"""

import os
import statistics
import sys

import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402
from bench import CORES, Failed, cell, decibels, print_table  # noqa: E402

STEP = 1.2          # factor between the tried values of a parameter
MOST = 30           # values of it
ALIKE = 0.002       # dB, by which more is not better

# name: filters with a parameter v, and the value from which the search begins, by sigma
TUNED = {
    "fftdnoiz": (lambda v: f"fftdnoiz=overlap=0.75:prev=1:next=1:sigma={min(v, 100):.3g}", lambda s: 1.6 * s),
    "nlmeans": (lambda v: f"nlmeans=p=5:r=5:s={min(max(v, 1), 30):.3g}", lambda s: 0.8 * s),
    # Two passes. The option sigma is not the noise's: the first pass needs about 7 times as much, the second 30.
    # Groups of more than one patch remove hardly any noise.
    "bm3d": (lambda v: f"split[a][b];[a]bm3d=block=8:bstep=2:group=1:estim=basic:sigma={v:.3g}[p];"
                       f"[b][p]bm3d=block=8:bstep=2:group=1:estim=final:ref=1:sigma={4.3 * v:.3g}",
             lambda s: 7 * s),
}
# VapourSynth's: method, radius, and the value from which the search begins, by sigma
DEGRAIN = {"MVTools Degrain6": ("mvtools", 6, lambda s: 75 * s), "V-BM3D np": ("v-bm3d-np", 3, lambda s: 1.5 * s)}
# as they are: the noise is estimated
OURS = {
    "mvdenoise radius=0": "mvdenoise=radius=0",
    "mvdenoise radius=1": "mvdenoise=radius=1",
    "mvdenoise": "mvdenoise",
    "mvdenoise radius=3": "mvdenoise=radius=3",
    "mvdenoise dense": "mvdenoise=radius=3:dense=1",
}
METHODS = [*TUNED, *DEGRAIN, *OURS]
DEFAULT = "mvdenoise"
COLUMNS = {"psnr": ("PSNR, dB", ".2f"), "ssim": ("SSIM", ".4f"), "vmaf": ("VMAF", ".1f")}


class Clip:
    """A clip's size, its frames, and where they are with noise."""

    def __init__(self, folder, text):
        self.name, size = text.rsplit(":", 1)
        self.folder = folder
        self.size = self.width, self.height = tuple(map(int, size.split("x")))
        self.path = f"{folder}/{self.name}.yuv"
        self.frame_size = self.width * self.height * 3 // 2
        self.frames = os.path.getsize(self.path) // self.frame_size

    def input(self, path):
        return bench.raw_input(self.size, path)

    def luma(self, samples):
        return samples.reshape(self.frames, self.frame_size)[:, :self.width * self.height]

    def noisy(self, sigma):
        """The path of the clip with noise."""
        path = f"{self.folder}/{self.name}-{sigma:g}.yuv"
        if not os.path.exists(path):
            clean = np.fromfile(self.path, np.uint8)
            random = np.random.default_rng([int(16 * sigma), self.width, self.height])
            noise = random.normal(0, sigma, clean.size)
            np.clip(np.rint(clean + noise), 0, 255).astype(np.uint8).tofile(path)
        return path

    def psnr(self, samples):
        """Of luma, from the mean squared error of all frames."""
        errors = np.square(self.luma(samples).astype(np.float32) - self.luma(np.fromfile(self.path, np.uint8)))
        return decibels(errors.mean(dtype=np.float64))


class Filter(bench.Filter):
    """A method that is a chain of FFmpeg's filters; text has their parameter."""

    def samples(self, clip, path, v):
        """The clip without noise."""
        made = bench.filtered(self.ffmpeg, clip.input(path), self.setting(v), "yuv420p")
        if made.size != clip.frames * clip.frame_size:
            raise Failed("other frames came out")
        return made

    def clip_rate(self, clip, path, v):
        return self.rate(clip.input(path), v)


class Degrain(bench.Plugin):
    """A plugin of VapourSynth."""

    def __init__(self, name):
        self.name, (method, self.radius, self.start) = name, DEGRAIN[name]
        super().__init__(method, [sys.executable])

    def setting(self, v):
        return f"sigma={v:.3g}" if "bm3d" in self.program[-1] else f"thsad={round(v)}"

    def samples(self, clip, path, v):
        out = f"{path}.out.yuv"
        self.call(path, clip.size, clip.frames, CORES, out, self.radius, v)
        return np.fromfile(out, np.uint8)

    def clip_rate(self, clip, path, v):
        return self.rate(path, clip.size, clip.frames, self.radius, v)


def methods_of(args):
    """The methods that there are."""
    for name in args.methods:
        if name not in METHODS:
            sys.exit(f"there is no method '{name}', only: {'; '.join(METHODS)}")
        if name in DEGRAIN:
            method = Degrain(name)
            missing = None if method.is_there() else "VapourSynth or its plugin is not there"
        else:
            method = Filter(name, TUNED[name][0] if name in TUNED else OURS[name], args.ffmpeg)
            missing = bench.missing_filter(args.ffmpeg, method.setting(1.0))
            missing = missing and f"{args.ffmpeg} has no filter {missing}"
        if missing:
            print(f"left out: {name}, {missing}")
        else:
            yield method


def tune(method, clips, sigma):
    """The best value of a method's parameter."""
    found = {}

    def psnr(i):
        if i not in found:
            v = start * STEP**i
            found[i] = statistics.mean(c.psnr(method.samples(c, c.noisy(sigma), v)) for c in clips)
        return found[i]

    start = TUNED[method.name][1](sigma) if method.name in TUNED else method.start(sigma)
    best = 0
    # twice two steps, then one, so that a small dent does not end it
    for step in (3, 1):
        for way in (step, -step):
            while len(found) < MOST and psnr(best + way) > psnr(best) + ALIKE:
                best += way
    return start * STEP**best


def compare(clip, samples, args):
    """PSNR, SSIM and, where there is libvmaf, VMAF."""
    made = f"{args.out}/made.yuv"
    samples.tofile(made)
    return {"psnr": clip.psnr(samples), **bench.compare_streams(args, (clip.input(made), clip.input(clip.path)), ("null", "null"), ["ssim"])}


def print_tables(results, args, clips, whole, timed):
    names = ["noisy", *(m.name for m in args.found)]
    settings = {(s, m): setting for _, s, m, setting, *_ in results.rows}
    for sigma in args.sigmas:
        columns = bench.titles(COLUMNS, ".1f", {row[4] for row in results.matching({"sigma": sigma})})
        rates = f"; frames/s of {whole.name}, {whole.width}x{whole.height}" if "rate 1" in columns else ""
        print(f"\nnoise of sigma {sigma:g}, mean of {len(clips)} clips{rates}\n")
        print_table(["method", *(title for title, _ in columns.values()), "setting"],
                    [[name, *(cell(results.mean(sigma=sigma, method=name, metric=k), form) for k, (_, form) in columns.items()),
                      f"`{settings.get((sigma, name), '')}`".replace("``", "")] for name in names])


def hardest_place(plt, results, args, clip, sigma, path):
    """Where the errors of mvdenoise and of the best other method differ most, whichever is better."""
    psnr = {m.name: results.mean(sigma=sigma, method=m.name, metric="psnr") for m in args.found}
    ranked = sorted((-value, name) for name, value in psnr.items() if name not in OURS and value)
    if not ranked or DEFAULT not in args.kept or not psnr.get(DEFAULT):
        print("left out: the picture, which needs mvdenoise and another method")
        return
    theirs = ranked[0][1]
    shown = {"noisy": np.fromfile(clip.noisy(sigma), np.uint8), theirs: args.kept[theirs],
             DEFAULT: args.kept[DEFAULT], "clean": np.fromfile(clip.path, np.uint8)}

    def colours(name, n):
        frame = shown[name].reshape(clip.frames, clip.frame_size)[n].tobytes()
        return bench.filtered(args.ffmpeg, clip.input("-"), "null", "rgb24", frame).reshape(clip.height, clip.width, 3)

    bench.hardest_place(plt, {k: clip.luma(v).reshape(-1, clip.height, clip.width) for k, v in shown.items()}, colours,
                        theirs, DEFAULT, path, lambda n: f"{clip.name}, sigma {sigma:g}, frame {n}")


def measure(results, args, clips, shown):
    """Quality of all methods."""
    for sigma in args.sigmas:
        for clip in clips:
            noisy = np.fromfile(clip.noisy(sigma), np.uint8)
            for metric, value in compare(clip, noisy, args).items():
                results.add(clip.name, sigma, "noisy", "", metric, value)
        for method in args.found:
            try:
                v = None
                if method.name not in OURS:
                    v = tune(method, clips, sigma)
                args.best[sigma, method.name] = v
                for clip in clips:
                    samples = method.samples(clip, clip.noisy(sigma), v)
                    if sigma == shown and clip is clips[0]:
                        args.kept[method.name] = samples
                    for metric, value in compare(clip, samples, args).items():
                        results.add(clip.name, sigma, method.name, method.setting(v), metric, value)
            except Failed as e:
                print(f"left out: {method.name}, sigma {sigma:g}: {e}")
                continue
            means = {k: results.mean(sigma=sigma, method=method.name, metric=k) for k in COLUMNS}
            print(f"sigma {sigma:<3g} {method.name:20s} " +
                  "  ".join(f"{k} {mean:.4g}" for k, mean in means.items() if mean) + f"  {method.setting(v)}", flush=True)


def main():
    args = bench.parse(__doc__, "ffmpeg", "meter", "vmaf", "out", "runs", "sigmas", "methods", "clip", "whole", methods=METHODS)
    args.found, args.best, args.kept = list(methods_of(args)), {}, {}
    clips, whole = [Clip(args.out, text) for text in args.clip], Clip(args.out, args.whole)
    results = bench.Results("clip", "sigma", "method", "setting", "metric")
    timed = min(args.sigmas, key=lambda s: abs(s - 10))
    shown = min(args.sigmas, key=lambda s: abs(s - 20))
    measure(results, args, clips, shown)
    path = whole.noisy(timed)
    found = [m for m in args.found if results.of(sigma=timed, method=m.name, metric="psnr")]
    for m, rate in bench.take_turns(found, args.runs, lambda m: m.clip_rate(whole, path, args.best[timed, m.name])):
        results.add(whole.name, timed, m.name, m.setting(args.best[timed, m.name]), "rate 1", rate)
    results.write(f"{args.out}/denoise.csv")
    print_tables(results, args, clips, whole, timed)
    plt = bench.use_matplotlib()
    if plt:
        hardest_place(plt, results, args, clips[0], shown, f"{args.out}/hardest.jpg")


if __name__ == "__main__":
    main()
