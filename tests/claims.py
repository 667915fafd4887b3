#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the figures of README.md with the table 'Figures of the README' of doc/performance.md.

usage: claims.py README DOCUMENT

A figure is a number in a table of the README, apart from its first column, or a number in its text that has a unit or
two decimals. The table has each figure, and only those. Its columns: what, figures, where they were measured, at which
commit, and the section that has the measurement. That section has each figure too, or, for a rate, the time in us.
Prints what differs."""

import os
import re
import sys

NUMBER = r"(?<![\w.+-])\d[\d,]*(?:\.\d+)?(?![\w.]*\w)"
CLAIM = r"(?<![\w.+-])(?:\d[\d,]*\.\d\d+(?!\w)|\d[\d,]*(?:\.\d+)?(?= (?:dB|%|s|us|frames/s|fields/s|pairs/s)(?!\w)))"


def prose(text):
    """Return the text without code and links' addresses, a paragraph in a line."""
    text = re.sub(r"```.*?```", "", text, flags=re.S)
    text = re.sub(r"`[^`]*`", "", text)
    return re.sub(r"\]\([^)]*\)", "]", text)


def rows(text):
    """Return the cells of the tables' rows, without heads."""
    found = [[c.strip() for c in line.strip("|").split("|")] for line in text.split("\n") if line.startswith("|")]
    return [cells for i, cells in enumerate(found)
            if not re.fullmatch("[- :]*", "".join(cells)) and
            not (i + 1 < len(found) and re.fullmatch("[-: ]+", "".join(found[i + 1])))]


def section(path, anchor):
    """Return the text below a heading, up to the next one of its level; None if there is none."""
    with open(path, encoding="utf-8") as file:
        parts = re.split(r"^(#+) (.*)$", file.read(), flags=re.M)
    for i in range(1, len(parts), 3):
        if re.sub(r"[^\w -]", "", parts[i + 1]).lower().replace(" ", "-") == anchor:
            deeper = [len(parts[j]) <= len(parts[i]) for j in range(i + 3, len(parts), 3)] + [True]
            return "".join(parts[i + 2:i + 3 + 3 * deeper.index(True)])
    return None


def numbers(text, pattern=NUMBER):
    return {n.rstrip(",") for n in re.findall(pattern, text)}


def main(readme, document):
    with open(readme, encoding="utf-8") as file:
        text = prose(file.read())
    paragraphs = re.sub(r"\n(?!\n)", " ", "\n".join("" if line.startswith("|") else line for line in text.split("\n")))
    claims = numbers(paragraphs, CLAIM)
    claims |= {n for cells in rows(text) for cell in cells[1:] for n in numbers(cell)}
    listed = set()
    for what, figures, where, commit, link in rows(section(document, "figures-of-the-readme") or ""):
        if not where or not re.fullmatch("[0-9a-f]{7}", commit):
            print(f"{document}: '{what}' has no device or no commit")
        path, anchor = re.search(r"\(([^#)]*)#([^)]*)\)", link).groups()
        path = os.path.join(os.path.dirname(document), path) if path else document
        measured = numbers((section(path, anchor) or "").replace("-", " "))
        times = {f"{1e6 / float(n.replace(',', '')):,.0f}" for n in measured if float(n.replace(",", ""))}
        for figure in numbers(figures):
            listed.add(figure)
            if figure not in measured and figure not in times:
                print(f"{path}#{anchor} does not have {figure}, '{what}' of the README")
    for figure in sorted(claims - listed):
        print(f"{readme} has {figure}, which {document} does not list")
    for figure in sorted(listed - claims):
        print(f"{document} lists {figure}, which {readme} does not have")


main(*sys.argv[1:])
