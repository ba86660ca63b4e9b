# SPDX-License-Identifier: Apache-2.0
"""Queries on the tables of a fleet: SQL files that both DuckDB and Spark SQL can run. The first comment of a recipe
is its help. Lines "-- NAME = VALUE" define the default values of parameters, which appear as :NAME in the SQL. The
views runs, steps, nodes, slices, kernels, devices, memory, causes and files have the rows of complete runs; errors has the
refused files; run_pairs has each run with the run before it (rank_test.py)."""
import glob
import os
import re
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, Sequence, Tuple

from . import rank_test
from .inputs import file_system
from .rows import CAUSES, ERRORS, FILES, columns_of, stored_tables
from .store import Store, paths

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'recipes')
_TYPES = {'text': 'VARCHAR', 'int64': 'BIGINT', 'float64': 'DOUBLE'}  # options of DuckDB
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


def quoted(text: str, spark: bool = False) -> str:
    """Returns a text as an SQL literal."""
    return "'%s'" % (text.replace('\\', '\\\\').replace("'", "\\'") if spark else text.replace("'", "''"))


def statement(recipe: Recipe, values: Mapping[str, str], spark: bool = False) -> str:
    """Returns the SQL with the values as literals."""
    unknown = set(values) - set(recipe.values)
    if unknown:
        raise ValueError('%s: no value %s: it has %s' % (recipe.name, ', '.join(sorted(unknown)), ', '.join(recipe.values) or 'none'))
    given = dict(recipe.values, **values)

    def literal(m: 're.Match[str]') -> str:
        return quoted(given[m.group(1)], spark)
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
            to.execute('CREATE VIEW %s AS %s' % (name, empty_table(name, _TYPES)))
    to.execute('CREATE VIEW %s AS %s' % (ERRORS, ERRORS_VIEW % FILES))
    return to


class Answer(NamedTuple):
    """The columns and rows of a query."""
    columns: List[str]
    rows: List[Tuple[Any, ...]]


class _DuckDB:
    """Runs queries in DuckDB."""
    spark = False

    def __init__(self, out: str) -> None:
        self._to = duckdb_connection(out)

    def query(self, sql: str) -> Answer:
        result = self._to.execute(sql)
        return Answer([c[0] for c in result.description], list(result.fetchall()))

    def make_table(self, name: str, columns: Sequence[Tuple[str, str]], rows: Sequence[Tuple[Any, ...]]) -> None:
        self._to.execute('CREATE OR REPLACE TABLE %s (%s)' % (name, ', '.join('%s %s' % (c, _TYPES[kind]) for c, kind in columns)))
        if rows:
            self._to.executemany('INSERT INTO %s VALUES (%s)' % (name, ', '.join('?' * len(columns))), rows)


def _run(engine: Any, out: str, recipe: Recipe, values: Mapping[str, str]) -> Answer:
    sql = statement(recipe, values, engine.spark)
    if re.search(r'\b(FROM|JOIN) %s\b' % CAUSES, sql) and not Store(out).state().of(CAUSES):
        raise ValueError('%s: the table causes is empty: build it with --tables +%s' % (out, CAUSES))
    if re.search(r'\b%s\b' % rank_test.PAIRS, sql):
        like = quoted({**recipe.values, **values}.get('like', '%'), engine.spark)
        engine.make_table(rank_test.PAIRS, rank_test.COLUMNS, rank_test.pairs(lambda q: engine.query(q).rows, like))
    answer: Answer = engine.query(sql)
    return answer


def find(name: str) -> Recipe:
    """Returns the recipe with a name, or the recipe in an SQL file."""
    path = name if os.path.exists(name) and name.endswith('.sql') else os.path.join(FOLDER, name + '.sql')
    if not os.path.exists(path):
        raise ValueError('unknown recipe %r: %s exist' % (name, ', '.join(r.name for r in all_recipes())))
    return read(path)


def run_recipe(out: str, name: str, values: Mapping[str, str] = {}, engine: str = 'duckdb', session: Any = None) -> Answer:
    """Runs a recipe, given its name or the path of an SQL file. Returns (columns, rows). session: the Spark session."""
    recipe = find(name)
    if engine == 'spark':
        from . import spark
        return _run(spark.Queries(session or spark.session(''), out), out, recipe, values)
    return _run(_DuckDB(out), out, recipe, values)


def run_recipes(out: str, recipes: Iterable[Tuple[str, Mapping[str, str]]],
                queries: Iterable[str] = ()) -> Tuple[Dict[str, Answer], List[Answer]]:
    """Runs several recipes and queries in one DuckDB connection. Returns {recipe: answer} and the answers of the queries."""
    engine = _DuckDB(out)
    return {name: _run(engine, out, find(name), values) for name, values in recipes}, [engine.query(q) for q in queries]
