#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector in a program without a GPU: libtfprof_cupti.so under fakes of libcuda and libcupti. Tests are
numbered; the names of their functions begin with the number. The last line counts.

    tests/inject/run.py --bin build/check              all that is quick
    tests/inject/run.py --bin build/check t09 t16      some
    ... --long              more rounds, and what takes seconds
    ... --valgrind          under valgrind
    ... --san thread        what the build was sanitized with
"""
import argparse
import concurrent.futures
import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MARK = 'WRONG'
DROPPED, UNKNOWN, UNTIMED, RANGES, WRITE = range(5)
PUSH, POP, START, STOP, INSTANT = range(5)


class Failed(Exception):
    pass


def check(ok, *what):
    if not ok:
        raise Failed(' '.join(str(w) for w in what))


class Spool:
    """A spool as dump prints it."""

    def __init__(self, path, *how):
        p = subprocess.run([os.path.join(FAKES, 'dump')] + list(how) + [path], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, timeout=120, env=dict(os.environ, LC_ALL='C'))
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
        return sum(r['count'] for r in self.of('LOST') if r['why'] == why)

    @property
    def complete(self):
        return bool(self.end['complete'])


class Run:
    """The program, run to its end in a session folder."""

    def __init__(self, *words, opts='', env=None, folder=None, fakes=None, wait=True, nvtx=True, timeout=60,
                 prefix=(), preexec=None, **popen):
        self.made = folder is None
        self.folder = folder or tempfile.mkdtemp(prefix='tfprof-inject-')
        path = ':'.join([fakes] * bool(fakes) + [FAKES])
        e = {'PATH': os.environ['PATH'], 'LC_ALL': 'C', 'LD_LIBRARY_PATH': path, 'TFPROF_SESSION': self.folder,
             'CUDA_INJECTION64_PATH': COLLECTOR}
        # The program ends with threads at work, which is no leak.
        e.update({'ASAN_OPTIONS': 'detect_leaks=0:abort_on_error=1', 'TSAN_OPTIONS': 'halt_on_error=1:abort_on_error=1:die_after_fork=0'})
        if nvtx:
            e['NVTX_INJECTION64_PATH'] = COLLECTOR
        if opts:
            e['TFPROF_OPTS'] = opts
        e.update(env or {})
        self.timeout = timeout * SLOWER
        self.process = subprocess.Popen(
            list(prefix) + VALGRIND + [PROGRAM] + list(words), stdin=popen.pop('stdin', subprocess.DEVNULL),
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
        return ''.join(open(p).read() for p in sorted(glob.glob(self.folder + '/*.log'))
                       if not os.path.islink(p))

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


def dormant(r, log, rc=0, kernels=0):
    """The program ran as if we were not there, and the log says why in one line."""
    r.ok(rc)
    lines = r.log().splitlines()
    check(len(lines) == 1 and log in lines[0], 'the log should say', repr(log), 'not', lines)
    for s in r.spools():
        check(s.n('KERNEL') == kernels, s.n('KERNEL'), 'kernels')


# ---- A: what is known of records ------------------------------------------------------------------
def t01_offsets():
    """Offsets hold against CUDA's headers, where some are installed (others: tests/inject/real.py)."""
    roots = [os.environ.get('CUDA_HOME', '/usr/local/cuda')]
    dirs = [d for r in roots for d in (r + '/include', r + '/extras/CUPTI/include') if os.path.isdir(d)]
    if not any(os.path.exists(d + '/cupti.h') for d in dirs):
        return 'no CUDA headers are installed here'
    p = subprocess.run([CC, '-std=gnu11', '-I', ROOT + '/src', '-fsyntax-only', ROOT + '/tools/probe/cupti_layout.c'] +
                       [x for d in dirs for x in ('-isystem', d)], stderr=subprocess.PIPE)
    check(p.returncode == 0, p.stderr.decode()[:2000])


def t03_generations():
    """Kernel records of each length since CUDA 11 say the same."""
    for size in (160, 168, 176, 200, 208, 216):
        with Run('init', 'launch:4', 'graph:1:2', env={'FAKE_KERNEL_SIZE': str(size)}) as r:
            s = r.ok().complete(6)
            k = s.of('KERNEL')[1]
            check((k['name'], k['grid'], k['block'], k['registers'], k['stream'], k['length'], k['graph']) == (
                '_Z7softmaxPfi', 2, 128, 32, 7, 1000, 0), k)
            k = s.of('KERNEL')[5]
            check((k['graph'], k['node']) == (5, 2), k)
    for driver in ('13000', '12040', '11080'):
        with Run('init', 'launch:4', 'copies:2', 'state', env={'FAKE_DRIVER': driver}) as r:
            s = r.ok().complete(4, 12)
            check(s.n('COPY') == 6 and s.n('SET') == 2 and s.n('DEVICE') == 1, s.end)
            check(s.info['cupti'] in r.out, s.info, r.out)


def t04_calls():
    """Of the functions of runtime and driver, those that launch, copy, allocate or wait are kept."""
    with Run('init', 'launch:3', 'device:5', 'copies:1', 'memory:1', 'sync', 'profiler') as r:
        s = r.ok().complete(3)
        names = {x['name'] for x in s.of('API')}
        check('cuLaunchKernel' in names and 'cuMemAlloc_v2' in names and 'cuCtxSynchronize' in names, names)
        check('cuCtxGetDevice' not in names, names)
        check([m['what'] for m in s.of('MARK')] == [1, 2], s.of('MARK'))
    # Versions that can only switch all of them on: the rest is left out here.
    with Run('init', 'launch:3', 'device:5', 'state', env={'FAKE_DRIVER': '11080'}) as r:
        s = r.ok().complete(3, 3)
        check('single 0' in r.out, r.out)
    with Run('init', 'launch:3', 'device:5', opts='level=full') as r:
        r.ok().complete(3, 8)
    with Run('init', 'launch:3', 'device:5', opts='level=kernels') as r:
        r.ok().complete(3, 0)


# ---- B: life cycle --------------------------------------------------------------------------------
def t06_exit():
    for words, rc in ((['exit:3'], 3), ([], 0), (['quick:4'], 4)):
        with Run('init', 'push:step', 'launch:100', 'pop', *words) as r:
            s = r.ok(rc).complete(100, 100)
            check(s.n('RANGE') == 2 and not r.log(), s.end, r.log())
            check(s.info['pid'] == str(r.process.pid) and s.info['exe'] == PROGRAM or VALGRIND, s.info)


def t06_untouched():
    """A program that never calls the driver is left alone."""
    with Run('launch:10', 'say:hello', nvtx=False) as r:
        r.ok()
        check(r.out == 'hello\n' and not os.listdir(r.folder), r.out, os.listdir(r.folder))


def t06_header():
    env = {'RANK': '3', 'LOCAL_RANK': '1', 'SLURM_JOB_ID': '77', 'OMPI_COMM_WORLD_RANK': '3',
           'CUDA_VISIBLE_DEVICES': '0,1', 'TFPROF_JOB': 'train', 'SECRET_TOKEN': 'x'}
    with Run('init', 'launch', opts='level=launches,nvtx=1', env=env) as r:
        i = r.ok().complete(1).info
        for k, v in env.items():
            check(i.get('env.' + k) == (None if k.startswith('SECRET') else v), k, i)
        check(i['argv'].split('\0')[-2:] == ['init', 'launch'] and i['cwd'] == os.getcwd(), i)
        check(i['level'] == 'launches' and i['options'] == 'level=launches,nvtx=1' and i['driver'] == '13000', i)
        check(abs(int(i['start']) / 1e9 - time.time()) < 600 and int(i['pidns']) and i['host'], i)
        check({'libcupti', 'cupti', 'ppid'} <= set(i), i)


def t07_threads_at_exit():
    for words, rc in ((['background:3', 'sleep:50', 'exit:5'], 5), (['background:3', 'sleep:50'], 0),
                      (['background:2', 'sleep:20', 'thread-exit:6'], 6), (['launch:50', 'thread-exit:7'], 7)):
        with Run('init', *words) as r:
            s = r.ok(rc).spool()
            check(s.complete and s.n('KERNEL') > 0, s.end, r.log())


def t07_main_leaves():
    """The first thread ends by pthread_exit: the process must not live on because of our thread."""
    if SAN == 'thread':
        return 'the sanitizer has a thread of its own'
    with Run('init', 'launch:50', 'pthread-exit') as r:
        r.ok().complete(50)


ENDS = ['_exit:3', 'abort', 'raise:15', 'raise:9', 'quick:2']
END_STATUS = {'_exit:3': 3, 'abort': -6, 'raise:15': -15, 'raise:9': -9, 'quick:2': 2}


def t08_sudden_ends():
    """_exit, abort and signals: what was flushed is readable, and the status is the program's."""
    for end in ENDS:
        with Run('init', 'launch:500', 'sleep:250', end, opts='flush=50') as r:
            s = r.ok(END_STATUS[end]).spool()
            check(s.n('KERNEL') == 500 and not s.end['damaged'], end, s.end)
            check(s.complete == (end == 'quick:2'), end, s.end)


def t08_killed():
    """SIGKILL at any time: the file is readable, and complete up to the last flush."""
    def one(i):
        with Run('init', 'background:2', 'sleep:20000', opts='flush=20', wait=False) as r:
            time.sleep(random.Random(i).uniform(0.0, 0.5 * SLOWER))
            r.process.kill()
            r.wait()
            for s in r.spools():
                check(not s.complete and s.end['damaged'] < 2 << 20, s.end)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(100 if LONG else 8)))


def t09_fork():
    for words, spools in ((['fork:launch=5'], 1), (['fork:launch=5+fork=launch'], 1), (['fork-exec:launch:9'], 2),
                          (['vfork', 'spawn'], 1), (['fork:init+launch=5'], 1), (['fork:push=x+pop+_exit=0'], 1),
                          (['background:2', 'fork:launch', 'fork:launch', 'fork:init+launch+exit=0'], 1)):
        with Run('init', 'push:a', 'launch:100', *words, 'launch:20', 'pop', 'exit:3') as r:
            all_ = r.ok(3).spools()
            check(len(all_) == spools, words, len(all_), 'spools')
            mine = [s for s in all_ if s.info['pid'] == str(r.process.pid)]
            check(len(mine) == 1 and mine[0].complete and not mine[0].end['damaged'], words, [s.end for s in all_])
            check('background:2' in words or mine[0].n('KERNEL') == 120, words, mine[0].end)


def t09_child_begins_anew():
    """A child of a process that had ranges but no CUDA yet may use CUDA: it has a spool of its own."""
    with Run('push:parent', 'fork:init+push=child+launch=5+pop', 'pop', 'init', 'launch:3') as r:
        a, b = sorted(r.ok().spools(), key=lambda s: s.n('KERNEL'))
        check((a.n('KERNEL'), b.n('KERNEL')) == (3, 5) and a.complete and b.complete, a.end, b.end)
        check([x['name'] for x in b.of('RANGE')][0:1] == ['child'], b.of('RANGE'))


def t10_exec():
    with Run('init', 'launch:11', 'sleep:200', 'exec', opts='flush=50') as r:
        a, b = sorted(r.ok().spools(), key=lambda s: -s.n('KERNEL'))
        check((a.n('KERNEL'), b.n('KERNEL')) == (11, 7) and b.complete and not a.complete, a.end, b.end)
        check(a.info['pid'] == b.info['pid'] and r.out == 'second\n', a.info, r.out)


def t11_many_processes():
    folder = tempfile.mkdtemp(prefix='tfprof-inject-')
    try:
        n = 32 if LONG else 12
        runs = [Run('init', 'push:p', 'launch:2000', 'pop', folder=folder, wait=False) for _ in range(n)]
        for r in runs:
            r.wait().ok()
        spools = runs[0].spools()
        check(len(spools) == n, len(spools), 'spools')
        for s in spools:
            check(s.complete and s.n('KERNEL') == 2000 and not s.end['damaged'], s.end)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def t12_threads():
    rounds = 100 if LONG else 15
    with Run('init', 'churn:%d:10' % rounds, 'threads:8:500') as r:
        s = r.ok().complete(rounds * 40 + 4000)
        check(s.n('RANGE') == 2 * (rounds * 4 + 8), s.end)
        check(not s.lost(RANGES) and not s.lost(DROPPED), s.of('LOST'))


def t13_dlclose():
    with Run('init', 'push:a', 'dlclose', 'launch:10', 'pop', 'dlclose', 'launch:10') as r:
        r.ok().complete(20)


def t14_twice():
    with Run('init', 'launch:10', env={'FAKE_INJECT': '3'}) as r:
        r.ok().complete(10, 10)


def t15_no_session():
    for env in ({'TFPROF_SESSION': None}, {'TFPROF_SESSION': ''}, {'TFPROF_SESSION': '/no/such/folder'},
                {'TFPROF_SESSION': '/dev/null'}, {'CUDA_INJECTION64_PATH': 'none'},
                {'CUDA_INJECTION64_PATH': 'libtfprof_cupti.so'}, {'CUDA_INJECTION64_PATH': ''}):
        with Run('init', 'push:a', 'launch:10', 'pop', 'state', 'exit:3', env=env, nvtx='TFPROF_SESSION' in env) as r:
            r.ok(3)
            check(not os.listdir(r.folder) and r.out == 'no CUPTI\n', r.out, os.listdir(r.folder))


def t15_relative_session():
    with tempfile.TemporaryDirectory() as d, Run('init', 'launch:4', env={'TFPROF_SESSION': 'here'}, cwd=d,
                                                 folder=os.path.join(d, 'here'), wait=False) as r:
        r.wait().ok()
        check(not os.path.exists(d + '/here'))
    with tempfile.TemporaryDirectory() as d:
        os.mkdir(d + '/here')
        with Run('init', 'launch:4', env={'TFPROF_SESSION': 'here'}, cwd=d, folder=d + '/here') as r:
            r.ok().complete(4)


def t15_verbose():
    with Run('init', 'launch:4', opts='verbose', env={'FAKE_HOLDER': 'nsys'}) as r:
        dormant_line = 'tfprof: no GPU work is recorded: another profiler has CUPTI: CUPTI for nsys\n'
        r.ok(0, dormant_line)
    with Run('init', 'launch:4', opts='level=all,delay=x,colour') as r:
        s = r.ok().complete(4)
        check(r.log() == "TFPROF_OPTS: 'level=all' is not understood\n", r.log(), s.notes)


def unprivileged():
    """Runs as nobody, for whom a folder can be read-only."""
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


def t15_read_only_folder():
    with tempfile.TemporaryDirectory() as d:
        os.mkdir(d + '/s', 0o555)
        os.chmod(d, 0o755)
        if os.getuid() == 0 and not reachable_by_nobody():
            return 'the build folder cannot be reached without privileges'
        with Run('init', 'push:a', 'launch:10', 'pop', 'exit:3', folder=d + '/s',
                 preexec=unprivileged if os.getuid() == 0 else None) as r:
            r.ok(3)
            check(not os.listdir(d + '/s'), os.listdir(d + '/s'))


def reachable_by_nobody():
    p = subprocess.run(['true'] if os.getuid() else [PROGRAM], preexec_fn=None if os.getuid() else unprivileged,
                       env={'LD_LIBRARY_PATH': FAKES}, stderr=subprocess.DEVNULL)
    return p.returncode == 0


def t15_setuid():
    """A program with another's rights takes no notice of the environment."""
    if os.getuid() or VALGRIND or SAN:
        return 'needs root, and no sanitizer'
    # A folder where a set-user-ID bit counts; the loader drops LD_LIBRARY_PATH then, so all of it lies beside.
    with tempfile.TemporaryDirectory(dir=FAKES) as d:
        os.chmod(d, 0o755)
        os.mkdir(d + '/s', 0o777)
        os.chmod(d + '/s', 0o777)
        shutil.copy(PROGRAM, d + '/program')
        shutil.copy(FAKES + '/libcuda.so.1', d)
        os.chmod(d + '/program', 0o6755)
        if not reachable_by_nobody():
            return 'the build folder cannot be reached without privileges'
        p = subprocess.run([d + '/program', 'init', 'launch:5', 'exit:3'], preexec_fn=unprivileged, env={
            'CUDA_INJECTION64_PATH': COLLECTOR, 'TFPROF_SESSION': d + '/s'}, stderr=subprocess.PIPE)
        check(not os.listdir(d + '/s'), os.listdir(d + '/s'))
        check(p.returncode in (3, 127), p.returncode, p.stderr)


def t15_full_disk():
    with tempfile.TemporaryDirectory() as d:
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', d],
                          stderr=subprocess.DEVNULL).returncode:
            return 'no file system of 64 kB can be mounted here'
        try:
            with Run('init', 'threads:4:4000', 'sleep:200', 'launch:10', 'exit:3', folder=d, opts='flush=50') as r:
                s = r.ok(3).spool()
                check(not s.end['damaged'] and not s.complete, s.end)
        finally:
            subprocess.run(['umount', d])


def t15_file_size_limit():
    """SIGXFSZ would kill: the limit is not crossed, and the file ends with a whole block."""
    with Run('init', 'limit:FSIZE:20000', 'launch:3000', 'sleep:250', 'launch:10', 'exit:3', opts='flush=50') as r:
        s = r.ok(3).spool()
        check(not s.end['damaged'] and not s.complete and os.path.getsize(s.path) <= 20000, s.end)
        check('recording stopped after' in r.log() and 'File too large' in r.log(), r.log())
    with Run('limit:FSIZE:0', 'init', 'launch:10', 'exit:3') as r:
        r.ok(3)


def t15_few_descriptors():
    for n in (3, 4, 5, 6, 7, 12, 130):
        with Run('limit:NOFILE:%d' % n, 'init', 'push:a', 'launch:10', 'pop', 'exit:3') as r:
            r.ok(3)
            check(n < 12 or r.spool().complete, n)


def t15_little_memory():
    if VALGRIND or SAN:
        return 'sanitizers and valgrind need address space'
    for mb in range(8, 120, 8 if LONG else 16):
        with Run('limit:AS:%d' % (mb << 20), 'init', 'push:a', 'launch:1000', 'pop', 'exit:3') as r:
            check(r.rc == 3 or 'cannot' in r.err, mb, r.rc, r.err)
    with Run('init', 'limit:AS:%d' % (1 << 20), 'push:a', 'threads:0', 'launch:1000', 'pop', 'exit:3') as r:
        r.ok(3)


def t15_no_thread():
    if os.getuid() or VALGRIND or SAN or not reachable_by_nobody():
        return 'needs root, a reachable build folder, and no sanitizer'
    with tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o755)
        os.mkdir(d + '/s')
        os.chown(d + '/s', 65534, 65534)
        with Run('limit:NPROC:1', 'init', 'launch:10', 'exit:3', folder=d + '/s', preexec=unprivileged) as r:
            r.ok(3)
            check('no thread can be made' in r.log() or r.spools()[0].complete, r.log())


def t15_closed_standard_streams():
    """Descriptors 0 to 2 stay free for the program."""
    for close in ((0,), (1, 2), (0, 1, 2)):
        words = ['close:%d' % i for i in close] + ['init', 'push:a', 'launch:10', 'pop', 'exit:3']
        with Run(*words, env={'FAKE_HOLDER': 'x'} if 2 in close else {}) as r:
            r.ok(3)
            check(len(r.spools()) == 1)
    with Run('init', 'launch:10', 'fds', stdin=None, close_fds=True) as a, Run(
            'launch:10', 'fds', env={'CUDA_INJECTION64_PATH': None}, nvtx=False, stdin=None) as b:
        check(a.out == b.out, a.out, b.out)


def t15_descriptors_closed_by_program():
    """The program closes all descriptors and opens its own under those numbers: nothing is written there."""
    if SAN == 'thread':
        return 'the sanitizer does not like it'
    with tempfile.TemporaryDirectory() as d:
        with Run('init', 'launch:10', 'sleep:250', 'close-all', 'reopen:' + d + '/own', 'launch:1000', 'sleep:250',
                 'exit:3', opts='flush=50') as r:
            s = r.ok(3).spool()
            check(s.n('KERNEL') == 10 and not s.complete, s.end)
            check(os.path.getsize(d + '/own') == 0, 'we wrote into a file of the program')


def t15_log_name_taken():
    """A process that finds a log of its number there, or a link, makes another."""
    with tempfile.TemporaryDirectory() as d:
        with Run('sleep:300', 'init', 'exit:3', folder=d, env={'FAKE_HOLDER': 'nsys'}, wait=False) as r:
            os.symlink('/tmp/never-written', '%s/%d.log' % (d, r.process.pid))
            r.wait().ok(3)
            logs = [p for p in glob.glob(d + '/*.log') if not os.path.islink(p)]
            check(len(logs) == 1 and 'nsys' in open(logs[0]).read(), os.listdir(d))
            check(not os.path.exists('/tmp/never-written'))
            check(oct(os.stat(logs[0]).st_mode)[-3:] == '600')


# ---- C: how CUPTI behaves -------------------------------------------------------------------------
def t16_other_profiler():
    with Run('init', 'push:a', 'launch:10', 'pop', 'state', 'exit:3', env={'FAKE_HOLDER': 'Nsight Systems'}) as r:
        dormant(r, 'another profiler has CUPTI: CUPTI for Nsight Systems', 3)
        check(r.spool().n('RANGE') == 2 and 'subscribed 0' in r.out, r.out)
    with Run('init', 'launch:10', 'exit:3', env={'FAKE_HOLDER': 'x', 'FAKE_DRIVER': '12040'}) as r:
        dormant(r, 'another profiler has CUPTI', 3)


# What happens when a function fails: whether anything is recorded, and the number of kernels.
NEEDED = ['Subscribe', 'ActivityRegisterCallbacks', 'ActivityEnable:2:10', 'ActivityEnable:2:1', 'ActivityEnable:2:2']
SPARED = ['ActivityEnable:2:22', 'ActivityEnable:2:17', 'ActivityEnableAndDump', 'ActivitySetAttribute', 'Subscribe_v2',
          'SetThreadIdType', 'EnableCallback', 'GetCallbackName', 'GetResultString', 'GetTimestamp', 'GetVersion',
          'ActivityEnableRuntimeApi', 'ActivityEnableDriverApi', 'ActivityGetNumDroppedRecords', 'ActivityDisable',
          'Unsubscribe', 'ActivityEnable:2:49', 'ActivityEnable:2:38']


def t17_each_function_fails():
    for f in NEEDED:
        for code in ('1', '2', '15', '999') if LONG else ('2', '15'):
            word = f.replace(':2', ':' + code, 1) if ':' in f else f + ':' + code
            words = word + (',Subscribe_v2:' + code if f == 'Subscribe' else '')
            with Run('init', 'push:a', 'launch:10', 'pop', 'state', 'exit:3', env={'FAKE_FAIL': words}) as r:
                dormant(r, 'no GPU work is recorded', 3)
                check('subscribed 0 kinds 0 single 0' in r.out, words, r.out)
    for f in SPARED:
        for code in ('1', '999') if LONG else ('2',):
            word = f.replace(':2', ':' + code, 1) if ':' in f else f + ':' + code
            with Run('init', 'launch:10', 'exit:3', opts='sync,mem', env={'FAKE_FAIL': word}) as r:
                s = r.ok(3).complete(10)
                check(s.n('API') == 10, word, s.end)
    for code in ('1', '21'):
        with Run('init', 'launch:10', 'exit:3', env={'FAKE_FAIL': 'ActivityGetNextRecord:' + code}) as r:
            r.ok(3).complete(0)
        with Run('init', 'launch:10', 'exit:3', env={'FAKE_FAIL': 'ActivityFlushAll:' + code}) as r:
            check(r.ok(3).spool().complete)


def t18_missing_functions():
    with Run('init', 'launch:10', 'exit:3', fakes=os.path.join(FAKES, 'bare')) as r:
        s = r.ok(3).complete(10, 10)
        check({x['name'] for x in s.of('API')} == {'cu#307'}, s.of('API')[:2])
    with Run('init', 'launch:10', 'exit:3', fakes=os.path.join(FAKES, 'broken')) as r:
        dormant(r, 'has no function cuptiSubscribe', 3)
    with Run('init', 'launch:10', 'exit:3', env={'FAKE_DRIVER': '10020'}) as r:
        dormant(r, 'no libcupti for a driver of CUDA 10.2 was found; set TFPROF_CUPTI_PATH to one', 3)


def t19_no_buffers():
    """One small buffer: the rest is dropped and counted, by NULL or by makeshift buffers."""
    for driver in ('13000', '12040', '11080'):
        with Run('init', 'threads:4:2000', 'launch:10', 'exit:3', opts='buffers=1,buffer_size=16k',
                 env={'FAKE_DRIVER': driver}) as r:
            s = r.ok(3).spool()
            lost = s.lost(DROPPED)
            check(s.complete and lost > 0, driver, s.end, lost)
            # Makeshift buffers that are shared lose some uncounted.
            check(s.n('KERNEL') + s.n('API') + lost == 16020 or driver != '13000', s.end, lost)
            check('were dropped' in r.log(), r.log())


def t20_dropped():
    with Run('init', 'launch:1000', 'exit:3', env={'FAKE_DROPPED': '500'}) as r:
        s = r.ok(3).complete(1000)
        check(s.lost(DROPPED) >= 500 and any('were dropped' in n for n in s.notes), s.of('LOST'), s.notes)


def t21_odd_buffers():
    with Run('init', 'launch:100', 'exit:3', env={'FAKE_END': 'truncated'}) as r:
        r.ok(3).complete(99)
    with Run('init', 'launch:100', 'exit:3', env={'FAKE_END': 'empty'}) as r:
        r.ok(3).complete(0)
    with Run('init', 'launch:100', 'exit:3', env={'FAKE_END': 'unknown'}) as r:
        check(r.ok(3).complete(100).lost(UNKNOWN) >= 1)


def t22_odd_times():
    for times in ('zero', 'negative', 'huge'):
        with Run('init', 'launch:200', 'exit:3', env={'FAKE_TIMES': times}) as r:
            s = r.ok(3).complete(200, 200)
            check(s.lost(UNTIMED) == 200, s.of('LOST'))
            check(all(k['start'] == k['length'] == 0 for k in s.of('KERNEL')), s.of('KERNEL')[0])
            check('impossible times' in r.log(), r.log())
    with Run('init', 'launch:200', 'exit:3', env={'FAKE_TIMES': 'early'}) as r:
        s = r.ok(3).complete(200)
        check(not s.lost(UNTIMED) and s.of('KERNEL')[0]['start'] < s.of('API')[0]['start'], s.of('LOST'))


def t23_out_of_order():
    with Run('init', 'threads:6:3000', 'exit:3', opts='buffer_size=16k,flush=20', env={'FAKE_SHUFFLE': '1'}) as r:
        s = r.ok(3).spool()
        lost = s.lost(DROPPED)
        check(s.complete and s.n('KERNEL') + s.n('API') + lost == 36000, s.end, lost)
        if not lost:
            check(sorted(k['correlation'] for k in s.of('KERNEL')) == list(range(1, 18001)))


def t24_correlations_wrap():
    with Run('init', 'launch:20', 'exit:3', env={'FAKE_CORRELATION': '4294967290'}) as r:
        s = r.ok(3).complete(20)
        want = [(4294967290 + i) & 0xffffffff for i in range(1, 21)]
        check([k['correlation'] for k in s.of('KERNEL')] == want, s.of('KERNEL')[4:8])
    # Single functions yield no correlations: all calls are switched on, and still only some kept.
    with Run('init', 'launch:5', 'sleep:1300', 'device:3', 'launch:5', 'exit:3', opts='flush=50',
             env={'FAKE_UNCORRELATED': '1'}) as r:
        s = r.ok(3).complete(10, 10)
        check([bool(k['correlation']) for k in s.of('KERNEL')] == [False] * 5 + [True] * 5, s.of('KERNEL'))


def t25_threads():
    with Run('init', 'threads:32:1000', 'exit:3') as r:
        s = r.ok(3).complete(32000, 32000)
        tids = {a['tid'] for a in s.of('API')}
        check(len(tids) == 32 and tids == {x['tid'] for x in s.of('RANGE')}, len(tids))


def t26_cupti_fails():
    with Run('init', 'launch:100', 'sleep:250', 'launch:100', 'sleep:150', 'exit:3', opts='flush=50',
             env={'FAKE_FATAL': '150'}) as r:
        s = r.ok(3).spool()
        check(s.complete and 100 <= s.n('KERNEL') <= 150, s.end)
        check('CUPTI failed' in r.log() and len(r.log().splitlines()) == 1, r.log())


def t27_flush_hangs():
    """The exit of the program waits two seconds at most."""
    begin = time.time()
    with Run('init', 'launch:100', 'sleep:250', 'exit:3', opts='flush=50', env={'FAKE_BLOCK': '30'}) as r:
        s = r.ok(3).spool()
        check(s.n('KERNEL') == 100 and not s.complete and not s.end['damaged'], s.end)
        check(time.time() - begin < 25, 'it waited for the flush')


def t28_second_client():
    """Another client takes the buffers while the program goes on: a gap is noted, and its end."""
    with Run('init', 'launch:50', 'sleep:300', *(['launch:10', 'sleep:60'] * 12), 'launch:300', 'sleep:300', 'exit:3',
             opts='flush=20,silence=150', env={'FAKE_STEAL': '50:200'}) as r:
        s = r.ok(3).spool()
        check(s.complete and 50 < s.n('KERNEL') < 480, s.end)
        check(s.n('GAP') == 1 and s.of('GAP')[0]['to'] > s.of('GAP')[0]['from'], s.of('GAP'), s.notes)
        check('another profiler' in r.log() and 'records come again' in r.log(), r.log())
    with Run('init', 'launch:50', 'sleep:700', 'launch:50', 'sleep:100', opts='flush=20,silence=100') as r:
        check(not r.ok().complete(100).n('GAP') and not r.log(), r.log())  # it was idle


def t28_silent_kernels():
    with Run('init', 'launch:200', 'sleep:6500', 'exit:3', opts='flush=50', env={'FAKE_MUTE': '1'}) as r:
        check('may not know this GPU' in r.ok(3).log(), r.log())


t28_silent_kernels.slow = True


# ---- D: ranges ------------------------------------------------------------------------------------
def shape(s):
    return [(x['op'], x['domain'], x['name']) for x in s.of('RANGE')]


def t29_ranges():
    with Run('init', 'push:outer', 'mark:here', 'launch:3', 'ranges', 'pop:3', 'sleep:150') as r:
        s = r.ok().complete(3)
        got = shape(s)
        for want in ((PUSH, '', 'outer'), (INSTANT, '', 'here'), (PUSH, '', 'from the module'),
                     (PUSH, 'other', 'in a domain'), (POP, 'other', ''), (START, '', 'started here'), (STOP, '', ''),
                     (PUSH, 'TSL', 'Thunk:#name=dot.1,hlo_op=fusion.6#'), (PUSH, '', 'wide \u00e4\u20ac\U0001f600'),
                     (PUSH, '', 'with event'), (PUSH, '', 'left inside')):
            check(want in got, want, got)
        # Each pop has its push, one too many is left out; the range that its thread left has none.
        check(sum(g[0] == PUSH for g in got) == sum(g[0] == POP for g in got) + 1, got)
        ids = {x['op']: x['id'] for x in s.of('RANGE') if x['op'] in (START, STOP)}
        tids = {x['op']: x['tid'] for x in s.of('RANGE') if x['op'] in (START, STOP)}
        check(ids[START] == ids[STOP] and tids[START] != tids[STOP], ids, tids)
        check('named by NVTX' in [t['name'] for t in s.of('THREAD')], s.of('THREAD'))


def t29_ranges_alone():
    """Ranges need no driver: a program without CUDA has them recorded, and CUPTI is not touched."""
    with Run('push:a', 'pop', 'state') as r:
        s = r.ok().spool()
        check(s.complete and s.n('RANGE') == 2 and 'no CUPTI' in r.out, s.end, r.out)
    with Run('init', 'push:a', 'launch:2', 'pop', opts='nvtx=0') as r:
        check(r.ok().complete(2).n('RANGE') == 0)


def t29_deep():
    with Run('deep:1000', 'push:after', 'pop') as r:
        s = r.ok().spool()
        got = shape(s)
        check(got.count((PUSH, '', 'deep')) == 128 and len(got) == 2 * 129, len(got))
        check(got[-2:] == [(PUSH, '', 'after'), (POP, '', '')] and s.lost(RANGES) == 872, got[-3:], s.of('LOST'))


def t29_flood():
    """More than can be written: what is lost is counted, and pushes and pops still belong together."""
    n = 2000000 if LONG else 200000
    with Run('pairs:%d' % n) as r:
        s = r.ok().spool()
        ops = [x['op'] for x in s.of('RANGE')]
        check(s.complete and ops.count(PUSH) == ops.count(POP) and ops[:2] == [PUSH, POP], s.end)
        check(ops.count(PUSH) + s.lost(RANGES) == n, ops.count(PUSH), s.lost(RANGES))


def t30_names_verbatim():
    """What frameworks put into ranges arrives as it is; the reader takes it apart."""
    names = ['aten::linear, seq = 5, op_id = 12, sizes = [[2, 3], [3]]', 'XlaModule#prefix=jit(f)/layer,program_id=3#',
             'ProfilerStep#7', 'Optimizer.step#SGD.step', 'a/b\\"c\u00e4', 'x' * 9000]
    names = [n.replace(':', ';') for n in names]  # a colon separates arguments of the program
    with Run('init', *(w for n in names for w in ('push:' + n, 'pop'))) as r:
        got = [x['name'] for x in r.ok().spool().of('RANGE') if x['op'] == PUSH]
        check(got == names[:-1] + ['x' * 8192], got)


def t31_cost():
    """What a push and a pop cost (told, not judged)."""
    with Run('init', 'cost') as r:
        check('ns per pair' in r.ok().out, r.out)


# ---- starting and stopping ------------------------------------------------------------------------
def t50_late_start():
    with Run('init', 'launch:10', 'state', 'sleep:400', 'launch:20', 'state', 'exit:3', opts='delay=0.2') as r:
        s = r.ok(3).complete(20)
        check(r.out.startswith('no CUPTI') and 'subscribed 1' in r.out, r.out)
    with Run('init', 'push:a', 'launch:10', 'pop', 'sleep:500', 'state', 'push:b', 'launch:20', 'pop', 'exit:3',
             opts='duration=0.2') as r:
        s = r.ok(3).complete(10)
        check(s.n('RANGE') == 2 and 'subscribed 0 kinds 0' in r.out, s.of('RANGE'), r.out)


def t50_control():
    def say(r, word):
        with open(r.folder + '/control', 'a') as f:
            f.write('%d %s\n' % (time.time_ns(), word))

    rounds = 12 if LONG else 4
    pause = 0.45 * SLOWER
    with Run('init', 'background:2', 'sleep:%d' % int(1000 * (rounds * 2 + 2) * pause), 'exit:3', opts='start=ctl,flush=50',
             wait=False, timeout=300) as r:
        time.sleep(pause)
        check(r.spool('--count').n('KERNEL') == 0, 'it began too early')
        sizes = []
        for i in range(rounds):
            say(r, 'start')
            time.sleep(pause)
            say(r, 'flush')
            say(r, 'step a label')
            say(r, 'stop')
            time.sleep(pause)
            sizes.append(r.spool('--count').n('KERNEL'))
        s = r.wait().ok(3).spool('--count')
        check(sizes == sorted(set(sizes)) and sizes[0] > 0 and s.n('KERNEL') == sizes[-1] and s.complete, sizes, s.end)
        check(not r.log(), r.log())


def t50_detach():
    with Run('init', 'launch:10', 'sleep:700', 'launch:1', 'state', 'exit:3', opts='duration=0.2,detach') as r:
        r.ok(3).complete(10)
        check('subscribed 0' in r.out, r.out)


def t51_limit():
    """Behind the limit, exact sums by name take the place of records."""
    with Run('init', 'launch:20000', 'sleep:300', 'copies:100:4096', 'memory:3', 'exit:3', opts='max_size=64k,flush=50,mem') as r:
        s = r.ok(3).spool()
        sums = s.of('SUM')
        kernels = sum(x['count'] for x in sums if x['what'] == 7)
        check(s.complete and s.n('KERNEL') + kernels == 20000, s.n('KERNEL'), kernels)
        check(s.n('API') + sum(x['count'] for x in sums if x['what'] == 11) == 20406, s.end)
        check(sum(x['sum'] for x in sums if x['what'] == 7) == 1000 * kernels, sums)
        check(sum(x['bytes'] for x in sums if x['what'] == 8) == 300 * 4096, sums)
        check({x['name'] for x in sums} >= {'MemcpyHtoD', 'MemcpyDtoH', 'MemcpyPtoP', 'Memset', 'cuLaunchKernel'}, sums)
        check(s.lost(WRITE) == 6 and os.path.getsize(s.path) < 80 << 10, s.of('LOST'), os.path.getsize(s.path))
        check('size limit' in r.log(), r.log())


def t51_many_names():
    with Run('init', 'names:3000:7000', 'exit:3', timeout=120) as r:
        s = r.ok(3).complete(3000)
        names = {k['name'] for k in s.of('KERNEL')}
        check(len(names) == 3000 and any(n.startswith('name#') for n in names), len(names))
        check('too many different names' in r.log(), r.log())


def t51_graphs():
    with Run('init', 'graph:10:20', 'launch:5', 'exit:3', opts='graphs=graph') as r:
        s = r.ok(3).complete(5)
        check(s.n('GRAPH') == 10 and s.of('GRAPH')[0]['length'] == 20000, s.end)


def t51_step_signal():
    with Run('init', 'launch', 'raise:12', 'launch', 'raise:12', 'sleep:150', 'exit:3', opts='step_signal') as r:
        s = r.ok(3).complete(2)
        check([m['what'] for m in s.of('MARK')] == [0, 0], s.of('MARK'))
    with Run('init', 'raise:12', opts='') as r:
        r.ok(-signal.SIGUSR2)


def t51_context_ends():
    """What is recorded is fetched before its context goes away, and names of kernels are looked at anew."""
    with Run('init', 'launch:10', 'destroy', 'launch:10', 'reset', 'unload', 'launch:10', '_exit:3', opts='flush=10000') as r:
        check(r.ok(3).rc == 3)
    with Run('init', 'launch:10', 'destroy', 'sleep:250', '_exit:3', opts='flush=10000') as r:
        check(r.ok(3).spool().n('KERNEL') == 10)


# ---- G: the library -------------------------------------------------------------------------------
def t43_library():
    symbols = subprocess.run(['nm', '-D', '--defined-only', COLLECTOR], stdout=subprocess.PIPE).stdout.decode()
    names = {x.split()[-1] for x in symbols.splitlines()}
    check(names == {'InitializeInjection', 'InitializeInjectionNvtx2'}, names)
    dynamic = subprocess.run(['readelf', '-d', COLLECTOR], stdout=subprocess.PIPE).stdout.decode()
    needed = set(re.findall(r'NEEDED.*\[(.*)\]', dynamic))
    allowed = {'libc.so.6', 'libdl.so.2', 'libpthread.so.0', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'}
    check(needed <= allowed or SAN, needed)
    check('NODELETE' in dynamic and 'NOW' in dynamic, dynamic)
    segments = subprocess.run(['readelf', '-lW', COLLECTOR], stdout=subprocess.PIPE).stdout.decode()
    check(not re.search(r'^ *TLS ', segments, re.M) or SAN, 'it has thread-local storage')


def t44_one_cupti():
    """A copy that the program has loaded is taken, by whatever path."""
    with tempfile.TemporaryDirectory() as d:
        shutil.copy(FAKES + '/libcupti.so.13', d)
        other = os.path.join(d, 'libcupti.so.13')
        for words in (['load:' + other, 'init', 'launch:5'], ['init', 'launch:5']):
            with Run(*words, 'state') as r:
                s = r.ok().complete(5)
                check(s.info['libcupti'] == (other if len(words) == 3 else FAKES + '/libcupti.so.13'), s.info)
        # An older one that is loaded comes before a newer one that is not.
        with Run('load:' + FAKES + '/libcupti.so.12', 'init', 'launch:5') as r:
            check(r.ok().complete(5).info['cupti'] == '28')
        with Run('init', 'launch:5', env={'TFPROF_CUPTI_PATH': other}) as r:
            check(r.ok().complete(5).info['libcupti'] == other)
        with Run('init', 'launch:5', env={'TFPROF_CUPTI_PATH': d}) as r:
            check(r.ok().complete(5).info['libcupti'] == other)


# ---- running --------------------------------------------------------------------------------------
def one(f):
    begin = time.time()
    try:
        why = f()
        return f.__name__, 'skip' if why else 'ok', why or '', time.time() - begin
    except Failed as e:
        return f.__name__, 'FAILED', str(e), time.time() - begin
    except Exception as e:  # a broken test is a failed one
        return f.__name__, 'FAILED', '%s: %s' % (type(e).__name__, e), time.time() - begin


def main():
    tests = [f for n, f in sorted(globals().items()) if re.match(r't\d\d_', n)]
    tests = [f for f in tests if ARGS.tests or LONG or not getattr(f, 'slow', False)]
    if ARGS.tests:
        tests = [f for f in tests if any(f.__name__.startswith(t) or t in f.__name__ for t in ARGS.tests)]
    n = {'ok': 0, 'FAILED': 0, 'skip': 0}
    with concurrent.futures.ThreadPoolExecutor(ARGS.jobs) as pool:
        for name, word, why, seconds in pool.map(one, tests):
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
    p.add_argument('--times', action='store_true', help='tell how long each test took')
    p.add_argument('--jobs', type=int, default=4)
    p.add_argument('tests', nargs='*')
    ARGS = p.parse_args()
    BIN = os.path.abspath(ARGS.bin)
    FAKES = os.path.join(BIN, 'fakes')
    PROGRAM = os.path.join(FAKES, 'program')
    COLLECTOR = os.path.join(BIN, 'libtfprof_cupti.so')
    CC = os.environ.get('CC', 'cc')
    SAN, LONG = ARGS.san, ARGS.long
    SLOWER = 10 if ARGS.valgrind else 3 if SAN else 1
    VALGRIND = ['valgrind', '-q', '--error-exitcode=77', '--trace-children=no'] if ARGS.valgrind else []
    sys.exit(main())
