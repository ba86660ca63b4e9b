#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector on a machine with a GPU: sixteen checks, each told as ok, FAILED or not run with what is missing.
Where there is no GPU it says so and ends well. What CUDA's driver and libcupti alone can do needs nothing else.

    make check-gpu                      all but what takes long
    make check-gpu T='01 09'            some
    make check-gpu OUT=folder           keeps raw buffers and figures there
    tests/gpu/run.py --long             the soak of 15 minutes, ten million graph nodes
    tests/gpu/run.py --rehearse         whether the checks themselves are in order: on fakes, with little of everything
"""
import argparse
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import costs
import cuda
import right
from rig import ARGS, NotRun


def has_gpu():
    """Asked in a process of its own: what the driver does to one stays in it."""
    code = 'import sys; sys.path.insert(0, %r); import cuda; sys.exit(not cuda.load())' % HERE
    return subprocess.run([sys.executable, '-c', code]).returncode == 0


def rehearse():
    """Fakes in place of a GPU, of NVIDIA's libraries and of Python's packages, unless TFPROF_GPU_WITHOUT is set."""
    fakes = os.path.dirname(ARGS.dump)
    os.environ['LD_LIBRARY_PATH'] = '%s/gpu:%s' % (fakes, fakes)
    if os.environ.get('TFPROF_GPU_WITHOUT'):
        return
    stand_in = os.path.join(HERE, 'stand_in')
    os.environ.update(TFPROF_GPU_LIBRARIES=fakes + '/gpu:' + fakes, PYTHONPATH=stand_in, PYTHONDONTWRITEBYTECODE='1', CUDA_HOME=stand_in,
                      PATH=stand_in + '/bin:' + os.environ['PATH'])
    sys.path.insert(0, stand_in)


def one(f):
    begin = time.time()
    try:
        word, text = 'ok', f() or ''
    except NotRun as e:
        word, text = 'not run', str(e)
    except Exception as e:
        word, text = 'FAILED', '%s: %s' % (type(e).__name__, e)
    print('%-7s %s (%.0f s)%s' % (word, f.__name__[1:], time.time() - begin, ': ' + text if text else ''))
    sys.stdout.flush()
    return word


def main():
    if ARGS.rehearse:
        print('a rehearsal on fakes, with little of everything: no figure below means anything')
        rehearse()
    if not has_gpu():
        print('skipped: there is no GPU here (no libcuda.so.1, or it finds none): nothing was run')
        print('0 passed, 0 failed, 16 skipped')
        return 0
    ARGS.cupti = os.environ.get('TFPROF_CUPTI_PATH') or cuda.find('libcupti')
    checks = {n: f for m in (right, costs) for n, f in vars(m).items() if re.match(r'c\d\d_', n)}
    names = sorted(checks)
    said = [one(checks[n]) for n in names[-1:] + names[:-1]  # the buffers first
            if not ARGS.checks or any(c in n for c in ARGS.checks)]
    print('%d passed, %d failed, %d skipped' % tuple(said.count(w) for w in ('ok', 'FAILED', 'not run')))
    return 1 if 'FAILED' in said else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', default='build')
    p.add_argument('--dump', default='build/release/fakes/dump')
    p.add_argument('--out', default='', help='keeps raw buffers and figures there')
    p.add_argument('--long', action='store_true')
    p.add_argument('--rehearse', action='store_true', help='on fakes: are the checks in order?')
    p.add_argument('checks', nargs='*')
    p.parse_args(namespace=ARGS)
    ARGS.dump = os.path.abspath(ARGS.dump)
    ARGS.program = os.path.abspath(os.path.join(ARGS.bin, 'tfprof'))
    ARGS.collector = os.path.abspath(os.path.join(ARGS.bin, 'libtfprof_cupti.so'))
    sys.exit(main())
