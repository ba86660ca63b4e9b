# SPDX-License-Identifier: Apache-2.0
"""Files as tables: what every task of a fleet does."""
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
    """({table: pyarrow.Table}, None) of a file, or ({}, why it cannot be read). data: its bytes, where somebody has
    read them. run is not a column: it is the partition. host is one, the last."""
    return _runner().submit(_tables, item, data, names, memory_limit).result()


@functools.lru_cache(maxsize=None)
def _runner() -> ThreadPoolExecutor:
    """A thread for all files: on the main thread each call of the library would start one of its own."""
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
    """Texts as a column, valid UTF-8. pyarrow's own way would import pandas, which takes longer than 20 files."""
    raw = [v.encode('utf-8', 'backslashreplace') for v in values]
    ends = array.array('i', itertools.accumulate(map(len, raw), initial=0))
    return pa.StringArray.from_buffers(len(raw), pa.py_buffer(ends), pa.py_buffer(b''.join(raw)))


def _repeat(text: str, rows: int) -> Any:
    """A text as a column."""
    zeros = pa.Array.from_buffers(pa.int32(), rows, [None, pa.py_buffer(bytes(4 * rows))])
    return pa.DictionaryArray.from_arrays(zeros, _texts([text]))


class Batch:
    """The tables of several files of a run, until they are written together: files of a few rows would cost more than
    their rows."""

    def __init__(self) -> None:
        self._rows: Dict[str, List[Any]] = {}
        self.bytes = 0

    def add(self, found: Dict[str, Any]) -> None:
        for name, rows in found.items():
            if len(rows):
                self._rows.setdefault(name, []).append(rows)
                self.bytes += rows.nbytes

    def take(self) -> Dict[str, Any]:
        """{table: its rows}, which the batch then no longer has. Texts are plain: each file has dictionaries of its own."""
        taken, self._rows, self.bytes = self._rows, {}, 0
        return {name: _plain_texts(pa.concat_tables(rows)) for name, rows in taken.items()}


def _plain_texts(rows: Any) -> Any:
    kinds = [(f.name, pa.string() if pa.types.is_dictionary(f.type) else f.type) for f in rows.schema]
    return rows.cast(pa.schema(kinds, rows.schema.metadata))


def failures(rows: Failures) -> Any:
    """Rows of the table of errors."""
    values = [[x.worker, x.path, why[0], why[1], x.host] for x, why in rows]
    return pa.table([_texts([str(v[i]) for v in values]) for i in range(len(ERROR_COLUMNS))], names=ERROR_COLUMNS)
