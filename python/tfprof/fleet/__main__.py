# SPDX-License-Identifier: Apache-2.0
"""The command line of tfprof.fleet."""
import argparse
import re
import sys
from typing import Any, List, Optional

from .. import errors
from ..parquet import expand
from . import local, recipes
from .plan import PATTERN, TABLES, Item, plan, read_table


def _build(args: argparse.Namespace) -> int:
    def say(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    def items(paths: List[str]) -> List[Item]:
        return read_table(args.paths_from) if args.paths_from else plan(paths, args.pattern)

    common = {'tables': args.tables.split(',') if args.tables else None, 'memory_limit': args.memory_limit,
              'again': args.again, 'say': say}
    if args.engine == 'spark':
        from . import spark
        session = spark.session(args.master)
        failed = spark.build(session, items(spark.expand(session, args.paths)), args.out, per_task=args.per_task, **common)
    else:
        failed = local.build(items(expand(args.paths)), args.out, processes=args.processes, per_task=args.per_task, **common)
    print('%d runs written, %d files could not be read' % (len(failed), sum(failed.values())))
    return 0


def _cell(value: Any) -> str:
    """Returns a value as a cell of a tab-separated table: without line breaks, and empty for None."""
    text = '' if value is None else '%.4g' % value if isinstance(value, float) else str(value)
    return ' '.join(re.split('[\t\r\n]', text))


def _ask(args: argparse.Namespace) -> int:
    values = dict(v.split('=', 1) for v in args.values)
    columns, rows = recipes.run_recipe(args.out, args.recipe, values, engine=args.engine)
    print('\t'.join(columns))
    for row in rows[:args.top or None]:
        print('\t'.join(map(_cell, row)))
    return 0


def _list(args: argparse.Namespace) -> int:
    del args
    for r in recipes.all_recipes():
        print('%-18s %s' % (r.name, r.help))
        for name, preset in r.values.items():
            print('%-18s   %s=%s' % ('', name, preset))
    return 0


def main(words: Optional[List[str]] = None) -> int:
    p = argparse.ArgumentParser(prog='python -m tfprof.fleet', description='Thousands of profiles as Parquet tables.')
    commands = p.add_subparsers(dest='command', required=True)
    b = commands.add_parser('build', help='write the tables of all runs that are not complete yet')
    b.add_argument('out', help='output folder; with Spark, any URL that Spark can write')
    b.add_argument('paths', nargs='*', help='profiles, traces and recordings, or glob patterns')
    b.add_argument('--paths-from', help='CSV file with the columns path, run and host, instead of paths')
    b.add_argument('--pattern', default=PATTERN, help='regular expression with the groups run and host, searched in each path (default: %(default)s)')
    b.add_argument('--tables', default='', help='table names, separated by commas (default: %s)' % ','.join(TABLES))
    b.add_argument('--engine', choices=['local', 'spark'], default='local')
    b.add_argument('--processes', type=int, default=0, help='local: worker processes (default: one per CPU)')
    b.add_argument('--master', default='', help='spark: master URL, such as local[4,3] (default: chosen by spark-submit)')
    b.add_argument('--per-task', type=int, default=0, help='input files per task (default: up to 128)')
    b.add_argument('--memory-limit', type=int, default=0, help='maximum bytes of memory for one profile')
    b.add_argument('--again', action='store_true', help='rebuild complete runs as well')
    b.set_defaults(run=_build)
    a = commands.add_parser('ask', help='run a recipe')
    a.add_argument('out')
    a.add_argument('recipe', help='name of a recipe, or an SQL file')
    a.add_argument('values', nargs='*', help='NAME=VALUE')
    a.add_argument('--engine', choices=['duckdb', 'spark'], default='duckdb')
    a.add_argument('--top', type=int, default=0, help='maximum number of rows')
    a.set_defaults(run=_ask)
    commands.add_parser('recipes', help='list the recipes').set_defaults(run=_list)
    args = p.parse_args(words)
    if args.command == 'build' and bool(args.paths) == bool(args.paths_from):
        p.error('either paths or --paths-from is given')
    if args.command == 'ask' and any('=' not in v for v in args.values):
        p.error('values must have the form NAME=VALUE')
    try:
        return int(args.run(args))
    except (errors.Error, OSError, ValueError, RuntimeError, ImportError) as e:
        print('tfprof.fleet: %s' % e, file=sys.stderr)
        return 1


if __name__ == '__main__':
    sys.exit(main())
