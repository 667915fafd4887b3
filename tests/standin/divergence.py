#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prepares kernels for the map of divergence, and prints it: tests/standin/README.md.

usage: divergence.py instrument NAME IN.ll OUT.ll TABLE.cpp
       divergence.py table [-n LINES] [-k REGEX] [-p PERCENT] [-m] CSV...

instrument: IN.ll is a module that clang has instrumented with trace-pc-guard: a call at the
beginning of each basic block. OUT.ll is the same module, with calls that pass the number of the
block. TABLE.cpp tells the stand-in, for each block, the line of its branch, and where the lanes
of a warp meet again after that branch (the immediate post-dominator).

table: prints the lines with the most divergent visits, for each kernel. A branch is short if its two sides are so
short that the device's compiler may need no branch. -n: number of lines [10]; -k: only kernels that match;
-p: only lines with at least this percentage of their kernel's divergent visits [0]; -m: for Markdown.
"""

import collections
import csv
import re
import sys

# instructions that the device's compiler may predicate instead of using a branch
SHORT = 12
VISIT = "__sanitizer_cov_trace_pc_guard"
LABEL = re.compile(r"^([-a-zA-Z$._0-9]+|\"[^\"]*\"):")
TARGET = re.compile(r"label %([-a-zA-Z$._0-9]+|\"[^\"]*\")")


class Block:
    def __init__(self, function, label):
        self.function, self.label = function, label
        self.number = None
        self.entry = False
        self.instructions = 0
        self.calls = False
        self.terminator, self.targets, self.location = "", [], None
        self.successors, self.meet = [], None


class Locations:
    """The module's debug information: from the number of a location to file and line."""

    def __init__(self, lines):
        self.nodes = dict(m.groups() for m in map(re.compile(r"^!(\d+) = (.*)").match, lines) if m)

    def field(self, node, name):
        m = re.search(rf"\b{name}: (?:!(\d+)|\"((?:[^\"\\]|\\.)*)\"|(\d+))", self.nodes[node])
        return m and (m[1] or m[2] or m[3])

    def find(self, node):
        """Innermost place in the source. A function that stands for one instruction counts as part of its caller."""
        found = None
        while node:
            line = int(self.field(node, "line") or 0)
            name = self.field(self.field(self.field(node, "scope"), "file"), "filename")
            if line:
                found = re.sub(r".*libavfilter/gpume/|^\./", "", name), line
                if not name.endswith("/cuda_runtime.h"):
                    break
            node = self.field(node, "inlinedAt")
        return found


def parse(lines, locations):
    """Returns the blocks of each function. Numbers the calls in lines."""
    functions, block, more = [], None, False
    inside = False
    number = 0
    for i, line in enumerate(lines):
        if line.startswith("define "):
            inside = True
            block = Block(len(functions), None)
            block.entry = True
            functions.append([block])
        elif line.startswith("}"):
            inside = False
        elif inside and LABEL.match(line):
            block = Block(len(functions) - 1, LABEL.match(line)[1])
            functions[-1].append(block)
        elif inside and line.strip():
            text = line.strip()
            if VISIT + "(" in text:
                if block.number is not None:
                    raise ValueError(f"a block with two calls: {text}")
                block.number = number
                lines[i] = f"  call void @standin_visit_NAME(i32 {number})"
                debug = re.search(r"!dbg !\d+", line)
                if debug:
                    lines[i] += ", " + debug[0]
                number += 1
                continue
            if not more and "@llvm.dbg." not in text and not text.startswith("#dbg"):
                block.instructions += 1
                # calls that stand for a register do not count
                block.calls |= bool(re.search(r"\bcall\b(?!.*@(llvm\.|standin_(lane|thread_idx|block_idx)\b))", text))
            if not more and re.match(r"(br|switch|ret|unreachable|invoke|indirectbr|resume)\b", text):
                block.terminator = text.split()[0]
                more = text.endswith("[")
            elif more:
                more = not text.startswith("]")
            if block.terminator:
                block.targets += TARGET.findall(text)
            debug = re.search(r"!dbg !(\d+)", text)
            if debug:
                block.location = locations.find(debug[1]) or block.location
    return functions


def link(blocks):
    """Sets the successors of blocks. flow leaves out those that end in 'unreachable', unless all do."""
    labels = {b.label: b for b in blocks}
    for b in blocks:
        b.successors = list(dict.fromkeys(labels[t] for t in b.targets))
    for b in blocks:
        alive = [s for s in b.successors if s.terminator != "unreachable"]
        b.flow = alive or b.successors


def in_loop(block):
    seen, stack = set(), list(block.successors)
    while stack:
        b = stack.pop()
        if b is block:
            return True
        if b not in seen:
            seen.add(b)
            stack += b.successors
    return False


def ends(block):
    """Whether a block does nothing but return."""
    while block.terminator == "br" and block.instructions == 1 and len(block.successors) == 1:
        block = block.successors[0]
    return block.terminator == "ret" and block.instructions == 1


def branches(block):
    """Whether the device has a branch there. It needs none for threads that only return: their return is predicated."""
    return len(block.successors) > 1 and (in_loop(block) or not any(map(ends, block.successors)))


def is_short(block, predecessors):
    """Whether both ways from a block to where they meet are so short that they may need no branch."""
    for b in block.successors:
        count = 0
        while b is not block.meet:
            count += b.instructions - 1
            if len(b.successors) != 1 or len(predecessors[b]) != 1 or b.calls or count > SHORT:
                return False
            b = b.successors[0]
    return True


def meet(blocks):
    """Immediate post-dominators (Cooper, Harvey, Kennedy); None: the function's end."""
    end = object()
    predecessors = collections.defaultdict(list)
    for b in blocks:
        for s in b.flow or [end]:
            predecessors[s].append(b)
    order, seen, stack = [], {end}, [(end, iter(predecessors[end]))]
    while stack:
        node, rest = stack[-1]
        for p in rest:
            if p not in seen:
                seen.add(p)
                stack.append((p, iter(predecessors[p])))
                break
        else:
            order.append(node)
            stack.pop()
    rank = {b: i for i, b in enumerate(order)}
    after = {end: end}
    changed = True
    while changed:
        changed = False
        for b in reversed(order[:-1]):
            new = None
            for s in b.flow or [end]:
                if s not in after:
                    continue
                while new is not None and s is not new:
                    while rank[s] < rank[new]:
                        s = after[s]
                    while rank[new] < rank[s]:
                        new = after[new]
                new = s
            if after.get(b) is not new:
                after[b] = new
                changed = True
    for b in blocks:
        b.meet = None if after.get(b, end) is end else after[b]


def instrument(name, source, output, table):
    with open(source, encoding="utf-8") as f:
        lines = f.read().split("\n")
    functions = parse(lines, Locations(lines))
    rows = []
    for blocks in functions:
        link(blocks)
        meet(blocks)
        predecessors = collections.defaultdict(list)
        for b in blocks:
            for x in b.successors:
                predecessors[x].append(b)
        for b in blocks:
            if b.number is None:
                if b.terminator != "unreachable" and any(x.number is not None for x in blocks):
                    raise ValueError(f"{source}: block {b.label} has no call")
                continue
            # a block that cannot be reached and has no call cannot be a meeting point
            to = -1 if b.meet is None or b.meet.number is None else b.meet.number
            file, line = b.location or ("?", 0)
            rows.append((b.number, f'    {{ "{file}", {line}, {int(b.entry)}, {int(b.terminator == "ret")}, '
                         f"{int(branches(b))}, {int(branches(b) and is_short(b, predecessors))}, {b.instructions}, {to}, "
                         "0, 0, 0 },"))
    with open(output, "w", encoding="utf-8") as f:
        for line in lines:
            f.write(line.replace("@standin_visit_NAME", f"@standin_visit_{name}") + "\n")
        f.write(f"declare void @standin_visit_{name}(i32)\n")
    with open(table, "w", encoding="utf-8") as f:
        f.write('#include "tests/standin/divergence.h"\n'
                f"static standin::Block blocks[] = {{\n")
        f.write("\n".join(text for _, text in sorted(rows)))
        f.write("\n};\n"
                f'static standin::Blocks all = {{ "{name}", blocks, {len(rows)}, 0 }};\n'
                "__attribute__((constructor)) static void add(void) { standin::divergence_add(&all); }\n"
                f'extern "C" __attribute__((visibility("hidden"))) void standin_visit_{name}(unsigned n);\n'
                f'extern "C" void standin_visit_{name}(unsigned n) {{ standin::divergence_visit(&all, n); }}\n')


def share(row):
    return 100 * int(row["divergent"]) / max(1, int(row["visits"]))


def read_map(paths, kernels):
    """Returns, for each kernel, its sums and its lines with divergent visits, most divergent first."""
    found = collections.defaultdict(list)
    for path in paths:
        with open(path, newline="", encoding="utf-8") as f:
            for r in csv.DictReader(f):
                if re.search(kernels, r["kernel"]):
                    found[r["kernel"]].append(r)
    found = {k: ([r for r in rows if r["line"] == "0"][0],
                 sorted((r for r in rows if r["line"] != "0" and r["divergent"] != "0"),
                        key=lambda r: -int(r["divergent"]))) for k, rows in found.items()}
    return sorted(found.items(), key=lambda item: -int(item[1][0]["divergent"]))


def table(paths, kernels, lines, percent, markdown):
    if markdown:
        print("| kernel, line | visits | divergent | share | threads |\n| --- | --- | --- | --- | --- |")
    for kernel, (whole, mine) in read_map(paths, kernels):
        mine = [r for r in mine if 100 * int(r["divergent"]) >= percent * int(whole["divergent"])]
        if percent and not mine:
            continue
        if markdown:
            print(f"| **`{kernel}`** | {int(whole['visits']):,} | {int(whole['divergent']):,}, "
                  f"short {int(whole['short']):,} | {share(whole):.1f} % | "
                  f"{float(whole['lanes']):.1f} |")
        else:
            print(f"\n{kernel}: {int(whole['visits']):,} branches of warps, {int(whole['divergent']):,} divergent "
                  f"({share(whole):.1f} %), {int(whole['short']):,} of them short; "
                  f"{float(whole['lanes']):.1f} threads per instruction")
            print(f"  {'line':32} {'visits':>12} {'divergent':>12} {'share':>8} {'threads':>8}")
        for r in mine[:lines]:
            name = f"{r['file']}:{r['line']}"
            short = "" if r["short"] == "0" else " (short)" if r["short"] == r["divergent"] else " (some short)"
            cells = (f"`{name}`{short}" if markdown else name + short, f"{int(r['visits']):,}", f"{int(r['divergent']):,}",
                     f"{share(r):.1f} %", f"{float(r['lanes']):.1f}")
            form = "| {} | {} | {} | {} | {} |" if markdown else "  {:32} {:>12} {:>12} {:>8} {:>8}"
            print(form.format(*cells))


def main():
    args = sys.argv[1:]
    if len(args) == 5 and args[0] == "instrument":
        instrument(*args[1:])
        return
    if args[:1] != ["table"]:
        sys.exit(__doc__)
    args, lines, kernels, percent, markdown = args[1:], 10, "", 0, False
    while args and args[0].startswith("-"):
        if args[0] == "-m":
            markdown = True
        elif args[0] == "-n" and len(args) > 1:
            lines = int(args.pop(1))
        elif args[0] == "-k" and len(args) > 1:
            kernels = args.pop(1)
        elif args[0] == "-p" and len(args) > 1:
            percent = float(args.pop(1))
        else:
            sys.exit(__doc__)
        args.pop(0)
    table(args, kernels, lines, percent, markdown)


if __name__ == "__main__":
    main()
