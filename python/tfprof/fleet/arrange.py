# SPDX-License-Identifier: Apache-2.0
"""Moves rows of workers between the Parquet files of an output: other names, other runs, fewer and larger files."""
from typing import Any, Dict, List, Optional, Tuple

import pyarrow as pa  # type: ignore[import-untyped, import-not-found, unused-ignore]

Place = Tuple[str, str]


def name_key(name: str) -> int:
    """Returns the hash of a name that the tables contain: 64-bit FNV-1a, as a signed number."""
    h = 0xcbf29ce484222325
    for byte in name.encode('utf-8', 'backslashreplace'):
        h = (h ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return h - (1 << 64) if h >> 63 else h


def places(rows: Any, run: str, names: Dict[str, Optional[Place]]) -> Dict[str, Any]:
    """Returns {run: rows}. names: {worker: new run and worker}; the rows of a worker with None are left out."""
    workers = rows.column('worker').to_pylist()
    chosen: Dict[str, List[int]] = {}
    new: List[str] = []
    for i, w in enumerate(workers):
        place = names[w] if w in names else (run, w)
        if place is not None:
            chosen.setdefault(place[0], []).append(i)
        new.append(place[1] if place is not None else w)
    renamed = _with(rows, 'worker', new) if new != workers else rows
    found = {}
    for to, index in chosen.items():
        part = renamed.take(pa.array(index, pa.int64()))
        if 'run_key' in part.schema.names:
            part = _with(part, 'run_key', [name_key(to)] * len(part))
            part = _with(part, 'worker_key', [name_key(w) for w in part.column('worker').to_pylist()])
        found[to] = part
    return found


def _with(rows: Any, name: str, values: List[Any]) -> Any:
    i = rows.schema.get_field_index(name)
    return rows.set_column(i, rows.schema.field(i), pa.array(values, rows.schema.field(i).type))
