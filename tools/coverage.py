#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the lines and branches that the tests reached, by folder, from the counts of a build with COVERAGE=1.

    tools/coverage.py build/coverage [--missing] [--least 95 src/model src/view] [--least 90 src/cli]
"""
import argparse
import collections
import glob
import gzip
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def collect(build):
    """Returns {file: ({line: times}, [branches taken])}, summed over all programs."""
    lines = collections.defaultdict(lambda: collections.defaultdict(int))
    branches = collections.defaultdict(lambda: collections.defaultdict(int))
    data = sorted(glob.glob(os.path.join(ROOT, build, 'obj', 'src', '**', '*.gcda'), recursive=True))
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(['gcov', '--json-format', '--branch-probabilities', '--preserve-paths'] + data, cwd=folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for path in glob.glob(os.path.join(folder, '*.json.gz')):
            with gzip.open(path) as f:
                for x in json.load(f)['files']:
                    name = x['file'].lstrip('/')
                    if not name.startswith('src/'):
                        continue
                    for line in x['lines']:
                        lines[name][line['line_number']] += line['count']
                        for i, b in enumerate(line['branches']):
                            branches[name][line['line_number'], i] += b['count']
    return {n: (lines[n], list(branches[n].values())) for n in lines}


def share(found, there):
    return 100.0 * found / there if there else 100.0


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--missing', action='store_true', help='the lines that were not reached')
    p.add_argument('--least', nargs='+', action='append', default=[], help='percent of lines, then folders that must have them')
    p.add_argument('build')
    a = p.parse_args()
    folders = collections.defaultdict(lambda: [0, 0, 0, 0])
    for name, (lines, branches) in sorted(collect(a.build).items()):
        counts = (sum(v > 0 for v in lines.values()), len(lines), sum(v > 0 for v in branches), len(branches))
        for key in ('/'.join(name.split('/')[:2]), 'all'):
            folders[key] = [x + y for x, y in zip(folders[key], counts)]
        if a.missing and counts[0] < counts[1]:
            print('%-28s %s' % (name, ' '.join(str(n) for n in sorted(lines) if not lines[n])))
    low = []
    for key, (hit, of, taken, ways) in folders.items():
        print('%-12s lines %6.2f%% of %5d   branches %6.2f%% of %5d' % (key, share(hit, of), of, share(taken, ways), ways))
        if any(key in names and share(hit, of) < float(percent) for percent, *names in a.least):
            low.append(key)
    print('%d passed, %d failed, 0 skipped' % (len(folders) - len(low), len(low)))
    return 1 if low or not folders else 0


if __name__ == '__main__':
    sys.exit(main())
