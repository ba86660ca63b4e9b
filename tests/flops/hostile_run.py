#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile shapes in each format: sizes that overflow, negative sizes, a million dimensions, shapes that contradict each other. The
product with such shapes is listed with a reason, and the product beside it keeps its number.

    tests/flops/hostile_run.py --bin build/check
"""
import json
import os
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, 'check'), os.path.join(TESTS, 'trace')]
import chakra  # noqa: E402
import hlo  # noqa: E402
import kineto  # noqa: E402
import nsys  # noqa: E402
import onnx  # noqa: E402
import trace_case  # noqa: E402
from trace_case import equal, judge, program, write  # noqa: E402
from xspace import data, number, space  # noqa: E402

GOOD = [4, 5], [5, 6], [4, 6]
COUNTED = 2 * 4 * 5 * 6
BIG = 2 ** 62
# Shapes of the left factor, the right factor and the result of a product.
BAD = {'overflow': ([BIG, BIG], [BIG, BIG], [BIG, BIG]),
       'large': ([2 ** 31, 2 ** 31], [2 ** 31, 2 ** 31], [2 ** 31, 2 ** 31]),
       'beyond 64 bits': ([2 ** 70, 2], [2, 3], [2 ** 70, 3]),
       'negative': ([-4, 5], [5, 6], [-4, 6]),
       'contradiction': ([4, 5], [7, 6], [4, 6]),
       'no dimensions': ([], [5, 6], [6]),
       'many dimensions': ([1] * 10 ** 6, [5, 6], [1] * 10 ** 6)}
REASONS = 'no shape in the file', 'shapes contradict each other', 'too large', 'no settings in the file'


def check(make, cases=BAD, op=None):
    """make(factors): writes a file with a product of these shapes and one of GOOD. Returns the path and words of the command."""
    for name in cases:
        words = make(*BAD[name])
        d = json.loads(program('flops', *words, '-output', 'json', '--top=0')[0])
        reasons = [r['reason'] for r in d['uncounted'] if op is None or r['op'] == op]
        equal((d['flops'], [r for r in reasons if r not in REASONS], len(reasons)), (COUNTED, [], 1), name + str(d['uncounted'])[:300])
        for command in ('summary', 'roofline', 'scope', 'op'):
            judge('tfprof', command, *words, allowed=(0, 1))


def fits(v):
    return -2 ** 63 <= v < 2 ** 63


def encodable():
    """Names of the shapes whose sizes fit in the 64 bits of a protobuf integer."""
    return [n for n, shapes in BAD.items() if all(fits(d) for s in shapes for d in s)]


def pytorch():
    """Input Dims of a PyTorch trace."""
    def make(left, right, _):
        events = []
        for i, dims in enumerate(([left, right], GOOD[:2])):
            events += [kineto.event('cpu_op', 'aten::mm', 1000 + 100 * i, 50, **{'Input Dims': dims})]
            events += kineto.launch(1010 + 100 * i, i + 1, 1020 + 100 * i, 5, 'gemm')
        return [write(kineto.trace(events), 'a.pt.trace.json')]
    check(make)


def execution_trace():
    """Shapes of an execution trace, joined to a trace without shapes."""
    def make(left, right, out):
        t, events = chakra.Trace(), []
        for i, (a, b, c) in enumerate(((left, right, out), GOOD)):
            t.add(10 + i, 'aten::mm', 2, 100 + i, 7, [chakra.Tensor(*a), chakra.Tensor(*b)], [chakra.Tensor(*c)])
            events += [kineto.event('cpu_op', 'aten::mm', 1000 + 100 * i, 50, **{'Record function id': 100 + i})]
            events += kineto.launch(1010 + 100 * i, i + 1, 1020 + 100 * i, 5, 'gemm')
        return [write(t.bytes(), 'et.json'), write(kineto.trace(events), 'a.pt.trace.json')]
    check(make)


def xspace():
    """Shapes of a compiled program."""
    def make(left, right, out):
        main = []
        for i, (a, b, c) in enumerate(((left, right, out), GOOD)):
            main += [hlo.instruction(10 * i + 1, 'x%d' % i, 'parameter', a), hlo.instruction(10 * i + 2, 'y%d' % i, 'parameter', b),
                     hlo.instruction(10 * i + 3, 'dot.%d' % i, 'dot', c, [10 * i + 1, 10 * i + 2], more=data(30, hlo.packed(1, [1]) + hlo.packed(2, [0])))]
        program_ = hlo.program('jit_f', 7, [(1, 13, main)], 1)
        return [write(space(hlo.metadata_plane({7: program_}), hlo.gpu([('k', 'dot.0', 0, 1000), ('k', 'dot.1', 2000, 1000)])), 'a.xplane.pb')]
    check(make, [n for n in encodable() if n not in ('contradiction', 'no dimensions')])


def onnx_model():
    """Shapes of an ONNX model."""
    def make(left, right, out):
        graph = b''
        for i, (a, b, c) in enumerate(((left, right, out), GOOD)):
            graph += onnx.node_proto('m%d' % i, 'MatMul', ['x%d' % i, 'y%d' % i], ['z%d' % i])
            graph += b''.join(onnx.value_info(field, name + str(i), *dims) for field, name, dims in ((11, 'x', a), (11, 'y', b), (12, 'z', c)))
        return [write(number(1, 8) + data(2, 'tests') + data(7, graph), 'm.onnx')]
    check(make, encodable())


def onnx_profile():
    """Shapes of an ONNX Runtime profile."""
    def make(left, right, out):
        nodes = [onnx.node('m%d' % i, 'MatMul', 1010 + 4 * i, 2, input_type_shape=[{'float': a}, {'float': b}], output_type_shape=[{'float': c}])
                 for i, (a, b, c) in enumerate(((left, right, out), GOOD))]
        return [write(onnx.text(onnx.load() + nodes + [onnx.execute(1003, 65), onnx.event('Session', 'model_run', 1000, 70)]), 'ort.json')]
    check(make)


def tensorrt():
    """Dimensions of layers."""
    def make(left, right, out):
        layers = [{'Name': 'm%d' % i, 'LayerType': 'MatrixMultiply', 'Inputs': [{'Name': 'a%d' % i, 'Dimensions': a}, {'Name': 'b%d' % i, 'Dimensions': b}],
                   'Outputs': [{'Name': 'c%d' % i, 'Dimensions': c}]} for i, (a, b, c) in enumerate(((left, right, out), GOOD))]
        return [write(json.dumps({'Layers': layers, 'Bindings': []}).encode(), 'layers.json')]
    check(make)


def nvtx():
    """Sizes in NVTX ranges of an Nsight Systems export."""
    def make(left, right, _):
        x = nsys.Export()
        for i, sizes in enumerate(([left, right], GOOD[:2])):
            x.range(70, 'aten::mm, op_id = %d, sizes = %s' % (i, json.dumps(sizes)), 1000 * i + 1000, 1000 * i + 1900)
            x.launch(70, i + 1, 1000 * i + 1100, 1000 * i + 2000, 1000 * i + 2100)
        if os.path.exists('inputs.sqlite'):
            os.unlink('inputs.sqlite')
        return [x.save('inputs.sqlite')]
    check(make)


def profile():
    """Shapes of a ProfileProto."""
    def make(left, right, out):
        nodes = b''
        for i, (a, b, c) in enumerate(((left, right, out), GOOD)):
            for k, (name, dims) in enumerate((('x', a), ('y', b))):
                nodes += data(1, number(1, 10 * i + k + 1) + data(2, tensor_node(name + str(i), 'Placeholder', dims) + number(13, 10 * i + k + 1)))
            inputs = b''.join(data(2, number(1, k) + number(2, 10 * i + k + 1)) + data(14, number(1, 10 * i + k + 1) + number(2, 0)) for k in (0, 1))
            nodes += data(1, number(1, 10 * i + 3) + data(2, tensor_node('m%d' % i, 'MatMul', c) + inputs + number(13, 10 * i + 3)))
        return [write(nodes, 'profile')]
    check(make, [n for n in encodable() if n != 'no dimensions'])


def tensor_node(name, op, dims):
    """Encodes a ProfileNode with the shape of its output."""
    shape = b''.join(number(1, d) for d in dims)
    return data(1, name) + data(9, op) + data(15, number(1, 0) + data(2, shape))


def sums():
    """A sum of numbers that fit, but do not fit together, stops at the largest number, with a note."""
    dims = [[2 ** 20, 2 ** 20], [2 ** 20, 2 ** 21]]
    events = []
    for i in range(3):
        events += [kineto.event('cpu_op', 'aten::mm', 1000 + 100 * i, 50, **{'Input Dims': dims})]
        events += kineto.launch(1010 + 100 * i, i + 1, 1020 + 100 * i, 5, 'gemm')
    path = write(kineto.trace(events), 'a.pt.trace.json')
    out, err = program('flops', path, '-output', 'json')
    d = json.loads(out)
    equal(d['flops'], 2 ** 63 - 1)
    assert 'does not fit in 64 bits' in err, err
    assert any('does not fit in 64 bits' in w for w in d['warnings']), d['warnings']
    assert '\u22659.22E' in program('flops', path)[0], program('flops', path)[0]


CASES = [pytorch, execution_trace, xspace, onnx_model, onnx_profile, tensorrt, profile, sums]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES + [nvtx], sqlite=[nvtx]))
