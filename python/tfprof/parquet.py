# SPDX-License-Identifier: Apache-2.0
"""Writes profiles as Parquet, for DuckDB, Spark, pandas and others. Needs pyarrow (pip install 'tfprof[arrow]').

    tfprof.export(['job7/rank_*.pb'], 'tables', job='job7')

writes tables/TABLE/job=JOB/rank=RANK/WORKER.parquet. Every file has its schema_version in its metadata."""
import glob
import os
import re
from typing import Any, Iterable, Iterator, List, Optional, Tuple, Union
from urllib.parse import quote

from . import arrow
from .profile import Profile
from .sources import NamedBytes, Path

RECORDING = re.compile(r'\.tfspool$')


def is_recording(path: str) -> bool:
    """True if the path is a recording: its folder, or a file in it."""
    return bool(RECORDING.search(path)) or (os.path.isdir(path) and any(map(RECORDING.search, os.listdir(path))))


def load(path: str, data: Optional[bytes] = None, **options: Any) -> Profile:
    """Opens any input, given as a path or as the contents of a file."""
    source = path if data is None else NamedBytes(path, data)
    if is_recording(path):
        return Profile(recording=source, **options)
    return Profile(profile=[path] if data is None else source, **options)


def expand(paths: Union[Path, Iterable[Path]]) -> List[str]:
    """Expands glob patterns. A pattern without matches stays as it is."""
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found: List[str] = []
    for p in given:
        found += sorted(glob.glob(os.fspath(p))) or [os.fspath(p)]
    return found


def worker_names(paths: List[str]) -> List[str]:
    """Returns the part of each path in which the paths differ; for a single path, its last part."""
    parts = [os.path.normpath(p).split(os.sep) for p in paths]
    if len(parts) < 2:
        return [p[-1] for p in parts]
    shortest = min(map(len, parts))
    first = next((i for i in range(shortest) if len({p[i] for p in parts}) > 1), shortest - 1)
    same = next((i for i in range(shortest - first) if len({p[-1 - i] for p in parts}) > 1), 0)
    return ['/'.join(p[first:len(p) - same]) or p[-1] for p in parts]


def batches(profile: Profile, table: str, run: Optional[str], worker: str) -> Tuple[Any, Iterator[Any]]:
    """Returns (schema, record batches) of a table, for pyarrow."""
    reader = profile.table(table, run=run, worker=worker).to_pyarrow()
    return reader.schema, iter(reader)


def _write(profile: Profile, table: str, job: str, worker: str, path: str) -> None:
    import pyarrow.parquet  # type: ignore[import-untyped, import-not-found, unused-ignore]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    part = '%s.%d.part' % (path, os.getpid())
    schema, rows = batches(profile, table, job, worker)
    try:
        with pyarrow.parquet.ParquetWriter(part, schema) as to:
            for batch in rows:
                to.write_batch(batch)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)


def export(paths: Union[Path, Iterable[Path]], folder: Path, *, job: str = 'job',
           tables: Optional[Iterable[str]] = None, **options: Any) -> List[str]:
    """Writes the tables of profiles, recordings and traces as Parquet, in Hive partitions below a folder:
    TABLE/job=JOB/rank=RANK/WORKER.parquet. Each path is a worker. rank is the rank in a distributed job if the file
    has one, otherwise the index of the path. tables: names of tables; default: all. options: keyword arguments for
    Profile, such as memory_limit. Returns the paths of the files. An existing file is replaced only when the new one
    is complete."""
    found = expand(paths)
    names = [t.table for t in arrow.schemas()]
    chosen = names if tables is None else list(tables)
    written: List[str] = []
    for place, (path, worker) in enumerate(zip(found, worker_names(found))):
        with load(path, **options) as profile:
            ranks = [r['process_rank'] for r in profile.table('runs').to_pyarrow().read_all().to_pylist()]
            rank = place if ranks[0] is None else ranks[0]
            for table in chosen:
                to = os.path.join(os.fspath(folder), table, 'job=' + quote(job, safe=''), 'rank=%d' % rank,
                                  quote(worker, safe='') + '.parquet')
                _write(profile, table, job, worker, to)
                written.append(to)
    return written
