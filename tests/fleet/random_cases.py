# SPDX-License-Identifier: Apache-2.0
"""Random changes of an input folder, in one process: builds stop at random writes and are repeated, and each result must equal the
result of a new build. The folder has names that are not UTF-8, names with line breaks, pipes, links without a target, truncated
files, and captures beside their traces."""
import os
import random
import shutil

import cases
from cases import equal
from rig import DATA, ROOT, VARYING

TRACES = os.path.join(ROOT, 'testdata', 'traces')
EXAMPLE = os.path.join(ROOT, 'testdata', 'example')
SOURCES = [os.path.join(TRACES, n) for n in sorted(os.listdir(TRACES)) if n != 'README.md']
SOURCES += [EXAMPLE + '/graph.pbtxt', EXAMPLE + '/run_meta_0', EXAMPLE + '/tfprof_log', os.path.join(ROOT, 'testdata/graphs/replay.pt.trace.json')]
NOT_UTF8 = os.fsdecode(b'\xff\xfe')
NAMES = ['h1.a', 'h1.b', 'h2', 'calls', 'n.json', 'rank0.pt.trace.json', 'rank0_et.json', 'g_layers.json', 'g_times.json', 'a\nb.json',
         NOT_UTF8 + '.json', 'é ü.pb', '%41.pb', '[x].pb', "q'uote.pb"]
FOLDERS = ['a/x', 'a/y', 'b/x', 'b/y', 'a/x/capture_traces', 'b/x/graph_capture_profile', 'b/n\nl', 'b/[x]', 'a/' + NOT_UTF8]
TURNS = 8
_writes = None  # writes and removals that are left until the build stops; None: it does not stop


class _Stopped(BaseException):
    """The build stops here, as if it was killed."""


def _count(function):
    def counted(*given, **named):
        global _writes
        if _writes is not None:
            _writes -= 1
            if _writes < 0:
                raise _Stopped()
        return function(*given, **named)
    return counted


def _stop_after(writes):
    """Lets each following build of this process stop after a number of writes and removals."""
    from tfprof.fleet import store
    global _writes
    if not hasattr(store._Local.write, '__wrapped__'):
        for name in ('write', 'remove'):
            function = getattr(store._Local, name)
            counted = _count(function)
            counted.__wrapped__ = function
            setattr(store._Local, name, counted)
    _writes = writes


def _rows(out):
    """Returns {table: sorted rows} of the files that the log lists."""
    from tfprof.fleet.rows import stored_tables
    from tfprof.fleet.store import Store
    store = Store(out)
    state = store.state()
    found = {}
    for table in stored_tables():
        rows = [dict(r, run=f.run) for f in state.of(table) for r in store.read(f.name).to_pylist()]
        found[table] = sorted(repr(sorted((k, v) for k, v in r.items() if k not in VARYING)) for r in rows)
    return found


def _change(noise, turn):
    """Adds, replaces or removes a random file."""
    path = 'in/%s/%s' % (noise.choice(FOLDERS), noise.choice(NAMES))
    kind = noise.random()
    there = os.path.lexists(path)
    if there:
        os.remove(path)
    if there and kind < 0.4:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if kind > 0.97:
        os.mkfifo(path)
    elif kind > 0.93:
        os.symlink(noise.choice([os.path.basename(path), '/nowhere']), path)
    else:
        with open(noise.choice(SOURCES), 'rb') as f:
            data = f.read()
        size = noise.choice([0, noise.randrange(len(data))]) if kind > 0.86 else len(data)
        with open(path, 'wb') as f:
            f.write(data[:size])
        os.utime(path, ns=(turn * 10 ** 9, turn * 10 ** 9))
    if noise.random() < 0.05:
        shutil.rmtree('in/b', ignore_errors=True)


def _build(noise, words):
    """Builds into out, which may stop several times before it ends."""
    from tfprof.fleet import build, maintain
    from tfprof.fleet.local import Here
    stops = noise.random() < 0.6
    while True:
        _stop_after(noise.randrange(25) if stops else None)
        try:
            build(words, 'out', engine=Here(), per_task=noise.choice([0, 1, 2, 5]))
            if noise.random() < 0.2:
                maintain.compact('out')
            return
        except _Stopped:
            stops = noise.random() < 0.5
        finally:
            _stop_after(None)


def _sequence(seed):
    """Changes the folder several times, with a build after each change."""
    from tfprof.fleet import build, maintain
    from tfprof.fleet.local import Here
    noise = random.Random(seed)
    for folder in ('in', 'out'):
        shutil.rmtree(folder, ignore_errors=True)
    for turn in range(TURNS):
        for _ in range(noise.randrange(1, 7)):
            _change(noise, turn)
        if not any(names for _, _, names in os.walk('in')):
            continue
        both = all(any(n for _, _, n in os.walk('in/' + x)) for x in 'ab')
        words = noise.choice([['in'], ['in'], ['in/*/*/*', 'in/*/*'], ['in/a', 'in/b'] if both else ['in']])
        _build(noise, words)
        shutil.rmtree('new', ignore_errors=True)
        build(words, 'new', engine=Here())
        equal(maintain.check('out'), [], 'seed %d, turn %d' % (seed, turn))
        mine, new = _rows('out'), _rows('new')
        for table, rows in mine.items():
            equal(rows, new[table], 'seed %d, turn %d, %s' % (seed, turn, table))
        done = build(words, 'out', engine=Here())
        if not any("'code', 'IO'" in r or "'code', 'NOT_FOUND'" in r for r in mine['files']):  # links without a target are tried again
            equal((done.read, done.removed, done.renamed), (0, 0, 0), 'seed %d, turn %d' % (seed, turn))


def random_changes():
    """After random changes to a folder, and builds that stop at random writes, each build equals a new build."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise cases.Skip('pyarrow is not installed')
    first = DATA.get('seed', 0)
    for seed in range(first, first + DATA.get('seeds', 10)):
        _sequence(seed)


RANDOM = [random_changes]
