#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector on a machine with a GPU: sixteen checks, each reported as ok, FAILED or not run with what is missing.
Where there is no GPU, that is reported and the exit status is 0. Most checks need only CUDA's driver and libcupti.

    tests/gpu/run.py --quick            sixteen short checks for the first hour on a GPU, in about ten minutes;
                                        OUT=folder, also as one tar
    make check-gpu                      all except slow checks
    make check-gpu T='01 09'            some
    make check-gpu OUT=folder           keeps raw buffers and figures there
    tests/gpu/run.py --long             the soak of 15 minutes, ten million graph nodes
    tests/gpu/run.py --rehearse tests the checks themselves: on fakes, with small amounts of work
"""
import argparse
import os
import re
import subprocess
import sys
import tarfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_START = 60
sys.path.insert(0, HERE)
import costs
import cuda
import quick
import right
from rig import ARGS, Deadline, NotRun


def driver():
    """Returns the version of the driver, or 0 without a GPU. A separate process asks, because the driver changes the process
    that uses it."""
    code = 'import sys; sys.path.insert(0, %r); import cuda; print(cuda.driver_version())' % HERE
    try:
        p = subprocess.run([sys.executable, '-c', code], stdout=subprocess.PIPE, timeout=LIMIT_START)
        return int(p.stdout or 0)
    except subprocess.TimeoutExpired:
        print('the driver does not answer in %d s' % LIMIT_START)
        return 0


def rehearse():
    """Sets up fakes of a GPU, of NVIDIA's libraries and of Python packages, unless TFPROF_GPU_WITHOUT is set."""
    fakes = os.path.abspath(ARGS.fakes or os.path.dirname(ARGS.dump))
    os.environ['LD_LIBRARY_PATH'] = ':'.join([fakes + '/gpu', fakes, os.environ.get('LD_LIBRARY_PATH', '')]).rstrip(':')
    if os.environ.get('TFPROF_GPU_WITHOUT'):
        return
    stand_in = os.path.join(HERE, 'stand_in')
    os.environ.setdefault('TFPROF_GPU_LIBRARIES', fakes + '/gpu:' + fakes)
    os.environ.update(PYTHONPATH=stand_in, PYTHONDONTWRITEBYTECODE='1', CUDA_HOME=stand_in,
                      PATH=stand_in + '/bin:' + os.environ['PATH'])
    sys.path.insert(0, stand_in)


def one(f, limit=None):
    begin = time.time()
    Deadline.begin(limit)
    try:
        word, text = 'ok', f() or ''
    except NotRun as e:
        word, text = 'not run', str(e)
    except Exception as e:
        word, text = 'FAILED', '%s: %s' % (type(e).__name__, e)
    line = '%-7s %s (%.0f s)%s' % (word, f.__name__[1:], time.time() - begin, ': ' + text if text else '')
    print(line)
    sys.stdout.flush()
    if ARGS.quick:
        with open(os.path.join(ARGS.out, 'results.txt'), 'a') as out:
            out.write(line + '\n')
    return word


def checks_of(*modules):
    return {n: f for m in modules for n, f in vars(m).items() if re.match(r'[cq]\d\d_', n)}


def all_checks():
    checks = checks_of(right, costs)
    names = sorted(checks)
    return [one(checks[n]) for n in names[-1:] + names[:-1]  # the buffers first
            if not ARGS.checks or any(c in n for c in ARGS.checks)]


def quick_checks():
    """Runs the quick checks in order; the files that they keep go into one tar."""
    ARGS.out = os.path.abspath(ARGS.out or 'tfprof-gpu-results')
    os.makedirs(ARGS.out, exist_ok=True)
    checks = checks_of(quick)
    said = [one(checks[n], ARGS.limit) for n in sorted(checks)
            if not ARGS.checks or any(c in n for c in ARGS.checks)]
    with tarfile.open(ARGS.out + '.tar.gz', 'w:gz') as tar:
        tar.add(ARGS.out, arcname=os.path.basename(ARGS.out))
    print('results: %s.tar.gz' % ARGS.out)
    return said


def main():
    if ARGS.rehearse:
        print('a rehearsal on fakes, with little of everything: no figure below means anything')
        rehearse()
    version = driver()
    if not version:
        print('skipped: there is no GPU here (no libcuda.so.1, or it finds none): nothing was run')
        print('0 passed, 0 failed, %d skipped' % len(checks_of(quick) if ARGS.quick else checks_of(right, costs)))
        return 0
    ARGS.cupti = os.environ.get('TFPROF_CUPTI_PATH') or cuda.cupti_for(version)
    ARGS.newest = cuda.newest_cupti() if version >= 13000 else ''
    os.environ['TFPROF_GPU_CUDART'] = cuda.find('libcudart') or ''
    said = quick_checks() if ARGS.quick else all_checks()
    print('%d passed, %d failed, %d skipped' % tuple(said.count(w) for w in ('ok', 'FAILED', 'not run')))
    return 1 if 'FAILED' in said else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', default='build')
    p.add_argument('--dump', default='build/release/fakes/dump')
    p.add_argument('--gpu-program', default='', help='by default beside --dump: ../gpu/program')
    p.add_argument('--out', default='', help='keeps raw buffers and figures there')
    p.add_argument('--long', action='store_true')
    p.add_argument('--quick', action='store_true', help='sixteen short checks')
    p.add_argument('--limit', type=float, default=quick.LIMIT, help='seconds for each of the quick checks')
    p.add_argument('--rehearse', action='store_true', help='on fakes: are the checks in order?')
    p.add_argument('--fakes', default='', help='the folder of the fakes; by default that of --dump')
    p.add_argument('checks', nargs='*')
    p.parse_args(namespace=ARGS)
    ARGS.dump = os.path.abspath(ARGS.dump)
    ARGS.gpu_program = os.path.abspath(ARGS.gpu_program or os.path.join(os.path.dirname(ARGS.dump), '../gpu/program'))
    ARGS.program = os.path.abspath(os.path.join(ARGS.bin, 'tfprof'))
    ARGS.collector = os.path.abspath(os.path.join(ARGS.bin, 'libtfprof_cupti.so'))
    sys.exit(main())
