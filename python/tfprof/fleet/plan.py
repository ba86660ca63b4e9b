# SPDX-License-Identifier: Apache-2.0
"""Assigns files to runs and hosts, divides them into batches, and names the table folders."""
import array
import csv
import functools
import os
import re
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple
from urllib.parse import unquote

from .. import arrow
from .rows import CAUSES, key

# The run is the name of the last folder; the host is the file name up to its first dot.
PATTERN = r'(?P<run>[^/]+)/(?P<host>[^/.]+)[^/]*$'
# Written only on request: slices, which are as large as the profiles, and causes, which take half as long as all others.
TABLES = ['runs', 'steps', 'nodes', 'kernels', 'devices', 'memory']
LARGEST = 64 << 20  # bytes of rows that a process buffers before it writes them
BATCH, BATCH_BYTES = 128, 512 << 20  # maximum files and bytes per batch
CAPTURES = ('capture_traces', 'graph_capture_profile')  # folders of captures, beside the trace that replays them
_ESCAPED = re.compile(r'["#%\'*/:=?\\{\[\]^\x00-\x1f\x7f]')  # characters that Spark escapes in folder names


class Item(NamedTuple):
    """A file of a fleet."""
    path: str
    run: str
    host: str
    worker: str


def plan(paths: Iterable[str], pattern: str = PATTERN) -> List[Item]:
    """Assigns each file to a run and a host: the groups "run" and "host" of the pattern, searched in the path. With the
    default pattern, folders of equal names below different parents are different runs, named by as many parents as
    tell them apart: a/day1 and b/day1. The worker's name is the host; if a host has several files in a run, their
    workers are named host/0, host/1, ... in path order. Names and order are those of the stored paths, see key()."""
    found: List[Item] = []
    search = re.compile(pattern).search
    folders: Dict[str, str] = {}
    hosts: Dict[str, str] = {}  # each name is stored once
    for path in sorted(set(paths), key=key):
        seen = without_captures(key(path))
        m = search(seen)
        groups = m.groupdict() if m else {}
        name = seen.rstrip('/').rsplit('/', 1)[-1]
        run = unquote(groups.get('run') or 'run')
        if pattern == PATTERN and m:
            run = folders.setdefault(seen[:m.end('run')], run)
        host = unquote(groups.get('host') or name)
        found.append(Item(path, run, hosts.setdefault(host, host), ''))
    if pattern == PATTERN:
        _qualify(found, folders)
    return _number(found)


def is_capture(path: str) -> bool:
    """True if a file lies in a folder of captures."""
    return any('/%s/' % name in path for name in CAPTURES)


def without_captures(path: str) -> str:
    """Returns the path without the folder of captures, so that a capture has the run of its trace."""
    for name in CAPTURES:
        if '/%s/' % name in path:
            return path.replace('/%s/' % name, '/')
    return path


def _qualify(items: List[Item], folders: Dict[str, str]) -> None:
    """Renames runs whose folders have equal names. folders: {folder: name of the run}."""
    same: Dict[str, List[str]] = {}
    for folder, run in folders.items():
        same.setdefault(run, []).append(folder)
    names: Dict[str, str] = {}
    for group in same.values():
        if len(group) > 1:
            parts = {folder: unquote(folder).rstrip('/').split('/') for folder in group}
            depth = next(n for n in range(2, 1 + max(map(len, parts.values())))
                         if len({tuple(p[-n:]) for p in parts.values()}) == len(group))
            names.update({folder: '/'.join(p[-depth:]) for folder, p in parts.items()})
    if names:
        for i, x in enumerate(items):
            unique = names.get(without_captures(key(x.path)).rsplit('/', 1)[0])
            if unique is not None:
                items[i] = x._replace(run=unique)


def read_table(path: str) -> List[Item]:
    """Reads a CSV file with the columns path, run and host."""
    with open(path, newline='', encoding='utf-8') as f:
        rows = csv.DictReader(f)
        missing = {'path', 'run', 'host'} - set(rows.fieldnames or ())
        if missing:
            raise ValueError('%s: no column %s: path, run and host were expected' % (path, ', '.join(sorted(missing))))
        return name_workers([Item(r['path'], r['run'], r['host'], '') for r in rows])


def name_workers(items: Iterable[Item]) -> List[Item]:
    """Returns the items without duplicates, with the names of their workers."""
    stored = {x._replace(run=key(x.run), host=key(x.host)) for x in items}
    return _number(sorted(stored, key=lambda x: (key(x.path), x)))


def _number(items: List[Item]) -> List[Item]:
    """Names the workers of sorted items. Run by run, because the pairs of run and host of a million files take much memory."""
    places: Dict[str, 'array.array[int]'] = {}
    for i, x in enumerate(items):
        places.setdefault(x.run, array.array('L')).append(i)
    for mine in places.values():
        count: Dict[str, int] = {}
        for i in mine:
            count[items[i].host] = count.get(items[i].host, 0) + 1
        seen: Dict[str, int] = {}
        for i in mine:
            host = items[i].host
            place = seen[host] = seen.get(host, -1) + 1
            items[i] = items[i]._replace(worker=host if count[host] == 1 else '%s/%d' % (host, place))
    return items


def by_run(items: Iterable[Item]) -> Dict[str, List[Item]]:
    runs: Dict[str, List[Item]] = {}
    for x in items:
        runs.setdefault(x.run, []).append(x)
    return runs


def partition(name: str, value: str) -> str:
    """Returns the name of a Hive partition folder: run=..."""
    return '%s=%s' % (name, _ESCAPED.sub(lambda m: '%%%02X' % ord(m.group()), value) or '__HIVE_DEFAULT_PARTITION__')


def batch_size(files: int, parallel: int, per_task: int = 0) -> int:
    """Returns the number of files per batch: per_task if given, else enough batches to keep all processes busy."""
    return per_task or max(1, min(BATCH, files // (4 * parallel)))


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0  # the reader reports the error


def batches(items: Iterable[Item], most: int) -> List[List[Item]]:
    """Divides the files into batches of at most `most` files and BATCH_BYTES bytes. A larger file forms its own
    batch."""
    found: List[List[Item]] = []
    room = 0
    for x in items:
        size = _size(x.path)
        room -= size
        if not found or len(found[-1]) >= most or room < 0:
            found.append([])
            room = BATCH_BYTES - size
        found[-1].append(x)
    return found


def check_tables(names: Optional[Iterable[str]]) -> List[str]:
    """Returns the names of the tables to write; names that begin with + are added to the default ones. Raises ValueError for
    an unknown name."""
    known = [t.table for t in arrow.schemas()] + [CAUSES]
    given = list(names or ())
    chosen = [n for n in given if not n.startswith('+')] or list(TABLES)
    chosen += [n[1:] for n in given if n.startswith('+') and n[1:] not in chosen]
    for name in chosen:
        if name not in known:
            raise ValueError('unknown table %r: %s exist' % (name, ', '.join(known)))
    return chosen


@functools.lru_cache(maxsize=None)
def schema_version() -> str:
    """Returns the version of the tables. It is needed for each file, and reading the schemas takes a millisecond."""
    return arrow.schemas()[0].version
