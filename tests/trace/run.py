#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads generated traces, with the passes (trace_dump) and with the program.

    tests/trace/run.py --bin build/check [NAME...]
"""
import gzip
import json
import os
import re
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'check'), os.path.dirname(os.path.abspath(__file__))]
import cases  # noqa: E402
from xspace import Plane, data, number, space, varint  # noqa: E402
import trace_case  # noqa: E402
import viewer  # noqa: E402
from trace_case import check_schema, dump, equal, judge, program  # noqa: E402


def write(content, name='a.xplane.pb'):
    return trace_case.write(content, name)


def device_ops(d):
    """Returns {name: (type, runs, total, self, flops, bytes)} of device ops."""
    return {o['name']: (o['type'], o['runs'], o['device_total'], o['device_self'], o['flops'],
                        o['bytes_accessed']) for o in d['ops'] if o['kernels']}


def host_ops(d):
    return {o['name']: (o['type'], o['host_runs'], o['host_total'], o['host_self']) for o in d['ops']
            if o['host_runs']}


def tpu(index=0):
    return Plane('/device:TPU:%d' % index, {'device_type_string': 'TPU v9'})


def op(plane, name, tf_op, symbol, **stats):
    more = dict({'tf_op': tf_op} if tf_op else {}, **stats)
    return plane.meta('%%%s = f32[2]{0} %s(...)' % (name, name), name, program_id=5, symbol_id=symbol, **more)


def nested():
    p = tpu()
    loop, mul = op(p, 'while.1', 'jit(f)/while:', 1), op(p, 'fusion.2', 'jit(f)/mul:', 2, flops=10, bytes_accessed=8)
    p.line(3, 'XLA Ops', [(loop, 1000, 9000), (mul, 1500, 3000), (mul, 5000, 2000), (mul, 11000, 500)])
    return p


def self_time():
    """The self time of an op excludes the ops inside it."""
    d = dump(write(space(nested())))
    equal(device_ops(d), {'jit(f)/while': ('while', 1, 9000, 4000, 0, 0),
                          'jit(f)/mul': ('mul', 3, 5500, 5500, 30, 24)})
    u = d['devices'][0]
    equal((u['busy'], u['sum'], u['compute'], u['end'] - u['start']), (9500, 9500, 9500, 10500))


def device_clock():
    """Device times in stats are preferred to the times of the event."""
    p = tpu()
    m = op(p, 'f.1', 'jit(f)/mul:', 1)
    p.line(3, 'XLA Ops', [(m, 10, 999), (m, 20, 0, {'device_offset_ps': 5000, 'device_duration_ps': 333}),
                          (m, 2000, 1, {'device_offset_ps': 77})], timestamp=5)
    d = dump(write(space(p)))
    equal(device_ops(d)['jit(f)/mul'][1:4], (3, 1333, 1333))
    equal((d['tracks'][0]['first'], d['tracks'][0]['last']), (5000, 7001))


def occurrences():
    """An event may represent many occurrences. The executions of a framework op are those of its most frequent compiled
    op."""
    p = tpu()
    a, b = op(p, 'f.1', 'jit(f)/mul:', 1, flops=100), op(p, 'f.2', 'jit(f)/mul:', 2, flops=50)
    p.line(3, 'XLA Ops', [(a, None, 5000, {}, 8), (b, 10000, 100), (b, 20000, 100)])
    path = write(space(p))
    equal(device_ops(dump(path))['jit(f)/mul'], ('mul', 8, 5200, 5200, 900, 0))
    out = program('flops', path)[0]
    assert 'Runs are those of compiled ops' in out and 'calls  ' not in out, out
    equal([r['calls'] for r in json.loads(program('flops', path, '-output', 'json')[0])['ops']], [10])


def unknown_metadata():
    """Events without metadata keep their time; stats without a name are left out."""
    p = tpu()
    m = op(p, 'f.1', '', 1)
    p.line(3, 'XLA Ops', [(99, 0, 50), (m, 50, 100, {999: 1, 'x': ('ref', 4242)})])
    equal(device_ops(dump(write(space(p)))), {'(unknown)': ('Unknown', 1, 50, 50, 0, 0),
                                              'f.1': ('Unknown', 1, 100, 100, 0, 0)})


def no_ops():
    """Events without program or symbol on the line of ops are not ops."""
    p = tpu()
    p.line(3, 'XLA Ops', [(p.meta('x', symbol_id=3), 0, 50), (p.meta('y', program_id=3), 60, 50)])
    equal(device_ops(dump(write(space(p)))), {})


def other_lines():
    """Modules, asynchronous copies and derived lines do not add time."""
    p = tpu()
    m, mod = op(p, 'f.1', 'jit(f)/mul:', 1), p.meta('jit_f(5)')
    p.line(1, 'Steps', [(p.meta('0'), 0, 600, {'group_id': 0})])
    p.line(2, 'XLA Modules', [(mod, 0, 500, {'run_id': 7})])
    p.line(3, 'XLA Ops', [(m, 100, 100)])
    p.line(4, 'Async XLA Ops', [(m, 100, 400)])
    p.line(-559038734, 'Framework Ops', [(m, 100, 100)])
    d = dump(write(space(p)))
    equal(device_ops(d)['jit(f)/mul'][1:3], (1, 100))
    equal(d['devices'][0]['busy'], 100)
    equal([s['id'] for s in d['steps']], [0])


def runs_are_steps():
    """Without groups, runs of programs are the steps; an op belongs to the run around its event."""
    p = tpu()
    m, mod = op(p, 'f.1', 'jit(f)/mul:', 1), p.meta('jit_f(5)')
    p.line(2, 'XLA Modules', [(mod, 0, 100, {'run_id': 7}), (mod, 100, 100, {'run_id': 9})])
    p.line(3, 'XLA Ops', [(m, 90, 10, {'device_offset_ps': 105, 'device_duration_ps': 10}), (m, 150, 10)])
    d = dump(write(space(p)))
    equal((d['steps_by'], [s['id'] for s in d['steps']]), ('run', [7, 9]))
    out, _ = program('a.xplane.pb', 'scope', '-select', 'occurrence', '-step', '7', '-output', 'csv')
    assert 'jit(f)/mul' in out, out


def runs_are_joined():
    """If equal numbers name different programs on two devices, runs are joined by their programs, where all of them agree."""
    def device(index, programs):
        p, first = tpu(index), 4 - len(programs)
        m = op(p, 'f.1', 'jit(f)/mul:', 1)
        p.line(2, 'XLA Modules', [(p.meta('jit_' + name), 10**7 * (first + i), (90 + index) * 10**5, {'run_id': 1 + i}) for i, name in enumerate(programs)])
        p.line(3, 'XLA Ops', [(m, 10**7 * (first + i), (5 + index) * 10**6) for i in range(len(programs))])
        return p
    for programs, busy in (('gff', [5000, 11000, 11000, 11000]), ('ggg', 4 * [11000]), ('agf', 4 * [11000])):
        write(space(device(0, 'agff'), device(1, programs)))
        out, notes = program('steps', 'a.xplane.pb', '-output', 'json')
        equal([(r['step'], r['busy_ns']) for r in json.loads(out)['steps']], list(enumerate(busy, 1)))
        equal('1 device numbers its runs of programs differently from /device:TPU:0' in notes, programs == 'gff')
    write(space(device(0, 'agff'), device(1, 'agf')))
    out, _ = program('steps', 'a.xplane.pb')
    assert '3 of 4 steps begin' not in out, out
    p = tpu()
    m, f = op(p, 'f.1', 'jit(f)/mul:', 1), p.meta('jit_f')
    p.line(2, 'XLA Modules', [(f, 10**7 * i, 15 * 10**6, {'run_id': 1 + i}) for i in range(3)])
    p.line(3, 'XLA Ops', [(m, 10**7 * i, 10**6) for i in range(3)])
    write(space(p))
    assert '2 of 3 steps begin before an earlier step ends' in program('steps', 'a.xplane.pb')[0]


def runs_on_threads():
    """Runs of programs on threads are identified by a hash: they are numbered by start, named after their program, and extend from the first
    op to the last one on any thread. A note counts the programs if there are several."""
    p = Plane('/host:CPU')

    def event(name, at, n, run, module):
        return (p.meta(name), at, n, {'hlo_op': ('ref', name), 'hlo_module': ('ref', module), 'run_id': run})
    p.line(1, 'worker/1', [event('dot.1', 100, 50, -7, 'jit_f'), event('add.1', 500, 10, 1 << 40, 'jit_f')])
    p.line(2, 'worker/2', [event('mul.1', 160, 240, -7, 'jit_f'), event('dot.1', 450, 30, 1 << 40, 'jit_f')])
    path = write(space(p))
    d = dump(path)
    equal((d['steps_by'], [(s['id'], s['start'], s['end'], s['host_self']) for s in d['steps']]), ('run', [(0, 100, 400, 290), (1, 450, 510, 40)]))
    out, err = program('steps', path)
    assert err == '' and out.count('jit_f') == 2, (out, err)
    equal(json.loads(program('critical', path, '-step', '1', '-output', 'json')[0])['step'], 'step 1')
    p.line(3, 'worker/3', [event('neg.1', 600, 10, 5, 'jit_g')])
    assert 'each run of a program is a step: 3 runs of 2 programs' in ' '.join(program('steps', write(space(p)))[1].split())


def marks_are_steps():
    """Annotations with a step number are the steps. Later work on any thread belongs to the last step before it."""
    p = Plane('/host:CPU')
    train, op = p.meta('train'), p.meta('net/dense:MatMul')
    p.line(1, 'python', [(train, 1000 * i, 600, {'_r': 1, 'step_num': 7 + i}) for i in range(2)] +
           [(p.meta('element'), 10, 5, {'step_num': 9})])
    p.line(2, 'worker', [(op, 100, 10), (op, 900, 20), (op, 1100, 40)])
    d = dump(write(space(p)))
    equal((d['steps_by'], [s['id'] for s in d['steps']]), ('mark', [7, 8]))
    rows = json.loads(program('steps', 'a.xplane.pb', '-output', 'json')[0])['steps']
    equal([(r['step'], r['name'], r['duration_ns']) for r in rows], [(7, 'train', 0), (8, 'train', 0)])
    for step, runs in ((7, 2), (8, 1)):
        out, _ = program('a.xplane.pb', 'op', '-select', 'occurrence', '-step', str(step), '-output', 'ndjson')
        row = [json.loads(r) for r in out.splitlines() if '"MatMul"' in r][0]
        equal(row['total_occurrence'] if 'total_occurrence' in row else row['occurrence'], runs, step)


def marks_that_share_numbers():
    """Marks with different names and equal numbers are separate steps, numbered by start."""
    p = Plane('/host:CPU')
    train, test = p.meta('train'), p.meta('test')
    root = lambda n: {'_r': 1, 'step_num': n}
    p.line(1, 'python', [(train, 0, 2000, root(0)), (train, 3000, 3000, root(1)), (test, 7000, 4000, root(0))])
    write(space(p))
    rows = json.loads(program('steps', 'a.xplane.pb', '-output', 'json')[0])['steps']
    equal([(r['step'], r['name'], r['duration_ns']) for r in rows], [(0, 'train', 2), (1, 'train', 3), (2, 'test', 4)])


def marks_give_way():
    """Lines of steps and groups of slices take precedence over annotations."""
    host = Plane('/host:CPU')
    host.line(1, 'python', [(host.meta('train'), 0, 600, {'_r': 1, 'step_num': 7})])
    gpu = Plane('/device:GPU:0')
    gpu.line(1, 'Stream #1', [(gpu.meta('k'), 10, 5)]).line(-559038737, 'Steps', [(gpu.meta('3'), 0, 100, {'group_id': 3})])
    equal([s['id'] for s in dump(write(space(gpu, host)))['steps']], [3])
    gpu = Plane('/device:GPU:0').line(1, 'Stream #1', [])
    gpu.line(1, 'Stream #1', [(gpu.meta('k'), 10, 5, {'group_id': 4})])
    d = dump(write(space(gpu, host)))
    equal((d['steps_by'], [s['id'] for s in d['steps']]), ('group', [4]))


def compressed_texts():
    """Stats with compressed text are counted as unused."""
    p = tpu()
    m = op(p, 'f.1', 'jit(f)/mul:', 1)
    p.line(3, 'XLA Ops', [(m, 0, 100, {'x': ('compressed', gzip.compress(b'text'))}), (m, 100, 100)])
    equal(device_ops(dump(write(space(p))))['jit(f)/mul'][1:3], (2, 200))
    unused = json.loads(program('summary', 'a.xplane.pb', '-output', 'json')[0])['unused']
    equal([(u['kind'], u['count']) for u in unused], [('compressed texts', 1)])


def gpu_plane():
    p = Plane('/device:GPU:1')
    k, old, c = p.meta('kernel_a'), p.meta('kernel_b'), p.meta('MemcpyH2D')
    details = {'kernel_details': ('ref', 'regs:38 shm:0 grid:2,1,1 block:128,1,1')}
    p.line(14, 'Stream #14(Compute)', [
        (k, 0, 2000, dict(details, tf_op=('ref', 'model/dense/MatMul:MatMul'), correlation_id=3)),
        (old, 3000, 1000, dict(details, **{'level 0': 'model/old/MatMul_1:MatMul'})),
        (old, 5000, 10, dict(details, annotation='model/x/Relu:Relu#shape=(2)#')),
        (k, 6000, 20, dict(details, tf_op='XlaModule:', hlo_op='fusion.1', hlo_module='jit_f', program_id=3))])
    p.line(15, 'Stream #15(MemcpyH2D)', [
        (c, 7000, 500, {'memcpy_details': 'size:64 dest:4 async:0', 'correlation_id': 4}),
        (c, 8000, 30, {'memcpy_details': 'size:16 dest:4 async:0', 'correlation_id': 99})])
    p.line(-559038734, 'TensorFlow Ops', [(k, 0, 2000)])
    return p


def gpu():
    """Kernels belong to the framework op they name, copies to the op that launched them or to none."""
    host = Plane('/host:CPU')
    host.line(1, 'thread', [(host.meta('model/in:_Arg'), 0, 900), (host.meta('cuMemcpy'), 100, 50, {'correlation_id': 4})])
    d = dump(write(space(gpu_plane(), Plane('/device:GPU:2'), host)))
    equal({n: v[:3] for n, v in device_ops(d).items()}, {
        'model/dense/MatMul': ('MatMul', 1, 2000), 'model/old/MatMul_1': ('MatMul', 1, 1000),
        'model/x/Relu': ('Relu', 1, 10), 'jit_f/fusion.1': ('Unknown', 1, 20), 'model/in': ('_Arg', 1, 500),
        '(unattributed)/MemcpyH2D': ('(unattributed)', 1, 30)})
    equal((d['devices'][0]['copy_bytes'], d['devices'][0]['copy'], len(d['devices'])), (80, 530, 1))


def kinds():
    """Events share only the values of their equal stats. Each damaged stat is counted."""
    host, p = Plane('/host:CPU'), Plane('/device:GPU:1')
    call, k = host.meta('launch'), p.meta('kernel')
    host.line(1, 'thread', [(call, 100 * i, 10, {'correlation_id': i // 2} if i % 2 else {}) for i in range(4)])
    ops = ['a:MatMul', 'b:Relu', 'a:MatMul', None, 'b:Relu', 'a:MatMul']
    p.line(1, 'Stream #1', [(k, 1000000 * i, 5 + i, dict({'group_id': i, 'mine': 'x%d' % i}, **{'tf_op': op} if op else {}))
                            for i, op in enumerate(ops)])
    head = number(1, k) + number(2, 9000000) + number(3, 100)
    late = data(4, data(5, 'b:Relu') + number(1, p.name_id('tf_op')))  # the id is the last field
    other = data(4, number(4, 9) + number(1, p.name_id('group_id')))
    twice = data(4, number(1, p.name_id('group_id')) + number(4, 9) + number(4, 8))  # the last value counts
    damaged = data(4, number(1, p.name_id('tf_op')) + varint(5 << 3 | 2) + varint(99))
    p.lines.append(number(1, 2) + data(2, 'Stream #2') + data(4, head + late + other) + data(4, head + late + twice) + 2 * data(4, head + damaged))
    _, err = program(write(space(p, host)), 'scope', '-output', 'timeline:outfile=t.json')
    assert '2 messages of the XSpace are damaged' in err, err
    with open('t.json') as f:
        slices = [e for e in json.load(f)['traceEvents'] if e['ph'] == 'X']
    equal([e['cat'] for e in slices if e['name'] == 'launch'], ['annotation', 'call', 'annotation', 'call'])
    equal([(e['args'].get('scope'), e['args'].get('group'), e['args'].get('mine')) for e in slices if e['name'] == 'kernel'],
          [(op and op.split(':')[0], i, 'x%d' % i) for i, op in enumerate(ops)] + [('b', 9, None), ('b', 8, None)] + 2 * [(None, None, None)])
    equal({n: v[1] for n, v in device_ops(dump('a.xplane.pb')).items()}, {'a': 3, 'b': 4, '(unattributed)/kernel': 3})


def host():
    """Ops of threads are found by name, without allocations; overlapping ops that do not nest are siblings."""
    p = Plane('/host:CPU')
    p.line(1, 'thread', [(p.meta('dense/MatMul:MatMul'), 0, 4000), (p.meta('Iterator::Batch::Map'), 100, 300),
                         (p.meta('MemoryAllocation'), 200, 0, {'tf_op': 'dense/MatMul:MatMul', 'addr': 5}),
                         (p.meta('MyAnnotation'), 5000, 10), (p.meta('$a.py:12 f'), 0, 9000)])
    p.line(2, 'other', [(p.meta('a:MatMul'), 0, 100), (p.meta('b:Relu'), 50, 100)])
    d = dump(write(space(p)))
    equal(host_ops(d), {'dense/MatMul': ('MatMul', 1, 4000, 3700), 'Iterator::Batch::Map': ('Dataset', 1, 300, 300),
                        'a': ('MatMul', 1, 100, 100), 'b': ('Relu', 1, 100, 100)})
    out, _ = program('a.xplane.pb', 'code', '-select', 'occurrence', '-max_depth', '5')
    assert 'a.py:12:f' in out, out


def memory():
    """Peaks are those of the allocator; at the largest use, the allocated bytes of each op are shown."""
    p = Plane('/host:CPU')

    def at(ns, name, op, address, n, total):
        return (p.meta(name), 1000 * ns, 0, {'tf_op': op, 'addr': address, 'allocation_bytes': n, 'bytes_allocated': total,
                                      'bytes_available': 10000 - total, 'allocator_name': 'GPU_0_bfc', 'peak_bytes_in_use': 5000})
    p.line(1, 'thread', [(p.meta('a:MatMul'), 0, 10 ** 6), at(100, 'MemoryAllocation', 'a:MatMul', 1, 100, 1100), at(200, 'MemoryAllocation', 'b:Relu', 2, 300, 1400),
                         at(300, 'MemoryDeallocation', 'a:MatMul', 1, 100, 1300), at(400, 'MemoryAllocation', 'b:Relu', 1, 700, 2000),
                         at(500, 'MemoryDeallocation', 'b:Relu', 2, 300, 1700), at(600, 'MemoryDeallocation', 'x:X', 77, 9, 1691)])
    write(space(p))
    d = json.loads(program('memory', 'a.xplane.pb', '-output', 'json')[0])
    row, = d['memory']
    equal([row[k] for k in ('allocator', 'allocations', 'frees', 'allocated_bytes', 'peak_bytes', 'peak_at_ns', 'live_bytes', 'capacity_bytes')],
          ['GPU_0_bfc', 3, 3, 1100, 5000, None, 2000, 10000])
    equal(d['use'], [{'ns': [100, 200, 300, 400, 500, 600], 'bytes': [1100, 1400, 1300, 2000, 1700, 1691]}])
    equal([(r['op'], r['bytes'], r['buffers'], r['share']) for r in d['live']], [('b', 1000, 2, 50), ('(before the trace)', 1000, 0, 50)])
    equal(program('memory', 'a.xplane.pb')[0].splitlines()[1].split()[:3], ['5.00KB', '2.00KB', '3'])
    assert 'no allocations that tfprof reads' in program('memory', write(space(tpu().line(3, 'Steps', [(1, 0, 5)]))), status=1)[1]


def memory_in_many_moments():
    """Of a million moments, the peak and the last moment remain."""
    p = Plane('/host:CPU')
    m = p.meta('MemoryAllocation')
    p.line(1, 'thread', [(m, 10000 * i, 0, {'addr': i, 'allocation_bytes': 1, 'bytes_allocated': 9999 if i == 7777 else i % 100}) for i in range(20000)])
    d = json.loads(program('memory', write(space(p)), '-output', 'json')[0])
    use, = d['use']
    assert len(use['ns']) == len(use['bytes']) <= 2002 and use['ns'] == sorted(use['ns']), len(use['ns'])
    equal((max(use['bytes']), use['ns'][use['bytes'].index(9999)], use['ns'][-1], use['bytes'][-1]), (9999, 77770, 199990, 99))


def roofline():
    """roofline shows float operations and bytes per second of ops beside the peaks in the plane."""
    p = Plane('/device:TPU:0', {'peak_teraflops_per_second': 2.0, 'peak_hbm_bw_gigabytes_per_second': 500.0})
    mul = op(p, 'f.1', 'jit(f)/mul:', 1, flops=1000000, bytes_accessed=10000)
    add = op(p, 'f.2', 'jit(f)/add:', 2, flops=1000, bytes_accessed=500000)
    start = op(p, 'copy-start.1', '', 3, bytes_accessed=500000, hlo_category='copy-start')
    done = op(p, 'copy-done.1', '', 4, bytes_accessed=500000, hlo_category='copy-done')
    p.line(3, 'XLA Ops', [(mul, 0, 10 ** 6), (mul, 10 ** 6, 10 ** 6), (add, 2 * 10 ** 6, 4 * 10 ** 6), (start, 6 * 10 ** 6, 1000),
                          (done, 7 * 10 ** 6, 10 ** 6)])
    d = json.loads(program('roofline', write(space(p)), '-output', 'json')[0])
    equal(d['peaks'], [{'device': '/device:TPU:0', 'flops_per_second': 2 * 10 ** 12, 'bytes_per_second': 5 * 10 ** 11}])
    equal([[r[k] for k in ('op', 'time_ns', 'runs', 'float_ops', 'bytes_accessed', 'intensity', 'flops_per_second', 'bytes_per_second', 'roof', 'bound')]
           for r in d['roofline']],
          [['jit(f)/add', 4000, 1, 1000, 500000, 0, 25 * 10 ** 7, 125 * 10 ** 12 // 1000, 25, 'memory'],
           ['jit(f)/mul', 2000, 2, 2000000, 20000, 100, 10 ** 12, 10 ** 10, 50, 'compute'],
           ['copy-done.1', 1000, 1, None, None, None, None, None, None, None],
           ['copy-start.1', 1, 1, None, None, None, None, None, None, None]])
    text = program('roofline', 'a.xplane.pb')[0]
    assert '1.00T' in text and 'No rate for 2 ops that begin or end an asynchronous one' in text, text


def same_line_twice():
    """A line in two parts is one track."""
    p = tpu()
    m = op(p, 'f.1', 'jit(f)/mul:', 1)
    p.line(3, 'XLA Ops', [(m, 200, 100)]).line(3, 'XLA Ops', [(m, 0, 100)])
    d = dump(write(space(p)))
    equal((len(d['tracks']), device_ops(d)['jit(f)/mul'][1:3]), (1, (2, 200)))


def huge():
    """Impossible times are clamped and never wrap."""
    p = tpu()
    m = op(p, 'f.1', 'jit(f)/mul:', 1)
    p.line(3, 'XLA Ops', [(m, -5, 10), (m, 1 << 62, 1 << 62), (m, 5, -7)])
    d = dump(write(space(p)))
    equal((d['clamped'], device_ops(d)['jit(f)/mul'][2]), (2, (1 << 62) + 9))
    _, err = program('a.xplane.pb', 'op')
    assert 'note: the times of 2 slices are impossible and were clamped' in err, err


def late_clock():
    """Times since 1970 fit, although they are in picoseconds."""
    p = tpu()
    m = op(p, 'f.1', 'jit(f)/mul:', 1)
    p.line(3, 'XLA Ops', [(m, 0, 100), (m, 300, 100)], timestamp=1700000000000000000)
    d = dump(write(space(p)))
    equal((d['clamped'], d['tracks'][0]['first'], d['tracks'][0]['last']), (0, 0, 400))


def compressed_and_piped():
    """gzip is found by its magic; standard input works like a file."""
    plain = dump(write(space(nested())))
    equal(dump(write(gzip.compress(space(nested())), 'a.xplane.pb.gz')), plain)
    expected, _ = program('a.xplane.pb', 'op', '-select', 'micros,occurrence')
    equal(program('a.xplane.pb.gz', 'op', '-select', 'micros,occurrence')[0], expected)
    with open('a.xplane.pb', 'rb') as f:
        equal(program('op', '--profile_path=-', '-select', 'micros,occurrence', given=f.read())[0], expected)


def messages_of_the_profiler():
    """Errors and warnings in the file are printed."""
    _, err = program(write(space(nested(), errors=['no\npermission'], warnings=['dropped 5'])), 'op')
    equal(err, "note: the profiler's error: no\\x0apermission\nnote: the profiler's warning: dropped 5\n")


def truncated():
    """A truncated file is refused with the place; --recover reads its intact part."""
    content = space(nested())
    write(content[:-20])
    _, err = program('a.xplane.pb', 'op', status=3)
    assert 'a.xplane.pb: byte ' in err and 'past the end of the input' in err, err
    _, err = program('a.xplane.pb', 'op', '--recover')
    assert 'warning: ' in err, err
    for n in range(0, len(content), 7):
        write(content[:n], 'cut.xplane.pb')
        judge('tfprof', 'cut.xplane.pb', 'op', '--recover')


def copied_as_text():
    """A file whose bytes were replaced as in a text is refused, and the hint gives the reason."""
    content = space(nested(), nested())
    write(content.decode('utf-8', 'replace').encode().replace(b'\n', b'\n\xef\xbf\xbd', 1))
    for words in ((), ('--recover',)):
        _, err = program('a.xplane.pb', 'op', *words, status=3)
        assert 'hint: the file was copied as text' in err and '--recover reads' not in err, err


def damaged_bytes():
    """With any changed byte, the program answers or refuses the file."""
    content = bytearray(space(nested(), gpu_plane(), errors=['x']))
    for at in range(0, len(content), 11):
        changed = bytearray(content)
        changed[at] ^= 0x5a
        write(bytes(changed), 'b.xplane.pb')
        judge('trace_dump', '--recover', 'b.xplane.pb')


def tables():
    """devices, kernels and steps have the same numbers in every output, respect --top, and match their schemas."""
    write(space(sample_gpu(), sample_host(), hosts=['node1']))
    d = dump('a.xplane.pb')
    out = {}
    for command in ('devices', 'kernels', 'steps'):
        text, _ = program('a.xplane.pb', command, '-output', 'json', '--top=0')
        doc = out[command] = json.loads(text[text.index('{'):])
        csv = program(command, 'a.xplane.pb', '-output', 'csv')[0].split('\n')
        keys = [k for k in csv if ',' in k][0].split(',')
        equal(list(doc[command][0]), keys)
        equal((doc['row_count'], doc['rows']), (len(doc[command]), doc[command]))
        check_schema(command, doc)
        assert program('a.xplane.pb', command)[0].count('\n') >= doc['row_count'], command
    u, found = d['devices'][0], out['devices']['devices'][0]
    equal([found[k] for k in ('busy_ns', 'compute_busy_ns', 'copy_busy_ns', 'sum_ns', 'copy_bytes', 'slices')],
          [u[k] // (1000 if k not in ('copy_bytes', 'slices') else 1)
           for k in ('busy', 'compute', 'copy', 'sum', 'copy_bytes', 'slices')])
    equal(found['idle_ns'], found['window_ns'] - found['busy_ns'])
    equal(sum(k['total_ns'] for k in out['kernels']['kernels']), found['sum_ns'])
    equal([(k['name'], k['op'], k['count']) for k in out['kernels']['kernels']][0], ('gemm_kernel', 'model/dense/MatMul', 4))
    equal([(s['step'], s['duration_ns'], s['slices']) for s in out['steps']['steps']],
          [(3, 1000, 3), (4, 1000, 3)])
    lines = program('a.xplane.pb', 'kernels', '--top=1')[0].split('\n')
    equal(lines[-2], '(1 of %d rows; --top=0 shows all)' % out['kernels']['row_count'])
    equal(program('gpu', 'a.xplane.pb', '-output', 'csv'), program('devices', 'a.xplane.pb', '-output', 'csv'))
    _, err = program('a.xplane.pb', 'kernels', '--top=-1', status=2)
    assert "'-1' is below 0" in err, err


def no_trace():
    """devices and kernels need a trace; steps has the steps of other profiles, with the times of the summary."""
    profile = os.path.join(cases.TESTDATA, 'example', 'profile_100')
    err = program('steps', os.path.join(cases.TESTDATA, 'traces', 'tensorrt_layers.json'), status=1)[1]
    assert "hint: 'summary' shows what the files contain" in err, err
    for command in ('devices', 'kernels', 'critical'):
        _, err = program(profile, command, status=1)
        assert 'the loaded files contain neither a trace nor a recording\nhint: for other profiles, ' in err, err
    steps = json.loads(program(profile, 'steps', '-output', 'json')[0])['rows']
    summary = json.loads(program(profile, 'summary', '-output', 'json')[0])
    equal([s['step'] for s in steps], [0, 1, 2, 3])
    equal(json.loads(program(profile, 'steps', '-step', '1..2', '-output', 'json')[0])['rows'], steps[1:3])
    equal(max(steps, key=lambda s: s['duration_ns'])['step'], summary['steps']['slowest'])
    gpu = next(d for d in summary['devices'] if 'GPU' in d['name'])
    equal(sum(s['busy_ns'] for s in steps), gpu['busy_ns'])
    for s in steps:
        equal(s['busy_ns'] + s['idle_ns'], s['devices'] * s['duration_ns'])
        equal(s['compute_busy_ns'], None)


def step_by_time():
    """-step slowest, fastest and median choose a step by its time."""
    profile = os.path.join(cases.TESTDATA, 'example', 'profile_100')
    for word, step in (('slowest', 2), ('fastest', 0)):
        out, err = program(profile, 'top', '-step', word)
        assert 'the %s step is %d\n' % (word, step) in err, err
        equal(out, program(profile, 'top', '-step', str(step))[0])
    graph = os.path.join(cases.TESTDATA, 'example', 'graph.pbtxt')
    _, err = program(graph, 'top', '-step', 'slowest', status=1)
    assert "no steps are loaded: 'slowest' needs one" in err, err


def source_lines():
    """code -source prints source lines with their times; only files below -source_path are read, links resolved."""
    profile = os.path.join(cases.TESTDATA, 'example', 'profile_100')
    os.makedirs('below/deep')
    with open('below/deep/dataset.py', 'w') as f:
        f.writelines('line %d\n' % i for i in range(1, 21))
    with open('model.py', 'w') as f:
        f.writelines('secret %d\n' % i for i in range(1, 21))
    os.symlink('../model.py', 'below/model.py')
    out, err = program(profile, 'code', '-source', '-source_path', 'below/deep', '-n', '0')
    lines = {line.split(None, 3)[-1]: line.split()[:3] for line in out.split('\n') if 'ms' in line}
    equal(lines['line 13'], ['9.41ms', '9.41ms', '13'])
    assert '                        10  line 10\n' in out and 'line 8\n' not in out, out
    out, err = program(profile, 'code', '--source', '--source-path=below', '-n', '0')
    assert 'secret' not in out and 'x = conv2d(x, kernel)' in out, out  # a link leads outside; the profile has the line
    assert "source files are not below -source_path 'below'" in err, err
    assert 'secret 9' in program(profile, 'code', '-source', '-n', '0')[0]  # the current folder
    rows = json.loads(program(profile, 'code', '-output', 'json', '-max_depth', '1')[0])['rows']
    own = sum(float(n) * (1000 if unit == 'ms' else 1) for n, unit in re.findall(r'^ *([\d.]+)(us|ms) ', out, re.M))
    assert abs(own - rows[0]['total_micros']) < rows[0]['total_micros'] / 100, (own, rows[0])
    _, err = program(profile, 'code', '-source', '-output', 'csv', status=2)
    assert '-source prints text only' in err, err
    files = [line for line in out.split('\n') if line.endswith('(micros)')]
    equal(files[:2], ['dataset.py (micros)', 'model.py (micros)'])  # the file with the slowest line first


def source_lines_of_built_ins():
    """The time of a built-in function of Python belongs to the line that calls it, in code -source as in top -by source."""
    def slice_(cat, name, at, length, **args):
        return {'ph': 'X', 'cat': cat, 'name': name, 'pid': 1, 'tid': 1, 'ts': at, 'dur': length, 'args': args}
    events = [slice_('python_function', 'train.py(3): step', 0, 90), slice_('python_function', 'linear.py(124): forward', 5, 50),
              slice_('python_function', '<built-in function linear>', 6, 40), slice_('cpu_op', 'aten::linear', 10, 30),
              slice_('cpu_op', 'aten::add', 60, 8)]
    write(json.dumps({'schemaVersion': 1, 'traceEvents': events}).encode(), 'builtin.pt.trace.json')
    out, _ = program('builtin.pt.trace.json', 'code', '-source', '-n', '0')
    equal([line.split() for line in out.split('\n') if 'us' in line],
          [['30.0us', '30.0us', '124'], ['8.00us', '38.0us', '3']])
    rows = json.loads(program('builtin.pt.trace.json', 'top', '-by', 'source', '-output', 'json')[0])['rows']
    equal([(r['path'], r['own_self_micros']) for r in rows], [('linear.py(124): forward', 30), ('train.py(3): step', 8)])


def sample():
    """The trace of the examples equals the output of this script."""
    with open(os.path.join(cases.TESTDATA, 'traces', 'trace.xplane.pb'), 'rb') as f:
        equal(f.read() == sample_trace(), True)


def trace_viewer():
    """The JSON for TensorBoard's trace viewer gives the same answers as the XSpace from which it was made: device work is
    device work, with float operations, bytes, framework ops and steps from the arguments."""
    chips = [nested(), nested()]
    for i, p in enumerate(chips):
        p.name = '/device:TPU:%d' % i
        reduce = op(p, 'all-reduce.3', 'jit(f)/psum:', 3, hlo_category='all-reduce')
        p.line(5, 'Steps', [(p.meta('%d' % k), 20000000 * k, 12000000) for k in range(2)])
        p.line(4, 'XLA Modules', [(p.meta('jit_f(5)'), 0, 11000000)])
        p.line(3, 'XLA Ops', [(reduce, 12000000, 1000000), (reduce, 25000000, 1000000)])
        p.line(6, 'Framework Ops', [(p.meta('jit(f)/mul'), 0, 9000000)])
    thread = Plane('/host:CPU')
    thread.line(1, 'python', [(thread.meta('train'), 0, 900000, {'step_num': 0, '_r': 1}), (thread.meta('train'), 1000000, 900000, {'step_num': 1, '_r': 1}),
                              (thread.meta('dense/MatMul:MatMul'), 100000, 400000), (thread.meta('$a.py:12 f'), 50000, 700000)])
    commands = [('op', '-select', 'accelerator_micros,cpu_micros,float_ops,occurrence'), ('scope', '-select', 'accelerator_micros,cpu_micros,float_ops'),
                ('steps',), ('kernels',), ('roofline',)]
    for content in (sample_trace(), space(*chips), space(gpu_plane(), thread)):
        write(content)
        with open('a.trace.json', 'wb') as f:
            f.write(viewer.of_xspace(content))
        with gzip.open('b.trace.json.gz', 'wb') as f:
            f.write(viewer.of_xspace(content))
        for words in commands:
            status = 1 if words == ('roofline',) and b'TPU' not in content else 0
            want = program(*words, 'a.xplane.pb', '-output', 'csv', status=status)[0]
            for name in ('a.trace.json', 'b.trace.json.gz'):
                equal(program(*words, name, '-output', 'csv', status=status)[0], want, (words, name))
        busy = [[(d['device'], d['busy_ns'], d['sum_ns'], d['idle_ns'])
                 for d in json.loads(program('devices', name, '-output', 'json')[0])['devices']] for name in ('a.xplane.pb', 'a.trace.json')]
        equal(busy[1], busy[0])
        assert busy[0], busy
        out, _ = program('summary', 'a.trace.json')
        assert 'device work (not in the file)' not in out, out


def types_of_compiled_ops():
    """Compiled ops on CPU threads in the JSON for the trace viewer, which lacks the programs, have the types that their names begin with."""
    p = Plane('/host:CPU')
    p.line(1, 'worker/1', [(p.meta(name), at, n, {'hlo_op': name, 'hlo_module': 'jit_step'})
                           for name, at, n in (('dot.3', 0, 3000000), ('ynn_fusion.5', 4000000, 2000000), ('dot.12', 7000000, 1000000), ('while', 9000000, 500000))])
    with open('a.trace.json', 'wb') as f:
        f.write(viewer.of_xspace(space(p)))
    doc = json.loads(program('op', 'a.trace.json', '-select', 'cpu_micros', '-output', 'json')[0])
    equal({r['path']: float(r['own_cpu_micros']) for r in doc['rows'] if r['own_cpu_micros']}, {'dot': 4.0, 'ynn_fusion': 2.0, 'while': 0.5})


def damaged_names():
    """The name of a stat whose message is malformed is counted: without it the file has fewer FLOPs."""
    content = space(nested())
    for wrong in (b'\x12\x06flops', b'\x02\x05flops'):  # a length beyond the end, a field number of 0
        _, err = program(write(content.replace(b'\x12\x05flops', wrong)), 'op')
        assert '1 message of the XSpace is damaged' in err, err


CASES = [runs_on_threads, trace_viewer, types_of_compiled_ops, self_time, device_clock, occurrences, unknown_metadata, no_ops, other_lines, runs_are_steps, runs_are_joined,
         marks_are_steps, marks_that_share_numbers, marks_give_way, compressed_texts, gpu, kinds, host, memory,
         memory_in_many_moments, roofline, same_line_twice, huge, late_clock, compressed_and_piped, messages_of_the_profiler, truncated, copied_as_text,
         damaged_bytes, damaged_names, tables, no_trace, step_by_time, source_lines, source_lines_of_built_ins, sample]

def sample_gpu():
    """Returns two steps on a GPU: a copy, a matrix product in two kernels, a relu."""
    p = Plane('/device:GPU:0', {'memory_size': 16945512448})
    details = {'kernel_details': ('ref', 'regs:38 static_shared:64 dynamic_shared:0 grid:2,1,1 block:128,1,1')}
    gemm, relu, copy, step = p.meta('gemm_kernel'), p.meta('relu_kernel'), p.meta('MemcpyH2D'), p.meta('0')
    kernels, copies, steps = [], [], []
    for i in range(2):
        at = 2000000 * i
        copies.append((copy, at, 200000, {'memcpy_details': 'size:4096 dest:0 async:1', 'correlation_id': 10 * i + 1}))
        for k in range(2):
            kernels.append((gemm, at + 150000 + 300000 * k, 250000,
                            dict(details, tf_op=('ref', 'model/dense/MatMul:MatMul'), correlation_id=10 * i + 2)))
        kernels.append((relu, at + 1100000, 50000, dict(details, tf_op=('ref', 'model/dense/Relu:Relu'))))
        steps.append((step, at, 1000000, {'group_id': 3 + i}))
    p.line(7, 'Stream #7(Compute)', kernels).line(8, 'Stream #8(MemcpyH2D)', copies)
    return p.line(-559038737, 'Steps', steps)


def sample_host():
    p = Plane('/host:CPU')
    events = []
    for i in range(2):
        at = 2000000 * i
        events += [(p.meta('model/in:_Arg'), at, 100000, {'group_id': 3 + i}),
                   (p.meta('cuMemcpyHtoDAsync'), at + 10000, 20000, {'correlation_id': 10 * i + 1}),
                   (p.meta('model/dense/MatMul:MatMul'), at + 120000, 80000, {'group_id': 3 + i}),
                   (p.meta('cuLaunchKernel'), at + 130000, 10000, {'correlation_id': 10 * i + 2})]
    return p.line(1, 'main', events)


def sample_trace():
    return space(sample_gpu(), sample_host(), hosts=['node1'])


if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES, write=lambda folder: write(sample_trace(), os.path.join(folder, 'trace.xplane.pb'))))
