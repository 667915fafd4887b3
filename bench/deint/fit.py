#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fits the expected errors of mvdeint to clips, and prints MVDEINT_MODELS of mvdeint/arithmetic.h.

usage: fit.py OUT FFMPEG GPUME_MVDEINT CLIP...
GPUME_MVDEINT is the test program: its oracle writes the measures of each missing sample that doc/mvdeint-definition.md
defines. Needs numpy and scipy. Environment (defaults in brackets):
  STARTS  first frames of the parts of 16 fields that are taken from each clip [0]
  CROP    the middle part of at most this size [320x176]
  WEIGHTS of clips in the sum, as NAME=WEIGHT,... [all 1]
  STEPS   of each of three minimizations; 0: only measures what the models of the program reach [25]
The factors minimize the weighted mean, over clips, of the logarithm of the mean squared error of missing samples that
are not still, with weights in floating point and without the bounds of tables. They are fitted pass by pass: the inputs
of a pass are those that the models of the program have made, so repeat this until nothing changes.
"""

import os
import re
import subprocess
import sys

import numpy as np
from scipy.optimize import minimize

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402

FIELDS, RECORD = 16, 25
# c0 ... c5 of both distances, c0 ... c4 of X(0) and L. With these bounds no sum exceeds 32 bits; c0 is at least 128.
BOUNDS = 2 * [60000, 1500, 1500, 6000, 2000, 1000] + 2 * [60000, 20000, 4000, 2000, 500]
NB = len(BOUNDS)


def scaled(v, factor):
    return np.minimum(np.abs(v) * factor, 1023)


def measure(out, ffmpeg, program, clip, start):
    """The measures of a part of a clip, and the true samples; by pass."""
    w, h = os.environ.get('CROP', '320x176').split('x')
    frames, w, h = bench.read_frames(ffmpeg, clip, f'trim=start_frame={start}:end_frame={start + FIELDS},format=gray,'
                                     f'crop=trunc(min(iw\\,{w})/4)*4:trunc(min(ih\\,{h})/4)*4')
    frames = frames.reshape(-1, h, w)
    if len(frames) < FIELDS:
        sys.exit('%s has only %d frames from frame %d on; %d are needed' % (clip, len(frames), start, FIELDS))
    frames.tofile(out + '/fit.gray')
    subprocess.run([program], check=True, env=dict(os.environ, MVDEINT_MEASURES=f'{out}/fit.gray {out}/fit.bin {w}x{h}'),
                   stdout=subprocess.DEVNULL)
    r = np.fromfile(out + '/fit.bin', np.int32).reshape(-1, RECORD)
    for name in ('/fit.gray', '/fit.bin'):
        os.remove(out + name)
    r = r[(r[:, 1] >= 3) & (r[:, 1] < FIELDS - 3)]
    return [(p, frames[p[:, 1], p[:, 3], p[:, 2]]) for p in (r[r[:, 0] == i] for i in range(3))]


class Pass:
    """The measures of all clips in a pass, as factors of the model's coefficients."""

    def __init__(self, parts, weights):
        r = np.concatenate([p[0] for p in parts]).astype(np.float32)
        self.clip = np.repeat(np.arange(len(parts)), [len(p[0]) for p in parts])
        self.counts, self.weights = np.bincount(self.clip, minlength=len(parts)), weights
        first, intra, self.activity, self.step = r[:, 4], r[:, 5], r[:, 6], r[:, 7]
        samples, known, error, apart = (r[:, 9:].reshape(-1, 4, 4)[:, :, i] for i in range(4))
        self.limit = r[:, 8]
        known, a, s = known / 16, self.activity[:, None] / 16, self.step[:, None] / 16
        self.moved = samples / 16 - first[:, None]
        self.features = [np.ones_like(known), *(x / 2 for x in (error * known, error * (1 - known), a * (1 - known),
                                                                s * (1 - known), apart))]
        self.between = scaled(first - intra, 8)
        self.side    = np.where(first >= intra, self.between, -self.between)
        self.own     = [np.ones_like(first), a[:, 0] / 2, s[:, 0] / 2, None, self.between ** 2 / 2]
        self.all     = np.concatenate([self.moved, np.zeros_like(first)[:, None], (intra - first)[:, None]], 1)
        self.wanted  = np.concatenate([p[1] for p in parts]).astype(np.float32) - first

    def errors(self, c):
        """Expected errors of the candidates."""
        return np.concatenate([sum(f[:, 2 * d:2 * d + 2] * c[6 * d + i] for i, f in enumerate(self.features)) for d in (0, 1)], 1)

    def set_mean(self, c):
        """Sets the share of both interpolations in their difference from the candidates' mean."""
        m = self.errors(c)
        u = m ** -1.5
        h = (u * np.sign(self.moved) * scaled(self.moved * 16, .5)).sum(1) / u.sum(1)
        own   = 13 + (102 * self.activity + 10 * self.step) / 1024
        share = own / (own + 4 / (1 / m).sum(1) / 1024)
        self.means = [h * h * share, np.clip(h + self.side, -1023, 1023) ** 2 * share]

    def result(self, log, gradient=True):
        """The objective and its gradient by the logarithms of coefficients, or the mean squared errors."""
        c = np.exp(log)
        own = [[self.means[j] / 2 if f is None else f for f in self.own] for j in (0, 1)]
        m = np.concatenate([self.errors(c), *(sum(f * c[12 + 5 * j + i] for i, f in enumerate(own[j]))[:, None] for j in (0, 1))], 1)
        u = m ** -1.5
        total = u.sum(1)
        mean  = (u * self.all).sum(1) / total
        off   = np.clip(mean, -self.limit, self.limit) - self.wanted
        mse   = np.bincount(self.clip, off * off, len(self.counts)) / self.counts
        if not gradient:
            return mse
        by_mean = (self.weights / (mse + .02) / self.counts)[self.clip] * 2 * off * (np.abs(mean) < self.limit)
        by_m    = (by_mean / total)[:, None] * -1.5 * u / m * (self.all - mean[:, None])
        g = np.array([(by_m[:, 2 * d:2 * d + 2] * f[:, 2 * d:2 * d + 2]).sum() for d in (0, 1) for f in self.features] +
                     [(by_m[:, 4 + j] * f).sum() for j in (0, 1) for f in own[j]])
        return (self.weights * np.log(mse + .02)).sum(), g * c

    def fit(self, c, steps):
        log = np.log(np.maximum(np.array(c, float), 1))
        for _ in range(3 if steps else 0):
            self.set_mean(np.exp(log))
            log = minimize(self.result, log, jac=True, method='L-BFGS-B', options={'maxiter': steps},
                           bounds=[(np.log(128) if i in (0, 6, 12, 17) else 0, np.log(b)) for i, b in enumerate(BOUNDS)]).x
        return np.rint(np.exp(log))


def landed():
    """The models of mvdeint/arithmetic.h."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../mvdeint/arithmetic.h')) as f:
        text = f.read()
    numbers = re.findall(r'[0-9]+', text.split('#define MVDEINT_MODELS')[1].split('/**')[0])
    return np.array(numbers, float).reshape(3, NB)


def main():
    out, ffmpeg, program, *clips = sys.argv[1:]
    os.makedirs(out, exist_ok=True)
    starts = [int(x) for x in os.environ.get('STARTS', '0').split(',')]
    given  = dict(x.split('=') for x in os.environ.get('WEIGHTS', '').split(',') if x)
    parts  = [(c, measure(out, ffmpeg, program, c, s)) for c in clips for s in starts]
    weights = np.array([float(given.get(re.sub(r'\.[^.]*$', '', os.path.basename(c)), 1)) for c, _ in parts])
    for i, old in enumerate(landed()):
        p   = Pass([x[1][i] for x in parts], weights / weights.sum())
        new = p.fit(old, int(os.environ.get('STEPS', 25)))
        for name, c in (('landed', old), ('fitted', new)):
            p.set_mean(c)
            db = bench.decibels(p.result(np.log(c), False), 1e-4)
            print('pass %d, %s: %.3f dB on average; %s' % (i, name, db.mean(), ' '.join(
                '%s %.2f' % (os.path.basename(x[0]), v) for x, v in zip(parts, db))), file=sys.stderr)
        rows = [new[a:b].astype(int).tolist() for a, b in ((0, 6), (6, 12), (12, 17), (17, 22))]
        print('    {   { %s }, { %s } }' % tuple(', '.join('{ %s }' % str(r)[1:-1] for r in rows[k:k + 2]) for k in (0, 2)))


main()
