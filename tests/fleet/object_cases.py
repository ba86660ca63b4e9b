# SPDX-License-Identifier: Apache-2.0
"""Tests of input and output in an object store, and in other file systems of fsspec."""
import os
import shutil

import cases
from cases import equal
from change_cases import TRACES, copy, counts
from objects import BUCKET, ObjectStore
from rig import DATA, MLP, ROOT, TABLES, content, fleet, same

BASE = 's3://' + BUCKET
FAILURES = 500


def store():
    if 'store' not in DATA:
        DATA['store'] = ObjectStore()
    return DATA['store']


def upload(folder, to):
    import s3fs
    s3fs.S3FileSystem().put(folder, to, recursive=True)


def rows_without_paths(out):
    """Returns the rows of all tables, without what differs between a local file and an object."""
    found = content(out)
    return {name: found[name] for name in TABLES if name not in ('files', 'errors')}


def sample(folder):
    """Writes a few files of different formats, two of them a pair, and a damaged one."""
    for i in range(3):
        copy(MLP, '%s/run%d/h.pb.gz' % (folder, i))
        copy(TRACES + '/trace.xplane.pb', '%s/run%d/g.xplane.pb' % (folder, i))
    copy(TRACES + '/calls.pt.trace.json', folder + '/pair/rank0.pt.trace.json')
    copy(TRACES + '/calls.json', folder + '/pair/rank0_et.json')
    copy(TRACES + '/nsys.sqlite', folder + '/pair/report.sqlite')
    shutil.copytree(os.path.join(ROOT, 'testdata', 'graphs'), folder + '/replay')
    with open(folder + '/run0/bad.pb', 'wb') as f:
        f.write(b'<html>503</html>' * 40)


def s3_input_and_output():
    """Input and output in S3 give the rows of local files; a second build reads what has changed."""
    store()
    sample('in')
    fleet('build', 'out', 'in')
    upload('in/', BASE + '/a/')
    text, _ = fleet('build', BASE + '/a-out', BASE + '/a/*/*')
    assert '1 refused' in text.replace('2 refused', '1 refused'), text
    equal(rows_without_paths(BASE + '/a-out'), rows_without_paths('out'))
    equal(fleet('check', BASE + '/a-out')[0], 'no problems\n')
    equal(counts(fleet('build', BASE + '/a-out', BASE + '/a/*/*')[0])[0], 0)
    copy(TRACES + '/cpu.pb.gz', 'in/run0/g.xplane.pb')
    os.remove('in/run1/h.pb.gz')
    import s3fs
    fs = s3fs.S3FileSystem()
    fs.put('in/run0/g.xplane.pb', BASE + '/a/run0/g.xplane.pb')
    fs.rm(BASE + '/a/run1/h.pb.gz')
    found = counts(fleet('build', BASE + '/a-out', BASE + '/a')[0])
    equal((found[0], found[2]), (1, 1))
    fleet('build', 'out', 'in')
    equal(rows_without_paths(BASE + '/a-out'), rows_without_paths('out'))
    fleet('compact', BASE + '/a-out')
    equal(rows_without_paths(BASE + '/a-out'), rows_without_paths('out'))
    equal(fleet('ask', BASE + '/a-out', 'op_types'), fleet('ask', 'out', 'op_types'))


def s3_failures():
    """Throttling and failures lose no row and double none: 500 of them, at random."""
    sample('in')
    fleet('build', 'out', 'in')
    expected = rows_without_paths('out')
    server = store()
    upload('in/', BASE + '/f/')
    total, turn = 0, 0
    while total < FAILURES:
        turn += 1
        faults = server.fail(0.35, turn)
        out = '%s/f-out%d' % (BASE, turn)
        try:
            fleet('build', out, BASE + '/f/*/*', '--per-task', '1', '--processes', '2')
            fleet('compact', out)
        finally:
            server.fail(0)
        total += sum(faults.count.values())
        equal(rows_without_paths(out), expected, 'turn %d: %s' % (turn, faults.count))
        problems = [p for p in fleet('check', out, status=None)[0].split('\n') if p and 'no commit lists it' not in p]
        assert problems in (['no problems'], []) or problems[-1].endswith(' problems') and len(problems) == 1, problems


def s3_errors():
    """An unknown scheme, a missing package, an empty pattern and an empty folder are errors."""
    store()
    for word, expected in (('nothing://x/y', 'unknown scheme'), (BASE + '/none/*.pb', 'nothing found'),
                           (BASE + '/none', 'nothing found'), (BASE + '/none/', 'nothing found')):
        _, err = fleet('build', 'out', word, status=1)
        assert expected in err and word in err, (word, err)


def memory_file_system():
    """memory:// belongs to one process: its files are read and written there."""
    try:
        import fsspec
    except ImportError:
        raise cases.Skip('fsspec is not installed')
    from tfprof.fleet import build
    sample('in')
    fsspec.filesystem('memory').put('in', '/in', recursive=True)
    done = build(['memory://in'], 'memory://out')
    assert done.read == 13 and len(done.runs) == 5, done
    fleet('build', 'local', 'in')
    equal(rows_without_paths('memory://out'), rows_without_paths('local'))
    equal(build(['memory://in'], 'memory://out').read, 0)


OBJECTS = [s3_input_and_output, s3_failures, s3_errors, memory_file_system]
