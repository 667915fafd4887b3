#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Gives an installed PyAV the filters of gpume: replaces the libavfilter in its wheel by that of a tree.

usage: pyav_filters.py AV_LIBS TREE    AV_LIBS: the folder av.libs; TREE: a build as for the plugin, build/SERIES-plugin
Both have to be of one release of FFmpeg; if not, it says so and ends with status 2."""

import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

HIDDEN = 3


def show_api(path):
    """Make the functions of the API, which a plugin has to hide, visible in a 64-bit ELF object."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    sections_at, = struct.unpack_from("<Q", data, 40)
    size, nb = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, sections_at + i * size) for i in range(nb)]
    for _, kind, _, _, at, length, link, *_ in sections:
        if kind != 2:       # SHT_SYMTAB
            continue
        for symbol in range(at, at + length, 24):
            name = sections[link][4] + struct.unpack_from("<I", data, symbol)[0]
            is_defined = struct.unpack_from("<H", data, symbol + 6)[0]
            if is_defined and data[name:data.index(0, name)].startswith((b"av_", b"avfilter_")):
                data[symbol + 5] &= ~HIDDEN
    with open(path, "wb") as f:
        f.write(data)


def main(libs, tree):
    old, = glob.glob(os.path.join(libs, "libavfilter-*.so.*"))
    avutil, = glob.glob(os.path.join(libs, "libavutil-*.so.*"))
    with open(os.path.join(tree, "obj", "libavfilter", "libavfilter.version")) as f:
        ours = dict(re.findall(r"libavfilter_(\w+)=(\S+)", f.read()))
    if not old.endswith(".so." + ours["VERSION"]):
        print(f"PyAV has {os.path.basename(old)}, not {ours['VERSION']}")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        whole, versions = os.path.join(folder, "all.o"), os.path.join(folder, "versions")
        subprocess.run(["ld", "-r", "--whole-archive", os.path.join(tree, "obj", "libavfilter", "libavfilter.a"), "-o", whole],
                       check=True)
        show_api(whole)
        with open(versions, "w") as f:
            f.write("LIBAVFILTER_%s { global: avfilter_*; av_*; local: *; };\n" % ours["VERSION_MAJOR"])
        os.remove(old)
        subprocess.run(["gcc", "-shared", "-o", old, "-Wl,-soname," + os.path.basename(old), "-Wl,--version-script," + versions,
                        "-Wl,-Bsymbolic", "-Wl,-rpath,$ORIGIN", whole, avutil, "-lm", "-lpthread", "-ldl"], check=True)
    return 0


sys.exit(main(*sys.argv[1:]))
