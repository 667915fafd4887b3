#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Encodes clips with noise, with and without denoising before, and compares with the clips without noise.

Clips and noise are those of denoise.py, which has to run first: the other filter is the one of FFmpeg's
that was best there, with the same setting. Each is encoded at the quantizers of ENCODERS. Bit rates are
compared at equal PSNR of luma, and PSNR at equal bit rates, by the mean distance of the curves where they
overlap (Bjontegaard, VCEG-M33; monotone cubic interpolation over the logarithm of the rate). More bits
spent on noise do not always raise the PSNR: for rates at equal PSNR a curve ends at its highest point.
"""

import argparse
import csv
import os
import re
import statistics
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from denoise import Clip, DEFAULT, TUNED, filters_of  # noqa: E402
from fps import Failed, has_filter, run, use_matplotlib  # noqa: E402

ALONE = "none"
# name: options, quantizers
ENCODERS = {
    "libx264": ("-c:v libx264 -preset medium -crf", (16, 20, 24, 28, 32, 36, 40)),
    "mpeg4": ("-c:v mpeg4 -q:v", (2, 3, 5, 8, 12, 18, 28)),
}
SAMPLES = 1000


def slopes(x, y):
    """Of a monotone cubic through the points (Fritsch and Carlson, SIAM J. Numer. Anal. 17(2), 1980)."""
    h, d = np.diff(x), np.diff(y) / np.diff(x)
    m = np.empty(len(x))
    m[0], m[-1] = d[0], d[-1]
    for i in range(1, len(d)):
        if d[i - 1] * d[i] <= 0:
            m[i] = 0
        else:
            w0, w1 = 2 * h[i] + h[i - 1], h[i] + 2 * h[i - 1]
            m[i] = (w0 + w1) / (w0 / d[i - 1] + w1 / d[i])
    return m


def interpolate(x, y, at):
    m = slopes(x, y)
    i = np.clip(np.searchsorted(x, at, "right") - 1, 0, len(x) - 2)
    h = x[i + 1] - x[i]
    t = (at - x[i]) / h
    return (y[i] * (1 + 2 * t) * (1 - t)**2 + h * m[i] * t * (1 - t)**2 +
            y[i + 1] * t**2 * (3 - 2 * t) + h * m[i + 1] * t**2 * (t - 1))


def mean_distance(a, b):
    """Of two curves, b - a, each of x and y with rising x; None where they do not overlap."""
    low, high = max(a[0][0], b[0][0]), min(a[0][-1], b[0][-1])
    if high <= low or min(len(a[0]), len(b[0])) < 2:
        return None
    at = np.linspace(low, high, SAMPLES)
    return float(np.mean(interpolate(*b, at) - interpolate(*a, at)))


def by_rate(points):
    points = sorted(points)
    return np.log10([p[0] for p in points]), np.array([p[1] for p in points])


def by_psnr(points):
    """As far as the PSNR rises with the rate."""
    rising = []
    for bits, psnr in sorted(points):
        if not rising or psnr > rising[-1][1]:
            rising.append((bits, psnr))
    return np.array([p[1] for p in rising]), np.log10([p[0] for p in rising])


def bd_rate(a, b):
    """By how many percent b needs more bits than a at equal PSNR."""
    distance = mean_distance(by_psnr(a), by_psnr(b))
    return None if distance is None else 100 * (10**distance - 1)


def bd_psnr(a, b):
    """By how many dB b is better than a at equal rates."""
    return mean_distance(by_rate(a), by_rate(b))


class Bench:
    """Encodes clips and keeps rows of results."""

    def __init__(self, args):
        self.args, self.rows = args, []

    def filtered(self, clip, sigma, variant, text):
        """The path of the clip as it comes to the encoder."""
        if variant == ALONE:
            return clip.noisy(sigma)
        path = f"{self.args.out}/{clip.name}-{sigma:g}-{variant}.yuv"
        if not os.path.exists(path):
            run(self.args.ffmpeg, "-v", "error", "-nostdin", "-y", *clip.input(clip.noisy(sigma)), "-vf", text,
                "-fps_mode", "passthrough", "-f", "rawvideo", path)
        return path

    def encode(self, clip, source, text, encoder, q, path):
        """Wall-clock and CPU seconds of the command."""
        err = run(self.args.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-benchmark", "-y",
                  *clip.input(source), "-vf", text, *ENCODERS[encoder][0].split(), str(q), "-f", "nut", path)[1]
        user, system, real = map(float, re.search(
            r"bench: utime=([\d.]+)s stime=([\d.]+)s rtime=([\d.]+)s", err).groups())
        return real, user + system

    def point(self, clip, path):
        """kbit/s of the packets, and PSNR compared with the clip without noise."""
        packets = run(self.args.ffmpeg, "-v", "error", "-i", path, "-c", "copy", "-f", "framecrc", "-")[0]
        size = sum(int(line.split(",")[4]) for line in packets.splitlines() if line[0] != "#")
        made = f"{path}.yuv"
        run(self.args.ffmpeg, "-v", "error", "-nostdin", "-y", "-i", path, "-fps_mode", "passthrough",
            "-f", "rawvideo", made)
        samples = np.fromfile(made, np.uint8)
        if samples.size != clip.frames * clip.frame_size:
            raise Failed("frames were lost")
        return size * 8 / 1000 * 25 / clip.frames, clip.psnr(samples)

    def row(self, clip, sigma, encoder, variant, metric, value):
        self.rows.append((clip, f"{sigma:g}", encoder, variant, metric, value))

    def curves(self, clip, sigma, encoder, variants):
        """Points of each variant."""
        found = {}
        for variant, text in variants.items():
            for q in ENCODERS[encoder][1]:
                path = f"{self.args.out}/coded.nut"
                self.encode(clip, self.filtered(clip, sigma, variant, text), "null", encoder, q, path)
                point = self.point(clip, path)
                found.setdefault(variant, []).append(point)
                self.row(clip.name, sigma, encoder, variant, f"kbit/s at {q}", point[0])
                self.row(clip.name, sigma, encoder, variant, f"psnr at {q}", point[1])
        for variant in variants:
            if variant == ALONE:
                continue
            for metric, value in (("bd-rate", bd_rate(found[ALONE], found[variant])),
                                  ("bd-psnr", bd_psnr(found[ALONE], found[variant]))):
                if value is not None:
                    self.row(clip.name, sigma, encoder, variant, metric, value)
        for variant in variants:
            self.row(clip.name, sigma, encoder, variant, "highest psnr", max(p[1] for p in found[variant]))
            print(f"{clip.name:20s} sigma {sigma:<3g} {encoder:8s} {variant:12s} " + "  ".join(
                f"{bits:.0f}: {psnr:.2f}" for bits, psnr in sorted(found[variant])), flush=True)
        return found

    def times(self, clip, sigma, encoder, variants):
        """Of the whole command, at the quantizer in the middle; what is compared takes turns."""
        options = ENCODERS[encoder][1]
        seconds = {}
        for _ in range(self.args.runs):
            for variant, text in variants.items():
                seconds.setdefault(variant, []).append(
                    self.encode(clip, clip.noisy(sigma), text, encoder, options[len(options) // 2],
                                f"{self.args.out}/coded.nut"))
        for variant, values in seconds.items():
            for i, metric in enumerate(("wall-clock", "CPU")):
                self.row(clip.name, sigma, encoder, variant, metric, statistics.median(v[i] for v in values))

    def of(self, sigma, encoder, variant, metric):
        return [v for _, s, e, w, m, v in self.rows
                if (s, e, w, m) == (f"{sigma:g}", encoder, variant, metric)]


def variants_of(args, sigma):
    """Filters before the encoder: none, the best of FFmpeg's, and mvdenoise."""
    psnr, settings = {}, {}
    with open(f"{args.out}/denoise.csv", newline="", encoding="utf-8") as f:
        for row in csv.DictReader(f):
            if float(row["sigma"]) == sigma and row["metric"] == "psnr" and row["method"] in TUNED:
                psnr.setdefault(row["method"], []).append(float(row["value"]))
                settings[row["method"]] = row["setting"]
    found = {ALONE: "null"}
    if psnr:
        best = max(psnr, key=lambda name: statistics.mean(psnr[name]))
        found[best] = settings[best]
    return found | {DEFAULT: "mvdenoise"}


def print_table(bench, clips, whole, encoders, used):
    def cell(values, number, form):
        return format(statistics.mean(values), form) if len(values) == number else ""

    print(f"\nencoded, compared with the clips without noise: mean of {len(clips)} clips; seconds for "
          f"{whole.frames} frames of {whole.name}, {whole.width}x{whole.height}\n")
    print("| sigma | encoder | before it | rate at equal PSNR (BD-rate) | PSNR at equal rate | highest PSNR | "
          "whole command | CPU |")
    print("| --- |" + " --- |" * 7)
    for encoder in encoders:
        for sigma, variants in used.items():
            for variant in variants:
                rate, psnr, highest = (bench.of(sigma, encoder, variant, m)
                                       for m in ("bd-rate", "bd-psnr", "highest psnr"))
                wall, cpu = (bench.of(sigma, encoder, variant, m) for m in ("wall-clock", "CPU"))
                print(f"| {sigma:g} | {encoder} | {variant} | {cell(rate, len(clips), '+.1f')}"
                      f"{' %' if len(rate) == len(clips) else ''} | {cell(psnr, len(clips), '+.2f')}"
                      f"{' dB' if len(psnr) == len(clips) else ''} | {cell(highest, len(clips), '.2f')} dB | "
                      f"{cell(wall, 1, '.2f')}{' s' if wall else ''} | {cell(cpu, 1, '.2f')}{' s' if cpu else ''} |")


def plot(plt, curves, clip, sigma, path):
    """Quality over rate, a panel for each encoder."""
    figure, panels = plt.subplots(1, len(curves), figsize=(6 * len(curves), 4.5), squeeze=False)
    for axes, (encoder, found) in zip(panels[0], curves.items()):
        for variant, points in found.items():
            points = sorted(points)
            axes.plot([p[0] for p in points], [p[1] for p in points], marker="o",
                      label="as it is" if variant == ALONE else variant)
        axes.set_xscale("log")
        axes.set_title(f"{encoder}, {clip.name}, noise of sigma {sigma:g}")
        axes.set_xlabel("kbit/s")
        axes.set_ylabel("PSNR of luma, dB, compared with the clean clip")
        axes.grid(True, which="both", alpha=0.3)
        axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    print(f"plot: {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ffmpeg", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sigmas", type=lambda s: [float(x) for x in s.split()], default=[10])
    parser.add_argument("--encoders", default="all")
    parser.add_argument("--clip", action="append", default=[], help="NAME:WIDTHxHEIGHT")
    parser.add_argument("--whole", help="the clip for times")
    args = parser.parse_args()
    names = list(ENCODERS) if args.encoders == "all" else args.encoders.split(",")
    encoders = []
    for name in names:
        if name not in ENCODERS:
            sys.exit(f"there is no encoder '{name}', only: {', '.join(ENCODERS)}")
        if f"Encoder {name} " in "".join(run(args.ffmpeg, "-hide_banner", "-h", f"encoder={name}")):
            encoders.append(name)
        else:
            print(f"left out: {name}, {args.ffmpeg} does not have that encoder")
    clips, whole = [Clip(args.out, text) for text in args.clip], Clip(args.out, args.whole)
    bench, used, shown = Bench(args), {}, {}
    middle = min(args.sigmas, key=lambda s: abs(s - 10))
    for sigma in args.sigmas:
        used[sigma] = {v: text for v, text in variants_of(args, sigma).items()
                       if all(has_filter(args.ffmpeg, f) for f in filters_of(text))}
        for encoder in encoders:
            for clip in clips:
                found = bench.curves(clip, sigma, encoder, used[sigma])
                if sigma == middle and clip is clips[0]:
                    shown[encoder] = found
            if sigma == middle:
                bench.times(whole, sigma, encoder, used[sigma])
    with open(f"{args.out}/gain.csv", "w", newline="", encoding="utf-8") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(("clip", "sigma", "encoder", "before", "metric", "value"))
        writer.writerows((*row[:-1], f"{row[-1]:.4f}") for row in bench.rows)
    print_table(bench, clips, whole, encoders, used)
    print(f"\nfigures: {args.out}/gain.csv")
    plt = use_matplotlib()
    if plt and shown:
        plot(plt, shown, clips[0], middle, f"{args.out}/gain.png")


if __name__ == "__main__":
    main()
