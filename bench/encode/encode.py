#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures what encoders make of vectors and hints: bytes, PSNR and time, with and without.

Bit rates at equal quality are compared by the method of Bjontegaard (VCEG-M33) with Akima's
interpolation, as the package bjontegaard does it: luma PSNR over bytes at the quantizers
QSCALES. Times are the process's user time less that of the same process without an encoder;
what is compared runs in turn, and the median counts.
"""

import argparse
import re
import statistics
import sys

import bjontegaard
import numpy as np

sys.path.insert(1, f"{sys.path[0]}/../lib")
import bench  # noqa: E402

QSCALES = (2, 4, 8, 16)

# Key frames only where they are asked for: where scene cuts are found would change with vectors
COMMON = "-g 250 -sc_threshold 1000000000"
RD = "-cmp satd -subcmp satd -mbcmp satd -mbd rd -trellis 1"
ENCODERS = {
    "mpeg4": "-c:v mpeg4",
    "mpeg4 B": "-c:v mpeg4 -bf 2",
    "mpeg4 rd": f"-c:v mpeg4 {RD}",
    "mpeg2": "-c:v mpeg2video",
    "mpeg2 B": "-c:v mpeg2video -bf 2",
    "mpeg2 rd": f"-c:v mpeg2video {RD}",
}
UMH = "-dia_size 784"
# Encoders behind one search where times are taken, so that they are not lost in the search's
COPIES = 8

X264 = "-c:v libx264 -tune zerolatency -weightp 0"
CRFS = (19, 23, 27, 31)
CRF = 23    # times are those of this one


class Bench(bench.Results):
    """Runs ffmpeg and keeps rows of results."""

    def __init__(self, args):
        super().__init__("part", "clip", "encoder", "variant", "metric")
        self.args = args

    def run(self, clip, filters, *outputs, program=None, probe="error"):
        """Encodes a clip, which filters see once, to each of the outputs; user time, messages."""
        program = program or self.args.ffmpeg
        names = [f"[o{i}]" for i in range(len(outputs))]
        graph = f"[0:v]{filters or 'null'},split={len(outputs)}{''.join(names)}"
        command = [program, "-hide_banner", "-nostdin", "-loglevel", probe, "-nostats", "-benchmark",
                   "-y", "-i", clip, "-filter_complex", graph]
        for name, output in zip(names, outputs):
            command += ["-map", name, "-fps_mode", "passthrough", *output.split()]
        return bench.run(*command)[1]

    def user_time(self, clip, filters, output, program=None, copies=1):
        return bench.bench_times(self.run(clip, filters, *[output] * copies, program=program, probe="info"))[0]

    def times(self, *runs):
        """Median user times of runs that take turns: arguments of user_time()."""
        seconds = [[self.user_time(*run) for run in runs] for _ in range(self.args.runs)]
        return [statistics.median(column) for column in zip(*seconds)]

    def size_and_psnr(self, coded, clip, base, program=None):
        """Bytes of all packets, and the luma PSNR of the whole clip."""
        program = program or self.args.ffmpeg
        graph = (f"[1:v]{base or 'null'},settb=1/25,setpts=N[b];[0:v]settb=1/25,setpts=N[a];"
                 "[a][b]psnr")
        log = bench.run(program, "-hide_banner", "-nostdin", "-i", coded, "-i", clip, "-lavfi", graph, "-f", "null", "-")[1]
        return bench.packets_size(program, coded), float(re.search(r"PSNR y:([\d.]+|inf)", log).group(1))

    def curves(self, clip, base, filters, encoders, more):
        """(bytes, PSNR) at each quantizer, for each of the encoders."""
        coded = {(e, q): f"{self.args.out}/{i}-{q}.nut" for i, e in enumerate(encoders) for q in QSCALES}
        outputs = [f"{ENCODERS[e]} {COMMON} {more} -threads 1 -q:v {q} -f nut {path}"
                   for (e, q), path in coded.items()]
        self.run(clip, ",".join(f for f in (base, filters) if f), *outputs)
        return {e: [self.size_and_psnr(coded[e, q], clip, base) for q in QSCALES] for e in encoders}

    def vectors(self, name, clip, base, fields):
        """BD-rate of UMH and of each kind of fields against the encoder alone."""
        encoders = self.args.encoders
        alone = self.curves(clip, base, "", encoders, "")
        variants = {"UMH (-dia_size 784)": ("", UMH)}
        variants |= {field: (f"gpume={field}:dir=both:backend=cpu", "-me_hint 1") for field in fields}
        for variant, (filters, more) in variants.items():
            curves = self.curves(clip, base, filters, encoders, more)
            for encoder in encoders:
                value = bd_rate(alone[encoder], curves[encoder])
                self.add("vectors", name, encoder, variant, "bd-rate, %", value)
                print(f"{name:14s} {encoder:10s} {variant:36s} {value:+6.2f} %", flush=True)

    def vector_times(self, name, clip, field):
        """The encoder's time with the vectors and with UMH, relative to the encoder alone."""
        gpume = f"gpume={field}:dir=both:backend=cpu"
        for encoder in self.args.encoders:
            output = f"{ENCODERS[encoder]} {COMMON} -threads 1 -q:v 4 -f null -"
            hinted = output.replace(" -f ", " -me_hint 1 -f ")
            umh = output.replace(" -f ", f" {UMH} -f ")
            idle, search, alone, with_umh, ignored, used = self.times(*(
                (clip, filters, output, None, COPIES) for filters, output in (
                    ("", "-f null -"), (gpume, "-f null -"), ("", output), ("", umh),
                    (gpume, output), (gpume, hinted))))
            alone_time = (alone - idle) / COPIES
            for variant, value in (
                    (field, (used - ignored) / COPIES / alone_time + 1),
                    ("UMH (-dia_size 784)", (with_umh - idle) / COPIES / alone_time)):
                self.add("times", name, encoder, variant, "encoder's time, relative", value)
                print(f"{name:14s} {encoder:10s} {variant:36s} {value:5.2f} times", flush=True)
            self.add("times", name, encoder, field, "search, s", search - idle)
            self.add("times", name, encoder, "alone", "encoder, s", alone_time)

    def constant(self, name, clip, preset):
        """libx264 with hint=constant against the same frames without."""
        program = self.args.gpl
        gpume = "gpume=algo=ds:range=8:block=16:backend=cpu:hint=constant"
        coded = {crf: f"{self.args.out}/x264-{crf}.nut" for crf in CRFS}
        output = f"{X264} -preset {preset} -threads 1"
        curves = []
        for mb_info in (0, 1):
            self.run(clip, gpume, *(f"{output} -crf {crf} -mb_info {mb_info} -f nut {path}"
                                    for crf, path in coded.items()), program=program)
            curves.append([self.size_and_psnr(path, clip, "", program) for path in coded.values()])
        output += f" -crf {CRF}"
        search, idle, plain, hinted = self.times(
            (clip, gpume, "-f null -", program), (clip, "", "-f null -", program),
            (clip, gpume, f"{output} -mb_info 0 -f null -", program),
            (clip, gpume, f"{output} -mb_info 1 -f null -", program))
        values = {
            "bd-rate, %": bd_rate(*curves),
            "encoder's time, %": 100 * (hinted - plain) / (plain - search),
            "search's share of the encoder's time, %": 100 * (search - idle) / (plain - search),
        }
        for metric, value in values.items():
            self.add("constant", name, f"libx264 {preset}", "hint=constant", metric, value)
        print(f"{name:14s} {preset:10s} " +
              "   ".join(f"{m} {v:+.2f}" for m, v in values.items()), flush=True)


def bd_rate(a, b):
    a, b = np.array(a), np.array(b)
    return bjontegaard.bd_rate(a[:, 0], a[:, 1], b[:, 0], b[:, 1], method="akima")


def print_means(results):
    """The vectors' BD-rates: variants down, encoders across, means over the clips."""
    encoders, variants = (list(dict.fromkeys(r[i] for r in results.rows if r[0] == "vectors")) for i in (2, 3))
    if encoders:
        print("\nBD-rate against the encoder alone, mean of the clips, %\n")
        bench.print_table(["vectors", *encoders], [[v, *(bench.cell(results.mean(part="vectors", encoder=e, variant=v), "+.2f")
                                                         for e in encoders)] for v in variants])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ffmpeg", required=True)
    parser.add_argument("--gpl", help="ffmpeg with libx264")
    parser.add_argument("--out", required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--encoders", type=lambda s: s.split(","), default=list(ENCODERS))
    parser.add_argument("--fields", type=str.split, default=[])
    parser.add_argument("--presets", type=str.split, default=[])
    parser.add_argument("--clip", action="append", default=[], help="NAME=FILE, seen by everything; times are those of the first")
    parser.add_argument("--screen", action="append", default=[], help="NAME=FILE, for hint=constant")
    args = parser.parse_args()
    results = Bench(args)
    clips = [c.split("=", 1) for c in args.clip]
    for name, clip in clips if args.fields else ():
        results.vectors(name, clip, "", args.fields)
        results.vectors(f"{name} /4", clip, "select=not(mod(n\\,4))", args.fields)
    for name, clip in clips[:1] if args.fields else ():
        results.vector_times(name, clip, args.fields[0])
    for name, clip in [c.split("=", 1) for c in args.screen] + clips:
        for preset in args.presets if args.gpl else ():
            results.constant(name, clip, preset)
    results.write(f"{args.out}/encode.csv", 4)
    print_means(results)


if __name__ == "__main__":
    main()
