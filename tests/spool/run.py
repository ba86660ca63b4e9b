#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Spools as profiles: makes recordings with spool_make, asks the program, checks the answers against
what was put in. A check is a function check_NAME; its first line says what must hold.

    tests/spool/run.py --program build/tfprof --make build/check/spool_make [NAME...]
"""
import argparse
import csv
import inspect
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
T0 = 1700000000000000000
US = 1000


class Spool:
    """The script of one process's spool."""

    def __init__(self, **info):
        self.lines, self.correlation = [], 0
        for key, value in dict({'pid': 1}, **info).items():
            self.add('info', key=key.replace('env_', 'env.'), value=value)

    def add(self, word, **pairs):
        self.lines.append(' '.join([word] + ['%s="%s"' % x if isinstance(x[1], str) else '%s=%d' % x
                                             for x in pairs.items()]))
        return self

    def push(self, at, name, tid=1, **more):
        return self.add('push', start=T0 + at, name=name, tid=tid, **more)

    def pop(self, at, tid=1, **more):
        return self.add('pop', start=T0 + at, tid=tid, **more)

    def launch(self, at, name='gemm', length=5000, tid=1, late=10000, call=2000, word='kernel', api='cudaLaunchKernel',
               correlation=None, **more):
        if correlation is None:
            self.correlation += 1
            correlation = self.correlation
        self.add('api', start=T0 + at, length=call, correlation=correlation, name=api, tid=tid)
        more.setdefault('stream', 7)
        return self.add(word, start=T0 + at + late, length=length, correlation=correlation,
                        **dict({'name': name} if word == 'kernel' else {}, **more))

    def end(self):
        return self.add('end', start=T0)


class Bench:
    def __init__(self, args, where):
        self.args, self.where, self.n = args, where, 0

    def path(self, name):
        return os.path.join(self.where, name)

    def write(self, spool, name=None, folder=''):
        self.n += 1
        path = self.path(os.path.join(folder, name or 's%d.tfspool' % self.n))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        subprocess.run([self.args.make, path], input='\n'.join(spool.lines).encode(), check=True)
        return path

    def run(self, *words, status=0):
        p = subprocess.run([self.args.program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, cwd=self.where)
        assert p.returncode == status, (p.returncode, words, p.stderr.decode())
        self.notes = p.stderr.decode()
        return p.stdout.decode()

    def rows(self, view, *words, select='micros,occurrence', key='path'):
        """Own numbers by name."""
        text = self.run(view, *words, '-max_depth', '1000', '-select', select, '-output', 'csv')
        return {r[key]: r for r in csv.DictReader(io.StringIO(text))}

    def runs(self, view, *words):
        return {k: int(r['own_occurrence']) for k, r in self.rows(view, *words).items() if int(r['own_occurrence'] or 0)}

    def times(self, view, *words):
        """(accelerator, cpu) microseconds by name."""
        return {k: (int(r['own_accelerator_micros'] or 0), int(r['own_cpu_micros'] or 0))
                for k, r in self.rows(view, *words).items()
                if int(r['own_micros'] or 0) or int(r['own_occurrence'] or 0)}


def same(found, expected):
    assert found == expected, 'found %r\nexpected %r' % (found, expected)


# ---- names ----

def check_names(t):
    """Names of kernels lose templates, parameters and what a node's name cannot hold."""
    long = 'x' * 10000
    cases = {
        '_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEENS_6detail5ArrayIPcLi1EEEEEviT0_T1_':
            'at/native/vectorized_elementwise_kernel',
        '_ZN12_GLOBAL__N_19my_kernelIfEEvPT_': 'anonymous/my_kernel',
        '_Z6vecaddPKfS0_Pfi': 'vecadd',
        'void odd:name/with': 'void odd.name.with',
        'MEMCPY': 'MEMCPY',
        'größe': 'größe',
        '_ZZN2ns1fEiENKUliE_clEi': 'ns/f/lambda#1/operator()',
    }
    s = Spool()
    for i, name in enumerate(list(cases) + [long, '\x01\x1b[31m']):
        s.launch(i * 20000, name)
    found = t.runs('scope', t.write(s.end()))
    for name in cases.values():
        assert found.pop(name) == 1, (name, found)
    assert found.pop('__[31m') == 1, found
    (rest, n), = found.items()
    assert n == 1 and rest.startswith('x' * 200) and len(rest) == 209, rest


def check_ranges(t):
    """What frameworks put into ranges becomes the path of nodes."""
    cases = [
        (['aten::linear, seq = 5, op_id = 12, sizes = [[1, 2]], input_op_ids = []'], 'aten.linear'),
        (['XlaModule:#prefix=,hlo_module=jit_f,program_id=3#', 'Thunk:#name=jit(f)/jit(main)/dot_general,hlo_op=fusion.6#'],
         'jit_f/jit(f)/jit(main)/dot_general/fusion.6'),
        (['model/dense/MatMul:MatMul'], 'model/dense/MatMul'),
        (['ProfilerStep#17', 'Optimizer.step#SGD.step'], 'ProfilerStep/Optimizer.step#SGD.step'),
        (['ncclAllReduce: 5'], 'ncclAllReduce. 5'),
        (['a/b//c/'], 'a/b/c'),
    ]
    s, at = Spool(), 0
    for names, _ in cases:
        for name in names:
            s.push(at, name)
        s.launch(at + 1000, 'gemm')
        for name in names:
            s.pop(at + 5000)
        at += 100000
    found = t.runs('scope', t.write(s.end()))
    same(found, {path + '/gemm': 1 for _, path in cases})


def check_join(t):
    """An operation belongs to the innermost range of its call's thread, in all domains, at that time."""
    s = Spool()
    s.push(0, 'a').push(100, 'b', domain='lib').push(200, 'other', tid=2)
    s.launch(300, 'k1').launch(350, 'k2', tid=2).launch(400, 'k3', tid=3)
    s.pop(500)                       # a ends, b of the other domain stays
    s.launch(600, 'k4').pop(700, domain='lib').launch(800, 'k5')
    s.pop(900).pop(901).pop(950, tid=2)  # more than there are
    s.push(1000, 'late').launch(1100, 'k6')
    same(t.runs('scope', t.write(s.end())), {'a/b/k1': 1, 'other/k2': 1, 'k3': 1, 'b/k4': 1, 'k5': 1, 'late/k6': 1})


def check_order(t):
    """Calls may come before or after their operations, and ranges after both."""
    s, kernels, calls = Spool(), [], []
    for i in range(3000):
        one = Spool()
        one.correlation = i
        one.launch(i * 20000, 'k%d' % (i % 3))
        calls.append(one.lines[-2])
        kernels.append(one.lines[-1])
    s.lines += list(reversed(kernels)) + calls
    s.push(-5, 'all').pop(3000 * 20000).end()
    same(t.times('scope', t.write(s)), {'all/k%d' % i: (5000, 2000) for i in range(3)})
    same(t.notes.count('no record of the call'), 0)


def check_wrap(t):
    """Correlations go round at 2^32."""
    s = Spool()
    for i, c in enumerate([4294967294, 4294967295, 0, 1, 2, 3]):
        s.push(i * 20000, 'r%d' % i)
        s.launch(i * 20000 + 10, 'k', correlation=c)
        s.pop(i * 20000 + 5000)
    found = t.runs('scope', t.write(s.end()))
    same(found, {'k' if i == 2 else 'r%d/k' % i: 1 for i in range(6)})  # 0 is no correlation


def check_unlaunched(t):
    """Operations without a call count, without time of the cpu, and are told."""
    s = Spool().launch(0, 'k')
    s.add('kernel', start=T0 + 50000, length=7000, correlation=99, name='orphan', stream=7)
    s.add('kernel', start=0, length=0, correlation=98, name='untimed', stream=7)
    same(t.times('scope', t.write(s.end())), {'k': (5, 2), 'orphan': (7, 0)})
    assert '1 operation has no record of the call that launched it' in t.notes, t.notes
    assert '1 operation has no time' in t.notes, t.notes


def check_twice(t):
    """Driver's and runtime's record of one call are one launch; two operations of it share its time."""
    s = Spool()
    s.add('api', start=T0 + 10, length=500, correlation=1, name='cuLaunchKernel', tid=1)
    s.add('api', start=T0, length=2000, correlation=1, name='cudaLaunchKernel', tid=1)
    s.add('kernel', start=T0 + 5000, length=3000, correlation=1, name='k', stream=7)
    s.add('kernel', start=T0 + 9000, length=3000, correlation=1, name='k', stream=7)
    s.add('api', start=T0 + 10, length=500, correlation=1, name='cuLaunchKernel', tid=1)
    path = t.write(s.end())
    same(t.times('scope', path), {'k': (6, 2)})
    same(t.runs('scope', path), {'k': 2})


def check_graphs(t):
    """The launch of a graph is a node; its kernels share it. Whole graphs are nodes of their own."""
    s = Spool().push(0, 'step')
    s.add('api', start=T0 + 10, length=9000, correlation=5, name='cudaGraphLaunch', tid=1)
    for i in range(10):
        s.add('kernel', start=T0 + 20000 + i * 1000, length=500, correlation=5, name='k%d' % (i % 2), stream=7, graph=3, node=i)
    s.launch(200000, word='graph', api='cudaGraphLaunch', graph=8, length=40000)
    path = t.write(s.end())
    same(t.times('scope', path), {'step/GraphLaunch': (0, 9), 'step/k0': (2, 0), 'step/k1': (2, 0), 'step/CudaGraph_8': (40, 2)})
    same(t.runs('scope', path), {'step/GraphLaunch': 1, 'step/k0': 5, 'step/k1': 5, 'step/CudaGraph_8': 1})


def check_leaf_op(t):
    """--leaf=op: a node for each range, with the time that the cpu had in it alone, as often as it was entered."""
    s = Spool()
    for i in range(3):
        at = i * 100000
        s.push(at, 'forward').push(at + 1000, 'aten::mm').launch(at + 1500, 'k1', length=4000)
        s.launch(at + 3000, 'k2', length=6000).pop(at + 9000).pop(at + 10000)
    path = t.write(s.end())
    same(t.times('scope', path, '--leaf=op'), {'forward/aten.mm': (30, 24)})
    same(t.runs('op', path, '--leaf=op'), {'aten::mm': 3})


def check_memory(t):
    """Allocations are requested, peak and residual bytes of their range; what is freed is no residual."""
    s = Spool()
    for i, (at, freed, address, size) in enumerate(
            [(0, 0, 16, 1000), (100, 0, 32, 500), (200, 1, 16, 1000), (300, 0, 48, 200), (400, 1, 99, 5)]):
        s.push(at, 'net')
        s.launch(at + 1, word='memory', api='cudaFree' if freed else 'cudaMalloc', freed=freed, address=address,
                 bytes=size, late=0)
        s.pop(at + 50)
    row = t.rows('scope', t.write(s.end()), select='bytes,peak_bytes,residual_bytes,occurrence')['net/DeviceMemory']
    same([row['own_' + x] for x in ('bytes', 'peak_bytes', 'residual_bytes', 'occurrence')], ['1700', '1500', '700', '3'])


# ---- steps ----

def steps_of(t, path, *words):
    """Runs by step."""
    found = []
    for step in range(20):
        p = subprocess.run([t.args.program, 'scope', path, *words, '-step', str(step), '-select', 'occurrence',
                            '-output', 'csv'], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=t.where)
        if p.returncode:
            break
        rows = list(csv.DictReader(io.StringIO(p.stdout.decode())))
        found.append(int(rows[0]['total_occurrence']))
    return found


def stepped(**more):
    """Two launches before, then 3, 4 and 5 in what may be steps."""
    s, at = Spool(**more), 0
    for i, n in enumerate([2, 3, 4, 5]):
        if i:
            s.push(at, 'ProfilerStep#%d' % i).add('mark', start=T0 + at, name='tfprof.step', tid=1)
            s.launch(at + 10, 'anchor' if i else 'k').add('step', start=T0 + at, what=0, label='x')
            n -= 1
        for k in range(n):
            s.launch(at + (100 if i else 0) + k * 20000)
        at += 1000000
        if i:
            s.pop(at - 10)
    return s


def check_steps(t):
    """Steps by every source; what comes before the first is left out, or step 0."""
    s = stepped()
    s.lines = [x for x in s.lines if not x.startswith(('mark', 'step'))]
    path = t.write(s.end())
    same(steps_of(t, path), [14])
    for way in ('--step-nvtx=pytorch', '--step-nvtx=ProfilerStep.*', '--step-kernel=anchor'):
        same(steps_of(t, path, way), [3, 4, 5])
        same(steps_of(t, path, way, '--keep-warmup'), [2, 3, 4, 5])
    same(steps_of(t, path, '--step-every=1'), [2, 3, 4, 5])
    same(steps_of(t, path, '--step-nvtx=nothing'), [14])
    t.run('scope', path, '--step-nvtx=nothing')
    assert 'no range, mark or kernel' in t.notes, t.notes
    t.run('scope', path, '--step-nvtx=pytorch')
    assert '2 operations are in no step' in t.notes, t.notes


def check_steps_within(t):
    """Ranges that are steps are no part of paths; those within a step begin no other."""
    s = stepped().push(5000000, 'ProfilerStep#9').launch(5000100).push(5000200, 'ProfilerStep#10', tid=2)
    s.launch(5000300).pop(5000900, tid=2).launch(5000950).pop(5001000)
    path = t.write(s.end())
    same(steps_of(t, path, '--step-nvtx=pytorch'), [3, 4, 5, 3])
    same(set(t.runs('scope', path, '--step-nvtx=pytorch')), {'gemm', 'anchor'})


def check_steps_marks(t):
    """Marks called tfprof.step, signals and tfprof ctl are steps without being asked for."""
    s = stepped()
    same(steps_of(t, t.write(s.end())), [3, 4, 5])
    s.lines = [x for x in s.lines if not x.startswith('mark')]
    same(steps_of(t, t.write(s)), [3, 4, 5])
    s.lines = [x for x in s.lines if not x.startswith('step')]
    t.write(s, folder='session')
    with open(t.path('session/control'), 'w') as f:
        f.write('%d start\n' % T0)
        for i in (1, 2, 3):
            f.write('%d step number %d\n' % (T0 + i * 1000000, i))
        f.write('nonsense\n5\n%d stop\n' % T0)
    same(steps_of(t, 'session'), [3, 4, 5])


def check_steps_profiler(t):
    """Between cuProfilerStart and cuProfilerStop."""
    s = stepped()
    s.lines = [x for x in s.lines if not x.startswith(('mark', 'step'))]
    for at, what in ((1000000, 1), (1999990, 2), (3000000, 1), (3900000, 2)):
        s.add('step', start=T0 + at, what=what)
    same(steps_of(t, t.write(s.end())), [3, 5])


def check_options_file(t):
    """What was given to record is the default; the command line goes before it."""
    t.write(stepped().end(), folder='session')
    with open(t.path('session/options'), 'w') as f:
        f.write('--step-nvtx=pytorch\n--keep-warmup\n--max-memory=1\n--no-such=thing\n')
    same(steps_of(t, 'session'), [2, 3, 4, 5])
    same(steps_of(t, 'session', '--step-nvtx=.*Step#2'), [5, 9])


# ---- processes and devices ----

def check_gpus(t):
    """Several GPUs of a process have prefixes, numbered by UUID over all processes."""
    a = Spool(pid=1, host='h', env_RANK=0)
    a.add('gpu', id=0, uuid='GPU-A').add('gpu', id=1, uuid='GPU-B').launch(0, 'k', device=0).launch(50000, 'k', device=1)
    b = Spool(pid=2, host='h', env_RANK=1).add('gpu', id=0, uuid='GPU-B').launch(0, 'k', device=0)
    alone = t.write(a.end(), folder='both')
    same(t.runs('scope', alone), {'gpu0/k': 1, 'gpu1/k': 1})
    t.write(b.end(), folder='both')
    rows = t.rows('scope', 'both', select='occurrence,device')
    same({k: r['device'] for k, r in rows.items() if r['device']}, {
        'rank0/gpu0/k': '/job:localhost/replica:0/task:0/device:gpu:0',
        'rank0/gpu1/k': '/job:localhost/replica:0/task:0/device:gpu:1',
        'rank1/k': '/job:localhost/replica:0/task:1/device:gpu:1'})
    assert 'GPU 1 was shared by 2 processes' in t.notes, t.notes


def check_ranks(t):
    """Ranks are told apart or added up; processes and jobs can be chosen."""
    for rank in range(3):
        s = Spool(pid=100 + rank, env_RANK=rank, env_SLURM_JOB_ID=7)
        t.write(s.launch(0, 'k').launch(50000, 'k').end(), folder='job')
    same(t.runs('scope', 'job'), {'rank%d/k' % r: 2 for r in range(3)})
    same(t.runs('scope', 'job', '--merge=sum'), {'k': 6})
    same(t.runs('scope', 'job', '--process=101'), {'k': 2})
    t.write(Spool(pid=200, env_TFPROF_JOB='other').launch(0, 'j').end(), folder='job')
    same(t.runs('scope', 'job', '--job=other'), {'j': 1})
    same(t.runs('scope', 'job'), dict({'job-7/rank%d/k' % r: 2 for r in range(3)}, **{'job-other/process3/j': 1}))
    t.run('scope', 'job', '--process=5', status=3)
    t.run('scope', 'job', '--job=none', status=3)


def check_idle_processes(t):
    """Processes without work of the GPU give no prefixes."""
    t.write(Spool(pid=1).launch(0, 'k').end(), folder='f')
    t.write(Spool(pid=2).end(), folder='f')
    same(t.runs('scope', 'f'), {'k': 1})


def check_layout(t):
    """--tf-layout keeps copies out of the accelerator's time."""
    s = Spool().launch(0, 'k').launch(50000, word='copy', api='cudaMemcpyAsync', kind=1, bytes=4096)
    s.launch(90000, word='set', api='cudaMemsetAsync', bytes=64)
    path = t.write(s.end())
    same(t.times('scope', path), {'k': (5, 2), 'MemcpyHtoD': (5, 2), 'Memset': (5, 2)})
    same(t.times('scope', path, '--tf-layout'), {'k': (5, 2), 'MemcpyHtoD': (0, 2), 'Memset': (5, 2)})


# ---- clocks, losses, sums ----

def check_clock(t):
    """The clock is set in mid-run, either way: ranges and steps are as if it had not been."""
    for jump in (3600 * 10 ** 9, -3600 * 10 ** 9):
        s = Spool()
        for i in range(10):
            at, shift = i * 10 ** 9, jump if i >= 5 else 0
            s.add('clock', realtime=T0 + at + shift, monotonic=50 + at)
            at += shift + 1000
            s.push(at, 'step#%d' % i).push(at + 10, 'op').launch(at + 100).pop(at + 9000).pop(at + 9001)
        s.add('clock', realtime=T0 + 10 ** 10 + jump, monotonic=50 + 10 ** 10)
        path = t.write(s.end())
        same(steps_of(t, path, '--step-nvtx=step#.*'), [1] * 10)
        same(t.runs('scope', path), {'step/op/gemm': 10})
        assert 'clock was set by %+.3f s' % (jump / 1e9) in t.notes, t.notes
        rows = t.run('graph', path, '-step', '0', '-output', 'timeline:outfile=tl')
        starts = [int(x) for x in re.findall(r'"ts": ?(\d+)', open(t.path('tl_0')).read())]
        assert max(starts) - min(starts) < 10 ** 7, (min(starts), max(starts))


def check_told(t):
    """Losses, gaps, notes and a missing end are told."""
    s = Spool().launch(0, 'k').add('lost', why=0, count=17).add('lost', why=0, count=3).add('lost', why=3, count=1)
    s.add('gap', start=T0, to=T0 + 5 * 10 ** 8, why='x').add('note', text='another profiler took CUPTI')
    t.run('scope', t.write(s))
    for text in ('20 records were dropped by CUPTI', '1 record of ranges was dropped', '0.500 s', 'another profiler took CUPTI',
                 'has no end'):
        assert text in t.notes, (text, t.notes)


def check_sums(t):
    """Sums in place of records give the same totals."""
    full, half = Spool(), Spool()
    count, total = 0, 0
    for i in range(50):
        full.push(i * 50000, 'net').launch(i * 50000 + 100, 'k', length=5000 + i * 7).pop(i * 50000 + 9000)
        if i < 20:
            half.push(i * 50000, 'net').launch(i * 50000 + 100, 'k', length=5000 + i * 7).pop(i * 50000 + 9000)
        else:
            count, total = count + 1, total + 5000 + i * 7
    half.add('sum', what=7, name='k', scope='net', start=T0 + 20 * 50000, to=T0, count=count, sum=total, min=1, max=2)
    a, b = t.write(full.end()), t.write(half.end())
    same(t.times('scope', a)['net/k'][0], t.times('scope', b)['net/k'][0])
    same(t.runs('scope', a), t.runs('scope', b))
    assert 'only sums by name' in t.notes, t.notes


def check_damage(t):
    """A file cut off or damaged anywhere is read as far as it goes, in silence never."""
    s = Spool()
    for i in range(40):
        s.launch(i * 20000, 'k').add('block', start=T0)
    path = t.write(s.end())
    with open(path, 'rb') as f:
        whole = f.read()
    for cut in range(60, len(whole), 97):
        with open(path, 'wb') as f:
            f.write(whole[:cut])
        t.run('op', path)
        assert 'has no end' in t.notes, (cut, t.notes)
        with open(path, 'wb') as f:
            f.write(whole[:cut] + bytes([whole[cut] ^ 16]) + whole[cut + 1:])
        t.run('op', path)
        assert 'left out' in t.notes or 'missing' in t.notes, (cut, t.notes)
    with open(path, 'wb') as f:
        f.write(b'no spool at all')
    t.run('op', '--spool=' + path, status=3)
    t.run('op', '--spool=' + t.path('nothing'), status=3)
    t.run('op', path, '--profile_path=' + path, status=2)


# ---- out again ----

def sample():
    s = Spool(env_RANK=0).add('gpu', id=0, uuid='GPU-A')
    for i in range(4):
        at = i * 1000000
        s.push(at, 'ProfilerStep#%d' % i).push(at + 10, 'layer1')
        for k in range(5):
            s.launch(at + 1000 + k * 20000, '_ZN3net4convIfEEvPT_', length=4321 + k, call=2345)
        s.pop(at + 900).launch(at + 300000, word='copy', api='cudaMemcpyAsync', kind=2, bytes=100, length=7654)
        s.launch(at + 400000, word='memory', api='cudaMalloc', address=4096 + i, bytes=1024, late=0).pop(at + 500000)
    s.add('kernel', start=T0 + 3500000, length=1500, correlation=9999, name='orphan', stream=9)
    return s.end()


def check_routes(t):
    """The same totals from the spool, from a ProfileProto and from RunMetadata with a GraphDef."""
    path = t.write(sample())
    words = ('--step-nvtx=pytorch',)
    t.run('convert', path, *words, '-output', 'profile:outfile=p')
    t.run('convert', path, *words, '-output', 'run_meta:outfile=r')
    for view in ('scope', 'op'):
        for step in ('-1', '0', '3'):
            direct = t.times(view, path, *words, '-step', step)
            for route in (['--profile_path=p'], ['--graph_path=r_graph.pb', '--run_meta_path=r_0,r_1,r_2,r_3']):
                other = t.times(view, *route, '-step', step)
                same(sorted(other), sorted(direct))
                for name, (accelerator, cpu) in direct.items():
                    bound = 6 if name != 'orphan' else 2
                    assert abs(other[name][0] - accelerator) <= bound and abs(other[name][1] - cpu) <= bound, (
                        view, step, route, name, direct[name], other[name])
    direct = t.rows('scope', path, *words, select='bytes,peak_bytes,residual_bytes')
    for route in (['--profile_path=p'], ['--graph_path=r_graph.pb', '--run_meta_path=r_0,r_1,r_2,r_3']):
        other = t.rows('scope', *route, select='bytes,peak_bytes,residual_bytes')
        same(other['DeviceMemory'], direct['DeviceMemory'])
    for view in ('scope', 'graph', 'op', 'code', 'advise'):
        t.run(view, '--profile_path=p')


def check_detail(t):
    """Steps that are summed and steps that are kept have the same totals."""
    path = t.path('big.tfspool')
    subprocess.run([t.args.make, path, 'big', '1100000'], check=True)
    a = t.run('op', path, '--step-nvtx=pytorch', '-step', '3', '-select', 'micros,occurrence')
    assert 'summed by node and step' in t.notes, t.notes
    same(t.run('op', path, '--step-nvtx=pytorch', '--detail-steps=2-4,7', '-step', '3', '-select', 'micros,occurrence'), a)
    t.run('op', path, '--detail-steps=4-2', status=2)
    os.unlink(path)


def check_kept(t):
    """The spools that are kept come out of their scripts byte for byte: the format has not changed."""
    kept = os.path.join(ROOT, 'testdata', 'small')
    names = [x for x in sorted(os.listdir(kept)) if x.endswith('.tfspool')]
    assert names
    for name in names:
        with open(os.path.join(kept, name.replace('.tfspool', '.spool.txt'))) as f:
            subprocess.run([t.args.make, t.path(name)], stdin=f, check=True)
        with open(t.path(name), 'rb') as a, open(os.path.join(kept, name), 'rb') as b:
            assert a.read() == b.read(), name


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--program', required=True)
    p.add_argument('--make', required=True)
    p.add_argument('names', nargs='*')
    args = p.parse_args()
    args.program, args.make = os.path.abspath(args.program), os.path.abspath(args.make)
    passed = failed = 0
    for name, f in sorted(globals().items()):
        if not name.startswith('check_') or args.names and name[6:] not in args.names:
            continue
        where = tempfile.mkdtemp(prefix='spool_')
        try:
            f(Bench(args, where))
            passed += 1
        except (AssertionError, KeyError, ValueError, IndexError, OSError, subprocess.SubprocessError) as e:
            failed += 1
            line = traceback.extract_tb(e.__traceback__)[-1].lineno
            print('%s: %s\n  line %d: %s: %s' % (name[6:], inspect.getdoc(f).split('\n')[0], line, type(e).__name__, str(e)[:1500]))
        shutil.rmtree(where)
    print('%d passed, %d failed, 0 skipped' % (passed, failed))
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
