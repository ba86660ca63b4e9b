# SPDX-License-Identifier: Apache-2.0
"""The output of a build: Parquet files, and a log that lists them.

    OUT/TABLE/run=RUN/PART.parquet   rows of a table
    OUT/_log/00000012.json           a commit: the Parquet files that it adds and removes

A commit is one file, which is written at once, so readers of the log see whole commits only. Parquet files that no
commit lists were left by a build that was killed; the next build removes them. The output is a local folder or, through
fsspec, any object store; a commit to an object store fails if another build has committed since."""
import contextlib
import fcntl
import io
import json
import os
import time
import uuid
from typing import Any, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple

from ..sources import is_url
from .inputs import changed_at, file_system, retry
from .plan import partition

LOG = '_log'
SNAPSHOT = 16  # commits after which the whole list is written again
ORPHAN_AGE = 24 * 3600  # seconds until a file of an unfinished build is removed from an object store


class DataFile(NamedTuple):
    """A Parquet file. name: its path below OUT."""
    name: str
    table: str
    run: str
    part: str
    rows: int
    bytes: int


class State:
    """The files that the commits up to a version list."""

    def __init__(self) -> None:
        self.version = 0
        self.files: Dict[str, DataFile] = {}
        self._by_run: Dict[str, Dict[str, DataFile]] = {}
        self.since = 0  # commits since the last whole list

    def of(self, table: str) -> List[DataFile]:
        return [f for f in self.files.values() if f.table == table]

    def of_run(self, run: str) -> List[DataFile]:
        return list(self._by_run.get(run, {}).values())

    def apply(self, commit: Dict[str, Any]) -> None:
        if commit.get('whole'):
            self.files, self._by_run, self.since = {}, {}, 0
        else:
            self.since += 1
        for name in commit['remove']:
            f = self.files.pop(name, None)
            if f is not None:
                del self._by_run[f.run][name]
        for f in (DataFile(*fields) for fields in commit['add']):
            self.files[f.name] = f
            self._by_run.setdefault(f.run, {})[f.name] = f


class _Local:
    """Files below a local folder."""

    def __init__(self, out: str) -> None:
        self.base = os.path.abspath(out)

    def path(self, name: str) -> str:
        return os.path.join(self.base, name)

    def read(self, name: str) -> bytes:
        with open(self.path(name), 'rb') as f:
            return f.read()

    def write(self, name: str, data: bytes, new: bool = False) -> None:
        """Writes a file under a temporary name, then renames it. new: raises FileExistsError if the file exists."""
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        part = '%s.%s.tmp' % (self.path(name), uuid.uuid4().hex[:8])
        with open(part, 'wb') as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        try:
            if new:
                os.link(part, self.path(name))
                os.remove(part)
            else:
                os.replace(part, self.path(name))
        except FileExistsError:
            os.remove(part)
            raise

    def list(self, folder: str) -> Dict[str, Tuple[int, float]]:
        """Returns {name: (bytes, seconds since the last change)} of all files below a folder."""
        found, now = {}, time.time()
        for base, _, names in os.walk(self.path(folder)):
            for n in names:
                s = os.stat(os.path.join(base, n))
                found[os.path.relpath(os.path.join(base, n), self.base)] = s.st_size, now - s.st_mtime
        return found

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.path(name))
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(self.path(name)))

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        os.makedirs(self.base, exist_ok=True)
        with open(self.path('_lock'), 'w', encoding='utf-8') as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RuntimeError('%s: another build writes into this folder' % self.base) from None
            yield


class _Remote:
    """Files below a URL."""

    def __init__(self, out: str) -> None:
        self.base = out.rstrip('/')
        self.fs, root = file_system(self.base)
        self.root = root.rstrip('/')

    def path(self, name: str) -> str:
        return '%s/%s' % (self.base, name)

    def read(self, name: str) -> bytes:
        def whole() -> bytes:
            try:
                data: bytes = self.fs.cat_file('%s/%s' % (self.root, name))
            except FileNotFoundError as e:  # although the log lists it
                raise OSError('missing') from e
            return data
        return retry(self.path(name), whole)

    def write(self, name: str, data: bytes, new: bool = False) -> None:
        """Writes an object. new: raises FileExistsError if the object exists with other contents."""
        to = '%s/%s' % (self.root, name)

        def create() -> None:
            try:
                self.fs.pipe_file(to, data, mode='create')
            except Exception:
                # An attempt whose answer was lost may have arrived, and stores report an existing object in many ways.
                if not self.fs.exists(to):
                    raise
                if self.fs.cat_file(to) != data:
                    raise FileExistsError('%s: exists' % self.path(name)) from None
        retry(self.path(name), create if new else lambda: self.fs.pipe_file(to, data))

    def list(self, folder: str) -> Dict[str, Tuple[int, float]]:
        def found() -> Dict[str, Any]:
            self.fs.invalidate_cache()
            return dict(self.fs.find('%s/%s' % (self.root, folder), detail=True))
        now = time.time()
        rows = retry(self.path(folder), found)
        return {n[len(self.root) + 1:]: (int(i.get('size') or 0), now - (changed_at(i) or now)) for n, i in rows.items()}

    def remove(self, name: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            retry(self.path(name), lambda: self.fs.rm_file('%s/%s' % (self.root, name)))

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        yield  # only one of two simultaneous commits succeeds


class Store:
    """The output folder of a build, local or remote."""

    def __init__(self, out: str) -> None:
        self.out = out
        self.remote = is_url(out)
        self._at: Any = _Remote(out) if self.remote else _Local(out)
        self._garbage: List[str] = []  # files that a commit has removed from the list
        self.path = self._at.path
        self.lock = self._at.lock

    # ---- tables
    def write(self, table: str, run: str, part: str, rows: Any) -> DataFile:
        """Writes the rows of a part. The file is used once a commit lists it."""
        import pyarrow.parquet as pq  # type: ignore[import-untyped, import-not-found, unused-ignore]
        to = io.BytesIO()
        pq.write_table(rows, to)
        data = to.getvalue()
        name = '/'.join((table, partition('run', run), part + '.parquet'))
        self._at.write(name, data)
        return DataFile(name, table, run, part, len(rows), len(data))

    def read(self, name: str) -> Any:
        """Returns the rows of a Parquet file of the output."""
        import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]
        import pyarrow.parquet as pq
        # Threads of pyarrow may abort the process when it ends early.
        return pq.ParquetFile(pa.BufferReader(self._at.read(name)), pre_buffer=False).read(use_threads=False)

    def sizes(self, folder: str) -> Dict[str, Tuple[int, float]]:
        """Returns {name: (bytes, age in seconds)} of the files below a folder of the output."""
        found: Dict[str, Tuple[int, float]] = self._at.list(folder)
        return found

    # ---- the log
    def state(self) -> State:
        """Returns the files that the log lists."""
        state = State()
        versions = sorted(int(os.path.basename(n)[:-5]) for n in self.sizes(LOG) if n.endswith('.json'))
        commits = []
        for version in reversed(versions):
            commits.append(json.loads(self._at.read('%s/%08d.json' % (LOG, version))))
            if commits[-1].get('whole'):
                break
        for commit in reversed(commits):
            state.apply(commit)
        state.version = versions[-1] if versions else 0
        return state

    def commit(self, state: State, add: Iterable[DataFile], remove: Iterable[str]) -> None:
        """Adds and removes files at once, and updates the state."""
        self._write(state, {'id': uuid.uuid4().hex, 'time': int(time.time()), 'add': sorted(set(add)), 'remove': sorted(set(remove))})

    def _write(self, state: State, commit: Dict[str, Any]) -> None:
        try:
            self._at.write('%s/%08d.json' % (LOG, state.version + 1), (json.dumps(commit) + '\n').encode(), new=True)
        except FileExistsError:
            raise RuntimeError('%s: another build has committed: build again' % self.out) from None
        state.version += 1
        state.apply(commit)

    def read_bytes(self, name: str) -> bytes:
        data: bytes = self._at.read(name)
        return data

    def write_bytes(self, name: str, data: bytes) -> None:
        self._at.write(name, data)

    def tidy(self, state: State, delta: bool = False) -> None:
        """Ends the work on an output: writes the whole list after many commits, commits to the Delta and Iceberg tables if the
        output has them or is to have them, and removes files that no commit lists."""
        from . import iceberg
        if delta or self.sizes('files/_delta_log'):
            from . import delta as tables
            tables.commit(self, state)
        if iceberg.enabled(self):
            iceberg.commit(self, state)
        for name in self._garbage:
            self._at.remove(name)
        self._garbage = []
        if state.since >= SNAPSHOT:
            self._write(state, {'id': uuid.uuid4().hex, 'time': int(time.time()), 'whole': True,
                                'add': sorted(state.files.values()), 'remove': []})
            for name in self.sizes(LOG):
                if name < '%s/%08d.json' % (LOG, state.version):
                    self._at.remove(name)
        for name, (_, age) in self.orphans(state).items():
            if not self.remote or age > ORPHAN_AGE:
                self._at.remove(name)

    def remove(self, names: Iterable[str]) -> None:
        """Removes files that a commit has removed from the list, at the end of the work."""
        self._garbage += names

    def orphans(self, state: State) -> Dict[str, Tuple[int, float]]:
        """Returns the files of tables that no commit lists."""
        from .rows import stored_tables
        return {name: size for table in stored_tables() for name, size in self.sizes(table).items()
                if name not in state.files and '/_delta_log/' not in name}


def new_part(prefix: str = '') -> str:
    """Returns an unused name for a part."""
    return prefix + uuid.uuid4().hex[:12]


def paths(store: Store, state: State, table: str, wanted: Optional[Iterable[str]] = None) -> List[str]:
    """Returns the paths or URLs of the Parquet files of a table."""
    runs = None if wanted is None else set(wanted)
    return [store.path(f.name) for f in sorted(state.of(table)) if runs is None or f.run in runs]
