# SPDX-License-Identifier: Apache-2.0
"""The command gpu: what it says of two ranks is in gpu.txt (--accept)."""
import json
import os

from rig import ARGS, holds, put, same, spool, tfprof

ANSWER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'gpu.txt')
RUN = '''info pid %d
info argv /usr/bin/python
info env.RANK %d
info env.TFPROF_JOB night
string NVIDIA H200
string _ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_
string sgemm_128
string cudaStreamSynchronize_v3020
string the program's own profiler took over
device %d 18 1
kernel %d 20000 2 %d 7 1
kernel 1030000 25000 3 %d 7 2
kernel 1060000 21000 2 %d 7 3
kernel 0 0 2 %d 7 4
copy 1 1010000 40000 4000000 %d
copy 2 1200000 10000 1000 %d
set 1300000 1000 64 %d
graph 1310000 5000 3 %d
api 4 77 1000000 60000 9
api 4 77 1100000 70000 10
gap 1400000 1500000 5
sum 7 2 %d 10 100000 9000 11000 0
lost 0 12
note the buffers were full once
'''


def two_ranks():
    os.mkdir('g', 0o700)
    for rank in (0, 1):
        spool('g', RUN % ((10 + rank, rank, rank, 1000000 + 5000 * rank) + (rank,) * 9) + ('' if rank else 'end\n'),
              10 + rank)


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
        spool(name, 'string %s\nkernel 5 5 1 0 0 0\nend\n' % name)
    os.utime('tfprof-old', (1, 1))
    holds(tfprof('gpu')[1], 'tfprof-new')
    os.mkdir('empty')
    holds(tfprof('gpu', 'empty')[2], "'empty' holds no recording of a process")
    holds(tfprof('gpu', 'none')[2], "cannot open the folder 'none'")
    same(tfprof('gpu', 'a', 'b')[0], 2)
    put('junk/x.tfspool', 'junk')
    holds(tfprof('gpu', 'junk')[1], '4 bytes damaged')
    holds(tfprof('gpu', '--help')[1], '--top=N')
