# SPDX-License-Identifier: Apache-2.0
"""Queries on the tables of a fleet: SQL files that both DuckDB and Spark SQL can run. The first comment of a recipe
is its help. Lines "-- NAME = VALUE" define the default values of parameters, which appear as :NAME in the SQL. The
views runs, steps, nodes, slices, kernels, devices, memory and errors have the rows of complete runs."""
import glob
import os
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Sequence, Tuple

from .. import arrow
from . import folder
from .plan import ERROR_COLUMNS, ERRORS, every_table

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


def _columns(name: str) -> List[Tuple[str, str]]:
    """Returns (column, type) for the stored columns of a table and for its partition column."""
    if name == ERRORS:
        return [(c, 'text') for c in ERROR_COLUMNS + ['run']]
    schema = next(t for t in arrow.schemas() if t.table == name)
    return [(c.name, c.type) for c in schema.columns if c.name != 'run'] + [('host', 'text'), ('run', 'text')]


def _empty(name: str, types: Mapping[str, str]) -> str:
    return 'SELECT %s WHERE 1 = 0' % ', '.join('CAST(NULL AS %s) AS %s' % (types[kind], c) for c, kind in _columns(name))


def _literals(values: Sequence[str]) -> str:
    return ', '.join("'%s'" % v.replace("'", "''") for v in values)


def duckdb_connection(out: str) -> Any:
    """Returns a DuckDB connection with the views of the tables."""
    try:
        import duckdb  # type: ignore[import-untyped, import-not-found, unused-ignore]
    except ImportError:
        raise ImportError("DuckDB is not installed: pip install duckdb, or --engine spark") from None
    to = duckdb.connect()
    runs = folder.committed(out)
    for name in every_table():
        files = os.path.join(out, name, 'run=*', '*.parquet')
        if runs and glob.glob(files):
            to.execute("CREATE VIEW %s AS SELECT * FROM read_parquet('%s', hive_partitioning = true, hive_types_autocast = false, "
                       "union_by_name = true) WHERE run IN (%s)" % (name, files.replace("'", "''"), _literals(runs)))
        else:
            to.execute('CREATE VIEW %s AS %s' % (name, _empty(name, {'text': 'VARCHAR', 'int64': 'BIGINT', 'float64': 'DOUBLE'})))
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
