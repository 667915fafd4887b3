#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures mvdenoise on sequences of pictures with noise in RGB, as learned methods publish it.

usage: sequences.py FFMPEG FOLDER [FILTER...]
FOLDER has a folder of PNG files for each sequence, as data_set/gopro_540p of the repository m-tassano/fastdvdnet (the
four camera sequences of Set8). Of the first FRAMES [11] pictures the middle CROP [320x240] gets normal noise in all
three colours: of sigma 10 and 40 and of the variance 3 x + 9, rounded and clipped to 8 bits; and of sigma 10 and 40 in
14 bits, where a range twice as wide clips none of it. Prints PSNR of RGB in dB, means over sequences. Needs numpy.
"""

import glob
import os
import sys

import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402

FILTERS = ["mvdenoise", "mvdenoise=radius=3:dense=1"]
WIDTH, HEIGHT = map(int, os.environ.get("CROP", "320x240").split("x"))
FRAMES = int(os.environ.get("FRAMES", 11))
# of one step of 8 bits, and the sample for black
EIGHT, WIDE = ("gbrp", np.uint8, 1, 0), ("gbrp14le", np.uint16, 32, 4096)
NOISES = {
    "sigma 10": (EIGHT, lambda x: 10), "40": (EIGHT, lambda x: 40), "3 x + 9": (EIGHT, lambda x: np.sqrt(3 * x + 9)),
    "10, not clipped": (WIDE, lambda x: 10), "40, not clipped": (WIDE, lambda x: 40),
}


def pictures(ffmpeg, folder):
    """The planes of the first pictures' middle, as floating-point numbers."""
    frames = [bench.run(ffmpeg, *bench.QUIET, "-i", path, "-vf", f"crop={WIDTH}:{HEIGHT}", "-pix_fmt", "gbrp",
                        "-f", "rawvideo", "-")[0] for path in sorted(glob.glob(os.path.join(folder, "*.png")))[:FRAMES]]
    return np.frombuffer(b"".join(frames), np.uint8).astype(float)


def measure(ffmpeg, text, clean, noise):
    (pix_fmt, sample, step, black), sigma = noise
    noisy = clean + sigma(clean) * np.random.default_rng(1).normal(size=clean.size)
    raw   = np.clip(np.rint(noisy * step + black), 0, 255 if step == 1 else 16383).astype(sample)
    made  = bench.filtered(ffmpeg, bench.raw_input((WIDTH, HEIGHT), pix_fmt=pix_fmt), text, pix_fmt, raw.tobytes())
    return bench.decibels(np.mean((np.clip((made.view(sample) - float(black)) / step, 0, 255) - clean)**2))


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: sequences.py FFMPEG FOLDER [FILTER...]")
    ffmpeg, folder, *filters = sys.argv[1:]
    clips = list(filter(len, (pictures(ffmpeg, d) for d in sorted(glob.glob(os.path.join(folder, "*/"))))))
    if not clips:
        sys.exit(f"{folder} has no folder of PNG files")
    rows = [[f"`{text}`", *(f"{np.mean([measure(ffmpeg, text, c, n) for c in clips]):.2f}" for n in NOISES.values())]
            for text in filters or FILTERS]
    bench.print_table([f"PSNR of RGB in dB, {len(clips)} sequences", *NOISES], rows)


main()
