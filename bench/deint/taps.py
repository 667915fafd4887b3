#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fits the interpolation within a field of mvdeint to clips, and prints the rows of mvdeint/taps.h.

usage: taps.py FFMPEG CLIP...
Needs numpy. Environment (defaults in brackets):
  FRAMES  frames of each clip, spread over all of it [20]
  CROP    the middle part of at most this size [640x352]
The taps of a class have a sum of one. They minimize the squared errors of the samples on missing lines that belong to
the class (doc/mvdeint-definition.md, "Interpolation within the field"), with the errors of a clip relative to those of
the mean of the lines above and below, so that each clip counts as much. To stderr: PSNR of the missing lines of each
clip by that mean, by the table of the program, and by the fitted one. bench/README.md lists
the clips of the table.
"""

import os
import re
import sys

import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402

CLASSES, TAPS = 63, 36
UNIT = 4096
MEAN = np.zeros(TAPS)
MEAN[[13, 22]] = .5
MARGIN = 6
PRIOR = 1e-4        # so that classes with few samples have the mean


def frames_of(ffmpeg, clip):
    """The luma of some frames."""
    w, h = os.environ.get('CROP', '640x352').split('x')
    frames, w, h = bench.read_frames(ffmpeg, clip, f'format=gray,crop=min(iw\\,{w}):min(ih\\,{h})')
    number = min(int(os.environ.get('FRAMES', 20)), len(frames))
    return frames.reshape(-1, h, w)[np.linspace(0, len(frames) - 1, number).astype(int)]


def samples_of(frame):
    """Of each sample that has three lines above and below: the samples around it, its class, and itself."""
    h, w = frame.shape
    padded = np.pad(frame.astype(np.int32), ((0, 0), (MARGIN, MARGIN)), 'edge')
    lines = [padded[3 + d:h - 3 + d] for d in (-3, -1, 1, 3)]
    around = np.stack([line[:, MARGIN + j:MARGIN + j + w] for line in lines for j in range(-4, 5)], -1)
    a, b = lines[1:3]
    apart = [np.abs(a[:, MARGIN - 2 + i:w + MARGIN + 2 + i] - b[:, MARGIN - 2 - i:w + MARGIN + 2 - i]) for i in range(-3, 4)]
    cost = np.stack([2 * abs(i - 3) + sum(x[:, j:j + w] for j in range(5)) for i, x in enumerate(apart)], -1)
    activity = sum(np.abs(p - q)[:, MARGIN:MARGIN + w] for p, q in ((lines[0], a), (a, b), (lines[3], b)))
    kind = 9 * cost.argmin(-1) + 3 * np.digitize(cost.min(-1), (10, 40)) + np.digitize(activity, (6, 30))
    return around.reshape(-1, TAPS), kind.ravel(), frame[3:h - 3].ravel().astype(np.int32)


def sums_of(frames):
    """The normal equations of each class, of differences from the mean of both lines, relative to its squared errors."""
    products, right, error = np.zeros((CLASSES, TAPS, TAPS)), np.zeros((CLASSES, TAPS)), 1.
    for frame in frames:
        around, kind, wanted = samples_of(frame)
        mean = around @ MEAN
        x, y = around - mean[:, None], wanted - mean
        error += y @ y
        for k in np.unique(kind):
            of = x[kind == k]
            products[k] += of.T @ of
            right[k] += of.T @ y[kind == k]
    return np.array([products, np.broadcast_to(right[:, None], products.shape)]) / error


def fit(sums):
    """The table."""
    table = np.zeros((CLASSES, TAPS), int)
    for k in range(CLASSES):
        taps = np.linalg.solve(sums[0, k] + PRIOR * np.eye(TAPS), sums[1, k, 0])
        table[k] = np.rint((taps + MEAN * (1 - taps.sum())) * UNIT)
        table[k, 13] += UNIT - table[k].sum()
    return table


def psnr(frames, table):
    """Of the samples on missing lines."""
    error = number = 0
    for frame in frames:
        around, kind, wanted = samples_of(frame)
        made = np.clip(((around * table[kind]).sum(1) + UNIT // 2) // UNIT, 0, 255)
        error += ((made - wanted)**2).sum()
        number += wanted.size
    return bench.decibels(max(error, 1) / number)


def landed():
    """The table of mvdeint/taps.h."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../mvdeint/taps.h')) as f:
        rows = f.read().split('*/')[-1]
    return np.array(re.findall(r'-?[0-9]+', rows), int).reshape(CLASSES, TAPS)


def main():
    if len(sys.argv) < 3:
        sys.exit('usage: taps.py FFMPEG CLIP...')
    ffmpeg, *clips = sys.argv[1:]
    frames = [frames_of(ffmpeg, clip) for clip in clips]
    fitted = fit(sum(sums_of(f) for f in frames))
    for clip, f in zip(clips, frames):
        tables = np.tile((MEAN * UNIT).astype(int), (CLASSES, 1)), landed(), fitted
        print('%-24s mean of both lines %.2f dB, landed %.2f, fitted %.2f' % (
            os.path.basename(clip), *(psnr(f, t) for t in tables)), file=sys.stderr)
    for row in fitted:
        print('    { %s },' % ',\n      '.join(', '.join(map(str, row[i:i + 9])) for i in range(0, TAPS, 9)))


if __name__ == '__main__':
    main()
