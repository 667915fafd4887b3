# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads pairs of views with true disparities, in the layout of stereo.sh or of Middlebury 2014."""

import os
import sys

import cv2
import numpy as np


def picture(folder, name, flags=cv2.IMREAD_GRAYSCALE):
    path = os.path.join(folder, name)
    image = cv2.imread(path, flags)
    if image is None:
        sys.exit('error: cannot read %s' % path)
    return image


def disparities(folder, name, key=''):
    """The number of disparities in a file, or in its line that begins with key."""
    path = os.path.join(folder, name)
    try:
        with open(path) as f:
            return int([line[len(key):] for line in f if line.startswith(key)][0])
    except (OSError, ValueError, IndexError):
        sys.exit('error: %s does not have the number of disparities' % path)


def find(data):
    """The pairs in a folder."""
    pairs = sorted(pair for pair in os.listdir(data)
                   if any(os.path.exists(os.path.join(data, pair, name)) for name in ('gt.png', 'disp0.pfm')))
    return pairs or sys.exit('error: no folder in %s has a gt.png or disp0.pfm' % data)


def read(data, pair):
    """Both views, the true disparities, whether each is known and seen by both views, the number of disparities."""
    folder = os.path.join(data, pair)
    if os.path.exists(os.path.join(folder, 'gt.png')):
        left, right, seen = (picture(folder, name + '.png') for name in ('left', 'right', 'nonocc'))
        truth = picture(folder, 'gt.png', cv2.IMREAD_UNCHANGED) / 64
        count = disparities(folder, 'disparities')
    else:
        left, right = (picture(folder, name) for name in ('im0.png', 'im1.png'))
        truth = picture(folder, 'disp0.pfm', cv2.IMREAD_UNCHANGED)
        truth = np.where(np.isfinite(truth), truth, 0)
        mask = 'mask0nocc.png'
        seen = picture(folder, mask) if os.path.exists(os.path.join(folder, mask)) else np.full(left.shape, 255)
        count = disparities(folder, 'calib.txt', 'ndisp=')
    if not left.shape == right.shape == truth.shape == seen.shape:
        sys.exit('error: the pictures in %s are of unequal size' % folder)
    return left, right, truth, (truth > 0) & (seen == 255), count
