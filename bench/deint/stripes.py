#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes two clips whose flicker bench-deint measures: a still picture with stripes of one and of two lines,
without noise (still.y4m) and with noise of sigma 4 (noisy.y4m).

usage: stripes.py FFMPEG CLIP FOLDER
The picture is the middle of the frame of CLIP two seconds from its beginning.
"""

import os
import sys

import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402

WIDTH, HEIGHT, FRAMES = 320, 240, 30


def picture(ffmpeg, clip):
    raw = bench.filtered(ffmpeg, ["-ss", "2", "-i", clip], "trim=end_frame=1,crop=480:288")
    luma = raw.reshape(288, 480)[24:264, 80:400].astype(float)
    lines = np.arange(80)[:, None]
    luma[40:120, 200:300] = np.where(lines % 2, 60, 180)
    luma[130:210, 200:300] = np.where(lines // 2 % 2, 60, 180)
    return luma


def write(name, frames):
    chroma = bytes([128]) * (WIDTH * HEIGHT // 2)
    with open(name, "wb") as f:
        f.write(b"YUV4MPEG2 W%d H%d F50:1 Ip A1:1 C420jpeg\n" % (WIDTH, HEIGHT))
        for luma in frames:
            f.write(b"FRAME\n" + np.clip(luma + 0.5, 0, 255).astype(np.uint8).tobytes() + chroma)


def main():
    if len(sys.argv) != 4:
        sys.exit("usage: stripes.py FFMPEG CLIP FOLDER")
    ffmpeg, clip, folder = sys.argv[1:]
    luma = picture(ffmpeg, clip)
    noise = np.random.default_rng(1)
    os.makedirs(folder, exist_ok=True)
    write(os.path.join(folder, "still.y4m"), [luma] * FRAMES)
    write(os.path.join(folder, "noisy.y4m"), (luma + noise.normal(0, 4, luma.shape) for _ in range(FRAMES)))


main()
