# SPDX-License-Identifier: Apache-2.0
"""Tests of tfprof.fleet on Spark: the same rows as on the process pool, killed tasks and executors."""
import os
import select
import shutil
import signal
import subprocess

import cases
from cases import equal
from change_cases import TRACES
from rig import DATA, built, children, content, data, fleet, running, same, words


def need_spark():
    if not shutil.which('java') and not os.environ.get('JAVA_HOME'):
        raise cases.Skip('there is no Java')
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise cases.Skip('pyspark is not installed')


def session():
    """Returns a Spark session, created at the first call."""
    need_spark()
    if 'session' not in DATA:
        from tfprof.fleet import spark
        back = os.getcwd()
        os.chdir(DATA['scratch'])  # Java keeps its initial working folder
        DATA['session'] = spark.session('local[2,4]')
        os.chdir(back)
        DATA['session'].sparkContext.setLogLevel('FATAL')
    return DATA['session']


def spark_equals_pool():
    """Spark writes the same rows as the process pool, without duplicates."""
    need_spark()
    folder, _ = data()
    text, _ = fleet('build', 'out', folder + '/*/*.json', '--engine', 'spark', '--master', 'local[2,4]', '--per-task', '3')
    assert text.startswith('2 runs written, 24 files read, 0 unchanged'), text
    same('out', built())
    text, _ = fleet('build', 'out', folder + '/*/*.json', '--engine', 'spark', '--master', 'local[2,4]')
    assert text.startswith('0 runs written, 0 files read, 24 unchanged'), text


def spark_unreadable():
    """Files that cannot be read become rows of the table of errors, as on the process pool. Run names may contain any
    character."""
    from tfprof.fleet import Item, build, recipes
    from tfprof.fleet.spark import Spark
    folder, bad = data()
    run = '\u00e9 {a,b} [1] 100%'  # with glob characters, and characters that Hive escapes in folder names
    names = sorted(os.listdir(folder + '/run000'))
    items = [Item(os.path.join(folder, 'run000', n), run, n.split('.')[0], n.split('.')[0]) for n in [*names, 'missing.json']]
    for out, engine in (('out', Spark(session())), ('pool', None)):
        equal(build(items, os.path.abspath(out), engine=engine).runs, {run: 1 + sum('/run000/' in b for b in bad)})
    same('out', 'pool')
    rows = recipes.duckdb_connection('out').execute('SELECT path, code FROM errors').fetchall()
    assert (os.path.join(folder, 'run000', 'missing.json'), 'NOT_FOUND') in rows, rows
    equal(recipes.run_recipe('out', 'failed_files', engine='spark', session=session())[1], recipes.run_recipe('out', 'failed_files')[1])


def spark_recipes():
    """Every recipe has the same answer in DuckDB and Spark, to the last digit."""
    from tfprof.fleet import recipes, run_recipe
    fleet('build', 'shapes', os.path.join(TRACES, 'training.pt.trace.json.gz'), '--tables', '+causes')
    for r in recipes.all_recipes():
        out = os.path.abspath('shapes') if r.name in ('mfu_by_job', 'causes_by_day') else built()
        columns, rows = run_recipe(out, r.name)
        others, theirs = run_recipe(out, r.name, engine='spark', session=session())
        equal(others, columns, r.name)
        equal(len(theirs), len(rows), r.name)
        assert rows, r.name
        for mine, other in zip(rows, theirs):
            for a, b in zip(mine, other):
                equal((type(a), a), (type(b), b), r.name)


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
    """True if a process has loaded libtfprof, which means that it reads files."""
    with open('/proc/%d/maps' % pid) as f:
        return 'libtfprof' in f.read()
