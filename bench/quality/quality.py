#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures block vectors by ground truth.

usage: quality.py --ffmpeg PROGRAM --out FOLDER [--data FOLDER]... [--speed FILE WxH]
                  [--blocks "4 8 16"] [--methods "fs ds ..."] [--range N] [--nvofa GPUME_BENCH]

Writes FOLDER/quality.csv and prints tables. The error is the mean distance of the vectors from the known flow, in
samples; over1 is the share of blocks whose mean error is over one sample. quality.sh has the defaults.
"""

import argparse
import concurrent.futures
import os
import statistics
import sys

import numpy as np

import methods
import pairs
from methods import bench

MEASURES = ("error", "over1")


def measure_pair(arguments, chosen, blocks):
    """Rows of all methods on one pair, and why methods are left out."""
    pair = pairs.Pair(*arguments)
    rows, left_out = [], []
    for method in chosen:
        for block in blocks:
            try:
                vectors = method.vectors(pair, block)
            except methods.Failed as e:
                left_out.append(f"{method.name}, blocks of {block}: {e}")
                continue
            dense = vectors.repeat(block, 0).repeat(block, 1)[:pair.size[0], :pair.size[1]]
            error = np.where(pair.known, np.linalg.norm(dense - pair.flow, axis=-1), np.nan)
            of_blocks = methods.block_means(error, block)
            over = of_blocks[np.isfinite(of_blocks)] > 1
            for measure, value in zip(MEASURES, (np.nanmean(error), 100 * over.mean())):
                rows.append((pair.name, pair.group, method.name, block, measure, value))
    return rows, left_out


def print_tables(results, rates, groups, names, blocks):
    """A table a group, and one of the means of all groups; the last one has the rates."""
    means = {(g, n, b, m): results.mean(group=g, method=n, block=b, metric=m)
             for g in groups for n in names for b in blocks for m in MEASURES}
    for n in names:
        for b in blocks:
            for m in MEASURES:
                values = [means[g, n, b, m] for g in groups]
                means["mean of groups", n, b, m] = None if None in values else statistics.mean(values)
    head = ["", *(f"{b}x{b}, {title}" for b in blocks for title in ("error", "over 1, %"))]
    for group in [*groups, "mean of groups"] if len(groups) > 1 else groups:
        print(f"\n{group}\n")
        bench.print_table(head, [[n, *(bench.cell(means[group, n, b, m], form) for b in blocks
                                       for m, form in zip(MEASURES, (".3f", ".1f")))] for n in names])
    if rates:
        print("\nframes/s, one thread, one direction\n")
        bench.print_table(["", *(f"{b}x{b}" for b in blocks)],
                          [[n, *(bench.cell(rates.get((n, b)), ".2f") for b in blocks)] for n in names])


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffmpeg", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--data", action="append", default=[])
    parser.add_argument("--range", type=int, default=32)
    parser.add_argument("--speed", nargs=2, metavar=("FILE", "WxH"))
    parser.add_argument("--blocks", type=lambda text: [int(b) for b in text.split()], default=[4, 8, 16])
    parser.add_argument("--methods", default="fs ds epzs umh")
    parser.add_argument("--nvofa", help="gpume_bench, for NVIDIA's optical-flow hardware")
    return parser.parse_args()


def main():
    options = parse()
    chosen, found = methods.all_methods(options), []
    for folder in options.data:
        there = pairs.find(folder)
        if not there:
            sys.exit(f"error: {folder}: no pairs with ground truth in a layout that is known")
        found += there
    results, left_out = bench.Results("clip", "group", "method", "block", "metric"), set()
    try:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for rows, missing in pool.map(lambda pair: measure_pair(pair, chosen, options.blocks), found):
                results.rows += rows
                left_out |= set(missing)
    except pairs.PictureError as e:
        sys.exit(f"error: {e}")
    print(*(f"left out: {text}" for text in sorted(left_out)), sep="\n")
    speed = methods.Speed(*options.speed) if options.speed else None
    rates = {(m.name, b): m.rate(speed, b) for m in chosen for b in options.blocks} if speed else {}
    print_tables(results, rates, sorted({pair[0] for pair in found}), [m.name for m in chosen], options.blocks)
    results.write(f"{options.out}/quality.csv")


if __name__ == "__main__":
    main()
