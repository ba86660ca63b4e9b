# SPDX-License-Identifier: Apache-2.0
"""Converts thousands of profiles to Parquet tables, on a process pool or on Spark, and queries them in SQL.

    python -m tfprof.fleet build OUT 'runs/*/*.pb'
    python -m tfprof.fleet build s3://bucket/tables 's3://bucket/runs/*/*' --engine spark
    python -m tfprof.fleet ask OUT slowest_workers

OUT/TABLE/run=RUN/*.parquet contain the tables of docs/TABLES.md. The table files has a row for each input file: its
state, its format and what was lost. OUT/_log lists the Parquet files of all commits; a build reads only new and changed
files."""
from typing import Any, Iterable, List, Optional, Union

from ..sources import is_url
from . import inputs, update
from .plan import Item, plan
from .recipes import Recipe, all_recipes, run_recipe
from .update import Given, Say, Summary

__all__ = ['Item', 'Recipe', 'Summary', 'all_recipes', 'build', 'plan', 'run_recipe']


def build(files: Iterable[Union[str, Item]], out: str, *, processes: int = 0, tables: Optional[Iterable[str]] = None,
          memory_limit: int = 0, again: bool = False, recover: bool = False, per_task: int = 0,
          say: Say = lambda line: None, engine: Any = None) -> Summary:
    """Brings the tables of an output folder up to date. files: paths, patterns, folders and URLs, or Items, whose runs and
    hosts are then used as they are. processes: worker processes; 0: one per CPU. memory_limit: maximum bytes for one
    profile. again: read unchanged files as well. recover: read the intact part of damaged files. per_task: files per
    task; 0: chosen. engine: an Engine, such as spark.Spark(session); default: a process pool."""
    from .local import Here, Pool
    listed: List[Any] = list(files)
    if listed and isinstance(listed[0], Item):
        given = Given(listed, [], {x.path: inputs.remote_stat(x.path) for x in listed if is_url(x.path)}, True)
    else:
        paths, states = inputs.expand(listed)
        given = Given(plan(paths), [inputs.absolute(p) for p in listed], states)
    memory = any(p.startswith('memory://') for p in [out, *given.remote])
    return update.build(given, out, engine or (Here() if memory else Pool(processes)), tables=tables, memory_limit=memory_limit,
                        again=again, recover=recover, per_task=per_task, say=say)
