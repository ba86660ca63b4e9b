#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of tfprof.fleet: builds on a process pool and on Spark, killed in the middle, with damaged files; recipes in DuckDB and
Spark. Needs pyarrow, duckdb and, for Spark, pyspark and Java.

    tests/fleet/run.py --bin build/check [NAME...]
    tests/fleet/run.py --bin build/check --without-packages
"""
import argparse
import contextlib
import csv
import glob
import gzip
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, *parts) for parts in (('..', '..', 'python'), ('..', 'check'), ('.',))]
import cases  # noqa: E402
from cases import equal  # noqa: E402
from rig import (DATA, MLP, ROOT, RUNS, TABLES, WORKERS, built, children, content, data, fleet, program, running, same,  # noqa: E402
                 start, words)
from change_cases import CHANGES  # noqa: E402
from object_cases import OBJECTS, states  # noqa: E402
from random_cases import RANDOM  # noqa: E402
from recipe_cases import RECIPES, rank_limits  # noqa: E402
from spark_cases import spark_equals_pool, spark_executor_killed, spark_killed, spark_recipes, spark_unreadable  # noqa: E402


# ---- tests without packages ---------------------------------------------------------------------------
def names():
    """Run and host come from the path, or from a CSV file; several files of a host are separate workers."""
    from tfprof.fleet.plan import partition, plan, read_table
    found = plan(['/a/monday/h1.pb', 's3a://b/tuesday/h1.pt.trace.json.gz', '/a/monday/h2.pb', '/a/monday/h2.x.pb'])
    equal([(x.run, x.host, x.worker) for x in found],
          [('monday', 'h1', 'h1'), ('monday', 'h2', 'h2/0'), ('monday', 'h2', 'h2/1'), ('tuesday', 'h1', 'h1')])
    found = plan(['/jobs/a/day1/h.pb', '/jobs/b/day1/h.pb', '/jobs/a/day2/h.pb', 's3://x/b/day1/g.pb'])
    equal([(x.run, x.worker) for x in found], [('jobs/a/day1', 'h'), ('day2', 'h'), ('jobs/b/day1', 'h'), ('x/b/day1', 'g')])
    found = plan(['/x/job7/rank3/trace.json'], r'(?P<run>job\d+)/(?P<host>rank\d+)/')
    equal([(x.run, x.host) for x in found], [('job7', 'rank3')])
    with open('paths.csv', 'w', newline='') as f:
        csv.writer(f).writerows([['run', 'path', 'host'], ['r 1', '/p,q', 'h/1']])
    equal([tuple(x) for x in read_table('paths.csv')], [('/p,q', 'r 1', 'h/1', 'h/1')])
    equal(partition('host', 'a/b=c%'), 'host=a%2Fb%3Dc%25')
    from tfprof.fleet.plan import batch_size, batches
    equal((batch_size(1000, 2), batch_size(100000, 2), batch_size(5, 2), batch_size(5, 2, 3)), (125, 128, 1, 3))
    equal([len(b) for b in batches(found, 1)], [1])
    with open('large.pb', 'w') as f:
        f.truncate(400 << 20)
    equal([len(b) for b in batches(plan(['x/a.pb', 'large.pb', 'x/b.pb', './large.pb', 'x/c.pb']), 4)], [1, 4])
    with open('bad.csv', 'w') as f:
        f.write('path,run\n')
    try:
        read_table('bad.csv')
        raise AssertionError('a column is missing')
    except ValueError as e:
        assert 'no column host' in str(e), e


MILLION = '''
import resource, time
from tfprof.fleet.plan import by_run, plan
items = plan('/data/team%d/run%05d/w%05d.json.gz' % (i % 7, i // 250, i % 250) for i in range(10 ** 6))
assert len(items) == 10 ** 6 and len(by_run(items)) == 28000 and items[0].run == 'team0/run00000', items[0]
print(time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)
'''


def million_paths():
    """A million paths are planned in 60 s of CPU time and 600 MB."""
    seconds, megabytes = map(float, subprocess.run([sys.executable, '-B', '-c', MILLION], check=True, capture_output=True, text=True).stdout.split())
    assert seconds < 60 and megabytes < 600 * 1e6 / (1 << 20), (seconds, megabytes)


def statements():
    """Values of recipes become literals; unknown ones fail; every recipe has a help text."""
    from tfprof.fleet import recipes
    found = recipes.all_recipes()
    equal(len(found), 13)
    assert all(r.help.endswith('.') for r in found), [r.help for r in found]
    r = next(x for x in found if x.name == 'regressions')
    sql = recipes.statement(r, {'before': "it's%", 'after': '7'})
    assert "LIKE 'it\\'s%'" in recipes.statement(r, {'before': "it's%"}, spark=True)
    assert "LIKE 'it''s%'" in sql and 'LIKE 7' not in sql and "LIKE '7'" in sql, sql
    try:
        recipes.statement(r, {'since': '1'})
        raise AssertionError('there is no such value')
    except ValueError as e:
        assert 'no value since' in str(e), e


def wrong_words():
    """Usage errors are reported as sentences."""
    _, err = fleet('build', 'out', status=2)
    assert 'either paths or --paths-from' in err, err
    _, err = fleet('ask', 'out', 'op_types', 'like', status=2)
    assert 'NAME=VALUE' in err, err
    _, err = fleet('ask', 'out', 'nothing', status=1)
    assert "unknown recipe 'nothing': " in err, err
    out, _ = fleet('recipes')
    assert 'slowest_workers' in out and 'like=%' in out, out
    with open('x', 'w') as f:
        f.write('{}')
    _, err = fleet('build', 'out', 'x', '--tables', 'nobody', status=1)
    assert "unknown table 'nobody'" in err, err
    os.mkdir('empty')
    for word, expected in (('none.pb', 'none.pb: no such file'), ('n*/*.pb', 'n*/*.pb: nothing matches'),
                           ('empty', 'empty: the folder has no files'), ('e*', 'e*: only empty folders match')):
        _, err = fleet('build', 'out', word, status=1)
        assert expected in err, (word, err)
    assert not os.path.exists('out')
    _, err = fleet('expire', 'out', status=2)
    assert '--older-than or --keep' in err, err


# ---- a process pool -----------------------------------------------------------------------------
def damaged_files():
    """Each damaged file is a row of the table errors with its message, and nothing else is missing."""
    folder, bad = data()
    found = content(built())
    connection_paths = sorted(r for row in found['errors'] for r in row if isinstance(r, str) and r.startswith(folder)
                              and r.endswith('.json'))
    equal(connection_paths, sorted(bad))
    equal(len(found['runs']), RUNS * WORKERS - len(bad))
    equal(len(found['steps']), 3 * len(found['runs']))
    for row in found['errors']:
        assert 'DATA_LOSS' in row, row
    out, _ = fleet('ask', built(), 'failed_files')
    equal(out.count('\n'), 1 + len(bad), 'a message of two lines stays one row')


def equals_program():
    """The sums of a fleet equal those that tfprof prints for the single files."""
    from tfprof.fleet import run_recipe
    folder, bad = data()
    types, kernels, busy = {}, {}, 0
    for run in sorted(os.listdir(folder)):
        for name in sorted(os.listdir(os.path.join(folder, run))):
            path = os.path.join(folder, run, name)
            if path in bad:
                continue
            for step in range(3):
                view = program('op', '--profile_path=' + path, '-step', str(step), '-output', 'json', '-select',
                               'micros,occurrence', '-max_depth', '1000', '-account_type_regexes', '.*')
                for r in view['rows']:
                    if r['nodes'] and not r['type'].startswith('/'):
                        us, runs = types.get(r['type'], (0, 0))
                        types[r['type']] = us + r['own_micros'], runs + r['own_occurrence']
            for k in program('kernels', '--profile_path=' + path, '-output', 'json', '--top=0')['kernels']:
                n, ns = kernels.get(k['name'], (0, 0))
                kernels[k['name']] = n + k['count'], ns + k['total_ns']
            busy += sum(d['busy_ns'] for d in program('devices', '--profile_path=' + path, '-output', 'json')['devices'])
    columns, rows = run_recipe(built(), 'op_types')
    rows = [dict(zip(columns, r)) for r in rows]
    equal({r['type']: r['us'] for r in rows}, {t: round(v[0], 6) for t, v in types.items() if t in {r['type'] for r in rows}})
    assert set(types) - {r['type'] for r in rows} <= {t for t, v in types.items() if not v[0]}
    columns, rows = run_recipe(built(), 'kernels_by_share')
    equal({r[0]: (r[1], r[2]) for r in rows}, kernels)
    assert abs(sum(r[3] for r in rows) - 1) < 1e-9
    columns, rows = run_recipe(built(), 'idle_causes')
    equal(sum(dict(zip(columns, r))['busy_ns'] for r in rows), busy)


def recipes_find():
    """Recipes find the problems that make.py has built in: the slow worker, the late worker, the waiting worker and the slower
    GEMM."""
    from tfprof.fleet import run_recipe
    columns, rows = run_recipe(built(), 'slowest_workers')
    slow = [dict(zip(columns, r)) for r in rows]
    equal({r['worker'] for r in slow}, {'w00007'})
    equal({r['why'] for r in slow}, {'idle'})
    equal(len(slow), RUNS * 3)
    columns, rows = run_recipe(built(), 'stragglers')
    equal([(r[0], r[1], r[2]) for r in rows], [('run000', 'w00005', 3), ('run001', 'w00005', 3)])
    columns, rows = run_recipe(built(), 'regressions', {'before': 'run000', 'after': 'run001'})
    top = dict(zip(columns, rows[0]))
    equal(top['type'], 'aten::addmm')
    assert 1.1 < top['ratio'] < 1.25, top
    columns, rows = run_recipe(built(), 'regressed_runs')
    top = dict(zip(columns, rows[0]))
    equal((top['run'], top['before'], top['verdict']), ('run001', 'run000', 'regressed'))
    columns, rows = run_recipe(built(), 'slowest_ranks')
    ranks = [dict(zip(columns, r)) for r in rows]
    equal([(r['run'], r['rank']) for r in ranks[:2]], [('run001', 7), ('run000', 7)])
    columns, rows = run_recipe(built(), 'time_by_day')
    assert abs(sum(rows[0][2:]) - 1) < 1e-9, rows
    equal(run_recipe(built(), 'memory_headroom', {'used': '0.9'})[1], [])
    columns, rows = run_recipe(built(), 'memory_headroom')
    head = dict(zip(columns, rows[0]))
    equal(head['free_bytes'], head['capacity_bytes'] - head['peak_bytes'])
    equal((head['worker'], head['peak_bytes'], head['reserved_bytes']), ('w00011', 411300000, 500000000))


def serving(pid):
    """Returns the worker processes of a build, without Python's resource tracker."""
    return running(children(pid), b'spawn_main')


def files_below(folder):
    return sum(len([n for n in names if n.endswith('.parquet')]) for _, _, names in os.walk(folder))


def killed_workers():
    """Workers are killed twice during a build: no row is lost or duplicated. Three deaths with one file would make it an error."""
    folder, _ = data()
    p = subprocess.Popen(words('build', 'out', folder + '/*/*.json', '--processes', '2', '--per-task', '2'),
                         stderr=subprocess.PIPE, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    kills, seen = 0, 0
    while p.poll() is None and kills < 2:
        if files_below('out') > seen:  # something was written since the last kill
            for child in serving(p.pid)[:1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
                    kills += 1
                    seen = files_below('out') + 3
    _, err = p.communicate()
    equal(p.returncode, 0, err)
    assert kills, 'no worker was found'
    same('out', built())


def killed_build():
    """After the whole build is killed, no run is incomplete, and the next build adds the missing ones."""
    folder, _ = data()
    for when in (1, 30, 70):
        shutil.rmtree('out', ignore_errors=True)
        p = subprocess.Popen(words('build', 'out', folder + '/*/*.json', '--processes', '2', '--per-task', '1'),
                             stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, start_new_session=True)
        while p.poll() is None and files_below('out') < when:
            pass
        with contextlib.suppress(ProcessLookupError):  # the build ended before the kill
            os.killpg(p.pid, signal.SIGKILL)
        p.wait()
        for name, rows in content('out').items():
            complete = [r for r in content(built())[name]]
            assert all(r in complete for r in rows), name
        fleet('build', 'out', folder + '/*/*.json')
        same('out', built())
        equal(fleet('check', 'out')[0], 'no problems\n')


def deadly_file():
    """A file whose reader is killed each time becomes a row of errors, and the build continues."""
    os.makedirs('in/run')
    shutil.copy(MLP, 'in/run/good.pb.gz')
    with gzip.open('in/run/deadly.json.gz', 'wb') as f:  # takes seconds to read
        f.write(b'{"traceEvents": [')
        for _ in range(256):
            f.write(b' ' * (1 << 23))
    p = subprocess.Popen(words('build', 'out', 'in/run/*', '--processes', '1', '--per-task', '2'), stderr=subprocess.PIPE,
                         stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    killed = set()
    while p.poll() is None and len(killed) < 4:  # once together with the other file, then three times alone
        for child in serving(p.pid):
            try:
                opened = any(os.readlink('/proc/%d/fd/%s' % (child, fd)).endswith('deadly.json.gz')
                             for fd in os.listdir('/proc/%d/fd' % child))
            except OSError:
                continue
            if child not in killed and opened:
                killed.add(child)
                os.kill(child, signal.SIGKILL)
    text, err = p.communicate()
    equal(p.returncode, 0, err)
    found = content('out')
    equal((len(found['errors']), len(found['runs'])), (1, 1))
    assert 'WORKER_DIED' in found['errors'][0], found['errors']


def two_builds():
    """The second of two simultaneous builds fails with an error message."""
    import fcntl
    os.makedirs('out')
    with open('out/_lock', 'w') as f:
        fcntl.flock(f, fcntl.LOCK_EX)
        _, err = fleet('build', 'out', MLP, status=1)
    assert 'another build writes into this folder' in err, err


def few_files():
    """A batch gives one file per table, however many hosts it contains; the rows state their hosts."""
    folder, bad = data()
    fleet('build', 'out', folder + '/run000/*.json', '--processes', '1', '--per-task', '100')
    files = glob.glob('out/*/*/*.parquet')
    equal(sorted(os.path.dirname(p) for p in files), sorted(os.path.join('out', t, 'run=run000') for t in TABLES if t != 'errors'))
    from tfprof.fleet import recipes
    hosts = recipes.duckdb_connection('out').execute('SELECT DISTINCT host FROM steps ORDER BY host').fetchall()
    whole = ['w%05d' % i for i in range(WORKERS) if not any('run000/w%05d' % i in b for b in bad)]
    equal([h for h, in hosts], whole)


def ten_thousand_files():
    """10,000 files in 40 runs are all read, once, and none of them again."""
    folder, bad = data()
    files = sorted(glob.glob(folder + '/*/*.json'))
    for i in range(10000):
        to = 'in/run%02d' % (i // 250)
        os.makedirs(to, exist_ok=True)
        os.link(files[i % len(files)], '%s/w%05d.pt.trace.json' % (to, i))
    refused = sum(files[i % len(files)] in bad for i in range(10000))
    text, _ = fleet('build', 'out', 'in')
    equal(text, '40 runs written, 10000 files read, 0 unchanged, 0 removed, %d refused\n' % refused)
    from tfprof.fleet import recipes
    query = 'SELECT count(*), count(DISTINCT run), count(DISTINCT concat(run, worker)) FROM runs'
    equal(recipes.duckdb_connection('out').execute(query).fetchall(), [(10000 - refused, 40, 10000 - refused)])
    equal(fleet('check', 'out')[0], 'no problems\n')
    equal(fleet('build', 'out', 'in')[0], '0 runs written, 0 files read, 10000 unchanged, 0 removed, 0 refused\n')


WITHOUT = [names, states, statements, rank_limits, wrong_words]
POOL = [million_paths, ten_thousand_files, damaged_files, equals_program, recipes_find, few_files, killed_workers, killed_build, deadly_file, two_builds] + RECIPES + CHANGES + RANDOM + OBJECTS
SPARK = [spark_equals_pool, spark_unreadable, spark_recipes, spark_killed, spark_executor_killed]

if __name__ == '__main__':
    os.environ['LC_ALL'] = 'C.UTF-8'  # Java encodes file names in the encoding of the locale
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('names', nargs='*')
    p.add_argument('--bin', default='build/check', help='the folder with libtfprof.so and the program')
    p.add_argument('--without-packages', action='store_true', help='only what needs Python alone')
    p.add_argument('--seed', type=int, default=0, help='first random sequence of changes (default: 0)')
    p.add_argument('--seeds', type=int, default=10, help='number of random sequences of changes (default: 10)')
    ARGS = p.parse_args()
    DATA.update(seed=ARGS.seed, seeds=ARGS.seeds)
    with tempfile.TemporaryDirectory() as scratch:
        start(ARGS.bin, scratch)
        chosen = WITHOUT + ([] if ARGS.without_packages else POOL + SPARK)
        status = cases.run([c for c in chosen if not ARGS.names or c.__name__ in ARGS.names])
        if 'session' in DATA:
            DATA['session'].stop()
        if 'store' in DATA:
            DATA['store'].stop()
    sys.exit(status)
