# SPDX-License-Identifier: Apache-2.0
"""Files as tables: what every task of a fleet does."""
import functools
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List, Optional, Tuple

import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]

from .. import errors
from ..parquet import load
from .plan import ERROR_COLUMNS, Item

Failure = Tuple[str, str]  # a code and a sentence


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
                found[name] = rows.append_column('host', pa.repeat(_plain(item.host), len(rows)))
            return found, None
    except errors.Error as e:
        return {}, (getattr(e, 'code', None) or type(e).__name__, str(e))
    except (MemoryError, OSError, pa.ArrowException) as e:
        return {}, (type(e).__name__, str(e))


def _plain(text: str) -> str:
    """A text that is valid UTF-8."""
    return text.encode('utf-8', 'backslashreplace').decode()


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


def failures(rows: List[Tuple[Item, Failure]]) -> Any:
    """Rows of the table of errors."""
    values = [[x.worker, x.path, why[0], why[1], x.host] for x, why in rows]
    text = [[_plain(str(v[i])) for v in values] for i in range(len(ERROR_COLUMNS))]
    return pa.table([pa.array(c, pa.string()) for c in text], names=ERROR_COLUMNS)
