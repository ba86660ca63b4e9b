#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads generated PyTorch traces: views, workers, folders, damage, timelines.

    tests/trace/kineto_run.py --bin build/check [NAME...]
"""
import csv
import gzip
import json
import os
import subprocess
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'check'), os.path.dirname(os.path.abspath(__file__))]
import kineto  # noqa: E402
import trace_case  # noqa: E402
from trace_case import check_schema, dump, equal, program, rows  # noqa: E402


def write(content, name='a.pt.trace.json'):
    return trace_case.write(content, name)


def passes():
    """Ops, device work by op, steps and devices are exact to the nanosecond."""
    d = dump(write(kineto.trace(kineto.steps())))
    ops = {o['name']: (o['host_runs'], o['host_self'], o['kernels'], o['device_total']) for o in d['ops']}
    equal(ops['nn.Module: Linear_0/aten::linear/aten::addmm'], (2, 40000, 2, 4500))
    equal(ops['nn.Module: Linear_0/aten::linear'], (2, 20000, 0, 0))
    equal(ops['aten::copy_'], (2, 20002, 2, 6250))
    equal(ops['AddmmBackward0'], (2, 24000, 2, 2000))
    equal([(s['id'], s['end'] - s['start']) for s in d['steps']], [(4, 90000), (5, 90000)])
    device, = d['devices']
    equal([device[k] for k in ('device', 'slices', 'sum', 'busy', 'compute', 'copy', 'copy_bytes')],
          ['gpu:0', 6, 12750, 12750, 6500, 6250, 8192])
    equal(device['end'] - device['start'], 151000)


def views():
    """Scope, op and code show modules, ops and Python frames."""
    write(kineto.trace(kineto.steps()))
    select = ['-select', 'micros,accelerator_micros,occurrence']
    scope = rows('a.pt.trace.json', 'scope', *select)
    assert 'nn.Module: Linear_0/aten::linear/aten::addmm' in scope, sorted(scope)
    op = rows('a.pt.trace.json', 'op', *select)
    equal(sorted(k for k in op if 'aten' in k or 'Back' in k), ['AddmmBackward0', 'aten::addmm', 'aten::copy_', 'aten::linear'])
    out, _ = program('a.pt.trace.json', 'code', '-max_depth', '10')
    assert 'train.py:3:step' in out, out
    out, _ = program('a.pt.trace.json', 'op', '-step', '5', *select)
    assert 'aten::addmm' in out, out
    _, err = program('a.pt.trace.json', 'code', '-output', 'pprof:outfile=p')
    assert os.path.getsize('p') > 100, err


def workers():
    """Ranks are workers; a folder of traces has one worker per trace; if a process has several traces, the newest is used."""
    os.mkdir('log')
    for r, kernel in ((0, 2.0), (1, 52.0)):
        content = gzip.compress(kineto.trace(kineto.steps(kernel), rank=r))
        write(content, 'log/host%d_1.200.pt.trace.json.gz' % r)
    listed, _ = program('log/host0_1.200.pt.trace.json.gz', 'log/host1_1.200.pt.trace.json.gz', 'op', '-by', 'worker')
    assert 'host1_1' in listed, listed
    equal(program('log', 'op', '-by', 'worker')[0], listed)
    tables('log', 2)
    select = ['-step', '4', '-select', 'accelerator_micros,self_micros,occurrence']
    grouped, plain = rows('log', 'op', '-by', 'op', *select), rows('log', 'op', *select)
    equal([grouped['aten::addmm']['own_' + k] for k in select[3].split(',')],
          [plain['aten::addmm']['own_' + k] for k in select[3].split(',')])
    equal(plain['aten::addmm']['own_accelerator_micros'], (2 + 52) // 2)
    write(b'not read', 'log/host0_1.100.pt.trace.json')
    out, err = program('log/', 'op', '-by', 'worker')
    equal(out, listed)
    assert 'older' in err, err


def tables(log, n):
    """The rows of devices, kernels and steps are those of each worker alone, with its name."""
    for table in ('devices', 'kernels', 'steps'):
        found = {}
        for r in json.loads(program(log, table, '--top=0', '-output', 'json')[0])[table]:
            found.setdefault(r.pop('worker'), []).append({k: v for k, v in r.items() if k != 'share'})
        equal(len(found), n)
        for name, its in found.items():
            file, = [f for f in os.listdir(log) if f.startswith(name)]
            alone = json.loads(program(os.path.join(log, file), table, '--top=0', '-output', 'json')[0])[table]
            equal(its, [{k: v for k, v in r.items() if k != 'share'} for r in alone], table)


def sections():
    """Idle causes, launch latencies and calls of a trace with launches; gpu is another name of devices."""
    events = (kineto.launch(100, 1, 110, 20) + kineto.launch(115, 2, 130, 10) +
              [kineto.event('cuda_runtime', 'cudaDeviceSynchronize', 120, 25)] + kineto.launch(150, 3, 160, 5) +
              [kineto.event('kernel', 'unlaunched', 170, 1, 0, 7, device=0, stream=7)])
    path = write(kineto.trace(events))
    out, _ = program('devices', path, '-output', 'json')
    equal(program('gpu', path, '-output', 'json')[0], out)
    doc = json.loads(out)
    equal({x['cause']: (x['ns'], x['why']) for x in doc['idle']}, {
        'host_late': (10000, 'the host was late'), 'launch_latency': (10000, 'launch latency'),
        'unknown_launch': (5000, 'the launch is not recorded'), 'before_first': (10000, 'before the first work')})
    equal(sum(x['ns'] for x in doc['idle']), doc['devices'][0]['idle_ns'])
    equal([(x['gpu'], x['count'], x['max_ns']) for x in doc['latency']], [(0, 3, 15000)])
    equal({x['name']: (x['count'], x['total_ns'], x['blocking_ns']) for x in doc['calls']},
          {'cudaLaunchKernel': (3, 4500, 0), 'cudaDeviceSynchronize': (1, 25000, 20000)})
    text, _ = program('gpu', path)
    for title in ('Why GPUs were idle:', 'Time from a call to the start of its work:', 'CUDA API calls:'):
        assert title in text, text
    plain = kineto.trace([e for e in events if e['cat'] == 'kernel'])
    assert 'idle' not in json.loads(program('devices', write(plain), '-output', 'json')[0])


def launches_steps_copies():
    """Launch configurations, work by steps, and copies by memory and size of a trace; without a direction a copy is other."""
    shape = {'grid': [4, 2, 1], 'block': [128, 1, 1], 'registers_per_thread': 40, 'shared_memory': 64}
    events = [kineto.event('user_annotation', 'ProfilerStep#%d' % n, at, 90) for n, at in ((7, 100), (9, 200))]
    for n, (start, grid) in enumerate(((110, [4, 2, 1]), (210, [4, 2, 1]), (220, [1, 1, 1]))):
        events += kineto.launch(start - 5, n + 1, start, 5, **dict(shape, grid=grid))
    for n, name in enumerate(('Memcpy HtoD (Pageable -> Device)', 'MemcpyD2H', 'CopyHostToDevice', 'Memcpy')):
        events += kineto.launch(230 + 10 * n, n + 10, 232 + 10 * n, 2, name, 'gpu_memcpy', bytes=5000)
    events += kineto.launch(130, 20, 132, 1, 'sgemm', grid='4,2', block=[1, -1, 1])  # no configuration
    doc = json.loads(program('devices', write(kineto.trace(events)), '-output', 'json')[0])
    equal([(x['name'], x['count'], x['shapes'], x['grid'], x['block'], x['registers']) for x in doc['launches']],
          [('sgemm', 2, 2, '4,2,1', '128,1,1', 40)])
    equal([(x['label'], x['operations'], x['device_ns']) for x in doc['steps']], [('7', 2, 6000), ('9', 6, 18000)])
    equal({x['way']: (x['count'], x['bytes']) for x in doc['transfers']}, {'HtoD': (2, 10000), 'DtoH': (1, 5000), 'other': (1, 5000)})
    equal([(x['way'], x['host_memory'], x['size'], x['count'], x['bytes']) for x in doc['copies']],
          [('HtoD', 'pageable', '<=64 KiB', 1, 5000)])


def ranges():
    """Work by annotations is exact to the nanosecond: the total of a range includes its inner ranges. Work outside of ranges
    and steps have no rows; a slash in a name makes levels."""
    events = [kineto.event('user_annotation', name, start, length) for name, start, length in (
        ('ProfilerStep#3', 99, 150), ('train', 100, 100), ('forward/head', 105, 40), ('train', 300, 10))]
    events += [kineto.event('cpu_op', 'aten::mm', 108, 10),
              kineto.event('gpu_user_annotation', 'train', 120, 60, 0, 7, device=0, stream=7)]
    events += kineto.launch(110, 1, 120, 30) + kineto.launch(150, 2, 160, 7) + kineto.launch(210, 3, 220, 5)
    doc = json.loads(program('devices', write(kineto.trace(events)), '-output', 'json')[0])
    check_schema('devices', doc)
    equal([[r[k] for k in ('path', 'total_ns', 'own_ns', 'operations', 'host_ns', 'count')] for r in doc['ranges']],
          [['train', 37000, 7000, 1, 110000, 2], ['train/forward', 30000, 0, 0, 0, 0],
           ['train/forward/head', 30000, 30000, 1, 40000, 1]])


def chosen_workers():
    """Commands about one trace answer for the worker that -worker_regexes selects, as for its file alone."""
    files = [write(kineto.trace(kineto.steps(2.0 + 50 * i), rank=i), '%s.pt.trace.json' % name) for i, name in enumerate('ab')]
    for words in (['idle'], ['critical'], ['what-if', 'launch=0']):
        for i in range(2):
            chosen = ['-worker_regexes', 'ab'[i] + r'\..*', '-output', 'json']
            answers = [json.loads(program(*words, *on)[0]) for on in ([*files, *chosen], [files[i], '-output', 'json'])]
            equal(*[{k: v for k, v in a.items() if k != 'sources'} for a in answers])
        _, refused = program(*words, *files, status=1)
        assert 'NAME is one of a.pt.trace.json, b.pt.trace.json' in refused, refused


def sections_of_workers():
    """With several traces, each row of the additional tables names its worker. A trace without launches has no such
    rows. Calls are sorted by time."""
    for i, name in enumerate(('a', 'b')):
        events = kineto.launch(100, 1, 110, 20) + kineto.launch(115, 2, 130 + 7 * i, 10)
        if i:
            events += [kineto.event('cuda_runtime', 'cudaDeviceSynchronize', 120, 25)] + kineto.launch(160, 3, 170, 5)
        write(kineto.trace(events, rank=i), name + '.pt.trace.json')
    kernels = [e for e in kineto.launch(100, 1, 110, 20) if e['cat'] == 'kernel']
    write(kineto.trace(kernels, rank=2), 'c.pt.trace.json')
    files = ['%s.pt.trace.json' % n for n in 'abc']
    doc = json.loads(program('devices', *files, '-output', 'json')[0])
    check_schema('devices', doc)
    equal([r['worker'] for r in doc['devices']], files)
    for name, alone in zip(files[:2], [json.loads(program('devices', f, '-output', 'json')[0]) for f in files]):
        for table in ('gpus', 'idle', 'kernels', 'waits', 'latency', 'communication', 'processes', 'calls'):
            rows_of = [{k: v for k, v in r.items() if k != 'worker'} for r in doc[table] if r['worker'] == name]
            equal(sorted(map(str, rows_of)), sorted(map(str, alone[table])), table)
    equal({r['worker'] for t in ('idle', 'latency', 'calls') for r in doc[t]}, set(files[:2]))
    totals = [r['total_ns'] for r in doc['calls']]
    equal((len(totals), totals), (3, sorted(totals, reverse=True)))
    text, _ = program('devices', *files)
    equal([line.split()[1] for line in text.split('\n') if line.startswith('worker')], ['device', 'gpu', 'gpu', 'time', 'total', 'total', 'gpu', 'gpu', 'total'])
    assert '(2 of 3 rows; --top=0 shows all)' in program('devices', *files, '--top=2')[0]
    equal(len(program('devices', *files, '-output', 'csv')[0].split()), 4)


def folded(*words):
    """Returns {stack: microseconds} from `-output folded`, which has nanoseconds."""
    lines = program('code', *words, '-output', 'folded')[0].splitlines()
    return {line.rsplit(' ', 1)[0]: int(line.rsplit(' ', 1)[1]) / 1000 for line in lines if ' ' in line and line.rsplit(' ', 1)[1].isdigit()}


def per_step():
    """Averages are sums over the chosen steps divided by their number, also of ops that run in one of them only. Times are
    nanoseconds up to the printed number, and float operations are counted per call."""
    op = lambda name, ts, dur, m=0: kineto.event('cpu_op', name, ts, dur, **({'Input Dims': [[m, 3], [3, 5]]} if m else {}))
    sizes = {4: (2, 8), 5: (4,), 6: ()}  # by step: rows of the matrix products
    events, own, flops = [], {}, {}
    for step, rows_of in sizes.items():
        at = 1000 * step
        events.append(kineto.event('user_annotation', 'ProfilerStep#%d' % step, at, 900))
        for i, m in enumerate(rows_of):
            length = 79.125 + i + step / 8
            events.append(op('aten::mm', at + 10 + 100 * i, length, m))
            own[step] = own.get(step, 0) + length
            flops[step] = flops.get(step, 0) + 2 * m * 3 * 5
        events += kineto.launch(at + 600, 10 + step, at + 610, 0.25)
    events.append(op('aten::once', 5500, 0.018))
    path = write(kineto.trace(events))
    metrics_ = 'cpu_micros,accelerator_micros,occurrence,kernels,float_ops'
    found = {s: rows(path, 'op', '-step', s, '-select', metrics_) for s in ('-1', '4', '5', '6', '4,5')}
    mm = {s: [found[s]['aten::mm']['own_' + k] for k in ('cpu_micros', 'occurrence', 'float_ops')] for s in found}
    for s in (4, 5, 6):
        equal(mm[str(s)], [own.get(s, 0), len(sizes[s]), flops.get(s, 0)], s)
    for s, chosen in (('-1', (4, 5, 6)), ('4,5', (4, 5))):
        equal(mm[s], [sum(own.get(i, 0) for i in chosen) / len(chosen), sum(len(sizes[i]) for i in chosen) / len(chosen),
                      sum(flops.get(i, 0) for i in chosen) / len(chosen)], s)
    equal([found[s]['aten::once']['own_cpu_micros'] for s in ('-1', '4', '5')], [0.006, 0, 0.018])
    equal([found[s]['(unattributed)']['own_accelerator_micros'] if '(unattributed)' in found[s] else
           sum(r['own_accelerator_micros'] for r in found[s].values()) for s in ('-1', '4')], [0.25, 0.25])
    totals = {}
    for s in found:
        out, _ = program('scope', path, '-step', s, '-select', metrics_, '-output', 'json')
        totals[s] = json.loads(out)['total']
    for k, v in totals['-1'].items():
        v, mean = v or 0, sum(totals[s][k] or 0 for s in ('4', '5', '6')) / 3
        assert abs(v - mean) < 1e-9 * max(1, mean), (k, v, mean)
    text, _ = program('op', path, '-step', '5', '-select', 'cpu_micros', '-max_depth', '100')
    assert ' 18ns (' in text and ' 79.8us (' in text, text
    out, _ = program('diff', path + '@4', path + '@5', '--view', 'op', '-select', 'cpu_micros', '-output', 'json', '-all')
    row = {r['path']: r for r in json.loads(out[out.index('{'):])['rows']}['aten::mm']
    equal([row['own_cpu_micros_left'], row['own_cpu_micros_right']], [own[4], own[5]])


def stacks_of_calls():
    """In the view code, each call counts at its own stack, even if calls of the same op have different stacks. Device
    work counts at the stack of its launch."""
    op = lambda name, ts, dur: kineto.event('cpu_op', name, ts, dur)
    frame = lambda name, ts, dur, i: kineto.event('python_function', name, ts, dur, Python_id=i)
    events = [frame('net.py(90): main', 0, 1000, 1), frame('net.py(5): small', 10, 90, 2), op('aten::mm', 20, 40), op('aten::t', 30, 10),
              frame('net.py(6): large', 100, 800, 3), op('aten::mm', 110, 700), op('aten::t', 200, 50), op('aten::relu', 950, 20),
              op('aten::relu', 2000, 3)]
    events += kineto.launch(40, 1, 45, 100) + kineto.launch(400, 2, 410, 1000) + kineto.launch(780, 3, 2000, 7)
    path = write(kineto.trace(events))
    small, large, main = 'net.py:90:main;net.py:5:small', 'net.py:90:main;net.py:6:large', 'net.py:90:main'
    equal(folded(path, '-select', 'self_micros'), {small: 40, large: 700, main: 20, '(no call stack)': 3})
    equal(folded(path, '-select', 'accelerator_micros'), {small: 100, large: 1007})
    equal(program('code', path)[1], '')
    for view in 'code', 'scope', 'op':
        equal(json.loads(program(view, path, '-select', 'micros', '-output', 'json')[0])['total']['micros'], 1870, view)
    equal(folded(path, '-select', 'self_micros', '-account_type_regexes', 'aten::t'), {small: 10, large: 50})
    equal({k: (r['own_occurrence'], r['own_self_micros']) for k, r in rows(path, 'scope', '-select', 'occurrence,self_micros').items()
           if k.startswith('aten')}, {'aten::mm': (2, 680), 'aten::mm/aten::t': (2, 60), 'aten::relu': (2, 23)})
    stacks = [dict(e) for e in events if e['cat'] == 'cpu_op']  # the last two calls (relu) have no stack
    for e, text in zip(stacks, ('a.py(1): f;b.py(2): g', 'a.py(1): f;b.py(2): g', 'a.py(3): h;b.py(2): g')):
        e['args'] = dict(e['args'], **{'Call stack': text})
    equal(folded(write(kineto.trace(stacks)), '-select', 'self_micros'), {'b.py:2:g;a.py:1:f': 40, 'b.py:2:g;a.py:3:h': 650, '(no call stack)': 73})


def shown_rows():
    """By default op shows all types; code shows lines with one child and no own numbers as one row, and says how many rows the depth cuts."""
    frame = lambda name, ts, dur: kineto.event('python_function', name, ts, dur)
    events = [frame('a.py(1): launcher', 0, 10000), frame('a.py(2): spawn', 1, 9990), frame('a.py(3): run', 2, 9980), frame('t.py(4): train', 3, 9970)]
    for i in range(14):
        events += [frame('n.py(%d): f' % i, 10 + 10 * i, 9900 - 20 * i), kineto.event('cpu_op', 'aten::op%d' % i, 11 + 10 * i, 5)]
        events += kineto.launch(12 + 10 * i, 1 + i, 100 + i * 10, 7)
    events += [frame('n.py(40): g', 9940, 9), kineto.event('cpu_op', 'aten::mm', 9941, 3)]
    path = write(kineto.trace(events))
    out, err = program('op', path)
    equal((sorted(x.split()[0] for x in out.splitlines() if x.startswith('aten::')), err), (sorted(['aten::op%d' % i for i in range(14)] + ['aten::mm']), ''))
    out, err = program('code', path)
    lines = [x.split(' (')[0] if '> (' not in x else ' ('.join(x.split(' (')[:2]) for x in out.splitlines() if '.py:' in x]
    equal(lines[:2], ['  a.py:1:launcher > (2 lines) > t.py:4:train', '    n.py:0:f'])
    equal((len(lines), err), (10, 'note: 6 more rows, 42.0us of accelerator_micros (-max_depth 10)\n'))
    out, err = program('code', path, '-max_depth', '100')
    equal((sum('.py:' in x for x in out.splitlines()), err), (16, ''))
    equal(program('code', path, '-max_depth', '4')[1], '')
    out, _ = program('code', path, '-show_name_regexes', '.*spawn.*')
    assert '\n  a.py:2:spawn (0ns/98.0us, 0ns/73.0us)\n' in out, out


def functions_without_files():
    """Functions without a source file are shown by their full name, so that different functions are different lines."""
    frame = lambda name, ts, dur, i: kineto.event('python_function', name, ts, dur, Python_id=i)
    names = ['<built-in method %s of type object at 0x7f>' % n for n in ('relu', 'tanh')]
    events = [frame('net.py(90): a_function_with_a_long_name', 0, 100, 1), frame(names[0], 10, 20, 2), frame(names[1], 40, 20, 3)]
    events += [kineto.event('cpu_op', 'aten::relu', 12, 5), kineto.event('cpu_op', 'aten::tanh', 42, 7)]
    path = write(kineto.trace(events))
    equal(folded(path, '-select', 'self_micros'), {'net.py:90:a_function_with_a...;' + n: us for n, us in zip(names, (5, 7))})
    found = {r['function']: (r['file'], r['line']) for r in rows(path, 'code', '-select', 'self_micros').values()}
    equal(found, {None: (None, None), 'a_function_with_a_long_name': ('net.py', 90), names[0]: (None, None), names[1]: (None, None)})


def rows_of_op():
    """Text of op shows 20 types of a trace and says how many are left out; -n, -max_depth and data outputs show what they state."""
    path = write(kineto.trace([kineto.event('cpu_op', 'aten::op_%02d' % i, 100 * i, 90 - i) for i in range(30)]))
    for more, shown in (([], 20), (['-n', '0'], 30), (['-n', '3'], 3), (['-max_depth', '25'], 25)):
        out, notes = program('op', path, *more)
        equal(out.count('aten::op_'), shown, ' '.join(more))
        assert ('10 more rows (-n 0 shows all)' in notes) == (not more), notes
    equal(len(rows(path, 'op')), 30)


def lines_around_functions():
    """The line of an op inside a built-in function is the line that calls the function, in -by source, critical and idle -by line."""
    frame = lambda name, ts, dur, i: kineto.event('python_function', name, ts, dur, Python_id=i)
    line, call = 'net/linear.py(124): forward', '<built-in function linear>'
    events = [frame('train.py(1): step', 0, 200, 1), frame(line, 10, 100, 2), frame(call, 20, 80, 3), kineto.event('cpu_op', 'aten::addmm', 30, 60)]
    events += kineto.launch(40, 1, 60, 10) + [kineto.event('cpu_op', 'aten::mul', 145, 20)] + kineto.launch(150, 2, 155, 45)
    path = write(kineto.trace(events))
    equal({n for n, r in rows(path, 'op', '-by', 'source').items() if r['own_accelerator_micros']}, {line, 'train.py(1): step'})
    found = {s['name']: s['line'] for s in json.loads(program('critical', path, '-output', 'json')[0])['segments']}
    equal((found[call], found['aten::addmm'], found[line]), (line, line, line))
    places = [p for d in json.loads(program('idle', path, '-by', 'line', '-output', 'json')[0])['devices'] for c in d['causes'] for p in c['places']]
    equal({p['name'] for p in places if p['kind'] == 'line'}, {line, 'train.py(1): step'})
    out, _ = program('critical', path)
    assert call in out and line in out, out


def backward():
    """Backward ops are in the module of the forward op with their sequence number, on whatever thread; without one they stay."""
    op = lambda name, ts, dur, tid, seq, fwd=0: kineto.event(
        'cpu_op', name, ts, dur, tid=tid, **{'Sequence number': seq, 'Fwd thread id': fwd})
    module = lambda name, ts, dur, i: kineto.event('python_function', 'nn.Module: ' + name, ts, dur, Python_id=i)
    events = [op('aten::linear', 11, 8, 2, 7), module('Linear_0', 10, 10, 1), module('Linear_1', 30, 10, 2),
              op('aten::linear', 31, 8, 2, 8), op('aten::add', 50, 5, 2, 9)]
    events = [dict(e, tid=2) for e in events]
    events += [op('AddmmBackward0', 60, 10, 1, 8, 2), op('aten::mm', 61, 5, 1, 8, 2), op('AddmmBackward0', 80, 10, 1, 7, 2),
               op('AddBackward0', 95, 4, 1, 9, 2), op('LostBackward0', 100, 4, 1, 77, 2)]
    launched = [dict(e, tid=1) if e['cat'] == 'cuda_runtime' else e for e in kineto.launch(62, 5, 66, 3)]
    path = write(kineto.trace(events + launched))
    found = {o['name']: (o['host_self'], o['device_total']) for o in dump(path)['ops']}
    equal(found, {'nn.Module: Linear_0': (2000, 0), 'nn.Module: Linear_0/aten::linear': (8000, 0),
                  'nn.Module: Linear_1': (2000, 0), 'nn.Module: Linear_1/aten::linear': (8000, 0), 'aten::add': (5000, 0),
                  'nn.Module: Linear_1/AddmmBackward0': (5000, 0), 'nn.Module: Linear_1/AddmmBackward0/aten::mm': (5000, 3000),
                  'nn.Module: Linear_0/AddmmBackward0': (10000, 0), 'AddBackward0': (4000, 0), 'LostBackward0': (4000, 0)})
    by = {o['name']: (o['host_self'], o['device_total']) for o in dump(path, '--by=module')['ops']}
    equal(by, {'nn.Module: Linear_0': (20000, 0), 'nn.Module: Linear_1': (20000, 3000), '(no module)': (13000, 0)})
    by = {o['name']: (o['host_self'], o['device_total']) for o in dump(path, '--by=module-class')['ops']}
    equal(by, {'nn.Module: Linear': (40000, 3000), '(no module)': (13000, 0)})
    equal({o['name'] for o in dump(write(kineto.trace((events + launched)[::-1])))['ops']}, set(found))


def tensorboard():
    """The folder plugins/profile gives its newest run."""
    for run, kernel in (('2024_01_01', 9.0), ('2025_01_01', 2.0)):
        os.makedirs('log/plugins/profile/' + run)
        write(kineto.trace(kineto.steps(kernel)), 'log/plugins/profile/%s/h.trace.json' % run)
    expected = rows('log/plugins/profile/2025_01_01/h.trace.json', 'op')
    equal(rows('log', 'op'), expected)


def order():
    """The order of the events in the file does not matter."""
    events = kineto.steps()
    plain = dump(write(kineto.trace(events)))
    turned = dump(write(kineto.trace(events[::-1])))
    for k in ('devices', 'steps'):
        equal(turned[k], plain[k], k)
    key = json.dumps
    equal(sorted(turned['ops'], key=key), sorted(plain['ops'], key=key))


def forms():
    """gzip, standard input, a bare array and appended arrays give the same numbers."""
    content = kineto.trace(kineto.steps())
    plain = dump(write(content))['devices']
    equal(dump(write(gzip.compress(content), 'a.json.gz'))['devices'], plain)
    array = json.dumps(kineto.steps()).encode()
    equal(dump(write(array, 'b.json'))['devices'], plain)
    half = len(kineto.steps()) // 2
    parts = [json.dumps(kineto.steps()[:half]).encode(), json.dumps(kineto.steps()[half:]).encode()]
    p = subprocess.run([os.path.join(trace_case.BIN, 'trace_dump'), write(b'\n'.join(parts), 'c.json')], capture_output=True)
    equal((json.loads(p.stdout)['devices'], b'concatenated' in p.stderr), (plain, True))
    expected = program('a.pt.trace.json', 'op')[0]
    with open('a.json.gz', 'rb') as f:
        equal(program('op', '--profile_path=-', given=f.read())[0], expected)


def cut():
    """A truncated file gives its complete events, with status 0 and one note."""
    content = kineto.trace(kineto.steps())
    first = content.index(b'}', content.index(b'ProfilerStep')) + 3
    whole = dump(write(content))['slices']
    last = 0
    for n in range(first, len(content), 97):
        write(content[:n], 'cut.json')
        p = subprocess.run([os.path.join(trace_case.BIN, 'trace_dump'), 'cut.json'], capture_output=True, text=True)
        equal((p.returncode, p.stderr.count('truncated')), (0, 1), n)
        found = json.loads(p.stdout)['slices']
        assert last <= found <= whole, (n, last, found)
        last = found
    packed = gzip.compress(content)
    _, err = program(write(packed[:len(packed) * 3 // 4], 'cut.json.gz'), 'op')
    assert 'truncated gzip' in err, err
    kineto.write_large('large.json', 9000)
    with open('large.json', 'rb') as f:
        content = f.read()
    for n in (600000, 1 << 20, 2000000):
        _, err = program(write(content[:n], 'cut.json'), 'op')
        start = content.rindex(b'},\n  {', 0, n) + 2  # after the comma
        line = content[:start].count(b'\n') + 1
        assert f'(line {line}, byte {start})' in err and 'damaged' not in err, (n, err)


def nothing():
    """An unreadable file is refused, with the reason."""
    for content, reason in ((b'', 'empty file'), (kineto.trace([]).decode().encode('utf-16'), 'unsupported encoding'),
                            (b'{"traceEvents":' + b'[' * 200000, 'depth limit'), (b'{"traceEvents":[{"ph":"X', 'truncated')):
        _, err = program(write(content, 'n.json'), 'op', status=3)
        assert reason in err, err
    _, err = program(write(b'', 'e.json.gz'), 'op', status=3)
    assert 'empty file' in err, err


def no_device():
    """Every view answers on a trace without device work."""
    events = [e for e in kineto.steps() if e['cat'] in ('cpu_op', 'python_function')]
    d = dump(write(kineto.trace(events)))
    equal((d['devices'], d['steps_by']), ([], 'unknown'))
    for view in ('scope', 'op', 'code'):
        program('a.pt.trace.json', view)


SPAN = {'ph': 'X', 'cat': 'Trace', 'name': 'PyTorch Profiler (0)', 'pid': 'Spans', 'tid': 'PyTorch Profiler', 'ts': 0, 'dur': 900}
CPU_OPS = [{'ph': 'X', 'cat': 'cpu_op', 'name': name, 'pid': 1, 'tid': 1, 'ts': ts, 'dur': dur}
           for name, ts, dur in (('aten::mm', 100, 300), ('aten::relu', 400, 100))]


def span_of_the_profiler():
    """The span of PyTorch's profiler is as long as the trace and is not work: the critical path of a trace without device work has its ops,
    what-if changes them, and text has neither columns nor rows of devices. A trace with only the span has no events."""
    path = write(kineto.trace(CPU_OPS + [SPAN]))
    d = json.loads(program('critical', path, '-output', 'json')[0])
    equal([(s['name'], s['duration_ns']) for s in d['segments']], [('aten::mm', 300000), ('aten::relu', 100000)])
    out, _ = program('critical', path)
    assert 'from 100us until the last event of a thread ends; the trace lasts 900us' in ' '.join(out.split()), out
    out, _ = program('what-if', 'op:aten::mm=0', path)
    assert '400us becomes 100us' in out and 'device' not in out and 'critical path' in out, out
    equal([line.split() for line in program('steps', path)[0].splitlines()],
          [['step', 'start', 'step', 'time', 'name'], ['0', '0ns', '900us', 'steps:', 'unknown']])
    row, = json.loads(program('steps', path, '-output', 'json')[0])['steps']
    equal((row['compute_busy_ns'], row['idle_ns']), (0, 0))
    _, err = program('summary', write(kineto.trace([SPAN]), 'empty.pt.trace.json'), status=3)
    assert 'no events' in err, err


def roofline():
    """Ops with the same shapes are one row, with the device work that their formula covers; an op in an equal one counts once."""
    convolution = {'Input Dims': [[1, 2, 8, 8], [4, 2, 3, 3], [], [], [], [], [], [], []],
                   'Concrete Inputs': ['', '', '', '[1, 1]', '[1, 1]', '[1, 1]', 'False', '[0, 0]', '1']}
    events = []
    for i in range(2):
        t = 1000 + 200 * i
        events += [kineto.event('cpu_op', 'aten::conv2d', t, 100), kineto.event('cpu_op', 'aten::convolution', t + 1, 98, **convolution),
                   kineto.event('cpu_op', 'aten::_convolution', t + 2, 96), kineto.event('cpu_op', 'aten::cudnn_convolution', t + 3, 50),
                   kineto.event('cpu_op', 'aten::add_', t + 60, 20),
                   kineto.event('cpu_op', 'aten::mm', t + 110, 20, **{'Input Dims': [[4, 8], [8, 16]]}),
                   kineto.event('cpu_op', 'aten::mm', t + 111, 18, **{'Input Dims': [[4, 8], [8, 16]]})]
        events += kineto.launch(t + 5, 10 + i, t + 20, 4, 'implicit_gemm') + kineto.launch(t + 62, 20 + i, t + 70, 0.5, 'bias')
        events += kineto.launch(t + 112, 30 + i, t + 120, 2, 'gemm')
    rows = json.loads(program('roofline', write(kineto.trace(events)), '-output', 'json')[0])['roofline']
    flops, ns = 2 * 2 * 1 * 4 * 2 * 9 * 64, 2 * 4500
    equal([[r[k] for k in ('op', 'type', 'shapes', 'time_ns', 'runs', 'float_ops', 'flops_per_second', 'device', 'roof')] for r in rows],
          [['aten::convolution 1x2x8x8 4x2x3x3', 'aten::convolution', '[[1,2,8,8],[4,2,3,3],[],[],[],[],[],[],[]]', ns, 2, flops, flops * 10 ** 9 // ns, 'gpu:0', None],
           ['aten::mm 4x8 8x16', 'aten::mm', '[[4,8],[8,16]]', 4000, 2, 2 * 1024, 2 * 1024 * 10 ** 9 // 4000, 'gpu:0', None]])


def roofs():
    """The roof is the longer of two times: operations at the peak of the type, bytes at the bandwidth. A kernel that takes less at its
    roof than a launch is bound by launches. Work without a formula stays in the table, and groups add up."""
    square = {'Input Dims': [[4096, 4096], [4096, 4096]], 'Input type': ['c10::BFloat16', 'c10::BFloat16']}
    small = {'Input Dims': [[64, 64], [64, 64]], 'Input type': ['c10::BFloat16', 'c10::BFloat16']}
    add = {'Input Dims': [[4096, 4096], [4096, 4096], []], 'Input type': ['float', 'float', 'Scalar']}
    ops = [('aten::mm', square, 300, 'gemm'), ('aten::add', add, 100, 'add'), ('aten::mm', small, 5, 'gemm'), ('mine::op', {}, 7, 'own')]
    events = [kineto.event('python_function', 'nn.Module: Net_0', 1000, 900, **{'Python id': 1, 'Python module id': 0})]
    for i, (name, inputs, length, kernel) in enumerate(ops):
        events += [kineto.event('cpu_op', name, 1010 + 100 * i, 50, **inputs)]
        events += kineto.launch(1012 + 100 * i, i + 1, 2000 + 1000 * i, length, kernel)
    trace = write(kineto.trace(events, deviceProperties=[{'id': 0, 'name': 'NVIDIA H100 80GB HBM3'}]))

    def found(*words):
        return json.loads(program('roofline', trace, '-output', 'json', *words)[0])
    flops, bytes_, small_flops = 2 * 4096 ** 3, 3 * 4096 ** 2 * 4, 2 * 64 ** 3
    compute, memory = round(flops / 989.5e12 * 1e9), round(bytes_ / 3350e9 * 1e9)
    d = found()
    rows = {r['op'].split()[0] + str(r['time_ns'] // 1000): r for r in d['roofline']}
    equal({k: (r['roof_ns'], r['saved_ns'], r['bound'], r['numbers']) for k, r in rows.items()},
          {'aten::mm300': (compute, 300000 - compute, 'compute', 'bfloat16'), 'aten::add100': (memory, 100000 - memory, 'memory', 'float32'),
           'aten::mm5': (round(3 * 64 * 64 * 2 / 3350e9 * 1e9), 5000 - round(3 * 64 * 64 * 2 / 3350e9 * 1e9), 'launch', 'bfloat16'), 'mine::op7': (None, None, None, None)})
    equal(rows['aten::mm300']['roof'], round(100 * compute / 300000, 2))
    equal(sorted((p['numbers'], p['flops_per_second'], p['bytes_per_second']) for p in d['peaks']),
          [('bfloat16', 989500000000000, 3350000000000), ('float32', 67000000000000, 3350000000000)])
    equal(d['coverage'], round(405 / 412, 6))
    equal([(r['op'], r['time_ns'], r['float_ops']) for r in found('--by=kernel')['roofline']],
          [('gemm', 305000, flops + small_flops), ('add', 100000, 4096 ** 2), ('own', 7000, None)])
    module, = found('--by=module')['roofline']
    equal((module['op'], module['time_ns'], module['rated_ns'], module['float_ops']), ('nn.Module: Net_0', 412000, 405000, flops + small_flops + 4096 ** 2))
    row = found('--peak-flops=500T', '--peak-bandwidth=1T')['roofline'][0]
    equal((row['roof_ns'], row['bound']), (round(flops / 500e12 * 1e9), 'compute'))
    text = program('roofline', trace)[0]
    assert 'NVIDIA H100 data sheet' in text and 'known for 98.3% of the device time' in text and 'mine::op 1.7% (no formula)' in text, text
    assert 'A roof above 100%' not in text, text
    equal(['A roof above 100%: the algorithm' in program('roofline', trace, '--peak-flops=' + rate)[0] for rate in ('10T', '900T')], [True, False])
    equal(['A roof above 100% that is bound by memory' in program('roofline', trace, '--peak-bandwidth=' + rate)[0] for rate in ('1T', '9T')],
          [True, False])


def flops():
    """Ops with a formula count once, with the work that they cover; other work is listed with the missing data."""
    convolution = {'Input Dims': [[1, 2, 8, 8], [4, 2, 3, 3], [], [], [], []]}  # no strides
    normal = {'Input Dims': [[1, 4, 6, 6], [4], [4], [4], [4], [], [], [], []]}
    events = []
    for i in range(2):
        t = 1000 + 300 * i
        events += [kineto.event('cpu_op', 'aten::linear', t, 50, **{'Input Dims': [[4, 8], [16, 8], [16]]}),
                   kineto.event('cpu_op', 'aten::addmm', t + 1, 40, **{'Input Dims': [[16], [4, 8], [8, 16]]}),
                   kineto.event('cpu_op', 'aten::cudnn_convolution', t + 60, 20, **convolution),
                   kineto.event('cpu_op', 'aten::native_batch_norm', t + 90, 20, **normal),
                   kineto.event('cpu_op', 'aten::relu', t + 120, 20),
                   kineto.event('cpu_op', 'mine::scan', t + 150, 20, **{'Input Dims': [[4, 8]]})]
        for k, at in enumerate((5, 61, 91, 121, 151)):
            events += kineto.launch(t + at, 10 * k + 100 * i + 1, t + at + 2, k + 1, 'kernel')
    d = json.loads(program('flops', write(kineto.trace(events)), '-output', 'json')[0])
    product, places, elements = 2 * 4 * 8 * 16, 2 * 4 * 36 * 2 * 9, 7 * 4 * 36
    equal([(r['op'], r['calls'], r['flops'], r['device_ns']) for r in d['ops']],
          [('aten::cudnn_convolution', 2, 2 * places, 4000), ('aten::addmm', 2, 2 * product, 2000), ('aten::native_batch_norm', 2, 2 * elements, 6000)])
    equal([(r['op'], r['reason'], r['device_ns']) for r in d['uncounted']],
          [('mine::scan', 'no formula', 10000), ('aten::relu', 'no shape in the file', 8000)])
    equal((d['flops'], d['device_ns'], d['covered_ns'], d['coverage'], d['inferred_calls']),
          (2 * (product + places + elements), 30000, 12000, 0.4, 2))
    equal(sum(r['flops'] for r in d['families']), d['flops'])
    trace, select = write(kineto.trace(events)), ('-select', 'float_ops', '-order_by', 'name')
    runs = {r['type']: (r['runs'], r['kernels']) for r in json.loads(program('roofline', trace, '-output', 'json')[0])['roofline']}
    equal(runs['aten::cudnn_convolution'], (2, 2), 'a call whose output shape comes from the next op counts once')
    doc = json.loads(program('op', trace, *select, '-output', 'json')[0])
    equal({r['path']: (r['own_float_ops'], r['own_uncounted']) for r in doc['rows']},
          {'aten::cudnn_convolution': (2 * places, 0), 'aten::addmm': (2 * product, 0), 'aten::linear': (0, 0), 'aten::native_batch_norm': (2 * elements, 0),
           'aten::relu': (None, 2), 'mine::scan': (None, 2)})
    equal(doc['total'], {'float_ops': d['flops'], 'uncounted': 4})
    cells = {line.split()[0]: line.split()[1] for line in program('op', trace, *select)[0].splitlines() if ' float_ops (' in line}
    equal([cells[op] for op in ('aten::relu', 'mine::scan', 'aten::linear', 'aten::addmm')], ['?', '?', '0', '2.05k'])
    assert '_TFProfRoot (--/\u226514.4k flops)' in program('scope', trace, *select)[0]
    equal(['%s %s' % (r['own_float_ops'], r['total_uncounted']) for r in csv.DictReader(program('scope', trace, *select, '-output', 'csv')[0].splitlines())
           if r['path'] == 'mine::scan'], [' 2'])
    said = json.loads(program('summary', trace, '-output', 'json')[0])
    equal((said['float_ops'], said['uncounted'], said['float_ops_coverage']),
          (d['flops'], 4, {'device_ns': 30000, 'covered_ns': 12000, 'coverage': 0.4, 'uncounted': [
              {'op': 'mine::scan', 'reason': 'no formula', 'device_ns': 10000}, {'op': 'aten::relu', 'reason': 'no shape in the file', 'device_ns': 8000}]}))
    assert 'float ops known for 40.0% of the device time; not counted: mine::scan 33.3% and 1 more (see flops)' in program('summary', trace)[0]
    host = write(kineto.trace([kineto.event('cpu_op', 'aten::relu', 1000, 20)]))
    equal([(r['op'], r['calls'], r['device_ns']) for r in json.loads(program('flops', host, '-output', 'json')[0])['uncounted']],
          [('aten::relu', 1, 0)])
    partly = write(kineto.trace([kineto.event('cpu_op', 'aten::relu', 1000, 20, **{'Input Dims': [[4, 8]]}), kineto.event('cpu_op', 'aten::relu', 1100, 20)]
                                + kineto.launch(1001, 1, 1003, 2, 'k') + kineto.launch(1101, 2, 1103, 2, 'k')))
    d = json.loads(program('flops', partly, '-output', 'json')[0])
    equal([(r['flops'], r['uncounted']) for r in d['ops'] + d['families']], [(32, 1)] * 2)
    equal(program('flops', partly)[0].count('\u226532 '), 2)
    text = program('flops', write(kineto.trace(events)), '--explain', 'aten::addmm')[0]
    equal(text, 'aten::addmm: 2 * batch * rows * columns * length of the sums\n  2 of 1024 = 2 * 1 * 4 * 16 * 8\n')


def gradients_of_functions():
    """The gradient of a function of autograd is counted with the inputs of the function, which has the same sequence number."""
    def op(name, ts, seq, shapes, fwd=0):
        return kineto.event('cpu_op', name, ts, 8, tid=2 if fwd else 1, **{'Sequence number': seq, 'Fwd thread id': fwd, 'Input Dims': shapes})
    qkv = {'Input type': ['c10::BFloat16'] * 3, 'Concrete Inputs': ['', '', '', '0.', 'False', '0.', 'True']}
    attention = op('FlashAttnFunc', 1040, 7, [[2, 16, 8, 64], [2, 32, 2, 64], [2, 32, 2, 64], [], [], [], []])
    attention['args'].update(qkv)
    events = [op('_Linear', 1000, 5, [[48, 64], [32, 64], [48]]), op('_Linear', 1020, 6, [[48, 16], [32, 16], [48]]), attention,
              op('FlashAttnFuncBackward', 1100, 7, [[2, 16, 8, 64]], 1), op('_LinearBackward', 1120, 6, [[32, 48]], 1),
              op('_LinearBackward', 1140, 5, [[32, 48]], 1), op('_LinearBackward', 1160, 99, [[32, 48]], 1)]
    for i, e in enumerate(list(events)):
        events += [dict(x, tid=e['tid']) if x['cat'] == 'cuda_runtime' else x for x in kineto.launch(e['ts'] + 1, i + 1, e['ts'] + 3, 2, 'k')]
    path = write(kineto.trace(events))
    d = json.loads(program('flops', path, '-output', 'json')[0])
    pairs = 2 * 16 * 32
    equal({r['op']: (r['calls'], r['flops'], r['recomputed_flops']) for r in d['ops']},
          {'_Linear': (2, 2 * 32 * 48 * (64 + 16), 0), '_LinearBackward': (2, 4 * 32 * 48 * (64 + 16), 0),
           'FlashAttnFunc': (1, 2 * 8 * pairs * 128, 0), 'FlashAttnFuncBackward': (1, 2 * 8 * pairs * 5 * 64, 2 * 8 * pairs * 64)})
    equal([(r['op'], r['calls'], r['reason']) for r in d['uncounted']], [('_LinearBackward', 1, 'no shape in the file')])
    text = program('flops', path, '--explain', '_LinearBackward')[0]
    assert '1 of 393216 = 4 * 32 * 3072\n' in text and '1 of 98304 = 4 * 32 * 768\n' in text, text


def unknown_products():
    """Matrix products without shapes are unknown, not 0: in the steps and in the table of ranks, which states the reason without MFU."""
    for rank in (0, 1):
        events = [kineto.event('user_annotation', 'ProfilerStep#%d' % n, 1000 * n, 900) for n in (1, 2)]
        events += [e for n in (1, 2) for e in [kineto.event('cpu_op', 'aten::mm', 1000 * n + 10, 30)] + kineto.launch(1000 * n + 20, n, 1000 * n + 100, 50.0, 'gemm')]
        write(kineto.trace(events), 'r%d.pt.trace.json' % rank)
    d = json.loads(program('flops', 'r0.pt.trace.json', '-output', 'json')[0])
    equal([r['product_flops'] for r in d['by_step']], [None, None])
    out = program('flops', 'r0.pt.trace.json', 'r1.pt.trace.json')[0]
    assert out.startswith("No MFU: the peak of 'GPU of tests' is not known"), out
    d = json.loads(program('flops', 'r0.pt.trace.json', 'r1.pt.trace.json', '-output', 'json')[0])
    equal([r['flops'] for r in d['ranks']], [None, None])


def utilization():
    """MFU is the time of the products at the peak of their type, divided by the wall time; it needs the device, types and coverage."""
    product = {'Input Dims': [[1000, 1000], [1000, 1000]], 'Input type': ['c10::BFloat16', 'c10::BFloat16']}
    events = kineto.steps() + [kineto.event('cpu_op', 'aten::mm', 1000, 90, **product)] + kineto.launch(1010, 1, 1020, 60, 'gemm')
    events.append(kineto.event('user_annotation', 'ProfilerStep#6', 1200, 70))  # a step without device work
    trace = kineto.trace(events)
    rows = json.loads(program('steps', write(trace), '-output', 'json')[0])['steps']
    wall = sum(r['duration_ns'] for r in rows if r['busy_ns'])  # steps without device work do not count, as in the step time
    assert wall < sum(r['duration_ns'] for r in rows)
    assert 'of the wall time of the steps with device work (%d of %d)' % (len([r for r in rows if r['busy_ns']]), len(rows)) in ' '.join(
        program('flops', write(trace), '--peak-flops=100T')[0].split())

    def found(trace, *words):
        d = json.loads(program('flops', write(trace), '-output', 'json', *words)[0])
        return d.get('peak_device'), d.get('mfu')
    equal(found(trace), (None, None))
    equal(found(trace, '--peak-flops=100T'), (None, round(2e9 / 100e12 / (wall * 1e-9), 6)))
    d = json.loads(program('flops', write(trace), '-output', 'json', '--peak-flops=100T')[0])
    steps = {r['step']: r['duration_ns'] for r in json.loads(program('steps', write(trace), '-output', 'json')[0])['steps']}
    equal([(r['step'], r['duration_ns']) for r in d['by_step']], sorted(steps.items()))
    equal([r['mfu'] for r in d['by_step']], [round(r['product_flops'] / 100e12 / (r['duration_ns'] * 1e-9), 4) for r in d['by_step']])
    equal((sum(r['product_flops'] for r in d['by_step']), d['by_phase']), (2 * 10 ** 9, []))
    h100 = {'deviceProperties': [{'id': 0, 'name': 'NVIDIA H100 80GB HBM3'}]}
    equal(found(kineto.trace(events, **h100)), ('H100 SXM', round(2e9 / 989.5e12 / (wall * 1e-9), 6)))
    events += [kineto.event('cpu_op', 'mine::op', 1100, 50)] + kineto.launch(1110, 2, 1120, 40, 'other')
    equal(found(kineto.trace(events, **h100)), ('H100 SXM', None))
    equal(found(kineto.trace(events, **h100), '--partial')[1] is not None, True)


def utilization_of_ranks():
    """With several traces, there is a row for each, the mean and the worst."""
    def rank(number, size):
        product = {'Input Dims': [[size, 1000], [1000, 1000]], 'Input type': ['c10::BFloat16', 'c10::BFloat16']}
        events = kineto.steps() + [kineto.event('cpu_op', 'aten::mm', 1000, 90, **product)] + kineto.launch(1010, 1, 1020, 60, 'gemm')
        return write(kineto.trace(events, rank=number), 'r%d.pt.trace.json' % number)
    files = [rank(i, 1000 * (i + 1)) for i in range(3)]
    alone = [json.loads(program('flops', f, '-output', 'json', '--peak-flops=100T')[0]) for f in files]
    d = json.loads(program('flops', *files, '-output', 'json', '--peak-flops=100T')[0])
    equal([r['flops'] for r in d['ranks']], [a['flops'] for a in alone])
    equal([r['mfu'] for r in d['ranks']], [round(a['mfu'], 4) for a in alone])
    equal((d['mean_mfu'], d['worst_mfu'], d['worst']), (round(sum(a['mfu'] for a in alone) / 3, 6), alone[0]['mfu'], d['ranks'][0]['worker']))
    assert 'No MFU' in program('flops', *files)[0]


def others():
    """Chrome JSON of other programs is read: slices by nesting, pairs, counters, unchanged names."""
    events = [{'ph': 'X', 'name': 'outer', 'pid': 'main', 'tid': 'worker 1', 'ts': 0, 'dur': 100, 'cat': 'FEE'},
              {'ph': 'B', 'name': 'inner', 'pid': 'main', 'tid': 'worker 1', 'ts': 10},
              {'ph': 'E', 'pid': 'main', 'tid': 'worker 1', 'ts': 30},
              {'ph': 'C', 'name': 'memory', 'pid': 'main', 'ts': 5, 'args': {'used': 3}},
              {'ph': 'M', 'name': 'process_name', 'pid': 'main', 'args': {'name': 'python'}}]
    write(json.dumps({'traceEvents': events, 'otherData': {}}).encode(), 'v.json')
    assert 'outer/inner' in rows('v.json', 'scope')
    equal({o['name']: o['host_self'] for o in dump('v.json')['ops']}, {'outer': 80000, 'outer/inner': 20000})


def memory():
    """Running sums by address; the live set belongs to the innermost op around each allocation."""
    at = kineto.memory
    write(kineto.trace(kineto.steps() + [at(1005, 1, 100), at(1006, 2, 50), at(1051, 3, 20), at(1055, 1, -100), at(1056, 3, 70), at(1057, 9, -5),
                                         at(1003, 1, 30, -1), at(1200, 2, -50)]))
    d = json.loads(program('memory', 'a.pt.trace.json', '-output', 'json')[0])
    equal({r['device']: [r[k] for k in ('allocations', 'frees', 'allocated_bytes', 'peak_bytes', 'peak_at_ns', 'live_bytes')] for r in d['memory']},
          {'gpu:0': [4, 3, 240, 170, 46000, 170], 'host': [1, 0, 30, 30, 0, 30]})
    equal([(r['device'], r['op'], r['bytes'], r['buffers']) for r in d['live']],
          [('gpu:0', 'aten::addmm', 150, 2), ('gpu:0', 'aten::copy_', 20, 1), ('host', 'aten::linear', 30, 1)])
    equal([u['bytes'] for u in d['use']][0], [100, 150, 170, 70, 120, 120, 70])


def timeline():
    """The timeline has the trace's tracks and flows, and when read again it equals the trace."""
    plain = dump(write(kineto.trace(kineto.steps(), rank=3)))
    program('a.pt.trace.json', 'scope', '-output', 'timeline:outfile=t')
    with open('t_-1') as f:
        events = json.load(f)['traceEvents']
    equal(sum(e['ph'] == 's' for e in events), 6)
    equal(sum(e['ph'] == 'f' for e in events), 6)
    flows = {}
    for e in events:
        if e['ph'] in 'sf':
            flows.setdefault(e['id'], []).append((e['pid'], e['tid'], e['ts']))
    boxes = {(e['pid'], e['tid'], e['ts']) for e in events if e['ph'] == 'X'}
    assert all(end in boxes for f in flows.values() for end in f)
    os.rename('t_-1', 't.json')
    again = dump('t.json')
    for k in ('devices', 'ops', 'steps', 'slices'):
        equal(again[k], plain[k], k)


def memory_of_any_device():
    """Memory of a device belongs to it, whatever the type of the device is (6: HIP), and has the capacity in the header, also if the
    file has no work of the device."""
    def on(kind, device, ts, address, size):
        e = kineto.memory(ts, address, size)
        e['args'].update({'Device Type': kind, 'Device Id': device})
        return e
    events = [kineto.event('cpu_op', 'aten::empty', 1000, 90), on(6, 0, 1001, 1, 512), on(6, 1, 1002, 2, 256), on(0, -1, 1003, 3, 64)]
    for more in ([], kineto.launch(1005, 9, 1010, 5), kineto.launch(1005, 9, 1010, 5, device=2)):
        write(kineto.trace(events + more), 'a.pt.trace.json')
        d = json.loads(program('memory', 'a.pt.trace.json', '-output', 'json')[0])
        equal({r['device']: (r['capacity_bytes'], r['peak_bytes']) for r in d['memory']}, {'gpu:0': (1 << 30, 512), 'gpu:1': (None, 256), 'host': (None, 64)})
        found = json.loads(program('devices', 'a.pt.trace.json', '-output', 'json')[0])['devices']
        equal([r['device'] for r in found], ['gpu:%d' % (more[-1]['args']['device'])] if more else [])


def other_accelerators():
    """Events of categories without a meaning here are counted as not used, so that no work is silently missing."""
    events = kineto.steps() + [kineto.event('mtia_ccp_events', 'pe_grid', 1000 + i, 1) for i in range(7)] + [kineto.event('hpu_op', 'x', 1000, 1)]
    write(kineto.trace(events), 'a.pt.trace.json')
    unused = json.loads(program('summary', 'a.pt.trace.json', '-output', 'json')[0])['unused']
    equal({u['kind']: u['count'] for u in unused}, {'events of the category mtia_ccp_events': 7, 'events of the category hpu_op': 1})
    write(kineto.trace(kineto.steps()), 'a.pt.trace.json')
    equal(json.loads(program('summary', 'a.pt.trace.json', '-output', 'json')[0]).get('unused', []), [])


def overlap_of_devices():
    """Communication of one device beside the compute work of another is not an overlap: each device has its own, and they add up."""
    mark = kineto.event('user_annotation', 'ProfilerStep#1', 1000, 100)
    sum_kernel = 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'
    apart = kineto.launch(1001, 1, 1010, 40) + kineto.launch(1003, 2, 1010, 40, sum_kernel, device=1)
    for more, overlap in (([], 0), (kineto.launch(1005, 3, 1030, 15, device=1, stream=9), 15000)):
        d = json.loads(program('steps', write(kineto.trace([mark] + apart + more)), '-output', 'json')[0])['steps'][0]
        equal((d['devices'], d['communication_compute_overlap_ns'], d['exposed_communication_ns']), (2, overlap, 40000 - overlap))


def steps_without_work():
    """The step time is the mean of the steps that launched device work. A truncated last mark, in which the work of the step before
    ends, does not count; summary, steps, devices, why, what-if and gates agree, and -step still chooses it."""
    def mark(number, start, length):
        return kineto.event('user_annotation', 'ProfilerStep#%d' % number, start, length)
    one, two = kineto.launch(1010, 1, 1020, 60), kineto.launch(1110, 2, 1120, 100)
    last = mark(3, 1200, 10)
    path = write(kineto.trace([mark(1, 1000, 100), mark(2, 1100, 90), last] + one + two))
    walls = [json.loads(program(*words, path, '-output', 'json')[0]) for words in (['summary'], ['steps'], ['devices'], ['why'], ['what-if', 'host*1'])]
    summary, steps, devices, why, what_if = walls
    wall, = summary['step_time']
    equal([wall[k] for k in ('steps', 'steps_left_out', 'mean_ns', 'median_ns', 'min_ns', 'max_ns')], [2, 1, 95000, 90000, 90000, 100000])
    equal([why['step_ns'], what_if['step_ns']], [95000, 95000])
    for document in (steps, devices):
        row, = document['step_time']
        equal([row[k] for k in ('steps', 'steps_left_out', 'step_ns', 'compute_ns', 'idle_ns')], [2, 1, 95000, (60000 + 70000) // 2, 30000])
    equal(summary['devices'][0]['step']['compute_ns'], 65000)
    equal([s['busy_ns'] for s in steps['steps']], [60000, 70000, 10000])
    equal(json.loads(program('what-if', 'host*1', path, '-step', '3', '-output', 'json')[0])['step_ns'], 10000)
    text = program('summary', path)[0]
    assert '95.0us per step by marks, median 90.0us, from 90.0us to 100us (2 of 3 steps; the other has no device work); 110us by the device\'s work\n' in text, text
    assert ', sums over operations, mean of all 3 steps, also those without device work\n' in text, text
    text = program('steps', path)[0]
    assert 'Time per step, of the steps with device work:' in text and 'sums over' not in text, text
    program('diff', path, path, '--gate', 'step_time<=95us')
    program('diff', path, path, '--gate', 'step_time<=94us', status=1)
    # two devices: the one that only finishes the work of the step before does not count there either
    path = write(kineto.trace([mark(1, 1000, 100), last, mark(2, 1100, 90)] + one + two + kineto.launch(1115, 3, 1150, 45, device=1)))
    equal([(r['device'], r['steps'], r['compute_ns']) for r in json.loads(program('steps', path, '-output', 'json')[0])['step_time']],
          [('gpu:0', 2, 65000), ('gpu:1', 2, 20000)])
    assert program('steps', path)[0].startswith('compute, exposed comm., exposed copy and idle are sums over the 2 devices\n\nstep '), path
    # no step has device work: all count
    path = write(kineto.trace([mark(1, 1000, 100), mark(2, 1100, 90), kineto.event('cpu_op', 'aten::mul', 1010, 5)]))
    equal([[w['steps'], w['steps_left_out']] for w in json.loads(program('summary', path, '-output', 'json')[0])['step_time']], [[2, 0]])


def guessed_steps():
    """Without marks, `steps` offers calls that repeat, outermost first, if they have most of the calls and of the time."""
    def trace(names, more=()):
        return write(kineto.trace([kineto.event('cpu_op', name, 100 + 10 * i, 8) for i, name in enumerate(names)] + list(more)))

    def guess(path):
        d = json.loads(program('steps', path, '-output', 'json')[0])
        return [d.get('guessed_' + k) for k in ('calls', 'steps', 'step_ns')]
    step = ['load', 'forward', 'backward']
    equal(guess(trace(['start', 'load'] + 4 * step + ['end'])), [3, 4, 30000])
    out, _ = program('steps', trace(['start'] + 4 * step))
    assert out.startswith("No steps are marked. Guessed: 4 repetitions of 3 calls, 30.0us each:\n'load' ... 'backward'\n"), out
    # inside a single call that surrounds everything
    equal(guess(trace(4 * step, [kineto.event('cpu_op', 'main', 90, 200)])), [3, 4, 30000])
    for names in (2 * step, 4 * step + ['x%d' % i for i in range(12)], ['a', 'b', 'c', 'd']):
        equal(guess(trace(names)), [None] * 3, names)
    # most of the calls, but a small part of the time
    equal(guess(trace(4 * step, [kineto.event('cpu_op', 'long', 1000, 5000)])), [None] * 3)
    # most of the calls of a level and of the time, but few of the calls inside of other calls
    inside = [kineto.event('cpu_op', 'in%d' % i, 1001 + 2 * i, 1) for i in range(40)]
    equal(guess(trace(4 * step, [kineto.event('cpu_op', 'long', 1000, 100)] + inside)), [None] * 3)
    # an optimizer that runs once: the repeated calls are a part of a step
    update = kineto.event('user_annotation', 'Optimizer.step#Adam.step', 101, 2)
    equal(guess(trace(4 * step, [update])), [None] * 3)
    marks = [kineto.event('user_annotation', 'ProfilerStep#%d' % i, 100 + 30 * i, 30) for i in range(4)]
    equal(guess(trace(4 * step, marks)), [None] * 3)
    used_guesses(trace, step, marks)


def used_guesses(trace, step, marks):
    """--guess-steps makes the guess the steps of all commands; they are always called guessed."""
    work = [e for i in range(4) for e in kineto.launch(102 + 30 * i, 1 + i, 106 + 30 * i, 10 + i)]
    path = trace(4 * step, work)
    d = json.loads(program('steps', path, '--guess-steps', '-output', 'json')[0])
    equal([(s['step'], s['name'], s['duration_ns']) for s in d['steps']],
          [(i, 'guessed: load ... backward', 30000 if i < 3 else 28000) for i in range(4)])
    equal([d['guessed_' + k] for k in ('calls', 'steps')], [3, 4])
    equal(rows(path, 'op', '--guess-steps', '-step', '2', '-select', 'accelerator_micros')['load']['own_accelerator_micros'], 12)
    note = 'the 4 steps are guessed, because none is marked'
    for command in (['steps'], ['why'], ['summary'], ['phases'], ['critical', '-step', '1'], ['what-if', 'launch=0'], ['op', '-step', '1'], ['flops']):
        assert note in program(*command, path, '--guess-steps')[1], command
    assert '(4 guessed steps)' in program('summary', path, '--guess-steps')[0]
    document = json.loads(program('summary', path, '--guess-steps', '-output', 'json')[0])
    equal(document['step_time'][0]['guessed'], True)
    assert 'guessed step' in program('why', path, '--guess-steps', '-step', '1')[0]
    phase, = json.loads(program('phases', path, '--guess-steps', '-output', 'json')[0])['phases']
    equal([phase[k] for k in ('phase', 'steps', 'requests', 'tokens', 'busy_ns')], ['other', 4, None, None, 46000])
    assert 'is not used: the trace marks its steps' in program('steps', trace(4 * step, marks), '--guess-steps')[1]
    assert 'no sequence of calls repeats' in program('steps', trace(['a', 'b', 'c', 'd']), '--guess-steps')[1]


def kernels_of_several_ops():
    """The op of a kernel that several ops launched is the part of their paths that is equal: the end, otherwise the start; with their number.
    Documents also have the op with most of the time."""
    def events(*paths):
        out = []
        for i, (levels, length) in enumerate(paths):
            at = 1000 * i
            out += [kineto.event('cpu_op', name, at + k, 500 - 2 * k) for k, name in enumerate(levels)] + kineto.launch(at + 100, i + 1, at + 150, length)
        return out

    def found(*paths):
        path = write(kineto.trace(events(*paths)))
        row, = json.loads(program('kernels', path, '-output', 'json')[0])['kernels']
        assert row['op_common'] in program('kernels', path, '-wide')[0], row
        return row['op'], row['op_count'], row['op_common']
    equal(found((('A', 'linear', 'mm'), 5), (('A', 'linear', 'mm'), 7)), ('A/linear/mm', 1, 'A/linear/mm'))
    equal(found((('A', 'linear', 'mm'), 5), (('B', 'linear', 'mm'), 9)), ('B/linear/mm', 2, 'linear/mm (2 places)'))
    equal(found((('A', 'linear', 'mm'), 5), (('A', 'linear', 'bmm'), 4)), ('A/linear/mm', 2, 'A/linear/... (2 places)'))
    equal(found((('A', 'mm'), 5), (('AA', 'mm2'), 4), (('B', 'x'), 4)), ('A/mm', 3, 'A/mm and 2 more'))
    equal(found((('mm',), 5), (('B', 'mm'), 4)), ('mm', 2, 'mm (2 places)'))


CASES = [span_of_the_profiler, kernels_of_several_ops, guessed_steps, steps_without_work, memory_of_any_device, other_accelerators, overlap_of_devices, passes, views, workers, sections, roofline, roofs, flops, unknown_products, utilization, gradients_of_functions, utilization_of_ranks, shown_rows, launches_steps_copies, ranges, chosen_workers, sections_of_workers,
         per_step, stacks_of_calls, functions_without_files, rows_of_op, lines_around_functions, backward, tensorboard, order, forms, cut, nothing, no_device, others, memory, timeline]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES))
