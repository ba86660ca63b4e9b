#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the checks for a GPU on a machine without one: with fakes all pass, with wrong fakes the right ones fail, missing
packages are named, and without a GPU the checks do not run. The last line counts.

    tests/gpu/rehearsal.py --bin build/check            all checks
    tests/gpu/rehearsal.py --bin build/check --quick    the quick ones, from the unpacked bundle
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LIES = (('FAKE_TIMES', 'zero', '01_ 02_', 2), ('FAKE_TIMES', 'early', '01_', 1), ('FAKE_MUTE', '1', '01_ 05_ 12_', 2),
        ('FAKE_KERNEL_SIZE', '300', '02_', 0), ('FAKE_FAIL', 'ActivityEnable:2:49', '12_', 1), ('FAKE_HOLDER', 'x', '08_', 1))


def counted(words, env):
    p = subprocess.run(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=6 * 3600)
    text = p.stdout.decode('utf-8', 'replace')
    m = re.search(r'^(\d+) passed, (\d+) failed, (\d+) skipped$', text, re.M)
    return p.returncode, tuple(map(int, m.groups())) if m else None, text


def run(*words, **env):
    return counted([sys.executable, '-B', HERE + '/run.py', '--bin', ARGS.bin, '--dump', ARGS.bin + '/fakes/dump'] + list(words),
                   dict(os.environ, **env))


class Judge:
    def __init__(self):
        self.all, self.wrong = 0, 0

    def __call__(self, what, ok, text):
        self.all += 1
        if not ok:
            self.wrong += 1
            print('%s:\n%s' % (what, text[-3000:]))

    def end(self):
        print('%d passed, %d failed, 0 skipped' % (self.all - self.wrong, self.wrong))
        return 1 if self.wrong else 0


def all_checks(judge):
    status, n, text = run()
    judge('without a GPU', (status, n) == (0, (0, 0, 16)) and 'there is no GPU here' in text, text)
    status, n, text = run('--rehearse', '--long')
    judge('all', (status, n) == (0, (16, 0, 0)) and 'not run' not in text, text)
    for name, value, checks, failed in LIES:
        status, n, text = run('--rehearse', *checks.split(), **{name: value})
        judge('%s=%s' % (name, value), n and n[1] == failed and status == bool(failed), text)
    status, n, text = run('--rehearse', '03_', '04_', '05_', TFPROF_GPU_WITHOUT='1')
    judge('without packages', (status, n) == (0, (0, 0, 3)) and 'the package torch is missing' in text, text)


# ---- the quick checks -----------------------------------------------------------------------------
QUICK_LIES = (('FAKE_MUTE', '1', '02_ 05_ 07_ 09_ 11_ 12_ 13_ 14_ 15_ 16_', 10), ('FAKE_TIMES', 'early', '06_', 1), ('FAKE_FAIL', 'ActivityEnable:2:51', '08_', 1),
              ('FAKE_SM', '80', '03_', 0), ('FAKE_SM', '60', '03_', 1), ('FAKE_DRIVER', '12080', '01_', 0))


def unpacked(folder):
    """Unpacks the bundle with fakes in place of NVIDIA's libraries, and Python packages beside it."""
    tar = os.path.join(folder, 'bundle.tar.gz')
    p = subprocess.run([sys.executable, '-B', HERE + '/bundle.py', '--native', '--bin', ARGS.bin, '--obj', ARGS.bin, '--out', tar, '--cuda',
                        '%s/fakes:%s/fakes/gpu' % (ARGS.bin, ARGS.bin)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if p.returncode:
        return None, p.stdout.decode()
    with tarfile.open(tar) as f:
        f.extractall(folder)
    shutil.copytree(HERE + '/stand_in', folder + '/tfprof-gpu/tests/gpu/stand_in')
    return folder + '/tfprof-gpu', ''


def quick(folder, *words, **env):
    """Runs the quick checks of the bundle with only the variables in env. Returns the names in the tar, too."""
    out = tempfile.mkdtemp(dir=folder)
    env = dict(env, PATH=os.path.dirname(sys.executable) + ':/usr/bin:/bin', PYTHON=sys.executable, HOME=out)
    status, n, text = counted([folder + '/quick', '--out', out + '/results'] + list(words), env)
    names = []
    if os.path.exists(out + '/results.tar.gz'):
        with tarfile.open(out + '/results.tar.gz') as f:
            names = f.getnames()
    return status, n, text, names


def quick_checks(judge, scratch):
    folder, text = unpacked(scratch)
    judge('the bundle', folder, text)
    if not folder:
        return
    rehearse = ('--rehearse', '--fakes', ARGS.bin + '/fakes', '--limit', '600')
    status, n, text, names = quick(folder)
    judge('without a GPU', (status, n, names) == (0, (0, 0, 16), []), text)
    status, n, text, names = quick(folder, *rehearse)
    judge('all', (status, n) == (0, (16, 0, 0)) and 'not run' not in text, text)
    kept = {'results.txt', 'clock.json', 'overhead.json', 'refused.json', 'gpu.txt', 'buffers/kernel-130001.bin',
            'buffers/kernel-130001.names', 'buffers/kernel-130001.expected'}
    judge('what is kept', kept <= {n.partition('/')[2] for n in names}, str(names))
    for name, value, checks, failed in QUICK_LIES:
        status, n, text, names = quick(folder, *rehearse, *checks.split(), **{name: value})
        judge('%s=%s' % (name, value), n and n[1] == failed and status == bool(failed), text)
    status, n, text, names = quick(folder, *rehearse, '--limit', '1', '03_', FAKE_STUCK='1')
    stuck = {n.rpartition('/')[2] for n in names if '/stuck/' in n and '/task/' in n}
    judge('a program that does not end', n == (0, 1, 0) and {'comm', 'wchan', 'syscall'} <= stuck, text + str(names))


def main():
    judge = Judge()
    if ARGS.quick:
        with tempfile.TemporaryDirectory(prefix='tfprof gpu ') as scratch:
            quick_checks(judge, scratch)
    else:
        all_checks(judge)
    return judge.end()


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', default='build/check')
    p.add_argument('--quick', action='store_true')
    ARGS = p.parse_args()
    ARGS.bin = os.path.abspath(ARGS.bin)
    sys.exit(main())
