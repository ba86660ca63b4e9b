# SPDX-License-Identifier: Apache-2.0
"""Generates execution traces as PyTorch writes them."""
import json

import kineto

ROOT = '[pytorch|profiler|execution_trace|process]'
THREAD = '[pytorch|profiler|execution_trace|thread]'


class Tensor:
    """A tensor of floats with a number of its own."""
    count = 0

    def __init__(self, *shape):
        Tensor.count += 1
        self.id, self.shape = Tensor.count, list(shape)

    def value(self):
        size = 1
        for d in self.shape:
            size *= d
        return [self.id, 100 + self.id, 0, size, 4, 'cpu']


def items(values):
    """values, shapes and types of inputs or outputs: tensors, lists of tensors, lists of numbers, scalars."""
    out = {'values': [], 'shapes': [], 'types': []}
    for v in values:
        if isinstance(v, Tensor):
            row = v.value(), v.shape, 'Tensor(float)'
        elif isinstance(v, list) and v and isinstance(v[0], Tensor):
            row = [t.value() for t in v], [t.shape for t in v], 'GenericList[%s]' % ','.join(['Tensor(float)'] * len(v))
        elif isinstance(v, list):
            row = v, [[] for _ in v], 'GenericList[%s]' % ','.join(['Int'] * len(v))
        else:
            row = v, [], {bool: 'Bool', int: 'Int', float: 'Double', str: 'String'}.get(type(v), 'None')
        for k, x in zip(('values', 'shapes', 'types'), row):
            out[k].append(x)
    return out


class Trace:
    """Nodes in the order in which calls end, as in files."""

    def __init__(self, schema='1.1.1-chakra.0.0.4'):
        self.schema, self.nodes = schema, []
        self.ids, self.old = 2, schema.startswith('1.0.1')
        self.add(1, ROOT, 1, 0, 7, [], [])
        self.add(2, THREAD, 1, 0, 7, [], [])

    def number(self):
        self.ids += 1
        return self.ids

    def add(self, id_, name, around, record, scope, inputs, outputs):
        ins, outs = items(inputs), items(outputs)
        if self.old:
            node = {'name': name, 'id': id_, 'rf_id': record, 'parent': around, 'scope': scope, 'tid': 1,
                    'inputs': ins['values'], 'input_shapes': ins['shapes'], 'input_types': ins['types'],
                    'outputs': outs['values'], 'output_shapes': outs['shapes'], 'output_types': outs['types']}
        else:
            attrs = [('rf_id', 'uint64', record), ('fw_parent', 'uint64', 0), ('seq_id', 'int64', -1), ('scope', 'uint64', scope),
                     ('tid', 'uint64', 1), ('op_schema', 'string', 'f(Tensor self) -> "[]"')]
            node = {'id': id_, 'name': name, 'ctrl_deps': around, 'inputs': ins, 'outputs': outs,
                    'attrs': [dict(zip(('name', 'type', 'value'), a)) for a in attrs]}
        self.nodes.append(node)

    def bytes(self, pid=7):
        return json.dumps({'schema': self.schema, 'pid': pid, 'time': '2026-01-01 00:00:00', 'start_ts': 5, 'nodes': self.nodes,
                           'finish_ts': 9}, indent=1).encode()


def two_layers(schema='1.1.1-chakra.0.0.4', sizes=(4, 5)):
    """Returns two linear layers in a step, each an op in an op, with a sum of all at the end. Record function ids are 10 times
    the ids."""
    Tensor.count = 0
    t = Trace(schema)
    x, total = Tensor(2, 3), Tensor()
    step, region = t.number(), t.number()
    for size in sizes:
        weight, bias, made = Tensor(x.shape[1], size), Tensor(size), Tensor(2, size)
        outer = t.number()
        inner = t.number()
        t.add(inner, 'aten::addmm', outer, 10 * inner, 0, [bias, x, weight, 1, 1], [made])
        t.add(outer, 'aten::linear', region, 10 * outer, 0, [x, weight, bias], [made])
        x = made
    last = t.number()
    t.add(last, 'aten::cat', region, 10 * last, 0, [[x, x], 0], [total])
    t.add(region, 'forward', step, 10 * region, 7, [], [])
    t.add(step, 'ProfilerStep#3', 2, 10 * step, 7, [], [])
    return t


def of_kineto(trace, rank=None, inner=None, pid=1):
    """Returns the Kineto trace of the calls of an execution trace, 10 us apart, in Python modules, without shapes."""
    out = [kineto.event('user_annotation', 'ProfilerStep#3', 1000, 900, pid),
           kineto.event('python_function', 'nn.Module: Net_0', 1001, 890, pid, Python_id=1)]
    if inner is not None:
        out.append(kineto.event('python_function', 'nn.Module: Inner_%d' % inner, 1002, 880, pid, Python_id=2, Python_parent_id=1))
    linear = 0
    for n in sorted(trace.nodes, key=lambda n: n['id']):
        linear += n['name'] == 'aten::linear'
        place = {'forward': (1005, 800), 'aten::linear': (1010 + 100 * linear, 90), 'aten::addmm': (1015 + 100 * linear, 50),
                 'aten::cat': (1400, 50)}.get(n['name'])
        if place:
            cat = 'user_annotation' if n['name'] == 'forward' else 'cpu_op'
            out.append(kineto.event(cat, n['name'], *place, pid, Record_function_id=10 * n['id']))
    return kineto.trace(out, rank)
