# SPDX-License-Identifier: Apache-2.0
"""Compares the answers of summary and top with the answers of the views."""
import json
import os
import tempfile

from rig import ROOT, recorded
from schemas import validators


def test_top(t):
    """Rows are the nodes of scope by their own number; shares add up; documents match their schemas."""
    judge = validators()
    for name, load in t.some(list(recorded()), 6):
        for metric in ('micros', 'bytes', 'params'):
            doc = json.loads(t.run(load + ['top', '-n', '0', '-by', metric, '-output', 'json']))
            bad = judge['top.json'](doc) if judge else []
            t.check(not bad, '%s top: %s' % (name, bad[:3]))
            own = 'own_' + metric
            rows = [r for r in t.rows(load + ['scope', '-select', metric, '-max_depth', '100000']) if r['type'] is not None]
            want = sorted(((-r[own], r['path']) for r in rows if r[own] > 0))
            t.check(sorted((-r[own], r['path']) for r in doc['nodes']) == want, '%s %s: the nodes' % (name, metric))
            numbers = [r[own] for r in doc['nodes']]
            t.check(numbers == sorted(numbers, reverse=True), '%s %s: the order' % (name, metric))
            total = sum(numbers)
            t.check(doc['total'] == total and doc['row_count'] == len(numbers), '%s %s: the total' % (name, metric))
            t.check(all(abs(r['cumulative_share'] - 100 * sum(numbers[:i + 1]) / total) < .01 and
                        (not r['calls'] or r['mean_' + metric] is None or abs(r['mean_' + metric] - r[own] / r['calls']) < .01)
                        for i, r in enumerate(doc['nodes'])), '%s %s: shares and means' % (name, metric))
            few = json.loads(t.run(load + ['top', '-n', '3', '-by', metric, '-output', 'json']))
            t.check(few['nodes'] == doc['nodes'][:3] and few['row_count'] == doc['row_count'] and few['rows'] == few['nodes'], '%s %s: -n' % (name, metric))


def test_top_lines(t):
    """-by source ranks the lines of a profile with call stacks: the own numbers of code, of a line and its gradients in one row."""
    judge = validators()
    path = os.path.join(ROOT, 'testdata', 'example', 'profile_100')
    for metric in ('micros', 'bytes'):
        doc = json.loads(t.run(['top', path, '-by', 'source', '-order_by', metric, '-n', '0', '-output', 'json']))
        bad = judge['top.json'](doc) if judge else []
        t.check(not bad, 'top -by source: %s' % bad[:3])
        want, own = {}, 'own_' + metric
        for r in t.rows(['code', path, '-select', metric, '-max_depth', '100']):
            line = '%s:%s:%s' % (os.path.basename(r['file'] or ''), r['line'], r['function'])
            want[line] = want.get(line, 0) + (r[own] or 0)
        found = {r['path']: r[own] for r in doc['nodes'] if r['path'] != '(no source)'}
        t.check(found == {k: v for k, v in want.items() if v} and len(found) > 3, '%s: %s, not %s' % (metric, found, want))
        t.check([r[own] for r in doc['nodes']] == sorted((r[own] for r in doc['nodes']), reverse=True), '%s: the order' % metric)
    t.run(['op', path, '-by', 'source'], 1)


def test_summary(t):
    """Numbers equal those of the views; documents match their schema."""
    judge = validators()
    trace = os.path.join(ROOT, 'testdata', 'traces', 'trace.xplane.pb')
    spool = os.path.join(ROOT, 'testdata', 'small', 'train.tfspool')
    for name, load in t.some(list(recorded()), 6) + [('trace', [trace]), ('recording', [spool])]:
        doc = json.loads(t.run(['summary'] + load + ['-output', 'json']))
        bad = judge['summary.json'](doc) if judge else []
        t.check(not bad, '%s: %s' % (name, bad[:3]))
        root = t.rows(load + ['scope', '-select', 'micros,params,float_ops,bytes', '-max_depth', '1'])[0]
        if name != 'synthetic_0':  # sums of its numbers reach the maximum of the type
            t.check((doc['parameters'], doc['float_ops']) == (root['total_params'], root['total_float_ops']), name + ': static numbers')
        # Averages over steps are rounded for each node.
        t.check(abs(doc['device_op_micros'] + doc['host_op_micros'] - root['total_micros']) <= doc['node_count'], name + ': times')
        t.check(doc['requested_bytes'] == root['total_bytes'], name + ': bytes')
        t.check(all(d['busy_ns'] + d['idle_ns'] == d['window_ns'] and d['busy_ns'] >= 0 for d in doc['devices']), name + ': devices')
        if root['total_micros']:
            top = json.loads(t.run(load + ['top', '-n', '5', '-output', 'json']))['nodes']
            t.check(doc['nodes'] == top, name + ': the hottest nodes')
        text = t.run(['summary'] + load).decode()
        t.check(text.startswith(('loaded ', 'verdict ')) and '\nnext ' in text, name + ': text')
    doc = json.loads(t.run(['summary', trace, '-output', 'json']))
    devices = json.loads(t.run(['devices', trace, '-output', 'json']))['devices']
    t.check(sorted((d['name'], d['window_ns'], d['busy_ns']) for d in doc['devices']) ==
            sorted((d['device'], d['window_ns'], d['busy_ns']) for d in devices), 'devices of a trace')


# ---- peek ----

PEEK_STEPS = 2
# (category, name, start, end) of a step in us, the innermost last; a kernel belongs to the op before it.
PEEK_STEP = (('python_function', 'train.py(7): step', 0, 90), ('cpu_op', 'aten::outer', 1, 80), ('cpu_op', 'aten::mm', 2, 40),
             ('cuda_runtime', 'cudaLaunchKernel', 3, 4), ('kernel', 'gemm_a', 100, 130),
             ('cpu_op', 'aten::mm', 10, 30), ('cuda_runtime', 'cudaLaunchKernel', 11, 12), ('kernel', 'gemm_b', 130, 140),
             ('python_function', 'model.py(9): forward', 50, 79), ('cpu_op', 'aten::mm', 51, 60),
             ('cuda_runtime', 'cudaLaunchKernel', 52, 53), ('kernel', 'gemm_a', 140, 145))


def peek_trace(path):
    """Writes a PyTorch trace in which aten::mm runs below itself, and from two lines."""
    events, correlation = [], 0
    for step in range(PEEK_STEPS):
        zero = 1000 + 1000 * step
        events.append({'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#%d' % (3 + step), 'pid': 1, 'tid': 1, 'ts': zero, 'dur': 900})
        for category, name, start, end in PEEK_STEP:
            correlation += category == 'cuda_runtime'
            device = category == 'kernel'
            args = {'correlation': correlation, 'device': 0, 'stream': 7} if device else {'correlation': correlation}
            events.append({'ph': 'X', 'cat': category, 'name': name, 'pid': 0 if device else 1, 'tid': 7 if device else 1, 'ts': zero + start,
                           'dur': end - start, 'args': args if device or category == 'cuda_runtime' else {}})
    with open(path, 'w') as f:
        json.dump({'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'NVIDIA H100'}], 'traceEvents': events}, f)


def by_name(rows, *keys):
    return {r['name']: tuple(r[k] for k in keys) for r in rows}


def test_peek_trace(t):
    """The lists around an op, a kernel and a line of a trace have its times; an op below itself counts once."""
    judge = validators()
    times = ('accelerator_micros', 'self_micros', 'runs')
    with tempfile.TemporaryDirectory(prefix='tfprof-data-') as home:
        path = os.path.join(home, 'a.pt.trace.json')
        peek_trace(path)
        docs = {n: json.loads(t.run(['peek', n, path, '-output', 'json'])) for n in ('aten::mm', 'gemm_a', 'model.py:9:forward', 'aten',
                                                                                         'cudaLaunchKernel')}
        one = json.loads(t.run(['peek', 'aten::mm', path, '-step', '4', '-output', 'json']))
        table = json.loads(t.run(['peek', 'aten::mm', path, '--table=kernels', '-output', 'json']))
        swapped = t.run(['peek', path, 'aten::mm', '-output', 'json'])
    for name, doc in list(docs.items()) + [('-step', one), ('--table', table)]:
        bad = judge['peek.json'](doc) if judge else []
        t.check(not bad, 'peek %s: %s' % (name, bad[:3]))
    empty = t.run(['peek', 'x', os.path.join(ROOT, 'testdata', 'flight')], 1)
    t.check(b'' == empty, 'peek: the files have no ops, nodes or lines: nothing is printed')
    mm = docs['aten::mm']
    # 45 us on the device; on the host 38 + 9 us without the calls inside, which belong to the op around.
    t.check(by_name(mm['names'], 'kind', *times) == {'aten::mm': ('op', 45, 47, 3)}, 'the subject: %s' % mm['names'])
    t.check(by_name(mm['callers'], *times) == {'aten::outer': (45, 47, 2)}, 'callers: %s' % mm['callers'])
    t.check(by_name(mm['callees'], *times) == {'aten::mm': (10, 20, 1), 'cudaLaunchKernel': (0, 2, 2)}, 'callees: %s' % mm['callees'])
    t.check(by_name(mm['kernels'], *times) == {'gemm_a': (35, 0, 2), 'gemm_b': (10, 0, 1)}, 'kernels: %s' % mm['kernels'])
    t.check(by_name(mm['lines'], *times) == {'train.py:7:step': (40, 38, 2), 'model.py:9:forward': (5, 9, 1)}, 'lines: %s' % mm['lines'])
    t.check([(s['step'], s['accelerator_micros'], s['self_micros'], s['runs']) for s in mm['steps']] == [(3, 45, 47, 3), (4, 45, 47, 3)],
            'steps: %s' % mm['steps'])
    t.check([s['step'] for s in one['steps']] == [4] and one['names'] == mm['names'], '-step: %s' % one)
    t.check(table['kernels'] == mm['kernels'] and 'lines' not in table, '--table: %s' % table)
    t.check(json.loads(swapped) == mm, 'the file before the name')
    gemm = docs['gemm_a']
    t.check(by_name(gemm['callers'], *times) == {'aten::mm': (35, 0, 2)} and not gemm['kernels'], 'a kernel: %s' % gemm)
    t.check(by_name(gemm['lines'], *times) == {'train.py:7:step': (30, 0, 1), 'model.py:9:forward': (5, 0, 1)}, 'its lines: %s' % gemm['lines'])
    line = docs['model.py:9:forward']
    t.check(by_name(line['ops'], *times) == {'aten::mm': (5, 9, 1)} and by_name(line['kernels'], *times) == {'gemm_a': (5, 0, 1)}, 'a line: %s' % line)
    t.check([r['runs'] for r in line['names'] + line['steps']] == [2, 2, 2], 'runs of a line, without driver calls: %s' % line)
    call = docs['cudaLaunchKernel']
    t.check(by_name(call['names'], 'kind', *times) == {'cudaLaunchKernel': ('call', 0, 3, 3)}, 'a driver call: %s' % call['names'])
    t.check(by_name(call['callers'], 'self_micros', 'runs') == {'aten::mm': (3, 3)}, 'its callers: %s' % call['callers'])
    t.check(by_name(call['lines'], 'self_micros', 'runs') == {'train.py:7:step': (2, 2), 'model.py:9:forward': (1, 1)},
            'its lines: %s' % call['lines'])
    t.check([(s['step'], s['self_micros'], s['runs']) for s in call['steps']] == [(3, 3, 3), (4, 3, 3)], 'its steps: %s' % call['steps'])
    t.check(by_name(line['callers'], 'accelerator_micros') == {'train.py:7:step': (5,)}, 'above a line: %s' % line['callers'])
    t.check([r['name'] for r in docs['aten']['names']] == ['aten::outer', 'aten::mm'] and not docs['aten']['steps'] and 'name' not in docs['aten'],
            'several names: %s' % docs['aten'])


def test_peek_nodes(t):
    """Types, nodes, scopes and lines of TensorFlow's profiles have the numbers of op, scope and code, and the edges of graph."""
    judge = validators()
    for name, load in t.some(list(recorded()), 4):
        def peek(what):
            doc = json.loads(t.run(load + ['peek', what, '-output', 'json']))
            bad = judge['peek.json'](doc) if judge else []
            t.check(not bad and doc.get('name') == what, '%s: peek %s: %s' % (name, what, bad[:3]))
            return doc
        nodes = t.rows(load + ['scope', '-select', 'micros,op_types', '-max_depth', '100000'])
        names = {r['path'] for r in nodes}
        types = [r for r in t.rows(load + ['op', '-select', 'micros', '-order_by', 'micros', '-max_depth', '100000']) if r['path'] not in names]
        for r in types[1:4]:
            doc = peek(r['path'])
            t.check(doc['names'][0]['micros'] == r['own_micros'], '%s: type %s: %s' % (name, r['path'], doc['names']))
            t.check(sum(x['micros'] for x in doc['ops']) == r['own_micros'], '%s: nodes of %s' % (name, r['path']))
        for r in sorted(nodes[1:], key=lambda r: -r['total_micros'])[:4]:
            doc = peek(r['path'])
            below = [x for x in nodes[1:] if x['path'].rpartition('/')[0] == r['path']]
            t.check(doc['names'][0]['micros'] == r['total_micros'], '%s: %s: %s' % (name, r['path'], doc['names']))
            t.check(by_name(doc['callees'], 'micros') == {x['path']: (x['total_micros'],) for x in below}, '%s: below %s' % (name, r['path']))
            t.check(all(not (x['name'] + '/').startswith(r['path'] + '/') for x in doc['inputs'] + doc['readers']), '%s: edges of %s' % (name, r['path']))
