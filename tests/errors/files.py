# SPDX-License-Identifier: Apache-2.0
"""Writes the damaged files that errors.list names: texts in t/, messages in w/, checkpoints in k/, spools in n/."""
import json
import os
import pickle
import shutil
import sqlite3
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'models'))
import make_checkpoint as make  # noqa: E402
from make_checkpoint import field  # noqa: E402
from wire import sub, varint  # noqa: E402

ATTR = 'node { name: "a" attr { key: "k" value { %s } } }\n'
TEXTS = {
    'ends': 'node { name: ', 'string': 'node { } node "a"', 'digit': 'node { name: 3 }', 'colon': 'node { name "a" }',
    'brace': 'node { } node 3', 'close': 'node { name: "a" ;', 'angle': 'node < name: "a" }', 'list': 'node [ { } ; ]',
    'scalars': 'node { input: [ "a" ; ] }', 'int': ATTR % 'i: x', 'range': ATTR % 'i: 99999999999999999999',
    'bool': ATTR % 'b: maybe', 'enum': ATTR % 'type: "x"', 'value': ATTR % 'type: DT_NONE', 'number': ATTR % 'f: x',
    'minus': ATTR % 'f: -x', 'decimal': ATTR % 'f: 0x10', 'utf8': 'node { name: "\\xff" }',
    'twice': 'node { name: "a" name: "b" }', 'beside': ATTR % 'i: 1 f: 2', 'any': 'node { } [a.b/C] { }',
    'field': 'node { } 3 { }', 'unknown': 'node { colour: 3 }', 'exponent': ATTR % 'f: 1e', 'hex': ATTR % 'i: 0x',
    'octal': ATTR % 'i: 09', 'space': ATTR % 'i: 1x', 'byte': 'node { name: \x01 }',
    'unicode': 'node { name: "\\u12" }', 'wide': 'node { name: "\\Uffffffff" }', 'hexchar': 'node { name: "\\xg" }',
    'escape': 'node { name: "\\q" }', 'quote': 'node { name: "a\n" }',
    'deep': 'node { attr { key: "k" value { ' + 'func { attr { key: "k" value { ' * 40 + '} } } ' * 40 + '} } }',
}


def device(data):
    return sub(1, sub(1, data))


RUNS = {
    'tag': b'\xff' * 6, 'inside': sub(1, b'\x80'), 'zero': b'\0\1', 'type': b'\x0e', 'end': sub(1, b'\x0c'),
    'length': b'\x0a\x81\x80\x80\x80\x80\x80\0', 'past': sub(1, b'\x0a\x7f'), 'ends': b'\x0a\x7f',
    'pass': sub(1, b'\x09\1'), 'group': sub(1, b'\x0b'), 'deep': sub(1, b'\x0b' * 200), 'closed': b'\x0b\x14',
    'record': device(sub(1, 'd') + sub(2, b'\x0a\x7f')), 'device': device(sub(1, b'\xff')),
    'four': sub(1, b'\x0d\1'), 'varint': b'\x58' + b'\xff' * 11,
}
LOGS = {'big': b'\x0a' + varint(3 << 30), 'cut': sub(1, b'\x0a\x7f'), 'utf8': sub(1, sub(1, b'\xff'))}

# An XSpace whose only plane is longer than the file, because bytes were replaced as in a text; two XSpaces without events.
XSPACE = sub(1, sub(2, b'/host:CPU') + sub(3, b'\x08\1' + sub(4, b'\x08\1\x10\0\x18\5')) + sub(4, b'\x08\1' + sub(2, b'\x08\1' + sub(2, b'op'))))
XSPACES = {'text.xplane.pb': b'\x0a\x7f\x12\x09/host:CPU\xef\xbf\xbd', 'a.xplane.pb': XSPACE,
           'b.xplane.pb': XSPACE, 'a.nsys-rep': b'QDSTRM',
           'bad.prof': sub(1, b'\x08\1\x10\2') + sub(2, b'\x08') + sub(6, b''),
           'k.pt.trace.json': b'{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1, "dur": 9}]}',
           'no_events.json': b'{"a": 1}', 'no_calls.json': b'{"schema": "1.1.1-chakra.0.0.4", "nodes": []}',
           'no_layers.json': b'{"Layers": [], "Bindings": []}', 'py-spy.json': b'{"$schema": "https://www.speedscope.app/file-format-schema.json"}',
           'cut.prof': sub(1, b'\x08\1\x10\2') + sub(2, b'\x0a\1\1\x12\1\1'), 'heap.prof': sub(1, b'\x08\1\x10\2') + sub(1, b'\x08\3\x10\4') + b''.join(sub(6, t) for t in (b'', b'objects', b'count', b'space', b'bytes')), 'calls.json': b'{"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 2, "rf_id": 5, "inputs"', 'layers.json': b'{"Layers": [{"LayerType": ', 'times.json': b'[{"timeMs": 1, "averageMs": 1}]'}


def put_databases(top):
    """Writes a database of another program, a truncated one, and one whose first page has no valid type."""
    path = os.path.join(top, 'w/other.sqlite')
    db = sqlite3.connect(path)
    db.execute('CREATE TABLE t (x)')
    db.commit()
    db.close()
    with open(path, 'rb') as f:
        whole = f.read()
    put(top, 'w/cut.sqlite', whole[:4000])
    put(top, 'w/broken.sqlite', whole[:100] + b'\xff' + whole[101:])


# Traces without events that tfprof shows.
TRACES = {'system.pftrace': sub(1, b'\x50\1' + sub(1, b'\x08\3')), 'overwritten.pftrace': sub(1, b'\x50\1\x68\2\x40\5' + sub(11, b'\x48\1\x50\1')),
          'rocprof.json': b'{"rocprofiler-sdk-tool": [{}]}'}

# Memory snapshots with one allocation: complete, truncated, with a byte that is not an opcode, with code; a dict without the
# required members.
ALLOCATION = {'action': 'alloc', 'addr': 4096, 'size': 512, 'stream': 0, 'time_us': 5, 'frames': []}
SNAPSHOT = {'segments': [], 'device_traces': [[ALLOCATION]]}
PICKLE = pickle.dumps(SNAPSHOT, protocol=4)


class Runs:
    def __reduce__(self):
        return print, ('x',)


TRACED = dict(ALLOCATION, frames=[{'filename': 'm.py', 'line': 1, 'name': 'f'}])
SNAPSHOTS = {'ok.pickle': PICKLE, 'traced.pickle': pickle.dumps(dict(SNAPSHOT, device_traces=[[TRACED]]), protocol=4), 'cut.pickle': PICKLE[:-20], 'bad.pickle': PICKLE[:-2] + b'\xff.',
             'code.pickle': pickle.dumps(dict(SNAPSHOT, external_annotations=[Runs()]), protocol=4),
             'other.pickle': pickle.dumps({'x': 'device_traces'}, protocol=4), 'cut_snapshot.json': json.dumps(SNAPSHOT).encode()[:-20],
             'other_timeline.json': b'[[1, 2], []]'}

DUMP = {'version': '2.10', 'pg_config': {'0': {'name': '0', 'desc': 'default_pg', 'ranks': '[0]'}}, 'pg_status': {}, 'entries': [
    {'process_group': ('0', 'default_pg'), 'collective_seq_id': 1, 'profiling_name': 'nccl:barrier', 'record_id': 0, 'state': 'started', 'retired': True}]}
DUMPS = {'dump_0': pickle.dumps(DUMP), 'empty_0': pickle.dumps(dict(DUMP, entries=[])), 'no_dump': pickle.dumps({'x': 'pg_config'}),
         'cut_dump.json': json.dumps(DUMP).encode()[:-20]}

# ---- tables ---------------------------------------------------------------------------------
def refooter(t, handles):
    return t[:-48] + handles.ljust(40, b'\0') + t[-8:]


def chain(blocks, index):
    """Returns a table of the given blocks; index: None, or the entries of its index."""
    out, entries = b'', []
    for key, b in blocks:
        entries.append((key, varint(len(out)) + varint(len(b) - 5)))
        out += b
    top, foot = make.block(index or entries, 1), b''
    for b in (make.block([]), top):
        foot += varint(len(out)) + varint(len(b))
        out += make.sealed(b)
    return out + foot.ljust(40, b'\0') + struct.pack('<Q', make.MAGIC)


def tables(header):
    good = make.table([(b'', header)])
    block = make.block([(b'', header)])
    flipped = bytes([good[0] ^ 1]) + good[1:]
    backwards = b''.join(varint(0) + varint(1) + varint(0) + k for k in (b'b', b'a'))
    backwards += struct.pack('<II', 0, 1)
    return {
        'short': b'short', 'magic': b'x' * 100, 'handle': refooter(good, b'\xff' * 40),
        'truncated': refooter(good, varint(0) + varint(9) + varint(1 << 30) + varint(9)),
        'sum': flipped, 'contents': chain([(b'', make.sealed(b'\xff' * 4))], None),
        'kind': chain([(b'', make.sealed(block, 7))], None),
        'snappy': chain([(b'', make.sealed(b'\xff' * 9, 1))], None),
        'entry': chain([(b'', make.sealed(b'\xff' * 8 + struct.pack('<II', 0, 1)))], None),
        'where': chain([(b'', make.sealed(block))], [(b'', b'\xff')]),
        'gap': chain_gap(make.sealed(block)), 'order': good[:-48] + b'more' + good[-48:],
        'backwards': chain([(b'b', make.sealed(backwards))], None),
        'nothing': make.table([(b'x', b'')]),
        'footer': good[:-10] + b'\1' + good[-9:],
    }


def chain_gap(block):
    """Four bytes lie before the first block."""
    out, foot = b'gap!' + block, b''
    for b in (make.block([]), make.block([(b'', varint(4) + varint(len(block) - 5))], 1)):
        foot += varint(len(out)) + varint(len(b))
        out += make.sealed(b)
    return out + foot.ljust(40, b'\0') + struct.pack('<Q', make.MAGIC)


# ---- bundles --------------------------------------------------------------------------------
HEADER = field(1, 1) + field(3, field(1, 1))


def entry(dims=(), kind=1, size=None, more=b'', data=None, crc=None):
    """Returns a table entry of a tensor, of one float by default."""
    b = field(1, kind) if kind else b''
    b += field(2, make.shape_proto(dims)) + more
    data = bytes(4) if data is None else data
    size = len(data) if size is None else size
    b += field(5, size) if size else b''
    return b + b'\x35' + struct.pack('<I', make.masked(make.crc32c(data)) if crc is None else crc)


def part(*extents):
    return field(7, extent_list(extents))


def extent_list(extents):
    return b''.join(field(1, field(1, s) + (b'' if n is None else field(2, n))) for s, n in extents)


def column(extents):
    return make.slice_key(b't', extents).decode('latin-1')


def bundles():
    """Returns {name: (header, {tensor: entry}, shard)}."""
    one, four = {'t': entry()}, bytes(4)
    whole = field(1, 1) + field(2, make.shape_proto([2]))
    cut = make.slice_key(b't', [(0, 1)]).decode('latin-1')
    left, right = ((0, 2), (0, 1)), ((0, 2), (1, 1))
    words = make.raw('string', [b'ab', b'c'])
    texts = field(1, 7) + field(2, make.shape_proto([2]))

    def strings(data, crc=0):
        return texts + field(5, len(data)) + b'\x35' + struct.pack('<I', make.masked(crc))

    def words_case(data, crc=0):
        return HEADER, {'t': strings(data, crc)}, data

    return {
        'header': (b'\x0a\x7f', one, four), 'version': (field(1, 1) + field(3, b'\x0a\x7f'), one, four),
        'reader': (field(1, 1) + field(3, field(2, 9)), one, four), 'shards': (b'', one, four),
        'endian': (HEADER + field(2, 5), one, four), 'message': (HEADER, {'t': b'\x0a\x7f'}, four),
        'start': (HEADER, {'t': whole + part((-1, 1))}, four),
        'nolength': (HEADER, {'t': whole + part((1, None))}, four),
        'neglength': (HEADER, {'t': whole + part((0, -2))}, four),
        'beyond': (HEADER, {'t': whole + part(((1 << 63) - 1, 9))}, four),
        'rank': (HEADER, {'t': entry(more=field(2, field(3, 1)))}, four),
        'dims': (HEADER, {'t': entry([1] * 300)}, four), 'negdim': (HEADER, {'t': entry([-5])}, four),
        'elements': (HEADER, {'t': entry([1 << 62, 8])}, four), 'nodtype': (HEADER, {'t': entry(kind=0)}, four),
        'dtype': (HEADER, {'t': entry(kind=77)}, four),
        'extents': (HEADER, {'t': whole + part((0, 1), (0, 1))}, four),
        'outside': (HEADER, {'t': whole + part((1, 5))}, four),
        'negshard': (HEADER, {'t': entry(more=field(3, -1))}, four),
        'negat': (HEADER, {'t': entry(more=field(4, -1))}, four), 'negsize': (HEADER, {'t': entry(size=-1)}, four),
        'bytes': (HEADER, {'t': entry([1 << 62])}, four), 'size': (HEADER, {'t': entry([2])}, four),
        'few': (HEADER, {'t': entry([2], kind=7)}, four), 'shard': (HEADER, {'t': entry(more=field(3, 3))}, four),
        'missing': (HEADER, {'t': whole + part((0, 1))}, four),
        'unfit': (HEADER, {'t': whole + part((0, 1)), cut: entry([3], data=bytes(12))}, bytes(12)),
        'emptysum': (HEADER, {'t': entry([0], size=0, data=b'', crc=7)}, four),
        'room': (HEADER, {'t': entry([9], data=bytes(36))}, four),
        'crc': (HEADER, {'t': entry(crc=7)}, four),
        'overlap': (HEADER, {'t': entry(), 'u': entry(more=field(4, 2))}, bytes(8)),
        'far': (HEADER, {'t': entry(more=field(4, 99))}, four),
        'nobody': (HEADER, one, four + b'junk'),
        'shared': (HEADER, {'t': field(1, 1) + field(2, make.shape_proto([2, 2])) + part(*left) + part(*right),
                            column(left): entry([2, 1], data=bytes(8)),
                            column(right): entry([2, 1], data=bytes(8))}, bytes(8)),
        'w_sum': words_case(words[0]), 'w_cut': words_case(b'\xff' * 9),
        'w_long': words_case(b'\x7f\x7f' + bytes(9)), 'w_add': words_case(b'\1\1' + bytes(9)),
        'w_lengths': words_case(b'\1\1' + bytes(4) + b'ab'),
    }


def put_bundles(top):
    for name, (header, tensors, data) in bundles().items():
        entries = sorted((k.encode('latin-1'), v) for k, v in tensors.items())
        put(top, 'k/%s.index' % name, make.table([(b'', header)] + entries))
        put(top, 'k/%s.data-00000-of-00001' % name, data)
    pair = make.Tensor('t', 'float32', [2], [1.0, 2.0])
    make.bundle(os.path.join(top, 'k/a'), [pair])
    for name, cuts in (('twice', [(0, 2), (1, 2)]), ('partial', [(0, 1)])):
        slices = [([c], [1.0] * c[1]) for c in cuts]
        make.bundle(os.path.join(top, 'k', name), [make.Tensor('t', 'float32', [4], None, slices)])
    make.bundle(os.path.join(top, 'k/b'), [make.Tensor('t', 'float32', [2], [1.0, 3.0])])
    make.bundle(os.path.join(top, 'k/c'), [make.Tensor('u', 'float32', [2], [1.0, 3.0])])
    put(top, 'k/graph', b'node { name: "t" op: "VariableV2" }\n')
    put(top, 'k/noshard.index', make.table([(b'', HEADER), (b't', entry())]))


# ---- version 1 ------------------------------------------------------------------------------
def old(metas, values=(), extra=b''):
    """values: (key, name, extents, TensorProto)."""
    entries = [(make.slice_key(b't', k), field(2, field(1, n) + field(2, extent_list(x)) + field(3, v)))
               for k, n, x, v in values]
    listed = b''.join(field(1, m) for m in metas) + field(2, field(1, 1)) + extra
    return make.table([(b'', field(1, listed))] + sorted(entries))


def columns(data):
    """Returns a tensor of two columns, each with that data."""
    cuts = [[(0, 2), (i, 1)] for i in (0, 1)]
    meta = field(1, b't') + field(2, make.shape_proto([2, 2])) + field(3, 1)
    return old([meta + b''.join(field(4, extent_list(x)) for x in cuts)], [(x, b't', x, data) for x in cuts])


def put_old(top):
    meta = field(1, b't') + field(2, make.shape_proto([2])) + field(3, 1)
    cut = meta + field(4, extent_list([(0, 2)]))
    key, ext, data = [(0, 2)], [(0, 2)], field(5, bytes(8))
    good = (key, b't', ext, data)
    files = {
        'o_list': make.table([(b'', field(1, b'\x0a\x7f'))]), 'o_none': make.table([(b'', b'')]),
        'o_saved': make.table([(b'', b'\x0a\x7f')]), 'o_missing': old([cut]),
        'o_values': make.table([(b'', field(1, field(1, cut))),
                                (make.slice_key(b't', key), field(2, field(1, b't') + b'\x12\x7f'))]),
        'o_name': old([cut], [(key, b'u', ext, data)]), 'o_slice': old([cut], [(key, b't', [(0, 1)], data)]),
        'o_few': old([cut], [(key, b't', ext, field(5, bytes(4)))]),
        'o_empty': columns(b''), 'o_cuts': columns(field(5, bytes(8))),
        'o_many': old([cut], [(key, b't', ext, field(5, bytes(80)))]),
        'o_cut': old([cut], [(key, b't', ext, field(5, bytes(9)))]),
        'o_told': old([cut], [good, ([(0, 1)], b't', [(0, 1)], data)]),
        'o_other': old([cut, cut.replace(field(3, 1), field(3, 2))], [good]),
        'o_type': old([field(1, b't') + field(2, make.shape_proto([])) + field(3, 30) + field(4, b'')],
                      [([], b't', [], b'')]),
        'o_list0': old([]), 'o_notype': old([field(1, b't')]),
    }
    for name, data in files.items():
        put(top, 'k/' + name, data)


def put_tables(top):
    for name, data in tables(HEADER).items():
        put(top, 'k/%s.index' % name, data)
        put(top, 'k/%s.data-00000-of-00001' % name, b'')
    put(top, 'k/brief', b'short')


def put(top, name, data):
    with open(os.path.join(top, name), 'wb') as f:
        f.write(data)


def put_folders(top):
    """Writes jobs of two workers, a job of another model, and an empty one."""
    for folder in ('empty', 'jobs/a', 'jobs/b', 'other'):
        os.makedirs(os.path.join(top, folder))
    for folder, name in (('jobs/a', b'n'), ('jobs/b', b'n'), ('other', b'z')):
        put(top, folder + '/graph.pbtxt', b'node { name: "%s" op: "NoOp" }\n' % name)


def block(version, records, sequence=0):
    """Returns a block of a recording; without payload it has no record."""
    head = b'TFPSPL\r\n' + struct.pack('<IIIIQI', version, 0, sequence, records, 0, 1)
    head += struct.pack('<I', make.crc32c(b''))
    return head + struct.pack('<I', make.crc32c(head))


def put_spools(top):
    os.mkdir(os.path.join(top, 'n', 'empty'))
    put(top, 'n/empty/options', b'')
    put(top, 'n/a.tfspool', block(1, 0))
    put(top, 'n/later.tfspool', block(9, 0))
    put(top, 'n/text.tfspool', b'no spool')
    os.mkdir(os.path.join(top, 'n', 'f'))
    put(top, 'n/f/damaged.tfspool', block(1, 0) + block(1, 0, 5))


def write(top):
    for folder in 'twkn':
        os.mkdir(os.path.join(top, folder))
    put_folders(top)
    for name, text in TEXTS.items():
        put(top, 't/' + name, text.encode('latin-1'))
    for name, data in RUNS.items():
        put(top, 'w/' + name, data)
    for name, data in LOGS.items():
        put(top, 'w/log_' + name, data)
    for name, data in dict(XSPACES, **TRACES, **SNAPSHOTS, **DUMPS).items():
        put(top, 'w/' + name, data)
    os.mkdir(os.path.join(top, 'w', 'no_captures'))
    shutil.copy(os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), 'testdata', 'graphs', 'replay.pt.trace.json'), os.path.join(top, 'w', 'replay.json'))
    put_databases(top)
    put_bundles(top)
    put_old(top)
    put_tables(top)
    put_spools(top)
