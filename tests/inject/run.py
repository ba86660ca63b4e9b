#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector in a program without a GPU: libtfprof_cupti.so under fakes of libcuda and libcupti. Tests are
numbered; the names of their functions begin with the number. The last line counts.

    tests/inject/run.py --bin build/check all quick tests
    tests/inject/run.py --bin build/check t09 t16      some
    ... --long              more rounds, and what takes seconds
    ... --valgrind          under valgrind
    ... --san thread        what the build was sanitized with
    ... --options           the life cycle under each way in which CUPTI may behave; --options=late,exit: under some
    ... --times-over 20 each 20 times
"""
import argparse
import concurrent.futures
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import control
import cupti
import life
import ranges
import refused
import trust
from rig import ARGS, Failed, check, set_option


# Behaviours of CUPTI, as variables of the fake, and the tests that must pass under each.
OPTIONS = {
    'late': {'FAKE_LATE': '15'},
    'hidden': {'FAKE_LATE': '15', 'FAKE_HIDE': '1'},
    'threads': {'FAKE_THREADS': '1'},
    'exit': {'FAKE_EXIT': 'subscribe'},
    'clock': {'FAKE_CLOCK_OFFSET': '-5000000000', 'FAKE_CLOCK_DRIFT': '20'},
    'kinds': {'FAKE_FAIL': 'ActivityEnable:2:17,ActivityEnable:2:22,ActivityEnable:2:51'},
    'calls': {'FAKE_FAIL': 'ActivityEnableRuntimeApi:2,ActivityEnableDriverApi:2'},
    'several': {'fakes': 'several'},
    'all': {'FAKE_LATE': '15', 'FAKE_THREADS': '1', 'FAKE_EXIT': 'open', 'FAKE_CLOCK_OFFSET': '7000000000'},
}
# Tests that are meaningless under an option.
VOID = {('several', 't28_second_client'): 'where CUPTI allows several subscribers, nobody takes its place'}
LIFE = ('t06_exit', 't06_header', 't08', 't23', 't25', 't28_second_client', 't28_silent_kernels')


def one(f, option=None):
    if option:
        name, result, why, spent = under(f, option)
        return name + ' under ' + option, result, why, spent
    return under(f)


def under(f, option=None):
    begin = time.time()
    set_option(OPTIONS.get(option, {}))
    try:
        why = f()
        return f.__name__, 'skip' if why else 'ok', why or '', time.time() - begin
    except Failed as e:
        return f.__name__, 'FAILED', str(e), time.time() - begin
    except Exception as e:  # an exception fails the test
        return f.__name__, 'FAILED', '%s: %s' % (type(e).__name__, e), time.time() - begin


def all_tests():
    return {n: f for m in (life, refused, cupti, ranges, control, trust) for n, f in vars(m).items() if re.match(r't\d\d_', n)}


def t00_table():
    """The table in README.md has exactly these tests."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), 'README.md')) as f:
        named = set(re.findall(r'`(t\d\d_\w+)`', f.read()))
    check(named == set(all_tests()), named ^ set(all_tests()))


def main():
    tests = dict(all_tests(), t00_table=t00_table)
    tests = [tests[n] for n in sorted(tests)]
    tests = [f for f in tests if ARGS.tests or ARGS.long or not getattr(f, 'slow', False)]
    if ARGS.tests:
        tests = [f for f in tests if any(f.__name__.startswith(t) or t in f.__name__ for t in ARGS.tests)]
    work = [(f, None) for f in tests]
    if ARGS.options is not None:
        tests = [f for f in tests if ARGS.tests or f.__name__.startswith(LIFE)]
        work = [(f, o) for o in (ARGS.options or ','.join(OPTIONS)).split(',') for f in tests if (o, f.__name__) not in VOID]
    n = {'ok': 0, 'FAILED': 0, 'skip': 0}
    with concurrent.futures.ThreadPoolExecutor(ARGS.jobs) as pool:
        for name, word, why, seconds in pool.map(one, *zip(*work * ARGS.times_over)):
            n[word] += 1
            if word != 'ok' or ARGS.times:
                print('%s %s (%.1f s)%s' % (word, name, seconds, ': ' + why if why else ''))
    print('%d passed, %d failed, %d skipped' % (n['ok'], n['FAILED'], n['skip']))
    return 1 if n['FAILED'] or not n['ok'] else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', default='build/check')
    p.add_argument('--san', default='')
    p.add_argument('--valgrind', action='store_true')
    p.add_argument('--long', action='store_true')
    p.add_argument('--times', action='store_true', help='print the time of each test')
    p.add_argument('--options', nargs='?', const='', help='run the life cycle under these options of the fake CUPTI, or all')
    p.add_argument('--times-over', type=int, default=1)
    p.add_argument('--jobs', type=int, default=4)
    p.add_argument('tests', nargs='*')
    p.parse_args(namespace=ARGS)
    ARGS.bin = os.path.abspath(ARGS.bin)
    ARGS.fakes = os.path.join(ARGS.bin, 'fakes')
    ARGS.program = os.path.join(ARGS.fakes, 'program')
    ARGS.collector = os.path.join(ARGS.bin, 'libtfprof_cupti.so')
    ARGS.cc = os.environ.get('CC', 'cc')
    ARGS.slower = 10 if ARGS.valgrind else 3 if ARGS.san else 1
    ARGS.pause = 5 if ARGS.valgrind else 2 if ARGS.san else 1
    ARGS.under = ['valgrind', '-q', '--error-exitcode=77', '--trace-children=no', '--fair-sched=try'] if ARGS.valgrind else []
    sys.exit(main())
