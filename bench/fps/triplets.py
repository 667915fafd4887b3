#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures interpolated frames on the sets of triplets on which learned methods publish.

usage: triplets.py FFMPEG FOLDER [FILTER...]
FOLDER has test_data/ of the repository tding1/CDFI (12 pairs of Middlebury's OTHER with the frame between them, 379
triplets of UCF101) and test_input/ of HyeongminLEE/AdaCoF-pytorch (30 triplets of DAVIS); sets that are not there are
left out. Prints, as means over the frames of a set, PSNR of RGB in dB and the mean absolute difference (interpolation
error, IE). Needs numpy. EVERY=n takes every n-th triplet. PICTURES=FOLDER also writes, for the first filter, where it
is worst: the triplet of each set with the lowest PSNR as the true frame, the one made, and their difference times 4.
"""

import concurrent.futures
import glob
import os
import sys

import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402

FILTERS = ["mvfps=fps=50", "gpume=algo=hme:block=4:dir=both:pel=4,mvfps=fps=50", "minterpolate=fps=50:scd=none"]
TEN = ("frame10.png", "frame11.png", "../../gt/%s/frame10i11.png")
SETS = {
    "Middlebury": ("test_data/middlebury_others/input/*", *TEN),
    "UCF101": ("test_data/ucf101_interp_ours/*", "frame_00.png", "frame_02.png", "frame_01_gt.png"),
    "DAVIS": ("test_input/davis/input/*", *TEN),
}


def picture(ffmpeg, path):
    """The RGB samples of a file."""
    ppm, _ = bench.run(ffmpeg, *bench.QUIET, "-i", path, "-pix_fmt", "rgb24", "-c:v", "ppm", "-f", "image2pipe", "-")
    width, height = map(int, ppm.split(b"\n", 2)[1].split())
    return np.frombuffer(ppm[-3 * width * height:], np.uint8).reshape(height, width, 3)


def between(ffmpeg, text, before, after):
    """The frame that a filter makes between two. minterpolate needs more neighbours, and does not take RGB."""
    alone = "minterpolate" not in text
    height, width = before.shape[:2]
    frames = [before, after] if alone else [before, before, after, after]
    made = bench.filtered(
        ffmpeg, bench.raw_input((width, height), pix_fmt="rgb24"), f"scale=out_range=pc,format={'gbrp' if alone else 'yuv444p'},{text},"
        "scale=in_range=pc:out_range=pc:flags=full_chroma_int+accurate_rnd,format=rgb24", "rgb24",
        b"".join(f.tobytes() for f in frames), 1).reshape(-1, height, width, 3)
    if alone:
        return made[1]
    far = [abs(error(f, before)[0] - error(f, after)[0]) for f in made]
    return made[int(np.argmin(far))]


def error(a, b):
    """Mean squared and mean absolute difference."""
    difference = a.astype(float) - b
    return np.mean(difference**2), np.mean(np.abs(difference))


def measure(ffmpeg, text, paths):
    before, after, true = (picture(ffmpeg, p) for p in paths)
    mse, ie = error(between(ffmpeg, text, before, after), true)
    return bench.decibels(mse), ie


def show(ffmpeg, text, paths, path):
    """Writes the true frame, the one that a filter makes, and their difference, side by side."""
    before, after, true = (picture(ffmpeg, p) for p in paths)
    made = between(ffmpeg, text, before, after)
    beside = np.hstack([true, made, np.clip(np.abs(made.astype(int) - true) * 4, 0, 255).astype(np.uint8)])
    bench.run(ffmpeg, *bench.QUIET, *bench.raw_input(beside.shape[1::-1], pix_fmt="rgb24"), path, data=beside.tobytes())


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: triplets.py FFMPEG FOLDER [FILTER...]")
    ffmpeg, folder, *filters = sys.argv[1:]
    sets = {}
    for name, (pattern, *files) in SETS.items():
        found = sorted(glob.glob(os.path.join(folder, pattern)))[::int(os.environ.get("EVERY", 1))]
        if found:
            sets[name] = [[os.path.join(d, f.replace("%s", os.path.basename(d))) for f in files] for d in found]
    if not sets:
        sys.exit(f"{folder} has none of the sets: {', '.join(p for p, *_ in SETS.values())}")
    rows, shown = [], os.environ.get("PICTURES")
    if shown:
        os.makedirs(shown, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for text in filters or FILTERS:
            errors = {name: list(pool.map(lambda t: measure(ffmpeg, text, t), t)) for name, t in sets.items()}  # noqa: B023
            if shown and not rows:
                for name, found in errors.items():
                    worst = int(np.argmin([psnr for psnr, _ in found]))
                    show(ffmpeg, text, sets[name][worst], os.path.join(shown, f"{name}.png"))
            rows.append([f"`{text}`", *("%.2f, %.2f" % tuple(np.mean(found, 0)) for found in errors.values())])
    bench.print_table(["PSNR of RGB in dB, IE", *(f"{name}, {len(t)}" for name, t in sets.items())], rows)


main()
