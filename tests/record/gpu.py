# SPDX-License-Identifier: Apache-2.0
"""The command devices (alias gpu) on recordings. gpu.txt has the expected output for two ranks (--accept rewrites
it)."""
import glob
import json
import os

from rig import ARGS, holds, put, same, spool, tfprof
from script import T0, Spool

ANSWER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'gpu.txt')
RELU = '_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_'


def rank(n):
    s = Spool(pid=10 + n, argv='/usr/bin/python', env_RANK=n, env_TFPROF_JOB='night')
    s.add('gpu', id=n, uuid='\x12' * 16, name='NVIDIA H200')
    for at, length, name, correlation in ((1000000 + 5000 * n, 20000, RELU, 1), (1030000, 25000, 'sgemm_128', 2),
                                          (1060000, 21000, RELU, 3), (-T0, 0, RELU, 4)):
        s.add('kernel', start=T0 + at, length=length, name=name, device=n, stream=7, correlation=correlation)
    s.add('copy', kind=1, start=T0 + 1010000, length=40000, bytes=4000000, device=n, stream=7)
    s.add('copy', kind=2, start=T0 + 1200000, length=10000, bytes=1000, device=n, stream=7)
    s.add('set', start=T0 + 1300000, length=1000, bytes=64, device=n, stream=7)
    s.add('graph', start=T0 + 1310000, length=5000, graph=3, device=n, stream=7)
    for at, length, correlation in ((1000000, 60000, 9), (1100000, 70000, 10)):
        s.add('api', name='cudaStreamSynchronize_v3020', tid=77, start=T0 + at, length=length, correlation=correlation)
    s.add('gap', start=T0 + 1400000, to=T0 + 1500000, why="the program's own profiler took over")
    s.add('sum', what=7, name=RELU, device=n, start=T0, to=T0, count=10, sum=100000, min=9000, max=11000)
    s.add('lost', why=0, count=12).add('note', text='the buffers were full once')
    return s


def two_ranks():
    os.mkdir('g', 0o700)
    spool('g', rank(0).end(), 10)
    spool('g', rank(1), 11)


def test_gpu_text():
    two_ranks()
    got = tfprof('gpu', 'g')
    same(got[0], 0, got[2])
    if ARGS.accept:
        put(ANSWER, got[1])
    same(got[1].split('\n'), open(ANSWER).read().split('\n'), 'tests/record/gpu.txt')


def test_gpu_data():
    two_ranks()
    data = json.loads(tfprof('gpu', 'g', '--output=json')[1])
    gpu, device = data['gpus'][0], data['devices'][0]
    same([len(data['gpus']), len(data['devices'])], [1, 1])
    same(gpu['uuid'], 'GPU-' + '12121212-1212-1212-1212-121212121212')
    same([(p['rank'], p['job'], p['program']) for p in data['processes']], [(n, 'night', 'python') for n in range(2)])
    same(device['busy_ns'], 76000 + 10000 + 1000 + 5000)  # 1000000-1055000, 1060000-1081000, and later work
    same(device['span_ns'], gpu['to_ns'] - gpu['from_ns'])
    same(device['busy_ns'] + device['idle_ns'], device['window_ns'])
    same(gpu['shared_ns'], device['busy_ns'] - 5000)
    same(data['transfers'][0], {'gpu': 1, 'ns': 80000, 'count': 2, 'bytes': 8000000, 'bytes_per_second': 100000000000, 'way': 'HtoD'})
    same(sum(k['count'] for k in data['kernels']), 2 * (3 + 10 + 1))
    same(data['waits'][0]['total_ns'], 55000 + 50000)  # overlaps with work of the same process
    same([data['lost'][k] for k in ('dropped', 'operations_without_times', 'operations_in_sums_only',
                                    'times_not_recorded', 'processes_not_closed')], [24, 2, 20, 2, 1])
    rows = tfprof('gpu', 'g', '--output', 'csv', '--table=kernels', '--top=1')[1].split('\n')
    same([len(rows), rows[0].split(',')[:3]], [3, ['total_ns', 'permille', 'count']])
    same(tfprof('gpu', 'g', '-output', 'csv'), tfprof('devices', 'g', '-output', 'csv'))
    same(tfprof('gpu', 'g'), tfprof('devices', 'g'))


def test_gpu_words():
    got = tfprof('gpu')
    same(got[0], 3)
    holds(got[2], 'no recording (a folder tfprof-DATE-PID) is in this folder')
    for name in ('tfprof-old', 'tfprof-new'):
        os.mkdir(name)
        spool(name, Spool().add('kernel', name=name, start=T0 + 5, length=5).end())
    os.utime('tfprof-old', (1, 1))
    holds(tfprof('gpu')[1], 'tfprof-new')
    os.mkdir('empty')
    holds(tfprof('gpu', glob.glob('tfprof-old/*')[0])[1], 'tfprof-old')
    same(tfprof('gpu', 'empty')[0], 3)
    same(tfprof('gpu', 'none')[0], 3)
    one = spool('empty', Spool().add('kernel', name='k', start=T0 + 5, length=5).end())
    same(tfprof('gpu', one)[1], tfprof('gpu', 'empty')[1])
    put('junk/x.tfspool', 'junk')
    got = tfprof('gpu', 'junk')
    same(got[0], 3)
    holds(got[2], 'x.tfspool: byte 0: not a recording')
    with open(spool('tfprof-new', Spool().add('kernel', name='k', start=T0 + 5, length=5).end(), 9, 1, 9), 'ab') as f:
        f.write(b'junk')
    same(tfprof('gpu', 'tfprof-new')[0], 3)
    got = tfprof('gpu', '--recover', 'tfprof-new')
    same(got[0], 0)
    holds(got[2], 'warning: ')
    same(tfprof('gpu', '--help'), tfprof('devices', '--help'))


def test_nodes_of_graphs_without_launches():
    """Kernels can belong to a graph none of whose launches was recorded."""
    got = tfprof('gpu', spool('.', Spool().add('kernel', name='k', start=T0 + 5, length=5, graph=3, node=1).end()), '--output=json')
    same(got[0], 0, got[2])
    same([(g['launches'], g['mean_ns']) for g in json.loads(got[1])['graphs']], [(0, None)])


# ---- single tables, computed by hand -------------------------------------------------------------
US, MS = 1000, 1000000
H100 = dict(id=0, uuid='GPU-A', name='H100', major=9, minor=0)


def answer(s, *words):
    """Returns the JSON of a recording."""
    os.mkdir('t')
    path = spool('t', s.end())
    got = tfprof('gpu', path, '--output=json', *words)
    same(got[0], 0, got[2])
    return json.loads(got[1])


def rows(data, table, *keys):
    return [tuple(r.get(k) for k in keys) for r in data[table]]


def test_gpu_blocking():
    """5 ms of a copy of pageable memory and 3 ms of a release block the host; all other calls return at once."""
    s = Spool().add('gpu', **H100)
    s.launch(0, word='copy', api='cudaMemcpyAsync', kind=1, bytes=50 * MS, late=0, length=5 * MS, call=5 * MS, **{'from': 1, 'to': 3})
    s.launch(6 * MS, length=4 * MS, late=10 * US, call=5 * US)
    s.add('api', start=T0 + 7 * MS + 10 * US, length=3 * MS, name='cudaFree', tid=1)
    s.launch(11 * MS, length=4 * MS, late=10 * US, call=5 * US)
    s.add('api', start=T0 + 12 * MS, length=1 * MS, name='cudaMalloc', tid=1)  # the kernel outlives it
    s.launch(13 * MS, word='set', api='cudaMemset', late=3 * MS, length=US, call=4 * US, bytes=10)
    s.launch(13 * MS + 5 * US, word='copy', api='cudaMemcpyAsync', kind=1, bytes=1000, late=4 * MS, length=9 * US, call=5 * US,
             **{'from': 2, 'to': 3})
    data = answer(s)
    same(rows(data, 'waits', 'name', 'count', 'total_ns'), [('cudaMemcpyAsync', 1, 5 * MS), ('cudaFree', 1, 3 * MS)])
    same(rows(data, 'calls', 'name', 'count', 'total_ns', 'blocking_ns'),
         [('cudaMemcpyAsync', 2, 5 * MS + 5 * US, 5 * MS), ('cudaFree', 1, 3 * MS, 3 * MS), ('cudaMalloc', 1, MS, 0),
          ('cudaLaunchKernel', 2, 10 * US, 0), ('cudaMemset', 1, 4 * US, 0)])


def test_gpu_blocking_synchronize():
    """A synchronisation blocks until work of all streams that was launched before it has ended, and no longer."""
    s = Spool().add('gpu', **H100)
    s.launch(0, length=50 * US, stream=7).launch(10 * US, length=80 * US, stream=8, late=20 * US)  # end at 60, 110
    s.add('api', start=T0 + 40 * US, length=100 * US, name='cudaDeviceSynchronize', tid=1)  # from 40 to 140
    s.launch(100 * US, length=100 * US, tid=2, late=15 * US)  # launched after it by another thread
    same(rows(answer(s), 'waits', 'name', 'count', 'total_ns'), [('cudaDeviceSynchronize', 1, 70 * US)])


def test_gpu_idle():
    s = Spool().add('gpu', **H100)
    s.launch(0, length=100 * US)  # runs from 10 to 110
    s.add('api', start=T0 + 20 * US, length=110 * US, name='cudaStreamSynchronize', tid=1)  # until 130
    s.launch(150 * US, length=40 * US)  # runs from 160 to 200
    s.add('kernel', start=T0 + 230 * US, length=10 * US, name='alone', stream=7)
    data = answer(s)
    same(rows(data, 'idle', 'gpu', 'ns', 'permille', 'why'), [
        (0, 40 * US, 444, 'the host was late'), (0, 10 * US, 111, 'launch latency'),
        (0, 30 * US, 333, 'the launch is not recorded'), (0, 10 * US, 111, 'before the first work')])
    same(data['devices'][0]['idle_ns'], 90 * US)
    same(rows(data, 'latency', 'count', 'median_ns', 'max_ns', 'queued_thousandths'), [(2, 10 * US, 10 * US, 87)])  # 20 of 230


def test_gpu_communication():
    s = Spool().add('gpu', **H100)
    s.launch(0, length=100 * US, late=0)
    s.launch(50 * US, '_Z40ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE', length=100 * US, late=0, stream=8)
    s.launch(140 * US, length=30 * US, late=0).launch(200 * US, 'nvshmemi_put', length=5 * US, late=0)
    data = answer(s)
    same(rows(data, 'communication', 'total_ns', 'hidden_ns', 'exposed_ns', 'hidden_permille', 'hidden_share'), [(105 * US, 60 * US, 45 * US, 571, 57.14)])
    same(data['gpus'][0]['kernel_busy_ns'], 175 * US)


def test_gpu_launches():
    s = Spool().add('gpu', **H100)
    for i in range(3):
        s.launch(i * 20 * US, grid=132, block=256, registers=64, shared=49152)
    s.launch(90 * US, grid=1, block=32, registers=16)
    s.launch(110 * US, 'unshaped', block=2048)
    same(rows(answer(s), 'launches', 'name', 'count', 'shapes', 'grid', 'block', 'registers', 'shared_bytes', 'occupancy_permille'),
         [('gemm', 3, 2, '132,1,1', '256,1,1', 64, 49152, 500), ('unshaped', 1, 1, '1,1,1', '2048,1,1', 0, 0, None)])


def test_gpu_ranges():
    """Work belongs to the innermost range of its call's thread, and counts for the enclosing ranges, too."""
    s = Spool().add('gpu', **H100)
    for i in range(3):
        at = i * 1000 * US
        s.push(at, 'ProfilerStep#%d' % i).push(at + 1 * US, 'forward').launch(at + 2 * US, length=10 * US)
        s.push(at + 20 * US, 'conv', domain='net').launch(at + 21 * US, length=30 * US)
        s.pop(at + 100 * US, domain='net').launch(at + 110 * US, length=5 * US).pop(at + 200 * US)
        s.launch(at + 210 * US, length=2 * US, tid=2).pop(at + 300 * US)
        s.launch(at + 400 * US, length=7 * US)
    s.add('kernel', start=T0, length=999, correlation=77777, name='alone')
    data = answer(s)
    same(rows(data, 'ranges', 'path', 'count', 'host_ns', 'operations', 'own_ns', 'total_ns'), [
        ('ProfilerStep', 3, 900 * US, 0, 0, 135 * US), ('ProfilerStep/forward', 3, 597 * US, 6, 45 * US, 135 * US),
        ('ProfilerStep/forward/conv', 3, 240 * US, 3, 90 * US, 90 * US)])
    same(rows(data, 'steps', 'label', 'pid', 'operations', 'device_ns', 'time_ns'), [
        ('ProfilerStep#0', 1, 6, 54 * US + 999, MS), ('ProfilerStep#1', 1, 5, 54 * US, MS), ('ProfilerStep#2', 1, 5, 54 * US, None)])


def test_gpu_steps():
    """Steps that another process marks; each recorded process counts its own."""
    os.mkdir('t')
    for pid in (1, 2):
        s = Spool(pid=pid).launch(0)
        for i in range(2):
            s.add('step', start=T0 + (i + 1) * 100 * US, label='warm' if i else '').launch((i + 1) * 100 * US + 10, length=pid * US)
        spool('t', s.end(), pid)
    got = json.loads(tfprof('gpu', 't', '--output=json')[1])
    same(rows(got, 'steps', 'label', 'pid', 'operations', 'device_ns', 'time_ns'), [
        ('0', 1, 1, US, 100 * US), ('warm', 1, 1, US, None), ('0', 2, 1, 2 * US, 100 * US), ('warm', 2, 1, 2 * US, None)])
    same(got['ranges'], [])


def test_gpu_steps_of_views():
    """Steps of tfprof ctl and of --step-nvtx, which record writes into the folder, are the steps of the views."""
    os.mkdir('t')
    s = Spool().launch(0)
    for i in range(3):
        s.push((i + 1) * 100 * US, 'train').launch((i + 1) * 100 * US + 10, length=(i + 2) * US).pop((i + 1) * 100 * US + 50)
    path = spool('t', s.end())
    for name, text, labels in (('control', '%d step warm\n%d stop\n%d step\n' % (T0 + 150 * US, T0, T0 + 250 * US), ['warm', '1']),
                               ('options', '--step-nvtx=train\n', ['train'] * 3)):
        put('t/' + name, text)
        got = rows(json.loads(tfprof('gpu', 't', '--output=json')[1]), 'steps', 'label', 'operations', 'device_ns', 'time_ns')
        same([r[0] for r in got], labels, name)
        for step, row in enumerate(got):
            seen = tfprof('scope', path, '-step', str(step), '-select', 'accelerator_micros', '-max_depth', '1')[1]
            holds(seen, '/%.2fus)' % (row[2] / US))
    same(got, [('train', 1, 2 * US, 100 * US), ('train', 1, 3 * US, 100 * US), ('train', 1, 4 * US, None)])


def test_gpu_shared():
    """Two processes on one GPU: time in which both run counts for each of them."""
    os.mkdir('t')
    for pid, times in ((1, ((0, 10), (30, 40))), (2, ((5, 15), (50, 70)))):
        s = Spool(pid=pid).add('gpu', **H100)
        for a, b in times:
            s.add('kernel', start=T0 + a * US, length=(b - a) * US, name='k')
        spool('t', s.end(), pid)
    got = tfprof('gpu', 't', '--output=csv', '--table=processes')[1].splitlines()
    same(got[0], 'gpu,pid,busy_ns,others_ns,idle_ns,kernels,rank,host,job,program')
    # busy: 0-15, 30-40, 50-70 of 70 us
    same(got[1:], ['0,1,%d,%d,%d,2,,,,' % (20 * US, 25 * US, 25 * US), '0,2,%d,%d,%d,2,,,,' % (30 * US, 15 * US, 25 * US)])
    same(json.loads(tfprof('gpu', 't', '--output=json')[1])['gpus'][0]['shared_ns'], 5 * US)


def test_gpu_tables_of_traces():
    """devices, kernels and steps, which read a recording as a trace, have the numbers of gpu."""
    os.mkdir('t')
    for pid in (1, 2):
        s = Spool(pid=pid).add('gpu', **H100)
        for i in range(40):
            at = i * 100 * US + pid * 3 * US
            if i % 10 == 0:
                s.add('mark', start=T0 + at, name='tfprof.step', tid=1)
            s.push(at, 'layer%d' % (i % 3)).launch(at + 1 * US, ('gemm', 'relu', 'ncclDevKernel')[i % 3], length=(7 + i % 5) * US)
            s.launch(at + 4 * US, word='copy', api='cudaMemcpyAsync', kind=1 + i % 2, bytes=100 * i, length=(2 + i % 3) * US)
            s.pop(at + 60 * US)
        spool('t', s.end(), pid)
    gpu, devices, kernels, steps = (json.loads(tfprof(*words, '-output', 'json')[1]) for words in (
        ('gpu', 't'), ('devices', 't'), ('kernels', 't', '--top=0'), ('steps', 't', '--top=0')))
    g, d = gpu['gpus'][0], devices['devices'][0]
    same([len(gpu['gpus']), len(devices['devices']), d['device'], d['kind']], [1, 1, 'gpu:0', 'gpu'])
    same(gpu, devices)
    same([d[k] for k in ('span_ns', 'communication_busy_ns', 'communication_compute_overlap_ns')],
         [g['to_ns'] - g['from_ns'], *rows(gpu, 'communication', 'total_ns', 'hidden_ns')[0]])
    same(sum(r['ns'] for r in gpu['idle']), d['idle_ns'])
    same(d['compute_busy_ns'] + d['communication_busy_ns'] - d['communication_compute_overlap_ns'], g['kernel_busy_ns'])
    same(g['kernel_busy_ns'] + d['copy_busy_ns'] - g['copy_overlap_ns'], d['busy_ns'])
    same([d['copy_bytes'], d['slices'], d['sum_ns']], [sum(c['bytes'] for c in gpu['transfers']), 160, sum(
        r['total_ns'] for r in gpu['kernels']) + sum(c['ns'] for c in gpu['transfers'])])
    same(rows(kernels, 'kernels', 'name', 'count', 'total_ns', 'min_ns', 'max_ns', 'op')[:1] and sorted(
        r for r in rows(kernels, 'kernels', 'name', 'count', 'total_ns', 'min_ns', 'max_ns') if not r[0].startswith('Memcpy')),
        sorted(rows(gpu, 'kernels', 'name', 'count', 'total_ns', 'min_ns', 'max_ns')))
    same({r['name']: r['op'] for r in kernels['kernels'] if r['category'] != 'copy'},
         {'gemm': 'layer0', 'relu': 'layer1', 'ncclDevKernel': 'layer2'})
    same([(r['step'], r['name']) for r in steps['steps']], [(i, 'tfprof.step') for i in range(4)])
    same(sum(r['slices'] for r in steps['steps']), 160)
    scope = tfprof('scope', 't', '--merge=sum', '-select', 'accelerator_micros', '-max_depth', '1', '-step', '1')[1]
    holds(scope, '/%dus)' % sum(r['device_ns'] // US for r in gpu['steps'] if r['device_ns'] and gpu['steps'].index(r) % 4 == 1))


def test_gpu_copies():
    s = Spool().add('gpu', **H100)
    for i, (kind, src, dst, n) in enumerate(((1, 1, 3, 4096), (1, 1, 3, 4097), (1, 2, 3, 4096), (2, 3, 2, 1 << 24), (2, 3, 2, (1 << 24) + 1),
                                             (8, 3, 3, 100), (1, 1, 3, 1))):
        s.launch(i * 20 * US, word='copy', api='cudaMemcpyAsync', kind=kind, bytes=n, length=1000, **{'from': src, 'to': dst})
    same(rows(answer(s), 'copies', 'way', 'host_memory', 'size', 'count', 'bytes', 'ns', 'bytes_per_second'), [
        ('HtoD', 'pageable', '<=4 KiB', 2, 4097, 2000, 2048500000), ('HtoD', 'pageable', '<=64 KiB', 1, 4097, 1000, 4097000000),
        ('HtoD', 'pinned', '<=4 KiB', 1, 4096, 1000, 4096000000), ('DtoH', 'pinned', '<=16 MiB', 1, 1 << 24, 1000, (1 << 24) * 10 ** 6),
        ('DtoH', 'pinned', '>16 MiB', 1, (1 << 24) + 1, 1000, ((1 << 24) + 1) * 10 ** 6), ('DtoD', 'none', '<=4 KiB', 1, 100, 1000, 100000000)])


def test_gpu_graphs():
    s = Spool().add('gpu', **H100)
    for i in range(2):
        s.launch(i * 100 * US, 'node', length=3 * US, graph=5, node=1, api='cudaGraphLaunch')
        for node in (2, 3):
            s.add('kernel', start=T0 + i * 100 * US + (10 + 5 * node) * US, length=4 * US, name='node', graph=5, node=node,
                  correlation=s.correlation, stream=7)
    s.launch(300 * US, word='graph', graph=6, length=50 * US, api='cudaGraphLaunch')
    same(rows(answer(s), 'graphs', 'graph', 'pid', 'launches', 'nodes', 'ns'), [(5, 1, 2, 6, 22 * US), (6, 1, 1, 0, 50 * US)])


def test_gpu_memory():
    s = Spool().add('gpu', **H100)
    for at, address, n, freed, kind in ((0, 4096, 1000, 0, 3), (1, 8192, 500, 0, 3), (2, 4096, 0, 1, 3), (3, 12288, 200, 0, 3),
                                        (4, 1, 64, 0, 2), (9, 77, 0, 1, 3), (8, 77, 300, 0, 3), (10, 5, 0, 1, 3)):
        s.add('memory', start=T0 + at, address=address, bytes=n, freed=freed, memory=kind)
    s.launch(20)
    same(rows(answer(s), 'memory', 'kind', 'peak_bytes', 'left_bytes', 'bytes', 'allocations', 'frees'),
         [('device', 1500, 700, 2000, 4, 2), ('pinned', 64, 64, 64, 1, 0)])


def test_memory_is_that_of_gpu():
    """The command memory replays the same allocations."""
    s = Spool().add('gpu', **H100)
    for at, address, n, freed, kind in ((0, 4096, 1000, 0, 3), (1, 8192, 500, 0, 3), (2, 4096, 0, 1, 3), (3, 12288, 200, 0, 3), (4, 1, 64, 0, 2)):
        s.add('memory', start=T0 + at, address=address, bytes=n, freed=freed, memory=kind)
    s.launch(20)
    peaks = {r['kind']: r['peak_bytes'] for r in answer(s)['memory']}
    d = json.loads(tfprof('memory', 't', '-output', 'json')[1])
    same({r['allocator']: r['peak_bytes'] for r in d['memory']}, peaks)
    same([(r['allocator'], r['device'], r['bytes'], r['buffers']) for r in d['live']], [('device', 'gpu:0', 1500, 2), ('pinned', 'host', 64, 1)])
    same([u['bytes'] for u in d['use']], [[1000, 1500, 500, 700], [64]])
    for view in 'scope', 'op', 'code':
        d = json.loads(tfprof(view, 't', '-select', 'live_bytes,allocated_bytes,allocations', '-output', 'json')[1])
        same([sum(r['own_' + m] for r in d['rows']) for m in ('live_bytes', 'allocated_bytes', 'allocations')], [1564, 1764, 4])


def test_gpu_memory_in_time():
    """The peak of memory is computed in order of time, whatever the order of the records in the file."""
    s = Spool().add('gpu', **H100)
    for at, address, n, freed in ((30, 1, 1000, 0), (25, 2, 0, 1), (20, 2, 900, 0), (40, 2, 100, 0), (35, 1, 0, 1)):
        s.add('memory', start=T0 + at, address=address, bytes=n, freed=freed, memory=5)
    s.launch(50)
    same(rows(answer(s), 'memory', 'kind', 'peak_bytes', 'left_bytes', 'bytes', 'allocations', 'frees'),
         [('managed', 1000, 100, 2000, 3, 2)])


def test_gpu_overhead():
    s = Spool().add('gpu', **H100).launch(0)
    for length, kind in ((5000, 1 << 16), (7000, 1 << 16), (100, 1), (30, 99)):
        s.add('overhead', start=T0, length=length, kind=kind)
    same(rows(answer(s), 'overhead', 'kind', 'count', 'total_ns', 'max_ns'),
         [('flush of buffers', 2, 12000, 7000), ('compiler', 1, 100, 100), ('other', 1, 30, 30)])


def test_gpu_tables():
    """Every table has the same rows in csv, md and json; text has the tables that are not empty."""
    s = Spool().add('gpu', **H100).launch(0, grid=2, block=64, registers=8)
    data = answer(s)
    path = glob.glob('t/*')[0]
    for name in ('gpus', 'processes', 'transfers', 'kernels', 'waits', 'synchronisations', 'idle', 'latency', 'communication', 'calls', 'launches', 'ranges', 'steps', 'copies', 'graphs', 'memory', 'overhead'):
        lines = tfprof('gpu', path, '--output=csv', '--table=' + name)[1].splitlines()
        same(len(lines), 1 + len(data[name]), name)
        if data[name]:
            same(lines[0].split(','), list(data[name][0]))
        same(len(tfprof('gpu', path, '--output=md', '--table=' + name)[1].splitlines()), 2 + len(data[name]), name)
    md = tfprof('gpu', path, '--output=md')[1]
    holds(md, '## CUDA API calls\n\n| total_ns |')
    same('## Memory' in md, False)
    text = tfprof('gpu', path)[1]
    holds(text, 'Launch configurations:\n')
    same('Memory:' in text, False)
    s = Spool().add('gpu', **H100)
    for i in range(3):
        s.launch(i * 20 * US, '_Z4k%03dv' % i, grid=i + 1)
    text = tfprof('gpu', spool('t', s.end(), 2), '--top=1')[1]
    same(text.count('(1 of 3 rows; --top=0 shows all)\n'), 3, 'kernels, their launches, causes of idle time')
    holds(text, '  k000()\n(1 of 3')
    calls = tfprof('gpu', path, '--table=calls')[1]
    assert 'cudaLaunchKernel' in calls and 'k000()' not in calls, calls
