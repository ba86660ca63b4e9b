# SPDX-License-Identifier: Apache-2.0
"""Tests of input and output in an object store, and in other file systems of fsspec."""
import os
import shutil
import socket
import subprocess
import threading

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


def states():
    """The state of a remote file comes from what each file system calls size, change and version."""
    from datetime import datetime, timezone
    from tfprof.fleet.inputs import _remote_stat, changed_at
    when, ns = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc), 1767323045 * 10 ** 9
    for info, expected in (
            ({'Size': 7, 'size': 7, 'LastModified': when, 'ETag': '"abc"'}, (7, ns, 'abc')),  # s3fs
            ({'size': 7, 'updated': '2026-01-02T03:04:05.000Z', 'etag': 'CJ=', 'md5Hash': 'x'}, (7, ns, 'CJ=')),  # gcsfs
            ({'size': 7, 'mtime': when, 'updated': 'today', 'etag': 'CJ='}, (7, ns, 'CJ=')),
            ({'size': 7, 'last_modified': when, 'etag': '"0x8D"'}, (7, ns, '0x8D')),  # adlfs
            ({'size': 7, 'blob_id': 'f00', 'last_commit': None}, (7, 0, 'f00')),  # Hugging Face
            ({'size': 7, 'created': when}, (7, ns, ''))):  # memory
        equal(tuple(_remote_stat(info)), expected)
    equal(changed_at({'mtime': 12.5}), 12.5)


def cloud(base):
    """Files of a store give the rows of local files, and a second build reads nothing."""
    from fsspec.core import url_to_fs
    from tfprof.fleet.store import Store
    copy(MLP, 'in/run/h.pb.gz')
    copy(TRACES + '/calls.pt.trace.json', 'in/pair/rank0.pt.trace.json')
    copy(TRACES + '/calls.json', 'in/pair/rank0_et.json')
    fleet('build', 'out', 'in')
    fs, root = url_to_fs(base + '/a')
    for folder, _, names in os.walk('in'):
        for n in names:
            with open(os.path.join(folder, n), 'rb') as f:
                fs.pipe_file('%s/%s/%s' % (root, os.path.relpath(folder, 'in'), n), f.read())
    fleet('build', base + '/out', base + '/a/')
    equal(rows_without_paths(base + '/out'), rows_without_paths('out'))
    equal(counts(fleet('build', base + '/out', base + '/a/*/*')[0])[0], 0)
    equal(fleet('check', base + '/out')[0], 'no problems\n')
    ages = [age for _, age in Store(base + '/out').sizes('runs').values()]
    assert ages and all(-60 < age < 3600 for age in ages), ages
    assert 'nothing found' in fleet('build', 'none', base + '/a/*.xyz', status=1)[1]


def exclusive(out):
    """The slower of two builds cannot commit."""
    from tfprof.fleet.store import Store
    slow, fast = Store(out), Store(out)
    state, other = slow.state(), fast.state()
    fast.commit(other, [], [])
    try:
        slow.commit(state, [], [])
        raise AssertionError('two builds have committed the same version')
    except RuntimeError as e:
        assert 'another build has committed' in str(e), e


def google_storage():
    """gs:// through gcsfs, with an emulator of Google Cloud Storage, which does not check the condition of a commit."""
    os.environ['GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT'] = 'false'  # gcsfs would ask Google for the kind of bucket
    try:
        import gcsfs  # noqa: F401
        from gcp_storage_emulator.server import create_server
    except ImportError:
        raise cases.Skip('gcsfs and gcp-storage-emulator are not installed')
    server = create_server('127.0.0.1', 0, in_memory=True, default_bucket=BUCKET)
    server.start()
    server._api._httpd.handle_error = lambda *_: None  # connections of ended clients
    try:
        os.environ['STORAGE_EMULATOR_HOST'] = 'http://127.0.0.1:%d' % server._api._httpd.server_port
        cloud('gs://' + BUCKET)
    finally:
        server.stop()
        os.environ.pop('STORAGE_EMULATOR_HOST', None)


def azure_storage():
    """abfs:// through adlfs, with Azurite, the emulator of Azure, from npm."""
    try:
        from adlfs import AzureBlobFileSystem
    except ImportError:
        raise cases.Skip('adlfs is not installed')
    program = shutil.which('azurite-blob')
    if not program:
        raise cases.Skip('azurite-blob is missing: npm install azurite')
    # The account and the key that every Azurite has.
    key = 'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=='
    with socket.socket() as s:
        s.bind(('127.0.0.1', 0))
        port = s.getsockname()[1]
    os.environ['AZURE_STORAGE_CONNECTION_STRING'] = ('DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=%s;'
                                                     'BlobEndpoint=http://127.0.0.1:%d/devstoreaccount1;' % (key, port))
    server = subprocess.Popen([program, '--blobPort', str(port), '--location', 'azurite', '--skipApiVersionCheck',
                               '--disableTelemetry'], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for line in server.stdout:
            if 'successfully listens' in line:
                break
        threading.Thread(target=server.stdout.read, daemon=True).start()
        AzureBlobFileSystem(connection_string=os.environ['AZURE_STORAGE_CONNECTION_STRING']).mkdir(BUCKET)
        cloud('abfs://' + BUCKET)
        exclusive('abfs://%s/out' % BUCKET)
    finally:
        server.terminate()
        server.wait()
        os.environ.pop('AZURE_STORAGE_CONNECTION_STRING', None)


OBJECTS = [s3_input_and_output, s3_failures, s3_errors, memory_file_system, google_storage, azure_storage]
