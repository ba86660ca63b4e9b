# SPDX-License-Identifier: Apache-2.0
"""Encodes XSpaces for tests: planes, lines, events and stats as nested lists, into protobuf bytes."""
import os
import struct
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'models'))
from wire import num, sub as data, varint  # noqa: E402


def number(field, v):
    """Encodes a number, as proto3 does: 0 is left out."""
    return num(field, v) if v else b''


class Plane:
    """A plane; ids of stats and of event metadata are assigned when they are first named."""

    def __init__(self, name, stats=None):
        self.name, self.names, self.metas, self.lines = name, {}, {}, []
        self.stats = [self.stat(*s) for s in (stats or {}).items()]

    def name_id(self, name):
        return self.names.setdefault(name, len(self.names) + 1)

    def stat(self, name, v):
        """Encodes a stat: a str as string, ('ref', text) as reference, ('compressed', bytes) as compressed text, a
        float as double, an int as signed integer."""
        out = number(1, name if isinstance(name, int) else self.name_id(name))
        if isinstance(v, tuple) and v[0] == 'compressed':
            return out + data(8, v[1])
        if isinstance(v, tuple):
            v = v[1] if isinstance(v[1], int) else self.name_id(v[1])
            return out + varint(7 << 3) + varint(v)
        if isinstance(v, str):
            return out + data(5, v)
        if isinstance(v, float):
            return out + varint(2 << 3 | 1) + struct.pack('<d', v)
        return out + varint(4 << 3) + varint(v)

    def meta(self, name, display='', **stats):
        """Returns the id of the event metadata of that name."""
        key = (name, display, tuple(sorted(stats.items())))
        if key not in self.metas:
            body = number(1, len(self.metas) + 1) + data(2, name) + (data(4, display) if display else b'')
            body += b''.join(data(5, self.stat(n, v)) for n, v in stats.items())
            self.metas[key] = (len(self.metas) + 1, body)
        return self.metas[key][0]

    def line(self, id_, name, events, timestamp=0, display=''):
        """Adds a line; events are (metadata id, offset ps, duration ps[, stats[, occurrences]])."""
        out = number(1, id_) + data(2, name) + number(3, timestamp)
        for e in events:
            meta, offset, duration, stats, count = e + ({}, None)[len(e) - 3:]
            body = number(1, meta) + (number(2, offset) if count is None else number(5, count)) + number(3, duration)
            out += data(4, body + b''.join(data(4, self.stat(n, v)) for n, v in (stats or {}).items()))
        self.lines.append(out + (data(11, display) if display else b''))
        return self

    def bytes(self):
        out = data(2, self.name) + b''.join(data(3, x) for x in self.lines)
        for i, body in self.metas.values():
            out += data(4, number(1, i) + data(2, body))
        for name, i in self.names.items():
            out += data(5, number(1, i) + data(2, number(1, i) + data(2, name)))
        return out + b''.join(data(6, s) for s in self.stats)


def space(*planes, errors=(), warnings=(), hosts=()):
    return b''.join(data(1, p.bytes()) for p in planes) + b''.join(
        data(f, t) for f, v in ((2, errors), (3, warnings), (4, hosts)) for t in v)


def write_small(path, events):
    """Writes a file with eight GPUs of twelve streams each, and the events divided equally among them. An event has 34
    bytes and 3 stats."""
    kernels = 400

    def add_line(p, n):
        metas = [p.meta('kernel_%d' % k) for k in range(kernels)]
        body = [(metas[i * 7 % kernels], 2000000 * i, 1000000 + i % 900000,
                 {'correlation_id': i + 1, 'group_id': i // 1000, 'tf_op': ('ref', 'model/layer_%d/dense:MatMul' % (i % 50))}) for i in range(n)]
        return p.line(0, '', body)

    write_planes(path, events // 96, [('/device:GPU:%d' % i, 'Stream #%d(Compute)', add_line) for i in range(8)])


def write_large(path, events):
    """Writes a file with eight GPUs of twelve streams each, and threads with the calls that launch their kernels.

    A kernel has 67 bytes and 8 stats, a call 21 bytes and 1 stat; the average is 45 bytes and 4.5 stats. For comparison, 60,000
    events in four files of TensorFlow and JAX: kernels have 37 to 83 bytes and 2.3 to 10 stats, TPU ops 37 to 43 bytes
    and 2.1 to 2.6 stats, events of threads 20 to 102 bytes and 0.7 to 5.3 stats. The average is 48 bytes and 2.5 stats,
    or 72 bytes with the metadata of the planes.
    """
    kernels = 400

    def add_kernels(p, n):
        metas = [p.meta('kernel_%d' % k) for k in range(kernels)]
        ops = [{'kernel_details': ('ref', 'regs:%d static_shared:0 dynamic_shared:0 grid:%d,1,1 block:128,1,1' % (32 + k % 7, k + 1)),
                'tf_op': ('ref', 'jit(train)/layer_%d/dot_general:' % k), 'name': ('ref', 'fusion.%d' % k),
                'hlo_op': ('ref', 'fusion.%d' % k), 'hlo_module': ('ref', 'jit_train'), 'program_id': 7} for k in range(kernels)]
        return p.line(0, '', [(metas[i % kernels], 2000000 * i, 1000000 + i % 900000,
                               dict({'correlation_id': i + 1, 'group_id': i // 1000}, **ops[i % kernels])) for i in range(n)])

    def add_calls(p, n):
        call = p.meta('cuLaunchKernel')
        return p.line(0, '', [(call, 2000000 * i, 700000 + i % 100000, {'correlation_id': i + 1}) for i in range(n)])

    planes = [('/device:GPU:%d' % i, 'Stream #%d(Compute)', add_kernels) for i in range(8)]
    write_planes(path, events // 192, planes + 8 * [('/host:CPU', 'thread %d', add_calls)])


def write_planes(path, n, planes):
    """Writes planes with twelve lines each. planes: [(name, names of lines, function that adds a line of n events to a
    plane)]."""
    made = {}
    with open(path, 'wb') as f:
        for i, (plane, line, add_line) in enumerate(planes):
            stats = {'device_type_string': 'Nvidia GPU'} if 'GPU' in plane else {}
            if add_line not in made:
                made[add_line] = add_line(Plane(plane, stats), n).lines[0].removeprefix(data(2, ''))
            p = add_line(Plane(plane, stats), 1000)  # the same ids as in the line of kernels
            p.lines = [number(1, 12 * i + k + 1) + data(2, line % k) + made[add_line] for k in range(12)]
            f.write(data(1, p.bytes()))
