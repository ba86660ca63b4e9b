# SPDX-License-Identifier: Apache-2.0
"""Builds models in memory, and their files as TensorFlow writes them. Standard library only."""
import struct


class Node:
    def __init__(self, name, op, inputs=(), shape=None, out=None, device='', micros=0, gpu=0, size=0,
                 flops=0, types=(), trace=None, runs=1):
        self.name, self.op, self.inputs = name, op, list(inputs)
        self.shape, self.out, self.device = shape, out if out is not None else shape, device
        self.micros, self.gpu, self.size, self.runs = micros, gpu, size, runs
        self.flops, self.types, self.trace = flops, list(types), trace


class Model:
    def __init__(self):
        self.nodes, self.by_name = [], {}

    def add(self, name, op, *args, **more):
        n = Node(name, op, *args, **more)
        assert name not in self.by_name, name
        self.nodes.append(n)
        self.by_name[name] = n
        return name


def spread(name, low, high):
    """Returns a number between low and high that depends on the name alone."""
    h = 2166136261
    for c in name.encode():
        h = (h ^ c) * 16777619 & 0xffffffff
    return low + h % (high - low + 1)


# ---- the wire format --------------------------------------------------------------------------
def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def num(field, n):
    return varint(field << 3) + varint(n)


def sub(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


# ---- GraphDef as text -------------------------------------------------------------------------
def dims_text(shape, indent):
    return ''.join('%sdim {\n%s  size: %d\n%s}\n' % (indent, indent, d, indent) for d in shape)


def graph_text(model):
    out = []
    for n in model.nodes:
        out.append('node {\n  name: "%s"\n  op: "%s"\n' % (n.name, n.op))
        out += ['  input: "%s"\n' % i for i in n.inputs]
        if n.device:
            out.append('  device: "%s"\n' % n.device)
        if n.shape is not None:
            out.append('  attr {\n    key: "shape"\n    value {\n      shape {\n%s      }\n    }\n  }\n'
                       % dims_text(n.shape, '        '))
        if n.out is not None:
            out.append('  attr {\n    key: "_output_shapes"\n    value {\n      list {\n        shape {\n'
                       '%s        }\n      }\n    }\n  }\n' % dims_text(n.out, '          '))
        out.append('}\n')
    return ''.join(out).encode()


# ---- times ------------------------------------------------------------------------------------
def schedule(model, begin, scale):
    """Returns {name: (start on the host, start on the stream)} of a step. Each device has a thread that runs its nodes, or
    launches their kernels, in order; kernels run one after the other. A node waits for its inputs: for their launches on the
    same device, else for their ends. scale: the microseconds of a node."""
    thread, stream, starts, done = {}, {}, {}, {}
    for n in model.nodes:
        if not n.device:
            continue
        at = thread.get(n.device, begin)
        for i in n.inputs:
            device, launched, end = done.get(i.lstrip('^').split(':')[0], ('', at, at))
            at = max(at, launched if device == n.device else end)
        launched = at + scale(n.name, n.micros) * bool(n.runs)
        kernel = max(launched + 3, stream.get(n.device, begin))
        end = kernel + scale(n.name, n.gpu) if n.gpu and n.runs else launched
        stream[n.device] = max(end + 1, stream.get(n.device, begin))
        thread[n.device] = launched + 2
        starts[n.name], done[n.name] = (at, kernel), (n.device, launched, end)
    return starts


# ---- RunMetadata ------------------------------------------------------------------------------
def record(n, name, start, micros):
    b = sub(1, name) + num(2, start) + num(3, 1) + num(4, 1 + micros) + num(5, 2 + micros)
    if n.size:
        tail = n.device.rsplit('/', 1)[-1].lower()
        b += sub(6, sub(1, 'GPU_0_bfc' if 'gpu' in tail else 'cpu') + num(2, n.size) + num(3, n.size)
                 + num(4, n.size))
        shape = b''.join(sub(2, num(1, d)) for d in n.out or ())
        b += sub(7, num(1, 0) + sub(3, num(1, 1) + sub(2, shape)
                                    + sub(4, num(1, n.size) + num(2, n.size) + sub(3, 'cpu'))))
    return sub(2, b)


def run_meta(model, begin=1488000000000000, scale=lambda name, v: v):
    devices, starts = {}, schedule(model, begin, scale)
    for n in model.nodes:
        if not n.device or not n.runs:
            continue
        at, kernel = starts[n.name]
        micros, gpu = scale(n.name, n.micros), scale(n.name, n.gpu)
        devices.setdefault(n.device, []).append(record(n, n.name, at, micros))
        if 'gpu' in n.device.lower():
            bare = Node(n.name, n.op, device=n.device)
            devices.setdefault(n.device + '/stream:all', []).append(
                record(bare, n.name + ':' + n.op, kernel, gpu))
    stats = b''.join(sub(1, sub(1, d) + b''.join(v)) for d, v in sorted(devices.items()))
    return sub(1, stats)


# ---- OpLogProto -------------------------------------------------------------------------------
class Strings:
    def __init__(self):
        self.ids = {}

    def of(self, s):
        return self.ids.setdefault(s, len(self.ids) + 1)

    def write(self, field):
        return b''.join(sub(field, num(1, i) + sub(2, s)) for s, i in self.ids.items())


def code_def(trace, strings):
    return b''.join(sub(1, num(6, strings.of(f)) + num(2, line) + num(7, strings.of(func))
                        + num(8, strings.of(src)) + num(5, start)) for f, line, func, start, src in trace)


def op_log(model):
    strings, out = Strings(), b''
    for n in model.nodes:
        if not (n.flops or n.types or n.trace):
            continue
        b = sub(1, n.name) + (num(2, n.flops) if n.flops else b'') + b''.join(sub(3, t) for t in n.types)
        if n.trace:
            b += sub(4, code_def(n.trace, strings))
        out += sub(1, b)
    return out + strings.write(2)


# ---- ProfileProto -----------------------------------------------------------------------------
def pair(a, b):
    return sub(1, num(1, a) + num(1, b))


def execs(n, begin, kernel, micros, gpu):
    b = num(1, 1) + num(2, begin) + num(3, kernel + gpu if gpu else begin + micros) + sub(6, n.device)
    b += sub(5, sub(1, n.device) + sub(2, pair(begin, micros)))
    if gpu:
        b += sub(4, sub(1, n.device + '/stream:all') + sub(2, pair(kernel, gpu)))
    if n.size:
        b += sub(7, num(1, begin) + num(6, n.size) + num(7, n.size) + num(8, n.size) + num(9, n.size))
    return b


def profile(model, steps=(0,), begin=1488000000000000, scale=lambda step, name, v: v):
    """scale: the microseconds of a node in a step."""
    strings, out = Strings(), b''
    ids = {n.name: i for i, n in enumerate(model.nodes)}
    starts = {s: schedule(model, begin + 1000000 * s, lambda name, v, s=s: scale(s, name, v)) for s in steps}
    for i, n in enumerate(model.nodes):
        device = n.device.lower()
        b = sub(1, n.name) + sub(9, n.op) + (num(13, i) if i else b'')
        for k, s in enumerate(n.inputs):
            name = s.lstrip('^').split(':')[0]
            b += sub(2, num(1, k) + num(2, ids[name])) + sub(14, num(1, ids[name]) + num(2, 0))
        b += b''.join(num(4, d) for d in n.shape or ())
        b += b''.join(sub(5, t) for t in sorted(set(n.types + [n.op] + ([device] if device else []))))
        if device:
            b += sub(6, device)
            b += b''.join(sub(12, num(1, s) + sub(2, execs(n, *starts[s][n.name], scale(s, n.name, n.micros), scale(s, n.name, n.gpu)))) for s in steps)
        b += num(8, n.flops) if n.flops else b''
        if n.trace:
            b += sub(10, code_def(n.trace, strings))
        if n.out:
            b += sub(15, num(1, 0) + sub(2, b''.join(num(1, d) for d in n.out)))
        out += sub(1, num(1, i) + sub(2, b))
    has = any(n.trace for n in model.nodes)
    return out + num(2, int(has)) + b''.join(num(3, s) for s in steps) + strings.write(4)


# ---- checkpoint, version 2 --------------------------------------------------------------------
TABLE = []
for i in range(256):
    c = i
    for _ in range(8):
        c = c >> 1 ^ (0x82f63b78 if c & 1 else 0)
    TABLE.append(c)


def crc32c(data, c=0):
    c ^= 0xffffffff
    for x in data:
        c = TABLE[(c ^ x) & 255] ^ c >> 8
    return c ^ 0xffffffff


def masked(c):
    return ((c >> 15 | c << 17) + 0xa282ead8) & 0xffffffff


def block(entries):
    """Returns one block of the table, without shared prefixes of keys."""
    out, restarts = b'', []
    for key, value in entries:
        restarts.append(len(out))
        out += varint(0) + varint(len(key)) + varint(len(value)) + key + value
    restarts = restarts or [0]
    return out + b''.join(struct.pack('<I', r) for r in restarts) + struct.pack('<I', len(restarts))


def table(entries):
    out = b''

    def put(data):
        nonlocal out
        handle = varint(len(out)) + varint(len(data))
        out += data + b'\0' + struct.pack('<I', masked(crc32c(b'\0', crc32c(data))))
        return handle

    index = [(entries[-1][0], put(block(entries)))]
    meta, index = put(block([])), put(block(index))
    return out + (meta + index).ljust(40, b'\0') + struct.pack('<Q', 0xdb4775248b80fb57)


def checkpoint(tensors):
    """Returns (index file, data file). tensors: name -> (shape, list of floats)."""
    data, entries = b'', [(b'', num(1, 1) + sub(3, num(1, 1)))]
    for name in sorted(tensors):
        shape, values = tensors[name]
        raw = struct.pack('<%df' % len(values), *values)
        dims = b''.join(sub(2, num(1, d)) for d in shape)
        entries.append((name.encode(), num(1, 1) + sub(2, dims) + (num(4, len(data)) if data else b'')
                        + num(5, len(raw)) + varint(6 << 3 | 5) + struct.pack('<I', masked(crc32c(raw)))))
        data += raw
    return table(entries), data
