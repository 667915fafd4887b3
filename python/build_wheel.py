#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Packs a folder as a wheel, with nothing but Python. The same files and times make the same bytes.

usage: build_wheel.py OUT_DIR TREE METADATA README LICENSES TAG EPOCH
TREE: what is installed; METADATA: without the lines of the version, of licences and of addresses, which VERSION and
HOMEPAGE in the environment are; entry_points.txt may be beside it; LICENSES: a folder of them; EPOCH: the time of all
files. Prints the wheel's path."""

import base64
import hashlib
import os
import sys
import time
import zipfile


def files_of(folder):
    """Return the names of files below a folder, sorted."""
    found = []
    for parent, _, names in os.walk(folder):
        found += [os.path.relpath(os.path.join(parent, name), folder).replace(os.sep, "/") for name in names]
    return sorted(found)


def metadata(path, readme, version, licenses):
    with open(path, encoding="utf-8") as f:
        lines = f.read().rstrip("\n").split("\n")
    lines.insert(2, "Version: " + version)
    lines += ["License-File: " + name for name in licenses]
    home = os.environ["HOMEPAGE"]
    lines += [f"Project-URL: {name}, {home}" for name in ("Homepage", "Source")]
    with open(readme, encoding="utf-8") as f:
        return "\n".join(lines) + "\nDescription-Content-Type: text/markdown\n\n" + f.read()


def main(out, tree, path, readme, licenses, tag, epoch):
    version = os.environ["VERSION"]
    texts = files_of(licenses)
    text = metadata(path, readme, version, texts)
    name = text.split("Name: ", 1)[1].split("\n", 1)[0].replace("-", "_")
    info = f"{name}-{version}.dist-info/"
    contents = {}
    for file in files_of(tree):
        with open(os.path.join(tree, file), "rb") as f:
            contents[file] = f.read()
    for file in texts:
        with open(os.path.join(licenses, file), "rb") as f:
            contents[info + "licenses/" + file] = f.read()
    contents[info + "METADATA"] = text.encode()
    entries = os.path.join(os.path.dirname(path), "entry_points.txt")
    if os.path.exists(entries):
        with open(entries, "rb") as f:
            contents[info + "entry_points.txt"] = f.read()
    contents[info + "WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: gpume\nRoot-Is-Purelib: false\n"
                                f"Tag: py3-none-{tag}\n").encode()
    record = "".join(
        "%s,sha256=%s,%d\n" % (file, base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("="),
                               len(data)) for file, data in contents.items())
    contents[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    wheel = os.path.join(out, f"{name}-{version}-py3-none-{tag}.whl")
    with zipfile.ZipFile(wheel + ".new", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file, data in contents.items():
            entry = zipfile.ZipInfo(file, time.gmtime(int(epoch))[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            runs = "/bin/" in file or file.endswith((".so", ".dll"))
            entry.external_attr = (0o100755 if runs else 0o100644) << 16
            archive.writestr(entry, data)
    os.replace(wheel + ".new", wheel)
    print(wheel)


main(*sys.argv[1:])
