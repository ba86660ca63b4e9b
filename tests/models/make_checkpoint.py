#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes checkpoints of both versions with Python alone: tables, bundles, slices, every type, both
byte orders, and damaged ones. Hostile SavedTensorSlices in text form go through protoc.

    make_checkpoint.py FOLDER [HOSTILE.textproto ...]
"""
import os
import struct
import subprocess
import sys

from wire import crc32c, masked, varint

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAGIC = 0xdb4775248b80fb57
NUMBERS = {'float32': 1, 'float64': 2, 'int32': 3, 'uint8': 4, 'int16': 5, 'int8': 6, 'string': 7,
           'complex64': 8, 'int64': 9, 'bool': 10, 'qint8': 11, 'quint8': 12, 'qint32': 13,
           'bfloat16': 14, 'qint16': 15, 'quint16': 16, 'uint16': 17, 'complex128': 18, 'float16': 19,
           'uint32': 22, 'uint64': 23, 'float8_e5m2': 24, 'float8_e4m3fn': 25, 'float8_e4m3fnuz': 26,
           'float8_e4m3b11fnuz': 27, 'float8_e5m2fnuz': 28, 'int4': 29, 'uint4': 30, 'int2': 31,
           'uint2': 32, 'float4_e2m1fn': 33}
LETTERS = {'float32': 'f', 'float64': 'd', 'int32': 'i', 'uint8': 'B', 'int16': 'h', 'int8': 'b',
           'int64': 'q', 'bool': 'B', 'qint8': 'b', 'quint8': 'B', 'qint32': 'i', 'bfloat16': 'H',
           'qint16': 'h', 'quint16': 'H', 'uint16': 'H', 'float16': 'e', 'uint32': 'I', 'uint64': 'Q',
           'complex64': 'ff', 'complex128': 'dd', 'float8_e5m2': 'B', 'float8_e4m3fn': 'B',
           'float8_e4m3fnuz': 'B', 'float8_e4m3b11fnuz': 'B', 'float8_e5m2fnuz': 'B', 'int4': 'b',
           'uint4': 'B', 'int2': 'b', 'uint2': 'B', 'float4_e2m1fn': 'B'}


def field(number, value):
    """Encodes a varint, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


# ---- tables -------------------------------------------------------------------------------------
def literal_snappy(data):
    """Encodes Snappy data with literals only."""
    out = varint(len(data))
    for i in range(0, len(data), 60):
        piece = data[i:i + 60]
        out += bytes([(len(piece) - 1) << 2]) + piece
    return out


def block(entries, interval=16):
    out, restarts, last = bytearray(), [], b''
    for i, (key, value) in enumerate(entries):
        shared = 0
        if i % interval == 0:
            restarts.append(len(out))
        else:
            while shared < min(len(key), len(last)) and key[shared] == last[shared]:
                shared += 1
        out += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        last = key
    for r in restarts or [0]:
        out += struct.pack('<I', r)
    return bytes(out + struct.pack('<I', max(1, len(restarts))))


def sealed(contents, kind=0):
    return contents + bytes([kind]) + struct.pack('<I', masked(crc32c(contents + bytes([kind]))))


def table(entries, size=4096, snappy=False):
    """Returns the bytes of a table of sorted (key, value)."""
    out, index, now = bytearray(), [], []

    def flush():
        contents = block(now)
        if snappy:
            contents = literal_snappy(contents)
        index.append((now[-1][0], varint(len(out)) + varint(len(contents))))
        out.extend(sealed(contents, 1 if snappy else 0))
        del now[:]

    for entry in entries:
        now.append(entry)
        if sum(len(k) + len(v) for k, v in now) >= size:
            flush()
    if now:
        flush()
    footer = b''
    for contents in (block([]), block(index, 1)):
        footer += varint(len(out)) + varint(len(contents))
        out += sealed(contents)
    return bytes(out) + footer.ljust(40, b'\0') + struct.pack('<Q', MAGIC)


# ---- tensors ------------------------------------------------------------------------------------
def ordered(n):
    """Encodes a signed number as ordered code."""
    size = 1
    while size < 10 and (~n if n < 0 else n) >> (7 * size - 1):
        size += 1
    code = bytearray((n & (1 << 8 * size) - 1).to_bytes(size, 'big'))
    for i in range(size):
        code[i // 8] ^= 0x80 >> i % 8
    return bytes(code)


def slice_key(name, extents):
    name = name.replace(b'\0', b'\0\xff').replace(b'\xff', b'\xff\0') if b'\0' not in name else name
    n = len(extents)
    return (b'\0' + name + b'\0\1' + (bytes([1, n]) if n else b'\0') +
            b''.join(ordered(s) + ordered(c) for s, c in extents))


def slice_proto(extents):
    return b''.join(field(1, (field(1, s) if s else b'') + (field(2, c) if c >= 0 else b''))
                    for s, c in extents)


def shape_proto(shape):
    return b''.join(field(2, field(1, d) if d else b'') for d in shape)


def raw(dtype, values, order='<'):
    """Returns (bytes in a shard, checksum)."""
    if dtype != 'string':
        letters = LETTERS[dtype]
        data = b''.join(struct.pack(order + letters, *(v if len(letters) > 1 else (v,)))
                        for v in values)
        return data, crc32c(data)
    lengths = b''.join(varint(len(v)) for v in values)
    crc = crc32c(b''.join(struct.pack(order + 'I', len(v)) for v in values))
    check = struct.pack(order + 'I', masked(crc))
    text = b''.join(values)
    return lengths + check + text, crc32c(check + text, crc)


def carried(dtype, values):
    """Returns a TensorProto."""
    def packed(number, data):
        return field(number, data) if data else b''
    if dtype == 'string':
        return b''.join(field(8, v) for v in values)
    if dtype in ('float32', 'float64'):
        return packed(5 if dtype == 'float32' else 6, raw(dtype, values)[0])
    if dtype.startswith('complex'):
        return packed(9 if dtype == 'complex64' else 12, raw(dtype, values)[0])
    if dtype in ('float16', 'bfloat16'):
        bits = struct.unpack('<%dH' % len(values), raw(dtype, values)[0])
        return packed(13, b''.join(varint(v) for v in bits))
    number = {'int64': 10, 'bool': 11, 'uint32': 16, 'uint64': 17}.get(dtype, 7)
    return packed(number, b''.join(varint(v) for v in values))


class Tensor:
    """slices: [(extents, values)]; extents [(start, length)], length -1 for all."""

    def __init__(self, name, dtype, shape, values, slices=None):
        self.name, self.dtype, self.shape = name.encode(), dtype, shape
        self.values, self.slices = values, slices


def bundle(path, tensors, shards=1, big=False, snappy=False, gap=0):
    """Writes path.index and its shards; the tensors go to the shards in turn."""
    order, data, entries = '>' if big else '<', [bytearray() for _ in range(shards)], []

    def entry(tensor, shape, values, n):
        text, crc = raw(tensor.dtype, values, order)
        at = data[n % shards]
        at.extend(bytes(gap))
        e = field(1, NUMBERS[tensor.dtype]) + field(2, shape_proto(shape))
        e += (field(3, n % shards) if n % shards else b'') + (field(4, len(at)) if at else b'')
        e += (field(5, len(text)) if text else b'') + b'\x35' + struct.pack('<I', masked(crc))
        at.extend(text)
        return e

    n = 0
    for t in tensors:
        if t.slices is None:
            entries.append((t.name, entry(t, t.shape, t.values, n)))
            n += 1
            continue
        whole = field(1, NUMBERS[t.dtype]) + field(2, shape_proto(t.shape))
        for extents, values in t.slices:
            whole += field(7, slice_proto(extents))
            shape = [t.shape[d] if c < 0 else c for d, (_, c) in enumerate(extents)]
            entries.append((slice_key(t.name, extents), entry(t, shape, values, n)))
            n += 1
        entries.append((t.name, whole))
    header = field(1, shards) + (field(2, 1) if big else b'') + field(3, field(1, 1))
    with open(path + '.index', 'wb') as f:
        f.write(table([(b'', header)] + sorted(entries), snappy=snappy))
    for i, text in enumerate(data):
        with open('%s.data-%05d-of-%05d' % (path, i, shards), 'wb') as f:
            f.write(text)


def version1(path, tensors, snappy=False):
    metas, entries = b'', []
    for t in tensors:
        meta = field(1, t.name) + field(2, shape_proto(t.shape)) + field(3, NUMBERS[t.dtype])
        for extents, values in t.slices or [([(0, -1)] * len(t.shape), t.values)]:
            meta += field(4, slice_proto(extents))
            saved = field(1, t.name) + field(2, slice_proto(extents))
            entries.append((slice_key(t.name, extents),
                            field(2, saved + field(3, carried(t.dtype, values)))))
        metas += field(1, meta)
    with open(path, 'wb') as f:
        f.write(table([(b'', field(1, metas + field(2, field(1, 1))))] + sorted(entries),
                      snappy=snappy))


def hostile(path, text):
    """Wraps a SavedTensorSlices in text form in a table; data is stored under its key."""
    def encode(part):
        return subprocess.run(['protoc', '-I' + os.path.join(ROOT, 'proto'),
                               '--encode=tensorflow.SavedTensorSlices',
                               os.path.join(ROOT, 'proto', 'tf_checkpoint.proto')],
                              input=part.encode(), stdout=subprocess.PIPE, check=True).stdout
    at = text.find('\ndata {')
    entries = [(b'', encode(text if at < 0 else text[:at]))]
    if at >= 0:
        part = text[at:]
        name = part.split('name: "')[1].split('"')[0].encode()
        rank = part.split('slice {')[1].split('data {')[0].count('extent')
        entries.append((slice_key(name, [(0, -1)] * rank), encode(part)))
    with open(path, 'wb') as f:
        f.write(table(entries))


# ---- tensors for the tests -------------------------------------------------------------------------
def every_type(version):
    """Returns one tensor of each type that the version can hold."""
    out = []
    for name, number in NUMBERS.items():
        if version == 1 and number > 23:
            continue
        if name == 'string':
            values = [b'one', b'', b'x' * 300, 'é'.encode()]
        elif name.startswith('complex'):
            values = [(0.5, -1.5), (2, 3), (0, 0), (1e6, -1e-6)]
        elif name.startswith('float') and LETTERS[name] in 'fde':
            values = [0.0, 1.5, -2.25, float('inf')]
        else:
            values = [0, 1, 1, 0]
        out.append(Tensor('all/' + name, name, [2, 2], values))
    return out


def usual():
    numbers = [i * 0.25 - 3 for i in range(42)]
    rows = [numbers[i:i + 3] for i in range(0, 42, 3)]
    tall = [([(i, 2), (0, -1)], sum(rows[i:i + 2], [])) for i in range(0, 14, 2)]
    wide = [([(0, -1), (c, 1)], [r[c] for r in rows]) for c in range(3)]
    return [Tensor('a/scalar', 'int64', [], [-5]), Tensor('a/empty', 'float32', [2, 0, 3], []),
            Tensor('a/none', 'float32', [0], []), Tensor('é/unicode', 'int32', [3], [1, -2, 3]),
            Tensor('deep', 'int16', [1] * 7 + [2], [7, -8]),
            Tensor('rows', 'float32', [14, 3], numbers, tall),
            Tensor('columns', 'float32', [14, 3], numbers, wide),
            Tensor('words', 'string', [4], [b'a', b'b\0c', b'', b'dd'],
                   [([(0, 1)], [b'a']), ([(1, 3)], [b'b\0c', b'', b'dd'])])]


def main(folder, texts):
    os.makedirs(folder, exist_ok=True)
    at = os.path.join(folder, '')
    for name, more in (('v2', {}), ('v2_seven', {'shards': 7}), ('v2_big', {'big': True}),
                       ('v2_snappy', {'snappy': True}), ('v2_gap', {'gap': 8})):
        bundle(at + name, every_type(2) + usual(), **more)
    version1(at + 'v1', every_type(1) + usual())
    version1(at + 'v1_snappy', every_type(1) + usual(), snappy=True)
    tensors = usual()
    version1(at + 'v1_part-0', tensors[:4] + [Tensor('rows', 'float32', [14, 3], None,
                                                     tensors[5].slices[:3])])
    version1(at + 'v1_part-1', tensors[6:] + [Tensor('rows', 'float32', [14, 3], None,
                                                     tensors[5].slices[3:])])
    for text in texts:
        with open(text, encoding='utf-8') as f:
            hostile(at + os.path.basename(text).replace('.textproto', '.hostile'), f.read())


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2:])
