# SPDX-License-Identifier: Apache-2.0
"""Shared by the checks on a GPU: runs a program under the collector, reads its recording as rows, names missing parts."""
import argparse
import glob
import importlib.util
import json
import os
import shutil
import signal
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
    """Prints the findings of each part and names parts with missing requirements. Without any part the check was not run."""
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
    """Returns a number, or a smaller one in a rehearsal."""
    return max(1, n // 50) if ARGS.rehearse else n


class Deadline:
    """Sets the end of the current check; programs that still run at that time are examined and killed."""
    at = None

    @classmethod
    def begin(cls, seconds):
        cls.at = time.monotonic() + seconds if seconds else None

    @classmethod
    def left(cls, most):
        return most if cls.at is None else max(0.1, min(most, cls.at - time.monotonic()))


def descendants(pid):
    """Returns the process and all its descendants."""
    found = [pid]
    for p in found:
        for path in glob.glob('/proc/%d/task/*/children' % p):
            try:
                with open(path) as f:
                    found += [int(x) for x in f.read().split() if int(x) not in found]
            except OSError:
                pass
    return found


def examine(pid):
    """Returns the kernel's report on each thread of a process that does not end."""
    folder = os.path.join(ARGS.out or tempfile.gettempdir(), 'stuck')
    for p in descendants(pid):
        for task in glob.glob('/proc/%d/task/*' % p):
            to = os.path.join(folder, *task.split('/')[2:])
            os.makedirs(to, exist_ok=True)
            for name in ('comm', 'wchan', 'syscall'):
                try:
                    with open(os.path.join(task, name), 'rb') as f, open(os.path.join(to, name), 'wb') as out:
                        out.write(f.read())
                except OSError as e:
                    with open(os.path.join(to, name), 'w') as out:
                        out.write('cannot be read: %s\n' % e)
    return folder


def kill(p):
    """Kills a program and all processes that it started; each runs in a process group of its own."""
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return p.communicate()


class Session:
    """Runs work.py under the collector."""

    def __init__(self, *words, opts='', inject=True, rc=0, during=None, prefix=None, timeout=3000, wait=True, cupti=None, more_env=()):
        self.folder = tempfile.mkdtemp(prefix='tfprof-gpu-')
        env = dict(os.environ, TFPROF_SESSION=self.folder, TFPROF_OPTS=opts,
                   TFPROF_GPU_RANGES=os.path.join(os.path.dirname(ARGS.dump), 'ranges.so'))
        env.update(dict(more_env))
        if cupti or ARGS.cupti:
            env['TFPROF_CUPTI_PATH'] = cupti or ARGS.cupti
        if inject:
            env['CUDA_INJECTION64_PATH'] = env['NVTX_INJECTION64_PATH'] = ARGS.collector
        p = subprocess.Popen((prefix or self.program()) + [str(w) for w in words], env=env, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        self.process, self.rc, self.timeout = p, rc, timeout
        try:
            if during:
                during(self, p)
            if wait:
                self.wait()
        except BaseException:
            self.__exit__()
            raise

    def wait(self):
        p = self.process
        try:
            out, err = p.communicate(timeout=Deadline.left(self.timeout))
        except subprocess.TimeoutExpired:
            folder = examine(p.pid)
            out, err = kill(p)
            raise Failed('no end in sight; what its threads did is in', folder, err.decode()[-500:], self.log())
        self.out, self.err = out.decode(), err.decode()
        check(self.rc is None or p.returncode == self.rc, 'status', p.returncode, self.err[-1500:], self.log())
        lines = [x for x in self.out.splitlines() if x[:1] in '{[-0123456789']  # a tool that runs it may print, too
        self.said = json.loads(lines[-1]) if lines else None
        if isinstance(self.said, dict) and 'missing' in self.said:
            raise NotRun(self.said['missing'])
        return self

    @staticmethod
    def program():
        return [sys.executable, os.path.join(HERE, 'work.py')]

    def wait_for(self, key):
        """Waits until the recording contains this fact about the session."""
        end = time.monotonic() + Deadline.left(300)
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

    def totals(self):
        """Returns the totals of the only recording, without its records."""
        found = self.ends()
        check(len(found) == 1, len(found), 'spools', self.log())
        return found[0]

    def ends(self):
        """Returns the totals of all recordings."""
        found = []
        for path in sorted(glob.glob(self.folder + '/*.tfspool')):
            p = subprocess.run([ARGS.dump, '--count', path], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            check(p.returncode == 0, p.stderr.decode())
            found.append(json.loads(p.stdout.decode().splitlines()[-1]))
        return found

    def spool(self):
        """Returns the totals and records of the only recording."""
        all_ = self.spools()
        check(len(all_) == 1, len(all_), 'spools', self.log())
        return all_[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            kill(self.process)
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
