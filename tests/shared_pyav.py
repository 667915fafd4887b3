# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a filter graph in PyAV and prints what comes out of it, for tests/shared.sh.

usage: shared_pyav.py vectors|frames CLIP FILTER [OPTIONS] FILTER ...

vectors: a line for each motion vector, with the columns of gpume's CSV. frames: an MD5 of each frame.
"""

import hashlib
import sys

import av


def filtered(clip, filters):
    """Yields the frames of a clip behind filters, which are (name, options)."""
    with av.open(clip) as container:
        graph = av.filter.Graph()
        chain = [graph.add_buffer(template=container.streams.video[0])]
        chain += [graph.add(name, options) for name, options in filters]
        chain.append(graph.add("buffersink"))
        for before, after in zip(chain, chain[1:]):
            before.link_to(after)
        graph.configure()
        inputs = list(container.decode(video=0)) + [None]
        for frame in inputs:
            chain[0].push(frame)
            while True:
                try:
                    yield chain[-1].pull()
                except (av.error.BlockingIOError, av.error.EOFError):
                    break


def main():
    what, clip, *words = sys.argv[1:]
    filters = []
    for word in words:
        if "=" in word:
            filters[-1] = (filters[-1][0], word)
        else:
            filters.append((word, ""))
    for frame in filtered(clip, filters):
        if what == "frames":
            print(hashlib.md5(frame.to_ndarray().tobytes()).hexdigest())
            continue
        vectors = frame.side_data.get("MOTION_VECTORS")
        if vectors is None:
            continue
        for v in vectors.to_ndarray():
            print(",".join(hex(v[n]) if n == "flags" else str(v[n]) for n in v.dtype.names))


main()
