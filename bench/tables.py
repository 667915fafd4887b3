#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the tables of kernels in doc/performance.md from the results of one run of 'make bench-gpu'.

usage: tables.py CSV [DOCUMENT]

Prints the tables, or writes them into the document between the lines BEGIN and END. Times are medians of the run at
1920x1080; a field is empty if the run has no figure for it.
"""

import csv
import sys
import textwrap

BEGIN = '<!-- from here on by bench/tables.py -->'
END = '<!-- to here -->'


class Results:
    """The rows of a run."""

    def __init__(self, path):
        self.medians = {}
        self.units = {}
        self.names = {}
        with open(path, newline='') as file:
            for row in csv.reader(file):
                if row[0] == 'machine':
                    self.names[row[1]] = row[2]
                # not the names of the columns, nor what a run that was ended left of a line
                elif len(row) == 15 and row[11] not in ('', 'median'):
                    self.medians[tuple(row[:10])] = float(row[11])
                    self.units[tuple(row[:10])] = row[10]

    # keys: part, what, content, width, height, block, range, depth, count, metric
    def get(self, part, what, metric, block='', reach='', depth=8, count='', content='clip'):
        key = (part, what, content, '1920', '1080', str(block), str(reach), str(depth), str(count), metric)
        return self.medians.get(key)

    def motion(self, name, metric, block, depth):
        """A figure of hme, whose range is the run's."""
        reach = max((k[6] for k in self.medians if k[:2] == ('motion', name) and k[5] == str(block)),
                    key=lambda text: int(text or 0), default='')
        return self.get('motion', name, metric, block, reach, depth)


def us(value):
    """A time in microseconds."""
    return '' if value is None else f'{value:,.0f}' if value >= 100 else f'{value:.1f}'


def rate(value):
    """The rate of something that takes this long."""
    return '' if value is None else f'{1e6 / value:,.0f}'


def table(columns, rows):
    """A table of Markdown; rows without any figure are left out."""
    rows = [row for row in rows if any(row[1:])]
    if not rows:
        return []
    return ['| ' + ' | '.join(cells) + ' |' for cells in [columns, ['---'] * len(columns)] + rows] + ['']


def paragraph(text):
    """Lines of prose."""
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False) + ['']


def limits(r):
    """The device's limits, and where and with what the run was made."""
    names = r.names
    figures = [f'{k[1]} {v:,.4g} {r.units[k]}' for k, v in r.medians.items()
               if k[0] == 'ceilings' and (k[9] == 'rate' or 'launch' in k[1])]
    return paragraph(f"One {names.get('name', 'GPU')}, driver {names.get('driver_version', 'unknown')}, commit "
                     f"{names.get('commit', 'unknown')}, clip `{names.get('clip', 'unknown')}` scaled to 1080p. "
                     "The limits of the device in the same run: " + '; '.join(figures) + '.')


def full_search(r):
    """Full search with the defaults; the share of the ceiling if every candidate is evaluated."""
    lines = paragraph('**Full search**, us per picture; in brackets the share of the ceiling with `exhaustive=1`:')
    rows = []
    for depth, block, content in ((8, 4, 'clip'), (8, 8, 'clip'), (8, 16, 'clip'), (8, 16, 'noise'), (10, 16, 'clip')):
        row = []
        for reach in (16, 32, 64):
            share = r.get('kernels', 'fs exhaustive', 'of the ceiling', block, reach, depth, content=content)
            time = us(r.get('kernels', 'fs', 'time', block, reach, depth, content=content))
            # two-byte samples have no ceiling
            row.append(time if share is None or content == 'noise' else f'{time} ({share:.0f} %)')
        rows.append([f'{block}x{block}, ' + ('noise' if content == 'noise' else f'{depth} bits')] + row)
    return lines + table(['', '+-16', '+-32', '+-64'], rows)


def searches(r):
    """All searches at range 16."""
    lines = paragraph('**All searches at range 16**, frames/s:')
    rows = []
    for name in ('fs', 'tss', 'tdls', 'ntss', 'fss', 'ds', 'hexbs', 'epzs', 'umh'):
        rows.append([f'`{name}`'] + [rate(r.get('searches', name, 'time', block, 16)) for block in (4, 8, 16)])
    return lines + table(['', '4x4', '8x8', '16x16'], rows)


def motion(r):
    """True motion."""
    lines = paragraph('**`hme`**, us per pair in both directions, with planes, the check and the results; in brackets '
                      'with eight pairs at once, as the filter runs them:')
    rows = []
    for name, options in (('hme', ''), ('hme sweeps=2', ':sweeps=2'), ('hme pel=1', ':pel=1')):
        row = []
        for block, depth in ((4, 8), (8, 8), (16, 8), (8, 10)):
            times = [us(r.motion(name, metric, block, depth))
                     for metric in ('time of a pair', 'time of a pair with eight at once')]
            row.append(f'{times[0]} ({times[1]})' if all(times) else times[0])
        rows.append([f'`hme{options}`'] + row)
    rows.append(['`hme:tree=1`'] + [us(r.motion('hme', 'time of a tree', block, depth))
                                    for block, depth in ((4, 8), (8, 8), (16, 8), (8, 10))])
    return lines + table(['', '4x4', '8x8', '16x16', '8x8, 10 bits'], rows)


def filters(r):
    """The filters."""
    lines = paragraph('**Filters**, on the device, frames that stay there; `mvdenoise` and `mvfps` without the search, '
                      '`mvdeint` and `mvstereo` with theirs:')
    rows = []

    def add(name, time, unit):
        rows.append([name, f'{rate(time)} {unit}' if time else ''])

    for mode in ('flow+arrows', 'blocks'):
        add(f'`mvview=mode={mode}`, vectors of 8x8', r.get('mvview', mode, 'time on the device', 8), 'frames/s')
    add('`mvfps`, an interpolated frame, vectors of 8x8', r.get('mvfps', 'mci', 'time on the device', 8), 'frames/s')
    for depth in (8, 10):
        add(f'`mvdenoise`, {depth} bits', r.get('mvdenoise', 'radius 2', 'time on the device', 8, depth=depth),
            'frames/s')
    for passes in (1, 2, 3):
        add(f'`mvdeint=passes={passes}`', r.get('mvdeint', 'passes', 'time of a field', 8, count=passes), 'fields/s')
    for name, label, reach in (('temporal=1', 'temporal=1', 128), ('defaults', 'temporal=0', 128),
                               ('defaults', 'temporal=0', 256), ('fast=1', 'fast=1:temporal=0', 128)):
        add(f'`mvstereo={label}`, {reach} disparities', r.get('mvstereo', name, 'time on the device', reach=reach),
            'pairs/s')
    return lines + table(['', 'rate'], rows)


def main():
    r = Results(sys.argv[1])
    text = '\n'.join(sum((part(r) for part in (limits, full_search, searches, motion, filters)), []))
    if len(sys.argv) < 3:
        print(text)
        return
    with open(sys.argv[2]) as file:
        before, rest = file.read().split(BEGIN + '\n')
    after = rest.split(END)[1]
    with open(sys.argv[2], 'w') as file:
        file.write(f'{before}{BEGIN}\n\n{text}\n{END}{after}')


if __name__ == '__main__':
    main()
