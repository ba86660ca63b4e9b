# SPDX-License-Identifier: Apache-2.0
"""Checks on a GPU that recordings are correct."""
import collections
import os
import shutil
import subprocess
import sys
import tempfile

import cuda
from rig import ARGS, DROPPED, HERE, UNTIMED, NotRun, Session, check, few, lost, need, of, parts


# ---- 01: launches ---------------------------------------------------------------------------------
def exact(s, n, tid=None):
    """All kernels are recorded, each with its call, which began earlier. Returns the calls by name."""
    end, rows = s.spool()
    kernels = of(rows, 'KERNEL')
    calls = collections.defaultdict(list)
    for a in of(rows, 'API'):
        if 'Launch' in a['name']:
            calls[a['correlation']].append(a)
    check(end['complete'] and len(kernels) == n, len(kernels), 'kernels, not', n, s.log())
    check(all(k['correlation'] in calls for k in kernels), 'kernels without their call')
    early = [k for k in kernels if k['start'] < min(a['start'] for a in calls[k['correlation']])]
    check(not early, len(early), 'kernels begin before their call:', early[:2])
    tids = {a['tid'] for c in calls.values() for a in c}
    check(tid is None or tids == {tid}, 'thread ids', tids, tid)
    check(lost(rows, UNTIMED) == 0 and lost(rows, DROPPED) == 0, of(rows, 'LOST'))
    both = sum(len(c) > 1 for c in calls.values())
    return '%s%s' % (', '.join(sorted({a['name'] for c in calls.values() for a in c})),
                     ' (%d launches have a record of the driver too)' % both if both else '')


def by(how):
    n = few(5000)
    with Session('launches', n, how) as s:
        return how + ': ' + exact(s, n, s.said['tid'])


def by_nvcc():
    nvcc = shutil.which('nvcc') or os.path.join(os.environ.get('CUDA_HOME', '/usr/local/cuda'), 'bin/nvcc')
    if not os.path.exists(nvcc):
        raise NotRun('nvcc is missing')
    with tempfile.TemporaryDirectory() as d:
        p = subprocess.run([nvcc, '-o', d + '/launch', os.path.join(HERE, 'launch.cu')], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
        check(p.returncode == 0, 'nvcc:', p.stdout.decode()[-500:])
        with Session(str(few(5000)), prefix=[d + '/launch']) as s:
            return 'nvcc: ' + exact(s, few(5000))


def copies():
    with Session('copies', 20) as s:
        end = s.spool()[0]
        check(end['COPY'] >= 60 and end['SET'] == 20, end)
        return '%d copies' % end['COPY']


def c01_launches():
    return parts(lambda: by('plain'), lambda: by('ex'), lambda: by('runtime'), by_nvcc, copies)


# ---- 02: times ------------------------------------------------------------------------------------
def c02_times():
    with Session('spins') as s:
        kernels = of(s.spool()[1], 'KERNEL')[1:]
        check(len(kernels) == len(s.said), len(kernels), len(s.said))
        for (ns, by_events), k in zip(s.said, kernels):
            check(ns <= k['length'] <= ns * 1.02 + 20000, ns, 'ns of spinning were recorded as', k['length'])
            check(k['length'] <= by_events + 5000, 'events say', by_events, 'records', k['length'])
        return ', '.join('%d: %d' % (a[0], k['length']) for a, k in zip(s.said, kernels))


# ---- 03 to 05: frameworks and libraries -----------------------------------------------------------
def c03_pytorch():
    """Compares kernels with a separate run of torch.profiler: names are spelled differently, counts are equal."""
    need('torch')
    with Session('torch_step', few(20), 0) as a, Session('torch_step', few(20), 1, inject=False) as b:
        rows = a.spool()[1]
        begin = [r['time'] for r in of(rows, 'RANGE') if r['name'] == 'measured'][0]
        calls = {x['correlation']: x['start'] for x in of(rows, 'API')}
        mine = [k for k in of(rows, 'KERNEL') if calls.get(k['correlation'], 0) >= begin]
        counts = sorted(collections.Counter(k['name'] for k in mine).values())
        check(counts == sorted(b.said.values()), 'kernels by name', counts, '; torch.profiler saw', sorted(b.said.values()))
        check(any(r['name'].startswith('aten::') for r in of(rows, 'RANGE')), 'no aten:: ranges')
        return '%d kernels of %d names in both' % (len(mine), len(counts))


def c04_jax():
    need('jax')
    with Session('jax_step') as s:
        rows = s.spool()[1]
        domains = {r['domain'] for r in of(rows, 'RANGE')}
        check('TSL' in domains, 'domains', domains)
        scoped = [r['name'] for r in of(rows, 'RANGE') if 'layer' in r['name']]
        check(scoped, 'no range has the named scope', sorted({r['name'] for r in of(rows, 'RANGE')})[:9])
        told = '%d ranges of TSL, %s' % (sum(r['domain'] == 'TSL' for r in of(rows, 'RANGE')), scoped[0])
    with Session('jax_step', 1) as s:
        return told + '; with jax.profiler in the same run %d kernels: %s' % (s.spool()[0]['KERNEL'], s.log().strip() or 'no remark')


def library(name, package):
    if package:
        need(name)
    elif not cuda.find(name):
        raise NotRun(name + ' is missing')
    with Session('library', name) as s:
        rows = s.spool()[1]
        kernels = of(rows, 'KERNEL')
        check(kernels, name, s.log())
        return '%s: %d kernels, %s' % (name, len(kernels), ', '.join(sorted(
            {a['name'] for a in of(rows, 'API') if 'Launch' in a['name']})))


def c05_libraries():
    return parts(*(lambda n=n, p=p: library(n, p) for n, p in (
        ('libcublas', False), ('libcudnn', False), ('cupy', True), ('triton', True))))


# ---- 06: graphs -----------------------------------------------------------------------------------
def c06_graphs():
    n = few(200)
    with Session('graphs', 100, n) as s:
        rows = s.spool()[1]
        nodes = [k for k in of(rows, 'KERNEL') if k['graph']]
        check(len(nodes) == 100 * n, len(nodes), 'nodes')
        check(len({k['correlation'] for k in nodes}) == n, 'correlations', len({k['correlation'] for k in nodes}))
        check(lost(rows, UNTIMED) == 0, lost(rows, UNTIMED), 'untimed')
    with Session('graphs', 100, n, opts='graphs=graph') as s:
        end = s.spool()[0]
        check(end['GRAPH'] == n and not [k for k in of(s.spool()[1], 'KERNEL') if k['graph']], end)
    told = '%d nodes' % (100 * n)

    def start(s, p):
        p.stdout.readline()
        s.control('start')
        s.wait_for('cupti')
        p.stdin.write(b'go\n')
        p.stdin.flush()
    with Session('graphs', 100, n, 'early', opts='start=ctl', during=start) as s:
        told += '; of %d of a graph made before the start %d' % (100 * n, s.spool()[0]['KERNEL'])
    if not ARGS.long:
        return told + '; ten million with --long'
    with Session('graphs', few(1000), few(10000), opts='max_size=64M', timeout=550) as s:
        rows = s.spool()[1]
        n = len(of(rows, 'KERNEL')) + sum(r['count'] for r in of(rows, 'SUM') if r['what'] == 7)
        return told + '; %d of %d nodes, %d untimed, %d dropped, the GPU lost %d MB' % (
            n, few(1000) * few(10000), lost(rows, UNTIMED), lost(rows, DROPPED), s.said['grown'] >> 20)


# ---- 07: processes --------------------------------------------------------------------------------
def working(s):
    return [x for x in s.spools() if x[0]['KERNEL']]


def many():
    for n in (2, 8):
        with Session('many', n, few(2000)) as s:
            all_ = working(s)
            check(len(all_) == n, len(all_), 'spools')
            check(all(end['complete'] and end['KERNEL'] == few(2000) for end, _ in all_), [e for e, _ in all_])
            check(len({d['uuid0'] for _, rows in all_ for d in of(rows, 'DEVICE') if d['id'] == 0}) == 1, 'devices differ')
            p = subprocess.run([ARGS.program, 'gpu', s.folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            check(p.returncode == 0 and b'%d processes' % n in p.stdout + p.stderr, p.returncode, p.stdout.decode()[:800])
    return '2 and 8 processes, and the view of their GPU'


def children():
    with Session('forks') as s:
        all_ = s.spools()
        check(len(all_) == 1 and all_[0][0]['complete'] and all_[0][0]['KERNEL'] == 200, [e for e, _ in all_])
    for how in ('spawn', 'forkserver'):
        with Session('workers', how, few(1000)) as s:
            check([e['KERNEL'] for e, _ in working(s)] == [few(1000)] * 2, how, [e for e, _ in s.spools()])
    return 'fork, spawn, forkserver'


def loaders():
    need('torch')
    with Session('loader', 50) as s:
        check(len(working(s)) == 1 and working(s)[0][0]['complete'], [e for e, _ in s.spools()])
    return 'a data loader'


def ranks():
    need('torch')
    words = [sys.executable, '-m', 'torch.distributed.run', '--nproc-per-node=2', os.path.join(HERE, 'work.py')]
    with Session('rank', prefix=words) as s:
        found = {r['value'] for _, rows in working(s) for r in of(rows, 'INFO') if r['key'] == 'env.RANK'}
        check(found == {'0', '1'}, found)
    return 'two ranks'


def c07_processes():
    return parts(many, children, loaders, ranks)


# ---- 08: ends -------------------------------------------------------------------------------------
def c08_ends():
    told = []
    for how, rc in (('return', 0), ('exit', 3), ('exception', 1), ('atexit', 0), ('reset', 0), ('_exit', 3), ('TERM', -15),
                    ('KILL', -9)):
        with Session('ends', how, rc=rc) as s:
            end = s.spool()[0]
            check(end['KERNEL'] >= 1000, how, end['KERNEL'], s.log())
            check(end['complete'] or how in ('_exit', 'TERM', 'KILL'), how, 'has no end')
            told.append('%s %d%s' % (how, end['KERNEL'], '' if end['complete'] else ' (no end)'))
    return ', '.join(told)
