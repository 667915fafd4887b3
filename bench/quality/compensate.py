# SPDX-License-Identifier: LGPL-2.1-or-later
"""Motion compensation by H.264's interpolation of luma, and what it leaves."""

import sys

import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402

PAD = 8  # samples repeated at the edges; interpolation sees nothing new further out


def six_taps(samples, axis):
    """H.264's filter between a sample and the next one along an axis, not scaled (sum 32)."""
    def at(distance):
        return np.roll(samples, -distance, axis)
    return at(-2) - 5 * at(-1) + 20 * at(0) + 20 * at(1) - 5 * at(2) + at(3)


def mean(a, b):
    """The rounded mean."""
    return (a + b + 1) >> 1


class Quarters:
    """A picture at quarter samples (ITU-T H.264, 8.4.2.2.1).

    Planes are padded by PAD on all sides. What np.roll takes from the opposite side reaches only
    three samples in, where the padding's repeated samples make no difference.
    """

    def __init__(self, picture):
        self.height, self.width = picture.shape
        self.whole = np.pad(picture.astype(np.int32), PAD + 4, "edge")
        across = six_taps(self.whole, 1)
        self.right = np.clip((across + 16) >> 5, 0, 255)
        self.below = np.clip((six_taps(self.whole, 0) + 16) >> 5, 0, 255)
        self.centre = np.clip((six_taps(across, 0) + 512) >> 10, 0, 255)
        self.planes = {}

    def plane(self, x, y):
        """The samples x and y quarters, 0 to 3, to the right and down: padded, uint8."""
        if (x, y) not in self.planes:
            self.planes[x, y] = self.interpolate(x, y)[4:-4, 4:-4].astype(np.uint8)
        return self.planes[x, y]

    def interpolate(self, x, y):
        """The same with all of the padding, int32."""
        down, far = np.roll(self.right, -1, 0), np.roll(self.below, -1, 1)
        halves = {(0, 0): self.whole, (2, 0): self.right, (0, 2): self.below, (2, 2): self.centre}
        if (x, y) in halves:
            return halves[x, y]
        if x % 2 and y % 2:  # between the half samples on two sides
            return mean(down if y == 3 else self.right, far if x == 3 else self.below)
        if y == 0:
            return mean(self.right, np.roll(self.whole, -1, 1) if x == 3 else self.whole)
        if x == 0:
            return mean(self.below, np.roll(self.whole, -1, 0) if y == 3 else self.whole)
        if x == 2:
            return mean(self.centre, down if y == 3 else self.right)
        return mean(self.centre, far if x == 3 else self.below)

    def predict(self, vectors):
        """The picture of vectors (height, width, 2), integers in quarter samples, for each sample."""
        y, x = np.mgrid[:self.height, :self.width]
        x = np.clip(x + (vectors[..., 0] >> 2), -PAD, self.width - 1 + PAD) + PAD
        y = np.clip(y + (vectors[..., 1] >> 2), -PAD, self.height - 1 + PAD) + PAD
        phase = (vectors[..., 0] & 3) + 4 * (vectors[..., 1] & 3)
        out = np.empty((self.height, self.width), np.uint8)
        for p in np.unique(phase):
            of = phase == p
            out[of] = self.plane(int(p) & 3, int(p) >> 2)[y[of], x[of]]
        return out


def psnr(a, b):
    """The peak signal-to-noise ratio of two pictures, dB; at most 99."""
    error = np.mean((a.astype(np.float32) - b)**2)
    return float(min(99, bench.decibels(error, 1e-6)))


def expand(vectors, block, size):
    """Block vectors (rows, columns, 2) for each sample: (height, width, 2)."""
    return vectors.repeat(block, 0).repeat(block, 1)[:size[0], :size[1]]


def predicted_psnr(first, second, vectors, block):
    """PSNR of the first picture predicted from the second.

    second: Quarters; vectors: (rows, columns, 2) in samples, rounded here to quarters.
    """
    quarters = np.floor(vectors * 4 + 0.5).astype(np.int32)
    return psnr(second.predict(expand(quarters, block, first.shape)), first)
