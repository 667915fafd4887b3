#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Encodes clips with noise, with and without denoising before, and compares with the clips without noise.

Clips and noise are those of denoise.py, which has to run first: the other filter is the one of FFmpeg's
that was best there, with the same setting. Each is encoded at the quantizers of ENCODERS. Bit rates are
compared at equal PSNR of luma, and PSNR at equal bit rates, by the mean distance of the curves where they
overlap (Bjontegaard, VCEG-M33; monotone cubic interpolation over the logarithm of the rate). More bits
spent on noise do not always raise the PSNR: for rates at equal PSNR a curve ends at its highest point.
"""

import csv
import os
import statistics
import sys

import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402
from bench import Failed, run  # noqa: E402
from denoise import DEFAULT, TUNED, Clip  # noqa: E402

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


class Bench(bench.Results):
    """Encodes clips and keeps rows of results."""

    def __init__(self, args):
        super().__init__("clip", "sigma", "encoder", "before", "metric")
        self.args = args

    def filtered(self, clip, sigma, variant, text):
        """The path of the clip as it comes to the encoder."""
        if variant == ALONE:
            return clip.noisy(sigma)
        path = f"{self.args.out}/{clip.name}-{sigma:g}-{variant}.yuv"
        if not os.path.exists(path):
            run(self.args.ffmpeg, *bench.QUIET, *clip.input(clip.noisy(sigma)), "-vf", text, *bench.RAW_OUT, path)
        return path

    def encode(self, clip, source, text, encoder, q, path):
        """Wall-clock and CPU seconds of the command."""
        said = run(self.args.ffmpeg, "-hide_banner", "-nostdin", "-nostats", "-benchmark", "-y",
                   *clip.input(source), "-vf", text, *ENCODERS[encoder][0].split(), str(q), "-f", "nut", path)[1]
        user, system, real = bench.bench_times(said)
        return real, user + system

    def point(self, clip, path):
        """kbit/s of the packets, and PSNR compared with the clip without noise."""
        size = bench.packets_size(self.args.ffmpeg, path)
        samples = bench.filtered(self.args.ffmpeg, ["-i", path], "null", "yuv420p")
        if samples.size != clip.frames * clip.frame_size:
            raise Failed("frames were lost")
        return size * 8 / 1000 * 25 / clip.frames, clip.psnr(samples)

    def curves(self, clip, sigma, encoder, variants):
        """Points of each variant."""
        found = {}
        for variant, text in variants.items():
            for q in ENCODERS[encoder][1]:
                path = f"{self.args.out}/coded.nut"
                self.encode(clip, self.filtered(clip, sigma, variant, text), "null", encoder, q, path)
                point = self.point(clip, path)
                found.setdefault(variant, []).append(point)
                self.add(clip.name, sigma, encoder, variant, f"kbit/s at {q}", point[0])
                self.add(clip.name, sigma, encoder, variant, f"psnr at {q}", point[1])
        for variant in variants:
            if variant == ALONE:
                continue
            for metric, value in (("bd-rate", bd_rate(found[ALONE], found[variant])),
                                  ("bd-psnr", bd_psnr(found[ALONE], found[variant]))):
                if value is not None:
                    self.add(clip.name, sigma, encoder, variant, metric, value)
        for variant in variants:
            self.add(clip.name, sigma, encoder, variant, "highest psnr", max(p[1] for p in found[variant]))
            print(f"{clip.name:20s} sigma {sigma:<3g} {encoder:8s} {variant:12s} " + "  ".join(
                f"{bits:.0f}: {psnr:.2f}" for bits, psnr in sorted(found[variant])), flush=True)

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
                self.add(clip.name, sigma, encoder, variant, metric, statistics.median(v[i] for v in values))


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


def print_table(found, clips, whole, encoders, used):
    def cell(values, number, form, unit):
        return format(statistics.mean(values), form) + unit if len(values) == number else ""

    print(f"\nencoded, compared with the clips without noise: mean of {len(clips)} clips; seconds for "
          f"{whole.frames} frames of {whole.name}, {whole.width}x{whole.height}\n")
    rows = []
    for encoder in encoders:
        for sigma, variants in used.items():
            for variant in variants:
                rate, psnr, highest, wall, cpu = (found.of(sigma=sigma, encoder=encoder, before=variant, metric=m)
                                                  for m in ("bd-rate", "bd-psnr", "highest psnr", "wall-clock", "CPU"))
                rows.append([f"{sigma:g}", encoder, variant, cell(rate, len(clips), "+.1f", " %"), cell(psnr, len(clips), "+.2f", " dB"),
                             cell(highest, len(clips), ".2f", " dB"), cell(wall, 1, ".2f", " s"), cell(cpu, 1, ".2f", " s")])
    bench.print_table(["sigma", "encoder", "before it", "rate at equal PSNR (BD-rate)", "PSNR at equal rate", "highest PSNR",
                       "whole command", "CPU"], rows)


def main():
    args = bench.parse(__doc__, "ffmpeg", "out", "runs", "sigmas", "encoders", "clip", "whole")
    encoders = list(bench.encoders_of(args.ffmpeg, args.encoders, ENCODERS))
    clips, whole = [Clip(args.out, text) for text in args.clip], Clip(args.out, args.whole)
    results, used = Bench(args), {}
    middle = min(args.sigmas, key=lambda s: abs(s - 10))
    for sigma in args.sigmas:
        used[sigma] = {v: text for v, text in variants_of(args, sigma).items()
                       if not bench.missing_filter(args.ffmpeg, text)}
        for encoder in encoders:
            for clip in clips:
                results.curves(clip, sigma, encoder, used[sigma])
            if sigma == middle:
                results.times(whole, sigma, encoder, used[sigma])
    print_table(results, clips, whole, encoders, used)
    results.write(f"{args.out}/gain.csv", 4)


if __name__ == "__main__":
    main()
