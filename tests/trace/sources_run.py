#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads generated profiles of other programs, with the passes and with the program.

    tests/trace/sources_run.py --bin build/check [NAME...]
    tests/trace/sources_run.py --write FOLDER      makes testdata/traces again
"""
import gzip
import json
import os
import random
import shutil
import sqlite3
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(TESTS), 'check'), TESTS]
import cases  # noqa: E402
import chakra  # noqa: E402
import nsys  # noqa: E402
import onnx  # noqa: E402
import pprof  # noqa: E402
import trace_case  # noqa: E402
from trace_case import dump, equal, judge, program, rows, write  # noqa: E402
from xspace import data as sub, number  # noqa: E402


def ops(d):
    """Returns {name: (type, runs, total, self)} of threads and devices, in microseconds."""
    return {o['name']: (o['type'], o['runs'], (o['host_total'] + o['device_total']) // 1000,
                        (o['host_self'] + o['device_self']) // 1000) for o in d['ops']}


# ---- ONNX Runtime ----

def onnx_new():
    """Nodes nest by time, loops contain their bodies, runs are steps; all time of a run is accounted for."""
    d = dump(write(onnx.text(onnx.load() + onnx.run(1000) + onnx.run(2000)), 'ort.json'))
    execute = 'SequentialExecutor::Execute'
    equal(ops(d), {'model_run': ('step', 2, 140, 10), execute: (execute, 2, 130, 34), 'net/conv': ('Conv', 2, 40, 40),
                   'net/loop': ('Loop', 2, 50, 26), 'net/loop/' + execute: (execute, 4, 24, 8),
                   'net/loop/body/Mul': ('Mul', 4, 16, 16), 'Softmax_8': ('Softmax', 2, 6, 6)})
    equal((d['steps_by'], [(s['id'], s['end'] - s['start']) for s in d['steps']]), ('mark', [(0, 70000), (1, 70000)]))
    conv = [s for s in dump('ort.json', '--slices') if s['name'] == 'net/conv'][0]['args']
    equal([conv[k] for k in ('shapes', 'dtypes', 'output_bytes', 'parameter_bytes', 'bytes_accessed')],
          ['[[1,3,8,8],[2]]', '["float","int64"]', 4096, 64, 5120])
    found = rows('ort.json', 'scope', '-select', 'micros,occurrence', '-step', '1')
    equal(found['net/loop']['total_micros'], 25)


def onnx_old():
    """A provider is a device; its time is subtracted from the thread's; fences are separate."""
    d = dump(write(onnx.text(onnx.load() + onnx.old(1000)), 'ort.json'))
    equal(ops(d), {'model_run': ('step', 1, 90, 10), 'SequentialExecutor::Execute': ('SequentialExecutor::Execute', 1, 80, 41),
                   '(fences)': ('fence', 6, 9, 9), 'blk/n0': ('Gemm', 1, 10, 10), 'blk/n1': ('Gemm', 1, 10, 10),
                   'blk/n2': ('Gemm', 1, 10, 10)})
    equal([(x['device'], x['busy']) for x in d['devices']], [('FastExecutionProvider', 20000)])
    found = rows('ort.json', 'scope', '-select', 'accelerator_micros,cpu_micros')
    equal([found['blk']['total_' + k] for k in ('accelerator_micros', 'cpu_micros')], [20, 10])


def onnx_providers():
    """-by provider groups ops by the provider that ran them, on threads and on devices, and loses no time."""
    path = write(onnx.text(onnx.load() + onnx.old(1000)), 'ort.json')
    d = dump(path, '--by=provider')
    equal({k: v[3] for k, v in ops(d).items() if '/blk/' in k},
          {'CPUExecutionProvider/blk/n0': 10, 'FastExecutionProvider/blk/n1': 10, 'FastExecutionProvider/blk/n2': 10})
    equal(sum(v[3] for v in ops(d).values()), sum(v[3] for v in ops(dump(path)).values()))
    found = rows(path, 'op', '-by', 'provider', '-select', 'accelerator_micros,cpu_micros')
    equal({k: (v['own_accelerator_micros'], v['own_cpu_micros']) for k, v in found.items() if k.endswith('Provider')},
          {'CPUExecutionProvider': (0, 10), 'FastExecutionProvider': (20, 0)})


def onnx_texts():
    """Consecutive arrays are consecutive sessions; a truncated file gives its complete events."""
    one = onnx.text(onnx.load() + onnx.run(1000))
    d = dump(write(one + one, 'ort.json'))
    equal([(s['id'], s['end'] - s['start']) for s in d['steps']], [(0, 70000), (1, 70000)])
    equal(ops(d)['net/conv'], ('Conv', 2, 40, 40))
    _, err = program(write(one[:-40], 'ort.json'), 'op')
    assert 'truncated' in err, err


def onnx_threads():
    """Two simultaneous runs on two threads are two steps, and each node belongs to its own run."""
    both = onnx.run(1000) + [dict(e, tid=8) for e in onnx.run(1010)]
    write(onnx.text(both), 'ort.json')
    found = [rows('ort.json', 'scope', '-select', 'occurrence', '-step', str(s))['net/conv']['total_occurrence'] for s in range(2)]
    equal(found, [1, 1])
    equal(len(dump('ort.json')['steps']), 2)


def onnx_deep():
    """Ten thousand nested nodes neither exhaust memory nor make paths too long."""
    deep = [onnx.node('n', 'If', i, 20000 - 2 * i) for i in range(10000)]
    d = dump(write(onnx.text(onnx.load() + deep), 'ort.json'))
    equal(sum(o['host_runs'] for o in d['ops']), 10000)
    assert max(len(o['name']) for o in d['ops']) < 300


def counted(*words):
    """Returns the answer of flops: ({op: (float operations, calls)}, {op: reason}, document)."""
    d = json.loads(program('flops', *words, '-output', 'json')[0])
    return {r['op']: (r['flops'], r['calls']) for r in d['ops']}, {r['op']: r['reason'] for r in d['uncounted']}, d


def onnx_profile_flops():
    """Operators of a profile count by their shapes; packed weights are not among the inputs, and settings are not in the file."""
    def shaped(name, op, t, inputs, output):
        return onnx.node(name, op, t, 2, input_type_shape=[{'float': s} for s in inputs], output_type_shape=[{'float': output}])
    nodes = [shaped('c', 'Conv', 1010, [[1, 4, 8, 8], [6, 2, 3, 3]], [1, 6, 6, 6]), shaped('m', 'MatMul', 1014, [[5, 7], [7, 3]], [5, 3]),
             shaped('p', 'MatMul', 1018, [[5, 7]], [5, 3]), shaped('g', 'Gemm', 1022, [[7, 5], [3, 7], [3]], [5, 3]),
             shaped('r', 'Relu', 1026, [[5, 3]], [5, 3]), shaped('w', 'MaxPool', 1030, [[1, 1, 4, 4]], [1, 1, 2, 2]),
             shaped('x', 'Mystery', 1034, [[5, 3]], [5, 3]), shaped('t', 'Transpose', 1038, [[5, 3]], [3, 5])]
    write(onnx.text(onnx.load() + nodes + [onnx.execute(1003, 65), onnx.event('Session', 'model_run', 1000, 70)]), 'ort.json')
    found, rest, d = counted('ort.json')
    equal(found, {'Conv': (2 * 6 * 36 * 2 * 9, 1), 'MatMul': (2 * 2 * 5 * 7 * 3, 2), 'Gemm': (2 * 5 * 7 * 3, 1), 'Relu': (15, 1)})
    equal(rest, {'Mystery': 'no formula', 'MaxPool': 'no settings in the file'})
    equal(d['flops'], sum(n for n, _ in found.values()))
    equal(sum(r['own_float_ops'] or 0 for r in rows('ort.json', 'scope', '-select', 'float_ops').values()), d['flops'])


def onnx_model_flops():
    """Operators of a model count by the shapes in it; --assume_batch stands for a first dimension without a size."""
    def model(batch):
        pool = onnx.node_proto('pool', 'MaxPool', ['c'], ['p'], more=sub(5, sub(1, b'kernel_shape') + number(8, 2) + number(8, 3)))
        graph = onnx.node_proto('conv', 'Conv', ['x', 'W'], ['c']) + pool + onnx.node_proto('s', 'Split', ['p'], ['a', 'b'])
        graph += onnx.node_proto('add', 'Add', ['a', 'b'], ['y']) + onnx.node_proto('new', 'Mystery', ['y'], ['z'])
        graph += sub(5, number(1, 8) + number(1, 3) + number(1, 3) + number(1, 3) + number(2, 1) + sub(8, b'W'))
        for field, name, dims in ((11, 'x', (3, 8, 8)), (13, 'c', (8, 6, 6)), (13, 'p', (8, 3, 2)), (13, 'a', (1, 3, 2)), (13, 'b', (7, 3, 2))):
            graph += onnx.value_info(field, name, batch, *dims)
        return write(number(1, 8) + sub(2, b'tests') + sub(7, graph), 'm.onnx')
    conv, pool, add = 2 * 8 * 36 * 27, 8 * 6 * 6, 7 * 6
    found, rest, d = counted(model(1))
    equal((found, rest), ({'Conv': (conv, 1), 'MaxPool': (pool, 1), 'Add': (add, 1)}, {'Mystery': 'no formula'}))
    of = {k: r['own_float_ops'] for k, r in rows('m.onnx', 'scope', '-select', 'float_ops').items() if r['own_float_ops']}
    equal(of, {'conv': conv, 'pool': pool, 'add': add})
    out, _ = program('flops', 'm.onnx', '--explain', 'Conv')
    equal(out.split('\n')[1], '  1 of %d = 2 * 1 * 8 * 6 * 6 * 3 * 3 * 3' % conv)
    heading = [line.split() for line in program('flops', 'm.onnx')[0].splitlines() if line.startswith('float ops')]
    equal(heading, [['float', 'ops', 'share', 'calls', 'op']])
    found, rest, _ = counted(model(0))
    equal((found, len(rest)), ({}, 4))
    assert program('flops', 'm.onnx')[0].startswith('Float operations: ?\n')
    equal(counted('--assume_batch=4', 'm.onnx')[0], {'Conv': (4 * conv, 1), 'MaxPool': (4 * pool, 1), 'Add': (4 * add, 1)})


def onnx_model():
    """A model has nodes, parameters and edges; beside a profile it adds them to the executed nodes."""
    write(onnx.model(), 'a.onnx')
    found = rows('a.onnx', 'scope', '-select', 'params,op_types')
    equal([found[k]['total_params'] for k in ('W', '_TFProfRoot')], [216, 216])
    equal(sorted(k for k in found if '/' in k), ['net/conv', 'net/loop', 'net/loop/body', 'net/loop/body/Mul'])
    graph = rows('a.onnx', 'graph', '-select', 'params')
    equal([graph[k]['parent'] for k in ('net/loop', 'net/conv')], ['Softmax_2', 'net/loop'])
    write(onnx.text(onnx.load() + onnx.run(1000)), 'ort.json')
    both = rows('--graph_path=a.onnx', 'ort.json', 'graph', '-select', 'micros')
    equal([(both[k]['parent'], both[k]['own_micros']) for k in ('net/loop', 'net/conv')], [('Softmax_2', 13), ('net/loop', 20)])
    plain = rows('ort.json', 'scope', '-select', 'micros')
    equal(both['_TFProfRoot']['total_micros'], plain['_TFProfRoot']['total_micros'])
    big = onnx.model(64 << 20)
    write(big, 'big.onnx')
    program('--max-memory=40M', 'big.onnx', 'scope')
    _, err = program(write(big[:1 << 20], 'cut.onnx'), 'scope', status=3)
    assert 'cut.onnx: byte ' in err, err
    _, err = program('--recover', write(b'\x08\x08:\x02\n\x19\n\x01x', 'bad.onnx'), 'scope', status=3)  # the first node
    assert 'length 25 goes past the end' in err, err
    program('--graph_path=a.onnx', '--run_meta_path=x', '--profile_path=ort.json', 'op', status=2)


# ---- Nsight Systems ----

def work(d):
    """Returns {name: (kernels, time)} of device work."""
    return {o['name']: (o['kernels'], o['device_total']) for o in d['ops'] if o['kernels']}


EXPECTED_WORK = {'aten::linear/aten::addmm/gemm': (1, 500), 'aten::linear/aten::addmm/other': (1, 500), 'lonely': (1, 50),
                 '(unattributed)/unknown': (1, 30), 'Memcpy HtoD': (1, 100)}


def nsys_join():
    """Work belongs to the ranges around the launch of its own process; calls and processes keep their names."""
    x = nsys.steps()
    x.table('PROCESSES', 'globalPid pid name')
    x.row('PROCESSES', globalPid=nsys.pid(70), pid=70, name='trainer')
    x.table('ThreadNames', 'nameId priority globalTid')
    x.row('ThreadNames', nameId=x.string('main'), globalTid=nsys.pid(70) | 1)
    x.table('TARGET_INFO_GPU', 'id name totalMemory memoryBandwidth uuid')
    x.row('TARGET_INFO_GPU', id=0, name='GPU of tests', totalMemory=1 << 30, memoryBandwidth=10 ** 12)
    path = x.save('a.sqlite')
    d = dump(path)
    equal(work(d), EXPECTED_WORK)
    host = {o['name']: (o['host_runs'], o['host_self']) for o in d['ops'] if o['host_runs']}
    equal(host, {'aten::linear': (2, 400), 'aten::linear/aten::addmm': (2, 1400)})
    slices = dump(path, '--slices')
    kernel = [s for s in slices if s['args'].get('short_name') == 'gemm'][0]
    equal([kernel['name'], kernel['args']['grid'], kernel['args']['registers'], kernel['correlation']],
          ['void ns::gemm<int>(float*)', '2,1,1', 32, 5])
    equal(sorted({s['name'] for s in slices if s['category'] == 'call'}), ['cudaLaunchKernel', 'cudaMemcpyAsync', 'cudaMemsetAsync'])
    equal([s['args'].get('sequence') for s in slices if s['name'] == 'aten::addmm'], [8, 8])
    equal([t['name'] for t in d['tracks'] if t['name']], ['main'])
    found = rows(path, 'scope', '-select', 'accelerator_micros,occurrence')
    assert 'aten::linear/aten::addmm/gemm' in found, sorted(found)
    assert 'gpu:1' in program(path, 'devices')[0]
    out, err = program(path, 'kernels')
    assert 'lonely<int>' in out and '1 slice of device work, 30ns in all, has no op' in err, out + err


def nsys_missing():
    """Tables and columns that an old export lacks may be missing; all others are read."""
    x = nsys.steps()
    for table in list(x.tables):
        d = dump(x.save('no-%s.sqlite' % table, drop=[table]))
        if table not in ('CUPTI_ACTIVITY_KIND_KERNEL', 'CUPTI_ACTIVITY_KIND_MEMCPY'):
            equal(sum(t for _, t in work(d).values()), 1180, table)
    for table, (columns, _) in x.tables.items():
        for column in columns:
            if column in ('start', 'end', 'value', 'name'):
                continue
            path = x.save('%s.%s.sqlite' % (table, column),
                          more=['ALTER TABLE %s RENAME COLUMN "%s" TO other' % (table, column)])
            total = sum(t for _, t in work(dump(path)).values())
            equal(total, 1180, '%s.%s' % (table, column))
            os.unlink(path)


def nsys_ranges():
    """Overlapping ranges are separate; marks, domains, payloads and ranges without an end are kept."""
    x = nsys.Export()
    x.range(7, 'math', 0, None, nsys.DOMAIN, domain=3)
    x.range(7, 'push', 100, 200, by_id=True, domain=3, json='{"a": 1}')
    x.range(7, 'free', 120, 900, nsys.START_END)
    x.range(7, 'open', 150, None, thread=2)
    x.range(7, 'here', 160, None, nsys.MARK)
    path = x.save('a.sqlite')
    found = {s['name']: (s['category'], s['start'], s['length'], s['form']) for s in dump(path, '--slices')}
    equal(found, {'push': ('op', 100, 100, 0), 'free': ('annotation', 120, 780, 0), 'open': ('op', 150, 750, 0),
                  'here': ('other', 160, 0, 1)})
    args = [s['args'] for s in dump(path, '--slices') if s['name'] == 'push'][0]
    equal([args['domain'], args['payload']], ['math', '{"a": 1}'])
    equal(sorted(ops(dump(path))), ['open', 'push'])
    _, err = program(path, 'op')
    assert 'note: 1 NVTX range has no end' in err, err


def nsys_ranks(names=('step 3', 'step 4')):
    """Two processes whose steps overlap in time; a kernel in each, launched in an op, and one launched by the step alone."""
    x = nsys.Export()
    for rank in range(2):
        for i, name in enumerate(names):
            at = 10000 * i + 4000 * rank
            x.range(70 + rank, name, at, at + 9900, thread=1 + rank)
            x.range(70 + rank, 'aten::mm', at + 100, at + 9500, thread=1 + rank)
            x.range(70 + rank, 'iteration 77', at + 200, at + 300, thread=1 + rank)
            x.launch(70 + rank, 2 * i + 1, at + 9000, at + 9600, at + 10600 + i, device=rank, thread=1 + rank)
            x.launch(70 + rank, 2 * i + 2, at + 9700, at + 10700, at + 10800, 'free', device=rank, thread=1 + rank)
    return x


def nsys_steps():
    """Ranges named like steps are the steps, each process by its own; a pattern names others; inner ones are ranges."""
    path = nsys_ranks().save('a.sqlite')
    d = dump(path)
    equal((d['steps_by'], [s['id'] for s in d['steps']]), ('mark', [3, 4]))
    equal({o['name'] for o in d['ops']}, {'aten::mm', 'aten::mm/iteration 77', 'aten::mm/gemm', 'free'})
    for step, ns in ((3, 2000), (4, 2002)):
        found = rows(path, 'scope', '-step', str(step), '-select', 'accelerator_micros,occurrence')
        equal([found[k]['own_occurrence'] for k in ('aten::mm', 'aten::mm/gemm', 'free')], [2, 2, 2], step)
        equal(found['aten::mm/gemm']['own_accelerator_micros'], ns / 1000)
    path = nsys_ranks(('train', 'train')).save('b.sqlite')
    equal([(s['id'], s['end'] - s['start']) for s in dump(path)['steps']], [(0, 100), (1, 100)])
    out, _ = program('--step-nvtx=tr.*', path, 'steps', '-output', 'json')
    equal([(r['step'], r['duration_ns']) for r in json.loads(out)['steps']], [(0, 9900), (1, 9900)])
    _, err = program('--step-nvtx=(', path, 'op', status=3)
    assert '(' in err, err


def nsys_leaves_no_trace():
    """The reader never writes files; changes in a -wal file are reported, not read."""
    x = nsys.steps()
    os.mkdir('d')
    path = x.save('d/odd ?name%23.sqlite', more=['CREATE INDEX i ON CUPTI_ACTIVITY_KIND_KERNEL (start)'])
    with open(path, 'rb') as f:
        before = f.read()
    equal(work(dump(path)), EXPECTED_WORK)
    db = sqlite3.connect(path)
    db.execute('PRAGMA journal_mode=WAL')
    db.execute('DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL')
    db.commit()
    for name in os.listdir('d'):
        if not name.endswith('-shm'):
            shutil.copy(os.path.join('d', name), 'copy' + name[name.index('.sqlite'):])
    db.close()
    names = sorted(n for n in os.listdir('.') if n.startswith('copy'))
    equal(names, ['copy.sqlite', 'copy.sqlite-wal'])
    was = [open(n, 'rb').read() for n in names]
    equal(work(dump('copy.sqlite')), EXPECTED_WORK)
    _, err = program('copy.sqlite', 'op')
    assert "'copy.sqlite-wal' has " in err and 'not read' in err, err
    equal([open(n, 'rb').read() for n in names], was)
    equal(sorted(n for n in os.listdir('.') if n.startswith('copy')), names)
    assert len(before) > 4096


def nsys_anywhere():
    """gzip, a pipe and standard input give the same answer as the file."""
    path = nsys.steps().save('a.sqlite')
    plain = dump(path)
    with open(path, 'rb') as f:
        content = f.read()
    equal(dump(write(gzip.compress(content), 'b.sqlite.gz')), plain)
    expected, _ = program(path, 'op', '-select', 'micros,occurrence')
    equal(program('op', '--profile_path=-', '-select', 'micros,occurrence', given=content)[0], expected)


def nsys_long_names():
    """Names are complete, whatever their length, even if many rows have long names."""
    x = nsys.Export()
    names = [chr(97 + i % 26) * n for i, n in enumerate([1, 4095, 4096, 4097, 100000, 0] * 3 + [700] * 40)]
    for i, name in enumerate(names):
        x.range(70, name, 1000 * i, 1000 * i + 900, json=name)
    found = sorted((s['start'], s['name'], s['args'].get('payload', '')) for s in dump(x.save('a.sqlite'), '--slices'))
    equal(found, [(1000 * i, name, name) for i, name in enumerate(names)])


def nsys_hostile():
    """Views, triggers and generated columns of a database never run; damage gives an error message."""
    endless = 'WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r'
    x = nsys.steps()
    path = x.save('view.sqlite', drop=['CUPTI_ACTIVITY_KIND_KERNEL'], more=[
        'CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS SELECT (%s) AS start' % endless,
        'CREATE TRIGGER t AFTER INSERT ON StringIds BEGIN DELETE FROM StringIds; END'])
    _, err = program(path, 'op')
    assert 'note: 2 views, triggers and virtual tables are not read' in err, err
    path = x.save('generated.sqlite', drop=['CUPTI_ACTIVITY_KIND_KERNEL'], more=[
        'CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (x, start AS (x + 1), "end" AS (x + 5))',
        'INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1)'])
    _, err = program(path, 'op')
    assert 'note: 1 row has no start' in err, err
    path = 'named.sqlite'
    db = sqlite3.connect(x.save(path))
    db.create_function('tfprof_take', -1, lambda *_: 1, deterministic=True)
    expected, _ = program(path, 'op')
    db.execute('CREATE INDEX i ON CUPTI_ACTIVITY_KIND_KERNEL (start, "end") WHERE tfprof_take(start, "end")')
    db.close()
    equal(program(path, 'op')[0], expected)
    path = x.save('types.sqlite', more=["UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = 'abc', \"end\" = x'ff', streamId = 1e300",
                                        'UPDATE NVTX_EVENTS SET textId = -5, text = NULL'])
    program(path, 'op')
    _, err = program(write(b'SQLite format 3\0' + bytes(4080), 'empty.sqlite'), 'op', status=3)
    db = sqlite3.connect('other.sqlite')
    db.execute('CREATE TABLE t (x)')
    db.commit()
    db.close()
    _, err = program('other.sqlite', 'op', status=3)
    assert 'without Nsight Systems events' in err, err
    _, err = program(write(b'QDSTRM', 'a.nsys-rep'), 'op', status=3)
    assert 'nsys export --type=sqlite' in err, err
    with open(x.save('a.sqlite'), 'rb') as f:
        good = f.read()
    chance = random.Random(7)
    for i in range(60):
        bad = bytearray(good)
        for _ in range(1 + i % 8):
            bad[chance.randrange(100 if i % 3 == 0 else len(bad))] = chance.randrange(256)
        name = write(bytes(bad[:chance.randrange(4096, len(bad))] if i % 4 == 0 else bad), 'bad.sqlite')
        judge('tfprof', name, 'op')


def nsys_damaged():
    """A database that is truncated by any number of bytes, or refused by quick_check, is refused; --recover reads it."""
    with open(nsys.steps().save('good.sqlite'), 'rb') as f:
        good = f.read()
    expected, _ = program('good.sqlite', 'op')
    for n in (1, 5, 9, 512, 4096, 9000):
        _, err = program(write(good[:-n], 'cut.sqlite'), 'op', status=3)
        equal(err.splitlines()[0], 'tfprof: cut.sqlite: truncated at byte %d: %d more bytes expected' % (len(good) - n, n))
        assert '--recover reads' in err, err
    _, err = program(write(good[:-9], 'cut.sqlite'), '--recover', 'op')
    assert 'warning: cut.sqlite: truncated at byte %d' % (len(good) - 9) in err, err
    equal(program(write(good + b'more', 'longer.sqlite'), 'op')[0], expected)
    db = sqlite3.connect('good.sqlite')
    page, = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'NVTX_EVENTS'").fetchone()
    db.close()
    bad = bytearray(good)
    bad[(page - 1) * 4096 + 8] ^= 8  # the place of a row in its page
    _, err = program(write(bytes(bad), 'bad.sqlite'), 'op', status=3)
    assert 'bad.sqlite: damaged SQLite database (NVTX_EVENTS): ' in err, err
    _, err = program(write(gzip.compress(bytes(bad)), 'bad.sqlite.gz'), 'op', status=3)
    assert 'damaged SQLite database (NVTX_EVENTS): ' in err, err
    at = good.index(b'correlationId')
    _, err = program(write(good[:at] + b'\xe3' + good[at + 1:], 'bad.sqlite'), 'op', status=3)
    assert 'bad.sqlite: damaged SQLite database (schema): a name is not UTF-8' in err, err
    os.truncate('good.sqlite', (1 << 30) + 1)
    out, err = program('good.sqlite', 'op')
    assert 'note: good.sqlite: not checked for damage' in err and out == expected, (out, err)
    path = nsys.steps().save('computed.sqlite', more=[  # a check that computed the column would fail
        'CREATE TABLE t (x)', 'INSERT INTO t VALUES (-9223372036854775808)', 'PRAGMA writable_schema = ON',
        "UPDATE sqlite_master SET sql = 'CREATE TABLE t (x, y AS (abs(x)) NOT NULL)' WHERE name = 't'"])
    equal(program(path, 'op')[0], expected)


def nsys_secrets():
    """Answers do not contain the environment of the recorded program."""
    x = nsys.steps()
    x.table('TARGET_INFO_SYSTEM_ENV', 'globalVid devStateName name nameEnum value')
    x.row('TARGET_INFO_SYSTEM_ENV', name='TOKEN', value='hunter2')
    x.string('PASSWORD=hunter2')
    x.table('META_DATA_CAPTURE', 'name value')
    x.row('META_DATA_CAPTURE', name='ENV', value='hunter2')
    path = x.save('a.sqlite')
    program(path, 'scope', '-output', 'timeline:outfile=t.json')
    program(path, 'convert', '-output', 'profile:outfile=p.pb')
    out, err = program(path, 'scope', '-max_depth', '20', '-output', 'json')
    made = [n for n in os.listdir('.') if n != 'a.sqlite']
    assert len(made) > 1, made
    for text in [out, err] + [str(open(n, 'rb').read()) for n in made]:
        assert 'hunter2' not in text


def replay_overlaps_streams():
    """If a replay lets work of different streams overlap and the file has no waits between streams, the answer is a rough estimate."""
    path = os.path.join(cases.TESTDATA, 'traces', 'rocprof_results.json')
    for change, overlap in (('cause:launch_bound', True), ('kernel:gemm*0.5', False), ('host*1', False)):
        equal(json.loads(program('what-if', path, change, '-output', 'json')[0])['more_overlap'], overlap)
        equal(program('what-if', path, change)[0].startswith('Rough estimate: '), overlap)


# ---- pprof ----

def pprof_cpu():
    """Every sample is in the code view; recursion, inlining, lines and labels are separate; sums equal those of the file."""
    for name, content in (('a.pb', pprof.cpu().bytes()), ('a.pb.gz', gzip.compress(pprof.cpu().bytes()))):
        write(content, name)
        code = {k: (r['own_micros'], r['total_micros']) for k, r in rows(name, 'code', '-select', 'micros').items()}
        equal(sorted(v for k, v in code.items() if k != '_TFProfRoot'),
              sorted([(0, 110000), (10000, 10000), (50000, 90000), (0, 40000), (40000, 40000), (10000, 10000)]))
        scope = rows(name, 'scope', '-select', 'micros,occurrence')
        equal([scope['main/pkg.work.Run/outer/inner/thread=io'][k] for k in ('own_micros', 'own_occurrence')], [40000, 4])
        equal(scope['main/pkg.work.Run#2']['own_micros'], 10000)
        op = rows(name, 'op', '-select', 'micros,occurrence')
        equal([op['pkg/work.Run'][k] for k in ('own_micros', 'own_occurrence')], [60000, 6])
        page = json.loads(program('summary', name, '-output', 'json')[0])
        equal((page['devices'], 'slowest_ns' in page['steps']), ([], False))  # samples have no order in time
        assert 'samples' in program('summary', name)[0] and 'mean' not in program('summary', name)[0]
        assert 'samples of pprof have no times' in program('steps', name, status=1)[1]


def untimed(path, ns, device):
    """Asserts that in a profile without timestamps, the step time and the device time equal the sum of the times."""
    out, _ = program('summary', path, '-output', 'json')
    page = json.loads(out)
    equal(page['steps']['slowest_ns'], ns)
    equal([(d['name'].rsplit(':', 2)[-2:], d['busy_ns'], d['idle_ns']) for d in page['devices']], [(device.split(':'), ns, 0)])
    assert 'utilization' not in program('advise', path)[0]


def pprof_heap():
    """Sample types become metrics; the default type comes first; types without a metric are named."""
    write(pprof.heap().bytes(), 'heap.pb')
    found = rows('heap.pb', 'op', '-select', 'bytes,residual_bytes,occurrence')['make']
    equal([found['own_' + k] for k in ('bytes', 'residual_bytes', 'occurrence')], [4160, 576, 12])
    _, err = program('heap.pb', 'op')
    assert 'are not used: inuse_objects/count' in err, err
    found = rows('--sample=inuse_objects', 'heap.pb', 'op', '-select', 'bytes,residual_bytes,occurrence')['make']
    equal([found['own_' + k] for k in ('bytes', 'residual_bytes', 'occurrence')], [4160, 576, 3])
    _, err = program('--sample=inuse', 'heap.pb', 'op', status=3)
    assert "no sample type 'inuse': expected one of alloc_objects/count, alloc_space/bytes" in err, err


def pprof_bytes():
    """The default metric of profiles with bytes and no times is the bytes, in views, top, diff and summary."""
    for name, grown in (('before.prof', 30000), ('after.prof', 60000)):
        p = pprof.Profile(('allocations', 'count'), ('space', 'bytes'))
        make, big = p.place(('make', 'make.py', 3)), p.place(('big', 'make.py', 9))
        p.sample([make], 2, 4096)
        p.sample([big, make], 1, grown)
        write(p.bytes(), name)
    for view in ('scope', 'code', 'op'):
        equal(max(row['own_bytes'] or 0 for row in rows('before.prof', view).values()), 30000)
    out = program('top', 'before.prof')[0]
    assert '30.0KB  87.99%' in out, out
    out = program('diff', 'before.prof', 'after.prof')[0]
    assert '(A:34.1KB B:64.1KB) +30KB x1.9' in out, out
    out = program('summary', 'before.prof')[0]
    assert 'own bytes' in out and 'tfprof memory before.prof' in out and 'float operations' not in out, out
    assert '576B' in program('top', write(pprof.heap().bytes(), 'heap.pb'))[0]
    assert 'own_bytes' not in next(iter(rows(write(pprof.cpu().bytes(), 'cpu.pb'), 'op').values()))


def pprof_memory():
    """JAX's profile of memory: objects and bytes, by kind and device."""
    p = pprof.Profile(('allocations', 'count'), ('space', 'bytes'))
    make = p.place(('make', 'make.py', 3))
    p.sample([make], 2, 4096, kind='buffer', device='TFRT_CPU_0')
    p.sample([make], 1, 64, kind='executable')
    found = rows(write(gzip.compress(p.bytes()), 'memory.prof'), 'op', '-select', 'bytes,occurrence')['make']
    equal([found['own_' + k] for k in ('bytes', 'occurrence')], [4160, 3])


def pprof_orders():
    """The fields of a profile may come in any order: Go begins with the type of the period or with the time."""
    fields = list(pprof.fields(pprof.cpu().bytes())) + [(11, number(1, 3) + number(2, 4)), (9, 1700000000), (12, 10000000)]
    want = rows(write(pprof.cpu().bytes(), 'want.pb'), 'op', '-select', 'micros')
    chance = random.Random(5)
    orders = [sorted(fields, key=lambda f, first=first: (f[0] != first, f[0])) for first in (2, 4, 5, 6, 9, 11, 12)]
    for order in orders + [sorted(fields, key=lambda _: chance.random()) for _ in range(10)]:
        # Texts, sample types, and locations keep their order among themselves.
        kept = {k: iter([v for f, v in fields if f == k]) for k, _ in fields}
        content = b''.join((sub if isinstance(v, bytes) else number)(k, v) for k, v in ((k, next(kept[k])) for k, _ in order))
        equal(rows(write(content, 'a.pb'), 'op', '-select', 'micros'), want)
        equal(rows('--profile_path=a.pb', 'op', '-select', 'micros'), want)


def pprof_own():
    """pprof output of the program can be read again: its samples contain all of the time."""
    write(pprof.cpu().bytes(), 'a.pb')
    program('a.pb', 'code', '-select', 'micros', '-max_depth', '100', '-output', 'pprof:outfile=b.pb.gz')
    with gzip.open('b.pb.gz') as f:
        samples = [x for field, x in pprof.fields(f.read()) if field == 2]
    values = [list(pprof.numbers(v))[-1] for x in samples for field, v in pprof.fields(x) if field == 2 and isinstance(v, bytes)]
    assert len(values) > 2
    for path in 'a.pb', 'b.pb.gz':
        equal(rows(path, 'scope', '-select', 'micros')['_TFProfRoot']['total_micros'], sum(values) / 1000, path)  # values are nanoseconds


def pprof_damaged():
    """Truncated and mutated files give an error message or an answer; dangling references are unknown."""
    good = pprof.cpu().bytes()
    _, err = program(write(good[:-3], 'a.pb'), 'code', status=3)
    assert 'a.pb: byte ' in err, err
    p = pprof.Profile(('samples', 'count'))
    p.sample([77, 78], 5)
    found = rows(write(p.bytes(), 'a.pb'), 'scope', '-select', 'occurrence')
    equal(found['(unknown)/(unknown)']['own_occurrence'], 5)
    _, err = program('a.pb', 'scope')
    assert "'a.pb' is incomplete: 2 references to a location or function that the file does not have" in err, err
    p = pprof.Profile(('samples', 'count'), ('cpu', 'nanoseconds'))
    p.sample([p.place(('f', 'f.c', 1))], 5)
    _, err = program(write(p.bytes(), 'a.pb'), 'scope')
    assert "'a.pb' is damaged: 1 sample does not have one value for each of the 2 sample types" in err, err
    p.samples = [p.samples[0] + sub(3, b'\x12')]
    _, err = program(write(p.bytes(), 'a.pb'), 'scope', status=3)
    assert 'bad sample' in err, err
    # Cut between two records: in the string table, before it, before the first sample.
    ends, fields = [0], list(pprof.fields(good))
    for field, v in fields:
        ends.append(ends[-1] + len((sub if isinstance(v, bytes) else number)(field, v)))
    equal(ends[-1], len(good))
    kinds = [f for f, _ in fields]
    _, err = program(write(good[:ends[kinds.index(6) + 3]], 'a.pb'), 'code')
    assert "'a.pb' is incomplete: 13 references to a text beyond its string table of 3 texts" in err, err
    _, err = program(write(good[:ends[kinds.index(6)]], 'a.pb'), 'code', status=3)
    assert 'a.pb: no string table' in err, err
    _, err = program(write(b''.join(sub(f, v) for f, v in fields if f not in (2, 14)), 'a.pb'), 'code', status=3)
    assert 'a.pb: no samples' in err, err
    chance = random.Random(3)
    for _ in range(40):
        bad = bytearray(good)
        for _ in range(3):
            bad[chance.randrange(8, len(bad))] = chance.randrange(256)
        judge('tfprof', write(bytes(bad), 'a.pb'), 'code', allowed=(0, 2, 3))


# ---- TensorRT ----

def tensorrt_files():
    """Writes layers and times as trtexec writes them."""
    x = {'Name': 'x', 'Dimensions': [1, 3, 8, 8], 'Format/Datatype': 'Row major linear FP32'}
    c = {'Name': 'c', 'Dimensions': [1, 8, 8, 8], 'Format/Datatype': 'Channel major FP16 format where channel % 4 == 0'}
    layers = {'Bindings': ['x', 'y'], 'Layers': [
        {'Name': 'conv1 + relu1', 'LayerType': 'CaskConvolution', 'Inputs': [x], 'Outputs': [c], 'TacticName': 't{[,'},
        {'Name': 'head/fc', 'LayerType': 'MatrixMultiply', 'Inputs': [c],
         'Outputs': [{'Name': 'y', 'Dimensions': [1, 10], 'Format/Datatype': 'FP32'}]}, 'plain name']}
    times = [{'count': 100}, {'name': 'conv1 + relu1', 'timeMs': 12.5, 'averageMs': 0.125, 'medianMs': 0.12, 'percentage': 80.0},
             {'name': 'head/fc', 'timeMs': 3.0, 'percentage': 20.0}]
    return {'tensorrt_layers.json': json.dumps(layers).encode() + b'\n',
            'tensorrt_times.json': json.dumps(times, indent=1).encode() + b'\n'}


def tensorrt():
    """Layers are nodes with edges, types and precision; times are accelerator times of the mean run."""
    for name, content in tensorrt_files().items():
        write(content, name.partition('_')[2])
    found = rows('layers.json', 'times.json', 'scope', '-select', 'accelerator_micros,cpu_micros,occurrence,op_types')
    equal([found['conv1 + relu1'][k] for k in ('own_accelerator_micros', 'own_cpu_micros', 'own_occurrence')], [125, 0, 1])
    equal(found['head/fc']['own_accelerator_micros'], 30)
    assert {'CaskConvolution', 'FP16'} <= set(found['conv1 + relu1']['types']), found
    assert 'plain name' in found
    untimed('times.json', 155000, 'gpu:0')
    graph = rows('layers.json', 'graph', '-select', 'params')
    equal([r['parent'] for r in graph.values() if r['path'] == 'conv1 + relu1'], ['head/fc'])
    equal(rows('times.json', 'op', '-select', 'micros')['head/fc']['own_micros'], 30)
    with open('layers.json') as f:
        cut = f.read()[:-40]
    _, err = program(write(cut.encode(), 'cut.json'), 'scope', status=3)
    assert 'bad JSON (line 1)' in err, err


def tensorrt_flops():
    """Float operations of layers: of convolutions by their weights, of products by the shapes of the left factor and the result."""
    def layer(name, kind, inputs, output, **more):
        return dict({'Name': name, 'LayerType': kind, 'Inputs': [{'Name': name + 'i', 'Dimensions': d} for d in inputs],
                     'Outputs': [{'Name': name + 'o', 'Dimensions': output}]}, **more)
    layers = [layer('conv', 'CaskGemmConvolution', [[1, 8, 9, 9]], [1, 16, 7, 7], OutMaps=16, Weights={'Type': 'Half', 'Count': 16 * 4 * 9}, Groups=2),
              layer('bare', 'CaskConvolution', [[1, 3, 8, 8]], [1, 8, 8, 8]), layer('up', 'CaskDeconvolutionV2', [[1, 8, 4, 4]], [1, 4, 8, 8]),
              layer('fc', 'FullyConnected', [[2, 3, 4, 4]], [2, 10]), layer('mm', 'MatrixMultiply', [[2, 4, 5], [2, 5, 6]], [2, 4, 6]),
              layer('turned', 'MatrixMultiply', [[2, 5, 4], [2, 5, 6]], [2, 4, 6]), layer('wide', 'MatrixMultiply', [[4, 5], [2, 5, 6]], [2, 4, 6]),
              layer('pool', 'CaskPooling', [[1, 8, 8, 8]], [1, 8, 4, 4], WindowSize=[3, 2]), layer('copy', 'Reformat', [[8]], [8])]
    write(json.dumps({'Layers': layers, 'Bindings': []}).encode(), 'layers.json')
    d = json.loads(program('layers.json', 'flops', '--top=0', '-output', 'json')[0])
    equal({r['op']: r['flops'] for r in d['ops']}, {'CaskGemmConvolution': 2 * 16 * 49 * 36, 'FullyConnected': 2 * 2 * 10 * 48, 'MatrixMultiply': 2 * (2 * 2 * 4 * 6 * 5),
                                                    'CaskPooling': 8 * 16 * 6})
    equal(sorted((r['op'], r['reason'], r['calls']) for r in d['uncounted']),
          [('CaskConvolution', 'no settings in the file', 1), ('CaskDeconvolutionV2', 'no formula', 1), ('MatrixMultiply', 'no settings in the file', 1)])
    found = rows('layers.json', 'scope', '-select', 'float_ops')
    equal([found[n]['own_float_ops'] for n in ('conv', 'mm', 'bare')], [2 * 16 * 49 * 36, 480, None])
    write(json.dumps([{'count': 10}] + [{'name': n, 'timeMs': 10 * ms, 'averageMs': ms} for n, ms in (('conv', 0.3), ('bare', 0.1))]).encode(), 'times.json')
    d = json.loads(program('layers.json', 'times.json', 'flops', '-output', 'json')[0])
    equal((d['device_ns'], d['coverage'], [(r['op'], r['device_ns'], r['reason']) for r in d['uncounted']]),
          (400000, 0.75, [('CaskConvolution', 100000, 'no settings in the file')]))
    equal([r['flops_per_second'] for r in d['ops'] if r['op'] == 'CaskGemmConvolution'], [round(2 * 16 * 49 * 36 / 300e-6)])


def cut_after_list():
    """A file that ends after its layers or calls, but before its end, has a note; a complete one has none."""
    layers = tensorrt_files()['tensorrt_layers.json'].strip()
    more = layers[:-1] + b', "Bindings2": ["a", {"b": [1]}], "n": 5}'
    calls = chakra.two_layers().bytes().strip()
    calls = calls[:-1] + b', "trace_id": 7, "finish_ts": 100}'
    for content, ends, words in ((layers, [len(layers) - 1], ('scope',)), (more, [len(more) - n for n in (1, 5, 15, 26)], ('scope',)),
                                 (calls, [len(calls) - n for n in (1, 5, 18, 25)], ('op', '-select', 'occurrence'))):
        want, err = program(write(content, 'whole.json'), *words, '-output', 'csv')
        assert 'truncated' not in err, err
        for end in ends:
            found, err = program(write(content[:end], 'cut.json'), *words, '-output', 'csv')
            equal(found, want)
            assert "'cut.json' is truncated or malformed after the list" in err, (end, err)


# ---- files of testdata/traces ----

def examples():
    """Returns the files by name."""
    calls = chakra.two_layers()
    return dict(tensorrt_files(), **{'calls.json': calls.bytes(), 'calls.pt.trace.json': chakra.of_kineto(calls),
                                     'onnxruntime.json': onnx.text(onnx.load() + onnx.run(1000) + onnx.run(2000))})


def write_examples(folder):
    for name, content in examples().items():
        write(content, os.path.join(folder, name))
    with open(os.path.join(folder, 'cpu.pb.gz'), 'wb') as f:
        f.write(gzip.compress(pprof.cpu().bytes(), mtime=0))
    path = os.path.join(folder, 'nsys.sqlite')
    if os.path.exists(path):
        os.unlink(path)
    nsys.steps().save(path)


def examples_are_made():
    """The files in testdata/traces equal the output of this script."""
    folder = os.path.join(cases.TESTDATA, 'traces')
    for name, content in examples().items():
        with open(os.path.join(folder, name), 'rb') as f:
            equal(f.read(), content, name)
    with gzip.open(os.path.join(folder, 'cpu.pb.gz')) as f:
        equal(f.read(), pprof.cpu().bytes(), 'cpu.pb.gz')
    made = [sqlite3.connect(p).iterdump() for p in (os.path.join(folder, 'nsys.sqlite'), nsys.steps().save('nsys.sqlite'))]
    equal(list(made[0]), list(made[1]), 'nsys.sqlite')


CASES = [replay_overlaps_streams, onnx_new, onnx_old, onnx_providers, onnx_texts, onnx_threads, onnx_deep, onnx_model, onnx_profile_flops, onnx_model_flops,
         nsys_join, nsys_missing, nsys_ranges, nsys_steps, nsys_leaves_no_trace, nsys_anywhere, nsys_hostile, nsys_damaged, nsys_secrets, nsys_long_names,
         pprof_cpu, pprof_heap, pprof_bytes, pprof_memory, pprof_orders, pprof_own, pprof_damaged, tensorrt, tensorrt_flops, cut_after_list,
         examples_are_made]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES, write=write_examples, sqlite=[c for c in CASES if c.__name__.startswith('nsys')]))
