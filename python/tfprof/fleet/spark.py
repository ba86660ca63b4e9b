# SPDX-License-Identifier: Apache-2.0
"""Builds a fleet on Spark, on any file system that Spark supports. Spark tasks call libtfprof. A task opens local
files directly; Spark reads all other files (binaryFile) and passes their bytes to the task. If OUT is local, tasks
write the tables below OUT/_tmp and the driver moves them into place; otherwise Spark writes them. Spark retries a
failed task and uses only the output of the successful attempt. A run is complete if its marker file in OUT/_runs
exists. The marker is written last; the next build rewrites every run without a marker."""
import os
import sys
from typing import Any, Callable, Dict, Iterable, Iterator, List, NamedTuple, Optional

from . import folder, recipes, spark_tasks
from .plan import BATCH, ERRORS, Failures, Item, batch_size, batches, by_run, check_tables, every_table, partition
from .spark_files import Files, committed, divide, escape, expand, find, plain
from .spark_tasks import READ, Part, text

__all__ = ['build', 'expand', 'make_views', 'session']
GROUP = 16  # batches per core that are committed together


def session(master: str = '') -> Any:
    """Returns the active Spark session (spark-submit), or starts one."""
    try:
        from pyspark.sql import SparkSession  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise ImportError("PySpark is not installed: pip install 'tfprof[fleet]'") from None
    os.environ.setdefault('PYSPARK_PYTHON', sys.executable)
    b = SparkSession.builder.appName('tfprof.fleet')
    if master:
        b = b.master(master).config('spark.ui.enabled', 'false').config('spark.ui.showConsoleProgress', 'false')
    if master.startswith('local'):
        b = b.config('spark.sql.shuffle.partitions', '8')  # the default of 200 tasks is for clusters
        b = b.config('spark.driver.defaultJavaOptions', '-XX:TieredStopAtLevel=1')  # halves the startup time
    return b.getOrCreate()


# ---- reading ------------------------------------------------------------------------------------
class _Reader(NamedTuple):
    """Reads files in Spark tasks. save: the function that a task calls with the rows."""
    spark: Any
    names: List[str]
    memory_limit: int
    per_task: int
    save: Callable[[], spark_tasks.Save]

    def local(self, items: List[Item]) -> Any:
        """Reads local files. Returns their parts as an RDD."""
        context = self.spark.sparkContext
        todo = batches(items, batch_size(len(items), context.defaultParallelism, self.per_task))
        return context.parallelize(todo, len(todo)).mapPartitions(spark_tasks.read_paths(self.names, self.memory_limit, self.save))

    def remote(self, items: Dict[str, Item]) -> Any:
        """Reads files through Spark, one file at a time. Returns their parts as a DataFrame, without the files that
        Spark failed to read."""
        self.spark.conf.set('spark.sql.execution.arrow.maxRecordsPerBatch', '1')
        self.spark.conf.set('spark.sql.sources.parallelPartitionDiscovery.parallelism', '64')  # the default is a task per path
        files = self.spark.read.format('binaryFile').option('ignoreMissingFiles', 'true').option('ignoreCorruptFiles', 'true')
        return files.load([escape(p) for p in items]).select('path', 'content').mapInArrow(
            spark_tasks.read_bytes(items, self.names, self.memory_limit, self.save), spark_tasks.COLUMNS)


def _unread(items: Iterable[Item], parts: Iterable[Part]) -> Failures:
    """Returns the files that no task has read, as failures."""
    read = {path for p in parts if p.table == READ for path in text(p.payload).split('\0')}
    return [(x, ('UNREADABLE', '%s: Spark could not read it: the logs of the executors say why' % x.path))
            for x in items if x.path not in read]


def _count_failures(runs: Iterable[str], parts: Iterable[Part], refused: Failures) -> Dict[str, int]:
    failed = dict.fromkeys(runs, 0)
    for p in parts:
        if p.table == ERRORS:
            failed[p.run] += p.rows
    for item, _ in refused:
        failed[item.run] += 1
    return failed


# ---- writing ------------------------------------------------------------------------------------
def _write_files(reader: _Reader, runs: Dict[str, List[Item]], out: str, scratch: str) -> Dict[str, int]:
    """Builds runs with tables on a local file system: tasks write them below scratch, then the driver commits each run.
    Returns {run: number of unreadable files}."""
    local, others = divide(reader.spark, (x for files in runs.values() for x in files))
    remote, refused = find(reader.spark, others)
    parts = [Part(*p) for p in reader.local(local).collect()] if local else []
    parts += [Part(*p) for p in reader.remote(remote).collect()] if remote else []
    refused += _unread(remote.values(), parts)
    failed = _count_failures(runs, parts, refused)
    for run, files in runs.items():
        written = [(p.table, text(p.payload)) for p in parts if p.run == run and p.table != READ]
        written += folder.write_errors(os.path.join(scratch, partition('run', run)), [f for f in refused if f[0].run == run])
        folder.commit(out, run, written, folder.note(run, files, failed[run]))
    return failed


def _write_rows(reader: _Reader, runs: Dict[str, List[Item]], out: str) -> Dict[str, int]:
    """Builds runs with tables on any file system: Spark writes the tables. Returns the same as _write_files."""
    spark, files = reader.spark, Files(reader.spark, out)
    for run in runs:
        files.remove('%s/_runs/%s.json' % (out, partition('run', run)))
        for name in every_table():
            files.remove('%s/%s/%s' % (out, name, partition('run', run)))
    local, others = divide(spark, (x for items in runs.values() for x in items))
    remote, refused = find(spark, others)
    parts: List[Part] = []
    if local:
        frame = spark.createDataFrame(reader.local(local), spark_tasks.COLUMNS, verifySchema=False)
        parts += _write_parts(spark, frame, out, reader.names + [ERRORS])
    if remote:
        parts += _write_parts(spark, reader.remote(remote), out, reader.names + [ERRORS])
    refused += _unread(remote.values(), parts)
    if refused:
        rows = [(x.worker, x.path, why[0], why[1], x.host, x.run) for x, why in sorted(refused)]
        _append(spark.createDataFrame(rows, _columns(ERRORS)), out, ERRORS)
    failed = _count_failures(runs, parts, refused)
    for run, items in runs.items():
        files.write('%s/_runs/%s.json' % (out, partition('run', run)), folder.note(run, items, failed[run]).encode())
    return failed


_TYPES = {'text': 'string', 'int64': 'bigint', 'float64': 'double'}


def _columns(name: str) -> str:
    return ', '.join('%s %s' % (c, _TYPES[kind]) for c, kind in recipes._columns(name))


def _write_parts(spark: Any, frame: Any, out: str, names: List[str]) -> List[Part]:
    """Writes the parts in a DataFrame to the tables. Returns only the READ and ERRORS parts."""
    from pyspark import StorageLevel  # type: ignore[import-untyped, import-not-found, unused-ignore]
    few = 4 * spark.sparkContext.defaultParallelism
    parts = frame.persist(StorageLevel.DISK_ONLY)
    try:
        known = [Part(*p) for p in parts.filter(parts.table.isin(READ, ERRORS)).collect()]  # this action reads all files
        for name in names:
            rows = parts.filter(parts.table == name).coalesce(few).mapInArrow(spark_tasks.unpack, _columns(name))
            _append(rows, out, name)
        return known
    finally:
        parts.unpersist()


def _append(rows: Any, out: str, name: str) -> None:
    rows.write.mode('append').partitionBy('run').option('compression', 'snappy').parquet('%s/%s' % (out, name))


# ---- builds -------------------------------------------------------------------------------------
def _groups(runs: Dict[str, List[Item]], most: int) -> Iterator[Dict[str, List[Item]]]:
    """Groups the runs: a group is complete when it has at least `most` files."""
    group: Dict[str, List[Item]] = {}
    for run, items in runs.items():
        group[run] = items
        if sum(map(len, group.values())) >= most:
            yield group
            group = {}
    if group:
        yield group


def build(spark: Any, items: List[Item], out: str, *, tables: Optional[Iterable[str]] = None, memory_limit: int = 0,
          again: bool = False, per_task: int = 0, say: Callable[[str], None] = lambda line: None) -> Dict[str, int]:
    """Writes the tables of all incomplete runs, like local.build, but on Spark. Reads and commits runs in groups."""
    names = check_tables(tables)
    if Files(spark, out).local():
        with folder.opened(plain(out)) as scratch:
            reader = _Reader(spark, names, memory_limit, per_task, lambda: spark_tasks.save_files(scratch))
            return _build(reader, items, [] if again else folder.committed(plain(out)), say,
                          lambda runs: _write_files(reader, runs, plain(out), scratch))
    reader, base = _Reader(spark, names, memory_limit, per_task, lambda: spark_tasks.save_rows), out.rstrip('/')
    return _build(reader, items, [] if again else committed(spark, out), say, lambda runs: _write_rows(reader, runs, base))


def _build(reader: _Reader, items: List[Item], complete: List[str], say: Callable[[str], None],
           write: Callable[[Dict[str, List[Item]]], Dict[str, int]]) -> Dict[str, int]:
    runs = folder.pending(by_run(items), complete, say)
    failed: Dict[str, int] = {}
    for group in _groups(runs, GROUP * BATCH * reader.spark.sparkContext.defaultParallelism):
        failed.update(write(group))
        for run, files in group.items():
            say('%s: %d files, %d errors' % (run, len(files), failed[run]))
    if not runs:
        say('all runs are complete')
    return failed


def make_views(spark: Any, out: str) -> None:
    """Creates the temporary views that the recipes query."""
    spark.conf.set('spark.sql.sources.partitionColumnTypeInference.enabled', 'false')
    files, base, runs = Files(spark, out), out.rstrip('/'), committed(spark, out)
    for name in every_table():
        if runs and files.glob('%s/%s/run=*/*.parquet' % (base, name)):
            frame = spark.read.schema(_columns(name)).parquet('%s/%s' % (base, name))
            frame.filter(frame.run.isin(runs)).createOrReplaceTempView(name)
        else:
            spark.sql(recipes._empty(name, _TYPES)).createOrReplaceTempView(name)
