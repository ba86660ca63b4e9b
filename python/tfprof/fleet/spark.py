# SPDX-License-Identifier: Apache-2.0
"""Runs the tasks of a build on Spark, and the recipes in Spark SQL. A Spark task is a task of the process pool: it opens
local files directly and remote ones through fsspec, and writes Parquet files that are used once the driver commits them.
Spark retries a failed task; the files of the failed attempt are not committed."""
import os
import sys
from typing import Any, Callable, Iterator, List, Sequence, Tuple

from ..sources import is_url
from .rows import ERRORS, FILES, columns_of, stored_tables
from .store import Store, new_part, paths
from .tasks import Job, Result, Task

GROUP = 16  # tasks per core that run between two commits


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


def _runner(job: Job) -> Callable[[Iterator[Tuple[int, Task]]], Iterator[Tuple[int, Result]]]:
    """Returns the function of a Spark task. Each attempt writes files of its own."""
    def run(tasks: Iterator[Tuple[int, Task]]) -> Iterator[Tuple[int, Result]]:
        from .extract import run_task
        for i, task in tasks:
            yield i, run_task(task._replace(part=new_part('s')), job)
    return run


class Spark:
    """Runs tasks on a Spark session."""

    def __init__(self, spark: Any) -> None:
        self._context = spark.sparkContext

    def parallel(self) -> int:
        return int(self._context.defaultParallelism)

    def run(self, tasks: List[Task], job: Job, finish: Callable[[Task, Result], List[Task]]) -> None:
        left = list(tasks)
        while left:
            group, left = left[:GROUP * self.parallel()], left[GROUP * self.parallel():]
            rdd = self._context.parallelize(list(enumerate(group)), len(group))
            for i, result in rdd.mapPartitions(_runner(job)).collect():
                left += finish(group[i], result)


# ---- recipes ------------------------------------------------------------------------------------
TYPES = {'text': 'string', 'int64': 'bigint', 'float64': 'double'}


def make_views(spark: Any, out: str) -> None:
    """Creates the temporary views that the recipes query."""
    from .recipes import empty_table, ERRORS_VIEW
    spark.conf.set('spark.sql.sources.partitionColumnTypeInference.enabled', 'false')
    store = Store(out)
    state = store.state()
    for name in stored_tables():
        found = paths(store, state, name)
        if found:
            columns = ', '.join('%s %s' % (c, TYPES[kind]) for c, kind in columns_of(name))
            base = ('' if store.remote else 'file://') + store.path(name)
            spark.read.schema(columns).option('basePath', base).parquet(*map(_escape, found)).createOrReplaceTempView(name)
        else:
            spark.sql(empty_table(name, TYPES)).createOrReplaceTempView(name)
    spark.sql(ERRORS_VIEW % FILES).createOrReplaceTempView(ERRORS)


class Queries:
    """Runs queries in Spark SQL."""
    spark = True

    def __init__(self, spark: Any, out: str) -> None:
        self._spark = spark
        make_views(spark, out)

    def query(self, sql: str) -> Any:
        from .recipes import Answer
        frame = self._spark.sql(sql)
        return Answer(list(frame.columns), [tuple(r) for r in frame.collect()])

    def make_table(self, name: str, columns: Sequence[Tuple[str, str]], rows: Sequence[Tuple[Any, ...]]) -> None:
        schema = ', '.join('%s %s' % (c, TYPES[kind]) for c, kind in columns)
        self._spark.createDataFrame([tuple(r) for r in rows], schema).createOrReplaceTempView(name)


def _escape(path: str) -> str:
    """Escapes the glob characters of a path, and adds the scheme of local files."""
    escaped = ''.join('\\' + c if c in '{}[]*?\\' else c for c in path)
    return escaped if is_url(path) else 'file://' + escaped
