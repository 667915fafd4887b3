# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how much maps of noisy videos change from frame to frame where nothing moves: a still scene, and a pan over it;
and how many samples of the last map are off by more than one, as stereo.py counts them. Run by stereo.sh.

usage: flicker.py FFMPEG DATA"""

import os
import subprocess
import sys

import cv2
import numpy as np

ffmpeg, data = sys.argv[1:3]
FRAMES, STEP, SIGMA = 8, 3, 5


def measure(pair, is_pan, before, options):
    left, right = (cv2.imread(os.path.join(data, pair, name + '.png'), cv2.IMREAD_GRAYSCALE) for name in ('left', 'right'))
    with open(os.path.join(data, pair, 'disparities')) as f:
        count = int(f.read())
    random = np.random.default_rng(3)
    h, w = left.shape
    step = STEP if is_pan else 0
    w -= (FRAMES - 1) * step
    frames = [np.clip(np.round(both + random.normal(0, SIGMA, both.shape)), 0, 255).astype(np.uint8) for both in
              (np.hstack([view[:, step * t:step * t + w] for view in (left, right)]) for t in range(FRAMES))]
    command = [ffmpeg, '-v', 'error', '-f', 'rawvideo', '-pix_fmt', 'gray', '-s', '%dx%d' % (2 * w, h), '-i', '-', '-vf',
               '%smvstereo=layout=sbsl:max=%d%s' % (before, count, options), '-f', 'rawvideo', '-']
    result = subprocess.run(command, input=b''.join(f.tobytes() for f in frames), stdout=subprocess.PIPE, check=True)
    maps = np.frombuffer(result.stdout, np.uint16).reshape(FRAMES, h, w) / 16
    truth, seen = (cv2.imread(os.path.join(data, pair, name + '.png'), cv2.IMREAD_UNCHANGED)[:, step * (FRAMES - 1):]
                   for name in ('gt', 'nonocc'))
    known = (truth > 0) & (seen == 255)
    wrong = 100 * (np.abs(maps[-1] - truth / 64) > 1)[known].mean()
    # the part of the scene that all frames have
    maps = np.stack([m[:, step * (FRAMES - 1 - t):w - step * t] for t, m in enumerate(maps)])
    change = np.abs(np.diff(maps, axis=0))
    print('flicker  %-10s %-5s %-11s mean change %.3f samples, of more than one sample %.2f %%, wrong %.2f %%' %
          (pair, 'pan' if is_pan else 'still', (before + options).strip(':,'), change.mean(), 100 * (change > 1).mean(),
           wrong), flush=True)


for pair in sorted(p for p in os.listdir(data) if os.path.exists(os.path.join(data, p, 'gt.png'))):
    for is_pan in (False, True):
        for before, options in (('', ''), ('', ':temporal=1'), ('mvdenoise,', '')):
            measure(pair, is_pan, before, options)
