#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws errors against rates as PNG files, one for each block size.

usage: plot.py CSV FOLDER
"""

import csv
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

# A label's place around its point: shift in points, and how it is aligned.
PLACES = [(7, 0, "left", "center"), (-7, 0, "right", "center"), (0, 7, "center", "bottom"),
          (0, -7, "center", "top"), (6, 6, "left", "bottom"), (6, -6, "left", "top"),
          (-6, 6, "right", "bottom"), (-6, -6, "right", "top")]


def read(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def colour(method):
    """By whose method it is."""
    if method in ("DIS medium", "Farneback"):
        return "tab:orange"
    return "tab:green" if method.startswith("MVTools") else "tab:blue"


def free_place(axes, label, point, taken):
    """Moves a label around its point, further and further, until nothing is below it."""
    renderer = axes.figure.canvas.get_renderer()
    inside = axes.get_window_extent(renderer)
    for distance in (1, 2, 3, 4, 5):
        for dx, dy, horizontal, vertical in PLACES:
            label.set_position((dx * distance, dy * distance))
            label.set(ha=horizontal, va=vertical)
            box = label.get_window_extent(renderer).expanded(1.02, 1.1)
            if not any(box.overlaps(other) for other in taken) and inside.contains(box.x0, box.y0) \
                    and inside.contains(box.x1, box.y1):
                taken.append(box)
                if distance > 1:
                    axes.annotate("", point, label.get_position(), textcoords="offset points",
                                  arrowprops={"arrowstyle": "-", "color": "gray", "lw": 0.5})
                return


def draw(rows, group, block, folder):
    """Error against rate of one group; floors as lines."""
    rows = [r for r in rows if r["group"] == group and r["block"] == block and r["aee"]]
    timed = [r for r in rows if r["fps"]]
    if not timed:
        return
    figure, axes = plt.subplots(figsize=(9, 6))
    axes.set_xscale("log")
    points = [(float(r["fps"]), float(r["aee"]), r["method"]) for r in timed]
    for fps, error, method in points:
        axes.plot(fps, error, "o", color=colour(method))
    axes.set_xlim(min(p[0] for p in points) / 3, max(p[0] for p in points) * 3)
    axes.set_ylim(0, 1.15 * max(p[1] for p in points))
    axes.set_xlabel("frames/s at 1080p, one thread")
    axes.set_ylabel("mean endpoint error, samples")
    pairs = f"{rows[0]['pairs']} {'groups' if group == 'mean of groups' else 'pairs'}"
    axes.set_title(f"one vector per {block}x{block} block: error and rate ({group}, {pairs})")
    axes.grid(True, which="both", alpha=0.3)
    figure.tight_layout()
    figure.canvas.draw()
    taken = []
    for fps, error, _ in points:
        x, y = axes.transData.transform((fps, error))
        taken.append(matplotlib.transforms.Bbox([[x - 6, y - 6], [x + 6, y + 6]]))
    for r in rows:
        if r["method"].startswith("best"):
            error = float(r["aee"])
            axes.axhline(error, color="gray", linestyle="--", linewidth=0.8)
            label = axes.annotate(f"{r['method']} {error:.2f}", (axes.get_xlim()[0], error), (4, 3),
                                  textcoords="offset points", fontsize=8, color="gray")
            taken.append(label.get_window_extent())
    for fps, error, method in sorted(points):
        label = axes.annotate(method, (fps, error), (7, 0), textcoords="offset points", fontsize=9,
                              color=colour(method))
        free_place(axes, label, (fps, error), taken)
    path = os.path.join(folder, f"error-{block}x{block}.png")
    figure.savefig(path, dpi=120)
    plt.close(figure)
    print(f"plot: {path}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rows = read(sys.argv[1])
    groups = list(dict.fromkeys(r["group"] for r in rows if r["aee"]))
    for block in dict.fromkeys(r["block"] for r in rows):
        if groups:
            # the mean, if there is more than one group
            draw(rows, groups[-1] if len(groups) > 2 else groups[0], block, sys.argv[2])


if __name__ == "__main__":
    main()
