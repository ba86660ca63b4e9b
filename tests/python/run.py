#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of the Python package on a built library. The last line counts.

    tests/python/run.py --bin build/check            all
    tests/python/run.py --bin build/check compat     those whose names have the word in them
    tests/python/run.py --bin build/san-address-undefined --preload libasan.so
"""
import argparse
import os
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))


class Result(unittest.TextTestResult):
    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def find(word):
    """Returns the tests with the word in their names."""
    def each(suite):
        for t in suite:
            if isinstance(t, unittest.TestSuite):
                yield from each(t)
            elif word in t.id():
                yield t
    return unittest.TestSuite(each(unittest.defaultTestLoader.discover(HERE)))


def main():
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('word', nargs='?', default='')
    p.add_argument('--bin', default='build', help='the folder with libtfprof.so')
    p.add_argument('--preload', default='', help='a run time of sanitizers, as the C compiler finds it')
    args = p.parse_args()
    library = os.path.join(os.path.abspath(args.bin), 'libtfprof.so')
    if args.preload and 'LD_PRELOAD' not in os.environ:
        files = [subprocess.run([os.environ.get('CC') or 'gcc', '-print-file-name=' + n],
                                stdout=subprocess.PIPE, check=True).stdout.decode().strip()
                 for n in args.preload.split(',')]
        asan = os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0'  # options of the interpreter
        os.execve(sys.executable, [sys.executable, '-B'] + sys.argv, dict(
            os.environ, LD_PRELOAD=' '.join(files), ASAN_OPTIONS=asan.strip(':')))
    os.environ['TFPROF_LIBRARY'] = library
    sys.path.insert(0, HERE)
    r = unittest.TextTestRunner(sys.stdout, resultclass=Result, verbosity=0).run(find(args.word))
    for test, why in r.skipped:
        print('%s: skipped: %s' % (test.id(), why))
    bad = len(r.failures) + len(r.errors)
    print('%d passed, %d failed, %d skipped' % (r.passed, bad, len(r.skipped)))
    return 1 if bad or not r.testsRun else 0


if __name__ == '__main__':
    sys.exit(main())
