# SPDX-License-Identifier: Apache-2.0
"""The table `files`: a row per input file, which is also the manifest of the output."""
import re
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Tuple

from .. import arrow

FILES, ERRORS, CAUSES = 'files', 'errors', 'causes'
# The verdict of each worker, from Profile.why(): a row per cause, the first one with the number 1.
CAUSE_COLUMNS = [('worker', 'text'), ('number', 'int64'), ('cause', 'text'), ('step_ns', 'int64'), ('cost_ns', 'int64'),
                 ('saved_ns', 'int64'), ('verdict', 'text')]
ERROR_COLUMNS = ['worker', 'path', 'code', 'message', 'host']
READABLE = ('complete', 'truncated', 'partial')
# Failures that may not occur again with the same file.
TEMPORARY = ('WORKER_DIED', 'IO', 'RESOURCE', 'MEMORY', 'NOT_FOUND', 'PERMISSION', 'CANCELLED', 'OSError', 'MemoryError')
_LOSS = re.compile(r'truncated|damaged|malformed|incomplete|\blost\b|left out|over the limit|impossible|skipped|has no end|'
                   r'have no end|nothing was recorded|reached its size limit|without a time|earlier than the one before|'
                   r'never stopped|repaired|\blacks?\b|dropped|at least ')
_CUT = re.compile(r'truncated|ends inside|reached its size limit')


class FileRow(NamedTuple):
    """A row of the table `files`."""
    path: str
    run: str
    host: str
    worker: str
    bytes: int
    modified_ns: int
    etag: str
    format: Optional[str]
    writer: Optional[str]
    status: str  # complete, truncated, partial, refused, expired
    code: Optional[str]
    message: Optional[str]
    notes: Optional[str]
    losses: Optional[str]
    steps: Optional[int]
    nodes: Optional[int]
    devices: Optional[int]
    slices: Optional[int]
    part: str  # part of the tables; empty without rows
    built: str  # names of the tables, and schema version
    pid: Optional[int] = None  # process that wrote a trace or an execution trace, and its rank, if the file states them
    process_rank: Optional[int] = None

    @property
    def state(self) -> Tuple[int, int, str]:
        """Identifies the contents of the file."""
        return self.bytes, self.modified_ns, self.etag


DOCS = {
    'path': 'path or URL of the file', 'run': 'name of the run', 'host': 'name of the host', 'worker': 'worker in the other tables; files that are read together have the same one',
    'bytes': 'size of the file', 'modified_ns': 'last change, since 1970', 'etag': 'version of the object in its store; empty for a local file',
    'format': 'format, recognised by the content', 'writer': 'program that wrote the file, if the file states it',
    'status': 'complete, truncated, partial (damaged or with losses), refused, or expired (removed by retention)',
    'code': 'kind of error of a refused file', 'message': 'error message of a refused file', 'notes': 'what was remarked while reading',
    'losses': 'the notes that report lost data', 'steps': 'number of steps', 'nodes': 'number of nodes', 'devices': 'number of devices',
    'slices': 'number of slices', 'part': 'name of the Parquet files that hold its rows', 'built': 'tables and schema version of these rows',
    'pid': 'id of the process that wrote the file, if the file states it', 'process_rank': 'rank of that process in a distributed job, if the file states it'}
NUMBERS = ('bytes', 'modified_ns', 'steps', 'nodes', 'devices', 'slices', 'pid', 'process_rank')


def stored_tables() -> List[str]:
    """Returns the names of all tables that a build can write."""
    return [t.table for t in arrow.schemas()] + [CAUSES, FILES]


def judge(notes: str) -> Tuple[str, Optional[str]]:
    """Returns the status of a file that was read with these notes, and its losses."""
    losses = [line[6:] if line.startswith('note: ') else line for line in notes.split('\n') if _LOSS.search(line)]
    if not losses:
        return 'complete', None
    return 'truncated' if any(map(_CUT.search, losses)) else 'partial', '\n'.join(losses)


def key(text: str) -> str:
    """Returns a path, name or message as it is stored: bytes that are not UTF-8 are escaped, as in the messages of tfprof (\\xff)."""
    if text.isascii():
        return text
    try:
        raw = text.encode('utf-8', 'surrogateescape')
    except UnicodeEncodeError:  # half of a pair of UTF-16, in a name of an object store
        raw = text.encode('utf-8', 'backslashreplace')
    return raw.decode('utf-8', 'backslashreplace')


def encode(rows: Iterable[FileRow]) -> Any:
    """Returns rows as a pyarrow table, without the column run, which is the partition."""
    import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]
    listed = sorted(rows, key=lambda r: r.path)
    columns = {}
    for i, name in enumerate(FileRow._fields):
        values: List[Any] = [r[i] for r in listed]
        if name in NUMBERS:
            columns[name] = pa.array(values, pa.int64())
        elif name != 'run':
            columns[name] = pa.array([None if v is None else key(v) for v in values], pa.string())
    return pa.table(columns)


def decode(table: Any, run: str) -> List[FileRow]:
    """Returns the rows of a pyarrow table."""
    columns: Dict[str, List[Any]] = {n: table.column(n).to_pylist() if n in table.column_names else [None] * len(table)
                                     for n in FileRow._fields if n != 'run'}
    columns['run'] = [run] * len(table)
    return [FileRow(*values) for values in zip(*(columns[n] for n in FileRow._fields))]


def columns_of(name: str) -> List[Tuple[str, str]]:
    """Returns (column, type) of a stored table or of the view `errors`, with its partition column."""
    if name == FILES:
        return [(c, 'int64' if c in NUMBERS else 'text') for c in FileRow._fields if c != 'run'] + [('run', 'text')]
    if name == ERRORS:
        return [(c, 'text') for c in ERROR_COLUMNS + ['run']]
    if name == CAUSES:
        return CAUSE_COLUMNS + [('host', 'text'), ('run', 'text')]
    schema = next(t for t in arrow.schemas() if t.table == name)
    return [(c.name, c.type) for c in schema.columns if c.name != 'run'] + [('host', 'text'), ('run', 'text')]
