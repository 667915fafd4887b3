#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Has filters take noise out of clips that were encoded with it, and compares with the clips without noise.

Most noise that users meet has been through an encoder, which blurs it and leaves other errors: it is no
longer white. Clips, noise, settings and figures are as in denoise.py. Each filter but mvdenoise gets the
value of its main parameter with the highest PSNR behind that encoder.
"""

import os
import statistics
import sys

import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402
from bench import Failed, cell, run  # noqa: E402
from denoise import COLUMNS, OURS, Clip, compare, methods_of, tune  # noqa: E402

# name: options with which much of the noise is left
ENCODERS = {
    "libx264": "-c:v libx264 -preset medium -crf 24",
    "mpeg4": "-c:v mpeg4 -q:v 6",
}
# the best of FFmpeg's and of MVTools, and ours
METHODS = ["nlmeans", "fftdnoiz", "MVTools Degrain6", "mvdenoise radius=1", "mvdenoise"]


class CodedClip(Clip):
    """A clip whose noise has been through an encoder."""

    def __init__(self, text, encoder, args):
        super().__init__(args.out, text)
        self.encoder, self.ffmpeg = encoder, args.ffmpeg

    def noisy(self, sigma):
        path = f"{self.folder}/{self.name}-{sigma:g}-{self.encoder}.yuv"
        if not os.path.exists(path):
            coded = f"{self.folder}/coded.nut"
            run(self.ffmpeg, *bench.QUIET, *self.input(super().noisy(sigma)), *ENCODERS[self.encoder].split(), "-f", "nut", coded)
            run(self.ffmpeg, *bench.QUIET, "-i", coded, *bench.RAW_OUT, path)
            if os.path.getsize(path) != self.frames * self.frame_size:
                raise Failed("frames were lost")
        return path


def measure(args, encoder, clips):
    """Rows of clip, method, setting, metric and value."""
    rows = []
    for clip in clips:
        noisy = np.fromfile(clip.noisy(args.sigma), np.uint8)
        rows += [(clip.name, "noisy", "", *item) for item in compare(clip, noisy, args).items()]
    for method in args.found:
        try:
            v = None
            if method.name not in OURS:
                v = tune(method, clips, args.sigma)
            made = []
            for clip in clips:
                figures = compare(clip, method.samples(clip, clip.noisy(args.sigma), v), args)
                made += [(clip.name, method.name, method.setting(v), *item) for item in figures.items()]
        except Failed as e:
            print(f"left out: {method.name} behind {encoder}: {e}")
            continue
        rows += made
        print(f"behind {encoder:8s} {method.name:20s} " + "  ".join(
            f"{name} {value:.4g}" for name, _, _, metric, value in made if metric == "psnr"), flush=True)
    return rows


def print_table(args, encoder, clips, rows):
    columns = {k: v for k, v in COLUMNS.items() if any(k == metric for *_, metric, _ in rows)}
    print(f"\nnoise of sigma {args.sigma:g} behind {ENCODERS[encoder]}, mean of {len(clips)} clips\n")
    table = []
    for name, setting in dict.fromkeys((row[1], row[2]) for row in rows):
        values = {(clip, metric): value for clip, method, _, metric, value in rows if method == name}
        means = [statistics.mean(values[clip.name, metric] for clip in clips) for metric in columns]
        table.append([name, *(cell(value, form) for value, (_, form) in zip(means, columns.values())),
                      *(cell(values[clip.name, "psnr"], ".2f") for clip in clips), f"`{setting}`".replace("``", "")])
    bench.print_table(["method", *(title for title, _ in columns.values()), *(f"PSNR, {clip.name}" for clip in clips), "setting"],
                      table)


def main():
    args = bench.parse(__doc__, "ffmpeg", "meter", "vmaf", "out", "sigmas", "methods", "encoders", "clip", methods=METHODS)
    args.sigma = min(args.sigmas, key=lambda s: abs(s - 10))    # the nearest to 10 is taken
    args.methods = [name for name in args.methods if name in METHODS]
    args.found = list(methods_of(args))
    results = bench.Results("clip", "sigma", "encoder", "method", "setting", "metric")
    for encoder in bench.encoders_of(args.ffmpeg, args.encoders, ENCODERS):
        clips = [CodedClip(text, encoder, args) for text in args.clip]
        rows = measure(args, encoder, clips)
        print_table(args, encoder, clips, rows)
        for clip, *row in rows:
            results.add(clip, args.sigma, encoder, *row)
    results.write(f"{args.out}/coded.csv")


if __name__ == "__main__":
    main()
