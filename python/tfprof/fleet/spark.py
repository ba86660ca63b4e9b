# SPDX-License-Identifier: Apache-2.0
"""A fleet on Spark: files of any file system that Spark reads, tables on any that it writes.

binaryFiles gives the bytes, mapInArrow runs libtfprof in the tasks; what they make of a file is kept as Arrow on the
executors and written table by table. A task that dies is done again by Spark, and its first outcome is not used. A run is
complete when its file in OUT/_runs is there, which is written last; without it the next build writes the run again.
"""
import io
import json
import os
import sys
from typing import Any, Callable, Dict, Iterable, Iterator, List, Optional

from . import local, recipes
from .plan import ERROR_COLUMNS, ERRORS, Item, by_run, check_tables, every_table, partition

OUTCOME = 'run string, host string, name string, rows long, payload binary'


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


def _reader(items: Dict[str, Item], names: List[str], memory_limit: int) -> Callable[[Iterator[Any]], Iterator[Any]]:
    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]

        from . import extract
        for batch in batches:
            for path, data in zip(batch.column('path'), batch.column('content')):
                item = items[_plain(path.as_py())]
                found, why = extract.tables(item, data.as_py(), names, memory_limit)
                if why:
                    found = {ERRORS: extract.failures([(item, why)])}
                rows = [(item.run, item.host, name, len(t), _pack(t)) for name, t in found.items() if len(t)]
                columns = list(zip(*rows)) or [[]] * 5
                yield pa.RecordBatch.from_arrays(
                    [pa.array(columns[0], pa.string()), pa.array(columns[1], pa.string()), pa.array(columns[2], pa.string()),
                     pa.array(columns[3], pa.int64()), pa.array(columns[4], pa.binary())],
                    names=['run', 'host', 'name', 'rows', 'payload'])
    return run


def _pack(table: Any) -> bytes:
    """A table as an Arrow stream; texts are plain, since Spark takes no dictionaries."""
    import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]
    to = io.BytesIO()
    plain = table.cast(pa.schema([(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in table.schema]))
    with pa.ipc.new_stream(to, plain.schema) as stream:
        stream.write_table(plain)
    return to.getvalue()


def _unpack(batches: Iterator[Any]) -> Iterator[Any]:
    """The rows of packed tables, with run and host."""
    import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]
    for batch in batches:
        for run, host, payload in zip(batch.column('run'), batch.column('host'), batch.column('payload')):
            for rows in pa.ipc.open_stream(payload.as_buffer()):
                yield pa.RecordBatch.from_arrays(
                    rows.columns + [pa.array([v.as_py()] * rows.num_rows, pa.string()) for v in (run, host)],
                    names=rows.schema.names + ['run', 'host'])


# ---- builds -------------------------------------------------------------------------------------
def _write_tables(spark: Any, items: List[Item], out: str, names: List[str], memory_limit: int, per_task: int) -> Dict[str, int]:
    """Writes the tables of these files; {run: files that could not be read}."""
    spark.conf.set('spark.sql.execution.arrow.maxRecordsPerBatch', str(per_task))
    spark.conf.set('spark.sql.sources.partitionOverwriteMode', 'dynamic')
    known = {_plain(x.path): x for x in items}
    files = spark.read.format('binaryFile').load([_escape(x.path) for x in items]).select('path', 'content')
    outcome = files.mapInArrow(_reader(known, names, memory_limit), OUTCOME).persist(_storage(spark))
    try:
        for name in names + [ERRORS]:
            columns = ', '.join('%s %s' % (c, 'string' if kind == 'text' else 'long') for c, kind in recipes._columns(name))
            rows = outcome.filter(outcome.name == name).mapInArrow(_unpack, columns)
            rows.write.mode('overwrite').partitionBy('run', 'host').option('compression', 'snappy').parquet(out.rstrip('/') + '/' + name)
        failed = outcome.filter(outcome.name == ERRORS).groupBy('run').sum('rows').collect()
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
          again: bool = False, per_task: int = 8, say: Callable[[str], None] = lambda line: None) -> Dict[str, int]:
    """As local.build, on Spark. per_task: files that a task holds in memory at once."""
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
        if runs and files.glob('%s/%s/run=*/host=*/*.parquet' % (base, name)):
            columns = ', '.join('%s %s' % (c, 'string' if kind == 'text' else 'long') for c, kind in recipes._columns(name))
            frame = spark.read.schema(columns).parquet('%s/%s' % (base, name))
            frame.filter(frame.run.isin(runs)).createOrReplaceTempView(name)
        else:
            spark.sql(recipes._empty(name, 'string', 'bigint')).createOrReplaceTempView(name)
