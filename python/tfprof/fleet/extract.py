# SPDX-License-Identifier: Apache-2.0
"""Converts one file to tables. Both engines use this module."""
import array
import functools
import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List, Optional, Tuple

import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]

from .. import errors
from ..parquet import load
from .plan import ERROR_COLUMNS, Failure, Failures, Item


def tables(item: Item, data: Optional[bytes], names: List[str], memory_limit: int = 0) -> Tuple[Dict[str, Any], Optional[Failure]]:
    """Returns ({table: pyarrow.Table}, None), or ({}, error) if the file cannot be read. data: the contents of the
    file, or None to open it. The last column is host; run is the partition, not a column."""
    return _runner().submit(_tables, item, data, names, memory_limit).result()


@functools.lru_cache(maxsize=None)
def _runner() -> ThreadPoolExecutor:
    """Returns the thread that reads all files. Otherwise, each library call from the main thread would start a
    thread."""
    return ThreadPoolExecutor(1)


def _tables(item: Item, data: Optional[bytes], names: List[str], memory_limit: int) -> Tuple[Dict[str, Any], Optional[Failure]]:
    try:
        with load(item.path, data, threads=1, memory_limit=memory_limit) as profile:
            found = {}
            for name in names:
                rows = profile.table(name, run=item.run, worker=item.worker).to_pyarrow().read_all().drop_columns(['run'])
                found[name] = rows.append_column('host', _repeat(item.host, len(rows)))
            return found, None
    except errors.Error as e:
        return {}, (getattr(e, 'code', None) or type(e).__name__, str(e))
    except (MemoryError, OSError, pa.ArrowException) as e:
        return {}, (type(e).__name__, str(e))


def _texts(values: List[str]) -> Any:
    """Returns a string column; invalid UTF-8 is escaped. pa.array() would import pandas, which takes longer than
    reading 20 files."""
    raw = [v.encode('utf-8', 'backslashreplace') for v in values]
    ends = array.array('i', itertools.accumulate(map(len, raw), initial=0))
    return pa.StringArray.from_buffers(len(raw), pa.py_buffer(ends), pa.py_buffer(b''.join(raw)))


def _repeat(text: str, rows: int) -> Any:
    """Returns a column that repeats one string."""
    zeros = pa.Array.from_buffers(pa.int32(), rows, [None, pa.py_buffer(bytes(4 * rows))])
    return pa.DictionaryArray.from_arrays(zeros, _texts([text]))


class Batch:
    """Buffers the tables of several files of a run, so that they are written together, because many small Parquet
    files are slow."""

    def __init__(self) -> None:
        self._rows: Dict[str, List[Any]] = {}
        self.bytes = 0

    def add(self, found: Dict[str, Any]) -> None:
        for name, rows in found.items():
            if len(rows):
                self._rows.setdefault(name, []).append(rows)
                self.bytes += rows.nbytes

    def take(self) -> Dict[str, Any]:
        """Returns {table: rows} and empties the batch. Dictionary columns become plain strings, because each file has
        its own dictionaries."""
        taken, self._rows, self.bytes = self._rows, {}, 0
        return {name: _plain_texts(pa.concat_tables(rows)) for name, rows in taken.items()}


def _plain_texts(rows: Any) -> Any:
    kinds = [(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in rows.schema]
    return rows.cast(pa.schema(kinds, rows.schema.metadata))


def failures(rows: Failures) -> Any:
    """Returns the rows of the table `errors`."""
    values = [[x.worker, x.path, why[0], why[1], x.host] for x, why in rows]
    return pa.table([_texts([str(v[i]) for v in values]) for i in range(len(ERROR_COLUMNS))], names=ERROR_COLUMNS)
