# SPDX-License-Identifier: Apache-2.0
"""A fleet on Spark: files of any file system that Spark reads, tables on any that it writes.

mapInArrow runs libtfprof in the tasks. Files that executors find under their paths are read there; binaryFiles gives
the bytes of all others. The rows of a batch of files are kept as Arrow on the executors' disks and written table by
table. A task that dies is done again by Spark, and its first outcome is not used. A run is complete when its file in
OUT/_runs is there, which is written last; without it the next build writes the run again.
"""
import io
import json
import os
import sys
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional, Tuple

from . import local, recipes
from .plan import ERRORS, Item, by_run, check_tables, every_table, partition

OUTCOME = 'run string, name string, rows long, payload binary'
PER_TASK = 8  # files that a task holds in memory where binaryFiles gives their bytes


def session(master: str = '') -> Any:
    """The session of spark-submit, or one of its own."""
    try:
        from pyspark.sql import SparkSession  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise ImportError("PySpark is not installed: pip install 'tfprof[fleet]'") from None
    os.environ.setdefault('PYSPARK_PYTHON', sys.executable)
    b = SparkSession.builder.appName('tfprof.fleet')
    if master:
        b = b.master(master).config('spark.ui.enabled', 'false').config('spark.ui.showConsoleProgress', 'false')
    if master.startswith('local'):
        b = b.config('spark.sql.shuffle.partitions', '8')  # the preset of 200 tasks is for clusters
    return b.getOrCreate()


# ---- file systems -------------------------------------------------------------------------------
class _Files:
    """The file system of a path, as Hadoop has it."""

    def __init__(self, spark: Any, path: str) -> None:
        self._jvm = spark._jvm
        self._path = spark._jvm.org.apache.hadoop.fs.Path
        self._fs = self._path(path).getFileSystem(spark._jsc.hadoopConfiguration())

    def local(self) -> bool:
        """True if it is the file system of the machine itself."""
        return str(self._fs.getUri().getScheme()) == 'file'

    def glob(self, pattern: str) -> List[str]:
        found = self._fs.globStatus(self._path(pattern))
        return sorted(x.getPath().toString() for x in found or [])

    def exists(self, path: str) -> bool:
        return bool(self._fs.exists(self._path(path)))

    def remove(self, path: str) -> None:
        self._fs.delete(self._path(path), True)

    def read(self, path: str) -> bytes:
        stream = self._fs.open(self._path(path))
        try:
            return bytes(self._jvm.org.apache.commons.io.IOUtils.toByteArray(stream))
        finally:
            stream.close()

    def write(self, path: str, data: bytes) -> None:
        """Complete, or not there."""
        part = self._path(path + '.part')
        stream = self._fs.create(part, True)
        stream.write(bytearray(data))
        stream.close()
        self._fs.delete(self._path(path), False)
        if not self._fs.rename(part, self._path(path)):
            raise OSError('cannot write %s' % path)


def expand(spark: Any, paths: Iterable[str]) -> List[str]:
    """Paths, with patterns replaced by what they match."""
    found: List[str] = []
    for p in paths:
        matches = _Files(spark, p).glob(p) or [p]
        found += matches if ':' in p.split('/')[0] else [_plain(m) for m in matches]
    return found


def committed(spark: Any, out: str) -> List[str]:
    """The runs that are complete."""
    files = _Files(spark, out)
    return [str(json.loads(files.read(p).decode())['run']) for p in files.glob(out.rstrip('/') + '/_runs/*.json')]


# ---- tasks --------------------------------------------------------------------------------------
def _plain(path: str) -> str:
    """A path without the name of a local file system."""
    return '/' + path[len('file:'):].lstrip('/') if path.startswith('file:') else path


def _outcome(files: Iterable[Tuple[Item, Optional[bytes]]], names: List[str], memory_limit: int) -> Iterator[Any]:
    """The tables of these files as record batches of OUTCOME."""
    from . import extract
    held: Dict[str, Any] = {}
    for item, data in files:
        found, why = extract.tables(item, data, names, memory_limit)
        batch = held.setdefault(item.run, extract.Batch())
        batch.add({ERRORS: extract.failures([(item, why)])} if why else found)
        if batch.bytes > local.LARGEST:
            yield _rows(item.run, batch.take())
    for run, batch in held.items():
        yield _rows(run, batch.take())


def _rows(run: str, found: Dict[str, Any]) -> Any:
    import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]
    return pa.RecordBatch.from_arrays(
        [pa.array([run] * len(found), pa.string()), pa.array(list(found), pa.string()),
         pa.array([len(t) for t in found.values()], pa.int64()), pa.array([_pack(t) for t in found.values()], pa.binary())],
        names=['run', 'name', 'rows', 'payload'])


def _reader_of_paths(tasks: List[local.Task], names: List[str], memory_limit: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Reads the files of each task whose number comes in."""
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for i in batch.column('id').to_pylist():
                yield from _outcome(((x, None) for x in tasks[i].items), names, memory_limit)
    return run


def _reader_of_bytes(items: Dict[str, Item], names: List[str], memory_limit: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Reads the files whose bytes come in."""
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            files = zip(batch.column('path'), batch.column('content'))
            yield from _outcome(((items[_plain(path.as_py())], data.as_py()) for path, data in files), names, memory_limit)
    return run


def _pack(table: Any) -> bytes:
    """A table as an Arrow stream."""
    import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]
    to = io.BytesIO()
    with pa.ipc.new_stream(to, table.schema) as stream:
        stream.write_table(table)
    return to.getvalue()


def _unpack(batches: Iterator[Any]) -> Iterator[Any]:
    """The rows of packed tables, with run."""
    import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]
    for batch in batches:
        for run, payload in zip(batch.column('run'), batch.column('payload')):
            for rows in pa.ipc.open_stream(payload.as_buffer()):
                yield pa.RecordBatch.from_arrays(
                    rows.columns + [pa.array([run.as_py()] * rows.num_rows, pa.string())], names=rows.schema.names + ['run'])


# ---- builds -------------------------------------------------------------------------------------
def _read(spark: Any, items: List[Item], names: List[str], memory_limit: int, per_task: int) -> Any:
    """The tables of these files, as a frame of OUTCOME."""
    if all(x.path.startswith('/') for x in items) and _Files(spark, '/').local():
        parallel = spark.sparkContext.defaultParallelism
        tasks = [t for v in by_run(items).values() for t in local.tasks(v, parallel, per_task)]
        numbers = spark.range(0, len(tasks), 1, len(tasks))
        return numbers.mapInArrow(_reader_of_paths(tasks, names, memory_limit), OUTCOME)
    spark.conf.set('spark.sql.execution.arrow.maxRecordsPerBatch', str(per_task or PER_TASK))
    spark.conf.set('spark.sql.sources.parallelPartitionDiscovery.parallelism', '64')  # the preset is a task for each path
    files = spark.read.format('binaryFile').load([_escape(x.path) for x in items]).select('path', 'content')
    return files.mapInArrow(_reader_of_bytes({_plain(x.path): x for x in items}, names, memory_limit), OUTCOME)


def _write_tables(spark: Any, items: List[Item], out: str, names: List[str], memory_limit: int, per_task: int) -> Dict[str, int]:
    """Writes the tables of these files; {run: files that could not be read}."""
    spark.conf.set('spark.sql.sources.partitionOverwriteMode', 'dynamic')
    outcome = _read(spark, items, names, memory_limit, per_task).persist(_storage(spark))
    few = 4 * spark.sparkContext.defaultParallelism
    try:
        failed = outcome.filter(outcome.name == ERRORS).groupBy('run').sum('rows').collect()  # reads all files
        for name in names + [ERRORS]:
            columns = ', '.join('%s %s' % (c, 'string' if kind == 'text' else 'long') for c, kind in recipes._columns(name))
            rows = outcome.filter(outcome.name == name).coalesce(few).mapInArrow(_unpack, columns)
            rows.write.mode('overwrite').partitionBy('run').option('compression', 'snappy').parquet(out.rstrip('/') + '/' + name)
        return {r[0]: int(r[1]) for r in failed}
    finally:
        outcome.unpersist()


def _escape(path: str) -> str:
    """A path of which no character is a pattern."""
    return ''.join('\\' + c if c in '{}[]*?\\' else c for c in path)


def _storage(spark: Any) -> Any:
    from pyspark import StorageLevel  # type: ignore[import-untyped, import-not-found, unused-ignore]
    return StorageLevel.DISK_ONLY


def build(spark: Any, items: List[Item], out: str, *, tables: Optional[Iterable[str]] = None, memory_limit: int = 0,
          again: bool = False, per_task: int = 0, say: Callable[[str], None] = lambda line: None) -> Dict[str, int]:
    """As local.build, on Spark. per_task: files that a task writes together; it holds the bytes of so many files in
    memory where Spark reads them."""
    names = check_tables(tables)
    files, base = _Files(spark, out), out.rstrip('/')
    done = set(committed(spark, out))
    runs = {run: v for run, v in by_run(items).items() if again or run not in done}
    for run in runs:
        files.remove('%s/_runs/%s.json' % (base, partition('run', run)))
        for name in every_table():
            files.remove('%s/%s/%s' % (base, name, partition('run', run)))
    if not runs:
        say('all runs are complete')
        return {}
    failed = _write_tables(spark, [x for v in runs.values() for x in v], out, names, memory_limit, per_task)
    for run, v in runs.items():
        files.write('%s/_runs/%s.json' % (base, partition('run', run)), local.note(run, v, failed.get(run, 0)).encode())
        say('%s: %d files, %d errors' % (run, len(v), failed.get(run, 0)))
    return {run: failed.get(run, 0) for run in runs}


def make_views(spark: Any, out: str) -> None:
    """The views of recipes."""
    spark.conf.set('spark.sql.sources.partitionColumnTypeInference.enabled', 'false')
    files, base, runs = _Files(spark, out), out.rstrip('/'), committed(spark, out)
    for name in every_table():
        if runs and files.glob('%s/%s/run=*/*.parquet' % (base, name)):
            columns = ', '.join('%s %s' % (c, 'string' if kind == 'text' else 'long') for c, kind in recipes._columns(name))
            frame = spark.read.schema(columns).parquet('%s/%s' % (base, name))
            frame.filter(frame.run.isin(runs)).createOrReplaceTempView(name)
        else:
            spark.sql(recipes._empty(name, 'string', 'bigint')).createOrReplaceTempView(name)
