#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests profiles that an installed onnxruntime writes: the sums of the program equal those of ONNX Runtime's own evaluation of
the file.

    PYTHON tests/trace/onnx_made.py --bin build/check         PYTHON: one that has onnxruntime
"""
import argparse
import contextlib
import importlib.util
import io
import json
import os
import struct
import subprocess
import sys
import types

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(TESTS), 'check'), TESTS]
import cases  # noqa: E402
from onnx import node_proto, value_info  # noqa: E402
from pprof import number, sub  # noqa: E402

RUNS = 3


def ints(name, *values):
    """Encodes an attribute of a node: a list of integers."""
    return sub(5, sub(1, name.encode()) + b''.join(number(8, v) for v in values) + number(20, 7))


def tensor(name, dims, kind, data):
    """Encodes an initializer. kind: 1: floats, 7: 64-bit integers, 9: truth values."""
    return sub(5, b''.join(number(1, d) for d in dims) + number(2, kind) + sub(8, name.encode()) + sub(9, data))


def with_attributes(node, attributes):
    """Returns a node (field 1 of a graph) with more attributes."""
    return sub(1, node[2 if len(node) < 130 else 3:] + attributes)


def scalar(field, name, kind):
    return sub(field, sub(1, name.encode()) + sub(2, sub(1, number(1, kind) + sub(2, b''))))


def model():
    """Returns a model with a convolution, a matrix product, and a loop whose body multiplies."""
    body = node_proto('body/mul', 'Mul', ['state', 'two'], ['next']) + node_proto('body/keep', 'Identity', ['go'], ['more'])
    body += sub(2, b'body') + tensor('two', [], 1, struct.pack('<f', 2))
    body += scalar(11, 'i', 7) + scalar(11, 'go', 9) + value_info(11, 'state', 1, 10)
    body += scalar(12, 'more', 9) + value_info(12, 'next', 1, 10)
    graph = with_attributes(node_proto('net/conv', 'Conv', ['x', 'W'], ['c']), ints('pads', 1, 1, 1, 1))
    graph += node_proto('net/relu', 'Relu', ['c'], ['r']) + node_proto('net/flat', 'Flatten', ['r'], ['f'])
    graph += node_proto('net/mm', 'MatMul', ['f', 'F'], ['m'])
    graph += sub(1, sub(1, b'n') + sub(1, b'yes') + sub(1, b'm') + sub(2, b'l') + sub(3, b'net/loop') + sub(4, b'Loop') +
                 sub(5, sub(1, b'body') + sub(6, body) + number(20, 5)))
    graph += node_proto('net/softmax', 'Softmax', ['l'], ['y']) + sub(2, b'graph')
    graph += tensor('W', [8, 3, 3, 3], 1, struct.pack('<216f', *([.1] * 216)))
    graph += tensor('F', [8 * 16 * 16, 10], 1, struct.pack('<20480f', *([.01] * 20480)))
    graph += tensor('n', [], 7, struct.pack('<q', 5)) + tensor('yes', [], 9, b'\1')
    graph += value_info(11, 'x', 1, 3, 16, 16) + value_info(12, 'y', 1, 10)
    return number(1, 8) + sub(2, b'tests') + sub(8, number(2, 17)) + sub(7, graph)


def make(optimised):
    """Runs a session; returns the name of its profile."""
    import numpy
    import onnxruntime
    how = onnxruntime.SessionOptions()
    how.enable_profiling = True
    how.profile_file_prefix = 'ort'
    if not optimised:
        how.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model(), how, providers=['CPUExecutionProvider'])
    for _ in range(RUNS):
        session.run(None, {'x': numpy.ones((1, 3, 16, 16), 'f')})
    return session.end_profiling()


def own_sums(path):
    """Returns {operator: (calls, micros)}, as ONNX Runtime's own script adds up a profile; it leaves out nodes with bodies."""
    for name in ('psutil', 'onnx'):
        sys.modules[name] = types.ModuleType(name)
    sys.modules['onnx'].TensorProto = None
    import onnxruntime
    folder = os.path.join(os.path.dirname(onnxruntime.__file__), 'transformers')
    new = os.path.join(folder, 'profile_result_processor.py')
    words = () if os.path.exists(new) else (True, False)
    spec = importlib.util.spec_from_file_location('own', os.path.join(folder, 'profiler.py') if words else new)
    own = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(own)
    with open(path) as f, contextlib.redirect_stdout(io.StringIO()):
        lines = own.group_node_results(json.load(f), *words)
    out, columns = {}, None
    for line in lines:
        cells = [c.strip() for c in line.split('\t')]
        if 'Operator' in cells and 'Provider' not in cells:
            columns = cells
        elif columns and len(cells) == len(columns):
            row = dict(zip(columns, cells))
            out[row['Operator']] = (int(row['Calls']), int(next(v for k, v in row.items() if k.startswith('Kernel('))))
        elif columns:
            break
    return out


def program(*words):
    p = subprocess.run([os.path.join(ARGS.bin, words[0]), *words[1:]], capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    return p.stdout, p.stderr


def sums(path):
    out = {}
    for o in json.loads(program('trace_dump', path)[0])['ops']:
        runs, total = out.get(o['type'], (0, 0))
        out[o['type']] = (runs + o['host_runs'], total + o['host_total'] // 1000)
    return out


def check(optimised):
    path = make(optimised)
    with open(path) as f:
        events = json.load(f)
    found, expected = sums(path), own_sums(path)
    assert expected and {k: found.get(k) for k in expected} == expected, (found, expected)
    runs = sorted((e['ts'], e['dur']) for e in events if e['name'] == 'model_run')
    steps = json.loads(program('trace_dump', path)[0])['steps']
    assert len(runs) == RUNS and [(s['end'] - s['start']) // 1000 for s in steps] == [d for _, d in runs], (runs, steps)
    loops = [e['dur'] for e in events if e['name'] == 'net/loop_kernel_time']
    assert found['Loop'] == (len(loops), sum(loops)), found
    _, err = program('tfprof', path, 'op')
    assert not err, err
    return path


def plain():
    """Without the optimiser, the model beside the profile has all nodes of the profile."""
    path = check(False)
    with open('m.onnx', 'wb') as f:
        f.write(model())
    out, _ = program('tfprof', '--graph_path=m.onnx', path, 'graph', '-select', 'occurrence', '-output', 'json')
    rows = {r['path']: r for r in json.loads(out)['rows']}
    for name in ('net/conv', 'net/mm', 'net/loop', 'net/softmax'):
        assert rows[name]['own_occurrence'] == 1, rows[name]
    assert rows['net/mm']['parent'] != '_TFProfRoot', rows


def optimised():
    """With the optimiser, which makes other nodes, the sums are equal, too."""
    check(True)


CASES = [plain, optimised]

if __name__ == '__main__':
    a = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    a.add_argument('--bin', default='build/check')
    ARGS = a.parse_args()
    ARGS.bin = os.path.abspath(ARGS.bin)
    sys.exit(cases.run(CASES))
