# SPDX-License-Identifier: Apache-2.0
"""Whole recordings: devices, ranks and processes, clocks, losses and damage, conversion."""
import os
import json
import re
import subprocess

from rig import ROOT, same, sample, steps_of
from script import T0, Spool


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
    """Ranks are separate or added up; processes and jobs can be chosen."""
    for rank in range(3):
        s = Spool(pid=100 + rank, env_RANK=rank, env_SLURM_JOB_ID=7)
        t.write(s.launch(0, 'k').launch(50000, 'k').end(), folder='job')
    same(t.runs('scope', 'job'), {'rank%d/k' % r: 2 for r in range(3)})
    same(t.runs('scope', 'job', '--merge=sum'), {'k': 6})
    same(t.runs('scope', 'job', '--process=101'), {'k': 2})
    t.write(Spool(pid=200, env_TFPROF_JOB='other').launch(0, 'j').end(), folder='job')
    same(t.runs('scope', 'job', '--job=other'), {'j': 1})
    same(t.runs('scope', 'job'), dict({'job-7/rank%d/k' % r: 2 for r in range(3)}, **{'job-other/j': 1}))
    t.run('scope', 'job', '--process=5', status=3)
    t.run('scope', 'job', '--job=none', status=3)


def check_idle_processes(t):
    """Processes without GPU work have no prefix."""
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
    """If the clock is set during a run, forward or back, ranges and steps do not change."""
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
        assert 'clock was changed by %+.3f s' % (jump / 1e9) in t.notes, t.notes
        t.run('graph', path, '-step', '0', '-output', 'timeline:outfile=tl')
        starts = [int(x) for x in re.findall(r'"ts": ?(\d+)', open(t.path('tl_0')).read())]
        assert max(starts) - min(starts) < 10 ** 7, (min(starts), max(starts))


def check_clock_of_cupti(t):
    """If CUPTI has a clock of its own with offset and drift, calls are still found in their ranges."""
    for offset, drift in ((3 * 10 ** 9, 0), (-3 * 10 ** 9, 10000), (-1690000000 * 10 ** 9, -5000), (2 * 10 ** 6, 0)):
        def cupti(at):
            return offset + at + (at // drift if drift else 0)
        s = Spool()
        for i in range(10):
            at = i * 10 ** 9
            s.add('clock', realtime=T0 + at, monotonic=50 + at, cupti=T0 + cupti(at), width=2400)
            at += 1000
            s.push(at, 'step#%d' % i).push(at + 10000, 'op').launch(cupti(at + 20000)).pop(at + 90000).pop(at + 90001)
        s.add('clock', realtime=T0 + 10 ** 10, monotonic=50 + 10 ** 10, cupti=T0 + cupti(10 ** 10), width=900)
        path = t.write(s.end())
        same(steps_of(t, path, '--step-nvtx=step#.*'), [1] * 10)
        same(t.runs('scope', path), {'step/op/gemm': 10})
        side = 'behind' if offset < 0 else 'ahead of'
        assert '%.6f s %s the system' % (abs(offset) / 1e9, side) in t.notes and 'at most 1.200 us' in t.notes, t.notes
        start = json.loads(t.run('gpu', path, '--output=json'))['gpus'][0]['from_ns']
        assert abs(start - (T0 + 31000)) < 1000, start - T0


def check_told(t):
    """Losses, gaps, notes and a missing end are reported."""
    s = Spool().launch(0, 'k').add('lost', why=0, count=17).add('lost', why=0, count=3).add('lost', why=3, count=1)
    s.add('lost', why=5, count=7).add('lost', why=6, count=9)
    s.add('gap', start=T0, to=T0 + 5 * 10 ** 8, why='x').add('note', text='another profiler shut CUPTI down')
    t.run('scope', t.write(s))
    for text in ('20 records were dropped by CUPTI', '1 record of ranges was dropped',
                 '7 records were withheld by CUPTI', '9 kernels were launched, but their records are missing', '0.500 s', 'another profiler shut CUPTI down',
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
    """A truncated file is read up to its end, a damaged one with --recover, and both are reported."""
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
        t.run('op', path, status=3)
        t.run('op', path, '--recover')
        assert t.notes.startswith('warning: ') and 'kept' in t.notes, (cut, t.notes)
    with open(path, 'wb') as f:
        f.write(b'no spool at all')
    t.run('op', '--spool=' + path, status=3)
    t.run('op', '--spool=' + t.path('nothing'), status=3)
    t.run('op', path, '--profile_path=' + path, status=2)


def check_lost_name(t):
    """A call whose name was in a damaged block may have launched the work after it."""
    s = Spool().launch(0, 'k').add('block', start=T0).push(20000, 'lostWithItsBlock').pop(21000)
    path = t.write(s.add('block', start=T0).launch(40000, 'k', api='lostWithItsBlock').end())
    with open(path, 'rb') as f:
        whole = f.read()
    with open(path, 'wb') as f:
        f.write(whole.replace(b'lostWithItsBlock', b'LostWithItsBlock'))
    same(t.times('op', path, '--recover'), {'k': (10, 4)})
    assert 'lost are 3 records' in t.notes and 'no record of the call' not in t.notes, t.notes


# ---- conversion ----

def check_routes(t):
    """A recording, its ProfileProto, and its RunMetadata with a GraphDef have the same totals in each step. (The averages of
    the latter two leave out the steps in which a node did not run, as those of TensorFlow's own profiles do.)"""
    path = t.write(sample())
    words = ('--step-nvtx=pytorch',)
    t.run('convert', path, *words, '-output', 'profile:outfile=p')
    t.run('convert', path, *words, '-output', 'run_meta:outfile=r')
    for view in ('scope', 'op'):
        for step in ('0', '3'):
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
    """Summed and stored steps have the same totals."""
    path = t.path('big.tfspool')
    subprocess.run([t.args.make, path, 'big', '1100000'], check=True)
    a = t.run('op', path, '--step-nvtx=pytorch', '-step', '3', '-select', 'micros,occurrence')
    assert 'summed by node and step' in t.notes, t.notes
    same(t.run('op', path, '--step-nvtx=pytorch', '--detail-steps=2-4,7', '-step', '3', '-select', 'micros,occurrence'), a)
    t.run('op', path, '--detail-steps=4-2', status=2)
    os.unlink(path)


def check_kept(t):
    """The recordings in the repository equal the output of their scripts byte for byte: the format has not changed."""
    kept = os.path.join(ROOT, 'testdata', 'small')
    names = [x for x in sorted(os.listdir(kept)) if x.endswith('.tfspool')]
    assert names
    for name in names:
        with open(os.path.join(kept, name.replace('.tfspool', '.spool.txt'))) as f:
            subprocess.run([t.args.make, t.path(name)], stdin=f, check=True)
        with open(t.path(name), 'rb') as a, open(os.path.join(kept, name), 'rb') as b:
            assert a.read() == b.read(), name


def messages(data):
    """Yields (field, value) of a protobuf message: numbers, or bytes."""
    def varint(i):
        n = shift = 0
        while True:
            n |= (data[i] & 127) << shift
            i, shift = i + 1, shift + 7
            if data[i - 1] < 128:
                return n, i
    i = 0
    while i < len(data):
        tag, i = varint(i)
        n, i = varint(i)
        if tag & 7 == 2:
            yield tag >> 3, data[i:i + n]
            i += n
        else:
            yield tag >> 3, n


def records(path):
    """Returns (device, node, label, thread) of the records in run metadata."""
    with open(path, 'rb') as f:
        stats = dict(messages(f.read()))[1]
    for _, device in messages(stats):
        fields = list(messages(device))
        for field, value in fields:
            if field == 2:
                x = dict(messages(value))
                yield dict(fields)[1].decode().split('task:0')[1], x[1].decode(), x.get(8, b'').decode(), x.get(10, 0)


def check_labels(t):
    """Run metadata has labels as TensorFlow's tracers write them, and launching threads; labels in an input are kept."""
    s = Spool().push(0, 'net', tid=7).launch(10, '_ZN3net4convIfEEvPT_', tid=7).launch(50000, 'bad\udcff', tid=8)
    s.launch(90000, word='copy', api='cudaMemcpyAsync', kind=1, bytes=4096, tid=7).launch(
        120000, word='set', api='cudaMemsetAsync', bytes=64, tid=7)
    s.add('kernel', start=T0 + 200000, length=5000, correlation=99, name='orphan', stream=7)
    path = t.write(s.pop(300000, tid=7).end())
    t.run('convert', path, '-output', 'run_meta:outfile=r')
    shape, gpu = ' regs:0 shm:0 grid:1,1,1 block:128,1,1@@', '/device:gpu:0'
    expected = {('net/conv', 'void net::conv<float>(float*)' + shape + 'net/conv', 7), ('bad_', 'bad_' + shape + 'bad_', 8),
                ('net/MemcpyHtoD', 'MemcpyHtoD 4096 bytes (Unknown to Unknown)@@net/MemcpyHtoD', 7),
                ('net/Memset', 'Memset 64 bytes (Unknown)@@net/Memset', 7), ('orphan', 'orphan' + shape + 'orphan', 0)}
    for device in (gpu, gpu + '/stream:all', gpu + '/stream:7'):
        same({x[1:] for x in records(t.path('r_0')) if x[0] == device}, expected)
    t.run('convert', '--graph_path=r_graph.pb', '--run_meta_path=r_0', '-output', 'run_meta:outfile=again')
    for device in (gpu, gpu + '/stream:all'):
        same({x[1:] for x in records(t.path('again_0')) if x[0] == device}, expected)
