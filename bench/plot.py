#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws the benchmark's results as PNG files.

usage: plot.py CSV FOLDER

Draws each plot whose rows are in the file, for 1080p if there are several sizes.
"""

import collections
import csv
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

HEIGHT = "1080"
BLOCK_COLOURS = {"4": "tab:blue", "8": "tab:orange", "16": "tab:green"}

# Common names of the sizes.
NAMES = {"288": "CIF", "720": "720p", "1080": "1080p", "2160": "2160p"}


class Row(dict):
    """A row of the file, by column."""

    def number(self, column="median"):
        return float(self[column])

    def matches(self, **columns):
        return all(self[k] == v for k, v in columns.items())

    def fps(self):
        """Frames/s: median, minimum and maximum, from a rate or from microseconds per frame."""
        if self["unit"] == "us":
            return 1e6 / self.number(), 1e6 / self.number("max"), 1e6 / self.number("min")
        return self.number(), self.number("min"), self.number("max")


def read(path):
    with open(path, newline="", encoding="utf-8") as f:
        return [Row(r) for r in csv.DictReader(f)]


def select(rows, **columns):
    return [r for r in rows if r.matches(**columns)]


def save(figure, folder, name):
    path = os.path.join(folder, name + ".png")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
    print(f"plot: {path}")


def error_bars(rates):
    """Distances below and above the median, from (median, minimum, maximum)."""
    return [[m - low for m, low, _ in rates], [high - m for m, _, high in rates]]


def lines(axes, rows, label, **style):
    """Frames/s by range, with the spread of the runs."""
    rows = sorted(rows, key=lambda r: int(r["range"]))
    rates = [r.fps() for r in rows]
    axes.errorbar([int(r["range"]) for r in rows], [m for m, _, _ in rates],
                  yerr=error_bars(rates), label=label, capsize=2, **style)


def by_range(axes, title, ranges):
    axes.set_title(title)
    axes.set_xscale("log", base=2)
    axes.set_xticks(ranges, [f"±{r}" for r in ranges])
    axes.set_yscale("log")
    axes.set_xlabel("range, samples")
    axes.grid(True, which="both", alpha=0.3)


def plot_kernels(rows, folder):
    rows = select(rows, part="kernels", height=HEIGHT, depth="8", metric="time")
    if not rows:
        return
    figure, (full, diamond) = plt.subplots(1, 2, figsize=(12, 5), sharey=True)
    by_range(full, f"full search, kernel only, {NAMES[HEIGHT]}", [8, 16, 32, 64])
    by_range(diamond, f"diamond search, kernel only, {NAMES[HEIGHT]}", [8, 16, 32, 64, 128])
    full.set_ylabel("frames/s")
    for block, colour in BLOCK_COLOURS.items():
        for content, marker in (("clip", "o"), ("noise", "x")):
            of_block = select(rows, block=block, content=content)
            name = f"{block}x{block} {content}"
            lines(full, [r for r in select(of_block, what="fs") if r["range"] != "30"],
                  name, color=colour, marker=marker, linestyle="-" if content == "clip" else ":")
            lines(diamond, select(of_block, what="ds"), name, color=colour, marker=marker,
                  linestyle="-" if content == "clip" else ":")
        lines(full, [r for r in select(rows, what="fs exhaustive", block=block, content="clip")
                     if r["range"] != "30"],
              f"{block}x{block} every candidate", color=colour, linestyle="--", alpha=0.6)
    full.legend(fontsize=8)
    diamond.legend(fontsize=8)
    save(figure, folder, "kernels")


def plot_ceiling(rows, folder):
    rows = select(rows, part="kernels", metric="of the ceiling", content="clip", height=HEIGHT)
    if not rows:
        return
    figure, axes = plt.subplots(figsize=(6, 4.5))
    for block, colour in BLOCK_COLOURS.items():
        of_block = sorted(select(rows, block=block), key=lambda r: int(r["range"]))
        axes.plot([int(r["range"]) for r in of_block], [r.number() for r in of_block],
                  color=colour, marker="o", label=f"{block}x{block}")
    by_range(axes, f"full search, every candidate evaluated, {NAMES[HEIGHT]}", [8, 16, 32, 64])
    axes.set_yscale("linear")
    axes.set_ylim(0, 100)
    axes.set_ylabel("% of the device's absolute differences/s")
    axes.legend()
    save(figure, folder, "ceiling")


def plot_seed(rows, folder):
    seed = select(rows, part="seed", metric="time", height=HEIGHT)
    if not seed:
        return
    ours = select(rows, part="kernels", metric="time", height=HEIGHT, block="4", content="clip",
                  depth="8")
    published = select(rows, part="seed", metric="rate published in 2012", height=HEIGHT)
    figure, panels = plt.subplots(1, 2, figsize=(12, 5), sharey=True)
    for axes, search, name in zip(panels, ("fs", "ds"), ("full", "diamond")):
        by_range(axes, f"{name} search, blocks of 4x4, kernel only, {NAMES[HEIGHT]}",
                 [4, 8, 16, 32, 64, 128])
        lines(axes, select(ours, what=search), "gpume", marker="o")
        lines(axes, select(seed, what=search), "the seed's system, this card", marker="s")
        old = select(published, what=search)
        if old:
            axes.plot([int(r["range"]) for r in old], [r.number() for r in old], "k^",
                      label="as published in 2012, GTX 480")
        axes.legend()
    panels[0].set_ylabel("frames/s")
    save(figure, folder, "seed")


def plot_split(rows, folder):
    rows = select(rows, part="seed split", height=HEIGHT)
    if not rows:
        return
    figure, panels = plt.subplots(1, 2, figsize=(12, 4.5))
    for axes, search in zip(panels, ("fs", "ds")):
        mine = select(rows, what=search)
        ranges = sorted({int(r["range"]) for r in mine})
        bottom = [0.0] * len(ranges)
        for stage in ("allocation", "up", "kernel", "down"):
            times = {int(r["range"]): r.number() for r in select(mine, metric=stage)}
            values = [times[r] for r in ranges]
            axes.bar([str(2 * r + 4) for r in ranges], values, bottom=bottom, label=stage)
            bottom = [a + b for a, b in zip(bottom, values)]
        axes.set_title(f"the seed's system: time per frame, {search}, {NAMES[HEIGHT]}")
        axes.set_xlabel("side of the search area, samples")
        axes.set_ylabel("us")
        axes.legend()
    save(figure, folder, "seed-split")


def plot_nvofa(rows, folder):
    times = select(rows, part="nvofa", metric="time", height=HEIGHT)
    left = {r["what"]: r.number() for r in select(rows, part="nvofa", metric="residual", height=HEIGHT)}
    if not times:
        return
    figure, axes = plt.subplots(figsize=(7, 5))
    for row in times:
        rate, low, high = row.fps()
        axes.errorbar([rate], [left[row["what"]] / 1e6], xerr=[[rate - low], [high - rate]],
                      marker="o", capsize=2)
        axes.annotate("  " + row["what"], (rate, left[row["what"]] / 1e6))
    axes.set_xscale("log")
    axes.set_xlim(100, 200000)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("frames/s")
    axes.set_ylabel("residual, millions per pair")
    axes.set_title(f"one vector per 4x4 block, {NAMES[HEIGHT]}: rate and residual")
    axes.grid(True, which="both", alpha=0.3)
    save(figure, folder, "nvofa")


def plot_pipeline(rows, folder):
    rows = select(rows, part="pipeline", metric="rate")
    if not rows:
        return
    groups = collections.OrderedDict()
    for r in rows:
        case, search = r["what"].split(": ")
        groups.setdefault((case, r["count"]), []).append((search, r))
    figure, axes = plt.subplots(figsize=(12, 0.28 * len(rows) + 1.5))
    at, ticks, labels = 0, [], []
    for (case, count), members in groups.items():
        for search, r in members:
            rate, low, high = r.fps()
            options = f" {r['block']}x{r['block']} ±{r['range']}" if r["block"] else ""
            axes.barh(at, rate, xerr=[[rate - low], [high - rate]], capsize=2,
                      color="lightgray" if search == "none" else "tab:blue")
            ticks.append(at)
            labels.append(f"{case}, {count}: {'decoding alone' if search == 'none' else search + options}")
            at += 1
        at += 0.6
    axes.set_yticks(ticks, labels, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("frames/s, all streams together")
    axes.set_title(f"pipelines, {NAMES[HEIGHT]}")
    save(figure, folder, "pipeline")


def plot_cpu(rows, folder):
    rows = select(rows, part="cpu", metric="rate", block="16")
    sizes = [h for h in NAMES if select(rows, height=h)]
    if not sizes:
        return
    threads = max(int(r["count"]) for r in rows)
    figure, panels = plt.subplots(1, len(sizes), figsize=(8 * len(sizes), 4.5), squeeze=False)
    for axes, height in zip(panels[0], sizes):
        cases = collections.OrderedDict()
        for r in select(rows, height=height):
            program, search = r["what"].split(" ", 1)
            key = (search.replace("esa", "fs"), r["range"])
            cases.setdefault(key, {})[program, int(r["count"])] = r.fps()
        series = [(("mestimate", 1), "mestimate"), (("gpume", 1), "gpume, 1 thread"),
                  (("gpume", threads), f"gpume, {threads} threads")]
        for i, (key, name) in enumerate(series):
            there = [(j, case[key]) for j, case in enumerate(cases.values()) if key in case]
            axes.bar([j + 0.27 * i for j, _ in there], [rate[0] for _, rate in there], 0.27,
                     yerr=error_bars([rate for _, rate in there]), capsize=2, label=name)
        axes.set_yscale("log")
        axes.set_xticks([j + 0.27 for j in range(len(cases))],
                        [f"{s.replace(' ', chr(10))}\n±{r}" for s, r in cases])
        axes.set_title(f"CPU, {NAMES[height]}, past and future, 16x16")
        axes.set_ylabel("frames/s")
        axes.legend(fontsize=8, loc="upper right")
    save(figure, folder, "cpu")


def plot_threads(rows, folder):
    rows = select(rows, part="cpu", metric="rate by threads", height=HEIGHT)
    if not rows:
        return
    figure, axes = plt.subplots(figsize=(6.5, 5))
    ones = {}
    for what in dict.fromkeys(r["what"] for r in rows):
        mine = sorted(select(rows, what=what), key=lambda r: int(r["count"]))
        search, *processes = what.split()[1:]
        # what processes reach together is set against one thread, too
        one = ones.setdefault(search, mine[0].number())
        axes.plot([int(r["count"]) for r in mine], [r.number() / one for r in mine], marker="o",
                  linestyle="--" if processes else "-",
                  label=search + (", processes of one thread" if processes else ""))
    most = max(int(r["count"]) for r in rows)
    axes.plot([1, most], [1, most], "k:", label="linear")
    axes.set_xlabel("threads")
    axes.set_ylabel("rate against one thread")
    axes.set_title(f"threads, {NAMES[HEIGHT]}, 16x16 ±{rows[0]['range']}, past and future")
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=8)
    save(figure, folder, "threads")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rows = read(sys.argv[1])
    for plot in (plot_kernels, plot_ceiling, plot_seed, plot_split, plot_nvofa, plot_pipeline,
                 plot_cpu, plot_threads):
        plot(rows, sys.argv[2])


if __name__ == "__main__":
    main()
