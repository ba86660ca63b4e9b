# SPDX-License-Identifier: Apache-2.0
"""The code that runs in Spark tasks: reads input files and returns parts. A part is a Parquet file that the task has
written, or rows as an Arrow stream.
"""
import io
import os
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from . import extract, folder
from .plan import ERRORS, LARGEST, Item, partition


class Part(NamedTuple):
    """Rows of a table. payload: the path of the Parquet file, or the rows as an Arrow stream."""
    run: str
    table: str
    rows: int
    payload: bytes


Save = Callable[[str, Dict[str, Any]], Iterator[Part]]
READ = '_read'  # table name of a part whose payload lists the files read
COLUMNS = 'run string, table string, rows long, payload binary'


def parts(files: Iterable[Tuple[Item, Optional[bytes]]], names: List[str], memory_limit: int, save: Save) -> Iterator[Part]:
    """Reads files and saves their tables, whenever more than LARGEST bytes of rows are buffered and at the end."""
    held: Dict[str, extract.Batch] = {}
    read: List[str] = []
    for item, data in files:
        found, why = extract.tables(item, data, names, memory_limit)
        held.setdefault(item.run, extract.Batch()).add({ERRORS: extract.failures([(item, why)])} if why else found)
        read.append(item.path)
        if sum(x.bytes for x in held.values()) > LARGEST:
            for run, batch in held.items():
                yield from save(run, batch.take())
    for run, batch in held.items():
        yield from save(run, batch.take())
    yield Part('', READ, len(read), '\0'.join(read).encode('utf-8', 'surrogateescape'))


def text(payload: bytes) -> str:
    """Decodes a payload that holds paths."""
    return bytes(payload).decode('utf-8', 'surrogateescape')


# ---- where rows go ------------------------------------------------------------------------------
def save_files(to: str) -> Save:
    """Returns a function that writes Parquet files below a folder. Their names contain the task attempt, because Spark
    may retry a task; the driver commits only the files in the parts that it receives."""
    count = 0

    def save(run: str, found: Dict[str, Any]) -> Iterator[Part]:
        nonlocal count
        from pyspark import TaskContext  # type: ignore[import-untyped, import-not-found, unused-ignore]
        task = TaskContext.get()
        name = '%06d-%d-%d.parquet' % (task.partitionId(), task.taskAttemptId(), count)
        count += 1
        for table, path in folder.write(os.path.join(to, partition('run', run)), found, name):
            yield Part(run, table, len(found[table]), path.encode('utf-8', 'surrogateescape'))
    return save


def save_rows(run: str, found: Dict[str, Any]) -> Iterator[Part]:
    """Yields the tables as parts that hold Arrow streams."""
    import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]
    for table, rows in found.items():
        to = io.BytesIO()
        with pa.ipc.new_stream(to, rows.schema) as stream:
            stream.write_table(rows)
        yield Part(run, table, len(rows), to.getvalue())


# ---- functions of tasks -------------------------------------------------------------------------
def read_paths(names: List[str], memory_limit: int, save: Callable[[], Save]) -> Callable[[Iterator[List[Item]]], Iterator[Part]]:
    """Returns a function for mapPartitions that reads batches of local files."""
    def run(batches: Iterator[List[Item]]) -> Iterator[Part]:
        yield from parts(((x, None) for items in batches for x in items), names, memory_limit, save())
    return run


def read_bytes(items: Dict[str, Item], names: List[str], memory_limit: int,
               save: Callable[[], Save]) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Returns a function for mapInArrow that reads files from rows of (path, content). items: {path: file}."""
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        files = ((items[path.as_py()], data.as_py()) for batch in batches
                 for path, data in zip(batch.column('path'), batch.column('content')))
        for part in parts(files, names, memory_limit, save()):
            yield _record(part)
    return run


def _record(part: Part) -> Any:
    import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]
    kinds = [pa.string(), pa.string(), pa.int64(), pa.binary()]
    return pa.RecordBatch.from_arrays([pa.array([v], kind) for v, kind in zip(part, kinds)], names=list(Part._fields))


def unpack(batches: Iterator[Any]) -> Iterator[Any]:
    """Unpacks parts into rows of their table, with the column run (for mapInArrow)."""
    import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]
    for batch in batches:
        for run, payload in zip(batch.column('run'), batch.column('payload')):
            for rows in pa.ipc.open_stream(payload.as_buffer()):
                yield pa.RecordBatch.from_arrays(
                    rows.columns + [pa.array([run.as_py()] * rows.num_rows, pa.string())], names=rows.schema.names + ['run'])
