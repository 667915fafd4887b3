#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures rate and distortion of motion fields: bits of vectors, and what prediction with them leaves.

usage: rate.py --ffmpeg PROGRAM --out FOLDER [--clip FILE WxH] [--data FOLDER]... [--pairs N]
               [--searches "hme fs"] [--range N] [--x264 PROGRAM --reader PROGRAM]

The fields are those of tree=1 at several qp, those of blocks of one size, and the partitions that
libx264 chooses for the same pictures. PROGRAM of --x264 is an ffmpeg with libx264; that of --reader
is FFmpeg's example extract_mvs. Writes FOLDER/rate.csv and prints tables. quality.sh has the defaults.

Bits are lengths of the code se(v) of H.264 (9.1) for both components of each vector's difference
from its predictor, in the units of the search. Trees have the bits of their statistics, which
include the flags that divide them. The predictor of a block of one size is the median of the
vectors of the blocks to the left, above, and above right (above left in the last column), with
(0, 0) for one that is not there, and in the first row the vector to the left: that of a tree's roots.
x264's partitions have H.264's own predictors (8.4.1.3), and that of P_Skip (8.4.1.1) where it is
the vector; an intra macroblock has no bits, and is predicted by (0, 0). They and blocks of one
size have no flags.
"""

import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

import compensate
import methods
import pairs
import pictures
import quality

QPS = (*range(16, 52, 4), 51)  # qp of the trees
X264_QPS = range(16, 44, 4)
SIDES = (8, 16, 32, 64)
COLUMNS = ("group", "pairs", "search", "field", "setting", "bits", "psnr", "vectors", "aee")
TREE, FIXED, PARTITIONS = "tree", "one size", "partitions"

# P pictures of one reference, whose qp is lower by 20, the most that x264 allows: so they see almost
# the picture itself. Without what is for the eye, not for the PSNR; without partitions below 8x8,
# which the decoder does not export.
X264_OPTIONS = "-preset veryslow -tune psnr"
X264_PARAMS = ("keyint=2:min-keyint=1:scenecut=0:bframes=0:ref=1:weightp=0:ipratio=10:threads=1:"
               "partitions=p8x8,i8x8,i4x4")
MB = 16


def code_length(values):
    """Bits of se(v), H.264, 9.1."""
    values = np.asarray(values).astype(np.int64)
    code = np.where(values > 0, 2 * values, 2 * abs(values) + 1)
    return 2 * np.floor(np.log2(code)).astype(np.int64) + 1


def bits_of_one_size(vectors):
    """Bits of a field of blocks of one size: (rows, columns, 2), integers."""
    left, above, beside = (np.zeros_like(vectors) for _ in range(3))
    left[:, 1:] = vectors[:, :-1]
    above[1:] = vectors[:-1]
    beside[1:, :-1] = vectors[:-1, 1:]
    if vectors.shape[1] > 1:
        beside[1:, -1] = vectors[:-1, -2]
    predictors = np.median([left, above, beside], axis=0)
    predictors[0] = left[0]
    return int(code_length(vectors - predictors).sum())


class Partitions:
    """The partitions of a P picture, added in coding order; counts vectors and bits.

    cells: the vector of every 8x8 samples that are coded, None if they are intra.
    """

    def __init__(self):
        self.cells, self.bits, self.count = {}, 0, 0

    def neighbours(self, x, y, width):
        """The vectors to the left, above, and above right or else above left; positions in cells."""
        beside = (x + width, y - 1)
        if beside not in self.cells:
            beside = (x - 1, y - 1)
        return [self.cells.get(at) for at in ((x - 1, y), (x, y - 1), beside)]

    def median(self, x, y, width):
        """The predictor by the median: the only vector that there is, if it is the only one."""
        found = self.neighbours(x, y, width)
        there = [v for v in found if v]
        if len(there) == 1:
            return there[0]
        return tuple(sorted((v or (0, 0))[i] for v in found)[1] for i in (0, 1))

    def predictor(self, x, y, width, height):
        """8.4.1.3: those of 16x8 and 8x16 look to one side first."""
        left, above, beside = self.neighbours(x, y, width)
        if (width, height) == (2, 1):
            first = left if y % 2 else above
        elif (width, height) == (1, 2):
            first = beside if x % 2 else left
        else:
            first = None
        return first or self.median(x, y, width)

    def skipped(self, x, y):
        """8.4.1.1: the vector of a macroblock that is skipped."""
        left, above, _ = self.neighbours(x, y, 2)
        at_edge = (x - 1, y) not in self.cells or (x, y - 1) not in self.cells
        if at_edge or (0, 0) in (left, above):
            return 0, 0
        return self.median(x, y, 2)

    def add(self, x, y, width, height, vector):
        """A partition; positions and sizes in cells."""
        predictor = self.predictor(x, y, width, height)
        if (width, height) == (2, 2) and vector == self.skipped(x, y):
            predictor = vector
        self.bits += int(code_length(np.subtract(vector, predictor)).sum())
        self.count += 1
        self.fill(x, y, width, height, vector)

    def fill(self, x, y, width, height, vector):
        """Says what the cells have."""
        for row in range(height):
            for column in range(width):
                self.cells[x + column, y + row] = vector

    def dense(self, columns, rows):
        """A field of 8x8 blocks; (0, 0) where a macroblock is intra."""
        return np.array([[self.cells[x, y] or (0, 0) for x in range(columns)] for y in range(rows)])


def parse_partitions(lines, size):
    """Partitions of a picture from what extract_mvs prints of it."""
    rows, columns = (-(-side // MB) for side in size)
    macroblocks = {}
    for line in lines:
        _, source, width, height, _, _, x, y, _, dx, dy, scale = (int(v, 0) for v in line.split(","))
        if source != -1 or scale != 4 or min(width, height) < 8:
            raise methods.MethodError("the decoder exports other vectors than H.264's P pictures have")
        x, y = x - width // 2, y - height // 2
        macroblocks.setdefault((x // MB, y // MB), []).append((x // 8, y // 8, width // 8, height // 8, (dx, dy)))
    found = Partitions()
    for y in range(rows):
        for x in range(columns):
            if (x, y) not in macroblocks:
                found.fill(2 * x, 2 * y, 2, 2, None)
            for partition in macroblocks.get((x, y), ()):
                found.add(*partition)
    return found


class X264:
    """The partitions of libx264, read by extract_mvs.

    Each pair becomes an I picture, which is the second one, and a P picture, the first: so both
    search the same reference, but for what coding it has lost.
    """

    name = "x264"

    def __init__(self, ffmpeg, reader):
        self.ffmpeg, self.reader = ffmpeg, reader

    def encode(self, pair, qp, path):
        """Encodes the pairs of a clip."""
        height, width = pair.size
        twice = np.stack([pair.frames[1:], pair.frames[:-1]], 1)
        command = [self.ffmpeg, "-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pixel_format", "gray",
                   "-video_size", f"{width}x{height}", "-framerate", "25", "-i", "-", "-c:v", "libx264",
                   *X264_OPTIONS.split(), "-qp", str(qp), "-x264-params", X264_PARAMS, path]
        done = subprocess.run(command, input=twice.tobytes(), capture_output=True, check=False)
        if done.returncode:
            raise methods.MethodError(methods.first_complaint(done.stderr.decode()))

    def fields(self, pair, qp):
        """(vectors of 8x8 blocks, bits, number of vectors) of each pair."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "coded.mkv")
            self.encode(pair, qp, path)
            said = subprocess.run([self.reader, path], capture_output=True, text=True, check=True).stdout
        of_pictures = {}
        for line in said.splitlines()[1:]:
            of_pictures.setdefault(int(line.split(",")[0]), []).append(line)
        out = []
        rows, columns = (-(-side // 8) for side in pair.size)
        for number in range(2, 2 * len(pair.frames), 2):  # they are counted from 1
            found = parse_partitions(of_pictures.get(number, ()), pair.size)
            out.append((found.dense(columns, rows) / 4, found.bits, found.count))
        return out


class Search:
    """A search of gpume."""

    def __init__(self, name, ffmpeg, distance):
        self.name, self.method = name, methods.Gpume(name, ffmpeg, distance)

    def one_size(self, pair, side):
        """(vectors, bits, number of vectors) of each pair, with blocks of one size."""
        vectors = self.method.vectors(pair, side)
        whole = np.rint(vectors * self.method.pel).astype(np.int64)
        return [(v, bits_of_one_size(w), v[..., 0].size) for v, w in zip(vectors, whole)]

    def tree(self, pair, qp):
        """The same of trees; the vectors are those of their smallest blocks. qp: None for the default."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "statistics.jsonl")
            more = {} if qp is None else {"qp": qp}
            vectors = self.method.vectors(pair, SIDES[0], tree=1, stats_file=path, **more)
            with open(path, encoding="ascii") as f:
                statistics = [json.loads(line) for line in f]
        return [(v, s["bits"], s["blocks"]) for v, s in zip(vectors, statistics)]


def measure(pair, references, fields, block):
    """The means of bits, PSNR, number of vectors and, with ground truth, endpoint error over the pairs."""
    rows = []
    for frame, reference, (vectors, bits, count) in zip(pair.frames, references, fields):
        row = {"bits": bits, "vectors": count, "psnr": compensate.predicted_psnr(frame, reference, vectors, block)}
        if pair.flow is not None:
            row["aee"] = quality.endpoint_errors(pair, vectors, block)["aee"]
        rows.append(row)
    return means(rows)


def means(rows):
    """Of each column."""
    return {key: float(np.mean([row[key] for row in rows])) for key in rows[0]}


def measure_clip(frames, searches, x264):
    """Rows of the clip: all trees, all sizes, x264."""
    pair = pairs.Pair(quality.CLIP, quality.CLIP, frames)
    references = [compensate.Quarters(frame) for frame in frames[1:]]
    jobs = [(search.name, kind, setting, function, block or setting) for search in searches
            for kind, function, settings, block in ((TREE, search.tree, QPS, SIDES[0]),
                                                    (FIXED, search.one_size, SIDES, 0))
            for setting in settings]
    if x264:
        jobs += [(x264.name, PARTITIONS, qp, x264.fields, 8) for qp in X264_QPS]
    rows = []
    for name, kind, setting, function, block in jobs:
        found = measure(pair, references, function(pair, setting), block)
        rows.append({"group": quality.CLIP, "pairs": len(references), "search": name, "field": kind,
                     "setting": setting, **found})
    return rows


def measure_data(files, search):
    """Rows of groups with ground truth: trees of the default qp beside blocks of the same smallest size."""
    found = {}
    for file in files:
        pair = file.load()
        references = [compensate.Quarters(frame) for frame in pair.frames[1:]]
        for kind, setting, fields in ((TREE, "", search.tree(pair, None)),
                                      (FIXED, SIDES[0], search.one_size(pair, SIDES[0]))):
            found.setdefault((pair.group, kind, setting), []).append(
                measure(pair, references, fields, SIDES[0]))
    return [{"group": group, "pairs": len(rows), "search": search.name, "field": kind,
             "setting": setting, **means(rows)} for (group, kind, setting), rows in sorted(found.items(), key=str)]


def curve(rows, name, kind):
    """log2 of the bits, and PSNR, of a search's fields of a kind, by bits."""
    points = sorted((row["bits"], row["psnr"]) for row in rows if (row["search"], row["field"]) == (name, kind))
    bits, psnr = np.array(points).T
    return np.log2(bits), psnr


def margins(upper, lower):
    """By how many dB one curve is above the other where both are: (least, at bits), (most, at bits).

    Curves are straight between their points, so both are at one of the points. None: they have no
    rate in common.
    """
    low, high = max(upper[0][0], lower[0][0]), min(upper[0][-1], lower[0][-1])
    if low > high:
        return None
    at = np.array([low, high] + [x for x in (*upper[0], *lower[0]) if low < x < high])
    margin = np.interp(at, *upper) - np.interp(at, *lower)
    return [(float(margin[i]), float(2**at[i])) for i in (margin.argmin(), margin.argmax())]


def print_margin(rows, name, other, kind, what):
    """Whether the curve of trees is above another one."""
    found = margins(curve(rows, name, TREE), curve(rows, other, kind))
    if found is None:
        print(f"{name}: trees and {what} have no rate in common")
        return
    (least, at_least), (most, at_most) = found
    says = "above" if least > 0 else "NOT above"
    print(f"{name}: the curve of trees is {says} that of {what} at every rate that both have: "
          f"{least:+.2f} dB at {at_least:.0f} bits to {most:+.2f} dB at {at_most:.0f} bits")


def read_off(of_tree, at, by):
    """The other coordinate of a point on a curve; by: 0 for its bits, 1 for its PSNR. None: beyond its ends."""
    known, wanted = of_tree[by], of_tree[1 - by]
    return float(np.interp(at, known, wanted)) if known[0] <= at <= known[-1] else None


def print_gains(rows, name):
    """What trees have with as many bits as blocks of each size, and with the same PSNR."""
    tree = curve(rows, name, TREE)
    for row in rows:
        if (row["search"], row["field"]) != (name, FIXED):
            continue
        psnr, bits = read_off(tree, np.log2(row["bits"]), 0), read_off(tree, row["psnr"], 1)
        says = [f"{psnr - row['psnr']:+.2f} dB with the same bits"] if psnr is not None else []
        says += [f"{100 * (2**bits / row['bits'] - 1):+.1f} % bits with the same PSNR"] if bits is not None else []
        print(f"{name}: trees, compared with blocks of {row['setting']}: "
              f"{', '.join(says) or 'none has the same bits or the same PSNR'}")


def print_clip(rows):
    """The table of the clip, and how the curves lie."""
    print("left out: x265, FFmpeg's decoder of HEVC exports no vectors")
    print(f"\n{quality.CLIP}, {rows[0]['pairs']} pairs: bits of the field, PSNR in dB, number of vectors")
    print(" " * quality.NAME_WIDTH + "field".rjust(12) + "bits".rjust(10) + "PSNR".rjust(8) + "vectors".rjust(9))
    for row in rows:
        setting = f"{row['setting']}x{row['setting']}" if row["field"] == FIXED else f"qp {row['setting']}"
        tree = "tree " if row["field"] == TREE else ""
        print(row["search"].ljust(quality.NAME_WIDTH) + (tree + setting).rjust(12) +
              f"{row['bits']:10.0f}{row['psnr']:8.2f}{row['vectors']:9.0f}")
    print()
    names = dict.fromkeys(row["search"] for row in rows if row["field"] == TREE)
    for name in names:
        print_margin(rows, name, name, FIXED, "blocks of one size")
        print_gains(rows, name)
    if any(row["field"] == PARTITIONS for row in rows):
        print_margin(rows, next(iter(names)), X264.name, PARTITIONS, "x264's partitions")


def print_data(rows):
    """The table of the groups with ground truth."""
    print(f"\n{rows[0]['search']}, trees of the default qp, and blocks of 8x8: error in samples, PSNR in dB, "
          "number of vectors, bits")
    print(" " * quality.NAME_WIDTH + "".join(kind.rjust(36) for kind in ("tree=1", "8x8")))
    print(" " * quality.NAME_WIDTH + ("error".rjust(10) + "PSNR".rjust(8) + "vectors".rjust(9) + "bits".rjust(9)) * 2)
    for group in dict.fromkeys(row["group"] for row in rows):
        line = group.ljust(quality.NAME_WIDTH)
        for kind in (TREE, FIXED):
            row = next(r for r in rows if (r["group"], r["field"]) == (group, kind))
            line += f"{row['aee']:10.4f}{row['psnr']:8.2f}{row['vectors']:9.0f}{row['bits']:9.0f}"
        print(line)


def write_csv(path, rows):
    """One row a group, search, kind of field and setting: qp of trees and x264, side of blocks."""
    with open(path, "w", newline="", encoding="utf-8") as f:
        writer = csv.DictWriter(f, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.4f}" if isinstance(v, float) else v for k, v in row.items()})


def parse():
    parser = quality.parser_of(__doc__)
    parser.add_argument("--searches", default="hme fs")
    parser.add_argument("--x264")
    parser.add_argument("--reader")
    return parser.parse_args()


def main():
    options = parse()
    searches = [Search(name, options.ffmpeg, options.range) for name in options.searches.split()]
    x264 = X264(options.x264, options.reader) if options.x264 else None
    try:
        of_clip = measure_clip(quality.load_raw(options.clip), searches, x264) if options.clip else []
        of_data = measure_data(quality.find_pairs(options), searches[0])
    except (pictures.PictureError, methods.MethodError) as e:
        sys.exit(f"error: {e}")
    if of_clip:
        print_clip(of_clip)
    if of_data:
        print_data(of_data)
    path = os.path.join(options.out, "rate.csv")
    write_csv(path, of_clip + of_data)
    print(f"\nfigures: {path}")


if __name__ == "__main__":
    main()
