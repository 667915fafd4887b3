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
PATTERNS = ['tss', 'tdls', 'ntss', 'fss', 'ds', 'hexbs']


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
    def get(self, part, what, metric, block='', reach='', depth=8, count='', content='clip', size=(1920, 1080)):
        key = (part, what, content, *map(str, size), str(block), str(reach), str(depth), str(count), metric)
        return self.medians.get(key)

    def kernels(self, part, block='', reach='', depth=8, count=''):
        """The kernels of a case with their times, the longest first."""
        end = ('1920', '1080', str(block), str(reach), str(depth), str(count), 'time of a kernel')
        found = [(v, k[1]) for k, v in self.medians.items() if k[0] == part and k[3:] == end]
        return sorted(found, reverse=True)


def us(value):
    """A time in microseconds."""
    return '' if value is None else f'{value:,.0f}' if value >= 100 else f'{value:.1f}'


def rate(value):
    """The rate of something that takes this long."""
    return '' if value is None else f'{1e6 / value:,.0f}'


def percent(value):
    return '' if value is None else f'{value:+.1f} %'


def table(columns, rows):
    """A table of Markdown; rows without any figure are left out."""
    rows = [row for row in rows if any(row[1:])]
    if not rows:
        return []
    lines = [columns, ['---'] * len(columns)] + rows
    return ['| ' + ' | '.join(cells) + ' |' for cells in lines] + ['']


def paragraph(text):
    """Lines of prose."""
    return textwrap.wrap(text, 100, break_long_words=False, break_on_hyphens=False) + ['']


def full_search(r):
    """Full search: every candidate, and only those that can win."""
    lines = paragraph('**Full search**, us per picture: every candidate (`exhaustive=1`), with its share of the '
                      'ceiling; the default, which skips candidates that cannot win, on the clip and on noise, '
                      'where it can skip none.')
    for depth in (8, 10):
        rows = []
        for block in (4, 8, 16):
            for reach in (8, 16, 32, 64):
                share = r.get('kernels', 'fs exhaustive', 'of the ceiling', block, reach, depth)
                row = [us(r.get('kernels', 'fs exhaustive', 'time', block, reach, depth)),
                       '' if share is None else f'{share:.0f} %']
                row += [us(r.get('kernels', 'fs', metric, block, reach, depth, content=content))
                        for metric, content in (('time', 'clip'), ('time with two at once', 'clip'), ('time', 'noise'))]
                rows.append([f'{depth} bits, {block}x{block}, +-{reach}'] + row)
        columns = ['', 'every candidate', 'of the ceiling', 'default', 'two at once', 'noise']
        # two-byte samples have no ceiling
        if depth > 8:
            columns, rows = columns[:2] + columns[3:], [row[:2] + row[3:] for row in rows]
        lines += table(columns, rows)
    return lines


def searches(r):
    """All searches at range 16."""
    lines = paragraph('**All searches at range 16**, frames/s; the cost is the total over all vectors, relative to '
                      'full search on the same pictures:')
    rows = []
    for name in ['fs'] + PATTERNS + ['epzs', 'umh']:
        part = 'searches' if r.get('searches', name, 'time', 16, 16) else 'kernels'
        two = [rate(r.get('searches', name, 'time with two at once', block, 16)) for block in (4, 8, 16)]
        rows.append([f'`{name}`'] + [rate(r.get(part, name, 'time', block, 16)) for block in (4, 8, 16)] +
                    [rate(r.get(part, name, 'time', 16, 16, depth)) for depth in (10, 16)] +
                    ['; '.join(filter(None, two))] +
                    [percent(r.get('searches', name, 'cost more than full search', block, 16)) for block in (4, 16)])
    return lines + table(['', '4x4', '8x8', '16x16', '16x16, 10 bits', '16 bits',
                          'two at once, 8 bits: 4x4; 8x8; 16x16', 'cost, 4x4', '16x16'], rows)


def diamond(r):
    """Diamond search in larger ranges."""
    lines = paragraph('**Diamond search**, frames/s; in brackets with two at once:')
    rows = []
    for block in (4, 8, 16):
        row = []
        for reach in (8, 32, 64, 128):
            times = [rate(r.get('kernels', 'ds', metric, block, reach)) for metric in ('time', 'time with two at once')]
            row.append(f'{times[0]} ({times[1]})' if times[1] else times[0])
        rows.append([f'{block}x{block}'] + row)
    return lines + table(['', 'range 8', '32', '64', '128'], rows)


def motion(r):
    """True motion."""
    lines = paragraph('**`hme`**, us per pair in both directions, with planes, the check and the results; in brackets '
                      'with four pairs at once, as the filter runs them:')
    rows = []
    for name, options in (('hme', ''), ('hme sweeps=2', ':sweeps=2'), ('hme pel=1', ':pel=1'),
                          ('hme pel=1 sweeps=2', ':pel=1:sweeps=2')):
        row = []
        for depth in (8, 10):
            for block in (4, 8, 16):
                reach = next((k[6] for k in r.medians if k[:2] == ('motion', name) and k[5] == str(block)), '')
                times = [us(r.get('motion', name, metric, block, reach, depth))
                         for metric in ('time of a pair', 'time of a pair with four at once')]
                row.append(f'{times[0]} ({times[1]})' if times[0] and times[1] else times[0])
        rows.append([f'`hme{options}`'] + row)
    return lines + table(['', '4x4', '8x8', '16x16', '10 bits, 4x4', '8x8', '16x16'], rows)


def trees(r):
    """Blocks of several sizes."""
    lines = paragraph('**`tree=1`**, us, and relative to a search of its smallest blocks alone:')
    rows = []
    for name in ('fs', 'ds', 'hme'):
        for block in (4, 8):
            for reach in (16, 32, 256):
                row = []
                for depth in (8, 10):
                    whole = r.get('motion', name, 'time of a tree', block, reach, depth)
                    alone = r.get('motion', name, 'time beside a tree', block, reach, depth)
                    row += [us(whole), f'{whole / alone:.2f}' if whole and alone else '']
                rows.append([f'`{name}`, {block}x{block}' + (f', +-{reach}' if reach < 256 else '')] + row)
    return lines + table(['', '8 bits', 'ratio', '10 bits', 'ratio'], rows)


def longest(found):
    """Says which kernels take most of the time."""
    names = [f'`{name.removeprefix("gpume_")}` {us(time)}' for time, name in found if time >= 5]
    return ', '.join(names[:7])


def filters(r):
    """The filters."""
    lines = paragraph('**Filters**, us on the device, frames that stay there. Kernels have the sum of their launches, '
                      'the longest first:')
    rows = []

    def add(name, time, unit, found):
        rows.append([name, us(time), f'{rate(time)} {unit}' if time else '', longest(found)])

    for passes in (1, 2, 3):
        add(f'`mvdeint=passes={passes}`, a field with its search',
            r.get('mvdeint', 'passes', 'time of a field', 8, count=passes), 'fields/s',
            r.kernels('mvdeint', 8, count=passes))
    for depth in (8, 10):
        add(f'`mvdenoise`, radius 2, luma and chroma, {depth} bits, without the search',
            r.get('mvdenoise', 'radius 2', 'time on the device', 8, depth=depth), 'frames/s',
            r.kernels('mvdenoise', 8, depth=depth))
    for block in (16, 8):
        add(f'`mvfps`, an interpolated frame, vectors of {block}x{block}',
            r.get('mvfps', 'mci', 'time on the device', block), 'frames/s', r.kernels('mvfps', block))
    for name, label, reach in (('defaults', 'temporal=0', 64), ('defaults', 'temporal=0', 128),
                               ('defaults', 'temporal=0', 256), ('temporal=1', 'temporal=1', 128),
                               ('fast=1', 'fast=1:temporal=0', 128), ('rows=1', 'rows=1:temporal=0', 128)):
        add(f'`mvstereo={label}`, {reach} disparities',
            r.get('mvstereo', name, 'time on the device', reach=reach), 'pairs/s',
            r.kernels('mvstereo', reach=reach) if reach != 128 else [])
    for mode in ('flow', 'arrows', 'flow+arrows', 'blocks'):
        add(f'`mvview=mode={mode}`, vectors of 8x8', r.get('mvview', mode, 'time on the device', 8, content=''),
            'frames/s', [])
    return lines + table(['', 'us', 'rate', 'kernels, us'], rows)


def limits(r):
    """The device's limits, and where and with what the run was made."""
    names = r.names
    lines = paragraph(f"One {names.get('name', 'GPU')}, driver {names.get('driver_version', 'unknown')}, commit "
                      f"{names.get('commit', 'unknown')}, clip `{names.get('clip', 'unknown')}` scaled to 1080p. "
                      "The limits of the device in the same run:")
    rows = [[k[1], f'{v:,.4g} {r.units[k]}'] for k, v in r.medians.items()
            if k[0] == 'ceilings' and (k[9] == 'rate' or 'launch' in k[1])]
    return lines + table(['limit', 'value'], rows)


def main():
    r = Results(sys.argv[1])
    text = '\n'.join(sum((part(r) for part in (limits, full_search, searches, diamond, motion, trees, filters)), []))
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
