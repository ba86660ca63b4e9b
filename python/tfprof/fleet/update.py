# SPDX-License-Identifier: Apache-2.0
"""A build: finds what has changed since the last one, lets an engine read it, and commits each run. The table `files`
says what the output contains, file by file; only new and changed files are read."""
import os
from typing import Callable, Dict, Iterable, List, NamedTuple, Optional, Protocol, Set, Tuple

from . import join
from .inputs import Stat, absolute, covering, local_stat, special
from .plan import PATTERN, Item, batch_size, batches, by_run, check_tables, is_capture, name_workers, plan, without_captures
from .rows import FILES, READABLE, TEMPORARY, FileRow, decode, encode, key
from .store import DataFile, State, Store, new_part
from .tasks import Job, Result, Task

Say = Callable[[str], None]
Unit = Tuple[Item, ...]
CAPTURE = 'graph capture'  # format of the files in the folder of captures


class Engine(Protocol):
    """Runs tasks. Calls finish after each of them, and runs the tasks that finish returns as well."""

    def parallel(self) -> int: ...

    def run(self, tasks: List[Task], job: Job, finish: Callable[[Task, Result], List[Task]]) -> None: ...


class Given(NamedTuple):
    """The input of a build. words: the paths and patterns that the items come from. remote: states of the remote files.
    named: runs and hosts come from a table, not from the default pattern."""
    items: List[Item]
    words: List[str]
    remote: Dict[str, Stat]
    named: bool = False


class Summary(NamedTuple):
    """Counts of a build: numbers of files, and {run: number of refused files} of the runs that changed."""
    runs: Dict[str, int]
    read: int
    kept: int
    removed: int
    renamed: int


def manifest(store: Store, state: State) -> Dict[str, FileRow]:
    """Returns {path: row} of the table `files`."""
    return {row.path: row for f in state.of(FILES) for row in decode(store.read(f.name), f.run)}


# ---- rewriting parts ----------------------------------------------------------------------------
Place = Tuple[str, str]  # run and worker


def rewrite(store: Store, files: Iterable[DataFile], places: Dict[str, Optional[Place]], part: str) -> List[DataFile]:
    """Copies the Parquet files of a part, with the rows of its workers renamed, or left out if the place is None."""
    from . import arrange
    written = []
    for f in files:
        for run, rows in arrange.places(store.read(f.name), f.run, places).items():
            written.append(store.write(f.table, run, part, rows))
    return written


# ---- what has changed ---------------------------------------------------------------------------
class _Changes:
    """Compares the input with the manifest."""

    def __init__(self, given: Given, old: Dict[str, FileRow], job: Job, again: bool) -> None:
        self.old = old
        self.items = {key(x.path): x for x in given.items}
        covers = covering(given.words)
        self.removed = {p for p in old if p not in self.items and covers(p)}
        kept = [r for p, r in old.items() if p not in self.items and p not in self.removed]
        self._name(given, kept)
        states = {key(p): s for p, s in given.remote.items()}
        self._find_captures(states)
        self.read = {p for p, x in self.items.items() if again or self._differs(p, x, states, job)}
        self._widen()

    def _name(self, given: Given, kept: List[FileRow]) -> None:
        """Assigns runs and workers to all files, including files that this build was not given."""
        fixed = [Item(r.path, r.run, r.host, '') for r in kept if given.named or not _by_default(r)]
        free = [] if given.named else [r.path for r in kept if _by_default(r)]
        if given.named:
            everything = name_workers([x._replace(worker='') for x in self.items.values()] + fixed)
        else:
            planned = plan([x.path for x in self.items.values()] + free)
            everything = name_workers([x._replace(worker='') for x in planned] + fixed) if fixed else planned
        self.names = {key(x.path): x for x in everything}
        self.items = {p: self.names[p] for p in self.items}

    def _find_captures(self, states: Dict[str, Stat]) -> None:
        """Finds the captures that are read together with the traces beside their folder. Captures that cannot be opened are
        refused like any file."""
        mains = {p.rsplit('/', 1)[0] for p in self.items if not is_capture(p)}
        self.captures = {p for p, x in self.items.items() if is_capture(p) and _trace_folder(p) in mains
                         and (p in states or _is_readable(x.path))}
        self._beside: Dict[str, List[Item]] = {}
        for p in sorted(self.captures):
            self._beside.setdefault(_trace_folder(p), []).append(self.items[p])

    def captures_beside(self, item: Item) -> List[Item]:
        """Returns the captures that are read together with a file."""
        return [] if is_capture(item.path) else self._beside.get(_trace_folder(key(item.path)), [])

    def _differs(self, path: str, item: Item, states: Dict[str, Stat], job: Job) -> bool:
        row = self.old.get(path)
        if row is None or (row.status == 'refused' and row.code in TEMPORARY) or (row.format == CAPTURE) != (path in self.captures):
            return True
        try:
            state = states.get(path) or local_stat(item.path)
        except (OSError, ValueError):
            return True  # the reader reports the error
        return tuple(state) != row.state or (row.status != 'expired' and row.format != CAPTURE and row.built != job.built)

    def _widen(self) -> None:
        """Reads all files of a worker again if one of them changes, and all traces of a folder if a capture changes."""
        changed = self.read | self.removed
        folders = {_trace_folder(p) for p in changed if is_capture(p)}
        workers = {(self.old[p].run, self.old[p].worker) for p in changed if p in self.old}
        for p, row in self.old.items():
            if p in self.items and p not in changed and (
                    ((row.run, row.worker) in workers and row.format != CAPTURE)
                    or (row.format != CAPTURE and p.rsplit('/', 1)[0] in folders)):
                self.read.add(p)

    def renamed(self) -> Dict[Place, Place]:
        """Returns the unchanged workers that have a new name: {(run, worker): (run, worker)}."""
        found: Dict[Place, Place] = {}
        for p, row in self.old.items():
            if p in self.removed or p in self.read or p not in self.names or (row.status in READABLE and row.steps is None):
                continue  # a file that completes another one belongs to the worker of the other one
            found.setdefault((row.run, row.worker), (self.names[p].run, self.names[p].worker))
        return {old: new for old, new in found.items() if old != new}

    def moved_captures(self) -> Dict[str, str]:
        """Returns {path: new run} of the captures whose run has a new name."""
        return {p: self.names[p].run for p, row in self.old.items()
                if row.format == CAPTURE and p not in self.removed and p in self.names and self.names[p].run != row.run}


def _is_readable(path: str) -> bool:
    """True for a regular file or a folder on this machine."""
    try:
        return not special(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _trace_folder(path: str) -> str:
    """Returns the folder of a file; of a capture, the folder of the traces that replay it."""
    return without_captures(path).rsplit('/', 1)[0]


def _by_default(row: FileRow) -> bool:
    """True if the run of a file is named after its folder."""
    return ('/' + _trace_folder(row.path)).endswith('/' + row.run)


# ---- one run ------------------------------------------------------------------------------------
class _Run:
    """A run whose files are being read."""

    def __init__(self, name: str, names: Dict[str, Item]) -> None:
        self.name, self.names = name, names
        self.rows: Dict[str, FileRow] = {}  # key: path; files that are read again are replaced
        self.written: List[DataFile] = []
        self.drop: Dict[str, Set[str]] = {}  # part -> workers whose rows are replaced
        self.own: Dict[str, FileRow] = {}  # rows of files that were read alone before they are read together
        self.tasks = 0
        self.joined = False
        self.read = 0

    def forget(self, path: str) -> Optional[FileRow]:
        """Removes a file, and the rows of its worker from their part."""
        row = self.rows.pop(path, None)
        if row is not None and row.part:
            self.drop.setdefault(row.part, set()).add(row.worker)
        return row

    def take(self, result: Result) -> None:
        for row in result.rows:
            if self.joined and row.path in self.own:
                own = self.own[row.path]
                row = row._replace(format=own.format, writer=own.writer, pid=own.pid, process_rank=own.process_rank)
            self.rows[row.path] = row
        self.written += result.written

    def units(self) -> List[Tuple[str, ...]]:
        """Returns the groups of files that now have to be read together, and the files that were read together with others and
        now have to be read alone."""
        alive = {p: r for p, r in self.rows.items() if r.status != 'expired' and r.format != CAPTURE}
        kinds = {p: join.kind_of(r.format) for p, r in alive.items() if join.kind_of(r.format)}
        wanted = {u[0]: u for u in join.units(kinds, {p: join.Process(alive[p].process_rank, alive[p].pid) for p in kinds})}
        found: Dict[str, Set[str]] = {}
        for p, r in alive.items():
            found.setdefault(r.worker, set()).add(p)
        there = set(map(frozenset, found.values()))
        units = [u for u in wanted.values() if frozenset(u) not in there]
        joined = {p for u in wanted.values() for p in u}
        units += [(p,) for group in found.values() if len(group) > 1 for p in sorted(group - joined)]
        return units

    def name_captures(self) -> None:
        """Gives captures the worker of the first trace beside their folder; without a trace, the name of their host."""
        traces: Dict[str, str] = {}
        for p in sorted(self.rows):
            if join.kind_of(self.rows[p].format) == 'pytorch':
                traces.setdefault(p.rsplit('/', 1)[0], self.rows[p].worker)
        for p, r in self.rows.items():
            if r.format == CAPTURE:
                self.rows[p] = r._replace(worker=traces.get(_trace_folder(p), r.host))


class Build:
    """A build in progress."""

    def __init__(self, given: Given, job: Job, again: bool, say: Say, engine: Engine, per_task: int) -> None:
        self._store, self._job, self._say, self._engine = Store(job.out), job, say, engine
        self._state = self._store.state()
        self._given, self._again, self._per_task = given, again, per_task
        self._runs: Dict[str, _Run] = {}
        self.result: Dict[str, int] = {}

    def run(self) -> Summary:
        changes = _Changes(self._given, manifest(self._store, self._state), self._job, self._again)
        renamed, moved = changes.renamed(), changes.moved_captures()
        if renamed or moved:
            self._rename(renamed, moved)
            changes.old = manifest(self._store, self._state)
        self._open(changes)
        tasks = self._tasks(changes)
        for run in [r for r in self._runs.values() if not r.tasks]:
            tasks += self._join(run)
        self._engine.run(tasks, self._job, self._finish)
        self._store.tidy(self._state)
        kept = len(changes.items) - len(changes.read)
        return Summary(self.result, len(changes.read), kept, len(changes.removed), len(renamed))

    def _rename(self, renamed: Dict[Place, Place], moved: Dict[str, str]) -> None:
        """Renames workers whose names collide with those of new files. moved: new runs of captures."""
        add: List[DataFile] = []
        remove: List[str] = []
        rows = manifest(self._store, self._state)
        runs = {run for run, _ in renamed}
        for run in sorted(runs):
            places: Dict[str, Optional[Place]] = {w: new for (r, w), new in renamed.items() if r == run}
            parts = {r.part for r in rows.values() if r.run == run and r.worker in places and r.part}
            for part in sorted(parts):
                old = [f for f in self._state.of_run(run) if f.part == part and f.table != FILES]
                new = new_part('n')
                add += rewrite(self._store, old, places, new)
                remove += [f.name for f in old]
                rows = {p: r._replace(part=new) if (r.run, r.part) == (run, part) else r for p, r in rows.items()}
        rows = {p: r._replace(run=renamed[r.run, r.worker][0], worker=renamed[r.run, r.worker][1])
                if (r.run, r.worker) in renamed else r for p, r in rows.items()}
        touched = runs | {run for run, _ in renamed.values()} | {rows[p].run for p in moved} | set(moved.values())
        rows.update((p, rows[p]._replace(run=run)) for p, run in moved.items())
        remove += [f.name for f in self._state.of(FILES) if f.run in touched]
        for run in sorted(touched):
            mine = [r for r in rows.values() if r.run == run]
            if mine:
                add.append(self._store.write(FILES, run, new_part('f'), encode(mine)))
        self._store.commit(self._state, add, remove)
        self._store.remove(remove)

    def _open(self, changes: _Changes) -> None:
        """Opens the runs that change, with their present rows."""
        touched = {changes.items[p].run for p in changes.read}
        touched |= {changes.old[p].run for p in changes.read | changes.removed if p in changes.old}
        self._runs = {name: _Run(name, changes.names) for name in sorted(touched)}
        for p, row in changes.old.items():
            if row.run in self._runs:
                self._runs[row.run].rows[p] = row
        for p in sorted(changes.read | changes.removed):
            if p in changes.old:
                self._runs[changes.old[p].run].forget(p)

    def _tasks(self, changes: _Changes) -> List[Task]:
        todo = by_run(changes.items[p] for p in sorted(changes.read))
        most = batch_size(len(changes.read), self._engine.parallel(), self._per_task)
        tasks: List[Task] = []
        for name, items in todo.items():
            run = self._runs[name]
            run.rows.update((key(x.path), self._capture(x)) for x in items if key(x.path) in changes.captures)
            mine = [x for x in items if key(x.path) not in run.rows]
            run.read = len(items)
            for batch in batches(mine, most):
                workers = [(x, *changes.captures_beside(x)) for x in batch]
                tasks.append(self._task(run, workers))
        return tasks

    def _capture(self, item: Item) -> FileRow:
        s = self._given.remote.get(item.path) or local_stat(item.path)
        return FileRow(key(item.path), item.run, item.host, item.worker, s.bytes, s.modified_ns, s.etag, CAPTURE, None, 'complete', None,
                       None, None, None, None, None, None, None, '', self._job.built)

    def _task(self, run: _Run, workers: List[Unit]) -> Task:
        run.tasks += 1
        states = {x.path: self._given.remote[x.path] for w in workers for x in w if x.path in self._given.remote}
        return Task(run.name, new_part(), workers, states)

    def _finish(self, task: Task, result: Result) -> List[Task]:
        run = self._runs[task.run]
        run.take(result)
        run.tasks -= 1
        if run.tasks:
            return []
        return self._join(run)

    def _join(self, run: _Run) -> List[Task]:
        """Returns the tasks that read files together; commits the run if there is none."""
        units = [] if run.joined else run.units()
        run.joined = True
        items: List[Unit] = []
        for paths in units:
            rows = [run.forget(p) for p in paths]
            run.own.update((r.path, r) for r in rows if r is not None)
            items.append(tuple(run.names[r.path] for r in rows if r is not None))
        if items:
            most = batch_size(len(items), self._engine.parallel(), self._per_task)
            return [self._task(run, items[i:i + most]) for i in range(0, len(items), most)]
        self._commit(run)
        return []

    def _commit(self, run: _Run) -> None:
        """Rewrites the parts that lose rows, and commits the run."""
        add, remove = list(run.written), [f.name for f in self._state.of_run(run.name) if f.table == FILES]
        there = [f for f in self._state.of_run(run.name) if f.table != FILES] + run.written
        for part, workers in run.drop.items():
            old = [f for f in there if f.part == part]
            places: Dict[str, Optional[Place]] = dict.fromkeys(workers)
            new = new_part('k')
            add = [f for f in add if f.part != part] + rewrite(self._store, old, places, new)
            remove += [f.name for f in old]
            run.rows = {p: r._replace(part=new) if r.part == part else r for p, r in run.rows.items()}
        run.name_captures()
        if run.rows:
            add.append(self._store.write(FILES, run.name, new_part('f'), encode(run.rows.values())))
        self._store.commit(self._state, add, remove)
        self._store.remove(remove)
        refused = sum(r.status == 'refused' for r in run.rows.values())
        self._say('%s: %d files read, %d in all, %d refused' % (run.name, run.read, len(run.rows), refused))
        self.result[run.name] = refused
        self._runs.pop(run.name)


def build(given: Given, out: str, engine: Engine, *, tables: Optional[Iterable[str]] = None, memory_limit: int = 0,
          again: bool = False, recover: bool = False, per_task: int = 0, say: Say = lambda line: None) -> Summary:
    """Brings the tables of an output folder up to date."""
    out = absolute(out)  # executors of Spark have working folders of their own
    job = Job(out, check_tables(tables), memory_limit, recover)
    with Store(out).lock():
        return Build(given, job, again, say, engine, per_task).run()
