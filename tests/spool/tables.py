# SPDX-License-Identifier: Apache-2.0
"""The tables of a recording: devices, kernels, steps. They read it without making nodes."""
import json
import subprocess

from rig import same
from script import Spool


def work():
    """Makes two streams of a GPU with gaps of all kinds, in two steps; times are ns after the origin."""
    s = Spool(env_RANK=0).add('gpu', id=0, uuid='GPU-A').push(0, 'ProfilerStep#1').push(10, 'forward')
    s.launch(1000, 'gemm', late=1000, length=10000)                     # 2000 to 12000
    s.launch(1500, 'gemm', late=11500, length=5000)                     # 13000 to 18000, launched in time: short gap
    s.launch(60000, 'ncclDevKernel_AllReduce', late=5000, length=4000)  # 65000 to 69000, launched late
    s.launch(62000, word='copy', api='cudaMemcpyAsync', kind=1, bytes=4096, late=5000, length=6000, stream=8)
    s.pop(69900).pop(70000)
    s.push(100000, 'ProfilerStep#2').launch(100100, 'gemm', late=900, length=1000).pop(150000)
    return s.end()


def check_tables(t):
    """The tables have the known numbers, also in a session with the recording loaded."""
    path = t.write(work())
    device, = json.loads(t.run('devices', path, '-output', 'json'))['devices']
    same({k: v for k, v in device.items() if k not in ('device', 'kind')}, {
        'window_ns': 150000, 'span_ns': 100000, 'busy_ns': 24000, 'idle_ns': 126000, 'compute_busy_ns': 16000,
        'communication_busy_ns': 4000, 'copy_busy_ns': 6000, 'communication_compute_overlap_ns': 0,
        'exposed_communication_ns': 4000, 'exposed_copy_ns': 4000, 'copy_bytes': 4096,
        'slices': 5, 'sum_ns': 26000, 'host_late_ns': 44000 + 27100, 'launch_latency_ns': 2 * 900, 'kernel_gap_ns': 1000,
        'event_wait_ns': 0, 'other_process_ns': 0, 'unknown_wait_ns': 2100, 'unknown_launch_ns': 0, 'before_first_ns': 2000,
        'after_last_ns': 48000})
    same(json.loads(t.run('gpu', path, '--output=json'))['devices'], [device])
    rows = json.loads(t.run('kernels', path, '-output', 'json'))['kernels']
    same([(r['name'], r['category'], r['count'], r['total_ns'], r['min_ns'], r['max_ns'], r['op']) for r in rows], [
        ('gemm', 'kernel', 3, 16000, 1000, 10000, 'ProfilerStep/forward'),
        ('MemcpyHtoD', 'copy', 1, 6000, 6000, 6000, 'ProfilerStep/forward'),
        ('ncclDevKernel_AllReduce', 'communication', 1, 4000, 4000, 4000, 'ProfilerStep/forward')])
    rows = json.loads(t.run('steps', path, '-output', 'json'))['steps']
    same([(r['slices'], r['busy_ns']) for r in rows], [(4, 23000), (1, 1000)])
    for table in ('devices', 'kernels', 'steps'):
        alone = t.run(table, path, '-output', 'csv')
        p = subprocess.run([t.args.program, path], input=('%s -output csv\n' % table).encode(), stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, cwd=t.where)
        assert alone in p.stdout.decode(), p.stdout.decode()


def check_timeline(t):
    """A timeline contains the ranges, calls and work of all threads and streams, with flows. Reading it back gives the
    same numbers and names."""
    path = t.write(work())
    t.run('scope', path, '-output', 'timeline:outfile=tl.json')
    events = json.load(open(t.path('tl.json')))['traceEvents']
    count = lambda **want: sum(all(e.get(k) == v for k, v in want.items()) for e in events)
    same([count(cat='annotation', ph='X'), count(cat='annotation', name='forward') > 0], [3, True])
    same([count(ph='s'), count(ph='f'), count(cat='call') >= count(ph='s')], [5, 5, True])
    for command, keys in (('devices', ('devices', 'idle', 'latency', 'calls', 'waits')), ('kernels', ('kernels',))):
        ours, theirs = (json.loads(t.run(command, p, '-output', 'json', '--top=0')) for p in (path, 'tl.json'))
        for key in keys:
            same(theirs[key], ours[key])
    kernels = t.runs('scope', 'tl.json')
    assert [n for n in kernels if 'forward' in n], kernels


def check_table_notes(t):
    """Notes report data that a recording lacks. Files that are not recordings fail like any other input."""
    path = t.write(Spool().launch(0, 'k').add('kernel', start=5000, length=10, correlation=77, name='k', stream=1))
    t.run('devices', path)
    assert 'has no end' in t.notes and 'no record of the call' in t.notes, t.notes
    with open(t.path('other.tfspool'), 'wb') as f:
        f.write(b'not a recording\n' * 8)
    t.run('devices', '--spool=other.tfspool', status=3)
