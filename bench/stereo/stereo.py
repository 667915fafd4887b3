# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares maps of disparities with ground truth: bad-1, the share of known, non-occluded samples that are off by more
than one, with every method's holes filled alike. Also measures user time. Run by stereo.sh.

usage: stereo.py FFMPEG DATA OUT [CONDITIONS [METHODS]]"""

import os
import sys

import cv2
import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402
from pairs import find, read  # noqa: E402

cv2.setNumThreads(1)
ffmpeg, data, out = (sys.argv[1:4] + [''])[:3]


def shifted(image, rows):
    matrix = np.float32([[1, 0, 0], [0, 1, rows]])
    return cv2.warpAffine(image, matrix, image.shape[1::-1], flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)


def noisy(left, right):
    random = np.random.default_rng(1)
    return [np.clip(np.round(v + random.normal(0, 5, v.shape)), 0, 255).astype(np.uint8) for v in (left, right)]


def jpeg(image):
    return cv2.imdecode(cv2.imencode('.jpg', image, [cv2.IMWRITE_JPEG_QUALITY, 60])[1], cv2.IMREAD_GRAYSCALE)


CONDITIONS = {
    'plain':    lambda l, r: (l, r),
    'darker':   lambda l, r: (l, np.round(r * 0.8).astype(np.uint8)),
    'row0.5':   lambda l, r: (l, shifted(r, 0.5)),
    'row1':     lambda l, r: (l, shifted(r, 1)),
    'row3':     lambda l, r: (l, shifted(r, 3)),
    'clipped':  lambda l, r: tuple(np.minimum(np.round(v * 1.8), 255).astype(np.uint8) for v in (l, r)),
    'noise':    noisy,
    'jpeg':     lambda l, r: (jpeg(l), jpeg(r)),
}


def fill(disparity):
    """Holes, which are negative, become the lesser of the valid values at both ends in the row."""
    result = disparity.copy()
    for row in result:
        valid = np.flatnonzero(row >= 0)
        if not len(valid):
            row[:] = 0
            continue
        holes = np.flatnonzero(row < 0)
        after = np.searchsorted(valid, holes)
        left = np.where(after > 0, row[valid[np.maximum(after - 1, 0)]], np.inf)
        right = np.where(after < len(valid), row[valid[np.minimum(after, len(valid) - 1)]], np.inf)
        row[holes] = np.minimum(left, right)
    return result


def maps(ffmpeg, views, size, chain, threads=None):
    """The maps of disparities, in samples, that mvstereo makes of frames of views side by side, each of a size (width, height)."""
    made = bench.filtered(ffmpeg, bench.raw_input((2 * size[0], size[1]), pix_fmt='gray'), chain, 'gray16le', views, threads)
    return made.view(np.uint16).reshape(-1, size[1], size[0]) / 16


def mvstereo(options):
    def run(left, right, count):
        chain = 'mvstereo=layout=sbsl:backend=cpu:max=%d%s' % (count, options)
        return maps(ffmpeg, np.hstack([left, right]).tobytes(), left.shape[::-1], chain, 1)[0]
    return run


def opencv(make):
    def run(left, right, count):
        count = (count + 15) // 16 * 16
        # columns on the left, so that the whole left view has matches
        padded = [cv2.copyMakeBorder(v, 0, 0, count, 0, cv2.BORDER_REPLICATE) for v in (left, right)]
        return fill(make(count).compute(*padded)[:, count:] / 16)
    return run


# Of blocks of 3x3 to 15x15 and uniqueness ratios of 5, 10 and 15, these are the best for the four pairs.
def sgbm(mode):
    # the manual's penalties for blocks of 3x3 and one channel
    return opencv(lambda n: cv2.StereoSGBM_create(0, n, 3, 8 * 9, 32 * 9, 1, 31, 10, 100, 2, mode))


def block_matching(count):
    bm = cv2.StereoBM_create(count, 7)
    bm.setUniquenessRatio(5)
    bm.setSpeckleWindowSize(100)
    bm.setSpeckleRange(32)
    bm.setDisp12MaxDiff(1)
    return bm


METHODS = {
    'OpenCV BM':         opencv(block_matching),
    'OpenCV SGBM':       sgbm(cv2.STEREO_SGBM_MODE_SGBM),
    'OpenCV SGBM 3WAY':  sgbm(cv2.STEREO_SGBM_MODE_SGBM_3WAY),
    'OpenCV SGBM HH4':   sgbm(cv2.STEREO_SGBM_MODE_HH4),
    'mvstereo':          mvstereo(''),
    'mvstereo range':    mvstereo(''),
    'mvstereo fast=1':   mvstereo(':fast=1'),
    'mvstereo rows=1':   mvstereo(':rows=1'),
    'mvstereo rows=3':   mvstereo(':rows=3'),
}


def chosen(what, names, text):
    names = list(names)
    for name in text.split(',') if text else ():
        if name not in names:
            sys.exit("error: %s: there is no '%s', only %s" % (what, name, ', '.join(names)))
    return [name for name in names if not text or name in text.split(',')]


def main():
    pairs = find(data)
    methods = chosen('METHODS', METHODS, sys.argv[5] if len(sys.argv) > 5 else '')
    rows = []
    for condition in chosen('CONDITIONS', CONDITIONS, sys.argv[4] if len(sys.argv) > 4 else ''):
        for method in methods:
            bad, seconds = [], 0
            for pair in pairs:
                left, right, truth, known, count = read(data, pair)
                left, right = CONDITIONS[condition](left, right)
                begin = bench.used(False)
                disparity = METHODS[method](left, right, 0 if method == 'mvstereo range' else count)
                seconds += bench.used(False) - begin
                wrong = np.abs(disparity - truth) > 1
                bad.append(100 * wrong[known].mean())
                picture = cv2.cvtColor(left, cv2.COLOR_GRAY2BGR)
                picture[wrong & known] = 0, 0, 255
                name = '-'.join((pair, condition, method)).replace(' ', '_')
                cv2.imwrite(os.path.join(out, name + '.png'), picture)
            rows.append([condition, method] + ['%.2f' % v for v in bad + [np.mean(bad)]] + ['%.2f' % seconds])
            print('%-8s %-18s' % (condition, method), *('%s %.2f' % v for v in zip(pairs, bad)),
                  ' mean %.2f  user time %.2f s' % (np.mean(bad), seconds), flush=True)
    bench.write_csv(os.path.join(out, 'stereo.csv'), ['condition', 'method', *pairs, 'mean', 'seconds'], rows)


if __name__ == '__main__':
    main()
