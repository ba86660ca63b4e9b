# SPDX-License-Identifier: Apache-2.0
"""The command gpu: what it says of two ranks is in gpu.txt (--accept)."""
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
    gpu = data['gpus'][0]
    same(len(data['gpus']), 1)
    same(gpu['uuid'], 'GPU-' + '12121212-1212-1212-1212-121212121212')
    same([p['rank'] for p in gpu['processes']], ['0', '1'])
    same(gpu['busy_ns'], 76000 + 10000 + 1000 + 5000)  # 1000000-1055000, 1060000-1081000, and what follows
    same(gpu['busy_ns'] + gpu['idle_ns'], gpu['to_ns'] - gpu['from_ns'])
    same(gpu['shared_ns'], gpu['busy_ns'] - 5000)
    same(gpu['copies'][0], {'way': 'HtoD', 'count': 2, 'bytes': 8000000, 'ns': 80000,
                            'bytes_per_second': 100000000000})
    same(sum(k['count'] for k in data['kernels']), 2 * (3 + 10 + 1))
    same(data['waits'][0]['total_ns'], 260000)
    same([data['lost'][k] for k in ('dropped', 'operations_without_times', 'operations_in_sums_only',
                                    'times_not_recorded', 'processes_not_closed')], [24, 2, 20, 2, 1])
    same(len(json.loads(tfprof('gpu', 'g', '--output=json', '--top=1')[1])['kernels']), 1)
    rows = [x.split(',') for x in tfprof('gpu', 'g', '--output', 'csv')[1].split('\n')]
    same(len(set(map(len, (x for x in rows[:10] if len(x) > 1)))), 1, 'cells of the rows')
    same([r[4] for r in rows if len(r) > 4 and r[2] == 'busy'], [str(gpu['busy_ns'])])


def test_gpu_words():
    got = tfprof('gpu')
    same(got[0], 3)
    holds(got[2], 'no folder of a recording (tfprof-DATE-PID) is here')
    for name in ('tfprof-old', 'tfprof-new'):
        os.mkdir(name)
        spool(name, Spool().add('kernel', name=name, start=T0 + 5, length=5).end())
    os.utime('tfprof-old', (1, 1))
    holds(tfprof('gpu')[1], 'tfprof-new')
    os.mkdir('empty')
    holds(tfprof('gpu', glob.glob('tfprof-old/*')[0])[1], 'tfprof-old')
    holds(tfprof('gpu', 'empty')[2], "'empty' holds no recording of a process")
    holds(tfprof('gpu', 'none')[2], "cannot open the folder 'none'")
    same(tfprof('gpu', 'a', 'b')[0], 2)
    one = spool('empty', Spool().add('kernel', name='k', start=T0 + 5, length=5).end())
    same(tfprof('gpu', one)[1], tfprof('gpu', 'empty')[1])
    put('junk/x.tfspool', 'junk')
    got = tfprof('gpu', 'junk')
    same(got[0], 3)
    holds(got[2], 'junk/x.tfspool: byte 0: not the beginning of a block')
    with open(spool('tfprof-new', Spool().add('kernel', name='k', start=T0 + 5, length=5).end(), 9, 1, 9), 'ab') as f:
        f.write(b'junk')
    same(tfprof('gpu', 'tfprof-new')[0], 3)
    got = tfprof('gpu', '--recover', 'tfprof-new')
    same(got[0], 0)
    holds(got[1], '4 bytes damaged')
    holds(got[2], 'warning: ')
    holds(tfprof('gpu', '--help')[1], '--top=N')
