# SPDX-License-Identifier: Apache-2.0
"""Tests of tfprof.fleet on Spark: the same rows as on the process pool, other file systems, killed tasks and
executors."""
import os
import select
import shutil
import signal
import subprocess

import cases
from cases import equal
from rig import DATA, RUNS, TABLES, WORKERS, built, children, content, data, fleet, running, same, words


def need_spark():
    if not shutil.which('java') and not os.environ.get('JAVA_HOME'):
        raise cases.Skip('there is no Java')
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise cases.Skip('pyspark is not installed')


def session():
    """Returns a Spark session, created at the first call. It also mounts / as viewfs://t/x, which Spark does not treat
    as a local file system."""
    need_spark()
    if 'session' not in DATA:
        from tfprof.fleet import spark
        back = os.getcwd()
        os.chdir(DATA['scratch'])  # Java keeps its initial working folder
        DATA['session'] = spark.session('local[2,4]')
        os.chdir(back)
        DATA['session'].sparkContext.setLogLevel('FATAL')
        DATA['session']._jsc.hadoopConfiguration().set('fs.viewfs.mounttable.t.link./x', 'file:///')
    return DATA['session']


def spark_build(out, items, **more):
    """Builds in session(). Returns ({run: number of failures}, reported lines)."""
    from tfprof.fleet import spark
    lines = []
    return spark.build(session(), items, out, say=lines.append, **more), lines


def errors_of(out):
    """Returns [(file name, code)] from the table of errors."""
    from tfprof.fleet import recipes
    rows = recipes.duckdb_connection(out).execute('SELECT path, code FROM errors').fetchall()
    return sorted((os.path.basename(path), code) for path, code in rows)


def spark_equals_pool():
    """Spark writes the same rows as the process pool, without duplicates."""
    need_spark()
    folder, _ = data()
    text, _ = fleet('build', 'out', folder + '/*/*.json', '--engine', 'spark', '--master', 'local[2,4]', '--per-task', '3')
    equal(text, '2 runs written, %d files could not be read\n' % len(data()[1]))
    same('out', built())


def spark_remote():
    """On a file system that tasks cannot open, Spark reads the files and writes the same rows. Run names may contain
    any character."""
    from tfprof.fleet import build
    from tfprof.fleet.plan import Item
    folder, bad = data()
    runs = {'run%03d' % r: '\u00e9 {a,b} [%d] 100%%' % r for r in range(RUNS)}
    for run, name in runs.items():  # with glob characters, and characters that Hive escapes in folder names
        shutil.copytree(os.path.join(folder, run), name)
    files = [(os.path.join(name, x), name, x.split('.')[0]) for name in runs.values() for x in sorted(os.listdir(name))]
    mount = 'viewfs://t/x' + os.getcwd() + '/'
    local = [Item(path, run, host, host) for path, run, host in files]
    remote = [x._replace(path=mount + x.path) for x in local]
    failed = build(local, 'pool', processes=1)
    equal(sum(failed.values()), len(bad))
    for out, items in ((mount + 'out', remote), ('out2', remote[:9] + [x._replace(path=os.path.abspath(x.path)) for x in local[9:]])):
        equal(spark_build(out, items)[0], failed)
        same(os.path.basename(out), 'pool', [t for t in TABLES if t != 'errors'])
        equal(errors_of(os.path.basename(out)), errors_of('pool'))
    equal(spark_build(mount + 'out', remote[:WORKERS], again=True)[0], {runs['run000']: failed[runs['run000']]})
    same('out', 'pool', [t for t in TABLES if t != 'errors'])
    found, lines = spark_build(mount + 'out', remote)
    equal((found, lines[-1]), ({}, 'all runs are complete'))


def spark_unreadable():
    """Files that Spark cannot read become rows of the table of errors, and the build continues."""
    from tfprof.fleet.plan import plan
    folder, bad = data()
    shutil.copytree(folder + '/run000', 'in/run')
    names = sorted(os.listdir('in/run')) + ['folder.json', 'missing.json']
    os.mkdir('in/run/folder.json')
    with open('in/run/.w00003.pt.trace.json.crc', 'wb') as f:  # a wrong Hadoop checksum
        f.write(b'crc\0' + (512).to_bytes(4, 'big') + b'wrong' * 9999)
    mount = 'viewfs://t/x' + os.getcwd()
    expected = {os.path.basename(p): 'DATA_LOSS' for p in bad if p.startswith(folder + '/run000/')}
    expected.update({'w00003.pt.trace.json': 'UNREADABLE', 'missing.json': 'NOT_FOUND', 'folder.json': 'INVALID_ARGUMENT',
                     'none.json': 'NOT_FOUND'})
    items = plan([mount + '/in/run/' + name for name in names] + [mount + '/nowhere/run/none.json'])
    for out in ('out', mount + '/out2'):
        equal(spark_build(out, items)[0], {'run': len(expected)})
        equal(errors_of(os.path.basename(out)), sorted(expected.items()))
        equal(len(content(os.path.basename(out))['runs']), len(items) - len(expected))


def spark_recipes():
    """Every recipe has the same answer in DuckDB and Spark."""
    from tfprof.fleet import recipes, run_recipe
    for r in recipes.all_recipes():
        columns, rows = run_recipe(built(), r.name)
        others, theirs = run_recipe(built(), r.name, engine='spark', session=session())
        equal(others, columns, r.name)
        equal(len(theirs), len(rows), r.name)
        assert rows, r.name
        for mine, other in zip(rows, theirs):
            for a, b in zip(mine, other):
                equal(type(a), type(b), r.name)
                assert a == b or abs(a - b) <= 1e-9 * abs(a), (r.name, mine, other)


def descendants(pid):
    found = []
    for child in children(pid):
        found += [child] + descendants(child)
    return found


def python_workers(pid):
    """Returns the Python processes in which Spark runs tasks."""
    return [p for p in running(descendants(pid), b'pyspark.daemon') if children(p) == []]


def spark_killed():
    """After the process of a Spark task is killed, no row is lost or duplicated."""
    need_spark()
    folder, _ = data()
    p = subprocess.Popen(words('build', 'out', folder + '/*/*.json', '--engine', 'spark', '--master', 'local[2,8]', '--per-task',
                               '1'), stderr=subprocess.PIPE, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    os.set_blocking(p.stderr.fileno(), False)
    killed, err = [], b''
    while p.poll() is None:
        select.select([p.stderr], [], [], 0.05)
        err += p.stderr.read() or b''
        if len(killed) < 3:
            try:
                workers = [w for w in python_workers(p.pid) if loaded(w) and w not in killed]
            except OSError:
                continue
            for w in workers[:1]:
                os.kill(w, signal.SIGKILL)
                killed.append(w)
    equal(p.returncode, 0, err[-2000:])
    assert killed, 'no task was found'
    same('out', built())


def spark_executor_killed():
    """After a whole executor is killed, no row is lost or duplicated."""
    need_spark()
    folder, _ = data()
    p = subprocess.Popen(words('build', 'out', folder + '/*/*.json', '--engine', 'spark', '--master', 'local-cluster[2,1,1024]',
                               '--per-task', '1'), stderr=subprocess.PIPE, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    os.set_blocking(p.stderr.fileno(), False)
    killed, err = 0, b''
    while p.poll() is None:
        select.select([p.stderr], [], [], 0.05)
        err += p.stderr.read() or b''
        executors = [] if killed else running(descendants(p.pid), b'CoarseGrainedExecutorBackend')
        for executor in executors:
            try:
                if any(loaded(w) for w in python_workers(executor)):
                    os.kill(executor, signal.SIGKILL)
                    killed = 1
                    break
            except OSError:
                continue
    equal(p.returncode, 0, err[-2000:])
    assert killed, 'no executor was found'
    same('out', built())


def loaded(pid):
    """True if a process has loaded libtfprof, so it is reading files."""
    with open('/proc/%d/maps' % pid) as f:
        return 'libtfprof' in f.read()
