# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how much maps of noisy videos change from frame to frame, beyond the changes of the scene. The videos are a
still scene, a pan over it, and a pan in which all disparities grow by a quarter of a sample a frame. Also counts how many
samples of the last map are off by more than one, as stereo.py does. Run by stereo.sh.

usage: flicker.py FFMPEG DATA"""

import sys

import cv2
import numpy as np

from pairs import find, read
from stereo import maps

ffmpeg, data = sys.argv[1:3]
FRAMES, SIGMA = 8, 5
# columns by which the left view's window moves to the right from frame to frame, and by how much more the right one's does
MOTIONS = {'still': (0, 0), 'pan': (3, 0), 'nearer': (3, 0.25)}


def window(view, x, w):
    """Columns x to x + w - 1 of a view."""
    return cv2.warpAffine(view.astype(np.float32), np.float32([[1, 0, x], [0, 1, 0]]), (w, view.shape[0]),
                          flags=cv2.INTER_CUBIC | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REPLICATE)


def measure(pair, motion, before, options):
    left, right, truth, known, count = read(data, pair)
    random = np.random.default_rng(3)
    step, more = MOTIONS[motion]
    h, w = left.shape
    w -= (FRAMES - 1) * step
    frames = [np.hstack([window(view, t * by, w) for view, by in ((left, step), (right, step + more))])
              for t in range(FRAMES)]
    frames = [np.clip(np.round(both + random.normal(0, SIGMA, both.shape)), 0, 255).astype(np.uint8) for both in frames]
    disparities = maps(ffmpeg, b''.join(f.tobytes() for f in frames), (w, h),
                       '%smvstereo=layout=sbsl:backend=cpu:max=%d%s' % (before, count, options))
    # what the scene does is taken away: then each map has the first one's disparities
    disparities = disparities - more * np.arange(FRAMES)[:, None, None]
    truth, known = (m[:, step * (FRAMES - 1):] for m in (truth, known))
    wrong = 100 * (np.abs(disparities[-1] - truth) > 1)[known].mean()
    # the part of the scene that all frames have
    disparities = np.stack([m[:, step * (FRAMES - 1 - t):w - step * t] for t, m in enumerate(disparities)])
    change = np.abs(np.diff(disparities, axis=0))
    print('flicker  %-10s %-6s %-11s mean change %.3f samples, of more than one sample %.2f %%, wrong %.2f %%' %
          (pair, motion, (before + options).strip(':,'), change.mean(), 100 * (change > 1).mean(), wrong), flush=True)


for pair in find(data):
    for motion in MOTIONS:
        for before, options in ((b, ':temporal=%d' % t) for b in ('', 'mvdenoise,') for t in (0, 1)):
            measure(pair, motion, before, options)
