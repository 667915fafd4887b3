#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Interlaces clips, has filters deinterlace them, and compares with the clips: 'make bench-deint'.

usage: deint.py OUT FFMPEG CLIP...
Each frame of a clip, of which every second one is a top field, gives one field. Environment (defaults in brackets):
  FRAMES  of each clip [40], from frame START [0] on
  CROP    the middle part of at most this size [640x352]
  VSPYTHON  command that starts a Python with VapourSynth and vsjetpack [python3]; VSPATH: what stands before paths [none]
Writes OUT/table.md and, for each clip, OUT/NAME.png: where bwdif and mvdeint differ most, of the truth, bwdif, QTGMC (if it is there) and mvdeint.
PSNR is that of luma, without the first and last three fields; seconds are of user time, on one thread.
Flicker is measured in the 16x16 areas and pairs of frames in which the clip's samples differ by less than 6 levels on
average: how much more the result's do, in levels.
"""

import os
import re
import shlex
import sys

import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402
from bench import raw_input, run  # noqa: E402

METHODS = ('bwdif=1', 'yadif=1,mcdeint=medium:tff', 'qtgmc default', 'qtgmc best', 'mvdeint=passes=1', 'mvdeint=passes=2',
           'mvdeint=passes=3')
EDGE = 3


class Clip:
    """The frames of a clip, and the file of the frames that its fields are woven to."""

    def __init__(self, ffmpeg, name, out, size, frames):
        self.name, self.folder, self.ffmpeg = name, out, ffmpeg
        self.w, self.h = size
        self.size = self.w * self.h * 3 // 2
        self.truth = frames[:len(frames) // 2 * 2]
        woven = self.truth[0::2].copy()
        for plane, half in zip(self.planes(woven), self.planes(self.truth[1::2])):
            plane[:, 1::2] = half[:, 1::2]
        woven.tofile(out + '/fields.yuv')

    def planes(self, frames):
        """The planes of frames, as views."""
        n, y, c = len(frames), self.w * self.h, self.w * self.h // 4
        return (frames[:, :y].reshape(n, self.h, self.w), frames[:, y:y + c].reshape(n, self.h // 2, self.w // 2),
                frames[:, y + c:].reshape(n, self.h // 2, self.w // 2))

    def luma(self, frames):
        return self.planes(frames)[0]

    def deinterlace(self, method):
        """The frames and the seconds they took, or None if the method is not there."""
        name = self.folder + '/out.yuv'
        try:
            if method.startswith('qtgmc'):
                at = os.environ.get('VSPATH', '')
                _, seconds = run(*shlex.split(os.environ.get('VSPYTHON', 'python3')), at + bench.PLUGINS, method.replace(' ', '-'),
                                    at + os.path.abspath(self.folder) + '/fields.yuv', str(self.w), str(self.h),
                                    str(len(self.truth) // 2), '1', at + os.path.abspath(name))[0].split()[-2:]
            else:
                before = bench.used(False)
                run(self.ffmpeg, *bench.QUIET, '-threads', '1', '-filter_threads', '1',
                    *raw_input((self.w, self.h), self.folder + '/fields.yuv'), '-vf', 'setfield=tff,' + method, *bench.RAW_OUT, name)
                seconds = bench.used(False) - before
        except (OSError, bench.Failed):
            return None
        frames = np.fromfile(name, np.uint8)
        frames = frames[:len(frames) // self.size * self.size].reshape(-1, self.size)
        return (frames, float(seconds)) if len(frames) == len(self.truth) else None

    def psnr(self, frames):
        a, b = (self.luma(x)[EDGE:-EDGE].astype(np.float32) for x in (frames, self.truth))
        return bench.decibels(np.mean((a - b) ** 2, dtype=np.float64))

    def flicker(self, frames):
        """How much more still areas change than those of the clip."""
        h, w, change = self.h // 16 * 16, self.w // 16 * 16, []
        for x in (frames, self.truth):
            off = np.abs(np.diff(self.luma(x)[EDGE:-EDGE, :h, :w].astype(np.float32), axis=0))
            change.append(off.reshape(len(off), h // 16, 16, w // 16, 16).mean((2, 4)))
        still = change[1] < 6
        return (change[0] - change[1])[still].mean() if still.any() else 0.

    def picture(self, made):
        """The place where the first and last results differ most, beside the truth, four times as large."""
        if len(made) < 2:
            return
        size, parts = 80, [self.luma(x) for x in (self.truth, *made)]
        off = np.abs(parts[1].astype(int) - parts[-1])[EDGE:-EDGE]
        sums = off[:, :self.h // 16 * 16, :self.w // 16 * 16].reshape(len(off), self.h // 16, 16, self.w // 16, 16).sum((2, 4))
        t, y, x = np.unravel_index(sums.argmax(), sums.shape)
        y, x = (max(min(16 * v + 8 - size // 2, m - size), 0) for v, m in ((y, self.h), (x, self.w)))
        row = np.concatenate([p[t + EDGE, y:y + size, x:x + size] for p in parts], 1)
        run(self.ffmpeg, *bench.QUIET[:2], '-y', *raw_input(row.shape[::-1], pix_fmt='gray'), '-vf', 'scale=4*iw:-1:flags=neighbor',
            '-frames:v', '1', f'{self.folder}/{self.name}.png', data=row.tobytes())


def read_clip(ffmpeg, path, out):
    """The middle part of some frames of a file."""
    start, count = int(os.environ.get('START', 0)), int(os.environ.get('FRAMES', 40))
    w, h = os.environ.get('CROP', '640x352').split('x')
    rows, w, h = bench.read_frames(ffmpeg, path, f'trim=start_frame={start}:end_frame={start + count},format=yuv420p,'
                                   f'crop=trunc(min(iw\\,{w})/4)*4:trunc(min(ih\\,{h})/4)*4', 'yuv420p')
    return Clip(ffmpeg, re.sub(r'\.[^.]*$', '', os.path.basename(path)), out, (w, h), rows)


def main():
    out, ffmpeg, *clips = sys.argv[1:]
    figures = {}
    for path in clips:
        clip, made = read_clip(ffmpeg, path, out), {}
        for method in METHODS:
            result = clip.deinterlace(method)
            if result is None:
                print('%-24s %-34s left out: it is not there, or failed' % (clip.name, method), flush=True)
                continue
            figures.setdefault(method, []).append((clip.psnr(result[0]), clip.flicker(result[0]), result[1]))
            made[method] = result[0]
            print('%-24s %-34s %6.2f dB  %5.2f  %6.2f s' % (clip.name, method, *figures[method][-1]), flush=True)
        clip.picture([made[m] for m in ('bwdif=1', 'qtgmc best', METHODS[-1]) if m in made])
    with open(out + '/table.md', 'w') as f:
        for title, i, form in (('PSNR, dB', 0, '%.2f'), ('flicker', 1, '%.2f'), ('seconds', 2, '%.2f')):
            whole = {method: [r[i] for r in rows] for method, rows in figures.items() if len(rows) == len(clips)}
            bench.print_table([title, *map(os.path.basename, clips), 'mean'],
                              [[method, *(form % v for v in (*values, sum(values) / len(values)))] for method, values in whole.items()], f)
            print(file=f)
    for name in ('fields.yuv', 'out.yuv'):
        if os.path.exists(out + '/' + name):
            os.remove(out + '/' + name)


if __name__ == '__main__':
    main()
