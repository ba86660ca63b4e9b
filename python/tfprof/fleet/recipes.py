# SPDX-License-Identifier: Apache-2.0
"""Queries on the tables of a fleet: SQL files that both DuckDB and Spark SQL can run. The first comment of a recipe
is its help. Lines "-- NAME = VALUE" define the default values of parameters, which appear as :NAME in the SQL. The
views runs, steps, nodes, slices, kernels, devices, memory and files have the rows of complete runs; errors has the
refused files."""
import glob
import os
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Tuple

from .inputs import file_system
from .rows import ERRORS, FILES, columns_of, stored_tables
from .store import Store, paths

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'recipes')
_VALUE = re.compile(r'^-- (\w+) = (.*)$', re.M)


class Recipe(NamedTuple):
    name: str
    help: str
    values: Dict[str, str]
    sql: str


def read(path: str) -> Recipe:
    with open(path, encoding='utf-8') as f:
        text = f.read()
    lines = [line[3:] for line in text.split('\n') if line.startswith('-- ') and not line.startswith('-- SPDX')]
    about = [line for line in lines if not re.match(r'\w+ = ', line)]
    name = os.path.splitext(os.path.basename(path))[0]
    return Recipe(name, ' '.join(about), dict(_VALUE.findall(text)), text)


def all_recipes() -> List[Recipe]:
    return [read(p) for p in sorted(glob.glob(os.path.join(FOLDER, '*.sql')))]


def statement(recipe: Recipe, values: Mapping[str, str]) -> str:
    """Returns the SQL with the values as literals."""
    unknown = set(values) - set(recipe.values)
    if unknown:
        raise ValueError('%s: no value %s: it has %s' % (recipe.name, ', '.join(sorted(unknown)), ', '.join(recipe.values) or 'none'))
    given = dict(recipe.values, **values)

    def literal(m: 're.Match[str]') -> str:
        return "'%s'" % given[m.group(1)].replace("'", "''")
    code = '\n'.join(line for line in recipe.sql.split('\n') if not line.startswith('--'))
    return re.sub(r'(?<!:):(\w+)\b', literal, code)


ERRORS_VIEW = "SELECT worker, path, code, message, host, run FROM %s WHERE status = 'refused'"


def empty_table(name: str, types: Mapping[str, str]) -> str:
    """Returns the statement of a table without rows."""
    return 'SELECT %s WHERE 1 = 0' % ', '.join('CAST(NULL AS %s) AS %s' % (types[kind], c) for c, kind in columns_of(name))


def duckdb_connection(out: str) -> Any:
    """Returns a DuckDB connection with the views of the tables."""
    try:
        import duckdb  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise ImportError("DuckDB is not installed: pip install duckdb, or --engine spark") from None
    to = duckdb.connect()
    store = Store(out)
    if store.remote:
        to.register_filesystem(file_system(out)[0])
    state = store.state()
    for name in stored_tables():
        found = ', '.join("'%s'" % p.replace("'", "''") for p in paths(store, state, name))
        if found:
            to.execute('CREATE VIEW %s AS SELECT * FROM read_parquet([%s], hive_partitioning = true, hive_types_autocast = false, '
                       'union_by_name = true)' % (name, found))
        else:
            to.execute('CREATE VIEW %s AS %s' % (name, empty_table(name, {'text': 'VARCHAR', 'int64': 'BIGINT', 'float64': 'DOUBLE'})))
    to.execute('CREATE VIEW %s AS %s' % (ERRORS, ERRORS_VIEW % FILES))
    return to


def run_recipe(out: str, name: str, values: Mapping[str, str] = {}, engine: str = 'duckdb',
               session: Any = None) -> Tuple[List[str], List[Tuple[Any, ...]]]:
    """Runs a recipe, given its name or the path of an SQL file. Returns (columns, rows). session: the Spark session."""
    path = name if os.path.exists(name) and name.endswith('.sql') else os.path.join(FOLDER, name + '.sql')
    if not os.path.exists(path):
        raise ValueError('unknown recipe %r: %s exist' % (name, ', '.join(r.name for r in all_recipes())))
    sql = statement(read(path), values)
    if engine == 'spark':
        from . import spark
        session = session or spark.session('')
        spark.make_views(session, out)
        frame = session.sql(sql)
        return list(frame.columns), [tuple(r) for r in frame.collect()]
    result = duckdb_connection(out).execute(sql)
    return [c[0] for c in result.description], result.fetchall()
