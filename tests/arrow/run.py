#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of Arrow streams: a consumer in C compares every cell with -output csv, releases in odd orders, reads under
memory limits and on another thread. --consumers: third-party Arrow libraries read the same streams.

    tests/arrow/run.py --bin build/check [NAME...]
"""
import argparse
import csv
import io
import json
import os
import pickle
import random
import re
import subprocess
import sys
import tempfile

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(TESTS, 'check'), os.path.join(TESTS, 'trace'), os.path.join(TESTS, 'snapshot')]
import built  # noqa: E402
import cases  # noqa: E402
import layout  # noqa: E402
import nsys  # noqa: E402
from cases import equal  # noqa: E402

ROOT, DATA = cases.ROOT, cases.TESTDATA
PROFILE, SPOOL = '8', '32'  # kinds of inputs
MLP = os.path.join(DATA, 'recorded', 'mlp_0', 'profile.pb')
GPU = os.path.join(DATA, 'recorded', 'mlp_gpu_old_names', 'profile.pb.gz')
XSPACE = os.path.join(DATA, 'traces', 'trace.xplane.pb')
TRAINING = os.path.join(DATA, 'traces', 'training.pt.trace.json.gz')
RECORDING = os.path.join(DATA, 'small', 'train.tfspool')
INPUTS = [(PROFILE, MLP), (PROFILE, GPU), (PROFILE, XSPACE), (SPOOL, RECORDING)]
REAL = re.compile(r'-?[0-9.]+(e[-+]?[0-9]+)?|')
VERSION = re.search(r'TABLES_VERSION "(.*)"', open(os.path.join(ROOT, 'src', 'export', 'arrow', 'arrow.h')).read()).group(1).encode()
TABLES = ['runs', 'steps', 'nodes', 'slices', 'kernels', 'devices', 'memory']


def stream(*words):
    p = subprocess.run([CONSUMER, *words], capture_output=True, text=True, cwd=ROOT,
                       env=dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(CONSUMER)))
    assert p.returncode == 0, '%s: status %d: %s%s' % (words, p.returncode, p.stdout[-500:], p.stderr[-2000:])
    return p.stdout, p.stderr


def rows(kind, path, what, name, batch=0):
    """Returns ([header], [rows]) and the number of batches."""
    out, err = stream('print', kind, path, what, name, str(batch))
    lines = [line.split('\t') for line in out.rstrip('\n').split('\n')]
    return lines[0], lines[1:], int(err.split()[0])


def table(path, name, kind=PROFILE):
    """Returns a table as dictionaries with numbers as int."""
    head, lines, _ = rows(kind, path, 'table', name)
    return [{k: None if v == '\\N' else int(v) if v.lstrip('-').isdigit() else v for k, v in zip(head, line)}
            for line in lines]


def program(*words):
    p = subprocess.run([os.path.join(BIN, 'tfprof'), *words], capture_output=True, text=True, cwd=ROOT,
                       stdin=subprocess.DEVNULL)
    assert p.returncode == 0, p.stderr
    return p.stdout


# ---- C -------------------------------------------------------------------------------------
def answers_equal_csv():
    """The stream of a command has the cells of -output csv."""
    trace = ['devices', 'kernels --top=0', 'steps', 'op -select micros,device']
    views = ['scope -max_depth 100 -select micros,bytes,params,float_ops,occurrence,input_shapes', 'op -select '
             'micros,percent -stats mean,cv', 'graph -max_depth 100', 'code -max_depth 100 -select micros', 'advise']
    for path, commands in ((XSPACE, trace), (GPU, views), (MLP, views)):
        for command in commands:
            expected = list(csv.reader(io.StringIO(program(*command.split(), '--profile_path=' + path, '-output', 'csv'))))
            for batch in (0, 3):
                head, lines, batches = rows(PROFILE, path, 'command', command, batch)
                equal(head, expected[0], command)
                lines = [['' if c == '\\N' else c.replace('\\n', '\n') for c in line] for line in lines]
                real = [i for i in range(len(head)) if all(REAL.fullmatch(line[i]) for line in lines)]
                for line, other in zip(lines, expected[1:]):
                    for i in real:
                        line[i], other[i] = float(line[i] or 0), float(other[i] or 0)
                equal(lines, expected[1:], command)
                equal(batches, 1 if not batch else -(-len(lines) // batch), command)


def idle_places_are_those_of_idle():
    """The table of places of idle time, and the rows of the command idle, have the places that idle prints."""
    doc = json.loads(program('idle', TRAINING, '--top=0', '-output', 'json'))
    places = [(c['cause'], p['kind'], p['name'], p.get('waits_for', ''), p['ns'])
              for d in doc['devices'] for c in d['causes'] for p in c['places']]
    assert len(places) > 10 and sum(p[4] for p in places) == sum(d['idle_ns'] for d in doc['devices'])
    for command in ('devices -table idle_places', 'idle --top=0'):
        head, lines, _ = rows(PROFILE, TRAINING, 'command', command)
        found = [dict(zip(head, line)) for line in lines]
        equal(sorted((r['cause'], r['kind'], r['name'], r['waits_for'].replace('\\N', ''), int(r['ns'])) for r in found), sorted(places), command)


def memory_of_snapshots():
    """The table of memory has the peaks of a snapshot's pools: the largest of all steps, and those of the command if there is one step.
    The views have the same sums as columns."""
    for steps in (0, 4):
        snapshot, _ = layout.make(80 + steps, devices=2, private=True, before=30 if not steps else 0, steps=240)
        times = [e['time_us'] for e in snapshot['device_traces'][0]]
        snapshot['external_annotations'] = [{'name': 'ProfilerStep#%d' % i, 'stage': stage, 'device': 0, 'time_us': times[at]} for i in range(steps)
                                            for stage, at in (('START', len(times) * i // steps), ('END', len(times) * (i + 1) // steps - 1))]
        with open('snapshot.pickle', 'wb') as f:
            pickle.dump(snapshot, f)
        path = os.path.abspath('snapshot.pickle')
        doc = json.loads(program('memory', path, '--top=0', '-output', 'json'))
        pools = {(r['device'], r['allocator']): r for r in doc['memory'] if r['allocator'] != 'all pools'}
        assert len(pools) == 4
        found = {}
        for r in table(path, 'memory'):
            found.setdefault((r['device'], r['allocator']), []).append(r)
        equal(sorted(found), sorted(pools))
        for key, lines in found.items():
            equal(len(lines), steps or 1, key)
            equal(max(r['peak_bytes'] for r in lines), pools[key]['peak_bytes'], key)
            equal(sum(r['allocated_bytes'] for r in lines), pools[key]['allocated_bytes'], key)
            equal(lines[0]['reserved_bytes'], None if steps else pools[key]['reserved_bytes'], key)
        head, lines, _ = rows(PROFILE, path, 'command', 'code -select live_bytes')
        equal(sum(int(line[head.index('own_live_bytes')]) for line in lines), sum(r['bytes'] for r in doc['live']))


def batches_add_up():
    """The rows of a table do not depend on the batch size, and its columns are those of the schema."""
    for kind, path in INPUTS:
        for name in TABLES:
            head, whole, _ = rows(kind, path, 'table', name)
            for batch in (1, 7):
                again, lines, batches = rows(kind, path, 'table', name, batch)
                equal((again, lines), (head, whole), name)
                assert batches >= -(-len(whole) // batch) or name == 'devices', (name, batches)
            equal(head[:2], ['run', 'worker'], name)
            assert all(line[0] == 'run 1' and line[1] == '\\N' for line in whole)


def key(name):
    """Returns the documented hash of a name."""
    h = 0xcbf29ce484222325
    for b in name.encode():
        h = (h ^ b) * 0x100000001b3 % 2**64
    return h - 2**64 if h >= 2**63 else h


def nodes_equal_views():
    """The numbers of nodes are those of the scope view, step by step; keys are the documented hash."""
    for path in (MLP, GPU):
        found = table(path, 'nodes')
        for step in sorted({r['step'] for r in found}):
            view = json.loads(program('scope', '--profile_path=' + path, '-step', str(step), '-max_depth', '100', '-output',
                                      'json', '-account_type_regexes', '.*', '-select',
                                      'micros,bytes,peak_bytes,occurrence,params,float_ops,accelerator_micros,cpu_micros'))
            view = {r['path']: r for r in view['rows']}
            mine = [r for r in found if r['step'] == step]
            assert len(mine) > 20
            for r in mine:
                v = view[r['node']]
                for column, metric in (('us', 'micros'), ('bytes', 'bytes'), ('peak_bytes', 'peak_bytes'),
                                       ('runs', 'occurrence'), ('params', 'params'), ('float_ops', 'float_ops'),
                                       ('accelerator_us', 'accelerator_micros'), ('cpu_us', 'cpu_micros')):
                    equal((r['self_' + column], r['total_' + column]), (v['own_' + metric], v['total_' + metric]),
                          (r['node'], column))
                equal((r['node_key'], r['type']), (key(r['node']), v['type'] or None))
            total = view['_TFProfRoot']['total_micros']
            equal(sum(r['self_us'] for r in mine), total)
            step_row = next(r for r in table(path, 'steps') if r['step'] == step)
            equal(step_row['cpu_us'], sum(r['self_cpu_us'] for r in mine))


def traces_equal_commands():
    """For a trace, the tables kernels, devices and steps have the numbers of the commands of those names."""
    def command(name):
        return json.loads(program(name, '--profile_path=' + XSPACE, '-output', 'json', *(
            ['--top=0'] if name == 'kernels' else [])))[name]

    equal([(r['name'], r['device'], r['op'], r['count'], r['total_ns'], r['min_ns'], r['max_ns'])
           for r in table(XSPACE, 'kernels')],
          [(r['name'], r['device'], r['op'], r['count'], r['total_ns'], r['min_ns'], r['max_ns']) for r in command('kernels')])
    for mine, r in zip(table(XSPACE, 'devices'), command('devices')):
        equal([mine[c] for c in ('device', 'kind', 'span_ns', 'busy_ns', 'compute_ns', 'copy_ns', 'host_late_ns', 'window_ns', 'idle_ns', 'after_last_ns')],
              [r[c] for c in ('device', 'kind', 'span_ns', 'busy_ns', 'compute_busy_ns', 'copy_busy_ns', 'host_late_ns', 'window_ns', 'idle_ns', 'after_last_ns')])
    for mine, r in zip(table(XSPACE, 'steps'), command('steps')):
        equal([mine[c] for c in ('step', 'start_ns', 'duration_ns', 'busy_ns', 'idle_ns', 'slices', 'devices', 'kernel_gap_ns', 'before_first_ns')],
              [r[c] for c in ('step', 'start_ns', 'duration_ns', 'busy_ns', 'idle_ns', 'slices', 'devices', 'kernel_gap_ns', 'before_first_ns')])
    slices = table(XSPACE, 'slices')
    for k in table(XSPACE, 'kernels'):
        same = [s for s in slices if s['name'] == k['name'] and s['category'] == k['category']]
        equal((len(same), sum(s['duration_ns'] for s in same)), (k['count'], k['total_ns']), k['name'])


def steps_of_runs():
    """The table runs counts the rows of the table steps, also if a truncated trace has a step without operations."""
    with open('cut.json', 'w') as f:
        f.write('{"schemaVersion": 1, "traceEvents": [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 1, '
                '"tid": 1, "ts": 1000, "dur": 900, "args": {}}, {"ph": "X", "cat": "cpu')
    for path in (os.path.abspath('cut.json'), XSPACE, TRAINING, MLP):
        equal(table(path, 'runs')[0]['steps'], len(table(path, 'steps')), path)


def kernels_of_large_exports():
    """The table of kernels of a large Nsight Systems export does not change after its slices are read."""
    if not built.has(os.path.join(BIN, 'tfprof'), 'sqlite'):
        raise cases.Skip('built without SQLite')
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'large.sqlite')
        nsys.random_export(random.Random(1), 100000).save(path, more=[
            'CREATE TABLE pad (bytes BLOB)', 'INSERT INTO pad VALUES (zeroblob(%d))' % (65 << 20)])
        found = table(path, 'kernels')
        assert len({r['name'] for r in found}) > 3, found
        equal(table(path, 'slices,kernels'), found)


def odd_orders():
    """Children and dictionaries may be moved out, the session may be closed first, and wrong calls fail with an error message."""
    for kind, path in INPUTS[:3]:
        stream('odd', kind, path)


def memory_limits():
    """Under a memory limit a stream ends with an error, or has all rows."""
    for kind, path in INPUTS:
        stream('limit', kind, path, '0')
    with open('long.json', 'w') as f:  # a small trace with many rows
        f.write('[')
        for i in range(60000):
            f.write('{"ph": "X", "pid": 1, "tid": %d, "ts": %d, "dur": 5, "name": "n%d"},\n' % (i % 7, i, i % 1000))
        f.write('{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "name": "last"}]')
    stream('limit', PROFILE, os.path.abspath('long.json'), '1')


def threads():
    """A stream is read while another thread uses the session."""
    for kind, path in INPUTS:
        stream('threads', kind, path)


# ---- Python --------------------------------------------------------------------------------
def python_schemas():
    """python -m tfprof.tables prints the schemas; docs/TABLES.md has them."""
    env = dict(os.environ, PYTHONPATH=os.path.join(ROOT, 'python'), TFPROF_LIBRARY=os.path.join(BIN, 'libtfprof.so'))
    if ARGS.san:
        raise cases.Skip('a sanitized library wants to be first in the process')
    p = subprocess.run([sys.executable, '-B', '-m', 'tfprof.tables', '--markdown'], capture_output=True, text=True, env=env)
    equal(p.returncode, 0, p.stderr)
    with open(os.path.join(ROOT, 'docs', 'TABLES.md')) as f:
        page = f.read()
    assert page.endswith(p.stdout), 'stale: python3 -m tfprof.tables --markdown prints the sections of docs/TABLES.md'
    for name in TABLES:
        p = subprocess.run([sys.executable, '-B', '-m', 'tfprof.tables', name], capture_output=True, text=True, env=env)
        equal([line.split()[0] for line in p.stdout.split('\n')[1:-1]], rows(PROFILE, XSPACE, 'table', name)[0])


def python_capsules():
    """An unread capsule releases its stream; the profile may be closed before that."""
    if ARGS.san:
        raise cases.Skip('a sanitized library wants to be first in the process')
    tfprof = python_package()
    from tfprof import arrow
    profile = tfprof.Profile(profile=MLP)
    unread = [profile.table(name).__arrow_c_stream__() for name in TABLES]
    assert len(arrow._held) == len(TABLES)
    try:
        profile.add_steps([b''])
        raise AssertionError('nothing can be added while streams are open')
    except tfprof.Error as e:
        assert 'while an Arrow stream' in str(e), e
    profile.close()
    del unread
    equal(arrow._held, {})


def python_package():
    os.environ['TFPROF_LIBRARY'] = os.path.join(BIN, 'libtfprof.so')
    sys.path.insert(0, os.path.join(ROOT, 'python'))
    import tfprof
    return tfprof


def consumers_agree():
    """pyarrow validates every batch; polars, DuckDB, pandas and nanoarrow read the same rows."""
    import duckdb
    import nanoarrow
    import polars
    import pyarrow
    tfprof = python_package()
    for kind, path in INPUTS:
        profile = tfprof.Profile(**{'recording' if kind == SPOOL else 'profile': path})
        for name in TABLES:
            t = profile.table(name, run='run 1', rows=11)
            whole = pyarrow.RecordBatchReader.from_stream(t).read_all()
            whole.validate(full=True)
            head, lines, _ = rows(kind, path, 'table', name)
            equal(whole.column_names, head)
            mine = [['\\N' if v is None else '%.17g' % v if isinstance(v, float) else str(v) for v in r.values()] for r in whole.to_pylist()]
            equal(mine, lines, name)
            for c in whole.schema:
                assert c.type in (pyarrow.int64(), pyarrow.float64(), pyarrow.dictionary(pyarrow.int32(), pyarrow.string())), c
            equal(whole.schema.metadata[b'schema_version'], VERSION)
            equal(polars.DataFrame(t).height, len(lines))
            equal(duckdb.sql('select count(*) from t').fetchall()[0][0], len(lines))
            equal(len(whole.to_pandas()), len(lines))
            equal(sum(len(a) for a in nanoarrow.ArrayStream(t)), len(lines))
            number = [c.name for c in whole.schema if c.type == pyarrow.int64() and c.name.endswith(('_ns', '_us', 'bytes'))
                      and c.name != 'start_ns']
            for c in number[:3]:
                sum_ = whole[c].to_pandas().sum()
                equal(duckdb.sql('select coalesce(sum(%s), 0) from t' % c).fetchall()[0][0], int(sum_))
                equal(polars.DataFrame(t)[c].sum() or 0, int(sum_))
    answer = tfprof.Profile(profile=GPU).arrow('op', select='micros', order_by='micros')
    whole = pyarrow.table(answer)
    whole.validate(full=True)
    equal(whole['own_micros'].to_pylist(), sorted(whole['own_micros'].to_pylist(), reverse=True))


def parquet_files():
    """export writes one Parquet file per table and worker, with its schema version; other libraries read all of them."""
    import duckdb
    import pyarrow.parquet
    tfprof = python_package()
    files = tfprof.export([MLP, GPU, XSPACE, RECORDING], 'out', job='a/b')
    equal(len(files), 4 * len(TABLES))
    equal(sorted(files), sorted(os.path.join(d, f) for d, _, names in os.walk('out') for f in names))
    for f in files:
        equal(pyarrow.parquet.read_schema(f).metadata[b'schema_version'], VERSION)
    for name in TABLES:
        expected = sum(len(table(path, name, kind)) for kind, path in INPUTS)
        found = duckdb.sql("select count(*), max(job) from read_parquet('out/%s/**/*.parquet', hive_partitioning=true)"
                           % name).fetchall()[0]
        equal(found, (expected, 'a/b' if expected else None), name)
    equal(tfprof.export([MLP, GPU, XSPACE, RECORDING], 'out', job='a/b', tables=['runs']), files[::len(TABLES)])
    try:
        tfprof.export(['none.pb'], 'out')
        raise AssertionError('there is no such file')
    except tfprof.NotFoundError:
        pass


C_CASES = [answers_equal_csv, memory_of_snapshots, idle_places_are_those_of_idle, batches_add_up, nodes_equal_views, traces_equal_commands, steps_of_runs, kernels_of_large_exports,
           odd_orders, memory_limits, threads, python_schemas, python_capsules]


def build(folder):
    """Builds the consumer on the library."""
    os.symlink(os.path.join(BIN, 'libtfprof.so'), os.path.join(folder, 'libtfprof.so.0'))
    exe = os.path.join(folder, 'stream')
    subprocess.run([os.environ.get('CC') or 'cc', '-std=c11', '-Wall', '-Wextra', '-Werror', '-pthread', '-I',
                    os.path.join(ROOT, 'include'), os.path.join(ROOT, 'tests', 'arrow', 'stream.c'), '-o', exe,
                    os.path.join(folder, 'libtfprof.so.0')] + (['-fsanitize=' + ARGS.san] if ARGS.san else []), check=True)
    return exe


p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
p.add_argument('names', nargs='*')
p.add_argument('--bin', default='build/check', help='the folder with libtfprof.so and the program')
p.add_argument('--san', default='', help='the sanitizers it was built with')
p.add_argument('--consumers', action='store_true', help='with the libraries of others, which are installed')
ARGS = p.parse_args()
BIN = os.path.abspath(ARGS.bin)
with tempfile.TemporaryDirectory() as scratch:
    CONSUMER = build(scratch)
    chosen = [consumers_agree, parquet_files] if ARGS.consumers else C_CASES
    sys.exit(cases.run([c for c in chosen if not ARGS.names or c.__name__ in ARGS.names]))
