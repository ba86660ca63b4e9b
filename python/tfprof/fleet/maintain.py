# SPDX-License-Identifier: Apache-2.0
"""Work on a finished output: checks it, joins small files, and removes old runs."""
import time
from typing import Dict, Iterator, List, Optional, Tuple

from .update import Say, manifest
from .rows import FILES, READABLE, FileRow, encode
from .store import DataFile, State, Store, new_part

TARGET = 128 << 20  # bytes of a compacted Parquet file


def _rows_by_run(store: Store, state: State) -> Dict[str, List[FileRow]]:
    """Returns the rows of the table `files` of each run."""
    runs: Dict[str, List[FileRow]] = {}
    for row in manifest(store, state).values():
        runs.setdefault(row.run, []).append(row)
    return runs


# ---- check --------------------------------------------------------------------------------------
def check(out: str) -> List[str]:
    """Compares the tables with the log and with the table `files`. Returns a sentence for each problem."""
    store = Store(out)
    state = store.state()
    problems = _check_sizes(store, state)
    if problems:
        return problems
    runs = _rows_by_run(store, state)
    for run in sorted({f.run for f in state.files.values()} | set(runs)):
        problems += _check_run(store, run, state.of_run(run), runs.get(run, []))
    problems += ['%s: no commit lists it' % store.path(name) for name in sorted(store.orphans(state))]
    return problems


def _check_sizes(store: Store, state: State) -> List[str]:
    problems = []
    there: Dict[str, Tuple[int, float]] = {}
    for table in sorted({f.table for f in state.files.values()}):
        there.update(store.sizes(table))
    for f in sorted(state.files.values()):
        if f.name not in there:
            problems.append('%s: missing: the log lists it' % store.path(f.name))
        elif there[f.name][0] != f.bytes:
            problems.append('%s: %d bytes: the log says %d' % (store.path(f.name), there[f.name][0], f.bytes))
    return problems


def _check_run(store: Store, run: str, files: List[DataFile], rows: List[FileRow]) -> Iterator[str]:
    """Yields the problems of a run: each worker must have the rows that the table `files` counts, in its own part."""
    mains = [r for r in rows if r.part and r.steps is not None]
    places = {r.worker: r.part for r in mains}
    if len(places) < len(mains):
        yield 'run %s: two files have the same worker' % run
    counts: Dict[str, Dict[str, int]] = {}
    for f in files:
        if f.table == FILES:
            continue
        try:
            workers = store.read(f.name).column('worker').to_pylist()
        except Exception as e:  # pyarrow has many
            yield '%s: %s' % (store.path(f.name), e)
            continue
        if len(workers) != f.rows:
            yield '%s: %d rows: the log says %d' % (store.path(f.name), len(workers), f.rows)
        for w in workers:
            there = counts.setdefault(f.table, {})
            there[w] = there.get(w, 0) + 1
            if places.get(w) != f.part:
                yield '%s: worker %s: the table files has it in %s' % (store.path(f.name), w, places.get(w) or 'no part')
                break
    for r in mains:
        built = r.built.split(' ')[1].split(',') if ' ' in r.built else []
        for table, expected in (('runs', 1), ('steps', r.steps)):
            found = counts.get(table, {}).get(r.worker, 0)
            if table in built and found != expected:
                yield 'run %s: worker %s has %d rows in %s: the table files says %s' % (run, r.worker, found, table, expected)


# ---- compaction ---------------------------------------------------------------------------------
def compact(out: str, target: int = TARGET, say: Say = lambda line: None) -> int:
    """Joins the parts of each run up to a size. Returns the number of Parquet files that were removed."""
    store = Store(out)
    with store.lock():
        state = store.state()
        before = len(state.files)
        for run, rows in sorted(_rows_by_run(store, state).items()):
            _compact_run(store, state, run, rows, target)
        store.tidy(state)
        say('%d Parquet files became %d' % (before, len(state.files)))
        return before - len(state.files)


def _groups(files: List[DataFile], target: int) -> List[List[str]]:
    """Returns the parts to be joined, each list up to the target size."""
    sizes: Dict[str, int] = {}
    for f in files:
        sizes[f.part] = max(sizes.get(f.part, 0), f.bytes)
    groups: List[List[str]] = []
    room = 0
    for part, size in sorted(sizes.items()):
        if size >= target:
            continue
        if not groups or size > room:
            groups.append([])
            room = target
        groups[-1].append(part)
        room -= size
    return [g for g in groups if len(g) > 1]


def _compact_run(store: Store, state: State, run: str, rows: List[FileRow], target: int) -> None:
    import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]
    data = [f for f in state.of_run(run) if f.table != FILES]
    groups = _groups(data, target)
    if not groups:
        return
    add: List[DataFile] = []
    remove = [f.name for f in state.of_run(run) if f.table == FILES]
    renamed: Dict[str, str] = {}
    for parts in groups:
        new = new_part('c')
        renamed.update(dict.fromkeys(parts, new))
        for table in sorted({f.table for f in data if f.part in parts}):
            old = sorted(f for f in data if f.part in parts and f.table == table)
            add.append(store.write(table, run, new, pa.concat_tables([store.read(f.name) for f in old])))
            remove += [f.name for f in old]
    add.append(store.write(FILES, run, new_part('f'), encode([r._replace(part=renamed.get(r.part, r.part)) for r in rows])))
    store.commit(state, add, remove)
    store.remove(remove)


# ---- retention ----------------------------------------------------------------------------------
def expire(out: str, older_than: Optional[float] = None, keep: Optional[int] = None, say: Say = lambda line: None) -> List[str]:
    """Removes the rows of runs whose newest file is older than a number of seconds, and of all but the newest `keep` runs.
    Their files stay in the table `files` with the status expired, so a later build does not read them again unless they
    change. Returns the names of the runs."""
    store = Store(out)
    with store.lock():
        state = store.state()
        rows = _rows_by_run(store, state)
        newest = {run: max(r.modified_ns for r in mine if r.status in READABLE) for run, mine in rows.items()
                  if any(r.status in READABLE for r in mine)}
        order = sorted(newest, key=lambda run: (-newest[run], run))
        limit = 0 if older_than is None else (time.time() - older_than) * 1e9
        gone = [run for i, run in enumerate(order) if newest[run] < limit or (keep is not None and i >= keep)]
        for run in gone:
            remove = [f.name for f in state.of_run(run)]
            mine = [r._replace(status='expired', part='', code=None, message=None) for r in rows[run]]
            store.commit(state, [store.write(FILES, run, new_part('f'), encode(mine))], remove)
            store.remove(remove)
            say('%s: expired' % run)
        store.tidy(state)
        return gone
