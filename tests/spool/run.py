#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings as profiles: makes recordings with spool_make, runs the program, and compares the answers with the made records. A
check is a function check_NAME; its docstring says what must hold.

    tests/spool/run.py --program build/tfprof --make build/check/spool_make [NAME...]
"""
import argparse
import inspect
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'check')]
import bounds
import endless
import jobs
import nodes
import sessions
import steps
import tables
from built import has
from rig import Bench

DEMANGLED = ('labels', 'names', 'no_utf8')  # checks of demangled names


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--program', required=True)
    p.add_argument('--make', required=True)
    p.add_argument('names', nargs='*')
    args = p.parse_args()
    args.program, args.make = os.path.abspath(args.program), os.path.abspath(args.make)
    passed = failed = skipped = 0
    plain = () if has(args.program, 'demangler') else DEMANGLED
    checks = {k[6:]: v for m in (bounds, endless, nodes, steps, sessions, tables, jobs) for k, v in vars(m).items() if k.startswith('check_')}
    for name, f in sorted(checks.items()):
        if args.names and name not in args.names:
            continue
        if name in plain:
            print('skipped: %s: no demangler in this build' % name)
            skipped += 1
            continue
        where = tempfile.mkdtemp(prefix='spool_')
        try:
            f(Bench(args, where))
            passed += 1
        except (AssertionError, KeyError, ValueError, IndexError, OSError, subprocess.SubprocessError) as e:
            failed += 1
            line = traceback.extract_tb(e.__traceback__)[-1].lineno
            print('%s: %s\n  line %d: %s: %s' % (name, inspect.getdoc(f).split('\n')[0], line, type(e).__name__, str(e)[:1500]))
        shutil.rmtree(where)
    print('%d passed, %d failed, %d skipped' % (passed, failed, skipped))
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
