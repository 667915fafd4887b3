#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds white noise to clips, has filters take it out, and compares with the clips.

A clip NAME is FOLDER/NAME.yuv, raw YUV 4:2:0. The noise is normal, in all planes, rounded and clipped;
it is the same in every run. All frames count. PSNR, SSIM and VMAF are those of luma. Each filter but
mvdenoise gets, for each sigma, the value of its main parameter with the highest PSNR on all clips, found
by steps of a fifth; mvdenoise estimates the noise. Frames per second are those of whole frames of the
first clip, with noise of sigma 10 or the nearest: on one thread by CPU time, on all by wall-clock time,
both without the time for reading.
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

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "fps"))
from fps import CORES, Failed, cell, has_filter, plot, run, sums, use_matplotlib  # noqa: E402

STEP = 1.2          # factor between the tried values of a parameter
MOST = 30           # values of it
ALIKE = 0.002       # dB, by which more is not better

VAPOURSYNTH = os.path.join(HERE, "vapoursynth_denoise.py")
HME = "gpume=algo=hme:dir=both:backend=cpu"
# name: filters with a parameter v, and the value from which the search begins, by sigma
TUNED = {
    "hqdn3d": (lambda v: f"hqdn3d={v:.3g}:{v:.3g}:{0.4 * v:.3g}:{0.4 * v:.3g}", lambda s: 2 * s),
    "atadenoise": (lambda v: "atadenoise=s=5:" + ":".join(f"{i}a={min(v, 0.3):.3g}:{i}b={min(5 * v, 5):.3g}" for i in range(3)),
                   lambda s: 0.01 * s),
    "vaguedenoiser": (lambda v: f"vaguedenoiser=percent=100:threshold={v:.3g}", lambda s: 2 * s),
    "owdenoise": (lambda v: f"owdenoise=ls={v:.3g}:cs={v:.3g}", lambda s: s),
    "fftdnoiz": (lambda v: f"fftdnoiz=overlap=0.75:prev=1:next=1:sigma={min(v, 100):.3g}", lambda s: 1.6 * s),
    "dctdnoiz": (lambda v: f"dctdnoiz=sigma={v:.3g}", lambda s: 2 * s),
    "nlmeans": (lambda v: f"nlmeans=p=5:r=5:s={min(max(v, 1), 30):.3g}", lambda s: 0.8 * s),
    # Two passes. The option sigma is not the noise's: the first pass needs about 7 times as much, the second 30.
    # Groups of more than one patch remove hardly any noise.
    "bm3d": (lambda v: f"split[a][b];[a]bm3d=block=8:bstep=2:group=1:estim=basic:sigma={v:.3g}[p];"
                       f"[b][p]bm3d=block=8:bstep=2:group=1:estim=final:ref=1:sigma={4.3 * v:.3g}",
             lambda s: 7 * s),
}
# Whose parameter is found on every fourth frame: each frame is denoised by itself
SPATIAL = ("vaguedenoiser", "owdenoise", "dctdnoiz", "nlmeans", "bm3d")
# VapourSynth's: method, radius, and the value from which the search begins, by sigma
DEGRAIN = {
    **{f"MVTools Degrain{r}": ("mvtools", r, lambda s: 75 * s) for r in (1, 2, 3, 6)},
    **{f"MVUtensils Degrain{r}": ("mvutensils", r, lambda s: 75 * s) for r in (6, 12, 25)},
    "V-BM3D radius=2": ("v-bm3d", 2, lambda s: 1.7 * s),
    "V-BM3D radius=4": ("v-bm3d", 4, lambda s: 1.7 * s),
    "V-BM3D np": ("v-bm3d-np", 3, lambda s: 1.5 * s),
}
# as they are: the noise is estimated
OURS = {
    "mvdenoise radius=0": "mvdenoise=radius=0",
    "mvdenoise radius=1": "mvdenoise=radius=1",
    "mvdenoise": "mvdenoise",
    "mvdenoise radius=3": "mvdenoise=radius=3",
    "mvdenoise radius=4": "mvdenoise=radius=4",
    "mvdenoise dense": "mvdenoise=radius=3:dense=1",
    "mvdenoise best": "mvdenoise=radius=4:dense=1",
    "mvdenoise passes=1": "mvdenoise=passes=1",
    "mvdenoise fast": "mvdenoise=radius=1:passes=1",
}
METHODS = [*TUNED, *DEGRAIN, *OURS]
DEFAULT = "mvdenoise"
WINDOW = 300, 225   # size of the part of a frame that the picture shows
AREA = 16           # samples a side of what may be among the worst
COLUMNS = {"psnr": ("PSNR, dB", ".2f"), "worst": ("worst 1 %, dB", ".2f"), "ssim": ("SSIM", ".4f"),
           "vmaf": ("VMAF", ".1f")}


def decibels(errors):
    """PSNR of squared errors."""
    return 10 * np.log10(255**2 / max(errors.mean(dtype=np.float64), 1e-9))


class Clip:
    """A clip's size, its frames, and where they are with noise."""

    def __init__(self, folder, text):
        self.name, size = text.rsplit(":", 1)
        self.folder = folder
        self.width, self.height = map(int, size.split("x"))
        self.path = f"{folder}/{self.name}.yuv"
        self.frame_size = self.width * self.height * 3 // 2
        self.frames = os.path.getsize(self.path) // self.frame_size

    def input(self, path):
        return ["-f", "rawvideo", "-pixel_format", "yuv420p", "-video_size", f"{self.width}x{self.height}",
                "-framerate", "25", "-i", path]

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

    def fewer(self, sigmas, step):
        """A clip of every few frames of this one, with the same noise."""
        name = f"{self.name}-few"
        for path, few in ((self.path, f"{self.folder}/{name}.yuv"),
                          *((self.noisy(s), f"{self.folder}/{name}-{s:g}.yuv") for s in sigmas)):
            np.fromfile(path, np.uint8).reshape(self.frames, -1)[::step].tofile(few)
        return Clip(self.folder, f"{name}:{self.width}x{self.height}")

    def psnr(self, samples):
        """Of luma, from the mean squared error of all frames."""
        return decibels(self.errors(samples))

    def errors(self, samples):
        """Squared, of luma, by frames."""
        return np.square(self.luma(samples).astype(np.float32) - self.luma(np.fromfile(self.path, np.uint8)))

    def worst(self, errors):
        """PSNR of that 1 % of the areas of 16x16 where errors are largest: there, ghosts are seen."""
        rows, cols = self.height // AREA, self.width // AREA
        areas = errors.reshape(self.frames, self.height, self.width)[:, :rows * AREA, :cols * AREA]
        areas = areas.reshape(self.frames, rows, AREA, cols, AREA).mean(axis=(2, 4), dtype=np.float64)
        return decibels(np.sort(areas, axis=None)[-max(areas.size // 100, 1):])


class Filter:
    """A method that is a chain of FFmpeg's filters; text has their parameter."""

    def __init__(self, name, text, args):
        self.name, self.text, self.ffmpeg = name, text, args.ffmpeg
        self.loops = 0  # how often the clip is repeated when rates are measured

    def setting(self, v):
        return self.text(v) if callable(self.text) else self.text

    def samples(self, clip, path, v):
        """The clip without noise."""
        command = [self.ffmpeg, "-v", "error", "-nostdin", *clip.input(path), "-vf", self.setting(v),
                   "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode or len(done.stdout) != clip.frames * clip.frame_size:
            raise Failed((done.stderr.decode().splitlines() or ["other frames came out"])[-1])
        return np.frombuffer(done.stdout, np.uint8)

    def seconds(self, clip, path, threads, text):
        """CPU and wall-clock seconds for all frames."""
        err = run(self.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-benchmark", "-filter_threads",
                  str(threads), "-stream_loop", str(self.loops - 1), *clip.input(path), "-vf", text,
                  "-fps_mode", "passthrough", "-f", "null", "-")[1]
        times = re.search(r"bench: utime=([\d.]+)s stime=([\d.]+)s rtime=([\d.]+)s", err)
        user, system, real = map(float, times.groups())
        return user + system, real

    def rate(self, clip, path, v, threads):
        """Frames per second; None where that is too little beside reading to be told."""
        column = 0 if threads == 1 else 1
        if not self.loops:  # at least a second or so
            self.loops = 1
            self.loops = min(20, 1 + int(1 / max(self.seconds(clip, path, threads, self.setting(v))[1], 0.01)))
        both = self.seconds(clip, path, threads, self.setting(v))[column]
        reading = self.seconds(clip, path, threads, "null")[column]
        return clip.frames * self.loops / (both - reading) if both > 1.05 * reading else None


class Degrain:
    """A plugin of VapourSynth, by a program of its own."""

    def __init__(self, name):
        self.name = name
        self.method, self.radius, self.start = DEGRAIN[name]

    def setting(self, v):
        return f"sigma={v:.3g}" if "bm3d" in self.method else f"thsad={round(v)}"

    def call(self, clip, path, v, threads, *output):
        return run(sys.executable, VAPOURSYNTH, self.method, path, str(clip.width), str(clip.height),
                   str(clip.frames), str(threads), str(self.radius), str(v), *output)[0]

    def samples(self, clip, path, v):
        out = f"{path}.out.yuv"
        self.call(clip, path, v, CORES, out)
        return np.fromfile(out, np.uint8)

    def rate(self, clip, path, v, threads):
        frames, cpu, wall = map(float, self.call(clip, path, v, threads).split())
        return frames / (cpu if threads == 1 else wall)


def filters_of(text):
    """Names of the filters of a chain."""
    return re.findall(r"(?:^|[,;\]])([a-z]\w*)(?==|$|,|;|\[)", text)


def methods_of(args):
    """The methods that there are."""
    for name in args.methods:
        if name not in METHODS:
            sys.exit(f"there is no method '{name}', only: {'; '.join(METHODS)}")
        if name in DEGRAIN:
            if subprocess.run([sys.executable, VAPOURSYNTH, DEGRAIN[name][0]], capture_output=True,
                              check=False).returncode == 0:
                yield Degrain(name)
            else:
                print(f"left out: {name}, VapourSynth or its plugin is not there")
            continue
        text = TUNED[name][0] if name in TUNED else OURS[name]
        missing = [f for f in filters_of(text(1.0) if callable(text) else text)
                   if not has_filter(args.ffmpeg, f)]
        if missing:
            print(f"left out: {name}, {args.ffmpeg} has no filter {missing[0]}")
        else:
            yield Filter(name, text, args)


class Tuned:
    """Values of parameters that an earlier run found, for the same clips."""

    def __init__(self, path, clips):
        self.path = path
        self.clips = " ".join(f"{c.name}:{c.width}x{c.height}x{c.frames}" for c in clips)
        self.values = {}
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                self.values = json.load(f)

    def value(self, method, sigma, find):
        key = f"{self.clips} {method} {sigma:g}"
        if key not in self.values:
            self.values[key] = find()
            with open(self.path, "w", encoding="utf-8") as f:
                json.dump(self.values, f, indent=1)
        return self.values[key]


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
    """PSNR, that of the worst areas, SSIM and, where there is libvmaf, VMAF."""
    errors = clip.errors(samples)
    found = {"psnr": decibels(errors), "worst": clip.worst(errors)}
    made = f"{args.out}/made.yuv"
    samples.tofile(made)
    metrics = ["ssim"]
    if args.vmaf:
        log = f"{args.out}/vmaf.json"
        metrics.append(f"libvmaf=log_fmt=json:log_path={log}:n_threads={CORES}")
    n = len(metrics)
    pads = ["".join(f"[{side}{i}]" for i in range(n)) for side in "mt"]
    graph = f"[0:v]split={n}{pads[0]};[1:v]split={n}{pads[1]};"
    graph += ";".join(f"[m{i}][t{i}]{metric}" for i, metric in enumerate(metrics))
    err = run(args.meter, "-hide_banner", "-nostdin", "-nostats", *clip.input(made), *clip.input(clip.path),
              "-filter_complex", graph, "-fps_mode", "passthrough", "-f", "null", "-")[1]
    found["ssim"] = float(re.search(r"SSIM Y:([\d.]+)", err).group(1))
    if args.vmaf:
        with open(log, encoding="utf-8") as f:
            found["vmaf"] = json.load(f)["pooled_metrics"]["vmaf"]["mean"]
    return found


class Results:
    """Figures by sigma, clip, method and metric; settings by sigma and method."""

    def __init__(self):
        self.rows, self.values, self.settings = [], {}, {}

    def add(self, sigma, clip, method, metric, value):
        self.rows.append((clip, sigma, method, metric, value))

    def of(self, sigma, method, metric, clip=None):
        return [v for c, s, m, k, v in self.rows
                if s == sigma and m == method and k == metric and clip in (None, c)]

    def mean(self, sigma, method, metric):
        """The mean of all clips, or None if one is missing: the others' would not compare."""
        values = self.of(sigma, method, metric)
        clips = {c for c, s, _, k, _ in self.rows if s == sigma and k == metric}
        return statistics.mean(values) if values and len(values) == len(clips) else None

    def write(self, path):
        with open(path, "w", newline="", encoding="utf-8") as f:
            writer = csv.writer(f, lineterminator="\n")
            writer.writerow(("clip", "sigma", "method", "setting", "metric", "value"))
            writer.writerows((c, f"{s:g}", m, self.settings.get((s, m), ""), k, f"{v:.5f}")
                             for c, s, m, k, v in self.rows)


def print_tables(results, args, clips, whole, timed):
    names = ["noisy", *(m.name for m in args.found)]
    for sigma in args.sigmas:
        columns = COLUMNS | ({f"rate {n}": (f"{n} threads", ".1f") for n in (1, CORES)} if sigma == timed else {})
        columns["rate 1"] = "frames/s, one thread", ".1f"
        columns = {k: v for k, v in columns.items()
                   if any(s == sigma and k == metric for _, s, _, metric, _ in results.rows)}
        rates = f"; frames/s of {whole.name}, {whole.width}x{whole.height}" if "rate 1" in columns else ""
        print(f"\nnoise of sigma {sigma:g}, mean of {len(clips)} clips{rates}\n")
        print("| method | " + " | ".join(title for title, _ in columns.values()) + " | setting |")
        print("| --- |" + " --- |" * (len(columns) + 1))
        for name in names:
            print(f"| {name} | " + " | ".join(cell(results.mean(sigma, name, k), form)
                                              for k, (_, form) in columns.items()) +
                  f" | `{results.settings.get((sigma, name), '')}` |".replace(" `` |", "  |"))
    print("\nPSNR of luma, dB, by sigma and clip\n")
    heads = [(s, c) for s in args.sigmas for c in clips]
    print("| method | " + " | ".join(f"{s:g} {c.name}" for s, c in heads) + " |")
    print("| --- |" + " --- |" * len(heads))
    for name in names:
        values = [results.of(s, name, "psnr", c.name) for s, c in heads]
        print(f"| {name} | " + " | ".join(cell(v[0] if v else None, ".2f") for v in values) + " |")


def colours_of(clip, samples, number, args):
    """A frame as RGB."""
    frame = samples.reshape(clip.frames, clip.frame_size)[number].tobytes()
    command = [args.ffmpeg, "-v", "error", "-nostdin", *clip.input("-"), "-frames:v", "1", "-f", "rawvideo",
               "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, input=frame, stdout=subprocess.PIPE, check=True)
    return np.frombuffer(done.stdout, np.uint8).reshape(clip.height, clip.width, 3)


def hardest_place(plt, results, args, clip, sigma, path):
    """Where the errors of mvdenoise and of the best other method differ most, whichever is better."""
    ranked = sorted((-results.mean(sigma, m.name, "psnr"), m.name) for m in args.found
                    if m.name not in OURS and results.mean(sigma, m.name, "psnr"))
    if not ranked or DEFAULT not in args.kept or not results.mean(sigma, DEFAULT, "psnr"):
        print("left out: the picture, which needs mvdenoise and another method")
        return
    theirs = ranked[0][1]
    clean = np.fromfile(clip.path, np.uint8)
    shown = {"noisy": np.fromfile(clip.noisy(sigma), np.uint8), theirs: args.kept[theirs],
             DEFAULT: args.kept[DEFAULT], "clean": clean}
    width, height = min(WINDOW[0], clip.width), min(WINDOW[1], clip.height)
    luma = {name: clip.luma(samples).reshape(-1, clip.height, clip.width).astype(np.int64)
            for name, samples in shown.items()}
    best, place = -1, None
    for n in range(clip.frames):
        errors = {name: sums((luma[name][n] - luma["clean"][n])**2, width, height) for name in shown}
        difference = np.abs(errors[theirs] - errors[DEFAULT])
        y, x = np.unravel_index(difference.argmax(), difference.shape)
        if difference[y, x] > best:
            best, place = difference[y, x], (n, 8 * x, 8 * y)
            psnr = {name: 10 * np.log10(255**2 * width * height / max(e[y, x], 1)) for name, e in errors.items()}
    n, x, y = place
    gap, bar, dpi = 4, 24, 100
    total = 4 * width + 3 * gap, height + bar
    figure = plt.figure(figsize=(total[0] / dpi, total[1] / dpi), dpi=dpi)
    for i, (name, samples) in enumerate(shown.items()):
        left = i * (width + gap)
        figure.figimage(colours_of(clip, samples, n, args)[y:y + height, x:x + width], left, 0, origin="upper")
        title = name if name == "clean" else f"{name}, {psnr[name]:.1f} dB"
        figure.text((left + width / 2) / total[0], 1 - bar / 2 / total[1], title, ha="center", va="center",
                    fontsize=10)
    figure.savefig(path, dpi=dpi, pil_kwargs={"quality": 92})
    print(f"picture: {path}, {clip.name}, sigma {sigma:g}, frame {n} at {x},{y}: " +
          "; ".join(f"{k} {v:.1f} dB" for k, v in psnr.items() if k != "clean"))


def measure(results, args, clips, shown):
    """Quality of all methods."""
    for sigma in args.sigmas:
        for clip in clips:
            noisy = np.fromfile(clip.noisy(sigma), np.uint8)
            for metric, value in compare(clip, noisy, args).items():
                results.add(sigma, clip.name, "noisy", metric, value)
        for method in args.found:
            try:
                v = None
                if method.name not in OURS:
                    tuned_on = [c.fewer(args.sigmas, 4) for c in clips] if method.name in SPATIAL else clips
                    v = args.tuned.value(method.name, sigma, lambda: tune(method, tuned_on, sigma))
                args.best[sigma, method.name] = v
                results.settings[sigma, method.name] = method.setting(v)
                for clip in clips:
                    samples = method.samples(clip, clip.noisy(sigma), v)
                    if sigma == shown and clip is clips[0]:
                        args.kept[method.name] = samples
                    for metric, value in compare(clip, samples, args).items():
                        results.add(sigma, clip.name, method.name, metric, value)
            except Failed as e:
                print(f"left out: {method.name}, sigma {sigma:g}: {e}")
                continue
            print(f"sigma {sigma:<3g} {method.name:20s} " +
                  "  ".join(f"{k} {results.mean(sigma, method.name, k):.4g}" for k in COLUMNS
                            if results.mean(sigma, method.name, k)) + f"  {method.setting(v)}", flush=True)


def time_all(results, args, whole, timed):
    """Rates; what is compared takes turns."""
    path = whole.noisy(timed)
    for threads in {1, CORES} if args.runs else ():
        rates = {}
        for _ in range(args.runs):
            for method in args.found:
                if results.of(timed, method.name, "psnr"):
                    rates.setdefault(method.name, []).append(
                        method.rate(whole, path, args.best[timed, method.name], threads))
        for name, values in rates.items():
            if None not in values:
                results.add(timed, whole.name, name, f"rate {threads}", statistics.median(values))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ffmpeg", required=True)
    parser.add_argument("--meter", required=True, help="ffmpeg that compares")
    parser.add_argument("--vmaf", action="store_true", help="it has libvmaf")
    parser.add_argument("--out", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sigmas", type=lambda s: [float(x) for x in s.split()], default=[10])
    parser.add_argument("--methods", type=lambda s: s.split(","), default=METHODS)
    parser.add_argument("--clip", action="append", default=[], help="NAME:WIDTHxHEIGHT")
    parser.add_argument("--whole", help="the clip for rates")
    args = parser.parse_args()
    args.found, args.best, args.kept = list(methods_of(args)), {}, {}
    clips = [Clip(args.out, text) for text in args.clip]
    whole = Clip(args.out, args.whole)
    args.tuned = Tuned(f"{args.out}/tuned.json", clips)
    results = Results()
    timed = min(args.sigmas, key=lambda s: abs(s - 10))
    shown = min(args.sigmas, key=lambda s: abs(s - 20))
    measure(results, args, clips, shown)
    time_all(results, args, whole, timed)
    results.write(f"{args.out}/denoise.csv")
    print_tables(results, args, clips, whole, timed)
    print(f"\nfigures: {args.out}/denoise.csv")
    plt = use_matplotlib()
    if plt and args.runs:
        plot(plt, [(results.mean(timed, m.name, "rate 1"), results.mean(timed, m.name, "psnr"), m.name) for m in args.found],
             f"frames/s, one thread, {whole.width}x{whole.height}",
             f"PSNR of luma, dB, noise of sigma {timed:g}, mean of {len(clips)} clips", f"{args.out}/denoise.png")
    if plt:
        hardest_place(plt, results, args, clips[0], shown, f"{args.out}/hardest.jpg")


if __name__ == "__main__":
    main()
