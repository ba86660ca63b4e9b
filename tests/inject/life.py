# SPDX-License-Identifier: Apache-2.0
"""Layouts of records and functions; start, fork and end of processes; choice of the library."""
import concurrent.futures
import glob
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time

from rig import ARGS, DROPPED, LONGER, RANGES, ROOT, Failed, Run, Spool, check, dormant, settle


# ---- records and functions ------------------------------------------------------------------------
def t01_offsets():
    """Offsets equal those of CUDA's headers, if some are installed (headers of packages: tests/inject/real.py)."""
    root = os.environ.get('CUDA_HOME', '/usr/local/cuda')
    dirs = [d for d in (root + '/include', root + '/extras/CUPTI/include') if os.path.isdir(d)]
    if not any(os.path.exists(d + '/cupti.h') for d in dirs):
        return 'no CUDA headers are installed here'
    p = subprocess.run([ARGS.cc, '-std=gnu11', '-I', ROOT + '/src', '-fsyntax-only', ROOT + '/tools/probe/cupti_layout.c'] +
                       [x for d in dirs for x in ('-isystem', d)], stderr=subprocess.PIPE)
    check(p.returncode == 0, p.stderr.decode()[:2000])


def t03_generations():
    """Kernel records of each length since CUDA 11 are read alike; older ones are refused."""
    with Run('init', 'launch:4', 'exit:3', env={'FAKE_KERNEL_SIZE': '144', 'FAKE_API': '12'}) as r:
        dormant(r, 'is older than CUDA 11', 3)
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
    """Only functions of runtime and driver that launch, copy, allocate or wait are kept."""
    with Run('init', 'launch:3', 'device:5', 'copies:1', 'memory:1', 'sync', 'profiler') as r:
        s = r.ok().complete(3)
        names = {x['name'] for x in s.of('API')}
        check('cuLaunchKernel' in names and 'cuMemAlloc_v2' in names and 'cuCtxSynchronize' in names, names)
        check('cuCtxGetDevice' not in names, names)
        check([m['what'] for m in s.of('MARK')] == [1, 2], s.of('MARK'))
    with Run('init', 'calls') as r:
        on = set(r.ok().out.split())
        want = {'2:%d' % i for i in (211, 214, 269, 311, 430, 505, 506, 31)} | {
            '1:%d' % i for i in (307, 442, 477, 514, 520, 652, 276, 278, 407, 267, 243, 245, 17, 308, 309)}
        check(on == want, 'switched on that need not be:', on - want, 'not switched on:', want - on)
    # Some versions can only enable all functions: the others are dropped by the collector.
    with Run('init', 'launch:3', 'device:5', 'state', env={'FAKE_DRIVER': '11080'}) as r:
        s = r.ok().complete(3, 3)
        check('single 0' in r.out, r.out)
    with Run('init', 'launch:3', 'device:5', opts='level=full') as r:
        r.ok().complete(3, 8)
    with Run('init', 'launch:3', 'device:5', opts='level=kernels') as r:
        r.ok().complete(3, 0)


# ---- life cycle -----------------------------------------------------------------------------------
def t06_exit():
    for words, rc in ((['exit:3'], 3), ([], 0), (['quick:4'], 4)):
        with Run('init', 'push:step', 'launch:100', 'pop', *words) as r:
            s = r.ok(rc).complete(100, 100)
            check(s.n('RANGE') == 2 and not r.log(), s.end, r.log())
            check(s.info['pid'] == str(r.process.pid) and s.info['exe'] == ARGS.program or ARGS.valgrind, s.info)


def t06_untouched():
    """A program that never calls the driver is not touched."""
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
    for words, rc in ((['background:3', 'exit:5'], 5), (['background:3'], 0),
                      (['background:2', 'thread-exit:6'], 6), (['launch:50', 'thread-exit:7'], 7)):
        with Run('init', *words) as r:
            s = r.ok(rc).spool()
            check(s.complete and s.n('KERNEL') > 0, s.end, r.log())


def t07_main_leaves():
    """If the first thread ends by pthread_exit, the collector's thread does not keep the process alive."""
    with Run('init', 'launch:50', 'exit-later:%d:7' % (300 * ARGS.pause), 'pthread-exit') as r:
        r.ok(7).complete(50)
    if ARGS.san == 'thread':
        return  # one of its threads never ends
    with Run('init', 'launch:50', 'pthread-exit') as r:
        r.ok().complete(50)


ENDS = ['_exit:3', 'abort', 'raise:15', 'raise:9', 'quick:2']
END_STATUS = {'_exit:3': 3, 'abort': -6, 'raise:15': -15, 'raise:9': -9, 'quick:2': 2}


def t08_sudden_ends():
    """After _exit, abort and signals, flushed records are readable, and the exit status is the program's."""
    for end in ENDS:
        with Run('init', 'launch:500', settle(), end, opts='flush=50') as r:
            s = r.ok(END_STATUS[end]).spool()
            check(s.n('KERNEL') == 500 and not s.end['damaged'], end, s.end)
            check(s.complete == (end == 'quick:2'), end, s.end)


def t08_short_workers():
    """The first flush comes soon after the first launches, and again after a pause, however far apart later ones are: a short
    process that ends by _exit has most of its records."""
    for longer in LONGER[:3]:
        wait = settle(300 * longer)
        with Run('init', 'launch:100', wait, 'launch:50', wait, '_exit:3', opts='flush=1000000,silence=1000000') as r:
            s = r.ok(3).spool()
            check(not s.complete and not s.end['damaged'] and s.end['launches'] == 150, s.end)
            if s.n('KERNEL') == 150:
                return
    raise Failed('%d of 150 kernels' % s.n('KERNEL'))


# Ways in which a process may end at any time, with the status.
AT_ANY_TIME = (('_exit:3', None, 3), ('quick:2', None, 2), ('abort', None, -6), (None, signal.SIGTERM, -15),
               (None, signal.SIGKILL, -9), (None, signal.SIGABRT, -6))


def ended(i):
    """A process that launches without end is killed: its recording is readable, and contains all records up to the last flush
    but one, because the last flush begins only after earlier records were written."""
    word, sent, status = AT_ANY_TIME[i % len(AT_ANY_TIME)]
    later = random.Random(i).uniform(0.2, 1.8) * ARGS.slower
    with tempfile.TemporaryDirectory() as d:
        words = ['init', 'counted:' + d + '/count'] + (['sleep:%d' % (later * 1000), word] if word else ['sleep:2000000'])
        with Run(*words, opts='flush=200', wait=False) as r:
            if sent:
                time.sleep(later)
                r.process.send_signal(sent)
            r.wait().ok(status)
            if not os.path.exists(d + '/count') or not r.spools('--count'):
                return check(sent, 'it did not even begin')  # the signal arrived first
            s = r.spool('--count')
            count = struct.unpack('<%dQ' % (os.path.getsize(d + '/count') // 8), open(d + '/count', 'rb').read())
        by_flushes = [(flushes, n) for flushes, n in enumerate(count[1:]) if n]
        last = 3 if word == 'quick:2' else 2  # a normal end has a flush, a stop, and two more
        safe = max([n for flushes, n in by_flushes if flushes <= by_flushes[-1][0] - last] or [0])
        check(safe <= s.n('KERNEL') <= count[0] + 1, i, s.n('KERNEL'), 'kernels; launched', count[0], 'flushed', safe)
        check(s.end['damaged'] < 2 << 20 and s.complete == (word == 'quick:2'), i, s.end)


def t08_ended_at_any_time():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(ended, range(102 if ARGS.long else 12 if not ARGS.valgrind else 6)))


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
    """The child of a process that had ranges but did not use CUDA yet may use CUDA, and gets a recording of its own."""
    with Run('push:parent', 'fork:init+push=child+launch=5+pop', 'pop', 'init', 'launch:3') as r:
        a, b = sorted(r.ok().spools(), key=lambda s: s.n('KERNEL'))
        check((a.n('KERNEL'), b.n('KERNEL')) == (3, 5) and a.complete and b.complete, a.end, b.end)
        check([x['name'] for x in b.of('RANGE')][0:1] == ['child'], b.of('RANGE'))


def t10_exec():
    with Run('init', 'launch:11', settle(), 'exec', opts='flush=50') as r:
        a, b = sorted(r.ok().spools(), key=lambda s: -s.n('KERNEL'))
        check((a.n('KERNEL'), b.n('KERNEL')) == (11, 7) and b.complete and not a.complete, a.end, b.end)
        check(a.info['pid'] == b.info['pid'] and r.out == 'second\n', a.info, r.out)


def t11_many_processes():
    folder = tempfile.mkdtemp(prefix='tfprof-inject-')
    try:
        n = 32 if ARGS.long else 12
        runs = [Run('init', 'push:p', 'launch:2000', 'pop', folder=folder, wait=False) for _ in range(n)]
        for r in runs:
            r.wait().ok()
        spools = runs[0].spools()
        check(len(spools) == n, len(spools), 'spools')
        for s in spools:
            check(s.complete and s.n('KERNEL') == 2000 and not s.end['damaged'], s.end)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def t11_short_processes():
    """Many processes, several at a time: each has a complete recording of its own."""
    folder = tempfile.mkdtemp(prefix='tfprof-inject-')
    n = 1000 if ARGS.long else 16 if ARGS.valgrind else 60
    try:
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            runs = list(pool.map(lambda i: Run('init', 'launch:%d' % (i % 5), folder=folder).ok(), range(n)))
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            spools = list(pool.map(lambda p: Spool(p, '--count'), glob.glob(folder + '/*.tfspool')))
        check(len(spools) == len(runs) == n, len(spools), 'spools')
        check(all(s.complete for s in spools) and sum(s.n('KERNEL') for s in spools) == sum(i % 5 for i in range(n)))
        check(not runs[0].log(), runs[0].log())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def t12_threads():
    rounds = 100 if ARGS.long else 15
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


# ---- the library ----------------------------------------------------------------------------------
def t43_library():
    symbols = subprocess.run(['nm', '-D', '--defined-only', ARGS.collector], stdout=subprocess.PIPE).stdout.decode()
    names = {x.split()[-1] for x in symbols.splitlines()}
    check(names == {'InitializeInjection', 'InitializeInjectionNvtx2'}, names)
    dynamic = subprocess.run(['readelf', '-d', ARGS.collector], stdout=subprocess.PIPE).stdout.decode()
    needed = set(re.findall(r'NEEDED.*\[(.*)\]', dynamic))
    allowed = {'libc.so.6', 'libdl.so.2', 'libpthread.so.0', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'}
    check(needed <= allowed or ARGS.san, needed)
    check('NODELETE' in dynamic and 'NOW' in dynamic, dynamic)
    segments = subprocess.run(['readelf', '-lW', ARGS.collector], stdout=subprocess.PIPE).stdout.decode()
    check(not re.search(r'^ *TLS ', segments, re.M) or ARGS.san, 'it has thread-local storage')


def t44_one_cupti():
    """A copy of libcupti that the program has loaded is used, whatever its path."""
    with tempfile.TemporaryDirectory() as d:
        shutil.copy(ARGS.fakes + '/libcupti.so.13', d)
        other = os.path.join(d, 'libcupti.so.13')
        for words in (['load:' + other, 'init', 'launch:5'], ['init', 'launch:5']):
            with Run(*words, 'state') as r:
                s = r.ok().complete(5)
                check(s.info['libcupti'] == (other if len(words) == 3 else ARGS.fakes + '/libcupti.so.13'), s.info)
        # A loaded older copy is preferred to a newer one that is not loaded.
        with Run('load:' + ARGS.fakes + '/libcupti.so.12', 'init', 'launch:5') as r:
            check(r.ok().complete(5).info['cupti'] == '28')
        with Run('init', 'launch:5', env={'TFPROF_CUPTI_PATH': other}) as r:
            check(r.ok().complete(5).info['libcupti'] == other)
        with Run('init', 'launch:5', env={'TFPROF_CUPTI_PATH': d}) as r:
            check(r.ok().complete(5).info['libcupti'] == other)
