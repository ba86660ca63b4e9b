# SPDX-License-Identifier: Apache-2.0
"""Builds a fleet on one machine with worker processes. A worker reads one batch at a time, several files of the same
run, and writes one Parquet file per table. If a worker dies, the pool starts another one, deletes the files written for
the batch, and retries the batch file by file.
"""
import glob
import multiprocessing
import multiprocessing.connection
import os
import signal
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple

from . import folder
from .plan import LARGEST, Failures, Item, batch_size, batches, by_run, check_tables, partition

ATTEMPTS = 3  # for a file whose worker dies


class Task(NamedTuple):
    """A batch of input files, and the prefix of its output file names."""
    run: str
    name: str
    items: List[Item]


# ---- a worker -----------------------------------------------------------------------------------
def run_task(to: str, task: Task, names: List[str], memory_limit: int) -> Failures:
    """Writes the tables of a batch below the folder `to`. Returns the files that cannot be read, with the reasons."""
    from . import extract
    batch, failed, parts = extract.Batch(), [], 0
    for item in task.items:
        found, why = extract.tables(item, None, names, memory_limit)
        if why:
            failed.append((item, why))
        batch.add(found)
        if batch.bytes > LARGEST or item is task.items[-1]:
            folder.write(os.path.join(to, partition('run', task.run)), batch.take(), '%s-%d.parquet' % (task.name, parts))
            parts += 1
    return failed


def _serve(pipe: Any, to: str, names: List[str], memory_limit: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        pipe.send(run_task(to, task, names, memory_limit))


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


# ---- all workers --------------------------------------------------------------------------------
def tasks(runs: Dict[str, List[Item]], processes: int, per_task: int) -> List[Task]:
    """Divides the files of all runs into batches. A batch has files of one run only."""
    most = batch_size(sum(map(len, runs.values())), processes, per_task)
    return [Task(run, '%06d' % i, batch) for run, files in runs.items() for i, batch in enumerate(batches(files, most))]


class _Pool:
    """The worker processes and the queue of batches. Calls finish after each batch."""

    def __init__(self, todo: List[Task], processes: int, args: Tuple[Any, ...], finish: Callable[[Task, Failures], None]) -> None:
        self._context = multiprocessing.get_context('spawn')
        self._args, self._finish = args, finish
        self._left = list(reversed(todo))
        self._deaths: Dict[Item, int] = {}
        self._busy: Dict[Any, _Worker] = {}
        for _ in range(min(processes, len(todo))):
            self._next(self._start())

    def _start(self) -> _Worker:
        return _Worker(self._context, *self._args)

    def _next(self, w: _Worker) -> None:
        """Sends a worker its next batch, or stops it."""
        if not self._left:
            w.end()
            return
        self._busy[w.pipe] = w
        try:
            w.give(self._left.pop())
        except OSError:
            pass  # the worker has died: run() reads the end of its pipe

    def _died(self, w: _Worker, task: Task) -> None:
        """Deletes the dead worker's output and queues its files one by one. A file fails after ATTEMPTS deaths."""
        w.pipe.close()
        w.process.join()
        run = os.path.join(self._args[0], partition('run', task.run))
        for path in glob.glob(os.path.join(glob.escape(run), '*', task.name + '-*.parquet')):
            os.remove(path)
        if len(task.items) > 1:
            self._left += [Task(task.run, '%s.%d' % (task.name, i), [x]) for i, x in enumerate(task.items)]
            return
        item = task.items[0]
        self._deaths[item] = self._deaths.get(item, 0) + 1
        if self._deaths[item] < ATTEMPTS:
            self._left.append(task)
        else:
            self._finish(task, [(item, ('WORKER_DIED', 'its worker process ended %d times, at last with status %s'
                                        % (ATTEMPTS, w.process.exitcode)))])

    def run(self) -> None:
        while self._busy:
            for pipe in multiprocessing.connection.wait(list(self._busy)):
                w = self._busy.pop(pipe)
                task = w.task
                assert task is not None
                try:
                    failed = w.pipe.recv()
                except (EOFError, OSError):
                    self._died(w, task)
                    w = self._start() if self._left else w
                else:
                    self._finish(task, failed)
                if w.process.is_alive():
                    self._next(w)

    def close(self) -> None:
        for w in self._busy.values():
            w.process.terminate()
            w.end()
        self._busy = {}


# ---- a build ------------------------------------------------------------------------------------
class _Progress:
    """Commits each run as soon as its last file is done."""

    def __init__(self, out: str, scratch: str, runs: Dict[str, List[Item]], say: Callable[[str], None]) -> None:
        self._out, self._scratch, self._runs, self._say = out, scratch, runs, say
        self._done = {run: 0 for run in runs}
        self._failed: Dict[str, Failures] = {run: [] for run in runs}
        self.result: Dict[str, int] = {}

    def finish(self, task: Task, failed: Failures) -> None:
        run, before = task.run, self._done[task.run]
        self._done[run] += len(task.items)
        self._failed[run] += failed
        if self._done[run] == len(self._runs[run]):
            self._commit(run)
        elif self._done[run] // 1000 > before // 1000:
            self._say('%s: %d of %d' % (run, self._done[run], len(self._runs[run])))

    def _commit(self, run: str) -> None:
        to, failed = os.path.join(self._scratch, partition('run', run)), self._failed.pop(run)
        folder.write_errors(to, failed)
        parts = [(os.path.basename(os.path.dirname(p)), p) for p in sorted(glob.glob(os.path.join(glob.escape(to), '*', '*')))]
        folder.commit(self._out, run, parts, folder.note(run, self._runs[run], len(failed)))
        self._say('%s: %d files, %d errors' % (run, len(self._runs[run]), len(failed)))
        self.result[run] = len(failed)


def build(items: List[Item], out: str, *, tables: Optional[Iterable[str]] = None, processes: int = 0,
          memory_limit: int = 0, again: bool = False, per_task: int = 0, say: Callable[[str], None] = lambda line: None) -> Dict[str, int]:
    """Writes the tables of all incomplete runs. Returns {run: number of unreadable files}. memory_limit: maximum bytes
    for one profile. again: rebuild complete runs as well. per_task: files per batch; 0: chosen by batch_size()."""
    names, processes = check_tables(tables), processes or os.cpu_count() or 1
    with folder.opened(out) as scratch:
        runs = folder.pending(by_run(items), [] if again else folder.committed(out), say)
        progress = _Progress(out, scratch, runs, say)
        pool = _Pool(tasks(runs, processes, per_task), processes, (scratch, names, memory_limit), progress.finish)
        try:
            pool.run()
        finally:
            pool.close()
        return progress.result
