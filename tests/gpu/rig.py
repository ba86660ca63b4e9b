# SPDX-License-Identifier: Apache-2.0
"""What the checks on a GPU share: a program run under the collector, its spool as rows, parts that are missing."""
import argparse
import glob
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ARGS = argparse.Namespace()  # run.py fills it
DROPPED, UNKNOWN, UNTIMED, RANGES, WRITE = range(5)


class Failed(Exception):
    pass


class NotRun(Exception):
    pass


def check(ok, *what):
    if not ok:
        raise Failed(' '.join(str(w) for w in what))


def need(*packages):
    for p in packages:
        if not importlib.util.find_spec(p):
            raise NotRun('the package %s is missing' % p)


def parts(*all_):
    """Each part says what it found; those that miss something are named. None at all: the check was not run."""
    told, missing = [], []
    for part in all_:
        try:
            told.append(part() or '')
        except NotRun as e:
            missing.append(str(e))
    if not told:
        raise NotRun('; '.join(missing))
    return '; '.join([t for t in told if t] + ['not run: ' + m for m in missing])


def few(n):
    """A number that a rehearsal does with less of."""
    return max(1, n // 50) if ARGS.rehearse else n


class Session:
    """One run of work.py under the collector."""

    def __init__(self, *words, opts='', inject=True, rc=0, during=None, prefix=None, timeout=3000):
        self.folder = tempfile.mkdtemp(prefix='tfprof-gpu-')
        env = dict(os.environ, TFPROF_SESSION=self.folder, TFPROF_OPTS=opts,
                   TFPROF_GPU_RANGES=os.path.join(os.path.dirname(ARGS.dump), 'ranges.so'))
        if ARGS.cupti:
            env['TFPROF_CUPTI_PATH'] = ARGS.cupti
        if inject:
            env['CUDA_INJECTION64_PATH'] = env['NVTX_INJECTION64_PATH'] = ARGS.collector
        p = subprocess.Popen((prefix or self.program()) + [str(w) for w in words], env=env, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if during:
            during(self, p)
        try:
            out, err = p.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            raise Failed('no end in sight')
        self.out, self.err = out.decode(), err.decode()
        check(rc is None or p.returncode == rc, 'status', p.returncode, self.err[-1500:], self.log())
        lines = [x for x in self.out.splitlines() if x[:1] in '{[-0123456789']  # a tool around it may speak too
        self.said = json.loads(lines[-1]) if lines else None
        if isinstance(self.said, dict) and 'missing' in self.said:
            self.done()
            raise NotRun(self.said['missing'])

    @staticmethod
    def program():
        return [sys.executable, os.path.join(HERE, 'work.py')]

    def wait_for(self, key):
        """Until the spool says that of the session."""
        end = time.monotonic() + 300
        while not any(r['key'] == key for _, rows in self.spools() for r in of(rows, 'INFO')):
            check(time.monotonic() < end, 'recording did not start', self.log())
            time.sleep(0.05)

    def control(self, word):
        with open(self.folder + '/control', 'a') as f:
            f.write('%d %s\n' % (time.time_ns(), word))

    def log(self):
        return ''.join(open(p).read() for p in sorted(glob.glob(self.folder + '/*.log')))

    def spools(self):
        found = []
        for path in sorted(glob.glob(self.folder + '/*.tfspool')):
            p = subprocess.run([ARGS.dump, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            check(p.returncode == 0, p.stderr.decode())
            rows = [json.loads(x) for x in p.stdout.decode('utf-8', 'replace').splitlines()]
            found.append((rows[-1], rows[:-1]))
        return found

    def spool(self):
        """Totals and records of the only one."""
        all_ = self.spools()
        check(len(all_) == 1, len(all_), 'spools', self.log())
        return all_[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.done()

    def done(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def of(rows, kind):
    return [r for r in rows if r['kind'] == kind]


def lost(rows, why):
    return sum(r['count'] for r in of(rows, 'LOST') if r['why'] == why)


def keep(name, content):
    if not ARGS.out:
        return
    os.makedirs(ARGS.out, exist_ok=True)
    with open(os.path.join(ARGS.out, name), 'wb' if isinstance(content, bytes) else 'w') as f:
        f.write(content)
