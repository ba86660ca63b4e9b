# SPDX-License-Identifier: Apache-2.0
"""Reads the files of a worker, and writes the tables of a batch of workers. Both engines use this module."""
import array
import functools
import itertools
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]

from .. import errors
from ..profile import Profile
from ..sources import is_url
from .inputs import Copies, Stat, local_stat, special
from .plan import LARGEST, Item, is_capture
from .rows import CAUSE_COLUMNS, CAUSES, FileRow, judge, key
from .store import Store
from .tasks import Job, Result, Task

# Columns of the table `runs` that the table `files` repeats.
COUNTS = ['steps', 'nodes', 'devices', 'slices']


@functools.lru_cache(maxsize=None)
def _runner() -> ThreadPoolExecutor:
    """Returns the thread that reads all files. Otherwise, each library call from the main thread would start a
    thread."""
    return ThreadPoolExecutor(1)


# ---- one worker ---------------------------------------------------------------------------------
class _Read(NamedTuple):
    tables: Dict[str, Any]
    notes: str
    error: Optional[Tuple[str, str]]


def _load(paths: List[str], item: Item, job: Job) -> _Read:
    try:
        with Profile(paths[0] if len(paths) == 1 else paths, threads=1, memory_limit=job.memory_limit, recover=job.recover) as profile:
            notes, found = profile.notes, {}
            for name in dict.fromkeys(['runs', *job.names]):
                if name == CAUSES:
                    rows = _causes(profile, item.worker)
                else:
                    rows = profile.table(name, run=item.run, worker=item.worker).to_pyarrow().read_all().drop_columns(['run'])
                found[name] = rows.append_column('host', _repeat(item.host, len(rows)))
            return _Read(found, notes, None)
    except errors.Error as e:
        return _Read({}, '', (getattr(e, 'code', None) or type(e).__name__, str(e)))
    except (MemoryError, OSError, pa.ArrowException) as e:
        return _Read({}, '', (type(e).__name__, str(e)))


def _causes(profile: Profile, worker: str) -> Any:
    """Returns the rows of the table causes; none for a profile that is not a trace. A trace without causes has one row."""
    try:
        answer = profile.why(top=1)
    except errors.Error:
        answer = None
    rows: List[Tuple[Any, ...]] = []
    if answer is not None:
        causes = [(c['id'], c['cost_ns'], c['saved_ns']) for c in answer['causes']] or [(answer['cause'], 0, 0)]
        rows = [(worker, i, name, answer['step_ns'], cost, saved, answer['verdict']) for i, (name, cost, saved) in enumerate(causes, 1)]
    columns = list(zip(*rows)) or [()] * len(CAUSE_COLUMNS)
    return pa.table({name: _texts([key(v) for v in values]) if kind == 'text' else _numbers(values)
                     for (name, kind), values in zip(CAUSE_COLUMNS, columns)})


def _states(worker: Tuple[Item, ...], task: Task) -> Tuple[List[Stat], Optional[Tuple[str, str]]]:
    """Returns the states of the files before they are read, or an error about one of them."""
    found = []
    for item in worker:
        state = Stat(0, 0, '')
        try:
            if not is_url(item.path):
                state = local_stat(item.path)
                kind = special(os.stat(item.path).st_mode)
                if kind:
                    return [state] * len(worker), ('INVALID_ARGUMENT', "'%s' is %s: expected a regular file" % (item.path, kind))
            else:
                state = task.states[item.path]
        except FileNotFoundError:
            return [state] * len(worker), ('NOT_FOUND', '%s: no such file' % item.path)
        except (OSError, ValueError) as e:
            return [state] * len(worker), ('IO', '%s: %s' % (item.path, e))
        found.append(state)
    return found, None


def _read(worker: Tuple[Item, ...], task: Task, job: Job, copies: Copies) -> Tuple[_Read, List[Stat]]:
    states, error = _states(worker, task)
    if error:
        return _Read({}, '', error), states
    if not states[0].bytes:
        return _Read({}, '', ('DATA_LOSS', "'%s' is empty" % worker[0].path)), states
    urls: Dict[str, str] = {}
    try:
        paths, urls = copies.of([x.path for x in worker], task.states)
        main = [p for p, x in zip(paths, worker) if not is_capture(x.path)] or paths
        read = _runner().submit(_load, main, worker[0], job).result()
    except FileNotFoundError as e:
        read = _Read({}, '', ('NOT_FOUND', str(e)))
    except OSError as e:
        read = _Read({}, '', ('IO', str(e)))
    finally:
        if urls:
            copies.clear()
    for copy, url in urls.items():  # messages contain the URL, not the path of the copy
        error = read.error and (read.error[0], read.error[1].replace(copy, url))
        read = read._replace(notes=read.notes.replace(copy, url), error=error)
    return read, states


def _rows(worker: Tuple[Item, ...], read: _Read, states: List[Stat], part: str, job: Job) -> List[FileRow]:
    """Returns the rows of the table `files` for the files of a worker."""
    status, losses = ('refused', None) if read.error else judge(read.notes)
    code, message = read.error or (None, None)
    runs = read.tables['runs'].to_pylist()[0] if read.tables else {}
    found = []
    for i, (x, s) in enumerate(zip(worker, states)):
        if i and is_capture(x.path):
            continue  # the build adds the rows of captures
        steps, nodes, devices, slices = [runs.get(c) if i == 0 else None for c in COUNTS]
        found.append(FileRow(key(x.path), x.run, x.host, worker[0].worker, s.bytes, s.modified_ns, s.etag, runs.get('format'),
                             runs.get('writer'), status, code, message, read.notes.strip() or None, losses, steps, nodes, devices,
                             slices, '' if read.error else part, job.built, runs.get('pid'), runs.get('process_rank')))
    return found


# ---- a batch ------------------------------------------------------------------------------------
def run_task(task: Task, job: Job) -> Result:
    """Reads the workers of a batch, and writes their tables."""
    store, batch, parts = Store(job.out), Batch(), 0
    result = Result([], [])
    with tempfile.TemporaryDirectory(prefix='tfprof-fleet-') as folder:
        copies = Copies(folder)
        for worker in task.workers:
            part = '%s-%d' % (task.part, parts)
            read, states = _read(worker, task, job, copies)
            result.rows.extend(_rows(worker, read, states, part, job))
            batch.add({n: t for n, t in read.tables.items() if n in job.names})
            if batch.bytes > LARGEST or worker is task.workers[-1]:
                result.written.extend(store.write(name, task.run, part, rows) for name, rows in batch.take().items())
                parts += 1
    return result


def _texts(values: List[str]) -> Any:
    """Returns a string column; invalid UTF-8 is escaped. pa.array() would import pandas, which takes longer than
    reading 20 files."""
    raw = [v.encode('utf-8', 'backslashreplace') for v in values]
    ends = array.array('i', itertools.accumulate(map(len, raw), initial=0))
    return pa.StringArray.from_buffers(len(raw), pa.py_buffer(ends), pa.py_buffer(b''.join(raw)))


def _numbers(values: Sequence[int]) -> Any:
    """Returns a column of integers."""
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(array.array('q', values))])


def _repeat(text: str, rows: int) -> Any:
    """Returns a column that repeats one string."""
    zeros = pa.Array.from_buffers(pa.int32(), rows, [None, pa.py_buffer(bytes(4 * rows))])
    return pa.DictionaryArray.from_arrays(zeros, _texts([text]))


class Batch:
    """Buffers the tables of several files of a run, so that they are written together, because many small Parquet
    files are slow."""

    def __init__(self) -> None:
        self._rows: Dict[str, List[Any]] = {}
        self.bytes = 0

    def add(self, found: Dict[str, Any]) -> None:
        for name, rows in found.items():
            if len(rows):
                self._rows.setdefault(name, []).append(rows)
                self.bytes += rows.get_total_buffer_size()  # nbytes takes 40 times as long

    def take(self) -> Dict[str, Any]:
        """Returns {table: rows} and empties the batch. Dictionary columns become plain strings, because each file has
        its own dictionaries."""
        taken, self._rows, self.bytes = self._rows, {}, 0
        return {name: _plain_texts(pa.concat_tables(rows)) for name, rows in taken.items()}


def _plain_texts(rows: Any) -> Any:
    kinds = [(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in rows.schema]
    return rows.cast(pa.schema(kinds, rows.schema.metadata))
