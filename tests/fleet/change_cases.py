# SPDX-License-Identifier: Apache-2.0
"""Tests of builds into an output that exists: a build reads exactly the files that changed, and the result equals the result of
a new build. Also the table files, check, compaction and retention."""
import os
import re
import shutil
import sys

import cases
from cases import equal
from rig import MLP, ROOT, built, content, data, fleet, same

TRACES = os.path.join(ROOT, 'testdata', 'traces')


def counts(text):
    """Returns (read, unchanged, removed) of the last line of a build."""
    m = re.search(r'(\d+) files read, (\d+) unchanged, (\d+) removed', text)
    return tuple(map(int, m.groups()))


def copy(source, to):
    os.makedirs(os.path.dirname(to), exist_ok=True)
    shutil.copy(source, to)


def equals_new(*given):
    """Asserts that the output equals the output of a new build, and that check finds no fault."""
    shutil.rmtree('new', ignore_errors=True)
    fleet('build', 'new', *given, '--processes', '1')
    same('out', 'new')
    equal(fleet('check', 'out')[0], 'no problems\n')


def change(*given):
    """Builds into out. Returns (read, unchanged, removed)."""
    found = counts(fleet('build', 'out', *given, '--processes', '1')[0])
    equals_new(*given)
    return found


def late_and_removed():
    """Late, changed and removed files are detected individually; nothing else is read."""
    folder, _ = data()
    for name in sorted(os.listdir(folder + '/run000'))[:6]:
        copy('%s/run000/%s' % (folder, name), 'in/day1/' + name)
    equal(change('in/*/*'), (6, 0, 0))
    equal(change('in/*/*'), (0, 6, 0))
    copy(folder + '/run000/w00007.pt.trace.json', 'in/day1/late.json')
    equal(change('in/*/*'), (1, 6, 0))
    copy(folder + '/run001/w00002.pt.trace.json', 'in/day1/w00002.pt.trace.json')
    os.remove('in/day1/w00001.pt.trace.json')
    equal(change('in/*/*'), (1, 5, 1))
    copy(folder + '/run001/w00003.pt.trace.json', 'in/day2/w00003.pt.trace.json')
    equal(change('in/*/*'), (1, 6, 0))
    shutil.rmtree('in/day2')
    equal(change('in/*/*'), (0, 6, 1))
    equal(sorted(os.listdir('out/steps')), ['run=day1'])


def equal_names():
    """Folders of equal names below different parents are different runs, also if the second one comes later; a second
    file of a host renames the first one's worker. Files that are only renamed are not read again."""
    copy(MLP, 'in/a/day/h.pb.gz')
    copy(TRACES + '/trace.xplane.pb', 'in/a/day/g.pb')
    equal(change('in'), (2, 0, 0))
    copy(TRACES + '/nsys.sqlite', 'in/b/day/h.sqlite')
    equal(change('in'), (1, 2, 0))
    equal(sorted(os.listdir('out/runs')), ['run=a%2Fday', 'run=b%2Fday'])
    copy(TRACES + '/cpu.pb.gz', 'in/a/day/h.profile.gz')
    equal(change('in'), (1, 3, 0))
    equal({'h/0', 'h/1', 'g', 'h'}, {r for row in content('out')['runs'] for r in row if r in ('h', 'g', 'h/0', 'h/1')})
    shutil.rmtree('in/b')
    equal(change('in'), (0, 3, 1))
    equal(sorted(os.listdir('out/runs')), ['run=day'])


def other_inputs():
    """A build adds the files that it is given; files that its patterns do not cover stay."""
    copy(MLP, 'in/a/h.pb.gz')
    copy(TRACES + '/trace.xplane.pb', 'in/b/g.pb')
    fleet('build', 'out', 'in/a/*')
    equal(counts(fleet('build', 'out', 'in/b/*')[0]), (1, 0, 0))
    equals_new('in')
    fleet('build', 'out', 'in/a/*', '--again', '--tables', 'runs')
    equal(sorted(n for n in os.listdir('out/nodes')), ['run=b'])
    equal(counts(fleet('build', 'out', 'in/*/*')[0]), (1, 1, 0))


def odd_names():
    """Names that are not UTF-8, names with line breaks and names with brackets are files like others: they are counted once,
    detected as removed, renamed by a second file of their host, and their names in the tables are escaped."""
    broken = os.fsdecode(b'h\xff')
    copy(MLP, 'in/r\n1/%s.pb' % broken)
    copy(MLP, 'in/r\n1/a\nb.pb')
    copy(TRACES + '/trace.xplane.pb', 'in/[r]/g.pb')
    copy(TRACES + '/trace.xplane.pb', 'in/r/g.pb')
    equal(change('in/*/*'), (4, 0, 0))
    equal(change('in/*/*'), (0, 4, 0))
    equal(sorted(w for w in workers_of('out', 'r\n1')), ['a\nb', 'h\\xff'])
    copy(TRACES + '/cpu.pb.gz', 'in/r\n1/%s.gz' % broken)
    equal(change('in/*/*'), (1, 4, 0))
    equal(sorted(w for w in workers_of('out', 'r\n1')), ['a\nb', 'h\\xff/0', 'h\\xff/1'])
    os.remove('in/r\n1/a\nb.pb')
    os.remove('in/[r]/g.pb')
    copy(TRACES + '/cpu.pb.gz', 'in/[r]/h.pb.gz')
    equal(counts(fleet('build', 'out', 'in/[r]')[0]), (1, 0, 1))  # not in/r, which the pattern would match
    equal(change('in/*/*'), (0, 4, 1))


def captures():
    """Captures are read with the trace beside their folder, also if the trace is late; without it they are read alone."""
    graphs = os.path.join(ROOT, 'testdata', 'graphs')
    for folder in ('capture_traces', 'graph_capture_profile'):
        shutil.rmtree('in', ignore_errors=True)
        shutil.rmtree('out', ignore_errors=True)
        shutil.copytree(graphs + '/capture_traces', 'in/a/replay/' + folder)
        n = len(os.listdir('in/a/replay/' + folder))
        copy(MLP, 'in/a/other/h.pb.gz')
        equal(change('in'), (n + 1, 0, 0))
        copy(graphs + '/replay.pt.trace.json', 'in/a/replay/replay.pt.trace.json')
        equal(change('in'), (n + 1, 1, 0))
        equal(set(workers_of('out', 'replay')), {'replay'})
        os.mkfifo('in/a/replay/%s/pipe.json' % folder)
        os.symlink('loop.json', 'in/a/replay/%s/loop.json' % folder)
        change('in')
        os.remove('in/a/replay/%s/loop.json' % folder)
        change('in')
        copy(TRACES + '/cpu.pb.gz', 'in/b/replay/c.pb')  # renames the run
        equal(change('in'), (1, n + 3, 0))
        equal({'pipe', 'replay'}, set(workers_of('out', 'a/replay')))
        os.remove('in/a/replay/replay.pt.trace.json')
        change('in')
        assert 'replay' not in workers_of('out', 'a/replay')


def files_table():
    """The table files states the format, the writer and the status of each file; a truncated trace is not complete."""
    with open(TRACES + '/calls.pt.trace.json', 'rb') as f:
        whole = f.read()
    os.makedirs('in/run')
    for name, text in (('whole.json', whole), ('cut.json', whole[:len(whole) * 2 // 3]), ('text.pb', b'hello world\n' * 100),
                       ('zeros', bytes(4096)), ('empty', b'')):
        with open('in/run/' + name, 'wb') as f:
            f.write(text)
    os.mkfifo('in/run/fifo')
    os.symlink('/dev/zero', 'in/run/device')
    fleet('build', 'out', 'in')
    from tfprof.fleet import recipes
    rows = recipes.duckdb_connection('out').execute(
        'SELECT host, status, format, writer, bytes, code, message, losses FROM files ORDER BY path').fetchall()
    found = {r[0]: r[1:] for r in rows}
    equal(found['whole'][:4], ('complete', 'PyTorch trace', 'Kineto, schema 1', len(whole)))
    equal(found['cut'][:3], ('truncated', 'PyTorch trace', 'Kineto, schema 1'))
    assert 'the file ends inside an event' in found['cut'][6], found['cut']
    equal({h: (found[h][0], found[h][4]) for h in ('text', 'zeros', 'empty', 'fifo', 'device')},
          {'text': ('refused', 'DATA_LOSS'), 'zeros': ('refused', 'DATA_LOSS'), 'empty': ('refused', 'DATA_LOSS'),
           'fifo': ('refused', 'INVALID_ARGUMENT'), 'device': ('refused', 'INVALID_ARGUMENT')})
    assert 'is empty' in found['empty'][5] and 'is a FIFO' in found['fifo'][5] and 'is a device' in found['device'][5], found
    for host in ('text', 'zeros'):
        assert 'empty' not in found[host][5] and 'UTF-16' not in found[host][5] and 'unknown' in found[host][5], found[host]
    equal(counts(fleet('build', 'out', 'in')[0]), (0, 7, 0))


def pairs():
    """Files that the program reads together are one worker, in any order of arrival."""
    example, graphs = os.path.join(ROOT, 'testdata', 'example'), os.path.join(ROOT, 'testdata', 'graphs')
    copy(TRACES + '/calls.pt.trace.json', 'in/calls/rank0.pt.trace.json')
    copy(TRACES + '/tensorrt_times.json', 'in/trt/engine_times.json')
    copy(graphs + '/replay.pt.trace.json', 'in/replay/replay.pt.trace.json')
    for n in ('run_meta_0', 'run_meta_1', 'graph.pbtxt'):
        copy(example + '/' + n, 'in/tf/' + n)
    change('in')
    nodes = {f: node_rows('in/' + f) for f in ('calls', 'trt', 'tf')}
    copy(TRACES + '/calls.json', 'in/calls/rank0_et.json')
    copy(TRACES + '/tensorrt_layers.json', 'in/trt/engine_layers.json')
    shutil.copytree(graphs + '/capture_traces', 'in/replay/capture_traces')
    copy(example + '/tfprof_log', 'in/tf/tfprof_log')
    change('in')
    equal(len(set(workers_of('out', 'tf'))), 1)
    equal(sorted(len(set(workers_of('out', run))) for run in ('calls', 'trt', 'replay')), [1, 1, 1])
    assert all(node_rows('in/' + f) != nodes[f] for f in nodes), 'the partners change no row'
    equal(counts(fleet('build', 'out', 'in')[0])[0], 0)
    os.remove('in/calls/rank0_et.json')
    shutil.rmtree('in/replay/capture_traces')
    change('in')
    equal(node_rows('in/calls'), nodes['calls'])


def processes():
    """An execution trace is read with the only trace of the same rank and process id, as by the program, even if other names
    are more similar; with several candidates, or none, it is read alone."""
    sys.path.insert(0, os.path.join(ROOT, 'tests', 'trace'))
    import chakra
    calls = chakra.two_layers()

    def write(path, data):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as f:
            f.write(data)

    def together(run):
        by_worker = {}
        for name, worker in files_of('out', run):
            by_worker.setdefault(worker, []).append(name)
        return sorted(x for x in by_worker.values() if len(x) > 1)
    for rank, pid, other in ((0, 11, 12), (1, 12, 11)):
        write('in/pids/t%d.pt.trace.json' % pid, chakra.of_kineto(calls, None, rank, pid=pid))
        write('in/pids/t%d_et.json' % other, calls.bytes(pid))  # a comparison of names would choose the other process
        write('in/ranks/t%d.pt.trace.json' % rank, chakra.of_kineto(calls, rank, rank, pid=5))
        write('in/ranks/et_rank-%d.json' % rank, calls.bytes(5))
        write('in/equal/t%d.pt.trace.json' % rank, chakra.of_kineto(calls, rank, rank, pid=5))
        write('in/equal/t%d_et.json' % rank, calls.bytes(5))
    write('in/one/rank0.pt.trace.json', chakra.of_kineto(calls, 0, 0, pid=5))
    write('in/one/rank1_et.json', calls.bytes(5))
    change('in')
    equal(together('pids'), [['t11.pt.trace.json', 't12_et.json'], ['t11_et.json', 't12.pt.trace.json']])
    equal(together('ranks'), [['et_rank-0.json', 't0.pt.trace.json'], ['et_rank-1.json', 't1.pt.trace.json']])
    equal((together('equal'), together('one')), ([], []))
    equal(counts(fleet('build', 'out', 'in')[0])[0], 0)
    os.remove('in/equal/t1.pt.trace.json')  # now the other trace is a candidate of each execution trace
    os.remove('in/equal/t1_et.json')
    change('in')
    equal(together('equal'), [['t0.pt.trace.json', 't0_et.json']])


def files_of(out, run):
    """Returns the names of the files of a run, with their workers."""
    from tfprof.fleet import recipes
    rows = recipes.duckdb_connection(out).execute("SELECT path, worker FROM files WHERE run = '%s' ORDER BY path" % run).fetchall()
    return [(os.path.basename(path), worker) for path, worker in rows]


def node_rows(folder):
    """Returns the rows of the table nodes of a folder."""
    shutil.rmtree('one', ignore_errors=True)
    fleet('build', 'one', folder, '--processes', '1')
    return [r for r in content('one')['nodes']]


def workers_of(out, run):
    return [worker for _, worker in files_of(out, run)]


def check_finds():
    """check finds a missing, a changed and an unlisted Parquet file, and rows that the table files does not have."""
    folder, _ = data()
    fleet('build', 'out', folder + '/run000/*.json', '--processes', '1')
    equal(fleet('check', 'out')[0], 'no problems\n')
    path = os.path.join('out/steps/run=run000', os.listdir('out/steps/run=run000')[0])
    shutil.copy(path, 'out/steps/run=run000/other.parquet')
    text, _ = fleet('check', 'out', status=1)
    assert 'other.parquet: no commit lists it' in text and '1 problems' in text, text
    os.rename('out/steps/run=run000/other.parquet', 'kept')
    with open(path, 'ab') as f:
        f.write(b'x')
    text, _ = fleet('check', 'out', status=1)
    assert 'the log says' in text, text
    os.remove(path)
    text, _ = fleet('check', 'out', status=1)
    assert 'missing: the log lists it' in text, text


def compaction():
    """Compaction joins small files and changes no row; a later build still finds the rows of each file."""
    folder, _ = data()
    for name in sorted(os.listdir(folder + '/run000')):
        copy('%s/run000/%s' % (folder, name), 'in/run000/' + name)
    fleet('build', 'out', 'in', '--processes', '1', '--per-task', '2')
    before = len(os.listdir('out/nodes/run=run000'))
    _, err = fleet('compact', 'out')
    equal(len(os.listdir('out/nodes/run=run000')), 1)
    assert before > 3 and 'Parquet files became' in err, (before, err)
    equals_new('in')
    os.remove('in/run000/w00001.pt.trace.json')
    copy(folder + '/run001/w00003.pt.trace.json', 'in/run000/w00003.pt.trace.json')
    equal(change('in'), (1, 10, 1))


def retention():
    """Old runs lose their rows and are not read again, unless one of their files changes."""
    for i, run in enumerate(('r1', 'r2', 'r3')):
        copy(MLP, 'in/%s/h.pb.gz' % run)
        os.utime('in/%s/h.pb.gz' % run, (10 ** 9, 10 ** 9 + i))
    fleet('build', 'out', 'in')
    equal(fleet('expire', 'out', '--keep', '2')[0], '1 runs expired\n')
    equal(sorted(os.listdir('out/runs')), ['run=r2', 'run=r3'])
    equal(counts(fleet('build', 'out', 'in')[0]), (0, 3, 0))
    equal(fleet('expire', 'out', '--older-than', '1d')[0], '2 runs expired\n')
    equal(content('out')['runs'], [])
    equal(fleet('check', 'out')[0], 'no problems\n')
    os.utime('in/r3/h.pb.gz')
    equal(counts(fleet('build', 'out', 'in')[0]), (1, 2, 0))
    equal(sorted(os.listdir('out/runs')), ['run=r3'])


def delta_tables():
    """Delta tables list the same rows as the log, after each build, compaction and expiry; a table has one commit for each."""
    try:
        from deltalake import DeltaTable
    except ImportError:
        raise cases.Skip('deltalake is not installed')
    from tfprof.fleet.rows import columns_of

    def equals_delta():
        for name in ('runs', 'nodes', 'files'):
            table = DeltaTable('out/' + name)
            columns = sorted(c for c, _ in columns_of(name) if c not in ('part', 'modified_ns'))
            rows = [tuple(r[c] for c in columns) for r in table.to_pyarrow_table().to_pylist()]
            equal(sorted(rows, key=repr), content('out')[name], name)
            equal({f.name for f in table.schema().fields}, {c for c, _ in columns_of(name)})
    copy(MLP, 'in/a/day/h.pb.gz')
    copy(TRACES + '/nsys.sqlite', 'in/b/other/g.sqlite')
    fleet('build', 'out', 'in')
    fleet('delta', 'out')
    equals_delta()
    copy(TRACES + '/trace.xplane.pb', 'in/b/day/g.pb')  # renames the run day
    os.remove('in/b/other/g.sqlite')
    fleet('build', 'out', 'in')
    equals_delta()
    equal(DeltaTable('out/runs').version(), 1)
    copy(TRACES + '/cpu.pb.gz', 'in/b/day/c.pb')
    fleet('build', 'out', 'in')
    fleet('compact', 'out')
    equals_delta()
    equal((DeltaTable('out/runs').version(), fleet('check', 'out')[0]), (3, 'no problems\n'))
    fleet('expire', 'out', '--keep', '1')
    equals_delta()


def iceberg_tables():
    """Iceberg tables list the same rows as the log, after each build, compaction and expiry; each has one snapshot."""
    try:
        import pyiceberg.catalog  # noqa: F401
        import sqlalchemy  # noqa: F401
    except ImportError:
        raise cases.Skip('pyiceberg or sqlalchemy is not installed')
    from tfprof.fleet import iceberg
    from tfprof.fleet.rows import columns_of
    from tfprof.fleet.store import Store

    def equals_iceberg():
        catalog, namespace = iceberg.open_catalog(Store('out'))
        for name in ('runs', 'nodes', 'files'):
            table = catalog.load_table((namespace, name))
            columns = sorted(c for c, _ in columns_of(name) if c not in ('part', 'modified_ns'))
            rows = [tuple(r[c] for c in columns) for r in table.scan().to_arrow().to_pylist()]
            equal(sorted(rows, key=repr), content('out')[name], name)
            equal([f.name for f in table.schema().fields], [c for c, _ in columns_of(name)])
            equal(len(table.snapshots()), 1)
        lists = [n for n in os.listdir('out/_iceberg/runs/metadata') if n.startswith('snap-')]
        equal(len(lists), 1, 'manifest lists')
    copy(MLP, 'in/a/day/h.pb.gz')
    copy(TRACES + '/nsys.sqlite', 'in/b/other/g.sqlite')
    fleet('build', 'out', 'in')
    fleet('iceberg', 'out')
    equals_iceberg()
    copy(TRACES + '/trace.xplane.pb', 'in/b/day/g.pb')  # renames the run day
    os.remove('in/b/other/g.sqlite')
    fleet('build', 'out', 'in')
    equals_iceberg()
    copy(TRACES + '/cpu.pb.gz', 'in/b/day/c.pb')
    fleet('build', 'out', 'in')
    fleet('compact', 'out')
    equals_iceberg()
    equal(fleet('check', 'out')[0], 'no problems\n')
    fleet('expire', 'out', '--keep', '1')
    equals_iceberg()
    said = fleet('iceberg', 'memory://out', status=1)[1]
    assert 'need a catalog' in said, said


def many_commits():
    """The log stays short after many builds."""
    copy(MLP, 'in/r/h.pb.gz')
    for _ in range(20):
        fleet('build', 'out', 'in', '--again', '--processes', '1', '--tables', 'runs')
    assert len(os.listdir('out/_log')) < 18, os.listdir('out/_log')
    equal((len(content('out')['runs']), len(os.listdir('out/runs/run=r'))), (1, 1))
    equal(len(content(built())['files']), 24)


CHANGES = [late_and_removed, equal_names, odd_names, other_inputs, files_table, pairs, captures, processes, check_finds, compaction, retention, delta_tables,
           iceberg_tables, many_commits]
