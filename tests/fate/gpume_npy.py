#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""gpume_npy.py FILE.npy FILE.csv FILE.npys: all hold the same vectors, and numpy reads
the first as it is and mapped into memory, the last record by record, also from a pipe."""

import subprocess
import sys
import types

try:
    import numpy
except ImportError:
    print("numpy: skipped, this python3 has none")
    sys.exit()


def check(condition, message):
    if not condition:
        sys.exit("numpy: %s: %s" % (sys.argv[1], message))


def records(name):
    """Checks that a pipe gives what the file has."""
    found = []
    with open(name, "rb") as f, subprocess.Popen(["cat", name], stdout=subprocess.PIPE) as cat:
        # numpy.load() needs to seek
        pipe = types.SimpleNamespace(read=cat.stdout.read)
        while f.peek(1):
            found.append(numpy.load(f))
            piped = numpy.lib.format.read_array(pipe)
            check(piped.dtype == found[-1].dtype and piped.tobytes() == found[-1].tobytes(), "a pipe has others")
        check(not cat.stdout.read(), "a pipe has more")
    return found


def main(npy, csv, npys):
    mapped = numpy.load(npy, mmap_mode="r")
    loaded = numpy.load(npy)
    check(isinstance(mapped, numpy.memmap), "it is not mapped")
    check(loaded.dtype == numpy.dtype("<i4"), "its type is %s" % loaded.dtype)
    check(loaded.flags["C_CONTIGUOUS"], "it is not in C order")
    check(loaded.ndim == 5 and loaded.shape[-1] == 3, "its shape is %s" % (loaded.shape,))
    check(numpy.array_equal(mapped, loaded), "mapped it is another one")

    with open(csv) as f:
        names = f.readline().strip().split(",")
        lines = [line.split(",") for line in f]
    check(names[-1] == "pts_time", "the last column of the .csv is %s" % names[-1])
    rows = [dict(zip(names, (int(v, 0) for v in line[:-1])), pts_time=float(line[-1])) for line in lines]
    check(rows, "there is nothing to compare with")
    # frames of the clip come ten a second
    check(all(abs(10 * row["pts_time"] - row["framenum"] + 1) < 1e-6 for row in rows), "its times are wrong")

    # what the .csv has, put where it belongs
    frames, directions, bh, bw, _ = loaded.shape
    wanted = numpy.zeros_like(loaded)
    wanted[..., 2] = -1
    block = max(row["blockw"] for row in rows)
    for row in rows:
        x = (row["dstx"] - row["blockw"] // 2) // block
        y = (row["dsty"] - row["blockh"] // 2) // block
        direction = 0 if row["source"] < 0 else 1
        wanted[row["framenum"] - 1, direction, y, x] = (
            row["motion_x"], row["motion_y"], row["cost"])
    check(numpy.array_equal(wanted, loaded), "it has other vectors than the .csv")
    check(len(rows) == (frames * directions - 2) * bh * bw,
          "%d vectors in %s" % (len(rows), loaded.shape))
    found = records(npys)
    check([(r["number"], r["distance"]) for r in found] ==
          [(n + 1, d) for n in range(frames) for d in (-1, 1) if 0 <= n + d < frames], "other records")
    for r in found:
        same = loaded[r["number"] - 1, int(r["distance"] > 0)]
        check(numpy.array_equal(r["mv"] * r["pel"], same[..., :2]) and numpy.array_equal(r["cost"], same[..., 2]),
              "the records have other vectors")
        check(r["consistent"].all() and r["block"] == block and r["pts_time"] == (r["number"] - 1) / 10 and
              r["pts"] == r["number"] - 1, "the records have other figures")
    print("numpy %s: %s, %d vectors as in the .csv" % (numpy.__version__,
                                                       loaded.shape, len(rows)))


main(*sys.argv[1:])
