#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures block vectors by ground truth, and what motion compensation with them leaves.

usage: quality.py --ffmpeg PROGRAM --out FOLDER [--data FOLDER]... [--clip FILE WxH]
                  [--speed FILE WxH] [--blocks "4 8 16"] [--methods "fs ds ..."]
                  [--range N] [--pairs N]

Writes FOLDER/quality.csv and prints tables. quality.sh has the defaults.
"""

import argparse
import concurrent.futures
import os
import sys
import threading

import numpy as np

import compensate
import methods
import pairs
import pictures
from methods import bench

MEASURES = ("aee", "visible", "over1", "over2", "over4", "psnr")
COLUMNS = ("group", "pairs", "method", "block") + MEASURES + ("fps",)
NAME_WIDTH = 26  # width of the tables' first column
CLIP, MEAN = "clip", "mean of groups"


def endpoint_errors(pair, vectors, block):
    """Errors of block vectors (rows, columns, 2) against the ground truth.

    aee: mean over samples with known flow, in samples; visible: the same without those that the
    second picture does not show; over1, over2, over4: the share of blocks whose mean error over
    their known samples is larger, in percent.
    """
    error = np.linalg.norm(compensate.expand(vectors, block, pair.size) - pair.flow, axis=-1)
    error = np.where(pair.known, error, np.nan)
    of_blocks = methods.block_means(error, block)
    of_blocks = of_blocks[np.isfinite(of_blocks)]
    seen = error[pair.visible]
    out = {"aee": np.nanmean(error), "visible": seen.mean() if seen.size else np.nan}
    for limit in (1, 2, 4):
        out[f"over{limit}"] = 100 * (of_blocks > limit).mean()
    return out


def judge(pair, references, vectors, block):
    """All measures of a method's vectors (frames - 1, rows, columns, 2)."""
    out = dict.fromkeys(MEASURES, np.nan)
    if pair.flow is not None:
        out.update(endpoint_errors(pair, vectors[0], block))
    out["psnr"] = np.mean([compensate.predicted_psnr(*both, block)
                           for both in zip(pair.frames, references, vectors)])
    return out


class Results:
    """Measures by group, method and block; which methods are left out, and why."""

    def __init__(self):
        self.values = {}  # (group, method, block): list of measures, one a pair
        self.rates = {}  # (method, block): frames/s
        self.left_out = {}  # (method, reason): blocks
        self.pairs = {}  # group: number of pairs
        self.lock = threading.Lock()

    def begin(self, pair):
        with self.lock:
            self.pairs[pair.group] = self.pairs.get(pair.group, 0) + len(pair.frames) - 1

    def add(self, pair, method, block, measures):
        with self.lock:
            self.values.setdefault((pair.group, method.name, block), []).append(measures)

    def leave_out(self, method, block, reason):
        with self.lock:
            self.left_out.setdefault((method.name, reason), set()).add(block)

    def groups(self):
        return sorted({group for group, _, _ in self.values})

    def mean(self, group, method, block):
        """The means over a group's pairs, or those of the groups; None if there are none."""
        if group != MEAN:
            rows = self.values.get((group, method, block))
        else:
            rows = [self.mean(g, method, block) for g in self.groups() if g != CLIP]
            rows = None if None in rows else rows
        if not rows:
            return None
        return {m: float(np.mean([row[m] for row in rows])) for m in MEASURES}

    def count(self, group):
        """The number of a group's pairs, or that of the groups."""
        if group == MEAN:
            return len([g for g in self.groups() if g != CLIP])
        return self.pairs[group]


def measure_pair(pair, chosen, blocks, results):
    """All methods on one pair."""
    results.begin(pair)
    references = [compensate.Quarters(frame) for frame in pair.frames[1:]]
    for method in chosen:
        for block in blocks:
            try:
                vectors = method.vectors(pair, block)
            except methods.Failed as e:
                if pair.flow is not None or not isinstance(method, methods.Best):
                    results.leave_out(method, block, str(e))
                continue
            results.add(pair, method, block, judge(pair, references, vectors, block))


def measure_rates(speed, chosen, blocks, results):
    """The rates of all methods, one after the other."""
    for method in chosen:
        for block in blocks:
            try:
                results.rates[method.name, block] = method.rate(speed, block)
            except methods.Failed as e:
                results.leave_out(method, block, str(e))


def write_csv(path, results, names, blocks):
    """One row a group, method and block; percent, samples, dB, frames/s."""
    groups, rows = results.groups(), []
    for group in groups + [MEAN] * (results.count(MEAN) > 1):
        for name in names:
            for block in blocks:
                mean = results.mean(group, name, block)
                if mean is not None:
                    rate = results.rates.get((name, block))
                    rows.append([group, results.count(group), name, block,
                                 *(f"{mean[m]:.4f}" if np.isfinite(mean[m]) else "" for m in MEASURES), f"{rate:.3f}" if rate else ""])
    bench.write_csv(path, COLUMNS, rows)


def cell(mean, measure, width, digits):
    """A number of the table, or a dash."""
    if mean is None or not np.isfinite(mean[measure]):
        return "-".rjust(width)
    return f"{mean[measure]:{width}.{digits}f}"


def print_group(results, group, names, blocks):
    """The table of a group: a line a method; for each block size the errors and the PSNR."""
    columns = [("psnr", "PSNR", 8, 2)]
    meaning = "PSNR, dB"
    if group != CLIP:
        columns = [("aee", "error", 9, 3), ("over1", ">1", 7, 1), ("over4", ">4", 7, 1)] + columns
        meaning = "error in samples; blocks over 1 and over 4, %; " + meaning
    kind = "groups" if group == MEAN else "pairs"
    print(f"\n{group}, {results.count(group)} {kind}: {meaning}")
    width = sum(w for _, _, w, _ in columns)
    print(" " * NAME_WIDTH + "".join(f"{b}x{b}".rjust(width) for b in blocks))
    print(" " * NAME_WIDTH + "".join(title.rjust(w) for _, title, w, _ in columns) * len(blocks))
    for name in names:
        means = [results.mean(group, name, b) for b in blocks]
        if any(means):
            print(name.ljust(NAME_WIDTH) + "".join(cell(mean, measure, w, digits) for mean in means
                                                   for measure, _, w, digits in columns))


def print_by_block(title, values, names, blocks, digits):
    """A table of one number a method and block."""
    if not values:
        return
    print(f"\n{title}")
    print(" " * NAME_WIDTH + "".join(f"{b}x{b}".rjust(10) for b in blocks))
    for name in names:
        row = [values.get((name, b)) for b in blocks]
        if any(row):
            print(name.ljust(NAME_WIDTH)
                  + "".join(f"{v:10.{digits}f}" if v else "-".rjust(10) for v in row))


def parser_of(description):
    """What all measurements of a set of pairs and a clip are told."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--ffmpeg", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--data", action="append", default=[])
    parser.add_argument("--clip", nargs=2, metavar=("FILE", "WxH"))
    parser.add_argument("--range", type=int, default=32)
    parser.add_argument("--pairs", type=int, default=0)
    return parser


def parse():
    parser = parser_of(__doc__)
    parser.add_argument("--speed", nargs=2, metavar=("FILE", "WxH"))
    parser.add_argument("--blocks", default="4 8 16")
    parser.add_argument("--methods", default="fs ds epzs umh")
    parser.add_argument("--nvofa", help="gpume_bench, for NVIDIA's optical-flow hardware")
    return parser.parse_args()


def load_raw(arguments):
    """The frames of --clip or --speed."""
    path, size = arguments
    return pairs.load_raw(path, *map(int, size.split("x")))


def find_pairs(options):
    """All pairs of the data, as Files."""
    files = []
    for folder in options.data:
        found = pairs.spread(pairs.find(folder), options.pairs)
        if not found:
            sys.exit(f"error: {folder}: no pairs with ground truth in a layout that is known")
        files += found
    return files


def all_methods(options):
    """The methods that can be on this machine."""
    device = methods.Device(options.nvofa) if options.nvofa else None
    chosen = [methods.Gpume(text, options.ffmpeg, options.range, device)
              for text in options.methods.split()]
    for title, peers in (("DIS and Farneback", methods.opencv_peers()),
                         ("MVTools", methods.mvtools_peers())):
        if not peers:
            print(f"left out: {title}, not installed for this Python")
        chosen += peers
    chosen += methods.nvofa_peers(device)
    print("left out: mestimate, because ffmpeg does not print its vectors. gpume's searches of the same "
          "names find equal vectors, as the tests show")
    return chosen + [methods.Best(1), methods.Best(2), methods.Best(4), methods.Zero()]


def measure(options, chosen, blocks):
    """Everything, as Results."""
    results = Results()
    files = find_pairs(options)

    def one(file):
        pair = file.load() if isinstance(file, pairs.Files) else file
        measure_pair(pair, chosen, blocks, results)

    if options.clip:
        files.append(pairs.Pair(CLIP, CLIP, load_raw(options.clip)))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(one, files))
    if options.speed:
        measure_rates(methods.Speed(options.speed[0], load_raw(options.speed)), chosen, blocks, results)
    return results


def main():
    options = parse()
    blocks = [int(b) for b in options.blocks.split()]
    chosen = all_methods(options)
    names = [m.name for m in chosen]
    try:
        results = measure(options, chosen, blocks)
    except pictures.PictureError as e:
        sys.exit(f"error: {e}")
    for (name, reason), sizes in sorted(results.left_out.items()):
        which = ", ".join(map(str, sorted(sizes)))
        print(f"left out: {name}, blocks of {which}: {reason}")
    for group in results.groups():
        print_group(results, group, names, blocks)
    if results.count(MEAN) > 1:
        print_group(results, MEAN, names, blocks)
    print_by_block(f"frames/s, one thread, one direction, {options.speed and options.speed[1]}",
                   results.rates, names, blocks, 2)
    path = os.path.join(options.out, "quality.csv")
    write_csv(path, results, names, blocks)
    print(f"\nfigures: {path}")


if __name__ == "__main__":
    main()
