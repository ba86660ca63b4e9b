#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector on a machine with a GPU: sixteen checks, each told as ok, FAILED or not run with what is missing.
Where there is no GPU it says so and ends well. What CUDA's driver and libcupti alone can do needs nothing else.

    make check-gpu                      all but what takes long
    make check-gpu T='01 09'            some
    make check-gpu OUT=folder           keeps raw buffers and figures there
    tests/gpu/run.py --long             the soak of 15 minutes, ten million graph nodes
"""
import argparse
import glob
import importlib.util
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import cuda

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


def find_cupti():
    """A libcupti for those checks that use it themselves."""
    roots = [os.environ.get('CUDA_HOME', ''), '/usr/local/cuda'] + sys.path
    below = ('extras/CUPTI/lib64', 'lib64', 'nvidia/cu13/lib', 'nvidia/cuda_cupti/lib')
    named = os.environ.get('TFPROF_CUPTI_PATH')
    all_ = [named] if named else [p for r in roots for b in below
                                  for p in sorted(glob.glob(os.path.join(r, b, 'libcupti.so.1*')))]
    return os.path.abspath(all_[0]) if all_ else None


class Session:
    """One run of work.py under the collector."""

    def __init__(self, *words, opts='', inject=True, rc=0, during=None, timeout=300):
        self.folder = tempfile.mkdtemp(prefix='tfprof-gpu-')
        env = dict(os.environ, TFPROF_SESSION=self.folder, TFPROF_OPTS=opts)
        if CUPTI:
            env['TFPROF_CUPTI_PATH'] = CUPTI
        if inject:
            env['CUDA_INJECTION64_PATH'] = env['NVTX_INJECTION64_PATH'] = COLLECTOR
        p = subprocess.Popen([sys.executable, os.path.join(HERE, 'work.py')] + [str(w) for w in words], env=env,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if during:
            during(self)
        try:
            out, err = p.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            raise Failed('no end in sight')
        self.out, self.err = out.decode(), err.decode()
        check(rc is None or p.returncode == rc, 'status', p.returncode, self.err[-1500:], self.log())
        self.said = json.loads(self.out.splitlines()[-1]) if self.out.strip() else None

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

    def done(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def of(rows, kind):
    return [r for r in rows if r['kind'] == kind]


def lost(rows, why):
    return sum(r['count'] for r in of(rows, 'LOST') if r['why'] == why)


# ---- checks ---------------------------------------------------------------------------------------
def c01_launches():
    s = Session('launches', 5000)
    end, rows = s.spool()
    kernels, calls = of(rows, 'KERNEL'), {a['correlation']: a for a in of(rows, 'API') if 'Launch' in a['name']}
    check(end['complete'] and len(kernels) == 5000, len(kernels), 'kernels', s.log())
    joined = [(k, calls[k['correlation']]) for k in kernels if k['correlation'] in calls]
    check(len(joined) == 5000, len(joined), 'kernels have their call; names:', {a['name'] for a in calls.values()})
    early = [k for k, a in joined if k['start'] < a['start']]
    check(not early, len(early), 'kernels begin before their call:', early[:2])
    check({a['tid'] for a in calls.values()} == {s.said['tid']}, 'thread ids', s.said)
    check(lost(rows, UNTIMED) == 0 and lost(rows, DROPPED) == 0, of(rows, 'LOST'))
    s.done()
    s = Session('copies', 20)
    end, rows = s.spool()
    check(end['COPY'] >= 60 and end['SET'] == 20, end)
    s.done()
    return 'names of calls: ' + ', '.join(sorted({a['name'] for a in calls.values()}))


def c02_times():
    s = Session('spins')
    rows = s.spool()[1]
    kernels = of(rows, 'KERNEL')[1:]
    check(len(kernels) == len(s.said), len(kernels), len(s.said))
    for (ns, by_events), k in zip(s.said, kernels):
        check(ns <= k['length'] <= ns * 1.02 + 20000, ns, 'ns of spinning were recorded as', k['length'])
        check(k['length'] <= by_events + 5000, 'events say', by_events, 'records', k['length'])
    s.done()
    return ', '.join('%d: %d' % (a[0], k['length']) for a, k in zip(s.said, kernels))


def c03_pytorch():
    need('torch')
    a, b = Session('torch_step', 20, 0), Session('torch_step', 20, 1, inject=False)
    rows = a.spool()[1]
    begin = [r['time'] for r in of(rows, 'RANGE') if r['name'] == 'measured'][0]
    calls = {x['correlation']: x['start'] for x in of(rows, 'API')}
    mine = [k for k in of(rows, 'KERNEL') if calls.get(k['correlation'], 0) >= begin]
    check(len(mine) == sum(b.said.values()), len(mine), 'kernels; torch.profiler saw', sum(b.said.values()))
    check(any(r['name'].startswith('aten::') for r in of(rows, 'RANGE')), 'no aten:: ranges')
    a.done(), b.done()
    return '%d kernels in both' % len(mine)


def c04_jax():
    need('jax')
    s = Session('jax_step')
    rows = s.spool()[1]
    domains = {r['domain'] for r in of(rows, 'RANGE')}
    check('TSL' in domains, 'domains', domains)
    s.done()
    return '%d ranges of TSL' % sum(r['domain'] == 'TSL' for r in of(rows, 'RANGE'))


def c05_libraries():
    have = [p for p in ('cupy', 'triton') if importlib.util.find_spec(p)]
    if not have:
        raise NotRun('the packages cupy and triton are missing')
    for p in have:
        s = Session('library', p)
        check(s.spool()[0]['KERNEL'] > 0, p, s.log())
        s.done()
    return ', '.join(have)


def c06_graphs():
    s = Session('graphs', 100, 200)
    end, rows = s.spool()
    nodes = [k for k in of(rows, 'KERNEL') if k['graph']]
    check(len(nodes) == 20000, len(nodes), 'nodes')
    check(len({k['correlation'] for k in nodes}) == 200, 'correlations', len({k['correlation'] for k in nodes}))
    bad = lost(rows, UNTIMED)
    check(bad == 0, bad, 'untimed')
    s.done()
    s = Session('graphs', 100, 200, opts='graphs=graph')
    end = s.spool()[0]
    check(end['GRAPH'] == 200 and end['KERNEL'] == 0, end)
    s.done()
    if not ARGS.long:
        return '20000 nodes; ten million with --long'
    s = Session('graphs', 1000, 10000, opts='max_size=64M', timeout=550)
    rows = s.spool()[1]
    n = len(of(rows, 'KERNEL')) + sum(r['count'] for r in of(rows, 'SUM') if r['what'] == 7)
    s.done()
    return '%d of 10000000 nodes, %d untimed, %d dropped' % (n, lost(rows, UNTIMED), lost(rows, DROPPED))


def c07_processes():
    for n in (2, 8):
        s = Session('many', n, 2000)
        all_ = [x for x in s.spools() if x[0]['KERNEL']]
        check(len(all_) == n, len(all_), 'spools')
        check(all(end['complete'] and end['KERNEL'] == 2000 for end, _ in all_), [e for e, _ in all_])
        check(len({d['uuid0'] for _, rows in all_ for d in of(rows, 'DEVICE') if d['id'] == 0}) == 1, 'devices differ')
        s.done()
    s = Session('forks')
    all_ = s.spools()
    check(len(all_) == 1 and all_[0][0]['complete'] and all_[0][0]['KERNEL'] == 200, [e for e, _ in all_])
    s.done()


def c08_ends():
    told = []
    for how, rc in (('return', 0), ('exit', 3), ('exception', 1), ('atexit', 0), ('reset', 0), ('_exit', 3), ('TERM', -15),
                    ('KILL', -9)):
        s = Session('ends', how, rc=rc)
        end, rows = s.spool()
        check(end['KERNEL'] >= 1000, how, end['KERNEL'], s.log())
        check(end['complete'] or how in ('_exit', 'TERM', 'KILL'), how, 'has no end')
        told.append('%s %d%s' % (how, end['KERNEL'], '' if end['complete'] else ' (no end)'))
        s.done()
    return ', '.join(told)


MATRIX = (('nothing', None), ('dormant', 'start=ctl'), ('kernels', 'level=kernels'), ('launches', 'level=launches'),
          ('full', 'level=full'), ('graph level', 'graphs=graph'))
WORK = (('empty', 100000), ('spin20', 20000), ('spin200', 3000), ('graph', 500))


def c09_overhead():
    runs, table = 7 if ARGS.long else 5, {}
    for what, n in WORK:
        seconds = {name: [] for name, _ in MATRIX}
        for _ in range(runs):  # interleaved, so that what drifts drifts for all
            for name, opts in MATRIX:
                s = Session('timed', what, n, opts=opts or '', inject=opts is not None)
                seconds[name].append(s.said)
                s.done()
        base = statistics.median(seconds['nothing'])
        table[what] = {name: {'seconds': x, 'median': statistics.median(x),
                              'percent': (statistics.median(x) / base - 1) * 100} for name, x in seconds.items()}
        print('    %-8s %8d: ' % (what, n) + ', '.join('%s %+.2f %%' % (k, v['percent']) for k, v in table[what].items()
                                                      if k != 'nothing') + '; %.4f s without' % base)
    keep('overhead.json', json.dumps(table, indent=1))
    over = [w for w in ('spin20', 'spin200') if table[w]['launches']['percent'] > 1]
    over += [w + ' dormant' for w in table if table[w]['dormant']['percent'] > 0.1]
    return 'over the mark: ' + ', '.join(over) if over else 'within 1 % from 20 us on, dormant within 0.1 %'


def c10_flush():
    told = []
    for ms in (100, 500, 1000):
        s = Session('busy', 5, 1, opts='flush=%d' % ms)
        told.append('%d ms: %d launches, %d MB' % (ms, s.said['launches'], max(s.said['resident']) >> 20))
        s.done()
    return '; '.join(told)


def c11_conflicts():
    if not CUPTI:
        raise NotRun('no libcupti was found; set TFPROF_CUPTI_PATH')
    s = Session('taken')
    check('another profiler has CUPTI' in s.log(), s.log(), s.out)
    s.done()
    tool = shutil.which('compute-sanitizer')
    return s.log().strip() + ('' if tool else '; compute-sanitizer is missing')


def c12_memory():
    s = Session('memory', 50, opts='mem')
    rows = of(s.spool()[1], 'MEMORY')
    taken = sum(r['bytes'] for r in rows if not r['freed'] and r['bytes'] == 1 << 20)
    check(taken == 50 << 20, taken >> 20, 'MB')
    s.done()


def c13_tiny_buffers():
    s = Session('busy', 2, opts='buffers=1,buffer_size=16k,flush=1000')
    end, rows = s.spool()
    n, gone = end['KERNEL'] + end['API'], lost(rows, DROPPED)
    check(end['complete'] and gone > 0, end, gone)
    s.done()
    return '%d recorded, %d dropped, of %d launches' % (n, gone, s.said['launches'])


def c14_start_and_stop():
    rounds = 100 if ARGS.long else 20

    def during(s):
        time.sleep(2)
        for _ in range(rounds):
            s.control('start')
            time.sleep(0.3)
            s.control('stop')
            time.sleep(0.5)
    s = Session('busy', 4 + rounds * 0.8, opts='start=ctl', during=during)
    end = s.spool()[0]
    check(end['complete'] and 0 < end['KERNEL'] < s.said['launches'], end, s.log())
    s.done()
    return '%d of %d kernels' % (end['KERNEL'], s.said['launches'])


def c15_soak():
    seconds = 900 if ARGS.long else 60
    s = Session('busy', seconds, seconds / 20, opts='max_size=256M', timeout=seconds + 120)
    said = s.said['resident']
    half = said[len(said) // 2]
    check(said[-1] < half * 1.05 + (8 << 20), 'memory grows:', [x >> 20 for x in said])
    s.done()
    return '%d s, %d launches, %d MB' % (seconds, s.said['launches'], said[-1] >> 20)


def c16_buffers():
    """First of all, where there is a GPU: short raw buffers of each kind, for tests without one."""
    if not CUPTI:
        raise NotRun('no libcupti was found; set TFPROF_CUPTI_PATH')
    with tempfile.TemporaryDirectory() as d:
        s = Session('buffers', d, inject=False)
        s.done()
        empty = [k for k, v in s.said.items() if isinstance(v, list) and (v[0] or not v[1]) and k != 'runtime']
        for p in glob.glob(d + '/*.bin'):
            keep(os.path.basename(p), open(p, 'rb').read())
        check('kernel' not in empty and 'driver' not in empty, s.said)
    return '%s%s' % (s.said, '' if ARGS.out else '; OUT=folder keeps them')


# ---- running --------------------------------------------------------------------------------------
def keep(name, content):
    if not ARGS.out:
        return
    os.makedirs(ARGS.out, exist_ok=True)
    with open(os.path.join(ARGS.out, name), 'wb' if isinstance(content, bytes) else 'w') as f:
        f.write(content)


def main():
    p = subprocess.run([sys.executable, '-c', 'import sys; sys.path.insert(0, %r); import cuda; sys.exit(not cuda.load())'
                        % HERE])
    if p.returncode:
        print('check-gpu: there is no GPU here (no libcuda.so.1, or it finds none): nothing was run')
        print('0 passed, 0 failed, 16 skipped')
        return 0
    checks = [f for n, f in sorted(globals().items()) if re.match(r'c\d\d_', n)]
    checks = checks[-1:] + checks[:-1]  # the buffers first
    n = {'ok': 0, 'FAILED': 0, 'not run': 0}
    for f in checks:
        if ARGS.checks and not any(c in f.__name__ for c in ARGS.checks):
            continue
        begin = time.time()
        try:
            word, text = 'ok', f() or ''
        except NotRun as e:
            word, text = 'not run', str(e)
        except Exception as e:
            word, text = 'FAILED', '%s: %s' % (type(e).__name__, e)
        n[word] += 1
        print('%-7s %s (%.0f s)%s' % (word, f.__name__[1:], time.time() - begin, ': ' + text if text else ''))
        sys.stdout.flush()
    print('%d passed, %d failed, %d skipped' % (n['ok'], n['FAILED'], n['not run']))
    return 1 if n['FAILED'] else 0


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--bin', default='build')
    p.add_argument('--dump', default='build/release/fakes/dump')
    p.add_argument('--out', default='', help='keeps raw buffers and figures there')
    p.add_argument('--long', action='store_true')
    p.add_argument('checks', nargs='*')
    ARGS = p.parse_args()
    ARGS.dump = os.path.abspath(ARGS.dump)
    COLLECTOR = os.path.abspath(os.path.join(ARGS.bin, 'libtfprof_cupti.so'))
    CUPTI = find_cupti()
    sys.exit(main())
