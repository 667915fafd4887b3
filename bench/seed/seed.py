#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the table and the plot of speed-ups over the thesis's serial program from the benchmark's results.

usage: seed.py CSV FOLDER
CSV is build/bench/bench.csv after 'make bench-gpu PARTS=seed'. The table is printed, in Markdown; the plot is
FOLDER/seed-speedup.png, if there is matplotlib.
"""

import csv
import sys

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402

SIZES = {288: "CIF", 720: "720p", 1080: "1080p", 1600: "2560x1600"}
NAMES = {"fs": "full search", "ds": "diamond search"}


def read(path):
    """Speed-ups that were published, and those of the seed's kernels and of gpume here, by search, height, area."""
    values = {}
    with open(path, newline="", encoding="utf-8") as f:
        for r in csv.DictReader(f):
            if r["part"].startswith("seed"):
                values[r["part"], r["metric"], r["what"], int(r["height"]), int(r["count"] or 0)] = float(r["median"])
    cases = {}
    for case in sorted({k[2:] for k in values if k[:2] == ("seed", "time")}, key=lambda c: (c[0] != "fs", *c[1:])):
        serial, *here = (values.get((part, "time", *case)) for part in ("seed serial", "seed", "seed gpume"))
        cases[case] = [values.get(("seed", "speed-up published in 2012", *case)),
                       *(serial / us if serial and us else None for us in here)]
    return cases


def plot(plt, cases, path):
    figure, panels = plt.subplots(1, 2, figsize=(10, 6))
    for axes, what in zip(panels, NAMES):
        for height, colour in zip(SIZES, ("tab:blue", "tab:orange", "tab:green", "tab:red")):
            for i, (style, label) in enumerate((("^", "published, GTX 480"), ("s--", "the seed here"), ("o-", "gpume here"))):
                points = [(area, ups[i]) for (w, h, area), ups in cases.items() if (w, h) == (what, height) and ups[i]]
                if points:
                    axes.plot(*zip(*points), style, color=colour, markersize=4, label=f"{SIZES[height]}, {label}")
        axes.set_title(f"{NAMES[what]}, 4x4: speed-up over the serial program")
        axes.set_xlabel("side of the search area, samples")
        axes.set_xscale("log", base=2)
        ticks = sorted({area for w, _, area in cases if w == what and area not in (20, 36)})
        axes.set_xticks(ticks, [str(t) for t in ticks])
        axes.minorticks_off()
        axes.set_yscale("log")
        axes.grid(True, alpha=0.3)
        # below, where it hides no point
        axes.legend(fontsize=7, ncol=2, loc="upper center", bbox_to_anchor=(0.5, -0.12))
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    print(f"plot: {path}", file=sys.stderr)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cases = read(sys.argv[1])
    bench.print_table(["search, area", "speed-up published", "the seed's kernels here", "gpume here"],
                      [[f"{NAMES[what]}, {SIZES.get(height, height)}, {area}x{area}", bench.cell(ups[0], ",.1f"),
                        *(bench.cell(u, ",.0f") for u in ups[1:])] for (what, height, area), ups in cases.items()])
    plt = bench.use_matplotlib()
    if plt:
        plot(plt, cases, f"{sys.argv[2]}/seed-speedup.png")


if __name__ == "__main__":
    main()
