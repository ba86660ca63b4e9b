# SPDX-License-Identifier: Apache-2.0
"""Iceberg tables of an output: snapshots list the Parquet files that the log of the output lists, so that engines that read
Iceberg see only whole builds. The files are not copied. Needs the package pyiceberg.

    OUT/_iceberg/tables.json   catalog and namespace of the tables
    OUT/_iceberg/catalog.db    catalog (SQLite), unless another one was named
    OUT/_iceberg/TABLE         metadata of a table"""
import json
from typing import Any, Dict, Iterable, List, Set, Tuple

from .rows import columns_of, stored_tables

FOLDER = '_iceberg'
SETTINGS = FOLDER + '/tables.json'
NAMESPACE = 'tfprof'
# Old versions of the metadata are removed, because their Parquet files are removed, too.
_PROPERTIES = {'write.metadata.delete-after-commit.enabled': 'true', 'write.metadata.previous-versions-max': '4'}


def enable(store: Any, catalog: str, namespace: str) -> None:
    """Makes later commits write to Iceberg tables. catalog: name of a configured catalog of pyiceberg; empty: one in OUT."""
    if store.remote and not catalog:
        raise ValueError('%s: Iceberg tables of a URL need a catalog: name one of the configuration of pyiceberg with --catalog'
                         % store.out)
    _package()
    store.write_bytes(SETTINGS, (json.dumps({'catalog': catalog, 'namespace': namespace or NAMESPACE}) + '\n').encode())


def enabled(store: Any) -> bool:
    return SETTINGS in store.sizes(FOLDER)


def _package() -> Any:
    try:
        import pyiceberg.catalog  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise ImportError("pyiceberg is not installed: pip install 'pyiceberg[pyarrow,sql-sqlite]'") from None
    return pyiceberg.catalog


def _uri(store: Any, name: str) -> str:
    return ('' if store.remote else 'file://') + str(store.path(name))


def open_catalog(store: Any) -> Tuple[Any, str]:
    """Returns the catalog and the namespace of the tables."""
    catalogs = _package()
    settings = json.loads(store.read_bytes(SETTINGS))
    if settings['catalog']:
        return catalogs.load_catalog(settings['catalog']), settings['namespace']
    place = {'uri': 'sqlite:///' + store.path(FOLDER + '/catalog.db'), 'warehouse': _uri(store, FOLDER)}
    return catalogs.load_catalog(NAMESPACE, type='sql', **place), settings['namespace']


def commit(store: Any, state: Any) -> None:
    """Brings the Iceberg table of each table up to date, with one snapshot per table."""
    catalog, namespace = open_catalog(store)
    catalog.create_namespace_if_not_exists(namespace)
    for name in stored_tables():
        live = {_uri(store, f.name): f for f in state.of(name)}
        identifier = (namespace, name)
        if catalog.table_exists(identifier):
            _update(catalog.load_table(identifier), name, live)
        elif live:
            _update(_create(catalog, identifier, name, _uri(store, '%s/%s' % (FOLDER, name))), name, live)


def _types() -> Dict[str, Any]:
    from pyiceberg import types  # type: ignore[import-untyped, import-not-found, unused-ignore]
    return {'text': types.StringType(), 'int64': types.LongType(), 'float64': types.DoubleType()}


def _names(schema: Any) -> Dict[str, str]:
    """Returns the property that finds columns by their names, because the Parquet files have no field ids."""
    return {'schema.name-mapping.default': schema.name_mapping.model_dump_json()}


def _create(catalog: Any, identifier: Tuple[str, str], name: str, location: str) -> Any:
    from pyiceberg.partitioning import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
        PARTITION_FIELD_ID_START, PartitionField, PartitionSpec)
    from pyiceberg.schema import Schema  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from pyiceberg.transforms import IdentityTransform  # type: ignore[import-untyped, import-not-found, unused-ignore]
    from pyiceberg.types import NestedField  # type: ignore[import-untyped, import-not-found, unused-ignore]
    types = _types()
    schema = Schema(*(NestedField(i, c, types[kind], required=False) for i, (c, kind) in enumerate(columns_of(name), 1)))
    field = PartitionField(schema.find_field('run').field_id, PARTITION_FIELD_ID_START, IdentityTransform(), 'run')
    return catalog.create_table(identifier, schema, location=location, partition_spec=PartitionSpec(field),
                                properties=dict(_PROPERTIES, **_names(schema)))


def _data_file(table: Any, uri: str, f: Any) -> Any:
    from pyiceberg.manifest import (  # type: ignore[import-untyped, import-not-found, unused-ignore]
        DataFile, DataFileContent, FileFormat)
    from pyiceberg.typedef import Record  # type: ignore[import-untyped, import-not-found, unused-ignore]
    made = DataFile.from_args(content=DataFileContent.DATA, file_path=uri, file_format=FileFormat.PARQUET, partition=Record(f.run),
                              record_count=f.rows, file_size_in_bytes=f.bytes)
    made.spec_id = table.spec().spec_id
    return made


def _update(table: Any, name: str, live: Dict[str, Any]) -> None:
    """Adds missing columns, adds and removes the files that differ, and expires earlier snapshots."""
    known = {f.name for f in table.schema().fields}
    new: List[Tuple[str, str]] = [(c, kind) for c, kind in columns_of(name) if c not in known]
    if new:
        types = _types()
        with table.update_schema() as schema:
            for c, kind in new:
                schema.add_column(c, types[kind])
        with table.transaction() as properties:
            properties.set_properties(_names(table.schema()))
    have = {t.file.file_path: t.file for t in table.scan().plan_files()}
    add, remove = sorted(set(live) - set(have)), sorted(set(have) - set(live))
    if not add and not remove:
        return
    with table.transaction() as transaction, transaction.update_snapshot().overwrite() as snapshot:
        for uri in add:
            snapshot.append_data_file(_data_file(table, uri, live[uri]))
        for uri in remove:
            snapshot.delete_data_file(have[uri])
    _expire(table)


def _metadata(table: Any, snapshots: Iterable[Any]) -> Set[str]:
    """Returns the metadata files of the snapshots."""
    found: Set[str] = set()
    for s in snapshots:
        found.update([s.manifest_list, *(m.manifest_path for m in s.manifests(table.io))])
    return found


def _expire(table: Any) -> None:
    """Removes all snapshots but the last one."""
    last = table.current_snapshot()
    past = [s for s in table.snapshots() if s.snapshot_id != last.snapshot_id]
    if past:
        unused = _metadata(table, past) - _metadata(table, [last])
        table.maintenance.expire_snapshots().by_ids([s.snapshot_id for s in past]).commit()
        for path in sorted(unused):
            table.io.delete(path)
