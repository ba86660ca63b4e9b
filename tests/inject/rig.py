# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the collector: runs the program under it, and reads the recording as rows."""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ARGS = argparse.Namespace()  # the tested files and options; set by run.py
MARK = 'WRONG'
DROPPED, UNKNOWN, UNTIMED, RANGES, WRITE, KEPT, KERNELS, UNREAD, NAMES, RUNNING = range(10)
COUNT_ON, COUNT_PART = 1, 2  # flags of the counts of launches
PUSH, POP, START, STOP, INSTANT = range(5)


class Option(threading.local):
    """Variables for all programs of a test, in addition to the test's own, and a folder that precedes the folder of the fakes;
    each test has a thread."""
    env = {}
    fakes = None


option = Option()


def set_option(env):
    option.env = {k: v for k, v in env.items() if k != 'fakes'}
    option.fakes = os.path.join(ARGS.fakes, env['fakes']) if 'fakes' in env else None


class Failed(Exception):
    pass


def check(ok, *what):
    if not ok:
        raise Failed(' '.join(str(w) for w in what))


class Spool:
    """A recording as dump prints it."""

    def __init__(self, path, *how):
        p = subprocess.run([os.path.join(ARGS.fakes, 'dump')] + list(how) + [path], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=600, env=dict(os.environ, LC_ALL='C'))
        check(p.returncode == 0, 'dump of', path, p.returncode, p.stderr.decode()[-500:])
        rows = [json.loads(x) for x in p.stdout.decode('utf-8', 'replace').splitlines()]
        self.path, self.end, self.rows = path, rows.pop(), rows
        self.info = {r['key']: r['value'] for r in rows if r['kind'] == 'INFO'}
        self.notes = [r['text'] for r in rows if r['kind'] == 'NOTE']

    def of(self, kind):
        return [r for r in self.rows if r['kind'] == kind]

    def n(self, kind):
        return self.end[kind]

    def lost(self, why):
        """The count of a loss; of kernels: launches without a record."""
        if why == KERNELS:
            return max(0, self.end['launches'] - sum(not k['graph'] for k in self.of('KERNEL')))
        return sum(r['count'] for r in self.of('LOST') if r['why'] == why)

    def bound(self, why):
        """True if the count of a loss is a lower bound."""
        return any(r['bound'] for r in self.of('LOST') if r['why'] == why)

    @property
    def compared(self):
        """True if each launch is known to have been counted."""
        return self.end['flags'] & (COUNT_ON | COUNT_PART) == COUNT_ON and not self.end['unsure']

    @property
    def complete(self):
        return bool(self.end['complete'])


class Run:
    """The result of the program, run to its end in a session folder."""

    def __init__(self, *words, opts='', env=None, folder=None, fakes=None, wait=True, nvtx=True, timeout=600,
                 prefix=(), preexec=None, **popen):
        self.made = folder is None
        self.folder = folder or tempfile.mkdtemp(prefix='tfprof-inject-')
        path = ':'.join([f for f in (fakes, option.fakes) if f] + [ARGS.fakes])
        e = {'PATH': os.environ['PATH'], 'LC_ALL': 'C', 'LD_LIBRARY_PATH': path, 'TFPROF_SESSION': self.folder,
             'CUDA_INJECTION64_PATH': ARGS.collector}
        # Threads that still run at the end are not leaks.
        e.update({'ASAN_OPTIONS': 'detect_leaks=0:abort_on_error=1', 'TSAN_OPTIONS': 'halt_on_error=1:abort_on_error=1:die_after_fork=0'})
        if nvtx:
            e['NVTX_INJECTION64_PATH'] = ARGS.collector
        if opts:
            e['TFPROF_OPTS'] = opts
        e.update(option.env)
        e.update(env or {})
        self.timeout = timeout * ARGS.slower
        self.process = subprocess.Popen(
            list(prefix) + ARGS.under + [ARGS.program] + list(words), stdin=popen.pop('stdin', subprocess.DEVNULL),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=preexec,
            env={k: v for k, v in e.items() if v is not None}, **popen)
        if wait:
            self.wait()

    def wait(self):
        try:
            out, err = self.process.communicate(timeout=self.timeout)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise Failed('no end in sight')
        self.rc, self.out, self.err = self.process.returncode, out.decode('utf-8', 'replace'), err.decode(
            'utf-8', 'replace')
        check(MARK not in self.out, self.out, self.err)
        return self

    def ok(self, rc=0, err=''):
        check(self.rc == rc, 'status', self.rc, 'is not', rc, self.out[-300:], self.err[-3000:], self.log())
        check(err is None or self.err == err, 'standard error:', self.err[-3000:])
        return self

    def spools(self, *how):
        return [Spool(p, *how) for p in sorted(glob.glob(self.folder + '/*.tfspool'))]

    def spool(self, *how):
        all_ = self.spools(*how)
        check(len(all_) == 1, len(all_), 'spools', self.log())
        return all_[0]

    def log(self):
        text = ''.join(open(p).read() for p in sorted(glob.glob(self.folder + '/*.log')) if not os.path.islink(p))
        if 'FAKE_FAIL' in option.env:  # failures that the option causes are not judged
            text = re.sub(r'(?m)^CUPTI does not report .*\n', '', text)
        return text

    def complete(self, kernels, calls=None):
        s = self.spool()
        check(s.complete and not s.end['damaged'], 'it has no end, or is damaged', s.end)
        check(s.n('KERNEL') == kernels, s.n('KERNEL'), 'kernels, not', kernels, self.log())
        check(calls is None or s.n('API') == calls, s.n('API'), 'calls, not', calls)
        return s

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
        if self.made:
            shutil.rmtree(self.folder, ignore_errors=True)


def settle(ms=300):
    """Returns the word that waits until all records are written: the writer has made some rounds without new records."""
    return 'settle:%d' % (ms * ARGS.pause)


def sleep(ms):
    return 'sleep:%d' % (ms * ARGS.pause)


# Times for runs that have to reach a state; a run that was too slow is repeated with a longer time.
LONGER = (1, 5, 25, 125)


def until(ready, what):
    """Waits until a condition is true, up to a generous limit."""
    end = time.monotonic() + 300
    while not ready():
        check(time.monotonic() < end, what)
        time.sleep(0.05)


def dormant(r, log, rc=0, kernels=0):
    """Asserts that the program ran as without the collector, and that the log gives the reason in one line."""
    r.ok(rc)
    lines = r.log().splitlines()
    check(len(lines) == 1 and log in lines[0], 'the log should say', repr(log), 'not', lines)
    for s in r.spools():
        check(s.n('KERNEL') == kernels, s.n('KERNEL'), 'kernels')
