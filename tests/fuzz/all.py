#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every fuzz target in turn, merges and minimises the new inputs, and adds the executions to docs/SECURITY.md.

    tests/fuzz/all.py --bin build/san-address-undefined-fuzzer-no-link/fuzz --minutes 10 [--add] [T...]

build/fuzz/T/found keeps the inputs that reach code which testdata/fuzz/T does not; --add moves them to
testdata/fuzz/T. An input that fails is build/fuzz/T/crash-*, and the status is 1.
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGE = 'docs/SECURITY.md'
ROW = re.compile(r'^\| `(\w+)` \| ([\d,]+) \| ([\d,]+) \|$', re.M)
TOTAL = re.compile(r'^\| all \| ([\d,]+) \| ([\d,]+) \|$', re.M)
EARLIER = re.compile(r'^\| before this table \| ([\d,]+) \|', re.M)
EXECUTED = re.compile(rb'^stat::number_of_executed_units: *(\d+)', re.M)
FAILURES = ('crash-', 'oom-', 'timeout-', 'leak-', 'slow-unit-')


def number(text):
    return int(text.replace(',', ''))


def targets():
    return sorted(os.path.basename(p)[len('fuzz_'):-2] for p in glob.glob('tests/fuzz/fuzz_*.c'))


def failures(folder):
    return {p for p in os.listdir(folder) if p.startswith(FAILURES[:-1])}


def artifacts(target):
    """Returns the flag that writes failing inputs below build; libFuzzer's default is the current folder, also for merges."""
    return '-artifact_prefix=build/fuzz/%s/' % target


def merge(program, target, into, *folders):
    """Copies the files of the other folders that reach new code into a folder. Returns the number of files there."""
    subprocess.run([program, '-merge=1', artifacts(target), into] + list(folders), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True)
    return len(os.listdir(into))


def minimise(program, target, add):
    """Keeps only inputs in found that testdata lacks, or moves them there. Returns the number of inputs in testdata."""
    found, kept = 'build/fuzz/%s/found' % target, 'testdata/fuzz/%s' % target
    fresh = 'build/fuzz/%s/fresh' % target
    shutil.rmtree(fresh, ignore_errors=True)
    shutil.copytree(kept, fresh)
    old = set(os.listdir(fresh))
    merge(program, target, fresh, found)
    shutil.rmtree(found)
    os.mkdir(found)
    for name in sorted(set(os.listdir(fresh)) - old):
        shutil.move(os.path.join(fresh, name), os.path.join(kept if add else found, name))
    shutil.rmtree(fresh)
    return len(os.listdir(kept))


def fuzz(program, target, seconds, realdata):
    """Runs one target. Returns (executions, names of new failures)."""
    top = 'build/fuzz/' + target
    for folder in (top + '/found', 'testdata/fuzz/' + target):
        os.makedirs(folder, exist_ok=True)
    subprocess.run([sys.executable, '-B', 'tests/fuzz/seeds.py', target, top + '/seeds', 'testdata'] + realdata,
                   check=True, stdout=subprocess.DEVNULL)
    before = failures(top)
    p = subprocess.run([program, '-max_total_time=%d' % seconds, '-print_final_stats=1', artifacts(target),
                        top + '/found', 'testdata/fuzz/' + target, top + '/seeds'],
                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    executed = EXECUTED.search(p.stderr)
    new = sorted(failures(top) - before)
    if p.returncode and not new:
        new = ['status %d' % p.returncode]
        sys.stderr.write(p.stderr[-4000:].decode('utf-8', 'replace'))
    return int(executed.group(1)) if executed else 0, new


def tally(target, executed, inputs):
    """Adds executions to a target's row of the table, and writes the size of its corpus. Returns the sum of all rows."""
    with open(PAGE) as f:
        text = f.read()
    sums = {name: (number(n), number(kept)) for name, n, kept in ROW.findall(text)}
    sums[target] = sums.get(target, (0, 0))[0] + executed, inputs
    rows = ['| `%s` | %s | %s |' % (n, format(a, ','), format(b, ',')) for n, (a, b) in sorted(sums.items())]
    first, last = ROW.search(text), TOTAL.search(text)
    total = number(EARLIER.search(text).group(1)) + sum(a for a, _ in sums.values())
    rows.append('| all | %s | %s |' % (format(total, ','), format(sum(b for _, b in sums.values()), ',')))
    start = first.start() if first else last.start()
    with open(PAGE, 'w') as f:
        f.write(text[:start] + '\n'.join(rows) + text[last.end():])
    return total


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', required=True)
    p.add_argument('--minutes', type=float, default=10)
    p.add_argument('--add', action='store_true', help='move what reaches new code to testdata/fuzz')
    p.add_argument('--realdata', help='a folder of more whole files to begin with')
    p.add_argument('names', nargs='*')
    a = p.parse_args()
    os.chdir(ROOT)
    names = a.names or targets()
    seconds = max(1, round(a.minutes * 60 / len(names)))
    failed = 0
    for name in names:
        began = time.time()
        program = os.path.join(a.bin, 'fuzz_' + name)
        executed, bad = fuzz(program, name, seconds, [os.path.abspath(a.realdata)] if a.realdata else [])
        inputs = minimise(program, name, a.add)
        total = tally(name, executed, inputs)
        print('%-9s %9d executions, %d inputs, %d found beside them, %.0f s%s' % (
            name, executed, inputs, len(os.listdir('build/fuzz/%s/found' % name)), time.time() - began,
            ', FAILED: build/fuzz/%s/ %s' % (name, ' '.join(bad)) if bad else ''), flush=True)
        failed += bool(bad)
    print('%d executions so far' % total)
    print('%d passed, %d failed, 0 skipped' % (len(names) - failed, failed))
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
