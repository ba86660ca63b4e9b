# SPDX-License-Identifier: Apache-2.0
"""Generates profiles as ONNX Runtime writes them, old and new."""
import json

from pprof import number, sub


def event(cat, name, ts, dur, tid=7, pid=7, **args):
    """Returns a complete event; times in microseconds. Arguments become strings, as ONNX Runtime writes numbers."""
    return {'cat': cat, 'pid': pid, 'tid': tid, 'dur': dur, 'ts': ts, 'ph': 'X', 'name': name,
            'args': {k: v if isinstance(v, list) else str(v) for k, v in args.items()}}


def node(name, op, ts, dur, provider='CPUExecutionProvider', **args):
    return event('Node', name + '_kernel_time', ts, dur, op_name=op, provider=provider, **args)


def execute(ts, dur):
    return event('Session', 'SequentialExecutor::Execute', ts, dur)


def load():
    return [event('Session', 'model_loading_uri', 2, 500), event('Session', 'session_initialization', 510, 90)]


def run(t):
    """Returns a run with a loop of two iterations; as in files, children come before their parents."""
    out = [node('net/conv', 'Conv', t + 5, 20, output_size=4096, parameter_size=64, activation_size=1024, node_index=0,
                input_type_shape=[{'float': [1, 3, 8, 8]}, {'int64': [2]}])]
    for i in range(2):
        out += [node('body/Mul', 'Mul', t + 33 + 10 * i, 4), execute(t + 32 + 10 * i, 6)]
    return out + [node('net/loop', 'Loop', t + 30, 25), node('', 'Softmax', t + 60, 3, node_index=8),
                  execute(t + 3, 65), event('Session', 'model_run', t, 70)]


def old(t):
    """Returns a run as of 2019: with fences, and a provider other than the CPU."""
    out = []
    for i, provider in enumerate(('CPUExecutionProvider', 'FastExecutionProvider', 'FastExecutionProvider')):
        at, name = t + 10 + 20 * i, 'blk/n%d' % i
        out += [event('Node', name + '_fence_before', at, 1, op_name='Gemm'),
                node(name, 'Gemm', at + 2, 10, provider, graph_index=i, exec_plan_index=i, output_size=8),
                event('Node', name + '_fence_after', at + 14, 2, op_name='Gemm')]
    return out + [execute(t + 2, 80), event('Session', 'model_run', t, 90)]


def text(events):
    """Returns the bytes of a file with one event per line."""
    return ('[\n' + ',\n'.join(json.dumps(e, separators=(',', ' :')) for e in events) + '\n]\n').encode()


def node_proto(name, op, inputs, outputs, body=b'', more=b''):
    out = b''.join(sub(1, x.encode()) for x in inputs) + b''.join(sub(2, x.encode()) for x in outputs)
    out += sub(3, name.encode()) + sub(4, op.encode())
    return sub(1, out + more + (sub(5, sub(1, b'body') + sub(6, body)) if body else b''))


def value_info(field, name, *dims):
    shape = b''.join(sub(1, number(1, d) if d else sub(2, b'N')) for d in dims)
    return sub(field, sub(1, name.encode()) + sub(2, sub(1, number(1, 1) + sub(2, shape))))


def model(values=64):
    """Returns the model of the runs above; values: bytes of the parameter."""
    body = node_proto('body/Mul', 'Mul', ['c', 'i'], ['m'])
    graph = node_proto('net/conv', 'Conv', ['x', 'W'], ['c']) + node_proto('net/loop', 'Loop', ['n', 'c'], ['l'], body)
    graph += node_proto('', 'Softmax', ['l'], ['y'])
    graph += sub(5, sub(1, b'\x08\x03\x03\x03') + number(2, 1) + sub(8, b'W') + sub(9, bytes(values)))
    graph += value_info(11, 'x', 1, 3, 8, 8) + value_info(12, 'y', 0, 10) + value_info(13, 'c', 1, 8, 8, 8)
    return number(1, 8) + sub(2, b'tests') + sub(7, graph)
