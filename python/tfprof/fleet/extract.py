# SPDX-License-Identifier: Apache-2.0
"""One file as tables: what every task of a fleet does."""
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
    read them. run is not a column: it is the partition."""
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
                reader = profile.table(name, worker=item.worker).to_pyarrow()
                found[name] = reader.read_all().drop_columns(['run'])
                if name == 'runs':
                    found[name] = _set_run(found[name], item.run)
            return found, None
    except errors.Error as e:
        return {}, (getattr(e, 'code', None) or type(e).__name__, str(e))
    except (MemoryError, OSError, pa.ArrowException) as e:
        return {}, (type(e).__name__, str(e))


def _set_run(table: Any, run: str) -> Any:
    """The key of the run, which is not in the file."""
    at = table.schema.get_field_index('run_key')
    return table.set_column(at, table.schema.field(at), pa.array([key(run)] * len(table), pa.int64()))


def key(name: str) -> int:
    """The hash of a name, as docs/TABLES.md defines it."""
    h = 0xcbf29ce484222325
    for b in name.encode('utf-8', 'surrogateescape'):
        h = (h ^ b) * 0x100000001b3 % 2**64
    return h - 2**64 if h >= 2**63 else h


def failures(rows: List[Tuple[Item, Failure]]) -> Any:
    """Rows of the table of errors."""
    values = [[x.worker, x.path, why[0], why[1]] for x, why in rows]
    text = [[str(v[i]).encode('utf-8', 'backslashreplace').decode() for v in values] for i in range(len(ERROR_COLUMNS))]
    return pa.table([pa.array(c, pa.string()) for c in text], names=ERROR_COLUMNS)
