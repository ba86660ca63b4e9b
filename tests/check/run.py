#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The registry of the tests: finds the steps of every suite (tests/NAME/suite.py), runs the steps of a tier on the results of
make, and counts. `make check` and similar targets call it.

Each step ends in a line "N passed, N failed, N skipped"; so does the whole.
    tests/check/run.py --bin build/check [--filter NAME] quick|deep|real|covered|web
    tests/check/run.py --list                          every step: its suite, tiers and command
"""
import argparse
import concurrent.futures
import glob
import os
import re
import resource
import runpy
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from step import CPUS, MANY, ROOT, Result  # noqa: E402

SKIPPED = re.compile(r'^(?:skip|\S+: skip|skipped: |\[  SKIPPED \] (?!\d)).*', re.M)
SAN_ENV = {'ASAN_OPTIONS': 'detect_leaks=1:abort_on_error=1', 'UBSAN_OPTIONS': 'print_stacktrace=1',
           'TSAN_OPTIONS': 'halt_on_error=1:abort_on_error=1'}


def suites():
    """Returns {suite: its steps} of every folder in tests/ with a suite.py."""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, 'tests', '*', 'suite.py'))):
        found[os.path.basename(os.path.dirname(path))] = runpy.run_path(path)['STEPS']
    return found


def steps_of(tier):
    return [s for steps in suites().values() for s in steps if tier in s.tiers]


def places(args):
    """Returns the values for the words in braces in the commands of steps."""
    return {'bin': args.bin, 'program': os.path.join(args.bin, 'tfprof'), 'plain': 'build/check', 'tsan': args.tsan,
            'msan': args.msan, 'filter': args.filter, 'realdata': args.realdata, 'golden': args.golden,
            'modern': args.modern, 'many': MANY}


def tell(name, r, seconds):
    word = 'FAILED' if r.failed else 'ok' if r.passed else 'skip'
    print('%-7s%-20s %5d passed %3d failed %5d skipped %6.1fs%s' % (
        word, name, r.passed, r.failed, r.skipped, seconds, '  ' + r.note if r.note else ''))
    if r.skipped and not r.failed:
        print(''.join('    %s\n' % x for x in SKIPPED.findall(r.text)), end='')
    if r.text.strip() and (r.failed or name.startswith(('recorded', 'upstream', 'tsan-rec', 'cost'))):
        print('\n'.join('    ' + x for x in r.text.rstrip().split('\n')))
    sys.stdout.flush()


def timed(step, where):
    t = time.time()
    try:
        r = step.run(where)
    except OSError as e:
        r = Result(failed=1, text=str(e))
    return step, r, time.time() - t


# Variables that users, batch systems and other profilers set, and that change what our programs print.
SET_BY_OTHERS = re.compile(
    r'(CUDA|NVTX)_INJECTION64_PATH$|CUDA_VISIBLE_DEVICES$|TFPROF_(?!ORACLE$)|(LOCAL_)?RANK$|WORLD_SIZE$|TORCHELASTIC_|OMPI_|PMIX?_|SLURM_|'
    r'NO_COLOR$|CLICOLOR|PAGER$|MANPAGER$|LESS|COLUMNS$|LINES$|XDG_|POSIXLY_CORRECT$|GREP_|CDPATH$|ENV$|BASH_ENV$|TMOUT$|INPUTRC$|'
    r'EDITRC$|HIST|TMUX|TZ$|LANGUAGE$|GZIP$|PYTHON(WARNINGS|UTF8|IOENCODING|HASHSEED|OPTIMIZE|STARTUP|INSPECT)$')


def plain_surroundings():
    """Resets what nohup, background jobs and login scripts have changed in the environment of the tests."""
    for name in filter(SET_BY_OTHERS.match, list(os.environ)):
        del os.environ[name]
    os.umask(0o022)
    few, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if few < 1024:
        resource.setrlimit(resource.RLIMIT_NOFILE, (1024 if most == resource.RLIM_INFINITY else min(1024, most), most))
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for n in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:  # subprocess resets these
        if signal.getsignal(n) == signal.SIG_IGN:
            signal.signal(n, lambda *_: None)


def main():
    if ARGS.tier == 'deep':
        os.environ.update(SAN_ENV)
    where = places(ARGS)
    steps = steps_of(ARGS.tier)
    if ARGS.filter:
        steps = [s for s in steps if ARGS.filter in s.name or s.selects()]
    steps.sort(key=lambda s: (-s.seconds, s.name))
    results, began = [], time.time()
    # Two more than the number of CPUs, because the longest steps wait for clocks and terminals.
    with concurrent.futures.ThreadPoolExecutor(CPUS + 2) as pool:
        for done in concurrent.futures.as_completed([pool.submit(timed, s, where) for s in steps]):
            step, r, seconds = done.result()
            if ARGS.filter and not r.passed and not r.skipped and (not r.failed or 'has that name' in r.text):
                continue
            tell(step.name, r, seconds)
            results.append(r)
    sums = [sum(getattr(r, k) for r in results) for k in ('passed', 'failed', 'skipped')]
    if ARGS.filter and not any(sums):
        print('no test has "%s" in its name' % ARGS.filter)
        sums[1] = 1
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print('%.0f s, %.0f s of CPU' % (time.time() - began, used.ru_utime + used.ru_stime))
    print('%d passed, %d failed, %d skipped' % tuple(sums))
    return 1 if sums[1] else 0


def listing():
    for suite, steps in suites().items():
        for s in steps:
            how = s.command if isinstance(s.command, str) else 'a function of tests/%s/suite.py' % suite
            print('%-20s %-24s %-16s %s' % (suite, s.name, ','.join(s.tiers), how))


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    p.add_argument('tier', nargs='?', default='quick', choices=['quick', 'deep', 'real', 'covered', 'web'])
    p.add_argument('--list', action='store_true', help='print the steps and run none')
    p.add_argument('--bin', default='build/check')
    p.add_argument('--tsan', default='build/san-thread')
    p.add_argument('--msan', default='build/san-memory')
    p.add_argument('--filter', default='')
    p.add_argument('--realdata', default='')
    p.add_argument('--golden', default='')
    p.add_argument('--modern', default='')
    ARGS = p.parse_args()
    for k in ('realdata', 'golden', 'modern'):
        if getattr(ARGS, k):
            setattr(ARGS, k, os.path.abspath(getattr(ARGS, k)))
    os.chdir(ROOT)
    if ARGS.list:
        listing()
        sys.exit(0)
    plain_surroundings()
    sys.exit(main())
