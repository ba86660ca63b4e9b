#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints figures on the structure of the code, for a reader to judge. They have no targets: a target for the number of lines or
headers was met by splitting and merging files.

    tools/measure.py [--objects build/check/obj] [ROOT]
"""
import argparse
import collections
import os
import re
import subprocess
import sys

ARGS = argparse.ArgumentParser()
ARGS.add_argument('--objects', default='build/check/obj')
ARGS.add_argument('root', nargs='?', default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ARGS = ARGS.parse_args()
RUN = 6  # lines of a duplicated run


def sources():
    """Yields (path below src, text)."""
    top = os.path.join(ARGS.root, 'src')
    for at, _, names in sorted(os.walk(top)):
        for name in sorted(names):
            if name.endswith(('.c', '.h', '.def')):
                path = os.path.join(at, name)
                with open(path, encoding='utf-8') as f:
                    yield os.path.relpath(path, top), f.read()


def bare(text):
    """Returns the lines of code without comments and blank lines."""
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', lambda m: m.group() if m.group()[0] == '"' else '', text, flags=re.S)
    return [' '.join(line.split()) for line in code.splitlines() if line.strip()]


def lines_by_floor(files):
    rows = collections.defaultdict(lambda: [0, 0, 0])
    for name, text in files.items():
        row = rows[name.split('/')[0]]
        row[0] += 1
        row[1] += text.count('\n')
        row[2] += len(bare(text))
    print('%-12s %6s %8s %8s' % ('folder', 'files', 'lines', 'code'))
    for floor, row in sorted(rows.items()):
        print('%-12s %6d %8d %8d' % (floor, *row))
    print('%-12s %6d %8d %8d' % ('all', *(sum(r[i] for r in rows.values()) for i in range(3))))


def duplicated(files):
    """Counts lines that are in runs of at least RUN equal lines of code in two places."""
    at = collections.defaultdict(list)
    code = {n: bare(t) for n, t in files.items() if n.endswith('.c')}
    for name, lines in code.items():
        for i in range(len(lines) - RUN + 1):
            at[tuple(lines[i:i + RUN])].append((name, i))
    places = {(name, i + k) for where in at.values() if len(where) > 1 for name, i in where for k in range(RUN)}
    return len(places)


def longest_include(files):
    """Returns the longest chain of includes between our files."""
    edges = {n: [m for m in re.findall(r'^\s*#\s*include "([^"]+)"', t, re.M) if m in files] for n, t in files.items()}
    best = {}

    def chain(name):
        if name not in best:
            best[name] = [name]  # a circle ends here
            best[name] = [name] + max((chain(m) for m in edges[name] if m != name), key=len, default=[])
        return best[name]

    return max((chain(n) for n in edges), key=len)


def with_one_client():
    """Returns (functions that are used outside of their file, those that just one other file uses), by symbol tables."""
    home, users = {}, collections.defaultdict(set)
    for at, _, names in os.walk(os.path.join(ARGS.objects, 'src')):
        for name in (n for n in names if n.endswith('.o')):
            path = os.path.join(at, name)
            if not os.path.exists(os.path.join(ARGS.root, os.path.relpath(path, ARGS.objects)[:-2] + '.c')):
                continue  # the file was deleted or moved after the build
            listing = subprocess.run(['nm', '-P', path], capture_output=True, text=True, check=True).stdout
            for symbol, kind in (line.split()[:2] for line in listing.splitlines()):
                if kind == 'T':
                    home[symbol] = path
                elif kind == 'U':
                    users[symbol].add(path)
    used = [len(users[s]) for s in home if users[s]]
    return len(used), sum(1 for n in used if n == 1)


def main():
    files = dict(sources())
    lines_by_floor(files)
    chain = longest_include(files)
    print('\nlongest chain of includes: %d (%s)' % (len(chain), ' > '.join(chain)))
    print('lines in runs of %d or more that stand in two places: %d' % (RUN, duplicated(files)))
    if os.path.isdir(os.path.join(ARGS.objects, 'src')):
        print('functions used outside of their file: %d, by one other file only: %d' % with_one_client())
    else:
        print('functions used by one file only: not counted, nothing is built in %s' % ARGS.objects)
    print('files that an addition touches (docs/HACKING.md; tests/additions builds them):', flush=True)
    subprocess.run([sys.executable, os.path.join(ARGS.root, 'tests/additions/run.py'), '--count'], check=True)


if __name__ == '__main__':
    main()
