#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws figures as PNG files: of quality.csv, errors against rates, one file for each block size;
of rate.csv, the PSNR against the bits of the clip's vectors.

usage: plot.py CSV FOLDER
"""

import csv
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.transforms import Bbox  # noqa: E402

MEAN = "mean of groups"
PANELS = (("aee", "mean endpoint error, samples"), ("over1", "blocks with an error over 1 sample, %"))

# Where a label may be: its shift from the point, and how it is aligned.
PLACES = [(1, 0, "left", "center"), (-1, 0, "right", "center"), (0, 1, "center", "bottom"),
          (0, -1, "center", "top"), (1, 1, "left", "bottom"), (1, -1, "left", "top"),
          (-1, 1, "right", "bottom"), (-1, -1, "right", "top")]
DISTANCES = (7, 14, 22, 32, 44)  # in points


def read(path):
    with open(path, newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def colour(method):
    """By whose method it is."""
    if method in ("DIS medium", "Farneback"):
        return "tab:orange"
    if method.startswith("NVOFA"):
        return "tab:red"
    return "tab:green" if method.startswith("MVTools") else "tab:blue"


def is_free(box, inside, taken):
    """Whether a label can be here: within the panel, on nothing else."""
    return (inside.x0 < box.x0 and inside.y0 < box.y0 and inside.x1 > box.x1 and inside.y1 > box.y1
            and not any(box.overlaps(other) for other in taken))


def put_label(axes, text, point, taken, **style):
    """Writes a label at the nearest free place around its point, and adds its box to taken."""
    renderer = axes.figure.canvas.get_renderer()
    inside = axes.get_window_extent(renderer)
    label = axes.annotate(text, point, (7, 0), textcoords="offset points", **style)
    for distance in DISTANCES:
        for dx, dy, horizontal, vertical in PLACES:
            label.set_position((dx * distance, dy * distance))
            label.set(ha=horizontal, va=vertical)
            box = label.get_window_extent(renderer).padded(1)
            if is_free(box, inside, taken):
                taken.append(box)
                if distance > DISTANCES[0]:
                    axes.annotate("", point, label.get_position(), textcoords="offset points",
                                  arrowprops={"arrowstyle": "-", "color": "gray", "lw": 0.6})
                return
    label.set_position((DISTANCES[0], 0))
    label.set(ha="left", va="center")


def draw_panel(axes, rows, measure, title):
    """A measure against the rate; what the best vectors have as lines."""
    points = [(float(r["fps"]), float(r[measure]), r["method"]) for r in rows if r["fps"]]
    floors = [(float(r[measure]), r["method"]) for r in rows if r["method"].startswith("best")]
    axes.set_xscale("log")
    axes.set_xlim(min(p[0] for p in points) / 3, max(p[0] for p in points) * 3)
    axes.set_ylim(0, 1.25 * max(p[1] for p in points))
    axes.set_xlabel("frames/s at 1080p, one thread" if not any("cuda" in p[2] for p in points)
                    else "frames/s at 1080p; one thread of the CPU, or the GPU without transfers")
    axes.set_ylabel(title)
    axes.grid(True, which="both", alpha=0.3)
    if floors:
        # they are close together: one text for all of them
        text = ", ".join(f"{name.removeprefix('best ')} {value:.3g}" for value, name in floors)
        for value, _ in floors:
            axes.axhline(value, color="gray", linestyle="--", linewidth=0.8)
        axes.text(0.99, 0.985, f"dashed: best vectors of precision\n{text}", ha="right", va="top",
                  fontsize=8, color="dimgray", transform=axes.transAxes,
                  bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8})
    for fps, error, method in points:
        axes.plot(fps, error, "o", color=colour(method))
    return points


def label_panel(axes, points):
    """Names the points, when the figure has its final shape."""
    renderer = axes.figure.canvas.get_renderer()
    centres = axes.transData.transform([p[:2] for p in points])
    taken = [Bbox([[x - 6, y - 6], [x + 6, y + 6]]) for x, y in centres]
    taken += [t.get_window_extent(renderer) for t in axes.texts]
    taken += [line.get_window_extent(renderer).padded(0.5) for line in axes.lines
              if len(line.get_xdata()) == 2]  # the dashed ones
    for fps, error, method in sorted(points):
        put_label(axes, method, (fps, error), taken, fontsize=9, color=colour(method))


def draw(rows, block, folder):
    """The plot of a block size, from rows of one group."""
    rows = [r for r in rows if r["block"] == block]
    if not any(r["fps"] for r in rows):
        return
    figure, panels = plt.subplots(1, 2, figsize=(14, 6))
    points = [draw_panel(axes, rows, *panel) for axes, panel in zip(panels, PANELS)]
    group, count = rows[0]["group"], rows[0]["pairs"]
    what = f"mean of {count} groups" if group == MEAN else f"{group}, {count} pairs"
    figure.suptitle(f"one vector per {block}x{block} block: error and rate ({what})")
    figure.tight_layout()
    figure.canvas.draw()
    for axes, of_panel in zip(panels, points):
        label_panel(axes, of_panel)
    path = os.path.join(folder, f"error-{block}x{block}.png")
    figure.savefig(path, dpi=110)
    plt.close(figure)
    print(f"plot: {path}")


def draw_errors(rows, folder):
    """The plots of quality.csv, of the mean of the groups if there are several."""
    rows = [r for r in rows if r["aee"]]
    groups = list(dict.fromkeys(r["group"] for r in rows))
    if groups:
        rows = [r for r in rows if r["group"] == (MEAN if MEAN in groups else groups[0])]
    for block in dict.fromkeys(r["block"] for r in rows):
        draw(rows, block, folder)


def draw_field(axes, rows, colour_of_search):
    """The fields of a search that are of one kind: a curve over qp, or points with the blocks' sizes."""
    points = sorted((float(r["bits"]), float(r["psnr"]), int(r["setting"])) for r in rows)
    bits, psnr, settings = zip(*points)
    search, kind = rows[0]["search"], rows[0]["field"]
    if kind == "one size":
        axes.plot(bits, psnr, "o:", color=colour_of_search, markerfacecolor="white", linewidth=0.8,
                  label=f"{search}, blocks of one size")
        for x, y, side in points:
            axes.annotate(f"{side}x{side}", (x, y), (6, -10), textcoords="offset points", fontsize=8,
                          color=colour_of_search)
        return
    name = f"{search}:tree=1" if kind == "tree" else f"{search}'s partitions"
    axes.plot(bits, psnr, ".-", color=colour_of_search,
              label=f"{name}, qp {min(settings)} to {max(settings)}")


def draw_rates(rows, folder):
    """The plot of rate.csv."""
    rows = [r for r in rows if r["group"] == "clip"]
    if not rows:
        return
    figure, axes = plt.subplots(figsize=(9, 5.5))
    fields = {}
    for row in rows:
        fields.setdefault((row["search"], row["field"]), []).append(row)
    searches = list(dict.fromkeys(search for search, _ in fields))
    for (search, _), of_field in fields.items():
        draw_field(axes, of_field, f"C{searches.index(search)}")
    axes.set_xscale("log")
    axes.set_xlabel("bits of a picture's vectors")
    axes.set_ylabel("PSNR of the predicted picture, dB")
    axes.set_title(f"rate and distortion of motion fields (mean of {rows[0]['pairs']} pairs)")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend(fontsize=9)
    figure.tight_layout()
    path = os.path.join(folder, "rate.png")
    figure.savefig(path, dpi=100)
    print(f"plot: {path}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    rows = read(sys.argv[1])
    if rows:
        (draw_rates if "bits" in rows[0] else draw_errors)(rows, sys.argv[2])


if __name__ == "__main__":
    main()
