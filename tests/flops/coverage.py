#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints for each trace in a folder the share of its device time for which float operations are known, and the reasons for the
rest, as a table like the one in docs/FLOPS.md. Fails if the shares do not add up to the whole time.

    tests/flops/coverage.py --program build/check/tfprof FOLDER
"""
import argparse
import json
import os
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, 'check'))
import cases  # noqa: E402

A = argparse.ArgumentParser(description=__doc__.split('\n')[0])
A.add_argument('--program', required=True)
A.add_argument('folders', nargs='+')
ARGS = A.parse_args()
PROGRAM = os.path.abspath(ARGS.program)
ENDS = '.json', '.json.gz', '.xplane.pb', '.sqlite', '.onnx'
SHOWN = 3
ROUNDING = 0.001


def flops(path):
    """Returns the document, or the first line of the error."""
    p = subprocess.run([PROGRAM, 'flops', path, '-output', 'json', '--top=0'], capture_output=True, text=True, timeout=600)
    start = p.stdout.find('{')
    return json.loads(p.stdout[start:]) if p.returncode == 0 and start >= 0 else p.stderr.strip().split('\n')[-1]


def reasons(d):
    """Returns {reason: (share of the device time, op with the largest share)}."""
    found = {}
    for u in d['uncounted']:
        share, op = found.get(u['reason'], (0, u['op']))
        found[u['reason']] = share + (u['device_ns'] or 0) / (d['device_ns'] or 1), op
    return found


def table_row(path):
    """Prints the row of a file. Fails if a part of the time has no reason."""
    d = flops(path)
    name = os.path.basename(path)
    if isinstance(d, str):
        print('| %s | - | %s |' % (name, d))
        return
    rest = reasons(d)
    print('| %s | %s | %s |' % (name, '-' if d.get('coverage') is None else '%.1f %%' % (100 * d['coverage']), ', '.join(
        '%.1f %%: %s (%s)' % (100 * share, reason, op) for reason, (share, op) in sorted(rest.items(), key=lambda x: -x[1][0])[:SHOWN])))
    if d.get('coverage') is not None:
        whole = d['coverage'] + sum(share for share, _ in rest.values())
        assert abs(whole - 1) < ROUNDING, '%s: %.4f of the device time is counted or has a reason' % (name, whole)


def files():
    return sorted(os.path.abspath(os.path.join(at, f)) for folder in ARGS.folders for at, _, names in os.walk(folder) for f in names if f.endswith(ENDS))


if __name__ == '__main__':
    print('| trace | known | the rest |\n|---|---|---|')

    def test(path):
        def run():
            table_row(path)
        run.__name__, run.__doc__ = os.path.basename(path), 'every part of the device time is counted or has a reason'
        return run
    sys.exit(cases.run([test(path) for path in files()]))
