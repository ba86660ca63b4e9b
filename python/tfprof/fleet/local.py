# SPDX-License-Identifier: Apache-2.0
"""A fleet on one machine: worker processes, a batch of files at a time each, which becomes one Parquet file per table. A
worker that dies is replaced, what it wrote of its batch is removed, and the files of the batch are tried again one by
one. A run is complete when its file in OUT/_runs is there.

A run is written into OUT/_tmp, moved into the tables, and then noted in OUT/_runs. What a build that was ended left
behind is removed by the next one.
"""
import fcntl
import glob
import json
import multiprocessing
import multiprocessing.connection
import os
import shutil
import signal
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple

from .plan import ERRORS, Item, by_run, check_tables, every_table, partition, schema_version

ATTEMPTS = 3  # of a file whose worker died
MOST = 128  # files in a batch
LARGEST = 64 << 20  # bytes of rows that a worker holds before it writes them

Failures = List[Tuple[Item, Tuple[str, str]]]


class Task(NamedTuple):
    """A batch of files, and the name of the files that it is written to."""
    name: str
    items: List[Item]


# ---- a worker -----------------------------------------------------------------------------------
def _write(folder: str, found: Dict[str, Any], name: str) -> None:
    import pyarrow.parquet as pq  # type: ignore[import-untyped, import-not-found, unused-ignore]
    for table, rows in found.items():
        to = os.path.join(folder, table)
        os.makedirs(to, exist_ok=True)
        pq.write_table(rows, os.path.join(to, name))


def run_task(folder: str, task: Task, names: List[str], memory_limit: int) -> Failures:
    """Writes the tables of a batch below a folder; the files that cannot be read."""
    from . import extract
    batch, failed, parts = extract.Batch(), [], 0
    for item in task.items:
        found, why = extract.tables(item, None, names, memory_limit)
        if why:
            failed.append((item, why))
        batch.add(found)
        if batch.bytes > LARGEST or item is task.items[-1]:
            _write(folder, batch.take(), '%s-%d.parquet' % (task.name, parts))
            parts += 1
    return failed


def _serve(pipe: Any, folder: str, names: List[str], memory_limit: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        pipe.send(run_task(folder, task, names, memory_limit))


class _Worker:
    def __init__(self, context: Any, *args: Any) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,) + args, daemon=True)
        self.process.start()
        theirs.close()
        self.task: Optional[Task] = None

    def give(self, task: Task) -> None:
        self.task = task
        self.pipe.send(task)

    def end(self) -> None:
        self.pipe.close()
        self.process.join()


# ---- a run --------------------------------------------------------------------------------------
def tasks(items: List[Item], processes: int, per_task: int) -> List[Task]:
    """The files in batches: of per_task files, or, 0, as many as still occupy all processes to the end."""
    n = per_task or max(1, min(MOST, len(items) // (4 * processes)))
    return [Task('%06d' % at, items[at:at + n]) for at in range(0, len(items), n)]


class _Pool:
    """The workers, and the batches that they have still to do."""

    def __init__(self, todo: List[Task], processes: int, args: Tuple[Any, ...]) -> None:
        self._context = multiprocessing.get_context('spawn')
        self._args = args
        self._left = list(reversed(todo))
        self._deaths: Dict[Item, int] = {}
        self._busy: Dict[Any, _Worker] = {}
        self.done = 0
        self.failed: Failures = []
        for _ in range(min(processes, len(todo))):
            self._next(self._start())

    def _start(self) -> _Worker:
        return _Worker(self._context, *self._args)

    def _next(self, w: _Worker) -> None:
        """Gives a worker its next batch, or ends it."""
        if not self._left:
            w.end()
            return
        self._busy[w.pipe] = w
        try:
            w.give(self._left.pop())
        except OSError:
            pass  # it has died; its pipe says so

    def _finish(self, task: Task, failed: Failures) -> None:
        self.done += len(task.items)
        self.failed += failed

    def _died(self, w: _Worker, task: Task) -> None:
        """Removes what the worker wrote, and tries its files again one by one, but not for ever."""
        w.pipe.close()
        w.process.join()
        for path in glob.glob(os.path.join(glob.escape(self._args[0]), '*', task.name + '-*.parquet')):
            os.remove(path)
        if len(task.items) > 1:
            self._left += [Task('%s.%d' % (task.name, i), [x]) for i, x in enumerate(task.items)]
            return
        item = task.items[0]
        self._deaths[item] = self._deaths.get(item, 0) + 1
        if self._deaths[item] < ATTEMPTS:
            self._left.append(task)
        else:
            self._finish(task, [(item, ('WORKER_DIED', 'its worker process ended %d times, at last with status %s'
                                        % (ATTEMPTS, w.process.exitcode)))])

    def run(self, tell: Callable[[int], None]) -> None:
        while self._busy:
            for pipe in multiprocessing.connection.wait(list(self._busy)):
                w = self._busy.pop(pipe)
                task, before = w.task, self.done // 1000
                assert task is not None
                try:
                    failed = w.pipe.recv()
                except (EOFError, OSError):
                    self._died(w, task)
                    w = self._start() if self._left else w
                else:
                    self._finish(task, failed)
                if self.done // 1000 > before:
                    tell(self.done)
                if w.process.is_alive():
                    self._next(w)

    def close(self) -> None:
        for w in self._busy.values():
            w.process.terminate()
            w.end()
        self._busy = {}


def _write_errors(folder: str, failed: Failures) -> None:
    from . import extract
    if failed:
        _write(folder, {ERRORS: extract.failures(sorted(failed))}, 'errors.parquet')


# ---- the folder ---------------------------------------------------------------------------------
def marker(out: str, run: str) -> str:
    """The file that says that a run is complete."""
    return os.path.join(out, '_runs', partition('run', run) + '.json')


def committed(out: str) -> List[str]:
    """The runs that are complete."""
    folder = os.path.join(out, '_runs')
    found = []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if name.endswith('.json'):
            with open(os.path.join(folder, name), encoding='utf-8') as f:
                found.append(str(json.load(f)['run']))
    return found


def note(run: str, items: List[Item], failed: int) -> str:
    """What the file of a complete run holds."""
    return json.dumps({'run': run, 'files': len(items), 'errors': failed, 'schema_version': schema_version()}) + '\n'


def _remove_run(out: str, run: str) -> None:
    if os.path.exists(marker(out, run)):
        os.remove(marker(out, run))
    for name in every_table():
        shutil.rmtree(os.path.join(out, name, partition('run', run)), ignore_errors=True)


def _commit(out: str, folder: str, run: str, text: str) -> None:
    for name in sorted(os.listdir(folder)):
        os.makedirs(os.path.join(out, name), exist_ok=True)
        os.rename(os.path.join(folder, name), os.path.join(out, name, partition('run', run)))
    os.makedirs(os.path.join(out, '_runs'), exist_ok=True)
    part = marker(out, run) + '.part'
    with open(part, 'w', encoding='utf-8') as f:
        f.write(text)
        f.flush()
        os.fsync(f.fileno())
    os.replace(part, marker(out, run))


def build(items: List[Item], out: str, *, tables: Optional[Iterable[str]] = None, processes: int = 0,
          memory_limit: int = 0, again: bool = False, per_task: int = 0, say: Callable[[str], None] = lambda line: None) -> Dict[str, int]:
    """Writes the tables of all runs that are not complete yet; {run: files that could not be read}. memory_limit:
    bytes that a profile may take while it is read. again: complete runs too. per_task: files that a worker process
    writes together; 0: up to MOST."""
    names, processes = check_tables(tables), processes or os.cpu_count() or 1
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, '_lock'), 'w', encoding='utf-8') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuntimeError('%s: another build writes into this folder' % out) from None
        shutil.rmtree(os.path.join(out, '_tmp'), ignore_errors=True)
        done, result = set(committed(out)), {}
        for run, files in by_run(items).items():
            if run in done and not again:
                say('%s: complete, skipped' % run)
                continue
            _remove_run(out, run)
            folder = os.path.join(out, '_tmp', partition('run', run))
            os.makedirs(folder)
            pool = _Pool(tasks(files, processes, per_task), processes, (folder, names, memory_limit))
            try:
                pool.run(lambda n: say('%s: %d of %d' % (run, n, len(files))))
            finally:
                pool.close()
            _write_errors(folder, pool.failed)
            _commit(out, folder, run, note(run, files, len(pool.failed)))
            say('%s: %d files, %d errors' % (run, len(files), len(pool.failed)))
            result[run] = len(pool.failed)
        shutil.rmtree(os.path.join(out, '_tmp'), ignore_errors=True)
        return result
