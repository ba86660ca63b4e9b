# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of fleets: generates a small fleet, builds its tables and reads their rows."""
import glob
import json
import os
import subprocess
import sys

import make
from cases import equal

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MLP = os.path.join(ROOT, 'testdata', 'recorded', 'mlp_gpu_old_names', 'profile.pb.gz')
TABLES = ['runs', 'steps', 'nodes', 'kernels', 'devices', 'memory', 'errors', 'files']
VARYING = ('part', 'modified_ns')  # columns of the table files that two builds may fill differently
RUNS, WORKERS, DAMAGED = 2, 12, 11


DATA = {}  # cache of files and results that all tests share


def start(built, scratch):
    """Sets the folder of the library and the program, and a folder for shared files."""
    DATA.update(bin=os.path.abspath(built), scratch=scratch)
    os.environ.update(PYTHONPATH=os.path.join(ROOT, 'python'), TFPROF_LIBRARY=os.path.join(DATA['bin'], 'libtfprof.so'))


def program(*words):
    p = subprocess.run([os.path.join(DATA['bin'], 'tfprof'), *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout)


def words(*more):
    return [sys.executable, '-B', '-m', 'tfprof.fleet', *more]


def fleet(*more, status=0):
    p = subprocess.run(words(*more), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert status in (None, p.returncode), '%s: status %d: %s' % (more, p.returncode, p.stderr[-3000:])
    return p.stdout, p.stderr


def content(out):
    """Returns {table: sorted rows} of the complete runs."""
    from tfprof.fleet import recipes
    from tfprof.fleet.rows import columns_of
    connection = recipes.duckdb_connection(out)
    found = {}
    for name in TABLES:
        columns = ', '.join(sorted(c for c, _ in columns_of(name) if c not in VARYING))
        found[name] = sorted(connection.execute('SELECT %s FROM %s' % (columns, name)).fetchall(), key=repr)
    return found


def same(out, other, tables=TABLES):
    mine, theirs = content(out), content(other)
    for name in tables:
        equal(len(mine[name]), len(theirs[name]), name)
        equal(mine[name], theirs[name], name)


def data():
    """Returns (folder, damaged paths) of a small fleet, generated at the first call."""
    if 'folder' not in DATA:
        make.STEPS = 3
        folder = os.path.join(DATA['scratch'], 'data')
        DATA.update(folder=folder, bad=make.make(folder, RUNS, WORKERS, DAMAGED))
    return DATA['folder'], DATA['bad']


def built():
    """Returns the output folder of an uninterrupted build of data(), built at the first call."""
    if 'out' not in DATA:
        folder, _ = data()
        fleet('build', os.path.join(DATA['scratch'], 'out'), folder + '/*/*.json', '--processes', '2')
        DATA['out'] = os.path.join(DATA['scratch'], 'out')
    return DATA['out']


def children(pid):
    """Returns the child processes of a process."""
    found = []
    for path in glob.glob('/proc/%d/task/*/children' % pid):
        try:
            with open(path) as f:
                found += [int(p) for p in f.read().split()]
        except OSError:
            pass  # the process has ended
    return found


def running(pids, word):
    """Returns the processes whose command line contains a word."""
    found = []
    for pid in pids:
        try:
            with open('/proc/%d/cmdline' % pid, 'rb') as f:
                if word in f.read():
                    found.append(pid)
        except OSError:
            pass  # the process has ended
    return found
