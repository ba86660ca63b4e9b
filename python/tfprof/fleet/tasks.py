# SPDX-License-Identifier: Apache-2.0
"""Arguments and results of the tasks of a build."""
from typing import Dict, List, NamedTuple, Tuple

from .inputs import Stat
from .plan import Item, schema_version
from .rows import FileRow
from .store import DataFile


class Job(NamedTuple):
    """Settings that all tasks of a build share."""
    out: str
    names: List[str]
    memory_limit: int
    recover: bool

    @property
    def built(self) -> str:
        return '%s %s%s' % (schema_version(), ','.join(self.names), ' recover' if self.recover else '')


class Task(NamedTuple):
    """A batch of workers of one run. Each worker has one file, or several that are read together."""
    run: str
    part: str
    workers: List[Tuple[Item, ...]]
    states: Dict[str, Stat]  # of the remote files


class Result(NamedTuple):
    """Files that a task has read and written."""
    rows: List[FileRow]
    written: List[DataFile]
