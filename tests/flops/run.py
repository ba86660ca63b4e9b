#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Float operations of GraphDefs whose tensors have no stated shapes.

    tests/flops/run.py --program build/check/tfprof
"""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TESTS, 'check'))
import cases  # noqa: E402

A = argparse.ArgumentParser(description=__doc__.split('\n')[0])
A.add_argument('--program', required=True)
A.add_argument('names', nargs='*')
ARGS = A.parse_args()
PROGRAM = os.path.abspath(ARGS.program)
DATA = os.path.join(os.path.dirname(TESTS), 'testdata', 'models', 'statistics')


def counted(path, *words):
    """Returns {node: float operations} and the notes."""
    p = subprocess.run([PROGRAM, 'scope', path, '-select', 'float_ops', '-output', 'json', '-max_depth', '100', *words],
                       capture_output=True, text=True, timeout=60)
    assert p.returncode == 0, p.stderr
    rows = json.loads(p.stdout[p.stdout.index('{'):])['rows']
    return {r['path']: r['own_float_ops'] for r in rows if r['own_float_ops']}, p.stderr


def node(name, op, inputs=(), **attrs):
    """Returns a node as text; attributes are texts of AttrValue."""
    return 'node { name: "%s" op: "%s" %s %s }\n' % (
        name, op, ' '.join('input: "%s"' % i for i in inputs), ' '.join('attr { key: "%s" value { %s } }' % a for a in attrs.items()))


def shape(*dims):
    return 'shape { %s }' % ' '.join('dim { size: %d }' % d for d in dims)


def integers(*values, rank=1):
    return 'tensor { dtype: DT_INT32 tensor_shape { %s } %s }' % (
        'dim { size: %d }' % len(values) if rank else '', ' '.join('int_val: %d' % v for v in values))


def graph(*nodes, words=()):
    """Counts a graph of these nodes."""
    with tempfile.NamedTemporaryFile('w', suffix='.pbtxt') as f:
        f.write(''.join(nodes))
        f.flush()
        return counted(f.name, *words)


def test_numbers_of_tensorflow():
    """Every operation that has a statistic in TensorFlow 2.21, with TensorFlow's number for each node."""
    truth = json.load(open(os.path.join(DATA, 'flops.json')))
    with tempfile.NamedTemporaryFile(suffix='.pb') as f:
        f.write(gzip.open(os.path.join(DATA, 'bare.pb.gz')).read())
        f.flush()
        found, _ = counted(f.name)
    assert len(truth['registered']) == 46, truth['registered']
    expected = {n: v for n, v in truth['flops'].items() if v}
    wrong = {n: (v, found.get(n)) for n, v in expected.items() if found.get(n) != v}
    assert not wrong, wrong
    assert set(found) == set(expected), set(found) - set(expected)


def test_assumed_batch():
    nodes = node('x', 'Placeholder', shape=shape(-1, 4)), node('w', 'Const', value=integers(*range(4))), node('y', 'VariableV2', shape=shape(4, 5)), \
        node('p', 'MatMul', ['x', 'y'])
    found, notes = graph(*nodes)
    assert found == {} and 'Placeholder (x); --assume_batch=N' in notes, notes
    found, notes = graph(*nodes, words=['--assume_batch=3'])
    assert found == {'p': 2 * 3 * 4 * 5} and 'not counted' not in notes, notes


def test_parts_of_different_sizes():
    """Each output of SplitV has its own shape; -1 stands for the rest."""
    found, _ = graph(node('x', 'Placeholder', shape=shape(3, 10)), node('n', 'Const', value=integers(2, -1, 5)),
                     node('a', 'Const', value=integers(1, rank=0)), node('s', 'SplitV', ['x', 'n', 'a'], num_split='i: 3'),
                     *[node('m%d' % i, 'Neg', ['s:%d' % i if i else 's']) for i in range(3)])
    assert found == {'m0': 6, 'm1': 9, 'm2': 15}, found
    found, _ = graph(node('x', 'Placeholder', shape=shape(3, 10)), node('y', 'Placeholder', shape=shape(7)),
                     node('i', 'IdentityN', ['x', 'y']), node('m0', 'Neg', ['i']), node('m1', 'Neg', ['i:1']))
    assert found == {'m0': 30, 'm1': 7}, found


def test_containers():
    """Elements that are read from a stack, a TensorArray or a TensorList have the shape that was written."""
    x, n, one = node('x', 'Placeholder', shape=shape(4, 5)), node('n', 'Const', value=integers(4, rank=0)), node('i', 'Const', value=integers(0, 1, 2))
    found, _ = graph(x, n, node('s', 'StackV2', ['n']), node('e', 'Enter', ['s']), node('p', 'StackPushV2', ['e', 'x']),
                     node('q', 'StackPopV2', ['e', '^p']), node('m', 'Neg', ['q']))
    assert found == {'m': 20}, found
    found, _ = graph(x, n, one, node('t', 'TensorArrayV3', ['n']), node('w', 'TensorArrayScatterV3', ['t', 'i', 'x', 't:1']),
                     node('r', 'TensorArrayReadV3', ['t', 'i', 'w']), node('g', 'TensorArrayGatherV3', ['t', 'i', 'w']),
                     node('m', 'Neg', ['r']), node('k', 'Neg', ['g']))
    assert found == {'m': 5, 'k': 15}, found
    found, _ = graph(x, n, one, node('t', 'TensorListReserve', ['i', 'n']), node('w', 'TensorListSetItem', ['t', 'n', 'x']),
                     node('r', 'TensorListGetItem', ['w', 'n', 'unknown']), node('g', 'TensorListStack', ['w', 'unknown']),
                     node('m', 'Neg', ['r']), node('k', 'Neg', ['g']))
    assert found == {'m': 20, 'k': 80}, found
    found, notes = graph(node('t', 'TensorArrayV3', ['unknown']), node('r', 'TensorArrayReadV3', ['t']), node('m', 'Neg', ['r']),
                         node('w', 'TensorArrayWriteV3', ['t', 'i', 'm']))
    assert found == {} and '1 node is not counted' in notes, 'an element that depends on itself'


def function(name, arguments, results, *nodes):
    """Returns a function as text. results: {name: source}."""
    return 'function { signature { name: "%s" %s %s } %s %s }\n' % (
        name, ' '.join('input_arg { name: "%s" }' % a for a in arguments), ' '.join('output_arg { name: "%s" }' % r for r in results),
        ''.join(nodes).replace('node {', 'node_def {'), ' '.join('ret { key: "%s" value: "%s" }' % r for r in results.items()))


def library(*functions):
    return 'library { %s }\n' % ''.join(functions)


def calls(name):
    return 'func { name: "%s" }' % name


def test_functions():
    """A node that calls a function has the float operations of the function's nodes, with the shapes of the call."""
    twice = function('twice', 'a', {'r': 'n2:y:0', 's': 'a'}, node('n1', 'Neg', ['a']), node('n2', 'Neg', ['n1:y:0']))
    outer = function('outer', 'a', {'r': 'c:output:0'}, node('c', 'PartitionedCall', ['a'], f=calls('twice')))
    x = node('x', 'Placeholder', shape=shape(3, 5)), node('y', 'Placeholder', shape=shape(7))
    found, _ = graph(*x, node('p', 'StatefulPartitionedCall', ['x'], f=calls('outer')), node('q', 'twice', ['y']),
                     node('m', 'Neg', ['q']), node('k', 'Neg', ['q:1']), library(outer, twice))
    assert found == {'p': 30, 'q': 14, 'm': 7, 'k': 7}, found
    branches = {'then_branch': calls('twice'), 'else_branch': calls('outer')}
    found, _ = graph(*x, node('p', 'If', ['x', 'x'], **branches), node('m', 'Neg', ['p']), library(outer, twice))
    assert found == {'p': 60, 'm': 15}, found
    found, notes = graph(*x, node('c', 'Case', ['y', 'x'], branches='list { %s %s }' % (calls('twice'), calls('absent'))), library(twice))
    assert found == {}, (found, notes)


def test_loops_of_functions():
    """The body of a loop counts once, and the number is a lower bound."""
    body = function('body', 'a', {'r': 'n:y:0'}, node('n', 'Neg', ['a']))
    test = function('test', 'a', {'r': 'n:y:0'}, node('n', 'Square', ['a']))
    made = node('x', 'Placeholder', shape=shape(3, 5)), node('w', 'While', ['x'], body=calls('body'), cond=calls('test')), library(body, test)
    found, notes = graph(*made, node('m', 'Neg', ['w']))
    assert found == {'w': 30, 'm': 15} and 'does not state how often a loop runs; its operations count once' in notes, (found, notes)
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, 'graph.pbtxt')
        open(path, 'w').write(''.join(made))
        d = document('flops', path)
        assert d['flops'] == 30 and d['uncounted'][0]['op'] == 'While' and d['uncounted'][0]['reason'] == 'depends on the data', d
        assert '\u226530' in text('flops', path), text('flops', path)


def test_hostile_functions():
    """Functions that call themselves, or each other in exponentially many ways, end in an answer. So do missing arguments."""
    x = node('x', 'Placeholder', shape=shape(3, 5))
    found, _ = graph(x, node('c', 'f', ['x']),
                     library(function('f', 'a', {'r': 'n:y:0'}, node('n', 'Neg', ['a']), node('c', 'f', ['n:y:0']))))
    assert found == {'c': 64 * 15}, found
    chain = [function('f%d' % i, 'a', {'r': 'a'}, node('a1', 'f%d' % (i + 1), ['a']), node('a2', 'f%d' % (i + 1), ['a'])) for i in range(40)]
    found, _ = graph(x, node('c', 'f0', ['x']), node('n', 'Neg', ['c']), library(*chain))
    assert found == {'n': 15}, found
    found, notes = graph(node('c', 'f'), node('d', 'f', ['c:9']), library(function('f', 'ab', {'r': 'gone:y:0', 's': 'b:x:-1'}, node('n', 'Neg', ['b']))))
    assert found == {} and '2 nodes are not counted' in notes, notes


def test_where_shapes_are_lost():
    """The note names the operation without a rule, but not the operations after it, nor operations whose shapes are not
    needed."""
    _, notes = graph(node('x', 'Placeholder', shape=shape(2, 4)), node('u', 'Mystery', ['x']), node('v', 'Tanh', ['u']),
                     node('unused', 'Riddle', ['x']), node('n', 'Neg', ['v']))
    assert "1 node is not counted: 'flops' lists the reasons; shapes are not known after: Mystery (u)" in notes, notes
    assert 'Riddle' not in notes, notes


def test_contradictions():
    """Attributes and shapes that contradict each other: unknown, no number."""
    x = node('x', 'Placeholder', shape=shape(2, 8, 8, 3))
    k = node('k', 'Placeholder', shape=shape(3, 3, 3, 4))
    strides = 'list { i: 1 i: %d i: 1 i: 1 }'
    for made in (node('c', 'Conv2D', ['x', 'k'], strides=strides % 0, padding='s: "SAME"'),
                 node('c', 'Conv2D', ['x', 'k'], strides=strides % -1, padding='s: "SAME"'),
                 node('c', 'Conv2D', ['x', 'k'], strides=strides % 1, padding='s: "EXPLICIT"'),
                 node('c', 'Conv2D', ['x', 'k'], strides=strides % 1, padding='s: "SAME"', dilations='list { i: 1 i: %d i: 1 i: 1 }' % -9),
                 node('o', 'Const', value=integers(0, 9)) + node('c', 'Transpose', ['x', 'o']),
                 node('o', 'Const', value=integers(9, rank=0)) + node('c', 'ArgMax', ['x', 'o']),
                 node('o', 'Const', value=integers(7, 7)) + node('r', 'Reshape', ['k', 'o']) + node('c', 'MatMul', ['r', 'x']),
                 node('c', 'MatMul', ['x', 'k']), node('c', 'Add', ['x', 'k'])):
        found, notes = graph(x, k, made, node('n', 'Neg', ['c']))
        assert 'n' not in found or made.startswith('node { name: "c" op: "Neg'), (made, found, notes)


def test_huge_and_negative():
    big = 2 ** 62
    for dims in ((big, big, 4), (-5, 4), (0, 4), (big, 4)):
        found, _ = graph(node('x', 'Placeholder', shape=shape(*dims)), node('n', 'Neg', ['x']))
        assert found == {}, (dims, found)
    found, _ = graph(node('x', 'Placeholder', shape=shape(*[1] * 10 ** 4)), node('n', 'Neg', ['x']))
    assert found == {}, found
    for value in (integers(2 ** 31 - 1, 2 ** 31 - 1), integers(-2 ** 31), integers(*[-1, -1])):
        found, _ = graph(node('o', 'Const', value=value), node('f', 'Fill', ['o', 'o']), node('t', 'Tile', ['f', 'o']), node('n', 'Neg', ['t']))
        assert found == {}, (value, found)


def document(command, *words):
    p = subprocess.run([PROGRAM, command, *words, '-output', 'json'], capture_output=True, text=True, timeout=60)
    assert p.returncode == 0, p.stderr
    return json.loads(p.stdout[p.stdout.index('{'):])


TESTDATA = os.path.join(os.path.dirname(TESTS), 'testdata')


def test_roofline_of_a_profile():
    """A ProfileProto has times and float operations, so a given peak states the roof of each operation, and MFU."""
    path = os.path.join(TESTDATA, 'example', 'profile_100')
    flops = document('flops', path, '--peak-flops=10T', '--partial', '--top=0')
    rows = document('roofline', path, '--peak-flops=10T', '--peak-bandwidth=500G', '--top=0')['roofline']
    cases.equal(sum(r['float_ops'] or 0 for r in rows), flops['flops'], 'float operations')
    cases.equal(sum(r['time_ns'] for r in rows), flops['device_ns'], 'device time')
    for r in rows:
        if r['type'].startswith(('Conv2D', 'MatMul')):
            cases.equal(r['roof_ns'], round(r['float_ops'] / 10e12 * 1e9), 'roof of ' + r['type'])
            assert r['bound'] is None, 'the file has no types, so the bytes are not known'
    products = sum(r['flops'] for r in flops['ops'] if r['op'].startswith(('Conv2D', 'MatMul')))
    summary = document('summary', path)
    wall = summary['devices'][0]['window_ns'] / len(summary['steps']['loaded'])
    assert abs(flops['mfu'] / (products / 10e12 / (wall * 1e-9)) - 1) < 1e-4, (flops['mfu'], products, wall)


def test_roofline_by_scope():
    """--by=module groups the nodes of a profile by their scopes, --by=kernel shows each node; the times add up."""
    path, peaks = os.path.join(TESTDATA, 'example', 'profile_100'), ('--peak-flops=10T', '--peak-bandwidth=500G', '--top=0')
    rows = {by: document('roofline', path, '--by=' + by, *peaks)['roofline'] for by in ('op', 'module', 'kernel')}
    times = {by: sum(r['time_ns'] for r in v) for by, v in rows.items()}
    assert times['op'] == times['module'] == times['kernel'], times
    node = next(r for r in rows['kernel'] if r['op'] == 'gradients/conv2/Conv2D_grad/Conv2DBackpropInput')
    scope = next(r for r in rows['module'] if r['op'] == 'gradients/conv2/Conv2D_grad')
    inside = [r for r in rows['kernel'] if r['op'].rpartition('/')[0] == scope['op']]
    assert node in inside and scope['time_ns'] == sum(r['time_ns'] for r in inside), (scope, inside)
    p = subprocess.run([PROGRAM, 'roofline', path, '--by=phase', *peaks], capture_output=True, text=True, timeout=60)
    assert p.returncode == 1 and 'a trace of a server of LLMs was expected' in p.stderr, p.stderr


def text(command, *words):
    p = subprocess.run([PROGRAM, command, *words], capture_output=True, text=True, timeout=60)
    assert p.returncode == 0, p.stderr
    return p.stdout


def test_cure_of_a_missing_peak():
    """Without a peak, flops names all options that print MFU: below 90% of the device time also --partial. It does not state the
    float operations twice if the file states the same number."""
    path = os.path.join(TESTDATA, 'example', 'profile_100')
    found = text('flops', path)
    assert 'such as --peak-flops=100T --partial\n' in found and 'The file itself' not in found, found
    assert '\nMFU ' in text('flops', path, '--peak-flops=100T', '--partial')


def test_files_without_shapes():
    """The hint names what gives files of the format shapes."""
    for name, hint in ('cpu.pb.gz', 'XSpaces have compiled programs'), ('rocprof_results.json', 'PyTorch traces'), ('tensorrt_times.json', '--exportLayerInfo'):
        p = subprocess.run([PROGRAM, 'flops', os.path.join(TESTDATA, 'traces', name)], capture_output=True, text=True, timeout=60)
        assert p.returncode == 1 and 'no op has shapes' in p.stderr and hint in p.stderr.split('hint:')[-1], (name, p.stderr)


def test_coverage_by_copies():
    """If only copies and the like are covered, flops and summary say that no work with float operations is."""
    for name, only in ('nsys.sqlite', True), ('training.pt.trace.json.gz', False):
        for command in 'flops', 'summary':
            found = ' '.join(text(command, os.path.join(TESTDATA, 'traces', name)).split())
            assert ('time, all of it copies and other work without float operations' in found) == only, found


def test_execution_trace():
    """A PyTorch execution trace without the trace of the run has the same float operations and bytes, and the reasons of the rest."""
    path = os.path.join(TESTDATA, 'traces', 'calls.json')
    found = document('flops', path)
    rows = document('op', path, '-select', 'float_ops')
    cases.equal((found['flops'], found['bytes'], found['uncounted']), (rows['total']['float_ops'], 4 * (5 + 2 * 4 + 4 * 5 + 2 * 5) + 4 * (4 + 2 * 3 + 3 * 4 + 2 * 4), []), 'sums')
    assert '1 of 80 = 2 * 1 * 2 * 5 * 4' in text('flops', path, '--explain=aten::addmm')
    with tempfile.NamedTemporaryFile('w', suffix='.json') as f:
        f.write(open(path).read().replace('"aten::addmm"', '"aten::convolution"'))
        f.flush()
        found = document('flops', f.name)
        assert found['flops'] == 0, found
        assert ('aten::convolution', 'no shape in the file') in {(u['op'], u['reason']) for u in found['uncounted']}, found['uncounted']


def nested_ops(*ops, device=True, step=True):
    """Writes a PyTorch trace with a step. ops: (name, depth, shapes, sequence number or None, True for a gradient); a product launches
    a kernel of 10 us."""
    events, at, kernels = [], 100, 0
    ends = []
    for i, (name, depth, shapes, number, gradient) in enumerate(ops):
        inside = next((j for j in range(i + 1, len(ops)) if ops[j][1] <= depth), len(ops)) - i
        ends.append((at + 10 * i, 10 * inside - depth))
    for i, ((name, depth, shapes, number, gradient), (ts, dur)) in enumerate(zip(ops, ends)):
        args = {'External id': i + 1, 'Input Dims': shapes, 'Input type': ['float'] * len(shapes), 'Concrete Inputs': [''] * len(shapes)}
        if number is not None:
            args.update({'Sequence number': number, 'Fwd thread id': int(gradient)})
        events.append({'ph': 'X', 'cat': 'cpu_op', 'name': name, 'pid': 1, 'tid': 1, 'ts': ts, 'dur': dur, 'args': args})
        if name == 'aten::mm' and device:
            kernels += 1
            link = {'External id': i + 1, 'correlation': i + 1}
            events.append({'ph': 'X', 'cat': 'cuda_runtime', 'name': 'cudaLaunchKernel', 'pid': 1, 'tid': 1, 'ts': ts + 1, 'dur': 1, 'args': link})
            events.append({'ph': 'X', 'cat': 'kernel', 'name': 'gemm', 'pid': 0, 'tid': 7, 'ts': ts + 2, 'dur': 5,
                           'args': dict(link, device=0, stream=7)})
    end = 10 * len(ops) + 20
    if step:
        events.append({'ph': 'X', 'cat': 'user_annotation', 'name': 'ProfilerStep#1', 'pid': 1, 'tid': 1, 'ts': 90, 'dur': end})
    f = tempfile.NamedTemporaryFile('w', suffix='.pt.trace.json')
    json.dump({'schemaVersion': 1, 'deviceProperties': [{'id': 0, 'name': 'NVIDIA H100 80GB HBM3'}] if device else [], 'traceEvents': events}, f)
    f.flush()
    return f


def test_checkpoints():
    """MFU leaves out the forward pass that a backward pass repeats, in both forms of torch.utils.checkpoint. Ops of second-order
    gradients have sequence numbers too, but repeat nothing."""
    x, w = [[8, 16], [16, 32]], [[16, 8], [8, 32]]
    one = 2 * 8 * 16 * 32
    forward = [('aten::linear', 0, [], 1, False), ('aten::mm', 1, x, 2, False)]
    reentrant = [('autograd::engine::evaluate_function: CheckpointFunctionBackward', 0, [], 3, True), ('CheckpointFunctionBackward', 1, [], 3, True),
                 ('aten::mm', 2, x, 5, False), ('aten::linear', 2, [], 6, False), ('aten::mm', 3, x, None, False),
                 ('autograd::engine::evaluate_function: MmBackward0', 2, [], 5, True), ('MmBackward0', 3, [], 5, True), ('aten::mm', 4, w, None, False)]
    inside = [('autograd::engine::evaluate_function: MmBackward0', 0, [], 2, True), ('MmBackward0', 1, [], 2, True),
              ('aten::linear', 2, [], 7, False), ('aten::matmul', 3, [], 8, False), ('aten::mm', 4, x, 9, False), ('aten::mm', 2, w, None, False)]
    second = [('autograd::engine::evaluate_function: MmBackward0', 0, [], 2, True), ('MmBackward0', 1, [], 2, True), ('aten::mm', 2, w, 9, False)]
    for backward, again, products in (reentrant, 2, 4), (inside, 1, 3), (second, 0, 2):
        with nested_ops(*forward, *backward) as f:
            d = document('flops', f.name)
            cases.equal((d['recomputed_flops'], d['flops']), (again * one, products * one), backward[0][0])
            assert abs(d['mfu'] * products - d['hfu'] * (products - again)) < 1e-6 * products, (d['mfu'], d['hfu'])


def test_mfu_of_threads():
    """Without device work, MFU compares the steps with the given peak of the processor."""
    with nested_ops(('aten::mm', 0, [[8, 16], [16, 32]], None, False), device=False) as f:
        assert 'No MFU: the file does not name the device; give its peak' in text('flops', f.name)
        d = document('flops', f.name, '--peak-flops=1G')
        cases.equal(d['mfu'], round(2 * 8 * 16 * 32 / 1e9 / 30e-6, 6), 'MFU')
        assert 'the wall time of the steps\n' in text('flops', f.name, '--peak-flops=1G')
        assert 'Above 100%: the device is faster than this peak' in text('flops', f.name, '--peak-flops=100M')
    with nested_ops(('aten::mm', 0, [[8, 16], [16, 32]], None, False), device=False, step=False) as f:
        assert 'the whole trace, which marks no steps' in text('flops', f.name, '--peak-flops=1G')
    with nested_ops(('aten::mm', 0, [[8, 16], [16, 32]], None, False), ('aten::bmm', 0, [], None, False), device=False) as f:
        assert 'No MFU, because some calls are not counted; --partial prints it' in text('flops', f.name, '--peak-flops=1G')


def test_roofline_of_an_engine():
    """Layers of TensorRT with times: bytes of the tensors whose types the file states, and MFU at a given peak."""
    paths = [os.path.join(TESTDATA, 'traces', 'tensorrt_%s.json' % n) for n in ('layers', 'times')]
    rows = document('roofline', *paths, '--peak-flops=1T', '--peak-bandwidth=1G')['roofline']
    row = next(r for r in rows if r['type'] == 'MatrixMultiply')
    cases.equal((row['time_ns'], row['float_ops'], row['bytes_accessed'], row['bound']), (30000, 2 * 512 * 10, 4 * (512 + 10), 'memory'), 'product')
    cases.equal(row['roof_ns'], 4 * (512 + 10), 'roof of the product')
    mfu = document('flops', *paths, '--peak-flops=1T', '--partial')['mfu']
    assert abs(mfu - 2 * 512 * 10 / 1e12 / 155e-6) < 1e-6, mfu


def run_metadata(**runs):
    """Returns run metadata as text, with this number of executions of each node, 5 us each."""
    return 'step_stats { dev_stats { device: "/cpu:0" %s } }' % ' '.join(
        'node_stats { node_name: "%s" all_start_micros: %d op_end_rel_micros: 5 all_end_rel_micros: 5 }' % (n, 100 + 10 * i)
        for n, times in runs.items() for i in range(times))


def test_executions():
    """A step has the float operations of each execution. Those of nodes that it does not execute are stated apart."""
    nodes = node('x', 'Placeholder', shape=shape(3, 5)), node('a', 'Neg', ['x']), node('b', 'Square', ['x']), node('c', 'Tanh', ['x'])
    with tempfile.TemporaryDirectory() as d:
        paths = os.path.join(d, 'graph.pbtxt'), os.path.join(d, 'run_meta.pbtxt')
        open(paths[0], 'w').write(''.join(nodes))
        open(paths[1], 'w').write(run_metadata(a=3))
        found = document('flops', *paths)
        cases.equal((found['flops'], found['not_run_flops'], [(r['op'], r['calls'], r['flops']) for r in found['ops']]),
                    (45, 15, [('Neg', 3, 45)]), 'executions')
        assert 'Not included: 15 of 1 node without an execution in the steps' in text('flops', *paths), text('flops', *paths)
        found = document('flops', paths[0])
        assert found['flops'] == 30 and 'not_run_flops' not in found, found
        body = function('body', 'a', {'r': 'n:y:0'}, node('n', 'Neg', ['a']))
        open(paths[0], 'w').write(node('x', 'Placeholder', shape=shape(3, 5)) + node('p', 'PartitionedCall', ['x'], f=calls('body')) + library(body))
        open(paths[1], 'w').write(run_metadata(p=2))
        cases.equal(document('flops', *paths)['flops'], 30, 'the nodes of a function run as often as the node that calls it')


def test_types_of_a_graph():
    """The attribute T gives the bytes of an operation."""
    with tempfile.TemporaryDirectory() as d:
        with open(os.path.join(d, 'graph.pbtxt'), 'w') as f:
            f.write(node('a', 'Placeholder', dtype='type: DT_HALF', shape=shape(4, 8)))
            f.write(node('b', 'Placeholder', dtype='type: DT_HALF', shape=shape(8, 16)))
            f.write(node('mm', 'MatMul', ('a', 'b'), T='type: DT_HALF'))
        cases.equal(document('flops', os.path.join(d, 'graph.pbtxt'))['ops'][0]['bytes'], 2 * (4 * 8 + 8 * 16 + 4 * 16), 'bytes')


def test_loops_and_long_chains():
    """A cycle and long chains end in an answer; recursion along the chains would need a deep stack."""
    found, notes = graph(node('a', 'Tanh', ['b']), node('b', 'Tanh', ['a']), node('n', 'Neg', ['b']))
    assert found == {} and '1 node is not counted' in notes, notes
    n = 50000
    chain = [node('s%d' % i, 'Switch', ['s%d%s' % (i + 1, ':1' if i + 1 < n else ''), 'p']) for i in range(n)]
    found, _ = graph(*chain, node('s%d' % n, 'Placeholder', shape=shape(3, 5)), node('p', 'Placeholder', shape='shape { }'), node('m', 'Neg', ['s0:1']))
    assert found == {'m': 15}, found
    found, _ = graph(node('e', 'Enter', ['x']), node('m', 'Merge', ['e', 'next']), node('next', 'NextIteration', ['body']),
                     node('body', 'Neg', ['m']), node('x', 'Placeholder', shape=shape(3, 5)))
    assert found == {'body': 15}, found


if __name__ == '__main__':
    tests = [v for k, v in sorted(globals().items()) if k.startswith('test_')]
    sys.exit(cases.run([t for t in tests if not ARGS.names or t.__name__ in ARGS.names]))
