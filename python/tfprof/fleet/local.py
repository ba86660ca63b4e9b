# SPDX-License-Identifier: Apache-2.0
"""A fleet on one machine: worker processes, one file at a time each. A worker that dies is replaced and its file is
tried again; a run is complete when its file in OUT/_runs is there.

A run is written into OUT/_tmp, moved into the tables, and then noted in OUT/_runs. What a build that was ended left
behind is removed by the next one.
"""
import fcntl
import json
import multiprocessing
import multiprocessing.connection
import os
import shutil
import signal
from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

from .plan import ERRORS, Item, by_run, check_tables, every_table, partition, schema_version

ATTEMPTS = 3  # of a file whose worker died


# ---- a worker -----------------------------------------------------------------------------------
def _part(item: Item) -> str:
    from .extract import key
    return '%016x.parquet' % (key(item.path) % 2**64)


def write_file(folder: str, item: Item, names: List[str], memory_limit: int) -> Optional[Tuple[str, str]]:
    """Writes the tables of a file below a folder; why it cannot be read, or None."""
    import pyarrow.parquet as pq  # type: ignore[import-untyped, import-not-found, unused-ignore]

    from . import extract
    found, why = extract.tables(item, None, names, memory_limit)
    for name, table in found.items():
        if not len(table):
            continue
        to = os.path.join(folder, name, partition('host', item.host))
        os.makedirs(to, exist_ok=True)
        path = os.path.join(to, _part(item))
        pq.write_table(table, path + '.part')
        os.replace(path + '.part', path)
    return why


def _serve(pipe: Any, folder: str, names: List[str], memory_limit: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            item = pipe.recv()
        except EOFError:
            return
        pipe.send(write_file(folder, item, names, memory_limit))


class _Worker:
    def __init__(self, context: Any, *args: Any) -> None:
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs,) + args, daemon=True)
        self.process.start()
        theirs.close()
        self.item: Optional[Item] = None

    def give(self, item: Item) -> None:
        self.item = item
        self.pipe.send(item)

    def end(self) -> None:
        self.pipe.close()
        self.process.join()


# ---- a run --------------------------------------------------------------------------------------
class _Pool:
    """The workers, and the files that they have still to do."""

    def __init__(self, items: List[Item], processes: int, args: Tuple[Any, ...]) -> None:
        self._context = multiprocessing.get_context('spawn')
        self._args = args
        self._left = list(reversed(items))
        self._deaths: Dict[Item, int] = {}
        self._busy: Dict[Any, _Worker] = {}
        self.done = 0
        self.failed: List[Tuple[Item, Tuple[str, str]]] = []
        for _ in range(min(processes, len(items))):
            self._next(self._start())

    def _start(self) -> _Worker:
        return _Worker(self._context, *self._args)

    def _next(self, w: _Worker) -> None:
        """Gives a worker its next file, or ends it."""
        if not self._left:
            w.end()
            return
        self._busy[w.pipe] = w
        try:
            w.give(self._left.pop())
        except OSError:
            pass  # it has died; its pipe says so

    def _finish(self, item: Item, why: Optional[Tuple[str, str]]) -> None:
        self.done += 1
        if why:
            self.failed.append((item, why))

    def _died(self, w: _Worker, item: Item) -> None:
        """Tries the file again, but not for ever."""
        w.pipe.close()
        w.process.join()
        self._deaths[item] = self._deaths.get(item, 0) + 1
        if self._deaths[item] < ATTEMPTS:
            self._left.append(item)
        else:
            self._finish(item, ('WORKER_DIED', 'its worker process ended %d times, at last with status %s'
                                % (ATTEMPTS, w.process.exitcode)))

    def run(self, tell: Callable[[int], None]) -> None:
        while self._busy:
            for pipe in multiprocessing.connection.wait(list(self._busy)):
                w = self._busy.pop(pipe)
                item = w.item
                assert item is not None
                try:
                    why = w.pipe.recv()
                except (EOFError, OSError):
                    self._died(w, item)
                    w = self._start() if self._left else w
                else:
                    self._finish(item, why)
                tell(self.done)
                if w.process.is_alive():
                    self._next(w)

    def close(self) -> None:
        for w in self._busy.values():
            w.process.terminate()
            w.end()
        self._busy = {}


def _write_errors(folder: str, failed: List[Tuple[Item, Tuple[str, str]]]) -> None:
    import pyarrow.parquet as pq  # type: ignore[import-untyped, import-not-found, unused-ignore]

    from . import extract
    hosts: Dict[str, List[Tuple[Item, Tuple[str, str]]]] = {}
    for x in sorted(failed):
        hosts.setdefault(x[0].host, []).append(x)
    for host, rows in hosts.items():
        to = os.path.join(folder, ERRORS, partition('host', host))
        os.makedirs(to, exist_ok=True)
        pq.write_table(extract.failures(rows), os.path.join(to, 'errors.parquet'))


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
          memory_limit: int = 0, again: bool = False, say: Callable[[str], None] = lambda line: None) -> Dict[str, int]:
    """Writes the tables of all runs that are not complete yet; {run: files that could not be read}. memory_limit:
    bytes that a profile may take while it is read. again: complete runs too."""
    names = check_tables(tables)
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
            pool = _Pool(files, processes or os.cpu_count() or 1, (folder, names, memory_limit))
            try:
                pool.run(lambda n: say('%s: %d of %d' % (run, n, len(files))) if n % 1000 == 0 else None)
            finally:
                pool.close()
            _write_errors(folder, pool.failed)
            _commit(out, folder, run, note(run, files, len(pool.failed)))
            say('%s: %d files, %d errors' % (run, len(files), len(pool.failed)))
            result[run] = len(pool.failed)
        shutil.rmtree(os.path.join(out, '_tmp'), ignore_errors=True)
        return result
