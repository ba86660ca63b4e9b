# SPDX-License-Identifier: Apache-2.0
"""Delta tables of an output: OUT/TABLE/_delta_log lists the Parquet files that the log of the output lists, so that engines
that read Delta see only whole builds. The files are not copied. Needs the package deltalake."""
import json
import time
from typing import Any, Dict, List

from .plan import partition
from .rows import columns_of, stored_tables

_TYPES = {'text': 'string', 'int64': 'long', 'float64': 'double'}


def commit(store: Any, state: Any) -> None:
    """Brings the Delta table of each table up to date, with one transaction per table."""
    try:
        import deltalake  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise ImportError('deltalake is not installed: pip install deltalake') from None
    for table in stored_tables():
        live = {f.name[len(table) + 1:]: f for f in state.of(table)}
        if live or deltalake.DeltaTable.is_deltatable(store.path(table)):
            _commit_table(deltalake, store.path(table), table, live)


def _values(table: Any, column: str) -> List[Any]:
    values: List[Any] = table.column(column).to_pylist()
    return values


def _commit_table(deltalake: Any, uri: str, table: str, live: Dict[str, Any]) -> None:
    from deltalake.transaction import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
        AddAction, RemoveAction, create_table_with_add_actions)
    schema = deltalake.Schema([deltalake.Field(c, deltalake.schema.PrimitiveType(_TYPES[kind])) for c, kind in columns_of(table)])

    def add(name: str) -> Any:
        f = live[name]
        return AddAction(name, f.bytes, {'run': f.run}, 0, True, json.dumps({'numRecords': f.rows}))
    if not deltalake.DeltaTable.is_deltatable(uri):
        create_table_with_add_actions(uri, schema, [add(n) for n in sorted(live)], mode='error', partition_by=['run'])
        return
    delta = deltalake.DeltaTable(uri)
    listed = delta.get_add_actions(flatten=True)
    have = {'%s/%s' % (partition('run', str(run)), str(path).rsplit('/', 1)[-1])
            for path, run in zip(_values(listed, 'path'), _values(listed, 'partition.run'))}
    actions: List[Any] = [add(n) for n in sorted(set(live) - have)]
    actions += [RemoveAction(n, True, int(time.time() * 1000)) for n in sorted(have - set(live))]
    if actions:
        delta.create_write_transaction(actions, 'append', schema, partition_by=['run'])
