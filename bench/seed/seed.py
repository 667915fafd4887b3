#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the table and the plot of the founding experiments from the benchmark's results.

usage: seed.py [-a] CSV FOLDER

CSV is build/bench/bench.csv after 'make bench-gpu PARTS=seed'. The table is printed, in Markdown; the plot is
FOLDER/seed-speedup.png, if there is matplotlib. Speed-ups are those of kernels over the serial program.
-a: all areas, not only those with published figures.
"""

import csv
import os
import sys

SIZES = {288: "CIF", 720: "720p", 1080: "1080p", 1600: "2560x1600"}
NAMES = {"fs": "full search", "ds": "diamond search"}
GTX_480 = 1345                          # Gop/s

# Monteiro, UFRGS 2012: the highest speed-ups at CIF, 720p, 1080p; shares of the JM encoder's time in percent
PARALLEL = {"fs": {"MPI, 64 processes": (27, 29, 20), "OpenMP, 6 threads": (4, 4, 5)},
            "ds": {"MPI, 64 processes": (26, 31, 32), "OpenMP, 6 threads": (6, 6, 6)}}
SHARES = {"fs": ((98, 98, 98), (11, 5, 3)), "ds": ((48, 60, 61), (0.17, 0.18, 0.19))}
SHARE_AREAS = {"fs": 32, "ds": 240}


class Results:
    """Medians by part, search, height, area and metric."""

    def __init__(self, path):
        self.values, self.ranks, self.device = {}, {}, None
        with open(path, newline="", encoding="utf-8") as f:
            for r in csv.DictReader(f):
                value = float(r["median"])
                if r["part"] == "seed" and r["what"] == "device":
                    self.device = value
                elif r["part"].startswith("seed"):
                    key = r["part"], r["what"], int(r["height"]), int(r["count"] or 0), r["metric"]
                    self.values[key] = value
                elif r["part"] == "mpi" and r["what"] == "gpume-mpi":
                    self.ranks.setdefault(f"{r['metric']} ±{r['range']}", {})[int(r["count"])] = value

    def get(self, part, what, height, area, metric="time"):
        return self.values.get((part, what, height, area, metric))

    def cases(self):
        return sorted({k[1:4] for k in self.values if k[0] == "seed" and k[4] == "time"},
                      key=lambda c: (c[0] != "fs", c[1], c[2]))

    def speed_up(self, part, what, height, area):
        serial, time = self.get("seed serial", what, height, area), self.get(part, what, height, area)
        return serial / time if serial and time else None

    def frame(self, what, height, area):
        """A frame as the seed has it: allocation, up, kernel, down."""
        parts = [self.get("seed split", what, height, area, m) for m in ("allocation", "up", "kernel", "down")]
        return sum(parts) if all(p is not None for p in parts) else None


def number(value, form="{:,.0f}"):
    return form.format(value) if value is not None else ""


def rate(us):
    return number(us and 1e6 / us)


def percent(us, whole):
    if us is None or whole is None:
        return ""
    share = 100 * us / whole
    return number(share, "{:,.0f} %" if share >= 10 else "{:.1f} %" if share >= 1 else "{:.2f} %")


def experiments(results, everything):
    print("| search, area | frames/s published | seed's kernels here | gpume's | speed-up published | seed here | gpume "
          "| of 33 ms: seed | gpume | per Gop/s: published | seed here | gpume |")
    print("|" + " --- |" * 12)
    for what, height, area in results.cases():
        fps = results.get("seed", what, height, area, "rate published in 2012")
        published = results.get("seed", what, height, area, "speed-up published in 2012")
        # nothing of the largest pictures is published
        if not (everything or fps or published or (height == 1600 and area == SHARE_AREAS[what])):
            continue
        seed, ours = (results.speed_up(p, what, height, area) for p in ("seed", "seed gpume"))
        third = 1e6 / 30
        cells = [f"{NAMES[what]}, {SIZES.get(height, height)}, {area}x{area}",
                 number(fps, "{:,.2f}").replace(".00", "") + ("\\*" if fps == 688.75 else ""),
                 rate(results.get("seed", what, height, area)), rate(results.get("seed gpume", what, height, area)),
                 number(published, "{:,.1f}"), number(seed), number(ours),
                 percent(results.frame(what, height, area), third),
                 percent(results.get("seed gpume", what, height, area, "time of a frame"), third)]
        cells += [number(published and published / GTX_480, "{:.3f}")]
        cells += [number(s and results.device and s / results.device, "{:.3f}") for s in (seed, ours)]
        print("| " + " | ".join(cells) + " |")
    print("\n\\* Implausible: 12x12 has 2.25 times the candidates and was published with 54.\n")


def line_of_ranks(measured):
    """Seconds a frame: a part that ranks share and one that they do not, by least squares; neither below 0."""
    points = [(1 / n, 1 / fps) for n, fps in measured.items()]
    mean_x, mean_y = (sum(p[i] for p in points) / len(points) for i in (0, 1))
    square = sum((x - mean_x) ** 2 for x, _ in points)
    shared = sum((x - mean_x) * (y - mean_y) for x, y in points) / square
    alone = mean_y - shared * mean_x
    if alone < 0:
        alone, shared = 0, sum(x * y for x, y in points) / sum(x * x for x, _ in points)
    return alone, shared


def many(results):
    print("| speed-up, at most | " + " | ".join(list(SIZES.values())[:3]) + " |\n| --- | --- | --- | --- |")
    for what, kinds in PARALLEL.items():
        for kind, values in kinds.items():
            print(f"| {NAMES[what]}, {kind}, published | " + " | ".join(map(str, values)) + " |")
        best = []
        for height in list(SIZES)[:3]:
            of = [results.get("seed serial", w, h, a) / v for (p, w, h, a, m), v in results.values.items()
                  if p == "seed threads" and w == what and h == height]
            best.append(number(max(of, default=None), "{:.1f}"))
        print(f"| {NAMES[what]}, 6 threads, here | " + " | ".join(best) + " |")
    print()
    if results.ranks:
        counts = sorted({n for r in results.ranks.values() for n in r})
        print("| gpume-mpi, ranks | " + " | ".join(map(str, counts)) + " | 64, by calculation |")
        print("|" + " --- |" * (len(counts) + 2))
        for search, measured in results.ranks.items():
            one = measured.get(1)
            if not one or len(measured) < 2:
                continue
            alone, shared = line_of_ranks(measured)
            cells = [number(measured.get(n) and measured[n] / one, "{:.2f}") for n in counts]
            print(f"| {search} | " + " | ".join(cells) + f" | {(alone + shared) / (alone + shared / 64):.1f} |")
        print()


def encoders(results):
    print("| share of an encoder's time | " + " | ".join(list(SIZES.values())[:3]) + " |\n| --- | --- | --- | --- |")
    for what, (before, after) in SHARES.items():
        area = SHARE_AREAS[what]
        rows = {"serial, published (JM)": [f"{v} %" for v in before],
                "GTX 480, published (JM)": [f"{v} %" for v in after]}
        for height in list(SIZES)[:3]:
            rest = results.get("seed encoder", "mpeg4", height, 1)
            for kind, us in (("serial", results.get("seed serial", what, height, area)),
                             ("seed's frame", results.frame(what, height, area)),
                             ("gpume's frame", results.get("seed gpume", what, height, area, "time of a frame"))):
                rows.setdefault(f"{kind}, here (`mpeg4`, one thread, area {area}x{area})", []).append(
                    percent(us, us + rest if us and rest else None))
        for kind, cells in rows.items():
            print(f"| {NAMES[what]}, {kind} | " + " | ".join(cells) + " |")


def plot(results, folder):
    try:
        import matplotlib
    except ImportError:
        print("no plot: there is no matplotlib", file=sys.stderr)
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, 3, figsize=(15, 6))
    for axes, what in zip(panels, NAMES):
        for height, colour in zip(SIZES, ("tab:blue", "tab:orange", "tab:green", "tab:red")):
            areas = [a for w, h, a in results.cases() if w == what and h == height]
            for part, style in (("seed gpume", "o-"), ("seed", "s--")):
                ups = [(a, results.speed_up(part, what, height, a)) for a in areas]
                ups = [p for p in ups if p[1]]
                if ups:
                    axes.plot(*zip(*ups), style, color=colour, markersize=4,
                              label=f"{SIZES[height]}, {'gpume' if part == 'seed gpume' else 'the seed'} here")
            old = [(a, results.get("seed", what, height, a, "speed-up published in 2012")) for a in areas]
            old = [p for p in old if p[1]]
            if old:
                axes.plot(*zip(*old), "^", color=colour, label=f"{SIZES[height]}, published, GTX 480")
        axes.set_title(f"{NAMES[what]}, 4x4: speed-up over the serial program")
        axes.set_xlabel("side of the search area, samples")
        axes.set_xscale("log", base=2)
        ticks = sorted({a for w, _, a in results.cases() if w == what and a not in (20, 36)})
        axes.set_xticks(ticks, [str(t) for t in ticks])
        axes.minorticks_off()
        axes.set_yscale("log")
        axes.grid(True, alpha=0.3)
        # below, where it hides no point
        axes.legend(fontsize=7, ncol=2, loc="upper center", bbox_to_anchor=(0.5, -0.12))
    axes = panels[2]
    for search, measured in results.ranks.items():
        if 1 not in measured or len(measured) < 2:
            continue
        alone, shared = line_of_ranks(measured)
        counts = [n for n in (1, 2, 4, 8, 16, 32, 64) if n >= 1]
        drawn = axes.plot(sorted(measured), [measured[n] / measured[1] for n in sorted(measured)], "o",
                          label=f"gpume-mpi {search}, measured")
        axes.plot(counts, [(alone + shared) / (alone + shared / n) for n in counts], ":",
                  color=drawn[0].get_color(), label=f"{search}, by calculation")
    for what, marker in (("fs", "^"), ("ds", "v")):
        axes.plot([64] * 3, PARALLEL[what]["MPI, 64 processes"], "k" + marker, label=f"{NAMES[what]}, published, MPI")
    axes.plot([1, 64], [1, 64], "k:", alpha=0.4)
    axes.set_title("processes: speed-up over one")
    axes.set_xlabel("ranks")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
    axes.set_yticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize=7, ncol=2, loc="upper center", bbox_to_anchor=(0.5, -0.12))
    figure.tight_layout()
    path = os.path.join(folder, "seed-speedup.png")
    figure.savefig(path, dpi=120)
    print(f"plot: {path}", file=sys.stderr)


def main():
    args = sys.argv[1:]
    everything = args[:1] == ["-a"]
    args = args[everything:]
    if len(args) != 2:
        sys.exit(__doc__)
    results = Results(args[0])
    experiments(results, everything)
    many(results)
    encoders(results)
    plot(results, args[1])


if __name__ == "__main__":
    main()
