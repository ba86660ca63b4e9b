#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tasks of tasks.list: a question, the command that answers it, and patterns that its first 24 lines must contain.

    tests/tasks/run.py --program build/tfprof [WORD...]     tasks that have one of the words in their description
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SCREEN = 24


def tasks():
    """Yields (what, command, patterns, status) of each block of the list."""
    for block in open(os.path.join(HERE, 'tasks.list')).read().split('\n\n'):
        lines = [x for x in block.split('\n') if x and not x.startswith('#')]
        if lines:
            status = [int(x[2:]) for x in lines if x.startswith('! ')]
            yield (lines[0], next(x[2:] for x in lines if x.startswith('$ ')), [x[2:] for x in lines if x.startswith('~ ')],
                   status[0] if status else 0)


def run(program, task, folder):
    """Returns what is wrong, or an empty text."""
    what, command, patterns, status = task
    env = dict(os.environ, PATH='%s/bin:%s' % (folder, os.environ['PATH']), LC_ALL='C.UTF-8')
    p = subprocess.run(['bash', '-c', command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=600)
    screen = '\n'.join(p.stdout.decode('utf-8', 'replace').split('\n')[:SCREEN])
    bad = ['not on the first screen: ' + x for x in patterns if not re.search(x, screen, re.M)]
    if p.returncode != status:
        bad.append('status %d' % p.returncode)
    return 'FAILED %s\n$ %s\n%s\n%s\n' % (what, command, '\n'.join(bad), screen) if bad else ''


def main():
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('--program', default=os.path.join(ROOT, 'build', 'tfprof'))
    a.add_argument('words', nargs='*')
    a = a.parse_args()
    chosen = [t for t in tasks() if not a.words or any(w in t[0] for w in a.words)]
    with tempfile.TemporaryDirectory(prefix='tfprof-tasks-') as top:
        folders = []
        for i in range(len(chosen)):  # each task has a folder of its own: some write files
            folder = os.path.join(top, str(i))
            shutil.copytree(os.path.join(ROOT, 'testdata', 'example'), folder)
            shutil.copy(os.path.join(ROOT, 'testdata', 'traces', 'trace.xplane.pb'), folder)
            os.mkdir(os.path.join(folder, 'run1'))
            shutil.copy(os.path.join(ROOT, 'testdata', 'small', 'train.tfspool'), os.path.join(folder, 'run1'))
            os.mkdir(os.path.join(folder, 'bin'))
            os.symlink(os.path.abspath(a.program), os.path.join(folder, 'bin', 'tfprof'))
            folders.append(folder)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = list(pool.map(lambda x: run(a.program, *x), zip(chosen, folders)))
    print(''.join(found), end='')
    bad = sum(bool(x) for x in found)
    print('%d passed, %d failed, 0 skipped' % (len(found) - bad, bad + (not found)))
    return 1 if bad or not found else 0


if __name__ == '__main__':
    sys.exit(main())
